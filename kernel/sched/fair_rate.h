/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair_rate.h - the fair rate of RoCC's congestion point, Algorithm 1
 *
 * Each interval T the length of a queue gives the rate that each flow in it may send at: a
 * proportional-integral controller around a reference length, whose gains follow the rate (section
 * 5.3: in six levels, or smoothly), and two rules that cut the rate at once (section 3.2).
 *
 * Units. The paper scales lengths by 600 bytes and rates by 10 Mb/s; here lengths are bytes, and
 * rates bits per second with ROCC_FRACTION bits behind the point, so that what is left of a small
 * step is not lost: the authors' simulator drops it each T, and its queue settles up to a fifth
 * below the reference. A gain of the paper, a, is a x 10 Mb/s / 600 bytes of ours.
 *
 * Pure functions. They divide, so they are for a timer, not for packets.
 */
#ifndef _SLUICE_SCHED_FAIR_RATE_H
#define _SLUICE_SCHED_FAIR_RATE_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#include "threshold.h"

#define ROCC_FRACTION		10	/* bits of a rate behind the point */
#define ROCC_LEVELS		6	/* of the gains: full ones, a half, ... 1/32 */
#define ROCC_CUT_SHIFT		3	/* rates are cut above rate_max / 8 */
#define ROCC_GAIN_ONE		10000	/* of rocc_gain() */
#define ROCC_SMOOTH_BITS	16
#define ROCC_SMOOTH_MIN		(1U << (ROCC_SMOOTH_BITS - 6))	/* 1/64 of the full gains */

/**
 * struct rocc_law - how a fair rate is found
 * @rate_min: the least, bit/s << ROCC_FRACTION
 * @rate_max: the most, as a rule the link's speed; from 1 kbit/s to 8 Tbit/s
 * @alpha: bit/s << ROCC_FRACTION that a byte above @q_ref takes off each interval, at full gain
 * @beta: the same for a byte that the queue has grown by
 * @q_ref: length that the queue is to settle at, bytes
 * @q_mid: growth in one interval beyond which the rate is halved, bytes
 * @q_max: length from which on the rate is the least one, bytes
 * @smooth: gains in proportion to the rate instead of by powers of two
 */
struct rocc_law {
	u64	rate_min;
	u64	rate_max;
	u64	alpha;
	u64	beta;
	u32	q_ref;
	u32	q_mid;
	u32	q_max;
	bool	smooth;
};

/**
 * struct rocc_rate - a fair rate and what the next one depends on
 * @rate: bit/s << ROCC_FRACTION
 * @q_old: length of the queue when it was computed, bytes
 * @cuts: times halved, or cut to the least
 */
struct rocc_rate {
	u64	rate;
	u32	q_old;
	u32	cuts;
};

/**
 * rocc_gain - a gain for an interval, from one without a unit
 * @gain: bits that a byte takes off in an interval, in 1 / ROCC_GAIN_ONE of a byte's 8; at most 100
 *	times one
 * @interval_ns: T, 1 us to 1 s
 *
 * What the controller does to a queue depends on gain x T / 8 bits alone: the paper's 0.3 and 1.5
 * at 40 us are 0.025 and 0.125.
 *
 * Return: bit/s << ROCC_FRACTION for a byte, at least 1.
 */
static inline u64 rocc_gain(u32 gain, u32 interval_ns)
{
	/* 10^6 x 8 x 10^9 / 10^4 << 10 is below 2^60 */
	u64 per_s = (u64)gain * 8 * (1000000000U / ROCC_GAIN_ONE) << ROCC_FRACTION;
	u64 alpha = div_u64(per_s, interval_ns);

	return alpha ? alpha : 1;
}

/* Gain x bytes, at most so much that it is 2 x rate_max at the lowest gains: no rate is left to
 * tell more apart, and the sum of two and a rate stays below 2^61.
 */
static inline s64 rocc_product(const struct rocc_law *law, u64 gain, s64 bytes)
{
	u64 size = bytes < 0 ? -bytes : bytes, most = law->rate_max << ROCC_LEVELS;
	u64 product = mul_u64_u64_shr(gain, size, 0);

	/* the gain is below 2^60, and size below 2^33 */
	if (mul_u64_u64_shr(gain, size, 62) || product > most)
		product = most;
	return bytes < 0 ? -(s64)product : (s64)product;
}

/* Section 5.3: gains follow the rate, for N flows have N times the effect on the queue. */
static inline s64 rocc_tuned(const struct rocc_law *law, u64 rate, s64 step)
{
	unsigned int level = 0;
	u64 part, size;

	if (law->smooth) {
		part = div64_u64(rate, (law->rate_max >> (ROCC_SMOOTH_BITS + 1)) | 1);
		part = clamp_t(u64, part, ROCC_SMOOTH_MIN, 1U << ROCC_SMOOTH_BITS);
		size = mul_u64_u64_shr(step < 0 ? -step : step, part, ROCC_SMOOTH_BITS);
		return step < 0 ? -(s64)size : (s64)size;
	}
	while (level < ROCC_LEVELS - 1 && rate < law->rate_max >> (level + 1))
		level++;
	return step >> level;
}

/**
 * rocc_rate_start - before the first interval
 * @r: the rate
 * @law: how it is found
 *
 * With the most: who is not congested holds nobody back.
 */
static inline void rocc_rate_start(struct rocc_rate *r, const struct rocc_law *law)
{
	r->rate = law->rate_max;
	r->q_old = 0;
	r->cuts = 0;
}

static inline bool rocc_rate_is_high(const struct rocc_rate *r, const struct rocc_law *law)
{
	return r->rate > law->rate_max >> ROCC_CUT_SHIFT;
}

/**
 * rocc_rate_is_cut - would the rate be cut now, instead of controlled?
 * @r: the rate
 * @law: how it is found
 * @q_cur: the queue's length now, bytes
 */
static inline bool rocc_rate_is_cut(const struct rocc_rate *r, const struct rocc_law *law,
				    u32 q_cur)
{
	return rocc_rate_is_high(r, law) &&
	       (q_cur >= law->q_max || (s64)q_cur - r->q_old >= law->q_mid);
}

/**
 * rocc_law_slow - the law of a longer interval
 * @law: of one
 * @intervals: so many times as long
 *
 * The gains of rocc_gain() are as much smaller as their interval is longer. Lengths stay.
 */
static inline void rocc_law_slow(struct rocc_law *law, u32 intervals)
{
	law->alpha = max_t(u64, div_u64(law->alpha, intervals), 1);
	law->beta = max_t(u64, div_u64(law->beta, intervals), 1);
}

/**
 * rocc_rate_catch_up - the fair rate after a long interval in which the link was not full
 * @r: the rate
 * @law: how it is found
 * @before: the rate of the interval before
 * @q_cur: the queue's length now, bytes
 * @sent: bytes that have left in the interval
 * @could: that the link could have carried, below 2^40
 *
 * Flows that are not told recover, doubling what they send (Algorithm 2). If the next CNP comes
 * only after several intervals they are all told, and so the rate has to recover for them: by at
 * most as much, and to 15/16 of the link if they send what they are told. They were told one after
 * the other, so on average they had half of the interval at the rate before.
 *
 * Return: false if the link was as good as full, or has a queue: it is for rocc_rate_next().
 */
static inline bool rocc_rate_catch_up(struct rocc_rate *r, const struct rocc_law *law, u64 before,
				      u32 q_cur, u64 sent, u64 could)
{
	u64 rate = 2 * r->rate, fits = rate;

	if (q_cur >= law->q_ref / 2 || sent >= could - could / 8)
		return false;
	/* below 2^43 x 2^14; with less than that it is more than twice the rate */
	if (sent >= could / 16 && sent)
		fits = ((before + r->rate) >> 11) * div64_u64((could - could / 16) << 10, sent);
	if (fits < rate)
		rate = fits;
	r->rate = clamp_t(u64, rate, law->rate_min, law->rate_max);
	r->q_old = q_cur;
	return true;
}

/**
 * rocc_rate_next - the fair rate of the next interval (Algorithm 1)
 * @r: the rate
 * @law: how it is found
 * @q_cur: the queue's length now, bytes
 *
 * Return: the rate, in whole bit/s.
 */
static inline u64 rocc_rate_next(struct rocc_rate *r, const struct rocc_law *law, u32 q_cur)
{
	s64 above = (s64)q_cur - law->q_ref, grown = (s64)q_cur - r->q_old, rate = r->rate;

	if (rocc_rate_is_high(r, law) && q_cur >= law->q_max) {
		rate = law->rate_min;
		r->cuts++;
	} else if (rocc_rate_is_cut(r, law, q_cur)) {
		rate >>= 1;
		r->cuts++;
	} else {
		rate -= rocc_tuned(law, rate, rocc_product(law, law->alpha, above) +
					      rocc_product(law, law->beta, grown));
	}
	r->rate = clamp_t(s64, rate, law->rate_min, law->rate_max);
	r->q_old = q_cur;
	return r->rate >> ROCC_FRACTION;
}

/**
 * struct rocc_scale - constants of the paper without their units
 * @rate: up to this speed, bit/s; 0: any
 * @alpha: gain x T / 8 bits, in 1 / ROCC_GAIN_ONE
 * @beta: the same
 * @q_ref: reference length / what the link carries in T, percent
 * @q_mid: the same of that growth
 * @q_max: the same of that length
 */
struct rocc_scale {
	u64	rate;
	u32	alpha;
	u32	beta;
	u32	q_ref;
	u32	q_mid;
	u32	q_max;
};

/* Section 6, "System parameters": those of 40 Gb/s links, and of 100 Gb/s links from half way on,
 * at T = 40 us. Without units they are true for any speed and T.
 */
static const struct rocc_scale rocc_scales[] = {
	{ 70000000000ULL, 250, 1250, 75, 150, 180 },
	{ 0, 375, 1875, 60, 120, 132 },
};

/**
 * rocc_law_auto - the paper's constants for a link
 * @law: filled in, but for smooth
 * @rate: the link's speed, bit/s, 1 kbit/s to 8 Tbit/s
 * @interval_ns: T, 1 us to 1 s
 * @least: no length is to be below this, bytes: a few frames
 *
 * The least rate is 1/400 of the speed, as at 40 Gb/s, but at least 1 kbit/s; at 100 Gb/s and
 * more, where the paper keeps 100 Mb/s, it is a thousandth.
 */
static inline void rocc_law_auto(struct rocc_law *law, u64 rate, u32 interval_ns, u32 least)
{
	const struct rocc_scale *s = rocc_scales;
	u64 min;

	while (s->rate && rate > s->rate)
		s++;
	min = div_u64(rate, s->rate ? 400 : 1000);
	law->rate_max = rate << ROCC_FRACTION;
	law->rate_min = max_t(u64, min, 1000) << ROCC_FRACTION;
	law->alpha = rocc_gain(s->alpha, interval_ns);
	law->beta = rocc_gain(s->beta, interval_ns);
	law->q_ref = max(hop_bdp_bytes(rate / 8, interval_ns, s->q_ref), least);
	law->q_mid = max(hop_bdp_bytes(rate / 8, interval_ns, s->q_mid), 2 * least);
	law->q_max = max(hop_bdp_bytes(rate / 8, interval_ns, s->q_max), 2 * least);
}

#endif
