// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - what bfc says of itself: statistics, and classes that show them
 */
#include "../sched/classes.h"
#include "../sched/counters.h"
#include "../sched/stats.h"
#include "bfc.h"

/* What is worked out at the time of the dump. */
struct bfc_now {
	u64	time_ns;
	u64	rate;
	u64	pool_used;
	u64	pool_max;
	u32	pool_size;
	u32	th;
	u32	n_active;
	u32	backlogged;
	u32	marked;
	u32	hrtt_ns;
	u32	sticky_ns;
};

#include "bfc_counter_rows.h"

/* Time paused so far, pauses that last included. */
static u64 bfc_paused_ns(const struct bfc_sched *q, u64 now)
{
	u64 sum = q->stats.paused_ns;
	u32 i;

	for (i = 0; i < q->config.queues; i++)
		if (hop_subq_is_paused(&q->subqs.queues[i]))
			sum += now - READ_ONCE(q->subqs.stats[i].paused_since);
	return sum;
}

int bfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_now now = {};
	struct bfc_stats stats;
	struct nlattr *nest;
	bool full;

	sch_tree_lock(sch);
	now.time_ns = ktime_get_ns();
	if (hop_paused_changed(&q->member, q->paused_seen))
		bfc_merge_paused(q, now.time_ns);
	bfc_follow_link(q);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now.time_ns);
	stats = q->stats;
	now.backlogged = q->subqs.backlogged;
	now.rate = q->rate;
	now.th = bfc_threshold(sch, q, bfc_n_active(q));
	now.n_active = atomic_read(q->member.n_active);
	now.marked = q->member.marked;
	now.hrtt_ns = q->hrtt_seen;
	now.sticky_ns = q->sticky_ns;
	if (q->buffer.pool) {
		now.pool_size = hop_pool_size(q->buffer.pool);
		now.pool_used = atomic_long_read(&q->buffer.pool->used);
		now.pool_max = atomic_long_read(&q->buffer.pool->used_max);
	}
	sch_tree_unlock(sch);
	if (stats.paused)
		stats.paused_ns = bfc_paused_ns(q, now.time_ns);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(bfc_counters, ARRAY_SIZE(bfc_counters), &stats, d->skb,
				 TCA_BFC_STATS_PAD) ||
	       hop_counters_dump(bfc_now_counters, ARRAY_SIZE(bfc_now_counters), &now, d->skb,
				 TCA_BFC_STATS_PAD) ||
	       hop_port_dump(&q->member, d->skb, TCA_BFC_STATS_PORT);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * The strict-priority classes, the control class, and the sub-queues: see sched/classes.h.
 */

static struct hop_subq *bfc_minor_queue(const struct bfc_sched *q, unsigned long minor)
{
	if (minor < BFC_MINOR_QUEUE || minor - BFC_MINOR_QUEUE >= q->config.queues)
		return NULL;
	return &q->subqs.queues[minor - BFC_MINOR_QUEUE];
}

static unsigned long bfc_find(struct Qdisc *sch, u32 classid)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return hop_prio_minor(&q->config.prio, classid) >= 0 || bfc_minor_queue(q, minor) ?
	       minor : 0;
}

static unsigned long bfc_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return bfc_find(sch, classid);
}

static struct tcf_block *bfc_tcf_block(struct Qdisc *sch, unsigned long minor,
				       struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);

	return minor ? NULL : q->filters.block;
}

static void bfc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	const struct bfc_sched *q = qdisc_priv(sch);

	hop_classes_walk(sch, arg, &q->subqs, q->config.prio.classes, BFC_MINOR_CONTROL,
			 BFC_MINOR_QUEUE);
}

static int bfc_dump_class(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
			  struct tcmsg *tcm)
{
	return hop_subq_dump(sch, minor, skb, tcm, bfc_minor_queue(qdisc_priv(sch), minor));
}

static int bfc_put_queue(struct bfc_sched *q, const struct hop_subq *sub, struct gnet_dump *d)
{
	const struct hop_subq_stats *stats = &q->subqs.stats[sub - q->subqs.queues];
	u64 paused_ns = hop_subq_paused_ns(sub, stats, ktime_get_ns());
	struct nlattr *nest;
	bool full;

	if (hop_subq_put(d, sub, stats) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       nla_put_u8(d->skb, TCA_BFC_CLASS_PAUSED, hop_subq_is_paused(sub)) ||
	       nla_put_u32(d->skb, TCA_BFC_CLASS_FLOWS, READ_ONCE(sub->flows)) ||
	       nla_put_s32(d->skb, TCA_BFC_CLASS_DEFICIT, READ_ONCE(sub->deficit)) ||
	       nla_put_u32(d->skb, TCA_BFC_CLASS_BACKLOG_MAX, READ_ONCE(sub->backlog_max)) ||
	       nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSES, READ_ONCE(stats->pauses),
				 TCA_BFC_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_PAUSED_TIME, paused_ns, TCA_BFC_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_BFC_CLASS_MARKS, READ_ONCE(stats->marks),
				 TCA_BFC_CLASS_PAD);
	return hop_nest_end(d->skb, nest, full);
}

static int bfc_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct bfc_sched *q = qdisc_priv(sch);
	const struct hop_subq *sub = bfc_minor_queue(q, minor);

	if (sub)
		return bfc_put_queue(q, sub, d);
	if (minor == BFC_MINOR_CONTROL)
		return hop_control_dump(d, &q->control, READ_ONCE(q->stats.drop_control));
	return hop_class_put(d, &q->subqs, minor - 1);
}

const struct Qdisc_class_ops bfc_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= bfc_find,
	.walk		= bfc_walk,
	.tcf_block	= bfc_tcf_block,
	.bind_tcf	= bfc_bind,
	.unbind_tcf	= hop_class_unbind,
	.dump		= bfc_dump_class,
	.dump_stats	= bfc_dump_class_stats,
};
