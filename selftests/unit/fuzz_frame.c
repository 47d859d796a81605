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

static void frame_in_range(const struct hop_frame *f)
{
	REQUIRE(f->epoch_mine);
	REQUIRE(!(f->has & ~0x7eU));
	if (hop_frame_has(f, HOP_TLV_HELLO)) {
		REQUIRE(f->hello.role == HOP_ROLE_HOST || f->hello.role == HOP_ROLE_SWITCH);
		REQUIRE(f->hello.queues <= HOP_QUEUES_MAX);
	}
	if (hop_frame_has(f, HOP_TLV_PAUSE_STATE))
		REQUIRE(f->state.count >= 1 &&
			f->state.first_word + f->state.count <= HOP_BITMAP_WORDS);
	if (hop_frame_has(f, HOP_TLV_PROBE))
		REQUIRE(f->probe.vid >= 1 && f->probe.vid <= HOP_QUEUES_MAX);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO))
		REQUIRE(f->echo.vid >= 1 && f->echo.vid <= HOP_QUEUES_MAX);
}

static size_t frame_write(const struct hop_frame *f, void *buf, size_t size)
{
	__u64 words[HOP_BITMAP_WORDS];
	struct hop_writer w;
	unsigned int i;

	hop_frame_begin(&w, buf, size, f->epoch_mine, f->epoch_yours);
	if (hop_frame_has(f, HOP_TLV_HELLO))
		hop_frame_add_hello(&w, &f->hello);
	if (hop_frame_has(f, HOP_TLV_PAUSE_STATE)) {
		for (i = 0; i < f->state.count; i++)
			words[i] = hop_pause_word(&f->state, i);
		hop_frame_add_state(&w, f->state.seq, f->state.lease_ns, f->state.first_word,
				    f->state.count, words);
	}
	if (hop_frame_has(f, HOP_TLV_PAUSE_ACK))
		hop_frame_add_ack(&w, f->ack_seq);
	if (hop_frame_has(f, HOP_TLV_PROBE))
		hop_frame_add_probe(&w, HOP_TLV_PROBE, &f->probe);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO))
		hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &f->echo);
	if (hop_frame_has(f, HOP_TLV_GOODBYE))
		hop_frame_add_goodbye(&w);
	return hop_frame_end(&w);
}

static bool frame_equal(const struct hop_frame *a, const struct hop_frame *b)
{
	unsigned int i;

	if (a->epoch_mine != b->epoch_mine || a->epoch_yours != b->epoch_yours ||
	    a->has != b->has || memcmp(&a->hello, &b->hello, sizeof(a->hello)) ||
	    a->ack_seq != b->ack_seq || memcmp(&a->probe, &b->probe, sizeof(a->probe)) ||
	    memcmp(&a->echo, &b->echo, sizeof(a->echo)) || a->state.seq != b->state.seq ||
	    a->state.lease_ns != b->state.lease_ns ||
	    a->state.first_word != b->state.first_word || a->state.count != b->state.count)
		return false;
	for (i = 0; i < a->state.count; i++)
		if (hop_pause_word(&a->state, i) != hop_pause_word(&b->state, i))
			return false;
	return true;
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
