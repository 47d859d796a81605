// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_gbn.c - header and decisions of flowgen's go-back-N transport
 *
 * Each rule by itself; then flows over a line that loses, doubles and reorders, for thousands of
 * seeds: they must all complete, and neither side may ever break its invariants.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/flowgen/gbn.h"
#include "unit.h"

static void test_header(void)
{
	static const u8 want[GBN_HEADER_BYTES] = {
		0x12, 0x01, 0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
	};
	struct gbn_header h = {
		.type = GBN_NACK, .flags = GBN_FLAG_LAST, .run = 0xabcd, .flow = 0x01020304,
		.packet = 0x05060708, .remaining = 0x090a0b0c,
	};
	struct gbn_header back = {};
	u8 raw[GBN_HEADER_BYTES];
	unsigned int first, good = 0;

	gbn_encode(raw, &h);
	check(!memcmp(raw, want, sizeof(raw)), "a header is laid out as written");
	check(gbn_decode(&back, raw) && back.type == h.type && back.flags == h.flags &&
	      back.run == h.run && back.flow == h.flow && back.packet == h.packet &&
	      back.remaining == h.remaining, "and read back");
	for (first = 0; first < 256; first++) {
		raw[0] = first;
		good += gbn_decode(&back, raw);
	}
	check(good == GBN_TYPES, "no other version, no other type");
}

static void test_sizes(void)
{
	struct gbn_header h = {};

	check(gbn_packets(1, 1000) == 1 && gbn_packets(1000, 1000) == 1 &&
	      gbn_packets(1001, 1000) == 2 && gbn_packets(10000000, 1000) == 10000,
	      "packets of a flow");
	check(gbn_packets(GBN_PACKETS_MAX, 1) == GBN_PACKETS_MAX &&
	      !gbn_packets(GBN_PACKETS_MAX + 1ULL, 1) && !gbn_packets(~0ULL, 1),
	      "a flow of too many packets is known");
	check(gbn_describe(&h, 1001, 1000, 0) == 1000 && !h.flags && h.remaining == 1001 &&
	      h.packet == 0 && h.type == GBN_DATA, "the first packet is full");
	check(gbn_describe(&h, 1001, 1000, 1) == 1 && h.flags == GBN_FLAG_LAST &&
	      h.remaining == 1, "the last one has the rest");
	check(gbn_describe(&h, 1000, 1000, 0) == 1000 && h.flags == GBN_FLAG_LAST,
	      "which may be full");
	gbn_describe(&h, 1ULL << 40, 16384, 0);
	check(h.remaining == 0xffffffff, "remaining bytes saturate");
	gbn_describe(&h, 1ULL << 40, 16384, (1U << 26) - 1);
	check(h.remaining == 16384, "and come down from there");
}

static void test_port(void)
{
	static unsigned int count[1 << GBN_PORT_BITS];
	unsigned int i, least = ~0U, most = 0, same = 0;

	for (i = 0; i < 100U << GBN_PORT_BITS; i++)
		count[gbn_port(1, i) - GBN_PORT_MIN]++;
	for (i = 0; i < 1 << GBN_PORT_BITS; i++) {
		least = count[i] < least ? count[i] : least;
		most = count[i] > most ? count[i] : most;
	}
	/* 100 expected each; the extremes of 16384 draws are 4 standard deviations of 10 away */
	check(least > 40 && most < 160, "each port is as likely as the others");
	for (i = 0; i < 100000; i++)
		same += gbn_port(1, i) == gbn_port(2, i);
	/* 6 expected */
	check(same < 25, "another seed has other ports");
}

static void test_tx(void)
{
	struct gbn_tx tx = { .packets = 4 };

	check(gbn_tx_may_send(&tx, 2) && !gbn_tx_sent(&tx) && !gbn_tx_sent(&tx) &&
	      !gbn_tx_may_send(&tx, 2) && gbn_tx_may_send(&tx, 0), "a window ends");
	check(gbn_tx_ack(&tx, 0) == GBN_STALE && gbn_tx_ack(&tx, 3) == GBN_BAD &&
	      gbn_tx_ack(&tx, 1) == GBN_PROGRESS && gbn_tx_may_send(&tx, 2), "an ACK moves it");
	check(gbn_tx_nack(&tx, 2) == GBN_BAD && gbn_tx_nack(&tx, 0) == GBN_STALE,
	      "a NACK is for what was sent");
	gbn_tx_sent(&tx);
	check(gbn_tx_nack(&tx, 1) == GBN_BACK && tx.next == 1 && gbn_tx_sent(&tx) &&
	      gbn_tx_sent(&tx) && !gbn_tx_sent(&tx), "the sender goes back, and knows it");
	gbn_tx_timeout(&tx);
	check(tx.next == 1 && tx.high == 4, "and so it does when nothing is heard");
	check(gbn_tx_ack(&tx, 3) == GBN_PROGRESS && tx.next == 3, "an ACK takes it forward again");
	gbn_tx_timeout(&tx);
	tx.next = tx.acked;
	check(gbn_tx_ack(&tx, 4) == GBN_PROGRESS && gbn_tx_complete(&tx) &&
	      !gbn_tx_may_send(&tx, 0), "up to the end");
	tx = (struct gbn_tx){ .packets = 4 };
	check(!gbn_tx_unsent(&tx, false), "what was not sent is not taken back");
	gbn_tx_sent(&tx);
	check(gbn_tx_unsent(&tx, false) && !tx.next && !tx.high && !gbn_tx_sent(&tx),
	      "what was is sent again for the first time");
	gbn_tx_timeout(&tx);
	check(gbn_tx_sent(&tx) && gbn_tx_unsent(&tx, true) && tx.high == 1,
	      "or once more for the second");
	/* rewound by a timeout, behind what the receiver has */
	tx = (struct gbn_tx){ .packets = 9, .acked = 1, .next = 2, .high = 8 };
	check(gbn_tx_nack(&tx, 5) == GBN_BACK && tx.next == 5 && tx.acked == 5,
	      "a NACK may take it forward");
}

static void test_rx(void)
{
	struct gbn_rx rx = {};

	check(gbn_rx_data(&rx, 0, 5, 2) == GBN_RX_NEW, "no ACK for the first of two");
	check(gbn_rx_data(&rx, 1, 5, 2) == (GBN_RX_NEW | GBN_RX_SAY_ACK), "for the second");
	check(gbn_rx_data(&rx, 3, 5, 2) == (GBN_RX_GAP | GBN_RX_SAY_NACK), "a gap is said");
	check(gbn_rx_data(&rx, 4, 5, 2) == GBN_RX_GAP, "once");
	check(gbn_rx_data(&rx, 2, 5, 2) == GBN_RX_NEW &&
	      gbn_rx_data(&rx, 4, 5, 2) == (GBN_RX_GAP | GBN_RX_SAY_NACK), "until it is closed");
	check(gbn_rx_data(&rx, 0, 5, 2) == GBN_RX_DUPLICATE &&
	      gbn_rx_data(&rx, 1, 5, 2) == (GBN_RX_DUPLICATE | GBN_RX_SAY_ACK) && rx.nacked,
	      "what was there is acknowledged by the same rule, and closes no gap");
	check(gbn_rx_data(&rx, 3, 5, 2) == (GBN_RX_NEW | GBN_RX_SAY_ACK) &&
	      gbn_rx_data(&rx, 4, 5, 2) == (GBN_RX_NEW | GBN_RX_SAY_ACK | GBN_RX_DONE),
	      "the last one is acknowledged and makes it whole");
	check(gbn_rx_data(&rx, 4, 5, 2) == (GBN_RX_DUPLICATE | GBN_RX_SAY_ACK),
	      "and is acknowledged again when it comes again");
}

static u64 stream;

static u32 below(u32 bound)
{
	u64 z;

	stream += 0x9e3779b97f4a7c15ULL;
	z = (stream ^ (stream >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ((z ^ z >> 31) >> 32) * (u64)bound >> 32;
}

#define LINE	64

/* A line: packets on their way, which may be lost, doubled or overtaken. */
struct line {
	struct { u8 type; u32 packet; } on[LINE];
	unsigned int n;
	u32 loss, twice, late;	/* percent */
};

static void line_put(struct line *line, u8 type, u32 packet)
{
	unsigned int copies = 1 + (below(100) < line->twice);

	if (below(100) < line->loss)
		return;
	for (; copies && line->n < LINE; copies--, line->n++) {
		line->on[line->n].type = type;
		line->on[line->n].packet = packet;
	}
}

static bool line_get(struct line *line, u8 *type, u32 *packet)
{
	unsigned int which = line->n > 1 && below(100) < line->late ? below(line->n) : 0;

	if (!line->n)
		return false;
	*type = line->on[which].type;
	*packet = line->on[which].packet;
	line->n--;
	memmove(&line->on[which], &line->on[which + 1], (line->n - which) * sizeof(line->on[0]));
	return true;
}

static bool tx_is_sane(const struct gbn_tx *tx)
{
	return tx->acked <= tx->next && tx->next <= tx->high && tx->high <= tx->packets;
}

/* Return: whether a flow completes, and both sides stay sane. */
static bool flow(u32 packets, u32 window, u32 every, u32 loss, u32 twice, u32 late)
{
	struct line there = { .loss = loss, .twice = twice, .late = late }, back = there;
	struct gbn_tx tx = { .packets = packets };
	unsigned int steps = 1000 * packets + 10000, what, dones = 0;
	struct gbn_rx rx = {};
	u32 packet;
	u8 type;

	while (steps-- && !gbn_tx_complete(&tx)) {
		if (gbn_tx_may_send(&tx, window) && there.n < LINE / 2) {
			packet = tx.next;
			gbn_tx_sent(&tx);
			line_put(&there, GBN_DATA, packet);
		} else if (!there.n && !back.n) {
			gbn_tx_timeout(&tx);
		}
		if (below(2) && line_get(&there, &type, &packet)) {
			what = gbn_rx_data(&rx, packet, packets, every);
			dones += !!(what & GBN_RX_DONE);
			if (what & GBN_RX_SAY_ACK)
				line_put(&back, GBN_ACK, rx.expected);
			if (what & GBN_RX_SAY_NACK)
				line_put(&back, GBN_NACK, rx.expected);
		}
		if (below(2) && line_get(&back, &type, &packet) &&
		    (type == GBN_ACK ? gbn_tx_ack(&tx, packet) :
				       gbn_tx_nack(&tx, packet)) == GBN_BAD)
			return false;
		if (!tx_is_sane(&tx) || rx.expected > tx.high || tx.acked > rx.expected ||
		    (window && tx.next - tx.acked > window))
			return false;
	}
	return gbn_tx_complete(&tx) && dones == 1;
}

static void flows(u32 loss, u32 twice, u32 late)
{
	unsigned int i, good = 0, n = 3000;
	char what[100];

	for (i = 0; i < n; i++) {
		u32 every = 1 + below(4), window = below(3) ? every + below(20) : 0;

		good += flow(1 + below(60), window, every, loss, twice, late);
	}
	snprintf(what, sizeof(what), "%u flows complete: %u %% lost, %u %% twice, %u %% late", n,
		 loss, twice, late);
	check(good == n, what);
}

int main(void)
{
	printf("KTAP version 1\n");
	test_header();
	test_sizes();
	test_port();
	test_tx();
	test_rx();
	stream = 7;
	flows(0, 0, 0);
	flows(5, 0, 0);
	flows(0, 20, 0);
	flows(0, 0, 20);
	flows(10, 10, 10);
	flows(40, 10, 30);
	printf("1..%u\n", done);
	return !!failed;
}
