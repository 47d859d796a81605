// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - what links carry, by kind of frame, and how long data waits before each
 *
 * A packet socket in each namespace sees all frames that come in, with the time of their arrival,
 * and does nothing to them. Frames of flows, and what came before the last of them, count from the
 * trace's time 0 on.
 *
 * A data packet of flowgen is known by its flow and number. What passes between its arrival at a
 * box and that at the next one, less its time on the line and the line's delay, is what it waited
 * for that link: in the qdisc, and on the card behind it. One that is sent again while the first
 * may still be on its way does not count as waiting, since nobody can tell them apart.
 *
 * Exact where the clock is virtual: it stands still until all has been read.
 */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "frames.h"
#include "hopctl.h"
#include "lab.h"

#define KINDS_MAX	1024		/* more of control frames are one kind together */
#define LABELS_MAX	65535		/* flowgen's */
#define LAYERS_MAX	64
#define SNAP		16384		/* bytes of a frame that are looked at: all of control */
#define CONTENTS	64		/* types that are told apart; the last one is all others */
#define BUCKETS		(1U << 20)
#define RCVBUF		(256 << 20)
#define FLOWGEN_PORT	4790
#define GBN_HEADER	16

/* Of Ethernet, in bytes: from the start of a frame, of its tags, of IP */
#define AT_TYPE		12
#define IP_UDP		17
#define IP_TCP		6

struct count {
	uint64_t frames, bytes;
};

/* A line of the file: a link in one direction */
struct link {
	char name[64];			/* of the port that sends */
	int ifindex;			/* of the one that receives */
	unsigned int from, to;		/* layers, 0: hosts */
	unsigned int layer;
	uint64_t rate, delay_ns, overhead;
	struct count *counts;		/* by kind */
	unsigned int n_counts;
};

struct space {
	char name[64];
	int fd;
	unsigned int n;
	struct link *links;
};

/* A frame that belongs to no flow, and perhaps comes behind the last one that does */
struct pending {
	struct link *link;
	unsigned int kind;
	uint64_t bytes;
};

/* Where a data packet was last */
struct packet {
	uint64_t key;
	uint64_t came_ns;
	bool again;			/* sent more than once */
	struct packet *next;
};

struct layer {
	unsigned int from, to;
	struct waits {
		uint32_t *ns;
		size_t n;
	} *waits;			/* by label */
};

static struct space *spaces;
static unsigned int n_spaces;
static struct pending *pending;
static size_t n_pending;
static struct packet **buckets, *spare;
static struct layer layers[LAYERS_MAX];
static unsigned int n_layers;
static char **labels;
static unsigned int n_labels;
static uint16_t *label_of;		/* by flow */
static size_t n_flows;

enum {
	KIND_DATA, KIND_ACK, KIND_NACK, KIND_CNP, KIND_TCP, KIND_TCP_ACK, KIND_OTHER, KIND_CONTROL,
	KINDS_FIXED,
};

static struct {
	uint64_t contents;		/* of control frames: a bit for each type */
	char *name;
} kinds[KINDS_MAX] = {
	[KIND_DATA]	= { 0, "data" },
	[KIND_ACK]	= { 0, "ack" },
	[KIND_NACK]	= { 0, "nack" },
	[KIND_CNP]	= { 0, "cnp" },
	[KIND_TCP]	= { 0, "tcp" },
	[KIND_TCP_ACK]	= { 0, "tcp-ack" },
	[KIND_OTHER]	= { 0, "other" },
	[KIND_CONTROL]	= { 0, "control" },	/* of more kinds than KINDS_MAX */
};
static unsigned int n_kinds = KINDS_FIXED;

/* Room for one more in an array whose size is the next power of two */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		lab_die(ENOMEM, "%zu x %zu bytes", 2 * n, size);
	return array;
}

/* -- kinds of frames -- */

static const char *content_name(unsigned int type)
{
	static char other[16];

	switch (type) {
	case HOP_TLV_HELLO: return "hello";
	case HOP_TLV_PAUSE_STATE: return "pause";
	case HOP_TLV_PAUSE_ACK: return "pause-ack";
	case HOP_TLV_PROBE: return "probe";
	case HOP_TLV_PROBE_ECHO: return "probe-echo";
	case HOP_TLV_GOODBYE: return "goodbye";
	case HOP_TLV_END: return "end";
	case HOP_TLV_BALANCES: return "balances";
	case HOP_TLV_PAUSE_ROOTS: return "roots";
	case CONTENTS - 1: return "more";
	}
	snprintf(other, sizeof(other), "%u", type);
	return other;
}

/* That of control frames with these contents, such as hello+balances */
static unsigned int kind_of(uint64_t contents)
{
	unsigned int kind, type;
	size_t size;
	FILE *name;

	for (kind = KINDS_FIXED; kind < n_kinds; kind++)
		if (kinds[kind].contents == contents)
			return kind;
	if (n_kinds == KINDS_MAX)
		return KIND_CONTROL;
	kinds[kind].contents = contents;
	name = open_memstream(&kinds[kind].name, &size);
	if (!name)
		lab_die(errno, "a kind of frames");
	for (type = 0; type < CONTENTS; type++)
		if (contents & 1ULL << type)
			fprintf(name, "%s%s", ftell(name) ? "+" : "", content_name(type));
	if (!contents)
		fputs("empty", name);
	if (fclose(name))
		lab_die(errno, "a kind of frames");
	n_kinds++;
	return kind;
}

static unsigned int get16(const uint8_t *at)
{
	return (unsigned int)(at[0] << 8 | at[1]);
}

static uint64_t get32(const uint8_t *at)
{
	return (uint64_t)get16(at) << 16 | get16(at + 2);
}

static unsigned int kind_of_control(const uint8_t *at, size_t room)
{
	const size_t head = sizeof(struct hop_frame_hdr);
	uint64_t contents = 0;
	size_t end, value;
	unsigned int type;

	if (room < head)
		return KIND_OTHER;
	end = head + get16(at + 2);
	for (size_t next = head; next + 4 <= room && next + 4 <= end; next += 4 + value) {
		type = get16(at + next);
		value = get16(at + next + 2);
		contents |= 1ULL << (type < CONTENTS ? type : CONTENTS - 1);
	}
	return kind_of(contents);
}

/* Return: of which kind a frame is; of flowgen's, where its header is, in @gbn. */
static unsigned int kind_of_frame(const uint8_t *frame, size_t room, const uint8_t **gbn)
{
	static const unsigned int types[] = { KIND_DATA, KIND_ACK, KIND_NACK, KIND_CNP };
	size_t at = AT_TYPE, ip, udp, head;
	unsigned int type;

	while (at + 6 <= room &&
	       (get16(frame + at) == ETH_P_8021AD || get16(frame + at) == ETH_P_8021Q))
		at += 4;
	if (at + 2 > room)
		return KIND_OTHER;
	ip = at + 2;
	if (get16(frame + at) == HOP_ETHERTYPE)
		return kind_of_control(frame + ip, room - ip);
	if (get16(frame + at) != ETH_P_IP || ip + 20 > room)
		return KIND_OTHER;
	udp = ip + 4 * (frame[ip] & 15U);
	if (frame[ip + 9] == IP_TCP && udp + 13 <= room) {
		head = udp - ip + 4 * (frame[udp + 12] >> 4U);
		return get16(frame + ip + 2) > head ? KIND_TCP : KIND_TCP_ACK;
	}
	if (frame[ip + 9] != IP_UDP || udp + 8 + GBN_HEADER > room ||
	    get16(frame + udp + 2) != FLOWGEN_PORT)
		return KIND_OTHER;
	*gbn = frame + udp + 8;
	type = **gbn & 15;
	return type < sizeof(types) / sizeof(types[0]) ? types[type] : KIND_OTHER;
}

static void count_one(struct link *link, unsigned int kind, uint64_t bytes)
{
	while (link->n_counts <= kind) {
		link->counts = grow(link->counts, link->n_counts, sizeof(*link->counts));
		link->counts[link->n_counts++] = (struct count) { 0, 0 };
	}
	link->counts[kind].frames++;
	link->counts[kind].bytes += bytes;
}

static void count(struct link *link, unsigned int kind, uint64_t bytes)
{
	if (kind >= KIND_OTHER) {
		pending = grow(pending, n_pending, sizeof(*pending));
		pending[n_pending++] = (struct pending) { link, kind, bytes };
		return;
	}
	while (n_pending) {
		const struct pending *p = &pending[--n_pending];

		count_one(p->link, p->kind, p->bytes);
	}
	count_one(link, kind, bytes);
}

/* -- waiting -- */

static struct packet **packet_find(uint64_t key)
{
	struct packet **p = &buckets[(key * 0x9e3779b97f4a7c15ULL) >> 44];

	while (*p && (*p)->key != key)
		p = &(*p)->next;
	return p;
}

static void packet_begins(struct packet **p, uint64_t key, uint64_t now_ns)
{
	struct packet *packet = *p;

	if (packet) {
		packet->again = true;
		return;
	}
	packet = spare ? spare : lab_alloc(1, sizeof(*packet));
	spare = packet->next;
	*packet = (struct packet) { .key = key, .came_ns = now_ns };
	*p = packet;
}

static void packet_waited(const struct link *link, uint64_t flow, uint64_t ns)
{
	struct waits *w = &layers[link->layer].waits[flow < n_flows ? label_of[flow] : 0];

	w->ns = grow(w->ns, w->n, sizeof(*w->ns));
	w->ns[w->n++] = ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static void data_came(const struct link *link, const uint8_t *gbn, uint64_t bytes, uint64_t now_ns)
{
	uint64_t flow = get32(gbn + 4), key = flow << 32 | get32(gbn + 8), since, on_line;
	struct packet **p = packet_find(key), *packet = *p;

	if (!link->from) {
		packet_begins(p, key, now_ns);
		return;
	}
	if (!packet)
		return;
	/* fractions of a nanosecond are carried over from frame to frame */
	on_line = link->delay_ns + bytes * 8 * LAB_NSEC_PER_SEC / link->rate;
	since = now_ns - packet->came_ns;
	if (!packet->again)
		packet_waited(link, flow, since > on_line ? since - on_line : 0);
	packet->came_ns = now_ns;
	if (link->to)
		return;
	*p = packet->next;
	packet->next = spare;
	spare = packet;
}

/* -- frames -- */

static struct link *link_find(const struct space *space, int ifindex)
{
	for (unsigned int i = 0; i < space->n; i++)
		if (space->links[i].ifindex == ifindex)
			return &space->links[i];
	return NULL;
}

/* Reads a frame; @real_ns is 0 on the clock of arrivals. Return: false if there is none. */
static bool frame_read(const struct space *space, uint64_t real_ns)
{
	static uint8_t frame[SNAP];
	char control[256] __attribute__((aligned(sizeof(size_t))));
	struct sockaddr_ll from = { .sll_ifindex = 0 };
	struct iovec iov = { frame, sizeof(frame) };
	struct msghdr msg = {
		.msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(space->fd, &msg, MSG_TRUNC | MSG_DONTWAIT);
	const uint8_t *gbn = NULL;
	const struct timespec *ts;
	const struct tpacket_auxdata *aux;
	uint64_t now_ns = 0, bytes;
	struct link *link;
	unsigned int kind;
	size_t room;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (len < 0)
		lab_die(errno, "frames of %s", space->name);
	bytes = (uint64_t)len;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			ts = (const void *)CMSG_DATA(c);
			now_ns = (uint64_t)ts->tv_sec * LAB_NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
		} else if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
			aux = (const void *)CMSG_DATA(c);
			bytes += aux->tp_status & TP_STATUS_VLAN_VALID ? 4 : 0;
		}
	}
	link = link_find(space, from.sll_ifindex);
	if (!link || from.sll_pkttype == PACKET_OUTGOING || now_ns < real_ns)
		return true;
	bytes += link->overhead;
	room = (size_t)len < sizeof(frame) ? (size_t)len : sizeof(frame);
	kind = kind_of_frame(frame, room, &gbn);
	if (kind >= KIND_CONTROL && (size_t)len > sizeof(frame))
		lab_die(0, "%s: a control frame of %zd bytes, of which %d are looked at: raise SNAP in frames.c",
			link->name, len, SNAP);
	count(link, kind, bytes);
	if (kind == KIND_DATA)
		data_came(link, gbn, bytes, now_ns);
	return true;
}

/* -- what is watched -- */

static void space_open(struct space *space)
{
	int on = 1, room = RCVBUF, fd;

	lab_netns_enter(space->name);
	fd = space->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
		lab_die(errno, "a packet socket in %s", space->name);
}

static unsigned int layer_find(unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = 0; i < n_layers; i++)
		if (layers[i].from == from && layers[i].to == to)
			return i;
	if (n_layers == LAYERS_MAX)
		lab_die(0, "more than %d pairs of layers", LAYERS_MAX);
	layers[n_layers].from = from;
	layers[n_layers].to = to;
	layers[n_layers].waits = lab_alloc(n_labels, sizeof(*layers[0].waits));
	return n_layers++;
}

/* Lines are in the order of namespaces. Labels are known. */
static void links_read(const char *file)
{
	char name[64], netns[64], dev[IF_NAMESIZE], more;
	unsigned long long rate, delay, overhead;
	struct lab_lines lines = lab_lines_open(file);
	struct space *space = NULL;
	unsigned int from, to;
	struct link *link;

	while (lab_lines_next(&lines)) {
		if (sscanf(lines.text, "%63s %63s %15s %u %u %llu %llu %llu %c", name, netns, dev,
			   &from, &to, &rate, &delay, &overhead, &more) != 8)
			lab_die(0, "%s:%u: should be: NAME NETNS DEV FROM TO RATE DELAY OVERHEAD",
				file, lines.number);
		if (!space || strcmp(space->name, netns)) {
			spaces = grow(spaces, n_spaces, sizeof(*spaces));
			space = &spaces[n_spaces++];
			memset(space, 0, sizeof(*space));
			memcpy(space->name, netns, sizeof(netns));
		}
		space->links = grow(space->links, space->n, sizeof(*space->links));
		link = &space->links[space->n++];
		memset(link, 0, sizeof(*link));
		memcpy(link->name, name, sizeof(name));
		link->from = from;
		link->to = to;
		link->layer = layer_find(from, to);
		link->rate = rate ? rate : 1;
		link->delay_ns = delay;
		link->overhead = overhead;
		lab_netns_enter(netns);
		link->ifindex = (int)if_nametoindex(dev);
		if (!link->ifindex)
			lab_die(errno, "%s/%s", netns, dev);
	}
	if (!n_spaces)
		lab_die(0, "%s names no port", file);
}

static uint16_t label_find(const char *label)
{
	static unsigned int last;	/* flows in a row often have one */
	unsigned int i;

	if (last < n_labels && !strcmp(labels[last], label))
		return (uint16_t)last;
	for (i = 0; i < n_labels; i++)
		if (!strcmp(labels[i], label))
			return (uint16_t)(last = i);
	if (n_labels == LABELS_MAX)
		lab_die(0, "more than %d labels: give some of the flows the same one", LABELS_MAX);
	labels = grow(labels, n_labels, sizeof(*labels));
	labels[n_labels] = strdup(label);
	if (!labels[n_labels])
		lab_die(ENOMEM, "labels");
	last = n_labels++;
	return (uint16_t)last;
}

/* The labels of a trace's flows, as flowgen(8) numbers them */
static void flows_read(const char *file)
{
	struct lab_lines lines = lab_lines_open(file);
	const char *line;
	char label[64];

	while ((line = lab_lines_next(&lines))) {
		if (line[0] == '#' || line[strspn(line, " \t\n")] == '\0')
			continue;
		if (sscanf(line, "%*s %*s %*s %*s %*s %63s", label) != 1)
			strcpy(label, "-");
		label_of = grow(label_of, n_flows, sizeof(*label_of));
		label_of[n_flows++] = label_find(label);
	}
	if (!n_labels)
		label_find("-");
}

/* -- what is written at the end -- */

static FILE *file_open(const char *name, const char *head)
{
	FILE *f = fopen(name, "w");

	if (!f)
		lab_die(errno, "%s", name);
	fprintf(f, "%s\n", head);
	return f;
}

static void file_close(FILE *f, const char *name)
{
	if (fflush(f) || ferror(f))
		lab_die(errno, "%s", name);
	fclose(f);
}

static void link_write(FILE *f, const struct link *link)
{
	for (unsigned int kind = 0; kind < link->n_counts; kind++) {
		const struct count *c = &link->counts[kind];

		if (c->frames)
			fprintf(f, "%s,%u,%u,%s,%llu,%llu\n", link->name, link->from, link->to,
				kinds[kind].name, (unsigned long long)c->frames,
				(unsigned long long)c->bytes);
	}
}

static void frames_write(const char *name)
{
	FILE *f = file_open(name, "port,from_layer,to_layer,kind,frames,bytes");

	for (unsigned int i = 0; i < n_spaces; i++)
		for (unsigned int j = 0; j < spaces[i].n; j++)
			link_write(f, &spaces[i].links[j]);
	file_close(f, name);
}

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The smallest value that at least that share of them does not exceed */
static uint32_t percentile(const struct waits *w, unsigned int percent)
{
	size_t rank = (w->n * percent + 99) / 100;

	return w->ns[rank ? rank - 1 : 0];
}

static void waits_write(const char *name)
{
	FILE *f = file_open(name, "from_layer,to_layer,label,packets,sum_ns,p50_ns,p99_ns,max_ns");

	for (const struct layer *l = layers; l < layers + n_layers; l++) {
		for (unsigned int label = 0; label < n_labels; label++) {
			const struct waits *w = &l->waits[label];
			uint64_t sum = 0;

			if (!w->n)
				continue;
			qsort(w->ns, w->n, sizeof(*w->ns), compare);
			for (size_t i = 0; i < w->n; i++)
				sum += w->ns[i];
			fprintf(f, "%u,%u,%s,%zu,%llu,%u,%u,%u\n", l->from, l->to, labels[label],
				w->n, (unsigned long long)sum, percentile(w, 50), percentile(w, 99),
				w->ns[w->n - 1]);
		}
	}
	file_close(f, name);
}

static void lost_look(const struct space *space)
{
	struct tpacket_stats stats;
	socklen_t size = sizeof(stats);

	if (getsockopt(space->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &size))
		lab_die(errno, "a packet socket in %s", space->name);
	if (stats.tp_drops)
		lab_die(0, "%u frames of %s were not seen", stats.tp_drops, space->name);
}

/**
 * frames_run - watch until a signal comes
 * @files: names of files
 * @zero_ns: the trace's time 0, CLOCK_MONOTONIC
 * @stopped: the signal's
 */
void frames_run(const struct frames_files *files, uint64_t zero_ns,
		const volatile sig_atomic_t *stopped)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), n;
	struct epoll_event events[64];
	struct timespec real;
	uint64_t real_ns;

	clock_gettime(CLOCK_REALTIME, &real);
	real_ns = (uint64_t)real.tv_sec * LAB_NSEC_PER_SEC + (uint64_t)real.tv_nsec - lab_now_ns();
	real_ns += zero_ns;
	buckets = lab_alloc(BUCKETS, sizeof(struct packet *));
	flows_read(files->flows);
	links_read(files->links);
	for (unsigned int i = 0; i < n_spaces; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };

		space_open(&spaces[i]);
		if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, spaces[i].fd, &event))
			lab_die(errno, "epoll");
	}
	while (!*stopped) {
		n = epoll_wait(epoll, events, sizeof(events) / sizeof(events[0]), 1000);
		for (int i = 0; i < n; i++)
			while (frame_read(&spaces[events[i].data.u32], real_ns))
				;
	}
	for (unsigned int i = 0; i < n_spaces; i++)
		lost_look(&spaces[i]);
	frames_write(files->frames);
	waits_write(files->waits);
}
