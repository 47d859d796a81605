// SPDX-License-Identifier: GPL-2.0-only
/*
 * gsosend ADDRESS N BYTES: one UDP GSO packet of N datagrams of BYTES each, to port 7000.
 */
#include <arpa/inet.h>
#include <err.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

int main(int argc, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(7000) };
	static const char data[65536];
	int sock, count, size;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1)
		errx(2, "usage: gsosend ADDRESS N BYTES");
	count = atoi(argv[2]);
	size = atoi(argv[3]);
	if (count < 1 || size < 1 || count > (int)sizeof(data) / size)
		errx(2, "a packet of %s datagrams of %s bytes cannot be", argv[2], argv[3]);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || setsockopt(sock, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		err(1, "socket");
	if (sendto(sock, data, count * size, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(1, "sendto");
	return 0;
}
