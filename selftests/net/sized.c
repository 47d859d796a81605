// SPDX-License-Identifier: GPL-2.0-only
/*
 * sized - datagrams that say how much of their flow is left, for qdiscs that go by it
 *
 *	sized send ADDRESS [N*]FLOW:BYTES:LEFT[:DSCP]...
 *
 * sends one from source port FLOW, of BYTES of payload (at least 16), with so much left; with N*
 * so many, whose LEFT goes down by BYTES. LEFT `-`: to a port where nobody looks for it.
 *
 *	sized many ADDRESS FLOWS ROUNDS
 *
 * sends datagrams of 16 bytes, in turn, from source ports from 10000 on.
 *
 *	sized sink N MILLISECONDS
 *
 * prints "FLOW BYTES" of each of N in order of arrival.
 *
 * To port 4790, where a number of 32 bits at byte 12 says what is left, or to 4791. The sink takes
 * both, in the order of arrival, and ends with status 1 if nothing came for so long.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT	4790

static int flow_socket(unsigned int flow)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_port = htons(flow) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0), size = 1 << 26, on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)))
		err(2, "socket of flow %u", flow);
	return fd;
}

static void put(int fd, const char *address, size_t bytes, unsigned int left, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	unsigned int field = htonl(left);
	static char data[65536];

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1 || bytes < 16 || bytes > sizeof(data))
		errx(2, "%s is no address, or %zu no length", address, bytes);
	memcpy(data + 12, &field, sizeof(field));
	if (sendto(fd, data, bytes, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(2, "sendto");
}

static int send_words(int argc, char **argv)
{
	unsigned int flow, bytes, count, left, dscp;
	char word[32], *at;
	int fd, tos;

	for (int i = 3; i < argc; i++) {
		at = strchr(argv[i], '*');
		count = at ? atoi(argv[i]) : 1;
		dscp = 0;
		if (sscanf(at ? at + 1 : argv[i], "%u:%u:%31[^:]:%u", &flow, &bytes, word, &dscp) < 3)
			errx(2, "what is %s?", argv[i]);
		left = strtoul(word, NULL, 10);
		fd = flow_socket(flow);
		tos = dscp << 2;
		if (setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos)))
			err(2, "DSCP of %s", argv[i]);
		for (; count; count--, left -= bytes)
			put(fd, argv[2], bytes, left, PORT + (*word == '-'));
		close(fd);
	}
	return 0;
}

static int send_many(char **argv)
{
	int fd;

	for (int round = 0; round < atoi(argv[4]); round++) {
		for (int flow = 0; flow < atoi(argv[3]); flow++) {
			fd = flow_socket(10000 + flow);
			put(fd, argv[2], 16, 1, PORT);
			close(fd);
		}
	}
	return 0;
}

/* A raw socket sees both ports, and packets of both in their order. */
static int sink(char **argv)
{
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_UDP), size = 1 << 27, wanted = atoi(argv[2]);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static char data[65536];
	struct udphdr *udp;
	ssize_t len;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err(2, "socket");
	while (wanted) {
		if (poll(&p, 1, atoi(argv[3])) <= 0)
			return 1;
		len = recv(fd, data, sizeof(data), 0);
		udp = (void *)(data + 4 * ((struct iphdr *)data)->ihl);
		if (len < (char *)(udp + 1) - data || (ntohs(udp->dest) & ~1) != PORT)
			continue;
		printf("%u %zu\n", ntohs(udp->source), ntohs(udp->len) - sizeof(*udp));
		wanted--;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && !strcmp(argv[1], "send"))
		return send_words(argc, argv);
	if (argc == 5 && !strcmp(argv[1], "many"))
		return send_many(argv);
	if (argc == 4 && !strcmp(argv[1], "sink"))
		return sink(argv);
	errx(2, "usage: sized send|many|sink ...");
}
