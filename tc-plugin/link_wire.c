// SPDX-License-Identifier: GPL-2.0-only
/*
 * link_wire.c - plugin of ip: the virtual cable's options
 *
 *   ip link add NAME type wire [ OPTION VALUE ... ] [ peer LINK ATTRIBUTES ... ]
 *   ip link set NAME type wire OPTION VALUE ...
 *   ip -d link show, ip -d -j link show
 *
 * All options are scalars and rows of one table, which parsing, printing and help walk. A value
 * is a decimal number with a unit and must come out whole in the option's base unit: 2.5gbit
 * is a rate, 0.3bit is refused. Text output takes the largest unit that shows the value exactly,
 * so it can be typed in again. JSON has numbers in the base unit: bit/s, ns, bytes, parts per
 * billion.
 *
 * Ranges are the kernel's to check, and its message names the option.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <linux/if_link.h>

#include "../kernel/uapi/wire.h"
#include "link_plugin.h"

#define WIRE_MESSAGE_BYTES	1024	/* of ip's request buffer */
#define SHOWN			UINT64_MAX

/**
 * struct wire_unit - a suffix of a number; the last row of a list has no name
 * @name: the suffix; the first row's is what help and errors show
 * @factor: base units in it
 */
struct wire_unit {
	const char *name;
	uint64_t factor;
};

/* Each from the smallest to the largest, as the printer wants it; a unit of factor 1 first. */
static const struct wire_unit wire_rates[] = {
	{ "bit", 1 },
	{ "kbit", 1000 },
	{ "mbit", 1000000 },
	{ "gbit", 1000000000 },
	{ "tbit", 1000000000000 },
	{ }
};

static const struct wire_unit wire_times[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "ms", 1000000 },
	{ "s", 1000000000 },
	{ }
};

static const struct wire_unit wire_sizes[] = {
	{ "b", 1 },
	{ "k", 1 << 10 },
	{ "m", 1 << 20 },
	{ }
};

static const struct wire_unit wire_shares[] = {
	{ "ppb", 1 },
	{ "ppm", 1000 },
	{ "%", WIRE_PROBABILITY_MAX / 100 },
	{ }
};

static const struct wire_unit wire_plain[] = {
	{ "", 1 },
	{ }
};

/**
 * struct wire_option - one option
 * @name: what is typed, and its key in JSON
 * @attr: netlink attribute
 * @bytes: of the attribute's value: 4 or 8
 * @units: suffixes
 * @bare: a number without suffix means this many base units; 0 refuses it unless it is zero
 * @quiet: left out of text if it has this value; SHOWN is never left out
 * @value: for help
 * @help: for help
 */
struct wire_option {
	const char *name;
	int attr;
	int bytes;
	const struct wire_unit *units;
	uint64_t bare;
	uint64_t quiet;
	const char *value;
	const char *help;
};

static const struct wire_option wire_options[] = {
	{ "rate", IFLA_WIRE_RATE, 8, wire_rates, 1, SHOWN, "RATE",
	  "of the line, as 10gbit; 0 sends each frame in no time (default)" },
	{ "delay", IFLA_WIRE_DELAY, 8, wire_times, 0, SHOWN, "TIME",
	  "from a frame's last bit to its arrival, as 1us (0)" },
	{ "ring", IFLA_WIRE_RING, 4, wire_sizes, 1, SHOWN, "SIZE",
	  "that may wait on the card, as 64k; 0 is one frame at a time (64k)" },
	{ "overhead", IFLA_WIRE_OVERHEAD, 4, wire_sizes, 1, 0, "SIZE",
	  "that each frame takes on the line beyond its length (0)" },
	{ "loss", IFLA_WIRE_LOSS, 4, wire_shares, 0, 0, "SHARE",
	  "of all frames lost, as 0.1% or 20ppm (0)" },
	{ "loss_control", IFLA_WIRE_LOSS_CONTROL, 4, wire_shares, 0, 0, "SHARE",
	  "of the fabric's control frames lost (0)" },
	{ "loss_data", IFLA_WIRE_LOSS_DATA, 4, wire_shares, 0, 0, "SHARE",
	  "of the other frames lost (0)" },
	{ "loss_burst", IFLA_WIRE_LOSS_BURST, 4, wire_plain, 1, 1, "FRAMES",
	  "that are lost in a row on average, for each loss by itself; 1 is independent (1)" },
	{ "corrupt", IFLA_WIRE_CORRUPT, 4, wire_shares, 0, 0, "SHARE",
	  "of frames with one bit flipped (0)" },
	{ "duplicate", IFLA_WIRE_DUPLICATE, 4, wire_shares, 0, 0, "SHARE",
	  "of frames sent twice (0)" },
	{ "reorder", IFLA_WIRE_REORDER, 4, wire_shares, 0, 0, "SHARE",
	  "of frames that are late, so that later ones overtake them (0)" },
	{ "reorder_delay", IFLA_WIRE_REORDER_DELAY, 8, wire_times, 0, 0, "TIME",
	  "by which they are late, as 10us; reorder needs it (0)" },
	{ "seed", IFLA_WIRE_SEED, 8, wire_plain, 1, 0, "NUMBER",
	  "of the faults; setting it starts them anew (0)" },
};

#define WIRE_OPTIONS (sizeof(wire_options) / sizeof(wire_options[0]))

static void wire_help(FILE *f)
{
	size_t i;

	fprintf(f, "Usage: ip link add NAME type wire [ OPTIONS ] [ peer [ name ] PEER ... ]\n"
		   "       ip link set NAME type wire OPTIONS\n"
		   "Options are those of the direction in which NAME sends; at creation both "
		   "directions get them.\n");
	for (i = 0; i < WIRE_OPTIONS; i++)
		fprintf(f, "  %-13s %-6s  %s\n", wire_options[i].name, wire_options[i].value,
			wire_options[i].help);
}

static const struct wire_option *wire_option_find(const char *name)
{
	size_t i;

	for (i = 0; i < WIRE_OPTIONS; i++)
		if (!strcmp(wire_options[i].name, name))
			return &wire_options[i];
	return NULL;
}

/* value = value * 10 + digit, or false if that does not fit */
static bool wire_digit(uint64_t *value, char digit)
{
	return !__builtin_mul_overflow(*value, 10, value) &&
	       !__builtin_add_overflow(*value, (uint64_t)(digit - '0'), value);
}

/* The factor of a suffix, 0 if there is none of that name. Case does not count. */
static uint64_t wire_factor(const struct wire_option *o, const char *suffix)
{
	const struct wire_unit *unit;

	if (!*suffix)
		return o->bare;
	for (unit = o->units; unit->name; unit++)
		if (!strcasecmp(unit->name, suffix))
			return unit->factor;
	return 0;
}

/* A decimal number with a unit that is whole in base units. The fraction's digits are taken as
 * a number over a power of ten, so nothing is rounded.
 */
static bool wire_parse(const struct wire_option *o, const char *text, uint64_t *value)
{
	uint64_t whole = 0, fraction = 0, scale = 1, factor, part;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++)
		if (!wire_digit(&whole, *p))
			return false;
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return false;
		for (; isdigit((unsigned char)*p); p++) {
			if (*p == '0' && !p[strspn(p, "0")])
				continue;
			if (!wire_digit(&fraction, *p) || __builtin_mul_overflow(scale, 10, &scale))
				return false;
		}
	}
	factor = wire_factor(o, p);
	if (!factor) {
		*value = 0;
		return !*p && !whole && !fraction;
	}
	if (__builtin_mul_overflow(fraction, factor, &part) || part % scale ||
	    __builtin_mul_overflow(whole, factor, value))
		return false;
	return !__builtin_add_overflow(*value, part / scale, value);
}

/* The unit for showing a value exactly. Percent whatever the share; else the largest unit not
 * above the value in which it is whole or, if the unit divides by 1000, has three decimals.
 */
static const struct wire_unit *wire_unit_for(const struct wire_option *o, uint64_t value)
{
	const struct wire_unit *unit, *best = o->units;

	for (unit = o->units; unit->name; unit++)
		if (o->units == wire_shares ||
		    (unit->factor <= value &&
		     !(value % (unit->factor % 1000 ? unit->factor : unit->factor / 1000))))
			best = unit;
	return best;
}

static void wire_format(const struct wire_option *o, uint64_t value, char *text, size_t bytes)
{
	const struct wire_unit *unit = wire_unit_for(o, value);
	uint64_t rest = value % unit->factor, step = unit->factor;
	int used;

	used = snprintf(text, bytes, "%" PRIu64 "%s", value / unit->factor, rest ? "." : "");
	while (rest) {
		step /= 10;
		used += snprintf(text + used, bytes - used, "%" PRIu64, rest / step);
		rest %= step;
	}
	snprintf(text + used, bytes - used, "%s", unit->name);
}

static int wire_parse_option(const struct wire_option *o, const char *text, struct nlmsghdr *n)
{
	const struct wire_unit *unit;
	uint64_t value;
	uint32_t value32;

	if (!wire_parse(o, text, &value) || (o->bytes == 4 && value > UINT32_MAX)) {
		fprintf(stderr, "wire: %s is not a value for %s, which takes a number", text,
			o->name);
		for (unit = o->units; unit->name && *unit->name; unit++)
			fprintf(stderr, "%s%s", unit == o->units ? " with " : "|", unit->name);
		fprintf(stderr, "\n");
		return -1;
	}
	if (o->bytes == 8)
		return addattr_l(n, WIRE_MESSAGE_BYTES, o->attr, &value, sizeof(value));
	value32 = value;
	return addattr_l(n, WIRE_MESSAGE_BYTES, o->attr, &value32, sizeof(value32));
}

/* How many words after `peer` are the peer's: up to the next option of the cable, unless that
 * word is itself the value of a link attribute that takes any word.
 */
static int wire_peer_words(int argc, char **argv)
{
	static const char * const free_text[] = { "name", "netns", "alias", "dev" };
	size_t i;
	int n;

	for (n = 0; n < argc; n++) {
		if (!wire_option_find(argv[n]))
			continue;
		for (i = 0; n && i < sizeof(free_text) / sizeof(free_text[0]); i++)
			if (!strcmp(argv[n - 1], free_text[i]))
				break;
		if (!n || i == sizeof(free_text) / sizeof(free_text[0]))
			break;
	}
	return n;
}

/* The peer's link attributes, parsed by ip as if it were a request of its own: it writes flags
 * and index into the header of the message, from where they go to the peer's.
 */
static int wire_parse_peer(int argc, char **argv, struct nlmsghdr *n)
{
	struct ifinfomsg *header = NLMSG_DATA(n), saved = *header;
	int words = wire_peer_words(argc, argv), taken;
	struct ifinfomsg peer = { .ifi_family = saved.ifi_family };
	struct rtattr *nest;
	char *type = NULL;

	if (!(n->nlmsg_flags & NLM_F_CREATE)) {
		fprintf(stderr, "wire: peer can be given at creation only\n");
		return -1;
	}
	if (!words) {
		fprintf(stderr, "wire: peer needs a name\n");
		return -1;
	}
	nest = addattr_nest(n, WIRE_MESSAGE_BYTES, IFLA_WIRE_PEER);
	n->nlmsg_len += NLMSG_ALIGN(sizeof(peer));
	*header = peer;
	taken = iplink_parse(words, argv, (struct iplink_req *)n, &type);
	peer = *header;
	*header = saved;
	if (taken < 0)
		return -1;
	if (type) {
		fprintf(stderr, "wire: the peer is a wire too, type is given once\n");
		return -1;
	}
	memcpy(RTA_DATA(nest), &peer, sizeof(peer));
	addattr_nest_end(n, nest);
	return taken;
}

static int wire_parse_opt(struct link_util *lu, int argc, char **argv, struct nlmsghdr *n)
{
	const struct wire_option *o;
	unsigned int seen = 0;
	int taken;

	(void)lu;
	while (argc > 0) {
		if (!strcmp(*argv, "help")) {
			wire_help(stderr);
			return -1;
		}
		if (!strcmp(*argv, "peer")) {
			taken = wire_parse_peer(argc - 1, argv + 1, n);
			if (taken < 0)
				return -1;
			argc -= taken + 1;
			argv += taken + 1;
			continue;
		}
		o = wire_option_find(*argv);
		if (!o) {
			fprintf(stderr, "wire: unknown option %s\n", *argv);
			wire_help(stderr);
			return -1;
		}
		if (argc < 2) {
			fprintf(stderr, "wire: %s needs a value\n", o->name);
			return -1;
		}
		if (seen & 1U << (o - wire_options)) {
			fprintf(stderr, "wire: %s is given twice\n", o->name);
			return -1;
		}
		seen |= 1U << (o - wire_options);
		if (wire_parse_option(o, argv[1], n))
			return -1;
		argc -= 2;
		argv += 2;
	}
	return 0;
}

static bool wire_read(const struct wire_option *o, struct rtattr *attr, uint64_t *value)
{
	uint32_t value32;

	if (!attr || RTA_PAYLOAD(attr) < (size_t)o->bytes)
		return false;
	if (o->bytes == 8) {
		memcpy(value, RTA_DATA(attr), sizeof(*value));
		return true;
	}
	memcpy(&value32, RTA_DATA(attr), sizeof(value32));
	*value = value32;
	return true;
}

static void wire_print_opt(struct link_util *lu, FILE *f, struct rtattr *tb[])
{
	const struct wire_option *o;
	uint64_t value;
	char text[64];

	(void)lu;
	if (!tb)
		return;
	for (o = wire_options; o < wire_options + WIRE_OPTIONS; o++) {
		if (!wire_read(o, tb[o->attr], &value))
			continue;
		if (is_json_context()) {
			plugin_json_u64(o->name, value);
			continue;
		}
		if (o->quiet == value && o->quiet != SHOWN)
			continue;
		wire_format(o, value, text, sizeof(text));
		fprintf(f, "%s %s ", o->name, text);
	}
}

static void wire_print_help(struct link_util *lu, int argc, char **argv, FILE *f)
{
	(void)lu;
	(void)argc;
	(void)argv;
	wire_help(f);
}

extern PLUGIN_VISIBLE struct link_util wire_link_util;

struct link_util wire_link_util = {
	.id = "wire",
	.maxattr = IFLA_WIRE_MAX,
	.parse_opt = wire_parse_opt,
	.print_opt = wire_print_opt,
	.print_help = wire_print_help,
};
