// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - flowgen: runs traces of flows between endpoints of this kernel, open loop
 *
 * For experiments on a fabric of network namespaces: a trace says who sends how many bytes to
 * whom, and when; flowgen says when each flow was complete. Transport `gbn` is what RDMA cards
 * do: a flow starts at line rate, has an optional window, is acknowledged, and goes back to the
 * first lost packet. Transport `tcp` is the kernel's own.
 *
 * Everything happens in softirqs, so that one core carries many flows, and at instants that only
 * timers and packets determine, so that a run in virtual time has the same outcome each time.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "flowgen.h"

/* A namespace ends: sockets of the kernel do not keep it. */
static void __net_exit fg_net_exit(struct net *net)
{
	mutex_lock(&fg_mutex);
	fg_run_leave(net);
	mutex_unlock(&fg_mutex);
}

static struct pernet_operations fg_net_ops = { .exit = fg_net_exit };

/* A netlink socket is closed: so ends its run, whatever its process came to. */
static int fg_socket_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct netlink_notify *notify = ptr;
	struct fg_run *run;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC ||
	    notify->net != &init_net)
		return NOTIFY_DONE;
	mutex_lock(&fg_mutex);
	run = fg_run_find(notify->portid);
	if (run)
		fg_run_free(run);
	mutex_unlock(&fg_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block fg_socket_notifier = { .notifier_call = fg_socket_event };

static int __init flowgen_init(void)
{
	int err;

	err = fg_end_init();
	if (err)
		return err;
	err = fg_gbn_init();
	if (err)
		goto no_gbn;
	err = register_pernet_subsys(&fg_net_ops);
	if (err)
		goto no_net;
	err = netlink_register_notifier(&fg_socket_notifier);
	if (err)
		goto no_notifier;
	err = fg_netlink_init();
	if (err)
		goto no_netlink;
	return 0;

no_netlink:
	netlink_unregister_notifier(&fg_socket_notifier);
no_notifier:
	unregister_pernet_subsys(&fg_net_ops);
no_net:
	fg_gbn_exit();
no_gbn:
	fg_end_exit();
	return err;
}

/* Every endpoint holds the module, so none is left; the last may still be in its RCU callback. */
static void __exit flowgen_exit(void)
{
	fg_netlink_exit();
	netlink_unregister_notifier(&fg_socket_notifier);
	while (!list_empty(&fg_runs))
		fg_run_free(list_first_entry(&fg_runs, struct fg_run, node));
	unregister_pernet_subsys(&fg_net_ops);
	rcu_barrier();
	fg_gbn_exit();
	fg_end_exit();
}

module_init(flowgen_init);
module_exit(flowgen_exit);
MODULE_DESCRIPTION("Generator of flow-level traffic between network namespaces");
MODULE_LICENSE("GPL");
MODULE_ALIAS_NET_PF_PROTO_NAME(PF_NETLINK, NETLINK_GENERIC, "-family-" FLOWGEN_GENL_NAME);
