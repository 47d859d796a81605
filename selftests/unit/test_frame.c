// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_frame.c - the codec of control frames
 *
 * In the order of kernel/hopctl/frame.c: what is accepted, what is refused and why, for each
 * content of the protocol's table (content_gen.h), what is written. Then frames at random
 * (frame_gen.h), the same in every run: what the writer writes the parser reads back, and the fuzz
 * target takes 1.5 million inputs that are damaged or never were frames, and those that libFuzzer
 * has found (corpus/).
 */
#include <dirent.h>

#include "fuzz_frame.c"
#include "frame_gen.h"
#include "content_gen.h"
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
	check(hello_equal(&f.hello, &full_hello), "HELLO");
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

static void test_header(void)
{
	__u8 buf[HOP_FRAME_MAX];
	struct hop_frame f;
	size_t len = full_frame(buf);

	buf[0] = 2;
	check(hop_frame_parse(buf, len, &f) == HOP_FRAME_VERSION, "another version");
	check(hop_frame_parse(buf, 1, &f) == HOP_FRAME_VERSION, "its length is not judged");
	buf[0] = 1;
	memset(buf + 4, 0, 4);
	check(hop_frame_parse(buf, len, &f) == HOP_FRAME_MALFORMED, "epoch 0");
}

#define ROUNDS	100	/* of each variant of each fault, with other values */

static const enum hop_frame_error verdicts[] = {
	[CONTENT_GOOD] = HOP_FRAME_OK, [CONTENT_LONGER] = HOP_FRAME_OK,
	[CONTENT_SHORT] = HOP_FRAME_MALFORMED, [CONTENT_COUNT] = HOP_FRAME_MALFORMED,
	[CONTENT_RANGE] = HOP_FRAME_RANGE, [CONTENT_SEVERAL] = HOP_FRAME_OK,
	[CONTENT_OFTEN] = HOP_FRAME_MALFORMED,
};

/* Bytes that nobody knows change nothing of what is understood. */
static bool longer_is_same(const __u8 *buf, size_t len, const struct hop_frame *f, size_t more)
{
	__u8 less[HOP_FRAME_MAX];
	struct hop_frame g;

	memcpy(less, buf, len);
	gen_put(less + 2, 2, len - CONTENT_HEAD - more);
	gen_put(less + CONTENT_HEAD + 2, 2, len - CONTENT_HEAD - 4 - more);
	return hop_frame_parse(less, len - more, &g) == HOP_FRAME_OK && frame_equal(f, &g);
}

/* In a block of its own, so that one byte too far is seen */
static bool content_judged(const struct content *c, enum content_fault fault, unsigned int variant,
			   unsigned int *frames)
{
	__u8 buf[CONTENT_FRAME_MAX], *exact;
	struct hop_frame f;
	bool ok;
	size_t len = content_frame(buf, c, fault, variant, 1 + gen_below(1000), gen64());

	if (!len)
		return true;
	++*frames;
	exact = malloc(len);
	memcpy(exact, buf, len);
	ok = hop_frame_parse(exact, len, &f) == verdicts[fault];
	if (ok && verdicts[fault] == HOP_FRAME_OK)
		ok = f.has == 1ULL << c->type;
	if (ok && fault == CONTENT_LONGER)
		ok = longer_is_same(exact, len, &f, variant + 1);
	if (ok && fault == CONTENT_SEVERAL)
		ok = f.n_told == variant + 2;
	free(exact);
	return ok;
}

/* Each fault of each content, as the table in the document of the protocol has them. */
static void test_contents(void)
{
	unsigned int fault, variant, round, i, bad, frames;
	char what[200];

	for (fault = 0; fault < CONTENT_FAULTS; fault++) {
		bad = frames = 0;
		for (i = 0; i < CONTENTS; i++) {
			for (variant = 0; variant < CONTENT_VARIANTS; variant++) {
				for (round = 0; round < ROUNDS; round++) {
					if (content_judged(&contents[i], fault, variant, &frames))
						continue;
					if (!bad++)
						printf("# %s, %s, variant %u\n", contents[i].name,
						       content_fault_names[fault], variant);
				}
			}
		}
		snprintf(what, sizeof(what), "each content, %s", content_fault_names[fault]);
		printf("# %s: %u frames, wrongly judged %u\n", what, frames, bad);
		check(frames && !bad, what);
	}
}

/* What is not in the table is skipped, whatever is in it. */
static void test_unknown(void)
{
	struct content other = {};
	__u8 v[300], buf[400], *end;
	struct hop_frame f;
	unsigned int i, k;
	bool ok = true;
	size_t len;

	for (other.type = 65535; other.type; other.type--) {
		for (k = 0; k < CONTENTS && contents[k].type != other.type; k++)
			;
		if (k < CONTENTS)
			continue;
		for (k = 0; k < 300; k += 1 + gen_below(60)) {
			for (i = 0; i < k; i++)
				v[i] = gen_below(2) ? gen64() : 0;
			end = content_put(buf + CONTENT_HEAD, &other, v, k);
			len = content_head(buf, end, 1, 2);
			ok = ok && hop_frame_parse(buf, len, &f) == HOP_FRAME_OK && !f.has;
		}
	}
	check(ok, "each type that is not in the table is skipped");
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

/* Whoever adds something is told whether it fits, where it just does and where it just does not. */
static void test_room(void)
{
	enum { HELLO, STATE, ACK, PROBE, GOODBYE, END, BALANCES, ROOTS, KINDS };
	struct hop_writer w;
	__u8 buf[HOP_FRAME_MAX];
	size_t takes, less;
	bool fits, ok = true;
	int what;

	for (what = 0; what < KINDS; what++)
		for (takes = sizeof(buf), less = 0; less < 2; less++) {
			hop_frame_begin(&w, buf, takes - less, 1, 2);
			fits = what == HELLO ? hop_frame_add_hello(&w, &full_hello) :
			       what == STATE ?
			       !!hop_frame_add_state(&w, HOP_SLOT_PAUSE, 9, 8000, 3, 1) :
			       what == ACK ? hop_frame_add_ack(&w, HOP_SLOT_PAUSE, 7) :
			       what == PROBE ? hop_frame_add_probe(&w, HOP_TLV_PROBE, &full_probe) :
			       what == GOODBYE ? hop_frame_add_goodbye(&w) :
			       what == END ? hop_frame_add_end(&w, &full_end, full_keys) :
			       what == BALANCES ? !!hop_frame_add_balances(&w, 5, 1) :
						  !!hop_frame_add_roots(&w, 1);
			ok = ok && fits == !less && !w.overflow == fits;
			takes = w.used;
		}
	check(ok, "each content says whether it fits");
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
	setlinebuf(stdout);	/* the target aborts */
	printf("KTAP version 1\n1..%d\n", 40);
	test_layout();
	test_layout_of_blocks();
	test_round_trip();
	test_lengths();
	test_header();
	test_contents();
	test_unknown();
	test_overflow();
	test_room();
	test_random_frames();
	test_random_futures();
	test_damaged(1000000, 10000, false, "a million damaged frames");
	test_damaged(500000, 1000, true, "500000 times any bytes");
	test_corpus();
	return failed || done != 40;
}
