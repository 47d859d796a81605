// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - control traffic, and what of it goes with the data after all
 *
 * What this box only forwards, or what is control traffic by its DSCP alone, has a share of the
 * link (sched/control.h). What goes beyond it spills: it goes with the data if it is of an IP
 * flow, and so does all of that flow while any of it is queued as data, or it would be reordered.
 */
#include "../sched/packet_hash.h"
#include "../sched/trace_bfc.h"
#include "queue.h"

/* What a control packet's flow has of its own in @class: an entry of the flow table, or just a
 * sub-queue.
 *
 * Return: its number, or BFC_NO_FLOW: no packet of it waits.
 */
static u32 bfc_flow_number(const struct bfc_sched *q, const struct hop_class *class, u32 hash)
{
	struct hop_flow *flow;

	if (q->config.assign == BFC_ASSIGN_SINGLE)
		return class->first;
	if (q->config.assign == BFC_ASSIGN_STOCHASTIC)
		return class->first + reciprocal_scale(hash, class->queues);
	flow = hop_flow_waits(bfc_flow_set(q, class, hash), q->config.ways, hash);
	return flow ? flow - q->flows : BFC_NO_FLOW;
}

static u32 bfc_number_packets(const struct bfc_sched *q, u32 number)
{
	return q->config.assign == BFC_ASSIGN_DYNAMIC ? q->flows[number].packets :
							q->subqs.queues[number].packets;
}

/* Must a flow go on with the data, since what has spilled of it is still there? To overtake that
 * would be to reorder it.
 */
static bool bfc_spills_on(struct bfc_sched *q, u32 number)
{
	return number != BFC_NO_FLOW && test_bit(number, q->spilled) &&
	       bfc_number_packets(q, number);
}

/* A packet of the control class that this box only forwards may be beyond its share.
 *
 * Return: its class after all: HOP_CLASS_CONTROL, that of the map, or -1: to be dropped.
 */
int bfc_police(struct bfc_sched *q, const struct sk_buff *skb, struct hop_network net)
{
	int class = q->config.prio.map[skb->priority & TC_PRIO_MAX];
	bool flow = hop_has_ip_flow(net);
	u32 hash = 0, number = BFC_NO_FLOW;
	u64 now = ktime_get_ns();

	bfc_follow_link(q);
	bfc_follow_mtu(q);
	if (flow) {
		if (q->config.assign != BFC_ASSIGN_SINGLE)
			hash = hop_packet_hash(skb, net, &q->flow_secret);
		number = bfc_flow_number(q, &q->subqs.classes[class], hash);
	}
	if (!bfc_spills_on(q, number)) {
		if (hop_control_takes(&q->police, q->member.control_paid, skb, now)) {
			if (number != BFC_NO_FLOW)
				__clear_bit(number, q->spilled);
			return HOP_CLASS_CONTROL;
		}
		if (!flow)
			return -1;
	}
	q->stats.spilled++;
	return class;
}

/* What has spilled waits now, if it was not dropped. */
void bfc_spill(struct bfc_sched *q, const struct hop_class *class, u32 hash)
{
	u32 number = bfc_flow_number(q, class, hash);

	if (number != BFC_NO_FLOW)
		__set_bit(number, q->spilled);
}

int bfc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	if (unlikely(!hop_control_put(&q->control, sch, skb))) {
		q->stats.drop_control++;
		trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_CONTROL, skb);
		return qdisc_drop(skb, sch, to_free);
	}
	q->stats.control++;
	trace_bfc_enqueue(&q->member, BFC_TRACE_CONTROL, 0, 0, false, skb, now);
	return NET_XMIT_SUCCESS;
}
