// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - options and how a change comes into force; how a qdisc comes and goes
 *
 * What each option takes, its default and the policy are rows of floodgate_option_rows.h, which is
 * made of Documentation/netlink/specs/floodgate.yaml. Here is what a row cannot say.
 *
 * A new configuration is parsed into a copy, validated, and swapped in whole under the qdisc lock:
 * what is refused changes nothing.
 */
#include <linux/random.h>

#include "../hopctl/speed.h"
#include "../sched/port_options.h"
#include "floodgate.h"
#include "floodgate_option_rows.h"

/* ---- options ---- */

/* Rules that tie options to each other or that a range cannot say */
static int floodgate_validate(struct nlattr **tb, const struct floodgate_config *c,
			      struct netlink_ext_ack *extack)
{
	int err = floodgate_check_values(tb, c, extack);

	if (err)
		return err;
	if (c->kmin > c->kmax)
		return hop_option_refuse(extack, tb[TCA_FLOODGATE_KMIN] ?: tb[TCA_FLOODGATE_KMAX],
					 "kmin must not be above kmax", -EINVAL);
	if (c->pfc && !c->pool)
		return hop_option_refuse(extack, tb[TCA_FLOODGATE_PFC] ?: tb[TCA_FLOODGATE_POOL],
					 "pfc needs a pool: it goes by what is free of it", -EINVAL);
	if (c->pause_threshold && c->resume_threshold > c->pause_threshold)
		return hop_option_refuse(extack, tb[TCA_FLOODGATE_RESUME_THRESHOLD] ?:
					 tb[TCA_FLOODGATE_PAUSE_THRESHOLD],
					 "resume-threshold must not be above pause-threshold",
					 -EINVAL);
	return hop_port_check(c->port.lease_ns, c->port.refresh_ns, tb[TCA_FLOODGATE_LEASE],
			      tb[TCA_FLOODGATE_REFRESH], extack);
}

/* Parse @opt over @c. */
static int floodgate_parse(struct nlattr *opt, struct floodgate_config *c, bool creating,
			   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_FLOODGATE_MAX + 1] = {};
	int err = hop_options_split(opt, tb, TCA_FLOODGATE_MAX, floodgate_policy, extack);

	if (!err)
		err = hop_options_parse(floodgate_options, ARRAY_SIZE(floodgate_options), tb, c,
					creating, extack);
	return err ?: floodgate_validate(tb, c, extack);
}

/* T: what the option says, and not less than so many frames take */
static u32 floodgate_interval(const struct floodgate_sched *q)
{
	u64 frames = (u64)HOP_BALANCES_FRAMES * q->frame_seen * NSEC_PER_SEC;

	return max_t(u64, q->config.port.balances_ns,
		     min_t(u64, div64_u64(frames, q->rate), NSEC_PER_SEC));
}

static u32 floodgate_bound(u64 bytes)
{
	return clamp_t(u64, bytes, 1, FLOODGATE_LIMIT_MAX);
}

/* One BDP of the hop that whoever is paused sends by, and two frames between both thresholds. One
 * that is given moves the other one along.
 */
static void floodgate_recompute_pauses(struct floodgate_sched *q)
{
	const struct floodgate_config *c = &q->config;
	u32 frames = 2 * q->frame_seen;

	q->pauses = c->pause_hosts || c->mode == FLOODGATE_MODE_PAUSE;
	q->hrtt_max_seen = READ_ONCE(*q->member.hrtt_ns);
	q->resume_bytes = c->resume_threshold ?:
		c->pause_threshold ? c->pause_threshold - min(c->pause_threshold, frames) :
		floodgate_bound(floodgate_window_bytes(q->hrtt_max_seen, FLOODGATE_FACTOR_ONE, 0,
						       0, q->rate, 0));
	q->pause_bytes = c->pause_threshold ?: floodgate_bound((u64)q->resume_bytes + frames);
}

/* What is computed of the options, and of the link */
static void floodgate_recompute(struct floodgate_sched *q)
{
	const struct floodgate_config *c = &q->config;
	u32 hrtt;

	hop_ecn_set(&q->ramp, c->kmin, c->kmax, c->pmax);
	q->speed_seen = READ_ONCE(*q->member.speed);
	q->frame_seen = psched_mtu(qdisc_dev(q->member.sch));
	q->hrtt_seen = READ_ONCE(*q->member.link_hrtt_ns);
	hrtt = q->hrtt_seen ?: HOP_HRTT_UNKNOWN_NS;
	q->rate = c->rate ? c->rate :
		  q->speed_seen ? hop_speed_bytes(q->speed_seen) : HOP_RATE_UNKNOWN;
	hop_telemeter_set(&q->telemeter, c->rate || q->speed_seen ? q->rate : 0);
	q->interval_ns = floodgate_interval(q);
	q->window = c->window ?:
		floodgate_bound(floodgate_window_bytes(hrtt, c->window_factor,
						       q->interval_ns, c->port.balances_bytes,
						       q->rate, q->frame_seen));
	q->window_most = c->window ?:
		floodgate_bound(floodgate_window_bytes(hrtt, c->window_factor, q->interval_ns, 0,
						       q->rate, q->frame_seen));
	q->threshold = c->mode == FLOODGATE_MODE_PAUSE ? U32_MAX : c->credit_threshold ?:
		floodgate_bound(FLOODGATE_THRESHOLD_BDPS *
				floodgate_window_bytes(hrtt, FLOODGATE_FACTOR_ONE, 0, 0,
						       q->rate, 0));
	floodgate_recompute_pauses(q);
	hop_police_set(&q->intake.police, q->rate, c->control_share, q->frame_seen);
}

/* The link's speed, its MTU or its HRTT may be another one: windows follow, and what control
 * packets may take.
 */
void floodgate_follow_link(struct floodgate_sched *q)
{
	if (unlikely(READ_ONCE(*q->member.speed) != q->speed_seen ||
		     READ_ONCE(*q->member.link_hrtt_ns) != q->hrtt_seen ||
		     READ_ONCE(*q->member.hrtt_ns) != q->hrtt_max_seen ||
		     psched_mtu(qdisc_dev(q->member.sch)) != q->frame_seen))
		floodgate_recompute(q);
}

int floodgate_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct floodgate_config c = q->config;
	struct hop_pool *pool, *old = q->buffer.pool;
	int err;

	err = floodgate_parse(opt, &c, false, extack);
	if (!err)
		err = hop_buffer_find(&q->buffer, sch, c.pool, opt, TCA_FLOODGATE_POOL, &pool,
				      extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	q->config = c;
	hop_buffer_switch(&q->buffer, pool, q->backlog);
	floodgate_recompute(q);
	floodgate_look_again(q);
	floodgate_credits_look(q);
	floodgate_pauses_look(q);
	sch_tree_unlock(sch);
	if (pool != old)
		hop_pool_put(old);

	hop_member_config(&q->member, &c.port);
	return 0;
}

int floodgate_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct floodgate_sched *q = qdisc_priv(sch);

	return hop_options_show(floodgate_options, ARRAY_SIZE(floodgate_options), &q->config, skb,
				TCA_FLOODGATE_PAD, TCA_FLOODGATE_VERSION, FLOODGATE_VERSION);
}

/* ---- life ---- */

static const struct hop_blocks_ops floodgate_blocks_ops = {
	.kind		= HOP_KIND_FLOODGATE,
	.switches	= true,
	.received	= floodgate_received,
	.balance	= floodgate_balance,
	.told		= floodgate_told,
	.asks		= floodgate_asks,
};

static void floodgate_setup(struct floodgate_sched *q)
{
	__skb_queue_head_init(&q->intake.control);
	INIT_LIST_HEAD(&q->round);
	INIT_LIST_HEAD(&q->turns);
	INIT_LIST_HEAD(&q->owing);
	INIT_LIST_HEAD(&q->idle);
	INIT_LIST_HEAD(&q->free);
	INIT_LIST_HEAD(&q->free_voqs);
	q->changed_ns = ktime_get_ns();
	q->random = get_random_u32();
}

static int floodgate_join(struct Qdisc *sch, struct floodgate_sched *q,
			  struct netlink_ext_ack *extack)
{
	struct hop_shared *shared = hop_shared_get(qdisc_dev(sch), &floodgate_switch_type, 0);
	int err;

	if (IS_ERR(shared))
		return PTR_ERR(shared);
	q->box = container_of(shared, struct floodgate_switch, shared);
	err = floodgate_slots_make(q, q->config.slots) ?:
	      hop_member_join(&q->member, sch, q->config.slots, &q->config.port,
			      &floodgate_member_ops, extack) ?:
	      hop_ingress_use(&q->member) ?:
	      (q->config.pfc ? hop_origins_use(&q->member) : 0);
	if (err || q->config.mode == FLOODGATE_MODE_PAUSE)
		return err;
	err = hop_blocks_join(&q->member, &floodgate_blocks_ops);
	if (err == -EBUSY)
		NL_SET_ERR_MSG(extack, "a qdisc of another kind on the device counts by blocks");
	else if (err)
		NL_SET_ERR_MSG(extack, "the device has more than 256 transmit queues");
	return err;
}

int floodgate_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct hop_pool *pool;
	int err;

	floodgate_setup(q);	/* enough for destroy() to run after any failure below */
	q->config = (struct floodgate_config)FLOODGATE_DEFAULTS;
	q->config.slots = hop_member_share(sch, q->config.slots);
	err = floodgate_parse(opt, &q->config, true, extack) ?:
	      hop_buffer_find(&q->buffer, sch, q->config.pool, opt, TCA_FLOODGATE_POOL, &pool,
			      extack);
	if (err)
		return err;
	hop_buffer_switch(&q->buffer, pool, 0);
	floodgate_key_rule_set(&q->rule, q->config.prefix, q->config.prefix6,
			       q->config.key == FLOODGATE_KEY_WITH_VLAN);
	/* whoever pauses as bfc does is obeyed, and obeys */
	q->config.port.kinds = q->config.mode == FLOODGATE_MODE_PAUSE ?
			       HOP_KIND_BFC : HOP_KIND_BFC | HOP_KIND_FLOODGATE;
	if (q->config.pfc)
		q->config.port.kinds |= HOP_KIND_PFC;
	err = floodgate_join(sch, q, extack);
	if (err)
		return err;
	floodgate_recompute(q);
	hop_port_holds_back(sch);
	return 0;
}

void floodgate_destroy(struct Qdisc *sch)
{
	struct floodgate_sched *q = qdisc_priv(sch);

	local_bh_disable();	/* as under the qdisc lock: others' packets come and go */
	floodgate_reset(sch);
	if (q->box)
		floodgate_slots_leave(q);
	local_bh_enable();
	hop_pool_put(q->buffer.pool);
	if (!q->box)
		return;
	hop_blocks_leave(&q->member);
	hop_member_leave(&q->member);
	floodgate_slots_free(q);
	hop_shared_put(&q->box->shared);
}
