// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz_content.c - libFuzzer target of one content of control frames, in a frame that is sound
 *
 *	make fuzz SECONDS=60		at the top: one of these for each content of contents.h
 *
 * fuzz_frame.c has to come upon a header and a length that fit before any content is looked at.
 * Here they do: the first byte of the input says how often the content is there, the rest is its
 * value. What must be true is the same, and a frame that has the content more often than it may is
 * refused. CONTENT is the type.
 */
#define LLVMFuzzerTestOneInput fuzz_frame
#include "fuzz_frame.c"
#undef LLVMFuzzerTestOneInput
#include "frame_gen.h"
#include "content_gen.h"

#ifndef CONTENT
#error "CONTENT is the type of the content"
#endif

static const struct content *content_of(unsigned int type)
{
	const struct content *c = contents;

	while (c->type != type)
		c++;
	return c;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	const struct content *c = content_of(CONTENT);
	__u8 buf[HOP_FRAME_MAX], *p = buf + CONTENT_HEAD;
	unsigned int times, i;
	struct hop_frame f;
	size_t len;

	if (!size)
		return 0;
	times = 1 + data[0] % 10;
	data++;
	size--;
	if (CONTENT_HEAD + times * (4 + size) > sizeof(buf))
		return 0;
	for (i = 0; i < times; i++)
		p = content_put(p, c, data, size);
	len = content_head(buf, p, 1, 2);
	if (hop_frame_parse(buf, len, &f) == HOP_FRAME_OK)
		REQUIRE(times <= c->times && size >= c->least && f.has == 1ULL << CONTENT);
	return fuzz_frame(buf, len);
}
