// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_config.c - what several qdiscs of one port say together
 *
 * In whatever order a port's qdiscs stand, the latest word decides, and the kinds are those of all.
 */
#include <stdio.h>
#include <string.h>

#include "../../kernel/hopctl/config.h"
#include "unit.h"

#define MEMBERS	4

/* Each member's figures tell whose they are. */
static struct hop_config config_of(unsigned int member, u16 kinds)
{
	return (struct hop_config) {
		.role = member, .peer = member, .tag = member & 1, .tpid = 100 + member,
		.kinds = kinds, .hrtt_ns = 1000 * member, .refresh_ns = 2000 * member,
		.lease_ns = 3000 * member, .watch = member & 2, .tier = member,
		.watchdog_ns = 4000 * member, .restore_ns = 5000 * member,
	};
}

static bool is_of(const struct hop_config *c, unsigned int member)
{
	return c->role == member && c->peer == member && c->tag == (bool)(member & 1) &&
	       c->tpid == 100 + member && c->hrtt_ns == 1000 * member &&
	       c->refresh_ns == 2000 * member && c->lease_ns == 3000 * member &&
	       c->watch == (bool)(member & 2) && c->tier == member &&
	       c->watchdog_ns == 4000 * member && c->restore_ns == 5000 * member;
}

/* All orders in which four members may have spoken, and all sets of those that are left */
static void test_orders(void)
{
	bool latest_ok = true, kinds_ok = true;
	unsigned int code, left, i, j, at[MEMBERS];

	for (code = 0; code < MEMBERS * MEMBERS * MEMBERS * MEMBERS; code++) {
		bool distinct = true;

		for (i = 0; i < MEMBERS; i++) {
			at[i] = code >> (2 * i) & 3;
			for (j = 0; j < i; j++)
				distinct &= at[i] != at[j];
		}
		if (!distinct)
			continue;
		for (left = 1; left < 1 << MEMBERS; left++) {
			struct hop_config sum = {}, cfg;
			unsigned int latest = 0;
			bool any = false;
			u64 newest = 0;

			for (i = 0; i < MEMBERS; i++) {
				if (!(left >> i & 1))
					continue;
				if (!any || at[i] > at[latest])
					latest = i;
				any = true;
				cfg = config_of(i, 1 << i);
				hop_config_add(&sum, &newest, &cfg, 1 + at[i]);
			}
			latest_ok &= is_of(&sum, latest);
			kinds_ok &= sum.kinds == left;
		}
	}
	check(latest_ok, "the latest of those that are left decides");
	check(kinds_ok, "the kinds are those of all that are left");
}

/* What stood in the sum before the first one does not count. */
static void test_first(void)
{
	struct hop_config sum = config_of(3, 0xffff), cfg = config_of(1, 2);
	u64 newest = 0;

	hop_config_add(&sum, &newest, &cfg, 1);
	check(is_of(&sum, 1) && sum.kinds == 2 && newest == 1, "one alone says what it says");
	cfg = config_of(2, 0);
	hop_config_add(&sum, &newest, &cfg, 1ULL << 40);
	check(is_of(&sum, 2) && sum.kinds == 2, "orders beyond 32 bits");
}

int main(void)
{
	printf("TAP version 13\n1..4\n");
	test_orders();
	test_first();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != 4;
}
