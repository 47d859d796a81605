// SPDX-License-Identifier: GPL-2.0-only
/*
 * tx.c - the worker: lets time limits run out and sends what is due
 *
 * The hook, the qdiscs and configuration only take notes and schedule this tasklet; but pauses,
 * which would be late, may leave from the hook (hop_urgent_send()). The worker takes the
 * port's lock, looks at the clock once, builds all frames that are due, sets the timer to
 * the next moment at which there will be something to do, and sends after it has let go of the
 * lock: a virtual device may well deliver what we send within the call.
 *
 * Frames go past the qdisc, straight to the last transmit queue: a qdisc is not asked while the
 * device's queue is stopped, and data waits in front of us in no queue but the card's. A device
 * that takes nothing is tried again a frame time later; what was to be said is said then as it
 * is by then.
 */
#include <linux/if_vlan.h>

#include "port.h"
#include "trace.h"

#define BUSY_MIN_NS	(1ULL * NSEC_PER_USEC)
#define BUSY_UNKNOWN_NS	(10ULL * NSEC_PER_USEC)

/**
 * struct hop_tx_cb - what has to be taken back if a frame is not sent (in skb->cb)
 * @hello: a HELLO is in it
 * @said: set of the slots of told states in it
 * @acked: and of acknowledgements
 * @blocks: which block is complete is in it
 */
struct hop_tx_cb {
	bool	hello;
	u32	said;
	u32	acked;
	bool	blocks;
};

static struct hop_tx_cb *tx_cb(struct sk_buff *skb)
{
	return (struct hop_tx_cb *)skb->cb;
}

/* Closes a frame, pads it to @bytes behind the Ethernet header, and queues it. */
static void frame_queue(struct sk_buff *skb, struct hop_writer *w, unsigned int bytes,
			struct sk_buff_head *list)
{
	hop_frame_close(skb, w, bytes);
	__skb_queue_tail(list, skb);
}

static void write_hello(struct hop_port *port, struct hop_writer *w, u64 echo_ns, u64 rx_ns,
			u64 now)
{
	struct hop_hello h = {
		.role		= port->role,
		.kinds		= port->cfg.kinds,
		.queues		= port->queues,
		.tpid		= port->cfg.tpid,
		.ring_ns	= hop_link_ring_ns(port),
		.sent_ns	= now,
	};

	/* tags are taken off in any case as long as the neighbour says that it puts them on */
	if (!port->filtered || port->cfg.strip == HOP_STRIP_ALWAYS)
		h.flags |= HOP_HELLO_STRIPS_TAGS;
	if (port->tags || now < port->tags_until)
		h.flags |= HOP_HELLO_TAGS;
	if (port->strip && port->strip_at == U64_MAX)
		h.flags |= HOP_HELLO_STRIPPING;
	if (rx_ns) {
		h.flags |= HOP_HELLO_ECHO_VALID;
		h.echo_ns = echo_ns;
		h.held_ns = now - rx_ns;
	}
	hop_frame_add_hello(w, &h);
	port->stats.hello_tx++;
}

/* An answer to someone who is not the neighbour, yet or at all. */
static void build_answer(struct hop_port *port, struct hop_candidate *c, u64 now,
			 struct sk_buff_head *list)
{
	struct sk_buff *skb = hop_frame_new(port, HOP_FRAME_REST);
	struct hop_writer w;

	c->answer = false;
	if (!skb)
		return;
	hop_frame_begin(&w, skb_tail_pointer(skb), HOP_FRAME_REST, port->epoch, c->epoch);
	write_hello(port, &w, c->sent_ns, c->rx_ns, now);
	tx_cb(skb)->hello = true;
	frame_queue(skb, &w, ETH_ZLEN - ETH_HLEN, list);
}

static u64 hello_next(const struct hop_port *port)
{
	if (!port->carrier)
		return U64_MAX;
	return max(port->hello_at, port->hello_last + HOP_HELLO_FIRST_NS);
}

/* Where nobody has ever answered, HELLOs become few: whoever comes says one at once, and is heard.
 * A neighbour that we had may be silent for a fault of the link, and should be found soon after
 * it.
 */
static u64 hello_most(struct hop_port *port, u64 now)
{
	if (port->leaving || port->peer.epoch || hop_peer_candidate(port, now))
		return HOP_HELLO_NS;
	return HOP_HELLO_ALONE_NS;
}

static void hello_done(struct hop_port *port, u64 now)
{
	port->hello_last = now;
	port->hello_at = now + port->hello_gap;
	port->hello_gap = min(2 * port->hello_gap, hello_most(port, now));
}

static void build_answers(struct hop_port *port, const struct hop_candidate *but, u64 now,
			  struct sk_buff_head *list)
{
	struct hop_candidate *c;

	for (c = port->cand; c < port->cand + HOP_CANDIDATES; c++)
		if (c->epoch && c->answer && c != but)
			build_answer(port, c, now, list);
}

/* Bytes of a frame that has room for everything, as far as it goes into one */
static unsigned int frame_room(const struct hop_port *port)
{
	unsigned int room = HOP_FRAME_REST + READ_ONCE(hop_streams_room);

	if (likely(!port->blocks.ops && !port->cfg.roots))
		return room;
	return min_t(unsigned int, HOP_FRAME_MAX,
		     room + hop_blocks_room(port) + hop_roots_bytes(port));
}

/* Everything that is due to the neighbour, in one frame. */
static void build_frame(struct hop_port *port, u64 now, struct sk_buff_head *list)
{
	unsigned int room = frame_room(port);
	bool hello = now >= hello_next(port);
	struct hop_peer *peer = &port->peer;
	struct hop_candidate *c = peer->up ? NULL : hop_peer_candidate(port, now);
	struct hop_tx_cb *cb;
	struct hop_writer w;
	struct sk_buff *skb;

	skb = hop_frame_new(port, room);
	if (!skb) {
		port->retry_at = now + BUSY_UNKNOWN_NS;
		return;
	}
	hop_frame_begin(&w, skb_tail_pointer(skb), room, port->epoch,
			peer->up ? peer->epoch : c ? c->epoch : 0);
	cb = tx_cb(skb);
	cb->said = hop_streams_write(port, &w, now);
	cb->acked = hop_streams_write_acks(port, &w);
	if (unlikely(port->counting))
		cb->blocks = hop_blocks_write(port, &w, now);
	if (port->n_echoes)
		hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &port->echoes[--port->n_echoes]);
	if (hello) {
		if (peer->up)
			write_hello(port, &w, peer->hello.sent_ns, peer->hello_rx_ns, now);
		else
			write_hello(port, &w, c ? c->sent_ns : 0, c ? c->rx_ns : 0, now);
		if (c)
			c->answer = false;
		cb->hello = true;
		hello_done(port, now);
		build_answers(port, c, now, list);
	}
	frame_queue(skb, &w, ETH_ZLEN - ETH_HLEN, list);
}

/* Without members: GOODBYE in place of HELLO, as often, until the port goes. */
static void build_goodbye(struct hop_port *port, u64 now, struct sk_buff_head *list)
{
	struct hop_writer w;
	struct sk_buff *skb;

	if (now < hello_next(port))
		return;
	hello_done(port, now);
	skb = hop_frame_new(port, HOP_FRAME_REST);
	if (!skb)
		return;
	hop_frame_begin(&w, skb_tail_pointer(skb), HOP_FRAME_REST, port->epoch, port->peer.epoch);
	hop_frame_add_goodbye(&w);
	frame_queue(skb, &w, ETH_ZLEN - ETH_HLEN, list);
}

static void build_probe(struct hop_port *port, unsigned int size, u32 nonce,
			struct sk_buff_head *list)
{
	struct hop_probe probe = { .nonce = nonce, .vid = port->probing.vid, .size = size };
	unsigned int bytes = size - VLAN_ETH_HLEN;
	struct sk_buff *skb = hop_frame_new(port, bytes);
	struct hop_writer w;

	if (!skb)
		return;
	hop_frame_begin(&w, skb_tail_pointer(skb), bytes, port->epoch, port->peer.epoch);
	hop_frame_add_probe(&w, HOP_TLV_PROBE, &probe);
	__vlan_hwaccel_put_tag(skb, htons(port->cfg.tpid), probe.vid);
	frame_queue(skb, &w, bytes, list);
	port->stats.probe_tx++;
}

static void build_probes(struct hop_port *port, u64 now, struct sk_buff_head *list)
{
	unsigned int size = hop_probe_size(port);
	const struct hop_probing *p = &port->probing;

	if (hop_probe_judge(port, now))
		hop_peer_state(port, now);
	if (!hop_probe_due(port, now))
		return;
	build_probe(port, size, p->nonce, list);
	if (p->tries == 1)
		build_probe(port, size + VLAN_HLEN, p->long_nonce, list);
	if (p->failed || p->tries > 1)
		build_probe(port, HOP_PROBE_SMALL, p->small_nonce, list);
}

/* What a HELLO says is to be so when it leaves. */
static void tx_look(struct hop_port *port, u64 now)
{
	if (now < hello_next(port))
		return;
	hop_peer_role(port);
	hop_peer_filters(port);
}

static void tx_build(struct hop_port *port, u64 now, struct sk_buff_head *list)
{
	if (!port->carrier || now < port->retry_at)
		return;
	port->retry_at = 0;
	if (port->leaving) {
		build_goodbye(port, now, list);
		return;
	}
	tx_look(port, now);
	hop_streams_collect(port, now);
	if (now >= hello_next(port) || port->acks || port->n_echoes ||
	    now >= hop_streams_next(port) || (port->counting && hop_blocks_due(port, now)))
		do {
			build_frame(port, now, list);
		} while (port->n_echoes && !port->retry_at);
	build_probes(port, now, list);
}

/* When is there something to do next? Nothing is sent before a busy device is tried again. */
static u64 tx_next(const struct hop_port *port)
{
	u64 at = U64_MAX, limit = min3(hop_peer_next(port), hop_streams_lease(port),
				       hop_paused_next(port));

	if (port->carrier) {
		at = hello_next(port);
		if (!port->leaving)
			at = min3(at, hop_streams_next(port), hop_probe_next(port));
		if (unlikely(port->counting) && !port->leaving)
			at = min(at, hop_blocks_next(port));
		at = max(at, port->retry_at);
	}
	if (port->events)
		limit = min(limit, port->event_at);
	return min(at, limit);
}

static void tx_arm(struct hop_port *port)
{
	u64 at = tx_next(port);

	if (port->dying || at == U64_MAX)
		return;
	if (hrtimer_is_queued(&port->timer) &&
	    ktime_to_ns(hrtimer_get_expires(&port->timer)) == at)
		return;
	hrtimer_start(&port->timer, ns_to_ktime(at), HRTIMER_MODE_ABS_SOFT);
}

/* The device did not take it: everything that was in it is still to be said. */
static void tx_unsent(struct hop_port *port, const struct hop_tx_cb *unsent)
{
	u64 wait = hop_link_wire_ns(port, READ_ONCE(port->dev->mtu) + VLAN_ETH_HLEN);
	u64 now = hop_now();

	lockdep_assert_held(&port->lock);
	port->stats.tx_busy++;
	port->retry_at = now + (wait ? max(wait, BUSY_MIN_NS) : BUSY_UNKNOWN_NS);
	hop_streams_unsaid(port, unsent->said);
	if (unsent->blocks && port->peer.up)
		hop_blocks_unsaid(port);
	if (port->peer.up)
		port->acks |= unsent->acked;
	if (unsent->hello)
		hop_hello_soon(port, now);
}

static void tx_add(struct hop_tx_cb *unsent, const struct hop_tx_cb *cb)
{
	unsent->hello |= cb->hello;
	unsent->said |= cb->said;
	unsent->acked |= cb->acked;
	unsent->blocks |= cb->blocks;
}

/* Past the qdisc. Return: true if the device did not take all; what, is in @unsent. */
static bool tx_send(struct hop_port *port, struct sk_buff_head *list, struct hop_tx_cb *unsent)
{
	struct hop_tx_cb cb;
	struct sk_buff *skb;
	bool busy = false;

	*unsent = (struct hop_tx_cb) {};
	while ((skb = __skb_dequeue(list))) {
		int ret;

		cb = *tx_cb(skb);
		ret = __dev_direct_xmit(skb, READ_ONCE(port->dev->real_num_tx_queues) - 1);
		if (dev_xmit_complete(ret))
			continue;
		kfree_skb(skb);
		tx_add(unsent, &cb);
		busy = true;
	}
	return busy;
}

/* ---- what has to leave at once ----
 *
 * A pause saves as many bytes as it leaves earlier. The worker is a tasklet: after the batch of
 * packets that the processor is at. Where no qdisc's lock is held, which is where the next packet
 * comes in, frames with pauses may be sent as well, if neither the port nor the device is in use:
 * else it is left to the next packet, or to the worker.
 */

/* Frames with pauses, and what else is due to the neighbour; port's lock */
static void urgent_build(struct hop_port *port, u64 now, struct sk_buff_head *list)
{
	if (port->dying || port->leaving || !port->carrier || now < port->retry_at)
		return;
	tx_look(port, now);
	hop_streams_collect(port, now);
	if (now >= hop_streams_next(port))
		build_frame(port, now, list);
	tx_arm(port);
}

/* To send by a VLAN device, a bond or the like is to go through the qdisc of another device. Who
 * redirects packets from a filter of that qdisc to another device's ingress (act_mirred, in
 * kernels that do so without a backlog) comes to the receive hook with its lock.
 */
static bool urgent_is_stacked(const struct net_device *dev)
{
	return !list_empty(&dev->adj_list.lower);
}

/* Return: false if the port or its device was in use. */
static bool urgent_try(struct hop_port *port)
{
	unsigned int queue = READ_ONCE(port->dev->real_num_tx_queues) - 1;
	struct netdev_queue *txq = netdev_get_tx_queue(port->dev, queue);
	struct sk_buff_head list;
	struct sk_buff *skb;
	struct hop_tx_cb unsent = {}, cb;
	bool busy = false;

	/* the worker knows what to do then */
	if (!netif_running(port->dev) || !netif_carrier_ok(port->dev) ||
	    netif_xmit_frozen_or_drv_stopped(txq) || urgent_is_stacked(port->dev))
		return true;
	if (!HARD_TX_TRYLOCK(port->dev, txq))
		return false;
	if (netif_xmit_frozen_or_drv_stopped(txq) || !spin_trylock(&port->lock)) {
		HARD_TX_UNLOCK(port->dev, txq);
		return false;
	}
	__skb_queue_head_init(&list);
	urgent_build(port, hop_now(), &list);
	spin_unlock(&port->lock);

	while ((skb = __skb_dequeue(&list))) {
		cb = *tx_cb(skb);
		skb_set_queue_mapping(skb, queue);
		if (!dev_xmit_complete(netdev_start_xmit(skb, port->dev, txq, false))) {
			kfree_skb(skb);
			tx_add(&unsent, &cb);
			busy = true;
		}
	}
	HARD_TX_UNLOCK(port->dev, txq);
	if (unlikely(busy)) {
		spin_lock(&port->lock);
		tx_unsent(port, &unsent);
		tx_arm(port);
		spin_unlock(&port->lock);
	}
	return true;
}

/**
 * hop_urgent_send - send for the ports whose pauses have changed on this processor
 *
 * Context: a receive hook: RCU, softirqs off, no lock of a qdisc. A virtual device may deliver
 * what is sent within the call, and so come here again.
 */
void hop_urgent_send(void)
{
	struct hop_urgent *u = this_cpu_ptr(&hop_urgent);
	struct hop_port *port;
	unsigned int i;

	if (u->sending)
		return;
	u->sending = true;
	u->any = false;
	for (i = 0; i < HOP_URGENT; i++) {
		if (!READ_ONCE(u->port[i]))
			continue;
		port = xchg(&u->port[i], NULL);
		/* not one that is being taken away: hop_urgent_del() may have been here */
		if (port && !urgent_try(port) && !READ_ONCE(port->dying))
			hop_urgent_add(port);
	}
	u->sending = false;
}

/* Return: what is to be told now of what has happened. */
static u32 tx_events(struct hop_port *port, u64 now)
{
	u32 events = port->events;

	if (!events || now < port->event_at)
		return 0;
	port->events = 0;
	port->event_at = now + HOP_EVENT_EVERY_NS;
	return events;
}

void hop_tx_work(struct tasklet_struct *t)
{
	struct hop_port *port = from_tasklet(port, t, work);
	struct sk_buff_head list;
	struct hop_tx_cb unsent;
	u32 events = 0;
	bool busy;
	u64 now;

	__skb_queue_head_init(&list);
	rcu_read_lock();
	spin_lock_bh(&port->lock);
	now = hop_now();	/* not before what hop_urgent_send() has sent meanwhile */
	if (!port->dying) {
		hop_peer_expire(port, now);
		hop_streams_expire(port, now);
		hop_paused_run(port, now);
		if (unlikely(port->counting))
			hop_blocks_run(port, now);
		tx_build(port, now, &list);
		events = tx_events(port, now);
		tx_arm(port);
	}
	spin_unlock_bh(&port->lock);

	busy = tx_send(port, &list, &unsent);
	if (busy) {
		spin_lock_bh(&port->lock);
		tx_unsent(port, &unsent);
		tx_arm(port);
		spin_unlock_bh(&port->lock);
	}
	if (events)
		hop_event_send(port, events);
	rcu_read_unlock();
}

enum hrtimer_restart hop_tx_timer(struct hrtimer *timer)
{
	struct hop_port *port = container_of(timer, struct hop_port, timer);

	tasklet_schedule(&port->work);
	return HRTIMER_NORESTART;
}
