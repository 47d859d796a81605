// SPDX-License-Identifier: GPL-2.0-only
/*
 * dump.c - what a port says of itself: HOP_A_* attributes
 *
 * The control path's counters are copied under the port's lock, which takes as long as a frame
 * does; the sums over words, processors and handles are made without it.
 */
#include <net/netlink.h>

#include "port.h"

/**
 * struct hop_view - a copy of what a dump shows, taken under the port's lock
 * @stats: counters
 * @pause: of PAUSE STATE
 * @state: enum hop_state
 * @role: ours
 * @peer_role: what the neighbour is taken for
 * @tier: where the port leads
 * @storm: the neighbour is not obeyed
 * @up: there is a neighbour
 * @mac: its address
 * @queues: what it announced
 * @raw: measured HRTT, ns
 * @used: HRTT in use, ns
 * @ring: our ring time, ns
 * @reaction: what our pauses take to have an effect, ns
 * @reactions: how often that was measured
 * @filtered: something looks at frames before their tags are taken off
 * @unseen: frames that it could not see
 * @root_id: the port's id, 0 if it tells no roots
 */
struct hop_view {
	struct hop_stats	stats;
	struct hop_stream_stats	pause;
	u8			state;
	u8			role;
	u8			peer_role;
	u8			tier;
	bool			storm;
	bool			up;
	u8			mac[ETH_ALEN];
	u16			queues;
	u32			raw;
	u32			used;
	u32			ring;
	u32			reaction;
	u64			reactions;
	bool			filtered;
	u64			unseen;
	u16			root_id;
};

static_assert(sizeof(struct hop_stats) == 24 * sizeof(u64));

/* Attributes and where their values are in struct hop_view. */
static const struct {
	u16	attr;
	u16	offset;
} stats_table[] = {
	{ HOP_A_HELLO_TX,	offsetof(struct hop_view, stats.hello_tx) },
	{ HOP_A_HELLO_RX,	offsetof(struct hop_view, stats.hello_rx) },
	{ HOP_A_STATE_TX,		offsetof(struct hop_view, pause.tx) },
	{ HOP_A_STATE_RX,		offsetof(struct hop_view, pause.rx) },
	{ HOP_A_STATE_REPEATS,	offsetof(struct hop_view, pause.repeats) },
	{ HOP_A_REFRESH_TX,	offsetof(struct hop_view, pause.refreshes) },
	{ HOP_A_LEASE_EXPIRED,	offsetof(struct hop_view, pause.expired) },
	{ HOP_A_NEIGHBOUR_UP,	offsetof(struct hop_view, stats.neighbour_up) },
	{ HOP_A_NEIGHBOUR_LOST,	offsetof(struct hop_view, stats.neighbour_lost) },
	{ HOP_A_PROBE_TX,	offsetof(struct hop_view, stats.probe_tx) },
	{ HOP_A_PROBE_ECHOED,	offsetof(struct hop_view, stats.probe_echoed) },
	{ HOP_A_TX_BUSY,	offsetof(struct hop_view, stats.tx_busy) },
	{ HOP_A_RX_MALFORMED,	offsetof(struct hop_view, stats.rx_malformed) },
	{ HOP_A_RX_VERSION,	offsetof(struct hop_view, stats.rx_version) },
	{ HOP_A_RX_EPOCH,	offsetof(struct hop_view, stats.rx_epoch) },
	{ HOP_A_RX_STALE,	offsetof(struct hop_view, stats.rx_stale) },
	{ HOP_A_RX_RANGE,	offsetof(struct hop_view, stats.rx_range) },
	{ HOP_A_RX_UNTRUSTED,	offsetof(struct hop_view, stats.rx_untrusted) },
	{ HOP_A_RX_SHARED,	offsetof(struct hop_view, stats.rx_shared) },
	{ HOP_A_RX_LIMITED,	offsetof(struct hop_view, stats.rx_limited) },
	{ HOP_A_STORMS,		offsetof(struct hop_view, stats.storms) },
	{ HOP_A_STORM_ENDS,	offsetof(struct hop_view, stats.storm_ends) },
	{ HOP_A_STORM_RX,	offsetof(struct hop_view, stats.storm_rx) },
	{ HOP_A_COUNTER_LEAKS,	offsetof(struct hop_view, stats.counter_leaks) },
	{ HOP_A_HRTT_CAPPED,	offsetof(struct hop_view, stats.hrtt_capped) },
	{ HOP_A_ROOTS_TX,	offsetof(struct hop_view, stats.roots_tx) },
	{ HOP_A_ROOTS_RX,	offsetof(struct hop_view, stats.roots_rx) },
	{ HOP_A_ROOTS_FAR,	offsetof(struct hop_view, stats.roots_far) },
	{ HOP_A_UNANSWERED,	offsetof(struct hop_view, stats.unanswered) },
};

static void view_take(struct hop_port *port, struct hop_view *v)
{
	spin_lock_bh(&port->lock);
	*v = (struct hop_view) {
		.stats		= port->stats,
		.pause		= port->streams[HOP_SLOT_PAUSE].stats,
		.state		= port->state,
		.role		= port->role,
		.peer_role	= hop_peer_taken_for(port),
		.tier		= port->cfg.tier,
		.storm		= port->storm,
		.up		= port->peer.up,
		.queues		= port->peer.up ? port->peer.hello.queues : 0,
		.raw		= hop_hrtt_raw(port),
		.used		= port->hrtt_used ?: HOP_HRTT_UNKNOWN_NS,
		.ring		= hop_link_ring_ns(port),
		.reaction	= hop_reaction_most(&port->reaction, hop_now()),
		.reactions	= port->reaction.count,
		.filtered	= port->filtered,
		.unseen		= port->unseen,
		.root_id	= port->cfg.roots ? port->root_id : 0,
	};
	if (port->filtered)
		v->unseen += hop_tag_stripped(port) - port->unseen_from;
	ether_addr_copy(v->mac, port->peer.mac);
	spin_unlock_bh(&port->lock);
}

static u32 words_weight(const u64 *words, unsigned int queues)
{
	unsigned int w, weight = 0;

	for (w = 0; w < queues / 64; w++)
		weight += hweight64(READ_ONCE(words[w]));
	if (queues % 64)
		weight += hweight64(READ_ONCE(words[w]) & GENMASK_ULL(queues % 64 - 1, 0));
	return weight;
}

static bool put_u64(struct sk_buff *skb, int attr, u64 value)
{
	return !nla_put_u64_64bit(skb, attr, value, HOP_A_PAD);
}

static bool put_pcpu(struct sk_buff *skb, const struct hop_port *port)
{
	u64 stripped = 0, unlabelled = 0, errors = 0, forged = 0, unknown = 0;
	u64 pauses = 0, resumes = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct hop_pcpu *c = per_cpu_ptr(port->pcpu, cpu);

		stripped += hop_pcpu_read(c, &c->stripped);
		unlabelled += hop_pcpu_read(c, &c->unlabelled);
		errors += hop_pcpu_read(c, &c->errors);
		forged += hop_pcpu_read(c, &c->forged);
		unknown += hop_pcpu_read(c, &c->origin_unknown);
		pauses += hop_pcpu_read(c, &c->pauses);
		resumes += hop_pcpu_read(c, &c->resumes);
	}
	return put_u64(skb, HOP_A_TAG_STRIPPED, stripped) &&
	       put_u64(skb, HOP_A_TAG_UNLABELLED, unlabelled) &&
	       put_u64(skb, HOP_A_TAG_ERRORS, errors) &&
	       put_u64(skb, HOP_A_HANDLE_FORGED, forged) &&
	       put_u64(skb, HOP_A_ORIGIN_UNKNOWN, unknown) &&
	       put_u64(skb, HOP_A_PAUSES_TX, pauses) &&
	       put_u64(skb, HOP_A_RESUMES_TX, resumes);
}

static bool put_stats(struct sk_buff *skb, const struct hop_view *v)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stats_table); i++)
		if (!put_u64(skb, stats_table[i].attr,
			     *(const u64 *)((const u8 *)v + stats_table[i].offset)))
			return false;
	return true;
}

static bool put_neighbour(struct sk_buff *skb, const struct hop_port *port,
			  const struct hop_view *v)
{
	return !nla_put_u8(skb, HOP_A_STATE, v->state) &&
	       !nla_put_u8(skb, HOP_A_ROLE, v->role) &&
	       !nla_put_u8(skb, HOP_A_PEER_ROLE, v->peer_role) &&
	       !nla_put_u8(skb, HOP_A_TIER, v->tier) &&
	       !nla_put_u8(skb, HOP_A_STORM, v->storm) &&
	       (!v->up || !nla_put(skb, HOP_A_PEER_MAC, ETH_ALEN, v->mac)) &&
	       !nla_put_u16(skb, HOP_A_PEER_QUEUES, v->queues) &&
	       !nla_put_u16(skb, HOP_A_HANDLES, READ_ONCE(port->handles) & 0xffff) &&
	       !nla_put_u32(skb, HOP_A_HRTT_RAW, v->raw) &&
	       !nla_put_u32(skb, HOP_A_HRTT, v->used) &&
	       !nla_put_u32(skb, HOP_A_RING, v->ring) &&
	       !nla_put_u32(skb, HOP_A_REACTION, v->reaction) &&
	       put_u64(skb, HOP_A_REACTIONS, v->reactions) &&
	       !nla_put_u8(skb, HOP_A_INGRESS_FILTER, v->filtered) &&
	       put_u64(skb, HOP_A_TAG_UNSEEN, v->unseen) &&
	       (!v->root_id || !nla_put_u16(skb, HOP_A_ROOT_ID, v->root_id));
}

static bool put_pauses(struct sk_buff *skb, const struct hop_port *port)
{
	return !nla_put_u32(skb, HOP_A_PAUSED_QUEUES,
			    words_weight(port->paused, READ_ONCE(port->queues))) &&
	       !nla_put_u32(skb, HOP_A_PAUSING_QUEUES,
			    words_weight(port->streams[HOP_SLOT_PAUSE].told,
					 HOP_BITMAP_WORDS * 64)) &&
	       put_u64(skb, HOP_A_PAUSE_COUNTERS, hop_range_sum(port)) &&
	       put_u64(skb, HOP_A_INGRESS_BYTES, hop_range_bytes(port));
}

/**
 * hop_port_put - put what a port says of itself into a message
 * @port: the port
 * @skb: the message
 * @attrtype: type of the nest to open
 *
 * Context: RTNL or RCU.
 * Return: 0 or -EMSGSIZE.
 */
int hop_port_put(struct hop_port *port, struct sk_buff *skb, int attrtype)
{
	struct hop_view v;
	struct nlattr *nest;

	nest = nla_nest_start(skb, attrtype);
	if (!nest)
		return -EMSGSIZE;
	view_take(port, &v);
	if (put_neighbour(skb, port, &v) && put_pauses(skb, port) &&
	    put_stats(skb, &v) && put_pcpu(skb, port)) {
		nla_nest_end(skb, nest);
		return 0;
	}
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

int hop_port_dump(const struct hop_member *m, struct sk_buff *skb, int attrtype)
{
	return m->port ? hop_port_put(m->port, skb, attrtype) : 0;
}
EXPORT_SYMBOL_GPL(hop_port_dump);
