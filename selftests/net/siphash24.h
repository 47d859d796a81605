/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * siphash24.h - SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012), not by the kernel's code
 *
 * unit/test_siphash.c holds it against the vectors of its authors.
 */
#ifndef _SLUICE_SIPHASH24_H
#define _SLUICE_SIPHASH24_H

#include <linux/types.h>
#include <stddef.h>

static inline __u64 sip_rotate(__u64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void sip_rounds(__u64 *v, int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = sip_rotate(v[1], 13) ^ v[0];
		v[3] = sip_rotate(v[3], 16) ^ v[2];
		v[0] = sip_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = sip_rotate(v[1], 17) ^ v[2];
		v[3] = sip_rotate(v[3], 21) ^ v[0];
		v[2] = sip_rotate(v[2], 32);
	}
}

static inline __u64 sip_word(const __u8 *p, size_t len)
{
	__u64 word = 0;

	for (size_t i = 0; i < len; i++)
		word |= (__u64)p[i] << 8 * i;
	return word;
}

static inline __u64 siphash24(const __u8 *p, size_t len, const __u8 *key)
{
	__u64 k0 = sip_word(key, 8), k1 = sip_word(key + 8, 8), word;
	__u64 v[] = { k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		      k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573 };
	const __u8 *end = p + len / 8 * 8;

	for (; p <= end; p += 8) {
		word = p < end ? sip_word(p, 8) :
				 sip_word(p, len % 8) | (__u64)len << 56;
		v[3] ^= word;
		sip_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
