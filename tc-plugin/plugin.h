/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plugin.h - the part of iproute2's plugin interface that the plugins here use
 *
 * tc and ip look for a shared object named after the kind, dlopen() it and find a structure of
 * callbacks in it by name. The callbacks use functions that the program itself exports. No
 * distribution ships headers for this, so the declarations are repeated here; they are written
 * from the interface, not taken from iproute2's headers.
 *
 * What is here has not changed, in layout or in calling convention, from iproute2 5.9 to 7.1 (one
 * q_bfc.so passed its unit test in Debian's 6.1.0 and 6.15.0, November 2026):
 *
 *  - struct qdisc_util got its last member, has_block, in 5.9. The const of its arguments came
 *    in 6.9 and is invisible in the binary.
 *  - print_color_*() returned nothing before 5.10 and int afterwards; we take no result.
 *
 * Left out on purpose, because they do change or lose digits: sprint_size(), print_size(),
 * sprint_rate(), print_rate(), get_time64(). The plugins format and parse times, sizes and rates
 * so that what is shown is exact and can be typed in again.
 */
#ifndef _SLUICE_PLUGIN_H
#define _SLUICE_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <asm/types.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

/* What tc and ip look up by name; the Makefile hides all else. */
#define PLUGIN_VISIBLE __attribute__((visibility("default")))

/**
 * struct qdisc_util - what tc knows of a qdisc kind; symbol KIND_qdisc_util of q_KIND.so
 * @next: tc's
 * @id: the kind
 * @parse_qopt: the words after the kind on the command line into the message @n; 0 or -1
 * @print_qopt: TCA_OPTIONS of a qdisc, inside the JSON object "options"
 * @print_xstats: TCA_STATS_APP or TCA_XSTATS of a qdisc or of a class, beside tc's own counters
 * @parse_copt: as @parse_qopt, for a class
 * @print_copt: as @print_qopt, for a class
 * @has_block: does a qdisc own this filter block?
 */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt, __u32 block_idx,
			 bool *p_has);
};

/* Building a message. The length is that of the whole buffer; all return 0 or -1, a nest its
 * start.
 */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
struct rtattr *addattr_nest(struct nlmsghdr *n, int maxlen, int type);
int addattr_nest_end(struct nlmsghdr *n, struct rtattr *nest);

/* Values of the command line; 0 or -1. A rate is in bytes per second, a bare number in bits;
 * sizes know k, m, g (of 1024) and b.
 */
int get_rate64(__u64 *rate, const char *str);
int get_size(unsigned int *size, const char *str);

/* Output. Text goes to the FILE that the callback got; these are called for JSON only. */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

enum color_attr {
	COLOR_NONE = 6,
};

bool is_json_context(void);
void print_nl(void);	/* end of line in text, or what -oneline puts in its place */
void open_json_object(const char *key);
void close_json_object(void);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *delim);
int print_color_u64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, uint64_t value);
int print_color_s64(enum output_type type, enum color_attr color, const char *key,
		    const char *fmt, int64_t value);
int print_color_float(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, double value);
int print_color_bool(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, bool value);
int print_color_string(enum output_type type, enum color_attr color, const char *key,
		       const char *fmt, const char *value);

static inline void plugin_json_u64(const char *key, uint64_t value)
{
	print_color_u64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

static inline void plugin_json_s64(const char *key, int64_t value)
{
	print_color_s64(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

/* Up to 6 digits */
static inline void plugin_json_float(const char *key, double value)
{
	print_color_float(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

static inline void plugin_json_bool(const char *key, bool value)
{
	print_color_bool(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

static inline void plugin_json_string(const char *key, const char *value)
{
	print_color_string(PRINT_JSON, COLOR_NONE, key, NULL, value);
}

#endif
