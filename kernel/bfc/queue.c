// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - sub-queues: pauses that the neighbour asks for, the limit, and the end
 */
#include "../sched/trace_bfc.h"
#include "queue.h"

static void bfc_queue_pause(struct bfc_sched *q, struct hop_subq *sub, u64 now)
{
	trace_bfc_pause(&q->member, sub - q->subqs.queues, sub->backlog, now, now);
	q->stats.pauses_obeyed++;
	q->stats.paused++;
	hop_subq_pause(&q->subqs, &q->member, sub, now);
}

static void bfc_queue_resume(struct bfc_sched *q, struct hop_subq *sub, u64 now)
{
	trace_bfc_resume(&q->member, sub - q->subqs.queues, sub->backlog,
			 hop_subq_stats(&q->subqs, sub)->paused_since, now);
	q->stats.paused_ns += hop_subq_resume(&q->subqs, &q->member, sub, now);
	q->stats.resumes_obeyed++;
	q->stats.paused--;
	if (!sub->head && !sub->held && q->config.reuse == BFC_REUSE_EMPTY)
		bfc_queue_release(q, sub);
}

static void bfc_queue_changed(void *sched, u32 queue, bool paused, u64 now)
{
	struct bfc_sched *q = sched;

	if (paused)
		bfc_queue_pause(q, &q->subqs.queues[queue], now);
	else
		bfc_queue_resume(q, &q->subqs.queues[queue], now);
}

/* Take over what the neighbour has paused and resumed since we last looked. */
void bfc_merge_paused(struct bfc_sched *q, u64 now)
{
	q->paused_seen = hop_subqs_merge_paused(&q->member, q->paused, q->config.queues,
						bfc_queue_changed, q, now);
}

/* Over the limit: the longest sub-queue, or one at least half as long, loses its oldest; if all are
 * short, any of them, as a rule the packet's own.
 */
struct hop_admitted bfc_enforce_limit(struct Qdisc *sch, struct hop_subq *own, u64 now,
				      struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_admitted change = {};
	struct hop_subq *sub;
	struct sk_buff *skb;

	while (sch->qstats.backlog > q->config.limit) {
		sub = hop_subqs_longest(&q->subqs) ?: own;
		if (!sub || !sub->head)
			break;
		skb = bfc_take(sch, sub, now);
		change.packets--;
		change.bytes -= qdisc_pkt_len(skb);
		if (sub == own)
			change.congested = true;
		q->stats.drop_limit++;
		q->subqs.stats[sub - q->subqs.queues].drops++;
		trace_bfc_drop(&q->member, sub - q->subqs.queues, BFC_TRACE_DROP_LIMIT, skb);
		qdisc_drop(skb, sch, to_free);
	}
	return change;
}

/* The packets of all sub-queues let go of what they hold paused. */
unsigned int bfc_unmark(struct bfc_sched *q)
{
	unsigned int before = q->member.marked;
	struct hop_subq *sub;
	struct sk_buff *skb;

	for (sub = q->subqs.queues; sub < q->subqs.queues + q->config.queues; sub++) {
		if (!sub->head)
			continue;
		for (skb = sub->head; skb; skb = skb->next) {
			if (bfc_cb(skb)->handle)
				bfc_unhold(q, skb);
		}
	}
	return before - q->member.marked;
}

void bfc_reset(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct hop_subq *sub;
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&q->control))) {
		trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_RESET, skb);
		kfree_skb(skb);
	}
	if (!q->subqs.queues)
		return;
	for (sub = q->subqs.queues; sub < q->subqs.queues + q->config.queues; sub++) {
		while (sub->head) {
			skb = bfc_queue_pop(q, sub, now);
			bfc_forget(q, skb, now);
			trace_bfc_drop(&q->member, sub - q->subqs.queues, BFC_TRACE_DROP_RESET,
				       skb);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	q->late = (struct hop_late_drops) {};
}
