// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_flow.c - flows of flowsail are told apart by what they are, not by a hash of it
 *
 * FlowSail's paper knows a flow by a hash of 50 bits at most, and says that two with the same one
 * "are treated as a single flow with shared flow states". Here are two such flows, and as many as
 * there are slots, all with one hash.
 */
#include <kunit/test.h>
#include <linux/siphash.h>

#include "../../kernel/flowsail/threshold.c"
#include "../../kernel/flowsail/flow.c"
#include "../../kernel/flowsail/isolate.c"
#include "../../kernel/flowsail/queue.c"
#include "../../kernel/flowsail/stats.c"
#include "../../kernel/flowsail/options.c"
#include "../../kernel/flowsail/setup.c"

#define FLOW_SLOTS	64
#define PAPER_BITS	50

static int flow_init(struct kunit *test)
{
	struct flowsail_sched *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	if (!q)
		return -ENOMEM;
	INIT_LIST_HEAD(&q->idle);
	q->config = flowsail_defaults;
	q->config.slots = FLOW_SLOTS;
	hop_flow_secret_draw(&q->flow_secret);
	test->priv = q;
	return flowsail_allocate(q);
}

static void flow_exit(struct kunit *test)
{
	if (test->priv)
		flowsail_free(test->priv);
}

/* As a packet that comes, and stays */
static struct flowsail_flow *flow_meet(struct flowsail_sched *q, struct hop_flow_id id)
{
	struct flowsail_flow *flow;

	flow = flowsail_flow_of(q, id, hop_flow_hash(&id, &q->flow_secret), 0, 0);
	if (flow && !flow->packets++)
		flowsail_idle_del(flow);
	return flow;
}

/* The last one leaves. */
static void flow_rest(struct flowsail_sched *q, struct flowsail_flow *flow)
{
	flow->packets = 0;
	flowsail_idle_add(q, flow);
}

/* Addresses and ports of UDP. 50 bits of SipHash-2-4 with the key 00 01 .. 0f are the same. */
static const u8 flow_planted[2][12] = {
	{ 10, 168, 150, 120, 10, 0, 1, 73, 0x7f, 0x36, 0x12, 0xb7 },
	{ 10, 226, 75, 4, 10, 0, 3, 214, 0xee, 0xbe, 0x12, 0xb7 },
};

static struct hop_flow_id flow_parse(struct kunit *test, const struct flowsail_sched *q,
				     const u8 *flow)
{
	u8 ip[28] = { 0x45, 0, 0, 28, [8] = 64, [9] = IPPROTO_UDP };
	struct hop_flow_id id = {};

	memcpy(ip + 12, flow, 12);
	KUNIT_EXPECT_TRUE(test, hop_parse_flow(ip, sizeof(ip), ETH_P_IP, 0, &q->flow_secret, &id));
	return id;
}

static u64 flow_paper(const u8 *flow)
{
	static const siphash_key_t key = { { 0x0706050403020100, 0x0f0e0d0c0b0a0908 } };

	return siphash(flow, 12, &key) & GENMASK_ULL(PAPER_BITS - 1, 0);
}

static void flow_of_one_paper(struct kunit *test)
{
	struct flowsail_sched *q = test->priv;
	struct hop_flow_id a = flow_parse(test, q, flow_planted[0]);
	struct hop_flow_id b = flow_parse(test, q, flow_planted[1]);
	struct flowsail_flow *x, *y;

	KUNIT_EXPECT_NE(test, memcmp(flow_planted[0], flow_planted[1], 12), 0);
	KUNIT_EXPECT_EQ(test, flow_paper(flow_planted[0]), flow_paper(flow_planted[1]));
	KUNIT_EXPECT_FALSE(test, flowsail_is_same(&(struct flowsail_flow) { .id = a }, b, 0));
	x = flow_meet(q, a);
	y = flow_meet(q, b);
	KUNIT_ASSERT_NOT_NULL(test, x);
	KUNIT_ASSERT_NOT_NULL(test, y);
	KUNIT_EXPECT_PTR_NE(test, x, y);
	KUNIT_EXPECT_PTR_EQ(test, flow_meet(q, a), x);
	KUNIT_EXPECT_PTR_EQ(test, flow_meet(q, b), y);
}

/* A flow with one bit changed is another one, whichever of the 96. */
static void flow_bits(struct kunit *test)
{
	struct flowsail_sched *q = test->priv;
	struct hop_flow_id id = flow_parse(test, q, flow_planted[0]), other;
	const struct flowsail_flow flow = { .id = id, .class = 1 };
	unsigned int bit, same = 0;

	for (bit = 0; bit < 96; bit++) {
		other = id;
		other.word[bit / 32] ^= BIT(bit % 32);
		same += flowsail_is_same(&flow, other, 1);
	}
	KUNIT_EXPECT_EQ(test, same, 0);
	KUNIT_EXPECT_TRUE(test, flowsail_is_same(&flow, id, 1));
	KUNIT_EXPECT_FALSE(test, flowsail_is_same(&flow, id, 0));
}

/* All flows have the hash 0: each has a slot, and is found in the one chain that there is. */
static void flow_one_hash(struct kunit *test)
{
	struct flowsail_flow *flows[FLOW_SLOTS], *flow;
	struct flowsail_sched *q = test->priv;
	struct hop_flow_id id = {};
	u32 n;

	q->flow_secret.last = 0;
	for (n = 0; n < FLOW_SLOTS; n++) {
		id.word[n % 3] = n + 1;
		flows[n] = flow_meet(q, id);
		KUNIT_ASSERT_NOT_NULL(test, flows[n]);
		KUNIT_EXPECT_EQ(test, flows[n]->packets, 1);
		id.word[n % 3] = 0;
	}
	for (n = 0; n < FLOW_SLOTS; n++) {
		id.word[n % 3] = n + 1;
		KUNIT_EXPECT_PTR_EQ(test, flow_meet(q, id), flows[n]);
		id.word[n % 3] = 0;
	}
	id.word[0] = 1000;
	KUNIT_EXPECT_NULL(test, flow_meet(q, id));

	/* One in the middle of the chain goes: another has its slot, the others theirs. */
	flow_rest(q, flows[FLOW_SLOTS / 2]);
	flow = flow_meet(q, id);
	KUNIT_EXPECT_PTR_EQ(test, flow, flows[FLOW_SLOTS / 2]);
	id.word[0] = 0;
	for (n = 0; n < FLOW_SLOTS; n++) {
		if (n == FLOW_SLOTS / 2)
			continue;
		id.word[n % 3] = n + 1;
		KUNIT_EXPECT_PTR_EQ(test, flow_meet(q, id), flows[n]);
		id.word[n % 3] = 0;
	}
}

/* What Documentation/flowsail.md says of memory */
static void flow_memory(struct kunit *test)
{
	const u32 table = sizeof(struct flowsail_flow) + 2 * sizeof(u16);
	const u32 slot = table + sizeof(struct hop_subq) + sizeof(struct hop_subq_stats) +
			 sizeof(struct flowsail_front) + sizeof(u16);	/* its root */

	KUNIT_EXPECT_EQ(test, table, 68);
	KUNIT_EXPECT_EQ(test, slot, 206);
	KUNIT_EXPECT_LE(test, table * 10000, 7 * 100000);	/* the paper's table has 100 KB */
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(flow_of_one_paper),
	KUNIT_CASE(flow_bits),
	KUNIT_CASE(flow_one_hash),
	KUNIT_CASE(flow_memory),
	{}
};

static struct kunit_suite flow_suite = {
	.name		= "sluice_flow",
	.init		= flow_init,
	.exit		= flow_exit,
	.test_cases	= flow_cases,
};
kunit_test_suite(flow_suite);
