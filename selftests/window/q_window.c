// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_window - the kind window for tc, which has no options here: what it counts
 */
#include <string.h>

#include "../../tc-plugin/plugin.h"

static int window_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			      struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)n;
	(void)dev;
	if (argc)
		fprintf(stderr, "window: \"%s\" is no option\n", *argv);
	return argc ? -1 : 0;
}

static int window_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

static int window_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	static const char *const names[] = {
		"outstanding", "most", "told", "ends", "valid", "origin", "origin_port", "origin_bytes",
	};
	__u64 values[sizeof(names) / sizeof(*names)];
	unsigned int i;

	(void)qu;
	(void)f;
	if (!xstats || RTA_PAYLOAD(xstats) < sizeof(values))
		return 0;
	memcpy(values, RTA_DATA(xstats), sizeof(values));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		plugin_json_u64(names[i], values[i]);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util window_qdisc_util;	/* tc looks it up by name */

struct qdisc_util window_qdisc_util = {
	.id		= "window",
	.parse_qopt	= window_parse_qopt,
	.print_qopt	= window_print_qopt,
	.print_xstats	= window_print_xstats,
};
