// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_frame.c - control frames in packets that do not lie in one piece
 *
 * Each frame comes with every split between the linear part and what is behind it: a page
 * fragment, two of them, or another packet in the list. The outcome has to be the same.
 */
#include "../../kernel/hopctl/rx.c"
#include "port.h"

#define NEIGHBOUR	0x22222222

enum { IN_A_FRAGMENT, IN_TWO_FRAGMENTS, IN_A_LIST, LAYOUTS };

static const u8 frame_source[ETH_ALEN] = { 2, 0, 0, 0, 0, 2 };
static const struct hop_hello frame_hello = {
	.role = HOP_ROLE_SWITCH, .flags = HOP_HELLO_STRIPS_TAGS, .kinds = HOP_KIND_BFC,
	.queues = 128, .tpid = ETH_P_8021AD, .ring_ns = 1000, .sent_ns = 0x0102030405060708,
};

static void frame_add_page(struct kunit *test, struct sk_buff *skb, const void *bytes,
			   unsigned int len)
{
	struct page *page;

	if (!len)
		return;
	page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	memcpy(page_address(page) + 7, bytes, len);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page, 7, len, PAGE_SIZE);
}

static void frame_add_list(struct kunit *test, struct sk_buff *skb, const void *bytes,
			   unsigned int len)
{
	struct sk_buff *part;

	if (!len)
		return;
	part = alloc_skb(len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, part);
	skb_put_data(part, bytes, len);
	skb_shinfo(skb)->frag_list = part;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += part->truesize;
}

/* As the hook gets it, with @linear bytes of the frame in the linear part */
static struct sk_buff *frame_packet(struct kunit *test, const u8 *bytes, unsigned int len,
				    unsigned int linear, int layout)
{
	struct sk_buff *skb = alloc_skb(ETH_HLEN + len, GFP_KERNEL);
	static const u8 dest[ETH_ALEN] = HOP_DEST_MAC;
	struct hop_port *port = test->priv;
	unsigned int half = (len - linear) / 2;
	struct ethhdr *eth;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reset_mac_header(skb);
	eth = skb_put(skb, ETH_HLEN);
	ether_addr_copy(eth->h_dest, dest);
	ether_addr_copy(eth->h_source, frame_source);
	eth->h_proto = htons(HOP_ETHERTYPE);
	skb->protocol = htons(HOP_ETHERTYPE);
	skb->dev = port->dev;
	skb_pull(skb, ETH_HLEN);
	skb_reset_network_header(skb);
	skb_put_data(skb, bytes, linear);
	switch (layout) {
	case IN_A_FRAGMENT:
		frame_add_page(test, skb, bytes + linear, len - linear);
		break;
	case IN_TWO_FRAGMENTS:
		frame_add_page(test, skb, bytes + linear, half);
		frame_add_page(test, skb, bytes + linear + half, len - linear - half);
		break;
	default:
		frame_add_list(test, skb, bytes + linear, len - linear);
	}
	KUNIT_ASSERT_EQ(test, skb->len, len);
	KUNIT_ASSERT_EQ(test, skb_headlen(skb), linear);
	return skb;
}

/* Into the hook, at a port that has heard nothing yet */
static void frame_receive(struct kunit *test, const u8 *bytes, unsigned int len,
			  unsigned int linear, int layout)
{
	struct sk_buff *skb = frame_packet(test, bytes, len, linear, layout);
	struct hop_port *port = test->priv;
	unsigned int verdict;

	memset(&port->stats, 0, sizeof(port->stats));
	memset(&port->peer, 0, sizeof(port->peer));
	memset(port->cand, 0, sizeof(port->cand));
	memset(port->rx_buf, 0xee, sizeof(port->rx_buf));
	local_bh_disable();
	verdict = hop_rx_hook(port, skb, NULL);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, verdict, NF_STOLEN);
}

/* A HELLO is read to its last field: its epoch and time stamp are what is remembered of it. */
static void frame_splits_hello(struct kunit *test)
{
	struct hop_port *port = test->priv;
	u8 bytes[ETH_ZLEN] = {};
	unsigned int linear, len;
	struct hop_writer w;
	int layout;

	hop_frame_begin(&w, bytes, sizeof(bytes), NEIGHBOUR, 0);
	hop_frame_add_hello(&w, &frame_hello);
	len = hop_frame_end(&w);
	for (layout = 0; layout < LAYOUTS; layout++) {
		for (linear = 0; linear <= len; linear++) {
			frame_receive(test, bytes, len, linear, layout);
			KUNIT_EXPECT_EQ(test, port->stats.rx_malformed, 0);
			KUNIT_EXPECT_EQ(test, port->cand[0].epoch, NEIGHBOUR);
			KUNIT_EXPECT_EQ(test, port->cand[0].sent_ns, frame_hello.sent_ns);
		}
	}
}

/* Every cut of it is malformed, wherever the pieces meet. */
static void frame_cut(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int cut, len;
	struct hop_writer w;
	u8 bytes[ETH_ZLEN];
	int layout;

	hop_frame_begin(&w, bytes, sizeof(bytes), NEIGHBOUR, 0);
	hop_frame_add_hello(&w, &frame_hello);
	len = hop_frame_end(&w);
	for (layout = 0; layout < LAYOUTS; layout++) {
		for (cut = 0; cut < len; cut++) {
			frame_receive(test, bytes, cut, cut / 2, layout);
			KUNIT_EXPECT_EQ(test, port->stats.rx_malformed, 1);
			KUNIT_EXPECT_EQ(test, port->cand[0].epoch, 0);
		}
	}
}

/* The longest frame there is, and what is behind it, which is not looked at */
static void frame_longest(struct kunit *test)
{
	unsigned int len = HOP_FRAME_MAX + 100, linear;
	u8 *bytes = kunit_kzalloc(test, len, GFP_KERNEL);
	struct hop_port *port = test->priv;
	u64 words[HOP_BITMAP_WORDS] = {};
	__be16 rest;
	struct hop_writer w;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	hop_frame_begin(&w, bytes, HOP_FRAME_MAX, NEIGHBOUR, 0);
	hop_frame_put_words(hop_frame_add_state(&w, HOP_SLOT_PAUSE, 1, 1000, 0, HOP_BITMAP_WORDS),
			    words, HOP_BITMAP_WORDS);
	/* a content of unknown type up to the end, then the HELLO's place is the last */
	rest = htons(HOP_FRAME_MAX - w.used - 2 * sizeof(struct hop_frame_tlv) -
		     sizeof(struct hop_tlv_hello));
	bytes[w.used] = 0xff;
	memcpy(bytes + w.used + 2, &rest, sizeof(rest));
	w.used += sizeof(struct hop_frame_tlv) + ntohs(rest);
	KUNIT_ASSERT_TRUE(test, hop_frame_add_hello(&w, &frame_hello));
	KUNIT_ASSERT_EQ(test, hop_frame_end(&w), HOP_FRAME_MAX);
	for (linear = 0; linear <= HOP_FRAME_MAX; linear += 125) {
		frame_receive(test, bytes, len, linear, IN_A_FRAGMENT);
		KUNIT_EXPECT_EQ(test, port->cand[0].sent_ns, frame_hello.sent_ns);
	}
	/* one byte more in its header, and it is too long */
	rest = htons(HOP_FRAME_MAX - sizeof(struct hop_frame_hdr) + 1);
	memcpy(bytes + offsetof(struct hop_frame_hdr, length), &rest, sizeof(rest));
	frame_receive(test, bytes, len, 100, IN_A_FRAGMENT);
	KUNIT_EXPECT_EQ(test, port->stats.rx_malformed, 1);
}

static void frame_counts(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_writer w;
	u8 bytes[ETH_ZLEN];
	unsigned int len;

	hop_frame_begin(&w, bytes, sizeof(bytes), NEIGHBOUR, 0);
	hop_frame_add_ack(&w, HOP_SLOT_PAUSE, 1);
	len = hop_frame_end(&w);
	frame_receive(test, bytes, len, 3, IN_A_FRAGMENT);
	KUNIT_EXPECT_EQ(test, port->stats.rx_epoch, 1);
	bytes[0] = HOP_VERSION + 1;
	frame_receive(test, bytes, len, 0, IN_A_FRAGMENT);
	KUNIT_EXPECT_EQ(test, port->stats.rx_version, 1);
	KUNIT_EXPECT_EQ(test, port->stats.rx_epoch, 0);
}

/* A shared packet is read and not changed. */
static void frame_shared(struct kunit *test)
{
	struct hop_port *port = test->priv;
	struct hop_writer w;
	u8 bytes[ETH_ZLEN], after[ETH_ZLEN];
	struct sk_buff *skb;
	unsigned int len;

	hop_frame_begin(&w, bytes, sizeof(bytes), NEIGHBOUR, 0);
	hop_frame_add_hello(&w, &frame_hello);
	len = hop_frame_end(&w);
	skb = frame_packet(test, bytes, len, 10, IN_TWO_FRAGMENTS);
	skb_get(skb);
	local_bh_disable();
	KUNIT_EXPECT_EQ(test, hop_rx_hook(port, skb, NULL), NF_STOLEN);
	local_bh_enable();
	KUNIT_EXPECT_EQ(test, port->cand[0].sent_ns, frame_hello.sent_ns);
	KUNIT_EXPECT_EQ(test, refcount_read(&skb->users), 1);
	KUNIT_EXPECT_EQ(test, skb->len, len);
	KUNIT_EXPECT_EQ(test, skb_headlen(skb), 10);
	KUNIT_ASSERT_EQ(test, skb_copy_bits(skb, 0, after, len), 0);
	KUNIT_EXPECT_EQ(test, memcmp(bytes, after, len), 0);
	kfree_skb(skb);
}

/* With one state of each type and all acknowledgements a frame costs what any frame does, and with
 * more states as many frames as it has states; acknowledgements cost nothing.
 */
static void frame_states_cost(struct kunit *test)
{
	static const struct {
		unsigned int states, acks, beyond;
	} costs[] = {
		{ HOP_SLOTS, HOP_SLOTS, 0 }, { HOP_SLOTS + 1, 0, HOP_SLOTS },
		{ HOP_SLOTS + 1, 1, HOP_SLOTS }, { 0, HOP_SLOTS + 1, 0 },
	};
	struct hop_port *port = test->priv;
	struct hop_frame *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	unsigned int i, k;
	u64 now;

	KUNIT_ASSERT_NOT_NULL(test, f);
	hop_state_spacing_ns = 1000;
	for (i = 0; i < ARRAY_SIZE(costs); i++) {
		f->n_told = costs[i].states + costs[i].acks;
		for (k = 0; k < f->n_told; k++)
			f->told[k].ack = k >= costs[i].states;
		now = hop_now();
		/* so far ahead that it does not matter when this is looked at */
		port->rx_paid_ns = now + NSEC_PER_SEC;
		rx_charge(port, f);
		KUNIT_EXPECT_EQ(test, port->rx_paid_ns - now - NSEC_PER_SEC,
				costs[i].beyond * 1000 / HOP_RX_SHARE);
	}
}

/* As many frames as we like, at once */
static int frame_init(struct kunit *test)
{
	hop_state_spacing_ns = 0;
	return sluice_port_init(test);
}

static void frame_exit(struct kunit *test)
{
	hop_state_spacing_ns = 1000;
	sluice_port_exit(test);
}

static struct kunit_case frame_cases[] = {
	KUNIT_CASE(frame_splits_hello),
	KUNIT_CASE(frame_cut),
	KUNIT_CASE(frame_longest),
	KUNIT_CASE(frame_counts),
	KUNIT_CASE(frame_shared),
	KUNIT_CASE(frame_states_cost),
	{}
};

static struct kunit_suite frame_suite = {
	.name		= "sluice_frame",
	.init		= frame_init,
	.exit		= frame_exit,
	.test_cases	= frame_cases,
};
kunit_test_suite(frame_suite);
