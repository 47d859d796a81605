// SPDX-License-Identifier: GPL-2.0-only
/*
 * gen.c - draws flows
 *
 * Time runs in units of 2^-20 ns: gaps of a fast fabric are a few ns, and rounding each to whole
 * nanoseconds would change their mean.
 */
#define _GNU_SOURCE
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"
#include "real.h"

#define TICKS_PER_NS	(1 << 20)

static int __attribute__((format(printf, 2, 3)))
refuse(char *error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, TRACE_ERROR_MAX, fmt, args);
	va_end(args);
	return -1;
}

/* Streams of random numbers. */

/* splitmix64, whose outputs for neighbouring inputs have nothing in common */
static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* The stream of one purpose of one part. GSL takes 32 bits, and 0 for its default. */
static gsl_rng *stream(uint64_t seed, const char *part, uint64_t number)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	uint64_t hash = mix(seed);

	for (; *part; part++)
		hash = mix(hash ^ (unsigned char)*part);
	hash = mix(hash ^ number) >> 32;
	if (rng)
		gsl_rng_set(rng, hash ? hash : 1);
	return rng;
}

/* 53 bits, never 0 or 1: one draw of 32 bits would cut off the tail of a law */
static double uniform(gsl_rng *rng)
{
	uint64_t high = gsl_rng_get(rng) >> 5, low = gsl_rng_get(rng) >> 6;

	return (high * 67108864.0 + low + 0.5) / 9007199254740992.0;
}

/* Marsaglia's polar method, one of its two numbers; the square root is exact by IEEE 754 */
static double normal(gsl_rng *rng)
{
	double x, y, square;

	do {
		x = 2 * uniform(rng) - 1;
		y = 2 * uniform(rng) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * real_log(square) / square);
}

/* A time between two flows whose mean is 1. */
static double gap(const struct background *b, gsl_rng *rng)
{
	switch (b->arrivals) {
	case ARRIVALS_POISSON:
		return -real_log(uniform(rng));
	case ARRIVALS_LOGNORMAL:
		return real_exp(b->sigma * normal(rng) - b->sigma * b->sigma / 2);
	default:
		return 1;
	}
}

/* Pairs of hosts, and the load that they make. */

int pairs_add(struct pairs *p, uint32_t src, uint32_t dst)
{
	size_t room = p->room ? 2 * p->room : 64;
	struct pair *list;

	if (p->count == p->room) {
		list = reallocarray(p->list, room, sizeof(*list));
		if (!list)
			return -1;
		p->list = list;
		p->room = room;
	}
	p->list[p->count++] = (struct pair) { src, dst };
	return 0;
}

static bool same_rack(const struct plan *plan, uint32_t a, uint32_t b)
{
	return plan->per_rack && a / plan->per_rack == b / plan->per_rack;
}

/* Pairs inside a rack come first, else their order is kept. */
static int pairs_arrange(const struct plan *plan, struct pairs *p)
{
	struct pair *list = calloc(p->count, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -1;
	for (size_t i = 0; i < p->count; i++)
		if (same_rack(plan, p->list[i].src, p->list[i].dst))
			list[n++] = p->list[i];
	p->local = n;
	for (size_t i = 0; i < p->count; i++)
		if (!same_rack(plan, p->list[i].src, p->list[i].dst))
			list[n++] = p->list[i];
	free(p->list);
	p->list = list;
	p->room = p->count;
	return 0;
}

/* How likely a flow takes the pair with this number. */
static double pair_share(const struct background *b, size_t i)
{
	const struct pairs *p = &b->pairs;

	if (b->locality < 0)
		return 1.0 / p->count;
	return i < p->local ? b->locality / p->local : (1 - b->locality) / (p->count - p->local);
}

/*
 * The share of all flows that the busiest link carries: of the hosts' links, or of the racks'
 * uplinks, in either direction.
 */
static int busiest(const struct plan *plan, double *most)
{
	const struct background *b = &plan->background;
	uint32_t divisor = b->core ? plan->per_rack : 1, a, z;
	double *shares = calloc(2 * (size_t)plan->hosts, sizeof(*shares)), share;

	if (!shares)
		return -1;
	*most = 0;
	for (size_t i = b->core ? b->pairs.local : 0; i < b->pairs.count; i++) {
		share = pair_share(b, i);
		a = b->pairs.list[i].src / divisor;
		z = b->pairs.list[i].dst / divisor;
		shares[a] += share;
		shares[plan->hosts + z] += share;
		if (shares[a] > *most)
			*most = shares[a];
		if (shares[plan->hosts + z] > *most)
			*most = shares[plan->hosts + z];
	}
	free(shares);
	return 0;
}

static int prepare_background(const struct plan *plan, struct background *b, char *error)
{
	double most, line = law_mean_on_line(&b->law, &plan->frame);
	double capacity = b->core ? plan->uplinks : plan->rate;

	if (pairs_arrange(plan, &b->pairs) || busiest(plan, &most))
		return refuse(error, "out of memory");
	if (b->locality > 0 && !b->pairs.local)
		return refuse(error, "no pair of hosts is inside a rack, and --locality wants some");
	if (b->locality >= 0 && b->locality < 1 && b->pairs.local == b->pairs.count)
		return refuse(error, "all pairs of hosts are inside a rack, and --locality wants others");
	if (!(most > 0))
		return refuse(error, "no flow leaves its rack: there is no load on the core");
	b->gap_ns = 1e9 * 8 * line * most / (b->load * capacity);
	return 0;
}

int gen_prepare(struct plan *plan, char *error)
{
	if (plan->background.on)
		return prepare_background(plan, &plan->background, error);
	return 0;
}

static const struct pair *draw_pair(const struct background *b, gsl_rng *rng)
{
	const struct pairs *p = &b->pairs;

	if (b->locality < 0)
		return &p->list[gsl_rng_uniform_int(rng, p->count)];
	if (uniform(rng) < b->locality)
		return &p->list[gsl_rng_uniform_int(rng, p->local)];
	return &p->list[p->local + gsl_rng_uniform_int(rng, p->count - p->local)];
}

static int add(struct trace *t, uint64_t start, struct pair pair, uint64_t bytes,
	       unsigned int class, const char *label, char *error)
{
	if (t->count >= GEN_FLOWS_MAX)
		return refuse(error, "these are more than %d flows", GEN_FLOWS_MAX);
	if (trace_add(t, start, pair.src, pair.dst, bytes, class, label))
		return refuse(error, "out of memory");
	return 0;
}

/* Streams of the background: what one draws, others do not move. */
struct streams {
	gsl_rng *times, *sizes, *pairs, *classes;
};

static int draw_background(const struct plan *plan, struct streams *s, struct trace *t,
			   char *error)
{
	const struct background *b = &plan->background;
	double ticks = b->gap_ns * TICKS_PER_NS, step;
	uint64_t end_ns = plan->duration_ns ? plan->duration_ns : GEN_DURATION_MAX;
	uint64_t now = b->start_ns * TICKS_PER_NS, end = end_ns * TICKS_PER_NS;
	struct pair pair;

	for (uint64_t n = 0; !b->flows || n < b->flows; n++) {
		step = gap(b, s->times) * ticks + 0.5;
		if (step >= (double)(end - now))
			break;
		now += (uint64_t)step;
		pair = *draw_pair(b, s->pairs);
		if (add(t, now / TICKS_PER_NS, pair, law_size(&b->law, uniform(s->sizes)),
			b->class + gsl_rng_uniform_int(s->classes, b->classes), b->label, error))
			return -1;
	}
	if (!plan->duration_ns && t->count < b->flows)
		return refuse(error, "%" PRIu64 " flows take more than an hour", b->flows);
	return 0;
}

static int make_background(const struct plan *plan, struct trace *t, char *error)
{
	struct streams s = {
		.times = stream(plan->seed, "background times", 0),
		.sizes = stream(plan->seed, "background sizes", 0),
		.pairs = stream(plan->seed, "background pairs", 0),
		.classes = stream(plan->seed, "background classes", 0),
	};
	int err;

	if (s.times && s.sizes && s.pairs && s.classes)
		err = draw_background(plan, &s, t, error);
	else
		err = refuse(error, "out of memory");
	gsl_rng_free(s.times);
	gsl_rng_free(s.sizes);
	gsl_rng_free(s.pairs);
	gsl_rng_free(s.classes);
	return err;
}

/* Incasts. */

/* Puts a random choice of @n of the list to its front, in random order. */
static void draw_front(uint32_t *list, size_t count, size_t n, gsl_rng *rng)
{
	for (size_t i = 0; i < n && i + 1 < count; i++) {
		size_t other = i + gsl_rng_uniform_int(rng, count - i);
		uint32_t swap = list[i];

		list[i] = list[other];
		list[other] = swap;
	}
}

/**
 * struct room - what the drawing of an incast needs
 * @rng: its stream
 * @to: receivers, those of this event first
 * @from: hosts that may send to the one at hand
 */
struct room {
	gsl_rng *rng;
	uint32_t *to;
	uint32_t *from;
};

static int make_one(const struct plan *plan, const struct incast *in, struct room *r,
		    uint64_t start, uint32_t dst, struct trace *t, char *error)
{
	uint64_t at, bytes;
	size_t count = 0, pick;

	for (size_t i = 0; i < in->from.count; i++)
		if (in->from.list[i] != dst &&
		    !(in->remote && same_rack(plan, in->from.list[i], dst)))
			r->from[count++] = in->from.list[i];
	if (!count || (in->sources == SOURCES_DISTINCT && count < in->degree))
		return refuse(error, "an incast of %u needs as many hosts that send to host %u, "
			      "there are %zu: see replace and even", in->degree, dst, count);
	if (in->sources != SOURCES_REPLACE)
		draw_front(r->from, count, in->degree, r->rng);
	for (uint32_t i = 0; i < in->degree; i++) {
		pick = in->sources == SOURCES_REPLACE ? gsl_rng_uniform_int(r->rng, count) :
		       i % count;
		at = start;
		if (in->jitter_ns)
			at += gsl_rng_uniform_int(r->rng, in->jitter_ns + 1);
		if (in->sizes.count)
			bytes = law_size(&in->sizes, uniform(r->rng));
		else
			bytes = in->bytes / in->degree + (i < in->bytes % in->degree);
		if (add(t, at, (struct pair) { r->from[pick], dst }, bytes, in->class, in->label,
			error))
			return -1;
	}
	return 0;
}

/* One event, which is an incast to each of some receivers. */
static int make_event(const struct plan *plan, const struct incast *in, struct room *r,
		      uint64_t event, uint64_t start, struct trace *t, char *error)
{
	size_t which;

	if (!in->turn)
		draw_front(r->to, in->to.count, in->receivers, r->rng);
	for (uint32_t k = 0; k < in->receivers; k++) {
		which = in->turn ? (event * in->receivers + k) % in->to.count : k;
		if (make_one(plan, in, r, start + k * in->spacing_ns, r->to[which], t, error))
			return -1;
	}
	return 0;
}

static int make_events(const struct plan *plan, const struct incast *in, struct room *r,
		       uint64_t end_ns, struct trace *t, char *error)
{
	uint64_t start = in->at_ns;

	memcpy(r->to, in->to.list, in->to.count * sizeof(*r->to));
	for (uint64_t event = 0; !in->times || event < in->times; event++) {
		if (start >= end_ns && !in->times)
			break;
		if (make_event(plan, in, r, event, start, t, error))
			return -1;
		start += in->period_ns;
	}
	return 0;
}

static int make_incast(const struct plan *plan, size_t number, uint64_t end_ns, struct trace *t,
		       char *error)
{
	const struct incast *in = &plan->incasts[number];
	struct room r = {
		.rng = stream(plan->seed, "incast", number),
		.to = calloc(in->to.count, sizeof(*r.to)),
		.from = calloc(in->from.count, sizeof(*r.from)),
	};
	int err;

	if (r.rng && r.to && r.from)
		err = make_events(plan, in, &r, end_ns, t, error);
	else
		err = refuse(error, "out of memory");
	gsl_rng_free(r.rng);
	free(r.to);
	free(r.from);
	return err;
}

/* What a host's link carries during the run, without headers. */
static uint64_t whole(const struct plan *plan)
{
	unsigned __int128 line = (unsigned __int128)plan->rate / 8 * plan->duration_ns / 1000000000;

	line = line * plan->frame.payload / (plan->frame.payload + plan->frame.header);
	return line < 1 ? 1 : line > TRACE_BYTES_MAX ? TRACE_BYTES_MAX : (uint64_t)line;
}

static int make_longs(const struct plan *plan, size_t number, struct trace *t, char *error)
{
	const struct longs *l = &plan->longs[number];
	gsl_rng *rng = stream(plan->seed, "long", number);
	int err = rng ? 0 : refuse(error, "out of memory");
	size_t pick;

	for (uint32_t i = 0; !err && i < l->count; i++) {
		pick = l->given ? i % l->pairs.count : gsl_rng_uniform_int(rng, l->pairs.count);
		err = add(t, l->at_ns + i * l->every_ns, l->pairs.list[pick],
			  l->bytes ? l->bytes : whole(plan), l->class, l->label, error);
	}
	gsl_rng_free(rng);
	return err;
}

int gen_make(const struct plan *plan, struct trace *t, char *error)
{
	uint64_t end_ns = plan->duration_ns;

	if (plan->background.on && make_background(plan, t, error))
		return -1;
	if (!end_ns && t->count)
		end_ns = t->flows[t->count - 1].start_ns + 1;
	for (size_t i = 0; i < plan->n_incasts; i++)
		if (make_incast(plan, i, end_ns, t, error))
			return -1;
	for (size_t i = 0; i < plan->n_longs; i++)
		if (make_longs(plan, i, t, error))
			return -1;
	return trace_sort(t) ? refuse(error, "out of memory") : 0;
}

void plan_free(struct plan *plan)
{
	law_free(&plan->background.law);
	free(plan->background.pairs.list);
	for (size_t i = 0; i < plan->n_incasts; i++) {
		law_free(&plan->incasts[i].sizes);
		free(plan->incasts[i].to.list);
		free(plan->incasts[i].from.list);
	}
	for (size_t i = 0; i < plan->n_longs; i++)
		free(plan->longs[i].pairs.list);
	free(plan->incasts);
	free(plan->longs);
	memset(plan, 0, sizeof(*plan));
}
