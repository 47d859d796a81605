// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_drr.c - deficit round robin beside pauses
 *
 * What is expected is from Shreedhar and Varghese, Efficient Fair Queuing using Deficit Round
 * Robin, SIGCOMM 1995: lemma 4.2 (a bound of the deficit) and theorem 4.5 (how far two flows that
 * wait all the while may come apart), with packets, pauses and quanta at random.
 */
#include <stdio.h>
#include <string.h>

#include "../../kernel/sched/drr.h"
#include "unit.h"

#define QUEUES	8

/* As a qdisc has it: the deficit is one field of many. */
struct queue {
	u64	sent;
	bool	paused;
	bool	empty;
	bool	anew;		/* was empty since a packet last left */
	s32	deficit;
};

static struct queue queues[QUEUES];
static struct hop_bitset ready;
static u32 cursor, turns[QUEUES];

static void update(unsigned int i)
{
	if (queues[i].paused || queues[i].empty)
		hop_bitset_del(&ready, i);
	else
		hop_bitset_add(&ready, i);
}

static void start(void)
{
	unsigned int i;

	memset(queues, 0, sizeof(queues));
	memset(turns, 0, sizeof(turns));
	cursor = 0;
	for (i = 0; i < QUEUES; i++)
		update(i);
}

/* One packet leaves. Return: from which sub-queue, or -1. */
static int leaves(u32 quantum, u32 bytes)
{
	if (hop_bitset_empty(&ready))
		return -1;
	if (!hop_drr_goes_on(queues[cursor].deficit, hop_bitset_has(&ready, cursor))) {
		hop_drr_next(&ready, &cursor, &queues[0].deficit, sizeof(*queues), quantum);
		turns[cursor]++;
	}
	queues[cursor].deficit -= bytes;
	queues[cursor].sent += bytes;
	return cursor;
}

struct result {
	bool	in_bounds;	/* -Max < deficit <= quantum, all the time */
	s64	apart;		/* how far two came apart that were both ready all the while */
	s64	ahead;		/* how far one got ahead of another that was ready all the while */
};

/* Random packets of up to @max bytes; each step pauses or resumes somebody with @pauses in 1024. */
static struct result run(u32 quantum, u32 max, unsigned int pauses, unsigned int empties)
{
	static s64 low[QUEUES][QUEUES], both[QUEUES][QUEUES];
	struct result r = { .in_bounds = true };
	unsigned int step, i, j;
	s64 lead;

	start();
	memset(low, 0, sizeof(low));
	memset(both, 0, sizeof(both));
	for (step = 0; step < 50000; step++) {
		if (random64() % 1024 < pauses) {
			i = random64() % QUEUES;
			queues[i].paused = !queues[i].paused;
			update(i);
		}
		if (random64() % 1024 < empties) {
			i = random64() % QUEUES;
			queues[i].empty = !queues[i].empty;
			queues[i].anew = true;
			if (!queues[i].empty)
				queues[i].deficit = 0;
			update(i);
		}
		if (leaves(quantum, 1 + random64() % max) < 0)
			continue;
		r.in_bounds &= queues[cursor].deficit > -(s64)max &&
			       queues[cursor].deficit <= (s64)quantum;
		for (i = 0; i < QUEUES; i++) {
			for (j = 0; j < QUEUES; j++) {
				lead = queues[i].sent - queues[j].sent;
				/* since j was last paused, or one of the two empty */
				if (queues[j].paused || queues[j].anew || queues[i].anew ||
				    lead < low[i][j])
					low[i][j] = lead;
				if (lead - low[i][j] > r.ahead)
					r.ahead = lead - low[i][j];
				if (!hop_bitset_has(&ready, i) || !hop_bitset_has(&ready, j) ||
				    queues[i].anew || queues[j].anew || lead < both[i][j])
					both[i][j] = lead;
				if (lead - both[i][j] > r.apart)
					r.apart = lead - both[i][j];
			}
		}
		for (i = 0; i < QUEUES; i++)
			queues[i].anew = queues[i].empty;
	}
	return r;
}

static void test_bounds(void)
{
	static const u32 quanta[] = { 256, 1514, 3000, 65536, 1 << 20 };
	static const u32 maxima[] = { 1, 64, 1514, 9018, 65550 };
	static const unsigned int pauses[] = { 0, 8, 128, 1024 };
	bool in_bounds = true, apart = true, ahead = true;
	unsigned int i, j, k;
	struct result r;

	for (i = 0; i < 5; i++) {
		for (j = 0; j < 5; j++) {
			for (k = 0; k < 4; k++) {
				s64 bound = quanta[i] + 2 * (s64)maxima[j];

				r = run(quanta[i], maxima[j], pauses[k], 0);
				in_bounds &= r.in_bounds;
				apart &= r.apart < bound;
				ahead &= r.ahead < bound;
				r = run(quanta[i], maxima[j], pauses[k], 16);
				in_bounds &= r.in_bounds;
				apart &= r.apart < bound;
				ahead &= r.ahead < bound;
			}
		}
	}
	check(in_bounds, "drr: a deficit is above -Max and at most a quantum");
	check(apart, "drr: two that wait and are not paused stay within a quantum and 2 Max");
	check(ahead, "drr: one that is paused now and then gets ahead by no more");
}

/* After the last number that a set can have comes the first; what stands behind the set is none. */
static void test_last(void)
{
	static s32 deficits[HOP_BITSET_BITS + 1];
	struct {
		struct hop_bitset ready, behind;
	} sets = {};
	u32 cursor = HOP_BITSET_BITS - 1;

	hop_bitset_add(&sets.ready, cursor);
	hop_bitset_add(&sets.behind, 0);
	hop_drr_next(&sets.ready, &cursor, deficits, sizeof(*deficits), 1514);
	check(cursor == HOP_BITSET_BITS - 1, "drr: the last one alone has turn after turn");
	hop_bitset_add(&sets.ready, 3);
	hop_drr_next(&sets.ready, &cursor, deficits, sizeof(*deficits), 1514);
	check(cursor == 3, "drr: after the last one comes the first");
}

/* A pause after each packet, and a turn of another one in between */
static void test_many_pauses(void)
{
	static const u32 quanta[] = { 1514, 65536, 1 << 30 };
	bool ok = true, burst = true;
	unsigned int i, n;
	u64 before;

	for (i = 0; i < 3; i++) {
		start();
		for (n = 2; n < QUEUES; n++) {
			queues[n].empty = true;
			update(n);
		}
		for (n = 0; n < 100000; n++) {
			queues[0].paused = false;
			update(0);
			while (leaves(quanta[i], 60) != 0)
				;
			queues[0].paused = true;
			update(0);
			while (queues[1].deficit > 0)
				leaves(quanta[i], 65536);
			ok &= queues[0].deficit <= (s32)quanta[i];
		}
		queues[0].paused = false;
		update(0);
		before = queues[0].sent;
		while (leaves(quanta[i], 60) == 0)
			;
		burst &= queues[0].sent - before <= quanta[i] + 60;
	}
	check(ok, "drr: 100000 pauses leave a quantum");
	check(burst, "drr: and then no more than that is sent in a row");
}

/* Pausing takes nothing: what is left of a turn is there in the next one, and debts are, too. */
static void test_nothing_forfeited(void)
{
	bool ok = true;
	s32 left, next;
	unsigned int i;
	u32 quantum;

	for (i = 0; i < 1000000; i++) {
		quantum = 256 + random64() % (1 << 24);
		left = (s32)(random64() % (quantum + 65536)) - 65535;
		next = hop_drr_begin(left, quantum);
		ok &= next >= left && next <= (s32)quantum;
		ok &= next == (left > 0 ? (s32)quantum : left + (s32)quantum);
	}
	check(ok, "drr: a turn begins with what was left, filled up to a quantum");

	/* alone, a pause and a resume are as if they had not been */
	start();
	for (i = 1; i < QUEUES; i++) {
		queues[i].empty = true;
		update(i);
	}
	for (i = 0, ok = true; i < 1000; i++) {
		leaves(65536, 1000);
		left = queues[0].deficit;
		queues[0].paused = true;
		update(0);
		ok &= leaves(65536, 1000) < 0;
		queues[0].paused = false;
		update(0);
		ok &= queues[0].deficit == left;
	}
	check(ok && turns[0] == 16, "drr: alone, it goes on with its turn after a pause");
}

int main(void)
{
	printf("TAP version 13\n1..9\n");
	test_bounds();
	test_last();
	test_many_pauses();
	test_nothing_forfeited();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != 9;
}
