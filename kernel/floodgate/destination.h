/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * destination.h - to whom a packet goes, and how many bytes of it count
 *
 * A destination is an IP address wherever a frame has one, on bridges too, since that is what all
 * boxes on the way see alike; else the MAC address. VLAN ids and the network prefix do not count.
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

/**
 * struct floodgate_key - a destination
 * @word: its address, rest 0
 * @type: ETH_P_IP, ETH_P_IPV6, or 0: a MAC address
 */
struct floodgate_key {
	u32	word[4];
	u32	type;
};

static inline bool floodgate_key_equal(const struct floodgate_key *a,
				       const struct floodgate_key *b)
{
	return !((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]) |
		 (a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3]) | (a->type ^ b->type));
}

/**
 * floodgate_key_read - the destination of a packet
 * @key: filled in
 * @ip: its network header
 * @room: bytes there, if any
 * @type: EtherType, host byte order
 * @mac: the MAC address that it goes to
 *
 * Return: false if it goes to a group, which has no window.
 */
static __always_inline bool floodgate_key_read(struct floodgate_key *key, const u8 *ip, int room,
					       u16 type, const u8 *mac)
{
	*key = (struct floodgate_key) {};
	if (mac[0] & 1)
		return false;
	if (type == ETH_P_IP && room >= HOP_PARSE_IPV4_BYTES) {
		key->word[0] = hop_parse_word(ip + 16);
		key->type = type;
	} else if (type == ETH_P_IPV6 && room >= HOP_PARSE_IPV6_BYTES) {
		memcpy(key->word, ip + 24, sizeof(key->word));
		key->type = type;
	} else {
		memcpy(key->word, mac, 6);
	}
	return true;
}

/**
 * floodgate_key_hash - a secret hash of a destination
 * @key: the destination
 * @secret: random numbers
 *
 * Made like hop_flow_hash(), and as hard to choose.
 */
static __always_inline u32 floodgate_key_hash(const struct floodgate_key *key,
					      const struct hop_flow_secret *secret)
{
	const u32 *k = key->word, *s = secret->address;
	u64 sum = (u64)(k[0] + s[0]) * (k[1] + s[1]) + (u64)(k[2] + s[2]) * (k[3] + s[3]) +
		  (u64)key->type * secret->rest;

	return ((sum ^ sum >> 32) * secret->last) >> 32;
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
 * when the credit is to leave, at each end.
 */
static inline u64 floodgate_window_bytes(u32 hrtt_ns, u32 factor, u32 interval_ns, u32 most,
					 u64 rate, u32 frame)
{
	u64 ns = div_u64((u64)hrtt_ns * factor, FLOODGATE_FACTOR_ONE), kilo = div_u64(rate, 1000);
	u64 untold = div_u64(interval_ns * kilo, 1000000);

	if (most && most < untold)
		untold = most;
	return div_u64(ns * kilo, 1000000) + untold + 2 * frame;
}

#endif
