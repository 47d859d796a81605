// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - what rocc says of itself: statistics of both roles, and the classes that show them
 */
#include <net/netlink.h>

#include "rocc.h"
#include "rocc_counter_rows.h"

#define ROCC_MINOR_CHILD	1
#define ROCC_MINOR_LIMITER	2			/* of the first slot */

static int rocc_cp_dump(struct rocc_cp *p, struct sk_buff *skb)
{
	struct rocc_cp_stats stats;
	u64 rate, cuts;
	u32 q_ref, ns;

	spin_lock_bh(&p->lock);
	stats = p->stats;
	rate = p->rate.rate >> ROCC_FRACTION >> 3;
	cuts = p->rate.cuts;
	q_ref = p->law.q_ref;
	ns = p->interval_ns;
	spin_unlock_bh(&p->lock);
	if (hop_counters_dump(rocc_cp_counters, ARRAY_SIZE(rocc_cp_counters), &stats, skb,
			      TCA_ROCC_STATS_PAD) ||
	    nla_put_u64_64bit(skb, TCA_ROCC_STATS_FAIR_RATE, rate, TCA_ROCC_STATS_PAD) ||
	    nla_put_u64_64bit(skb, TCA_ROCC_STATS_CUTS, cuts, TCA_ROCC_STATS_PAD) ||
	    nla_put_u32(skb, TCA_ROCC_STATS_Q_REF, q_ref) ||
	    nla_put_u32(skb, TCA_ROCC_STATS_INTERVAL, ns))
		return -EMSGSIZE;
	return 0;
}

static int rocc_rp_dump(struct rocc_rp *h, struct sk_buff *skb)
{
	struct rocc_rp_stats stats;

	spin_lock_bh(&h->lock);
	stats = h->stats;
	spin_unlock_bh(&h->lock);
	return hop_counters_dump(rocc_rp_counters, ARRAY_SIZE(rocc_rp_counters), &stats, skb,
				 TCA_ROCC_STATS_PAD);
}

static int rocc_put_role_stats(struct Qdisc *sch, struct sk_buff *skb)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (!rocc_is_rp(q))
		return rocc_cp_dump(&q->cp, skb);
	return rocc_rp_dump(&q->rp, skb) ?: rocc_net_dump(dev_net(qdisc_dev(sch)), skb);
}

int rocc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_stats stats;
	struct nlattr *nest;
	bool full;
	u64 now;

	sch_tree_lock(sch);
	now = ktime_get_ns();
	rocc_backlog_moves(sch, q, now);
	stats = q->stats;
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(rocc_counters, ARRAY_SIZE(rocc_counters), &stats, d->skb,
				 TCA_ROCC_STATS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_ROCC_STATS_TIME, now, TCA_ROCC_STATS_PAD) ||
	       rocc_put_role_stats(sch, d->skb);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * One, below which another qdisc may be put, and at a host the limiters, which come and go by
 * themselves. Internally (find, walk) a class is its minor number.
 */

/* Is there a limiter in this slot? It may be gone by the next call. */
static bool rocc_rp_has(struct rocc_rp *h, u32 slot)
{
	return slot < rocc_of_rp(h)->config.limiters && READ_ONCE(h->slots[slot]);
}

static int rocc_limiter_put_attrs(const struct rocc_limiter *l, struct sk_buff *skb, u64 now)
{
	unsigned int bytes = l->id.v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
	const u8 *l4 = l->id.l4;

	return nla_put_u8(skb, TCA_ROCC_LIMITER_PROTOCOL, l->id.proto) ||
	       nla_put(skb, TCA_ROCC_LIMITER_SOURCE, bytes, l->id.saddr) ||
	       nla_put(skb, TCA_ROCC_LIMITER_DESTINATION, bytes, l->id.daddr) ||
	       nla_put_u16(skb, TCA_ROCC_LIMITER_SPORT, l4[0] << 8 | l4[1]) ||
	       nla_put_u16(skb, TCA_ROCC_LIMITER_DPORT, l4[2] << 8 | l4[3]) ||
	       nla_put_u64_64bit(skb, TCA_ROCC_LIMITER_RATE, l->rate, TCA_ROCC_LIMITER_PAD) ||
	       nla_put(skb, TCA_ROCC_LIMITER_POINT, sizeof(l->cp_address), l->cp_address) ||
	       nla_put_u32(skb, TCA_ROCC_LIMITER_POINT_PORT, l->cp_port) ||
	       nla_put_u16(skb, TCA_ROCC_LIMITER_POINT_QUEUE, l->cp_queue) ||
	       nla_put_u64_64bit(skb, TCA_ROCC_LIMITER_AGE, now - l->born_ns,
				 TCA_ROCC_LIMITER_PAD) ||
	       nla_put_u64_64bit(skb, TCA_ROCC_LIMITER_QUIET, now - l->accepted_ns,
				 TCA_ROCC_LIMITER_PAD) ||
	       nla_put_u64_64bit(skb, TCA_ROCC_LIMITER_ACCEPTED, l->accepted,
				 TCA_ROCC_LIMITER_PAD) ||
	       nla_put_u64_64bit(skb, TCA_ROCC_LIMITER_RAISED, l->raised,
				 TCA_ROCC_LIMITER_PAD) ? -EMSGSIZE : 0;
}

/* It may be gone by now: then nothing is put. */
static int rocc_rp_dump_class(struct rocc_rp *h, u32 slot, struct gnet_dump *d)
{
	struct gnet_stats_queue qs = {};
	struct rocc_limiter l;
	struct nlattr *nest;
	bool there, full;

	spin_lock_bh(&h->lock);
	there = h->slots[slot];
	if (there)
		l = *h->slots[slot];
	spin_unlock_bh(&h->lock);
	if (!there)
		return 0;
	qs.qlen = l.qlen;
	qs.backlog = l.backlog;
	if (hop_put_sent(d, l.sent, l.sent_bytes) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &qs, qs.qlen) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest || rocc_limiter_put_attrs(&l, d->skb, ktime_get_ns());
	return hop_nest_end(d->skb, nest, full);
}

static void rocc_child_emptied(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (!rocc_is_rp(q))
		WRITE_ONCE(q->cp.backlog, sch->qstats.backlog);
}

static int rocc_graft(struct Qdisc *sch, unsigned long minor, struct Qdisc *new, struct Qdisc **old,
		      struct netlink_ext_ack *extack)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct Qdisc *fifo = NULL;

	if (minor != ROCC_MINOR_CHILD) {
		NL_SET_ERR_MSG(extack, "a limiter takes no qdisc");
		return -EOPNOTSUPP;
	}
	if (!new) {
		fifo = fifo_create_dflt(sch, &bfifo_qdisc_ops, q->config.limit, extack);
		if (IS_ERR(fifo))
			return PTR_ERR(fifo);
		qdisc_hash_add(fifo, true);
		new = fifo;
	}
	*old = qdisc_replace(sch, new, &q->child);
	q->fifo = fifo;
	rocc_child_emptied(sch);
	return 0;
}

/* The child is empty, without having been asked for its last packet. */
static void rocc_qlen_notify(struct Qdisc *sch, unsigned long minor)
{
	rocc_child_emptied(sch);
}

static struct Qdisc *rocc_leaf(struct Qdisc *sch, unsigned long minor)
{
	struct rocc_sched *q = qdisc_priv(sch);

	return minor == ROCC_MINOR_CHILD ? q->child : NULL;
}

static unsigned long rocc_find(struct Qdisc *sch, u32 classid)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	if (minor == ROCC_MINOR_CHILD)
		return minor;
	if (minor < ROCC_MINOR_LIMITER || !rocc_is_rp(q))
		return 0;
	return rocc_rp_has(&q->rp, minor - ROCC_MINOR_LIMITER) ? minor : 0;
}

static void rocc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u32 i;

	if (arg->stop || !hop_walk_one(sch, arg, ROCC_MINOR_CHILD) || !rocc_is_rp(q))
		return;
	for (i = 0; i < q->config.limiters; i++) {
		if (!rocc_rp_has(&q->rp, i))
			arg->count++;
		else if (!hop_walk_one(sch, arg, ROCC_MINOR_LIMITER + i))
			return;
	}
}

static int rocc_dump_class(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct rocc_sched *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(minor);
	if (minor == ROCC_MINOR_CHILD)
		tcm->tcm_info = q->child->handle;
	return 0;
}

static int rocc_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (minor != ROCC_MINOR_CHILD)
		return rocc_rp_dump_class(&q->rp, minor - ROCC_MINOR_LIMITER, d);
	if (gnet_stats_copy_basic(d, q->child->cpu_bstats, &q->child->bstats, true) < 0 ||
	    qdisc_qstats_copy(d, q->child) < 0)
		return -1;
	return 0;
}

const struct Qdisc_class_ops rocc_class_ops = {
	.graft		= rocc_graft,
	.leaf		= rocc_leaf,
	.qlen_notify	= rocc_qlen_notify,
	.find		= rocc_find,
	.walk		= rocc_walk,
	.dump		= rocc_dump_class,
	.dump_stats	= rocc_dump_class_stats,
};
