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
	}
	check(right, name);
	for (queue = 0; queue < QUEUES; queue++) {
		hop_holders_release(&holders, queue);
		hop_holders_release(&holders, queue);
		owner[queue] = 0;
	}
	for (right = true, to = 0; to < PLACES; to++)
		right &= !places[to].held;
	check(right, "and when all are free nothing is held");
}

int main(void)
{
	printf("TAP version 13\n");
	test_random(1, "one destination: each of its sub-queues comes in turn");
	test_random(5, "five destinations");
	test_random(PLACES, "as many as there are places");
	test_random(3 * PLACES, "of three in one place one is known");
	printf("1..%u\n", done);
	return failed > 0;
}
