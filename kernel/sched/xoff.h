/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xoff.h - whoever has sent too much of what waits here is paused, as priority flow control does
 *
 * What waits counts, in bytes, against where it came from, at whatever ports of the box it waits.
 * Who sent it is paused while more of his bytes wait than a share of what is free of the pool
 * (pool.h), and resumed two frames below that, or when nothing of his is left. Who is paused is one
 * of a neighbour's sub-queues, or all of them: a link.
 *
 * Hot path: O(1). The pool may be any qdisc's, and so may what has filled it: a change of either
 * counts for whoever is paused when one more of his packets comes or leaves.
 */
#ifndef _SLUICE_SCHED_XOFF_H
#define _SLUICE_SCHED_XOFF_H

#include <net/pkt_sched.h>

#include "../hopctl/hopctl.h"
#include "buffer.h"

#define HOP_XON_FRAMES	2	/* a pause ends that much below where it begins */

/* May the one that so many bytes came from go on sending? */
static inline bool hop_xoff_allows(const struct hop_buffer *b, u32 alpha, u64 bytes)
{
	return hop_buffer_allows(b, bytes, atomic_long_read(&b->pool->used), alpha);
}

/**
 * hop_xoff_came - a packet was queued that came by an origin
 * @m: a member of the egress port
 * @b: its part of the pool, which has taken the packet
 * @alpha: in 1 / HOP_ALPHA_ONE: what may come from one origin, of what is free
 * @origin: see hop_ingress_pause()
 * @bytes: what hop_ingress_add() has returned
 *
 * Context: qdisc lock, softirqs off.
 * Return: true if somebody is to be told of a pause.
 */
static inline bool hop_xoff_came(struct hop_member *m, const struct hop_buffer *b, u32 alpha,
				 u16 origin, u32 bytes)
{
	return !hop_xoff_allows(b, alpha, bytes) && hop_ingress_pause(m, origin, true);
}

/**
 * hop_xoff_left - such a packet has left, in whatever way
 * @m: a member of the egress port
 * @b: its part of the pool, which has given the packet's bytes back
 * @alpha: as hop_xoff_came() would be given now
 * @origin: what that was given for this packet
 * @bytes: what hop_ingress_sub() has returned
 *
 * Context: qdisc lock, softirqs off.
 * Return: true if somebody is to be told of the end of a pause.
 */
static inline bool hop_xoff_left(struct hop_member *m, const struct hop_buffer *b, u32 alpha,
				 u16 origin, u32 bytes)
{
	if (bytes && !hop_xoff_allows(b, alpha, bytes + HOP_XON_FRAMES *
						psched_mtu(qdisc_dev(m->sch))))
		return false;
	return hop_ingress_pause(m, origin, false);
}

/**
 * struct hop_xoff - what a qdisc counts against the links that its packets came by
 * @queued: packets
 * @sent: how often one of them began a pause, ever
 */
struct hop_xoff {
	u32	queued;
	u64	sent;
};

/**
 * hop_xoff_count - a packet was queued: it counts against the port that it came by
 * @x: the qdisc's
 * @m: its member
 * @b: its part of the pool, which has taken the packet
 * @alpha: as of hop_xoff_came()
 * @skb: the packet
 * @handle: hop_handle() of it
 * @elided: counts packets that are not to pause anyone, by tiers and pairs; NULL: not counted
 *
 * Context: qdisc lock, softirqs off.
 * Return: what it has to be uncounted with, 0 if it does not count.
 */
static inline u16 hop_xoff_count(struct hop_xoff *x, struct hop_member *m,
				 const struct hop_buffer *b, u32 alpha,
				 const struct sk_buff *skb, u16 handle, u64 *elided)
{
	u32 bytes;
	u16 link;

	if (unlikely(m->stalled))
		return 0;
	if (handle && unlikely(hop_elided(m, handle))) {
		if (elided)
			(*elided)++;
		return 0;
	}
	link = hop_origin_link(m, skb, handle);
	if (!link)
		return 0;
	x->queued++;
	bytes = hop_ingress_add(m, link, qdisc_pkt_len(skb));
	x->sent += hop_xoff_came(m, b, alpha, link, bytes);
	return link;
}

/**
 * hop_xoff_uncount - such a packet counts no more
 * @x: the qdisc's
 * @m: its member
 * @b: its part of the pool
 * @alpha: as of hop_xoff_left()
 * @skb: the packet
 * @link: what hop_xoff_count() has returned, not 0; the packet is to forget it
 *
 * Context: qdisc lock, softirqs off.
 * Return: true if somebody is to be told of the end of a pause.
 */
static inline bool hop_xoff_uncount(struct hop_xoff *x, struct hop_member *m,
				    const struct hop_buffer *b, u32 alpha,
				    const struct sk_buff *skb, u16 link)
{
	x->queued--;
	return hop_xoff_left(m, b, alpha, link, hop_ingress_sub(m, link, qdisc_pkt_len(skb)));
}

/**
 * struct hop_xoff_held - the neighbour holds all of a qdisc's sub-queues, or does not
 * @on: it does; written under the qdisc lock
 * @since: ns, if so
 * @times: how often it began to
 * @ns: how long it did, without the present time
 */
struct hop_xoff_held {
	bool	on;
	u64	since;
	u64	times;
	u64	ns;
};

/**
 * hop_xoff_obey - take over whether the neighbour holds all sub-queues
 * @held: as it was
 * @m: the qdisc's member. Call after hop_paused_begin()
 * @now: time
 *
 * Context: qdisc lock.
 * Return: it holds all.
 */
static inline bool hop_xoff_obey(struct hop_xoff_held *held, const struct hop_member *m, u64 now)
{
	bool on = hop_paused_all(m);

	if (on == held->on)
		return on;
	WRITE_ONCE(held->on, on);
	if (on) {
		held->since = now;
		held->times++;
	} else {
		held->ns += now - held->since;
	}
	return on;
}

/* How long it did, the present time included */
static inline u64 hop_xoff_held_ns(const struct hop_xoff_held *held, u64 now)
{
	return held->on ? held->ns + now - held->since : held->ns;
}

#endif
