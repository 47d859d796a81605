// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_cnp.c - the codec of congestion notification packets
 *
 * The layout byte by byte, what is refused and why, and the fuzz target on two million inputs
 * that are damaged or never were CNPs.
 */
#include "fuzz_cnp.c"
#include "unit.h"

static struct cnp sample(bool v6, __u8 code)
{
	struct cnp c = {
		.code = code, .key = 2, .queue = 0x0102, .rate = 0x11121314, .port = 0x21222324,
		.epoch = 0x3132333435363738, .sequence = 0x41424344, .interval = 0x61626364,
		.gap = 0x71727374, .rate_min = 0x01020304, .tag = 0x5152535455565758,
		.flow = { .v6 = v6, .proto = 6, .l4 = { 0x1f, 0x90, 0, 80, 1, 2, 3, 4 } },
	};
	int i;

	for (i = 0; i < 16; i++)
		c.address[i] = 0xa0 + i;
	for (i = 0; i < (v6 ? 16 : 4); i++) {
		c.flow.saddr[i] = 0x10 + i;
		c.flow.daddr[i] = 0x80 + i;
	}
	if (code == ROCC_CNP_QUEUE)
		c.state = (struct cnp_queue){ 1, 40000000, 5120000, 25600000, 1, 2, 150000,
					      300000, 360000 };
	return c;
}

static void test_layout(void)
{
	static const __u8 v4[] = {
		253, 0, 0, 0,  0x11, 0x12, 0x13, 0x14,  2, 2, 1, 2,  0x21, 0x22, 0x23, 0x24,
		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
		0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,  0x41, 0x42, 0x43, 0x44,
		0x61, 0x62, 0x63, 0x64,  0x71, 0x72, 0x73, 0x74,  1, 2, 3, 4,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
		0x45, 0, 0, 28,  0, 0, 0, 0,  64, 6, 0, 0,
		0x10, 0x11, 0x12, 0x13,  0x80, 0x81, 0x82, 0x83,
		0x1f, 0x90, 0, 80,  1, 2, 3, 4,
	};
	static const __u8 queue[] = {
		1, 0, 0, 0,  2, 0x62, 0x5a, 0,
		0, 0, 0, 0, 0, 0x4e, 0x20, 0,  0, 0, 0, 0, 1, 0x86, 0xa0, 0,
		0, 0, 0, 1,  0, 0, 0, 2,  0, 2, 0x49, 0xf0,  0, 4, 0x93, 0xe0,  0, 5, 0x7e, 0x40,
	};
	struct cnp c = sample(false, ROCC_CNP_RATE);
	__u8 buf[CNP_MAX];

	check(cnp_write(buf, sizeof(buf), &c) == sizeof(v4) && !memcmp(buf, v4, sizeof(v4)),
	      "IPv4, a rate: the layout");
	c = sample(false, ROCC_CNP_QUEUE);
	check(cnp_write(buf, sizeof(buf), &c) == sizeof(v4) + sizeof(queue) && buf[1] == 1 &&
	      !memcmp(buf + 64, queue, sizeof(queue)) &&
	      !memcmp(buf + 64 + sizeof(queue), v4 + 64, sizeof(v4) - 64), "IPv4, a queue: the layout");
	c = sample(true, ROCC_CNP_RATE);
	check(cnp_write(buf, sizeof(buf), &c) == 112 && buf[0] == 200 && buf[64] == 0x60 &&
	      buf[70] == 6 && buf[72] == 0x10 && buf[88] == 0x80 &&
	      !memcmp(buf + 104, c.flow.l4, 8),
	      "IPv6, a rate: the layout");
}

static void test_round(void)
{
	__u8 buf[CNP_MAX];
	struct cnp c, d;
	bool ok = true;
	size_t len;
	int i;

	for (i = 0; i < 4; i++) {
		c = sample(i & 1, i >> 1);
		len = cnp_write(buf, sizeof(buf), &c);
		memset(&d, 0, sizeof(d));
		ok &= cnp_parse(buf, len, i & 1, &d) == CNP_OK && !memcmp(&c, &d, sizeof(c));
		ok &= cnp_parse(buf, len, !(i & 1), &d) == CNP_MALFORMED;
		ok &= cnp_parse(buf, len - 1, i & 1, &d) == CNP_MALFORMED;
		ok &= !cnp_write(buf, len - 1, &c);
	}
	check(ok, "what is written is read, whole and for its IP version only");
}

static enum cnp_error with(size_t at, __u8 value)
{
	struct cnp c = sample(false, ROCC_CNP_QUEUE), d;
	__u8 buf[CNP_MAX];
	size_t len = cnp_write(buf, sizeof(buf), &c);

	buf[at] = value;
	return cnp_parse(buf, len, false, &d);
}

/* The first bytes of a CNP of that version */
static enum cnp_error cut(size_t len, __u8 version)
{
	struct cnp c = sample(false, ROCC_CNP_QUEUE), d;
	__u8 buf[CNP_MAX];

	cnp_write(buf, sizeof(buf), &c);
	buf[8] = version;
	return cnp_parse(buf, len, false, &d);
}

/* A CNP with these bytes set to 0 */
static enum cnp_error without(size_t at, size_t n)
{
	struct cnp c = sample(false, ROCC_CNP_QUEUE), d;
	__u8 buf[CNP_MAX];
	size_t len = cnp_write(buf, sizeof(buf), &c);

	memset(buf + at, 0, n);
	return cnp_parse(buf, len, false, &d);
}

static void test_refused(void)
{
	const size_t quoted = sizeof(struct rocc_cnp) + sizeof(struct rocc_cnp_queue);

	check(with(0, 8) == CNP_MALFORMED, "another type is malformed");
	check(with(1, 2) == CNP_VERSION && with(8, 1) == CNP_VERSION, "an unknown code or version is one");
	check(cut(sizeof(struct rocc_cnp), 1) == CNP_VERSION &&
	      cut(sizeof(struct rocc_cnp) - 1, 1) == CNP_MALFORMED &&
	      cut(sizeof(struct rocc_cnp), ROCC_CNP_VERSION) == CNP_MALFORMED,
	      "so is one without a flow, but not one that is shorter");
	check(with(9, 3) == CNP_RANGE, "a third key is out of range");
	check(without(4, 4) == CNP_RANGE, "so is a rate of 0");
	check(without(32, 8) == CNP_RANGE && without(44, 4) == CNP_RANGE,
	      "and an epoch or an interval of 0");
	check(without(32, 4) == CNP_OK && without(36, 4) == CNP_OK && without(48, 4) == CNP_OK,
	      "but not half an epoch, nor a gap");
	check(without(52, 4) == CNP_RANGE && without(68, 4) == CNP_RANGE &&
	      with(52, 2) == CNP_OK && with(52, 3) == CNP_RANGE,
	      "rates that are none, or the least above the largest");
	check(with(64, 2) == CNP_RANGE && with(65, 1) == CNP_OK && with(67, 0xff) == CNP_OK,
	      "a tuning that is not known, not what is reserved");
	check(with(quoted, 0x44) == CNP_MALFORMED && with(quoted, 0x46) == CNP_MALFORMED &&
	      with(quoted, 0x60) == CNP_MALFORMED && with(quoted, 0x55) == CNP_MALFORMED,
	      "a quoted header that does not fit, or is none, is malformed");
	check(with(quoted + 6, 0x20) == CNP_OK && with(quoted + 6, 1) == CNP_MALFORMED &&
	      with(quoted + 7, 1) == CNP_MALFORMED,
	      "and a fragment, but for the first");
}

static void test_random(void)
{
	unsigned char input[CNP_MAX + 2];
	struct cnp c;
	size_t len;
	int i, n;

	for (i = 0; i < 2000000; i++) {
		input[0] = random64();
		c = sample(input[0] & 1, random64() & 1);
		len = 1 + cnp_write(input + 1, CNP_MAX, &c);
		for (n = random64() % 4; n; n--)
			input[random64() % len] ^= 1 << random64() % 8;
		if (random64() % 4 == 0)
			len = random64() % (len + 1);
		LLVMFuzzerTestOneInput(input, len);
	}
	check(true, "two million damaged ones");
}

int main(void)
{
	printf("TAP version 13\n");
	test_layout();
	test_round();
	test_refused();
	test_random();
	printf("1..%u\n", done);
	return failed != 0;
}
