/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ecn_mark.h - mark a packet as congestion experienced
 */
#ifndef _SLUICE_SCHED_ECN_MARK_H
#define _SLUICE_SCHED_ECN_MARK_H

#include <linux/skbuff.h>
#include <net/inet_ecn.h>

#include "headers.h"

/**
 * hop_ecn_mark - mark a packet
 * @skb: a packet at a qdisc
 *
 * Not INET_ECN_set_ce(), which looks for the IP header where it is not if a tag is in the frame.
 * What others have, too, is copied.
 *
 * Return: false if it knows no ECN, is not of IP, or there is no memory.
 */
static noinline __maybe_unused bool hop_ecn_mark(struct sk_buff *skb)
{
	struct hop_network net = hop_network(skb);
	void *ip;

	if (net.type != ETH_P_IP && net.type != ETH_P_IPV6)
		return false;
	if (skb_ensure_writable(skb, net.at + (net.type == ETH_P_IP ? sizeof(struct iphdr) :
								      sizeof(struct ipv6hdr))))
		return false;
	ip = skb->data + net.at;
	return net.type == ETH_P_IP ? IP_ECN_set_ce(ip) : IP6_ECN_set_ce(skb, ip);
}

#endif
