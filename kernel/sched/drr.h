/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drr.h - deficit round robin among sub-queues that may be paused
 *
 * Shreedhar, Varghese: Efficient Fair Queuing using Deficit Round Robin, SIGCOMM 1995. A
 * sub-queue gets a quantum of bytes when its turn begins, and sends while it has credit. Here it
 * may send a packet for which its credit, while there is any, is too small, and is in debt for
 * the rest: the length of the next packet need not be known. The paper's bounds are the same.
 *
 * A pause may end a turn half way. What is left of the credit then stays. The next turn fills it
 * up to a quantum and does not add a whole one: or each pause would leave some, without end. A
 * debt stays, too, and is paid from the next quantum. So at all times, with Max for the largest
 * packet,
 *
 *	-Max < deficit <= quantum
 *
 * and n turns in a row send at most n quanta and Max, at least n quanta less Max if none of them
 * is cut short. Of two sub-queues that are backlogged and not paused over any interval one has
 * at most one turn more: they differ by less than quantum + 2 Max.
 *
 * A sub-queue that runs empty starts anew, with neither credit nor debt.
 *
 * Pure functions; the caller serialises.
 */
#ifndef _SLUICE_SCHED_DRR_H
#define _SLUICE_SCHED_DRR_H

#include "bitset.h"

/**
 * hop_drr_begin - the credit with which a turn begins
 * @deficit: what was left of the last one, or a debt
 * @quantum: bytes for each turn, below 2^31
 *
 * Return: at most @quantum. If it is not above 0 the turn is over at once.
 */
static inline s32 hop_drr_begin(s32 deficit, u32 quantum)
{
	return deficit > 0 ? (s32)quantum : deficit + (s32)quantum;
}

/**
 * hop_drr_goes_on - does the sub-queue whose turn it was keep it?
 * @deficit: its credit
 * @ready: it is backlogged and not paused
 */
static inline bool hop_drr_goes_on(s32 deficit, bool ready)
{
	return deficit > 0 && ready;
}

/* The deficit of sub-queue @n; they stand @stride bytes apart. */
static inline s32 *hop_drr_deficit(s32 *deficit, size_t stride, u32 n)
{
	return (s32 *)((char *)deficit + n * stride);
}

/**
 * hop_drr_next - the next turn begins
 * @ready: sub-queues that are backlogged and not paused, at least one
 * @cursor: whose turn it was; whose it is
 * @deficit: of sub-queue 0
 * @stride: bytes from the deficit of one to that of the next
 * @quantum: bytes for each turn
 *
 * Who sends takes the bytes from the deficit of *@cursor.
 */
static inline void hop_drr_next(const struct hop_bitset *ready, u32 *cursor, s32 *deficit,
				size_t stride, u32 quantum)
{
	s32 *own;

	do {
		*cursor = hop_bitset_next(ready, (*cursor + 1) % HOP_BITSET_BITS);
		own = hop_drr_deficit(deficit, stride, *cursor);
		*own = hop_drr_begin(*own, quantum);
	} while (*own <= 0);
}

#endif
