/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire_line.h - arithmetic of a line that serialises frames, and of its fault stream
 *
 * Pure functions: no sk_buff, no clock, no lock. They compile into the module and into the
 * user-space test.
 */
#ifndef _SLUICE_WIRE_LINE_H
#define _SLUICE_WIRE_LINE_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

/*
 * The remainder below is less than the rate, and it is added to at most WIRE_FRAME_MAX_BYTES *
 * 8e9 (3.4e16): with this bound on the rate the sum stays far below 2^64.
 */
#define WIRE_RATE_MAX_BPS	1000000000000000ULL	/* 1 Pbit/s */
#define WIRE_FRAME_MAX_BYTES	(1U << 22)

/**
 * struct wire_line - one direction of a cable
 * @rate_bps: bits per second; 0 takes no time
 * @free_ns: when the last bit of the last frame left, rounded down to a nanosecond
 * @remainder: what was rounded off, in units of 1 / @rate_bps nanoseconds; less than @rate_bps
 *
 * The caller synchronises.
 */
struct wire_line {
	u64 rate_bps;
	u64 free_ns;
	u64 remainder;
};

void wire_line_set_rate(struct wire_line *line, u64 rate_bps);
u64 wire_line_send(struct wire_line *line, u64 ready_ns, u32 bytes);
u32 wire_train_bytes(u32 len, u32 header_len, u32 gso_size, u32 extra);

u64 wire_stream_start(u64 seed, bool second);
u64 wire_stream_draw(u64 *stream);
bool wire_stream_hit(u64 *stream, u32 probability);
bool wire_stream_part(u64 *stream, u64 part, u64 whole);
bool wire_stream_lose(u64 *stream, bool *burst, u32 probability, u32 mean_frames);
bool wire_burst_fits(u32 probability, u32 mean_frames);
u32 wire_stream_below(u64 *stream, u32 bound);

#endif
