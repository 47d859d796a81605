// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what the options of rocc say, their rules, and how a change comes into force
 *
 * Those of both roles, of the congestion point and of the reaction point are a table each: a qdisc
 * refuses options of the role that it does not have. A new configuration is parsed into a copy and
 * validated before anything of the qdisc is touched.
 */
#include <net/ipv6.h>
#include <net/netlink.h>

#include "../hopctl/speed.h"
#include "../sched/control.h"
#include "../sched/options.h"
#include "rocc.h"

#define ROCC_RATE_LEAST		125			/* bytes per second: 1 kbit/s */
#define ROCC_RATE_MOST		(1ULL << 40)

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

const struct rocc_config rocc_defaults = {
	.source		= (__force u32)cpu_to_be32(0xc0000008),	/* 192.0.0.8 */
	.limit		= 8 << 20,
	.flows		= 4096,
	.sample		= 16,
	.hold_ns	= 20 * NSEC_PER_MSEC,
	.limiters	= 4096,
	.radius		= 8,
	.control_share	= ROCC_CONTROL_SHARE_DEFAULT,
};

/* Asks the device, which cannot be done once the tree is locked. */
void rocc_link_ask(struct rocc_sched *q)
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

int rocc_parse(struct Qdisc *sch, struct nlattr *opt, struct rocc_config *c, bool creating,
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

void rocc_apply(struct Qdisc *sch, const struct rocc_config *c)
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

int rocc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
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

int rocc_dump(struct Qdisc *sch, struct sk_buff *skb)
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
