// SPDX-License-Identifier: GPL-2.0-only
/*
 * setup.c - how a qdisc comes and goes: its memory, its place on the port, and what the port's
 * watchdogs ask it
 */
#include <linux/mm.h>

#include "../sched/classes.h"
#include "../sched/port_options.h"
#include "queue.h"

static void flowsail_watch(const struct hop_member *m, u16 slot, struct hop_watch *w)
{
	const struct flowsail_sched *q = container_of(m, struct flowsail_sched, member);
	const struct flowsail_flow *flow = &q->flows[slot];

	/* the first slot stands for all; nothing but control packets leaves */
	if (unlikely(READ_ONCE(q->held.on))) {
		w->waits = !slot && READ_ONCE(q->subqs.backlogged);
		w->sent = READ_ONCE(q->held.times);
		return;
	}
	w->waits = READ_ONCE(flow->packets) || READ_ONCE(flow->apart);
	w->sent = READ_ONCE(flow->sent);
}

/* Nothing waits for the device, as of what was last taken over from the neighbour. */
static bool flowsail_none_ready(const struct flowsail_sched *q)
{
	return (READ_ONCE(q->held.on) && skb_queue_empty_lockless(&q->intake.control)) ||
	       hop_classes_none_ready(&q->subqs, q->config.prio.classes, &q->intake.control);
}

/* A device that hangs takes over nothing, so what is new has to be looked at under the lock. */
static bool flowsail_held(const struct hop_member *m)
{
	const struct flowsail_sched *q = container_of(m, struct flowsail_sched, member);

	return flowsail_none_ready(q) && !hop_paused_changed(m, READ_ONCE(q->paused_seen));
}

/* A qdisc whose packets wait for nobody but the device, and wait for too long */
static unsigned int flowsail_withdraw(struct hop_member *m)
{
	struct flowsail_sched *q = container_of(m, struct flowsail_sched, member);
	unsigned int withdrawn = 0;

	sch_tree_lock(m->sch);
	if (hop_paused_changed(m, q->paused_seen))
		flowsail_merge_paused(q, ktime_get_ns());
	if (hop_member_stalls(m, flowsail_none_ready(q))) {
		withdrawn = flowsail_unmark(q);
		q->stats.withdrawn += withdrawn;
	}
	sch_tree_unlock(m->sch);
	return withdrawn;
}

static const struct hop_member_ops flowsail_member_ops = {
	.watch		= flowsail_watch,
	.held		= flowsail_held,
	.withdraw	= flowsail_withdraw,
};

/* Sub-queues are numbered through all classes. Only normal ones are given away. */
static void flowsail_setup_class(struct flowsail_sched *q, u8 number)
{
	struct hop_class *class = &q->subqs.classes[number];
	u32 n, first = number * q->normal;

	INIT_LIST_HEAD(&class->idle);
	class->queues = q->subqs.count;
	for (n = first; n < first + q->normal; n++) {
		q->subqs.queues[n].class = number;
		hop_bitset_add(&class->free, n);
	}
	first = q->isolation + number * q->config.isolation;
	for (n = first; n < first + q->config.isolation; n++)
		q->subqs.queues[n].class = number;
}

/* No flow is the first to seem used: all slots are idle. */
static void flowsail_setup(struct flowsail_sched *q)
{
	u32 n;

	hop_subqs_init(&q->subqs);
	q->subqs.count = flowsail_queues(&q->config);
	q->normal = q->config.queues / q->config.prio.classes;
	q->isolation = q->config.queues;
	q->own = q->isolation + q->config.isolation * q->config.prio.classes;
	for (n = 0; n < q->subqs.count; n++)
		INIT_LIST_HEAD(&q->subqs.queues[n].node);
	for (n = 0; n < q->config.prio.classes; n++)
		flowsail_setup_class(q, n);
	for (n = 0; n < q->config.slots; n++)
		list_add_tail(&q->flows[n].idle, &q->idle);
}

static int flowsail_allocate(struct flowsail_sched *q)
{
	u32 count = flowsail_queues(&q->config);

	BUILD_BUG_ON(FLOWSAIL_SLOTS_MAX + 2 > HOP_BITSET_BITS);
	q->chains_mask = roundup_pow_of_two(2 * q->config.slots) - 1;
	q->chains = kvcalloc(q->chains_mask + 1, sizeof(*q->chains), GFP_KERNEL);
	q->flows = kvcalloc(q->config.slots, sizeof(*q->flows), GFP_KERNEL);
	q->fronts = kvcalloc(count, sizeof(*q->fronts), GFP_KERNEL);
	q->common = kvcalloc(q->config.isolation * q->config.prio.classes, sizeof(*q->common),
			     GFP_KERNEL);
	q->roots = kvcalloc(q->config.slots, sizeof(*q->roots), GFP_KERNEL);
	q->subqs.queues = kvcalloc(count, sizeof(*q->subqs.queues), GFP_KERNEL);
	q->subqs.stats = kvcalloc(count, sizeof(*q->subqs.stats), GFP_KERNEL);
	q->subqs.classes = q->class;
	if (!q->chains || !q->flows || !q->fronts || !q->subqs.queues || !q->subqs.stats ||
	    !q->common || !q->roots)
		return -ENOMEM;
	flowsail_setup(q);
	return 0;
}

static void flowsail_free(struct flowsail_sched *q)
{
	kvfree(q->subqs.queues);
	kvfree(q->subqs.stats);
	kvfree(q->common);
	kvfree(q->roots);
	kvfree(q->fronts);
	kvfree(q->flows);
	kvfree(q->chains);
}

int flowsail_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct hop_pool *pool;
	int err;

	/* Enough for destroy() to run after any failure below. */
	__skb_queue_head_init(&q->intake.control);
	INIT_LIST_HEAD(&q->idle);
	hop_flow_secret_draw(&q->flow_secret);
	q->random = get_random_u32();
	q->changed_ns = ktime_get_ns();
	q->paused_ns = q->changed_ns;
	q->config = flowsail_defaults;
	q->config.slots = hop_member_share(sch, q->config.slots);
	err = flowsail_parse(opt, &q->config, true, extack) ?:
	      tcf_block_get(&q->filters.block, &q->filters.list, sch, extack) ?:
	      flowsail_allocate(q) ?:
	      hop_buffer_find(&q->buffer, sch, q->config.pool, opt, TCA_FLOWSAIL_POOL, &pool,
			      extack);
	if (err)
		return err;
	hop_buffer_switch(&q->buffer, pool, 0);
	/* whoever pauses as bfc does is obeyed, and obeys */
	q->config.port.kinds = HOP_KIND_BFC | HOP_KIND_FLOWSAIL;
	if (q->config.pfc)
		q->config.port.kinds |= HOP_KIND_PFC;
	err = hop_member_join(&q->member, sch, q->config.slots, &q->config.port,
			      &flowsail_member_ops, extack);
	if (!err && q->config.port.roots)
		err = hop_roots_use(&q->member);
	if (!err && q->config.pfc)
		err = hop_ingress_use(&q->member) ?: hop_origins_use(&q->member);
	if (err)
		return err;
	flowsail_recompute(q);
	hop_port_holds_back(sch);
	return 0;
}

void flowsail_destroy(struct Qdisc *sch)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	tcf_block_put(q->filters.block);
	flowsail_reset(sch);
	hop_pool_put(q->buffer.pool);
	hop_member_leave(&q->member);
	flowsail_free(q);
}
