// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind.c - the kinds of qdisc that are ours
 */
#include <string.h>

#include "attr.h"
#include "kind.h"
#include "kind_tables.h"

const struct kind *kind_find(const char *name)
{
	for (const struct kind *k = kinds; k->name; k++)
		if (!strcmp(k->name, name))
			return k;
	return NULL;
}
