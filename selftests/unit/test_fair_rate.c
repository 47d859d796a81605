// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_fair_rate.c - the fair rate of RoCC's congestion point
 *
 * Each step is held against Algorithm 1 in floating point. Then the controller is put into a
 * fluid model of a link, and its phase margins are those that section 5.2 says.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/sched/fair_rate.h"
#include "unit.h"

#define ONE	(1ULL << ROCC_FRACTION)
#define GBIT	1000000000ULL
#define US	1000U

/* Section 6: F and Q there are in units of 10 Mb/s and 600 bytes. */
static void test_auto_is_the_paper(void)
{
	struct rocc_law law = {};

	rocc_law_auto(&law, 40 * GBIT, 40 * US, 3000);
	check(law.rate_max == 40 * GBIT * ONE && law.rate_min == GBIT / 10 * ONE,
	      "40 Gb/s: rates of 100 Mb/s to 40 Gb/s");
	check(law.alpha == 5000 * ONE && law.beta == 25000 * ONE, "40 Gb/s: gains of 0.3 and 1.5");
	check(law.q_ref == 150000 && law.q_mid == 300000 && law.q_max == 360000,
	      "40 Gb/s: 150, 300 and 360 KB");
	rocc_law_auto(&law, 100 * GBIT, 40 * US, 3000);
	check(law.rate_max == 100 * GBIT * ONE && law.rate_min == GBIT / 10 * ONE,
	      "100 Gb/s: rates of 100 Mb/s to 100 Gb/s");
	check(law.alpha == 7500 * ONE && law.beta == 37500 * ONE, "100 Gb/s: gains of 0.45 and 2.25");
	check(law.q_ref == 300000 && law.q_mid == 600000 && law.q_max == 660000,
	      "100 Gb/s: 300, 600 and 660 KB");
	rocc_law_auto(&law, GBIT / 1000, 10 * US, 3000);
	check(law.q_ref == 3000 && law.q_mid == 6000 && law.q_max == 6000,
	      "a slow link: no length below a few frames");
}

/* Algorithm 1 as it is printed, with real numbers, in bit/s and bytes */
static long double paper(const struct rocc_law *law, long double f, long double q_old,
			 long double q)
{
	long double f_max = (long double)law->rate_max / ONE;
	long double f_min = (long double)law->rate_min / ONE;
	long double alpha = (long double)law->alpha / ONE;
	long double beta = (long double)law->beta / ONE, ratio;
	int level = 2;

	if (q >= law->q_max && f > f_max / 8) {
		f = f_min;
	} else if (q - q_old >= law->q_mid && f > f_max / 8) {
		f /= 2;
	} else {
		while (f < f_max / level && level < 64)
			level *= 2;
		ratio = level / 2;
		if (law->smooth)
			ratio = 1 / fminl(1, fmaxl(1 / 64.0L, f / (f_max / 2)));
		f -= alpha / ratio * (q - law->q_ref) + beta / ratio * (q - q_old);
	}
	return fminl(fmaxl(f, f_min), f_max);
}

/* Random queues, from any rate. One step each time, so that no difference adds up. */
static void test_steps(bool smooth)
{
	static const u64 speeds[] = { 1000000, 100000000, GBIT, 10 * GBIT, 40 * GBIT, 100 * GBIT,
				      8000 * GBIT };
	long double worst = 0, want, off;
	struct rocc_law law = {};
	struct rocc_rate r = {};
	unsigned int i;
	u64 speed, t;
	u32 q;

	for (i = 0; i < 1000000; i++) {
		speed = speeds[random64() % 7];
		do {
			t = US << random64() % 20;
		} while (t > 1000000 * US || speed / 8 * t / 1000000000 < 3000);
		rocc_law_auto(&law, speed, t, 3000);
		law.smooth = smooth;
		r.rate = law.rate_min + random64() % (law.rate_max - law.rate_min + 1);
		r.rate = max(r.rate >> random64() % 10, law.rate_min);
		r.q_old = random64() % (3ULL * law.q_max);
		r.cuts = 0;
		q = random64() % (3ULL * law.q_max);
		if (random64() % 4)
			q = r.q_old + random64() % 20000;
		want = paper(&law, (long double)r.rate / ONE, r.q_old, q);
		rocc_rate_next(&r, &law, q);
		off = fabsl((long double)r.rate / ONE - want) / (speed / 1e6L);
		worst = fmaxl(worst, smooth ? off : fabsl((long double)r.rate / ONE - want) * 100);
	}
	/* smooth: the gains' 16 bits; else what a shift leaves of a step, 1/1024 bit/s */
	check(worst <= (smooth ? 100 : 1),
	      smooth ? "a million steps with smooth gains, to 1/10000 of the speed" :
		       "a million steps, to a hundredth of a bit/s");
	if (worst > (smooth ? 100 : 1))
		printf("# off by %Lg\n", worst);
}

static void test_levels(void)
{
	struct rocc_law law = {};
	struct rocc_rate r = {};
	bool ok = true;
	int level;

	rocc_law_auto(&law, 64 * GBIT, 40 * US, 3000);
	for (level = 0; level < 8; level++) {
		u64 gain = law.alpha >> (level < 5 ? level : 5);

		/* at the lower edge of a level, and just below it; beta has no part in it */
		r.rate = law.rate_max >> (level + 1);
		r.q_old = law.q_ref + 8;
		rocc_rate_next(&r, &law, law.q_ref + 8);
		ok &= r.rate == (law.rate_max >> (level + 1)) - 8 * gain;
		gain = law.alpha >> (level < 4 ? level + 1 : 5);
		r.rate = (law.rate_max >> (level + 1)) - 1;
		r.q_old = law.q_ref + 8;
		rocc_rate_next(&r, &law, law.q_ref + 8);
		ok &= r.rate == (law.rate_max >> (level + 1)) - 1 - 8 * gain;
	}
	check(ok, "six levels of gains, each from its edge on");
}

static void test_cuts(void)
{
	struct rocc_law law = {};
	struct rocc_rate r = {};

	rocc_law_auto(&law, 40 * GBIT, 40 * US, 3000);
	rocc_rate_start(&r, &law);
	check(rocc_rate_next(&r, &law, 0) == 40 * GBIT && !r.cuts, "an empty queue holds nobody back");
	check(rocc_rate_next(&r, &law, 300000) == 20 * GBIT && r.cuts == 1, "a sudden queue halves the rate");
	check(rocc_rate_next(&r, &law, 360000) == GBIT / 10 && r.cuts == 2, "a long one makes it the least");
	check(rocc_rate_next(&r, &law, 4000000000U) == GBIT / 10 && r.cuts == 2, "and no longer one more");
	r = (struct rocc_rate){ .rate = law.rate_max / 8, .q_old = 0 };
	rocc_rate_next(&r, &law, 360000);
	check(!r.cuts, "an eighth of the speed is not cut");
}

/* Senders that send what they were told 0.45 T ago; a queue; a link. Starts from the least rate. */
static void loop(u64 speed, u32 interval_ns, int n, bool smooth, double *mean, double *swing,
		 double *share)
{
	enum { DELAYS = 64, PARTS = 40, INTERVALS = 4000 };
	double history[DELAYS] = {}, q = 0, sum = 0, low = 1e18, high = 0, rates = 0;
	double step = interval_ns / 1e9 / PARTS;
	int now, i, delay = PARTS * 18 / 40;
	struct rocc_law law = {};
	struct rocc_rate r = {};

	rocc_law_auto(&law, speed, interval_ns, 3000);
	law.smooth = smooth;
	rocc_rate_start(&r, &law);
	r.rate = law.rate_min;
	for (now = 0; now < INTERVALS * PARTS; now++) {
		if (now % PARTS == 0)
			rocc_rate_next(&r, &law, q);
		history[now % DELAYS] = (double)r.rate / ONE;
		i = now < delay ? 0 : now - delay;
		q = fmax(0, q + (fmin(history[i % DELAYS], speed * 0.9) * n - speed) / 8 * step);
		if (now < INTERVALS * PARTS / 2)
			continue;
		sum += q;
		rates += (double)r.rate / ONE;
		low = fmin(low, q);
		high = fmax(high, q);
	}
	*mean = sum / (INTERVALS * PARTS / 2) / law.q_ref;
	*swing = (high - low) / law.q_ref;
	*share = rates / (INTERVALS * PARTS / 2) * n / speed;
}

static void test_loop(u64 speed, u32 interval_ns, bool smooth, const char *what)
{
	double mean, swing, share, off = 0, most = 0, unfair = 0;
	int n;

	for (n = 2; n <= 128; n++) {
		loop(speed, interval_ns, n, smooth, &mean, &swing, &share);
		off = fmax(off, fabs(mean - 1));
		most = fmax(most, swing);
		unfair = fmax(unfair, fabs(share - 1));
	}
	check(off < 0.001 && most < 0.01 && unfair < 0.001, what);
	if (off >= 0.001 || most >= 0.01 || unfair >= 0.001)
		printf("# %d Mb/s, T %u us: mean off by %g, swing %g, rate off by %g\n", (int)(speed / 1000000),
		       interval_ns / 1000, off, most, unfair);
}

/* G(s) = K (1 + s / z1) e^(-sT) / s^2, equation 6, at gains that are halved @level times */
static double margin(const struct rocc_law *law, u32 interval_ns, int n, int level)
{
	double t = interval_ns / 1e9, alpha = (double)law->alpha / ONE / (1 << level);
	double beta = (double)law->beta / ONE / (1 << level), k = n / 8.0 * alpha / t;
	double z1 = alpha / ((beta + alpha / 2) * t), a = k * k / (z1 * z1), w;

	/* |G| = 1: w^4 = K^2 (1 + w^2 / z1^2) */
	w = sqrt((a + sqrt(a * a + 4 * k * k)) / 2);
	return (atan(w / z1) - w * t) * 180 / M_PI;
}

static int level_of(int n)
{
	int level = 0;

	while (level < ROCC_LEVELS - 1 && 2 << level < n)
		level++;
	return level;
}

static void test_margins(u64 speed, const char *what)
{
	double least = 180, m;
	struct rocc_law law = {};
	int n;

	rocc_law_auto(&law, speed, 40 * US, 3000);
	for (n = 2; n <= 128; n++) {
		m = margin(&law, 40 * US, n, level_of(n));
		least = fmin(least, m);
		if (n == 2 || n == 10 || n == 64 || n == 128)
			printf("# %d Gb/s, %d flows: %.1f degrees, %.1f with the gains of 2\n", (int)(speed / GBIT), n, m,
			       margin(&law, 40 * US, n, 0));
	}
	check(least > 20, what);
	printf("# least %.1f degrees\n", least);
}

/* Ten intervals that are one: equation 6 with T ten times as long has the same margin. */
static void test_slow(void)
{
	struct rocc_law law = {}, slow;
	double off = 0, unslowed = -180;
	int n;

	rocc_law_auto(&law, 40 * GBIT, 40 * US, 3000);
	slow = law;
	rocc_law_slow(&slow, 10);
	for (n = 2; n <= 128; n++) {
		off = fmax(off, fabs(margin(&slow, 400 * US, n, level_of(n)) -
				     margin(&law, 40 * US, n, level_of(n))));
		unslowed = fmax(unslowed, margin(&law, 400 * US, n, level_of(n)));
	}
	printf("# off by %g degrees, without %g\n", off, unslowed);
	check(off < 0.1 && unslowed < 2,
	      "ten intervals that are one: the same margin, and next to none without lower gains");
	slow = law;
	rocc_law_slow(&slow, 1);
	check(!memcmp(&slow, &law, sizeof(law)), "one interval is as it was");
	slow.alpha = 3;
	rocc_law_slow(&slow, 4);
	check(slow.alpha == 1, "no gain is lost");
}

/* Without a unit: the paper's 0.3 at 40 us is 0.025. */
static void test_gain(void)
{
	check(rocc_gain(ROCC_GAIN_ONE / 40, 40 * US) == 5000 * ONE, "0.025 at 40 us: the paper's 0.3");
	check(rocc_gain(2, 1000 * 1000 * US) == 1, "the least that there is, rounded");
	check(rocc_gain(1, 1000 * 1000 * US) == 1, "and where nothing would be left");
}

/* Of n flows that were told one after the other a rate, and before that half of it. */
static void test_catch_up(void)
{
	const u64 could = 40 * GBIT / 8 / 1000, unit = 40 * GBIT * ONE / 4096;
	struct rocc_law law = {};
	struct rocc_rate r;
	double off = 0;
	bool ok = true;
	u64 sent;
	int n, i;

	rocc_law_auto(&law, 40 * GBIT, 40 * US, 3000);
	for (n = 2; n <= 128; n++) {
		for (i = 1; unit * i * n < law.rate_max * 7 / 6; i *= 2) {
			r = (struct rocc_rate){ .rate = max(unit * i, law.rate_min) };
			sent = r.rate / ONE * 3 / 4 * n / 8 / 1000;
			if (sent >= could - could / 8)
				break;
			if (2 * r.rate * n * 16 < law.rate_max * 15) {
				ok &= rocc_rate_catch_up(&r, &law, r.rate / 2, 0, sent, could) &&
				      (i * unit < law.rate_min ||
				       r.rate == 2 * max(unit * i, law.rate_min));
			} else {
				ok &= rocc_rate_catch_up(&r, &law, r.rate / 2, 0, sent, could);
				off = fmax(off, fabs((double)r.rate * n / law.rate_max -
						     15 / 16.0));
			}
		}
	}
	check(ok && off < 0.01, "a rate that recovers is doubled, up to 15/16 of the link");
	r = (struct rocc_rate){ .rate = law.rate_min };
	ok = !rocc_rate_catch_up(&r, &law, r.rate, law.q_ref / 2, 0, could);
	ok &= !rocc_rate_catch_up(&r, &law, r.rate, 0, could - could / 8, could);
	check(ok && r.rate == law.rate_min, "but not with a queue, nor of a link that is full");
	r = (struct rocc_rate){ .rate = law.rate_max };
	ok = rocc_rate_catch_up(&r, &law, law.rate_max, 0, 0, 1ULL << 40) && r.rate == law.rate_max;
	rocc_law_auto(&law, 8000 * GBIT, 40 * US, 3000);
	r = (struct rocc_rate){ .rate = law.rate_max / 2 };
	ok &= rocc_rate_catch_up(&r, &law, law.rate_max, 0, 1ULL << 36, 1ULL << 40) &&
	      r.rate == law.rate_max;
	r = (struct rocc_rate){ .rate = law.rate_max / 2 };
	ok &= rocc_rate_catch_up(&r, &law, law.rate_max / 2, 0, 3ULL << 38, 1ULL << 40) &&
	      r.rate == law.rate_max / 2 / 1024 * 1280;
	check(ok, "and of any link no more than it has");
}

/* What says so before is what is done then. */
static void test_is_cut(void)
{
	struct rocc_law law = {};
	struct rocc_rate r;
	bool ok = true, cut;
	u32 i, q, cuts = 0;

	rocc_law_auto(&law, 40 * GBIT, 40 * US, 3000);
	for (i = 0; i < 1000000; i++) {
		r = (struct rocc_rate){
			.rate = law.rate_max >> random64() % 6,
			.q_old = random64() % (2ULL * law.q_max),
		};
		q = random64() % (2ULL * law.q_max);
		cut = rocc_rate_is_cut(&r, &law, q);
		rocc_rate_next(&r, &law, q);
		ok &= cut == r.cuts;
		cuts += cut;
	}
	check(ok && cuts > 100000, "a million times: it is cut if it was said so");
}

int main(void)
{
	printf("TAP version 13\n");
	test_auto_is_the_paper();
	test_steps(false);
	test_steps(true);
	test_levels();
	test_cuts();
	test_is_cut();
	test_slow();
	test_gain();
	test_catch_up();
	test_loop(40 * GBIT, 40 * US, false, "2 to 128 flows at 40 Gb/s settle at the reference, and at their share");
	test_loop(100 * GBIT, 40 * US, false, "and at 100 Gb/s");
	test_loop(100000000, 10000 * US, false, "and at 100 Mb/s, T = 10 ms");
	test_loop(40 * GBIT, 40 * US, true, "and with smooth gains");
	test_margins(40 * GBIT, "40 Gb/s: a phase margin above 20 degrees for 2 to 128 flows");
	test_margins(100 * GBIT, "100 Gb/s: the same");
	printf("1..%u\n", done);
	return failed != 0;
}
