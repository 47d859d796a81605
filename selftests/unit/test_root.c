// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_root.c - where congestion began: causes in force, the oldest of them, hops, circles
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/hopctl/root.h"
#include "unit.h"

static bool root_is(struct hop_root r, u16 id, u8 hops, bool more)
{
	return r.id == id && r.hops == hops && r.more == more;
}

static struct hop_root root(u16 id, u8 hops, bool more)
{
	return (struct hop_root) { .id = id, .hops = hops, .more = more };
}

static void test_words(void)
{
	unsigned int hops;
	bool ok = true;

	check(hop_root_of_epoch(0x12340001) == 0x1235, "an id of both halves of an epoch");
	check(hop_root_of_epoch(0x12341234) == 1, "is never 0");
	for (hops = 0; hops <= HOP_ROOT_HOPS; hops++) {
		struct hop_root r = hop_root_unpack(hop_root_pack(root(0xfffe, hops, hops & 1)));

		ok = ok && root_is(r, 0xfffe, hops, hops & 1);
	}
	check(ok, "a word has all of a root");
	check(!hop_root_pack(root(0, 3, true)), "none is 0");
}

static void test_next(void)
{
	check(root_is(hop_root_next(root(7, 0, false), 9), 7, 1, false), "one hop more");
	check(root_is(hop_root_next(root(7, 15, true), 9), 7, 16, true), "up to 16");
	check(root_is(hop_root_next(root(7, 16, false), 9), 9, 0, true),
	      "no further: whoever does not tell it names itself, and there is another");
	check(root_is(hop_root_next(root(7, 5, false), 7), 7, 0, false), "back where it began");
	check(root_is(hop_root_next(root(7, 16, true), 7), 7, 0, true), "after the last hop, too");
	check(root_is(hop_root_next(root(0, 0, false), 9), 0, 0, false), "not known stays so");
}

/* Ports of a circle, each of which says what it heard from the one behind, for a thousand rounds */
static void test_circle(unsigned int ports, u16 stray)
{
	struct hop_root told[HOP_ROOT_HOPS], next[HOP_ROOT_HOPS];
	unsigned int i, round;
	bool ok = true;

	for (i = 0; i < ports; i++)
		told[i] = root(stray, i, false);
	for (round = 0; round < 1000; round++) {
		for (i = 0; i < ports; i++)
			next[i] = hop_root_next(told[(i + 1) % ports], 100 + i);
		memcpy(told, next, sizeof(told));
	}
	for (i = 0; i < ports; i++)
		ok = ok && told[i].id >= 100 && told[i].id < 100 + ports;
	printf("# %u ports\n", ports);
	check(ok, "a root that is in no circle goes round and ends, and one in it takes its place");
}

static void test_causes(void)
{
	struct hop_causes c = {};
	u8 a, b, d, e, f;

	check(root_is(hop_causes_root(&c), 0, 0, false), "no cause, no root");
	a = hop_causes_add(&c, 1, 5, false);
	check(a && hop_causes_add(&c, 1, 5, false) == a, "the same again is the same cause");
	b = hop_causes_add(&c, 1, 5, true);
	check(b && b != a, "another if it is held now");
	d = hop_causes_add(&c, 2, 5, true);
	check(d && d != a && d != b, "another at another port");
	c.cause[a - 1].root = root(10, 0, false);
	c.cause[b - 1].root = root(11, 2, false);
	c.cause[d - 1].root = root(11, 4, true);
	check(root_is(hop_causes_root(&c), 10, 0, true), "the oldest is told, and that there are others");

	hop_causes_del(&c, a);
	check(root_is(hop_causes_root(&c), 10, 0, true), "as long as one packet of it is there");
	hop_causes_del(&c, a);
	check(root_is(hop_causes_root(&c), 11, 2, false),
	      "then the next one is the oldest; one with the same root is no other");

	e = hop_causes_add(&c, 1, 5, false);
	c.cause[e - 1].root = root(10, 0, false);
	check(root_is(hop_causes_root(&c), 11, 2, true), "one that comes back is the youngest");
	f = hop_causes_add(&c, 1, 6, true);
	check(f == HOP_CAUSE_OTHERS, "one too many is not told apart");
	hop_causes_del(&c, b);
	hop_causes_del(&c, e);
	check(root_is(hop_causes_root(&c), 11, 4, true), "a root has others if it is told to");
	c.cause[d - 1].root.more = false;
	check(root_is(hop_causes_root(&c), 11, 4, true), "and if there is one that is not told apart");
	hop_causes_del(&c, d);
	check(root_is(hop_causes_root(&c), 0, 0, true), "which alone is not known");
	hop_causes_del(&c, f);
	check(root_is(hop_causes_root(&c), 0, 0, false), "at the end there is none");
}

static void test_unknown(void)
{
	struct hop_causes c = {};

	c.cause[hop_causes_add(&c, 1, 1, true) - 1].root = root(0, 0, false);
	c.cause[hop_causes_add(&c, 1, 2, false) - 1].root = root(10, 0, false);
	check(root_is(hop_causes_root(&c), 0, 0, true),
	      "the oldest one's root is not known: no other is told in its place");
}

/* Order beyond the wrap of its number */
static void test_wrap(void)
{
	struct hop_causes c = { .order = 0xfffffffe };
	unsigned int i;
	bool ok = true;
	u8 last = 0;

	for (i = 0; i < 10; i++) {
		u8 next = hop_causes_add(&c, 1, i, false);

		c.cause[next - 1].root = root(100 + i, 0, false);
		ok = ok && hop_causes_root(&c).id == (i ? 99 + i : 100);
		if (last)
			hop_causes_del(&c, last);
		last = next;
	}
	check(ok, "the oldest is the oldest when numbers wrap");
}

/* Any order of packets: counts per cause by a table that has room for all */
static void test_random(void)
{
	struct { u8 cause; unsigned int of; } packet[64];
	unsigned int i, n = 0, at, step, in_force[6] = {}, since[6] = {}, others;
	struct hop_causes c = {};
	bool ok = true, full = false;

	for (step = 1; step < 200000; step++) {
		if (n < 64 && random64() % 2) {
			at = random64() % 6;
			packet[n].of = at;
			packet[n].cause = hop_causes_add(&c, at / 2, at % 2, at % 3 == 0);
			if (packet[n].cause != HOP_CAUSE_OTHERS) {
				c.cause[packet[n].cause - 1].root = root(1 + at, 0, false);
				if (!in_force[at]++)
					since[at] = step;
			} else {
				full = true;
			}
			n++;
		} else if (n) {
			at = random64() % n;
			if (packet[at].cause != HOP_CAUSE_OTHERS)
				in_force[packet[at].of]--;
			hop_causes_del(&c, packet[at].cause);
			packet[at] = packet[--n];
		}
		for (i = 0, others = n, at = 6; i < 6; i++) {
			others -= in_force[i];
			if (in_force[i] && (at == 6 || since[i] < since[at]))
				at = i;
		}
		ok = ok && c.others == others && hop_causes_root(&c).id == (at == 6 ? 0 : 1 + at);
	}
	check(ok && full, "200000 packets come and go: the oldest cause of those that are there");
}

int main(void)
{
	test_words();
	test_next();
	test_circle(2, 7);
	test_circle(3, 7);
	test_circle(16, 7);
	test_causes();
	test_unknown();
	test_wrap();
	test_random();
	printf("1..%u\n", done);
	return failed != 0;
}
