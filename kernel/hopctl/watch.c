// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - watchdogs: pauses that never end, on both sides
 *
 * Leases end the pauses of a neighbour that has died. What they do not end is a neighbour that
 * goes on pausing for ever, and ourselves doing so.
 *
 * The paused side. A sub-queue that holds packets and is paused gets a window. Whatever leaves the
 * sub-queue closes it. When it has been open for the watchdog's time, and of this the sub-queue was
 * paused for more than HOP_STORM_PERCENT, the neighbour is in a *storm*: all of its pauses end, and
 * what it says from now on is counted and echoed but not obeyed. It is obeyed again when it has had
 * nothing paused for the restore time. Paused time is what the neighbour says, frame by frame, not
 * sampled: windows are looked at HOP_WATCH_TICKS times in the watchdog's time, which delays the
 * verdict by as much at most and never makes a false one. The qdisc cannot measure it: while its
 * device takes nothing it is not asked for packets, and sees no resume.
 *
 * Neither a look nor a change of what is paused costs more than there are sub-queues paused, or
 * windows open: hop_port.watched has a bit for each of these.
 *
 * The pausing side. While anyone is paused by us, a look is taken a few times a second at the
 * number of packets that have left each qdisc that holds a pause. If none has for half of the
 * watchdog's time, although it is not paused itself, its device hangs, and it is asked to withdraw
 * the pauses of its packets. And if no packet of the whole namespace holds a pause, a pause counter
 * that is not 0 after two looks is a bug of ours, which is counted and made good; on several
 * processors the looks alone would be deceived, see hop_range_clear(). Only for these two are RTNL
 * and qdiscs' locks taken; a look itself takes none.
 *
 *   hop_port.storm, ignored, watch_at, calm_at, watched, windows   port's lock
 *   hop_port.leak_sum, hop_net.marked, .marks, hop_member.quiet_*  watch_pausing() alone, which is
 *                                                                  one work
 */
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "port.h"
#include "trace.h"

#define HOP_STORM_PERCENT	99
#define HOP_WATCH_TICKS		8
#define HOP_WITHDRAW_EVERY	msecs_to_jiffies(50)

static void watch_pausing(struct work_struct *work);
static DECLARE_DELAYED_WORK(withdraw_work, watch_pausing);

static u64 watchdog_ns(const struct hop_config *cfg)
{
	return cfg->watchdog_ns ?: HOP_WATCHDOG_NS;
}

static u64 restore_ns(const struct hop_config *cfg)
{
	return cfg->restore_ns ?: 2 * watchdog_ns(cfg);
}

/* ---- the paused side ---- */

static void windows_close(struct hop_port *port)
{
	struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node)
		memset(m->windows, 0, m->count * sizeof(*m->windows));
	memset(port->watched, 0, sizeof(port->watched));
}

/* The bits of a word that are a member's sub-queues. Call for a word in which it has some. */
static u64 member_bits(const struct hop_member *m, unsigned int word)
{
	unsigned int first = max_t(unsigned int, m->first, 64 * word);
	unsigned int last = min_t(unsigned int, m->first + m->count - 1, 64 * word + 63);

	return GENMASK_ULL(last % 64, first % 64);
}

static unsigned int member_last_word(const struct hop_member *m)
{
	return (m->first + m->count - 1) / 64;
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
	late = win->since && now - win->since >= watchdog_ns(&port->cfg);
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
		for (w = m->first / 64; w <= member_last_word(m); w++) {
			bits = (port->paused[w] | port->watched[w]) & member_bits(m, w);
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

static void storm_begin(struct hop_port *port, u64 now)
{
	u64 lease_at = port->lease_at;
	u64 paused[HOP_BITMAP_WORDS];

	memcpy(paused, port->paused, sizeof(paused));
	hop_pause_clear(port, now);
	memcpy(port->ignored, paused, sizeof(paused));
	port->lease_at = lease_at;
	port->storm = true;
	port->watch_at = U64_MAX;
	port->calm_at = U64_MAX;
	port->stats.storms++;
	windows_close(port);
	trace_hop_storm(port, true);
	hop_port_event(port, HOP_EVENT_STORM);
	hop_watch_calm(port, now);
}

static void storm_end(struct hop_port *port)
{
	memset(port->ignored, 0, sizeof(port->ignored));
	port->storm = false;
	port->calm_at = U64_MAX;
	port->lease_at = U64_MAX;
	port->stats.storm_ends++;
	trace_hop_storm(port, false);
	hop_port_event(port, HOP_EVENT_STORM_END);
}

/**
 * hop_watch_paused - the neighbour has paused something
 * @port: the port
 * @now: time
 *
 * Context: port's lock.
 */
void hop_watch_paused(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (!port->cfg.watch || port->storm || port->watch_at != U64_MAX || !any_bit(port->paused))
		return;
	port->watch_at = now;
	hop_port_wake(port);
}

/**
 * hop_watch_word - the neighbour has paused and resumed sub-queues
 * @port: the port
 * @word: a word of hop_port.paused, as it is now
 * @changed: its bits that were others before
 * @now: time
 *
 * Context: port's lock, RCU.
 */
void hop_watch_word(struct hop_port *port, unsigned int word, u64 changed, u64 now)
{
	unsigned int queue, looked = 0;
	struct hop_member *m;
	u64 bits;

	lockdep_assert_held(&port->lock);
	changed &= port->watched[word];
	if (!changed)
		return;
	list_for_each_entry_rcu(m, &port->members, node) {
		if (word < m->first / 64 || word > member_last_word(m))
			continue;
		for (bits = changed & member_bits(m, word); bits; bits &= bits - 1, looked++) {
			queue = 64 * word + __ffs64(bits);
			window_changes(&m->windows[queue - m->first],
				       queue_is_paused(port, queue), now);
		}
	}
	trace_hop_watch(port, HOP_WATCH_CHANGE, looked);
}

/**
 * hop_watch_leave - a member's sub-queues are no more
 * @port: the port
 * @m: the member
 *
 * Context: port's lock.
 */
void hop_watch_leave(struct hop_port *port, const struct hop_member *m)
{
	unsigned int w;

	lockdep_assert_held(&port->lock);
	for (w = m->first / 64; w <= member_last_word(m); w++)
		port->watched[w] &= ~member_bits(m, w);
}

/**
 * hop_watch_calm - what the neighbour wants paused during a storm has changed
 * @port: the port
 * @now: time
 *
 * Context: port's lock.
 */
void hop_watch_calm(struct hop_port *port, u64 now)
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
 * hop_watch_config - new options
 * @port: the port
 * @now: time
 *
 * Without a watchdog the neighbour is obeyed again, from its next word on, and it is paused again.
 * Context: RTNL, port's lock.
 */
void hop_watch_config(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (port->cfg.watch) {
		hop_watch_paused(port, now);
		return;
	}
	port->watch_at = U64_MAX;
	windows_close(port);
	members_mark_again(port);
	if (port->storm)
		storm_end(port);
}

/**
 * hop_watch_next - when the watchdog of the paused side wants to look
 * @port: the port
 *
 * Return: the time, U64_MAX if there is nothing to look at.
 */
u64 hop_watch_next(const struct hop_port *port)
{
	return min(port->watch_at, port->calm_at);
}

/**
 * hop_watch_run - look
 * @port: the port
 * @now: time
 *
 * Context: the worker, port's lock, RCU.
 */
void hop_watch_run(struct hop_port *port, u64 now)
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
		port->watch_at = now + watchdog_ns(&port->cfg) / HOP_WATCH_TICKS;
}

/* ---- the pausing side ---- */

/**
 * hop_watch_pausing - we hold somebody paused
 *
 * Context: any.
 */
void hop_watch_pausing(void)
{
	schedule_delayed_work(&withdraw_work, HOP_WITHDRAW_EVERY);
}

void hop_watch_exit(void)
{
	cancel_delayed_work_sync(&withdraw_work);
}

/* The last look found somebody paused, so that a member's quiet_ns still tells something. */
static bool watching;

static bool member_is_paused(const struct hop_member *m)
{
	unsigned int w;

	for (w = m->first / 64; w <= member_last_word(m); w++)
		if (READ_ONCE(m->paused[w]) & member_bits(m, w))
			return true;
	return false;
}

/* Has nothing left a qdisc for so long that its packets must not hold anybody paused? After half of
 * the time for which whoever is held endures it, so that a device that hangs is no storm to those
 * before it. The low half of the number of packets is of one moment, also with 32 bits.
 */
static bool member_is_late(const struct hop_port *port, const struct hop_member *m, u64 now)
{
	return READ_ONCE(port->cfg.watch) && now - m->quiet_ns >= watchdog_ns(&port->cfg) / 2;
}

/* Return: true if its lock has to be taken. One that is stalled is asked until something leaves. */
static bool member_look(const struct hop_port *port, struct hop_member *m, u64 now)
{
	u32 sent = u64_stats_read(&m->sch->bstats.packets);

	if (READ_ONCE(m->stalled))
		return true;
	if (!watching || sent != m->quiet_sent || !READ_ONCE(m->marked) || member_is_paused(m)) {
		m->quiet_sent = sent;
		m->quiet_ns = now;
		return false;
	}
	return member_is_late(port, m, now);
}

/* Return: true if one of its qdiscs is to be asked. */
static bool port_look(struct hop_port *port, u64 now)
{
	struct hop_member *m;
	bool ask = false;

	list_for_each_entry_rcu(m, &port->members, node) {
		ask |= member_look(port, m, now);
		port->net->marked += READ_ONCE(m->marked);
	}
	return ask;
}

/* Looks at everything, without any lock. @paused: somebody is held paused. Return: true if RTNL is
 * needed: a qdisc is to be asked, or counters are there that nobody seems to hold.
 */
static bool ports_look(u64 now, bool *paused)
{
	struct hop_port *port;
	bool ask = false;
	u64 sum;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &hop_ports, node)
		port->net->marked = 0;
	list_for_each_entry_rcu(port, &hop_ports, node)
		ask |= port_look(port, now);
	list_for_each_entry_rcu(port, &hop_ports, node) {
		sum = hop_range_sum(port);
		*paused |= sum;
		if (sum && !port->net->marked)
			ask = true;
		else
			port->leak_sum = 0;
	}
	rcu_read_unlock();
	return ask;
}

static void port_withdraw(struct hop_port *port, u64 now)
{
	unsigned int withdrawn = 0, looked = 0;
	struct hop_member *m;

	list_for_each_entry(m, &port->members, node) {
		if (READ_ONCE(m->stalled) ||
		    (READ_ONCE(m->marked) && member_is_late(port, m, now))) {
			withdrawn += m->ops->withdraw(m);
			looked++;
		}
		port->net->marked += READ_ONCE(m->marked);
	}
	trace_hop_watch(port, HOP_WATCH_LOCK, looked);
	if (withdrawn) {
		spin_lock_bh(&port->lock);
		hop_port_event(port, HOP_EVENT_WITHDRAWN);
		spin_unlock_bh(&port->lock);
	}
}

/* Counters that nobody seems to hold, at two looks. */
static bool port_suspect(struct hop_port *port)
{
	bool again;
	u64 sum;

	rcu_read_lock();
	sum = port->net->marked ? 0 : hop_range_sum(port);
	rcu_read_unlock();
	again = sum && sum == port->leak_sum;
	port->leak_sum = sum;
	return again;
}

/* On several processors packets come and go between the look at them and the one at the counters.
 * The caller has waited for those that were about to let go.
 */
static void port_leaks(struct hop_port *port)
{
	u64 cleared;

	spin_lock_bh(&port->lock);
	cleared = hop_range_clear(port, port->net->marks);
	if (cleared) {
		port->stats.counter_leaks += cleared;
		hop_port_wake(port);
	}
	spin_unlock_bh(&port->lock);
}

static void ports_ask(u64 now)
{
	struct hop_port *port;
	bool suspects = false;

	rtnl_lock();
	list_for_each_entry(port, &hop_ports, node) {
		port->net->marked = 0;
		port->net->marks = hop_net_marks(port->net);
	}
	list_for_each_entry(port, &hop_ports, node)
		port_withdraw(port, now);
	list_for_each_entry(port, &hop_ports, node)
		suspects |= port_suspect(port);
	if (suspects) {
		synchronize_net();	/* a qdisc's work is a read-side critical section */
		list_for_each_entry(port, &hop_ports, node)
			if (port->leak_sum)
				port_leaks(port);
	}
	rtnl_unlock();
}

static void watch_pausing(struct work_struct *work)
{
	u64 now = hop_now();
	bool again = false;

	if (ports_look(now, &again)) {
		ports_ask(now);
		again = true;
	}
	watching = again;
	if (again)
		hop_watch_pausing();
}
