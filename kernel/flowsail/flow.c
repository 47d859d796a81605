// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow.c - flows and their slots
 *
 * A flow is known by what its headers say, 96 bits, and found by a secret hash. One
 * without packets that the neighbour does not hold is idle: it keeps its slot until another flow
 * needs it, which takes that of the one unused for longest. So as a rule nothing of the old flow is
 * on its way any more, here or in the next box, that could hold the new one.
 *
 * Under the qdisc lock.
 */
#include "flowsail.h"

/* Take a flow that is known out of the table. */
static void flow_forget(struct flowsail_sched *q, const struct flowsail_flow *flow)
{
	u16 *at = &q->chains[hop_flow_hash(&flow->id, &q->flow_secret) & q->chains_mask];
	u16 number = flowsail_slot(q, flow) + 1;

	while (*at != number)
		at = &q->flows[*at - 1].next;
	*at = flow->next;
}

/* The slot is for a flow of another class from now on, and so is its own sub-queue, which is empty
 * and not held. What has gone by that stays with the class that it was of.
 */
static void flow_reclass(struct flowsail_sched *q, struct flowsail_flow *flow, u8 class)
{
	u32 at = q->own + flowsail_slot(q, flow);
	const struct hop_subq_stats *stats = &q->subqs.stats[at];
	struct hop_subq *own = &q->subqs.queues[at];
	struct hop_sent *from = &q->subqs.classes[own->class].moved;
	struct hop_sent *to = &q->subqs.classes[class].moved;

	if (!list_empty(&own->node))
		hop_subq_unlink(own);
	WRITE_ONCE(from->packets, from->packets + stats->sent);
	WRITE_ONCE(from->bytes, from->bytes + stats->sent_bytes);
	WRITE_ONCE(from->drops, from->drops + stats->drops);
	WRITE_ONCE(to->packets, to->packets - stats->sent);
	WRITE_ONCE(to->bytes, to->bytes - stats->sent_bytes);
	WRITE_ONCE(to->drops, to->drops - stats->drops);
	WRITE_ONCE(own->class, class);	/* dumps look at it */
	flow->class = class;
}

/**
 * flowsail_flow_new - a slot for a flow that is not known
 * @q: the qdisc
 * @id: the flow
 * @hash: hop_flow_hash() of it
 * @class: its class
 * @now: time
 *
 * Return: the flow, NULL if all slots are in use.
 */
struct flowsail_flow *flowsail_flow_new(struct flowsail_sched *q, struct hop_flow_id id, u32 hash,
					u8 class, u64 now)
{
	u16 *chain = &q->chains[hash & q->chains_mask];
	struct flowsail_flow *flow;

	flow = list_first_entry_or_null(&q->idle, struct flowsail_flow, idle);
	if (unlikely(!flow))
		return NULL;
	if (flow->state & FLOWSAIL_KNOWN) {
		flow_forget(q, flow);
		if (unlikely(now - flow->last_ns < q->release_ns))
			q->stats.flows_early++;
	}
	if (flow->state & FLOWSAIL_ISOLATED)
		q->stats.released++;
	if (unlikely(flow->class != class))
		flow_reclass(q, flow, class);
	flow->id = id;
	flow->state = FLOWSAIL_KNOWN;
	flow->next = *chain;
	*chain = flowsail_slot(q, flow) + 1;
	return flow;
}
