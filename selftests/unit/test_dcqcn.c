// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_dcqcn.c - flowgen's DCQCN, held against the equations of its paper
 *
 * Closed forms where there are any; and for a million events at random the same equations once
 * more, in floating point and with timers one after the other.
 */
#include <math.h>

#include "../../kernel/flowgen/dcqcn.h"
#include "unit.h"

#define PLANNED	17U
#define LINE	5000000000ULL	/* 40 Gb/s */
#define US	1000ULL

/* The paper's, section 5.2; R_AI 40 Mb/s */
static const struct dcqcn_config paper = {
	.line = LINE, .least = 1250000, .add = 5000000, .hyper = 50000000, .bytes = 10000000,
	.alpha_ns = 55 * US, .timer_ns = 55 * US,
};

static bool near(double a, double b, double part)
{
	return fabs(a - b) <= part * fabs(b) + 2;
}

static void test_cut(void)
{
	struct dcqcn d;

	dcqcn_start(&d, &paper);
	dcqcn_pass(&d, &paper, 1000000 * US);
	dcqcn_sent(&d, &paper, 9000000);
	dcqcn_sent(&d, &paper, 9000000);
	check(d.rate == LINE && d.alpha == DCQCN_ONE && dcqcn_next(&d, &paper) == U64_MAX,
	      "a flow starts at line rate, and nothing changes that but a CNP");
	dcqcn_cnp(&d, &paper, 1000000 * US);
	check(d.rate == LINE / 2 && d.target == LINE, "the first CNP halves the rate");
	check(d.alpha == DCQCN_ONE, "alpha is 1 then, and stays so");
	dcqcn_cnp(&d, &paper, 1000001 * US);
	check(d.rate == LINE / 4 && d.target == LINE / 2, "the next one at once halves it again");
	while (d.rate > paper.least)
		dcqcn_cnp(&d, &paper, 1000001 * US);
	check(d.rate == paper.least, "but not below the least rate");
}

static void test_alpha(void)
{
	struct dcqcn d;
	bool ok = true;
	unsigned int n;

	dcqcn_start(&d, &paper);
	dcqcn_cnp(&d, &paper, 0);
	for (n = 1; n <= 1000; n++) {
		dcqcn_pass(&d, &paper, n * 55 * US);
		ok &= near((double)d.alpha / DCQCN_ONE, pow(255.0 / 256, n), 1e-4) ||
		      fabs((double)d.alpha / DCQCN_ONE - pow(255.0 / 256, n)) < 1e-6;
	}
	check(ok, "without CNPs alpha is (1 - g)^n after n K");
	/* alpha' = alpha + g (1 - alpha): what is missing of 1 is less by g with each */
	double missing = 1 - (double)d.alpha / DCQCN_ONE;

	ok = true;
	for (n = 1; n <= 100; n++) {
		dcqcn_cnp(&d, &paper, 55000 * US + n);
		missing *= 255.0 / 256;
		ok &= fabs(1 - (double)d.alpha / DCQCN_ONE - missing) < 1e-6;
	}
	check(ok, "with CNPs 1 - alpha is less by g with each");
}

/* What is missing to the target halves four times. The fifth T is the first that adds. */
static void test_recovery(void)
{
	double rate = LINE / 2, target = LINE / 2;
	bool ok = true, add = true;
	struct dcqcn d;
	unsigned int n;

	dcqcn_start(&d, &paper);
	dcqcn_cnp(&d, &paper, 0);
	dcqcn_cnp(&d, &paper, 0);
	for (n = 1; n < 5; n++) {
		dcqcn_pass(&d, &paper, n * 55 * US);
		ok &= near(d.rate, target - target / 2 / (1 << n), 1e-9) && d.target == LINE / 2;
	}
	check(ok, "fast recovery: the rate is target (1 - 2^-(n+1)) after n T, n < 5");
	rate = d.rate;
	for (; n < 100; n++) {
		dcqcn_pass(&d, &paper, n * 55 * US);
		target += paper.add;
		rate = (rate + target) / 2;
		add &= near(d.target, target, 1e-9) && near(d.rate, rate, 1e-6);
	}
	check(add, "then the target grows by R_AI with each T");
	/* behind a target that grows by R_AI each time the rate is R_AI in the end */
	check(near(d.target - (double)d.rate, paper.add, 1e-3), "which the rate follows at R_AI");
}

static void test_hyper(void)
{
	struct dcqcn d;
	unsigned int n;
	bool ok = true;
	u64 target;

	dcqcn_start(&d, &paper);
	for (n = 0; n < 6; n++)
		dcqcn_cnp(&d, &paper, 0);
	for (n = 0; n < 5; n++) {
		dcqcn_sent(&d, &paper, 6000000);
		dcqcn_sent(&d, &paper, 6000000);
	}
	check(d.counts == 6, "12 MB are a B, and what is left counts for the next one");
	dcqcn_pass(&d, &paper, 5 * 55 * US);
	for (n = 1; n < 4; n++) {
		target = d.target;
		dcqcn_pass(&d, &paper, (5 + n) * 55 * US);
		/* six B at most, so the least of both is 6 from the sixth T on */
		ok &= d.target == target + paper.hyper;
	}
	check(ok, "with six of both the target grows by R_HAI");
}

/* The same, as the paper writes it down: in floating point, a timer each. */
struct model {
	double rate, target, alpha, alpha_at, timer_at, left;
	unsigned int t, bc;
	bool slowed;
};

static void model_increase(struct model *m)
{
	unsigned int i = m->t < m->bc ? m->t : m->bc;

	if (i > 5)
		m->target += (i - 5) * (double)paper.hyper;
	else if (m->t >= 5 || m->bc >= 5)
		m->target += paper.add;
	m->target = fmin(m->target, paper.line);
	m->rate = (m->target + m->rate) / 2;
}

static void model_pass(struct model *m, double now)
{
	if (!m->slowed)
		return;
	for (; m->alpha_at <= now; m->alpha_at += 55 * US)
		m->alpha *= 255.0 / 256;
	for (; m->timer_at <= now; m->timer_at += 55 * US) {
		m->t++;
		model_increase(m);
	}
}

static void model_cnp(struct model *m, double now)
{
	m->target = m->rate;
	m->rate = fmax(m->rate * (1 - m->alpha / 2), paper.least);
	m->alpha = 255.0 / 256 * m->alpha + 1.0 / 256;
	m->alpha_at = now + 55 * US;
	m->timer_at = now + 55 * US;
	m->t = m->bc = 0;
	m->left = paper.bytes;
	m->slowed = true;
}

static void test_model(void)
{
	unsigned long i, wrong = 0, bounds = 0, cnps = 0, full = 0;
	struct model m = { .rate = LINE, .target = LINE, .alpha = 1 };
	struct dcqcn d;
	u64 now = 0;
	u32 bytes;

	dcqcn_start(&d, &paper);
	for (i = 0; i < 1000000; i++) {
		now += random64() % (i % 1000 ? 20 * US : 3000 * US);
		dcqcn_pass(&d, &paper, now);
		model_pass(&m, now);
		if (i % 100000 < 50000 && random64() % 40 == 0) {
			dcqcn_cnp(&d, &paper, now);
			model_cnp(&m, now);
			cnps++;
		} else {
			bytes = random64() % 100000;
			dcqcn_sent(&d, &paper, bytes);
			m.left -= bytes;
			if (m.slowed && m.left <= 0) {
				m.left += paper.bytes;
				m.bc++;
				model_increase(&m);
			}
		}
		wrong += !near(d.rate, m.rate, 1e-3) ||
			 fabs((double)d.alpha / DCQCN_ONE - m.alpha) > 1e-5;
		bounds += d.rate < paper.least || d.rate > LINE || d.target > LINE;
		full += d.rate == LINE;
	}
	printf("# %lu CNPs, at line rate %lu times, differs %lu times\n", cnps, full, wrong);
	check(!wrong && cnps > 10000, "a million events: as the paper's equations in floating point");
	check(!bounds, "never below the least rate, nor above line rate");
	check(full > 1000 && full < 999000, "sometimes at line rate again, not always");
}

/* Who looks more often sees the same. */
static void test_looks(void)
{
	struct dcqcn often, once;
	u64 at;

	dcqcn_start(&often, &paper);
	dcqcn_cnp(&often, &paper, 7);
	once = often;
	for (at = 7; at <= 20000 * US; at += 3001)
		dcqcn_pass(&often, &paper, at);
	dcqcn_pass(&often, &paper, 20000 * US);
	dcqcn_pass(&once, &paper, 20000 * US);
	check(often.rate == once.rate && often.target == once.target && often.alpha == once.alpha &&
	      often.timers == once.timers, "looked at often or once, it is the same");
	dcqcn_pass(&once, &paper, 1ULL << 60);
	check(once.rate == LINE && dcqcn_next(&once, &paper) == U64_MAX,
	      "after 36 years it is at line rate");
}

int main(void)
{
	printf("TAP version 13\n1..%u\n", PLANNED);
	test_cut();
	test_alpha();
	test_recovery();
	test_hyper();
	test_looks();
	test_model();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
