/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kind: the kinds of qdisc that are ours.
 */
#ifndef _SLUICE_KIND_H
#define _SLUICE_KIND_H

#include <stdint.h>

#include "tc.h"

/**
 * struct kind - a kind; a NULL name ends the table
 * @name: as tc knows it
 * @util: reads and prints its options and figures
 */
struct kind {
	const char *name;
	const struct qdisc_util *util;
};

extern const struct kind kinds[];

/* Return: the kind of that name, or NULL. */
const struct kind *kind_find(const char *name);

#endif
