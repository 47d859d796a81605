// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_replay.c - walks of selftests/model/stream.pml, gone with two ports
 *
 * What D tells are pause counters; what it says are the bytes that would leave. Which frames get
 * lost, come twice or late is as in the walk, and so is when a port hears the HELLO that confirms
 * its neighbour.
 */
#include "port.h"

#define FRAME_BYTES	256

struct replay_frame {
	size_t	bytes;
	u8	buf[FRAME_BYTES];
};

static struct kunit *replay_test;

#define replay_print(...)	kunit_info(replay_test, __VA_ARGS__)
/* too much for a result */
#define replay_print_walk(...)	pr_info("sluice_replay: " __VA_ARGS__)

#include "../model/replay.h"

#define TICK		(10ULL * NSEC_PER_MSEC)
#define START		(100 * TICK)
#define QUEUES		(64 * REPLAY_PAGES)
#define FIRST_SEQ	0xfffffffd	/* before the first frame of each life: it wraps soon */

/**
 * struct replay_box - what is there during a walk
 * @test: the test
 * @net: the ports' namespace's part
 * @member: who holds pauses
 * @port: D and U
 * @lines: frames on their way
 * @epoch: the last one that was given to a port
 * @hello: the same clock for all HELLOs
 * @now: time
 */
struct replay_box {
	struct kunit		*test;
	struct hop_net		net;
	struct hop_member	member;
	struct hop_port		*port[2];
	struct replay_line	lines[2];
	u32			epoch;
	u64			hello;
	u64			now;
};

/* As the worker and the receive hook call what is called */
#define under_lock(port, what)							\
do {										\
	rcu_read_lock();							\
	spin_lock_bh(&(port)->lock);						\
	what;									\
	spin_unlock_bh(&(port)->lock);						\
	rcu_read_unlock();							\
} while (0)

/* The one sub-queue of each word that is paused: not the same bit in each */
static unsigned int queue_of(unsigned int page)
{
	return 64 * page + 21 * page;
}

static unsigned int set_of(const u64 *words)
{
	unsigned int i, set = 0;

	for (i = 0; i < REPLAY_PAGES; i++) {
		if (words[i] & ~BIT_ULL(queue_of(i) % 64))
			return REPLAY_ALL + 1;	/* what was never told */
		set |= !!words[i] << i;
	}
	return set;
}

static void box_release(struct replay_box *box, enum replay_port which)
{
	struct hop_port *port = box->port[which];

	if (!port)
		return;
	under_lock(port, hop_range_put(port));
	hop_urgent_del(port);
	sluice_port_free(port);
	box->port[which] = NULL;
}

/* Whatever held pauses has left. */
static void box_drain(struct replay_box *box)
{
	memset(box->net.counters, 0, HOP_HANDLES * sizeof(*box->net.counters));
}

static void box_restart(struct replay_box *box, enum replay_port which)
{
	struct hop_port *port;

	box_release(box, which);
	port = sluice_port_new();
	box->port[which] = port;
	KUNIT_ASSERT_NOT_NULL(box->test, port);
	port->net = &box->net;
	port->epoch = ++box->epoch;
	port->carrier = true;
	port->role = HOP_ROLE_SWITCH;
	port->queues = QUEUES;
	port->queues_most = QUEUES;
	port->hello_at = U64_MAX;
	port->cfg.kinds = HOP_KIND_BFC;
	port->cfg.refresh_ns = TICK;
	port->cfg.lease_ns = REPLAY_LEASE * TICK;
	port->cfg.hrtt_max_ns = NSEC_PER_MSEC;
	hop_reaction_reset(&port->reaction);
	port->streams[HOP_SLOT_PAUSE].seq = FIRST_SEQ;
	if (which == REPLAY_D)
		box_drain(box);
}

/* A HELLO of the other that answers one of ours. U tells nothing, so D has no sub-queues. */
static void box_learn(struct replay_box *box, enum replay_port which)
{
	struct hop_port *port = box->port[which], *other = box->port[1 - which];
	bool same = port->peer.epoch == other->epoch;
	struct hop_frame f = {
		.epoch_mine	= other->epoch,
		.epoch_yours	= port->epoch,
		.has		= BIT(HOP_TLV_HELLO),
		.hello		= {
			.role	= HOP_ROLE_SWITCH,
			.flags	= HOP_HELLO_ECHO_VALID,
			.kinds	= HOP_KIND_BFC,
			.queues	= which == REPLAY_D ? QUEUES : 0,
			.sent_ns = ++box->hello,
			.echo_ns = box->now,
		},
	};

	if (which == REPLAY_D && !same)
		box_drain(box);
	under_lock(port, hop_peer_hello(port, &f, box->now); hop_streams_collect(port, box->now));
}

static void box_end(struct replay_box *box)
{
	box_release(box, REPLAY_D);
	box_release(box, REPLAY_U);
	sluice_net_exit(&box->net);
}

/* Handles are not given away again at once: each walk has its own. */
static void box_begin(struct replay_box *box)
{
	box_end(box);
	memset(&box->net, 0, sizeof(box->net));
	KUNIT_ASSERT_EQ(box->test, sluice_net_init(&box->net), 0);
	box_restart(box, REPLAY_D);
	box_restart(box, REPLAY_U);
	box_learn(box, REPLAY_D);
	box_learn(box, REPLAY_U);
}

static void box_change(struct replay_box *box, unsigned int page)
{
	struct hop_port *port = box->port[REPLAY_D];
	u16 handle = (port->handles >> 16) + queue_of(page);

	KUNIT_ASSERT_NE(box->test, port->handles, 0);
	rcu_read_lock_bh();
	if (atomic_read(&box->net.counters[handle - HOP_HANDLE_FIRST]))
		hop_pause_dec(&box->member, handle);
	else
		hop_pause_inc(&box->member, handle);
	rcu_read_unlock_bh();
	under_lock(port, hop_streams_collect(port, box->now));
}

static u32 box_say(struct replay_box *box, struct replay_frame *f)
{
	struct hop_port *port = box->port[REPLAY_D];
	struct hop_writer w;
	u32 said;

	hop_frame_begin(&w, f->buf, sizeof(f->buf), port->epoch, port->peer.epoch);
	under_lock(port, said = hop_streams_write(port, &w, box->now));
	f->bytes = hop_frame_end(&w);
	return said;
}

static void box_echo(struct replay_box *box, struct replay_frame *f)
{
	struct hop_port *port = box->port[REPLAY_U];
	struct hop_writer w;

	hop_frame_begin(&w, f->buf, sizeof(f->buf), port->epoch, port->peer.epoch);
	under_lock(port, hop_streams_write_acks(port, &w));
	f->bytes = hop_frame_end(&w);
}

static void box_hear(struct replay_box *box, enum replay_port which, const struct replay_frame *f)
{
	struct hop_port *port = box->port[which];
	struct hop_frame parsed;
	bool speaks;

	KUNIT_ASSERT_EQ(box->test, hop_frame_parse(f->buf, f->bytes, &parsed), HOP_FRAME_OK);
	KUNIT_ASSERT_EQ(box->test, parsed.n_told, 1);
	under_lock(port, speaks = hop_peer_speaks(port, &parsed));
	if (speaks)
		under_lock(port, hop_streams_rx(port, &parsed.told[0], box->now));
}

static void box_tick(struct replay_box *box)
{
	unsigned int i;

	box->now += TICK;
	for (i = REPLAY_D; i <= REPLAY_U; i++)
		under_lock(box->port[i], hop_streams_expire(box->port[i], box->now));
}

static void replay_do(void *ports, const struct replay_step *s, struct replay_frame *f)
{
	struct replay_box *box = ports;
	struct hop_port *port = box->port[s->what % 2];
	u32 said;

	switch (s->event) {
	case REPLAY_BEGIN:
		box_begin(box);
		break;
	case REPLAY_CHANGE:
		box_change(box, s->what);
		break;
	case REPLAY_SAY:
		box_say(box, f);
		break;
	case REPLAY_REFUSE:
		said = box_say(box, f);
		port = box->port[REPLAY_D];
		under_lock(port, hop_streams_unsaid(port, said));
		break;
	case REPLAY_TAKE:
		box_hear(box, REPLAY_U, f);
		break;
	case REPLAY_ECHO:
		box_echo(box, f);
		break;
	case REPLAY_ACKED:
		box_hear(box, REPLAY_D, f);
		break;
	case REPLAY_TICK:
		box_tick(box);
		break;
	case REPLAY_DROP:
		under_lock(port, hop_peer_lost(port, box->now));
		break;
	case REPLAY_LEARN:
		box_learn(box, s->what);
		break;
	case REPLAY_RESTART:
		box_restart(box, s->what);
		break;
	}
}

static void replay_look(void *ports, struct replay_state *is)
{
	struct replay_box *box = ports;
	struct hop_port *d = box->port[REPLAY_D], *u = box->port[REPLAY_U];
	struct hop_stream *ds = &d->streams[HOP_SLOT_PAUSE], *us = &u->streams[HOP_SLOT_PAUSE];
	struct hop_stream_part part = {};
	bool due;

	under_lock(d, due = hop_streams_next(d) <= box->now);
	if (due)
		hop_stream_part(ds, box->now, &part);
	*is = (struct replay_state) {
		.d_up = d->peer.up,
		.told = set_of(ds->told),
		.unacked = ds->unacked,
		.seq = ds->seq - FIRST_SEQ,
		.due = due,
		.part = ((1 << part.count) - 1) << part.first,
		.u_up = u->peer.up,
		.view = set_of(u->paused),
		.rx_valid = us->rx_valid,
		.rx_seq = us->rx_valid ? us->rx_seq - FIRST_SEQ : 0,
		.lease = us->lease_at == U64_MAX ? 0 : div_u64(us->lease_at - box->now, TICK),
		.acks = u->acks == BIT(HOP_SLOT_PAUSE),
	};
}

static void replay_walks(struct kunit *test)
{
	struct replay_box *box = test->priv;

	replay_test = test;
	KUNIT_EXPECT_TRUE(test, replay(box, box->lines));
}

static int replay_init(struct kunit *test)
{
	struct replay_box *box = kunit_kzalloc(test, sizeof(*box), GFP_KERNEL);

	test->priv = box;
	if (!box)
		return -ENOMEM;
	box->test = test;
	box->member.net = &box->net;
	box->now = START;
	hop_state_spacing_ns = 0;
	return sluice_net_init(&box->net);
}

static void replay_exit(struct kunit *test)
{
	struct replay_box *box = test->priv;

	if (!box)
		return;
	hop_state_spacing_ns = 1000;
	box_end(box);
}

static struct kunit_case replay_cases[] = {
	KUNIT_CASE(replay_walks),
	{}
};

static struct kunit_suite replay_suite = {
	.name		= "sluice_replay",
	.init		= replay_init,
	.exit		= replay_exit,
	.test_cases	= replay_cases,
};
kunit_test_suite(replay_suite);
