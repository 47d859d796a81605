// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfc.c - a FIFO that pauses link by link, as priority flow control does: a baseline
 *
 * What it does
 *
 *   Pauses (IEEE 802.1Qbb, one class). A packet in the FIFO counts, with its bytes, against the
 *   upstream sub-queue that it came from, at whatever ports of the box they wait. That
 *   sub-queue is paused while more of its bytes wait than pool_pause_alpha times what is free of
 *   the pool, and resumed two frames below. A neighbour that is a pfc, too, has one sub-queue: all
 *   of the link.
 *
 *   ECN, as DCQCN's congestion point marks (Zhu et al., Congestion Control for Large-Scale RDMA
 *   Deployments, SIGCOMM 2015, section 3.1). A packet is marked by the bytes that it finds in the
 *   FIFO: never below kmin, always above kmax, with a probability that rises to pmax in between
 *   (sched/ecn_ramp.h). Packets that know no ECN are left alone.
 *
 *   Telemetry, as HPCC's switches write it (sched/telemetry.h), into packets that ask for it, as
 *   they leave the FIFO.
 *
 *   Buffer. The qdiscs of a namespace share a pool by dynamic thresholds: a packet that would make
 *   its qdisc hold more than pool_alpha times what is free is dropped as it comes. Over `limit` the
 *   FIFO loses from its head.
 *
 *   Control packets go first, in a class that is bounded and never paused (sched/control.h). Those
 *   beyond their share go into the FIFO if they are of an IP flow. While any of them is there, all
 *   such packets that have to keep to the share go there, so none overtakes its flow.
 *
 * Differences from 802.1Qbb: pauses are hopctl's states with a lease, and a switch with several
 * transmit queues (mq) has several FIFOs, each with a number of its own.
 *
 * What it does not do: it shapes nothing, has no classes that filters could choose, and drops what
 * finds no room: with a pool_pause_alpha that leaves no headroom for one HRTT it is not lossless.
 *
 * Cost: O(1) for each packet.
 *
 * Who protects what
 *
 *   field                           written under            read by
 *   everything in struct pfc_sched  qdisc lock               qdisc lock; dumps take it for O(1)
 *   config                          qdisc lock, and RTNL     either of the two
 *   member                          hopctl, see hopctl.h
 */
#include "../sched/kind.h"
#include "../sched/stats.h"
#include "pfc.h"

/* ---- pauses that we ask for: how they end is in pfc_queue.c ---- */

static void pfc_count(struct pfc_sched *q, struct sk_buff *skb)
{
	u16 handle;
	u32 bytes;

	if (unlikely(q->member.stalled))
		return;
	handle = hop_handle(&q->member, skb);
	if (!handle)
		return;
	if (unlikely(hop_elided(&q->member, handle))) {
		q->stats.elided++;
		return;
	}
	pfc_cb(skb)->handle = handle;
	q->fifo_stats.marks++;
	bytes = hop_ingress_add(&q->member, handle, qdisc_pkt_len(skb));
	hop_xoff_came(&q->member, &q->buffer, q->config.pool_pause_alpha, handle, bytes);
}

/* ---- enqueue ---- */

static struct hop_admitted pfc_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch, bool spills,
					     struct sk_buff **to_free)
{
	struct hop_admitted change = hop_admitted_one(qdisc_pkt_len(skb));
	struct pfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	if (!hop_buffer_take(&q->buffer, q->config.pool_alpha, qdisc_pkt_len(skb))) {
		q->stats.drop_pool++;
		qdisc_drop(skb, sch, to_free);
		return (struct hop_admitted) {};
	}
	if (unlikely(hop_ecn_marks(&q->ramp, q->fifo.backlog, &q->random)))
		hop_intake_ecn(&q->stats.intake, skb);
	*pfc_cb(skb) = (struct pfc_skb_cb) { .spilled = spills };
	if (unlikely(spills))
		q->intake.spilled++;
	hop_subq_append(&q->subqs, &q->member, &q->fifo, skb);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	pfc_count(q, skb);
	if (unlikely(sch->qstats.backlog > q->config.limit))
		change = hop_admitted_sum(change, pfc_enforce_limit(sch, now, to_free));
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return change;
}

static noinline struct hop_admitted pfc_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
						    bool spills, struct sk_buff **to_free)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct hop_admitted done = {};
	struct sk_buff *segment, *next;

	segment = hop_intake_split(&q->stats.intake, skb, sch, to_free);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		done = hop_admitted_sum(done, pfc_enqueue_frame(segment, sch, spills, to_free));
	}
	return done;
}

static int pfc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct hop_network net = hop_network(skb);
	u8 dscp = q->config.control_dscp;
	struct hop_admitted change;
	u32 len = qdisc_pkt_len(skb);
	bool spills = false;
	int verdict;

	if (unlikely(hop_is_control(skb, net, dscp))) {
		pfc_follow_link(q);
		hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, ktime_get_ns());
		verdict = hop_intake_control(&q->intake, &q->stats.intake, &q->member, skb, net,
					     dscp, to_free);
		if (verdict != HOP_INTAKE_SPILLS)
			return verdict;
		spills = true;
	}
	if (!skb_is_gso(skb) || !q->config.split_gso)
		change = pfc_enqueue_frame(skb, sch, spills, to_free);
	else
		change = pfc_enqueue_gso(skb, sch, spills, to_free);
	if (likely(change.all == hop_admitted_one(len).all))
		return NET_XMIT_SUCCESS;
	return hop_admit_verdict(sch, change, len);
}

/* ---- telemetry ---- */

/* A packet leaves. What others pay is a test of the option. */
static noinline void pfc_tell(struct pfc_sched *q, struct sk_buff *skb, u64 now)
{
	pfc_follow_link(q);
	hop_telemeter_tell(&q->telemeter, skb, q->config.telemetry, q->fifo.backlog, now,
			   &q->stats.telemetry);
}

/* ---- dequeue ---- */

static struct sk_buff *pfc_dequeue_data(struct Qdisc *sch, struct pfc_sched *q, u64 now)
{
	struct sk_buff *skb;

	if (!q->fifo.head || q->fifo.held)
		return NULL;
	skb = pfc_take(sch, q, now);
	hop_subq_sent(&q->fifo_stats, skb);
	return skb;
}

/* Put the fabric tag on.
 *
 * Return: false if that was impossible: the packet is gone.
 */
static bool pfc_tag(struct Qdisc *sch, struct pfc_sched *q, struct sk_buff *skb, bool control)
{
	int tagged = hop_egress_tag(&q->member, skb, control ? HOP_NO_QUEUE : 0,
				    q->config.port.tpid);

	if (unlikely(tagged < 0)) {
		q->stats.drop_tag++;
		hop_egress_drop(&q->late, sch, skb);
		return false;
	}
	q->stats.tagged += tagged;
	return true;
}

static struct sk_buff *pfc_dequeue(struct Qdisc *sch)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;
	bool control;
	u64 now;

	if (!sch->q.qlen && likely(!hop_paused_changed(&q->member, q->paused_seen)))
		return NULL;
	now = ktime_get_ns();
	if (hop_paused_changed(&q->member, q->paused_seen))
		pfc_merge_paused(q, now);
	do {
		skb = hop_control_take(&q->intake.control, sch, &q->stats.backlog_time,
				       &q->changed_ns, now);
		control = skb;
		if (!control)
			skb = pfc_dequeue_data(sch, q, now);
		if (unlikely(q->config.telemetry) && skb)
			pfc_tell(q, skb, now);
	} while (skb && unlikely(!pfc_tag(sch, q, skb, control)));

	return hop_egress_end(&q->late, sch, skb);
}

static struct Qdisc_ops pfc_qdisc_ops __read_mostly = {
	.cl_ops		= &pfc_class_ops,
	.id		= "pfc",
	.priv_size	= sizeof(struct pfc_sched),
	.enqueue	= pfc_enqueue,
	.dequeue	= pfc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= pfc_init,
	.reset		= pfc_reset,
	.destroy	= pfc_destroy,
	.change		= pfc_change,
	.dump		= pfc_dump,
	.dump_stats	= pfc_dump_stats,
	.owner		= THIS_MODULE,
};

static_assert(sizeof(struct pfc_skb_cb) <= QDISC_CB_PRIV_LEN);

HOP_KIND_MODULE(pfc, "A FIFO that pauses as priority flow control does", 0, (void)0);
