// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause.c - PAUSE STATE, sent: which of its sub-queues the neighbour is to hold
 *
 * A pause counter that leaves 0 or comes back to it marks its word of the bitmap dirty and wakes
 * the worker. The worker reads the counters of the dirty words; what differs from what was told
 * last is told (stream.h). A page is a word.
 *
 * All under the port's lock; hop_port.pausing_dirty is atomic.
 */
#include "port.h"
#include "trace.h"

/* Words that the neighbour's sub-queues, or ours, take. */
static unsigned int words_of(unsigned int queues)
{
	return DIV_ROUND_UP(queues, 64);
}

/* Who takes tags off is to note when packets of the sub-queue come that is looked at. */
static void pause_sampled(struct hop_port *port)
{
	WRITE_ONCE(port->sampled, port->reaction.vid);
}

static unsigned int pause_pages(const struct hop_port *port)
{
	return words_of(port->peer.hello.queues);
}

static void pause_start(struct hop_port *port, u64 now)
{
	bitmap_fill(port->pausing_dirty, HOP_BITMAP_WORDS);
}

/* The counters stay: they count our packets. */
static void pause_stop(struct hop_port *port)
{
	hop_reaction_reset(&port->reaction);
	pause_sampled(port);
}

/* It is over with the sub-queue that was looked at. */
static void pause_reacted(struct hop_port *port, u64 now)
{
	BUILD_BUG_ON(HOP_REACTION_MAX_NS != HOP_HRTT_MAX_NS);
	if (hop_reaction_end(&port->reaction, READ_ONCE(port->sampled_ns), now,
			     port->hrtt_link ?: HOP_HRTT_UNKNOWN_NS))
		hop_hrtt_update(port, now);
	pause_sampled(port);
}

static bool pause_is_among(u32 vid, unsigned int word, u64 bits)
{
	return vid != HOP_REACTION_NONE && (vid - 1) / 64 == word && bits >> (vid - 1) % 64 & 1;
}

/* A word will be told as @bits: does what is looked at end, can something be looked at? */
static void pause_sample(struct hop_port *port, unsigned int word, u64 bits, u64 now)
{
	struct hop_reaction *r = &port->reaction;
	struct hop_stream *s = &port->streams[HOP_SLOT_PAUSE];
	u64 others = bits ^ s->told[word];

	if (pause_is_among(r->next, word, others & ~bits))
		r->next = HOP_REACTION_NONE;
	if (pause_is_among(r->vid, word, others & ~bits))
		pause_reacted(port, now);
	/* the neighbour has not heard yet of what was resumed since the last frame */
	if (hop_stream_is_fresh(s, word))
		return;
	if (r->vid == HOP_REACTION_NONE && r->next == HOP_REACTION_NONE && others & bits)
		r->next = word * 64 + __ffs64(others & bits) + 1;
}

static void pause_collect(struct hop_port *port, u64 now)
{
	struct hop_stream *s = &port->streams[HOP_SLOT_PAUSE];
	unsigned int w;
	u64 bits;

	/* A pause that lasts: nothing came any more, or the neighbour does not obey: void. */
	if (port->reaction.vid != HOP_REACTION_NONE &&
	    now - port->reaction.sent_ns > 2 * HOP_HRTT_MAX_NS)
		pause_reacted(port, now);
	for_each_set_bit(w, port->pausing_dirty, HOP_BITMAP_WORDS) {
		/* cleared, with full ordering, before the counters are read: see pause_mark() */
		if (!test_and_clear_bit(w, port->pausing_dirty))
			continue;
		bits = hop_range_word(port, w);
		if (bits == s->told[w])
			continue;
		pause_sample(port, w, bits, now);
		if (unlikely(port->cfg.roots))
			hop_roots_pausing(port, w, bits & ~s->told[w]);
		hop_stream_change(s, w, bits);
	}
}

static void pause_said(struct hop_port *port, const struct hop_stream_part *part,
		       struct hop_writer *w, u64 now)
{
	const struct hop_stream *s = &port->streams[HOP_SLOT_PAUSE];

	if (unlikely(port->cfg.roots))
		hop_roots_write(port, part, w, now);
	if (part->how == HOP_STREAM_NEW && port->reaction.next != HOP_REACTION_NONE) {
		hop_reaction_begin(&port->reaction, s->seq, now);
		WRITE_ONCE(port->sampled_ns, (u32)now);
		pause_sampled(port);
	}
	if (s->held)
		hop_watch_pausing();
	trace_hop_pause_tx(port, s->seq, part->first, part->count, part->how);
}

static void pause_unsaid(struct hop_port *port)
{
	hop_reaction_void(&port->reaction);
	pause_sampled(port);
}

static void pause_acked(struct hop_port *port, u32 seq)
{
	hop_reaction_acked(&port->reaction, seq);
	pause_sampled(port);
}

const struct hop_content hop_pause_content = {
	.kinds		= U16_MAX,
	.from_switch	= true,
	.pages		= pause_pages,
	.collect	= pause_collect,
	.said		= pause_said,
	.unsaid		= pause_unsaid,
	.acked		= pause_acked,
	.start		= pause_start,
	.stop		= pause_stop,
	.rx_pages	= hop_paused_pages,
	.rx		= hop_paused_rx,
	.lost		= hop_paused_clear,
};
