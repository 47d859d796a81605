// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_link_wire.c - how the plugin of ip reads and prints a virtual cable's options
 *
 * What is printed must read back as the same value; what is not exact must be refused.
 */
#include <stdio.h>
#include <string.h>

#include "../../tc-plugin/link_wire.c"
#include "unit.h"

/* What ip would have provided. Only the parser and the printer of values are called here. */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen)
{
	return -1;
}

struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type)
{
	return NULL;
}

int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest)
{
	return -1;
}

int iplink_parse(int argc, char **argv, struct iplink_req *req, char **type)
{
	return -1;
}

bool is_json_context(void)
{
	return true;
}

int print_color_u64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value)
{
	return 0;
}

int print_color_s64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, int64_t value)
{
	return 0;
}

int print_color_bool(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, bool value)
{
	return 0;
}

int print_color_string(enum output_type type, enum color_attr color, const char *key,
		       const char *fmt, const char *value)
{
	return 0;
}

static void reads(const char *option, const char *text, uint64_t want)
{
	uint64_t value = ~want;
	char what[128];

	snprintf(what, sizeof(what), "%s %s is read", option, text);
	check(wire_parse(wire_option_find(option), text, &value) && value == want, what);
}

static void refuses(const char *option, const char *text)
{
	char what[128];
	uint64_t value;

	snprintf(what, sizeof(what), "%s '%s' is refused", option, text);
	check(!wire_parse(wire_option_find(option), text, &value), what);
}

static void prints(const char *option, uint64_t value, const char *want)
{
	char text[64], what[128];

	wire_format(wire_option_find(option), value, text, sizeof(text));
	snprintf(what, sizeof(what), "%s is printed as %s", option, want);
	check(!strcmp(text, want), what);
}

static void test_parse(void)
{
	reads("rate", "10gbit", 10000000000);
	reads("rate", "2.5Gbit", 2500000000);
	reads("rate", "7", 7);
	reads("rate", "0.001kbit", 1);
	reads("rate", "18446744073709551615", UINT64_MAX);
	reads("delay", "1.5us", 1500);
	reads("delay", "0", 0);
	reads("delay", "1.000us", 1000);
	reads("ring", "1.5k", 1536);
	reads("loss", "0.0000001%", 1);
	reads("loss", "100%", WIRE_PROBABILITY_MAX);
	reads("loss", "3ppm", 3000);
	reads("loss_burst", "10", 10);
	reads("reorder", "25%", WIRE_PROBABILITY_MAX / 4);
	reads("reorder_delay", "2.5us", 2500);
	refuses("loss_burst", "10%");
	refuses("loss_burst", "1.5");
	refuses("reorder", "5");
	refuses("reorder_delay", "5");
	refuses("rate", "");
	refuses("rate", ".5gbit");
	refuses("rate", "1.gbit");
	refuses("rate", "-1");
	refuses("rate", "+1");
	refuses("rate", " 1");
	refuses("rate", "0x10");
	refuses("rate", "1e9");
	refuses("rate", "0.5bit");
	refuses("rate", "1gbits");
	refuses("rate", "18446744073709551616");
	refuses("rate", "18446744073709551tbit");
	refuses("delay", "5");
	refuses("delay", "0.5ns");
	refuses("loss", "1");
	refuses("loss", "0.00000001%");
	refuses("seed", "1k");
}

static void test_format(void)
{
	prints("rate", 0, "0bit");
	prints("rate", 2666666667, "2666666.667kbit");
	prints("rate", 400000000000, "400gbit");
	prints("delay", 1, "1ns");
	prints("delay", 1000000500, "1000000.5us");
	prints("ring", 65536, "64k");
	prints("ring", 1000, "1000b");
	prints("loss", 123456789, "12.3456789%");
	prints("loss", 0, "0%");
	prints("loss_burst", 10, "10");
	prints("reorder_delay", 10000, "10us");
	prints("seed", UINT64_MAX, "18446744073709551615");
}

static void test_back(void)
{
	const struct wire_option *o;
	uint64_t state = 1, value, back;
	bool ok = true;
	char text[64];
	int i;

	for (i = 0; i < 1000000 && ok; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		o = &wire_options[i % WIRE_OPTIONS];
		value = state >> (i / 7 % 64);
		if (i & 64 && o->units != wire_plain)
			value = value / 1000 * 1000;
		wire_format(o, value, text, sizeof(text));
		ok = wire_parse(o, text, &back) && back == value;
	}
	check(ok, "a million values are read back as they were printed");
}

static void test_peer(void)
{
	char *all[] = { "name", "rate", "mtu", "9000", "rate", "1gbit" };

	check(wire_peer_words(6, all) == 4, "the peer's words end where the cable's go on");
	check(wire_peer_words(2, all) == 2, "an option's name may be the peer's");
	check(wire_peer_words(2, all + 4) == 0, "nothing of the peer's");
}

int main(void)
{
	printf("KTAP version 1\n");
	test_parse();
	test_format();
	test_back();
	test_peer();
	printf("1..%u\n", done);
	return !!failed;
}
