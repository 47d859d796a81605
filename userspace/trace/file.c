// SPDX-License-Identifier: GPL-2.0-only
/*
 * file.c - the files that verbs read and write
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace.h"

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
