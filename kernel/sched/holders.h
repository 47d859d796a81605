/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * holders.h - which sub-queues each destination holds
 *
 * When sub-queues run out, some flows have to share. Those of an incast, all to one destination,
 * wait for each other wherever they are; any other flow that shares with one of them waits for
 * all of them. So it matters to know what a destination has already.
 *
 * A sub-queue is held by the destination of the flow that it was given to, until it is given to
 * another or is free. Those of one destination form a ring. Destinations are in a table by hash,
 * one in each place: one whose place is taken by another seems to hold nothing.
 *
 * Pure functions, O(1); the caller serialises.
 */
#ifndef _SLUICE_SCHED_HOLDERS_H
#define _SLUICE_SCHED_HOLDERS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

/**
 * struct hop_place - a destination
 * @destination: its hash
 * @held: sub-queues that it holds; 0 if the place is free
 * @queue: one of them
 */
struct hop_place {
	u32	destination;
	u16	held;
	u16	queue;
};

/**
 * struct hop_holding - who holds a sub-queue
 * @place: one more than the number of its destination's place, 0 if nobody holds it
 * @next: the next one of that destination
 * @prev: the one before
 */
struct hop_holding {
	u32	place;
	u16	next;
	u16	prev;
};

/**
 * struct hop_holders - the table
 * @places: destinations
 * @holdings: sub-queues
 * @mask: number of places, a power of two, less one
 * @held: sub-queues that somebody holds
 */
struct hop_holders {
	struct hop_place	*places;
	struct hop_holding	*holdings;
	u32			mask;
	u32			held;
};

/* Return: the place where a destination would be. */
static inline struct hop_place *hop_holders_place(const struct hop_holders *h, u32 destination)
{
	return &h->places[destination & h->mask];
}

/* Does a destination hold any sub-queue that is known? */
static inline bool hop_place_holds(const struct hop_place *place, u32 destination)
{
	return place->held && place->destination == destination;
}

/* May a destination hold one more of so many sub-queues? It has to leave as many as it has to
 * nobody: so one alone gets half of them, two get a third each, and some are always left for the
 * next one (dynamic thresholds, Choudhury and Hahne, 1998).
 */
static inline bool hop_place_may_grow(const struct hop_holders *h, const struct hop_place *place,
				      u32 queues)
{
	return place->held + h->held < queues;
}

/* Does somebody hold a sub-queue? */
static inline bool hop_holders_has(const struct hop_holders *h, u16 queue)
{
	return h->holdings[queue].place;
}

/* Nobody holds a sub-queue any more. */
static inline void hop_holders_release(struct hop_holders *h, u16 queue)
{
	struct hop_holding *holding = &h->holdings[queue];
	struct hop_place *place;

	if (!hop_holders_has(h, queue))
		return;
	place = &h->places[holding->place - 1];
	holding->place = 0;
	h->held--;
	if (!--place->held)
		return;
	place->queue = holding->next;
	h->holdings[holding->prev].next = holding->next;
	h->holdings[holding->next].prev = holding->prev;
}

/* A sub-queue is given to a destination, whose place is said. */
static inline void hop_holders_hold(struct hop_holders *h, u16 queue, struct hop_place *place,
				    u32 destination)
{
	struct hop_holding *holding = &h->holdings[queue], *ring;

	hop_holders_release(h, queue);
	if (!place->held) {
		place->destination = destination;
		place->queue = queue;
		holding->next = queue;
		holding->prev = queue;
	} else if (place->destination == destination) {
		ring = &h->holdings[place->queue];
		holding->next = place->queue;
		holding->prev = ring->prev;
		h->holdings[ring->prev].next = queue;
		ring->prev = queue;
	} else {
		return;
	}
	place->held++;
	h->held++;
	holding->place = place - h->places + 1;
}

/* Return: each sub-queue of a destination that holds some, in turn. */
static inline u16 hop_holders_next(const struct hop_holders *h, struct hop_place *place)
{
	u16 queue = place->queue;

	place->queue = h->holdings[queue].next;
	return queue;
}

#endif
