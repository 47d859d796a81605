/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * police.h - the share of a link that frames of others may have in the control class
 *
 * A token bucket in time, as in hopctl/share.h. A frame costs the time that it takes on the link
 * with that share of its rate; as much as HOP_POLICE_FRAMES frames of full size cost may be owed,
 * so that what comes in bursts, as ARP and neighbour discovery do, passes.
 *
 * Pure functions.
 */
#ifndef _SLUICE_SCHED_POLICE_H
#define _SLUICE_SCHED_POLICE_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#include "../hopctl/share.h"

#define HOP_POLICE_ONE		10000	/* a share of all */
#define HOP_POLICE_FRAMES	64	/* frames of full size that may be owed */
#define HOP_POLICE_SHIFT	20	/* bits of time_per_byte behind the point of a ns */
#define HOP_POLICE_TIME		8	/* and of the bucket's times: short frames take few ns */
#define HOP_POLICE_SLOWEST	(1ULL << 43)	/* 119 bytes per second */
#define HOP_POLICE_LEAST	60	/* bytes that a frame has at least */
#define HOP_POLICE_OVERHEAD	24	/* and takes beyond on the link: preamble, FCS and gap */

/**
 * struct hop_police - what a byte costs
 * @time_per_byte: ns << HOP_POLICE_SHIFT
 * @free: what may be owed, ns << HOP_POLICE_TIME
 */
struct hop_police {
	u64	time_per_byte;
	u64	free;
};

/* ns << HOP_POLICE_TIME for a frame of @bytes < 2^17, Ethernet header included, FCS not */
static inline u64 hop_police_cost(const struct hop_police *p, u32 bytes)
{
	bytes = max_t(u32, bytes, HOP_POLICE_LEAST) + HOP_POLICE_OVERHEAD;
	return bytes * p->time_per_byte >> (HOP_POLICE_SHIFT - HOP_POLICE_TIME);
}

/**
 * hop_police_set - the share or the link's rate is another one
 * @p: the costs
 * @rate: bytes per second, up to 2^40
 * @share: in 1 / HOP_POLICE_ONE, up to that
 * @frame: bytes of a frame of full size, below 2^17
 */
static inline void hop_police_set(struct hop_police *p, u64 rate, u32 share, u32 frame)
{
	u64 second = (1000000000ULL << HOP_POLICE_SHIFT) * HOP_POLICE_ONE;
	u64 cost = div64_u64(second, max_t(u64, rate * share, 1));

	p->time_per_byte = clamp_t(u64, cost, 1, HOP_POLICE_SLOWEST);
	p->free = HOP_POLICE_FRAMES * hop_police_cost(p, frame);
}

/**
 * hop_police_takes - does a frame stay within the share?
 * @p: the costs
 * @paid: when all that was charged is paid off, ns << HOP_POLICE_TIME, see hop_bucket_spend();
 *	changed if it does
 * @bytes: of the frame
 * @now: time, ns
 */
static inline bool hop_police_takes(const struct hop_police *p, u64 *paid, u32 bytes, u64 now)
{
	u64 before = *paid;

	now <<= HOP_POLICE_TIME;
	if (hop_bucket_spend(paid, hop_police_cost(p, bytes), p->free, now) <= now)
		return true;
	*paid = before;
	return false;
}

#endif
