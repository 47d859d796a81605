// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_peer.c - the neighbour where its limits are: each time, count and condition on both sides
 *
 * What is expected is what Documentation/protocol.md says, in numbers of its own: 1 s, 100 ms, 64
 * times. Where it says nothing of a border, the comment at the function does.
 */
#include "../../kernel/hopctl/hrtt.c"
#include "../../kernel/hopctl/peer.c"
#include "port.h"

#define MS	1000000ULL
#define DEAD	(1000 * MS)	/* a neighbour is dead after 1 s without a valid frame */
#define NOW	(1000 * DEAD)
#define SENT	(7 * DEAD)	/* its clock is not ours */
#define OURS	0x11111111
#define PEER	0x22222222
#define OTHER	0x33333333
#define QUEUES	128

#define ALL_FLAGS	(HOP_HELLO_STRIPS_TAGS | HOP_HELLO_ECHO_VALID | HOP_HELLO_TAGS | \
			 HOP_HELLO_STRIPPING)

/**
 * struct peer_box - what a port needs to have a neighbour
 * @net: its namespace's part
 * @f: the neighbour's next HELLO
 * @woken: what was called last has woken the worker
 */
struct peer_box {
	struct hop_net		net;
	struct hop_frame	f;
	bool			woken;
};

static struct peer_box *box_of(const struct hop_port *port)
{
	return container_of(port->net, struct peer_box, net);
}

/* As all of peer.c is called. The worker, which does nothing here, runs when the lock is left. */
#define under_lock(port, what)							\
do {										\
	spin_lock_bh(&(port)->lock);						\
	rcu_read_lock();							\
	what;									\
	rcu_read_unlock();							\
	box_of(port)->woken = test_bit(TASKLET_STATE_SCHED, &(port)->work.state); \
	spin_unlock_bh(&(port)->lock);						\
} while (0)

static int box_init(struct kunit *test)
{
	struct peer_box *box = kunit_kzalloc(test, sizeof(*box), GFP_KERNEL);
	struct hop_port *port;
	int err;

	if (!box)
		return -ENOMEM;
	err = sluice_port_init(test);
	if (err)
		return err;
	port = test->priv;
	port->net = &box->net;
	err = sluice_net_init(&box->net);
	list_add_tail(&port->net_node, &box->net.ports);
	hop_reaction_reset(&port->reaction);
	port->carrier = true;
	port->role = HOP_ROLE_SWITCH;
	port->queues = 64;
	port->hello_at = U64_MAX;
	port->hello_gap = HOP_HELLO_NS;
	port->state = HOP_STATE_NO_NEIGHBOUR;
	port->cfg.tag = true;
	port->cfg.kinds = HOP_KIND_BFC;
	port->cfg.hrtt_max_ns = MS;
	box->f = (struct hop_frame) {
		.epoch_mine	= PEER,
		.epoch_yours	= OURS,
		.has		= BIT(HOP_TLV_HELLO),
		.hello		= {
			.role	= HOP_ROLE_SWITCH,
			.flags	= HOP_HELLO_STRIPS_TAGS,
			.kinds	= HOP_KIND_BFC,
			.queues	= QUEUES,
			.tpid	= ETH_P_8021AD,
			.sent_ns = SENT,
		},
	};
	return err;
}

static void box_exit(struct kunit *test)
{
	struct hop_port *port = test->priv;

	if (!port)
		return;
	under_lock(port, hop_range_put(port));
	sluice_net_exit(port->net);
	sluice_port_exit(test);
}

/* Nothing has been noted yet: whatever is from here on is new. */
static void notes_clear(struct hop_port *port)
{
	memset(&port->stats, 0, sizeof(port->stats));
	bitmap_zero(port->pausing_dirty, HOP_BITMAP_WORDS);
	port->hello_at = U64_MAX;
	port->events = 0;
}

/* The neighbour is there, has said its HELLO at @NOW, and everything is settled. */
static void peer_have(struct hop_port *port)
{
	static const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 7 };
	struct hop_peer *peer = &port->peer;

	memset(peer, 0, sizeof(*peer));
	memset(&port->probing, 0, sizeof(port->probing));
	port->state = HOP_STATE_NO_NEIGHBOUR;
	port->tags = false;
	port->tagging = false;
	port->tags_until = 0;
	peer->up = true;
	peer->knows_us = true;
	peer->epoch = PEER;
	peer->heard_ns = NOW;
	ether_addr_copy(peer->mac, mac);
	peer->mac_ns = NOW;
	peer->hello = box_of(port)->f.hello;
	peer->hello.sent_ns = SENT;
	peer->hello_rx_ns = NOW;
	under_lock(port, hop_peer_kinds(port, NOW); hop_peer_state(port, NOW));
	notes_clear(port);
}

/* All that tagging needs is there, probes and STRIPPING included. */
static void peer_have_tagging(struct hop_port *port)
{
	struct hop_hello *h = &port->peer.hello;

	peer_have(port);
	port->probing.verdict = HOP_STATE_TAGGING;
	h->flags = HOP_HELLO_STRIPS_TAGS | HOP_HELLO_STRIPPING | HOP_HELLO_ECHO_VALID;
	h->echo_ns = NOW;
	under_lock(port, hop_peer_state(port, NOW));
	notes_clear(port);
}

static void peer_hear(struct hop_port *port, u64 now)
{
	under_lock(port, hop_peer_hello(port, &box_of(port)->f, now));
}

static u64 raw_of(struct hop_port *port)
{
	u32 raw;

	under_lock(port, raw = hop_hrtt_raw(port));
	return raw;
}

static u64 way_of(struct hop_port *port)
{
	u32 way;

	under_lock(port, way = hop_hrtt_way_ns(port));
	return way;
}

static u8 state_of(struct hop_port *port)
{
	u8 state;

	under_lock(port, state = state_resolve(port));
	return state;
}

/* ---- HELLOs of the neighbour ---- */

/* A HELLO that is not newer than the last one, by `sent`, is dropped. */
static void hello_replayed(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool newer = by[i] > 0;

		peer_have(port);
		box_of(port)->f.hello.sent_ns = SENT + by[i];
		peer_hear(port, NOW + MS);
		KUNIT_EXPECT_EQ(test, port->stats.rx_stale, !newer);
		KUNIT_EXPECT_EQ(test, port->stats.rx_range, 0);
		KUNIT_EXPECT_EQ(test, port->stats.hello_rx, newer);
		KUNIT_EXPECT_EQ(test, peer->hellos, newer);
		KUNIT_EXPECT_EQ(test, peer->hello.sent_ns, SENT + newer);
		KUNIT_EXPECT_EQ(test, peer->hello_rx_ns, NOW + (newer ? MS : 0));
		KUNIT_EXPECT_EQ(test, peer->heard_ns, NOW + (newer ? MS : 0));
	}
}

/* So is one that is newer by more than the time since the last one came and a dead interval. */
static void hello_from_the_future(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool fits = by[i] <= 0;

		peer_have(port);
		box_of(port)->f.hello.sent_ns = SENT + 30 * MS + DEAD + by[i];
		peer_hear(port, NOW + 30 * MS);
		KUNIT_EXPECT_EQ(test, port->stats.rx_range, !fits);
		KUNIT_EXPECT_EQ(test, port->stats.rx_stale, 0);
		KUNIT_EXPECT_EQ(test, port->stats.hello_rx, fits);
		KUNIT_EXPECT_EQ(test, port->peer.heard_ns, NOW + (fits ? 30 * MS : 0));
		KUNIT_EXPECT_EQ(test, port->peer.hello.sent_ns == SENT, !fits);
	}
}

static void hello_time(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, hello_time_fits(SENT + DEAD, SENT, NOW, NOW));
	KUNIT_EXPECT_FALSE(test, hello_time_fits(SENT + DEAD + 1, SENT, NOW, NOW));
	KUNIT_EXPECT_TRUE(test, hello_time_fits(SENT + DEAD + 5, SENT, NOW, NOW + 5));
	KUNIT_EXPECT_FALSE(test, hello_time_fits(SENT + DEAD + 6, SENT, NOW, NOW + 5));
	/* what is older is not from the future, whatever the difference is modulo 2^64 */
	KUNIT_EXPECT_TRUE(test, hello_time_fits(SENT, SENT, NOW, NOW));
	KUNIT_EXPECT_TRUE(test, hello_time_fits(SENT - 1, SENT, NOW, NOW));
	KUNIT_EXPECT_TRUE(test, hello_time_fits(0, U64_MAX, NOW, NOW));
	KUNIT_EXPECT_FALSE(test, hello_time_fits(U64_MAX, SENT, NOW, NOW));
}

/* What it says of our epoch: it knows us, it has lost us, or it speaks to somebody else. */
static void hello_names(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;

	f->hello.sent_ns = SENT + 1;
	peer_have(port);
	port->peer.knows_us = false;
	peer_hear(port, NOW + MS);
	KUNIT_EXPECT_TRUE(test, port->peer.knows_us);
	KUNIT_EXPECT_EQ(test, port->peer.hellos, 1);
	KUNIT_EXPECT_TRUE(test, box_of(port)->woken);

	/* to whom we are unknown we say HELLO each time, and tag nothing */
	peer_have(port);
	f->epoch_yours = 0;
	peer_hear(port, NOW + MS);
	KUNIT_EXPECT_FALSE(test, port->peer.knows_us);
	KUNIT_EXPECT_EQ(test, port->peer.hellos, 1);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW + MS);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_NO_NEIGHBOUR);

	/* what is for somebody else is a sign of life, and nothing more */
	peer_have(port);
	f->epoch_yours = OTHER;
	peer_hear(port, NOW + MS);
	KUNIT_EXPECT_TRUE(test, port->peer.knows_us);
	KUNIT_EXPECT_EQ(test, port->peer.hellos, 0);
	KUNIT_EXPECT_EQ(test, port->stats.hello_rx, 0);
	KUNIT_EXPECT_EQ(test, port->peer.heard_ns, NOW + MS);
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);

	/* once: played again it is none */
	peer_hear(port, NOW + 2 * MS);
	KUNIT_EXPECT_EQ(test, port->peer.heard_ns, NOW + MS);
	KUNIT_EXPECT_EQ(test, port->stats.rx_stale, 1);
	/* and our next echo is of it, from when it came on */
	KUNIT_EXPECT_EQ(test, port->peer.hello.sent_ns, SENT + 1);
	KUNIT_EXPECT_EQ(test, port->peer.hello_rx_ns, NOW + MS);
}

/* Each fourth one is answered at once, so that a time is measured without being held. */
static void hello_fourth_is_answered(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int i;

	peer_have(port);
	for (i = 1; i <= 13; i++) {
		box_of(port)->f.hello.sent_ns = SENT + i;
		port->hello_at = U64_MAX;
		peer_hear(port, NOW + i);
		KUNIT_EXPECT_EQ(test, port->peer.hellos, i);
		KUNIT_EXPECT_EQ(test, port->hello_at, i % 4 ? U64_MAX : NOW + i);
	}
	KUNIT_EXPECT_EQ(test, port->stats.hello_rx, 13);
}

/* All that hangs on a HELLO follows from this one, not from the one before. */
static void hello_is_taken(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_hello *h = &box_of(port)->f.hello;

	peer_have(port);
	h->sent_ns = SENT + 1;
	h->flags |= HOP_HELLO_ECHO_VALID | HOP_HELLO_TAGS;
	h->echo_ns = NOW;
	h->ring_ns = 300;
	h->queues = 2 * QUEUES;
	peer_hear(port, NOW + 5000);
	KUNIT_EXPECT_EQ(test, raw_of(port), 5300);
	KUNIT_EXPECT_EQ(test, port->hrtt_used, 5300);
	KUNIT_EXPECT_EQ(test, port->stats.hrtt_capped, 0);
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, 2 * QUEUES);
	KUNIT_EXPECT_EQ(test, port->strip, 2 * QUEUES << 16 | ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBING);

	/* a round trip beyond what is believed is counted with each HELLO that shows it */
	port->paused[1] = 1;
	h->sent_ns++;
	h->ring_ns = MS;
	peer_hear(port, NOW + 6000);
	KUNIT_EXPECT_EQ(test, port->stats.hrtt_capped, 1);
	h->sent_ns++;
	peer_hear(port, NOW + 7000);
	KUNIT_EXPECT_EQ(test, port->stats.hrtt_capped, 2);
	KUNIT_EXPECT_EQ(test, port->paused[1], 1);

	/* without a kind in common it is not obeyed any more, and has no handles */
	h->sent_ns++;
	h->kinds = ~HOP_KIND_BFC;
	h->flags &= ~HOP_HELLO_TAGS;
	peer_hear(port, NOW + 8000);
	KUNIT_EXPECT_EQ(test, port->paused[1], 0);
	KUNIT_EXPECT_EQ(test, port->handles, 0);
	KUNIT_EXPECT_EQ(test, port->strip, 0);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_KIND);
}

/* ---- candidates ---- */

static struct hop_candidate *cand_of(struct hop_port *port, u32 epoch, u64 now)
{
	struct hop_candidate *c;

	under_lock(port, c = candidate_get(port, epoch, now));
	return c;
}

/* An epoch that we have lost goes on where it was; it is a candidate like another one. */
static void cand_of_lost_epoch(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool newer = by[i] > 0;

		peer_have(port);
		port->peer.up = false;
		memset(port->cand, 0, sizeof(port->cand));
		f->hello.sent_ns = SENT + by[i];
		peer_hear(port, NOW + MS);
		KUNIT_EXPECT_EQ(test, port->stats.rx_stale, !newer);
		KUNIT_EXPECT_EQ(test, port->cand[0].epoch, newer ? PEER : 0);
		KUNIT_EXPECT_EQ(test, port->hello_at, newer ? NOW + MS : U64_MAX);
	}
	/* a clock that has gone on while the other one stood still is no reason to be without it */
	peer_have(port);
	port->peer.up = false;
	memset(port->cand, 0, sizeof(port->cand));
	f->hello.sent_ns = SENT + 3600 * DEAD;
	peer_hear(port, NOW + MS);
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, 0);
	KUNIT_EXPECT_EQ(test, port->cand[0].epoch, PEER);

	/* the clock of another epoch has nothing to do with it, be the neighbour alive or not */
	for (i = 0; i < 2; i++) {
		peer_have(port);
		port->peer.up = i;
		memset(port->cand, 0, sizeof(port->cand));
		f->epoch_mine = OTHER;
		f->hello.sent_ns = SENT - 1;
		peer_hear(port, NOW + MS);
		KUNIT_EXPECT_EQ(test, port->stats.rx_stale, 0);
		KUNIT_EXPECT_EQ(test, port->cand[0].epoch, OTHER);
		KUNIT_EXPECT_EQ(test, port->peer.epoch, PEER);
		KUNIT_EXPECT_EQ(test, port->peer.heard_ns, NOW);
		KUNIT_EXPECT_EQ(test, port->peer.up, i);
	}
}

/* What comes of a HELLO of @sent at @now, after one of SENT at NOW of the same candidate */
struct cand_time {
	s64	sent, now;
	bool	stale, range;
};

static const struct cand_time cand_times[] = {
	{ -1, 5, true, false }, { 0, 5, true, false }, { 1, 5, false, false },
	{ DEAD + 4, 5, false, false }, { DEAD + 5, 5, false, false },
	{ DEAD + 6, 5, false, true },
	/* the entry is kept for a dead interval, and begins anew after it */
	{ 0, DEAD - 1, true, false }, { 0, DEAD, true, false }, { 0, DEAD + 1, false, false },
	{ 9 * DEAD, DEAD, false, true }, { 9 * DEAD, DEAD + 1, false, false },
};

static void cand_time_describe(const struct cand_time *p, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "sent %lld at %lld", p->sent, p->now);
}

KUNIT_ARRAY_PARAM(cand_time, cand_times, cand_time_describe);

static void cand_replayed(struct kunit *test)
{
	const struct cand_time *p = test->param_value;
	struct hop_port *port = test->priv;
	struct hop_candidate *c = &port->cand[0];
	bool taken = !p->stale && !p->range;

	box_of(port)->f.epoch_yours = 0;
	peer_hear(port, NOW);
	KUNIT_EXPECT_EQ(test, c->epoch, PEER);
	KUNIT_EXPECT_EQ(test, c->seen_ns, NOW);
	KUNIT_EXPECT_EQ(test, c->rx_ns, NOW);
	KUNIT_EXPECT_EQ(test, c->sent_ns, SENT);
	KUNIT_EXPECT_TRUE(test, c->answer);
	KUNIT_EXPECT_TRUE(test, box_of(port)->woken);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW);
	c->answer = false;
	port->hello_at = U64_MAX;

	box_of(port)->f.hello.sent_ns = SENT + p->sent;
	peer_hear(port, NOW + p->now);
	KUNIT_EXPECT_EQ(test, port->stats.rx_stale, p->stale);
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, p->range);
	KUNIT_EXPECT_EQ(test, c->answer, taken);
	KUNIT_EXPECT_EQ(test, c->rx_ns, NOW + (taken ? p->now : 0));
	KUNIT_EXPECT_EQ(test, c->sent_ns, SENT + (taken ? p->sent : 0));
	KUNIT_EXPECT_EQ(test, c->seen_ns, NOW + (p->now > DEAD ? p->now : 0));
	KUNIT_EXPECT_EQ(test, box_of(port)->woken, taken);
	KUNIT_EXPECT_EQ(test, port->hello_at, taken ? NOW + p->now : U64_MAX);
}

/* Of a candidate's first HELLO there is nothing that its time could be compared with. */
static void cand_first(struct kunit *test)
{
	static const u64 sent[] = { 0, 1, U64_MAX };
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		box_of(port)->f.epoch_mine = OTHER + i;
		box_of(port)->f.hello.sent_ns = sent[i];
		peer_hear(port, NOW);
		KUNIT_EXPECT_EQ(test, port->cand[i].epoch, OTHER + i);
		KUNIT_EXPECT_EQ(test, port->cand[i].sent_ns, sent[i]);
	}
	KUNIT_EXPECT_EQ(test, port->stats.rx_stale, 0);
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, 0);
}

/* What a candidate says 10 ms after it was seen first, and whether that confirms it: a HELLO of its
 * own that names our epoch and echoes one that we sent after we had first seen it.
 */
struct cand_says {
	u32	yours;
	u8	flags;
	s64	echo;	/* after it was first seen */
	bool	confirmed;
};

static const struct cand_says cand_sayings[] = {
	{ OURS, HOP_HELLO_ECHO_VALID, 0, true },
	{ OURS, HOP_HELLO_ECHO_VALID, 1, true },
	{ OURS, HOP_HELLO_ECHO_VALID, -1, false },
	{ OURS, HOP_HELLO_ECHO_VALID, 10 * MS - 1, true },
	{ OURS, HOP_HELLO_ECHO_VALID, 10 * MS, true },
	{ OURS, HOP_HELLO_ECHO_VALID, 10 * MS + 1, false },
	{ OURS, ALL_FLAGS & ~HOP_HELLO_ECHO_VALID, 1, false },
	{ 0, HOP_HELLO_ECHO_VALID, 1, false },
	{ OTHER, HOP_HELLO_ECHO_VALID, 1, false },
};

static void cand_says_describe(const struct cand_says *p, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "to %x, flags %x, echo of %lld", p->yours, p->flags,
		 p->echo);
}

KUNIT_ARRAY_PARAM(cand_says, cand_sayings, cand_says_describe);

static void cand_confirmed(struct kunit *test)
{
	const struct cand_says *p = test->param_value;
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;

	f->epoch_yours = 0;
	peer_hear(port, NOW);
	f->hello.sent_ns++;
	/* that it is heard again does not change when it was first */
	peer_hear(port, NOW + 5 * MS);
	f->hello.sent_ns++;
	notes_clear(port);
	f->epoch_yours = p->yours;
	f->hello.flags = p->flags;
	f->hello.echo_ns = NOW + p->echo;
	port->cand[0].answer = false;
	port->hello_gap = 2 * HOP_HELLO_NS;
	peer_hear(port, NOW + 10 * MS);
	KUNIT_EXPECT_EQ(test, port->peer.up, p->confirmed);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_up, p->confirmed);
	KUNIT_EXPECT_EQ(test, port->stats.hello_rx, p->confirmed);
	KUNIT_EXPECT_EQ(test, port->cand[0].epoch, p->confirmed ? 0 : PEER);
	KUNIT_EXPECT_EQ(test, port->cand[0].answer, !p->confirmed);
	KUNIT_EXPECT_EQ(test, port->hello_gap, p->confirmed ? 100 * MS : MS);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW + 10 * MS);
	KUNIT_EXPECT_TRUE(test, box_of(port)->woken);
}

/* Somebody who confirms itself at once cannot: nothing was sent since it was first seen. */
static void cand_plays_back(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;

	peer_have(port);
	f->epoch_mine = OTHER;
	f->hello.flags = ALL_FLAGS;
	f->hello.echo_ns = NOW - 1;
	peer_hear(port, NOW);
	KUNIT_EXPECT_EQ(test, port->peer.epoch, PEER);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_up, 0);
	KUNIT_EXPECT_EQ(test, port->cand[0].epoch, OTHER);
}

/* HELLOs that have become rare become fast again when somebody comes; those in time go on. */
static void cand_hurries(struct kunit *test)
{
	struct hop_port *port = test->priv;
	static const struct {
		u64 before, after;
	} gaps[] = {
		{ MS, MS }, { 64 * MS, 64 * MS }, { 100 * MS, 100 * MS }, { 100 * MS + 1, MS },
		{ 4000 * MS, MS },
	};
	unsigned int i;

	box_of(port)->f.epoch_yours = 0;
	for (i = 0; i < ARRAY_SIZE(gaps); i++) {
		box_of(port)->f.hello.sent_ns++;
		port->hello_gap = gaps[i].before;
		peer_hear(port, NOW + i);
		KUNIT_EXPECT_EQ(test, port->hello_gap, gaps[i].after);
	}
}

/* With the confirmation all state of the old epoch ends; its loss is no loss of a neighbour. */
static void cand_replaces(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;
	struct hop_frame *f = &box_of(port)->f;
	u32 handles;

	peer_have_tagging(port);
	handles = port->handles;
	port->cand[0] = (struct hop_candidate) { OTHER, NOW - 1, NOW - 1, SENT - 1 };
	port->cand[3] = (struct hop_candidate) { OTHER + 1, NOW - 1, NOW - 1, SENT - 1 };
	port->paused[3] = 1;
	port->streams[HOP_SLOT_PAUSE].told[1] = 2;
	port->streams[HOP_SLOT_PAUSE].rx_valid = true;
	peer->rtt_count = 9;
	peer->hellos = 9;
	f->epoch_mine = OTHER;
	f->hello.flags |= HOP_HELLO_ECHO_VALID;
	f->hello.echo_ns = NOW - 1;
	peer_hear(port, NOW + 20);
	KUNIT_EXPECT_EQ(test, peer->epoch, OTHER);
	KUNIT_EXPECT_EQ(test, peer->hellos, 1);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 1);
	KUNIT_EXPECT_EQ(test, port->hrtt_used, 100);	/* of 21 ns */
	KUNIT_EXPECT_FALSE(test, port->streams[HOP_SLOT_PAUSE].rx_valid);
	KUNIT_EXPECT_TRUE(test, peer->knows_us);
	KUNIT_EXPECT_EQ(test, port->paused[3], 0);
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].told[1], 0);
	KUNIT_EXPECT_PTR_EQ(test, (void *)memchr_inv(port->cand, 0, sizeof(port->cand)), NULL);
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES);
	KUNIT_EXPECT_NE(test, port->handles, handles);
	KUNIT_EXPECT_EQ(test, port->events & (HOP_EVENT_NEIGHBOUR_UP | HOP_EVENT_NEIGHBOUR_LOST),
			HOP_EVENT_NEIGHBOUR_UP);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, 0);
	/* probes begin anew, and it is told of all that is paused */
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBING);
	KUNIT_EXPECT_EQ(test, port->probing.verdict, HOP_STATE_PROBING);
	KUNIT_EXPECT_TRUE(test, port->streams[HOP_SLOT_PAUSE].whole);
	KUNIT_EXPECT_TRUE(test, bitmap_full(port->pausing_dirty, HOP_BITMAP_WORDS));
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].refresh_ns, NOW + 20);
	KUNIT_EXPECT_EQ(test, port->hello_gap, 100 * MS);
}

/* The same epoch, lost and found: handles and sequence numbers go on. */
static void cand_comes_back(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;
	struct hop_frame *f = &box_of(port)->f;
	u32 handles;

	peer_have(port);
	handles = port->handles;
	port->streams[HOP_SLOT_PAUSE].rx_seq = 77;
	port->streams[HOP_SLOT_PAUSE].rx_valid = true;
	under_lock(port, hop_peer_lost(port, NOW));
	notes_clear(port);
	f->hello.sent_ns = SENT + 1;
	peer_hear(port, NOW + 1);
	KUNIT_EXPECT_FALSE(test, peer->up);
	f->hello.sent_ns = SENT + 2;
	f->hello.flags |= HOP_HELLO_ECHO_VALID;
	f->hello.echo_ns = NOW + 1;
	peer_hear(port, NOW + 2);
	KUNIT_EXPECT_TRUE(test, peer->up);
	KUNIT_EXPECT_EQ(test, port->handles, handles);
	KUNIT_EXPECT_TRUE(test, port->streams[HOP_SLOT_PAUSE].rx_valid);
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].rx_seq, 77);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_up, 1);
}

/* All four entries are taken, by whoever was first seen at NOW + @seen; the last to be heard of was
 * at NOW + 10.
 */
static void cand_fill(struct hop_port *port, const u8 *seen)
{
	unsigned int i;

	for (i = 0; i < HOP_CANDIDATES; i++)
		port->cand[i] = (struct hop_candidate) {
			.epoch = i + 1, .seen_ns = NOW + seen[i], .rx_ns = NOW + 10,
			.sent_ns = SENT, .answer = true,
		};
}

static void cand_age(struct kunit *test)
{
	struct hop_candidate c = { .epoch = 1, .rx_ns = NOW };

	KUNIT_EXPECT_FALSE(test, candidate_is_old(&c, NOW));
	KUNIT_EXPECT_FALSE(test, candidate_is_old(&c, NOW + DEAD - 1));
	KUNIT_EXPECT_FALSE(test, candidate_is_old(&c, NOW + DEAD));
	KUNIT_EXPECT_TRUE(test, candidate_is_old(&c, NOW + DEAD + 1));
	c.epoch = 0;
	KUNIT_EXPECT_TRUE(test, candidate_is_old(&c, NOW));
}

/* Who is there keeps its entry, wherever a free one is, unless it has been silent for too long. */
static void cand_finds(struct kunit *test)
{
	static const u8 seen[] = { 3, 2, 1, 4 };
	struct hop_port *port = test->priv;
	struct hop_candidate *c;
	unsigned int i, free;

	for (i = 0; i < HOP_CANDIDATES; i++) {
		for (free = 0; free < HOP_CANDIDATES; free++) {
			cand_fill(port, seen);
			if (free != i)
				port->cand[free].epoch = 0;
			c = cand_of(port, i + 1, NOW + 10 + DEAD);
			KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[i]);
			KUNIT_EXPECT_EQ(test, c->seen_ns, NOW + seen[i]);
			KUNIT_EXPECT_EQ(test, c->rx_ns, NOW + 10);
		}
		cand_fill(port, seen);
		port->cand[i].rx_ns--;
		c = cand_of(port, i + 1, NOW + 10 + DEAD);
		KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[i]);
		KUNIT_EXPECT_EQ(test, c->epoch, i + 1);
		KUNIT_EXPECT_EQ(test, c->seen_ns, NOW + 10 + DEAD);
		KUNIT_EXPECT_EQ(test, c->rx_ns, 0);
		KUNIT_EXPECT_EQ(test, c->sent_ns, 0);
		KUNIT_EXPECT_FALSE(test, c->answer);
	}
}

/* Who gives way to a new one: the first that is free or old, else who has waited longest */
static void cand_gives_way(struct kunit *test)
{
	static const struct {
		u8 seen[HOP_CANDIDATES];
		u8 free, old;	/* bit sets */
		u8 want;
	} tables[] = {
		{ { 1, 2, 3, 4 }, 0xf, 0, 0 }, { { 1, 2, 3, 4 }, 0xe, 0, 1 },
		{ { 1, 2, 3, 4 }, 8, 0, 3 }, { { 1, 2, 3, 4 }, 0, 8, 3 },
		{ { 1, 2, 3, 4 }, 8, 4, 2 }, { { 1, 2, 3, 4 }, 4, 8, 2 },
		{ { 4, 3, 2, 1 }, 0, 2, 1 }, { { 4, 3, 2, 1 }, 1, 0, 0 },
		{ { 1, 2, 3, 4 }, 0, 0, 0 }, { { 2, 1, 3, 4 }, 0, 0, 1 },
		{ { 3, 2, 1, 4 }, 0, 0, 2 }, { { 4, 3, 2, 1 }, 0, 0, 3 },
		{ { 2, 1, 4, 3 }, 0, 0, 1 }, { { 5, 5, 5, 5 }, 0, 0, 0 },
		{ { 5, 4, 5, 4 }, 0, 0, 1 },
	};
	struct hop_port *port = test->priv;
	struct hop_candidate *c;
	unsigned int t, i;

	for (t = 0; t < ARRAY_SIZE(tables); t++) {
		cand_fill(port, tables[t].seen);
		for (i = 0; i < HOP_CANDIDATES; i++) {
			if (tables[t].free & BIT(i))
				port->cand[i].epoch = 0;
			port->cand[i].rx_ns -= !!(tables[t].old & BIT(i));
		}
		c = cand_of(port, 99, NOW + 10 + DEAD);
		KUNIT_EXPECT_EQ(test, c - port->cand, tables[t].want);
		KUNIT_EXPECT_EQ(test, c->epoch, 99);
		KUNIT_EXPECT_EQ(test, c->seen_ns, NOW + 10 + DEAD);
		KUNIT_EXPECT_EQ(test, c->rx_ns, 0);
		KUNIT_EXPECT_FALSE(test, c->answer);
	}
}

/* The one that was heard last may become the neighbour. */
static void cand_heard_last(struct kunit *test)
{
	static const u8 seen[HOP_CANDIDATES];
	struct hop_port *port = test->priv;
	struct hop_candidate *c;
	unsigned int i, k;

	under_lock(port, c = hop_peer_candidate(port, NOW));
	KUNIT_EXPECT_PTR_EQ(test, c, (struct hop_candidate *)NULL);
	for (i = 0; i < HOP_CANDIDATES; i++) {
		cand_fill(port, seen);
		/* what lies behind the table is no candidate, whatever it looks like */
		set_bit(0, port->pausing_dirty);
		port->streams[HOP_SLOT_PAUSE].told[1] = NOW + 20;
		port->cand[i].rx_ns = NOW + 11;
		under_lock(port, c = hop_peer_candidate(port, NOW + 20));
		KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[i]);
		/* the others are old now; then all are */
		under_lock(port, c = hop_peer_candidate(port, NOW + 11 + DEAD));
		KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[i]);
		under_lock(port, c = hop_peer_candidate(port, NOW + 12 + DEAD));
		KUNIT_EXPECT_PTR_EQ(test, c, (struct hop_candidate *)NULL);
		/* a free entry is nobody */
		port->cand[i].epoch = 0;
		under_lock(port, c = hop_peer_candidate(port, NOW + 20));
		KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[!i]);
		for (k = 0; k < HOP_CANDIDATES; k++)
			port->cand[k].epoch = k == i;
		under_lock(port, c = hop_peer_candidate(port, NOW + 20));
		KUNIT_EXPECT_PTR_EQ(test, c, &port->cand[i]);
	}
}

/* ---- HRTT ---- */

/* What the neighbour echoes at NOW, and the round trip that is measured by it, NONE if none is */
#define NONE	U64_MAX

struct rtt_echo {
	u8	flags;
	s64	echo;	/* before NOW */
	u64	held, want;
	bool	rough;
};

static const struct rtt_echo rtt_echoes[] = {
	{ HOP_HELLO_ECHO_VALID, 500, 0, 500 },
	{ ALL_FLAGS & ~HOP_HELLO_ECHO_VALID, 500, 0, NONE },
	{ HOP_HELLO_ECHO_VALID, 1, 0, 1 },
	{ HOP_HELLO_ECHO_VALID, 0, 0, 0 },
	{ HOP_HELLO_ECHO_VALID, -1, 0, NONE },
	{ HOP_HELLO_ECHO_VALID, 2 * DEAD - 1, 0, 2 * DEAD - 1 },
	{ HOP_HELLO_ECHO_VALID, 2 * DEAD, 0, 2 * DEAD },
	{ HOP_HELLO_ECHO_VALID, 2 * DEAD + 1, 0, NONE },
	{ HOP_HELLO_ECHO_VALID, 500, 499, 1 },
	{ HOP_HELLO_ECHO_VALID, 500, 500, 0 },
	{ HOP_HELLO_ECHO_VALID, 500, 501, NONE },
	{ HOP_HELLO_ECHO_VALID, 500, U64_MAX, NONE },
	{ HOP_HELLO_ECHO_VALID, 3 * MS, MS - 1, 2 * MS + 1 },
	{ HOP_HELLO_ECHO_VALID, 3 * MS, MS, 2 * MS },
	{ HOP_HELLO_ECHO_VALID, 3 * MS, MS + 1, 2 * MS - 1, true },
	{ HOP_HELLO_ECHO_VALID, 3 * MS, 3 * MS + 1, NONE },
};

static void rtt_echo_describe(const struct rtt_echo *p, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "flags %x, %lld before, held %llu", p->flags, p->echo,
		 p->held);
}

KUNIT_ARRAY_PARAM(rtt_echo, rtt_echoes, rtt_echo_describe);

static void rtt_measure(struct hop_port *port, u64 rtt, u64 held)
{
	port->peer.hello.flags = HOP_HELLO_ECHO_VALID;
	port->peer.hello.echo_ns = NOW - held - rtt;
	port->peer.hello.held_ns = held;
	under_lock(port, peer_measure(port, NOW));
}

static void rtt_measured(struct kunit *test)
{
	const struct rtt_echo *p = test->param_value;
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;

	peer->hello.flags = p->flags;
	peer->hello.echo_ns = NOW - p->echo;
	peer->hello.held_ns = p->held;
	under_lock(port, peer_measure(port, NOW));
	KUNIT_EXPECT_EQ(test, peer->rtt_count, p->want != NONE);
	KUNIT_EXPECT_EQ(test, peer->rtt_rough, p->rough);
	if (p->want != NONE)
		KUNIT_EXPECT_EQ(test, peer->rtt[0], p->want);
}

/* What was held for long will do until there is something better. */
static void rtt_rough(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;

	rtt_measure(port, 700, MS + 1);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 1);
	KUNIT_EXPECT_TRUE(test, peer->rtt_rough);
	rtt_measure(port, 600, MS + 1);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 1);
	KUNIT_EXPECT_TRUE(test, peer->rtt_rough);
	KUNIT_EXPECT_EQ(test, peer->rtt[0], 700);
	rtt_measure(port, 800, MS);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 1);
	KUNIT_EXPECT_FALSE(test, peer->rtt_rough);
	KUNIT_EXPECT_EQ(test, peer->rtt[0], 800);
	rtt_measure(port, 600, MS + 1);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 1);
	KUNIT_EXPECT_FALSE(test, peer->rtt_rough);
	rtt_measure(port, 900, 0);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 2);
	KUNIT_EXPECT_EQ(test, peer->rtt[0], 800);
	KUNIT_EXPECT_EQ(test, peer->rtt[1], 900);
}

/* The least of the latest 16; what is older, or was never measured, is not looked at. */
static void rtt_window(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;
	unsigned int i;

	peer->up = true;
	KUNIT_EXPECT_EQ(test, raw_of(port), 0);
	for (i = 0; i < 16; i++) {
		rtt_measure(port, 1000 - i, 0);
		KUNIT_EXPECT_EQ(test, peer->rtt_count, i + 1);
		KUNIT_EXPECT_EQ(test, raw_of(port), 1000 - i);
	}
	for (i = 0; i < 15; i++) {
		rtt_measure(port, 2000 + i, 0);
		KUNIT_EXPECT_EQ(test, peer->rtt[i], 2000 + i);
		KUNIT_EXPECT_EQ(test, raw_of(port), 985);
	}
	rtt_measure(port, 3000, 0);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, 32);
	KUNIT_EXPECT_EQ(test, raw_of(port), 2000);
	peer->up = false;
	KUNIT_EXPECT_EQ(test, raw_of(port), 0);
}

/* And the neighbour's ring time; never 0, which would say that nothing was measured */
static void rtt_raw(struct kunit *test)
{
	static const struct {
		u32 rtt, ring, want;
	} sums[] = {
		{ 0, 0, 1 }, { 0, 1, 1 }, { 1, 0, 1 }, { 0, 2, 2 }, { 500, 700, 1200 },
		{ U32_MAX - 1, 0, U32_MAX - 1 }, { U32_MAX - 2, 1, U32_MAX - 1 },
		{ U32_MAX, 0, U32_MAX }, { U32_MAX, 1, U32_MAX }, { U32_MAX, U32_MAX, U32_MAX },
	};
	struct hop_port *port = test->priv;
	unsigned int i;

	port->peer.up = true;
	port->peer.rtt_count = 1;
	for (i = 0; i < ARRAY_SIZE(sums); i++) {
		port->peer.rtt[0] = sums[i].rtt;
		port->peer.hello.ring_ns = sums[i].ring;
		KUNIT_EXPECT_EQ(test, raw_of(port), sums[i].want);
	}
}

/* What follows from a measured round trip, a reaction and what is configured */
struct hrtt_sum {
	u32	raw, reaction, cfg;
	u32	link, used;
	bool	capped;
};

static const struct hrtt_sum hrtt_sums[] = {
	{ 0, 0, 0, 0, 0 },
	/* nothing less than 100 ns, nothing more than the limit, 1 ms */
	{ 1, 0, 0, 100, 100 }, { 99, 0, 0, 100, 100 }, { 100, 0, 0, 100, 100 },
	{ 101, 0, 0, 101, 101 },
	{ MS - 1, 0, 0, MS - 1, MS - 1 }, { MS, 0, 0, MS, MS }, { MS + 1, 0, 0, MS, MS, true },
	{ U32_MAX, 0, 0, MS, MS, true },
	/* the reaction counts if it is longer, in steps; nothing of it without a round trip */
	{ 5000, 4096, 0, 5000, 5000 }, { 5000, 5000, 0, 5000, 5120 },
	{ 5120, 5000, 0, 5120, 5120 }, { 5121, 5000, 0, 5121, 5121 },
	{ 5000, 10000, 0, 5000, 10240 }, { 0, 10000, 0, 0, 0 },
	{ 5000, MS - 1, 0, 5000, MS }, { 5000, MS, 0, 5000, MS },
	{ 5000, MS + 1, 0, 5000, MS, true }, { 0, MS + 1, 0, 0, 0 },
	/* what is configured wins, even out of bounds */
	{ 0, 0, 7, 7, 7 }, { 5000, 0, 7, 7, 7 }, { 5000, 10000, 2 * MS, 2 * MS, 2 * MS },
	{ 3 * MS, 0, 2 * MS, 2 * MS, 2 * MS }, { 5000, 3 * MS, 7, 7, 7 },
	{ 0, 10000, 7, 7, 7 },
};

static void hrtt_sum_describe(const struct hrtt_sum *p, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "measured %u, reaction %u, configured %u", p->raw,
		 p->reaction, p->cfg);
}

KUNIT_ARRAY_PARAM(hrtt_sum, hrtt_sums, hrtt_sum_describe);

static void hrtt_says(struct hop_port *port, u32 raw)
{
	port->peer.up = true;
	port->peer.rtt[0] = raw;
	port->peer.rtt_count = !!raw;
}

static void hrtt_of(struct kunit *test)
{
	const struct hrtt_sum *p = test->param_value;
	struct hop_port *port = test->priv;

	hrtt_says(port, p->raw);
	port->cfg.hrtt_ns = p->cfg;
	if (p->reaction) {
		port->reaction.window[0] = p->reaction;
		port->reaction.window_ns[0] = NOW;
		port->reaction.count = 1;
	}
	port->hrtt_used = 12345;
	under_lock(port, hop_hrtt_update(port, NOW));
	KUNIT_EXPECT_EQ(test, port->hrtt_link, p->link);
	KUNIT_EXPECT_EQ(test, port->hrtt_used, p->used);
	KUNIT_EXPECT_EQ(test, port->hrtt_capped, p->capped);
	KUNIT_EXPECT_EQ(test, port->events,
			HOP_EVENT_HRTT | (p->capped ? HOP_EVENT_HRTT_CAPPED : 0));
	KUNIT_EXPECT_EQ(test, port->net->hrtt_max, p->used ?: 100000);
}

/* Each change is told once, and the reactions of the last 10 s only count. */
static void hrtt_changes(struct kunit *test)
{
	struct hop_port *port = test->priv;

	hrtt_says(port, MS + 1);
	under_lock(port, hop_hrtt_update(port, NOW));
	KUNIT_EXPECT_EQ(test, port->events, HOP_EVENT_HRTT | HOP_EVENT_HRTT_CAPPED);
	KUNIT_EXPECT_FALSE(test, port->hrtt_doubtful);
	port->events = 0;
	under_lock(port, hop_hrtt_update(port, NOW));
	KUNIT_EXPECT_EQ(test, port->events, 0);
	KUNIT_EXPECT_FALSE(test, box_of(port)->woken);
	KUNIT_EXPECT_TRUE(test, port->hrtt_capped);
	hrtt_says(port, MS);
	under_lock(port, hop_hrtt_update(port, NOW));
	KUNIT_EXPECT_EQ(test, port->events, 0);
	KUNIT_EXPECT_FALSE(test, port->hrtt_capped);
	hrtt_says(port, MS + 1);
	under_lock(port, hop_hrtt_update(port, NOW));
	KUNIT_EXPECT_EQ(test, port->events, HOP_EVENT_HRTT_CAPPED);

	hrtt_says(port, 5000);
	port->reaction.window[0] = 10240;
	port->reaction.window_ns[0] = NOW;
	port->reaction.count = 1;
	under_lock(port, hop_hrtt_update(port, NOW + 10 * DEAD - 1));
	KUNIT_EXPECT_EQ(test, port->hrtt_used, 10240);
	under_lock(port, hop_hrtt_update(port, NOW + 10 * DEAD));
	KUNIT_EXPECT_EQ(test, port->hrtt_used, 5000);
}

/* A host that is said to be one, and not believed: doubtful unless it is configured */
static void hrtt_doubtful(struct kunit *test)
{
	static const struct {
		u8 peer;
		u32 cfg;
		bool doubtful;
	} says[] = {
		{ HOP_ROLE_AUTO, 0, false }, { HOP_ROLE_HOST, 0, true },
		{ HOP_ROLE_SWITCH, 0, false }, { HOP_ROLE_HOST, 500 * 1000, false },
	};
	struct hop_port *port = test->priv;
	unsigned int i;

	hrtt_says(port, 500 * 1000);
	port->peer.hello.role = HOP_ROLE_HOST;
	under_lock(port, hop_hrtt_update(port, NOW));
	for (i = 0; i < ARRAY_SIZE(says); i++) {
		bool changes = port->hrtt_doubtful != says[i].doubtful;

		port->events = 0;
		port->cfg.peer = says[i].peer;
		port->cfg.hrtt_ns = says[i].cfg;
		under_lock(port, hop_hrtt_update(port, NOW));
		KUNIT_EXPECT_EQ(test, port->hrtt_used, 500 * 1000);
		KUNIT_EXPECT_EQ(test, port->hrtt_doubtful, says[i].doubtful);
		KUNIT_EXPECT_EQ(test, port->events, changes ? HOP_EVENT_HRTT : 0);
		KUNIT_EXPECT_EQ(test, port->net->hrtt_max, says[i].doubtful ? 100000 : 500 * 1000);
	}
}

/* ---- whose frames they are ---- */

static bool source_is(struct hop_port *port, u8 last, u64 now)
{
	const u8 mac[ETH_ALEN] = { 2, 0, 0, 0, 0, last };
	bool is;

	under_lock(port, is = hop_peer_source(port, mac, now));
	return is;
}

/* The first one that is heard is the neighbour's, however short a time the clock has run. */
static void source_first(struct kunit *test)
{
	struct hop_port *port = test->priv;

	KUNIT_EXPECT_TRUE(test, source_is(port, 7, 5));
	KUNIT_EXPECT_EQ(test, port->peer.mac[5], 7);
	KUNIT_EXPECT_EQ(test, port->peer.mac_ns, 5);
	KUNIT_EXPECT_TRUE(test, source_is(port, 7, 9));
	KUNIT_EXPECT_EQ(test, port->peer.mac_ns, 9);
	KUNIT_EXPECT_FALSE(test, source_is(port, 8, 9));
	KUNIT_EXPECT_EQ(test, port->stats.rx_shared, 1);
}

/* A second one within the dead interval: more than two ends. After it: the neighbour is another. */
static void source_second(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool within = by[i] <= 0;

		peer_have(port);
		KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBING);
		KUNIT_EXPECT_EQ(test, source_is(port, 8, NOW + DEAD + by[i]), !within);
		KUNIT_EXPECT_EQ(test, port->stats.rx_shared, within);
		KUNIT_EXPECT_EQ(test, peer->mac[5], within ? 7 : 8);
		KUNIT_EXPECT_EQ(test, peer->mac_ns, NOW + (within ? 0 : DEAD + by[i]));
		KUNIT_EXPECT_EQ(test, peer->other_ns, within ? NOW + DEAD + by[i] : 0);
		KUNIT_EXPECT_EQ(test, port->state, within ? HOP_STATE_SHARED : HOP_STATE_PROBING);
	}
}

/* It stays shared while both speak, and ends with the one that is silent for long enough. */
static void source_shared(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;

	peer_have(port);
	KUNIT_EXPECT_TRUE(test, source_is(port, 7, NOW));
	KUNIT_EXPECT_FALSE(test, source_is(port, 8, NOW + 1));
	KUNIT_EXPECT_TRUE(test, source_is(port, 7, NOW + 2));
	KUNIT_EXPECT_FALSE(test, source_is(port, 8, NOW + 3));
	KUNIT_EXPECT_EQ(test, peer->mac_ns, NOW + 2);
	KUNIT_EXPECT_EQ(test, peer->other_ns, NOW + 3);
	KUNIT_EXPECT_EQ(test, port->stats.rx_shared, 2);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_SHARED);
	/* the first is not heard any more */
	KUNIT_EXPECT_TRUE(test, source_is(port, 8, NOW + 3 + DEAD));
	KUNIT_EXPECT_EQ(test, peer->other_ns, 0);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBING);
}

static void source_speaks(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;

	peer_have(port);
	KUNIT_EXPECT_TRUE(test, hop_peer_speaks(port, f));
	f->epoch_mine = OTHER;
	KUNIT_EXPECT_FALSE(test, hop_peer_speaks(port, f));
	f->epoch_mine = PEER;
	f->epoch_yours = OTHER;
	KUNIT_EXPECT_FALSE(test, hop_peer_speaks(port, f));
	f->epoch_yours = 0;
	KUNIT_EXPECT_FALSE(test, hop_peer_speaks(port, f));
	f->epoch_yours = OURS;
	port->peer.up = false;
	KUNIT_EXPECT_FALSE(test, hop_peer_speaks(port, f));
}

/* ---- whether to tag ---- */

/* What is not as it has to be, each by itself and with all that is looked at later */
enum lack {
	LACK_CONFIG	= BIT(0),
	LACK_CARRIER	= BIT(1),
	LACK_ALONE	= BIT(2),
	LACK_NEIGHBOUR	= BIT(3),
	LACK_KNOWN	= BIT(4),
	LACK_KIND	= BIT(5),
	LACK_SWITCH	= BIT(6),
	LACK_STRIPS	= BIT(7),
	LACK_TPID	= BIT(8),
	LACK_ALL	= BIT(9) - 1,
};

static const u8 lack_states[] = {
	HOP_STATE_DISABLED, HOP_STATE_NO_CARRIER, HOP_STATE_SHARED, HOP_STATE_NO_NEIGHBOUR,
	HOP_STATE_NO_NEIGHBOUR, HOP_STATE_KIND, HOP_STATE_HOST, HOP_STATE_NO_STRIP, HOP_STATE_TPID,
};

static void lack_set(struct hop_port *port, unsigned int lack)
{
	struct hop_peer *peer = &port->peer;

	peer_have(port);
	port->cfg.tag = !(lack & LACK_CONFIG);
	port->carrier = !(lack & LACK_CARRIER);
	peer->other_ns = lack & LACK_ALONE ? NOW : 0;
	peer->up = !(lack & LACK_NEIGHBOUR);
	peer->knows_us = !(lack & LACK_KNOWN);
	peer->hello.kinds = lack & LACK_KIND ? 0xfffe : 0xffff;
	peer->hello.role = lack & LACK_SWITCH ? HOP_ROLE_HOST : HOP_ROLE_SWITCH;
	peer->hello.flags = lack & LACK_STRIPS ? ALL_FLAGS & ~HOP_HELLO_STRIPS_TAGS :
			    HOP_HELLO_STRIPS_TAGS;
	peer->hello.tpid = lack & LACK_TPID ? ETH_P_8021Q : ETH_P_8021AD;
}

static void state_lacks(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lack_states); i++) {
		lack_set(port, BIT(i));
		KUNIT_EXPECT_EQ(test, state_of(port), lack_states[i]);
		lack_set(port, LACK_ALL & ~(BIT(i) - 1));
		KUNIT_EXPECT_EQ(test, state_of(port), lack_states[i]);
	}
	lack_set(port, 0);
	KUNIT_EXPECT_EQ(test, state_of(port), HOP_STATE_PROBING);
	port->cfg.tpid = ETH_P_8021Q;
	KUNIT_EXPECT_EQ(test, state_of(port), HOP_STATE_TPID);
	port->peer.hello.tpid = ETH_P_8021Q;
	KUNIT_EXPECT_EQ(test, state_of(port), HOP_STATE_PROBING);
}

static void state_taken_for(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int up, hello, cfg, want;
	u8 role;

	for (up = 0; up < 2; up++) {
		for (hello = HOP_ROLE_HOST; hello <= HOP_ROLE_SWITCH; hello++) {
			for (cfg = HOP_ROLE_AUTO; cfg <= HOP_ROLE_SWITCH; cfg++) {
				peer_have(port);
				port->peer.up = up;
				port->peer.hello.role = hello;
				port->cfg.peer = cfg;
				want = cfg ?: up ? hello : HOP_ROLE_AUTO;
				under_lock(port, role = hop_peer_taken_for(port));
				KUNIT_EXPECT_EQ(test, role, want);
				under_lock(port, hop_peer_state(port, NOW));
				KUNIT_EXPECT_EQ(test, port->to_host, want == HOP_ROLE_HOST);
			}
		}
	}
}

/* STRIPPING counts in answer to our TAGS, not to what we have said before. */
static void state_stripping(struct kunit *test)
{
	static const struct {
		u8 flags;
		s64 echo;	/* after our HELLOs began to say TAGS */
		bool strips;
	} says[] = {
		{ HOP_HELLO_STRIPPING | HOP_HELLO_ECHO_VALID, 0, true },
		{ HOP_HELLO_STRIPPING | HOP_HELLO_ECHO_VALID, 1, true },
		{ HOP_HELLO_STRIPPING | HOP_HELLO_ECHO_VALID, -1, false },
		{ ALL_FLAGS & ~HOP_HELLO_STRIPPING, 1, false },
		{ ALL_FLAGS & ~HOP_HELLO_ECHO_VALID, 1, false },
	};
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		port->tags_since = NOW;
		port->peer.hello.flags = says[i].flags;
		port->peer.hello.echo_ns = NOW + says[i].echo;
		KUNIT_EXPECT_EQ(test, peer_strips(port), says[i].strips);
	}
}

/* Of the handles that may be in a tag the first one, the last, the middle one, and then each */
static void probe_vids(struct kunit *test)
{
	static const u16 vids[] = { 1, 64, 33, 4, 5, 6 };
	struct hop_port *port = test->priv;
	struct hop_probe echo = {};
	u64 now = NOW;
	unsigned int i;
	bool due;

	peer_have(port);
	for (i = 0; i < ARRAY_SIZE(vids); i++) {
		now += DEAD;
		under_lock(port, due = hop_probe_due(port, now));
		KUNIT_EXPECT_TRUE(test, due);
		KUNIT_EXPECT_EQ(test, port->probing.vid, vids[i]);
		echo.nonce = port->probing.nonce;
		under_lock(port, hop_probe_echoed(port, &echo, now));
		KUNIT_EXPECT_TRUE(test, port->probing.answered);
	}
}

/* From the probes' echo over TAGS and STRIPPING to tags, each change told once, and back */
static void state_begins_to_tag(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_hello *h = &port->peer.hello;

	peer_have(port);
	KUNIT_EXPECT_TRUE(test, port->probing.on);
	under_lock(port, hop_peer_state(port, NOW + 1));
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, port->events, 0);

	port->probing.verdict = HOP_STATE_TAGGING;
	h->flags |= HOP_HELLO_STRIPPING | HOP_HELLO_ECHO_VALID;
	h->echo_ns = NOW + 1;
	under_lock(port, hop_peer_state(port, NOW + 2));
	KUNIT_EXPECT_TRUE(test, port->tags);
	KUNIT_EXPECT_EQ(test, port->tags_since, NOW + 2);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW + 2);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBING);
	KUNIT_EXPECT_FALSE(test, port->tagging);
	KUNIT_EXPECT_EQ(test, port->events, 0);

	port->hello_at = U64_MAX;
	h->echo_ns = NOW + 2;
	under_lock(port, hop_peer_state(port, NOW + 3));
	KUNIT_EXPECT_EQ(test, port->tags_since, NOW + 2);
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_TAGGING);
	KUNIT_EXPECT_TRUE(test, port->tagging);
	KUNIT_EXPECT_EQ(test, port->events, HOP_EVENT_STATE);
	KUNIT_EXPECT_EQ(test, port->tags_until, 0);

	port->events = 0;
	under_lock(port, hop_peer_state(port, NOW + 4));
	KUNIT_EXPECT_EQ(test, port->events, 0);
	KUNIT_EXPECT_TRUE(test, box_of(port)->woken);
	KUNIT_EXPECT_EQ(test, port->tags_until, 0);

	port->probing.verdict = HOP_STATE_PROBE_TAG;
	under_lock(port, hop_peer_state(port, NOW + 5));
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_PROBE_TAG);
	KUNIT_EXPECT_FALSE(test, port->tags);
	KUNIT_EXPECT_FALSE(test, port->tagging);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW + 5);
	KUNIT_EXPECT_EQ(test, port->events, HOP_EVENT_STATE);
	KUNIT_EXPECT_EQ(test, port->tags_until, NOW + 5 + 101 * MS);
	/* that it may not be tagged still ends when it did */
	under_lock(port, hop_peer_state(port, NOW + 6));
	KUNIT_EXPECT_EQ(test, port->tags_until, NOW + 5 + 101 * MS);
	KUNIT_EXPECT_TRUE(test, port->probing.on);
	port->cfg.tag = false;
	under_lock(port, hop_peer_state(port, NOW + 7));
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_DISABLED);
	KUNIT_EXPECT_FALSE(test, port->probing.on);
}

/* STRIPPING that answers the TAGS of before it ended will do while TAGS has never ceased. */
static void state_tags_again(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		peer_have_tagging(port);
		port->tags = false;
		port->tags_since = 5;
		port->tags_until = NOW + MS;
		under_lock(port, hop_peer_state(port, NOW + MS + by[i]));
		KUNIT_EXPECT_EQ(test, port->tags_since, by[i] < 0 ? 5 : NOW + MS + by[i]);
		KUNIT_EXPECT_EQ(test, port->state,
				by[i] < 0 ? HOP_STATE_TAGGING : HOP_STATE_PROBING);
	}
}

/* All transmit queues (100 ms if the card does not tell), HRTT and 1 ms; HRTT has a limit, too. */
static void state_flight(struct kunit *test)
{
	static const struct {
		u32 ring, raw, used;
		u64 want;
	} ways[] = {
		{ 0, 0, 0, 101 * MS }, { 1, 0, 0, MS + 1 }, { 5000, 300, 200, MS + 5300 },
		{ 5000, 200, 300, MS + 5300 }, { 5000, 0, 300, MS + 5300 },
		{ 0, 7, 0, 101 * MS + 7 },
		{ 5000, 100 * MS - 1, 0, 101 * MS + 4999 }, { 5000, 100 * MS, 0, 101 * MS + 5000 },
		{ 5000, 100 * MS + 1, 0, 101 * MS + 5000 }, { 5000, 0, U32_MAX, 101 * MS + 5000 },
	};
	struct hop_port *port = test->priv;
	unsigned int i;
	u64 flight;

	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		hrtt_says(port, ways[i].raw);
		port->hrtt_used = ways[i].used;
		under_lock(port, flight = peer_flight_ns(port, ways[i].ring));
		KUNIT_EXPECT_EQ(test, flight, ways[i].want);
		KUNIT_EXPECT_EQ(test, way_of(port),
				min_t(u64, max(ways[i].raw, ways[i].used), 100 * MS));
	}
}

#ifdef CONFIG_BQL
/* Of all queues: two of 1 Gbit/s that may hold 1 ms each, and a neighbour 7 us away */
static void state_stops_tagging(struct kunit *test)
{
	struct hop_port *port = test->priv;

	peer_have_tagging(port);
	hrtt_says(port, 7000);
	port->speed = 1000;
	netdev_get_tx_queue(port->dev, 0)->dql.limit = 125000;
	port->cfg.tag = false;
	under_lock(port, hop_peer_state(port, NOW));
	KUNIT_EXPECT_EQ(test, port->tags_until, NOW + 2 * MS + 7000);
}
#endif

/* The HRTT counts, too, when the neighbour goes. This card does not say what it holds. */
static void state_goes_untagged(struct kunit *test)
{
	struct hop_port *port = test->priv;

	peer_have_tagging(port);
	hrtt_says(port, 7000);
	under_lock(port, hop_peer_drop(port, NOW));
	KUNIT_EXPECT_EQ(test, port->tags_until, NOW + 101 * MS + 7000);

	/* nor if it is beyond what is believed */
	peer_have_tagging(port);
	hrtt_says(port, 3 * MS);
	under_lock(port, hop_peer_lost(port, NOW));
	KUNIT_EXPECT_EQ(test, port->tags_until, NOW + 104 * MS);

	/* what is not tagged is not waited for */
	peer_have(port);
	hrtt_says(port, 7000);
	under_lock(port, hop_peer_drop(port, NOW));
	KUNIT_EXPECT_EQ(test, port->tags_until, 0);
}

/* ---- packets that are parked ---- */

/**
 * struct parked_box - two qdiscs of a port, each below a root of its own
 * @txq: the queues of the device that they are on
 * @root: what is above
 * @sch: they
 * @member: what makes them the port's
 */
struct parked_box {
	struct netdev_queue	txq[2];
	struct Qdisc		root[2];
	struct Qdisc		sch[2];
	struct hop_member	member[2];
};

static struct parked_box *parked_init(struct kunit *test, struct hop_port *port)
{
	struct parked_box *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < 2; i++) {
		rcu_assign_pointer(p->txq[i].qdisc, &noop_qdisc);
		rcu_assign_pointer(p->txq[i].qdisc_sleeping, &p->root[i]);
		p->sch[i].dev_queue = &p->txq[i];
		p->member[i].sch = &p->sch[i];
		p->member[i].count = 1;
		list_add_tail_rcu(&p->member[i].node, &port->members);
	}
	return p;
}

static void parked_exit(struct hop_port *port)
{
	INIT_LIST_HEAD(&port->members);
	synchronize_rcu();
}

static void parked_sends(struct parked_box *p, unsigned int i)
{
	u64_stats_inc(&p->sch[i].bstats.packets);
}

static void parked_waits(struct parked_box *p, unsigned int first, unsigned int second)
{
	p->root[0].q.qlen = first;
	p->root[1].q.qlen = second;
}

static bool parked_is(struct hop_port *port)
{
	bool parked;

	under_lock(port, parked = peer_parked(port));
	return parked;
}

/* Until another packet has left, or none waits above; at each qdisc by itself */
static void parked_leaves(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct parked_box *p = parked_init(test, port);
	unsigned int first;

	parked_sends(p, 0);
	for (first = 0; first < 2; first++) {
		under_lock(port, peer_unparked(port));
		KUNIT_EXPECT_FALSE(test, p->member[0].parked);
		KUNIT_EXPECT_FALSE(test, p->member[1].parked);
		parked_waits(p, 0, 0);
		KUNIT_EXPECT_FALSE(test, parked_is(port));
		KUNIT_EXPECT_FALSE(test, p->member[0].parked);
		/* before the first look that finds some: it does not count */
		parked_sends(p, 0);
		parked_waits(p, 1, 1);
		KUNIT_EXPECT_TRUE(test, parked_is(port));
		KUNIT_EXPECT_TRUE(test, p->member[0].parked);
		KUNIT_EXPECT_TRUE(test, p->member[1].parked);
		KUNIT_EXPECT_TRUE(test, parked_is(port));
		parked_sends(p, first);
		KUNIT_EXPECT_TRUE(test, parked_is(port));
		parked_sends(p, !first);
		KUNIT_EXPECT_FALSE(test, parked_is(port));
		KUNIT_EXPECT_FALSE(test, parked_is(port));
		/* where nothing waits, nothing is parked; that says nothing of the other one */
		under_lock(port, peer_unparked(port));
		parked_waits(p, !first, first);
		KUNIT_EXPECT_TRUE(test, parked_is(port));
		KUNIT_EXPECT_EQ(test, p->member[0].parked, !first);
		KUNIT_EXPECT_EQ(test, p->member[1].parked, first);
	}
	parked_exit(port);
}

/* As long again while a packet may be parked, unless frames are tagged again */
static void parked_prolongs(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct parked_box *p = parked_init(test, port);
	u64 until = NOW + 101 * MS;

	peer_have_tagging(port);
	parked_waits(p, 1, 1);
	p->member[0].parked = true;
	p->member[0].parked_sent = 99;	/* of the time before: a new one begins */
	port->peer.hello.role = HOP_ROLE_HOST;
	under_lock(port, hop_peer_state(port, NOW));
	KUNIT_EXPECT_FALSE(test, p->member[0].parked);
	KUNIT_EXPECT_EQ(test, port->tags_until, until);
	port->hello_at = U64_MAX;
	under_lock(port, hop_peer_expire(port, until));
	until += 101 * MS;
	KUNIT_EXPECT_EQ(test, port->tags_until, until);
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
#ifdef CONFIG_BQL
	port->speed = 1000;
	netdev_get_tx_queue(port->dev, 0)->dql.limit = 125000;
	hrtt_says(port, 7000);
	under_lock(port, hop_peer_expire(port, until));
	until += 2 * MS + 7000;
	KUNIT_EXPECT_EQ(test, port->tags_until, until);
#endif
	port->tags = true;
	under_lock(port, hop_peer_expire(port, until));
	KUNIT_EXPECT_EQ(test, port->tags_until, 0);
	KUNIT_EXPECT_EQ(test, port->hello_at, until);
	/* nothing is parked any more */
	port->tags = false;
	port->tags_until = until;
	parked_sends(p, 0);
	parked_sends(p, 1);
	under_lock(port, hop_peer_expire(port, until));
	KUNIT_EXPECT_EQ(test, port->tags_until, 0);
	parked_exit(port);
}

/* ---- taking tags off ---- */

#define STRIP(queues, tpid)	((queues) << 16 | (tpid))

static void strip_by(struct hop_port *port, u8 flags, u16 queues, u16 tpid, u64 now)
{
	struct hop_hello *h = &port->peer.hello;

	h->flags = flags;
	h->queues = queues;
	h->tpid = tpid;
	port->hello_at = U64_MAX;
	under_lock(port, peer_strip(port, now));
}

/* While the neighbour says TAGS, of our TPID; that we do is said at once. */
static void strip_while_tags(struct kunit *test)
{
	struct hop_port *port = test->priv;

	strip_by(port, ALL_FLAGS & ~HOP_HELLO_TAGS, 100, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, 0);
	strip_by(port, HOP_HELLO_TAGS, 100, ETH_P_8021Q, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, 0);
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	strip_by(port, HOP_HELLO_TAGS, 100, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(100, ETH_P_8021AD));
	KUNIT_EXPECT_EQ(test, port->strip_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW);
	/* of before a smaller range some may be on their way */
	strip_by(port, HOP_HELLO_TAGS, 99, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(100, ETH_P_8021AD));
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	strip_by(port, HOP_HELLO_TAGS, HOP_QUEUES_MAX, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(HOP_QUEUES_MAX, ETH_P_8021AD));
	strip_by(port, ALL_FLAGS & ~HOP_HELLO_TAGS, 100, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, 0);
	KUNIT_EXPECT_EQ(test, port->strip_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	strip_by(port, HOP_HELLO_TAGS, 50, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(50, ETH_P_8021AD));
	strip_by(port, HOP_HELLO_TAGS, 50, ETH_P_8021Q, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, 0);
}

/* A time that has been set stays until TAGS ends it; the sender wants to know of that. */
static void strip_for_some_time(struct kunit *test)
{
	struct hop_port *port = test->priv;

	under_lock(port, hop_peer_unstrip(port, NOW));
	KUNIT_EXPECT_EQ(test, port->strip_at, U64_MAX);	/* none are taken off */
	port->strip = STRIP(100, ETH_P_8021AD);
	under_lock(port, hop_peer_unstrip(port, NOW));
	KUNIT_EXPECT_EQ(test, port->strip_at, NOW + 1200 * MS);
	under_lock(port, hop_peer_unstrip(port, NOW + 1));
	KUNIT_EXPECT_EQ(test, port->strip_at, NOW + 1200 * MS);
	strip_by(port, 0, 50, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(100, ETH_P_8021AD));
	KUNIT_EXPECT_EQ(test, port->strip_at, NOW + 1200 * MS);
	strip_by(port, HOP_HELLO_TAGS, 50, ETH_P_8021AD, NOW);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(100, ETH_P_8021AD));
	KUNIT_EXPECT_EQ(test, port->strip_at, U64_MAX);
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW);
}

/* After a GOODBYE: 64 times the ring time, 100 ms at most or if it is 0, HRTT as it was, 1 ms */
static void strip_after_goodbye(struct kunit *test)
{
	static const struct {
		u32 ring, hrtt;
		u64 want;
	} cards[] = {
		{ 0, 0, 101 * MS }, { 1, 0, MS + 64 }, { 1000, 0, MS + 64000 },
		{ 1562499, 0, MS + 64 * 1562499 }, { 1562500, 0, 101 * MS },
		{ 1562501, 0, 101 * MS }, { U32_MAX, 0, 101 * MS },
		{ 1000, 5000, MS + 64000 + 6000 }, { 0, 5000, 101 * MS + 5000 },
	};
	struct hop_port *port = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cards); i++) {
		peer_have(port);
		port->strip = STRIP(100, ETH_P_8021AD);
		port->strip_at = U64_MAX;
		port->peer.hello.ring_ns = cards[i].ring;
		hrtt_says(port, cards[i].hrtt);
		under_lock(port, hop_peer_left(port, NOW));
		KUNIT_EXPECT_EQ(test, port->strip_at, NOW + cards[i].want);
		KUNIT_EXPECT_EQ(test, port->strip, STRIP(100, ETH_P_8021AD));
		KUNIT_EXPECT_FALSE(test, port->peer.up);
		KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, 1);
	}
	/* a time that ends before stays */
	peer_have(port);
	port->strip_at = NOW + 3;
	under_lock(port, hop_peer_left(port, NOW));
	KUNIT_EXPECT_EQ(test, port->strip_at, NOW + 3);
	peer_have(port);
	port->strip = 0;
	port->strip_at = U64_MAX;
	under_lock(port, hop_peer_left(port, NOW));
	KUNIT_EXPECT_EQ(test, port->strip_at, U64_MAX);
}

/* A port that has said GOODBYE itself ends with the first HELLO without TAGS. */
static void strip_until_hello(struct kunit *test)
{
	static const struct {
		u32 has, epoch;
		s64 sent;
		u8 flags;
		bool ends;
	} says[] = {
		{ BIT(HOP_TLV_HELLO), PEER, 1, 0, true },
		{ BIT(HOP_TLV_HELLO) | BIT(HOP_TLV_PAUSE_ACK), PEER, 1,
		  ALL_FLAGS & ~HOP_HELLO_TAGS, true },
		{ (u32)~BIT(HOP_TLV_HELLO), PEER, 1, 0, false },
		{ BIT(HOP_TLV_HELLO), OTHER, 1, 0, false },
		{ BIT(HOP_TLV_HELLO), PEER, 0, 0, false },
		{ BIT(HOP_TLV_HELLO), PEER, -1, 0, false },
		{ BIT(HOP_TLV_HELLO), PEER, 1, HOP_HELLO_TAGS, false },
		{ BIT(HOP_TLV_HELLO), PEER, 1, ALL_FLAGS, false },
	};
	struct hop_port *port = test->priv;
	struct hop_frame *f = &box_of(port)->f;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(says); i++) {
		peer_have(port);
		port->peer.up = false;
		port->strip = STRIP(100, ETH_P_8021AD);
		port->strip_at = NOW + MS;
		f->has = says[i].has;
		f->epoch_mine = says[i].epoch;
		f->hello.sent_ns = SENT + says[i].sent;
		f->hello.flags = says[i].flags;
		under_lock(port, hop_peer_heard_us_leave(port, f));
		KUNIT_EXPECT_EQ(test, port->strip, says[i].ends ? 0 : STRIP(100, ETH_P_8021AD));
		KUNIT_EXPECT_EQ(test, port->strip_at, says[i].ends ? U64_MAX : NOW + MS);
	}
}

/* ---- the end of a neighbour, and time limits ---- */

/* Something of everything that a neighbour leaves behind */
static void end_begin(struct hop_port *port)
{
	peer_have_tagging(port);
	port->strip = STRIP(QUEUES, ETH_P_8021AD);
	port->strip_at = U64_MAX;
	hrtt_says(port, 5000);
	port->peer.rtt_rough = true;
	port->hrtt_used = 5000;
	port->hrtt_link = 5000;
	port->paused[2] = 1;
	port->streams[HOP_SLOT_PAUSE].lease_at = NOW + MS;
	port->streams[HOP_SLOT_PAUSE].told[1] = 1;
	port->streams[HOP_SLOT_PAUSE].unacked = 2;
	port->reaction.count = 1;
	port->acks = BIT(HOP_SLOT_PAUSE);
	port->n_echoes = 2;
	port->hello_gap = 100 * MS;
}

static void end_expect(struct kunit *test, bool ended, u64 now)
{
	struct hop_port *port = test->priv;
	struct hop_peer *peer = &port->peer;

	KUNIT_EXPECT_EQ(test, peer->up, !ended);
	KUNIT_EXPECT_EQ(test, peer->knows_us, !ended);
	KUNIT_EXPECT_EQ(test, peer->rtt_count, !ended);
	KUNIT_EXPECT_EQ(test, peer->rtt_rough, !ended);
	KUNIT_EXPECT_EQ(test, port->paused[2], !ended);
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].lease_at, ended ? U64_MAX : NOW + MS);
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].told[1], !ended);
	KUNIT_EXPECT_EQ(test, port->streams[HOP_SLOT_PAUSE].unacked, ended ? 0 : 2);
	KUNIT_EXPECT_EQ(test, port->reaction.count, !ended);
	KUNIT_EXPECT_EQ(test, port->strip_at, ended ? now + 1200 * MS : U64_MAX);
	KUNIT_EXPECT_EQ(test, port->acks, ended ? 0 : BIT(HOP_SLOT_PAUSE));
	KUNIT_EXPECT_EQ(test, port->n_echoes, ended ? 0 : 2);
	KUNIT_EXPECT_EQ(test, port->hrtt_used, ended ? 0 : 5000);
	KUNIT_EXPECT_EQ(test, port->tagging, !ended);
	KUNIT_EXPECT_EQ(test, port->hello_gap, (ended ? 1 : 100) * MS);
	KUNIT_EXPECT_EQ(test, port->hello_at, ended ? now : U64_MAX);
}

/* What is not to be taken twice stays, and so do tags that are taken off, and handles. */
static void end_expect_kept(struct kunit *test)
{
	struct hop_port *port = test->priv;

	KUNIT_EXPECT_EQ(test, port->peer.epoch, PEER);
	KUNIT_EXPECT_EQ(test, port->peer.hello.sent_ns, SENT);
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES);
	KUNIT_EXPECT_EQ(test, port->strip, STRIP(QUEUES, ETH_P_8021AD));
}

static void end_dropped(struct kunit *test)
{
	struct hop_port *port = test->priv;

	end_begin(port);
	under_lock(port, hop_peer_drop(port, NOW + 9));
	end_expect(test, true, NOW + 9);
	end_expect_kept(test);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_NO_NEIGHBOUR);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, 0);
	KUNIT_EXPECT_EQ(test, port->events & HOP_EVENT_NEIGHBOUR_LOST, 0);
	KUNIT_EXPECT_EQ(test, port->peer.mac_ns, NOW);

	/* the next HELLO is not for the old one, whether or not there were tags */
	peer_have(port);
	under_lock(port, hop_peer_drop(port, NOW + 9));
	KUNIT_EXPECT_EQ(test, port->hello_at, NOW + 9);

	/* where there is none, none is dropped */
	end_begin(port);
	port->peer.up = false;
	under_lock(port, hop_peer_drop(port, NOW + 9));
	port->peer.up = true;
	end_expect(test, false, NOW + 9);
}

static void end_lost(struct kunit *test)
{
	struct hop_port *port = test->priv;

	end_begin(port);
	under_lock(port, hop_peer_lost(port, NOW + 9));
	end_expect(test, true, NOW + 9);
	end_expect_kept(test);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_NO_NEIGHBOUR);
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, 1);
	KUNIT_EXPECT_EQ(test, port->events & HOP_EVENT_NEIGHBOUR_LOST, HOP_EVENT_NEIGHBOUR_LOST);
	KUNIT_EXPECT_EQ(test, port->peer.mac_ns, 0);

	notes_clear(port);
	port->peer.mac_ns = NOW;
	port->peer.other_ns = NOW;
	under_lock(port, hop_peer_lost(port, NOW + 9));
	KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, 0);
	KUNIT_EXPECT_EQ(test, port->events, 0);
	KUNIT_EXPECT_EQ(test, port->peer.mac_ns, NOW);
	KUNIT_EXPECT_EQ(test, port->peer.other_ns, NOW);

	/* whoever speaks next is the neighbour's address, also of two that did */
	peer_have(port);
	port->peer.other_ns = NOW;
	under_lock(port, hop_peer_state(port, NOW));
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_SHARED);
	under_lock(port, hop_peer_lost(port, NOW + 9));
	KUNIT_EXPECT_EQ(test, port->peer.other_ns, 0);
	KUNIT_EXPECT_EQ(test, port->state, HOP_STATE_NO_NEIGHBOUR);
}

/* A neighbour is dead after 1 s without a valid frame. */
static void end_silent(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	unsigned int i;
	u64 at, end;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		end_begin(port);
		under_lock(port, hop_peer_alive(port, NOW + 50));
		end = NOW + 50 + DEAD;
		under_lock(port, at = hop_peer_next(port));
		KUNIT_EXPECT_EQ(test, at, end);
		under_lock(port, hop_peer_expire(port, end + by[i]));
		end_expect(test, by[i] >= 0, end + by[i]);
		KUNIT_EXPECT_EQ(test, port->stats.neighbour_lost, by[i] >= 0);
	}
	/* where there is none, nothing ends */
	port->strip_at = U64_MAX;
	port->tags_until = 0;
	under_lock(port, at = hop_peer_next(port));
	KUNIT_EXPECT_EQ(test, at, U64_MAX);
}

/* The other address was silent for a dead interval: the link has two ends again. */
static void end_shared(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	unsigned int i;
	u64 at;

	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool ended = by[i] >= 0;

		peer_have(port);
		port->peer.heard_ns = NOW + DEAD;
		KUNIT_EXPECT_FALSE(test, source_is(port, 8, NOW + 4));
		under_lock(port, at = hop_peer_next(port));
		KUNIT_EXPECT_EQ(test, at, NOW + 4 + DEAD);
		under_lock(port, hop_peer_expire(port, NOW + 4 + DEAD + by[i]));
		KUNIT_EXPECT_EQ(test, port->peer.other_ns, ended ? 0 : NOW + 4);
		KUNIT_EXPECT_EQ(test, port->state, ended ? HOP_STATE_PROBING : HOP_STATE_SHARED);
		KUNIT_EXPECT_TRUE(test, port->peer.up);
	}
	under_lock(port, at = hop_peer_next(port));
	KUNIT_EXPECT_EQ(test, at, NOW + 2 * DEAD);
}

/* Tags are taken off until then, and TAGS is said until then: then a HELLO says that it is over. */
static void end_tags(struct kunit *test)
{
	static const s64 by[] = { -1, 0, 1 };
	struct hop_port *port = test->priv;
	unsigned int i;
	u64 at;

	under_lock(port, at = hop_peer_next(port));
	KUNIT_EXPECT_EQ(test, at, U64_MAX);
	under_lock(port, hop_peer_expire(port, NOW));
	KUNIT_EXPECT_EQ(test, port->hello_at, U64_MAX);
	for (i = 0; i < ARRAY_SIZE(by); i++) {
		bool ended = by[i] >= 0;

		port->tags_until = NOW;
		port->strip = 1;
		port->strip_at = NOW + 10;
		port->hello_at = U64_MAX;
		under_lock(port, at = hop_peer_next(port));
		KUNIT_EXPECT_EQ(test, at, NOW);
		under_lock(port, hop_peer_expire(port, NOW + by[i]));
		KUNIT_EXPECT_EQ(test, port->tags_until, ended ? 0 : NOW);
		KUNIT_EXPECT_EQ(test, port->hello_at, ended ? NOW + by[i] : U64_MAX);
		KUNIT_EXPECT_EQ(test, port->strip, 1);

		port->tags_until = 0;
		under_lock(port, at = hop_peer_next(port));
		KUNIT_EXPECT_EQ(test, at, NOW + 10);
		under_lock(port, hop_peer_expire(port, NOW + 10 + by[i]));
		KUNIT_EXPECT_EQ(test, port->strip, !ended);
		KUNIT_EXPECT_EQ(test, port->strip_at, ended ? U64_MAX : NOW + 10);
	}
}

/* Which one is the first does not depend on which one it is. */
static void end_next(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int i;
	u64 at;

	for (i = 0; i < 4; i++) {
		port->peer.up = true;
		port->strip_at = NOW + 100 - (i == 0);
		port->tags_until = NOW + 100 - (i == 1);
		port->peer.heard_ns = NOW + 100 - DEAD - (i == 2);
		port->peer.other_ns = NOW + 100 - DEAD - (i == 3);
		under_lock(port, at = hop_peer_next(port));
		KUNIT_EXPECT_EQ(test, at, NOW + 99);
	}
}

/* ---- what we are ---- */

/* Handles go with what we are and what the neighbour is; a change is said whole. */
static void role_handles(struct kunit *test)
{
	struct hop_port *port = test->priv;

	peer_have(port);
	KUNIT_EXPECT_EQ(test, port->handles, HOP_HANDLE_FIRST << 16 | QUEUES);
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_TRUE(test, bitmap_empty(port->pausing_dirty, HOP_BITMAP_WORDS));
	KUNIT_EXPECT_FALSE(test, box_of(port)->woken);
	port->peer.hello.queues = QUEUES / 2;
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES / 2);
	KUNIT_EXPECT_TRUE(test, bitmap_full(port->pausing_dirty, HOP_BITMAP_WORDS));
	KUNIT_EXPECT_TRUE(test, box_of(port)->woken);

	/* those of a neighbour that is lost stay, whatever it was */
	port->peer.up = false;
	port->peer.hello.kinds = 0;
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES / 2);
	port->role = HOP_ROLE_HOST;
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_EQ(test, port->handles, 0);
	/* and are not asked for anew */
	port->role = HOP_ROLE_SWITCH;
	port->peer.hello.kinds = HOP_KIND_BFC;
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_EQ(test, port->handles, 0);
	port->peer.up = true;
	port->peer.hello.kinds = ~HOP_KIND_BFC;
	under_lock(port, peer_handles(port));
	KUNIT_EXPECT_EQ(test, port->handles, 0);
}

static void role_kinds(struct kunit *test)
{
	struct hop_port *port = test->priv;

	peer_have(port);
	port->paused[1] = 1;
	under_lock(port, hop_peer_kinds(port, NOW));
	KUNIT_EXPECT_EQ(test, port->paused[1], 1);
	port->cfg.kinds = 0xfffe;
	port->peer.up = false;
	under_lock(port, hop_peer_kinds(port, NOW));
	KUNIT_EXPECT_EQ(test, port->paused[1], 1);
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES);
	port->peer.up = true;
	under_lock(port, hop_peer_kinds(port, NOW));
	KUNIT_EXPECT_EQ(test, port->paused[1], 0);
	KUNIT_EXPECT_EQ(test, port->handles, 0);
}

static u8 role_of(struct hop_port *port)
{
	under_lock(port, hop_peer_role(port));
	return port->role;
}

/* What forwards is a switch: a bridge's port, or where this device or all of them forward. */
static void role_resolved(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct in_device *in_dev = kunit_kzalloc(test, sizeof(*in_dev), GFP_KERNEL);
	struct net *net = dev_net(port->dev);
	int all;

	KUNIT_ASSERT_NOT_NULL(test, in_dev);
	all = IPV4_DEVCONF_ALL(net, FORWARDING);
	IPV4_DEVCONF_ALL(net, FORWARDING) = 0;
	peer_have(port);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	KUNIT_EXPECT_EQ(test, port->handles, 0);
	port->dev->priv_flags |= IFF_BRIDGE_PORT;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	KUNIT_EXPECT_EQ(test, port->handles & 0xffff, QUEUES);
	port->dev->priv_flags &= ~IFF_BRIDGE_PORT;
	IPV4_DEVCONF_ALL(net, FORWARDING) = 1;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	port->cfg.role = HOP_ROLE_HOST;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	IPV4_DEVCONF_ALL(net, FORWARDING) = 0;
	port->cfg.role = HOP_ROLE_SWITCH;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	port->cfg.role = HOP_ROLE_AUTO;

	rcu_assign_pointer(port->dev->ip_ptr, in_dev);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	IN_DEV_CONF_SET(in_dev, FORWARDING, 1);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	RCU_INIT_POINTER(port->dev->ip_ptr, NULL);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	IPV4_DEVCONF_ALL(net, FORWARDING) = all;
}

#if IS_ENABLED(CONFIG_IPV6)
static void role_resolved_ipv6(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct inet6_dev *in6_dev = kunit_kzalloc(test, sizeof(*in6_dev), GFP_KERNEL);
	struct net *net = dev_net(port->dev);
	int all;

	KUNIT_ASSERT_NOT_NULL(test, in6_dev);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	rcu_assign_pointer(port->dev->ip6_ptr, in6_dev);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	in6_dev->cnf.forwarding = 1;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	RCU_INIT_POINTER(port->dev->ip6_ptr, NULL);
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_HOST);
	if (!net->ipv6.devconf_all)
		return;
	all = net->ipv6.devconf_all->forwarding;
	net->ipv6.devconf_all->forwarding = 1;
	KUNIT_EXPECT_EQ(test, role_of(port), HOP_ROLE_SWITCH);
	net->ipv6.devconf_all->forwarding = all;
}
#endif

/* What came with a tag between two looks counts as unseen if a filter is there at the second. */
static void role_filters(struct kunit *test)
{
	struct hop_port *port = test->priv;
	/* any: it is counted, and not looked at */
	struct bpf_prog *prog = (struct bpf_prog *)port;
	unsigned int i;

	for (i = 0; i < 3; i++)
		hop_pcpu_inc(port, stripped);
	under_lock(port, hop_peer_filters(port));
	KUNIT_EXPECT_FALSE(test, port->filtered);
	KUNIT_EXPECT_EQ(test, port->unseen, 0);
	hop_pcpu_inc(port, stripped);
	port->dev->xdp_state[XDP_MODE_DRV].prog = prog;
	under_lock(port, hop_peer_filters(port));
	KUNIT_EXPECT_TRUE(test, port->filtered);
	KUNIT_EXPECT_EQ(test, port->unseen, 1);
	hop_pcpu_inc(port, stripped);
	hop_pcpu_inc(port, stripped);
	under_lock(port, hop_peer_filters(port));
	KUNIT_EXPECT_EQ(test, port->unseen, 3);
	port->dev->xdp_state[XDP_MODE_DRV].prog = NULL;
	hop_pcpu_inc(port, stripped);
	under_lock(port, hop_peer_filters(port));
	KUNIT_EXPECT_FALSE(test, port->filtered);
	KUNIT_EXPECT_EQ(test, port->unseen, 3);
	KUNIT_EXPECT_EQ(test, port->unseen_from, 7);
}

static struct kunit_case peer_cases[] = {
	KUNIT_CASE(hello_replayed),
	KUNIT_CASE(hello_from_the_future),
	KUNIT_CASE(hello_time),
	KUNIT_CASE(hello_names),
	KUNIT_CASE(hello_fourth_is_answered),
	KUNIT_CASE(hello_is_taken),
	KUNIT_CASE(cand_of_lost_epoch),
	KUNIT_CASE_PARAM(cand_replayed, cand_time_gen_params),
	KUNIT_CASE(cand_first),
	KUNIT_CASE_PARAM(cand_confirmed, cand_says_gen_params),
	KUNIT_CASE(cand_plays_back),
	KUNIT_CASE(cand_hurries),
	KUNIT_CASE(cand_replaces),
	KUNIT_CASE(cand_comes_back),
	KUNIT_CASE(cand_age),
	KUNIT_CASE(cand_finds),
	KUNIT_CASE(cand_gives_way),
	KUNIT_CASE(cand_heard_last),
	KUNIT_CASE_PARAM(rtt_measured, rtt_echo_gen_params),
	KUNIT_CASE(rtt_rough),
	KUNIT_CASE(rtt_window),
	KUNIT_CASE(rtt_raw),
	KUNIT_CASE_PARAM(hrtt_of, hrtt_sum_gen_params),
	KUNIT_CASE(hrtt_changes),
	KUNIT_CASE(hrtt_doubtful),
	KUNIT_CASE(source_first),
	KUNIT_CASE(source_second),
	KUNIT_CASE(source_shared),
	KUNIT_CASE(source_speaks),
	KUNIT_CASE(state_lacks),
	KUNIT_CASE(state_taken_for),
	KUNIT_CASE(state_stripping),
	KUNIT_CASE(probe_vids),
	KUNIT_CASE(state_begins_to_tag),
	KUNIT_CASE(state_tags_again),
	KUNIT_CASE(state_flight),
#ifdef CONFIG_BQL
	KUNIT_CASE(state_stops_tagging),
#endif
	KUNIT_CASE(state_goes_untagged),
	KUNIT_CASE(parked_leaves),
	KUNIT_CASE(parked_prolongs),
	KUNIT_CASE(strip_while_tags),
	KUNIT_CASE(strip_for_some_time),
	KUNIT_CASE(strip_after_goodbye),
	KUNIT_CASE(strip_until_hello),
	KUNIT_CASE(end_dropped),
	KUNIT_CASE(end_lost),
	KUNIT_CASE(end_silent),
	KUNIT_CASE(end_shared),
	KUNIT_CASE(end_tags),
	KUNIT_CASE(end_next),
	KUNIT_CASE(role_handles),
	KUNIT_CASE(role_kinds),
	KUNIT_CASE(role_resolved),
#if IS_ENABLED(CONFIG_IPV6)
	KUNIT_CASE(role_resolved_ipv6),
#endif
	KUNIT_CASE(role_filters),
	{}
};

static struct kunit_suite peer_suite = {
	.name		= "sluice_peer",
	.init		= box_init,
	.exit		= box_exit,
	.test_cases	= peer_cases,
};
kunit_test_suite(peer_suite);
