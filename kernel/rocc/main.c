// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - RoCC as a queueing discipline
 *
 * Taheri, Menikkumbura, Vanini, Fahmy, Eugster, Edsall: RoCC: Robust Congestion Control for RDMA,
 * CoNEXT 2020.
 *
 * A switch computes a fair rate for the flows in each of its queues and tells their sources, which
 * keep to it. One qdisc, which has one of two roles:
 *
 *   switch   the congestion point (cp.c): observes, computes, sends CNPs (cnp_send.c)
 *   host     the reaction point (rp.c): limits flows to what CNPs say (cnp_receive.c)
 *
 * In both the packets themselves are another qdisc's, the child: a fifo of `limit` bytes, or what
 * is put below (`tc qdisc add ... parent X:1 bfc`): RoCC's rates then stand above BFC's queues,
 * as the BFC paper advises for what lasts longer than a burst. Control traffic goes ahead of it.
 *
 * The files, and who protects what: rocc.h.
 */
#include <linux/if_arp.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>

#include "../sched/kind.h"
#include "rocc.h"

/* All of them, so that they hear of a link's new speed. RTNL. */
static LIST_HEAD(rocc_scheds);

static int rocc_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	return rocc_is_rp(qdisc_priv(sch)) ? rocc_rp_enqueue(skb, sch, to_free) :
					       rocc_cp_enqueue(skb, sch, to_free);
}

static struct sk_buff *rocc_dequeue(struct Qdisc *sch)
{
	return rocc_is_rp(qdisc_priv(sch)) ? rocc_rp_dequeue(sch) : rocc_cp_dequeue(sch);
}

static void rocc_reset(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	rocc_backlog_moves(sch, q, ktime_get_ns());
	qdisc_reset(q->child);
	while ((skb = __skb_dequeue(&q->control)))
		rtnl_kfree_skbs(skb, skb);
	q->control_bytes = 0;
	if (rocc_is_rp(q))
		rocc_rp_reset(&q->rp);
	else
		rocc_cp_reset(&q->cp);
}

static int rocc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct rocc_sched *q = qdisc_priv(sch);
	struct rocc_config *c = &q->config;	/* no copy of keys on the stack */
	struct Qdisc *child;
	int err;

	/* Enough for destroy() to run after any failure below. */
	q->sch = sch;
	q->child = &noop_qdisc;
	__skb_queue_head_init(&q->control);
	INIT_LIST_HEAD(&q->node);
	*c = rocc_defaults;
	q->seed = get_random_u32();
	q->changed_ns = ktime_get_ns();

	if (qdisc_dev(sch)->type != ARPHRD_ETHER) {
		NL_SET_ERR_MSG(extack, "rocc is for Ethernet devices");
		return -EOPNOTSUPP;
	}
	rocc_link_ask(q);
	err = rocc_parse(sch, opt, c, true, extack);
	if (err)
		return err;
	if (rocc_is_rp(q))
		err = rocc_rp_init(sch, &q->rp, c) ?: rocc_net_add(dev_net(qdisc_dev(sch)),
								   &q->rp);
	else
		err = rocc_cp_init(sch, &q->cp, c);
	if (err)
		return err;
	hop_police_set(&q->police, rocc_speed(sch, c) / BITS_PER_BYTE, c->control_share,
		       psched_mtu(qdisc_dev(sch)));
	child = fifo_create_dflt(sch, &bfifo_qdisc_ops, c->limit, extack);
	if (IS_ERR(child))
		return PTR_ERR(child);
	qdisc_hash_add(child, true);
	q->child = child;
	q->fifo = child;
	list_add_tail(&q->node, &rocc_scheds);
	return 0;
}

static void rocc_destroy(struct Qdisc *sch)
{
	struct rocc_sched *q = qdisc_priv(sch);

	list_del(&q->node);
	if (rocc_is_rp(q)) {
		rocc_net_remove(dev_net(qdisc_dev(sch)), &q->rp);
		rocc_rp_destroy(&q->rp);
	} else {
		rocc_cp_destroy(&q->cp);
	}
	__skb_queue_purge(&q->control);
	qdisc_put(q->child);
	memzero_explicit(q->config.key, sizeof(q->config.key));
}

static struct Qdisc_ops rocc_qdisc_ops __read_mostly = {
	.id		= "rocc",
	.cl_ops		= &rocc_class_ops,
	.priv_size	= sizeof(struct rocc_sched),
	.enqueue	= rocc_enqueue,
	.dequeue	= rocc_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= rocc_init,
	.reset		= rocc_reset,
	.destroy	= rocc_destroy,
	.change		= rocc_change,
	.dump		= rocc_dump,
	.dump_stats	= rocc_dump_stats,
	.owner		= THIS_MODULE,
};

/* ---- module ---- */

/* A link has another speed, or there may be the first bridge. */
static int rocc_device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct rocc_config c;
	struct rocc_sched *q;

	if (event == NETDEV_CHANGEUPPER)
		rocc_bridge_look();
	if (event != NETDEV_UP && event != NETDEV_CHANGE && event != NETDEV_CHANGEMTU)
		return NOTIFY_DONE;
	list_for_each_entry(q, &rocc_scheds, node) {
		if (qdisc_dev(q->sch) != dev)
			continue;
		c = q->config;
		rocc_link_ask(q);
		sch_tree_lock(q->sch);
		rocc_apply(q->sch, &c);
		sch_tree_unlock(q->sch);
		memzero_explicit(&c, sizeof(c));
	}
	return NOTIFY_DONE;
}

static struct notifier_block rocc_notifier = { .notifier_call = rocc_device_event };

static int __init rocc_begin(void)
{
	int err;

	err = rocc_rp_module_init();
	if (err)
		return err;
	err = rocc_net_module_init();
	if (err)
		goto no_net;
	err = register_netdevice_notifier(&rocc_notifier);
	if (!err)
		return 0;

	rocc_net_module_exit();
no_net:
	rocc_rp_module_exit();
	return err;
}

static void rocc_end(void)
{
	unregister_netdevice_notifier(&rocc_notifier);
	rocc_net_module_exit();
	rocc_rp_module_exit();
}

HOP_KIND_MODULE(rocc, "RoCC: congestion points and reaction points", rocc_begin(), rocc_end());
