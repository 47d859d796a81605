// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnpsend.c - congestion notification packets made by hand
 *
 *	cnpsend FLOW [OPTION=VALUE]...
 *	cnpsend show FILE [sign=HEX]	print what a file has kept
 *
 * FLOW is udp|tcp|N,SADDR,SPORT,DADDR,DPORT[,SEQUENCE]: what is quoted, and to SADDR the CNP goes.
 * It is made by the module's own codec and sent by a raw socket, so whoever runs this is an
 * attacker, or a congestion point that the test plays. Addresses are all of IPv4 or all of IPv6.
 *
 *	rate=KBIT	the fair rate (default 1000000)
 *	from=A		source of the packet (default 192.0.0.8 or fe80::1)
 *	to=A		its destination (default SADDR)
 *	point=A		address that names the congestion point (default as from)
 *	port=N queue=N	what names it, besides (1, 0)
 *	epoch=N sequence=N	(1, 1)
 *	interval=NS gap=NS	(40000, 0)
 *	rate_min=KBIT	(1)
 *	key=N tag=N	(0, 0)
 *	sign=HEX	the tag is that of this key, of 32 digits
 *	state=N,...	code 1: the nine numbers of struct rocc_cnp_queue, in their order
 *	ttl=N		(255)
 *	n=N		how many; `steps` adds one to the sequence each time, `ports` to the source
 *			port, `hosts` to DADDR, `flips` flips one bit of the message, another each
 *			time, without a new checksum with `raw`
 *	sleep=NS	between them (0)
 *	cut=N		only the first N bytes of the message
 *	pad=N		so many zero bytes behind it
 *	version=N	in the message; the tag comes before this and `set`
 *	set=AT:HEX[,AT:HEX]...	bytes of the message, and where: other lies
 *	sum=bad		a wrong checksum
 *	save=FILE	not sent, but kept in a pcap file, as Ethernet frames without time; `vid=N`
 *			gives them a VLAN tag
 *
 * Prints how many were sent. `show` reads CNPs by the module's codec, as a host would, and prints
 * a line for each frame:
 *
 *	NUMBER SOURCE [vid=N] cnp KEY=VALUE... [state KEY=VALUE...] flow KEY=VALUE...
 *	NUMBER SOURCE [vid=N] refused (malformed|version|range)
 *	NUMBER SOURCE [vid=N] data
 *
 * With `sign` there is signed=yes or signed=no behind the tag. Checksums are not looked at, nor is
 * whose flow it is.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../kernel/rocc/cnp.c"
#include "pcap.h"
#include "siphash24.h"

#define MESSAGE_MAX	2000
#define TAKEN_MAX	256	/* HOP_NOTIFICATION_MOST: a host takes no longer one */
#define ROOM		65536

/* The IP packet that a CNP is in */
struct way {
	bool	v6;
	__u8	from[16], to[16];	/* of IPv4 the first 4 bytes */
	__u8	ttl;
};

static char **options;	/* up to a NULL */

static const char *option(const char *name)
{
	size_t len = strlen(name);

	for (char **o = options; *o; o++)
		if (!strncmp(*o, name, len) && (*o)[len] == '=')
			return *o + len + 1;
	return NULL;
}

static bool flag(const char *name)
{
	for (char **o = options; *o; o++)
		if (!strcmp(*o, name))
			return true;
	return false;
}

static unsigned long long number(const char *name, unsigned long long otherwise)
{
	const char *text = option(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void die(const char *what)
{
	fprintf(stderr, "cnpsend: %s\n", what);
	exit(2);
}

static void parse_address(const char *text, bool v6, __u8 *address)
{
	if (inet_pton(v6 ? AF_INET6 : AF_INET, text, address) != 1)
		die(v6 ? "not an IPv6 address" : "not an IPv4 address");
}

static void parse_flow(char *text, struct cnp_flow *f)
{
	char *word[6];
	__u16 port;
	__u32 seq;
	int n = 0;

	for (char *p = strtok(text, ","); p && n < 6; p = strtok(NULL, ","))
		word[n++] = p;
	if (n < 5)
		die("a flow is udp|tcp|N,SADDR,SPORT,DADDR,DPORT[,SEQUENCE]");
	memset(f, 0, sizeof(*f));
	f->proto = !strcmp(word[0], "udp") ? IPPROTO_UDP :
		   !strcmp(word[0], "tcp") ? IPPROTO_TCP : atoi(word[0]);
	f->v6 = strchr(word[1], ':');
	parse_address(word[1], f->v6, f->saddr);
	parse_address(word[3], f->v6, f->daddr);
	port = htons(atoi(word[2]));
	memcpy(f->l4, &port, 2);
	port = htons(atoi(word[4]));
	memcpy(f->l4 + 2, &port, 2);
	seq = htonl(n > 5 ? strtoul(word[5], NULL, 0) : 0);
	memcpy(f->l4 + 4, &seq, 4);
}

static void parse_state(struct cnp *c)
{
	struct cnp_queue *s = &c->state;
	const char *text = option("state");

	if (!text)
		return;
	c->code = ROCC_CNP_QUEUE;
	if (sscanf(text, "%hhu,%u,%llu,%llu,%u,%u,%u,%u,%u", &s->tuning, &s->rate_max, &s->alpha,
		   &s->beta, &s->q_cur, &s->q_old, &s->q_ref, &s->q_mid, &s->q_max) != 9)
		die("state wants nine numbers");
}

/* What the options say of the CNP, whose flow is known, and of the packet that it is in */
static void parse_options(struct cnp *c, struct way *w)
{
	const char *from = option("from"), *to = option("to"), *point = option("point");
	bool v6 = w->v6 = c->flow.v6;

	parse_address(from ? from : v6 ? "fe80::1" : "192.0.0.8", v6, w->from);
	memcpy(w->to, c->flow.saddr, sizeof(w->to));
	if (to)
		parse_address(to, v6, w->to);
	w->ttl = number("ttl", 255);
	memcpy(v6 ? c->address : c->address + 12, w->from, v6 ? 16 : 4);
	if (point)
		parse_address(point, v6, v6 ? c->address : c->address + 12);
	if (!v6)
		c->address[10] = c->address[11] = 0xff;
	c->rate = number("rate", 1000000);
	c->port = number("port", 1);
	c->queue = number("queue", 0);
	c->epoch = number("epoch", 1);
	c->sequence = number("sequence", 1);
	c->interval = number("interval", 40000);
	c->gap = number("gap", 0);
	c->rate_min = number("rate_min", 1);
	c->key = number("key", 0);
	c->tag = number("tag", 0);
	parse_state(c);
}

/* The key of the option `sign`. False: there is none. */
static bool sign_key(__u8 *key)
{
	const char *text = option("sign");

	for (size_t i = 0; text && i < ROCC_KEY_BYTES; i++, text += 2)
		if (sscanf(text, "%2hhx", &key[i]) != 1)
			die("sign wants 32 digits");
	return text;
}

/* The tag, of a message whose checksum and tag are 0 */
static void put_tag(__u8 *message, size_t len)
{
	struct rocc_cnp *head = (struct rocc_cnp *)message;
	__u8 key[ROCC_KEY_BYTES];

	if (sign_key(key))
		head->tag = htobe64(siphash24(message, len, key));
}

/* Is the tag of a message that of the key? */
static bool is_signed(const __u8 *message, size_t len, const __u8 *key)
{
	__u8 copy[TAKEN_MAX];
	struct rocc_cnp *head = (struct rocc_cnp *)copy;
	__u64 tag;

	memcpy(copy, message, len);
	tag = head->tag;
	head->tag = 0;
	head->checksum = 0;
	return tag == htobe64(siphash24(copy, len, key));
}

/* The lies of `set` */
static void set_bytes(__u8 *message)
{
	const char *text = option("set");
	unsigned int at, byte;
	int used;

	while (text && *text) {
		if (sscanf(text, "%u:%n", &at, &used) != 1)
			die("set wants AT:HEX");
		for (text += used; sscanf(text, "%2x", &byte) == 1 && at < MESSAGE_MAX; text += 2)
			message[at++] = byte;
		text += *text == ',';
	}
}

static __u32 sum_up(const __u8 *p, size_t len, __u32 sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	return sum;
}

static __u16 checksum(__u32 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

static void put_checksum(__u8 *message, size_t len, const struct way *w)
{
	__u32 sum = 0;
	__u16 field;

	if (w->v6) {
		sum = sum_up(w->from, 16, len + IPPROTO_ICMPV6);
		sum = sum_up(w->to, 16, sum);
	}
	message[2] = message[3] = 0;
	field = checksum(sum_up(message, len, sum));
	memcpy(message + 2, &field, 2);
}

/* The message, with what the options do to it. Returns its length. */
static size_t write_message(__u8 *message, const struct cnp *c, const struct way *w)
{
	static unsigned long long bit;
	size_t len;

	memset(message, 0, MESSAGE_MAX);
	len = cnp_write(message, MESSAGE_MAX, c);
	put_tag(message, len);
	message[8] = number("version", ROCC_CNP_VERSION);
	set_bytes(message);
	len = number("cut", len) + number("pad", 0);
	if (len > MESSAGE_MAX)
		die("too long");
	put_checksum(message, len, w);
	if (option("sum"))
		message[3] ^= 1;
	if (flag("flips")) {
		bit = (bit + 1) % (len * 8);
		message[bit / 8] ^= 1 << bit % 8;
		if (!flag("raw")) {
			message[0] = w->v6 ? ROCC_CNP_ICMPV6 : ROCC_CNP_ICMP;
			put_checksum(message, len, w);
		}
	}
	return len;
}

/* The IP header before it. Returns its size. */
static size_t write_ip(__u8 *packet, size_t len, const struct way *w)
{
	struct ip6_hdr six = {
		.ip6_flow = htonl(6U << 28), .ip6_plen = htons(len), .ip6_nxt = IPPROTO_ICMPV6,
		.ip6_hlim = w->ttl,
	};
	struct iphdr four = {
		.version = 4, .ihl = 5, .ttl = w->ttl, .protocol = IPPROTO_ICMP,
		.tot_len = htons(sizeof(four) + len),
	};

	if (w->v6) {
		memcpy(&six.ip6_src, w->from, 16);
		memcpy(&six.ip6_dst, w->to, 16);
		memcpy(packet, &six, sizeof(six));
		return sizeof(six);
	}
	memcpy(&four.saddr, w->from, 4);
	memcpy(&four.daddr, w->to, 4);
	four.check = checksum(sum_up((__u8 *)&four, sizeof(four), 0));
	memcpy(packet, &four, sizeof(four));
	return sizeof(four);
}

static int open_socket(bool v6)
{
	int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_RAW);

	prctl(PR_SET_TIMERSLACK, 1);
	if (fd < 0) {
		perror("cnpsend: socket");
		exit(2);
	}
	return fd;
}

static bool send_packet(int fd, const __u8 *packet, size_t len, const struct way *w)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };

	memcpy(&six.sin6_addr, w->to, 16);
	memcpy(&four.sin_addr, w->to, 4);
	if ((w->v6 ? sendto(fd, packet, len, 0, (void *)&six, sizeof(six)) :
		     sendto(fd, packet, len, 0, (void *)&four, sizeof(four))) > 0)
		return true;
	if (errno != ENOBUFS)
		perror("cnpsend");
	return false;
}

static void keep_packet(FILE *file, const __u8 *packet, size_t len, const struct way *w)
{
	static const __u8 macs[] = { 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1 };
	static const struct timespec never;
	__u16 vid = number("vid", 0), type = w->v6 ? ETH_P_IPV6 : ETH_P_IP;
	const __u8 tag[] = { ETH_P_8021Q >> 8, ETH_P_8021Q & 0xff, vid >> 8, vid };
	__u8 frame[ROOM] = {}, *p = frame;

	p = mempcpy(p, macs, sizeof(macs));
	if (option("vid"))
		p = mempcpy(p, tag, sizeof(tag));
	*p++ = type >> 8;
	*p++ = type;
	p = mempcpy(p, packet, len);
	pcap_put(file, &never, frame, p - frame < ETH_ZLEN ? ETH_ZLEN : p - frame);
}

static void show_cnp(const struct cnp *c, const char *is_signed)
{
	const struct cnp_queue *s = &c->state;
	const struct cnp_flow *f = &c->flow;
	int family = f->v6 ? AF_INET6 : AF_INET;
	char text[INET6_ADDRSTRLEN];

	printf(" cnp code=%u rate=%u key=%u queue=%u port=%u address=%s", c->code, c->rate, c->key,
	       c->queue, c->port, inet_ntop(AF_INET6, c->address, text, sizeof(text)));
	printf(" epoch=%llx sequence=%u interval=%u gap=%u rate_min=%u tag=%llx%s", c->epoch,
	       c->sequence, c->interval, c->gap, c->rate_min, c->tag, is_signed);
	if (c->code == ROCC_CNP_QUEUE) {
		printf(" state tuning=%u rate_max=%u alpha=%llu beta=%llu", s->tuning,
		       s->rate_max, s->alpha, s->beta);
		printf(" q_cur=%u q_old=%u q_ref=%u q_mid=%u q_max=%u", s->q_cur, s->q_old,
		       s->q_ref, s->q_mid, s->q_max);
	}
	printf(" flow proto=%u src%s=%s", f->proto, f->v6 ? "6" : "",
	       inet_ntop(family, f->saddr, text, sizeof(text)));
	printf(" dst%s=%s l4=", f->v6 ? "6" : "", inet_ntop(family, f->daddr, text, sizeof(text)));
	for (size_t i = 0; i < sizeof(f->l4); i++)
		printf("%02x", f->l4[i]);
	printf("\n");
}

/* Finds the ICMP message of an IP packet, no longer than IP says. NULL: there is none. */
static const __u8 *find_message(const __u8 *p, size_t *len, bool v6)
{
	size_t header = v6 ? CNP_IPV6_BYTES : CNP_IPV4_BYTES, said;

	if (*len < header)
		return NULL;
	said = p[2] << 8 | p[3];
	if (v6)
		said = header + (p[4] << 8 | p[5]);
	else
		header = (p[0] & 0xf) * 4;
	*len = *len < said ? *len : said;
	if (*len <= header || (v6 ? p[6] != IPPROTO_ICMPV6 : p[9] != IPPROTO_ICMP))
		return NULL;
	*len -= header;
	return p[header] == (v6 ? ROCC_CNP_ICMPV6 : ROCC_CNP_ICMP) ? p + header : NULL;
}

static void show_frame(const __u8 *p, size_t len)
{
	static const char * const why[] = { "", "malformed", "version", "range" };
	const __u8 *end = p + len, *message = NULL;
	enum cnp_error error = CNP_MALFORMED;
	__u8 key[ROCC_KEY_BYTES];
	struct cnp c;
	bool v6;

	printf("%02x:%02x:%02x:%02x:%02x:%02x", p[6], p[7], p[8], p[9], p[10], p[11]);
	p += 2 * ETH_ALEN;
	if (end - p > 6 && (p[0] << 8 | p[1]) == ETH_P_8021Q) {
		printf(" vid=%u", (p[2] << 8 | p[3]) & 0xfff);
		p += 4;
	}
	len = end - p - 2;
	v6 = (p[0] << 8 | p[1]) == ETH_P_IPV6;
	if (v6 || (p[0] << 8 | p[1]) == ETH_P_IP)
		message = find_message(p + 2, &len, v6);
	if (message && len <= TAKEN_MAX)
		error = cnp_parse(message, len, v6, &c);
	if (!message)
		printf(" data\n");
	else if (error != CNP_OK)
		printf(" refused %s\n", why[error]);
	else
		show_cnp(&c, !sign_key(key) ? "" : is_signed(message, len, key) ? " signed=yes" :
			     " signed=no");
}

static void do_show(const char *path)
{
	static __u8 frame[ROOM];
	FILE *file = pcap_open(path);
	unsigned long frames = 0;
	size_t len;

	while (pcap_get(file, frame, sizeof(frame), &len)) {
		printf("%lu ", ++frames);
		if (len < ETH_HLEN)
			die("a frame without an Ethernet header");
		show_frame(frame, len);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	__u8 packet[sizeof(struct ip6_hdr) + MESSAGE_MAX], message[MESSAGE_MAX];
	unsigned long long n, i, gap, sent = 0;
	struct cnp cnp = {};
	struct way way = {};
	FILE *file = NULL;
	size_t head, len;
	__u32 address;
	__u16 port;
	int fd = -1;

	if (argc < 2)
		die("which flow?");
	options = argv + 2;
	if (!strcmp(argv[1], "show") && argc >= 3) {
		do_show(argv[2]);
		return 0;
	}
	parse_flow(argv[1], &cnp.flow);
	parse_options(&cnp, &way);
	n = number("n", 1);
	gap = number("sleep", 0);

	if (option("save"))
		file = pcap_create(option("save"));
	else
		fd = open_socket(way.v6);
	for (i = 0; i < n; i++) {
		len = write_message(message, &cnp, &way);
		head = write_ip(packet, len, &way);
		memcpy(packet + head, message, len);
		if (file)
			keep_packet(file, packet, head + len, &way);
		if (file || send_packet(fd, packet, head + len, &way))
			sent++;
		if (flag("steps"))
			cnp.sequence++;
		if (flag("ports")) {
			memcpy(&port, cnp.flow.l4, 2);
			port = htons(ntohs(port) + 1);
			memcpy(cnp.flow.l4, &port, 2);
		}
		if (flag("hosts")) {
			memcpy(&address, cnp.flow.daddr, 4);
			address = htonl(ntohl(address) + 1);
			memcpy(cnp.flow.daddr, &address, 4);
		}
		if (gap) {
			struct timespec t = { gap / 1000000000, gap % 1000000000 };

			nanosleep(&t, NULL);
		}
	}
	if (file && fclose(file))
		die("the file is not whole");
	printf("%llu\n", sent);
	return 0;
}
