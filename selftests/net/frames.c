// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - frames of which each field is given, and the order in which they come
 *
 *	frames [-l] [-w MS] TX RX < LIST
 *
 * TX and RX are devices, in another network namespace as NAMESPACE/DEVICE. A line of LIST is a
 * name and what makes a frame of it:
 *
 *	NAME [n=N] [wait=NS] [prio=N] [bytes=N] [dst=MAC] [src=MAC] [tag=VID] [type=HEX]
 *	     [from=A to=A [proto=N] [sport=N] [dport=N] [icmp=TYPE] [tos=N] [ttl=N] [ident=N]
 *	      [label=N] [frag=N]] [ports=N]
 *
 * n= is how many of them, ports= how many flows: each with a source port one higher than the last,
 * with n frames of each, one after the other. bytes= is the whole frame (default 100; 60 at
 * least); prio= the socket's priority; type= the EtherType (default 9000); from= and to= make it a
 * packet of IPv4 or IPv6, of UDP (proto=17) if nothing else is said, icmp= the first byte behind
 * the header; frag= the flags and offset of IPv4, with IPv6 those of a fragment header, which is
 * then there. wait= is slept before it. dst= is a broadcast, and src= TX's own address, if not
 * given. With linear= the kernel is to have so many bytes in one piece and the rest in pages; it
 * does so with frames from 4096 bytes on. `#` begins a comment.
 *
 * The lines are sent one after the other, as fast as TX's qdisc takes them; if it refuses one that
 * is the end, but with -l it is lost. MS milliseconds (default 1000) after the last there is a line
 * for each frame that came to RX, in their order:
 *
 *	NAME NUMBER NS BYTES VID
 *
 * NUMBER counts those of a name from 0, NS is the kernel's time of arrival, less that of the
 * first, VID the id of its outermost VLAN tag, or -, which is not in BYTES. Whose frame it is
 * stands in its last bytes, which no switch or router changes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX	65536
#define LINES		1024
#define MAGIC		0x66726d73U
#define BUFFER		(512 << 20)	/* socket memory: in virtual time all may wait at once */
#define TAG_LEN		4

/* The last bytes of a frame */
struct mark {
	uint32_t magic;
	uint32_t line;
	uint32_t number;
} __attribute__((packed));

struct line {
	char		name[32];
	unsigned long	n, wait, prio, bytes, tag, type;
	unsigned long	proto, sport, dport, tos, ttl, ident, label, ports, linear;
	long		icmp, frag;	/* -1: none */
	uint8_t		dst[ETH_ALEN], src[ETH_ALEN];
	uint8_t		from[16], to[16];
	int		family;		/* 0, AF_INET, AF_INET6 */
	uint32_t	sent;
};

static bool lossy;
static struct line lines[LINES];
static unsigned int n_lines;
static uint8_t frame[FRAME_MAX];

/* A packet socket on DEVICE or NAMESPACE/DEVICE. */
static int open_device(const char *name, int protocol, uint8_t *address)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(protocol) };
	const char *device = strchr(name, '/');
	struct ifreq ifr = {};
	int fd, home = -1, space;
	char path[128];

	if (device) {
		snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(device - name), name);
		home = open("/proc/self/ns/net", O_RDONLY);
		space = open(path, O_RDONLY);
		if (home < 0 || space < 0 || setns(space, CLONE_NEWNET))
			err(2, "%s", name);
		close(space);
	}
	device = device ? device + 1 : name;
	fd = socket(AF_PACKET, SOCK_RAW, 0);
	at.sll_ifindex = if_nametoindex(device);
	strncpy(ifr.ifr_name, device, IFNAMSIZ - 1);
	if (fd < 0 || !at.sll_ifindex || ioctl(fd, SIOCGIFHWADDR, &ifr))
		err(2, "%s", name);
	memcpy(address, ifr.ifr_hwaddr.sa_data, ETH_ALEN);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)))
		err(2, "%s: bind", name);
	if (home >= 0 && setns(home, CLONE_NEWNET))
		err(2, "back from %s", name);
	return fd;
}

static void set(int fd, int level, int option, int value)
{
	if (setsockopt(fd, level, option, &value, sizeof(value)))
		err(2, "socket option %d", option);
}

static void read_mac(uint8_t *mac, const char *text)
{
	if (sscanf(text, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", mac, mac + 1, mac + 2, mac + 3, mac + 4,
		   mac + 5) != ETH_ALEN)
		errx(2, "no address: %s", text);
}

static void read_address(struct line *l, uint8_t *address, const char *text)
{
	l->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(l->family, text, address) != 1)
		errx(2, "no address: %s", text);
}

static void read_word(struct line *l, char *word)
{
	const struct {
		const char *key;
		unsigned long *value;
		int base;
	} numbers[] = {
		{ "n", &l->n, 10 }, { "wait", &l->wait, 10 }, { "prio", &l->prio, 0 },
		{ "bytes", &l->bytes, 10 }, { "tag", &l->tag, 10 }, { "type", &l->type, 16 },
		{ "proto", &l->proto, 10 }, { "sport", &l->sport, 10 }, { "dport", &l->dport, 10 },
		{ "tos", &l->tos, 0 }, { "ttl", &l->ttl, 10 }, { "ident", &l->ident, 10 },
		{ "label", &l->label, 10 }, { "ports", &l->ports, 10 },
		{ "linear", &l->linear, 10 },
		{ "frag", (unsigned long *)&l->frag, 0 }, { "icmp", (unsigned long *)&l->icmp, 10 },
	};
	char *value = strchr(word, '='), *end;
	unsigned int i;

	if (!value)
		errx(2, "what is %s?", word);
	*value++ = 0;
	if (!strcmp(word, "dst")) {
		read_mac(l->dst, value);
		return;
	}
	if (!strcmp(word, "src")) {
		read_mac(l->src, value);
		return;
	}
	if (!strcmp(word, "from") || !strcmp(word, "to")) {
		read_address(l, *word == 'f' ? l->from : l->to, value);
		return;
	}
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(word, numbers[i].key))
			break;
	if (i == sizeof(numbers) / sizeof(*numbers))
		errx(2, "what is %s?", word);
	*numbers[i].value = strtoul(value, &end, numbers[i].base);
	if (end == value || *end)
		errx(2, "no number: %s=%s", word, value);
}

static void read_list(const uint8_t *own)
{
	char text[512], *word, *rest;
	struct line *l;

	while (fgets(text, sizeof(text), stdin)) {
		word = strtok_r(text, " \t\n", &rest);
		if (!word || *word == '#')
			continue;
		if (n_lines == LINES)
			errx(2, "too many lines");
		l = &lines[n_lines++];
		*l = (struct line) { .n = 1, .bytes = 100, .type = 0x9000, .proto = IPPROTO_UDP,
				     .sport = 6000, .dport = 7000, .ttl = 64, .ports = 1,
				     .icmp = -1, .frag = -1 };
		memset(l->dst, 0xff, ETH_ALEN);
		memcpy(l->src, own, ETH_ALEN);
		snprintf(l->name, sizeof(l->name), "%s", word);
		while ((word = strtok_r(NULL, " \t\n", &rest)))
			read_word(l, word);
		if (l->bytes < ETH_ZLEN || l->bytes > FRAME_MAX || l->linear > l->bytes)
			errx(2, "%s: no such frame", l->name);
	}
}

static uint16_t check_sum(const uint8_t *p, size_t len)
{
	uint32_t sum = 0;

	for (; len; p += 2, len -= 2)
		sum += p[0] << 8 | p[1];
	sum = (sum >> 16) + (sum & 0xffff);
	return ~(sum + (sum >> 16));
}

static uint8_t *put16(uint8_t *p, unsigned int value)
{
	*p++ = value >> 8;
	*p++ = value;
	return p;
}

/* Network header and what is behind it: @len bytes in all */
static uint8_t *put_ip(uint8_t *p, const struct line *l, size_t len)
{
	struct ip6_hdr six = { .ip6_plen = htons(len - sizeof(six)), .ip6_hlim = l->ttl,
			       .ip6_nxt = l->frag < 0 ? l->proto : IPPROTO_FRAGMENT };
	struct ip6_frag part = { .ip6f_nxt = l->proto, .ip6f_offlg = htons(l->frag),
				 .ip6f_ident = htonl(l->ident) };
	struct iphdr four = { .version = 4, .ihl = 5, .tos = l->tos, .tot_len = htons(len),
			      .id = htons(l->ident), .frag_off = htons(l->frag < 0 ? 0 : l->frag),
			      .ttl = l->ttl, .protocol = l->proto };

	if (l->family == AF_INET) {
		memcpy(&four.saddr, l->from, sizeof(four.saddr));
		memcpy(&four.daddr, l->to, sizeof(four.daddr));
		four.check = htons(check_sum((const uint8_t *)&four, sizeof(four)));
		memcpy(p, &four, sizeof(four));
		return p + sizeof(four);
	}
	six.ip6_flow = htonl(6U << 28 | l->tos << 20 | l->label);
	memcpy(&six.ip6_src, l->from, sizeof(six.ip6_src));
	memcpy(&six.ip6_dst, l->to, sizeof(six.ip6_dst));
	memcpy(p, &six, sizeof(six));
	p += sizeof(six);
	if (l->frag < 0)
		return p;
	memcpy(p, &part, sizeof(part));
	return p + sizeof(part);
}

static void make(const struct line *l, unsigned int flow)
{
	struct mark mark = { htonl(MAGIC), htonl(l - lines), htonl(l->sent) };
	uint8_t *p = frame;

	memset(frame, 0, l->bytes);
	memcpy(p, l->dst, ETH_ALEN);
	memcpy(p + ETH_ALEN, l->src, ETH_ALEN);
	p += 2 * ETH_ALEN;
	if (l->tag)
		p = put16(put16(p, ETH_P_8021Q), l->tag);
	p = put16(p, !l->family ? l->type : l->family == AF_INET ? ETH_P_IP : ETH_P_IPV6);
	if (l->family) {
		p = put_ip(p, l, frame + l->bytes - p);
		if (l->icmp >= 0) {
			*p = l->icmp;
		} else {
			put16(put16(p, l->sport + flow), l->dport);
			put16(p + 4, frame + l->bytes - p);	/* of UDP */
		}
	}
	if (p + 8 + sizeof(mark) > frame + l->bytes)
		errx(2, "%s: too short for what is in it", l->name);
	memcpy(frame + l->bytes - sizeof(mark), &mark, sizeof(mark));
}

static void send_line(int fd, struct line *l)
{
	struct timespec wait = { l->wait / 1000000000, l->wait % 1000000000 };
	struct virtio_net_hdr lies = { .hdr_len = l->linear };
	struct iovec parts[] = { { &lies, sizeof(lies) }, { frame, l->bytes } };
	const struct iovec *from = l->linear ? parts : parts + 1;
	int n = l->linear ? 2 : 1;
	unsigned long flow, i;
	ssize_t all;

	if (l->wait)
		nanosleep(&wait, NULL);
	all = l->bytes + (l->linear ? sizeof(lies) : 0);
	set(fd, SOL_SOCKET, SO_PRIORITY, l->prio);
	set(fd, SOL_PACKET, PACKET_VNET_HDR, !!l->linear);
	for (flow = 0; flow < l->ports; flow++) {
		for (i = 0; i < l->n; i++, l->sent++) {
			make(l, flow);
			if (writev(fd, from, n) != all && !(lossy && errno == ENOBUFS))
				err(2, "%s", l->name);
		}
	}
}

/* What the kernel says of a frame besides its bytes */
static void read_control(struct msghdr *msg, struct timespec *when, int *vid)
{
	struct tpacket_auxdata aux;
	struct cmsghdr *c;

	*when = (struct timespec) {};
	*vid = -1;
	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS)
			memcpy(when, CMSG_DATA(c), sizeof(*when));
		if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
			continue;
		memcpy(&aux, CMSG_DATA(c), sizeof(aux));
		if (aux.tp_status & TP_STATUS_VLAN_VALID)
			*vid = aux.tp_vlan_tci & 0xfff;
	}
}

/* Prints one that came. Return: false if there are no more. */
static bool receive(int fd)
{
	char control[CMSG_SPACE(sizeof(struct timespec)) + 256];
	struct iovec iov = { frame, sizeof(frame) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	static int64_t first;
	struct timespec when;
	char tag[16] = "-";
	struct mark mark;
	ssize_t len;
	int64_t ns;
	int vid;

	len = recvmsg(fd, &msg, MSG_DONTWAIT);
	if (len < 0)
		return false;
	if (len < ETH_ZLEN)
		return true;
	memcpy(&mark, frame + len - sizeof(mark), sizeof(mark));
	if (ntohl(mark.magic) != MAGIC || ntohl(mark.line) >= n_lines)
		return true;
	read_control(&msg, &when, &vid);
	if (vid >= 0)
		snprintf(tag, sizeof(tag), "%d", vid);
	ns = when.tv_sec * 1000000000LL + when.tv_nsec;
	if (!first)
		first = ns;
	printf("%s %u %lld %zd %s\n", lines[ntohl(mark.line)].name, ntohl(mark.number),
	       (long long)(ns - first), len, tag);
	return true;
}

int main(int argc, char **argv)
{
	unsigned long ms = 1000;
	uint8_t own[ETH_ALEN], far[ETH_ALEN];
	int tx, rx, option;
	unsigned int i;

	while ((option = getopt(argc, argv, "lw:")) != -1) {
		if (option == 'l') {
			lossy = true;
			continue;
		}
		if (option != 'w')
			errx(2, "usage: frames [-l] [-w MS] TX RX < LIST");
		ms = strtoul(optarg, NULL, 10);
	}
	if (argc - optind != 2)
		errx(2, "usage: frames [-l] [-w MS] TX RX < LIST");
	tx = open_device(argv[optind], 0, own);
	rx = open_device(argv[optind + 1], ETH_P_ALL, far);
	set(tx, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER);
	set(rx, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER);
	set(rx, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	set(rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
	set(rx, SOL_PACKET, PACKET_AUXDATA, 1);
	read_list(own);
	for (i = 0; i < n_lines; i++)
		send_line(tx, &lines[i]);
	nanosleep(&(struct timespec) { ms / 1000, ms % 1000 * 1000000 }, NULL);
	while (receive(rx))
		;
	return 0;
}
