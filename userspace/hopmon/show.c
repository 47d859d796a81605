// SPDX-License-Identifier: GPL-2.0-only
/* show.c - the table and the histograms */
#include <stdio.h>
#include <string.h>

#include "hist.h"
#include "show.h"

#define CELL	16

static const char *queue_name(char *buf, size_t size, const struct hopmon_key *key)
{
	if (key->queue == HOPMON_CONTROL)
		snprintf(buf, size, "control");
	else
		snprintf(buf, size, "%s %u", key->side == HOPMON_OURS ? "queue" : "their queue",
			 key->queue);
	return buf;
}

static __u64 drops_of(const struct hopmon_stats *s)
{
	__u64 sum = 0;
	unsigned int i;

	for (i = HOPMON_DROP_LIMIT; i < HOPMON_DROP_LIMIT + HOPMON_DROPS; i++)
		if (i != HOPMON_DROP_RESET)
			sum += s->counts[i];
	return sum;
}

/* ---- the table ---- */

void show_table_head(void)
{
	printf("%-24s %6s %6s %7s %7s %7s %6s %6s | %6s %6s %6s %6s | %6s %6s %6s %6s | %6s\n", "",
	       "", "", "backlog", "", "", "sojourn", "", "obeyed", "length", "", "react", "told",
	       "length", "", "react", "");
	printf("%-24s %6s %6s %7s %7s %7s %6s %6s | %6s %6s %6s %6s | %6s %6s %6s %6s | %6s\n",
	       "port", "pkt/s", "bit/s", "p50", "max", "th", "p50", "p99", "/s", "p50", "p99",
	       "p99", "/s", "p50", "p99", "p99", "drops");
}

static void cell_rate(int width, __u64 n, __u64 ns)
{
	char buf[CELL];

	figure(buf, sizeof(buf), ns ? (double)n * 1e9 / ns + 0.5 : 0, 0);
	printf(" %*s", width, buf);
}

static void cell_bytes(__u64 bytes, bool known)
{
	char buf[CELL];

	printf(" %7s", known ? figure(buf, sizeof(buf), bytes, 1) : "-");
}

static void cell_ns(const struct hopmon_hist *h, unsigned int permille)
{
	char buf[CELL];

	printf(" %6s", hist_count(h) ? figure_ns(buf, sizeof(buf), hist_quantile(h, permille)) : "-");
}

static void cells_pauses(const struct hopmon_stats *s, enum hopmon_count pauses, __u64 ns)
{
	printf(" |");
	cell_rate(6, s->counts[pauses], ns);
	cell_ns(&s->hists[HOPMON_PAUSE], 500);
	cell_ns(&s->hists[HOPMON_PAUSE], 990);
	cell_ns(&s->hists[HOPMON_REACTION], 990);
}

/* Either may be missing. @th: only ports have one. */
static void show_row(const char *name, const struct hopmon_stats *ours,
		     const struct hopmon_stats *theirs, bool th, __u64 ns)
{
	static const char none[] = " |      -      -      -      -";
	const struct hopmon_hist *backlog;

	printf("%-24s", name);
	if (ours) {
		backlog = &ours->hists[HOPMON_BACKLOG];
		cell_rate(6, ours->counts[HOPMON_PACKETS], ns);
		cell_rate(6, 8 * ours->counts[HOPMON_BYTES], ns);
		cell_bytes(hist_quantile(backlog, 500), hist_count(backlog));
		cell_bytes(backlog->max, hist_count(backlog));
		cell_bytes(ours->th, th && ours->th);
		cell_ns(&ours->hists[HOPMON_SOJOURN], 500);
		cell_ns(&ours->hists[HOPMON_SOJOURN], 990);
		cells_pauses(ours, HOPMON_PAUSES_OBEYED, ns);
	} else {
		printf(" %6s %6s %7s %7s %7s %6s %6s%s", "-", "-", "-", "-", "-", "-", "-", none);
	}
	if (theirs)
		cells_pauses(theirs, HOPMON_PAUSES_TX, ns);
	else
		fputs(none, stdout);
	if (ours)
		printf(" | %6llu", drops_of(ours));
	else
		printf(" | %6s", "-");
	if (ours && ours->root)
		printf("  held by %u, %u hop%s away%s", ours->root, ours->hops,
		       ours->hops == 1 ? "" : "s", ours->more ? ", and others" : "");
	putchar('\n');
}

void show_table(const struct snapshot *now, const struct snapshot *before, bool queues)
{
	__u64 ns = now->at - before->at;
	struct hopmon_stats ours, theirs;
	const struct entry *e;
	const struct port *p;
	char name[64];
	size_t i;

	for (p = now->ports; p < now->ports + now->n_ports; p++) {
		snapshot_since(&ours, snapshot_sum(now, p, HOPMON_OURS), before);
		snapshot_since(&theirs, snapshot_sum(now, p, HOPMON_THEIRS), before);
		show_row(p->label, &ours, &theirs, true, ns);
		for (i = p->first; queues && i < p->first + p->n; i++) {
			e = &now->entries[i];
			if (e->key.queue == HOPMON_PORT)
				continue;
			snapshot_since(&ours, e, before);
			name[0] = name[1] = ' ';
			queue_name(name + 2, sizeof(name) - 2, &e->key);
			if (e->key.side == HOPMON_OURS)
				show_row(name, &ours, NULL, false, ns);
			else
				show_row(name, NULL, &ours, false, ns);
		}
	}
}

/* ---- histograms ---- */

/* What each histogram is called, by side. */
static const struct {
	const char	*title;
	const char	*unit;
} titles[2][HOPMON_HISTS] = {
	[HOPMON_OURS] = {
		[HOPMON_PAUSE] = { "pause, as obeyed: paused to resumed", "ns" },
		[HOPMON_REACTION] = { "reaction: pause frame to the last packet sent", "ns" },
		[HOPMON_BACKLOG] = { "backlog of a sub-queue with the packet that came", "B" },
		[HOPMON_SOJOURN] = { "sojourn: queued to sent", "ns" },
	},
	[HOPMON_THEIRS] = {
		[HOPMON_PAUSE] = { "pause, as told to the neighbour: 0 to 1 to 0", "ns" },
		[HOPMON_REACTION] = { "reaction: told to the last packet that came", "ns" },
	},
};

static void show_entry(const char *name, const struct entry *e)
{
	unsigned int i;

	for (i = 0; i < HOPMON_HISTS; i++) {
		if (!hist_count(&e->stats.hists[i]))
			continue;
		printf("%s: %s\n", name, titles[e->key.side][i].title);
		hist_print(&e->stats.hists[i], titles[e->key.side][i].unit, "    ", stdout);
	}
}

void show_histograms(const struct snapshot *now, bool queues)
{
	char name[SNAPSHOT_LABEL + 64], queue[64];
	const struct entry *e;
	const struct port *p;
	size_t i;

	for (p = now->ports; p < now->ports + now->n_ports; p++) {
		for (i = p->first; i < p->first + p->n; i++) {
			e = &now->entries[i];
			if (e->key.queue == HOPMON_PORT)
				snprintf(name, sizeof(name), "%s", p->label);
			else if (queues)
				snprintf(name, sizeof(name), "%s %s", p->label,
					 queue_name(queue, sizeof(queue), &e->key));
			else
				continue;
			show_entry(name, e);
		}
	}
}

void show_losses(const struct snapshot *now)
{
	static const char *const maps[HOPMON_FULLS] = {
		[HOPMON_FULL_STATS] = "counters: --max-queues",
		[HOPMON_FULL_QUEUES] = "sub-queues: --max-queues",
		[HOPMON_FULL_FRAMES] = "ports: --max-queues",
		[HOPMON_FULL_TOLD] = "pauses: --max-queues",
		[HOPMON_FULL_PACKETS] = "packets: --max-packets",
	};
	unsigned int i;

	for (i = 0; i < HOPMON_FULLS; i++)
		if (now->full[i])
			printf("! %llu events found no room for %s\n", now->full[i], maps[i]);
	if (now->missed)
		printf("! %llu events missed: another BPF program was running\n", now->missed);
}
