// SPDX-License-Identifier: GPL-2.0-only
/*
 * wire_fault.c - lost, corrupted, duplicated and late frames
 *
 * The faults of a frame are drawn when it starts to occupy the line, in the order of the line:
 * lost, lost as control or as data, duplicated, corrupted, late. A fault whose probability is
 * zero draws nothing. A lost frame still takes its time on the line; a duplicate takes its own,
 * right after the first, and suffers no further fault. So it overtakes the first if that is late.
 *
 * Each kind of loss is in a burst or not by itself, and counts its own frames only: a run of
 * lost control frames goes on with the next control frame, however much data passes between.
 *
 * Frames of the fabric's control protocol are known by their EtherType, behind one VLAN tag at
 * most. This is another question than who goes ahead of the ring: that is TC_PRIO_CONTROL,
 * which ARP and spanning tree have too.
 *
 * While any fault is set wire_dev.c lets the stack segment, so that a fault hits one frame and
 * not a train of them. A train handed over before that is not corrupted, as its checksum
 * cannot be resolved.
 */
#include <linux/etherdevice.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>

#include "../uapi/hopctl.h"
#include "wire.h"

static bool wire_fault_is_control(const struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	__be16 type = eth->h_proto, tag[2];
	const __be16 *inner;

	if (!skb_vlan_tag_present(skb) && eth_type_vlan(type)) {
		inner = skb_header_pointer(skb, ETH_HLEN, sizeof(tag), tag);
		if (!inner)
			return false;
		type = inner[1];
	}
	return type == htons(HOP_ETHERTYPE);
}

static bool wire_fault_draw_loss(struct wire_card *card, unsigned int kind, u32 probability)
{
	return wire_stream_lose(&card->stream, &card->burst[kind], probability,
				card->config.loss_burst);
}

static bool wire_fault_lose(struct wire_card *card, struct sk_buff *skb)
{
	const struct wire_config *config = &card->config;

	if (wire_fault_draw_loss(card, WIRE_LOSS_ANY, config->loss)) {
		card->count.loss++;
		return true;
	}
	if (!config->loss_control && !config->loss_data)
		return false;
	if (wire_fault_is_control(skb)) {
		if (!wire_fault_draw_loss(card, WIRE_LOSS_CONTROL, config->loss_control))
			return false;
		card->count.loss_control++;
		return true;
	}
	if (!wire_fault_draw_loss(card, WIRE_LOSS_DATA, config->loss_data))
		return false;
	card->count.loss_data++;
	return true;
}

static void wire_fault_duplicate(struct wire_card *card, struct sk_buff *skb)
{
	struct sk_buff *copy = skb_clone(skb, GFP_ATOMIC);

	if (!copy) {
		card->count.no_memory++;
		return;
	}
	wire_frame(copy)->flags |= WIRE_FRAME_COPY;
	card->copy = copy;
	card->count.duplicated++;
}

/* The bit is drawn first, so that a frame that cannot be changed does not shift the stream. */
static void wire_fault_corrupt(struct wire_card *card, struct sk_buff *skb)
{
	u32 bit = wire_stream_below(&card->stream, skb->len * BITS_PER_BYTE);

	if (skb_is_gso(skb))
		return;
	if ((skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) ||
	    skb_ensure_writable(skb, bit / BITS_PER_BYTE + 1)) {
		card->count.no_memory++;
		return;
	}
	skb->data[bit / BITS_PER_BYTE] ^= 1U << (bit % BITS_PER_BYTE);
	card->count.corrupted++;
}

/**
 * wire_fault_decide - draw the faults of a frame that starts to occupy the line
 * @card: with its lock held
 * @skb: the frame, at its Ethernet header
 */
void wire_fault_decide(struct wire_card *card, struct sk_buff *skb)
{
	lockdep_assert_held(&card->lock);

	if (!wire_config_has_faults(&card->config))
		return;
	if (wire_fault_lose(card, skb)) {
		wire_frame(skb)->flags |= WIRE_FRAME_LOST;
		return;
	}
	if (wire_stream_hit(&card->stream, card->config.duplicate))
		wire_fault_duplicate(card, skb);
	if (wire_stream_hit(&card->stream, card->config.corrupt))
		wire_fault_corrupt(card, skb);
	if (wire_stream_hit(&card->stream, card->config.reorder)) {
		wire_frame(skb)->flags |= WIRE_FRAME_LATE;
		card->count.reordered++;
	}
}
