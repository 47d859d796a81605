// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_ideal - the kind ideal for tc: its options and its statistics
 *
 * Its tables; what is done with them is in options.c. Statistics are plain numbers in text, too.
 */
#include "options.h"
#include "../kernel/uapi/ideal.h"

static const struct plugin_choice ideal_orders[] = {
	{ .name = "fq",		.value = IDEAL_ORDER_FQ },
	{ .name = "srf",	.value = IDEAL_ORDER_SRF },
	{}
};

static const struct plugin_option ideal_options[] = {
	{ .f = { "order", TCA_IDEAL_ORDER, PLUGIN_CHOICE, ideal_orders }, .size = 1,
	  .help = "flows in turn, or the one with the least left first (fq)" },
	{ .f = { "limit", TCA_IDEAL_LIMIT, PLUGIN_BYTES, NULL }, .size = 4, .zero = "none",
	  .max = UINT32_MAX,
	  .help = "bytes that may be queued (none)" },
	{ .f = { "control-dscp", TCA_IDEAL_CONTROL_DSCP, PLUGIN_COUNT, NULL }, .size = 1, .zero = "none",
	  .min = 1, .max = 63,
	  .help = "IP packets with this DSCP go before all flows (none)" },
};

#define QSTAT(...) PLUGIN_STAT(TCA_IDEAL_STATS_, __VA_ARGS__)
#define QLINE(...) PLUGIN_LINE(TCA_IDEAL_STATS_, __VA_ARGS__)
static const struct plugin_stat ideal_stats[] = {
	QLINE("flows", "flows", FLOWS, PLUGIN_COUNT),
	QSTAT("flows_max", FLOWS_MAX, PLUGIN_COUNT),
	QSTAT("flows_time", FLOWS_TIME, PLUGIN_COUNT),
	QSTAT("time", TIME, PLUGIN_COUNT),
	QSTAT("backlog_max", BACKLOG_MAX, PLUGIN_COUNT),
	QSTAT("unsized", UNSIZED, PLUGIN_COUNT),
	QSTAT("control", CONTROL, PLUGIN_COUNT),
	QSTAT("drop_limit", DROP_LIMIT, PLUGIN_COUNT),
	QSTAT("drop_memory", DROP_MEMORY, PLUGIN_COUNT),
};

static const struct plugin_kind ideal_kind = {
	.name = "ideal",
	.options = ideal_options, .count = PLUGIN_ARRAY_SIZE(ideal_options), .max = TCA_IDEAL_MAX,
	.fixed = "  After creation, order cannot be changed. See tc-ideal(8).\n",
	.version = TCA_IDEAL_VERSION, .speaks = IDEAL_VERSION,
};

static int ideal_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			    struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)dev;
	return plugin_parse_options(&ideal_kind, argc, argv, n);
}

static int ideal_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	return plugin_print_options(&ideal_kind, f, opt);
}

static int ideal_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	const struct rtattr *tb[TCA_IDEAL_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	plugin_attrs(tb, TCA_IDEAL_STATS_MAX, xstats);
	plugin_print_stats(f, ideal_stats, PLUGIN_ARRAY_SIZE(ideal_stats), tb, &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util ideal_qdisc_util;	/* tc looks it up by name */

struct qdisc_util ideal_qdisc_util = {
	.id		= "ideal",
	.parse_qopt	= ideal_parse_qopt,
	.print_qopt	= ideal_print_qopt,
	.print_xstats	= ideal_print_xstats,
};
