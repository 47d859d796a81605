/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame.h - the codec of control frames
 *
 * Pure functions over bounded buffers, without sk_buff, that compile into the module and into
 * user-space programs alike. A buffer starts at struct hop_frame_hdr, behind the Ethernet
 * header.
 */
#ifndef _SLUICE_HOPCTL_FRAME_H
#define _SLUICE_HOPCTL_FRAME_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/stddef.h>
#else
#include <stdbool.h>
#include <stddef.h>
#endif

#include "../uapi/hopctl.h"

/* Largest control frame behind the Ethernet header, without padding: it has to pass where no
 * jumbo frame does.
 */
#define HOP_FRAME_MAX		1500
#define HOP_FRAME_TOLD		8	/* told states and acknowledgements in a frame, at most */
#define HOP_FRAME_REST		112	/* bytes of all but told states and probes */
#define HOP_FRAME_ASKS		64	/* keys that an END asks for, at most */
#define HOP_FRAME_BALANCES	64	/* balances in a frame of ours, at most */
#define HOP_FRAME_LANES		256	/* transmit queues of a port, at most */

/**
 * enum hop_frame_error - why a frame was refused
 * @HOP_FRAME_OK: it was not
 * @HOP_FRAME_MALFORMED: a length does not fit, a content appears more often than it may, or the
 *	epoch is 0
 * @HOP_FRAME_VERSION: another protocol version
 * @HOP_FRAME_RANGE: a word, queue, VLAN id or role that cannot exist
 */
enum hop_frame_error {
	HOP_FRAME_OK,
	HOP_FRAME_MALFORMED,
	HOP_FRAME_VERSION,
	HOP_FRAME_RANGE,
};

/**
 * struct hop_hello - struct hop_tlv_hello in host byte order
 * @role: enum hop_role
 * @flags: HOP_HELLO_*
 * @kinds: HOP_KIND_*
 * @queues: sub-queues of the sender
 * @tpid: TPID of the fabric tag
 * @ring_ns: ring time of the sender, ns
 * @sent_ns: sender's clock, ns
 * @echo_ns: receiver's clock, ns, of the HELLO that this one answers
 * @held_ns: ns between that HELLO's arrival and this one's departure
 */
struct hop_hello {
	__u8	role;
	__u8	flags;
	__u16	kinds;
	__u16	queues;
	__u16	tpid;
	__u32	ring_ns;
	__u64	sent_ns;
	__u64	echo_ns;
	__u64	held_ns;
};

/**
 * enum hop_slot - told states that there are (stream.h)
 * @HOP_SLOT_PAUSE: which sub-queues are paused: HOP_TLV_PAUSE_STATE; a page is a word of the bitmap
 * @HOP_SLOT_EXAMPLE: whatever an example tells: HOP_TLV_EXAMPLE_STATE
 */
enum hop_slot {
	HOP_SLOT_PAUSE,
	HOP_SLOT_EXAMPLE,
	HOP_SLOTS
};

/**
 * struct hop_told - a told state, or its acknowledgement, in host byte order
 * @slot: which one, enum hop_slot
 * @ack: it is the acknowledgement, of which only @seq counts
 * @seq: sequence number
 * @lease_ns: life time of what is told, ns
 * @first: first page
 * @count: pages
 * @data: the pages as they lie in the frame
 */
struct hop_told {
	__u8		slot;
	bool		ack;
	__u32		seq;
	__u32		lease_ns;
	__u16		first;
	__u16		count;
	const __u8	*data;
};

/**
 * struct hop_told_root - struct hop_tlv_root in host byte order
 * @queue: sub-queue of the receiver
 * @id: of the port where the congestion began, 0: not known
 * @hops: how far that is from the sender
 * @more: there are others
 */
struct hop_told_root {
	__u16	queue;
	__u16	id;
	__u8	hops;
	bool	more;
};

/**
 * struct hop_probe - struct hop_tlv_probe in host byte order
 * @nonce: random number
 * @vid: VLAN id of the probe
 * @size: bytes of the probe, with its tag, without FCS
 */
struct hop_probe {
	__u32	nonce;
	__u16	vid;
	__u16	size;
};

/**
 * struct hop_end - struct hop_tlv_end in host byte order
 * @block: the block that has ended
 * @lane: transmit queue that it came by
 * @lanes: how many there are
 * @count: keys that are asked for
 * @keys: they, as they lie in the frame
 */
struct hop_end {
	__u32		block;
	__u16		lane;
	__u16		lanes;
	__u16		count;
	const __u8	*keys;
};

/**
 * struct hop_balances - struct hop_tlv_balances in host byte order
 * @block: the complete block
 * @count: balances
 * @data: they, as they lie in the frame
 */
struct hop_balances {
	__u32		block;
	__u16		count;
	const __u8	*data;
};

/**
 * struct hop_frame - what is in a control frame
 * @epoch_mine: the sender's epoch, never 0
 * @epoch_yours: the receiver's epoch as the sender knows it
 * @has: set of the contents found: bit n for TLV type n
 * @n_roots: roots in HOP_TLV_PAUSE_ROOTS
 * @n_told: how many of @told there are
 * @hello: if it has HOP_TLV_HELLO
 * @probe: if it has HOP_TLV_PROBE
 * @echo: if it has HOP_TLV_PROBE_ECHO
 * @end: if it has HOP_TLV_END
 * @balances: if it has HOP_TLV_BALANCES
 * @roots: as they lie in the buffer, see hop_frame_root()
 * @told: told states and their acknowledgements, as they follow each other; they, @end and
 *	@balances point into the buffer
 *
 * What the frame does not have is left as it was.
 */
struct hop_frame {
	__u32			epoch_mine;
	__u32			epoch_yours;
	__u64			has;
	unsigned int		n_roots;
	unsigned int		n_told;
	struct hop_hello	hello;
	struct hop_probe	probe;
	struct hop_probe	echo;
	struct hop_end		end;
	struct hop_balances	balances;
	const __u8		*roots;
	struct hop_told		told[HOP_FRAME_TOLD];
};

/**
 * struct hop_writer - a frame being built
 * @buf: where
 * @size: bytes there
 * @used: bytes written, header included
 * @overflow: something did not fit and was left out
 */
struct hop_writer {
	__u8	*buf;
	size_t	size;
	size_t	used;
	bool	overflow;
};

static inline bool hop_frame_has(const struct hop_frame *f, enum hop_tlv type)
{
	return f->has & (1ULL << type);
}

/* What a told state of so many pages takes of a frame, bytes */
static inline unsigned int hop_frame_state_bytes(unsigned int pages)
{
	return sizeof(struct hop_frame_tlv) + sizeof(struct hop_tlv_pause_state) +
	       pages * sizeof(__be64);
}

enum hop_frame_error hop_frame_parse(const void *buf, size_t len, struct hop_frame *f);
__u64 hop_told_word(const struct hop_told *t, unsigned int i);
__u16 hop_end_key(const struct hop_end *e, unsigned int i);
__s32 hop_balances_get(const struct hop_balances *b, unsigned int i, __u16 *key);
struct hop_told_root hop_frame_root(const struct hop_frame *f, unsigned int i);

void hop_frame_begin(struct hop_writer *w, void *buf, size_t size, __u32 mine, __u32 yours);
bool hop_frame_add_hello(struct hop_writer *w, const struct hop_hello *h);
__u8 *hop_frame_add_state(struct hop_writer *w, enum hop_slot slot, __u32 seq, __u32 lease_ns,
			  __u16 first, __u16 count);
void hop_frame_put_words(__u8 *p, const __u64 *words, unsigned int count);
unsigned int hop_frame_balances_bytes(unsigned int count);
unsigned int hop_frame_balances_room(const struct hop_writer *w);
bool hop_frame_add_ack(struct hop_writer *w, enum hop_slot slot, __u32 seq);
bool hop_frame_add_probe(struct hop_writer *w, enum hop_tlv type, const struct hop_probe *p);
bool hop_frame_add_goodbye(struct hop_writer *w);
bool hop_frame_add_end(struct hop_writer *w, const struct hop_end *e, const __u16 *keys);
__u8 *hop_frame_add_balances(struct hop_writer *w, __u32 block, __u16 count);
void hop_frame_put_balance(__u8 *p, unsigned int i, __u16 key, __s32 bytes);
__u8 *hop_frame_add_roots(struct hop_writer *w, unsigned int count);
unsigned int hop_frame_roots_bytes(unsigned int count);
void hop_frame_put_root(__u8 *p, unsigned int i, const struct hop_told_root *r);
size_t hop_frame_end(struct hop_writer *w);

#endif
