// SPDX-License-Identifier: GPL-2.0-only
/*
 * rp.c - the reaction point (RoCC, sections 3.5 and 3.6)
 *
 * A flow that a congestion point told a rate has a limiter: a queue of its own whose packets go at
 * that rate, each at the earliest when the one before it has paid (its length / the rate). Due
 * packets join those of the flows without a limiter, in the child.
 *
 * Algorithm 2. A CNP is taken if it comes from the congestion point whose rate is in force, or
 * says less than that. When none is taken for the recovery time the rate doubles; a limiter that
 * has reached the full rate, and holds no packet, is removed. So a limiter lasts as long as it is
 * needed, and a lost CNP, a congestion point that restarts, or a route that changes cost no more
 * than a few recovery times.
 *
 * Sockets are held back, not their packets lost: a packet that waits belongs to its socket until
 * it leaves, and so it counts against the send buffer (UDP), the small queue (TCP), and what `gbn`
 * may have in its own host.
 *
 * Believing (see cnp_receive.c for what is found out before): only those allowed to say, with one
 * of the keys if there are any, of a flow that this qdisc sends: its limiter holds packets, or one
 * of it went by in the last ROCC_RECENT_NS. With keys what was heard before is not believed again
 * (heard.h). The floor and the recovery time bound what a forgery does; who has a key may go below
 * the floor, to the least rate of the congestion point: that of this host is no measure for a slow
 * link far away.
 *
 * Flows that were sent share places by their hash, so that it costs one store to remember one.
 * With as many of them as there may be limiters every ninth place is another flow's, until the
 * next packet of it.
 *
 * Cost. Without limiters: one hash and one store for each packet. With them a lookup in a hash
 * table and, for a packet that has to wait, a place in a tree of those that wait.
 *
 * A GSO packet of a flow with a limiter is cut into frames, unless told not to. As a whole it would
 * leave at the link's speed, and the queue of the switch would jump by its size, which is much of
 * the reference length. GSO packets of other flows stay whole.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../sched/admit.h"
#include "../sched/control.h"
#include "rocc.h"

#define ROCC_COST_SHIFT		20		/* bits of ns_per_byte behind the point */
#define ROCC_PACE_MAX		(1ULL << 46)	/* bytes per second: no time at all */
#define ROCC_CATCH_UP_NS	(100 * NSEC_PER_USEC)	/* a late timer costs no rate, up to this */
#define ROCC_RECOVERY_MIN_NS	55000U		/* auto: the authors' */
#define ROCC_RECOVERY_MILLI	1375		/* auto: of T / 1000; the authors' 55 us / 40 us */
#define ROCC_FLOOR_PART		1000		/* auto: of the rate */
#define ROCC_RELEASES		4		/* packets that come due in one dequeue */
#define ROCC_BUDGET		64		/* limiters that one call of the timer looks at */
#define ROCC_FLOW_SHARE		4		/* one flow may hold a quarter of the limit */
#define ROCC_RECENT_SHIFT	20		/* units of its times: about 1 ms */

static struct kmem_cache *rocc_limiters;

/* ---- flows that were sent ---- */

static u64 rocc_recent_entry(u32 hash, u64 now)
{
	return (u64)hash << 32 | (u32)(now >> ROCC_RECENT_SHIFT);
}

static void rocc_recent_note(struct rocc_rp *h, u32 hash, u64 now)
{
	WRITE_ONCE(h->recent[hash & h->recent_mask], rocc_recent_entry(hash, now));
}

static bool rocc_recent_has(const struct rocc_rp *h, u32 hash, u64 now)
{
	u64 entry = READ_ONCE(h->recent[hash & h->recent_mask]);

	return entry >> 32 == hash &&
	       (u32)(now >> ROCC_RECENT_SHIFT) - (u32)entry <= ROCC_RECENT_NS >> ROCC_RECENT_SHIFT;
}

/* ---- limiters ---- */

static struct rocc_limiter *rocc_limiter_find(const struct rocc_rp *h, const struct cnp_flow *id,
					      u32 hash)
{
	struct rocc_limiter *l;

	hlist_for_each_entry(l, &h->chains[hash & h->hash_mask], chain)
		if (l->hash == hash && rocc_flow_same(&l->id, id))
			return l;
	return NULL;
}

static void rocc_limiter_charge(struct rocc_limiter *l, u32 bytes, u64 from)
{
	l->next_ns = from + (bytes * l->ns_per_byte >> ROCC_COST_SHIFT);
	l->sent++;
	l->sent_bytes += bytes;
}

static void rocc_watch(struct rocc_rp *h)
{
	struct timerqueue_node *first = timerqueue_getnext(&h->releases);

	if (first)
		qdisc_watchdog_schedule_ns(&h->watchdog, first->expires);
}

static void rocc_limiter_wait(struct rocc_rp *h, struct rocc_limiter *l)
{
	l->release.expires = l->next_ns;
	timerqueue_add(&h->releases, &l->release);
}

/* What it still owes is paid at the new pace. */
static void rocc_limiter_pace(struct rocc_rp *h, struct rocc_limiter *l, u64 pace, u64 now)
{
	u64 old = l->pace;

	l->pace = pace;
	l->ns_per_byte = div64_u64((u64)NSEC_PER_SEC << ROCC_COST_SHIFT, pace);
	if (l->next_ns <= now || old == pace)
		return;
	l->next_ns = now + mul_u64_u64_div_u64(l->next_ns - now, old, pace);
	if (l->head) {
		timerqueue_del(&h->releases, &l->release);
		rocc_limiter_wait(h, l);
	}
}

static void rocc_limiter_set(struct rocc_rp *h, struct rocc_limiter *l, u64 rate, u64 now)
{
	l->rate = rate;
	rocc_limiter_pace(h, l, rate, now);
}

static void rocc_arm(struct rocc_rp *h, u64 at)
{
	if (at >= h->armed_ns)
		return;
	h->armed_ns = at;
	hrtimer_start(&h->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_PINNED_SOFT);
}

/* The tree is not touched for each CNP: an entry that is too early is put back when it comes up. */
static void rocc_limiter_rest(struct rocc_rp *h, struct rocc_limiter *l, u64 now)
{
	l->deadline_ns = now + l->recovery_ns;
	if (!RB_EMPTY_NODE(&l->recovery.node)) {
		if (l->recovery.expires <= l->deadline_ns)
			return;
		timerqueue_del(&h->recoveries, &l->recovery);
	}
	l->recovery.expires = l->deadline_ns;
	timerqueue_add(&h->recoveries, &l->recovery);
	rocc_arm(h, l->deadline_ns);
}

static struct rocc_limiter *rocc_limiter_make(struct rocc_rp *h, const struct cnp_flow *id,
					      u32 hash, u64 now)
{
	u32 slots = rocc_of_rp(h)->config.limiters;
	struct rocc_limiter *l;

	if (h->stats.limiters >= slots)
		return NULL;
	l = kmem_cache_zalloc(rocc_limiters, GFP_ATOMIC);
	if (!l)
		return NULL;
	l->slot = h->free_slots[h->stats.limiters++];
	h->stats.limiters_max = max(h->stats.limiters_max, h->stats.limiters);
	h->slots[l->slot] = l;
	l->id = *id;
	l->hash = hash;
	l->born_ns = now;
	l->seen_ns = now;
	timerqueue_init(&l->release);
	timerqueue_init(&l->recovery);
	hlist_add_head(&l->chain, &h->chains[hash & h->hash_mask]);
	return l;
}

static void rocc_limiter_free(struct rocc_rp *h, struct rocc_limiter *l)
{
	hlist_del(&l->chain);
	if (!RB_EMPTY_NODE(&l->recovery.node))
		timerqueue_del(&h->recoveries, &l->recovery);
	if (l->head)
		timerqueue_del(&h->releases, &l->release);
	rtnl_kfree_skbs(l->head, l->tail);
	h->stats.held -= l->backlog;
	h->slots[l->slot] = NULL;
	h->free_slots[--h->stats.limiters] = l->slot;
	kmem_cache_free(rocc_limiters, l);
}

/* TIMER_EXPIRED of Algorithm 2. At the full rate the limiter of who sends all that the link takes
 * is never empty. So what it holds goes ever faster then, but not at once: a CNP that comes soon
 * is to find most of it here, not in the card's queue.
 */
static void rocc_limiter_recover(struct rocc_rp *h, struct rocc_limiter *l, u64 now)
{
	if (l->rate < h->rate_max) {
		rocc_limiter_set(h, l, min(2 * l->rate, h->rate_max), now);
		l->raised++;
		h->stats.raised++;
	} else if (!l->head) {
		rocc_limiter_free(h, l);
		h->stats.removed++;
		return;
	} else if (l->pace < ROCC_PACE_MAX) {
		rocc_limiter_pace(h, l, 2 * l->pace, now);
	}
	rocc_limiter_rest(h, l, now);
}

static enum hrtimer_restart rocc_rp_timer(struct hrtimer *timer)
{
	struct rocc_rp *h = container_of(timer, struct rocc_rp, timer);
	struct timerqueue_node *node;
	u64 now = ktime_get_ns();
	struct rocc_limiter *l;
	int budget;

	spin_lock(&h->lock);
	h->armed_ns = U64_MAX;
	for (budget = ROCC_BUDGET; budget; budget--) {
		node = timerqueue_getnext(&h->recoveries);
		if (!node || node->expires > now)
			break;
		l = container_of(node, struct rocc_limiter, recovery);
		timerqueue_del(&h->recoveries, node);
		if (l->deadline_ns <= now) {
			rocc_limiter_recover(h, l, now);
		} else {
			node->expires = l->deadline_ns;
			timerqueue_add(&h->recoveries, node);
		}
	}
	node = timerqueue_getnext(&h->recoveries);
	if (node)
		rocc_arm(h, node->expires);
	rocc_watch(h);
	spin_unlock(&h->lock);
	return HRTIMER_NORESTART;
}

/* ---- CNPs ---- */

static bool rocc_prefix_has(const struct rocc_prefix *prefix, const struct in6_addr *address)
{
	struct in6_addr prefix_address;

	memcpy(&prefix_address, prefix->address, sizeof(prefix_address));
	return ipv6_prefix_equal(&prefix_address, address, prefix->bits);
}

static bool rocc_source_allowed(const struct rocc_config *c, const struct in6_addr *source)
{
	u8 i;

	for (i = 0; i < c->prefixes; i++)
		if (rocc_prefix_has(&c->from[i], source))
			return true;
	return !c->prefixes;
}

static bool rocc_tag_fits(const struct rocc_config *c, const struct rocc_packet *packet)
{
	u8 key = packet->cnp.key;

	return key && c->keys & BIT(key - 1) &&
	       rocc_cnp_tag((void *)packet->message, packet->len, &c->key[key - 1]) ==
	       packet->cnp.tag;
}

/* Section 3.6: the rate from what a CNP says of the queue, bytes per second */
static u64 rocc_rate_of(const struct cnp *cnp)
{
	const struct cnp_queue *s = &cnp->state;
	struct rocc_rate r = {
		.rate = cnp->rate * 1000ULL << ROCC_FRACTION, .q_old = s->q_old,
	};
	struct rocc_law law = {
		.rate_min = cnp->rate_min * 1000ULL << ROCC_FRACTION,
		.rate_max = s->rate_max * 1000ULL << ROCC_FRACTION,
		.alpha = s->alpha, .beta = s->beta,
		.q_ref = s->q_ref, .q_mid = s->q_mid, .q_max = s->q_max,
		.smooth = s->tuning == ROCC_TUNING_SMOOTH,
	};

	if (cnp->code == ROCC_CNP_RATE)
		return cnp->rate * 125ULL;
	r.rate = clamp(r.rate, law.rate_min, law.rate_max);
	return rocc_rate_next(&r, &law, s->q_cur) / 8;
}

static bool rocc_limiter_is_of(const struct rocc_limiter *l, const struct cnp *cnp)
{
	return l->cp_port == cnp->port && l->cp_queue == cnp->queue &&
	       !memcmp(l->cp_address, cnp->address, sizeof(l->cp_address));
}

/* A limiter alone does not say so: the flow may go out of another port by now. */
static bool rocc_rp_sends(const struct rocc_rp *h, const struct rocc_limiter *l, u32 hash,
			  u64 now)
{
	if (l && (l->head || now - l->seen_ns <= ROCC_RECENT_NS))
		return true;
	return rocc_recent_has(h, hash, now);
}

static u32 rocc_recovery_ns(const struct rocc_config *c, const struct cnp *cnp)
{
	u64 ns = div_u64((u64)max(cnp->gap, cnp->interval) * ROCC_RECOVERY_MILLI, 1000);

	ns = c->recovery_ns ?: max_t(u64, ns, ROCC_RECOVERY_MIN_NS);
	return min_t(u64, ns, c->hold_ns);
}

/* What a CNP that is believed may say at the least, bytes per second */
static u64 rocc_floor(struct rocc_rp *h, const struct cnp *cnp)
{
	if (!rocc_of_rp(h)->config.keys)
		return h->floor;
	return min(h->floor, cnp->rate_min * 125ULL);
}

/* PROCESS_CNP of Algorithm 2 */
static void rocc_rp_process(struct rocc_rp *h, struct rocc_limiter *l, const struct cnp *cnp,
			    u32 hash, u64 now)
{
	const struct rocc_config *c = &rocc_of_rp(h)->config;
	u64 rate = clamp(rocc_rate_of(cnp), rocc_floor(h, cnp), h->rate_max);

	if (!l && rate >= h->rate_max) {
		h->stats.not_needed++;
		return;
	}
	if (l && rocc_limiter_is_of(l, cnp)) {
		if (!rocc_cnp_is_newer(cnp, l->cp_epoch, l->cp_sequence)) {
			h->stats.stale++;
			return;
		}
	} else if (l && rate > l->rate) {
		h->stats.higher++;
		return;
	}
	if (!l) {
		l = rocc_limiter_make(h, &cnp->flow, hash, now);
		if (!l) {
			h->stats.full++;
			return;
		}
	}
	rocc_limiter_set(h, l, rate, now);
	memcpy(l->cp_address, cnp->address, sizeof(l->cp_address));
	l->cp_port = cnp->port;
	l->cp_queue = cnp->queue;
	l->cp_epoch = cnp->epoch;
	l->cp_sequence = cnp->sequence;
	l->recovery_ns = rocc_recovery_ns(c, cnp);
	l->accepted_ns = now;
	l->accepted++;
	h->stats.accepted++;
	rocc_limiter_rest(h, l, now);
	rocc_watch(h);
}

/**
 * rocc_rp_take - a CNP has come
 * @h: who might send the flow
 * @packet: the CNP
 * @now: time
 *
 * Context: BH. Return: ROCC_ACCEPTED if it is believed, whatever is made of it; or why not.
 */
enum rocc_refusal rocc_rp_take(struct rocc_rp *h, struct rocc_packet *packet, u64 now)
{
	const struct rocc_config *c = &rocc_of_rp(h)->config;
	enum rocc_refusal verdict = ROCC_ACCEPTED;
	enum rocc_freshness fresh = ROCC_FRESH;
	const struct cnp *cnp = &packet->cnp;
	u32 hash = rocc_flow_hash(&cnp->flow, h->seed);
	struct rocc_limiter *l;

	spin_lock(&h->lock);
	l = rocc_limiter_find(h, &cnp->flow, hash);
	if (packet->hops > c->radius)
		verdict = ROCC_BAD_TTL;
	else if (!rocc_source_allowed(c, &packet->source))
		verdict = ROCC_BAD_SOURCE;
	else if (!rocc_rp_sends(h, l, hash, now))
		verdict = ROCC_BAD_FLOW;
	else if (c->keys && !rocc_tag_fits(c, packet))
		verdict = ROCC_BAD_TAG;
	else if (c->keys)
		fresh = rocc_cnp_judge(packet, now);
	if (fresh == ROCC_STALE)
		h->stats.stale++;
	else if (verdict == ROCC_ACCEPTED && !rocc_cnp_in_flight(packet))
		verdict = ROCC_BAD_SEQUENCE;
	else if (verdict == ROCC_ACCEPTED)
		rocc_rp_process(h, l, cnp, hash, now);
	h->stats.epoch_back += fresh == ROCC_FRESH_BACK;
	spin_unlock(&h->lock);
	return verdict;
}

/* ---- packets ---- */

/**
 * enum rocc_turn - what becomes of a packet that comes
 * @ROCC_GOES: into the child, at once
 * @ROCC_WAITS: with its limiter, which has it now
 * @ROCC_DROPPED: there is too much, here or with its limiter
 * @ROCC_CUT: it has a limiter, and has to be cut into frames first
 */
enum rocc_turn {
	ROCC_GOES,
	ROCC_WAITS,
	ROCC_DROPPED,
	ROCC_CUT,
};

static enum rocc_turn rocc_limiter_put(struct rocc_rp *h, struct rocc_limiter *l,
				       struct sk_buff *skb, u64 now)
{
	u32 len = qdisc_pkt_len(skb);

	if (skb_is_gso(skb) && rocc_of_rp(h)->config.split_gso)
		return ROCC_CUT;
	l->seen_ns = now;
	if (!l->head && l->next_ns <= now) {
		rocc_limiter_charge(l, len, now);
		return ROCC_GOES;
	}
	if (unlikely(l->backlog + len > rocc_of_rp(h)->config.limit / ROCC_FLOW_SHARE))
		return ROCC_DROPPED;
	skb->next = NULL;
	if (l->head) {
		l->tail->next = skb;
	} else {
		l->head = skb;
		rocc_limiter_wait(h, l);
	}
	l->tail = skb;
	l->qlen++;
	l->backlog += len;
	h->stats.held += len;
	h->stats.delayed++;
	return ROCC_WAITS;
}

static __always_inline enum rocc_turn rocc_rp_turn(struct Qdisc *sch, struct sk_buff *skb,
						   const struct cnp_flow *id, u32 hash, u64 now)
{
	struct rocc_sched *q = qdisc_priv(sch);
	enum rocc_turn turn = ROCC_GOES;
	struct rocc_rp *h = &q->rp;
	struct rocc_limiter *l;

	if (unlikely(sch->qstats.backlog + qdisc_pkt_len(skb) > q->config.limit))
		return ROCC_DROPPED;
	if (!READ_ONCE(h->stats.limiters))
		return ROCC_GOES;
	spin_lock(&h->lock);
	l = rocc_limiter_find(h, id, hash);
	if (l)
		turn = rocc_limiter_put(h, l, skb, now);
	spin_unlock(&h->lock);
	return turn;
}

/* It goes, waits, or is dropped. Return: as ->enqueue() */
static __always_inline int rocc_rp_admit(struct sk_buff *skb, struct Qdisc *sch,
					 enum rocc_turn turn, u32 len, u64 now,
					 struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	int err;

	if (unlikely(turn == ROCC_DROPPED)) {
		spin_lock(&q->rp.lock);
		q->rp.stats.drop_limit++;
		spin_unlock(&q->rp.lock);
		return qdisc_drop(skb, sch, to_free);
	}
	if (turn == ROCC_GOES) {
		err = qdisc_enqueue(skb, q->child, to_free);
		if (unlikely(err != NET_XMIT_SUCCESS)) {
			if (net_xmit_drop_count(err))
				qdisc_qstats_drop(sch);
			return err;
		}
	}
	rocc_backlog_moves(sch, q, now);
	sch->qstats.backlog += len;
	sch->q.qlen++;
	rocc_backlog_peak(sch, q);
	return NET_XMIT_SUCCESS;
}

/* All frames are of the packet's flow, also those that do not say so, such as fragments. The
 * limiter may go meanwhile, and some of the frames may find no room. Return: as ->enqueue(). If no
 * frame is with us, what the last one got: a child may have passed all of them on.
 */
static noinline int rocc_rp_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
					const struct cnp_flow *id, u32 hash, u64 now,
					struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct sk_buff *frame = hop_admit_segments(skb), *next;
	u32 bytes, len = qdisc_pkt_len(skb);
	struct hop_admitted done = {};
	int err = NET_XMIT_DROP;

	spin_lock(&q->rp.lock);
	q->rp.stats.gso_split += !!frame;
	q->rp.stats.drop_gso += !frame;
	spin_unlock(&q->rp.lock);
	if (unlikely(!frame))
		return qdisc_drop(skb, sch, to_free);
	consume_skb(skb);
	skb_list_walk_safe(frame, frame, next) {
		skb_mark_not_on_list(frame);
		bytes = qdisc_pkt_len(frame);
		err = rocc_rp_admit(frame, sch, rocc_rp_turn(sch, frame, id, hash, now), bytes,
				    now, to_free);
		if (likely(err == NET_XMIT_SUCCESS))
			done = hop_admitted_sum(done, hop_admitted_one(bytes));
	}
	return done.queued ? hop_admit_verdict(sch, done, len) : err;
}

int rocc_rp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u32 len = qdisc_pkt_len(skb), hash = 0;
	u64 now = ktime_get_ns();
	struct cnp_flow id;
	enum rocc_turn turn;
	int err;

	if (unlikely(hop_is_control(skb, hop_network(skb), q->config.control_dscp))) {
		err = rocc_enqueue_control(skb, sch, to_free);
		if (err != ROCC_GOES_ON)
			return err;
	}
	if (likely(rocc_flow_of(skb, &id))) {
		hash = rocc_flow_hash(&id, q->rp.seed);
		rocc_recent_note(&q->rp, hash, now);
		turn = rocc_rp_turn(sch, skb, &id, hash, now);
	} else {
		q->stats.no_flow++;
		turn = sch->qstats.backlog + len > q->config.limit ? ROCC_DROPPED : ROCC_GOES;
	}
	if (unlikely(turn == ROCC_CUT))
		return rocc_rp_enqueue_gso(skb, sch, &id, hash, now, to_free);
	return rocc_rp_admit(skb, sch, turn, len, now, to_free);
}

/* Packets that are due. Return: a list of them. */
static struct sk_buff *rocc_rp_due(struct rocc_rp *h, u64 now)
{
	struct sk_buff *due = NULL, **end = &due, *skb;
	struct timerqueue_node *node;
	struct rocc_limiter *l;
	int left;

	spin_lock(&h->lock);
	for (left = ROCC_RELEASES; left; left--) {
		node = timerqueue_getnext(&h->releases);
		if (!node || node->expires > now)
			break;
		l = container_of(node, struct rocc_limiter, release);
		timerqueue_del(&h->releases, node);
		skb = l->head;
		l->head = skb->next;
		skb_mark_not_on_list(skb);
		l->qlen--;
		l->backlog -= qdisc_pkt_len(skb);
		h->stats.held -= qdisc_pkt_len(skb);
		rocc_limiter_charge(l, qdisc_pkt_len(skb),
				    max(l->next_ns, now - ROCC_CATCH_UP_NS));
		if (l->head)
			rocc_limiter_wait(h, l);
		*end = skb;
		end = &skb->next;
	}
	spin_unlock(&h->lock);
	return due;
}

/* They are counted in our length already, so what the child does not keep is taken off. */
static void rocc_rp_release(struct Qdisc *sch, struct rocc_sched *q, u64 now)
{
	struct sk_buff *skb = rocc_rp_due(&q->rp, now), *next, *to_free = NULL;
	u32 len;
	int err;

	skb_list_walk_safe(skb, skb, next) {
		skb_mark_not_on_list(skb);
		len = qdisc_pkt_len(skb);
		err = qdisc_enqueue(skb, q->child, &to_free);
		if (likely(err == NET_XMIT_SUCCESS))
			continue;
		rocc_backlog_moves(sch, q, now);
		sch->qstats.backlog -= len;
		sch->q.qlen--;
		qdisc_tree_reduce_backlog(sch, 1, len);
		if (net_xmit_drop_count(err))
			qdisc_qstats_drop(sch);
	}
	if (unlikely(to_free))
		kfree_skb_list_reason(to_free, SKB_DROP_REASON_QDISC_DROP);
}

struct sk_buff *rocc_rp_dequeue(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_rp *h = &q->rp;
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (READ_ONCE(h->stats.held))
		rocc_rp_release(sch, q, now);
	skb = rocc_dequeue_child(sch, q, now);
	if (!skb && READ_ONCE(h->stats.held)) {
		spin_lock(&h->lock);
		rocc_watch(h);
		spin_unlock(&h->lock);
	}
	return skb;
}

/* ---- configuration ---- */

/**
 * rocc_rp_apply - put options, or the link's speed, into force
 * @sch: the qdisc
 * @h: the reaction point
 * @c: what the options say
 *
 * Context: RTNL, and the tree is locked or the qdisc not yet in use.
 */
void rocc_rp_apply(struct Qdisc *sch, struct rocc_rp *h, const struct rocc_config *c)
{
	u64 rate = max_t(u64, rocc_speed(sch, c) / 8, 1);

	spin_lock_bh(&h->lock);
	rocc_of_rp(h)->config = *c;
	h->rate_max = rate;
	h->floor = min(c->floor ?: max_t(u64, div_u64(rate, ROCC_FLOOR_PART), 125), rate);
	spin_unlock_bh(&h->lock);
}

/**
 * rocc_rp_init - a new reaction point
 * @sch: its qdisc
 * @h: the reaction point, all 0
 * @c: what the options say
 *
 * rocc_rp_destroy() may be called whatever it returns. Return: 0 or -ENOMEM.
 */
int rocc_rp_init(struct Qdisc *sch, struct rocc_rp *h, const struct rocc_config *c)
{
	u32 chains = roundup_pow_of_two(c->limiters), recent, i;

	recent = max_t(u32, ROCC_RECENT_EACH * chains, ROCC_RECENT_LEAST);
	spin_lock_init(&h->lock);
	INIT_LIST_HEAD(&h->node);
	timerqueue_init_head(&h->releases);
	timerqueue_init_head(&h->recoveries);
	qdisc_watchdog_init(&h->watchdog, sch);
	hrtimer_init(&h->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_SOFT);
	h->timer.function = rocc_rp_timer;
	h->armed_ns = U64_MAX;
	h->seed = get_random_u32();
	rocc_rp_apply(sch, h, c);
	h->hash_mask = chains - 1;
	h->chains = kvcalloc(chains, sizeof(*h->chains), GFP_KERNEL);
	h->slots = kvcalloc(c->limiters, sizeof(*h->slots), GFP_KERNEL);
	h->free_slots = kvcalloc(c->limiters, sizeof(*h->free_slots), GFP_KERNEL);
	h->recent_mask = recent - 1;
	h->recent = kvcalloc(recent, sizeof(*h->recent), GFP_KERNEL);
	if (!h->chains || !h->slots || !h->free_slots || !h->recent)
		return -ENOMEM;
	for (i = 0; i < c->limiters; i++)
		h->free_slots[i] = i;
	return 0;
}

/* All limiters go, and what they hold; timers find nothing then. */
void rocc_rp_reset(struct rocc_rp *h)
{
	struct timerqueue_node *node;

	spin_lock_bh(&h->lock);
	while ((node = timerqueue_getnext(&h->recoveries)))
		rocc_limiter_free(h, container_of(node, struct rocc_limiter, recovery));
	spin_unlock_bh(&h->lock);
	qdisc_watchdog_cancel(&h->watchdog);
}

void rocc_rp_destroy(struct rocc_rp *h)
{
	if (!h->timer.function)
		return;
	rocc_rp_reset(h);
	hrtimer_cancel(&h->timer);
	kvfree(h->recent);
	kvfree(h->free_slots);
	kvfree(h->slots);
	kvfree(h->chains);
}

int rocc_rp_module_init(void)
{
	rocc_limiters = KMEM_CACHE(rocc_limiter, 0);
	return rocc_limiters ? 0 : -ENOMEM;
}

void rocc_rp_module_exit(void)
{
	kmem_cache_destroy(rocc_limiters);
}
