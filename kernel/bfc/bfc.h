/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bfc.h - what the files of the qdisc bfc share
 *
 *   main.c       the paper: marks, enqueue, dequeue; the operations of the qdisc
 *   assign.h     flows to sub-queues, inlined in main.c
 *   control.c    control traffic beyond its share
 *   setup.c      memory, the place on the port, what the watchdogs ask
 *   options.c    what the options say, their rules, and how a change comes into force
 *   stats.c      statistics, and the classes that show them
 *   queue.c, .h  pauses that the neighbour asks for, the limit, and all ways out
 *   threshold.c  Th, and what else depends on the link
 *
 * A file calls those below it in this list, and none above.
 */
#ifndef _SLUICE_BFC_H
#define _SLUICE_BFC_H

#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "../hopctl/hopctl.h"
#include "../sched/admit.h"
#include "../sched/buffer.h"
#include "../sched/classify.h"
#include "../sched/egress.h"
#include "../sched/subq.h"
#include "../uapi/bfc.h"

#define BFC_NO_FLOW		U32_MAX
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
	u16	root_id;
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
	u8	roots;
	u8	share;
	u8	control_dscp;
	struct hop_prio prio;
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
	u32	paused;
};

/**
 * struct bfc_classes - strict-priority classes
 * @rcu: hopctl may look at them for so long, see bfc_held()
 * @class: they
 */
struct bfc_classes {
	struct rcu_head		rcu;
	struct hop_class	class[];
};

/* Private area of the qdisc. */
struct bfc_sched {
	/* Read mostly */
	struct bfc_config	config;
	struct hop_flow		*flows;
	struct hop_holders	holders;	/* the arrays; who holds what counts each class */
	struct hop_filters	filters;
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

	/* Read and written for each packet */
	u32			paused_seen ____cacheline_aligned;
	struct hop_buffer	buffer;
	u64			changed_ns;	/* when the backlog last changed */
	struct hop_subqs	subqs;
	struct bfc_stats	stats;

	/* Seldom used */
	struct bfc_classes	*classes;	/* those of @subqs */
	struct sk_buff_head	control;
	struct hop_police	police;
	unsigned long		*spilled;	/* a bit for each flow, see bfc_police() */
	struct hop_late_drops	late;
	u64			paused[HOP_BITMAP_WORDS];	/* merged pause bits */
	struct hop_member	member;
};

/**
 * struct bfc_skb_cb - what a queued packet remembers
 * @flow: its flow table entry, or BFC_NO_FLOW
 * @queue: its sub-queue
 * @handle: what it was counted against by hop_pause_inc(), 0 if it is not marked
 * @cause: of hop_cause_add(), 0 if that was not asked; only if it is marked
 */
struct bfc_skb_cb {
	u32	flow;
	u16	queue;
	u16	handle;
	u8	cause;
};

static inline struct bfc_skb_cb *bfc_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct bfc_skb_cb));
	return (struct bfc_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* Bytes that may be queued, whoever else there is */
static inline u32 bfc_room(const struct bfc_config *c)
{
	return c->pool ? min(c->limit, c->pool) : c->limit;
}

/* Under mq, N_active is the sum over the port's instances: they share its link. */
static inline u32 bfc_n_active(const struct bfc_sched *q)
{
	return atomic_read(q->member.n_active);
}

/* ---- threshold.c ---- */

void bfc_recompute(struct bfc_sched *q, u32 hrtt_ns, u32 speed);
void bfc_follow_mtu(struct bfc_sched *q);
u32 bfc_threshold(const struct Qdisc *sch, const struct bfc_sched *q, u32 n_active);
void bfc_rethink(const struct Qdisc *sch, struct bfc_sched *q, u32 n_active);
int bfc_threshold_module_init(void);

static inline void bfc_follow_link(struct bfc_sched *q)
{
	u32 hrtt_ns = READ_ONCE(*q->member.hrtt_ns);
	u32 speed = READ_ONCE(*q->member.speed);

	if (unlikely(hrtt_ns != q->hrtt_seen || speed != q->speed_seen))
		bfc_recompute(q, hrtt_ns, speed);
}

/* ---- queue.c ---- */

void bfc_merge_paused(struct bfc_sched *q, u64 now);
struct hop_admitted bfc_enforce_limit(struct Qdisc *sch, struct hop_subq *own, u64 now,
				      struct sk_buff **to_free);
unsigned int bfc_unmark(struct bfc_sched *q);
void bfc_reset(struct Qdisc *sch);

/* ---- control.c ---- */

int bfc_police(struct bfc_sched *q, const struct sk_buff *skb, struct hop_network net);
void bfc_spill(struct bfc_sched *q, const struct hop_class *class, u32 hash);
int bfc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);

/* ---- setup.c ---- */

int bfc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
void bfc_destroy(struct Qdisc *sch);

/* ---- options.c ---- */

extern const struct bfc_config bfc_defaults;

int bfc_parse(struct nlattr *opt, struct bfc_config *c, bool creating,
	      struct netlink_ext_ack *extack);
void bfc_warn(const struct bfc_sched *q, struct netlink_ext_ack *extack);
struct hop_config bfc_port_config(const struct bfc_config *c);
int bfc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int bfc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- stats.c ---- */

extern const struct Qdisc_class_ops bfc_class_ops;

int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

#endif
