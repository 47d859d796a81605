/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pfc.h - what the files of the qdisc pfc share
 *
 *   pfc.c        enqueue, dequeue, marks; the operations of the qdisc
 *   pfc_stats.c  statistics, and the classes that show them
 *   pfc_setup.c  options, memory, the place on the port, what the watchdogs ask
 *   pfc_queue.c  how pauses that we asked for end, those that the neighbour asks for, all ways out
 *   ideal.c      the other qdisc of this folder, which has nothing in common with this one
 *
 * A file calls those below it in this list, and none above.
 */
#ifndef _SLUICE_BASELINE_PFC_H
#define _SLUICE_BASELINE_PFC_H

#include <net/pkt_sched.h>

#include "../hopctl/hopctl.h"
#include "../sched/buffer.h"
#include "../sched/ecn_ramp.h"
#include "../sched/egress.h"
#include "../sched/intake.h"
#include "../sched/subq.h"
#include "../sched/telemetry_write.h"
#include "../sched/xoff.h"
#include "../uapi/pfc.h"

/* What the options say, in the units of TCA_PFC_*. A copy is filled and swapped in whole. */
struct pfc_config {
	struct hop_config	port;
	u64			rate;
	u32			limit;
	u32			pool;
	u32			pool_alpha;
	u32			pool_pause_alpha;
	u32			control_share;
	u32			kmin;
	u32			kmax;
	u32			pmax;
	u16			telemetry;
	u8			split_gso;
	u8			control_dscp;
};

/* Counters of the qdisc: TCA_PFC_STATS_* says what each means. */
struct pfc_stats {
	u64	backlog_time;
	u64	elided;
	u64	withdrawn;
	struct hop_telemetry_stats telemetry;
	struct hop_intake_stats intake;
	u64	tagged;
	u64	drop_limit;
	u64	drop_pool;
	u64	drop_tag;
	u32	backlog_max;
};

/* Private area of the qdisc. */
struct pfc_sched {
	/* Read mostly */
	struct pfc_config	config;
	struct hop_ecn_ramp	ramp;		/* of @config */

	/* Read and written for each packet */
	u32			paused_seen ____cacheline_aligned;
	u32			random;		/* see hop_ecn_marks() */
	struct hop_buffer	buffer;
	u64			changed_ns;	/* when the backlog last changed */
	struct hop_subq		fifo;
	struct hop_subq_stats	fifo_stats;
	struct hop_subqs	subqs;		/* the FIFO is all of them */
	struct hop_class	class;		/* likewise */
	struct pfc_stats	stats;

	/* Seldom used */
	struct hop_intake	intake;
	u64			rate;		/* bytes/s that @police was computed with */
	struct hop_telemeter	telemeter;
	u32			speed_seen;	/* what @rate follows */
	u32			frame_seen;
	struct hop_late_drops	late;
	u64			paused;		/* merged pause bit */
	struct hop_member	member;
};

/**
 * struct pfc_skb_cb - what a packet in the FIFO remembers
 * @handle: what its bytes count against, 0 if nothing
 * @spilled: it is a control packet
 */
struct pfc_skb_cb {
	u16	handle;
	bool	spilled;
};

static inline struct pfc_skb_cb *pfc_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct pfc_skb_cb));
	return (struct pfc_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* ---- pfc_stats.c ---- */

extern const struct Qdisc_class_ops pfc_class_ops;

int pfc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

/* ---- pfc_setup.c ---- */

void pfc_follow_link(struct pfc_sched *q);
int pfc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
void pfc_destroy(struct Qdisc *sch);
int pfc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int pfc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- pfc_queue.c ---- */

unsigned int pfc_uncount_all(struct pfc_sched *q);
void pfc_merge_paused(struct pfc_sched *q, u64 now);
struct sk_buff *pfc_take(struct Qdisc *sch, struct pfc_sched *q, u64 now);
struct hop_admitted pfc_enforce_limit(struct Qdisc *sch, u64 now, struct sk_buff **to_free);
void pfc_reset(struct Qdisc *sch);

#endif
