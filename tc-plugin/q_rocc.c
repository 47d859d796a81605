// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_rocc - the kind rocc for tc: its options, its statistics and its limiters, which are classes
 *
 * Its tables are in rocc_tables.h; here is what a list of prefixes is, and what a limiter looks
 * like. What is done with the tables is in options.c.
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

#include "rocc_tables.h"

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
		protocol ? plugin_attr_text(buf, &rocc_limiter_flow_stats[0].f, protocol) : "?");
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
		plugin_print_stats(f, rocc_limiter_flow_stats,
				   PLUGIN_ARRAY_SIZE(rocc_limiter_flow_stats), tb, &first);
	else
		rocc_print_flow(f, tb);
	plugin_print_stats(f, rocc_limiter_stats, PLUGIN_ARRAY_SIZE(rocc_limiter_stats), tb,
			   &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util rocc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util rocc_qdisc_util = {
	.id		= "rocc",
	.parse_qopt	= rocc_parse_qopt,
	.print_qopt	= rocc_print_qopt,
	.print_xstats	= rocc_print_xstats,
	.parse_copt	= plugin_parse_class,
	.print_copt	= plugin_print_class,
};
