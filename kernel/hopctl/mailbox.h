/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mailbox.h - balances on their way from the port to a qdisc, without a lock of the qdisc
 *
 * The port puts balances in under its lock, and the qdisc takes them out under its own. One that
 * has not been taken out yet is replaced by a later one. After putting some in, the qdisc has to be
 * kicked.
 */
#ifndef _SLUICE_HOPCTL_MAILBOX_H
#define _SLUICE_HOPCTL_MAILBOX_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>

/**
 * struct hop_mailbox - balances by key
 * @full: a bit for each key: there is one
 * @said: number of the block << 32 | balance, one for each key
 * @keys: how many
 */
struct hop_mailbox {
	unsigned long	*full;
	atomic64_t	*said;
	unsigned int	keys;
};

/* Is what is in the box later? Of one block the higher balance is. */
static inline bool hop_mailbox_is_later(u64 said, u32 block, s32 bytes)
{
	s32 ahead = (u32)(said >> 32) - block;

	return ahead > 0 || (!ahead && (s32)said >= bytes);
}

/**
 * hop_mailbox_put - a balance has come
 * @box: the mailbox
 * @key: below hop_mailbox.keys
 * @block: which block was complete
 * @bytes: the balance
 *
 * Context: port's lock.
 */
static inline void hop_mailbox_put(struct hop_mailbox *box, unsigned int key, u32 block, s32 bytes)
{
	if (test_bit(key, box->full) &&
	    hop_mailbox_is_later(atomic64_read(&box->said[key]), block, bytes))
		return;
	atomic64_set(&box->said[key], (u64)block << 32 | (u32)bytes);
	smp_mb__before_atomic();
	set_bit(key, box->full);
}

static inline bool hop_mailbox_is_empty(const struct hop_mailbox *box)
{
	return bitmap_empty(box->full, box->keys);
}

/**
 * hop_mailbox_take - take a balance out
 * @box: the mailbox
 * @key: one of which hop_mailbox.full has the bit
 * @bytes: the balance
 *
 * Context: qdisc lock.
 * Return: which block was complete.
 */
static inline u32 hop_mailbox_take(struct hop_mailbox *box, unsigned int key, s32 *bytes)
{
	u64 said;

	clear_bit(key, box->full);
	smp_mb__after_atomic();
	said = atomic64_read(&box->said[key]);
	*bytes = (s32)said;
	return said >> 32;
}

#endif
