// SPDX-License-Identifier: GPL-2.0-only
/*
 * wire_link.c - ip link add, set, show and delete of virtual cables
 *
 *   ip link add NAME type wire [ OPTION VALUE ... ] peer name PEER [ LINK ATTRIBUTES ]
 *   ip link set NAME type wire OPTION VALUE ...
 *
 * A cable is a pair of Ethernet devices, made and deleted together, each free to move to another
 * network namespace. Each holds the options of the direction in which it sends; those given at
 * creation go to both. A later change is parsed into a copy and put into force as a whole, so a
 * refused one changes nothing.
 *
 * What the cable does: serialise at a rate, delay, bound what waits on the card, lose, corrupt,
 * duplicate and reorder by a seeded stream; the other files say how. What it does not: flow
 * control of its own, autonegotiation, a frame check sequence (a corrupted frame arrives).
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/netlink.h>
#include <net/rtnetlink.h>

#include "../sched/options.h"
#include "wire.h"

#define WIRE_OPTION(_attr, _field, _max, _rule) {			\
	.attr = IFLA_WIRE_##_attr,					\
	.offset = offsetof(struct wire_config, _field),			\
	.size = sizeof_field(struct wire_config, _field),		\
	.max = (_max),							\
	.rule = (_rule),						\
}

#define WIRE_PROBABILITY(_attr, _field)					\
	WIRE_OPTION(_attr, _field, WIRE_PROBABILITY_MAX,		\
		    #_field " must be at most 1000000000 parts per billion, that is 100%")

static const struct hop_option wire_options[] = {
	WIRE_OPTION(RATE, rate_bps, WIRE_RATE_MAX_BPS,
		    "rate must be at most 1000000000000000 bit/s"),
	WIRE_OPTION(DELAY, delay_ns, WIRE_DELAY_MAX_NS,
		    "delay must be at most 10000000000 ns, that is 10 s"),
	WIRE_OPTION(RING, ring_bytes, WIRE_RING_MAX_BYTES,
		    "ring must be at most 67108864 bytes, that is 64 MiB"),
	WIRE_OPTION(OVERHEAD, overhead_bytes, WIRE_OVERHEAD_MAX_BYTES,
		    "overhead must be at most 256 bytes"),
	WIRE_PROBABILITY(LOSS, loss),
	WIRE_PROBABILITY(LOSS_CONTROL, loss_control),
	WIRE_PROBABILITY(LOSS_DATA, loss_data),
	{
		.attr = IFLA_WIRE_LOSS_BURST,
		.offset = offsetof(struct wire_config, loss_burst),
		.size = sizeof_field(struct wire_config, loss_burst),
		.min = 1,
		.max = WIRE_BURST_MAX_FRAMES,
		.rule = "loss_burst must be from 1 to 1000000 frames",
	},
	WIRE_PROBABILITY(CORRUPT, corrupt),
	WIRE_PROBABILITY(DUPLICATE, duplicate),
	WIRE_PROBABILITY(REORDER, reorder),
	WIRE_OPTION(REORDER_DELAY, reorder_delay_ns, WIRE_DELAY_MAX_NS,
		    "reorder_delay must be at most 10000000000 ns, that is 10 s"),
	WIRE_OPTION(SEED, seed, U64_MAX, "seed takes any 64-bit number"),
};

static const struct wire_config wire_config_default = {
	.ring_bytes = WIRE_RING_DEFAULT_BYTES,
	.loss_burst = 1,
};

/* Ranges are in the table above: the core would refuse a value without naming it. */
static const struct nla_policy wire_policy[IFLA_WIRE_MAX + 1] = {
	[IFLA_WIRE_UNSPEC]	 = { .strict_start_type = IFLA_WIRE_UNSPEC + 1 },
	[IFLA_WIRE_PEER]	 = NLA_POLICY_MIN_LEN(sizeof(struct ifinfomsg)),
	[IFLA_WIRE_RATE]	 = { .type = NLA_U64 },
	[IFLA_WIRE_DELAY]	 = { .type = NLA_U64 },
	[IFLA_WIRE_RING]	 = { .type = NLA_U32 },
	[IFLA_WIRE_OVERHEAD]	 = { .type = NLA_U32 },
	[IFLA_WIRE_LOSS]	 = { .type = NLA_U32 },
	[IFLA_WIRE_LOSS_CONTROL] = { .type = NLA_U32 },
	[IFLA_WIRE_LOSS_DATA]	 = { .type = NLA_U32 },
	[IFLA_WIRE_CORRUPT]	 = { .type = NLA_U32 },
	[IFLA_WIRE_DUPLICATE]	 = { .type = NLA_U32 },
	[IFLA_WIRE_SEED]	 = { .type = NLA_U64 },
	[IFLA_WIRE_PAD]		 = { .type = NLA_REJECT },
	[IFLA_WIRE_LOSS_BURST]	 = { .type = NLA_U32 },
	[IFLA_WIRE_REORDER]	 = { .type = NLA_U32 },
	[IFLA_WIRE_REORDER_DELAY] = { .type = NLA_U64 },
};

static int wire_validate_address(struct nlattr *tb[], struct netlink_ext_ack *extack)
{
	if (!tb[IFLA_ADDRESS])
		return 0;
	if (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS], "address must have 6 bytes");
		return -EINVAL;
	}
	if (!is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS]))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "address must be neither multicast nor zero");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static int wire_validate(struct nlattr *tb[], struct nlattr *data[],
			 struct netlink_ext_ack *extack)
{
	return wire_validate_address(tb, extack);
}

/* Options that are right by themselves, and wrong together. */
static int wire_config_check(const struct wire_config *config, struct netlink_ext_ack *extack)
{
	if (!wire_burst_fits(config->loss, config->loss_burst) ||
	    !wire_burst_fits(config->loss_control, config->loss_burst) ||
	    !wire_burst_fits(config->loss_data, config->loss_burst)) {
		NL_SET_ERR_MSG(extack,
			       "loss must be at most loss_burst / (loss_burst + 1), or 100%");
		return -EINVAL;
	}
	if (config->reorder && !config->reorder_delay_ns) {
		NL_SET_ERR_MSG(extack, "reorder needs a reorder_delay");
		return -EINVAL;
	}
	return 0;
}

static int wire_config_parse(struct wire_config *config, struct nlattr *data[], bool creating,
			     struct netlink_ext_ack *extack)
{
	int err;

	if (!data)
		return 0;
	err = hop_options_parse(wire_options, ARRAY_SIZE(wire_options), data, config, creating,
				extack);
	return err ?: wire_config_check(config, extack);
}

/* Make and register the other end. On success it has a reference from nobody: either end
 * deletes both.
 */
static struct net_device *wire_peer_create(struct net *net, const struct ifinfomsg *ifm,
					   struct nlattr *tb[], bool index,
					   struct netlink_ext_ack *extack)
{
	unsigned char name_type = NET_NAME_ENUM;
	char name[IFNAMSIZ] = "wire%d";
	struct net_device *peer;
	int err;

	if (ifm && tb[IFLA_IFNAME]) {
		nla_strscpy(name, tb[IFLA_IFNAME], IFNAMSIZ);
		name_type = NET_NAME_USER;
	}
	peer = rtnl_create_link(net, name, name_type, &wire_link_ops, tb, extack);
	if (IS_ERR(peer))
		return peer;
	if (!ifm || !tb[IFLA_ADDRESS])
		eth_hw_addr_random(peer);
	if (ifm && index)
		peer->ifindex = ifm->ifi_index;
	err = register_netdevice(peer);
	if (err) {
		free_netdev(peer);
		return ERR_PTR(err);
	}
	netif_carrier_off(peer);
	err = rtnl_configure_link(peer, ifm, 0, NULL);
	if (err) {
		unregister_netdevice(peer);
		return ERR_PTR(err);
	}
	return peer;
}

/* A pair may be added without a word about the peer: it is then made like the first end, but
 * for name and address.
 */
static struct net_device *wire_peer_parse(struct net *src_net, struct nlattr *tb[],
					  struct nlattr *data[], bool index,
					  struct netlink_ext_ack *extack)
{
	struct nlattr *peer_tb[IFLA_MAX + 1];
	const struct ifinfomsg *ifm = NULL;
	struct net_device *peer;
	struct net *net;
	int err;

	if (data && data[IFLA_WIRE_PEER]) {
		ifm = nla_data(data[IFLA_WIRE_PEER]);
		tb = peer_tb;
		err = rtnl_nla_parse_ifinfomsg(tb, data[IFLA_WIRE_PEER], extack);
		if (!err)
			err = wire_validate_address(tb, extack);
		if (err)
			return ERR_PTR(err);
	}
	net = rtnl_link_get_net(src_net, tb);
	if (IS_ERR(net))
		return ERR_CAST(net);
	peer = wire_peer_create(net, ifm, tb, index, extack);
	put_net(net);
	return peer;
}

static void wire_pair_join(struct net_device *dev, struct net_device *peer,
			   const struct wire_config *config)
{
	struct wire_priv *priv = netdev_priv(dev), *other = netdev_priv(peer);

	other->second = true;
	wire_card_configure(priv, config, true);
	wire_card_configure(other, config, true);
	rcu_assign_pointer(priv->peer, peer);
	rcu_assign_pointer(other->peer, dev);
}

static int wire_newlink(struct net *src_net, struct net_device *dev, struct nlattr *tb[],
			struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct wire_config config = wire_config_default;
	struct net_device *peer;
	int err;

	err = wire_config_parse(&config, data, true, extack);
	if (err)
		return err;
	peer = wire_peer_parse(src_net, tb, data, dev->ifindex, extack);
	if (IS_ERR(peer))
		return PTR_ERR(peer);
	if (!tb[IFLA_ADDRESS])
		eth_hw_addr_random(dev);
	err = register_netdevice(dev);
	if (err) {
		unregister_netdevice(peer);
		return err;
	}
	netif_carrier_off(dev);
	wire_pair_join(dev, peer, &config);
	return 0;
}

static int wire_changelink(struct net_device *dev, struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct wire_config config = priv->card.config;
	int err;

	if (!data)
		return 0;
	if (data[IFLA_WIRE_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_WIRE_PEER],
				    "peer can be given at creation only");
		return -EOPNOTSUPP;
	}
	err = wire_config_parse(&config, data, false, extack);
	if (err)
		return err;
	wire_card_configure(priv, &config, data[IFLA_WIRE_SEED]);
	return 0;
}

/* Called with RTNL, a grace period before the devices are freed. */
static void wire_dellink(struct net_device *dev, struct list_head *head)
{
	struct wire_priv *other, *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	RCU_INIT_POINTER(priv->peer, NULL);
	unregister_netdevice_queue(dev, head);
	if (!peer)
		return;
	other = netdev_priv(peer);
	RCU_INIT_POINTER(other->peer, NULL);
	unregister_netdevice_queue(peer, head);
}

static size_t wire_get_size(const struct net_device *dev)
{
	return ARRAY_SIZE(wire_options) * nla_total_size_64bit(sizeof(u64));
}

static int wire_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);

	return hop_options_dump(wire_options, ARRAY_SIZE(wire_options), &priv->card.config, skb,
				IFLA_WIRE_PAD);
}

static struct net *wire_get_link_net(const struct net_device *dev)
{
	struct wire_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	return peer ? dev_net(peer) : dev_net(dev);
}

struct rtnl_link_ops wire_link_ops = {
	.kind		= "wire",
	.priv_size	= sizeof(struct wire_priv),
	.maxtype	= IFLA_WIRE_MAX,
	.policy		= wire_policy,
	.setup		= wire_dev_setup,
	.validate	= wire_validate,
	.newlink	= wire_newlink,
	.changelink	= wire_changelink,
	.dellink	= wire_dellink,
	.get_size	= wire_get_size,
	.fill_info	= wire_fill_info,
	.get_link_net	= wire_get_link_net,
};

static int __init wire_module_init(void)
{
	return rtnl_link_register(&wire_link_ops);
}

static void __exit wire_module_exit(void)
{
	rtnl_link_unregister(&wire_link_ops);
}

module_init(wire_module_init);
module_exit(wire_module_exit);
MODULE_DESCRIPTION("Virtual cable with rate, delay, ring and faults");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("wire");
