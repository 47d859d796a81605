// SPDX-License-Identifier: GPL-2.0-only
/*
 * threshold.c - Th (section 3.3.2), and what else depends on the link's rate and HRTT
 *
 * Th = HRTT x rate / N_active, at least one frame of the MTU, so that a lone packet never pauses
 * its sender. HRTT x rate is computed anew when one of them changes, Th when N_active does; the
 * division is by a table of reciprocals.
 */
#include "../hopctl/speed.h"
#include "../sched/threshold.h"
#include "bfc.h"

/* Written at the start of the module */
static u64 bfc_reciprocals[HOP_RECIPROCALS + 1] __read_mostly;

/* Bytes of a frame of full size */
static u32 bfc_frame(const struct bfc_sched *q)
{
	return q->member.sch ? psched_mtu(qdisc_dev(q->member.sch)) : ETH_FRAME_LEN;
}

/* The link's speed or the measured HRTT has changed, or the options have. */
void bfc_recompute(struct bfc_sched *q, u32 hrtt_ns, u32 speed)
{
	const struct bfc_config *c = &q->config;

	q->n_seen = BFC_N_UNKNOWN;
	q->frame_seen = bfc_frame(q);
	q->hrtt_seen = hrtt_ns;
	q->speed_seen = speed;
	q->rate = c->rate ? c->rate : speed ? hop_speed_bytes(speed) : HOP_RATE_UNKNOWN;
	q->bdp = hop_bdp_scale(hop_bdp_bound(hop_bdp_bytes(q->rate, hrtt_ns, 100), bfc_room(c),
					     hop_bdp_bytes(q->rate, c->hrtt_ns, 100)),
			       c->th_scale);
	q->sticky_ns = c->sticky_ns ? c->sticky_ns : BFC_STICKY_HRTTS * hrtt_ns;
	q->sticky_time = hop_flow_time_up(q->sticky_ns);
	hop_police_set(&q->police, q->rate, c->control_share, q->frame_seen);
}

/* Of what was computed the MTU says only what control packets may owe: data need not look at it. */
void bfc_follow_mtu(struct bfc_sched *q)
{
	if (unlikely(bfc_frame(q) != q->frame_seen))
		bfc_recompute(q, q->hrtt_seen, q->speed_seen);
}

u32 bfc_threshold(const struct Qdisc *sch, const struct bfc_sched *q, u32 n_active)
{
	u32 th;

	if (q->config.th)
		return q->config.th;
	th = hop_threshold(q->bdp, bfc_reciprocals[clamp_t(u32, n_active, 1, HOP_RECIPROCALS)]);
	return max(th, psched_mtu(qdisc_dev(sch)));
}

/* The same for who asks whether it is exceeded, which is each packet: it holds as long as N_active
 * and the link do. Of a MTU that was changed since, a larger one is seen by who exceeds it, who
 * looks again, and a smaller one with the next change of N_active. To pause nobody none exceeds it.
 */
void bfc_rethink(const struct Qdisc *sch, struct bfc_sched *q, u32 n_active)
{
	q->n_seen = n_active;
	q->th = bfc_threshold(sch, q, n_active);
	q->stats.th_max = max(q->stats.th_max, q->th);
	if (!q->config.pause)
		q->th = U32_MAX;
}

int __init bfc_threshold_module_init(void)
{
	hop_reciprocals_fill(bfc_reciprocals);
	return 0;
}
