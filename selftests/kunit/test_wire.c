// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_wire.c - how many frames a cable holds between its ends
 */
#include <kunit/test.h>

#include "../../kernel/wire/wire_card.c"

/* The last bit of a frame leaves; by a duplicate, of which no ring has to know */
static void wire_end_of_one(struct kunit *test, struct wire_card *card, u8 flags)
{
	struct sk_buff *skb = alloc_skb(ETH_ZLEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	wire_frame(skb)->flags = WIRE_FRAME_COPY | flags;
	card->busy = skb;
	wire_card_end(card);
	KUNIT_EXPECT_NULL(test, card->busy);
}

/* One more has room, and the next one has not. Both lists count. There is no memory for so many,
 * so the lists only say that they are that long.
 */
static void wire_flight_bound(struct kunit *test)
{
	static const u8 kinds[] = { 0, WIRE_FRAME_LATE };
	struct wire_priv *priv = kunit_kzalloc(test, sizeof(*priv), GFP_KERNEL);
	struct wire_card *card = &priv->card;
	struct sk_buff_head *flight;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, priv);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		flight = kinds[i] ? &card->late : &card->flight;
		card->count.flight_overflow = 0;
		__skb_queue_head_init(&card->flight);
		__skb_queue_head_init(&card->late);
		__skb_queue_head_init(&card->dead);
		card->flight.qlen = WIRE_FLIGHT_FRAMES - 4;
		card->late.qlen = 3;

		wire_end_of_one(test, card, kinds[i]);
		KUNIT_EXPECT_EQ(test, card->flight.qlen + card->late.qlen, WIRE_FLIGHT_FRAMES);
		KUNIT_EXPECT_EQ(test, card->dead.qlen, 0);
		KUNIT_EXPECT_EQ(test, card->count.flight_overflow, 0);

		wire_end_of_one(test, card, kinds[i]);
		KUNIT_EXPECT_EQ(test, card->flight.qlen + card->late.qlen, WIRE_FLIGHT_FRAMES);
		KUNIT_EXPECT_EQ(test, card->dead.qlen, 1);
		KUNIT_EXPECT_EQ(test, card->count.flight_overflow, 1);

		KUNIT_EXPECT_FALSE(test, skb_queue_empty(flight));
		kfree_skb(__skb_dequeue(flight));
		kfree_skb(__skb_dequeue(&card->dead));
	}
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(wire_flight_bound),
	{}
};

static struct kunit_suite wire_suite = {
	.name		= "sluice_wire",
	.test_cases	= wire_cases,
};
kunit_test_suite(wire_suite);
