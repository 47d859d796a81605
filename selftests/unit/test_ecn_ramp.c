// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_ecn_ramp.c - the law by which pfc marks packets, held against exact arithmetic
 */
#include "../../kernel/sched/ecn_ramp.h"
#include "unit.h"

#define PLANNED	12U

#define ALL	(1ULL << 32)	/* a chance of 1 */

static const struct law {
	u32 kmin, kmax, pmax;
} laws[] = {
	{ 5120, 204800, 100 },			/* DCQCN's own */
	{ 100000, 400000, 2000 },
	{ 0, 1, 10000 },
	{ 0, 1 << 30, 10000 },
	{ 0, 1 << 30, 1 },
	{ (1 << 30) - 1, 1 << 30, 5000 },
	{ 20000, 40000, 5000 },
};

/* Is the chance the exact one rounded down, or at most so much above: a unit, and one for each 2^18
 * bytes of width?
 */
static bool is_exact(const struct law *l, const struct hop_ecn_ramp *r, u32 queue)
{
	u64 width = (u64)(l->kmax - l->kmin) * HOP_ECN_ONE;
	unsigned __int128 exact = (unsigned __int128)(queue - l->kmin) * l->pmax * ALL;
	u64 chance = hop_ecn_chance(r, queue);

	return chance >= exact / width && chance <= exact / width + 1 + ((l->kmax - l->kmin) >> 18);
}

static void test_points(void)
{
	bool exact = true, monotone = true, below = true, above = true, begins = true;
	u32 random = 0, step, queue;
	struct hop_ecn_ramp r;
	u64 chance, last;

	for (const struct law *l = laws; l < laws + sizeof(laws) / sizeof(*laws); l++) {
		hop_ecn_set(&r, l->kmin, l->kmax, l->pmax);
		begins &= !hop_ecn_chance(&r, l->kmin);
		step = (l->kmax - l->kmin) / 100000 + 1;
		last = 0;
		for (queue = l->kmin; queue <= l->kmax; queue += step) {
			chance = hop_ecn_chance(&r, queue);
			exact &= is_exact(l, &r, queue);
			monotone &= chance >= last;
			last = chance;
		}
		exact &= is_exact(l, &r, l->kmax);
		if (l->kmin)
			below &= !hop_ecn_marks(&r, l->kmin - 1, &random) &&
				 !hop_ecn_marks(&r, 0, &random);
		above &= hop_ecn_marks(&r, l->kmax + 1, &random) &&
			 hop_ecn_marks(&r, (u32)-1, &random);
	}
	check(exact, "the chance is the exact one, or just above");
	check(monotone, "it never falls");
	check(begins, "it begins with 0");
	check(below, "below kmin none is marked");
	check(above, "above kmax each is");
	check(random == 0, "neither asks for chance");
}

static void test_ends(void)
{
	struct hop_ecn_ramp r;
	u32 random = 0;
	bool off;

	hop_ecn_set(&r, 5000, 5000 + (1 << 20), 5000);
	check(hop_ecn_chance(&r, 5000 + (1 << 20)) == ALL / 2 &&
	      hop_ecn_chance(&r, 5000 + (1 << 19)) == ALL / 4 &&
	      hop_ecn_chance(&r, 5001) == ALL >> 21, "pmax at kmax, half of it half way");
	hop_ecn_set(&r, 0, 0, 10000);
	off = !hop_ecn_marks(&r, 0, &random) && !hop_ecn_marks(&r, 1 << 30, &random);
	check(off && random == 0, "without kmax none is marked");
	hop_ecn_set(&r, 5000, 5000, 10000);
	check(!hop_ecn_marks(&r, 5000, &random) && hop_ecn_marks(&r, 5001, &random),
	      "kmin = kmax: a step");
}

/* How many of 2^20 packets are marked, and how many of 2^16 values that lie evenly would be */
static void test_expectation(void)
{
	bool even = true, near = true;
	struct hop_ecn_ramp r;
	u32 queue, random = 1, n, marked, values;
	u64 chance;

	hop_ecn_set(&r, 20000, 40000, 5000);
	for (queue = 20000; queue <= 40000; queue += 2500) {
		chance = hop_ecn_chance(&r, queue);
		for (values = n = 0; n < 1 << 16; n++)
			values += (u64)n << 16 < chance;
		even &= values == (chance + 65535) >> 16;
		for (marked = n = 0; n < 1 << 20; n++)
			marked += hop_ecn_marks(&r, queue, &random);
		/* 5 standard deviations of a fair coin, the widest of all, are 2560 of 2^20 */
		near &= marked <= (chance >> 12) + 2560 && marked + 2560 >= chance >> 12;
	}
	check(even, "as many values of chance mark as the law says");
	check(near, "and as many packets, by the generator");
}

/* The generator is "ranqd1" of Press et al., Numerical Recipes in C, 2nd edition, section 7.1, which
 * prints what it gives from 0 on.
 */
static void test_random(void)
{
	static const u32 printed[] = {
		0x3c6ef35f, 0x47502932, 0xd1ccf6e9, 0xaaf95334, 0x6252e503, 0x9f2ec686, 0x57fe6c2d,
		0xa3d95fa8, 0x81fdbee7, 0x94f0af1a, 0xcbf633b1,
	};
	struct hop_ecn_ramp r = {};
	unsigned int i;
	u32 random = 0;
	bool ok = true;

	hop_ecn_set(&r, 1000, 2000, laws[0].pmax);
	for (i = 0; i < sizeof(printed) / sizeof(*printed); i++) {
		hop_ecn_marks(&r, 1500, &random);
		ok = ok && random == printed[i];
	}
	check(ok, "random numbers are those that the book prints");
}

int main(void)
{
	printf("TAP version 13\n1..%u\n", PLANNED);
	test_points();
	test_ends();
	test_expectation();
	test_random();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
