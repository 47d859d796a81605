// SPDX-License-Identifier: GPL-2.0-only
/*
 * port.c - ports and their members: creation, configuration, farewell
 *
 * A port is created by the first qdisc that joins and outlives the last one by
 * HOP_LINGER_NS: until the neighbour has heard our GOODBYE, or has missed our HELLOs, it goes
 * on tagging, and a frame whose tag nobody takes off is a lost frame. A qdisc that comes back
 * meanwhile finds the same port, with another epoch. Qdiscs are destroyed before
 * NETDEV_UNREGISTER is sent, so a device that is removed or moved to another namespace takes
 * its port away at once.
 *
 * Each member keeps its own configuration. The port goes by that of the member that was made or
 * changed last of those that are left, and announces the kinds of all. So a qdisc that goes, also
 * because it was refused after it had joined, takes along what it had said.
 *
 * Life and death are under RTNL: hop_ports, members and the linger time need no other lock.
 * The lingering ports are visited by one delayed work, so that none of them owns a work that
 * would have to be waited for.
 */
#include <linux/if_arp.h>
#include <linux/netfilter_netdev.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "port.h"
#include "speed.h"

static void ports_reap(struct work_struct *work);
static DECLARE_DELAYED_WORK(reap_work, ports_reap);

static void ports_settle(struct work_struct *work);
static DECLARE_WORK(settle_work, ports_settle);

static u64 config_order;	/* of the last configuration; RTNL */

/* Masters hand packets to their lower devices, which have neighbours; they have none. */
static const struct {
	bool (*is)(const struct net_device *dev);
	const char *refusal;
} masters[] = {
	{ netif_is_bridge_master, "a bridge has no neighbour: use the ports of the bridge" },
	{ netif_is_bond_master, "a bond has no neighbour: use the slaves of the bond" },
	{ netif_is_team_master, "a team has no neighbour: use the ports of the team" },
	{ netif_is_lag_master, "an aggregate has no neighbour: use its lower devices" },
	{ netif_is_ovs_master, "a switch has no neighbour: use the ports of the switch" },
	{ netif_is_l3_master, "a VRF has no neighbour: use the lower devices of the VRF" },
};

static int device_validate(const struct net_device *dev, struct netlink_ext_ack *extack)
{
	unsigned int i;

	if (dev->type != ARPHRD_ETHER || dev->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "not an Ethernet device: no neighbour to speak to");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ARRAY_SIZE(masters); i++) {
		if (!masters[i].is(dev))
			continue;
		if (extack)
			extack->_msg = masters[i].refusal;
		return -EOPNOTSUPP;
	}
	return 0;
}

struct hop_port *hop_port_find(const struct net_device *dev)
{
	struct hop_port *port;

	ASSERT_RTNL();
	list_for_each_entry(port, &hop_ports, node)
		if (port->dev == dev)
			return port;
	return NULL;
}

static u32 epoch_draw(u32 last)
{
	u32 epoch;

	do {
		epoch = get_random_u32();
	} while (!epoch || epoch == last);
	return epoch;
}

/* HELLOs fast again: something has changed that the neighbour should know soon. */
static void port_hurry(struct hop_port *port, u64 now)
{
	port->hello_gap = HOP_HELLO_FIRST_NS;
	port->hello_at = now;
	hop_port_wake(port);
}

/* A new life under a new epoch: whatever was said under the old one counts no more. */
static void port_start(struct hop_port *port)
{
	spin_lock_bh(&port->lock);
	port->epoch = epoch_draw(port->epoch);
	hop_port_event(port, HOP_EVENT_PORT_NEW);
	port->leaving = false;
	port->queues_most = 0;
	port->hello_at = U64_MAX;	/* it has to be configured first */
	memset(port->cand, 0, sizeof(port->cand));
	spin_unlock_bh(&port->lock);
}

/* The hook is a packet's first stop in software; a network card that filters by address has to be
 * told which to let in, unless something above the device asks for all.
 */
static const u8 control_address[ETH_ALEN] = HOP_DEST_MAC;

static int port_hook(struct hop_port *port)
{
	int err = dev_mc_add(port->dev, control_address);

	if (err)
		return err;
	port->ops = (struct nf_hook_ops) {
		.hook		= hop_rx_hook,
		.dev		= port->dev,
		.priv		= port,
		.pf		= NFPROTO_NETDEV,
		.hooknum	= NF_NETDEV_INGRESS,
		/* first: what comes after us sees frames as they were sent */
		.priority	= INT_MIN,
	};
	err = nf_register_net_hook(dev_net(port->dev), &port->ops);
	if (err)
		dev_mc_del(port->dev, control_address);
	return err;
}

static void port_unhook(struct hop_port *port)
{
	nf_unregister_net_hook(dev_net(port->dev), &port->ops);
	dev_mc_del(port->dev, control_address);
}

static void port_init(struct hop_port *port, struct net_device *dev, struct hop_net *net)
{
	unsigned int cpu;

	port->dev = dev;
	port->net = net;
	port->strip_at = U64_MAX;
	port->watch_at = U64_MAX;
	port->calm_at = U64_MAX;
	port->probing.again_ns = U64_MAX;
	port->sampled = HOP_REACTION_NONE;
	hop_reaction_reset(&port->reaction);
	port->echo_tokens = HOP_ECHO_BURST;
	port->state = HOP_STATE_NO_CARRIER;
	hop_streams_init(port);
	hop_blocks_init(port);
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(port->pcpu, cpu)->syncp);
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->members);
	tasklet_setup(&port->work, hop_tx_work);
	hrtimer_init(&port->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	port->timer.function = hop_tx_timer;
}

static struct hop_port *port_create(struct net_device *dev, struct netlink_ext_ack *extack)
{
	struct hop_net *net = hop_net_of(dev);
	struct hop_port *port;
	int err;

	err = hop_net_counters(net);
	if (err)
		return ERR_PTR(err);
	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return ERR_PTR(-ENOMEM);
	port->pcpu = alloc_percpu(struct hop_pcpu);
	if (!port->pcpu) {
		kfree(port);
		return ERR_PTR(-ENOMEM);
	}
	port_init(port, dev, net);
	err = port_hook(port);
	if (err) {
		NL_SET_ERR_MSG(extack, "the device takes no netfilter ingress hook");
		free_percpu(port->pcpu);
		kfree(port);
		return ERR_PTR(err);
	}
	netdev_hold(dev, &port->tracker, GFP_KERNEL);
	list_add_tail_rcu(&port->node, &hop_ports);
	hop_net_add(port);
	hop_origin_add(port);
	hop_port_speed(port);
	port->carrier = netif_running(dev) && netif_carrier_ok(dev);
	return port;
}

static void port_free(struct hop_port *port)
{
	netdev_put(port->dev, &port->tracker);
	kvfree(port->heard);
	free_percpu(port->pcpu);
	kfree(port);
}

/**
 * hop_port_kill - end of a port
 * @port: the port
 *
 * After the grace period neither the hook nor a qdisc can wake the worker, and the worker and
 * the timer no longer wake each other. A port with members is freed by the last of them.
 * Context: RTNL.
 */
void hop_port_kill(struct hop_port *port)
{
	ASSERT_RTNL();
	if (port->n_members)
		hop_event_send(port, HOP_EVENT_PORT_GONE);
	spin_lock_bh(&port->lock);
	hop_peer_drop(port, hop_now());
	port->dying = true;
	WRITE_ONCE(port->strip, 0);
	hop_range_put(port);
	spin_unlock_bh(&port->lock);

	list_del_rcu(&port->node);
	hop_net_del(port);
	hop_origin_del(port);
	port_unhook(port);
	synchronize_net();
	hop_urgent_del(port);
	synchronize_net();	/* who has found it there is done */
	hrtimer_cancel(&port->timer);
	tasklet_kill(&port->work);
	if (!port->n_members)
		port_free(port);
}

static void ports_reap(struct work_struct *work)
{
	struct hop_port *port, *next;
	unsigned long wait = 0;

	rtnl_lock();
	list_for_each_entry_safe(port, next, &hop_ports, node) {
		if (port->n_members)
			continue;
		if (time_after_eq(jiffies, port->linger_until))
			hop_port_kill(port);
		else
			wait = max(wait, port->linger_until - jiffies);
	}
	rtnl_unlock();
	if (wait)
		schedule_delayed_work(&reap_work, wait);
}

/* The last member has left: say goodbye, and go on taking tags off for a while. */
static void port_linger(struct hop_port *port)
{
	u64 now = hop_now();

	spin_lock_bh(&port->lock);
	port->leaving = true;
	WRITE_ONCE(port->queues, 0);
	port->cfg.hrtt_ns = 0;
	hop_peer_drop(port, now);
	hop_hrtt_update(port, now);
	port_hurry(port, now);
	spin_unlock_bh(&port->lock);
	port->linger_until = jiffies + nsecs_to_jiffies(HOP_LINGER_NS) + 1;
	schedule_delayed_work(&reap_work, nsecs_to_jiffies(HOP_LINGER_NS) + 1);
}

void hop_port_exit(void)
{
	cancel_delayed_work_sync(&reap_work);
	cancel_work_sync(&settle_work);
	hop_watch_exit();
	WARN_ON_ONCE(!list_empty(&hop_ports));
}

/**
 * hop_port_speed - ask the device how fast it is
 * @port: the port
 *
 * Context: RTNL.
 */
void hop_port_speed(struct hop_port *port)
{
	WRITE_ONCE(port->speed, hop_link_speed(port->dev));
}

/* After the neighbour was lost */
static void members_down(struct hop_port *port)
{
	struct hop_member *m;

	list_for_each_entry(m, &port->members, node) {
		if (!m->ops->down)
			continue;
		sch_tree_lock(m->sch);
		m->ops->down(m);
		sch_tree_unlock(m->sch);
	}
}

/**
 * hop_port_carrier - the device went up or down, or its carrier did
 * @port: the port
 *
 * Context: RTNL.
 */
void hop_port_carrier(struct hop_port *port)
{
	bool carrier = netif_running(port->dev) && netif_carrier_ok(port->dev);
	u64 now = hop_now();

	ASSERT_RTNL();
	hop_port_speed(port);
	spin_lock_bh(&port->lock);
	if (carrier != port->carrier) {
		port->carrier = carrier;
		if (!carrier)
			hop_peer_lost(port, now);
		hop_peer_state(port, now);
		port_hurry(port, now);
	}
	spin_unlock_bh(&port->lock);
	if (!carrier)
		members_down(port);
}

/**
 * hop_port_mtu - a full-size frame is no longer what it was
 * @port: the port
 *
 * Context: RTNL.
 */
void hop_port_mtu(struct hop_port *port)
{
	u64 now = hop_now();

	ASSERT_RTNL();
	spin_lock_bh(&port->lock);
	hop_probe_stop(port);
	hop_peer_state(port, now);
	hop_port_wake(port);
	spin_unlock_bh(&port->lock);
}

/**
 * hop_ports_uppers - forget which devices are above which ports
 *
 * The device whose upper changed may be far above a port, so all ports forget.
 * Context: RTNL.
 */
void hop_ports_uppers(void)
{
	struct hop_port *port;
	unsigned int i;

	ASSERT_RTNL();
	list_for_each_entry(port, &hop_ports, node)
		for (i = 0; i < HOP_UPPERS; i++)
			WRITE_ONCE(port->uppers[i], 0);
}

static u16 port_end(const struct hop_port *port)
{
	const struct hop_member *m;
	u16 end = 0;

	list_for_each_entry(m, &port->members, node)
		end = max_t(u16, end, m->first + m->count);
	return end;
}

/* First gap of @count numbers; members are kept in the order of their ranges. */
static int range_find(const struct hop_port *port, u16 count, struct list_head **before)
{
	struct hop_member *m;
	unsigned int at = 0;

	list_for_each_entry(m, &port->members, node) {
		if (m->first - at >= count) {
			*before = &m->node;
			return at;
		}
		at = m->first + m->count;
	}
	*before = (struct list_head *)&port->members;
	return at + count <= HOP_QUEUES_MAX ? at : -ENOSPC;
}

/* The probes have to cover what is announced, so more of it begins them again. */
static void port_queues(struct hop_port *port)
{
	ASSERT_RTNL();
	lockdep_assert_held(&port->lock);
	WRITE_ONCE(port->queues, port_end(port));
	if (port->queues > port->queues_most) {
		port->queues_most = port->queues;
		hop_probe_stop(port);
		/* and the neighbour has to say that it takes the new numbers off */
		port->tags_since = hop_now();
	}
}

/* What its members say takes effect. */
static void port_config(struct hop_port *port)
{
	u64 now = hop_now(), newest = 0;
	struct hop_config cfg = {};
	struct hop_member *m;

	list_for_each_entry(m, &port->members, node)
		hop_config_add(&cfg, &newest, &m->cfg, m->order);
	port->unsettled = false;

	spin_lock_bh(&port->lock);
	if (cfg.tpid != port->cfg.tpid || cfg.tag != port->cfg.tag)
		hop_probe_stop(port);
	if (cfg.tpid != port->cfg.tpid)
		hop_peer_unstrip(port, now);
	/* Those that are read without the lock, at once; the rest changes nothing of them. */
	WRITE_ONCE(port->cfg.tpid, cfg.tpid);
	WRITE_ONCE(port->cfg.tier, cfg.tier);
	WRITE_ONCE(port->cfg.watch, cfg.watch);
	WRITE_ONCE(port->cfg.watchdog_ns, cfg.watchdog_ns);
	port->cfg = cfg;
	hop_roots_config(port);
	port_queues(port);
	hop_peer_role(port);
	hop_peer_kinds(port, now);
	hop_hrtt_update(port, now);
	hop_peer_state(port, now);
	hop_paused_config(port, now);
	port_hurry(port, now);
	spin_unlock_bh(&port->lock);

	spin_lock_bh(&port->net->lock);
	hop_elide_update(port->net);
	spin_unlock_bh(&port->net->lock);
}

/* One more member. Its numbers have to be known and probed before it uses them; what it wants of
 * the port waits, since the qdisc may yet be refused.
 */
static void port_grow(struct hop_port *port)
{
	spin_lock_bh(&port->lock);
	port_queues(port);
	hop_peer_state(port, hop_now());
	port_hurry(port, hop_now());
	spin_unlock_bh(&port->lock);
	port->unsettled = true;
	schedule_work(&settle_work);
}

static void ports_settle(struct work_struct *work)
{
	struct hop_port *port;

	rtnl_lock();
	list_for_each_entry(port, &hop_ports, node)
		if (port->unsettled)
			port_config(port);
	rtnl_unlock();
}

/* A member has come or gone: each knows whether it is the only one. The new one has counted
 * nothing yet.
 */
static void members_share(struct hop_port *port)
{
	bool shared = port->n_members > 1;
	struct hop_member *m;

	list_for_each_entry(m, &port->members, node) {
		if (m->shared == shared)
			continue;
		sch_tree_lock(m->sch);
		m->shared = shared;
		sch_tree_unlock(m->sch);
	}
}

u16 hop_member_share(const struct Qdisc *sch, u16 alone)
{
	const struct net_device *dev = qdisc_dev(sch);
	const struct Qdisc *root = rtnl_dereference(dev->qdisc);
	unsigned int queues;

	if (sch->parent == TC_H_ROOT)
		return alone;
	/* mq makes one without a handle for each queue there could be, and is the root later */
	if (!sch->handle)
		queues = dev->num_tx_queues;
	else if (root && root->flags & TCQ_F_MQROOT)
		queues = dev->real_num_tx_queues;
	else
		return alone;
	return clamp_t(unsigned int, HOP_QUEUES_MAX / 2 / queues, 1, alone);
}
EXPORT_SYMBOL_GPL(hop_member_share);

int hop_member_join(struct hop_member *m, struct Qdisc *sch, u16 count,
		    const struct hop_config *cfg, const struct hop_member_ops *ops,
		    struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct list_head *before;
	struct hop_window *windows;
	struct hop_port *port;
	int first, err;

	ASSERT_RTNL();
	err = device_validate(dev, extack);
	if (err)
		return err;
	windows = kvcalloc(count, sizeof(*windows), GFP_KERNEL);
	if (!windows)
		return -ENOMEM;
	port = hop_port_find(dev);
	if (port)
		hop_port_speed(port);
	else
		port = port_create(dev, extack);
	if (IS_ERR(port)) {
		kvfree(windows);
		return PTR_ERR(port);
	}
	first = range_find(port, count, &before);
	if (first < 0) {
		NL_SET_ERR_MSG(extack, "queues of all qdiscs of the device must not exceed 4094");
		kvfree(windows);
		return first;
	}

	m->port = port;
	m->net = port->net;
	m->sch = sch;
	m->first = first;
	m->count = count;
	m->paused = port->paused;
	m->paused_gen = 1;	/* what is paused already is to be looked at */
	m->tagging = &port->tagging;
	m->to_host = &port->to_host;
	m->role = &port->role;
	m->link_hrtt_ns = &port->hrtt_link;
	m->hrtt_ns = &port->net->hrtt_max;
	m->speed = &port->speed;
	m->n_active = &port->n_active;
	m->control_paid = &port->control_paid;
	m->elide = port->elide;
	m->ops = ops;
	m->windows = windows;
	m->cfg = *cfg;
	m->order = ++config_order;
	list_add_tail_rcu(&m->node, before);
	port->n_members++;
	members_share(port);
	if (port->n_members > 1) {
		port_grow(port);
	} else {
		port_start(port);
		port_config(port);
	}
	return 0;
}
EXPORT_SYMBOL_GPL(hop_member_join);

void hop_member_alone(struct hop_member *m)
{
	static const u32 hrtt_ns = HOP_HRTT_UNKNOWN_NS;
	static const bool tagging;
	static const bool to_host;
	static const u8 role = HOP_ROLE_AUTO;
	static const u32 none;

	m->tagging = &tagging;
	m->to_host = &to_host;
	m->role = &role;
	m->link_hrtt_ns = &none;
	m->hrtt_ns = &hrtt_ns;
	m->speed = &none;
	m->n_active = &m->alone_active;
	m->control_paid = &m->alone_paid;
}
EXPORT_SYMBOL_GPL(hop_member_alone);

void hop_member_config(struct hop_member *m, const struct hop_config *cfg)
{
	ASSERT_RTNL();
	if (!m->port)
		return;
	m->cfg = *cfg;
	m->order = ++config_order;
	/* not every device says when somebody gives it another one */
	hop_port_speed(m->port);
	port_config(m->port);
}
EXPORT_SYMBOL_GPL(hop_member_config);

void hop_member_leave(struct hop_member *m)
{
	struct hop_port *port = m->port;

	ASSERT_RTNL();
	if (!port)
		return;
	spin_lock_bh(&port->lock);
	list_del_rcu(&m->node);	/* the watchdog looks at the members' sub-queues under the lock */
	hop_paused_leave(port, m);
	spin_unlock_bh(&port->lock);
	kvfree(m->windows);
	m->windows = NULL;
	m->port = NULL;
	port->n_members--;
	members_share(port);
	if (!port->n_members && port->dying) {
		port_free(port);
	} else if (!port->n_members) {
		hop_event_send(port, HOP_EVENT_PORT_GONE);
		port_linger(port);
	} else if (!port->dying) {
		port_config(port);
	}
}
EXPORT_SYMBOL_GPL(hop_member_leave);
