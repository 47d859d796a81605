// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_flowsail - the kind flowsail for tc: its options, its statistics and those of its classes
 *
 * Its tables are in flowsail_tables.h, those of the port in port.h; what is done with them is in
 * options.c.
 */
#include "options.h"
#include "flowsail_tables.h"
#include "port.h"

/* Also of a class: the numbers of its attributes end below that of one that a qdisc
 * always shows, also without counters.
 */
static int flowsail_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	_Static_assert(TCA_FLOWSAIL_CLASS_MAX < TCA_FLOWSAIL_STATS_PFC_QUEUED,
		       "classes look like qdiscs");
	const struct rtattr *tb[TCA_FLOWSAIL_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	plugin_attrs(tb, TCA_FLOWSAIL_STATS_MAX, xstats);
	if (!tb[TCA_FLOWSAIL_STATS_PFC_QUEUED]) {
		plugin_print_stats(f, flowsail_class_stats,
				   PLUGIN_ARRAY_SIZE(flowsail_class_stats), tb, &first);
		return 0;
	}
	plugin_print_stats(f, flowsail_stats, PLUGIN_ARRAY_SIZE(flowsail_stats), tb, &first);
	if (tb[TCA_FLOWSAIL_STATS_PORT])
		port_print(f, tb[TCA_FLOWSAIL_STATS_PORT], &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util flowsail_qdisc_util;	/* tc looks it up by name */

struct qdisc_util flowsail_qdisc_util = {
	.id		= "flowsail",
	.parse_qopt	= flowsail_parse_qopt,
	.print_qopt	= flowsail_print_qopt,
	.print_xstats	= flowsail_print_xstats,
	.parse_copt	= plugin_parse_class,
	.print_copt	= plugin_print_class,
};
