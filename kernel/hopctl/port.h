/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port.h - what the files of hopctl share: the port, its neighbour, the namespace
 *
 * A port has one worker, a tasklet, which sends every frame and lets every time limit run out;
 * one soft hrtimer wakes it when the next limit comes. The receive hook only takes notes and
 * schedules the worker; but pauses may leave from it at once (tx.c). Nothing is ever sent with a
 * port's lock held, and taking a port down means stopping one timer and one tasklet. Of two
 * processors that send for a port one may be late: the neighbour takes the older frame for lost.
 *
 *   protector                   what
 *   RTNL                        members (list and count), config, life and death of the port,
 *                               hop_ports (read under RCU, too)
 *   hop_port.lock (bottom       neighbour, candidates, epochs, sequence numbers, probes, what
 *   halves off)                 is to be sent, deadlines, counters in stats
 *   RCU                         members read by hook and worker; hop_net.owner
 *   atomics                     pause counters, dirty words, n_active, control_paid
 *   per CPU                     struct hop_pcpu
 *   written under lock, read    strip, handles, frame_max, paused, tagging, state, hrtt_used,
 *   with READ_ONCE              hrtt_doubtful, sampled, queues, cfg's tpid and tier,
 *                               streams' told and heard, root_id, heard's root
 *   written by the hook,        sampled_ns
 *   WRITE_ONCE
 *   written under RTNL, read    speed, cfg's watch and watchdog_ns
 *   with READ_ONCE
 *
 * What is read without a lock is not longer than a word, or is a bitmap, of which each bit counts
 * by itself: on a machine of 32 bits a load of 64 may see half of a store.
 *
 * Lock order: RTNL, then hop_port.lock, then hop_net.lock.
 */
#ifndef _SLUICE_HOPCTL_PORT_H
#define _SLUICE_HOPCTL_PORT_H

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/netfilter.h>
#include <linux/u64_stats_sync.h>
#include <net/net_namespace.h>

#include "hopctl.h"
#include "blocks.h"
#include "content.h"
#include "frame.h"
#include "reaction.h"
#include "root.h"

#define HOP_HELLO_NS		(100ULL * NSEC_PER_MSEC)
#define HOP_HELLO_FIRST_NS	(1ULL * NSEC_PER_MSEC)	/* doubled up to HOP_HELLO_NS */
#define HOP_HELLO_ALONE_NS	(4ULL * NSEC_PER_SEC)	/* or this, if nobody was ever there */
#define HOP_DEAD_NS		(1ULL * NSEC_PER_SEC)
#define HOP_LINGER_NS		(HOP_DEAD_NS + 2 * HOP_HELLO_NS)
#define HOP_FLIGHT_NS		(1ULL * NSEC_PER_MSEC)	/* margin, see peer_flight_ns() */

/* A HELLO that was held for long tells less about the link than about two clocks' rates, so
 * each fourth one is answered at once and only those answers are measured.
 */
#define HOP_HELLO_ANSWER	4
#define HOP_HELD_MAX_NS		(1ULL * NSEC_PER_MSEC)
#define HOP_HRTT_WINDOW		16
#define HOP_CARD_QUEUES		64	/* transmit queues that a neighbour's card may have */

#define HOP_CANDIDATES		4

/* A round of probing asks once and up to seven times again; three rounds without any answer,
 * while HELLOs arrive, say that the link does not carry tagged frames: at a loss of one half
 * in each direction that happens by chance once in a thousand rounds.
 */
#define HOP_PROBE_TRIES		8
#define HOP_PROBE_AGAIN_NS	(10ULL * NSEC_PER_MSEC)
#define HOP_PROBE_ROUNDS	3
#define HOP_PROBE_SLOW_NS	(1ULL * NSEC_PER_SEC)
#define HOP_PROBE_SMALL		64	/* bytes; a full-size one is larger at any legal MTU */
#define HOP_URGENT		4	/* ports with a change of pauses, on a processor */
#define HOP_ECHOES		4	/* probes that wait for their echo */
#define HOP_ECHO_BURST		16
#define HOP_ECHO_EVERY_NS	(1ULL * NSEC_PER_MSEC)

#define HOP_REFRESH_AUTO_MIN_NS	(100ULL * NSEC_PER_USEC)
#define HOP_LEASE_REFRESHES	8

#define HOP_EVENT_EVERY_NS	(1ULL * NSEC_PER_MSEC)

#define HOP_UPPERS		8	/* power of 2: upper devices remembered, by ifindex */
#define HOP_HANDLE_WORDS	(HOP_HANDLES / HOP_HANDLE_ALIGN)
#define HOP_HANDLE_SHARE	(HOP_HANDLES / 8)	/* of one port */
#define HOP_PAIRS		1024	/* of a namespace, see elide.c */
#define HOP_ROOT_LOCKS		64
#define HOP_ROOTS_TOLD		32	/* in a frame */

/**
 * struct hop_pcpu - what is counted for each packet
 * @syncp: lets 32-bit readers see whole values
 * @stripped: HOP_A_TAG_STRIPPED
 * @unlabelled: HOP_A_TAG_UNLABELLED
 * @errors: HOP_A_TAG_ERRORS
 * @forged: HOP_A_HANDLE_FORGED
 * @origin_unknown: HOP_A_ORIGIN_UNKNOWN
 * @pauses: HOP_A_PAUSES_TX
 * @resumes: HOP_A_RESUMES_TX
 */
struct hop_pcpu {
	struct u64_stats_sync	syncp;
	u64_stats_t		stripped;
	u64_stats_t		unlabelled;
	u64_stats_t		errors;
	u64_stats_t		forged;
	u64_stats_t		origin_unknown;
	u64_stats_t		pauses;
	u64_stats_t		resumes;
};

#define hop_pcpu_inc(port, field)				\
do {								\
	struct hop_pcpu *__c = get_cpu_ptr((port)->pcpu);	\
								\
	u64_stats_update_begin(&__c->syncp);			\
	u64_stats_inc(&__c->field);				\
	u64_stats_update_end(&__c->syncp);			\
	put_cpu_ptr((port)->pcpu);				\
} while (0)

/* Counters of the control path, named after their HOP_A_* attributes. */
struct hop_stats {
	u64	hello_tx, hello_rx;
	u64	neighbour_up, neighbour_lost;
	u64	probe_tx, probe_echoed;
	u64	tx_busy;
	u64	rx_malformed, rx_version, rx_epoch, rx_stale, rx_range, rx_untrusted, rx_shared;
	u64	rx_limited;
	u64	storms, storm_ends, storm_rx, counter_leaks;
	u64	hrtt_capped;
	u64	roots_tx, roots_rx, roots_far;
	u64	unanswered;
};

/**
 * struct hop_peer - the neighbour, all under the port's lock
 * @up: its epoch is confirmed and it is alive
 * @knows_us: its newest HELLO names our epoch
 * @mac: source address of the link's other end, valid if @mac_ns
 * @mac_ns: when that address was last heard, 0 if never
 * @other_ns: when another address was last heard, 0 if never
 * @epoch: its epoch, kept after it is lost so that nothing old is taken twice; 0 if none
 * @heard_ns: last sign of life
 * @hello: its newest HELLO
 * @hello_rx_ns: when that came, our clock
 * @hellos: HELLOs since it came up
 * @rtt: window of measured round trips, ns
 * @rtt_count: samples in it, ever
 * @rtt_rough: the only one is of a HELLO that was held for long
 */
struct hop_peer {
	bool			up;
	bool			knows_us;
	u8			mac[ETH_ALEN];
	u64			mac_ns;
	u64			other_ns;
	u32			epoch;
	u64			heard_ns;
	struct hop_hello	hello;
	u64			hello_rx_ns;
	u32			hellos;
	u32			rtt[HOP_HRTT_WINDOW];
	u32			rtt_count;
	bool			rtt_rough;
};

/**
 * struct hop_candidate - an epoch that wants to be the neighbour's
 * @epoch: it; 0 marks a free entry
 * @seen_ns: when its first HELLO came; only an echo of something sent later confirms it
 * @rx_ns: when its newest HELLO came
 * @sent_ns: that HELLO's time stamp
 * @answer: a HELLO is due to it
 */
struct hop_candidate {
	u32	epoch;
	u64	seen_ns;
	u64	rx_ns;
	u64	sent_ns;
	bool	answer;
};

/**
 * struct hop_probing - does the link carry tagged frames of full size? Under the port's lock.
 * @verdict: HOP_STATE_TAGGING, _PROBING, _PROBE_SIZE or _PROBE_TAG
 * @on: probes are wanted: all else that tagging needs is true
 * @passed: how many of the first, last and middle VLAN id have been echoed
 * @turn: counts rounds that went on to another VLAN id
 * @bad_vid: VLAN id that the verdict was spoken for and that has not passed since, else 0
 * @vid: VLAN id of the running round
 * @nonce: of the running round's full-size probes
 * @small_nonce: of its small probes
 * @tries: probes sent in it
 * @answered: its full-size probe was echoed
 * @small_passed: a small probe was echoed since the last full-size one was
 * @long_nonce: of its probe that leaves room for a tag of the user's
 * @long_answered: that one was echoed
 * @long_failed: rounds in a row with an answer to the full-size probe only
 * @failed: rounds in a row without an answer
 * @hellos: hop_peer.hellos at the start of the round
 * @round_ns: when the next round is due
 * @again_ns: when the next try within the round is due, U64_MAX if none
 */
struct hop_probing {
	u8	verdict;
	bool	on;
	u8	passed;
	u32	turn;
	u16	bad_vid;
	u16	vid;
	u32	nonce;
	u32	small_nonce;
	u8	tries;
	bool	answered;
	bool	small_passed;
	u32	long_nonce;
	bool	long_answered;
	u8	long_failed;
	u8	failed;
	u32	hellos;
	u64	round_ns;
	u64	again_ns;
};

/**
 * struct hop_spacing - how far apart frames with told states are. Under the port's lock.
 * @next_ns: before which another one may not leave
 * @paid_ns: of hop_share_spend()
 * @paid_before_ns: the same before the last frame
 */
struct hop_spacing {
	u64	next_ns;
	u64	paid_ns;
	u64	paid_before_ns;
};

/**
 * struct hop_blocks - blocks of data, sent and received; see the table in blocks.c
 * @ops: how data is counted, NULL if nobody does
 * @members: members that do; RTNL
 * @tx: what we send
 * @block: low half of @tx.block, for members
 * @gen: counts the times that END was due
 * @acks: blocks that the neighbour has answered since it came up, or did not for long, up to
 *	VALID_ACKS
 * @kin: it counts, too; see blocks_kin()
 * @valid: it has answered so many
 * @ended_ns: when END was due last
 * @next_ns: and is due again, or looked after, if it is not answered; after the answer: and the
 *	next block ends, which is not more often than a refresh
 * @unanswered_ns: for so long in all END of the block had left when it was due again
 * @rx_lock: protects @rx and what is counted by key
 * @rx: what the neighbour sends
 * @ripe_at: when the gathered block is complete, U64_MAX if there is none
 * @say: the neighbour is to be told which block is complete
 * @told_ns: when it was told last
 * @any: there may be some in @tell
 * @hurry: these are not to wait for others
 * @came_ns: when data came of which nothing has left yet, 0 if none did. On a machine of 32 bits
 *	half of it may be old, and the balance is told when something leaves
 * @tell: keys of which it is to be told the balance
 * @asked: when the block that it ends is complete
 */
struct hop_blocks {
	const struct hop_blocks_ops	*ops;
	unsigned int			members;
	struct hop_ledger_tx		tx;
	u32				block;
	u32				gen;
	u8				acks;
	bool				kin;
	bool				valid;
	u64				ended_ns;
	u64				next_ns;
	u64				unanswered_ns;

	spinlock_t			rx_lock;
	struct hop_ledger_rx		rx;
	u64				ripe_at;
	bool				say;
	u64				told_ns;
	bool				any;
	bool				hurry;
	u64				came_ns;
	DECLARE_BITMAP(tell, HOP_BLOCKS_KEYS);
	DECLARE_BITMAP(asked, HOP_BLOCKS_KEYS);
};

/**
 * struct hop_range - a range of handles, under hop_net.lock
 * @node: hop_net.parked while it waits for its counters
 * @first: first handle
 * @count: handles, a multiple of HOP_HANDLE_ALIGN
 * @gp: RCU grace period that has to pass after the owner is gone
 */
struct hop_range {
	struct list_head	node;
	u32			first;
	u32			count;
	unsigned long		gp;
};

/**
 * struct hop_port - a network device that takes part in the fabric
 * @dev: the device, held
 * @net: its namespace
 * @pcpu: counters of each packet
 * @strip: while fabric tags are taken off: highest VLAN id of them << 16 | TPID; else 0
 * @handles: first handle << 16 | sub-queues of the neighbour that have one; 0 if none
 * @sampled: hop_reaction.vid, for whoever takes tags off
 * @counting: data is counted by blocks; written under @lock
 * @frame_max: longest frame with the fabric tag that the probes have shown to pass, bytes
 * @uppers: ifindices of upper devices that were looked up once
 * @speed: Mbit/s, 0 if unknown
 * @hrtt_used: HRTT of this link, ns; 0 if unknown
 * @hrtt_doubtful: it is what somebody says who is not to be trusted
 * @tagging: put the fabric tag on data frames
 * @to_host: the neighbour is taken for a host
 * @pauses_all: all of the neighbour's sub-queues may be paused at once; written under @lock
 * @pauses_one: a packet that holds a single one counts: both have a kind besides HOP_KIND_PFC,
 *	to which one is all, or the port has no other; written under @lock
 * @state: enum hop_state
 * @paused: our sub-queues that the neighbour holds paused
 * @elide: see struct hop_member
 * @n_active: see struct hop_member
 * @control_paid: see struct hop_member
 * @sampled_ns: low half of when a packet with the tag @sampled came last
 * @lock: protects what struct and table say
 * @epoch: ours
 * @role: ours, resolved at each HELLO
 * @queues: sub-queues that we announce
 * @queues_most: most that were announced in this epoch
 * @carrier: the device is up and has carrier
 * @leaving: no members: GOODBYEs instead of HELLOs
 * @dying: nothing may be armed again
 * @cfg: what the members' options say together
 * @peer: the neighbour
 * @cand: epochs that ask to be
 * @streams: what is told, by enum hop_slot
 * @spacing: how far apart
 * @blocks: blocks of data
 * @pausing_dirty: words of what we tell it to pause with a counter that went from 0 to 1 or
 *	back; set by any CPU
 * @reaction: how long what we tell it takes to have an effect
 * @hrtt_link: HRTT as it is configured or as HELLOs tell it, ns, at most
 *	hop_config.hrtt_max_ns; 0 if unknown
 * @hrtt_capped: the measured HRTT is beyond that
 * @probing: whether it can be sent tagged frames
 * @stats: counters
 * @hello_at: when the next HELLO is due
 * @hello_gap: time to the one after it
 * @hello_last: when the last one left
 * @storm: the neighbour pauses for ever: what it says goes to @ignored
 * @watch_at: when the watchdog looks at the paused sub-queues, U64_MAX if there are none
 * @calm_at: when the storm is over, U64_MAX if the neighbour still pauses something
 * @ignored: what it wants paused meanwhile
 * @watched: our sub-queues that have a window open, see paused.c
 * @events: HOP_EVENT_* to be told
 * @event_at: before which they are not
 * @rx_paid_ns: of hop_bucket_spend() for received control frames
 * @rx_next_ns: before which no more of them are read
 * @leak_sum: pause counters without a packet at the last look of watch.c, which alone has it
 * @tags: our HELLOs say TAGS: the probes were echoed
 * @tags_since: when they began to
 * @tags_until: and until then in any case, since tagged frames may be on their way
 * @strip_at: when taking tags off ends, U64_MAX if it does not
 * @filtered: something looks at frames before their tags are taken off, as of the last HELLO
 * @unseen: HOP_A_TAG_UNSEEN up to then
 * @unseen_from: hop_pcpu.stripped of all processors then
 * @retry_at: when a busy device is tried again, 0 if it was not busy
 * @acks: set of the slots of which an acknowledgement is due
 * @echoes: probes to be echoed
 * @n_echoes: how many
 * @echo_tokens: echoes that may be sent now
 * @echo_ns: when tokens were last added
 * @range: our handles
 * @origin: our number, the origin of packets without a handle; 0: none was to be had
 * @root_id: our id, where congestion begins here
 * @roots_at: the neighbour's sub-queue whose root is told next, in turn
 * @roots_new: those paused since the neighbour last acknowledged their page
 * @roots_ns: when roots were last told as with a refresh
 * @heard: what the neighbour tells of each of our sub-queues, see root.c; NULL if nobody asks
 * @heard_lease_ns: the lease of the last PAUSE STATE that told any
 * @work: sends everything
 * @timer: wakes @work
 * @ops: the receive hook
 * @members: list of struct hop_member, RCU
 * @n_members: how many; RTNL
 * @unsettled: a member's configuration is not in force yet; RTNL
 * @linger_until: jiffies until which a port without members stays; RTNL
 * @node: hop_ports; RTNL, read under RCU
 * @net_node: hop_net.ports; hop_net.lock
 * @tracker: of the reference to @dev
 * @rx_buf: for frames that do not lie in one piece
 */
struct hop_port {
	/* read for each packet */
	struct net_device	*dev;
	struct hop_net		*net;
	struct hop_pcpu __percpu *pcpu;
	u32			strip;
	u32			handles;
	u32			sampled;
	bool			counting;
	u32			frame_max;
	int			uppers[HOP_UPPERS];

	/* read by qdiscs through their members */
	u32			speed;
	u32			hrtt_used;
	bool			hrtt_doubtful;
	bool			tagging;
	bool			to_host;
	bool			pauses_all;
	bool			pauses_one;
	u8			state;
	u64			paused[HOP_BITMAP_WORDS];
	DECLARE_BITMAP(elide, HOP_HANDLE_WORDS);
	atomic_t		n_active ____cacheline_aligned_in_smp;
	atomic64_t		control_paid;
	u32			sampled_ns;

	spinlock_t		lock ____cacheline_aligned_in_smp;
	u32			epoch;
	u8			role;
	u16			queues;
	u16			queues_most;
	bool			carrier;
	bool			leaving;
	bool			dying;
	struct hop_config	cfg;
	struct hop_peer		peer;
	struct hop_candidate	cand[HOP_CANDIDATES];
	struct hop_stream	streams[HOP_SLOTS];
	struct hop_spacing	spacing;
	struct hop_blocks	blocks;
	DECLARE_BITMAP(pausing_dirty, HOP_BITMAP_WORDS);
	struct hop_reaction	reaction;
	u32			hrtt_link;
	bool			hrtt_capped;
	struct hop_probing	probing;
	struct hop_stats	stats;

	u64			hello_at;
	u64			hello_gap;
	u64			hello_last;
	bool			storm;
	u64			watch_at;
	u64			calm_at;
	u64			ignored[HOP_BITMAP_WORDS];
	u64			watched[HOP_BITMAP_WORDS];
	u32			events;
	u64			event_at;
	u64			rx_paid_ns;
	u64			rx_next_ns;
	u64			leak_sum;
	bool			tags;
	u64			tags_since;
	u64			tags_until;
	u64			strip_at;
	bool			filtered;
	u64			unseen;
	u64			unseen_from;
	u64			retry_at;
	u32			acks;
	struct hop_probe	echoes[HOP_ECHOES];
	u8			n_echoes;
	u8			echo_tokens;
	u64			echo_ns;
	struct hop_range	*range;
	u16			origin;
	u16			root_id;
	u16			roots_at;
	u64			roots_new[HOP_BITMAP_WORDS];
	u64			roots_ns;
	struct hop_heard	*heard;
	u32			heard_lease_ns;

	struct tasklet_struct	work;
	struct hrtimer		timer;
	struct nf_hook_ops	ops;
	struct list_head	members;
	unsigned int		n_members;
	bool			unsettled;
	unsigned long		linger_until;
	struct list_head	node;
	struct list_head	net_node;
	netdevice_tracker	tracker;
	u8			rx_buf[HOP_FRAME_MAX];
};

/* Qdiscs read these without a lock. */
static_assert(sizeof_field(struct hop_port, speed) <= sizeof(u32));
static_assert(sizeof_field(struct hop_port, hrtt_used) <= sizeof(u32));
static_assert(sizeof_field(struct hop_port, sampled_ns) <= sizeof(u32));
static_assert(sizeof_field(struct hop_watch, sent) <= sizeof(u32));

/**
 * struct hop_ingress - what is queued here of what came by each origin
 * @bytes: how many bytes, at all egress ports whose qdisc counts them
 * @held: for so many that they hold a pause: of a handle one of its pause counter, of a port's
 *	number all of the neighbour's sub-queues
 */
struct hop_ingress {
	atomic_t	bytes[HOP_ORIGINS];
	DECLARE_BITMAP(held, HOP_ORIGINS);
};

/**
 * struct hop_heard - where the congestion began for which a sub-queue of ours is paused
 * @root: hop_root_pack() of what the neighbour tells, 0 while it has told none
 * @sent: hop_watch.sent when it last did
 * @since: when that changed, or the pause began
 */
struct hop_heard {
	u32	root;
	u32	sent;
	u64	since;
};

/**
 * struct hop_net_roots - the causes of all handles, see root.c
 * @locks: of each handle, by its number modulo theirs
 * @causes: of each handle
 */
struct hop_net_roots {
	spinlock_t		locks[HOP_ROOT_LOCKS];
	struct hop_causes	causes[HOP_HANDLES];
};

/**
 * struct hop_net - what hopctl has in each network namespace
 * @owner: port of each HOP_HANDLE_ALIGN handles, RCU, written under @lock
 * @counters: pause counter of each handle; comes with the first range, goes with the namespace
 * @ingress: bytes of each handle, see hop_ingress_use(); goes with the namespace
 * @roots: causes of each handle, see hop_roots_use(); goes with the namespace
 * @origins: ports by their numbers, see origin.c
 * @origin_gen: goes up whenever what @origin_cache says may be wrong
 * @origin_cache: what skb_iif leads to, see hop_origins_use(); goes with the namespace
 * @hrtt_max: largest HRTT in use, ns; of hosts that are only said to be such, see hop_net_hrtt()
 * @lock: protects @used, @parked, @ports, @owner
 * @used: groups of HOP_HANDLE_ALIGN handles that are given away or parked
 * @parked: ranges without an owner whose counters are not known to be 0
 * @ports: ports in this namespace
 * @pairs: of devices without backpressure, see elide.c; under @lock
 * @n_pairs: how many
 * @elides: some bit of some hop_port.elide may be set
 * @marked: packets that hold a pause, at the last look of watch.c, which alone has it
 * @marks: hop_net_marks() just before that look; likewise
 * @holds: pauses that are held without such a packet, see hop_ingress_hold()
 * @shared: what qdiscs share, see shared.c; RTNL
 */
struct hop_net {
	struct hop_port __rcu	*owner[HOP_HANDLE_WORDS];
	atomic_t		*counters;
	struct hop_ingress	*ingress;
	struct hop_net_roots	*roots;
	struct idr		origins;
	u16			origin_gen;
	struct hop_origin_cache	*origin_cache;
	u32			hrtt_max;
	spinlock_t		lock;
	DECLARE_BITMAP(used, HOP_HANDLE_WORDS);
	struct list_head	parked;
	struct list_head	ports;
	struct list_head	pairs;
	unsigned int		n_pairs;
	bool			elides;
	u64			marked;
	u32			marks;
	atomic_t		holds;
	struct list_head	shared;
};

static inline u64 hop_pcpu_read(const struct hop_pcpu *c, const u64_stats_t *field)
{
	unsigned int start;
	u64 value;

	do {
		start = u64_stats_fetch_begin(&c->syncp);
		value = u64_stats_read(field);
	} while (u64_stats_fetch_retry(&c->syncp, start));
	return value;
}

static inline u64 hop_now(void)
{
	return ktime_get_ns();
}

/* link.c */
extern unsigned int hop_state_spacing_ns;
u64 hop_link_wire_ns(const struct hop_port *port, unsigned int bytes);
u32 hop_link_ring_ns(const struct hop_port *port);
u32 hop_link_drain_ns(const struct hop_port *port);

/* net.c */
extern struct list_head hop_ports;
extern unsigned int hop_net_id;
extern struct pernet_operations hop_net_ops;
struct hop_net *hop_net_of(const struct net_device *dev);
int hop_net_counters(struct hop_net *net);
void hop_net_add(struct hop_port *port);
void hop_net_del(struct hop_port *port);
void hop_net_hrtt(struct hop_net *net);
void hop_range_get(struct hop_port *port, unsigned int queues);
void hop_range_put(struct hop_port *port);
bool hop_range_is_held(const struct hop_port *port);
u64 hop_range_word(const struct hop_port *port, unsigned int word);
u64 hop_range_sum(const struct hop_port *port);
u64 hop_range_bytes(const struct hop_port *port);
u32 hop_net_marks(const struct hop_net *net);
u64 hop_range_clear(struct hop_port *port, u32 marks);
u32 hop_handles_used(struct hop_net *net);
struct hop_port *hop_handle_owner(const struct hop_net *net, u16 handle, unsigned int *queue);
u32 hop_ingress_of(const struct hop_net *net, u16 origin);

/* elide.c */
void hop_elide_update(struct hop_net *net);
int hop_pair_add(struct hop_net *net, int ingress, int egress);
int hop_pair_del(struct hop_net *net, int ingress, int egress);
bool hop_pair_get(struct hop_net *net, unsigned int at, int *ingress, int *egress);
void hop_pairs_forget(struct hop_net *net, int ifindex);

/* origin.c */
void hop_origins_forget(struct hop_net *net);
void hop_origin_add(struct hop_port *port);
void hop_origin_del(struct hop_port *port);

/* root.c */
void hop_roots_pausing(struct hop_port *port, unsigned int word, u64 bits);
void hop_roots_write(struct hop_port *port, const struct hop_stream_part *part,
		     struct hop_writer *w, u64 now);
void hop_heard_forget(struct hop_port *port, unsigned int word, u64 bits);
void hop_roots_rx(struct hop_port *port, const struct hop_frame *f, const struct hop_told *told,
		  u64 now);
void hop_roots_config(struct hop_port *port);
int hop_roots_put(struct hop_port *port, struct sk_buff *skb);

/* tag.c */
unsigned int hop_tag_pop(struct hop_port *port, struct sk_buff *skb);
u64 hop_tag_stripped(const struct hop_port *port);

/* hrtt.c */
u32 hop_hrtt_raw(const struct hop_port *port);
u32 hop_hrtt_way_ns(const struct hop_port *port);
void hop_hrtt_update(struct hop_port *port, u64 now);

/* stream.c */
extern unsigned int hop_streams_room;
void hop_streams_init(struct hop_port *port);
void hop_streams_start(struct hop_port *port, u64 now);
void hop_streams_stop(struct hop_port *port, u64 now);
void hop_streams_forget(struct hop_port *port);
void hop_streams_collect(struct hop_port *port, u64 now);
u64 hop_streams_next(const struct hop_port *port);
u64 hop_streams_refresh_ns(const struct hop_port *port);
u64 hop_streams_echo_ns(const struct hop_port *port);
void hop_streams_space(struct hop_port *port, unsigned int bytes, u64 now);
u32 hop_streams_write(struct hop_port *port, struct hop_writer *w, u64 now);
void hop_streams_unsaid(struct hop_port *port, u32 said);
u32 hop_streams_write_acks(struct hop_port *port, struct hop_writer *w);
bool hop_streams_rx(struct hop_port *port, const struct hop_told *told, u64 now);
void hop_streams_judge(struct hop_port *port, u64 now);
u64 hop_streams_lease(const struct hop_port *port);
void hop_streams_expire(struct hop_port *port, u64 now);

/* blocks.c */
void hop_blocks_init(struct hop_port *port);
void hop_blocks_start(struct hop_port *port, u64 now);
void hop_blocks_stop(struct hop_port *port);
void hop_blocks_forget(struct hop_port *port);
void hop_blocks_judge(struct hop_port *port);
void hop_blocks_came(struct hop_port *port, unsigned int queue, u64 untold);
void hop_blocks_rx_end(struct hop_port *port, const struct hop_end *end, u64 now);
void hop_blocks_rx_balances(struct hop_port *port, const struct hop_balances *told);
bool hop_blocks_write(struct hop_port *port, struct hop_writer *w, u64 now);
void hop_blocks_unsaid(struct hop_port *port);
bool hop_blocks_due(const struct hop_port *port, u64 now);
u64 hop_blocks_next(const struct hop_port *port);
void hop_blocks_run(struct hop_port *port, u64 now);

/* paused.c */
unsigned int hop_paused_pages(const struct hop_port *port);
bool hop_paused_rx(struct hop_port *port, const struct hop_told *told, u64 now);
void hop_paused_clear(struct hop_port *port, u64 now);
void hop_paused_watch(struct hop_port *port, u64 now);
void hop_paused_leave(struct hop_port *port, const struct hop_member *m);
void hop_paused_config(struct hop_port *port, u64 now);
u64 hop_paused_next(const struct hop_port *port);
void hop_paused_run(struct hop_port *port, u64 now);

/* watch.c */
void hop_watch_pausing(void);
void hop_watch_exit(void);

/* pause.c */
extern const struct hop_content hop_pause_content;

/* probe.c */
void hop_probe_start(struct hop_port *port, u64 now);
void hop_probe_stop(struct hop_port *port);
void hop_probe_rx(struct hop_port *port, const struct hop_probe *probe, u64 now);
bool hop_probe_echoed(struct hop_port *port, const struct hop_probe *echo, u64 now);
bool hop_probe_judge(struct hop_port *port, u64 now);
bool hop_probe_due(struct hop_port *port, u64 now);
u64 hop_probe_next(const struct hop_port *port);
unsigned int hop_probe_size(const struct hop_port *port);

/* peer.c */
void hop_peer_hello(struct hop_port *port, const struct hop_frame *f, u64 now);
bool hop_peer_source(struct hop_port *port, const u8 *mac, u64 now);
bool hop_peer_speaks(const struct hop_port *port, const struct hop_frame *f);
void hop_peer_drop(struct hop_port *port, u64 now);
void hop_peer_lost(struct hop_port *port, u64 now);
void hop_peer_role(struct hop_port *port);
void hop_peer_kinds(struct hop_port *port, u64 now);
void hop_peer_state(struct hop_port *port, u64 now);
void hop_peer_unstrip(struct hop_port *port, u64 now);
void hop_peer_left(struct hop_port *port, u64 now);
void hop_peer_heard_us_leave(struct hop_port *port, const struct hop_frame *f);
u64 hop_peer_next(const struct hop_port *port);
void hop_peer_expire(struct hop_port *port, u64 now);
struct hop_candidate *hop_peer_candidate(struct hop_port *port, u64 now);
void hop_peer_filters(struct hop_port *port);

/* dump.c */
int hop_port_put(struct hop_port *port, struct sk_buff *skb, int attrtype);

/* event.c */

/**
 * struct hop_message - what to tell of a port
 * @portid: receiver, 0 for a multicast
 * @seq: of the request
 * @flags: NLM_F_*
 * @events: HOP_EVENT_*, if it is a PORT_EVENT
 */
struct hop_message {
	u32	portid;
	u32	seq;
	int	flags;
	u32	events;
};

extern struct genl_family hop_family;
int hop_event_put(struct sk_buff *skb, struct hop_port *port, const struct hop_message *msg);
void hop_event_send(struct hop_port *port, u32 events);

/* port.c */
struct hop_port *hop_port_find(const struct net_device *dev);
void hop_port_kill(struct hop_port *port);
void hop_port_speed(struct hop_port *port);
void hop_port_carrier(struct hop_port *port);
void hop_port_mtu(struct hop_port *port);
void hop_ports_uppers(void);
void hop_port_exit(void);

/* netlink.c */
int hop_netlink_init(void);
void hop_netlink_exit(void);

/* rx.c */
unsigned int hop_rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);

/**
 * struct hop_urgent - ports of which a pause has begun or ended on this processor
 * @any: there may be some
 * @sending: the processor is about to send for them
 * @port: they; written by this processor, and set to NULL by whoever takes a port away
 */
struct hop_urgent {
	bool		any;
	bool		sending;
	struct hop_port	*port[HOP_URGENT];
};

/* urgent.c */
DECLARE_PER_CPU(struct hop_urgent, hop_urgent);
void hop_urgent_add(struct hop_port *port);
void hop_urgent_del(struct hop_port *port);

/* Bytes that a frame needs for balances */
static inline unsigned int hop_blocks_room(const struct hop_port *port)
{
	return port->blocks.ops ? hop_frame_balances_bytes(HOP_FRAME_BALANCES) : 0;
}

/* packet.c */
struct sk_buff *hop_frame_new(const struct hop_port *port, unsigned int bytes);
void hop_frame_close(struct sk_buff *skb, struct hop_writer *w, unsigned int bytes);

/* tx.c */
void hop_urgent_send(void);
void hop_tx_work(struct tasklet_struct *t);
enum hrtimer_restart hop_tx_timer(struct hrtimer *timer);

/**
 * hop_peer_is_kin - has the neighbour a kind of qdisc that this port has?
 * @port: the port
 *
 * A pause of another kind would mean something else, or nothing that ends.
 */
static inline bool hop_peer_is_kin(const struct hop_port *port)
{
	return port->peer.hello.kinds & port->cfg.kinds;
}

/**
 * hop_peer_taken_for - what the neighbour is taken for
 * @port: the port
 *
 * Return: HOST or SWITCH, or AUTO while it is unknown.
 */
static inline u8 hop_peer_taken_for(const struct hop_port *port)
{
	lockdep_assert_held(&port->lock);
	if (port->cfg.peer != HOP_ROLE_AUTO)
		return port->cfg.peer;
	return port->peer.up ? port->peer.hello.role : HOP_ROLE_AUTO;
}

/* A sign of life */
static inline void hop_peer_alive(struct hop_port *port, u64 now)
{
	port->peer.heard_ns = now;
}

static inline u64 hop_watchdog_ns(const struct hop_config *cfg)
{
	return cfg->watchdog_ns ?: HOP_WATCHDOG_NS;
}

/* The bits of a word that are a member's sub-queues. Call for a word in which it has some. */
static inline u64 hop_member_bits(const struct hop_member *m, unsigned int word)
{
	unsigned int first = max_t(unsigned int, m->first, 64 * word);
	unsigned int last = min_t(unsigned int, m->first + m->count - 1, 64 * word + 63);

	return GENMASK_ULL(last % 64, first % 64);
}

static inline unsigned int hop_member_last_word(const struct hop_member *m)
{
	return (m->first + m->count - 1) / 64;
}

/* A HELLO as soon as one may be sent. Port's lock. */
static inline void hop_hello_soon(struct hop_port *port, u64 now)
{
	port->hello_at = min(port->hello_at, now);
}

/* What a frame takes for roots, at most */
static inline unsigned int hop_roots_bytes(const struct hop_port *port)
{
	return unlikely(port->cfg.roots) ? hop_frame_roots_bytes(HOP_ROOTS_TOLD) : 0;
}

/* Are there ports whose pauses have changed here? Then hop_urgent_send(), softirqs off and without
 * a lock of a qdisc.
 */
static __always_inline bool hop_is_urgent(void)
{
	return __this_cpu_read(hop_urgent.any);
}

/* Wake the worker: something is to be sent or a deadline moved nearer. Port's lock. */
static inline void hop_port_wake(struct hop_port *port)
{
	lockdep_assert_held(&port->lock);
	if (!port->dying)
		tasklet_schedule(&port->work);
}

/* Something happened that who listens should know (HOP_EVENT_*). Port's lock. */
static inline void hop_port_event(struct hop_port *port, u32 event)
{
	port->events |= event;
	hop_port_wake(port);
}

#endif
