// SPDX-License-Identifier: GPL-2.0-only
/*
 * cp.c - the congestion point (RoCC, sections 3.2 to 3.4)
 *
 * Each interval T it looks at the length of its queue, computes the rate that each flow in it may
 * send at (Algorithm 1, sched/fair_rate.h), and tells their sources by CNPs.
 *
 * Flow tables (section 3.4). One array, in sets of four, and a list of those that may be told.
 *
 *   queue      flows with packets in the queue. What a packet waits for is known when it comes: as
 *              many bytes as are queued then. So an entry remembers how far the queue must be
 *              drained for its last packet to be gone, and nothing is done when a packet leaves, in
 *              whatever way. With a child that is no fifo this is an estimate. And those that were
 *              told lately and have sent in the last two intervals: see below.
 *   age        and those whose last packet came not longer ago than `age`
 *   elephants  one packet in `sample` counts for its flow; counts are halved each 16 T; a flow that
 *              finds no place takes one off the least count there, and the place when that is 0
 *              (as ElephantTrap: least frequently used). Flows with two or more are told.
 *   afd        the same, but told are flows with half of the mean count or more, after AFD, which
 *              drops from those with more than their share. Half, for chance alone puts every other
 *              of equal flows below the mean.
 *
 * A flow that finds no room in the table is not told, and its packets are counted. With the
 * sampled tables mice are not told: those that are share what the mice leave (equation 1).
 *
 * Where it departs from the paper's text
 *
 *   - Rates and lengths keep their fractions, see sched/fair_rate.h.
 *   - When the rate is at its most, flows are told once and then no more: their limiters rise by
 *     themselves. The interval's work rests while, besides, nothing is queued.
 *   - CNPs are bounded, by number and to a quarter of a processor; who is not told in one interval
 *     is the first in the next. A CNP says how long ago the one before it was, so that the host
 *     does not take for the end of congestion what is only that: a bound, or a tick without a
 *     packet of the flow in the queue. To a flow that is told for the first time it says how long
 *     it takes to tell all.
 *   - There is no new rate before all have been told the last one, unless it has to be cut. The
 *     controller would act several times before it sees what it did, and swing (section 5.2: T
 *     above the round-trip time). The intervals that it takes are one for the law: its gains are as
 *     much lower, and where the link is not full the rate recovers as an untold flow would. 100
 *     flows, each told once in 10 T: without this the queue swings up to 40 times the reference;
 *     with it, at the reference (2026-11-22, selftests/net/rocc_bound.sh).
 *   - A flow whose packet finds no room is told, too: none of it is in the queue, but not because
 *     it was innocent.
 *   - So is one that was told lately, if a packet of it came in the last two intervals, though it
 *     has left. Where flows are so many that one sends a packet in each interval, many have none in
 *     the queue at the moment: not told, they would recover, and the rate would have to swing. But
 *     only while the queue is half as long as it should be. If not, to recover is what they shall;
 *     where it takes several intervals to tell all, though, to leave one out is to lose sight of it
 *     for too long, and the law alone raises the rate.
 *
 * Cost: O(1) for each packet; O(flows in the list) for each interval, in a softirq, but at most
 * ROCC_SCAN_MAX, and what that takes is charged like CNPs. The lock is let go after ROCC_SCAN of
 * them. Who is not looked at in one interval is the first in the next.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>

#include "../hopctl/share.h"
#include "../sched/control.h"
#include "../sched/options.h"
#include "rocc.h"

#define ROCC_INTERVAL_BITS	1000000ULL	/* auto: what the link needs for so many bits */
#define ROCC_INTERVAL_MIN_NS	40000U		/* but at least the paper's T */
#define ROCC_AGE_INTERVALS	4U		/* auto: age */
#define ROCC_LEAST_FRAMES	2		/* no length of the law is below so many */
#define ROCC_BURST_NS		(1ULL * NSEC_PER_MSEC)	/* CNPs that may come at once */
#define ROCC_CPU_FACTOR		4		/* CNPs take a quarter of a processor at most */
#define ROCC_TOLD_INTERVALS	4		/* lately */
#define ROCC_DECAY_TICKS	16		/* a power of two */
#define ROCC_ELEPHANT		2		/* count */

static atomic64_t rocc_last_epoch;

/* ---- flows ---- */

static bool rocc_cp_sampled(const struct rocc_cp *p)
{
	return p->table == ROCC_TABLE_ELEPHANTS || p->table == ROCC_TABLE_AFD;
}

/* One packet in `sample`, by a generator that needs no more than to be no pattern of packets. */
static bool rocc_cp_samples(struct rocc_cp *p)
{
	p->random = p->random * 1664525 + 1013904223;
	return !reciprocal_scale(p->random, p->sample);
}

/* Bytes that have left, in whatever way */
static u64 rocc_cp_departed(const struct rocc_cp *p)
{
	return p->arrived - READ_ONCE(p->backlog);
}

/* It was told not so long ago that this says nothing of the next time. */
static bool rocc_flow_told_lately(const struct rocc_cp *p, const struct rocc_flow *flow, u64 now)
{
	return now - flow->told_ns <= (u64)ROCC_TOLD_INTERVALS * p->gap * p->interval_ns;
}

/* Counts are halved each ROCC_DECAY_TICKS, each when somebody looks at it. */
static void rocc_flow_decay(struct rocc_cp *p, struct rocc_flow *flow)
{
	u8 now = p->sequence / ROCC_DECAY_TICKS, times = now - flow->halved;
	u32 left = flow->count >> min_t(u8, times, 31);

	p->sampled -= flow->count - left;
	flow->count = left;
	flow->halved = now;
}

/* Is it still in the table? */
static bool rocc_flow_stays(const struct rocc_cp *p, const struct rocc_flow *flow,
			    u64 departed, u64 now)
{
	if (list_empty(&flow->node))
		return false;
	switch (p->table) {
	case ROCC_TABLE_AGE:
		if (now - flow->seen_ns < p->age_ns)
			return true;
		fallthrough;
	case ROCC_TABLE_QUEUE:
		return (s64)(flow->leaves_at - departed) > 0 ||
		       ((p->gap > 1 || 2 * (p->arrived - departed) >= p->law.q_ref) &&
			now - flow->seen_ns < 2ULL * p->gap * p->interval_ns &&
			rocc_flow_told_lately(p, flow, now));
	default:
		return flow->count;
	}
}

static bool rocc_flow_is_told(const struct rocc_cp *p, const struct rocc_flow *flow)
{
	switch (p->table) {
	case ROCC_TABLE_ELEPHANTS:
		return flow->count >= ROCC_ELEPHANT;
	case ROCC_TABLE_AFD:
		return 2ULL * flow->count * p->stats.active >= p->sampled;
	default:
		return true;
	}
}

static void rocc_flow_forget(struct rocc_cp *p, struct rocc_flow *flow)
{
	p->sampled -= flow->count;
	flow->count = 0;
	flow->waits = false;
	list_del_init(&flow->node);
	p->stats.active--;
}

/* A place for a flow that has none, or NULL */
static struct rocc_flow *rocc_flow_place(struct rocc_cp *p, struct rocc_flow *set, u64 now)
{
	struct rocc_flow *flow, *least = set;
	u64 departed = rocc_cp_departed(p);

	for (flow = set; flow < set + ROCC_WAYS; flow++) {
		if (!rocc_flow_stays(p, flow, departed, now))
			return flow;
		if (flow->count < least->count)
			least = flow;
	}
	if (!rocc_cp_sampled(p))
		return NULL;
	least->count--;
	p->sampled--;
	return least->count ? NULL : least;
}

/* A packet was queued, as the last one. */
static void rocc_flow_seen(struct rocc_cp *p, const struct cnp_flow *id,
			   const struct rocc_way *way, u64 now)
{
	u32 hash = rocc_flow_hash(id, p->seed);
	struct rocc_flow *flow, *set;

	set = &p->flows[reciprocal_scale(hash, p->sets) * ROCC_WAYS];
	for (flow = set; flow < set + ROCC_WAYS; flow++)
		if (flow->hash == hash && rocc_flow_same(&flow->id, id))
			break;
	if (flow == set + ROCC_WAYS) {
		flow = rocc_flow_place(p, set, now);
		if (!flow) {
			p->stats.untracked++;
			return;
		}
		flow->hash = hash;
		flow->told_ns = 0;
		flow->waits = false;
	}
	flow->id = *id;
	flow->way = *way;
	flow->leaves_at = p->arrived;
	flow->seen_ns = now;
	if (rocc_cp_sampled(p)) {
		flow->count++;
		p->sampled++;
	}
	if (list_empty(&flow->node)) {
		flow->halved = p->sequence / ROCC_DECAY_TICKS;
		list_add_tail(&flow->node, &p->active);
		p->stats.active++;
	}
}

/* The tags that are in the frame */
static noinline void rocc_way_tags(const struct sk_buff *skb, struct rocc_way *way)
{
	int at = skb_mac_offset(skb) + ETH_HLEN;
	struct vlan_hdr buf, *tag;
	__be16 proto;

	for (proto = skb->protocol; eth_type_vlan(proto); at += sizeof(*tag)) {
		tag = skb_header_pointer(skb, at, sizeof(buf), &buf);
		if (!tag || way->tags == ROCC_TAGS) {
			way->tags = ROCC_TAGS + 1;
			return;
		}
		way->tag[way->tags++] = (struct rocc_tag) {
			.proto = proto, .tci = ntohs(tag->h_vlan_TCI),
		};
		proto = tag->h_vlan_encapsulated_proto;
	}
}

/* By whom a packet came, and what it leaves with */
static void rocc_way_of(const struct sk_buff *skb, struct rocc_way *way)
{
	way->ifindex = skb->skb_iif;
	ether_addr_copy(way->mac, eth_hdr(skb)->h_source);
	way->outer = skb_vlan_tag_present(skb);
	way->tags = way->outer;
	way->tag[0].proto = skb->vlan_proto;
	way->tag[0].tci = skb_vlan_tag_get(skb);
	if (unlikely(eth_type_vlan(skb->protocol)))
		rocc_way_tags(skb, way);
}

/* ---- each interval ---- */

/* How long it was between this CNP and the one before it. If there was none, or not for this
 * congestion: what it is with others, for so long it will be until the next one.
 */
static u32 rocc_flow_gap_ns(const struct rocc_cp *p, const struct rocc_flow *flow, u64 now)
{
	u64 gap = (u64)p->gap * p->interval_ns;

	if ((flow->waits && flow->told_ns >= p->quiet_ns) || rocc_flow_told_lately(p, flow, now))
		gap = max(gap, now - flow->told_ns);
	return min_t(u64, gap, U32_MAX);
}

static bool rocc_cp_is_spent(const struct rocc_cp *p, u64 now)
{
	return p->cpu_paid_ns > now + ROCC_BURST_NS;
}

/* Return: false if no more CNPs may be sent now. */
static bool rocc_cp_may_tell(struct rocc_cp *p, u64 now)
{
	u32 cnps = rocc_of_cp(p)->config.cnps;

	if (rocc_cp_is_spent(p, now) || p->paid_ns > now + ROCC_BURST_NS)
		return false;
	if (cnps)
		hop_bucket_spend(&p->paid_ns, NSEC_PER_SEC / cnps, ROCC_BURST_NS, now);
	return true;
}

/* Who is told next: those at the head of the list, which go to its end. */
static unsigned int rocc_cp_collect(struct rocc_cp *p, u32 *left, u64 now)
{
	u32 stop = *left - min_t(u32, *left, ROCC_SCAN);
	u64 departed = rocc_cp_departed(p);
	struct rocc_notice *n = p->notices;
	struct rocc_flow *flow;

	for (; *left > stop && n < p->notices + ROCC_BATCH; --*left, p->round--) {
		flow = list_first_entry(&p->active, struct rocc_flow, node);
		if (rocc_cp_sampled(p))
			rocc_flow_decay(p, flow);
		if (!rocc_flow_stays(p, flow, departed, now)) {
			rocc_flow_forget(p, flow);
			continue;
		}
		/* flows of this machine have the limits of their own sockets */
		if (p->telling && flow->way.ifindex && rocc_flow_is_told(p, flow)) {
			if (!rocc_cp_may_tell(p, now)) {
				*left = 0;
				break;
			}
			n->way = flow->way;
			n->id = flow->id;
			n->gap_ns = rocc_flow_gap_ns(p, flow, now);
			flow->told_ns = now;
			flow->waits = true;
			n++;
		} else {
			flow->waits = false;
		}
		list_move_tail(&flow->node, &p->active);
	}
	return n - p->notices;
}

/* Of the clock, but later than any before: that may be set back while the module is loaded, or show
 * the same at two starts.
 */
static u64 rocc_epoch(void)
{
	s64 now = max_t(s64, ktime_get_real_ns(), 1), last = atomic64_read(&rocc_last_epoch);
	s64 epoch;

	do {
		epoch = max(now, last + 1);
	} while (!atomic64_try_cmpxchg(&rocc_last_epoch, &last, epoch));
	return epoch;
}

static u32 rocc_kbit(u64 rate)
{
	return clamp_t(u64, div_u64(rate, 1000), 1, U32_MAX);
}

static void rocc_cp_describe(const struct rocc_law *law, const struct rocc_rate *old, u32 q_cur,
			     struct cnp *cnp)
{
	cnp->code = ROCC_CNP_QUEUE;
	cnp->rate = rocc_kbit(old->rate >> ROCC_FRACTION);
	cnp->state = (struct cnp_queue) {
		.tuning = law->smooth ? ROCC_TUNING_SMOOTH : ROCC_TUNING_STEPS,
		.rate_max = rocc_kbit(law->rate_max >> ROCC_FRACTION),
		.alpha = law->alpha,
		.beta = law->beta,
		.q_cur = q_cur,
		.q_old = old->q_old,
		.q_ref = law->q_ref,
		.q_mid = law->q_mid,
		.q_max = law->q_max,
	};
}

static bool rocc_cp_catches_up(struct rocc_cp *p, u32 q_cur, u64 now)
{
	u64 bytes = p->law.rate_max >> ROCC_FRACTION >> 3;
	u64 departed = rocc_cp_departed(p), sent = departed - p->round_departed;
	u64 could = mul_u64_u64_div_u64(bytes, now - p->round_ns, NSEC_PER_SEC);
	bool slow = p->round_intervals > 1;

	p->round_departed = departed;
	p->round_ns = now;
	return slow && rocc_rate_catch_up(&p->rate, &p->law, p->rate_before, q_cur, sent, could);
}

/* The next rate, and what is said of it. */
static void rocc_cp_compute(struct rocc_cp *p, u32 q_cur, u64 now)
{
	const struct rocc_sched *q = rocc_of_cp(p);
	struct rocc_law law = p->law;
	struct rocc_rate old = p->rate;
	u64 before = old.rate;
	struct cnp *cnp = &p->cnp;

	if (rocc_cp_catches_up(p, q_cur, now)) {
		/* for hosts that compute: that, and nothing to change */
		old = (struct rocc_rate){ .rate = p->rate.rate, .q_old = law.q_ref };
		q_cur = law.q_ref;
	} else {
		rocc_law_slow(&law, p->round_intervals);
		rocc_rate_next(&p->rate, &law, q_cur);
	}
	p->rate_before = before;
	cnp->code = ROCC_CNP_RATE;
	cnp->rate = rocc_kbit(p->rate.rate >> ROCC_FRACTION);
	if (q->config.compute == ROCC_COMPUTE_HOST)
		rocc_cp_describe(&law, &old, q_cur, cnp);
	cnp->queue = q->sch->parent == TC_H_ROOT ? 0 : TC_H_MIN(q->sch->parent);
	cnp->port = qdisc_dev(q->sch)->ifindex;
	if (unlikely(!++p->sequence)) {
		p->epoch = rocc_epoch();
		p->sequence = 1;
	}
	cnp->epoch = p->epoch;
	cnp->sequence = p->sequence;
	cnp->rate_min = rocc_kbit(p->law.rate_min >> ROCC_FRACTION);
	rocc_cp_address(qdisc_dev(q->sch), cnp->address);
	p->stats.ticks++;
	p->telling = p->rate.rate < p->law.rate_max || !p->told_max;
	p->told_max = p->rate.rate == p->law.rate_max;
}

/* All are to be told a rate before there is the next one, or the controller would act again and
 * again on a queue that has not seen what it did. So if that takes several intervals they are one
 * for the law. But a rate that has to be cut is not waited for.
 */
static void rocc_cp_round(struct rocc_cp *p, u64 now)
{
	u32 q_cur = READ_ONCE(p->backlog);

	p->round_intervals++;
	if (!p->round || rocc_rate_is_cut(&p->rate, &p->law, q_cur)) {
		p->gap = p->round_intervals;
		rocc_cp_compute(p, q_cur, now);
		p->round = p->stats.active;
		p->round_intervals = 0;
	}
	p->gap = max(p->gap, p->round_intervals + 1);
	p->cnp.interval = min_t(u64, (u64)p->gap * p->interval_ns, U32_MAX);
}

static void rocc_cp_tell(struct rocc_cp *p, u64 now)
	__releases(&p->lock)
	__acquires(&p->lock)
{
	const struct rocc_sched *q = rocc_of_cp(p);
	const struct rocc_config *c = &q->config;
	struct rocc_sender from = {
		.source = c->source, .sign = c->sign, .key = c->key[c->sign ? c->sign - 1 : 0],
	};
	unsigned int n, i, became[ROCC_NO_VLAN + 1];
	u64 begin;
	u32 left;

	p->round = min(p->round, p->stats.active);
	left = min_t(u32, p->round, ROCC_SCAN_MAX);
	if (!p->telling)
		p->quiet_ns = now;
	while (left && !rocc_cp_is_spent(p, now)) {
		begin = ktime_get_ns();
		n = rocc_cp_collect(p, &left, now);
		spin_unlock(&p->lock);
		memset(became, 0, sizeof(became));
		for (i = 0; i < n; i++)
			became[rocc_cnp_send(qdisc_dev(q->sch), &from, &p->notices[i], &p->cnp)]++;
		spin_lock(&p->lock);
		hop_bucket_spend(&p->cpu_paid_ns, ROCC_CPU_FACTOR * (ktime_get_ns() - begin),
				 ROCC_BURST_NS, now);
		p->stats.cnps += became[ROCC_SENT];
		p->stats.cnps_failed += became[ROCC_NO_WAY];
		p->stats.cnps_vlan += became[ROCC_NO_VLAN];
		p->round = min(p->round, p->stats.active);
		left = min(left, p->round);
	}
	if (p->telling)
		p->stats.cnps_held += p->round;
	else
		p->round = 0;
	memzero_explicit(&from, sizeof(from));
}

static enum hrtimer_restart rocc_cp_interval(struct hrtimer *timer)
{
	struct rocc_cp *p = container_of(timer, struct rocc_cp, timer);
	u64 now = ktime_get_ns();
	bool running;

	rcu_read_lock();
	spin_lock(&p->lock);
	rocc_cp_round(p, now);
	rocc_cp_tell(p, now);
	running = p->stats.active || READ_ONCE(p->backlog) || !p->told_max;
	p->running = running;
	if (running)
		hrtimer_forward(timer, hrtimer_cb_get_time(timer), ns_to_ktime(p->interval_ns));
	spin_unlock(&p->lock);
	rcu_read_unlock();
	return running ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* ---- the queue ---- */

static void rocc_cp_saw(struct rocc_sched *q, const struct cnp_flow *id,
			const struct rocc_way *way, u64 now)
{
	struct rocc_cp *p = &q->cp;

	if (!rocc_cp_sampled(p) || rocc_cp_samples(p))
		rocc_flow_seen(p, id, way, now);
	if (unlikely(!p->running)) {
		p->running = true;
		hrtimer_start(&p->timer, ns_to_ktime(p->interval_ns), HRTIMER_MODE_REL_PINNED_SOFT);
	}
}

int rocc_cp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_cp *p = &q->cp;
	u32 len = qdisc_pkt_len(skb);
	u64 now = ktime_get_ns();
	struct rocc_way way;
	struct cnp_flow id;
	bool known;
	int err;

	if (unlikely(hop_is_control(skb, hop_network(skb), q->config.control_dscp))) {
		err = rocc_enqueue_control(skb, sch, to_free);
		if (err != ROCC_GOES_ON)
			return err;
	}
	/* all of it now: the packet may be gone when it is queued */
	known = rocc_flow_of(skb, &id);
	rocc_way_of(skb, &way);
	q->stats.no_flow += !known;
	err = qdisc_enqueue(skb, q->child, to_free);
	if (likely(err == NET_XMIT_SUCCESS)) {
		rocc_backlog_moves(sch, q, now);
		sch->qstats.backlog += len;
		sch->q.qlen++;
		rocc_backlog_peak(sch, q);
	} else if (net_xmit_drop_count(err)) {
		qdisc_qstats_drop(sch);
	}

	spin_lock(&p->lock);
	if (likely(err == NET_XMIT_SUCCESS))
		p->arrived += len;
	WRITE_ONCE(p->backlog, sch->qstats.backlog);
	if (likely(known))
		rocc_cp_saw(q, &id, &way, now);
	spin_unlock(&p->lock);
	return err;
}

struct sk_buff *rocc_cp_dequeue(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = rocc_dequeue_child(sch, q, ktime_get_ns());

	WRITE_ONCE(q->cp.backlog, sch->qstats.backlog);
	return skb;
}

/* ---- configuration ---- */

static u32 rocc_interval_ns(const struct rocc_config *c, u64 speed)
{
	u64 ns = div64_u64(ROCC_INTERVAL_BITS * NSEC_PER_SEC, speed);

	return c->interval_ns ?: clamp_t(u64, ns, ROCC_INTERVAL_MIN_NS, NSEC_PER_SEC);
}

/* The law that the options say. Return: the interval. */
static u32 rocc_law_of(struct Qdisc *sch, const struct rocc_config *c, struct rocc_law *law)
{
	u64 speed = rocc_speed(sch, c);
	u32 ns = rocc_interval_ns(c, speed);

	rocc_law_auto(law, speed, ns, ROCC_LEAST_FRAMES * psched_mtu(qdisc_dev(sch)));
	law->smooth = c->tuning == ROCC_TUNING_SMOOTH;
	law->q_ref = c->q_ref ?: law->q_ref;
	law->q_mid = c->q_mid ?: law->q_mid;
	law->q_max = c->q_max ?: law->q_max;
	if (c->alpha)
		law->alpha = rocc_gain(c->alpha, ns);
	if (c->beta)
		law->beta = rocc_gain(c->beta, ns);
	if (c->rate_min)
		law->rate_min = min(c->rate_min * 8 << ROCC_FRACTION, law->rate_max);
	return ns;
}

/**
 * rocc_cp_check - rules of more than one option
 * @sch: the qdisc
 * @c: what the options say
 * @tb: what was given
 * @extack: names who is refused
 *
 * Section 3.2: qref < qmid <= qmax, or the system is not stable. Return: 0 or -EINVAL.
 */
int rocc_cp_check(struct Qdisc *sch, const struct rocc_config *c, struct nlattr **tb,
		  struct netlink_ext_ack *extack)
{
	struct rocc_law law = {};

	if (c->flows % ROCC_WAYS)
		return hop_option_refuse(extack, tb[TCA_ROCC_FLOWS],
					 "flows must be a multiple of 4", -EINVAL);
	if (c->sign && !(c->keys & BIT(c->sign - 1)))
		return hop_option_refuse(extack, tb[TCA_ROCC_SIGN],
					 "sign needs the key that it names", -EINVAL);
	rocc_law_of(sch, c, &law);
	if (law.q_ref >= law.q_mid || law.q_mid > law.q_max)
		return hop_option_refuse(extack, tb[TCA_ROCC_QREF] ?: tb[TCA_ROCC_QMID] ?:
					 tb[TCA_ROCC_QMAX],
					 "qref must be below qmid, and qmid not above qmax",
					 -EINVAL);
	return 0;
}

/**
 * rocc_cp_apply - put options, or the link's speed, into force
 * @sch: the qdisc
 * @p: the congestion point
 * @c: what the options say
 *
 * Context: RTNL, and the tree is locked or the qdisc not yet in use.
 */
void rocc_cp_apply(struct Qdisc *sch, struct rocc_cp *p, const struct rocc_config *c)
{
	struct rocc_law law = {};
	u32 ns = rocc_law_of(sch, c, &law);
	bool top;

	spin_lock_bh(&p->lock);
	rocc_of_cp(p)->config = *c;
	top = p->rate.rate == p->law.rate_max;
	p->law = law;
	p->interval_ns = ns;
	p->age_ns = c->age_ns ?: min_t(u64, (u64)ROCC_AGE_INTERVALS * ns, U32_MAX);
	p->sample = c->sample;
	p->rate.rate = top ? law.rate_max : clamp(p->rate.rate, law.rate_min, law.rate_max);
	spin_unlock_bh(&p->lock);
}

/**
 * rocc_cp_init - a new congestion point
 * @sch: its qdisc
 * @p: the congestion point, all 0
 * @c: what the options say
 *
 * rocc_cp_destroy() may be called whatever it returns. Return: 0 or -ENOMEM.
 */
int rocc_cp_init(struct Qdisc *sch, struct rocc_cp *p, const struct rocc_config *c)
{
	u32 i;

	spin_lock_init(&p->lock);
	INIT_LIST_HEAD(&p->active);
	hrtimer_init(&p->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	p->timer.function = rocc_cp_interval;
	rocc_bridge_get();
	p->seed = get_random_u32();
	p->random = get_random_u32();
	p->epoch = rocc_epoch();
	p->table = c->table;
	p->sets = c->flows / ROCC_WAYS;
	rocc_cp_apply(sch, p, c);
	rocc_rate_start(&p->rate, &p->law);
	p->told_max = true;
	p->gap = 1;
	p->flows = kvcalloc(c->flows, sizeof(*p->flows), GFP_KERNEL);
	if (!p->flows)
		return -ENOMEM;
	for (i = 0; i < c->flows; i++)
		INIT_LIST_HEAD(&p->flows[i].node);
	return 0;
}

/* Nothing is queued any more. */
void rocc_cp_reset(struct rocc_cp *p)
{
	struct rocc_flow *flow, *next;

	spin_lock_bh(&p->lock);
	list_for_each_entry_safe(flow, next, &p->active, node)
		rocc_flow_forget(p, flow);
	WRITE_ONCE(p->backlog, 0);
	spin_unlock_bh(&p->lock);
}

void rocc_cp_destroy(struct rocc_cp *p)
{
	if (p->timer.function) {
		hrtimer_cancel(&p->timer);
		rocc_bridge_put();
	}
	kvfree(p->flows);
}
