/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - counters of a qdisc as rows of a table
 *
 * A row ties a netlink attribute to a field of a struct, so that a counter that is kept cannot be
 * forgotten in dumps.
 */
#ifndef _SLUICE_SCHED_COUNTERS_H
#define _SLUICE_SCHED_COUNTERS_H

#include <net/netlink.h>

#include "nest.h"

/**
 * struct hop_counter - a counter that is dumped
 * @attr: netlink attribute
 * @offset: of the field in the struct
 * @size: of the field and of the attribute's value: 4 or 8 bytes
 */
struct hop_counter {
	u16	attr;
	u16	offset;
	u8	size;
};

/**
 * hop_counters_dump - put counters into a message
 * @rows: the table
 * @n: rows in it
 * @stats: the struct
 * @skb: the message
 * @pad: attribute that pads 64-bit values
 *
 * Return: 0 or -EMSGSIZE.
 */
static inline int hop_counters_dump(const struct hop_counter *rows, unsigned int n,
				    const void *stats, struct sk_buff *skb, int pad)
{
	const struct hop_counter *c;
	int err = 0;

	for (c = rows; c < rows + n && !err; c++) {
		if (c->size == sizeof(u32))
			err = nla_put_u32(skb, c->attr, *(const u32 *)(stats + c->offset));
		else
			err = nla_put_u64_64bit(skb, c->attr, *(const u64 *)(stats + c->offset),
						pad);
	}
	return err;
}

#endif
