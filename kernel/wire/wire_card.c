// SPDX-License-Identifier: GPL-2.0-only
/*
 * wire_card.c - one direction of a virtual cable: rings, the line, frames in flight, delivery
 *
 *   stack -> ring of each transmit queue -.
 *                                          >- line (one frame at a time) -> flight -> peer
 *   TC_PRIO_CONTROL -> control list ------'
 *
 * The line takes a duplicate first, then a control frame, then the rings by turns, one frame
 * each. A frame is chosen when the line is free, so a control frame waits for the frame being
 * serialised and for no other. wire_line.c says when a frame's last bit has left; at that
 * moment the sender's socket gets its memory back and the byte queue limit its completion, and
 * the frame joins the flight, a queue in the order of arrival. A shorter delay, set while frames
 * are in flight, does not let later frames overtake them: a cable has one order. But for a frame
 * that is to be reordered: it waits in a second queue, and of two that are due at once the one
 * from there is delivered first, having been sent first.
 *
 * Stopping the stack is left to the byte queue limit, whose maximum is the ring's size: it sets
 * another bit of the queue's state than netif_tx_stop_queue(), and __dev_direct_xmit(), which
 * carries the fabric's control frames, looks at the latter only. Control frames are not counted
 * by it, else the stop would come late by their bytes. netif_tx_stop_queue() comes at
 * WIRE_RING_FRAMES, or in kernels without byte queue limits at the ring's size, where control
 * frames are then refused too. So senders that look at that bit only, as pktgen and packet
 * sockets that bypass the qdisc do, see a ring of WIRE_RING_FRAMES.
 *
 * Two kinds of event exist, the end of a serialisation and an arrival. One timer stands at the
 * earlier; what is due at one instant is handled in one run. What is due at once goes by a
 * tasklet: a timer that is programmed for the present fires a clock step later, which virtual
 * time would show. Arrivals are handed to netif_receive_skb() from the run, not to the per-CPU
 * backlog, which overflows at 1000 frames, and in virtual time thousands may come at one
 * instant. A run delivers WIRE_BUDGET frames and then has itself called again.
 *
 * In real time the timer is late. The line does not notice: a frame that was waiting starts when
 * the one before it ended, not when the timer ran. A frame that the stack hands over only
 * after a late completion starts late, as behind any card with too small a ring.
 *
 * Who protects what: struct wire_card in wire.h. Nothing is delivered and no memory is freed
 * with the card's lock held, so it is innermost, but for what skb_orphan() and waking a queue
 * take.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#include "wire.h"

static struct wire_priv *wire_card_priv(struct wire_card *card)
{
	return container_of(card, struct wire_priv, card);
}

static struct netdev_queue *wire_ring_queue(struct wire_card *card, const struct wire_ring *ring)
{
	return netdev_get_tx_queue(wire_card_priv(card)->dev, ring - card->rings);
}

static bool wire_ring_is_full(const struct wire_card *card, const struct wire_ring *ring)
{
	if (ring->frames.qlen >= WIRE_RING_FRAMES)
		return true;
	return !IS_ENABLED(CONFIG_BQL) && ring->bytes > card->config.ring_bytes;
}

/* Half empty before it is woken, so that a flood does not stop and wake it for each frame. */
static bool wire_ring_may_wake(const struct wire_card *card, const struct wire_ring *ring)
{
	if (ring->frames.qlen > WIRE_RING_FRAMES / 2)
		return false;
	return IS_ENABLED(CONFIG_BQL) || ring->bytes <= card->config.ring_bytes;
}

/* The byte queue limit looks at its maximum again only when a frame is completed: a ring that
 * was made smaller would take too much once more.
 */
static void wire_ring_limit(struct netdev_queue *txq, u32 bytes)
{
#ifdef CONFIG_BQL
	struct dql *dql = &txq->dql;

	WRITE_ONCE(dql->max_limit, bytes);
	if (dql->limit > bytes) {
		dql->limit = bytes;
		WRITE_ONCE(dql->adj_limit, bytes + dql->num_completed);
	}
#endif
}

/* Nothing is queued any more. The kernel forgets what was sent, but not how far the limit
 * allowed to go on from there: an empty ring would take as much once more.
 */
static void wire_ring_forget(struct netdev_queue *txq)
{
	netdev_tx_reset_queue(txq);
#ifdef CONFIG_BQL
	WRITE_ONCE(txq->dql.adj_limit, txq->dql.limit);
#endif
}

/* Bytes of the headers that each segment repeats. A header that is not where the stack says
 * counts as none: the line is then occupied for as long as the unsegmented frame takes.
 */
static u16 wire_frame_header_bytes(const struct sk_buff *skb)
{
	const struct tcphdr *tcp;
	struct tcphdr buffer;
	int offset;

	if (!skb_is_gso(skb) || !skb_transport_header_was_set(skb))
		return 0;
	offset = skb->encapsulation ? skb_inner_transport_offset(skb) : skb_transport_offset(skb);
	if (offset < ETH_HLEN)
		return 0;
	if (!skb_is_gso_tcp(skb))
		return offset + sizeof(struct udphdr);
	tcp = skb_header_pointer(skb, offset, sizeof(buffer), &buffer);
	return tcp ? offset + __tcp_hdrlen(tcp) : 0;
}

static u32 wire_frame_line_bytes(const struct wire_card *card, struct sk_buff *skb)
{
	const struct wire_frame *frame = wire_frame(skb);
	u32 tag = skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;

	return wire_train_bytes(skb->len, frame->header_bytes,
				frame->header_bytes ? skb_shinfo(skb)->gso_size : 0,
				tag + card->config.overhead_bytes);
}

static struct sk_buff *wire_card_next(struct wire_card *card)
{
	struct wire_ring *ring;
	struct sk_buff *skb;

	if (card->copy) {
		skb = card->copy;
		card->copy = NULL;
		return skb;
	}
	skb = __skb_dequeue(&card->control);
	if (skb)
		return skb;
	ring = list_first_entry_or_null(&card->ready, struct wire_ring, ready);
	if (!ring)
		return NULL;
	skb = __skb_dequeue(&ring->frames);
	if (skb_queue_empty(&ring->frames))
		list_del_init(&ring->ready);
	else
		list_move_tail(&ring->ready, &card->ready);
	return skb;
}

/* Put the next frame on the line, which is free. */
static void wire_card_begin(struct wire_card *card)
{
	struct sk_buff *skb = wire_card_next(card);
	struct wire_frame *frame;
	u64 from_ns;

	card->busy = skb;
	if (!skb)
		return;
	frame = wire_frame(skb);
	if (!(frame->flags & WIRE_FRAME_COPY))
		wire_fault_decide(card, skb);
	from_ns = max(frame->ns, card->line.free_ns);
	wire_line_send(&card->line, frame->ns, wire_frame_line_bytes(card, skb));
	card->count.busy_ns += card->line.free_ns - from_ns;
}

/* A frame of the stack's has left: what the sender is told of it. */
static void wire_card_sent(struct wire_card *card, struct sk_buff *skb)
{
	const struct wire_frame *frame = wire_frame(skb);
	struct wire_ring *ring;

	card->count.sent_frames++;
	card->count.sent_bytes += skb->len;
	if (frame->flags & WIRE_FRAME_CONTROL) {
		card->count.control_frames++;
		return;
	}
	ring = &card->rings[frame->queue];
	ring->bytes -= frame->bytes;
	ring->done_frames++;
	ring->done_bytes += frame->bytes;
	if (list_empty(&ring->done))
		list_add_tail(&ring->done, &card->done);
}

/* The queue in which the frame crosses the cable. */
static struct sk_buff_head *wire_frame_flight(struct wire_card *card,
					      const struct wire_frame *frame)
{
	return frame->flags & WIRE_FRAME_LATE ? &card->late : &card->flight;
}

/* The frame that arrives next. */
static struct sk_buff *wire_card_first(struct wire_card *card)
{
	struct sk_buff *first = skb_peek(&card->flight), *late = skb_peek(&card->late);

	if (!first || (late && wire_frame(late)->ns <= wire_frame(first)->ns))
		return late;
	return first;
}

/* The last bit of the frame on the line has left. */
static void wire_card_end(struct wire_card *card)
{
	struct sk_buff *last, *skb = card->busy;
	struct wire_frame *frame = wire_frame(skb);
	struct sk_buff_head *flight = wire_frame_flight(card, frame);

	card->busy = NULL;
	if (!(frame->flags & WIRE_FRAME_COPY))
		wire_card_sent(card, skb);
	skb_orphan(skb);
	if (frame->flags & WIRE_FRAME_LOST) {
		__skb_queue_tail(&card->dead, skb);
		return;
	}
	if (card->flight.qlen + card->late.qlen >= WIRE_FLIGHT_FRAMES) {
		card->count.flight_overflow++;
		__skb_queue_tail(&card->dead, skb);
		return;
	}
	frame->ns = card->line.free_ns + card->config.delay_ns;
	if (flight == &card->late)
		frame->ns += card->config.reorder_delay_ns;
	last = skb_peek_tail(flight);
	if (last)
		frame->ns = max(frame->ns, wire_frame(last)->ns);
	__skb_queue_tail(flight, skb);
}

/* Report once per run and queue, as the byte queue limit wants it. */
static void wire_card_complete(struct wire_card *card)
{
	struct wire_ring *ring, *next;
	struct netdev_queue *txq;

	list_for_each_entry_safe(ring, next, &card->done, done) {
		list_del_init(&ring->done);
		txq = wire_ring_queue(card, ring);
		netdev_tx_completed_queue(txq, ring->done_frames, ring->done_bytes);
		ring->done_frames = 0;
		ring->done_bytes = 0;
		if (netif_tx_queue_stopped(txq) && wire_ring_may_wake(card, ring))
			netif_tx_wake_queue(txq);
	}
}

/* Bring the line up to @now. */
static void wire_card_advance(struct wire_card *card, u64 now)
{
	lockdep_assert_held(&card->lock);

	while (card->busy && card->line.free_ns <= now) {
		wire_card_end(card);
		wire_card_begin(card);
	}
	wire_card_complete(card);
}

/* Stand the timer at the next event. */
static void wire_card_arm(struct wire_card *card, u64 now)
{
	struct sk_buff *first = wire_card_first(card);
	u64 next = U64_MAX;

	lockdep_assert_held(&card->lock);

	if (!card->up || card->running)
		return;
	if (card->busy)
		next = card->line.free_ns;
	if (first)
		next = min(next, wire_frame(first)->ns);
	if (next == U64_MAX)
		return;
	if (next <= now)
		tasklet_schedule(&card->tasklet);
	else if (!hrtimer_is_queued(&card->timer) ||
		 ktime_to_ns(hrtimer_get_expires(&card->timer)) != next)
		hrtimer_start(&card->timer, ns_to_ktime(next), HRTIMER_MODE_ABS_SOFT);
}

/* Release the lock and free what died under it. */
static void wire_card_unlock(struct wire_card *card)
	__releases(&card->lock)
{
	struct sk_buff_head dead;

	__skb_queue_head_init(&dead);
	skb_queue_splice_init(&card->dead, &dead);
	spin_unlock(&card->lock);
	__skb_queue_purge(&dead);
}

/* May @peer have the frame? Counts it either way. */
static bool wire_card_accept(struct wire_card *card, struct sk_buff *skb,
			     const struct net_device *peer)
{
	u32 bytes = skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);

	if (!peer || !netif_running(peer) || !netif_carrier_ok(peer)) {
		card->count.down++;
		return false;
	}
	if (!skb_is_gso(skb) && bytes > READ_ONCE(peer->mtu) + ETH_HLEN + 2 * VLAN_HLEN) {
		card->count.oversize++;
		return false;
	}
	card->count.arrived_frames++;
	card->count.arrived_bytes += skb->len;
	return true;
}

/* Take at most WIRE_BUDGET of the frames that have arrived by @now. */
static void wire_card_collect(struct wire_card *card, const struct net_device *peer, u64 now,
			      struct sk_buff_head *due)
{
	unsigned int budget = WIRE_BUDGET;
	struct sk_buff *skb;

	lockdep_assert_held(&card->lock);

	while (budget-- && (skb = wire_card_first(card)) && wire_frame(skb)->ns <= now) {
		__skb_unlink(skb, wire_frame_flight(card, wire_frame(skb)));
		__skb_queue_tail(wire_card_accept(card, skb, peer) ? due : &card->dead, skb);
	}
}

static void wire_card_deliver(struct sk_buff *skb, struct net_device *peer)
{
	memset(skb->cb, 0, sizeof(skb->cb));
	skb_set_queue_mapping(skb, 0);
	skb->protocol = eth_type_trans(skb, peer);
	netif_receive_skb(skb);
}

/* What is due now. The tasklet and the timer may meet on two CPUs: the frames must not be
 * delivered by both, so the later one leaves its work to the earlier, who arms the timer last.
 */
static void wire_card_run(struct wire_card *card)
{
	struct sk_buff_head due;
	struct net_device *peer;
	struct sk_buff *skb;
	u64 now;

	__skb_queue_head_init(&due);
	rcu_read_lock();
	peer = rcu_dereference(wire_card_priv(card)->peer);
	spin_lock(&card->lock);
	if (!card->up || card->running)
		goto out;
	card->running = true;
	now = ktime_get_ns();
	wire_card_advance(card, now);
	wire_card_collect(card, peer, now, &due);
	wire_card_unlock(card);

	while ((skb = __skb_dequeue(&due)))
		wire_card_deliver(skb, peer);

	spin_lock(&card->lock);
	card->running = false;
	wire_card_arm(card, now);
out:
	spin_unlock(&card->lock);
	rcu_read_unlock();
}

static enum hrtimer_restart wire_card_timer(struct hrtimer *timer)
{
	wire_card_run(container_of(timer, struct wire_card, timer));
	return HRTIMER_NORESTART;
}

static void wire_card_tasklet(struct tasklet_struct *tasklet)
{
	wire_card_run(from_tasklet((struct wire_card *)NULL, tasklet, tasklet));
}

/* A cable carries bits, and a checksum that is still to be filled in, but nothing else of what
 * this kernel knows about the frame.
 */
static void wire_frame_scrub(struct sk_buff *skb)
{
	skb_scrub_packet(skb, true);
	skb_clear_hash(skb);
	skb_reset_redirect(skb);
	skb->priority = 0;
	skb_init_secmark(skb);
#ifdef CONFIG_NET_SCHED
	skb->tc_index = 0;
#endif
	if (skb->ip_summed != CHECKSUM_PARTIAL) {
		skb->ip_summed = CHECKSUM_NONE;
		skb->csum_level = 0;
		skb->csum_valid = 0;
		skb->csum_complete_sw = 0;
	}
}

static void wire_card_queue_control(struct wire_card *card, struct sk_buff *skb)
{
	if (card->control.qlen >= WIRE_CONTROL_FRAMES) {
		card->count.control_overflow++;
		__skb_queue_tail(&card->dead, skb);
		return;
	}
	wire_frame(skb)->flags = WIRE_FRAME_CONTROL;
	__skb_queue_tail(&card->control, skb);
}

static void wire_card_queue_data(struct wire_card *card, struct sk_buff *skb)
{
	struct wire_ring *ring = &card->rings[wire_frame(skb)->queue];
	struct netdev_queue *txq = wire_ring_queue(card, ring);
	u32 bytes = wire_frame(skb)->bytes;

	__skb_queue_tail(&ring->frames, skb);
	ring->bytes += bytes;
	if (list_empty(&ring->ready))
		list_add_tail(&ring->ready, &card->ready);
	netdev_tx_sent_queue(txq, bytes);
	if (wire_ring_is_full(card, ring)) {
		card->count.ring_full++;
		netif_tx_stop_queue(txq);
	}
}

static void wire_card_take(struct wire_card *card, struct sk_buff *skb, bool control)
{
	u64 now = ktime_get_ns();

	wire_frame(skb)->ns = now;
	if (control)
		wire_card_queue_control(card, skb);
	else
		wire_card_queue_data(card, skb);
	if (card->busy)
		return;
	wire_card_begin(card);
	wire_card_advance(card, now);
	wire_card_arm(card, now);
}

/* Bring @skb into the shape that the card wants, or free it and say which counter to raise. */
static struct sk_buff *wire_frame_prepare(struct sk_buff *skb, struct wire_card *card, u64 **why)
{
	struct wire_frame *frame;

	*why = &card->count.no_memory;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NULL;
	if (skb_orphan_frags(skb, GFP_ATOMIC))
		goto drop;
	*why = &card->count.runt;
	if (!pskb_may_pull(skb, ETH_HLEN))
		goto drop;
	skb_tx_timestamp(skb);
	frame = wire_frame(skb);
	frame->bytes = skb->len + (skb_vlan_tag_present(skb) ? VLAN_HLEN : 0);
	frame->header_bytes = wire_frame_header_bytes(skb);
	frame->queue = skb_get_queue_mapping(skb);
	frame->flags = 0;
	return skb;
drop:
	kfree_skb(skb);
	return NULL;
}

/**
 * wire_card_xmit - ndo_start_xmit: take a frame from the stack
 * @skb: the frame
 * @dev: this end
 *
 * Return: NETDEV_TX_OK; what cannot be sent is dropped and counted.
 */
netdev_tx_t wire_card_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct wire_card *card = &priv->card;
	bool control;
	u64 *why;

	skb = wire_frame_prepare(skb, card, &why);
	spin_lock(&card->lock);
	if (!skb) {
		(*why)++;
	} else if (!card->up) {
		card->count.down++;
		__skb_queue_tail(&card->dead, skb);
	} else {
		control = skb->priority == TC_PRIO_CONTROL;
		wire_frame_scrub(skb);
		wire_card_take(card, skb, control);
	}
	wire_card_unlock(card);
	return NETDEV_TX_OK;
}

/**
 * wire_card_configure - put a new configuration into force
 * @priv: this end
 * @config: checked options
 * @reseed: start the fault stream anew
 *
 * The frame being serialised keeps its rate, frames in flight their arrival.
 */
void wire_card_configure(struct wire_priv *priv, const struct wire_config *config, bool reseed)
{
	struct wire_card *card = &priv->card;
	unsigned int i;

	ASSERT_RTNL();
	spin_lock_bh(&card->lock);
	card->config = *config;
	wire_line_set_rate(&card->line, config->rate_bps);
	if (reseed) {
		card->stream = wire_stream_start(config->seed, priv->second);
		memset(card->burst, 0, sizeof(card->burst));
	}
	for (i = 0; i < priv->dev->num_tx_queues; i++)
		wire_ring_limit(netdev_get_tx_queue(priv->dev, i), config->ring_bytes);
	spin_unlock_bh(&card->lock);
}

/**
 * wire_card_open - start with empty rings and an idle line
 * @priv: this end
 */
void wire_card_open(struct wire_priv *priv)
{
	unsigned int i;

	for (i = 0; i < priv->dev->num_tx_queues; i++)
		wire_ring_forget(netdev_get_tx_queue(priv->dev, i));
	netif_tx_start_all_queues(priv->dev);
	spin_lock_bh(&priv->card.lock);
	priv->card.up = true;
	spin_unlock_bh(&priv->card.lock);
}

static void wire_card_kill(struct wire_card *card, struct sk_buff_head *list)
{
	card->count.down += list->qlen;
	skb_queue_splice_tail_init(list, &card->dead);
}

static void wire_card_kill_one(struct wire_card *card, struct sk_buff **skb)
{
	if (!*skb)
		return;
	card->count.down++;
	__skb_queue_tail(&card->dead, *skb);
	*skb = NULL;
}

static void wire_ring_reset(struct wire_card *card, struct wire_ring *ring)
{
	wire_card_kill(card, &ring->frames);
	list_del_init(&ring->ready);
	list_del_init(&ring->done);
	ring->bytes = 0;
	ring->done_frames = 0;
	ring->done_bytes = 0;
	wire_ring_forget(wire_ring_queue(card, ring));
}

/**
 * wire_card_stop - lose everything on the card and in flight
 * @priv: this end; the stack has stopped sending, and a straggler finds the card down
 */
void wire_card_stop(struct wire_priv *priv)
{
	struct wire_card *card = &priv->card;
	unsigned int i;

	spin_lock_bh(&card->lock);
	card->up = false;
	wire_card_kill_one(card, &card->busy);
	wire_card_kill_one(card, &card->copy);
	wire_card_kill(card, &card->control);
	wire_card_kill(card, &card->flight);
	wire_card_kill(card, &card->late);
	for (i = 0; i < priv->dev->num_tx_queues; i++)
		wire_ring_reset(card, &card->rings[i]);
	card->line.free_ns = 0;
	card->line.remainder = 0;
	wire_card_unlock(card);
	local_bh_enable();
	hrtimer_cancel(&card->timer);
	tasklet_kill(&card->tasklet);
}

/**
 * wire_card_lose_flight - frames on the way are lost: the other end is down, or unplugged
 * @card: the direction towards it
 */
void wire_card_lose_flight(struct wire_card *card)
{
	spin_lock_bh(&card->lock);
	wire_card_kill(card, &card->flight);
	wire_card_kill(card, &card->late);
	wire_card_unlock(card);
	local_bh_enable();
}

/**
 * wire_card_count - read the counters
 * @card: the direction
 * @to: where to
 */
void wire_card_count(struct wire_card *card, struct wire_counters *to)
{
	spin_lock_bh(&card->lock);
	*to = card->count;
	spin_unlock_bh(&card->lock);
}

/**
 * wire_card_init - make rings for the device's transmit queues
 * @priv: this end, all zero but for the device
 *
 * Return: 0 or -ENOMEM.
 */
int wire_card_init(struct wire_priv *priv)
{
	struct wire_card *card = &priv->card;
	unsigned int i;

	card->rings = kvcalloc(priv->dev->num_tx_queues, sizeof(*card->rings), GFP_KERNEL);
	if (!card->rings)
		return -ENOMEM;
	for (i = 0; i < priv->dev->num_tx_queues; i++) {
		__skb_queue_head_init(&card->rings[i].frames);
		INIT_LIST_HEAD(&card->rings[i].ready);
		INIT_LIST_HEAD(&card->rings[i].done);
	}
	spin_lock_init(&card->lock);
	__skb_queue_head_init(&card->control);
	__skb_queue_head_init(&card->flight);
	__skb_queue_head_init(&card->late);
	__skb_queue_head_init(&card->dead);
	INIT_LIST_HEAD(&card->ready);
	INIT_LIST_HEAD(&card->done);
	hrtimer_init(&card->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	card->timer.function = wire_card_timer;
	tasklet_setup(&card->tasklet, wire_card_tasklet);
	return 0;
}

/**
 * wire_card_free - undo wire_card_init()
 * @card: stopped
 */
void wire_card_free(struct wire_card *card)
{
	kvfree(card->rings);
	card->rings = NULL;
}
