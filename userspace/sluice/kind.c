// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind.c - the kinds of qdisc that are ours
 */
#include <string.h>

#include "kind.h"

const struct kind kinds[] = {
	{ .name = "bfc", .util = &bfc_qdisc_util },
	{ .name = "rocc", .util = &rocc_qdisc_util },
	{ .name = "ideal", .util = &ideal_qdisc_util },
	{}
};

const struct kind *kind_find(const char *name)
{
	for (const struct kind *k = kinds; k->name; k++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}
