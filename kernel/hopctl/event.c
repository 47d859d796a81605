// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - messages of generic netlink about a port, and who gets them unasked
 *
 * Events are noted in the port under its lock; its worker sends what was noted, one message for
 * all, at most one in HOP_EVENT_EVERY_NS for a port, and only if somebody listens.
 */
#include <net/genetlink.h>

#include "port.h"

static const struct genl_multicast_group hop_groups[] = {
	{ .name = HOP_GENL_GROUP },
};

/* Operations come from netlink.c. */
struct genl_family hop_family __ro_after_init = {
	.name		= HOP_GENL_NAME,
	.version	= HOP_GENL_VERSION,
	.maxattr	= HOP_N_MAX,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.resv_start_op	= HOP_CMD_MAX + 1,
	.mcgrps		= hop_groups,
	.n_mcgrps	= ARRAY_SIZE(hop_groups),
};

/* A bitmap without the zeros at its end */
static int put_bitmap(struct sk_buff *skb, int attr, const u64 *words)
{
	u64 copy[HOP_BITMAP_WORDS];
	unsigned int i, used = 0;

	for (i = 0; i < HOP_BITMAP_WORDS; i++) {
		copy[i] = READ_ONCE(words[i]);
		if (copy[i])
			used = i + 1;
	}
	return nla_put(skb, attr, used * sizeof(u64), copy);
}

/**
 * hop_event_put - put what a port says of itself into a message
 * @skb: the message
 * @port: the port
 * @msg: to whom, and why
 *
 * Context: RCU or RTNL, without the port's lock.
 * Return: 0 or -EMSGSIZE.
 */
int hop_event_put(struct sk_buff *skb, struct hop_port *port, const struct hop_message *msg)
{
	u8 cmd = msg->events ? HOP_CMD_PORT_EVENT : HOP_CMD_PORT_GET;
	void *head;

	head = genlmsg_put(skb, msg->portid, msg->seq, &hop_family, msg->flags, cmd);
	if (!head)
		return -EMSGSIZE;
	if (nla_put_u32(skb, HOP_N_IFINDEX, port->dev->ifindex) ||
	    nla_put_string(skb, HOP_N_IFNAME, port->dev->name) ||
	    nla_put_u16(skb, HOP_N_QUEUES, READ_ONCE(port->queues)) ||
	    nla_put_u64_64bit(skb, HOP_N_SPEED, hop_speed_bytes(READ_ONCE(port->speed)),
			      HOP_N_PAD) ||
	    put_bitmap(skb, HOP_N_PAUSED, port->paused) ||
	    put_bitmap(skb, HOP_N_PAUSING, port->streams[HOP_SLOT_PAUSE].told))
		goto full;
	if (msg->events &&
	    (nla_put_u32(skb, HOP_N_EVENTS, msg->events) ||
	     nla_put_u64_64bit(skb, HOP_N_TIME, hop_now(), HOP_N_PAD)))
		goto full;
	if (hop_roots_put(port, skb) || hop_port_put(port, skb, HOP_N_PORT))
		goto full;
	genlmsg_end(skb, head);
	return 0;
full:
	genlmsg_cancel(skb, head);
	return -EMSGSIZE;
}

/**
 * hop_event_send - tell whoever listens
 * @port: the port
 * @events: HOP_EVENT_*
 *
 * Context: RCU or RTNL, without the port's lock; does not sleep.
 */
void hop_event_send(struct hop_port *port, u32 events)
{
	struct hop_message msg = { .events = events };
	struct net *net = dev_net(port->dev);
	struct sk_buff *skb;

	if (!genl_has_listeners(&hop_family, net, 0))
		return;
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	if (!skb)
		return;
	if (hop_event_put(skb, port, &msg))
		nlmsg_free(skb);
	else
		genlmsg_multicast_netns(&hop_family, net, skb, 0, 0, GFP_ATOMIC);
}
