// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_holders.c - which sub-queues each destination holds
 *
 * Beside the table a plain list says who holds what; both must agree whatever comes.
 */
#include <stdio.h>
#include <string.h>

#include "../../kernel/sched/holders.h"
#include "unit.h"

#define QUEUES	32
#define PLACES	64

static struct hop_place places[PLACES];
static struct hop_holding holdings[QUEUES];
static struct hop_holders holders = { places, holdings, PLACES - 1 };

static u32 owner[QUEUES];	/* 0: nobody, or one whose place was taken */

static u32 held_by(u32 destination)
{
	u32 i, n = 0;

	for (i = 0; i < QUEUES; i++)
		n += owner[i] == destination;
	return n;
}

/* Does another destination have this one's place? */
static bool taken(u32 destination, u16 but)
{
	u32 i;

	for (i = 0; i < QUEUES; i++)
		if (i != but && owner[i] && owner[i] != destination &&
		    owner[i] % PLACES == destination % PLACES)
			return true;
	return false;
}

static bool agrees(u32 destination)
{
	struct hop_place *place = hop_holders_place(&holders, destination);
	u32 n = held_by(destination), i, mask = 0;

	if (!n || !hop_place_holds(place, destination))
		return !n && !hop_place_holds(place, destination);
	if (place->held != n)
		return false;
	for (i = 0; i < n; i++)
		mask |= 1U << hop_holders_next(&holders, place);
	for (i = 0; i < QUEUES; i++)
		if ((mask >> i & 1) != (owner[i] == destination))
			return false;
	return true;
}

static void test_random(u32 destinations, const char *name)
{
	bool right = true;
	u32 step, queue, to;

	for (step = 0; step < 100000; step++) {
		queue = random64() % QUEUES;
		to = 1 + random64() % destinations;
		if (random64() % 3) {
			hop_holders_hold(&holders, queue, hop_holders_place(&holders, to), to);
			owner[queue] = taken(to, queue) ? 0 : to;
		} else {
			hop_holders_release(&holders, queue);
			owner[queue] = 0;
		}
		for (to = 1; to <= destinations; to++)
			right &= agrees(to);
		right &= holders.held == QUEUES - held_by(0);
	}
	check(right, name);
	for (queue = 0; queue < QUEUES; queue++) {
		hop_holders_release(&holders, queue);
		hop_holders_release(&holders, queue);
		owner[queue] = 0;
	}
	for (right = true, to = 0; to < PLACES; to++)
		right &= !places[to].held;
	check(right && !holders.held, "and when all are free nothing is held");
}

/* Each destination in turn takes what it may. Return: what the last one has. */
static u32 take(u32 destinations, u32 queues)
{
	struct hop_place *place = NULL;
	u32 to, n = 0;

	for (to = 1; to <= destinations; to++) {
		place = hop_holders_place(&holders, to);
		while (hop_place_may_grow(&holders, place, queues))
			hop_holders_hold(&holders, n++, place, to);
	}
	to = place->held;
	while (n)
		hop_holders_release(&holders, --n);
	return to;
}

/* One after the other each has half of what the others left; all at once, a part each, and one part
 * is nobody's.
 */
static void test_grow(void)
{
	struct hop_place *place;
	u32 queues, to, n;
	bool right = true;

	for (queues = 1; queues <= QUEUES; queues++)
		for (n = queues, to = 1; to <= 8; to++) {
			right &= take(to, queues) == (n + 1) / 2;
			n -= (n + 1) / 2;
		}
	check(right, "each gets half of what is left");
	for (n = 0, right = true; right; ) {
		right = false;
		for (to = 1; to <= 3; to++) {
			place = hop_holders_place(&holders, to);
			if (hop_place_may_grow(&holders, place, QUEUES)) {
				hop_holders_hold(&holders, n++, place, to);
				right = true;
			}
		}
	}
	check(n == 3 * QUEUES / 4, "three that grow at once leave a fourth part");
	while (n)
		hop_holders_release(&holders, --n);
}

int main(void)
{
	printf("TAP version 13\n");
	test_random(1, "one destination: each of its sub-queues comes in turn");
	test_random(5, "five destinations");
	test_random(PLACES, "as many as there are places");
	test_random(3 * PLACES, "of three in one place one is known");
	test_grow();
	printf("1..%u\n", done);
	return failed > 0;
}
