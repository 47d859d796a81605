/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heard.h - what a host has heard of congestion points, so that no CNP counts twice
 *
 * A tag says who has made a CNP, not when: whoever has seen one may send it again. So a host keeps
 * of each congestion point the newest epoch and sequence, and when it first heard that one. What
 * is older is stale; and so is the newest one some time later, for CNPs of one interval have one
 * sequence and arrive together.
 *
 * The epoch is a clock's, which may have been set back when the congestion point starts again. An
 * earlier epoch is taken when nothing new has come for ROCC_SILENCE_NS, and then a CNP of an
 * earlier epoch that is played again is, too: until the congestion point itself speaks. That
 * cannot be told apart without a clock that both trust.
 *
 * Only signed CNPs whose tag is right may come here, or anyone could send an epoch of the far
 * future. So only who has the key fills the table, which is bounded: of a set that is full the one
 * makes room that was not heard for longest.
 *
 * Pure functions. Whoever calls them has a lock for the table.
 */
#ifndef _SLUICE_ROCC_HEARD_H
#define _SLUICE_ROCC_HEARD_H

#ifdef __KERNEL__
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <string.h>
#include "kernel_shim.h"
#endif

#include "cnp.h"

#define ROCC_HEARD_WAYS	8
#define ROCC_HEARD_SETS	128	/* a power of two */
#define ROCC_SILENCE_NS	60000000000ULL
/* CNPs of one interval leave one after the other, of a busy processor not within T */
#define ROCC_TOGETHER_NS	1000000ULL

/**
 * struct rocc_heard - the last that was heard of a congestion point
 * @address: of it
 * @port: of it
 * @queue: of that port
 * @sequence: the newest, of @epoch
 * @epoch: the newest; 0: this place is free
 * @first_ns: when @sequence was first heard
 * @last_ns: when a CNP was last found fresh
 */
struct rocc_heard {
	u8	address[16];
	u32	port;
	u32	sequence;
	u64	epoch;
	u64	first_ns;
	u64	last_ns;
	u16	queue;
};

/**
 * enum rocc_freshness - is a CNP new?
 * @ROCC_STALE: it is not
 * @ROCC_FRESH: it is
 * @ROCC_FRESH_BACK: it is taken for new, of a congestion point whose clock was set back
 */
enum rocc_freshness {
	ROCC_STALE,
	ROCC_FRESH,
	ROCC_FRESH_BACK,
};

/**
 * rocc_cnp_is_newer - is a CNP of a later interval than another one of that congestion point?
 * @cnp: the CNP
 * @epoch: of the other one
 * @sequence: of the other one
 *
 * A sequence never begins anew within an epoch.
 */
static inline bool rocc_cnp_is_newer(const struct cnp *cnp, u64 epoch, u32 sequence)
{
	return cnp->epoch > epoch || (cnp->epoch == epoch && cnp->sequence > sequence);
}

static inline bool rocc_heard_is_of(const struct rocc_heard *heard, const struct cnp *cnp)
{
	return heard->epoch && heard->port == cnp->port && heard->queue == cnp->queue &&
	       !memcmp(heard->address, cnp->address, sizeof(heard->address));
}

/* Of who is in the set, or of a place for it: free, or of the one not heard for longest */
static inline struct rocc_heard *rocc_heard_find(struct rocc_heard *set, const struct cnp *cnp)
{
	struct rocc_heard *heard, *place = set;

	for (heard = set; heard < set + ROCC_HEARD_WAYS; heard++) {
		if (rocc_heard_is_of(heard, cnp))
			return heard;
		if (place->epoch && (!heard->epoch || heard->last_ns < place->last_ns))
			place = heard;
	}
	memset(place, 0, sizeof(*place));
	memcpy(place->address, cnp->address, sizeof(place->address));
	place->port = cnp->port;
	place->queue = cnp->queue;
	return place;
}

/**
 * rocc_heard_judge - is a CNP new, and if it is, remember it
 * @set: where its congestion point is, or has to be: ROCC_HEARD_WAYS places
 * @cnp: the CNP; its tag is right
 * @now: time, ns
 */
static inline enum rocc_freshness
rocc_heard_judge(struct rocc_heard *set, const struct cnp *cnp, u64 now)
{
	struct rocc_heard *heard = rocc_heard_find(set, cnp);
	enum rocc_freshness fresh = ROCC_FRESH;

	if (cnp->epoch == heard->epoch && cnp->sequence == heard->sequence) {
		if (now - heard->first_ns > max_t(u64, 2ULL * cnp->interval, ROCC_TOGETHER_NS))
			return ROCC_STALE;
	} else if (rocc_cnp_is_newer(cnp, heard->epoch, heard->sequence)) {
		heard->first_ns = now;
	} else if (cnp->epoch < heard->epoch && now - heard->last_ns >= ROCC_SILENCE_NS) {
		heard->first_ns = now;
		fresh = ROCC_FRESH_BACK;
	} else {
		return ROCC_STALE;
	}
	heard->epoch = cnp->epoch;
	heard->sequence = cnp->sequence;
	heard->last_ns = now;
	return fresh;
}

#endif
