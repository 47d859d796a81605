// SPDX-License-Identifier: GPL-2.0-only
/*
 * wireprobe.c - sends known Ethernet frames and says to the nanosecond when each came
 *
 *	wireprobe [-t] [-w MS] TX RX BURST...		raw frames
 *	wireprobe tcp BYTES NS1 NS2 ADDRESS PORT	one TCP transfer, checked
 *
 * TX and RX are devices, in another network namespace as NAMESPACE/DEVICE. A burst is
 * count=N,size=B and optionally prio=P (of the socket), type=T (EtherType, default 0x9000),
 * tag=V (in the frame, VLAN id V), from=S (first sequence number, default where the last burst
 * ended), at=NS (when to start, after the start of all), direct (past the qdisc), drop (a frame
 * that a full queue refuses is not tried again). The bursts are sent one after the other; the
 * socket's buffer takes all of them at once.
 *
 * MS milliseconds (default 1000) after the last was sent comes one line for each frame that came
 * to RX, in their order:
 *
 *	rx SEQUENCE NS BYTES BITS
 *
 * where NS is the kernel's receive timestamp and BITS how many bits differ from what was sent.
 * With -t also, for frames that passed TX's qdisc, when the stack handed them to the device:
 *
 *	tx SEQUENCE NS BYTES BITS
 *
 * NS counts from the moment before the first frame was sent. The last line is `end`.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX	65600
#define BURSTS		64
#define MAGIC		0x77697265U	/* "wire" */
#define BUFFER		(512 << 20)	/* socket memory: in virtual time all may wait at once */

struct burst {
	unsigned long count, size, prio, type, tag, from, at;
	bool direct, drop;
};

/* After the Ethernet header, without the VLAN tag. The sequence number stands twice, so that
 * one flipped bit does not hide.
 */
struct payload {
	uint32_t magic;
	uint32_t sequence;
	uint32_t inverse;
} __attribute__((packed));

static int home;	/* the network namespace that we started in */
static struct timespec start;
static struct burst bursts[BURSTS];
static int burst_count;

static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "wireprobe: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
	va_end(args);
	exit(2);
}

static void enter(const char *ns)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", ns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		die("namespace %s", ns);
	close(fd);
}

static void leave(void)
{
	if (setns(home, CLONE_NEWNET))
		die("cannot return to the first namespace");
}

/* A packet socket on [NAMESPACE/]DEVICE; protocol 0 hears nothing. */
static int packet_open(const char *where, int protocol)
{
	const char *slash = strchr(where, '/'), *dev = slash ? slash + 1 : where;
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	char ns[128];
	int fd;

	if (slash) {
		snprintf(ns, sizeof(ns), "%.*s", (int)(slash - where), where);
		enter(ns);
	}
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	at.sll_ifindex = if_nametoindex(dev);
	if (fd < 0 || !at.sll_ifindex || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("device %s", where);
	if (slash)
		leave();
	return fd;
}

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("socket option %d", name);
}

static int listener(const char *where)
{
	int fd = packet_open(where, ETH_P_ALL);

	option(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER);
	option(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	option(fd, SOL_PACKET, PACKET_AUXDATA, 1);
	return fd;
}

static unsigned int type_of(uint32_t sequence)
{
	int i;

	for (i = 0; i < burst_count; i++)
		if (sequence - bursts[i].from < bursts[i].count)
			return bursts[i].type;
	return 0;
}

/* The frame that is sent for a sequence number, without a VLAN tag. */
static void fill(unsigned char *frame, unsigned long bytes, uint32_t sequence)
{
	struct payload p = { htonl(MAGIC), htonl(sequence), htonl(~sequence) };
	unsigned int type = type_of(sequence);
	unsigned long i;

	memset(frame, 0xff, ETH_ALEN);
	memcpy(frame + ETH_ALEN, "\x02\x00\x00\x00\x00\x01", ETH_ALEN);
	frame[12] = type >> 8;
	frame[13] = type;
	for (i = ETH_HLEN; i < bytes; i++)
		frame[i] = i * 7;
	memcpy(frame + ETH_HLEN, &p, sizeof(p));
}

static unsigned long distance(const unsigned char *a, const unsigned char *b, unsigned long bytes)
{
	unsigned long bits = 0, i;

	for (i = 0; i < bytes; i++)
		bits += __builtin_popcount(a[i] ^ b[i]);
	return bits;
}

static const char *wanted(const char *text, const char *key, unsigned long *value)
{
	size_t n = strlen(key);

	if (strncmp(text, key, n) || text[n] != '=')
		return NULL;
	*value = strtoul(text + n + 1, NULL, 0);
	return text;
}

static struct burst burst_parse(char *text, unsigned long from)
{
	struct burst b = { .count = 1, .size = 60, .type = 0x9000, .from = from };
	char *word;

	for (word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		if (!strcmp(word, "direct"))
			b.direct = true;
		else if (!strcmp(word, "drop"))
			b.drop = true;
		else if (!wanted(word, "count", &b.count) && !wanted(word, "size", &b.size) &&
			 !wanted(word, "prio", &b.prio) && !wanted(word, "type", &b.type) &&
			 !wanted(word, "tag", &b.tag) && !wanted(word, "from", &b.from) &&
			 !wanted(word, "at", &b.at))
			die("a burst has no %s", word);
	}
	if (b.size < ETH_HLEN + sizeof(struct payload) || b.size > FRAME_MAX - 4)
		die("no frame of %lu bytes", b.size);
	return b;
}

static long since_start(const struct timespec *t)
{
	return (t->tv_sec - start.tv_sec) * 1000000000L + t->tv_nsec - start.tv_nsec;
}

static void sleep_until(unsigned long at)
{
	struct timespec t = start;

	t.tv_nsec += at % 1000000000;
	t.tv_sec += at / 1000000000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL);
}

static void burst_send(int fd, const struct burst *b)
{
	static unsigned char frame[FRAME_MAX];
	unsigned long i, bytes;

	option(fd, SOL_SOCKET, SO_PRIORITY, b->prio);
	if (b->at)
		sleep_until(b->at);
	for (i = 0; i < b->count; i++) {
		fill(frame, b->size, b->from + i);
		bytes = b->size;
		if (b->tag) {
			memmove(frame + 16, frame + 12, bytes - 12);
			memcpy(frame + 12,
			       (unsigned char []){ 0x81, 0x00, b->tag >> 8, b->tag }, 4);
			bytes += 4;
		}
		while (send(fd, frame, bytes, 0) < 0) {
			if (errno == ENOBUFS && b->drop)
				break;
			if (errno != ENOBUFS && errno != EINTR)
				die("send");
		}
	}
}

/* One frame, or false if there is none for a while. */
static bool hear(int fd, const char *name)
{
	static unsigned char frame[FRAME_MAX], sent[FRAME_MAX];
	char control[256];
	struct sockaddr_ll from;
	struct iovec iov = { frame, sizeof(frame) };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &iov,
			    .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	uint32_t sequence = 0, inverse;
	struct timespec stamp = {};
	unsigned long bits, other;
	struct payload p;
	struct cmsghdr *c;
	ssize_t n;

	n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return false;
	if ((from.sll_pkttype == PACKET_OUTGOING) != (*name == 't') ||
	    n < (ssize_t)(ETH_HLEN + sizeof(p)))
		return true;
	for (c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
			memcpy(&stamp, CMSG_DATA(c), sizeof(stamp));
	memcpy(&p, frame + ETH_HLEN, sizeof(p));
	sequence = ntohl(p.sequence);
	inverse = ~ntohl(p.inverse);
	/* Frames of others: neither magic nor sequence number fits */
	if (ntohl(p.magic) != MAGIC && sequence != inverse)
		return true;
	fill(sent, n, sequence);
	bits = distance(frame, sent, n);
	if (sequence != inverse) {
		fill(sent, n, inverse);
		other = distance(frame, sent, n);
		if (other < bits) {
			bits = other;
			sequence = inverse;
		}
	}
	printf("%s %u %ld %zd %lu\n", name, sequence, since_start(&stamp), n, bits);
	return true;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void raw(int argc, char **argv)
{
	long wait_ms = 1000;
	int tap = -1, rx, tx, direct, i, c;
	unsigned long from = 0;
	bool tapped = false;

	while ((c = getopt(argc, argv, "+tw:")) != -1) {
		tapped |= c == 't';
		if (c == 'w')
			wait_ms = atol(optarg);
		if (c == '?')
			exit(2);
	}
	argv += optind;
	argc -= optind;
	if (argc < 3 || argc > BURSTS + 2) {
		errno = 0;
		die("wants TX RX BURST...");
	}
	for (i = 2; i < argc; i++) {
		errno = 0;
		bursts[burst_count] = burst_parse(argv[i], from);
		from = bursts[burst_count].from + bursts[burst_count].count;
		burst_count++;
	}
	rx = listener(argv[1]);
	if (tapped)
		tap = listener(argv[0]);
	tx = packet_open(argv[0], 0);
	direct = packet_open(argv[0], 0);
	option(tx, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER);
	option(direct, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER);
	option(direct, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
	/* The kernel begins to stamp frames a moment after the first socket asks for it. */
	sleep_ms(20);
	clock_gettime(CLOCK_REALTIME, &start);
	for (i = 0; i < burst_count; i++)
		burst_send(bursts[i].direct ? direct : tx, &bursts[i]);
	/* Nothing is read before that: in virtual time a call that has to wait costs time. */
	sleep_ms(wait_ms);
	while (hear(rx, "rx"))
		;
	while (tapped && hear(tap, "tx"))
		;
	printf("end\n");
}

static unsigned char pattern(unsigned long i)
{
	return i * 31 + (i >> 8) * 7;
}

static void tcp_serve(int fd, unsigned long bytes)
{
	static unsigned char buffer[1 << 16];
	unsigned long at = 0, wrong = 0;
	ssize_t n;
	int i;

	fd = accept(fd, NULL, NULL);
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		for (i = 0; i < n; i++)
			wrong += buffer[i] != pattern(at++);
	exit(n || wrong || at != bytes);
}

static void tcp(char **argv)
{
	unsigned long bytes = strtoul(argv[0], NULL, 0), at = 0, n;
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(argv[4])) };
	static unsigned char buffer[1 << 16];
	int fd, status;
	ssize_t done;
	pid_t server;

	if (inet_pton(AF_INET, argv[3], &to.sin_addr) != 1)
		die("address %s", argv[3]);
	enter(argv[2]);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) || listen(fd, 1))
		die("listen on %s", argv[3]);
	server = fork();
	if (!server)
		tcp_serve(fd, bytes);
	close(fd);
	enter(argv[1]);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("connect to %s", argv[3]);
	while (at < bytes) {
		for (n = 0; n < sizeof(buffer) && at + n < bytes; n++)
			buffer[n] = pattern(at + n);
		done = write(fd, buffer, n);
		if (done < 0)
			die("write");
		at += done;
	}
	close(fd);
	if (waitpid(server, &status, 0) != server || status)
		die("the receiver did not get what was sent");
	printf("%lu bytes arrived as sent\n", bytes);
}

int main(int argc, char **argv)
{
	/* Else the kernel lets a sleeper lie 50 us longer. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
	home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (argc == 7 && !strcmp(argv[1], "tcp"))
		tcp(argv + 2);
	else
		raw(argc, argv);
	return 0;
}
