// SPDX-License-Identifier: GPL-2.0-only
/*
 * gsoloop ADDRESS N DATAGRAMS BYTES: N UDP GSO packets of so many datagrams of BYTES each, from 16
 * ports in turn. Prints N and the time that they took, in ns.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif
#define SOCKETS		16

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(9) };
	static const char data[65536];
	int sock[SOCKETS], i, n, count, size;
	long long began;

	if (argc != 5 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(2, "usage: gsoloop ADDRESS N DATAGRAMS BYTES");
	n = atoi(argv[2]);
	count = atoi(argv[3]);
	size = atoi(argv[4]);
	if (n < 1 || count < 1 || size < 1 || count > (int)sizeof(data) / size)
		errx(2, "a packet of %s datagrams of %s bytes cannot be", argv[3], argv[4]);
	for (i = 0; i < SOCKETS; i++) {
		sock[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (sock[i] < 0 ||
		    setsockopt(sock[i], IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) ||
		    connect(sock[i], (struct sockaddr *)&to, sizeof(to)))
			err(1, "socket");
	}
	began = now();
	for (i = 0; i < n; i++)
		if (send(sock[i % SOCKETS], data, count * size, 0) < 0)
			err(1, "send");
	printf("%d %lld\n", n, now() - began);
	return 0;
}
