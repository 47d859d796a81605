// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what the options of flowsail say, their rules, and how a change comes into force
 *
 * What each takes, its default and the policy are rows of flowsail_option_rows.h, which is made of
 * Documentation/netlink/specs/flowsail.yaml. Here is what a row cannot say.
 *
 * A new configuration is parsed into a copy, validated, and swapped in whole under the qdisc lock:
 * what is refused changes nothing.
 */
#include "../sched/options.h"
#include "../sched/port_options.h"
#include "queue.h"
#include "flowsail_option_rows.h"

const struct flowsail_config flowsail_defaults = FLOWSAIL_DEFAULTS;

/* Rules that tie options to each other or that a range cannot say */
static int flowsail_validate(struct nlattr **tb, const struct flowsail_config *c,
			     struct netlink_ext_ack *extack)
{
	int err = flowsail_check_values(tb, c, extack);

	if (err)
		return err;
	if (c->queues % c->prio.classes)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_CLASSES] ?:
					 tb[TCA_FLOWSAIL_QUEUES],
					 "queues must be a multiple of classes", -EINVAL);
	if (flowsail_queues(c) > HOP_BITSET_BITS)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_SLOTS] ?:
					 tb[TCA_FLOWSAIL_QUEUES] ?: tb[TCA_FLOWSAIL_ISOLATION],
					 "queues, isolation of each class and slots together must be at most 4096",
					 -EINVAL);
	if (c->isolation_by == FLOWSAIL_BY_ROOT && !c->port.roots)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_ROOTS] ?:
					 tb[TCA_FLOWSAIL_ISOLATION_BY],
					 "isolation-by root needs roots", -EINVAL);
	if (c->ql && c->qh && c->qh < c->ql)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_QH] ?: tb[TCA_FLOWSAIL_QL],
					 "qh must not be below ql", -EINVAL);
	if (c->qh_scale < c->ql_scale)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_QH_SCALE] ?:
					 tb[TCA_FLOWSAIL_QL_SCALE],
					 "qh-scale must not be below ql-scale", -EINVAL);
	if (c->pfc && !c->pool)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_PFC] ?: tb[TCA_FLOWSAIL_POOL],
					 "pfc needs a pool: it goes by what is free of it", -EINVAL);
	if (c->kmin > c->kmax)
		return hop_option_refuse(extack, tb[TCA_FLOWSAIL_KMIN] ?: tb[TCA_FLOWSAIL_KMAX],
					 "kmin must not be above kmax", -EINVAL);
	return hop_port_check(c->port.lease_ns, c->port.refresh_ns, tb[TCA_FLOWSAIL_LEASE],
			      tb[TCA_FLOWSAIL_REFRESH], extack);
}

/* Parse @opt over @c. */
int flowsail_parse(struct nlattr *opt, struct flowsail_config *c, bool creating,
		   struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_FLOWSAIL_MAX + 1] = {};
	int err = hop_options_split(opt, tb, TCA_FLOWSAIL_MAX, flowsail_policy, extack);

	if (!err)
		err = hop_options_parse(flowsail_options, ARRAY_SIZE(flowsail_options), tb, c,
					creating, extack);
	return err ?:
	       hop_prio_parse(tb[TCA_FLOWSAIL_PRIOMAP], &c->prio, creating, extack) ?:
	       flowsail_validate(tb, c, extack);
}

/* Short sub-queues take part here, or what is left could be more than the limit. */
static struct hop_admitted flowsail_lower_limit(struct Qdisc *sch, struct sk_buff **to_free)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_subq *sub;

	if (sch->qstats.backlog <= q->config.limit)
		return (struct hop_admitted) {};
	for (sub = q->subqs.queues; sub < q->subqs.queues + q->subqs.count; sub++)
		if (sub->head)
			hop_subq_rebucket(&q->subqs, sub);
	return flowsail_enforce_limit(sch, NULL, ktime_get_ns(), to_free);
}

int flowsail_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_pool *pool, *before = q->buffer.pool;
	struct flowsail_config c = q->config;
	struct hop_admitted change;
	struct sk_buff *dropped = NULL;
	int err;

	err = flowsail_parse(opt, &c, false, extack);
	if (!err && c.port.roots)
		err = hop_roots_use(&q->member);
	if (!err)
		err = hop_buffer_find(&q->buffer, sch, c.pool, opt, TCA_FLOWSAIL_POOL, &pool,
				      extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	q->config = c;
	if (pool != before)
		hop_buffer_switch(&q->buffer, pool, hop_subqs_backlog(&q->subqs));
	flowsail_recompute(q);
	flowsail_fronts_begin(q);
	change = flowsail_lower_limit(sch, &dropped);
	qdisc_tree_reduce_backlog(sch, -change.packets, -change.bytes);
	sch_tree_unlock(sch);
	__netif_schedule(qdisc_root(sch));	/* others may be at the heads of sub-queues now */
	kfree_skb_list(dropped);
	if (before != pool)
		hop_pool_put(before);

	hop_member_config(&q->member, &c.port);
	return 0;
}

int flowsail_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	const struct flowsail_config *c = &q->config;
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	bool full = !nest ||
		    hop_options_dump(flowsail_options, ARRAY_SIZE(flowsail_options), c, skb,
				     TCA_FLOWSAIL_PAD) ||
		    nla_put(skb, TCA_FLOWSAIL_PRIOMAP, sizeof(c->prio.map), c->prio.map) ||
		    nla_put_u32(skb, TCA_FLOWSAIL_VERSION, FLOWSAIL_VERSION);

	return hop_nest_end(skb, nest, full);
}
