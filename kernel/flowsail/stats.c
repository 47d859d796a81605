// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - what flowsail says of itself: statistics, and classes that show its sub-queues
 */
#include "../sched/classes.h"
#include "../sched/counters.h"
#include "../sched/stats.h"
#include "flowsail.h"

/* What is worked out at the time of the dump */
struct flowsail_now {
	u64	time_ns;
	u64	rate;
	u64	pool_used;
	u64	pool_max;
	u32	pool_size;
	u32	ql;
	u32	qh;
	u32	resume;
	u32	n_active;
	u32	backlogged;
	u32	marked;
	u32	hrtt_ns;
	u32	pfc_queued;
	u32	pfc_paused;
	u64	pfc_obeyed;
	u64	pfc_paused_ns;
};

#include "flowsail_counter_rows.h"

static void flowsail_now(struct flowsail_sched *q, struct flowsail_now *now)
{
	now->n_active = flowsail_n_active(q);
	flowsail_rethink(q, now->n_active);
	now->ql = q->ql;
	now->qh = q->qh;
	now->resume = q->resume;
	now->backlogged = q->subqs.backlogged;
	now->marked = q->member.marked - q->stats.pfc.queued;
	now->pfc_queued = q->stats.pfc.queued;
	now->pfc_paused = q->held.on;
	now->pfc_obeyed = q->held.times;
	now->pfc_paused_ns = hop_xoff_held_ns(&q->held, now->time_ns);
	now->rate = q->rate;
	now->hrtt_ns = q->hrtt_seen;
	if (!q->buffer.pool)
		return;
	now->pool_size = hop_pool_size(q->buffer.pool);
	now->pool_used = atomic_long_read(&q->buffer.pool->used);
	now->pool_max = atomic_long_read(&q->buffer.pool->used_max);
}

int flowsail_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct flowsail_now now = {};
	struct flowsail_stats stats;
	struct nlattr *nest;
	bool full;

	sch_tree_lock(sch);
	now.time_ns = ktime_get_ns();
	if (hop_paused_changed(&q->member, q->paused_seen))
		flowsail_merge_paused(q, now.time_ns);
	flowsail_follow_link(q);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now.time_ns);
	flowsail_paused_moves(q, now.time_ns);
	flowsail_now(q, &now);
	stats = q->stats;
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(flowsail_counters, ARRAY_SIZE(flowsail_counters), &stats, d->skb,
				 TCA_FLOWSAIL_STATS_PAD) ||
	       hop_counters_dump(flowsail_now_counters, ARRAY_SIZE(flowsail_now_counters), &now,
				 d->skb, TCA_FLOWSAIL_STATS_PAD) ||
	       hop_port_dump(&q->member, d->skb, TCA_FLOWSAIL_STATS_PORT);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * Strict-priority classes, the control class, and sub-queues: see sched/classes.h.
 */

static struct hop_subq *flowsail_minor_queue(const struct flowsail_sched *q, unsigned long minor)
{
	if (minor < FLOWSAIL_MINOR_QUEUE || minor - FLOWSAIL_MINOR_QUEUE >= q->subqs.count)
		return NULL;
	return &q->subqs.queues[minor - FLOWSAIL_MINOR_QUEUE];
}

static unsigned long flowsail_find(struct Qdisc *sch, u32 classid)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return hop_prio_minor(&q->config.prio, classid) >= 0 || flowsail_minor_queue(q, minor) ?
	       minor : 0;
}

static unsigned long flowsail_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return flowsail_find(sch, classid);
}

static struct tcf_block *flowsail_tcf_block(struct Qdisc *sch, unsigned long minor,
					    struct netlink_ext_ack *extack)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	return minor ? NULL : q->filters.block;
}

static void flowsail_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	const struct flowsail_sched *q = qdisc_priv(sch);

	hop_classes_walk(sch, arg, &q->subqs, q->config.prio.classes, FLOWSAIL_MINOR_CONTROL,
			 FLOWSAIL_MINOR_QUEUE);
}

static int flowsail_dump_class(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
			       struct tcmsg *tcm)
{
	return hop_subq_dump(sch, minor, skb, tcm, flowsail_minor_queue(qdisc_priv(sch), minor));
}

static u32 flowsail_waits(const struct hop_subq *sub)
{
	u8 held = READ_ONCE(sub->held);

	if (!READ_ONCE(sub->packets))
		return FLOWSAIL_WAITS_NOT;
	if (held & HOP_HELD_PAUSED)
		return FLOWSAIL_WAITS_PAUSE;
	return held ? FLOWSAIL_WAITS_ORDER : FLOWSAIL_WAITS_TURN;
}

static u32 flowsail_role(const struct flowsail_sched *q, u32 n)
{
	return n < q->isolation ? FLOWSAIL_ROLE_NORMAL :
	       n < q->own ? FLOWSAIL_ROLE_ISOLATION : FLOWSAIL_ROLE_OWN;
}

static int flowsail_put_queue(const struct flowsail_sched *q, const struct hop_subq *sub,
			      struct gnet_dump *d)
{
	const struct hop_subq_stats *stats = hop_subq_stats(&q->subqs, sub);
	u64 paused_ns = hop_subq_paused_ns(sub, stats, ktime_get_ns());
	struct nlattr *nest;
	bool full;

	if (hop_subq_put(d, sub, stats) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_WAITS, flowsail_waits(sub)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_ROLE,
			   flowsail_role(q, sub - q->subqs.queues)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_FLOWS, READ_ONCE(sub->flows)) ||
	       nla_put_s32(d->skb, TCA_FLOWSAIL_CLASS_DEFICIT, READ_ONCE(sub->deficit)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_BACKLOG_MAX, READ_ONCE(sub->backlog_max)) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_PAUSES, READ_ONCE(stats->pauses),
				 TCA_FLOWSAIL_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_PAUSED_TIME, paused_ns,
				 TCA_FLOWSAIL_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_MARKS, READ_ONCE(stats->marks),
				 TCA_FLOWSAIL_CLASS_PAD);
	return hop_nest_end(d->skb, nest, full);
}

static int flowsail_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	const struct hop_subq *sub = flowsail_minor_queue(q, minor);

	if (sub)
		return flowsail_put_queue(q, sub, d);
	if (minor == FLOWSAIL_MINOR_CONTROL)
		return hop_control_dump(d, &q->intake.control,
					READ_ONCE(q->stats.intake.drop_control));
	return hop_class_put(d, &q->subqs, minor - 1);
}

const struct Qdisc_class_ops flowsail_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= flowsail_find,
	.walk		= flowsail_walk,
	.tcf_block	= flowsail_tcf_block,
	.bind_tcf	= flowsail_bind,
	.unbind_tcf	= hop_class_unbind,
	.dump		= flowsail_dump_class,
	.dump_stats	= flowsail_dump_class_stats,
};
