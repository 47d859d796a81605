/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * assign.h - flows to sub-queues (section 3.3.1)
 *
 * Part of main.c, for which it is inlined. A flow has an entry of the flow table. If that is new,
 * or its sticky time is over, the flow gets a sub-queue that is free or has been idle for the
 * sticky time, else the longest idle one, else it has to share: `share random` draws one of all,
 * `share spare` keeps the flows of a destination that has many together (sched/holders.h).
 */
#ifndef _SLUICE_BFC_ASSIGN_H
#define _SLUICE_BFC_ASSIGN_H

#include <linux/hash.h>

#include "../sched/packet_hash.h"
#include "queue.h"

static bool bfc_queue_is_over(const struct bfc_sched *q, const struct hop_subq *sub, u64 now)
{
	return now - sub->last_ns >= q->sticky_ns;
}

/* Sub-queues whose sticky time is over are held no more, the longest unused first, a few at a
 * time. If any was, there is a free one.
 */
static noinline void bfc_class_release_idle(struct bfc_sched *q, struct hop_class *class, u64 now)
{
	struct hop_subq *sub;
	int i;

	for (i = 0; i < BFC_IDLE_SCAN; i++) {
		sub = hop_class_idlest(class);
		if (!sub || !bfc_queue_is_over(q, sub, now))
			break;
		bfc_queue_release(q, sub);
	}
}

/* One of a class's sub-queues, by lot */
static u32 bfc_class_lot(const struct hop_class *class, u32 lot)
{
	return reciprocal_scale(lot * GOLDEN_RATIO_32, class->queues);
}

/* A sub-queue whose sticky time is over, or a free one, by @lot, or else the longest unused of
 * those that are empty and not paused.
 *
 * Return: its number, or BFC_NO_QUEUE.
 */
static __always_inline u32 bfc_class_unused(struct bfc_sched *q, struct hop_class *class, u32 lot,
						    u64 now)
{
	struct hop_subq *sub = hop_class_idlest(class);
	u32 n;

	if (sub && likely(bfc_queue_is_over(q, sub, now))) {
		q->stats.assign_free++;
		return sub - q->subqs.queues;
	}
	n = hop_bitset_next(&class->free, bfc_class_lot(class, lot));
	if (n != HOP_BITSET_NONE) {
		q->stats.assign_free++;
		return class->first + n;
	}
	if (sub) {
		q->stats.assign_early++;
		return sub - q->subqs.queues;
	}
	return BFC_NO_QUEUE;
}

/* The shorter of two sub-queues */
static u32 bfc_shorter(const struct bfc_sched *q, u32 a, u32 b)
{
	return q->subqs.queues[b].backlog < q->subqs.queues[a].backlog ? b : a;
}

/* A new flow joins one of those that its destination holds: the shorter of two, in turn. */
static u32 bfc_class_own(struct bfc_sched *q, struct hop_class *class, struct hop_place *place)
{
	u32 first = hop_holders_next(&class->holders, place);

	q->stats.assign_own++;
	return bfc_shorter(q, first, hop_holders_next(&class->holders, place));
}

/* Sub-queues have run out: the shorter of two that are not paused, or any. */
static u32 bfc_class_two(struct bfc_sched *q, const struct hop_class *class, u32 lot)
{
	u32 a = bfc_class_lot(class, lot), b;

	q->stats.assign_shared++;
	if (hop_bitset_empty(&class->ready))
		return class->first + a;
	a = hop_bitset_next(&class->ready, a);
	b = hop_bitset_next(&class->ready, bfc_class_lot(class, lot * GOLDEN_RATIO_32));
	if (a == b)
		b = hop_bitset_next(&class->ready, a + 1 < class->queues ? a + 1 : 0);
	return bfc_shorter(q, class->first + a, class->first + b);
}

/* Sub-queues have run out: any. */
static u32 bfc_class_any(struct bfc_sched *q, const struct hop_class *class, u32 lot)
{
	q->stats.assign_shared++;
	return class->first + bfc_class_lot(class, lot);
}

/* The flows of an incast, which wait for each other in any case, are to leave sub-queues for the
 * others: a destination that holds many gets no more, and if there is none left, who has some
 * shares those.
 */
static u32 bfc_class_spare(struct bfc_sched *q, struct hop_class *class, const struct sk_buff *skb,
			   u32 lot, u64 now)
{
	u32 destination = hop_packet_destination(skb, class->first, &q->flow_secret), queue;
	struct hop_place *place = hop_holders_place(&class->holders, destination);
	bool holds = destination && hop_place_holds(place, destination);

	if (holds && unlikely(!hop_place_may_grow(&class->holders, place, class->queues))) {
		bfc_class_release_idle(q, class, now);
		if (!hop_place_may_grow(&class->holders, place, class->queues))
			return bfc_class_own(q, class, place);
	}
	queue = bfc_class_unused(q, class, lot, now);
	if (unlikely(queue == BFC_NO_QUEUE))
		return holds ? bfc_class_own(q, class, place) : bfc_class_two(q, class, lot);
	if (likely(destination))
		hop_holders_hold(&class->holders, queue, place, destination);
	else
		hop_holders_release(&class->holders, queue);
	return queue;
}

/* A sub-queue for a new flow (section 3.3.1): a free one or, if there is none, the longest unused
 * of those that are empty and not paused or, if all are taken, any. Its hash and the time make it
 * another one each time that it comes. Towards a host all flows have one destination, and nothing
 * is ever paused: there nobody holds anything.
 */
static u32 bfc_class_pick(struct bfc_sched *q, struct hop_class *class, const struct sk_buff *skb,
			  u32 hash, u64 now)
{
	bool spare = q->config.share == BFC_SHARE_SPARE;
	u32 lot = hash ^ (u32)now, queue;

	if (spare && !READ_ONCE(*q->member.to_host))
		return bfc_class_spare(q, class, skb, lot, now);
	queue = bfc_class_unused(q, class, lot, now);
	if (queue == BFC_NO_QUEUE)
		return bfc_class_any(q, class, lot);
	if (spare)
		hop_holders_release(&class->holders, queue);
	return queue;
}

/* All of a flow's set are alive: it is a guest where the shortest sub-queue is, a paused one
 * last.
 */
static struct hop_flow *bfc_flow_share(struct bfc_sched *q, struct hop_flow *set, u32 hash)
{
	const struct hop_subq *sub, *best_sub = NULL;
	struct hop_flow *f, *best = NULL;

	q->stats.collisions++;
	for (f = set; f < set + q->config.ways; f++) {
		if (f->guest)
			continue;
		sub = &q->subqs.queues[f->queue];
		if (!best || !!sub->held < !!best_sub->held ||
		    (!sub->held == !best_sub->held && sub->backlog < best_sub->backlog)) {
			best = f;
			best_sub = sub;
		}
	}
	return hop_flow_join(best, set, q->config.ways, hash);
}

/* A flow comes back to a sub-queue that was free meanwhile, as each empty one is with `reuse
 * empty`.
 */
static noinline void bfc_flow_holds(struct bfc_sched *q, struct hop_class *class,
				    const struct sk_buff *skb, u16 queue)
{
	u32 destination;

	if (hop_holders_has(&class->holders, queue))
		return;
	destination = hop_packet_destination(skb, class->first, &q->flow_secret);
	if (destination)
		hop_holders_hold(&class->holders, queue,
				 hop_holders_place(&class->holders, destination), destination);
}

/* The flow table entry of a packet, with a sub-queue assigned (section 3.3.1). */
static struct hop_flow *bfc_flow_find(struct bfc_sched *q, struct hop_class *class,
				      const struct sk_buff *skb, u32 hash, u64 now)
{
	struct hop_flow *set = bfc_flow_set(q, class, hash), *flow;
	u32 time = hop_flow_time(now);

	switch (hop_flow_find(set, q->config.ways, hash, time, q->sticky_time, &flow)) {
	case HOP_FLOW_KNOWN:
		break;
	case HOP_FLOW_STICKY:
		q->stats.assign_sticky++;
		if (unlikely(q->config.share == BFC_SHARE_SPARE))
			bfc_flow_holds(q, class, skb, flow->queue);
		break;
	case HOP_FLOW_NEW:
		flow->queue = bfc_class_pick(q, class, skb, hash, now);
		break;
	case HOP_FLOW_FULL:
		flow = bfc_flow_share(q, set, hash);
		break;
	}
	return flow;
}

static struct hop_subq *bfc_assign(struct bfc_sched *q, struct hop_class *class,
				    struct sk_buff *skb, u32 hash, u64 now)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct hop_flow *flow;

	cb->handle = 0;
	if (likely(q->config.assign == BFC_ASSIGN_DYNAMIC)) {
		flow = bfc_flow_find(q, class, skb, hash, now);
		if (!flow->packets++)
			q->subqs.queues[flow->queue].flows++;
		cb->flow = flow - q->flows;
		cb->queue = flow->queue;
	} else {
		cb->flow = BFC_NO_FLOW;
		cb->queue = class->first;
		if (q->config.assign == BFC_ASSIGN_STOCHASTIC)
			cb->queue += reciprocal_scale(hash, class->queues);
	}
	return &q->subqs.queues[cb->queue];
}

#endif
