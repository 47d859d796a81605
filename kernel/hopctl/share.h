/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * share.h - how much control frames may take: of the link's time, of a processor's
 *
 * Token buckets in time. A pause state is charged a multiple of what it takes on the link, and
 * charges of a few may be owed, so that a pause and the resume that follows it do not wait for
 * each other. A received frame is charged a fixed time.
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
#define HOP_RX_SHARE		2	/* received frames in the time of hop_state_spacing_ns */
#define HOP_RX_BURST		256

/**
 * hop_bucket_spend - charge something
 * @paid_ns: when all that was charged is paid off; 0 at first
 * @cost_ns: what it costs
 * @free_ns: what may be owed
 * @now: time
 *
 * If it does not happen after all, put back what @paid_ns pointed to.
 *
 * Return: the earliest time of the next one.
 */
static inline u64 hop_bucket_spend(u64 *paid_ns, u64 cost_ns, u64 free_ns, u64 now)
{
	u64 owed = (*paid_ns > now ? *paid_ns - now : 0) + cost_ns;

	*paid_ns = now + owed;
	return owed > free_ns ? now + owed - free_ns : now;
}

/* How far apart frames are in the long run that each take @wire_ns on the link, below 2^40 */
static inline u64 hop_share_ns(u64 wire_ns)
{
	return HOP_SHARE_FACTOR * wire_ns;
}

/**
 * hop_share_spend - charge a frame that is sent
 * @paid_ns: as above
 * @wire_ns: what the frame takes on the link, ns, below 2^40
 * @now: time
 *
 * Return: the earliest time of the next frame.
 */
static inline u64 hop_share_spend(u64 *paid_ns, u64 wire_ns, u64 now)
{
	u64 cost = hop_share_ns(wire_ns);

	return hop_bucket_spend(paid_ns, cost, (HOP_SHARE_BURST - 1) * cost, now);
}

#endif
