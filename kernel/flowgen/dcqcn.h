/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dcqcn.h - the law of DCQCN's reaction point
 *
 * Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3: the
 * queue marks (pfc's kmin, kmax, pmax), the receiver sends a CNP if a marked packet of the flow
 * came and none was sent for N, and the sender's rate follows from its CNPs:
 *
 *	a CNP		target = rate, rate *= 1 - alpha / 2, alpha += g (1 - alpha)	(1)
 *	none for K	alpha *= 1 - g, each K						(2)
 *	each T, and each B bytes, since a CNP, with how many there were of each:
 *		the most < F	fast recovery:		rate = (target + rate) / 2	(3)
 *		the least > F	hyper increase:		target += i R_HAI, then (3)
 *		else		additive increase:	target += R_AI, then (3)	(4)
 *
 * with i = the least - F, F = 5 and g = 1/256. A flow starts at line rate, and what is above is for
 * flows that have had a CNP; their first one finds alpha = 1.
 *
 * Pure functions: no clock, no lock. What happens by itself is made up for when somebody asks.
 */
#ifndef _SLUICE_FLOWGEN_DCQCN_H
#define _SLUICE_FLOWGEN_DCQCN_H

#ifdef __KERNEL__
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define DCQCN_ONE	(1U << 30)	/* alpha = 1 */
#define DCQCN_G_SHIFT	8
#define DCQCN_F		5
#define DCQCN_MADE_UP	4096	/* T at a time: a flow that was idle for longer has lost the rest */

/**
 * struct dcqcn_config - parameters
 * @line: line rate, bytes/s
 * @least: no rate is below, bytes/s, at least 1
 * @add: R_AI, bytes/s
 * @hyper: R_HAI, bytes/s
 * @bytes: B
 * @alpha_ns: K
 * @timer_ns: T
 */
struct dcqcn_config {
	u64 line;
	u64 least;
	u64 add;
	u64 hyper;
	u64 bytes;
	u64 alpha_ns;
	u64 timer_ns;
};

/**
 * struct dcqcn - a flow
 * @rate: bytes/s
 * @target: bytes/s
 * @bytes_left: until B are full
 * @alpha_at: when alpha is less the next time
 * @timer_at: when T ends
 * @alpha: of DCQCN_ONE
 * @timers: T that have ended since the last CNP
 * @counts: B that were full since the last CNP
 * @slowed: there was a CNP
 */
struct dcqcn {
	u64 rate;
	u64 target;
	u64 bytes_left;
	u64 alpha_at;
	u64 timer_at;
	u32 alpha;
	u32 timers;
	u32 counts;
	bool slowed;
};

/**
 * dcqcn_start - a flow starts
 * @d: it
 * @c: parameters
 */
static inline void dcqcn_start(struct dcqcn *d, const struct dcqcn_config *c)
{
	*d = (struct dcqcn){ .rate = c->line, .target = c->line, .alpha = DCQCN_ONE };
}

static inline void dcqcn_increase(struct dcqcn *d, const struct dcqcn_config *c)
{
	u32 most = max(d->timers, d->counts), least = min(d->timers, d->counts);

	if (least > DCQCN_F)
		d->target += (least - DCQCN_F) * c->hyper;
	else if (most >= DCQCN_F)
		d->target += c->add;
	d->target = min(d->target, c->line);
	d->rate = (d->target + d->rate + 1) / 2;
}

/* At line rate, and to stay there: what is left to happen changes nothing but alpha. */
static inline bool dcqcn_is_full(const struct dcqcn *d, const struct dcqcn_config *c)
{
	return d->rate >= c->line;
}

/**
 * dcqcn_pass - time passes
 * @d: the flow
 * @c: parameters
 * @now: ns; not before what was said last
 */
static inline void dcqcn_pass(struct dcqcn *d, const struct dcqcn_config *c, u64 now)
{
	if (!d->slowed)
		return;
	while (d->alpha_at <= now && d->alpha >> DCQCN_G_SHIFT) {
		d->alpha -= d->alpha >> DCQCN_G_SHIFT;
		d->alpha_at += c->alpha_ns;
	}
	if (d->timer_at + DCQCN_MADE_UP * c->timer_ns < now)
		d->timer_at = now - DCQCN_MADE_UP * c->timer_ns;
	while (d->timer_at <= now && !dcqcn_is_full(d, c)) {
		d->timers++;
		d->timer_at += c->timer_ns;
		dcqcn_increase(d, c);
	}
}

/**
 * dcqcn_cnp - a CNP has come
 * @d: the flow
 * @c: parameters
 * @now: ns
 */
static inline void dcqcn_cnp(struct dcqcn *d, const struct dcqcn_config *c, u64 now)
{
	dcqcn_pass(d, c, now);
	d->target = d->rate;
	d->rate -= mul_u64_u64_shr(d->rate, d->alpha, 31);	/* alpha / 2 */
	d->rate = max(d->rate, c->least);
	d->alpha += (DCQCN_ONE - d->alpha) >> DCQCN_G_SHIFT;
	d->slowed = true;
	d->timers = 0;
	d->counts = 0;
	d->bytes_left = c->bytes;
	d->alpha_at = now + c->alpha_ns;
	d->timer_at = now + c->timer_ns;
}

/**
 * dcqcn_sent - bytes have been sent
 * @d: the flow
 * @c: parameters
 * @bytes: less than @c->bytes
 */
static inline void dcqcn_sent(struct dcqcn *d, const struct dcqcn_config *c, u32 bytes)
{
	if (!d->slowed)
		return;
	if (bytes < d->bytes_left) {
		d->bytes_left -= bytes;
		return;
	}
	d->bytes_left += c->bytes - bytes;
	d->counts++;
	dcqcn_increase(d, c);
}

/**
 * dcqcn_next - when the rate changes by itself
 * @d: the flow, after dcqcn_pass()
 * @c: parameters
 *
 * Return: ns, U64_MAX if it does not.
 */
static inline u64 dcqcn_next(const struct dcqcn *d, const struct dcqcn_config *c)
{
	return d->slowed && !dcqcn_is_full(d, c) ? d->timer_at : U64_MAX;
}

#endif
