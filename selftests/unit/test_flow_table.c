// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_flow_table.c - flows and the entries that they share
 *
 * What is expected is kept beside the table, in another form: a list of flows, each with its
 * entry. Flows that come and go at random must never share an entry while their set has room for
 * all of them that are alive, nor change it while packets of theirs are queued. How often a set
 * is full is Poisson's, for random hashes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../kernel/sched/flow_table.h"
#include "unit.h"

#define SETS	16
#define FLOWS	400
#define STICKY	50

#define PACKETS	64

struct flow {
	u32		hash;
	u32		packets;
	u32		last;
	bool		used;
	bool		crowded;	/* it found each entry with a guest */
	struct hop_flow	*entry;		/* of its last packet */
	struct hop_flow	*of[PACKETS];	/* of each one that is queued, the oldest first */
};

static struct hop_flow table[SETS * HOP_FLOW_WAYS];
static struct flow flows[FLOWS];
static u32 now, joined;

static struct hop_flow *set_of(u32 hash, u32 ways)
{
	return table + hop_flow_set(hash, SETS * HOP_FLOW_WAYS / ways, ways);
}

static bool alive(const struct flow *f)
{
	return f->used && (f->packets || now - f->last < STICKY);
}

/* The first one without a guest, as a caller may choose it */
static struct hop_flow *choice(struct hop_flow *set, u32 ways)
{
	u32 i;

	for (i = 0; i < ways; i++)
		if (!set[i].guest)
			return set + i;
	return NULL;
}

static enum hop_flow_found comes(struct flow *f, u32 ways)
{
	struct hop_flow *set = set_of(f->hash, ways), *entry = NULL;
	enum hop_flow_found found = hop_flow_find(set, ways, f->hash, now, STICKY, &entry);

	if (found == HOP_FLOW_FULL) {
		f->crowded = !choice(set, ways);
		entry = hop_flow_join(choice(set, ways), set, ways, f->hash);
		joined++;
	} else if (found == HOP_FLOW_NEW) {
		f->crowded = false;
	}
	entry->packets++;
	entry->last = now;
	f->entry = entry;
	f->of[f->packets++] = entry;
	f->last = now;
	f->used = true;
	return found;
}

static void leaves(struct flow *f)
{
	f->of[0]->packets--;
	f->of[0]->last = now;
	memmove(f->of, f->of + 1, --f->packets * sizeof(f->of[0]));
	f->last = now;
}

static void start(void)
{
	u32 i;

	now = 1000;
	for (i = 0; i < SETS * HOP_FLOW_WAYS; i++)
		table[i] = hop_flow_unused(now - (1U << 31), 0);
	memset(flows, 0, sizeof(flows));
	for (i = 0; i < FLOWS; i++)
		flows[i].hash = random64();
	joined = 0;
}

/* Alive ones of a flow's set, without itself */
static u32 neighbours(const struct flow *f, u32 ways)
{
	u32 i, n = 0;

	for (i = 0; i < FLOWS; i++)
		n += &flows[i] != f && alive(&flows[i]) &&
		     set_of(flows[i].hash, ways) == set_of(f->hash, ways);
	return n;
}

static bool alone(const struct flow *f)
{
	u32 i;

	for (i = 0; i < FLOWS; i++)
		if (&flows[i] != f && alive(&flows[i]) && flows[i].entry == f->entry)
			return false;
	return true;
}

/* So many flows at a time, of which each has a packet or two, or none since shortly */
static void test_random(u32 ways, u32 at_once)
{
	bool right = true, kept = true, fair = true, empty = true, named = true, lived;
	u32 step, i, most = 0, before, others, sum = 0, two = now;
	enum hop_flow_found found;
	struct hop_flow *entry;
	struct flow *f;
	char name[80];

	start();
	for (step = 0; step < 200000; step++) {
		f = &flows[random64() % FLOWS];
		now += random64() % 4;
		if (f->packets && (random64() % 2 || f->packets == PACKETS)) {
			leaves(f);
			continue;
		}
		if (!f->packets && sum >= at_once)
			continue;
		others = neighbours(f, ways);
		most = others > most ? others : most;
		entry = f->entry;
		sum = f->packets;
		lived = alive(f);
		f->crowded &= lived;
		before = joined;
		found = comes(f, ways);
		if (joined > before && (int)(now - two) >= 0)
			fair &= others >= ways;
		/* who was in a crowd may have left packets in it shortly: then a flow keeps two
		 * entries alive
		 */
		if (lived && f->entry != entry)
			two = now + STICKY;
		if (others < ways && !sum && found == HOP_FLOW_NEW)
			right &= alone(f);
		if (sum)
			kept &= f->entry == entry;
		if (f->crowded)
			named &= f->entry == set_of(f->hash, ways) + f->hash % ways;
		for (i = 0, sum = 0; i < FLOWS; i++)
			sum += flows[i].packets > 0;
	}
	for (f = flows; f < flows + FLOWS; f++)
		while (f->packets)
			leaves(f);
	for (i = 0; i < SETS * HOP_FLOW_WAYS; i++)
		empty &= !table[i].packets;
	snprintf(name, sizeof(name), "%u way%s, %u flows at once: a new one has its entry alone", ways,
		 ways > 1 ? "s" : "", at_once);
	check(right, name);
	check(fair, "only a set full of others that are alive makes it a guest");
	check(kept, "who has packets queued stays where they are");
	check(empty, "nothing is counted at the end");
	check(named, "a crowd is at the entry that the hash names");
	check((most >= ways) == (joined > 0), "there were guests if and only if a set was full");
}

/* A flow that finds its set full is counted once, and goes to one entry as long as it lasts. */
static void test_guest(void)
{
	struct hop_flow *set = table, *entry;
	u32 i;

	start();
	for (i = 0; i < 2 * HOP_FLOW_WAYS + 1; i++) {
		flows[i].hash = 16 + i * 5;
		comes(&flows[i], HOP_FLOW_WAYS);
	}
	check(joined == HOP_FLOW_WAYS + 1, "of 9 flows of one set 5 are guests");
	for (i = 0; i < HOP_FLOW_WAYS; i++)
		check(set[i].packets == 2 + (&set[i] == flows[8].entry), "each entry has one of them, one has two");
	entry = flows[5].entry;
	now += 3 * STICKY;
	comes(&flows[5], HOP_FLOW_WAYS);
	check(joined == HOP_FLOW_WAYS + 1 && flows[5].entry == entry, "a guest's next packet goes there, and is not counted");
	for (i = 0; i < 2 * HOP_FLOW_WAYS + 1; i++)
		if (flows[i].entry == &set[0])
			leaves(&flows[i]);
	now += STICKY - 1;
	flows[20].hash = 199;
	check(comes(&flows[20], HOP_FLOW_WAYS) == HOP_FLOW_FULL && flows[20].entry == &set[3],
	      "an entry without packets is not given away within its sticky time");
	now += STICKY;
	flows[21].hash = 77;
	check(comes(&flows[21], HOP_FLOW_WAYS) == HOP_FLOW_NEW && flows[21].entry == &set[0],
	      "it is when that is over");
	check(!set[0].guest, "and the guest is forgotten");
}

/* So many flows of the first set, each with a packet: their hashes are 16, 21, 26 and so on. */
static void fill(u32 n)
{
	u32 i;

	start();
	for (i = 0; i < n; i++) {
		flows[i].hash = 16 + i * 5;
		comes(&flows[i], HOP_FLOW_WAYS);
	}
}

/* The packets of all flows in an entry leave. */
static void empties(struct hop_flow *entry)
{
	u32 i;

	for (i = 0; i < FLOWS; i++)
		while (flows[i].packets && flows[i].of[0] == entry)
			leaves(&flows[i]);
}

/* Owner and guest each come back when the other has gone, and when both have. */
static void test_return(void)
{
	struct hop_flow *entry;

	fill(HOP_FLOW_WAYS + 1);
	entry = flows[4].entry;
	empties(entry);
	now += STICKY - 1;
	check(comes(&flows[4], HOP_FLOW_WAYS) == HOP_FLOW_STICKY && flows[4].entry == entry,
	      "a guest without packets comes back within the sticky time");
	leaves(&flows[4]);
	now += STICKY;
	check(comes(&flows[4], HOP_FLOW_WAYS) == HOP_FLOW_NEW, "after it the guest has an entry of its own");

	fill(HOP_FLOW_WAYS + 1);
	empties(&table[0]);
	empties(&table[1]);
	now += STICKY;
	check(comes(&flows[0], HOP_FLOW_WAYS) == HOP_FLOW_NEW && flows[0].entry == entry,
	      "after it the owner has its entry as a new flow has");
	check(comes(&flows[4], HOP_FLOW_WAYS) == HOP_FLOW_NEW && flows[4].entry == &table[1],
	      "and nobody is a guest there any more");

	fill(HOP_FLOW_WAYS);
	flows[30].hash = 0x30000;
	comes(&flows[30], HOP_FLOW_WAYS);
	entry = flows[30].entry;
	check(comes(&flows[30], HOP_FLOW_WAYS) == HOP_FLOW_KNOWN && flows[30].entry == entry &&
	      joined == 1,
	      "a hash whose low bits are all 0 is remembered, too");

	start();
	flows[0].hash = 0x10005;
	flows[1].hash = 0x20005;
	comes(&flows[0], HOP_FLOW_WAYS);
	check(comes(&flows[1], HOP_FLOW_WAYS) == HOP_FLOW_NEW && flows[1].entry != flows[0].entry,
	      "all bits of a hash count");
}

/* The ninth flow of a set is in a crowd: while packets of it wait there it stays. Then flow @back
 * comes.
 */
static void test_crowd(u32 back)
{
	struct hop_flow *entry, *idle;

	fill(2 * HOP_FLOW_WAYS + 1);
	entry = flows[8].entry;
	check(entry == &table[flows[8].hash % HOP_FLOW_WAYS], "the ninth flow goes where its hash says");
	idle = entry == &table[1] ? &table[2] : &table[1];
	empties(idle);
	now += STICKY;
	check(hop_flow_waits(table, HOP_FLOW_WAYS, flows[8].hash) == entry, "it is found there");
	check(comes(&flows[8], HOP_FLOW_WAYS) == HOP_FLOW_KNOWN && flows[8].entry == entry,
	      "it stays there though another entry is idle");
	check(joined == HOP_FLOW_WAYS + 1, "and is counted once");
	flows[20].hash = 196 + (idle - table);
	check(comes(&flows[20], HOP_FLOW_WAYS) == HOP_FLOW_NEW && flows[20].entry == idle,
	      "a flow that would not come to that crowd takes the idle one");
	empties(idle);
	empties(entry);
	now += STICKY - 1;
	check(!hop_flow_waits(table, HOP_FLOW_WAYS, flows[8].hash), "when its packets are gone none waits");
	check(flows[back].entry == entry && comes(&flows[back], HOP_FLOW_WAYS) == HOP_FLOW_STICKY &&
	      flows[back].entry == entry, "one of the other two comes back");
	check(!(entry->guest & HOP_FLOW_CROWD), "and the crowd is over");
	flows[21].hash = flows[8].hash + 4 * 100;
	check(comes(&flows[21], HOP_FLOW_WAYS) != HOP_FLOW_KNOWN, "nobody joins it any more");
}

/* Of several that may give way the longest idle one does. */
static void test_oldest(void)
{
	u32 i, order[HOP_FLOW_WAYS] = { 2, 0, 3, 1 };
	bool right = true;

	start();
	for (i = 0; i < HOP_FLOW_WAYS; i++) {
		flows[i].hash = 16 + i * 3;
		comes(&flows[i], HOP_FLOW_WAYS);
	}
	for (i = 0; i < HOP_FLOW_WAYS; i++) {
		now += 5;
		leaves(&flows[order[i]]);
	}
	now += STICKY;
	for (i = 0; i < HOP_FLOW_WAYS; i++) {
		flows[10 + i].hash = 100 + i * 3;
		comes(&flows[10 + i], HOP_FLOW_WAYS);
		right &= flows[10 + i].entry == flows[order[i]].entry;
	}
	check(right, "the longest idle one gives way first");
}

/* Time comes round: what was used just before and just after is as far apart as ever. */
static void test_wrap(void)
{
	enum hop_flow_found found;

	start();
	now = -10;
	comes(&flows[0], 1);
	leaves(&flows[0]);
	now += 10 + STICKY - 11;
	found = comes(&flows[0], 1);
	check(found == HOP_FLOW_STICKY, "across the end of time a flow is recent");
	leaves(&flows[0]);
	now += STICKY;
	check(comes(&flows[0], 1) == HOP_FLOW_NEW, "and is not any more");
	start();
	check(comes(&flows[0], HOP_FLOW_WAYS) == HOP_FLOW_NEW, "an entry that nobody has used is to be had at once");
	check(hop_flow_time(64 * ((1ULL << 32) + 5)) == 5, "time is in units of 64 ns, of which 2^32 are a round");
	check(hop_flow_time_up(0) == 1 && hop_flow_time_up(63) == 1 && hop_flow_time_up(64) == 2 &&
	      hop_flow_time_up(UINT32_MAX) == 1U << 26, "a sticky time is not shortened");
}

/* Sets that get more of n flows than they have ways: by Poisson's law, for 3200 entries and 160
 * flows at once
 */
static void test_chance(void)
{
	enum { ENTRIES = 3200, AT_ONCE = 160, ROUNDS = 4000 };
	static struct hop_flow many[ENTRIES];
	u32 ways, round, i, hash, full;
	struct hop_flow *set, *entry;
	double mean, p, none, got;
	char name[80];

	for (ways = 1; ways <= HOP_FLOW_WAYS; ways += HOP_FLOW_WAYS - 1) {
		for (round = 0, full = 0; round < ROUNDS; round++) {
			for (i = 0; i < ENTRIES; i++)
				many[i] = hop_flow_unused((1U << 20) - (1U << 31), 0);
			for (i = 0; i < AT_ONCE; i++) {
				hash = random64();
				set = many + hop_flow_set(hash, ENTRIES / ways, ways);
				if (hop_flow_find(set, ways, hash, 1 << 20, STICKY, &entry) ==
				    HOP_FLOW_FULL)
					full++;
				else
					entry->packets++;
			}
		}
		/* flows beyond the ways of their set: sum of (k - ways) P(k), over all sets */
		mean = (double)AT_ONCE * ways / ENTRIES;
		p = exp(-mean), none = 0;
		for (i = 1; i < 40; i++) {
			p *= mean / i;
			none += i > ways ? (i - ways) * p : 0;
		}
		none *= (double)ENTRIES / ways;
		got = (double)full / ROUNDS;
		snprintf(name, sizeof(name), "%u way%s: %.4f of %d flows find no entry, by chance %.4f", ways,
			 ways > 1 ? "s" : "", got, AT_ONCE, none);
		check(fabs(got - none) < 5 * sqrt(none / ROUNDS) + 0.02 * none, name);
	}
}

int main(void)
{
	printf("TAP version 13\n");
	test_random(HOP_FLOW_WAYS, 8);
	test_random(HOP_FLOW_WAYS, 40);
	test_random(HOP_FLOW_WAYS, 150);
	test_random(1, 40);
	test_guest();
	test_return();
	test_crowd(0);
	test_crowd(4);
	test_oldest();
	test_wrap();
	test_chance();
	printf("1..%u\n", done);
	return failed > 0;
}
