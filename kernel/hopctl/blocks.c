// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - the blocks of data that a port sends and receives
 *
 * Sent. The worker ends a block: it gives the port's members a new generation and kicks them. Each
 * of them hands out END from its next dequeue, for each of its transmit queues, and goes on with
 * the next block. What is not answered is repeated, after 1, 2, 4 ... times what an answer takes,
 * soon where a window may wait for it. Blocks end while anything is outstanding, and until the
 * neighbour has answered twice. One that lives, as its HELLOs say, and does not answer for long
 * would limit us for ever: nothing is valid then, until it has answered twice again.
 *
 * Received. The hook counts data by blocks (tag.c). When END has come by all transmit queues, the
 * block is complete and the neighbour is told so, with the balances that it asked for. Where frames
 * of one link may come to different processors, or be put together, only after SETTLE_NS. Balances
 * that have changed are told without being asked for, every hop_config.balances_ns.
 *
 *   protector          what
 *   port's lock        hop_blocks.tx and what is about time, .acks, .asked, .say
 *   and rx_lock        hop_blocks.rx and what hop_blocks_ops.received() returns; the hook, which
 *                      counts, has rx_lock alone
 *   qdisc lock         hop_member.blocks; join and leave, under RTNL, come before the first
 *                      dequeue and after the last
 *   released, acquired hop_blocks.gen, after .block
 *   atomic bits        hop_blocks.tell
 *   READ_ONCE          hop_blocks.ops, .valid, .block, .any, hop_member.blocks.owes, .seen
 *
 * Lock order: port's lock, rx_lock. Nothing of it is held when a qdisc's lock is taken.
 */
#include <net/netdev_rx_queue.h>
#include <net/sch_generic.h>

#include "port.h"

/* As long as a processor may go on with what it has (net.core.netdev_budget_usecs) */
#define SETTLE_NS	(2 * NSEC_PER_MSEC)
#define REPEAT_MAX_NS	(100 * NSEC_PER_MSEC)
#define REPEAT_VALID_NS	NSEC_PER_MSEC	/* where a window may wait for the answer */
#define LANES_SHARE	4	/* of which END by all transmit queues takes one */
#define LANES_MAX_NS	(500 * NSEC_PER_MSEC)	/* one that hung meanwhile took longer */
#define VALID_ACKS	2	/* blocks after which the neighbour may tell balances */
#define UNANSWERED_NS	(2ULL * NSEC_PER_SEC)	/* after which what it told counts no more */

static bool blocks_kin(const struct hop_port *port)
{
	const struct hop_blocks_ops *ops = port->blocks.ops;

	return ops && port->peer.up && hop_port_has_kind(port, ops->kind) &&
	       (!ops->switches || (port->role == HOP_ROLE_SWITCH &&
				   hop_peer_taken_for(port) == HOP_ROLE_SWITCH));
}

/* Members are to look: at a new generation, or whether something is valid. */
static void blocks_kick(struct hop_port *port)
{
	struct hop_member *m;

	smp_mb();	/* what changed before the qdisc's SCHED and RUNNING bits, as in paused.c */
	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		if (m->blocks.gen)
			__netif_schedule(qdisc_root(m->sch));
}

static bool blocks_owe(const struct hop_port *port)
{
	const struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		if (READ_ONCE(m->blocks.owes))
			return true;
	return false;
}

int hop_blocks_join(struct hop_member *m, const struct hop_blocks_ops *ops)
{
	struct hop_port *port = m->port;
	struct hop_blocks *b = &port->blocks;

	ASSERT_RTNL();
	if (port->dev->num_tx_queues > HOP_FRAME_LANES)
		return -EOPNOTSUPP;
	if (b->members && b->ops != ops)
		return -EBUSY;
	spin_lock_bh(&port->lock);
	if (!b->tx.block)
		hop_ledger_tx_start(&b->tx);
	WRITE_ONCE(b->block, b->tx.block);
	m->blocks.tx = b->tx;
	WRITE_ONCE(b->ops, ops);
	/* END first, if there is somebody to hear it */
	m->blocks.seen = b->gen - blocks_kin(port);
	m->blocks.sending = m->blocks.seen;
	m->blocks.left = U64_MAX;
	WRITE_ONCE(b->kin, blocks_kin(port));
	m->blocks.kin = &b->kin;
	m->blocks.valid = &b->valid;
	m->blocks.gen = &b->gen;
	b->members++;
	WRITE_ONCE(port->counting, true);
	hop_port_wake(port);
	spin_unlock_bh(&port->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_blocks_join);

void hop_blocks_leave(struct hop_member *m)
{
	struct hop_port *port = m->port;

	ASSERT_RTNL();
	if (!port || !m->blocks.gen)
		return;
	spin_lock_bh(&port->lock);
	m->blocks.gen = NULL;
	WRITE_ONCE(m->blocks.kin, NULL);	/* who looks has no lock */
	WRITE_ONCE(m->blocks.valid, NULL);
	if (!--port->blocks.members) {
		WRITE_ONCE(port->counting, false);
		WRITE_ONCE(port->blocks.ops, NULL);
		WRITE_ONCE(port->blocks.valid, false);
		port->blocks.acks = 0;
		hop_blocks_forget(port);	/* what comes now is not counted */
	}
	spin_unlock_bh(&port->lock);
}
EXPORT_SYMBOL_GPL(hop_blocks_leave);

/* ---- sent ---- */

static struct sk_buff *end_build(struct hop_member *m, unsigned int lane, unsigned int lanes)
{
	struct hop_port *port = m->port;
	const struct hop_blocks_ops *ops = READ_ONCE(port->blocks.ops);
	struct hop_end end = {
		.block = hop_ledger_tx_ended(&m->blocks.tx), .lane = lane, .lanes = lanes,
	};
	u16 keys[HOP_FRAME_ASKS];
	struct hop_writer w;
	struct sk_buff *skb;

	/* what is asked once need not be by each transmit queue */
	if (ops && m->blocks.sending != m->blocks.asked) {
		end.count = ops->asks(m, keys, HOP_FRAME_ASKS);
		m->blocks.asked = m->blocks.sending;
	}
	skb = hop_frame_new(port, HOP_FRAME_REST + end.count * sizeof(*keys));
	if (!skb)
		return NULL;
	/* not from one moment, perhaps: a frame with a wrong epoch is dropped, and repeated */
	hop_frame_begin(&w, skb_tail_pointer(skb), HOP_FRAME_REST + end.count * sizeof(*keys),
			READ_ONCE(port->epoch), READ_ONCE(port->peer.epoch));
	hop_frame_add_end(&w, &end, keys);
	hop_frame_close(skb, &w, ETH_ZLEN - ETH_HLEN);
	skb->priority = 0;	/* or a card may send it ahead */
	skb_set_queue_mapping(skb, lane);
	qdisc_skb_cb(skb)->pkt_len = skb->len;
	return skb;
}

/* The port is at a block that the member has not begun yet. */
static void end_adopt(struct hop_member *m, u32 gen)
{
	struct hop_ledger_tx *tx = &m->blocks.tx;

	m->blocks.sending = gen;
	m->blocks.lane = 0;
	m->blocks.first_at = hop_now();
	tx->block += (u32)(READ_ONCE(m->port->blocks.block) - (u32)tx->block);
	tx->acked = false;
}

/**
 * hop_blocks_end - END by the next of a member's transmit queues
 * @m: a member
 * @alone: see hop_blocks_dequeue()
 *
 * Return: the frame; NULL if a packet goes first or there is no memory, and then it is tried again.
 */
struct sk_buff *hop_blocks_end(struct hop_member *m, bool alone)
{
	u32 gen = smp_load_acquire(m->blocks.gen);	/* before .block */
	struct net_device *dev = m->port->dev;
	unsigned int lanes = READ_ONCE(dev->real_num_tx_queues), lane;
	struct Qdisc *sch = m->sch;
	struct sk_buff *skb;
	bool one;

	if (gen != m->blocks.sending) {
		if (!alone && m->blocks.left == u64_stats_read(&sch->bstats.packets))
			return NULL;
		end_adopt(m, gen);
	}
	one = qdisc_root_bh(sch)->flags & TCQ_F_ONETXQUEUE;
	lane = one ? sch->dev_queue - dev->_tx : m->blocks.lane;
	if (lane < lanes) {
		skb = end_build(m, lane, lanes);
		if (!skb)
			return NULL;
	} else {
		skb = NULL;	/* there are fewer now */
	}
	if (one || ++m->blocks.lane >= lanes) {
		WRITE_ONCE(m->blocks.left_at, hop_now());
		WRITE_ONCE(m->blocks.took_ns, m->blocks.left_at - m->blocks.first_at);
		smp_store_release(&m->blocks.seen, gen);	/* after .left_at */
		m->blocks.left = u64_stats_read(&sch->bstats.packets) + !!skb;
	}
	if (!skb)
		return NULL;
	/* it comes from nowhere for the parents, which count what leaves; see hop_egress_tell() */
	sch->q.qlen++;
	qdisc_tree_reduce_backlog(sch, -1, -(int)qdisc_pkt_len(skb));
	sch->q.qlen--;
	return skb;
}
EXPORT_SYMBOL_GPL(hop_blocks_end);

void hop_blocks_owe(struct hop_member *m, bool owes)
{
	if (m->blocks.owes == owes)
		return;
	WRITE_ONCE(m->blocks.owes, owes);
	if (owes)
		hop_tell(m);
}
EXPORT_SYMBOL_GPL(hop_blocks_owe);

/* However many transmit queues there are, END leaves room for data: on the line, where the queues
 * may hold it, and at what is above the qdisc.
 */
static u64 blocks_least_ns(const struct hop_port *port)
{
	u64 took = READ_ONCE(port->dev->real_num_tx_queues) * hop_link_wire_ns(port, ETH_ZLEN);
	const struct hop_member *m;

	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock))
		if (m->blocks.gen)
			took = max_t(u64, took, READ_ONCE(m->blocks.took_ns));
	return min_t(u64, LANES_SHARE * took, LANES_MAX_NS);
}

/* When an answer is overdue */
static u64 blocks_answer_ns(const struct hop_port *port)
{
	return max(hop_streams_echo_ns(port), blocks_least_ns(port));
}

/* When a block is to end, or END is to be repeated */
static u64 blocks_end_at(const struct hop_port *port)
{
	const struct hop_blocks *b = &port->blocks;

	if (!blocks_kin(port))
		return U64_MAX;
	if (b->tx.acked && b->valid && !blocks_owe(port))
		return U64_MAX;
	return b->ended_ns + b->next_ns;
}

static void blocks_invalidate(struct hop_port *port)
{
	struct hop_blocks *b = &port->blocks;

	b->acks = 0;
	if (!b->valid)
		return;
	WRITE_ONCE(b->valid, false);
	blocks_kick(port);
}

/* Has END left by all transmit queues? A device that hangs has not asked for it. Sets @since to how
 * long ago that was.
 */
static bool blocks_end_left(const struct hop_port *port, u64 now, u32 *since)
{
	const struct hop_member *m;
	s32 ago;

	*since = S32_MAX;
	list_for_each_entry_rcu(m, &port->members, node, lockdep_is_held(&port->lock)) {
		if (!m->blocks.gen)
			continue;
		if (smp_load_acquire(&m->blocks.seen) != port->blocks.gen)
			return false;
		ago = (u32)now - READ_ONCE(m->blocks.left_at);
		*since = min_t(u32, *since, max(ago, 0));	/* it may have left since @now */
	}
	return true;
}

/* END has not been answered. What has not left yet is not to begin with the first transmit queue
 * again, and is no question.
 *
 * Return: it is said again.
 */
static bool blocks_repeat(struct hop_port *port, u64 now)
{
	struct hop_blocks *b = &port->blocks;
	u64 most = REPEAT_MAX_NS, passed;
	u32 since;

	if (!blocks_end_left(port, now, &since)) {
		passed = now - b->ended_ns;
		b->next_ns = max(blocks_answer_ns(port), passed + min(passed, most));
		return false;
	}
	if (b->valid) {
		b->unanswered_ns += since;
		if (b->unanswered_ns >= UNANSWERED_NS) {
			port->stats.unanswered++;
			blocks_invalidate(port);
		} else {
			most = REPEAT_VALID_NS;
		}
	}
	b->next_ns = max(blocks_answer_ns(port), min(2 * b->next_ns, most));
	return true;
}

static void blocks_end(struct hop_port *port, u64 now)
{
	struct hop_blocks *b = &port->blocks;

	if (hop_ledger_tx_end(&b->tx)) {
		b->unanswered_ns = 0;
		b->next_ns = blocks_answer_ns(port);
	} else if (!blocks_repeat(port, now)) {
		blocks_kick(port);
		return;
	}
	b->ended_ns = now;
	WRITE_ONCE(b->block, b->tx.block);
	smp_store_release(&b->gen, b->gen + 1);	/* after .block */
	blocks_kick(port);
}

static void blocks_acked(struct hop_port *port, u32 block)
{
	struct hop_blocks *b = &port->blocks;

	if (b->tx.acked)
		return;
	hop_ledger_acked(&b->tx, block);
	if (!b->tx.acked)
		return;
	b->next_ns = max(hop_streams_refresh_ns(port), blocks_least_ns(port));
	if (b->acks < VALID_ACKS && ++b->acks == VALID_ACKS) {
		WRITE_ONCE(b->valid, true);
		blocks_kick(port);
	}
	hop_port_wake(port);
}

/**
 * hop_blocks_rx_balances - the neighbour tells what has come
 * @port: the port
 * @told: that
 */
void hop_blocks_rx_balances(struct hop_port *port, const struct hop_balances *told)
{
	const struct hop_blocks_ops *ops = port->blocks.ops;
	unsigned int i;
	s32 bytes;
	u16 key;

	lockdep_assert_held(&port->lock);
	if (!blocks_kin(port)) {
		port->stats.rx_untrusted++;
		return;
	}
	for (i = 0; i < told->count; i++) {
		bytes = hop_balances_get(told, i, &key);
		ops->told(port, key, told->block, bytes);
	}
	blocks_acked(port, told->block);
}

/* ---- received ---- */

/* All data of the gathered block has come. rx_lock. */
static void blocks_complete(struct hop_port *port)
{
	struct hop_blocks *b = &port->blocks;
	unsigned int key;

	hop_ledger_complete(&b->rx);
	for_each_set_bit(key, b->asked, HOP_BLOCKS_KEYS)
		set_bit(key, b->tell);
	bitmap_zero(b->asked, HOP_BLOCKS_KEYS);
	b->ripe_at = U64_MAX;
	b->say = true;
}

/* May data come out of the device, or of the stack below the hook, later than END that was sent
 * behind it? Then not by more than what a processor does in one go, unless it was told to keep
 * packets longer (gro_flush_timeout).
 */
static bool device_reorders(const struct net_device *dev)
{
#ifdef CONFIG_RPS
	if (rcu_access_pointer(dev->_rx->rps_map))
		return true;
#endif
	return READ_ONCE(dev->real_num_rx_queues) > 1 ||
	       (dev->features & NETIF_F_GRO && !list_empty(&dev->napi_list));
}

static void end_asks(const struct hop_end *end, unsigned long *to)
{
	unsigned int i;
	u16 key;

	for (i = 0; i < end->count; i++) {
		key = hop_end_key(end, i);
		if (key < HOP_BLOCKS_KEYS)
			set_bit(key, to);
	}
}

/**
 * hop_blocks_rx_end - END
 * @port: the port
 * @end: what it says
 * @now: time
 */
void hop_blocks_rx_end(struct hop_port *port, const struct hop_end *end, u64 now)
{
	struct hop_blocks *b = &port->blocks;

	lockdep_assert_held(&port->lock);
	if (!blocks_kin(port)) {
		port->stats.rx_untrusted++;
		return;
	}
	spin_lock(&b->rx_lock);
	if (hop_ledger_is_complete(&b->rx, end->block)) {
		end_asks(end, b->tell);
		b->say = true;
	} else {
		end_asks(end, b->asked);
		if (hop_ledger_gather(&b->rx, end->block, end->lane, end->lanes)) {
			if (device_reorders(port->dev))
				b->ripe_at = now + SETTLE_NS;
			else
				blocks_complete(port);
		}
	}
	spin_unlock(&b->rx_lock);
	hop_peer_alive(port, now);
	hop_port_wake(port);
}

static void blocks_work(struct hop_port *port)
{
	if (!READ_ONCE(port->dying))
		tasklet_schedule(&port->work);
}

/* A balance has changed, and that of no other key is waited for. */
static void blocks_any(struct hop_port *port, bool hurry)
{
	if (unlikely(hurry))
		WRITE_ONCE(port->blocks.hurry, true);
	WRITE_ONCE(port->blocks.any, true);
	blocks_work(port);
}

/* Is so much of what has come gone again that it is not to wait for others? */
static bool blocks_much(const struct hop_port *port, unsigned int queue, u64 untold)
{
	u32 most = READ_ONCE(port->cfg.balances_bytes);

	return unlikely(most && untold >= most && !READ_ONCE(port->blocks.hurry)) &&
	       untold >= (u64)most + hop_ingress_bytes(port, queue);
}

/**
 * hop_blocks_came - data has come, and is not queued by a member yet
 * @port: the port
 * @queue: by which of the neighbour's sub-queues
 * @untold: bytes of it that the neighbour has not been told of, queued or not
 *
 * It may never be: it is delivered, dropped, or leaves by another kind's port, and nobody says that
 * it has left. So the balance is told after as long as a change waits for others, or when that is
 * much.
 */
void hop_blocks_came(struct hop_port *port, unsigned int queue, u64 untold)
{
	struct hop_blocks *b = &port->blocks;

	if (queue >= HOP_BLOCKS_KEYS)
		return;
	if (blocks_much(port, queue, untold)) {
		test_and_set_bit(queue, b->tell);	/* with full ordering */
		blocks_any(port, true);
		return;
	}
	if (test_bit(queue, b->tell) || test_and_set_bit(queue, b->tell))
		return;
	if (READ_ONCE(b->any) || READ_ONCE(b->came_ns))
		return;
	WRITE_ONCE(b->came_ns, hop_now());
	blocks_work(port);
}

void hop_blocks_left(const struct hop_member *m, u16 handle, bool hurry)
{
	unsigned int queue;
	struct hop_port *port = hop_handle_owner(m->net, handle, &queue);

	if (!port || queue >= HOP_BLOCKS_KEYS || !READ_ONCE(port->blocks.ops))
		return;
	if (test_and_set_bit(queue, port->blocks.tell) && READ_ONCE(port->blocks.any) && !hurry)
		return;
	blocks_any(port, hurry);
}
EXPORT_SYMBOL_GPL(hop_blocks_left);

static u64 blocks_wait_ns(const struct hop_port *port)
{
	u32 frame = READ_ONCE(port->dev->mtu) + ETH_HLEN;

	if (!port->cfg.balances_ns)
		return 0;
	return max_t(u64, port->cfg.balances_ns,
		     HOP_BALANCES_FRAMES * hop_link_wire_ns(port, frame));
}

/* When the neighbour is to be told something */
static u64 blocks_say_at(const struct hop_port *port)
{
	const struct hop_blocks *b = &port->blocks;
	u64 came_ns = READ_ONCE(b->came_ns), next_ns = port->spacing.next_ns;

	if (!blocks_kin(port))
		return U64_MAX;
	if (b->say)
		return next_ns;
	if (b->rx.state != HOP_LEDGER_VALID)
		return U64_MAX;
	if (READ_ONCE(b->any))
		return READ_ONCE(b->hurry) ? next_ns :
					     max(next_ns, b->told_ns + blocks_wait_ns(port));
	return came_ns ? max(next_ns, came_ns + blocks_wait_ns(port)) : U64_MAX;
}

/* As in struct hop_tlv_balance */
struct balance {
	u16	key;
	s32	bytes;
};

/* Return: how many there are, up to @most. */
static unsigned int blocks_balances(struct hop_port *port, struct balance *to, unsigned int most)
{
	struct hop_blocks *b = &port->blocks;
	unsigned int key, n = 0;
	s64 bytes;

	if (b->rx.state != HOP_LEDGER_VALID)
		return 0;
	WRITE_ONCE(b->hurry, false);
	WRITE_ONCE(b->came_ns, 0);
	smp_store_mb(b->any, false);	/* before the bits are looked at */
	for_each_set_bit(key, b->tell, HOP_BLOCKS_KEYS) {
		if (n == most) {
			WRITE_ONCE(b->any, true);
			break;
		}
		/* with full ordering, before what it stands for is read */
		if (!test_and_clear_bit(key, b->tell))
			continue;
		bytes = b->ops->balance(port, &b->rx, key);
		if (bytes != (s32)bytes)
			continue;
		to[n++] = (struct balance) { .key = key, .bytes = bytes };
	}
	return n;
}

/**
 * hop_blocks_write - add what is due to a frame
 * @port: the port
 * @w: the frame
 * @now: time
 *
 * Return: true if anything was added.
 */
bool hop_blocks_write(struct hop_port *port, struct hop_writer *w, u64 now)
{
	struct hop_blocks *b = &port->blocks;
	struct balance balances[HOP_FRAME_BALANCES];
	unsigned int i, n, most = hop_frame_balances_room(w);
	u32 block;
	u8 *to;

	lockdep_assert_held(&port->lock);
	if (now < blocks_say_at(port) || !most)
		return false;
	if (b->rx.state == HOP_LEDGER_UNKNOWN)	/* said once, and the device did not take it */
		b->say = false;
	spin_lock(&b->rx_lock);
	n = blocks_balances(port, balances, most);
	block = b->rx.complete;
	spin_unlock(&b->rx_lock);
	if (!n && !b->say)
		return false;
	to = hop_frame_add_balances(w, block, n);
	if (!to)
		return false;
	for (i = 0; i < n; i++)
		hop_frame_put_balance(to, i, balances[i].key, balances[i].bytes);
	b->say = false;
	b->told_ns = now;
	hop_streams_space(port, ETH_HLEN + w->used, now);
	return true;
}

/* The device did not take the frame. What was told of keys will be asked for. */
void hop_blocks_unsaid(struct hop_port *port)
{
	lockdep_assert_held(&port->lock);
	port->blocks.say = true;
}

/* ---- the neighbour ---- */

void hop_blocks_init(struct hop_port *port)
{
	spin_lock_init(&port->blocks.rx_lock);
	port->blocks.ripe_at = U64_MAX;
}

/* There is one. END is said at once, since what it knows is not known. */
void hop_blocks_start(struct hop_port *port, u64 now)
{
	port->blocks.ended_ns = now;
	port->blocks.next_ns = 0;
	port->blocks.unanswered_ns = 0;
}

/* There is none any more: what is outstanding means nothing. */
void hop_blocks_stop(struct hop_port *port)
{
	port->blocks.say = false;
	blocks_invalidate(port);
}

/* Its kinds or ours, its role or ours, may be others than before. */
void hop_blocks_judge(struct hop_port *port)
{
	WRITE_ONCE(port->blocks.kin, blocks_kin(port));
	if (!port->blocks.kin)
		hop_blocks_stop(port);
}

/* It is another one, or it has started anew, or nobody counts any more. */
void hop_blocks_forget(struct hop_port *port)
{
	struct hop_blocks *b = &port->blocks;

	spin_lock(&b->rx_lock);
	hop_ledger_rx_restart(&b->rx);
	bitmap_zero(b->asked, HOP_BLOCKS_KEYS);
	b->ripe_at = U64_MAX;
	spin_unlock(&b->rx_lock);
}

/* ---- time ---- */

u64 hop_blocks_next(const struct hop_port *port)
{
	return min3(blocks_end_at(port), blocks_say_at(port), port->blocks.ripe_at);
}

/* Is there a frame to send? */
bool hop_blocks_due(const struct hop_port *port, u64 now)
{
	return now >= blocks_say_at(port);
}

void hop_blocks_run(struct hop_port *port, u64 now)
{
	struct hop_blocks *b = &port->blocks;

	lockdep_assert_held(&port->lock);
	if (now >= b->ripe_at) {
		spin_lock(&b->rx_lock);
		blocks_complete(port);
		spin_unlock(&b->rx_lock);
	}
	if (now >= blocks_end_at(port))
		blocks_end(port, now);
}
