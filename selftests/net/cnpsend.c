// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnpsend.c - congestion notification packets made by hand
 *
 *	cnpsend FLOW [OPTION=VALUE]...
 *
 * FLOW is udp|tcp|N,SADDR,SPORT,DADDR,DPORT[,SEQUENCE]: what is quoted, and to SADDR the CNP goes.
 * It is made by the module's own codec and sent by a raw socket, so whoever runs this is an
 * attacker, or a congestion point that the test plays.
 *
 *	rate=KBIT	the fair rate (default 1000000)
 *	from=A		source of the packet (default 192.0.0.8)
 *	point=A		IPv4 address that names the congestion point (default as from)
 *	port=N queue=N	what names it, besides (1, 0)
 *	epoch=N sequence=N	(1, 1)
 *	interval=NS	(0)
 *	key=N tag=N	(0, 0): no tag is computed
 *	ttl=N		(255)
 *	n=N		how many; `steps` adds one to the sequence each time, `ports` to the source
 *			port, `hosts` to DADDR, `flips` flips one bit of the message, another each
 *			time, without a new checksum with `raw`
 *	gap=NS		between them: sleeps (0)
 *	cut=N		only the first N bytes of the message
 *	pad=N		so many zero bytes behind it
 *	version=N	in the message
 *	sum=bad		a wrong checksum
 *
 * Prints how many were sent. IPv4 only: the codec's tests have the other one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../../kernel/rocc/cnp.c"

#define MESSAGE_MAX	2000

static const char *option(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);

	for (int i = 2; i < argc; i++)
		if (!strncmp(argv[i], name, len) && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static bool flag(int argc, char **argv, const char *name)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return false;
}

static unsigned long long number(int argc, char **argv, const char *name,
				 unsigned long long otherwise)
{
	const char *text = option(argc, argv, name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void die(const char *what)
{
	fprintf(stderr, "cnpsend: %s\n", what);
	exit(2);
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
	f->proto = !strcmp(word[0], "udp") ? IPPROTO_UDP : !strcmp(word[0], "tcp") ? IPPROTO_TCP : atoi(word[0]);
	if (inet_pton(AF_INET, word[1], f->saddr) != 1 ||
	    inet_pton(AF_INET, word[3], f->daddr) != 1)
		die("not an IPv4 address");
	port = htons(atoi(word[2]));
	memcpy(f->l4, &port, 2);
	port = htons(atoi(word[4]));
	memcpy(f->l4 + 2, &port, 2);
	seq = htonl(n > 5 ? strtoul(word[5], NULL, 0) : 0);
	memcpy(f->l4 + 4, &seq, 4);
}

static __u16 checksum(const __u8 *p, size_t len)
{
	__u32 sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons(~sum);
}

int main(int argc, char **argv)
{
	unsigned long long n, i, gap, sent = 0, bit = 0;
	__u8 packet[MESSAGE_MAX], *message = packet + sizeof(struct iphdr);
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct iphdr *ip = (struct iphdr *)packet;
	struct cnp cnp = {};
	struct in_addr from;
	const char *text;
	__u16 sum, port;
	__u32 address;
	size_t len;
	int fd;

	if (argc < 2)
		die("which flow?");
	parse_flow(argv[1], &cnp.flow);
	memcpy(&to.sin_addr, cnp.flow.saddr, 4);
	text = option(argc, argv, "from");
	if (inet_pton(AF_INET, text ? text : "192.0.0.8", &from) != 1)
		die("from is no IPv4 address");
	cnp.address[10] = cnp.address[11] = 0xff;
	memcpy(cnp.address + 12, &from, 4);
	text = option(argc, argv, "point");
	if (text && inet_pton(AF_INET, text, cnp.address + 12) != 1)
		die("point is no IPv4 address");
	cnp.rate = number(argc, argv, "rate", 1000000);
	cnp.port = number(argc, argv, "port", 1);
	cnp.queue = number(argc, argv, "queue", 0);
	cnp.epoch = number(argc, argv, "epoch", 1);
	cnp.sequence = number(argc, argv, "sequence", 1);
	cnp.interval = number(argc, argv, "interval", 0);
	cnp.key = number(argc, argv, "key", 0);
	cnp.tag = number(argc, argv, "tag", 0);
	n = number(argc, argv, "n", 1);
	gap = number(argc, argv, "gap", 0);

	prctl(PR_SET_TIMERSLACK, 1);
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0) {
		perror("cnpsend: socket");
		return 2;
	}
	for (i = 0; i < n; i++) {
		memset(packet, 0, sizeof(packet));
		len = cnp_write(message, MESSAGE_MAX - sizeof(*ip), &cnp);
		message[8] = number(argc, argv, "version", ROCC_CNP_VERSION);
		len = number(argc, argv, "cut", len) + number(argc, argv, "pad", 0);
		sum = checksum(message, len);
		memcpy(message + 2, &sum, 2);
		if (option(argc, argv, "sum"))
			message[3] ^= 1;
		if (flag(argc, argv, "flips")) {
			bit = (bit + 1) % (len * 8);
			message[bit / 8] ^= 1 << bit % 8;
			if (!flag(argc, argv, "raw")) {
				message[0] = ROCC_CNP_ICMP;
				message[2] = message[3] = 0;
				sum = checksum(message, len);
				memcpy(message + 2, &sum, 2);
			}
		}
		ip->version = 4;
		ip->ihl = 5;
		ip->ttl = number(argc, argv, "ttl", 255);
		ip->protocol = IPPROTO_ICMP;
		ip->saddr = from.s_addr;
		ip->daddr = to.sin_addr.s_addr;
		ip->tot_len = htons(sizeof(*ip) + len);
		if (sendto(fd, packet, sizeof(*ip) + len, 0, (void *)&to, sizeof(to)) > 0)
			sent++;
		else if (errno != ENOBUFS)
			perror("cnpsend");
		if (flag(argc, argv, "steps"))
			cnp.sequence++;
		if (flag(argc, argv, "ports")) {
			memcpy(&port, cnp.flow.l4, 2);
			port = htons(ntohs(port) + 1);
			memcpy(cnp.flow.l4, &port, 2);
		}
		if (flag(argc, argv, "hosts")) {
			memcpy(&address, cnp.flow.daddr, 4);
			address = htonl(ntohl(address) + 1);
			memcpy(cnp.flow.daddr, &address, 4);
		}
		if (gap) {
			struct timespec t = { gap / 1000000000, gap % 1000000000 };

			nanosleep(&t, NULL);
		}
	}
	printf("%llu\n", sent);
	return 0;
}
