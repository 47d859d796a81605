/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - what must pass for the network to stay alive, whatever is paused or full
 *
 * TC_PRIO_CONTROL, ARP, neighbour discovery, LLDP, 802.1X, LACP, spanning tree and its like, and
 * RoCC's congestion notification packets: these are rates to keep to, and useless when late. What
 * is none of them but its type (notification.h) is data. One DSCP more may be said to be control:
 * acknowledgements, say, which are small and which senders wait for.
 *
 * They go ahead of all else, so what others send and the box only forwards has a share of the link
 * (police.h), and so has what is one of them by its DSCP alone, which takes no privilege to set.
 * What goes beyond it goes with the data if it is of an IP flow, and then all of that flow does
 * until none of it is queued as data: no packet overtakes another one of its flow. bfc and rocc do
 * so flow by flow; the others, which do not know the flow by then, with all IP that has to keep to
 * the share, while any of it is queued as data (intake.h). Anything else is dropped. The rest of
 * the box's own is never policed: who could send that could do worse.
 */
#ifndef _SLUICE_SCHED_CONTROL_H
#define _SLUICE_SCHED_CONTROL_H

#include <linux/atomic.h>
#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_sched.h>
#include <net/ip.h>
#include <net/ndisc.h>
#include <net/sch_generic.h>

#include "../uapi/rocc.h"
#include "headers.h"
#include "notification.h"
#include "police.h"
#include "stats.h"

#define HOP_CONTROL_PACKETS	1024	/* bound of a queue for them */
#define HOP_DSCP_MAX		63

/* Functions of their own: buffers on the stack would cost all other packets a canary. */
static noinline __maybe_unused bool
hop_control_notifies(const struct sk_buff *skb, int at, u32 len, const void *to, bool v6)
{
	u8 buf[HOP_NOTIFICATION_MOST];
	const u8 *message;

	if (len > sizeof(buf))
		return false;
	message = skb_header_pointer(skb, at, len, buf);
	return message && hop_is_notification(message, len, to, v6);
}

static noinline __maybe_unused bool hop_is_control_icmp(const struct sk_buff *skb, int at)
{
	const struct iphdr *ip;
	struct iphdr ip_buf;
	const u8 *type;
	u8 type_buf;

	ip = skb_header_pointer(skb, at, sizeof(ip_buf), &ip_buf);
	if (!ip || ip->protocol != IPPROTO_ICMP || ip->frag_off & htons(IP_MF | IP_OFFSET))
		return false;
	at += ip->ihl * 4;
	type = skb_header_pointer(skb, at, sizeof(type_buf), &type_buf);
	return type && *type == ROCC_CNP_ICMP &&
	       hop_control_notifies(skb, at, ntohs(ip->tot_len) - ip->ihl * 4, &ip->daddr, false);
}

static noinline __maybe_unused bool hop_is_control_icmpv6(const struct sk_buff *skb, int at)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr ip_buf;
	const u8 *type;
	u8 type_buf;

	ip = skb_header_pointer(skb, at, sizeof(ip_buf), &ip_buf);
	if (!ip || ip->nexthdr != IPPROTO_ICMPV6)
		return false;
	at += sizeof(*ip);
	type = skb_header_pointer(skb, at, sizeof(type_buf), &type_buf);
	if (!type)
		return false;
	if (*type == ROCC_CNP_ICMPV6)
		return hop_control_notifies(skb, at, ntohs(ip->payload_len), &ip->daddr, true);
	return *type >= NDISC_ROUTER_SOLICITATION && *type <= NDISC_REDIRECT;
}

static noinline __maybe_unused u8
hop_dscp_scattered(const struct sk_buff *skb, struct hop_network net)
{
	const u8 *head;
	u8 buf[2];

	head = skb_header_pointer(skb, net.at, sizeof(buf), buf);
	if (!head)
		return 0;
	return net.type == ETH_P_IP ? head[1] >> 2 : (head[0] << 8 | head[1]) >> 6 & 0x3f;
}

/* The DSCP of a packet of IP, 0 also if it is none */
static __always_inline u8 hop_dscp(const struct sk_buff *skb, struct hop_network net)
{
	const u8 *head = skb->data + net.at;

	if (net.type != ETH_P_IP && net.type != ETH_P_IPV6)
		return 0;
	if (unlikely((int)skb_headlen(skb) < net.at + 2))
		return hop_dscp_scattered(skb, net);
	return net.type == ETH_P_IP ? head[1] >> 2 : (head[0] << 8 | head[1]) >> 6 & 0x3f;
}

/* Has the packet another protocol than @protocol, which is in one piece and is to be found without
 * looking for it?
 */
static __always_inline bool hop_is_other(const struct sk_buff *skb, int at, int field, u8 protocol)
{
	return likely((int)skb_headlen(skb) > at + field) && skb->data[at + field] != protocol;
}

/**
 * hop_is_control - is this one of them?
 * @skb: a packet at a qdisc
 * @net: hop_network() of it
 * @dscp: packets with this one are, but for GSO packets, which are data; 0 if there is no such
 */
static __always_inline bool
hop_is_control(const struct sk_buff *skb, struct hop_network net, u8 dscp)
{
	if (skb->priority == TC_PRIO_CONTROL)
		return true;
	if (dscp && hop_dscp(skb, net) == dscp && !skb_is_gso(skb))
		return true;
	switch (net.type) {
	case ETH_P_IP:
		return !likely(hop_is_other(skb, net.at, offsetof(struct iphdr, protocol),
					    IPPROTO_ICMP)) &&
		       hop_is_control_icmp(skb, net.at);
	case ETH_P_IPV6:
		return !likely(hop_is_other(skb, net.at, offsetof(struct ipv6hdr, nexthdr),
					    IPPROTO_ICMPV6)) &&
		       hop_is_control_icmpv6(skb, net.at);
	case ETH_P_ARP:
	case ETH_P_LLDP:
	case ETH_P_PAE:
	case ETH_P_SLOW:
		return true;
	default:
		return is_link_local_ether_addr(eth_hdr(skb)->h_dest);	/* STP and its like */
	}
}

/* Has a control packet to keep to the share? Did somebody else send it, by a device of this box, or
 * might anybody?
 */
static inline bool hop_is_policed(const struct sk_buff *skb, struct hop_network net, u8 dscp)
{
	return skb->skb_iif ||
	       (dscp && skb->priority != TC_PRIO_CONTROL && hop_dscp(skb, net) == dscp);
}

/* May it go with the data? */
static inline bool hop_has_ip_flow(struct hop_network net)
{
	return net.type == ETH_P_IP || net.type == ETH_P_IPV6;
}

/**
 * hop_control_takes - does a forwarded control packet stay within the share?
 * @p: the costs
 * @paid: see hop_police_takes(); may be charged by several qdiscs at once
 * @skb: the packet
 * @now: time
 */
static inline bool hop_control_takes(const struct hop_police *p, atomic64_t *paid,
				     const struct sk_buff *skb, u64 now)
{
	s64 before = atomic64_read(paid);
	u64 after;

	do {
		after = before;
		if (!hop_police_takes(p, &after, min_t(u32, skb->len, GSO_LEGACY_MAX_SIZE), now))
			return false;
	} while (!atomic64_try_cmpxchg(paid, &before, after));
	return true;
}

/**
 * hop_control_put - queue a control packet ahead of all others
 * @fifo: the queue for them
 * @sch: the qdisc, which counts it
 * @skb: the packet
 *
 * Return: false if too many wait; @skb is still the caller's then.
 */
static inline bool hop_control_put(struct sk_buff_head *fifo, struct Qdisc *sch,
				   struct sk_buff *skb)
{
	if (unlikely(skb_queue_len(fifo) >= HOP_CONTROL_PACKETS))
		return false;
	skb->priority = TC_PRIO_CONTROL;	/* for the card */
	__skb_queue_tail(fifo, skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return true;
}

/**
 * hop_control_take - the next control packet
 * @fifo: the queue for them
 * @sch: the qdisc, which counts it
 * @area: and so is its backlog, see hop_backlog_moves()
 * @since: likewise
 * @now: likewise
 *
 * Return: NULL if there is none.
 */
static inline struct sk_buff *hop_control_take(struct sk_buff_head *fifo, struct Qdisc *sch,
					       u64 *area, u64 *since, u64 now)
{
	struct sk_buff *skb = __skb_dequeue(fifo);

	if (skb) {
		hop_backlog_moves(sch, area, since, now);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
	}
	return skb;
}

/* Where a qdisc puts a packet that has no count of its flow */
enum hop_control_way {
	HOP_CONTROL_FIRST,	/* ahead of all others */
	HOP_CONTROL_SPILLS,	/* with the data */
	HOP_CONTROL_DROPPED,
};

/**
 * hop_control_way - where does a control packet go?
 * @p: costs of what has to keep to the share
 * @paid: see hop_control_takes()
 * @spilled: some that have to are queued with the data
 * @skb: a packet that hop_is_control() is true of
 * @net: hop_network() of it
 * @dscp: as hop_is_control() was given
 */
static inline enum hop_control_way
hop_control_way(const struct hop_police *p, atomic64_t *paid, bool spilled,
		const struct sk_buff *skb, struct hop_network net, u8 dscp)
{
	bool flow = hop_has_ip_flow(net);

	if (!hop_is_policed(skb, net, dscp))
		return HOP_CONTROL_FIRST;
	if (!(flow && spilled) && hop_control_takes(p, paid, skb, ktime_get_ns()))
		return HOP_CONTROL_FIRST;
	return flow ? HOP_CONTROL_SPILLS : HOP_CONTROL_DROPPED;
}

#endif
