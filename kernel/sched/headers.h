/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * headers.h - where the network header of a packet at a qdisc is
 *
 * Not always where the packet says. Of two VLAN tags, one is in metadata as a rule and the network
 * header is behind the Ethernet header and before the other one, if the packet was received and
 * bridged; it is behind both if a packet socket made the packet. So with a tag in the frame all
 * is read from the Ethernet header on.
 */
#ifndef _SLUICE_SCHED_HEADERS_H
#define _SLUICE_SCHED_HEADERS_H

#include <linux/if_vlan.h>
#include <linux/skbuff.h>

#include "parse.h"

/**
 * struct hop_network - the network header of a packet
 * @at: bytes from skb->data
 * @type: EtherType, host byte order; that of a tag if there are more than HOP_PARSE_TAGS, or if
 *	the frame ends
 * @vids: VLAN ids, the innermost in the lowest HOP_PARSE_VIDS_SHIFT bits
 *
 * It goes from function to function by value, in one register.
 */
struct hop_network {
	s16	at;
	u16	type;
	u32	vids;
};

static_assert(sizeof(struct hop_network) == sizeof(u64));

/* Behind the tags that are in the frame. A function of its own, and by value, or its buffer would
 * cost those who call it for frames without them a canary on the stack.
 */
static noinline __maybe_unused struct hop_network
hop_network_behind_tags(const struct sk_buff *skb, struct hop_network n)
{
	int tags = skb_vlan_tag_present(skb);
	struct vlan_hdr buf, *tag;

	n.at = skb_mac_offset(skb) + ETH_HLEN;
	for (; tags < HOP_PARSE_TAGS && eth_type_vlan(htons(n.type)); tags++) {
		tag = skb_header_pointer(skb, n.at, sizeof(buf), &buf);
		if (!tag)
			break;
		n.vids = n.vids << HOP_PARSE_VIDS_SHIFT | (ntohs(tag->h_vlan_TCI) & VLAN_VID_MASK);
		n.type = ntohs(tag->h_vlan_encapsulated_proto);
		n.at += sizeof(*tag);
	}
	return n;
}

/**
 * hop_network - find the network header
 * @skb: a packet at a qdisc
 */
static __always_inline struct hop_network hop_network(const struct sk_buff *skb)
{
	struct hop_network n = {
		.at = skb_network_offset(skb),
		.vids = skb_vlan_tag_present(skb) ? skb_vlan_tag_get_id(skb) : 0,
		.type = ntohs(skb->protocol),
	};

	return unlikely(eth_type_vlan(skb->protocol)) ? hop_network_behind_tags(skb, n) : n;
}

#endif
