// SPDX-License-Identifier: GPL-2.0-only
/*
 * credit.c - what the neighbour upstream is told, and when not yet
 *
 * Its packets come with the number of its slot. hopctl's hook counts what comes by slot; a packet
 * that is queued here counts by its handle, which stands for port and slot. What has come and is
 * not queued has left the box, in whatever way, and is the credit (section 4.1; see
 * hopctl/ledger.h for what is told of it). So what is delivered, dropped, or leaves by a port
 * without windows is credited by itself, and so is, too early, what is on its way from the hook
 * to a qdisc.
 *
 * A credit waits for T to be over, or for enough bytes of what came by the handle: those that leave
 * by a port with floodgate are counted there, and hopctl sees of all others when more comes.
 *
 * delayCredit (section 4.1). While the box holds more than a threshold of a destination in VOQs,
 * what leaves goes on counting as queued: its handle joins the destination's list. Whoever takes
 * the VOQs below the threshold empties the list. A handle is in one list at a time, since its
 * slot belongs to one destination while anything of it is outstanding; if a neighbour does not keep
 * to that, the second destination's credits are not delayed.
 *
 * Who protects what: floodgate.h says it of struct floodgate_origin; what has come is under
 * hopctl's rx_lock.
 */
#include <linux/tcp.h>

#include "floodgate.h"

/**
 * floodgate_gso - what the segments of a packet count
 * @skb: the packet
 * @net: hop_network() of it
 */
u32 floodgate_gso(const struct sk_buff *skb, struct hop_network net)
{
	const struct skb_shared_info *info = skb_shinfo(skb);
	bool inner = skb->encapsulation;
	u32 headers = (inner ? skb_inner_transport_offset(skb) : skb_transport_offset(skb)) -
		      net.at;

	if (info->gso_type & (SKB_GSO_TCPV4 | SKB_GSO_TCPV6))
		headers += inner ? inner_tcp_hdrlen(skb) : tcp_hdrlen(skb);
	else
		headers += sizeof(struct udphdr);
	return floodgate_gso_bytes(skb->len - net.at, headers, info->gso_size);
}

/* ---- what comes ---- */

/* Of several qdiscs of a port the first one has the counts. Return: NULL if there is none of it. */
static struct floodgate_sched *credit_sched(struct hop_port *port, u16 key)
{
	struct hop_member *m = hop_port_member(port, &floodgate_member_ops);

	return m && key < HOP_BLOCKS_KEYS ? container_of(m, struct floodgate_sched, member) : NULL;
}

/* Bytes that have left, of what came by a handle, since the neighbour was told */
static atomic_t *credit_left(const struct floodgate_sched *q, u16 handle)
{
	return &q->box->origins[handle - HOP_HANDLE_FIRST].left;
}

/* hop_blocks_ops.received */
struct hop_ledger_rx_key *floodgate_received(struct hop_port *port, const struct sk_buff *skb,
					     u16 queue, u32 *bytes)
{
	struct floodgate_sched *q = credit_sched(port, queue);

	*bytes = floodgate_bytes(skb, hop_network(skb));
	return q ? &q->come->keys[queue] : NULL;
}

/* hop_blocks_ops.balance: what has come is read before what waits, so that a packet in between is
 * taken for gone, not for one more that waits. What leaves from now on is untold.
 */
s64 floodgate_balance(struct hop_port *port, const struct hop_ledger_rx *rx, u16 key)
{
	struct floodgate_sched *q = credit_sched(port, key);
	u16 handle = hop_handle_of(port, key);
	struct hop_ledger_rx_key *come;
	s64 balance;

	if (!q)
		return 0;
	if (handle)
		atomic_set(credit_left(q, handle), 0);
	come = &q->come->keys[key];
	come->queued = 0;
	balance = hop_ledger_balance(rx, come);
	smp_rmb();
	come->queued = hop_ingress_bytes(port, key);
	return balance - come->queued;
}

/* ---- what leaves ---- */

static bool credit_is_held(const struct floodgate_sched *q, const struct floodgate_dest *dest)
{
	return atomic64_read(&dest->held) > q->threshold;
}

/* Return: false if it is not to be delayed, or not by this destination. */
static noinline bool credit_delay(struct floodgate_sched *q, struct floodgate_dest *dest,
				  u16 handle, u32 bytes)
{
	struct floodgate_origin *o = &q->box->origins[handle - HOP_HANDLE_FIRST];
	struct floodgate_dest *owner;

	spin_lock(&dest->lock);
	owner = cmpxchg(&o->dest, NULL, dest);
	if (owner && owner != dest) {
		spin_unlock(&dest->lock);
		return false;
	}
	if (!owner) {
		o->next = dest->delayed;
		WRITE_ONCE(dest->delayed, handle);
	}
	o->bytes += bytes;
	spin_unlock(&dest->lock);
	q->stats.delayed++;
	hop_ingress_keep(&q->member);
	smp_mb();	/* the list before what is held, as in floodgate_credit_delayed() */
	floodgate_credit_delayed(q, dest);
	return true;
}

static noinline void credit_release(struct floodgate_sched *q, struct floodgate_dest *dest)
{
	struct floodgate_origin *o;
	u32 bytes;
	u16 handle;

	spin_lock(&dest->lock);
	while ((handle = dest->delayed)) {
		o = &q->box->origins[handle - HOP_HANDLE_FIRST];
		bytes = o->bytes;
		o->bytes = 0;
		WRITE_ONCE(dest->delayed, o->next);
		smp_store_release(&o->dest, NULL);
		hop_ingress_forget(&q->member, handle, bytes);
		hop_blocks_left(&q->member, handle, true);
	}
	spin_unlock(&dest->lock);
}

/**
 * floodgate_credit_delayed - less of a destination is in VOQs
 * @q: the qdisc
 * @dest: the destination; floodgate_dest.held was changed with full ordering
 */
void floodgate_credit_delayed(struct floodgate_sched *q, struct floodgate_dest *dest)
{
	if (unlikely(READ_ONCE(dest->delayed)) && !credit_is_held(q, dest))
		credit_release(q, dest);
}

/* Has so much left, of what came by a handle, that the neighbour is to be told at once? */
static bool credit_is_due(const struct floodgate_sched *q, u16 handle, u32 bytes)
{
	u32 most = q->config.port.balances_bytes;

	if (!most || atomic_add_return(bytes, credit_left(q, handle)) < (int)most)
		return false;
	atomic_set(credit_left(q, handle), 0);
	return true;
}

/**
 * floodgate_credits_look - the threshold may be another one
 * @q: the qdisc
 */
void floodgate_credits_look(struct floodgate_sched *q)
{
	const struct floodgate_slot *slot;

	for (slot = q->slots; slot < q->slots + q->config.slots; slot++)
		if (slot->dest)
			floodgate_credit_delayed(q, slot->dest);
}

/**
 * floodgate_left - a packet has left, in whatever way
 * @q: the qdisc
 * @skb: the packet, which came by a handle
 * @dest: its destination, NULL if it has no slot
 */
void floodgate_left(struct floodgate_sched *q, const struct sk_buff *skb,
		    struct floodgate_dest *dest)
{
	const struct floodgate_skb_cb *cb = floodgate_cb(skb);

	if (dest && unlikely(credit_is_held(q, dest)) &&
	    credit_delay(q, dest, cb->handle, cb->bytes))
		return;
	hop_ingress_sub(&q->member, cb->handle, cb->bytes);
	hop_blocks_left(&q->member, cb->handle, credit_is_due(q, cb->handle, cb->bytes));
}
