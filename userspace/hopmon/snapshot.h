/* SPDX-License-Identifier: GPL-2.0-only */
/* snapshot.h - everything that was counted up to a moment */
#ifndef _HOPMON_SNAPSHOT_H
#define _HOPMON_SNAPSHOT_H

#include <stddef.h>

#include "hopmon.h"

#define SNAPSHOT_LABEL	320	/* NAMESPACE/DEVICE */

/**
 * struct entry - a sub-queue, or the sum over a port
 * @key: which
 * @stats: of all processors together
 */
struct entry {
	struct hopmon_key	key;
	struct hopmon_stats	stats;
};

/**
 * struct port - a port and where its entries are
 * @netns: inode number of its namespace
 * @ifindex: its device
 * @space: the namespace's name; empty for hopmon's own
 * @label: what to call the port: NAMESPACE/DEVICE, or DEVICE in hopmon's own namespace
 * @dev: the device's name, a part of @label
 * @first: its first entry; those of a port are neighbours, sums first, ours before theirs
 * @n: how many
 */
struct port {
	__u32		netns;
	__u32		ifindex;
	char		space[256];
	char		label[SNAPSHOT_LABEL];
	const char	*dev;
	size_t		first;
	size_t		n;
};

/**
 * struct snapshot - everything that was counted up to a moment
 * @at: CLOCK_MONOTONIC, ns
 * @entries: sorted by key
 * @n: how many
 * @ports: sorted by label
 * @n_ports: how many
 * @full: by enum hopmon_full
 * @missed: events that a processor could not count as it was in another BPF program
 */
struct snapshot {
	__u64		at;
	struct entry	*entries;
	size_t		n;
	struct port	*ports;
	size_t		n_ports;
	__u64		full[HOPMON_FULLS];
	__u64		missed;
};

/**
 * snapshot_read - take one
 * @s: where to; what is in it is not freed
 * @entries: what is counted, by place and processor
 * @places: how many keys there are room for
 * @cpus: processors
 *
 * @full and @missed are left to the caller.
 * Return: 0, or -1 and errno.
 */
int snapshot_read(struct snapshot *s, const struct hopmon_entry *entries, size_t places,
		  size_t cpus);
void snapshot_free(struct snapshot *s);

/* The entry of a key, NULL if there is none */
const struct entry *snapshot_find(const struct snapshot *s, const struct hopmon_key *key);

/* The sum over a port of one side, or NULL */
const struct entry *snapshot_sum(const struct snapshot *s, const struct port *port,
				 enum hopmon_side side);

/* What was counted for @e since @before; the gauges are those of now. */
void snapshot_since(struct hopmon_stats *out, const struct entry *e,
		    const struct snapshot *before);

#endif
