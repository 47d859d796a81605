// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what the options of rocc say, their rules, and how a change comes into force
 *
 * What each takes, its default and the policy are rows of rocc_option_rows.h, which is made of
 * Documentation/netlink/specs/rocc.yaml. Those of both roles, of the switch and of the host are a
 * table each: a qdisc refuses options of the role that it does not have.
 *
 * A new configuration is parsed into a copy and validated before anything of the qdisc is touched.
 */
#include <net/ipv6.h>
#include <net/netlink.h>

#include "../hopctl/speed.h"
#include "../sched/options.h"
#include "rocc.h"
#include "rocc_option_rows.h"

const struct rocc_config rocc_defaults = ROCC_DEFAULTS;

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
		err = hop_options_parse(rocc_switch_options, ARRAY_SIZE(rocc_switch_options), tb, c,
					creating, extack);
	return err ?: rocc_cp_check(sch, c, tb, extack);
}

static int rocc_parse_host(struct nlattr **tb, struct rocc_config *c, bool creating,
			   struct netlink_ext_ack *extack)
{
	int err;

	err = rocc_refuse_rows(rocc_switch_options, ARRAY_SIZE(rocc_switch_options), tb,
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
	int err = hop_options_split(opt, tb, TCA_ROCC_MAX, rocc_policy, extack);

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
		rocc_rp_apply(sch, &q->rp, c);
	else
		rocc_cp_apply(sch, &q->cp, c);
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
		err = hop_options_dump(rocc_switch_options, ARRAY_SIZE(rocc_switch_options), c, skb,
				       TCA_ROCC_PAD);
	return err ?: nla_put_u8(skb, TCA_ROCC_KEYS, c->keys) ?:
		      nla_put_u32(skb, TCA_ROCC_VERSION, ROCC_VERSION);
}

int rocc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	bool full = !nest || rocc_put_options(&q->config, skb);

	return hop_nest_end(skb, nest, full);
}
