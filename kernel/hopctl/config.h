/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * config.h - what options say about a port, and what several qdiscs' options say together
 *
 * Pure functions.
 */
#ifndef _SLUICE_HOPCTL_CONFIG_H
#define _SLUICE_HOPCTL_CONFIG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

/**
 * struct hop_config - what a qdisc's options say about its port
 * @role: enum hop_role: ours
 * @peer: enum hop_role: what to take the neighbour for; only AUTO believes its HELLO
 * @tag: false never tags
 * @tpid: TPID of the fabric tag, host byte order: ETH_P_8021AD or ETH_P_8021Q
 * @kinds: HOP_KIND_* of the qdisc
 * @hrtt_ns: HRTT to use for this link; 0 measures it
 * @hrtt_max_ns: most that a measured one may be; at least HOP_HRTT_MIN_NS
 * @refresh_ns: time between repeated PAUSE STATEs while anything is paused; 0 = auto:
 *	max(4 HRTT, 100 us), and never more often than 1 % of the link's time allows
 * @lease_ns: how long a pause that we send lasts without a refresh; 0 = auto: 8 refreshes
 * @watch: end the effect of pauses that never end
 * @tier: enum hop_tier: where the port leads
 * @strip: enum hop_strip: whether to offer to take tags off
 * @watchdog_ns: how long such a pause is endured, and twice as long as our own device may send
 *	nothing before what it holds paused is let go; 0 = auto: HOP_WATCHDOG_NS
 * @restore_ns: quiet time after which the neighbour is obeyed again; 0 = auto: twice @watchdog_ns
 * @balances_ns: how long balances that have changed wait for others, and not less than
 *	HOP_BALANCES_FRAMES frames take; 0: not at all (blocks.h)
 * @balances_bytes: so many bytes that have come, are not queued, and have not been told do not wait
 *	for others; 0: they do
 * @roots: tell and hear where congestion began (root.h)
 * @root_id: the port's id as a root; 0 = auto: one that comes with its epoch
 */
struct hop_config {
	u8	role;
	u8	peer;
	bool	tag;
	u16	tpid;
	u16	kinds;
	u32	hrtt_ns;
	u32	hrtt_max_ns;
	u32	refresh_ns;
	u32	lease_ns;
	bool	watch;
	u8	tier;
	u8	strip;
	u32	watchdog_ns;
	u32	restore_ns;
	u32	balances_ns;
	u32	balances_bytes;
	bool	roots;
	u16	root_id;
};

/**
 * hop_config_add - what one more of a port's qdiscs says
 * @sum: what those before say
 * @newest: largest @order of them, 0 at first
 * @cfg: what it says
 * @order: the larger the later it said so; not 0
 *
 * Whoever was made or changed last decides, but the port has the kinds of all.
 */
static inline void hop_config_add(struct hop_config *sum, u64 *newest,
				  const struct hop_config *cfg, u64 order)
{
	u16 kinds = cfg->kinds | (*newest ? sum->kinds : 0);

	if (order > *newest) {
		*sum = *cfg;
		*newest = order;
	}
	sum->kinds = kinds;
}

#endif
