/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * admit.h - what one call of enqueue did to a qdisc, and what it tells the parents
 *
 * A packet may come in as several segments, and may push out others. The parents count one packet
 * for SUCCESS and nothing for CN or DROP, whatever happened inside: the difference goes to
 * qdisc_tree_reduce_backlog().
 */
#ifndef _SLUICE_SCHED_ADMIT_H
#define _SLUICE_SCHED_ADMIT_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/gso.h>
#include <net/sch_generic.h>

/**
 * struct hop_admitted - the change of a qdisc's length
 * @packets: packets added, less those dropped
 * @congested: a packet of the arriving one's own sub-queue was dropped
 * @queued: a packet was queued, whatever became of it then
 * @bytes: as @packets
 * @all: all of that, to compare
 *
 * It goes from function to function by value, in one register.
 */
struct hop_admitted {
	union {
		struct {
			int	packets : 30;
			u32	congested : 1;
			u32	queued : 1;
			int	bytes;
		};
		u64	all;
	};
};

static_assert(sizeof(struct hop_admitted) == sizeof(u64));

/* What it is as a rule: one more packet */
static inline struct hop_admitted hop_admitted_one(u32 bytes)
{
	return (struct hop_admitted) { .packets = 1, .queued = true, .bytes = bytes };
}

static inline struct hop_admitted hop_admitted_sum(struct hop_admitted a, struct hop_admitted b)
{
	return (struct hop_admitted) {
		.packets = a.packets + b.packets,
		.bytes = a.bytes + b.bytes,
		.congested = a.congested || b.congested,
		.queued = a.queued || b.queued,
	};
}

/**
 * hop_admit_segments - the segments of a GSO packet
 * @skb: the packet
 *
 * Return: a list of them, each with its length, or NULL: there is no memory, or it cannot be
 * split. In both cases @skb is still the caller's.
 */
static inline struct sk_buff *hop_admit_segments(struct sk_buff *skb)
{
	struct sk_buff *segments, *segment;

	segments = skb_gso_segment(skb, netif_skb_features(skb) & ~NETIF_F_GSO_MASK);
	if (IS_ERR_OR_NULL(segments))
		return NULL;
	for (segment = segments; segment; segment = segment->next)
		qdisc_skb_cb(segment)->pkt_len = segment->len;
	return segments;
}

/**
 * hop_admit_verdict - what enqueue returns for a packet of which something was not as a rule
 * @sch: the qdisc
 * @done: what became of the packet
 * @len: bytes of the packet as it came
 *
 * The parents count one packet of @len bytes for SUCCESS, and nothing for CN. Nor do they take
 * note then that the qdisc is not empty any more: so no CN if some of the packet stays. If it
 * stays alone in place of others, a parent would be at 0 packets between the report and its own
 * count, and those above it take its class off their round: so CN then.
 *
 * Return: NET_XMIT_*.
 */
static inline int hop_admit_verdict(struct Qdisc *sch, struct hop_admitted done, u32 len)
{
	if (!done.queued)
		return NET_XMIT_DROP;
	if (done.packets <= 0 && (done.congested || sch->q.qlen <= 1)) {
		qdisc_tree_reduce_backlog(sch, -done.packets, -done.bytes);
		return NET_XMIT_CN;
	}
	qdisc_tree_reduce_backlog(sch, 1 - done.packets, (int)len - done.bytes);
	return NET_XMIT_SUCCESS;
}

#endif
