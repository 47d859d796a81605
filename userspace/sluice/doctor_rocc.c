// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_rocc.c - what there is to say of rocc, see doctor_rules.c
 *
 * Figures are of one moment, or count from when the qdisc was made; what needs two readings is left
 * to Documentation/troubleshooting.md.
 */
#include <inttypes.h>
#include <stdio.h>

#include "doctor_judge.h"
#include "sluice.h"

/* What rate-min auto of rocc is, see tc-rocc(8) */
#define FAST_LINK	8750000000ULL	/* bytes per second: 70 Gbit/s */
#define LEAST_PART_SLOW	400
#define LEAST_PART_FAST	1000

/**
 * struct count - a figure that says that something is wrong once it is not 0
 * @stat: TCA_ROCC_STATS_*
 * @name: of the figure, or of what was found
 * @unit: what it counts
 */
struct count {
	int stat;
	const char *name;
	const char *unit;
};

/* Most of a figure of all qdiscs: what is counted for the namespace is the same at each. */
static uint64_t most(const struct look *look, int stat)
{
	uint64_t most = 0;

	for (size_t q = 0; q < look->qdiscs.count; q++)
		if (look->qdiscs.list[q].rocc_stats[stat] > most)
			most = look->qdiscs.list[q].rocc_stats[stat];
	return most;
}

/* Those that are not 0, with their names */
static const char *list_counts(const struct look *look, const struct count *counts, size_t n)
{
	static char text[256];
	size_t len = 0;
	uint64_t v;

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		v = most(look, counts[i].stat);
		if (v && len < sizeof(text))
			len += snprintf(text + len, sizeof(text) - len, "%s%s %" PRIu64,
					len ? ", " : "", counts[i].name, v);
	}
	return text;
}

/* What the namespace's hosts have refused. Late CNPs of TCP, the last one, are worth a word only
 * where no other has come in time.
 */
void judge_refusals(const struct judge *j)
{
	static const struct count refusals[] = {
		{ TCA_ROCC_STATS_BAD_FRAME, "bad_frame", NULL },
		{ TCA_ROCC_STATS_BAD_CHECKSUM, "bad_checksum", NULL },
		{ TCA_ROCC_STATS_BAD_VERSION, "bad_version", NULL },
		{ TCA_ROCC_STATS_BAD_RANGE, "bad_range", NULL },
		{ TCA_ROCC_STATS_BAD_TTL, "bad_ttl", NULL },
		{ TCA_ROCC_STATS_BAD_SOURCE, "bad_source", NULL },
		{ TCA_ROCC_STATS_BAD_TAG, "bad_tag", NULL },
		{ TCA_ROCC_STATS_BAD_FLOW, "bad_flow", NULL },
		{ TCA_ROCC_STATS_BAD_SEQUENCE, "bad_sequence", NULL },
	};
	const struct look *look = j->look;
	const char *list = list_counts(look, refusals, ARRAY_SIZE(refusals));

	if (*list && !most(look, TCA_ROCC_STATS_ACCEPTED) && !most(look, TCA_ROCC_STATS_NOT_NEEDED))
		say(j, "rocc_none_obeyed", NULL, "%s", list);
	list = list_counts(look, refusals, ARRAY_SIZE(refusals) - 1);
	if (*list)
		say(j, "rocc_refused", NULL, "%s", list);
}

static void judge_rocc_counts(const struct judge *j, const struct qdisc *q, const char *name)
{
	static const struct count counts[] = {
		{ TCA_ROCC_STATS_FULL, "rocc_full", "times" },
		{ TCA_ROCC_STATS_CNPS_FAILED, "rocc_no_way", "CNPs" },
		{ TCA_ROCC_STATS_CNPS_VLAN, "rocc_vlan", "CNPs" },
		{ TCA_ROCC_STATS_CNPS_HELD, "rocc_held", "CNPs" },
		{ TCA_ROCC_STATS_UNTRACKED, "rocc_untracked", "packets" },
		{ TCA_ROCC_STATS_DROP_LIMIT, "rocc_dropped", "packets" },
		{ TCA_ROCC_STATS_EPOCH_BACK, "rocc_epoch_back", "CNPs" },
	};
	uint64_t control = q->rocc_stats[TCA_ROCC_STATS_DROP_CONTROL] +
			   q->rocc_stats[TCA_ROCC_STATS_DROP_POLICE];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (q->rocc_stats[counts[i].stat])
			say(j, counts[i].name, name, "%" PRIu64 " %s", q->rocc_stats[counts[i].stat],
			    counts[i].unit);
	if (control)
		say(j, "rocc_control", name, "%" PRIu64 " packets", control);
}

/* What both roles have. @reckoned: what the qdisc takes for the rate of the link, 0: it guesses */
static void judge_rocc_rates(const struct judge *j, const struct qdisc *q, const struct device *d,
			     uint64_t reckoned)
{
	const uint64_t *options = q->rocc_options;
	uint64_t rate = options[TCA_ROCC_RATE];
	uint64_t least = options[q->rocc_host ? TCA_ROCC_FLOOR : TCA_ROCC_RATE_MIN];
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];
	uint64_t unused;

	if (!reckoned)
		say(j, "speed_unknown", d->name, "%s", "");
	/* below a shaper it is the shaper's rate that counts */
	if (d->speed && rate > d->speed && !shaped(j->look, q, &unused))
		say(j, "rocc_rate", d->name, "rate %s, the link has %s", text_rate(a, rate),
		    text_rate(b, d->speed));
	if (reckoned && least >= reckoned)
		say(j, "rocc_least_rate", d->name, "%s %s, the link has %s",
		    q->rocc_host ? "floor" : "rate-min", text_rate(a, least),
		    text_rate(b, reckoned));
}

static void judge_rocc_host(const struct judge *j, const struct qdisc *q, const char *name)
{
	uint64_t recovery = q->rocc_options[TCA_ROCC_RECOVERY];
	uint64_t hold = q->rocc_options[TCA_ROCC_HOLD];
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];

	if (hold && recovery > hold)
		say(j, "rocc_recovery", name, "recovery %s, hold %s", text_time(a, recovery),
		    text_time(b, hold));
}

/* The qdisc in the place of rocc's own queue, or NULL */
static const struct qdisc *child_of(const struct look *look, const struct qdisc *q)
{
	for (size_t i = 0; i < look->qdiscs.count; i++)
		if (look->qdiscs.list[i].parent == (q->handle | 1) &&
		    look->qdiscs.list[i].ifindex == q->ifindex)
			return &look->qdiscs.list[i];
	return NULL;
}

/* Lengths of a switch's queue: its marks, what it may hold, and what bfc leaves of it */
static void judge_rocc_marks(const struct judge *j, const struct qdisc *q, const char *name)
{
	const struct qdisc *child = child_of(j->look, q);
	uint64_t limit = q->rocc_options[TCA_ROCC_LIMIT];
	uint64_t q_ref = q->rocc_stats[TCA_ROCC_STATS_Q_REF];
	uint64_t mark = q->rocc_options[TCA_ROCC_QMAX] ?: q_ref;
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];

	if (!child && limit && limit <= mark)
		say(j, "rocc_limit", name, "limit %s, %s %s", text_bytes(a, limit),
		    q->rocc_options[TCA_ROCC_QMAX] ? "qmax" : "q_ref", text_bytes(b, mark));
	if (child && child->bfc && child->bfc_th && child->bfc_th <= q_ref)
		say(j, "rocc_bfc_th", name, "th %s, q_ref %s", text_bytes(a, child->bfc_th),
		    text_bytes(b, q_ref));
}

/* Where the queue is above all marks, those that rocc finds out by itself, too: these are less than
 * thrice the reference.
 */
static void judge_rocc_queue(const struct judge *j, const struct qdisc *q, const char *name,
			     uint64_t reckoned)
{
	const uint64_t *stats = q->rocc_stats;
	uint64_t q_ref = stats[TCA_ROCC_STATS_Q_REF], fair = stats[TCA_ROCC_STATS_FAIR_RATE];
	uint64_t long_queue = q->rocc_options[TCA_ROCC_QMAX] ?: 3 * q_ref;
	uint64_t least = q->rocc_options[TCA_ROCC_RATE_MIN] ?: reckoned / LEAST_PART_SLOW;
	uint64_t tried = stats[TCA_ROCC_STATS_CNPS] + stats[TCA_ROCC_STATS_CNPS_HELD] +
			 stats[TCA_ROCC_STATS_CNPS_FAILED] + stats[TCA_ROCC_STATS_CNPS_VLAN];
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];

	if (!q->rocc_options[TCA_ROCC_RATE_MIN] && reckoned > FAST_LINK)
		least = reckoned / LEAST_PART_FAST;
	if (!tried && stats[TCA_ROCC_STATS_TICKS] && q->queue.backlog > q_ref)
		say(j, "rocc_silent", name, "queue %s, q_ref %s", text_bytes(a, q->queue.backlog),
		    text_bytes(b, q_ref));
	if (stats[TCA_ROCC_STATS_CNPS] && fair && fair <= least && q->queue.backlog > long_queue)
		say(j, "rocc_not_obeyed", name, "fair_rate %s, queue %s", text_rate(a, fair),
		    text_bytes(b, q->queue.backlog));
}

/* CNPs from a bridge without an address are of one to which there has to be a way. That packets
 * were thrown away is the sign that there are such bridges: without it there is nothing to say.
 */
static void judge_rp_filter(const struct judge *j, const struct qdisc *q,
			    const struct device *d)
{
	const struct look *look = j->look;
	bool way = d->rp_filter == 1 ? look->unnamed_way == d->ifindex : look->unnamed_way;

	if (q->rocc_host && d->rp_filter && !d->master && !way && look->rp_dropped)
		say(j, "rocc_rp_filter", d->name, "rp_filter %u, %" PRIu64 " packets thrown away",
		    d->rp_filter, look->rp_dropped);
}

void judge_rocc(const struct judge *j, const struct qdisc *q, const struct device *d)
{
	const uint64_t *options = q->rocc_options;
	uint64_t reckoned = options[TCA_ROCC_RATE] ?: d->speed;

	judge_rocc_rates(j, q, d, reckoned);
	if (q->rocc_host) {
		judge_rocc_host(j, q, d->name);
	} else {
		judge_rate(j, q, d->name, options[TCA_ROCC_RATE], d->speed);
		judge_rocc_marks(j, q, d->name);
		judge_rocc_queue(j, q, d->name, reckoned);
		if (options[TCA_ROCC_KEYS] && !options[TCA_ROCC_SIGN])
			say(j, "rocc_sign", d->name, "%s", "");
	}
	judge_rocc_counts(j, q, d->name);
	judge_rp_filter(j, q, d);
}
