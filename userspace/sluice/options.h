/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options: the options of the qdisc bfc, as words and as attributes.
 */
#ifndef _SLUICE_OPTIONS_H
#define _SLUICE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attr.h"

#define OPTION_ERROR_MAX	512

enum option_kind {
	OPTION_COUNT,
	OPTION_PERCENT,
	OPTION_SHARE,	/* hundredths of a percent */
	OPTION_BYTES,
	OPTION_TIME,	/* ns */
	OPTION_RATE,	/* bytes per second */
	OPTION_BOOL,
	OPTION_WORD,
};

/**
 * struct bfc_option - one option; a NULL name ends the table
 * @name: as tc takes it
 * @no: for OPTION_BOOL: the word that turns it off
 * @type: TCA_BFC_*
 * @kind: what its value is
 * @size: bytes of the attribute
 * @zero: the word for 0, if that may be
 * @words: for OPTION_WORD; for OPTION_BOOL, ways to be on
 */
struct bfc_option {
	const char *name;
	const char *no;
	uint16_t type;
	enum option_kind kind;
	uint8_t size;
	const char *zero;
	const struct attr_word *words;
};

extern const struct bfc_option option_table[];

/**
 * struct setting - an option and its new value
 */
struct setting {
	const struct bfc_option *option;
	uint64_t value;
};

/**
 * option_parse - the first option of a list of words
 * @s: what it says
 * @argc: words that there are
 * @argv: words
 * @error: OPTION_ERROR_MAX bytes for what is wrong with them
 *
 * The range is left to the kernel, which knows it and says so.
 *
 * Return: how many words were used, or -1.
 */
int option_parse(struct setting *s, int argc, char **argv, char *error);

#endif
