// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_flowsail.c - what there is to say of flowsail, see doctor_rules.c
 */
#include <inttypes.h>

#include "doctor_judge.h"
#include "sluice.h"

#define EARLY_OFTEN	100	/* one in so many flows got the slot of one that had just left */

/* A switch that is a bottleneck, and most packets that should hold their flow came untagged */
static bool is_not_obeyed(const uint64_t *stats, const struct port *p)
{
	return p && port_number(p, HOP_A_ROLE) == HOP_ROLE_SWITCH &&
	       stats[TCA_FLOWSAIL_STATS_OVER_UNLABELLED] > stats[TCA_FLOWSAIL_STATS_MARKS];
}

void judge_flowsail(const struct judge *j, const struct qdisc *q, const struct device *d,
		    const struct port *p)
{
	const uint64_t *stats = q->flowsail_stats;
	uint64_t slots = q->flowsail_options[TCA_FLOWSAIL_SLOTS];
	uint64_t early = stats[TCA_FLOWSAIL_STATS_FLOWS_EARLY];
	uint64_t flows = stats[TCA_FLOWSAIL_STATS_ASSIGN_FREE] +
			 stats[TCA_FLOWSAIL_STATS_ASSIGN_SHARED];
	uint64_t dropped = stats[TCA_FLOWSAIL_STATS_DROP_LIMIT] +
			   stats[TCA_FLOWSAIL_STATS_DROP_POOL];

	if (stats[TCA_FLOWSAIL_STATS_FLOWS_FULL])
		say(j, "flowsail_slots", d->name, "%" PRIu64 " packets, %" PRIu64 " slots",
		    stats[TCA_FLOWSAIL_STATS_FLOWS_FULL], slots);
	if (early && early >= flows / EARLY_OFTEN)
		say(j, "flowsail_early", d->name, "%" PRIu64 " of %" PRIu64 " flows, %" PRIu64 " slots",
		    early, flows, slots);
	if (is_not_obeyed(stats, p))
		say(j, "flowsail_unlabelled", d->name, "%" PRIu64 " packets, %" PRIu64 " with a tag",
		    stats[TCA_FLOWSAIL_STATS_OVER_UNLABELLED], stats[TCA_FLOWSAIL_STATS_MARKS]);
	if (dropped)
		say(j, "flowsail_dropped", d->name, "%" PRIu64 " packets", dropped);
}
