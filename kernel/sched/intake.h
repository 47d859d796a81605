/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * intake.h - what becomes of a packet before a queue is looked for, at a qdisc that does not know
 * flows by then
 *
 * Control packets go ahead of all others, in a queue that is bounded, or with the data, or are
 * dropped (control.h). While one that goes with the data is there, in whatever class and of
 * whatever flow, so do all that have to keep to the share and are of IP. GSO packets are split.
 * Packets are marked by ECN.
 *
 * Under the qdisc lock.
 */
#ifndef _SLUICE_SCHED_INTAKE_H
#define _SLUICE_SCHED_INTAKE_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/sch_generic.h>

#include "../hopctl/hopctl.h"
#include "admit.h"
#include "control.h"
#include "ecn_mark.h"

/* Counters; the netlink attributes of these names say what each means. */
struct hop_intake_stats {
	u64	control;
	u64	spilled;
	u64	gso_split;
	u64	ecn_marked;
	u64	ecn_not_capable;
	u64	drop_control;
	u64	drop_police;
	u64	drop_gso;
};

/**
 * struct hop_intake - what is kept for it
 * @control: control packets that wait
 * @police: what those cost that have to keep to a share
 * @spilled: control packets among the data
 */
struct hop_intake {
	struct sk_buff_head	control;
	struct hop_police	police;
	u32			spilled;
};

#define HOP_INTAKE_SPILLS	(-1)

/**
 * hop_intake_control - a control packet comes
 * @in: what is kept
 * @stats: counters
 * @m: the qdisc
 * @skb: a packet that hop_is_control() is true of
 * @net: hop_network() of it
 * @dscp: as hop_is_control() was given
 * @to_free: as enqueue has it
 *
 * Return: HOP_INTAKE_SPILLS: it goes with the data, and is still the caller's, who counts it in
 * @in while it is there. Otherwise what enqueue returns.
 */
static noinline __maybe_unused int
hop_intake_control(struct hop_intake *in, struct hop_intake_stats *stats, struct hop_member *m,
		   struct sk_buff *skb, struct hop_network net, u8 dscp, struct sk_buff **to_free)
{
	switch (hop_control_way(&in->police, m->control_paid, in->spilled, skb, net, dscp)) {
	case HOP_CONTROL_FIRST:
		if (unlikely(!hop_control_put(&in->control, m->sch, skb))) {
			stats->drop_control++;
			break;
		}
		stats->control++;
		return NET_XMIT_SUCCESS;
	case HOP_CONTROL_SPILLS:
		stats->spilled++;
		return HOP_INTAKE_SPILLS;
	case HOP_CONTROL_DROPPED:
		stats->drop_police++;
	}
	return qdisc_drop(skb, m->sch, to_free);
}

/**
 * hop_intake_split - a GSO packet is split
 * @stats: counters
 * @skb: the packet, which is gone then
 * @sch: the qdisc
 * @to_free: as enqueue has it
 *
 * Return: a list of its segments, each with its length. NULL: it was dropped.
 */
static inline struct sk_buff *hop_intake_split(struct hop_intake_stats *stats, struct sk_buff *skb,
					       struct Qdisc *sch, struct sk_buff **to_free)
{
	struct sk_buff *segments = hop_admit_segments(skb);

	if (!segments) {
		stats->drop_gso++;
		qdisc_drop(skb, sch, to_free);
		return NULL;
	}
	stats->gso_split++;
	consume_skb(skb);
	return segments;
}

/* A packet is to be marked. */
static noinline __maybe_unused void hop_intake_ecn(struct hop_intake_stats *stats,
						   struct sk_buff *skb)
{
	if (hop_ecn_mark(skb))
		stats->ecn_marked++;
	else
		stats->ecn_not_capable++;
}

#endif
