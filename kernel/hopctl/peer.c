// SPDX-License-Identifier: GPL-2.0-only
/*
 * peer.c - the neighbour: epochs, life and death, whether to tag
 *
 * Epochs. Each start of a port draws a random epoch, and each frame names the sender's and the
 * one that it takes the receiver to have. A HELLO of an epoch that we do not know makes it a
 * candidate. We answer it; it is confirmed by a HELLO of its own that names our epoch and
 * echoes the time stamp of a HELLO which we sent after we had first seen the candidate. An old
 * HELLO that someone plays back cannot do that, and until then the neighbour that we have stays
 * the neighbour. Within an epoch a HELLO has to be newer than the one before.
 *
 * Life. Any new content of the confirmed epoch is a sign of life. After HOP_DEAD_NS without
 * one, on a GOODBYE, or without carrier, the neighbour is lost: its pauses end, what we told it
 * counts as forgotten, nothing is tagged. Tags are still taken off for a while, and the
 * handles stay until another epoch is confirmed: the packets that they label are still here.
 *
 * A neighbour that does not name our epoch (0) has lost us; it takes no tags off any more, so
 * we stop tagging at once.
 *
 * A neighbour without a kind of qdisc in common with this port is one all the same, but it is
 * neither paused nor obeyed, and nothing is tagged.
 *
 * A second source address within the dead interval means that the link has more than two
 * ends. Its frames are dropped and counted, and we do not tag until only one is left.
 *
 * Frames may be damaged on their way. What is wrong in them is put right by the next one of
 * its kind; sequence numbers and time stamps, by which the next one is judged, must make sense.
 *
 * All under the port's lock.
 */
#include <linux/inetdevice.h>
#include <net/addrconf.h>

#include "ingress.h"
#include "port.h"
#include "trace.h"

static bool device_forwards(const struct net_device *dev)
{
	struct net *net = dev_net(dev);
	struct in_device *in_dev = __in_dev_get_rcu(dev);
	bool forwards = IPV4_DEVCONF_ALL(net, FORWARDING) || (in_dev && IN_DEV_FORWARD(in_dev));
#if IS_ENABLED(CONFIG_IPV6)
	struct inet6_dev *in6_dev = __in6_dev_get(dev);

	forwards = forwards || (net->ipv6.devconf_all && net->ipv6.devconf_all->forwarding) ||
		   (in6_dev && in6_dev->cnf.forwarding);
#endif
	return forwards;
}

/* A switch has handles for its neighbour's sub-queues, a host never pauses anyone. */
static void peer_handles(struct hop_port *port)
{
	bool all = port->role == HOP_ROLE_SWITCH && hop_port_has_kind(port, HOP_KIND_PFC);
	bool one = port->cfg.kinds == HOP_KIND_PFC ||
		   hop_port_has_kind(port, (u16)~HOP_KIND_PFC);
	u32 before = port->handles;

	if (port->role == HOP_ROLE_HOST || (port->peer.up && !hop_peer_is_kin(port)))
		hop_range_put(port);
	else if (port->peer.up)
		hop_range_get(port, port->peer.hello.queues);
	if (port->handles == before && port->pauses_all == all && port->pauses_one == one)
		return;
	WRITE_ONCE(port->pauses_all, all);
	WRITE_ONCE(port->pauses_one, one);
	bitmap_fill(port->pausing_dirty, HOP_BITMAP_WORDS);
	hop_port_wake(port);
}

/**
 * hop_peer_kinds - the neighbour's kinds, or ours, may be others than before
 * @port: the port
 * @now: time
 */
void hop_peer_kinds(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (!port->peer.up)
		return;
	peer_handles(port);
	hop_streams_judge(port, now);
	hop_blocks_judge(port);
}

/**
 * hop_peer_role - what are we?
 * @port: the port
 */
void hop_peer_role(struct hop_port *port)
{
	u8 role = port->cfg.role;

	lockdep_assert_held(&port->lock);
	if (role == HOP_ROLE_AUTO) {
		rcu_read_lock();
		role = netif_is_bridge_port(port->dev) || device_forwards(port->dev) ?
		       HOP_ROLE_SWITCH : HOP_ROLE_HOST;
		rcu_read_unlock();
	}
	if (role == port->role)
		return;
	WRITE_ONCE(port->role, role);
	peer_handles(port);
	hop_blocks_judge(port);
}

/**
 * hop_peer_filters - does anything look at frames before their tags are taken off?
 * @port: the port
 *
 * Nobody tells when that changes, so it is looked at with each HELLO. What was taken off since the
 * look before counts as unseen then, in part perhaps wrongly. Context: RCU.
 */
void hop_peer_filters(struct hop_port *port)
{
	u64 stripped = hop_tag_stripped(port);

	port->filtered = sluice_has_ingress_classifier(port->dev) ||
			 dev_xdp_prog_count(port->dev);
	if (port->filtered)
		port->unseen += stripped - port->unseen_from;
	port->unseen_from = stripped;
}

static u8 state_resolve(const struct hop_port *port)
{
	const struct hop_peer *peer = &port->peer;

	if (!port->cfg.tag)
		return HOP_STATE_DISABLED;
	if (!port->carrier)
		return HOP_STATE_NO_CARRIER;
	if (peer->other_ns)
		return HOP_STATE_SHARED;
	if (!peer->up || !peer->knows_us)
		return HOP_STATE_NO_NEIGHBOUR;
	if (!hop_peer_is_kin(port))
		return HOP_STATE_KIND;
	/* it has no handles: a tag would only be in the way of what looks at frames there */
	if (hop_peer_taken_for(port) == HOP_ROLE_HOST)
		return HOP_STATE_HOST;
	if (!(peer->hello.flags & HOP_HELLO_STRIPS_TAGS))
		return HOP_STATE_NO_STRIP;
	if (peer->hello.tpid != port->cfg.tpid)
		return HOP_STATE_TPID;
	return HOP_STATE_PROBING;
}

/* How long a frame that has left its sub-queue may be on its way: on the card, then on the
 * link. A card that does not say what it holds is given a HELLO interval.
 */
static u64 peer_flight_ns(const struct hop_port *port, u32 ring_ns)
{
	return HOP_FLIGHT_NS + (ring_ns ?: HOP_HELLO_NS) + hop_hrtt_way_ns(port);
}

/* Does the neighbour take tags off because of what we say now, not of what we said once? */
static bool peer_strips(const struct hop_port *port)
{
	const struct hop_hello *h = &port->peer.hello;

	return h->flags & HOP_HELLO_STRIPPING && h->flags & HOP_HELLO_ECHO_VALID &&
	       h->echo_ns >= port->tags_since;
}

/* A tagged packet may stay in a qdisc for long: a parent has looked at it and may not send it yet,
 * or the device did not take it. It is the first to leave, so when another one has left its qdisc
 * after tagging ended, or none waits in any above, there is none.
 */
static bool peer_parked(const struct hop_port *port)
{
	struct hop_member *m;
	bool parked = false;
	u64 sent;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock)) {
		if (!READ_ONCE(qdisc_root_sleeping(m->sch)->q.qlen))
			continue;
		sent = u64_stats_read(&m->sch->bstats.packets);
		if (!m->parked)
			m->parked_sent = sent;
		m->parked = true;
		parked |= sent == m->parked_sent;
	}
	return parked;
}

static void peer_unparked(const struct hop_port *port)
{
	struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		m->parked = false;
}

/**
 * hop_peer_state - decide anew whether to tag
 * @port: the port
 * @now: time
 */
void hop_peer_state(struct hop_port *port, u64 now)
{
	u8 state = state_resolve(port);
	bool ready;

	lockdep_assert_held(&port->lock);
	WRITE_ONCE(port->to_host, hop_peer_taken_for(port) == HOP_ROLE_HOST);
	hop_blocks_judge(port);
	if (state == HOP_STATE_PROBING) {
		hop_probe_start(port, now);
		state = port->probing.verdict;
	} else {
		hop_probe_stop(port);
	}
	hop_port_wake(port);

	ready = state == HOP_STATE_TAGGING;
	if (ready != port->tags)
		hop_hello_soon(port, now);
	if (ready && !port->tags && now >= port->tags_until)
		port->tags_since = now;
	port->tags = ready;
	if (ready && !peer_strips(port))
		state = HOP_STATE_PROBING;
	if (port->tagging && state != HOP_STATE_TAGGING) {
		port->tags_until = now + peer_flight_ns(port, hop_link_drain_ns(port));
		peer_unparked(port);
	}
	if (state == port->state)
		return;
	WRITE_ONCE(port->state, state);
	WRITE_ONCE(port->tagging, state == HOP_STATE_TAGGING);
	trace_hop_state(port, state);
	hop_port_event(port, HOP_EVENT_STATE);
}

/* Take tags off while the neighbour says TAGS; it goes on saying so while the last one may be
 * on its way. If it can no longer say anything, strip_at has been set instead.
 */
static void peer_strip(struct hop_port *port, u64 now)
{
	const struct hop_hello *h = &port->peer.hello;

	if (h->flags & HOP_HELLO_TAGS && h->tpid == port->cfg.tpid) {
		if (!port->strip || port->strip_at != U64_MAX)
			hop_hello_soon(port, now);
		/* of before a smaller range some may be on their way */
		WRITE_ONCE(port->strip, max_t(u32, h->queues, port->strip >> 16) << 16 | h->tpid);
		port->strip_at = U64_MAX;
	} else if (port->strip_at == U64_MAX) {
		WRITE_ONCE(port->strip, 0);
	}
}

/**
 * hop_peer_unstrip - take tags off for some more time only
 * @port: the port
 * @now: time
 *
 * What the neighbour has tagged is on its way, and it may not have noticed that we lost it.
 */
void hop_peer_unstrip(struct hop_port *port, u64 now)
{
	if (port->strip && port->strip_at == U64_MAX)
		port->strip_at = now + HOP_LINGER_NS;
}

/**
 * hop_peer_left - the neighbour said goodbye
 * @port: the port
 * @now: time
 *
 * It tags no more. What it has tagged is on its card or on its way; what comes later with a tag
 * of our TPID is a user's.
 */
void hop_peer_left(struct hop_port *port, u64 now)
{
	u64 ring = port->peer.hello.ring_ns, flight;

	lockdep_assert_held(&port->lock);
	/* it says how long the longest of its card's queues is, not how many there are */
	flight = peer_flight_ns(port, min_t(u64, ring * HOP_CARD_QUEUES, HOP_HRTT_MAX_NS));
	hop_peer_lost(port, now);
	if (port->strip)
		port->strip_at = min(port->strip_at, now + flight);
}

/**
 * hop_peer_heard_us_leave - a frame for a port that has said goodbye
 * @port: the port
 * @f: the frame
 *
 * A HELLO of the neighbour that we had, newer than all before and without TAGS, says that its
 * last tagged frame has arrived.
 */
void hop_peer_heard_us_leave(struct hop_port *port, const struct hop_frame *f)
{
	const struct hop_peer *peer = &port->peer;

	lockdep_assert_held(&port->lock);
	if (!hop_frame_has(f, HOP_TLV_HELLO) || f->epoch_mine != peer->epoch ||
	    f->hello.sent_ns <= peer->hello.sent_ns || f->hello.flags & HOP_HELLO_TAGS)
		return;
	WRITE_ONCE(port->strip, 0);
	port->strip_at = U64_MAX;
}

/* A long hold is measured by two clocks: it will do until there is something better. */
static void peer_measure(struct hop_port *port, u64 now)
{
	struct hop_peer *peer = &port->peer;
	const struct hop_hello *h = &peer->hello;
	bool rough = h->held_ns > HOP_HELD_MAX_NS;
	u64 rtt;

	if (!(h->flags & HOP_HELLO_ECHO_VALID))
		return;
	if (h->echo_ns > now || now - h->echo_ns > 2 * HOP_DEAD_NS ||
	    h->held_ns > now - h->echo_ns)
		return;
	if (rough && peer->rtt_count)
		return;
	if (peer->rtt_rough)
		peer->rtt_count = 0;
	peer->rtt_rough = rough;
	rtt = now - h->echo_ns - h->held_ns;
	peer->rtt[peer->rtt_count++ % HOP_HRTT_WINDOW] = min_t(u64, rtt, U32_MAX);
}

/**
 * hop_peer_source - is a frame's source address the neighbour's?
 * @port: the port
 * @mac: the address
 * @now: time
 *
 * The first one heard is, until it has been silent for the dead interval.
 * Return: false if it is another one: the link is shared.
 */
bool hop_peer_source(struct hop_port *port, const u8 *mac, u64 now)
{
	struct hop_peer *peer = &port->peer;

	lockdep_assert_held(&port->lock);
	if (!peer->mac_ns || now - peer->mac_ns > HOP_DEAD_NS) {
		ether_addr_copy(peer->mac, mac);
		peer->mac_ns = now;
		if (peer->other_ns) {
			peer->other_ns = 0;
			hop_peer_state(port, now);
		}
		return true;
	}
	if (ether_addr_equal_unaligned(mac, peer->mac)) {
		peer->mac_ns = now;
		return true;
	}
	port->stats.rx_shared++;
	peer->other_ns = now;
	hop_peer_state(port, now);
	return false;
}

/**
 * hop_peer_speaks - may a frame's contents be believed to be the neighbour's, and for us?
 * @port: the port
 * @f: the frame
 *
 * Return: true if both epochs are right.
 */
bool hop_peer_speaks(const struct hop_port *port, const struct hop_frame *f)
{
	return port->peer.up && f->epoch_mine == port->peer.epoch &&
	       f->epoch_yours == port->epoch;
}

/**
 * hop_peer_drop - have no neighbour any more
 * @port: the port
 * @now: time
 */
void hop_peer_drop(struct hop_port *port, u64 now)
{
	struct hop_peer *peer = &port->peer;
	bool tagging = port->tagging;
	u64 flight;

	lockdep_assert_held(&port->lock);
	if (!peer->up)
		return;
	/* while its HRTT is known */
	flight = peer_flight_ns(port, hop_link_drain_ns(port));
	peer->up = false;
	peer->knows_us = false;
	peer->rtt_count = 0;
	peer->rtt_rough = false;
	hop_streams_stop(port, now);
	hop_blocks_stop(port);
	hop_peer_unstrip(port, now);
	port->n_echoes = 0;
	hop_hrtt_update(port, now);
	hop_peer_state(port, now);
	if (tagging)
		port->tags_until = now + flight;
	port->hello_gap = HOP_HELLO_FIRST_NS;
	hop_hello_soon(port, now);
}

/**
 * hop_peer_lost - the neighbour fell silent, said goodbye or lost carrier
 * @port: the port
 * @now: time
 */
void hop_peer_lost(struct hop_port *port, u64 now)
{
	if (!port->peer.up)
		return;
	port->stats.neighbour_lost++;
	trace_hop_neighbour_lost(port, port->peer.epoch);
	hop_port_event(port, HOP_EVENT_NEIGHBOUR_LOST);
	port->peer.mac_ns = 0;
	port->peer.other_ns = 0;
	hop_peer_drop(port, now);
}

/* The neighbour's newest HELLO, from here on. */
static void peer_take(struct hop_port *port, const struct hop_frame *f, u64 now)
{
	struct hop_peer *peer = &port->peer;

	peer->hello = f->hello;
	peer->hello_rx_ns = now;
	peer->hellos++;
	peer->knows_us = f->epoch_yours == port->epoch;
	port->stats.hello_rx++;
	hop_peer_alive(port, now);
	peer_measure(port, now);
	hop_hrtt_update(port, now);
	port->stats.hrtt_capped += port->hrtt_capped;
	hop_peer_kinds(port, now);
	peer_strip(port, now);
	hop_peer_state(port, now);
}

/* Can a HELLO have been sent then, if one sent at @last_ns has come at @last_rx_ns? The clocks at
 * both ends run alike, but the earlier one may have been on its way for long. A damaged time
 * stamp must not be taken: every later HELLO would be older than it.
 */
static bool hello_time_fits(u64 sent_ns, u64 last_ns, u64 last_rx_ns, u64 now)
{
	return sent_ns <= last_ns || sent_ns - last_ns <= now - last_rx_ns + HOP_DEAD_NS;
}

/* A HELLO of the epoch that we know. */
static void peer_refresh(struct hop_port *port, const struct hop_frame *f, u64 now)
{
	struct hop_peer *peer = &port->peer;

	if (f->hello.sent_ns <= peer->hello.sent_ns) {
		port->stats.rx_stale++;
		return;
	}
	if (!hello_time_fits(f->hello.sent_ns, peer->hello.sent_ns, peer->hello_rx_ns, now)) {
		port->stats.rx_range++;
		return;
	}
	/* an answer to a candidate that is not us; it still shows that someone is there, once */
	if (f->epoch_yours && f->epoch_yours != port->epoch) {
		peer->hello.sent_ns = f->hello.sent_ns;
		peer->hello_rx_ns = now;
		hop_peer_alive(port, now);
		return;
	}
	peer_take(port, f, now);
	if (!peer->knows_us || peer->hellos % HOP_HELLO_ANSWER == 0)
		hop_hello_soon(port, now);
	hop_port_wake(port);
}

static void peer_confirm(struct hop_port *port, const struct hop_frame *f, u64 now)
{
	struct hop_peer *peer = &port->peer;
	bool same = peer->epoch == f->epoch_mine;

	hop_peer_drop(port, now);
	if (!same) {
		hop_range_put(port);
		hop_streams_forget(port);
		hop_blocks_forget(port);
	}
	memset(port->cand, 0, sizeof(port->cand));
	peer->up = true;
	peer->epoch = f->epoch_mine;
	peer->hellos = 0;
	port->stats.neighbour_up++;
	trace_hop_neighbour_up(port, peer->epoch);
	hop_port_event(port, HOP_EVENT_NEIGHBOUR_UP);
	peer_take(port, f, now);
	hop_streams_start(port, now);
	hop_blocks_start(port, now);
	port->hello_gap = HOP_HELLO_NS;
	hop_hello_soon(port, now);
	hop_port_wake(port);
}

static bool candidate_is_old(const struct hop_candidate *c, u64 now)
{
	return !c->epoch || now - c->rx_ns > HOP_DEAD_NS;
}

/* The entry of an epoch, or a free one, or that of whoever has waited longest. */
static struct hop_candidate *candidate_get(struct hop_port *port, u32 epoch, u64 now)
{
	struct hop_candidate *c, *best = &port->cand[0];

	for (c = port->cand; c < port->cand + HOP_CANDIDATES; c++) {
		if (c->epoch == epoch && !candidate_is_old(c, now))
			return c;
		if (candidate_is_old(best, now))
			continue;
		if (candidate_is_old(c, now) || c->seen_ns < best->seen_ns)
			best = c;
	}
	*best = (struct hop_candidate) { .epoch = epoch, .seen_ns = now };
	return best;
}

/**
 * hop_peer_candidate - whoever may become the neighbour
 * @port: the port
 * @now: time
 *
 * Return: the one that was heard last, NULL if there is none.
 */
struct hop_candidate *hop_peer_candidate(struct hop_port *port, u64 now)
{
	struct hop_candidate *c, *best = NULL;

	for (c = port->cand; c < port->cand + HOP_CANDIDATES; c++)
		if (!candidate_is_old(c, now) && (!best || c->rx_ns > best->rx_ns))
			best = c;
	return best;
}

static void candidate_hello(struct hop_port *port, const struct hop_frame *f, u64 now)
{
	const struct hop_hello *h = &f->hello;
	struct hop_candidate *c;

	/* an epoch that we knew and lost goes on where it was */
	if (f->epoch_mine == port->peer.epoch && h->sent_ns <= port->peer.hello.sent_ns) {
		port->stats.rx_stale++;
		return;
	}
	c = candidate_get(port, f->epoch_mine, now);
	if (c->rx_ns && h->sent_ns <= c->sent_ns) {
		port->stats.rx_stale++;
		return;
	}
	if (c->rx_ns && !hello_time_fits(h->sent_ns, c->sent_ns, c->rx_ns, now)) {
		port->stats.rx_range++;
		return;
	}
	c->rx_ns = now;
	c->sent_ns = h->sent_ns;
	if (f->epoch_yours == port->epoch && h->flags & HOP_HELLO_ECHO_VALID &&
	    h->echo_ns >= c->seen_ns && h->echo_ns <= now) {
		peer_confirm(port, f, now);
		return;
	}
	c->answer = true;
	/* nobody was here; the answer may be lost, so others have to follow it soon */
	if (port->hello_gap > HOP_HELLO_NS)
		port->hello_gap = HOP_HELLO_FIRST_NS;
	hop_hello_soon(port, now);
	hop_port_wake(port);
}

/**
 * hop_peer_hello - a HELLO
 * @port: the port
 * @f: the frame that it is in
 * @now: time
 */
void hop_peer_hello(struct hop_port *port, const struct hop_frame *f, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (port->peer.up && f->epoch_mine == port->peer.epoch)
		peer_refresh(port, f, now);
	else
		candidate_hello(port, f, now);
}

/**
 * hop_peer_next - when one of the time limits here runs out
 * @port: the port
 *
 * Return: the time, U64_MAX if none.
 */
u64 hop_peer_next(const struct hop_port *port)
{
	u64 at = port->strip_at;

	lockdep_assert_held(&port->lock);
	if (port->tags_until)
		at = min(at, port->tags_until);
	if (port->peer.up)
		at = min(at, port->peer.heard_ns + HOP_DEAD_NS);
	if (port->peer.other_ns)
		at = min(at, port->peer.other_ns + HOP_DEAD_NS);
	return at;
}

/**
 * hop_peer_expire - let time limits run out
 * @port: the port
 * @now: time
 */
void hop_peer_expire(struct hop_port *port, u64 now)
{
	struct hop_peer *peer = &port->peer;

	lockdep_assert_held(&port->lock);
	if (peer->up && now >= peer->heard_ns + HOP_DEAD_NS)
		hop_peer_lost(port, now);
	if (peer->other_ns && now >= peer->other_ns + HOP_DEAD_NS) {
		peer->other_ns = 0;
		hop_peer_state(port, now);
	}
	if (port->tags_until && now >= port->tags_until) {
		if (!port->tags && peer_parked(port)) {
			port->tags_until = now + peer_flight_ns(port, hop_link_drain_ns(port));
		} else {
			port->tags_until = 0;
			hop_hello_soon(port, now);
		}
	}
	if (now >= port->strip_at) {
		WRITE_ONCE(port->strip, 0);
		port->strip_at = U64_MAX;
	}
}
