// SPDX-License-Identifier: GPL-2.0-only
/*
 * law.c - laws of sizes: their files, their means, what they draw
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "law.h"
#include "words.h"

#define LAW_BYTES_MAX	1e15
#define LAW_POINTS_MAX	1000000

static int add(struct law *law, double bytes, double fraction)
{
	size_t room = law->room ? 2 * law->room : 64;
	double *b, *f;

	if (law->count == law->room) {
		b = reallocarray(law->bytes, room, sizeof(*b));
		if (!b)
			return -1;
		law->bytes = b;
		f = reallocarray(law->fraction, room, sizeof(*f));
		if (!f)
			return -1;
		law->fraction = f;
		law->room = room;
	}
	law->bytes[law->count] = bytes;
	law->fraction[law->count++] = fraction;
	return 0;
}

/* strtod() alone would take "-1", "inf", and "0x10". */
static int word_real(const char *word, double *v)
{
	size_t n = strspn(word, "0123456789.eE+-");
	char *end;

	if (!strchr("0123456789.", word[0]) || word[n])
		return -1;
	*v = strtod(word, &end);
	return *end || end == word ? -1 : 0;
}

static int read_point(struct lines *l, struct law *law)
{
	double bytes, fraction;
	char *words[2];

	if (lines_split(l->text, words, 2) != 2 || word_real(words[0], &bytes) ||
	    word_real(words[1], &fraction))
		return lines_refuse(l, "a point of a law is BYTES FRACTION");
	if (bytes > LAW_BYTES_MAX)
		return lines_refuse(l, "a size above %g is too much", LAW_BYTES_MAX);
	if (fraction > 1)
		return lines_refuse(l, "fractions go from 0 to 1");
	if (!law->count && fraction != 0)
		return lines_refuse(l, "the first fraction is not 0");
	if (law->count && bytes < law->bytes[law->count - 1])
		return lines_refuse(l, "the size is below that of the point before");
	if (law->count && fraction < law->fraction[law->count - 1])
		return lines_refuse(l, "the fraction is below that of the point before");
	if (law->count == LAW_POINTS_MAX)
		return lines_refuse(l, "more than %d points", LAW_POINTS_MAX);
	if (add(law, bytes, fraction))
		return lines_refuse(l, "out of memory");
	return 0;
}

int law_read(struct law *law, FILE *f, const char *name, char *error)
{
	struct lines l = { .f = f, .name = name, .error = error };
	int err = 0, n;

	while (!err && (n = lines_next(&l)))
		if (n < 0)
			err = n;
		else if (l.text[0] && l.text[0] != '#')
			err = read_point(&l, law);
	if (!err && !law->count)
		err = lines_refuse(&l, "there is no point in it");
	else if (!err && law->fraction[law->count - 1] != 1)
		err = lines_refuse(&l, "the last fraction is not 1");
	else if (!err && law->bytes[law->count - 1] < 0.5)
		err = lines_refuse(&l, "there is no size in it but 0");
	lines_free(&l);
	return err;
}

static int find_file(struct law *law, const char *name, char *error)
{
	FILE *f = fopen(name, "re");
	int err;

	if (!f) {
		snprintf(error, TRACE_ERROR_MAX, "%.255s: %s", name, strerror(errno));
		return -1;
	}
	err = law_read(law, f, name, error);
	fclose(f);
	return err;
}

static int find_text(struct law *law, const struct law_text *t, char *error)
{
	FILE *f = fmemopen((void *)t->text, strlen(t->text), "r");
	int err = -1;

	if (f) {
		err = law_read(law, f, t->name, error);
		fclose(f);
	} else {
		snprintf(error, TRACE_ERROR_MAX, "%s", strerror(errno));
	}
	return err;
}

/* fixed:BYTES and uniform:BYTES:BYTES */
static int find_words(struct law *law, const char *name, char *error)
{
	const char *from = strchr(name, ':') + 1, *to = strchr(from, ':');
	uint64_t least, most;
	char first[32];

	if (!strncmp(name, "fixed:", 6) && !word_size(from, &least) && least)
		return add(law, least, 0) || add(law, least, 1);
	if (!strncmp(name, "uniform:", 8) && to && to - from < (long)sizeof(first)) {
		memcpy(first, from, to - from);
		first[to - from] = '\0';
		if (!word_size(first, &least) && !word_size(to + 1, &most) && least &&
		    least <= most)
			return add(law, least, 0) || add(law, most, 1);
	}
	snprintf(error, TRACE_ERROR_MAX, "\"%.64s\" is not fixed:BYTES or uniform:BYTES:BYTES",
		 name);
	return -1;
}

static int unknown(const char *name, char *error)
{
	int n = snprintf(error, TRACE_ERROR_MAX, "there is no law \"%.64s\"; there are:", name);

	for (const struct law_text *t = law_texts; t->name && n < TRACE_ERROR_MAX; t++)
		n += snprintf(error + n, TRACE_ERROR_MAX - n, " %s", t->name);
	return -1;
}

int law_find(struct law *law, const char *name, char *error)
{
	const struct law_text *t = law_texts;

	snprintf(law->name, sizeof(law->name), "%s", name);
	if (!strncmp(name, "fixed:", 6) || !strncmp(name, "uniform:", 8))
		return find_words(law, name, error);
	if (strpbrk(name, "/."))
		return find_file(law, name, error);
	while (t->name && strcmp(t->name, name))
		t++;
	return t->name ? find_text(law, t, error) : unknown(name, error);
}

void law_free(struct law *law)
{
	free(law->bytes);
	free(law->fraction);
	memset(law, 0, sizeof(*law));
}

double law_quantile(const struct law *law, double u)
{
	size_t low = 0, high = law->count - 1, middle;
	double width;

	if (u <= 0)
		return law->bytes[0];
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (law->fraction[middle] < u)
			low = middle;
		else
			high = middle;
	}
	width = law->fraction[high] - law->fraction[low];
	if (!(width > 0))
		return law->bytes[high];
	return law->bytes[low] +
	       (law->bytes[high] - law->bytes[low]) * ((u - law->fraction[low]) / width);
}

uint64_t law_size(const struct law *law, double u)
{
	double bytes = law_quantile(law, u);

	return bytes < 1 ? 1 : (uint64_t)(bytes + 0.5);
}

uint64_t frame_bytes(const struct frame *frame, uint64_t bytes)
{
	uint64_t packets = (bytes - 1) / frame->payload;	/* before the last */
	uint64_t full = (uint64_t)frame->payload + frame->header;
	uint64_t last = bytes - packets * frame->payload + frame->header;

	if (full < frame->least)
		full = frame->least;
	return packets * full + (last < frame->least ? frame->least : last);
}

/* Sum of frame_bytes() of 1 to @n: all full packets, all last ones, and what fills these up. */
static double frame_sum(const struct frame *frame, double n)
{
	double payload = frame->payload, rows = floor(n / payload), rest = n - rows * payload;
	double full = payload + frame->header, before, last, short_by, some, pad;

	if (full < frame->least)
		full = frame->least;
	before = payload * rows * (rows - 1) / 2 + rest * rows;
	last = rows * payload * (payload + 1) / 2 + rest * (rest + 1) / 2 + n * frame->header;
	short_by = (double)frame->least - frame->header - 1;	/* what 1 byte of payload lacks */
	if (short_by < 0)
		short_by = 0;
	some = short_by < payload ? short_by : payload;
	pad = rows * (some * (short_by + 1) - some * (some + 1) / 2);
	if (some > rest)
		some = rest;
	pad += some * (short_by + 1) - some * (some + 1) / 2;
	return before * full + last + pad;
}

/* Integral from 0 to @x of the bytes on the line of what rounds to a size. */
static double frame_integral(const struct frame *frame, double x)
{
	double k = floor(x + 0.5);

	if (k < 1)
		return x * frame_bytes(frame, 1);
	return 0.5 * frame_bytes(frame, 1) + frame_sum(frame, k - 1) +
	       (x - (k - 0.5)) * frame_bytes(frame, (uint64_t)k);
}

double law_mean_on_line(const struct law *law, const struct frame *frame)
{
	double mean = 0, low, high, share;

	for (size_t i = 1; i < law->count; i++) {
		low = law->bytes[i - 1];
		high = law->bytes[i];
		share = law->fraction[i] - law->fraction[i - 1];
		if (high - low < 1e-6)
			mean += share * frame_bytes(frame, high < 1 ? 1 : (uint64_t)(high + 0.5));
		else
			mean += share * (frame_integral(frame, high) - frame_integral(frame, low)) /
				(high - low);
	}
	return mean;
}

double law_mean(const struct law *law)
{
	static const struct frame bare = { .payload = 1 };

	return law_mean_on_line(law, &bare);
}

/* FNV-1a over the points' numbers as text, which does not depend on how a double is kept. */
uint64_t law_digest(const struct law *law)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	char text[80];

	for (size_t i = 0; i < law->count; i++) {
		snprintf(text, sizeof(text), "%.17g %.17g\n", law->bytes[i], law->fraction[i]);
		for (char *c = text; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3ULL;
	}
	return hash;
}
