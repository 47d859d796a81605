/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * destination.h - to whom a packet goes, and how many bytes of it count
 *
 * A destination is an IP address wherever a frame has one, on bridges too, since that is what all
 * boxes on the way see alike; else the MAC address. Options say how much of an address counts
 * (`prefix`, `prefix6`), and whether VLAN ids do (`key`).
 *
 * Pure functions.
 */
#ifndef _SLUICE_FLOODGATE_DESTINATION_H
#define _SLUICE_FLOODGATE_DESTINATION_H

#include "../sched/parse.h"

#ifndef __KERNEL__
#include <stdbool.h>
#endif

#define FLOODGATE_LEAST_BYTES	60	/* shorter frames are padded */
#define FLOODGATE_ETH_BYTES	14
#define FLOODGATE_FACTOR_ONE	10000	/* 100 percent */

/* What is in floodgate_key.type */
#define FLOODGATE_KEY_ETHERTYPE		0xffff	/* ETH_P_IP, ETH_P_IPV6, or 0: a MAC address */
#define FLOODGATE_KEY_PREFIX_SHIFT	16	/* bits of the IP address that count */
#define FLOODGATE_KEY_PREFIX_MASK	0xff
#define FLOODGATE_KEY_VLAN		(1U << 31)	/* VLAN ids count */

/**
 * struct floodgate_key - a destination
 * @word: what counts of its address, rest 0
 * @type: what the address is, and what counts: FLOODGATE_KEY_*. Ports with other options have other
 *	destinations
 * @vids: VLAN ids as in struct hop_network, 0 if they do not count
 */
struct floodgate_key {
	u32	word[4];
	u32	type;
	u32	vids;
};

/**
 * struct floodgate_key_rule - what of a packet counts as its destination
 * @ipv4: mask of the address, in the order of its bytes
 * @ipv6: likewise
 * @ipv4_type: floodgate_key.type
 * @ipv6_type: likewise
 * @mac_type: likewise, without IP
 * @vids: mask of VLAN ids: all or none
 */
struct floodgate_key_rule {
	u32	ipv4;
	u32	ipv6[4];
	u32	ipv4_type;
	u32	ipv6_type;
	u32	mac_type;
	u32	vids;
};

/* A mask of the first bits of so many bytes, in their order */
static inline void floodgate_key_mask(u32 *mask, unsigned int bytes, unsigned int bits)
{
	u8 *byte = (u8 *)mask;
	unsigned int now;

	for (; bytes; bytes--, bits -= now) {
		now = bits < 8 ? bits : 8;
		*byte++ = 0xff00 >> now;
	}
}

/**
 * floodgate_key_rule_set - what counts, by the options
 * @rule: filled in
 * @prefix: bits of an IPv4 address, 1 to 32
 * @prefix6: bits of an IPv6 address, 1 to 128
 * @vlan: VLAN ids count
 */
static inline void floodgate_key_rule_set(struct floodgate_key_rule *rule, unsigned int prefix,
					  unsigned int prefix6, bool vlan)
{
	floodgate_key_mask(&rule->ipv4, sizeof(rule->ipv4), prefix);
	floodgate_key_mask(rule->ipv6, sizeof(rule->ipv6), prefix6);
	rule->mac_type = vlan ? FLOODGATE_KEY_VLAN : 0;
	rule->ipv4_type = rule->mac_type | prefix << FLOODGATE_KEY_PREFIX_SHIFT | ETH_P_IP;
	rule->ipv6_type = rule->mac_type | prefix6 << FLOODGATE_KEY_PREFIX_SHIFT | ETH_P_IPV6;
	rule->vids = vlan ? ~0U : 0;
}

/* Two words, which compilers read as one */
static __always_inline u64 floodgate_key_pair(u32 low, u32 high)
{
	return (u64)high << 32 | low;
}

static inline bool floodgate_key_equal(const struct floodgate_key *a,
				       const struct floodgate_key *b)
{
	const u32 *x = a->word, *y = b->word;

	return !((floodgate_key_pair(x[0], x[1]) ^ floodgate_key_pair(y[0], y[1])) |
		 (floodgate_key_pair(x[2], x[3]) ^ floodgate_key_pair(y[2], y[3])) |
		 (floodgate_key_pair(a->type, a->vids) ^ floodgate_key_pair(b->type, b->vids)));
}

/* Is it this IPv4 address, masked, with this floodgate_key.type and these VLAN ids? */
static inline bool floodgate_key_is_ipv4(const struct floodgate_key *key, u32 address, u32 type,
					 u32 vids)
{
	return !((floodgate_key_pair(key->word[0], key->word[1]) ^ address) |
		 floodgate_key_pair(key->word[2], key->word[3]) |
		 (floodgate_key_pair(key->type, key->vids) ^ floodgate_key_pair(type, vids)));
}

/**
 * floodgate_key_read - the destination of a packet
 * @key: filled in
 * @rule: what counts
 * @ip: its network header
 * @room: bytes there, if any
 * @type: EtherType, host byte order
 * @vids: VLAN ids, see struct hop_network
 * @mac: the MAC address that it goes to
 *
 * Return: false if it goes to a group, which has no window.
 */
static __always_inline bool
floodgate_key_read(struct floodgate_key *key, const struct floodgate_key_rule *rule, const u8 *ip,
		   int room, u16 type, u32 vids, const u8 *mac)
{
	unsigned int i;

	*key = (struct floodgate_key) { .vids = vids & rule->vids };
	if (mac[0] & 1)
		return false;
	if (type == ETH_P_IP && room >= HOP_PARSE_IPV4_BYTES) {
		key->word[0] = hop_parse_word(ip + 16) & rule->ipv4;
		key->type = rule->ipv4_type;
	} else if (type == ETH_P_IPV6 && room >= HOP_PARSE_IPV6_BYTES) {
		for (i = 0; i < 4; i++)
			key->word[i] = hop_parse_word(ip + 24 + 4 * i) & rule->ipv6[i];
		key->type = rule->ipv6_type;
	} else {
		memcpy(key->word, mac, 6);
		key->type = rule->mac_type;
	}
	return true;
}

/* Of four words, type and VLAN ids. Made like hop_flow_hash(), and as hard to choose. */
static __always_inline u32 floodgate_hash(u32 a, u32 b, u32 c, u32 d, u32 type, u32 vids,
					  const struct hop_flow_secret *secret)
{
	const u32 *s = secret->address;
	u64 sum = (u64)(a + s[0]) * (b + s[1]) + (u64)(c + s[2]) * (d + s[3]) +
		  floodgate_key_pair(type, vids) * secret->rest;

	return ((sum ^ sum >> 32) * secret->last) >> 32;
}

/**
 * floodgate_key_hash - a secret hash of a destination
 * @key: the destination
 * @secret: random numbers
 */
static inline u32 floodgate_key_hash(const struct floodgate_key *key,
				     const struct hop_flow_secret *secret)
{
	const u32 *k = key->word;

	return floodgate_hash(k[0], k[1], k[2], k[3], key->type, key->vids, secret);
}

/* The same of an IPv4 address; see floodgate_key_is_ipv4() */
static inline u32 floodgate_key_hash_ipv4(u32 address, u32 type, u32 vids,
					  const struct hop_flow_secret *secret)
{
	return floodgate_hash(address, 0, 0, 0, type, vids, secret);
}

/**
 * floodgate_frame_bytes - what a frame counts
 * @network: its bytes from the network header on, without tags
 *
 * Alike at both ends of a link: without tags, and as if padded.
 */
static inline u32 floodgate_frame_bytes(u32 network)
{
	u32 bytes = network + FLOODGATE_ETH_BYTES;

	return bytes < FLOODGATE_LEAST_BYTES ? FLOODGATE_LEAST_BYTES : bytes;
}

/**
 * floodgate_gso_bytes - what the segments of a packet count, cut or not
 * @network: bytes from the network header on
 * @headers: of them, those that each segment has
 * @size: what a segment has besides, not 0
 */
static inline u32 floodgate_gso_bytes(u32 network, u32 headers, u32 size)
{
	u32 payload = network > headers ? network - headers : 0;
	u32 whole = payload / size, rest = payload % size;
	u32 bytes = whole * floodgate_frame_bytes(headers + size);

	return rest || !whole ? bytes + floodgate_frame_bytes(headers + rest) : bytes;
}

/* Credits leave at most so often, whatever is asked for (hopctl/stream.c): 1 us apart, and the
 * shortest frame of them each 1 % of the link.
 */
#define FLOODGATE_APART_NS	1000
#define FLOODGATE_APART_BYTES	8400

/**
 * floodgate_window_bytes - how much may be outstanding of a destination (section 4.2)
 * @hrtt_ns: HRTT of the link
 * @factor: m, in 1 / FLOODGATE_FACTOR_ONE
 * @interval_ns: T, at which the neighbour tells credits
 * @most: bytes after which it tells them in any case; 0: it does not
 * @rate: bytes/s
 * @frame: the longest frame, bytes
 *
 * BDP_nextHop + C_out T, or the bytes if these are fewer, and two frames: one that is being sent
 * when the credit is to leave, at each end. Not less than it takes to send until credits may
 * leave.
 */
static inline u64 floodgate_window_bytes(u32 hrtt_ns, u32 factor, u32 interval_ns, u32 most,
					 u64 rate, u32 frame)
{
	u64 ns = div_u64((u64)hrtt_ns * factor, FLOODGATE_FACTOR_ONE), kilo = div_u64(rate, 1000);
	u64 by_time = div_u64(interval_ns * kilo, 1000000);
	u64 untold = most && most < by_time ? most : by_time;
	u64 apart = div_u64(FLOODGATE_APART_NS * kilo, 1000000);
	u64 window = div_u64(ns * kilo, 1000000) + untold, least;

	if (apart < FLOODGATE_APART_BYTES)
		apart = FLOODGATE_APART_BYTES;
	if (apart > by_time)
		apart = by_time;
	if (untold < apart) {
		/* a factor above 1 may be for just that */
		least = div_u64((ns < hrtt_ns ? ns : hrtt_ns) * kilo, 1000000) + apart;
		window = window < least ? least : window;
	}
	return window + 2 * frame;
}

#endif
