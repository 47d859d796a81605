// SPDX-License-Identifier: GPL-2.0-only
/*
 * root.c - where the congestion began: why we pause somebody, and what the neighbour tells of that
 *
 * The rules are in root.h. Here is who keeps what:
 *
 *	told	Each handle has its causes (struct hop_causes), beside its pause counter. The qdisc
 *		counts a marked packet for one of them. With a PAUSE STATE the roots of sub-queues
 *		that it pauses are told, at most HOP_ROOTS_TOLD in a frame: of those that are
 *		paused since the neighbour last acknowledged that page, and of others in turn, with
 *		a refresh all of them, with another one what costs no byte on the line.
 *	heard	Each of our sub-queues has the root that the neighbour tells for it (struct
 *		hop_heard), for as long as it is paused. A root counts only in one frame with a
 *		PAUSE STATE that is taken: so it is as new as that, and as much to be trusted.
 *
 * What is told of a cause whose sub-queue is held is what is heard for that sub-queue, which
 * another port may be just about to hear: so that is one word, which is read without a lock.
 *
 *   field                          protector
 *   hop_net.roots                  RTNL writes it once; goes with the namespace
 *   a handle's causes              its lock of hop_net_roots.locks, taken last of all
 *   hop_port.heard                 RTNL writes it once; goes with the port
 *   what is heard                  hop_port.lock; hop_heard.root is read without
 *   hop_port.roots_at, .roots_new  hop_port.lock
 *   hop_port.root_id               written under hop_port.lock, READ_ONCE elsewhere
 *
 * All of it is there only where a qdisc has asked for it.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "port.h"
#include "trace.h"

int hop_roots_use(struct hop_member *m)
{
	struct hop_port *port = m->port;
	struct hop_net_roots *roots;
	struct hop_heard *heard;
	unsigned int i;

	ASSERT_RTNL();
	if (!port)
		return 0;
	if (!port->heard) {
		heard = kvcalloc(HOP_QUEUES_MAX, sizeof(*heard), GFP_KERNEL);
		if (!heard)
			return -ENOMEM;
		/* pairs with READ_ONCE() of those who look without the port's lock */
		smp_store_release(&port->heard, heard);
	}
	if (!port->net->roots) {
		roots = kvzalloc(sizeof(*roots), GFP_KERNEL);
		if (!roots)
			return -ENOMEM;
		for (i = 0; i < HOP_ROOT_LOCKS; i++)
			spin_lock_init(&roots->locks[i]);
		/* pairs with READ_ONCE() in hop_roots_write() */
		smp_store_release(&port->net->roots, roots);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(hop_roots_use);

/* ---- causes ---- */

static spinlock_t *causes_lock(struct hop_net_roots *roots, u16 handle)
{
	return &roots->locks[handle % HOP_ROOT_LOCKS];
}

u8 hop_cause_add(struct hop_member *m, u16 handle, u32 queue, bool held)
{
	struct hop_net_roots *roots = m->net->roots;
	spinlock_t *lock = causes_lock(roots, handle);
	u8 cause;

	spin_lock_bh(lock);
	cause = hop_causes_add(&roots->causes[handle - HOP_HANDLE_FIRST], m->port->dev->ifindex,
			       m->first + queue, held);
	spin_unlock_bh(lock);
	return cause;
}
EXPORT_SYMBOL_GPL(hop_cause_add);

void hop_cause_del(struct hop_member *m, u16 handle, u8 cause)
{
	struct hop_net_roots *roots = m->net->roots;
	spinlock_t *lock = causes_lock(roots, handle);

	spin_lock_bh(lock);
	hop_causes_del(&roots->causes[handle - HOP_HANDLE_FIRST], cause);
	spin_unlock_bh(lock);
}
EXPORT_SYMBOL_GPL(hop_cause_del);

/* ---- told ---- */

static struct hop_port *port_by_ifindex(const struct hop_net *net, u32 ifindex)
{
	struct hop_port *port;

	list_for_each_entry_rcu(port, &hop_ports, node)
		if (port->net == net && port->dev->ifindex == ifindex)
			return port;
	return NULL;
}

/* A cause's root as it is now. What it was is kept where that cannot be told any more: its port is
 * gone, or its sub-queue is not held now, and sends what was queued while it was.
 */
static void cause_look(struct hop_port *port, struct hop_cause *cause)
{
	struct hop_port *egress = port_by_ifindex(port->net, cause->ifindex);
	struct hop_heard *heard;
	struct hop_root root;
	u16 own;

	if (!egress)
		return;
	own = READ_ONCE(egress->root_id);
	if (!cause->held) {
		cause->root = (struct hop_root) { .id = own };
		return;
	}
	heard = READ_ONCE(egress->heard);
	if (!heard || !(READ_ONCE(egress->paused[cause->queue / 64]) >> cause->queue % 64 & 1))
		return;
	root = hop_root_unpack(READ_ONCE(heard[cause->queue].root));
	if (root.id && root.id != own && root.hops >= HOP_ROOT_HOPS)
		port->stats.roots_far++;
	cause->root = hop_root_next(root, own);
}

static struct hop_root root_of(struct hop_port *port, u32 queue)
{
	struct hop_net_roots *roots = port->net->roots;
	u16 handle = port->range->first + queue;
	struct hop_causes *c = &roots->causes[handle - HOP_HANDLE_FIRST];
	spinlock_t *lock = causes_lock(roots, handle);
	struct hop_root root = {};
	unsigned int i;

	if (queue >= port->range->count)	/* it had more handles when that was paused */
		return root;
	spin_lock(lock);
	for (i = 0; i < HOP_CAUSES; i++)
		if (c->cause[i].packets)
			cause_look(port, &c->cause[i]);
	root = hop_causes_root(c);
	spin_unlock(lock);
	return root;
}

/* The sub-queue from @at on that is told as paused, all around; HOP_QUEUES_MAX: there is none. */
static unsigned int pausing_next(const struct hop_port *port, unsigned int at)
{
	const u64 *told = port->streams[HOP_SLOT_PAUSE].told;
	unsigned int i, w = at / 64;
	u64 bits = told[w] & GENMASK_ULL(63, at % 64);

	for (i = 0; i <= HOP_BITMAP_WORDS; i++) {
		if (bits)
			return w * 64 + __ffs64(bits);
		w = (w + 1) % HOP_BITMAP_WORDS;
		bits = told[w];
	}
	return HOP_QUEUES_MAX;
}

/* Is this a refresh, or one that puts off the next refresh, as all do that say all pages? */
static bool roots_due(const struct hop_port *port, const struct hop_stream_part *part, u64 now)
{
	const struct hop_stream *s = &port->streams[HOP_SLOT_PAUSE];

	return part->how == HOP_STREAM_REFRESH ||
	       (part->count == s->pages && now - port->roots_ns >= s->refresh_ns - now);
}

/* How many roots there is room for in a frame's first @end bytes */
static unsigned int roots_room(const struct hop_writer *w, size_t end)
{
	size_t used = w->used + hop_frame_roots_bytes(0);

	if (used >= end)
		return 0;
	return min_t(size_t, (end - used) / sizeof(struct hop_tlv_root), HOP_ROOTS_TOLD);
}

/**
 * hop_roots_pausing - more of the neighbour's sub-queues are paused
 * @port: the port, which has roots
 * @word: of the bitmap, before it is told so
 * @bits: in it
 */
void hop_roots_pausing(struct hop_port *port, unsigned int word, u64 bits)
{
	lockdep_assert_held(&port->lock);
	if (!(port->streams[HOP_SLOT_PAUSE].unacked >> word & 1))
		port->roots_new[word] = 0;
	port->roots_new[word] |= bits;
}

/* Sub-queues that are paused since their page was acknowledged, of which the neighbour may not have
 * heard a root.
 */
static unsigned int roots_first(const struct hop_port *port, const struct hop_stream_part *part,
				u16 *queues, unsigned int room)
{
	const struct hop_stream *s = &port->streams[HOP_SLOT_PAUSE];
	unsigned int w, count = 0;
	u64 bits;

	for (w = part->first; w < part->first + part->count; w++) {
		if (!(s->unacked >> w & 1))
			continue;
		for (bits = port->roots_new[w] & s->told[w]; bits; bits &= bits - 1) {
			if (count == room)
				return count;
			queues[count++] = w * 64 + __ffs64(bits);
		}
	}
	return count;
}

static bool roots_among(u16 queue, const u16 *queues, unsigned int count)
{
	while (count--)
		if (queues[count] == queue)
			return true;
	return false;
}

/* Others, from where the last frame has ended. Return: how many there are with them. */
static unsigned int roots_in_turn(struct hop_port *port, u16 *queues, unsigned int count,
				  unsigned int room)
{
	unsigned int at, first = pausing_next(port, port->roots_at);
	unsigned int firsts = count;

	for (at = first; at < HOP_QUEUES_MAX && count < room;) {
		if (!roots_among(at, queues, firsts))
			queues[count++] = at;
		at = pausing_next(port, at + 1);
		if (at == first)
			break;
	}
	if (at < HOP_QUEUES_MAX)
		port->roots_at = at;
	return count;
}

static noinline void roots_write(struct hop_port *port, const struct hop_stream_part *part,
				 struct hop_writer *w, u64 now)
{
	size_t end = w->size - HOP_FRAME_REST;
	bool due = roots_due(port, part, now);
	u16 queues[HOP_ROOTS_TOLD];
	unsigned int n, count;
	u8 *to;

	count = roots_first(port, part, queues, roots_room(w, end));
	count = roots_in_turn(port, queues, count, roots_room(w, due ? end : ETH_ZLEN - ETH_HLEN));
	if (!count)
		return;
	to = hop_frame_add_roots(w, count);
	if (!to)
		return;
	for (n = 0; n < count; n++) {
		struct hop_root root = root_of(port, queues[n]);
		struct hop_told_root told = {
			.queue = queues[n], .id = root.id, .hops = root.hops, .more = root.more,
		};

		hop_frame_put_root(to, n, &told);
	}
	if (due)
		port->roots_ns = now;
	port->stats.roots_tx++;
}

/**
 * hop_roots_write - tell why sub-queues are paused
 * @port: the port, which has roots
 * @part: what a PAUSE STATE in the frame says
 * @w: the frame
 * @now: time
 */
void hop_roots_write(struct hop_port *port, const struct hop_stream_part *part,
		     struct hop_writer *w, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (port->range && READ_ONCE(port->net->roots))
		roots_write(port, part, w, now);
}

/* ---- heard ---- */

/**
 * hop_heard_forget - some of our sub-queues are not paused any more, or not for what they were
 * @port: the port, which has hop_port.heard
 * @word: of the bitmap
 * @bits: in it
 */
void hop_heard_forget(struct hop_port *port, unsigned int word, u64 bits)
{
	struct hop_heard *h;

	lockdep_assert_held(&port->lock);
	for (; bits; bits &= bits - 1) {
		h = &port->heard[word * 64 + __ffs64(bits)];
		WRITE_ONCE(h->root, 0);
		h->since = 0;
	}
}

u16 hop_root_heard(const struct hop_member *m, u32 queue)
{
	const struct hop_heard *heard = m->port ? READ_ONCE(m->port->heard) : NULL;

	return heard ? hop_root_unpack(READ_ONCE(heard[m->first + queue].root)).id : 0;
}
EXPORT_SYMBOL_GPL(hop_root_heard);

/* One that sends, or has just been paused, is not quiet.
 *
 * Return: false if nobody has it any more.
 */
static bool heard_sample(struct hop_port *port, struct hop_heard *h, unsigned int queue, u64 now)
{
	struct hop_member *m;
	struct hop_watch w;

	list_for_each_entry_rcu(m, &port->members, node) {
		if (queue < m->first || queue >= m->first + m->count)
			continue;
		m->ops->watch(m, queue - m->first, &w);
		if (!h->since || h->sent != w.sent)
			h->since = now;
		h->sent = w.sent;
		return true;
	}
	return false;
}

static void root_heard(struct hop_port *port, const struct hop_told_root *told, u64 now)
{
	struct hop_root root = { .id = told->id, .hops = told->hops, .more = told->more };
	struct hop_heard *h = &port->heard[told->queue];
	u32 word = hop_root_pack(root);

	if (told->queue >= port->queues_most) {
		port->stats.rx_range++;
		return;
	}
	if (!(port->paused[told->queue / 64] >> told->queue % 64 & 1) ||
	    !heard_sample(port, h, told->queue, now))
		return;
	port->stats.roots_rx++;
	if (h->root == word)
		return;
	WRITE_ONCE(h->root, word);
	trace_hop_root(port, told->queue, root.id, root.hops, root.more, now);
}

/**
 * hop_roots_rx - the neighbour tells why it pauses our sub-queues
 * @port: the port
 * @f: a frame
 * @told: its PAUSE STATE, which has been taken; NULL if it has none, or none that is new
 * @now: time
 */
void hop_roots_rx(struct hop_port *port, const struct hop_frame *f, const struct hop_told *told,
		  u64 now)
{
	struct hop_told_root root;
	unsigned int i;

	lockdep_assert_held(&port->lock);
	if (!port->cfg.roots || !port->heard)
		return;
	if (!told) {
		port->stats.rx_stale++;
		return;
	}
	port->heard_lease_ns = told->lease_ns;
	for (i = 0; i < f->n_roots; i++) {
		root = hop_frame_root(f, i);
		root_heard(port, &root, now);
	}
}

/**
 * hop_roots_config - new options
 * @port: the port
 *
 * What was heard counts no more if nothing is to be heard.
 */
void hop_roots_config(struct hop_port *port)
{
	unsigned int w;

	lockdep_assert_held(&port->lock);
	/* what a qdisc says, or what comes with the epoch */
	WRITE_ONCE(port->root_id, port->cfg.root_id ?: hop_root_of_epoch(port->epoch));
	if (!port->cfg.roots && port->heard)
		for (w = 0; w < HOP_BITMAP_WORDS; w++)
			hop_heard_forget(port, w, port->paused[w]);
}

/**
 * hop_roots_put - put what is heard into a message: HOP_N_ROOTS
 * @port: the port
 * @skb: the message
 *
 * Context: RTNL or RCU, without the port's lock.
 * Return: 0 or -EMSGSIZE.
 */
int hop_roots_put(struct hop_port *port, struct sk_buff *skb)
{
	unsigned int w, queue, n = 0;
	struct hop_held_by *by;
	u64 bits, now = hop_now();
	struct nlattr *nla;

	if (!READ_ONCE(port->heard))
		return 0;
	nla = nla_reserve(skb, HOP_N_ROOTS, HOP_ROOTS_SHOWN * sizeof(*by));
	if (!nla)
		return -EMSGSIZE;
	by = nla_data(nla);
	spin_lock_bh(&port->lock);
	for (w = 0; w < HOP_BITMAP_WORDS; w++) {
		for (bits = port->paused[w]; bits && n < HOP_ROOTS_SHOWN; bits &= bits - 1) {
			struct hop_held_by one;
			struct hop_root root;

			queue = w * 64 + __ffs64(bits);
			if (!port->heard[queue].root)
				continue;
			root = hop_root_unpack(port->heard[queue].root);
			one = (struct hop_held_by) {
				.queue = queue, .root = root.id, .hops = root.hops + 1,
				.flags = root.more ? HOP_HELD_MORE : 0,
				.quiet_ns = now - port->heard[queue].since,
			};
			if (one.quiet_ns >= port->heard_lease_ns)
				one.flags |= HOP_HELD_QUIET;
			memcpy(&by[n++], &one, sizeof(one));
		}
	}
	spin_unlock_bh(&port->lock);
	if (n) {
		nla->nla_len = nla_attr_size(n * sizeof(*by));
		skb_trim(skb, (u8 *)nla - skb->data + nla_total_size(n * sizeof(*by)));
	} else {
		nlmsg_trim(skb, nla);
	}
	return 0;
}
