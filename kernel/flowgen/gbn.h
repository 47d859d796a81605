/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gbn.h - header and decisions of flowgen's go-back-N transport
 *
 * Pure functions: no sk_buff, no clock, no lock. They compile into the module and into the
 * user-space test.
 *
 * A flow of B bytes is ceil(B / payload) packets, numbered from 0; all but the last one are full.
 * The receiver takes packets in order only. It acknowledges by the number of the packet that it
 * expects, after each K packets and after the last one; on a gap it says once, by a NACK, which
 * packet it expects, and the sender goes back to it. What neither heals, a lost last packet or
 * a lost NACK, is healed by the sender's timer: it goes back to what was acknowledged. With
 * congestion control (cc.h) the receiver also says, by a CNP, that a marked packet has come.
 *
 * Behind UDP's, each packet has a header of 16 bytes, in network byte order:
 *
 *	0	version (4 bits), type (4 bits)
 *	1	flags
 *	2	run
 *	4	flow
 *	8	packet: of DATA its number, of others the number expected next
 *	12	of DATA: bytes of the flow from this packet on, at most 2^32 - 1; else 0
 */
#ifndef _SLUICE_FLOWGEN_GBN_H
#define _SLUICE_FLOWGEN_GBN_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#define GBN_HEADER_BYTES	16
#define GBN_VERSION		1
#define GBN_PACKETS_MAX		0x7fffffffU	/* of a flow */
#define GBN_PORT_MIN		49152U
#define GBN_PORT_BITS		14

enum {
	GBN_DATA,
	GBN_ACK,
	GBN_NACK,
	GBN_CNP,
	GBN_TYPES,
};

#define GBN_FLAG_LAST		0x01	/* the flow's last packet */
#define GBN_FLAG_TELEMETRY	0x02	/* sched/telemetry.h: it is behind the header */

/**
 * struct gbn_header - a header, decoded
 * @type: GBN_DATA, GBN_ACK, GBN_NACK or GBN_CNP
 * @flags: GBN_FLAG_*
 * @run: number of the run
 * @flow: number of the flow
 * @packet: see above
 * @remaining: see above
 */
struct gbn_header {
	u8 type;
	u8 flags;
	u16 run;
	u32 flow;
	u32 packet;
	u32 remaining;
};

static inline void gbn_put32(u8 *to, u32 value)
{
	to[0] = value >> 24;
	to[1] = value >> 16;
	to[2] = value >> 8;
	to[3] = value;
}

static inline u32 gbn_get32(const u8 *from)
{
	return (u32)from[0] << 24 | (u32)from[1] << 16 | (u32)from[2] << 8 | from[3];
}

/**
 * gbn_encode - write a header
 * @to: GBN_HEADER_BYTES
 * @h: what to write
 */
static inline void gbn_encode(u8 *to, const struct gbn_header *h)
{
	to[0] = GBN_VERSION << 4 | h->type;
	to[1] = h->flags;
	to[2] = h->run >> 8;
	to[3] = h->run;
	gbn_put32(to + 4, h->flow);
	gbn_put32(to + 8, h->packet);
	gbn_put32(to + 12, h->remaining);
}

/**
 * gbn_decode - read a header
 * @h: where to
 * @from: GBN_HEADER_BYTES
 *
 * Return: false if version or type is not known.
 */
static inline bool gbn_decode(struct gbn_header *h, const u8 *from)
{
	if (from[0] >> 4 != GBN_VERSION || (from[0] & 15) >= GBN_TYPES)
		return false;
	h->type = from[0] & 15;
	h->flags = from[1];
	h->run = (u16)(from[2] << 8 | from[3]);
	h->flow = gbn_get32(from + 4);
	h->packet = gbn_get32(from + 8);
	h->remaining = gbn_get32(from + 12);
	return true;
}

/**
 * gbn_packets - of a flow
 * @bytes: at least 1
 * @payload: of a full packet
 *
 * Return: how many packets; 0 if they are more than GBN_PACKETS_MAX.
 */
static inline u32 gbn_packets(u64 bytes, u32 payload)
{
	u64 packets = div_u64(bytes - 1, payload) + 1;

	return packets <= GBN_PACKETS_MAX ? packets : 0;
}

/**
 * gbn_left - bytes of a flow from a packet on
 * @bytes: of the flow
 * @payload: of a full packet
 * @packet: less than gbn_packets()
 *
 * Return: those bytes.
 */
static inline u64 gbn_left(u64 bytes, u32 payload, u32 packet)
{
	return bytes - (u64)packet * payload;
}

/**
 * gbn_describe - the header of a packet of data
 * @h: where to; type, flags, packet and remaining are set
 * @bytes: of the flow
 * @payload: of a full packet
 * @packet: less than gbn_packets()
 *
 * Return: bytes of payload of the packet.
 */
static inline u32 gbn_describe(struct gbn_header *h, u64 bytes, u32 payload, u32 packet)
{
	u64 left = gbn_left(bytes, payload, packet);

	h->type = GBN_DATA;
	h->flags = left <= payload ? GBN_FLAG_LAST : 0;
	h->packet = packet;
	h->remaining = left < 0xffffffffU ? left : 0xffffffffU;
	return left < payload ? left : payload;
}

/**
 * gbn_port - the UDP source port of a flow, so that each takes its own path
 * @seed: of the run
 * @flow: its number
 *
 * Return: GBN_PORT_MIN to 65535, each as likely as the others.
 */
static inline u16 gbn_port(u64 seed, u32 flow)
{
	u64 z = seed + (flow + 1ULL) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return GBN_PORT_MIN + (z >> (64 - GBN_PORT_BITS));
}

/**
 * struct gbn_tx - the sender's side of a flow
 * @packets: of the flow
 * @acked: packets before this one have been acknowledged
 * @next: to be sent next
 * @high: packets before this one have been sent at least once
 *
 * acked <= next <= high <= packets.
 */
struct gbn_tx {
	u32 packets;
	u32 acked;
	u32 next;
	u32 high;
};

/**
 * gbn_tx_may_send - may the next packet go?
 * @tx: the flow
 * @window: packets that may be unacknowledged; 0: any number
 *
 * Return: whether there is one and the window has room for it.
 */
static inline bool gbn_tx_may_send(const struct gbn_tx *tx, u32 window)
{
	return tx->next < tx->packets && (!window || tx->next - tx->acked < window);
}

/**
 * gbn_tx_sent - the next packet has been sent
 * @tx: the flow
 *
 * Return: true if it was sent before.
 */
static inline bool gbn_tx_sent(struct gbn_tx *tx)
{
	if (tx->next++ < tx->high)
		return true;
	tx->high = tx->next;
	return false;
}

/**
 * gbn_tx_unsent - the packet sent last was refused by its own host
 * @tx: the flow
 * @again: what gbn_tx_sent() said of it
 *
 * Return: false if the sender has gone back behind it meanwhile, or it was acknowledged.
 */
static inline bool gbn_tx_unsent(struct gbn_tx *tx, bool again)
{
	if (tx->next == tx->acked)
		return false;
	tx->next--;
	if (!again)
		tx->high = tx->next;
	return true;
}

/**
 * gbn_asks - will the receiver acknowledge that packet, if it is the one that it expects?
 * @packet: its number
 * @packets: of the flow
 * @every: the receiver acknowledges each so many packets
 */
static inline bool gbn_asks(u32 packet, u32 packets, u32 every)
{
	return packet + 1 == packets || (packet + 1) % every == 0;
}

static inline bool gbn_tx_complete(const struct gbn_tx *tx)
{
	return tx->acked == tx->packets;
}

/* What an acknowledgement has brought */
enum gbn_news {
	GBN_STALE,	/* nothing */
	GBN_PROGRESS,	/* more packets are acknowledged */
	GBN_BACK,	/* the sender has gone back */
	GBN_BAD,	/* it speaks of what was never sent */
};

/**
 * gbn_tx_ack - an ACK has come
 * @tx: the flow
 * @expected: what the receiver expects next
 *
 * Return: GBN_STALE, GBN_PROGRESS or GBN_BAD.
 */
static inline enum gbn_news gbn_tx_ack(struct gbn_tx *tx, u32 expected)
{
	if (expected > tx->high)
		return GBN_BAD;
	if (expected <= tx->acked)
		return GBN_STALE;
	tx->acked = expected;
	if (tx->next < expected)
		tx->next = expected;
	return GBN_PROGRESS;
}

/**
 * gbn_tx_nack - a NACK has come
 * @tx: the flow
 * @expected: what the receiver expects next; it has seen a later packet
 *
 * After a timeout it may be ahead of what is sent next: then the sender goes forward to it.
 *
 * Return: GBN_STALE, GBN_BACK, or GBN_BAD.
 */
static inline enum gbn_news gbn_tx_nack(struct gbn_tx *tx, u32 expected)
{
	if (expected >= tx->high)
		return GBN_BAD;
	if (expected < tx->acked)
		return GBN_STALE;
	tx->acked = expected;
	tx->next = expected;
	return GBN_BACK;
}

/**
 * gbn_tx_timeout - nothing was heard for too long
 * @tx: the flow
 */
static inline void gbn_tx_timeout(struct gbn_tx *tx)
{
	tx->next = tx->acked;
}

/**
 * struct gbn_rx - the receiver's side of a flow
 * @expected: number of the packet
 * @nacked: the gap before what has come since was reported
 */
struct gbn_rx {
	u32 expected;
	bool nacked;
};

/* What to do with a packet that has come */
enum {
	GBN_RX_NEW = 1,		/* it was the expected one */
	GBN_RX_DUPLICATE = 2,	/* it was there before */
	GBN_RX_GAP = 4,		/* it is too early, and dropped */
	GBN_RX_SAY_ACK = 8,
	GBN_RX_SAY_NACK = 16,
	GBN_RX_DONE = 32,	/* now the flow is whole */
};

/**
 * gbn_rx_data - a packet of data has come
 * @rx: the flow
 * @packet: its number, less than @packets
 * @packets: of the flow
 * @every: acknowledge each so many packets
 *
 * A packet that was there before is acknowledged by the same rule, by what is expected now: the
 * sender has missed the first acknowledgement.
 *
 * Return: GBN_RX_*.
 */
static inline unsigned int gbn_rx_data(struct gbn_rx *rx, u32 packet, u32 packets, u32 every)
{
	unsigned int what = GBN_RX_NEW;

	if (packet > rx->expected) {
		what = GBN_RX_GAP | (rx->nacked ? 0 : GBN_RX_SAY_NACK);
		rx->nacked = true;
		return what;
	}
	if (packet < rx->expected) {
		what = GBN_RX_DUPLICATE;
	} else {
		rx->expected++;
		rx->nacked = false;
		if (rx->expected == packets)
			what |= GBN_RX_DONE;
	}
	if (gbn_asks(packet, packets, every))
		what |= GBN_RX_SAY_ACK;
	return what;
}

#endif
