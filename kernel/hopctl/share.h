/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - what pause states may take of the link's time
 *
 * A token bucket in time: each frame is charged a multiple of what it takes on the link, and
 * charges of a few frames may be owed, so that a pause and the resume that follows it do not wait
 * for each other.
 *
 * Pure functions.
 */
#ifndef _SLUICE_HOPCTL_SHARE_H
#define _SLUICE_HOPCTL_SHARE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_SHARE_FACTOR	100	/* 1 % of the link's time */
#define HOP_SHARE_BURST		8	/* frames that may be owed */

/**
 * hop_share_spend - charge a frame
 * @paid_ns: when all that was charged is paid off; 0 at first
 * @wire_ns: what the frame takes on the link, ns, below 2^40
 * @now: time
 *
 * If the frame is not sent after all, put back what @paid_ns pointed to.
 *
 * Return: the earliest time of the next frame.
 */
static inline u64 hop_share_spend(u64 *paid_ns, u64 wire_ns, u64 now)
{
	u64 cost = HOP_SHARE_FACTOR * wire_ns, free = (HOP_SHARE_BURST - 1) * cost;
	u64 owed = (*paid_ns > now ? *paid_ns - now : 0) + cost;

	*paid_ns = now + owed;
	return owed > free ? now + owed - free : now;
}

#endif
