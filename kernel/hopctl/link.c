// SPDX-License-Identifier: GPL-2.0-only
/*
 * link.c - times of a port's link: what a frame takes, what the card holds, how far apart states
 * are
 */
#include <linux/math64.h>

#include "port.h"

#define FRAME_OVERHEAD	24	/* preamble, FCS and gap, bytes */

unsigned int hop_state_spacing_ns = 1000;

/**
 * hop_link_wire_ns - how long a frame takes on the link
 * @port: the port
 * @bytes: its bytes, Ethernet header included, FCS not
 *
 * Return: ns, 0 if the speed is unknown.
 */
u64 hop_link_wire_ns(const struct hop_port *port, unsigned int bytes)
{
	u64 speed = hop_speed_bytes(READ_ONCE(port->speed));

	if (!speed)
		return 0;
	bytes = max_t(unsigned int, bytes, ETH_ZLEN) + FRAME_OVERHEAD;
	return div64_u64((u64)bytes * NSEC_PER_SEC, speed);
}

/* What the card's longest transmit queue may hold, by its byte queue limit, and what all may. */
static void link_ring_bytes(const struct hop_port *port, u64 *longest, u64 *all)
{
	*longest = 0;
	*all = 0;
#ifdef CONFIG_BQL
	unsigned int i;
	u64 bytes;

	for (i = 0; i < READ_ONCE(port->dev->real_num_tx_queues); i++) {
		bytes = READ_ONCE(netdev_get_tx_queue(port->dev, i)->dql.limit);
		*longest = max(*longest, bytes);
		*all += bytes;
	}
#endif
}

/* Bytes at the link's speed */
static u32 link_bytes_ns(const struct hop_port *port, u64 bytes)
{
	u64 speed = hop_speed_bytes(READ_ONCE(port->speed));

	return speed ? min_t(u64, div64_u64(bytes * NSEC_PER_SEC, speed), HOP_HRTT_MAX_NS) : 0;
}

/**
 * hop_link_ring_ns - how long a frame waits on the card, as a rule
 * @port: the port
 *
 * Each queue is paced by a limit of its own, and one that had the link to itself fills it alone:
 * the sum over all would be too much by as many as there are. What several of them that are full
 * at once add to it is left to be measured (reaction.h).
 *
 * Return: ns, 0 if the card does not tell.
 */
u32 hop_link_ring_ns(const struct hop_port *port)
{
	u64 longest, all;

	link_ring_bytes(port, &longest, &all);
	return link_bytes_ns(port, longest);
}

/**
 * hop_link_drain_ns - within what time all that the card holds has left
 * @port: the port
 *
 * Return: ns, 0 if the card does not tell.
 */
u32 hop_link_drain_ns(const struct hop_port *port)
{
	u64 longest, all;

	link_ring_bytes(port, &longest, &all);
	return link_bytes_ns(port, all);
}
