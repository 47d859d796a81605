/* SPDX-License-Identifier: GPL-2.0-only */
/* hist.h - histograms and figures: pure functions */
#ifndef _HOPMON_HIST_H
#define _HOPMON_HIST_H

#include <stddef.h>
#include <stdio.h>

#include "hopmon.h"

/* The smallest and the largest value of a slot */
__u64 hist_from(unsigned int slot);
__u64 hist_to(unsigned int slot);

/* How many values a histogram has */
__u64 hist_count(const struct hopmon_hist *h);

/**
 * hist_quantile - a value that a share of all values do not exceed
 * @h: the histogram
 * @permille: the share
 *
 * Return: the upper end of the slot in which the value of that rank lies, or the largest value if
 * that is less; 0 of an empty histogram.
 */
__u64 hist_quantile(const struct hopmon_hist *h, unsigned int permille);

__u64 hist_mean(const struct hopmon_hist *h);

/* Add to each slot of @to that of @from. */
void hist_add(struct hopmon_hist *to, const struct hopmon_hist *from);

/**
 * hist_since - what was added between two readings
 * @now: the newer reading; becomes the difference
 * @before: the older one
 *
 * The largest value is known only up to its slot, unless it is the largest of all.
 */
void hist_since(struct hopmon_hist *now, const struct hopmon_hist *before);

/**
 * hist_print - a bar for each slot, from the lowest that is used to the highest
 * @h: the histogram
 * @unit: of its values, "ns" or "B"
 * @indent: what each line begins with
 * @out: where to
 */
void hist_print(const struct hopmon_hist *h, const char *unit, const char *indent, FILE *out);

/**
 * figure - a number of at most three digits and a prefix: 0, 999, 1.5k, 23M
 * @buf: where to
 * @size: bytes there
 * @value: the number
 * @binary: steps of 1024, not 1000
 *
 * Rounded to nearest. Return: @buf.
 */
char *figure(char *buf, size_t size, __u64 value, int binary);

/* The same for nanoseconds: 12ns, 3.4us, 56ms, 7.8s */
char *figure_ns(char *buf, size_t size, __u64 ns);

#endif
