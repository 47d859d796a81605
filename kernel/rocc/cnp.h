/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cnp.h - the codec of congestion notification packets (RoCC, section 3.3)
 *
 * Pure functions over bounded buffers, without sk_buff, that compile into the module and into
 * user-space programs alike. A buffer starts at the ICMP header.
 */
#ifndef _SLUICE_ROCC_CNP_H
#define _SLUICE_ROCC_CNP_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

#include "../uapi/rocc.h"

#define CNP_IPV4_BYTES	20
#define CNP_IPV6_BYTES	40

/* Largest CNP: a host's queue, and an IPv6 flow */
#define CNP_MAX		(sizeof(struct rocc_cnp) + sizeof(struct rocc_cnp_queue) +	\
			 CNP_IPV6_BYTES + ROCC_CNP_QUOTED_L4)

/**
 * enum cnp_error - why a CNP was refused
 * @CNP_OK: it was not
 * @CNP_MALFORMED: it is too short, or what it quotes is no start of an IP packet
 * @CNP_VERSION: another version or code
 * @CNP_RANGE: a rate, epoch, interval, tuning or key that cannot be
 */
enum cnp_error {
	CNP_OK,
	CNP_MALFORMED,
	CNP_VERSION,
	CNP_RANGE,
};

/**
 * struct cnp_flow - the flow that a CNP is for, as the quoted packet says
 * @v6: IPv6; else of the addresses the first 4 bytes
 * @proto: IP protocol
 * @saddr: source address
 * @daddr: destination address
 * @l4: the bytes behind the IP header, as they were
 */
struct cnp_flow {
	bool	v6;
	__u8	proto;
	__u8	saddr[16];
	__u8	daddr[16];
	__u8	l4[ROCC_CNP_QUOTED_L4];
};

/**
 * struct cnp_queue - struct rocc_cnp_queue in host byte order
 */
struct cnp_queue {
	__u8	tuning;
	__u32	rate_max;
	__u64	alpha;
	__u64	beta;
	__u32	q_cur;
	__u32	q_old;
	__u32	q_ref;
	__u32	q_mid;
	__u32	q_max;
};

/**
 * struct cnp - a CNP in host byte order
 * @code: enum rocc_cnp_code
 * @key: as in struct rocc_cnp
 * @rate: kbit/s
 * @queue: of the port
 * @port: of the congestion point
 * @address: of the congestion point
 * @epoch: of the congestion point
 * @sequence: of the interval
 * @interval: between two rates, ns
 * @gap: since the flow was told before, ns; 0: @interval
 * @rate_min: the least, kbit/s
 * @tag: as it came; the codec makes and checks none
 * @state: valid with ROCC_CNP_QUEUE
 * @flow: who is meant
 */
struct cnp {
	__u8			code;
	__u8			key;
	__u16			queue;
	__u32			rate;
	__u32			port;
	__u8			address[16];
	__u64			epoch;
	__u32			sequence;
	__u32			interval;
	__u32			gap;
	__u32			rate_min;
	__u64			tag;
	struct cnp_queue	state;
	struct cnp_flow		flow;
};

size_t cnp_write(void *buf, size_t size, const struct cnp *c);
enum cnp_error cnp_parse(const void *buf, size_t len, bool v6, struct cnp *c);

#endif
