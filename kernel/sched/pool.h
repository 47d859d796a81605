/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pool.h - dynamic thresholds over a shared buffer
 *
 * Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, 1998:
 * what one user of a buffer may hold is alpha times what is free of it. So n users that want
 * all they can get settle at alpha / (1 + n alpha) of the buffer each, and some of it always stays
 * free for the next one to come.
 *
 * Pure functions. The packet in question counts on both sides, in what is held and in what is
 * used, so that what is admitted leaves the rule true. Nothing is divided: all is exact.
 */
#ifndef _SLUICE_SCHED_POOL_H
#define _SLUICE_SCHED_POOL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_ALPHA_ONE	10000	/* alpha = 1 */

/**
 * hop_pool_allows - may somebody hold so much of a buffer?
 * @held: bytes that he holds, below 2^40
 * @used: bytes that all hold, his included
 * @size: bytes of the buffer
 * @alpha: in 1 / HOP_ALPHA_ONE, at most 1000 times that
 *
 * Return: @held is at most alpha times what is free. Never true with a buffer that is full, if
 * anything is held.
 */
static inline bool hop_pool_allows(u64 held, u64 used, u32 size, u32 alpha)
{
	return used <= size && held * HOP_ALPHA_ONE <= (size - used) * alpha;
}

#endif
