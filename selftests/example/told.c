// SPDX-License-Identifier: GPL-2.0-only
/*
 * told.c - a told state: how many bytes wait in each sub-queue, for the other end to know
 *
 * A page is a sub-queue. Nobody needs to keep in mind that one is empty. Of several qdiscs on one
 * port, as under mq, the first one speaks for all: each would need pages of its own.
 * Context: port's lock, but for example_heard().
 */
#include "../../kernel/hopctl/content.h"
#include "example.h"

static struct example_sched *example_of(const struct hop_port *port)
{
	struct hop_member *m = hop_port_member(port, &example_member_ops);

	return m ? container_of(m, struct example_sched, member) : NULL;
}

static unsigned int example_pages(const struct hop_port *port)
{
	return hop_port_has_kind(port, HOP_KIND_EXAMPLE) ? EXAMPLE_QUEUES : 0;
}

/* Without a qdisc nothing waits. */
static void example_collect(struct hop_port *port, u64 now)
{
	struct hop_stream *s = hop_port_stream(port, HOP_SLOT_EXAMPLE);
	struct example_sched *q = example_of(port);
	unsigned int i;
	u64 bytes;

	for (i = 0; q && i < EXAMPLE_QUEUES; i++) {
		bytes = READ_ONCE(q->queues[i].backlog);
		/* another qdisc may have told the page before */
		if (bytes == q->told[i] && !bytes == !(s->held >> i & 1))
			continue;
		q->told[i] = bytes;
		hop_stream_change(s, i, bytes);
	}
}

static void example_write(const struct hop_port *port, const struct hop_stream_part *part, u8 *to)
{
	static const u64 nothing[EXAMPLE_QUEUES];
	struct example_sched *q = example_of(port);

	hop_frame_put_words(to, (q ? q->told : nothing) + part->first, part->count);
}

/* The neighbour takes all for empty. */
static void example_stop(struct hop_port *port)
{
	struct example_sched *q = example_of(port);

	if (q)
		memset(q->told, 0, sizeof(q->told));
}

static void example_start(struct hop_port *port, u64 now)
{
	example_stop(port);
}

static unsigned int example_rx_pages(const struct hop_port *port)
{
	return EXAMPLE_QUEUES;
}

static bool example_rx(struct hop_port *port, const struct hop_told *told, u64 now)
{
	struct example_sched *q = example_of(port);
	unsigned int i;

	if (!q)
		return false;
	for (i = 0; i < told->count; i++)
		WRITE_ONCE(q->heard[told->first + i], hop_told_word(told, i));
	return example_heard(q);
}

static void example_lost(struct hop_port *port, u64 now)
{
	struct example_sched *q = example_of(port);

	if (q)
		memset(q->heard, 0, sizeof(q->heard));
}

static const struct hop_content example_content = {
	.kinds		= HOP_KIND_EXAMPLE,
	.pages		= example_pages,
	.collect	= example_collect,
	.write		= example_write,
	.start		= example_start,
	.stop		= example_stop,
	.rx_pages	= example_rx_pages,
	.rx		= example_rx,
	.lost		= example_lost,
};

/* Bytes that wait at the neighbour, as far as it has been heard */
u64 example_heard(const struct example_sched *q)
{
	unsigned int i;
	u64 bytes = 0;

	for (i = 0; i < EXAMPLE_QUEUES; i++)
		bytes += READ_ONCE(q->heard[i]);
	return bytes;
}

int example_told_init(void)
{
	return hop_content_register(HOP_SLOT_EXAMPLE, &example_content);
}

void example_told_exit(void)
{
	hop_content_unregister(HOP_SLOT_EXAMPLE);
}
