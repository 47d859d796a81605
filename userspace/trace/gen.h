/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gen: traces from a plan: background flows, incasts, long flows.
 *
 * Each part draws from streams of its own, made from the seed, the part's name and its number, so
 * that a part is the same whatever else is in the plan. All arithmetic is that of integers or of
 * IEEE doubles without the C library's functions (see real.h): one plan is one trace everywhere.
 */
#ifndef _TRACE_GEN_H
#define _TRACE_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "law.h"
#include "trace_file.h"
#include "words.h"

#define GEN_DURATION_MAX	UINT64_C(3600000000000)	/* ns */
#define GEN_FLOWS_MAX		50000000
#define GEN_PAIRS_MAX		(1 << 24)

enum arrivals {
	ARRIVALS_POISSON,
	ARRIVALS_LOGNORMAL,	/* of the times between flows; their mean is kept */
	ARRIVALS_EVEN,		/* one flow each mean time */
};

enum sources {
	SOURCES_DISTINCT,	/* no host twice */
	SOURCES_REPLACE,	/* each draw among all */
	SOURCES_EVEN,		/* none twice before each was drawn once */
};

struct pair {
	uint32_t src;
	uint32_t dst;
};

/**
 * struct pairs - who sends to whom
 * @list: the pairs; those inside a rack first once gen_prepare() was here
 * @count: how many
 * @local: how many of them are inside a rack
 */
struct pairs {
	struct pair *list;
	size_t count;
	size_t local;
	size_t room;
};

/**
 * struct background - flows that arrive by chance
 * @on: there are some
 * @law: their sizes
 * @arrivals: law of the times between them
 * @sigma: of ARRIVALS_LOGNORMAL
 * @load: share of the busiest link
 * @core: that link is a rack's uplinks together, not a host's link
 * @locality: share of flows inside a rack, or negative: as the pairs are
 * @pairs: each is as likely
 * @flows: end after so many, if not 0
 * @start_ns: none begins before
 * @classes: each flow has one of so many classes from @class on, by chance
 * @gap_ns: mean time between flows, from gen_prepare()
 */
struct background {
	bool on;
	struct law law;
	enum arrivals arrivals;
	double sigma;
	double load;
	bool core;
	double locality;
	struct pairs pairs;
	uint64_t flows;
	uint64_t start_ns;
	unsigned int class;
	unsigned int classes;
	char label[TRACE_LABEL_MAX + 1];
	double gap_ns;
};

/**
 * struct incast - flows that begin at once, towards one host
 * @degree: flows of an incast
 * @bytes: of an incast, divided evenly, if @sizes has no points
 * @sizes: law of each flow's size
 * @period_ns: from one event to the next
 * @at_ns: the first event
 * @times: number of events, 0 for as many as the duration has room for
 * @receivers: incasts of an event, each to another host
 * @spacing_ns: from one of these to the next
 * @jitter_ns: a flow begins up to so much later, by chance
 * @to: hosts that may receive
 * @turn: they receive in turn, and are not drawn
 * @from: hosts that may send
 * @remote: only those of other racks than the receiver's
 * @sources: how they are drawn
 */
struct incast {
	uint32_t degree;
	uint64_t bytes;
	struct law sizes;
	uint64_t period_ns;
	uint64_t at_ns;
	uint64_t times;
	uint32_t receivers;
	uint64_t spacing_ns;
	uint64_t jitter_ns;
	struct hosts to;
	bool turn;
	struct hosts from;
	bool remote;
	enum sources sources;
	unsigned int class;
	char label[TRACE_LABEL_MAX + 1];
};

/**
 * struct longs - a few large flows
 * @count: how many
 * @bytes: of each; 0 for what fills a host's link during the whole run
 * @at_ns: the first begins
 * @every_ns: from one to the next
 * @pairs: taken in turn if @given, else each flow draws one
 */
struct longs {
	uint32_t count;
	uint64_t bytes;
	uint64_t at_ns;
	uint64_t every_ns;
	struct pairs pairs;
	bool given;
	unsigned int class;
	char label[TRACE_LABEL_MAX + 1];
};

/**
 * struct plan - all that a trace is made from
 * @hosts: how many
 * @per_rack: of each rack, 0 if there are none
 * @rate: of a host's link, bit/s
 * @uplinks: of a rack, all together, bit/s
 * @duration_ns: no background flow or incast begins later; 0 if only the number of flows ends it
 * @seed: of all that is drawn
 * @frame: what flows are on the line
 */
struct plan {
	uint32_t hosts;
	uint32_t per_rack;
	uint64_t rate;
	uint64_t uplinks;
	uint64_t duration_ns;
	uint64_t seed;
	struct frame frame;
	struct background background;
	struct incast *incasts;
	size_t n_incasts;
	struct longs *longs;
	size_t n_longs;
};

/* Appends a pair. Return: 0, or -1 without memory. */
int pairs_add(struct pairs *p, uint32_t src, uint32_t dst);

/**
 * gen_prepare - what follows from a plan before anything is drawn
 * @plan: its background gets the order of pairs and the mean gap
 * @error: TRACE_ERROR_MAX bytes for what is wrong
 *
 * Return: 0, or -1 with @error set.
 */
int gen_prepare(struct plan *plan, char *error);

/**
 * gen_make - the trace of a plan
 * @plan: after gen_prepare()
 * @t: flows are appended and sorted
 * @error: TRACE_ERROR_MAX bytes for what is wrong
 *
 * Return: 0, or -1 with @error set.
 */
int gen_make(const struct plan *plan, struct trace *t, char *error);

void plan_free(struct plan *plan);

#endif
