/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_file: flows of a trace, and the file that they are kept in.
 *
 *	# sluice-trace 1
 *	# KEY VALUE				what it was made from; any number of comments
 *	START_NS SRC DST BYTES [CLASS [LABEL]]	sorted by START_NS
 *
 * Needs lines.c and nothing else.
 */
#ifndef _TRACE_FILE_H
#define _TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lines.h"

#define TRACE_VERSION	1
#define TRACE_HOSTS_MAX	65536
#define TRACE_START_MAX	(UINT64_C(1) << 62)	/* ns */
#define TRACE_BYTES_MAX	(UINT64_C(1) << 48)
#define TRACE_CLASS_MAX	7
#define TRACE_LABEL_MAX	15

/**
 * struct trace_flow - one flow
 * @start_ns: when it begins, since the start of the run
 * @bytes: payload, at least 1
 * @src: host that sends, from 0
 * @dst: host that receives
 * @class: priority of its packets, 0 to 7
 * @label: a word, "-" if it has none
 */
struct trace_flow {
	uint64_t start_ns;
	uint64_t bytes;
	uint32_t src;
	uint32_t dst;
	uint8_t class;
	char label[TRACE_LABEL_MAX + 1];
};

/**
 * struct trace - flows, in the order of their numbers
 * @flows: the flows
 * @count: how many
 * @notes: the comments without "# ", but not the first
 * @n_notes: how many
 */
struct trace {
	struct trace_flow *flows;
	size_t count;
	char **notes;
	size_t n_notes;
	size_t room;
	size_t notes_room;
};

/**
 * trace_read - a trace from a file
 * @t: empty; holds the flows afterwards
 * @f: where from
 * @name: of the file, for errors
 * @error: TRACE_ERROR_MAX bytes for FILE:LINE: REASON
 *
 * Return: 0, or -1 with @error set and @t as far as it was read.
 */
int trace_read(struct trace *t, FILE *f, const char *name, char *error);

/* Writes @t. Return: 0, or -1 with errno set. */
int trace_write(const struct trace *t, FILE *f);

void trace_free(struct trace *t);

/* Appends a flow; no label if @label is NULL. Return: 0, or -1 without memory. */
int trace_add(struct trace *t, uint64_t start_ns, uint32_t src, uint32_t dst, uint64_t bytes,
	      unsigned int class, const char *label);

/* Appends a comment. Return: 0, or -1 without memory. */
int __attribute__((format(printf, 2, 3)))
trace_note(struct trace *t, const char *fmt, ...);

/**
 * trace_noted - what a comment says
 * @t: trace
 * @key: first word of the comment
 *
 * Return: what follows the key, or NULL.
 */
const char *trace_noted(const struct trace *t, const char *key);

/* Sorts by start; flows that start at once keep their order. Return: 0, or -1 without memory. */
int trace_sort(struct trace *t);

/* Whether @word can be a label. */
bool trace_label_valid(const char *word);

#endif
