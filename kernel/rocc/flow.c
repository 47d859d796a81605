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

#define ROCC_EXTENSIONS	6	/* as many headers of IPv6 as RFC 8200 puts before the last */

/**
 * rocc_flow_reduce - to what names the flow
 * @id: the flow, with the bytes that follow the IP header of one of its packets
 *
 * Four of them count, if they are the same in all packets: an echo request has its checksum there.
 */
void rocc_flow_reduce(struct cnp_flow *id)
{
	if (!hop_parse_has_ports(id->proto))
		memset(id->l4, 0, sizeof(u32));
}

static bool rocc_is_extension(u8 protocol)
{
	const u64 those = 1ULL << IPPROTO_HOPOPTS | 1ULL << IPPROTO_ROUTING |
			  1ULL << IPPROTO_FRAGMENT | 1ULL << IPPROTO_DSTOPTS;

	return protocol < 64 && those >> protocol & 1;
}

/* What is behind the extension headers of IPv6. Return: false if that cannot be said of all packets
 * of the flow: this one is a fragment, or ends before.
 */
static noinline bool rocc_skip_extensions(const struct sk_buff *skb, u8 *proto, int *at)
{
	const u8 *header;
	int left;
	u8 buf[4];

	for (left = ROCC_EXTENSIONS; rocc_is_extension(*proto); left--) {
		header = left ? skb_header_pointer(skb, *at, sizeof(buf), buf) : NULL;
		if (!header)
			return false;
		/* a "fragment" that is the whole packet has neither an offset nor more behind it */
		if (*proto == IPPROTO_FRAGMENT && (header[2] || header[3] & 0xf9))
			return false;
		*at += *proto == IPPROTO_FRAGMENT ? 8 : (header[1] + 1) * 8;
		*proto = header[0];
	}
	return true;
}

/**
 * rocc_flow_of - the flow of a packet
 * @skb: at a qdisc
 * @id: filled in; the bytes behind the IP header are this packet's, if they do not name the flow
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
		if (unlikely(rocc_is_extension(id->proto)) &&
		    !rocc_skip_extensions(skb, &id->proto, &at))
			return false;
		break;
	default:
		return false;
	}
	l4 = skb_header_pointer(skb, at, sizeof(id->l4), id->l4);
	if (!l4)
		return false;
	if (l4 != id->l4)
		memcpy(id->l4, l4, sizeof(id->l4));
	rocc_flow_reduce(id);
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
