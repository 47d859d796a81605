// SPDX-License-Identifier: GPL-2.0-only
/* hist.c - histograms and figures: pure functions */
#include <string.h>

#include "hist.h"

#define BAR	40	/* characters of the longest */

__u64 hist_from(unsigned int slot)
{
	return slot ? 1ULL << (slot - 1) : 0;
}

__u64 hist_to(unsigned int slot)
{
	if (slot == HOPMON_SLOTS - 1)
		return ~0ULL;
	return slot ? (1ULL << slot) - 1 : 0;
}

__u64 hist_count(const struct hopmon_hist *h)
{
	__u64 n = 0;
	unsigned int i;

	for (i = 0; i < HOPMON_SLOTS; i++)
		n += h->slots[i];
	return n;
}

__u64 hist_quantile(const struct hopmon_hist *h, unsigned int permille)
{
	__u64 count = hist_count(h), rank, seen = 0;
	unsigned int i;

	if (!count)
		return 0;
	/* counted from 1, rounded up; the product of the parts cannot overflow */
	rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	if (!rank)
		rank = 1;
	for (i = 0; i < HOPMON_SLOTS - 1; i++) {
		seen += h->slots[i];
		if (seen >= rank)
			break;
	}
	return hist_to(i) < h->max ? hist_to(i) : h->max;
}

__u64 hist_mean(const struct hopmon_hist *h)
{
	__u64 count = hist_count(h);

	return count ? h->sum / count : 0;
}

void hist_add(struct hopmon_hist *to, const struct hopmon_hist *from)
{
	unsigned int i;

	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
	for (i = 0; i < HOPMON_SLOTS; i++)
		to->slots[i] += from->slots[i];
}

void hist_since(struct hopmon_hist *now, const struct hopmon_hist *before)
{
	unsigned int i, top = 0;

	now->sum -= before->sum;
	for (i = 0; i < HOPMON_SLOTS; i++) {
		now->slots[i] -= before->slots[i];
		if (now->slots[i])
			top = i;
	}
	if (!hist_count(now))
		now->max = 0;
	else if (now->max > hist_to(top))
		now->max = hist_to(top);
}

/* Characters of a bar: what is not 0 has at least one */
static unsigned int bar_length(__u64 n, __u64 most)
{
	__u64 length;

	if (!n)
		return 0;
	while (most > ~0ULL / BAR) {
		most >>= 1;
		n >>= 1;
	}
	length = (n * BAR + most / 2) / most;
	return length ? length : 1;
}

static char *figure_of(char *buf, size_t size, __u64 v, const char *unit)
{
	if (!strcmp(unit, "ns"))
		return figure_ns(buf, size, v);
	figure(buf, size, v, 1);
	strncat(buf, unit, size - strlen(buf) - 1);
	return buf;
}

void hist_print(const struct hopmon_hist *h, const char *unit, const char *indent, FILE *out)
{
	static const char bar[] = "########################################";
	unsigned int i, first = HOPMON_SLOTS, last = 0;
	char a[16], b[16], c[16], d[16];
	__u64 most = 0;

	_Static_assert(sizeof(bar) == BAR + 1, "the longest bar");
	for (i = 0; i < HOPMON_SLOTS; i++) {
		if (!h->slots[i])
			continue;
		if (first == HOPMON_SLOTS)
			first = i;
		last = i;
		if (h->slots[i] > most)
			most = h->slots[i];
	}
	fprintf(out, "%sn %llu", indent, hist_count(h));
	if (!most) {
		fputc('\n', out);
		return;
	}
	fprintf(out, "  mean %s  p50 %s  p99 %s  max %s\n", figure_of(a, sizeof(a), hist_mean(h), unit),
		figure_of(b, sizeof(b), hist_quantile(h, 500), unit),
		figure_of(c, sizeof(c), hist_quantile(h, 990), unit),
		figure_of(d, sizeof(d), h->max, unit));
	for (i = first; i <= last; i++) {
		figure_of(a, sizeof(a), hist_from(i), unit);
		if (i == HOPMON_SLOTS - 1)
			fprintf(out, "%s%8s and more %10llu |%.*s\n", indent, a, h->slots[i],
				bar_length(h->slots[i], most), bar);
		else
			fprintf(out, "%s%8s .. %6s %10llu |%.*s\n", indent, a,
				figure_of(b, sizeof(b), hist_to(i), unit), h->slots[i],
				bar_length(h->slots[i], most), bar);
	}
}

/* In the first unit in which there are at most three digits in front of the point, once rounded */
static char *scaled(char *buf, size_t size, double value, double step, const char *const *units)
{
	unsigned int i = 0;

	while (value >= 999.5 && units[i + 1]) {
		value /= step;
		i++;
	}
	snprintf(buf, size, "%.*f%s", i && value < 9.95, value, units[i]);
	return buf;
}

char *figure(char *buf, size_t size, __u64 value, int binary)
{
	static const char *const decimal_units[] = { "", "k", "M", "G", "T", "P", "E", NULL };
	static const char *const binary_units[] = {
		"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", NULL
	};

	return scaled(buf, size, value, binary ? 1024 : 1000,
		      binary ? binary_units : decimal_units);
}

char *figure_ns(char *buf, size_t size, __u64 ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s", NULL };

	return scaled(buf, size, ns, 1000, units);
}
