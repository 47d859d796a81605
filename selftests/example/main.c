// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the smallest kind of qdisc that takes part in a fabric
 *
 * Flows are hashed onto sub-queues that share the link by deficit round robin. The neighbour can
 * pause each of them. One takes `limit` bytes; what comes beyond is dropped. It pauses nobody.
 * Documentation/new-kind.md explains it from top to bottom.
 *
 * All of struct example_sched is under the qdisc lock, @config also under RTNL, but for @member,
 * which is hopctl's.
 */
#include <linux/module.h>

#include "../../kernel/sched/classes.h"
#include "../../kernel/sched/egress.h"
#include "../../kernel/sched/port_options.h"
#include "example.h"

static int example_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct example_sched *q = qdisc_priv(sch);
	u32 hash = hop_packet_hash(skb, hop_network(skb), &q->secret);
	u32 n = reciprocal_scale(hash, EXAMPLE_QUEUES);

	if (q->queues[n].backlog + qdisc_pkt_len(skb) > q->config.limit) {
		q->stats[n].drops++;
		return qdisc_drop(skb, sch, to_free);
	}
	hop_subq_append(&q->subqs, &q->member, &q->queues[n], skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	hop_tell(&q->member);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *example_dequeue(struct Qdisc *sch)
{
	struct example_sched *q = qdisc_priv(sch);
	struct hop_late_drops late = {};
	struct sk_buff *skb = NULL;
	u64 now = ktime_get_ns();
	struct hop_subq *sub;

	hop_subqs_obey(&q->subqs, &q->member, &q->paused, &q->paused_seen, now);
	while (!skb && !hop_bitset_empty(&q->class.ready)) {
		sub = hop_class_turn(&q->subqs, &q->class, hop_quantum_mtu, sch);
		skb = hop_subq_pop(&q->subqs, &q->member, sub, now);
		sub->deficit -= qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		hop_subq_sent(hop_subq_stats(&q->subqs, sub), skb);
		if (hop_egress_tag(&q->member, skb, sub - q->queues, ETH_P_8021AD) < 0) {
			hop_egress_drop(&late, sch, skb);
			skb = NULL;
		}
	}
	hop_tell(&q->member);
	return hop_egress_end(&late, sch, skb);
}

static void example_reset(struct Qdisc *sch)
{
	struct example_sched *q = qdisc_priv(sch);

	hop_subqs_purge(&q->subqs, &q->member, NULL, NULL, ktime_get_ns());
}

static const struct hop_option example_options[] = {
	{ TCA_EXAMPLE_LIMIT, offsetof(struct example_config, limit), sizeof(u32),
	  .min = 1, .max = 1 << 30, .rule = "limit must be 1 byte to 1 GiB" },
};

static const struct nla_policy example_policy[] = { [TCA_EXAMPLE_LIMIT] = { .type = NLA_U32 } };

static int example_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ARRAY_SIZE(example_policy)] = {};
	struct example_sched *q = qdisc_priv(sch);
	struct example_config c = q->config;
	int err = hop_options_split(opt, tb, ARRAY_SIZE(tb) - 1, example_policy, extack) ?:
		  hop_options_parse(example_options, ARRAY_SIZE(example_options), tb, &c, false,
				    extack);

	if (err)
		return err;
	sch_tree_lock(sch);
	q->config = c;
	sch_tree_unlock(sch);
	return 0;
}

static int example_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct example_sched *q = qdisc_priv(sch);

	return hop_options_show(example_options, ARRAY_SIZE(example_options), &q->config, skb,
				TCA_EXAMPLE_PAD, TCA_EXAMPLE_VERSION, 1);
}

static int example_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	u64 bytes = example_heard(qdisc_priv(sch));

	return gnet_stats_copy_app(d, &bytes, sizeof(bytes));
}

static void example_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct example_sched *q = container_of(m, struct example_sched, member);

	hop_subq_watch(&q->queues[queue], &q->stats[queue], w);
}

const struct hop_member_ops example_member_ops = { .watch = example_watch };

static int example_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	static const struct hop_config port = {
		.kinds = HOP_KIND_BFC | HOP_KIND_EXAMPLE, HOP_PORT_DEFAULTS
	};
	struct example_sched *q = qdisc_priv(sch);

	hop_subqs_setup(&q->subqs, q->queues, q->stats, &q->class, EXAMPLE_QUEUES);
	hop_flow_secret_draw(&q->secret);
	q->config.limit = 1 << 20;
	hop_port_holds_back(sch);
	return example_change(sch, opt, extack) ?:
	       hop_member_join(&q->member, sch, EXAMPLE_QUEUES, &port, &example_member_ops, extack);
}

static void example_destroy(struct Qdisc *sch)
{
	struct example_sched *q = qdisc_priv(sch);

	hop_member_leave(&q->member);
}

static unsigned long example_find(struct Qdisc *sch, u32 classid)
{
	return TC_H_MIN(classid) <= EXAMPLE_QUEUES ? TC_H_MIN(classid) : 0;
}

static void example_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	struct example_sched *q = qdisc_priv(sch);

	hop_walk_subqs(sch, arg, &q->subqs, 1);
}

static int example_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct example_sched *q = qdisc_priv(sch);

	return hop_subq_put(d, &q->queues[minor - 1], &q->stats[minor - 1]);
}

static const struct Qdisc_class_ops example_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= example_find,
	.walk		= example_walk,
	.dump		= hop_class_dump,
	.dump_stats	= example_dump_class_stats,
};

static struct Qdisc_ops example_qdisc_ops __read_mostly = {
	.id		= "example",
	.cl_ops		= &example_class_ops,
	.priv_size	= sizeof(struct example_sched),
	.enqueue	= example_enqueue,
	.dequeue	= example_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= example_init,
	.reset		= example_reset,
	.destroy	= example_destroy,
	.change		= example_change,
	.dump		= example_dump,
	.dump_stats	= example_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init example_module_init(void)
{
	int err = example_told_init();

	if (err)
		return err;
	err = register_qdisc(&example_qdisc_ops);
	if (err)
		example_told_exit();
	return err;
}

static void __exit example_module_exit(void)
{
	unregister_qdisc(&example_qdisc_ops);
	example_told_exit();
}

module_init(example_module_init);
module_exit(example_module_exit);
MODULE_DESCRIPTION("The smallest kind of qdisc that takes part in a fabric");
MODULE_LICENSE("GPL");
MODULE_ALIAS("net-sch-example");
