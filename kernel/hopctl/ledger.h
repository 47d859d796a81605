/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ledger.h - how many bytes of each key are on their way over a link or queued behind it
 *
 * The sender of data keeps a window per key (Floodgate: per destination), and the receiver tells
 * it what has left its buffer. Data is lost on the link, and so are control frames, which also
 * overtake data. Bytes that are lost must leave the window again; bytes that are on their way must
 * not. A time-out cannot tell one from the other, and neither can a sequence number in a credit,
 * which was sent while data was on its way (Floodgate, section 4.3, "Handling (rare) packet loss":
 * PSN, and a switchSYN after a large time-out).
 *
 * The order of frames can. When a frame arrives, all that the same transmit queue has sent before
 * it has arrived or is lost. InfiniBand (FCTBS of its flow control packets) and ATM's Quantum Flow
 * Control (buffer state check) compare counters by such frames. A device may have several transmit
 * queues, with an order in each and none among them, so here it is a cut through all of them, as
 * in Chandy and Lamport, Distributed Snapshots, 1985. That needs one bit in each data frame, with
 * one transmit queue, too: END may be lost, and another one leave behind data of the next block.
 *
 * Algorithm
 *
 *	- The sender numbers blocks of data. Each data frame bears a mark, the lowest bit of its
 *	  block's number. Bytes sent are counted per key; their sum at the end of each of the two
 *	  latest blocks is kept.
 *	- To end block n the sender goes on with n + 1 and sends END n on each transmit queue,
 *	  behind the data that it has sent there. It repeats this until the receiver says that n
 *	  is complete. Only then may n + 1 end.
 *	- Block n is complete when END n has come by all transmit queues. What comes then is of
 *	  block n + 1 or, with the other mark, of n + 2.
 *	- Per key the receiver tells the number n of the latest complete block and a balance: bytes
 *	  received of blocks after n, less bytes queued here.
 *	- The sender adds the balance to what it had sent by the end of n. So much is released:
 *	  forwarded, or lost. What it has sent beyond that is outstanding.
 *	- While bytes of a key are outstanding the sender ends blocks, and asks for the key if it
 *	  was not told of it since the latest complete block. For a key that the receiver knows
 *	  nothing of the answer is 0.
 *
 * Safety: outstanding is at least what is on its way or queued. No byte of a block up to n is on
 * its way when n is complete. So at most (sent - sent by the end of n - received of blocks after n)
 * are on their way, and together with what is queued that is at most sent - released. After that
 * what is on its way or queued grows by what is sent only, which counts as outstanding at once. So
 * a balance that comes late is too low and never too high. It is exact if nothing was lost after n.
 *
 * Healing: nothing is added up from what is told. Each balance stands alone, so one that arrives
 * makes good the loss of all before it. Bytes that were lost are in the sum by the end of n and not
 * in the balance. When nothing is sent any more and what was queued has left, the next complete
 * block has the balance 0, and nothing is outstanding: that takes an END that arrives by each
 * queue, and one answer.
 *
 * Restarts: frames bear the epochs of both ends, and are dropped if one is another (peer.c). A
 * sender that starts anew begins with block 0 and nothing sent. Frames of its earlier life may be
 * on their way, with any mark. The first complete block shows that they have come, so balances are
 * told from the second one on, which counts only what came after the first. The length of the queue
 * is the receiver's: a sender that starts anew is told what still waits from its earlier life, and
 * counts it as outstanding. A receiver that starts anew goes through the same, and the sender goes
 * on as if nothing had happened: what the receiver had before is released by the first balance.
 *
 * Wrap: sums are modulo 2^64, and only differences are looked at; 1 Tb/s takes four years for 2^64.
 * Numbers of blocks are 32 bits on the wire and compared with the two latest only. Balances are as
 * small as a block and a queue. Whoever sends them in 32 bits ends blocks in time, and leaves out
 * what does not fit.
 *
 * What callers have to do
 *
 *	- END must not overtake: it leaves from dequeue(), and not as TC_PRIO_CONTROL, which some
 *	  devices prefer. With several receive queues (RSS) the hook may see END before data that
 *	  came first: hop_ledger_complete() is called only when the device may keep none back.
 *	- A frame that is later than its END, or comes twice, counts wrongly until two more blocks
 *	  are complete.
 *	- Both ends count a frame by the same rule: as if segmented, without the fabric tag, and at
 *	  least ETH_ZLEN.
 *	- A frame that leaves the receiver's queue is taken off the key that it was added to, not
 *	  off one of after a restart.
 *	- Calls with the same key exclude each other. On each transmit queue END n comes behind all
 *	  frames for which hop_ledger_sent() returned the mark of n.
 *	- The number of transmit queues covers all that have frames on their way.
 *
 * Pure functions; selftests/model/ledger.pml has the same rules.
 */
#ifndef _SLUICE_HOPCTL_LEDGER_H
#define _SLUICE_HOPCTL_LEDGER_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <string.h>
#include "kernel_shim.h"
#endif

#define HOP_LEDGER_QUEUES	256	/* transmit queues of a device, at most */

/**
 * struct hop_ledger_tx - blocks of the data that a port sends
 * @block: number of the block that goes on; the one before it is the latest that has ended
 * @acked: the receiver has said that the latest ended block is complete
 */
struct hop_ledger_tx {
	u64	block;
	bool	acked;
};

/**
 * struct hop_ledger_tx_key - what a port has sent of a key; all 0 at first
 * @sent: bytes, ever
 * @through: the same at the end of the two blocks before @block; index: number of the block % 2
 * @block: struct hop_ledger_tx.block when @through was true
 * @released: bytes that are neither on their way nor queued at the receiver, ever; from before this
 *	end's start what waits there is taken off, so it may be below 0
 * @told: complete block of the balance that @released is from, 0 if none came
 */
struct hop_ledger_tx_key {
	u64	sent;
	u64	through[2];
	u64	block;
	u64	released;
	u64	told;
};

/**
 * enum hop_ledger_state - what the receiver knows of the sender's blocks
 * @HOP_LEDGER_UNKNOWN: no block was complete since one of both started
 * @HOP_LEDGER_FLUSHED: one was: nothing of an earlier life is on its way
 * @HOP_LEDGER_VALID: balances may be told
 */
enum hop_ledger_state {
	HOP_LEDGER_UNKNOWN,
	HOP_LEDGER_FLUSHED,
	HOP_LEDGER_VALID,
};

/**
 * struct hop_ledger_rx - blocks of the data that a port receives; all 0 at first
 * @round: how many blocks were complete, ever
 * @complete: number of the latest complete block
 * @ending: number of the block that has come to its end by some transmit queues
 * @state: enum hop_ledger_state
 * @queues: the neighbour's transmit queues
 * @missing: of them, those that @ending has not come to its end by; 0 if there is no such block
 * @ended: bit set of the others
 * @gathered: @ending has come to its end by all of them, and is not called complete yet
 */
struct hop_ledger_rx {
	u64	round;
	u32	complete;
	u32	ending;
	u8	state;
	u16	queues;
	u16	missing;
	u64	ended[HOP_LEDGER_QUEUES / 64];
	bool	gathered;
};

/**
 * struct hop_ledger_rx_key - what a port has received of a key; all 0 at first
 * @round: struct hop_ledger_rx.round when @open and @next were true
 * @open: bytes received of the block after the complete one
 * @next: of the block after that
 * @queued: bytes received that have not left, whatever block they were of
 */
struct hop_ledger_rx_key {
	u64	round;
	u64	open;
	u64	next;
	u64	queued;
};

/**
 * hop_ledger_tx_start - this end starts
 * @tx: its blocks; all its keys are new, too
 *
 * Block 0 is what was sent before. END 0 is due at once.
 */
static inline void hop_ledger_tx_start(struct hop_ledger_tx *tx)
{
	tx->block = 1;
	tx->acked = false;
}

/* The latest block that has ended. END with this number is due while tx->acked is false. */
static inline u32 hop_ledger_tx_ended(const struct hop_ledger_tx *tx)
{
	return tx->block - 1;
}

/**
 * hop_ledger_tx_end - end a block
 * @tx: blocks
 *
 * Two marks tell two blocks apart: were there a third one, too little would be counted. And blocks
 * that end faster than END arrives would never be complete.
 *
 * Return: END is due on each transmit queue. Not if the one before may be incomplete.
 */
static inline bool hop_ledger_tx_end(struct hop_ledger_tx *tx)
{
	if (!tx->acked)
		return false;
	tx->block++;
	tx->acked = false;
	return true;
}

/**
 * hop_ledger_acked - the receiver says which block is complete
 * @tx: blocks
 * @block: its number
 */
static inline void hop_ledger_acked(struct hop_ledger_tx *tx, u32 block)
{
	if (block == hop_ledger_tx_ended(tx))
		tx->acked = true;
}

/* Blocks may have ended since the key was last used, and nothing of it was sent in them. */
static inline void hop_ledger_tx_catch_up(const struct hop_ledger_tx *tx,
					  struct hop_ledger_tx_key *key)
{
	if (key->block == tx->block)
		return;
	if (tx->block - key->block > 1)
		key->through[tx->block & 1] = key->sent;
	key->through[(tx->block - 1) & 1] = key->sent;
	key->block = tx->block;
}

/**
 * hop_ledger_sent - a data frame goes to a transmit queue
 * @tx: blocks
 * @key: its key
 * @bytes: its length
 *
 * Return: the mark that it bears, 0 or 1.
 */
static inline unsigned int hop_ledger_sent(const struct hop_ledger_tx *tx,
					   struct hop_ledger_tx_key *key, u32 bytes)
{
	hop_ledger_tx_catch_up(tx, key);
	key->sent += bytes;
	return tx->block & 1;
}

/**
 * hop_ledger_outstanding - bytes that are on their way, or queued at the receiver, or not known
 *	to be lost
 * @key: their key
 */
static inline u64 hop_ledger_outstanding(const struct hop_ledger_tx_key *key)
{
	return key->sent - key->released;
}

/**
 * hop_ledger_told - the receiver tells a balance
 * @tx: blocks
 * @key: its key
 * @block: the block that was complete
 * @balance: what hop_ledger_balance() returned there
 *
 * The later of two balances is that of the later block, or the higher one: so they may come in any
 * order. Of block 0 there is none. One that releases more than was sent is wrong: a frame came
 * twice, or the receiver lies. It is ignored, and the next block puts it right.
 *
 * Return: it was new.
 */
static inline bool hop_ledger_told(struct hop_ledger_tx *tx, struct hop_ledger_tx_key *key,
				   u32 block, s64 balance)
{
	u32 age = hop_ledger_tx_ended(tx) - block;
	u64 number = tx->block - 1 - age, released;

	if (age > 1 || tx->block - 1 <= age || number < key->told)
		return false;
	hop_ledger_acked(tx, block);
	hop_ledger_tx_catch_up(tx, key);
	released = key->through[number & 1] + balance;
	if ((s64)(key->sent - released) < 0)
		return false;
	if (number == key->told && (s64)(released - key->released) <= 0)
		return false;
	key->told = number;
	key->released = released;
	return true;
}

/**
 * hop_ledger_asks - is the receiver to be asked for a balance?
 * @tx: blocks
 * @key: its key
 *
 * For the latest complete block, also while the one after it has ended and may be incomplete: else
 * a sender that ends a block as soon as it may would never ask. As long as anything is
 * outstanding a block has to end from time to time, and keys are asked for from time to time.
 */
static inline bool hop_ledger_asks(const struct hop_ledger_tx *tx,
				   const struct hop_ledger_tx_key *key)
{
	return hop_ledger_outstanding(key) && key->told + !tx->acked < tx->block - 1;
}

/**
 * hop_ledger_tx_idle - may the key be forgotten, to begin at 0 again?
 * @tx: blocks
 * @key: it
 *
 * Not while a balance may count bytes that were sent before.
 */
static inline bool hop_ledger_tx_idle(const struct hop_ledger_tx *tx,
				      struct hop_ledger_tx_key *key)
{
	hop_ledger_tx_catch_up(tx, key);
	return key->sent == key->released && key->sent == key->through[tx->block & 1];
}

/**
 * hop_ledger_rx_restart - the sender has started anew, or is another one, or its blocks have a gap
 * @rx: blocks
 *
 * What is queued stays queued.
 */
static inline void hop_ledger_rx_restart(struct hop_ledger_rx *rx)
{
	rx->state = HOP_LEDGER_UNKNOWN;
	rx->missing = 0;
	rx->gathered = false;
}

static inline void hop_ledger_rx_begin_end(struct hop_ledger_rx *rx, u32 block, u16 queues)
{
	if (rx->state != HOP_LEDGER_UNKNOWN && block != rx->complete + 1)
		hop_ledger_rx_restart(rx);
	rx->ending = block;
	rx->queues = queues;
	rx->missing = queues;
	rx->gathered = false;
	memset(rx->ended, 0, sizeof(rx->ended));
}

/* Is the block the latest complete one? */
static inline bool hop_ledger_is_complete(const struct hop_ledger_rx *rx, u32 block)
{
	return rx->state != HOP_LEDGER_UNKNOWN && block == rx->complete;
}

/**
 * hop_ledger_gather - END has come
 * @rx: blocks
 * @block: number of the block that has ended, not the complete one
 * @queue: transmit queue that it came by
 * @queues: how many the neighbour has
 *
 * Return: it was the last one that was missing. hop_ledger_complete() is due, as soon as no data
 * that came before it can still be kept back.
 */
static inline bool hop_ledger_gather(struct hop_ledger_rx *rx, u32 block, u16 queue, u16 queues)
{
	bool same = block == rx->ending && queues == rx->queues;
	u64 bit = 1ULL << (queue & 63);

	if (queue >= queues || queues > HOP_LEDGER_QUEUES || (same && rx->gathered))
		return false;
	if (!same || !rx->missing)
		hop_ledger_rx_begin_end(rx, block, queues);
	if (rx->ended[queue / 64] & bit)
		return false;
	rx->ended[queue / 64] |= bit;
	rx->gathered = !--rx->missing;
	return rx->gathered;
}

/**
 * hop_ledger_complete - all data that came before END has been counted
 * @rx: blocks; nothing happens if none is gathered
 */
static inline void hop_ledger_complete(struct hop_ledger_rx *rx)
{
	if (!rx->gathered)
		return;
	rx->gathered = false;
	rx->complete = rx->ending;
	rx->round++;
	if (rx->state != HOP_LEDGER_VALID)
		rx->state++;
}

/**
 * hop_ledger_ended - END has come, where data and frames come in one order
 * @rx: blocks
 * @block: number of the block that has ended
 * @queue: transmit queue that it came by
 * @queues: how many the neighbour has
 *
 * Return: the block is complete, and the sender is to be told, even if it has been before.
 */
static inline bool hop_ledger_ended(struct hop_ledger_rx *rx, u32 block, u16 queue, u16 queues)
{
	if (queue < queues && queues <= HOP_LEDGER_QUEUES && hop_ledger_is_complete(rx, block))
		return true;
	if (!hop_ledger_gather(rx, block, queue, queues))
		return false;
	hop_ledger_complete(rx);
	return true;
}

/* Blocks may have become complete since the key was last used. */
static inline void hop_ledger_rx_catch_up(const struct hop_ledger_rx *rx,
					  struct hop_ledger_rx_key *key)
{
	if (key->round == rx->round)
		return;
	key->open = rx->round - key->round == 1 ? key->next : 0;
	key->next = 0;
	key->round = rx->round;
}

/**
 * hop_ledger_received - a data frame has come
 * @rx: blocks
 * @key: its key
 * @mark: the mark that it bears
 * @bytes: its length
 */
static inline void hop_ledger_received(const struct hop_ledger_rx *rx,
				       struct hop_ledger_rx_key *key, unsigned int mark, u32 bytes)
{
	key->queued += bytes;
	hop_ledger_rx_catch_up(rx, key);
	if ((mark & 1) == (rx->complete & 1))
		key->next += bytes;
	else
		key->open += bytes;
}

/**
 * hop_ledger_left - a data frame is not queued here any more: forwarded, or dropped
 * @key: its key
 * @bytes: its length
 */
static inline void hop_ledger_left(struct hop_ledger_rx_key *key, u32 bytes)
{
	key->queued -= bytes;
}

/**
 * hop_ledger_balance - what is to be told of a key, with the number of the complete block
 * @rx: blocks, HOP_LEDGER_VALID
 * @key: it
 *
 * Return: bytes. Of a key that there is nothing of it is 0.
 */
static inline s64 hop_ledger_balance(const struct hop_ledger_rx *rx,
				     struct hop_ledger_rx_key *key)
{
	hop_ledger_rx_catch_up(rx, key);
	return key->open + key->next - key->queued;
}

/**
 * hop_ledger_rx_idle - may the key be forgotten, to begin at 0 again?
 * @rx: blocks
 * @key: it
 */
static inline bool hop_ledger_rx_idle(const struct hop_ledger_rx *rx,
				      struct hop_ledger_rx_key *key)
{
	hop_ledger_rx_catch_up(rx, key);
	return !key->open && !key->next && !key->queued;
}

#endif
