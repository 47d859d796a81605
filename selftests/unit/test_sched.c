// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_sched.c - pure functions of the modules: sets of sub-queues, thresholds, the shares of the
 * link that pause states and forwarded control packets may take
 *
 * Each result is held against a plain loop or against 128-bit arithmetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/hopctl/share.h"
#include "../../kernel/sched/bitset.h"
#include "../../kernel/sched/police.h"
#include "../../kernel/sched/pool.h"
#include "../../kernel/sched/threshold.h"
#include "unit.h"

#define PLANNED	26U

static unsigned int plain_next(const bool *member, unsigned int from)
{
	unsigned int i;

	for (i = 0; i < HOP_BITSET_BITS; i++)
		if (member[(from + i) % HOP_BITSET_BITS])
			return (from + i) % HOP_BITSET_BITS;
	return HOP_BITSET_NONE;
}

/* Random adds and deletes at several densities; every search as by a loop over all numbers. */
static void test_bitset_random(void)
{
	static bool member[HOP_BITSET_BITS];
	struct hop_bitset set = {};
	unsigned int density, i, n;
	bool ok = true;

	for (density = 0; density <= 64; density += 4) {
		for (i = 0; i < 4096; i++) {
			n = random64() % HOP_BITSET_BITS;
			if (random64() % 64 < density) {
				hop_bitset_add(&set, n);
				member[n] = true;
			} else {
				hop_bitset_del(&set, n);
				member[n] = false;
			}
			ok &= hop_bitset_has(&set, n) == member[n];
			n = random64() % HOP_BITSET_BITS;
			ok &= hop_bitset_next(&set, n) == plain_next(member, n);
		}
	}
	check(ok, "bitset: searches agree with a loop at all densities");
}

static void test_bitset_edges(void)
{
	static const unsigned int edges[] = { 0, 1, 63, 64, 65, 4031, 4032, 4094, 4095 };
	unsigned int i, j;
	bool ok = true;

	for (i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		struct hop_bitset set = {};

		ok &= hop_bitset_empty(&set);
		hop_bitset_add(&set, edges[i]);
		hop_bitset_add(&set, edges[i]);
		for (j = 0; j < sizeof(edges) / sizeof(*edges); j++)
			ok &= hop_bitset_next(&set, edges[j]) == edges[i];
		hop_bitset_del(&set, edges[i]);
		hop_bitset_del(&set, edges[i]);
		ok &= hop_bitset_empty(&set);
		ok &= hop_bitset_next(&set, edges[i]) == HOP_BITSET_NONE;
	}
	check(ok, "bitset: first, last and word edges, each alone, from each");
}

/* The share is never too small and at most one byte too large. */
static void test_threshold(void)
{
	bool ok = true, exact = true;
	u32 bytes, n, th;
	unsigned int i;

	for (n = 1; n <= HOP_RECIPROCALS; n++) {
		for (i = 0; i < 200; i++) {
			bytes = random64() >> (33 + i % 31);
			th = hop_threshold(bytes, hop_reciprocal(n));
			ok &= th == bytes / n || th == bytes / n + 1;
			bytes -= bytes % n;
			exact &= hop_threshold(bytes, hop_reciprocal(n)) == bytes / n;
		}
	}
	check(ok, "threshold: within a byte of the quotient for N_active 1 to 4096");
	check(exact, "threshold: exact where the quotient is whole");
}

static void test_bdp(void)
{
	unsigned __int128 want;
	u64 rate;
	u32 time_ns, percent;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < 1000000; i++) {
		rate = random64() >> (24 + i % 40);
		time_ns = random64() % 1000000001;
		if (i % 3)
			time_ns >>= i % 29;
		percent = 1 + random64() % 10000;
		want = (unsigned __int128)rate * time_ns / 1000000000 * percent / 100;
		if (want >> 31)
			want = (1U << 31) - 1;
		ok &= hop_bdp_bytes(rate, time_ns, percent) == (u32)want;
	}
	check(ok, "bdp: equal to 128-bit arithmetic, capped at 2^31 - 1");
	/* BFC, section 6.1: 2 us at 100 Gb/s */
	check(hop_bdp_bytes(12500000000ULL, 2000, 100) == 25000, "bdp: 100 Gb/s x 2 us = 25000");
	check(hop_bdp_bytes(12500000000ULL, 2000, 50) == 12500, "bdp: half of it at 50 percent");
	check(hop_bdp_bytes(0, 2000, 100) == 0, "bdp: nothing at rate 0");
}

static void test_bdp_bound(void)
{
	bool scale_ok = true;
	unsigned int i;

	check(hop_bdp_bound(25000, 8 << 20, 0) == 25000, "bound: far below the limit nothing changes");
	/* what a neighbour may say: 1 ms at 100 Gb/s */
	check(hop_bdp_bound(12500000, 8 << 20, 0) == 2 << 20, "bound: else a quarter of the limit");
	check(hop_bdp_bound(2 << 20, 8 << 20, 0) == 2 << 20, "bound: a quarter is not too much");
	check(hop_bdp_bound((1U << 31) - 1, 3, 0) == 0, "bound: of a tiny limit nothing");
	check(hop_bdp_bound(12500000, 8 << 20, 5000000) == 5000000, "bound: more if it was asked for");
	check(hop_bdp_bound(4000000, 8 << 20, 5000000) == 4000000, "bound: which adds nothing");
	check(hop_bdp_bound(12500000, 8 << 20, 100) == 2 << 20, "bound: nor takes any");
	for (i = 0; i < 1000000; i++) {
		u32 bytes = random64() >> (33 + i % 31), percent = random64() % 10001;
		u64 want = (u64)bytes * percent / 100;

		scale_ok &= hop_bdp_scale(bytes, percent) == (want >> 31 ? (1U << 31) - 1 : want);
	}
	check(scale_ok, "scale: rounded down, capped at 2^31 - 1");
}

static void test_share(void)
{
	u64 paid = 0, now = 1000000, start = now, at = now, wire = 84, total = 0;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < HOP_SHARE_BURST; i++) {
		ok &= at == now;
		at = hop_share_spend(&paid, wire, now);
	}
	check(ok, "share: a burst waits for nothing");
	check(at == now + 100 * wire, "share: the frame after it for what one costs");

	for (i = 0, ok = true; i < 100000; i++) {
		now = at + (random64() & 7 ? 0 : random64() % 100000);
		wire = 67 + random64() % 500;
		total += wire;
		at = hop_share_spend(&paid, wire, now);
		ok &= at >= now && total * 100 <= now - start + HOP_SHARE_BURST * 100 * 567;
	}
	check(ok, "share: never more than 1 % and a burst");

	paid = now;
	for (i = 0; i < HOP_SHARE_BURST; i++)
		hop_share_spend(&paid, 67, now);
	check(hop_share_spend(&paid, 567, now) == now && hop_share_spend(&paid, 67, now) > now,
	      "share: a short frame pays for the long one before it");
	paid = now - 1;
	check(hop_share_spend(&paid, 0, now) == now, "share: no wait at an unknown speed");
}

/* The rule as a fraction, in 128 bits */
static bool plain_allows(u64 held, u64 used, u32 size, u32 alpha)
{
	return used <= size &&
	       (unsigned __int128)held * 10000 <= (unsigned __int128)(size - used) * alpha;
}

static void test_pool_edges(void)
{
	u64 held, used;
	bool ok = true;
	unsigned int i;
	u32 size, alpha;

	for (i = 0; i < 1000000; i++) {
		size = 1 + (random64() % (1U << 30) >> i % 30);
		used = random64() % (2ULL * size + 2);
		alpha = 1 + random64() % 100000;
		held = used <= size ? (size - used) * alpha / 10000 : random64() >> 24;
		ok &= plain_allows(held, used, size, alpha) == (used <= size);
		ok &= hop_pool_allows(held, used, size, alpha) == (used <= size);
		ok &= !hop_pool_allows(held + 1, used, size, alpha);
	}
	check(ok, "pool: alpha times what is free, and not a byte more");
	check(!hop_pool_allows(1, 1000, 1000, 100000) && !hop_pool_allows(1, 1001, 1000, 1) &&
	      !hop_pool_allows(0, 1ULL << 33, 1000, 1), "pool: nothing when it is full, or too full");
}

/* @n users take frames in turn until nobody gets one: each has alpha / (1 + n alpha), but for what
 * is less than a frame to each.
 */
static void test_pool_shares(void)
{
	static const u32 alphas[] = { 78, 1250, 5000, 10000, 20000, 80000, 100000 };
	const u32 size = 10000000, frame = 100;
	u64 held[16], used, share;
	unsigned int n, i, a;
	bool ok = true, some;

	for (a = 0; a < sizeof(alphas) / sizeof(*alphas); a++) {
		for (n = 1; n <= 16; n++) {
			memset(held, 0, sizeof(held));
			used = 0;
			do {
				some = false;
				for (i = 0; i < n; i++) {
					if (!hop_pool_allows(held[i] + frame, used + frame, size,
							     alphas[a]))
						continue;
					held[i] += frame;
					used += frame;
					some = true;
				}
			} while (some);
			share = (u64)size * alphas[a] / (10000 + n * alphas[a]);
			for (i = 0; i < n; i++)
				ok &= held[i] <= share + frame && held[i] + frame > share - frame;
			ok &= used <= size;
		}
	}
	check(ok, "pool: n users get alpha / (1 + n alpha) of it each");
}

/* A bucket of bytes by the textbook, in whole numbers: tokens are 1 / 10^13 of a byte. */
struct tokens {
	unsigned __int128	level, depth;
	u64			last;
};

static bool tokens_take(struct tokens *t, u64 rate, u32 share, u32 bytes, u64 now)
{
	unsigned __int128 cost = (bytes < 60 ? 60 : bytes) + 24;

	cost *= 10000000000000ULL;
	t->level += (unsigned __int128)(rate * share) * (now - t->last);
	t->last = now;
	if (t->level > t->depth)
		t->level = t->depth;
	if (t->level < cost)
		return false;
	t->level -= cost;
	return true;
}

/* Frames at twice the share and less take what the textbook's bucket lets pass. */
static void test_police(void)
{
	static const u64 rates[] = { 2500000, 12500000, 1250000000, 50000000000ULL };
	static const u32 shares[] = { 1, 500, 10000 };
	unsigned int r, s, i, frame = 1514;
	bool near = true, burst = true;

	for (r = 0; r < 4; r++) {
		for (s = 0; s < 3; s++) {
			struct tokens t = {
				.depth = (unsigned __int128)64 * (frame + 24) * 10000000000000ULL,
			};
			u64 paid = 0, now = 1000000000, ours = 0, theirs = 0;
			struct hop_police p;

			hop_police_set(&p, rates[r], shares[s], frame);
			t.level = t.depth;
			t.last = now;
			for (i = 0; i < 64; i++)
				burst &= hop_police_takes(&p, &paid, frame, now);
			burst &= !hop_police_takes(&p, &paid, 1, now);
			paid = 0;
			for (i = 0; i < 20000; i++) {
				u32 bytes = i % 3 ? 42 : random64() % (frame + 1);
				u64 wire = (bytes < 60 ? 60 : bytes) + 24;
				u64 gap = wire * 10000 * 1000000000ULL / (rates[r] * shares[s]);

				now += random64() % (gap + 1) * (i / 5000);
				if (hop_police_takes(&p, &paid, bytes, now))
					ours += wire;
				if (tokens_take(&t, rates[r], shares[s], bytes, now))
					theirs += wire;
			}
			near &= ours <= theirs + theirs / 500 + frame &&
				theirs <= ours + ours / 500 + frame;
		}
	}
	check(burst, "police: 64 frames of full size at once, and no more");
	check(near, "police: as a bucket of bytes lets pass");
}

int main(void)
{
	printf("TAP version 13\n1..%u\n", PLANNED);
	test_bitset_random();
	test_bitset_edges();
	test_threshold();
	test_bdp();
	test_bdp_bound();
	test_share();
	test_pool_edges();
	test_pool_shares();
	test_police();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
