/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * telemetry_write.h - a port says of itself, in packets that ask for it, how busy it is
 *
 * What telemetry.h says of bytes, for packets. Fragments and GSO packets are left alone, and so is
 * what has been tunnelled.
 *
 * Cost: O(1) for each packet, and a copy of its headers if others have them, too. The functions
 * are not inlined: who has no telemetry does not pay for them.
 */
#ifndef _SLUICE_SCHED_TELEMETRY_WRITE_H
#define _SLUICE_SCHED_TELEMETRY_WRITE_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/math64.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/sch_generic.h>

#include "headers.h"
#include "telemetry.h"

#define HOP_LINE_BYTES	24	/* FCS, preamble and gap, which a qdisc does not count */

/**
 * struct hop_telemetry_stats - packets that asked
 * @written: and were told
 * @full: five ports had written before
 * @failed: no memory, or nobody knows how fast the line is
 */
struct hop_telemetry_stats {
	u64	written;
	u64	full;
	u64	failed;
};

/**
 * struct hop_telemeter - what a port says of itself, but for its queue
 * @kbit: 1000 bits/s of the line, 0: not known
 * @line_bytes: of the line, sent since there is telemetry
 */
struct hop_telemeter {
	u32	kbit;
	u32	line_bytes;
};

/* The line has so many bytes/s; 0: not known. */
static inline void hop_telemeter_set(struct hop_telemeter *m, u64 rate)
{
	m->kbit = min_t(u64, div_u64(rate, 125), U32_MAX);
}

/* Return: where UDP's header is, bytes from skb->data, or a negative number. */
static inline int hop_telemetry_udp(const struct sk_buff *skb)
{
	struct hop_network net = hop_network(skb);
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
	} buf;

	if (net.type == ETH_P_IP) {
		const struct iphdr *ip = skb_header_pointer(skb, net.at, sizeof(*ip), &buf);

		return ip && ip->version == 4 && ip->ihl >= 5 && ip->protocol == IPPROTO_UDP &&
		       !ip_is_fragment(ip) ? net.at + ip->ihl * 4 : -1;
	}
	if (net.type == ETH_P_IPV6) {
		const struct ipv6hdr *ip = skb_header_pointer(skb, net.at, sizeof(*ip), &buf);

		return ip && ip->version == 6 && ip->nexthdr == IPPROTO_UDP ?
		       net.at + (int)sizeof(*ip) : -1;
	}
	return -1;
}

/* The checksum is not reckoned anew: it is to show what happened to the packet before. */
static inline void hop_telemetry_put(struct sk_buff *skb, struct udphdr *udp, u8 *to,
				     const struct telemetry *t)
{
	unsigned int i;
	__be32 word;

	telemetry_put(to, t);
	if (!udp->check)
		return;
	for (i = 0; i < TELEMETRY_RECORD; i += sizeof(word)) {
		memcpy(&word, to + i, sizeof(word));
		inet_proto_csum_replace4(&udp->check, skb, 0, word, false);
	}
	if (!udp->check)
		udp->check = CSUM_MANGLED_0;
}

/**
 * hop_telemetry_write - a packet leaves the port
 * @skb: the packet, without the fabric tag
 * @port: to which UDP port those go that ask
 * @t: what the port says
 * @stats: counted here
 */
static noinline __maybe_unused void
hop_telemetry_write(struct sk_buff *skb, u16 port, const struct telemetry *t,
		    struct hop_telemetry_stats *stats)
{
	struct {
		struct udphdr udp;
		u8 data[TELEMETRY_AT];
		u8 records[TELEMETRY_BYTES];
	} buf, *h;
	int at = hop_telemetry_udp(skb);
	unsigned int record;

	BUILD_BUG_ON(sizeof(buf) != sizeof(buf.udp) + sizeof(buf.data) + sizeof(buf.records));
	if (at < 0 || skb_is_gso(skb))
		return;
	h = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!h || h->udp.dest != htons(port) || ntohs(h->udp.len) < sizeof(buf) ||
	    h->data[0] != TELEMETRY_DATA || !(h->data[1] & TELEMETRY_FLAG))
		return;
	record = telemetry_free(h->records);
	if (record == TELEMETRY_HOPS) {
		stats->full++;
		return;
	}
	if (!t->kbit || skb_ensure_writable(skb, at + sizeof(buf))) {
		stats->failed++;
		return;
	}
	h = (void *)(skb->data + at);
	hop_telemetry_put(skb, &h->udp, h->records + record * TELEMETRY_RECORD, t);
	stats->written++;
}

/**
 * hop_telemeter_tell - a packet leaves a port that writes telemetry
 * @m: the port
 * @skb: the packet, without the fabric tag
 * @port: see hop_telemetry_write()
 * @queue: bytes that wait behind it
 * @now: time
 * @stats: counted here
 */
static noinline __maybe_unused void
hop_telemeter_tell(struct hop_telemeter *m, struct sk_buff *skb, u16 port, u32 queue, u64 now,
		   struct hop_telemetry_stats *stats)
{
	struct telemetry t;

	m->line_bytes += qdisc_pkt_len(skb) + HOP_LINE_BYTES;
	t = (struct telemetry) {
		.kbit = m->kbit, .bytes = m->line_bytes, .queue = queue, .ns = now,
	};
	hop_telemetry_write(skb, port, &t, stats);
}

#endif
