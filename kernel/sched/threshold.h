/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threshold.h - the pause threshold of BFC, section 3.3.2
 *
 *	Th = HRTT x mu / N_active
 *
 * The product is known before packets come: it changes with the link speed and the measured
 * HRTT only. The quotient is wanted for each packet; the paper keeps a table indexed by
 * N_active and mu. Here it is one multiplication by a tabulated reciprocal.
 *
 * Pure functions.
 */
#ifndef _SLUICE_SCHED_THRESHOLD_H
#define _SLUICE_SCHED_THRESHOLD_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_RECIPROCALS	4096	/* N_active is at most the number of sub-queues of a port */

/**
 * hop_reciprocal - 2^32 / n, rounded up so that exact quotients come out exact
 * @n: 1 .. HOP_RECIPROCALS
 */
static inline u64 hop_reciprocal(u32 n)
{
	return ((1ULL << 32) + n - 1) / n;
}

/* A table of them, from 1 on */
static inline void hop_reciprocals_fill(u64 *table)
{
	u32 n;

	for (n = 1; n <= HOP_RECIPROCALS; n++)
		table[n] = hop_reciprocal(n);
}

/**
 * hop_threshold - one share of a number of bytes
 * @bytes: below 2^31: HRTT x mu
 * @reciprocal: hop_reciprocal(N_active)
 *
 * Return: bytes / N_active rounded down, or one more: the reciprocal's error is below
 * n / 2^32, so the product's is below 1 byte for every @bytes under 2^31.
 */
static inline u32 hop_threshold(u32 bytes, u64 reciprocal)
{
	return (bytes * reciprocal) >> 32;
}

/**
 * hop_bdp_bytes - bytes that a rate moves in a time, scaled
 * @rate: bytes per second
 * @time_ns: at most a second
 * @percent: scale, 100 = unchanged, at most 10000
 *
 * Return: the product rounded down, at most 2^31 - 1.
 */
static inline u32 hop_bdp_bytes(u64 rate, u32 time_ns, u32 percent)
{
	/* The whole seconds' worth first: rate x time overflows 64 bits above 147 Gb/s x 1 s. */
	u64 high = (rate >> 20) * time_ns;
	u64 low = (rate & ((1U << 20) - 1)) * time_ns;
	u64 bytes;

	bytes = div_u64(high, 1000000000U);
	low += (high - bytes * 1000000000U) << 20;
	if (bytes >> 24)	/* 2^44 bytes: far beyond what is returned, and safe below */
		return (1U << 31) - 1;
	bytes = (bytes << 20) + div_u64(low, 1000000000U);
	bytes = div_u64(bytes * percent, 100);
	return bytes >> 31 ? (1U << 31) - 1 : bytes;
}

#define HOP_BDP_PART	4	/* of a qdisc's limit: what hop_bdp_bound() lets pass */

/**
 * hop_bdp_bound - HRTT x rate that leaves a qdisc room for what comes before a pause has an effect
 * @bytes: HRTT x rate, where the neighbours had their say in the HRTT
 * @limit: bytes that may be queued
 * @own: HRTT x rate by an HRTT that was configured; 0 if none was
 *
 * A threshold near the limit or beyond it means that packets are dropped and nobody is paused.
 * Return: the product, at most a quarter of the limit, or what was configured if that is more.
 */
static inline u32 hop_bdp_bound(u32 bytes, u32 limit, u32 own)
{
	u32 most = max(limit / HOP_BDP_PART, own);

	return bytes < most ? bytes : most;
}

/**
 * hop_bdp_scale - a part or a multiple of a number of bytes
 * @bytes: below 2^31
 * @percent: at most 10000
 *
 * Return: rounded down, at most 2^31 - 1.
 */
static inline u32 hop_bdp_scale(u32 bytes, u32 percent)
{
	u64 scaled = div_u64((u64)bytes * percent, 100);

	return scaled >> 31 ? (1U << 31) - 1 : scaled;
}

#endif
