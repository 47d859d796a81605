// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind.c - the kinds of qdisc that are ours
 */
#include <string.h>

#include "../../kernel/uapi/bfc.h"
#include "../../kernel/uapi/ideal.h"
#include "../../kernel/uapi/rocc.h"
#include "attr.h"
#include "kind.h"

#define KIND_COLUMNS \
	{ "DEV", "dev", NULL, NULL }, { "KIND", "kind", NULL, NULL }, { "QDISC", "handle", NULL, NULL }

/* Of those of the other role there is nothing. */
static const struct kind_column rocc_columns[] = {
	KIND_COLUMNS,
	{ "ROLE", "role", NULL, NULL },
	{ "RATE", "rate", text_rate, "auto" },
	{ "FAIR-RATE", "fair_rate", text_rate, NULL },
	{ "Q-REF", "q_ref", text_bytes, NULL },
	{ "QUEUE", "backlog", text_bytes, NULL },
	{ "FLOWS", "flows_active", NULL, NULL },
	{ "LIMITERS", "limiters", NULL, NULL },
	{ "HELD", "held", text_bytes, NULL },
	{}
};

static const uint16_t rocc_gauges[] = {
	TCA_ROCC_STATS_FAIR_RATE, TCA_ROCC_STATS_Q_REF, TCA_ROCC_STATS_INTERVAL,
	TCA_ROCC_STATS_FLOWS_ACTIVE, TCA_ROCC_STATS_LIMITERS, TCA_ROCC_STATS_HELD, 0,
};

static const struct kind_column ideal_columns[] = {
	KIND_COLUMNS,
	{ "ORDER", "order", NULL, NULL },
	{ "LIMIT", "limit", text_bytes, "none" },
	{ "QUEUE", "backlog", text_bytes, NULL },
	{ "FLOWS", "flows", NULL, NULL },
	{}
};

static const uint16_t ideal_gauges[] = { TCA_IDEAL_STATS_FLOWS, 0 };

const struct kind kinds[] = {
	{ .name = "bfc", .util = &bfc_qdisc_util, .version = BFC_VERSION },
	{ .name = "rocc", .util = &rocc_qdisc_util, .version = ROCC_VERSION,
	  .columns = rocc_columns, .gauges = rocc_gauges },
	{ .name = "ideal", .util = &ideal_qdisc_util, .version = IDEAL_VERSION,
	  .columns = ideal_columns, .gauges = ideal_gauges },
	{}
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *k = kinds; k->name; k++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}
