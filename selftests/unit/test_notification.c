// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_notification.c - what goes ahead as a congestion notification packet
 *
 * The codec of RoCC has the last word: of messages that are whole, damaged in a few bytes, or cut,
 * those are notifications that it reads and that go to the source of the flow that they quote.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/sched/notification.h"
#include "../../kernel/rocc/cnp.c"
#include "unit.h"

#define ROUNDS	1000000

static size_t sample(u8 *buf, size_t size, bool v6, u8 code)
{
	struct cnp c = {
		.code = code, .key = random64() % 3, .rate = 1 + random64() % 9, .epoch = 7,
		.interval = 40000, .rate_min = random64() % 3,
		.state = { .tuning = random64() % 3, .rate_max = random64() % 3 },
		.flow = { .v6 = v6, .proto = 17 },
	};
	int i;

	for (i = 0; i < (v6 ? 16 : 4); i++)
		c.flow.saddr[i] = 0x10 + i;
	return cnp_write(buf, size, &c);
}

/* What the codec says, in a buffer without a byte too many */
static bool reads(const u8 *message, u32 len, const u8 *to, bool v6)
{
	struct cnp c;

	return len <= HOP_NOTIFICATION_MOST && cnp_parse(message, len, v6, &c) == CNP_OK &&
	       !memcmp(c.flow.saddr, to, v6 ? 16 : 4);
}

/* One message in some way damaged. Returns whether both agree; counts those that are read. */
static bool agree(unsigned long *read)
{
	bool v6 = random64() & 1, want, got;
	u8 buf[2 * HOP_NOTIFICATION_MOST] = {}, to[16], *exact;
	u32 len = sample(buf, sizeof(buf), v6, random64() % 3), n;

	for (n = 0; n < 16; n++)
		to[n] = 0x10 + n;
	for (n = random64() % 3; n; n--)
		buf[random64() % len] = random64() >> random64() % 64;
	if (random64() % 8 == 0)
		to[random64() % 16]++;
	if (random64() % 8 == 0)
		len = random64() % (len + 1);
	if (random64() % 8 == 0)
		len += random64() % 200;
	/* AddressSanitizer sees the byte behind it */
	exact = malloc(len + !len);
	memcpy(exact, buf, len);
	want = reads(exact, len, to, v6);
	got = hop_is_notification(exact, len, to, v6);
	free(exact);
	*read += want;
	return want == got;
}

int main(void)
{
	unsigned long i, wrong = 0, read = 0;
	u8 buf[CNP_MAX];

	printf("KTAP version 1\n");
	for (i = 0; i < ROUNDS; i++)
		wrong += !agree(&read);
	printf("# %lu of %d are read\n", read, ROUNDS);
	check(!wrong, "of a million messages those that the codec reads, and that go to their flow's source");
	check(read > ROUNDS / 8 && read < ROUNDS - ROUNDS / 8, "some are read, some are not");
	check(HOP_NOTIFICATION_MOST >= CNP_MAX, "none that is made is too long");
	check(!hop_is_notification(buf, 0, buf, false), "nothing is none");
	printf("1..%u\n", done);
	return failed != 0;
}
