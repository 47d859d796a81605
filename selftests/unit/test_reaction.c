// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_reaction.c - what counts as the time that a pause takes, and what does not
 *
 * The sub-queue's packets are on a line of known length: the last one comes when all have that
 * had left before the pause arrived. So each time is known without the code.
 */
#include <stdio.h>
#include <string.h>

#include "../../kernel/hopctl/reaction.h"
#include "unit.h"

#define SILENCE	1000

/* A pause of sub-queue 7 that leaves at @now as frame @seq */
static struct hop_reaction begun(u32 seq, u64 now)
{
	struct hop_reaction r = {};

	hop_reaction_reset(&r);
	r.next = 8;
	hop_reaction_begin(&r, seq, now);
	return r;
}

static bool nothing(const struct hop_reaction *r)
{
	return r->vid == HOP_REACTION_NONE && r->next == HOP_REACTION_NONE;
}

static void test_counts(void)
{
	static const u64 starts[] = {
		5000, UINT32_MAX - 100, UINT32_MAX, 1ULL << 32, (7ULL << 32) + 9
	};
	bool times_ok = true, soon_ok = true, none_ok = true;
	struct hop_reaction r;
	unsigned int i;

	r = begun(3, 5000);
	check(r.vid == 8 && r.next == HOP_REACTION_NONE && !r.heard, "it begins with the frame");
	/* at all places of the clock whose low half is kept */
	for (i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		u64 t = starts[i];

		r = begun(3, t);
		hop_reaction_acked(&r, 3);
		times_ok &= hop_reaction_end(&r, (u32)(t + 400), t + 400 + SILENCE, SILENCE) &&
			    nothing(&r) && r.count == 1 && r.window[0] == 400;
		r = begun(3, t);
		hop_reaction_acked(&r, 3);
		soon_ok &= !hop_reaction_end(&r, (u32)(t + 400), t + 399 + SILENCE, SILENCE) &&
			   nothing(&r) && !r.count;
		r = begun(3, t);
		hop_reaction_acked(&r, 3);
		none_ok &= !hop_reaction_end(&r, (u32)t, t + 9 * SILENCE, SILENCE) &&
			   !hop_reaction_end(&r, (u32)(t - 1), t + 9 * SILENCE, SILENCE) &&
			   !r.count;
	}
	check(times_ok, "the time to the last packet, once it has been silent for long enough");
	check(soon_ok, "resumed before that: void");
	check(none_ok, "no packet after the pause: void");
	r = begun(3, 5000);
	hop_reaction_acked(&r, 3);
	check(!hop_reaction_end(&r, 5000 + 7 * SILENCE, 5000 + 7 * SILENCE, SILENCE) && !r.count,
	      "packets that never end: void");
	/* no link takes so long: whoever goes on sending does not obey */
	r = begun(3, 5000);
	hop_reaction_acked(&r, 3);
	check(hop_reaction_end(&r, 5000 + 100000000, 500000000, SILENCE) && r.count == 1,
	      "100 ms are the most that an HRTT may be");
	r = begun(3, 5000);
	hop_reaction_acked(&r, 3);
	check(!hop_reaction_end(&r, 5000 + 100000001, 500000000, SILENCE) && !r.count,
	      "what takes longer is not the link: void");
	/* another processor is ahead */
	r = begun(3, 5000);
	hop_reaction_acked(&r, 3);
	check(!hop_reaction_end(&r, 5000 + 7 * SILENCE + 1, 5000 + 7 * SILENCE, SILENCE) &&
	      !r.count, "one that has come since: void");
}

/* Which frames the neighbour has got is known by their echoes only. */
static void test_echoes(void)
{
	struct hop_reaction r = begun(3, 5000);

	check(!hop_reaction_end(&r, 5400, 9000, SILENCE), "no echo: void");
	r = begun(3, 5000);
	hop_reaction_acked(&r, 2);
	check(r.vid == 8 && !r.heard, "an echo of before says nothing");
	hop_reaction_acked(&r, 4);
	check(r.vid == HOP_REACTION_NONE, "one of a later frame alone: the first may be lost");
	r = begun(3, 5000);
	hop_reaction_acked(&r, 3);
	hop_reaction_acked(&r, 9);
	hop_reaction_acked(&r, 2);
	check(r.vid == 8 && hop_reaction_end(&r, 5400, 9000, SILENCE),
	      "later ones behind its own do not matter");
	r = begun(UINT32_MAX, 5000);
	hop_reaction_acked(&r, UINT32_MAX - 1);
	check(r.vid == 8, "numbers wrap: before");
	hop_reaction_acked(&r, 0);
	check(r.vid == HOP_REACTION_NONE, "numbers wrap: after");
}

static u64 measure(struct hop_reaction *r, u32 ns)
{
	static u64 begin;
	u64 end;

	begin += 10 * SILENCE;
	end = begin + ns + SILENCE;
	r->next = 1;
	hop_reaction_begin(r, 1, begin);
	hop_reaction_acked(r, 1);
	hop_reaction_end(r, begin + ns, end, SILENCE);
	return end;
}

static void test_window(void)
{
	struct hop_reaction r;
	bool ok = true;
	u64 now;
	u32 i;

	hop_reaction_reset(&r);
	check(!hop_reaction_most(&r, 0), "nothing measured: 0");
	measure(&r, 5000);
	for (i = 1; i < HOP_REACTIONS; i++) {
		now = measure(&r, 100 + i);
		ok &= hop_reaction_most(&r, now) == 5000;
	}
	check(ok, "the longest of 16");
	now = measure(&r, 90);
	check(hop_reaction_most(&r, now) == 100 + HOP_REACTIONS - 1 &&
	      r.count == HOP_REACTIONS + 1, "the 17th drives the first out");
	hop_reaction_reset(&r);
	check(!hop_reaction_most(&r, now) && nothing(&r),
	      "another neighbour: nothing of it is left");
	now = measure(&r, 5000);
	check(hop_reaction_most(&r, now + HOP_REACTION_OLD_NS - 1) == 5000 &&
	      !hop_reaction_most(&r, now + HOP_REACTION_OLD_NS),
	      "a time counts for 10 s, though none comes after it");
}

/* Four binary digits are what a float of four has: compared with shifts of the next one up. */
static void test_round(void)
{
	bool ok = true;
	u32 ns, rounded, bit;

	for (ns = 0; ns < 1U << 20; ns++) {
		rounded = hop_reaction_round(ns);
		ok &= rounded >= ns && rounded <= ns + ns / 8;
		for (bit = 1; bit && !(rounded & bit); bit <<= 1)
			;
		ok &= !rounded || rounded / bit <= 16;
		ok &= hop_reaction_round(rounded) == rounded;
	}
	check(ok, "rounded up, by an eighth at most, to four digits, once and for all");
	ok = true;
	for (ns = 1; ns < 1U << 20; ns++)
		ok &= hop_reaction_round(ns) >= hop_reaction_round(ns - 1);
	check(ok, "in order");
	check(hop_reaction_round(0x7fffffff) == 0x80000000U, "the largest");
}

int main(void)
{
	test_counts();
	test_echoes();
	test_window();
	test_round();
	printf("1..%u\n", done);
	return failed != 0;
}
