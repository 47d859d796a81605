// SPDX-License-Identifier: GPL-2.0-only
/*
 * sch_hold.c - a parent that keeps a standing backlog in its child, to measure qdiscs by
 *
 *	tc qdisc add dev DEV root handle 1: hold
 *	tc qdisc add dev DEV parent 1:1 ...
 *
 * While more than `packets` (a parameter of the module) are queued, the surplus is sent at once. So
 * from then on each packet that comes in takes one out: the child works as on a busy link, and the
 * sender never waits. What is kept stays until the qdisc is deleted, or `more` packets have come:
 * from then on none is kept, so that a sender ends that waits for its last packet.
 *
 * For measurements only.
 */
#include <linux/module.h>
#include <net/pkt_sched.h>

#ifndef marks_enqueue	/* sch_lines.c has some */
#define marks_enqueue(skb) do { } while (0)
#define marks_enqueued() do { } while (0)
#define marks_dequeue() do { } while (0)
#define marks_dequeued(skb) do { } while (0)
#define marks_init() do { } while (0)
#endif

static unsigned int packets;
module_param(packets, uint, 0644);
MODULE_PARM_DESC(packets, "how many stay in the child");
static unsigned int more = UINT_MAX;
module_param(more, uint, 0644);
MODULE_PARM_DESC(more, "how many come before none stays; it is counted down");

struct hold_sched {
	struct Qdisc *child;
};

static int hold_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct hold_sched *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret;

	if (more)
		more--;
	marks_enqueue(skb);
	ret = qdisc_enqueue(skb, q->child, to_free);
	marks_enqueued();
	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *hold_dequeue(struct Qdisc *sch)
{
	struct hold_sched *q = qdisc_priv(sch);
	struct sk_buff *skb;

	if (sch->q.qlen <= (more ? READ_ONCE(packets) : 0))
		return NULL;
	marks_dequeue();
	skb = q->child->dequeue(q->child);
	marks_dequeued(skb);
	if (!skb)
		return NULL;
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static void hold_reset(struct Qdisc *sch)
{
	struct hold_sched *q = qdisc_priv(sch);

	qdisc_reset(q->child);
}

static int hold_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct hold_sched *q = qdisc_priv(sch);

	q->child = &noop_qdisc;
	marks_init();
	return 0;
}

static void hold_destroy(struct Qdisc *sch)
{
	struct hold_sched *q = qdisc_priv(sch);

	qdisc_put(q->child);
}

static int hold_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return skb->len;
}

static int hold_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *new,
		      struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct hold_sched *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *hold_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct hold_sched *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long hold_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void hold_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (walker->stop)
		return;
	if (walker->count >= walker->skip && walker->fn(sch, 1, walker) < 0) {
		walker->stop = 1;
		return;
	}
	walker->count++;
}

static int hold_dump_class(struct Qdisc *sch, unsigned long arg, struct sk_buff *skb,
			   struct tcmsg *tcm)
{
	struct hold_sched *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops hold_class_ops = {
	.graft	= hold_graft,
	.leaf	= hold_leaf,
	.find	= hold_find,
	.walk	= hold_walk,
	.dump	= hold_dump_class,
};

static struct Qdisc_ops hold_qdisc_ops __read_mostly = {
	.cl_ops		= &hold_class_ops,
	.id		= "hold",
	.priv_size	= sizeof(struct hold_sched),
	.enqueue	= hold_enqueue,
	.dequeue	= hold_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= hold_init,
	.reset		= hold_reset,
	.destroy	= hold_destroy,
	.dump		= hold_dump,
	.owner		= THIS_MODULE,
};

static int __init hold_module_init(void)
{
	return register_qdisc(&hold_qdisc_ops);
}

static void __exit hold_module_exit(void)
{
	unregister_qdisc(&hold_qdisc_ops);
}

module_init(hold_module_init)
module_exit(hold_module_exit)
MODULE_DESCRIPTION("Keeps a standing backlog, to measure queueing disciplines by");
MODULE_LICENSE("GPL");
