// SPDX-License-Identifier: GPL-2.0-only
/*
 * pool.c - the buffer that the qdiscs of a network namespace share
 *
 * A namespace is a switch, and a switch has one packet memory. It comes with the first qdisc
 * that wants a part of it and goes with the last.
 *
 *   hop_net.pool, hop_pool.size, .users   RTNL; the size is read without
 *   hop_pool.used, .used_max              atomic
 */
#include <linux/err.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "port.h"

struct hop_pool *hop_pool_get(const struct net_device *dev, u32 size)
{
	struct hop_net *net = hop_net_of(dev);
	struct hop_pool *pool = net->pool;

	ASSERT_RTNL();
	if (pool && pool->size != size)
		return ERR_PTR(-EBUSY);
	if (!pool) {
		pool = kzalloc(sizeof(*pool), GFP_KERNEL);
		if (!pool)
			return ERR_PTR(-ENOMEM);
		pool->size = size;
		pool->net = net;
		net->pool = pool;
	}
	pool->users++;
	return pool;
}
EXPORT_SYMBOL_GPL(hop_pool_get);

int hop_pool_resize(struct hop_pool *pool, u32 size)
{
	ASSERT_RTNL();
	if (pool->users > 1)
		return -EBUSY;
	WRITE_ONCE(pool->size, size);
	return 0;
}
EXPORT_SYMBOL_GPL(hop_pool_resize);

void hop_pool_put(struct hop_pool *pool)
{
	if (!pool)
		return;
	ASSERT_RTNL();
	if (--pool->users)
		return;
	WARN_ON_ONCE(atomic_long_read(&pool->used));
	pool->net->pool = NULL;
	kfree(pool);
}
EXPORT_SYMBOL_GPL(hop_pool_put);
