/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * telemetry.h - what the ports on its way say of themselves in a packet
 *
 * Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 3.1: each egress port
 * adds to a packet, as it dequeues it, how fast its line is, what it has sent, what waits, and when
 * that was. The receiver sends it back with the acknowledgement.
 *
 * A packet of UDP asks for it by its first two bytes, which are those of data of flowgen
 * (flowgen/gbn.h) with a flag. TELEMETRY_AT bytes behind UDP's header it has 80 bytes: five
 * records, of which each port fills the first that is empty. A record, in network byte order:
 *
 *	0	kbit/s of the line, 0: the record is empty
 *	4	bytes of the line that the port has sent, this packet with it, mod 2^32
 *	8	bytes that wait at the port, without this packet
 *	12	ns of the port's clock, mod 2^32
 *
 * Pure functions: they compile into the modules and into the user-space test.
 */
#ifndef _SLUICE_SCHED_TELEMETRY_H
#define _SLUICE_SCHED_TELEMETRY_H

#include <linux/types.h>
#ifndef __KERNEL__
#include "kernel_shim.h"
#endif

#include "../hopctl/byteorder.h"

#define TELEMETRY_HOPS		5
#define TELEMETRY_RECORD	16	/* bytes */
#define TELEMETRY_BYTES		(TELEMETRY_HOPS * TELEMETRY_RECORD)

#define TELEMETRY_AT		16	/* bytes before the records */
#define TELEMETRY_DATA		0x10	/* first byte of a packet that asks */
#define TELEMETRY_FLAG		0x02	/* in the second one */

/**
 * struct telemetry - a record, decoded
 * @kbit: kbit/s of the line
 * @bytes: of the line, sent
 * @queue: bytes that wait
 * @ns: when
 */
struct telemetry {
	u32 kbit;
	u32 bytes;
	u32 queue;
	u32 ns;
};

/**
 * telemetry_get - read a record
 * @t: where to
 * @from: TELEMETRY_RECORD bytes
 *
 * Return: false if it is empty.
 */
static inline bool telemetry_get(struct telemetry *t, const u8 *from)
{
	__be32 words[TELEMETRY_RECORD / sizeof(__be32)];

	memcpy(words, from, sizeof(words));
	t->kbit = be32_to_cpu(words[0]);
	t->bytes = be32_to_cpu(words[1]);
	t->queue = be32_to_cpu(words[2]);
	t->ns = be32_to_cpu(words[3]);
	return t->kbit;
}

/**
 * telemetry_put - write a record
 * @to: TELEMETRY_RECORD bytes
 * @t: the record
 */
static inline void telemetry_put(u8 *to, const struct telemetry *t)
{
	const __be32 words[] = {
		cpu_to_be32(t->kbit), cpu_to_be32(t->bytes), cpu_to_be32(t->queue),
		cpu_to_be32(t->ns),
	};

	memcpy(to, words, sizeof(words));
}

/**
 * telemetry_free - the first empty record
 * @records: TELEMETRY_BYTES
 *
 * Return: 0 .. TELEMETRY_HOPS - 1, or TELEMETRY_HOPS: there is none.
 */
static inline unsigned int telemetry_free(const u8 *records)
{
	struct telemetry t;
	unsigned int i;

	for (i = 0; i < TELEMETRY_HOPS; i++)
		if (!telemetry_get(&t, records + i * TELEMETRY_RECORD))
			break;
	return i;
}

#endif
