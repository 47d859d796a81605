/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reaction.h - how long a pause takes to have an effect
 *
 * HELLOs measure an idle link and believe what the neighbour says of its card. What counts is the
 * time from the frame that pauses a sub-queue to the last packet of it that still comes, and the
 * fabric tags tell which packets those are. One sub-queue of the neighbour is looked at at a time.
 * What is seen of it counts only if
 *
 *	- the neighbour has echoed the very frame that first said the pause: it was not lost;
 *	- a packet came after that: there was one on its way;
 *	- then none came for an HRTT before the resume: that did not cut the time short;
 *	- it is no longer than an HRTT may be: whoever sends on after that does not obey, perhaps
 *	  since a watchdog of its own takes the pause for a storm.
 *
 * Pure functions.
 */
#ifndef _SLUICE_HOPCTL_REACTION_H
#define _SLUICE_HOPCTL_REACTION_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_REACTIONS		16
#define HOP_REACTION_OLD_NS	10000000000ULL	/* says nothing of the link any more */
#define HOP_REACTION_MAX_NS	100000000	/* HOP_HRTT_MAX_NS */
#define HOP_REACTION_NONE	0xffffU	/* no VLAN id */

/**
 * struct hop_reaction - what is measured of a port's pauses
 * @vid: VLAN id (sub-queue + 1) of the neighbour's sub-queue that is looked at, HOP_REACTION_NONE
 *	if none is
 * @next: the same of the one that is looked at from the next frame on
 * @heard: the neighbour has echoed @seq
 * @seq: sequence number of the frame that paused @vid
 * @sent_ns: when that left
 * @window: the latest times, ns
 * @window_ns: when each was measured
 * @count: how many there were, ever
 */
struct hop_reaction {
	u32	vid;
	u32	next;
	bool	heard;
	u32	seq;
	u64	sent_ns;
	u32	window[HOP_REACTIONS];
	u64	window_ns[HOP_REACTIONS];
	u64	count;
};

/* Nothing is looked at any more. */
static inline void hop_reaction_void(struct hop_reaction *r)
{
	r->vid = HOP_REACTION_NONE;
	r->next = HOP_REACTION_NONE;
}

/* Nothing is known: the neighbour is another one. */
static inline void hop_reaction_reset(struct hop_reaction *r)
{
	hop_reaction_void(r);
	r->count = 0;
}

/**
 * hop_reaction_begin - the frame that pauses the next sub-queue leaves
 * @r: it
 * @seq: the frame's sequence number
 * @now: time
 */
static inline void hop_reaction_begin(struct hop_reaction *r, u32 seq, u64 now)
{
	r->vid = r->next;
	r->next = HOP_REACTION_NONE;
	r->heard = false;
	r->seq = seq;
	r->sent_ns = now;
}

/**
 * hop_reaction_acked - the neighbour has echoed a frame
 * @r: it
 * @seq: the newest that it has got
 *
 * One that has got a later frame only may have missed the first.
 */
static inline void hop_reaction_acked(struct hop_reaction *r, u32 seq)
{
	if (seq == r->seq)
		r->heard = true;
	else if (!r->heard && (s32)(seq - r->seq) > 0)
		r->vid = HOP_REACTION_NONE;
}

/**
 * hop_reaction_end - what was seen of the sub-queue
 * @r: it
 * @last: low half of when its last packet came; of before the pause if none has come
 * @now: time; a packet may have come since, on another processor
 * @silence_ns: how long none may have come for: the HRTT as HELLOs tell it, not what is measured
 *	here, or one that was long would void all later ones
 *
 * Return: a time was added to the window.
 */
static inline bool hop_reaction_end(struct hop_reaction *r, u32 last, u64 now, u32 silence_ns)
{
	s32 took = last - (u32)r->sent_ns, quiet = (u32)now - last;

	hop_reaction_void(r);
	if (!r->heard || took <= 0 || took > HOP_REACTION_MAX_NS || quiet < (s32)silence_ns)
		return false;
	r->window[r->count % HOP_REACTIONS] = took;
	r->window_ns[r->count++ % HOP_REACTIONS] = now;
	return true;
}

/**
 * hop_reaction_most - the longest of the latest times
 * @r: it
 * @now: time
 *
 * Return: ns, 0 if none was measured within HOP_REACTION_OLD_NS.
 */
static inline u32 hop_reaction_most(const struct hop_reaction *r, u64 now)
{
	unsigned int i, n = r->count < HOP_REACTIONS ? r->count : HOP_REACTIONS;
	u32 most = 0;

	for (i = 0; i < n; i++)
		if (r->window[i] > most && now - r->window_ns[i] < HOP_REACTION_OLD_NS)
			most = r->window[i];
	return most;
}

/**
 * hop_reaction_round - a time that small changes do not change
 * @ns: below 2^31
 *
 * Each measurement is another one, and what follows from it is worked out anew in many places.
 * Return: the next number of four binary digits, at most an eighth more.
 */
static inline u32 hop_reaction_round(u32 ns)
{
	u32 unit = 1;

	while (ns / unit >= 16)
		unit *= 2;
	return (ns + unit - 1) / unit * unit;
}

#endif
