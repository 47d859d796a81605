// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_pause.c - sequence numbers where they wrap, and bitmaps where words end
 */
#include "../../kernel/hopctl/pause.c"
#include "port.h"

#define LEASE_NS	1000000
#define NOW		5000000

static int pause_init(struct kunit *test)
{
	struct hop_port *port;
	int err = sluice_port_init(test);

	if (err)
		return err;
	port = test->priv;
	port->peer.up = true;
	port->peer.hello.role = HOP_ROLE_SWITCH;
	port->peer.hello.kinds = HOP_KIND_BFC;
	port->cfg.kinds = HOP_KIND_BFC;
	port->peer.hello.queues = HOP_QUEUES_MAX;
	port->queues = HOP_QUEUES_MAX;
	port->queues_most = HOP_QUEUES_MAX;
	spin_lock_bh(&port->lock);
	hop_streams_judge(port, NOW);
	spin_unlock_bh(&port->lock);
	return 0;
}

static struct hop_stream *stream_of(struct hop_port *port)
{
	return &port->streams[HOP_SLOT_PAUSE];
}

/* An echo arrives. */
static void pause_echo(struct hop_port *port, u32 seq)
{
	struct hop_told told = { .slot = HOP_SLOT_PAUSE, .ack = true, .seq = seq };

	spin_lock_bh(&port->lock);
	hop_streams_rx(port, &told, NOW);
	spin_unlock_bh(&port->lock);
}

/* A PAUSE STATE of one word arrives. */
static void pause_take(struct hop_port *port, u32 seq, u16 word, u64 bits)
{
	__be64 wire = cpu_to_be64(bits);
	struct hop_told told = {
		.slot = HOP_SLOT_PAUSE, .seq = seq, .lease_ns = LEASE_NS, .first = word, .count = 1,
		.data = (const u8 *)&wire,
	};

	spin_lock_bh(&port->lock);
	rcu_read_lock();
	hop_streams_rx(port, &told, NOW);
	rcu_read_unlock();
	spin_unlock_bh(&port->lock);
}

struct pause_pair {
	u32	old, seq;
	bool	newer;
};

static const struct pause_pair pause_pairs[] = {
	{ 0, 0, false }, { 0, 1, true }, { 1, 0, false },
	{ 0xffffffff, 0, true }, { 0, 0xffffffff, false },
	{ 0xfffffffe, 1, true }, { 1, 0xfffffffe, false },
	{ 0x7fffffff, 0x80000000, true }, { 0x80000000, 0x7fffffff, false },
	{ 0, 0x7fffffff, true }, { 0x7fffffff, 0, false },
	{ 0xc0000000, 0x3fffffff, true }, { 0x3fffffff, 0xc0000000, false },
	/* as far apart as can be: neither is newer */
	{ 0, 0x80000000, false }, { 0x80000000, 0, false },
};

static void pause_pair_describe(const struct pause_pair *p, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%08x after %08x", p->seq, p->old);
}

KUNIT_ARRAY_PARAM(pause_pair, pause_pairs, pause_pair_describe);

static void pause_newer(struct kunit *test)
{
	const struct pause_pair *p = test->param_value;
	struct hop_port *port = test->priv;

	pause_take(port, p->old, 0, 1);
	KUNIT_EXPECT_EQ(test, port->paused[0], 1);
	pause_take(port, p->seq, 0, 2);
	KUNIT_EXPECT_EQ(test, port->paused[0], p->newer ? 2 : 1);
	KUNIT_EXPECT_EQ(test, stream_of(port)->rx_seq, p->newer ? p->seq : p->old);
	KUNIT_EXPECT_EQ(test, port->stats.rx_stale, !p->newer);
	KUNIT_EXPECT_EQ(test, stream_of(port)->stats.rx, 1 + p->newer);
	/* the other end is told in any case */
	KUNIT_EXPECT_EQ(test, port->acks, BIT(HOP_SLOT_PAUSE));
}

/* The first one of an epoch may have any number. */
static void pause_first(struct kunit *test)
{
	const struct pause_pair *p = test->param_value;
	struct hop_port *port = test->priv;

	pause_take(port, p->seq, 0, 1);
	KUNIT_EXPECT_EQ(test, port->paused[0], 1);
	KUNIT_EXPECT_EQ(test, stream_of(port)->lease_at, NOW + LEASE_NS);
	KUNIT_EXPECT_EQ(test, port->stats.rx_stale, 0);
}

/* An echo of @seq confirms what was first told by then, and nothing from the future. */
static void pause_echoes(struct kunit *test)
{
	static const u32 start[] = { 10, 0xfffffffe, 0x7ffffffe };
	struct hop_port *port = test->priv;
	struct hop_stream *s = stream_of(port);
	unsigned int i, told, echo;

	for (i = 0; i < ARRAY_SIZE(start); i++) {
		for (echo = 0; echo < 6; echo++) {
			memset(&port->stats, 0, sizeof(port->stats));
			s->seq = start[i] + 4;
			s->unacked = GENMASK_ULL(4, 0);
			for (told = 0; told < 5; told++)
				s->changed[told] = start[i] + told;
			pause_echo(port, start[i] + echo);
			KUNIT_EXPECT_EQ(test, port->stats.rx_range, echo == 5);
			KUNIT_EXPECT_EQ(test, s->unacked,
					echo == 5 ? 0x1f : 0x1f & ~GENMASK_ULL(echo, 0));
		}
	}
}

/* A number from the future is gone on from where the one behind it is new to a neighbour that has
 * either: up to half of those that are newer than ours.
 */
static void pause_echo_far_ahead(struct kunit *test)
{
	static const u32 start[] = { 10, 0xfffffffe, 0x7ffffffe };
	struct hop_port *port = test->priv;
	struct hop_stream *s = stream_of(port);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(start); i++) {
		memset(&port->stats, 0, sizeof(port->stats));
		s->seq = start[i];
		pause_echo(port, start[i] + 0x40000001);
		KUNIT_EXPECT_EQ(test, s->seq, start[i]);
		pause_echo(port, start[i] + 0x7fffffff);
		KUNIT_EXPECT_EQ(test, s->seq, start[i]);
		pause_echo(port, start[i] + 0x40000000);
		KUNIT_EXPECT_EQ(test, s->seq, start[i] + 0x40000000);
		KUNIT_EXPECT_EQ(test, port->stats.rx_range, 3);
	}
}

/* Our own numbers go on over the wrap, one for each frame, and an echo still finds its word. */
static void pause_sends_over_the_wrap(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_stream *s = stream_of(port);
	static u8 buf[256];	/* the stack has no room */
	unsigned int i;

	s->seq = 0xfffffffd;
	for (i = 0; i < 6; i++) {
		u32 want = 0xfffffffe + i;
		u64 now = NOW + i * NSEC_PER_SEC;
		struct hop_writer w;
		struct hop_frame f;
		u32 written;

		hop_stream_change(s, i, 1);
		hop_frame_begin(&w, buf, sizeof(buf), 1, 2);
		spin_lock_bh(&port->lock);
		written = hop_streams_write(port, &w, now);
		spin_unlock_bh(&port->lock);
		KUNIT_ASSERT_EQ(test, written, BIT(HOP_SLOT_PAUSE));
		KUNIT_ASSERT_EQ(test, hop_frame_parse(buf, hop_frame_end(&w), &f), HOP_FRAME_OK);
		KUNIT_EXPECT_EQ(test, f.told[0].seq, want);
		KUNIT_EXPECT_EQ(test, f.told[0].first, i);
		KUNIT_EXPECT_EQ(test, f.told[0].count, 1);
		KUNIT_EXPECT_EQ(test, s->seq, want);
		pause_echo(port, want);
		KUNIT_EXPECT_EQ(test, s->unacked, 0);
	}
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, 0);
}

/* The sub-queue whose pause is looked at is found in its word, and in no other. */
static void pause_is_found(struct kunit *test)
{
	unsigned int vid, word, wrong = 0;

	for (vid = 1; vid <= HOP_QUEUES_MAX; vid++) {
		for (word = 0; word < HOP_BITMAP_WORDS; word++) {
			u64 bit = (vid - 1) / 64 == word ? BIT_ULL((vid - 1) & 63) : 0;

			wrong += pause_is_among(vid, word, ~0ULL) != !!bit;
			wrong += pause_is_among(vid, word, ~bit);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_FALSE(test, pause_is_among(HOP_REACTION_NONE, 1023, ~0ULL));
}

/* ---- another told state beside it ---- */

static unsigned int other_pages(const struct hop_port *port)
{
	return HOP_STREAM_PAGES;
}

static void other_does(struct hop_port *port, u64 now)
{
}

static bool other_rx(struct hop_port *port, const struct hop_told *told, u64 now)
{
	return false;
}

static const struct hop_content other = {
	.kinds		= U16_MAX,
	.pages		= other_pages,
	.collect	= other_does,
	.rx_pages	= other_pages,
	.rx		= other_rx,
	.lost		= other_does,
};

/* Both have all of their pages to tell. What does not fit into a frame is in the next one. */
static void pause_shares_frames(struct kunit *test)
{
	static const unsigned int sizes[] = { 640, 1000, 1168, HOP_FRAME_MAX };
	struct hop_port *port = test->priv;
	unsigned int i, page, room, slot;
	struct hop_writer w;
	struct hop_frame f;
	u8 *buf = kunit_kzalloc(test, HOP_FRAME_MAX, GFP_KERNEL);
	u32 said, again;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_ASSERT_EQ(test, hop_content_register(HOP_SLOT_EXAMPLE, &other), 0);
	KUNIT_EXPECT_EQ(test, hop_content_register(HOP_SLOT_EXAMPLE, &other), -EBUSY);
	room = hop_streams_room;
	spin_lock_bh(&port->lock);
	hop_streams_judge(port, NOW);
	spin_unlock_bh(&port->lock);
	KUNIT_EXPECT_EQ(test, room + HOP_FRAME_REST, 1168);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		spin_lock_bh(&port->lock);
		for (slot = 0; slot < HOP_SLOTS; slot++)
			for (page = 0; page < HOP_STREAM_PAGES; page++)
				hop_stream_change(&port->streams[slot], page, true);
		port->spacing.next_ns = 0;
		hop_frame_begin(&w, buf, sizes[i], 1, 2);
		said = hop_streams_write(port, &w, NOW + i);
		KUNIT_EXPECT_EQ(test, said, sizes[i] < 1168 ? BIT(HOP_SLOT_PAUSE) :
					    BIT(HOP_SLOT_PAUSE) | BIT(HOP_SLOT_EXAMPLE));
		port->acks = BIT(HOP_SLOTS) - 1;
		for (slot = 0; slot < HOP_SLOTS; slot++)
			port->streams[slot].rx_valid = true;
		KUNIT_EXPECT_EQ(test, hop_streams_write_acks(port, &w), BIT(HOP_SLOTS) - 1);
		hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &(struct hop_probe) { .vid = 1 });
		hop_frame_add_hello(&w, &(struct hop_hello) { .role = HOP_ROLE_HOST });
		KUNIT_EXPECT_EQ(test, hop_frame_parse(buf, hop_frame_end(&w), &f), HOP_FRAME_OK);
		KUNIT_EXPECT_EQ(test, f.n_told, HOP_SLOTS + hweight32(said));
		port->spacing.next_ns = 0;
		hop_frame_begin(&w, buf, sizes[i], 1, 2);
		again = hop_streams_write(port, &w, NOW + i);
		KUNIT_EXPECT_EQ(test, said & again, 0);
		KUNIT_EXPECT_EQ(test, said | again, BIT(HOP_SLOTS) - 1);
		hop_streams_stop(port, NOW + i);
		spin_unlock_bh(&port->lock);
	}
	hop_content_unregister(HOP_SLOT_EXAMPLE);
}

/* Words that lie outside of the sub-queues that were ever announced, and leases over the limit */
static void pause_range(struct kunit *test)
{
	struct hop_port *port = test->priv;

	port->queues_most = 65;	/* words 0 and 1 */
	pause_take(port, 1, 1, 1);
	KUNIT_EXPECT_EQ(test, port->paused[1], 1);
	pause_take(port, 2, 2, 1);
	KUNIT_EXPECT_EQ(test, port->paused[2], 0);
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, 1);
	KUNIT_EXPECT_EQ(test, stream_of(port)->rx_seq, 1);
	port->queues_most = 64;
	pause_take(port, 3, 1, 0);
	KUNIT_EXPECT_EQ(test, port->paused[1], 1);
	KUNIT_EXPECT_EQ(test, port->stats.rx_range, 2);
}

/* The same numbers in each run; not linear, so that no word is like another one */
static void pause_fill(u64 *words)
{
	u64 x = 1;
	int i;

	for (i = 0; i < HOP_BITMAP_WORDS; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		words[i] = x ^ x >> 29;
	}
}

static bool pause_bit(const u64 *words, unsigned int n)
{
	return words[n / 64] >> n % 64 & 1;
}

/* A member sees each of its sub-queues, wherever its range begins. */
static void pause_member_words(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_member m = { .port = port, .paused = port->paused };
	static const u16 counts[] = { 1, 63, 64, 65, 130 };
	unsigned int first, c, i, wrong = 0;

	pause_fill(port->paused);
	for (first = 0; first < HOP_QUEUES_MAX; first += first < 200 ? 1 : 37) {
		for (c = 0; c < ARRAY_SIZE(counts); c++) {
			m.first = first;
			m.count = min_t(u32, counts[c], HOP_QUEUES_MAX - first);
			for (i = 0; i < m.count; i++)
				wrong += (hop_paused_word(&m, i / 64) >> i % 64 & 1) !=
					 pause_bit(port->paused, first + i);
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

/* The last sub-queue that there is, in a word that has no next one */
static void pause_member_last_word(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_member m = { .port = port, .paused = port->paused };

	port->paused[HOP_BITMAP_WORDS - 1] = BIT_ULL((HOP_QUEUES_MAX - 1) % 64);
	for (m.first = HOP_QUEUES_MAX - 60; m.first < HOP_QUEUES_MAX; m.first++) {
		m.count = HOP_QUEUES_MAX - m.first;
		KUNIT_EXPECT_EQ(test, hop_paused_word(&m, 0), BIT_ULL(m.count - 1));
	}
}

/* A change wakes the members whose range it touches, and no other. */
static void pause_members_woken(struct kunit *test)
{
	struct hop_port *port = test->priv;
	static const struct {
		u16 first, count;
	} range[] = { { 0, 64 }, { 64, 1 }, { 65, 63 }, { 128, 100 } };
	static const u32 woken[][ARRAY_SIZE(range)] = {
		{ 1, 0, 0, 0 }, { 1, 1, 1, 0 }, { 1, 1, 1, 1 }, { 1, 1, 1, 2 }, { 1, 1, 1, 2 },
	};
	struct hop_member *m = kunit_kcalloc(test, ARRAY_SIZE(range), sizeof(*m), GFP_KERNEL);
	unsigned int i, word;

	KUNIT_ASSERT_NOT_NULL(test, m);
	for (i = 0; i < ARRAY_SIZE(range); i++) {
		m[i].first = range[i].first;
		m[i].count = range[i].count;
		m[i].port = port;
		m[i].sch = &noop_qdisc;
		list_add_tail_rcu(&m[i].node, &port->members);
	}
	for (word = 0; word < ARRAY_SIZE(woken); word++) {
		pause_take(port, word, word, 1);
		/* what it says is so already: nobody is woken */
		pause_take(port, word + 1, word, 1);
		stream_of(port)->rx_seq = word;
		for (i = 0; i < ARRAY_SIZE(range); i++)
			KUNIT_EXPECT_EQ(test, m[i].paused_gen, woken[word][i]);
	}
	for (i = 0; i < ARRAY_SIZE(range); i++)
		list_del_rcu(&m[i].node);
	synchronize_rcu();
}

static struct kunit_case pause_cases[] = {
	KUNIT_CASE_PARAM(pause_newer, pause_pair_gen_params),
	KUNIT_CASE_PARAM(pause_first, pause_pair_gen_params),
	KUNIT_CASE(pause_echoes),
	KUNIT_CASE(pause_echo_far_ahead),
	KUNIT_CASE(pause_sends_over_the_wrap),
	KUNIT_CASE(pause_is_found),
	KUNIT_CASE(pause_shares_frames),
	KUNIT_CASE(pause_range),
	KUNIT_CASE(pause_member_words),
	KUNIT_CASE(pause_member_last_word),
	KUNIT_CASE(pause_members_woken),
	{}
};

static struct kunit_suite pause_suite = {
	.name		= "sluice_pause",
	.init		= pause_init,
	.exit		= sluice_port_exit,
	.test_cases	= pause_cases,
};
kunit_test_suite(pause_suite);
