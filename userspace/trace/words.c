// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - words to values
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lines.h"
#include "words.h"

/* Suffix of a number and what it multiplies by. */
struct suffix {
	const char *name;
	double factor;
};

static const struct suffix time_suffixes[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	{}
};

static const struct suffix size_suffixes[] = {
	{ "", 1 }, { "b", 1 }, { "k", 1e3 }, { "kb", 1e3 }, { "m", 1e6 }, { "mb", 1e6 },
	{ "g", 1e9 }, { "gb", 1e9 }, { "kib", 1 << 10 }, { "mib", 1 << 20 }, { "gib", 1 << 30 },
	{}
};

static const struct suffix rate_suffixes[] = {
	{ "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 }, { "gbit", 1e9 }, { "tbit", 1e12 },
	{}
};

/* strtod() alone would take "-1", "inf", " 1" and "0x10". */
static int parse_scaled(const char *word, const struct suffix *s, uint64_t *v)
{
	size_t digits = strspn(word, "0123456789.");
	double number;
	char *end;

	if (!isdigit((unsigned char)word[0]))
		return -1;
	number = strtod(word, &end);
	/* not so after "1.2.3", and in "1e3" */
	if (end != word + digits)
		return -1;
	for (; s->name; s++) {
		if (strcasecmp(word + digits, s->name))
			continue;
		number *= s->factor;
		if (number > 1e18)
			return -1;
		*v = (uint64_t)(number + 0.5);
		return number > 0 && !*v ? -1 : 0;
	}
	return -1;
}

int word_size(const char *word, uint64_t *bytes)
{
	return parse_scaled(word, size_suffixes, bytes);
}

int word_time(const char *word, uint64_t *ns)
{
	if (!strcmp(word, "0"))
		return *ns = 0, 0;
	return parse_scaled(word, time_suffixes, ns);
}

int word_rate(const char *word, uint64_t *bit)
{
	return parse_scaled(word, rate_suffixes, bit);
}

int word_share(const char *word, double *share)
{
	size_t digits = strspn(word, "0123456789.");
	char *end;

	if (!isdigit((unsigned char)word[0]) && word[0] != '.')
		return -1;
	*share = strtod(word, &end);
	if (end != word + digits)
		return -1;
	if (!strcmp(end, "%")) {
		*share /= 100;
		end++;
	}
	return *end ? -1 : 0;
}

static int add_range(struct hosts *h, char *word, uint32_t max, char *seen)
{
	char *dash = strchr(word, '-');
	uint64_t first, last;

	if (dash)
		*dash++ = '\0';
	if (word_number(word, max - 1, &first) || word_number(dash ? dash : word, max - 1, &last) ||
	    last < first)
		return -1;
	for (; first <= last; first++) {
		if (seen[first])
			return -1;
		seen[first] = 1;
		h->list[h->count++] = first;
	}
	return 0;
}

int word_hosts(const char *word, uint32_t max, struct hosts *h)
{
	char *copy = strdup(word), *rest = copy, *range, *seen = calloc(max, 1);
	int err = -1;

	h->list = calloc(max, sizeof(*h->list));
	h->count = 0;
	if (copy && seen && h->list)
		for (err = 0; !err && (range = strsep(&rest, "+"));)
			err = add_range(h, range, max, seen);
	free(copy);
	free(seen);
	if (err) {
		free(h->list);
		h->list = NULL;
		h->count = 0;
	}
	return err;
}
