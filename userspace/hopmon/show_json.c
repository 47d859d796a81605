// SPDX-License-Identifier: GPL-2.0-only
/*
 * show_json.c - everything as one JSON object
 *
 * A figure that tc shows has tc's name for it. All counters and histograms count from the start of
 * hopmon; bytes, ns and plain counts.
 */
#include <jansson.h>
#include <stdio.h>

#include "hist.h"
#include "show.h"

struct counter {
	const char		*name;
	enum hopmon_count	what;
};

static const struct counter ours_counters[] = {
	{ "packets", HOPMON_PACKETS },
	{ "bytes", HOPMON_BYTES },
	{ "enqueued", HOPMON_ENQUEUED },
	{ "marks", HOPMON_MARKS },
	{ "drop_limit", HOPMON_DROP_LIMIT },
	{ "drop_control", HOPMON_DROP_CONTROL },
	{ "drop_gso", HOPMON_DROP_GSO },
	{ "drop_tag", HOPMON_DROP_TAG },
	{ "drop_filter", HOPMON_DROP_FILTER },
	{ "drop_reset", HOPMON_DROP_RESET },
	{ "drop_pool", HOPMON_DROP_POOL },
	{ "drop_police", HOPMON_DROP_POLICE },
	{ "pauses_obeyed", HOPMON_PAUSES_OBEYED },
	{ "resumes_obeyed", HOPMON_RESUMES_OBEYED },
	{ "sojourn_unseen", HOPMON_SOJOURN_UNSEEN },
	{ "reaction_unclear", HOPMON_REACTION_UNCLEAR },
	{ NULL, 0 }
};

static const struct counter ours_port_counters[] = {
	{ "state_rx", HOPMON_STATE_RX },
	{ "lease_expired", HOPMON_LEASE_EXPIRED },
	{ NULL, 0 }
};

static const struct counter theirs_counters[] = {
	{ "pauses_tx", HOPMON_PAUSES_TX },
	{ "resumes_tx", HOPMON_RESUMES_TX },
	{ "late_packets", HOPMON_LATE_PACKETS },
	{ "unseen", HOPMON_TOLD_UNSEEN },
	{ "silent", HOPMON_TOLD_SILENT },
	{ "unsettled", HOPMON_TOLD_UNSETTLED },
	{ NULL, 0 }
};

static const struct counter theirs_port_counters[] = {
	{ "state_tx", HOPMON_STATE_TX },
	{ NULL, 0 }
};

static void put(json_t *to, const char *name, __u64 value)
{
	json_object_set_new(to, name, json_integer(value));
}

static json_t *histogram(const struct hopmon_hist *h)
{
	json_t *object = json_object(), *slots = json_array(), *slot;
	unsigned int i;

	put(object, "count", hist_count(h));
	put(object, "sum", h->sum);
	put(object, "max", h->max);
	put(object, "p50", hist_quantile(h, 500));
	put(object, "p90", hist_quantile(h, 900));
	put(object, "p99", hist_quantile(h, 990));
	for (i = 0; i < HOPMON_SLOTS; i++) {
		if (!h->slots[i])
			continue;
		slot = json_object();
		put(slot, "from", hist_from(i));
		if (i < HOPMON_SLOTS - 1)
			put(slot, "to", hist_to(i));
		put(slot, "count", h->slots[i]);
		json_array_append_new(slots, slot);
	}
	json_object_set_new(object, "slots", slots);
	return object;
}

static void put_counters(json_t *to, const struct counter *c, const struct hopmon_stats *s)
{
	for (; c->name; c++)
		put(to, c->name, s->counts[c->what]);
}

static void put_ours(json_t *to, const struct hopmon_stats *s)
{
	put_counters(to, ours_counters, s);
	json_object_set_new(to, "pause", histogram(&s->hists[HOPMON_PAUSE]));
	json_object_set_new(to, "reaction", histogram(&s->hists[HOPMON_REACTION]));
	json_object_set_new(to, "backlog_seen", histogram(&s->hists[HOPMON_BACKLOG]));
	json_object_set_new(to, "sojourn", histogram(&s->hists[HOPMON_SOJOURN]));
}

static void put_theirs(json_t *to, const struct hopmon_stats *s)
{
	put_counters(to, theirs_counters, s);
	json_object_set_new(to, "pause", histogram(&s->hists[HOPMON_PAUSE]));
	json_object_set_new(to, "reaction", histogram(&s->hists[HOPMON_REACTION]));
}

/* While it is held and the neighbour has told why */
static void put_root(json_t *to, const struct hopmon_stats *s)
{
	put(to, "root", s->root);
	put(to, "hops", s->hops);
	json_object_set_new(to, "more", json_boolean(s->more));
}

/* The sub-queues of a port, of one side */
static json_t *queues_of(const struct snapshot *now, const struct port *p, enum hopmon_side side)
{
	json_t *list = json_array(), *queue;
	const struct entry *e;

	for (e = now->entries + p->first; e < now->entries + p->first + p->n; e++) {
		if (e->key.side != side || e->key.queue == HOPMON_PORT ||
		    e->key.queue == HOPMON_CONTROL)
			continue;
		queue = json_object();
		put(queue, "queue", e->key.queue);
		if (side == HOPMON_OURS) {
			put(queue, "backlog", e->stats.backlog);
			if (e->stats.root)
				put_root(queue, &e->stats);
			put_ours(queue, &e->stats);
		} else {
			put_theirs(queue, &e->stats);
		}
		json_array_append_new(list, queue);
	}
	return list;
}

static json_t *port_object(const struct snapshot *now, const struct port *p)
{
	static const struct entry nothing;
	const struct hopmon_key control = { p->netns, p->ifindex, HOPMON_CONTROL, HOPMON_OURS };
	const struct entry *ours = snapshot_sum(now, p, HOPMON_OURS) ?: &nothing;
	const struct entry *theirs = snapshot_sum(now, p, HOPMON_THEIRS) ?: &nothing;
	const struct entry *controls = snapshot_find(now, &control) ?: &nothing;
	json_t *object = json_object(), *told = json_object();

	json_object_set_new(object, "netns", json_string(p->space));
	put(object, "netns_inode", p->netns);
	json_object_set_new(object, "dev", json_string(p->dev));
	put(object, "ifindex", p->ifindex);
	put(object, "th", ours->stats.th);
	put_ours(object, &ours->stats);
	put_counters(object, ours_port_counters, &ours->stats);
	put(object, "control", controls->stats.counts[HOPMON_ENQUEUED]);
	json_object_set_new(object, "queues", queues_of(now, p, HOPMON_OURS));
	put_theirs(told, &theirs->stats);
	put_counters(told, theirs_port_counters, &theirs->stats);
	json_object_set_new(told, "queues", queues_of(now, p, HOPMON_THEIRS));
	json_object_set_new(object, "told", told);
	return object;
}

static json_t *losses(const struct snapshot *now)
{
	json_t *object = json_object();

	put(object, "stats", now->full[HOPMON_FULL_STATS]);
	put(object, "queues", now->full[HOPMON_FULL_QUEUES]);
	put(object, "frames", now->full[HOPMON_FULL_FRAMES]);
	put(object, "told", now->full[HOPMON_FULL_TOLD]);
	put(object, "packets", now->full[HOPMON_FULL_PACKETS]);
	put(object, "missed", now->missed);
	return object;
}

int show_json(const struct snapshot *now, __u64 started)
{
	json_t *object = json_object(), *ports = json_array();
	const struct port *p;
	int err;

	for (p = now->ports; p < now->ports + now->n_ports; p++)
		json_array_append_new(ports, port_object(now, p));
	put(object, "time", now->at);
	put(object, "since", started);
	json_object_set_new(object, "lost", losses(now));
	json_object_set_new(object, "ports", ports);
	err = json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(object);
	return err;
}
