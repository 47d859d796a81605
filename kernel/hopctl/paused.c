// SPDX-License-Identifier: GPL-2.0-only
/*
 * paused.c - PAUSE STATE, received: which sub-queues the neighbour holds, and a watchdog over that
 *
 * The words go into hop_port.paused, whose readers are the dequeue functions of the
 * members: first the words, then the member's generation, then the root qdisc is scheduled.
 * If what it says is void, everything is resumed. A neighbour that pauses for ever is no longer
 * obeyed: its words go into hop_port.ignored then (below).
 *
 * Leases end the pauses of a neighbour that has died. What they do not end is a neighbour that
 * goes on pausing for ever. A sub-queue that holds packets and is paused gets a window. Whatever
 * leaves the sub-queue closes it. When it has been open for the watchdog's time, and of this the
 * sub-queue was paused for more than HOP_STORM_PERCENT, the neighbour is in a *storm*: all of its
 * pauses end, and what it says from now on is counted and echoed but not obeyed. It is obeyed
 * again when it has had nothing paused for the restore time. Paused time is what the neighbour
 * says, frame by frame, not sampled: windows are looked at HOP_WATCH_TICKS times in the watchdog's
 * time, which delays the verdict by as much at most and never makes a false one. The qdisc cannot
 * measure it: while its device takes nothing it is not asked for packets, and sees no resume.
 *
 * Neither a look nor a change of what is paused costs more than there are sub-queues paused, or
 * windows open: hop_port.watched has a bit for each of these.
 *
 * All under the port's lock; what is read without it, see port.h.
 */
#include <net/sch_generic.h>

#include "port.h"
#include "trace.h"

#define HOP_STORM_PERCENT	99
#define HOP_WATCH_TICKS		8

static u64 restore_ns(const struct hop_config *cfg)
{
	return cfg->restore_ns ?: 2 * hop_watchdog_ns(cfg);
}

static void windows_close(struct hop_port *port)
{
	struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node)
		memset(m->windows, 0, m->count * sizeof(*m->windows));
	memset(port->watched, 0, sizeof(port->watched));
}

static bool queue_is_paused(const struct hop_port *port, unsigned int queue)
{
	return port->paused[queue / 64] >> (queue % 64) & 1;
}

static u64 window_paused_ns(const struct hop_window *win, u64 now)
{
	u64 free_ns = win->free_ns + (win->free_since ? now - win->free_since : 0);

	return now - win->since - free_ns;
}

/* Return: true if the sub-queue has been paused for too long. */
static bool window_look(struct hop_port *port, struct hop_member *m, u16 queue, u64 now)
{
	bool paused = queue_is_paused(port, m->first + queue);
	struct hop_window *win = &m->windows[queue];
	u64 bit = BIT_ULL((m->first + queue) % 64);
	u64 *watched = &port->watched[(m->first + queue) / 64];
	struct hop_watch w;
	bool late;

	m->ops->watch(m, queue, &w);
	late = win->since && now - win->since >= hop_watchdog_ns(&port->cfg);
	if (late && w.waits && w.sent == win->sent &&
	    window_paused_ns(win, now) * 100 > HOP_STORM_PERCENT * (now - win->since))
		return true;
	if (win->since && !late && w.waits && w.sent == win->sent)
		return false;
	*win = (struct hop_window) {};
	*watched &= ~bit;
	if (paused && w.waits) {
		*win = (struct hop_window) { .since = now, .sent = w.sent };
		*watched |= bit;
	}
	return false;
}

static bool windows_look(struct hop_port *port, u64 now)
{
	unsigned int w, looked = 0;
	struct hop_member *m;
	bool late = false;
	u64 bits;

	list_for_each_entry_rcu(m, &port->members, node) {
		for (w = m->first / 64; w <= hop_member_last_word(m); w++) {
			bits = (port->paused[w] | port->watched[w]) & hop_member_bits(m, w);
			for (; bits && !late; bits &= bits - 1, looked++)
				late = window_look(port, m, 64 * w + __ffs64(bits) - m->first,
						   now);
		}
	}
	trace_hop_watch(port, HOP_WATCH_LOOK, looked);
	return late;
}

static void window_changes(struct hop_window *win, bool paused, u64 now)
{
	if (!paused && !win->free_since) {
		win->free_since = now;
	} else if (paused && win->free_since) {
		win->free_ns += now - win->free_since;
		win->free_since = 0;
	}
}

static bool any_bit(const u64 *words)
{
	return memchr_inv(words, 0, HOP_BITMAP_WORDS * sizeof(*words));
}

/**
 * hop_paused_watch - the neighbour has paused something
 * @port: the port
 * @now: time
 *
 * Context: port's lock.
 */
void hop_paused_watch(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (!port->cfg.watch || port->storm || port->watch_at != U64_MAX || !any_bit(port->paused))
		return;
	port->watch_at = now;
	hop_port_wake(port);
}

/**
 * paused_word_changed - the neighbour has paused and resumed sub-queues
 * @port: the port
 * @word: a word of hop_port.paused, as it is now
 * @changed: its bits that were others before
 * @now: time
 *
 * Context: port's lock, RCU.
 */
static void paused_word_changed(struct hop_port *port, unsigned int word, u64 changed, u64 now)
{
	unsigned int queue, looked = 0;
	struct hop_member *m;
	u64 bits;

	lockdep_assert_held(&port->lock);
	if (unlikely(port->heard))
		hop_heard_forget(port, word, changed);
	changed &= port->watched[word];
	if (!changed)
		return;
	list_for_each_entry_rcu(m, &port->members, node) {
		if (word < m->first / 64 || word > hop_member_last_word(m))
			continue;
		for (bits = changed & hop_member_bits(m, word); bits; bits &= bits - 1, looked++) {
			queue = 64 * word + __ffs64(bits);
			window_changes(&m->windows[queue - m->first],
				       queue_is_paused(port, queue), now);
		}
	}
	trace_hop_watch(port, HOP_WATCH_CHANGE, looked);
}

/**
 * hop_paused_leave - a member's sub-queues are no more
 * @port: the port
 * @m: the member
 *
 * Context: port's lock.
 */
void hop_paused_leave(struct hop_port *port, const struct hop_member *m)
{
	unsigned int w;

	lockdep_assert_held(&port->lock);
	for (w = m->first / 64; w <= hop_member_last_word(m); w++)
		port->watched[w] &= ~hop_member_bits(m, w);
}

/**
 * paused_calm - what the neighbour wants paused during a storm has changed
 * @port: the port
 * @now: time
 *
 * Context: port's lock.
 */
static void paused_calm(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (!port->storm)
		return;
	if (any_bit(port->ignored)) {
		port->calm_at = U64_MAX;
	} else if (port->calm_at == U64_MAX) {
		port->calm_at = now + restore_ns(&port->cfg);
		hop_port_wake(port);
	}
}

/* ---- what the neighbour says ---- */

/* Tell the qdiscs whose sub-queues lie in one of the words of @changed. */
static void paused_kick(struct hop_port *port, u64 changed)
{
	struct hop_member *m;

	if (!changed)
		return;
	smp_wmb();	/* words before generations: pairs with hop_paused_begin() */
	list_for_each_entry_rcu(m, &port->members, node) {
		u64 mine = GENMASK_ULL((m->first + m->count - 1) / 64, m->first / 64);

		if (!(changed & mine))
			continue;
		WRITE_ONCE(m->paused_gen, m->paused_gen + 1);
		/* the generation before the qdisc's SCHED and RUNNING bits: a dequeue that
		 * we do not wake has yet to look
		 */
		smp_mb();
		__netif_schedule(qdisc_root(m->sch));
	}
}

/**
 * hop_paused_clear - resume all of our sub-queues
 * @port: the port
 * @now: time
 */
void hop_paused_clear(struct hop_port *port, u64 now)
{
	u64 others, changed = 0;
	unsigned int w;

	lockdep_assert_held(&port->lock);
	for (w = 0; w < HOP_BITMAP_WORDS; w++) {
		others = port->paused[w];
		if (!others)
			continue;
		WRITE_ONCE(port->paused[w], 0);
		paused_word_changed(port, w, others, now);
		changed |= BIT_ULL(w);
	}
	memset(port->ignored, 0, sizeof(port->ignored));
	paused_calm(port, now);
	paused_kick(port, changed);
}

static u64 paused_store(struct hop_port *port, const struct hop_told *told, u64 now)
{
	u64 *words = port->storm ? port->ignored : port->paused;
	unsigned int i, w;
	u64 bits, others, changed = 0;

	for (i = 0; i < told->count; i++) {
		w = told->first + i;
		bits = hop_told_word(told, i);
		others = words[w] ^ bits;
		if (!others)
			continue;
		WRITE_ONCE(words[w], bits);
		if (!port->storm)
			paused_word_changed(port, w, others, now);
		changed |= BIT_ULL(w);
	}
	return port->storm ? 0 : changed;
}

/**
 * hop_paused_pages - words of our bitmap that the neighbour may tell
 * @port: the port
 *
 * Return: how many.
 */
unsigned int hop_paused_pages(const struct hop_port *port)
{
	return DIV_ROUND_UP(port->queues_most, 64);
}

/**
 * hop_paused_rx - a PAUSE STATE of the neighbour
 * @port: the port
 * @told: it
 * @now: time
 *
 * Return: true if anything is paused.
 */
bool hop_paused_rx(struct hop_port *port, const struct hop_told *told, u64 now)
{
	u64 changed;

	lockdep_assert_held(&port->lock);
	if (port->storm)
		port->stats.storm_rx++;
	changed = paused_store(port, told, now);
	trace_hop_pause_rx(port, told->seq, told->first, told->count, told->lease_ns, changed, now);
	paused_kick(port, changed);
	hop_paused_watch(port, now);
	paused_calm(port, now);
	return any_bit(port->storm ? port->ignored : port->paused);
}

/* ---- storms ---- */

static void storm_begin(struct hop_port *port, u64 now)
{
	u64 paused[HOP_BITMAP_WORDS];

	memcpy(paused, port->paused, sizeof(paused));
	hop_paused_clear(port, now);
	memcpy(port->ignored, paused, sizeof(paused));
	port->storm = true;
	port->watch_at = U64_MAX;
	port->calm_at = U64_MAX;
	port->stats.storms++;
	windows_close(port);
	trace_hop_storm(port, true);
	hop_port_event(port, HOP_EVENT_STORM);
	paused_calm(port, now);
}

static void storm_end(struct hop_port *port)
{
	memset(port->ignored, 0, sizeof(port->ignored));
	port->storm = false;
	port->calm_at = U64_MAX;
	port->streams[HOP_SLOT_PAUSE].lease_at = U64_MAX;
	port->stats.storm_ends++;
	trace_hop_storm(port, false);
	hop_port_event(port, HOP_EVENT_STORM_END);
}

/* Nothing is withdrawn any more: what comes from now on holds pauses again, at each of the port's
 * qdiscs, whichever of them has turned the watchdog off for all.
 */
static void members_mark_again(struct hop_port *port)
{
	struct hop_member *m;

	list_for_each_entry(m, &port->members, node)
		WRITE_ONCE(m->stalled, false);
}

/**
 * hop_paused_config - new options
 * @port: the port
 * @now: time
 *
 * Without a watchdog the neighbour is obeyed again, from its next word on, and it is paused again.
 * Context: RTNL, port's lock.
 */
void hop_paused_config(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (port->cfg.watch) {
		hop_paused_watch(port, now);
		return;
	}
	port->watch_at = U64_MAX;
	windows_close(port);
	members_mark_again(port);
	if (port->storm)
		storm_end(port);
}

/**
 * hop_paused_next - when the watchdog of the paused side wants to look
 * @port: the port
 *
 * Return: the time, U64_MAX if there is nothing to look at.
 */
u64 hop_paused_next(const struct hop_port *port)
{
	return min(port->watch_at, port->calm_at);
}

/**
 * hop_paused_run - look
 * @port: the port
 * @now: time
 *
 * Context: the worker, port's lock, RCU.
 */
void hop_paused_run(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (now >= port->calm_at)
		storm_end(port);
	if (now < port->watch_at)
		return;
	if (windows_look(port, now)) {
		storm_begin(port, now);
		return;
	}
	port->watch_at = U64_MAX;
	if (any_bit(port->paused) || any_bit(port->watched))
		port->watch_at = now + hop_watchdog_ns(&port->cfg) / HOP_WATCH_TICKS;
}
