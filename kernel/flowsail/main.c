// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - FlowSail: pauses for single flows, with few sub-queues
 *
 * After Li, Zeng, Hu, Chen: FlowSail: Fine-Grained and Practical Flow Control for Datacenter
 * Networks, IEEE/ACM Transactions on Networking 2024. Numbers of sections are the paper's.
 *
 * What it does
 *
 *   Flows to sub-queues (IV-A). A flow without packets here gets an empty normal sub-queue or, if
 *   there is none, a random one, and keeps it as long as packets of it are there. Sub-queues share
 *   the link by deficit round robin.
 *
 *   Who is the cause (IV-B). A packet that finds more than Q_l = HRTT x rate / N_active bytes in
 *   its sub-queue is marked if its flow has more than its share of these, one that finds more than
 *   Q_h, three times that, in any case (identify.h). While any packet of a flow that came by one
 *   port is marked, the neighbour there holds the flow.
 *
 *   On-demand isolation (IV-C). Packets of a flow that the neighbour holds go to a sub-queue for
 *   such flows to its destination, behind those that are elsewhere (isolate.c). The flow uses
 *   normal ones again when the neighbour has let it go, it has no packets in isolation, and none
 *   came or left for 2 HRTT.
 *
 * How it differs from the paper
 *
 *   Which flow is meant, the fabric tag says: it has the number of the flow's *slot* at the sending
 *   port, so pauses are bfc's, by the number in the tag, absolute and with a lease: none that is
 *   lost stalls anything. Nobody else needs to know how flows are told apart, so NAT, tunnels,
 *   VLANs and routers change nothing, and neighbours of kind bfc obey and are obeyed: these hold
 *   sub-queues. The paper's frames name the flow, and the neighbour has to find it.
 *
 *   Flows are compared by 96 bits, not by a hash of 50: of IPv4 they are addresses and ports as
 *   they are, and two flows of anything else are taken for one with a chance of 2^-32. Without IP a
 *   flow is what has the same addresses of Ethernet.
 *
 *   pauseNum counts marked packets by (port, slot) they came by, wherever they are here: a flow
 *   that moves to isolation and back is held as long as any of them remains.
 *
 *   Isolation has a sub-queue for each of a few destinations, or places where congestion began. In
 *   the paper's single one flows wait for ports that they do not go to (its section VII).
 *
 *   A sub-queue waits while its first packet may not leave. The paper's waits as a whole as long as
 *   any of its flows is held; see isolate.c, also for what became of order marks.
 *
 *   A flow alone in its sub-queue is held above Q_l, by the paper's text; `lone high` is its
 *   Algorithm 1.
 *
 *   A marked packet lets go when it leaves; with `resume` when little enough waits before it, so
 *   that the link does not idle until the flow comes again.
 *
 *   Q_l by itself is at least one frame, so that a lone packet never holds its sender.
 *
 *   A host has a sub-queue for each flow.
 *
 * Classes (IV-D). Normal sub-queues are split evenly among strict-priority classes, and each has
 * isolation of its own. What has the same headers in two classes is two flows.
 *
 * Telemetry, as HPCC's switches write it (sched/telemetry.h): the queue is all that waits, held or
 * not.
 *
 * Buffer: `limit`, and a pool shared by dynamic thresholds if there is one. Control packets go
 * first, in a class that is bounded (sched/control.h). ECN as in pfc, by what is queued.
 *
 * Cost: O(1) for each packet in flows and sub-queues, for the first one of a flow to isolation one
 * step for each sub-queue there, 64 at most. What the neighbour says costs one step for each 64
 * slots, and one for each that changed.
 *
 * Who protects what
 *
 *   field                            written under            read by
 *   all of struct flowsail_sched     qdisc lock               qdisc lock; dumps take it for O(1),
 *                                                             those of sub-queues read without
 *                                                             it, one of a flow looks at 64
 *                                                             packets of each of its two
 *   config                           qdisc lock, and RTNL     either of the two
 *   member                           hopctl, see hopctl.h
 */
#include <linux/jhash.h>

#include "../sched/classes.h"
#include "../sched/kind.h"
#include "identify.h"
#include "queue.h"

/* ---- enqueue ---- */

/* Does a flow's packet go to isolation? */
static bool flowsail_is_apart(struct flowsail_sched *q, struct flowsail_flow *flow, u64 now)
{
	if (unlikely(flow->apart))
		return true;
	if (likely(!(flow->state & FLOWSAIL_ISOLATED)))
		return false;
	if (!(flow->state & FLOWSAIL_PAUSED) && now - flow->last_ns >= q->release_ns) {
		flow->state &= ~FLOWSAIL_ISOLATED;
		q->stats.released++;
		return false;
	}
	return READ_ONCE(*q->member.role) != HOP_ROLE_HOST;
}

/* A normal sub-queue for a flow without packets there: an empty one, or any of its class. */
static u32 flowsail_normal(struct flowsail_sched *q, const struct flowsail_flow *flow, u32 hash,
			   u64 now)
{
	u32 lot = flow->class * q->normal +
		  reciprocal_scale((hash ^ (u32)now) * GOLDEN_RATIO_32, q->normal), n;

	if (READ_ONCE(*q->member.role) == HOP_ROLE_HOST) {
		q->stats.assign_free++;
		return q->own + flowsail_slot(q, flow);
	}
	n = hop_bitset_next(&q->subqs.classes[flow->class].free, lot);
	if (n == HOP_BITSET_NONE) {
		q->stats.assign_shared++;
		return lot;
	}
	q->stats.assign_free++;
	return n;
}

/* Algorithm 1, lines 3 to 15: the sub-queue of a packet */
static u32 flowsail_assign(struct flowsail_sched *q, struct flowsail_flow *flow,
			   const struct sk_buff *skb, u32 hash, u8 class, bool apart, u64 now)
{
	if (unlikely(!flow))
		return class * q->normal + reciprocal_scale(hash, q->normal);
	if (unlikely(apart)) {
		if (flow->apart)
			return flow->isolation;
		q->stats.assign_isolated++;
		return flowsail_isolation(q, flow, skb);
	}
	return flow->packets ? flow->queue : flowsail_normal(q, flow, hash, now);
}

/* Why a packet holds its flow: the neighbour holds that too, or another one whose packet is before
 * it; or else for this port.
 */
static noinline u8 flowsail_cause(struct flowsail_sched *q, const struct hop_subq *sub,
				  const struct sk_buff *skb, u16 handle)
{
	const struct flowsail_flow *flow = flowsail_cb_flow(q, skb);

	if (sub->held == HOP_HELD_PAUSED && !(flow && flow->state & FLOWSAIL_PAUSED))
		flow = flowsail_cb_flow(q, sub->head);
	return hop_cause_add(&q->member, handle, flow ? flowsail_slot(q, flow) : 0,
			     q->held.on || (flow && flow->state & FLOWSAIL_PAUSED));
}

/* Algorithm 1, lines 17 to 26: does the packet hold its flow at the neighbour that it came from? */
static void flowsail_mark(struct flowsail_sched *q, struct hop_subq *sub, u32 own,
			  struct sk_buff *skb)
{
	u32 n_active = flowsail_n_active(q);
	enum flowsail_verdict verdict;
	u16 handle;

	if (unlikely(n_active != q->n_seen))
		flowsail_rethink(q, n_active);
	/* packets without a slot may be there, too */
	verdict = flowsail_identify(sub->backlog, own, sub->flows + !!q->strays, q->ql, q->qh,
				    q->config.lone == FLOWSAIL_LONE_LOW);
	if (likely(verdict == FLOWSAIL_PASSES) || !q->config.pause || unlikely(q->member.stalled))
		return;
	if (verdict == FLOWSAIL_SPARES) {
		q->stats.spared++;
		return;
	}
	handle = hop_handle(&q->member, skb);
	if (!handle) {
		q->stats.over_unlabelled++;
		return;
	}
	if (unlikely(hop_elided(&q->member, handle))) {
		q->stats.elided++;
		return;
	}
	flowsail_cb(skb)->handle = handle;
	if (unlikely(q->config.port.roots))
		flowsail_cb(skb)->cause = flowsail_cause(q, sub, skb, handle);
	hop_pause_inc(&q->member, handle);
	q->stats.marks++;
	q->stats.marks_high += verdict == FLOWSAIL_HOLDS_HIGH;
	hop_subq_stats(&q->subqs, sub)->marks++;
}

static struct hop_admitted flowsail_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch,
						  struct hop_flow_id id, u8 class, bool spills,
						  struct sk_buff **to_free)
{
	struct hop_admitted change = hop_admitted_one(qdisc_pkt_len(skb));
	struct flowsail_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb), hash, n, own = 0;
	struct flowsail_flow *flow;
	u64 now = ktime_get_ns();
	struct hop_subq *sub;
	bool apart;

	if (q->buffer.pool && !hop_buffer_take(&q->buffer, q->config.pool_alpha, len)) {
		q->stats.drop_pool++;
		qdisc_drop(skb, sch, to_free);
		return (struct hop_admitted) {};
	}
	if (unlikely(hop_ecn_marks(&q->ramp, sch->qstats.backlog, &q->random)))
		hop_intake_ecn(&q->stats.intake, skb);
	hash = hop_flow_hash(&id, &q->flow_secret);
	flow = flowsail_flow_of(q, id, hash, class, now);
	apart = flow && flowsail_is_apart(q, flow, now);
	n = flowsail_assign(q, flow, skb, hash, class, apart, now);
	sub = &q->subqs.queues[n];
	*flowsail_cb(skb) = (struct flowsail_skb_cb) {
		.flow = flow ? flowsail_slot(q, flow) : FLOWSAIL_NO_FLOW,
		.apart = apart, .spilled = spills,
	};
	if (likely(flow)) {
		own = flowsail_flow_comes(q, flow, sub, len, apart, now);
	} else {
		flowsail_cb(skb)->stray = hash % FLOWSAIL_STRAYS;
		q->stray[hash % FLOWSAIL_STRAYS]++;
		q->strays++;
		q->stats.flows_full++;
	}
	if (unlikely(spills))
		q->intake.spilled++;
	hop_subq_append(&q->subqs, &q->member, sub, skb);
	if (unlikely(q->holding) && sub->head == skb)
		flowsail_look(q, sub, now);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	flowsail_mark(q, sub, own, skb);
	if (unlikely(q->config.pfc))
		flowsail_count(q, skb);
	if (q->config.resume)
		flowsail_front_comes(q, sub, skb);
	if (unlikely(sch->qstats.backlog > q->config.limit))
		change = hop_admitted_sum(change, flowsail_enforce_limit(sch, sub, now, to_free));
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return change;
}

static noinline struct hop_admitted
flowsail_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch, struct hop_flow_id id, u8 class,
		     bool spills, struct sk_buff **to_free)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_admitted done = {};
	struct sk_buff *segment, *next;

	segment = hop_intake_split(&q->stats.intake, skb, sch, to_free);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		done = hop_admitted_sum(done, flowsail_enqueue_frame(segment, sch, id, class,
								     spills, to_free));
	}
	return done;
}

static int flowsail_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_network net = hop_network(skb);
	u8 dscp = q->config.control_dscp;
	struct hop_admitted change;
	u32 len = qdisc_pkt_len(skb);
	struct hop_flow_id id;
	bool spills = false;
	int class, verdict;

	flowsail_follow_link(q);
	class = hop_classify(skb, sch, &q->config.prio, &q->filters, &net, dscp);
	if (unlikely(class < 0)) {
		if (-class & __NET_XMIT_BYPASS) {
			q->stats.drop_filter++;
			qdisc_qstats_drop(sch);
		}
		__qdisc_drop(skb, to_free);
		return -class;
	}
	if (unlikely(class == HOP_CLASS_CONTROL)) {
		hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, ktime_get_ns());
		verdict = hop_intake_control(&q->intake, &q->stats.intake, &q->member, skb, net,
					     dscp, to_free);
		if (verdict != HOP_INTAKE_SPILLS)
			return verdict;
		class = q->config.prio.map[skb->priority & TC_PRIO_MAX];
		spills = true;
	}
	id = hop_packet_flow(skb, net, &q->flow_secret);
	if (unlikely(!hop_has_ip_flow(net)))
		id.word[1] ^= jhash(eth_hdr(skb), 2 * ETH_ALEN, q->flow_secret.rest);
	if (!skb_is_gso(skb) || !q->config.split_gso)
		change = flowsail_enqueue_frame(skb, sch, id, class, spills, to_free);
	else
		change = flowsail_enqueue_gso(skb, sch, id, class, spills, to_free);
	if (likely(change.all == hop_admitted_one(len).all))
		return NET_XMIT_SUCCESS;
	return hop_admit_verdict(sch, change, len);
}

/* ---- dequeue ---- */

static u32 flowsail_quantum(struct Qdisc *sch)
{
	const struct flowsail_sched *q = qdisc_priv(sch);

	if (q->config.quantum)
		return q->config.quantum;
	return q->config.split_gso ? psched_mtu(qdisc_dev(sch)) : GSO_LEGACY_MAX_SIZE;
}

static struct sk_buff *flowsail_dequeue_data(struct Qdisc *sch, struct flowsail_sched *q, u64 now)
{
	struct flowsail_flow *flow;
	struct hop_class *class;
	struct hop_subq *sub;
	struct sk_buff *skb;

	class = hop_class_ready(&q->subqs, q->config.prio.classes);
	if (!class)
		return NULL;
	sub = hop_class_turn(&q->subqs, class, flowsail_quantum, sch);
	skb = flowsail_take(sch, sub, now);
	sub->deficit -= qdisc_pkt_len(skb);
	hop_subq_sent(hop_subq_stats(&q->subqs, sub), skb);
	flow = flowsail_cb_flow(q, skb);
	if (likely(flow))
		flow->sent++;
	return skb;
}

/* Put the fabric tag on, with the number of the slot if there is one.
 *
 * Return: false if that was impossible: the packet is gone.
 */
static bool flowsail_tag(struct Qdisc *sch, struct flowsail_sched *q, struct sk_buff *skb, u16 slot)
{
	int tagged = hop_egress_tag(&q->member, skb, slot == FLOWSAIL_NO_FLOW ? HOP_NO_QUEUE : slot,
				    q->config.port.tpid);

	if (unlikely(tagged < 0)) {
		q->stats.drop_tag++;
		hop_egress_drop(&q->late, sch, skb);
		return false;
	}
	q->stats.tagged += tagged;
	return true;
}

/* A packet leaves, and is told of the port. */
static noinline void flowsail_tell(struct Qdisc *sch, struct sk_buff *skb, u64 now)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	flowsail_follow_link(q);
	hop_telemeter_tell(&q->telemeter, skb, q->config.telemetry, sch->qstats.backlog, now,
			   &q->stats.telemetry);
}

static noinline struct sk_buff *flowsail_dequeue_some(struct Qdisc *sch)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;
	u16 slot;

	do {
		slot = FLOWSAIL_NO_FLOW;
		skb = hop_control_take(&q->intake.control, sch, &q->stats.backlog_time,
				       &q->changed_ns, now);
		if (!skb && !q->held.on) {
			skb = flowsail_dequeue_data(sch, q, now);
			if (skb)
				slot = flowsail_cb(skb)->flow;
		}
		if (unlikely(q->config.telemetry) && skb)
			flowsail_tell(sch, skb, now);
	} while (skb && unlikely(!flowsail_tag(sch, q, skb, slot)));
	return hop_egress_end(&q->late, sch, skb);
}

static noinline struct sk_buff *flowsail_dequeue_merged(struct Qdisc *sch)
{
	flowsail_merge_paused(qdisc_priv(sch), ktime_get_ns());
	return sch->q.qlen ? flowsail_dequeue_some(sch) : NULL;
}

/* Each run of a qdisc ends with a look into an empty one, which is to cost next to nothing: what
 * saves registers is elsewhere.
 */
static struct sk_buff *flowsail_dequeue(struct Qdisc *sch)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	if (unlikely(hop_paused_changed(&q->member, q->paused_seen)))
		return flowsail_dequeue_merged(sch);
	return sch->q.qlen ? flowsail_dequeue_some(sch) : NULL;
}

static struct Qdisc_ops flowsail_qdisc_ops __read_mostly = {
	.cl_ops		= &flowsail_class_ops,
	.id		= "flowsail",
	.priv_size	= sizeof(struct flowsail_sched),
	.enqueue	= flowsail_enqueue,
	.dequeue	= flowsail_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= flowsail_init,
	.reset		= flowsail_reset,
	.destroy	= flowsail_destroy,
	.change		= flowsail_change,
	.dump		= flowsail_dump,
	.dump_stats	= flowsail_dump_stats,
	.owner		= THIS_MODULE,
};

static_assert(sizeof(struct flowsail_skb_cb) <= QDISC_CB_PRIV_LEN);
static_assert(sizeof(struct flowsail_flow) <= 64);
static_assert(FLOWSAIL_CLASSES_MAX == HOP_CLASSES_MAX);
static_assert(FLOWSAIL_MINOR_CONTROL == HOP_MINOR_CLASS_CONTROL);

HOP_KIND_MODULE(flowsail, "FlowSail: pauses for single flows", flowsail_threshold_module_init(),
		(void)0);
