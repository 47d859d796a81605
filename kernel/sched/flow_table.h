/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow_table.h - which sub-queue a flow has: a set-associative table
 *
 * BFC, section 3.3.1. The hash of a flow names a set of entries, one or four of which lie in one
 * cache line; the flow's own is the one that holds its whole hash. Two flows get in each other's
 * way only if a set is full of flows that are alive: with packets here, or gone so shortly that
 * they are still expected (their sticky time). Then the new one is a guest in an entry of another.
 * The entry remembers it by part of its hash, so that it stays there, and is counted once. If each
 * entry has a guest, the next one joins the crowd of an entry that the hash names, where it stays
 * as long as packets are there: no flow changes its entry while packets of it wait in one.
 *
 * With one way it is the table of the paper, and a new flow is a guest as soon as the entry's owner
 * is alive.
 *
 * Time is in units of 64 ns and comes round after 274 s. An entry that nobody has used for just
 * that long seems used anew for the sticky time: its own flow finds its sub-queue again, others
 * have one way less. Those that nobody has used yet do so one after another.
 *
 * Pure functions; the caller serialises.
 */
#ifndef _SLUICE_SCHED_FLOW_TABLE_H
#define _SLUICE_SCHED_FLOW_TABLE_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_FLOW_WAYS		4
#define HOP_FLOW_TIME_SHIFT	6	/* ns to units of struct hop_flow's time */
#define HOP_FLOW_CROWD		2	/* more flows than the guest may share the entry */

/**
 * struct hop_flow - an entry
 * @hash: of the flow that it belongs to; 0 also of hop_flow_unused()
 * @packets: packets queued now, those of a guest among them
 * @last: when the last one left, see hop_flow_time(); meaningless while there are any
 * @queue: its sub-queue
 * @guest: hop_flow_guest() of another flow that shares it, 0 if there is none; and HOP_FLOW_CROWD
 */
struct hop_flow {
	u32	hash;
	u32	packets;
	u32	last;
	u16	queue;
	u16	guest;
};

static_assert(sizeof(struct hop_flow) * HOP_FLOW_WAYS == 64);

static inline u32 hop_flow_time(u64 ns)
{
	return ns >> HOP_FLOW_TIME_SHIFT;
}

/* So many ns, to within a unit, as times are; at least 1 */
static inline u32 hop_flow_time_up(u32 ns)
{
	return (ns >> HOP_FLOW_TIME_SHIFT) + 1;
}

/**
 * hop_flow_set - number of a flow's first entry
 * @hash: of the flow
 * @sets: how many there are
 * @ways: entries of each
 */
static inline u32 hop_flow_set(u32 hash, u32 sets, u32 ways)
{
	return (u32)((u64)hash * sets >> 32) * ways;
}

/* By what a guest is known. The set is made of the high bits. */
static inline u16 hop_flow_guest(u32 hash)
{
	return (hash | 1) & ~HOP_FLOW_CROWD;
}

static inline bool hop_flow_has_guest(const struct hop_flow *f, u32 hash)
{
	return (f->guest & ~HOP_FLOW_CROWD) == hop_flow_guest(hash);
}

/* The entry whose crowd a flow may be in; @ways is a power of two. */
static inline struct hop_flow *hop_flow_crowd(struct hop_flow *set, u32 ways, u32 hash)
{
	return set + (hash & (ways - 1));
}

/* The crowd is over when no packet is left. */
static inline bool hop_flow_is_crowded(const struct hop_flow *f)
{
	return f->guest & HOP_FLOW_CROWD && f->packets;
}

/**
 * hop_flow_is_recent - was the entry used within the sticky time?
 * @f: an entry
 * @now: hop_flow_time()
 * @sticky: in its units
 */
static inline bool hop_flow_is_recent(const struct hop_flow *f, u32 now, u32 sticky)
{
	return now - f->last < sticky;
}

/**
 * hop_flow_own - the entry of a flow
 * @set: the first entry of its set
 * @ways: how many it has
 * @hash: of the flow
 *
 * Each packet comes here, so it is written out for the ways that there are.
 *
 * Return: the entry, or NULL.
 */
static __always_inline struct hop_flow *hop_flow_own(struct hop_flow *set, u32 ways, u32 hash)
{
	static_assert(HOP_FLOW_WAYS == 4);

	if (likely(set[0].hash == hash))
		return set;
	if (ways == 1)
		return NULL;
	if (set[1].hash == hash)
		return set + 1;
	if (set[2].hash == hash)
		return set + 2;
	return set[3].hash == hash ? set + 3 : NULL;
}

/**
 * hop_flow_unused - an entry that belongs to nobody
 * @last: when it is to seem used last; far apart, so that no two of a table do at once
 * @queue: any sub-queue, another one for each
 */
static inline struct hop_flow hop_flow_unused(u32 last, u16 queue)
{
	return (struct hop_flow) { .last = last, .queue = queue };
}

/**
 * hop_flow_waits - the entry in which packets of a flow may wait
 * @set: the first entry of its set
 * @ways: how many it has
 * @hash: of the flow
 *
 * Return: the entry, or NULL: none of it wait.
 */
static inline struct hop_flow *hop_flow_waits(struct hop_flow *set, u32 ways, u32 hash)
{
	struct hop_flow *own = hop_flow_own(set, ways, hash), *f;

	for (f = set; f < set + ways && !own; f++)
		if (hop_flow_has_guest(f, hash))
			own = f;
	if (!own && hop_flow_is_crowded(hop_flow_crowd(set, ways, hash)))
		own = hop_flow_crowd(set, ways, hash);
	return own && own->packets ? own : NULL;
}

/**
 * enum hop_flow_found - what hop_flow_find() has found
 * @HOP_FLOW_KNOWN: packets of it, or of the entry that it shares, are queued
 * @HOP_FLOW_STICKY: none are, but within the sticky time
 * @HOP_FLOW_NEW: the entry is the flow's from now on: it is to be given a sub-queue
 * @HOP_FLOW_FULL: no entry: hop_flow_join() one
 */
enum hop_flow_found {
	HOP_FLOW_KNOWN,
	HOP_FLOW_STICKY,
	HOP_FLOW_NEW,
	HOP_FLOW_FULL,
};

/* The entry of another flow that a flow has shared and may go on sharing, or NULL */
static noinline __maybe_unused struct hop_flow *
hop_flow_shared(struct hop_flow *set, u32 ways, u32 hash, u32 now, u32 sticky)
{
	struct hop_flow *f, *host = NULL;

	for (f = set; f < set + ways; f++)
		if (hop_flow_has_guest(f, hash))
			host = f;
	if (!host && hop_flow_is_crowded(hop_flow_crowd(set, ways, hash)))
		host = hop_flow_crowd(set, ways, hash);
	return host && (host->packets || hop_flow_is_recent(host, now, sticky)) ? host : NULL;
}

/* How long an entry has been idle; 0 with packets */
static __always_inline u32 hop_flow_idle(const struct hop_flow *f, u32 now)
{
	return f->packets ? 0 : now - f->last;
}

/* The one that has been idle for longest; the first of several */
static __always_inline struct hop_flow *
hop_flow_idlest(struct hop_flow *set, u32 ways, u32 now, u32 *idle)
{
	struct hop_flow *f = set;
	u32 other;

	*idle = hop_flow_idle(set, now);
	if (ways == 1)
		return set;
	other = hop_flow_idle(set + 1, now);
	f = other > *idle ? set + 1 : f;
	*idle = max(*idle, other);
	other = hop_flow_idle(set + 2, now);
	f = other > *idle ? set + 2 : f;
	*idle = max(*idle, other);
	other = hop_flow_idle(set + 3, now);
	f = other > *idle ? set + 3 : f;
	*idle = max(*idle, other);
	return f;
}

/* Each new flow comes here: is it a guest, or in the crowd, or which entry may it have? That is the
 * longest idle one, the first of several.
 */
static __always_inline enum hop_flow_found
hop_flow_miss(struct hop_flow *set, u32 ways, u32 hash, u32 now, u32 sticky, struct hop_flow **flow)
{
	struct hop_flow *spare, *host = NULL;
	u32 guests = set->guest, idle;

	if (ways > 1)
		guests |= set[1].guest | set[2].guest | set[3].guest;
	if (unlikely(guests))
		host = hop_flow_shared(set, ways, hash, now, sticky);
	if (unlikely(host)) {
		*flow = host;
		if (host->packets)
			return HOP_FLOW_KNOWN;
		host->guest &= ~HOP_FLOW_CROWD;
		return HOP_FLOW_STICKY;
	}
	spare = hop_flow_idlest(set, ways, now, &idle);
	if (unlikely(idle < sticky))
		return HOP_FLOW_FULL;
	spare->hash = hash;
	spare->guest = 0;
	*flow = spare;
	return HOP_FLOW_NEW;
}

/**
 * hop_flow_find - the entry of a flow of which a packet comes
 * @set: the first entry of its set
 * @ways: how many it has
 * @hash: of the flow
 * @now: hop_flow_time()
 * @sticky: how long a flow is alive after its last packet, at least 1
 * @flow: filled in, but with HOP_FLOW_FULL
 */
static __always_inline enum hop_flow_found
hop_flow_find(struct hop_flow *set, u32 ways, u32 hash, u32 now, u32 sticky, struct hop_flow **flow)
{
	struct hop_flow *f = hop_flow_own(set, ways, hash);

	if (unlikely(!f))
		return hop_flow_miss(set, ways, hash, now, sticky, flow);
	*flow = f;
	if (f->packets)
		return HOP_FLOW_KNOWN;
	if (hop_flow_is_recent(f, now, sticky)) {
		f->guest &= ~HOP_FLOW_CROWD;
		return HOP_FLOW_STICKY;
	}
	f->guest = 0;
	return HOP_FLOW_NEW;
}

/**
 * hop_flow_join - a flow shares the entry of another
 * @f: the entry of its set that the caller has chosen of those without a guest, to be its guest;
 *	NULL if each has one: it goes to a crowd
 * @set: the first entry of its set
 * @ways: how many it has
 * @hash: of the flow
 *
 * Return: the entry.
 */
static inline struct hop_flow *
hop_flow_join(struct hop_flow *f, struct hop_flow *set, u32 ways, u32 hash)
{
	if (f) {
		f->guest = hop_flow_guest(hash);
	} else {
		f = hop_flow_crowd(set, ways, hash);
		f->guest |= HOP_FLOW_CROWD;
	}
	return f;
}

#endif
