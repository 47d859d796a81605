/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packet_hash.h - secret hashes of a packet's flow and of its destination
 *
 * What parse.h says of bytes, for packets: headers that do not lie in one piece are copied, and
 * what the parser leaves goes to the kernel's flow dissector. A general dissection takes five
 * times as long as the parser does. Of what this machine sends, as a rule, the headers alone lie
 * in one piece.
 *
 * Functions with a buffer on the stack are not inlined: it would cost all other packets a canary.
 */
#ifndef _SLUICE_SCHED_PACKET_HASH_H
#define _SLUICE_SCHED_PACKET_HASH_H

#include <linux/hash.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <net/flow_dissector.h>

#include "headers.h"
#include "parse.h"

/* Random numbers for a qdisc's own hashes. The same packet has other ones elsewhere. */
static inline void hop_flow_secret_draw(struct hop_flow_secret *secret)
{
	get_random_bytes(secret, sizeof(*secret));
	secret->last |= 1;
	secret->rest |= 1;
}

/* What the parser leaves. As there, a tunnel's outer header is the last, and the flow label is not
 * the flow's.
 */
static noinline __maybe_unused u32
hop_packet_hash_dissect(const struct sk_buff *skb, struct hop_network net,
			const struct hop_flow_secret *secret)
{
	struct flow_keys keys;

	memset(&keys, 0, sizeof(keys));
	__skb_flow_dissect(NULL, skb, &flow_keys_dissector, &keys, skb->data, htons(net.type),
			   net.at, skb_headlen(skb), FLOW_DISSECTOR_F_STOP_AT_ENCAP);
	keys.tags.flow_label = 0;
	return (flow_hash_from_keys(&keys) ^ secret->word[0]) * GOLDEN_RATIO_32 ^
	       net.vids * secret->rest;
}

/* Headers that do not lie in one piece, or that are not for the parser. By value: two registers */
static noinline __maybe_unused struct hop_flow_id
hop_packet_flow_scattered(const struct sk_buff *skb, struct hop_network net,
			  const struct hop_flow_secret *secret)
{
	u32 room = clamp_t(int, skb->len - net.at, 0, HOP_PARSE_BYTES);
	u8 buf[HOP_PARSE_BYTES];
	struct hop_flow_id id;

	if (skb_is_nonlinear(skb) && !skb_copy_bits(skb, net.at, buf, room) &&
	    hop_parse_flow(buf, room, net.type, net.vids, secret, &id))
		return id;
	return (struct hop_flow_id) { .word[0] = hop_packet_hash_dissect(skb, net, secret) };
}

/**
 * hop_packet_flow - what says which flow a packet is of
 * @skb: a packet at a qdisc
 * @net: hop_network() of it
 * @secret: random numbers
 *
 * Two flows of IPv4 and one protocol never have the same, others with a chance of 2^-32, and so
 * what is left to the dissector.
 *
 * Return: it, the same for all packets of a flow.
 */
static __always_inline struct hop_flow_id
hop_packet_flow(const struct sk_buff *skb, struct hop_network net,
		const struct hop_flow_secret *secret)
{
	int room = skb_headlen(skb) - net.at;
	struct hop_flow_id id;

	if (likely(hop_parse_flow(skb->data + net.at, room, net.type, net.vids, secret, &id)))
		return id;
	return hop_packet_flow_scattered(skb, net, secret);
}

/**
 * hop_packet_hash - a secret hash of what says which flow a packet is of
 * @skb: a packet at a qdisc
 * @net: hop_network() of it
 * @secret: random numbers
 *
 * Return: the hash.
 */
static __always_inline u32 hop_packet_hash(const struct sk_buff *skb, struct hop_network net,
					   const struct hop_flow_secret *secret)
{
	struct hop_flow_id id = hop_packet_flow(skb, net, secret);

	return hop_flow_hash(&id, secret);
}

/* A header that does not lie in one piece */
static noinline __maybe_unused u32
hop_packet_destination_scattered(const struct sk_buff *skb, struct hop_network net, u32 salt,
				 const struct hop_flow_secret *secret)
{
	u32 room = clamp_t(int, skb->len - net.at, 0, HOP_PARSE_IPV6_BYTES);
	u8 buf[HOP_PARSE_IPV6_BYTES];

	if (skb_copy_bits(skb, net.at, buf, room))
		return 0;
	return hop_destination_hash(buf, room, net.type, salt, secret);
}

/**
 * hop_packet_destination - a secret hash of the address that a packet goes to
 * @skb: a packet at a qdisc
 * @salt: another number makes another hash
 * @secret: random numbers
 *
 * Return: 0 of what is not IP, and now and then of what is.
 */
static __always_inline u32 hop_packet_destination(const struct sk_buff *skb, u32 salt,
						  const struct hop_flow_secret *secret)
{
	struct hop_network net = hop_network(skb);
	int room = skb_headlen(skb) - net.at;
	u32 hash = hop_destination_hash(skb->data + net.at, room, net.type, salt, secret);

	if (unlikely(!hash) && skb_is_nonlinear(skb))
		return hop_packet_destination_scattered(skb, net, salt, secret);
	return hash;
}

#endif
