/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nest.h - the end of a nest of attributes
 */
#ifndef _SLUICE_SCHED_NEST_H
#define _SLUICE_SCHED_NEST_H

#include <net/netlink.h>

/**
 * hop_nest_end - end a nest, or take it back
 * @skb: the message
 * @nest: what nla_nest_start() returned, NULL or not
 * @full: there was no room for it, or for what is in it
 *
 * Return: below 0 if it is taken back.
 */
static inline int hop_nest_end(struct sk_buff *skb, struct nlattr *nest, bool full)
{
	if (full) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}

#endif
