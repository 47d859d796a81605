// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines.c - a text file line by line
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

int lines_refuse(struct lines *l, const char *fmt, ...)
{
	int n = snprintf(l->error, TRACE_ERROR_MAX, "%.255s:%lu: ", l->name, l->number);
	va_list args;

	va_start(args, fmt);
	vsnprintf(l->error + n, TRACE_ERROR_MAX - n, fmt, args);
	va_end(args);
	return -1;
}

int lines_next(struct lines *l)
{
	ssize_t n;

	errno = 0;
	n = getline(&l->text, &l->room, l->f);
	l->number++;
	if (n < 0 && (ferror(l->f) || errno))
		return lines_refuse(l, "%s", strerror(errno ? errno : EIO));
	if (n < 0)
		return 0;
	l->ended = n && l->text[n - 1] == '\n';
	if (l->ended)
		l->text[--n] = '\0';
	l->length = n;
	if (strlen(l->text) != l->length)
		return lines_refuse(l, "this is no text");
	return 1;
}

void lines_free(struct lines *l)
{
	free(l->text);
	l->text = NULL;
	l->room = 0;
}

int lines_split(char *text, char **words, int max)
{
	char *place = NULL, *word = strtok_r(text, " \t", &place);
	int n = 0;

	for (; word; word = strtok_r(NULL, " \t", &place)) {
		if (n == max)
			return max + 1;
		words[n++] = word;
	}
	return n;
}

int word_number(const char *word, uint64_t max, uint64_t *v)
{
	uint64_t digit;

	if (!*word)
		return -1;
	for (*v = 0; *word; word++) {
		digit = (unsigned char)*word - '0';
		if (digit > 9 || digit > max || *v > (max - digit) / 10)
			return -1;
		*v = *v * 10 + digit;
	}
	return 0;
}
