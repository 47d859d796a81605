/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace: what the verbs of sluice-trace share.
 *
 * main.c has the list of verbs and calls their files, which call file.c.
 */
#ifndef _TRACE_H
#define _TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "../common/verbs.h"
#include "trace_file.h"

/* The verbs: each parses its own words, argv[0] is its name. Return: exit status. */
int verb_make(int argc, char **argv);
int verb_convert(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_stat(int argc, char **argv);
int verb_laws(int argc, char **argv);

/* file.c: opens a file to read; "-" is standard input. The program ends if it is not there. */
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
