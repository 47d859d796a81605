/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - packets come into sub-queues, and leave them, in whatever way
 *
 * Each way out (dequeue, drop, reset) ends here, so that what a packet stands for is taken back:
 * its flow has one less, its room is free, its hold on its flow at the neighbour ends, and who
 * waited for it goes on.
 */
#ifndef _SLUICE_FLOWSAIL_QUEUE_H
#define _SLUICE_FLOWSAIL_QUEUE_H

#include "../sched/stats.h"
#include "flowsail.h"

/* ---- in ---- */

/* A packet more of its flow. Return: the flow's bytes in its sub-queue. */
static __always_inline u32 flowsail_flow_comes(struct flowsail_sched *q, struct flowsail_flow *flow,
					       struct hop_subq *sub, u32 bytes, bool apart, u64 now)
{
	flow->last_ns = now;
	if (!flow->packets && !flow->apart) {
		if (likely(!list_empty(&flow->idle)))
			flowsail_idle_del(flow);
		if (++q->stats.flows > q->stats.flows_max)
			q->stats.flows_max = q->stats.flows;
	}
	if (unlikely(apart)) {
		if (!flow->apart++) {
			flow->isolation = sub - q->subqs.queues;
			q->stats.isolated++;
			if (!sub->flows++)
				flowsail_isolation_moves(q, sub);
		}
		q->holding++;
		return flow->apart_bytes += bytes;
	}
	if (!flow->packets++) {
		flow->queue = sub - q->subqs.queues;
		sub->flows++;
	}
	return flow->bytes += bytes;
}

/* ---- letting go ---- */

/* A packet lets go of its flow at the neighbour. */
static inline void flowsail_unhold(struct flowsail_sched *q, struct sk_buff *skb)
{
	u16 handle = flowsail_cb(skb)->handle;

	flowsail_cb(skb)->handle = 0;
	if (unlikely(flowsail_cb(skb)->cause))
		hop_cause_del(&q->member, handle, flowsail_cb(skb)->cause);
	hop_pause_dec(&q->member, handle);
}

/* A packet was queued: it counts against the port that it came by. */
static inline void flowsail_count(struct flowsail_sched *q, struct sk_buff *skb)
{
	flowsail_cb(skb)->link = hop_xoff_count(&q->stats.pfc, &q->member, &q->buffer,
						q->config.pool_pause_alpha, skb,
						flowsail_cb(skb)->handle ?:
						hop_handle(&q->member, skb), NULL);
}

/* Such a packet counts no more. Return: a link is not paused any more. */
static inline bool flowsail_uncount(struct flowsail_sched *q, struct sk_buff *skb)
{
	u16 link = flowsail_cb(skb)->link;

	flowsail_cb(skb)->link = 0;
	return hop_xoff_uncount(&q->stats.pfc, &q->member, &q->buffer,
				q->config.pool_pause_alpha, skb, link);
}

/* A packet was queued. */
static inline void flowsail_front_comes(struct flowsail_sched *q, const struct hop_subq *sub,
					struct sk_buff *skb)
{
	struct flowsail_front *front = &q->fronts[sub - q->subqs.queues];

	if (sub->head == skb || !front->next)
		*front = (struct flowsail_front) {
			.next = skb, .bytes = sub->backlog - qdisc_pkt_len(skb),
		};
}

/* A packet has left: those with few enough before them let go, some at a time. The paper's hold on
 * until they leave.
 */
static inline void flowsail_front_moves(struct flowsail_sched *q, const struct hop_subq *sub,
					const struct sk_buff *left)
{
	struct flowsail_front *front = &q->fronts[sub - q->subqs.queues];
	int n;

	if (front->next == left)
		*front = (struct flowsail_front) { .next = sub->head };
	else
		front->bytes -= qdisc_pkt_len(left);
	for (n = 0; n < FLOWSAIL_FRONT_STEPS && front->next && front->bytes <= q->resume; n++) {
		if (flowsail_cb(front->next)->handle)
			flowsail_unhold(q, front->next);
		front->bytes += qdisc_pkt_len(front->next);
		front->next = front->next->next;
	}
}

/* ---- out ---- */

/* A packet of a flow has left. */
static __always_inline void flowsail_flow_leaves(struct flowsail_sched *q,
						 struct flowsail_flow *flow, struct hop_subq *sub,
						 u32 bytes, bool apart, u64 now)
{
	flow->last_ns = now;
	if (unlikely(apart)) {
		flow->apart_bytes -= bytes;
		q->holding--;
		if (!--flow->apart) {
			q->stats.isolated--;
			if (!--sub->flows)
				flowsail_isolation_moves(q, sub);
		}
	} else {
		flow->bytes -= bytes;
		if (!--flow->packets) {
			sub->flows--;
			if (unlikely(flow->apart))
				flowsail_look(q, &q->subqs.queues[flow->isolation], now);
		}
	}
	if (!flow->packets && !flow->apart) {
		q->stats.flows--;
		if (likely(!(flow->state & FLOWSAIL_PAUSED)))
			flowsail_idle_add(q, flow);
	}
}

/* A sub-queue's oldest packet, and all that it stood for but its place in the qdisc's counts */
static __always_inline struct sk_buff *flowsail_pop(struct flowsail_sched *q, struct hop_subq *sub,
						    u64 now)
{
	struct sk_buff *skb = hop_subq_pop(&q->subqs, &q->member, sub, now);
	const struct flowsail_skb_cb *cb = flowsail_cb(skb);
	struct flowsail_flow *flow = flowsail_cb_flow(q, skb);

	if (likely(flow)) {
		flowsail_flow_leaves(q, flow, sub, qdisc_pkt_len(skb), cb->apart, now);
	} else {
		q->strays--;
		q->stray[cb->stray]--;
	}
	if (unlikely(q->holding || sub->held))
		flowsail_look(q, sub, now);
	if (!sub->head && sub - q->subqs.queues < q->config.queues)
		hop_subq_free(&q->subqs, sub);
	if (unlikely(cb->spilled))
		q->intake.spilled--;
	if (q->buffer.pool)
		hop_buffer_give(&q->buffer, qdisc_pkt_len(skb));
	if (cb->handle)
		flowsail_unhold(q, skb);
	if (unlikely(cb->link))
		flowsail_uncount(q, skb);
	if (q->config.resume)
		flowsail_front_moves(q, sub, skb);
	return skb;
}

static __always_inline struct sk_buff *flowsail_take(struct Qdisc *sch, struct hop_subq *sub,
						     u64 now)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = flowsail_pop(q, sub, now);

	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}

#endif
