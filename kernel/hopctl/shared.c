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
#include <linux/slab.h>

#include "port.h"

/**
 * struct hop_shared_type - a kind of object that the qdiscs of a network namespace share
 * @bytes: of the object, which begins with a struct hop_shared
 * @gone: called before an object is freed, if not NULL
 */
struct hop_shared_type {
	size_t		bytes;
	void		(*gone)(struct hop_shared *shared);
};

static struct hop_shared *shared_find(const struct hop_net *net, const struct hop_shared_type *type)
{
	struct hop_shared *shared;

	list_for_each_entry(shared, &net->shared, node)
		if (shared->type == type)
			return shared;
	return NULL;
}

/**
 * shared_get - take part in an object of a device's namespace
 * @dev: the device
 * @type: which
 * @size: how large; the first user decides
 *
 * A new one is all 0 behind its head. Context: RTNL.
 * Return: the object, ERR_PTR(-EBUSY): it has another size, ERR_PTR(-ENOMEM).
 */
static struct hop_shared *shared_get(const struct net_device *dev,
				     const struct hop_shared_type *type, u32 size)
{
	struct hop_net *net = hop_net_of(dev);
	struct hop_shared *shared = shared_find(net, type);

	ASSERT_RTNL();
	if (shared && shared->size != size)
		return ERR_PTR(-EBUSY);
	if (!shared) {
		shared = kzalloc(type->bytes, GFP_KERNEL);
		if (!shared)
			return ERR_PTR(-ENOMEM);
		shared->type = type;
		shared->net = net;
		shared->size = size;
		list_add_tail(&shared->node, &net->shared);
	}
	shared->users++;
	return shared;
}

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
	kfree(shared);
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
	struct hop_shared *shared = shared_get(dev, &hop_pool_type, size);

	return IS_ERR(shared) ? ERR_CAST(shared) : container_of(shared, struct hop_pool, shared);
}
EXPORT_SYMBOL_GPL(hop_pool_get);
