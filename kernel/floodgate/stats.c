// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - what floodgate says of itself: statistics, and classes that show its slots
 */
#include "../sched/classes.h"
#include "../sched/counters.h"
#include "../sched/stats.h"
#include "floodgate.h"

/* What is not in struct floodgate_stats, at the time of the dump */
struct floodgate_now {
	u64	time_ns;
	u64	rate;
	u64	outstanding;
	u64	pool_used;
	u64	pool_max;
	u32	windows;
	u32	window;
	u32	threshold;
	u32	interval_ns;
	u32	used;
	u32	voqs;
	u32	voq_backlog;
	u32	pool_size;
	u32	queued;
	u32	paused;
	u32	pause_bytes;
	u32	resume_bytes;
	u32	pfc_queued;
	u32	pfc_paused;
	u64	pfc_obeyed;
	u64	pfc_paused_ns;
};

#include "floodgate_counter_rows.h"

static u64 stats_outstanding(const struct floodgate_sched *q)
{
	const struct floodgate_slot *slot;
	u64 sum = 0;

	list_for_each_entry(slot, &q->owing, owing)
		sum += hop_ledger_outstanding(&slot->sent);
	return sum;
}

static void floodgate_look(struct floodgate_sched *q, struct floodgate_now *now)
{
	now->rate = q->rate;
	now->outstanding = q->windows ? stats_outstanding(q) : 0;
	now->windows = q->windows;
	now->window = q->window;
	now->threshold = q->threshold;
	now->interval_ns = q->interval_ns;
	now->used = q->used;
	now->voqs = q->voqs;
	now->voq_backlog = q->voq_backlog;
	now->queued = q->member.marked - q->stats.pfc.queued;
	now->pfc_queued = q->stats.pfc.queued;
	now->pfc_paused = q->held.on;
	now->pfc_obeyed = q->held.times;
	now->pfc_paused_ns = hop_xoff_held_ns(&q->held, now->time_ns);
	now->paused = memweight(q->paused, sizeof(q->paused));
	now->pause_bytes = q->pauses ? q->pause_bytes : 0;
	now->resume_bytes = q->pauses ? q->resume_bytes : 0;
	if (!q->buffer.pool)
		return;
	now->pool_size = hop_pool_size(q->buffer.pool);
	now->pool_used = atomic_long_read(&q->buffer.pool->used);
	now->pool_max = atomic_long_read(&q->buffer.pool->used_max);
}

int floodgate_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct floodgate_sched *q = qdisc_priv(sch);
	struct floodgate_now now = {};
	struct floodgate_stats stats;
	struct nlattr *nest;
	bool full;

	sch_tree_lock(sch);
	now.time_ns = ktime_get_ns();
	floodgate_follow_link(q);
	floodgate_catch_up(q);
	if (!list_empty(&q->round))	/* what may leave now was perhaps not called before */
		__netif_schedule(qdisc_root_bh(sch));
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now.time_ns);
	stats = q->stats;
	floodgate_look(q, &now);
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(floodgate_counters, ARRAY_SIZE(floodgate_counters), &stats,
				 d->skb, TCA_FLOODGATE_STATS_PAD) ||
	       hop_counters_dump(floodgate_now_counters, ARRAY_SIZE(floodgate_now_counters), &now,
				 d->skb, TCA_FLOODGATE_STATS_PAD) ||
	       hop_port_dump(&q->member, d->skb, TCA_FLOODGATE_STATS_PORT);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * The FIFO, the control class, and slots with a destination: see sched/classes.h.
 */

static unsigned long floodgate_find(struct Qdisc *sch, u32 classid)
{
	const struct floodgate_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	if (minor == FLOODGATE_MINOR_DATA || minor == FLOODGATE_MINOR_CONTROL)
		return minor;
	return minor - FLOODGATE_MINOR_SLOT < q->config.slots ? minor : 0;
}

static void floodgate_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	const struct floodgate_sched *q = qdisc_priv(sch);
	u32 n;

	if (arg->stop || !hop_walk_one(sch, arg, FLOODGATE_MINOR_DATA) ||
	    !hop_walk_one(sch, arg, FLOODGATE_MINOR_CONTROL))
		return;
	for (n = 0; n < q->config.slots && !arg->stop; n++) {
		if (READ_ONCE(q->slots[n].dest))
			hop_walk_one(sch, arg, FLOODGATE_MINOR_SLOT + n);
		else
			arg->count++;
	}
}

static int floodgate_put_fifo(struct Qdisc *sch, struct gnet_dump *d)
{
	const struct floodgate_sched *q = qdisc_priv(sch);
	struct gnet_stats_queue qs = {
		.qlen = READ_ONCE(q->fifo.qlen),
		.backlog = READ_ONCE(q->backlog) - READ_ONCE(q->voq_backlog),
	};

	return gnet_stats_copy_queue(d, NULL, &qs, qs.qlen);
}

/* What a slot is about, at one moment */
struct slot_now {
	struct floodgate_key	key;
	u64			outstanding;
	u64			out;
	u32			window;
	u32			max;
	u32			why;
	struct gnet_stats_queue	qs;
	u64			packets;
	u64			bytes;
};

static enum floodgate_waits slot_why(const struct floodgate_slot *slot)
{
	if (!slot->voq)
		return FLOODGATE_WAITS_NOT;
	if (!floodgate_is_first(slot))
		return FLOODGATE_WAITS_OTHERS;
	if (slot->voq->ready)
		return FLOODGATE_WAITS_TURN;
	return slot->paused ? FLOODGATE_WAITS_PAUSE : FLOODGATE_WAITS_WINDOW;
}

/* What its bytes are bound by; unlike floodgate_window() it changes nothing. */
static u32 slot_window(const struct floodgate_slot *slot)
{
	const struct floodgate_sched *q = slot->q;

	if (!q->windows)
		return 0;
	return q->config.scope == FLOODGATE_SCOPE_PORT || !READ_ONCE(slot->dest->widest) ?
		q->window : READ_ONCE(slot->dest->window);
}

static void slot_look(struct Qdisc *sch, const struct floodgate_slot *slot, struct slot_now *now)
{
	const struct floodgate_dest *dest;

	sch_tree_lock(sch);
	dest = slot->dest;
	now->packets = slot->packets;
	now->bytes = slot->bytes;
	now->max = slot->backlog_max;
	now->outstanding = hop_ledger_outstanding(&slot->sent);
	now->qs = (struct gnet_stats_queue) { .qlen = slot->qlen, .backlog = slot->backlog };
	if (dest) {
		now->key = dest->key;
		now->out = slot->q->config.scope == FLOODGATE_SCOPE_PORT ?
			   slot->counted : atomic64_read(&dest->out);
		now->window = slot_window(slot);
		now->why = slot_why(slot);
	}
	sch_tree_unlock(sch);
}

/* An address, and how much of it counts if that is not all */
static bool slot_put_address(struct sk_buff *skb, const struct floodgate_key *key, int bytes)
{
	u32 prefix = key->type >> FLOODGATE_KEY_PREFIX_SHIFT & FLOODGATE_KEY_PREFIX_MASK;

	return nla_put(skb, TCA_FLOODGATE_CLASS_ADDRESS, bytes, key->word) ||
	       (prefix < 8 * bytes && nla_put_u32(skb, TCA_FLOODGATE_CLASS_PREFIX, prefix));
}

static bool slot_put_key(struct sk_buff *skb, const struct floodgate_key *key)
{
	u16 type = key->type & FLOODGATE_KEY_ETHERTYPE;

	if (key->type & FLOODGATE_KEY_VLAN &&
	    nla_put_u32(skb, TCA_FLOODGATE_CLASS_VLAN, key->vids))
		return true;
	if (type == ETH_P_IP)
		return slot_put_address(skb, key, 4);
	if (type == ETH_P_IPV6)
		return slot_put_address(skb, key, 16);
	return nla_put(skb, TCA_FLOODGATE_CLASS_MAC, ETH_ALEN, key->word);
}

static int floodgate_put_slot(struct Qdisc *sch, u32 n, struct gnet_dump *d)
{
	const struct floodgate_sched *q = qdisc_priv(sch);
	struct slot_now now = {};
	struct nlattr *nest;
	bool full;

	slot_look(sch, &q->slots[n], &now);
	if (hop_put_sent(d, now.packets, now.bytes) < 0 ||
	    gnet_stats_copy_queue(d, NULL, &now.qs, now.qs.qlen) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest || slot_put_key(d->skb, &now.key) ||
	       nla_put_u32(d->skb, TCA_FLOODGATE_CLASS_WAITS, now.why) ||
	       nla_put_u32(d->skb, TCA_FLOODGATE_CLASS_WINDOW, now.window) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOODGATE_CLASS_USED, now.out,
				 TCA_FLOODGATE_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOODGATE_CLASS_OUTSTANDING, now.outstanding,
				 TCA_FLOODGATE_CLASS_PAD) ||
	       nla_put_u32(d->skb, TCA_FLOODGATE_CLASS_BACKLOG_MAX, now.max);
	return hop_nest_end(d->skb, nest, full);
}

static int floodgate_dump_class_stats(struct Qdisc *sch, unsigned long minor,
				      struct gnet_dump *d)
{
	struct floodgate_sched *q = qdisc_priv(sch);

	if (minor == FLOODGATE_MINOR_DATA)
		return floodgate_put_fifo(sch, d);
	if (minor == FLOODGATE_MINOR_CONTROL)
		return hop_control_dump(d, &q->intake.control,
					READ_ONCE(q->stats.intake.drop_control));
	return floodgate_put_slot(sch, minor - FLOODGATE_MINOR_SLOT, d);
}

const struct Qdisc_class_ops floodgate_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= floodgate_find,
	.walk		= floodgate_walk,
	.dump		= hop_class_dump,
	.dump_stats	= floodgate_dump_class_stats,
};
