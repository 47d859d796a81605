/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * root.h - where the congestion began that holds an upstream sub-queue
 *
 * A packet that is queued over the threshold pauses the sub-queue that it came from. It has a
 * *cause*: the egress sub-queue that it waits in, and whether that one was held by its own
 * neighbour when the packet came. Not held: the congestion is this port's own, and its id is the
 * root. Held: the root is what the neighbour tells of the pause, one hop further away.
 *
 * An upstream sub-queue may be paused for several causes at once. Each marked packet is counted
 * for its cause and taken off when it leaves, so it is known which of them are in force. The
 * oldest of these is told. When its last packet has left, the next one is the oldest, though the
 * upstream sub-queue was never resumed in between. HOP_CAUSES causes are told apart. A
 * packet with one more is only counted: then there are others, and if they are all that is left,
 * the root is not known.
 *
 * The root of a cause is looked up when it is told, not when it begins: the neighbour may tell its
 * own later, and it may change.
 *
 * In a circle of ports that hold each other a root comes back to its port, which begins again with
 * 0 hops. If the port where it began is in no circle and does not hold anybody any more, it would
 * go round for ever; after HOP_ROOT_HOPS hops it is told no further, and the port that does not
 * tell it names itself. A port that has by chance the id of another one takes that one's root for
 * its own; the id then names neither of them.
 *
 * Pure functions. Whoever calls them has a lock for each struct hop_causes.
 */
#ifndef _SLUICE_HOPCTL_ROOT_H
#define _SLUICE_HOPCTL_ROOT_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

#include "../uapi/hopctl.h"

#define HOP_CAUSES		3
#define HOP_CAUSE_NONE		0	/* of a packet that is not counted */
#define HOP_CAUSE_OTHERS	(HOP_CAUSES + 1)

/**
 * struct hop_root - where the congestion began
 * @id: of the port, 0: not known
 * @hops: ports from there to the one that tells it
 * @more: there are others
 */
struct hop_root {
	u16	id;
	u8	hops;
	bool	more;
};

/**
 * struct hop_cause - why an upstream sub-queue is paused
 * @ifindex: the egress port
 * @queue: its sub-queue that is over the threshold
 * @held: it was held by its neighbour
 * @packets: that are queued for this cause, 0: there is none
 * @order: the larger the later it began, modulo 2^32
 * @root: as it was looked up last
 */
struct hop_cause {
	u32		ifindex;
	u16		queue;
	bool		held;
	u32		packets;
	u32		order;
	struct hop_root	root;
};

/**
 * struct hop_causes - all causes of one upstream sub-queue
 * @cause: those that are told apart, in no order
 * @order: of the next one
 * @others: packets with any other
 */
struct hop_causes {
	struct hop_cause	cause[HOP_CAUSES];
	u32			order;
	u32			others;
};

/* A port's id while nobody gives it one: an epoch is random already. */
static inline u16 hop_root_of_epoch(u32 epoch)
{
	return (epoch ^ epoch >> 16) & 0xffff ?: 1;
}

/* In one word, which is read without a lock: 0 if it is not known. */
static inline u32 hop_root_pack(struct hop_root root)
{
	return root.id ? (u32)root.id << 16 | root.hops << 1 | root.more : 0;
}

static inline struct hop_root hop_root_unpack(u32 word)
{
	return (struct hop_root) {
		.id = word >> 16, .hops = word >> 1 & 0x7f, .more = word & 1,
	};
}

/**
 * hop_root_next - what a port tells of a cause whose sub-queue is held
 * @heard: what its neighbour has told
 * @own: the port's id
 *
 * Return: the root.
 */
static inline struct hop_root hop_root_next(struct hop_root heard, u16 own)
{
	if (!heard.id)
		return heard;
	if (heard.id == own)
		return (struct hop_root) { .id = own, .more = heard.more };
	if (heard.hops >= HOP_ROOT_HOPS)
		return (struct hop_root) { .id = own, .more = true };
	heard.hops++;
	return heard;
}

/**
 * hop_causes_add - a packet has been marked
 * @c: causes of the sub-queue that it came from
 * @ifindex: its egress port
 * @queue: and its sub-queue there
 * @held: which is held
 *
 * Return: what hop_causes_del() is to be given when it leaves.
 */
static inline u8 hop_causes_add(struct hop_causes *c, u32 ifindex, u16 queue, bool held)
{
	unsigned int i, unused = HOP_CAUSES;

	for (i = 0; i < HOP_CAUSES; i++) {
		struct hop_cause *cause = &c->cause[i];

		if (!cause->packets) {
			unused = i;
		} else if (cause->ifindex == ifindex && cause->queue == queue &&
			   cause->held == held) {
			cause->packets++;
			return i + 1;
		}
	}
	if (unused == HOP_CAUSES) {
		c->others++;
		return HOP_CAUSE_OTHERS;
	}
	c->cause[unused] = (struct hop_cause) {
		.ifindex = ifindex, .queue = queue, .held = held, .packets = 1, .order = c->order++,
	};
	return unused + 1;
}

/**
 * hop_causes_del - a packet that was marked has left
 * @c: causes of the sub-queue that it came from
 * @number: what hop_causes_add() returned for it, not HOP_CAUSE_NONE
 */
static inline void hop_causes_del(struct hop_causes *c, u8 number)
{
	if (number == HOP_CAUSE_OTHERS)
		c->others--;
	else
		c->cause[number - 1].packets--;
}

/**
 * hop_causes_root - what is to be told
 * @c: causes, each with its root as it is now
 *
 * Return: the root of the oldest one in force. It has @more if there is one in force with another
 * root, or one whose root is not known.
 */
static inline struct hop_root hop_causes_root(const struct hop_causes *c)
{
	const struct hop_cause *oldest = NULL;
	struct hop_root root = {};
	unsigned int i;

	for (i = 0; i < HOP_CAUSES; i++)
		if (c->cause[i].packets &&
		    (!oldest || (s32)(c->cause[i].order - oldest->order) < 0))
			oldest = &c->cause[i];
	if (oldest)
		root = oldest->root;
	root.more |= c->others;
	for (i = 0; i < HOP_CAUSES; i++)
		if (c->cause[i].packets && c->cause[i].root.id != root.id)
			root.more = true;
	return root;
}

#endif
