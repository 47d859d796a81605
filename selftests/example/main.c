// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the smallest kind of qdisc that takes part in a fabric
 *
 * Flows are hashed onto sub-queues that share the link by deficit round robin. The neighbour can
 * pause each of them. One takes `limit` bytes; what comes beyond is dropped. It pauses nobody.
 * The neighbour is told how many bytes wait in each sub-queue.
 * Documentation/new-kind.md explains it from top to bottom.
 *
 * All of struct example_sched is under the qdisc lock, @config also under RTNL, but for @member,
 * which is hopctl's.
 */
#include "../../kernel/hopctl/content.h"
#include "../../kernel/sched/classes.h"
#include "../../kernel/sched/egress.h"
#include "../../kernel/sched/kind.h"
#include "../../kernel/sched/packet_hash.h"
#include "../../kernel/sched/port_options.h"

#define EXAMPLE_QUEUES	64

enum { TCA_EXAMPLE_UNSPEC, TCA_EXAMPLE_LIMIT, TCA_EXAMPLE_VERSION, TCA_EXAMPLE_PAD };

struct example_config {
	u32	limit;
};

struct example_sched {
	struct hop_subqs	subqs;		/* first, see hop_subqs_class_ops */
	struct example_config	config;
	struct hop_flow_secret	secret;
	u64			paused;		/* a bit for each sub-queue */
	u32			paused_seen;	/* generation of @paused */
	struct hop_class	class;
	struct hop_subq		queues[EXAMPLE_QUEUES];
	struct hop_subq_stats	stats[EXAMPLE_QUEUES];
	struct hop_member	member;
};

static_assert(!offsetof(struct example_sched, subqs));

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

	return hop_options_swap(sch, &q->config, &c, sizeof(c), err);
}

static int example_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct example_sched *q = qdisc_priv(sch);

	return hop_options_show(example_options, ARRAY_SIZE(example_options), &q->config, skb,
				TCA_EXAMPLE_PAD, TCA_EXAMPLE_VERSION, 1);
}

static const struct hop_member_ops example_member_ops = { .watch = hop_subqs_watch };

static u64 example_word(const struct hop_member *m, unsigned int page)
{
	const struct example_sched *q = container_of(m, struct example_sched, member);

	return READ_ONCE(q->queues[page].backlog);
}

static const struct hop_content example_content = {
	.kinds	= HOP_KIND_EXAMPLE,
	.ops	= &example_member_ops,
	.words	= EXAMPLE_QUEUES,
	.word	= example_word,
};

/* Bytes that wait at the neighbour, as far as it has been heard */
static int example_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct example_sched *q = qdisc_priv(sch);
	unsigned int i;
	u64 bytes = 0;

	for (i = 0; i < EXAMPLE_QUEUES; i++)
		bytes += hop_heard_word(&q->member, HOP_SLOT_EXAMPLE, i);
	return gnet_stats_copy_app(d, &bytes, sizeof(bytes));
}

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

static struct Qdisc_ops example_qdisc_ops __read_mostly = {
	.id		= "example",
	.cl_ops		= &hop_subqs_class_ops,
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

HOP_KIND_MODULE(example, "The smallest kind of qdisc that takes part in a fabric",
		hop_content_register(HOP_SLOT_EXAMPLE, &example_content),
		hop_content_unregister(HOP_SLOT_EXAMPLE));
