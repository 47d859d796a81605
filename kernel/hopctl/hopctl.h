/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hopctl.h - what the companion module offers to qdiscs
 *
 * A port is a network device that takes part in the fabric. A qdisc becomes a *member* of its
 * device's port for a range of sub-queue numbers: at the root, as one of several instances
 * under mq, or as a leaf below tbf. The member is embedded in the qdisc's private area; the
 * port reaches it under RCU only, and a qdisc is freed an RCU grace period after destroy().
 *
 * The hot path reads through pointers that the member holds, without a call and without a
 * lock. Who protects what:
 *
 *   field                       written by                    read by
 *   hop_member.port ... .count  join and leave, RTNL          anyone after join
 *   *paused (bitmap words)      receive hook, port's rx lock  qdisc, after a change of gen
 *   paused_gen                  receive hook, after the words qdisc, under the qdisc lock
 *   *tagging, *to_host, *role,  hello work, hook, notifier    qdisc, READ_ONCE; a stale value
 *   *hrtt_ns, *link_hrtt_ns,                                  costs one packet's accuracy
 *   *speed
 *   *n_active                   members, atomic               members, atomic
 *   *elide                      hopctl, under hop_net.lock    qdisc, test_bit
 *   windows                     hopctl's worker, port's lock  the same
 *   pause counters              members, atomic               port's tasklet
 *
 * Lock order: qdisc lock of E -> nothing of ours. The pause decision is taken inside E's qdisc
 * lock, so hop_pause_inc() and hop_pause_dec() only count, set a dirty bit and schedule the
 * ingress port's tasklet, which sends. The hook, the other way round, only stores bits and
 * calls __netif_schedule(); the holder of the qdisc lock merges them.
 */
#ifndef _SLUICE_HOPCTL_H
#define _SLUICE_HOPCTL_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/u64_stats_sync.h>
#include <net/sch_generic.h>

#include "../uapi/hopctl.h"
#include "config.h"
#include "ledger.h"

/* Handles use the upper half of tc_index, so that a small value set by a user's own filter is
 * never taken for one; 0 is "no handle".
 */
#define HOP_HANDLE_FIRST	0x8000
#define HOP_HANDLES		0x8000	/* per network namespace */
#define HOP_ORIGIN_NONE		0	/* of a packet: neither a handle nor a port's number */
#define HOP_ORIGINS		0x10000
#define HOP_NO_QUEUE		U16_MAX	/* hop_tag_push(): a tag that names no sub-queue */
#define HOP_HANDLE_ALIGN	64	/* ranges start at multiples of this: one owner per word */

struct hop_port;
struct hop_net;
struct hop_shared;

/**
 * struct hop_shared_type - a kind of object that the qdiscs of a network namespace share
 * @bytes: of the object, which begins with a struct hop_shared
 * @made: called for a new one, all 0 behind its head, if not NULL. Return: 0 or an error
 * @gone: called before an object is freed, if not NULL
 */
struct hop_shared_type {
	size_t		bytes;
	int		(*made)(struct hop_shared *shared);
	void		(*gone)(struct hop_shared *shared);
};

/**
 * struct hop_shared - an object of which each namespace has one, while somebody uses it
 * @type: what it is
 * @net: the namespace
 * @node: hop_net.shared; RTNL
 * @users: qdiscs that have it; RTNL
 * @size: how large it is, in whatever unit; RTNL, read without
 */
struct hop_shared {
	const struct hop_shared_type	*type;
	struct hop_net			*net;
	struct list_head		node;
	unsigned int			users;
	u32				size;
};

/**
 * struct hop_pool - a buffer that qdiscs of one network namespace share
 * @shared: its size is in bytes
 * @used: bytes taken
 * @used_max: most that ever were
 *
 * Who takes how much when there is how much left is the qdiscs' business. They take and give
 * under their own locks, of which there are several: so all counting is atomic.
 */
struct hop_pool {
	struct hop_shared	shared;
	atomic_long_t		used ____cacheline_aligned_in_smp;
	atomic_long_t		used_max;
};

#define HOP_REFRESH_MIN_NS	(10 * NSEC_PER_USEC)
#define HOP_LEASE_MAX_NS	(2U * NSEC_PER_SEC)
#define HOP_WATCHDOG_NS		(200U * NSEC_PER_MSEC)
#define HOP_WATCHDOG_MIN_NS	(1U * NSEC_PER_MSEC)
#define HOP_HRTT_MIN_NS		100U
#define HOP_HRTT_MAX_NS		(100U * NSEC_PER_MSEC)
#define HOP_HRTT_UNKNOWN_NS	(100U * NSEC_PER_USEC)	/* used until one is measured */

/**
 * struct hop_watch - what the watchdog wants to know of a sub-queue
 * @waits: it is backlogged
 * @sent: low half of the packets that have left it, ever
 */
struct hop_watch {
	bool	waits;
	u32	sent;
};

struct hop_member;

/**
 * struct hop_member_ops - what hopctl asks a qdisc
 * @watch: look at sub-queue @queue of its range. Context: port's lock, any CPU, without the qdisc
 *	lock: what is read may be of two moments
 * @held: all that waits in the qdisc waits for the neighbour, or for others, and not for the
 *	device, as far as is known without the qdisc lock. Context: any CPU. NULL: so it is as soon
 *	as the neighbour holds any of its sub-queues
 * @withdraw: nothing has left the qdisc for half of the watchdog's time. Take over what the
 *	neighbour has said: a device that hangs did not ask the qdisc since. If it has still sent no
 *	more than hop_member.quiet_sent, although it holds packets and is not paused, let the
 *	packets that hold a pause let go of it, set hop_member.stalled and mark none until
 *	something leaves. Called again and again while the qdisc is stalled. Context: RTNL.
 *	Return: packets that let go now. NULL if the qdisc pauses nobody
 * @down: the device is down or has no carrier, so nobody asks the qdisc for packets, and there is
 *	no neighbour any more. Context: RTNL, qdisc lock. NULL if the qdisc has nothing to do then
 */
struct hop_member_ops {
	void		(*watch)(const struct hop_member *m, u16 queue, struct hop_watch *w);
	bool		(*held)(const struct hop_member *m);
	unsigned int	(*withdraw)(struct hop_member *m);
	void		(*down)(struct hop_member *m);
};

/**
 * struct hop_member_blocks - a member's part of the port's blocks, see blocks.h. Qdisc lock
 * @gen: the port's, NULL if the member has no part in it
 * @kin: the neighbour counts, too, or will soon
 * @valid: see hop_blocks_valid()
 * @seen: generation for which END has been handed out by all transmit queues
 * @sending: generation for which it is being handed out
 * @asked: generation for which keys have been asked for
 * @lane: by which transmit queue it is due next
 * @left: packets that had left the qdisc when it was handed out by the last of these, and it
 * @left_at: low half of hop_now() at that time; read without the lock
 * @first_at: the same when it was handed out by the first one
 * @took_ns: from then to that time, modulo 2^32; read without the lock
 * @owes: see hop_blocks_owe(); read without the lock
 * @tx: the block that the member sends
 */
struct hop_member_blocks {
	const u32		*gen;
	const bool		*kin;
	const bool		*valid;
	u32			seen;
	u32			sending;
	u32			asked;
	u32			left_at;
	u32			first_at;
	u32			took_ns;
	u16			lane;
	bool			owes;
	u64			left;
	struct hop_ledger_tx	tx;
};

/**
 * struct hop_window - the watchdog's window over a sub-queue that is paused, see paused.c
 * @since: when it was opened, 0 if it is not
 * @free_ns: how long it was not paused since then, up to the last pause
 * @free_since: when it was resumed, 0 while it is paused
 * @sent: hop_watch.sent when it was opened
 */
struct hop_window {
	u64	since;
	u64	free_ns;
	u64	free_since;
	u32	sent;
};

/**
 * struct hop_member - a qdisc's range of sub-queue numbers on its port
 * @port: the port, refcounted; NULL for one that is alone
 * @net: the port's namespace part: pause counters, handles
 * @sch: the qdisc, to kick its root after a change of @paused
 * @first: first sub-queue number of the range
 * @count: sub-queues in the range
 * @paused_gen: bumped by the hook after each change within the range
 * @paused: bitmap of the whole port: sub-queues that the neighbour holds paused
 *	(HOP_BITMAP_WORDS words); index with @first + i
 * @tagging: the port tags now
 * @to_host: the neighbour is taken for a host
 * @role: enum hop_role: ours on this port, as of the last HELLO
 * @link_hrtt_ns: HRTT of this link, configured or measured, ns; 0 if none is known
 * @hrtt_ns: largest HRTT in use over all ports of the namespace (BFC, section 3.3.2), ns, of
 *	those whose neighbour is only said to be a host up to HOP_HRTT_UNKNOWN_NS;
 *	HOP_HRTT_UNKNOWN_NS while no port has a neighbour
 * @speed: link speed, Mbit/s, 0 if the device does not say; hop_speed_bytes() makes bytes of it
 * @n_active: sub-queues of all members of the port that are backlogged and not paused; see
 *	hop_active_add()
 * @shared: other members may change *@n_active; written under RTNL and the qdisc lock
 * @control_paid: of hop_control_takes(): forwarded control packets of all members of the port
 * @marked: packets of the qdisc that hold a pause, or are counted by hop_ingress_add(); qdisc lock
 * @marks: packets that ever did; qdisc lock
 * @stalled: nothing leaves the qdisc: it marks nothing; written by @ops->withdraw, qdisc lock, and
 *	set back when the port has no watchdog any more; RTNL
 * @elide: a bit for each HOP_HANDLE_ALIGN handles: packets so labelled that leave by this port
 *	pause nobody
 * @ops: what hopctl asks the qdisc
 * @windows: the watchdog's, one for each sub-queue
 * @quiet_sent: low half of the packets that had left the qdisc, ever, when the watchdog last saw
 *	some leave, or nothing that waits for the device; written by watch.c's work alone
 * @quiet_ns: when that was; likewise
 * @cfg: what the qdisc's options say about the port; RTNL
 * @order: the larger the later they did; RTNL
 * @parked: the port tags no more, and in @parked_sent is what had left the qdisc when a tagged
 *	packet could be parked; port's lock
 * @parked_sent: hop_member.sch's packets then
 * @blocks: what it has to do with blocks of data
 * @alone_active: what @n_active points to without a port
 * @alone_paid: what @control_paid points to without a port
 * @node: the port's list of members, RCU
 */
struct hop_member {
	struct hop_port		*port;
	struct hop_net		*net;
	struct Qdisc		*sch;
	u16			first;
	u16			count;
	u32			paused_gen;
	const u64		*paused;
	const bool		*tagging;
	const bool		*to_host;
	const u8		*role;
	const u32		*link_hrtt_ns;
	const u32		*hrtt_ns;
	const u32		*speed;
	atomic_t		*n_active;
	bool			shared;
	atomic64_t		*control_paid;
	u32			marked;
	u32			marks;
	bool			stalled;
	const unsigned long	*elide;
	const struct hop_member_ops *ops;
	struct hop_window	*windows;
	u32			quiet_sent;
	u64			quiet_ns;
	struct hop_config	cfg;
	u64			order;
	bool			parked;
	u64			parked_sent;
	struct hop_member_blocks blocks;
	atomic_t		alone_active;
	atomic64_t		alone_paid;
	struct list_head	node;
};

/**
 * hop_member_share - how many sub-queues a qdisc takes if nobody says how many
 * @sch: the qdisc
 * @alone: how many it takes where the port is its own
 *
 * Below mq, and what is as mq, all can have as many: half of the port's numbers are shared out, and
 * half are left for those that join in place of others, which leave later. Not so beyond 2047
 * transmit queues, where each has one.
 *
 * Return: 1 .. @alone
 */
u16 hop_member_share(const struct Qdisc *sch, u16 alone);

/**
 * hop_member_join - make a qdisc's sub-queues known on its device's port
 * @m: zeroed, in the qdisc's private area
 * @sch: the qdisc; its device is the port
 * @count: number of sub-queues, 1 .. HOP_QUEUES_MAX
 * @cfg: what the options say about the port
 * @ops: what hopctl may ask
 * @extack: where a refusal is explained
 *
 * Context: RTNL. Creates the port with the first member: receive hook, epoch, HELLOs. Since a qdisc
 * that has joined may still be refused, @cfg takes effect when RTNL is released, unless there is no
 * other member.
 * Return: 0, -EOPNOTSUPP (not an Ethernet device, or a master), -ENOSPC (the port's 4094
 * numbers are given away), -ENOMEM.
 */
int hop_member_join(struct hop_member *m, struct Qdisc *sch, u16 count,
		    const struct hop_config *cfg, const struct hop_member_ops *ops,
		    struct netlink_ext_ack *extack);

/**
 * hop_member_alone - a member of no port, where hop_member_join() has refused
 * @m: zeroed, in the qdisc's private area
 *
 * It is never paused, tags nothing and honours no handle. For qdiscs that nobody asked for: the
 * kernel's default on a device that is no port.
 */
void hop_member_alone(struct hop_member *m);

/**
 * hop_member_config - new options for the port of a member
 * @m: a member; one that is alone is left alone
 * @cfg: the new values
 *
 * Of several members the one that was made or changed last decides; when it leaves, the one
 * before.
 *
 * Asks the device for its speed, too.
 *
 * Context: RTNL, and no lock that spins. Cannot fail: the values were validated before.
 */
void hop_member_config(struct hop_member *m, const struct hop_config *cfg);

/**
 * hop_member_leave - take a qdisc's sub-queues off its port
 * @m: a member; one that never joined is left alone
 *
 * Context: RTNL. The caller has undone every mark and every count in *n_active. The hook may
 * still look at @m until the RCU grace period before the qdisc is freed. The last member to
 * leave sends a GOODBYE; the hook goes on stripping tags for one dead interval.
 */
void hop_member_leave(struct hop_member *m);

/**
 * hop_active_add - sub-queues begin or cease to be backlogged and not paused
 * @m: a member
 * @by: how many
 *
 * Who is alone on its port, as most are, need not lock the bus. Context: qdisc lock.
 */
static inline void hop_active_add(struct hop_member *m, int by)
{
	if (unlikely(m->shared))
		atomic_add(by, m->n_active);
	else
		atomic_set(m->n_active, atomic_read(m->n_active) + by);
}

/**
 * hop_shared_get - take part in an object of a device's namespace
 * @dev: the device
 * @type: which
 * @size: how large; the first user decides
 *
 * Context: RTNL.
 * Return: the object, ERR_PTR(-EBUSY): it has another size, ERR_PTR(-ENOMEM).
 */
struct hop_shared *hop_shared_get(const struct net_device *dev, const struct hop_shared_type *type,
				  u32 size);

/**
 * hop_shared_resize - give an object another size
 * @shared: the object, of which the caller is a user
 * @size: how large; may be less than what is used
 *
 * Context: RTNL.
 * Return: 0, -EBUSY: there are other users.
 */
int hop_shared_resize(struct hop_shared *shared, u32 size);

/**
 * hop_shared_put - have no part in the object any more
 * @shared: the object; nothing happens if it is NULL
 *
 * The last one takes it along. Context: RTNL. The caller has given back what it took.
 */
void hop_shared_put(struct hop_shared *shared);

/**
 * hop_pool_get - take part in the pool of a device's namespace
 * @dev: the device
 * @size: bytes; the first user decides
 *
 * Context: RTNL.
 * Return: the pool, ERR_PTR(-EBUSY): it has another size, ERR_PTR(-ENOMEM).
 */
struct hop_pool *hop_pool_get(const struct net_device *dev, u32 size);

static inline void hop_pool_put(struct hop_pool *pool)
{
	hop_shared_put(pool ? &pool->shared : NULL);
}

static inline u32 hop_pool_size(const struct hop_pool *pool)
{
	return READ_ONCE(pool->shared.size);
}

/* Return: bytes used now, these included. Whoever finds that too much gives them back. */
static inline unsigned long hop_pool_take(struct hop_pool *pool, u32 bytes)
{
	return atomic_long_add_return(bytes, &pool->used);
}

static inline void hop_pool_give(struct hop_pool *pool, u32 bytes)
{
	atomic_long_sub(bytes, &pool->used);
}

/* What hop_pool_take() has returned is there to stay. */
static inline void hop_pool_high(struct hop_pool *pool, unsigned long used)
{
	long most = atomic_long_read(&pool->used_max);

	while (unlikely((long)used > most) &&
	       !atomic_long_try_cmpxchg(&pool->used_max, &most, used))
		;
}

/**
 * hop_handle - the handle of a packet, if it is to be honoured
 * @m: a member of the egress port
 * @skb: a packet being enqueued
 *
 * A handle counts only if a port owns it and the packet came in by that port or an upper
 * device of it: tc_index can be set by any tc program on the way.
 *
 * Context: qdisc lock, softirqs off. O(1).
 * Return: the handle, or 0.
 */
u16 hop_handle(const struct hop_member *m, const struct sk_buff *skb);

/**
 * hop_origins_use - be able to say by which port a packet came that has no handle
 * @m: a member
 *
 * Context: RTNL. Before the first hop_origin(). Takes 2 KB for the namespace, and keeps them.
 * Return: 0 or -ENOMEM.
 */
int hop_origins_use(struct hop_member *m);

/**
 * hop_origin - where a packet came from
 * @m: a member of the egress port
 * @skb: a packet being enqueued
 *
 * Its handle (hop_handle()), else the number of the port that it came by, which is below
 * HOP_HANDLE_FIRST. A packet has no origin, and is counted (HOP_A_ORIGIN_UNKNOWN), if it was
 * received by a device below which there is no port, or a choice, as below a bridge. One that was
 * sent by this box has none either. tc_index is left as it is.
 *
 * Context: qdisc lock, softirqs off. O(1), but for the first packet by a device after
 * hop_origins_forget(), which looks at all ports.
 * Return: the origin, or HOP_ORIGIN_NONE.
 */
u16 hop_origin(const struct hop_member *m, const struct sk_buff *skb);

/**
 * hop_origin_link - by which port a packet came
 * @m: a member of the egress port
 * @skb: a packet being enqueued
 * @handle: what hop_handle() has returned for it
 *
 * As hop_origin(), but what came with a handle has the number of its port, too.
 *
 * Return: the port's number, which is below HOP_HANDLE_FIRST, or HOP_ORIGIN_NONE.
 */
u16 hop_origin_link(const struct hop_member *m, const struct sk_buff *skb, u16 handle);

/**
 * hop_origin_port - whose origin is it?
 * @m: a member
 * @origin: what hop_origin() returned once
 *
 * Context: RCU with bottom halves off.
 * Return: the port, NULL if it is nobody's any more.
 */
struct hop_port *hop_origin_port(const struct hop_member *m, u16 origin);

/**
 * hop_origin_is_host - did it come from a host?
 * @m: a member
 * @origin: what hop_origin() or hop_handle() returned
 *
 * Context: RCU with bottom halves off.
 */
bool hop_origin_is_host(const struct hop_member *m, u16 origin);

/**
 * hop_pause_inc - a packet over the threshold was queued (BFC, section 3.3.2, On Enqueue)
 * @m: a member of the egress port
 * @handle: what hop_handle() returned, not 0
 *
 * Counts up; from 0 to 1 the ingress port's tasklet will send the pause.
 * Context: qdisc lock, softirqs off.
 */
void hop_pause_inc(struct hop_member *m, u16 handle);

/**
 * hop_pause_dec - a marked packet has left, in whatever way
 * @m: a member of the egress port
 * @handle: what hop_pause_inc() was given for this packet
 *
 * Counts down; from 1 to 0 the ingress port's tasklet will send the resume.
 * Context: qdisc lock, softirqs off.
 */
void hop_pause_dec(struct hop_member *m, u16 handle);

/**
 * hop_roots_use - be able to say where congestion began (root.h)
 * @m: a member
 *
 * Context: RTNL. Before the first hop_cause_add(). Takes 2.2 MB for the namespace and 64 KB for the
 * port, and keeps them.
 * Return: 0 or -ENOMEM.
 */
int hop_roots_use(struct hop_member *m);

/**
 * hop_root_heard - where the congestion began for which a sub-queue is held
 * @m: a member
 * @queue: its sub-queue within the member's range
 *
 * Context: any. A change is seen at once.
 * Return: the id of the port; 0: the neighbour does not hold it, or has not told.
 */
u16 hop_root_heard(const struct hop_member *m, u32 queue);

/**
 * hop_cause_add - why a packet holds a pause
 * @m: a member of the egress port
 * @handle: what hop_pause_inc() is about to be given for this packet
 * @queue: the packet's sub-queue within the member's range
 * @held: the neighbour holds that
 *
 * Context: qdisc lock, softirqs off.
 * Return: what hop_cause_del() is to be given, not 0.
 */
u8 hop_cause_add(struct hop_member *m, u16 handle, u32 queue, bool held);

/**
 * hop_cause_del - such a packet has left, in whatever way
 * @m: a member of the egress port
 * @handle: what hop_cause_add() was given for this packet
 * @cause: what it returned
 *
 * Context: qdisc lock, softirqs off.
 */
void hop_cause_del(struct hop_member *m, u16 handle, u8 cause);

/**
 * hop_ingress_use - be able to count bytes by origin
 * @m: a member
 *
 * Context: RTNL. Before the first hop_ingress_add().
 * Return: 0 or -ENOMEM.
 */
int hop_ingress_use(struct hop_member *m);

/**
 * hop_ingress_add - a packet is queued that came by an origin
 * @m: a member of the egress port
 * @origin: what hop_handle() or hop_origin() returned, not 0
 * @bytes: of the packet
 *
 * Context: qdisc lock, softirqs off.
 * Return: bytes by that origin now, at all ports of the namespace.
 */
u32 hop_ingress_add(struct hop_member *m, u16 origin, u32 bytes);

/**
 * hop_ingress_sub - such a packet has left, in whatever way
 * @m: a member of the egress port
 * @origin: what hop_ingress_add() was given for this packet
 * @bytes: of the packet
 *
 * Context: qdisc lock, softirqs off.
 * Return: bytes that are left. If there are none, the pause has to go, too.
 */
u32 hop_ingress_sub(struct hop_member *m, u16 origin, u32 bytes);

/**
 * hop_ingress_keep - such a packet has left, and its bytes go on counting
 * @m: a member of the egress port
 *
 * Until hop_ingress_forget(). Context: qdisc lock, softirqs off.
 */
static inline void hop_ingress_keep(struct hop_member *m)
{
	WRITE_ONCE(m->marked, m->marked - 1);
}

/**
 * hop_ingress_forget - and do not any more
 * @m: any member in the namespace
 * @origin: what hop_ingress_add() was given for these packets
 * @bytes: of the packets
 *
 * Context: softirqs off.
 */
void hop_ingress_forget(struct hop_member *m, u16 origin, u32 bytes);

/**
 * hop_handle_of - the handle of what comes by a sub-queue of the neighbour
 * @port: the port
 * @queue: the sub-queue's number
 *
 * Context: any. Return: 0 if there is none.
 */
u16 hop_handle_of(const struct hop_port *port, u16 queue);

/**
 * hop_ingress_bytes - what is queued of what came by a sub-queue of the neighbour
 * @port: where it came
 * @queue: the neighbour's sub-queue
 *
 * Context: port's lock.
 * Return: bytes, at all ports of the namespace that count them.
 */
u32 hop_ingress_bytes(const struct hop_port *port, u16 queue);

/**
 * hop_ingress_pause - the bytes by an origin hold a pause, or do not any more
 * @m: a member of the egress port
 * @origin: a handle: the neighbour's sub-queue is paused. A port's number: all of the neighbour's
 *	sub-queues are, if both it and the port are of kind HOP_KIND_PFC, and the port is not a
 *	host's
 * @on: they do
 *
 * The same again changes nothing. Context: qdisc lock, softirqs off.
 * Return: true if somebody is to be told.
 */
bool hop_ingress_pause(struct hop_member *m, u16 origin, bool on);

/**
 * hop_ingress_hold - pauses are held by something else than packets that came by their handles
 * @m: any member in the namespace
 * @by: how many more, or fewer
 *
 * Else a pause counter without such a packet is taken for a fault, and set back.
 */
void hop_ingress_hold(struct hop_member *m, int by);

/**
 * hop_tag_push - put the fabric tag on a packet that is being dequeued
 * @m: the member
 * @skb: the packet
 * @queue: its sub-queue within the member's range, or HOP_NO_QUEUE: VLAN id 0, for a frame that
 *	is not to be paused but starts with a tag of the fabric's TPID of its own
 *
 * A tag that the packet has in metadata is kept, inside. The DEI bit is the mark of the member's
 * block (blocks.h), 0 without blocks.
 * Context: qdisc lock. Call only if hop_tagging().
 * Return: 0, or an error, and the caller still owns @skb. -EMSGSIZE: the link does not take it with
 * one more tag, and it may go without one unless it starts with one of the fabric's TPID, which
 * the neighbour would take off. It has to be dropped otherwise.
 */
int hop_tag_push(const struct hop_member *m, struct sk_buff *skb, u16 queue);

/**
 * hop_port_dump - put what the port says of itself (HOP_A_*) into a netlink message
 * @m: a member
 * @skb: the message
 * @attrtype: type of the nest to open
 *
 * Context: RTNL or RCU.
 * Return: 0 or -EMSGSIZE.
 */
int hop_port_dump(const struct hop_member *m, struct sk_buff *skb, int attrtype);

/* Is backpressure from the member's port to where @handle came in left out (BFC, App. B)? */
static inline bool hop_elided(const struct hop_member *m, u16 handle)
{
	return test_bit((handle - HOP_HANDLE_FIRST) / HOP_HANDLE_ALIGN, m->elide);
}

static inline bool hop_tagging(const struct hop_member *m)
{
	return READ_ONCE(*m->tagging);
}

/**
 * hop_member_stalls - what hop_member_ops.withdraw begins with
 * @m: the member
 * @paused: the neighbour holds back what it has
 *
 * Sets hop_member.stalled, which lasts until something leaves: that its neighbour holds all that it
 * has says nothing of its device. Context: qdisc lock.
 * Return: the qdisc holds packets, and nothing has left it although it might.
 */
static inline bool hop_member_stalls(struct hop_member *m, bool paused)
{
	u32 sent = u64_stats_read(&m->sch->bstats.packets);
	bool stalled = m->sch->q.qlen && sent == m->quiet_sent && (m->stalled || !paused);

	WRITE_ONCE(m->stalled, stalled);
	return stalled;
}

/* Speeds that are read without a lock are of 32 bits, which is one load on any machine. */
static inline u64 hop_speed_bytes(u32 mbits)
{
	return (u64)mbits * (1000000 / BITS_PER_BYTE);
}

/* Did the neighbour pause or resume any of our sub-queues since generation @seen? */
static inline bool hop_paused_changed(const struct hop_member *m, u32 seen)
{
	return READ_ONCE(m->paused_gen) != seen;
}

/**
 * hop_paused_word - 64 pause bits of a member's range
 * @m: the member
 * @i: word index within the member's range: bits of its sub-queues 64 * i .. 64 * i + 63
 *
 * Call after hop_paused_begin(). Bits beyond the range may be set and mean nothing.
 */
static inline u64 hop_paused_word(const struct hop_member *m, unsigned int i)
{
	unsigned int word = m->first / 64 + i;
	unsigned int shift = m->first % 64;
	u64 bits = READ_ONCE(m->paused[word]) >> shift;

	if (shift && word + 1 < HOP_BITMAP_WORDS)
		bits |= READ_ONCE(m->paused[word + 1]) << (64 - shift);
	return bits;
}

/**
 * hop_paused_all - does the neighbour hold all sub-queues of a member?
 * @m: the member
 *
 * Call after hop_paused_begin().
 */
static inline bool hop_paused_all(const struct hop_member *m)
{
	unsigned int i, left = m->count;

	for (i = 0; left >= 64; i++, left -= 64)
		if (~hop_paused_word(m, i))
			return false;
	return !left || !(~hop_paused_word(m, i) & ((1ULL << left) - 1));
}

/* Return: the generation whose words, or newer ones, are read from here on. */
static inline u32 hop_paused_begin(const struct hop_member *m)
{
	u32 gen = READ_ONCE(m->paused_gen);

	smp_rmb();	/* pairs with the hook's smp_wmb() between the words and the generation */
	return gen;
}

#endif
