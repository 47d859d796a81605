/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - scalar options of a qdisc as rows of a table
 *
 * A row ties a netlink attribute to a field of the kind's configuration struct and says what
 * values it takes. Parsing, validation and dumping walk the table, so that an option cannot be
 * read but not shown, and each refusal names its attribute and its rule. The configuration
 * being filled is a copy: a refused change changes nothing.
 */
#ifndef _SLUICE_SCHED_OPTIONS_H
#define _SLUICE_SCHED_OPTIONS_H

#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/sch_generic.h>

#include "nest.h"

/**
 * struct hop_option - one scalar option
 * @attr: netlink attribute
 * @offset: of the field in the configuration struct
 * @size: of the field and of the attribute's value: 1, 2, 4 or 8 bytes
 * @zero: 0 is allowed whatever @min says: the option's `auto`
 * @fixed: may be given at creation only, or again with the value that it has
 * @min: smallest value
 * @max: largest value
 * @rule: what extack says if the value is outside
 */
struct hop_option {
	u16		attr;
	u16		offset;
	u8		size;
	bool		zero;
	bool		fixed;
	u64		min;
	u64		max;
	const char	*rule;
};

static inline u64 hop_option_read(const void *config, const struct hop_option *o)
{
	const void *field = config + o->offset;

	switch (o->size) {
	case 1:
		return *(const u8 *)field;
	case 2:
		return *(const u16 *)field;
	case 4:
		return *(const u32 *)field;
	default:
		return *(const u64 *)field;
	}
}

static inline void hop_option_write(void *config, const struct hop_option *o, u64 value)
{
	void *field = config + o->offset;

	switch (o->size) {
	case 1:
		*(u8 *)field = value;
		break;
	case 2:
		*(u16 *)field = value;
		break;
	case 4:
		*(u32 *)field = value;
		break;
	default:
		*(u64 *)field = value;
	}
}

static inline u64 hop_option_value(const struct nlattr *a, const struct hop_option *o)
{
	switch (o->size) {
	case 1:
		return nla_get_u8(a);
	case 2:
		return nla_get_u16(a);
	case 4:
		return nla_get_u32(a);
	default:
		return nla_get_u64(a);
	}
}

static inline int hop_option_refuse(struct netlink_ext_ack *extack, const struct nlattr *a,
				    const char *rule, int err)
{
	if (extack) {
		extack->_msg = rule;
		extack->bad_attr = a;
	}
	return err;
}

/**
 * hop_options_split - the attributes of TCA_OPTIONS
 * @opt: TCA_OPTIONS, or NULL, which is as an empty one
 * @tb: filled in; zeroed
 * @max: the last attribute that there is
 * @policy: their types
 * @extack: names the attribute refused
 *
 * Strict: what is not in @policy is refused.
 *
 * Return: 0 or what nla_parse() says.
 */
static inline int hop_options_split(const struct nlattr *opt, struct nlattr **tb, int max,
				    const struct nla_policy *policy,
				    struct netlink_ext_ack *extack)
{
	return opt ? nla_parse(tb, max, nla_data(opt), nla_len(opt), policy, extack) : 0;
}

/**
 * hop_options_parse - read the options that were given into a configuration
 * @rows: the table
 * @n: rows in it
 * @tb: parsed attributes
 * @config: copy of the old configuration, or the defaults; may be half changed on error
 * @creating: false refuses new values for fixed options
 * @extack: names the attribute refused
 *
 * Return: 0, -EINVAL (outside of the rule), -EOPNOTSUPP (fixed).
 */
static inline int hop_options_parse(const struct hop_option *rows, unsigned int n,
				    struct nlattr **tb, void *config, bool creating,
				    struct netlink_ext_ack *extack)
{
	const struct hop_option *o;
	u64 value;

	for (o = rows; o < rows + n; o++) {
		if (!tb[o->attr])
			continue;
		value = hop_option_value(tb[o->attr], o);
		if ((value < o->min || value > o->max) && !(o->zero && !value))
			return hop_option_refuse(extack, tb[o->attr], o->rule, -EINVAL);
		if (o->fixed && !creating && value != hop_option_read(config, o))
			return hop_option_refuse(extack, tb[o->attr],
						 "this option can be set at creation only",
						 -EOPNOTSUPP);
		hop_option_write(config, o, value);
	}
	return 0;
}

/**
 * hop_options_swap - Qdisc_ops.change of a kind that computes nothing of its options
 * @sch: the qdisc
 * @config: its configuration
 * @new: the one that takes its place
 * @size: of either
 * @err: what has refused @new, or 0
 *
 * Return: @err.
 */
static inline int hop_options_swap(struct Qdisc *sch, void *config, const void *new, size_t size,
				   int err)
{
	if (err)
		return err;
	sch_tree_lock(sch);
	memcpy(config, new, size);
	sch_tree_unlock(sch);
	return 0;
}

/**
 * hop_options_dump - put all scalar options into a message
 * @rows: the table
 * @n: rows in it
 * @config: the configuration
 * @skb: the message
 * @pad: attribute that pads 64-bit values
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int hop_options_dump(const struct hop_option *rows, unsigned int n,
				   const void *config, struct sk_buff *skb, int pad)
{
	const struct hop_option *o;
	int err = 0;
	u64 value;

	for (o = rows; o < rows + n && !err; o++) {
		value = hop_option_read(config, o);
		switch (o->size) {
		case 1:
			err = nla_put_u8(skb, o->attr, value);
			break;
		case 2:
			err = nla_put_u16(skb, o->attr, value);
			break;
		case 4:
			err = nla_put_u32(skb, o->attr, value);
			break;
		default:
			err = nla_put_u64_64bit(skb, o->attr, value, pad);
		}
	}
	return err;
}

/**
 * hop_options_show - TCA_OPTIONS of a kind whose options are all scalar
 * @rows: the table
 * @n: rows in it
 * @config: the configuration
 * @skb: the message
 * @pad: attribute that pads 64-bit values
 * @version: attribute of the version, behind the others
 * @number: the version
 *
 * Return: as Qdisc_ops.dump.
 */
static inline int hop_options_show(const struct hop_option *rows, unsigned int n,
				   const void *config, struct sk_buff *skb, int pad, int version,
				   u32 number)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	bool full = !nest || hop_options_dump(rows, n, config, skb, pad) ||
		    nla_put_u32(skb, version, number);

	return hop_nest_end(skb, nest, full);
}

#endif
