// SPDX-License-Identifier: GPL-2.0-only
/*
 * way.c - by which way the source of a flow is told
 *
 * What decides is to what the device belongs that the flow's packets came by, not what they say:
 * anybody can write any MAC address into a packet.
 *
 *   a bridge    they were bridged. The CNP goes back on that port, to the MAC address that they
 *               came from, with the VLAN tags of a packet to their source.
 *   other       they were routed, and so is the CNP; if a VRF got them, in that VRF.
 *
 * Which tags these are. At the qdisc the packets have those that they leave with. Most bridges
 * change none. One that filters VLANs has each packet in a VLAN, and the settings of a port say
 * whether it has the tag there. So the VLAN has to be known, and the port that the packets came by
 * says what a packet in it looks like there. The VLAN of a packet that leaves without a tag is
 * taken to be the one that the answer of the receiver would be in, since it would come back by
 * this way, too. Where the settings know none, nobody is told, and it is counted.
 *
 * The settings are read by functions of the bridge module, which are looked up when there is
 * something to ask: rocc does without bridges. From then on the module stays as long as there is a
 * congestion point.
 */
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/l3mdev.h>

#include "rocc.h"

/* ---- the bridge module ---- */

/* Its functions. All are there if the last of them is. Written under RTNL. */
static struct {
	typeof(br_vlan_get_proto)	*get_proto;
	typeof(br_vlan_get_pvid_rcu)	*get_pvid;
	typeof(br_vlan_get_info_rcu)	*get_info;
	typeof(br_vlan_enabled)		*enabled;
} bridge_module;

static unsigned int congestion_points;	/* RTNL */

static void rocc_bridge_module_put(void)
{
	if (bridge_module.get_proto)
		symbol_put(br_vlan_get_proto);
	if (bridge_module.get_pvid)
		symbol_put(br_vlan_get_pvid_rcu);
	if (bridge_module.get_info)
		symbol_put(br_vlan_get_info_rcu);
	if (bridge_module.enabled)
		symbol_put(br_vlan_enabled);
	memset(&bridge_module, 0, sizeof(bridge_module));
}

/**
 * rocc_bridge_look - there may be bridges by now
 *
 * Context: RTNL.
 */
void rocc_bridge_look(void)
{
	typeof(br_vlan_enabled) *enabled;

	ASSERT_RTNL();
	if (!congestion_points || bridge_module.enabled)
		return;
	bridge_module.get_proto = symbol_get(br_vlan_get_proto);
	bridge_module.get_pvid = symbol_get(br_vlan_get_pvid_rcu);
	bridge_module.get_info = symbol_get(br_vlan_get_info_rcu);
	enabled = symbol_get(br_vlan_enabled);
	if (enabled && (!bridge_module.get_proto || !bridge_module.get_pvid ||
			!bridge_module.get_info)) {
		symbol_put(br_vlan_enabled);
		enabled = NULL;
	}
	/* who sees this one sees the others */
	smp_store_release(&bridge_module.enabled, enabled);
	if (!enabled)
		rocc_bridge_module_put();
}

/**
 * rocc_bridge_get - a congestion point more
 *
 * Context: RTNL.
 */
void rocc_bridge_get(void)
{
	congestion_points++;
	rocc_bridge_look();
}

/**
 * rocc_bridge_put - and one less; it asks no more
 *
 * Context: RTNL.
 */
void rocc_bridge_put(void)
{
	ASSERT_RTNL();
	if (!--congestion_points)
		rocc_bridge_module_put();
}

static bool rocc_bridge_filters(const struct net_device *bridge)
{
	typeof(br_vlan_enabled) *enabled = smp_load_acquire(&bridge_module.enabled);

	return enabled && netif_is_bridge_master(bridge) && enabled(bridge);
}

/* ---- VLANs ---- */

/**
 * struct rocc_above - the bridge's port, looked for above the congestion point's
 * @bridge: of which bridge
 * @way: what the packets left with
 * @port: it, NULL: none is found
 * @own_tag: it is a VLAN device, and the outermost tag its own
 */
struct rocc_above {
	const struct net_device	*bridge;
	const struct rocc_way	*way;
	struct net_device	*port;
	bool			own_tag;
};

static bool rocc_tag_is_of(const struct rocc_way *way, const struct net_device *vlan_dev)
{
	return way->tags && way->tag[0].proto == vlan_dev_vlan_proto(vlan_dev) &&
	       (way->tag[0].tci & VLAN_VID_MASK) == vlan_dev_vlan_id(vlan_dev);
}

/* Return: whether to end the walk. */
static int rocc_above_look(struct net_device *upper, struct netdev_nested_priv *priv)
{
	struct rocc_above *above = priv->data;

	if (netdev_master_upper_dev_get_rcu(upper) != above->bridge)
		return 0;
	above->own_tag = is_vlan_dev(upper);
	if (above->own_tag && !rocc_tag_is_of(above->way, upper))
		return 0;
	above->port = upper;
	return 1;
}

/* The port of the bridge that the packets left by: it may be a bond or a VLAN device of which the
 * congestion point's is a part.
 */
static void rocc_above_find(struct rocc_above *above, struct net_device *dev)
{
	struct netdev_nested_priv priv = { .data = above };

	if (netdev_master_upper_dev_get_rcu(dev) == above->bridge)
		above->port = dev;
	else
		netdev_walk_all_upper_dev_rcu(dev, rocc_above_look, &priv);
	above->own_tag &= !!above->port;
}

static void rocc_back_take_tag(struct rocc_back *back)
{
	memmove(back->tag, back->tag + 1, --back->tags * sizeof(back->tag[0]));
}

static void rocc_back_put_tag(struct rocc_back *back, u16 proto, u16 tci)
{
	memmove(back->tag + 1, back->tag, back->tags++ * sizeof(back->tag[0]));
	back->tag[0] = (struct rocc_tag) { .proto = htons(proto), .tci = tci };
}

/* The VLAN of packets that leave a port without a tag, if their answers would be in it; or 0 */
static u16 rocc_untagged_vid(const struct net_device *port)
{
	struct bridge_vlan_info info;
	u16 vid;

	if (bridge_module.get_pvid(port, &vid) || bridge_module.get_info(port, vid, &info) ||
	    !(info.flags & BRIDGE_VLAN_INFO_UNTAGGED))
		return 0;
	return vid;
}

/* In place of the tag of the VLAN that a bridge has given to the packets, if they leave with it,
 * the one that a packet in that VLAN has at the port that they came by.
 *
 * Return: false if that cannot be told.
 */
static bool rocc_back_filtered(struct rocc_back *back, const struct rocc_above *above, bool outer)
{
	struct bridge_vlan_info info;
	u16 proto, vid, tci = 0;

	bridge_module.get_proto(above->bridge, &proto);
	if (outer && back->tags && back->tag[0].proto == htons(proto)) {
		tci = back->tag[0].tci;
		vid = tci & VLAN_VID_MASK;
		rocc_back_take_tag(back);
	} else {
		vid = rocc_untagged_vid(above->port);
	}
	if (!vid || bridge_module.get_info(back->dev, vid, &info))
		return false;
	if (!(info.flags & BRIDGE_VLAN_INFO_UNTAGGED))
		rocc_back_put_tag(back, proto, (tci & ~VLAN_VID_MASK) | vid);
	return true;
}

static bool rocc_back_tags(struct rocc_back *back, struct net_device *bridge,
			   struct net_device *port, const struct rocc_way *way)
{
	struct rocc_above above = { .bridge = bridge, .way = way };

	if (way->tags > ROCC_TAGS)
		return false;
	back->tags = way->tags;
	memcpy(back->tag, way->tag, sizeof(way->tag));
	rocc_above_find(&above, port);
	if (above.own_tag)
		rocc_back_take_tag(back);
	if (!above.port || !rocc_bridge_filters(bridge))
		return true;
	return rocc_back_filtered(back, &above, way->outer || above.own_tag);
}

/**
 * rocc_way_back - by which way the source of a flow is told
 * @port: the congestion point's
 * @way: how a packet of the flow came and left
 * @back: filled in
 *
 * Context: RCU.
 * Return: ROCC_SENT if there is one, or why not.
 */
enum rocc_sent rocc_way_back(struct net_device *port, const struct rocc_way *way,
			     struct rocc_back *back)
{
	struct net_device *dev = dev_get_by_index_rcu(dev_net(port), way->ifindex);

	if (!dev)
		return ROCC_NO_WAY;
	back->dev = dev;
	back->routed = !netif_is_any_bridge_port(dev);
	back->vrf = l3mdev_master_ifindex_rcu(dev);
	if (back->routed)
		return ROCC_SENT;
	if (dev->type != ARPHRD_ETHER)
		return ROCC_NO_WAY;
	return rocc_back_tags(back, netdev_master_upper_dev_get_rcu(dev), port, way) ?
	       ROCC_SENT : ROCC_NO_VLAN;
}
