// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what the options of bfc say, their rules, and how a change comes into force
 *
 * What each takes, its default and the policy are rows of bfc_option_rows.h, which is made of
 * Documentation/netlink/specs/bfc.yaml. Here is what a row cannot say.
 *
 * A new configuration is parsed into a copy, validated, and swapped in whole under the qdisc lock:
 * what is refused changes nothing.
 */
#include "../sched/options.h"
#include "../sched/port_options.h"
#include "../sched/threshold.h"
#include "bfc.h"
#include "bfc_option_rows.h"

const struct bfc_config bfc_defaults = BFC_DEFAULTS;

/* Rules that tie options to each other or that a range cannot say. */
static int bfc_validate(struct nlattr **tb, const struct bfc_config *c,
			struct netlink_ext_ack *extack)
{
	int err;

	if (c->queues % c->prio.classes)
		return hop_option_refuse(extack, tb[TCA_BFC_CLASSES] ?: tb[TCA_BFC_QUEUES],
					 "queues must be a multiple of classes", -EINVAL);
	err = bfc_check_values(tb, c, extack);
	if (err)
		return err;
	if (c->flows % (c->prio.classes * c->ways))
		return hop_option_refuse(extack, tb[TCA_BFC_FLOWS],
					 "flows must be a multiple of classes x ways", -EINVAL);
	err = hop_port_check(c->lease_ns, c->refresh_ns, tb[TCA_BFC_LEASE], tb[TCA_BFC_REFRESH],
			     extack);
	if (err)
		return err;
	if (c->pause == BFC_PAUSE_INGRESS)
		return hop_option_refuse(extack, tb[TCA_BFC_PAUSE],
					 "pause ingress is a qdisc of its own now: pfc", -EINVAL);
	return 0;
}

/* Parse @opt over @c. */
int bfc_parse(struct nlattr *opt, struct bfc_config *c, bool creating,
	      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_BFC_MAX + 1] = {};
	int err = hop_options_split(opt, tb, TCA_BFC_MAX, bfc_policy, extack);

	if (!err)
		err = hop_options_parse(bfc_options, ARRAY_SIZE(bfc_options), tb, c, creating,
					extack);
	if (!err)
		err = hop_prio_parse(tb[TCA_BFC_PRIOMAP], &c->prio, creating, extack);
	if (!err)
		err = bfc_validate(tb, c, extack);
	return err;
}

/* What was asked for is done, but may not be what was meant. */
void bfc_warn(const struct bfc_sched *q, struct netlink_ext_ack *extack)
{
	const struct bfc_config *c = &q->config;
	u32 most = bfc_room(c) / HOP_BDP_PART;

	if (c->th > most)
		NL_SET_ERR_MSG(extack, "th is above a quarter of limit or pool: packets may be dropped before a pause has an effect");
	else if (!c->th && hop_bdp_bytes(q->rate, c->hrtt_ns, 100) > most)
		NL_SET_ERR_MSG(extack, "hrtt x rate is above a quarter of limit or pool: packets may be dropped before a pause has an effect");
}

struct hop_config bfc_port_config(const struct bfc_config *c)
{
	return (struct hop_config) {
		.role		= c->role,
		.peer		= c->peer,
		.tag		= c->tag,
		.tpid		= c->tpid,
		.kinds		= HOP_KIND_BFC,
		.hrtt_ns	= c->hrtt_ns,
		.hrtt_max_ns	= c->hrtt_max_ns,
		.refresh_ns	= c->refresh_ns,
		.lease_ns	= c->lease_ns,
		.watch		= c->watch,
		.tier		= c->tier,
		.strip		= c->strip,
		.watchdog_ns	= c->watchdog_ns,
		.restore_ns	= c->restore_ns,
		.roots		= c->roots,
		.root_id	= c->root_id,
	};
}

/* Short sub-queues take part here, or what is left could be more than the limit. */
static struct hop_admitted bfc_lower_limit(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_subq *sub;

	if (sch->qstats.backlog <= q->config.limit)
		return (struct hop_admitted) {};
	for (sub = q->subqs.queues; sub < q->subqs.queues + q->config.queues; sub++)
		if (sub->head)
			hop_subq_rebucket(&q->subqs, sub);
	return bfc_enforce_limit(sch, NULL, ktime_get_ns(), to_free);
}

/* Only `share spare` keeps count of who holds what. */
static void bfc_holders_forget(struct bfc_sched *q)
{
	u32 i;

	for (i = 0; i < q->config.queues; i++)
		hop_holders_release(&hop_subq_class(&q->subqs, &q->subqs.queues[i])->holders, i);
}

int bfc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_pool *pool, *before = q->buffer.pool;
	struct bfc_config c = q->config;
	struct hop_admitted change;
	struct sk_buff *dropped = NULL;
	struct hop_config port;
	int err;

	err = bfc_parse(opt, &c, false, extack);
	if (!err && c.roots)
		err = hop_roots_use(&q->member);
	if (!err)
		err = hop_buffer_find(&q->buffer, sch, c.pool, opt, TCA_BFC_POOL, &pool, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	if (q->config.share == BFC_SHARE_SPARE && c.share != BFC_SHARE_SPARE)
		bfc_holders_forget(q);
	q->config = c;
	if (pool != before)
		hop_buffer_switch(&q->buffer, pool, hop_subqs_backlog(&q->subqs));
	bfc_recompute(q, READ_ONCE(*q->member.hrtt_ns), READ_ONCE(*q->member.speed));
	change = bfc_lower_limit(sch, &dropped);
	qdisc_tree_reduce_backlog(sch, -change.packets, -change.bytes);
	sch_tree_unlock(sch);
	kfree_skb_list(dropped);
	if (before != pool)
		hop_pool_put(before);

	port = bfc_port_config(&c);
	hop_member_config(&q->member, &port);
	bfc_warn(q, extack);
	return 0;
}

int bfc_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct bfc_sched *q = qdisc_priv(sch);
	const struct bfc_config *c = &q->config;
	struct nlattr *nest;
	bool full;

	nest = nla_nest_start(skb, TCA_OPTIONS);
	full = !nest ||
	       hop_options_dump(bfc_options, ARRAY_SIZE(bfc_options), c, skb, TCA_BFC_PAD) ||
	       nla_put(skb, TCA_BFC_PRIOMAP, sizeof(c->prio.map), c->prio.map) ||
	       nla_put_u32(skb, TCA_BFC_VERSION, BFC_VERSION);
	return hop_nest_end(skb, nest, full);
}
