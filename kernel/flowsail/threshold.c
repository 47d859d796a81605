// SPDX-License-Identifier: GPL-2.0-only
/*
 * threshold.c - Q_l and Q_h (section IV-B), and what else depends on the link's rate and HRTT
 *
 * Q_l = HRTT x rate / N_active, Q_h three times that: each its share of what was computed when the
 * link or the options changed, by a table of reciprocals. By themselves neither is below one
 * frame, or one packet that is not cut into frames, so that a lone one never holds its sender, nor
 * above a quarter of what may be queued, unless `hrtt` says so.
 */
#include "../hopctl/speed.h"
#include "../sched/threshold.h"
#include "flowsail.h"

/* Written at the start of the module */
static u64 flowsail_reciprocals[HOP_RECIPROCALS + 1] __read_mostly;

/* @scale in 1 / FLOWSAIL_ALPHA_ONE. Return: below 2^31. */
static u32 threshold_scale(u32 bytes, u32 scale)
{
	return min_t(u64, div_u64((u64)bytes * scale, FLOWSAIL_ALPHA_ONE), S32_MAX);
}

static u32 threshold_bdp(const struct flowsail_sched *q, u32 scale)
{
	const struct flowsail_config *c = &q->config;
	u32 own = hop_bdp_bytes(q->rate, c->port.hrtt_ns, 100);

	return hop_bdp_bound(threshold_scale(hop_bdp_bytes(q->rate, q->hrtt_seen, 100), scale),
			     flowsail_room(c), threshold_scale(own, scale));
}

/* What is computed of the options, and of the link */
void flowsail_recompute(struct flowsail_sched *q)
{
	const struct flowsail_config *c = &q->config;

	q->n_seen = FLOWSAIL_N_UNKNOWN;
	q->hrtt_seen = READ_ONCE(*q->member.hrtt_ns);
	q->speed_seen = READ_ONCE(*q->member.speed);
	q->frame_seen = psched_mtu(qdisc_dev(q->member.sch));
	q->rate = c->rate ? c->rate :
		  q->speed_seen ? hop_speed_bytes(q->speed_seen) : HOP_RATE_UNKNOWN;
	q->ql_bdp = threshold_bdp(q, c->ql_scale);
	q->qh_bdp = threshold_bdp(q, c->qh_scale);
	q->least = c->split_gso ? q->frame_seen : GSO_LEGACY_MAX_SIZE;
	q->resume_part = div_u64((u64)c->resume << FLOWSAIL_RESUME_SHIFT, FLOWSAIL_ALPHA_ONE);
	q->release_ns = (u64)FLOWSAIL_RELEASE_HRTTS * q->hrtt_seen;
	hop_ecn_set(&q->ramp, c->kmin, c->kmax, c->pmax);
	hop_telemeter_set(&q->telemeter, c->rate || q->speed_seen ? q->rate : 0);
	hop_police_set(&q->intake.police, q->rate, c->control_share, q->frame_seen);
}

/* N_active, or what thresholds are computed of, has changed. */
void flowsail_rethink(struct flowsail_sched *q, u32 n_active)
{
	u64 reciprocal = flowsail_reciprocals[clamp_t(u32, n_active, 1, HOP_RECIPROCALS)];
	const struct flowsail_config *c = &q->config;

	q->n_seen = n_active;
	q->ql = c->ql ?: max(hop_threshold(q->ql_bdp, reciprocal), q->least);
	q->resume = (u64)q->ql * q->resume_part >> FLOWSAIL_RESUME_SHIFT;
	q->qh = max(c->qh ?: hop_threshold(q->qh_bdp, reciprocal), q->ql);
}

int __init flowsail_threshold_module_init(void)
{
	hop_reciprocals_fill(flowsail_reciprocals);
	return 0;
}
