/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ecn_ramp.h - how likely a packet is marked, by the length of the queue that it finds
 *
 * Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3.1, the
 * congestion point of DCQCN: RED's law on the instantaneous queue.
 *
 *	probability      1 |            +-----
 *	                   |            |
 *	              pmax |         . +
 *	                 0 +-----+-'----------- queue
 *	                       kmin   kmax
 *
 * The slope is computed when the options change, rounded up: a packet costs one multiplication.
 * Chances are numbers in units of 2^-32. They are the exact ones rounded down, or above them by at
 * most one unit and one for each 2^18 bytes of kmax - kmin, a millionth in all.
 *
 * Pure functions.
 */
#ifndef _SLUICE_SCHED_ECN_RAMP_H
#define _SLUICE_SCHED_ECN_RAMP_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_ECN_ONE	10000	/* pmax = 100 percent */
#define HOP_ECN_SHIFT	18	/* bits of the slope behind the point */

/**
 * struct hop_ecn_ramp - the law
 * @kmin: bytes; a shorter queue marks nothing; U32_MAX: no queue marks anything
 * @kmax: bytes; a longer queue marks everything
 * @slope: chance per byte above @kmin, in 2^-32, << HOP_ECN_SHIFT
 */
struct hop_ecn_ramp {
	u32	kmin;
	u32	kmax;
	u64	slope;
};

/**
 * hop_ecn_set - the options have changed
 * @r: the law
 * @kmin: bytes, up to @kmax
 * @kmax: bytes, up to 2^30; 0: nothing is marked
 * @pmax: in 1 / HOP_ECN_ONE, up to that
 */
static inline void hop_ecn_set(struct hop_ecn_ramp *r, u32 kmin, u32 kmax, u32 pmax)
{
	u64 width = (u64)(kmax - kmin) * HOP_ECN_ONE;

	r->kmin = kmax ? kmin : (u32)-1;
	r->kmax = kmax ? kmax : (u32)-1;
	r->slope = width ? div64_u64(((u64)pmax << (32 + HOP_ECN_SHIFT)) + width - 1, width) : 0;
}

/* The chance, in 2^-32, that a packet is marked which finds so many bytes, @kmin to @kmax */
static inline u64 hop_ecn_chance(const struct hop_ecn_ramp *r, u32 queue)
{
	return (queue - r->kmin) * r->slope >> HOP_ECN_SHIFT;
}

/**
 * hop_ecn_marks - is a packet to be marked?
 * @r: the law
 * @queue: bytes that it finds
 * @random: state of a generator of random numbers, which goes on where there is chance. Within its
 *	period of 2^32 it takes each value once.
 */
static inline bool hop_ecn_marks(const struct hop_ecn_ramp *r, u32 queue, u32 *random)
{
	if (queue < r->kmin)
		return false;
	if (queue > r->kmax)
		return true;
	*random = *random * 1664525 + 1013904223;
	return *random < hop_ecn_chance(r, queue);
}

#endif
