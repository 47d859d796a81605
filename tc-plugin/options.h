/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - options and statistics of a kind, driven by tables
 *
 * A row of a kind's options says how an option is typed, which attribute it becomes, what values
 * it may have and what help says of it; parsing, printing (text and JSON) and help all walk that
 * table. The rows of its statistics do the same for what the kernel reports. A new attribute is a
 * new row.
 *
 * Names: one per thing, made from the attribute's name. JSON keys are the names with
 * underscores; the options that users type have dashes (th-scale). JSON values are plain numbers
 * in bytes, bytes per second, nanoseconds and percent, where 0 of an option means auto; what
 * is chosen from a list is a string, and so is an address; what is on or off is a boolean. Text is
 * exact too: an option line that was printed can be typed in again.
 *
 * Only the options that were given are sent, so that `tc qdisc change` leaves the others alone.
 * The kernel checks everything again and knows rules that involve more than one option; here a
 * value is checked by itself, so that the message can quote what was typed.
 *
 * Limits: a bare number is not a time (tc reads it as microseconds here and as nanoseconds
 * there), 0 excepted. tc's -raw and -iec change nothing.
 *
 * Each plugin is linked with a copy of its own. Only PLUGIN_VISIBLE is visible outside, so that two
 * plugins in one tc do not meet. The command sluice is linked with all of them, and has what tc
 * exports, so that it reads and prints the same.
 */
#ifndef _SLUICE_OPTIONS_H
#define _SLUICE_OPTIONS_H

#include "plugin.h"

#define PLUGIN_MESSAGE_MAX	16384	/* bytes of tc's request buffer in every version served */
#define PLUGIN_TEXT_MAX		64
#define PLUGIN_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* What a value is: decides how it is parsed and printed. */
enum plugin_type {
	PLUGIN_COUNT,
	PLUGIN_SIGNED,
	PLUGIN_BYTES,
	PLUGIN_TIME,	/* ns */
	PLUGIN_RATE,	/* bytes per second */
	PLUGIN_PERCENT,
	PLUGIN_SHARE,	/* hundredths of a percent */
	PLUGIN_GAIN,	/* in 1/10000 */
	PLUGIN_BOOL,
	PLUGIN_CHOICE,
	PLUGIN_NUMBERS,	/* a byte each */
	PLUGIN_BITS,	/* numbers from 1 of those that are set */
	PLUGIN_MAC,
	PLUGIN_ADDRESS,	/* of IPv4, or of IPv6, or an IPv4 one mapped into one; typed: of IPv4 */
	PLUGIN_KEY,	/* never printed */
	PLUGIN_OWN,	/* see struct plugin_own */
	PLUGIN_NEST,
};

/**
 * struct plugin_choice - one of a list of words
 * @name: the word that is printed; NULL ends the list
 * @value: what it is in the attribute
 * @alias: another word that is understood, or NULL
 * @meaning: what a reader of statistics should know, or NULL
 * @refused: help does not have it; the kernel says why it is refused
 */
struct plugin_choice {
	const char *name;
	unsigned int value;
	const char *alias;
	const char *meaning;
	bool refused;
};

/**
 * struct plugin_field - something that is printed
 * @name: its name in text, and with underscores in JSON
 * @attr: its attribute
 * @type: what it is
 * @choices: for PLUGIN_CHOICE; for PLUGIN_BOOL ways to be on, of which the first is not one: a word
 *	may follow, and JSON has it under the name with _by
 */
struct plugin_field {
	const char *name;
	unsigned short attr;
	enum plugin_type type;
	const struct plugin_choice *choices;
};

struct plugin_option;

/**
 * struct plugin_own - what is typed and printed in a way that only the kind knows
 * @rule: what it takes, to be read behind that word
 * @parse: into the message; @arg is NULL for the option's word for 0; 0 or -1
 * @print: as text, a word
 * @json: the same for this key
 */
struct plugin_own {
	const char *rule;
	int (*parse)(const struct plugin_option *o, const char *arg, struct nlmsghdr *n);
	void (*print)(FILE *f, const struct rtattr *attr);
	void (*json)(const char *key, const struct rtattr *attr);
};

/**
 * struct plugin_option - something that is also typed in
 * @f: name, attribute, type
 * @no: the word that turns a PLUGIN_BOOL off
 * @size: bytes of the attribute
 * @zero: the word for 0, if that is allowed: auto, none
 * @min: least value, if not 0 for @zero; 0 leaves the range to the kernel, which alone knows it
 * @max: greatest value, or all that fits into the attribute
 * @help: what it is, and its default
 * @syntax: how help shows the value, if not by its type
 * @own: for PLUGIN_OWN
 */
struct plugin_option {
	struct plugin_field f;
	const char *no;
	unsigned char size;
	const char *zero;
	__u64 min;
	__u64 max;
	const char *help;
	const char *syntax;
	const struct plugin_own *own;
};

/**
 * struct plugin_stat - a statistic
 * @f: name, attribute, type
 * @line: not NULL: starts a line of text with this title
 */
struct plugin_stat {
	struct plugin_field f;
	const char *line;
};

/* Rows of statistics: the attribute is the prefix and the third word */
#define PLUGIN_STAT(prefix, label, attr, type) { .f = { label, prefix##attr, type, NULL } }
#define PLUGIN_LINE(prefix, title, label, attr, type) \
	{ .f = { label, prefix##attr, type, NULL }, .line = title }

/**
 * struct plugin_kind - a kind and its options
 * @name: what messages begin with
 * @options: all that can be typed
 * @count: how many
 * @max: greatest attribute
 * @fixed: the last lines of help
 * @shown: what is printed behind the options and cannot be typed; NULL, or ended by an empty one
 * @version: attribute that says what the module speaks, only in dumps
 * @speaks: what the plugin does
 */
struct plugin_kind {
	const char *name;
	const struct plugin_option *options;
	size_t count;
	unsigned short max;
	const char *fixed;
	const struct plugin_field *shown;
	unsigned short version;
	unsigned int speaks;
};

/* The words after the kind into TCA_OPTIONS of the message, and back; both as tc's callbacks. */
int plugin_parse_options(const struct plugin_kind *kind, int argc, char **argv,
			 struct nlmsghdr *n);
int plugin_print_options(const struct plugin_kind *kind, FILE *f, const struct rtattr *opt);

/* tc's callbacks of a kind whose classes come and go by themselves and have nothing to set: what is
 * typed is refused, and nothing is printed.
 */
int plugin_parse_class(const struct qdisc_util *qu, int argc, char **argv, struct nlmsghdr *n,
		       const char *dev);
int plugin_print_class(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);

/* The attributes of a nest by number; what is newer than this plugin is passed over. */
void plugin_attrs(const struct rtattr **tb, int max, const struct rtattr *nest);

/* An address of 4 or 16 bytes. Return: @buf, of PLUGIN_TEXT_MAX. */
const char *plugin_address_text(char *buf, const void *address, size_t bytes);

/* Any attribute but a nest. Return: @buf, of PLUGIN_TEXT_MAX, or a constant. */
const char *plugin_attr_text(char *buf, const struct plugin_field *f, const struct rtattr *attr);

/* Those of them that have a row, but for nests. @first: nothing was printed yet in this place. */
void plugin_print_stats(FILE *f, const struct plugin_stat *stats, size_t count,
			const struct rtattr **tb, bool *first);

#endif
