/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frame_gen.h - control frames at random: good ones, damaged ones, and bytes
 *
 * The same seed makes the same frames on every machine. For whoever has included frame.c.
 */
#ifndef _SLUICE_FRAME_GEN_H
#define _SLUICE_FRAME_GEN_H

/* splitmix64 */
static __u64 gen_seed = 1;

static __u64 gen64(void)
{
	__u64 z = gen_seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static unsigned int gen_below(unsigned int n)
{
	return gen64() % n;
}

/* Numbers at which something changes: sizes, counts, limits of the fields and of integers */
static __u64 gen_edge(void)
{
	static const __u64 edges[] = {
		0, 1, 2, 3, 4, 7, 8, 12, 36, 40, 63, 64, 65, 127, 128, 1472, 1488, 1500, 1518,
		4093, 4094, 4095, 4096, 0x7fff, 0x8000, 0x8100, 0x88a8, 0xfffe, 0xffff, 0x10000,
		1000000000, 2000000000, 2000000001, 0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff,
	};

	return edges[gen_below(sizeof(edges) / sizeof(edges[0]))];
}

static __u64 gen_number(void)
{
	return gen_below(2) ? gen_edge() : gen64() >> gen_below(64);
}

static void gen_hello(struct hop_hello *h)
{
	*h = (struct hop_hello) {
		.role = 1 + gen_below(2), .flags = gen64(), .kinds = gen64(),
		.queues = gen_number() % (HOP_QUEUES_MAX + 1), .tpid = gen_number(),
		.ring_ns = gen_number(), .sent_ns = gen_number(), .echo_ns = gen_number(),
		.held_ns = gen_number(),
	};
}

static void gen_probe(struct hop_probe *p)
{
	*p = (struct hop_probe) {
		.nonce = gen64(), .vid = 1 + gen_number() % HOP_QUEUES_MAX, .size = gen_number(),
	};
}

static void gen_state(struct hop_told *t, struct hop_writer *w, enum hop_slot slot)
{
	unsigned int i;
	__u8 *to;

	*t = (struct hop_told) {
		.slot = slot, .seq = gen_number(), .lease_ns = gen_number(),
		.first = gen_below(told_states[slot].pages),
	};
	t->count = 1 + gen_below(told_states[slot].pages - t->first);
	to = hop_frame_add_state(w, slot, t->seq, t->lease_ns, t->first, t->count);
	t->data = to;
	for (i = 0; i < t->count * sizeof(__be64); i++)
		to[i] = gen_number();
}

static void gen_roots(struct hop_frame *f, struct hop_writer *w)
{
	struct hop_told_root r;
	unsigned int i;
	__u8 *to;

	f->n_roots = 1 + gen_below(40);
	to = hop_frame_add_roots(w, f->n_roots);
	f->roots = to;
	for (i = 0; i < f->n_roots; i++) {
		r = (struct hop_told_root) {
			.queue = gen_number() % HOP_QUEUES_MAX, .id = gen_number(),
			.hops = gen_number() % (HOP_ROOT_HOPS + 1), .more = gen_below(2),
		};
		hop_frame_put_root(to, i, &r);
	}
}

static void gen_ack(struct hop_told *t, struct hop_writer *w, enum hop_slot slot)
{
	*t = (struct hop_told) { .slot = slot, .ack = true, .seq = gen_number() };
	hop_frame_add_ack(w, slot, t->seq);
}

/* As many as fit beside all others */
#define GEN_BLOCKS	16

static void gen_end(struct hop_end *e, struct hop_writer *w)
{
	__u16 keys[GEN_BLOCKS];
	unsigned int i;

	*e = (struct hop_end) {
		.block = gen_number(), .lanes = 1 + gen_below(HOP_FRAME_LANES),
		.count = gen_below(GEN_BLOCKS + 1),
	};
	e->lane = gen_below(e->lanes);
	for (i = 0; i < e->count; i++)
		keys[i] = gen_number();
	hop_frame_add_end(w, e, keys);
	e->keys = w->buf + w->used - e->count * sizeof(*keys);
}

static void gen_balances(struct hop_balances *b, struct hop_writer *w)
{
	unsigned int i;
	__u8 *to;

	*b = (struct hop_balances) { .block = gen_number(), .count = gen_below(GEN_BLOCKS + 1) };
	to = hop_frame_add_balances(w, b->block, b->count);
	b->data = to;
	for (i = 0; i < b->count; i++)
		hop_frame_put_balance(to, i, gen_number(), gen_number());
}

/**
 * gen_frame - a good frame
 * @f: filled in with what it says; told[].data and roots point into @buf
 * @buf: HOP_FRAME_MAX bytes
 *
 * Any set of contents, in any order. Return: its length.
 */
static inline size_t gen_frame(struct hop_frame *f, __u8 *buf)
{
	static const __u8 types[] = {
		HOP_TLV_HELLO, HOP_TLV_PAUSE_STATE, HOP_TLV_PAUSE_ACK, HOP_TLV_PROBE,
		HOP_TLV_PROBE_ECHO, HOP_TLV_GOODBYE, HOP_TLV_EXAMPLE_STATE, HOP_TLV_EXAMPLE_ACK,
		HOP_TLV_END, HOP_TLV_BALANCES, HOP_TLV_PAUSE_ROOTS,
	};
	unsigned int order[sizeof(types)], i, j;
	struct hop_writer w;

	memset(f, 0, sizeof(*f));
	f->epoch_mine = gen64() | 1;
	f->epoch_yours = gen64();
	hop_frame_begin(&w, buf, HOP_FRAME_MAX, f->epoch_mine, f->epoch_yours);

	for (i = 0; i < sizeof(types); i++) {
		if (gen64() & 1)
			f->has |= 1ULL << types[i];
		j = gen_below(i + 1);
		order[i] = order[j];
		order[j] = types[i];
	}
	for (i = 0; i < sizeof(types); i++) {
		if (!hop_frame_has(f, order[i]))
			continue;
		switch (order[i]) {
		case HOP_TLV_HELLO:
			gen_hello(&f->hello);
			hop_frame_add_hello(&w, &f->hello);
			break;
		case HOP_TLV_PAUSE_STATE:
			gen_state(&f->told[f->n_told++], &w, HOP_SLOT_PAUSE);
			break;
		case HOP_TLV_EXAMPLE_STATE:
			gen_state(&f->told[f->n_told++], &w, HOP_SLOT_EXAMPLE);
			break;
		case HOP_TLV_PAUSE_ACK:
			gen_ack(&f->told[f->n_told++], &w, HOP_SLOT_PAUSE);
			break;
		case HOP_TLV_EXAMPLE_ACK:
			gen_ack(&f->told[f->n_told++], &w, HOP_SLOT_EXAMPLE);
			break;
		case HOP_TLV_PROBE:
			gen_probe(&f->probe);
			hop_frame_add_probe(&w, HOP_TLV_PROBE, &f->probe);
			break;
		case HOP_TLV_PROBE_ECHO:
			gen_probe(&f->echo);
			hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &f->echo);
			break;
		case HOP_TLV_GOODBYE:
			hop_frame_add_goodbye(&w);
			break;
		case HOP_TLV_END:
			gen_end(&f->end, &w);
			break;
		case HOP_TLV_BALANCES:
			gen_balances(&f->balances, &w);
			break;
		case HOP_TLV_PAUSE_ROOTS:
			gen_roots(f, &w);
			break;
		}
	}
	return hop_frame_end(&w);
}

static void gen_put(__u8 *p, size_t bytes, __u64 value)
{
	while (bytes--) {
		p[bytes] = value;
		value >>= 8;
	}
}

/* One wound. Two thirds of them hit the header and the first contents, where the lengths are. */
static size_t gen_wound(__u8 *buf, size_t len, size_t room)
{
	size_t near = gen_below(3) && len > 80 ? 80 : len;
	size_t at = gen_below(near), n;

	switch (gen_below(8)) {
	case 0:
		buf[at] ^= 1U << gen_below(8);
		break;
	case 1:
		buf[at] = gen64();
		break;
	case 2:		/* a number of 2, 4 or 8 bytes, aligned as the fields are */
		at &= ~1UL;
		n = 2U << gen_below(3);
		if (at + n <= len)
			gen_put(buf + at, n, gen_number());
		break;
	case 3:
		len = at;
		break;
	case 4:		/* longer: zeroes as padding has, or anything */
		n = gen_below(room - len + 1);
		memset(buf + len, gen_below(2) ? 0 : gen64(), n);
		len += n;
		break;
	case 5:		/* a part of it twice */
		n = gen_below(len - at + 1);
		if (len + n > room)
			n = room - len;
		memmove(buf + at + n, buf + at, len - at);
		len += n;
		break;
	case 6:		/* a part of it missing */
		n = gen_below(len - at + 1);
		memmove(buf + at, buf + at + n, len - at - n);
		len -= n;
		break;
	case 7:		/* the header's length made good again */
		if (len >= sizeof(struct hop_frame_hdr))
			gen_put(buf + offsetof(struct hop_frame_hdr, length), 2,
				len - sizeof(struct hop_frame_hdr));
		break;
	}
	return len;
}

/**
 * gen_damage - wound a frame once to four times
 * @buf: the frame
 * @len: its length
 * @room: bytes in @buf
 *
 * Return: its new length.
 */
static inline size_t gen_damage(__u8 *buf, size_t len, size_t room)
{
	unsigned int n;

	for (n = 1 + gen_below(4); n && len; n--)
		len = gen_wound(buf, len, room);
	return len;
}

/**
 * gen_bytes - any bytes, behind a good header half of the times
 * @buf: where
 * @room: most bytes
 *
 * Return: how many.
 */
static inline size_t gen_bytes(__u8 *buf, size_t room)
{
	size_t i, len = gen_below(room + 1);

	for (i = 0; i < len; i++)
		buf[i] = gen64() >> 32;
	if (len >= sizeof(struct hop_frame_hdr) && gen_below(2)) {
		buf[0] = HOP_VERSION;
		gen_put(buf + offsetof(struct hop_frame_hdr, length), 2,
			gen_below(len - sizeof(struct hop_frame_hdr) + 1));
		/* a type that is known, as often as not */
		if (len >= sizeof(struct hop_frame_hdr) + sizeof(struct hop_frame_tlv))
			gen_put(buf + sizeof(struct hop_frame_hdr), 4,
				gen_below(8) << 16 | gen_below(64));
	}
	return len;
}

#endif
