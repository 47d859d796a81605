// SPDX-License-Identifier: GPL-2.0-only
/*
 * window.c - destinations, their slots and windows, and who waits for one
 *
 * A destination has a slot at each port that its packets have left by. The slot's number goes out
 * with each packet, in the fabric tag, and the neighbour counts and credits by it: it need not
 * know what the number stands for, and a slot may get another destination as soon as nothing of it
 * is queued or outstanding. A port whose slots are all in use sends what goes elsewhere without a
 * window.
 *
 * What counts against a window is what the FIFOs hold of the destination and what is outstanding
 * by hopctl's ledger, at all ports of the box (floodgate_dest.out) or at one.
 *
 * What the neighbour holds (pause.c) waits in its VOQ, without a place in any row.
 *
 * VOQs. A destination that has to wait takes an empty VOQ, and leaves it with its last packet.
 * With `voqs` there may be none: it shares another one's then. What is first in a VOQ decides for
 * all of it, so a VOQ waits where its first packet's slot does. A VOQ that has sent a packet stays
 * in the round, and whether the next one has window is seen at its turn.
 *
 * Waiting. Several ports may have packets of one destination in VOQs. They wait in a row, and each
 * credit calls the first one. Who has been called, takes a packet and leaves window, or has
 * nothing to send any more, calls the next. One that the device cannot serve now, or that has
 * others to send first, is called, and so is the next. The FIFO may get busy after the call, while
 * a control packet or another VOQ goes first: turns that have not been used yet are in a list, and
 * each packet of the FIFO hands one of them on. Whose parent does not ask it holds a call until
 * another packet of the destination comes, by whatever port. No call is lost: who goes to the row's
 * end looks at the window once more, and who has made some looks at the row, both after a barrier.
 *
 *   protector               what
 *   qdisc lock              slots, but for .wait; lists and tables of the qdisc
 *   floodgate_dest.lock     .window and what it is made of; .waiting, .delayed, and the .wait of
 *                           slots that are in a row
 *   floodgate_switch.lock   which destinations there are
 *   atomic                  floodgate_dest.out, .held, floodgate_sched.called, .mail
 *
 * Lock order: qdisc lock, floodgate_switch.lock or floodgate_dest.lock. With none of them held is
 * another qdisc's lock taken: who is called is scheduled.
 */
#include <linux/slab.h>

#include "floodgate.h"

/* ---- destinations ---- */

static int switch_made(struct hop_shared *shared)
{
	struct floodgate_switch *box = container_of(shared, struct floodgate_switch, shared);

	box->origins = kvcalloc(HOP_HANDLES, sizeof(*box->origins), GFP_KERNEL);
	if (!box->origins)
		return -ENOMEM;
	spin_lock_init(&box->lock);
	hop_flow_secret_draw(&box->secret);
	return 0;
}

static void switch_gone(struct hop_shared *shared)
{
	struct floodgate_switch *box = container_of(shared, struct floodgate_switch, shared);

	WARN_ON_ONCE(box->used || !hlist_empty(&box->free));
	kvfree(box->origins);
}

const struct hop_shared_type floodgate_switch_type = {
	.bytes	= sizeof(struct floodgate_switch),
	.made	= switch_made,
	.gone	= switch_gone,
};

static int dests_make(struct floodgate_sched *q, u32 n)
{
	struct floodgate_switch *box = q->box;
	struct floodgate_dest *dest;

	for (; q->dests < n; q->dests++) {
		dest = kzalloc(sizeof(*dest), GFP_KERNEL);
		if (!dest)
			return -ENOMEM;
		spin_lock_init(&dest->lock);
		INIT_LIST_HEAD(&dest->waiting);
		spin_lock_bh(&box->lock);
		hlist_add_head(&dest->node, &box->free);
		spin_unlock_bh(&box->lock);
	}
	return 0;
}

/* Take away as many as a qdisc has brought. There are as many free ones: its slots have none. */
static void dests_free(struct floodgate_switch *box, u32 n)
{
	struct floodgate_dest *dest;

	for (; n; n--) {
		spin_lock_bh(&box->lock);
		dest = hlist_entry_safe(box->free.first, struct floodgate_dest, node);
		if (!WARN_ON_ONCE(!dest))
			hlist_del(&dest->node);
		spin_unlock_bh(&box->lock);
		kfree(dest);
	}
}

/* As much may be untold at each of its ports. Its lock. */
static void dest_window(struct floodgate_dest *dest)
{
	u64 window = dest->grant;

	if (dest->ports > 1)
		window += (u64)dest->each * (dest->ports - 1);
	WRITE_ONCE(dest->window, min_t(u64, window, dest->most));
}

/* It has a slot more, or one less, where windows hold. */
static void dest_ports(struct floodgate_dest *dest, int by)
{
	spin_lock(&dest->lock);
	dest->ports += by;
	dest_window(dest);
	spin_unlock(&dest->lock);
}

/* The slot says no more what the window is: whoever is asked next does. */
static void dest_forget(struct floodgate_dest *dest, const struct floodgate_slot *slot)
{
	if (READ_ONCE(dest->widest) == slot)
		WRITE_ONCE(dest->widest, NULL);
}

static struct floodgate_dest *dest_get(struct floodgate_switch *box,
				       const struct floodgate_key *key, u32 hash)
{
	struct hlist_head *bucket = &box->table[hash >> (32 - FLOODGATE_TABLE_BITS)];
	struct floodgate_dest *dest;

	spin_lock(&box->lock);
	hlist_for_each_entry(dest, bucket, node)
		if (floodgate_key_equal(&dest->key, key))
			break;
	if (!dest) {
		dest = hlist_entry(box->free.first, struct floodgate_dest, node);
		hlist_del(&dest->node);
		hlist_add_head(&dest->node, bucket);
		dest->key = *key;
		dest->widest = NULL;
		box->used++;
	}
	dest->users++;
	spin_unlock(&box->lock);
	return dest;
}

static void dest_put(struct floodgate_switch *box, struct floodgate_dest *dest)
{
	spin_lock(&box->lock);
	if (!--dest->users) {
		hlist_del(&dest->node);
		hlist_add_head(&dest->node, &box->free);
		box->used--;
	}
	spin_unlock(&box->lock);
}

/* ---- slots ---- */

#define SLOT_IDLE_JIFFIES	(10 * HZ)

static void slot_init(struct floodgate_sched *q, struct floodgate_slot *slot)
{
	slot->q = q;
	INIT_LIST_HEAD(&slot->owing);
	INIT_LIST_HEAD(&slot->wait);
	list_add_tail(&slot->node, &q->free);
}

/**
 * floodgate_slots_make - the slots of a qdisc
 * @q: the qdisc, which has its switch
 * @n: how many
 *
 * Context: RTNL. Return: 0 or -ENOMEM; what there is then is freed as usual.
 */
int floodgate_slots_make(struct floodgate_sched *q, u32 n)
{
	u32 i, buckets = roundup_pow_of_two(n), voqs = floodgate_voqs_made(q);

	q->slots = kvcalloc(n, sizeof(*q->slots), GFP_KERNEL);
	q->voq = kvcalloc(voqs, sizeof(*q->voq), GFP_KERNEL);
	q->table = kvcalloc(buckets, sizeof(*q->table), GFP_KERNEL);
	q->come = kvzalloc(sizeof(*q->come), GFP_KERNEL);
	q->called = bitmap_zalloc(n, GFP_KERNEL);
	q->mail.full = bitmap_zalloc(n, GFP_KERNEL);
	q->mail.said = kvcalloc(n, sizeof(*q->mail.said), GFP_KERNEL);
	if (!q->slots || !q->voq || !q->table || !q->come || !q->called || !q->mail.full ||
	    !q->mail.said)
		return -ENOMEM;
	q->mail.keys = n;
	q->mask = buckets - 1;
	for (i = 0; i < n; i++)
		slot_init(q, &q->slots[i]);
	for (i = 0; i < voqs; i++)
		list_add_tail(&q->voq[i].node, &q->free_voqs);
	return dests_make(q, n);
}

static struct floodgate_slot *slot_at(const struct floodgate_sched *q, u16 link)
{
	return link ? &q->slots[link - 1] : NULL;
}

/* The slot has nothing queued and nothing outstanding: another destination may have it. */
static void slot_unbind(struct floodgate_sched *q, struct floodgate_slot *slot)
{
	struct floodgate_dest *dest = slot->dest;
	u16 *link = &q->table[slot->hash & q->mask];

	while (slot_at(q, *link) != slot)
		link = &slot_at(q, *link)->next;
	*link = slot->next;
	dest_forget(dest, slot);
	if (q->windows)
		dest_ports(dest, -1);
	WRITE_ONCE(slot->dest, NULL);
	q->used--;
	dest_put(q->box, dest);
}

/* A destination that has none */
static noinline struct floodgate_slot *
slot_bind(struct floodgate_sched *q, const struct floodgate_key *key, u32 hash)
{
	struct floodgate_slot *slot = list_first_entry_or_null(&q->free, struct floodgate_slot,
							       node);

	if (!slot) {
		slot = list_first_entry_or_null(&q->idle, struct floodgate_slot, node);
		if (!slot) {
			q->stats.slots_full++;
			return NULL;
		}
		slot_unbind(q, slot);
	}
	list_del(&slot->node);
	slot->idle = false;
	slot->hash = hash;
	slot->next = q->table[hash & q->mask];
	q->table[hash & q->mask] = floodgate_slot_number(slot) + 1;
	WRITE_ONCE(slot->dest, dest_get(q->box, key, hash));
	if (q->windows)
		dest_ports(slot->dest, 1);
	q->used++;
	floodgate_recount(slot);
	return slot;
}

/* Of any packet */
static noinline struct floodgate_slot *
slot_of_any(struct floodgate_sched *q, const struct sk_buff *skb, struct hop_network net)
{
	struct floodgate_key key;
	struct floodgate_slot *slot;
	u8 buf[HOP_PARSE_IPV6_BYTES];
	const u8 *ip = skb->data + net.at;
	int room = (int)skb_headlen(skb) - net.at;
	u32 hash;

	if (unlikely(room < HOP_PARSE_IPV6_BYTES)) {
		room = min_t(int, skb->len - net.at, sizeof(buf));
		ip = room > 0 ? skb_header_pointer(skb, net.at, room, buf) : NULL;
	}
	if (!floodgate_key_read(&key, &q->rule, ip, ip ? room : 0, net.type, net.vids,
				eth_hdr(skb)->h_dest))
		return NULL;
	hash = floodgate_key_hash(&key, &q->box->secret);
	for (slot = slot_at(q, q->table[hash & q->mask]); slot; slot = slot_at(q, slot->next))
		if (slot->hash == hash && floodgate_key_equal(&slot->dest->key, &key))
			return slot;
	return slot_bind(q, &key, hash);
}

/* Of an IPv4 packet whose destination has one: without a key in memory, which would cost a canary
 * on the stack.
 */
static struct floodgate_slot *slot_of_ipv4(struct floodgate_sched *q, const u8 *ip, u32 vids)
{
	u32 address = hop_parse_word(ip + 16) & q->rule.ipv4, type = q->rule.ipv4_type, hash;
	struct floodgate_slot *slot;

	vids &= q->rule.vids;
	hash = floodgate_key_hash_ipv4(address, type, vids, &q->box->secret);
	for (slot = slot_at(q, q->table[hash & q->mask]); slot; slot = slot_at(q, slot->next))
		if (slot->hash == hash &&
		    floodgate_key_is_ipv4(&slot->dest->key, address, type, vids))
			break;
	return slot;
}

/**
 * floodgate_slot_of - the slot of a packet's destination
 * @q: the qdisc
 * @skb: a packet
 * @net: hop_network() of it
 *
 * Return: NULL if it has no window.
 */
struct floodgate_slot *floodgate_slot_of(struct floodgate_sched *q, const struct sk_buff *skb,
					 struct hop_network net)
{
	struct floodgate_slot *slot = NULL;

	if (likely(net.type == ETH_P_IP) && !(eth_hdr(skb)->h_dest[0] & 1) &&
	    (int)skb_headlen(skb) - net.at >= HOP_PARSE_IPV4_BYTES)
		slot = slot_of_ipv4(q, skb->data + net.at, net.vids);
	return likely(slot) ? slot : slot_of_any(q, skb, net);
}

/* Is there a reason to keep it for its destination? */
static bool slot_is_busy(const struct floodgate_slot *slot)
{
	return slot->charged || slot->voq || slot->paused ||
	       (slot->q->windows && hop_ledger_outstanding(&slot->sent));
}

/**
 * floodgate_settle - what keeps a slot for its destination has changed
 * @slot: the slot
 */
void floodgate_settle(struct floodgate_slot *slot)
{
	bool idle = !slot_is_busy(slot);

	if (idle == slot->idle || !slot->dest)
		return;
	slot->idle = idle;
	if (!idle) {
		list_del(&slot->node);
		return;
	}
	slot->idle_at = jiffies;
	list_add_tail(&slot->node, &slot->q->idle);
}

/* A destination that has not been used for long goes, if there is one: windows reckon with the
 * ports that have it. Nobody has a slot in hand.
 */
static void slots_age(struct floodgate_sched *q)
{
	struct floodgate_slot *slot = list_first_entry_or_null(&q->idle, struct floodgate_slot,
							       node);

	if (!slot || time_before(jiffies, slot->idle_at + SLOT_IDLE_JIFFIES))
		return;
	slot_unbind(q, slot);
	slot->idle = false;
	list_move(&slot->node, &q->free);
}

/* ---- windows ---- */

/* This port grants more than any other that the destination has, or has granted another window. */
u32 floodgate_widen(struct floodgate_slot *slot)
{
	const struct floodgate_sched *q = slot->q;
	struct floodgate_dest *dest = slot->dest;

	spin_lock(&dest->lock);
	WRITE_ONCE(dest->widest, slot);
	WRITE_ONCE(dest->grant, q->window);
	dest->each = q->config.port.balances_bytes;
	dest->most = q->window_most;
	dest_window(dest);
	spin_unlock(&dest->lock);
	return READ_ONCE(dest->window);
}

static bool sched_is_stopped(const struct floodgate_sched *q)
{
	const struct Qdisc *sch = q->member.sch;

	return netif_xmit_frozen_or_stopped(sch->dev_queue);
}

/* It is the turn of the first in the row. */
static void dest_call(struct floodgate_dest *dest)
{
	struct floodgate_slot *slot;
	struct floodgate_sched *q;

	spin_lock(&dest->lock);
	do {
		slot = list_first_entry_or_null(&dest->waiting, struct floodgate_slot, wait);
		if (!slot)
			break;
		list_del_init(&slot->wait);
		q = slot->q;
		smp_mb__before_atomic();	/* .wait is the qdisc's now, see hear_calls() */
		set_bit(floodgate_slot_number(slot), q->called);
		smp_wmb();	/* bits before news, see floodgate_hear() */
		WRITE_ONCE(q->news, true);
		smp_mb();	/* before the qdisc's SCHED and RUNNING bits */
		__netif_schedule(qdisc_root_bh(q->member.sch));
	} while (sched_is_stopped(q));
	spin_unlock(&dest->lock);
}

static void slot_ready(struct floodgate_slot *slot)
{
	slot->voq->ready = true;
	list_add_tail(&slot->voq->node, &slot->q->round);
}

/* Has it a VOQ that waits for it? */
static bool slot_waits(const struct floodgate_slot *slot)
{
	return floodgate_is_first(slot) && !slot->voq->ready;
}

/**
 * floodgate_wait - a VOQ with packets waits for window
 * @slot: that of its first packet; the VOQ is not in the round
 */
void floodgate_wait(struct floodgate_slot *slot)
{
	struct floodgate_dest *dest = slot->dest;

	if (unlikely(slot->paused)) {
		floodgate_pass_on(slot);
		return;
	}
	if (!slot->q->windows || slot->q->config.scope == FLOODGATE_SCOPE_PORT) {
		if (floodgate_has_window(slot))
			slot_ready(slot);
		return;
	}
	spin_lock(&dest->lock);
	if (list_empty(&slot->wait))
		list_add_tail(&slot->wait, &dest->waiting);
	spin_unlock(&dest->lock);
	smp_mb();	/* pairs with that of floodgate_pass_on() */
	if (floodgate_has_window(slot))
		dest_call(dest);
}

/**
 * floodgate_wait_no_more - or is not to wait any more
 * @slot: its slot
 */
void floodgate_wait_no_more(struct floodgate_slot *slot)
{
	spin_lock(&slot->dest->lock);
	list_del_init(&slot->wait);
	spin_unlock(&slot->dest->lock);
	clear_bit(floodgate_slot_number(slot), slot->q->called);
}

/**
 * floodgate_pass_on - there may be window, and others who wait for it
 * @slot: a slot of the destination
 */
void floodgate_pass_on(struct floodgate_slot *slot)
{
	smp_mb();	/* the window before the row */
	if (slot->q->config.scope == FLOODGATE_SCOPE_PORT && slot_waits(slot)) {
		if (floodgate_has_window(slot))
			slot_ready(slot);
		return;
	}
	if (!list_empty_careful(&slot->dest->waiting) && floodgate_window_left(slot))
		dest_call(slot->dest);
}

/**
 * floodgate_recount - what counts against a window has changed
 * @slot: the slot
 */
void floodgate_recount(struct floodgate_slot *slot)
{
	u64 now = slot->q->windows ? slot->charged + hop_ledger_outstanding(&slot->sent) : 0;
	s64 by = now - slot->counted;

	if (!by)
		return;
	slot->counted = now;
	atomic64_add(by, &slot->dest->out);
	if (by < 0)
		floodgate_pass_on(slot);
}

/**
 * floodgate_owes - something is outstanding, or nothing is any more
 * @slot: the slot
 */
void floodgate_owes(struct floodgate_slot *slot)
{
	bool owes = hop_ledger_outstanding(&slot->sent);
	struct floodgate_sched *q = slot->q;

	if (owes == !list_empty(&slot->owing))
		return;
	if (owes)
		list_add_tail(&slot->owing, &q->owing);
	else
		list_del_init(&slot->owing);
	q->owe += owes ? 1 : -1;
	hop_blocks_owe(&q->member, q->owe);
}

/**
 * floodgate_not_sent - a packet leaves, or is dropped, and is not counted
 * @slot: the slot
 */
void floodgate_not_sent(struct floodgate_slot *slot)
{
	floodgate_recount(slot);
	floodgate_settle(slot);
}

static void sched_links(struct floodgate_sched *q, u8 link)
{
	struct floodgate_slot *slot;
	bool before = q->windows;

	WRITE_ONCE(q->link, link);
	q->windows = link & FLOODGATE_LINK_WINDOWS;
	for (slot = q->slots; slot && slot < q->slots + q->config.slots; slot++) {
		if (!slot->dest)
			continue;
		if (q->windows != before) {
			dest_forget(slot->dest, slot);
			dest_ports(slot->dest, q->windows ? 1 : -1);
		}
		floodgate_recount(slot);
		floodgate_settle(slot);
		if (q->windows || !slot_waits(slot))
			continue;
		floodgate_wait_no_more(slot);
		floodgate_wait(slot);
	}
}

/**
 * floodgate_judge - the neighbour makes something else of the qdisc than before
 * @q: the qdisc
 */
void floodgate_judge(struct floodgate_sched *q)
{
	sched_links(q, floodgate_link(q));
}

/**
 * floodgate_hold - the neighbour holds a slot, or does so no more
 * @slot: the slot, of any destination or none
 * @on: it does
 */
void floodgate_hold(struct floodgate_slot *slot, bool on)
{
	slot->paused = on;
	if (!slot->dest) {
		/* nobody gets it meanwhile */
		if (on)
			list_del(&slot->node);
		else
			list_add_tail(&slot->node, &slot->q->free);
		return;
	}
	floodgate_settle(slot);
	if (!floodgate_is_first(slot))
		return;
	if (!on) {
		if (!slot->voq->ready)
			floodgate_wait(slot);
		return;
	}
	if (slot->voq->ready)
		list_del(&slot->voq->node);
	slot->voq->ready = false;
	floodgate_wait_no_more(slot);
	floodgate_pass_on(slot);
}

/* ---- what hopctl asks and says ---- */

/* The neighbour tells what of a slot has left its box. Port's lock. */
void floodgate_told(struct hop_port *port, u16 key, u32 block, s32 bytes)
{
	struct hop_member *m = hop_port_member_at(port, key);
	struct floodgate_sched *q;

	if (!m || !READ_ONCE(m->blocks.gen))
		return;
	q = container_of(m, struct floodgate_sched, member);
	hop_mailbox_put(&q->mail, key - m->first, block, bytes);
	smp_wmb();	/* mail before news, see floodgate_hear() */
	WRITE_ONCE(q->news, true);
	smp_mb();	/* before the qdisc's SCHED and RUNNING bits */
	__netif_schedule(qdisc_root(m->sch));
}

/* What the neighbour is to be asked for. Those that have been come last the next time. */
unsigned int floodgate_asks(struct hop_member *m, u16 *keys, unsigned int most)
{
	struct floodgate_sched *q = container_of(m, struct floodgate_sched, member);
	struct floodgate_slot *slot, *next;
	unsigned int count = 0;
	LIST_HEAD(asked);

	list_for_each_entry_safe(slot, next, &q->owing, owing) {
		if (count == most)
			break;
		if (!hop_ledger_asks(&m->blocks.tx, &slot->sent))
			continue;
		keys[count++] = m->first + floodgate_slot_number(slot);
		list_move_tail(&slot->owing, &asked);
	}
	list_splice_tail(&asked, &q->owing);
	return count;
}

static void hear_mail(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;
	u32 n, block;
	s32 bytes;

	for_each_set_bit(n, q->mail.full, q->config.slots) {
		block = hop_mailbox_take(&q->mail, n, &bytes);
		slot = &q->slots[n];
		if (!hop_ledger_told(&q->member.blocks.tx, &slot->sent, block, bytes))
			continue;
		q->stats.credits++;
		floodgate_owes(slot);
		if (!slot->dest)
			continue;
		floodgate_recount(slot);
		floodgate_settle(slot);
	}
}

/* What is in the FIFO goes first, for as long as more of it comes: the next one's turn, too. */
static void slot_called(struct floodgate_slot *slot)
{
	struct floodgate_sched *q = slot->q;

	slot_ready(slot);
	if (q->fifo.head || q->held.on)
		floodgate_pass_on(slot);
	else
		list_add_tail(&slot->wait, &q->turns);
}

/**
 * floodgate_turn_lost - the FIFO has gone before a VOQ whose turn it was: the next one's, too
 * @q: the qdisc, with turns that nobody has used
 */
void floodgate_turn_lost(struct floodgate_sched *q)
{
	struct floodgate_slot *slot = list_first_entry(&q->turns, struct floodgate_slot, wait);

	list_del_init(&slot->wait);
	floodgate_pass_on(slot);
}

static void hear_calls(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;
	u32 n;

	for_each_set_bit(n, q->called, q->config.slots) {
		if (!test_and_clear_bit(n, q->called))
			continue;
		slot = &q->slots[n];
		if (!slot->dest)
			continue;
		if (!floodgate_is_first(slot))
			floodgate_pass_on(slot);
		else if (slot->voq->ready)
			continue;
		else if (!floodgate_has_window(slot))
			floodgate_wait(slot);
		else
			slot_called(slot);
	}
}

/**
 * floodgate_hear - take over what others have said since the last time
 * @q: the qdisc
 */
void floodgate_hear(struct floodgate_sched *q)
{
	if (!xchg(&q->news, false))
		return;
	hear_mail(q);
	hear_calls(q);
	slots_age(q);
}

/* ---- changes and the end ---- */

/**
 * floodgate_look_again - windows may be others than before
 * @q: the qdisc
 */
void floodgate_look_again(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;

	for (slot = q->slots; slot < q->slots + q->config.slots; slot++) {
		if (!slot->dest)
			continue;
		dest_forget(slot->dest, slot);
		if (slot_waits(slot)) {
			floodgate_wait_no_more(slot);
			floodgate_wait(slot);
		}
		floodgate_pass_on(slot);
	}
	__netif_schedule(qdisc_root(q->member.sch));
}

/**
 * floodgate_slots_leave - the qdisc goes, and nothing is queued
 * @q: the qdisc; one that is half made has no slots, or no neighbour
 *
 * Its destinations are other ports' now.
 */
void floodgate_slots_leave(struct floodgate_sched *q)
{
	struct floodgate_slot *slot;

	sched_links(q, 0);
	for (slot = q->slots; slot && slot < q->slots + q->config.slots; slot++)
		if (slot->dest)
			slot_unbind(q, slot);
	dests_free(q->box, q->dests);
}

/**
 * floodgate_slots_free - nobody calls or tells any more
 * @q: the qdisc
 */
void floodgate_slots_free(struct floodgate_sched *q)
{
	kvfree(q->slots);
	kvfree(q->voq);
	kvfree(q->table);
	bitmap_free(q->called);
	bitmap_free(q->mail.full);
	kvfree(q->mail.said);
	if (q->come)
		kvfree_rcu(q->come, rcu);	/* the receive hook */
}
