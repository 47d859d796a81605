// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnp.c - the codec of congestion notification packets (RoCC, section 3.3)
 *
 * The parser makes one pass over the buffer, allocates nothing and follows no length that it has
 * not compared with what is left. It decides what a CNP says; whether to believe it (tag, epoch, a
 * flow that is ours) is up to the caller. Bytes behind the quoted packet are ignored: routers and
 * cards pad.
 *
 * Nothing here has state, so nothing needs a lock.
 */
#include "../hopctl/byteorder.h"
#include "cnp.h"

#define CNP_IPV4_ADDRESS	4
#define CNP_IPV6_ADDRESS	16
#define CNP_TTL			64

static size_t quoted_bytes(bool v6)
{
	return (v6 ? CNP_IPV6_BYTES : CNP_IPV4_BYTES) + ROCC_CNP_QUOTED_L4;
}

/* An IP header with what names the flow, and no more: neither its checksum nor the length are
 * those of a packet that is on its way.
 */
static void write_quoted(__u8 *p, const struct cnp_flow *f)
{
	memset(p, 0, quoted_bytes(f->v6));
	if (f->v6) {
		p[0] = 0x60;
		p[5] = ROCC_CNP_QUOTED_L4;
		p[6] = f->proto;
		p[7] = CNP_TTL;
		memcpy(p + 8, f->saddr, CNP_IPV6_ADDRESS);
		memcpy(p + 24, f->daddr, CNP_IPV6_ADDRESS);
		p += CNP_IPV6_BYTES;
	} else {
		p[0] = 0x45;
		p[3] = quoted_bytes(false);
		p[8] = CNP_TTL;
		p[9] = f->proto;
		memcpy(p + 12, f->saddr, CNP_IPV4_ADDRESS);
		memcpy(p + 16, f->daddr, CNP_IPV4_ADDRESS);
		p += CNP_IPV4_BYTES;
	}
	memcpy(p, f->l4, ROCC_CNP_QUOTED_L4);
}

/* A fragment but the first has no ports; a header with options is not what cnp_write() writes,
 * but what a switch that copies packets may send.
 */
static bool parse_quoted(const __u8 *p, size_t len, struct cnp_flow *f)
{
	size_t header;

	memset(f, 0, sizeof(*f));
	if (!len)
		return false;
	switch (p[0] >> 4) {
	case 4:
		header = (p[0] & 0xf) * 4;
		if (header < CNP_IPV4_BYTES || len < header + ROCC_CNP_QUOTED_L4)
			return false;
		if ((p[6] & 0x1f) | p[7])
			return false;
		f->proto = p[9];
		memcpy(f->saddr, p + 12, CNP_IPV4_ADDRESS);
		memcpy(f->daddr, p + 16, CNP_IPV4_ADDRESS);
		break;
	case 6:
		header = CNP_IPV6_BYTES;
		if (len < header + ROCC_CNP_QUOTED_L4)
			return false;
		f->v6 = true;
		f->proto = p[6];
		memcpy(f->saddr, p + 8, CNP_IPV6_ADDRESS);
		memcpy(f->daddr, p + 24, CNP_IPV6_ADDRESS);
		break;
	default:
		return false;
	}
	memcpy(f->l4, p + header, ROCC_CNP_QUOTED_L4);
	return true;
}

static void write_queue(__u8 *p, const struct cnp_queue *s)
{
	struct rocc_cnp_queue t = {
		.tuning = s->tuning,
		.rate_max = cpu_to_be32(s->rate_max),
		.alpha = cpu_to_be64(s->alpha),
		.beta = cpu_to_be64(s->beta),
		.q_cur = cpu_to_be32(s->q_cur),
		.q_old = cpu_to_be32(s->q_old),
		.q_ref = cpu_to_be32(s->q_ref),
		.q_mid = cpu_to_be32(s->q_mid),
		.q_max = cpu_to_be32(s->q_max),
	};

	memcpy(p, &t, sizeof(t));
}

static void parse_queue(const __u8 *p, struct cnp_queue *s)
{
	struct rocc_cnp_queue t;

	memcpy(&t, p, sizeof(t));
	s->tuning = t.tuning;
	s->rate_max = be32_to_cpu(t.rate_max);
	s->alpha = be64_to_cpu(t.alpha);
	s->beta = be64_to_cpu(t.beta);
	s->q_cur = be32_to_cpu(t.q_cur);
	s->q_old = be32_to_cpu(t.q_old);
	s->q_ref = be32_to_cpu(t.q_ref);
	s->q_mid = be32_to_cpu(t.q_mid);
	s->q_max = be32_to_cpu(t.q_max);
}

/* Once all could be read: are there such values? */
static bool values_are_right(const struct cnp *c)
{
	if (!c->rate || !c->rate_min || !c->epoch || !c->interval || c->key > ROCC_CNP_KEYS)
		return false;
	return c->code != ROCC_CNP_QUEUE ||
	       (c->rate_min <= c->state.rate_max && c->state.tuning < __ROCC_TUNING_MAX);
}

/**
 * cnp_write - a CNP, but for the checksum and the tag
 * @buf: where
 * @size: bytes there
 * @c: what it says
 *
 * Its type is that of the flow's IP version. The checksum is 0.
 *
 * Return: its length, 0 if it does not fit.
 */
size_t cnp_write(void *buf, size_t size, const struct cnp *c)
{
	struct rocc_cnp t = {
		.type = c->flow.v6 ? ROCC_CNP_ICMPV6 : ROCC_CNP_ICMP,
		.code = c->code,
		.rate = cpu_to_be32(c->rate),
		.version = ROCC_CNP_VERSION,
		.key = c->key,
		.queue = cpu_to_be16(c->queue),
		.port = cpu_to_be32(c->port),
		.epoch = cpu_to_be64(c->epoch),
		.sequence = cpu_to_be32(c->sequence),
		.interval = cpu_to_be32(c->interval),
		.gap = cpu_to_be32(c->gap),
		.rate_min = cpu_to_be32(c->rate_min),
		.tag = cpu_to_be64(c->tag),
	};
	size_t len = sizeof(t) + (c->code == ROCC_CNP_QUEUE ? sizeof(struct rocc_cnp_queue) : 0);
	__u8 *p = buf;

	if (size < len + quoted_bytes(c->flow.v6))
		return 0;
	memcpy(t.address, c->address, sizeof(t.address));
	memcpy(p, &t, sizeof(t));
	if (c->code == ROCC_CNP_QUEUE)
		write_queue(p + sizeof(t), &c->state);
	write_quoted(p + len, &c->flow);
	return len + quoted_bytes(c->flow.v6);
}

/**
 * cnp_parse - what a CNP says
 * @buf: the ICMP message, its checksum already found right
 * @len: bytes there
 * @v6: it is one of ICMPv6. Who is told of a flow is its source, so both have one IP version.
 * @c: filled in if it is valid, else undefined
 *
 * Return: CNP_OK, or why it is refused.
 */
enum cnp_error cnp_parse(const void *buf, size_t len, bool v6, struct cnp *c)
{
	const __u8 *p = buf;
	struct rocc_cnp t;

	if (len < sizeof(t))
		return CNP_MALFORMED;
	memcpy(&t, p, sizeof(t));
	if (t.version != ROCC_CNP_VERSION || t.code > ROCC_CNP_QUEUE)
		return CNP_VERSION;
	if (t.type != (v6 ? ROCC_CNP_ICMPV6 : ROCC_CNP_ICMP))
		return CNP_MALFORMED;
	p += sizeof(t);
	len -= sizeof(t);

	memset(&c->state, 0, sizeof(c->state));
	c->code = t.code;
	c->key = t.key;
	c->rate = be32_to_cpu(t.rate);
	c->queue = be16_to_cpu(t.queue);
	c->port = be32_to_cpu(t.port);
	memcpy(c->address, t.address, sizeof(c->address));
	c->epoch = be64_to_cpu(t.epoch);
	c->sequence = be32_to_cpu(t.sequence);
	c->interval = be32_to_cpu(t.interval);
	c->gap = be32_to_cpu(t.gap);
	c->rate_min = be32_to_cpu(t.rate_min);
	c->tag = be64_to_cpu(t.tag);
	if (c->code == ROCC_CNP_QUEUE) {
		if (len < sizeof(struct rocc_cnp_queue))
			return CNP_MALFORMED;
		parse_queue(p, &c->state);
		p += sizeof(struct rocc_cnp_queue);
		len -= sizeof(struct rocc_cnp_queue);
	}
	if (!parse_quoted(p, len, &c->flow) || c->flow.v6 != v6)
		return CNP_MALFORMED;
	return values_are_right(c) ? CNP_OK : CNP_RANGE;
}
