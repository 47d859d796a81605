/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rocc.h - inside of the kind rocc
 *
 * A qdisc has one role: a congestion point or a reaction point. Both have a child that holds the
 * packets, and a queue for control traffic ahead of it.
 *
 *   main.c          the operations of the qdisc, the module
 *   options.c       options, and how a change comes into force
 *   stats.c         counters, and limiters as classes
 *   cnp_receive.c   CNPs that reach a host
 *   cp.c            the congestion point (sections 3.2 to 3.4)
 *   rp.c            the reaction point (sections 3.5 and 3.6)
 *   cnp_judge.c     what costs more to find out about a received CNP
 *   cnp_send.c      CNPs to the sources of flows
 *   way.c           the way back to a source
 *   child.c         control traffic, and the child
 *   flow.c, cnp.c   which flow a packet is of; the codec of CNPs
 *
 * A file calls those below it in this list, and none above.
 *
 * Who protects what
 *
 *   field                                  protector
 *   rocc_sched: child, fifo                RTNL writes under the qdisc lock
 *   rocc_sched: link                       RTNL
 *   rocc_sched: config                     RTNL writes under the qdisc lock and that of the role
 *   rocc_sched: all else                   the qdisc lock
 *   rocc_cp, rocc_rp                       their own lock, which is taken inside of the qdisc lock:
 *                                          by timers and the receive hook alone, for these do not
 *                                          know which qdisc is the root by then. Nothing of another
 *                                          qdisc or device is called under it.
 *   rocc_cp.notices, .cnp                  the timer
 *   rocc_rp.recent                         nobody: whole words, written and read once
 *   rocc_net.rps, .heard                   rocc_net.lock, which is taken before a rocc_rp's
 *   rocc_net.refused                       atomic
 */
#ifndef _SLUICE_ROCC_H
#define _SLUICE_ROCC_H

#include <linux/hrtimer.h>
#include <linux/netfilter.h>
#include <linux/siphash.h>
#include <linux/timerqueue.h>
#include <net/pkt_sched.h>
#include <net/sch_generic.h>

#include "../hopctl/speed.h"
#include "../sched/fair_rate.h"
#include "../sched/notification.h"
#include "../sched/police.h"
#include "../sched/stats.h"
#include "cnp.h"
#include "heard.h"

#define ROCC_WAYS	4	/* places in the flow table for each hash */
#define ROCC_BATCH	64	/* CNPs that are made under one hold of the lock */
#define ROCC_SCAN	256	/* flows that are looked at under one hold of it */
#define ROCC_SCAN_MAX	4096	/* and in one interval */
#define ROCC_MESSAGE_MAX	HOP_NOTIFICATION_MOST	/* bytes of a received CNP */
#define ROCC_TAGS	2	/* VLAN tags of a packet that are known */
#define ROCC_RECENT_EACH	4	/* places for flows sent not long ago, for each limiter */
#define ROCC_RECENT_LEAST	4096
#define ROCC_RECENT_NS	(100ULL * NSEC_PER_MSEC)
#define ROCC_SPILLED	64	/* flows of control packets that may go with the data, by hash */
#define ROCC_GOES_ON	(-1)	/* of rocc_enqueue_control(): it is data for this time */

/**
 * struct rocc_config - what the options say, in the units of TCA_ROCC_*
 */
struct rocc_config {
	u64			rate;
	u64			rate_min;
	u64			floor;
	u32			limit;
	u32			interval_ns;
	u32			q_ref;
	u32			q_mid;
	u32			q_max;
	u32			alpha;
	u32			beta;
	u32			flows;
	u32			age_ns;
	u32			sample;
	u32			cnps;
	u32			source;
	u32			recovery_ns;
	u32			hold_ns;
	u32			limiters;
	u32			control_share;
	u8			role;
	u8			tuning;
	u8			table;
	u8			compute;
	u8			sign;
	u8			radius;
	u8			control_dscp;
	u8			keys;		/* bits of those that are there */
	u8			prefixes;
	u8			split_gso;
	siphash_key_t		key[ROCC_CNP_KEYS];
	struct rocc_prefix	from[ROCC_PREFIXES_MAX];
};

/* ---- flow.c ---- */

/* Of a flow: the head of the struct, and ports or what stands in their place */
#define ROCC_FLOW_ID_BYTES	(offsetof(struct cnp_flow, l4) + 4)

bool rocc_flow_of(const struct sk_buff *skb, struct cnp_flow *id);
void rocc_flow_reduce(struct cnp_flow *id);
u32 rocc_flow_hash(const struct cnp_flow *id, u32 seed);

static inline bool rocc_flow_same(const struct cnp_flow *a, const struct cnp_flow *b)
{
	return !memcmp(a, b, ROCC_FLOW_ID_BYTES);
}

/* ---- cp.c: congestion points ---- */

/* A VLAN tag */
struct rocc_tag {
	__be16	proto;
	u16	tci;
};

/**
 * struct rocc_way - how a packet came and left, and so how its source is told; see way.c
 * @ifindex: by which device it came; 0: from this machine
 * @mac: from whom it is, as it left
 * @tags: that it left with; more than ROCC_TAGS: not all of them are known
 * @outer: the first of them is the one that the kernel keeps beside the packet
 * @tag: the outermost first
 */
struct rocc_way {
	int		ifindex;
	u8		mac[ETH_ALEN];
	u8		tags;
	bool		outer;
	struct rocc_tag	tag[ROCC_TAGS];
};

/**
 * struct rocc_flow - an entry of the flow table
 * @node: in the list of those that may be told, else empty
 * @leaves_at: its last packet is gone when so many bytes have left, modulo 2^64
 * @seen_ns: when its last packet came
 * @told_ns: when it was last told
 * @hash: of @id
 * @count: sampled packets, halved from time to time
 * @halved: when they last were, see rocc_flow_decay()
 * @waits: since it was told it has waited for nothing but its turn
 * @way: of its last packet
 * @id: what is quoted, of its last packet
 */
struct rocc_flow {
	struct list_head	node;
	u64			leaves_at;
	u64			seen_ns;
	u64			told_ns;
	u32			hash;
	u32			count;
	u8			halved;
	bool			waits;
	struct rocc_way		way;
	struct cnp_flow		id;
};

/* A CNP to be sent: what of its flow is needed when the lock is let go */
struct rocc_notice {
	struct rocc_way	way;
	struct cnp_flow	id;
	u32		gap_ns;
};

/* What the sender of CNPs needs of the options */
struct rocc_sender {
	siphash_key_t	key;
	u32		source;
	u8		sign;
};

struct rocc_cp_stats {
	u64	ticks;
	u64	cnps;
	u64	cnps_held;
	u64	cnps_failed;
	u64	cnps_vlan;
	u64	untracked;
	u32	active;
};

/**
 * struct rocc_cp - a congestion point
 * @lock: of all that follows
 * @law: of the fair rate
 * @rate: the fair rate
 * @interval_ns: T in force
 * @age_ns: how long a flow is remembered that has no packet in the queue
 * @table: enum rocc_table
 * @mask: hash to set of the table, which has a power of two of them; see rocc_cp_set()
 * @flows: the table
 * @sets: sets of it
 * @arrived: bytes that were queued, modulo 2^64
 * @backlog: bytes that are
 * @active: flows that may be told
 * @sampled: sum of the flows' counts
 * @random: state of the sampling
 * @timer: of the interval
 * @running: it is armed, or at work
 * @told_max: nobody needs to hear that the rate is at its most
 * @telling: the rate is worth being told
 * @round: flows that are to be told the rate, and have not been looked at
 * @round_intervals: since the rate was computed
 * @gap: intervals that it took to tell all of them the last one
 * @rate_before: the rate of the round before
 * @round_ns: when the rate was computed
 * @round_departed: bytes that had left by then
 * @quiet_ns: when there was last nothing to be told
 */
struct rocc_cp {
	spinlock_t		lock;
	u32			seed;
	u32			interval_ns;
	u32			age_ns;
	u32			sample;
	u32			sets;
	u8			table;
	bool			running;
	bool			told_max;
	bool			telling;
	struct rocc_flow	*flows;
	u64			arrived;
	u32			backlog;
	u32			random;
	u32			sampled;
	struct list_head	active;
	struct rocc_cp_stats	stats;

	struct rocc_law		law;
	struct rocc_rate	rate;
	struct hrtimer		timer;
	u64			epoch;
	u32			sequence;
	u64			paid_ns;	/* CNPs by number, see share.h */
	u64			cpu_paid_ns;	/* and by the time that they take */
	u32			round;
	u32			round_intervals;
	u32			gap;
	u64			rate_before;
	u64			round_ns;
	u64			round_departed;
	u64			quiet_ns;
	struct cnp		cnp;		/* of this round; the timer's, like @notices */
	struct rocc_notice	notices[ROCC_BATCH];
};

/* ---- rp.c: reaction points ---- */

/**
 * struct rocc_limiter - the limit of a flow (section 3.5)
 * @release: in the tree of those that hold packets, at the time of the next one
 * @recovery: in the tree of all, not later than @deadline_ns
 * @chain: in the hash table
 * @id: the flow
 * @hash: of @id
 * @slot: of its class
 * @rate: bytes per second
 * @pace: what it goes at, bytes per second: @rate, or more to empty a limiter at its end
 * @ns_per_byte: at @pace, << ROCC_COST_SHIFT
 * @next_ns: when the next packet may go
 * @recovery_ns: the rate is doubled so long after each CNP
 * @deadline_ns: when that is
 * @seen_ns: when a packet of it last came
 * @head: packets that wait
 * @cp_address: whose rate it is
 */
struct rocc_limiter {
	struct timerqueue_node	release;
	struct timerqueue_node	recovery;
	struct hlist_node	chain;
	struct cnp_flow		id;
	u32			hash;
	u32			slot;

	u64			rate;
	u64			pace;
	u64			ns_per_byte;
	u64			next_ns;
	u64			deadline_ns;
	u64			seen_ns;
	u32			recovery_ns;
	u32			qlen;
	u32			backlog;
	struct sk_buff		*head;
	struct sk_buff		*tail;

	u8			cp_address[16];
	u64			cp_epoch;
	u32			cp_port;
	u32			cp_sequence;
	u16			cp_queue;

	u64			born_ns;
	u64			accepted_ns;
	u64			accepted;
	u64			raised;
	u64			sent;
	u64			sent_bytes;
};

struct rocc_rp_stats {
	u64	delayed;
	u64	accepted;
	u64	higher;
	u64	not_needed;
	u64	stale;
	u64	full;
	u64	raised;
	u64	removed;
	u64	drop_limit;
	u64	held;
	u64	epoch_back;
	u64	gso_split;
	u64	drop_gso;
	u32	limiters;
	u32	limiters_max;
};

/**
 * struct rocc_rp - a reaction point
 * @lock: of all that follows, but for @recent
 * @rate_max: of a flow that needs no limiter, bytes per second
 * @floor: least rate, bytes per second
 * @hash_mask: of the hash table
 * @chains: the hash table
 * @slots: limiters by class
 * @free_slots: a stack of those that are free
 * @releases: limiters that hold packets, by the time of the next one
 * @recoveries: all limiters, by their deadline or earlier
 * @timer: of the first of @recoveries
 * @armed_ns: for when, or U64_MAX
 * @watchdog: of the first of @releases
 * @recent: for a hash the flow that sent last: hash, and time in about ms
 * @recent_mask: of that table
 */
struct rocc_rp {
	spinlock_t		lock;
	u32			seed;
	u64			rate_max;
	u64			floor;
	u64			*recent;
	u32			recent_mask;
	u32			hash_mask;
	struct hlist_head	*chains;
	struct rocc_limiter	**slots;
	u16			*free_slots;
	struct timerqueue_head	releases;
	struct timerqueue_head	recoveries;
	struct rocc_rp_stats	stats;
	struct hrtimer		timer;
	u64			armed_ns;
	struct qdisc_watchdog	watchdog;
	struct list_head	node;		/* of rocc_net.rps */
};

/* ---- the qdisc, and what its parts offer each other ---- */

struct rocc_stats {
	u64	backlog_max;
	u64	backlog_time;
	u64	control;
	u64	drop_control;
	u64	no_flow;
	u64	spilled;
	u64	drop_police;
};

/**
 * struct rocc_sched - private area of the qdisc
 * @link: speed of the device, Mbit/s, 0: it does not say
 * @control: packets that go ahead of all others
 * @control_bytes: in there
 * @police: what forwarded ones may take of the link
 * @control_paid: of hop_control_takes()
 * @seed: of the hash below
 * @spilled: for a hash of a flow of such ones when the last that went with the data is gone, in
 *	bytes that have left; U64_MAX: when all are; 0: there was none
 */
struct rocc_sched {
	struct rocc_config	config;
	struct Qdisc		*child;
	struct Qdisc		*fifo;		/* the child, if it is our own */
	struct Qdisc		*sch;
	struct list_head	node;		/* of all of them; RTNL */
	u32			link;

	struct sk_buff_head	control;
	u32			control_bytes;
	struct hop_police	police;
	atomic64_t		control_paid;
	u32			seed;
	u64			spilled[ROCC_SPILLED];
	u64			changed_ns;	/* when the backlog last changed */
	struct rocc_stats	stats;

	union {
		struct rocc_cp	cp;
		struct rocc_rp	rp;
	};
};

static inline struct rocc_sched *rocc_of_cp(struct rocc_cp *p)
{
	return container_of(p, struct rocc_sched, cp);
}

static inline struct rocc_sched *rocc_of_rp(struct rocc_rp *h)
{
	return container_of(h, struct rocc_sched, rp);
}

static inline bool rocc_is_rp(const struct rocc_sched *q)
{
	return q->config.role == ROCC_ROLE_HOST;
}

/**
 * rocc_speed - of a qdisc's link
 * @sch: the qdisc
 * @c: what the options say
 *
 * Context: RTNL. Return: bit/s.
 */
static inline u64 rocc_speed(struct Qdisc *sch, const struct rocc_config *c)
{
	const struct rocc_sched *q = qdisc_priv(sch);

	if (c->rate)
		return c->rate * 8;
	return q->link ? q->link * 1000000ULL : HOP_RATE_UNKNOWN * 8;
}

static inline void rocc_backlog_moves(struct Qdisc *sch, struct rocc_sched *q, u64 now)
{
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
}

static inline void rocc_backlog_peak(struct Qdisc *sch, struct rocc_sched *q)
{
	if (sch->qstats.backlog > q->stats.backlog_max)
		q->stats.backlog_max = sch->qstats.backlog;
}

int rocc_enqueue_control(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *rocc_dequeue_child(struct Qdisc *sch, struct rocc_sched *q, u64 now);

int rocc_cp_init(struct Qdisc *sch, struct rocc_cp *p, const struct rocc_config *c);
int rocc_cp_check(struct Qdisc *sch, const struct rocc_config *c, struct nlattr **tb,
		  struct netlink_ext_ack *extack);
void rocc_cp_apply(struct Qdisc *sch, struct rocc_cp *p, const struct rocc_config *c);
void rocc_cp_reset(struct rocc_cp *p);
void rocc_cp_destroy(struct rocc_cp *p);
int rocc_cp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *rocc_cp_dequeue(struct Qdisc *sch);

int rocc_rp_init(struct Qdisc *sch, struct rocc_rp *h, const struct rocc_config *c);
void rocc_rp_apply(struct Qdisc *sch, struct rocc_rp *h, const struct rocc_config *c);
void rocc_rp_reset(struct rocc_rp *h);
void rocc_rp_destroy(struct rocc_rp *h);
int rocc_rp_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free);
struct sk_buff *rocc_rp_dequeue(struct Qdisc *sch);
int rocc_rp_module_init(void);
void rocc_rp_module_exit(void);

/* ---- options.c ---- */

extern const struct rocc_config rocc_defaults;

void rocc_link_ask(struct rocc_sched *q);
int rocc_parse(struct Qdisc *sch, struct nlattr *opt, struct rocc_config *c, bool creating,
	       struct netlink_ext_ack *extack);
void rocc_apply(struct Qdisc *sch, const struct rocc_config *c);
int rocc_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack);
int rocc_dump(struct Qdisc *sch, struct sk_buff *skb);

/* ---- stats.c ---- */

extern const struct Qdisc_class_ops rocc_class_ops;

int rocc_dump_stats(struct Qdisc *sch, struct gnet_dump *d);

/* ---- way.c ---- */

/**
 * enum rocc_sent - what became of a CNP
 * @ROCC_SENT: it was sent
 * @ROCC_NO_WAY: no memory for it, or no way back
 * @ROCC_NO_VLAN: a bridge, which does not say with which VLAN tags
 */
enum rocc_sent {
	ROCC_SENT,
	ROCC_NO_WAY,
	ROCC_NO_VLAN,
};

/**
 * struct rocc_back - the way of a CNP
 * @dev: the device that the flow's packets came by
 * @vrf: index of its VRF, or 0
 * @routed: it is routed; else it leaves by @dev
 * @tags: with so many tags
 * @tag: the outermost first
 */
struct rocc_back {
	struct net_device	*dev;
	int			vrf;
	bool			routed;
	u8			tags;
	struct rocc_tag		tag[ROCC_TAGS + 1];
};

void rocc_bridge_look(void);
void rocc_bridge_get(void);
void rocc_bridge_put(void);
enum rocc_sent rocc_way_back(struct net_device *port, const struct rocc_way *way,
			     struct rocc_back *back);

/* ---- cnp_send.c ---- */

void rocc_cp_address(struct net_device *dev, u8 *address);
enum rocc_sent rocc_cnp_send(struct net_device *port, const struct rocc_sender *from,
			     const struct rocc_notice *n, struct cnp *cnp);
u64 rocc_cnp_tag(void *buf, size_t len, const siphash_key_t *key);

/* ---- received CNPs ---- */

/**
 * enum rocc_refusal - why a CNP is not believed, in the order in which it is found out
 * @ROCC_ACCEPTED: it is
 */
enum rocc_refusal {
	ROCC_BAD_FRAME,
	ROCC_BAD_CHECKSUM,
	ROCC_BAD_VERSION,
	ROCC_BAD_RANGE,
	ROCC_BAD_TTL,
	ROCC_BAD_SOURCE,
	ROCC_BAD_FLOW,
	ROCC_BAD_TAG,
	ROCC_BAD_SEQUENCE,
	ROCC_REFUSALS,
	ROCC_ACCEPTED = ROCC_REFUSALS,
};

/**
 * struct rocc_packet - a CNP that was received
 * @cnp: what it says
 * @source: of the packet, mapped if IPv4
 * @hops: routers that it passed
 * @net: where it came
 * @rn: the same, our part of it
 * @ifindex: the device that it came by
 * @looked: TCP was asked whether the quoted packet is in flight
 * @in_flight: what it said
 * @sk: who said it
 * @judged: @fresh is known
 * @fresh: is it new? Of signed ones
 * @len: of @message
 * @message: ICMP, checksum and tag set to 0
 */
struct rocc_packet {
	struct cnp	cnp;
	struct in6_addr	source;
	u8		hops;
	bool		looked;
	bool		in_flight;
	bool		judged;
	enum rocc_freshness fresh;
	int		ifindex;
	struct net	*net;
	struct rocc_net	*rn;
	struct sock	*sk;
	u8		message[ROCC_MESSAGE_MAX];
	unsigned int	len;
};

/**
 * struct rocc_net - a network namespace
 * @lock: of @rps and @heard
 * @rps: its reaction points
 * @heard: congestion points whose signed CNPs have come, in sets; there from the first reaction
 *	point on
 * @seed: of the hash that says in which set
 * @refused: CNPs, by enum rocc_refusal
 */
struct rocc_net {
	spinlock_t		lock;
	struct list_head	rps;
	struct rocc_heard	*heard;
	u32			seed;
	atomic64_t		refused[ROCC_REFUSALS];
};

/* ---- cnp_judge.c ---- */

enum rocc_freshness rocc_cnp_judge(struct rocc_packet *packet, u64 now);
bool rocc_cnp_in_flight(struct rocc_packet *packet);

/* ---- cnp_receive.c ---- */

int rocc_net_add(struct net *net, struct rocc_rp *h);
void rocc_net_remove(struct net *net, struct rocc_rp *h);
int rocc_net_dump(struct net *net, struct sk_buff *skb);
int rocc_net_module_init(void);
void rocc_net_module_exit(void);

enum rocc_refusal rocc_rp_take(struct rocc_rp *h, struct rocc_packet *packet, u64 now);

#endif
