/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * classes.h - strict-priority classes of sub-queues: whose turn it is, and what tc shows of them
 *
 * tc's classes are a kind's own classes, its control class and its sub-queues. None can be changed,
 * and none has a qdisc inside. Internally (find, walk) each is its minor number, which is never 0.
 */
#ifndef _SLUICE_SCHED_CLASSES_H
#define _SLUICE_SCHED_CLASSES_H

#include <net/gen_stats.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "drr.h"
#include "subq.h"

/* ---- turns ---- */

/* hop_class_turn(): a frame of the MTU */
static inline u32 hop_quantum_mtu(struct Qdisc *sch)
{
	return psched_mtu(qdisc_dev(sch));
}

/**
 * hop_class_turn - the sub-queue whose turn it is, see drr.h
 * @s: the sub-queues
 * @class: the class, with a sub-queue that is ready
 * @quantum: says how many bytes each turn has; asked when one begins
 * @sch: what @quantum gets
 *
 * Who takes a packet takes its bytes from the sub-queue's deficit.
 */
static inline struct hop_subq *
hop_class_turn(const struct hop_subqs *s, struct hop_class *class,
	       u32 (*quantum)(struct Qdisc *sch), struct Qdisc *sch)
{
	struct hop_subq *first = &s->queues[class->first];

	if (!hop_drr_goes_on(first[class->cursor].deficit,
			     hop_bitset_has(&class->ready, class->cursor)))
		hop_drr_next(&class->ready, &class->cursor, &first->deficit, sizeof(*first),
			     quantum(sch));
	return first + class->cursor;
}

/* The first class that can send, or NULL */
static inline struct hop_class *hop_class_ready(const struct hop_subqs *s, u32 classes)
{
	struct hop_class *class;

	for (class = s->classes; class < s->classes + classes; class++)
		if (!hop_bitset_empty(&class->ready))
			return class;
	return NULL;
}

/**
 * hop_classes_none_ready - nothing waits for the device: all that there is is held
 * @s: the sub-queues
 * @classes: how many classes there are
 * @control: control packets, which nobody holds
 *
 * As of what was last taken over from the neighbour. Context: any.
 */
static inline bool hop_classes_none_ready(const struct hop_subqs *s, u32 classes,
					  const struct sk_buff_head *control)
{
	return !hop_class_ready(s, classes) && skb_queue_empty_lockless(control);
}

/* ---- what tc shows ---- */

/* Qdisc_class_ops.leaf */
static inline struct Qdisc *hop_class_leaf(struct Qdisc *sch, unsigned long minor)
{
	return NULL;
}

/* Qdisc_class_ops.dump, for classes none of which is below another */
static inline int hop_class_dump(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
				 struct tcmsg *tcm)
{
	tcm->tcm_handle |= TC_H_MIN(minor);
	tcm->tcm_parent = TC_H_ROOT;
	return 0;
}

/**
 * hop_walk_subqs - show a walker sub-queues
 * @sch: the qdisc
 * @arg: the walker
 * @s: the sub-queues
 * @minor: of the first one
 *
 * Thousands were never used nor paused, as a rule; only the others are shown.
 */
static inline void hop_walk_subqs(struct Qdisc *sch, struct qdisc_walker *arg,
				  const struct hop_subqs *s, unsigned long minor)
{
	u32 i;

	for (i = 0; i < s->count && !arg->stop; i++) {
		if (!READ_ONCE(s->queues[i].backlog_max) && !READ_ONCE(s->queues[i].last_ns))
			arg->count++;
		else
			hop_walk_one(sch, arg, minor + i);
	}
}

/* Qdisc_class_ops.unbind_tcf: filters hold no class. */
static inline void hop_class_unbind(struct Qdisc *sch, unsigned long minor)
{
}

/* Qdisc_class_ops.dump of a sub-queue, which is below its class; NULL: of any other class */
static inline int hop_subq_dump(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
				struct tcmsg *tcm, const struct hop_subq *sub)
{
	hop_class_dump(sch, minor, skb, tcm);
	if (sub)
		tcm->tcm_parent = TC_H_MAKE(sch->handle, READ_ONCE(sub->class) + 1);
	return 0;
}

/**
 * hop_classes_walk - show a walker strict-priority classes, the control class and sub-queues
 * @sch: the qdisc
 * @arg: the walker
 * @s: the sub-queues
 * @classes: how many classes there are; they are 1 and up
 * @control: minor of the control class
 * @minor: of the first sub-queue
 */
static inline void hop_classes_walk(struct Qdisc *sch, struct qdisc_walker *arg,
				    const struct hop_subqs *s, u32 classes, unsigned long control,
				    unsigned long minor)
{
	u32 i;

	if (arg->stop)
		return;
	for (i = 1; i <= classes; i++)
		if (!hop_walk_one(sch, arg, i))
			return;
	if (hop_walk_one(sch, arg, control))
		hop_walk_subqs(sch, arg, s, minor);
}

/* What tc shows of a strict-priority class. Return: below 0 if there is no room. */
static inline int hop_class_put(struct gnet_dump *d, const struct hop_subqs *s, u8 number)
{
	const struct hop_sent *moved = &s->classes[number].moved;
	struct gnet_stats_queue qs = { .drops = READ_ONCE(moved->drops) };
	u64 packets = READ_ONCE(moved->packets), bytes = READ_ONCE(moved->bytes);
	u32 i;

	for (i = 0; i < s->count; i++) {
		if (READ_ONCE(s->queues[i].class) != number)
			continue;
		qs.qlen += READ_ONCE(s->queues[i].packets);
		qs.backlog += READ_ONCE(s->queues[i].backlog);
		qs.drops += READ_ONCE(s->stats[i].drops);
		packets += READ_ONCE(s->stats[i].sent);
		bytes += READ_ONCE(s->stats[i].sent_bytes);
	}
	if (hop_put_sent(d, packets, bytes) < 0)
		return -1;
	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

/* What tc shows of a control class. Return: below 0 if there is no room. */
static inline int hop_control_dump(struct gnet_dump *d, const struct sk_buff_head *control,
				   u64 drops)
{
	struct gnet_stats_queue qs = {
		.qlen = skb_queue_len_lockless(control),
		.drops = drops,
	};

	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

/* ---- a kind whose classes are its sub-queues, and whose private area begins with them ---- */

static inline unsigned long hop_subqs_find(struct Qdisc *sch, u32 classid)
{
	const struct hop_subqs *s = qdisc_priv(sch);

	return TC_H_MIN(classid) <= s->count ? TC_H_MIN(classid) : 0;
}

static inline void hop_subqs_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	hop_walk_subqs(sch, arg, qdisc_priv(sch), 1);
}

static inline int hop_subqs_dump_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	const struct hop_subqs *s = qdisc_priv(sch);

	return hop_subq_put(d, &s->queues[minor - 1], &s->stats[minor - 1]);
}

static const struct Qdisc_class_ops hop_subqs_class_ops __maybe_unused = {
	.leaf		= hop_class_leaf,
	.find		= hop_subqs_find,
	.walk		= hop_subqs_walk,
	.dump		= hop_class_dump,
	.dump_stats	= hop_subqs_dump_stats,
};

#endif
