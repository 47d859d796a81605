// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink.c - the commands of the generic netlink family: ports, pairs (uapi/hopctl.h)
 *
 * Everything is of the namespace of the socket. Commands run under RTNL. For events see event.c.
 */
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "port.h"

static const struct nla_policy port_policy[] = {
	[HOP_N_IFINDEX] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy pair_policy[] = {
	[HOP_N_INGRESS] = NLA_POLICY_MIN(NLA_U32, 1),
	[HOP_N_EGRESS] = NLA_POLICY_MIN(NLA_U32, 1),
};

static struct hop_net *net_of(struct net *net)
{
	return net_generic(net, hop_net_id);
}

/* Return: the port of a device, or NULL: without qdiscs it is none any more. */
static struct hop_port *port_lookup(struct net *net, u32 ifindex)
{
	struct net_device *dev = __dev_get_by_index(net, ifindex);
	struct hop_port *port = dev ? hop_port_find(dev) : NULL;

	return port && port->n_members ? port : NULL;
}

static int port_get(struct sk_buff *request, struct genl_info *info)
{
	struct hop_message msg = { .portid = info->snd_portid, .seq = info->snd_seq };
	struct hop_port *port;
	struct sk_buff *skb;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, HOP_N_IFINDEX))
		return -EINVAL;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	rtnl_lock();
	port = port_lookup(genl_info_net(info), nla_get_u32(info->attrs[HOP_N_IFINDEX]));
	err = port ? hop_event_put(skb, port, &msg) : -ENODEV;
	rtnl_unlock();
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	if (err == -ENODEV)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[HOP_N_IFINDEX],
				    "no such port: the device has no qdisc of the fabric");
	return err;
}

static int port_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hop_message msg = {
		.portid = NETLINK_CB(cb->skb).portid, .seq = cb->nlh->nlmsg_seq,
		.flags = NLM_F_MULTI,
	};
	struct net *net = sock_net(skb->sk);
	struct hop_port *port;
	long at = 0;
	int err = 0;

	rtnl_lock();
	list_for_each_entry(port, &hop_ports, node) {
		if (dev_net(port->dev) != net || !port->n_members || at++ < cb->args[0])
			continue;
		err = hop_event_put(skb, port, &msg);
		if (err) {
			at--;
			break;
		}
	}
	rtnl_unlock();
	cb->args[0] = at;
	return skb->len ?: err;
}

static int pair_request(struct genl_info *info, int (*request)(struct hop_net *, int, int))
{
	static const u16 ends[] = { HOP_N_INGRESS, HOP_N_EGRESS };
	struct net *net = genl_info_net(info);
	u32 ifindex[ARRAY_SIZE(ends)];
	unsigned int i;
	int err;

	rtnl_lock();
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		err = -EINVAL;
		if (GENL_REQ_ATTR_CHECK(info, ends[i]))
			goto out;
		err = -ENODEV;
		ifindex[i] = nla_get_u32(info->attrs[ends[i]]);
		if (!__dev_get_by_index(net, ifindex[i])) {
			NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ends[i]], "no such device");
			goto out;
		}
	}
	err = request(net_of(net), ifindex[0], ifindex[1]);
out:
	rtnl_unlock();
	return err;
}

static int pair_add(struct sk_buff *request, struct genl_info *info)
{
	return pair_request(info, hop_pair_add);
}

static int pair_del(struct sk_buff *request, struct genl_info *info)
{
	return pair_request(info, hop_pair_del);
}

static int pair_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct hop_net *net = net_of(sock_net(skb->sk));
	int ingress, egress, err = 0;
	void *head;

	rtnl_lock();
	for (; hop_pair_get(net, cb->args[0], &ingress, &egress); cb->args[0]++) {
		err = -EMSGSIZE;
		head = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				   &hop_family, NLM_F_MULTI, HOP_CMD_PAIR_GET);
		if (!head)
			break;
		if (nla_put_u32(skb, HOP_N_INGRESS, ingress) ||
		    nla_put_u32(skb, HOP_N_EGRESS, egress)) {
			genlmsg_cancel(skb, head);
			break;
		}
		genlmsg_end(skb, head);
		err = 0;
	}
	rtnl_unlock();
	return skb->len ?: err;
}

static int info_get(struct sk_buff *request, struct genl_info *info)
{
	struct hop_net *net = net_of(genl_info_net(info));
	struct sk_buff *skb;
	void *head;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	head = genlmsg_put_reply(skb, info, &hop_family, 0, HOP_CMD_INFO_GET);
	if (!head || nla_put_u32(skb, HOP_N_VERSION, HOP_VERSION) ||
	    nla_put_u32(skb, HOP_N_HANDLES, HOP_HANDLES) ||
	    nla_put_u32(skb, HOP_N_HANDLES_USED, hop_handles_used(net))) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, head);
	return genlmsg_reply(skb, info);
}

static const struct genl_ops hop_ops[] = {
	{
		.cmd	= HOP_CMD_PORT_GET,
		.doit	= port_get,
		.dumpit	= port_dump,
		.policy	= port_policy,
		.maxattr = ARRAY_SIZE(port_policy) - 1,
	}, {
		.cmd	= HOP_CMD_PAIR_GET,
		.dumpit	= pair_dump,
	}, {
		.cmd	= HOP_CMD_PAIR_ADD,
		.doit	= pair_add,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= pair_policy,
		.maxattr = ARRAY_SIZE(pair_policy) - 1,
	}, {
		.cmd	= HOP_CMD_PAIR_DEL,
		.doit	= pair_del,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= pair_policy,
		.maxattr = ARRAY_SIZE(pair_policy) - 1,
	}, {
		.cmd	= HOP_CMD_INFO_GET,
		.doit	= info_get,
	},
};

int __init hop_netlink_init(void)
{
	hop_family.ops = hop_ops;
	hop_family.n_ops = ARRAY_SIZE(hop_ops);
	return genl_register_family(&hop_family);
}

void hop_netlink_exit(void)
{
	genl_unregister_family(&hop_family);
}
