/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words: values of options.
 */
#ifndef _TRACE_WORDS_H
#define _TRACE_WORDS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Each returns 0, or -1 if the word is no such value. Sizes are decimal, as in papers and on data
 * sheets: 20MB is 20,000,000; KiB, MiB and GiB are the binary ones. A time has its unit, except 0.
 * A rate is in bits per second, as tc writes it. A share is 0.6 or 60%.
 */
int word_size(const char *word, uint64_t *bytes);
int word_time(const char *word, uint64_t *ns);
int word_rate(const char *word, uint64_t *bit);
int word_share(const char *word, double *share);

/**
 * struct hosts - numbers of hosts
 * @list: in the order of the word
 * @count: how many
 */
struct hosts {
	uint32_t *list;
	size_t count;
};

/**
 * word_hosts - numbers of hosts as FIRST-LAST+HOST+...
 * @word: all of it
 * @max: all have to be below it
 * @h: empty
 *
 * Return: 0, or -1 if it is no such list, or one host is in it twice.
 */
int word_hosts(const char *word, uint32_t max, struct hosts *h);

#endif
