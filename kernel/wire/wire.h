/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wire.h - what the files of the virtual cable share
 *
 *   wire_link.c    ip link add, set, show, delete: options and pairs
 *   wire_dev.c     network device operations, ethtool
 *   wire_card.c    the transmit path: rings, the line, frames in flight, delivery
 *   wire_fault.c   lost, corrupted, duplicated and late frames
 *   wire_line.c    arithmetic, without kernel types
 */
#ifndef _SLUICE_WIRE_H
#define _SLUICE_WIRE_H

#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "../uapi/wire.h"
#include "wire_line.h"

#define WIRE_CONTROL_FRAMES	64	/* waiting ahead of the ring */
#define WIRE_RING_FRAMES	4096	/* waiting in one queue, whatever its bytes */
#define WIRE_FLIGHT_FRAMES	(1U << 20)
#define WIRE_BUDGET		64	/* frames delivered before others get their turn */

/**
 * struct wire_config - options of one direction
 * @rate_bps: bits per second of the line; 0 takes no time
 * @delay_ns: from the last bit leaving to the frame's arrival
 * @reorder_delay_ns: so much more for a frame that is late
 * @seed: of the fault stream
 * @ring_bytes: upper bound of the byte queue limit
 * @overhead_bytes: taken on the line by each frame beyond its own length
 * @loss: probability of losing any frame; all probabilities in parts per billion
 * @loss_control: of losing a control frame of the fabric
 * @loss_data: of losing any other frame
 * @loss_burst: mean length of a run of losses, in frames; 1 loses them independently
 * @corrupt: of flipping one bit
 * @duplicate: of sending a frame twice
 * @reorder: of a frame being late
 */
struct wire_config {
	u64 rate_bps;
	u64 delay_ns;
	u64 reorder_delay_ns;
	u64 seed;
	u32 ring_bytes;
	u32 overhead_bytes;
	u32 loss;
	u32 loss_control;
	u32 loss_data;
	u32 loss_burst;
	u32 corrupt;
	u32 duplicate;
	u32 reorder;
};

/**
 * struct wire_counters - what happened to the frames of one direction
 * @sent_frames: whose last bit has left
 * @sent_bytes: of those, as the stack counts them
 * @control_frames: of those, sent ahead of the ring
 * @control_overflow: dropped, WIRE_CONTROL_FRAMES were waiting already
 * @flight_overflow: dropped, WIRE_FLIGHT_FRAMES were in flight already
 * @no_memory: dropped, or not duplicated, for want of memory
 * @runt: dropped, shorter than an Ethernet header
 * @loss: lost with probability loss
 * @loss_control: lost with probability loss_control
 * @loss_data: lost with probability loss_data
 * @corrupted: with one bit flipped
 * @duplicated: sent twice
 * @reordered: late
 * @down: dropped because an end of the cable was or went down, or unplugged
 * @arrived_frames: handed to the other end
 * @arrived_bytes: of those
 * @oversize: dropped on arrival, longer than the other end's MTU and two VLAN tags
 * @ring_full: times that a queue was stopped at WIRE_RING_FRAMES (or, without byte queue
 *	limits, at the ring's bytes)
 * @busy_ns: time for which the line was occupied
 */
struct wire_counters {
	u64 sent_frames;
	u64 sent_bytes;
	u64 control_frames;
	u64 control_overflow;
	u64 flight_overflow;
	u64 no_memory;
	u64 runt;
	u64 loss;
	u64 loss_control;
	u64 loss_data;
	u64 corrupted;
	u64 duplicated;
	u64 reordered;
	u64 down;
	u64 arrived_frames;
	u64 arrived_bytes;
	u64 oversize;
	u64 ring_full;
	u64 busy_ns;
};

/**
 * struct wire_ring - frames of one transmit queue on the card
 * @frames: waiting for the line
 * @ready: in wire_card.ready while @frames is not empty
 * @done: in wire_card.done while a completion is to be reported
 * @bytes: on the card, waiting or being serialised
 * @done_frames: serialised and not yet reported
 * @done_bytes: of those
 */
struct wire_ring {
	struct sk_buff_head frames;
	struct list_head ready;
	struct list_head done;
	u32 bytes;
	u32 done_frames;
	u32 done_bytes;
};

/* Kinds of loss, each with bursts of its own */
enum {
	WIRE_LOSS_ANY,
	WIRE_LOSS_CONTROL,
	WIRE_LOSS_DATA,
	WIRE_LOSSES,
};

/**
 * struct wire_card - one direction of a cable, from the stack's hand to the other end
 * @lock: protects everything below; taken inside the transmit queue's lock, innermost
 * @up: between open and stop
 * @running: someone is delivering; he arms the timer when he is done
 * @config: written with RTNL and @lock, read with either
 * @line: when the line is free
 * @stream: fault stream
 * @burst: within a run of losses, one for each kind of loss
 * @busy: the frame being serialised, or NULL
 * @copy: a duplicate, to be sent right after @busy, or NULL
 * @control: frames that go ahead of the rings
 * @ready: rings with frames, next to be served first
 * @done: rings with completions to report
 * @flight: frames between the ends, in the order of their arrival
 * @late: those of them that others may overtake, likewise
 * @dead: lost frames, freed after @lock is released
 * @rings: one per transmit queue
 * @count: counters
 * @timer: the next end of a serialisation or arrival
 * @tasklet: the same, when it is due at once
 */
struct wire_card {
	spinlock_t lock;
	bool up;
	bool running;
	struct wire_config config;
	struct wire_line line;
	u64 stream;
	bool burst[WIRE_LOSSES];
	struct sk_buff *busy;
	struct sk_buff *copy;
	struct sk_buff_head control;
	struct list_head ready;
	struct list_head done;
	struct sk_buff_head flight;
	struct sk_buff_head late;
	struct sk_buff_head dead;
	struct wire_ring *rings;
	struct wire_counters count;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
};

/**
 * struct wire_priv - one end of a cable
 * @dev: this end
 * @peer: the other end; written under RTNL, NULL once the pair is being deleted
 * @second: made as the peer of the other; set once
 * @unplugged: the cable is pulled out at this end; RTNL
 * @card: the direction from here to there
 */
struct wire_priv {
	struct net_device *dev;
	struct net_device __rcu *peer;
	bool second;
	bool unplugged;
	struct wire_card card;
};

enum {
	WIRE_FRAME_CONTROL = 1,	/* went ahead of the ring */
	WIRE_FRAME_LOST = 2,	/* occupies the line, never arrives */
	WIRE_FRAME_COPY = 4,	/* a duplicate */
	WIRE_FRAME_LATE = 8,	/* others may overtake it */
};

/**
 * struct wire_frame - what the card remembers of a frame, in its private area
 * @ns: while waiting when it came, in flight when it arrives
 * @bytes: length as the byte queue limit counts it, a tag in metadata included
 * @header_bytes: of the headers that segments repeat; 0 if the frame is not segmented
 * @queue: transmit queue
 * @flags: WIRE_FRAME_*
 */
struct wire_frame {
	u64 ns;
	u32 bytes;
	u16 header_bytes;
	u16 queue;
	u8 flags;
};

static inline struct wire_frame *wire_frame(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct wire_frame) > sizeof_field(struct sk_buff, cb));
	return (struct wire_frame *)skb->cb;
}

static inline bool wire_config_has_faults(const struct wire_config *config)
{
	return READ_ONCE(config->loss) || READ_ONCE(config->loss_control) ||
	       READ_ONCE(config->loss_data) || READ_ONCE(config->corrupt) ||
	       READ_ONCE(config->duplicate) || READ_ONCE(config->reorder);
}

int wire_card_init(struct wire_priv *priv);
void wire_card_free(struct wire_card *card);
void wire_card_configure(struct wire_priv *priv, const struct wire_config *config, bool reseed);
void wire_card_open(struct wire_priv *priv);
void wire_card_stop(struct wire_priv *priv);
void wire_card_lose_flight(struct wire_card *card);
void wire_card_count(struct wire_card *card, struct wire_counters *to);
netdev_tx_t wire_card_xmit(struct sk_buff *skb, struct net_device *dev);

void wire_fault_decide(struct wire_card *card, struct sk_buff *skb);

void wire_dev_setup(struct net_device *dev);

extern struct rtnl_link_ops wire_link_ops;

#endif
