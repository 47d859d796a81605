// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_wire_line.c - arithmetic of the virtual cable's line and of its fault stream
 *
 * Serialisation is held against 128-bit arithmetic, the fault stream against published values of
 * its generator and against the expected counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/wire/wire_line.c"
#include "unit.h"

typedef unsigned __int128 u128;

/* When the last of @n frames that follow each other has left, if the first started at @start. */
static u64 exact(u64 start, u64 rate_bps, u64 n, u32 bytes)
{
	return start + (u64)((u128)n * bytes * 8000000000ULL / rate_bps);
}

static bool train(u64 rate_bps, u64 n, u32 bytes)
{
	struct wire_line line = { .rate_bps = rate_bps };
	u64 start = 1000000007, i;

	for (i = 1; i <= n; i++)
		if (wire_line_send(&line, i == 1 ? start : 0, bytes) !=
		    exact(start, rate_bps, i, bytes))
			return false;
	return line.remainder < rate_bps;
}

static void test_whole(void)
{
	struct wire_line line = { .rate_bps = 100000000000ULL };

	check(wire_line_send(&line, 500, 1000) == 580, "1000 B at 100 Gb/s take 80 ns");
	check(!line.remainder, "a whole number of ns leaves no remainder");
	line = (struct wire_line){ .rate_bps = 1 };
	check(wire_line_send(&line, 0, 1) == 8000000000ULL, "1 B at 1 bit/s takes 8 s");
	line = (struct wire_line){};
	check(wire_line_send(&line, 77, 9000) == 77, "no rate takes no time");
	check(wire_line_send(&line, 5, 9000) == 77, "no rate does not turn time back");
}

static void test_fractions(void)
{
	check(train(400000000000ULL, 100000, 64), "64 B at 400 Gb/s, 100000 frames");
	check(train(400000000000ULL, 100000, 1518), "1518 B at 400 Gb/s, 100000 frames");
	check(train(3000000000ULL, 100000, 1000), "1000 B at 3 Gb/s, 100000 frames");
	check(train(7, 1000, 1500), "1500 B at 7 bit/s, 1000 frames");
	check(train(999999999989ULL, 100000, 65549), "65549 B at a prime rate, 100000 frames");
	check(train(WIRE_RATE_MAX_BPS, 100000, 60), "60 B at the greatest rate, 100000 frames");
	check(train(WIRE_RATE_MAX_BPS - 1, 1000, WIRE_FRAME_MAX_BYTES),
	      "the largest frame just below the greatest rate");
	check(train(1, 100, WIRE_FRAME_MAX_BYTES), "the largest frame at 1 bit/s");
}

static void test_mixed(void)
{
	struct wire_line line = { .rate_bps = 400000000000ULL };
	u64 bits = 0, stream = 9;
	bool ok = true;
	int i;

	for (i = 0; i < 100000 && ok; i++) {
		u32 bytes = 60 + wire_stream_below(&stream, 9000);

		bits += bytes * 8ULL;
		ok = wire_line_send(&line, 0, bytes) == (u64)((u128)bits * 1000000000 /
							      line.rate_bps);
	}
	check(ok, "frames of mixed sizes add up");
}

static void test_idle(void)
{
	struct wire_line line = { .rate_bps = 3000000000ULL };

	check(wire_line_send(&line, 0, 1000) == 2666 && line.remainder, "2666.67 ns leave a rest");
	check(wire_line_send(&line, 2666, 1000) == 5333, "a frame that came in time gets the rest");
	check(wire_line_send(&line, 5334, 1000) == 8000, "one that came later does not");
}

static void test_set_rate(void)
{
	struct wire_line line = { .rate_bps = 3000000000ULL };

	wire_line_send(&line, 0, 1000);
	wire_line_set_rate(&line, 3000000000ULL);
	check(line.remainder, "the same rate keeps the rest");
	wire_line_set_rate(&line, 8000000000ULL);
	check(!line.remainder, "another rate drops it");
	check(wire_line_send(&line, 0, 1000) == 3666, "and goes on where the line was");
}

static void test_train_bytes(void)
{
	check(wire_train_bytes(1000, 0, 0, 24) == 1024, "one frame has one overhead");
	check(wire_train_bytes(54 + 4000, 54, 1000, 24) == 4 * (1000 + 54 + 24),
	      "four full segments have four headers");
	check(wire_train_bytes(54 + 4001, 54, 1000, 0) == 4001 + 5 * 54, "and one byte more five");
	check(wire_train_bytes(54, 54, 1000, 4) == 58, "headers without payload are one frame");
}

static void test_stream(void)
{
	u64 stream = wire_stream_start(0, false), other = wire_stream_start(0, true);
	u32 below[10] = {}, i, least = ~0U;

	check(wire_stream_draw(&stream) == 0xe220a8397b1dcdafULL &&
	      wire_stream_draw(&stream) == 0x6e789e6aa1b965f4ULL &&
	      wire_stream_draw(&stream) == 0x06c45d188009454fULL,
	      "the generator's published first three numbers");
	check(wire_stream_draw(&other) != 0xe220a8397b1dcdafULL, "each direction has its own");
	for (i = 0; i < 100000; i++)
		below[wire_stream_below(&stream, 10)]++;
	for (i = 0; i < 10; i++)
		least = below[i] < least ? below[i] : least;
	/* 10000 expected each; 5 standard deviations are 474 */
	check(least > 10000 - 474, "numbers below a bound are even");
}

static void test_hit(void)
{
	u64 stream = 42, before, never = 0, always = 0, rare = 0, i;

	before = stream;
	for (i = 0; i < 1000; i++)
		never += wire_stream_hit(&stream, 0);
	check(!never && stream == before, "the impossible never happens and draws nothing");
	for (i = 0; i < 1000000; i++)
		always += wire_stream_hit(&stream, 1000000000);
	check(always == 1000000, "the certain always happens");
	for (i = 0; i < 1000000; i++)
		rare += wire_stream_hit(&stream, 1000000);
	/* 1000 expected; 5 standard deviations are 158 */
	check(rare > 842 && rare < 1158, "one in a thousand happens that often");
}

/**
 * struct runs - what a long series of frames met
 * @frames: in all
 * @lost: of them
 * @runs: of losses
 * @squares: sum of squares of the runs' lengths
 */
struct runs {
	u64 frames;
	u64 lost;
	u64 runs;
	double squares;
};

static struct runs lose(u64 seed, u64 frames, u32 probability, u32 mean)
{
	struct runs r = { .frames = frames };
	bool burst = false, before = false, lost;
	u64 i, length = 0;

	for (i = 0; i < frames; i++) {
		lost = wire_stream_lose(&seed, &burst, probability, mean);
		r.lost += lost;
		r.runs += lost && !before;
		length = lost ? length + 1 : 0;
		/* the sum of 1, 3, 5 ... is the square */
		r.squares += lost ? 2 * length - 1 : 0;
		before = lost;
	}
	return r;
}

static bool near(double got, double want, double percent)
{
	return got >= want * (1 - percent / 100) && got <= want * (1 + percent / 100);
}

/* 100000 runs: the mean length has a standard deviation of 0.3 %, the share of at most 0.45 %. */
static void bursts(double share, u32 mean)
{
	u64 frames = (u64)(100000 * mean / share);
	struct runs r = lose(mean, frames, (u32)(share * WIRE_CERTAIN + 0.5), mean);
	double length = (double)r.lost / r.runs;
	char what[128];

	snprintf(what, sizeof(what), "%g%% in bursts of %u: share %.4f%%, mean %.3f", share * 100,
		 mean, 100.0 * r.lost / r.frames, length);
	check(near((double)r.lost / r.frames, share, 2) && near(length, mean, 2), what);
	/* a geometric distribution: the mean square is N (2 N - 1) */
	snprintf(what, sizeof(what), "%g%% in bursts of %u: their lengths are geometric",
		 share * 100, mean);
	check(near(r.squares / r.runs, mean * (2.0 * mean - 1), 5), what);
}

static void test_bursts(void)
{
	bool burst = true;
	u64 stream = 3, plain = 3, same = 0, i;
	struct runs r;

	bursts(0.001, 2);
	bursts(0.01, 10);
	bursts(0.1, 10);
	bursts(0.3, 10);
	bursts(0.5, 10);
	bursts(0.5, 2);
	bursts(0.9, 10);
	bursts(0.9, 100);
	r = lose(5, 3000000000ULL / 1000, 500000000, 1);
	/* run lengths of independent losses: 1 / (1 - p) */
	check(near((double)r.lost / r.frames, 0.5, 1) && near((double)r.lost / r.runs, 2, 1),
	      "bursts of 1 are independent losses");
	for (i = 0; i < 100000; i++)
		same += wire_stream_lose(&stream, &burst, 100000000, 1) ==
			wire_stream_hit(&plain, 100000000);
	check(same == 100000 && stream == plain && !burst, "drawn as without bursts");
	/* 10/11 in runs of 10: each run is followed by one frame */
	r = lose(7, 10000000, 909090909, 10);
	check(near((double)r.lost / r.frames, 10.0 / 11, 1) &&
	      r.frames - r.lost <= r.runs + 1, "as much as fits: one frame between two bursts");
}

static void test_burst_limits(void)
{
	bool burst = true;
	u64 stream = 42, before = stream, always = 0, i;

	check(!wire_stream_lose(&stream, &burst, 0, 10) && !burst && stream == before,
	      "no loss ends a burst and draws nothing");
	for (i = 0; i < 100000; i++)
		always += wire_stream_lose(&stream, &burst, WIRE_CERTAIN, 10);
	check(always == 100000, "everything is lost in bursts too");
	check(wire_burst_fits(909090909, 10) && !wire_burst_fits(909090910, 10),
	      "10/11 is the most in bursts of 10");
	check(wire_burst_fits(999999999, 1) && wire_burst_fits(WIRE_CERTAIN, 2) &&
	      !wire_burst_fits(999999999, 1000000), "all but 1 ppb fits in no burst");
}

static void test_part(void)
{
	u64 stream = 11, whole = 1000000ULL * WIRE_CERTAIN, rare = 0, i;

	for (i = 0; i < 1000000; i++)
		rare += wire_stream_part(&stream, whole / 1000, whole);
	/* 1000 expected; 5 standard deviations are 158 */
	check(rare > 842 && rare < 1158, "a part of a large whole happens that often");
	check(wire_stream_part(&stream, whole, whole) && !wire_stream_part(&stream, 0, whole),
	      "the whole always, nothing never");
}

int main(void)
{
	printf("KTAP version 1\n");
	test_whole();
	test_fractions();
	test_mixed();
	test_idle();
	test_set_rate();
	test_train_bytes();
	test_stream();
	test_hit();
	test_part();
	test_bursts();
	test_burst_limits();
	printf("1..%u\n", done);
	return !!failed;
}
