// SPDX-License-Identifier: GPL-2.0-only
/*
 * die.c - says what is wrong, and ends the program
 */
#include <stdarg.h>
#include <stdlib.h>

#include "flowgen.h"

void die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("flowgen: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_ERROR);
}

void die_at(const char *file, unsigned int line, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "flowgen: %s:%u: ", file, line);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(EXIT_ERROR);
}
