/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bitset.h - a set of up to 4096 small numbers with O(1) search
 *
 * Two levels: 64 words of 64 bits, and a summary with one bit for each word that is not
 * empty. Finding the next member, going round at the end, takes at most three bit scans
 * whatever the number of members. Used for the sub-queues that are ready to send and for
 * those that are free.
 *
 * Pure functions; the caller serialises writers and readers (a qdisc's own lock).
 */
#ifndef _SLUICE_SCHED_BITSET_H
#define _SLUICE_SCHED_BITSET_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_BITSET_BITS	4096
#define HOP_BITSET_NONE	HOP_BITSET_BITS

/**
 * struct hop_bitset - set of numbers below HOP_BITSET_BITS
 * @summary: bit w is set while @words[w] is not 0
 * @words: bit n % 64 of word n / 64 is set while n is a member
 */
struct hop_bitset {
	u64	summary;
	u64	words[HOP_BITSET_BITS / 64];
};

static inline void hop_bitset_add(struct hop_bitset *s, unsigned int n)
{
	s->words[n / 64] |= 1ULL << (n % 64);
	s->summary |= 1ULL << (n / 64);
}

static inline void hop_bitset_del(struct hop_bitset *s, unsigned int n)
{
	s->words[n / 64] &= ~(1ULL << (n % 64));
	if (!s->words[n / 64])
		s->summary &= ~(1ULL << (n / 64));
}

static inline bool hop_bitset_has(const struct hop_bitset *s, unsigned int n)
{
	return s->words[n / 64] >> (n % 64) & 1;
}

static inline bool hop_bitset_empty(const struct hop_bitset *s)
{
	return !s->summary;
}

/**
 * hop_bitset_next - first member at or after a number, going round at the end
 * @s: the set
 * @from: where to start, below HOP_BITSET_BITS
 *
 * Return: the member, or HOP_BITSET_NONE if the set is empty.
 */
static inline unsigned int hop_bitset_next(const struct hop_bitset *s, unsigned int from)
{
	unsigned int w = from / 64;
	u64 bits = s->words[w] & (~0ULL << (from % 64));
	u64 later;

	if (bits)
		return w * 64 + __ffs64(bits);
	if (!s->summary)
		return HOP_BITSET_NONE;
	/* Shifted in two steps: 64 at once is undefined, and w may be 63. */
	later = s->summary & (~0ULL << w << 1);
	w = __ffs64(later ? later : s->summary);
	return w * 64 + __ffs64(s->words[w]);
}

#endif
