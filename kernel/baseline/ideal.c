// SPDX-License-Identifier: GPL-2.0-only
/*
 * ideal.c - a queue for each flow, without bounds: a yardstick for other qdiscs
 *
 * What no switch can be built like, to say how far others are from it: each flow has a queue of
 * its own, told by its addresses, protocol and ports and not by a hash of them, so two flows
 * never share one; and all packets have room (`limit` is for those who want one). The
 * flows are served in turn (`order fq`: deficit round robin, a frame of the MTU at a time), or the
 * one that has the least left to send goes first (`order srf`), which keeps the mean completion
 * time of flows short. How much is left has to stand in the packet (uapi/ideal.h); what the packet
 * at the head says counts. A packet that does not say it has more left than any other; among
 * equals each has its turn.
 *
 * What a sender waits for may go before all flows (`control-dscp`), in the order in which it came:
 * so it does in what is measured against this one. Nothing else is control traffic here.
 *
 * It never pauses anyone, takes part in no port, splits no GSO packets and knows no classes.
 *
 * Who is not TCP, UDP or the like has no ports; fragments have none either, and all that is not IP
 * is a flow for each EtherType.
 *
 * Cost: O(1) for each packet while there are up to some thousand flows (chains of a hash table of
 * fixed size), and with `srf` O(log flows).
 *
 * Everything is under the qdisc lock.
 */
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/udp.h>
#include <net/flow_dissector.h>
#include <net/pkt_sched.h>

#include "../sched/control.h"
#include "../sched/headers.h"
#include "../sched/kind.h"
#include "../uapi/ideal.h"

#define IDEAL_HASH_BITS		12
#define IDEAL_UNSIZED		(1ULL << 32)	/* more than any packet can say */

struct ideal_config {
	u32	limit;
	u8	order;
	u8	control_dscp;
};

/* What tells a flow. Compared as a whole, so it has no holes. */
struct ideal_key {
	struct in6_addr	src;
	struct in6_addr	dst;
	__be32		ports;
	__be16		type;
	u16		protocol;
};

static_assert(sizeof(struct ideal_key) == 40);

/**
 * struct ideal_flow - a flow that holds packets
 * @key: what tells it
 * @hash: its chain
 * @head: oldest packet
 * @tail: newest packet
 * @turn: order fq: its place in the round
 * @deficit: bytes that it may still send in its turn
 * @node: order srf: its place by @left, then @seq
 * @left: bytes of the flow from @head on, or IDEAL_UNSIZED
 * @seq: tells equals apart: when @left became what it is
 */
struct ideal_flow {
	struct ideal_key	key;
	struct hlist_node	hash;
	struct sk_buff		*head;
	struct sk_buff		*tail;
	union {
		struct {
			struct list_head	turn;
			s32			deficit;
		};
		struct {
			struct rb_node		node;
			u64			left;
			u64			seq;
		};
	};
};

struct ideal_stats {
	u64	flows_time;
	u64	backlog_max;
	u64	unsized;
	u64	drop_limit;
	u64	drop_memory;
	u64	control;
	u32	flows;
	u32	flows_max;
};

struct ideal_sched {
	struct ideal_config	config;
	u32			perturb;
	struct sk_buff_head	control;	/* goes before all flows */
	struct hlist_head	*chains;
	struct list_head	round;		/* order fq: who is next is first */
	struct rb_root_cached	sizes;		/* order srf */
	u64			seq;
	u64			changed_ns;	/* when the number of flows last changed */
	struct ideal_stats	stats;
};

struct ideal_skb_cb {
	u64	left;
};

static struct kmem_cache *ideal_flows;

static struct ideal_skb_cb *ideal_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct ideal_skb_cb));
	return (struct ideal_skb_cb *)qdisc_skb_cb(skb)->data;
}

/* ---- what a packet says ---- */

static void ideal_key_of(struct ideal_key *key, const struct flow_keys *keys)
{
	memset(key, 0, sizeof(*key));
	key->type = keys->basic.n_proto;
	key->protocol = keys->basic.ip_proto;
	key->ports = keys->ports.ports;
	switch (keys->control.addr_type) {
	case FLOW_DISSECTOR_KEY_IPV4_ADDRS:
		key->src.s6_addr32[0] = keys->addrs.v4addrs.src;
		key->dst.s6_addr32[0] = keys->addrs.v4addrs.dst;
		break;
	case FLOW_DISSECTOR_KEY_IPV6_ADDRS:
		key->src = keys->addrs.v6addrs.src;
		key->dst = keys->addrs.v6addrs.dst;
		break;
	}
}

static u64 ideal_left(const struct sk_buff *skb, const struct flow_keys *keys)
{
	const __be32 *left;
	__be32 buf;

	if (keys->basic.ip_proto != IPPROTO_UDP || keys->ports.dst != htons(IDEAL_PORT) ||
	    keys->control.flags & FLOW_DIS_IS_FRAGMENT)
		return IDEAL_UNSIZED;
	left = skb_header_pointer(skb, keys->control.thoff + sizeof(struct udphdr) +
				  IDEAL_REMAINING_AT, sizeof(buf), &buf);
	return left ? be32_to_cpu(*left) : IDEAL_UNSIZED;
}

/* ---- flows ---- */

static void ideal_flows_move(struct ideal_sched *q, int by)
{
	u64 now = ktime_get_ns();

	q->stats.flows_time += q->stats.flows * (now - q->changed_ns);
	q->changed_ns = now;
	q->stats.flows += by;
	if (q->stats.flows > q->stats.flows_max)
		q->stats.flows_max = q->stats.flows;
}

static bool ideal_before(struct rb_node *a, const struct rb_node *b)
{
	const struct ideal_flow *x = rb_entry(a, struct ideal_flow, node);
	const struct ideal_flow *y = rb_entry(b, struct ideal_flow, node);

	return x->left != y->left ? x->left < y->left : x->seq < y->seq;
}

/* A flow gets its place among the others by the packet at its head. */
static void ideal_place(struct ideal_sched *q, struct ideal_flow *flow)
{
	flow->left = ideal_cb(flow->head)->left;
	flow->seq = q->seq++;
	rb_add_cached(&flow->node, &q->sizes, ideal_before);
}

static struct ideal_flow *ideal_flow_make(struct ideal_sched *q, const struct ideal_key *key,
					  struct hlist_head *chain)
{
	struct ideal_flow *flow = kmem_cache_zalloc(ideal_flows, GFP_ATOMIC);

	if (!flow)
		return NULL;
	flow->key = *key;
	hlist_add_head(&flow->hash, chain);
	ideal_flows_move(q, 1);
	return flow;
}

static void ideal_flow_free(struct ideal_sched *q, struct ideal_flow *flow)
{
	hlist_del(&flow->hash);
	kmem_cache_free(ideal_flows, flow);
	ideal_flows_move(q, -1);
}

static struct ideal_flow *ideal_flow_get(struct ideal_sched *q, const struct ideal_key *key)
{
	struct hlist_head *chain;
	struct ideal_flow *flow;

	chain = &q->chains[hash_32(jhash2((const u32 *)key, sizeof(*key) / sizeof(u32),
					  q->perturb), IDEAL_HASH_BITS)];
	hlist_for_each_entry(flow, chain, hash)
		if (!memcmp(&flow->key, key, sizeof(*key)))
			return flow;
	return ideal_flow_make(q, key, chain);
}

/* ---- packets ---- */

static bool ideal_is_control(const struct ideal_sched *q, const struct sk_buff *skb)
{
	return q->config.control_dscp && hop_dscp(skb, hop_network(skb)) == q->config.control_dscp;
}

/* Return: false if there is no memory for its flow. */
static bool ideal_put(struct ideal_sched *q, struct sk_buff *skb)
{
	struct ideal_flow *flow;
	struct ideal_key key;
	struct flow_keys keys;

	skb_flow_dissect_flow_keys(skb, &keys, 0);
	ideal_key_of(&key, &keys);
	flow = ideal_flow_get(q, &key);
	if (unlikely(!flow))
		return false;
	ideal_cb(skb)->left = ideal_left(skb, &keys);
	if (q->config.order == IDEAL_ORDER_SRF && ideal_cb(skb)->left == IDEAL_UNSIZED)
		q->stats.unsized++;

	skb->next = NULL;
	if (flow->head) {
		flow->tail->next = skb;
	} else {
		flow->head = skb;
		if (q->config.order == IDEAL_ORDER_SRF)
			ideal_place(q, flow);
		else
			list_add_tail(&flow->turn, &q->round);
	}
	flow->tail = skb;
	return true;
}

static int ideal_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct ideal_sched *q = qdisc_priv(sch);

	if (q->config.limit && sch->qstats.backlog + qdisc_pkt_len(skb) > q->config.limit) {
		q->stats.drop_limit++;
		return qdisc_drop(skb, sch, to_free);
	}
	if (ideal_is_control(q, skb)) {
		__skb_queue_tail(&q->control, skb);
		q->stats.control++;
	} else if (unlikely(!ideal_put(q, skb))) {
		q->stats.drop_memory++;
		return qdisc_drop(skb, sch, to_free);
	}
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
	return NET_XMIT_SUCCESS;
}

/* Return: whose turn it is. Call with one that holds packets. */
static struct ideal_flow *ideal_turn(struct Qdisc *sch, struct ideal_sched *q)
{
	struct ideal_flow *flow = list_first_entry(&q->round, struct ideal_flow, turn);

	/* A flow that comes new has nothing yet: it gets its quantum when its turn comes. */
	while (flow->deficit <= 0) {
		flow->deficit += psched_mtu(qdisc_dev(sch));
		if (flow->deficit > 0)
			break;
		list_move_tail(&flow->turn, &q->round);
		flow = list_first_entry(&q->round, struct ideal_flow, turn);
	}
	return flow;
}

static struct sk_buff *ideal_pop(struct ideal_flow *flow)
{
	struct sk_buff *skb = flow->head;

	flow->head = skb->next;
	skb_mark_not_on_list(skb);
	return skb;
}

static struct sk_buff *ideal_dequeue_fq(struct Qdisc *sch, struct ideal_sched *q)
{
	struct ideal_flow *flow = ideal_turn(sch, q);
	struct sk_buff *skb = ideal_pop(flow);

	flow->deficit -= qdisc_pkt_len(skb);
	if (!flow->head) {
		list_del(&flow->turn);
		ideal_flow_free(q, flow);
	} else if (flow->deficit <= 0) {
		list_move_tail(&flow->turn, &q->round);
	}
	return skb;
}

static struct sk_buff *ideal_dequeue_srf(struct ideal_sched *q)
{
	struct ideal_flow *flow = rb_entry(rb_first_cached(&q->sizes), struct ideal_flow, node);
	struct sk_buff *skb = ideal_pop(flow);

	rb_erase_cached(&flow->node, &q->sizes);
	if (flow->head)
		ideal_place(q, flow);
	else
		ideal_flow_free(q, flow);
	return skb;
}

static struct sk_buff *ideal_dequeue(struct Qdisc *sch)
{
	struct ideal_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = __skb_dequeue(&q->control);

	if (!skb) {
		if (!q->stats.flows)
			return NULL;
		skb = q->config.order == IDEAL_ORDER_SRF ? ideal_dequeue_srf(q) :
							   ideal_dequeue_fq(sch, q);
	}
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void ideal_reset(struct Qdisc *sch)
{
	struct ideal_sched *q = qdisc_priv(sch);
	struct ideal_flow *flow;
	struct hlist_node *next;
	struct sk_buff *skb;
	u32 i;

	if (!q->chains)
		return;
	while ((skb = __skb_dequeue(&q->control)))
		rtnl_kfree_skbs(skb, skb);
	for (i = 0; i < 1U << IDEAL_HASH_BITS; i++) {
		hlist_for_each_entry_safe(flow, next, &q->chains[i], hash) {
			while (flow->head) {
				skb = ideal_pop(flow);
				rtnl_kfree_skbs(skb, skb);
			}
			ideal_flow_free(q, flow);
		}
	}
	INIT_LIST_HEAD(&q->round);
	q->sizes = RB_ROOT_CACHED;
}

/* ---- configuration ---- */

/* Made of Documentation/netlink/specs/ideal.yaml */
#include "ideal_option_rows.h"
#include "ideal_counter_rows.h"

static int ideal_parse(struct nlattr *opt, struct ideal_config *c, bool creating,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_IDEAL_MAX + 1] = {};
	int err = hop_options_split(opt, tb, TCA_IDEAL_MAX, ideal_policy, extack);

	return err ?: hop_options_parse(ideal_options, ARRAY_SIZE(ideal_options), tb, c, creating,
					extack);
}

/* A lower limit drops nothing: it is for what comes. */
static int ideal_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct ideal_sched *q = qdisc_priv(sch);
	struct ideal_config c = q->config;
	int err = ideal_parse(opt, &c, false, extack);

	return hop_options_swap(sch, &q->config, &c, sizeof(c), err);
}

static int ideal_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct ideal_sched *q = qdisc_priv(sch);
	int err;

	q->config = (struct ideal_config)IDEAL_DEFAULTS;
	err = ideal_parse(opt, &q->config, true, extack);
	if (err)
		return err;
	__skb_queue_head_init(&q->control);
	INIT_LIST_HEAD(&q->round);
	q->sizes = RB_ROOT_CACHED;
	q->perturb = get_random_u32();
	q->changed_ns = ktime_get_ns();
	q->chains = kvcalloc(1U << IDEAL_HASH_BITS, sizeof(*q->chains), GFP_KERNEL);
	return q->chains ? 0 : -ENOMEM;
}

static void ideal_destroy(struct Qdisc *sch)
{
	struct ideal_sched *q = qdisc_priv(sch);

	ideal_reset(sch);
	kvfree(q->chains);
}

static int ideal_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct ideal_sched *q = qdisc_priv(sch);

	return hop_options_show(ideal_options, ARRAY_SIZE(ideal_options), &q->config, skb,
				TCA_IDEAL_PAD, TCA_IDEAL_VERSION, IDEAL_VERSION);
}

static int ideal_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct ideal_sched *q = qdisc_priv(sch);
	struct ideal_stats stats;
	struct nlattr *nest;
	bool full;
	u64 now;

	sch_tree_lock(sch);
	ideal_flows_move(q, 0);
	stats = q->stats;
	now = q->changed_ns;
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(ideal_counters, ARRAY_SIZE(ideal_counters), &stats, d->skb,
				 TCA_IDEAL_STATS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_IDEAL_STATS_TIME, now, TCA_IDEAL_STATS_PAD);
	return hop_nest_end(d->skb, nest, full);
}

static struct Qdisc_ops ideal_qdisc_ops __read_mostly = {
	.id		= "ideal",
	.priv_size	= sizeof(struct ideal_sched),
	.enqueue	= ideal_enqueue,
	.dequeue	= ideal_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= ideal_init,
	.reset		= ideal_reset,
	.destroy	= ideal_destroy,
	.change		= ideal_change,
	.dump		= ideal_dump,
	.dump_stats	= ideal_dump_stats,
	.owner		= THIS_MODULE,
};

static_assert(sizeof(struct ideal_skb_cb) <= QDISC_CB_PRIV_LEN);

static int __init ideal_begin(void)
{
	ideal_flows = KMEM_CACHE(ideal_flow, 0);
	return ideal_flows ? 0 : -ENOMEM;
}

HOP_KIND_MODULE(ideal, "A queue for each flow, as a yardstick", ideal_begin(),
		kmem_cache_destroy(ideal_flows));
