// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfc_stats.c - what pfc says of itself: statistics, and classes that show them
 */
#include "../sched/classes.h"
#include "../sched/counters.h"
#include "../sched/stats.h"
#include "pfc.h"

/* What is not in struct pfc_stats, at the time of the dump */
struct pfc_now {
	u64	time_ns;
	u64	rate;
	u64	pool_used;
	u64	pool_max;
	u64	marks;
	u64	pauses;
	u64	resumes;
	u64	paused_ns;
	u32	pool_size;
	u32	marked;
	u32	paused;
};

#include "pfc_counter_rows.h"

static void pfc_look(struct pfc_sched *q, struct pfc_now *now)
{
	now->rate = q->rate;
	now->marks = q->fifo_stats.marks;
	now->pauses = q->fifo_stats.pauses;
	now->paused = hop_subq_is_paused(&q->fifo);
	now->resumes = now->pauses - now->paused;
	now->paused_ns = hop_subq_paused_ns(&q->fifo, &q->fifo_stats, now->time_ns);
	now->marked = q->member.marked;
	now->pool_size = hop_pool_size(q->buffer.pool);
	now->pool_used = atomic_long_read(&q->buffer.pool->used);
	now->pool_max = atomic_long_read(&q->buffer.pool->used_max);
}

int pfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct pfc_now now = {};
	struct pfc_stats stats;
	struct nlattr *nest;
	bool full;

	sch_tree_lock(sch);
	now.time_ns = ktime_get_ns();
	pfc_merge_paused(q, now.time_ns);
	pfc_follow_link(q);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now.time_ns);
	stats = q->stats;
	pfc_look(q, &now);
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(pfc_counters, ARRAY_SIZE(pfc_counters), &stats, d->skb,
				 TCA_PFC_STATS_PAD) ||
	       hop_counters_dump(pfc_now_counters, ARRAY_SIZE(pfc_now_counters), &now, d->skb,
				 TCA_PFC_STATS_PAD) ||
	       hop_port_dump(&q->member, d->skb, TCA_PFC_STATS_PORT);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * The FIFO and the control class: see sched/classes.h.
 */

static unsigned long pfc_find(struct Qdisc *sch, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	return minor == PFC_MINOR_DATA || minor == PFC_MINOR_CONTROL ? minor : 0;
}

static void pfc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	if (!arg->stop && hop_walk_one(sch, arg, PFC_MINOR_DATA))
		hop_walk_one(sch, arg, PFC_MINOR_CONTROL);
}

static int pfc_put_fifo(const struct pfc_sched *q, struct gnet_dump *d)
{
	const struct hop_subq_stats *stats = &q->fifo_stats;
	u64 paused_ns = hop_subq_paused_ns(&q->fifo, stats, ktime_get_ns());
	struct nlattr *nest;
	bool full;

	if (hop_subq_put(d, &q->fifo, stats) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       nla_put_u8(d->skb, TCA_PFC_CLASS_PAUSED, hop_subq_is_paused(&q->fifo)) ||
	       nla_put_u32(d->skb, TCA_PFC_CLASS_BACKLOG_MAX, READ_ONCE(q->fifo.backlog_max)) ||
	       nla_put_u64_64bit(d->skb, TCA_PFC_CLASS_PAUSES, READ_ONCE(stats->pauses),
				 TCA_PFC_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_PFC_CLASS_PAUSED_TIME, paused_ns, TCA_PFC_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_PFC_CLASS_MARKS, READ_ONCE(stats->marks),
				 TCA_PFC_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_PFC_CLASS_ECN_MARKED,
				 READ_ONCE(q->stats.intake.ecn_marked),
				 TCA_PFC_CLASS_PAD);
	return hop_nest_end(d->skb, nest, full);
}

static int pfc_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct pfc_sched *q = qdisc_priv(sch);

	if (minor == PFC_MINOR_DATA)
		return pfc_put_fifo(q, d);
	return hop_control_dump(d, &q->intake.control,
					READ_ONCE(q->stats.intake.drop_control));
}

const struct Qdisc_class_ops pfc_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= pfc_find,
	.walk		= pfc_walk,
	.dump		= hop_class_dump,
	.dump_stats	= pfc_dump_class_stats,
};
