// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_telemetry.c - what a port writes into packets, and which ones it leaves alone
 */
#include <linux/etherdevice.h>
#include <linux/random.h>
#include <linux/prandom.h>
#include <net/ip6_checksum.h>
#include <net/udp.h>

#include "../../kernel/sched/telemetry_write.h"
#include "port.h"

#define PORT	4790
#define HEADS	(sizeof(struct udphdr) + TELEMETRY_AT + TELEMETRY_BYTES)
#define BODY	(HEADS + 52)	/* from UDP's header on */
#define ALIGNED	2	/* room before the frame, so that IP headers are where a CPU likes them */

/* What of struct hop_telemetry_stats has counted, and no more than that */
enum verdict {
	VERDICT_OTHER,
	VERDICT_WRITTEN,
	VERDICT_FULL,
	VERDICT_FAILED,
	VERDICT_SEVERAL,
};

static enum verdict verdict_of(struct sk_buff *skb, u16 port, const struct telemetry *t)
{
	struct hop_telemetry_stats stats = {};

	hop_telemetry_write(skb, port, t, &stats);
	if (stats.written + stats.full + stats.failed > 1)
		return VERDICT_SEVERAL;
	return stats.written ? VERDICT_WRITTEN : stats.full ? VERDICT_FULL :
	       stats.failed ? VERDICT_FAILED : VERDICT_OTHER;
}

/* A packet that asks, and what is different about it */
struct asking {
	const char *what;
	bool v6;
	bool tagged;		/* a VLAN tag is in the frame */
	s8 options;		/* of IPv4, words */
	u16 frag;		/* of IPv4 */
	u8 proto;		/* 0: UDP */
	u16 port;		/* above that which is asked for */
	u8 first;		/* bits of the first byte that are others, and of the second */
	u8 second;
	u16 udp_len;		/* as UDP's header says, 0: as it is */
	u16 cut;		/* bytes that there are from UDP's header on, 0: all */
	u16 split;		/* bytes of those in the linear area, 0: all */
	bool cloned;
	bool unsummed;		/* no checksum */
	bool partial;		/* it is left to the card */
	u8 records;		/* that are there */
	bool unknown;		/* how fast the line is */
	enum verdict verdict;
};

static const struct asking asked[] = {
	{ "IPv4", .verdict = VERDICT_WRITTEN },
	{ "IPv6", .v6 = true, .verdict = VERDICT_WRITTEN },
	{ "options", .options = 10, .verdict = VERDICT_WRITTEN },
	{ "a tag in the frame", .tagged = true, .verdict = VERDICT_WRITTEN },
	{ "the flow's last packet", .second = 1, .verdict = VERDICT_WRITTEN },
	{ "no checksum", .unsummed = true, .verdict = VERDICT_WRITTEN },
	{ "the card's checksum", .partial = true, .verdict = VERDICT_WRITTEN },
	{ "in two pieces", .split = 20, .verdict = VERDICT_WRITTEN },
	{ "IPv6 in two pieces", .v6 = true, .split = 100, .verdict = VERDICT_WRITTEN },
	{ "a clone", .cloned = true, .verdict = VERDICT_WRITTEN },
	{ "four records", .records = 4, .verdict = VERDICT_WRITTEN },
	{ "just long enough", .cut = HEADS, .verdict = VERDICT_WRITTEN },
	{ "five records", .records = 5, .verdict = VERDICT_FULL },
	{ "nobody knows the line", .unknown = true, .verdict = VERDICT_FAILED },
	{ "too short", .cut = HEADS - 1 },
	{ "no bytes of UDP", .cut = 1 },
	{ "UDP ends before", .udp_len = HEADS - 1 },
	{ "TCP", .proto = IPPROTO_TCP },
	{ "IPv6 with a fragment", .v6 = true, .proto = IPPROTO_FRAGMENT },
	{ "a first fragment", .frag = IP_MF },
	{ "a last fragment", .frag = 100 },
	{ "IPv4 without a header", .options = -1 },
	{ "another port", .port = 1 },
	{ "another version", .first = 0x30 },
	{ "an acknowledgement", .first = 0x01 },
	{ "it does not ask", .second = TELEMETRY_FLAG },
};

static const struct in6_addr telemetry_from = { { { 0xfd, [15] = 1 } } };
static const struct in6_addr telemetry_to = { { { 0xfd, [15] = 2 } } };

/* Where UDP's header is; of a frame that was made here */
static unsigned int telemetry_udp(const struct asking *a)
{
	return ETH_HLEN + (a->tagged ? VLAN_HLEN : 0) +
	       (a->v6 ? sizeof(struct ipv6hdr) : (5 + max_t(s8, a->options, 0)) * 4);
}

/* UDP's checksum as it would have to be; 0 if it is right */
static __sum16 telemetry_sum(const struct asking *a, const struct sk_buff *skb)
{
	unsigned int at = telemetry_udp(a), len = skb->len - at;
	__wsum sum = skb_checksum(skb, at, len, 0);

	return a->v6 ? csum_ipv6_magic(&telemetry_from, &telemetry_to, len, IPPROTO_UDP, sum) :
		       csum_tcpudp_magic(htonl(1), htonl(2), len, IPPROTO_UDP, sum);
}

static void telemetry_ip(const struct asking *a, u8 *to, u16 len)
{
	if (a->v6) {
		struct ipv6hdr ip = { .version = 6, .nexthdr = a->proto ?: IPPROTO_UDP,
				      .payload_len = htons(len), .saddr = telemetry_from,
				      .daddr = telemetry_to };

		memcpy(to, &ip, sizeof(ip));
	} else {
		struct iphdr ip = { .version = 4, .ihl = 5 + a->options,
				    .protocol = a->proto ?: IPPROTO_UDP,
				    .frag_off = htons(a->frag), .saddr = htonl(1),
				    .daddr = htonl(2) };

		memcpy(to, &ip, sizeof(ip));
	}
}

/* As a qdisc has it: data at the Ethernet header */
static struct sk_buff *telemetry_frame(struct kunit *test, const struct asking *a)
{
	unsigned int at = telemetry_udp(a), len = a->cut ?: BODY, i;
	u16 type = a->v6 ? ETH_P_IPV6 : ETH_P_IP;
	struct sk_buff *skb = alloc_skb(ALIGNED + at + BODY, GFP_KERNEL);
	struct telemetry t = { .kbit = 1 };
	u8 *frame = kzalloc(at + BODY, GFP_KERNEL), *body = frame + at;
	struct udphdr udp = { .source = htons(50000), .dest = htons(PORT + a->port),
			      .len = htons(a->udp_len ?: len) };

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, frame);
	skb_reserve(skb, ALIGNED);
	skb_reset_mac_header(skb);
	skb->protocol = htons(a->tagged ? ETH_P_8021Q : type);
	*(__be16 *)(frame + 2 * ETH_ALEN) = skb->protocol;
	if (a->tagged)
		*(__be16 *)(frame + ETH_HLEN + 2) = htons(type);
	telemetry_ip(a, frame + ETH_HLEN + (a->tagged ? VLAN_HLEN : 0), len);
	for (i = 0; i < BODY; i++)
		body[i] = i * 7;
	memcpy(body, &udp, sizeof(udp));
	body[sizeof(udp)] = TELEMETRY_DATA ^ a->first;
	body[sizeof(udp) + 1] = TELEMETRY_FLAG ^ a->second;
	memset(body + sizeof(udp) + TELEMETRY_AT, 0, TELEMETRY_BYTES);
	for (i = 0; i < a->records; i++)
		telemetry_put(body + sizeof(udp) + TELEMETRY_AT + i * TELEMETRY_RECORD, &t);
	skb_put_data(skb, frame, at + (a->split ?: len));
	skb_set_network_header(skb, ETH_HLEN);
	if (a->split) {
		struct page *page = alloc_page(GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, page);
		memcpy(page_address(page), body + a->split, len - a->split);
		skb_add_rx_frag(skb, 0, page, 0, len - a->split, PAGE_SIZE);
	}
	if (!a->unsummed && !a->partial && len >= sizeof(udp)) {
		__sum16 sum = telemetry_sum(a, skb) ?: CSUM_MANGLED_0;

		skb_store_bits(skb, at + offsetof(struct udphdr, check), &sum, sizeof(sum));
	}
	if (a->partial) {
		udp.check = htons(0x1234);
		skb_store_bits(skb, at, &udp, sizeof(udp));
		skb->ip_summed = CHECKSUM_PARTIAL;
	}
	kfree(frame);
	return skb;
}

static void telemetry_packets(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		const struct asking *a = &asked[i];
		unsigned int at = telemetry_udp(a), begin, left;
		const struct telemetry t = { .kbit = a->unknown ? 0 : 40000000,
					     .bytes = 0xfffffff0, .queue = 77, .ns = 0x80000001 };
		struct sk_buff *skb = telemetry_frame(test, a), *other = NULL;
		u8 *before = kunit_kzalloc(test, skb->len, GFP_KERNEL);
		u8 *after = kunit_kzalloc(test, skb->len, GFP_KERNEL);
		struct telemetry got;

		skb_copy_bits(skb, 0, before, skb->len);
		if (a->cloned)
			other = skb_clone(skb, GFP_KERNEL);
		KUNIT_EXPECT_EQ_MSG(test, verdict_of(skb, PORT, &t), a->verdict, "%s",
				    a->what);
		skb_copy_bits(skb, 0, after, skb->len);
		if (a->verdict != VERDICT_WRITTEN) {
			KUNIT_EXPECT_EQ_MSG(test, memcmp(before, after, skb->len), 0, "%s", a->what);
			goto next;
		}
		begin = at + sizeof(struct udphdr) + TELEMETRY_AT + a->records * TELEMETRY_RECORD;
		KUNIT_EXPECT_TRUE_MSG(test, telemetry_get(&got, after + begin), "%s", a->what);
		KUNIT_EXPECT_EQ_MSG(test, memcmp(&got, &t, sizeof(t)), 0, "%s", a->what);
		if (!a->unsummed && !a->partial)
			KUNIT_EXPECT_EQ_MSG(test, (__force u16)telemetry_sum(a, skb), 0, "%s",
					    a->what);
		/* and nothing else but the checksum, where there is one */
		memcpy(after + begin, before + begin, TELEMETRY_RECORD);
		left = at + offsetof(struct udphdr, check);
		if (!a->unsummed && !a->partial)
			memcpy(after + left, before + left, sizeof(__sum16));
		KUNIT_EXPECT_EQ_MSG(test, memcmp(before, after, skb->len), 0, "%s", a->what);
		if (other) {
			skb_copy_bits(other, 0, after, other->len);
			KUNIT_EXPECT_EQ_MSG(test, memcmp(before, after, other->len), 0,
					    "%s: the other one", a->what);
		}
next:
		kfree_skb(other);
		kfree_skb(skb);
	}
}

/* Bytes of a good packet flipped, and cut: only a record and the checksum are ever written. */
static void telemetry_hostile(struct kunit *test)
{
	const struct telemetry t = { .kbit = U32_MAX, .bytes = U32_MAX, .queue = U32_MAX,
				     .ns = U32_MAX };
	u8 *before = kunit_kzalloc(test, 512, GFP_KERNEL);
	u8 *after = kunit_kzalloc(test, 512, GFP_KERNEL);
	unsigned int i, k, at, changed, written = 0;
	struct rnd_state rnd;
	struct sk_buff *skb;
	u8 byte;

	prandom_seed_state(&rnd, 1);
	for (i = 0; i < 20000; i++) {
		struct asking a = asked[prandom_u32_state(&rnd) % ARRAY_SIZE(asked)];

		if (prandom_u32_state(&rnd) % 2)
			a.cut = 1 + prandom_u32_state(&rnd) % BODY;
		a.split = a.split && (!a.cut || a.split < a.cut) ? a.split : 0;
		skb = telemetry_frame(test, &a);
		for (k = prandom_u32_state(&rnd) % 4; k; k--) {
			byte = prandom_u32_state(&rnd);
			skb_store_bits(skb, prandom_u32_state(&rnd) % min(skb->len, 80U), &byte, 1);
		}
		skb_copy_bits(skb, 0, before, skb->len);
		switch (verdict_of(skb, PORT, &t)) {
		case VERDICT_WRITTEN:
			written++;
			k = TELEMETRY_RECORD + sizeof(__sum16);
			break;
		default:
			k = 0;
		}
		skb_copy_bits(skb, 0, after, skb->len);
		for (at = changed = 0; at < skb->len; at++)
			changed += before[at] != after[at];
		KUNIT_EXPECT_LE(test, changed, k);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_GT(test, written, 1000);
	KUNIT_EXPECT_LT(test, written, 19000);
}

static struct kunit_case telemetry_cases[] = {
	KUNIT_CASE(telemetry_packets),
	KUNIT_CASE(telemetry_hostile),
	{}
};

static struct kunit_suite telemetry_suite = {
	.name		= "sluice_telemetry",
	.test_cases	= telemetry_cases,
};
kunit_test_suite(telemetry_suite);
