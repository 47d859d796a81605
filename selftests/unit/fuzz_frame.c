// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_frame.c - libFuzzer target of the control frame codec
 *
 *	make fuzz SECONDS=60		at the top
 *
 * Whatever the bytes are, the parser reads none outside of them, and what it lets through is in
 * range and survives being written and parsed again. test_frame.c runs the same function on
 * its own mutations where there is no libFuzzer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/hopctl/frame.c"

#define REQUIRE(cond)							\
do {									\
	if (!(cond)) {							\
		fprintf(stderr, "line %d: %s\n", __LINE__, #cond);	\
		abort();						\
	}								\
} while (0)

static size_t told_bytes(const struct hop_told *t)
{
	return t->count * sizeof(__be64);
}

static void frame_in_range(const struct hop_frame *f)
{
	unsigned int i;

	REQUIRE(f->epoch_mine);
	REQUIRE(!(f->has & ~(0xc000037eULL | 1ULL << HOP_TLV_PAUSE_ROOTS)));
	if (hop_frame_has(f, HOP_TLV_HELLO)) {
		REQUIRE(f->hello.role == HOP_ROLE_HOST || f->hello.role == HOP_ROLE_SWITCH);
		REQUIRE(f->hello.queues <= HOP_QUEUES_MAX);
	}
	REQUIRE(f->n_told <= HOP_FRAME_TOLD);
	for (i = 0; i < f->n_told; i++) {
		const struct hop_told *t = &f->told[i];

		REQUIRE(t->slot < HOP_SLOTS);
		REQUIRE(t->ack || (t->count && t->first + t->count <= told_states[t->slot].pages));
	}
	if (hop_frame_has(f, HOP_TLV_END))
		REQUIRE(f->end.lane < f->end.lanes && f->end.lanes <= HOP_FRAME_LANES);
	if (hop_frame_has(f, HOP_TLV_PROBE))
		REQUIRE(f->probe.vid >= 1 && f->probe.vid <= HOP_QUEUES_MAX);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO))
		REQUIRE(f->echo.vid >= 1 && f->echo.vid <= HOP_QUEUES_MAX);
	REQUIRE(!f->n_roots == !hop_frame_has(f, HOP_TLV_PAUSE_ROOTS));
	for (i = 0; i < f->n_roots; i++) {
		REQUIRE(hop_frame_root(f, i).queue < HOP_QUEUES_MAX);
		REQUIRE(hop_frame_root(f, i).hops <= HOP_ROOT_HOPS);
	}
}

static void balances_write(struct hop_writer *w, const struct hop_balances *b)
{
	__u8 *to = hop_frame_add_balances(w, b->block, b->count);
	unsigned int i;
	__s32 bytes;
	__u16 key;

	for (i = 0; to && i < b->count; i++) {
		bytes = hop_balances_get(b, i, &key);
		hop_frame_put_balance(to, i, key, bytes);
	}
}

static void end_write(struct hop_writer *w, const struct hop_end *e)
{
	static __u16 keys[HOP_FRAME_MAX / sizeof(__u16)];
	unsigned int i;

	for (i = 0; i < e->count; i++)
		keys[i] = hop_end_key(e, i);
	hop_frame_add_end(w, e, keys);
}

static size_t frame_write(const struct hop_frame *f, void *buf, size_t size)
{
	struct hop_writer w;
	unsigned int i;
	__u8 *to;

	hop_frame_begin(&w, buf, size, f->epoch_mine, f->epoch_yours);
	if (hop_frame_has(f, HOP_TLV_HELLO))
		hop_frame_add_hello(&w, &f->hello);
	for (i = 0; i < f->n_told; i++) {
		const struct hop_told *t = &f->told[i];

		if (t->ack) {
			hop_frame_add_ack(&w, t->slot, t->seq);
			continue;
		}
		to = hop_frame_add_state(&w, t->slot, t->seq, t->lease_ns, t->first, t->count);
		if (to)
			memcpy(to, t->data, told_bytes(t));
	}
	if (hop_frame_has(f, HOP_TLV_PROBE))
		hop_frame_add_probe(&w, HOP_TLV_PROBE, &f->probe);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO))
		hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &f->echo);
	if (hop_frame_has(f, HOP_TLV_GOODBYE))
		hop_frame_add_goodbye(&w);
	if (hop_frame_has(f, HOP_TLV_END))
		end_write(&w, &f->end);
	if (hop_frame_has(f, HOP_TLV_BALANCES))
		balances_write(&w, &f->balances);
	to = f->n_roots ? hop_frame_add_roots(&w, f->n_roots) : NULL;
	for (i = 0; to && i < f->n_roots; i++) {
		struct hop_told_root r = hop_frame_root(f, i);

		hop_frame_put_root(to, i, &r);
	}
	return hop_frame_end(&w);
}

static bool hello_equal(const struct hop_hello *a, const struct hop_hello *b)
{
	return a->role == b->role && a->flags == b->flags && a->kinds == b->kinds &&
	       a->queues == b->queues && a->tpid == b->tpid && a->ring_ns == b->ring_ns &&
	       a->sent_ns == b->sent_ns && a->echo_ns == b->echo_ns && a->held_ns == b->held_ns;
}

static bool told_equal(const struct hop_told *a, const struct hop_told *b)
{
	if (a->slot != b->slot || a->ack != b->ack || a->seq != b->seq)
		return false;
	return a->ack || (a->lease_ns == b->lease_ns && a->first == b->first &&
			  a->count == b->count && !memcmp(a->data, b->data, told_bytes(a)));
}

static bool end_equal(const struct hop_end *a, const struct hop_end *b)
{
	return a->block == b->block && a->lane == b->lane && a->lanes == b->lanes &&
	       a->count == b->count && !memcmp(a->keys, b->keys, a->count * sizeof(__u16));
}

static bool balances_equal(const struct hop_balances *a, const struct hop_balances *b)
{
	return a->block == b->block && a->count == b->count &&
	       !memcmp(a->data, b->data, a->count * sizeof(struct hop_tlv_balance));
}

static bool root_equal(struct hop_told_root a, struct hop_told_root b)
{
	return a.queue == b.queue && a.id == b.id && a.hops == b.hops && a.more == b.more;
}

static bool frame_equal(const struct hop_frame *a, const struct hop_frame *b)
{
	unsigned int i;

	if (a->epoch_mine != b->epoch_mine || a->epoch_yours != b->epoch_yours ||
	    a->has != b->has || a->n_told != b->n_told || a->n_roots != b->n_roots)
		return false;
	if (hop_frame_has(a, HOP_TLV_HELLO) && !hello_equal(&a->hello, &b->hello))
		return false;
	if (hop_frame_has(a, HOP_TLV_PROBE) && memcmp(&a->probe, &b->probe, sizeof(a->probe)))
		return false;
	if (hop_frame_has(a, HOP_TLV_PROBE_ECHO) && memcmp(&a->echo, &b->echo, sizeof(a->echo)))
		return false;
	for (i = 0; i < a->n_told; i++)
		if (!told_equal(&a->told[i], &b->told[i]))
			return false;
	for (i = 0; i < a->n_roots; i++)
		if (!root_equal(hop_frame_root(a, i), hop_frame_root(b, i)))
			return false;
	return (!hop_frame_has(a, HOP_TLV_END) || end_equal(&a->end, &b->end)) &&
	       (!hop_frame_has(a, HOP_TLV_BALANCES) || balances_equal(&a->balances, &b->balances));
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char again[HOP_FRAME_MAX];
	struct hop_frame f, g;
	unsigned char *exact;
	size_t len;

	/* a block of its own, so that one byte too far is seen */
	exact = malloc(size ? size : 1);
	if (!exact)
		return 0;
	memcpy(exact, data, size);
	if (hop_frame_parse(exact, size, &f) == HOP_FRAME_OK) {
		frame_in_range(&f);
		len = frame_write(&f, again, sizeof(again));
		REQUIRE(len >= sizeof(struct hop_frame_hdr) && len <= size);
		REQUIRE(hop_frame_parse(again, len, &g) == HOP_FRAME_OK);
		REQUIRE(frame_equal(&f, &g));
	}
	free(exact);
	return 0;
}
