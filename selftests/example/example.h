/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * example.h - what the files of the kind `example` share
 */
#ifndef _SLUICE_EXAMPLE_H
#define _SLUICE_EXAMPLE_H

#include "../../kernel/hopctl/content.h"
#include "../../kernel/sched/packet_hash.h"
#include "../../kernel/sched/subq.h"

#define EXAMPLE_QUEUES	64

enum { TCA_EXAMPLE_UNSPEC, TCA_EXAMPLE_LIMIT, TCA_EXAMPLE_VERSION, TCA_EXAMPLE_PAD };

struct example_config {
	u32	limit;
};

struct example_sched {
	struct example_config	config;
	struct hop_flow_secret	secret;
	u64			paused;		/* a bit for each sub-queue */
	u32			paused_seen;	/* generation of @paused */
	struct hop_subqs	subqs;
	struct hop_class	class;
	struct hop_subq		queues[EXAMPLE_QUEUES];
	struct hop_subq_stats	stats[EXAMPLE_QUEUES];
	struct hop_member	member;
	u64			told[EXAMPLE_QUEUES];	/* as told.c has told them; port's lock */
	u64			heard[EXAMPLE_QUEUES];	/* the neighbour's; likewise */
};

extern const struct hop_member_ops example_member_ops;

/* told.c */
u64 example_heard(const struct example_sched *q);
int example_told_init(void);
void example_told_exit(void);

#endif
