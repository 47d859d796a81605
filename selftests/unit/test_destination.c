// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_destination.c - where a packet goes, what it counts, and how large a window is
 *
 * Counted bytes are compared with those of segments that are cut here, one by one; windows with
 * the paper's formula in floating point.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/floodgate/destination.h"
#include "unit.h"

#define PLANNED	26

static void __attribute__((format(printf, 2, 3))) checks(bool ok, const char *format, ...)
{
	char what[200];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	check(ok, what);
}

static struct hop_flow_secret secret;
static u8 packet[64];
static const u8 to[6] = { 0x02, 1, 2, 3, 4, 5 };

static void fresh(u16 type)
{
	unsigned int i;

	for (i = 0; i < sizeof(packet); i++)
		packet[i] = random64();
	packet[0] = type == ETH_P_IP ? 0x45 : 0x60;
}

static struct floodgate_key_rule rule;

static struct floodgate_key key_in(u16 type, u32 vids)
{
	struct floodgate_key key;

	floodgate_key_read(&key, &rule, packet, sizeof(packet), type, vids, to);
	return key;
}

static struct floodgate_key key_of(u16 type, int room, const u8 *mac, bool *has)
{
	struct floodgate_key key;

	*has = floodgate_key_read(&key, &rule, packet, room, type, 5, mac);
	return key;
}

/* Which bytes of a packet are its destination? Each is flipped. */
static void bytes_of(u16 type, int from, int count)
{
	struct floodgate_key before, after;
	unsigned int i, wrong = 0;
	bool has;

	fresh(type);
	before = key_of(type, sizeof(packet), to, &has);
	checks(has, "type %x: a packet to a host has a destination", type);
	for (i = 0; i < sizeof(packet); i++) {
		bool is = i >= from && i < from + count;

		packet[i] ^= 0x10;
		after = key_of(type, sizeof(packet), to, &has);
		wrong += floodgate_key_equal(&before, &after) == is || !has;
		packet[i] ^= 0x10;
	}
	checks(!wrong, "type %x: the address that it goes to, and nothing else, is its destination", type);
}

static void destinations(void)
{
	struct floodgate_key a, b;
	u8 other[6], group[6];
	unsigned int i, wrong = 0;
	bool has;

	bytes_of(ETH_P_IP, 16, 4);
	bytes_of(ETH_P_IPV6, 24, 16);

	memcpy(group, to, 6);
	group[0] |= 1;
	fresh(ETH_P_IP);
	key_of(ETH_P_IP, sizeof(packet), group, &has);
	check(!has, "a group has none");

	/* without an IP header, or with a part of one, it is the MAC address */
	a = key_of(0x9000, sizeof(packet), to, &has);
	for (i = 0; i < 48; i++) {
		memcpy(other, to, 6);
		other[i / 8] ^= 1 << i % 8;
		b = key_of(0x9000, sizeof(packet), other, &has);
		wrong += i == 0 ? has : floodgate_key_equal(&a, &b);
	}
	check(!wrong, "without IP it is the MAC address, each bit of it");
	b = key_of(ETH_P_IP, HOP_PARSE_IPV4_BYTES - 1, to, &has);
	check(has && floodgate_key_equal(&a, &b), "and so it is where the IP header is cut short");
	b = key_of(ETH_P_IPV6, HOP_PARSE_IPV6_BYTES - 1, to, &has);
	check(has && floodgate_key_equal(&a, &b), "of IPv6 as well");

	/* the same bits as an address of another kind */
	memset(packet, 0, sizeof(packet));
	a = key_of(ETH_P_IP, sizeof(packet), to, &has);
	b = key_of(ETH_P_IPV6, sizeof(packet), to, &has);
	check(!floodgate_key_equal(&a, &b), "addresses of two kinds are two destinations");
}

/* Which bits of an address tell destinations apart, with each prefix length? Each is flipped. */
static void prefixes(u16 type, unsigned int at, unsigned int most)
{
	struct floodgate_key before, after, other;
	unsigned int prefix, bit, wrong = 0, alike = 0;
	bool has;

	for (prefix = 1; prefix <= most; prefix++) {
		floodgate_key_rule_set(&rule, type == ETH_P_IP ? prefix : 32,
				       type == ETH_P_IP ? 128 : prefix, false);
		fresh(type);
		before = key_of(type, sizeof(packet), to, &has);
		for (bit = 0; bit < most; bit++) {
			packet[at + bit / 8] ^= 0x80 >> bit % 8;
			after = key_of(type, sizeof(packet), to, &has);
			wrong += floodgate_key_equal(&before, &after) == (bit < prefix);
			packet[at + bit / 8] ^= 0x80 >> bit % 8;
		}
		memset(packet + at, 0, 16);
		before = key_of(type, sizeof(packet), to, &has);
		floodgate_key_rule_set(&rule, prefix % 32 + 1, prefix % 128 + 1, false);
		other = key_of(type, sizeof(packet), to, &has);
		alike += floodgate_key_equal(&before, &other);
	}
	floodgate_key_rule_set(&rule, 32, 128, false);
	checks(!wrong, "type %x: the first bits count, 1 to %u of them", type, most);
	checks(!alike, "type %x: ports with other prefixes have other destinations", type);
}

/* The same address in several VLANs */
static void vlans(void)
{
	static const u16 types[] = { ETH_P_IP, ETH_P_IPV6, 0x9000 };
	struct floodgate_key a, b, none;
	unsigned int i, bit, wrong;

	for (i = 0; i < 3; i++) {
		fresh(types[i]);
		wrong = 0;
		for (bit = 0; bit < 24; bit++) {
			floodgate_key_rule_set(&rule, 24, 64, true);
			a = key_in(types[i], 0);
			b = key_in(types[i], 1 << bit);
			wrong += floodgate_key_equal(&a, &b) ||
				 floodgate_key_hash(&a, &secret) == floodgate_key_hash(&b, &secret);
			floodgate_key_rule_set(&rule, 24, 64, false);
			none = key_in(types[i], 0);
			wrong += floodgate_key_equal(&a, &none);
			b = key_in(types[i], 1 << bit);
			wrong += !floodgate_key_equal(&b, &none);
		}
		checks(!wrong, "type %x: VLAN ids count if they are to, and only then", types[i]);
	}
	floodgate_key_rule_set(&rule, 32, 128, false);
}

/* The short way for IPv4 finds what the other finds, and takes no other destination for it. */
static void short_way(void)
{
	static const u16 types[] = { 0, ETH_P_IPV6, 0x9000 };
	unsigned int i, bit, prefix, vids, hash, wrong = 0, taken = 0;
	struct floodgate_key key, other;
	u32 *words = (u32 *)&other;

	for (i = 0; i < 1000; i++) {
		prefix = i % 32 + 1;
		floodgate_key_rule_set(&rule, prefix, 128, i & 1);
		vids = i & rule.vids;
		fresh(ETH_P_IP);
		key = key_in(ETH_P_IP, i);
		hash = floodgate_key_hash_ipv4(key.word[0], rule.ipv4_type, vids, &secret);
		wrong += !floodgate_key_is_ipv4(&key, key.word[0], rule.ipv4_type, vids) ||
			 hash != floodgate_key_hash(&key, &secret);
		for (bit = 0; bit < 8 * sizeof(key); bit++) {
			other = key;
			words[bit / 32] ^= 1U << bit % 32;
			taken += floodgate_key_is_ipv4(&other, key.word[0], key.type, key.vids);
		}
		other = key_in(types[1 + i % 2], i);
		taken += floodgate_key_is_ipv4(&other, other.word[0], rule.ipv4_type, vids);
	}
	checks(!wrong, "the short way for IPv4 has the same destination and hash: %u of 1000 do not", wrong);
	checks(!taken, "and no other destination, a bit away or of another type: %u", taken);
	floodgate_key_rule_set(&rule, 32, 128, false);
}

/* VLANs of one address in a table of 4096 */
static void vlans_spread(void)
{
	static unsigned int buckets[4096];
	struct floodgate_key key;
	unsigned int i;
	double sum = 0;

	fresh(ETH_P_IP);
	floodgate_key_rule_set(&rule, 32, 128, true);
	for (i = 0; i < 65536; i++) {
		key = key_in(ETH_P_IP, i);
		buckets[floodgate_key_hash(&key, &secret) >> 20]++;
	}
	for (i = 0; i < 4096; i++)
		sum += pow(buckets[i] - 16., 2);
	checks(sum / 4096 < 3 * 16, "VLAN ids that count upwards spread: variance %.1f, mean 16", sum / 4096);
	floodgate_key_rule_set(&rule, 32, 128, false);
}

/* Hosts that are numbered upwards, as they are, in a table of 4096: Poisson's mean and variance */
static void spreads(u16 type, unsigned int at, const char *what)
{
	static unsigned int buckets[4096];
	unsigned int i, n = 65536;
	double sum = 0;
	bool has;

	memset(buckets, 0, sizeof(buckets));
	fresh(type);
	for (i = 0; i < n; i++) {
		struct floodgate_key key;

		packet[at] = i >> 8;
		packet[at + 1] = i;
		key = key_of(type, sizeof(packet), to, &has);
		buckets[floodgate_key_hash(&key, &secret) >> 20]++;
	}
	for (i = 0; i < 4096; i++)
		sum += pow(buckets[i] - n / 4096., 2);
	checks(sum / 4096 < 3 * n / 4096., "%s: hosts that count upwards spread: variance %.1f, mean 16", what,
	      sum / 4096);
}

static unsigned int min_frame(unsigned int network)
{
	return network + 14 > 60 ? network + 14 : 60;
}

static void bytes(void)
{
	unsigned int i, wrong = 0;

	check(floodgate_frame_bytes(20) == 60 && floodgate_frame_bytes(46) == 60 &&
	      floodgate_frame_bytes(47) == 61 && floodgate_frame_bytes(1500) == 1514,
	      "a frame counts without tags, and 60 bytes at least");
	for (i = 0; i < 100000; i++) {
		unsigned int headers = 28 + random64() % 60, size = 1 + random64() % 1500;
		unsigned int payload = random64() % 65000, left = payload, sum = 0;

		do {
			unsigned int now = left < size ? left : size;

			sum += min_frame(headers + now);
			left -= now;
		} while (left);
		wrong += floodgate_gso_bytes(headers + payload, headers, size) != sum;
	}
	check(!wrong, "100000 packets count as their segments do, cut one by one");
}

static void windows(void)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < 100000; i++) {
		u32 hrtt = 100 + random64() % 100000000, t = 1000 + random64() % 1000000;
		u32 m = 1 + random64() % 100000;
		u64 rate = 125000 + random64() % 125000000000ULL;
		u32 b = random64() % 2 ? random64() % 100000000 : 0;
		double told = t * 1e-9 * rate;
		double untold = b && b < told ? b : told;
		/* Not sooner than 1 us, or 84 bytes in 1 % of the link, whatever b says. */
		double apart = fmin(told, fmax(1e-6 * rate, 8400));
		double bdp = hrtt * 1e-9 * rate, factor = m / 10000.;
		double want = fmax(factor * bdp + untold,
				   untold < apart ? fmin(factor, 1) * bdp + apart : 0) + 2 * 1514;
		u64 got = floodgate_window_bytes(hrtt, m, t, b, rate, 1514);

		most = fmax(most, fabs(got - want) / want);
	}
	checks(most < .01, "100000 windows are m BDP + C T and two frames, within %.4f %%", most * 100);
	check(floodgate_window_bytes(1200, 10000, 10000, 0, 12500000000ULL, 1514) ==
	      15000 + 125000 + 3028 &&
	      floodgate_window_bytes(1200, 10000, 10000, 65536, 12500000000ULL, 1514) ==
	      15000 + 65536 + 3028,
	      "100 Gb/s, 1.2 us, T = 10 us: 143028 bytes; 83564 if credits come after 64 KB");
	check(floodgate_window_bytes(20000, 10000, 97000, 1514, 125000000, 1014) ==
	      2500 + 8400 + 2028,
	      "1 Gb/s, credits after 1514 bytes: what the link carries until they may leave");
}

int main(void)
{
	unsigned int i;

	printf("TAP version 13\n1..%u\n", PLANNED);
	for (i = 0; i < 8; i++)
		secret.address[i] = random64();
	secret.rest = random64() | 1;
	secret.last = random64() | 1;
	floodgate_key_rule_set(&rule, 32, 128, false);
	destinations();
	prefixes(ETH_P_IP, 16, 32);
	prefixes(ETH_P_IPV6, 24, 128);
	vlans();
	short_way();
	vlans_spread();
	spreads(ETH_P_IP, 18, "IPv4");
	spreads(ETH_P_IPV6, 38, "IPv6");
	bytes();
	windows();
	printf("# %u passed, %u failed\n", done - failed, failed);
	return failed || done != PLANNED;
}
