// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - the watchdog of the pausing side: that we do not hold somebody paused for ever
 *
 * While anyone is paused by us, a look is taken a few times a second at the number of packets that
 * have left each qdisc that holds a pause. If none has for half of the watchdog's time, although
 * not all that it has is held itself, its device hangs, and it is asked to withdraw the pauses of
 * its packets. And if no packet of the whole namespace holds a pause, a pause counter that is not 0
 * after two looks is a bug of ours, which is counted and made good; on several processors the
 * looks alone would be deceived, see hop_range_clear(). Only for these two are RTNL and qdiscs'
 * locks taken; a look itself takes none.
 *
 *   hop_port.leak_sum, hop_net.marked, .marks, hop_member.quiet_*  watch_pausing() alone, which is
 *                                                                  one work
 */
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>

#include "port.h"
#include "trace.h"

#define HOP_WITHDRAW_EVERY	msecs_to_jiffies(50)

static void watch_pausing(struct work_struct *work);
static DECLARE_DELAYED_WORK(withdraw_work, watch_pausing);

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

/* Does what it has wait for somebody else than its device? With single flows or destinations held,
 * as some of them always may be, the others do not.
 */
static bool member_is_held(const struct hop_member *m)
{
	unsigned int w;

	if (m->ops->held)
		return m->ops->held(m);
	for (w = m->first / 64; w <= hop_member_last_word(m); w++)
		if (READ_ONCE(m->paused[w]) & hop_member_bits(m, w))
			return true;
	return false;
}

/* Has nothing left a qdisc for so long that its packets must not hold anybody paused? After half of
 * the time for which whoever is held endures it, so that a device that hangs is no storm to those
 * before it. The low half of the number of packets is of one moment, also with 32 bits.
 */
static bool member_is_late(const struct hop_port *port, const struct hop_member *m, u64 now)
{
	return READ_ONCE(port->cfg.watch) && now - m->quiet_ns >= hop_watchdog_ns(&port->cfg) / 2;
}

/* Return: true if its lock has to be taken. One that is stalled is asked until something leaves. */
static bool member_look(const struct hop_port *port, struct hop_member *m, u64 now)
{
	u32 sent = u64_stats_read(&m->sch->bstats.packets);

	if (READ_ONCE(m->stalled))
		return true;
	if (!watching || sent != m->quiet_sent || !READ_ONCE(m->marked) || member_is_held(m)) {
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
		port->net->marked = atomic_read(&port->net->holds);
	list_for_each_entry_rcu(port, &hop_ports, node)
		ask |= port_look(port, now);
	list_for_each_entry_rcu(port, &hop_ports, node) {
		sum = hop_range_sum(port);
		*paused |= sum || hop_range_is_held(port);
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
		port->net->marked = atomic_read(&port->net->holds);
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
