// SPDX-License-Identifier: GPL-2.0-only
/*
 * wire_dev.c - network device and ethtool operations of a virtual cable
 *
 * Carrier is on while both ends are up, as with veth. Statistics of a device are the frames
 * that its own direction sent and that the other direction delivered here; both directions
 * count at their sender, under one lock. Frames lost on the cable appear in `ethtool -S` of
 * their sender only: no real device knows of them.
 *
 * TCP segmentation offload is off until asked for: a train of frames would occupy the line as
 * one, and what follows could not get between them.
 */
#include <linux/etherdevice.h>
#include <linux/math64.h>
#include <linux/rtnetlink.h>

#include "wire.h"

#define WIRE_BASE_FEATURES (NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_HIGHDMA)
#define WIRE_TAG_FEATURES (NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_STAG_TX)

struct wire_stat {
	char name[ETH_GSTRING_LEN];
	size_t offset;
};

#define WIRE_STAT(field) { #field, offsetof(struct wire_counters, field) }

static const struct wire_stat wire_stats[] = {
	WIRE_STAT(sent_frames),
	WIRE_STAT(sent_bytes),
	WIRE_STAT(control_frames),
	WIRE_STAT(control_overflow),
	WIRE_STAT(flight_overflow),
	WIRE_STAT(no_memory),
	WIRE_STAT(runt),
	WIRE_STAT(loss),
	WIRE_STAT(loss_control),
	WIRE_STAT(loss_data),
	WIRE_STAT(corrupted),
	WIRE_STAT(duplicated),
	WIRE_STAT(reordered),
	WIRE_STAT(down),
	WIRE_STAT(arrived_frames),
	WIRE_STAT(arrived_bytes),
	WIRE_STAT(oversize),
	WIRE_STAT(ring_full),
	WIRE_STAT(busy_ns),
};

static int wire_dev_init(struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);

	priv->dev = dev;
	return wire_card_init(priv);
}

static void wire_dev_free(struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);

	wire_card_free(&priv->card);
}

/* Both ends have carrier or none has. */
static void wire_pair_carrier_on(struct net_device *dev, struct net_device *peer)
{
	const struct wire_priv *priv = netdev_priv(dev), *other = netdev_priv(peer);

	if (priv->unplugged || other->unplugged)
		return;
	netif_carrier_on(dev);
	netif_carrier_on(peer);
}

static int wire_dev_open(struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	if (!peer)
		return -ENOTCONN;
	wire_card_open(priv);
	if (peer->flags & IFF_UP)
		wire_pair_carrier_on(dev, peer);
	return 0;
}

static int wire_dev_stop(struct net_device *dev)
{
	struct wire_priv *other, *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	netif_carrier_off(dev);
	wire_card_stop(priv);
	if (peer) {
		netif_carrier_off(peer);
		other = netdev_priv(peer);
		wire_card_lose_flight(&other->card);
	}
	return 0;
}

/* The cable is pulled out at this end, or put in again. The cards go on: what they send meanwhile
 * arrives nowhere.
 */
static int wire_dev_change_carrier(struct net_device *dev, bool carrier)
{
	struct wire_priv *other, *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	priv->unplugged = !carrier;
	if (!peer)
		return 0;
	if (carrier) {
		if (netif_running(dev) && netif_running(peer))
			wire_pair_carrier_on(dev, peer);
		return 0;
	}
	netif_carrier_off(dev);
	netif_carrier_off(peer);
	other = netdev_priv(peer);
	wire_card_lose_flight(&priv->card);
	wire_card_lose_flight(&other->card);
	return 0;
}

/* Counters of both directions, as this end sees them; those of a missing peer are zero. */
static void wire_dev_count(struct net_device *dev, struct wire_counters *tx,
			   struct wire_counters *rx)
{
	struct wire_priv *other, *priv = netdev_priv(dev);
	struct net_device *peer;

	memset(rx, 0, sizeof(*rx));
	wire_card_count(&priv->card, tx);
	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	if (peer) {
		other = netdev_priv(peer);
		wire_card_count(&other->card, rx);
	}
	rcu_read_unlock();
}

static void wire_dev_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct wire_counters tx, rx;

	wire_dev_count(dev, &tx, &rx);
	stats->tx_packets = tx.sent_frames;
	stats->tx_bytes = tx.sent_bytes;
	stats->tx_dropped = tx.control_overflow + tx.no_memory + tx.runt + tx.down;
	stats->rx_packets = rx.arrived_frames;
	stats->rx_bytes = rx.arrived_bytes;
	stats->rx_length_errors = rx.oversize;
	stats->rx_errors = rx.oversize;
}

static int wire_dev_get_iflink(const struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	iflink = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return iflink;
}

/* The card sums and tags whatever headers a frame has. With faults the stack segments, so that
 * each frame meets its own.
 */
static netdev_features_t wire_dev_features_check(struct sk_buff *skb, struct net_device *dev,
						 netdev_features_t features)
{
	struct wire_priv *priv = netdev_priv(dev);

	if (skb_is_gso(skb) && wire_config_has_faults(&priv->card.config))
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

/* Multicast and promiscuous mode need no filter: the device hears all that its cable carries. */
static void wire_dev_set_rx_mode(struct net_device *dev)
{
}

static const struct net_device_ops wire_dev_ops = {
	.ndo_init		= wire_dev_init,
	.ndo_open		= wire_dev_open,
	.ndo_stop		= wire_dev_stop,
	.ndo_change_carrier	= wire_dev_change_carrier,
	.ndo_start_xmit		= wire_card_xmit,
	.ndo_features_check	= wire_dev_features_check,
	.ndo_get_stats64	= wire_dev_get_stats64,
	.ndo_get_iflink		= wire_dev_get_iflink,
	.ndo_set_rx_mode	= wire_dev_set_rx_mode,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
};

static void wire_ethtool_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "wire", sizeof(info->driver));
}

/* ethtool's unit is Mb/s in 31 bits; less than one is as unknown as no rate at all. Drivers that
 * ask a PHY sleep here. Not every kernel can tell where nobody may, but each knows whether the
 * caller keeps softirqs away, as one with a qdisc's lock does.
 */
static int wire_ethtool_get_link_ksettings(struct net_device *dev,
					   struct ethtool_link_ksettings *settings)
{
	struct wire_priv *priv = netdev_priv(dev);
	u64 mbps = div_u64(READ_ONCE(priv->card.config.rate_bps), 1000000);

	might_sleep();
	WARN_ON_ONCE(in_softirq());
	settings->base.speed = mbps && mbps <= INT_MAX ? mbps : (u32)SPEED_UNKNOWN;
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_DA;
	settings->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

/* The direction in which this end sends gets that speed, as by `rate`. Without a flap of the
 * carrier, which most cards have then, so that nothing but the speed has changed.
 */
static int wire_ethtool_set_link_ksettings(struct net_device *dev,
					   const struct ethtool_link_ksettings *settings)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct wire_config config = priv->card.config;
	u32 mbps = settings->base.speed;

	if (settings->base.duplex != DUPLEX_FULL || settings->base.port != PORT_DA ||
	    settings->base.autoneg != AUTONEG_DISABLE)
		return -EINVAL;
	if (mbps == (u32)SPEED_UNKNOWN)
		return 0;
	if (!mbps || mbps > WIRE_RATE_MAX_BPS / 1000000)
		return -EINVAL;
	config.rate_bps = mbps * 1000000ULL;
	wire_card_configure(priv, &config, false);
	netdev_state_change(dev);
	return 0;
}

static int wire_ethtool_get_sset_count(struct net_device *dev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(wire_stats) : -EOPNOTSUPP;
}

static void wire_ethtool_get_strings(struct net_device *dev, u32 set, u8 *to)
{
	unsigned int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(wire_stats); i++)
		memcpy(to + i * ETH_GSTRING_LEN, wire_stats[i].name, ETH_GSTRING_LEN);
}

static void wire_ethtool_get_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *to)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct wire_counters count;
	unsigned int i;

	wire_card_count(&priv->card, &count);
	for (i = 0; i < ARRAY_SIZE(wire_stats); i++)
		to[i] = *(u64 *)((u8 *)&count + wire_stats[i].offset);
}

static const struct ethtool_ops wire_ethtool_ops = {
	.get_drvinfo		= wire_ethtool_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= wire_ethtool_get_link_ksettings,
	.set_link_ksettings	= wire_ethtool_set_link_ksettings,
	.get_ts_info		= ethtool_op_get_ts_info,
	.get_sset_count		= wire_ethtool_get_sset_count,
	.get_strings		= wire_ethtool_get_strings,
	.get_ethtool_stats	= wire_ethtool_get_stats,
};

/**
 * wire_dev_setup - rtnl_link_ops.setup: a new device before it has a name
 * @dev: the device
 */
void wire_dev_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	dev->netdev_ops = &wire_dev_ops;
	dev->ethtool_ops = &wire_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = wire_dev_free;
	dev->min_mtu = ETH_MIN_MTU;
	dev->max_mtu = ETH_MAX_MTU;
	dev->features |= WIRE_BASE_FEATURES | WIRE_TAG_FEATURES;
	dev->hw_features = WIRE_BASE_FEATURES | WIRE_TAG_FEATURES | NETIF_F_GSO_SOFTWARE;
	dev->vlan_features = WIRE_BASE_FEATURES | NETIF_F_GSO_SOFTWARE;
	dev->mpls_features = WIRE_BASE_FEATURES | NETIF_F_GSO_SOFTWARE;
	dev->hw_enc_features = WIRE_BASE_FEATURES | NETIF_F_GSO_SOFTWARE;
}
