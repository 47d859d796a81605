/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kind: the kinds of qdisc that are ours.
 */
#ifndef _SLUICE_KIND_H
#define _SLUICE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "tc.h"

/**
 * struct kind_column - a column of the table that show makes; a NULL title ends them
 * @title: on top
 * @key: of tc's JSON: a figure, or else an option
 * @text: of a number; NULL: as it is
 * @zero: in the place of 0, or NULL
 */
struct kind_column {
	const char *title;
	const char *key;
	const char *(*text)(char *buf, uint64_t value);
	const char *zero;
};

/**
 * struct kind - a kind; a NULL name ends the table
 * @name: as tc knows it
 * @util: reads and prints its options and figures
 * @version: that of its module for this program
 * @port: its qdiscs make their device a port
 * @columns: NULL: what is shown of it are its ports
 * @gauges: attributes of its figures that do not count up, behind them 0
 */
struct kind {
	const char *name;
	const struct qdisc_util *util;
	uint32_t version;
	bool port;
	const struct kind_column *columns;
	const uint16_t *gauges;
};

extern const struct kind kinds[];

/* Return: the kind of that name, or NULL. */
const struct kind *kind_find(const char *name);

#endif
