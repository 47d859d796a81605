// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_identify.c - which packets hold their flow
 *
 * Shares are compared with the paper's equation (1) by log2() and ceil(), verdicts with its
 * Algorithm 1 and with the text of section IV-B, as they are written there.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/flowsail/identify.h"
#include "unit.h"

#define PLANNED	14
#define TRIES	1000000

static void __attribute__((format(printf, 2, 3))) checks(bool ok, const char *format, ...)
{
	char what[200];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	check(ok, what);
}

/* Equation (1): S_fair = Q >> ceil(log2(flowNum)) */
static double equation_1(u32 q, u32 flows)
{
	return floor(q / pow(2, ceil(log2(flows))));
}

static void shares(void)
{
	static const u32 lengths[] = { 0, 1, 2, 1499, 1500, 15000, 65535, 1U << 30 };
	unsigned int wrong = 0, tried = 0, i;
	u32 flows;

	for (flows = 1; flows <= 4094; flows++)
		for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++, tried++)
			wrong += flowsail_share(lengths[i], flows) != equation_1(lengths[i], flows);
	checks(!wrong, "1 to 4094 flows: %u shares are Q >> ceil(log2(flows))", tried);
	for (i = wrong = 0; i < TRIES; i++) {
		u32 q = random64() >> 34;

		flows = 1 + random64() % 4094;
		wrong += flowsail_share(q, flows) != equation_1(q, flows) ||
			 (u64)flowsail_share(q, flows) * flows > q;
	}
	checks(!wrong, "%u at random as well, and no more than all of it", TRIES);
	check(flowsail_share(8000, 3) == 2000 && flowsail_share(8000, 4) == 2000 &&
	      flowsail_share(8000, 5) == 1000, "a quarter for 3 or 4 flows, an eighth for 5");
	check(flowsail_share(8000, 1) == 8000 && flowsail_share(8000, 0) == 8000,
	      "all for one, and where only packets without a slot are");
}

/* Algorithm 1, lines 17 to 26 */
static bool algorithm_1(u32 length, u32 size, u32 flows, u32 ql, u32 qh)
{
	if (length > qh)
		return true;
	if (length > ql && size > equation_1(length, flows))
		return true;
	return false;
}

/* The text: the secondary decision is for a queue that "serves more than one flow". */
static bool text(u32 length, u32 size, u32 flows, u32 ql, u32 qh)
{
	if (length > ql && flows == 1)
		return true;
	return algorithm_1(length, size, flows, ql, qh);
}

static bool is_held(enum flowsail_verdict verdict)
{
	return verdict == FLOWSAIL_HOLDS || verdict == FLOWSAIL_HOLDS_HIGH;
}

/* Sub-queues of random lengths, at the thresholds, one above and one below */
static void verdicts(void)
{
	unsigned int wrong_low = 0, wrong_high = 0, wrong_word = 0, seen[4] = {}, i;

	for (i = 0; i < TRIES; i++) {
		u32 ql = 1 + random64() % 30000, qh = ql + random64() % 60000, flows, length, own;
		enum flowsail_verdict low, high;

		flows = 1 + random64() % (random64() % 2 ? 3 : 100);
		length = random64() % 4 ? 1 + random64() % (2 * (u64)qh) :
			 (random64() % 2 ? ql : qh) + random64() % 3 - 1;
		own = flows == 1 ? length : random64() % 3 ? random64() % ((u64)length + 1) :
		      equation_1(length, flows) + random64() % 2;
		low = flowsail_identify(length, own, flows, ql, qh, true);
		high = flowsail_identify(length, own, flows, ql, qh, false);
		seen[low]++;
		wrong_low += is_held(low) != text(length, own, flows, ql, qh);
		wrong_high += is_held(high) != algorithm_1(length, own, flows, ql, qh);
		wrong_word += (low == FLOWSAIL_PASSES) != (length <= ql) ||
			      (low == FLOWSAIL_HOLDS_HIGH) != (length > qh) ||
			      (high == FLOWSAIL_HOLDS_HIGH) != (length > qh);
	}
	checks(!wrong_low, "lone low: %u verdicts are those of the text", TRIES);
	checks(!wrong_high, "lone high: %u verdicts are those of Algorithm 1", TRIES);
	check(!wrong_word, "short and above Q_h are told apart");
	checks(seen[0] && seen[1] && seen[2] && seen[3], "all verdicts were there: %u %u %u %u",
	       seen[0], seen[1], seen[2], seen[3]);
}

/* Q_l = 10000, Q_h = 30000 */
static void is(enum flowsail_verdict want, u32 length, u32 own, u32 flows, bool lone,
	       const char *what)
{
	check(flowsail_identify(length, own, flows, 10000, 30000, lone) == want, what);
}

int main(void)
{
	printf("TAP version 13\n1..%u\n", PLANNED);
	shares();
	verdicts();
	is(FLOWSAIL_PASSES, 10000, 10000, 1, true, "Q_l itself holds nobody");
	is(FLOWSAIL_HOLDS, 10001, 10001, 1, true, "a byte more holds a flow alone: the text");
	is(FLOWSAIL_SPARES, 30000, 30000, 1, false, "by Algorithm 1 not even at Q_h");
	is(FLOWSAIL_HOLDS_HIGH, 30001, 1, 100, false, "a byte above that holds each");
	is(FLOWSAIL_SPARES, 20000, 5000, 3, true, "a quarter is the share among three");
	is(FLOWSAIL_HOLDS, 20000, 5001, 3, true, "a byte more is beyond it");
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
