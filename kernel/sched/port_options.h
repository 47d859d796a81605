/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port_options.h - what qdiscs that are members of a port say alike about it
 *
 * The options themselves are rows of each kind, with the fields of struct hop_config.
 */
#ifndef _SLUICE_SCHED_PORT_OPTIONS_H
#define _SLUICE_SCHED_PORT_OPTIONS_H

#include <linux/if_ether.h>
#include <net/sch_generic.h>

#include "../hopctl/hopctl.h"
#include "options.h"

/* The port of a qdisc that says nothing about it, but for its kinds */
#define HOP_PORT_DEFAULTS				\
	.tag		= true,				\
	.tpid		= ETH_P_8021AD,			\
	.hrtt_max_ns	= NSEC_PER_MSEC,		\
	.watch		= true

/**
 * hop_port_check - rules that tie options of a port to each other
 * @lease_ns: as in struct hop_config
 * @refresh_ns: likewise
 * @lease: attribute of @lease_ns, if it was given
 * @refresh: that of @refresh_ns
 * @extack: names the attribute refused
 *
 * Return: 0 or -EINVAL.
 */
static inline int hop_port_check(u32 lease_ns, u32 refresh_ns, const struct nlattr *lease,
				 const struct nlattr *refresh, struct netlink_ext_ack *extack)
{
	if (lease_ns && refresh_ns && lease_ns < 2 * (u64)refresh_ns)
		return hop_option_refuse(extack, lease ?: refresh,
					 "lease must be at least 2 refreshes", -EINVAL);
	return 0;
}

/* Paused sub-queues hold packets back while the link idles: not work-conserving. */
static inline void hop_port_holds_back(struct Qdisc *sch)
{
	sch->flags |= TCQ_F_WARN_NONWC;
	sch->flags &= ~TCQ_F_CAN_BYPASS;
}

#endif
