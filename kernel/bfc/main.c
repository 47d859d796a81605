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
 *   Pausing by ingress, as priority flow control does, for comparison. `pause ingress` counts not
 *   what a sub-queue here holds but what came from each upstream sub-queue, wherever on this
 *   box it waits, and pauses that one while it is more than a share of what is free.
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
 *   bfc_reciprocals[]               module init              anyone
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/flow_dissector.h>
#include <net/gso.h>
#include <net/ip.h>

#include "../sched/drr.h"
#include "../sched/headers.h"
#include "../sched/parse.h"
#include "../sched/pool.h"
#include "../sched/threshold.h"
#include "bfc.h"

#define CREATE_TRACE_POINTS
#include "../sched/trace_bfc.h"

static u64 bfc_reciprocals[HOP_RECIPROCALS + 1] __read_mostly;

/* ---- threshold ---- */

/* Bytes of a frame of full size */
static u32 bfc_frame(const struct bfc_sched *q)
{
	return q->member.sch ? psched_mtu(qdisc_dev(q->member.sch)) : ETH_FRAME_LEN;
}

/* The link's speed or the measured HRTT has changed, or the options have. */
void bfc_recompute(struct bfc_sched *q, u32 hrtt_ns, u32 speed)
{
	const struct bfc_config *c = &q->config;

	q->n_seen = BFC_N_UNKNOWN;
	q->frame_seen = bfc_frame(q);
	q->hrtt_seen = hrtt_ns;
	q->speed_seen = speed;
	q->rate = c->rate ? c->rate : speed ? hop_speed_bytes(speed) : BFC_RATE_UNKNOWN;
	q->bdp = hop_bdp_scale(hop_bdp_bound(hop_bdp_bytes(q->rate, hrtt_ns, 100), bfc_room(c),
					     hop_bdp_bytes(q->rate, c->hrtt_ns, 100)),
			       c->th_scale);
	q->sticky_ns = c->sticky_ns ? c->sticky_ns : BFC_STICKY_HRTTS * hrtt_ns;
	q->sticky_time = hop_flow_time_up(q->sticky_ns);
	hop_police_set(&q->police, q->rate, c->control_share, q->frame_seen);
}

void bfc_follow_link(struct bfc_sched *q)
{
	u32 hrtt_ns = READ_ONCE(*q->member.hrtt_ns);
	u32 speed = READ_ONCE(*q->member.speed);

	if (unlikely(hrtt_ns != q->hrtt_seen || speed != q->speed_seen))
		bfc_recompute(q, hrtt_ns, speed);
}

/* Of what was computed the MTU says only what control packets may owe: data need not look at it. */
static void bfc_follow_mtu(struct bfc_sched *q)
{
	if (unlikely(bfc_frame(q) != q->frame_seen))
		bfc_recompute(q, q->hrtt_seen, q->speed_seen);
}
u32 bfc_threshold(const struct Qdisc *sch, const struct bfc_sched *q, u32 n_active)
{
	u32 th;

	if (q->config.th)
		return q->config.th;
	th = hop_threshold(q->bdp, bfc_reciprocals[clamp_t(u32, n_active, 1, HOP_RECIPROCALS)]);
	return max(th, psched_mtu(qdisc_dev(sch)));
}

/* The same for who asks whether it is exceeded, which is each packet: it holds as long as N_active
 * and the link do. Of a MTU that was changed since, a larger one is seen by who exceeds it, who
 * looks again, and a smaller one with the next change of N_active. To pause by ingress each packet
 * exceeds it; to pause nobody none does.
 */
static noinline void bfc_rethink(const struct Qdisc *sch, struct bfc_sched *q, u32 n_active)
{
	q->n_seen = n_active;
	q->th = bfc_threshold(sch, q, n_active);
	q->stats.th_max = max(q->stats.th_max, q->th);
	if (q->config.pause == BFC_PAUSE_INGRESS)
		q->th = 0;
	else if (!q->config.pause)
		q->th = U32_MAX;
}

/* ---- sub-queues: ready, free, longest ---- */

/* A sub-queue's number within its class. */
static u32 bfc_queue_number(const struct bfc_sched *q, const struct bfc_queue *sub)
{
	return sub - q->queues - bfc_queue_class(q, sub)->first;
}

static void bfc_queue_ready(struct bfc_sched *q, struct bfc_queue *sub)
{
	hop_bitset_add(&bfc_queue_class(q, sub)->ready, bfc_queue_number(q, sub));
	hop_active_add(&q->member, 1);
}

static void bfc_queue_unready(struct bfc_sched *q, struct bfc_queue *sub)
{
	hop_bitset_del(&bfc_queue_class(q, sub)->ready, bfc_queue_number(q, sub));
	hop_active_add(&q->member, -1);
}

/* A sub-queue enters and leaves the list of idle ones with each packet that meets an empty one. So
 * here, and nowhere else, this is without what distributions' kernels check in list_add_tail() and
 * list_del(), which would be a large part of what such a packet costs. A sub-queue that is in no
 * list points to itself.
 */
static void bfc_queue_link(struct bfc_queue *sub, struct list_head *list)
{
	struct list_head *last = list->prev;

	sub->node.next = list;
	sub->node.prev = last;
	list->prev = &sub->node;
	WRITE_ONCE(last->next, &sub->node);
}

static void bfc_queue_unlink(struct bfc_queue *sub)
{
	__list_del(sub->node.prev, sub->node.next);
	INIT_LIST_HEAD(&sub->node);
}

/* An empty sub-queue may be given to any flow from now on. */
static void bfc_queue_release(struct bfc_sched *q, struct bfc_queue *sub)
{
	bfc_queue_unlink(sub);
	hop_bitset_add(&bfc_queue_class(q, sub)->free, bfc_queue_number(q, sub));
	if (q->config.share == BFC_SHARE_SPARE)
		hop_holders_release(&bfc_queue_class(q, sub)->holders, sub - q->queues);
}

/* An empty sub-queue may be given to no flow while it is paused: it is neither free nor idle. */
static void bfc_queue_withhold(struct bfc_sched *q, struct bfc_queue *sub, u64 now)
{
	hop_bitset_del(&bfc_queue_class(q, sub)->free, bfc_queue_number(q, sub));
	list_del_init(&sub->node);
	sub->last_ns = now;
}

/* An empty sub-queue is not paused any more. The flows that it was paused for may come back. */
static void bfc_queue_idle(struct bfc_sched *q, struct bfc_queue *sub, u64 now)
{
	sub->last_ns = now;	/* the list of idle ones stays in this order */
	list_add_tail(&sub->node, &bfc_queue_class(q, sub)->idle);
}

static u8 bfc_bucket(u32 backlog)
{
	return min(fls(backlog), BFC_BUCKETS - 1);
}

/* Put the sub-queue where drops look for the longest. One that has grown out of its bucket has to
 * move at once; one that shrinks is moved when a drop comes across it, which costs packets that
 * come and go nothing. Nor does a packet that comes to an empty sub-queue, as most do on a link
 * that keeps up: it is put nowhere.
 */
void bfc_queue_rebucket(struct bfc_sched *q, struct bfc_queue *sub)
{
	sub->bucket = bfc_bucket(sub->backlog);
	list_move_tail(&sub->node, &q->buckets[sub->bucket]);
	q->buckets_used |= 1U << sub->bucket;
}

/* The longest sub-queue, or one at least half as long; NULL if all are short. Each one that is
 * moved down here was moved up by a packet before.
 */
static struct bfc_queue *bfc_longest(struct bfc_sched *q)
{
	struct bfc_queue *sub;
	int bucket;

	while (q->buckets_used) {
		bucket = fls(q->buckets_used) - 1;
		sub = list_first_entry_or_null(&q->buckets[bucket], struct bfc_queue, node);
		if (!sub)
			q->buckets_used &= ~(1U << bucket);
		else if (bfc_bucket(sub->backlog) == bucket)
			return sub;
		else
			bfc_queue_rebucket(q, sub);
	}
	return NULL;
}

static void bfc_queue_append(struct bfc_sched *q, struct bfc_queue *sub, struct sk_buff *skb,
			     u64 now)
{
	skb->next = NULL;
	if (sub->head) {
		sub->tail->next = skb;
	} else {
		sub->head = skb;
		sub->deficit = 0;
		sub->bucket = BFC_SHORT;
		if (!list_empty(&sub->node))
			bfc_queue_unlink(sub);
		else	/* free, or paused */
			hop_bitset_del(&bfc_queue_class(q, sub)->free, bfc_queue_number(q, sub));
		q->stats.backlogged++;
		if (!sub->paused)
			bfc_queue_ready(q, sub);
	}
	sub->tail = skb;
	sub->packets++;
	sub->backlog += qdisc_pkt_len(skb);
	if (sub->backlog > sub->backlog_max)
		sub->backlog_max = sub->backlog;
	if (unlikely(sub->backlog >> sub->bucket))
		bfc_queue_rebucket(q, sub);
}

static struct sk_buff *bfc_queue_pop(struct bfc_sched *q, struct bfc_queue *sub, u64 now)
{
	struct sk_buff *skb = sub->head;

	sub->head = skb->next;
	skb_mark_not_on_list(skb);
	sub->last_ns = now;
	sub->packets--;
	sub->backlog -= qdisc_pkt_len(skb);
	if (!sub->head) {
		q->stats.backlogged--;
		if (unlikely(sub->paused)) {	/* a drop */
			list_del_init(&sub->node);
			return skb;
		}
		bfc_queue_unready(q, sub);
		bfc_queue_unlink(sub);
		/* not free: some flow still counts on it */
		bfc_queue_link(sub, &bfc_queue_class(q, sub)->idle);
		if (q->config.reuse == BFC_REUSE_EMPTY)
			bfc_queue_release(q, sub);
	}
	return skb;
}

static void bfc_queue_pause(struct bfc_sched *q, struct bfc_queue *sub, u64 now)
{
	struct bfc_queue_stats *stats = &q->queue_stats[sub - q->queues];

	WRITE_ONCE(sub->paused, true);
	stats->paused_since = now;
	stats->pauses++;
	trace_bfc_pause(&q->member, sub - q->queues, sub->backlog, now, now);
	q->stats.pauses_obeyed++;
	q->stats.paused++;
	if (sub->head)
		bfc_queue_unready(q, sub);
	else
		bfc_queue_withhold(q, sub, now);
}

static void bfc_queue_resume(struct bfc_sched *q, struct bfc_queue *sub, u64 now)
{
	struct bfc_queue_stats *stats = &q->queue_stats[sub - q->queues];

	WRITE_ONCE(sub->paused, false);
	trace_bfc_resume(&q->member, sub - q->queues, sub->backlog, stats->paused_since, now);
	stats->paused_ns += now - stats->paused_since;
	q->stats.paused_ns += now - stats->paused_since;
	q->stats.resumes_obeyed++;
	q->stats.paused--;
	if (sub->head)
		bfc_queue_ready(q, sub);
	else if (q->config.reuse == BFC_REUSE_EMPTY)
		bfc_queue_release(q, sub);
	else
		bfc_queue_idle(q, sub, now);
}

/* Take over what the neighbour has paused and resumed since we last looked. */
void bfc_merge_paused(struct bfc_sched *q, u64 now)
{
	u32 left = q->config.queues;
	u64 bits, changed;
	unsigned int w, n;

	q->paused_seen = hop_paused_begin(&q->member);
	for (w = 0; left; w++, left -= min(left, 64U)) {
		bits = hop_paused_word(&q->member, w);
		if (left < 64)
			bits &= (1ULL << left) - 1;
		changed = bits ^ q->paused[w];
		q->paused[w] = bits;
		for (; changed; changed &= changed - 1) {
			n = __ffs64(changed);
			if (bits >> n & 1)
				bfc_queue_pause(q, &q->queues[w * 64 + n], now);
			else
				bfc_queue_resume(q, &q->queues[w * 64 + n], now);
		}
	}
}

/* ---- flows to sub-queues ---- */

/* The longest unused of a class's sub-queues that are empty, not paused, and may be counted on; or
 * NULL
 */
static struct bfc_queue *bfc_class_idlest(struct bfc_class *class)
{
	return list_first_entry_or_null(&class->idle, struct bfc_queue, node);
}

static bool bfc_queue_is_over(const struct bfc_sched *q, const struct bfc_queue *sub, u64 now)
{
	return now - sub->last_ns >= q->sticky_ns;
}

/* Sub-queues whose sticky time is over are held no more, the longest unused first, a few at a
 * time. If any was, there is a free one.
 */
static noinline void bfc_class_release_idle(struct bfc_sched *q, struct bfc_class *class, u64 now)
{
	struct bfc_queue *sub;
	int i;

	for (i = 0; i < BFC_IDLE_SCAN; i++) {
		sub = bfc_class_idlest(class);
		if (!sub || !bfc_queue_is_over(q, sub, now))
			break;
		bfc_queue_release(q, sub);
	}
}

/* One of a class's sub-queues, by lot */
static u32 bfc_class_lot(const struct bfc_class *class, u32 lot)
{
	return reciprocal_scale(lot * GOLDEN_RATIO_32, class->queues);
}

/* A sub-queue whose sticky time is over, or a free one, by @lot, or else the longest unused of
 * those that are empty and not paused.
 *
 * Return: its number, or BFC_NO_QUEUE.
 */
static __always_inline u32 bfc_class_unused(struct bfc_sched *q, struct bfc_class *class, u32 lot,
						    u64 now)
{
	struct bfc_queue *sub = bfc_class_idlest(class);
	u32 n;

	if (sub && likely(bfc_queue_is_over(q, sub, now))) {
		q->stats.assign_free++;
		return sub - q->queues;
	}
	n = hop_bitset_next(&class->free, bfc_class_lot(class, lot));
	if (n != HOP_BITSET_NONE) {
		q->stats.assign_free++;
		return class->first + n;
	}
	if (sub) {
		q->stats.assign_early++;
		return sub - q->queues;
	}
	return BFC_NO_QUEUE;
}

/* The shorter of two sub-queues */
static u32 bfc_shorter(const struct bfc_sched *q, u32 a, u32 b)
{
	return q->queues[b].backlog < q->queues[a].backlog ? b : a;
}

/* A new flow joins one of those that its destination holds: the shorter of two, in turn. */
static u32 bfc_class_own(struct bfc_sched *q, struct bfc_class *class, struct hop_place *place)
{
	u32 first = hop_holders_next(&class->holders, place);

	q->stats.assign_own++;
	return bfc_shorter(q, first, hop_holders_next(&class->holders, place));
}

/* Sub-queues have run out: the shorter of two that are not paused, or any. */
static u32 bfc_class_two(struct bfc_sched *q, const struct bfc_class *class, u32 lot)
{
	u32 a = bfc_class_lot(class, lot), b;

	q->stats.assign_shared++;
	if (hop_bitset_empty(&class->ready))
		return class->first + a;
	a = hop_bitset_next(&class->ready, a);
	b = hop_bitset_next(&class->ready, bfc_class_lot(class, lot * GOLDEN_RATIO_32));
	if (a == b)
		b = hop_bitset_next(&class->ready, a + 1 < class->queues ? a + 1 : 0);
	return bfc_shorter(q, class->first + a, class->first + b);
}

/* A header that does not lie in one piece */
static noinline u32 bfc_destination_scattered(const struct bfc_sched *q,
					      const struct bfc_class *class,
					      const struct sk_buff *skb, struct hop_network net)
{
	u32 room = clamp_t(int, skb->len - net.at, 0, HOP_PARSE_IPV6_BYTES);
	u8 buf[HOP_PARSE_IPV6_BYTES];

	if (skb_copy_bits(skb, net.at, buf, room))
		return 0;
	return hop_destination_hash(buf, room, net.type, class->first, &q->flow_secret);
}

/* A secret hash of where a packet goes in its class; 0 of what is not IP, and now and then of
 * what is
 */
static __always_inline u32 bfc_destination(const struct bfc_sched *q, const struct bfc_class *class,
					   const struct sk_buff *skb)
{
	struct hop_network net = hop_network(skb);
	int room = skb_headlen(skb) - net.at;
	u32 hash;

	hash = hop_destination_hash(skb->data + net.at, room, net.type, class->first,
				    &q->flow_secret);
	if (unlikely(!hash) && skb_is_nonlinear(skb))
		return bfc_destination_scattered(q, class, skb, net);
	return hash;
}

/* Sub-queues have run out: any. */
static u32 bfc_class_any(struct bfc_sched *q, const struct bfc_class *class, u32 lot)
{
	q->stats.assign_shared++;
	return class->first + bfc_class_lot(class, lot);
}

/* The flows of an incast, which wait for each other in any case, are to leave sub-queues for the
 * others: a destination that holds many gets no more, and if there is none left, who has some
 * shares those.
 */
static u32 bfc_class_spare(struct bfc_sched *q, struct bfc_class *class, const struct sk_buff *skb,
			   u32 lot, u64 now)
{
	u32 destination = bfc_destination(q, class, skb), queue;
	struct hop_place *place = hop_holders_place(&class->holders, destination);
	bool holds = destination && hop_place_holds(place, destination);

	if (holds && unlikely(!hop_place_may_grow(&class->holders, place, class->queues))) {
		bfc_class_release_idle(q, class, now);
		if (!hop_place_may_grow(&class->holders, place, class->queues))
			return bfc_class_own(q, class, place);
	}
	queue = bfc_class_unused(q, class, lot, now);
	if (unlikely(queue == BFC_NO_QUEUE))
		return holds ? bfc_class_own(q, class, place) : bfc_class_two(q, class, lot);
	if (likely(destination))
		hop_holders_hold(&class->holders, queue, place, destination);
	else
		hop_holders_release(&class->holders, queue);
	return queue;
}

/* A sub-queue for a new flow (section 3.3.1): a free one or, if there is none, the longest unused
 * of those that are empty and not paused or, if all are taken, any. Its hash and the time make it
 * another one each time that it comes. Towards a host all flows have one destination, and nothing
 * is ever paused: there nobody holds anything.
 */
static u32 bfc_class_pick(struct bfc_sched *q, struct bfc_class *class, const struct sk_buff *skb,
			  u32 hash, u64 now)
{
	bool spare = q->config.share == BFC_SHARE_SPARE;
	u32 lot = hash ^ (u32)now, queue;

	if (spare && !READ_ONCE(*q->member.to_host))
		return bfc_class_spare(q, class, skb, lot, now);
	queue = bfc_class_unused(q, class, lot, now);
	if (queue == BFC_NO_QUEUE)
		return bfc_class_any(q, class, lot);
	if (spare)
		hop_holders_release(&class->holders, queue);
	return queue;
}

/* All of a flow's set are alive: it is a guest where the shortest sub-queue is, a paused one
 * last.
 */
static struct hop_flow *bfc_flow_share(struct bfc_sched *q, struct hop_flow *set, u32 hash)
{
	const struct bfc_queue *sub, *best_sub = NULL;
	struct hop_flow *f, *best = NULL;

	q->stats.collisions++;
	for (f = set; f < set + q->config.ways; f++) {
		if (f->guest)
			continue;
		sub = &q->queues[f->queue];
		if (!best || sub->paused < best_sub->paused ||
		    (sub->paused == best_sub->paused && sub->backlog < best_sub->backlog)) {
			best = f;
			best_sub = sub;
		}
	}
	return hop_flow_join(best, set, q->config.ways, hash);
}

/* A flow comes back to a sub-queue that was free meanwhile, as each empty one is with `reuse
 * empty`.
 */
static noinline void bfc_flow_holds(struct bfc_sched *q, struct bfc_class *class,
				    const struct sk_buff *skb, u16 queue)
{
	u32 destination;

	if (hop_holders_has(&class->holders, queue))
		return;
	destination = bfc_destination(q, class, skb);
	if (destination)
		hop_holders_hold(&class->holders, queue,
				 hop_holders_place(&class->holders, destination), destination);
}

static __always_inline struct hop_flow *bfc_flow_set(const struct bfc_sched *q,
						     const struct bfc_class *class, u32 hash)
{
	return class->flows + hop_flow_set(hash, class->sets, q->config.ways);
}

/* The flow table entry of a packet, with a sub-queue assigned (section 3.3.1). */
static struct hop_flow *bfc_flow_find(struct bfc_sched *q, struct bfc_class *class,
				      const struct sk_buff *skb, u32 hash, u64 now)
{
	struct hop_flow *set = bfc_flow_set(q, class, hash), *flow;
	u32 time = hop_flow_time(now);

	switch (hop_flow_find(set, q->config.ways, hash, time, q->sticky_time, &flow)) {
	case HOP_FLOW_KNOWN:
		break;
	case HOP_FLOW_STICKY:
		q->stats.assign_sticky++;
		if (unlikely(q->config.share == BFC_SHARE_SPARE))
			bfc_flow_holds(q, class, skb, flow->queue);
		break;
	case HOP_FLOW_NEW:
		flow->queue = bfc_class_pick(q, class, skb, hash, now);
		break;
	case HOP_FLOW_FULL:
		flow = bfc_flow_share(q, set, hash);
		break;
	}
	return flow;
}

/* What the parser leaves. As there, a tunnel's outer header is the last, and the flow label is not
 * the flow's.
 */
static noinline u32 bfc_hash_dissect(const struct bfc_sched *q, const struct sk_buff *skb,
				     struct hop_network net)
{
	struct flow_keys keys;

	memset(&keys, 0, sizeof(keys));
	__skb_flow_dissect(NULL, skb, &flow_keys_dissector, &keys, skb->data, htons(net.type),
			   net.at, skb_headlen(skb), FLOW_DISSECTOR_F_STOP_AT_ENCAP);
	keys.tags.flow_label = 0;
	return (flow_hash_from_keys(&keys) ^ q->flow_secret.word[0]) * GOLDEN_RATIO_32 ^
	       net.vids * q->flow_secret.rest;
}

/* Headers that do not lie in one piece, or that are not for the parser */
static noinline u32 bfc_hash_scattered(const struct bfc_sched *q, const struct sk_buff *skb,
				       struct hop_network net)
{
	u32 room = clamp_t(int, skb->len - net.at, 0, HOP_PARSE_BYTES);
	u8 buf[HOP_PARSE_BYTES];
	struct hop_flow_id id;

	if (skb_is_nonlinear(skb) && !skb_copy_bits(skb, net.at, buf, room) &&
	    hop_parse_flow(buf, room, net.type, net.vids, &q->flow_secret, &id))
		return hop_flow_hash(&id, &q->flow_secret);
	return bfc_hash_dissect(q, skb, net);
}

/* A secret hash of what says which flow it is. A general dissection of the frame takes five times
 * as long. Of what this machine sends, as a rule, the headers alone lie in one piece.
 */
static __always_inline u32 bfc_hash(const struct bfc_sched *q, const struct sk_buff *skb,
				    struct hop_network net)
{
	int room = skb_headlen(skb) - net.at;
	struct hop_flow_id id;

	if (likely(hop_parse_flow(skb->data + net.at, room, net.type, net.vids, &q->flow_secret,
				  &id)))
		return hop_flow_hash(&id, &q->flow_secret);
	return bfc_hash_scattered(q, skb, net);
}

static struct bfc_queue *bfc_assign(struct bfc_sched *q, struct bfc_class *class,
				    struct sk_buff *skb, u32 hash, u64 now)
{
	struct bfc_skb_cb *cb = bfc_cb(skb);
	struct hop_flow *flow;

	cb->handle = 0;
	if (likely(q->config.assign == BFC_ASSIGN_DYNAMIC)) {
		flow = bfc_flow_find(q, class, skb, hash, now);
		if (!flow->packets++)
			q->queues[flow->queue].flows++;
		cb->flow = flow - q->flows;
		cb->queue = flow->queue;
	} else {
		cb->flow = BFC_NO_FLOW;
		cb->queue = class->first;
		if (q->config.assign == BFC_ASSIGN_STOCHASTIC)
			cb->queue += reciprocal_scale(hash, class->queues);
	}
	return &q->queues[cb->queue];
}

/* ---- the shared pool ---- */

static bool bfc_pool_allows(const struct bfc_sched *q, u64 held, u64 used)
{
	return hop_pool_allows(held, used, READ_ONCE(q->pool->size), q->config.pool_alpha);
}

/* May the one that so many bytes came from go on sending? */
static bool bfc_ingress_allows(const struct bfc_sched *q, u64 bytes)
{
	return hop_pool_allows(bytes, atomic_long_read(&q->pool->used), READ_ONCE(q->pool->size),
			       q->config.pool_pause_alpha);
}

/* Room for a packet, or false. A look goes first: what is refused, as a rule, writes nothing that
 * other processors use. Two that pass it at once may both be too much; who sees that steps back,
 * so that the pool never holds more than it may.
 */
static bool bfc_pool_take(struct bfc_sched *q, u32 len)
{
	struct hop_pool *pool = q->pool;
	u64 used;

	if (!bfc_pool_allows(q, q->pooled + len, atomic_long_read(&pool->used) + len))
		return false;
	used = hop_pool_take(pool, len);
	if (unlikely(!bfc_pool_allows(q, q->pooled + len, used))) {
		hop_pool_give(pool, len);
		return false;
	}
	hop_pool_high(pool, used);
	q->pooled += len;
	return true;
}

static void bfc_pool_give(struct bfc_sched *q, u32 len)
{
	hop_pool_give(q->pool, len);
	q->pooled -= len;
}

/* Another pool, or none. What is queued now moves along, also if it is too much: then nothing is
 * admitted until enough of it has left.
 */
void bfc_pool_switch(struct bfc_sched *q, struct hop_pool *pool)
{
	const struct bfc_queue *sub;

	if (pool == q->pool)
		return;
	if (q->pool)
		bfc_pool_give(q, q->pooled);
	q->pool = pool;
	if (!pool)
		return;
	for (sub = q->queues; sub < q->queues + q->config.queues; sub++) {
		q->pooled += sub->backlog;
		hop_pool_high(pool, hop_pool_take(pool, sub->backlog));
	}
}

#define BFC_XON_FRAMES	2	/* a pause by ingress ends that much below where it begins */

/* A marked packet lets go of what it holds. By ingress the rest of what came from there is looked
 * at whenever some of it leaves; when all of it has, nothing is paused for it, whatever is free.
 */
static void bfc_unhold(struct bfc_sched *q, struct sk_buff *skb)
{
	u16 handle = bfc_cb(skb)->handle;
	u32 bytes;

	bfc_cb(skb)->handle = 0;
	if (likely(q->config.pause != BFC_PAUSE_INGRESS)) {
		hop_pause_dec(&q->member, handle);
		return;
	}
	bytes = hop_ingress_sub(&q->member, handle, qdisc_pkt_len(skb));
	if (!bytes || bfc_ingress_allows(q, bytes + BFC_XON_FRAMES *
					 psched_mtu(qdisc_dev(q->member.sch))))
		hop_ingress_pause(&q->member, handle, false);
}

/* A packet leaves, in whatever way: its flow has one less, its room is free, its pause ends. */
static void bfc_forget(struct bfc_sched *q, struct sk_buff *skb, u64 now)
{
	const struct bfc_skb_cb *cb = bfc_cb(skb);
	struct hop_flow *flow;

	if (cb->flow != BFC_NO_FLOW) {
		flow = &q->flows[cb->flow];
		flow->last = hop_flow_time(now);
		if (!--flow->packets)
			q->queues[flow->queue].flows--;
	}
	if (q->pool)
		bfc_pool_give(q, qdisc_pkt_len(skb));
	if (cb->handle)
		bfc_unhold(q, skb);
}

/* ---- classification ---- */

/* The class that a class id names, or -1. */
int bfc_minor_class(const struct bfc_sched *q, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	if (minor == BFC_MINOR_CONTROL)
		return BFC_CLASS_CONTROL;
	return minor >= 1 && minor <= q->config.classes ? (int)minor - 1 : -1;
}

/* What tc filters say. A function of its own: the result on the stack would cost those that have no
 * filters a canary.
 *
 * Return: index of a class, BFC_CLASS_ANY, or the negated verdict: the packet is not to be queued.
 */
static noinline int bfc_filter(struct sk_buff *skb, struct bfc_sched *q,
			       const struct tcf_proto *filter)
{
	struct tcf_result res;
	int class;

	switch (tcf_classify(skb, NULL, filter, &res, false)) {
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		return -(NET_XMIT_SUCCESS | __NET_XMIT_STOLEN);
	case TC_ACT_SHOT:
		return -(NET_XMIT_SUCCESS | __NET_XMIT_BYPASS);
	case TC_ACT_UNSPEC:
		return BFC_CLASS_ANY;
	}
	class = bfc_minor_class(q, res.classid);
	return class >= 0 ? class : BFC_CLASS_ANY;
}

/**
 * bfc_classify - the strict-priority class of a packet
 * @skb: the packet
 * @sch: the qdisc
 * @net: hop_network() of the packet; read again if a filter may have changed its tags
 *
 * A priority that names one of our classes goes first, then tc filters, then control traffic
 * is recognised, then the priomap decides.
 *
 * Return: index of the class, BFC_CLASS_CONTROL, or what bfc_enqueue() is to return, negated: a
 * filter took the packet.
 */
static __always_inline int bfc_classify(struct sk_buff *skb, struct Qdisc *sch,
					struct hop_network *net)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct tcf_proto *filter;
	int class;

	if (TC_H_MAJ(skb->priority) == sch->handle) {
		class = bfc_minor_class(q, skb->priority);
		if (class >= 0)
			return class;
	}
	filter = rcu_dereference_bh(q->filter_list);
	if (filter) {
		class = bfc_filter(skb, q, filter);
		if (class < 0)
			return class;
		*net = hop_network(skb);
		if (class != BFC_CLASS_ANY)
			return class;
	}
	if (hop_is_control(skb, *net, q->config.control_dscp))
		return BFC_CLASS_CONTROL;
	return q->config.priomap[skb->priority & TC_PRIO_MAX];
}

/* ---- enqueue ---- */


/* What it is as a rule: one more packet */
static struct bfc_change bfc_change_one(u32 bytes)
{
	return (struct bfc_change) { .packets = 1, .queued = true, .bytes = bytes };
}

static struct bfc_change bfc_change_sum(struct bfc_change a, struct bfc_change b)
{
	return (struct bfc_change) {
		.packets = a.packets + b.packets,
		.bytes = a.bytes + b.bytes,
		.congested = a.congested || b.congested,
		.queued = a.queued || b.queued,
	};
}

static struct sk_buff *bfc_take(struct Qdisc *sch, struct bfc_queue *sub, u64 now)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = bfc_queue_pop(q, sub, now);

	bfc_forget(q, skb, now);
	bfc_backlog_moves(sch, q, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}

/* Over the limit: the longest sub-queue, or one at least half as long, loses its oldest; if all are
 * short, any of them, as a rule the packet's own.
 */
noinline struct bfc_change bfc_enforce_limit(struct Qdisc *sch, struct bfc_queue *own, u64 now,
					     struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_change change = {};
	struct bfc_queue *sub;
	struct sk_buff *skb;

	while (sch->qstats.backlog > q->config.limit) {
		sub = bfc_longest(q) ?: own;
		if (!sub || !sub->head)
			break;
		skb = bfc_take(sch, sub, now);
		change.packets--;
		change.bytes -= qdisc_pkt_len(skb);
		if (sub == own)
			change.congested = true;
		q->stats.drop_limit++;
		q->queue_stats[sub - q->queues].drops++;
		trace_bfc_drop(&q->member, sub - q->queues, BFC_TRACE_DROP_LIMIT, skb);
		qdisc_drop(skb, sch, to_free);
	}
	return change;
}

/* Pausing by ingress: the packet counts against where it came from, in any case. */
static void bfc_mark_ingress(struct bfc_sched *q, struct bfc_queue *sub, struct sk_buff *skb)
{
	u16 handle;

	if (unlikely(q->member.stalled))
		return;
	handle = hop_handle(&q->member, skb);
	if (!handle)
		return;
	if (unlikely(hop_elided(&q->member, handle))) {
		q->stats.elided++;
		return;
	}
	bfc_cb(skb)->handle = handle;
	q->stats.marks++;
	q->queue_stats[sub - q->queues].marks++;
	if (!bfc_ingress_allows(q, hop_ingress_add(&q->member, handle, qdisc_pkt_len(skb))))
		hop_ingress_pause(&q->member, handle, true);
}

/* Section 3.3.2, On Enqueue: does this packet's sub-queue exceed Th, itself included? */
static void bfc_mark(struct Qdisc *sch, struct bfc_queue *sub, struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u32 n_active = bfc_n_active(q);
	u16 handle;

	if (unlikely(n_active != q->n_seen))
		bfc_rethink(sch, q, n_active);
	if (likely(sub->backlog <= q->th))
		return;
	if (unlikely(q->config.pause == BFC_PAUSE_INGRESS)) {
		bfc_mark_ingress(q, sub, skb);
		return;
	}
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
	hop_pause_inc(&q->member, handle);
	q->stats.marks++;
	q->queue_stats[sub - q->queues].marks++;
}

static struct bfc_change bfc_enqueue_frame(struct sk_buff *skb, struct Qdisc *sch,
					   struct bfc_class *class, u32 hash,
					   struct sk_buff **to_free)
{
	struct bfc_change change = bfc_change_one(qdisc_pkt_len(skb));
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct bfc_queue *sub;

	if (q->pool && !bfc_pool_take(q, qdisc_pkt_len(skb))) {
		q->stats.drop_pool++;
		trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_POOL, skb);
		qdisc_drop(skb, sch, to_free);
		return (struct bfc_change) {};
	}
	sub = bfc_assign(q, class, skb, hash, now);
	bfc_queue_append(q, sub, skb, now);
	bfc_backlog_moves(sch, q, now);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	bfc_mark(sch, sub, skb);
	if (trace_bfc_enqueue_enabled())
		trace_bfc_enqueue(&q->member, sub - q->queues, sub->backlog,
				  bfc_threshold(sch, q, bfc_n_active(q)), bfc_cb(skb)->handle, skb,
				  now);
	if (unlikely(sch->qstats.backlog > q->config.limit))
		change = bfc_change_sum(change, bfc_enforce_limit(sch, sub, now, to_free));
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return change;
}

static noinline struct bfc_change bfc_enqueue_gso(struct sk_buff *skb, struct Qdisc *sch,
						  struct bfc_class *class, u32 hash,
						  struct sk_buff **to_free)
{
	netdev_features_t features = netif_skb_features(skb);
	struct bfc_sched *q = qdisc_priv(sch);
	struct bfc_change change = {};
	struct sk_buff *segs, *next;

	segs = skb_gso_segment(skb, features & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segs)) {
		q->stats.drop_gso++;
		trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_GSO, skb);
		qdisc_drop(skb, sch, to_free);
		return change;
	}
	skb_list_walk_safe(segs, segs, next) {
		skb_mark_not_on_list(segs);
		qdisc_skb_cb(segs)->pkt_len = segs->len;
		change = bfc_change_sum(change, bfc_enqueue_frame(segs, sch, class, hash, to_free));
	}
	q->stats.gso_split++;
	consume_skb(skb);
	return change;
}

/* What a control packet's flow has of its own in @class: an entry of the flow table, or just a
 * sub-queue.
 *
 * Return: its number, or BFC_NO_FLOW: no packet of it waits.
 */
static u32 bfc_flow_number(const struct bfc_sched *q, const struct bfc_class *class, u32 hash)
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
							q->queues[number].packets;
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
 * Return: its class after all: BFC_CLASS_CONTROL, that of the priomap, or -1: it is to be dropped.
 */
static int bfc_police(struct bfc_sched *q, const struct sk_buff *skb, struct hop_network net)
{
	int class = q->config.priomap[skb->priority & TC_PRIO_MAX];
	bool flow = hop_has_ip_flow(net);
	u32 hash = 0, number = BFC_NO_FLOW;
	u64 now = ktime_get_ns();

	bfc_follow_link(q);
	bfc_follow_mtu(q);
	if (flow) {
		if (q->config.assign != BFC_ASSIGN_SINGLE)
			hash = bfc_hash(q, skb, net);
		number = bfc_flow_number(q, &q->classes[class], hash);
	}
	if (!bfc_spills_on(q, number)) {
		if (hop_control_takes(&q->police, q->member.control_paid, skb, now)) {
			if (number != BFC_NO_FLOW)
				__clear_bit(number, q->spilled);
			return BFC_CLASS_CONTROL;
		}
		if (!flow)
			return -1;
	}
	q->stats.spilled++;
	return class;
}

/* What has spilled waits now, if it was not dropped. */
static noinline void bfc_spill(struct bfc_sched *q, const struct bfc_class *class, u32 hash)
{
	u32 number = bfc_flow_number(q, class, hash);

	if (number != BFC_NO_FLOW)
		__set_bit(number, q->spilled);
}

static int bfc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	if (unlikely(skb_queue_len(&q->control) >= HOP_CONTROL_PACKETS)) {
		q->stats.drop_control++;
		trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_CONTROL, skb);
		return qdisc_drop(skb, sch, to_free);
	}
	bfc_backlog_moves(sch, q, now);
	skb->priority = TC_PRIO_CONTROL;	/* for the card */
	__skb_queue_tail(&q->control, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	q->stats.control++;
	trace_bfc_enqueue(&q->member, BFC_TRACE_CONTROL, 0, 0, false, skb, now);
	return NET_XMIT_SUCCESS;
}

static int bfc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_network net = hop_network(skb);
	struct bfc_change change;
	u32 len = qdisc_pkt_len(skb);
	bool spills = false;
	int class;
	u32 hash;

	class = bfc_classify(skb, sch, &net);
	if (unlikely(class < 0)) {
		if (-class & __NET_XMIT_BYPASS) {
			q->stats.drop_filter++;
			qdisc_qstats_drop(sch);
			trace_bfc_drop(&q->member, BFC_TRACE_NONE, BFC_TRACE_DROP_FILTER, skb);
		}
		__qdisc_drop(skb, to_free);
		return -class;
	}
	if (unlikely(class == BFC_CLASS_CONTROL)) {
		if (hop_is_policed(skb, net, q->config.control_dscp))
			class = bfc_police(q, skb, net);
		if (class == BFC_CLASS_CONTROL)
			return bfc_enqueue_control(skb, sch, to_free);
		if (class < 0) {
			q->stats.drop_police++;
			trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_POLICE, skb);
			return qdisc_drop(skb, sch, to_free);
		}
		spills = true;
	}

	bfc_follow_link(q);
	hash = q->config.assign == BFC_ASSIGN_SINGLE ? 0 : bfc_hash(q, skb, net);
	if (!skb_is_gso(skb) || !q->config.split_gso)
		change = bfc_enqueue_frame(skb, sch, &q->classes[class], hash, to_free);
	else
		change = bfc_enqueue_gso(skb, sch, &q->classes[class], hash, to_free);
	if (unlikely(spills))
		bfc_spill(q, &q->classes[class], hash);
	if (likely(change.all == bfc_change_one(len).all))
		return NET_XMIT_SUCCESS;
	if (!change.queued)
		return NET_XMIT_DROP;

	/* The parents count one packet of len bytes if we return SUCCESS, and nothing if CN. Nor do
	 * they take note then that we are not empty any more: so no CN if some of it stays. If it
	 * stays alone in place of others, a parent would be at 0 packets between our report and its
	 * own count, and those above it take its class off their round: so CN then.
	 */
	if (change.packets <= 0 && (change.congested || sch->q.qlen <= 1)) {
		qdisc_tree_reduce_backlog(sch, -change.packets, -change.bytes);
		return NET_XMIT_CN;
	}
	qdisc_tree_reduce_backlog(sch, 1 - change.packets, (int)len - change.bytes);
	return NET_XMIT_SUCCESS;
}

/* ---- dequeue ---- */

static u32 bfc_quantum(const struct Qdisc *sch, const struct bfc_sched *q)
{
	if (q->config.quantum)
		return q->config.quantum;
	return q->config.split_gso ? psched_mtu(qdisc_dev(sch)) : GSO_LEGACY_MAX_SIZE;
}

/* The sub-queue whose turn it is, see sched/drr.h. Call with one ready. */
static struct bfc_queue *bfc_class_turn(const struct Qdisc *sch, struct bfc_sched *q,
					struct bfc_class *class)
{
	struct bfc_queue *first = &q->queues[class->first];

	if (!hop_drr_goes_on(first[class->cursor].deficit,
			     hop_bitset_has(&class->ready, class->cursor)))
		hop_drr_next(&class->ready, &class->cursor, &first->deficit, sizeof(*first),
			     bfc_quantum(sch, q));
	return first + class->cursor;
}

static struct sk_buff *bfc_dequeue_data(struct Qdisc *sch, struct bfc_sched *q, u64 now)
{
	struct bfc_queue_stats *stats;
	struct bfc_class *class;
	struct bfc_queue *sub;
	struct sk_buff *skb;

	for (class = q->classes; class < q->classes + q->config.classes; class++) {
		if (hop_bitset_empty(&class->ready))
			continue;
		sub = bfc_class_turn(sch, q, class);
		skb = bfc_take(sch, sub, now);
		sub->deficit -= qdisc_pkt_len(skb);
		stats = &q->queue_stats[sub - q->queues];
		stats->sent++;
		stats->sent_bytes += qdisc_pkt_len(skb);
		trace_bfc_dequeue(&q->member, sub - q->queues, sub->backlog, skb, now);
		return skb;
	}
	return NULL;
}

static struct sk_buff *bfc_dequeue_control(struct Qdisc *sch, struct bfc_sched *q, u64 now)
{
	struct sk_buff *skb = __skb_dequeue(&q->control);

	if (skb) {
		bfc_backlog_moves(sch, q, now);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		trace_bfc_dequeue(&q->member, BFC_TRACE_CONTROL, 0, skb, now);
	}
	return skb;
}

/* Does the frame start with a tag that the neighbour would take for the fabric's? */
static bool bfc_looks_tagged(const struct bfc_sched *q, const struct sk_buff *skb)
{
	__be16 tpid = htons(q->config.tpid);

	return skb_vlan_tag_present(skb) ? skb->vlan_proto == tpid : skb->protocol == tpid;
}

/* Put the fabric tag on. The control class is not to be paused: it goes without, or with a
 * tag that names no sub-queue.
 *
 * Return: false if that was impossible: the packet is gone.
 */
static bool bfc_tag(struct Qdisc *sch, struct bfc_sched *q, struct sk_buff *skb, bool control)
{
	u32 len = qdisc_pkt_len(skb);
	int err;

	if (!hop_tagging(&q->member) || (control && !bfc_looks_tagged(q, skb)))
		return true;
	err = hop_tag_push(&q->member, skb, control ? HOP_NO_QUEUE : bfc_cb(skb)->queue);
	if (unlikely(err == -EMSGSIZE) && !bfc_looks_tagged(q, skb))
		return true;
	if (unlikely(err)) {
		trace_bfc_drop(&q->member, control ? BFC_TRACE_CONTROL : bfc_cb(skb)->queue,
			       BFC_TRACE_DROP_TAG, skb);
		kfree_skb(skb);
		qdisc_qstats_drop(sch);
		q->stats.drop_tag++;
		q->late_drops++;
		q->late_bytes += len;
		return false;
	}
	q->stats.tagged++;
	return true;
}

/* Tell the parents of drops in dequeue, which hands out @skb, or nothing. Also if they have left us
 * empty, or the parents would count them for ever: taking the class off a round in the middle of
 * serving it is something that parents bear. But not while there is @skb, which is not counted any
 * more: qdisc_peek_dequeued() puts it back, and the class would be off the round with a packet in
 * it, for ever, since only the first packet of an empty qdisc puts it on again. A parent that
 * takes @skb along sees for itself whether it was the last.
 */
static noinline void bfc_tell_late(struct Qdisc *sch, struct bfc_sched *q,
				   const struct sk_buff *skb)
{
	sch->q.qlen += !!skb;
	qdisc_tree_reduce_backlog(sch, q->late_drops, q->late_bytes);
	sch->q.qlen -= !!skb;
	q->late_drops = 0;
	q->late_bytes = 0;
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
	if (unlikely(q->late_drops))
		bfc_tell_late(sch, q, skb);
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

static void bfc_reset(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct bfc_queue *sub;
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&q->control))) {
		trace_bfc_drop(&q->member, BFC_TRACE_CONTROL, BFC_TRACE_DROP_RESET, skb);
		kfree_skb(skb);
	}
	if (!q->queues)
		return;
	for (sub = q->queues; sub < q->queues + q->config.queues; sub++) {
		while (sub->head) {
			skb = bfc_queue_pop(q, sub, now);
			bfc_forget(q, skb, now);
			trace_bfc_drop(&q->member, sub - q->queues, BFC_TRACE_DROP_RESET, skb);
			rtnl_kfree_skbs(skb, skb);
		}
	}
	bfc_backlog_moves(sch, q, now);
	q->late_drops = 0;
	q->late_bytes = 0;
}

/* ---- what hopctl's watchdogs ask ---- */

static void bfc_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct bfc_sched *q = container_of(m, struct bfc_sched, member);
	const struct bfc_queue_stats *stats = &q->queue_stats[queue];
	const struct bfc_queue *sub = &q->queues[queue];

	w->waits = READ_ONCE(sub->packets);
	w->sent = READ_ONCE(stats->sent);
}

/* The packets of all sub-queues let go of what they hold paused. */
unsigned int bfc_unmark(struct bfc_sched *q)
{
	unsigned int before = q->member.marked;
	struct bfc_queue *sub;
	struct sk_buff *skb;

	for (sub = q->queues; sub < q->queues + q->config.queues; sub++) {
		if (!sub->head)
			continue;
		for (skb = sub->head; skb; skb = skb->next) {
			if (bfc_cb(skb)->handle)
				bfc_unhold(q, skb);
		}
	}
	return before - q->member.marked;
}

/* A qdisc whose packets wait for nobody but the device, and wait for too long */
static unsigned int bfc_withdraw(struct hop_member *m)
{
	struct bfc_sched *q = container_of(m, struct bfc_sched, member);
	struct Qdisc *sch = m->sch;
	unsigned int withdrawn = 0;
	u32 sent;

	sch_tree_lock(sch);
	sent = u64_stats_read(&sch->bstats.packets);
	if (!sch->q.qlen || q->stats.paused || sent != m->quiet_sent) {
		WRITE_ONCE(m->stalled, false);
	} else {
		WRITE_ONCE(m->stalled, true);
		withdrawn = bfc_unmark(q);
		q->stats.withdrawn += withdrawn;
	}
	sch_tree_unlock(sch);
	return withdrawn;
}

static const struct hop_member_ops bfc_member_ops = {
	.watch		= bfc_watch,
	.withdraw	= bfc_withdraw,
};

/* ---- configuration ---- */

/* Entries of the flow table */
static u32 bfc_table(const struct bfc_config *c)
{
	return c->flows ? c->flows : roundup(c->queues * BFC_FLOWS_PER_QUEUE, c->classes * c->ways);
}

static void bfc_setup_classes(struct bfc_sched *q)
{
	u32 table = bfc_table(&q->config);
	struct bfc_class *class;
	u32 i, n;

	for (i = 0; i < q->config.classes; i++) {
		class = &q->classes[i];
		INIT_LIST_HEAD(&class->idle);
		class->queues = q->config.queues / q->config.classes;
		class->holders = q->holders;
		class->first = i * class->queues;
		class->flows = q->flows + i * (table / q->config.classes);
		class->sets = table / q->config.classes / q->config.ways;
		for (n = 0; n < table / q->config.classes; n++)
			class->flows[n] = hop_flow_unused(n * GOLDEN_RATIO_32,
							  class->first + n % class->queues);
		for (n = 0; n < class->queues; n++) {
			INIT_LIST_HEAD(&q->queues[class->first + n].node);
			q->queues[class->first + n].class = i;
			hop_bitset_add(&class->free, n);
		}
	}
}

static int bfc_allocate(struct bfc_sched *q)
{
	const struct bfc_config *c = &q->config;
	u32 table = bfc_table(c);

	q->classes = kvcalloc(c->classes, sizeof(*q->classes), GFP_KERNEL);
	q->queue_stats = kvcalloc(c->queues, sizeof(*q->queue_stats), GFP_KERNEL);
	q->flows = kvcalloc(table, sizeof(*q->flows), GFP_KERNEL);
	q->queues = kvcalloc(c->queues, sizeof(*q->queues), GFP_KERNEL);
	q->holders.mask = roundup_pow_of_two(max(2U * c->queues, BFC_PLACES_LEAST)) - 1;
	q->holders.places = kvcalloc(q->holders.mask + 1, sizeof(*q->holders.places), GFP_KERNEL);
	q->holders.holdings = kvcalloc(c->queues, sizeof(*q->holders.holdings), GFP_KERNEL);
	q->spilled = kvcalloc(BITS_TO_LONGS(max_t(u32, table, c->queues)), sizeof(*q->spilled),
			      GFP_KERNEL);
	if (!q->classes || !q->queue_stats || !q->flows || !q->queues || !q->holders.places ||
	    !q->holders.holdings || !q->spilled)
		return -ENOMEM;
	bfc_setup_classes(q);
	return 0;
}

static void bfc_free(struct bfc_sched *q)
{
	kvfree(q->queues);
	kvfree(q->flows);
	kvfree(q->queue_stats);
	kvfree(q->classes);
	kvfree(q->spilled);
	kvfree(q->holders.places);
	kvfree(q->holders.holdings);
}

/* The kernel's default qdisc, at the root or below mq, is one that nobody has typed: only such a
 * one has no handle while it is made.
 */
static bool bfc_is_default(const struct Qdisc *sch)
{
	return !sch->handle;
}

/* Those of all transmit queues have to fit the port's numbers, and beside them the one that
 * somebody replaces them by.
 */
static u16 bfc_default_queues(const struct Qdisc *sch)
{
	return clamp_t(u32, BFC_QUEUES_MAX / 2 / qdisc_dev(sch)->num_tx_queues,
		       1, BFC_QUEUES_DEFAULT);
}

/* A refused default qdisc would leave the device with none at all, so it is a fair queue without
 * a port where no port can be.
 */
static int bfc_join(struct Qdisc *sch, struct bfc_sched *q, struct netlink_ext_ack *extack)
{
	struct hop_config port = bfc_port_config(&q->config);
	int err = hop_member_join(&q->member, sch, q->config.queues, &port, &bfc_member_ops,
				  extack);

	if (!err || !bfc_is_default(sch))
		return err;
	q->config.pause = BFC_PAUSE_NONE;
	q->config.tag = false;
	hop_member_alone(&q->member);
	return 0;
}

static int bfc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_pool *pool;
	int err, i;

	/* Enough for destroy() to run after any failure below. */
	__skb_queue_head_init(&q->control);
	for (i = 0; i < BFC_BUCKETS; i++)
		INIT_LIST_HEAD(&q->buckets[i]);
	get_random_bytes(&q->flow_secret, sizeof(q->flow_secret));
	q->flow_secret.last |= 1;
	q->flow_secret.rest |= 1;
	q->changed_ns = ktime_get_ns();
	q->config = bfc_defaults;
	if (bfc_is_default(sch))
		q->config.queues = bfc_default_queues(sch);

	err = bfc_parse(opt, &q->config, true, extack);
	if (err)
		return err;
	err = tcf_block_get(&q->block, &q->filter_list, sch, extack);
	if (err)
		return err;
	err = bfc_allocate(q);
	if (err)
		return err;
	err = bfc_pool_find(sch, q->config.pool, opt, &pool, extack);
	if (err)
		return err;
	q->pool = pool;
	err = bfc_join(sch, q, extack);
	if (!err && q->config.pause == BFC_PAUSE_INGRESS)
		err = hop_ingress_use(&q->member);
	if (err)
		return err;
	bfc_recompute(q, READ_ONCE(*q->member.hrtt_ns), READ_ONCE(*q->member.speed));
	bfc_warn(q, extack);
	/* Paused sub-queues hold packets back while the link idles: not work-conserving. */
	sch->flags |= TCQ_F_WARN_NONWC;
	sch->flags &= ~TCQ_F_CAN_BYPASS;
	return 0;
}

static void bfc_destroy(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	tcf_block_put(q->block);
	bfc_reset(sch);
	hop_pool_put(q->pool);
	hop_member_leave(&q->member);
	bfc_free(q);
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

static int __init bfc_module_init(void)
{
	u32 n;

	BUILD_BUG_ON(sizeof(struct bfc_skb_cb) > QDISC_CB_PRIV_LEN);
	for (n = 1; n <= HOP_RECIPROCALS; n++)
		bfc_reciprocals[n] = hop_reciprocal(n);
	return register_qdisc(&bfc_qdisc_ops);
}

static void __exit bfc_module_exit(void)
{
	unregister_qdisc(&bfc_qdisc_ops);
}

module_init(bfc_module_init)
module_exit(bfc_module_exit)
MODULE_DESCRIPTION("Backpressure Flow Control queueing discipline");
MODULE_LICENSE("GPL");
MODULE_ALIAS("net-sch-bfc");
