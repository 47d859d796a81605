/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * ideal: a queue for each flow, as a yardstick for others
 *
 * Options are attributes in TCA_OPTIONS, statistics in TCA_STATS_APP.
 */
#ifndef _SLUICE_UAPI_IDEAL_H
#define _SLUICE_UAPI_IDEAL_H

#define IDEAL_VERSION	1	/* of this interface; raised when a meaning changes */

/* Where a packet says how much of its flow is left, itself included: in UDP to this port, a
 * big-endian number of 32 bits, this far behind UDP's header.
 */
#define IDEAL_PORT		4790
#define IDEAL_REMAINING_AT	12

/**
 * enum ideal_order - which flow goes next
 * @IDEAL_ORDER_FQ: in turn, by deficit round robin with a quantum of one frame of the MTU
 * @IDEAL_ORDER_SRF: the one with the least left (shortest remaining first)
 */
enum ideal_order {
	IDEAL_ORDER_FQ,
	IDEAL_ORDER_SRF,
	__IDEAL_ORDER_MAX
};

/**
 * enum - options
 * @TCA_IDEAL_ORDER: u8, enum ideal_order; not changeable
 * @TCA_IDEAL_LIMIT: u32, bytes that may be queued, 0 (default): any number
 * @TCA_IDEAL_VERSION: u32, only in dumps: IDEAL_VERSION of the module
 * @TCA_IDEAL_PAD: padding of 64-bit attributes
 * @TCA_IDEAL_CONTROL_DSCP: u8, DSCP whose IP packets go before all flows, 1 to 63; 0 (default):
 *	none
 */
enum {
	TCA_IDEAL_UNSPEC,
	TCA_IDEAL_ORDER,
	TCA_IDEAL_LIMIT,
	TCA_IDEAL_VERSION,
	TCA_IDEAL_PAD,
	TCA_IDEAL_CONTROL_DSCP,
	__TCA_IDEAL_MAX
};

#define TCA_IDEAL_MAX	(__TCA_IDEAL_MAX - 1)

/**
 * enum - statistics
 * @TCA_IDEAL_STATS_FLOWS: u32, flows that hold packets now
 * @TCA_IDEAL_STATS_FLOWS_MAX: u32, most that ever did
 * @TCA_IDEAL_STATS_FLOWS_TIME: u64, flow-nanoseconds modulo 2^64: integral of the number of flows
 *	over time; the difference between two readings over that of TIME is the mean
 * @TCA_IDEAL_STATS_TIME: u64, ns: the qdisc's clock at this reading
 * @TCA_IDEAL_STATS_BACKLOG_MAX: u64, bytes: highest backlog
 * @TCA_IDEAL_STATS_UNSIZED: u64, packets that did not say how much of their flow is left, while
 *	the order asks for it
 * @TCA_IDEAL_STATS_DROP_LIMIT: u64, packets dropped over the limit
 * @TCA_IDEAL_STATS_DROP_MEMORY: u64, packets dropped for want of memory for their flow
 * @TCA_IDEAL_STATS_PAD: padding of 64-bit attributes
 * @TCA_IDEAL_STATS_CONTROL: u64, packets that went before all flows
 */
enum {
	TCA_IDEAL_STATS_UNSPEC,
	TCA_IDEAL_STATS_FLOWS,
	TCA_IDEAL_STATS_FLOWS_MAX,
	TCA_IDEAL_STATS_FLOWS_TIME,
	TCA_IDEAL_STATS_TIME,
	TCA_IDEAL_STATS_BACKLOG_MAX,
	TCA_IDEAL_STATS_UNSIZED,
	TCA_IDEAL_STATS_DROP_LIMIT,
	TCA_IDEAL_STATS_DROP_MEMORY,
	TCA_IDEAL_STATS_PAD,
	TCA_IDEAL_STATS_CONTROL,
	__TCA_IDEAL_STATS_MAX
};

#define TCA_IDEAL_STATS_MAX	(__TCA_IDEAL_STATS_MAX - 1)

#endif
