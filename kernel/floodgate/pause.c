// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause.c - whom this box pauses for a destination or a link, and pauses that it obeys
 *
 * Pauses for destinations are bfc's: by the number in the fabric tag. That of a floodgate is a
 * destination's slot, so a neighbour holds back a single destination; that of a bfc is one of its
 * sub-queues.
 *
 * Who is paused. With windows, hosts, if `pause-hosts` says so, while VOQs of this box hold much of
 * a destination (dstPause, section 4.3). With `mode pause` all neighbours, and there are no windows
 * (PFC with tag, App. B); at the last hop, by whose port nobody can be paused, what the FIFO
 * holds of the destination counts, too.
 *
 * A packet that finds more than a threshold of its destination, itself included, adds its handle to
 * the destination's list, and the handle holds a pause. Whoever takes the destination down to
 * the other threshold empties the list. A handle is in one list at a time: a bfc may have
 * several destinations in a sub-queue, and it is held for the first one of them.
 *
 * What the neighbour pauses goes to its VOQ from then on, and stays there. What is in the FIFO
 * leaves. A host has a VOQ for each destination, so there is nothing in the FIFO.
 *
 * Links. With `pfc` each packet that came by a port counts against it, tagged or not, and who has
 * sent too much is told that all of his slots are held. Who is told so sends nothing but the
 * control class, and makes nothing of the single slots until some are not held.
 *
 * Who protects what: a destination's lock its list, see struct floodgate_origin; the rest is under
 * the qdisc lock.
 */
#include "../sched/subq.h"
#include "floodgate.h"

/* ---- whom we pause ---- */

/* Bytes of the destination that a pause would help against */
static u64 pause_waits(const struct floodgate_slot *slot)
{
	u64 held = atomic64_read(&slot->dest->held);

	if (slot->q->config.mode == FLOODGATE_MODE_PAUSE && !(slot->q->link & FLOODGATE_LINK_TAGS))
		held += slot->charged;
	return held;
}

/* Return: how many are not paused any more. */
static noinline unsigned int pause_release(struct floodgate_sched *q, struct floodgate_dest *dest)
{
	struct floodgate_origin *o;
	unsigned int n = 0;
	u16 handle;

	spin_lock(&dest->lock);
	for (; (handle = dest->pausing); n++) {
		o = &q->box->origins[handle - HOP_HANDLE_FIRST];
		WRITE_ONCE(dest->pausing, o->next_paused);
		hop_ingress_pause(&q->member, handle, false);
		smp_store_release(&o->paused, NULL);
	}
	spin_unlock(&dest->lock);
	hop_ingress_hold(&q->member, -(int)n);
	return n;
}

/**
 * floodgate_resume - less waits for a destination
 * @q: the qdisc
 * @slot: its slot; floodgate_dest.held was changed with full ordering
 */
void floodgate_resume(struct floodgate_sched *q, const struct floodgate_slot *slot)
{
	if (unlikely(READ_ONCE(slot->dest->pausing)) && pause_waits(slot) <= q->resume_bytes)
		pause_release(q, slot->dest);
}

static noinline void pause_origin(struct floodgate_sched *q, const struct floodgate_slot *slot,
				  u16 handle)
{
	struct floodgate_origin *o = &q->box->origins[handle - HOP_HANDLE_FIRST];
	struct floodgate_dest *dest = slot->dest, *owner;

	if (q->config.mode != FLOODGATE_MODE_PAUSE && !hop_origin_is_host(&q->member, handle))
		return;
	if (unlikely(hop_elided(&q->member, handle))) {
		q->stats.elided++;
		return;
	}
	spin_lock(&dest->lock);
	owner = cmpxchg(&o->paused, NULL, dest);
	if (!owner) {
		o->next_paused = dest->pausing;
		WRITE_ONCE(dest->pausing, handle);
		hop_ingress_hold(&q->member, 1);
		q->stats.pauses++;
	}
	/* again, too: a qdisc of another kind may have taken it away */
	if (!owner || owner == dest)
		hop_ingress_pause(&q->member, handle, true);
	spin_unlock(&dest->lock);
	smp_mb();	/* the list before what waits, as in floodgate_resume() */
	floodgate_resume(q, slot);
}

/**
 * floodgate_pause - a packet was queued: who has sent it may have to wait
 * @q: the qdisc
 * @skb: the packet
 */
void floodgate_pause(struct floodgate_sched *q, const struct sk_buff *skb)
{
	const struct floodgate_skb_cb *cb = floodgate_cb(skb);
	const struct floodgate_slot *slot;

	if (cb->slot == FLOODGATE_NO_SLOT || !cb->handle || q->member.stalled)
		return;
	slot = &q->slots[cb->slot];
	if (pause_waits(slot) > q->pause_bytes)
		pause_origin(q, slot, cb->handle);
}

/**
 * floodgate_pauses_end - nobody is paused any more for the qdisc's destinations
 * @q: the qdisc
 *
 * Return: how many were.
 */
unsigned int floodgate_pauses_end(struct floodgate_sched *q)
{
	const struct floodgate_slot *slot;
	unsigned int n = 0;

	for (slot = q->slots; slot < q->slots + q->config.slots; slot++)
		if (slot->dest && READ_ONCE(slot->dest->pausing))
			n += pause_release(q, slot->dest);
	return n;
}

/**
 * floodgate_pauses_look - thresholds may be others than before
 * @q: the qdisc
 */
void floodgate_pauses_look(struct floodgate_sched *q)
{
	const struct floodgate_slot *slot;

	if (!q->pauses) {
		floodgate_pauses_end(q);
		return;
	}
	for (slot = q->slots; slot < q->slots + q->config.slots; slot++)
		if (slot->dest)
			floodgate_resume(q, slot);
}

/* ---- what came by a link ---- */

/**
 * floodgate_count - a packet was queued: it counts against the port that it came by
 * @q: the qdisc
 * @skb: the packet
 */
void floodgate_count(struct floodgate_sched *q, const struct sk_buff *skb)
{
	struct floodgate_skb_cb *cb = floodgate_cb(skb);

	cb->link = hop_xoff_count(&q->stats.pfc, &q->member, &q->buffer,
				  q->config.pool_pause_alpha, skb, cb->handle, &q->stats.elided);
}

static bool pause_uncount(struct floodgate_sched *q, const struct sk_buff *skb)
{
	u16 link = floodgate_cb(skb)->link;

	floodgate_cb(skb)->link = 0;
	return hop_xoff_uncount(&q->stats.pfc, &q->member, &q->buffer,
				q->config.pool_pause_alpha, skb, link);
}

/**
 * floodgate_uncount - such a packet counts no more
 * @q: the qdisc
 * @skb: the packet, which has a floodgate_skb_cb.link
 */
void floodgate_uncount(struct floodgate_sched *q, const struct sk_buff *skb)
{
	pause_uncount(q, skb);
}

static unsigned int pause_uncount_list(struct floodgate_sched *q, const struct sk_buff *skb)
{
	unsigned int n = 0;

	for (; skb; skb = skb->next)
		if (floodgate_cb(skb)->link)
			n += pause_uncount(q, skb);
	return n;
}

/* Return: how many links are not paused any more. */
static unsigned int pause_uncount_all(struct floodgate_sched *q)
{
	const struct floodgate_voq *voq;
	unsigned int n;

	if (!q->stats.pfc.queued)
		return 0;
	n = pause_uncount_list(q, q->fifo.head);
	for (voq = q->voq; voq < q->voq + floodgate_voqs_made(q); voq++)
		n += pause_uncount_list(q, voq->packets.head);
	return n;
}

/* ---- pauses that we obey ---- */

/* All that is held is held by the link: a turn that a VOQ has here is somebody else's. */
static bool pause_link(struct floodgate_sched *q)
{
	u32 gen = hop_paused_begin(&q->member);
	struct floodgate_voq *voq;

	if (!hop_xoff_obey(&q->held, &q->member, ktime_get_ns()))
		return false;
	q->paused_seen = gen;
	list_for_each_entry(voq, &q->round, node)
		floodgate_pass_on(floodgate_first(q, voq));
	return true;
}

static void pause_changed(void *sched, u32 number, bool paused, u64 now)
{
	struct floodgate_sched *q = sched;

	floodgate_hold(&q->slots[number], paused);
}

/**
 * floodgate_obey - hold what the neighbour has paused since the last time, and let go the rest
 * @q: the qdisc
 */
void floodgate_obey(struct floodgate_sched *q)
{
	if (q->config.pfc && pause_link(q))
		return;
	q->paused_seen = hop_subqs_merge_paused(&q->member, q->paused, q->config.slots,
						pause_changed, q, 0);
}

/**
 * floodgate_catch_up - take over all that others have said since the last time
 * @q: the qdisc
 */
void floodgate_catch_up(struct floodgate_sched *q)
{
	if (floodgate_link(q) != q->link)
		floodgate_judge(q);
	if (hop_paused_changed(&q->member, q->paused_seen))
		floodgate_obey(q);
	floodgate_hear(q);
}

/* ---- what hopctl asks ---- */

static void floodgate_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct floodgate_sched *q = container_of(m, struct floodgate_sched, member);

	/* the first slot stands for all, and for the FIFO; nothing but control packets leaves */
	if (unlikely(READ_ONCE(q->held.on))) {
		w->waits = !queue && READ_ONCE(q->backlog);
		w->sent = READ_ONCE(q->held.times);
		return;
	}
	w->waits = READ_ONCE(q->slots[queue].backlog);
	w->sent = READ_ONCE(q->slots[queue].packets);
}

/* Nothing waits for the device, as of what was last taken over from others. */
static bool pause_none_ready(const struct floodgate_sched *q)
{
	return READ_ONCE(q->held.on) || (!READ_ONCE(q->fifo.head) && list_empty(&q->round));
}

/* A device that hangs takes over nothing, so what is new has to be looked at under the lock. */
static bool floodgate_held(const struct hop_member *m)
{
	const struct floodgate_sched *q = container_of(m, struct floodgate_sched, member);

	return pause_none_ready(q) && !READ_ONCE(q->news) &&
	       floodgate_link(q) == READ_ONCE(q->link) &&
	       !hop_paused_changed(m, READ_ONCE(q->paused_seen));
}

/* A qdisc whose packets wait for nobody but the device, and wait for too long. What its neighbour
 * has said was perhaps heard by nobody: the device does not ask.
 */
static unsigned int floodgate_withdraw(struct hop_member *m)
{
	struct floodgate_sched *q = container_of(m, struct floodgate_sched, member);
	unsigned int withdrawn = 0;

	sch_tree_lock(m->sch);
	floodgate_catch_up(q);
	if (hop_member_stalls(m, pause_none_ready(q))) {
		withdrawn = floodgate_pauses_end(q) + pause_uncount_all(q);
		q->stats.withdrawn += withdrawn;
	}
	sch_tree_unlock(m->sch);
	return withdrawn;
}

/* What is outstanding there uses up no window any more: others wait for it. */
static void floodgate_down(struct hop_member *m)
{
	struct floodgate_sched *q = container_of(m, struct floodgate_sched, member);

	if (floodgate_link(q) != q->link)
		floodgate_judge(q);
}

const struct hop_member_ops floodgate_member_ops = {
	.watch		= floodgate_watch,
	.held		= floodgate_held,
	.withdraw	= floodgate_withdraw,
	.down		= floodgate_down,
};
