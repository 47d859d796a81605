/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ingress.h - what looks at frames on their way in before netfilter's hooks do
 */
#ifndef _SLUICE_COMPAT_INGRESS_H
#define _SLUICE_COMPAT_INGRESS_H

#include <linux/netdevice.h>
#include <net/sch_generic.h>
#include <net/tcx.h>

/* A clsact that filters on the way out only, or not at all, does not count. RCU. */
static inline bool sluice_has_ingress_classifier(const struct net_device *dev)
{
#if defined(CONFIG_NET_XGRESS) && !defined(SLUICE_NO_TCX)
	struct bpf_mprog_entry *entry = rcu_dereference(dev->tcx_ingress);

	return entry && (rcu_access_pointer(tcx_entry(entry)->miniq) ||
			 READ_ONCE(entry->fp_items[0].prog));
#elif defined(CONFIG_NET_CLS_ACT) && defined(SLUICE_NO_TCX)
	return rcu_access_pointer(dev->miniq_ingress);
#else
	return false;
#endif
}

#endif
