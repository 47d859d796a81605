/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port.h - a port by itself, for tests: on a device that is nowhere, without timer, hook and
 * members, whose worker does nothing
 */
#ifndef _SLUICE_KUNIT_PORT_H
#define _SLUICE_KUNIT_PORT_H

#include <kunit/test.h>

#include "../../kernel/hopctl/port.h"

struct hop_port *sluice_port_new(void);
void sluice_port_free(struct hop_port *port);

/* A namespace's part, all zero before, which no namespace has; free it when no port has handles. */
int sluice_net_init(struct hop_net *net);
void sluice_net_exit(struct hop_net *net);

/* Suites have these as init and exit; test->priv is the port. */
int sluice_port_init(struct kunit *test);
void sluice_port_exit(struct kunit *test);

/* One of struct hop_pcpu's counters, over all processors */
#define sluice_pcpu_sum(port, field)						\
({										\
	u64 __sum = 0;								\
	int __cpu;								\
										\
	for_each_possible_cpu(__cpu)						\
		__sum += u64_stats_read(&per_cpu_ptr((port)->pcpu, __cpu)->field);	\
	__sum;									\
})

#endif
