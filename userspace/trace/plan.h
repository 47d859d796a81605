/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan: the words of `sluice-trace make` become a plan.
 */
#ifndef _TRACE_PLAN_H
#define _TRACE_PLAN_H

#include "gen.h"

/* What make can be told; each is one option of the command. */
enum plan_key {
	PLAN_HOSTS, PLAN_RACKS, PLAN_PER_RACK, PLAN_RATE, PLAN_UPLINKS,
	PLAN_DURATION, PLAN_SEED, PLAN_PAYLOAD, PLAN_HEADER, PLAN_MIN_FRAME,
	PLAN_LAW, PLAN_ARRIVALS, PLAN_SIGMA, PLAN_LOAD, PLAN_ON, PLAN_LOCALITY, PLAN_PAIRS,
	PLAN_FLOWS, PLAN_START, PLAN_CLASS, PLAN_CLASSES, PLAN_LABEL, PLAN_INCAST, PLAN_LONG,
	PLAN_KEYS,
};

/**
 * struct plan_word - an option and its value, as words
 */
struct plan_word {
	enum plan_key key;
	const char *value;
};

/* Name of an option, such as "per-rack". */
const char *plan_name(enum plan_key key);

/**
 * plan_parse - a plan from words
 * @plan: empty
 * @words: options in the order that they were given in
 * @count: how many
 * @error: TRACE_ERROR_MAX bytes for what is wrong
 *
 * Return: 0, or -1 with @error set; gen_prepare() has been called.
 */
int plan_parse(struct plan *plan, const struct plan_word *words, size_t count, char *error);

/**
 * plan_note - comments that say what a trace is made from
 * @plan: from plan_parse()
 * @words: what it was made of
 * @count: how many
 * @t: gets the comments
 *
 * Return: 0, or -1 without memory.
 */
int plan_note(const struct plan *plan, const struct plan_word *words, size_t count,
	      struct trace *t);

#endif
