// SPDX-License-Identifier: GPL-2.0-only
/*
 * make.c - sluice-trace make: a trace from options
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "plan.h"
#include "trace.h"

/* Keys of argp: the plan's options above all characters. */
#define KEY(key)	(0x100 + (key))

/**
 * struct make - how make was called
 * @words: options of the plan, as they were given
 * @count: how many
 * @output: file to write
 */
struct make {
	struct plan_word *words;
	size_t count;
	const char *output;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct make *make = state->input;

	switch (key) {
	case 'o':
		make->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\" is no option", arg);
		return 0;
	}
	if (key < KEY(0) || key >= KEY(PLAN_KEYS))
		return ARGP_ERR_UNKNOWN;
	make->words[make->count++] = (struct plan_word) { key - KEY(0), arg };
	return 0;
}

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Hosts and links:", 1 },
	{ "hosts", KEY(PLAN_HOSTS), "N", 0, "number of hosts", 1 },
	{ "racks", KEY(PLAN_RACKS), "N", 0, "number of racks", 1 },
	{ "per-rack", KEY(PLAN_PER_RACK), "N", 0, "hosts of each rack", 1 },
	{ "hosts-per-rack", 0, NULL, OPTION_ALIAS, NULL, 1 },
	{ "rate", KEY(PLAN_RATE), "RATE", 0, "of a host's link", 1 },
	{ "uplinks", KEY(PLAN_UPLINKS), "LINKS", 0, "of a rack, such as 8x100gbit", 1 },
	{ "payload", KEY(PLAN_PAYLOAD), "BYTES", 0, "of a full packet (1000)", 1 },
	{ "header", KEY(PLAN_HEADER), "BYTES", 0, "of each packet beside it (62)", 1 },
	{ "min-frame", KEY(PLAN_MIN_FRAME), "BYTES", 0, "no frame is shorter (64)", 1 },
	{ NULL, 0, NULL, 0, "Flows that arrive by chance:", 2 },
	{ "load", KEY(PLAN_LOAD), "SHARE", 0, "of the busiest link, such as 0.6 or 60%", 2 },
	{ "on", KEY(PLAN_ON), "edge|core", 0, "links of hosts (default), or uplinks of racks", 2 },
	{ "law", KEY(PLAN_LAW), "LAW|FILE", 0, "of their sizes: see laws", 2 },
	{ "arrivals", KEY(PLAN_ARRIVALS), "LAW", 0, "poisson (default), lognormal, even", 2 },
	{ "sigma", KEY(PLAN_SIGMA), "NUMBER", 0, "of lognormal (2)", 2 },
	{ "locality", KEY(PLAN_LOCALITY), "SHARE", 0, "of flows that stay in their rack", 2 },
	{ "pairs", KEY(PLAN_PAIRS), "PAIRS", 0, "who sends to whom, such as 0-14:15", 2 },
	{ "flows", KEY(PLAN_FLOWS), "N", 0, "end after so many", 2 },
	{ "start", KEY(PLAN_START), "TIME", 0, "none begins before (0)", 2 },
	{ "class", KEY(PLAN_CLASS), "N", 0, "of these flows (0)", 2 },
	{ "classes", KEY(PLAN_CLASSES), "N", 0, "so many classes from that on, by chance", 2 },
	{ "label", KEY(PLAN_LABEL), "WORD", 0, "of these flows", 2 },
	{ NULL, 0, NULL, 0, "Others, each of them as often as you like:", 3 },
	{ "incast", KEY(PLAN_INCAST), "DEGREE:BYTES:PERIOD[,KEY[=VALUE]...]", 0,
	  "flows that begin at once, to one host", 3 },
	{ "long", KEY(PLAN_LONG), "N[,KEY=VALUE...]", 0, "a few large flows", 3 },
	{ NULL, 0, NULL, 0, "All:", 4 },
	{ "duration", KEY(PLAN_DURATION), "TIME", 0, "no flow begins later", 4 },
	{ "seed", KEY(PLAN_SEED), "NUMBER", 0, "of all chance (1)", 4 },
	{ "output", 'o', "FILE", 0, "not standard output", 4 },
	{}
};

static int write_trace(const void *what, FILE *f)
{
	return trace_write(what, f);
}

int verb_make(int argc, char **argv)
{
	const struct argp argp = { .options = options, .parser = parse,
		.doc = "A trace of flows. The same options give the same bytes, on any machine." };
	struct make make = { .words = calloc(argc, sizeof(*make.words)) };
	struct plan plan = { .hosts = 0 };
	struct trace t = { .count = 0 };
	char error[TRACE_ERROR_MAX];

	if (!make.words)
		die(EXIT_TROUBLE, "out of memory");
	verb_words(&argp, argc, argv, &make);
	if (plan_parse(&plan, make.words, make.count, error))
		die(EXIT_USAGE, "%s", error);
	if (trace_note(&t, "program sluice-trace %s", SLUICE_VERSION) ||
	    plan_note(&plan, make.words, make.count, &t))
		die(EXIT_TROUBLE, "out of memory");
	if (gen_make(&plan, &t, error))
		die(EXIT_USAGE, "%s", error);
	file_write(make.output, write_trace, &t);
	trace_free(&t);
	plan_free(&plan);
	free(make.words);
	return EXIT_OK;
}
