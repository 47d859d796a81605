// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - words to options of bfc
 *
 * Words are those of tc: `notag` and `tag`; a switch may also be given as `tag on` and `tag off`.
 * Whether a value is in its range is the kernel's to say, but whatever is no value of
 * the kind at all is refused here.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <linux/types.h>

#include "../../kernel/uapi/bfc.h"
#include "../../kernel/uapi/hopctl.h"
#include "options.h"
#include "sluice.h"

static const struct attr_word assigns[] = {
	{ "dynamic", BFC_ASSIGN_DYNAMIC, NULL },
	{ "stochastic", BFC_ASSIGN_STOCHASTIC, NULL },
	{ "single", BFC_ASSIGN_SINGLE, NULL },
	{}
};

static const struct attr_word reuses[] = {
	{ "sticky", BFC_REUSE_STICKY, NULL },
	{ "empty", BFC_REUSE_EMPTY, NULL },
	{}
};

static const struct attr_word shares[] = {
	{ "random", BFC_SHARE_RANDOM, NULL },
	{ "spare", BFC_SHARE_SPARE, NULL },
	{}
};

static const struct attr_word pauses[] = {
	{ "queue", BFC_PAUSE_QUEUE, NULL },
	{ "ingress", BFC_PAUSE_INGRESS, NULL },
	{}
};

static const struct attr_word roles[] = {
	{ "auto", HOP_ROLE_AUTO, NULL },
	{ "host", HOP_ROLE_HOST, NULL },
	{ "switch", HOP_ROLE_SWITCH, NULL },
	{}
};

static const struct attr_word strips[] = {
	{ "auto", HOP_STRIP_AUTO, "" },
	{ "always", HOP_STRIP_ALWAYS, "" },
	{}
};

static const struct attr_word tiers[] = {
	{ "none", HOP_TIER_NONE, NULL },
	{ "down", HOP_TIER_DOWN, NULL },
	{ "up", HOP_TIER_UP, NULL },
	{}
};

static const struct attr_word tpids[] = {
	{ "0x88a8", 0x88a8, NULL },
	{ "802.1ad", 0x88a8, NULL },
	{ "0x8100", 0x8100, NULL },
	{ "802.1q", 0x8100, NULL },
	{}
};

const struct bfc_option option_table[] = {
	{ "queues", NULL, TCA_BFC_QUEUES, OPTION_COUNT, 2, NULL, NULL },
	{ "classes", NULL, TCA_BFC_CLASSES, OPTION_COUNT, 1, NULL, NULL },
	{ "flows", NULL, TCA_BFC_FLOWS, OPTION_COUNT, 4, "auto", NULL },
	{ "ways", NULL, TCA_BFC_WAYS, OPTION_COUNT, 1, NULL, NULL },
	{ "assign", NULL, TCA_BFC_ASSIGN, OPTION_WORD, 1, NULL, assigns },
	{ "reuse", NULL, TCA_BFC_REUSE, OPTION_WORD, 1, NULL, reuses },
	{ "share", NULL, TCA_BFC_SHARE, OPTION_WORD, 1, NULL, shares },
	{ "limit", NULL, TCA_BFC_LIMIT, OPTION_BYTES, 4, NULL, NULL },
	{ "quantum", NULL, TCA_BFC_QUANTUM, OPTION_BYTES, 4, "auto", NULL },
	{ "split-gso", "no-split-gso", TCA_BFC_SPLIT_GSO, OPTION_BOOL, 1, NULL, NULL },
	{ "pause", "nopause", TCA_BFC_PAUSE, OPTION_BOOL, 1, NULL, pauses },
	{ "rate", NULL, TCA_BFC_RATE, OPTION_RATE, 8, "auto", NULL },
	{ "hrtt", NULL, TCA_BFC_HRTT, OPTION_TIME, 4, "auto", NULL },
	{ "hrtt-max", NULL, TCA_BFC_HRTT_MAX, OPTION_TIME, 4, NULL, NULL },
	{ "th", NULL, TCA_BFC_TH, OPTION_BYTES, 4, "auto", NULL },
	{ "th-scale", NULL, TCA_BFC_TH_SCALE, OPTION_PERCENT, 4, NULL, NULL },
	{ "sticky", NULL, TCA_BFC_STICKY, OPTION_TIME, 4, "auto", NULL },
	{ "role", NULL, TCA_BFC_ROLE, OPTION_WORD, 1, NULL, roles },
	{ "peer", NULL, TCA_BFC_PEER, OPTION_WORD, 1, NULL, roles },
	{ "tag", "notag", TCA_BFC_TAG, OPTION_BOOL, 1, NULL, NULL },
	{ "tpid", NULL, TCA_BFC_TPID, OPTION_WORD, 2, NULL, tpids },
	{ "refresh", NULL, TCA_BFC_REFRESH, OPTION_TIME, 4, "auto", NULL },
	{ "lease", NULL, TCA_BFC_LEASE, OPTION_TIME, 4, "auto", NULL },
	{ "watch", "nowatch", TCA_BFC_WATCH, OPTION_BOOL, 1, NULL, NULL },
	{ "watchdog", NULL, TCA_BFC_WATCHDOG, OPTION_TIME, 4, "auto", NULL },
	{ "restore", NULL, TCA_BFC_RESTORE, OPTION_TIME, 4, "auto", NULL },
	{ "tier", NULL, TCA_BFC_TIER, OPTION_WORD, 1, NULL, tiers },
	{ "pool", NULL, TCA_BFC_POOL, OPTION_BYTES, 4, "none", NULL },
	{ "pool-alpha", NULL, TCA_BFC_POOL_ALPHA, OPTION_SHARE, 4, NULL, NULL },
	{ "pool-pause-alpha", NULL, TCA_BFC_POOL_PAUSE_ALPHA, OPTION_SHARE, 4, NULL, NULL },
	{ "strip", NULL, TCA_BFC_STRIP, OPTION_WORD, 1, NULL, strips },
	{ "control-share", NULL, TCA_BFC_CONTROL_SHARE, OPTION_SHARE, 4, NULL, NULL },
	{ "control-dscp", NULL, TCA_BFC_CONTROL_DSCP, OPTION_COUNT, 1, "none", NULL },
	{}
};

/* Suffix of a number and what it multiplies by. */
struct suffix {
	const char *name;
	double factor;
};

static const struct suffix time_suffixes[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
	{ "nsec", 1 }, { "usec", 1e3 }, { "msec", 1e6 }, { "sec", 1e9 },
	{}
};

static const struct suffix byte_suffixes[] = {
	{ "", 1 }, { "b", 1 }, { "k", 1 << 10 }, { "kb", 1 << 10 }, { "m", 1 << 20 },
	{ "mb", 1 << 20 }, { "g", 1 << 30 }, { "gb", 1 << 30 },
	{}
};

static const struct suffix share_suffixes[] = {
	{ "", 100 }, { "%", 100 },
	{}
};

/* Bytes per second; as with tc a bare number is in bits. */
static const struct suffix rate_suffixes[] = {
	{ "", 1.0 / 8 }, { "bit", 1.0 / 8 }, { "kbit", 1e3 / 8 }, { "mbit", 1e6 / 8 },
	{ "gbit", 1e9 / 8 }, { "tbit", 1e12 / 8 }, { "bps", 1 }, { "kbps", 1e3 },
	{ "mbps", 1e6 }, { "gbps", 1e9 }, { "tbps", 1e12 },
	{}
};

/* strtold() alone would take "-1", "inf", " 1" and "0x10". */
static int parse_scaled(const char *arg, const struct suffix *s, uint64_t *v)
{
	size_t digits = strspn(arg, "0123456789.");
	long double number;
	char *end;

	if (!digits || !isdigit((unsigned char)arg[0]))
		return -1;
	number = strtold(arg, &end);
	if (end != arg + digits)
		return -1;
	for (; s->name; s++) {
		if (strcasecmp(arg + digits, s->name))
			continue;
		number *= s->factor;
		if (number > 1e18L)
			return -1;
		*v = (uint64_t)(number + 0.5L);
		/* a number that is nothing but too small is no wish for auto */
		return number > 0 && !*v ? -1 : 0;
	}
	return -1;
}

static int parse_count(const char *arg, const char *suffix, uint64_t *v)
{
	size_t digits = strspn(arg, "0123456789");

	if (!digits || digits > 18 || (arg[digits] && strcmp(arg + digits, suffix)))
		return -1;
	*v = strtoull(arg, NULL, 10);
	return 0;
}

static int parse_time(const char *arg, uint64_t *v)
{
	/* tc's plugin refuses a bare number too: tc itself reads it as microseconds */
	if (!strcmp(arg, "0"))
		return *v = 0, 0;
	return parse_scaled(arg, time_suffixes, v);
}

static int parse_word(const struct attr_word *w, const char *arg, uint64_t *v)
{
	for (; w->name; w++) {
		if (strcmp(arg, w->name))
			continue;
		*v = w->value;
		return 0;
	}
	return -1;
}

static int parse_value(const struct bfc_option *o, const char *arg, uint64_t *v)
{
	*v = 0;
	if (o->zero && !strcmp(arg, o->zero))
		return 0;
	switch (o->kind) {
	case OPTION_COUNT:
		return parse_count(arg, "", v);
	case OPTION_PERCENT:
		return parse_count(arg, "%", v);
	case OPTION_SHARE:
		return parse_scaled(arg, share_suffixes, v);
	case OPTION_BYTES:
		return parse_scaled(arg, byte_suffixes, v);
	case OPTION_TIME:
		return parse_time(arg, v);
	case OPTION_RATE:
		return parse_scaled(arg, rate_suffixes, v);
	case OPTION_WORD:
		return parse_word(o->words, arg, v);
	default:
		return -1;
	}
}

static void rule(const struct bfc_option *o, char *buf, size_t size)
{
	static const char * const kinds[] = {
		[OPTION_COUNT] = "a number", [OPTION_PERCENT] = "a percentage",
		[OPTION_SHARE] = "a percentage",
		[OPTION_BYTES] = "a size such as 64k",
		[OPTION_TIME] = "a time with its unit (ns, us, ms, s)",
		[OPTION_RATE] = "a rate such as 10gbit",
		[OPTION_BOOL] = "on or off", [OPTION_WORD] = "one of",
	};
	int n = snprintf(buf, size, "%s", kinds[o->kind]);

	if (o->kind == OPTION_WORD)
		for (const struct attr_word *w = o->words; w->name; w++)
			n += snprintf(buf + n, size - n, "%s %s", w == o->words ? "" : ",", w->name);
	if (o->zero)
		snprintf(buf + n, size - n, ", or %s", o->zero);
}

/* A switch: its words stand alone, or the positive one before on or off, or before how. */
static int parse_bool(struct setting *s, int argc, char **argv)
{
	s->value = !strcmp(argv[0], s->option->name);
	if (!s->value || argc < 2)
		return 1;
	if (!strcmp(argv[1], "on") || !strcmp(argv[1], "yes"))
		return 2;
	if (!strcmp(argv[1], "off") || !strcmp(argv[1], "no")) {
		s->value = 0;
		return 2;
	}
	return s->option->words && !parse_word(s->option->words, argv[1], &s->value) ? 2 : 1;
}

static int unknown(const char *word, char *error)
{
	int n = snprintf(error, OPTION_ERROR_MAX, "there is no option \"%.64s\"; there are:", word);

	for (const struct bfc_option *o = option_table; o->name && n < OPTION_ERROR_MAX; o++)
		n += snprintf(error + n, OPTION_ERROR_MAX - n, " %s", o->name);
	return -1;
}

int option_parse(struct setting *s, int argc, char **argv, char *error)
{
	const struct bfc_option *o = option_table;
	char values[OPTION_ERROR_MAX / 2];

	while (o->name && strcmp(argv[0], o->name) && (!o->no || strcmp(argv[0], o->no)))
		o++;
	if (!o->name)
		return unknown(argv[0], error);
	s->option = o;
	if (o->kind == OPTION_BOOL)
		return parse_bool(s, argc, argv);
	rule(o, values, sizeof(values));
	if (argc < 2) {
		snprintf(error, OPTION_ERROR_MAX, "\"%s\" takes %s, and nothing follows it",
			 o->name, values);
		return -1;
	}
	if (parse_value(o, argv[1], &s->value)) {
		snprintf(error, OPTION_ERROR_MAX, "\"%s\" takes %s, not \"%.64s\"", o->name, values,
			 argv[1]);
		return -1;
	}
	if (o->size < 8 && s->value >> (8 * o->size)) {
		snprintf(error, OPTION_ERROR_MAX, "\"%s\": %.64s is too much", o->name, argv[1]);
		return -1;
	}
	return 2;
}
