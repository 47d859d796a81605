// SPDX-License-Identifier: GPL-2.0-only
/*
 * packet.c - control frames as packets: room for the contents, and the Ethernet header
 */
#include <linux/if_vlan.h>
#include <linux/pkt_sched.h>

#include "port.h"

/**
 * hop_frame_new - an empty control frame
 * @port: by which it is to leave
 * @bytes: of it behind the Ethernet header, at most
 *
 * Return: it, its Ethernet header written; NULL if there is no memory.
 */
struct sk_buff *hop_frame_new(const struct hop_port *port, unsigned int bytes)
{
	unsigned int head = LL_RESERVED_SPACE(port->dev) + VLAN_HLEN;
	static const u8 dest[ETH_ALEN] = HOP_DEST_MAC;
	struct sk_buff *skb;
	struct ethhdr *eth;

	/* with an empty skb->cb */
	skb = alloc_skb(head + ETH_HLEN + bytes + port->dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, head);
	skb_reset_mac_header(skb);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, dest);
	ether_addr_copy(eth->h_source, port->dev->dev_addr);
	eth->h_proto = htons(HOP_ETHERTYPE);
	skb_set_network_header(skb, ETH_HLEN);
	skb->dev = port->dev;
	skb->protocol = htons(HOP_ETHERTYPE);
	skb->priority = TC_PRIO_CONTROL;
	return skb;
}

/**
 * hop_frame_close - a frame has all of its contents
 * @skb: it
 * @w: they
 * @bytes: to which it is padded, behind the Ethernet header
 */
void hop_frame_close(struct sk_buff *skb, struct hop_writer *w, unsigned int bytes)
{
	unsigned int used = hop_frame_end(w);

	skb_put(skb, used);
	if (used < bytes)
		skb_put_zero(skb, bytes - used);
}
