/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * egress.h - the last that happens to a packet in dequeue: the fabric tag, and a drop if it fails
 */
#ifndef _SLUICE_SCHED_EGRESS_H
#define _SLUICE_SCHED_EGRESS_H

#include <linux/if_vlan.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "../hopctl/hopctl.h"

/**
 * struct hop_late_drops - what was dropped in dequeue and the parents have not been told yet
 * @packets: packets
 * @bytes: their bytes
 */
struct hop_late_drops {
	u32	packets;
	u32	bytes;
};

/* Does a frame start with a tag that the neighbour would take for the fabric's? */
static inline bool hop_egress_looks_tagged(const struct sk_buff *skb, u16 tpid)
{
	__be16 proto = htons(tpid);

	return skb_vlan_tag_present(skb) ? skb->vlan_proto == proto : skb->protocol == proto;
}

/**
 * hop_egress_tag - put the fabric tag on, if there is to be one
 * @m: the member
 * @skb: the packet
 * @queue: its sub-queue, or HOP_NO_QUEUE: the control class, which is not to be paused: it goes
 *	without, or with a tag that names no sub-queue
 * @tpid: of the fabric tag
 *
 * Return: 1: it has one; 0: it goes without; below 0: that was impossible, it has to be dropped.
 */
static inline int hop_egress_tag(const struct hop_member *m, struct sk_buff *skb, u16 queue,
				 u16 tpid)
{
	int err;

	if (!hop_tagging(m) || (queue == HOP_NO_QUEUE && !hop_egress_looks_tagged(skb, tpid)))
		return 0;
	err = hop_tag_push(m, skb, queue);
	if (unlikely(err == -EMSGSIZE) && !hop_egress_looks_tagged(skb, tpid))
		return 0;
	return unlikely(err) ? err : 1;
}

/* Drop a packet that was taken off the qdisc already. */
static inline void hop_egress_drop(struct hop_late_drops *late, struct Qdisc *sch,
				   struct sk_buff *skb)
{
	late->packets++;
	late->bytes += qdisc_pkt_len(skb);
	qdisc_qstats_drop(sch);
	kfree_skb(skb);
}

/**
 * hop_egress_tell - tell the parents of drops in dequeue
 * @late: the drops; none any more
 * @sch: the qdisc
 * @skb: what dequeue hands out, or NULL
 *
 * Also if they have left the qdisc empty, or the parents would count them for ever: taking the
 * class off a round in the middle of serving it is something that parents bear. But not while
 * there is @skb, which is not counted any more: qdisc_peek_dequeued() puts it back, and the class
 * would be off the round with a packet in it, for ever, since only the first packet of an empty
 * qdisc puts it on again. A parent that takes @skb along sees for itself whether it was the last.
 */
static noinline __maybe_unused void
hop_egress_tell(struct hop_late_drops *late, struct Qdisc *sch, const struct sk_buff *skb)
{
	sch->q.qlen += !!skb;
	qdisc_tree_reduce_backlog(sch, late->packets, late->bytes);
	sch->q.qlen -= !!skb;
	*late = (struct hop_late_drops) {};
}

/**
 * hop_egress_end - the end of dequeue
 * @late: drops in dequeue; none any more
 * @sch: the qdisc
 * @skb: what dequeue hands out, or NULL
 *
 * Return: @skb.
 */
static __always_inline struct sk_buff *
hop_egress_end(struct hop_late_drops *late, struct Qdisc *sch, struct sk_buff *skb)
{
	if (skb)
		qdisc_bstats_update(sch, skb);
	if (unlikely(late->packets))
		hop_egress_tell(late, sch, skb);
	return skb;
}

#endif
