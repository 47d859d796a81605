/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * rocc: options and statistics of congestion points and reaction points, and what the ones say to
 * the others.
 *
 * Options are attributes in TCA_OPTIONS, statistics in TCA_STATS_APP. A qdisc has one role
 * (TCA_ROCC_ROLE); options of the other one are refused.
 *
 * A congestion notification packet (CNP; RoCC, section 3.3) is an ICMP message to the source of a
 * flow: struct rocc_cnp, with ROCC_CNP_QUEUE a struct rocc_cnp_queue behind it, and at the end the
 * start of a packet of the flow: its IP header, without options or extension headers, and 8 bytes
 * behind that. Plain C, also for user space. All fields are big-endian and nothing is aligned
 * beyond two bytes.
 *
 * The numbers are those that IANA keeps for experiments: type 253 of ICMP (RFC 4727; the
 * paper's), and type 200 of ICMPv6 (RFC 4443), an informational one. The checksum is ICMP's, or
 * ICMPv6's.
 */
#ifndef _SLUICE_UAPI_ROCC_H
#define _SLUICE_UAPI_ROCC_H

#include <linux/types.h>

#define ROCC_CNP_ICMP		253
#define ROCC_CNP_ICMPV6		200
#define ROCC_CNP_VERSION	2
#define ROCC_CNP_KEYS		2	/* for tags: one may replace the other */
#define ROCC_CNP_QUOTED_L4	8	/* bytes behind the quoted IP header: ports, sequence */

/**
 * enum rocc_cnp_code - what a CNP says
 * @ROCC_CNP_RATE: a fair rate
 * @ROCC_CNP_QUEUE: what the fair rate is computed from; the host computes it (section 3.6)
 */
enum rocc_cnp_code {
	ROCC_CNP_RATE,
	ROCC_CNP_QUEUE,
};

/**
 * struct rocc_cnp - start of every CNP, from the ICMP header on
 * @type: ROCC_CNP_ICMP or ROCC_CNP_ICMPV6
 * @code: enum rocc_cnp_code
 * @checksum: of ICMP
 * @rate: the fair rate, kbit/s, at least 1; all ones: that or more. With ROCC_CNP_QUEUE the last
 *	one.
 * @version: ROCC_CNP_VERSION; others are counted and dropped
 * @key: what @tag was made with, 1 to ROCC_CNP_KEYS; 0: there is none
 * @queue: which queue of the port
 * @port: index of the port's device
 * @address: IPv6 address of the congestion point, or its IPv4 address mapped into one. With @port
 *	and @queue the name of the congestion point: it may differ from the packet's source.
 * @epoch: when the congestion point started, ns since 1970 by its clock, never 0; larger at each
 *	start of it and whenever @sequence would begin anew
 * @sequence: one more with each rate; CNPs of one rate have the same
 * @interval: T of the congestion point, or as many of them as it takes to tell all flows one rate,
 *	ns, never 0
 * @gap: time since the flow was told before, ns; 0: @interval
 * @rate_min: least rate that the congestion point says, kbit/s, at least 1
 * @tag: SipHash-2-4 of the whole message, @checksum and @tag taken as 0, its first byte the lowest;
 *	0 without @key
 */
struct rocc_cnp {
	__u8	type;
	__u8	code;
	__be16	checksum;
	__be32	rate;
	__u8	version;
	__u8	key;
	__be16	queue;
	__be32	port;
	__u8	address[16];
	__be64	epoch;
	__be32	sequence;
	__be32	interval;
	__be32	gap;
	__be32	rate_min;
	__be64	tag;
} __attribute__((packed));

/**
 * struct rocc_cnp_queue - what Algorithm 1 needs besides
 * @tuning: enum rocc_tuning
 * @reserved: 0 when sent, ignored when received
 * @rate_max: largest rate, kbit/s, not below the least one
 * @alpha: bit/s for a byte above @q_ref each interval, in 1/1024
 * @beta: the same for a byte of growth
 * @q_cur: length of the queue, bytes
 * @q_old: its length one interval before
 * @q_ref: reference length
 * @q_mid: growth that halves the rate
 * @q_max: length from which on the rate is the least
 */
struct rocc_cnp_queue {
	__u8	tuning;
	__u8	reserved[3];
	__be32	rate_max;
	__be64	alpha;
	__be64	beta;
	__be32	q_cur;
	__be32	q_old;
	__be32	q_ref;
	__be32	q_mid;
	__be32	q_max;
} __attribute__((packed));

#define ROCC_VERSION	1	/* of this interface; raised when a meaning changes */
#define ROCC_FLOWS_MAX	65536
#define ROCC_LIMITERS_MAX	32768
#define ROCC_PREFIXES_MAX	16
#define ROCC_KEY_BYTES	16
#define ROCC_CONTROL_SHARE_DEFAULT	500	/* hundredths of a percent of the link */

/**
 * enum rocc_role - what the box is on this port
 * @ROCC_ROLE_SWITCH: a congestion point: computes a fair rate and tells it to the sources
 * @ROCC_ROLE_HOST: a reaction point: limits its flows to what it is told
 */
enum rocc_role {
	ROCC_ROLE_SWITCH,
	ROCC_ROLE_HOST,
	__ROCC_ROLE_MAX
};

/**
 * enum rocc_tuning - how the gains follow the rate (section 5.3)
 * @ROCC_TUNING_STEPS: six levels, each half of the one above
 * @ROCC_TUNING_SMOOTH: in proportion
 */
enum rocc_tuning {
	ROCC_TUNING_STEPS,
	ROCC_TUNING_SMOOTH,
	__ROCC_TUNING_MAX
};

/**
 * enum rocc_table - which flows are told (section 3.4)
 * @ROCC_TABLE_QUEUE: those with packets in the queue, or told lately and sending still
 * @ROCC_TABLE_AGE: and those whose last one came not longer ago than TCA_ROCC_AGE
 * @ROCC_TABLE_ELEPHANTS: those that a sample of the packets finds most often; who is found least
 *	often makes room (ElephantTrap)
 * @ROCC_TABLE_AFD: those with at least half of the mean number of sampled packets (after AFD)
 */
enum rocc_table {
	ROCC_TABLE_QUEUE,
	ROCC_TABLE_AGE,
	ROCC_TABLE_ELEPHANTS,
	ROCC_TABLE_AFD,
	__ROCC_TABLE_MAX
};

/**
 * enum rocc_compute - who computes the fair rate (section 3.6)
 * @ROCC_COMPUTE_SWITCH: the congestion point; CNPs say the rate
 * @ROCC_COMPUTE_HOST: the reaction point, from what CNPs say of the queue
 */
enum rocc_compute {
	ROCC_COMPUTE_SWITCH,
	ROCC_COMPUTE_HOST,
	__ROCC_COMPUTE_MAX
};

/**
 * struct rocc_prefix - congestion points whose CNPs are believed
 * @address: IPv6 prefix, or an IPv4 one mapped into IPv6; bits behind it are 0
 * @bits: of it, 0 to 128; of an IPv4 one 96 more than there
 */
struct rocc_prefix {
	__u8	address[16];
	__u8	bits;
} __attribute__((packed));

/**
 * enum - options
 * @TCA_ROCC_ROLE: u8, enum rocc_role, default ROCC_ROLE_SWITCH; not changeable
 * @TCA_ROCC_RATE: u64, bytes per second that the link carries; at a host the rate of flows without
 *	a limiter; 0 (default): the device's speed, or 1 Gb/s if it does not say
 * @TCA_ROCC_LIMIT: u32, bytes that may be queued; at a switch while nobody has put another qdisc
 *	below; default 8 MiB
 * @TCA_ROCC_KEY1: ROCC_KEY_BYTES, key of SipHash for CNPs; all 0 (default): none. Not in dumps.
 * @TCA_ROCC_KEY2: the same, so that one can replace the other
 * @TCA_ROCC_INTERVAL: switch; u32, ns: T (section 3.2); 0 (default): what the link needs for
 *	125000 bytes, but at least 40 us
 * @TCA_ROCC_RATE_MIN: switch; u64, bytes per second: least fair rate; 0 (default): a 400th of the
 *	rate, of more than 70 Gb/s a 1000th
 * @TCA_ROCC_QREF: switch; u32, bytes: reference length; 0 (default): the paper's, for rate and
 *	interval
 * @TCA_ROCC_QMID: switch; u32, bytes: growth in one interval that halves the rate; 0 (default): the
 *	paper's
 * @TCA_ROCC_QMAX: switch; u32, bytes: length from which on the rate is the least one; 0 (default):
 *	the paper's
 * @TCA_ROCC_ALPHA: switch; u32, gain of the length x T / 8 bits in 1/10000; 0 (default): the
 *	paper's
 * @TCA_ROCC_BETA: switch; u32, the same of the growth; 0 (default): the paper's
 * @TCA_ROCC_TUNING: switch; u8, enum rocc_tuning, default ROCC_TUNING_STEPS
 * @TCA_ROCC_TABLE: switch; u8, enum rocc_table, default ROCC_TABLE_QUEUE; not changeable
 * @TCA_ROCC_FLOWS: switch; u32, entries of the flow table (section 3.4), a multiple of 4, default
 *	4096; not changeable
 * @TCA_ROCC_AGE: switch; u32, ns: how long ROCC_TABLE_AGE remembers; 0 (default): 4 T
 * @TCA_ROCC_SAMPLE: switch; u32: of so many packets ROCC_TABLE_ELEPHANTS and ROCC_TABLE_AFD look at
 *	one, by chance; default 16
 * @TCA_ROCC_CNPS: switch; u32, CNPs per second at most; 0 (default): as many as take a quarter of a
 *	processor's time, which holds in any case
 * @TCA_ROCC_SOURCE: switch; u32, IPv4 address, as in a packet, of CNPs where the device they leave
 *	by has none; default 192.0.0.8 (RFC 7600)
 * @TCA_ROCC_COMPUTE: switch; u8, enum rocc_compute, default ROCC_COMPUTE_SWITCH
 * @TCA_ROCC_SIGN: switch; u8, number of the key that CNPs are signed with; 0 (default): none
 * @TCA_ROCC_RECOVERY: host; u32, ns: how long after a CNP the rate is doubled (section 3.5); 0
 *	(default): 1.375 x the time between two CNPs that it says, T of the congestion point or
 *	more, but between 55 us and TCA_ROCC_HOLD
 * @TCA_ROCC_HOLD: host; u32, ns: longest time that one CNP holds a flow at a rate; default 20 ms
 * @TCA_ROCC_FLOOR: host; u64, bytes per second: least rate that a flow is limited to, but by a
 *	signed CNP, which may say less; 0 (default): a 1000th of the rate
 * @TCA_ROCC_LIMITERS: host; u32, limiters at most, default 4096
 * @TCA_ROCC_RADIUS: host; u8, routers that a CNP may have passed, 0 to 254, default 8
 * @TCA_ROCC_FROM: host; nest of TCA_ROCC_FROM_PREFIX, struct rocc_prefix each, at most
 *	ROCC_PREFIXES_MAX: where CNPs may come from, by the source of the packet; an empty one
 *	(default): from anywhere
 * @TCA_ROCC_KEYS: u8, only in dumps: bit 0 TCA_ROCC_KEY1, bit 1 TCA_ROCC_KEY2 is there
 * @TCA_ROCC_VERSION: u32, only in dumps: ROCC_VERSION of the module
 * @TCA_ROCC_PAD: padding of 64-bit attributes
 * @TCA_ROCC_CONTROL_SHARE: u32, hundredths of a percent, ROCC_CONTROL_SHARE_DEFAULT by default:
 *	what control packets that the box only forwards, or that are such by their DSCP alone, may
 *	take of the link ahead of all others
 * @TCA_ROCC_CONTROL_DSCP: u8, DSCP whose IP packets are control packets, too, 1 to 63; 0 (default):
 *	none
 */
enum {
	TCA_ROCC_UNSPEC,
	TCA_ROCC_ROLE,
	TCA_ROCC_RATE,
	TCA_ROCC_LIMIT,
	TCA_ROCC_KEY1,
	TCA_ROCC_KEY2,
	TCA_ROCC_INTERVAL,
	TCA_ROCC_RATE_MIN,
	TCA_ROCC_QREF,
	TCA_ROCC_QMID,
	TCA_ROCC_QMAX,
	TCA_ROCC_ALPHA,
	TCA_ROCC_BETA,
	TCA_ROCC_TUNING,
	TCA_ROCC_TABLE,
	TCA_ROCC_FLOWS,
	TCA_ROCC_AGE,
	TCA_ROCC_SAMPLE,
	TCA_ROCC_CNPS,
	TCA_ROCC_SOURCE,
	TCA_ROCC_COMPUTE,
	TCA_ROCC_SIGN,
	TCA_ROCC_RECOVERY,
	TCA_ROCC_HOLD,
	TCA_ROCC_FLOOR,
	TCA_ROCC_LIMITERS,
	TCA_ROCC_RADIUS,
	TCA_ROCC_FROM,
	TCA_ROCC_KEYS,
	TCA_ROCC_VERSION,
	TCA_ROCC_PAD,
	TCA_ROCC_CONTROL_SHARE,
	TCA_ROCC_CONTROL_DSCP,
	__TCA_ROCC_MAX
};

#define TCA_ROCC_MAX	(__TCA_ROCC_MAX - 1)

/**
 * enum - in TCA_ROCC_FROM
 * @TCA_ROCC_FROM_PREFIX: struct rocc_prefix
 */
enum {
	TCA_ROCC_FROM_UNSPEC,
	TCA_ROCC_FROM_PREFIX,
	__TCA_ROCC_FROM_MAX
};

#define TCA_ROCC_FROM_MAX	(__TCA_ROCC_FROM_MAX - 1)

/**
 * enum - statistics
 * @TCA_ROCC_STATS_BACKLOG_MAX: u64, bytes: highest backlog
 * @TCA_ROCC_STATS_BACKLOG_TIME: u64, byte-nanoseconds modulo 2^64: integral of the backlog over
 *	time; the difference between two readings over that of TIME is the mean
 * @TCA_ROCC_STATS_TIME: u64, ns: the qdisc's clock at this reading
 * @TCA_ROCC_STATS_CONTROL: u64, packets that went ahead of all: CNPs, neighbour discovery, ...
 * @TCA_ROCC_STATS_DROP_CONTROL: u64, those of them that found no room
 * @TCA_ROCC_STATS_NO_FLOW: u64, packets that name no flow: not IP, fragments, too short
 * @TCA_ROCC_STATS_FAIR_RATE: switch; u64, bytes per second
 * @TCA_ROCC_STATS_Q_REF: switch; u32, bytes: reference length in force
 * @TCA_ROCC_STATS_INTERVAL: switch; u32, ns: T in force
 * @TCA_ROCC_STATS_FLOWS_ACTIVE: switch; u32, flows that are told
 * @TCA_ROCC_STATS_TICKS: switch; u64, rates that were computed
 * @TCA_ROCC_STATS_CUTS: switch; u64, times that the rate was halved, or cut to the least
 * @TCA_ROCC_STATS_CNPS: switch; u64, CNPs sent
 * @TCA_ROCC_STATS_CNPS_HELD: switch; u64, CNPs not sent in their interval, by the bound on them
 * @TCA_ROCC_STATS_CNPS_FAILED: switch; u64, CNPs not sent for want of memory or of a way back
 * @TCA_ROCC_STATS_UNTRACKED: switch; u64, packets of flows that found no room in the table
 * @TCA_ROCC_STATS_LIMITERS: host; u32, flows with a limiter
 * @TCA_ROCC_STATS_LIMITERS_MAX: host; u32, most of them at any time
 * @TCA_ROCC_STATS_HELD: host; u64, bytes that wait in limiters
 * @TCA_ROCC_STATS_DELAYED: host; u64, packets that had to wait in one
 * @TCA_ROCC_STATS_ACCEPTED: host; u64, CNPs that set a rate
 * @TCA_ROCC_STATS_HIGHER: host; u64, CNPs of other congestion points with a higher rate
 * @TCA_ROCC_STATS_NOT_NEEDED: host; u64, CNPs with the full rate for flows without a limiter
 * @TCA_ROCC_STATS_STALE: host; u64, CNPs that a later one of that congestion point overtook, or
 *	that were played again
 * @TCA_ROCC_STATS_FULL: host; u64, CNPs for which no limiter could be had
 * @TCA_ROCC_STATS_RAISED: host; u64, times that a rate was doubled
 * @TCA_ROCC_STATS_REMOVED: host; u64, limiters that were no longer needed
 * @TCA_ROCC_STATS_DROP_LIMIT: host; u64, packets beyond the limit, or a quarter of it of one flow
 * @TCA_ROCC_STATS_BAD_FRAME: host, like all that follow for the whole namespace; u64, CNPs refused:
 *	too short or long, or quoting no packet
 * @TCA_ROCC_STATS_BAD_CHECKSUM: u64, CNPs refused: checksum
 * @TCA_ROCC_STATS_BAD_VERSION: u64, CNPs refused: version or code
 * @TCA_ROCC_STATS_BAD_RANGE: u64, CNPs refused: a value that cannot be
 * @TCA_ROCC_STATS_BAD_TTL: u64, CNPs refused: from beyond the radius
 * @TCA_ROCC_STATS_BAD_SOURCE: u64, CNPs refused: not from a prefix that is believed
 * @TCA_ROCC_STATS_BAD_TAG: u64, CNPs refused: not signed with one of the keys
 * @TCA_ROCC_STATS_BAD_FLOW: u64, CNPs refused: this host does not send such a flow
 * @TCA_ROCC_STATS_BAD_SEQUENCE: u64, CNPs refused: quoted TCP sequence not in flight
 * @TCA_ROCC_STATS_PAD: padding of 64-bit attributes
 * @TCA_ROCC_STATS_SPILLED: u64, forwarded control packets beyond their share that went with the
 *	others
 * @TCA_ROCC_STATS_DROP_POLICE: u64, such packets that were dropped: they are not of IP
 * @TCA_ROCC_STATS_CNPS_VLAN: switch; u64, CNPs not sent: a bridge does not say with which VLAN tags
 * @TCA_ROCC_STATS_EPOCH_BACK: host; u64, times that the clock of a congestion point was found set
 *	back: a signed CNP of an earlier start was believed, after a minute without any of it
 */
enum {
	TCA_ROCC_STATS_UNSPEC,
	TCA_ROCC_STATS_BACKLOG_MAX,
	TCA_ROCC_STATS_BACKLOG_TIME,
	TCA_ROCC_STATS_TIME,
	TCA_ROCC_STATS_CONTROL,
	TCA_ROCC_STATS_DROP_CONTROL,
	TCA_ROCC_STATS_NO_FLOW,
	TCA_ROCC_STATS_FAIR_RATE,
	TCA_ROCC_STATS_Q_REF,
	TCA_ROCC_STATS_INTERVAL,
	TCA_ROCC_STATS_FLOWS_ACTIVE,
	TCA_ROCC_STATS_TICKS,
	TCA_ROCC_STATS_CUTS,
	TCA_ROCC_STATS_CNPS,
	TCA_ROCC_STATS_CNPS_HELD,
	TCA_ROCC_STATS_CNPS_FAILED,
	TCA_ROCC_STATS_UNTRACKED,
	TCA_ROCC_STATS_LIMITERS,
	TCA_ROCC_STATS_LIMITERS_MAX,
	TCA_ROCC_STATS_HELD,
	TCA_ROCC_STATS_DELAYED,
	TCA_ROCC_STATS_ACCEPTED,
	TCA_ROCC_STATS_HIGHER,
	TCA_ROCC_STATS_NOT_NEEDED,
	TCA_ROCC_STATS_STALE,
	TCA_ROCC_STATS_FULL,
	TCA_ROCC_STATS_RAISED,
	TCA_ROCC_STATS_REMOVED,
	TCA_ROCC_STATS_DROP_LIMIT,
	TCA_ROCC_STATS_BAD_FRAME,
	TCA_ROCC_STATS_BAD_CHECKSUM,
	TCA_ROCC_STATS_BAD_VERSION,
	TCA_ROCC_STATS_BAD_RANGE,
	TCA_ROCC_STATS_BAD_TTL,
	TCA_ROCC_STATS_BAD_SOURCE,
	TCA_ROCC_STATS_BAD_TAG,
	TCA_ROCC_STATS_BAD_FLOW,
	TCA_ROCC_STATS_BAD_SEQUENCE,
	TCA_ROCC_STATS_PAD,
	TCA_ROCC_STATS_SPILLED,
	TCA_ROCC_STATS_DROP_POLICE,
	TCA_ROCC_STATS_CNPS_VLAN,
	TCA_ROCC_STATS_EPOCH_BACK,
	__TCA_ROCC_STATS_MAX
};

#define TCA_ROCC_STATS_MAX	(__TCA_ROCC_STATS_MAX - 1)

/**
 * enum - statistics of a limiter, which is a class of a host's qdisc
 * @TCA_ROCC_LIMITER_PROTOCOL: u8, of IP
 * @TCA_ROCC_LIMITER_SOURCE: IPv4 or IPv6 address of the flow
 * @TCA_ROCC_LIMITER_DESTINATION: the same
 * @TCA_ROCC_LIMITER_SPORT: u16, in the host's order: port, or what stands in its place
 * @TCA_ROCC_LIMITER_DPORT: the same
 * @TCA_ROCC_LIMITER_RATE: u64, bytes per second
 * @TCA_ROCC_LIMITER_POINT: IPv6 address, or an IPv4 one mapped into one, of the congestion point
 *	whose rate it is
 * @TCA_ROCC_LIMITER_POINT_PORT: u32, index of the port there
 * @TCA_ROCC_LIMITER_POINT_QUEUE: u16, queue of that port
 * @TCA_ROCC_LIMITER_AGE: u64, ns since it was made
 * @TCA_ROCC_LIMITER_QUIET: u64, ns since it last took a rate
 * @TCA_ROCC_LIMITER_ACCEPTED: u64, CNPs that set its rate
 * @TCA_ROCC_LIMITER_RAISED: u64, times that its rate was doubled
 * @TCA_ROCC_LIMITER_PAD: padding of 64-bit attributes
 */
enum {
	TCA_ROCC_LIMITER_UNSPEC = 127,	/* apart from those of the qdisc */
	TCA_ROCC_LIMITER_PROTOCOL,
	TCA_ROCC_LIMITER_SOURCE,
	TCA_ROCC_LIMITER_DESTINATION,
	TCA_ROCC_LIMITER_SPORT,
	TCA_ROCC_LIMITER_DPORT,
	TCA_ROCC_LIMITER_RATE,
	TCA_ROCC_LIMITER_POINT,
	TCA_ROCC_LIMITER_POINT_PORT,
	TCA_ROCC_LIMITER_POINT_QUEUE,
	TCA_ROCC_LIMITER_AGE,
	TCA_ROCC_LIMITER_QUIET,
	TCA_ROCC_LIMITER_ACCEPTED,
	TCA_ROCC_LIMITER_RAISED,
	TCA_ROCC_LIMITER_PAD,
	__TCA_ROCC_LIMITER_MAX
};

#define TCA_ROCC_LIMITER_MAX	(__TCA_ROCC_LIMITER_MAX - 1)

#endif
