// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - what the suites share, and what hopctl's own main.c has that its other files need
 */
#include <linux/if_vlan.h>
#include <linux/module.h>

#include "port.h"

#define CREATE_TRACE_POINTS
#include "../../kernel/hopctl/trace.h"

static const u8 sluice_mac[ETH_ALEN] = { 2, 0, 0, 0, 0, 1 };

static void sluice_idle(struct tasklet_struct *t)
{
}

struct hop_port *sluice_port_new(void)
{
	struct hop_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	/* not in a module_init(), which comes after the suites; once is enough */
	hop_content_register(HOP_SLOT_PAUSE, &hop_pause_content);
	port->dev = alloc_etherdev(0);
	port->pcpu = netdev_alloc_pcpu_stats(struct hop_pcpu);
	if (!port->dev || !port->pcpu) {
		if (port->dev)
			free_netdev(port->dev);
		free_percpu(port->pcpu);
		kfree(port);
		return NULL;
	}
	eth_hw_addr_set(port->dev, sluice_mac);
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->members);
	tasklet_setup(&port->work, sluice_idle);
	port->epoch = 0x11111111;
	hop_streams_init(port);
	hop_blocks_init(port);
	port->strip_at = U64_MAX;
	port->watch_at = U64_MAX;
	port->calm_at = U64_MAX;
	port->cfg.tpid = ETH_P_8021AD;
	port->frame_max = ETH_FRAME_LEN + VLAN_HLEN;
	return port;
}

void sluice_port_free(struct hop_port *port)
{
	if (!port)
		return;
	tasklet_kill(&port->work);
	free_percpu(port->pcpu);
	free_netdev(port->dev);
	kfree(port);
}

int sluice_port_init(struct kunit *test)
{
	test->priv = sluice_port_new();
	return test->priv ? 0 : -ENOMEM;
}

void sluice_port_exit(struct kunit *test)
{
	sluice_port_free(test->priv);
}

int sluice_net_init(struct hop_net *net)
{
	int err;

	spin_lock_init(&net->lock);
	INIT_LIST_HEAD(&net->parked);
	INIT_LIST_HEAD(&net->ports);
	INIT_LIST_HEAD(&net->pairs);
	rtnl_lock();
	err = hop_net_counters(net);
	rtnl_unlock();
	return err;
}

void sluice_net_exit(struct hop_net *net)
{
	struct hop_range *r, *next;

	list_for_each_entry_safe(r, next, &net->parked, node)
		kfree(r);
	kvfree(net->counters);
}

/* What the suites' ports have started that does not end with them: work of the whole module */
static void __exit sluice_kunit_exit(void)
{
	hop_port_exit();
}

module_exit(sluice_kunit_exit);

MODULE_DESCRIPTION("KUnit suites of Sluice");
MODULE_LICENSE("GPL");
