/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * law: distributions of flow sizes.
 *
 * A law is a list of points, BYTES and the share of flows of at most that size, and is linear
 * between them. A size is drawn as the place where the law has a random share, rounded to the
 * nearest whole byte, and is at least 1. Means are those of such sizes, exactly.
 */
#ifndef _TRACE_LAW_H
#define _TRACE_LAW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lines.h"

#define LAW_NAME_MAX	64

/**
 * struct law - a distribution of sizes
 * @name: as it was asked for
 * @count: number of points
 * @bytes: their sizes, not decreasing
 * @fraction: their shares, not decreasing, from 0 to 1
 */
struct law {
	char name[LAW_NAME_MAX];
	size_t count;
	double *bytes;
	double *fraction;
	size_t room;
};

/**
 * struct frame - how a flow becomes frames on a line
 * @payload: bytes of a flow in a full packet
 * @header: bytes that each packet has beside them
 * @least: no frame is shorter
 */
struct frame {
	uint32_t payload;
	uint32_t header;
	uint32_t least;
};

/**
 * struct law_text - a law that comes with the program
 */
struct law_text {
	const char *name;
	const char *text;
};

/* All that come with the program; a NULL name ends the table. */
extern const struct law_text law_texts[];

/**
 * law_read - a law from a file
 * @law: empty
 * @f: where from
 * @name: of the file, for errors
 * @error: TRACE_ERROR_MAX bytes for FILE:LINE: REASON
 *
 * Return: 0, or -1 with @error set.
 */
int law_read(struct law *law, FILE *f, const char *name, char *error);

/**
 * law_find - a law by its name
 * @law: empty
 * @name: one of law_texts, fixed:BYTES, uniform:BYTES:BYTES, or a file: a name with a / or a .
 * @error: TRACE_ERROR_MAX bytes for what is wrong
 *
 * Return: 0, or -1 with @error set.
 */
int law_find(struct law *law, const char *name, char *error);

void law_free(struct law *law);

/* The size below which a share @u of the flows is, between points too. */
double law_quantile(const struct law *law, double u);

/* The size that the random share @u, from 0 to 1, draws. */
uint64_t law_size(const struct law *law, double u);

/* Mean of the sizes that are drawn. */
double law_mean(const struct law *law);

/* Mean of the bytes on the line of flows of such sizes. */
double law_mean_on_line(const struct law *law, const struct frame *frame);

/* A number that is another one for laws with other points. */
uint64_t law_digest(const struct law *law);

/* Bytes on the line of a flow of @bytes. */
uint64_t frame_bytes(const struct frame *frame, uint64_t bytes);

#endif
