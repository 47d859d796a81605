// SPDX-License-Identifier: GPL-2.0-only
/*
 * frame.c - the codec of control frames
 *
 * The parser makes one pass over the buffer, allocates nothing and follows no length that it
 * has not compared with what is left. It checks the version first: what another version means
 * by the rest is not ours to judge. It decides what a frame *says*; whether to believe it
 * (epochs, sequence numbers, trust) is up to the caller.
 *
 * A known content that is longer than its struct is read up to what we know of it, so that a
 * field may be appended one day; one that is shorter, or that appears more often than it may, is
 * malformed. Contents of unknown type are skipped.
 *
 * Nothing here has state, so nothing needs a lock.
 */
#ifdef __KERNEL__
#include <linux/export.h>
#endif

#include "byteorder.h"
#include "frame.h"

/* How a told state is written: the type of its acknowledgement is the one behind its own, its pages
 * are words of 64 bits.
 */
static const struct {
	__u16	type;
	__u16	pages;
} told_states[HOP_SLOTS] = {
	[HOP_SLOT_PAUSE]   = { HOP_TLV_PAUSE_STATE, HOP_BITMAP_WORDS },
	[HOP_SLOT_EXAMPLE] = { HOP_TLV_EXAMPLE_STATE, HOP_BITMAP_WORDS },
};

/* A content as it lies in the frame: @len bytes from @p on, at least as many as its codec says */
struct value {
	const __u8	*p;
	size_t		len;
	__u8		slot;
};

static enum hop_frame_error parse_hello(const struct value *v, struct hop_frame *f)
{
	struct hop_hello *h = &f->hello;
	struct hop_tlv_hello t;

	memcpy(&t, v->p, sizeof(t));
	h->role = t.role;
	h->flags = t.flags;
	h->kinds = be16_to_cpu(t.kinds);
	h->queues = be16_to_cpu(t.queues);
	h->tpid = be16_to_cpu(t.tpid);
	h->ring_ns = be32_to_cpu(t.ring_ns);
	h->sent_ns = be64_to_cpu(t.sent_ns);
	h->echo_ns = be64_to_cpu(t.echo_ns);
	h->held_ns = be64_to_cpu(t.held_ns);
	if (h->role != HOP_ROLE_HOST && h->role != HOP_ROLE_SWITCH)
		return HOP_FRAME_RANGE;
	return h->queues <= HOP_QUEUES_MAX ? HOP_FRAME_OK : HOP_FRAME_RANGE;
}

static enum hop_frame_error parse_state(const struct value *v, struct hop_frame *f)
{
	struct hop_tlv_pause_state s;
	struct hop_told *t;

	if (f->n_told == HOP_FRAME_TOLD)
		return HOP_FRAME_MALFORMED;
	t = &f->told[f->n_told++];
	memcpy(&s, v->p, sizeof(s));
	t->slot = v->slot;
	t->ack = false;
	t->seq = be32_to_cpu(s.seq);
	t->lease_ns = be32_to_cpu(s.lease_ns);
	t->first = be16_to_cpu(s.first_word);
	t->count = be16_to_cpu(s.count);
	t->data = v->p + sizeof(s);
	if (v->len - sizeof(s) < t->count * sizeof(__be64))
		return HOP_FRAME_MALFORMED;
	if (!t->count || t->first + t->count > told_states[v->slot].pages)
		return HOP_FRAME_RANGE;
	return HOP_FRAME_OK;
}

static enum hop_frame_error parse_ack(const struct value *v, struct hop_frame *f)
{
	struct hop_told *t;
	struct hop_tlv_ack a;

	if (f->n_told == HOP_FRAME_TOLD)
		return HOP_FRAME_MALFORMED;
	t = &f->told[f->n_told++];
	memcpy(&a, v->p, sizeof(a));
	t->slot = v->slot;
	t->ack = true;
	t->seq = be32_to_cpu(a.seq);
	return HOP_FRAME_OK;
}

static enum hop_frame_error parse_roots(const struct value *v, struct hop_frame *f)
{
	struct hop_told_root r;
	unsigned int i;

	f->roots = v->p;
	f->n_roots = v->len / sizeof(struct hop_tlv_root);
	for (i = 0; i < f->n_roots; i++) {
		r = hop_frame_root(f, i);
		if (r.queue >= HOP_QUEUES_MAX || r.hops > HOP_ROOT_HOPS)
			return HOP_FRAME_RANGE;
	}
	return HOP_FRAME_OK;
}

static enum hop_frame_error read_probe(const __u8 *p, struct hop_probe *probe)
{
	struct hop_tlv_probe t;

	memcpy(&t, p, sizeof(t));
	probe->nonce = be32_to_cpu(t.nonce);
	probe->vid = be16_to_cpu(t.vid);
	probe->size = be16_to_cpu(t.size);
	return probe->vid && probe->vid <= HOP_QUEUES_MAX ? HOP_FRAME_OK : HOP_FRAME_RANGE;
}

static enum hop_frame_error parse_probe(const struct value *v, struct hop_frame *f)
{
	return read_probe(v->p, &f->probe);
}

static enum hop_frame_error parse_echo(const struct value *v, struct hop_frame *f)
{
	return read_probe(v->p, &f->echo);
}

static enum hop_frame_error parse_end(const struct value *v, struct hop_frame *f)
{
	struct hop_end *e = &f->end;
	struct hop_tlv_end t;

	memcpy(&t, v->p, sizeof(t));
	e->block = be32_to_cpu(t.block);
	e->lane = be16_to_cpu(t.lane);
	e->lanes = be16_to_cpu(t.lanes);
	e->count = be16_to_cpu(t.count);
	e->keys = v->p + sizeof(t);
	if (v->len - sizeof(t) < e->count * sizeof(__be16))
		return HOP_FRAME_MALFORMED;
	return e->lane < e->lanes && e->lanes <= HOP_FRAME_LANES ? HOP_FRAME_OK : HOP_FRAME_RANGE;
}

static enum hop_frame_error parse_balances(const struct value *v, struct hop_frame *f)
{
	struct hop_balances *b = &f->balances;
	struct hop_tlv_balances t;

	memcpy(&t, v->p, sizeof(t));
	b->block = be32_to_cpu(t.block);
	b->count = be16_to_cpu(t.count);
	b->data = v->p + sizeof(t);
	if (v->len - sizeof(t) < b->count * sizeof(struct hop_tlv_balance))
		return HOP_FRAME_MALFORMED;
	return HOP_FRAME_OK;
}

/**
 * struct codec - how a content is read
 * @known: its type means something
 * @several: a frame may have it more than once
 * @least: bytes that it has at least
 * @slot: enum hop_slot of a told state and its acknowledgement
 * @parse: reads it, if there is anything to read
 */
struct codec {
	bool			known;
	bool			several;
	__u8			least;
	__u8			slot;
	enum hop_frame_error	(*parse)(const struct value *v, struct hop_frame *f);
};

static const struct codec codecs[] = {
	[HOP_TLV_HELLO] = {
		.known = true, .least = sizeof(struct hop_tlv_hello), .parse = parse_hello,
	},
	[HOP_TLV_PAUSE_STATE] = {
		.known = true, .least = sizeof(struct hop_tlv_pause_state), .parse = parse_state,
		.slot = HOP_SLOT_PAUSE, .several = true,
	},
	[HOP_TLV_PAUSE_ACK] = {
		.known = true, .least = sizeof(struct hop_tlv_ack), .parse = parse_ack,
		.slot = HOP_SLOT_PAUSE, .several = true,
	},
	[HOP_TLV_PROBE] = {
		.known = true, .least = sizeof(struct hop_tlv_probe), .parse = parse_probe,
	},
	[HOP_TLV_PROBE_ECHO] = {
		.known = true, .least = sizeof(struct hop_tlv_probe), .parse = parse_echo,
	},
	[HOP_TLV_GOODBYE] = { .known = true },
	[HOP_TLV_END] = {
		.known = true, .least = sizeof(struct hop_tlv_end), .parse = parse_end,
	},
	[HOP_TLV_BALANCES] = {
		.known = true, .least = sizeof(struct hop_tlv_balances), .parse = parse_balances,
	},
	[HOP_TLV_EXAMPLE_STATE] = {
		.known = true, .least = sizeof(struct hop_tlv_pause_state), .parse = parse_state,
		.slot = HOP_SLOT_EXAMPLE, .several = true,
	},
	[HOP_TLV_EXAMPLE_ACK] = {
		.known = true, .least = sizeof(struct hop_tlv_ack), .parse = parse_ack,
		.slot = HOP_SLOT_EXAMPLE, .several = true,
	},
	[HOP_TLV_PAUSE_ROOTS] = {
		.known = true, .least = sizeof(struct hop_tlv_root), .parse = parse_roots,
	},
};

static enum hop_frame_error parse_content(__u16 type, const __u8 *p, size_t len,
					  struct hop_frame *f)
{
	struct value v = { .p = p, .len = len };
	const struct codec *c;

	if (type >= sizeof(codecs) / sizeof(*codecs) || !codecs[type].known)
		return HOP_FRAME_OK;
	c = &codecs[type];
	if ((f->has & (1ULL << type) && !c->several) || len < c->least)
		return HOP_FRAME_MALFORMED;
	f->has |= 1ULL << type;
	v.slot = c->slot;
	return c->parse ? c->parse(&v, f) : HOP_FRAME_OK;
}

/**
 * hop_frame_parse - find out what a control frame says
 * @buf: the frame behind its Ethernet header
 * @len: bytes there, padding included; those beyond HOP_FRAME_MAX are not looked at
 * @f: filled in; only meaningful if HOP_FRAME_OK comes back, and as long as @buf lives
 *
 * Return: HOP_FRAME_OK or why the frame has to be dropped.
 */
enum hop_frame_error hop_frame_parse(const void *buf, size_t len, struct hop_frame *f)
{
	const __u8 *p = buf;
	struct hop_frame_hdr hdr;
	size_t left;

	memset(f, 0, offsetof(struct hop_frame, hello));
	if (len > HOP_FRAME_MAX)
		len = HOP_FRAME_MAX;
	if (len < 1)
		return HOP_FRAME_MALFORMED;
	if (p[0] != HOP_VERSION)
		return HOP_FRAME_VERSION;
	if (len < sizeof(hdr))
		return HOP_FRAME_MALFORMED;

	memcpy(&hdr, p, sizeof(hdr));
	f->epoch_mine = be32_to_cpu(hdr.epoch_mine);
	f->epoch_yours = be32_to_cpu(hdr.epoch_yours);
	left = be16_to_cpu(hdr.length);
	if (left > len - sizeof(hdr) || !f->epoch_mine)
		return HOP_FRAME_MALFORMED;
	p += sizeof(hdr);

	while (left) {
		struct hop_frame_tlv tlv;
		enum hop_frame_error err;
		size_t bytes;

		if (left < sizeof(tlv))
			return HOP_FRAME_MALFORMED;
		memcpy(&tlv, p, sizeof(tlv));
		p += sizeof(tlv);
		left -= sizeof(tlv);
		bytes = be16_to_cpu(tlv.length);
		if (bytes > left)
			return HOP_FRAME_MALFORMED;
		err = parse_content(be16_to_cpu(tlv.type), p, bytes, f);
		if (err != HOP_FRAME_OK)
			return err;
		p += bytes;
		left -= bytes;
	}
	return HOP_FRAME_OK;
}

/**
 * hop_told_word - one word of a parsed state whose pages are words of 64 bits
 * @t: the state
 * @i: 0 .. count - 1
 *
 * Return: the word; of a bitmap, bit n stands for 64 * (first + i) + n.
 */
__u64 hop_told_word(const struct hop_told *t, unsigned int i)
{
	__be64 word;

	memcpy(&word, t->data + i * sizeof(word), sizeof(word));
	return be64_to_cpu(word);
}

/**
 * hop_end_key - a key that a parsed END asks for
 * @e: the END
 * @i: 0 .. count - 1
 */
__u16 hop_end_key(const struct hop_end *e, unsigned int i)
{
	__be16 key;

	memcpy(&key, e->keys + i * sizeof(key), sizeof(key));
	return be16_to_cpu(key);
}

/**
 * hop_balances_get - one of the balances that were parsed
 * @b: they
 * @i: 0 .. count - 1
 * @key: its key
 *
 * Return: bytes.
 */
__s32 hop_balances_get(const struct hop_balances *b, unsigned int i, __u16 *key)
{
	struct hop_tlv_balance t;

	memcpy(&t, b->data + i * sizeof(t), sizeof(t));
	*key = be16_to_cpu(t.key);
	return be32_to_cpu(t.bytes);
}

/**
 * hop_frame_root - one of a parsed frame's roots
 * @f: the frame
 * @i: 0 .. n_roots - 1
 *
 * Return: the root.
 */
struct hop_told_root hop_frame_root(const struct hop_frame *f, unsigned int i)
{
	struct hop_tlv_root t;

	memcpy(&t, f->roots + i * sizeof(t), sizeof(t));
	return (struct hop_told_root) {
		.queue = be16_to_cpu(t.queue), .id = be16_to_cpu(t.id), .hops = t.hops,
		.more = t.flags & HOP_ROOT_MORE,
	};
}

/**
 * hop_frame_begin - start a frame
 * @w: the writer
 * @buf: where the frame goes
 * @size: bytes there
 * @mine: own epoch
 * @yours: the neighbour's epoch, 0 if unknown
 */
void hop_frame_begin(struct hop_writer *w, void *buf, size_t size, __u32 mine, __u32 yours)
{
	struct hop_frame_hdr hdr = {
		.version	= HOP_VERSION,
		.epoch_mine	= cpu_to_be32(mine),
		.epoch_yours	= cpu_to_be32(yours),
	};

	w->buf = buf;
	w->size = size;
	w->used = 0;
	w->overflow = size < sizeof(hdr);
	if (w->overflow)
		return;
	memcpy(w->buf, &hdr, sizeof(hdr));
	w->used = sizeof(hdr);
}

/* Room for a content of @len bytes, its type and length written; NULL if it does not fit. */
static __u8 *frame_add(struct hop_writer *w, enum hop_tlv type, size_t len)
{
	struct hop_frame_tlv tlv = {
		.type	= cpu_to_be16(type),
		.length	= cpu_to_be16(len),
	};
	__u8 *p = w->buf + w->used;

	if (w->overflow || w->size - w->used < sizeof(tlv) + len) {
		w->overflow = true;
		return NULL;
	}
	memcpy(p, &tlv, sizeof(tlv));
	w->used += sizeof(tlv) + len;
	return p + sizeof(tlv);
}

/**
 * hop_frame_add_hello - add a HELLO
 * @w: the writer
 * @h: the content
 *
 * Return: false if it did not fit.
 */
bool hop_frame_add_hello(struct hop_writer *w, const struct hop_hello *h)
{
	struct hop_tlv_hello t = {
		.role		= h->role,
		.flags		= h->flags,
		.kinds		= cpu_to_be16(h->kinds),
		.queues		= cpu_to_be16(h->queues),
		.tpid		= cpu_to_be16(h->tpid),
		.ring_ns	= cpu_to_be32(h->ring_ns),
		.sent_ns	= cpu_to_be64(h->sent_ns),
		.echo_ns	= cpu_to_be64(h->echo_ns),
		.held_ns	= cpu_to_be64(h->held_ns),
	};
	__u8 *p = frame_add(w, HOP_TLV_HELLO, sizeof(t));

	if (p)
		memcpy(p, &t, sizeof(t));
	return p;
}

/**
 * hop_frame_add_state - add a told state
 * @w: the writer
 * @slot: which one
 * @seq: its sequence number
 * @lease_ns: how long it lasts
 * @first: first page
 * @count: pages
 *
 * Return: where the pages go, NULL if they do not fit.
 */
__u8 *hop_frame_add_state(struct hop_writer *w, enum hop_slot slot, __u32 seq, __u32 lease_ns,
			  __u16 first, __u16 count)
{
	struct hop_tlv_pause_state t = {
		.seq		= cpu_to_be32(seq),
		.lease_ns	= cpu_to_be32(lease_ns),
		.first_word	= cpu_to_be16(first),
		.count		= cpu_to_be16(count),
	};
	__u8 *p = frame_add(w, told_states[slot].type, sizeof(t) + count * sizeof(__be64));

	if (!p)
		return NULL;
	memcpy(p, &t, sizeof(t));
	return p + sizeof(t);
}

/**
 * hop_frame_put_words - write pages
 * @p: what hop_frame_add_state() returned
 * @words: the words, host byte order
 * @count: how many
 */
void hop_frame_put_words(__u8 *p, const __u64 *words, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		__be64 word = cpu_to_be64(words[i]);

		memcpy(p + i * sizeof(word), &word, sizeof(word));
	}
}

/**
 * hop_frame_add_ack - acknowledge a told state
 * @w: the writer
 * @slot: which one
 * @seq: sequence number of the last one taken
 *
 * Return: false if it did not fit.
 */
bool hop_frame_add_ack(struct hop_writer *w, enum hop_slot slot, __u32 seq)
{
	struct hop_tlv_ack t = { .seq = cpu_to_be32(seq) };
	__u8 *p = frame_add(w, told_states[slot].type + 1, sizeof(t));

	if (p)
		memcpy(p, &t, sizeof(t));
	return p;
}

/**
 * hop_frame_add_probe - add a PROBE or its echo
 * @w: the writer
 * @type: HOP_TLV_PROBE or HOP_TLV_PROBE_ECHO
 * @probe: the content
 *
 * Return: false if it did not fit.
 */
bool hop_frame_add_probe(struct hop_writer *w, enum hop_tlv type, const struct hop_probe *probe)
{
	struct hop_tlv_probe t = {
		.nonce	= cpu_to_be32(probe->nonce),
		.vid	= cpu_to_be16(probe->vid),
		.size	= cpu_to_be16(probe->size),
	};
	__u8 *p = frame_add(w, type, sizeof(t));

	if (p)
		memcpy(p, &t, sizeof(t));
	return p;
}

/**
 * hop_frame_add_goodbye - add a GOODBYE
 * @w: the writer
 *
 * Return: false if it did not fit.
 */
bool hop_frame_add_goodbye(struct hop_writer *w)
{
	return frame_add(w, HOP_TLV_GOODBYE, 0);
}

/**
 * hop_frame_add_end - add an END
 * @w: the writer
 * @e: the content, but for its keys
 * @keys: they, host byte order
 *
 * Return: false if it did not fit.
 */
bool hop_frame_add_end(struct hop_writer *w, const struct hop_end *e, const __u16 *keys)
{
	struct hop_tlv_end t = {
		.block	= cpu_to_be32(e->block),
		.lane	= cpu_to_be16(e->lane),
		.lanes	= cpu_to_be16(e->lanes),
		.count	= cpu_to_be16(e->count),
	};
	__u8 *p = frame_add(w, HOP_TLV_END, sizeof(t) + e->count * sizeof(__be16));
	unsigned int i;

	if (!p)
		return false;
	memcpy(p, &t, sizeof(t));
	for (i = 0; i < e->count; i++) {
		__be16 key = cpu_to_be16(keys[i]);

		memcpy(p + sizeof(t) + i * sizeof(key), &key, sizeof(key));
	}
	return true;
}

/**
 * hop_frame_add_balances - say which block is complete
 * @w: the writer
 * @block: its number
 * @count: balances that go with it
 *
 * Return: where they go (hop_frame_put_balance()), NULL if they do not fit.
 */
__u8 *hop_frame_add_balances(struct hop_writer *w, __u32 block, __u16 count)
{
	struct hop_tlv_balances t = {
		.block	= cpu_to_be32(block),
		.count	= cpu_to_be16(count),
	};
	__u8 *p = frame_add(w, HOP_TLV_BALANCES,
			    sizeof(t) + count * sizeof(struct hop_tlv_balance));

	if (!p)
		return NULL;
	memcpy(p, &t, sizeof(t));
	return p + sizeof(t);
}

/**
 * hop_frame_balances_bytes - what balances take of a frame
 * @count: how many
 *
 * Return: bytes.
 */
unsigned int hop_frame_balances_bytes(unsigned int count)
{
	return sizeof(struct hop_frame_tlv) + sizeof(struct hop_tlv_balances) +
	       count * sizeof(struct hop_tlv_balance);
}

/**
 * hop_frame_balances_room - how many balances a frame has room for
 * @w: the writer
 *
 * Return: so many that HOP_FRAME_REST is left for all else, HOP_FRAME_BALANCES at most.
 */
unsigned int hop_frame_balances_room(const struct hop_writer *w)
{
	unsigned int count = HOP_FRAME_BALANCES;

	while (count && w->used + hop_frame_balances_bytes(count) + HOP_FRAME_REST > w->size)
		count--;
	return count;
}

/**
 * hop_frame_put_balance - write a balance
 * @p: what hop_frame_add_balances() returned
 * @i: 0 .. count - 1
 * @key: its key
 * @bytes: it
 */
void hop_frame_put_balance(__u8 *p, unsigned int i, __u16 key, __s32 bytes)
{
	struct hop_tlv_balance t = {
		.key	= cpu_to_be16(key),
		.bytes	= cpu_to_be32(bytes),
	};

	memcpy(p + i * sizeof(t), &t, sizeof(t));
}

/**
 * hop_frame_add_roots - add a PAUSE ROOTS
 * @w: the writer
 * @count: roots
 *
 * Return: where they go, NULL if they do not fit.
 */
__u8 *hop_frame_add_roots(struct hop_writer *w, unsigned int count)
{
	return frame_add(w, HOP_TLV_PAUSE_ROOTS, count * sizeof(struct hop_tlv_root));
}

/**
 * hop_frame_roots_bytes - what a PAUSE ROOTS takes of a frame
 * @count: roots
 *
 * Return: bytes.
 */
unsigned int hop_frame_roots_bytes(unsigned int count)
{
	return sizeof(struct hop_frame_tlv) + count * sizeof(struct hop_tlv_root);
}

/**
 * hop_frame_put_root - write a root
 * @p: what hop_frame_add_roots() returned
 * @i: which one
 * @r: the root
 */
void hop_frame_put_root(__u8 *p, unsigned int i, const struct hop_told_root *r)
{
	struct hop_tlv_root t = {
		.queue	= cpu_to_be16(r->queue),
		.id	= cpu_to_be16(r->id),
		.hops	= r->hops,
		.flags	= r->more ? HOP_ROOT_MORE : 0,
	};

	memcpy(p + i * sizeof(t), &t, sizeof(t));
}

/**
 * hop_frame_end - close a frame
 * @w: the writer
 *
 * Return: bytes from the header to the end of the last content, 0 if something did not fit.
 */
size_t hop_frame_end(struct hop_writer *w)
{
	__be16 length;

	if (w->overflow)
		return 0;
	length = cpu_to_be16(w->used - sizeof(struct hop_frame_hdr));
	memcpy(w->buf + offsetof(struct hop_frame_hdr, length), &length, sizeof(length));
	return w->used;
}
