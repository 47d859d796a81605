/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * classify.h - which strict-priority class a packet is of
 *
 * A priority that names one of the qdisc's classes goes first, then tc filters, then control
 * packets are recognised, then the map of priorities decides.
 *
 * Classes are counted from 0 here, from 1 in class ids.
 */
#ifndef _SLUICE_SCHED_CLASSIFY_H
#define _SLUICE_SCHED_CLASSIFY_H

#include <net/pkt_cls.h>
#include <net/pkt_sched.h>

#include "control.h"
#include "headers.h"
#include "options.h"

#define HOP_CLASSES_MAX		8
#define HOP_CLASS_CONTROL	HOP_CLASSES_MAX		/* the class of control packets */
#define HOP_CLASS_ANY		(HOP_CLASSES_MAX + 1)	/* no filter says which */
#define HOP_MINOR_CLASS_CONTROL	0x0fff

/**
 * struct hop_prio - classes, as options have them
 * @classes: how many there are
 * @map: the class of each priority of a packet
 */
struct hop_prio {
	u8	classes;
	u8	map[TC_PRIO_MAX + 1];
};

/* Filters that are attached to a qdisc */
struct hop_filters {
	struct tcf_proto __rcu	*list;
	struct tcf_block	*block;
};

/* The class that a class id names, or -1. */
static inline int hop_prio_minor(const struct hop_prio *prio, u32 classid)
{
	u32 minor = TC_H_MIN(classid);

	if (minor == HOP_MINOR_CLASS_CONTROL)
		return HOP_CLASS_CONTROL;
	return minor >= 1 && minor <= prio->classes ? (int)minor - 1 : -1;
}

/* What tc filters say. A function of its own: the result on the stack would cost those that have no
 * filters a canary.
 *
 * Return: index of a class, HOP_CLASS_ANY, or the negated verdict: the packet is not to be queued.
 */
static noinline __maybe_unused int hop_filters_ask(struct sk_buff *skb, const struct hop_prio *prio,
						   const struct tcf_proto *filter)
{
	struct tcf_result res;
	int class;

	switch (tcf_classify(skb, NULL, filter, &res, false)) {
	case TC_ACT_STOLEN:
	case TC_ACT_QUEUED:
	case TC_ACT_TRAP:
		return -(NET_XMIT_SUCCESS | __NET_XMIT_STOLEN);
	case TC_ACT_SHOT:
		return -(NET_XMIT_SUCCESS | __NET_XMIT_BYPASS);
	case TC_ACT_UNSPEC:
		return HOP_CLASS_ANY;
	}
	class = hop_prio_minor(prio, res.classid);
	return class >= 0 ? class : HOP_CLASS_ANY;
}

/**
 * hop_classify - the strict-priority class of a packet
 * @skb: the packet
 * @sch: the qdisc
 * @prio: its classes
 * @filters: its filters
 * @net: hop_network() of the packet; read again if a filter may have changed its tags
 * @dscp: see hop_is_control()
 *
 * Return: index of the class, HOP_CLASS_CONTROL, or what enqueue is to return, negated: a filter
 * took the packet, or with __NET_XMIT_BYPASS dropped it.
 */
static __always_inline int hop_classify(struct sk_buff *skb, const struct Qdisc *sch,
					const struct hop_prio *prio,
					const struct hop_filters *filters, struct hop_network *net,
					u8 dscp)
{
	const struct tcf_proto *filter;
	int class;

	if (TC_H_MAJ(skb->priority) == sch->handle) {
		class = hop_prio_minor(prio, skb->priority);
		if (class >= 0)
			return class;
	}
	filter = rcu_dereference_bh(filters->list);
	if (filter) {
		class = hop_filters_ask(skb, prio, filter);
		if (class < 0)
			return class;
		*net = hop_network(skb);
		if (class != HOP_CLASS_ANY)
			return class;
	}
	if (hop_is_control(skb, *net, dscp))
		return HOP_CLASS_CONTROL;
	return prio->map[skb->priority & TC_PRIO_MAX];
}

/**
 * hop_prio_parse - the map of priorities, as an option
 * @a: what was said, NULL: nothing
 * @prio: the classes, of which there are as many as will be
 * @creating: without @a it becomes that of the kernel's own priority qdiscs, as far as there are
 *	classes
 * @extack: why not
 *
 * Return: 0 or -EINVAL.
 */
static inline int hop_prio_parse(const struct nlattr *a, struct hop_prio *prio, bool creating,
				 struct netlink_ext_ack *extack)
{
	static const u8 usual[TC_PRIO_MAX + 1] = {
		1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
	};
	int i;

	if (a)
		memcpy(prio->map, nla_data(a), sizeof(prio->map));
	else if (creating)
		for (i = 0; i <= TC_PRIO_MAX; i++)
			prio->map[i] = min_t(u8, usual[i], prio->classes - 1);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		if (prio->map[i] >= prio->classes)
			return hop_option_refuse(extack, a,
						 "priomap names a class that does not exist",
						 -EINVAL);
	return 0;
}

#endif
