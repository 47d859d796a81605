// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - what the options of bfc say, their rules, and how a change comes into force
 *
 * A new configuration is parsed into a copy, validated, and swapped in whole under the qdisc lock:
 * what is refused changes nothing.
 */
#include "../sched/options.h"
#include "../sched/threshold.h"
#include "bfc.h"

#define BFC_OPTION(_attr, _field, _min, _max, _rule, ...) {			\
	.attr = _attr,								\
	.offset = offsetof(struct bfc_config, _field),				\
	.size = sizeof_field(struct bfc_config, _field),			\
	.min = _min, .max = _max, .rule = _rule, __VA_ARGS__			\
}

static const struct hop_option bfc_options[] = {
	BFC_OPTION(TCA_BFC_QUEUES, queues, 1, BFC_QUEUES_MAX,
		   "queues must be 1 to 4094", .fixed = true),
	BFC_OPTION(TCA_BFC_CLASSES, classes, 1, BFC_CLASSES_MAX,
		   "classes must be 1 to 8", .fixed = true),
	BFC_OPTION(TCA_BFC_FLOWS, flows, 1, BFC_FLOWS_MAX,
		   "flows must be auto or 1 to 4194304", .zero = true, .fixed = true),
	BFC_OPTION(TCA_BFC_WAYS, ways, 1, HOP_FLOW_WAYS,
		   "ways must be 1 or 4", .fixed = true),
	BFC_OPTION(TCA_BFC_ASSIGN, assign, 0, __BFC_ASSIGN_MAX - 1,
		   "assign must be dynamic, stochastic or single", .fixed = true),
	BFC_OPTION(TCA_BFC_REUSE, reuse, 0, __BFC_REUSE_MAX - 1,
		   "reuse must be sticky or empty"),
	BFC_OPTION(TCA_BFC_LIMIT, limit, 1, BFC_LIMIT_MAX,
		   "limit must be 1 byte to 1 GiB"),
	BFC_OPTION(TCA_BFC_QUANTUM, quantum, 256, BFC_LIMIT_MAX,
		   "quantum must be auto or 256 bytes to 1 GiB", .zero = true),
	BFC_OPTION(TCA_BFC_SPLIT_GSO, split_gso, 0, 1,
		   "split-gso must be on or off"),
	BFC_OPTION(TCA_BFC_PAUSE, pause, 0, __BFC_PAUSE_MAX - 1,
		   "pause must be off, queue or ingress"),
	BFC_OPTION(TCA_BFC_RATE, rate, 125, 1ULL << 40,
		   "rate must be auto or 1 kbit/s to 8 Tbit/s", .zero = true),
	BFC_OPTION(TCA_BFC_HRTT, hrtt_ns, HOP_HRTT_MIN_NS, HOP_HRTT_MAX_NS,
		   "hrtt must be auto or 100 ns to 100 ms", .zero = true),
	BFC_OPTION(TCA_BFC_HRTT_MAX, hrtt_max_ns, HOP_HRTT_MIN_NS, HOP_HRTT_MAX_NS,
		   "hrtt-max must be 100 ns to 100 ms"),
	BFC_OPTION(TCA_BFC_TH, th, 1, BFC_LIMIT_MAX,
		   "th must be auto or 1 byte to 1 GiB", .zero = true),
	BFC_OPTION(TCA_BFC_TH_SCALE, th_scale, 1, BFC_TH_SCALE_MAX,
		   "th-scale must be 1 to 10000 percent"),
	BFC_OPTION(TCA_BFC_STICKY, sticky_ns, 1, BFC_TIME_MAX_NS,
		   "sticky must be auto or 1 ns to 1 s", .zero = true),
	BFC_OPTION(TCA_BFC_ROLE, role, 0, __HOP_ROLE_MAX - 1,
		   "role must be auto, host or switch"),
	BFC_OPTION(TCA_BFC_PEER, peer, 0, __HOP_ROLE_MAX - 1,
		   "peer must be auto, host or switch"),
	BFC_OPTION(TCA_BFC_TAG, tag, 0, 1,
		   "tag must be on or off"),
	BFC_OPTION(TCA_BFC_TPID, tpid, 0, U16_MAX,
		   "tpid must be 0x88a8 or 0x8100"),
	BFC_OPTION(TCA_BFC_REFRESH, refresh_ns, HOP_REFRESH_MIN_NS, BFC_TIME_MAX_NS,
		   "refresh must be auto or 10 us to 1 s", .zero = true),
	BFC_OPTION(TCA_BFC_LEASE, lease_ns, HOP_REFRESH_MIN_NS, HOP_LEASE_MAX_NS,
		   "lease must be auto or 10 us to 2 s", .zero = true),
	BFC_OPTION(TCA_BFC_WATCH, watch, 0, 1,
		   "watch must be on or off"),
	BFC_OPTION(TCA_BFC_WATCHDOG, watchdog_ns, HOP_WATCHDOG_MIN_NS, BFC_TIME_MAX_NS,
		   "watchdog must be auto or 1 ms to 1 s", .zero = true),
	BFC_OPTION(TCA_BFC_RESTORE, restore_ns, HOP_WATCHDOG_MIN_NS, BFC_TIME_MAX_NS,
		   "restore must be auto or 1 ms to 1 s", .zero = true),
	BFC_OPTION(TCA_BFC_TIER, tier, 0, __HOP_TIER_MAX - 1,
		   "tier must be none, down or up"),
	BFC_OPTION(TCA_BFC_POOL, pool, 1, BFC_LIMIT_MAX,
		   "pool must be none or 1 byte to 1 GiB", .zero = true),
	BFC_OPTION(TCA_BFC_POOL_ALPHA, pool_alpha, 1, BFC_ALPHA_MAX,
		   "pool-alpha must be 0.01 to 1000 percent"),
	BFC_OPTION(TCA_BFC_POOL_PAUSE_ALPHA, pool_pause_alpha, 1, BFC_ALPHA_MAX,
		   "pool-pause-alpha must be 0.01 to 1000 percent"),
	BFC_OPTION(TCA_BFC_CONTROL_SHARE, control_share, 1, HOP_POLICE_ONE,
		   "control-share must be 0.01 to 100 percent"),
	BFC_OPTION(TCA_BFC_STRIP, strip, 0, __HOP_STRIP_MAX - 1,
		   "strip must be auto or always"),
	BFC_OPTION(TCA_BFC_SHARE, share, 0, __BFC_SHARE_MAX - 1,
		   "share must be random or spare"),
	BFC_OPTION(TCA_BFC_CONTROL_DSCP, control_dscp, 1, HOP_DSCP_MAX,
		   "control-dscp must be none or 1 to 63", .zero = true),
};

const struct bfc_config bfc_defaults = {
	.queues		= BFC_QUEUES_DEFAULT,
	.classes	= 1,
	.ways		= BFC_WAYS_DEFAULT,
	.share		= BFC_SHARE_SPARE,
	.limit		= BFC_LIMIT_DEFAULT,
	.th_scale	= BFC_TH_SCALE_DEFAULT,
	.hrtt_max_ns	= BFC_HRTT_MAX_DEFAULT,
	.split_gso	= 1,
	.pause		= BFC_PAUSE_QUEUE,
	.tag		= 1,
	.watch		= 1,
	.tpid		= ETH_P_8021AD,
	.pool_alpha	= BFC_ALPHA_ONE,
	.pool_pause_alpha = BFC_PAUSE_ALPHA_DEFAULT,
	.control_share	= BFC_CONTROL_SHARE_DEFAULT,
};

/* Bands of the kernel's own priority qdiscs, for classes > 1 without a priomap. */
static const u8 bfc_default_priomap[TC_PRIO_MAX + 1] = {
	1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
};

static const struct nla_policy bfc_policy[TCA_BFC_MAX + 1] = {
	[TCA_BFC_QUEUES]	= { .type = NLA_U16 },
	[TCA_BFC_CLASSES]	= { .type = NLA_U8 },
	[TCA_BFC_FLOWS]		= { .type = NLA_U32 },
	[TCA_BFC_ASSIGN]	= { .type = NLA_U8 },
	[TCA_BFC_REUSE]		= { .type = NLA_U8 },
	[TCA_BFC_LIMIT]		= { .type = NLA_U32 },
	[TCA_BFC_QUANTUM]	= { .type = NLA_U32 },
	[TCA_BFC_PRIOMAP]	= NLA_POLICY_EXACT_LEN(TC_PRIO_MAX + 1),
	[TCA_BFC_SPLIT_GSO]	= { .type = NLA_U8 },
	[TCA_BFC_PAUSE]		= { .type = NLA_U8 },
	[TCA_BFC_RATE]		= { .type = NLA_U64 },
	[TCA_BFC_HRTT]		= { .type = NLA_U32 },
	[TCA_BFC_TH]		= { .type = NLA_U32 },
	[TCA_BFC_TH_SCALE]	= { .type = NLA_U32 },
	[TCA_BFC_STICKY]	= { .type = NLA_U32 },
	[TCA_BFC_ROLE]		= { .type = NLA_U8 },
	[TCA_BFC_PEER]		= { .type = NLA_U8 },
	[TCA_BFC_TAG]		= { .type = NLA_U8 },
	[TCA_BFC_TPID]		= { .type = NLA_U16 },
	[TCA_BFC_REFRESH]	= { .type = NLA_U32 },
	[TCA_BFC_LEASE]		= { .type = NLA_U32 },
	[TCA_BFC_WATCH]		= { .type = NLA_U8 },
	[TCA_BFC_WATCHDOG]	= { .type = NLA_U32 },
	[TCA_BFC_RESTORE]	= { .type = NLA_U32 },
	[TCA_BFC_TIER]		= { .type = NLA_U8 },
	[TCA_BFC_POOL]		= { .type = NLA_U32 },
	[TCA_BFC_POOL_ALPHA]	= { .type = NLA_U32 },
	[TCA_BFC_POOL_PAUSE_ALPHA] = { .type = NLA_U32 },
	[TCA_BFC_CONTROL_SHARE]	= { .type = NLA_U32 },
	[TCA_BFC_STRIP]		= { .type = NLA_U8 },
	[TCA_BFC_HRTT_MAX]	= { .type = NLA_U32 },
	[TCA_BFC_WAYS]		= { .type = NLA_U8 },
	[TCA_BFC_SHARE]		= { .type = NLA_U8 },
	[TCA_BFC_CONTROL_DSCP]	= { .type = NLA_U8 },
};

static int bfc_parse_priomap(const struct nlattr *a, struct bfc_config *c, bool creating,
			     struct netlink_ext_ack *extack)
{
	int i;

	if (a)
		memcpy(c->priomap, nla_data(a), sizeof(c->priomap));
	else if (creating)
		for (i = 0; i <= TC_PRIO_MAX; i++)
			c->priomap[i] = min_t(u8, bfc_default_priomap[i], c->classes - 1);
	for (i = 0; i <= TC_PRIO_MAX; i++)
		if (c->priomap[i] >= c->classes)
			return hop_option_refuse(extack, a,
						 "priomap names a class that does not exist",
						 -EINVAL);
	return 0;
}

/* Rules that tie options to each other or that a range cannot say. */
static int bfc_validate(struct nlattr **tb, const struct bfc_config *c,
			struct netlink_ext_ack *extack)
{
	if (c->queues % c->classes)
		return hop_option_refuse(extack, tb[TCA_BFC_CLASSES] ?: tb[TCA_BFC_QUEUES],
					 "queues must be a multiple of classes", -EINVAL);
	if (c->ways != 1 && c->ways != BFC_WAYS_DEFAULT)
		return hop_option_refuse(extack, tb[TCA_BFC_WAYS], "ways must be 1 or 4", -EINVAL);
	if (c->flows % (c->classes * c->ways))
		return hop_option_refuse(extack, tb[TCA_BFC_FLOWS],
					 "flows must be a multiple of classes x ways", -EINVAL);
	if (c->tpid != ETH_P_8021AD && c->tpid != ETH_P_8021Q)
		return hop_option_refuse(extack, tb[TCA_BFC_TPID],
					 "tpid must be 0x88a8 or 0x8100", -EINVAL);
	if (c->lease_ns && c->refresh_ns && c->lease_ns < 2 * (u64)c->refresh_ns)
		return hop_option_refuse(extack, tb[TCA_BFC_LEASE] ?: tb[TCA_BFC_REFRESH],
					 "lease must be at least 2 refreshes", -EINVAL);
	if (c->pause == BFC_PAUSE_INGRESS && (c->assign != BFC_ASSIGN_SINGLE || !c->pool))
		return hop_option_refuse(extack, tb[TCA_BFC_PAUSE] ?: tb[TCA_BFC_POOL],
					 "pause ingress needs assign single and a pool", -EINVAL);
	return 0;
}

/* Parse @opt over @c. Strict, but an empty or absent TCA_OPTIONS is fine. */
int bfc_parse(struct nlattr *opt, struct bfc_config *c, bool creating,
	      struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_BFC_MAX + 1] = {};
	int err;

	if (opt) {
		err = nla_parse(tb, TCA_BFC_MAX, nla_data(opt), nla_len(opt), bfc_policy, extack);
		if (err)
			return err;
	}
	err = hop_options_parse(bfc_options, ARRAY_SIZE(bfc_options), tb, c, creating, extack);
	if (!err)
		err = bfc_parse_priomap(tb[TCA_BFC_PRIOMAP], c, creating, extack);
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
	};
}

/* The pool that a new configuration wants, see hop_buffer_find(). */
int bfc_pool_find(struct Qdisc *sch, u32 size, struct nlattr *opt, struct hop_pool **pool,
		  struct netlink_ext_ack *extack)
{
	const struct bfc_sched *q = qdisc_priv(sch);

	return hop_buffer_find(&q->buffer, qdisc_dev(sch), size,
			       opt ? nla_find_nested(opt, TCA_BFC_POOL) : NULL, pool, extack);
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
	if (!err && c.pause == BFC_PAUSE_INGRESS)
		err = hop_ingress_use(&q->member);
	if (!err)
		err = bfc_pool_find(sch, c.pool, opt, &pool, extack);
	if (err)
		return err;

	sch_tree_lock(sch);
	/* What is marked in one way cannot be let go of in the other. */
	if ((c.pause == BFC_PAUSE_INGRESS) != (q->config.pause == BFC_PAUSE_INGRESS))
		bfc_unmark(q);
	if (q->config.share == BFC_SHARE_SPARE && c.share != BFC_SHARE_SPARE)
		bfc_holders_forget(q);
	q->config = c;
	hop_buffer_switch(&q->buffer, pool, hop_subqs_backlog(&q->subqs, c.queues));
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

	nest = nla_nest_start(skb, TCA_OPTIONS);
	if (!nest)
		return -EMSGSIZE;
	if (hop_options_dump(bfc_options, ARRAY_SIZE(bfc_options), c, skb, TCA_BFC_PAD) ||
	    nla_put(skb, TCA_BFC_PRIOMAP, sizeof(c->priomap), c->priomap) ||
	    nla_put_u32(skb, TCA_BFC_VERSION, BFC_VERSION)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	return nla_nest_end(skb, nest);
}
