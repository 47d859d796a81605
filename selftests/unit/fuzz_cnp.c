// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_cnp.c - libFuzzer target of the codec of congestion notification packets
 *
 *	make fuzz SECONDS=60		at the top
 *
 * Whatever the bytes are, the parser reads none outside of them, and what it lets through is in
 * range and survives being written and parsed again. The first byte says which IP version.
 * test_cnp.c runs the same function on its own mutations where there is no libFuzzer.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/rocc/cnp.c"

#define REQUIRE(cond)							\
do {									\
	if (!(cond)) {							\
		fprintf(stderr, "line %d: %s\n", __LINE__, #cond);	\
		abort();						\
	}								\
} while (0)

static void cnp_in_range(const struct cnp *c, bool v6)
{
	REQUIRE(c->code <= ROCC_CNP_QUEUE && c->key <= ROCC_CNP_KEYS);
	REQUIRE(c->rate && c->rate_min && c->epoch && c->interval && c->flow.v6 == v6);
	if (c->code == ROCC_CNP_QUEUE)
		REQUIRE(c->rate_min <= c->state.rate_max && c->state.tuning < __ROCC_TUNING_MAX);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	unsigned char *exact, again[CNP_MAX];
	struct cnp c, d;
	size_t len;
	bool v6;

	if (!size)
		return 0;
	v6 = data[0] & 1;
	/* a buffer of just this size, so that AddressSanitizer sees the byte behind it */
	exact = malloc(size - 1);
	REQUIRE(exact || size == 1);
	memcpy(exact, data + 1, size - 1);
	memset(&c, 0, sizeof(c));
	memset(&d, 0, sizeof(d));
	if (cnp_parse(exact, size - 1, v6, &c) == CNP_OK) {
		cnp_in_range(&c, v6);
		len = cnp_write(again, sizeof(again), &c);
		REQUIRE(len && len <= size - 1);
		REQUIRE(cnp_parse(again, len, v6, &d) == CNP_OK);
		REQUIRE(!memcmp(&c, &d, sizeof(c)));
		REQUIRE(!cnp_write(again, len - 1, &c));
	}
	free(exact);
	return 0;
}
