/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hopmon.h - what hopmon's BPF programs and its user-space part share
 *
 * Everything is counted from the tracepoints of the systems "bfc" and "hopctl". An entry of the map
 * `stats` belongs to a sub-queue, or is the sum over a port; each processor has its own copy, and
 * user space adds them up. What an entry means depends on its side: our sub-queues, which the
 * neighbour pauses, or the neighbour's, which we pause.
 */
#ifndef _HOPMON_H
#define _HOPMON_H

#include <linux/types.h>

#define HOPMON_DEV_LEN		16	/* IFNAMSIZ */
#define HOPMON_SLOTS		40	/* of a histogram: see hopmon_slot() */
#define HOPMON_WORDS		64	/* of the bitmap of a port's sub-queues */
#define HOPMON_LABEL_FIRST	0x8000	/* smaller ones are no handles */

/* Numbers in the place of a sub-queue's */
#define HOPMON_CONTROL		0xffff	/* the control class */
#define HOPMON_NONE		0xfffe	/* the packet was in none yet */
#define HOPMON_PORT		0xfffd	/* sum over the port */

enum hopmon_side {
	HOPMON_OURS,
	HOPMON_THEIRS,
};

/**
 * struct hopmon_key - what an entry is about
 * @netns: inode number of the network namespace
 * @ifindex: device
 * @queue: sub-queue's number on the port, or one of the above
 * @side: enum hopmon_side
 */
struct hopmon_key {
	__u32	netns;
	__u32	ifindex;
	__u16	queue;
	__u16	side;
};

/* The order of the drops is that of the tracepoint's reasons. */
enum hopmon_count {
	HOPMON_PACKETS,
	HOPMON_BYTES,
	HOPMON_ENQUEUED,
	HOPMON_MARKS,
	HOPMON_DROP_LIMIT,
	HOPMON_DROP_CONTROL,
	HOPMON_DROP_GSO,
	HOPMON_DROP_TAG,
	HOPMON_DROP_FILTER,
	HOPMON_DROP_RESET,
	HOPMON_DROP_POOL,
	HOPMON_DROP_POLICE,
	HOPMON_PAUSES_OBEYED,
	HOPMON_RESUMES_OBEYED,
	HOPMON_STATE_RX,
	HOPMON_LEASE_EXPIRED,
	HOPMON_SOJOURN_UNSEEN,
	HOPMON_REACTION_UNCLEAR,
	HOPMON_PAUSES_TX,
	HOPMON_RESUMES_TX,
	HOPMON_STATE_TX,
	HOPMON_LATE_PACKETS,
	HOPMON_TOLD_UNSEEN,
	HOPMON_TOLD_SILENT,
	HOPMON_TOLD_UNSETTLED,
	HOPMON_COUNTS
};

#define HOPMON_DROPS		(HOPMON_DROP_POLICE - HOPMON_DROP_LIMIT + 1)

enum hopmon_what {
	HOPMON_PAUSE,		/* ns */
	HOPMON_REACTION,	/* ns */
	HOPMON_BACKLOG,		/* bytes */
	HOPMON_SOJOURN,		/* ns */
	HOPMON_HISTS
};

/**
 * struct hopmon_hist - a histogram by powers of two
 * @sum: of all values
 * @max: largest value
 * @slots: how many values fell into each: see hopmon_slot()
 */
struct hopmon_hist {
	__u64	sum;
	__u64	max;
	__u64	slots[HOPMON_SLOTS];
};

/* A device's name. Programs read it by words: a loop over the event's own bytes may be refused. */
union hopmon_dev {
	char	name[HOPMON_DEV_LEN];
	__u64	words[HOPMON_DEV_LEN / 8];
};

/**
 * struct hopmon_stats - what one processor has seen of a sub-queue or a port
 * @counts: by enum hopmon_count
 * @at: when @backlog and @th were true, ns; the newest of all processors' counts
 * @backlog: of the sub-queue; unused in the sum over a port
 * @th: the pause threshold
 * @root_at: when @root was true
 * @root: of a sub-queue of ours that is held: id of the port where the congestion began; 0: it is
 *	not known
 * @hops: how far that is
 * @more: there are others
 * @dev: the device's name, when an event last named it
 * @hists: by enum hopmon_what
 */
struct hopmon_stats {
	__u64			counts[HOPMON_COUNTS];
	__u64			at;
	__u32			backlog;
	__u32			th;
	__u64			root_at;
	__u16			root;
	__u8			hops;
	__u8			more;
	union hopmon_dev	dev;
	struct hopmon_hist	hists[HOPMON_HISTS];
};

/* What user space reads: of each key as many as there are processors, one after the other. The key
 * is in the first one.
 */
struct hopmon_entry {
	struct hopmon_key	key;
	struct hopmon_stats	stats;
};

/* Events that found a map full: what they would have told is lost. */
enum hopmon_full {
	HOPMON_FULL_STATS,	/* sub-queues and ports with counters */
	HOPMON_FULL_QUEUES,	/* sub-queues whose last packet is remembered */
	HOPMON_FULL_FRAMES,	/* ports whose pause frames are remembered */
	HOPMON_FULL_TOLD,	/* pauses of ours that last */
	HOPMON_FULL_PACKETS,	/* packets that wait */
	HOPMON_FULLS
};

/* The slot of a value: 0 holds 0, slot n holds 2^(n-1) to 2^n - 1, the last one what is more. */
static inline __attribute__((always_inline)) unsigned int hopmon_slot(__u64 value)
{
	unsigned int slot = 0;

	if (value >> 32) {
		value >>= 32;
		slot += 32;
	}
	if (value >> 16) {
		value >>= 16;
		slot += 16;
	}
	if (value >> 8) {
		value >>= 8;
		slot += 8;
	}
	if (value >> 4) {
		value >>= 4;
		slot += 4;
	}
	if (value >> 2) {
		value >>= 2;
		slot += 2;
	}
	if (value >> 1) {
		value >>= 1;
		slot++;
	}
	slot += value;
	return slot < HOPMON_SLOTS ? slot : HOPMON_SLOTS - 1;
}

#endif
