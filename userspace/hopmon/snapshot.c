// SPDX-License-Identifier: GPL-2.0-only
/* snapshot.c - everything that was counted up to a moment */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "hist.h"
#include "snapshot.h"

#define NETNS_DIR	"/run/netns"

/* Sums over ports and what is no sub-queue come before sub-queue 0. */
static unsigned int queue_rank(__u16 queue)
{
	return (__u16)(queue - HOPMON_PORT);
}

static int compare_keys(const struct hopmon_key *a, const struct hopmon_key *b)
{
	if (a->netns != b->netns)
		return a->netns < b->netns ? -1 : 1;
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	if ((a->queue == HOPMON_PORT) != (b->queue == HOPMON_PORT))
		return a->queue == HOPMON_PORT ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (int)queue_rank(a->queue) - (int)queue_rank(b->queue);
}

static int compare_entries(const void *a, const void *b)
{
	return compare_keys(&((const struct entry *)a)->key, &((const struct entry *)b)->key);
}

static int compare_ports(const void *a, const void *b)
{
	const struct port *p = a, *q = b;
	int order = strcmp(p->label, q->label);

	return order ? order : p->ifindex < q->ifindex ? -1 : 1;
}

/* Add what one processor has seen. */
static void stats_add(struct hopmon_stats *to, const struct hopmon_stats *from)
{
	unsigned int i;

	for (i = 0; i < HOPMON_COUNTS; i++)
		to->counts[i] += from->counts[i];
	for (i = 0; i < HOPMON_HISTS; i++)
		hist_add(&to->hists[i], &from->hists[i]);
	if (from->at > to->at) {
		to->at = from->at;
		to->backlog = from->backlog;
		to->th = from->th;
	}
	if (from->root_at > to->root_at) {
		to->root_at = from->root_at;
		to->root = from->root;
		to->hops = from->hops;
		to->more = from->more;
	}
	if (from->dev.name[0])
		to->dev = from->dev;
}

/* A place that is not taken has no namespace. */
static int read_entries(struct snapshot *s, const struct hopmon_entry *from, size_t places,
			size_t cpus)
{
	struct entry *more, *e;
	size_t cpu, room = 0;

	for (; places--; from += cpus) {
		if (!from->key.netns)
			continue;
		if (s->n == room) {
			room = room ? 2 * room : 64;
			more = realloc(s->entries, room * sizeof(*more));
			if (!more)
				return -1;
			s->entries = more;
		}
		e = &s->entries[s->n++];
		memset(e, 0, sizeof(*e));
		e->key = from->key;
		for (cpu = 0; cpu < cpus; cpu++)
			stats_add(&e->stats, &from[cpu].stats);
	}
	return 0;
}

/* The name that `ip netns` has for a namespace; empty if it is our own */
static void name_space(char *name, size_t size, __u32 netns)
{
	struct dirent *d;
	struct stat st;
	DIR *dir;

	*name = 0;
	if (!stat("/proc/self/ns/net", &st) && st.st_ino == netns)
		return;
	snprintf(name, size, "net:[%u]", netns);
	dir = opendir(NETNS_DIR);
	if (!dir)
		return;
	while ((d = readdir(dir))) {
		if (d->d_name[0] == '.' || fstatat(dirfd(dir), d->d_name, &st, 0) ||
		    st.st_ino != netns)
			continue;
		snprintf(name, size, "%s", d->d_name);
		break;
	}
	closedir(dir);
}

static void name_port(struct port *p, const char *dev)
{
	name_space(p->space, sizeof(p->space), p->netns);
	snprintf(p->label, sizeof(p->label), "%s%s%.*s", p->space, p->space[0] ? "/" : "",
		 HOPMON_DEV_LEN, dev);
	p->dev = strrchr(p->label, '/');
	p->dev = p->dev ? p->dev + 1 : p->label;
}

static int find_ports(struct snapshot *s)
{
	const struct entry *e, *end = s->entries + s->n;
	const char *dev;
	struct port *p = NULL;

	s->ports = calloc(s->n + 1, sizeof(*s->ports));
	if (!s->ports)
		return -1;
	for (e = s->entries; e < end; e++) {
		if (!p || e->key.netns != p->netns || e->key.ifindex != p->ifindex) {
			p = &s->ports[s->n_ports++];
			p->netns = e->key.netns;
			p->ifindex = e->key.ifindex;
			p->first = e - s->entries;
		}
		p->n++;
	}
	for (p = s->ports; p < s->ports + s->n_ports; p++) {
		/* only sums know it, and there may be no room for one */
		dev = s->entries[p->first].stats.dev.name;
		name_port(p, dev[0] ? dev : "?");
	}
	return 0;
}

static void sort_ports(struct snapshot *s)
{
	struct port *p;

	qsort(s->ports, s->n_ports, sizeof(*s->ports), compare_ports);
	for (p = s->ports; p < s->ports + s->n_ports; p++) {
		p->dev = strrchr(p->label, '/');
		p->dev = p->dev ? p->dev + 1 : p->label;
	}
}

int snapshot_read(struct snapshot *s, const struct hopmon_entry *entries, size_t places,
		  size_t cpus)
{
	struct timespec now;

	memset(s, 0, sizeof(*s));
	clock_gettime(CLOCK_MONOTONIC, &now);
	s->at = now.tv_sec * 1000000000ULL + now.tv_nsec;
	if (read_entries(s, entries, places, cpus))
		return -1;
	if (s->n)
		qsort(s->entries, s->n, sizeof(*s->entries), compare_entries);
	if (find_ports(s))
		return -1;
	sort_ports(s);
	return 0;
}

void snapshot_free(struct snapshot *s)
{
	free(s->entries);
	free(s->ports);
	memset(s, 0, sizeof(*s));
}

const struct entry *snapshot_find(const struct snapshot *s, const struct hopmon_key *key)
{
	struct entry wanted = { .key = *key };

	return s->n ? bsearch(&wanted, s->entries, s->n, sizeof(wanted), compare_entries) : NULL;
}

const struct entry *snapshot_sum(const struct snapshot *s, const struct port *port,
				 enum hopmon_side side)
{
	struct hopmon_key key = { port->netns, port->ifindex, HOPMON_PORT, side };

	return snapshot_find(s, &key);
}

void snapshot_since(struct hopmon_stats *out, const struct entry *e, const struct snapshot *before)
{
	const struct entry *old;
	unsigned int i;

	memset(out, 0, sizeof(*out));
	if (!e)
		return;
	*out = e->stats;
	old = snapshot_find(before, &e->key);
	if (!old)
		return;
	for (i = 0; i < HOPMON_COUNTS; i++)
		out->counts[i] -= old->stats.counts[i];
	for (i = 0; i < HOPMON_HISTS; i++)
		hist_since(&out->hists[i], &old->stats.hists[i]);
}
