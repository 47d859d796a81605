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

/**
 * enum hop_frame_error - why a frame was refused
 * @HOP_FRAME_OK: it was not
 * @HOP_FRAME_MALFORMED: a length does not fit, a content appears twice, or the epoch is 0
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
 * struct hop_pause_state - struct hop_tlv_pause_state in host byte order
 * @seq: sequence number
 * @lease_ns: life time of the pauses, ns
 * @first_word: first word of the bitmap
 * @count: words
 * @words: the words as they lie in the frame; read them with hop_pause_word()
 */
struct hop_pause_state {
	__u32		seq;
	__u32		lease_ns;
	__u16		first_word;
	__u16		count;
	const __u8	*words;
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
 * struct hop_frame - what is in a control frame
 * @epoch_mine: the sender's epoch, never 0
 * @epoch_yours: the receiver's epoch as the sender knows it
 * @has: set of the contents found: bit n for TLV type n
 * @hello: if it has HOP_TLV_HELLO
 * @state: if it has HOP_TLV_PAUSE_STATE; points into the buffer
 * @ack_seq: if it has HOP_TLV_PAUSE_ACK
 * @probe: if it has HOP_TLV_PROBE
 * @echo: if it has HOP_TLV_PROBE_ECHO
 */
struct hop_frame {
	__u32			epoch_mine;
	__u32			epoch_yours;
	__u32			has;
	struct hop_hello	hello;
	struct hop_pause_state	state;
	__u32			ack_seq;
	struct hop_probe	probe;
	struct hop_probe	echo;
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
	return f->has & (1U << type);
}

enum hop_frame_error hop_frame_parse(const void *buf, size_t len, struct hop_frame *f);
__u64 hop_pause_word(const struct hop_pause_state *s, unsigned int i);

void hop_frame_begin(struct hop_writer *w, void *buf, size_t size, __u32 mine, __u32 yours);
bool hop_frame_add_hello(struct hop_writer *w, const struct hop_hello *h);
bool hop_frame_add_state(struct hop_writer *w, __u32 seq, __u32 lease_ns, __u16 first_word,
			 __u16 count, const __u64 *words);
bool hop_frame_add_ack(struct hop_writer *w, __u32 seq);
bool hop_frame_add_probe(struct hop_writer *w, enum hop_tlv type, const struct hop_probe *p);
bool hop_frame_add_goodbye(struct hop_writer *w);
size_t hop_frame_end(struct hop_writer *w);

#endif
