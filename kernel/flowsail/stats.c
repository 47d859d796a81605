// SPDX-License-Identifier: GPL-2.0-only
/*
 * stats.c - what flowsail says of itself: statistics, and classes that show sub-queues and flows
 */
#include "../sched/classes.h"
#include "../sched/counters.h"
#include "../sched/stats.h"
#include "flowsail.h"

#define FLOWSAIL_NAME_STEPS	64	/* packets looked at for one of a flow, under the lock */

/* What is worked out at the time of the dump */
struct flowsail_now {
	u64	time_ns;
	u64	rate;
	u64	pool_used;
	u64	pool_max;
	u32	pool_size;
	u32	ql;
	u32	qh;
	u32	resume;
	u32	n_active;
	u32	backlogged;
	u32	marked;
	u32	hrtt_ns;
	u32	pfc_queued;
	u32	pfc_paused;
	u64	pfc_obeyed;
	u64	pfc_paused_ns;
};

#include "flowsail_counter_rows.h"

static void flowsail_now(struct flowsail_sched *q, struct flowsail_now *now)
{
	now->n_active = flowsail_n_active(q);
	flowsail_rethink(q, now->n_active);
	now->ql = q->ql;
	now->qh = q->qh;
	now->resume = q->resume;
	now->backlogged = q->subqs.backlogged;
	now->marked = q->member.marked - q->stats.pfc.queued;
	now->pfc_queued = q->stats.pfc.queued;
	now->pfc_paused = q->held.on;
	now->pfc_obeyed = q->held.times;
	now->pfc_paused_ns = hop_xoff_held_ns(&q->held, now->time_ns);
	now->rate = q->rate;
	now->hrtt_ns = q->hrtt_seen;
	if (!q->buffer.pool)
		return;
	now->pool_size = hop_pool_size(q->buffer.pool);
	now->pool_used = atomic_long_read(&q->buffer.pool->used);
	now->pool_max = atomic_long_read(&q->buffer.pool->used_max);
}

int flowsail_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	struct flowsail_now now = {};
	struct flowsail_stats stats;
	struct nlattr *nest;
	bool full;

	sch_tree_lock(sch);
	now.time_ns = ktime_get_ns();
	if (hop_paused_changed(&q->member, q->paused_seen))
		flowsail_merge_paused(q, now.time_ns);
	flowsail_follow_link(q);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now.time_ns);
	flowsail_paused_moves(q, now.time_ns);
	flowsail_now(q, &now);
	stats = q->stats;
	sch_tree_unlock(sch);

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       hop_counters_dump(flowsail_counters, ARRAY_SIZE(flowsail_counters), &stats, d->skb,
				 TCA_FLOWSAIL_STATS_PAD) ||
	       hop_counters_dump(flowsail_now_counters, ARRAY_SIZE(flowsail_now_counters), &now,
				 d->skb, TCA_FLOWSAIL_STATS_PAD) ||
	       hop_port_dump(&q->member, d->skb, TCA_FLOWSAIL_STATS_PORT);
	return hop_nest_end(d->skb, nest, full);
}

/* ---- classes ----
 *
 * Strict-priority classes, the control class, and sub-queues: see sched/classes.h. And flows that
 * are held, or in isolation.
 */

static struct hop_subq *flowsail_minor_queue(const struct flowsail_sched *q, unsigned long minor)
{
	if (minor < FLOWSAIL_MINOR_QUEUE || minor - FLOWSAIL_MINOR_QUEUE >= q->subqs.count)
		return NULL;
	return &q->subqs.queues[minor - FLOWSAIL_MINOR_QUEUE];
}

static struct flowsail_flow *flowsail_minor_flow(const struct flowsail_sched *q,
						 unsigned long minor)
{
	if (minor < FLOWSAIL_MINOR_FLOW || minor - FLOWSAIL_MINOR_FLOW >= q->config.slots)
		return NULL;
	return &q->flows[minor - FLOWSAIL_MINOR_FLOW];
}

static unsigned long flowsail_find(struct Qdisc *sch, u32 classid)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	u32 minor = TC_H_MIN(classid);

	return hop_prio_minor(&q->config.prio, classid) >= 0 || flowsail_minor_queue(q, minor) ||
			       flowsail_minor_flow(q, minor) ? minor : 0;
}

static unsigned long flowsail_bind(struct Qdisc *sch, unsigned long parent, u32 classid)
{
	return flowsail_find(sch, classid);
}

static struct tcf_block *flowsail_tcf_block(struct Qdisc *sch, unsigned long minor,
					    struct netlink_ext_ack *extack)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	return minor ? NULL : q->filters.block;
}

/* A device that hangs takes over nothing. */
static void flowsail_catch_up(struct Qdisc *sch)
{
	struct flowsail_sched *q = qdisc_priv(sch);

	sch_tree_lock(sch);
	if (hop_paused_changed(&q->member, q->paused_seen))
		flowsail_merge_paused(q, ktime_get_ns());
	sch_tree_unlock(sch);
}

static void flowsail_walk(struct Qdisc *sch, struct qdisc_walker *arg)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	u32 n;

	if (!arg->skip)
		flowsail_catch_up(sch);
	hop_classes_walk(sch, arg, &q->subqs, q->config.prio.classes, FLOWSAIL_MINOR_CONTROL,
			 FLOWSAIL_MINOR_QUEUE);
	for (n = 0; n < q->config.slots && !arg->stop; n++) {
		if (READ_ONCE(q->flows[n].state) & FLOWSAIL_PAUSED || READ_ONCE(q->flows[n].apart))
			hop_walk_one(sch, arg, FLOWSAIL_MINOR_FLOW + n);
		else
			arg->count++;
	}
}

static int flowsail_dump_class(struct Qdisc *sch, unsigned long minor, struct sk_buff *skb,
			       struct tcmsg *tcm)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	const struct flowsail_flow *flow = flowsail_minor_flow(q, minor);

	hop_subq_dump(sch, minor, skb, tcm, flowsail_minor_queue(q, minor));
	if (flow)
		tcm->tcm_parent = TC_H_MAKE(sch->handle, READ_ONCE(flow->class) + 1);
	return 0;
}

static u32 flowsail_waits(const struct hop_subq *sub)
{
	u8 held = READ_ONCE(sub->held);

	if (!READ_ONCE(sub->packets))
		return FLOWSAIL_WAITS_NOT;
	if (held & HOP_HELD_PAUSED)
		return FLOWSAIL_WAITS_PAUSE;
	return held ? FLOWSAIL_WAITS_ORDER : FLOWSAIL_WAITS_TURN;
}

static u32 flowsail_role(const struct flowsail_sched *q, u32 n)
{
	return n < q->isolation ? FLOWSAIL_ROLE_NORMAL :
	       n < q->own ? FLOWSAIL_ROLE_ISOLATION : FLOWSAIL_ROLE_OWN;
}

static int flowsail_put_queue(const struct flowsail_sched *q, const struct hop_subq *sub,
			      struct gnet_dump *d)
{
	const struct hop_subq_stats *stats = hop_subq_stats(&q->subqs, sub);
	u64 paused_ns = hop_subq_paused_ns(sub, stats, ktime_get_ns());
	struct nlattr *nest;
	bool full;

	if (hop_subq_put(d, sub, stats) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_WAITS, flowsail_waits(sub)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_ROLE,
			   flowsail_role(q, sub - q->subqs.queues)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_FLOWS, READ_ONCE(sub->flows)) ||
	       nla_put_s32(d->skb, TCA_FLOWSAIL_CLASS_DEFICIT, READ_ONCE(sub->deficit)) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_BACKLOG_MAX, READ_ONCE(sub->backlog_max)) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_PAUSES, READ_ONCE(stats->pauses),
				 TCA_FLOWSAIL_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_PAUSED_TIME, paused_ns,
				 TCA_FLOWSAIL_CLASS_PAD) ||
	       nla_put_u64_64bit(d->skb, TCA_FLOWSAIL_CLASS_MARKS, READ_ONCE(stats->marks),
				 TCA_FLOWSAIL_CLASS_PAD);
	return hop_nest_end(d->skb, nest, full);
}

/* What headers say of a flow. The table knows flows by hashes, so a packet of it is asked. */
struct flow_name {
	u8	source[sizeof(struct in6_addr)];
	u8	destination[sizeof(struct in6_addr)];
	__be16	ports[2];
	u8	bytes;		/* of an address, 0: not known */
	u8	protocol;	/* of IPv6 the first next header */
	bool	has_ports;
	u32	vids;
};

/* A flow at one moment */
struct flow_now {
	struct flow_name	name;
	u32			waits;
	u32			root;
	u32			normal;
	u32			apart;
	struct gnet_stats_queue	qs;
};

/* What the parser takes for the ports of ESP is the SPI. */
static void name_ports(struct flow_name *name, const struct sk_buff *skb, int at)
{
	name->has_ports = name->protocol != IPPROTO_ESP && hop_parse_has_ports(name->protocol) &&
			  !skb_copy_bits(skb, at, name->ports, sizeof(name->ports));
}

static void name_ipv4(struct flow_name *name, const struct sk_buff *skb, int at)
{
	const struct iphdr *ip;
	struct iphdr buf;

	ip = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!ip || ip->ihl < 5)
		return;
	name->bytes = sizeof(ip->saddr);
	memcpy(name->source, &ip->saddr, sizeof(ip->saddr));
	memcpy(name->destination, &ip->daddr, sizeof(ip->daddr));
	name->protocol = ip->protocol;
	if (!hop_parse_is_fragment((const u8 *)ip))
		name_ports(name, skb, at + ip->ihl * 4);
}

static void name_ipv6(struct flow_name *name, const struct sk_buff *skb, int at)
{
	const struct ipv6hdr *ip;
	struct ipv6hdr buf;

	ip = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!ip)
		return;
	name->bytes = sizeof(ip->saddr);
	memcpy(name->source, &ip->saddr, sizeof(ip->saddr));
	memcpy(name->destination, &ip->daddr, sizeof(ip->daddr));
	name->protocol = ip->nexthdr;
	name_ports(name, skb, at + sizeof(*ip));
}

/* One of its packets, if there is one among the first of a sub-queue: others wait for those. */
static const struct sk_buff *flow_packet(const struct hop_subq *sub, u32 n)
{
	const struct sk_buff *skb = sub->head;
	int steps;

	for (steps = 0; skb && steps < FLOWSAIL_NAME_STEPS; steps++, skb = skb->next)
		if (flowsail_cb(skb)->flow == n)
			return skb;
	return NULL;
}

static void flow_look_for_name(const struct flowsail_sched *q, u32 n, struct flow_name *name)
{
	const struct flowsail_flow *flow = &q->flows[n];
	const struct sk_buff *skb = NULL;
	struct hop_network net;

	if (flow->packets)
		skb = flow_packet(&q->subqs.queues[flow->queue], n);
	if (!skb && flow->apart)
		skb = flow_packet(&q->subqs.queues[flow->isolation], n);
	if (!skb)
		return;
	net = hop_network(skb);
	name->vids = net.vids;
	if (net.type == ETH_P_IP)
		name_ipv4(name, skb, net.at);
	else if (net.type == ETH_P_IPV6)
		name_ipv6(name, skb, net.at);
}

static u32 flow_waits(const struct flowsail_sched *q, const struct flowsail_flow *flow)
{
	u16 queue = flow->packets ? flow->queue : flow->isolation;

	if (flow->state & FLOWSAIL_PAUSED)
		return FLOWSAIL_WAITS_PAUSE;
	if (!flow->packets && !flow->apart)
		return FLOWSAIL_WAITS_NOT;
	if (q->held.on)
		return FLOWSAIL_WAITS_PAUSE;
	if (q->subqs.queues[queue].held)
		return FLOWSAIL_WAITS_OTHERS;
	return flow->packets && flow->apart ? FLOWSAIL_WAITS_ORDER : FLOWSAIL_WAITS_TURN;
}

static void flow_look_at(struct Qdisc *sch, u32 n, struct flow_now *now)
{
	const struct flowsail_sched *q = qdisc_priv(sch);
	const struct flowsail_flow *flow = &q->flows[n];

	sch_tree_lock(sch);
	flow_look_for_name(q, n, &now->name);
	if (flow->state & FLOWSAIL_ISOLATED)
		now->root = q->roots[n];
	now->waits = flow_waits(q, flow);
	now->normal = flow->bytes;
	now->apart = flow->apart_bytes;
	now->qs.qlen = flow->packets + flow->apart;
	now->qs.backlog = flow->bytes + flow->apart_bytes;
	sch_tree_unlock(sch);
}

static bool flow_put_name(struct sk_buff *skb, const struct flow_name *name)
{
	if (name->vids && nla_put_u32(skb, TCA_FLOWSAIL_CLASS_VLAN, name->vids))
		return true;
	return name->bytes &&
	       (nla_put(skb, TCA_FLOWSAIL_CLASS_SOURCE, name->bytes, name->source) ||
		nla_put(skb, TCA_FLOWSAIL_CLASS_DESTINATION, name->bytes, name->destination) ||
		nla_put_u32(skb, TCA_FLOWSAIL_CLASS_PROTOCOL, name->protocol) ||
		(name->has_ports &&
		 (nla_put_u32(skb, TCA_FLOWSAIL_CLASS_SOURCE_PORT, ntohs(name->ports[0])) ||
		  nla_put_u32(skb, TCA_FLOWSAIL_CLASS_DESTINATION_PORT, ntohs(name->ports[1])))));
}

static int flowsail_put_flow(struct Qdisc *sch, u32 n, struct gnet_dump *d)
{
	struct flow_now now = {};
	struct nlattr *nest;
	bool full;

	flow_look_at(sch, n, &now);
	if (gnet_stats_copy_queue(d, NULL, &now.qs, now.qs.qlen) < 0)
		return -1;
	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	full = !nest || nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_WAITS, now.waits) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_ROLE, FLOWSAIL_ROLE_FLOW) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_SLOT, n) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_NORMAL, now.normal) ||
	       nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_APART, now.apart) ||
	       flow_put_name(d->skb, &now.name) ||
	       (now.root && nla_put_u32(d->skb, TCA_FLOWSAIL_CLASS_ROOT, now.root));
	return hop_nest_end(d->skb, nest, full);
}

static int flowsail_dump_class_stats(struct Qdisc *sch, unsigned long minor, struct gnet_dump *d)
{
	struct flowsail_sched *q = qdisc_priv(sch);
	const struct hop_subq *sub = flowsail_minor_queue(q, minor);

	if (sub)
		return flowsail_put_queue(q, sub, d);
	if (flowsail_minor_flow(q, minor))
		return flowsail_put_flow(sch, minor - FLOWSAIL_MINOR_FLOW, d);
	if (minor == FLOWSAIL_MINOR_CONTROL)
		return hop_control_dump(d, &q->intake.control,
					READ_ONCE(q->stats.intake.drop_control));
	return hop_class_put(d, &q->subqs, minor - 1);
}

const struct Qdisc_class_ops flowsail_class_ops = {
	.leaf		= hop_class_leaf,
	.find		= flowsail_find,
	.walk		= flowsail_walk,
	.tcf_block	= flowsail_tcf_block,
	.bind_tcf	= flowsail_bind,
	.unbind_tcf	= hop_class_unbind,
	.dump		= flowsail_dump_class,
	.dump_stats	= flowsail_dump_class_stats,
};
