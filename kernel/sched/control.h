/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - what must pass for the network to stay alive, whatever is paused or full
 *
 * TC_PRIO_CONTROL, ARP, neighbour discovery, LLDP, 802.1X, LACP, spanning tree and its like, and
 * RoCC's congestion notification packets: these are rates to keep to, and useless when late.
 */
#ifndef _SLUICE_SCHED_CONTROL_H
#define _SLUICE_SCHED_CONTROL_H

#include <linux/etherdevice.h>
#include <linux/icmpv6.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_sched.h>
#include <net/ip.h>
#include <net/ndisc.h>

#include "../uapi/rocc.h"
#include "headers.h"

#define HOP_CONTROL_PACKETS	1024	/* bound of a queue for them */

static inline bool hop_is_control_icmp(const struct sk_buff *skb, int at)
{
	const struct iphdr *ip;
	struct iphdr ip_buf;
	const u8 *type;
	u8 type_buf;

	ip = skb_header_pointer(skb, at, sizeof(ip_buf), &ip_buf);
	if (!ip || ip->protocol != IPPROTO_ICMP || ip->frag_off & htons(IP_OFFSET))
		return false;
	type = skb_header_pointer(skb, at + ip->ihl * 4, sizeof(type_buf), &type_buf);
	return type && *type == ROCC_CNP_ICMP;
}

static inline bool hop_is_control_icmpv6(const struct sk_buff *skb, int at)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr ip_buf;
	const u8 *type;
	u8 type_buf;

	ip = skb_header_pointer(skb, at, sizeof(ip_buf), &ip_buf);
	if (!ip || ip->nexthdr != IPPROTO_ICMPV6)
		return false;
	type = skb_header_pointer(skb, at + sizeof(*ip), sizeof(type_buf), &type_buf);
	return type && (*type == ROCC_CNP_ICMPV6 ||
			(*type >= NDISC_ROUTER_SOLICITATION && *type <= NDISC_REDIRECT));
}

/**
 * hop_is_control - is this one of them?
 * @skb: a packet at a qdisc
 * @net: hop_network() of it
 */
static __always_inline bool hop_is_control(const struct sk_buff *skb, struct hop_network net)
{
	if (skb->priority == TC_PRIO_CONTROL)
		return true;
	switch (net.type) {
	case ETH_P_IP:
		return hop_is_control_icmp(skb, net.at);
	case ETH_P_IPV6:
		return hop_is_control_icmpv6(skb, net.at);
	case ETH_P_ARP:
	case ETH_P_LLDP:
	case ETH_P_PAE:
	case ETH_P_SLOW:
		return true;
	default:
		return is_link_local_ether_addr(eth_hdr(skb)->h_dest);	/* STP and its like */
	}
}

#endif
