/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bfc.h - what the files of the qdisc bfc share
 *
 *   main.c      the paper: threshold, marks, assignment, enqueue, dequeue; the qdisc's operations
 *   options.c   what the options say, their rules, and how a change comes into force
 *   stats.c     statistics, and the classes that show them
 *
 * main.c calls the other two. They call the functions of main.c that are declared below.
 */
#ifndef _SLUICE_BFC_H
#define _SLUICE_BFC_H

#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "../hopctl/hopctl.h"
#include "../sched/bitset.h"
#include "../sched/control.h"
#include "../sched/flow_table.h"
#include "../sched/holders.h"
#include "../uapi/bfc.h"

#define BFC_BUCKETS		32	/* fls() of a backlog, the last one also for more */
#define BFC_SHORT		11	/* fls() of what a sub-queue in no bucket may hold */
#define BFC_NO_FLOW		U32_MAX
#define BFC_CLASS_CONTROL	BFC_CLASSES_MAX	/* index that bfc_classify() returns for it */
#define BFC_CLASS_ANY		(BFC_CLASSES_MAX + 1)	/* no filter says which */
#define BFC_RATE_UNKNOWN	(125ULL * 1000 * 1000)	/* 1 Gb/s, if the device does not say */
#define BFC_STICKY_HRTTS	2	/* section 3.3.2, sticky queue assignment */
#define BFC_NO_QUEUE		U32_MAX
#define BFC_N_UNKNOWN		U32_MAX
#define BFC_PLACES_LEAST	256U	/* for destinations, also with few sub-queues */
#define BFC_IDLE_SCAN		4	/* sub-queues checked for freedom before one is refused */

/* What the options say, in the units of TCA_BFC_*. A copy is filled and swapped in whole. */
struct bfc_config {
	u64	rate;
	u32	flows;
	u32	limit;
	u32	quantum;
	u32	hrtt_ns;
	u32	hrtt_max_ns;
	u32	th;
	u32	th_scale;
	u32	sticky_ns;
	u32	refresh_ns;
	u32	lease_ns;
	u32	watchdog_ns;
	u32	restore_ns;
	u32	pool;
	u32	pool_alpha;
	u32	pool_pause_alpha;
	u32	control_share;
	u16	queues;
	u16	tpid;
	u8	classes;
	u8	ways;
	u8	assign;
	u8	reuse;
	u8	split_gso;
	u8	pause;
	u8	role;
	u8	peer;
	u8	tag;
	u8	watch;
	u8	tier;
	u8	strip;
	u8	share;
	u8	control_dscp;
	u8	priomap[TC_PRIO_MAX + 1];
};

/**
 * struct bfc_queue - a sub-queue
 * @head: oldest packet
 * @tail: newest packet, undefined while @head is NULL
 * @node: in a bucket by backlog, unless it was short all the time; empty ones in their class's
 *	list of idle ones, unless free or paused
 * @last_ns: when it became empty, or while it was empty ceased to be paused
 * @backlog: bytes
 * @backlog_max: highest @backlog
 * @packets: packets
 * @flows: flow table entries with packets here
 * @deficit: bytes that it may still send in its turn, see sched/drr.h
 * @class: index of its strict-priority class
 * @bucket: bfc_bucket() of a backlog that it had since it was empty, at least bfc_bucket(@backlog);
 *	BFC_SHORT if it is in none
 * @paused: the neighbour holds it paused
 */
struct bfc_queue {
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
	bool			paused;
};

static_assert(sizeof(struct bfc_queue) <= 64);

/**
 * struct bfc_queue_stats - what is seldom touched of a sub-queue
 * @paused_since: ns, valid while it is paused
 * @paused_ns: time paused, without the present pause
 * @pauses: times paused
 * @sent: packets that left
 * @sent_bytes: their bytes
 * @marks: packets marked
 * @drops: packets dropped
 */
struct bfc_queue_stats {
	u64	paused_since;
	u64	paused_ns;
	u64	pauses;
	u64	sent;
	u64	sent_bytes;
	u64	marks;
	u64	drops;
};

static_assert(sizeof(struct bfc_queue_stats) <= 64);

/**
 * struct bfc_class - a strict-priority class
 * @ready: its sub-queues, numbered from 0, that are backlogged and not paused
 * @free: those that a new flow may get
 * @idle: empty ones that are neither free yet nor paused, the longest unused first
 * @first: its first sub-queue's number in the qdisc
 * @queues: how many it has
 * @cursor: whose turn it is, numbered from 0
 * @flows: its part of the flow table
 * @sets: sets of entries it has there
 * @holders: who holds them, with BFC_SHARE_SPARE; the arrays are those of all classes
 */
struct bfc_class {
	struct hop_bitset	ready;
	struct hop_bitset	free;
	struct list_head	idle;
	u32			first;
	u32			queues;
	u32			cursor;
	u32			sets;
	struct hop_flow		*flows;
	struct hop_holders	holders;
};

/* Counters of the qdisc: TCA_BFC_STATS_* says what each means. */
struct bfc_stats {
	u64	assign_free;
	u64	assign_early;
	u64	assign_shared;
	u64	assign_own;
	u64	assign_sticky;
	u64	collisions;
	u64	marks;
	u64	over_unlabelled;
	u64	pauses_obeyed;
	u64	resumes_obeyed;
	u64	paused_ns;
	u64	control;
	u64	drop_limit;
	u64	drop_control;
	u64	drop_gso;
	u64	drop_tag;
	u64	drop_filter;
	u64	gso_split;
	u64	tagged;
	u64	elided;
	u64	withdrawn;
	u64	drop_pool;
	u64	spilled;
	u64	drop_police;
	u64	backlog_time;
	u32	backlog_max;
	u32	th_max;
	u32	backlogged;
	u32	paused;
};

/* Private area of the qdisc. */
struct bfc_sched {
	/* Read mostly */
	struct bfc_config	config;
	struct bfc_queue	*queues;
	struct bfc_queue_stats	*queue_stats;
	struct hop_flow		*flows;
	struct bfc_class	*classes;
	struct hop_holders	holders;	/* the arrays; who holds what counts each class */
	struct tcf_proto __rcu	*filter_list;
	struct tcf_block	*block;
	struct hop_flow_secret	flow_secret;	/* makes table indices of this qdisc its own */
	u32			bdp;		/* HRTT x rate, bounded, x th_scale, bytes */
	u32			sticky_ns;	/* in force */
	u32			sticky_time;	/* the same for the flow table */
	u32			hrtt_seen;	/* what @bdp and @sticky_ns were computed from */
	u32			speed_seen;
	u32			frame_seen;	/* and what control packets may owe */
	u32			n_seen;		/* N_active that @th is for */
	u32			th;		/* see bfc_rethink() */
	u64			rate;		/* bytes/s that @bdp was computed with */
	struct hop_pool		*pool;		/* or NULL */

	/* Read and written for each packet */
	u32			paused_seen ____cacheline_aligned;
	u32			buckets_used;	/* bit b: buckets[b] may not be empty */
	u32			pooled;		/* bytes taken from @pool */
	u64			changed_ns;	/* when the backlog last changed */
	struct list_head	buckets[BFC_BUCKETS];
	struct bfc_stats	stats;

	/* Seldom used */
	struct sk_buff_head	control;
	struct hop_police	police;
	unsigned long		*spilled;	/* a bit for each flow, see bfc_police() */
	u32			late_drops;	/* dropped in dequeue, parents not told yet */
	u32			late_bytes;
	u64			paused[HOP_BITMAP_WORDS];	/* merged pause bits */
	struct hop_member	member;
};

/**
 * struct bfc_skb_cb - what a queued packet remembers
 * @flow: its flow table entry, or BFC_NO_FLOW
 * @queue: its sub-queue
 * @handle: what it was counted against, 0 if it is not marked; the packet by hop_pause_inc(), with
 *	BFC_PAUSE_INGRESS its bytes
 */
struct bfc_skb_cb {
	u32	flow;
	u16	queue;
	u16	handle;
};

/**
 * struct bfc_change - what one call of enqueue did to the qdisc's length
 * @packets: packets added, less those dropped
 * @congested: a packet of the arriving one's own sub-queue was dropped
 * @queued: a packet was queued, whatever became of it then
 * @bytes: as @packets
 * @all: all of that, to compare
 *
 * It goes from function to function by value, in one register.
 */
struct bfc_change {
	union {
		struct {
			int	packets : 30;
			u32	congested : 1;
			u32	queued : 1;
			int	bytes;
		};
		u64	all;
	};
};

static_assert(sizeof(struct bfc_change) == sizeof(u64));

static inline struct bfc_skb_cb *bfc_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct bfc_skb_cb));
	return (struct bfc_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline struct bfc_class *bfc_queue_class(const struct bfc_sched *q,
						const struct bfc_queue *sub)
{
	return &q->classes[sub->class];
}

/* Bytes that may be queued, whoever else there is */
static inline u32 bfc_room(const struct bfc_config *c)
{
	return c->pool ? min(c->limit, c->pool) : c->limit;
}

static inline void bfc_backlog_moves(struct Qdisc *sch, struct bfc_sched *q, u64 now)
{
	q->stats.backlog_time += sch->qstats.backlog * (now - q->changed_ns);
	q->changed_ns = now;
}

/* Under mq, N_active is the sum over the port's instances: they share its link. */
static inline u32 bfc_n_active(const struct bfc_sched *q)
{
	return atomic_read(q->member.n_active);
}

/* ---- main.c ---- */

void bfc_recompute(struct bfc_sched *q, u32 hrtt_ns, u32 speed);
void bfc_follow_link(struct bfc_sched *q);
u32 bfc_threshold(const struct Qdisc *sch, const struct bfc_sched *q, u32 n_active);
void bfc_merge_paused(struct bfc_sched *q, u64 now);
void bfc_queue_rebucket(struct bfc_sched *q, struct bfc_queue *sub);
struct bfc_change bfc_enforce_limit(struct Qdisc *sch, struct bfc_queue *own, u64 now,
				    struct sk_buff **to_free);
void bfc_pool_switch(struct bfc_sched *q, struct hop_pool *pool);
unsigned int bfc_unmark(struct bfc_sched *q);
int bfc_minor_class(const struct bfc_sched *q, u32 classid);

/* ---- options.c ---- */

extern const struct bfc_config bfc_defaults;

int bfc_parse(struct nlattr *opt, struct bfc_config *c, bool creating,
	      struct netlink_ext_ack *extack);
void bfc_warn(const struct bfc_sched *q, struct netlink_ext_ack *extack);
struct hop_config bfc_port_config(const struct bfc_config *c);
int bfc_pool_find(struct Qdisc *sch, u32 size, struct nlattr *opt, struct hop_pool **pool,
		  struct netlink_ext_ack *extack);
int bfc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int bfc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- stats.c ---- */

extern const struct Qdisc_class_ops bfc_class_ops;

int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif
