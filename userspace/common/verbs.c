// SPDX-License-Identifier: GPL-2.0-only
/*
 * verbs.c - words to verbs
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

void die(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program.name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

void verb_words(const struct argp *argp, int argc, char **argv, void *input)
{
	char name[64];

	snprintf(name, sizeof(name), "%s %s", program.name, argv[0]);
	argv[0] = name;
	argp_parse(argp, argc, argv, 0, NULL, input);
}

static void help_line(FILE *f, const char *verb, const char *args, const char *what)
{
	fprintf(f, "  %-8s %-*s %s\n", verb, program.width, args, what);
}

static void help(FILE *f)
{
	const struct verb *v;

	fprintf(f, "Usage: %s %sVERB [WORDS]\n\n", program.name, program.usage);
	for (v = program.verbs; v->name; v++)
		help_line(f, v->name, v->args, v->what);
	help_line(f, "help", "[VERB]", "this, or what a verb takes");
	fprintf(f, "\n%s  -V, --version      print the version\n\nSee %s(8).\n", program.options,
		program.name);
}

static int run(int argc, char **argv)
{
	const struct verb *v;

	for (v = program.verbs; v->name; v++)
		if (!strcmp(argv[0], v->name))
			return v->run(argc, argv);
	fprintf(stderr, "%s: there is no verb \"%s\"; there are:", program.name, argv[0]);
	for (v = program.verbs; v->name; v++)
		fprintf(stderr, " %s", v->name);
	fprintf(stderr, " help\n");
	return EXIT_USAGE;
}

static int verb_help(int argc, char **argv)
{
	char flag[] = "--help", *words[] = { argv[1], flag, NULL };

	if (argc > 1)
		return run(2, words);
	help(stdout);
	return EXIT_OK;
}

/* The words before the verb; the verb's own are left to it. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	int *verb = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		*verb = state->next - 1;
		state->next = state->argc;
		return 0;
	case 'h':
		help(stdout);
		exit(EXIT_OK);
	case 'V':
		puts(argp_program_version);
		exit(EXIT_OK);
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "help", 'h', NULL, 0, "", 0 },
		{ "version", 'V', NULL, 0, "", 0 },
		{}
	};
	const struct argp_child children[] = { { .argp = program.common }, {} };
	const struct argp argp = { .options = options, .parser = parse, .children = children };
	int verb = 0;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &verb);
	if (!verb) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[verb], "help"))
		return verb_help(argc - verb, argv + verb);
	return run(argc - verb, argv + verb);
}
