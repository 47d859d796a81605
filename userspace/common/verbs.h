/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verbs: programs that are called as `NAME VERB WORDS`: their help, their errors, how they end.
 */
#ifndef _VERBS_H
#define _VERBS_H

#include <argp.h>

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "0.1"
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK		= 0,
	EXIT_TROUBLE	= 1,	/* it could not be done: a file is bad, a device is not there */
	EXIT_USAGE	= 2,
	EXIT_FOUND	= 3,	/* sluice: doctor found something, graph has a cycle */
};

/**
 * struct verb - what a program can do
 * @name: as it is typed
 * @run: parses its own words, argv[0] is its name; returns an exit status
 * @args: its words, in the program's help
 * @what: what it does, in a few words
 */
struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args;
	const char *what;
};

/**
 * struct program - a program with verbs
 * @name: of the program
 * @usage: what stands before the verb in its help
 * @options: more lines of its help, or ""
 * @common: options that stand before or behind the verb, or NULL
 * @verbs: the last one has no name
 * @width: of the column of @args
 */
struct program {
	const char *name;
	const char *usage;
	const char *options;
	const struct argp *common;
	const struct verb *verbs;
	int width;
};

/* Each program has one. */
extern const struct program program;

/**
 * verb_words - parse the words of a verb
 * @argp: its parser
 * @argc: number of words
 * @argv: words
 * @input: for the parser
 */
void verb_words(const struct argp *argp, int argc, char **argv, void *input);

/* Says what is wrong and ends the program. */
void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *fmt, ...);

#endif
