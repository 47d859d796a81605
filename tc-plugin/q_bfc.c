// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_bfc - the kind bfc for tc: its options, its statistics and those of its classes
 *
 * Its tables are in bfc_tables.h, those of the port in port.h; what is done with them is in
 * options.c.
 */
#include "options.h"
#include "bfc_tables.h"
#include "port.h"

/*
 * tc calls this for a qdisc and for a class and does not say which. The qdisc's statistics
 * always hold its clock; the numbers of a class's attributes end below it.
 */
static int bfc_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	_Static_assert(TCA_BFC_CLASS_MAX < TCA_BFC_STATS_TIME, "classes look like qdiscs");
	const struct rtattr *tb[TCA_BFC_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	plugin_attrs(tb, TCA_BFC_STATS_MAX, xstats);
	if (!tb[TCA_BFC_STATS_TIME]) {
		plugin_print_stats(f, bfc_class_stats, PLUGIN_ARRAY_SIZE(bfc_class_stats), tb,
				   &first);
		return 0;
	}
	plugin_print_stats(f, bfc_stats, PLUGIN_ARRAY_SIZE(bfc_stats), tb, &first);
	if (tb[TCA_BFC_STATS_PORT])
		port_print(f, tb[TCA_BFC_STATS_PORT], &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util bfc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util bfc_qdisc_util = {
	.id		= "bfc",
	.parse_qopt	= bfc_parse_qopt,
	.print_qopt	= bfc_print_qopt,
	.print_xstats	= bfc_print_xstats,
	.parse_copt	= plugin_parse_class,
	.print_copt	= plugin_print_class,
};
