/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - one told state between two ports: how it is told until it is known
 *
 * What a port tells its neighbour (which of its sub-queues to hold, say) is a state in pages, up to
 * HOP_STREAM_PAGES words of 64 bits. It is absolute: a page says how things are, not what has
 * changed. So the newest frame always says everything that the neighbour may not know, and older
 * ones may be dropped.
 *
 *	- A page that changes makes the stream fresh: it is told as soon as frames may leave.
 *	- A frame says the pages that have not been echoed, with those between them, under a new
 *	  sequence number. The neighbour echoes the newest number that it has taken, and what had
 *	  been told by then is known.
 *	- Without an echo the same is said again after 1, 2, 4 ... times what an echo takes, under
 *	  new sequence numbers, so that each frame also renews the lease.
 *	- While there is a page that the neighbour must not forget, all pages are refreshed: it
 *	  forgets them when its lease is over.
 *	- The neighbour takes only what is newer than what it has taken.
 *
 * Sequence numbers go on counting for as long as our epoch lasts, also when the neighbour is lost
 * and found again, because it may not have lost us.
 *
 * Pure functions; selftests/model/hopctl.pml has the same rules. Under the port's lock.
 */
#ifndef _SLUICE_HOPCTL_STREAM_H
#define _SLUICE_HOPCTL_STREAM_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define HOP_STREAM_PAGES	64

/**
 * enum hop_stream_how - why a state is said
 * @HOP_STREAM_NEW: something has changed
 * @HOP_STREAM_REPEAT: what was said has not been echoed
 * @HOP_STREAM_REFRESH: all of it, so that the lease does not end
 */
enum hop_stream_how {
	HOP_STREAM_NEW,
	HOP_STREAM_REPEAT,
	HOP_STREAM_REFRESH,
};

/**
 * struct hop_stream_stats - what is counted
 * @tx: states said
 * @rx: states taken
 * @repeats: of @tx, those that said the same again
 * @refreshes: and those that kept the lease from ending
 * @expired: leases of the neighbour that ended
 */
struct hop_stream_stats {
	u64	tx;
	u64	rx;
	u64	repeats;
	u64	refreshes;
	u64	expired;
};

/**
 * struct hop_stream - a state that we tell and the neighbour's of the same type
 * @pages: pages that the neighbour can be told; 0: nothing
 * @held: pages that the neighbour must not forget
 * @unacked: pages whose @changed has not been echoed
 * @changed: sequence number of the frame that first tells each page as it is now
 * @told: each page as it was told, or is about to be; 0 is what the neighbour takes for granted
 * @seq: of the last frame sent
 * @fresh: a page changed since the last frame
 * @whole: the next frame says all pages
 * @last_ns: when the last frame left
 * @repeat_ns: time from the last frame to its repetition
 * @refresh_ns: when the next refresh is due, if there are pages in @held
 * @rx_valid: the neighbour has said something in its epoch
 * @rx_seq: the newest that it has said
 * @lease_at: when what it said ends, U64_MAX if there is nothing to end
 * @heard: what it said in each page, of a plain content (content.h)
 * @stats: counters
 */
struct hop_stream {
	u16	pages;
	u64	held;
	u64	unacked;
	u32	changed[HOP_STREAM_PAGES];
	u64	told[HOP_STREAM_PAGES];
	u32	seq;
	bool	fresh;
	bool	whole;
	u64	last_ns;
	u64	repeat_ns;
	u64	refresh_ns;

	bool	rx_valid;
	u32	rx_seq;
	u64	lease_at;
	u64	heard[HOP_STREAM_PAGES];

	struct hop_stream_stats stats;
};

/**
 * struct hop_stream_part - what the next frame says
 * @how: why
 * @first: first page
 * @count: pages
 */
struct hop_stream_part {
	enum hop_stream_how	how;
	u16			first;
	u16			count;
};

/**
 * struct hop_stream_times - what the link makes of a stream's times
 * @echo_ns: when an echo is overdue
 * @refresh_ns: from one refresh to the next; no repetition takes longer either
 * @lease_ns: how long the neighbour may rely on what is said
 */
struct hop_stream_times {
	u64	echo_ns;
	u64	refresh_ns;
	u32	lease_ns;
};

/* Close to the wrap, so that each port passes it soon rather than one port a year. */
static inline void hop_stream_init(struct hop_stream *s)
{
	s->seq = -64;
	s->lease_at = ~0ULL;
}

/**
 * hop_stream_change - a page is no longer as it was told
 * @s: the stream
 * @page: which
 * @word: how it is now; the neighbour must not forget it unless it takes it for granted
 */
static inline void hop_stream_change(struct hop_stream *s, unsigned int page, u64 word)
{
	u64 bit = 1ULL << page;

	s->held = word ? s->held | bit : s->held & ~bit;
	WRITE_ONCE(s->told[page], word);
	s->changed[page] = s->seq + 1;
	s->unacked |= bit;
	s->fresh = true;
}

/* Was the page changed since the last frame? */
static inline bool hop_stream_is_fresh(const struct hop_stream *s, unsigned int page)
{
	return s->fresh && s->changed[page] == s->seq + 1;
}

/**
 * hop_stream_start - there is a neighbour that knows nothing
 * @s: the stream
 * @now: time
 */
static inline void hop_stream_start(struct hop_stream *s, u64 now)
{
	s->refresh_ns = now;
	s->whole = true;
}

/**
 * hop_stream_stop - the neighbour is gone, and so is what it was told
 * @s: the stream
 */
static inline void hop_stream_stop(struct hop_stream *s)
{
	unsigned int page;

	for (page = 0; page < HOP_STREAM_PAGES; page++)
		WRITE_ONCE(s->told[page], 0);
	s->held = 0;
	s->unacked = 0;
	s->fresh = false;
}

/**
 * hop_stream_next - when is something to be said?
 * @s: the stream
 * @spaced_ns: before which no frame may leave
 *
 * Return: the time, U64_MAX if there is nothing to say.
 */
static inline u64 hop_stream_next(const struct hop_stream *s, u64 spaced_ns)
{
	u64 at = ~0ULL;

	if (!s->pages)
		return at;
	if (s->fresh)
		return spaced_ns;
	if (s->unacked)
		at = max(s->last_ns + s->repeat_ns, spaced_ns);
	if (s->held)
		at = min(at, max(s->refresh_ns, spaced_ns));
	return at;
}

/**
 * hop_stream_part - what the next frame says: all pages for a refresh, else what is not echoed
 * @s: the stream
 * @now: time
 * @part: filled in
 */
static inline void hop_stream_part(const struct hop_stream *s, u64 now,
				   struct hop_stream_part *part)
{
	bool repeat = !s->fresh;
	bool whole = s->whole || (s->held && repeat && now >= s->refresh_ns);

	part->how = !repeat ? HOP_STREAM_NEW : whole ? HOP_STREAM_REFRESH : HOP_STREAM_REPEAT;
	part->first = 0;
	part->count = s->pages;
	if (whole || !s->unacked)
		return;
	part->first = __ffs64(s->unacked);
	part->count = fls64(s->unacked) - part->first;
}

/**
 * hop_stream_said - that has been written into a frame, under the number behind @s->seq
 * @s: the stream
 * @part: what was said
 * @t: times
 * @now: time
 */
static inline void hop_stream_said(struct hop_stream *s, const struct hop_stream_part *part,
				   const struct hop_stream_times *t, u64 now)
{
	s->seq++;
	s->repeat_ns = min(part->how == HOP_STREAM_NEW ? t->echo_ns : 2 * s->repeat_ns,
			   t->refresh_ns);
	s->fresh = false;
	s->whole = false;
	s->last_ns = now;
	if (part->count == s->pages)	/* as good as a refresh */
		s->refresh_ns = now + t->refresh_ns;
	s->stats.tx++;
	s->stats.refreshes += part->how == HOP_STREAM_REFRESH;
	s->stats.repeats += part->how == HOP_STREAM_REPEAT;
}

/**
 * hop_stream_unsaid - the device did not take the frame
 * @s: the stream
 */
static inline void hop_stream_unsaid(struct hop_stream *s)
{
	s->fresh = s->unacked || s->held;
	s->whole = s->fresh;
}

/**
 * hop_stream_acked - the neighbour says what it has taken
 * @s: the stream
 * @seq: sequence number of the newest
 *
 * A number that we have not said yet has been damaged on its way, there or back. In the first
 * case all of ours would be old to the neighbour, so we go on behind it. Half of the
 * numbers that it takes for new ones is the limit: the one behind must be new in the second
 * case too.
 *
 * Return: false if it is such a number.
 */
static inline bool hop_stream_acked(struct hop_stream *s, u32 seq)
{
	s32 ahead = seq - s->seq;
	u64 left = s->unacked;
	unsigned int page;

	if (ahead > 0) {
		if (ahead <= S32_MAX / 2 + 1)
			s->seq = seq;
		return false;
	}
	while (left) {
		page = __ffs64(left);
		left &= left - 1;
		if ((s32)(seq - s->changed[page]) >= 0)
			s->unacked &= ~(1ULL << page);
	}
	return true;
}

/**
 * hop_stream_heard - the neighbour has said something
 * @s: the stream
 * @seq: under which number
 *
 * Return: false if it is not newer than what it has said before.
 */
static inline bool hop_stream_heard(struct hop_stream *s, u32 seq)
{
	if (s->rx_valid && (s32)(seq - s->rx_seq) <= 0)
		return false;
	s->rx_seq = seq;
	s->rx_valid = true;
	return true;
}

#endif
