/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flowgen.h - what the files of flowgen share
 *
 *   main.c       module, namespaces that end, sockets that close
 *   netlink.c    the generic netlink family (uapi/flowgen.h)
 *   run.c        life of a run: flows start
 *   gbn_recv.c   go-back-N: what comes in
 *   gbn_send.c   go-back-N: the sender
 *   cc_dcqcn.c   congestion control of go-back-N (cc.h): DCQCN
 *   cc_hpcc.c    likewise: HPCC
 *   tcp.c        connections of the kernel's TCP
 *   end.c        endpoints: sockets, routes, packets, life
 *   watch.c      samples of ports
 *   flow.c       flows end, and with the last one the run
 *   gbn.h        go-back-N: header and decisions, without kernel types
 *
 * A file calls those below it in this list, and none above. The two transports, gbn_*.c and tcp.c,
 * do not know each other. A run and its endpoints call their transport by struct fg_transport; the
 * run's work @tell is netlink.c's.
 *
 * Who keeps whom alive. A run belongs to a netlink socket and ends with it. It owns its
 * endpoints and flows. A packet that waits in a qdisc or on a card holds the sender's state of
 * its flow (struct fg_tx), that holds the endpoint, and an endpoint holds the module: so packets
 * may outlive the run, and then only let go. What packets that come in look at, the run and its
 * flows, is freed a grace period after the sockets were closed.
 *
 * Locks: fg_mutex is for the life of runs and endpoints; inside it the lock of an endpoint or of
 * the watch, never two of them. No packet is sent with a lock held: it may come in again at once.
 */
#ifndef _SLUICE_FLOWGEN_H
#define _SLUICE_FLOWGEN_H

#include <linux/hrtimer.h>
#include <linux/in6.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timerqueue.h>
#include <linux/workqueue.h>
#include <net/dst.h>

#include "../uapi/flowgen.h"
#include "cc.h"
#include "gbn.h"

struct fg_end;
struct fg_run;
struct fg_tcp;
struct fg_tx;

#define FG_CLASS_FLOW	0xff	/* the flow's own */

/**
 * struct fg_transport - how the flows of a run are carried
 * @socket: type of an endpoint's socket
 * @protocol: of that
 * @run_new: prepares a run; 0 or -errno. May be NULL
 * @run_settle: after endpoints were closed, and a grace period: on return no work looks at their
 *	sockets. May be NULL
 * @run_free: undoes @run_new. May be NULL
 * @start: starts a flow, by its number; in softirqs, under RCU
 * @end_open: has the bound socket of an endpoint receive; 0 or -errno
 * @end_detach: the socket tells nothing any more
 * @end_reap: gives up the flows from a closed endpoint, after @run_settle. May be NULL
 */
struct fg_transport {
	int socket;
	int protocol;
	int (*run_new)(struct fg_run *run);
	void (*run_settle)(struct fg_run *run);
	void (*run_free)(struct fg_run *run);
	void (*start)(struct fg_run *run, u32 number);
	int (*end_open)(struct fg_end *end);
	void (*end_detach)(struct fg_end *end);
	void (*end_reap)(struct fg_end *end);
};

/**
 * struct fg_config - options of a run
 * @seed: of source ports
 * @limit_ns: after its start the run is given up; 0: never
 * @rto_ns: without news after which a sender goes back
 * @interval_ns: between samples; 0: none are taken
 * @window: packets of a flow that may be unacknowledged; 0: any number
 * @payload: bytes of a full packet
 * @ack_every: packets
 * @local: packets of a flow that may wait in its own host
 * @port: of the endpoints
 * @transport: enum flowgen_transport
 * @ack_class: class of acknowledgements, or FG_CLASS_FLOW
 * @cc: congestion control of tcp; "": the namespace's
 * @law: congestion control of gbn, or NULL
 * @law_config: parameters of @law, but for what goes by an endpoint's line
 * @line: line rate of endpoints of which nothing else is said, bytes/s
 */
struct fg_config {
	u64 seed;
	u64 limit_ns;
	u64 rto_ns;
	u64 interval_ns;
	u32 window;
	u32 payload;
	u32 ack_every;
	u32 local;
	u16 port;
	u8 transport;
	u8 ack_class;
	char cc[FLOWGEN_CC_MAX + 1];
	const struct fg_cc *law;
	struct fg_cc_config law_config;
	u64 line;
};

/**
 * struct fg_flow - a flow, for as long as the run
 * @start_ns: after the start of the run
 * @bytes: of payload
 * @done_ns: after the start of the run, the receiver had it all; lock of @dst
 * @acked_ns: after the start of the run, the sender knew; lock of @src
 * @sent: packets of data; lock of @src
 * @again: of them, sent before; lock of @src
 * @tx: the sender's state while the flow is under way; lock of @src
 * @back: route of acknowledgements; lock of @dst
 * @back_cookie: of @back
 * @cnp_ns: CLOCK_MONOTONIC of the last CNP, 0: none was sent; lock of @dst
 * @timeouts: of the sender's timer; lock of @src
 * @packets: of the flow
 * @rx: the receiver's state; lock of @dst
 * @src: number of the sender's endpoint
 * @dst: of the receiver's
 * @class: priority of packets
 */
struct fg_flow {
	u64 start_ns;
	u64 bytes;
	u64 done_ns;
	u64 acked_ns;
	u64 sent;
	u64 again;
	struct fg_tx *tx;
	struct dst_entry *back;
	u64 cnp_ns;
	u32 back_cookie;
	u32 timeouts;
	u32 packets;
	struct gbn_rx rx;
	u16 src;
	u16 dst;
	u8 class;
};

/* Counters of an endpoint, in the order of FLOWGEN_C_* */
#define FG_COUNTERS	(FLOWGEN_C_MAX + 1)

/**
 * struct fg_end - an endpoint
 * @ref: the run's, and one of each struct fg_tx
 * @number: in the trace
 * @family: AF_INET or AF_INET6
 * @dead: it sends no more; written with @lock, followed by a grace period
 * @run: valid for readers under RCU while not @dead
 * @net: its namespace; NULL once that is gone; fg_mutex
 * @sock: bound to @address, of tcp listening; NULL once closed; fg_mutex, @accept
 * @address: IPv4 in the last 4 bytes
 * @law_config: parameters of the run's law, if it has one
 * @lock: protects what follows, and flows from and to here; softirqs off, innermost
 * @ready: flows that have something to send, and may
 * @timed: all flows under way from here, by deadline
 * @paced: flows under way from here that may send the next packet later, by that time
 * @armed: @timer will look at @timed
 * @count: counters
 * @returned: flows whose packets have left the host; without lock
 * @timer: of gbn, at the first deadline or before
 * @pacer: of gbn, at the first time in @paced
 * @tasklet: of gbn, sends
 * @accept: of tcp, takes new connections
 * @rcu: frees
 */
struct fg_end {
	struct kref ref;
	u16 number;
	u8 family;
	bool dead;
	struct fg_run *run;
	struct net *net;
	struct socket *sock;
	struct in6_addr address;
	struct fg_cc_config law_config;

	spinlock_t lock;
	struct list_head ready;
	struct list_head timed;
	struct timerqueue_head paced;
	bool armed;
	u64 count[FG_COUNTERS];

	struct llist_head returned;
	struct hrtimer timer;
	struct hrtimer pacer;
	struct tasklet_struct tasklet;
	struct work_struct accept;
	struct rcu_head rcu;
};

/**
 * struct fg_tx - the sender's state of a flow under way
 * @ref: one while under way, and one of each packet that has not left the host or been seen to
 * @local: packets in the host's qdisc and card
 * @back: in @end->returned
 * @gone: no longer under way; lock of @end
 * @again: the packet sent last was sent before; lock of @end
 * @stalled: nothing is sent until there is news or the timer fires; lock of @end
 * @returned: in @end->returned
 * @ready: in @end->ready, or empty; lock of @end
 * @timed: in @end->timed; lock of @end
 * @deadline_ns: of @timed
 * @paced: in @end->paced, or not; lock of @end
 * @paced_ns: the packet sent last begins there on a line of the flow's rate; lock of @end
 * @paced_bytes: of that packet on a line, 0: none was sent; lock of @end
 * @window: packets that may be unacknowledged, 0: any number; lock of @end
 * @asked_ns: with congestion control: since then an answer is due, 0: none is; lock of @end
 * @cc: of the run's law; lock of @end
 * @end: of the sender, with a reference
 * @flow: the flow, while not @gone
 * @number: of the flow
 * @gbn: what was sent and acknowledged; lock of @end
 * @dst: route, or NULL; lock of @end
 * @cookie: of @dst
 * @port: source port
 */
struct fg_tx {
	refcount_t ref;
	atomic_t local;
	unsigned long back;
	bool gone;
	bool again;
	bool stalled;
	struct llist_node returned;
	struct list_head ready;
	struct list_head timed;
	u64 deadline_ns;
	struct timerqueue_node paced;
	u64 paced_ns;
	u64 asked_ns;
	u32 paced_bytes;
	u32 window;
	union fg_cc_state cc;
	struct fg_end *end;
	struct fg_flow *flow;
	u32 number;
	struct gbn_tx gbn;
	struct dst_entry *dst;
	u32 cookie;
	u16 port;
};

/**
 * struct fg_port - a watched device
 * @net: its namespace, NULL once that is gone
 * @ifindex: the device
 * @told: a sample was taken
 * @last: what was told last
 */
struct fg_port {
	struct net *net;
	int ifindex;
	bool told;
	struct flowgen_sample last;
};

#define FG_SAMPLES	2040	/* of a chunk of 64 KiB */

/**
 * struct fg_samples - a chunk of samples
 * @node: in the watch's list
 * @first: not told yet
 * @used: of @samples
 * @samples: in the order of time
 */
struct fg_samples {
	struct list_head node;
	u32 first;
	u32 used;
	struct flowgen_sample samples[FG_SAMPLES];
};

/**
 * struct fg_watch - the sampler
 * @timer: at the next sample
 * @ports: devices; fixed once started, but for net
 * @n_ports: how many
 * @lock: protects what follows; softirqs off
 * @chunks: struct fg_samples
 * @n_chunks: of @chunks
 * @held: samples in them
 * @lost: samples for which there was no room
 */
struct fg_watch {
	struct hrtimer timer;
	struct fg_port *ports;
	u32 n_ports;
	spinlock_t lock;
	struct list_head chunks;
	u32 n_chunks;
	u32 held;
	u64 lost;
};

/**
 * struct fg_run - a run
 * @node: in fg_runs; fg_mutex
 * @portid: of the netlink socket that it belongs to
 * @number: in the packets' headers
 * @state: enum flowgen_state
 * @config: options, fixed
 * @transport: that of @config
 * @n_flows: of the trace
 * @n_added: of them, so far; fg_mutex
 * @n_ends: size of @ends
 * @flows: the trace
 * @ends: by number; NULL where there is none
 * @start_ns: CLOCK_MONOTONIC
 * @over_ns: CLOCK_MONOTONIC, valid when over
 * @next: the flow that starts next; @starter only
 * @left: flows neither complete nor given up
 * @given_up: flows
 * @starter: starts flows
 * @limiter: at the time limit
 * @tell: sends RUN_EVENT
 * @tcp: connections; NULL with another transport
 * @watch: samples
 */
struct fg_run {
	struct list_head node;
	u32 portid;
	u16 number;
	int state;
	struct fg_config config;
	const struct fg_transport *transport;
	u32 n_flows;
	u32 n_added;
	u32 n_ends;
	struct fg_flow *flows;
	struct fg_end **ends;
	u64 start_ns;
	u64 over_ns;
	u32 next;
	atomic_t left;
	atomic_t given_up;
	struct hrtimer starter;
	struct hrtimer limiter;
	struct work_struct tell;
	struct fg_tcp *tcp;
	struct fg_watch watch;
};

extern struct mutex fg_mutex;
extern struct list_head fg_runs;

static inline u64 fg_now(void)
{
	return ktime_get_ns();
}

static inline bool fg_run_is_on(const struct fg_run *run)
{
	return READ_ONCE(run->state) == FLOWGEN_STATE_RUNNING;
}

/* netlink.c */
int fg_netlink_init(void);
void fg_netlink_exit(void);

/* run.c */
struct fg_run *fg_run_new(u32 portid, const struct fg_config *config, u32 n_flows, u32 n_ends,
			  work_func_t tell);
struct fg_run *fg_run_find(u32 portid);
void fg_run_free(struct fg_run *run);
void fg_run_start(struct fg_run *run);
void fg_run_leave(struct net *net);

/* gbn_recv.c */
extern const struct fg_transport fg_gbn_transport;

/* gbn_send.c */
void fg_gbn_start(struct fg_run *run, u32 number);
void fg_gbn_answer(struct fg_end *end, struct fg_flow *flow, const struct gbn_header *h,
		   const u8 *records);
void fg_gbn_cnp(struct fg_end *end, struct fg_flow *flow);
void fg_gbn_prepare(struct fg_end *end);
void fg_gbn_reap(struct fg_end *end);
int fg_gbn_init(void);
void fg_gbn_exit(void);

/* tcp.c */
extern const struct fg_transport fg_tcp_transport;
int fg_tcp_check(const char *cc);

/* end.c */
struct fg_end *fg_end_new(struct fg_run *run, u32 number, struct net *net, u8 family,
			  const struct in6_addr *address, u64 line, const char **why);
int fg_end_sockaddr(const struct fg_end *end, u16 port, struct sockaddr_storage *address);
void *fg_end_zeros(void);
void fg_end_close(struct fg_end *end);
void fg_end_reap(struct fg_end *end);
void fg_end_put(struct fg_end *end);
struct dst_entry *fg_end_route(const struct fg_end *end, const struct fg_end *to, u16 port,
			       u32 *cookie);
struct sk_buff *fg_end_packet(const struct fg_end *end, const struct fg_end *to, u16 port,
			      u8 class, const struct dst_entry *dst, const struct gbn_header *h,
			      const u8 *records, u32 payload);
int fg_end_output(const struct fg_end *end, struct sk_buff *skb);
u32 fg_end_overhead(const struct fg_end *end);
int fg_end_init(void);
void fg_end_exit(void);

/* watch.c */
void fg_watch_init(struct fg_watch *watch);
int fg_watch_add(struct fg_run *run, struct net *net, const char *name, const char **why);
void fg_watch_start(struct fg_run *run);
void fg_watch_leave(struct fg_watch *watch, struct net *net);
void fg_watch_free(struct fg_watch *watch);
u32 fg_watch_peek(struct fg_watch *watch, const struct flowgen_sample **samples);
void fg_watch_forget(struct fg_watch *watch, u32 n);

/* flow.c */
void fg_run_over(struct fg_run *run, enum flowgen_state state);
void fg_flow_over(struct fg_run *run, bool complete);

#endif
