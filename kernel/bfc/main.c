// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - Backpressure Flow Control as a queueing discipline
 *
 * Goyal, Shah, Zhao, Nikolaidis, Alizadeh, Anderson: Backpressure Flow Control, NSDI 2022.
 *
 * What it does
 *
 *   Flows to sub-queues (section 3.3.1). A flow has an entry in the flow table
 *   (sched/flow_table.h). One without packets whose sticky time has run out gets a free sub-queue,
 *   or, if there is none, a random one, or what `share` says (sched/holders.h); otherwise it keeps
 *   the one it had. Sub-queues share the link by deficit round robin; those that the neighbour
 *   holds paused are left out of the round.
 *
 *   Backpressure (section 3.3.2). A packet that finds, itself included, more than Th = HRTT x
 *   rate / N_active bytes in its sub-queue is marked and counted against the upstream
 *   sub-queue that it came from; when the marked packet leaves, in whatever way, the count
 *   goes down. hopctl pauses an upstream sub-queue while its count is not zero.
 *
 *   Classes (App. A.3). Sub-queues are split evenly among strict-priority classes, each with
 *   its own part of the flow table. A control class, above them all, bounded and never paused,
 *   takes what keeps a network alive: ARP, neighbour discovery, LLDP, STP and whatever has
 *   priority TC_PRIO_CONTROL, or the DSCP that `control-dscp` names. What of it is not this box's
 *   own, or has only the DSCP, has a share of the link (sched/control.h).
 *
 * Where it departs from the paper's text
 *
 *   - Pause and resume are sent as a bitmap with a lease (hopctl), not as single events.
 *   - An empty sub-queue is free only after its sticky time: until then the flow that it
 *     belongs to may come back, and a new flow given the same one would share it. While all
 *     others are taken an empty one is used early. `reuse empty` is the plain rule.
 *   - Th is at least one frame of the MTU, so that a lone packet never pauses its sender.
 *   - An entry of the flow table is one of four that a flow may have, so that two flows do not
 *     meet in one while others are free. `ways 1` is the plain rule.
 *
 *   Shared buffer. A switch's ports share one packet memory. Qdiscs of a namespace that say
 *   `pool` share one too, by dynamic thresholds: a packet that would make its qdisc hold more
 *   than alpha times what is free is dropped as it comes. `limit`, each qdisc's own, stays in
 *   force. The control class has its own room.
 *
 * What it does not do: it shapes nothing (the link, or tbf above, does), marks no ECN, and
 * does not promise losslessness: beyond `limit` the longest sub-queue loses from its head.
 *
 * Cost: O(1) per packet in flows and sub-queues. "Longest" is by powers of two of the
 * backlog, so the one that loses holds at least half of what the longest holds; those
 * below 2 KiB are all alike. A change of
 * pause state costs one step for each 64 sub-queues, and one for each that changed.
 *
 * Who protects what
 *
 *   field                          written under            read by
 *   everything in struct bfc_sched  qdisc lock               qdisc lock; dumps take it for O(1)
 *   config                          qdisc lock, and RTNL     either of the two
 *   member                          hopctl, see hopctl.h
 */
#include "../sched/classes.h"
#include "../sched/kind.h"
#include "../sched/packet_hash.h"
#include "assign.h"
#include "queue.h"

#define CREATE_TRACE_POINTS
#include "../sched/trace_bfc.h"

/* ---- enqueue ---- */

/* Section 3.3.2, On Enqueue: does this packet's sub-queue exceed Th, itself included? */
static void bfc_mark(struct Qdisc *sch, struct hop_subq *sub, struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 n_active = bfc_n_active(q);
	u16 handle;

	if (unlikely(n_active != q->n_seen))
		bfc_rethink(sch, q, n_active);
	if (likely(sub->backlog <= q->th))
		return;
	if (unlikely(q->member.stalled) ||
	    (!q->config.th && sub->backlog <= psched_mtu(qdisc_dev(sch))))
		return;
	handle = hop_handle(&q->member, skb);
	if (!handle) {
		q->stats.over_unlabelled++;
		return;
	}
	if (unlikely(hop_elided(&q->member, handle))) {
		q->stats.elided++;
		return;
	}
	bfc_cb(skb)->handle = handle;
	bfc_cb(skb)->cause = 0;
	if (unlikely(q->config.roots))
		bfc_cb(skb)->cause = hop_cause_add(&q->member, handle, sub - q->subqs.queues,
						   sub->held & HOP_HELD_PAUSED);
	hop_pause_inc(&q->member, handle);
	q->stats.marks++;
	q->subqs.stats[sub - q->subqs.queues].marks++;
}

static struct hop_admitted bfc_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch,
					   struct hop_class *class, u32 hash,
					   struct sk_buff **to_free)
{
	struct hop_admitted change = hop_admitted_one(qdisc_pkt_len(skb));
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct hop_subq *sub;

	if (q->buffer.pool &&
	    !hop_buffer_take(&q->buffer, q->config.pool_alpha, qdisc_pkt_len(skb))) {
		q->stats.drop_pool++;
		trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_POOL, skb);
		qdisc_drop(skb, sch, to_free);
		return (struct hop_admitted) {};
	}
	sub = bfc_assign(q, class, skb, hash, now);
	hop_subq_append(&q->subqs, &q->member, sub, skb);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	bfc_mark(sch, sub, skb);
	if (trace_bfc_enqueue_enabled())
		trace_bfc_enqueue(&q->member, sub - q->subqs.queues, sub->backlog,
				  bfc_threshold(sch, q, bfc_n_active(q)), bfc_cb(skb)->handle, skb,
				  now);
	if (unlikely(sch->qstats.backlog > q->config.limit))
		change = hop_admitted_sum(change, bfc_enforce_limit(sch, sub, now, to_free));
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return change;
}

static noinline struct hop_admitted bfc_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
						    struct hop_class *class, u32 hash,
						    struct sk_buff **to_free)
{
	struct sk_buff *segments = hop_admit_segments(skb), *next;
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_admitted done = {};

	if (!segments) {
		q->stats.drop_gso++;
		trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_GSO, skb);
		qdisc_drop(skb, sch, to_free);
		return done;
	}
	skb_list_walk_safe(segments, segments, next) {
		skb_mark_not_on_list(segments);
		done = hop_admitted_sum(done, bfc_enqueue_frame(segments, sch, class, hash,
								to_free));
	}
	q->stats.gso_split++;
	consume_skb(skb);
	return done;
}

static int bfc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_network net = hop_network(skb);
	struct hop_admitted change;
	u32 len = qdisc_pkt_len(skb);
	bool spills = false;
	int class;
	u32 hash;

	class = hop_classify(skb, sch, &q->config.prio, &q->filters, &net,
			     q->config.control_dscp);
	if (unlikely(class < 0)) {
		if (-class & __NET_XMIT_BYPASS) {
			q->stats.drop_filter++;
			qdisc_qstats_drop(sch);
			trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_FILTER, skb);
		}
		__qdisc_drop(skb, to_free);
		return -class;
	}
	if (unlikely(class == HOP_CLASS_CONTROL)) {
		if (hop_is_policed(skb, net, q->config.control_dscp))
			class = bfc_police(q, skb, net);
		if (class == HOP_CLASS_CONTROL)
			return bfc_enqueue_control(skb, sch, to_free);
		if (class < 0) {
			q->stats.drop_police++;
			trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_POLICE, skb);
			return qdisc_drop(skb, sch, to_free);
		}
		spills = true;
	}

	bfc_follow_link(q);
	hash = q->config.assign == BFC_ASSIGN_SINGLE ? 0 :
	       hop_packet_hash(skb, net, &q->flow_secret);
	if (!skb_is_gso(skb) || !q->config.split_gso)
		change = bfc_enqueue_frame(skb, sch, &q->subqs.classes[class], hash, to_free);
	else
		change = bfc_enqueue_gso(skb, sch, &q->subqs.classes[class], hash, to_free);
	if (unlikely(spills))
		bfc_spill(q, &q->subqs.classes[class], hash);
	if (likely(change.all == hop_admitted_one(len).all))
		return NET_XMIT_SUCCESS;
	return hop_admit_verdict(sch, change, len);
}

/* ---- dequeue ---- */

static u32 bfc_quantum(struct Qdisc *sch)
{
	const struct bfc_sched *q = qdisc_priv(sch);

	if (q->config.quantum)
		return q->config.quantum;
	return q->config.split_gso ? psched_mtu(qdisc_dev(sch)) : GSO_LEGACY_MAX_SIZE;
}

static struct sk_buff *bfc_dequeue_data(struct Qdisc *sch, struct bfc_sched *q, u64 now)
{
	struct hop_class *class;
	struct hop_subq *sub;
	struct sk_buff *skb;

	class = hop_class_ready(&q->subqs, q->config.prio.classes);
	if (!class)
		return NULL;
	sub = hop_class_turn(&q->subqs, class, bfc_quantum, sch);
	skb = bfc_take(sch, sub, now);
	sub->deficit -= qdisc_pkt_len(skb);
	hop_subq_sent(hop_subq_stats(&q->subqs, sub), skb);
	trace_bfc_dequeue(&q->member, sub - q->subqs.queues, sub->backlog, skb, now);
	return skb;
}

static struct sk_buff *bfc_dequeue_control(struct Qdisc *sch, struct bfc_sched *q, u64 now)
{
	struct sk_buff *skb = __skb_dequeue(&q->control);

	if (skb) {
		hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		trace_bfc_dequeue(&q->member, BFC_TRACE_CONTROL, 0, skb, now);
	}
	return skb;
}

/* Put the fabric tag on.
 *
 * Return: false if that was impossible: the packet is gone.
 */
static bool bfc_tag(struct Qdisc *sch, struct bfc_sched *q, struct sk_buff *skb, bool control)
{
	int tagged = hop_egress_tag(&q->member, skb, control ? HOP_NO_QUEUE : bfc_cb(skb)->queue,
				    q->config.tpid);

	if (unlikely(tagged < 0)) {
		trace_bfc_drop(&q->member, control ? BFC_TRACE_CONTROL : bfc_cb(skb)->queue,
			       BFC_TRACE_DROP_TAG, skb);
		q->stats.drop_tag++;
		hop_egress_drop(&q->late, sch, skb);
		return false;
	}
	q->stats.tagged += tagged;
	return true;
}

static noinline struct sk_buff *bfc_dequeue_some(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;
	bool control;

	do {
		skb = bfc_dequeue_control(sch, q, now);
		control = skb;
		if (!control)
			skb = bfc_dequeue_data(sch, q, now);
	} while (skb && unlikely(!bfc_tag(sch, q, skb, control)));

	if (skb)
		qdisc_bstats_update(sch, skb);
	if (unlikely(q->late.packets))
		hop_egress_tell(&q->late, sch, skb);
	return skb;
}

static noinline struct sk_buff *bfc_dequeue_merged(struct Qdisc *sch)
{
	bfc_merge_paused(qdisc_priv(sch), ktime_get_ns());
	return sch->q.qlen ? bfc_dequeue_some(sch) : NULL;
}

/* Each run of a qdisc ends with a look into an empty one, which is to cost next to nothing: what
 * saves registers is elsewhere.
 */
static struct sk_buff *bfc_dequeue(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	if (unlikely(hop_paused_changed(&q->member, q->paused_seen)))
		return bfc_dequeue_merged(sch);
	return sch->q.qlen ? bfc_dequeue_some(sch) : NULL;
}

static struct Qdisc_ops bfc_qdisc_ops __read_mostly = {
	.cl_ops		= &bfc_class_ops,
	.id		= "bfc",
	.priv_size	= sizeof(struct bfc_sched),
	.enqueue	= bfc_enqueue,
	.dequeue	= bfc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= bfc_init,
	.reset		= bfc_reset,
	.destroy	= bfc_destroy,
	.change		= bfc_change,
	.dump		= bfc_dump,
	.dump_stats	= bfc_dump_stats,
	.owner		= THIS_MODULE,
};

static_assert(BFC_CLASSES_MAX == HOP_CLASSES_MAX);
static_assert(BFC_MINOR_CONTROL == HOP_MINOR_CLASS_CONTROL);
static_assert(sizeof(struct bfc_skb_cb) <= QDISC_CB_PRIV_LEN);

HOP_KIND_MODULE(bfc, "Backpressure Flow Control queueing discipline", bfc_threshold_module_init(),
		(void)0);
