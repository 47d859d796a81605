// SPDX-License-Identifier: GPL-2.0-only
/*
 * tc.c - what plugins of tc call, see tc.h
 *
 * Numbers are read by the units of tc(8), a double each, and rounded down, as tc does.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sluice.h"
#include "tc.h"

#define TC_JSON_DEPTH	8

/* Messages. */

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen)
{
	struct rtattr *attr = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
	unsigned int len = NLMSG_ALIGN(n->nlmsg_len) + RTA_ALIGN(RTA_LENGTH(alen));

	if (len > (unsigned int)maxlen)
		return -1;
	memset(attr, 0, RTA_ALIGN(RTA_LENGTH(alen)));
	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(alen);
	if (alen)
		memcpy(RTA_DATA(attr), data, alen);
	n->nlmsg_len = len;
	return 0;
}

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type)
{
	struct rtattr *nest = (void *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));

	if (addattr_l(n, maxlen, type, NULL, 0))
		die(EXIT_TROUBLE, "these are too many options");
	return nest;
}

int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	nest->rta_len = (char *)n + n->nlmsg_len - (char *)nest;
	return n->nlmsg_len;
}

/* Numbers with a unit. */

struct unit {
	const char *name;
	double factor;
};

/* Return: 0 or -1. */
static int scaled(const char *str, const struct unit *u, double most, double *v)
{
	char *unit;

	*v = strtod(str, &unit);
	if (unit == str)
		return -1;
	while (u->name && strcasecmp(unit, u->name))
		u++;
	if (!u->name)
		return -1;
	*v = floor(*v * u->factor);
	return *v >= 0 && *v < most ? 0 : -1;
}

int get_size(unsigned int *size, const char *str)
{
	static const struct unit units[] = {
		{ "", 1 }, { "b", 1 }, { "k", 1 << 10 }, { "kb", 1 << 10 }, { "m", 1 << 20 },
		{ "mb", 1 << 20 }, { "g", 1 << 30 }, { "gb", 1 << 30 }, { "kbit", 1 << 7 },
		{ "mbit", 1 << 17 }, { "gbit", 1 << 27 },
		{}
	};
	double v;

	if (scaled(str, units, 0x1p32, &v))
		return -1;
	*size = v;
	return 0;
}

int get_rate64(__u64 *rate, const char *str)
{
	static const struct unit units[] = {
		{ "", 1. / 8 }, { "bit", 1. / 8 }, { "kbit", 1e3 / 8 }, { "mbit", 1e6 / 8 },
		{ "gbit", 1e9 / 8 }, { "tbit", 1e12 / 8 }, { "kibit", 0x1p7 }, { "mibit", 0x1p17 },
		{ "gibit", 0x1p27 }, { "tibit", 0x1p37 }, { "bps", 1 }, { "kbps", 1e3 },
		{ "mbps", 1e6 }, { "gbps", 1e9 }, { "tbps", 1e12 }, { "kibps", 0x1p10 },
		{ "mibps", 0x1p20 }, { "gibps", 0x1p30 }, { "tibps", 0x1p40 },
		{}
	};
	double v;

	if (scaled(str, units, 0x1p64, &v))
		return -1;
	*rate = v;
	return 0;
}

/* Output. */

static json_t *opened[TC_JSON_DEPTH];	/* borrowed; the first is that of tc_json() */
static int depth;

void tc_json(json_t *object)
{
	opened[0] = object;
	depth = object ? 1 : 0;
}

/* Without a key into an array */
static void put(const char *key, json_t *value)
{
	if (key)
		json_object_set_new(opened[depth - 1], key, value);
	else
		json_array_append_new(opened[depth - 1], value);
}

static void open_json(const char *key, json_t *value)
{
	put(key, value);
	if (depth == TC_JSON_DEPTH)
		abort();
	opened[depth++] = value;
}

bool is_json_context(void)
{
	return depth;
}

void print_nl(void)
{
	putchar('\n');
}

void open_json_object(const char *key)
{
	open_json(key, json_object());
}

void close_json_object(void)
{
	depth--;
}

void open_json_array(enum output_type type, const char *key)
{
	(void)type;
	open_json(key, json_array());
}

void close_json_array(enum output_type type, const char *delim)
{
	(void)type;
	(void)delim;
	depth--;
}

int print_color_u64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value)
{
	(void)type;
	(void)color;
	(void)fmt;
	put(key, json_integer(value));
	return 0;
}

int print_color_s64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, int64_t value)
{
	(void)type;
	(void)color;
	(void)fmt;
	put(key, json_integer(value));
	return 0;
}

int print_color_float(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, double value)
{
	(void)type;
	(void)color;
	(void)fmt;
	put(key, json_real(value));
	return 0;
}

int print_color_bool(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, bool value)
{
	(void)type;
	(void)color;
	(void)fmt;
	put(key, json_boolean(value));
	return 0;
}

int print_color_string(enum output_type type, enum color_attr color, const char *key,
		       const char *fmt, const char *value)
{
	(void)type;
	(void)color;
	(void)fmt;
	put(key, json_string(value));
	return 0;
}
