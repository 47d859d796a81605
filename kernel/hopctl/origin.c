// SPDX-License-Identifier: GPL-2.0-only
/*
 * origin.c - by which port a packet came, tagged or not
 *
 * A packet that came with a fabric tag has a handle: its port, and the neighbour's sub-queue. One
 * without has neither in it but @skb_iif, the device that it was received by last. That is the port
 * itself where the packet is bridged or routed; else a device above it, like one of a VLAN. So the
 * port is looked for from there down, as long as there is only one device below: below a bonding
 * device with two it may have come by either. A bridge says nothing, though it has one port:
 * it sends its own packets up, too.
 *
 * What was found is remembered, also that there is nothing, until a port comes or goes, a device
 * goes, or one is put above another.
 *
 * A port's number is its place in hop_net.origins, in the lower half of the handles' numbers. They
 * are given away in turn, and not while anything is counted for one: so a packet that outlives its
 * port is not taken for another one's.
 *
 *   field                    protector
 *   hop_net.origins          written under RTNL, read under RCU
 *   hop_net.origin_gen       RTNL, READ_ONCE elsewhere
 *   hop_net.origin_cache     RTNL writes it once; its entries are atomic
 *   hop_port.origin          RTNL writes it once
 */
#include <linux/idr.h>
#include <linux/slab.h>

#include "port.h"

#define CACHE_SLOTS	256	/* a power of two */

/**
 * struct hop_origin_cache - what skb_iif leads to
 * @slot: by the lowest bits of skb_iif: all of it in bits 32 to 63, then hop_net.origin_gen in bits
 *	16 to 31, then the origin
 */
struct hop_origin_cache {
	atomic64_t	slot[CACHE_SLOTS];
};

int hop_origins_use(struct hop_member *m)
{
	struct hop_origin_cache *cache;
	struct hop_net *net = m->net;

	ASSERT_RTNL();
	if (!net || net->origin_cache)
		return 0;
	cache = kvzalloc(sizeof(*cache), GFP_KERNEL);
	if (!cache)
		return -ENOMEM;
	/* those who look come after this call */
	smp_store_release(&net->origin_cache, cache);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_origins_use);

/**
 * hop_origins_forget - what was remembered may be wrong now
 * @net: the namespace
 *
 * What is just being looked up is of the generation before, and counts no more either.
 * Context: RTNL.
 */
void hop_origins_forget(struct hop_net *net)
{
	unsigned int i;

	ASSERT_RTNL();
	smp_wmb();	/* who sees the generation sees what has changed; see origin_by_device() */
	WRITE_ONCE(net->origin_gen, net->origin_gen + 1);
	if (!net->origin_cache)
		return;
	/* or one of 65536 generations ago would count */
	for (i = 0; i < CACHE_SLOTS; i++)
		atomic64_set(&net->origin_cache->slot[i], 0);
}

/**
 * hop_origin_add - give a port its number
 * @port: the port
 *
 * If there is none to be had, packets that come by it have no origin but a handle. Context: RTNL.
 */
void hop_origin_add(struct hop_port *port)
{
	struct hop_net *net = port->net;
	unsigned int tries;
	int number = 0;

	for (tries = 0; tries < 64; tries++) {
		number = idr_alloc_cyclic(&net->origins, port, 1, HOP_HANDLE_FIRST, GFP_KERNEL);
		if (number < 0 || !hop_ingress_of(net, number))
			break;
		idr_remove(&net->origins, number);
		number = 0;
	}
	port->origin = max(number, 0);
	hop_origins_forget(net);
}

/**
 * hop_origin_del - the port goes
 * @port: the port
 *
 * Context: RTNL. After an RCU grace period nobody has it by its number.
 */
void hop_origin_del(struct hop_port *port)
{
	if (port->origin)
		idr_remove(&port->net->origins, port->origin);
	hop_origins_forget(port->net);
}

static int first_lower(struct net_device *lower, struct netdev_nested_priv *priv)
{
	priv->data = lower;
	return 1;
}

/* The only one, else NULL */
static struct net_device *lower_of(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	/* it may change meanwhile, and what comes of that is forgotten then */
	if (netif_is_bridge_master(dev) || !data_race(list_is_singular(&dev->adj_list.lower)))
		return NULL;
	netdev_walk_all_lower_dev_rcu(dev, first_lower, &priv);
	return priv.data;
}

static const struct hop_port *port_of(const struct hop_net *net, const struct net_device *dev)
{
	const struct hop_port *port;

	list_for_each_entry_rcu(port, &hop_ports, node)
		if (port->dev == dev && port->net == net)
			return port;
	return NULL;
}

static noinline u16 origin_find(const struct hop_net *net, struct net *ns, int ifindex)
{
	struct net_device *dev = dev_get_by_index_rcu(ns, ifindex);
	const struct hop_port *port;
	unsigned int depth;

	for (depth = 0; dev && depth <= MAX_NEST_DEV; depth++) {
		port = port_of(net, dev);
		if (port)
			return port->origin;
		dev = lower_of(dev);
	}
	return HOP_ORIGIN_NONE;
}

static u16 origin_by_device(const struct hop_net *net, struct net *ns, int ifindex)
{
	u16 gen = READ_ONCE(net->origin_gen);
	u64 key = (u64)ifindex << 32 | (u32)gen << 16;
	atomic64_t *slot = &net->origin_cache->slot[ifindex & (CACHE_SLOTS - 1)];
	u64 found = atomic64_read(slot);

	if (likely((found ^ key) <= U16_MAX))
		return found & U16_MAX;
	smp_rmb();	/* what is looked up is of this generation or a later one */
	rcu_read_lock();
	found = origin_find(net, ns, ifindex);
	rcu_read_unlock();
	atomic64_set(slot, key | found);
	return found;
}

/* Of a packet without a handle */
static u16 origin_of_port(const struct hop_member *m, const struct sk_buff *skb)
{
	u16 origin;

	if (skb->skb_iif <= 0 || unlikely(!m->port))
		return HOP_ORIGIN_NONE;
	origin = origin_by_device(m->net, dev_net(m->port->dev), skb->skb_iif);
	if (unlikely(!origin))
		hop_pcpu_inc(m->port, origin_unknown);
	return origin;
}

u16 hop_origin(const struct hop_member *m, const struct sk_buff *skb)
{
	return hop_handle(m, skb) ?: origin_of_port(m, skb);
}
EXPORT_SYMBOL_GPL(hop_origin);

u16 hop_origin_link(const struct hop_member *m, const struct sk_buff *skb, u16 handle)
{
	const struct hop_port *port = handle ? hop_origin_port(m, handle) : NULL;

	return port ? port->origin : origin_of_port(m, skb);
}
EXPORT_SYMBOL_GPL(hop_origin_link);

struct hop_port *hop_origin_port(const struct hop_member *m, u16 origin)
{
	unsigned int queue;

	if (origin >= HOP_HANDLE_FIRST)
		return hop_handle_owner(m->net, origin, &queue);
	return origin ? idr_find(&m->net->origins, origin) : NULL;
}
EXPORT_SYMBOL_GPL(hop_origin_port);

bool hop_origin_is_host(const struct hop_member *m, u16 origin)
{
	const struct hop_port *port = hop_origin_port(m, origin);

	return port && READ_ONCE(port->to_host);
}
EXPORT_SYMBOL_GPL(hop_origin_is_host);
