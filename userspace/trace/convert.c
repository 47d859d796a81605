// SPDX-License-Identifier: GPL-2.0-only
/*
 * convert.c - sluice-trace convert: other formats, several files into one
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ns3.h"
#include "trace.h"
#include "words.h"

/**
 * struct convert - how convert was called
 * @from: format that is read
 * @to: format that is written
 * @ns3: what these have beside flows
 * @files: names
 * @count: how many
 * @output: file to write
 * @shift: what is added to each start; less than 0 if @back
 * @zero: the first flow begins at 0, then @shift is added
 * @trace: the flows
 */
struct convert {
	const struct format *from;
	const struct format *to;
	struct ns3 ns3;
	char **files;
	size_t count;
	const char *output;
	uint64_t shift;
	bool back;
	bool zero;
	struct trace trace;
};

static const struct format *take_format(struct argp_state *state, const char *word)
{
	const struct format *format = format_find(word);
	char names[128] = "";

	if (format)
		return format;
	for (format = formats; format->name; format++) {
		strcat(names, " ");
		strcat(names, format->name);
	}
	argp_error(state, "there is no format \"%s\"; there are:%s", word, names);
	return NULL;
}

static unsigned int take_number(struct argp_state *state, const char *word, unsigned int max,
				const char *option)
{
	uint64_t v = 0;

	if (word_number(word, max, &v))
		argp_error(state, "%s takes a number up to %u, not \"%s\"", option, max, word);
	return v;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct convert *c = state->input;

	switch (key) {
	case 'f':
		c->from = take_format(state, arg);
		return 0;
	case 't':
		c->to = take_format(state, arg);
		if (!c->to->write)
			argp_error(state, "%s can only be read", arg);
		return 0;
	case 'g':
		c->ns3.group = take_number(state, arg, 7, "--group");
		return 0;
	case 'p':
		c->ns3.port = take_number(state, arg, 65535, "--port");
		return 0;
	case 's':
		c->back = *arg == '-';
		if (word_time(arg + c->back, &c->shift))
			argp_error(state, "--shift takes a time such as 2s or -2s, not \"%s\"", arg);
		return 0;
	case 'z':
		c->zero = true;
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		c->files[c->count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file?");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
	{ "from", 'f', "FORMAT", 0, "of the files: sluice (default), hpcc, floodgate, bfc-log", 0 },
	{ "to", 't', "FORMAT", 0, "to write: sluice (default), hpcc, floodgate", 0 },
	{ "shift", 's', "TIME", 0, "begin so much later, or with a - earlier", 0 },
	{ "from-zero", 'z', NULL, 0, "the first flow begins at 0, before any --shift", 0 },
	{ "group", 'g', "N", 0, "hpcc: priority group of class 0 (3)", 0 },
	{ "port", 'p', "N", 0, "hpcc: destination port to write (100)", 0 },
	{ "output", 'o', "FILE", 0, "not standard output", 0 },
	{}
};

static void read_file(struct convert *c, const char *file)
{
	char error[TRACE_ERROR_MAX];
	FILE *f = file_open(file);
	struct trace t = { .count = 0 };
	const struct trace_flow *flow;

	if (c->from->read(&c->ns3, &t, f, file_name(file), error))
		die(EXIT_TROUBLE, "%s", error);
	for (size_t i = 0; i < t.n_notes; i++)
		if (trace_note(&c->trace, "%s", t.notes[i]))
			die(EXIT_TROUBLE, "out of memory");
	for (flow = t.flows; flow < t.flows + t.count; flow++)
		if (trace_add(&c->trace, flow->start_ns, flow->src, flow->dst, flow->bytes,
			      flow->class, flow->label))
			die(EXIT_TROUBLE, "out of memory");
	trace_free(&t);
	if (f != stdin)
		fclose(f);
}

static void shift(struct convert *c)
{
	uint64_t first = c->trace.count ? c->trace.flows[0].start_ns : 0;
	struct trace_flow *flow = c->trace.flows;

	for (; flow < c->trace.flows + c->trace.count; flow++) {
		if (c->zero)
			flow->start_ns -= first;
		if (c->back && flow->start_ns < c->shift)
			die(EXIT_TROUBLE, "with --shift flow %zu begins before 0",
			    flow - c->trace.flows);
		flow->start_ns += c->back ? -c->shift : c->shift;
		if (flow->start_ns > TRACE_START_MAX)
			die(EXIT_TROUBLE, "with --shift flow %zu begins too late",
			    flow - c->trace.flows);
	}
}

static int write_file(const void *what, FILE *f)
{
	const struct convert *c = what;

	return c->to->write(&c->ns3, &c->trace, f);
}

int verb_convert(int argc, char **argv)
{
	const struct argp argp = { .options = options, .parser = parse, .args_doc = "FILE ...",
		.doc = "Flows in another format; those of several files become one trace." };
	struct convert c = {
		.from = formats, .to = formats, .ns3 = { .group = 3, .port = 100 },
		.files = calloc(argc, sizeof(char *)),
	};

	if (!c.files)
		die(EXIT_TROUBLE, "out of memory");
	verb_words(&argp, argc, argv, &c);
	for (size_t i = 0; i < c.count; i++)
		read_file(&c, c.files[i]);
	if (trace_sort(&c.trace))
		die(EXIT_TROUBLE, "out of memory");
	shift(&c);
	file_write(c.output, write_file, &c);
	trace_free(&c.trace);
	free(c.files);
	return EXIT_OK;
}
