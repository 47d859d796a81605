// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_ideal - the kind ideal for tc: its options and its statistics
 *
 * Names and units are as in q_bfc.c: JSON has plain numbers in bytes and nanoseconds, where a
 * limit of 0 is none; what is printed as text can be typed in again.
 */
#include <ctype.h>
#include <string.h>

#include "plugin.h"
#include "../kernel/uapi/ideal.h"

#define IDEAL_MESSAGE_MAX	16384	/* bytes of tc's request buffer in every version served */
#define IDEAL_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char * const ideal_orders[] = {
	[IDEAL_ORDER_FQ] = "fq", [IDEAL_ORDER_SRF] = "srf",
};

static const struct {
	const char *name;
	unsigned short attr;
} ideal_stats[] = {
	{ "flows", TCA_IDEAL_STATS_FLOWS },
	{ "flows_max", TCA_IDEAL_STATS_FLOWS_MAX },
	{ "flows_time", TCA_IDEAL_STATS_FLOWS_TIME },
	{ "time", TCA_IDEAL_STATS_TIME },
	{ "backlog_max", TCA_IDEAL_STATS_BACKLOG_MAX },
	{ "unsized", TCA_IDEAL_STATS_UNSIZED },
	{ "drop_limit", TCA_IDEAL_STATS_DROP_LIMIT },
	{ "drop_memory", TCA_IDEAL_STATS_DROP_MEMORY },
};

static __u64 ideal_integer(const struct rtattr *attr)
{
	__u64 v64 = 0;
	__u32 v32;

	if (RTA_PAYLOAD(attr) == 1)
		return *(const __u8 *)RTA_DATA(attr);
	if (RTA_PAYLOAD(attr) == 4) {
		memcpy(&v32, RTA_DATA(attr), sizeof(v32));
		return v32;
	}
	if (RTA_PAYLOAD(attr) == 8)
		memcpy(&v64, RTA_DATA(attr), sizeof(v64));
	return v64;
}

static void ideal_attrs(const struct rtattr **tb, int max, const struct rtattr *nest)
{
	const struct rtattr *attr;
	int left;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	if (!nest)
		return;
	attr = RTA_DATA(nest);
	for (left = RTA_PAYLOAD(nest); RTA_OK(attr, left); attr = RTA_NEXT(attr, left))
		if ((attr->rta_type & NLA_TYPE_MASK) <= max)
			tb[attr->rta_type & NLA_TYPE_MASK] = attr;
}

static void ideal_help(void)
{
	fprintf(stderr,
		"Usage: ... ideal [OPTION VALUE] ...       (in brackets: the default)\n"
		"  order fq|srf          flows in turn, or the one with the least left first (fq)\n"
		"  limit BYTES|none      bytes that may be queued (none)\n"
		"  After creation, order cannot be changed. See tc-ideal(8).\n");
}

static int ideal_parse_order(const char *arg, struct nlmsghdr *n)
{
	for (__u8 i = 0; i < IDEAL_ARRAY_SIZE(ideal_orders); i++)
		if (!strcmp(arg, ideal_orders[i]))
			return addattr_l(n, IDEAL_MESSAGE_MAX, TCA_IDEAL_ORDER, &i, sizeof(i));
	fprintf(stderr, "ideal: \"order\" takes one of fq, srf, not \"%s\"\n", arg);
	return -1;
}

static int ideal_parse_limit(const char *arg, struct nlmsghdr *n)
{
	unsigned int limit = 0;

	if (strcmp(arg, "none") && (!isdigit((unsigned char)arg[0]) || get_size(&limit, arg))) {
		fprintf(stderr, "ideal: \"limit\" takes a size below 4Gb or \"none\", not \"%s\"\n",
			arg);
		return -1;
	}
	return addattr_l(n, IDEAL_MESSAGE_MAX, TCA_IDEAL_LIMIT, &limit, sizeof(limit));
}

static int ideal_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			    struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest;
	int err;

	(void)qu;
	(void)dev;
	nest = addattr_nest(n, IDEAL_MESSAGE_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= 2, argv += 2) {
		if (!strcmp(*argv, "help")) {
			ideal_help();
			return -1;
		}
		if (strcmp(*argv, "order") && strcmp(*argv, "limit")) {
			fprintf(stderr, "ideal: there is no option \"%s\"; there are: order limit help\n",
				*argv);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "ideal: nothing follows \"%s\"\n", *argv);
			return -1;
		}
		err = **argv == 'o' ? ideal_parse_order(argv[1], n) : ideal_parse_limit(argv[1], n);
		if (err)
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* Exact, in the largest unit that leaves nothing over */
static void ideal_print_limit(FILE *f, __u64 bytes)
{
	static const char * const units[] = { "b", "Kb", "Mb", "Gb" };
	unsigned int unit = 0;

	if (!bytes) {
		fprintf(f, "limit none ");
		return;
	}
	for (; unit < 3 && !(bytes % 1024); unit++)
		bytes /= 1024;
	fprintf(f, "limit %llu%s ", (unsigned long long)bytes, units[unit]);
}

static int ideal_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	const struct rtattr *tb[TCA_IDEAL_MAX + 1];
	const char *order = "?";
	__u64 value;

	(void)qu;
	ideal_attrs(tb, TCA_IDEAL_MAX, opt);
	if (tb[TCA_IDEAL_ORDER]) {
		value = ideal_integer(tb[TCA_IDEAL_ORDER]);
		if (value < IDEAL_ARRAY_SIZE(ideal_orders))
			order = ideal_orders[value];
		if (is_json_context())
			json_string("order", order);
		else
			fprintf(f, "order %s ", order);
	}
	if (tb[TCA_IDEAL_LIMIT]) {
		value = ideal_integer(tb[TCA_IDEAL_LIMIT]);
		if (is_json_context())
			json_u64("limit", value);
		else
			ideal_print_limit(f, value);
	}
	if (tb[TCA_IDEAL_VERSION]) {
		value = ideal_integer(tb[TCA_IDEAL_VERSION]);
		if (is_json_context())
			json_u64("version", value);
		else
			fprintf(f, "version %llu ", (unsigned long long)value);
	}
	return 0;
}

static int ideal_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	const struct rtattr *tb[TCA_IDEAL_STATS_MAX + 1];
	const char *lead = "  flows:";

	(void)qu;
	ideal_attrs(tb, TCA_IDEAL_STATS_MAX, xstats);
	for (size_t i = 0; i < IDEAL_ARRAY_SIZE(ideal_stats); i++) {
		const struct rtattr *attr = tb[ideal_stats[i].attr];

		if (!attr)
			continue;
		if (is_json_context()) {
			json_u64(ideal_stats[i].name, ideal_integer(attr));
			continue;
		}
		fprintf(f, "%s %s %llu", lead, ideal_stats[i].name,
			(unsigned long long)ideal_integer(attr));
		lead = "";
	}
	return 0;
}

extern struct qdisc_util ideal_qdisc_util;	/* tc looks it up by name */

struct qdisc_util ideal_qdisc_util = {
	.id		= "ideal",
	.parse_qopt	= ideal_parse_qopt,
	.print_qopt	= ideal_print_qopt,
	.print_xstats	= ideal_print_xstats,
};
