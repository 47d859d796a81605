// SPDX-License-Identifier: GPL-2.0-only
/*
 * check.c - sluice-trace check: is this a trace?
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/**
 * struct check - how check was called
 * @files: names
 * @count: how many
 * @hosts: all have to be below it
 * @quiet: say nothing of files that are fine
 */
struct check {
	char **files;
	size_t count;
	uint64_t hosts;
	bool quiet;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check *check = state->input;

	switch (key) {
	case 'h':
		if (word_number(arg, TRACE_HOSTS_MAX, &check->hosts) || !check->hosts)
			argp_error(state, "--hosts takes a number from 1 to %d, not \"%s\"",
				   TRACE_HOSTS_MAX, arg);
		return 0;
	case 'q':
		check->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		check->files[check->count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file?");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int check_hosts(const struct trace *t, const char *name, uint64_t hosts, char *error)
{
	const struct trace_flow *flow = t->flows;

	for (; flow < t->flows + t->count; flow++) {
		if (flow->src < hosts && flow->dst < hosts)
			continue;
		snprintf(error, TRACE_ERROR_MAX, "%.255s: flow %zu is of host %u, and there are %"
			 PRIu64, name, flow - t->flows,
			 flow->src < hosts ? flow->dst : flow->src, hosts);
		return -1;
	}
	return 0;
}

static int check_file(const struct check *check, const char *file)
{
	const char *name = file_name(file);
	struct trace t = { .count = 0 };
	char error[TRACE_ERROR_MAX];
	FILE *f = file_open(file);
	int err = trace_read(&t, f, name, error);

	if (!err && check->hosts)
		err = check_hosts(&t, name, check->hosts, error);
	if (err)
		fprintf(stderr, "%s\n", error);
	else if (!check->quiet)
		printf("%s: %zu flows\n", name, t.count);
	trace_free(&t);
	if (f != stdin)
		fclose(f);
	return err;
}

int verb_check(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "hosts", 'h', "N", 0, "no host has a number from N on", 0 },
		{ "quiet", 'q', NULL, 0, "say nothing if all is well", 0 },
		{}
	};
	const struct argp argp = { .options = options, .parser = parse, .args_doc = "FILE ...",
		.doc = "Says of each file how many flows it has, or where it is no trace." };
	struct check check = { .files = calloc(argc, sizeof(char *)) };
	int status = EXIT_OK;

	if (!check.files)
		die(EXIT_TROUBLE, "out of memory");
	verb_words(&argp, argc, argv, &check);
	for (size_t i = 0; i < check.count; i++)
		if (check_file(&check, check.files[i]))
			status = EXIT_TROUBLE;
	free(check.files);
	return status;
}
