// SPDX-License-Identifier: GPL-2.0-only
/*
 * child.c - control traffic, and the qdisc below that has the packets
 *
 * Control traffic goes ahead of the child's packets. What this box only forwards of it, or what is
 * control traffic by its DSCP alone, has a share of the link (sched/control.h); what goes beyond
 * it goes with the data if it is of an IP flow, and so does all of that flow while any of it may
 * still be queued as data.
 */
#include "../sched/control.h"
#include "rocc.h"

/* A flow of control packets: addresses and protocol. What follows them differs from CNP to CNP. */
static u64 *rocc_spilled_of(struct rocc_sched *q, const struct sk_buff *skb)
{
	struct cnp_flow id;

	if (!rocc_flow_of(skb, &id))
		return &q->spilled[0];	/* fragments and the like share it */
	memset(id.l4, 0, sizeof(id.l4));
	return &q->spilled[rocc_flow_hash(&id, q->seed) % ROCC_SPILLED];
}

/* Is some of what has spilled still here? A fifo says so by what has left it; another child may
 * hold back what it likes, as limiters do, so there it is when any is.
 */
static bool rocc_spilled_waits(const struct Qdisc *sch, const struct rocc_sched *q, u64 leaves_at)
{
	u64 data = sch->qstats.backlog - q->control_bytes;

	if (!leaves_at || !data)
		return false;
	return leaves_at == U64_MAX || (s64)(leaves_at - (q->cp.arrived - data)) > 0;
}

/* A control packet that this box only forwards may be beyond its share.
 *
 * Return: NET_XMIT_SUCCESS: it is not. NET_XMIT_DROP: it is, and names no flow. ROCC_GOES_ON: it
 * goes with the data.
 */
static int rocc_police(struct Qdisc *sch, struct rocc_sched *q, const struct sk_buff *skb, u64 now)
{
	bool flow = hop_has_ip_flow(hop_network(skb));
	u64 *spilled = flow ? rocc_spilled_of(q, skb) : NULL;

	if (!flow || !rocc_spilled_waits(sch, q, *spilled)) {
		if (hop_control_takes(&q->police, &q->control_paid, skb, now))
			return NET_XMIT_SUCCESS;
		if (!flow)
			return NET_XMIT_DROP;
	}
	*spilled = U64_MAX;
	if (!rocc_is_rp(q) && q->fifo)
		*spilled = q->cp.arrived + qdisc_pkt_len(skb);
	q->stats.spilled++;
	return ROCC_GOES_ON;
}

/**
 * rocc_enqueue_control - queue a packet ahead of all others
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: takes it if there is no room
 *
 * Return: as ->enqueue(), or ROCC_GOES_ON, and it is still the caller's.
 */
int rocc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	int verdict = NET_XMIT_SUCCESS;

	if (hop_is_policed(skb, hop_network(skb), q->config.control_dscp))
		verdict = rocc_police(sch, q, skb, now);
	if (verdict == ROCC_GOES_ON)
		return verdict;
	if (verdict == NET_XMIT_DROP) {
		q->stats.drop_police++;
		return qdisc_drop(skb, sch, to_free);
	}
	rocc_backlog_moves(sch, q, now);
	if (unlikely(!hop_control_put(&q->control, sch, skb))) {
		q->stats.drop_control++;
		return qdisc_drop(skb, sch, to_free);
	}
	q->control_bytes += qdisc_pkt_len(skb);
	rocc_backlog_peak(sch, q);
	q->stats.control++;
	return NET_XMIT_SUCCESS;
}

/**
 * rocc_dequeue_child - the next packet: control traffic, then the child's
 * @sch: the qdisc
 * @q: the same
 * @now: time
 */
struct sk_buff *rocc_dequeue_child(struct Qdisc *sch, struct rocc_sched *q, u64 now)
{
	struct sk_buff *skb = __skb_dequeue(&q->control);

	if (likely(!skb))
		skb = q->child->ops->dequeue(q->child);
	else
		q->control_bytes -= qdisc_pkt_len(skb);
	if (!skb)
		return NULL;
	rocc_backlog_moves(sch, q, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}
