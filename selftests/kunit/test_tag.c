// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_tag.c - the fabric tag, on and off, on real packets
 */
#include <linux/ip.h>
#include <linux/tcp.h>
#include <net/ip.h>

#include "../../kernel/hopctl/tag.c"
#include "port.h"

#define USER_TCI	0x6007	/* priority 3, VLAN id 7 */
#define FIRST		100	/* sub-queue that the member's range begins with */
#define PAYLOAD		0x5a
#define ETHERTYPE	0x88b6
#define HANDLES		50
#define HANDLE		0x8040
#define ANNOUNCED	60	/* sub-queues, not all of which have a handle */

static const u8 tag_macs[2 * ETH_ALEN] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3 };

/* As a qdisc has it: data at the Ethernet header. @inner: TPID of a tag in the frame, 0 for none */
static struct sk_buff *tag_frame(struct kunit *test, unsigned int len, u16 inner)
{
	struct sk_buff *skb = alloc_skb(NET_IP_ALIGN + 2 * VLAN_HLEN + len, GFP_KERNEL);
	struct hop_port *port = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_reserve(skb, NET_IP_ALIGN + 2 * VLAN_HLEN);
	skb_reset_mac_header(skb);
	skb_put_data(skb, tag_macs, sizeof(tag_macs));
	skb->protocol = htons(inner ?: ETHERTYPE);
	if (inner) {
		*(__be16 *)skb_put(skb, 2) = htons(inner);
		*(__be16 *)skb_put(skb, 2) = htons(USER_TCI);
	}
	*(__be16 *)skb_put(skb, 2) = htons(ETHERTYPE);
	memset(skb_put(skb, len - skb->len), PAYLOAD, len - skb->len);
	skb_set_network_header(skb, ETH_HLEN);
	skb->mac_len = ETH_HLEN;
	skb->dev = port->dev;
	return skb;
}

/* As the receive hook gets what a qdisc sent: data behind the Ethernet header, the outermost tag in
 * metadata.
 */
static struct sk_buff *tag_arrive(struct kunit *test, struct sk_buff *skb)
{
	__be16 proto = skb->vlan_proto;
	u16 tci = skb_vlan_tag_get(skb);
	bool tagged = skb_vlan_tag_present(skb);
	struct hop_port *port = test->priv;

	/* onto the line and off again */
	skb_scrub_packet(skb, true);
	__vlan_hwaccel_clear_tag(skb);
	skb->protocol = eth_type_trans(skb, port->dev);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
	skb_reset_mac_len(skb);
	if (tagged)
		__vlan_hwaccel_put_tag(skb, proto, tci);
	return skb;
}

static struct hop_member tag_member(struct kunit *test)
{
	return (struct hop_member) { .port = test->priv, .first = FIRST, .count = 64 };
}

static u16 tag_word(const struct sk_buff *skb, unsigned int at)
{
	return ntohs(*(__be16 *)(skb->data + at));
}

static void tag_push_plain(struct kunit *test)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, 100, 0);

	KUNIT_EXPECT_EQ(test, hop_tag_push(&m, skb, 5), 0);
	KUNIT_ASSERT_TRUE(test, skb_vlan_tag_present(skb));
	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), FIRST + 5 + 1);
	KUNIT_EXPECT_EQ(test, skb->len, 100);
	KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ETHERTYPE);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 2 * ETH_ALEN), ETHERTYPE);
	kfree_skb(skb);
}

static void tag_push_no_queue(struct kunit *test)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, 100, ETH_P_8021AD);

	KUNIT_EXPECT_EQ(test, hop_tag_push(&m, skb, HOP_NO_QUEUE), 0);
	KUNIT_ASSERT_TRUE(test, skb_vlan_tag_present(skb));
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), 0);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 2 * ETH_ALEN), ETH_P_8021AD);
	kfree_skb(skb);
}

static void tag_push_other_tpid(struct kunit *test)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, 100, 0);

	m.port->cfg.tpid = ETH_P_8021Q;
	KUNIT_EXPECT_EQ(test, hop_tag_push(&m, skb, 0), 0);
	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021Q);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), FIRST + 1);
	kfree_skb(skb);
}

/* The user's tag goes from metadata into the frame, with its priority, and the frame's own ones
 * stay behind it.
 */
static void tag_push_keeps_metadata(struct kunit *test)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, 100, ETH_P_8021Q);

	__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021AD), 0xa123);
	KUNIT_EXPECT_EQ(test, hop_tag_push(&m, skb, 63), 0);
	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), FIRST + 63 + 1);
	KUNIT_EXPECT_EQ(test, skb->len, 100 + VLAN_HLEN);
	KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, memcmp(skb->data, tag_macs, sizeof(tag_macs)), 0);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 12), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 14), 0xa123);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 16), ETH_P_8021Q);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 18), USER_TCI);
	KUNIT_EXPECT_EQ(test, tag_word(skb, 20), ETHERTYPE);
	KUNIT_EXPECT_EQ(test, skb->data[22], PAYLOAD);
	kfree_skb(skb);
}

/* @len: of the frame in the packet; @user: with a tag of the user's in metadata */
static int tag_push_len(struct kunit *test, unsigned int len, bool user)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, len, 0);
	int err;

	if (user)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), USER_TCI);
	err = hop_tag_push(&m, skb, 1);
	if (err) {	/* then nothing has happened to it */
		KUNIT_EXPECT_EQ(test, skb->len, len);
		KUNIT_EXPECT_TRUE(test, skb_vlan_tag_present(skb) == user);
		KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), user ? USER_TCI : 0);
	}
	kfree_skb(skb);
	return err;
}

static void tag_push_too_long(struct kunit *test)
{
	struct hop_port *port = test->priv;
	unsigned int max;

	for (max = 1518; max <= 1522; max += 4) {
		port->frame_max = max;
		KUNIT_EXPECT_EQ(test, tag_push_len(test, max - 4, false), 0);
		KUNIT_EXPECT_EQ(test, tag_push_len(test, max - 3, false), -EMSGSIZE);
		KUNIT_EXPECT_EQ(test, tag_push_len(test, max - 8, true), 0);
		KUNIT_EXPECT_EQ(test, tag_push_len(test, max - 7, true), -EMSGSIZE);
	}
}

/* A TCP packet that the card will cut into frames with @mss bytes each */
static int tag_push_gso(struct kunit *test, unsigned int mss, bool user)
{
	struct hop_member m = tag_member(test);
	struct sk_buff *skb = tag_frame(test, 10000, 0);
	int err;

	skb->protocol = htons(ETH_P_IP);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
	tcp_hdr(skb)->doff = sizeof(struct tcphdr) / 4;
	skb_shinfo(skb)->gso_size = mss;
	skb_shinfo(skb)->gso_type = SKB_GSO_TCPV4;
	skb_shinfo(skb)->gso_segs = DIV_ROUND_UP(10000, mss);
	if (user)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), USER_TCI);
	err = hop_tag_push(&m, skb, 1);
	kfree_skb(skb);
	return err;
}

static void tag_push_of_gso(struct kunit *test)
{
	struct hop_port *port = test->priv;

	/* 14 + 20 + 20 bytes of headers */
	port->frame_max = 1518;
	KUNIT_EXPECT_EQ(test, tag_push_gso(test, 1460, false), 0);
	KUNIT_EXPECT_EQ(test, tag_push_gso(test, 1461, false), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, tag_push_gso(test, 1456, true), 0);
	KUNIT_EXPECT_EQ(test, tag_push_gso(test, 1457, true), -EMSGSIZE);
}

/* As if the neighbour had named its sub-queues and said TAGS */
static struct hop_port *tag_port(struct kunit *test)
{
	struct hop_port *port = test->priv;

	port->strip = ANNOUNCED << 16 | ETH_P_8021AD;
	port->handles = HANDLE << 16 | HANDLES;
	return port;
}

/* A frame with this tag in metadata, popped; the caller has the packet. */
static struct sk_buff *tag_pop(struct kunit *test, u16 tpid, u16 tci, u16 inner)
{
	struct hop_port *port = test->priv;
	struct sk_buff *skb = tag_frame(test, 100, inner);

	if (tpid)
		__vlan_hwaccel_put_tag(skb, htons(tpid), tci);
	skb = tag_arrive(test, skb);
	skb->tc_index = 0xffff;	/* of a tc program that lies */
	KUNIT_ASSERT_EQ(test, hop_tag_pop(port, skb), NF_ACCEPT);
	return skb;
}

static void tag_pop_labels(struct kunit *test)
{
	struct hop_port *port = tag_port(test);
	static const struct {
		u16	vid, handle;
		u64	unlabelled;
	} cases[] = {
		{ 1, HANDLE, 0 }, { 2, HANDLE + 1, 0 }, { HANDLES, HANDLE + HANDLES - 1, 0 },
		{ 0, 0, 0 }, { HANDLES + 1, 0, 1 }, { ANNOUNCED, 0, 1 },
	};
	u64 unlabelled = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* priority and drop bit are ignored */
		struct sk_buff *skb = tag_pop(test, ETH_P_8021AD, 0xf000 | cases[i].vid, 0);

		KUNIT_EXPECT_EQ(test, skb->tc_index, cases[i].handle);
		KUNIT_EXPECT_FALSE(test, skb_vlan_tag_present(skb));
		KUNIT_EXPECT_EQ(test, ntohs(skb->protocol), ETHERTYPE);
		KUNIT_EXPECT_EQ(test, skb->len, 100 - ETH_HLEN);
		unlabelled += cases[i].unlabelled;
		KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, unlabelled), unlabelled);
		KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, stripped), i + 1);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, errors), 0);
}

static void tag_pop_without_handles(struct kunit *test)
{
	struct hop_port *port = tag_port(test);
	struct sk_buff *skb;

	port->handles = 0;
	skb = tag_pop(test, ETH_P_8021AD, 1, 0);
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	KUNIT_EXPECT_FALSE(test, skb_vlan_tag_present(skb));
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, unlabelled), 1);
	kfree_skb(skb);
}

/* A user's tag, or none, is left alone; a handle that is not ours goes, other marks stay. */
static void tag_pop_leaves_alone(struct kunit *test)
{
	struct hop_port *port = tag_port(test);
	struct sk_buff *skb = tag_pop(test, ETH_P_8021Q, USER_TCI, 0);

	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021Q);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), USER_TCI);
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	skb->tc_index = HOP_HANDLE_FIRST - 1;
	KUNIT_EXPECT_EQ(test, hop_tag_pop(port, skb), NF_ACCEPT);
	KUNIT_EXPECT_EQ(test, skb->tc_index, HOP_HANDLE_FIRST - 1);
	kfree_skb(skb);

	skb = tag_pop(test, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	kfree_skb(skb);

	/* beyond what the neighbour has announced */
	skb = tag_pop(test, ETH_P_8021AD, ANNOUNCED + 1, 0);
	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), ANNOUNCED + 1);
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	kfree_skb(skb);

	port->strip = 0;
	skb = tag_pop(test, ETH_P_8021AD, 1, 0);
	KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), ETH_P_8021AD);
	KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), 1);
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	kfree_skb(skb);
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, stripped), 0);
}

/* What was sent is what arrives: the user's tags, wherever they were, are where the next handler
 * looks for them, the outermost one in metadata.
 */
static void tag_there_and_back(struct kunit *test)
{
	static const struct {
		u16	metadata, inner;
	} cases[] = {
		{ 0, 0 }, { ETH_P_8021Q, 0 }, { ETH_P_8021AD, 0 }, { 0, ETH_P_8021Q },
		{ 0, ETH_P_8021AD }, { ETH_P_8021AD, ETH_P_8021Q }, { ETH_P_8021Q, ETH_P_8021Q },
	};
	struct hop_member m = tag_member(test);
	struct hop_port *port = tag_port(test);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sk_buff *skb = tag_frame(test, 100, cases[i].inner), *plain;
		u16 outer = cases[i].metadata ?: cases[i].inner;

		if (cases[i].metadata)
			__vlan_hwaccel_put_tag(skb, htons(outer), USER_TCI);
		/* as it would arrive over a link without us */
		plain = skb_copy(skb, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, plain);
		plain = tag_arrive(test, plain);
		if (!cases[i].metadata && cases[i].inner)
			plain = skb_vlan_untag(plain);
		KUNIT_ASSERT_NOT_NULL(test, plain);

		m.first = 0;
		KUNIT_ASSERT_EQ(test, hop_tag_push(&m, skb, 9), 0);
		skb = tag_arrive(test, skb);
		KUNIT_ASSERT_EQ(test, hop_tag_pop(port, skb), NF_ACCEPT);
		KUNIT_EXPECT_EQ(test, skb->tc_index, HANDLE + 9);
		KUNIT_EXPECT_TRUE(test, skb_vlan_tag_present(skb) == !!outer);
		if (outer) {
			KUNIT_EXPECT_EQ(test, ntohs(skb->vlan_proto), outer);
			KUNIT_EXPECT_EQ(test, skb_vlan_tag_get(skb), USER_TCI);
		}
		KUNIT_EXPECT_EQ(test, skb->protocol, plain->protocol);
		KUNIT_EXPECT_EQ(test, skb->len, plain->len);
		KUNIT_EXPECT_EQ(test, memcmp(skb->data, plain->data, plain->len), 0);
		KUNIT_EXPECT_EQ(test, memcmp(skb_mac_header(skb), skb_mac_header(plain), ETH_HLEN),
				0);
		kfree_skb(skb);
		kfree_skb(plain);
	}
}

/* A frame that ends within the user's tag is lost, and counted. */
static void tag_pop_cut(struct kunit *test)
{
	struct hop_port *port = tag_port(test);
	struct sk_buff *skb = tag_frame(test, 100, ETH_P_8021Q);

	__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021AD), 1);
	skb = tag_arrive(test, skb);
	skb_trim(skb, VLAN_HLEN - 1);
	KUNIT_EXPECT_EQ(test, hop_tag_pop(port, skb), NF_STOLEN);
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, errors), 1);
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, stripped), 0);
}

/* What the stack got in place of a shared packet */
static struct {
	unsigned int	frames;
	u16		handle;
	bool		tagged;
	unsigned int	len;
} tag_taken;

static int tag_take(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		    struct net_device *orig)
{
	tag_taken.frames++;
	tag_taken.handle = skb->tc_index;
	tag_taken.tagged = skb_vlan_tag_present(skb);
	tag_taken.len = skb->len;
	kfree_skb(skb);
	return NET_RX_SUCCESS;
}

/* Someone else looks at the packet: it stays as it was, and a copy goes its way. */
static void tag_pop_shared(struct kunit *test)
{
	struct hop_port *port = tag_port(test);
	struct packet_type type = { .type = htons(ETHERTYPE), .func = tag_take };
	struct sk_buff *skb = tag_frame(test, 100, 0);
	unsigned int verdict;

	memset(&tag_taken, 0, sizeof(tag_taken));
	__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021AD), 3);
	skb = tag_arrive(test, skb);
	skb_get(skb);
	dev_add_pack(&type);
	local_bh_disable();
	verdict = hop_tag_pop(port, skb);
	local_bh_enable();
	dev_remove_pack(&type);
	KUNIT_EXPECT_EQ(test, verdict, NF_STOLEN);
	KUNIT_EXPECT_EQ(test, refcount_read(&skb->users), 1);
	KUNIT_EXPECT_TRUE(test, skb_vlan_tag_present(skb));
	KUNIT_EXPECT_EQ(test, skb->tc_index, 0);
	KUNIT_EXPECT_EQ(test, tag_taken.frames, 1);
	KUNIT_EXPECT_EQ(test, tag_taken.handle, HANDLE + 2);
	KUNIT_EXPECT_FALSE(test, tag_taken.tagged);
	KUNIT_EXPECT_EQ(test, tag_taken.len, 100 - ETH_HLEN);
	KUNIT_EXPECT_EQ(test, sluice_pcpu_sum(port, stripped), 1);
	kfree_skb(skb);
}

static struct kunit_case tag_cases[] = {
	KUNIT_CASE(tag_push_plain),
	KUNIT_CASE(tag_push_no_queue),
	KUNIT_CASE(tag_push_other_tpid),
	KUNIT_CASE(tag_push_keeps_metadata),
	KUNIT_CASE(tag_push_too_long),
	KUNIT_CASE(tag_push_of_gso),
	KUNIT_CASE(tag_pop_labels),
	KUNIT_CASE(tag_pop_without_handles),
	KUNIT_CASE(tag_pop_leaves_alone),
	KUNIT_CASE(tag_there_and_back),
	KUNIT_CASE(tag_pop_cut),
	KUNIT_CASE(tag_pop_shared),
	{}
};

static struct kunit_suite tag_suite = {
	.name		= "sluice_tag",
	.init		= sluice_port_init,
	.exit		= sluice_port_exit,
	.test_cases	= tag_cases,
};
kunit_test_suite(tag_suite);
