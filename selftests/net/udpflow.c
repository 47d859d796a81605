// SPDX-License-Identifier: GPL-2.0-only
/*
 * udpflow: traffic for tests, and proof that it arrived as it was sent.
 *
 *	udpflow send      greedy or paced UDP flows
 *	udpflow sink      takes them; counts each flow's packets, losses, reorderings, corruptions
 *	udpflow rawsend   Ethernet frames of any type, with VLAN tags, from a packet socket
 *	udpflow rawsink   takes them and holds each against what was sent, byte for byte
 *	udpflow tcpsend   N connections at once, a stream of bytes each, completion times
 *	udpflow tcpsink   takes them and checks every byte
 *	udpflow now       prints CLOCK_MONOTONIC in ns, after waiting for --at
 *
 * Every byte that is sent follows from the flow's number, the sequence number and the position,
 * so that a receiver needs no copy to compare with. The head of a datagram carries those numbers
 * and a check sum of its own (struct head).
 *
 * In virtual time, where computing takes no time, a program that spins stops the world. So this
 * one always blocks in the kernel, and a sender that sends a million packets in no time worth
 * the name (no queue in its way, or one that drops) ends with an error instead. Nor does it ask
 * the kernel for what it cannot have yet: in User-Mode Linux a system call that says EAGAIN may
 * cost virtual time, in which nothing else happens. So each sending flow is a thread that sends
 * and blocks, and receivers read no more than poll has promised.
 *
 * All arrival times are the kernel's, CLOCK_REALTIME in nanoseconds; --at is CLOCK_MONOTONIC,
 * which every process reads alike, so that senders in several namespaces start together.
 *
 * A socket's send buffer counts a packet with its overhead (about 2.3 KB for one of 1000 bytes):
 * --sndbuf has to be so much larger than the bytes that shall be waiting in the qdisc.
 *
 * Exit status: 0 all as expected; 1 something lost that --expect wanted, or corrupt; 2 a wrong
 * argument or an error of the system.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S	1000000000LL
#define MAGIC		0x51f10aed
#define FLOWS_MAX	65536		/* flow numbers are below */
#define SOCKETS_MAX	4096
#define BATCH		32
#define BUFFER		65536
#define RUSH_PACKETS	1000000		/* so many packets of one sender ... */
#define RUSH_NS		10000000	/* ... must take longer than this */
#define BLOCK_US	100000		/* a blocked sender looks up as often, to see --duration */
#define TAGS_MAX	4

/**
 * struct head - start of each datagram and of each raw frame's payload; big-endian
 * @magic: MAGIC
 * @flow: number of the flow
 * @seq: counts the flow's packets from 0
 * @sent_ns: CLOCK_REALTIME when it, or the greedy sender's batch it is in, was made
 * @length: bytes of the payload, this included
 * @sum: check sum of the fields above
 */
struct head {
	uint32_t	magic;
	uint32_t	flow;
	uint64_t	seq;
	uint64_t	sent_ns;
	uint32_t	length;
	uint32_t	sum;
} __attribute__((packed));

/**
 * struct count - what a sink knows about one flow
 * @packets: arrived and unharmed
 * @bytes: their payload
 * @corrupt: arrived otherwise
 * @reordered: arrived after a packet with a higher number
 * @duplicate: had the number of the packet before it
 * @next: one more than the highest sequence number seen; next - packets are lost
 * @first_ns: arrival of the first
 * @last_ns: arrival of the last
 * @window_packets: of them, those within the window
 * @window_bytes: their payload
 * @delay_min_ns: least time from sending to arrival
 * @delay_max_ns: greatest
 */
struct count {
	uint64_t	packets;
	uint64_t	bytes;
	uint64_t	corrupt;
	uint64_t	reordered;
	uint64_t	duplicate;
	uint64_t	next;
	int64_t		first_ns;
	int64_t		last_ns;
	uint64_t	window_packets;
	uint64_t	window_bytes;
	int64_t		delay_min_ns;
	int64_t		delay_max_ns;
};

/** struct tag - one VLAN tag of a raw frame */
struct tag {
	uint16_t	tpid;
	uint16_t	tci;
};

/**
 * struct options - the command line; times in ns
 */
struct options {
	const char	*mode;
	const char	*dest;
	const char	*bind;
	int		port;
	int		ports;
	int		sport;
	int		flows;
	int		length;
	uint64_t	packets;
	uint64_t	bytes;
	int64_t		duration;
	int		sndbuf;
	int		rcvbuf;
	int64_t		rate;
	int		priority;
	bool		extensions;
	bool		bypass;
	uint32_t	id;
	int64_t		at;
	int64_t		idle;
	int64_t		timeout;
	uint64_t	expect;
	int64_t		skip;
	int64_t		window;
	const char	*congestion;
	const char	*dev;
	uint8_t		dst_mac[6];
	bool		dst_given;
	uint8_t		src_mac[6];
	bool		src_given;
	int		ethertype;
	struct tag	tag[TAGS_MAX];
	int		tags;
	bool		tap;
	bool		json;
};

static struct options opt = {
	.bind = NULL, .port = 7000, .ports = 1, .flows = 1, .length = 1000, .rcvbuf = 256 << 20,
	.idle = NS_PER_S, .timeout = 60 * NS_PER_S, .ethertype = 0x88b6,
};

static volatile sig_atomic_t stopped;

static void die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "udpflow: ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

static void *need(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		die("out of memory");
	return p;
}

/* ---- time ---- */

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };
}

static void sleep_until(int64_t monotonic_ns)
{
	struct timespec ts = to_timespec(monotonic_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR && !stopped)
		;
}

/* Like ppoll, for at most so many ns, for ever if negative; a signal ends it with 0. */
static int wait_for(struct pollfd *fds, int count, int64_t ns)
{
	struct timespec ts = to_timespec(ns < 0 ? 0 : ns);
	int n = ppoll(fds, count, ns < 0 ? NULL : &ts, NULL);

	if (n < 0 && errno != EINTR)
		die("poll: %s", strerror(errno));
	return n < 0 ? 0 : n;
}

/* ---- contents ---- */

static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15ULL;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Eight bytes of a flow's contents: @where is a word of a stream, or of one of many packets. */
static uint64_t pattern_word(uint32_t flow, uint64_t seq, uint64_t where)
{
	return mix(((uint64_t)flow << 40) ^ (seq << 13) ^ where);
}

static void pattern_fill(uint8_t *to, size_t length, uint32_t flow, uint64_t seq)
{
	size_t i;

	for (i = 0; i < length; i += 8) {
		uint64_t w = pattern_word(flow, seq, i / 8);

		memcpy(to + i, &w, length - i < 8 ? length - i : 8);
	}
}

static bool pattern_matches(const uint8_t *at, size_t length, uint32_t flow, uint64_t seq)
{
	size_t i;

	for (i = 0; i < length; i += 8) {
		uint64_t w = pattern_word(flow, seq, i / 8);

		if (memcmp(at + i, &w, length - i < 8 ? length - i : 8))
			return false;
	}
	return true;
}

static uint32_t head_sum(const struct head *h)
{
	const uint8_t *p = (const uint8_t *)h;
	uint64_t sum = MAGIC;
	size_t i;

	for (i = 0; i < offsetof(struct head, sum); i++)
		sum = mix(sum ^ p[i]);
	return (uint32_t)sum;
}

static void payload_build(uint8_t *to, size_t length, uint32_t flow, uint64_t seq,
			  int64_t sent_ns)
{
	struct head h = {
		.magic = htonl(MAGIC), .flow = htonl(flow), .seq = htobe64(seq),
		.sent_ns = htobe64(sent_ns), .length = htonl(length),
	};

	h.sum = htonl(head_sum(&h));
	memcpy(to, &h, sizeof(h));
	pattern_fill(to + sizeof(h), length - sizeof(h), flow, seq);
}

/* Reads a payload's head; false if it is not one of ours, whole and unharmed. */
static bool payload_check(const uint8_t *at, size_t length, struct head *h)
{
	if (length < sizeof(*h))
		return false;
	memcpy(h, at, sizeof(*h));
	if (ntohl(h->sum) != head_sum(h) || ntohl(h->magic) != MAGIC)
		return false;
	h->flow = ntohl(h->flow);
	h->seq = be64toh(h->seq);
	h->sent_ns = be64toh(h->sent_ns);
	h->length = ntohl(h->length);
	return h->length == length && h->flow < FLOWS_MAX &&
	       pattern_matches(at + sizeof(*h), length - sizeof(*h), h->flow, h->seq);
}

/* ---- counting ---- */

struct tally {
	struct count	*flow[FLOWS_MAX];
	uint64_t	packets;
	uint64_t	bytes;
	uint64_t	corrupt;
	int64_t		first_ns;
	int64_t		last_ns;
};

static bool in_window(const struct tally *t, int64_t ns)
{
	int64_t from = t->first_ns + opt.skip;

	return !opt.window || (ns >= from && ns < from + opt.window);
}

static void count_packet(struct tally *t, const struct head *h, int64_t arrived_ns)
{
	struct count *c = t->flow[h->flow];
	int64_t delay = arrived_ns - (int64_t)h->sent_ns;

	if (!t->packets++)
		t->first_ns = arrived_ns;
	t->last_ns = arrived_ns;
	t->bytes += h->length;
	if (!c) {
		c = need(1, sizeof(*c));
		c->first_ns = arrived_ns;
		c->delay_min_ns = INT64_MAX;
		t->flow[h->flow] = c;
	}
	c->packets++;
	c->bytes += h->length;
	c->last_ns = arrived_ns;
	if (c->next && h->seq == c->next - 1)
		c->duplicate++;
	else if (h->seq < c->next)
		c->reordered++;
	else
		c->next = h->seq + 1;
	if (delay < c->delay_min_ns)
		c->delay_min_ns = delay;
	if (delay > c->delay_max_ns)
		c->delay_max_ns = delay;
	if (in_window(t, arrived_ns)) {
		c->window_packets++;
		c->window_bytes += h->length;
	}
}

static int64_t count_lost(const struct count *c)
{
	return (int64_t)(c->next + c->duplicate - c->packets);
}

static void print_flow(const struct count *c, uint32_t flow, bool first)
{
	const char *format = opt.json ?
		"%s{\"flow\":%u,\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"lost\":%" PRId64
		",\"reordered\":%" PRIu64 ",\"duplicate\":%" PRIu64 ",\"first_ns\":%" PRId64
		",\"last_ns\":%" PRId64 ",\"window_packets\":%" PRIu64 ",\"window_bytes\":%" PRIu64
		",\"delay_min_ns\":%" PRId64 ",\"delay_max_ns\":%" PRId64 "}" :
		"%sflow %u: %" PRIu64 " packets, %" PRIu64 " bytes, %" PRId64 " lost, %" PRIu64
		" reordered, %" PRIu64 " duplicate, arrived %" PRId64 " to %" PRId64
		" ns, in the window %" PRIu64 " packets, %" PRIu64 " bytes, delay %" PRId64
		" to %" PRId64 " ns\n";

	printf(format, opt.json && !first ? "," : "", flow, c->packets, c->bytes, count_lost(c),
	       c->reordered, c->duplicate, c->first_ns, c->last_ns, c->window_packets,
	       c->window_bytes, c->delay_min_ns, c->delay_max_ns);
}

/* Prints the tally; returns the exit status. */
static int print_tally(const struct tally *t)
{
	uint64_t wrong = t->corrupt;
	int64_t lost = 0;
	bool first = true;
	int i;

	if (opt.json)
		printf("{\"flows\":[");
	for (i = 0; i < FLOWS_MAX; i++) {
		if (!t->flow[i])
			continue;
		print_flow(t->flow[i], i, first);
		lost += count_lost(t->flow[i]);
		first = false;
	}
	printf(opt.json ?
	       "],\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"lost\":%" PRId64
	       ",\"corrupt\":%" PRIu64 ",\"first_ns\":%" PRId64 ",\"last_ns\":%" PRId64 "}\n" :
	       "total: %" PRIu64 " packets, %" PRIu64 " bytes, %" PRId64 " lost, %" PRIu64
	       " corrupt, arrived %" PRId64 " to %" PRId64 " ns\n",
	       t->packets, t->bytes, lost, wrong, t->first_ns, t->last_ns);
	return wrong || (opt.expect && t->packets != opt.expect) ? 1 : 0;
}

static bool tally_done(const struct tally *t)
{
	return stopped || (opt.expect && t->packets + t->corrupt >= opt.expect) ||
	       (opt.bytes && t->bytes >= opt.bytes);
}

/* ---- sockets ---- */

static int resolve(const char *host, int port, int type, struct sockaddr_storage *to,
		   socklen_t *length)
{
	struct addrinfo hints = {
		.ai_socktype = type, .ai_flags = AI_NUMERICHOST | (host ? 0 : AI_PASSIVE),
	};
	struct addrinfo *found;
	char service[12];
	int error;

	snprintf(service, sizeof(service), "%d", port);
	error = getaddrinfo(host ? host : "::", service, &hints, &found);
	if (error)
		die("%s: %s", host ? host : "::", gai_strerror(error));
	memcpy(to, found->ai_addr, found->ai_addrlen);
	*length = found->ai_addrlen;
	freeaddrinfo(found);
	return to->ss_family;
}

static void set_option(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("%s: %s", what, strerror(errno));
}

/* Of IPv6: hop-by-hop options, and some for the destination, that say nothing */
static void put_extensions(int fd)
{
	static const uint8_t padding[] = { 0, 0, 1, 4, 0, 0, 0, 0 };

	if (setsockopt(fd, IPPROTO_IPV6, IPV6_HOPOPTS, padding, sizeof(padding)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, padding, sizeof(padding)))
		die("--extensions: %s", strerror(errno));
}

static int socket_open(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (opt.bypass)
		set_option(fd, SOL_PACKET, PACKET_QDISC_BYPASS, 1, "--bypass");
	if (opt.priority)
		set_option(fd, SOL_SOCKET, SO_PRIORITY, opt.priority, "--priority");
	if (opt.sndbuf)
		set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, opt.sndbuf, "--sndbuf");
	if (opt.extensions)
		put_extensions(fd);
	return fd;
}

/* A socket of the wildcard address takes IPv4 too. If the kernel has no IPv6, it is IPv4's. */
static int socket_bound(int type, int port)
{
	struct sockaddr_storage address;
	socklen_t length;
	int family = resolve(opt.bind, port, type, &address, &length);
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	if (fd < 0 && !opt.bind && errno == EAFNOSUPPORT) {
		family = resolve("0.0.0.0", port, type, &address, &length);
		fd = socket(family, type | SOCK_CLOEXEC, 0);
	}
	if (fd < 0)
		die("socket: %s", strerror(errno));
	if (family == AF_INET6)
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	if (bind(fd, (struct sockaddr *)&address, length))
		die("bind to port %d: %s", port, strerror(errno));
	return fd;
}

/* ---- UDP and raw senders ---- */

/**
 * struct sender - one flow's sending side, and its thread's
 * @thread: the thread
 * @fd: its socket
 * @flow: its number
 * @seq: next sequence number
 * @refused: sends that the kernel refused for want of room in a queue
 * @buffer: room for BATCH packets
 */
struct sender {
	pthread_t	thread;
	int		fd;
	uint32_t	flow;
	uint64_t	seq;
	uint64_t	refused;
	uint8_t		*buffer;
};

/* Bytes before the payload in what is handed to the kernel: the Ethernet header of raw frames. */
static size_t header_bytes;
static uint8_t header[ETH_HLEN + 4 * TAGS_MAX];

static uint64_t sender_limit(void)
{
	if (opt.packets)
		return opt.packets;
	return opt.bytes ? (opt.bytes + opt.length - 1) / opt.length : UINT64_MAX;
}

/* Sends the next packets; blocks until the kernel has taken them, but not for ever. */
static void sender_send(struct sender *s, unsigned int due, int64_t sent_ns)
{
	size_t size = header_bytes + opt.length;
	struct mmsghdr msg[BATCH] = {};
	struct iovec iov[BATCH];
	unsigned int i;
	int sent;

	for (i = 0; i < due; i++) {
		uint8_t *at = s->buffer + i * size;

		memcpy(at, header, header_bytes);
		payload_build(at + header_bytes, opt.length, s->flow, s->seq + i, sent_ns);
		iov[i] = (struct iovec){ at, size };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	sent = sendmmsg(s->fd, msg, due, 0);
	if (sent >= 0) {
		s->seq += sent;
		return;
	}
	switch (errno) {
	case EAGAIN:	/* blocked for BLOCK_US */
	case EINTR:
	case ECONNREFUSED:	/* an earlier packet's ICMP error */
		return;
	case ENOBUFS:	/* dropped on the way to the device; that packet is lost */
		s->refused++;
		s->seq++;
		return;
	}
	die("send: %s", strerror(errno));
}

/* Looks at the clock once for what it sends at once: a paced one need not ask if it is early. */
static void *sender_run(void *argument)
{
	struct sender *s = argument;
	int64_t next = now_ns(CLOCK_MONOTONIC), start = now_ns(CLOCK_REALTIME), rush = start, now;
	int64_t gap = opt.rate ? 8LL * opt.length * NS_PER_S / opt.rate : 0;
	uint64_t limit = sender_limit(), rushed = 0;

	s->buffer = need(BATCH, header_bytes + opt.length);
	while (!stopped && s->seq < limit) {
		uint64_t due = opt.rate ? 1 : BATCH, before = s->seq;

		if (opt.rate && s->seq) {
			sleep_until(next);
			if (stopped)
				break;
		}
		now = now_ns(CLOCK_REALTIME);
		if (opt.duration && now - start >= opt.duration)
			break;
		sender_send(s, limit - s->seq < due ? limit - s->seq : due, now);
		next += gap * (int64_t)(s->seq - before);
		rushed += s->seq - before;
		if (rushed >= RUSH_PACKETS) {
			if (now - rush < RUSH_NS)
				die("%d packets in %d us: nothing holds this sender back",
				    RUSH_PACKETS, (int)((now - rush) / 1000));
			rush = now;
			rushed = 0;
		}
	}
	free(s->buffer);
	return NULL;
}

static void senders_run(struct sender *s, int flows)
{
	struct timeval patience = { .tv_usec = BLOCK_US };
	int i;

	for (i = 0; i < flows; i++) {
		if (setsockopt(s[i].fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
			die("SO_SNDTIMEO: %s", strerror(errno));
		if (i && pthread_create(&s[i].thread, NULL, sender_run, &s[i]))
			die("no thread for flow %d", i);
	}
	sender_run(&s[0]);	/* a lone flow needs no thread */
	for (i = 1; i < flows; i++)
		pthread_join(s[i].thread, NULL);
}

/* What was sent may still wait in a qdisc: packets outlive their socket, so nothing is lost. */
static void senders_report(const struct sender *s, int flows, int64_t from_ns)
{
	uint64_t packets = 0, refused = 0;
	int i;

	for (i = 0; i < flows; i++) {
		packets += s[i].seq;
		refused += s[i].refused;
	}
	printf(opt.json ?
	       "{\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"refused\":%" PRIu64
	       ",\"time_ns\":%" PRId64 "}\n" :
	       "sent: %" PRIu64 " packets, %" PRIu64 " bytes, %" PRIu64 " refused, in %" PRId64
	       " ns\n", packets, packets * opt.length, refused,
	       now_ns(CLOCK_MONOTONIC) - from_ns);
}

static void senders_start(int64_t *from_ns)
{
	if (opt.at)
		sleep_until(opt.at);
	*from_ns = now_ns(CLOCK_MONOTONIC);
}

static int udp_socket(int flow)
{
	struct sockaddr_storage address;
	socklen_t length;
	int family, fd;

	family = resolve(opt.dest, opt.port + flow % opt.ports, SOCK_DGRAM, &address, &length);
	fd = socket_open(family, SOCK_DGRAM, 0);
	if (opt.sport || opt.bind) {
		struct sockaddr_storage own;
		socklen_t own_length;

		resolve(opt.bind ? opt.bind : family == AF_INET ? "0.0.0.0" : "::",
			opt.sport ? opt.sport + flow : 0, SOCK_DGRAM, &own, &own_length);
		set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
		if (bind(fd, (struct sockaddr *)&own, own_length))
			die("bind: %s", strerror(errno));
	}
	if (connect(fd, (struct sockaddr *)&address, length))
		die("connect to %s: %s", opt.dest, strerror(errno));
	return fd;
}

static int main_send(void)
{
	struct sender *s = need(opt.flows, sizeof(*s));
	int64_t from_ns;
	int i;

	if (!opt.dest)
		die("send needs --dest");
	if (opt.length < (int)sizeof(struct head) || opt.length > 65507)
		die("length must be %zu to 65507", sizeof(struct head));
	for (i = 0; i < opt.flows; i++) {
		s[i].fd = udp_socket(i);
		s[i].flow = opt.id + i;
	}
	senders_start(&from_ns);
	senders_run(s, opt.flows);
	senders_report(s, opt.flows, from_ns);
	free(s);
	return 0;
}

/* ---- receiving ---- */

/**
 * struct batch - room for what one system call may bring
 * @data: frames or datagrams, with room to put a tag back
 * @control: their ancillary data
 * @from: their senders
 */
struct batch {
	uint8_t			data[BATCH][BUFFER + 4];
	uint8_t			control[BATCH][256];
	struct sockaddr_storage	from[BATCH];
	struct iovec		iov[BATCH];
	struct mmsghdr		msg[BATCH];
};

static struct batch batch;

/*
 * Takes up to a batch: what is there, if @wait is 0, for poll has said that there is something; at
 * least one, if it is 1; else so many. Returns the number, which is less than @wait if the next one
 * did not come within SO_RCVTIMEO, -1 if there was none.
 */
static int batch_receive(int fd, int wait)
{
	int i, n;

	for (i = 0; i < BATCH; i++) {
		struct msghdr *m = &batch.msg[i].msg_hdr;

		batch.iov[i] = (struct iovec){ batch.data[i], BUFFER };
		*m = (struct msghdr){
			.msg_name = &batch.from[i], .msg_namelen = sizeof(batch.from[i]),
			.msg_iov = &batch.iov[i], .msg_iovlen = 1,
			.msg_control = batch.control[i],
			.msg_controllen = sizeof(batch.control[i]),
		};
	}
	n = recvmmsg(fd, batch.msg, wait > 1 ? wait : BATCH,
		     wait > 1 ? 0 : wait ? MSG_WAITFORONE : MSG_DONTWAIT, NULL);
	if (n < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN)
		die("receive: %s", strerror(errno));
	return n;
}

static int64_t message_time(struct msghdr *m)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec ts;

			memcpy(&ts, CMSG_DATA(c), sizeof(ts));
			return ts.tv_sec * NS_PER_S + ts.tv_nsec;
		}
	}
	return now_ns(CLOCK_REALTIME);
}

static int sink_receive(int fd, struct tally *t, int wait)
{
	int i, n = batch_receive(fd, wait);
	struct head h;

	for (i = 0; i < n; i++) {
		if (payload_check(batch.data[i], batch.msg[i].msg_len, &h))
			count_packet(t, &h, message_time(&batch.msg[i].msg_hdr));
		else
			t->corrupt++;
	}
	return n;
}

typedef int (*sink_reader)(int fd, struct tally *t, int wait);

/* So many have to come before all can be there. When they came, the kernel has written on them. */
static int sink_wait(const struct tally *t)
{
	uint64_t left = opt.bytes ? 1 : opt.expect ? opt.expect - t->packets - t->corrupt : BATCH;

	return left < BATCH ? left : BATCH;
}

/* One socket: no poll and no look at the clock, which in virtual time costs a nanosecond each. */
static void sink_run_one(int fd, struct tally *t, sink_reader reader)
{
	int64_t patience[] = { opt.timeout, opt.idle };
	int i;

	for (i = 0; i < 2; i++) {
		struct timeval limit = { patience[i] / NS_PER_S, patience[i] % NS_PER_S / 1000 };

		if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
			die("SO_RCVTIMEO: %s", strerror(errno));
		while (!tally_done(t)) {
			int wait = i ? sink_wait(t) : 1;

			if (reader(fd, t, wait) < wait)
				return;
			if (!i)
				break;
		}
	}
}

/* Waits for packets on the sockets until told to stop, all is here, or nothing comes any more. */
static void sink_run(struct pollfd *fds, int count, struct tally *t, sink_reader reader)
{
	int64_t start = now_ns(CLOCK_MONOTONIC), heard = 0;
	bool came = false;
	int i;

	if (count == 1 && !opt.duration) {
		sink_run_one(fds->fd, t, reader);
		return;
	}
	while (!tally_done(t)) {
		int64_t now = now_ns(CLOCK_MONOTONIC), end;

		if (came)
			heard = now;
		end = heard ? heard + opt.idle : start + opt.timeout;
		if (opt.duration && start + opt.duration < end)
			end = start + opt.duration;
		if (now >= end)
			break;
		came = wait_for(fds, count, end - now);
		for (i = 0; came && i < count; i++)
			if (fds[i].revents)
				reader(fds[i].fd, t, 0);
	}
}

static void receive_buffer(int fd)
{
	/* without the privilege: as much as the limit allows */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &opt.rcvbuf, sizeof(opt.rcvbuf)))
		set_option(fd, SOL_SOCKET, SO_RCVBUF, opt.rcvbuf, "--rcvbuf");
}

static int main_sink(void)
{
	struct pollfd *fds = need(opt.ports, sizeof(*fds));
	static struct tally t;
	int i;

	for (i = 0; i < opt.ports; i++) {
		int fd = socket_bound(SOCK_DGRAM, opt.port + i);

		receive_buffer(fd);
		set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
		fds[i] = (struct pollfd){ fd, POLLIN, 0 };
	}
	sink_run(fds, opt.ports, &t, sink_receive);
	free(fds);
	return print_tally(&t);
}

/* ---- raw frames ---- */

static void put16(uint8_t *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value & 0xff;
}

/* The frame's header: addresses, tags from the outermost inward, EtherType. */
static void header_build(void)
{
	size_t at = 12;
	int i;

	memcpy(header, opt.dst_mac, 6);
	memcpy(header + 6, opt.src_mac, 6);
	for (i = 0; i < opt.tags; i++) {
		put16(header + at, opt.tag[i].tpid);
		put16(header + at + 2, opt.tag[i].tci);
		at += 4;
	}
	put16(header + at, opt.ethertype);
	header_bytes = at + 2;
}

static int raw_socket(int protocol)
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET };
	int fd = socket_open(AF_PACKET, SOCK_RAW, 0);

	if (!opt.dev)
		die("%s needs --dev", opt.mode);
	address.sll_ifindex = if_nametoindex(opt.dev);
	if (!address.sll_ifindex)
		die("%s: no such device", opt.dev);
	address.sll_protocol = htons(protocol);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die("bind to %s: %s", opt.dev, strerror(errno));
	return fd;
}

static void own_mac(int fd)
{
	struct ifreq r = {};

	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", opt.dev);
	if (ioctl(fd, SIOCGIFHWADDR, &r))
		die("%s: %s", opt.dev, strerror(errno));
	memcpy(opt.src_mac, r.ifr_hwaddr.sa_data, 6);
}

/* --length of the raw modes is the whole frame, without FCS. */
static void raw_length(void)
{
	header_build();
	opt.length -= header_bytes;
	if (opt.length < (int)sizeof(struct head) || opt.length + header_bytes > BUFFER - 1)
		die("length must leave %zu bytes behind the header of %zu", sizeof(struct head),
		    header_bytes);
}

static int main_rawsend(void)
{
	struct sender *s = need(opt.flows, sizeof(*s));
	int64_t from_ns;
	int i;

	if (!opt.dst_given)
		die("rawsend needs --mac");
	for (i = 0; i < opt.flows; i++) {
		s[i].fd = raw_socket(0);
		s[i].flow = opt.id + i;
	}
	if (!opt.src_given)
		own_mac(s[0].fd);
	raw_length();
	senders_start(&from_ns);
	senders_run(s, opt.flows);
	senders_report(s, opt.flows, from_ns);
	free(s);
	return 0;
}

/* Puts the tag that the kernel took off back to where it was; returns the new length. */
static size_t frame_restore(uint8_t *frame, size_t length, struct msghdr *m)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (!(aux.tp_status & TP_STATUS_VLAN_VALID) || length < 12)
			return length;
		memmove(frame + 16, frame + 12, length - 12);
		put16(frame + 12, aux.tp_status & TP_STATUS_VLAN_TPID_VALID ?
		      aux.tp_vlan_tpid : ETH_P_8021Q);
		put16(frame + 14, aux.tp_vlan_tci);
		return length + 4;
	}
	return length;
}

/* True if the frame carries a payload of ours somewhere behind its first EtherTypes. */
static bool frame_is_ours(const uint8_t *frame, size_t length)
{
	const uint32_t magic = htonl(MAGIC);
	size_t at;

	for (at = ETH_HLEN; at + 4 <= length && at <= ETH_HLEN + 4 * (TAGS_MAX + 1); at += 4)
		if (!memcmp(frame + at, &magic, 4))
			return true;
	return false;
}

/* Says what differs, of the first few frames that do. */
static void frame_complain(const uint8_t *frame, size_t length, const char *what)
{
	static int complaints;
	size_t i;

	if (complaints++ >= 8)
		return;
	fprintf(stderr, "udpflow: frame of %zu bytes: %s:", length, what);
	for (i = 0; i < length && i < 34; i++)
		fprintf(stderr, " %02x", frame[i]);
	fprintf(stderr, "\n");
}

static void frame_check(const uint8_t *frame, size_t length, int64_t arrived, struct tally *t)
{
	const char *wrong = NULL;
	struct head h;

	if (length != header_bytes + opt.length && length >= 60)
		wrong = "another length";
	else if (length < header_bytes + opt.length)
		wrong = "too short";
	else if (opt.dst_given && memcmp(frame, opt.dst_mac, 6))
		wrong = "another destination";
	else if (opt.src_given && memcmp(frame + 6, opt.src_mac, 6))
		wrong = "another source";
	else if (memcmp(frame + 12, header + 12, header_bytes - 12))
		wrong = "other tags or EtherType";
	else if (!payload_check(frame + header_bytes, opt.length, &h))
		wrong = "another payload";
	if (wrong) {
		t->corrupt++;
		frame_complain(frame, length, wrong);
	} else {
		count_packet(t, &h, arrived);
	}
}

static int raw_receive(int fd, struct tally *t, int wait)
{
	int i, n = batch_receive(fd, wait);

	for (i = 0; i < n; i++) {
		const struct sockaddr_ll *from = (struct sockaddr_ll *)&batch.from[i];
		struct msghdr *m = &batch.msg[i].msg_hdr;
		size_t length = frame_restore(batch.data[i], batch.msg[i].msg_len, m);

		if (from->sll_pkttype == PACKET_OUTGOING ||
		    !frame_is_ours(batch.data[i], length))
			continue;
		frame_check(batch.data[i], length, message_time(m), t);
	}
	return n;
}

/*
 * A socket of one EtherType sees a frame after the ingress hooks, but the kernel may by then have
 * dropped a VLAN tag that no device claimed; one of all types sees it as it came from the device,
 * before the hooks. Tagged frames need the latter: put the tap on a device behind the port, such
 * as its bridge.
 */
static int main_rawsink(void)
{
	bool tap = opt.tap || opt.tags;
	int fd = raw_socket(tap ? ETH_P_ALL : opt.ethertype);
	struct pollfd fds = { fd, POLLIN, 0 };
	static struct tally t;

	receive_buffer(fd);
	set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1, "PACKET_AUXDATA");
	set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
	raw_length();
	sink_run(&fds, 1, &t, raw_receive);
	return print_tally(&t);
}

/* ---- TCP ---- */

/**
 * struct stream - one TCP connection, on either side
 * @thread: the sender's thread
 * @address: of the sink
 * @address_length: its length
 * @fd: its socket, -1 when done
 * @flow: number that its contents follow from
 * @at: bytes sent or received so far, the 16 of the preamble included
 * @total: bytes in all, the preamble included; 0 while unknown
 * @preamble: flow and total, big-endian, 8 bytes each
 * @ok: every byte so far was right
 * @start_ns: monotonic time of the connect or accept
 * @end_ns: of the receiver's answer, or of the last byte
 */
struct stream {
	pthread_t		thread;
	struct sockaddr_storage	address;
	socklen_t		address_length;
	int			fd;
	uint32_t		flow;
	uint64_t		at;
	uint64_t		total;
	uint64_t		preamble[2];
	bool			ok;
	int64_t			start_ns;
	int64_t			end_ns;
};

#define PREAMBLE	16

/* Contents from any byte position on. */
static void stream_fill(uint8_t *to, size_t length, uint32_t flow, uint64_t at)
{
	while (length) {
		uint64_t w = pattern_word(flow, 0, at / 8);
		size_t skip = at % 8, n = 8 - skip < length ? 8 - skip : length;

		memcpy(to, (uint8_t *)&w + skip, n);
		to += n;
		at += n;
		length -= n;
	}
}

static int stream_socket(int i, struct sockaddr_storage *address, socklen_t *length)
{
	struct timeval patience = { opt.timeout / NS_PER_S, opt.timeout % NS_PER_S / 1000 };
	int family = resolve(opt.dest, opt.port + i % opt.ports, SOCK_STREAM, address, length);
	int fd = socket_open(family, SOCK_STREAM, 0);

	if (opt.congestion && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, opt.congestion,
					 strlen(opt.congestion)))
		die("%s: %s", opt.congestion, strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		die("--timeout: %s", strerror(errno));
	return fd;
}

static bool stream_send_all(struct stream *s)
{
	uint8_t buffer[16384];
	ssize_t n;

	while (s->at < s->total) {
		uint64_t left = (s->at < PREAMBLE ? PREAMBLE : s->total) - s->at;
		size_t length = left < sizeof(buffer) ? left : sizeof(buffer);

		if (s->at < PREAMBLE)
			memcpy(buffer, (uint8_t *)s->preamble + s->at, length);
		else
			stream_fill(buffer, length, s->flow, s->at);
		n = send(s->fd, buffer, length, MSG_NOSIGNAL);
		if (n < 0)
			return false;
		s->at += n;
	}
	return true;
}

/* One connection from its connect to the sink's answer: one byte, 1 if all was right. */
static void *stream_run(void *argument)
{
	struct stream *s = argument;
	uint8_t answer = 0;

	s->start_ns = now_ns(CLOCK_MONOTONIC);
	s->ok = !connect(s->fd, (struct sockaddr *)&s->address, s->address_length) &&
		stream_send_all(s) && recv(s->fd, &answer, 1, 0) == 1 && answer == 1;
	s->end_ns = now_ns(CLOCK_MONOTONIC);
	close(s->fd);
	return NULL;
}

static int streams_report(const struct stream *s, int count, int wanted)
{
	int64_t first = INT64_MAX, last = 0;
	int i, good = 0;

	if (opt.json)
		printf("{\"connections\":[");
	for (i = 0; i < count; i++) {
		printf(opt.json ?
		       "%s{\"flow\":%u,\"bytes\":%" PRIu64 ",\"ok\":%s,\"time_ns\":%" PRId64 "}" :
		       "%sconnection %u: %" PRIu64 " bytes, %s, %" PRId64 " ns\n",
		       opt.json && i ? "," : "", s[i].flow,
		       s[i].at < PREAMBLE ? 0 : s[i].at - PREAMBLE,
		       opt.json ? (s[i].ok ? "true" : "false") : (s[i].ok ? "right" : "wrong"),
		       s[i].end_ns - s[i].start_ns);
		good += s[i].ok;
		first = s[i].start_ns < first ? s[i].start_ns : first;
		last = s[i].end_ns > last ? s[i].end_ns : last;
	}
	printf(opt.json ? "],\"ok\":%d,\"wrong\":%d,\"time_ns\":%" PRId64 "}\n" :
	       "total: %d right, %d wrong or missing, %" PRId64 " ns\n",
	       good, wanted - good, count ? last - first : 0);
	return good == wanted ? 0 : 1;
}

static int main_tcpsend(void)
{
	struct stream *s = need(opt.flows, sizeof(*s));
	int i, status;

	if (!opt.dest || !opt.bytes)
		die("tcpsend needs --dest and --bytes");
	for (i = 0; i < opt.flows; i++) {
		s[i].flow = opt.id + i;
		s[i].total = PREAMBLE + opt.bytes;
		s[i].preamble[0] = htobe64(s[i].flow);
		s[i].preamble[1] = htobe64(s[i].total);
		s[i].fd = stream_socket(i, &s[i].address, &s[i].address_length);
	}
	if (opt.at)
		sleep_until(opt.at);
	for (i = 1; i < opt.flows; i++)
		if (pthread_create(&s[i].thread, NULL, stream_run, &s[i]))
			die("no thread for connection %d", i);
	stream_run(&s[0]);
	for (i = 1; i < opt.flows; i++)
		pthread_join(s[i].thread, NULL);
	status = streams_report(s, opt.flows, opt.flows);
	free(s);
	return status;
}

/* Takes what is there; returns true when the connection is over. */
static bool stream_receive(struct stream *s)
{
	static uint8_t got[BUFFER], want[BUFFER];
	size_t length = sizeof(got);
	ssize_t n;

	if (s->at < PREAMBLE)
		length = PREAMBLE - s->at;
	n = recv(s->fd, got, length, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {		/* over before the last byte */
		s->ok = false;
		return true;
	}
	if (s->at < PREAMBLE) {
		memcpy((uint8_t *)s->preamble + s->at, got, n);
		s->at += n;
		if (s->at == PREAMBLE) {
			s->flow = (uint32_t)be64toh(s->preamble[0]);
			s->total = be64toh(s->preamble[1]);
		}
	} else {
		stream_fill(want, n, s->flow, s->at);
		s->ok = s->ok && !memcmp(got, want, n);
		s->at += n;
	}
	s->end_ns = now_ns(CLOCK_MONOTONIC);
	if (!s->total || s->at < s->total)
		return false;
	s->ok = s->ok && s->at == s->total;
	got[0] = s->ok;
	/* should it not arrive, the sender sees the connection close without an answer */
	(void)!send(s->fd, got, 1, MSG_NOSIGNAL);
	return true;
}

static void sink_accept(int listener, struct stream *s, int *count)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (*count == SOCKETS_MAX)
		die("more than %d connections", SOCKETS_MAX);
	s[*count] = (struct stream){ .fd = fd, .ok = true,
		.start_ns = now_ns(CLOCK_MONOTONIC), .end_ns = now_ns(CLOCK_MONOTONIC) };
	++*count;
}

/* Ends when --expect connections are over, or nothing has happened for --idle. */
static int main_tcpsink(void)
{
	struct stream *s = need(SOCKETS_MAX, sizeof(*s));
	struct pollfd *fds = need(SOCKETS_MAX + opt.ports, sizeof(*fds));
	int *listener = need(opt.ports, sizeof(*listener));
	int i, count = 0, over = 0, status;

	for (i = 0; i < opt.ports; i++) {
		listener[i] = socket_bound(SOCK_STREAM, opt.port + i);
		if (listen(listener[i], SOCKETS_MAX))
			die("listen: %s", strerror(errno));
	}
	while (!stopped && !(opt.expect && over >= (int)opt.expect)) {
		int known = count;

		for (i = 0; i < opt.ports; i++)
			fds[i] = (struct pollfd){ listener[i], POLLIN, 0 };
		for (i = 0; i < known; i++)
			fds[opt.ports + i] = (struct pollfd){ s[i].fd, POLLIN, 0 };
		if (!wait_for(fds, opt.ports + known, count ? opt.idle : opt.timeout))
			break;
		for (i = 0; i < opt.ports; i++)
			if (fds[i].revents)
				sink_accept(listener[i], s, &count);
		for (i = 0; i < known; i++) {
			if (!fds[opt.ports + i].revents || !stream_receive(&s[i]))
				continue;
			close(s[i].fd);
			s[i].fd = -1;
			over++;
		}
	}
	for (i = 0; i < count; i++)
		s[i].ok = s[i].ok && s[i].fd < 0;
	status = streams_report(s, count, opt.expect ? (int)opt.expect : count);
	free(listener);
	free(fds);
	free(s);
	return status;
}

static int main_now(void)
{
	if (opt.at)
		sleep_until(opt.at);
	printf("%" PRId64 "\n", now_ns(CLOCK_MONOTONIC));
	return 0;
}

/* ---- command line ---- */

enum {
	KEY_SPORT = 256, KEY_PORTS, KEY_SNDBUF, KEY_RCVBUF, KEY_RATE, KEY_PRIORITY, KEY_ID, KEY_AT,
	KEY_IDLE, KEY_TIMEOUT, KEY_EXPECT, KEY_SKIP, KEY_WINDOW, KEY_CC, KEY_DEV, KEY_MAC, KEY_SRC,
	KEY_TYPE, KEY_VLAN, KEY_TAP, KEY_BYPASS, KEY_JSON, KEY_EXTENSIONS,
};

static const struct argp_option options[] = {
	{ "dest", 'd', "ADDRESS", 0, "IPv4 or IPv6 address to send to", 1 },
	{ "bind", 'b', "ADDRESS", 0, "own address", 1 },
	{ "port", 'p', "N", 0, "first port of the sink (7000)", 1 },
	{ "ports", KEY_PORTS, "N", 0, "how many ports; flows are dealt to them (1)", 1 },
	{ "sport", KEY_SPORT, "N", 0, "source port of the first flow, the next has N + 1", 1 },
	{ "flows", 'f', "N", 0, "flows, or TCP connections (1)", 2 },
	{ "id", KEY_ID, "N", 0, "number of the first flow (0)", 2 },
	{ "length", 'l', "BYTES", 0, "UDP payload; in the raw modes the whole frame (1000)", 2 },
	{ "packets", 'n', "N", 0, "packets of each flow", 2 },
	{ "bytes", 'B', "N", 0, "send: bytes of each flow; sink: ends after so many in all", 2 },
	{ "duration", 't', "TIME", 0, "as long as that (1s, 20ms, 5us, 100 or 100ns)", 2 },
	{ "rate", KEY_RATE, "BPS", 0, "payload bit/s of each flow, with k, m or g (greedy)", 2 },
	{ "at", KEY_AT, "NS", 0, "start at this time of CLOCK_MONOTONIC", 2 },
	{ "sndbuf", KEY_SNDBUF, "BYTES", 0, "SO_SNDBUF of each socket", 3 },
	{ "rcvbuf", KEY_RCVBUF, "BYTES", 0, "SO_RCVBUF (256 MiB)", 3 },
	{ "priority", KEY_PRIORITY, "N", 0, "SO_PRIORITY", 3 },
	{ "extensions", KEY_EXTENSIONS, NULL, 0, "extension headers of IPv6 in each packet", 3 },
	{ "congestion", KEY_CC, "NAME", 0, "TCP congestion control", 3 },
	{ "idle", KEY_IDLE, "TIME", 0, "sinks end when nothing came for so long (1s)", 4 },
	{ "timeout", KEY_TIMEOUT, "TIME", 0, "sinks end if nothing comes at all; tcpsend gives up "
	  "(60s)", 4 },
	{ "expect", KEY_EXPECT, "N", 0, "sinks end after so many packets or connections, and exit "
	  "with 1 if it is another number", 4 },
	{ "skip", KEY_SKIP, "TIME", 0, "start of the counting window after the first arrival", 4 },
	{ "window", KEY_WINDOW, "TIME", 0, "its length (everything counts)", 4 },
	{ "dev", KEY_DEV, "DEV", 0, "device of the raw modes", 5 },
	{ "mac", KEY_MAC, "MAC", 0, "destination of raw frames", 5 },
	{ "src", KEY_SRC, "MAC", 0, "source of raw frames (the device's; rawsink: not checked)", 5 },
	{ "ethertype", KEY_TYPE, "N", 0, "of raw frames (0x88b6)", 5 },
	{ "vlan", KEY_VLAN, "TPID:TCI", 0, "tag of raw frames, the outermost first; up to 4", 5 },
	{ "bypass", KEY_BYPASS, NULL, 0, "rawsend: past the qdisc", 5 },
	{ "tap", KEY_TAP, NULL, 0, "rawsink: see frames as the device gave them", 5 },
	{ "json", KEY_JSON, NULL, 0, "report as JSON", 6 },
	{ 0 }
};

static int64_t parse_scaled(const char *text, const char *const *suffix, const int64_t *scale)
{
	char *end;
	int64_t v;
	int i;

	errno = 0;
	v = strtoll(text, &end, 0);
	if (errno || end == text || v < 0)
		die("%s: not a number of 0 or more", text);
	for (i = 0; suffix[i]; i++)
		if (!strcmp(end, suffix[i]))
			break;
	if (!suffix[i])
		die("%s: unknown unit", text);
	if (v > INT64_MAX / scale[i])
		die("%s: too large", text);
	return v * scale[i];
}

static int64_t parse_time(const char *text)
{
	static const char * const suffix[] = { "", "ns", "us", "ms", "s", NULL };
	static const int64_t scale[] = { 1, 1, 1000, 1000000, NS_PER_S };

	return parse_scaled(text, suffix, scale);
}

static int64_t parse_count(const char *text)
{
	static const char * const suffix[] = { "", "k", "m", "g", NULL };
	static const int64_t scale[] = { 1, 1000, 1000000, NS_PER_S };

	return parse_scaled(text, suffix, scale);
}

static int parse_range(const char *text, int64_t low, int64_t high, const char *what)
{
	int64_t v = parse_count(text);

	if (v < low || v > high)
		die("%s must be %" PRId64 " to %" PRId64, what, low, high);
	return (int)v;
}

static void parse_mac(const char *text, uint8_t *mac)
{
	char rest;

	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx%c", &mac[0], &mac[1], &mac[2], &mac[3],
		   &mac[4], &mac[5], &rest) != 6)
		die("%s: not a MAC address", text);
}

static void parse_tag(const char *text)
{
	char *end;

	if (opt.tags == TAGS_MAX)
		die("at most %d tags", TAGS_MAX);
	opt.tag[opt.tags].tpid = strtoul(text, &end, 0);
	if (*end != ':')
		die("%s: a tag is TPID:TCI, such as 0x8100:5", text);
	opt.tag[opt.tags++].tci = strtoul(end + 1, NULL, 0);
}

static error_t parse_common(int key, char *arg)
{
	switch (key) {
	case 'd':
		opt.dest = arg;
		break;
	case 'b':
		opt.bind = arg;
		break;
	case 'p':
		opt.port = parse_range(arg, 1, 65535, "port");
		break;
	case KEY_PORTS:
		opt.ports = parse_range(arg, 1, SOCKETS_MAX, "ports");
		break;
	case KEY_SPORT:
		opt.sport = parse_range(arg, 1, 65535, "sport");
		break;
	case 'f':
		opt.flows = parse_range(arg, 1, SOCKETS_MAX, "flows");
		break;
	case KEY_ID:
		opt.id = parse_range(arg, 0, FLOWS_MAX - 1, "id");
		break;
	case 'l':
		opt.length = parse_range(arg, 1, BUFFER, "length");
		break;
	case 'n':
		opt.packets = parse_count(arg);
		break;
	case 'B':
		opt.bytes = parse_count(arg);
		break;
	case 't':
		opt.duration = parse_time(arg);
		break;
	case KEY_RATE:
		opt.rate = parse_count(arg);
		break;
	case KEY_AT:
		opt.at = parse_time(arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_special(int key, char *arg)
{
	switch (key) {
	case KEY_SNDBUF:
		opt.sndbuf = parse_range(arg, 1, 1 << 30, "sndbuf");
		break;
	case KEY_RCVBUF:
		opt.rcvbuf = parse_range(arg, 1, 1 << 30, "rcvbuf");
		break;
	case KEY_BYPASS:
		opt.bypass = true;
		break;
	case KEY_EXTENSIONS:
		opt.extensions = true;
		break;
	case KEY_PRIORITY:
		opt.priority = parse_range(arg, 0, INT32_MAX, "priority");
		break;
	case KEY_CC:
		opt.congestion = arg;
		break;
	case KEY_IDLE:
		opt.idle = parse_time(arg);
		break;
	case KEY_TIMEOUT:
		opt.timeout = parse_time(arg);
		break;
	case KEY_EXPECT:
		opt.expect = parse_count(arg);
		break;
	case KEY_SKIP:
		opt.skip = parse_time(arg);
		break;
	case KEY_WINDOW:
		opt.window = parse_time(arg);
		break;
	case KEY_DEV:
		opt.dev = arg;
		break;
	case KEY_MAC:
		parse_mac(arg, opt.dst_mac);
		opt.dst_given = true;
		break;
	case KEY_SRC:
		parse_mac(arg, opt.src_mac);
		opt.src_given = true;
		break;
	case KEY_TYPE:
		opt.ethertype = parse_range(arg, 0x600, 0xffff, "ethertype");
		break;
	case KEY_VLAN:
		parse_tag(arg);
		break;
	case KEY_TAP:
		opt.tap = true;
		break;
	case KEY_JSON:
		opt.json = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_ARG && !opt.mode) {
		opt.mode = arg;
		return 0;
	}
	if (key == ARGP_KEY_ARG || (key == ARGP_KEY_END && !opt.mode))
		argp_usage(state);
	if (parse_common(key, arg) == ARGP_ERR_UNKNOWN)
		return parse_special(key, arg);
	return 0;
}

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse_option,
		.args_doc = "send|sink|rawsend|rawsink|tcpsend|tcpsink|now",
		.doc = "Traffic for tests, every byte of it checked",
	};
	static const struct {
		const char	*name;
		int		(*run)(void);
	} modes[] = {
		{ "send", main_send }, { "sink", main_sink }, { "rawsend", main_rawsend },
		{ "rawsink", main_rawsink }, { "tcpsend", main_tcpsend },
		{ "tcpsink", main_tcpsink }, { "now", main_now },
	};
	struct sigaction action = { .sa_handler = stop };
	size_t i;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if ((uint64_t)opt.id + opt.flows > FLOWS_MAX)
		die("flow numbers must stay below %d", FLOWS_MAX);
	if (strcmp(opt.mode, "tcpsend")) {	/* which has nothing to report half way */
		sigaction(SIGINT, &action, NULL);
		sigaction(SIGTERM, &action, NULL);
	}
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(opt.mode, modes[i].name))
			return modes[i].run();
	die("%s: unknown mode", opt.mode);
	return 2;
}
