/* SPDX-License-Identifier: GPL-2.0-only */
/* frames.h - what links carry, for portwatch */
#ifndef _SLUICE_LAB_FRAMES_H
#define _SLUICE_LAB_FRAMES_H

#include <signal.h>
#include <stdint.h>

/**
 * struct frames_files - names of files
 * @links: lines NAME NETNS DEV FROM TO RATE DELAY OVERHEAD: the port that sends, where what it
 *	sends comes in, the layers of both (hosts are 0), bit/s, ns, bytes that a frame takes beyond
 *	its length; those of a namespace together
 * @flows: a trace
 * @frames: gets what each link has carried, by kind of frame
 * @waits: gets how long data waited, by layer and label
 */
struct frames_files {
	const char *links, *flows, *frames, *waits;
};

void frames_run(const struct frames_files *files, uint64_t zero_ns,
		const volatile sig_atomic_t *stopped);

#endif
