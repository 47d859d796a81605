// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - hopctl: ports, neighbours and control frames of a hop-by-hop flow controlled fabric
 *
 * Qdiscs become members of their device's port (hopctl.h). The port finds its neighbour,
 * takes the fabric tag off what it receives and labels it, tells the neighbour which of its
 * sub-queues to pause, and stores which of ours are paused. Nothing happens on devices without
 * a member.
 *
 *   netlink.c  the commands of the generic netlink family
 *   port.c     ports, members, configuration
 *   rx.c       the receive hook
 *   tx.c       the worker, which sends, and its timer
 *   event.c    messages about a port, and who gets them unasked
 *   dump.c     what a port says of itself
 *   peer.c     epochs, the neighbour's life, state of tagging
 *   probe.c    tagged probes of full size
 *   pause.c    PAUSE STATE, sent
 *   watch.c    the watchdog of the pausing side
 *   paused.c   PAUSE STATE, received, and the watchdog of the paused side
 *   tag.c      the fabric tag on and off
 *   blocks.c   blocks of data, sent and received (blocks.h)
 *   stream.c   told states: repetition, lease and refresh, whatever they say (content.h)
 *   hrtt.c     the 1-hop round-trip time
 *   shared.c   objects that the qdiscs of a namespace share: the pool
 *   root.c     where the congestion began for which a sub-queue is paused
 *   origin.c   by which port a packet came, tagged or not
 *   net.c      handles and pause counters of a namespace
 *   elide.c    backpressure that is left out
 *   urgent.c   ports for which the next packet is to send
 *   packet.c   control frames as packets
 *   link.c     times of the link
 *   frame.c    codec
 *
 * A file calls those below it in this list, and none above.
 */
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>

#include "port.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

static int device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct hop_port *port;

	if (event == NETDEV_CHANGEUPPER)
		hop_ports_uppers();
	if (event == NETDEV_CHANGEUPPER || event == NETDEV_UNREGISTER)
		hop_origins_forget(hop_net_of(dev));
	if (event == NETDEV_UNREGISTER)
		hop_pairs_forget(hop_net_of(dev), dev->ifindex);
	port = hop_port_find(dev);
	if (!port)
		return NOTIFY_DONE;

	switch (event) {
	case NETDEV_UNREGISTER:
		hop_port_kill(port);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		hop_port_carrier(port);
		break;
	case NETDEV_CHANGEMTU:
		hop_port_mtu(port);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = { .notifier_call = device_event };

static int __init hopctl_init(void)
{
	int err;

	err = hop_content_register(HOP_SLOT_PAUSE, &hop_pause_content);
	if (err)
		return err;
	err = register_pernet_subsys(&hop_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&device_notifier);
	if (err)
		goto no_notifier;
	err = hop_netlink_init();
	if (err)
		goto no_netlink;
	return 0;

no_netlink:
	unregister_netdevice_notifier(&device_notifier);
no_notifier:
	unregister_pernet_subsys(&hop_net_ops);
	return err;
}

/* No qdisc is a member any more, but ports may linger. Taking the notifier off sends
 * NETDEV_UNREGISTER to it for every device, which ends them.
 */
static void __exit hopctl_exit(void)
{
	unregister_netdevice_notifier(&device_notifier);
	hop_port_exit();
	hop_netlink_exit();
	unregister_pernet_subsys(&hop_net_ops);
	rcu_barrier();
}

module_init(hopctl_init);
module_exit(hopctl_exit);

module_param_named(state_spacing_ns, hop_state_spacing_ns, uint, 0644);
MODULE_PARM_DESC(state_spacing_ns,
		 "least time between two PAUSE STATE frames of a port, ns; 0: no distance at all, "
		 "not even the one that keeps them to 1 % of the link's time");
MODULE_DESCRIPTION("Companion of hop-by-hop flow control qdiscs");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NET_PF_PROTO_NAME(PF_NETLINK, NETLINK_GENERIC, "-family-" HOP_GENL_NAME);
