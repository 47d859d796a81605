/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content.h - what is told in a stream (stream.h)
 *
 * A content says what there is to tell, and reads it. stream.c sees to it that the neighbour comes
 * to know it, and that nobody believes it for longer than its lease.
 *
 * A plain content says no more than what each word of a qdisc is now. Of several such qdiscs on one
 * port, as under mq, the first one speaks for all; without one all words are 0. What the neighbour
 * says is kept for hop_heard_word().
 */
#ifndef _SLUICE_HOPCTL_CONTENT_H
#define _SLUICE_HOPCTL_CONTENT_H

#include "frame.h"
#include "hopctl.h"
#include "stream.h"

/**
 * struct hop_content - a told state
 * @kinds: HOP_KIND_*: what the neighbour says is believed if it and we have one of these in common
 * @from_switch: and if it is taken for a switch
 * @ops: of a plain content: the functions of its qdiscs
 * @words: of a plain content: how many there are, here and at the neighbour
 * @word: of a plain content: what one of them is now
 * @pages: how many pages the neighbour can be told, by its latest HELLO; 0: nothing
 * @collect: find out what has changed: hop_stream_change(); called before anything is told
 * @said: that will be sent, under the stream's number. What is not acknowledged may be added to the
 *	frame, if there is room beside HOP_FRAME_REST; optional
 * @unsaid: the device did not take it; optional
 * @acked: the neighbour has taken what was said under a number, and before; optional
 * @start: a neighbour has come up that knows nothing: all pages are to be told that are not as at
 *	the beginning; optional
 * @stop: the neighbour is gone, and with it what it was told; optional
 * @rx_pages: how many pages the neighbour may tell
 * @rx: the neighbour says something new. Return: true if it is to end with its lease
 * @lost: what it has told is void: it is gone, its lease is over, or it is not believed any more
 *
 * A plain content has none of @pages, @collect, @rx_pages, @rx and @lost, any other has all. All
 * under the port's lock, bottom halves off, and RCU.
 */
struct hop_content {
	u16		kinds;
	bool		from_switch;
	const struct hop_member_ops *ops;
	unsigned int	words;
	u64		(*word)(const struct hop_member *m, unsigned int page);
	unsigned int	(*pages)(const struct hop_port *port);
	void		(*collect)(struct hop_port *port, u64 now);
	void		(*said)(struct hop_port *port, const struct hop_stream_part *part,
				struct hop_writer *w, u64 now);
	void		(*unsaid)(struct hop_port *port);
	void		(*acked)(struct hop_port *port, u32 seq);
	void		(*start)(struct hop_port *port, u64 now);
	void		(*stop)(struct hop_port *port);
	unsigned int	(*rx_pages)(const struct hop_port *port);
	bool		(*rx)(struct hop_port *port, const struct hop_told *told, u64 now);
	void		(*lost)(struct hop_port *port, u64 now);
};

/**
 * hop_tell - what a content tells of may have changed
 * @m: a member of the port that it tells
 *
 * Wakes the worker, which asks the content (@collect). Context: RCU with bottom halves off, as
 * under the qdisc lock, or RTNL.
 */
void hop_tell(const struct hop_member *m);

/**
 * hop_heard_word - what the neighbour has told in a plain content
 * @m: a member of the port that heard it
 * @slot: the told state
 * @page: which word
 *
 * Context: RTNL or RCU. On a machine of 32 bits a word may be half a new one.
 * Return: the word, 0 if none is known.
 */
u64 hop_heard_word(const struct hop_member *m, enum hop_slot slot, unsigned int page);

/**
 * hop_port_member - the qdisc of a port that has certain functions
 * @port: the port
 * @ops: its functions
 *
 * Context: RCU: a content's functions.
 * Return: the first such member, NULL if there is none.
 */
struct hop_member *hop_port_member(const struct hop_port *port, const struct hop_member_ops *ops);

/**
 * hop_port_member_at - the qdisc of a port that has a certain sub-queue
 * @port: the port
 * @queue: the sub-queue
 *
 * Context: RCU: a content's functions.
 * Return: the member, NULL if the sub-queue is of none.
 */
struct hop_member *hop_port_member_at(const struct hop_port *port, u16 queue);

/**
 * hop_port_has_kind - have both the port and its neighbour one of these kinds?
 * @port: the port
 * @kinds: HOP_KIND_*
 *
 * Context: port's lock: a content's functions.
 */
bool hop_port_has_kind(const struct hop_port *port, u16 kinds);

int hop_content_register(enum hop_slot slot, const struct hop_content *c);
void hop_content_unregister(enum hop_slot slot);

#endif
