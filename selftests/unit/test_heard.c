// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_heard.c - what a host has heard of congestion points, and so which CNPs are new to it
 *
 * Each rule; a table with more congestion points than places; and a million CNPs of a few points
 * and an attacker who plays again what he has seen: held against a list of all that was ever taken.
 */
#include <stdio.h>
#include <string.h>

#include "../../kernel/rocc/heard.h"
#include "unit.h"

#define S	1000000000ULL
#define MS	1000000ULL
#define T	(2 * MS)

static struct rocc_heard set[ROCC_HEARD_WAYS];
static enum rocc_freshness hear_of(u32 port, u64 epoch, u32 sequence, u64 now)
{
	struct cnp c = { .port = port, .epoch = epoch, .sequence = sequence, .interval = T };

	return rocc_heard_judge(set, &c, now);
}

static enum rocc_freshness hear(u64 epoch, u32 sequence, u64 now)
{
	return hear_of(1, epoch, sequence, now);
}

static void test_sequence(void)
{
	memset(set, 0, sizeof(set));
	check(hear(100, 7, S) == ROCC_FRESH, "the first one is new, whatever it says");
	check(hear(100, 7, S + 2 * T) == ROCC_FRESH, "so is another one of its interval");
	check(hear(100, 7, S + 2 * T + 1) == ROCC_STALE, "but not two intervals after the first");
	check(hear(100, 6, S + 1) == ROCC_STALE, "an older one is stale");
	check(hear(100, 8, S + 2) == ROCC_FRESH && hear(100, 7, S + 3) == ROCC_STALE,
	      "as is all behind a newer one");
	check(hear(100, 0xffffffff, S + 4) == ROCC_FRESH && hear(100, 0, S + 5) == ROCC_STALE &&
	      hear(100, 0x80000000, S + 6) == ROCC_STALE, "sequences do not go round");
	check(hear(100, 8, S + 1000 * S) == ROCC_STALE,
	      "of one epoch an older one is stale however long nothing came");
}

static void test_short_interval(void)
{
	struct cnp c = { .port = 1, .epoch = 1, .sequence = 1, .interval = 1000 };
	bool ok;

	memset(set, 0, sizeof(set));
	ok = rocc_heard_judge(set, &c, S) == ROCC_FRESH;
	ok &= rocc_heard_judge(set, &c, S + ROCC_TOGETHER_NS) == ROCC_FRESH;
	ok &= rocc_heard_judge(set, &c, S + ROCC_TOGETHER_NS + 1) == ROCC_STALE;
	check(ok, "those of a short interval may take a millisecond to come");
}

static void test_epoch(void)
{
	memset(set, 0, sizeof(set));
	check(hear(100, 7, S) == ROCC_FRESH && hear(101, 1, S) == ROCC_FRESH,
	      "a later start begins anew");
	check(hear(100, 8, S) == ROCC_STALE, "an earlier one is stale");
	check(hear(100, 8, S + ROCC_SILENCE_NS - 1) == ROCC_STALE &&
	      hear(100, 8, S + ROCC_SILENCE_NS) == ROCC_FRESH_BACK,
	      "up to a minute after the last new one; those that are stale do not count");
	check(hear(100, 9, S + ROCC_SILENCE_NS) == ROCC_FRESH, "what follows is new");
	check(hear(99, 9, S + ROCC_SILENCE_NS) == ROCC_STALE, "and the minute begins again");
	check(hear(101, 1, S + ROCC_SILENCE_NS) == ROCC_FRESH &&
	      hear(100, 10, S + ROCC_SILENCE_NS) == ROCC_STALE,
	      "a clock that is right again is believed at once");
}

static void test_names(void)
{
	struct cnp c = { .port = 1, .queue = 2, .epoch = 5, .sequence = 5, .interval = T };
	struct cnp d = c;
	bool ok;

	memset(set, 0, sizeof(set));
	c.address[15] = 1;
	d = c;
	ok = rocc_heard_judge(set, &c, S) == ROCC_FRESH;
	c.sequence = 4;
	d.sequence = 4;
	d.port = 2;
	ok &= rocc_heard_judge(set, &d, S) == ROCC_FRESH;
	d = c;
	d.queue = 3;
	ok &= rocc_heard_judge(set, &d, S) == ROCC_FRESH;
	d = c;
	d.address[0] = 1;
	ok &= rocc_heard_judge(set, &d, S) == ROCC_FRESH;
	ok &= rocc_heard_judge(set, &c, S) == ROCC_STALE;
	check(ok, "address, port and queue are the name");
}

static void test_full(void)
{
	bool ok = true;
	u32 i;

	memset(set, 0, sizeof(set));
	for (i = 0; i < ROCC_HEARD_WAYS; i++)
		ok &= hear_of(i + 1, 10, 10, S + i) == ROCC_FRESH;
	for (i = 0; i < ROCC_HEARD_WAYS; i++)
		ok &= hear_of(i + 1, 10, 9, S + 100) == ROCC_STALE;
	check(ok, "a full set knows all of its points");
	ok = hear_of(1, 10, 11, S + 101) == ROCC_FRESH;
	ok &= hear_of(100, 10, 10, S + 102) == ROCC_FRESH;
	ok &= hear_of(1, 10, 10, S + 103) == ROCC_STALE;
	for (i = 2; i < ROCC_HEARD_WAYS; i++)
		ok &= hear_of(i + 1, 10, 9, S + 104) == ROCC_STALE;
	check(ok, "one more makes the one forgotten that was not heard for longest");
	check(hear_of(2, 10, 9, S + 105) == ROCC_FRESH, "which is what is lost");
}

/* Points that speak in order, each interval up to three CNPs of one sequence; an attacker plays
 * again any CNP at any time. What he plays is taken only while its interval is, and a minute of
 * silence is never reached.
 */
static void test_attacker(void)
{
	struct { u64 epoch; u32 sequence; u64 first; } newest[4] = {};
	u64 now = S, played = 0, taken = 0;
	enum rocc_freshness fresh;
	bool ok = true;
	u32 point, i;

	memset(set, 0, sizeof(set));
	for (i = 0; i < 1000000; i++) {
		now += random64() % T;
		point = random64() % 4;
		if (random64() % 3) {
			if (random64() % 1000 == 0) {
				newest[point].epoch = now;
				newest[point].sequence = 0;
			}
			newest[point].epoch = newest[point].epoch ?: now;
			newest[point].sequence++;
			newest[point].first = now;
			ok &= hear_of(point, newest[point].epoch, newest[point].sequence, now) ==
			      ROCC_FRESH;
		} else if (newest[point].sequence) {
			u32 back = random64() % min(newest[point].sequence, 5u);

			fresh = hear_of(point, newest[point].epoch, newest[point].sequence - back,
					now);
			played++;
			taken += fresh == ROCC_FRESH;
			ok &= fresh == (!back && now - newest[point].first <= 2 * T ? ROCC_FRESH :
									    ROCC_STALE);
		}
	}
	check(ok && taken && taken < played / 2,
	      "a million CNPs: of what is played again only the newest counts, for two intervals");
}

int main(void)
{
	printf("TAP version 13\n");
	test_sequence();
	test_short_interval();
	test_epoch();
	test_names();
	test_full();
	test_attacker();
	printf("1..%u\n", done);
	return failed != 0;
}
