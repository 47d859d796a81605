/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * parse.h - which flow a packet is of, by its headers
 *
 * A flow is what addresses, protocol, ports and VLAN ids say, and nothing else. Not the hash that
 * the kernel keeps with a packet: it is the socket's, which gets another one at each
 * retransmission timeout (sk_rethink_txhash()), or whatever the card made of it. Nor the flow
 * label of IPv6, which follows that hash.
 *
 *   - Any fragment has no ports: only the first one has them, and all are to be one flow.
 *   - A tunnel is what its outer header says.
 *   - Extension headers of IPv6, other than that of a fragment, are not for here.
 *
 * What is decided here depends on the headers alone, never on how a packet lies in memory.
 *
 * Addresses of IPv6 are folded into 64 bits by secret multipliers (NH of UMAC, Black et al.,
 * CRYPTO 1999: two that differ collide with a chance of 2^-32, whoever chose them), so that what
 * follows, a secret hash of three words, is the same as for IPv4.
 *
 * That hash is NH once more, and then the high half of a product with a secret odd number, so two
 * flows that differ collide with a chance below 2^-30, whoever chose them. Between the two the
 * halves are mixed: without it flows that count upwards, as ports do, would with some secrets fall
 * into few sets. A hash that also withstands who sees its values (SipHash) costs each packet 85
 * instructions more; nobody sees them here.
 *
 * Pure functions.
 */
#ifndef _SLUICE_SCHED_PARSE_H
#define _SLUICE_SCHED_PARSE_H

#ifdef __KERNEL__
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#else
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <string.h>
#include "kernel_shim.h"
#endif

#define HOP_PARSE_BYTES		64	/* the longest header of IPv4, and ports */
#define HOP_PARSE_TAGS		8	/* VLAN tags of a frame at most, as in the kernel */
#define HOP_PARSE_VIDS_SHIFT	12	/* the innermost two of them count */
#define HOP_PARSE_IPV4_BYTES	20	/* the shortest header */
#define HOP_PARSE_IPV6_BYTES	40

/**
 * struct hop_flow_secret - what keeps strangers from choosing flows that are taken for one
 * @last: random, odd
 * @rest: random, odd
 * @word: random
 * @address: random
 */
struct hop_flow_secret {
	u64	last;
	u32	rest;
	u32	word[4];
	u32	address[8];
};

/**
 * struct hop_flow_id - a flow, for hop_flow_hash()
 * @word: equal for packets of one flow
 */
struct hop_flow_id {
	u32	word[3];
};

/* Do four bytes behind the IP header tell flows apart? Ports, or what IPsec has for them. */
static inline bool hop_parse_has_ports(u8 protocol)
{
	const u64 low = 1ULL << IPPROTO_TCP | 1ULL << IPPROTO_UDP | 1ULL << IPPROTO_DCCP |
			1ULL << IPPROTO_ESP;

	if (protocol < 64)
		return low >> protocol & 1;
	return protocol == IPPROTO_SCTP || protocol == IPPROTO_UDPLITE;
}

static __always_inline u32 hop_parse_word(const u8 *at)
{
	u32 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Is a packet of IPv4 a part of one? More of it follow, or it is not the first. */
static __always_inline bool hop_parse_is_fragment(const u8 *ip)
{
	__be16 word;

	memcpy(&word, ip + 6, sizeof(word));
	return word & htons(0x3fff);
}

/* Addresses of IPv6, both of them. Word by word: an array on the stack costs a canary. */
static __always_inline u64 hop_parse_fold(const u8 *addresses, const u32 *secret)
{
	u64 sum = 0;
	u32 i, a, b;

	for (i = 0; i < 8; i += 2) {
		a = hop_parse_word(addresses + 4 * i) + secret[i];
		b = hop_parse_word(addresses + 4 * i + 4) + secret[i + 1];
		sum += (u64)a * b;
	}
	return sum;
}

/**
 * hop_parse_flow - the flow of a packet
 * @ip: its network header
 * @room: bytes there, if any; HOP_PARSE_BYTES are always enough
 * @type: EtherType, host byte order
 * @vids: VLAN ids, the innermost in the lowest HOP_PARSE_VIDS_SHIFT bits; 0 without one
 * @secret: random numbers
 * @id: filled in
 *
 * Return: false if it is for a general dissector, or more of its bytes may tell.
 */
static __always_inline bool
hop_parse_flow(const u8 *ip, int room, u16 type, u32 vids, const struct hop_flow_secret *secret,
	       struct hop_flow_id *id)
{
	bool fragment = false;
	u32 ports = 0;
	int l4;
	u64 folded;
	u8 protocol;

	if (type == ETH_P_IP) {
		if (room < HOP_PARSE_IPV4_BYTES)
			return false;
		l4 = (ip[0] & 0xf) * 4;
		if (l4 < HOP_PARSE_IPV4_BYTES)
			return false;
		protocol = ip[9];
		fragment = hop_parse_is_fragment(ip);
		id->word[0] = hop_parse_word(ip + 12);
		id->word[1] = hop_parse_word(ip + 16);
	} else if (type == ETH_P_IPV6) {
		if (room < HOP_PARSE_IPV6_BYTES)
			return false;
		l4 = HOP_PARSE_IPV6_BYTES;
		protocol = ip[6];
		if (protocol == IPPROTO_HOPOPTS || protocol == IPPROTO_ROUTING ||
		    protocol == IPPROTO_DSTOPTS)
			return false;
		folded = hop_parse_fold(ip + 8, secret->address);
		id->word[0] = folded;
		id->word[1] = folded >> 32;
	} else {
		return false;
	}
	if (!fragment && hop_parse_has_ports(protocol)) {
		if (room < l4 + (int)sizeof(ports))
			return false;
		ports = hop_parse_word(ip + l4);
	}
	id->word[2] = ports ^ (protocol | vids << 8) * secret->rest;
	return true;
}

/**
 * hop_flow_hash - a secret hash of a flow
 * @id: the flow
 * @secret: random numbers
 */
static __always_inline u32
hop_flow_hash(const struct hop_flow_id *id, const struct hop_flow_secret *secret)
{
	u32 a = id->word[0] + secret->word[0], b = id->word[1] + secret->word[1];
	u32 c = id->word[2] + secret->word[2];
	u64 sum = (u64)a * b + (u64)c * secret->word[3];

	return ((sum ^ sum >> 32) * secret->last) >> 32;
}

/**
 * hop_destination_hash - a secret hash of the address that a packet goes to
 * @ip: its network header
 * @room: bytes there, if any; HOP_PARSE_IPV6_BYTES are always enough
 * @type: EtherType, host byte order
 * @salt: another number makes another hash
 * @secret: random numbers
 *
 * Made like hop_flow_hash(), and as hard to choose.
 *
 * Return: 0 if it is no IP, or cut short, and once in 2^32 of what is.
 */
static __always_inline u32 hop_destination_hash(const u8 *ip, int room, u16 type, u32 salt,
						const struct hop_flow_secret *secret)
{
	const u32 *s = secret->address;
	u64 sum;

	if (type == ETH_P_IP && room >= HOP_PARSE_IPV4_BYTES)
		sum = (u64)(hop_parse_word(ip + 16) + s[4]) * secret->rest;
	else if (type == ETH_P_IPV6 && room >= HOP_PARSE_IPV6_BYTES)
		sum = (u64)(hop_parse_word(ip + 24) + s[4]) * (hop_parse_word(ip + 28) + s[5]) +
		      (u64)(hop_parse_word(ip + 32) + s[6]) * (hop_parse_word(ip + 36) + s[7]);
	else
		return 0;
	sum += salt;
	return ((sum ^ sum >> 32) * secret->last) >> 32;
}

#endif
