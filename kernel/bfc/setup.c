// SPDX-License-Identifier: GPL-2.0-only
/*
 * setup.c - how a qdisc comes and goes: its memory, its place on the port, and what the port's
 * watchdogs ask it
 */
#include <linux/mm.h>

#include "../sched/classes.h"
#include "../sched/packet_hash.h"
#include "../sched/port_options.h"
#include "bfc.h"

static void bfc_watch(const struct hop_member *m, u16 queue, struct hop_watch *w)
{
	const struct bfc_sched *q = container_of(m, struct bfc_sched, member);

	hop_subq_watch(&q->subqs.queues[queue], &q->subqs.stats[queue], w);
}

/* Nothing waits for the device, as of what was last taken over from the neighbour. */
static bool bfc_none_ready(const struct bfc_sched *q)
{
	return hop_classes_none_ready(&q->subqs, q->config.prio.classes, &q->control);
}

/* A device that hangs takes over nothing, so what is new has to be looked at under the lock. */
static bool bfc_held(const struct hop_member *m)
{
	const struct bfc_sched *q = container_of(m, struct bfc_sched, member);

	return bfc_none_ready(q) && !hop_paused_changed(m, READ_ONCE(q->paused_seen));
}

/* A qdisc whose packets wait for nobody but the device, and wait for too long */
static unsigned int bfc_withdraw(struct hop_member *m)
{
	struct bfc_sched *q = container_of(m, struct bfc_sched, member);
	unsigned int withdrawn = 0;

	sch_tree_lock(m->sch);
	if (hop_paused_changed(m, q->paused_seen))
		bfc_merge_paused(q, ktime_get_ns());
	if (hop_member_stalls(m, bfc_none_ready(q))) {
		withdrawn = bfc_unmark(q);
		q->stats.withdrawn += withdrawn;
	}
	sch_tree_unlock(m->sch);
	return withdrawn;
}

static const struct hop_member_ops bfc_member_ops = {
	.watch		= bfc_watch,
	.held		= bfc_held,
	.withdraw	= bfc_withdraw,
};

/* Entries of the flow table; as many whole sets for each class, since queues are a multiple of
 * classes
 */
static u32 bfc_table(const struct bfc_config *c)
{
	BUILD_BUG_ON(BFC_FLOWS_PER_QUEUE % HOP_FLOW_WAYS);
	return c->flows ?: c->queues * BFC_FLOWS_PER_QUEUE;
}

static void bfc_setup_classes(struct bfc_sched *q)
{
	u32 table = bfc_table(&q->config);
	struct hop_class *class;
	u32 queues, i, n;

	for (i = 0; i < q->config.prio.classes; i++) {
		class = &q->subqs.classes[i];
		queues = q->config.queues / q->config.prio.classes;
		hop_class_init(&q->subqs, i, i * queues, queues);
		class->holders = q->holders;
		class->flows = q->flows + i * (table / q->config.prio.classes);
		class->sets = table / q->config.prio.classes / q->config.ways;
		for (n = 0; n < table / q->config.prio.classes; n++)
			class->flows[n] = hop_flow_unused(n * GOLDEN_RATIO_32,
							  class->first + n % class->queues);
	}
}

static int bfc_allocate(struct bfc_sched *q)
{
	const struct bfc_config *c = &q->config;
	u32 table = bfc_table(c);

	q->classes = kvzalloc(struct_size(q->classes, class, c->prio.classes), GFP_KERNEL);
	q->subqs.stats = kvcalloc(c->queues, sizeof(*q->subqs.stats), GFP_KERNEL);
	q->flows = kvcalloc(table, sizeof(*q->flows), GFP_KERNEL);
	q->subqs.queues = kvcalloc(c->queues, sizeof(*q->subqs.queues), GFP_KERNEL);
	q->holders.mask = roundup_pow_of_two(max(2U * c->queues, BFC_PLACES_LEAST)) - 1;
	q->holders.places = kvcalloc(q->holders.mask + 1, sizeof(*q->holders.places), GFP_KERNEL);
	q->holders.holdings = kvcalloc(c->queues, sizeof(*q->holders.holdings), GFP_KERNEL);
	q->spilled = kvcalloc(BITS_TO_LONGS(max_t(u32, table, c->queues)), sizeof(*q->spilled),
			      GFP_KERNEL);
	if (!q->classes || !q->subqs.stats || !q->flows || !q->subqs.queues ||
	    !q->holders.places || !q->holders.holdings || !q->spilled)
		return -ENOMEM;
	q->subqs.classes = q->classes->class;
	bfc_setup_classes(q);
	return 0;
}

static void bfc_free(struct bfc_sched *q)
{
	kvfree(q->subqs.queues);
	kvfree(q->flows);
	kvfree(q->subqs.stats);
	kvfree(q->spilled);
	kvfree(q->holders.places);
	kvfree(q->holders.holdings);
	if (q->classes)
		kvfree_rcu(q->classes, rcu);
}

/* The kernel's default qdisc, at the root or below mq, is one that nobody has typed: only such a
 * one has no handle while it is made.
 */
static bool bfc_is_default(const struct Qdisc *sch)
{
	return !sch->handle;
}

/* A refused default qdisc would leave the device with none at all, so it is a fair queue without
 * a port where no port can be.
 */
static int bfc_join(struct Qdisc *sch, struct bfc_sched *q, struct netlink_ext_ack *extack)
{
	struct hop_config port = bfc_port_config(&q->config);
	int err = hop_member_join(&q->member, sch, q->config.queues, &port, &bfc_member_ops,
				  extack);

	if (!err && q->config.roots)
		err = hop_roots_use(&q->member);
	if (!err || !bfc_is_default(sch))
		return err;
	q->config.pause = BFC_PAUSE_NONE;
	q->config.tag = false;
	hop_member_alone(&q->member);
	return 0;
}

int bfc_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct bfc_sched *q = qdisc_priv(sch);
	struct hop_pool *pool;
	int err;

	/* Enough for destroy() to run after any failure below. */
	__skb_queue_head_init(&q->control);
	hop_subqs_init(&q->subqs);
	hop_flow_secret_draw(&q->flow_secret);
	q->changed_ns = ktime_get_ns();
	q->config = bfc_defaults;
	q->config.queues = hop_member_share(sch, q->config.queues);
	/* whoever types it may want classes, most numbers of which divide the default */
	if (!bfc_is_default(sch))
		q->config.queues = max(round_down(q->config.queues, BFC_CLASSES_MAX),
				       BFC_CLASSES_MAX);

	err = bfc_parse(opt, &q->config, true, extack);
	if (err)
		return err;
	err = tcf_block_get(&q->filters.block, &q->filters.list, sch, extack);
	if (err)
		return err;
	err = bfc_allocate(q);
	if (err)
		return err;
	err = hop_buffer_find(&q->buffer, sch, q->config.pool, opt, TCA_BFC_POOL, &pool, extack);
	if (err)
		return err;
	hop_buffer_switch(&q->buffer, pool, 0);
	err = bfc_join(sch, q, extack);
	if (err)
		return err;
	bfc_recompute(q, READ_ONCE(*q->member.hrtt_ns), READ_ONCE(*q->member.speed));
	bfc_warn(q, extack);
	hop_port_holds_back(sch);
	return 0;
}

void bfc_destroy(struct Qdisc *sch)
{
	struct bfc_sched *q = qdisc_priv(sch);

	tcf_block_put(q->filters.block);
	bfc_reset(sch);
	hop_pool_put(q->buffer.pool);
	hop_member_leave(&q->member);
	bfc_free(q);
}
