/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flowsail.h - what the files of the qdisc flowsail share
 *
 *   main.c       the paper: which flows are held, enqueue, dequeue; the operations of the qdisc
 *   setup.c      memory, the place on the port, what the watchdogs ask
 *   options.c    what the options say, their rules, and how a change comes into force
 *   stats.c      statistics, and the classes that show them
 *   queue.c, .h  how packets come into sub-queues, the limit, and all ways out
 *   isolate.c    flows that the neighbour holds, and which sub-queues wait for that
 *   flow.c       flows and their slots
 *   threshold.c  Q_l and Q_h, and what else depends on the link
 *   identify.h   is a flow to be held? Pure functions
 *
 * A file calls those below it in this list, and none above.
 */
#ifndef _SLUICE_FLOWSAIL_H
#define _SLUICE_FLOWSAIL_H

#include <net/pkt_sched.h>

#include "../hopctl/hopctl.h"
#include "../sched/buffer.h"
#include "../sched/classify.h"
#include "../sched/ecn_ramp.h"
#include "../sched/egress.h"
#include "../sched/intake.h"
#include "../sched/packet_hash.h"
#include "../sched/subq.h"
#include "../sched/telemetry_write.h"
#include "../sched/xoff.h"
#include "../uapi/flowsail.h"

#define FLOWSAIL_NO_FLOW	U16_MAX
#define FLOWSAIL_STRAYS		64	/* kinds of flows without a slot, by hash */
#define FLOWSAIL_RELEASE_HRTTS	2	/* section IV-C */
#define FLOWSAIL_FRONT_STEPS	8	/* packets looked at for each one that leaves */
#define FLOWSAIL_RESUME_SHIFT	20
#define FLOWSAIL_N_UNKNOWN	U32_MAX
#define FLOWSAIL_HELD_ORDER	0x02	/* beside HOP_HELD_PAUSED: older packets are elsewhere */

/* struct flowsail_flow.state */
#define FLOWSAIL_KNOWN		BIT(0)	/* it is somebody's, and in the table */
#define FLOWSAIL_PAUSED		BIT(1)	/* the neighbour holds it */
#define FLOWSAIL_ISOLATED	BIT(2)	/* its packets go to isolation: the paper's CFT */

/* What the options say, in the units of TCA_FLOWSAIL_*. A copy is filled and swapped in whole. */
struct flowsail_config {
	struct hop_config	port;
	u64			rate;
	u32			limit;
	u32			pool;
	u32			pool_alpha;
	u32			pool_pause_alpha;
	u32			quantum;
	u32			control_share;
	u32			kmin;
	u32			kmax;
	u32			pmax;
	u32			slots;
	u32			ql;
	u32			qh;
	u32			ql_scale;
	u32			qh_scale;
	u32			resume;
	u16			queues;
	u16			isolation;
	u8			isolation_by;
	u8			lone;
	u8			pause;
	u8			pfc;
	u8			split_gso;
	u8			control_dscp;
	struct hop_prio		prio;
	u16			telemetry;
};

/* Counters of the qdisc: TCA_FLOWSAIL_STATS_* says what each means. */
struct flowsail_stats {
	u64	backlog_time;
	u64	assign_free;
	u64	assign_shared;
	u64	assign_isolated;
	u64	released;
	u64	flows_early;
	u64	flows_full;
	u64	marks;
	u64	marks_high;
	u64	spared;
	u64	over_unlabelled;
	u64	elided;
	u64	withdrawn;
	u64	pauses_obeyed;
	u64	resumes_obeyed;
	u64	paused_ns;
	u64	order_waits;
	struct hop_xoff pfc;
	struct hop_intake_stats intake;
	struct hop_telemetry_stats telemetry;
	u64	tagged;
	u64	drop_limit;
	u64	drop_pool;
	u64	drop_tag;
	u64	drop_filter;
	u32	flows;
	u32	isolated;
	u32	paused;
	u32	flows_max;
	u32	backlog_max;
};

/**
 * struct flowsail_flow - a flow, of which there are packets here or were, and its slot
 * @id: which
 * @next: one more than the number of the next flow in its chain, 0 at the end
 * @queue: its normal sub-queue, while @packets is not 0
 * @idle: among those without packets that are not held, the longest unused first
 * @last_ns: when a packet came or left
 * @bytes: in its normal sub-queue
 * @packets: likewise
 * @apart_bytes: in isolation
 * @apart: packets likewise
 * @sent: packets that were sent, ever, for the watchdog
 * @isolation: its sub-queue there, while @apart is not 0
 * @state: FLOWSAIL_KNOWN and others
 * @class: index of its strict-priority class: what has the same headers in another is another flow
 *
 * Its number among all flows of the qdisc is its *slot*, which the fabric tag carries. Packets in
 * its normal sub-queue came before those in isolation.
 */
struct flowsail_flow {
	struct hop_flow_id	id;
	u16			next;
	u16			queue;
	struct list_head	idle;
	u64			last_ns;
	u32			bytes;
	u32			packets;
	u32			apart_bytes;
	u32			apart;
	u32			sent;
	u16			isolation;
	u8			state;
	u8			class;
};

/**
 * struct flowsail_front - what of a sub-queue does not hold flows any more
 * @next: the oldest packet that may; NULL: none does
 * @bytes: of those before it
 *
 * Means nothing without flowsail_config.resume.
 */
struct flowsail_front {
	struct sk_buff		*next;
	u32			bytes;
};

/* Private area of the qdisc */
struct flowsail_sched {
	/* Read mostly */
	struct flowsail_config	config;
	struct flowsail_flow	*flows;
	u32			*common;	/* of the flows in each sub-queue for isolation */
	u16			*roots;		/* of each flow that is isolated, 0: not known */
	struct flowsail_front	*fronts;	/* of each sub-queue, kept if @resume is not 0 */
	u16			*chains;	/* one more than the number of a flow, or 0 */
	u32			chains_mask;
	u16			normal;		/* normal sub-queues of a class */
	u16			isolation;	/* its first sub-queue */
	u16			own;		/* the first of those of single flows */
	struct hop_filters	filters;
	struct hop_flow_secret	flow_secret;
	struct hop_ecn_ramp	ramp;
	u32			ql_bdp;		/* what Q_l is with one active sub-queue */
	u32			qh_bdp;
	u32			resume_part;	/* of Q_l, << FLOWSAIL_RESUME_SHIFT */
	u32			least;		/* that Q_l is by itself */
	u32			hrtt_seen;	/* what these were computed from */
	u32			speed_seen;
	u32			frame_seen;
	u32			n_seen;		/* N_active that @ql and @qh are for */
	u32			ql;		/* see flowsail_rethink() */
	u32			qh;
	u32			resume;
	u64			rate;		/* bytes/s that thresholds reckon with */
	u64			release_ns;

	/* Read and written for each packet */
	u32			paused_seen ____cacheline_aligned;
	u32			holding;	/* held flows, and packets in isolation */
	u32			strays;		/* packets of flows without a slot */
	u32			stray[FLOWSAIL_STRAYS];	/* the same, by hash */
	u32			random;
	struct hop_buffer	buffer;
	u64			changed_ns;	/* when the backlog last changed */
	struct list_head	idle;		/* flows */
	struct hop_subqs	subqs;
	struct hop_xoff_held	held;		/* the neighbour holds the link */
	struct flowsail_stats	stats;
	u64			busy[FLOWSAIL_CLASSES_MAX];	/* isolation with packets */

	/* Seldom used */
	struct hop_intake	intake;
	struct hop_class	class[FLOWSAIL_CLASSES_MAX];	/* hopctl may look until RCU ends */
	struct hop_late_drops	late;
	struct hop_telemeter	telemeter;
	u64			paused_ns;	/* when the number of held flows last changed */
	u64			paused[HOP_BITMAP_WORDS];	/* merged pause bits */
	struct hop_member	member;
};

/**
 * struct flowsail_skb_cb - what a queued packet remembers
 * @flow: its slot, or FLOWSAIL_NO_FLOW
 * @handle: what it was counted against by hop_pause_inc(), 0 if it holds nobody
 * @apart: it is in isolation
 * @spilled: it is a control packet
 * @stray: its place in flowsail_sched.stray, if it has no slot
 * @cause: of hop_cause_add(), 0 if that was not asked; only with a handle
 * @link: number of the port that it came by, 0 if it does not count against that
 */
struct flowsail_skb_cb {
	u16	flow;
	u16	handle;
	u16	link;
	bool	apart;
	bool	spilled;
	u8	stray;
	u8	cause;
};

static inline struct flowsail_skb_cb *flowsail_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct flowsail_skb_cb));
	return (struct flowsail_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Return: the flow of a queued packet, or NULL. */
static inline struct flowsail_flow *flowsail_cb_flow(const struct flowsail_sched *q,
						     const struct sk_buff *skb)
{
	u16 slot = flowsail_cb(skb)->flow;

	return unlikely(slot == FLOWSAIL_NO_FLOW) ? NULL : &q->flows[slot];
}

/* All sub-queues: normal ones, those for isolation, those of each class together, and one for each
 * slot
 */
static inline u32 flowsail_queues(const struct flowsail_config *c)
{
	return c->queues + c->isolation * c->prio.classes + c->slots;
}

/* Bytes that may be queued, whoever else there is */
static inline u32 flowsail_room(const struct flowsail_config *c)
{
	return c->pool ? min(c->limit, c->pool) : c->limit;
}

/* ---- threshold.c ---- */

void flowsail_recompute(struct flowsail_sched *q);
void flowsail_rethink(struct flowsail_sched *q, u32 n_active);
int flowsail_threshold_module_init(void);

/* The link's speed, its MTU or the longest HRTT may be another one. */
static inline void flowsail_follow_link(struct flowsail_sched *q)
{
	if (unlikely(READ_ONCE(*q->member.hrtt_ns) != q->hrtt_seen ||
		     READ_ONCE(*q->member.speed) != q->speed_seen ||
		     psched_mtu(qdisc_dev(q->member.sch)) != q->frame_seen))
		flowsail_recompute(q);
}

/* Under mq, N_active is the sum over the port's instances: they share its link. */
static inline u32 flowsail_n_active(const struct flowsail_sched *q)
{
	return atomic_read(q->member.n_active);
}

/* ---- flow.c ---- */

struct flowsail_flow *flowsail_flow_new(struct flowsail_sched *q, struct hop_flow_id id, u32 hash,
					u8 class, u64 now);

static __always_inline bool flowsail_is_same(const struct flowsail_flow *flow,
					     struct hop_flow_id id, u8 class)
{
	return flow->id.word[0] == id.word[0] && flow->id.word[1] == id.word[1] &&
	       flow->id.word[2] == id.word[2] && flow->class == class;
}

/**
 * flowsail_flow_of - the flow of a packet that comes
 * @q: the qdisc
 * @id: hop_packet_flow() of it
 * @hash: hop_flow_hash() of that
 * @class: its class
 * @now: time
 *
 * A flow that is not known while packets without a slot wait, of flows with a hash like its own,
 * may be theirs: it gets none, or its packets would overtake those.
 *
 * Return: the flow, or NULL: it is not known, and all slots are in use.
 */
static __always_inline struct flowsail_flow *
flowsail_flow_of(struct flowsail_sched *q, struct hop_flow_id id, u32 hash, u8 class, u64 now)
{
	struct flowsail_flow *flow;
	u16 n;

	for (n = q->chains[hash & q->chains_mask]; n; n = flow->next) {
		flow = &q->flows[n - 1];
		if (likely(flowsail_is_same(flow, id, class)))
			return flow;
	}
	if (unlikely(q->strays) && q->stray[hash % FLOWSAIL_STRAYS])
		return NULL;
	return flowsail_flow_new(q, id, hash, class, now);
}

static inline u16 flowsail_slot(const struct flowsail_sched *q, const struct flowsail_flow *flow)
{
	return flow - q->flows;
}

/* As for sub-queues (sched/subq.h), without what distributions' kernels check in each list: a
 * packet that meets an empty sub-queue passes both.
 */
static inline void flowsail_idle_add(struct flowsail_sched *q, struct flowsail_flow *flow)
{
	struct list_head *last = q->idle.prev;

	flow->idle.next = &q->idle;
	flow->idle.prev = last;
	q->idle.prev = &flow->idle;
	WRITE_ONCE(last->next, &flow->idle);
}

static inline void flowsail_idle_del(struct flowsail_flow *flow)
{
	__list_del(flow->idle.prev, flow->idle.next);
	INIT_LIST_HEAD(&flow->idle);
}

/* ---- isolate.c ---- */

void flowsail_look(struct flowsail_sched *q, struct hop_subq *sub, u64 now);
void flowsail_merge_paused(struct flowsail_sched *q, u64 now);
void flowsail_paused_moves(struct flowsail_sched *q, u64 now);
u32 flowsail_isolation(struct flowsail_sched *q, const struct flowsail_flow *flow,
		       const struct sk_buff *skb);
void flowsail_isolation_moves(struct flowsail_sched *q, const struct hop_subq *sub);

/* ---- queue.c ---- */

struct hop_admitted flowsail_enforce_limit(struct Qdisc *sch, struct hop_subq *own, u64 now,
					   struct sk_buff **to_free);
void flowsail_fronts_begin(struct flowsail_sched *q);
unsigned int flowsail_unmark(struct flowsail_sched *q);
void flowsail_reset(struct Qdisc *sch);

/* ---- setup.c ---- */

int flowsail_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
void flowsail_destroy(struct Qdisc *sch);

/* ---- options.c ---- */

extern const struct flowsail_config flowsail_defaults;

int flowsail_parse(struct nlattr *opt, struct flowsail_config *c, bool creating,
		   struct netlink_ext_ack *extack);
int flowsail_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int flowsail_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- stats.c ---- */

extern const struct Qdisc_class_ops flowsail_class_ops;

int flowsail_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif
