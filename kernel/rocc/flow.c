// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow.c - which flow a packet is of
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <net/ip.h>

#include "../sched/headers.h"
#include "rocc.h"

/**
 * rocc_flow_of - the flow of a packet
 * @skb: at a qdisc
 * @id: filled in; the bytes behind the IP header are this packet's
 *
 * Return: false if it names none: it is not IP, a fragment, or ends before its ports.
 */
bool rocc_flow_of(const struct sk_buff *skb, struct cnp_flow *id)
{
	struct hop_network net = hop_network(skb);
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;
	struct ipv6hdr ip6_buf;
	struct iphdr ip_buf;
	const void *l4;
	int at = net.at;

	memset(id, 0, sizeof(*id));
	switch (net.type) {
	case ETH_P_IP:
		ip = skb_header_pointer(skb, at, sizeof(ip_buf), &ip_buf);
		if (!ip || ip->ihl < 5 || ip->frag_off & htons(IP_MF | IP_OFFSET))
			return false;
		id->proto = ip->protocol;
		memcpy(id->saddr, &ip->saddr, sizeof(ip->saddr));
		memcpy(id->daddr, &ip->daddr, sizeof(ip->daddr));
		at += ip->ihl * 4;
		break;
	case ETH_P_IPV6:
		ip6 = skb_header_pointer(skb, at, sizeof(ip6_buf), &ip6_buf);
		if (!ip6)
			return false;
		id->v6 = true;
		id->proto = ip6->nexthdr;
		memcpy(id->saddr, &ip6->saddr, sizeof(ip6->saddr));
		memcpy(id->daddr, &ip6->daddr, sizeof(ip6->daddr));
		at += sizeof(*ip6);
		break;
	default:
		return false;
	}
	l4 = skb_header_pointer(skb, at, sizeof(id->l4), id->l4);
	if (!l4)
		return false;
	if (l4 != id->l4)
		memcpy(id->l4, l4, sizeof(id->l4));
	return true;
}

/**
 * rocc_flow_hash - of addresses, protocol and ports
 * @id: the flow
 * @seed: secret, so that nobody finds flows that share a place in a table
 */
u32 rocc_flow_hash(const struct cnp_flow *id, u32 seed)
{
	u32 saddr, daddr, ports;

	if (id->v6)
		return jhash(id, ROCC_FLOW_ID_BYTES, seed);
	memcpy(&saddr, id->saddr, sizeof(saddr));
	memcpy(&daddr, id->daddr, sizeof(daddr));
	memcpy(&ports, id->l4, sizeof(ports));
	return jhash_3words(saddr, daddr, ports, seed ^ id->proto);
}
