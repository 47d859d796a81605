/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * content_gen.h - hostile control frames for each content, of the protocol's table (contents.h)
 *
 * Nothing of the codec is in here, so that it cannot be wrong in the same way. For whoever has
 * included frame_gen.h.
 */
#ifndef _SLUICE_CONTENT_GEN_H
#define _SLUICE_CONTENT_GEN_H

/* @number, and @sign times the number @of of the same content */
struct content_bound {
	int		number;
	int		sign;
	const char	*of;
};

struct content_number {
	const char		*name;	/* begins with "count" if it counts what follows */
	__u16			at;
	__u8			bytes;
	struct content_bound	least, most;
};

struct content {
	__u16			type;
	const char		*name;
	__u16			least;
	__u16			each;	/* of what is counted, or of all that there is */
	__u16			times;	/* in a frame, at most; with others that may be several */
	const char		*otherwise;
	struct content_number	numbers[4];
};

#include "contents.h"

#define CONTENTS	(sizeof(contents) / sizeof(*contents))

/**
 * enum content_fault - what is wrong with a frame
 * @CONTENT_GOOD: nothing
 * @CONTENT_LONGER: nothing, but there are bytes behind the content that nobody knows
 * @CONTENT_SHORT: a content is shorter than it may be
 * @CONTENT_COUNT: a content promises more than is there
 * @CONTENT_RANGE: a number is beyond its bounds
 * @CONTENT_SEVERAL: nothing, and a content is there several times, up to as often as it may be
 * @CONTENT_OFTEN: a content is there more often than it may be
 */
enum content_fault {
	CONTENT_GOOD,
	CONTENT_LONGER,
	CONTENT_SHORT,
	CONTENT_COUNT,
	CONTENT_RANGE,
	CONTENT_SEVERAL,
	CONTENT_OFTEN,
	CONTENT_FAULTS
};

static const char * const content_fault_names[] = {
	"good", "longer", "short", "count", "range", "several", "often",
};

#define CONTENT_VARIANTS	64	/* of each fault, at most */
#define CONTENT_FRAME_MAX	1500
#define CONTENT_HEAD		12

/* Is there nothing wrong with it, and nothing but the content in the frame? */
static bool content_is_good(enum content_fault fault)
{
	return fault == CONTENT_GOOD || fault == CONTENT_LONGER || fault == CONTENT_SEVERAL;
}

static const struct content_number *content_named(const struct content *c, const char *name)
{
	const struct content_number *n = c->numbers;

	while (strcmp(n->name, name))
		n++;
	return n;
}

static const struct content_number *content_count(const struct content *c)
{
	const struct content_number *n;

	for (n = c->numbers; n->name; n++)
		if (!strncmp(n->name, "count", 5))
			return n;
	return NULL;
}

/* All of it is what goes on and on */
static bool content_is_list(const struct content *c)
{
	return c->each && !content_count(c);
}

static long content_get(const struct content_number *n, const __u8 *v)
{
	unsigned int i;
	long value = 0;

	for (i = 0; i < n->bytes; i++)
		value = value << 8 | v[n->at + i];
	return value;
}

static long content_bound(const struct content *c, const struct content_bound *b, const __u8 *v)
{
	return b->number + (b->of ? b->sign * content_get(content_named(c, b->of), v) : 0);
}

/* Gives numbers that have bounds good values; those that others depend on first. */
static void content_numbers(const struct content *c, __u8 *v, unsigned int count)
{
	const struct content_number *n;
	unsigned int pass;
	long low, high;

	for (pass = 0; pass < 2; pass++) {
		for (n = c->numbers; n->name; n++) {
			if ((n->least.of || n->most.of) != pass)
				continue;
			low = content_bound(c, &n->least, v);
			high = content_bound(c, &n->most, v);
			if (n == content_count(c))
				low = high = count;
			if (high > low && gen_below(3))
				low = gen_below(2) ? high : low + gen_below(high - low + 1);
			gen_put(v + n->at, n->bytes, low);
		}
	}
}

/* A good value, with @count of what is counted. Return: its length. */
static size_t content_value(const struct content *c, unsigned int count, __u8 *v)
{
	size_t i, len = content_is_list(c) ? count * c->each : c->least + count * c->each;

	for (i = 0; i < len; i++)
		v[i] = gen64();
	if (content_is_list(c))
		for (i = 0; i < count; i++)
			content_numbers(c, v + i * c->each, 0);
	else
		content_numbers(c, v, count);
	return len;
}

static unsigned int content_some(const struct content *c)
{
	return c->each ? 1 + gen_below(3) : 0;
}

/* With another count than before, numbers whose bounds depend on it are as low as they can be. */
static void content_recount(const struct content *c, unsigned int count, __u8 *v)
{
	const struct content_number *n;

	for (n = c->numbers; n->name; n++)
		if (n->most.of)
			gen_put(v + n->at, n->bytes, n->least.number);
	n = content_count(c);
	gen_put(v + n->at, n->bytes, count);
}

/* What is counted has to be there. */
static long content_range_count(const struct content *c, bool above, __u8 *v)
{
	const struct content_number *n = content_count(c);
	unsigned int i, count = above ? n->most.number + 1 : 0;

	if (count > 100 || (!above && !n->least.number))
		return -1;
	content_value(c, 1, v);
	for (i = 0; i < count * c->each; i++)
		v[c->least + i] = gen64();
	content_recount(c, count, v);
	return c->least + i;
}

/* One number beyond its bounds: below, above, or as large as can be; of a list, the first or the
 * last.
 */
static long content_range(const struct content *c, unsigned int variant, __u8 *v)
{
	unsigned int last = variant & 1, how = variant >> 1 & 3, i, count = content_some(c);
	const struct content_number *n = c->numbers;
	long bad, low, high, all;
	size_t len;

	for (i = variant >> 3; i && n->name; i--)
		n++;
	if (!n->name || how > 2 || (last && !content_is_list(c)))
		return -1;
	if (n == content_count(c))
		return how < 2 ? content_range_count(c, how, v) : -1;
	len = content_value(c, count, v);
	if (last)
		v += (count - 1) * c->each;
	all = (1L << 8 * n->bytes) - 1;
	low = content_bound(c, &n->least, v);
	high = content_bound(c, &n->most, v);
	bad = how == 0 ? low - 1 : how == 1 ? high + 1 : all;
	if (bad < 0 || bad > all || (bad >= low && bad <= high))
		return -1;
	gen_put(v + n->at, n->bytes, bad);
	return len;
}

/* Three are promised, and a part of that is there; or as many as can be, and there is none. */
static long content_promise(const struct content *c, unsigned int variant, __u8 *v)
{
	if (!content_count(c) || variant > 3 * c->each)
		return -1;
	content_value(c, 3, v);
	if (variant < 3 * c->each)
		return c->least + variant;
	content_recount(c, content_count(c)->most.number, v);
	return c->least;
}

/* The value of a content with a fault. Return: its length, -1 if there is no such variant. */
static long content_make(const struct content *c, enum content_fault fault, unsigned int variant,
			 __u8 *v)
{
	size_t i, len, more = variant + 1;

	switch (fault) {
	case CONTENT_LONGER:
		if (content_is_list(c) && more >= c->each)
			return -1;
		len = content_value(c, content_some(c), v);
		for (i = 0; i < more; i++)
			v[len + i] = gen64();
		return len + more;
	case CONTENT_SHORT:
		content_value(c, content_some(c), v);
		return variant < c->least ? (long)variant : -1;
	case CONTENT_COUNT:
		return content_promise(c, variant, v);
	case CONTENT_RANGE:
		return content_range(c, variant, v);
	default:
		return content_value(c, content_some(c), v);
	}
}

static __u8 *content_put(__u8 *to, const struct content *c, const __u8 *v, size_t len)
{
	gen_put(to, 2, c->type);
	gen_put(to + 2, 2, len);
	memcpy(to + 4, v, len);
	return to + 4 + len;
}

/* One of the others, which is heard if the frame is not dropped whole: as often as not a GOODBYE */
static __u8 *content_other(__u8 *to, const struct content *c)
{
	const struct content *other = contents;
	__u8 v[CONTENT_FRAME_MAX];

	while (strcmp(other->name, "GOODBYE"))
		other++;
	while (other == c || gen_below(2))
		other = &contents[gen_below(CONTENTS)];
	return content_put(to, other, v, content_value(other, content_some(other), v));
}

/* The header before what ends at @end. Return: the frame's length. */
static size_t content_head(__u8 *buf, const __u8 *end, __u32 mine, __u32 yours)
{
	memset(buf, 0, CONTENT_HEAD);
	buf[0] = 1;
	gen_put(buf + 2, 2, end - buf - CONTENT_HEAD);
	gen_put(buf + 4, 4, mine);
	gen_put(buf + 8, 4, yours);
	return end - buf;
}

/* How often the content is in the frame; 0 if there is no such variant */
static unsigned int content_times(const struct content *c, enum content_fault fault,
				  unsigned int variant)
{
	switch (fault) {
	case CONTENT_SEVERAL:
		return variant + 2 <= c->times ? variant + 2 : 0;
	case CONTENT_OFTEN:
		return c->times + 1;
	default:
		return 1;
	}
}

/**
 * content_frame - a frame with a content that has a fault, often beside a good one
 * @buf: CONTENT_FRAME_MAX bytes
 * @c: the content
 * @fault: what is wrong
 * @variant: from 0 on, below CONTENT_VARIANTS
 * @mine: the sender's epoch
 * @yours: the receiver's
 *
 * A good frame has nothing but the content, once or as often as @variant says.
 *
 * Return: its length, 0 if there is no such variant.
 */
static inline size_t content_frame(__u8 *buf, const struct content *c, enum content_fault fault,
				   unsigned int variant, __u32 mine, __u32 yours)
{
	unsigned int others = content_is_good(fault) ? 0 : gen_below(3);
	unsigned int times = content_times(c, fault, variant);
	__u8 v[CONTENT_FRAME_MAX], *p = buf + CONTENT_HEAD;
	long len = content_make(c, fault, variant, v);

	if (len < 0 || !times)
		return 0;
	if (others == 1)
		p = content_other(p, c);
	p = content_put(p, c, v, len);
	if (others == 2)
		p = content_other(p, c);
	while (--times)
		p = content_put(p, c, v, content_value(c, content_some(c), v));
	return content_head(buf, p, mine, yours);
}

#endif
