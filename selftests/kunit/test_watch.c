// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_watch.c - a pause counter that no packet holds
 *
 * No packet can be lost past its qdisc, so from outside a counter cannot be made to leak. Here
 * one is: a packet is counted, and then forgotten without a word. What the sub-queue is paused for
 * is gone, so it has to be resumed (BFC, section 3.3.2: when the counter is 0).
 */
#include "../../kernel/hopctl/paused.c"
#include "../../kernel/hopctl/watch.c"
#include "port.h"

#define WATCH_QUEUES	71
#define WATCH_QUEUE	70	/* of the neighbour's: the last one, in the second word */

/**
 * struct watch_box - what a port needs to count pauses
 * @net: its namespace's part
 * @member: its only qdisc
 */
struct watch_box {
	struct hop_net		net;
	struct hop_member	member;
};

/* One that asks nothing but what the port knows */
static const struct hop_member_ops watch_ops;

static int watch_init(struct kunit *test)
{
	struct watch_box *box = kunit_kzalloc(test, sizeof(*box), GFP_KERNEL);
	struct hop_port *port;
	int err;

	if (!box)
		return -ENOMEM;
	err = sluice_port_init(test);
	if (err)
		return err;
	port = test->priv;
	port->net = &box->net;
	port->pauses_one = true;	/* as with a neighbour of its kind */
	err = sluice_net_init(&box->net);
	box->member.port = port;
	box->member.net = &box->net;
	box->member.sch = &noop_qdisc;
	box->member.ops = &watch_ops;
	box->member.count = 1;
	box->member.paused = port->paused;
	list_add_tail_rcu(&box->member.node, &port->members);
	watching = false;

	rtnl_lock();
	spin_lock_bh(&port->lock);
	if (!err)
		hop_range_get(port, WATCH_QUEUES);
	spin_unlock_bh(&port->lock);
	list_add_tail_rcu(&port->node, &hop_ports);
	rtnl_unlock();
	return err;
}

static void watch_exit(struct kunit *test)
{
	struct hop_port *port = test->priv;

	if (!port)
		return;
	cancel_delayed_work_sync(&withdraw_work);
	rtnl_lock();
	list_del_rcu(&port->node);
	rtnl_unlock();
	spin_lock_bh(&port->lock);
	hop_range_put(port);
	spin_unlock_bh(&port->lock);
	synchronize_net();
	sluice_net_exit(port->net);
	sluice_port_exit(test);
}

static struct hop_member *watch_member(struct hop_port *port)
{
	return list_first_entry(&port->members, struct hop_member, node);
}

/* A packet of that sub-queue of the neighbour's is over the threshold. */
static void watch_mark(struct hop_port *port, unsigned int queue)
{
	rcu_read_lock_bh();	/* as a qdisc's work */
	hop_pause_inc(watch_member(port), (port->handles >> 16) + queue);
	rcu_read_unlock_bh();
}

/* It is gone, and nobody was told. */
static void watch_forget(struct hop_port *port)
{
	watch_member(port)->marked--;
}

/* The watchdog's look, by itself */
static void watch_look(void)
{
	watch_pausing(NULL);
	cancel_delayed_work_sync(&withdraw_work);
}

/* What the neighbour is to be told of a word of its sub-queues */
static u64 watch_word(struct hop_port *port, unsigned int word)
{
	u64 bits;

	spin_lock_bh(&port->lock);
	bits = hop_range_word(port, word);
	spin_unlock_bh(&port->lock);
	return bits;
}

static void watch_leak(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int word = WATCH_QUEUE / 64;

	KUNIT_ASSERT_GE(test, port->handles & 0xffff, WATCH_QUEUES);
	watch_mark(port, WATCH_QUEUE);
	watch_mark(port, WATCH_QUEUE);
	watch_forget(port);
	watch_forget(port);
	KUNIT_EXPECT_EQ(test, watch_word(port, word), BIT_ULL(WATCH_QUEUE % 64));
	bitmap_zero(port->pausing_dirty, HOP_BITMAP_WORDS);

	watch_look();
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 2);
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 0);
	watch_look();
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 0);
	KUNIT_EXPECT_EQ(test, watch_word(port, word), 0);
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 1);
	/* the neighbour is told, of this word and no other */
	KUNIT_EXPECT_TRUE(test, test_bit(word, port->pausing_dirty));
	KUNIT_EXPECT_EQ(test, bitmap_weight(port->pausing_dirty, HOP_BITMAP_WORDS), 1);

	/* once, and the counter counts as before */
	watch_look();
	watch_look();
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 1);
	watch_mark(port, WATCH_QUEUE);
	KUNIT_EXPECT_EQ(test, watch_word(port, word), BIT_ULL(WATCH_QUEUE % 64));
}

/* A counter that a packet holds, or did at one of two looks, is no leak, however long it lasts. */
static void watch_held(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int i;

	watch_mark(port, WATCH_QUEUE);
	for (i = 0; i < 4; i++)
		watch_look();
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 1);

	/* forgotten now: seen by one look, and held by another packet at the next */
	watch_forget(port);
	watch_look();
	watch_mark(port, WATCH_QUEUE);
	watch_look();
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 2);
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 0);
}

/* Two looks that see another sum each time: something moves, so nothing is said. */
static void watch_moves(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		watch_mark(port, i);
		watch_forget(port);
		watch_look();
	}
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 4);
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 0);
	watch_look();
	KUNIT_EXPECT_EQ(test, hop_range_sum(port), 0);
	KUNIT_EXPECT_EQ(test, port->stats.counter_leaks, 4);
}

/* What is in a member's range, bit by bit, wherever the range begins and ends */
static void watch_member_bits(struct kunit *test)
{
	static const u16 counts[] = { 1, 2, 63, 64, 65, 127, 128, 129, 200 };
	unsigned int first, c, word, bit, wrong = 0;
	struct hop_member m = {};

	for (first = 0; first < 200; first++) {
		for (c = 0; c < ARRAY_SIZE(counts); c++) {
			m.first = first;
			m.count = counts[c];
			KUNIT_ASSERT_EQ(test, hop_member_last_word(&m),
					(first + counts[c] - 1) / 64);
			for (word = first / 64; word <= (first + counts[c] - 1) / 64; word++) {
				u64 bits = hop_member_bits(&m, word);

				for (bit = 64 * word; bit < 64 * word + 64; bit++)
					wrong += (bits >> bit % 64 & 1) !=
						 (bit >= first && bit < first + counts[c]);
			}
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

#define WATCH_FIRST	70	/* two members: 0 ... 69 and 70 ... 149 */
#define WATCH_LAST	149

/* Of sub-queues that are looked after, those that were resumed, each in its member's window */
static void watch_windows(struct kunit *test)
{
	struct hop_member *one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	struct hop_port *port = test->priv;
	struct hop_member *m = watch_member(port);
	struct hop_window *win;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, one);
	m->first = 0;
	m->count = WATCH_FIRST;
	m->windows = kunit_kcalloc(test, m->count, sizeof(*m->windows), GFP_KERNEL);
	one->first = WATCH_FIRST;
	one->count = WATCH_LAST + 1 - WATCH_FIRST;
	one->windows = kunit_kcalloc(test, one->count, sizeof(*one->windows), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m->windows);
	KUNIT_ASSERT_NOT_NULL(test, one->windows);
	list_add_tail_rcu(&one->node, &port->members);

	/* each third one is looked after, each fifth one was paused and is not any more */
	for (i = 0; i <= WATCH_LAST; i += 3)
		port->watched[i / 64] |= BIT_ULL(i % 64);
	spin_lock_bh(&port->lock);
	rcu_read_lock();
	for (i = 0; i <= WATCH_LAST / 64; i++) {
		u64 changed = 0;
		unsigned int bit;

		for (bit = 64 * i; bit < 64 * i + 64; bit++)
			changed |= bit % 5 ? 0 : BIT_ULL(bit % 64);
		port->paused[i] = ~changed;
		paused_word_changed(port, i, changed, 1000 + i);
	}
	rcu_read_unlock();
	spin_unlock_bh(&port->lock);
	for (i = 0; i <= WATCH_LAST; i++) {
		win = i < WATCH_FIRST ? &m->windows[i] : &one->windows[i - WATCH_FIRST];
		KUNIT_EXPECT_EQ(test, win->free_since, i % 15 ? 0 : 1000 + i / 64);
	}

	/* one that goes takes its own out of those that are looked after */
	spin_lock_bh(&port->lock);
	hop_paused_leave(port, one);
	spin_unlock_bh(&port->lock);
	for (i = 0; i <= WATCH_LAST; i++)
		KUNIT_EXPECT_EQ(test, port->watched[i / 64] >> i % 64 & 1,
				i < WATCH_FIRST && i % 3 == 0);
	list_del_rcu(&one->node);
	synchronize_rcu();
	m->windows = NULL;
	m->count = 1;
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(watch_leak),
	KUNIT_CASE(watch_held),
	KUNIT_CASE(watch_moves),
	KUNIT_CASE(watch_member_bits),
	KUNIT_CASE(watch_windows),
	{}
};

static struct kunit_suite watch_suite = {
	.name		= "sluice_watch",
	.init		= watch_init,
	.exit		= watch_exit,
	.test_cases	= watch_cases,
};
kunit_test_suite(watch_suite);
