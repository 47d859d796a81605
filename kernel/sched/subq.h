/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * subq.h - sub-queues of a qdisc: which can send, which are free, which is the longest
 *
 * A sub-queue is a FIFO. It belongs to a strict-priority class for good, and is in one of these
 * states:
 *
 *   backlogged   it has packets; ready, and so in the round, unless it is held
 *   idle         it is empty, and the flows that used it may come back: a list, the longest
 *                unused first
 *   free         it is empty and may be given to any flow: a set
 *   withheld     it is empty and held: in neither, since a new flow would be held, too
 *
 * Holds. A sub-queue is held for reasons, each a bit: the neighbour has paused it, or whatever
 * else a kind has. It sends while there is none. Reasons come and go each for itself.
 *
 * Longest. Drops look for the longest sub-queue. Those that are not short are in buckets by powers
 * of two of their backlog, so the one that is found has at least half of what the longest has. One
 * that has grown out of its bucket moves at once; one that has shrunk is moved when a drop comes
 * across it, which costs packets that come and go nothing. Nor does a packet that comes to an
 * empty sub-queue, as most do on a link that keeps up: it is put nowhere.
 *
 * Written under the qdisc lock; dumps read without it. O(1), but for hop_subqs_backlog().
 */
#ifndef _SLUICE_SCHED_SUBQ_H
#define _SLUICE_SCHED_SUBQ_H

#include <linux/list.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "../hopctl/hopctl.h"
#include "bitset.h"
#include "flow_table.h"
#include "holders.h"
#include "stats.h"

#define HOP_SUBQ_BUCKETS	32	/* fls() of a backlog, the last one also for more */
#define HOP_SUBQ_SHORT		11	/* fls() of what a sub-queue in no bucket may hold */

/* Why a sub-queue is held */
#define HOP_HELD_PAUSED		0x01	/* by the neighbour */

/**
 * struct hop_subq - a sub-queue
 * @head: oldest packet
 * @tail: newest packet, undefined while @head is NULL
 * @node: in a bucket by backlog, unless it was short all the time; empty ones in their class's
 *	list of idle ones, unless free or held
 * @last_ns: when it became empty, or while it was empty ceased to be held
 * @backlog: bytes
 * @backlog_max: highest @backlog
 * @packets: packets
 * @flows: flow table entries with packets here
 * @deficit: bytes that it may still send in its turn, see drr.h
 * @class: index of its strict-priority class
 * @bucket: hop_subq_bucket() of a backlog that it had since it was empty, at least that of
 *	@backlog; HOP_SUBQ_SHORT if it is in none
 * @held: HOP_HELD_*: reasons not to send
 */
struct hop_subq {
	struct sk_buff		*head;
	struct sk_buff		*tail;
	struct list_head	node;
	u64			last_ns;
	u32			backlog;
	u32			backlog_max;
	u32			packets;
	u32			flows;
	s32			deficit;
	u8			class;
	u8			bucket;
	u8			held;
};

static_assert(sizeof(struct hop_subq) <= 64);

/**
 * struct hop_subq_stats - what is seldom touched of a sub-queue
 * @paused_since: ns, valid while it is paused
 * @paused_ns: time paused, without the present pause
 * @pauses: times paused
 * @sent: packets that left
 * @sent_bytes: their bytes
 * @marks: packets marked
 * @drops: packets dropped
 */
struct hop_subq_stats {
	u64	paused_since;
	u64	paused_ns;
	u64	pauses;
	u64	sent;
	u64	sent_bytes;
	u64	marks;
	u64	drops;
};

static_assert(sizeof(struct hop_subq_stats) <= 64);

/**
 * struct hop_sent - what left a sub-queue, or did not
 * @packets: packets that left
 * @bytes: their bytes
 * @drops: packets dropped
 */
struct hop_sent {
	u64	packets;
	u64	bytes;
	u64	drops;
};

/**
 * struct hop_class - a strict-priority class
 * @ready: its sub-queues, numbered from 0, that are backlogged and not held
 * @free: those that a new flow may get
 * @idle: empty ones that are neither free yet nor held, the longest unused first
 * @first: its first sub-queue's number in the qdisc
 * @queues: how many it has
 * @cursor: whose turn it is, numbered from 0
 * @sets: sets of entries of the flow table that it has
 * @flows: its part of the flow table, if the kind has one
 * @holders: which destination holds which; the arrays are those of all classes
 * @moved: what went by sub-queues that another class has now, less what those that it has of others
 *	had brought along
 */
struct hop_class {
	struct hop_bitset	ready;
	struct hop_bitset	free;
	struct list_head	idle;
	u32			first;
	u32			queues;
	u32			cursor;
	u32			sets;
	struct hop_flow		*flows;
	struct hop_holders	holders;
	struct hop_sent		moved;
};

/**
 * struct hop_subqs - the sub-queues of a qdisc
 * @queues: the sub-queues
 * @stats: the same, what is seldom touched
 * @classes: the classes
 * @count: how many sub-queues there are
 * @buckets_used: bit b: @buckets[b] may not be empty
 * @backlogged: sub-queues with packets
 * @buckets: sub-queues that are not short, by backlog
 */
struct hop_subqs {
	struct hop_subq		*queues;
	struct hop_subq_stats	*stats;
	struct hop_class	*classes;
	u32			count;
	u32			buckets_used;
	u32			backlogged;
	struct list_head	buckets[HOP_SUBQ_BUCKETS];
};

static inline void hop_subqs_init(struct hop_subqs *s)
{
	unsigned int i;

	for (i = 0; i < HOP_SUBQ_BUCKETS; i++)
		INIT_LIST_HEAD(&s->buckets[i]);
}

/**
 * hop_class_init - a class and its sub-queues, all free
 * @s: the sub-queues, zeroed
 * @number: of the class
 * @first: its first sub-queue
 * @queues: how many it has
 */
static inline void hop_class_init(struct hop_subqs *s, u8 number, u32 first, u32 queues)
{
	struct hop_class *class = &s->classes[number];
	u32 i;

	INIT_LIST_HEAD(&class->idle);
	class->first = first;
	class->queues = queues;
	s->count += queues;
	for (i = 0; i < queues; i++) {
		INIT_LIST_HEAD(&s->queues[first + i].node);
		s->queues[first + i].class = number;
		hop_bitset_add(&class->free, i);
	}
}

/**
 * hop_subqs_setup - the sub-queues of a qdisc with a single class
 * @s: the sub-queues, zeroed
 * @queues: they themselves, zeroed
 * @stats: likewise
 * @class: the class, zeroed
 * @n: how many sub-queues there are
 */
static inline void hop_subqs_setup(struct hop_subqs *s, struct hop_subq *queues,
				   struct hop_subq_stats *stats, struct hop_class *class, u32 n)
{
	s->queues = queues;
	s->stats = stats;
	s->classes = class;
	hop_subqs_init(s);
	hop_class_init(s, 0, 0, n);
}

static inline struct hop_class *hop_subq_class(const struct hop_subqs *s,
					       const struct hop_subq *sub)
{
	return &s->classes[sub->class];
}

/* A sub-queue's number within its class. */
static inline u32 hop_subq_number(const struct hop_subqs *s, const struct hop_subq *sub)
{
	return sub - s->queues - hop_subq_class(s, sub)->first;
}

static inline struct hop_subq_stats *hop_subq_stats(const struct hop_subqs *s,
						    const struct hop_subq *sub)
{
	return &s->stats[sub - s->queues];
}

static inline void hop_subq_ready(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub)
{
	hop_bitset_add(&hop_subq_class(s, sub)->ready, hop_subq_number(s, sub));
	hop_active_add(m, 1);
}

static inline void hop_subq_unready(struct hop_subqs *s, struct hop_member *m,
				    struct hop_subq *sub)
{
	hop_bitset_del(&hop_subq_class(s, sub)->ready, hop_subq_number(s, sub));
	hop_active_add(m, -1);
}

/* Bytes in all sub-queues */
static inline u32 hop_subqs_backlog(const struct hop_subqs *s)
{
	u32 bytes = 0, i;

	for (i = 0; i < s->count; i++)
		bytes += s->queues[i].backlog;
	return bytes;
}

/* A sub-queue enters and leaves the list of idle ones with each packet that meets an empty one. So
 * here, and nowhere else, this is without what distributions' kernels check in list_add_tail() and
 * list_del(), which would be a large part of what such a packet costs. A sub-queue that is in no
 * list points to itself.
 */
static inline void hop_subq_link(struct hop_subq *sub, struct list_head *list)
{
	struct list_head *last = list->prev;

	sub->node.next = list;
	sub->node.prev = last;
	list->prev = &sub->node;
	WRITE_ONCE(last->next, &sub->node);
}

static inline void hop_subq_unlink(struct hop_subq *sub)
{
	__list_del(sub->node.prev, sub->node.next);
	INIT_LIST_HEAD(&sub->node);
}

/* An idle sub-queue may be given to any flow from now on. */
static inline void hop_subq_free(struct hop_subqs *s, struct hop_subq *sub)
{
	hop_subq_unlink(sub);
	hop_bitset_add(&hop_subq_class(s, sub)->free, hop_subq_number(s, sub));
}

/* The longest unused of a class's idle sub-queues, or NULL */
static inline struct hop_subq *hop_class_idlest(struct hop_class *class)
{
	return list_first_entry_or_null(&class->idle, struct hop_subq, node);
}

/* ---- longest ---- */

static inline u8 hop_subq_bucket(u32 backlog)
{
	return min(fls(backlog), HOP_SUBQ_BUCKETS - 1);
}

/* Put a backlogged sub-queue where drops look for the longest. */
static inline void hop_subq_rebucket(struct hop_subqs *s, struct hop_subq *sub)
{
	sub->bucket = hop_subq_bucket(sub->backlog);
	list_move_tail(&sub->node, &s->buckets[sub->bucket]);
	s->buckets_used |= 1U << sub->bucket;
}

/* The longest sub-queue, or one at least half as long; NULL if all are short. Each one that is
 * moved down here was moved up by a packet before.
 */
static inline struct hop_subq *hop_subqs_longest(struct hop_subqs *s)
{
	struct hop_subq *sub;
	int bucket;

	while (s->buckets_used) {
		bucket = fls(s->buckets_used) - 1;
		sub = list_first_entry_or_null(&s->buckets[bucket], struct hop_subq, node);
		if (!sub)
			s->buckets_used &= ~(1U << bucket);
		else if (hop_subq_bucket(sub->backlog) == bucket)
			return sub;
		else
			hop_subq_rebucket(s, sub);
	}
	return NULL;
}

/* ---- packets ---- */

/**
 * hop_subq_append - queue a packet
 * @s: the sub-queues
 * @m: the qdisc's member, for N_active
 * @sub: the sub-queue
 * @skb: the packet
 */
static inline void hop_subq_append(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub,
				   struct sk_buff *skb)
{
	skb->next = NULL;
	if (sub->head) {
		sub->tail->next = skb;
	} else {
		sub->head = skb;
		sub->deficit = 0;
		sub->bucket = HOP_SUBQ_SHORT;
		if (!list_empty(&sub->node))
			hop_subq_unlink(sub);
		else	/* free, or held */
			hop_bitset_del(&hop_subq_class(s, sub)->free, hop_subq_number(s, sub));
		s->backlogged++;
		if (!sub->held)
			hop_subq_ready(s, m, sub);
	}
	sub->tail = skb;
	sub->packets++;
	sub->backlog += qdisc_pkt_len(skb);
	if (sub->backlog > sub->backlog_max)
		sub->backlog_max = sub->backlog;
	if (unlikely(sub->backlog >> sub->bucket))
		hop_subq_rebucket(s, sub);
}

/**
 * hop_subq_pop - take the oldest packet
 * @s: the sub-queues
 * @m: the qdisc's member, for N_active
 * @sub: the sub-queue, which has packets
 * @now: time
 *
 * One that is empty then is idle, or withheld if it is held: a drop can take what may not be sent.
 *
 * Return: the packet.
 */
static inline struct sk_buff *hop_subq_pop(struct hop_subqs *s, struct hop_member *m,
					   struct hop_subq *sub, u64 now)
{
	struct sk_buff *skb = sub->head;

	sub->head = skb->next;
	skb_mark_not_on_list(skb);
	sub->last_ns = now;
	sub->packets--;
	sub->backlog -= qdisc_pkt_len(skb);
	if (!sub->head) {
		s->backlogged--;
		if (unlikely(sub->held)) {
			list_del_init(&sub->node);
			return skb;
		}
		hop_subq_unready(s, m, sub);
		hop_subq_unlink(sub);
		hop_subq_link(sub, &hop_subq_class(s, sub)->idle);
	}
	return skb;
}

/* A packet that was popped is on its way to the device. */
static inline void hop_subq_sent(struct hop_subq_stats *stats, const struct sk_buff *skb)
{
	stats->sent++;
	stats->sent_bytes += qdisc_pkt_len(skb);
}

/* ---- holds ---- */

/**
 * hop_subq_hold - a reason not to send
 * @s: the sub-queues
 * @m: the qdisc's member, for N_active
 * @sub: the sub-queue, not held for @reason
 * @reason: HOP_HELD_*
 * @now: time
 */
static inline void hop_subq_hold(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub,
				 u8 reason, u64 now)
{
	u8 before = sub->held;

	WRITE_ONCE(sub->held, before | reason);
	if (before)
		return;
	if (sub->head) {
		hop_subq_unready(s, m, sub);
		return;
	}
	hop_bitset_del(&hop_subq_class(s, sub)->free, hop_subq_number(s, sub));
	list_del_init(&sub->node);
	sub->last_ns = now;
}

/**
 * hop_subq_unhold - a reason not to send is gone
 * @s: the sub-queues
 * @m: the qdisc's member, for N_active
 * @sub: the sub-queue, held for @reason
 * @reason: HOP_HELD_*
 * @now: time
 *
 * If it was the last one, an empty sub-queue is idle: the flows that it was held for may come
 * back.
 */
static inline void hop_subq_unhold(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub,
				   u8 reason, u64 now)
{
	WRITE_ONCE(sub->held, sub->held & ~reason);
	if (sub->held)
		return;
	if (sub->head) {
		hop_subq_ready(s, m, sub);
		return;
	}
	sub->last_ns = now;	/* the list of idle ones stays in this order */
	list_add_tail(&sub->node, &hop_subq_class(s, sub)->idle);
}

/* The neighbour pauses a sub-queue that it does not hold. */
static inline void hop_subq_pause(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub,
				  u64 now)
{
	struct hop_subq_stats *stats = hop_subq_stats(s, sub);

	stats->paused_since = now;
	stats->pauses++;
	hop_subq_hold(s, m, sub, HOP_HELD_PAUSED, now);
}

/* The neighbour resumes one that it holds. Return: ns that it was paused. */
static inline u64 hop_subq_resume(struct hop_subqs *s, struct hop_member *m, struct hop_subq *sub,
				  u64 now)
{
	struct hop_subq_stats *stats = hop_subq_stats(s, sub);
	u64 ns = now - stats->paused_since;

	/* first: dumps, which take no lock, may see a pause too little, but none twice */
	hop_subq_unhold(s, m, sub, HOP_HELD_PAUSED, now);
	stats->paused_ns += ns;
	return ns;
}

/**
 * hop_subqs_merge_paused - take over what the neighbour has paused and resumed
 * @m: the qdisc's member
 * @merged: the bits that were taken over before
 * @queues: how many sub-queues there are
 * @changed: called for each one that is paused or resumed, with its number
 * @q: what @changed gets
 * @now: time
 *
 * Costs one step for each 64 sub-queues, and one for each that changed.
 *
 * Return: the generation that was taken over, see hop_paused_changed().
 */
static __always_inline u32
hop_subqs_merge_paused(const struct hop_member *m, u64 *merged, u32 queues,
		       void (*changed)(void *q, u32 queue, bool paused, u64 now), void *q, u64 now)
{
	u32 gen = hop_paused_begin(m);
	unsigned int w, n;
	u64 bits, changes;

	for (w = 0; queues; w++, queues -= min(queues, 64U)) {
		bits = hop_paused_word(m, w);
		if (queues < 64)
			bits &= (1ULL << queues) - 1;
		changes = bits ^ merged[w];
		merged[w] = bits;
		for (; changes; changes &= changes - 1) {
			n = __ffs64(changes);
			changed(q, w * 64 + n, bits >> n & 1, now);
		}
	}
	return gen;
}

/**
 * hop_subqs_purge - free all packets
 * @s: the sub-queues
 * @m: the qdisc's member, for N_active
 * @forget: takes back what a packet stands for; NULL: it stands for nothing
 * @q: what @forget gets
 * @now: time
 *
 * Context: RTNL.
 */
static __always_inline void
hop_subqs_purge(struct hop_subqs *s, struct hop_member *m,
		void (*forget)(void *q, struct sk_buff *skb), void *q, u64 now)
{
	struct hop_subq *sub;
	struct sk_buff *skb;

	for (sub = s->queues; sub < s->queues + s->count; sub++) {
		while (sub->head) {
			skb = hop_subq_pop(s, m, sub, now);
			if (forget)
				forget(q, skb);
			rtnl_kfree_skbs(skb, skb);
		}
	}
}

struct hop_subqs_obedient {
	struct hop_subqs	*s;
	struct hop_member	*m;
};

static inline void hop_subqs_changed(void *obedient, u32 queue, bool paused, u64 now)
{
	const struct hop_subqs_obedient *o = obedient;

	if (paused)
		hop_subq_pause(o->s, o->m, &o->s->queues[queue], now);
	else
		hop_subq_resume(o->s, o->m, &o->s->queues[queue], now);
}

/**
 * hop_subqs_obey - pause and resume what the neighbour has, for a kind that does no more than that
 * @s: the sub-queues
 * @m: the qdisc's member
 * @merged: the bits that were taken over before
 * @seen: and their generation
 * @now: time
 */
static inline void hop_subqs_obey(struct hop_subqs *s, struct hop_member *m, u64 *merged,
				  u32 *seen, u64 now)
{
	struct hop_subqs_obedient o = { .s = s, .m = m };

	if (hop_paused_changed(m, *seen))
		*seen = hop_subqs_merge_paused(m, merged, s->count, hop_subqs_changed, &o, now);
}

/* ---- figures, read without the lock ---- */

static inline bool hop_subq_is_paused(const struct hop_subq *sub)
{
	return READ_ONCE(sub->held) & HOP_HELD_PAUSED;
}

/* How long a sub-queue was paused, the present pause included */
static inline u64 hop_subq_paused_ns(const struct hop_subq *sub, const struct hop_subq_stats *stats,
				     u64 now)
{
	u64 ns = READ_ONCE(stats->paused_ns);

	return hop_subq_is_paused(sub) ? ns + now - READ_ONCE(stats->paused_since) : ns;
}

/* hop_member_ops.watch */
static inline void hop_subq_watch(const struct hop_subq *sub, const struct hop_subq_stats *stats,
				  struct hop_watch *w)
{
	w->waits = READ_ONCE(sub->packets);
	w->sent = READ_ONCE(stats->sent);
}

/* hop_member_ops.watch of a kind whose private area begins with its struct hop_subqs */
static inline void hop_subqs_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct hop_subqs *s = qdisc_priv(m->sch);

	hop_subq_watch(&s->queues[queue], &s->stats[queue], w);
}

/* What tc shows of any class. Return: below 0 if there is no room. */
static inline int hop_subq_put(struct gnet_dump *d, const struct hop_subq *sub,
			       const struct hop_subq_stats *stats)
{
	struct gnet_stats_queue qs = {
		.qlen = READ_ONCE(sub->packets),
		.backlog = READ_ONCE(sub->backlog),
		.drops = READ_ONCE(stats->drops),
	};

	if (hop_put_sent(d, READ_ONCE(stats->sent), READ_ONCE(stats->sent_bytes)) < 0)
		return -1;
	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

#endif
