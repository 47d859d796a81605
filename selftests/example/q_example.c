// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_example - the kind example for tc, which has no options here: what it says of its neighbour
 */
#include <string.h>

#include "../../tc-plugin/plugin.h"

static int example_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			      struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)n;
	(void)dev;
	if (argc)
		fprintf(stderr, "example: \"%s\" is no option\n", *argv);
	return argc ? -1 : 0;
}

static int example_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

static int example_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	__u64 bytes;

	(void)qu;
	if (!xstats || RTA_PAYLOAD(xstats) < sizeof(bytes))
		return 0;
	memcpy(&bytes, RTA_DATA(xstats), sizeof(bytes));
	if (is_json_context())
		plugin_json_u64("neighbour_backlog", bytes);
	else
		fprintf(f, " neighbour_backlog %llub", (unsigned long long)bytes);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util example_qdisc_util;	/* tc looks it up by name */

struct qdisc_util example_qdisc_util = {
	.id		= "example",
	.parse_qopt	= example_parse_qopt,
	.print_qopt	= example_print_qopt,
	.print_xstats	= example_print_xstats,
};
