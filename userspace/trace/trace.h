/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace: what the verbs of sluice-trace share.
 */
#ifndef _TRACE_H
#define _TRACE_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "trace_file.h"

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "0.1"
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK		= 0,
	EXIT_TROUBLE	= 1,	/* a file is bad, or cannot be read or written */
	EXIT_USAGE	= 2,
};

/* The verbs: each parses its own words, argv[0] is its name. Return: exit status. */
int verb_make(int argc, char **argv);
int verb_convert(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_laws(int argc, char **argv);

/**
 * verb_parse - the words of a verb
 * @argp: its parser
 * @argc: number of words
 * @argv: words
 * @input: for the parser
 */
void verb_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Says what is wrong and ends the program. */
void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *fmt, ...);

/* Opens a file to read; "-" is standard input. The program ends if it is not there. */
FILE *file_open(const char *name);

/* What to call it in errors. */
const char *file_name(const char *name);

/**
 * file_write - a file made whole, or not at all
 * @name: NULL or "-" for standard output
 * @write: writes it; returns 0, or -1 with errno set
 * @what: for @write
 *
 * The program ends if it cannot be written.
 */
void file_write(const char *name, int (*write)(const void *what, FILE *f), const void *what);

#endif
