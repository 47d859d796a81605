/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocks.h - frames that leave behind data: which data has arrived, which is lost
 *
 * A control frame overtakes data: it goes past the qdisc, and ahead of what waits for the card. END
 * does not. A qdisc hands it out from dequeue(), so that it leaves behind all that it handed out
 * before by the same transmit queue, and when it arrives all of that has arrived or never will. So
 * it ends a block of data. ledger.h says what follows from it, blocks.c keeps a port's blocks, and
 * who has a kind's windows says by what key its bytes are counted (struct hop_blocks_ops).
 *
 * A kind that takes part
 *
 *	- calls hop_blocks_join() after hop_member_join(), and hop_blocks_leave() before
 *	  hop_member_leave();
 *	- begins dequeue() with hop_blocks_dequeue(), and returns what that does;
 *	- counts what it sends with a fabric tag by hop_ledger_sent(&member.blocks.tx, ...). The
 *	  tag has the mark (hop_tag_push());
 *	- says by hop_blocks_owe() whether anything is outstanding;
 *	- says by hop_blocks_left() that something has left which came by a port, and so a balance
 *	  has changed;
 *	- limits nothing by what is outstanding unless hop_blocks_valid(): there is a neighbour that
 *	  answers.
 *
 * All transmit queues of the device have to be such a kind's, and are HOP_FRAME_LANES at most: a
 * block that does not come to its end by one of them is never complete, and nothing is valid.
 */
#ifndef _SLUICE_HOPCTL_BLOCKS_H
#define _SLUICE_HOPCTL_BLOCKS_H

#include "hopctl.h"
#include "ledger.h"

#define HOP_BLOCKS_KEYS	4096	/* of a port */
#define HOP_BALANCES_FRAMES	8	/* see struct hop_config.balances_ns */

/**
 * struct hop_blocks_ops - by what key a kind counts bytes
 * @kind: HOP_KIND_*, one bit: both ends have it
 * @switches: both ends are switches, too
 * @received: a data frame came by the neighbour's sub-queue @queue. Context: receive hook. Return:
 *	where its key is counted, and its bytes in @bytes, as the neighbour counts them; NULL if it
 *	is not
 * @balance: what hop_ledger_balance() says of a key, whose bytes by hop_ingress_bytes() are its
 *	.queued then; 0 of one that there is nothing of. Context: port's lock, and that of the
 *	blocks
 * @told: the neighbour tells a balance, see hop_ledger_told(). Context: port's lock, RCU
 * @asks: write keys that hop_ledger_asks() is true of, up to @most. Context: qdisc lock. Return:
 *	how many
 */
struct hop_blocks_ops {
	u16		kind;
	bool		switches;
	struct hop_ledger_rx_key *
			(*received)(struct hop_port *port, const struct sk_buff *skb, u16 queue,
				    u32 *bytes);
	s64		(*balance)(struct hop_port *port, const struct hop_ledger_rx *rx, u16 key);
	void		(*told)(struct hop_port *port, u16 key, u32 block, s32 bytes);
	unsigned int	(*asks)(struct hop_member *m, u16 *keys, unsigned int most);
};

/**
 * hop_blocks_join - a member sends and counts by blocks
 * @m: it
 * @ops: how it counts; those of all members of a port are the same
 *
 * Context: RTNL.
 * Return: 0, -EOPNOTSUPP: the device has too many transmit queues, -EBUSY: there are others.
 */
int hop_blocks_join(struct hop_member *m, const struct hop_blocks_ops *ops);

/**
 * hop_blocks_leave - not any more
 * @m: a member; one that has not joined is left alone
 *
 * Context: RTNL. The operations may still be called until the next RCU grace period.
 */
void hop_blocks_leave(struct hop_member *m);

struct sk_buff *hop_blocks_end(struct hop_member *m, bool alone);

/**
 * hop_blocks_dequeue - the frame that is to leave before more data, if there is one
 * @m: a member
 * @alone: no packet of the qdisc may leave now
 *
 * Between two of them a packet goes first, unless none may: below a shaper that takes longer for
 * one of them than a block lasts there would be another one each time, and no packet would leave.
 *
 * It is in no backlog of the qdisc; the parents have been told of it. Context: qdisc lock.
 */
static inline struct sk_buff *hop_blocks_dequeue(struct hop_member *m, bool alone)
{
	if (likely(!m->blocks.gen || READ_ONCE(*m->blocks.gen) == m->blocks.seen))
		return NULL;
	return hop_blocks_end(m, alone);
}

/**
 * hop_blocks_owe - is anything outstanding?
 * @m: a member
 * @owes: blocks have to end from time to time, so that it comes to be known what was lost
 *
 * Context: qdisc lock.
 */
void hop_blocks_owe(struct hop_member *m, bool owes);

/**
 * hop_blocks_left - something has left this box that came by a handle
 * @m: a member of the egress port
 * @handle: the handle; its key is the number of the neighbour's sub-queue
 * @hurry: the balance is not to wait for others (hop_config.balances_ns), as after
 *	hop_config.balances_bytes
 *
 * Context: qdisc lock, softirqs off, or RCU.
 */
void hop_blocks_left(const struct hop_member *m, u16 handle, bool hurry);

/* Does the neighbour count what is sent? */
static inline bool hop_blocks_kin(const struct hop_member *m)
{
	const bool *kin = READ_ONCE(m->blocks.kin);

	return kin && READ_ONCE(*kin);
}

/* Does the neighbour answer, so that what is outstanding means something? */
static inline bool hop_blocks_valid(const struct hop_member *m)
{
	const bool *valid = READ_ONCE(m->blocks.valid);

	return valid && READ_ONCE(*valid);
}

#endif
