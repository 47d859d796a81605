// SPDX-License-Identifier: GPL-2.0-only
/*
 * pause.c - PAUSE STATE, sent: which of its sub-queues the neighbour is to hold
 *
 * A pause counter that leaves 0 or comes back to it marks its word of the bitmap
 * dirty and wakes the worker. The worker reads the counters of the dirty words; what differs
 * from what was told last goes out, with the words around and between that have not been
 * echoed yet: the newest frame always says everything that the neighbour may not know, so it
 * may drop older ones. Without an echo the same is said again after 1, 2, 4 ... HRTT, under
 * new sequence numbers, so that each frame also renews the lease. While anything is paused the
 * whole bitmap is refreshed.
 *
 * Each sequence number is one frame. They go on counting for as long as our epoch lasts, also
 * when the neighbour is lost and found again, because it may not have lost us.
 *
 * Frames keep a distance, which depends on the link's speed and on a floor for the
 * neighbour's processor; changes in between are told together. The first one after a silence
 * leaves at once.
 *
 * All under the port's lock; hop_pausing.dirty is atomic.
 */
#include <linux/if_vlan.h>

#include "port.h"
#include "share.h"
#include "trace.h"

/* Words that the neighbour's sub-queues, or ours, take. */
static unsigned int words_of(unsigned int queues)
{
	return DIV_ROUND_UP(queues, 64);
}

/* What a frame and its echo take, wherever data waits */
static u32 pause_hrtt(const struct hop_port *port)
{
	return port->hrtt_link ?: HOP_HRTT_UNKNOWN_NS;
}

u64 hop_refresh_ns(const struct hop_port *port)
{
	if (port->cfg.refresh_ns)
		return port->cfg.refresh_ns;
	return max_t(u64, 4ULL * pause_hrtt(port), HOP_REFRESH_AUTO_MIN_NS);
}

static u32 pause_lease(const struct hop_port *port)
{
	if (port->cfg.lease_ns)
		return port->cfg.lease_ns;
	return min_t(u64, HOP_LEASE_REFRESHES * hop_refresh_ns(port), HOP_LEASE_MAX_NS);
}

/* Who takes tags off is to note when packets of the sub-queue come that is looked at. */
static void pause_sampled(struct hop_port *port)
{
	WRITE_ONCE(port->sampled, port->reaction.vid);
}

static bool pausing_any(const struct hop_pausing *p)
{
	return memchr_inv(p->words, 0, sizeof(p->words));
}

/**
 * hop_pause_start - tell a neighbour that has just come up how things are
 * @port: the port
 * @now: time
 */
void hop_pause_start(struct hop_port *port, u64 now)
{
	struct hop_pausing *p = &port->pausing;

	lockdep_assert_held(&port->lock);
	bitmap_fill(p->dirty, HOP_BITMAP_WORDS);
	p->refresh_ns = now;
	p->whole = true;
}

/**
 * hop_pause_stop - the neighbour is gone, and so is what it was told
 * @port: the port
 *
 * The counters stay: they count our packets.
 */
void hop_pause_stop(struct hop_port *port)
{
	struct hop_pausing *p = &port->pausing;
	unsigned int w;

	lockdep_assert_held(&port->lock);
	for (w = 0; w < HOP_BITMAP_WORDS; w++)
		WRITE_ONCE(p->words[w], 0);
	p->unacked = 0;
	p->fresh = false;
	hop_reaction_reset(&port->reaction);
	pause_sampled(port);
}

/* It is over with the sub-queue that was looked at. */
static void pause_reacted(struct hop_port *port, u64 now)
{
	BUILD_BUG_ON(HOP_REACTION_MAX_NS != HOP_HRTT_MAX_NS);
	if (hop_reaction_end(&port->reaction, READ_ONCE(port->sampled_ns), now, pause_hrtt(port)))
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
	u64 others = bits ^ port->pausing.words[word];

	if (pause_is_among(r->next, word, others & ~bits))
		r->next = HOP_REACTION_NONE;
	if (pause_is_among(r->vid, word, others & ~bits))
		pause_reacted(port, now);
	/* the neighbour has not heard yet of what was resumed since the last frame */
	if (port->pausing.fresh && port->pausing.changed[word] == port->pausing.seq + 1)
		return;
	if (r->vid == HOP_REACTION_NONE && r->next == HOP_REACTION_NONE && others & bits)
		r->next = word * 64 + __ffs64(others & bits) + 1;
}

/**
 * hop_pause_collect - find out what has to be told
 * @port: the port
 * @now: time
 */
void hop_pause_collect(struct hop_port *port, u64 now)
{
	struct hop_pausing *p = &port->pausing;
	unsigned int w;
	u64 bits;

	lockdep_assert_held(&port->lock);
	if (!port->peer.up)
		return;
	/* A pause that lasts: nothing came any more, or the neighbour does not obey: void. */
	if (port->reaction.vid != HOP_REACTION_NONE &&
	    now - port->reaction.sent_ns > 2 * HOP_HRTT_MAX_NS)
		pause_reacted(port, now);
	for_each_set_bit(w, p->dirty, HOP_BITMAP_WORDS) {
		/* cleared, with full ordering, before the counters are read: see pause_mark() */
		if (!test_and_clear_bit(w, p->dirty))
			continue;
		bits = hop_range_word(port, w);
		if (bits == p->words[w])
			continue;
		pause_sample(port, w, bits, now);
		WRITE_ONCE(p->words[w], bits);
		p->changed[w] = p->seq + 1;
		p->unacked |= BIT_ULL(w);
		p->fresh = true;
	}
}

/**
 * hop_pause_next - when a PAUSE STATE is due
 * @port: the port
 *
 * Return: the time, U64_MAX if there is nothing to say.
 */
u64 hop_pause_next(const struct hop_port *port)
{
	const struct hop_pausing *p = &port->pausing;
	u64 at = U64_MAX;

	lockdep_assert_held(&port->lock);
	if (!port->peer.up || !port->peer.hello.queues)
		return at;
	if (p->fresh)
		return p->next_ns;
	if (p->unacked)
		at = max(p->last_ns + p->repeat_ns, p->next_ns);
	if (pausing_any(p))
		at = min(at, max(p->refresh_ns, p->next_ns));
	return at;
}

/* The words of the next frame: all of them for a refresh, else what is not echoed. */
static void pause_span(const struct hop_port *port, bool whole, unsigned int *first,
		       unsigned int *count)
{
	u64 unacked = port->pausing.unacked;

	*first = 0;
	*count = words_of(port->peer.hello.queues);
	if (whole || !unacked)
		return;
	*first = __ffs64(unacked);
	*count = fls64(unacked) - *first;
}

/* When the next frame may leave, if one of @bytes leaves now */
static u64 pause_next(struct hop_port *port, unsigned int bytes, u64 now)
{
	struct hop_pausing *p = &port->pausing;
	u32 least = READ_ONCE(hop_state_spacing_ns);
	u64 at;

	p->paid_before_ns = p->paid_ns;
	if (!least)
		return now;
	at = hop_share_spend(&p->paid_ns, hop_link_wire_ns(port, bytes), now);
	return max(at, now + least);
}

/*
 * When an echo is overdue. HRTT is what an idle link takes and what the neighbour's card may hold;
 * our frame may wait for our card, and each of the two for a data frame that is on the line.
 */
static u64 pause_echo_ns(const struct hop_port *port)
{
	return pause_hrtt(port) + hop_link_ring_ns(port) +
	       2 * hop_link_wire_ns(port, READ_ONCE(port->dev->mtu) + VLAN_ETH_HLEN);
}

/**
 * hop_pause_write - add a PAUSE STATE to a frame if one is due
 * @port: the port
 * @w: the frame
 * @now: time
 *
 * Return: true if it was added.
 */
bool hop_pause_write(struct hop_port *port, struct hop_writer *w, u64 now)
{
	struct hop_pausing *p = &port->pausing;
	unsigned int first, count;
	u64 refresh = hop_refresh_ns(port);
	bool whole, refresh_due, repeat = !p->fresh;

	if (now < hop_pause_next(port))
		return false;
	refresh_due = pausing_any(p) && repeat && now >= p->refresh_ns;
	whole = p->whole || refresh_due;
	pause_span(port, whole, &first, &count);
	if (!count || !hop_frame_add_state(w, p->seq + 1, pause_lease(port), first, count,
					   p->words + first))
		return false;

	p->seq++;
	if (!repeat && port->reaction.next != HOP_REACTION_NONE) {
		hop_reaction_begin(&port->reaction, p->seq, now);
		WRITE_ONCE(port->sampled_ns, (u32)now);
		pause_sampled(port);
	}
	p->repeat_ns = repeat ? min(2 * p->repeat_ns, refresh) :
				min(pause_echo_ns(port), refresh);
	p->fresh = false;
	p->whole = false;
	p->last_ns = now;
	p->next_ns = pause_next(port, ETH_HLEN + w->used, now);
	if (count == words_of(port->peer.hello.queues))	/* as good as a refresh */
		p->refresh_ns = now + refresh;
	port->stats.state_tx++;
	if (pausing_any(p))
		hop_watch_pausing();
	if (whole && repeat)
		port->stats.refresh_tx++;
	else if (repeat)
		port->stats.state_repeats++;
	trace_hop_pause_tx(port, p->seq, first, count,
			   !repeat ? HOP_PAUSE_NEW : whole ? HOP_PAUSE_REFRESH : HOP_PAUSE_REPEAT);
	return true;
}

/**
 * hop_pause_unsent - the device did not take the frame
 * @port: the port
 */
void hop_pause_unsent(struct hop_port *port)
{
	struct hop_pausing *p = &port->pausing;

	if (!port->peer.up)
		return;
	p->fresh = p->unacked || pausing_any(p);
	p->whole = p->fresh;
	hop_reaction_void(&port->reaction);
	pause_sampled(port);
	p->next_ns = 0;
	p->paid_ns = p->paid_before_ns;
}

/**
 * hop_pause_acked - the neighbour says what it has taken
 * @port: the port
 * @seq: sequence number of its newest PAUSE STATE
 *
 * A number that we have not said yet has been damaged on its way, there or back. In the first
 * case all of ours would be old to the neighbour, so we go on behind it. Half of the
 * numbers that it takes for new ones is the limit: the one behind must be new in the second
 * case too.
 */
void hop_pause_acked(struct hop_port *port, u32 seq)
{
	struct hop_pausing *p = &port->pausing;
	s32 ahead = seq - p->seq;
	u64 left = p->unacked;
	unsigned int w;

	if (ahead > 0) {
		port->stats.rx_range++;
		if (ahead <= S32_MAX / 2 + 1)
			p->seq = seq;
		return;
	}
	hop_reaction_acked(&port->reaction, seq);
	pause_sampled(port);
	while (left) {
		w = __ffs64(left);
		left &= left - 1;
		if ((s32)(seq - p->changed[w]) >= 0)
			p->unacked &= ~BIT_ULL(w);
	}
}
