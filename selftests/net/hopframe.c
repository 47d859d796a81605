// SPDX-License-Identifier: GPL-2.0-only
/*
 * hopframe.c - control frames made by hand, and a neighbour made by hand
 *
 *	hopframe send DEV [OPTION]... CONTENT...	one frame
 *	hopframe data DEV [OPTION]...			a data frame, with a tag if vid= is given
 *	hopframe listen DEV [OPTION]...			print what comes in
 *	hopframe replay DEV FILE [OPTION]...		send again what `listen save=FILE` has kept
 *	hopframe show FILE				print what a file has kept
 *	hopframe flood DEV [OPTION]... [CONTENT...]	one frame, or one with variations, n= times
 *	hopframe contents		all contents: TYPE CAUSE NAME, where CAUSE is
 *					what counts one that does not count
 *	hopframe peer DEV [OPTION]... [at=MS CONTENT...]...
 *
 * Frames are built and read by the module's own codec. DEV's other end, not DEV, is what is
 * tested: DEV itself should have no port of its own. Received frames are printed one a line, as
 * they arrive at DEV, before its own hooks:
 *
 *	MS SOURCE [vid=N] mine=HEX yours=HEX CONTENT...
 *	MS SOURCE [vid=N] refused (malformed|version|range)
 *	MS SOURCE [vid=N] data type=HEX bytes=N		only with `data`
 *
 * `show` prints the frame's number in place of MS, and all frames.
 *
 * `peer` is a neighbour: it answers HELLOs with HELLOs, echoes probes and acknowledges PAUSE
 * STATEs, as far as its options let it, and sends the contents behind at=MS that many
 * milliseconds after its epoch was first named by the other end, with right epochs. It says
 * GOODBYE only if told to, which is its last word; else it ends like after a power cut.
 *
 * `flood` sends past the qdisc, many frames with one call, and rests for 100 us after each
 * thousand, so that others get their turn. At its end it says how many frames it sent and, where
 * the clock moves while programs run, what each took, here and in the receiving hook of a veth
 * pair:
 *
 *	frames=N malformed=N version=N range=N ns=N
 *
 * where the three in the middle are the codec's judgement of `damage`, 0 otherwise. The frame is
 * of the given contents, or the oldest one of a file (kept=), or a data frame (data).
 *
 * Options, for where they make sense:
 *	for=MS		how long to listen or be a neighbour (default 1000)
 *	n=N		end after N printed frames; for send and replay: how often
 *	src=MAC		source address (default DEV's; replay: as it was kept)
 *	dst=MAC		destination (default the protocol's)
 *	mine=HEX yours=HEX	epochs (default 1 and 0; peer: 1 and what it hears)
 *	vid=N tpid=HEX	fabric tag (send), TPID announced (peer; default 88a8)
 *	version=N length=N	lie in the header
 *	cut=N		send only N bytes behind the Ethernet header
 *	pad=N		pad to N bytes behind the Ethernet header
 *	type=HEX	EtherType of data (default 9000)
 *	save=FILE	keep frames, as they were on the link, in a pcap file
 *	data		print other frames, too
 *	role=host|switch queues=N flags=HEX ring=NS	what peer's HELLOs say (default switch, 128,
 *			STRIPS_TAGS and, while the other end says TAGS, STRIPPING)
 *	kinds=HEX	and of which kinds it is (default 1, bfc)
 *	noecho noack	peer echoes no probes, acknowledges nothing
 *	deaf		peer is not woken by data frames, nor by frames that begin with an ACK
 *	small		peer echoes only probes of up to 200 bytes
 *	hold=MS		peer answers HELLOs that late
 *	kept=FILE	flood: the oldest frame of what `listen save=FILE` has kept
 *	only=hello|state	the oldest with such a content
 *	step		flood: the sequence number of the PAUSE STATE goes up from frame to frame
 *	cuts		flood: cut short at each length in turn, from 0 to all but one byte
 *	damage=SEED	flood: damaged at random; only what the codec refuses is sent
 *	each=FAULT	flood: each content in turn, with that fault, good, short, count, range,
 *			several or often, in all variants (unit/content_gen.h); of the good ones
 *			not HELLO
 *	content=N	of the content of that type only
 *	longer=N	flood: with 0 to N bytes behind each content that nobody knows, in turn
 *
 * Contents:
 *	hello[:role=R,queues=N,flags=HEX,kinds=HEX,tpid=HEX,ring=NS,sent=NS,echo=NS,held=NS]
 *	state:seq=N[,lease=NS][,first=N],words=HEX[+HEX]...
 *	roots:queue=N,id=N,hops=N,more=0|1[,queue=N...]	one for each queue=
 *	example:...	the same as state, of an EXAMPLE STATE
 *	ack:seq=N  example-ack:seq=N  probe:nonce=HEX,vid=N,size=N  echo:nonce=HEX,vid=N,size=N
 *	goodbye
 *	end:block=N,lane=N,lanes=N[,key=N]...  balances:block=N[,key=N,bytes=N]...
 *	raw:HEX		bytes as they are, at the end
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../kernel/hopctl/frame.c"
#include "pcap.h"
#include "../unit/frame_gen.h"
#include "../unit/content_gen.h"

#define ROOM	65536
#define TAG_AT	(2 * ETH_ALEN)	/* where a VLAN tag is in a frame */
#define TAG_LEN	4

struct frame {
	__u8		bytes[ROOM];	/* from the Ethernet header on, without the outermost tag */
	size_t		len;
	__u16		tpid, tci;	/* of that tag, 0 if there is none */
	struct timespec	when;		/* when it arrived */
};

struct action {
	long	at_ms;
	char	**content;
	int	n;
	bool	done;
};

static struct {
	const char	*dev;
	int		fd;
	long		for_ms, count;
	__u8		src[ETH_ALEN], dst[ETH_ALEN];
	__u32		mine, yours;
	int		vid, tpid, type, version, length;
	long		cut, pad, hold_ms;
	FILE		*save;
	bool		data, noecho, noack, small;
	bool		step, cuts, damage, deaf;
	int		each;	/* enum content_fault */
	int		content;	/* type of the only one that has it, 0: each has */
	unsigned int	longer;
	const char	*kept;
	enum hop_tlv	only;
	struct hop_hello hello;
	bool		flags_given, src_given;
	char		**rest;
	int		n_rest;
} o = {
	.for_ms = 1000, .count = -1, .dst = HOP_DEST_MAC, .mine = 1, .vid = -1, .tpid = 0x88a8,
	.type = 0x9000, .version = -1, .length = -1, .cut = -1, .pad = ETH_ZLEN - ETH_HLEN,
	.each = -1,
	.hello = {
		.role = HOP_ROLE_SWITCH, .queues = 128, .tpid = 0x88a8, .kinds = HOP_KIND_BFC,
		.flags = HOP_HELLO_STRIPS_TAGS,
	},
};

static struct timespec begin;

static __u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static long elapsed_ms(void)
{
	return (now_ns() - (begin.tv_sec * 1000000000ULL + begin.tv_nsec)) / 1000000;
}

static unsigned long number(const char *text, int base)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, base);
	if (errno || end == text || *end)
		errx(2, "%s is no number", text);
	return value;
}

static void mac_parse(const char *text, __u8 *mac)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3,
		   mac + 4, mac + 5) != 6)
		errx(2, "%s is no address", text);
}

static __u8 role_parse(const char *text)
{
	if (!strcmp(text, "host"))
		return HOP_ROLE_HOST;
	if (!strcmp(text, "switch"))
		return HOP_ROLE_SWITCH;
	return number(text, 0);
}

/* The part behind NAME= if @text starts with it */
static const char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && text[len] == '=' ? text + len + 1 : NULL;
}

static bool hello_field(struct hop_hello *h, const char *field)
{
	const char *v;

	if ((v = value_of(field, "role")))
		h->role = role_parse(v);
	else if ((v = value_of(field, "queues")))
		h->queues = number(v, 10);
	else if ((v = value_of(field, "flags")))
		h->flags = number(v, 16);
	else if ((v = value_of(field, "kinds")))
		h->kinds = number(v, 16);
	else if ((v = value_of(field, "ring")))
		h->ring_ns = number(v, 10);
	else if ((v = value_of(field, "tpid")))
		h->tpid = number(v, 16);
	else if ((v = value_of(field, "sent")))
		h->sent_ns = number(v, 10);
	else if ((v = value_of(field, "echo")))
		h->echo_ns = number(v, 10);
	else if ((v = value_of(field, "held")))
		h->held_ns = number(v, 10);
	else
		return false;
	return true;
}

static unsigned int words_parse(char *text, __u64 *words)
{
	unsigned int n = 0;
	char *word;

	while ((word = strsep(&text, "+"))) {
		if (n == HOP_BITMAP_WORDS)
			errx(2, "more than %d words", HOP_BITMAP_WORDS);
		words[n++] = number(word, 16);
	}
	return n;
}

static void add_state(struct hop_writer *w, enum hop_slot slot, char *fields)
{
	__u64 words[HOP_BITMAP_WORDS];
	unsigned long seq = 1, lease = 100000000, first = 0;
	unsigned int n = 0;
	const char *v;
	char *field;
	__u8 *to;

	while ((field = strsep(&fields, ","))) {
		if ((v = value_of(field, "seq")))
			seq = number(v, 10);
		else if ((v = value_of(field, "lease")))
			lease = number(v, 10);
		else if ((v = value_of(field, "first")))
			first = number(v, 10);
		else if ((v = value_of(field, "words")))
			n = words_parse((char *)v, words);
		else
			errx(2, "state has no %s", field);
	}
	to = hop_frame_add_state(w, slot, seq, lease, first, n);
	if (to)
		hop_frame_put_words(to, words, n);
}

static void add_roots(struct hop_writer *w, char *fields)
{
	struct hop_told_root roots[HOP_FRAME_MAX / sizeof(struct hop_tlv_root)] = {};
	struct hop_told_root *r = NULL;
	unsigned int i, n = 0;
	const char *v;
	char *field;
	__u8 *to;

	while ((field = strsep(&fields, ","))) {
		if ((v = value_of(field, "queue")) && n < sizeof(roots) / sizeof(*roots)) {
			r = &roots[n++];
			r->queue = number(v, 10);
			continue;
		}
		if (!r)
			errx(2, "roots begin with queue=, not with %s", field);
		if ((v = value_of(field, "id")))
			r->id = number(v, 10);
		else if ((v = value_of(field, "hops")))
			r->hops = number(v, 10);
		else if ((v = value_of(field, "more")))
			r->more = number(v, 10);
		else
			errx(2, "a root has no %s", field);
	}
	to = hop_frame_add_roots(w, n);
	for (i = 0; to && i < n; i++)
		hop_frame_put_root(to, i, &roots[i]);
}

static void add_ack(struct hop_writer *w, enum hop_slot slot, const char *field)
{
	const char *v = field ? value_of(field, "seq") : NULL;

	hop_frame_add_ack(w, slot, number(v ?: "?", 10));
}

static void add_probe(struct hop_writer *w, enum hop_tlv type, char *fields)
{
	struct hop_probe p = { .vid = 1, .size = 64 };
	const char *v;
	char *field;

	while ((field = strsep(&fields, ","))) {
		if ((v = value_of(field, "nonce")))
			p.nonce = number(v, 16);
		else if ((v = value_of(field, "vid")))
			p.vid = number(v, 10);
		else if ((v = value_of(field, "size")))
			p.size = number(v, 10);
		else
			errx(2, "a probe has no %s", field);
	}
	hop_frame_add_probe(w, type, &p);
}

static void add_end(struct hop_writer *w, char *fields)
{
	struct hop_end e = { .lanes = 1 };
	__u16 keys[HOP_FRAME_ASKS];
	const char *v;
	char *field;

	while ((field = strsep(&fields, ","))) {
		if ((v = value_of(field, "block")))
			e.block = number(v, 10);
		else if ((v = value_of(field, "lanes")))
			e.lanes = number(v, 10);
		else if ((v = value_of(field, "lane")))
			e.lane = number(v, 10);
		else if ((v = value_of(field, "key")) && e.count < HOP_FRAME_ASKS)
			keys[e.count++] = number(v, 10);
		else
			errx(2, "an end has no %s, or too many", field);
	}
	hop_frame_add_end(w, &e, keys);
}

static void add_balances(struct hop_writer *w, char *fields)
{
	__s32 bytes[HOP_FRAME_BALANCES] = {};
	__u16 keys[HOP_FRAME_BALANCES];
	unsigned int i, count = 0;
	__u32 block = 0;
	const char *v;
	char *field;
	__u8 *to;

	while ((field = strsep(&fields, ","))) {
		if ((v = value_of(field, "block")))
			block = number(v, 10);
		else if ((v = value_of(field, "key")) && count < HOP_FRAME_BALANCES)
			keys[count++] = number(v, 10);
		else if ((v = value_of(field, "bytes")) && count)
			bytes[count - 1] = *v == '-' ? -number(v + 1, 10) : number(v, 10);
		else
			errx(2, "balances have no %s, or too many", field);
	}
	to = hop_frame_add_balances(w, block, count);
	for (i = 0; to && i < count; i++)
		hop_frame_put_balance(to, i, keys[i], bytes[i]);
}

static void add_raw(struct hop_writer *w, const char *hex)
{
	unsigned int byte;

	for (; *hex && w->used < w->size; hex += 2) {
		if (sscanf(hex, "%2x", &byte) != 1)
			errx(2, "%s is not hexadecimal", hex);
		w->buf[w->used++] = byte;
	}
}

static void add_content(struct hop_writer *w, const char *content)
{
	char *copy = strdup(content), *fields = copy, *field;
	const char *name = strsep(&fields, ":");
	struct hop_hello hello = o.hello;

	if (!strcmp(name, "hello")) {
		hello.sent_ns = now_ns();
		while ((field = strsep(&fields, ",")))
			if (!hello_field(&hello, field))
				errx(2, "hello has no %s", field);
		hop_frame_add_hello(w, &hello);
	} else if (!strcmp(name, "state")) {
		add_state(w, HOP_SLOT_PAUSE, fields);
	} else if (!strcmp(name, "example")) {
		add_state(w, HOP_SLOT_EXAMPLE, fields);
	} else if (!strcmp(name, "roots")) {
		add_roots(w, fields);
	} else if (!strcmp(name, "ack")) {
		add_ack(w, HOP_SLOT_PAUSE, fields);
	} else if (!strcmp(name, "example-ack")) {
		add_ack(w, HOP_SLOT_EXAMPLE, fields);
	} else if (!strcmp(name, "probe")) {
		add_probe(w, HOP_TLV_PROBE, fields);
	} else if (!strcmp(name, "echo")) {
		add_probe(w, HOP_TLV_PROBE_ECHO, fields);
	} else if (!strcmp(name, "goodbye")) {
		hop_frame_add_goodbye(w);
	} else if (!strcmp(name, "end")) {
		add_end(w, fields);
	} else if (!strcmp(name, "balances")) {
		add_balances(w, fields);
	} else if (!strcmp(name, "raw")) {
		add_raw(w, fields ?: "");
	} else {
		errx(2, "there is no content %s", name);
	}
	free(copy);
}

/* Returns false if the frame is longer than a socket may send. */
static bool frame_try(const struct frame *f)
{
	if (send(o.fd, f->bytes, f->len, 0) == (ssize_t)f->len)
		return true;
	if (errno != EMSGSIZE)
		err(1, "%s: send", o.dev);
	return false;
}

static void frame_send(const struct frame *f)
{
	if (!frame_try(f))
		errx(1, "%s: a frame of %zu bytes is too long", o.dev, (size_t)f->len);
}

/* Ethernet header, tag if wanted; returns where the rest goes. */
static __u8 *frame_head(struct frame *f, int vid, int type)
{
	__u8 *p = f->bytes;

	memset(f->bytes, 0, 2048);
	memcpy(p, o.dst, ETH_ALEN);
	memcpy(p + ETH_ALEN, o.src, ETH_ALEN);
	p += 2 * ETH_ALEN;
	if (vid >= 0) {
		*p++ = o.tpid >> 8;
		*p++ = o.tpid;
		*p++ = vid >> 8;
		*p++ = vid;
	}
	*p++ = type >> 8;
	*p++ = type;
	return p;
}

static void contents_build(struct frame *f, char **content, int n, __u32 mine, __u32 yours)
{
	__u8 *p = frame_head(f, o.vid, HOP_ETHERTYPE);
	struct hop_writer w;
	long used;

	hop_frame_begin(&w, p, HOP_FRAME_MAX, mine, yours);
	while (n--)
		add_content(&w, *content++);
	used = hop_frame_end(&w);
	if (!used)
		errx(2, "the contents do not fit");
	if (o.version >= 0)
		p[0] = o.version;
	if (o.length >= 0) {
		p[2] = o.length >> 8;
		p[3] = o.length;
	}
	if (used < o.pad) {
		memset(p + used, 0, o.pad - used);
		used = o.pad;
	}
	if (o.cut >= 0)
		used = o.cut;
	f->len = p - f->bytes + used;
}

static void contents_send(char **content, int n, __u32 mine, __u32 yours)
{
	static struct frame f;

	contents_build(&f, content, n, mine, yours);
	frame_send(&f);
}

static void do_data(void)
{
	static struct frame f;
	__u8 *p = frame_head(&f, o.vid, o.type);

	f.len = p - f.bytes + o.pad;
	for (o.count = o.count < 0 ? 1 : o.count; o.count; o.count--)
		frame_send(&f);
}

static void show_hello(const struct hop_hello *h)
{
	printf(" hello role=%s queues=%u flags=%x tpid=%x kinds=%x ring=%u sent=%llu echo=%llu held=%llu",
	       h->role == HOP_ROLE_SWITCH ? "switch" : "host", h->queues, h->flags, h->tpid,
	       h->kinds, h->ring_ns, (unsigned long long)h->sent_ns,
	       (unsigned long long)h->echo_ns, (unsigned long long)h->held_ns);
}

static void show_told(const struct hop_told *t)
{
	unsigned int i;

	if (t->ack) {
		printf(" ack seq=%u", t->seq);
		return;
	}
	printf(" state seq=%u lease=%u first=%u words=", t->seq, t->lease_ns, t->first);
	for (i = 0; i < t->count; i++)
		printf("%s%llx", i ? "+" : "", (unsigned long long)hop_told_word(t, i));
}

static void show_end(const struct hop_end *e)
{
	unsigned int i;

	printf(" end block=%u lane=%u lanes=%u", e->block, e->lane, e->lanes);
	for (i = 0; i < e->count; i++)
		printf("%s%u", i ? "+" : " key=", hop_end_key(e, i));
}

static void show_balances(const struct hop_balances *b)
{
	unsigned int i;
	__u16 key;

	printf(" balances block=%u", b->block);
	for (i = 0; i < b->count; i++) {
		hop_balances_get(b, i, &key);
		printf("%s%u", i ? "+" : " key=", key);
	}
	for (i = 0; i < b->count; i++)
		printf("%s%d", i ? "+" : " bytes=", hop_balances_get(b, i, &key));
}

static void show_roots(const struct hop_frame *f)
{
	unsigned int i;

	printf(" roots");
	for (i = 0; i < f->n_roots; i++)
		printf("%s%u", i ? "+" : " queue=", hop_frame_root(f, i).queue);
	for (i = 0; i < f->n_roots; i++)
		printf("%s%u", i ? "+" : " id=", hop_frame_root(f, i).id);
	for (i = 0; i < f->n_roots; i++)
		printf("%s%u", i ? "+" : " hops=", hop_frame_root(f, i).hops);
	for (i = 0; i < f->n_roots; i++)
		printf("%s%u", i ? "+" : " more=", hop_frame_root(f, i).more);
}

/* The PAUSE STATE of a frame, NULL if it has none */
static const struct hop_told *pause_state(const struct hop_frame *f)
{
	unsigned int i;

	for (i = 0; i < f->n_told; i++)
		if (f->told[i].slot == HOP_SLOT_PAUSE && !f->told[i].ack)
			return &f->told[i];
	return NULL;
}

static void show_frame(const struct hop_frame *f)
{
	unsigned int i;

	printf(" mine=%08x yours=%08x", f->epoch_mine, f->epoch_yours);
	if (hop_frame_has(f, HOP_TLV_HELLO))
		show_hello(&f->hello);
	for (i = 0; i < f->n_told; i++)
		show_told(&f->told[i]);
	if (hop_frame_has(f, HOP_TLV_PROBE))
		printf(" probe nonce=%x vid=%u size=%u", f->probe.nonce, f->probe.vid,
		       f->probe.size);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO))
		printf(" echo nonce=%x vid=%u size=%u", f->echo.nonce, f->echo.vid,
		       f->echo.size);
	if (hop_frame_has(f, HOP_TLV_GOODBYE))
		printf(" goodbye");
	if (hop_frame_has(f, HOP_TLV_END))
		show_end(&f->end);
	if (hop_frame_has(f, HOP_TLV_BALANCES))
		show_balances(&f->balances);
	if (f->n_roots)
		show_roots(f);
	printf("\n");
}

/* @stamp: MS, or the frame's number */
static void show_source(long stamp, const struct frame *f, int vid)
{
	const __u8 *s = f->bytes + ETH_ALEN;

	printf("%ld %02x:%02x:%02x:%02x:%02x:%02x", stamp, s[0], s[1], s[2], s[3], s[4], s[5]);
	if (vid >= 0)
		printf(" vid=%d", vid);
}

/* What the kernel says of a received frame: its outermost tag, and when it came */
static void frame_note(struct frame *f, struct cmsghdr *c)
{
	struct tpacket_auxdata aux;

	if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
		memcpy(&f->when, CMSG_DATA(c), sizeof(f->when));
	if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
		return;
	memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
		return;
	f->tci = aux.tp_vlan_tci;
	f->tpid = aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : ETH_P_8021Q;
}

/* Takes a frame from DEV. @vid: -1 if it has no tag */
static bool frame_receive(struct frame *f, int *vid, int timeout_ms)
{
	union {
		struct cmsghdr	c;
		char		room[CMSG_SPACE(sizeof(struct tpacket_auxdata)) +
				     CMSG_SPACE(sizeof(struct timespec))];
	} u;
	struct iovec iov = { .iov_base = f->bytes, .iov_len = sizeof(f->bytes) };
	struct sockaddr_ll from;
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov,
		.msg_iovlen = 1, .msg_control = &u, .msg_controllen = sizeof(u),
	};
	struct pollfd pfd = { .fd = o.fd, .events = POLLIN };
	struct cmsghdr *c;
	ssize_t len;

	if (poll(&pfd, 1, timeout_ms) <= 0)
		return false;
	len = recvmsg(o.fd, &msg, 0);
	if (len < ETH_HLEN || from.sll_pkttype == PACKET_OUTGOING)
		return false;
	f->len = len;
	f->tpid = f->tci = 0;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		frame_note(f, c);
	*vid = f->tpid ? f->tci & 0xfff : -1;
	return true;
}

/* As it was on the link */
static void frame_keep(const struct frame *f)
{
	static __u8 whole[ROOM + TAG_LEN];
	const __u8 tag[TAG_LEN] = { f->tpid >> 8, f->tpid, f->tci >> 8, f->tci };
	size_t tagged = f->tpid ? TAG_LEN : 0;

	memcpy(whole, f->bytes, TAG_AT);
	memcpy(whole + TAG_AT, tag, tagged);
	memcpy(whole + TAG_AT + tagged, f->bytes + TAG_AT, f->len - TAG_AT);
	pcap_put(o.save, &f->when, whole, f->len + tagged);
}

/* The reverse of it, of a frame from a file. @vid: -1 if it has no tag */
static void frame_untag(struct frame *f, int *vid)
{
	__u8 *tag = f->bytes + TAG_AT;
	__u16 tpid = tag[0] << 8 | tag[1];

	*vid = -1;
	if ((tpid != ETH_P_8021Q && tpid != ETH_P_8021AD) || f->len < ETH_HLEN + TAG_LEN)
		return;
	*vid = (tag[2] << 8 | tag[3]) & 0xfff;
	f->len -= TAG_LEN;
	memmove(tag, tag + TAG_LEN, f->len - TAG_AT);
}

static bool frame_is_control(const struct frame *f)
{
	static const __u8 dest[] = HOP_DEST_MAC;

	return !memcmp(f->bytes, dest, sizeof(dest)) &&
	       f->bytes[12] == HOP_ETHERTYPE >> 8 && f->bytes[13] == (HOP_ETHERTYPE & 0xff);
}

/* Prints a frame. Returns true if it is a good control frame, in *h. */
static bool frame_show(long stamp, const struct frame *f, int vid, struct hop_frame *h)
{
	static const char * const why[] = { "", "malformed", "version", "range" };
	enum hop_frame_error error;

	if (!frame_is_control(f)) {
		if (!o.data)
			return false;
		show_source(stamp, f, vid);
		printf(" data type=%02x%02x bytes=%zu\n", f->bytes[12], f->bytes[13], f->len);
		o.count--;
		return false;
	}
	error = hop_frame_parse(f->bytes + ETH_HLEN, f->len - ETH_HLEN, h);
	show_source(stamp, f, vid);
	if (error == HOP_FRAME_OK)
		show_frame(h);
	else
		printf(" refused %s\n", why[error]);
	o.count--;
	if (o.save)
		frame_keep(f);
	return error == HOP_FRAME_OK;
}

static void do_listen(void)
{
	static struct frame f;
	struct hop_frame h;
	int vid;

	while (o.count && elapsed_ms() < o.for_ms)
		if (frame_receive(&f, &vid, o.for_ms - elapsed_ms()))
			frame_show(elapsed_ms(), &f, vid, &h);
	if (o.save && fclose(o.save))
		err(1, "save");
}

static void do_replay(const char *path)
{
	static struct frame f;
	FILE *file = pcap_open(path);
	long frames = 0;

	while (pcap_get(file, f.bytes, sizeof(f.bytes), &f.len)) {
		if (o.src_given)
			memcpy(f.bytes + ETH_ALEN, o.src, ETH_ALEN);
		/* the longest probes are longer than a socket may send */
		frames += frame_try(&f);
	}
	fclose(file);
	if (!frames)
		errx(1, "%s holds no frame that can be sent", path);
	printf("%ld frames\n", frames);
}

static void do_show(const char *path)
{
	static struct frame f;
	FILE *file = pcap_open(path);
	struct hop_frame h;
	long number = 0;
	int vid;

	o.data = true;
	while (pcap_get(file, f.bytes, sizeof(f.bytes), &f.len)) {
		if (f.len < ETH_HLEN)
			errx(1, "frame %ld of %s is no Ethernet frame", number + 1, path);
		frame_untag(&f, &vid);
		frame_show(++number, &f, vid, &h);
	}
	fclose(file);
}

#define FLOOD_BATCH	64
#define FLOOD_REST_US	100

/* The frame that all others of a flood are like */
static void flood_frame(struct frame *f)
{
	struct hop_frame h;
	FILE *file;
	__u8 *p;

	if (o.data) {
		p = frame_head(f, o.vid, o.type);
		f->len = p - f->bytes + o.pad;
		return;
	}
	if (!o.kept) {
		contents_build(f, o.rest, o.n_rest, o.mine, o.yours);
		return;
	}
	file = pcap_open(o.kept);
	while (pcap_get(file, f->bytes, sizeof(f->bytes), &f->len)) {
		if (f->len > ETH_HLEN &&
		    hop_frame_parse(f->bytes + ETH_HLEN, f->len - ETH_HLEN, &h) == HOP_FRAME_OK &&
		    (!o.only || hop_frame_has(&h, o.only))) {
			fclose(file);
			return;
		}
	}
	errx(1, "%s holds no such frame", o.kept);
}

/* The next of the frames with a fault, of one content after the other */
static size_t flood_each(__u8 *p)
{
	static unsigned int at;
	const struct content *c;
	unsigned int variant, looked = 0;
	size_t len;

	do {
		if (looked++ > CONTENTS * CONTENT_VARIANTS)
			errx(2, "that content has no such fault");
		c = &contents[at % CONTENTS];
		variant = at / CONTENTS % CONTENT_VARIANTS;
		at++;
		if (o.content && c->type != o.content)
			continue;
		if (o.each == CONTENT_GOOD && c->type == HOP_TLV_HELLO)
			continue;
		len = content_frame(p, c, o.each, variant, o.mine, o.yours);
		if (!len)
			continue;
		memset(p + len, 0, ETH_ZLEN);
		return len < ETH_ZLEN - ETH_HLEN ? ETH_ZLEN - ETH_HLEN : len;
	} while (true);
}

/* Makes each content longer by @more bytes. Return: the frame's new length. */
static size_t flood_longer(__u8 *p, size_t more)
{
	size_t bytes, at = CONTENT_HEAD, end = at + (p[2] << 8 | p[3]), room = HOP_FRAME_MAX;

	while (at < end && end + more <= room) {
		bytes = p[at + 2] << 8 | p[at + 3];
		gen_put(p + at + 2, 2, bytes + more);
		at += 4 + bytes;
		memmove(p + at + more, p + at, end - at);
		for (bytes = 0; bytes < more; bytes++)
			p[at++] = gen64();
		end += more;
	}
	gen_put(p + 2, 2, end - CONTENT_HEAD);
	return end < ETH_ZLEN - ETH_HLEN ? ETH_ZLEN - ETH_HLEN : end;
}

/* Makes @f, a copy of @like, the @i-th frame. Counts what the codec says to a damaged one. */
static void flood_vary(struct frame *f, const struct frame *like, unsigned long i,
		       unsigned long *refused)
{
	__u8 *p = f->bytes + ETH_HLEN;
	enum hop_frame_error error;
	struct hop_frame h;

	if (o.each >= 0) {
		f->len = ETH_HLEN + flood_each(p);
		return;
	}
	if (o.longer) {
		memcpy(f->bytes, like->bytes, like->len);
		f->len = ETH_HLEN + flood_longer(p, i % (o.longer + 1));
	}
	if (o.cuts)
		f->len = ETH_HLEN + i % (like->len - ETH_HLEN);
	if (o.step && hop_frame_parse(p, f->len - ETH_HLEN, &h) == HOP_FRAME_OK &&
	    pause_state(&h))
		gen_put((__u8 *)pause_state(&h)->data - sizeof(struct hop_tlv_pause_state), 4,
			pause_state(&h)->seq + 1);
	if (!o.damage)
		return;
	do {
		f->len = ETH_HLEN + gen_damage(p, gen_frame(&h, p), HOP_FRAME_MAX);
		error = hop_frame_parse(p, f->len - ETH_HLEN, &h);
	} while (error == HOP_FRAME_OK);
	refused[error]++;
}

static __u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void do_flood(void)
{
	static struct frame like, frames[FLOOD_BATCH];
	unsigned long i = 0, refused[HOP_FRAME_RANGE + 1] = {};
	struct mmsghdr msgs[FLOOD_BATCH] = {};
	struct iovec iov[FLOOD_BATCH];
	__u64 spent = 0, started;
	int n, k, sent, on = 1;

	if (setsockopt(o.fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)))
		err(1, "%s: PACKET_QDISC_BYPASS", o.dev);
	flood_frame(&like);
	for (k = 0; k < FLOOD_BATCH; k++) {
		memcpy(frames[k].bytes, like.bytes, like.len);
		frames[k].len = like.len;
	}
	while (i < (unsigned long)o.count) {
		for (n = 0; n < FLOOD_BATCH && i < (unsigned long)o.count; n++, i++) {
			if (o.step && i)	/* from the one before */
				memcpy(frames[n].bytes, frames[(n ?: FLOOD_BATCH) - 1].bytes,
				       like.len);
			flood_vary(&frames[n], &like, i, refused);
			iov[n] = (struct iovec) { frames[n].bytes, frames[n].len };
			msgs[n].msg_hdr.msg_iov = &iov[n];
			msgs[n].msg_hdr.msg_iovlen = 1;
		}
		started = cpu_ns();
		for (k = 0; k < n; k += sent) {
			sent = sendmmsg(o.fd, msgs + k, n - k, 0);
			if (sent <= 0)
				err(1, "%s: sendmmsg, frame of %zu bytes", o.dev, frames[k].len);
		}
		spent += cpu_ns() - started;
		if (i / 1000 != (i - n) / 1000)
			usleep(FLOOD_REST_US);
	}
	printf("frames=%lu malformed=%lu version=%lu range=%lu ns=%llu\n", i,
	       refused[HOP_FRAME_MALFORMED], refused[HOP_FRAME_VERSION],
	       refused[HOP_FRAME_RANGE], (unsigned long long)(i ? spent / i : 0));
}

/* What peer has to remember of the other end */
static struct {
	__u32		epoch;
	struct hop_hello hello;
	__u64		rx_ns;
	bool		answer;
	__u64		answer_ns;
	long		up_ms;	/* when it first named our epoch, -1 before */
} other = { .up_ms = -1 };

static void peer_hello(void)
{
	static struct frame f;
	struct hop_hello hello = o.hello;
	struct hop_writer w;
	__u8 *p = frame_head(&f, -1, HOP_ETHERTYPE);
	size_t used;

	if (!o.flags_given && other.hello.flags & HOP_HELLO_TAGS)
		hello.flags |= HOP_HELLO_STRIPPING;
	hello.flags |= HOP_HELLO_ECHO_VALID;
	hello.sent_ns = now_ns();
	hello.echo_ns = other.hello.sent_ns;
	hello.held_ns = hello.sent_ns - other.rx_ns;
	hop_frame_begin(&w, p, HOP_FRAME_MAX, o.mine, o.yours ?: other.epoch);
	hop_frame_add_hello(&w, &hello);
	used = hop_frame_end(&w);
	f.len = ETH_HLEN + (used < 46 ? 46 : used);
	frame_send(&f);
	other.answer = false;
}

static void peer_answer(enum hop_tlv type, __u32 seq, const struct hop_probe *probe)
{
	static struct frame f;
	struct hop_writer w;
	__u8 *p = frame_head(&f, -1, HOP_ETHERTYPE);

	hop_frame_begin(&w, p, HOP_FRAME_MAX, o.mine, o.yours ?: other.epoch);
	if (type == HOP_TLV_PAUSE_ACK)
		hop_frame_add_ack(&w, HOP_SLOT_PAUSE, seq);
	else
		hop_frame_add_probe(&w, HOP_TLV_PROBE_ECHO, probe);
	hop_frame_end(&w);
	f.len = ETH_ZLEN;
	frame_send(&f);
}

static void peer_takes(const struct hop_frame *h, int vid)
{
	if (hop_frame_has(h, HOP_TLV_HELLO)) {
		other.epoch = h->epoch_mine;
		other.hello = h->hello;
		other.rx_ns = now_ns();
		other.answer_ns = other.rx_ns + o.hold_ms * 1000000;
		other.answer = true;
		if (h->epoch_yours == o.mine && other.up_ms < 0)
			other.up_ms = elapsed_ms();
	}
	if (pause_state(h) && !o.noack)
		peer_answer(HOP_TLV_PAUSE_ACK, pause_state(h)->seq, NULL);
	if (hop_frame_has(h, HOP_TLV_PROBE) && vid == h->probe.vid && !o.noecho &&
	    (!o.small || h->probe.size <= 200))
		peer_answer(HOP_TLV_PROBE_ECHO, 0, &h->probe);
}

static int actions_parse(struct action **actions)
{
	struct action *a = calloc(o.n_rest + 1, sizeof(*a));
	const char *v;
	int i, n = 0;

	for (i = 0; i < o.n_rest; i++) {
		v = value_of(o.rest[i], "at");
		if (v)
			a[n++] = (struct action) {
				.at_ms = number(v, 10), .content = o.rest + i + 1
			};
		else if (n)
			a[n - 1].n++;
		else
			errx(2, "%s comes before at=", o.rest[i]);
	}
	*actions = a;
	return n;
}

static long action_at_ms(const struct action *a)
{
	return a->done || other.up_ms < 0 ? o.for_ms : other.up_ms + a->at_ms;
}

/* Milliseconds until there is something to do but to receive */
static int peer_wait_ms(const struct action *actions, int n)
{
	long at = o.for_ms, answer = elapsed_ms();
	int i;

	if (other.answer) {
		if (other.answer_ns > now_ns())
			answer += (other.answer_ns - now_ns() + 999999) / 1000000;
		at = answer < at ? answer : at;
	}
	for (i = 0; i < n; i++)
		if (action_at_ms(actions + i) < at)
			at = action_at_ms(actions + i);
	return at > elapsed_ms() ? at - elapsed_ms() : 0;
}

/* A flood of told states is answered by as many of these; one of data frames may end here. */
static void peer_deaf(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 2 * ETH_ALEN),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOP_ETHERTYPE, 0, 3),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, ETH_HLEN + sizeof(struct hop_frame_hdr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOP_TLV_PAUSE_ACK, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, HOP_TLV_EXAMPLE_ACK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, ROOM),
	};
	struct sock_fprog program = { .len = 7, .filter = code };

	if (setsockopt(o.fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)))
		err(1, "%s: filter", o.dev);
}

static void do_peer(void)
{
	static struct frame f;
	struct action *actions;
	struct hop_frame h;
	int i, vid, n = actions_parse(&actions);

	if (o.deaf)
		peer_deaf();
	while (o.count && elapsed_ms() < o.for_ms) {
		if (frame_receive(&f, &vid, peer_wait_ms(actions, n)) &&
		    frame_show(elapsed_ms(), &f, vid, &h))
			peer_takes(&h, vid);
		if (other.answer && now_ns() >= other.answer_ns)
			peer_hello();
		for (i = 0; i < n; i++) {
			if (actions[i].done || elapsed_ms() < action_at_ms(actions + i))
				continue;
			actions[i].done = true;
			contents_send(actions[i].content, actions[i].n, o.mine,
				      o.yours ?: other.epoch);
			if (actions[i].n && !strcmp(actions[i].content[0], "goodbye"))
				o.count = 0;
		}
	}
	free(actions);
}

static int fault_parse(const char *text)
{
	int i;

	for (i = 0; i < CONTENT_FAULTS; i++)
		if (!strcmp(text, content_fault_names[i]))
			return i;
	errx(2, "there is no fault %s", text);
}

/* Of the protocol's table */
static int content_parse(const char *text)
{
	size_t i;

	for (i = 0; i < CONTENTS; i++)
		if (contents[i].type == atoi(text))
			return contents[i].type;
	errx(2, "there is no content %s", text);
}

static bool option_value(const char *arg)
{
	const char *v;

	if ((v = value_of(arg, "for")))
		o.for_ms = number(v, 10);
	else if ((v = value_of(arg, "n")))
		o.count = number(v, 10);
	else if ((v = value_of(arg, "src")))
		mac_parse(v, o.src), o.src_given = true;
	else if ((v = value_of(arg, "dst")))
		mac_parse(v, o.dst);
	else if ((v = value_of(arg, "mine")))
		o.mine = number(v, 16);
	else if ((v = value_of(arg, "yours")))
		o.yours = number(v, 16);
	else if ((v = value_of(arg, "vid")))
		o.vid = number(v, 10);
	else if ((v = value_of(arg, "tpid")))
		o.tpid = o.hello.tpid = number(v, 16);
	else if ((v = value_of(arg, "type")))
		o.type = number(v, 16);
	else if ((v = value_of(arg, "version")))
		o.version = number(v, 10);
	else if ((v = value_of(arg, "length")))
		o.length = number(v, 10);
	else if ((v = value_of(arg, "cut")))
		o.cut = number(v, 10);
	else if ((v = value_of(arg, "pad")))
		o.pad = number(v, 10);
	else if ((v = value_of(arg, "hold")))
		o.hold_ms = number(v, 10);
	else if ((v = value_of(arg, "kept")))
		o.kept = v;
	else if ((v = value_of(arg, "only")))
		o.only = !strcmp(v, "hello") ? HOP_TLV_HELLO : HOP_TLV_PAUSE_STATE;
	else if ((v = value_of(arg, "damage")))
		o.damage = true, gen_seed = number(v, 10);
	else if ((v = value_of(arg, "each")))
		o.each = fault_parse(v);
	else if ((v = value_of(arg, "content")))
		o.content = content_parse(v);
	else if ((v = value_of(arg, "longer")))
		o.longer = number(v, 10);
	else if ((v = value_of(arg, "save")))
		o.save = pcap_create(v);
	else
		return false;
	return true;
}

static bool option_parse(const char *arg)
{
	if (!strcmp(arg, "data"))
		o.data = true;
	else if (!strcmp(arg, "noecho"))
		o.noecho = true;
	else if (!strcmp(arg, "noack"))
		o.noack = true;
	else if (!strcmp(arg, "small"))
		o.small = true;
	else if (!strcmp(arg, "deaf"))
		o.deaf = true;
	else if (!strcmp(arg, "step"))
		o.step = true;
	else if (!strcmp(arg, "cuts"))
		o.cuts = true;
	else if (option_value(arg))
		return true;
	else if (!hello_field(&o.hello, arg))
		return false;
	o.flags_given |= !!value_of(arg, "flags");
	return true;
}

static void device_open(const char *dev)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = if_nametoindex(dev),
	};
	struct ifreq ifr = {};
	int on = 1;

	if (!addr.sll_ifindex)
		err(1, "%s", dev);
	o.dev = dev;
	o.fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (o.fd < 0 || setsockopt(o.fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(o.fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    bind(o.fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "%s: packet socket", dev);
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(o.fd, SIOCGIFHWADDR, &ifr))
		err(1, "%s: address", dev);
	memcpy(o.src, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
}

static void do_contents(void)
{
	size_t i;

	for (i = 0; i < CONTENTS; i++)
		printf("%u %s %s\n", contents[i].type, contents[i].otherwise, contents[i].name);
}

int main(int argc, char **argv)
{
	const char *command = argc > 2 ? argv[1] : "";
	int i = 3;

	setlinebuf(stdout);
	if (argc == 2 && !strcmp(argv[1], "contents")) {
		do_contents();
		return 0;
	}
	if (argc < 3)
		errx(2, "usage: hopframe send|data|listen|replay|show|flood|peer ...; see the source");
	if (!strcmp(command, "show")) {
		do_show(argv[2]);
		return 0;
	}
	device_open(argv[2]);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (!strcmp(command, "replay"))
		i++;
	while (i < argc && option_parse(argv[i]))
		i++;
	o.rest = argv + i;
	o.n_rest = argc - i;

	if (!strcmp(command, "send") && o.n_rest) {
		for (o.count = o.count < 0 ? 1 : o.count; o.count; o.count--)
			contents_send(o.rest, o.n_rest, o.mine, o.yours);
	} else if (!strcmp(command, "data") && !o.n_rest) {
		do_data();
	} else if (!strcmp(command, "listen") && !o.n_rest) {
		do_listen();
	} else if (!strcmp(command, "replay") && argc > 3 && !o.n_rest) {
		for (o.count = o.count < 0 ? 1 : o.count; o.count; o.count--)
			do_replay(argv[3]);
	} else if (!strcmp(command, "flood") && o.count > 0) {
		do_flood();
	} else if (!strcmp(command, "peer")) {
		do_peer();
	} else {
		errx(2, "usage: hopframe send|data|listen|replay|show|flood|peer ...; see the source");
	}
	return 0;
}
