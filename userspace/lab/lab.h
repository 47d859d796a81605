/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lab: what the tools of the lab share: the clock, entering a network namespace, giving up.
 *
 * All times are ns of CLOCK_MONOTONIC: it is one clock for all network namespaces of a kernel,
 * so that programs in different namespaces can agree on an instant to start at.
 */
#ifndef _SLUICE_LAB_H
#define _SLUICE_LAB_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LAB_NSEC_PER_SEC	1000000000ULL
#define LAB_EXIT_TROUBLE	1
#define LAB_EXIT_USAGE		2

static const char *lab_progname = "lab";

/* Says what is wrong, with errno's text if @err is not 0, and ends the program. */
static void __attribute__((noreturn, format(printf, 2, 3)))
lab_die(int err, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", lab_progname);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "%s%s\n", err ? ": " : "", err ? strerror(err) : "");
	exit(LAB_EXIT_TROUBLE);
}

static inline uint64_t lab_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * LAB_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Sockets opened from here on belong to the namespace that `ip netns` calls @name. */
static inline void lab_netns_enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		lab_die(errno, "no network namespace %s (%s)", name, path);
	if (setns(fd, CLONE_NEWNET) < 0)
		lab_die(errno, "cannot enter network namespace %s", name);
	close(fd);
}

/**
 * struct lab_lines - a file that is read line by line
 * @name: of the file
 * @f: the file
 * @text: the line
 * @size: of @text
 * @number: of the line, from 1
 */
struct lab_lines {
	const char *name;
	FILE *f;
	char *text;
	size_t size;
	unsigned int number;
};

static inline struct lab_lines lab_lines_open(const char *name)
{
	struct lab_lines lines = { .name = name, .f = fopen(name, "re") };

	if (!lines.f)
		lab_die(errno, "%s", name);
	return lines;
}

/* The next line, however long; or NULL at the end, when the file is closed. */
static inline char *lab_lines_next(struct lab_lines *lines)
{
	if (getline(&lines->text, &lines->size, lines->f) >= 0) {
		lines->number++;
		return lines->text;
	}
	if (!feof(lines->f))
		lab_die(errno, "%s", lines->name);
	fclose(lines->f);
	free(lines->text);
	return NULL;
}

static inline void *lab_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		lab_die(ENOMEM, "%zu x %zu bytes", n, size);
	return p;
}

#endif
