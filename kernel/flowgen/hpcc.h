/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hpcc.h - the law of HPCC
 *
 * Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, Algorithm 1. With each
 * acknowledgement come the records of the ports on the way (telemetry.h). With those that came
 * with the one before, a port with a line of B is used by
 *
 *	u = min(queue, queue before) / (B T) + (bytes - bytes before) / (B (ns - ns before))
 *
 * where T is the base RTT. U is a moving average of the greatest of them: the time between the
 * two of that port counts as that part of T. The window then is
 *
 *	W = Wc eta / U + W_AI		if U >= eta, or maxStage times in a row it was the other:
 *	W = Wc + W_AI			else
 *
 * and once an RTT, when what is acknowledged was sent after it was done last, Wc = W. The flow is
 * paced at W / T. It starts with B T of its own line, which W does not exceed.
 *
 * A way that has changed, a first acknowledgement, and one after long silence only say how things
 * are: there is nothing to compare with.
 *
 * Pure functions: no clock, no lock. Bytes are those of the line, gaps and preambles included.
 */
#ifndef _SLUICE_FLOWGEN_HPCC_H
#define _SLUICE_FLOWGEN_HPCC_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#include "../sched/telemetry.h"

#define HPCC_ONE	(1U << 20)	/* U = 1 */
#define HPCC_USE_MAX	(1ULL << 33)	/* U is not above */
#define HPCC_ETA_ONE	10000
#define HPCC_SILENT_NS	1000000000ULL	/* telemetry's clock goes round in more than that */
#define HPCC_EXACT	(1U << 21)	/* fewer bytes are reckoned with to the last */

/**
 * struct hpcc_config - parameters
 * @line: line rate, bytes/s
 * @rtt_ns: T, at most 1 s
 * @add: W_AI, bytes
 * @eta: target utilization, of HPCC_ETA_ONE
 * @stages: maxStage
 */
struct hpcc_config {
	u64 line;
	u64 rtt_ns;
	u64 add;
	u32 eta;
	u32 stages;
};

/**
 * struct hpcc - a flow
 * @window: W
 * @settled: Wc
 * @use: U, of HPCC_ONE
 * @heard_ns: when @last came, 0: nothing has
 * @settles_at: Wc follows when a packet behind this one is acknowledged
 * @stage: incStage
 * @hops: records in @last
 * @last: of the acknowledgement before
 */
struct hpcc {
	u64 window;
	u64 settled;
	u64 use;
	u64 heard_ns;
	u32 settles_at;
	u32 stage;
	u32 hops;
	struct telemetry last[TELEMETRY_HOPS];
};

/* What fits on a line within T, bytes */
static inline u64 hpcc_full(const struct hpcc_config *c)
{
	return max(div_u64(div_u64(c->line, 1000) * c->rtt_ns, 1000000), 1ULL);
}

/* A rate of a thousandth of the line is always left. */
static inline u64 hpcc_least(const struct hpcc_config *c)
{
	return max(div_u64(hpcc_full(c), 1000), 1ULL);
}

/**
 * hpcc_start - a flow starts
 * @h: it
 * @c: parameters
 */
static inline void hpcc_start(struct hpcc *h, const struct hpcc_config *c)
{
	*h = (struct hpcc){ .window = hpcc_full(c), .settled = hpcc_full(c), .use = HPCC_ONE };
}

/* @line: bytes of it in some time. Return: @bytes of HPCC_ONE of that */
static inline u64 hpcc_part(u32 bytes, u64 line)
{
	return div64_u64((u64)bytes * HPCC_ONE, max(line, 1ULL));
}

/* What a line of @kbit takes in @ns, bytes */
static inline u64 hpcc_line_bytes(u32 kbit, u64 ns)
{
	return div_u64((u64)kbit * ns, 8000000);
}

/* How much of a port is used between two records, not of the same time */
static inline u64 hpcc_use(const struct telemetry *now, const struct telemetry *before, u64 rtt_ns)
{
	u32 bytes = now->bytes - before->bytes, ns = now->ns - before->ns;
	u64 use = hpcc_part(min(now->queue, before->queue), hpcc_line_bytes(now->kbit, rtt_ns));

	if (bytes < HPCC_EXACT)
		use += div64_u64((u64)bytes * 8000000 * HPCC_ONE, (u64)now->kbit * ns);
	else
		use += hpcc_part(bytes, hpcc_line_bytes(now->kbit, ns));
	return min(use, HPCC_USE_MAX);
}

/* MeasureInflight(). A port that has dequeued two packets at once says nothing with the second. */
static inline void hpcc_measure(struct hpcc *h, const struct hpcc_config *c,
				const struct telemetry *t)
{
	u64 most = 0, use, ns = 0;
	unsigned int i;

	for (i = 0; i < h->hops; i++) {
		if (t[i].ns == h->last[i].ns)
			continue;
		use = hpcc_use(&t[i], &h->last[i], c->rtt_ns);
		if (ns && use <= most)
			continue;
		most = use;
		ns = t[i].ns - h->last[i].ns;
	}
	ns = min(ns, c->rtt_ns);
	h->use = div64_u64(h->use * (c->rtt_ns - ns) + most * ns, c->rtt_ns);
}

/* ComputeWind() */
static inline void hpcc_compute(struct hpcc *h, const struct hpcc_config *c, bool settle)
{
	u64 eta = div_u64((u64)c->eta * HPCC_ONE, HPCC_ETA_ONE);
	bool measured = h->use >= eta || h->stage >= c->stages;
	u64 window = h->settled;

	if (measured)
		window = div64_u64(window * eta, max(h->use, 1ULL));
	h->window = min(max(window + c->add, hpcc_least(c)), hpcc_full(c));
	if (!settle)
		return;
	h->stage = measured ? 0 : h->stage + 1;
	h->settled = h->window;
}

/* Return: how many records there are. */
static inline u32 hpcc_read(struct telemetry *t, const u8 *records)
{
	unsigned int i;

	for (i = 0; i < TELEMETRY_HOPS; i++)
		if (!telemetry_get(&t[i], records + i * TELEMETRY_RECORD))
			break;
	return i;
}

/* Is it the way of last time? */
static inline bool hpcc_compares(const struct hpcc *h, const struct telemetry *t, u32 hops, u64 now)
{
	unsigned int i;

	if (!h->heard_ns || now - h->heard_ns >= HPCC_SILENT_NS || hops != h->hops)
		return false;
	for (i = 0; i < hops; i++)
		if (t[i].kbit != h->last[i].kbit)
			return false;
	return hops;
}

/**
 * hpcc_ack - an acknowledgement has come
 * @h: the flow
 * @c: parameters
 * @records: what came with it, TELEMETRY_BYTES
 * @acked: packets before this one are acknowledged
 * @next: is sent next
 * @now: ns, not 0
 */
static inline void hpcc_ack(struct hpcc *h, const struct hpcc_config *c, const u8 *records,
			    u32 acked, u32 next, u64 now)
{
	struct telemetry t[TELEMETRY_HOPS];
	u32 hops = hpcc_read(t, records);
	bool settle = acked > h->settles_at;
	unsigned int i;

	if (hpcc_compares(h, t, hops, now)) {
		hpcc_measure(h, c, t);
		hpcc_compute(h, c, settle);
		if (settle)
			h->settles_at = next;
	} else {
		h->settles_at = next;
	}
	h->heard_ns = now;
	h->hops = hops;
	for (i = 0; i < hops; i++)
		h->last[i] = t[i];
}

/**
 * hpcc_rate - how fast the flow is paced
 * @h: the flow
 * @c: parameters
 *
 * Return: W / T, bytes/s, not 0.
 */
static inline u64 hpcc_rate(const struct hpcc *h, const struct hpcc_config *c)
{
	u64 rest, rate = div64_u64_rem(h->window, c->rtt_ns, &rest) * NSEC_PER_SEC;

	rate += div64_u64(rest * NSEC_PER_SEC, c->rtt_ns);
	return min(max(rate, 1ULL), c->line);
}

#endif
