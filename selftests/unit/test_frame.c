// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_frame.c - the codec of control frames
 *
 * In the order of kernel/hopctl/frame.c: what is accepted, what is refused and why, what is
 * written. Then frames at random (frame_gen.h), the same in every run: what the writer writes the
 * parser reads back, and the fuzz target takes 1.5 million inputs that are damaged or never were
 * frames, and those that libFuzzer has found (corpus/).
 */
#include <dirent.h>

#include "fuzz_frame.c"
#include "frame_gen.h"
#include "unit.h"

#ifndef CORPUS_DIR
#define CORPUS_DIR	"corpus"
#endif

/* A frame with everything in it. */
static struct hop_hello full_hello = {
	.role = HOP_ROLE_SWITCH, .flags = 0x0f, .kinds = HOP_KIND_BFC, .queues = 4094,
	.tpid = 0x88a8, .ring_ns = 0x01020304, .sent_ns = 0x1112131415161718,
	.echo_ns = 0x2122232425262728, .held_ns = 0x3132333435363738,
};
static struct hop_probe full_probe = { .nonce = 0xdeadbeef, .vid = 4094, .size = 1518 };
static __u64 full_words[HOP_BITMAP_WORDS];
static const struct hop_told_root full_roots[2] = {
	{ .queue = 4093, .id = 0xfffe, .hops = HOP_ROOT_HOPS, .more = true }, { .queue = 1 },
};

static const struct hop_end full_end = {
	.block = 0x80000001, .lane = 255, .lanes = 256, .count = 3,
};
static const __u16 full_keys[] = { 0, 4093, 0x0102 };

static size_t full_frame(__u8 *buf)
{
	struct hop_writer w;
	unsigned int i;
	__u8 *to;

	for (i = 0; i < HOP_BITMAP_WORDS; i++)
		full_words[i] = gen64();
	hop_frame_begin(&w, buf, HOP_FRAME_MAX, 0xa1a2a3a4, 0xb1b2b3b4);
	hop_frame_add_hello(&w, &full_hello);
	hop_frame_put_words(hop_frame_add_state(&w, HOP_SLOT_PAUSE, 0xfffffffe, 800000, 0,
						HOP_BITMAP_WORDS), full_words, HOP_BITMAP_WORDS);
	hop_frame_add_ack(&w, HOP_SLOT_PAUSE, 7);
	hop_frame_add_probe(&w, HOP_TLV_PROBE, &full_probe);
	hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, &full_probe);
	hop_frame_add_goodbye(&w);
	hop_frame_add_end(&w, &full_end, full_keys);
	to = hop_frame_add_balances(&w, 0xfffffffe, 2);
	hop_frame_put_balance(to, 0, 4093, -1);
	hop_frame_put_balance(to, 1, 7, 0x7fffffff);
	to = hop_frame_add_roots(&w, 2);
	hop_frame_put_root(to, 0, &full_roots[0]);
	hop_frame_put_root(to, 1, &full_roots[1]);
	return hop_frame_end(&w);
}

/* The layout, byte by byte, as the document of the protocol says. */
static void test_layout(void)
{
	static const __u8 want[] = {
		1, 0, 0, 74,  0xa1, 0xa2, 0xa3, 0xa4,  0xb1, 0xb2, 0xb3, 0xb4,
		0, 1, 0, 40,  2, 0x0f, 0, 1,  0x0f, 0xfe, 0x88, 0xa8,  1, 2, 3, 4,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
		0, 2, 0, 20,  0, 0, 0, 9,  0, 12, 0x35, 0,  0, 3, 0, 1,
		0x80, 0, 0, 0, 0, 0, 0, 1,
		0, 36, 0, 6,  0x0f, 0xfd, 0xff, 0xfe, 16, 1,
	};
	__u64 word = 0x8000000000000001;
	struct hop_hello hello = full_hello;
	struct hop_writer w;
	__u8 buf[128];
	size_t len;

	hop_frame_begin(&w, buf, sizeof(buf), 0xa1a2a3a4, 0xb1b2b3b4);
	hop_frame_add_hello(&w, &hello);
	hop_frame_put_words(hop_frame_add_state(&w, HOP_SLOT_PAUSE, 9, 800000, 3, 1), &word, 1);
	hop_frame_put_root(hop_frame_add_roots(&w, 1), 0, &full_roots[0]);
	len = hop_frame_end(&w);
	/* HELLO is 4 + 36 bytes, PAUSE STATE 4 + 12 + 8, PAUSE ROOTS 4 + 6 */
	check(sizeof(struct hop_tlv_hello) == 36 && len == 12 + 40 + 24 + 10, "sizes");
	check(len > 16 && buf[3] == 74 && buf[15] == 36 && !memcmp(buf, want, 12) &&
	      !memcmp(buf + 16, want + 16, 36), "layout of header and HELLO");
	check(!memcmp(buf + 52, want + 52, 24), "layout of PAUSE STATE");
	check(!memcmp(buf + 76, want + 76, 10), "layout of PAUSE ROOTS");
}

static void test_layout_of_blocks(void)
{
	static const __u8 want[] = {
		0, 8, 0, 16,  0x80, 0, 0, 1,  0, 255, 1, 0,  0, 3,  0, 0,  0x0f, 0xfd,  1, 2,
		0, 9, 0, 12,  0, 0, 0, 5,  0, 1,  0x0f, 0xfd,  0xff, 0xff, 0xfc, 0x18,
	};
	struct hop_writer w;
	__u8 buf[128];
	size_t len;

	hop_frame_begin(&w, buf, sizeof(buf), 1, 2);
	hop_frame_add_end(&w, &full_end, full_keys);
	hop_frame_put_balance(hop_frame_add_balances(&w, 5, 1), 0, 4093, -1000);
	len = hop_frame_end(&w);
	check(len == 12 + sizeof(want) && !memcmp(buf + 12, want, sizeof(want)),
	      "layout of END and BALANCES");
	check(hop_frame_balances_bytes(1) == 16, "what a balance takes");
	w = (struct hop_writer) { .size = 12 + HOP_FRAME_REST + 15, .used = 12 };
	check(!hop_frame_balances_room(&w), "no room for one");
	w.size += 1;
	check(hop_frame_balances_room(&w) == 1, "room for one");
	w.size = HOP_FRAME_MAX;
	check(hop_frame_balances_room(&w) == HOP_FRAME_BALANCES, "never for more than that");
}

static void test_round_trip(void)
{
	__u8 buf[HOP_FRAME_MAX];
	size_t len = full_frame(buf);
	struct hop_frame f;
	unsigned int i;
	bool ok = true;
	__u16 key;

	check(hop_frame_parse(buf, len, &f) == HOP_FRAME_OK && f.has == 0x100000037e,
	      "all contents");
	check(f.epoch_mine == 0xa1a2a3a4 && f.epoch_yours == 0xb1b2b3b4, "epochs");
	check(!memcmp(&f.hello, &full_hello, sizeof(full_hello)), "HELLO");
	check(f.n_told == 2 && f.told[0].slot == HOP_SLOT_PAUSE && !f.told[0].ack &&
	      f.told[0].seq == 0xfffffffe && f.told[0].lease_ns == 800000 && !f.told[0].first &&
	      f.told[0].count == HOP_BITMAP_WORDS, "PAUSE STATE");
	for (i = 0; i < HOP_BITMAP_WORDS; i++)
		ok = ok && hop_told_word(&f.told[0], i) == full_words[i];
	check(ok, "words");
	check(f.told[1].slot == HOP_SLOT_PAUSE && f.told[1].ack && f.told[1].seq == 7, "PAUSE ACK");
	check(f.probe.nonce == 0xdeadbeef && f.probe.vid == 4094 && f.probe.size == 1518 &&
	      !memcmp(&f.probe, &f.echo, sizeof(f.probe)), "probe and echo");
	check(f.end.block == 0x80000001 && f.end.lane == 255 && f.end.lanes == 256 &&
	      f.end.count == 3 && hop_end_key(&f.end, 0) == 0 && hop_end_key(&f.end, 1) == 4093 &&
	      hop_end_key(&f.end, 2) == 0x0102, "END");
	check(f.balances.block == 0xfffffffe && f.balances.count == 2 &&
	      hop_balances_get(&f.balances, 0, &key) == -1 && key == 4093 &&
	      hop_balances_get(&f.balances, 1, &key) == 0x7fffffff && key == 7, "BALANCES");
	check(f.n_roots == 2 && root_equal(hop_frame_root(&f, 0), full_roots[0]) &&
	      root_equal(hop_frame_root(&f, 1), full_roots[1]), "roots");
}

/* Every length from 0 up: refused as long as something is missing, then accepted with any
 * padding.
 */
static void test_lengths(void)
{
	__u8 buf[2 * HOP_FRAME_MAX] = {};
	size_t i, len = full_frame(buf);
	struct hop_frame f;
	bool ok = true;

	for (i = 0; i < len; i++)
		ok = ok && hop_frame_parse(buf, i, &f) == HOP_FRAME_MALFORMED;
	check(ok, "a frame cut short is malformed");
	for (; i <= sizeof(buf); i++)
		ok = ok && hop_frame_parse(buf, i, &f) == HOP_FRAME_OK;
	check(ok, "padding is ignored");
}

/* One content of @type and @len bytes in an otherwise good frame */
static enum hop_frame_error parse_one(__u16 type, __u16 len, const void *value, size_t bytes)
{
	__u8 buf[HOP_FRAME_MAX] = {};
	struct hop_writer w;
	struct hop_frame f;
	__u8 *p;

	hop_frame_begin(&w, buf, sizeof(buf), 1, 0);
	p = frame_add(&w, type, len);
	if (!p)
		return HOP_FRAME_MALFORMED;
	memcpy(p, value, bytes < len ? bytes : len);
	return hop_frame_parse(buf, hop_frame_end(&w), &f);
}

static void test_refusals(void)
{
	struct hop_tlv_hello hello = { .role = HOP_ROLE_HOST };
	struct hop_tlv_pause_state state = { .count = cpu_to_be16(1) };
	struct hop_tlv_probe probe = { .vid = cpu_to_be16(1) };
	struct hop_tlv_end end = { .lanes = cpu_to_be16(1), .count = cpu_to_be16(1) };
	struct hop_tlv_balances balances = { .count = cpu_to_be16(1) };
	struct hop_tlv_root root = { .queue = cpu_to_be16(4093), .flags = 0xfe };
	__u8 buf[HOP_FRAME_MAX], words[12 + 8] = {};
	struct hop_frame f;
	size_t len = full_frame(buf);

	buf[0] = 2;
	check(hop_frame_parse(buf, len, &f) == HOP_FRAME_VERSION, "another version");
	check(hop_frame_parse(buf, 1, &f) == HOP_FRAME_VERSION, "its length is not judged");
	buf[0] = 1;
	memset(buf + 4, 0, 4);
	check(hop_frame_parse(buf, len, &f) == HOP_FRAME_MALFORMED, "epoch 0");

	check(parse_one(HOP_TLV_HELLO, 36, &hello, 36) == HOP_FRAME_OK, "HELLO");
	check(parse_one(HOP_TLV_HELLO, 35, &hello, 36) == HOP_FRAME_MALFORMED, "short HELLO");
	check(parse_one(HOP_TLV_HELLO, 44, &hello, 36) == HOP_FRAME_OK, "longer HELLO");
	hello.role = HOP_ROLE_AUTO;
	check(parse_one(HOP_TLV_HELLO, 36, &hello, 36) == HOP_FRAME_RANGE, "role auto");
	hello.role = 3;
	check(parse_one(HOP_TLV_HELLO, 36, &hello, 36) == HOP_FRAME_RANGE, "role 3");
	hello.role = HOP_ROLE_SWITCH;
	hello.queues = cpu_to_be16(4095);
	check(parse_one(HOP_TLV_HELLO, 36, &hello, 36) == HOP_FRAME_RANGE, "4095 queues");

	memcpy(words, &state, 12);
	check(parse_one(HOP_TLV_PAUSE_STATE, 20, words, 20) == HOP_FRAME_OK, "one word");
	check(parse_one(HOP_TLV_PAUSE_STATE, 19, words, 20) == HOP_FRAME_MALFORMED, "short word");
	check(parse_one(HOP_TLV_PAUSE_STATE, 11, words, 20) == HOP_FRAME_MALFORMED, "no count");
	state.count = 0;
	memcpy(words, &state, 12);
	check(parse_one(HOP_TLV_PAUSE_STATE, 20, words, 20) == HOP_FRAME_RANGE, "no words");
	state.count = cpu_to_be16(1);
	state.first_word = cpu_to_be16(64);
	memcpy(words, &state, 12);
	check(parse_one(HOP_TLV_PAUSE_STATE, 20, words, 20) == HOP_FRAME_RANGE, "word 64");
	state.first_word = cpu_to_be16(65535);
	memcpy(words, &state, 12);
	check(parse_one(HOP_TLV_PAUSE_STATE, 20, words, 20) == HOP_FRAME_RANGE, "word 65535");

	check(parse_one(HOP_TLV_PAUSE_ACK, 3, "", 1) == HOP_FRAME_MALFORMED, "short ack");
	check(parse_one(HOP_TLV_PROBE, 8, &probe, 8) == HOP_FRAME_OK, "probe");
	check(parse_one(HOP_TLV_PROBE, 7, &probe, 8) == HOP_FRAME_MALFORMED, "short probe");
	probe.vid = 0;
	check(parse_one(HOP_TLV_PROBE, 8, &probe, 8) == HOP_FRAME_RANGE, "VLAN id 0");
	probe.vid = cpu_to_be16(4095);
	check(parse_one(HOP_TLV_PROBE_ECHO, 8, &probe, 8) == HOP_FRAME_RANGE, "VLAN id 4095");
	check(parse_one(HOP_TLV_GOODBYE, 0, "", 0) == HOP_FRAME_OK, "GOODBYE");
	state.first_word = cpu_to_be16(63);
	memcpy(words, &state, 12);
	check(parse_one(HOP_TLV_EXAMPLE_STATE, 20, words, 20) == HOP_FRAME_OK, "another told state");
	check(parse_one(HOP_TLV_EXAMPLE_STATE, 19, words, 20) == HOP_FRAME_MALFORMED, "a short one");
	check(parse_one(HOP_TLV_EXAMPLE_ACK, 3, "", 1) == HOP_FRAME_MALFORMED, "its ack, too short");
	check(parse_one(HOP_TLV_END, 12, &end, 10) == HOP_FRAME_OK, "END that asks for one key");
	check(parse_one(HOP_TLV_END, 11, &end, 10) == HOP_FRAME_MALFORMED, "for a key that is cut");
	check(parse_one(HOP_TLV_END, 9, &end, 10) == HOP_FRAME_MALFORMED, "short END");
	end.lane = cpu_to_be16(1);
	check(parse_one(HOP_TLV_END, 12, &end, 10) == HOP_FRAME_RANGE, "lane 1 of 1");
	end.lanes = cpu_to_be16(257);
	check(parse_one(HOP_TLV_END, 12, &end, 10) == HOP_FRAME_RANGE, "257 lanes");
	end.lane = end.lanes = 0;
	check(parse_one(HOP_TLV_END, 12, &end, 10) == HOP_FRAME_RANGE, "no lanes");
	check(parse_one(HOP_TLV_BALANCES, 12, &balances, 6) == HOP_FRAME_OK, "a balance");
	check(parse_one(HOP_TLV_BALANCES, 11, &balances, 6) == HOP_FRAME_MALFORMED, "cut");
	check(parse_one(HOP_TLV_BALANCES, 5, &balances, 6) == HOP_FRAME_MALFORMED, "none");
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 6, &root, 6) == HOP_FRAME_OK, "a root");
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 5, &root, 6) == HOP_FRAME_MALFORMED, "a short one");
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 11, &root, 6) == HOP_FRAME_OK, "and some bytes");
	root.hops = 16;
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 6, &root, 6) == HOP_FRAME_OK, "16 hops");
	root.hops = 17;
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 6, &root, 6) == HOP_FRAME_RANGE, "17 hops");
	root.hops = 0;
	root.queue = cpu_to_be16(4094);
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 6, &root, 6) == HOP_FRAME_RANGE, "sub-queue 4094");
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 5 + 6, (__u8[11]) { [6] = 0xff, 0xff }, 11) ==
	      HOP_FRAME_OK, "nothing behind the last whole one is read");
	check(parse_one(HOP_TLV_PAUSE_ROOTS, 12, (__u8[12]) { [6] = 0xff, 0xff }, 12) ==
	      HOP_FRAME_RANGE, "the second one is judged, too");
	check(parse_one(0, 5, "", 1) == HOP_FRAME_OK, "type 0 is skipped");
	check(parse_one(7, 1000, "", 1) == HOP_FRAME_OK, "type 7 is skipped");
	check(parse_one(65535, 0, "", 0) == HOP_FRAME_OK, "type 65535 is skipped");
}

static void test_twice(void)
{
	struct hop_writer w;
	__u8 buf[256];
	struct hop_frame f;

	hop_frame_begin(&w, buf, sizeof(buf), 1, 2);
	hop_frame_add_ack(&w, HOP_SLOT_PAUSE, 1);
	hop_frame_add_ack(&w, HOP_SLOT_PAUSE, 1);
	check(hop_frame_parse(buf, hop_frame_end(&w), &f) == HOP_FRAME_MALFORMED,
	      "a content twice");
	hop_frame_begin(&w, buf, sizeof(buf), 1, 2);
	hop_frame_put_root(hop_frame_add_roots(&w, 1), 0, &full_roots[1]);
	hop_frame_put_root(hop_frame_add_roots(&w, 1), 0, &full_roots[1]);
	check(hop_frame_parse(buf, hop_frame_end(&w), &f) == HOP_FRAME_MALFORMED,
	      "one of a number beyond 32 twice");
}

/* Every size of buffer: nothing is written beyond it, and nothing half. */
static void test_overflow(void)
{
	__u8 big[HOP_FRAME_MAX];
	size_t size, len = full_frame(big);
	struct hop_frame f, g;
	bool ok = true;

	hop_frame_parse(big, len, &f);
	for (size = 0; size <= len; size++) {
		__u8 *buf = malloc(size ? size : 1);
		size_t used = frame_write(&f, buf, size);

		ok = ok && (size < len ? used == 0 : used == len);
		if (used)
			ok = ok && hop_frame_parse(buf, used, &g) == HOP_FRAME_OK;
		free(buf);
	}
	check(ok, "a frame that does not fit is not written");
	{
		struct hop_writer w;

		hop_frame_begin(&w, big, sizeof(struct hop_frame_hdr), 1, 2);
		check(hop_frame_end(&w) == sizeof(struct hop_frame_hdr), "a frame without contents fits where it just does");
	}
}

/* What was written is what is read: every field, in any order of the contents. */
static void test_random_frames(void)
{
	__u8 buf[HOP_FRAME_MAX];
	struct hop_frame f, g;
	unsigned int i;
	bool ok = true;
	size_t len;

	for (i = 0; i < 300000; i++) {
		len = gen_frame(&f, buf);
		ok = ok && len && hop_frame_parse(buf, len, &g) == HOP_FRAME_OK &&
		     frame_equal(&f, &g);
	}
	check(ok, "300000 frames at random are read as they were written");
}

/* A frame stays good with a longer value of a known type, a type that is not known, padding. */
static void test_random_futures(void)
{
	__u8 buf[HOP_FRAME_MAX], *p;
	struct hop_frame f, g;
	struct hop_writer w;
	unsigned int i, n;
	bool ok = true;
	size_t len;

	for (i = 0; i < 100000; i++) {
		memset(&f, 0, sizeof(f));
		gen_probe(&f.probe);
		f.has = 1U << HOP_TLV_PROBE;
		f.epoch_mine = gen64() | 1;
		memset(buf, gen64(), sizeof(buf));
		hop_frame_begin(&w, buf, sizeof(buf), f.epoch_mine, 0);
		frame_add(&w, HOP_TLV_PAUSE_ROOTS + 1 + gen_below(65000), gen_below(300));
		hop_frame_add_probe(&w, HOP_TLV_PROBE, &f.probe);
		p = w.buf + w.used - sizeof(struct hop_tlv_probe) - 2;
		n = gen_below(300);
		gen_put(p, 2, sizeof(struct hop_tlv_probe) + n);
		w.used += n;
		len = hop_frame_end(&w) + gen_below(300);
		ok = ok && hop_frame_parse(buf, len, &g) == HOP_FRAME_OK && frame_equal(&f, &g);
	}
	check(ok, "100000 frames with what is to come are read as they are understood");
}

/* Each verdict has to be common, or the inputs are not what they are meant to be. */
static void test_damaged(unsigned int count, unsigned int least, bool bytes, const char *what)
{
	unsigned int i, verdicts[HOP_FRAME_RANGE + 1] = {};
	__u8 buf[HOP_FRAME_MAX + 100];
	struct hop_frame f;
	bool ok = true;
	size_t len;

	for (i = 0; i < count; i++) {
		if (bytes)
			len = gen_bytes(buf, sizeof(buf));
		else
			len = gen_damage(buf, gen_frame(&f, buf), sizeof(buf));
		LLVMFuzzerTestOneInput(buf, len);
		verdicts[hop_frame_parse(buf, len, &f)]++;
	}
	for (i = HOP_FRAME_OK; i <= HOP_FRAME_RANGE; i++)
		ok = ok && verdicts[i] > least;
	printf("# %u good, %u malformed, %u of another version, %u out of range\n",
	       verdicts[HOP_FRAME_OK], verdicts[HOP_FRAME_MALFORMED],
	       verdicts[HOP_FRAME_VERSION], verdicts[HOP_FRAME_RANGE]);
	check(ok, what);
}

static void test_corpus(void)
{
	DIR *dir = opendir(CORPUS_DIR);
	__u8 buf[2 * HOP_FRAME_MAX];
	struct dirent *entry;
	unsigned int n = 0;
	char path[1024];
	size_t len;
	FILE *file;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", CORPUS_DIR, entry->d_name);
		file = fopen(path, "r");
		if (!file)
			break;
		len = fread(buf, 1, sizeof(buf), file);
		fclose(file);
		LLVMFuzzerTestOneInput(buf, len);
		n++;
	}
	if (dir)
		closedir(dir);
	printf("# %u files\n", n);
	check(n >= 10, "what libFuzzer has found");
}

int main(void)
{
	printf("KTAP version 1\n1..%d\n", 74);
	test_layout();
	test_layout_of_blocks();
	test_round_trip();
	test_lengths();
	test_refusals();
	test_twice();
	test_overflow();
	test_random_frames();
	test_random_futures();
	test_damaged(1000000, 10000, false, "a million damaged frames");
	test_damaged(500000, 1000, true, "500000 times any bytes");
	test_corpus();
	return failed || done != 74;
}
