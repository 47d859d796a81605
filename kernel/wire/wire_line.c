// SPDX-License-Identifier: GPL-2.0-only
/*
 * wire_line.c - arithmetic of a line that serialises frames, and of its fault stream
 *
 * A frame of L bytes occupies a line of R bit/s for L * 8e9 / R nanoseconds, which is seldom a
 * whole number: 1000 bytes at 400 Gb/s are exactly 20 ns, 64 bytes are 1.28. Rounding each
 * frame would make a 400 Gb/s line up to a third too fast or too slow for small frames. So the
 * division's remainder is kept, as a rational number over R, and given to the next frame as
 * long as frames follow each other without a gap; n of them take floor(n * L * 8e9 / R). An idle
 * line forgets the fraction: the next frame starts on a whole nanosecond, because the clock that
 * says when it came has no finer one.
 *
 * The faults are drawn from splitmix64, a counter run through a mixing function: one word of
 * state, every seed is as good as any other, and the same seed gives the same faults on every
 * machine.
 *
 * Losses in bursts are Gilbert's model of two states: none of the frames of the one are lost,
 * all of the other. A run of losses of mean length N ends after each frame with probability 1/N,
 * so for a share of p the other state must be entered with probability p / (N (1 - p)). That is
 * drawn as a fraction, not as a rounded number: a rare entry into a long run keeps its share.
 */
#include "wire_line.h"

#define WIRE_BIT_NS_PER_BYTE	8000000000ULL	/* bits of a byte x nanoseconds of a second */
#define WIRE_CERTAIN		1000000000ULL	/* a probability of one */

/**
 * wire_line_set_rate - change the rate for the frames that start from now on
 * @line: the line
 * @rate_bps: bits per second, at most WIRE_RATE_MAX_BPS; 0 takes no time
 *
 * The fraction of a nanosecond that was carried over belongs to the old rate and is dropped.
 */
void wire_line_set_rate(struct wire_line *line, u64 rate_bps)
{
	if (line->rate_bps == rate_bps)
		return;
	line->rate_bps = rate_bps;
	line->remainder = 0;
}

/**
 * wire_line_send - put the next frame on the line
 * @line: the line
 * @ready_ns: when the frame was there to be sent; it starts then or when the line is free
 * @bytes: its length on the line, at most WIRE_FRAME_MAX_BYTES
 *
 * Return: when its last bit has left, rounded down to a nanosecond.
 */
u64 wire_line_send(struct wire_line *line, u64 ready_ns, u32 bytes)
{
	u64 bit_ns;

	if (ready_ns > line->free_ns) {
		line->free_ns = ready_ns;
		line->remainder = 0;
	}
	if (!line->rate_bps)
		return line->free_ns;
	bit_ns = bytes * WIRE_BIT_NS_PER_BYTE + line->remainder;
	line->free_ns += div64_u64_rem(bit_ns, line->rate_bps, &line->remainder);
	return line->free_ns;
}

/**
 * wire_train_bytes - length on the line of a frame that the card segments
 * @len: bytes of the unsegmented frame, headers once
 * @header_len: bytes of the headers that each segment repeats
 * @gso_size: payload bytes of a full segment; 0 if the frame is not segmented
 * @extra: bytes that every segment takes beyond its headers and payload
 *
 * Return: bytes of all segments together.
 */
u32 wire_train_bytes(u32 len, u32 header_len, u32 gso_size, u32 extra)
{
	u32 payload, segments;

	if (!gso_size || header_len >= len)
		return len + extra;
	payload = len - header_len;
	segments = payload / gso_size + !!(payload % gso_size);
	return payload + segments * (header_len + extra);
}

/**
 * wire_stream_start - begin a stream of faults
 * @seed: the user's
 * @second: for the second end of a cable; else both directions would lose the same frames
 *
 * Return: state for the other functions.
 */
u64 wire_stream_start(u64 seed, bool second)
{
	return second ? ~seed : seed;
}

/**
 * wire_stream_draw - next 64 random bits
 * @stream: state
 *
 * Return: the bits.
 */
u64 wire_stream_draw(u64 *stream)
{
	u64 z;

	*stream += 0x9e3779b97f4a7c15ULL;
	z = *stream;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/**
 * wire_stream_below - a random number
 * @stream: state
 * @bound: at least 1
 *
 * Return: 0 to @bound - 1, each as likely as the others to 1 in 2^32.
 */
u32 wire_stream_below(u64 *stream, u32 bound)
{
	return ((wire_stream_draw(stream) >> 32) * bound) >> 32;
}

/**
 * wire_stream_hit - does an event of this probability happen?
 * @stream: state; an impossible event draws nothing
 * @probability: parts per billion
 *
 * Return: whether it does.
 */
bool wire_stream_hit(u64 *stream, u32 probability)
{
	return probability && wire_stream_below(stream, WIRE_CERTAIN) < probability;
}

/**
 * wire_stream_part - does an event of probability @part / @whole happen?
 * @stream: state
 * @part: at most @whole
 * @whole: at least 1
 *
 * Return: whether it does.
 */
bool wire_stream_part(u64 *stream, u64 part, u64 whole)
{
	return mul_u64_u64_shr(wire_stream_draw(stream), whole, 64) < part;
}

/**
 * wire_stream_lose - is the next frame lost?
 * @stream: state of the draws
 * @burst: state of the losses: was the last frame lost in a burst? false at the start
 * @probability: share of frames to lose in the long run, parts per billion
 * @mean_frames: mean length of a run of losses; 1 draws for each frame independently
 *
 * Return: whether it is.
 */
bool wire_stream_lose(u64 *stream, bool *burst, u32 probability, u32 mean_frames)
{
	if (mean_frames <= 1 || !probability || probability >= WIRE_CERTAIN) {
		*burst = false;
		return wire_stream_hit(stream, probability);
	}
	if (*burst)
		*burst = wire_stream_below(stream, mean_frames);
	else
		*burst = wire_stream_part(stream, probability,
					  mean_frames * (WIRE_CERTAIN - probability));
	return *burst;
}

/**
 * wire_burst_fits - can so many frames be lost in runs of this mean length?
 * @probability: share of frames to lose, parts per billion
 * @mean_frames: mean length of a run of losses
 *
 * At least one frame arrives between two runs, so no more than N / (N + 1) of all are lost.
 *
 * Return: true if so. Everything can be lost, and independent losses always fit.
 */
bool wire_burst_fits(u32 probability, u32 mean_frames)
{
	return mean_frames <= 1 || probability >= WIRE_CERTAIN ||
	       probability <= mean_frames * (WIRE_CERTAIN - probability);
}
