/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lines: a text file line by line, with errors that say where they are.
 */
#ifndef _TRACE_LINES_H
#define _TRACE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TRACE_ERROR_MAX	512

/**
 * struct lines - a file that is read
 * @f: where from
 * @name: its name for errors
 * @error: TRACE_ERROR_MAX bytes for what is wrong with it
 * @number: of the line in @text, from 1
 * @text: that line, without its end
 * @length: of @text
 * @ended: the line had an end
 */
struct lines {
	FILE *f;
	const char *name;
	char *error;
	unsigned long number;
	char *text;
	size_t length;
	bool ended;
	size_t room;
};

/**
 * lines_next - the next line
 * @l: file
 *
 * Return: 1, 0 at the end, -1 with @error set if this is no text or cannot be read.
 */
int lines_next(struct lines *l);

/**
 * lines_refuse - says what is wrong with the current line
 * @l: file
 * @fmt: the reason; FILE:LINE: is put before it
 *
 * Return: -1.
 */
int __attribute__((format(printf, 2, 3)))
lines_refuse(struct lines *l, const char *fmt, ...);

/* Memory of @l; the file stays open. */
void lines_free(struct lines *l);

/**
 * lines_split - words of a text that blanks separate
 * @text: is cut into pieces
 * @words: room for the words
 * @max: how many fit
 *
 * Return: number of words; @max + 1 if there are more.
 */
int lines_split(char *text, char **words, int max);

/**
 * word_number - a number of digits only
 * @word: all of it
 * @max: the largest that is taken
 * @v: its value
 *
 * Return: 0, or -1 if it is no such number.
 */
int word_number(const char *word, uint64_t max, uint64_t *v);

#endif
