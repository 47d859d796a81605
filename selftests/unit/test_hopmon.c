// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_hopmon.c - hopmon's histograms, figures and the check of format files
 *
 * Slots are held against a plain loop, quantiles against the sorted values.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../userspace/hopmon/hist.c"
#include "../../userspace/hopmon/event.c"
#include "unit.h"

static unsigned int plain_slot(__u64 value)
{
	unsigned int bits = 0;

	while (value) {
		bits++;
		value >>= 1;
	}
	return bits < HOPMON_SLOTS ? bits : HOPMON_SLOTS - 1;
}

static void put(struct hopmon_hist *h, __u64 value)
{
	h->sum += value;
	if (value > h->max)
		h->max = value;
	h->slots[hopmon_slot(value)]++;
}

static void test_slots(void)
{
	bool right = true, inside = true;
	unsigned int i, slot;
	__u64 v;

	for (i = 0; i < 64; i++) {
		for (v = 0; v < 3; v++)
			right &= hopmon_slot((1ULL << i) - 1 + v) ==
				 plain_slot((1ULL << i) - 1 + v);
	}
	right &= hopmon_slot(~0ULL) == HOPMON_SLOTS - 1;
	for (i = 0; i < 100000; i++) {
		v = random64() >> random64() % 64;
		slot = hopmon_slot(v);
		right &= slot == plain_slot(v);
		inside &= v >= hist_from(slot) && v <= hist_to(slot);
	}
	check(right, "a value's slot");
	check(inside, "a slot's ends");
	for (i = 1, right = true; i < HOPMON_SLOTS; i++)
		right &= hist_from(i) == hist_to(i - 1) + 1;
	check(right && !hist_from(0) && hist_to(HOPMON_SLOTS - 1) == ~0ULL,
	      "slots have no gaps");
}

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The upper end of the slot of the value of that rank */
static bool quantile_is_right(const struct hopmon_hist *h, const __u64 *sorted, unsigned int n,
			      unsigned int permille)
{
	unsigned int rank = (n * permille + 999) / 1000;
	__u64 end = hist_to(plain_slot(sorted[rank ? rank - 1 : 0]));

	return hist_quantile(h, permille) == (end < sorted[n - 1] ? end : sorted[n - 1]);
}

static void test_quantiles(void)
{
	static const unsigned int permilles[] = { 0, 1, 500, 900, 990, 999, 1000 };
	struct hopmon_hist h, huge = {};
	__u64 values[500], sum;
	bool right = true, means = true;
	unsigned int i, n, round;

	for (round = 0; round < 2000; round++) {
		memset(&h, 0, sizeof(h));
		n = 1 + random64() % 500;
		for (i = 0, sum = 0; i < n; i++) {
			values[i] = (random64() >> random64() % 64) >> 12;
			sum += values[i];
			put(&h, values[i]);
		}
		qsort(values, n, sizeof(*values), compare);
		for (i = 0; i < sizeof(permilles) / sizeof(*permilles); i++)
			right &= quantile_is_right(&h, values, n, permilles[i]);
		means &= hist_mean(&h) == sum / n && hist_count(&h) == n;
	}
	check(right, "quantiles");
	check(means, "mean and count");
	memset(&h, 0, sizeof(h));
	check(!hist_quantile(&h, 500) && !hist_mean(&h), "of an empty histogram");
	huge.slots[3] = 1ULL << 62;
	huge.slots[5] = 1;
	huge.max = 20;
	check(hist_quantile(&huge, 999) == 7 && hist_quantile(&huge, 1000) == 20,
	      "of very many values");
}

static void test_sums(void)
{
	struct hopmon_hist a = {}, b = {}, both = {}, later;
	unsigned int i;
	__u64 v;

	for (i = 0; i < 1000; i++) {
		v = random64() >> 30;
		put(i & 1 ? &a : &b, v);
		put(&both, v);
	}
	later = a;
	hist_add(&later, &b);
	check(!memcmp(&later, &both, sizeof(both)), "the sum of two processors");
	hist_since(&later, &a);
	check(!memcmp(later.slots, b.slots, sizeof(b.slots)) && later.sum == b.sum,
	      "what came since");
	check(later.max >= b.max && later.max <= both.max, "its largest value is not too small");
	later = a;
	hist_since(&later, &a);
	check(!hist_count(&later) && !later.sum && !later.max, "nothing came since");
	memset(&a, 0, sizeof(a));
	put(&a, 5000);
	later = a;
	put(&later, 3);
	hist_since(&later, &a);
	check(later.max == 3, "the largest of before is not that of now");
}

static bool prints(const struct hopmon_hist *h, const char *unit, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool same;

	hist_print(h, unit, "> ", out);
	fclose(out);
	same = !strcmp(text, want);
	if (!same)
		printf("# is:\n%s# should be:\n%s", text, want);
	free(text);
	return same;
}

static void test_bars(void)
{
	struct hopmon_hist h = {};
	unsigned int i;

	check(prints(&h, "ns", "> n 0\n"), "an empty histogram");
	for (i = 0; i < 1000; i++)
		put(&h, 3000);
	for (i = 0; i < 500; i++)
		put(&h, 700);
	put(&h, 1024);
	check(prints(&h, "ns",
		     "> n 1501  mean 2.2us  p50 3.0us  p99 3.0us  max 3.0us\n"
		     ">    512ns ..  1.0us        500 |####################\n"
		     ">    1.0us ..  2.0us          1 |#\n"
		     ">    2.0us ..  4.1us       1000 |########################################\n"),
	      "bars");
	memset(&h, 0, sizeof(h));
	put(&h, ~0ULL >> 1);
	check(prints(&h, "B",
		     "> n 1  mean 8.0EiB  p50 8.0EiB  p99 8.0EiB  max 8.0EiB\n"
		     ">   256GiB and more          1 |########################################\n"),
	      "the last slot has no end");
	check(bar_length(~0ULL, ~0ULL) == BAR && bar_length(1, ~0ULL) == 1 && !bar_length(0, 9) &&
	      bar_length(~0ULL / 2, ~0ULL) == BAR / 2, "bars of very many values");
}

static void test_figures(void)
{
	static const struct {
		__u64		value;
		const char	*decimal, *binary, *time;
	} cases[] = {
		{ 0, "0", "0", "0ns" },
		{ 9, "9", "9", "9ns" },
		{ 999, "999", "999", "999ns" },
		{ 1000, "1.0k", "1.0Ki", "1.0us" },
		{ 1024, "1.0k", "1.0Ki", "1.0us" },
		{ 1550, "1.6k", "1.5Ki", "1.6us" },
		{ 9949, "9.9k", "9.7Ki", "9.9us" },
		{ 9950, "10k", "9.7Ki", "10us" },
		{ 999499, "999k", "976Ki", "999us" },
		{ 999500, "1.0M", "976Ki", "1.0ms" },
		{ 123456789, "123M", "118Mi", "123ms" },
		{ 7200000000000ULL, "7.2T", "6.5Ti", "7200s" },
		{ ~0ULL, "18E", "16Ei", "18446744074s" },
	};
	bool decimal = true, binary = true, time = true;
	unsigned int i;
	char buf[32];

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		decimal &= !strcmp(figure(buf, sizeof(buf), cases[i].value, 0), cases[i].decimal);
		binary &= !strcmp(figure(buf, sizeof(buf), cases[i].value, 1), cases[i].binary);
		time &= !strcmp(figure_ns(buf, sizeof(buf), cases[i].value), cases[i].time);
	}
	check(decimal, "figures");
	check(binary, "figures in steps of 1024");
	check(time, "figures of time");
}

/* As the kernel prints one */
static const char drop_format[] =
	"name: bfc_drop\nID: 1207\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u32 netns;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 ifindex;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:char dev[16];\toffset:16;\tsize:16;\tsigned:0;\n"
	"\tfield:u16 queue;\toffset:32;\tsize:2;\tsigned:0;\n"
	"\tfield:u8 reason;\toffset:34;\tsize:1;\tsigned:0;\n"
	"\tfield:u32 len;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 skbaddr;\toffset:40;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%s queue=%u\", REC->dev, REC->queue\n";

static bool refuses(const char *from, const char *to, const char *words)
{
	const struct event *drop = &events[2];
	char text[2048], why[256] = "";
	const char *at = strstr(drop_format, from);
	int err;

	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - drop_format), drop_format, to,
		 at + strlen(from));
	err = event_check_format(drop, text, why, sizeof(why));
	if (words ? err && strstr(why, words) : !err)
		return true;
	printf("# %d: %s\n", err, why);
	return false;
}

static void test_formats(void)
{
	check(!strcmp(events[2].name, "bfc_drop") && refuses("ID", "ID", NULL),
	      "the kernel's format is taken");
	check(refuses("u16 queue;\toffset:32;", "u16 queue;\toffset:40;", "queue is at 40"),
	      "a field elsewhere");
	check(refuses("offset:36;\tsize:4;", "offset:36;\tsize:8;", "len is at 36 and has 8"),
	      "a field of another size");
	check(refuses("u64 skbaddr", "u64 skbaddress", "no field skbaddr"), "another name");
	check(refuses("dev[16]", "device[16]", "no field dev"), "another name of an array");
	check(refuses("\tfield:u8 reason;\toffset:34;\tsize:1;\tsigned:0;\n", "", "no field reason"),
	      "a field less");
	check(refuses("u8 reason;", "u8 prereason;\toffset:34;\tsize:1;\tsigned:0;\n", "reason"),
	      "a name that only ends like it");
	check(refuses(drop_format, "", "no field netns"), "an empty file");
}

int main(void)
{
	test_slots();
	test_quantiles();
	test_sums();
	test_bars();
	test_figures();
	test_formats();
	printf("1..%u\n", done);
	return failed ? 1 : 0;
}
