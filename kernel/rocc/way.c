// SPDX-License-Identifier: GPL-2.0-only
/*
 * way.c - by which way the source of a flow is told
 *
 * What decides is to what the device belongs that the flow's packets came by, not what they say:
 * anybody can write any MAC address into a packet.
 *
 *   a bridge    they were bridged. The CNP goes back on that port, to the MAC address that they
 *               came from.
 *   other       they were routed, and so is the CNP; if a VRF got them, in that VRF.
 */
#include <linux/if_arp.h>
#include <net/l3mdev.h>

#include "rocc.h"

/**
 * rocc_way_back - by which way the source of a flow is told
 * @port: the congestion point's
 * @way: how a packet of the flow came and left
 * @back: filled in
 *
 * Context: RCU.
 * Return: false if there is none.
 */
bool rocc_way_back(struct net_device *port, const struct rocc_way *way, struct rocc_back *back)
{
	struct net_device *dev = dev_get_by_index_rcu(dev_net(port), way->ifindex);

	if (!dev)
		return false;
	back->dev = dev;
	back->routed = !netif_is_any_bridge_port(dev);
	back->vrf = l3mdev_master_ifindex_rcu(dev);
	return back->routed || dev->type == ARPHRD_ETHER;
}
