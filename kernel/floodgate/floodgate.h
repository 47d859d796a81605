/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * floodgate.h - what the files of the qdisc floodgate share
 *
 *   main.c     enqueue, dequeue; the operations of the qdisc
 *   options.c  options, memory, the place on the port, how a qdisc comes and goes
 *   stats.c    statistics, and the classes that show them
 *   queue.c    FIFO and VOQs: how packets come in, and all ways out
 *   credit.c   what the neighbour upstream is told, and when not yet
 *   pause.c    whom this box pauses for a destination or a link, and pauses that it obeys
 *   window.c   destinations, their slots and windows, who waits for one
 *
 * A file calls those below it in this list, and none above; all call destination.h.
 */
#ifndef _SLUICE_FLOODGATE_H
#define _SLUICE_FLOODGATE_H

#include <net/pkt_sched.h>

#include "../hopctl/blocks.h"
#include "../hopctl/content.h"
#include "../hopctl/mailbox.h"
#include "../sched/buffer.h"
#include "../sched/ecn_ramp.h"
#include "../sched/egress.h"
#include "../sched/intake.h"
#include "../sched/packet_hash.h"
#include "../sched/telemetry_write.h"
#include "../sched/xoff.h"
#include "../uapi/floodgate.h"
#include "destination.h"

#define FLOODGATE_NO_SLOT	U16_MAX
#define FLOODGATE_THROUGH	2	/* packets that a dequeue lets out of VOQs at most */

/* What the neighbour makes of a qdisc */
#define FLOODGATE_LINK_TAGS	BIT(0)	/* it may pause single slots */
#define FLOODGATE_LINK_HOST	BIT(1)	/* this box is a host: each destination has its own queue */
#define FLOODGATE_LINK_COUNTS	BIT(2)	/* what is sent is counted, for windows */
#define FLOODGATE_LINK_WINDOWS	BIT(3)	/* and they hold: the neighbour counts, too */

struct floodgate_slot;
struct floodgate_sched;
struct floodgate_voq;

/* What the options say, in the units of TCA_FLOODGATE_*. A copy is filled and swapped in whole. */
struct floodgate_config {
	struct hop_config	port;
	u64			rate;
	u32			limit;
	u32			pool;
	u32			pool_alpha;
	u32			pool_pause_alpha;
	u32			control_share;
	u32			kmin;
	u32			kmax;
	u32			pmax;
	u32			window;
	u32			window_factor;
	u32			credit_threshold;
	u32			slots;
	u32			voqs;
	u32			pause_threshold;
	u32			resume_threshold;
	u16			telemetry;
	u8			mode;
	u8			pause_hosts;
	u8			pfc;
	u8			scope;
	u8			serve;
	u8			key;
	u8			prefix;
	u8			prefix6;
	u8			split_gso;
	u8			control_dscp;
};

/* Counters of the qdisc: TCA_FLOODGATE_STATS_* says what each means. */
struct floodgate_stats {
	u64	backlog_time;
	u64	voq_packets;
	u64	voq_bytes;
	u64	voqs_shared;
	u64	slots_full;
	u64	credits;
	u64	delayed;
	u64	pauses;
	u64	elided;
	u64	withdrawn;
	struct hop_xoff pfc;
	struct hop_telemetry_stats telemetry;
	struct hop_intake_stats intake;
	u64	tagged;
	u64	drop_limit;
	u64	drop_pool;
	u64	drop_tag;
	u32	backlog_max;
	u32	voqs_max;
	u32	voq_max;
};

/**
 * struct floodgate_dest - a destination, of which one or more ports of the box have a slot
 * @node: in the table, or in the list of free ones; floodgate_switch.lock
 * @key: the destination
 * @users: slots; floodgate_switch.lock
 * @each: how much more the window is for each port but one, and
 * @most: what it is at most: as the port says that grants most; @lock
 * @ports: slots where windows hold; @lock
 * @out: bytes that count against the window, at all ports
 * @held: bytes in VOQs, at all ports
 * @window: bytes; written under @lock
 * @grant: of this, what that port grants where no other one has the destination; likewise
 * @widest: that port's slot, NULL if it is to be looked for; any port, WRITE_ONCE
 * @lock: the rest
 * @waiting: slots whose VOQ waits for window, whose turn comes first
 * @delayed: first of the handles whose credits are delayed, 0 if there is none; see credit.c
 * @pausing: first of the handles that hold a pause for it, 0 if there is none; see pause.c
 */
struct floodgate_dest {
	struct hlist_node	node;
	struct floodgate_key	key;
	u32			users;
	u32			each;
	u32			most;
	u32			ports;
	atomic64_t		out ____cacheline_aligned_in_smp;
	atomic64_t		held;
	u32			window;
	u32			grant;
	struct floodgate_slot	*widest;
	spinlock_t		lock;
	struct list_head	waiting;
	u16			delayed;
	u16			pausing;
};

/**
 * struct floodgate_origin - what is kept by handle
 * @dest: destination for which credits are delayed; its lock protects @bytes and @next. NULL if
 *	there is none
 * @bytes: that have left without the neighbour being told
 * @next: the next such handle, 0 if it is the last one
 * @left: bytes that have left since the neighbour was told for their number
 * @next_paused: likewise, of those that hold a pause
 * @paused: destination for which it holds a pause; its lock protects @next_paused. NULL likewise
 */
struct floodgate_origin {
	struct floodgate_dest	*dest;
	u32			bytes;
	u16			next;
	u16			next_paused;
	struct floodgate_dest	*paused;
	atomic_t		left;
};

#define FLOODGATE_TABLE_BITS	12

/**
 * struct floodgate_switch - what the qdiscs of a network namespace have together
 * @shared: it has no size
 * @secret: of hashes of destinations
 * @lock: @table, @free, @used
 * @table: destinations with slots
 * @free: others; there are as many as slots
 * @used: how many have slots
 * @origins: by handle, from HOP_HANDLE_FIRST on
 */
struct floodgate_switch {
	struct hop_shared	shared;
	struct hop_flow_secret	secret;
	spinlock_t		lock;
	u32			used;
	struct hlist_head	free;
	struct hlist_head	table[1 << FLOODGATE_TABLE_BITS];
	struct floodgate_origin	*origins;
};

/**
 * struct floodgate_voq - a virtual output queue, of one destination or of several that share it
 * @packets: in it; the first one's destination says whether it may send
 * @node: in floodgate_sched.free_voqs while it is empty, in .round while it is ready
 * @backlog: bytes, as tc counts them
 * @ready: it is in the round
 */
struct floodgate_voq {
	struct qdisc_skb_head	packets;
	struct list_head	node;
	u32			backlog;
	bool			ready;
};

/**
 * struct floodgate_slot - a destination at a port; its number is what the fabric tag says
 * @q: the qdisc
 * @dest: the destination, NULL if the slot is free
 * @hash: of the destination
 * @next: slot in the same bucket of the table + 1, 0 if it is the last one
 * @idle: it is in the list of idle ones
 * @idle_at: since then, jiffies
 * @paused: the neighbour holds it
 * @charged: bytes in the FIFO
 * @counted: what it has in floodgate_dest.out
 * @backlog: bytes in the VOQ, as tc counts them
 * @held: bytes in the VOQ, as windows count them
 * @backlog_max: most that ever were, of any destination
 * @qlen: packets in the VOQ
 * @voq: the VOQ that they are in, NULL if there are none
 * @sent: bytes outstanding
 * @node: in a list of free or idle ones, if any
 * @owing: in the list of those with anything outstanding, if so
 * @wait: in floodgate_dest.waiting, under its lock; once called in floodgate_sched.turns
 * @packets: that were in the VOQ and have left, ever
 * @bytes: of these
 */
struct floodgate_slot {
	struct floodgate_sched		*q;
	struct floodgate_dest		*dest;
	u32				hash;
	u16				next;
	bool				idle;
	bool				paused;
	unsigned long			idle_at;
	u32				charged;
	u32				backlog;
	u64				counted;
	u32				held;
	u32				backlog_max;
	u32				qlen;
	struct floodgate_voq		*voq;
	struct hop_ledger_tx_key	sent;
	struct list_head		node;
	struct list_head		owing;
	struct list_head		wait;
	u64				packets;
	u64				bytes;
};

/* What has come, by the neighbour's slot; hop_blocks.rx_lock */
struct floodgate_come {
	struct rcu_head			rcu;
	struct hop_ledger_rx_key	keys[HOP_BLOCKS_KEYS];
};

/* Private area of the qdisc. */
struct floodgate_sched {
	/* Read mostly */
	struct floodgate_config	config;
	struct hop_ecn_ramp	ramp;		/* of @config */
	struct floodgate_key_rule rule;		/* of @config */
	struct floodgate_switch	*box;
	struct floodgate_slot	*slots;
	struct floodgate_voq	*voq;		/* floodgate_voqs_made() of them */
	u16			*table;		/* slot + 1 by hash */
	u32			mask;
	u32			window;		/* bytes: what this port grants a destination */
	u32			window_most;	/* and what if many others have it as well */
	u32			threshold;	/* bytes in VOQs beyond which credits are delayed */
	u32			pause_bytes;	/* of a destination: beyond it senders are paused */
	u32			resume_bytes;	/* and resumed at that much */
	u8			link;		/* FLOODGATE_LINK_* */
	bool			windows;	/* of these: windows hold */
	bool			pauses;		/* senders are paused for destinations */

	/* Read and written for each packet */
	u32			backlog ____cacheline_aligned;	/* of FIFO and VOQs */
	u32			paused_seen;
	u32			voq_backlog;
	u32			random;		/* see hop_ecn_marks() */
	struct hop_buffer	buffer;
	u64			changed_ns;	/* when the backlog last changed */
	struct qdisc_skb_head	fifo;
	struct list_head	round;		/* VOQs that may have window */
	struct list_head	turns;		/* slots of these, called, that have not sent */
	struct list_head	owing;
	struct list_head	idle;		/* the longest unused first */
	struct list_head	free;
	struct list_head	free_voqs;
	bool			fifo_last;	/* the last packet was of the FIFO, on a host */
	u32			owe;		/* slots in @owing */
	u32			used;		/* slots with a destination */
	u32			voqs;		/* VOQs with packets */
	u32			dests;		/* brought into the box */
	struct hop_xoff_held	held;		/* the neighbour holds the link */
	struct floodgate_stats	stats;

	/* Written by others */
	bool			news ____cacheline_aligned_in_smp;	/* see floodgate_hear() */
	unsigned long		*called;	/* slots whose turn it is */
	struct hop_mailbox	mail;

	/* Seldom used */
	struct hop_intake	intake;
	u64			rate;		/* bytes/s that all was computed with */
	u32			interval_ns;	/* T, likewise */
	struct hop_telemeter	telemeter;
	u32			speed_seen;	/* what @rate follows */
	u32			frame_seen;
	u32			hrtt_seen;
	u32			hrtt_max_seen;
	u64			paused[HOP_BITMAP_WORDS];	/* slots that the neighbour holds */
	struct hop_late_drops	late;
	struct floodgate_come	*come;
	struct hop_member	member;
};

/**
 * struct floodgate_skb_cb - what a queued packet remembers
 * @bytes: what it counts
 * @slot: of its destination, FLOODGATE_NO_SLOT if it has none
 * @handle: that it came by, 0 if by none
 * @link: number of the port that it came by, 0 if it does not count against that
 * @spilled: it is a control packet
 */
struct floodgate_skb_cb {
	u32	bytes;
	u16	slot;
	u16	handle;
	u16	link;
	bool	spilled;
};

static inline struct floodgate_skb_cb *floodgate_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct floodgate_skb_cb));
	return (struct floodgate_skb_cb *)qdisc_skb_cb(skb)->data;
}

static inline u32 floodgate_slot_number(const struct floodgate_slot *slot)
{
	return slot - slot->q->slots;
}

/* VOQs that the qdisc has: without an option none is ever shared. */
static inline u32 floodgate_voqs_made(const struct floodgate_sched *q)
{
	return q->config.voqs ?: q->config.slots;
}

/* The slot of the first packet in a VOQ that has some */
static inline struct floodgate_slot *floodgate_first(struct floodgate_sched *q,
						     const struct floodgate_voq *voq)
{
	return &q->slots[floodgate_cb(voq->packets.head)->slot];
}

/* Is it what its VOQ waits for? Of those that share one the first packet's. */
static inline bool floodgate_is_first(const struct floodgate_slot *slot)
{
	return slot->voq && floodgate_first(slot->q, slot->voq) == slot;
}

/* ---- stats.c ---- */

extern const struct Qdisc_class_ops floodgate_class_ops;

int floodgate_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

/* ---- options.c ---- */

void floodgate_follow_link(struct floodgate_sched *q);
int floodgate_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
void floodgate_destroy(struct Qdisc *sch);
int floodgate_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int floodgate_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- queue.c ---- */

void floodgate_put(struct Qdisc *sch, struct floodgate_sched *q, struct sk_buff *skb,
		   struct hop_network net);
struct sk_buff *floodgate_take(struct Qdisc *sch, struct floodgate_sched *q,
			       struct floodgate_slot **slot, bool *voq, u64 now);
void floodgate_reset(struct Qdisc *sch);

/* ---- pause.c ---- */

extern const struct hop_member_ops floodgate_member_ops;

void floodgate_count(struct floodgate_sched *q, const struct sk_buff *skb);
void floodgate_uncount(struct floodgate_sched *q, const struct sk_buff *skb);
void floodgate_obey(struct floodgate_sched *q);
void floodgate_catch_up(struct floodgate_sched *q);
void floodgate_pause(struct floodgate_sched *q, const struct sk_buff *skb);
void floodgate_resume(struct floodgate_sched *q, const struct floodgate_slot *slot);
unsigned int floodgate_pauses_end(struct floodgate_sched *q);
void floodgate_pauses_look(struct floodgate_sched *q);

/* ---- window.c ---- */

extern const struct hop_shared_type floodgate_switch_type;

int floodgate_slots_make(struct floodgate_sched *q, u32 n);
void floodgate_slots_leave(struct floodgate_sched *q);
void floodgate_slots_free(struct floodgate_sched *q);
struct floodgate_slot *floodgate_slot_of(struct floodgate_sched *q, const struct sk_buff *skb,
					 struct hop_network net);
u32 floodgate_widen(struct floodgate_slot *slot);
void floodgate_recount(struct floodgate_slot *slot);
void floodgate_wait(struct floodgate_slot *slot);
void floodgate_wait_no_more(struct floodgate_slot *slot);
void floodgate_pass_on(struct floodgate_slot *slot);
void floodgate_judge(struct floodgate_sched *q);
void floodgate_hold(struct floodgate_slot *slot, bool on);
void floodgate_look_again(struct floodgate_sched *q);
void floodgate_owes(struct floodgate_slot *slot);
void floodgate_not_sent(struct floodgate_slot *slot);
void floodgate_settle(struct floodgate_slot *slot);
void floodgate_told(struct hop_port *port, u16 key, u32 block, s32 bytes);
unsigned int floodgate_asks(struct hop_member *m, u16 *keys, unsigned int most);
void floodgate_hear(struct floodgate_sched *q);
void floodgate_turn_lost(struct floodgate_sched *q);

/* The window that the destination's fastest port grants it, at all ports together */
static inline u32 floodgate_window(struct floodgate_slot *slot)
{
	const struct floodgate_dest *dest = slot->dest;
	const struct floodgate_slot *widest = READ_ONCE(dest->widest);
	u32 own = slot->q->window, grant = READ_ONCE(dest->grant);

	if (likely(widest && (widest != slot ? own <= grant : own == grant)))
		return READ_ONCE(dest->window);
	return floodgate_widen(slot);
}

/**
 * floodgate_window_left - has the destination window at this port?
 * @slot: its slot
 *
 * One packet may be larger than what is left (section 4.2 counts packets).
 */
static inline bool floodgate_window_left(struct floodgate_slot *slot)
{
	const struct floodgate_sched *q = slot->q;

	if (unlikely(!q->windows))
		return true;
	if (q->config.scope == FLOODGATE_SCOPE_PORT)
		return slot->counted < q->window;
	return atomic64_read(&slot->dest->out) < floodgate_window(slot);
}

/* May a packet of the destination leave by this port? */
static inline bool floodgate_has_window(struct floodgate_slot *slot)
{
	return likely(!slot->paused) && floodgate_window_left(slot);
}

/* Something of its destination is about to be queued. */
static inline void floodgate_use(struct floodgate_slot *slot)
{
	if (!slot->idle)
		return;
	slot->idle = false;
	list_del(&slot->node);
}

/* A packet goes into the FIFO. */
static inline void floodgate_charge(struct floodgate_slot *slot, u32 bytes)
{
	floodgate_use(slot);
	slot->charged += bytes;
	if (unlikely(!slot->q->windows))
		return;
	slot->counted += bytes;
	atomic64_add(bytes, &slot->dest->out);
}

/**
 * floodgate_sent - a packet leaves with the slot's number
 * @slot: the slot
 * @bytes: what it counts
 */
static inline void floodgate_sent(struct floodgate_slot *slot, u32 bytes)
{
	hop_ledger_sent(&slot->q->member.blocks.tx, &slot->sent, bytes);
	if (unlikely(list_empty(&slot->owing)))
		floodgate_owes(slot);
	/* one of the FIFO has counted before */
	if (slot->counted != slot->charged + hop_ledger_outstanding(&slot->sent))
		floodgate_recount(slot);
}

/* What the neighbour makes of the qdisc now. Towards a host nobody tags. */
static inline u8 floodgate_link(const struct floodgate_sched *q)
{
	const struct hop_member *m = &q->member;

	if (!hop_tagging(m))
		return 0;
	if (READ_ONCE(*m->role) != HOP_ROLE_SWITCH)
		return FLOODGATE_LINK_TAGS | FLOODGATE_LINK_HOST;
	if (hop_blocks_valid(m))
		return FLOODGATE_LINK_TAGS | FLOODGATE_LINK_COUNTS | FLOODGATE_LINK_WINDOWS;
	return hop_blocks_kin(m) ? FLOODGATE_LINK_TAGS | FLOODGATE_LINK_COUNTS :
				   FLOODGATE_LINK_TAGS;
}

/* ---- credit.c ---- */

u32 floodgate_gso(const struct sk_buff *skb, struct hop_network net);
struct hop_ledger_rx_key *floodgate_received(struct hop_port *port, const struct sk_buff *skb,
					     u16 queue, u32 *bytes);
s64 floodgate_balance(struct hop_port *port, const struct hop_ledger_rx *rx, u16 key);
/**
 * floodgate_bytes - what a packet counts
 * @skb: a packet in the receive hook, without the fabric tag, or at the qdisc
 * @net: hop_network() of it
 */
static inline u32 floodgate_bytes(const struct sk_buff *skb, struct hop_network net)
{
	return likely(!skb_is_gso(skb)) ? floodgate_frame_bytes(skb->len - net.at) :
					  floodgate_gso(skb, net);
}

/**
 * floodgate_came - a packet is about to be queued
 * @q: the qdisc
 * @skb: the packet, which knows its bytes
 */
static inline void floodgate_came(struct floodgate_sched *q, struct sk_buff *skb)
{
	struct floodgate_skb_cb *cb = floodgate_cb(skb);

	cb->handle = hop_handle(&q->member, skb);
	if (cb->handle)
		hop_ingress_add(&q->member, cb->handle, cb->bytes);
}

void floodgate_left(struct floodgate_sched *q, const struct sk_buff *skb,
		    struct floodgate_dest *dest);
void floodgate_credit_delayed(struct floodgate_sched *q, struct floodgate_dest *dest);
void floodgate_credits_look(struct floodgate_sched *q);

#endif
