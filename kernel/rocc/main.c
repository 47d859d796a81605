// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - RoCC as a queueing discipline
 *
 * Taheri, Menikkumbura, Vanini, Fahmy, Eugster, Edsall: RoCC: Robust Congestion Control for RDMA,
 * CoNEXT 2020.
 *
 * A switch computes a fair rate for the flows in each of its queues and tells their sources, which
 * keep to it. One qdisc, which has one of two roles:
 *
 *   switch   the congestion point (point.c): observes, computes, sends CNPs (cnp_send.c)
 *   host     the reaction point (host.c): limits flows to what CNPs say (cnp_receive.c)
 *
 * In both the packets themselves are another qdisc's, the child: a fifo of `limit` bytes, or what
 * is put below (`tc qdisc add ... parent X:1 bfc`): RoCC's rates then stand above BFC's queues,
 * as the BFC paper advises for what lasts longer than a burst. Control traffic goes ahead of it.
 *
 *   flow.c         which flow a packet is of
 *   way.c          by which way its source is told
 *   cnp.c          the codec of CNPs
 *
 * Who protects what: rocc.h.
 */
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/ipv6.h>
#include <net/netlink.h>

#include "../hopctl/speed.h"
#include "../sched/control.h"
#include "../sched/counters.h"
#include "../sched/options.h"
#include "rocc.h"

#define ROCC_RATE_LEAST		125			/* bytes per second: 1 kbit/s */
#define ROCC_RATE_MOST		(1ULL << 40)
#define ROCC_MINOR_CHILD	1
#define ROCC_MINOR_LIMITER	2			/* of the first slot */

/* All of them, so that they hear of a link's new speed. RTNL. */
static LIST_HEAD(rocc_scheds);

static bool rocc_is_host(const struct rocc_sched *q)
{
	return q->config.role == ROCC_ROLE_HOST;
}

/* ---- packets ---- */

/* A flow of control packets: addresses and protocol. What follows them differs from CNP to CNP. */
static u64 *rocc_spilled_of(struct rocc_sched *q, const struct sk_buff *skb)
{
	struct cnp_flow id;

	if (!rocc_flow_of(skb, &id))
		return &q->spilled[0];	/* fragments and the like share it */
	memset(id.l4, 0, sizeof(id.l4));
	return &q->spilled[rocc_flow_hash(&id, q->seed) % ROCC_SPILLED];
}

/* Is some of what has spilled still here? A fifo says so by what has left it; another child may
 * hold back what it likes, as limiters do, so there it is when any is.
 */
static bool rocc_spilled_waits(const struct Qdisc *sch, const struct rocc_sched *q, u64 leaves_at)
{
	u64 data = sch->qstats.backlog - q->control_bytes;

	if (!leaves_at || !data)
		return false;
	return leaves_at == U64_MAX || (s64)(leaves_at - (q->point.arrived - data)) > 0;
}

/* A control packet that this box only forwards may be beyond its share.
 *
 * Return: NET_XMIT_SUCCESS: it is not. NET_XMIT_DROP: it is, and names no flow. ROCC_GOES_ON: it
 * goes with the data.
 */
static int rocc_police(struct Qdisc *sch, struct rocc_sched *q, const struct sk_buff *skb, u64 now)
{
	bool flow = hop_has_ip_flow(hop_network(skb));
	u64 *spilled = flow ? rocc_spilled_of(q, skb) : NULL;

	if (!flow || !rocc_spilled_waits(sch, q, *spilled)) {
		if (hop_control_takes(&q->police, &q->control_paid, skb, now))
			return NET_XMIT_SUCCESS;
		if (!flow)
			return NET_XMIT_DROP;
	}
	*spilled = U64_MAX;
	if (!rocc_is_host(q) && q->fifo)
		*spilled = q->point.arrived + qdisc_pkt_len(skb);
	q->stats.spilled++;
	return ROCC_GOES_ON;
}

/**
 * rocc_enqueue_control - queue a packet ahead of all others
 * @skb: the packet
 * @sch: the qdisc
 * @to_free: takes it if there is no room
 *
 * Return: as ->enqueue(), or ROCC_GOES_ON, and it is still the caller's.
 */
int rocc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	int verdict = NET_XMIT_SUCCESS;

	if (hop_is_policed(skb, hop_network(skb), q->config.control_dscp))
		verdict = rocc_police(sch, q, skb, now);
	if (verdict == ROCC_GOES_ON)
		return verdict;
	if (verdict == NET_XMIT_DROP) {
		q->stats.drop_police++;
		return qdisc_drop(skb, sch, to_free);
	}
	rocc_backlog_moves(sch, q, now);
	if (unlikely(!hop_control_put(&q->control, sch, skb))) {
		q->stats.drop_control++;
		return qdisc_drop(skb, sch, to_free);
	}
	q->control_bytes += qdisc_pkt_len(skb);
	rocc_backlog_peak(sch, q);
	q->stats.control++;
	return NET_XMIT_SUCCESS;
}

/**
 * rocc_dequeue_child - the next packet: control traffic, then the child's
 * @sch: the qdisc
 * @q: the same
 * @now: time
 */
struct sk_buff *rocc_dequeue_child(struct Qdisc *sch, struct rocc_sched *q, u64 now)
{
	struct sk_buff *skb = __skb_dequeue(&q->control);

	if (likely(!skb))
		skb = q->child->ops->dequeue(q->child);
	else
		q->control_bytes -= qdisc_pkt_len(skb);
	if (!skb)
		return NULL;
	rocc_backlog_moves(sch, q, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static int rocc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return rocc_is_host(qdisc_priv(sch)) ? rocc_host_enqueue(skb, sch, to_free) :
					       rocc_point_enqueue(skb, sch, to_free);
}

static struct sk_buff *rocc_dequeue(struct Qdisc *sch)
{
	return rocc_is_host(qdisc_priv(sch)) ? rocc_host_dequeue(sch) : rocc_point_dequeue(sch);
}

static void rocc_reset(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	rocc_backlog_moves(sch, q, ktime_get_ns());
	qdisc_reset(q->child);
	while ((skb = __skb_dequeue(&q->control)))
		rtnl_kfree_skbs(skb, skb);
	q->control_bytes = 0;
	if (rocc_is_host(q))
		rocc_host_reset(&q->host);
	else
		rocc_point_reset(&q->point);
}

/* ---- configuration ---- */

#define ROCC_OPTION(_attr, _field, _min, _max, _rule, ...) {			\
	.attr = _attr,								\
	.offset = offsetof(struct rocc_config, _field),				\
	.size = sizeof_field(struct rocc_config, _field),			\
	.min = _min, .max = _max, .rule = _rule, __VA_ARGS__			\
}

static const struct hop_option rocc_options[] = {
	ROCC_OPTION(TCA_ROCC_ROLE, role, 0, __ROCC_ROLE_MAX - 1,
		    "role must be switch or host", .fixed = true),
	ROCC_OPTION(TCA_ROCC_RATE, rate, ROCC_RATE_LEAST, ROCC_RATE_MOST,
		    "rate must be auto or 1 kbit/s to 8 Tbit/s", .zero = true),
	ROCC_OPTION(TCA_ROCC_LIMIT, limit, 1, 1U << 30,
		    "limit must be 1 byte to 1 GiB"),
	ROCC_OPTION(TCA_ROCC_CONTROL_SHARE, control_share, 1, HOP_POLICE_ONE,
		    "control-share must be 0.01 to 100 percent"),
	ROCC_OPTION(TCA_ROCC_CONTROL_DSCP, control_dscp, 1, HOP_DSCP_MAX,
		    "control-dscp must be none or 1 to 63", .zero = true),
};

static const struct hop_option rocc_point_options[] = {
	ROCC_OPTION(TCA_ROCC_INTERVAL, interval_ns, NSEC_PER_USEC, NSEC_PER_SEC,
		    "interval must be auto or 1 us to 1 s", .zero = true),
	ROCC_OPTION(TCA_ROCC_RATE_MIN, rate_min, ROCC_RATE_LEAST, ROCC_RATE_MOST,
		    "rate-min must be auto or 1 kbit/s to 8 Tbit/s", .zero = true),
	ROCC_OPTION(TCA_ROCC_QREF, q_ref, 1, 1U << 30,
		    "qref must be auto or 1 byte to 1 GiB", .zero = true),
	ROCC_OPTION(TCA_ROCC_QMID, q_mid, 1, 1U << 30,
		    "qmid must be auto or 1 byte to 1 GiB", .zero = true),
	ROCC_OPTION(TCA_ROCC_QMAX, q_max, 1, 1U << 30,
		    "qmax must be auto or 1 byte to 1 GiB", .zero = true),
	ROCC_OPTION(TCA_ROCC_ALPHA, alpha, 1, 100 * ROCC_GAIN_ONE,
		    "alpha must be auto or 0.0001 to 100", .zero = true),
	ROCC_OPTION(TCA_ROCC_BETA, beta, 1, 100 * ROCC_GAIN_ONE,
		    "beta must be auto or 0.0001 to 100", .zero = true),
	ROCC_OPTION(TCA_ROCC_TUNING, tuning, 0, __ROCC_TUNING_MAX - 1,
		    "tuning must be steps or smooth"),
	ROCC_OPTION(TCA_ROCC_TABLE, table, 0, __ROCC_TABLE_MAX - 1,
		    "table must be queue, age, elephants or afd", .fixed = true),
	ROCC_OPTION(TCA_ROCC_FLOWS, flows, ROCC_WAYS, ROCC_FLOWS_MAX,
		    "flows must be 4 to 65536", .fixed = true),
	ROCC_OPTION(TCA_ROCC_AGE, age_ns, NSEC_PER_USEC, NSEC_PER_SEC,
		    "age must be auto or 1 us to 1 s", .zero = true),
	ROCC_OPTION(TCA_ROCC_SAMPLE, sample, 1, 1 << 20,
		    "sample must be 1 to 1048576"),
	ROCC_OPTION(TCA_ROCC_CNPS, cnps, 1, NSEC_PER_SEC,
		    "cnps must be auto or 1 to 10^9 a second", .zero = true),
	ROCC_OPTION(TCA_ROCC_SOURCE, source, 0, U32_MAX, "source must be an IPv4 address"),
	ROCC_OPTION(TCA_ROCC_COMPUTE, compute, 0, __ROCC_COMPUTE_MAX - 1,
		    "compute must be switch or host"),
	ROCC_OPTION(TCA_ROCC_SIGN, sign, 0, ROCC_CNP_KEYS, "sign must be none, 1 or 2"),
};

static const struct hop_option rocc_host_options[] = {
	ROCC_OPTION(TCA_ROCC_RECOVERY, recovery_ns, NSEC_PER_USEC, NSEC_PER_SEC,
		    "recovery must be auto or 1 us to 1 s", .zero = true),
	ROCC_OPTION(TCA_ROCC_HOLD, hold_ns, NSEC_PER_USEC, NSEC_PER_SEC,
		    "hold must be 1 us to 1 s"),
	ROCC_OPTION(TCA_ROCC_FLOOR, floor, ROCC_RATE_LEAST, ROCC_RATE_MOST,
		    "floor must be auto or 1 kbit/s to 8 Tbit/s", .zero = true),
	ROCC_OPTION(TCA_ROCC_LIMITERS, limiters, 1, ROCC_LIMITERS_MAX,
		    "limiters must be 1 to 32768", .fixed = true),
	ROCC_OPTION(TCA_ROCC_RADIUS, radius, 0, 254, "radius must be 0 to 254"),
};

static const struct nla_policy rocc_policy[TCA_ROCC_MAX + 1] = {
	[TCA_ROCC_ROLE]		= { .type = NLA_U8 },
	[TCA_ROCC_RATE]		= { .type = NLA_U64 },
	[TCA_ROCC_LIMIT]	= { .type = NLA_U32 },
	[TCA_ROCC_KEY1]		= NLA_POLICY_EXACT_LEN(ROCC_KEY_BYTES),
	[TCA_ROCC_KEY2]		= NLA_POLICY_EXACT_LEN(ROCC_KEY_BYTES),
	[TCA_ROCC_INTERVAL]	= { .type = NLA_U32 },
	[TCA_ROCC_RATE_MIN]	= { .type = NLA_U64 },
	[TCA_ROCC_QREF]		= { .type = NLA_U32 },
	[TCA_ROCC_QMID]		= { .type = NLA_U32 },
	[TCA_ROCC_QMAX]		= { .type = NLA_U32 },
	[TCA_ROCC_ALPHA]	= { .type = NLA_U32 },
	[TCA_ROCC_BETA]		= { .type = NLA_U32 },
	[TCA_ROCC_TUNING]	= { .type = NLA_U8 },
	[TCA_ROCC_TABLE]	= { .type = NLA_U8 },
	[TCA_ROCC_FLOWS]	= { .type = NLA_U32 },
	[TCA_ROCC_AGE]		= { .type = NLA_U32 },
	[TCA_ROCC_SAMPLE]	= { .type = NLA_U32 },
	[TCA_ROCC_CNPS]		= { .type = NLA_U32 },
	[TCA_ROCC_SOURCE]	= { .type = NLA_U32 },
	[TCA_ROCC_COMPUTE]	= { .type = NLA_U8 },
	[TCA_ROCC_SIGN]		= { .type = NLA_U8 },
	[TCA_ROCC_RECOVERY]	= { .type = NLA_U32 },
	[TCA_ROCC_HOLD]		= { .type = NLA_U32 },
	[TCA_ROCC_FLOOR]	= { .type = NLA_U64 },
	[TCA_ROCC_LIMITERS]	= { .type = NLA_U32 },
	[TCA_ROCC_RADIUS]	= { .type = NLA_U8 },
	[TCA_ROCC_FROM]		= { .type = NLA_NESTED },
	[TCA_ROCC_KEYS]		= { .type = NLA_REJECT },
	[TCA_ROCC_VERSION]	= { .type = NLA_REJECT },
	[TCA_ROCC_CONTROL_SHARE] = { .type = NLA_U32 },
	[TCA_ROCC_CONTROL_DSCP]	= { .type = NLA_U8 },
};

static const struct rocc_config rocc_defaults = {
	.source		= (__force u32)cpu_to_be32(0xc0000008),	/* 192.0.0.8 */
	.limit		= 8 << 20,
	.flows		= 4096,
	.sample		= 16,
	.hold_ns	= 20 * NSEC_PER_MSEC,
	.limiters	= 4096,
	.radius		= 8,
	.control_share	= ROCC_CONTROL_SHARE_DEFAULT,
};

/**
 * rocc_speed - of a qdisc's link
 * @sch: the qdisc
 * @c: what the options say
 *
 * Context: RTNL. Return: bit/s.
 */
u64 rocc_speed(struct Qdisc *sch, const struct rocc_config *c)
{
	const struct rocc_sched *q = qdisc_priv(sch);

	if (c->rate)
		return c->rate * 8;
	return q->link ? q->link * 1000000ULL : HOP_RATE_UNKNOWN * 8;
}

/* Asks the device, which cannot be done once the tree is locked. */
static void rocc_link_ask(struct rocc_sched *q)
{
	q->link = hop_link_speed(qdisc_dev(q->sch));
}

static void rocc_parse_key(const struct nlattr *a, struct rocc_config *c, unsigned int number)
{
	const __le64 *words;
	__le64 copy[2];

	if (!a)
		return;
	memcpy(copy, nla_data(a), sizeof(copy));
	words = copy;
	c->key[number].key[0] = le64_to_cpu(words[0]);
	c->key[number].key[1] = le64_to_cpu(words[1]);
	if (words[0] || words[1])
		c->keys |= BIT(number);
	else
		c->keys &= ~BIT(number);
	memzero_explicit(copy, sizeof(copy));
}

static bool rocc_prefix_is_one(const struct rocc_prefix *prefix)
{
	struct in6_addr address, masked;

	if (prefix->bits > 128)
		return false;
	memcpy(&address, prefix->address, sizeof(address));
	ipv6_addr_prefix(&masked, &address, prefix->bits);
	return ipv6_addr_equal(&address, &masked);
}

static int rocc_parse_from(const struct nlattr *nest, struct rocc_config *c,
			   struct netlink_ext_ack *extack)
{
	const struct nlattr *a;
	int left;

	if (!nest)
		return 0;
	c->prefixes = 0;
	nla_for_each_nested(a, nest, left) {
		if (nla_type(a) != TCA_ROCC_FROM_PREFIX ||
		    nla_len(a) != sizeof(struct rocc_prefix))
			return hop_option_refuse(extack, a, "from takes prefixes", -EINVAL);
		if (c->prefixes == ROCC_PREFIXES_MAX)
			return hop_option_refuse(extack, a, "from takes 16 prefixes at most",
						 -ENOSPC);
		memcpy(&c->from[c->prefixes], nla_data(a), sizeof(struct rocc_prefix));
		if (!rocc_prefix_is_one(&c->from[c->prefixes]))
			return hop_option_refuse(extack, a,
						 "from: bits behind the prefix must be 0", -EINVAL);
		c->prefixes++;
	}
	return 0;
}

static int rocc_refuse_rows(const struct hop_option *rows, unsigned int n, struct nlattr **tb,
			    const char *rule, struct netlink_ext_ack *extack)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (tb[rows[i].attr])
			return hop_option_refuse(extack, tb[rows[i].attr], rule, -EINVAL);
	return 0;
}

static int rocc_parse_switch(struct Qdisc *sch, struct nlattr **tb, struct rocc_config *c,
			     bool creating, struct netlink_ext_ack *extack)
{
	static const char rule[] = "this option is for role host";
	int err;

	err = rocc_refuse_rows(rocc_host_options, ARRAY_SIZE(rocc_host_options), tb, rule, extack);
	if (!err && tb[TCA_ROCC_FROM])
		err = hop_option_refuse(extack, tb[TCA_ROCC_FROM], rule, -EINVAL);
	if (!err)
		err = hop_options_parse(rocc_point_options, ARRAY_SIZE(rocc_point_options), tb, c,
					creating, extack);
	return err ?: rocc_point_check(sch, c, tb, extack);
}

static int rocc_parse_host(struct nlattr **tb, struct rocc_config *c, bool creating,
			   struct netlink_ext_ack *extack)
{
	int err;

	err = rocc_refuse_rows(rocc_point_options, ARRAY_SIZE(rocc_point_options), tb,
			       "this option is for role switch", extack);
	if (!err)
		err = hop_options_parse(rocc_host_options, ARRAY_SIZE(rocc_host_options), tb, c,
					creating, extack);
	return err ?: rocc_parse_from(tb[TCA_ROCC_FROM], c, extack);
}

static int rocc_parse(struct Qdisc *sch, struct nlattr *opt, struct rocc_config *c, bool creating,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ROCC_MAX + 1] = {};
	int err = 0;

	if (opt)
		err = nla_parse(tb, TCA_ROCC_MAX, nla_data(opt), nla_len(opt), rocc_policy, extack);
	if (!err)
		err = hop_options_parse(rocc_options, ARRAY_SIZE(rocc_options), tb, c, creating,
					extack);
	if (err)
		return err;
	rocc_parse_key(tb[TCA_ROCC_KEY1], c, 0);
	rocc_parse_key(tb[TCA_ROCC_KEY2], c, 1);
	if (c->role == ROCC_ROLE_HOST)
		return rocc_parse_host(tb, c, creating, extack);
	return rocc_parse_switch(sch, tb, c, creating, extack);
}

static void rocc_apply(struct Qdisc *sch, const struct rocc_config *c)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (c->role == ROCC_ROLE_HOST)
		rocc_host_apply(sch, &q->host, c);
	else
		rocc_point_apply(sch, &q->point, c);
	hop_police_set(&q->police, rocc_speed(sch, c) / BITS_PER_BYTE, c->control_share,
		       psched_mtu(qdisc_dev(sch)));
}

/* The fifo that is there until another qdisc is put below holds what `limit` says. */
static int rocc_child_limit(struct rocc_sched *q, u32 limit)
{
	return q->fifo ? fifo_set_limit(q->fifo, limit) : 0;
}

static int rocc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_config c = q->config;
	int err;

	rocc_link_ask(q);
	err = rocc_parse(sch, opt, &c, false, extack);
	if (!err && c.limit != q->config.limit)
		err = rocc_child_limit(q, c.limit);
	if (!err) {
		sch_tree_lock(sch);
		rocc_apply(sch, &c);
		sch_tree_unlock(sch);
	}
	memzero_explicit(&c, sizeof(c));
	return err;
}

static int rocc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_config *c = &q->config;	/* no copy of keys on the stack */
	struct Qdisc *child;
	int err;

	/* Enough for destroy() to run after any failure below. */
	q->sch = sch;
	q->child = &noop_qdisc;
	__skb_queue_head_init(&q->control);
	INIT_LIST_HEAD(&q->node);
	*c = rocc_defaults;
	q->seed = get_random_u32();
	q->changed_ns = ktime_get_ns();

	if (qdisc_dev(sch)->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "rocc is for Ethernet devices");
		return -EOPNOTSUPP;
	}
	rocc_link_ask(q);
	err = rocc_parse(sch, opt, c, true, extack);
	if (err)
		return err;
	if (rocc_is_host(q))
		err = rocc_host_init(sch, &q->host, c);
	else
		err = rocc_point_init(sch, &q->point, c);
	if (err)
		return err;
	hop_police_set(&q->police, rocc_speed(sch, c) / BITS_PER_BYTE, c->control_share,
		       psched_mtu(qdisc_dev(sch)));
	child = fifo_create_dflt(sch, &bfifo_qdisc_ops, c->limit, extack);
	if (IS_ERR(child))
		return PTR_ERR(child);
	qdisc_hash_add(child, true);
	q->child = child;
	q->fifo = child;
	list_add_tail(&q->node, &rocc_scheds);
	return 0;
}

static void rocc_destroy(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);

	list_del(&q->node);
	if (rocc_is_host(q))
		rocc_host_destroy(&q->host);
	else
		rocc_point_destroy(&q->point);
	__skb_queue_purge(&q->control);
	qdisc_put(q->child);
	memzero_explicit(q->config.key, sizeof(q->config.key));
}

static int rocc_put_from(const struct rocc_config *c, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_ROCC_FROM);
	u8 i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < c->prefixes; i++)
		if (nla_put(skb, TCA_ROCC_FROM_PREFIX, sizeof(c->from[i]), &c->from[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int rocc_put_options(const struct rocc_config *c, struct sk_buff *skb)
{
	int err = hop_options_dump(rocc_options, ARRAY_SIZE(rocc_options), c, skb, TCA_ROCC_PAD);

	if (err)
		return err;
	if (c->role == ROCC_ROLE_HOST)
		err = hop_options_dump(rocc_host_options, ARRAY_SIZE(rocc_host_options), c, skb,
				       TCA_ROCC_PAD) ?: rocc_put_from(c, skb);
	else
		err = hop_options_dump(rocc_point_options, ARRAY_SIZE(rocc_point_options), c, skb,
				       TCA_ROCC_PAD);
	return err ?: nla_put_u8(skb, TCA_ROCC_KEYS, c->keys) ?:
		      nla_put_u32(skb, TCA_ROCC_VERSION, ROCC_VERSION);
}

static int rocc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);

	if (!nest)
		return -EMSGSIZE;
	if (rocc_put_options(&q->config, skb)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

/* ---- statistics ---- */

static const struct hop_counter rocc_counters[] = {
	HOP_COUNTER(TCA_ROCC_STATS_BACKLOG_MAX, rocc_stats, backlog_max),
	HOP_COUNTER(TCA_ROCC_STATS_BACKLOG_TIME, rocc_stats, backlog_time),
	HOP_COUNTER(TCA_ROCC_STATS_CONTROL, rocc_stats, control),
	HOP_COUNTER(TCA_ROCC_STATS_DROP_CONTROL, rocc_stats, drop_control),
	HOP_COUNTER(TCA_ROCC_STATS_NO_FLOW, rocc_stats, no_flow),
	HOP_COUNTER(TCA_ROCC_STATS_SPILLED, rocc_stats, spilled),
	HOP_COUNTER(TCA_ROCC_STATS_DROP_POLICE, rocc_stats, drop_police),
};

static int rocc_put_role_stats(struct Qdisc *sch, struct sk_buff *skb)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (!rocc_is_host(q))
		return rocc_point_dump(&q->point, skb);
	return rocc_host_dump(&q->host, skb) ?: rocc_net_dump(dev_net(qdisc_dev(sch)), skb);
}

static int rocc_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_stats stats;
	struct nlattr *nest;
	u64 now;

	sch_tree_lock(sch);
	now = ktime_get_ns();
	rocc_backlog_moves(sch, q, now);
	stats = q->stats;
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!nest)
		return -1;
	if (hop_counters_dump(rocc_counters, ARRAY_SIZE(rocc_counters), &stats, d->skb,
			      TCA_ROCC_STATS_PAD) ||
	    nla_put_u64_64bit(d->skb, TCA_ROCC_STATS_TIME, now, TCA_ROCC_STATS_PAD) ||
	    rocc_put_role_stats(sch, d->skb)) {
		nla_nest_cancel(d->skb, nest);
		return -1;
	}
	nla_nest_end(d->skb, nest);
	return 0;
}

/* ---- classes ----
 *
 * One, below which another qdisc may be put, and at a host the limiters, which come and go by
 * themselves. Internally (find, walk) a class is its minor number.
 */

static void rocc_child_emptied(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);

	if (!rocc_is_host(q))
		WRITE_ONCE(q->point.backlog, sch->qstats.backlog);
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
	if (minor < ROCC_MINOR_LIMITER || !rocc_is_host(q))
		return 0;
	return rocc_host_has(&q->host, minor - ROCC_MINOR_LIMITER) ? minor : 0;
}

/* Return: false to end the walk. */
static bool rocc_walk_one(struct Qdisc *sch, struct qdisc_walker *arg, unsigned long minor)
{
	if (arg->count >= arg->skip && arg->fn(sch, minor, arg) < 0) {
		arg->stop = 1;
		return false;
	}
	arg->count++;
	return true;
}

static void rocc_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct rocc_sched *q = qdisc_priv(sch);
	u32 i;

	if (arg->stop || !rocc_walk_one(sch, arg, ROCC_MINOR_CHILD) || !rocc_is_host(q))
		return;
	for (i = 0; i < q->config.limiters; i++) {
		if (!rocc_host_has(&q->host, i))
			arg->count++;
		else if (!rocc_walk_one(sch, arg, ROCC_MINOR_LIMITER + i))
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
		return rocc_host_dump_class(&q->host, minor - ROCC_MINOR_LIMITER, d);
	if (gnet_stats_copy_basic(d, q->child->cpu_bstats, &q->child->bstats, true) < 0 ||
	    qdisc_qstats_copy(d, q->child) < 0)
		return -1;
	return 0;
}

static const struct Qdisc_class_ops rocc_class_ops = {
	.graft		= rocc_graft,
	.leaf		= rocc_leaf,
	.qlen_notify	= rocc_qlen_notify,
	.find		= rocc_find,
	.walk		= rocc_walk,
	.dump		= rocc_dump_class,
	.dump_stats	= rocc_dump_class_stats,
};

static struct Qdisc_ops rocc_qdisc_ops __read_mostly = {
	.id		= "rocc",
	.cl_ops		= &rocc_class_ops,
	.priv_size	= sizeof(struct rocc_sched),
	.enqueue	= rocc_enqueue,
	.dequeue	= rocc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= rocc_init,
	.reset		= rocc_reset,
	.destroy	= rocc_destroy,
	.change		= rocc_change,
	.dump		= rocc_dump,
	.dump_stats	= rocc_dump_stats,
	.owner		= THIS_MODULE,
};

/* ---- module ---- */

/* A link has another speed, or there may be the first bridge. */
static int rocc_device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct rocc_config c;
	struct rocc_sched *q;

	if (event == NETDEV_CHANGEUPPER)
		rocc_bridge_look();
	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	list_for_each_entry(q, &rocc_scheds, node) {
		if (qdisc_dev(q->sch) != dev)
			continue;
		c = q->config;
		rocc_link_ask(q);
		sch_tree_lock(q->sch);
		rocc_apply(q->sch, &c);
		sch_tree_unlock(q->sch);
		memzero_explicit(&c, sizeof(c));
	}
	return NOTIFY_DONE;
}

static struct notifier_block rocc_notifier = { .notifier_call = rocc_device_event };

static int __init rocc_module_init(void)
{
	int err;

	err = rocc_host_module_init();
	if (err)
		return err;
	err = rocc_net_module_init();
	if (err)
		goto no_net;
	err = register_netdevice_notifier(&rocc_notifier);
	if (err)
		goto no_notifier;
	err = register_qdisc(&rocc_qdisc_ops);
	if (err)
		goto no_qdisc;
	return 0;

no_qdisc:
	unregister_netdevice_notifier(&rocc_notifier);
no_notifier:
	rocc_net_module_exit();
no_net:
	rocc_host_module_exit();
	return err;
}

static void __exit rocc_module_exit(void)
{
	unregister_qdisc(&rocc_qdisc_ops);
	unregister_netdevice_notifier(&rocc_notifier);
	rocc_net_module_exit();
	rocc_host_module_exit();
}

module_init(rocc_module_init)
module_exit(rocc_module_exit)
MODULE_DESCRIPTION("RoCC: congestion points and reaction points");
MODULE_LICENSE("GPL");
MODULE_ALIAS("net-sch-rocc");
