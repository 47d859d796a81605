// SPDX-License-Identifier: GPL-2.0-only
/*
 * urgent.c - ports whose pauses have changed on a processor, for which its next packet is to send
 *
 * Who marks a packet puts the port here, under the lock of a qdisc; tx.c sends for those that are
 * here when the next packet comes in, where no such lock is held.
 */
#include "port.h"

DEFINE_PER_CPU(struct hop_urgent, hop_urgent);

/**
 * hop_urgent_add - the next packet that comes to this processor is to send for a port
 * @port: the port
 *
 * Context: softirqs off. If there are more than HOP_URGENT, the worker is early enough.
 */
void hop_urgent_add(struct hop_port *port)
{
	struct hop_urgent *u = this_cpu_ptr(&hop_urgent);
	unsigned int i;

	for (i = 0; i < HOP_URGENT; i++) {
		if (READ_ONCE(u->port[i]) == port)
			return;
		if (!READ_ONCE(u->port[i])) {
			WRITE_ONCE(u->port[i], port);
			u->any = true;
			return;
		}
	}
}

/**
 * hop_urgent_del - no processor is to send for a port any more
 * @port: a port that no qdisc and no hook finds any more
 *
 * Who took it out before may still be sending, until a RCU grace period is over.
 */
void hop_urgent_del(struct hop_port *port)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < HOP_URGENT; i++)
			cmpxchg(&per_cpu(hop_urgent, cpu).port[i], port, NULL);
}
