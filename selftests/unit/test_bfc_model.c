// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_bfc_model.c - is the reference model itself right?
 *
 * It is held against what is known without it: the closed form of BFC's App. C, the arithmetic
 * of a line, the way a greedy flow alone must behave, and books that have to balance.
 */
#define BFC_MODEL_LIBRARY
#include "../model/bfc_model.c"

#include <math.h>
#include "unit.h"

static bool near(double got, double want, double tolerance, const char *what)
{
	bool ok = fabs(got - want) <= tolerance;

	if (!ok)
		printf("# %s: %.5f, expected %.5f +- %.5f\n", what, got, want, tolerance);
	return ok;
}

static struct port *port_of(struct model *m, const char *from, const char *to)
{
	return &m->port[model_find_port(m, from, to)];
}

/* Every count that a pause counter holds belongs to one marked packet in a sub-queue, and the
 * other way round; every byte of a sub-queue is a packet's.
 */
static bool model_books_balance(const struct model *m)
{
	static int64_t held[PORTS_MAX][QUEUES_MAX];
	bool ok = true;
	int i, j;

	memset(held, 0, sizeof(held));
	for (i = 0; i < m->ports; i++) {
		for (j = 0; j < m->port[i].queues; j++) {
			const struct queue *q = &m->port[i].queue[j];
			int64_t bytes = 0;
			size_t k;

			for (k = q->fifo.head; k != q->fifo.tail; k++) {
				struct packet *p = &q->fifo.slot[k & (q->fifo.size - 1)].packet;

				bytes += p->bytes;
				if (p->marked)
					held[p->key_port][p->key_queue]++;
			}
			ok = ok && bytes == q->bytes;
		}
	}
	for (i = 0; i < m->ports; i++)
		for (j = 0; j < m->port[i].queues; j++)
			ok = ok && held[i][j] == m->port[i].counter[j];
	return ok;
}

/*
 * App. C: one flow that comes x times as fast as its queue drains. Fraction of time that the
 * line has nothing to send, and the highest queue.
 *
 * The theory is a fluid. Here frames are whole, a pause waits for the frame that is on the line
 * and the card of the sender, and Th is passed in steps of a frame: each phase of a cycle is off
 * by up to two frame times of the slow line, and the shortest, t3 = HRTT, is 500 of those long.
 * So shares of a cycle may differ by 0.004, and the peak by three frames. The window is a whole
 * number of cycles.
 */
static bool theory_holds(double a, double x)
{
	static struct model m;
	const int64_t drain = 10 * NS_PER_S, hrtt = 400000;
	double e = (x - 1) / (a * x + x * x - 1);
	double mu = drain / 8e9, th = a * hrtt * mu;
	double cycle = hrtt * (a / (x - 1) + a + x + 1);
	struct port *p;
	bool ok;

	model_init(&m);
	m.delay = hrtt / 2;
	m.hrtt = hrtt;
	m.scale = (int64_t)(100 * a);
	m.control_bytes = 1;
	m.warmup = (int64_t)cycle;
	m.window = (int64_t)(4 * cycle);
	m.rate = (int64_t)(x * drain);
	model_link(&m, "h", "s");
	m.rate = drain;
	model_add_flow(&m, "h,s,r");
	model_run(&m);
	p = port_of(&m, "s", "r");
	ok = near(1 - port_utilisation(&m, p), e, 0.004, "share of time empty");
	ok = near(p->queue[0].peak, th + hrtt * mu * (x - 1), 3 * m.bytes, "peak") && ok;
	/* the queue rises and falls in straight lines, and is empty for the share e */
	ok = near(port_mean(&m, p) / p->queue[0].peak, (1 - e) / 2, 0.004, "mean") && ok;
	ok = model_books_balance(&m) && ok;
	model_free(&m);
	return ok;
}

static void test_app_c(void)
{
	static const double a[] = { 0.25, 0.5, 1, 2, 4 };
	static const double x[] = { 1.1, 1.5, 2, 3, 5 };
	char what[80];
	size_t i, j;

	for (i = 0; i < sizeof(a) / sizeof(*a); i++) {
		for (j = 0; j < sizeof(x) / sizeof(*x); j++) {
			snprintf(what, sizeof(what), "App. C, Th of %.2f HRTT, arrival of %.1f",
				 a[i], x[j]);
			check(theory_holds(a[i], x[j]), what);
		}
	}
}

/* The greatest loss over x is at 1 + sqrt(a), and is 1 / ((1 + sqrt(a))^2 + 1). */
static void test_app_c_worst(void)
{
	static const double a[] = { 0.25, 1, 4 };
	char what[80];
	size_t i;

	for (i = 0; i < sizeof(a) / sizeof(*a); i++) {
		double x = 1 + sqrt(a[i]);
		double e = (x - 1) / (a[i] * x + x * x - 1);

		snprintf(what, sizeof(what), "App. C, worst case for Th of %.2f HRTT", a[i]);
		check(theory_holds(a[i], x) && near(e, 1 / (x * x + 1), 1e-12, "formula"), what);
	}
}

/*
 * Flows that come by links of their own into one of the same rate. The known figures come from
 * another model, to two digits, and hold for an HRTT of so many frames: 0.01 for its rounding
 * and for what its control frames and start may have been.
 */
static void test_lock_step(void)
{
	static const struct {
		int	flows;
		int	frames;
		double	utilisation;
	} known[] = {
		{ 2, 10, 0.83 }, { 2, 25, 0.81 }, { 2, 100, 0.80 },
		{ 4, 10, 0.90 }, { 4, 25, 0.86 }, { 4, 100, 0.85 },
	};
	static struct model m;
	char text[80];
	size_t i;
	int j, start;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++) {
		bool ok = true;

		for (start = 0; start < 400; start += 133) {
			model_init(&m);
			m.delay = known[i].frames * 80 / 2;
			m.hrtt = 2 * m.delay;
			for (j = 0; j < known[i].flows; j++) {
				snprintf(text, sizeof(text), "h%d,s,r@%d", j, j * start);
				model_add_flow(&m, text);
			}
			model_run(&m);
			ok = near(port_utilisation(&m, port_of(&m, "s", "r")),
				  known[i].utilisation, 0.01, "utilisation") && ok;
			ok = model_books_balance(&m) && ok;
			model_free(&m);
		}
		snprintf(text, sizeof(text), "%d flows lock step at an HRTT of %d frames",
			 known[i].flows, known[i].frames);
		check(ok, text);
	}
}

/* A line never gains or loses time: n frames take n x bits / rate, whatever the fraction. */
static void test_line(void)
{
	static const int64_t rates[] = { 1, 10, 25, 40, 100, 400, 800 };
	static struct model m;
	bool ok = true;
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		int64_t frames;

		model_init(&m);
		m.rate = rates[i] * NS_PER_S;
		m.bytes = 1499;
		m.warmup = 0;
		m.window = 1000000;
		model_add_flow(&m, "h,s,r");
		model_run(&m);
		/* frames whose last bit has left before the window's end */
		frames = (m.window * rates[i] - 1) / (8 * 1499);
		ok = port_of(&m, "h", "s")->line_bytes == 1499 * frames && ok;
		ok = port_of(&m, "s", "r")->pauses == 0 && ok;
		ok = port_pauses_given(&m, port_of(&m, "s", "r")) == 0 && ok;
		model_free(&m);
	}
	check(ok, "a line's time is exact at each rate, and a lone flow is never paused");
}

/* Peak is at least one frame over the least Th, at most the paper's bound, in every set-up. */
static void test_bounds(void)
{
	static const int groups[][3] = { {0, 1, 1}, {0, 1, 2}, {0, 2, 2}, {1, 2, 2} };
	static const int64_t scales[] = { 50, 100, 200, 400 };
	static const int64_t rings[] = { 0, 3000 };
	static struct model m;
	bool above = true, below = true, books = true;
	size_t i, j, k;

	for (i = 0; i < 4 * 4 * 2; i++) {
		const int *g = groups[i % 4];
		struct port *p;

		j = i / 4 % 4;
		k = i / 16;
		model_init(&m);
		m.scale = scales[j];
		m.ring = rings[k];
		m.window = 3000000;
		model_add_fig6(&m, g[0], g[1], g[2], false);
		model_run(&m);
		p = port_of(&m, "s2", "r2");
		for (j = 0; j < p->queues; j++) {
			int64_t peak = p->queue[j].peak, extra;

			extra = (int64_t)((double)m.hrtt * p->rate / 8e9);
			above = peak > p->th_min && above;
			below = peak <= p->th_max + extra + m.ring + 2 * m.bytes && below;
		}
		books = model_books_balance(&m) && books;
		model_free(&m);
	}
	check(above, "Fig. 6: every queue passes its threshold");
	check(below, "Fig. 6: no queue passes the bound of threshold, HRTT, ring and two frames");
	check(books, "Fig. 6: counters and marked packets agree");
}

/* A flow of another path through the same first switch keeps what the others leave it. */
static void test_bystander(void)
{
	static struct model m;
	double first, second;

	model_init(&m);
	model_add_fig6(&m, 1, 1, 1, false);
	model_run(&m);
	first = port_utilisation(&m, port_of(&m, "s2", "r1"));
	second = port_utilisation(&m, port_of(&m, "s2", "r2"));
	model_free(&m);
	/* the link of switch 1 carries two flows that lock step: 0.81 of it, as known above */
	check(near(first, 0.81 / 2, 0.01, "group 1") && second > 0.7,
	      "Fig. 6: the flow of group 1 has its half of the first link");

	model_init(&m);
	m.queues = 1;
	model_add_fig6(&m, 1, 4, 8, false);
	model_run(&m);
	first = port_utilisation(&m, port_of(&m, "s2", "r1"));
	model_free(&m);
	model_init(&m);
	model_add_fig6(&m, 1, 4, 8, false);
	model_run(&m);
	second = port_utilisation(&m, port_of(&m, "s2", "r1"));
	model_free(&m);
	check(first < 0.75 * second, "Fig. 8: one queue for all holds group 1 back, own queues do not");
}

/* Spacing puts control frames together: never two of a link closer, and still no deadlock. */
static void test_spacing(void)
{
	static struct model m;
	int64_t plain, spaced;

	model_init(&m);
	model_add_fig6(&m, 0, 1, 1, false);
	m.spacing = 0;
	model_run(&m);
	plain = port_of(&m, "s1", "s2")->control_frames;
	model_free(&m);
	model_init(&m);
	model_add_fig6(&m, 0, 1, 1, false);
	m.spacing = 50000;
	model_run(&m);
	spaced = port_of(&m, "s1", "s2")->control_frames;
	check(spaced <= m.window / 50000 + 1 && spaced * 4 < plain && spaced > 10 &&
	      port_utilisation(&m, port_of(&m, "s2", "r2")) > 0.1, "spacing of control frames");
	model_free(&m);
}

/* Deficit round robin shares bytes, not frames, whatever the frames' lengths. */
static void test_fair(void)
{
	static struct model m;
	struct port *p;
	double ratio;

	model_init(&m);
	m.bytes = 1500;
	m.rate = 10 * NS_PER_S;
	model_link(&m, "s", "r");
	m.rate = 100 * NS_PER_S;
	m.scale = 1000000;	/* never paused: both are always backlogged */
	m.warmup = 1000000;
	m.window = 20000000;
	model_add_flow(&m, "a,s,r/1500");
	model_add_flow(&m, "b,s,r/300");
	model_run(&m);
	p = port_of(&m, "s", "r");
	ratio = 1500.0 * p->queue[0].frames / (300.0 * p->queue[1].frames);
	check(near(ratio, 1, 0.001, "share of large over small frames"), "fair in bytes");
	check(near(port_utilisation(&m, p), 1, 0.001, "utilisation"), "a large Th fills the line");
	model_free(&m);
}

/*
 * Shreedhar and Varghese, theorem 4.5: two sub-queues that wait all the while, and are not paused,
 * differ by a quantum and two of the largest frames at most, over any interval; whatever was
 * paused before. And one that is paused now and then never gets ahead by more.
 */
static void test_fair_beside_pauses(void)
{
	static const char *const flows[] = { "h,r/1500", "h,r/300", "h,r/64", "h,r/1514" };
	static const int64_t quanta[] = { 1514, 3000, 65536 };
	int64_t sent[4], low[4][4], bound, worst;
	struct frame frame;
	static struct model m;
	bool ok = true;
	struct port *p;
	int i, j, step;
	size_t k;

	for (k = 0; k < sizeof(quanta) / sizeof(*quanta); k++) {
		model_init(&m);
		m.quantum = quanta[k];
		for (i = 0; i < 4; i++)
			model_add_flow(&m, flows[i]);
		model_check(&m);
		p = port_of(&m, "h", "r");
		for (i = 0; i < 4; i++)
			p->queue[i].greedy = i;
		memset(sent, 0, sizeof(sent));
		memset(low, 0, sizeof(low));
		bound = m.quantum + 2 * 1514;
		worst = 0;
		for (step = 0; step < 400000; step++) {
			if (random64() % 16 == 0)	/* all but the last of them are */
				p->paused ^= 1 << random64() % 3;
			if (!port_dequeue(&m, p - m.port, &frame))
				continue;
			sent[frame.packet.key_queue] += frame.packet.bytes;
			/* how far was i ahead of j since j was paused last, at the least? */
			for (i = 0; i < 4; i++) {
				for (j = 0; j < 4; j++) {
					if (p->paused >> j & 1 || sent[i] - sent[j] < low[i][j])
						low[i][j] = sent[i] - sent[j];
					if (sent[i] - sent[j] - low[i][j] > worst)
						worst = sent[i] - sent[j] - low[i][j];
				}
			}
		}
		if (worst > bound)
			printf("# quantum %" PRId64 ": %" PRId64 " bytes ahead, %" PRId64
			       " at most\n", m.quantum, worst, bound);
		ok = ok && worst <= bound;
		model_free(&m);
	}
	check(ok, "nobody gets ahead by pauses");
}

int main(void)
{
	printf("KTAP version 1\n");
	test_line();
	test_app_c();
	test_app_c_worst();
	test_lock_step();
	test_bounds();
	test_bystander();
	test_spacing();
	test_fair();
	test_fair_beside_pauses();
	printf("1..%u\n", done);
	return failed ? 1 : 0;
}
