// SPDX-License-Identifier: GPL-2.0-only
/*
 * elide.c - backpressure that is left out, so that it goes in no circle
 *
 * BFC, App. B: the backpressure graph has a node for each egress port, and an edge from B to A if
 * packets that go from A to B may make B pause A. Without a cycle in it there is no deadlock. An
 * edge is taken out by never pausing for packets that come in by one port and leave by
 * another:
 *
 *   - tiers: from a port that leads up to a port that leads up. In a Clos fabric this is all
 *     that is needed, whatever the routes;
 *   - pairs of devices that a user has named.
 *
 * For each egress port a bitmap says it for each group of handles, which belong to one ingress
 * port; so a packet's handle is all that the hot path needs. The bitmaps are made anew when
 * tiers, pairs or handles change.
 *
 *   hop_net.pairs, hop_port.elide   written under hop_net.lock; the bits are read without
 */
#include <linux/slab.h>

#include "port.h"

/**
 * struct hop_pair - a pair of devices
 * @node: hop_net.pairs
 * @ingress: ifindex of where packets come in
 * @egress: ifindex of where they leave
 */
struct hop_pair {
	struct list_head	node;
	int			ingress;
	int			egress;
};

static struct hop_pair *pair_find(struct hop_net *net, int ingress, int egress)
{
	struct hop_pair *pair;

	list_for_each_entry(pair, &net->pairs, node)
		if (pair->ingress == ingress && pair->egress == egress)
			return pair;
	return NULL;
}

static bool is_elided(struct hop_net *net, const struct hop_port *in, const struct hop_port *out)
{
	return (READ_ONCE(in->cfg.tier) == HOP_TIER_UP &&
		READ_ONCE(out->cfg.tier) == HOP_TIER_UP) ||
	       pair_find(net, in->dev->ifindex, out->dev->ifindex);
}

static bool elides_any(const struct hop_net *net)
{
	const struct hop_port *port;

	if (!list_empty(&net->pairs))
		return true;
	list_for_each_entry(port, &net->ports, net_node)
		if (READ_ONCE(port->cfg.tier) == HOP_TIER_UP)
			return true;
	return false;
}

static void port_elide(struct hop_net *net, struct hop_port *out)
{
	const struct hop_port *in, *last = NULL;
	bool elided = false;
	unsigned int g;

	for (g = 0; g < HOP_HANDLE_WORDS; g++) {
		in = rcu_dereference_protected(net->owner[g], lockdep_is_held(&net->lock));
		if (in != last)
			elided = in && is_elided(net, in, out);
		last = in;
		assign_bit(g, out->elide, elided);
	}
}

/**
 * hop_elide_update - tiers, pairs or handles have changed
 * @net: the namespace
 *
 * Context: hop_net.lock.
 */
void hop_elide_update(struct hop_net *net)
{
	bool any = elides_any(net);
	struct hop_port *port;

	lockdep_assert_held(&net->lock);
	if (!any && !net->elides)
		return;
	net->elides = any;
	list_for_each_entry(port, &net->ports, net_node)
		port_elide(net, port);
}

/**
 * hop_pair_add - elide backpressure between two devices
 * @net: the namespace
 * @ingress: ifindex
 * @egress: ifindex
 *
 * Context: RTNL.
 * Return: 0, -EEXIST, -ENOMEM, -ENOSPC.
 */
int hop_pair_add(struct hop_net *net, int ingress, int egress)
{
	struct hop_pair *pair;
	int err = 0;

	pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	if (!pair)
		return -ENOMEM;
	pair->ingress = ingress;
	pair->egress = egress;
	spin_lock_bh(&net->lock);
	if (pair_find(net, ingress, egress))
		err = -EEXIST;
	else if (net->n_pairs >= HOP_PAIRS)
		err = -ENOSPC;
	if (!err) {
		list_add_tail(&pair->node, &net->pairs);
		net->n_pairs++;
		hop_elide_update(net);
	}
	spin_unlock_bh(&net->lock);
	if (err)
		kfree(pair);
	return err;
}

static void pair_remove(struct hop_net *net, struct hop_pair *pair)
{
	list_del(&pair->node);
	net->n_pairs--;
	kfree(pair);
}

/**
 * hop_pair_del - elide it no longer
 * @net: the namespace
 * @ingress: ifindex
 * @egress: ifindex
 *
 * Context: RTNL.
 * Return: 0, -ENOENT.
 */
int hop_pair_del(struct hop_net *net, int ingress, int egress)
{
	struct hop_pair *pair;

	spin_lock_bh(&net->lock);
	pair = pair_find(net, ingress, egress);
	if (pair) {
		pair_remove(net, pair);
		hop_elide_update(net);
	}
	spin_unlock_bh(&net->lock);
	return pair ? 0 : -ENOENT;
}

/**
 * hop_pair_get - the pairs one by one
 * @net: the namespace
 * @at: number of the pair
 * @ingress: set to its ifindex
 * @egress: set to its ifindex
 *
 * Context: RTNL.
 * Return: false if there are no more.
 */
bool hop_pair_get(struct hop_net *net, unsigned int at, int *ingress, int *egress)
{
	struct hop_pair *pair;
	bool found = false;

	spin_lock_bh(&net->lock);
	list_for_each_entry(pair, &net->pairs, node) {
		if (at--)
			continue;
		*ingress = pair->ingress;
		*egress = pair->egress;
		found = true;
		break;
	}
	spin_unlock_bh(&net->lock);
	return found;
}

/**
 * hop_pairs_forget - a device is gone, or all are
 * @net: the namespace
 * @ifindex: of the device, 0 for all
 */
void hop_pairs_forget(struct hop_net *net, int ifindex)
{
	struct hop_pair *pair, *next;

	spin_lock_bh(&net->lock);
	list_for_each_entry_safe(pair, next, &net->pairs, node)
		if (!ifindex || pair->ingress == ifindex || pair->egress == ifindex)
			pair_remove(net, pair);
	hop_elide_update(net);
	spin_unlock_bh(&net->lock);
}
