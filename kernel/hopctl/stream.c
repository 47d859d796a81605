// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - the told states of a port: what of which is due, and who gets what was heard
 *
 * The rules of each state by itself are in stream.h, what it says in its content (content.h). Here
 * is what states have in common: the neighbour's life, the times of the link, the frames.
 *
 * Frames keep a distance, which depends on the link's speed and on a floor for the neighbour's
 * processor; changes in between are told together. The first one after a silence leaves at once.
 * All states that are due go into one frame.
 *
 * All under the port's lock.
 */
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>

#include "port.h"
#include "share.h"
#include "trace.h"

/* Written under RTNL, read under RCU and the port's lock */
static const struct hop_content *contents[HOP_SLOTS];

/* Bytes that a frame needs for what may be due; what does not fit goes into the next one. */
unsigned int hop_streams_room __read_mostly;

#define for_each_content(c, slot)						\
	for ((slot) = 0; (slot) < HOP_SLOTS; (slot)++)				\
		if (!((c) = READ_ONCE(contents[slot])))				\
			;							\
		else

static unsigned int stream_pages(const struct hop_port *port, const struct hop_content *c)
{
	if (c->pages)
		return c->pages(port);
	return hop_port_has_kind(port, c->kinds) ? c->words : 0;
}

static void stream_start(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
			 u64 now)
{
	if (c->start)
		c->start(port, now);
	port->streams[slot].pages = stream_pages(port, c);
	hop_stream_start(&port->streams[slot], now);
}

static void stream_void(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
			u64 now)
{
	struct hop_stream *s = &port->streams[slot];

	s->lease_at = U64_MAX;
	if (c->lost)
		c->lost(port, now);
	else
		memset(s->heard, 0, sizeof(s->heard));
}

static void stream_stop(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
			u64 now)
{
	stream_void(port, slot, c, now);
	if (c->stop)
		c->stop(port);
	hop_stream_stop(&port->streams[slot]);
}

static void stream_room(void)
{
	unsigned int slot, room = 0;

	for (slot = 0; slot < HOP_SLOTS; slot++)
		if (contents[slot])
			room += hop_frame_state_bytes(HOP_STREAM_PAGES);
	WRITE_ONCE(hop_streams_room, min_t(unsigned int, room, HOP_FRAME_MAX - HOP_FRAME_REST));
}

/**
 * hop_content_register - give a told state its content
 * @slot: the state
 * @c: the content
 *
 * It is told from now on to neighbours that have come up before, too. The qdiscs that it asks come
 * later. Context: process, not RTNL.
 * Return: 0, -EBUSY: it has one.
 */
int hop_content_register(enum hop_slot slot, const struct hop_content *c)
{
	struct hop_port *port;
	int err = -EBUSY;

	rtnl_lock();
	if (!contents[slot]) {
		WRITE_ONCE(contents[slot], c);
		stream_room();
		list_for_each_entry(port, &hop_ports, node) {
			spin_lock_bh(&port->lock);
			if (port->peer.up)
				stream_start(port, slot, c, hop_now());
			hop_port_wake(port);
			spin_unlock_bh(&port->lock);
		}
		err = 0;
	}
	rtnl_unlock();
	return err;
}
EXPORT_SYMBOL_GPL(hop_content_register);

/**
 * hop_content_unregister - a told state is neither told nor taken any more
 * @slot: the state
 *
 * Context: process, not RTNL. None of the content's functions is called after it.
 */
void hop_content_unregister(enum hop_slot slot)
{
	const struct hop_content *c;
	struct hop_port *port;

	rtnl_lock();
	c = contents[slot];
	WRITE_ONCE(contents[slot], NULL);
	stream_room();
	synchronize_net();
	list_for_each_entry(port, &hop_ports, node) {
		spin_lock_bh(&port->lock);
		stream_stop(port, slot, c, hop_now());
		port->streams[slot].pages = 0;
		port->acks &= ~BIT(slot);
		spin_unlock_bh(&port->lock);
	}
	rtnl_unlock();
}
EXPORT_SYMBOL_GPL(hop_content_unregister);

void hop_tell(const struct hop_member *m)
{
	struct hop_port *port = m->port;

	/* whoever ends a port sets @dying, and waits for us before it ends the worker */
	if (port && !READ_ONCE(port->dying))
		tasklet_schedule(&port->work);
}
EXPORT_SYMBOL_GPL(hop_tell);

u64 hop_heard_word(const struct hop_member *m, enum hop_slot slot, unsigned int page)
{
	return m->port ? READ_ONCE(m->port->streams[slot].heard[page]) : 0;
}
EXPORT_SYMBOL_GPL(hop_heard_word);

struct hop_member *hop_port_member(const struct hop_port *port, const struct hop_member_ops *ops)
{
	struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		if (m->ops == ops)
			return m;
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_port_member);

struct hop_member *hop_port_member_at(const struct hop_port *port, u16 queue)
{
	struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		if (queue - m->first < m->count && queue >= m->first)
			return m;
	return NULL;
}
EXPORT_SYMBOL_GPL(hop_port_member_at);

bool hop_port_has_kind(const struct hop_port *port, u16 kinds)
{
	return kinds & port->peer.hello.kinds & port->cfg.kinds;
}

/* A port begins. */
void hop_streams_init(struct hop_port *port)
{
	unsigned int slot;

	for (slot = 0; slot < HOP_SLOTS; slot++)
		hop_stream_init(&port->streams[slot]);
}

/* ---- told ---- */

/* What a frame and its echo take, wherever data waits */
static u32 stream_hrtt(const struct hop_port *port)
{
	return port->hrtt_link ?: HOP_HRTT_UNKNOWN_NS;
}

/* What a frame takes that says all that can be told */
static u64 stream_whole_ns(const struct hop_port *port)
{
	unsigned int slot, bytes = ETH_HLEN + sizeof(struct hop_frame_hdr);

	for (slot = 0; slot < HOP_SLOTS; slot++)
		if (port->streams[slot].pages)
			bytes += hop_frame_state_bytes(port->streams[slot].pages);
	bytes += hop_roots_bytes(port);
	return hop_link_wire_ns(port, bytes);
}

/* Not more often than such frames may leave. What they may owe is for a lease that is set and does
 * not allow for that.
 */
u64 hop_streams_refresh_ns(const struct hop_port *port)
{
	u64 least = READ_ONCE(hop_state_spacing_ns) ? hop_share_ns(stream_whole_ns(port)) : 0;

	if (port->cfg.lease_ns)
		least = min_t(u64, least, port->cfg.lease_ns / 2);
	if (port->cfg.refresh_ns)
		return max_t(u64, port->cfg.refresh_ns, least);
	return max3(4ULL * stream_hrtt(port), (u64)HOP_REFRESH_AUTO_MIN_NS, least);
}

static u32 stream_lease_ns(const struct hop_port *port, u64 refresh_ns)
{
	if (port->cfg.lease_ns)
		return port->cfg.lease_ns;
	return min_t(u64, HOP_LEASE_REFRESHES * refresh_ns, HOP_LEASE_MAX_NS);
}

/*
 * When an echo is overdue. HRTT is what an idle link takes and what the neighbour's card may hold;
 * our frame may wait for our card, and each of the two for a data frame that is on the line.
 */
u64 hop_streams_echo_ns(const struct hop_port *port)
{
	return stream_hrtt(port) + hop_link_ring_ns(port) +
	       2 * hop_link_wire_ns(port, READ_ONCE(port->dev->mtu) + VLAN_ETH_HLEN);
}

/**
 * hop_streams_space - a frame with told states, or the like, leaves now
 * @port: the port
 * @bytes: its bytes
 * @now: time
 *
 * So the next one has to wait.
 */
void hop_streams_space(struct hop_port *port, unsigned int bytes, u64 now)
{
	u32 least = READ_ONCE(hop_state_spacing_ns);
	u64 at = now;

	port->spacing.paid_before_ns = port->spacing.paid_ns;
	if (least) {
		at = hop_share_spend(&port->spacing.paid_ns, hop_link_wire_ns(port, bytes), now);
		at = max(at, now + least);
	}
	port->spacing.next_ns = at;
}

/**
 * hop_streams_start - tell a neighbour that has just come up how things are
 * @port: the port
 * @now: time
 */
void hop_streams_start(struct hop_port *port, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	for_each_content(c, slot)
		stream_start(port, slot, c, now);
}

/**
 * hop_streams_stop - the neighbour is gone, and so is what either has told
 * @port: the port
 * @now: time
 */
void hop_streams_stop(struct hop_port *port, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	for_each_content(c, slot)
		stream_stop(port, slot, c, now);
	port->acks = 0;
}

/**
 * hop_streams_forget - the neighbour is another one: its numbers begin anew
 * @port: the port
 */
void hop_streams_forget(struct hop_port *port)
{
	unsigned int slot;

	for (slot = 0; slot < HOP_SLOTS; slot++)
		port->streams[slot].rx_valid = false;
}

/* A plain content */
static noinline void stream_collect(struct hop_port *port, enum hop_slot slot,
				    const struct hop_content *c)
{
	const struct hop_member *m = hop_port_member(port, c->ops);
	struct hop_stream *s = &port->streams[slot];
	unsigned int page;
	u64 word;

	for (page = 0; page < c->words; page++) {
		word = m ? c->word(m, page) : 0;
		if (word != s->told[page])
			hop_stream_change(s, page, word);
	}
}

/**
 * hop_streams_collect - find out what has to be told
 * @port: the port
 * @now: time
 */
void hop_streams_collect(struct hop_port *port, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	if (!port->peer.up)
		return;
	for_each_content(c, slot)
		if (c->collect)
			c->collect(port, now);
		else
			stream_collect(port, slot, c);
}

/**
 * hop_streams_next - when a state is due
 * @port: the port
 *
 * Return: the time, U64_MAX if there is nothing to say.
 */
u64 hop_streams_next(const struct hop_port *port)
{
	const struct hop_content *c;
	u64 at = U64_MAX;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	if (!port->peer.up)
		return at;
	for_each_content(c, slot)
		at = min(at, hop_stream_next(&port->streams[slot], port->spacing.next_ns));
	return at;
}

/* Return: true if there was room for it, beside the rest of the frame. */
static bool stream_write(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
			 struct hop_writer *w, u64 now)
{
	struct hop_stream *s = &port->streams[slot];
	struct hop_stream_part part;
	struct hop_stream_times t;
	u8 *to;

	hop_stream_part(s, now, &part);
	if (w->used - sizeof(struct hop_frame_hdr) + hop_frame_state_bytes(part.count) +
	    HOP_FRAME_REST > w->size)
		return false;
	t.refresh_ns = hop_streams_refresh_ns(port);
	to = hop_frame_add_state(w, slot, s->seq + 1, stream_lease_ns(port, t.refresh_ns),
				 part.first, part.count);
	if (!to)
		return false;
	hop_frame_put_words(to, s->told + part.first, part.count);
	t.echo_ns = part.how == HOP_STREAM_NEW ? hop_streams_echo_ns(port) : 0;
	hop_stream_said(s, &part, &t, now);
	if (c->said)
		c->said(port, &part, w, now);
	return true;
}

/**
 * hop_streams_write - add the states that are due to a frame
 * @port: the port
 * @w: the frame
 * @now: time
 *
 * Return: set of the slots that were added.
 */
u32 hop_streams_write(struct hop_port *port, struct hop_writer *w, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;
	u32 said = 0;

	lockdep_assert_held(&port->lock);
	if (!port->peer.up)
		return 0;
	for_each_content(c, slot)
		if (now >= hop_stream_next(&port->streams[slot], port->spacing.next_ns) &&
		    stream_write(port, slot, c, w, now))
			said |= BIT(slot);
	if (said)
		hop_streams_space(port, ETH_HLEN + w->used, now);
	return said;
}

/**
 * hop_streams_unsaid - the device did not take the frame
 * @port: the port
 * @said: the states in it
 */
void hop_streams_unsaid(struct hop_port *port, u32 said)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	if (!said || !port->peer.up)
		return;
	for_each_content(c, slot) {
		if (!(said & BIT(slot)))
			continue;
		hop_stream_unsaid(&port->streams[slot]);
		if (c->unsaid)
			c->unsaid(port);
	}
	port->spacing.next_ns = 0;
	port->spacing.paid_ns = port->spacing.paid_before_ns;
}

static void stream_acked(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
			 u32 seq)
{
	if (!hop_stream_acked(&port->streams[slot], seq))
		port->stats.rx_range++;
	else if (c->acked)
		c->acked(port, seq);
}

/* ---- heard ---- */

/**
 * hop_streams_write_acks - add the acknowledgements that are due to a frame
 * @port: the port
 * @w: the frame
 *
 * Return: set of the slots that were acknowledged.
 */
u32 hop_streams_write_acks(struct hop_port *port, struct hop_writer *w)
{
	unsigned long left = port->acks;
	u32 acked = 0;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	port->acks = 0;
	for_each_set_bit(slot, &left, HOP_SLOTS)
		if (port->streams[slot].rx_valid &&
		    hop_frame_add_ack(w, slot, port->streams[slot].rx_seq))
			acked |= BIT(slot);
	return acked;
}

/* Return: true if it is to end with its lease. */
static bool stream_hear(struct hop_port *port, struct hop_stream *s, const struct hop_content *c,
			const struct hop_told *told, u64 now)
{
	unsigned int i;

	if (c->rx)
		return c->rx(port, told, now);
	for (i = 0; i < told->count; i++)
		WRITE_ONCE(s->heard[told->first + i], hop_told_word(told, i));
	return memchr_inv(s->heard, 0, sizeof(s->heard));
}

static bool stream_believes(const struct hop_port *port, const struct hop_content *c)
{
	if (c->from_switch && hop_peer_taken_for(port) != HOP_ROLE_SWITCH)
		return false;
	return hop_port_has_kind(port, c->kinds);
}

/* One that is not believed is answered all the same, or it would be repeated for ever.
 *
 * Return: true if it is newer than all before.
 */
static bool stream_rx(struct hop_port *port, enum hop_slot slot, const struct hop_content *c,
		      const struct hop_told *told, u64 now)
{
	struct hop_stream *s = &port->streams[slot];
	unsigned int pages = c->rx_pages ? c->rx_pages(port) : c->words;

	if (told->first + told->count > pages || told->lease_ns > HOP_LEASE_MAX_NS) {
		port->stats.rx_range++;
		return false;
	}
	port->acks |= BIT(slot);
	hop_port_wake(port);
	if (!hop_stream_heard(s, told->seq)) {
		port->stats.rx_stale++;
		return false;
	}
	hop_peer_alive(port, now);
	if (!stream_believes(port, c)) {
		port->stats.rx_untrusted++;
		return true;
	}
	s->stats.rx++;
	s->lease_at = stream_hear(port, s, c, told, now) ? now + told->lease_ns : U64_MAX;
	return true;
}

/**
 * hop_streams_rx - a told state of the neighbour, or what it says of one of ours
 * @port: the port
 * @told: it
 * @now: time
 *
 * Return: true if it is a state that is newer than all before.
 */
bool hop_streams_rx(struct hop_port *port, const struct hop_told *told, u64 now)
{
	const struct hop_content *c = READ_ONCE(contents[told->slot]);

	lockdep_assert_held(&port->lock);
	if (!c)
		return false;
	if (!told->ack)
		return stream_rx(port, told->slot, c, told, now);
	stream_acked(port, told->slot, c, told->seq);
	return false;
}

/**
 * hop_streams_judge - the neighbour's kinds, or ours, may be others than before
 * @port: the port
 * @now: time
 */
void hop_streams_judge(struct hop_port *port, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	for_each_content(c, slot) {
		port->streams[slot].pages = stream_pages(port, c);
		if (!hop_port_has_kind(port, c->kinds))
			stream_void(port, slot, c, now);
	}
}

/**
 * hop_streams_lease - when the first lease ends
 * @port: the port
 *
 * Return: the time, U64_MAX if there is nothing to end.
 */
u64 hop_streams_lease(const struct hop_port *port)
{
	const struct hop_content *c;
	u64 at = U64_MAX;
	unsigned int slot;

	for_each_content(c, slot)
		at = min(at, port->streams[slot].lease_at);
	return at;
}

/**
 * hop_streams_expire - end what no refresh came in time for
 * @port: the port
 * @now: time
 */
void hop_streams_expire(struct hop_port *port, u64 now)
{
	const struct hop_content *c;
	unsigned int slot;

	lockdep_assert_held(&port->lock);
	for_each_content(c, slot) {
		if (now < port->streams[slot].lease_at)
			continue;
		port->streams[slot].stats.expired++;
		if (slot == HOP_SLOT_PAUSE) {	/* both are of pauses */
			trace_hop_lease_expired(port);
			hop_port_event(port, HOP_EVENT_LEASE_EXPIRED);
		}
		stream_void(port, slot, c, now);
	}
}
