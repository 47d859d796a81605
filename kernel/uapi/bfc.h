/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * bfc: Backpressure Flow Control (Goyal et al., NSDI 2022) as a queueing discipline.
 * Netlink attributes of its options, statistics and classes.
 *
 * Everything is nested attributes: options in TCA_OPTIONS, statistics of the qdisc and of its
 * classes in TCA_STATS_APP.
 */
#ifndef _SLUICE_UAPI_BFC_H
#define _SLUICE_UAPI_BFC_H

#define BFC_VERSION		2	/* of this interface; raised when a meaning changes */

#define BFC_QUEUES_DEFAULT	128
#define BFC_QUEUES_MAX		4094
#define BFC_CLASSES_MAX		8
#define BFC_FLOWS_PER_QUEUE	100	/* BFC, section 3.3.1 */
#define BFC_FLOWS_MAX		(1U << 22)
#define BFC_WAYS_DEFAULT	4
#define BFC_LIMIT_DEFAULT	(8U << 20)
#define BFC_LIMIT_MAX		(1U << 30)
#define BFC_TH_SCALE_DEFAULT	100	/* percent */
#define BFC_TH_SCALE_MAX	10000
#define BFC_TIME_MAX_NS		1000000000U
#define BFC_ALPHA_ONE		10000	/* 100 percent */
#define BFC_ALPHA_MAX		100000
#define BFC_PAUSE_ALPHA_DEFAULT	1250	/* 1/8: who is alone gets a ninth */
#define BFC_HRTT_MAX_DEFAULT	1000000	/* ns */
#define BFC_CONTROL_SHARE_DEFAULT	500	/* hundredths of a percent of the link */

/* Class minor numbers: strict-priority classes are 1 .. classes, sub-queue n is
 * BFC_MINOR_QUEUE + n and a child of its class, the control class is BFC_MINOR_CONTROL.
 */
#define BFC_MINOR_CONTROL	0x0fff
#define BFC_MINOR_QUEUE		0x1000

/**
 * enum bfc_assign - how a flow comes to its sub-queue
 * @BFC_ASSIGN_DYNAMIC: a free sub-queue for each new flow, a random one if none is free
 *	(BFC, section 3.3.1)
 * @BFC_ASSIGN_STOCHASTIC: by hash (BFC, App. A.10)
 * @BFC_ASSIGN_SINGLE: one sub-queue for all flows of a class
 */
enum bfc_assign {
	BFC_ASSIGN_DYNAMIC,
	BFC_ASSIGN_STOCHASTIC,
	BFC_ASSIGN_SINGLE,
	__BFC_ASSIGN_MAX
};

/**
 * enum bfc_reuse - when an empty sub-queue may be given to another flow
 * @BFC_REUSE_STICKY: when it has been empty for the sticky time
 * @BFC_REUSE_EMPTY: at once
 */
enum bfc_reuse {
	BFC_REUSE_STICKY,
	BFC_REUSE_EMPTY,
	__BFC_REUSE_MAX
};

/**
 * enum bfc_share - which sub-queue a new flow gets while none is free
 * @BFC_SHARE_RANDOM: the longest unused of the empty ones that are not paused, else a random one
 * 	(BFC, section 3.3.1)
 * @BFC_SHARE_SPARE: one that spares other flows: whoever goes to a destination that holds many
 *	sub-queues gets one of those; others the longest unused of the empty ones that are not
 * 	paused, else one of their own destination, else the shorter of two that are drawn of those
 * 	that are not paused
 */
enum bfc_share {
	BFC_SHARE_RANDOM,
	BFC_SHARE_SPARE,
	__BFC_SHARE_MAX
};

/**
 * enum bfc_pause - who is paused for what
 * @BFC_PAUSE_NONE: nobody
 * @BFC_PAUSE_QUEUE: for a sub-queue over the threshold: where its packets came from (BFC)
 * @BFC_PAUSE_INGRESS: whoever has too much of the pool, wherever it goes (as PFC)
 */
enum bfc_pause {
	BFC_PAUSE_NONE,
	BFC_PAUSE_QUEUE,
	BFC_PAUSE_INGRESS,
	__BFC_PAUSE_MAX
};

/**
 * enum - options
 * @TCA_BFC_QUEUES: u16, data sub-queues, 1 .. BFC_QUEUES_MAX, a multiple of the number of
 *	classes; not changeable
 * @TCA_BFC_CLASSES: u8, strict-priority classes, 1 (default) .. BFC_CLASSES_MAX; class 1 goes
 *	first; sub-queues are split evenly (BFC, App. A.3); not changeable
 * @TCA_BFC_FLOWS: u32, entries of the flow table, a multiple of classes x ways; 0 (auto) is 100 x
 * 	queues, rounded up; not changeable
 * @TCA_BFC_ASSIGN: u8, enum bfc_assign; not changeable
 * @TCA_BFC_REUSE: u8, enum bfc_reuse
 * @TCA_BFC_LIMIT: u32, bytes that may be queued
 * @TCA_BFC_QUANTUM: u32, bytes that a sub-queue may send in its turn; 0 (auto) is one frame of
 *	the device's MTU, or 64 KiB if GSO packets are not split
 * @TCA_BFC_PRIOMAP: 16 x u8, class (0-based) of each skb priority
 * @TCA_BFC_SPLIT_GSO: u8, 1 (default) cuts GSO packets into frames before they are queued
 * @TCA_BFC_PAUSE: u8, enum bfc_pause: QUEUE by default. INGRESS wants a pool and ASSIGN_SINGLE
 * @TCA_BFC_RATE: u64, bytes/s that the threshold reckons with; 0 (auto) is the link speed;
 *	shapes nothing
 * @TCA_BFC_HRTT: u32, ns; HRTT of this link; 0 (auto) is measured
 * @TCA_BFC_TH: u32, bytes; a fixed pause threshold; 0 (auto) is HRTT x rate / N_active
 * @TCA_BFC_TH_SCALE: u32, percent by which the auto threshold is multiplied
 * @TCA_BFC_STICKY: u32, ns that a flow keeps its sub-queue after its last packet;
 *	0 (auto) is 2 HRTT
 * @TCA_BFC_ROLE: u8, enum hop_role: ours
 * @TCA_BFC_PEER: u8, enum hop_role: what the neighbour is taken for
 * @TCA_BFC_TAG: u8, 1 (default) tags if the neighbour strips, 0 never does
 * @TCA_BFC_TPID: u16, host byte order; 0x88a8 (default) or 0x8100
 * @TCA_BFC_REFRESH: u32, ns between repeated pause states; 0 (auto) is max(4 HRTT, 100 us)
 * @TCA_BFC_LEASE: u32, ns that a pause lasts without a refresh; 0 (auto) is 8 refreshes
 * @TCA_BFC_WATCH: u8, 1 (default) ends the effect of pauses that never end, 0 does not
 * @TCA_BFC_WATCHDOG: u32, ns: how long a pause that never ends is endured, and twice as long as a
 *	device may send nothing before what it holds paused is let go; 0 (auto) is 200 ms
 * @TCA_BFC_RESTORE: u32, ns without any pause after which the neighbour is obeyed again; 0 (auto)
 *	is twice the watchdog's time
 * @TCA_BFC_TIER: u8, enum hop_tier: where the port leads
 * @TCA_BFC_VERSION: u32, only in dumps: BFC_VERSION of the module
 * @TCA_BFC_PAD: padding of 64-bit attributes
 * @TCA_BFC_POOL: u32, bytes of the buffer that the qdiscs of the network namespace share; 0
 *	(default): this one has no part in it. All that name it name the same size
 * @TCA_BFC_POOL_ALPHA: u32, hundredths of a percent, BFC_ALPHA_ONE by default: a packet is
 *	dropped if the qdisc would hold more than this times what is free of the pool
 * @TCA_BFC_POOL_PAUSE_ALPHA: u32, hundredths of a percent, BFC_PAUSE_ALPHA_DEFAULT by default: with
 *	BFC_PAUSE_INGRESS an upstream sub-queue is paused while more than this times what is free of
 *	the pool came from it
 * @TCA_BFC_CONTROL_SHARE: u32, hundredths of a percent, BFC_CONTROL_SHARE_DEFAULT by default: what
 *	control packets that the box only forwards, or that are such by their DSCP alone, may take
 *	of the link ahead of the data
 * @TCA_BFC_STRIP: u8, enum hop_strip: whether the port offers to take tags off
 * @TCA_BFC_HRTT_MAX: u32, ns, BFC_HRTT_MAX_DEFAULT by default: most that a measured HRTT of this
 *	link may be; what is beyond is not believed
 * @TCA_BFC_WAYS: u8, entries of the flow table among which a flow can choose: BFC_WAYS_DEFAULT,
 * 	or 1: two flows of one entry share it, as in the paper's table (section 3.3.1); not
 * 	changeable
 * @TCA_BFC_SHARE: u8, enum bfc_share, BFC_SHARE_SPARE by default
 * @TCA_BFC_CONTROL_DSCP: u8, DSCP whose IP packets are control packets, too, 1 .. 63; 0
 * 	(default): none
 */
enum {
	TCA_BFC_UNSPEC,
	TCA_BFC_QUEUES,
	TCA_BFC_CLASSES,
	TCA_BFC_FLOWS,
	TCA_BFC_ASSIGN,
	TCA_BFC_REUSE,
	TCA_BFC_LIMIT,
	TCA_BFC_QUANTUM,
	TCA_BFC_PRIOMAP,
	TCA_BFC_SPLIT_GSO,
	TCA_BFC_PAUSE,
	TCA_BFC_RATE,
	TCA_BFC_HRTT,
	TCA_BFC_TH,
	TCA_BFC_TH_SCALE,
	TCA_BFC_STICKY,
	TCA_BFC_ROLE,
	TCA_BFC_PEER,
	TCA_BFC_TAG,
	TCA_BFC_TPID,
	TCA_BFC_REFRESH,
	TCA_BFC_LEASE,
	TCA_BFC_WATCH,
	TCA_BFC_WATCHDOG,
	TCA_BFC_RESTORE,
	TCA_BFC_TIER,
	TCA_BFC_VERSION,
	TCA_BFC_PAD,
	TCA_BFC_POOL,
	TCA_BFC_POOL_ALPHA,
	TCA_BFC_POOL_PAUSE_ALPHA,
	TCA_BFC_CONTROL_SHARE,
	TCA_BFC_STRIP,
	TCA_BFC_HRTT_MAX,
	TCA_BFC_WAYS,
	TCA_BFC_SHARE,
	TCA_BFC_CONTROL_DSCP,
	__TCA_BFC_MAX
};

#define TCA_BFC_MAX	(__TCA_BFC_MAX - 1)

/**
 * enum - statistics of the qdisc
 * @TCA_BFC_STATS_TH: u32, bytes: the pause threshold now
 * @TCA_BFC_STATS_N_ACTIVE: u32, sub-queues of the port that are backlogged and not paused now
 * @TCA_BFC_STATS_BACKLOGGED: u32, sub-queues of this qdisc that hold packets now
 * @TCA_BFC_STATS_PAUSED: u32, sub-queues of this qdisc that the neighbour holds paused now
 * @TCA_BFC_STATS_MARKED: u32, queued packets that hold a pause now
 * @TCA_BFC_STATS_LINK_RATE: u64, bytes/s: what the threshold reckons with
 * @TCA_BFC_STATS_HRTT: u32, ns: what the threshold reckons with
 * @TCA_BFC_STATS_STICKY: u32, ns: the sticky time in force
 * @TCA_BFC_STATS_TH_MAX: u32, bytes: largest threshold that a packet was held against
 * @TCA_BFC_STATS_BACKLOG_MAX: u32, bytes: highest backlog of the whole qdisc
 * @TCA_BFC_STATS_BACKLOG_TIME: u64, byte-nanoseconds modulo 2^64: integral of the backlog over
 *	time; the difference between two readings over that of TIME is the mean backlog
 * @TCA_BFC_STATS_TIME: u64, ns: the qdisc's clock at this reading
 * @TCA_BFC_STATS_ASSIGN_FREE: u64, flows that got a free sub-queue
 * @TCA_BFC_STATS_ASSIGN_EARLY: u64, flows that got an empty one within its sticky time, for
 *	want of a free one
 * @TCA_BFC_STATS_ASSIGN_SHARED: u64, flows that had to share a backlogged one
 * @TCA_BFC_STATS_ASSIGN_STICKY: u64, flows that came back within the sticky time to their own
 * @TCA_BFC_STATS_COLLISIONS: u64, flows that found no entry in the flow table and share that of
 * 	another
 * @TCA_BFC_STATS_MARKS: u64, packets over the threshold that were marked
 * @TCA_BFC_STATS_OVER_UNLABELLED: u64, packets over the threshold without a handle to pause
 * @TCA_BFC_STATS_PAUSES_OBEYED: u64, times that a sub-queue was paused by the neighbour
 * @TCA_BFC_STATS_RESUMES_OBEYED: u64, times that one was resumed
 * @TCA_BFC_STATS_PAUSED_TIME: u64, ns: sum over sub-queues of the time paused
 * @TCA_BFC_STATS_CONTROL: u64, packets of the control class
 * @TCA_BFC_STATS_DROP_LIMIT: u64, packets dropped from the longest sub-queue over the limit
 * @TCA_BFC_STATS_DROP_CONTROL: u64, packets dropped because the control class was full
 * @TCA_BFC_STATS_DROP_GSO: u64, GSO packets dropped because they could not be split
 * @TCA_BFC_STATS_DROP_TAG: u64, packets dropped because no tag could be put on
 * @TCA_BFC_STATS_DROP_FILTER: u64, packets dropped by a tc filter's verdict
 * @TCA_BFC_STATS_GSO_SPLIT: u64, GSO packets that were split
 * @TCA_BFC_STATS_TAGGED: u64, packets that got the fabric tag
 * @TCA_BFC_STATS_ELIDED: u64, packets over the threshold that paused nobody, so that backpressure
 *	goes in no circle
 * @TCA_BFC_STATS_WITHDRAWN: u64, packets whose pause was withdrawn because nothing left the port
 * @TCA_BFC_STATS_PORT: nested HOP_A_*: the port
 * @TCA_BFC_STATS_PAD: padding of 64-bit attributes
 * @TCA_BFC_STATS_POOL_SIZE: u32, bytes of the shared pool; 0 without one
 * @TCA_BFC_STATS_POOL_USED: u64, bytes of it that packets of all its qdiscs take now
 * @TCA_BFC_STATS_POOL_MAX: u64, most that they ever took
 * @TCA_BFC_STATS_DROP_POOL: u64, packets dropped because the pool had no room for them
 * @TCA_BFC_STATS_SPILLED: u64, forwarded control packets beyond their share that went with the data
 * @TCA_BFC_STATS_DROP_POLICE: u64, such packets that were dropped: they name no IP flow
 * @TCA_BFC_STATS_ASSIGN_OWN: u64, flows that had to share a sub-queue of their own destination
 */
enum {
	TCA_BFC_STATS_UNSPEC,
	TCA_BFC_STATS_TH,
	TCA_BFC_STATS_N_ACTIVE,
	TCA_BFC_STATS_BACKLOGGED,
	TCA_BFC_STATS_PAUSED,
	TCA_BFC_STATS_MARKED,
	TCA_BFC_STATS_LINK_RATE,
	TCA_BFC_STATS_HRTT,
	TCA_BFC_STATS_STICKY,
	TCA_BFC_STATS_TH_MAX,
	TCA_BFC_STATS_BACKLOG_MAX,
	TCA_BFC_STATS_BACKLOG_TIME,
	TCA_BFC_STATS_TIME,
	TCA_BFC_STATS_ASSIGN_FREE,
	TCA_BFC_STATS_ASSIGN_EARLY,
	TCA_BFC_STATS_ASSIGN_SHARED,
	TCA_BFC_STATS_ASSIGN_STICKY,
	TCA_BFC_STATS_COLLISIONS,
	TCA_BFC_STATS_MARKS,
	TCA_BFC_STATS_OVER_UNLABELLED,
	TCA_BFC_STATS_PAUSES_OBEYED,
	TCA_BFC_STATS_RESUMES_OBEYED,
	TCA_BFC_STATS_PAUSED_TIME,
	TCA_BFC_STATS_CONTROL,
	TCA_BFC_STATS_DROP_LIMIT,
	TCA_BFC_STATS_DROP_CONTROL,
	TCA_BFC_STATS_DROP_GSO,
	TCA_BFC_STATS_DROP_TAG,
	TCA_BFC_STATS_DROP_FILTER,
	TCA_BFC_STATS_GSO_SPLIT,
	TCA_BFC_STATS_TAGGED,
	TCA_BFC_STATS_ELIDED,
	TCA_BFC_STATS_WITHDRAWN,
	TCA_BFC_STATS_PORT,
	TCA_BFC_STATS_PAD,
	TCA_BFC_STATS_POOL_SIZE,
	TCA_BFC_STATS_POOL_USED,
	TCA_BFC_STATS_POOL_MAX,
	TCA_BFC_STATS_DROP_POOL,
	TCA_BFC_STATS_SPILLED,
	TCA_BFC_STATS_DROP_POLICE,
	TCA_BFC_STATS_ASSIGN_OWN,
	__TCA_BFC_STATS_MAX
};

#define TCA_BFC_STATS_MAX	(__TCA_BFC_STATS_MAX - 1)

/**
 * enum - statistics of a class: a sub-queue, a strict-priority class, the control class
 * @TCA_BFC_CLASS_PAUSED: u8, 1 while the neighbour holds the sub-queue paused
 * @TCA_BFC_CLASS_FLOWS: u32, flow table entries with packets in it
 * @TCA_BFC_CLASS_DEFICIT: s32, bytes that it may still send in its turn: at most a quantum, and
 *	above minus the largest packet
 * @TCA_BFC_CLASS_BACKLOG_MAX: u32, bytes: its highest backlog
 * @TCA_BFC_CLASS_PAUSES: u64, times that it was paused
 * @TCA_BFC_CLASS_PAUSED_TIME: u64, ns: time that it was paused in all
 * @TCA_BFC_CLASS_MARKS: u64, packets marked in it
 * @TCA_BFC_CLASS_PAD: padding of 64-bit attributes
 */
enum {
	TCA_BFC_CLASS_UNSPEC,
	TCA_BFC_CLASS_PAUSED,
	TCA_BFC_CLASS_FLOWS,
	TCA_BFC_CLASS_DEFICIT,
	TCA_BFC_CLASS_BACKLOG_MAX,
	TCA_BFC_CLASS_PAUSES,
	TCA_BFC_CLASS_PAUSED_TIME,
	TCA_BFC_CLASS_MARKS,
	TCA_BFC_CLASS_PAD,
	__TCA_BFC_CLASS_MAX
};

#define TCA_BFC_CLASS_MAX	(__TCA_BFC_CLASS_MAX - 1)

#endif
