/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * rocc: what a congestion point says to those who send through it.
 *
 * A congestion notification packet (CNP; RoCC, section 3.3) is an ICMP message to the source of a
 * flow: struct rocc_cnp, with ROCC_CNP_QUEUE a struct rocc_cnp_queue behind it, and at the end the
 * start of a packet of the flow: its IP header, without options or extension headers, and 8 bytes
 * behind that. Plain C, also for user space. All fields are big-endian and nothing is aligned
 * beyond two bytes.
 *
 * The numbers are those that IANA keeps for experiments: type 253 of ICMP (RFC 4727; the
 * paper's), and type 200 of ICMPv6 (RFC 4443), an informational one. The checksum is ICMP's, or
 * ICMPv6's.
 */
#ifndef _SLUICE_UAPI_ROCC_H
#define _SLUICE_UAPI_ROCC_H

#include <linux/types.h>

#define ROCC_CNP_ICMP		253
#define ROCC_CNP_ICMPV6		200
#define ROCC_CNP_VERSION	1
#define ROCC_CNP_KEYS		2	/* for tags: one may replace the other */
#define ROCC_CNP_QUOTED_L4	8	/* bytes behind the quoted IP header: ports, sequence */

/**
 * enum rocc_cnp_code - what a CNP says
 * @ROCC_CNP_RATE: a fair rate
 * @ROCC_CNP_QUEUE: what the fair rate is computed from; the host computes it (section 3.6)
 */
enum rocc_cnp_code {
	ROCC_CNP_RATE,
	ROCC_CNP_QUEUE,
};

/**
 * struct rocc_cnp - start of every CNP, from the ICMP header on
 * @type: ROCC_CNP_ICMP or ROCC_CNP_ICMPV6
 * @code: enum rocc_cnp_code
 * @checksum: of ICMP
 * @rate: the fair rate, kbit/s, at least 1; all ones: that or more. With ROCC_CNP_QUEUE the last
 *	one.
 * @version: ROCC_CNP_VERSION; others are counted and dropped
 * @key: what @tag was made with, 1 to ROCC_CNP_KEYS; 0: there is none
 * @queue: which queue of the port
 * @port: index of the port's device
 * @address: IPv6 address of the congestion point, or its IPv4 address mapped into one. With @port
 *	and @queue the name of the congestion point: it may differ from the packet's source.
 * @epoch: random number of the congestion point, drawn at each start, never 0
 * @sequence: one more with each interval T; CNPs of one interval have the same
 * @tag: SipHash of the rest, @checksum and @tag taken as 0; 0 without @key
 */
struct rocc_cnp {
	__u8	type;
	__u8	code;
	__be16	checksum;
	__be32	rate;
	__u8	version;
	__u8	key;
	__be16	queue;
	__be32	port;
	__u8	address[16];
	__be32	epoch;
	__be32	sequence;
	__be64	tag;
} __attribute__((packed));

/**
 * struct rocc_cnp_queue - what Algorithm 1 needs
 * @rate_min: least rate, kbit/s
 * @rate_max: largest rate, kbit/s, not below @rate_min
 * @alpha: bit/s for a byte above @q_ref each interval, in 1/1024
 * @beta: the same for a byte of growth
 * @q_cur: length of the queue, bytes
 * @q_old: its length one interval before
 * @q_ref: reference length
 * @q_mid: growth that halves the rate
 * @q_max: length from which on the rate is the least
 */
struct rocc_cnp_queue {
	__be32	rate_min;
	__be32	rate_max;
	__be64	alpha;
	__be64	beta;
	__be32	q_cur;
	__be32	q_old;
	__be32	q_ref;
	__be32	q_mid;
	__be32	q_max;
} __attribute__((packed));

#endif
