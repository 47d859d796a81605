// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfc_setup.c - options and how a change comes into force; how a qdisc comes and goes; what the
 * port's watchdogs ask it
 *
 * What each option takes, its default and the policy are rows of pfc_option_rows.h, which is made
 * of Documentation/netlink/specs/pfc.yaml. Here is what a row cannot say.
 *
 * A new configuration is parsed into a copy, validated, and swapped in whole under the qdisc lock:
 * what is refused changes nothing.
 */
#include <linux/random.h>

#include "../hopctl/speed.h"
#include "../sched/port_options.h"
#include "pfc.h"
#include "pfc_option_rows.h"

/* ---- options ---- */

/* Rules that tie options to each other or that a range cannot say */
static int pfc_validate(struct nlattr **tb, const struct pfc_config *c,
			struct netlink_ext_ack *extack)
{
	int err = pfc_check_values(tb, c, extack);

	if (err)
		return err;
	if (!c->pool)
		return hop_option_refuse(extack, NULL,
					 "pool must be given: pauses go by what is free of it",
					 -EINVAL);
	if (c->kmin > c->kmax)
		return hop_option_refuse(extack, tb[TCA_PFC_KMIN] ?: tb[TCA_PFC_KMAX],
					 "kmin must not be above kmax", -EINVAL);
	return hop_port_check(c->port.lease_ns, c->port.refresh_ns, tb[TCA_PFC_LEASE],
			      tb[TCA_PFC_REFRESH], extack);
}

/* Parse @opt over @c. */
static int pfc_parse(struct nlattr *opt, struct pfc_config *c, bool creating,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_PFC_MAX + 1] = {};
	int err = hop_options_split(opt, tb, TCA_PFC_MAX, pfc_policy, extack);

	if (!err)
		err = hop_options_parse(pfc_options, ARRAY_SIZE(pfc_options), tb, c, creating,
					extack);
	return err ?: pfc_validate(tb, c, extack);
}

/* What is computed of the options, and of the link */
static void pfc_recompute(struct pfc_sched *q)
{
	const struct pfc_config *c = &q->config;

	hop_ecn_set(&q->ramp, c->kmin, c->kmax, c->pmax);
	q->speed_seen = READ_ONCE(*q->member.speed);
	q->frame_seen = psched_mtu(qdisc_dev(q->member.sch));
	q->rate = c->rate ? c->rate :
		  q->speed_seen ? hop_speed_bytes(q->speed_seen) : HOP_RATE_UNKNOWN;
	hop_telemeter_set(&q->telemeter, c->rate || q->speed_seen ? q->rate : 0);
	hop_police_set(&q->intake.police, q->rate, c->control_share, q->frame_seen);
}

/* The link's speed or its MTU may be another one: what control packets may take follows. */
void pfc_follow_link(struct pfc_sched *q)
{
	if (unlikely(READ_ONCE(*q->member.speed) != q->speed_seen ||
		     psched_mtu(qdisc_dev(q->member.sch)) != q->frame_seen))
		pfc_recompute(q);
}

int pfc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct pfc_config c = q->config;
	struct hop_admitted change;
	struct sk_buff *dropped = NULL;
	struct hop_pool *pool;
	int err;

	err = pfc_parse(opt, &c, false, extack);
	if (!err)
		err = hop_buffer_find(&q->buffer, sch, c.pool, opt, TCA_PFC_POOL, &pool, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	q->config = c;
	pfc_recompute(q);
	change = pfc_enforce_limit(sch, ktime_get_ns(), &dropped);
	qdisc_tree_reduce_backlog(sch, -change.packets, -change.bytes);
	sch_tree_unlock(sch);
	kfree_skb_list(dropped);

	hop_member_config(&q->member, &c.port);
	return 0;
}

int pfc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct pfc_sched *q = qdisc_priv(sch);

	return hop_options_show(pfc_options, ARRAY_SIZE(pfc_options), &q->config, skb, TCA_PFC_PAD,
				TCA_PFC_VERSION, PFC_VERSION);
}

/* ---- watchdogs ---- */

static void pfc_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct pfc_sched *q = container_of(m, struct pfc_sched, member);

	hop_subq_watch(&q->fifo, &q->fifo_stats, w);
}

/* A qdisc whose packets wait for nobody but the device, and wait for too long */
static unsigned int pfc_withdraw(struct hop_member *m)
{
	struct pfc_sched *q = container_of(m, struct pfc_sched, member);
	unsigned int withdrawn = 0;

	sch_tree_lock(m->sch);
	pfc_merge_paused(q, ktime_get_ns());
	if (hop_member_stalls(m, q->fifo.held)) {
		withdrawn = pfc_uncount_all(q);
		q->stats.withdrawn += withdrawn;
	}
	sch_tree_unlock(m->sch);
	return withdrawn;
}

static const struct hop_member_ops pfc_member_ops = {
	.watch		= pfc_watch,
	.withdraw	= pfc_withdraw,
};

/* ---- life ---- */

static void pfc_setup(struct pfc_sched *q)
{
	__skb_queue_head_init(&q->intake.control);
	hop_subqs_setup(&q->subqs, &q->fifo, &q->fifo_stats, &q->class, 1);
	q->changed_ns = ktime_get_ns();
	q->random = get_random_u32();
}

int pfc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct hop_pool *pool;
	int err;

	pfc_setup(q);	/* enough for destroy() to run after any failure below */
	q->config = (struct pfc_config)PFC_DEFAULTS;
	q->config.port.kinds = HOP_KIND_PFC;
	err = pfc_parse(opt, &q->config, true, extack) ?:
	      hop_buffer_find(&q->buffer, sch, q->config.pool, opt, TCA_PFC_POOL, &pool, extack);
	if (err)
		return err;
	hop_buffer_switch(&q->buffer, pool, 0);
	err = hop_member_join(&q->member, sch, 1, &q->config.port, &pfc_member_ops, extack);
	if (!err)
		err = hop_ingress_use(&q->member);
	if (err)
		return err;
	pfc_recompute(q);
	hop_port_holds_back(sch);
	return 0;
}

void pfc_destroy(struct Qdisc *sch)
{
	struct pfc_sched *q = qdisc_priv(sch);

	pfc_reset(sch);
	hop_pool_put(q->buffer.pool);
	hop_member_leave(&q->member);
}
