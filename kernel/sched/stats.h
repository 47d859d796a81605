/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - figures that qdiscs keep and show alike
 */
#ifndef _SLUICE_SCHED_STATS_H
#define _SLUICE_SCHED_STATS_H

#include <linux/u64_stats_sync.h>
#include <net/gen_stats.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

/**
 * hop_backlog_moves - the backlog is about to change, or to be shown
 * @sch: the qdisc
 * @area: bytes x ns so far: what is queued on average is its growth over that of the time
 * @since: when it was last brought up to date
 * @now: time
 */
static inline void hop_backlog_moves(const struct Qdisc *sch, u64 *area, u64 *since, u64 now)
{
	*area += sch->qstats.backlog * (now - *since);
	*since = now;
}

/* Packets and bytes as tc shows them of a class. Return: below 0 if there is no room. */
static inline int hop_put_sent(struct gnet_dump *d, u64 packets, u64 bytes)
{
	struct gnet_stats_basic_sync sent;

	gnet_stats_basic_sync_init(&sent);
	u64_stats_set(&sent.packets, packets);
	u64_stats_set(&sent.bytes, bytes);
	return gnet_stats_copy_basic(d, NULL, &sent, true);
}

/* Show a walker one class. Return: false to end the walk. */
static inline bool hop_walk_one(struct Qdisc *sch, struct qdisc_walker *arg, unsigned long minor)
{
	if (arg->count >= arg->skip && arg->fn(sch, minor, arg) < 0) {
		arg->stop = 1;
		return false;
	}
	arg->count++;
	return true;
}

#endif
