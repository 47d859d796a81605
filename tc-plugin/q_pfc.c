// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_pfc - the kind pfc for tc: its options, its statistics and those of its classes
 *
 * Its tables are in pfc_tables.h, those of the port in port.h; what is done with them is in
 * options.c.
 */
#include "options.h"
#include "pfc_tables.h"
#include "port.h"

/* Also of a class: the numbers of its attributes end below that of the pool's size, which a qdisc
 * always shows.
 */
static int pfc_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	_Static_assert(TCA_PFC_CLASS_MAX < TCA_PFC_STATS_POOL_SIZE, "classes look like qdiscs");
	const struct rtattr *tb[TCA_PFC_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	plugin_attrs(tb, TCA_PFC_STATS_MAX, xstats);
	if (!tb[TCA_PFC_STATS_POOL_SIZE]) {
		plugin_print_stats(f, pfc_class_stats, PLUGIN_ARRAY_SIZE(pfc_class_stats), tb,
				   &first);
		return 0;
	}
	plugin_print_stats(f, pfc_stats, PLUGIN_ARRAY_SIZE(pfc_stats), tb, &first);
	if (tb[TCA_PFC_STATS_PORT])
		port_print(f, tb[TCA_PFC_STATS_PORT], &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util pfc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util pfc_qdisc_util = {
	.id		= "pfc",
	.parse_qopt	= pfc_parse_qopt,
	.print_qopt	= pfc_print_qopt,
	.print_xstats	= pfc_print_xstats,
	.parse_copt	= plugin_parse_class,
	.print_copt	= plugin_print_class,
};
