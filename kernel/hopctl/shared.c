// SPDX-License-Identifier: GPL-2.0-only
/*
 * shared.c - objects that the qdiscs of a network namespace share
 *
 * A namespace is a switch. What a switch has once, for all of its ports, comes with the first
 * qdisc that wants a part of it and goes with the last. It has a type and a size, which the first
 * user says. Packet memory is one: the pool.
 */
#include <linux/err.h>
#include <linux/rtnetlink.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "port.h"

static struct hop_shared *shared_find(const struct hop_net *net, const struct hop_shared_type *type)
{
	struct hop_shared *shared;

	list_for_each_entry(shared, &net->shared, node)
		if (shared->type == type)
			return shared;
	return NULL;
}

struct hop_shared *hop_shared_get(const struct net_device *dev, const struct hop_shared_type *type,
				  u32 size)
{
	struct hop_net *net = hop_net_of(dev);
	struct hop_shared *shared = shared_find(net, type);
	int err;

	ASSERT_RTNL();
	if (shared && shared->size != size)
		return ERR_PTR(-EBUSY);
	if (!shared) {
		shared = kvzalloc(type->bytes, GFP_KERNEL);
		if (!shared)
			return ERR_PTR(-ENOMEM);
		shared->type = type;
		shared->net = net;
		shared->size = size;
		err = type->made ? type->made(shared) : 0;
		if (err) {
			kvfree(shared);
			return ERR_PTR(err);
		}
		list_add_tail(&shared->node, &net->shared);
	}
	shared->users++;
	return shared;
}
EXPORT_SYMBOL_GPL(hop_shared_get);

int hop_shared_resize(struct hop_shared *shared, u32 size)
{
	ASSERT_RTNL();
	if (shared->users > 1)
		return -EBUSY;
	WRITE_ONCE(shared->size, size);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_shared_resize);

void hop_shared_put(struct hop_shared *shared)
{
	if (!shared)
		return;
	ASSERT_RTNL();
	if (--shared->users)
		return;
	if (shared->type->gone)
		shared->type->gone(shared);
	list_del(&shared->node);
	kvfree(shared);
}
EXPORT_SYMBOL_GPL(hop_shared_put);

/* ---- the pool ---- */

static void pool_gone(struct hop_shared *shared)
{
	WARN_ON_ONCE(atomic_long_read(&container_of(shared, struct hop_pool, shared)->used));
}

static const struct hop_shared_type hop_pool_type = {
	.bytes	= sizeof(struct hop_pool),
	.gone	= pool_gone,
};

struct hop_pool *hop_pool_get(const struct net_device *dev, u32 size)
{
	struct hop_shared *shared = hop_shared_get(dev, &hop_pool_type, size);

	return IS_ERR(shared) ? ERR_CAST(shared) : container_of(shared, struct hop_pool, shared);
}
EXPORT_SYMBOL_GPL(hop_pool_get);
