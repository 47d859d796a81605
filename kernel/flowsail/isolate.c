// SPDX-License-Identifier: GPL-2.0-only
/*
 * isolate.c - flows that the neighbour holds, and which sub-queues wait for that (section IV-C)
 *
 * A flow that is held goes to isolation: its packets that come from now on wait in a sub-queue for
 * such flows. Those that are in its normal sub-queue stay there. One rule says who waits: *a
 * sub-queue waits while its first packet may not leave*,
 *
 *   - since the neighbour holds its flow; or
 *   - in isolation, since packets of its flow that came before are in a normal sub-queue. So the
 *     order within each flow is kept. The paper has pairs of order marks for this; here each flow
 *     counts its packets in either place, which every way out of a sub-queue counts down.
 *
 * The paper stops a normal sub-queue from the pause on, and the isolation sub-queue as long as any
 * of its flows is held. By this rule packets before the first one of a held flow go on, and so does
 * a flow that was resumed while it is at the head.
 *
 * Each destination has a sub-queue for isolation to itself, as long as there are enough. Flows to
 * one destination wait for the same port anyhow, as a rule; any other flow would wait there for a
 * port that it does not go to. With `isolation-by root` each place where congestion began has one,
 * as far as the neighbour tells that with a pause (hopctl's root.h); so fewer are enough.
 *
 * A normal sub-queue never waits for another one, so nothing can wait in a circle.
 *
 * Under the qdisc lock.
 */
#include <linux/jhash.h>

#include "../sched/packet_hash.h"
#include "flowsail.h"

/* Why may a sub-queue's first packet not leave?
 *
 * Return: HOP_HELD_PAUSED, FLOWSAIL_HELD_ORDER or 0.
 */
static u8 head_waits(const struct flowsail_sched *q, const struct hop_subq *sub)
{
	const struct flowsail_flow *flow = sub->head ? flowsail_cb_flow(q, sub->head) : NULL;

	if (!flow)
		return 0;
	if (flow->state & FLOWSAIL_PAUSED)
		return HOP_HELD_PAUSED;
	return flowsail_cb(sub->head)->apart && flow->packets ? FLOWSAIL_HELD_ORDER : 0;
}

/**
 * flowsail_look - does a sub-queue wait?
 * @q: the qdisc
 * @sub: one that has another first packet, or whose first packet's flow has changed
 * @now: time
 */
void flowsail_look(struct flowsail_sched *q, struct hop_subq *sub, u64 now)
{
	u8 waits = head_waits(q, sub), before = sub->held;

	if (waits == before)
		return;
	if (waits == HOP_HELD_PAUSED) {
		hop_subq_pause(&q->subqs, &q->member, sub, now);
	} else if (waits) {
		q->stats.order_waits++;
		hop_subq_hold(&q->subqs, &q->member, sub, FLOWSAIL_HELD_ORDER, now);
	}
	if (before == HOP_HELD_PAUSED)
		hop_subq_resume(&q->subqs, &q->member, sub, now);
	else if (before)
		hop_subq_unhold(&q->subqs, &q->member, sub, FLOWSAIL_HELD_ORDER, now);
}

/* Those sub-queues at whose head it may be */
static void flow_look(struct flowsail_sched *q, const struct flowsail_flow *flow, u64 now)
{
	if (flow->packets)
		flowsail_look(q, &q->subqs.queues[flow->queue], now);
	if (flow->apart)
		flowsail_look(q, &q->subqs.queues[flow->isolation], now);
}

/* The number of held flows is about to change, or to be shown. */
void flowsail_paused_moves(struct flowsail_sched *q, u64 now)
{
	q->stats.paused_ns += q->stats.paused * (now - q->paused_ns);
	q->paused_ns = now;
}

/* Where the congestion began for which a flow is isolated, if that is asked for and known. It is
 * the same from the first pause on until the flow is released, also while nobody tells it any more.
 */
static u16 flow_root(const struct flowsail_sched *q, const struct flowsail_flow *flow)
{
	u16 slot = flowsail_slot(q, flow);

	if (q->config.isolation_by != FLOWSAIL_BY_ROOT)
		return 0;
	if (!(flow->state & FLOWSAIL_ISOLATED) || !q->roots[slot])
		q->roots[slot] = hop_root_heard(&q->member, slot);
	return q->roots[slot];
}

static void flow_pause(struct flowsail_sched *q, struct flowsail_flow *flow)
{
	flow_root(q, flow);
	q->stats.pauses_obeyed++;
	q->stats.paused++;
	q->holding++;
	list_del_init(&flow->idle);	/* its slot has to stay its own */
	flow->state |= FLOWSAIL_PAUSED | FLOWSAIL_ISOLATED;
}

static void flow_resume(struct flowsail_sched *q, struct flowsail_flow *flow, u64 now)
{
	q->stats.resumes_obeyed++;
	q->stats.paused--;
	q->holding--;
	flow->state &= ~FLOWSAIL_PAUSED;
	flow->last_ns = now;
	if (!flow->packets && !flow->apart)
		flowsail_idle_add(q, flow);
}

static void flow_changed(void *sched, u32 slot, bool paused, u64 now)
{
	struct flowsail_sched *q = sched;
	struct flowsail_flow *flow = &q->flows[slot];

	flowsail_paused_moves(q, now);
	if (paused)
		flow_pause(q, flow);
	else
		flow_resume(q, flow, now);
	flow_look(q, flow, now);
}

/* Take over which flows the neighbour holds, or that it holds all: the link, as pfc has it. */
void flowsail_merge_paused(struct flowsail_sched *q, u64 now)
{
	u32 gen = hop_paused_begin(&q->member);

	if (q->config.pfc && hop_xoff_obey(&q->held, &q->member, now)) {
		q->paused_seen = gen;
		return;
	}
	q->paused_seen = hop_subqs_merge_paused(&q->member, q->paused, q->config.slots,
						flow_changed, q, now);
}

static u32 isolation_destination(const struct flowsail_sched *q, const struct sk_buff *skb)
{
	u32 destination = hop_packet_destination(skb, 0, &q->flow_secret);

	if (unlikely(!destination))	/* not of IP */
		destination = jhash(eth_hdr(skb)->h_dest, ETH_ALEN, q->flow_secret.rest);
	return destination;
}

/**
 * flowsail_isolation - the sub-queue in which a flow is to wait
 * @q: the qdisc
 * @flow: a flow without packets there
 * @skb: a packet of it
 *
 * Return: its own; or of its class that of its root or destination, an empty one, or the shortest.
 */
u32 flowsail_isolation(struct flowsail_sched *q, const struct flowsail_flow *flow,
		       const struct sk_buff *skb)
{
	u32 first = q->isolation + flow->class * q->config.isolation, common, best, n;
	u64 busy = q->busy[flow->class], left;
	const struct hop_subq *subs;

	if (!q->config.isolation)
		return q->own + flowsail_slot(q, flow);
	common = flow_root(q, flow) ?: isolation_destination(q, skb);
	subs = &q->subqs.queues[first];
	best = ~busy ? __ffs64(~busy) : 0;
	if (best >= q->config.isolation)
		best = 0;
	for (left = busy; left; left &= left - 1) {
		n = __ffs64(left);
		if (q->common[first - q->isolation + n] == common)
			return first + n;
		if (subs[n].backlog < subs[best].backlog)
			best = n;
	}
	if (!subs[best].head)
		q->common[first - q->isolation + best] = common;
	return first + best;
}

/* A sub-queue for isolation has its first packet, or none any more. */
void flowsail_isolation_moves(struct flowsail_sched *q, const struct hop_subq *sub)
{
	u32 n = sub - q->subqs.queues;

	if (n >= q->isolation && n < q->own)
		q->busy[sub->class] ^= BIT_ULL(n - q->isolation -
					       sub->class * q->config.isolation);
}
