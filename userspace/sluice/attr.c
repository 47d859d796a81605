// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.c - values of attributes as text and as JSON
 *
 * Text is exact: two readings can be subtracted, and what is printed can be typed in again.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/uapi/hopctl.h"
#include "attr.h"

struct unit {
	uint64_t one;
	const char *name;
};

/* In decimal, in the largest unit that leaves something before the point. */
static const char *decimal(char *buf, const struct unit *unit, uint64_t v)
{
	int n;

	while (v < unit->one && unit->one > 1)
		unit++;
	n = snprintf(buf, ATTR_TEXT_MAX, "%" PRIu64, v / unit->one);
	v %= unit->one;
	if (v) {
		buf[n++] = '.';
		for (uint64_t digit = unit->one / 10; v; v %= digit, digit /= 10)
			buf[n++] = '0' + v / digit;
	}
	snprintf(buf + n, ATTR_TEXT_MAX - n, "%s", unit->name);
	return buf;
}

const char *text_time(char *buf, uint64_t ns)
{
	static const struct unit units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};

	return decimal(buf, units, ns);
}

const char *text_rate(char *buf, uint64_t bytes_per_s)
{
	static const struct unit units[] = {
		{ 1000000000000, "Tbit" }, { 1000000000, "Gbit" }, { 1000000, "Mbit" },
		{ 1000, "Kbit" }, { 1, "bit" },
	};

	if (bytes_per_s <= UINT64_MAX / 8)
		return decimal(buf, units, bytes_per_s * 8);
	snprintf(buf, ATTR_TEXT_MAX, "%" PRIu64 "bps", bytes_per_s);
	return buf;
}

const char *text_bytes(char *buf, uint64_t bytes)
{
	static const struct unit units[] = {
		{ 1 << 30, "Gb" }, { 1 << 20, "Mb" }, { 1 << 10, "Kb" }, { 1, "b" },
	};
	const struct unit *unit = units;

	while (unit->one > 1 && (bytes < unit->one || bytes % unit->one))
		unit++;
	snprintf(buf, ATTR_TEXT_MAX, "%" PRIu64 "%s", bytes / unit->one, unit->name);
	return buf;
}

const struct attr *attr_find(const struct attr *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

uint64_t attr_number(const struct attr_value *v)
{
	uint64_t v64 = 0;
	uint32_t v32;
	uint16_t v16;

	if (!v->data)
		return 0;
	switch (v->len) {
	case 1:
		return *(const uint8_t *)v->data;
	case 2:
		memcpy(&v16, v->data, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, v->data, sizeof(v32));
		return v32;
	case 8:
		memcpy(&v64, v->data, sizeof(v64));
		return v64;
	}
	return 0;
}

const char *attr_word_name(const struct attr_word *words, uint64_t value)
{
	for (; words->name; words++)
		if (words->value == value)
			return words->name;
	return NULL;
}

bool attr_is_counter(const struct attr *a)
{
	static const char * const counted[] = {
		"frames", "contents", "times", "packets", "counters",
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(*counted); i++)
		if (!strcmp(a->unit, counted[i]))
			return true;
	return false;
}

/* Bits are passed to @each in ascending order. */
static void bitmap_each(const struct attr_value *v, void (*each)(void *ctx, unsigned int bit),
			void *ctx)
{
	uint64_t word;

	for (size_t w = 0; w < v->len / sizeof(word); w++) {
		memcpy(&word, (const char *)v->data + w * sizeof(word), sizeof(word));
		for (; word; word &= word - 1)
			each(ctx, w * 64 + __builtin_ctzll(word));
	}
}

static void bit_json(void *array, unsigned int bit)
{
	json_array_append_new(array, json_integer(bit));
}

static json_t *flags_json(const struct attr_word *words, uint64_t value)
{
	json_t *array = json_array();

	for (; words->name; words++)
		if (value & words->value)
			json_array_append_new(array, json_string(words->name));
	return array;
}

static void mac_text(char *buf, const struct attr_value *v)
{
	const uint8_t *mac = v->data;

	buf[0] = '\0';
	if (v->len >= 6)
		snprintf(buf, ATTR_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x",
			 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static json_t *root_json(const struct hop_held_by *by)
{
	return json_pack("{s:i, s:i, s:i, s:b, s:b, s:I}", "queue", by->queue, "root", by->root,
			 "hops", by->hops, "more", by->flags & HOP_HELD_MORE,
			 "quiet", by->flags & HOP_HELD_QUIET, "quiet_ns",
			 (json_int_t)by->quiet_ns);
}

/* Each is passed to @each in turn. */
static void roots_each(const struct attr_value *v,
		       void (*each)(void *ctx, const struct hop_held_by *by), void *ctx)
{
	struct hop_held_by by;

	for (size_t i = 0; i < v->len / sizeof(by); i++) {
		memcpy(&by, (const char *)v->data + i * sizeof(by), sizeof(by));
		each(ctx, &by);
	}
}

static void add_root(void *array, const struct hop_held_by *by)
{
	json_array_append_new(array, root_json(by));
}

json_t *attr_json(const struct attr *a, const struct attr_value *v)
{
	const char *word;
	char buf[ATTR_TEXT_MAX];
	json_t *array;

	switch (a->kind) {
	case ATTR_BOOL:
		return json_boolean(attr_number(v));
	case ATTR_WORD:
		word = attr_word_name(a->words, attr_number(v));
		if (word)
			return json_string(word);
		/* tc's plugin shows the number of what it does not know as a string */
		snprintf(buf, sizeof(buf), "%" PRIu64, attr_number(v));
		return json_string(buf);
	case ATTR_FLAGS:
		return flags_json(a->words, attr_number(v));
	case ATTR_STRING:
		return json_stringn(v->data, strnlen(v->data, v->len));
	case ATTR_MAC:
		mac_text(buf, v);
		return json_string(buf);
	case ATTR_BITMAP:
		array = json_array();
		bitmap_each(v, bit_json, array);
		return array;
	case ATTR_ROOTS:
		array = json_array();
		roots_each(v, add_root, array);
		return array;
	default:
		return json_integer(attr_number(v));
	}
}

/**
 * struct ranges - bits as text while they come in
 * @f: where the text goes
 * @first: begin of the run, UINT_MAX before the first bit
 * @last: its end so far
 * @some: a run has been printed
 */
struct ranges {
	FILE *f;
	unsigned int first;
	unsigned int last;
	bool some;
};

static void ranges_end(struct ranges *r)
{
	if (r->first == UINT32_MAX)
		return;
	fprintf(r->f, "%s%u", r->some ? "," : "", r->first);
	if (r->last > r->first)
		fprintf(r->f, "%s%u", r->last == r->first + 1 ? "," : "-", r->last);
	r->some = true;
}

static void bit_text(void *ctx, unsigned int bit)
{
	struct ranges *r = ctx;

	if (r->first != UINT32_MAX && bit == r->last + 1) {
		r->last = bit;
		return;
	}
	ranges_end(r);
	r->first = bit;
	r->last = bit;
}

static char *bitmap_text(const struct attr_value *v)
{
	struct ranges r = { .first = UINT32_MAX };
	char *text = NULL;
	size_t size;

	r.f = open_memstream(&text, &size);
	if (!r.f)
		return NULL;
	bitmap_each(v, bit_text, &r);
	ranges_end(&r);
	if (!r.some)
		fputs("none", r.f);
	fclose(r.f);
	return text;
}

/* 5:41235/3 is sub-queue 5, root 41235, 3 hops away; with a + there are others. */
static void root_text(void *f, const struct hop_held_by *by)
{
	fprintf(f, "%s%u:%u/%u%s", ftell(f) ? " " : "", by->queue, by->root, by->hops,
		by->flags & HOP_HELD_MORE ? "+" : "");
}

static char *holds_text(const struct attr_value *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	roots_each(v, root_text, f);
	fclose(f);
	return text;
}

static char *flags_text(const struct attr_word *words, uint64_t value)
{
	char *text = NULL;
	bool some = false;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (; words->name; words++) {
		if (!(value & words->value))
			continue;
		fprintf(f, "%s%s", some ? "," : "", words->name);
		some = true;
		value &= ~words->value;
	}
	if (value)
		fprintf(f, "%s%#" PRIx64, some ? "," : "", value);
	fclose(f);
	return text;
}

static bool unit_is(const struct attr *a, const char *unit)
{
	size_t n = strlen(unit);

	return !strncmp(a->unit, unit, n) && (!a->unit[n] || a->unit[n] == ',');
}

static const char *number_text(char *buf, const struct attr *a, uint64_t v)
{
	if (unit_is(a, "ns"))
		return text_time(buf, v);
	if (unit_is(a, "bytes/s"))
		return text_rate(buf, v);
	if (unit_is(a, "bytes"))
		return text_bytes(buf, v);
	snprintf(buf, ATTR_TEXT_MAX, "%" PRIu64, v);
	return buf;
}

char *attr_text(const struct attr *a, const struct attr_value *v)
{
	const char *word = NULL;
	char buf[ATTR_TEXT_MAX];

	switch (a->kind) {
	case ATTR_BITMAP:
		return bitmap_text(v);
	case ATTR_ROOTS:
		return holds_text(v);
	case ATTR_FLAGS:
		return flags_text(a->words, attr_number(v));
	case ATTR_STRING:
		return strndup(v->data, v->len);
	case ATTR_MAC:
		mac_text(buf, v);
		return strdup(buf);
	case ATTR_BOOL:
		return strdup(attr_number(v) ? "yes" : "no");
	case ATTR_WORD:
		word = attr_word_name(a->words, attr_number(v));
		break;
	default:
		break;
	}
	return strdup(word ?: number_text(buf, a, attr_number(v)));
}
