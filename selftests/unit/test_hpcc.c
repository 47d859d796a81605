// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_hpcc.c - flowgen's HPCC, held against Algorithm 1 of its paper
 *
 * Closed forms where there are any; for a million acknowledgements at random the algorithm once
 * more, in floating point; and flows that share a port, which are to come where the equations say.
 */
#include <math.h>
#include <string.h>

#include "../../kernel/flowgen/hpcc.h"
#include "unit.h"

#define PLANNED	25U
#define LINE	12500000000ULL	/* 100 Gb/s */
#define KBIT	100000000U
#define T	13000U
#define FULL	162500		/* bytes that take T */

/* The paper's, section 5.1 */
static const struct hpcc_config paper = {
	.line = LINE, .rtt_ns = T, .add = 80, .eta = 9500, .stages = 5,
};

/* An acknowledgement with so many records */
static void heard(struct hpcc *h, const struct telemetry *t, unsigned int hops, u32 acked, u32 next)
{
	u8 records[TELEMETRY_BYTES] = {};
	unsigned int i;

	for (i = 0; i < hops; i++)
		telemetry_put(records + i * TELEMETRY_RECORD, &t[i]);
	hpcc_ack(h, &paper, records, acked, next, 1 + t[0].ns);
}

/* One port that has sent so many bytes in so much time, and where so many wait */
static void port(struct telemetry *t, u32 bytes, u32 ns, u32 queue)
{
	t->kbit = KBIT;
	t->bytes += bytes;
	t->ns += ns;
	t->queue = queue;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fabs(b) + 2;
}

static void test_start(void)
{
	struct telemetry t = {};
	struct hpcc h;

	hpcc_start(&h, &paper);
	check(h.window == FULL && hpcc_rate(&h, &paper) == LINE, "a flow starts with B T, at line rate");
	port(&t, 1000, 5, 1 << 30);
	heard(&h, &t, 1, 1, 100);
	check(h.window == FULL && h.use == HPCC_ONE, "the first acknowledgement changes nothing");
	heard(&h, &t, 1, 2, 101);
	check(h.use == HPCC_ONE, "nor does one of the same time measure");
	heard(&h, &t, 0, 3, 102);
	check(!h.hops && h.use == HPCC_ONE, "nor one without records");
}

/* Each acknowledgement is for what was sent after the last one, a whole T later */
static void test_window(void)
{
	struct telemetry t = {};
	double settled = FULL;
	bool ok = true;
	struct hpcc h;
	unsigned int i;

	hpcc_start(&h, &paper);
	port(&t, 1, 1, 0);
	heard(&h, &t, 1, 1, 1);
	for (i = 2; i < 50; i++) {
		port(&t, FULL, T, 0);
		heard(&h, &t, 1, i, i);
		ok &= fabs(h.window - (settled * .95 + 80)) <= 1 && h.settled == h.window &&
		      !h.stage;
		settled = h.window;
	}
	check(ok, "a port in full use without a queue: W = .95 W + W_AI");

	port(&t, FULL, T, FULL);
	heard(&h, &t, 1, 50, 50);
	check(near(h.window, settled * .95 + 80), "a queue that was not there before does not count");
	settled = h.window;
	port(&t, FULL, T, 2 * FULL);
	heard(&h, &t, 1, 51, 51);
	check(near(h.window, settled * .95 / 2 + 80), "of two queues the less counts: U = 2 with B T");

	settled = h.window;
	ok = true;
	for (i = 1; i <= 5; i++) {
		port(&t, FULL / 2, T, 0);
		heard(&h, &t, 1, 60 + i, 60 + i);
		ok &= h.window == settled + 80 * i && h.stage == i;
	}
	check(ok, "half used: W grows by W_AI, maxStage times");
	settled = h.window;
	port(&t, FULL / 2, T, 0);
	heard(&h, &t, 1, 70, 70);
	check(near(h.window, settled * 1.9 + 80) && !h.stage, "and then by eta / U");
	check(hpcc_rate(&h, &paper) == h.window * 1000000000 / T, "the flow is paced at W / T");

	for (i = 0; i < 200; i++) {
		port(&t, 10, T, 0);
		heard(&h, &t, 1, 100 + i, 100 + i);
	}
	check(h.window == FULL && h.settled == FULL, "W is not above B T");
	for (i = 0; i < 200; i++) {
		port(&t, FULL, T, 100 * FULL);
		heard(&h, &t, 1, 400 + i, 400 + i);
	}
	check(h.window == 162, "nor below a thousandth of that");
}

static void test_within_rtt(void)
{
	struct telemetry t = {};
	struct hpcc h;
	bool ok = true;
	unsigned int i;

	hpcc_start(&h, &paper);
	port(&t, 1, 1, 0);
	heard(&h, &t, 1, 1, 1000);
	for (i = 0; i < 8; i++) {
		port(&t, FULL, T, 0);
		heard(&h, &t, 1, 100 + i, 1000 + i);
		ok &= near(h.window, FULL * .95 + 80) && h.settled == FULL;
	}
	check(ok, "within an RTT W comes from the same Wc each time");
	port(&t, FULL, T, 0);
	heard(&h, &t, 1, 1000, 2000);
	check(h.settled == FULL, "until what was sent after the last one");
	heard(&h, (port(&t, FULL, T, 0), &t), 1, 1001, 2000);
	check(near(h.settled, FULL * .95 + 80) && h.settles_at == 2000, "is acknowledged");

	port(&t, FULL / 2, T / 4, 0);	/* u = 2 for a quarter of T */
	heard(&h, &t, 1, 1002, 2001);
	check(near((double)h.use / HPCC_ONE, .75 + .25 * 2), "U = (1 - t / T) U + t / T u");
	port(&t, 3 * FULL, 3 * T, 0);
	heard(&h, &t, 1, 1003, 2001);
	check(near((double)h.use / HPCC_ONE, 1), "and u after more than T");
}

static void test_way(void)
{
	struct telemetry t[TELEMETRY_HOPS] = {};
	struct hpcc h;
	unsigned int i;
	u64 use;

	hpcc_start(&h, &paper);
	for (i = 0; i < 5; i++)
		port(&t[i], 1, 1 + i, 0);
	heard(&h, t, 5, 1, 1);
	for (i = 0; i < 5; i++)
		port(&t[i], FULL * (i == 3 ? 3 : 1) / 4, T, 0);
	heard(&h, t, 5, 2, 2);
	check(h.hops == 5 && near((double)h.use / HPCC_ONE, .75),
	      "of five ports the one most in use counts");
	for (i = 0; i < 5; i++)
		port(&t[i], i == 3 ? 0 : FULL / 2, i == 3 ? 0 : T, 0);
	heard(&h, t, 5, 3, 3);
	check(near((double)h.use / HPCC_ONE, .5), "but not one that has sent two at once");
	use = h.use;
	for (i = 0; i < 5; i++)
		port(&t[i], FULL, T, 0);
	heard(&h, t, 4, 4, 4);
	check(h.hops == 4 && h.use == use, "another number of ports is another way");
	t[2].kbit /= 2;
	heard(&h, t, 4, 5, 5);
	check(h.last[2].kbit == KBIT / 2 && h.use == use, "and so is another line");
	for (i = 0; i < 4; i++)
		t[i].ns += 1000000000;
	heard(&h, t, 4, 6, 6);
	check(h.use == use && h.last[0].ns == t[0].ns,
	      "after a second of silence there is nothing to compare");
}

/* As the paper writes it down */
struct model {
	double w, wc, u;
	unsigned int stage, last_update, hops;
	bool tie;
	struct telemetry l[TELEMETRY_HOPS];
};

static void model_ack(struct model *m, const struct telemetry *t, unsigned int seq,
		      unsigned int snd_nxt)
{
	double u = 0, tau = 0, tx, each, dt, eta = .95;
	bool settle = seq > m->last_update;
	unsigned int i;

	m->tie = false;
	for (i = 0; i < m->hops; i++) {
		dt = (u32)(t[i].ns - m->l[i].ns);
		if (!dt)
			continue;
		tx = (u32)(t[i].bytes - m->l[i].bytes) / dt;		/* bytes/ns */
		each = fmin(t[i].queue, m->l[i].queue) / (t[i].kbit / 8e6 * T) +
		       tx / (t[i].kbit / 8e6);
		each = fmin(each, 8192);
		m->tie |= fabs(each - u) < 1e-5 * u;
		if (each > u || !tau) {
			u = each;
			tau = dt;
		}
	}
	tau = fmin(tau, T);
	m->u = (1 - tau / T) * m->u + tau / T * u;
	if (m->u >= eta || m->stage >= 5) {
		m->w = m->wc / (m->u / eta) + 80;
		if (settle)
			m->stage = 0;
	} else {
		m->w = m->wc + 80;
		if (settle)
			m->stage++;
	}
	m->w = fmax(fmin(m->w, FULL), 162);
	if (settle) {
		m->wc = m->w;
		m->last_update = snd_nxt;
	}
	memcpy(m->l, t, sizeof(m->l));
}

/* Step by step: each begins with what the code has. Where U is eta, or two ports are used alike,
 * both are right.
 */
static void test_model(void)
{
	struct telemetry t[TELEMETRY_HOPS] = {};
	unsigned long i, wrong = 0, edges = 0, cut = 0;
	struct model m = { .w = FULL, .wc = FULL, .u = 1, .hops = 3 };
	unsigned int k, seq = 1, next;
	struct hpcc h;

	hpcc_start(&h, &paper);
	for (k = 0; k < 3; k++)
		port(&t[k], random64(), random64() % 1000, 0);
	heard(&h, t, 3, 1, 50);
	memcpy(m.l, t, sizeof(t));
	m.last_update = 50;
	for (i = 0; i < 1000000; i++) {
		bool busy = i / 5000 % 2;

		for (k = 0; k < 3; k++)
			port(&t[k], random64() % (i % 1000 ? busy ? 3000 : 600 : 4000000),
			     i % 1000 ? random64() % 800 : 10000 + random64() % 400000,
			     random64() % (busy ? FULL : 3000));
		seq += random64() % 3;
		next = seq + random64() % 60;
		heard(&h, t, 3, seq, next);
		model_ack(&m, t, seq, next);
		cut += h.window < FULL / 2;
		if (fabs(m.u - .95) < 1e-4 || m.tie)
			edges++;
		else
			wrong += !near(h.window, m.w) || h.stage != m.stage ||
				 fabs((double)h.use / HPCC_ONE - m.u) > 1e-4 * (m.u + 1);
		m.w = h.window;
		m.wc = h.settled;
		m.stage = h.stage;
		m.u = (double)h.use / HPCC_ONE;
	}
	printf("# less than half a window %lu times, on the edge %lu times, differs %lu times\n", cut,
	       edges, wrong);
	check(!wrong && edges < 1000 && cut > 1000 && cut < 999000,
	      "a million acknowledgements: as the paper's algorithm in floating point");
}

/* The widest windows there can be: a line of 1 Tbit/s, and T almost 1 s. To a byte per second. */
static void test_rate(void)
{
	struct hpcc_config c = { .line = 125000000000, .rtt_ns = 999999999 };
	unsigned int i, wrong = 0;
	struct hpcc h;
	u64 want;

	hpcc_start(&h, &c);
	for (i = 0; i < 1000; i++) {
		h.window = hpcc_full(&c) / 1000 * (1 + i) - i;
		want = (unsigned __int128)h.window * 1000000000 / c.rtt_ns;
		wrong += hpcc_rate(&h, &c) != want;
	}
	check(!wrong, "windows of up to 125 GB: the flow is paced at W / T");
}

/*
 * N flows at one port whose windows are the bytes in flight: it is in use by their sum. Where each
 * gets as much as it loses, sum W = eta B T + N W_AI, and all have the same, wherever they began.
 */
static void test_shares(void)
{
	struct hpcc_config c = paper;
	u8 records[TELEMETRY_BYTES] = {};
	struct telemetry t = {};
	struct hpcc h[4];
	unsigned int n, i;
	double sum = 0;
	bool even = true;
	u64 in;

	c.add = 800;
	for (i = 0; i < 4; i++) {
		hpcc_start(&h[i], &c);
		h[i].settled = h[i].window = i ? 2000 * i : FULL;
	}
	for (n = 1; n < 1500; n++) {
		for (in = 0, i = 0; i < 4; i++)
			in += h[i].window;
		port(&t, in < FULL ? in : FULL, T, in < FULL ? 0 : in - FULL);
		telemetry_put(records, &t);
		for (i = 0; i < 4; i++)
			hpcc_ack(&h[i], &c, records, n, n, n);
	}
	for (i = 0; i < 4; i++) {
		sum += h[i].window;
		even &= fabs(h[i].window - sum / (i + 1)) < .01 * h[i].window;
	}
	printf("# %.0f bytes in flight, of %.0f\n", sum, .95 * FULL + 4 * 800);
	check(even && fabs(sum / (.95 * FULL + 4 * 800) - 1) < .01,
	      "four flows share a port: eta B T + 4 W_AI, evenly");
}

int main(void)
{
	printf("TAP version 13\n1..%u\n", PLANNED);
	test_start();
	test_window();
	test_within_rtt();
	test_way();
	test_model();
	test_rate();
	test_shares();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
