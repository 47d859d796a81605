/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * buffer.h - what a qdisc holds of the buffer that qdiscs of a namespace share
 *
 * The rule is pool.h's: dynamic thresholds. The pool itself is hopctl's. A qdisc without a pool
 * has its own limit alone.
 */
#ifndef _SLUICE_SCHED_BUFFER_H
#define _SLUICE_SCHED_BUFFER_H

#include "../hopctl/hopctl.h"
#include "options.h"
#include "pool.h"

/**
 * struct hop_buffer - a qdisc's part of the pool
 * @pool: the pool, or NULL
 * @held: bytes taken from it; qdisc lock
 */
struct hop_buffer {
	struct hop_pool	*pool;
	u32		held;
};

/* May one user hold so much, if all hold so much? */
static inline bool hop_buffer_allows(const struct hop_buffer *b, u64 held, u64 used, u32 alpha)
{
	return hop_pool_allows(held, used, hop_pool_size(b->pool), alpha);
}

static inline void hop_buffer_give(struct hop_buffer *b, u32 bytes)
{
	hop_pool_give(b->pool, bytes);
	b->held -= bytes;
}

/**
 * hop_buffer_take - room for a packet
 * @b: the qdisc's part, with a pool
 * @alpha: in 1 / HOP_ALPHA_ONE
 * @bytes: of the packet
 *
 * A look goes first: what is refused, as a rule, writes nothing that other processors use. Two
 * that pass it at once may both be too much; who sees that steps back, so that the pool never
 * holds more than it may.
 *
 * Return: false if there is none.
 */
static inline bool hop_buffer_take(struct hop_buffer *b, u32 alpha, u32 bytes)
{
	struct hop_pool *pool = b->pool;
	u64 used;

	if (!hop_buffer_allows(b, b->held + bytes, atomic_long_read(&pool->used) + bytes, alpha))
		return false;
	used = hop_pool_take(pool, bytes);
	if (unlikely(!hop_buffer_allows(b, b->held + bytes, used, alpha))) {
		hop_pool_give(pool, bytes);
		return false;
	}
	hop_pool_high(pool, used);
	b->held += bytes;
	return true;
}

/**
 * hop_buffer_switch - another pool, or none
 * @b: the qdisc's part
 * @pool: the pool
 * @bytes: what is queued now. It moves along, also if it is too much: then nothing is admitted
 *	until enough of it has left.
 */
static inline void hop_buffer_switch(struct hop_buffer *b, struct hop_pool *pool, u32 bytes)
{
	if (pool == b->pool)
		return;
	if (b->pool)
		hop_buffer_give(b, b->held);
	b->pool = pool;
	if (!pool)
		return;
	b->held = bytes;
	hop_pool_high(pool, hop_pool_take(pool, bytes));
}

/**
 * hop_buffer_find - the pool that a new configuration wants
 * @b: the qdisc's part
 * @sch: the qdisc
 * @size: bytes; 0: none
 * @opt: TCA_OPTIONS, or NULL
 * @attr: the option in it that is named if it is refused
 * @pool: filled in: the one that the qdisc has, another one, or NULL
 * @extack: says why not
 *
 * Last of what may fail, since it may change the pool's size. Context: RTNL.
 *
 * Return: 0, -EBUSY: it has another size, and other users, -ENOMEM.
 */
static inline int hop_buffer_find(const struct hop_buffer *b, struct Qdisc *sch, u32 size,
				  const struct nlattr *opt, int attr, struct hop_pool **pool,
				  struct netlink_ext_ack *extack)
{
	int err = 0;

	*pool = NULL;
	if (!size)
		return 0;
	if (b->pool) {
		*pool = b->pool;
		if (size != hop_pool_size(b->pool))
			err = hop_shared_resize(&b->pool->shared, size);
	} else {
		*pool = hop_pool_get(qdisc_dev(sch), size);
		err = PTR_ERR_OR_ZERO(*pool);
	}
	if (err != -EBUSY)
		return err;
	return hop_option_refuse(extack, opt ? nla_find_nested(opt, attr) : NULL,
				 "the namespace's pool has another size, and other users", err);
}

#endif
