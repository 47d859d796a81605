// SPDX-License-Identifier: GPL-2.0-only
/*
 * hopmon.bpf.c - what is counted at each tracepoint
 *
 * Each event costs a constant number of map operations. All maps are bounded; an event that finds
 * one full is counted in `full` and its figure is lost, nothing else.
 *
 * Events of one sub-queue come under its qdisc's lock, those of a port's frames under the port's
 * lock. Only `told` is touched by several processors at once: a sub-queue of the neighbour is
 * paused from any of our ports. A value lost there costs one sample of a histogram.
 *
 * Counters are in an array that user space maps into its memory. To read a hash map takes a system
 * call for each entry, and while that copies the entry no BPF program runs on its processor: events
 * of interrupts that come meanwhile would be lost, for every hopmon there is.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "events.h"
#include "hopmon.h"

/* Set before loading; 0: all. Of a device's name the bytes up to its end are in the mask. */
const volatile __u32 only_netns;
const volatile union hopmon_dev only_dev;
const volatile union hopmon_dev only_mask;

/* Set before loading, too: room for so many keys, on so many processors */
const volatile __u64 room_keys;
const volatile __u64 room_cpus;

__u64 full[HOPMON_FULLS];
__u64 taken;	/* of room_keys; goes on counting when all are */

/* User space makes the maps as large as its options say. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct hopmon_key);
	__type(value, __u64);
} places SEC(".maps");

/* At a key's place times the number of processors, and the following */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hopmon_entry);
} entries SEC(".maps");

/* When the last packet left each of our sub-queues */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct hopmon_key);
	__type(value, __u64);
} queues SEC(".maps");

struct port_key {
	__u32	netns;
	__u32	ifindex;
};

/* Of a word of the bitmap: frames that changed it since the qdisc last took it over */
struct word {
	__u64	at;		/* when the first one came */
	__u64	merged;		/* when they were taken over, 0: not yet */
	__u64	frames;
};

struct port {
	struct word	words[HOPMON_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct port_key);
	__type(value, struct port);
} frames SEC(".maps");

struct told_key {
	__u32	netns;
	__u32	handle;
};

/* A pause of ours that lasts */
struct told {
	__u64	since;
	__u64	last;		/* when a packet of the sub-queue last came */
	__u64	packets;	/* that came since */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct told_key);
	__type(value, struct told);
} told SEC(".maps");

/* When a packet was queued, by its address */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} packets SEC(".maps");

/* What a new entry begins with: too large for the stack */
static struct port no_port;

static void no_room(enum hopmon_full what)
{
	__sync_fetch_and_add(&full[what], 1);
}

static __always_inline int wanted(__u32 netns, __u64 dev0, __u64 dev1)
{
	if (only_netns && netns != only_netns)
		return 0;
	return !((dev0 ^ only_dev.words[0]) & only_mask.words[0]) &&
	       !((dev1 ^ only_dev.words[1]) & only_mask.words[1]);
}

#define WANTED(e) wanted((e)->netns, (e)->dev.words[0], (e)->dev.words[1])

static __always_inline struct hopmon_entry *entry_at(__u64 place, __u64 cpu)
{
	__u32 index = place * room_cpus + cpu;

	return bpf_map_lookup_elem(&entries, &index);
}

/* If two processors see a new key at once, the place of one of them stays empty. */
static __always_inline __u64 *place_new(const struct hopmon_key *key)
{
	__u64 place, *now;
	struct hopmon_entry *e;

	if (taken >= room_keys)
		return NULL;
	place = __sync_fetch_and_add(&taken, 1);
	if (place >= room_keys)
		return NULL;
	bpf_map_update_elem(&places, key, &place, BPF_NOEXIST);
	now = bpf_map_lookup_elem(&places, key);
	if (!now || *now != place)
		return now;
	e = entry_at(place, 0);
	if (e)
		e->key = *key;
	return now;
}

static __always_inline struct hopmon_stats *stats_of(__u32 netns, __u32 ifindex, __u16 queue,
						     __u16 side)
{
	struct hopmon_key key = { netns, ifindex, queue, side };
	__u64 *place = bpf_map_lookup_elem(&places, &key);
	struct hopmon_entry *e;

	if (!place)
		place = place_new(&key);
	e = place ? entry_at(*place, bpf_get_smp_processor_id()) : NULL;
	if (e)
		return &e->stats;
	no_room(HOPMON_FULL_STATS);
	return NULL;
}

#define STATS_OF(e, queue, side) stats_of((e)->netns, (e)->ifindex, queue, side)

static __always_inline void count(struct hopmon_stats *s, enum hopmon_count what, __u64 n)
{
	if (s)
		s->counts[what] += n;
}

/* Not static and not inlined: then the verifier looks at it once, not on each path to each call. */
__noinline int sample(struct hopmon_stats *s, __u64 what, __u64 value)
{
	__u64 slot = hopmon_slot(value);
	struct hopmon_hist *h;

	/* 64 bits wide and not computed at compile time, so that the verifier sees the bounds */
	barrier_var(slot);
	barrier_var(what);
	if (!s || what >= HOPMON_HISTS || slot >= HOPMON_SLOTS)
		return 0;
	h = &s->hists[what];
	h->sum += value;
	if (value > h->max)
		h->max = value;
	h->slots[slot]++;
	return 0;
}

static __always_inline void named(struct hopmon_stats *s, __u64 dev0, __u64 dev1)
{
	if (!s)
		return;
	s->dev.words[0] = dev0;
	s->dev.words[1] = dev1;
}

#define NAMED(s, e) named(s, (e)->dev.words[0], (e)->dev.words[1])

static __always_inline void gauges(struct hopmon_stats *s, __u64 at, __u32 backlog)
{
	if (!s)
		return;
	s->at = at;
	s->backlog = backlog;
}

/* A packet came by the neighbour's sub-queue that `label` stands for: although we paused it? */
static __always_inline void told_arrival(__u32 netns, __u16 label, __u64 now)
{
	struct told_key key = { netns, label };
	struct told *t;

	if (label < HOPMON_LABEL_FIRST)
		return;
	t = bpf_map_lookup_elem(&told, &key);
	if (!t || now <= t->since)
		return;
	t->last = now;
	t->packets++;
}

SEC("tp/bfc/bfc_enqueue")
int bfc_enqueue(struct event_bfc_enqueue *e)
{
	struct hopmon_stats *port, *queue;
	__u64 skb = e->skbaddr, now = e->time;

	/* the port that it came in by may be wanted, if this one is not */
	told_arrival(e->netns, e->label, now);
	if (!WANTED(e))
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	queue = STATS_OF(e, e->queue, HOPMON_OURS);
	NAMED(port, e);
	gauges(queue, now, e->backlog);
	count(port, HOPMON_ENQUEUED, 1);
	count(queue, HOPMON_ENQUEUED, 1);
	count(port, HOPMON_MARKS, e->marked);
	count(queue, HOPMON_MARKS, e->marked);
	if (e->queue != HOPMON_CONTROL) {
		sample(port, HOPMON_BACKLOG, e->backlog);
		sample(queue, HOPMON_BACKLOG, e->backlog);
		if (port) {
			port->at = now;
			port->th = e->th;
		}
	}
	if (bpf_map_update_elem(&packets, &skb, &now, BPF_ANY))
		no_room(HOPMON_FULL_PACKETS);
	return 0;
}

SEC("tp/bfc/bfc_dequeue")
int bfc_dequeue(struct event_bfc_dequeue *e)
{
	struct hopmon_key key = { e->netns, e->ifindex, e->queue, HOPMON_OURS };
	struct hopmon_stats *port, *queue;
	__u64 skb = e->skbaddr, now = e->time;
	__u64 *since;

	if (!WANTED(e))
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	queue = STATS_OF(e, e->queue, HOPMON_OURS);
	NAMED(port, e);
	gauges(queue, now, e->backlog);
	count(port, HOPMON_PACKETS, 1);
	count(queue, HOPMON_PACKETS, 1);
	count(port, HOPMON_BYTES, e->len);
	count(queue, HOPMON_BYTES, e->len);
	since = bpf_map_lookup_elem(&packets, &skb);
	if (since) {
		sample(port, HOPMON_SOJOURN, now - *since);
		sample(queue, HOPMON_SOJOURN, now - *since);
		bpf_map_delete_elem(&packets, &skb);
	} else {
		count(port, HOPMON_SOJOURN_UNSEEN, 1);
		count(queue, HOPMON_SOJOURN_UNSEEN, 1);
	}
	if (bpf_map_update_elem(&queues, &key, &now, BPF_ANY))
		no_room(HOPMON_FULL_QUEUES);
	return 0;
}

SEC("tp/bfc/bfc_drop")
int bfc_drop(struct event_bfc_drop *e)
{
	struct hopmon_stats *port;
	__u32 reason = e->reason;
	__u64 skb = e->skbaddr;

	if (!WANTED(e) || reason >= HOPMON_DROPS)
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	NAMED(port, e);
	count(port, HOPMON_DROP_LIMIT + reason, 1);
	if (e->queue != HOPMON_NONE)
		count(STATS_OF(e, e->queue, HOPMON_OURS), HOPMON_DROP_LIMIT + reason, 1);
	bpf_map_delete_elem(&packets, &skb);
	return 0;
}

/* The qdisc has taken over the word of sub-queue @nr. All sub-queues that it paused and resumed
 * at once say so at the same @now.
 *
 * Return: when the only frame that changed the word came; 0 if there was none, or more than one.
 */
static __always_inline __u64 merged(__u32 netns, __u32 ifindex, __u16 nr, __u64 now)
{
	struct port_key key = { netns, ifindex };
	__u32 i = nr / 64;
	struct port *port;
	struct word *w;

	port = bpf_map_lookup_elem(&frames, &key);
	if (!port || i >= HOPMON_WORDS)
		return 0;
	w = &port->words[i];
	if (!w->merged)
		w->merged = now;
	return w->merged == now && w->frames == 1 ? w->at : 0;
}

static __always_inline void rooted(struct hopmon_stats *s, __u64 at, __u16 root, __u8 hops,
				   __u8 more)
{
	if (!s)
		return;
	s->root_at = at;
	s->root = root;
	s->hops = hops;
	s->more = more;
}

SEC("tp/hopctl/hop_root")
int hop_root(struct event_hop_root *e)
{
	if (!WANTED(e))
		return 0;
	/* the neighbour counts from itself */
	rooted(STATS_OF(e, e->queue, HOPMON_OURS), e->time, e->root, e->hops + 1, e->more);
	return 0;
}

SEC("tp/bfc/bfc_pause")
int bfc_pause(struct event_bfc_pause *e)
{
	struct hopmon_key key = { e->netns, e->ifindex, e->queue, HOPMON_OURS };
	struct hopmon_stats *port, *queue;
	__u64 came, *last, reaction = 0;

	if (!WANTED(e))
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	queue = STATS_OF(e, e->queue, HOPMON_OURS);
	NAMED(port, e);
	count(port, HOPMON_PAUSES_OBEYED, 1);
	count(queue, HOPMON_PAUSES_OBEYED, 1);
	came = merged(e->netns, e->ifindex, e->queue, e->time);
	if (!came) {
		count(port, HOPMON_REACTION_UNCLEAR, 1);
		count(queue, HOPMON_REACTION_UNCLEAR, 1);
		return 0;
	}
	last = bpf_map_lookup_elem(&queues, &key);
	if (last && *last > came)
		reaction = *last - came;
	sample(port, HOPMON_REACTION, reaction);
	sample(queue, HOPMON_REACTION, reaction);
	return 0;
}

SEC("tp/bfc/bfc_resume")
int bfc_resume(struct event_bfc_resume *e)
{
	struct hopmon_stats *port, *queue;

	if (!WANTED(e))
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	queue = STATS_OF(e, e->queue, HOPMON_OURS);
	NAMED(port, e);
	count(port, HOPMON_RESUMES_OBEYED, 1);
	count(queue, HOPMON_RESUMES_OBEYED, 1);
	rooted(queue, e->time, 0, 0, 0);
	sample(port, HOPMON_PAUSE, e->time - e->since);
	sample(queue, HOPMON_PAUSE, e->time - e->since);
	merged(e->netns, e->ifindex, e->queue, e->time);
	return 0;
}

SEC("tp/hopctl/hop_pause_rx")
int hop_pause_rx(struct event_hop_pause_rx *e)
{
	struct port_key key = { e->netns, e->ifindex };
	__u64 changed = e->changed, now = e->time;
	struct hopmon_stats *s;
	struct port *port;
	struct word *w;
	__u32 i;

	if (!WANTED(e))
		return 0;
	s = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	NAMED(s, e);
	count(s, HOPMON_STATE_RX, 1);
	if (!changed)
		return 0;
	port = bpf_map_lookup_elem(&frames, &key);
	if (!port) {
		bpf_map_update_elem(&frames, &key, &no_port, BPF_NOEXIST);
		port = bpf_map_lookup_elem(&frames, &key);
	}
	if (!port) {
		no_room(HOPMON_FULL_FRAMES);
		return 0;
	}
	for (i = 0; i < HOPMON_WORDS; i++) {
		if (!(changed >> i & 1))
			continue;
		w = &port->words[i];
		if (w->merged || !w->frames) {
			w->at = now;
			w->frames = 0;
			w->merged = 0;
		}
		w->frames++;
	}
	return 0;
}

SEC("tp/hopctl/hop_pause_tx")
int hop_pause_tx(struct event_hop_pause_tx *e)
{
	struct hopmon_stats *s;

	if (!WANTED(e))
		return 0;
	s = STATS_OF(e, HOPMON_PORT, HOPMON_THEIRS);
	NAMED(s, e);
	count(s, HOPMON_STATE_TX, 1);
	return 0;
}

SEC("tp/hopctl/hop_lease_expired")
int hop_lease_expired(struct event_hop_lease_expired *e)
{
	struct hopmon_stats *s;

	if (!WANTED(e))
		return 0;
	s = STATS_OF(e, HOPMON_PORT, HOPMON_OURS);
	NAMED(s, e);
	count(s, HOPMON_LEASE_EXPIRED, 1);
	return 0;
}

static __always_inline void told_begin(const struct told_key *key, struct hopmon_stats *port,
				       struct hopmon_stats *queue)
{
	struct told t = { .since = bpf_ktime_get_ns() };
	long err;

	count(port, HOPMON_PAUSES_TX, 1);
	count(queue, HOPMON_PAUSES_TX, 1);
	err = bpf_map_update_elem(&told, key, &t, BPF_ANY);
	if (err)
		no_room(HOPMON_FULL_TOLD);
}

static __always_inline void told_reaction(struct hopmon_stats *s, const struct told *t,
					  __u64 length)
{
	__u64 reaction = t->last - t->since;

	count(s, HOPMON_LATE_PACKETS, t->packets);
	if (!t->packets)
		count(s, HOPMON_TOLD_SILENT, 1);
	else if (reaction > length / 2)
		count(s, HOPMON_TOLD_UNSETTLED, 1);
	else
		sample(s, HOPMON_REACTION, reaction);
}

static __always_inline void told_end(const struct told_key *key, struct hopmon_stats *port,
				     struct hopmon_stats *queue)
{
	struct told *t = bpf_map_lookup_elem(&told, key);
	__u64 length;

	count(port, HOPMON_RESUMES_TX, 1);
	count(queue, HOPMON_RESUMES_TX, 1);
	if (!t) {
		count(port, HOPMON_TOLD_UNSEEN, 1);
		count(queue, HOPMON_TOLD_UNSEEN, 1);
		return;
	}
	length = bpf_ktime_get_ns() - t->since;
	sample(port, HOPMON_PAUSE, length);
	sample(queue, HOPMON_PAUSE, length);
	told_reaction(port, t, length);
	told_reaction(queue, t, length);
	bpf_map_delete_elem(&told, key);
}

SEC("tp/hopctl/hop_pause_count")
int hop_pause_count(struct event_hop_pause_count *e)
{
	struct told_key key = { e->netns, e->handle };
	struct hopmon_stats *port, *queue;

	if (!WANTED(e))
		return 0;
	port = STATS_OF(e, HOPMON_PORT, HOPMON_THEIRS);
	queue = STATS_OF(e, e->queue, HOPMON_THEIRS);
	NAMED(port, e);
	if (e->pause)
		told_begin(&key, port, queue);
	else
		told_end(&key, port, queue);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
