// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - the limit, who lets go of flows, and the end
 */
#include "queue.h"

/* Over the limit: the longest sub-queue, or one at least half as long, loses its oldest; if all are
 * short, any of them, as a rule the packet's own.
 */
struct hop_admitted flowsail_enforce_limit(struct Qdisc *sch, struct hop_subq *own, u64 now,
					   struct sk_buff **to_free)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_admitted change = {};
	struct hop_subq *sub;
	struct sk_buff *skb;

	while (sch->qstats.backlog > q->config.limit) {
		sub = hop_subqs_longest(&q->subqs) ?: own;
		if (!sub || !sub->head)
			break;
		skb = flowsail_take(sch, sub, now);
		change.packets--;
		change.bytes -= qdisc_pkt_len(skb);
		if (sub == own)
			change.congested = true;
		q->stats.drop_limit++;
		hop_subq_stats(&q->subqs, sub)->drops++;
		qdisc_drop(skb, sch, to_free);
	}
	return change;
}

/* A new configuration: all packets may hold their flows. */
void flowsail_fronts_begin(struct flowsail_sched *q)
{
	u32 n;

	for (n = 0; n < q->subqs.count; n++)
		q->fronts[n] = (struct flowsail_front) { .next = q->subqs.queues[n].head };
}

/* The packets of all sub-queues let go of whom they hold.
 *
 * Return: packets that did, and links that are not paused any more.
 */
unsigned int flowsail_unmark(struct flowsail_sched *q)
{
	unsigned int unheld = 0, links = 0;
	struct hop_subq *sub;
	struct sk_buff *skb;

	for (sub = q->subqs.queues; sub < q->subqs.queues + q->subqs.count; sub++) {
		for (skb = sub->head; skb; skb = skb->next) {
			if (flowsail_cb(skb)->handle) {
				flowsail_unhold(q, skb);
				unheld++;
			}
			if (flowsail_cb(skb)->link)
				links += flowsail_uncount(q, skb);
		}
	}
	return unheld + links;
}

void flowsail_reset(struct Qdisc *sch)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct hop_subq *sub;
	struct sk_buff *skb;

	local_bh_disable();	/* qdisc_destroy() comes without the qdisc lock */
	__skb_queue_purge(&q->intake.control);
	for (sub = q->subqs.queues; sub < q->subqs.queues + q->subqs.count; sub++) {
		while (sub->head) {
			skb = flowsail_pop(q, sub, now);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	q->late = (struct hop_late_drops) {};
	local_bh_enable();
}
