// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - Floodgate: windows per destination, VOQs and credits between switches
 *
 * After Liu et al., Floodgate: Taming Incast in Datacenter Networks, CoNEXT 2021. Numbers of
 * sections are the paper's.
 *
 * What it does
 *
 *   Windows (4.2). A switch sends no more of a destination to the next one than a window: what
 *   is on its way, or waits there. It is BDP_nextHop + C_out T (or what is told by bytes, if
 *   that is less) and two frames, so that a destination that takes
 *   what it is sent never uses it up. What an incast sends uses it up at once: the last hop
 *   returns credits no faster than its link is. The window is of the box, over all of its ports,
 *   or of each port for itself (`window-scope`). There is none towards a host: at the last hop it
 *   would change nothing.
 *
 *   VOQs (4.2). A packet whose destination has no window left, or has others waiting, waits in a
 *   queue of that destination alone, so that it is in nobody's way. All others share a FIFO. What
 *   has got window leaves below the FIFO, VOQs in turn, or through it (`serve`).
 *
 *   Credits (4.1). The receiving switch tells, T after the last time, what of each destination has
 *   left it. While it holds much of a destination in VOQs itself, it does not (delayCredit).
 *
 * How it differs from the paper
 *
 *   The fabric tag of each packet has the number of the destination's *slot* at the sending port.
 *   The receiver counts and credits by this number and needs to know nothing of destinations, so
 *   that both ends agree whatever a bridge, router or NAT in between does.
 *
 *   Credits are hopctl's balances (hopctl/ledger.h): each stands alone and says all, so one that is
 *   lost costs nothing but time, and blocks of data show what data was lost. They replace PSN and
 *   switchSYN of section 4.3, which take what is on its way for lost.
 *
 *   Windows and credits are bytes: a frame without tags, and at least 60.
 *
 *   A VOQ for each destination, as many as there are slots, so two destinations are never in one
 *   VOQ, and Fig. 4's circle of VOQs that wait for each other cannot come about. With `voqs` there
 *   are fewer, as in the paper, and destinations may share one. VOQs are a port's, not the box's:
 *   what goes up and what goes down share none, so Fig. 4's own circle, which the paper's groups of
 *   VOQs are against, does not come about either. Where routes make a circle, it may.
 *
 *   Per-dst PAUSE to hosts (4.3), and PFC with tag, which has pauses between switches instead of
 *   windows (App. B): pause.c. They are bfc's pauses, by the number in the fabric tag.
 *
 *   PFC beneath all that, as in the paper's evaluation (section 6): links are paused by what came
 *   by them (sched/xoff.h), if `pfc` says so.
 *
 * Buffer: `limit`, and a pool shared by dynamic thresholds if there is one; beyond them a packet is
 * dropped as it comes. Control packets go first, in a class that is bounded (sched/control.h). ECN
 * as in pfc: marked by what is in the FIFO and in VOQs.
 *
 * Cost: O(1) for each packet; for the first one of a destination the lock of the box's
 * destinations.
 *
 * Who protects what: window.c has the table.
 */
#include "../sched/kind.h"
#include "../sched/stats.h"
#include "floodgate.h"

/* ---- enqueue ---- */

/* Return: there is room for the packet, and it is taken. */
static bool floodgate_admits(struct Qdisc *sch, struct floodgate_sched *q, struct sk_buff *skb)
{
	u32 len = qdisc_pkt_len(skb);

	if (unlikely(sch->qstats.backlog + len > q->config.limit)) {
		q->stats.drop_limit++;
		return false;
	}
	if (q->buffer.pool && !hop_buffer_take(&q->buffer, q->config.pool_alpha, len)) {
		q->stats.drop_pool++;
		return false;
	}
	return true;
}

static __always_inline struct hop_admitted
floodgate_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch, struct hop_network net, bool spills,
			struct sk_buff **to_free)
{
	struct floodgate_sched *q = qdisc_priv(sch);

	if (!floodgate_admits(sch, q, skb)) {
		qdisc_drop(skb, sch, to_free);
		return (struct hop_admitted) {};
	}
	if (unlikely(hop_ecn_marks(&q->ramp, q->backlog, &q->random)))
		hop_intake_ecn(&q->stats.intake, skb);
	*floodgate_cb(skb) = (struct floodgate_skb_cb) {
		.bytes = floodgate_bytes(skb, net), .spilled = spills,
	};
	if (unlikely(!q->hrtt_seen))	/* it may have been measured before the first packet came */
		floodgate_follow_link(q);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, ktime_get_ns());
	floodgate_put(sch, q, skb, net);
	if (unlikely(q->pauses)) {
		floodgate_follow_link(q);
		floodgate_pause(q, skb);
	}
	if (unlikely(q->config.pfc))
		floodgate_count(q, skb);
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return hop_admitted_one(qdisc_pkt_len(skb));
}

static noinline struct hop_admitted
floodgate_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch, bool spills,
		      struct sk_buff **to_free)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct hop_admitted done = {};
	struct sk_buff *segment, *next;

	segment = hop_intake_split(&q->stats.intake, skb, sch, to_free);
	skb_list_walk_safe(segment, segment, next) {
		skb_mark_not_on_list(segment);
		done = hop_admitted_sum(done, floodgate_enqueue_frame(segment, sch,
								      hop_network(segment),
								      spills, to_free));
	}
	return done;
}

static int floodgate_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct hop_network net = hop_network(skb);
	u8 dscp = q->config.control_dscp;
	struct hop_admitted change;
	u32 len = qdisc_pkt_len(skb);
	bool spills = false;
	int verdict;

	if (unlikely(hop_is_control(skb, net, dscp))) {
		floodgate_follow_link(q);
		hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, ktime_get_ns());
		verdict = hop_intake_control(&q->intake, &q->stats.intake, &q->member, skb, net,
					     dscp, to_free);
		if (verdict != HOP_INTAKE_SPILLS)
			return verdict;
		spills = true;
	}
	if (!skb_is_gso(skb) || !q->config.split_gso)
		change = floodgate_enqueue_frame(skb, sch, net, spills, to_free);
	else
		change = floodgate_enqueue_gso(skb, sch, spills, to_free);
	if (likely(change.all == hop_admitted_one(len).all))
		return NET_XMIT_SUCCESS;
	return hop_admit_verdict(sch, change, len);
}

/* ---- dequeue ---- */

/* Telemetry of HPCC (section 8): a packet of a VOQ shows what is in VOQs, any other the FIFO. */
static noinline void floodgate_tell(struct floodgate_sched *q, struct sk_buff *skb, bool voq,
				    u64 now)
{
	floodgate_follow_link(q);
	hop_telemeter_tell(&q->telemeter, skb, q->config.telemetry,
			   voq ? q->voq_backlog : q->backlog - q->voq_backlog, now,
			   &q->stats.telemetry);
}

/* Put the fabric tag on, with the number of the slot if there is one.
 *
 * Return: false if that was impossible: the packet is gone.
 */
static bool floodgate_tag(struct Qdisc *sch, struct floodgate_sched *q, struct sk_buff *skb,
			  struct floodgate_slot *slot, u32 bytes)
{
	int tagged = hop_egress_tag(&q->member, skb,
				    slot ? floodgate_slot_number(slot) : HOP_NO_QUEUE,
				    q->config.port.tpid);

	if (slot && likely(tagged > 0) && q->link & FLOODGATE_LINK_COUNTS)
		floodgate_sent(slot, bytes);
	if (slot && unlikely(tagged <= 0 || !q->windows))
		floodgate_not_sent(slot);
	if (unlikely(tagged < 0)) {
		q->stats.drop_tag++;
		hop_egress_drop(&q->late, sch, skb);
		return false;
	}
	q->stats.tagged += tagged;
	return true;
}

/* Return: the packet, or NULL: it is gone, or there is none; in @more whether to go on. */
static struct sk_buff *floodgate_dequeue_data(struct Qdisc *sch, struct floodgate_sched *q,
					      u64 now, bool *more)
{
	struct floodgate_slot *slot = NULL;
	bool voq = false;
	struct sk_buff *skb = floodgate_take(sch, q, &slot, &voq, now);
	u32 bytes;

	*more = skb;
	if (!skb)
		return NULL;
	bytes = floodgate_cb(skb)->bytes;
	if (unlikely(q->config.telemetry))
		floodgate_tell(q, skb, voq, now);
	if (unlikely(!floodgate_tag(sch, q, skb, slot, bytes)))
		skb = NULL;
	if (unlikely(voq))
		floodgate_pass_on(slot);
	return skb;
}

static struct sk_buff *floodgate_dequeue(struct Qdisc *sch)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_blocks_dequeue(&q->member, !sch->q.qlen);
	bool more;
	u64 now;

	if (skb)
		return hop_egress_end(&q->late, sch, skb);
	if (unlikely(floodgate_link(q) != q->link))
		floodgate_judge(q);
	if (unlikely(hop_paused_changed(&q->member, q->paused_seen)))
		floodgate_obey(q);
	if (unlikely(READ_ONCE(q->news))) {
		floodgate_follow_link(q);
		floodgate_hear(q);
	}
	if (!sch->q.qlen)
		return NULL;
	now = ktime_get_ns();
	skb = hop_control_take(&q->intake.control, sch, &q->stats.backlog_time, &q->changed_ns,
			       now);
	if (skb && !floodgate_tag(sch, q, skb, NULL, 0))
		skb = NULL;
	for (more = !skb && !q->held.on; more && !skb;)
		skb = floodgate_dequeue_data(sch, q, now, &more);
	if (!skb)
		skb = hop_blocks_dequeue(&q->member, true);
	return hop_egress_end(&q->late, sch, skb);
}

static struct Qdisc_ops floodgate_qdisc_ops __read_mostly = {
	.cl_ops		= &floodgate_class_ops,
	.id		= "floodgate",
	.priv_size	= sizeof(struct floodgate_sched),
	.enqueue	= floodgate_enqueue,
	.dequeue	= floodgate_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= floodgate_init,
	.reset		= floodgate_reset,
	.destroy	= floodgate_destroy,
	.change		= floodgate_change,
	.dump		= floodgate_dump,
	.dump_stats	= floodgate_dump_stats,
	.owner		= THIS_MODULE,
};

static_assert(sizeof(struct floodgate_skb_cb) <= QDISC_CB_PRIV_LEN);

/* At the end a port may have found the operations before. */
HOP_KIND_MODULE(floodgate, "Floodgate: windows per destination and VOQs", 0, synchronize_net());
