/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * flowgen: runs a trace of flows between endpoints in network namespaces of this kernel
 *
 * One generic netlink socket has at most one run, which ends with the socket at the latest. The
 * order of commands: RUN_NEW, END_ADD of each endpoint, FLOW_ADD of all flows and WATCH_ADD of each
 * watched port, RUN_START; then RUN_GET, RESULT_GET and SAMPLE_GET at any time. RUN_EVENT is sent
 * to the socket when the run is over and when samples should be fetched; it may get lost, so
 * it is a reason to look, not the news itself.
 *
 * Everything needs CAP_NET_ADMIN in the initial user namespace; the family is in the initial
 * network namespace only.
 */
#ifndef _SLUICE_UAPI_FLOWGEN_H
#define _SLUICE_UAPI_FLOWGEN_H

#include <linux/types.h>

#define FLOWGEN_GENL_NAME	"flowgen"
#define FLOWGEN_GENL_VERSION	1

#define FLOWGEN_FLOWS_MAX	16777216U
#define FLOWGEN_ENDS_MAX	65536U
#define FLOWGEN_PORTS_MAX	65536U		/* watched */
#define FLOWGEN_BYTES_MAX	(1ULL << 48)	/* of a flow */
#define FLOWGEN_TIME_MAX	(1ULL << 60)	/* ns: 36 years */
#define FLOWGEN_PAYLOAD_MAX	16384U		/* bytes */
#define FLOWGEN_INTERVAL_MIN	10U		/* ns */
#define FLOWGEN_CC_MAX		15		/* characters */
#define FLOWGEN_RATE_MIN	1000000ULL	/* bit/s */
#define FLOWGEN_RATE_MAX	1000000000000ULL
#define FLOWGEN_DCQCN_BYTES_MIN	65536U		/* more than a packet on a line */
#define FLOWGEN_HPCC_RTT_MIN	1000ULL		/* ns */
#define FLOWGEN_HPCC_RTT_MAX	1000000000ULL
#define FLOWGEN_HPCC_ETA_MAX	10000U		/* 1 */
#define FLOWGEN_HPCC_STAGES_MAX	1000U

#define FLOWGEN_PORT_DEFAULT	4790
#define FLOWGEN_PAYLOAD_DEFAULT	1000U
#define FLOWGEN_LOCAL_DEFAULT	2U
#define FLOWGEN_RTO_DEFAULT	4000000ULL	/* ns */
#define FLOWGEN_DCQCN_CNP_DEFAULT	50000ULL	/* ns */
#define FLOWGEN_DCQCN_ALPHA_DEFAULT	55000ULL	/* ns */
#define FLOWGEN_DCQCN_TIMER_DEFAULT	55000ULL	/* ns */
#define FLOWGEN_DCQCN_BYTES_DEFAULT	10000000ULL
#define FLOWGEN_HPCC_RTT_DEFAULT	13000ULL	/* ns */
#define FLOWGEN_HPCC_ETA_DEFAULT	9500U
#define FLOWGEN_HPCC_STAGES_DEFAULT	5U

#define FLOWGEN_NEVER		(~0ULL)		/* a time that has not come */

/**
 * enum flowgen_cmd - commands
 * @FLOWGEN_CMD_RUN_NEW: do: make the socket's run. FLOWGEN_A_FLOWS and _ENDS are mandatory, the
 *	options up to FLOWGEN_A_INTERVAL, and from FLOWGEN_A_RATE on, have defaults. -EBUSY if the
 *	socket has one
 * @FLOWGEN_CMD_END_ADD: do: FLOWGEN_A_END, _NETNS and either _ADDRESS4 or _ADDRESS6; _RATE if it is
 *	not the run's
 * @FLOWGEN_CMD_FLOW_ADD: do: FLOWGEN_A_FLOW_LIST: the next flows, by the time of their start
 * @FLOWGEN_CMD_WATCH_ADD: do: FLOWGEN_A_NETNS and _DEVICE: sample one more port
 * @FLOWGEN_CMD_RUN_START: do: all flows and endpoints must be there. Time 0 of the trace is
 *	100 ms later
 * @FLOWGEN_CMD_RUN_GET: do: FLOWGEN_A_STATE, _LEFT, _SAMPLES, _TIME and FLOWGEN_A_COUNTERS
 * @FLOWGEN_CMD_RESULT_GET: dump: FLOWGEN_A_FIRST and _RESULT_LIST of all flows
 * @FLOWGEN_CMD_SAMPLE_GET: dump: FLOWGEN_A_SAMPLE_LIST; what has been told is forgotten
 * @FLOWGEN_CMD_RUN_EVENT: sent to the socket: FLOWGEN_A_STATE
 */
enum flowgen_cmd {
	FLOWGEN_CMD_UNSPEC,
	FLOWGEN_CMD_RUN_NEW,
	FLOWGEN_CMD_END_ADD,
	FLOWGEN_CMD_FLOW_ADD,
	FLOWGEN_CMD_WATCH_ADD,
	FLOWGEN_CMD_RUN_START,
	FLOWGEN_CMD_RUN_GET,
	FLOWGEN_CMD_RESULT_GET,
	FLOWGEN_CMD_SAMPLE_GET,
	FLOWGEN_CMD_RUN_EVENT,
	__FLOWGEN_CMD_MAX
};

#define FLOWGEN_CMD_MAX	(__FLOWGEN_CMD_MAX - 1)

/**
 * enum flowgen_transport - FLOWGEN_A_TRANSPORT
 * @FLOWGEN_TRANSPORT_GBN: UDP with a go-back-N of its own, from line rate on
 * @FLOWGEN_TRANSPORT_TCP: a TCP connection for each flow
 */
enum flowgen_transport {
	FLOWGEN_TRANSPORT_GBN,
	FLOWGEN_TRANSPORT_TCP,
	__FLOWGEN_TRANSPORT_MAX
};

/**
 * enum flowgen_state - FLOWGEN_A_STATE
 * @FLOWGEN_STATE_SETUP: not started
 * @FLOWGEN_STATE_RUNNING: since RUN_START
 * @FLOWGEN_STATE_DONE: every flow is complete or given up
 * @FLOWGEN_STATE_LIMIT: the time limit came first
 */
enum flowgen_state {
	FLOWGEN_STATE_SETUP,
	FLOWGEN_STATE_RUNNING,
	FLOWGEN_STATE_DONE,
	FLOWGEN_STATE_LIMIT,
};

/**
 * struct flowgen_flow - a flow of the trace, element of FLOWGEN_A_FLOW_LIST
 * @start_ns: after the start of the run, at most FLOWGEN_TIME_MAX, not before the flow before it
 * @bytes: of payload, 1 to FLOWGEN_BYTES_MAX
 * @src: number of the sending endpoint
 * @dst: of the receiving one, another
 * @class: priority of its packets (skb->priority and the class selector of their DSCP), 0 to 7
 * @reserved: 0
 */
struct flowgen_flow {
	__u64	start_ns;
	__u64	bytes;
	__u32	src;
	__u32	dst;
	__u8	class;
	__u8	reserved[7];
};

/**
 * struct flowgen_result - what became of a flow, element of FLOWGEN_A_RESULT_LIST
 * @done_ns: after the start of the run: the receiver had the whole flow; or FLOWGEN_NEVER
 * @acked_ns: the sender knew; or FLOWGEN_NEVER
 * @packets: of data that were sent; with TCP segments
 * @retransmits: of them, sent before
 * @timeouts: of the sender's timer; 0 with TCP, which does not tell
 */
struct flowgen_result {
	__u64	done_ns;
	__u64	acked_ns;
	__u64	packets;
	__u64	retransmits;
	__u32	timeouts;
	__u32	reserved;
};

/**
 * struct flowgen_sample - a port at an instant, element of FLOWGEN_A_SAMPLE_LIST
 * @time_ns: after the start of the run
 * @backlog_bytes: that wait in the device's qdiscs
 * @tx_bytes: that the device has sent, ever
 * @backlog_packets: that wait in the device's qdiscs
 * @port: by the order of WATCH_ADD, from 0
 */
struct flowgen_sample {
	__u64	time_ns;
	__u64	backlog_bytes;
	__u64	tx_bytes;
	__u32	backlog_packets;
	__u32	port;
};

/**
 * enum - attributes
 * @FLOWGEN_A_FLOWS: u32, flows of the trace, 1 to FLOWGEN_FLOWS_MAX
 * @FLOWGEN_A_ENDS: u32, endpoints have numbers below this, 1 to FLOWGEN_ENDS_MAX
 * @FLOWGEN_A_TRANSPORT: u8, enum flowgen_transport; default gbn
 * @FLOWGEN_A_PORT: u16, UDP or TCP port of the endpoints, 1 to 49151; default 4790
 * @FLOWGEN_A_SEED: u64, of the flows' source ports; default 0
 * @FLOWGEN_A_LIMIT: u64, ns after its start the run is given up, up to FLOWGEN_TIME_MAX; 0
 *	(default): never
 * @FLOWGEN_A_PAYLOAD: u32, bytes of a full packet of gbn, 1 to FLOWGEN_PAYLOAD_MAX; default 1000
 * @FLOWGEN_A_WINDOW: u64, bytes of a flow of gbn that may be unacknowledged; at least _ACK
 *	packets; 0 (default): any number
 * @FLOWGEN_A_ACK: u32, gbn acknowledges each so many packets and the last one, 1 (default) or more
 * @FLOWGEN_A_ACK_CLASS: u8, class of acknowledgements, 0 to 7; default: the flow's
 * @FLOWGEN_A_RTO: u64, ns without news after which a sender of gbn goes back, 1000 to
 *	FLOWGEN_TIME_MAX; default 4 ms
 * @FLOWGEN_A_LOCAL: u32, packets of a flow of gbn that may wait in its own host, 1 to 65535;
 *	default 2
 * @FLOWGEN_A_CC: string, congestion control: of tcp any that the kernel has, default the
 *	namespace's; of gbn dcqcn or hpcc, default none
 * @FLOWGEN_A_INTERVAL: u64, ns between two samples, FLOWGEN_INTERVAL_MIN to FLOWGEN_TIME_MAX;
 *	needed to watch
 * @FLOWGEN_A_END: u32, number of an endpoint
 * @FLOWGEN_A_NETNS: u32, file descriptor of a network namespace
 * @FLOWGEN_A_ADDRESS4: u32 in network byte order, an IPv4 address of that namespace
 * @FLOWGEN_A_ADDRESS6: 16 bytes, an IPv6 address of it
 * @FLOWGEN_A_DEVICE: string, name of a device
 * @FLOWGEN_A_FLOW_LIST: array of struct flowgen_flow
 * @FLOWGEN_A_STATE: u32, enum flowgen_state
 * @FLOWGEN_A_LEFT: u32, flows that are neither complete nor given up
 * @FLOWGEN_A_SAMPLES: u32, samples to be fetched
 * @FLOWGEN_A_TIME: u64, ns since the start of the run, or that it took
 * @FLOWGEN_A_COUNTERS: nested FLOWGEN_C_*
 * @FLOWGEN_A_FIRST: u32, number of the first flow of a message
 * @FLOWGEN_A_RESULT_LIST: array of struct flowgen_result, of flows _FIRST, _FIRST + 1 and so on
 * @FLOWGEN_A_SAMPLE_LIST: array of struct flowgen_sample
 * @FLOWGEN_A_PAD: padding of 64-bit attributes
 * @FLOWGEN_A_RATE: u64, bit/s, line rate of the senders, or of an endpoint, FLOWGEN_RATE_MIN to
 *	_MAX; needed by congestion control of gbn, and only there
 * @FLOWGEN_A_DCQCN_CNP: u64, ns, least time between two CNPs for a flow, up to FLOWGEN_TIME_MAX;
 *	default 50 us
 * @FLOWGEN_A_DCQCN_ALPHA: u64, ns without a CNP after which alpha is less, 1000 to
 *	FLOWGEN_TIME_MAX; default 55 us
 * @FLOWGEN_A_DCQCN_TIMER: u64, ns from one increase by time to the next, 1000 to 2^48;
 *	default 55 us
 * @FLOWGEN_A_DCQCN_BYTES: u64, bytes from one increase by bytes to the next,
 *	FLOWGEN_DCQCN_BYTES_MIN to FLOWGEN_BYTES_MAX; default 10 MB
 * @FLOWGEN_A_DCQCN_ADD: u64, bit/s, additive increase, 8 to FLOWGEN_RATE_MAX; default
 *	_RATE / 1000
 * @FLOWGEN_A_DCQCN_HYPER: u64, bit/s, hyper increase, 8 to FLOWGEN_RATE_MAX; default _RATE / 100
 * @FLOWGEN_A_HPCC_RTT: u64, ns, base RTT of the network, without queues, FLOWGEN_HPCC_RTT_MIN to
 *	_MAX; default 13 us
 * @FLOWGEN_A_HPCC_ETA: u32, 1/10000, target utilization, 1 to FLOWGEN_HPCC_ETA_MAX; default 0.95
 * @FLOWGEN_A_HPCC_STAGES: u32, additive increases before the window is set by measurement, 0 to
 *	FLOWGEN_HPCC_STAGES_MAX; default 5
 * @FLOWGEN_A_HPCC_ADD: u64, bytes, additive increase, 1 to FLOWGEN_BYTES_MAX; default
 *	_RATE / 8 * _HPCC_RTT * (1 - _HPCC_ETA) / 100
 */
enum {
	FLOWGEN_A_UNSPEC,
	FLOWGEN_A_FLOWS,
	FLOWGEN_A_ENDS,
	FLOWGEN_A_TRANSPORT,
	FLOWGEN_A_PORT,
	FLOWGEN_A_SEED,
	FLOWGEN_A_LIMIT,
	FLOWGEN_A_PAYLOAD,
	FLOWGEN_A_WINDOW,
	FLOWGEN_A_ACK,
	FLOWGEN_A_ACK_CLASS,
	FLOWGEN_A_RTO,
	FLOWGEN_A_LOCAL,
	FLOWGEN_A_CC,
	FLOWGEN_A_INTERVAL,
	FLOWGEN_A_END,
	FLOWGEN_A_NETNS,
	FLOWGEN_A_ADDRESS4,
	FLOWGEN_A_ADDRESS6,
	FLOWGEN_A_DEVICE,
	FLOWGEN_A_FLOW_LIST,
	FLOWGEN_A_STATE,
	FLOWGEN_A_LEFT,
	FLOWGEN_A_SAMPLES,
	FLOWGEN_A_TIME,
	FLOWGEN_A_COUNTERS,
	FLOWGEN_A_FIRST,
	FLOWGEN_A_RESULT_LIST,
	FLOWGEN_A_SAMPLE_LIST,
	FLOWGEN_A_PAD,
	FLOWGEN_A_RATE,
	FLOWGEN_A_DCQCN_CNP,
	FLOWGEN_A_DCQCN_ALPHA,
	FLOWGEN_A_DCQCN_TIMER,
	FLOWGEN_A_DCQCN_BYTES,
	FLOWGEN_A_DCQCN_ADD,
	FLOWGEN_A_DCQCN_HYPER,
	FLOWGEN_A_HPCC_RTT,
	FLOWGEN_A_HPCC_ETA,
	FLOWGEN_A_HPCC_STAGES,
	FLOWGEN_A_HPCC_ADD,
	__FLOWGEN_A_MAX
};

#define FLOWGEN_A_MAX	(__FLOWGEN_A_MAX - 1)

/**
 * enum - counters of a run, u64 each
 * @FLOWGEN_C_COMPLETED: flows of which the sender knows that they have arrived
 * @FLOWGEN_C_GIVEN_UP: flows that cannot complete: an endpoint's namespace is gone, a packet
 *	exceeds the MTU, a connection was refused or broke
 * @FLOWGEN_C_PACKETS: packets of data sent
 * @FLOWGEN_C_RETRANSMITS: of them, sent before
 * @FLOWGEN_C_TIMEOUTS: of senders' timers
 * @FLOWGEN_C_RECEIVED: packets of data that were expected next when they came
 * @FLOWGEN_C_DUPLICATES: packets of data that were there before
 * @FLOWGEN_C_GAPS: packets of data that came too early and were dropped
 * @FLOWGEN_C_ACKS: ACKs sent
 * @FLOWGEN_C_NACKS: NACKs sent
 * @FLOWGEN_C_STALE_ACKS: ACKs, NACKs and CNPs received that brought nothing
 * @FLOWGEN_C_LOCAL_DROPS: packets that their own host dropped at once; the flow waits for its timer
 * @FLOWGEN_C_NO_ROUTE: packets that could not be sent: no route, or its device is down or has no
 *	carrier
 * @FLOWGEN_C_NO_MEMORY: packets that could not be sent for want of memory
 * @FLOWGEN_C_TOO_BIG: flows given up because a packet exceeds the MTU
 * @FLOWGEN_C_RX_MALFORMED: received with an unknown version or type, or too short
 * @FLOWGEN_C_RX_RUN: received, of another run
 * @FLOWGEN_C_RX_FLOW: received, of no flow between these endpoints in this direction
 * @FLOWGEN_C_RX_ADDRESS: received, with an address or port that is not the flow's
 * @FLOWGEN_C_RX_PACKET: received, with a packet number, flags or length that the flow cannot have
 * @FLOWGEN_C_SAMPLES_LOST: samples that nobody fetched in time
 * @FLOWGEN_C_PAD: padding of 64-bit attributes
 * @FLOWGEN_C_CNPS: CNPs sent
 * @FLOWGEN_C_CNPS_HEARD: CNPs that set a rate
 */
enum {
	FLOWGEN_C_UNSPEC,
	FLOWGEN_C_COMPLETED,
	FLOWGEN_C_GIVEN_UP,
	FLOWGEN_C_PACKETS,
	FLOWGEN_C_RETRANSMITS,
	FLOWGEN_C_TIMEOUTS,
	FLOWGEN_C_RECEIVED,
	FLOWGEN_C_DUPLICATES,
	FLOWGEN_C_GAPS,
	FLOWGEN_C_ACKS,
	FLOWGEN_C_NACKS,
	FLOWGEN_C_STALE_ACKS,
	FLOWGEN_C_LOCAL_DROPS,
	FLOWGEN_C_NO_ROUTE,
	FLOWGEN_C_NO_MEMORY,
	FLOWGEN_C_TOO_BIG,
	FLOWGEN_C_RX_MALFORMED,
	FLOWGEN_C_RX_RUN,
	FLOWGEN_C_RX_FLOW,
	FLOWGEN_C_RX_ADDRESS,
	FLOWGEN_C_RX_PACKET,
	FLOWGEN_C_SAMPLES_LOST,
	FLOWGEN_C_PAD,
	FLOWGEN_C_CNPS,
	FLOWGEN_C_CNPS_HEARD,
	__FLOWGEN_C_MAX
};

#define FLOWGEN_C_MAX	(__FLOWGEN_C_MAX - 1)

#endif
