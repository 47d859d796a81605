// SPDX-License-Identifier: GPL-2.0-only
/*
 * tag.c - the fabric tag, on and off
 *
 * The tag is a VLAN tag whose id is the sub-queue's number plus 1. It is pushed into the
 * packet's metadata, where devices that insert tags by themselves want it; a tag of the user's
 * that is there already moves into the frame. Taking it off is the reverse: what the next
 * handler sees is what the neighbour's qdisc was given.
 *
 * While the neighbour's HELLOs say TAGS, every frame of its qdiscs that starts with a tag of our
 * TPID starts with the fabric's; one with VLAN id 0 names no sub-queue. At other times a tag of
 * that TPID is a user's and is left alone; and so is one with an id beyond all that the neighbour
 * has announced, which can only be in a frame that went past its qdiscs.
 *
 * No lock: hop_port.strip and .handles are read once for each packet.
 */
#include <linux/if_vlan.h>
#include <linux/netfilter.h>
#include <net/gso.h>

#include "port.h"

/* Does the link take the frame, or what the card will make of it, with one more tag? */
static bool tag_fits(const struct hop_port *port, const struct sk_buff *skb)
{
	unsigned int max = READ_ONCE(port->frame_max) - VLAN_HLEN;

	if (skb_vlan_tag_present(skb))
		max -= VLAN_HLEN;
	return skb_is_gso(skb) ? skb_gso_validate_mac_len(skb, max) : skb->len <= max;
}

int hop_tag_push(const struct hop_member *m, struct sk_buff *skb, u16 queue)
{
	u16 vid = queue == HOP_NO_QUEUE ? 0 : m->first + queue + 1;
	u16 tci = vid | (m->blocks.tx.block & 1) * VLAN_CFI_MASK;
	__be16 tpid = htons(READ_ONCE(m->port->cfg.tpid));

	if (unlikely(!tag_fits(m->port, skb)))
		return -EMSGSIZE;
	if (unlikely(skb_vlan_tag_present(skb)))
		return skb_vlan_push(skb, tpid, tci);
	__vlan_hwaccel_put_tag(skb, tpid, tci);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_tag_push);

/* A frame of a sub-queue that was paused shows how long the pause has taken to bite. */
static noinline void tag_sample(struct hop_port *port)
{
	WRITE_ONCE(port->sampled_ns, (u32)hop_now());
}

/* Which handle stands for the neighbour's sub-queue that a tag names? 0 if none. */
static u16 tag_handle(struct hop_port *port, u16 vid)
{
	u32 handles = READ_ONCE(port->handles);

	if (!vid)
		return 0;
	if (unlikely(vid == READ_ONCE(port->sampled)))
		tag_sample(port);
	if (vid - 1U < (handles & 0xffff))
		return (handles >> 16) + vid - 1;
	hop_pcpu_inc(port, unlabelled);
	return 0;
}

/* Hands a private copy of a shared packet to the stack, behind the ingress hooks: the taps and
 * tc have seen it already. (So do netfilter hooks that come after ours not see it.)
 */
static unsigned int tag_reinject(struct hop_port *port, struct sk_buff *skb)
{
#ifdef CONFIG_NET_CLS_ACT
	skb->tc_skip_classify = 1;
	netif_receive_skb(skb);
#else
	hop_pcpu_inc(port, errors);
	kfree_skb(skb);
#endif
	return NF_STOLEN;
}

/* Data that a kind counts by blocks (blocks.h). @skb has lost the tag, @tci. */
static noinline void tag_count(struct hop_port *port, const struct sk_buff *skb, u16 tci)
{
	const struct hop_blocks_ops *ops = READ_ONCE(port->blocks.ops);
	struct hop_blocks *b = &port->blocks;
	struct hop_ledger_rx_key *key;
	u16 queue = (tci & VLAN_VID_MASK) - 1;
	u64 untold;
	u32 bytes;

	if (!ops || !(tci & VLAN_VID_MASK))
		return;
	key = ops->received(port, skb, queue, &bytes);
	if (!key)
		return;
	spin_lock(&b->rx_lock);
	hop_ledger_received(&b->rx, key, !!(tci & VLAN_CFI_MASK), bytes);
	untold = key->queued;
	spin_unlock(&b->rx_lock);
	hop_blocks_came(port, queue, untold);
}

/* The frame is somebody else's, too, or there is another tag in it, which goes where ours was. */
static noinline unsigned int tag_pop_slow(struct hop_port *port, struct sk_buff *skb, u16 vid)
{
	u16 tci = skb_vlan_tag_get(skb);
	bool shared = skb_shared(skb);

	if (shared) {
		skb = skb_share_check(skb, GFP_ATOMIC);
		if (!skb)
			goto lost;
	}
	__vlan_hwaccel_clear_tag(skb);
	if (eth_type_vlan(skb->protocol)) {
		skb = skb_vlan_untag(skb);
		if (unlikely(!skb))
			goto lost;
	}
	hop_pcpu_inc(port, stripped);
	if (READ_ONCE(port->counting))
		tag_count(port, skb, tci);
	skb->tc_index = tag_handle(port, vid);
	return shared ? tag_reinject(port, skb) : NF_ACCEPT;

lost:
	hop_pcpu_inc(port, errors);
	return NF_STOLEN;
}

/**
 * hop_tag_pop - take the fabric tag off a received frame and label the frame
 * @port: where it came in
 * @skb: the frame, its outermost tag in metadata
 *
 * Context: netdev ingress hook.
 * Return: NF_ACCEPT, or NF_STOLEN: the packet is gone or went another way.
 */
unsigned int hop_tag_pop(struct hop_port *port, struct sk_buff *skb)
{
	u32 strip = READ_ONCE(port->strip);
	u16 vid;

	if (!strip || !skb_vlan_tag_present(skb) || skb->vlan_proto != htons((u16)strip) ||
	    unlikely(skb_vlan_tag_get_id(skb) > strip >> 16)) {
		if (unlikely(skb->tc_index >= HOP_HANDLE_FIRST))
			skb->tc_index = 0;
		return NF_ACCEPT;
	}

	vid = skb_vlan_tag_get_id(skb);
	if (unlikely(skb_shared(skb) || eth_type_vlan(skb->protocol)))
		return tag_pop_slow(port, skb, vid);
	if (unlikely(READ_ONCE(port->counting)))
		tag_count(port, skb, skb_vlan_tag_get(skb));
	__vlan_hwaccel_clear_tag(skb);
	hop_pcpu_inc(port, stripped);
	skb->tc_index = tag_handle(port, vid);
	return NF_ACCEPT;
}

/**
 * hop_tag_stripped - data frames whose fabric tag was taken off
 * @port: the port
 */
u64 hop_tag_stripped(const struct hop_port *port)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += hop_pcpu_read(per_cpu_ptr(port->pcpu, cpu),
				 &per_cpu_ptr(port->pcpu, cpu)->stripped);
	return sum;
}
