// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_rocc - the kind rocc for tc: its options, its statistics and its limiters, which are classes
 *
 * Its tables, and what a list of prefixes is; what is done with the tables is in options.c.
 *
 * A qdisc has one role and dumps the options and statistics of that role: what is there is
 * printed. Keys are typed and never printed, only which of them there are.
 */
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "options.h"
#include "../kernel/uapi/rocc.h"

#define ROCC_MAPPED_BITS	96	/* in front of an IPv4 address in an IPv6 one */

static const struct plugin_choice rocc_roles[] = {
	{ .name = "switch",	.value = ROCC_ROLE_SWITCH },
	{ .name = "host",	.value = ROCC_ROLE_HOST },
	{}
};

static const struct plugin_choice rocc_tunings[] = {
	{ .name = "steps",	.value = ROCC_TUNING_STEPS },
	{ .name = "smooth",	.value = ROCC_TUNING_SMOOTH },
	{}
};

static const struct plugin_choice rocc_tables[] = {
	{ .name = "queue",	.value = ROCC_TABLE_QUEUE },
	{ .name = "age",	.value = ROCC_TABLE_AGE },
	{ .name = "elephants",	.value = ROCC_TABLE_ELEPHANTS },
	{ .name = "afd",	.value = ROCC_TABLE_AFD },
	{}
};

static const struct plugin_choice rocc_computes[] = {
	{ .name = "switch",	.value = ROCC_COMPUTE_SWITCH },
	{ .name = "host",	.value = ROCC_COMPUTE_HOST },
	{}
};

static const struct plugin_choice rocc_signs[] = {
	{ .name = "none",	.value = 0 },
	{ .name = "1",		.value = 1 },
	{ .name = "2",		.value = 2 },
	{}
};

static const struct plugin_choice rocc_protocols[] = {
	{ .name = "icmp",	.value = IPPROTO_ICMP },
	{ .name = "tcp",	.value = IPPROTO_TCP },
	{ .name = "udp",	.value = IPPROTO_UDP },
	{ .name = "dccp",	.value = IPPROTO_DCCP },
	{ .name = "gre",	.value = IPPROTO_GRE },
	{ .name = "esp",	.value = IPPROTO_ESP },
	{ .name = "icmpv6",	.value = IPPROTO_ICMPV6 },
	{ .name = "sctp",	.value = IPPROTO_SCTP },
	{ .name = "udplite",	.value = IPPROTO_UDPLITE },
	{}
};

/* Prefixes. An IPv4 one is the mapped one in the attribute, with 96 bits more. */
static bool rocc_prefix_v4(const struct rocc_prefix *p)
{
	static const __u8 mapped[ROCC_MAPPED_BITS / 8] = { [10] = 0xff, [11] = 0xff };

	return p->bits >= ROCC_MAPPED_BITS && !memcmp(p->address, mapped, sizeof(mapped));
}

/* Nothing but zeros behind it? */
static bool rocc_prefix_ends(const struct rocc_prefix *p)
{
	for (unsigned int bit = p->bits; bit < 8 * sizeof(p->address); bit++)
		if (p->address[bit / 8] & 0x80 >> bit % 8)
			return false;
	return true;
}

/* ADDRESS or ADDRESS/BITS; @word is cut in two. */
static int rocc_prefix_parse(char *word, struct rocc_prefix *p)
{
	char *slash = strchr(word, '/');
	unsigned int most, more = 0;

	if (slash)
		*slash++ = '\0';
	memset(p, 0, sizeof(*p));
	if (inet_pton(AF_INET, word, p->address + ROCC_MAPPED_BITS / 8) == 1) {
		p->address[10] = 0xff;
		p->address[11] = 0xff;
		more = ROCC_MAPPED_BITS;
	} else if (inet_pton(AF_INET6, word, p->address) != 1) {
		return -1;
	}
	most = 8 * sizeof(p->address) - more;
	if (slash && (!*slash || strlen(slash) > 3 || slash[strspn(slash, "0123456789")] ||
		      strtoul(slash, NULL, 10) > most))
		return -1;
	p->bits = more + (slash ? strtoul(slash, NULL, 10) : most);
	return rocc_prefix_ends(p) ? 0 : -1;
}

static int rocc_from_parse(const struct plugin_option *o, const char *arg, struct nlmsghdr *n)
{
	char words[ROCC_PREFIXES_MAX * (INET6_ADDRSTRLEN + sizeof("/128,"))];
	struct rocc_prefix prefix;
	unsigned int count = 0;
	char *word, *next;
	struct rtattr *nest;

	nest = addattr_nest(n, PLUGIN_MESSAGE_MAX, o->f.attr | NLA_F_NESTED);
	if (arg && strlen(arg) >= sizeof(words))
		return -1;
	snprintf(words, sizeof(words), "%s", arg ? arg : "");
	for (word = arg ? words : NULL; word; word = next) {
		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		if (++count > ROCC_PREFIXES_MAX || rocc_prefix_parse(word, &prefix) ||
		    addattr_l(n, PLUGIN_MESSAGE_MAX, TCA_ROCC_FROM_PREFIX, &prefix, sizeof(prefix)))
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* The next prefix of the nest, from @attr on, as text; NULL behind the last. */
static const struct rtattr *rocc_from_next(char *buf, const struct rtattr *attr, int *left)
{
	struct rocc_prefix p;
	char address[PLUGIN_TEXT_MAX];

	for (; RTA_OK(attr, *left); attr = RTA_NEXT(attr, *left)) {
		if ((attr->rta_type & NLA_TYPE_MASK) != TCA_ROCC_FROM_PREFIX ||
		    RTA_PAYLOAD(attr) < sizeof(p))
			continue;
		memcpy(&p, RTA_DATA(attr), sizeof(p));
		if (rocc_prefix_v4(&p))
			plugin_address_text(address, p.address, sizeof(p.address));
		else	/* ::ffff:0:0/90 is none of IPv4 */
			inet_ntop(AF_INET6, p.address, address, sizeof(address));
		snprintf(buf, PLUGIN_TEXT_MAX, "%.*s/%u", INET6_ADDRSTRLEN, address,
			 p.bits - (rocc_prefix_v4(&p) ? ROCC_MAPPED_BITS : 0));
		return RTA_NEXT(attr, *left);
	}
	return NULL;
}

static void rocc_from_print(FILE *f, const struct rtattr *nest)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int left = RTA_PAYLOAD(nest);
	char buf[PLUGIN_TEXT_MAX];
	const char *between = "";

	while ((attr = rocc_from_next(buf, attr, &left))) {
		fprintf(f, "%s%s", between, buf);
		between = ",";
	}
	if (!*between)
		fprintf(f, "any");
}

static void rocc_from_json(const char *key, const struct rtattr *nest)
{
	const struct rtattr *attr = RTA_DATA(nest);
	int left = RTA_PAYLOAD(nest);
	char buf[PLUGIN_TEXT_MAX];

	open_json_array(PRINT_JSON, key);
	while ((attr = rocc_from_next(buf, attr, &left)))
		plugin_json_string(NULL, buf);
	close_json_array(PRINT_JSON, NULL);
}

static const struct plugin_own rocc_from = {
	.rule = "up to 16 prefixes, such as 10.0.0.0/8,fe80::/64, with no bits set behind them,",
	.parse = rocc_from_parse,
	.print = rocc_from_print,
	.json = rocc_from_json,
};

_Static_assert(ROCC_PREFIXES_MAX == 16, "the rule says how many");

static const struct plugin_option rocc_options[] = {
	{ .f = { "role", TCA_ROCC_ROLE, PLUGIN_CHOICE, rocc_roles }, .size = 1,
	  .help = "computes fair rates and tells them, or obeys them (switch)" },
	{ .f = { "rate", TCA_ROCC_RATE, PLUGIN_RATE, NULL }, .size = 8, .zero = "auto",
	  .max = UINT64_MAX,
	  .help = "what the link carries (auto: the device's speed)" },
	{ .f = { "limit", TCA_ROCC_LIMIT, PLUGIN_BYTES, NULL }, .size = 4,
	  .min = 1, .max = UINT32_MAX,
	  .help = "bytes that may be queued (8Mb)" },
	{ .f = { "control-share", TCA_ROCC_CONTROL_SHARE, PLUGIN_SHARE, NULL }, .size = 4,
	  .min = 1, .max = 10000,
	  .help = "of the link, for control packets that are only forwarded (5%)" },
	{ .f = { "control-dscp", TCA_ROCC_CONTROL_DSCP, PLUGIN_COUNT, NULL }, .size = 1, .zero = "none",
	  .min = 1, .max = 63,
	  .help = "IP packets with this DSCP are control packets, too (none)" },
	{ .f = { "key1", TCA_ROCC_KEY1, PLUGIN_KEY, NULL }, .size = ROCC_KEY_BYTES, .zero = "none",
	  .help = "key that CNPs are signed with, never shown (none)" },
	{ .f = { "key2", TCA_ROCC_KEY2, PLUGIN_KEY, NULL }, .size = ROCC_KEY_BYTES, .zero = "none",
	  .help = "another one, to replace it or be replaced (none)" },
	{ .f = { "interval", TCA_ROCC_INTERVAL, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "switch: T (auto: 125000 bytes at the rate, at least 40us)" },
	{ .f = { "rate-min", TCA_ROCC_RATE_MIN, PLUGIN_RATE, NULL }, .size = 8, .zero = "auto",
	  .max = UINT64_MAX,
	  .help = "switch: least fair rate (auto: rate / 400, above 70gbit / 1000)" },
	{ .f = { "qref", TCA_ROCC_QREF, PLUGIN_BYTES, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "switch: reference length of the queue (auto: the paper's)" },
	{ .f = { "qmid", TCA_ROCC_QMID, PLUGIN_BYTES, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "switch: growth in one T that halves the rate (auto: the paper's)" },
	{ .f = { "qmax", TCA_ROCC_QMAX, PLUGIN_BYTES, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "switch: length that cuts the rate to rate-min (auto: the paper's)" },
	{ .f = { "alpha", TCA_ROCC_ALPHA, PLUGIN_GAIN, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = UINT32_MAX,
	  .help = "switch: gain of the queue's length (auto: the paper's)" },
	{ .f = { "beta", TCA_ROCC_BETA, PLUGIN_GAIN, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = UINT32_MAX,
	  .help = "switch: gain of the queue's growth (auto: the paper's)" },
	{ .f = { "tuning", TCA_ROCC_TUNING, PLUGIN_CHOICE, rocc_tunings }, .size = 1,
	  .help = "switch: how the gains follow the rate (steps)" },
	{ .f = { "table", TCA_ROCC_TABLE, PLUGIN_CHOICE, rocc_tables }, .size = 1,
	  .help = "switch: which flows are told (queue)" },
	{ .f = { "flows", TCA_ROCC_FLOWS, PLUGIN_COUNT, NULL }, .size = 4,
	  .min = 4, .max = ROCC_FLOWS_MAX,
	  .help = "switch: entries of the flow table, a multiple of 4 (4096)" },
	{ .f = { "age", TCA_ROCC_AGE, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "switch: how long table age remembers a flow (auto: 4 T)" },
	{ .f = { "sample", TCA_ROCC_SAMPLE, PLUGIN_COUNT, NULL }, .size = 4,
	  .min = 1, .max = UINT32_MAX,
	  .help = "switch: tables elephants and afd look at one packet of so many (16)" },
	{ .f = { "cnps", TCA_ROCC_CNPS, PLUGIN_COUNT, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = UINT32_MAX,
	  .help = "switch: CNPs per second at most (auto: a quarter of a CPU)" },
	{ .f = { "source", TCA_ROCC_SOURCE, PLUGIN_ADDRESS, NULL }, .size = 4,
	  .help = "switch: source of CNPs on devices without one (192.0.0.8)" },
	{ .f = { "compute", TCA_ROCC_COMPUTE, PLUGIN_CHOICE, rocc_computes }, .size = 1,
	  .help = "switch: who computes the fair rate (switch)" },
	{ .f = { "sign", TCA_ROCC_SIGN, PLUGIN_CHOICE, rocc_signs }, .size = 1,
	  .help = "switch: number of the key that CNPs are signed with (none)" },
	{ .f = { "recovery", TCA_ROCC_RECOVERY, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "host: how long after a CNP a rate is doubled (auto: 1.375 T)" },
	{ .f = { "hold", TCA_ROCC_HOLD, PLUGIN_TIME, NULL }, .size = 4,
	  .min = 1, .max = UINT32_MAX,
	  .help = "host: longest time that one CNP holds a flow (20ms)" },
	{ .f = { "floor", TCA_ROCC_FLOOR, PLUGIN_RATE, NULL }, .size = 8, .zero = "auto",
	  .max = UINT64_MAX,
	  .help = "host: least rate of a flow (auto: rate / 1000)" },
	{ .f = { "limiters", TCA_ROCC_LIMITERS, PLUGIN_COUNT, NULL }, .size = 4,
	  .min = 1, .max = ROCC_LIMITERS_MAX,
	  .help = "host: flows limited at a time, at most (4096)" },
	{ .f = { "radius", TCA_ROCC_RADIUS, PLUGIN_COUNT, NULL }, .size = 1,
	  .max = 254,
	  .help = "host: routers that a CNP may have passed (8)" },
	{ .f = { "from", TCA_ROCC_FROM, PLUGIN_OWN, NULL }, .zero = "any",
	  .syntax = "PREFIX[,PREFIX...]", .own = &rocc_from,
	  .help = "host: where CNPs may come from (any)" },
};

static const struct plugin_field rocc_shown[] = {
	{ "keys", TCA_ROCC_KEYS, PLUGIN_BITS, NULL },
	{}
};

#define QSTAT(...) PLUGIN_STAT(TCA_ROCC_STATS_, __VA_ARGS__)
#define QLINE(...) PLUGIN_LINE(TCA_ROCC_STATS_, __VA_ARGS__)
static const struct plugin_stat rocc_stats[] = {
	QLINE("now", "fair_rate", FAIR_RATE, PLUGIN_RATE),
	QSTAT("q_ref", Q_REF, PLUGIN_BYTES),
	QSTAT("interval", INTERVAL, PLUGIN_TIME),
	QSTAT("flows_active", FLOWS_ACTIVE, PLUGIN_COUNT),
	QSTAT("limiters", LIMITERS, PLUGIN_COUNT),
	QSTAT("held", HELD, PLUGIN_BYTES),
	QLINE("highest", "backlog_max", BACKLOG_MAX, PLUGIN_BYTES),
	QSTAT("backlog_time", BACKLOG_TIME, PLUGIN_COUNT),
	QSTAT("time", TIME, PLUGIN_TIME),
	QSTAT("limiters_max", LIMITERS_MAX, PLUGIN_COUNT),
	QLINE("flows", "control", CONTROL, PLUGIN_COUNT),
	QSTAT("spilled", SPILLED, PLUGIN_COUNT),
	QSTAT("no_flow", NO_FLOW, PLUGIN_COUNT),
	QSTAT("untracked", UNTRACKED, PLUGIN_COUNT),
	QLINE("cnps", "ticks", TICKS, PLUGIN_COUNT),
	QSTAT("cuts", CUTS, PLUGIN_COUNT),
	QSTAT("cnps", CNPS, PLUGIN_COUNT),
	QSTAT("cnps_held", CNPS_HELD, PLUGIN_COUNT),
	QSTAT("cnps_failed", CNPS_FAILED, PLUGIN_COUNT),
	QSTAT("cnps_vlan", CNPS_VLAN, PLUGIN_COUNT),
	QSTAT("accepted", ACCEPTED, PLUGIN_COUNT),
	QSTAT("higher", HIGHER, PLUGIN_COUNT),
	QSTAT("not_needed", NOT_NEEDED, PLUGIN_COUNT),
	QSTAT("stale", STALE, PLUGIN_COUNT),
	QSTAT("full", FULL, PLUGIN_COUNT),
	QSTAT("epoch_back", EPOCH_BACK, PLUGIN_COUNT),
	QLINE("limiters", "delayed", DELAYED, PLUGIN_COUNT),
	QSTAT("raised", RAISED, PLUGIN_COUNT),
	QSTAT("removed", REMOVED, PLUGIN_COUNT),
	QLINE("refused", "bad_frame", BAD_FRAME, PLUGIN_COUNT),
	QSTAT("bad_checksum", BAD_CHECKSUM, PLUGIN_COUNT),
	QSTAT("bad_version", BAD_VERSION, PLUGIN_COUNT),
	QSTAT("bad_range", BAD_RANGE, PLUGIN_COUNT),
	QSTAT("bad_ttl", BAD_TTL, PLUGIN_COUNT),
	QSTAT("bad_source", BAD_SOURCE, PLUGIN_COUNT),
	QSTAT("bad_tag", BAD_TAG, PLUGIN_COUNT),
	QSTAT("bad_flow", BAD_FLOW, PLUGIN_COUNT),
	QSTAT("bad_sequence", BAD_SEQUENCE, PLUGIN_COUNT),
	QLINE("lost", "drop_limit", DROP_LIMIT, PLUGIN_COUNT),
	QSTAT("drop_control", DROP_CONTROL, PLUGIN_COUNT),
	QSTAT("drop_police", DROP_POLICE, PLUGIN_COUNT),
};

#define LSTAT(...) PLUGIN_STAT(TCA_ROCC_LIMITER_, __VA_ARGS__)
/* In text they are one word each side, see rocc_print_flow(). */
static const struct plugin_stat rocc_flow[] = {
	{ .f = { "protocol", TCA_ROCC_LIMITER_PROTOCOL, PLUGIN_CHOICE, rocc_protocols } },
	LSTAT("source", SOURCE, PLUGIN_ADDRESS),
	LSTAT("destination", DESTINATION, PLUGIN_ADDRESS),
	LSTAT("sport", SPORT, PLUGIN_COUNT),
	LSTAT("dport", DPORT, PLUGIN_COUNT),
};

static const struct plugin_stat rocc_limiter[] = {
	LSTAT("rate", RATE, PLUGIN_RATE),
	LSTAT("point", POINT, PLUGIN_ADDRESS),
	LSTAT("point_port", POINT_PORT, PLUGIN_COUNT),
	LSTAT("point_queue", POINT_QUEUE, PLUGIN_COUNT),
	LSTAT("age", AGE, PLUGIN_TIME),
	LSTAT("quiet", QUIET, PLUGIN_TIME),
	LSTAT("accepted", ACCEPTED, PLUGIN_COUNT),
	LSTAT("raised", RAISED, PLUGIN_COUNT),
};

static const struct plugin_kind rocc_kind = {
	.name = "rocc",
	.options = rocc_options, .count = PLUGIN_ARRAY_SIZE(rocc_options), .max = TCA_ROCC_MAX,
	.fixed = "  TIME is a number with ns, us, ms or s; RATE as 10gbit; BYTES as 64k; GAIN as 0.025.\n"
		 "  After creation, role, table, flows and limiters cannot be changed.\n"
		 "  See tc-rocc(8).\n",
	.shown = rocc_shown,
	.version = TCA_ROCC_VERSION, .speaks = ROCC_VERSION,
};

static int rocc_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)dev;
	return plugin_parse_options(&rocc_kind, argc, argv, n);
}

/* Limiters come with CNPs and go when they are no longer needed. */
static int rocc_parse_copt(const struct qdisc_util *qu, int argc, char **argv,
			   struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)argc;
	(void)argv;
	(void)n;
	(void)dev;
	fprintf(stderr, "rocc: its classes are made by the qdisc and have no options\n");
	return -1;
}

static int rocc_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	return plugin_print_options(&rocc_kind, f, opt);
}

static int rocc_print_copt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

/* One end of a flow: 10.0.0.1:80, [fe80::1]:80 */
static void rocc_print_end(FILE *f, const struct rtattr *address, const struct rtattr *port)
{
	static const struct plugin_field number = { .type = PLUGIN_COUNT };
	const char *format = address && RTA_PAYLOAD(address) == 16 ? "[%s]" : "%s";
	char buf[PLUGIN_TEXT_MAX] = "?";

	if (address)
		plugin_address_text(buf, RTA_DATA(address), RTA_PAYLOAD(address));
	fprintf(f, format, buf);
	if (port)
		fprintf(f, ":%s", plugin_attr_text(buf, &number, port));
}

static void rocc_print_flow(FILE *f, const struct rtattr **tb)
{
	const struct rtattr *protocol = tb[TCA_ROCC_LIMITER_PROTOCOL];
	char buf[PLUGIN_TEXT_MAX];

	fprintf(f, "  limiter: %s ",
		protocol ? plugin_attr_text(buf, &rocc_flow[0].f, protocol) : "?");
	rocc_print_end(f, tb[TCA_ROCC_LIMITER_SOURCE], tb[TCA_ROCC_LIMITER_SPORT]);
	fprintf(f, " > ");
	rocc_print_end(f, tb[TCA_ROCC_LIMITER_DESTINATION], tb[TCA_ROCC_LIMITER_DPORT]);
}

/* A limiter always says the source of its flow, an address; what has its number at a qdisc, if
 * anything, is as long as none.
 */
static bool rocc_is_limiter(const struct rtattr **tb)
{
	const struct rtattr *source = tb[TCA_ROCC_LIMITER_SOURCE];

	return source && (RTA_PAYLOAD(source) == 4 || RTA_PAYLOAD(source) == 16);
}

/* tc calls this for a qdisc and for a class and does not say which. */
static int rocc_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	const struct rtattr *tb[TCA_ROCC_STATS_MAX + TCA_ROCC_LIMITER_MAX];	/* for both */
	bool first = true;

	(void)qu;
	plugin_attrs(tb, PLUGIN_ARRAY_SIZE(tb) - 1, xstats);
	if (!rocc_is_limiter(tb)) {
		plugin_print_stats(f, rocc_stats, PLUGIN_ARRAY_SIZE(rocc_stats), tb, &first);
		return 0;
	}
	if (is_json_context())
		plugin_print_stats(f, rocc_flow, PLUGIN_ARRAY_SIZE(rocc_flow), tb, &first);
	else
		rocc_print_flow(f, tb);
	plugin_print_stats(f, rocc_limiter, PLUGIN_ARRAY_SIZE(rocc_limiter), tb, &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util rocc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util rocc_qdisc_util = {
	.id		= "rocc",
	.parse_qopt	= rocc_parse_qopt,
	.print_qopt	= rocc_print_qopt,
	.print_xstats	= rocc_print_xstats,
	.parse_copt	= rocc_parse_copt,
	.print_copt	= rocc_print_copt,
};
