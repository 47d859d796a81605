// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - words to verbs
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace.h"

const char *argp_program_version = "sluice-trace " SLUICE_VERSION;

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args;
	const char *what;
} verbs[] = {
	{ "make", verb_make, "OPTIONS", "a trace of flows" },
	{ "convert", verb_convert, "[--from F] [--to F] FILE ...",
	  "formats of simulators; several files into one" },
	{ "check", verb_check, "FILE ...", "is this a trace?" },
	{ "stat", verb_stat, "[--json] FILE", "flows, bytes, loads, sizes, incasts" },
	{ "laws", verb_laws, "[--json] [LAW ...]", "laws of sizes, their means and percentiles" },
};

void die(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("sluice-trace: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

FILE *file_open(const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;

	if (!f)
		die(EXIT_TROUBLE, "%s: %s", name, strerror(errno));
	return f;
}

const char *file_name(const char *name)
{
	return strcmp(name, "-") ? name : "standard input";
}

static void write_stdout(int (*write)(const void *what, FILE *f), const void *what)
{
	if (write(what, stdout))
		die(EXIT_TROUBLE, "standard output: %s", strerror(errno));
}

/* A reader sees the old file or the new one; but a device or a pipe is written as it is. */
void file_write(const char *name, int (*write)(const void *what, FILE *f), const void *what)
{
	struct stat st;
	char *other;
	FILE *f;

	if (!name || !strcmp(name, "-")) {
		write_stdout(write, what);
		return;
	}
	if (!stat(name, &st) && !S_ISREG(st.st_mode)) {
		f = fopen(name, "we");
		if (!f || write(what, f) || fclose(f))
			die(EXIT_TROUBLE, "%s: %s", name, strerror(errno));
		return;
	}
	if (asprintf(&other, "%s.new", name) < 0)
		die(EXIT_TROUBLE, "out of memory");
	f = fopen(other, "we");
	if (!f)
		die(EXIT_TROUBLE, "%s: %s", other, strerror(errno));
	if (write(what, f) || fclose(f) || rename(other, name)) {
		int err = errno;

		unlink(other);
		die(EXIT_TROUBLE, "%s: %s", name, strerror(err));
	}
	free(other);
}

void verb_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	char name[64];

	snprintf(name, sizeof(name), "sluice-trace %s", argv[0]);
	argv[0] = name;
	argp_parse(argp, argc, argv, 0, NULL, input);
}

static void help(FILE *f)
{
	fprintf(f, "Usage: sluice-trace VERB [WORDS]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(f, "  %-8s %-30s %s\n", verbs[i].name, verbs[i].args, verbs[i].what);
	fprintf(f, "  %-8s %-30s %s\n", "help", "[VERB]", "this, or what a verb takes");
	fprintf(f, "\n  -V, --version      print the version\n\nSee sluice-trace(8).\n");
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[0], verbs[i].name))
			return verbs[i].run(argc, argv);
	fprintf(stderr, "sluice-trace: there is no verb \"%s\"; there are:", argv[0]);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(stderr, " %s", verbs[i].name);
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
	const struct argp argp = { .options = options, .parser = parse };
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
