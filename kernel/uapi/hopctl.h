/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * hopctl: what two neighbouring ports say to each other, and what a port says of itself.
 *
 * First the layout of control frames, then the netlink attributes that describe a port.
 * Plain C, also for user space. All fields of a frame are big-endian and nothing is aligned
 * beyond two bytes: read them with the accessors of the codec.
 *
 * A control frame is an Ethernet frame to 01:80:C2:00:00:0E of EtherType 0x88B5:
 *
 *	struct hop_frame_hdr, then TLVs (struct hop_frame_tlv and its value, padded to nothing),
 *	hdr.length bytes of TLVs in all; Ethernet padding may follow.
 *
 * Frozen: the header, the TLV rule (unknown types are skipped), and the epoch exchange.
 */
#ifndef _SLUICE_UAPI_HOPCTL_H
#define _SLUICE_UAPI_HOPCTL_H

#include <linux/types.h>

#define HOP_ETHERTYPE		0x88B5
#define HOP_DEST_MAC		{ 0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e }
#define HOP_VERSION		1

/* Sub-queue numbers of one port are 0 .. HOP_QUEUES_MAX - 1: number + 1 is the VLAN id. */
#define HOP_QUEUES_MAX		4094
#define HOP_BITMAP_WORDS	64	/* 64-bit words that hold a bit for each sub-queue */

/**
 * struct hop_frame_hdr - start of every control frame
 * @version: HOP_VERSION; frames of another version are counted and dropped
 * @flags: 0; a receiver ignores bits that it does not know
 * @length: bytes of TLVs that follow
 * @epoch_mine: random number of the sender's port, drawn at each start, never 0
 * @epoch_yours: the receiver's epoch as the sender knows it, 0 if it knows none
 */
struct hop_frame_hdr {
	__u8	version;
	__u8	flags;
	__be16	length;
	__be32	epoch_mine;
	__be32	epoch_yours;
} __attribute__((packed));

/**
 * struct hop_frame_tlv - start of one content
 * @type: enum hop_tlv
 * @length: bytes of the value that follows
 */
struct hop_frame_tlv {
	__be16	type;
	__be16	length;
} __attribute__((packed));

/**
 * enum hop_tlv - contents of control frames
 * @HOP_TLV_HELLO: struct hop_tlv_hello
 * @HOP_TLV_PAUSE_STATE: struct hop_tlv_pause_state, then count 64-bit words
 * @HOP_TLV_PAUSE_ACK: struct hop_tlv_ack: the sequence of the last PAUSE STATE taken
 * @HOP_TLV_PROBE: struct hop_tlv_probe: only in frames that carry the fabric tag
 * @HOP_TLV_PROBE_ECHO: struct hop_tlv_probe: the answer, untagged
 * @HOP_TLV_GOODBYE: no value: the sender's port is being taken down
 * @HOP_TLV_END: struct hop_tlv_end, then count 16-bit keys: leaves behind data, with it
 * @HOP_TLV_BALANCES: struct hop_tlv_balances, then count struct hop_tlv_balance: the answer
 * @HOP_TLV_EXAMPLE_STATE: struct hop_tlv_pause_state, of pages of 64 bits: for examples and tests
 * @HOP_TLV_EXAMPLE_ACK: struct hop_tlv_ack of it
 * @HOP_TLV_PAUSE_ROOTS: a struct hop_tlv_root for each of some sub-queues that a PAUSE STATE of the
 *	same frame pauses; a remark that is not acknowledged
 *
 * Told states have even numbers, and their acknowledgements the odd ones behind; likewise END and
 * its answer.
 */
enum hop_tlv {
	HOP_TLV_HELLO		= 1,
	HOP_TLV_PAUSE_STATE	= 2,
	HOP_TLV_PAUSE_ACK	= 3,
	HOP_TLV_PROBE		= 4,
	HOP_TLV_PROBE_ECHO	= 5,
	HOP_TLV_GOODBYE		= 6,
	HOP_TLV_END		= 8,
	HOP_TLV_BALANCES	= 9,
	HOP_TLV_EXAMPLE_STATE	= 30,
	HOP_TLV_EXAMPLE_ACK	= 31,
	HOP_TLV_PAUSE_ROOTS	= 36,
};

/**
 * enum hop_role - what stands at an end of a link
 * @HOP_ROLE_AUTO: ours: a switch if the device is a bridge port or its namespace forwards;
 *	the neighbour's: what its HELLO says
 * @HOP_ROLE_HOST: sends and receives its own traffic, never pauses anyone
 * @HOP_ROLE_SWITCH: forwards, and may pause its neighbour's sub-queues
 */
enum hop_role {
	HOP_ROLE_AUTO,
	HOP_ROLE_HOST,
	HOP_ROLE_SWITCH,
	__HOP_ROLE_MAX
};

/**
 * enum hop_tier - where a switch's port leads (BFC, App. B)
 * @HOP_TIER_NONE: not said
 * @HOP_TIER_DOWN: to a lower layer or to hosts
 * @HOP_TIER_UP: to a higher layer; packets that come from a higher layer and go back to one pause
 *	nobody, so that the backpressure graph of a Clos fabric has no cycle whatever the routes
 */
enum hop_tier {
	HOP_TIER_NONE,
	HOP_TIER_DOWN,
	HOP_TIER_UP,
	__HOP_TIER_MAX
};

/**
 * enum hop_strip - does a port offer to take fabric tags off?
 * @HOP_STRIP_AUTO: unless something looks at frames before it can: tc on the way in, XDP
 * @HOP_STRIP_ALWAYS: in any case
 */
enum hop_strip {
	HOP_STRIP_AUTO,
	HOP_STRIP_ALWAYS,
	__HOP_STRIP_MAX
};

/* Bits of hop_tlv_hello.flags */
#define HOP_HELLO_STRIPS_TAGS	0x01	/* my receive hook can take fabric tags off */
#define HOP_HELLO_ECHO_VALID	0x02	/* echo_ns and held_ns answer a HELLO of yours */
/* Frames of the user's own may carry tags of the fabric's TPID. So that none is taken off by
 * mistake, a port tags only between its own TAGS and the neighbour's STRIPPING: it sets TAGS when
 * its probes have been echoed, tags from the neighbour's STRIPPING on, and after it has stopped
 * keeps TAGS set while tagged frames may still be on their way: its ring time and a little more.
 */
#define HOP_HELLO_TAGS		0x04	/* take the outer tag off each frame of mine */
#define HOP_HELLO_STRIPPING	0x08	/* I do, since your HELLO said TAGS */

/**
 * struct hop_tlv_hello - who I am, and a time stamp to measure the link by
 * @role: enum hop_role, HOST or SWITCH
 * @flags: HOP_HELLO_*
 * @kinds: bit set of the qdisc kinds on this port (HOP_KIND_*); without one in common neither end
 *	tags, pauses or obeys
 * @queues: my sub-queues are 0 .. queues - 1 and may be paused; 0 if none may
 * @tpid: TPID of the fabric tag that I put and strip
 * @ring_ns: longest time that a frame waits on my card after it left its sub-queue
 * @sent_ns: my clock when this frame left
 * @echo_ns: sent_ns of the last HELLO that I got from you
 * @held_ns: how long I held it
 */
struct hop_tlv_hello {
	__u8	role;
	__u8	flags;
	__be16	kinds;
	__be16	queues;
	__be16	tpid;
	__be32	ring_ns;
	__be64	sent_ns;
	__be64	echo_ns;
	__be64	held_ns;
} __attribute__((packed));

#define HOP_KIND_BFC		0x0001
#define HOP_KIND_PFC		0x0002
#define HOP_KIND_FLOODGATE	0x0004
#define HOP_KIND_FLOWSAIL	0x0008
#define HOP_KIND_EXAMPLE	0x8000	/* examples and tests, of no fabric */

/**
 * struct hop_tlv_pause_state - which of your sub-queues are paused now
 * @seq: sequence number of this content, compared modulo 2^32
 * @lease_ns: the pauses end by themselves after this time
 * @first_word: first 64-bit word of the bitmap that follows; sub-queue n is bit n % 64
 *	(1 << (n % 64)) of word n / 64
 * @count: words that follow; what lies outside of them is unchanged
 */
struct hop_tlv_pause_state {
	__be32	seq;
	__be32	lease_ns;
	__be16	first_word;
	__be16	count;
} __attribute__((packed));

#define HOP_ROOT_HOPS		16	/* a root is told no further */
#define HOP_ROOT_MORE		0x01	/* struct hop_tlv_root: there are others */

/**
 * struct hop_tlv_root - where the congestion began for which I pause one of your sub-queues
 * @queue: the sub-queue
 * @id: of the port, unique only probably; 0: I do not know it, or no more
 * @hops: ports from that one to me, at most HOP_ROOT_HOPS; 0: it is me
 * @flags: HOP_ROOT_MORE; others are ignored
 */
struct hop_tlv_root {
	__be16	queue;
	__be16	id;
	__u8	hops;
	__u8	flags;
} __attribute__((packed));

/**
 * struct hop_tlv_ack - the last PAUSE STATE that I took
 * @seq: its sequence number
 */
struct hop_tlv_ack {
	__be32	seq;
} __attribute__((packed));

/**
 * struct hop_tlv_end - a block of data has ended
 *
 * All data frames that left before by the same transmit queue are of this block or of an older one.
 * @block: its number, modulo 2^32
 * @lane: which of my transmit queues this frame came by
 * @lanes: how many I have; the block is complete when END has come by each
 * @count: keys that follow: of these I want to know the balance when it is complete
 *
 * Data frames are told apart by the DEI bit of their fabric tag: the lowest bit of their block's
 * number.
 */
struct hop_tlv_end {
	__be32	block;
	__be16	lane;
	__be16	lanes;
	__be16	count;
} __attribute__((packed));

/**
 * struct hop_tlv_balance - of a key: bytes that came after a block, less bytes that wait here
 * @key: which, a sub-queue of yours or whatever the kind that both have in common counts by
 * @bytes: signed
 */
struct hop_tlv_balance {
	__be16	key;
	__be32	bytes;
} __attribute__((packed));

/**
 * struct hop_tlv_balances - which block is complete, and what of it waits here
 * @block: the latest complete block
 * @count: balances that follow
 */
struct hop_tlv_balances {
	__be32	block;
	__be16	count;
} __attribute__((packed));

/**
 * struct hop_tlv_probe - does a tagged frame of full size pass?
 * @nonce: random number, echoed
 * @vid: VLAN id that the probe carried
 * @size: bytes of the whole tagged frame without FCS
 */
struct hop_tlv_probe {
	__be32	nonce;
	__be16	vid;
	__be16	size;
} __attribute__((packed));

/**
 * enum hop_state - what a port does with the fabric tag, and why not
 * @HOP_STATE_TAGGING: the neighbour strips tags and has echoed the probes: frames are tagged
 * @HOP_STATE_NO_NEIGHBOUR: no valid HELLO yet, or none for the dead interval
 * @HOP_STATE_NO_STRIP: the neighbour does not say that it strips tags
 * @HOP_STATE_TPID: the neighbour uses another TPID
 * @HOP_STATE_PROBING: probes are under way
 * @HOP_STATE_PROBE_SIZE: tagged frames pass, but not of full size
 * @HOP_STATE_PROBE_TAG: untagged frames pass, tagged ones do not
 * @HOP_STATE_SHARED: more than one neighbour sends control frames on this link
 * @HOP_STATE_NO_CARRIER: the device has no carrier
 * @HOP_STATE_DISABLED: tagging was turned off
 * @HOP_STATE_KIND: the neighbour has none of this port's kinds of qdisc: no pauses either
 * @HOP_STATE_HOST: the neighbour is a host: it pauses nobody, so tags would tell it nothing
 */
enum hop_state {
	HOP_STATE_TAGGING,
	HOP_STATE_NO_NEIGHBOUR,
	HOP_STATE_NO_STRIP,
	HOP_STATE_TPID,
	HOP_STATE_PROBING,
	HOP_STATE_PROBE_SIZE,
	HOP_STATE_PROBE_TAG,
	HOP_STATE_SHARED,
	HOP_STATE_NO_CARRIER,
	HOP_STATE_DISABLED,
	HOP_STATE_KIND,
	HOP_STATE_HOST,
	__HOP_STATE_MAX
};

/**
 * enum - what a port says of itself (nested wherever a kind's statistics show its port)
 * @HOP_A_STATE: u8, enum hop_state
 * @HOP_A_ROLE: u8, enum hop_role, resolved: HOST or SWITCH
 * @HOP_A_PEER_ROLE: u8, what the neighbour is taken for: HOST, SWITCH, or AUTO while unknown
 * @HOP_A_PEER_MAC: 6 bytes, absent without a neighbour
 * @HOP_A_PEER_QUEUES: u16, sub-queues that the neighbour announced
 * @HOP_A_HANDLES: u16, handles that we hold for them; fewer than announced if the namespace
 *	ran out
 * @HOP_A_HRTT_RAW: u32 ns, measured: least round trip of the window and the neighbour's ring
 *	time; 0 if none yet
 * @HOP_A_HRTT: u32 ns, used: the measured one or HOP_A_REACTION if that is longer, clamped; or the
 *	configured one
 * @HOP_A_RING: u32 ns, our announced ring time: that of the longest transmit queue
 * @HOP_A_PAUSED_QUEUES: u32, our sub-queues that the neighbour holds paused now
 * @HOP_A_PAUSING_QUEUES: u32, the neighbour's sub-queues that we hold paused now
 * @HOP_A_PAUSE_COUNTERS: u64, sum of the pause counters of this port's handles: packets here
 *	that hold a pause
 * @HOP_A_HELLO_TX: u64, HELLOs sent
 * @HOP_A_HELLO_RX: u64, valid HELLOs received
 * @HOP_A_STATE_TX: u64, PAUSE STATE frames sent
 * @HOP_A_STATE_RX: u64, valid PAUSE STATE frames received
 * @HOP_A_STATE_REPEATS: u64, PAUSE STATE frames sent again for want of an echo
 * @HOP_A_REFRESH_TX: u64, PAUSE STATE frames sent as a refresh
 * @HOP_A_PAUSES_TX: u64, times that a pause counter went from 0 to 1
 * @HOP_A_RESUMES_TX: u64, times that a pause counter went from 1 to 0
 * @HOP_A_LEASE_EXPIRED: u64, times that pauses ended because no refresh came
 * @HOP_A_NEIGHBOUR_UP: u64, times that a neighbour's epoch was accepted
 * @HOP_A_NEIGHBOUR_LOST: u64, times that a neighbour fell silent, said goodbye or lost carrier
 * @HOP_A_PROBE_TX: u64, tagged probes sent
 * @HOP_A_PROBE_ECHOED: u64, of them, echoed
 * @HOP_A_TX_BUSY: u64, control frames put off because the device took none
 * @HOP_A_RX_MALFORMED: u64, frames dropped: a length that does not fit
 * @HOP_A_RX_VERSION: u64, frames dropped: another protocol version
 * @HOP_A_RX_EPOCH: u64, contents dropped: an epoch of before or not ours
 * @HOP_A_RX_STALE: u64, contents dropped: an older sequence number or time stamp
 * @HOP_A_RX_RANGE: u64, contents dropped: words or queues outside of what exists
 * @HOP_A_RX_UNTRUSTED: u64, PAUSE STATEs ignored: the neighbour is a host, or of another kind
 * @HOP_A_RX_SHARED: u64, frames from a second source address
 * @HOP_A_TAG_STRIPPED: u64, data frames whose fabric tag was taken off
 * @HOP_A_TAG_UNLABELLED: u64, of them, frames without a handle to label them by
 * @HOP_A_TAG_ERRORS: u64, received frames dropped because their tag could not be taken off
 * @HOP_A_HANDLE_FORGED: u64, packets whose handle does not belong to where they came from
 * @HOP_A_TIER: u8, enum hop_tier
 * @HOP_A_STORM: u8, 1 while the neighbour's pauses are ignored because it never lets go
 * @HOP_A_STORMS: u64, times that this began
 * @HOP_A_STORM_ENDS: u64, times that it ended: the neighbour had paused nothing for the restore
 *	time
 * @HOP_A_STORM_RX: u64, PAUSE STATEs that were taken meanwhile and not obeyed
 * @HOP_A_COUNTER_LEAKS: u64, pause counters set back although no packet held them: never but by a
 *	bug
 * @HOP_A_RX_LIMITED: u64, control frames dropped unread: too many in too short a time
 * @HOP_A_PAD: padding of 64-bit attributes
 * @HOP_A_INGRESS_BYTES: u64, bytes that came by this port and are queued at ports of the namespace
 *	that pause by ingress
 * @HOP_A_INGRESS_FILTER: u8, 1 while something looks at frames before the fabric tag is taken off:
 *	tc classifiers on the way in, tcx, XDP
 * @HOP_A_TAG_UNSEEN: u64, data frames that came with the fabric tag while there was such
 * @HOP_A_REACTION: u32 ns, measured: longest of the latest 16 times, of the last 10 s, from a
 *	pause that we sent to the last packet of its sub-queue; 0 if none
 * @HOP_A_REACTIONS: u64, how many of these times have been measured
 * @HOP_A_HRTT_CAPPED: u64, HELLOs after which the measured HRTT was beyond what is believed
 *	(TCA_BFC_HRTT_MAX)
 * @HOP_A_ROOT_ID: u16, the port's id as a root; absent unless roots are on
 * @HOP_A_ROOTS_TX: u64, PAUSE STATE frames sent that told roots
 * @HOP_A_ROOTS_RX: u64, roots that were taken from such frames of the neighbour
 * @HOP_A_ROOTS_FAR: u64, times that a root was not told since it was HOP_ROOT_HOPS hops away
 * @HOP_A_ORIGIN_UNKNOWN: u64, packets without a handle that came by a device below which there is
 *	no port, or a choice; only counted by kinds that ask where packets came from
 * @HOP_A_UNANSWERED: u64, times that the neighbour, which lives, did not say for long what has left
 *	it: windows ended until it did again
 */
enum {
	HOP_A_UNSPEC,
	HOP_A_STATE,
	HOP_A_ROLE,
	HOP_A_PEER_ROLE,
	HOP_A_PEER_MAC,
	HOP_A_PEER_QUEUES,
	HOP_A_HANDLES,
	HOP_A_HRTT_RAW,
	HOP_A_HRTT,
	HOP_A_RING,
	HOP_A_PAUSED_QUEUES,
	HOP_A_PAUSING_QUEUES,
	HOP_A_PAUSE_COUNTERS,
	HOP_A_HELLO_TX,
	HOP_A_HELLO_RX,
	HOP_A_STATE_TX,
	HOP_A_STATE_RX,
	HOP_A_STATE_REPEATS,
	HOP_A_REFRESH_TX,
	HOP_A_PAUSES_TX,
	HOP_A_RESUMES_TX,
	HOP_A_LEASE_EXPIRED,
	HOP_A_NEIGHBOUR_UP,
	HOP_A_NEIGHBOUR_LOST,
	HOP_A_PROBE_TX,
	HOP_A_PROBE_ECHOED,
	HOP_A_TX_BUSY,
	HOP_A_RX_MALFORMED,
	HOP_A_RX_VERSION,
	HOP_A_RX_EPOCH,
	HOP_A_RX_STALE,
	HOP_A_RX_RANGE,
	HOP_A_RX_UNTRUSTED,
	HOP_A_RX_SHARED,
	HOP_A_TAG_STRIPPED,
	HOP_A_TAG_UNLABELLED,
	HOP_A_TAG_ERRORS,
	HOP_A_HANDLE_FORGED,
	HOP_A_TIER,
	HOP_A_STORM,
	HOP_A_STORMS,
	HOP_A_STORM_ENDS,
	HOP_A_STORM_RX,
	HOP_A_COUNTER_LEAKS,
	HOP_A_RX_LIMITED,
	HOP_A_PAD,
	HOP_A_INGRESS_BYTES,
	HOP_A_INGRESS_FILTER,
	HOP_A_TAG_UNSEEN,
	HOP_A_REACTION,
	HOP_A_REACTIONS,
	HOP_A_HRTT_CAPPED,
	HOP_A_ROOT_ID,
	HOP_A_ROOTS_TX,
	HOP_A_ROOTS_RX,
	HOP_A_ROOTS_FAR,
	HOP_A_ORIGIN_UNKNOWN,
	HOP_A_UNANSWERED,
	__HOP_A_MAX
};

#define HOP_A_MAX	(__HOP_A_MAX - 1)

/*
 * The generic netlink family: ports and pairs of one network namespace, seen as a whole. What is
 * configured by a qdisc's options is not configured here.
 */
#define HOP_GENL_NAME		"hopctl"
#define HOP_GENL_VERSION	1
#define HOP_GENL_GROUP		"events"	/* multicast group */

/**
 * enum hop_cmd - commands
 * @HOP_CMD_PORT_GET: do: the port of HOP_N_IFINDEX, -ENODEV if there is none; dump: all ports.
 *	Replies hold HOP_N_IFINDEX, _IFNAME, _QUEUES, _SPEED, _PAUSED, _PAUSING, _ROOTS, _PORT
 * @HOP_CMD_PORT_EVENT: multicast: HOP_N_IFINDEX, _IFNAME, _EVENTS, _TIME, _PORT
 * @HOP_CMD_PAIR_GET: dump: pairs whose backpressure is elided: HOP_N_INGRESS, _EGRESS
 * @HOP_CMD_PAIR_ADD: elide one: packets from INGRESS to EGRESS pause nobody (BFC, App. B). Needs
 *	CAP_NET_ADMIN. -ENODEV if a device is not there, -EEXIST if the pair is
 * @HOP_CMD_PAIR_DEL: no longer; -ENOENT. A pair also ends with either of its devices
 * @HOP_CMD_INFO_GET: do: HOP_N_VERSION and the limits of a namespace: HOP_N_HANDLES,
 *	HOP_N_HANDLES_USED
 */
enum hop_cmd {
	HOP_CMD_UNSPEC,
	HOP_CMD_PORT_GET,
	HOP_CMD_PORT_EVENT,
	HOP_CMD_PAIR_GET,
	HOP_CMD_PAIR_ADD,
	HOP_CMD_PAIR_DEL,
	HOP_CMD_INFO_GET,
	__HOP_CMD_MAX
};

#define HOP_CMD_MAX	(__HOP_CMD_MAX - 1)

/**
 * enum - attributes of the family's messages
 * @HOP_N_IFINDEX: u32, the port's device
 * @HOP_N_IFNAME: string, its name
 * @HOP_N_QUEUES: u16, sub-queues of all qdiscs of the port
 * @HOP_N_SPEED: u64, bytes per second, 0 if the device does not say
 * @HOP_N_PAUSED: array of u64 in host byte order, as many as it takes to the last bit that is set:
 *	our sub-queues that the neighbour holds paused; sub-queue n is bit n % 64 of element n / 64
 * @HOP_N_PAUSING: the same for the neighbour's sub-queues that we hold paused
 * @HOP_N_PORT: nested HOP_A_*: what the port says of itself
 * @HOP_N_EVENTS: u32, HOP_EVENT_* since the last message about this port
 * @HOP_N_TIME: u64, ns, CLOCK_MONOTONIC: when the message was made
 * @HOP_N_INGRESS: u32, ifindex of the port that the packets of a pair come in by
 * @HOP_N_EGRESS: u32, ifindex of the port that they leave by
 * @HOP_N_VERSION: u32, HOP_VERSION of the module
 * @HOP_N_HANDLES: u32, handles of the namespace
 * @HOP_N_HANDLES_USED: u32, of them, given to ports or waiting for their packets to leave
 * @HOP_N_PAD: padding of 64-bit attributes
 * @HOP_N_ROOTS: array of struct hop_held_by, at most HOP_ROOTS_SHOWN: our sub-queues that the
 *	neighbour holds and has told the root of; absent if there are none
 */
enum {
	HOP_N_UNSPEC,
	HOP_N_IFINDEX,
	HOP_N_IFNAME,
	HOP_N_QUEUES,
	HOP_N_SPEED,
	HOP_N_PAUSED,
	HOP_N_PAUSING,
	HOP_N_PORT,
	HOP_N_EVENTS,
	HOP_N_TIME,
	HOP_N_INGRESS,
	HOP_N_EGRESS,
	HOP_N_VERSION,
	HOP_N_HANDLES,
	HOP_N_HANDLES_USED,
	HOP_N_PAD,
	HOP_N_ROOTS,
	__HOP_N_MAX
};

#define HOP_N_MAX	(__HOP_N_MAX - 1)

#define HOP_ROOTS_SHOWN		64
#define HOP_HELD_MORE		0x01	/* for other roots, too */
#define HOP_HELD_QUIET		0x02	/* it has sent nothing for a lease */

/**
 * struct hop_held_by - where the congestion began for which a sub-queue is held
 * @queue: the sub-queue
 * @root: HOP_A_ROOT_ID of the port where it began
 * @hops: ports from there to the one that holds the sub-queue, and one more
 * @flags: HOP_HELD_*
 * @pad: 0
 * @quiet_ns: for how long it has sent nothing, as the neighbour's refreshes saw it
 */
struct hop_held_by {
	__u16	queue;
	__u16	root;
	__u8	hops;
	__u8	flags;
	__u16	pad;
	__u64	quiet_ns;
};

/* Bits of HOP_N_EVENTS */
#define HOP_EVENT_PORT_NEW		0x0001	/* the port came to be */
#define HOP_EVENT_PORT_GONE		0x0002	/* its last qdisc has left, or its device */
#define HOP_EVENT_STATE			0x0004	/* HOP_A_STATE changed */
#define HOP_EVENT_NEIGHBOUR_UP		0x0008
#define HOP_EVENT_NEIGHBOUR_LOST	0x0010
#define HOP_EVENT_LEASE_EXPIRED		0x0020
#define HOP_EVENT_STORM			0x0040	/* the neighbour's pauses are ignored from now on */
#define HOP_EVENT_STORM_END		0x0080
#define HOP_EVENT_HRTT			0x0100	/* the HRTT in use changed */
#define HOP_EVENT_WITHDRAWN		0x0200	/* nothing leaves: packets here pause nobody */
#define HOP_EVENT_HRTT_CAPPED		0x0400	/* the measured HRTT is beyond what is believed */

#endif
