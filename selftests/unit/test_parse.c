// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_parse.c - which packets are one flow
 *
 * Packets are made by hand, header by header; what is one flow and what are two is said for each
 * field of them. Anything at all may come, cut short anywhere.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/sched/parse.h"
#include "unit.h"

static struct hop_flow_secret secret;

static void new_secret(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		secret.address[i] = random64();
	for (i = 0; i < 4; i++)
		secret.word[i] = random64();
	secret.rest = random64() | 1;
	secret.last = random64() | 1;
}

struct packet {
	u16	type;
	u32	vids;
	u32	room;
	u8	ip[HOP_PARSE_BYTES];
};

static struct packet ipv4(u8 protocol, unsigned int words)
{
	struct packet p = { .type = ETH_P_IP, .room = words * 4 + 20 };
	unsigned int i;

	for (i = 0; i < sizeof(p.ip); i++)
		p.ip[i] = 0x80 + i;
	p.ip[0] = 0x40 | words;
	p.ip[6] = 0x40;		/* do not fragment */
	p.ip[7] = 0;
	p.ip[9] = protocol;
	return p;
}

static struct packet ipv6(u8 next)
{
	struct packet p = { .type = ETH_P_IPV6, .room = HOP_PARSE_BYTES };
	unsigned int i;

	for (i = 0; i < sizeof(p.ip); i++)
		p.ip[i] = 0x40 + i;
	p.ip[0] = 0x60;
	p.ip[6] = next;
	return p;
}

static bool parse(const struct packet *p, struct hop_flow_id *id)
{
	memset(id, 0xaa, sizeof(*id));
	return hop_parse_flow(p->ip, p->room, p->type, p->vids, &secret, id);
}

static bool same(const struct packet *a, const struct packet *b)
{
	struct hop_flow_id x, y;

	return parse(a, &x) && parse(b, &y) && !memcmp(&x, &y, sizeof(x));
}

/* Are exactly these bytes what tells flows apart? 1 for a byte that does. */
static bool only_these(const struct packet *p, const u8 *matters)
{
	struct hop_flow_id id;
	struct packet other;
	unsigned int i;
	bool ok = parse(p, &id);

	for (i = 0; i < HOP_PARSE_BYTES; i++) {
		if (matters[i] == 2)	/* says how to read the others */
			continue;
		other = *p;
		other.ip[i] ^= 1 + random64() % 255;
		if (same(p, &other) == !!matters[i]) {
			printf("# byte %u\n", i);
			ok = false;
		}
	}
	return ok;
}

static void test_ipv4(void)
{
	static const u8 protocols[] = { 6, 17, 33, 50, 132, 136 }, none[] = { 1, 2, 4, 41, 47, 51 };
	u8 matters[HOP_PARSE_BYTES];
	struct packet p, q;
	unsigned int i, words;
	bool ok = true;

	for (words = 5; words <= 15; words++) {
		memset(matters, 0, sizeof(matters));
		matters[0] = matters[6] = matters[7] = matters[9] = 2;
		memset(matters + 12, 1, 8);
		for (i = 0; i < sizeof(none); i++) {
			p = ipv4(none[i], words);
			ok &= only_these(&p, matters);
		}
		if (words * 4 + 4 <= HOP_PARSE_BYTES)
			memset(matters + words * 4, 1, 4);
		for (i = 0; i < sizeof(protocols); i++) {
			p = ipv4(protocols[i], words);
			p.room = HOP_PARSE_BYTES;
			ok &= only_these(&p, matters);
		}
	}
	check(ok, "IPv4: addresses and ports, behind options, too; no ports in a tunnel's header");

	p = ipv4(6, 5);
	q = ipv4(17, 5);
	check(!same(&p, &q), "IPv4: TCP and UDP are two");
	q = p;
	q.ip[1] = 0xb8;
	check(same(&p, &q), "IPv4: ECN and DSCP tell nothing");
}

static void test_ipv4_fragments(void)
{
	static const u8 parts[][2] = {
		{ 0x20, 0 }, { 0x20, 185 }, { 0, 185 }, { 0x1f, 0xff }, { 1, 0 },
	};
	struct packet p = ipv4(17, 5), q, whole = p;
	unsigned int i;
	bool ok = true;

	memcpy(p.ip + 6, parts[0], 2);
	for (i = 1; i < sizeof(parts) / sizeof(*parts); i++) {
		q = p;
		memcpy(q.ip + 6, parts[i], 2);
		memset(q.ip + 20, random64(), 4);	/* data where the first has ports */
		ok &= same(&p, &q);
	}
	q = p;
	q.ip[12]++;
	check(ok && !same(&p, &q) && !same(&p, &whole), "IPv4: all fragments of a packet are one");
	q.room = 20;
	p = q;
	check(same(&p, &q), "IPv4: a fragment need not be long enough for ports");
}

static void test_ipv6(void)
{
	static const u8 protocols[] = { 6, 17, 33, 50, 132, 136 };
	static const u8 none[] = { 4, 41, 44, 47, 58, 59 };
	u8 matters[HOP_PARSE_BYTES] = { 0 };
	struct hop_flow_id id;
	struct packet p, q;
	unsigned int i;
	bool ok = true;

	matters[6] = 2;
	memset(matters + 8, 1, 32);
	for (i = 0; i < sizeof(none); i++) {
		p = ipv6(none[i]);
		ok &= only_these(&p, matters);
	}
	check(ok, "IPv6: addresses; no flow label, nothing behind a tunnel or fragment header");
	memset(matters + 40, 1, 4);
	for (i = 0, ok = true; i < sizeof(protocols); i++) {
		p = ipv6(protocols[i]);
		ok &= only_these(&p, matters);
	}
	check(ok, "IPv6: and ports");
	p = ipv6(6);
	q = ipv6(17);
	check(!same(&p, &q), "IPv6: TCP and UDP are two");

	p = ipv6(0);
	ok = !parse(&p, &id);
	p = ipv6(43);
	ok &= !parse(&p, &id);
	p = ipv6(60);
	check(ok && !parse(&p, &id), "IPv6: extension headers are for the dissector");
	/* swapped words would be one to a sum */
	for (i = 0, ok = true; i < 8; i++) {
		p = ipv6(6);
		q = p;
		memcpy(q.ip + 8 + i * 4, p.ip + 8 + (i ^ 1) * 4, 4);
		memcpy(q.ip + 8 + (i ^ 1) * 4, p.ip + 8 + i * 4, 4);
		ok &= !same(&p, &q);
		q = p;
		memcpy(q.ip + 8 + i * 4, p.ip + 8 + ((i + 2) & 7) * 4, 4);
		memcpy(q.ip + 8 + ((i + 2) & 7) * 4, p.ip + 8 + i * 4, 4);
		ok &= !same(&p, &q);
	}
	check(ok, "IPv6: words of an address in another order are another one");
}

/* Flows at random do not collide, nor do those that are made to, without the secret. */
static void test_secret(void)
{
	unsigned int i, j, both = 0;
	struct hop_flow_id x, y;
	struct packet p, q;
	bool ok = true;

	for (i = 0; i < 100000; i++) {
		if (i % 100 == 0)
			new_secret();
		p = ipv6(6);
		q = p;
		for (j = 8; j < 40; j++)
			q.ip[j] = random64();
		ok &= !same(&p, &q);
	}
	check(ok, "IPv6: addresses at random do not collide");
	for (i = 0; i < 1000; i++) {
		/* ports made to make up for the protocol, by who does not know the secret */
		new_secret();
		p = ipv4(6, 5);
		q = ipv4(17, 5);
		q.ip[20] ^= 6 ^ 17;
		ok &= parse(&p, &x) && parse(&q, &y);
		both += x.word[2] == y.word[2];
	}
	check(ok && !both, "IPv4: nor do ports make up for the protocol");
}

static u32 hash_of(const struct packet *p)
{
	struct hop_flow_id id;

	parse(p, &id);
	return hop_flow_hash(&id, &secret);
}

static u32 destination_of(const struct packet *p)
{
	return hop_destination_hash(p->ip, p->room, p->type, 0, &secret);
}

#define SETS	1024
#define COUNT	256
#define SECRETS	2000

/* How many pairs of packets that count upwards at byte @at, as ports and addresses do, fall into
 * one set? With a random function it would be a number with the mean and, nearly, the variance of
 * Poisson's.
 */
static bool spreads(u32 (*hash_of)(const struct packet *p), const struct packet *p,
		    unsigned int at, unsigned int step, bool high)
{
	const double pairs = COUNT * (COUNT - 1) / 2. / SETS;
	double sum = 0, squares = 0, variance;
	unsigned int i, j, n, most = 0;
	u16 in[SETS];
	struct packet q;
	u32 hash;

	for (j = 0; j < SECRETS; j++) {
		new_secret();
		memset(in, 0, sizeof(in));
		for (i = n = 0; i < COUNT; i++) {
			q = *p;
			q.ip[at] += i * step >> 8;
			q.ip[at + 1] += i * step;
			hash = hash_of(&q);
			n += in[high ? hash / (1U << 22) : hash % SETS]++;
		}
		sum += n;
		squares += (double)n * n;
		most = n > most ? n : most;
	}
	sum /= SECRETS;
	variance = squares / SECRETS - sum * sum;
	if (sum > pairs * 0.97 && sum < pairs * 1.03 && variance > pairs * 0.8 &&
	    variance < pairs * 1.2 && most < pairs * 2.5)
		return true;
	printf("# byte %u, %s bits: mean %.2f and variance %.2f, should be %.2f, most %u\n", at,
	       high ? "high" : "low", sum, variance, pairs, most);
	return false;
}

static void test_hash(void)
{
	static const unsigned int at[] = { 14, 15, 18, 20, 22 }, at6[] = { 14, 22, 30, 38, 40, 42 };
	struct packet p = ipv4(6, 5), p6 = ipv6(6), q;
	unsigned int i, j, same = 0;
	bool ok = true;

	for (i = 0; i < 2 * sizeof(at) / sizeof(*at); i++)
		ok &= spreads(hash_of, &p, at[i / 2], 1, i % 2) &
		      spreads(hash_of, &p, at[i / 2], 8, i % 2);
	check(ok, "IPv4: flows that count upwards spread as if at random");
	for (i = 0, ok = true; i < 2 * sizeof(at6) / sizeof(*at6); i++)
		ok &= spreads(hash_of, &p6, at6[i / 2], 1, i % 2);
	check(ok, "IPv6: they do, too");
	for (i = 0; i < 1000000; i++) {
		if (i % 1000 == 0)
			new_secret();
		q = i % 2 ? p6 : p;
		j = i % 2 ? 8 + i / 2 % 36 : 12 + i / 2 % 12;
		q.ip[j] ^= 1 << random64() % 8;
		same += hash_of(&q) == hash_of(i % 2 ? &p6 : &p);
	}
	check(!same, "two that differ in a bit have two hashes");
}

/* Which bytes another destination has: those of the address that a packet goes to. */
static bool only_destination(const struct packet *p, unsigned int from, unsigned int bytes)
{
	struct packet other;
	bool ok = true, is;
	unsigned int i;

	for (i = 0; i < HOP_PARSE_BYTES; i++) {
		other = *p;
		other.ip[i] ^= 1 + random64() % 255;
		is = i >= from && i < from + bytes;
		if ((destination_of(p) != destination_of(&other)) != is) {
			printf("# byte %u\n", i);
			ok = false;
		}
	}
	return ok;
}

static void test_destination(void)
{
	struct packet p = ipv4(6, 5), p6 = ipv6(6), q, r;
	unsigned int i, j, same = 0;
	u8 *ip;
	bool ok;

	check(only_destination(&p, 16, 4) && only_destination(&p6, 24, 16),
	      "destination: the address that a packet goes to and nothing else");
	ok = spreads(destination_of, &p, 18, 1, false) && spreads(destination_of, &p, 16, 8, false);
	for (i = 24; i < 40; i += 2)
		ok &= spreads(destination_of, &p6, i, 1, false);
	check(ok, "destination: those that count upwards spread as if at random");
	for (i = 0; i < 200000; i++) {
		if (i % 100 == 0)
			new_secret();
		q = p6;
		r = p6;
		for (j = 24 + i % 2 * 8; j < 32 + i % 2 * 8; j++) {
			q.ip[j] = random64();
			r.ip[j] = random64();
		}
		same += destination_of(&q) == destination_of(&r);
		q = p;
		q.ip[16 + i % 4] ^= 1 << random64() % 8;
		same += destination_of(&q) == destination_of(&p);
		same += hop_destination_hash(p.ip, p.room, p.type, 0, &secret) ==
			hop_destination_hash(p.ip, p.room, p.type, 1 + i % 512, &secret);
	}
	/* 600,000 with a chance of 2^-31 each; Poisson has more than two once in 10^11 */
	check(same <= 2, "destination: two do not collide, nor one with itself in another class");
	for (i = 0, ok = true; i <= 64; i++) {
		ip = malloc(i ? i : 1);
		memcpy(ip, p.ip, i);
		ok &= !hop_destination_hash(ip, i, ETH_P_IP, 0, &secret) == (i < 20);
		memcpy(ip, p6.ip, i);
		ok &= !hop_destination_hash(ip, i, ETH_P_IPV6, 0, &secret) == (i < 40);
		ok &= !hop_destination_hash(ip, i, ETH_P_ARP, 0, &secret);
		free(ip);
	}
	check(ok, "destination: none if it is too short, or no IP");
}

static void test_vlan(void)
{
	struct packet p = ipv4(6, 5), q = p, r = p;
	struct packet p6 = ipv6(6), q6 = p6;

	q.vids = 5;
	r.vids = 5 << HOP_PARSE_VIDS_SHIFT;
	q6.vids = 7;
	check(!same(&p, &q) && !same(&q, &r) && !same(&p6, &q6), "VLANs: each has its own flows");
	r.vids = 5;
	check(same(&q, &r), "VLANs: the same one has the same");
}

/* In memory that ends where the packet does, so that no byte behind it is read. */
static void test_short(void)
{
	struct hop_flow_id id;
	struct packet p;
	bool ok = true;
	u32 room, i, l4;
	u8 *ip;

	for (i = 0; i < 200000; i++) {
		room = random64() % (HOP_PARSE_BYTES + 1);
		ip = malloc(room ? room : 1);
		for (l4 = 0; l4 < room; l4++)
			ip[l4] = random64();
		if (room > 9 && i % 2)
			ip[9] = ip[6] = 6;
		hop_parse_flow(ip, room, i % 3 ? ETH_P_IP : ETH_P_IPV6, 0, &secret, &id);
		free(ip);
	}
	check(true, "anything, cut anywhere: nothing is read behind its end");
	for (room = 0; room <= 24; room++) {
		p = ipv4(6, 5);
		p.room = room;
		ok &= parse(&p, &id) == (room >= 24);
		p = ipv4(1, 5);
		p.room = room;
		ok &= parse(&p, &id) == (room >= 20);
	}
	for (room = 0; room <= 44; room++) {
		p = ipv6(17);
		p.room = room;
		ok &= parse(&p, &id) == (room >= 44);
	}
	for (i = 1; i < 100000; i += i) {
		p = ipv4(6, 5);
		ok &= !hop_parse_flow(p.ip, -i, p.type, 0, &secret, &id);
		ok &= !hop_destination_hash(p.ip, -i, p.type, 0, &secret);
		p = ipv6(17);
		ok &= !hop_parse_flow(p.ip, -i, p.type, 0, &secret, &id);
		ok &= !hop_destination_hash(p.ip, -i, p.type, 0, &secret);
	}
	p = ipv4(6, 4);
	ok &= !parse(&p, &id);
	p = ipv4(6, 5);
	p.type = ETH_P_ARP;
	check(ok && !parse(&p, &id), "too short, or no IP: for the dissector");
}

int main(void)
{
	printf("TAP version 13\n1..23\n");
	new_secret();
	test_ipv4();
	test_ipv4_fragments();
	test_ipv6();
	test_secret();
	test_hash();
	test_destination();
	test_vlan();
	test_short();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != 23;
}
