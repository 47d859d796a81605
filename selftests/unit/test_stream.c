// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_stream.c - told states: what each rule says, then a line that loses and overtakes
 *
 * The line at random knows what has been said and what is true at both ends, by records of its own.
 * What it expects: what counts as echoed has been taken as it is; the newest that was said wins,
 * whatever the order of arrival; once the line is whole again, the other end knows all within four
 * refreshes; with nobody who speaks it forgets when the lease is over, and not before.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel_shim.h"
#include "unit.h"
#include "../../kernel/hopctl/stream.h"

static const struct hop_stream_times times = {
	.echo_ns = 10, .refresh_ns = 100, .lease_ns = 800,
};

static unsigned int below(unsigned int n)
{
	return random64() % n;
}

/* Says what is due, if anything is. Return: true if it was. */
static bool say(struct hop_stream *s, u64 now, struct hop_stream_part *part)
{
	if (now < hop_stream_next(s, 0))
		return false;
	hop_stream_part(s, now, part);
	hop_stream_said(s, part, &times, now);
	return true;
}

static void test_quiet(void)
{
	struct hop_stream s = { .pages = 64 };

	hop_stream_init(&s);
	hop_stream_start(&s, 5);
	check(hop_stream_next(&s, 0) == ~0ULL, "with nothing to say nothing is said");
	hop_stream_change(&s, 3, true);
	check(hop_stream_next(&s, 7) == 7, "a change is said as soon as a frame may leave");
	s.pages = 0;
	check(hop_stream_next(&s, 7) == ~0ULL, "but not to who cannot be told anything");
}

static void test_repeats(void)
{
	static const u64 at[] = { 1000, 1010, 1030, 1070, 1150, 1250, 1350 };
	struct hop_stream s = { .pages = 64 };
	struct hop_stream_part part;
	unsigned int i;
	bool ok = true;

	hop_stream_init(&s);
	hop_stream_change(&s, 5, false);
	hop_stream_change(&s, 7, false);
	for (i = 0; i < sizeof(at) / sizeof(*at); i++) {
		ok = ok && (!i || hop_stream_next(&s, 0) == at[i]);
		ok = ok && say(&s, at[i], &part) && part.first == 5 && part.count == 3 &&
		     part.how == (i ? HOP_STREAM_REPEAT : HOP_STREAM_NEW);
	}
	check(ok, "what is not echoed is said again after 1, 2, 4 times an echo, up to a refresh");
	check(s.stats.tx == 7 && s.stats.repeats == 6 && !s.stats.refreshes, "and is counted");
	check(hop_stream_acked(&s, s.seq - 6) && !s.unacked && hop_stream_next(&s, 0) == ~0ULL,
	      "an echo of the first time will do");
}

static void test_refreshes(void)
{
	struct hop_stream s = { .pages = 4 };
	struct hop_stream_part part;
	bool ok = true;
	u64 now = 1000;

	hop_stream_init(&s);
	hop_stream_start(&s, now);
	hop_stream_change(&s, 2, true);
	check(say(&s, now, &part) && !part.first && part.count == 4 &&
	      part.how == HOP_STREAM_NEW, "a new neighbour is told all pages");
	hop_stream_acked(&s, s.seq);
	while (now < 2000) {
		ok = ok && hop_stream_next(&s, 0) == now + 100;
		now += 100;
		ok = ok && say(&s, now, &part) && part.count == 4 &&
		     part.how == HOP_STREAM_REFRESH;
	}
	hop_stream_change(&s, 3, false);
	check(say(&s, now + 50, &part) && part.count == 1 && hop_stream_acked(&s, s.seq) &&
	      hop_stream_next(&s, 0) == now + 100, "a part of it is no refresh");
	check(ok && s.stats.refreshes == 10, "what must not be forgotten is refreshed, whole");
	hop_stream_change(&s, 2, false);
	say(&s, now, &part);
	hop_stream_acked(&s, s.seq);
	check(hop_stream_next(&s, 0) == ~0ULL, "and not any more when it may be");
	hop_stream_change(&s, 1, true);
	say(&s, now, &part);
	hop_stream_unsaid(&s);
	check(hop_stream_next(&s, 9) == 9 && (hop_stream_part(&s, now, &part), part.count == 4),
	      "what the device did not take is said at once, whole");
	check(s.told[1] == 1 && !s.told[2], "a page is told as it is");
	hop_stream_stop(&s);
	check(hop_stream_next(&s, 0) == ~0ULL, "a neighbour that is gone is told nothing");
	check(!s.told[1], "and takes all for what it was at the beginning");
}

static void test_numbers(void)
{
	struct hop_stream s = { .pages = 64, .seq = 0xfffffffe };
	struct hop_stream_part part;
	unsigned int i;
	bool ok = true;

	for (i = 0; i < 4; i++) {
		hop_stream_change(&s, i, false);
		ok = ok && hop_stream_is_fresh(&s, i);
		say(&s, i, &part);
		ok = ok && !hop_stream_is_fresh(&s, i) && s.unacked == 1ULL << i &&
		     hop_stream_acked(&s, s.seq) && !s.unacked;
	}
	check(ok && s.seq == 2, "numbers pass the wrap");
	check(!hop_stream_acked(&s, 3) && s.seq == 3, "a number that was not said is gone on from");
	check(!hop_stream_acked(&s, 3 + 0x40000001) && s.seq == 3, "unless it is too far ahead");
	check(hop_stream_heard(&s, 7) && !hop_stream_heard(&s, 7) && !hop_stream_heard(&s, 6) &&
	      hop_stream_heard(&s, 8) && hop_stream_heard(&s, 0x80000007) &&
	      !hop_stream_heard(&s, 8), "only what is newer counts, modulo 2^32");
}

/* ---- a line at random ---- */

#define PAGES	8
#define FLIGHT	64

struct said {
	bool			ack;
	u32			seq;
	u64			at;	/* when it arrives */
	struct hop_stream_part	part;
	u32			page[PAGES];
};

static struct {
	struct hop_stream here, there;
	u32	truth[PAGES];	/* as it is here */
	u32	known[PAGES];	/* as it was taken there */
	u64	lease_at;
	struct said flight[FLIGHT];
	unsigned int n;
	unsigned int loss;	/* percent */
	unsigned int late;	/* ns at most beyond 5 */
} line;

static void line_put(const struct said *f, u64 now)
{
	if (line.n == FLIGHT || below(100) < line.loss)
		return;
	line.flight[line.n] = *f;
	line.flight[line.n++].at = now + 5 + (line.late ? below(line.late) : 0);
}

static void line_say(u64 now)
{
	struct said f = {};

	if (!say(&line.here, now, &f.part))
		return;
	f.seq = line.here.seq;
	memcpy(f.page, line.truth, sizeof(f.page));
	line_put(&f, now);
}

static bool line_take(const struct said *f, u64 now)
{
	unsigned int i;
	bool held = false, ok = true;

	if (f->ack) {
		hop_stream_acked(&line.here, f->seq);
		/* what counts as echoed is so there, if it has not been forgotten */
		for (i = 0; i < PAGES; i++)
			if (!(line.here.unacked >> i & 1) && now < line.lease_at)
				ok = ok && line.known[i] == line.truth[i];
		return ok;
	}
	if (hop_stream_heard(&line.there, f->seq)) {
		for (i = f->part.first; i < f->part.first + f->part.count; i++)
			line.known[i] = f->page[i];
		for (i = 0; i < PAGES; i++)
			held = held || line.known[i];
		line.lease_at = held ? now + times.lease_ns : ~0ULL;
	}
	line_put(&(struct said) { .ack = true, .seq = line.there.rx_seq }, now);
	return true;
}

static bool line_arrivals(u64 now)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < line.n;) {
		struct said f = line.flight[i];

		if (f.at > now) {
			i++;
			continue;
		}
		line.flight[i] = line.flight[--line.n];
		ok = line_take(&f, now) && ok;
	}
	if (now >= line.lease_at) {
		memset(line.known, 0, sizeof(line.known));
		line.lease_at = ~0ULL;
	}
	return ok;
}

static void line_change(u64 now)
{
	unsigned int page = below(PAGES);
	u32 value = below(3);

	if (line.truth[page] == value)
		return;
	line.truth[page] = value;
	hop_stream_change(&line.here, page, value);
	line_say(now);
}

static void test_line(void)
{
	unsigned int round;
	bool echoes = true, knows = true;
	u64 now = 1000, end;

	memset(&line, 0, sizeof(line));
	hop_stream_init(&line.here);
	line.here.pages = PAGES;
	hop_stream_init(&line.there);
	line.lease_at = ~0ULL;
	hop_stream_start(&line.here, now);
	for (round = 0; round < 20000; round++) {
		line.loss = below(4) * 30;
		line.late = below(3) * 40;
		for (end = now + 200; now < end; now++) {
			if (!below(20))
				line_change(now);
			echoes = line_arrivals(now) && echoes;
			line_say(now);
		}
		line.loss = 0;
		line.late = 0;
		for (end = now + 4 * times.refresh_ns; now < end; now++) {
			echoes = line_arrivals(now) && echoes;
			line_say(now);
		}
		knows = knows && !line.here.unacked &&
			!memcmp(line.known, line.truth, sizeof(line.truth));
	}
	check(echoes, "20000 times faults: what counts as echoed has been taken");
	check(knows, "and all is known four refreshes after they end");
	check(line.here.stats.repeats > 20000 && line.here.stats.refreshes > 20000,
	      "with repetitions and refreshes");

	line_change(now);
	line.truth[0] = 1;
	hop_stream_change(&line.here, 0, true);
	line_say(now);
	for (end = now + 50; now < end; now++)
		line_arrivals(now);
	end = line.lease_at;
	check(line.known[0] == 1 && end > now && end <= now + times.lease_ns,
	      "a lease is counted from the last state");
	for (; now < end; now++)
		line_arrivals(now);
	knows = line.known[0] == 1;
	line_arrivals(now);
	check(knows && !line.known[0],
	      "what nobody renews is forgotten when its lease is over, not before");
}

int main(void)
{
	test_quiet();
	test_repeats();
	test_refreshes();
	test_numbers();
	test_line();
	printf("1..%u\n", done);
	return failed != 0;
}
