/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - packets leave sub-queues, in whatever way
 *
 * Each way out (dequeue, drop, reset) ends here, so that what a packet stands for is taken back:
 * its flow has one less, its room is free, its pause ends.
 */
#ifndef _SLUICE_BFC_QUEUE_H
#define _SLUICE_BFC_QUEUE_H

#include "../sched/stats.h"
#include "bfc.h"

/* An idle sub-queue may be given to any flow from now on. */
static inline void bfc_queue_release(struct bfc_sched *q, struct hop_subq *sub)
{
	hop_subq_free(&q->subqs, sub);
	if (q->config.share == BFC_SHARE_SPARE)
		hop_holders_release(&hop_subq_class(&q->subqs, sub)->holders,
				    sub - q->subqs.queues);
}

static __always_inline struct hop_flow *bfc_flow_set(const struct bfc_sched *q,
						     const struct hop_class *class, u32 hash)
{
	return class->flows + hop_flow_set(hash, class->sets, q->config.ways);
}

static inline struct sk_buff *bfc_queue_pop(struct bfc_sched *q, struct hop_subq *sub, u64 now)
{
	struct sk_buff *skb = hop_subq_pop(&q->subqs, &q->member, sub, now);

	/* With `reuse sticky` it is not free yet: some flow still counts on it. */
	if (!sub->head && q->config.reuse == BFC_REUSE_EMPTY && !sub->held)
		bfc_queue_release(q, sub);
	return skb;
}

/* A marked packet lets go of the pause that it holds. */
static inline void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb)
{
	u16 handle = bfc_cb(skb)->handle;

	bfc_cb(skb)->handle = 0;
	if (unlikely(bfc_cb(skb)->cause))
		hop_cause_del(&q->member, handle, bfc_cb(skb)->cause);
	hop_pause_dec(&q->member, handle);
}

/* A packet leaves, in whatever way: its flow has one less, its room is free, its pause ends. */
static inline void bfc_forget(struct bfc_sched *q, struct sk_buff *skb, u64 now)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);
	struct hop_flow *flow;

	if (cb->flow != BFC_NO_FLOW) {
		flow = &q->flows[cb->flow];
		flow->last = hop_flow_time(now);
		if (!--flow->packets)
			q->subqs.queues[flow->queue].flows--;
	}
	if (q->buffer.pool)
		hop_buffer_give(&q->buffer, qdisc_pkt_len(skb));
	if (cb->handle)
		bfc_unhold(q, skb);
}

static inline struct sk_buff *bfc_take(struct Qdisc *sch, struct hop_subq *sub, u64 now)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = bfc_queue_pop(q, sub, now);

	bfc_forget(q, skb, now);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}

#endif
