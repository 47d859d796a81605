/* SPDX-License-Identifier: GPL-2.0-only */
/* unit.h - what tests of pure functions share: points of KTAP, and numbers by chance */
#ifndef _SLUICE_UNIT_H
#define _SLUICE_UNIT_H

#include <stdbool.h>
#include <stdio.h>

static unsigned int done, failed;

static inline void check(bool ok, const char *what)
{
	failed += !ok;
	printf("%sok %u %s\n", ok ? "" : "not ", ++done, what);
}

/* splitmix64: the same numbers on every machine */
static unsigned long long random_seed = 1;

static inline unsigned long long random64(void)
{
	unsigned long long z = random_seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

#endif
