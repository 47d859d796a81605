// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_floodgate.c - what there is to say of floodgate, see doctor_rules.c
 */
#include <inttypes.h>

#include "doctor_judge.h"
#include "sluice.h"

/* Two switches that tag, one of which has no windows */
static bool lacks_windows(const struct qdisc *q, const struct port *p)
{
	return q->floodgate_options[TCA_FLOODGATE_MODE] == FLOODGATE_MODE_WINDOW &&
	       !q->floodgate_stats[TCA_FLOODGATE_STATS_WINDOWS] &&
	       port_number(p, HOP_A_STATE) == HOP_STATE_TAGGING &&
	       port_number(p, HOP_A_ROLE) == HOP_ROLE_SWITCH &&
	       port_number(p, HOP_A_PEER_ROLE) == HOP_ROLE_SWITCH;
}

void judge_floodgate(const struct judge *j, const struct qdisc *q, const struct device *d,
		     const struct port *p)
{
	const uint64_t *stats = q->floodgate_stats;
	uint64_t dropped = stats[TCA_FLOODGATE_STATS_DROP_LIMIT] +
			   stats[TCA_FLOODGATE_STATS_DROP_POOL];
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];

	if (p && lacks_windows(q, p))
		say(j, "floodgate_no_windows", d->name, "%s", "");
	if (stats[TCA_FLOODGATE_STATS_SLOTS_FULL])
		say(j, "floodgate_slots", d->name, "%" PRIu64 " packets, %" PRIu64 " slots",
		    stats[TCA_FLOODGATE_STATS_SLOTS_FULL],
		    q->floodgate_options[TCA_FLOODGATE_SLOTS]);
	if (stats[TCA_FLOODGATE_STATS_VOQS_SHARED])
		say(j, "floodgate_shared", d->name, "%" PRIu64 " times, %" PRIu64 " VOQs",
		    stats[TCA_FLOODGATE_STATS_VOQS_SHARED],
		    q->floodgate_options[TCA_FLOODGATE_VOQS]);
	if (stats[TCA_FLOODGATE_STATS_PAUSE_BYTES] && p &&
	    port_number(p, HOP_A_ROLE) == HOP_ROLE_SWITCH && !stats[TCA_FLOODGATE_STATS_PAUSES] &&
	    stats[TCA_FLOODGATE_STATS_VOQ_MAX] > stats[TCA_FLOODGATE_STATS_PAUSE_BYTES])
		say(j, "floodgate_unpaused", d->name, "voq_max %s, pause_bytes %s",
		    text_bytes(a, stats[TCA_FLOODGATE_STATS_VOQ_MAX]),
		    text_bytes(b, stats[TCA_FLOODGATE_STATS_PAUSE_BYTES]));
	if (dropped)
		say(j, "floodgate_dropped", d->name, "%" PRIu64 " packets", dropped);
}
