// SPDX-License-Identifier: GPL-2.0-only
/*
 * queue.c - FIFO and VOQs: how packets come in, and all ways out
 *
 * Written under the qdisc lock.
 */
#include "../sched/stats.h"
#include "floodgate.h"

static struct floodgate_slot *queue_slot(struct floodgate_sched *q, const struct sk_buff *skb)
{
	u16 slot = floodgate_cb(skb)->slot;

	return slot == FLOODGATE_NO_SLOT ? NULL : &q->slots[slot];
}

/* ---- in ---- */

static __always_inline void fifo_put(struct floodgate_sched *q, struct floodgate_slot *slot,
				     struct sk_buff *skb)
{
	__qdisc_enqueue_tail(skb, &q->fifo);
	if (slot)
		floodgate_charge(slot, floodgate_cb(skb)->bytes);
}

/* The VOQ of a destination: the one that has packets of it, so that they stay in order; or one that
 * is empty; or one that others have, by its hash.
 */
static struct floodgate_voq *voq_of(struct floodgate_sched *q, struct floodgate_slot *slot)
{
	struct floodgate_voq *voq = slot->voq;

	if (voq)
		return voq;
	voq = list_first_entry_or_null(&q->free_voqs, struct floodgate_voq, node);
	if (likely(voq)) {
		list_del(&voq->node);
		q->voqs++;
		q->stats.voqs_max = max(q->stats.voqs_max, q->voqs);
	} else {
		voq = &q->voq[reciprocal_scale(slot->hash, floodgate_voqs_made(q))];
		q->stats.voqs_shared++;
	}
	slot->voq = voq;
	return voq;
}

static void voq_put(struct floodgate_sched *q, struct floodgate_slot *slot, struct sk_buff *skb)
{
	struct floodgate_voq *voq = voq_of(q, slot);
	bool first = !voq->packets.head;
	u32 bytes = floodgate_cb(skb)->bytes;

	floodgate_use(slot);
	__qdisc_enqueue_tail(skb, &voq->packets);
	voq->backlog += qdisc_pkt_len(skb);
	slot->qlen++;
	WRITE_ONCE(slot->backlog, slot->backlog + qdisc_pkt_len(skb));
	slot->backlog_max = max(slot->backlog_max, slot->backlog);
	slot->held += bytes;
	q->voq_backlog += qdisc_pkt_len(skb);
	q->stats.voq_packets++;
	q->stats.voq_bytes += qdisc_pkt_len(skb);
	q->stats.voq_max = max(q->stats.voq_max, voq->backlog);
	atomic64_add(bytes, &slot->dest->held);
	if (first)
		floodgate_wait(slot);
	else if (!voq->ready)	/* who was called may not have been asked since */
		floodgate_pass_on(slot);
}

/* Does a packet go to the VOQ (section 4.2)? Those before it are there, or there is no window, or
 * this is a host.
 */
static bool voq_takes(struct floodgate_slot *slot)
{
	const struct floodgate_sched *q = slot->q;

	if (slot->voq || slot->paused || q->link & FLOODGATE_LINK_HOST)
		return true;
	if (!q->windows)
		return false;
	if (q->config.scope == FLOODGATE_SCOPE_SWITCH && atomic64_read(&slot->dest->held))
		return true;
	return !floodgate_has_window(slot);
}

/**
 * floodgate_put - queue a packet
 * @sch: the qdisc
 * @q: the same
 * @skb: a packet that there is room for, with its floodgate_skb_cb but for the slot
 * @net: hop_network() of it
 */
void floodgate_put(struct Qdisc *sch, struct floodgate_sched *q, struct sk_buff *skb,
		   struct hop_network net)
{
	struct floodgate_skb_cb *cb = floodgate_cb(skb);
	struct floodgate_slot *slot = NULL;

	if (q->link || q->voqs || q->config.mode == FLOODGATE_MODE_PAUSE)
		slot = floodgate_slot_of(q, skb, net);
	cb->slot = slot ? floodgate_slot_number(slot) : FLOODGATE_NO_SLOT;
	if (unlikely(cb->spilled))
		q->intake.spilled++;
	q->backlog += qdisc_pkt_len(skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	floodgate_came(q, skb);
	if (slot && unlikely(voq_takes(slot)))
		voq_put(q, slot, skb);
	else
		fifo_put(q, slot, skb);
}

/* ---- out ---- */

static __always_inline struct sk_buff *fifo_pop(struct floodgate_sched *q)
{
	struct sk_buff *skb = __qdisc_dequeue_head(&q->fifo);
	struct floodgate_slot *slot = skb ? queue_slot(q, skb) : NULL;

	if (slot) {
		slot->charged -= floodgate_cb(skb)->bytes;
		if (unlikely(q->pauses))
			floodgate_resume(q, slot);
	}
	return skb;
}

static struct sk_buff *voq_pop(struct floodgate_sched *q, struct floodgate_voq *voq)
{
	struct floodgate_slot *slot = floodgate_first(q, voq);
	struct sk_buff *skb = __qdisc_dequeue_head(&voq->packets);

	voq->backlog -= qdisc_pkt_len(skb);
	if (!--slot->qlen)
		slot->voq = NULL;
	WRITE_ONCE(slot->backlog, slot->backlog - qdisc_pkt_len(skb));
	slot->held -= floodgate_cb(skb)->bytes;
	slot->packets++;
	slot->bytes += qdisc_pkt_len(skb);
	q->voq_backlog -= qdisc_pkt_len(skb);
	atomic64_sub_return(floodgate_cb(skb)->bytes, &slot->dest->held);
	floodgate_credit_delayed(q, slot->dest);
	floodgate_resume(q, slot);
	if (voq->packets.head)
		return skb;
	if (voq->ready)
		list_del(&voq->node);
	voq->ready = false;
	list_add(&voq->node, &q->free_voqs);
	q->voqs--;
	return skb;
}

/* The next packet of those VOQs that have window, each in its turn */
static struct sk_buff *round_pop(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;
	struct floodgate_voq *voq;
	struct sk_buff *skb;

	while (!list_empty(&q->round)) {
		voq = list_first_entry(&q->round, struct floodgate_voq, node);
		slot = floodgate_first(q, voq);
		list_del_init(&slot->wait);	/* this is its turn, if it had one */
		if (floodgate_has_window(slot)) {
			skb = voq_pop(q, voq);
			if (voq->ready)
				list_move_tail(&voq->node, &q->round);
			return skb;
		}
		list_del(&voq->node);
		voq->ready = false;
		floodgate_wait(slot);
	}
	return NULL;
}

/* The next packet of the FIFO, which goes before VOQs */
static struct sk_buff *fifo_next(struct floodgate_sched *q)
{
	struct sk_buff *skb = fifo_pop(q);

	if (unlikely(!list_empty(&q->turns)) && skb)
		floodgate_turn_lost(q);
	return skb;
}

/* What has got window goes the way of all others. */
static void round_through(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;
	struct sk_buff *skb;
	int n;

	for (n = 0; n < FLOODGATE_THROUGH && !list_empty(&q->round); n++) {
		skb = round_pop(q);
		if (!skb)
			return;
		slot = queue_slot(q, skb);
		fifo_put(q, slot, skb);
		floodgate_pass_on(slot);
	}
}

/* What goes before the FIFO, or into it. In a host's FIFO is what found no slot, and takes turns
 * with those that did.
 */
static struct sk_buff *round_early(struct floodgate_sched *q)
{
	if (q->config.serve == FLOODGATE_SERVE_THROUGH)
		round_through(q);
	else if (q->link & FLOODGATE_LINK_HOST && q->fifo_last)
		return round_pop(q);
	return NULL;
}

/* A packet leaves, in whatever way: what it stands for is taken back. */
static __always_inline void queue_forget(struct floodgate_sched *q, struct sk_buff *skb,
					 struct floodgate_slot *slot)
{
	if (q->buffer.pool)
		hop_buffer_give(&q->buffer, qdisc_pkt_len(skb));
	q->backlog -= qdisc_pkt_len(skb);
	if (unlikely(floodgate_cb(skb)->spilled))
		q->intake.spilled--;
	if (unlikely(floodgate_cb(skb)->link))
		floodgate_uncount(q, skb);
	if (floodgate_cb(skb)->handle)
		floodgate_left(q, skb, slot ? slot->dest : NULL);
}

/**
 * floodgate_take - the next packet that may leave
 * @sch: the qdisc
 * @q: the same
 * @slot: filled in: its slot, NULL if it has none. floodgate_sent() or floodgate_not_sent() has to
 *	be called
 * @voq: set if it was in the VOQ
 * @now: time
 *
 * Return: NULL if there is none.
 */
struct sk_buff *floodgate_take(struct Qdisc *sch, struct floodgate_sched *q,
			       struct floodgate_slot **slot, bool *voq, u64 now)
{
	struct sk_buff *skb = NULL;

	if (unlikely(!list_empty(&q->round)))
		skb = round_early(q);
	*voq = skb;
	if (!skb)
		skb = fifo_next(q);
	q->fifo_last = !*voq;
	if (!skb && unlikely(!list_empty(&q->round))) {
		skb = round_pop(q);
		*voq = skb;
	}
	if (!skb)
		return NULL;
	*slot = queue_slot(q, skb);
	queue_forget(q, skb, *slot);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}

static void reset_one(struct floodgate_sched *q, struct sk_buff *skb, struct floodgate_slot *slot)
{
	queue_forget(q, skb, slot);
	rtnl_kfree_skbs(skb, skb);
}

void floodgate_reset(struct Qdisc *sch)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct floodgate_slot *slot;
	struct sk_buff *skb;

	local_bh_disable();	/* qdisc_destroy() comes without the qdisc lock */
	__skb_queue_purge(&q->intake.control);
	while ((skb = fifo_pop(q)))
		reset_one(q, skb, queue_slot(q, skb));
	for (slot = q->slots; slot && slot < q->slots + q->config.slots; slot++) {
		if (!slot->dest)
			continue;
		floodgate_wait_no_more(slot);
		while (slot->voq) {
			skb = voq_pop(q, slot->voq);
			reset_one(q, skb, queue_slot(q, skb));
		}
		floodgate_recount(slot);
		floodgate_settle(slot);
		floodgate_pass_on(slot);
	}
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, ktime_get_ns());
	q->late = (struct hop_late_drops) {};
	local_bh_enable();
}
