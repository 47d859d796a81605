// SPDX-License-Identifier: GPL-2.0-only
/*
 * options - what the kinds have in common: see options.h
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <arpa/inet.h>

#include "options.h"

/*
 * Values to text. All are exact: tc's own helpers keep three digits, and then what is printed
 * cannot be typed in again, nor two readings be subtracted.
 */
struct plugin_unit {
	__u64 one;
	const char *name;
};

/* A fixed-point number, without zeros behind it */
static const char *plugin_fixed(char *buf, __u64 v, __u64 one, const char *name)
{
	int n = snprintf(buf, PLUGIN_TEXT_MAX, "%llu", (unsigned long long)(v / one));

	v %= one;
	if (v) {
		buf[n++] = '.';
		for (__u64 digit = one / 10; v; v %= digit, digit /= 10)
			buf[n++] = '0' + v / digit;
	}
	snprintf(buf + n, PLUGIN_TEXT_MAX - n, "%s", name);
	return buf;
}

/* In decimal, in the largest unit that leaves something before the point. */
static const char *plugin_decimal(char *buf, const struct plugin_unit *unit, __u64 v)
{
	while (v < unit->one && unit->one > 1)
		unit++;
	return plugin_fixed(buf, v, unit->one, unit->name);
}

static const char *plugin_time_text(char *buf, __u64 ns)
{
	static const struct plugin_unit units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};

	return plugin_decimal(buf, units, ns);
}

static const char *plugin_rate_text(char *buf, __u64 bytes)
{
	static const struct plugin_unit units[] = {
		{ 1000000000000, "Tbit" }, { 1000000000, "Gbit" }, { 1000000, "Mbit" },
		{ 1000, "Kbit" }, { 1, "bit" },
	};

	if (bytes <= UINT64_MAX / 8)
		return plugin_decimal(buf, units, bytes * 8);
	snprintf(buf, PLUGIN_TEXT_MAX, "%llubps", (unsigned long long)bytes);
	return buf;
}

static const char *plugin_bytes_text(char *buf, __u64 bytes)
{
	static const struct plugin_unit units[] = {
		{ 1 << 30, "Gb" }, { 1 << 20, "Mb" }, { 1 << 10, "Kb" }, { 1, "b" },
	};
	const struct plugin_unit *unit = units;

	while (unit->one > 1 && (bytes < unit->one || bytes % unit->one))
		unit++;
	snprintf(buf, PLUGIN_TEXT_MAX, "%llu%s", (unsigned long long)(bytes / unit->one),
		 unit->name);
	return buf;
}

static const char *plugin_bits_text(char *buf, __u64 v)
{
	int n = 0;

	for (unsigned int bit = 0; bit < 8; bit++)
		if (v >> bit & 1)
			n += snprintf(buf + n, PLUGIN_TEXT_MAX - n, "%s%u", n ? "," : "", bit + 1);
	return n ? buf : "none";
}

static const struct plugin_choice *plugin_choice(const struct plugin_choice *choices, __u64 value)
{
	for (; choices->name; choices++)
		if (choices->value == value)
			return choices;
	return NULL;
}

static const char *plugin_choice_text(char *buf, const struct plugin_field *f, __u64 v)
{
	const struct plugin_choice *choice = plugin_choice(f->choices, v);

	if (choice)
		return choice->name;
	snprintf(buf, PLUGIN_TEXT_MAX, "%llu", (unsigned long long)v);
	return buf;
}

static const char *plugin_value_text(char *buf, const struct plugin_field *f, __u64 v)
{
	switch (f->type) {
	case PLUGIN_BYTES:
		return plugin_bytes_text(buf, v);
	case PLUGIN_TIME:
		return plugin_time_text(buf, v);
	case PLUGIN_RATE:
		return plugin_rate_text(buf, v);
	case PLUGIN_BOOL:
		return v ? "yes" : "no";
	case PLUGIN_CHOICE:
		return plugin_choice_text(buf, f, v);
	case PLUGIN_SIGNED:
		snprintf(buf, PLUGIN_TEXT_MAX, "%lld", (long long)v);
		return buf;
	case PLUGIN_PERCENT:
		snprintf(buf, PLUGIN_TEXT_MAX, "%llu%%", (unsigned long long)v);
		return buf;
	case PLUGIN_SHARE:
		return plugin_fixed(buf, v, 100, "%");
	case PLUGIN_GAIN:
		return plugin_fixed(buf, v, 10000, "");
	case PLUGIN_BITS:
		return plugin_bits_text(buf, v);
	default:
		break;
	}
	snprintf(buf, PLUGIN_TEXT_MAX, "%llu", (unsigned long long)v);
	return buf;
}

/*
 * Reading attributes. An integer is read by the length that it came with, so that a module that
 * widens one is still understood.
 */
static __u64 plugin_attr_integer(const struct rtattr *attr, bool is_signed)
{
	const void *data = RTA_DATA(attr);
	__u64 v64;
	__u32 v32;
	__u16 v16;

	switch (RTA_PAYLOAD(attr)) {
	case 1:
		return *(const __u8 *)data;
	case 2:
		memcpy(&v16, data, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, data, sizeof(v32));
		return is_signed ? (__u64)(__s32)v32 : v32;
	case 8:
		memcpy(&v64, data, sizeof(v64));
		return v64;
	}
	return 0;
}

void plugin_attrs(const struct rtattr **tb, int max, const struct rtattr *nest)
{
	const struct rtattr *attr;
	int left;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	if (!nest)
		return;
	attr = RTA_DATA(nest);
	for (left = RTA_PAYLOAD(nest); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		int type = attr->rta_type & NLA_TYPE_MASK;

		if (type <= max)
			tb[type] = attr;
	}
}

static const char *plugin_mac_text(char *buf, const struct rtattr *attr)
{
	const __u8 *mac = RTA_DATA(attr);

	buf[0] = '\0';
	if (RTA_PAYLOAD(attr) >= 6)
		snprintf(buf, PLUGIN_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x",
			 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	return buf;
}

const char *plugin_address_text(char *buf, const void *address, size_t bytes)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	const __u8 *b = address;

	buf[0] = '\0';
	if (bytes == 16 && !memcmp(b, mapped, sizeof(mapped)))
		inet_ntop(AF_INET, b + sizeof(mapped), buf, PLUGIN_TEXT_MAX);
	else if (bytes == 16)
		inet_ntop(AF_INET6, b, buf, PLUGIN_TEXT_MAX);
	else if (bytes == 4)
		inet_ntop(AF_INET, b, buf, PLUGIN_TEXT_MAX);
	return buf;
}

const char *plugin_attr_text(char *buf, const struct plugin_field *f, const struct rtattr *attr)
{
	switch (f->type) {
	case PLUGIN_MAC:
		return plugin_mac_text(buf, attr);
	case PLUGIN_ADDRESS:
		return plugin_address_text(buf, RTA_DATA(attr), RTA_PAYLOAD(attr));
	default:
		return plugin_value_text(buf, f,
					 plugin_attr_integer(attr, f->type == PLUGIN_SIGNED));
	}
}

/* What JSON calls it */
static void plugin_json_key(char *key, const struct plugin_field *f)
{
	char *dash;

	snprintf(key, PLUGIN_TEXT_MAX - sizeof("_by"), "%s", f->name);
	while ((dash = strchr(key, '-')))
		*dash = '_';
}

static void plugin_json_numbers(const char *key, const struct rtattr *attr)
{
	const __u8 *map = RTA_DATA(attr);

	open_json_array(PRINT_JSON, key);
	for (unsigned int i = 0; i < RTA_PAYLOAD(attr); i++)
		plugin_json_u64(NULL, map[i]);
	close_json_array(PRINT_JSON, NULL);
}

static void plugin_json_bits(const char *key, __u64 v)
{
	open_json_array(PRINT_JSON, key);
	for (unsigned int bit = 0; bit < 8; bit++)
		if (v >> bit & 1)
			plugin_json_u64(NULL, bit + 1);
	close_json_array(PRINT_JSON, NULL);
}

static void plugin_json(const struct plugin_field *f, const struct rtattr *attr)
{
	__u64 v = plugin_attr_integer(attr, f->type == PLUGIN_SIGNED);
	char key[PLUGIN_TEXT_MAX], buf[PLUGIN_TEXT_MAX];

	plugin_json_key(key, f);
	switch (f->type) {
	case PLUGIN_BOOL:
		plugin_json_bool(key, v);
		if (f->choices) {
			strcat(key, "_by");
			plugin_json_string(key, plugin_choice_text(buf, f, v));
		}
		break;
	case PLUGIN_SIGNED:
		plugin_json_s64(key, v);
		break;
	case PLUGIN_SHARE:
		plugin_json_float(key, v / 100.0);
		break;
	case PLUGIN_GAIN:
		plugin_json_float(key, v / 10000.0);
		break;
	case PLUGIN_CHOICE:
	case PLUGIN_MAC:
	case PLUGIN_ADDRESS:
		plugin_json_string(key, plugin_attr_text(buf, f, attr));
		break;
	case PLUGIN_BITS:
		plugin_json_bits(key, v);
		break;
	case PLUGIN_NUMBERS:
		plugin_json_numbers(key, attr);
		break;
	default:
		plugin_json_u64(key, v);
	}
}

/*
 * Options: parsing. Each plugin_parse_<type>() reads one word; plugin_accept() holds it against the
 * row's range; plugin_refuse() turns the row into the rule that the user is told.
 */
static void plugin_rule(char *buf, size_t size, const struct plugin_option *o)
{
	char min[PLUGIN_TEXT_MAX], max[PLUGIN_TEXT_MAX];
	const struct plugin_choice *choice;
	int n = 0;

	plugin_value_text(min, &o->f, o->min);
	plugin_value_text(max, &o->f, o->max);
	switch (o->f.type) {
	case PLUGIN_BYTES:
		if (o->min)
			n = snprintf(buf, size, "a size from %s to %s", min, max);
		else
			n = snprintf(buf, size, "a size below 4Gb");
		break;
	case PLUGIN_TIME:
		if (o->min)
			n = snprintf(buf, size, "a time from %s to %s, with its unit", min, max);
		else
			n = snprintf(buf, size, "a time up to %s, with its unit", max);
		n += snprintf(buf + n, size - n, " (ns, us, ms, s)%s", o->zero ? "," : "");
		break;
	case PLUGIN_RATE:
		n = snprintf(buf, size, "a rate such as 10gbit");
		break;
	case PLUGIN_PERCENT:
	case PLUGIN_SHARE:
		n = snprintf(buf, size, "a percentage from %s to %s", min, max);
		break;
	case PLUGIN_CHOICE:
		n = snprintf(buf, size, "one of");
		for (choice = o->f.choices; choice->name; choice++)
			n += snprintf(buf + n, size - n, "%s %s",
				      choice == o->f.choices ? "" : ",", choice->name);
		break;
	case PLUGIN_NUMBERS:
		n = snprintf(buf, size, "%d numbers from 0 to %s", o->size, max);
		break;
	case PLUGIN_ADDRESS:
		n = snprintf(buf, size, "an IPv4 address");
		break;
	case PLUGIN_KEY:
		n = snprintf(buf, size, "%u hexadecimal digits", o->size * 2);
		break;
	case PLUGIN_OWN:
		n = snprintf(buf, size, "%s", o->own->rule);
		break;
	default:
		n = snprintf(buf, size, "a number from %s to %s", min, max);
	}
	if (o->zero)
		snprintf(buf + n, size - n, " or \"%s\"", o->zero);
}

static int plugin_refuse(const struct plugin_kind *kind, const struct plugin_option *o,
			 const char *arg)
{
	char rule[256];

	plugin_rule(rule, sizeof(rule), o);
	if (arg && o->f.type == PLUGIN_KEY)	/* nearly right, perhaps, and a secret */
		fprintf(stderr, "%s: \"%s\" takes %s\n", kind->name, o->f.name, rule);
	else if (arg)
		fprintf(stderr, "%s: \"%s\" takes %s, not \"%s\"\n", kind->name, o->f.name,
			rule, arg);
	else
		fprintf(stderr, "%s: \"%s\" takes %s, and nothing follows it\n", kind->name,
			o->f.name, rule);
	return -1;
}

/* Decimal or 0x; strtoull() alone would take "-1", " 1" and, in base 0, "010" as 8. */
static int plugin_parse_count(const char *arg, __u64 *v, const char *unit)
{
	bool hex = arg[0] == '0' && (arg[1] == 'x' || arg[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)arg[0]) || (hex && !isxdigit((unsigned char)arg[2])))
		return -1;
	*v = strtoull(arg, &end, hex ? 16 : 10);
	return *end && strcmp(end, unit) ? -1 : 0;
}

/* get_time64() of tc truncates: 1.001us becomes 1000 ns. */
static int plugin_parse_time(const char *arg, __u64 *v)
{
	static const struct plugin_unit units[] = {
		{ 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" },
		{ 1, "nsec" }, { 1000, "usec" }, { 1000000, "msec" }, { 1000000000, "sec" },
	};
	long double number;
	char *end;

	if (!isdigit((unsigned char)arg[0]) && arg[0] != '.')
		return -1;
	number = strtold(arg, &end);
	if (end == arg || number > 1e18L)
		return -1;
	for (size_t i = 0; i < PLUGIN_ARRAY_SIZE(units); i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		number = number * units[i].one + 0.5L;
		if (number > 1e18L)
			return -1;
		*v = (__u64)number;
		return 0;
	}
	*v = 0;
	return *end || number != 0 ? -1 : 0;
}

/* Rounded to hundredths */
static int plugin_parse_share(const char *arg, __u64 *v)
{
	size_t digits = strspn(arg, "0123456789.");
	long double number;
	char *end;

	if (!isdigit((unsigned char)arg[0]) || (arg[digits] && strcmp(arg + digits, "%")))
		return -1;
	number = strtold(arg, &end);
	if (end != arg + digits || number > 1e15L)
		return -1;
	*v = (__u64)(number * 100 + 0.5L);
	return 0;
}

/* Exact: more digits than it has are refused. */
static int plugin_parse_gain(const char *arg, __u64 *v)
{
	size_t whole = strspn(arg, "0123456789");
	const char *point = arg + whole;
	__u64 one = 10000;

	if (!whole || whole > 9 || (*point && *point != '.'))
		return -1;
	*v = strtoull(arg, NULL, 10) * one;
	if (!*point)
		return 0;
	do {
		one /= 10;
		if (!isdigit((unsigned char)*++point) || !one)
			return -1;
		*v += (*point - '0') * one;
	} while (point[1]);
	return 0;
}

/* tc's helpers convert through a double: a minus sign or "nan" is not for them. */
static int plugin_parse_bytes(const char *arg, __u64 *v)
{
	unsigned int size;

	if (!isdigit((unsigned char)arg[0]) || get_size(&size, arg))
		return -1;
	*v = size;
	return 0;
}

static int plugin_parse_rate(const char *arg, __u64 *v)
{
	if (!isdigit((unsigned char)arg[0]))
		return -1;
	return get_rate64(v, arg);
}

static int plugin_parse_choice(const struct plugin_choice *choices, const char *arg, __u64 *v)
{
	for (; choices->name; choices++) {
		if (strcmp(arg, choices->name) &&
		    (!choices->alias || strcmp(arg, choices->alias)))
			continue;
		*v = choices->value;
		return 0;
	}
	return -1;
}

static int plugin_parse_value(const struct plugin_option *o, const char *arg, __u64 *v)
{
	switch (o->f.type) {
	case PLUGIN_COUNT:
	case PLUGIN_NUMBERS:
		return plugin_parse_count(arg, v, "");
	case PLUGIN_PERCENT:
		return plugin_parse_count(arg, v, "%");
	case PLUGIN_SHARE:
		return plugin_parse_share(arg, v);
	case PLUGIN_GAIN:
		return plugin_parse_gain(arg, v);
	case PLUGIN_BYTES:
		return plugin_parse_bytes(arg, v);
	case PLUGIN_TIME:
		return plugin_parse_time(arg, v);
	case PLUGIN_RATE:
		return plugin_parse_rate(arg, v);
	case PLUGIN_CHOICE:
		return plugin_parse_choice(o->f.choices, arg, v);
	default:
		return -1;
	}
}

/* 0 is auto, but "0.2ns" is a mistake and not a wish for auto. */
static bool plugin_in_range(const struct plugin_option *o, const char *arg, __u64 v)
{
	if (o->f.type == PLUGIN_CHOICE)
		return true;
	if (!v && o->zero)
		return strtod(arg, NULL) == 0;
	return v >= o->min && v <= o->max;
}

static int plugin_accept(const struct plugin_kind *kind, const struct plugin_option *o,
			 const char *arg, __u64 *v)
{
	*v = 0;
	if (o->zero && !strcmp(arg, o->zero))
		return 0;
	if (plugin_parse_value(o, arg, v) || !plugin_in_range(o, arg, *v))
		return plugin_refuse(kind, o, arg);
	return 0;
}

static int plugin_put(struct nlmsghdr *n, const struct plugin_option *o, __u64 v)
{
	const __u8 v8 = v;
	const __u16 v16 = v;
	const __u32 v32 = v;
	const void *data = o->size == 1 ? (const void *)&v8 :
			   o->size == 2 ? (const void *)&v16 :
			   o->size == 4 ? (const void *)&v32 : (const void *)&v;

	return addattr_l(n, PLUGIN_MESSAGE_MAX, o->f.attr, data, o->size);
}

/* Return: words used, or -1. */
static int plugin_parse_numbers(const struct plugin_kind *kind, const struct plugin_option *o,
				int argc, char **argv, struct nlmsghdr *n)
{
	__u8 numbers[UINT8_MAX];
	__u64 number;

	if (argc < o->size) {
		fprintf(stderr, "%s: \"%s\" takes %d numbers, and %d words follow it\n",
			kind->name, o->f.name, o->size, argc);
		return -1;
	}
	for (int i = 0; i < o->size; i++) {
		if (plugin_accept(kind, o, argv[i], &number))
			return -1;
		numbers[i] = number;
	}
	if (addattr_l(n, PLUGIN_MESSAGE_MAX, o->f.attr, numbers, o->size))
		return -1;
	return o->size;
}

static int plugin_parse_key(const char *arg, __u8 *key, unsigned int bytes)
{
	if (strlen(arg) != bytes * 2 || strspn(arg, "0123456789abcdefABCDEF") != bytes * 2)
		return -1;
	for (unsigned int i = 0; i < bytes; i++)
		sscanf(arg + 2 * i, "%2hhx", &key[i]);
	return 0;
}

/* What is no integer: a word that becomes bytes. */
static int plugin_parse_data(const struct plugin_kind *kind, const struct plugin_option *o,
			     const char *arg, struct nlmsghdr *n)
{
	bool zero = o->zero && !strcmp(arg, o->zero);
	__u8 data[UINT8_MAX] = {};
	int err = 0;

	if (o->f.type == PLUGIN_OWN)
		err = o->own->parse(o, zero ? NULL : arg, n);
	else if (zero)
		;
	else if (o->f.type == PLUGIN_KEY)
		err = plugin_parse_key(arg, data, o->size);
	else
		err = inet_pton(AF_INET, arg, data) == 1 ? 0 : -1;
	if (err)
		return plugin_refuse(kind, o, arg);
	if (o->f.type == PLUGIN_OWN)
		return 0;
	return addattr_l(n, PLUGIN_MESSAGE_MAX, o->f.attr, data, o->size);
}

static const struct plugin_option *plugin_option_find(const struct plugin_kind *kind,
						      const char *word)
{
	for (size_t i = 0; i < kind->count; i++)
		if (!strcmp(word, kind->options[i].f.name) ||
		    (kind->options[i].no && !strcmp(word, kind->options[i].no)))
			return &kind->options[i];
	return NULL;
}

/* Return: words used, or -1. */
static int plugin_parse_bool(const struct plugin_option *o, int argc, char **argv,
			     struct nlmsghdr *n)
{
	static const struct plugin_choice switches[] = {
		{ .name = "on", .value = 1, .alias = "yes" },
		{ .name = "off", .value = 0, .alias = "no" },
		{}
	};
	__u64 v = !strcmp(*argv, o->f.name);
	int used = 1;

	if (v && argc > 1 &&
	    (!plugin_parse_choice(switches, argv[1], &v) ||
	     (o->f.choices && !plugin_parse_choice(o->f.choices + 1, argv[1], &v))))
		used = 2;
	return plugin_put(n, o, v) ? -1 : used;
}

/* One option and its value. Return: words used, or -1. */
static int plugin_parse_option(const struct plugin_kind *kind, const struct plugin_option *o,
			       int argc, char **argv, struct nlmsghdr *n)
{
	int used;
	__u64 v;

	if (o->f.type == PLUGIN_BOOL)
		return plugin_parse_bool(o, argc, argv, n);
	if (argc < 2)
		return plugin_refuse(kind, o, NULL);
	switch (o->f.type) {
	case PLUGIN_NUMBERS:
		used = plugin_parse_numbers(kind, o, argc - 1, argv + 1, n);
		return used < 0 ? -1 : 1 + used;
	case PLUGIN_ADDRESS:
	case PLUGIN_KEY:
	case PLUGIN_OWN:
		return plugin_parse_data(kind, o, argv[1], n) ? -1 : 2;
	default:
		return plugin_accept(kind, o, argv[1], &v) || plugin_put(n, o, v) ? -1 : 2;
	}
}

static void plugin_help_option(const struct plugin_option *o)
{
	static const char * const values[] = {
		[PLUGIN_COUNT] = "N", [PLUGIN_BYTES] = "BYTES", [PLUGIN_TIME] = "TIME",
		[PLUGIN_RATE] = "RATE", [PLUGIN_PERCENT] = "PERCENT", [PLUGIN_SHARE] = "PERCENT",
		[PLUGIN_GAIN] = "GAIN", [PLUGIN_ADDRESS] = "A.B.C.D", [PLUGIN_KEY] = "HEX32",
	};
	const struct plugin_choice *choice = o->f.choices;
	char syntax[PLUGIN_TEXT_MAX];
	int n;

	n = snprintf(syntax, sizeof(syntax), "%s%s", o->f.name, o->no && !choice ? "|" : " ");
	if (o->no && choice) {
		for (choice++; choice->name; choice++)
			if (!choice->refused)
				n += snprintf(syntax + n, sizeof(syntax) - n, "%s%s",
					      choice == o->f.choices + 1 ? "[" : "|", choice->name);
		snprintf(syntax + n, sizeof(syntax) - n, "]|%s", o->no);
	} else if (o->no)
		snprintf(syntax + n, sizeof(syntax) - n, "%s", o->no);
	else if (choice)
		for (; choice->name; choice++)
			n += snprintf(syntax + n, sizeof(syntax) - n, "%s%s", choice->name,
				      choice[1].name ? "|" : "");
	else
		snprintf(syntax + n, sizeof(syntax) - n, "%s%s%s",
			 o->syntax ? o->syntax : values[o->f.type], o->zero ? "|" : "", o->zero ? o->zero : "");
	fprintf(stderr, "  %-34s %s\n", syntax, o->help);
}

static void plugin_help(const struct plugin_kind *kind)
{
	fprintf(stderr, "Usage: ... %s [OPTION [VALUE]] ...       (in brackets: the default)\n",
		kind->name);
	for (size_t i = 0; i < kind->count; i++)
		plugin_help_option(&kind->options[i]);
	fprintf(stderr, "%s", kind->fixed);
}

static int plugin_unknown(const struct plugin_kind *kind, const char *word)
{
	fprintf(stderr, "%s: there is no option \"%s\"; there are:", kind->name, word);
	for (size_t i = 0; i < kind->count; i++)
		fprintf(stderr, " %s%s%s", kind->options[i].f.name,
			kind->options[i].no ? "|" : "",
			kind->options[i].no ? kind->options[i].no : "");
	fprintf(stderr, " help\n");
	return -1;
}

int plugin_parse_options(const struct plugin_kind *kind, int argc, char **argv,
			 struct nlmsghdr *n)
{
	const struct plugin_option *o;
	bool seen[kind->count];
	struct rtattr *nest;
	int used;

	memset(seen, 0, sizeof(seen));
	nest = addattr_nest(n, PLUGIN_MESSAGE_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= used, argv += used) {
		if (!strcmp(*argv, "help")) {
			plugin_help(kind);
			return -1;
		}
		o = plugin_option_find(kind, *argv);
		if (!o)
			return plugin_unknown(kind, *argv);
		if (seen[o - kind->options]) {
			fprintf(stderr, "%s: \"%s\" is given twice\n", kind->name, o->f.name);
			return -1;
		}
		seen[o - kind->options] = true;
		used = plugin_parse_option(kind, o, argc, argv, n);
		if (used < 0)
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* Options: printing. */
static void plugin_print_own(FILE *f, const struct plugin_option *o, const struct rtattr *attr)
{
	char key[PLUGIN_TEXT_MAX];

	plugin_json_key(key, &o->f);
	if (is_json_context()) {
		o->own->json(key, attr);
		return;
	}
	fprintf(f, "%s ", o->f.name);
	o->own->print(f, attr);
	fprintf(f, " ");
}

static void plugin_print_option(FILE *f, const struct plugin_option *o, const struct rtattr *attr)
{
	__u64 v = plugin_attr_integer(attr, false);
	const __u8 *numbers = RTA_DATA(attr);
	char buf[PLUGIN_TEXT_MAX];

	if (o->f.type == PLUGIN_KEY)
		return;
	if (o->f.type == PLUGIN_OWN) {
		plugin_print_own(f, o, attr);
	} else if (is_json_context()) {
		plugin_json(&o->f, attr);
	} else if (o->f.type == PLUGIN_BOOL) {
		fprintf(f, "%s ", v ? o->f.name : o->no);
		if (v > 1 && o->f.choices)
			fprintf(f, "%s ", plugin_choice_text(buf, &o->f, v));
	} else if (o->f.type == PLUGIN_NUMBERS) {
		fprintf(f, "%s ", o->f.name);
		for (unsigned int i = 0; i < RTA_PAYLOAD(attr); i++)
			fprintf(f, "%u ", numbers[i]);
	} else {
		fprintf(f, "%s %s ", o->f.name,
			o->zero && !v ? o->zero : plugin_attr_text(buf, &o->f, attr));
	}
}

/* On stderr, so that JSON stays whole; once, however many qdiscs are shown. */
static void plugin_check_version(const struct plugin_kind *kind, unsigned int version)
{
	static bool said;

	if (version == kind->speaks || said)
		return;
	said = true;
	fprintf(stderr, "%s: plugin and module out of step: "
		"the plugin speaks version %u, the module %u\n", kind->name, kind->speaks, version);
}

static void plugin_print_shown(FILE *f, const struct plugin_field *field,
			       const struct rtattr *attr)
{
	char buf[PLUGIN_TEXT_MAX];

	if (!attr)
		return;
	if (is_json_context())
		plugin_json(field, attr);
	else
		fprintf(f, "%s %s ", field->name, plugin_attr_text(buf, field, attr));
}

int plugin_print_options(const struct plugin_kind *kind, FILE *f, const struct rtattr *opt)
{
	const struct plugin_field version = { "version", kind->version, PLUGIN_COUNT, NULL };
	const struct rtattr *tb[kind->max + 1];
	const struct plugin_field *shown;
	const struct rtattr *attr;

	plugin_attrs(tb, kind->max, opt);
	for (size_t i = 0; i < kind->count; i++) {
		attr = tb[kind->options[i].f.attr];
		if (attr)
			plugin_print_option(f, &kind->options[i], attr);
	}
	for (shown = kind->shown; shown && shown->name; shown++)
		plugin_print_shown(f, shown, tb[shown->attr]);
	plugin_print_shown(f, &version, tb[kind->version]);
	if (tb[kind->version])
		plugin_check_version(kind, plugin_attr_integer(tb[kind->version], false));
	return 0;
}

/* Classes. */
int plugin_parse_class(const struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
		       const char *dev)
{
	(void)argc;
	(void)argv;
	(void)n;
	(void)dev;
	fprintf(stderr, "%s: its classes are made by the qdisc and have no options\n", qu->id);
	return -1;
}

int plugin_print_class(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

/* Statistics. */
static void plugin_text(FILE *f, const struct plugin_field *field, const struct rtattr *attr)
{
	const struct plugin_choice *choice;
	char buf[PLUGIN_TEXT_MAX];

	fprintf(f, " %s %s", field->name, plugin_attr_text(buf, field, attr));
	if (field->type != PLUGIN_CHOICE)
		return;
	choice = plugin_choice(field->choices, plugin_attr_integer(attr, false));
	if (choice && choice->meaning)
		fprintf(f, " (%s)", choice->meaning);
}

void plugin_print_stats(FILE *f, const struct plugin_stat *stats, size_t count,
			const struct rtattr **tb, bool *first)
{
	const char *line = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct plugin_field *field = &stats[i].f;

		if (stats[i].line)
			line = stats[i].line;
		if (!tb[field->attr] || field->type == PLUGIN_NEST)
			continue;
		if (is_json_context()) {
			plugin_json(field, tb[field->attr]);
			continue;
		}
		if (line) {
			if (!*first)
				print_nl();
			fprintf(f, "  %s:", line);
			*first = false;
			line = NULL;
		}
		plugin_text(f, field, tb[field->attr]);
	}
}
