// SPDX-License-Identifier: GPL-2.0-only
/*
 * replay.c - congestion notification packets that are kept and played again, as they were
 *
 *	replay keep DEV FILE			keeps those that come in by DEV, until it is ended
 *	replay send DEV FILE [OPTION=VALUE]...	sends what FILE has kept
 *
 *	first=N		from the Nth frame on, of the last ones if negative (1)
 *	n=N		so many (all)
 *	gap=NS		between them: sleeps (0)
 *	times=N		all of it so often (1)
 *
 * Knows nothing of what they say, so that it works with every version. Prints how many were sent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pcap.h"

#define FRAME_MAX	2048
#define FRAMES_MAX	65536
#define ICMP_CNP	253
#define ICMPV6_CNP	200

static bool is_cnp(const unsigned char *p, size_t len)
{
	unsigned int type, at;

	if (len < ETH_HLEN + 41)
		return false;
	type = p[12] << 8 | p[13];
	p += ETH_HLEN;
	at = (p[0] & 0xf) * 4;
	if (type == ETH_P_IP)
		return p[9] == IPPROTO_ICMP && at <= 40 && p[at] == ICMP_CNP;
	return type == ETH_P_IPV6 && p[6] == IPPROTO_ICMPV6 && p[40] == ICMPV6_CNP;
}

static int packet_socket(const char *dev)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), room = 8 << 20;

	a.sll_ifindex = if_nametoindex(dev);
	if (fd < 0 || !a.sll_ifindex || bind(fd, (struct sockaddr *)&a, sizeof(a)))
		err(2, "%s", dev);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return fd;
}

static void keep(const char *dev, const char *path)
{
	static unsigned char frame[FRAME_MAX];
	static const struct timespec never;
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	int fd = packet_socket(dev);
	FILE *file = pcap_create(path);
	ssize_t len;

	fflush(file);
	while ((len = recvfrom(fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &size)) > 0) {
		if (from.sll_pkttype != PACKET_OUTGOING && is_cnp(frame, len)) {
			pcap_put(file, &never, frame, len);
			fflush(file);
		}
		size = sizeof(from);
	}
	err(2, "%s", dev);
}

static long long option(char **argv, const char *name, long long otherwise)
{
	size_t len = strlen(name);

	for (; *argv; argv++)
		if (!strncmp(*argv, name, len) && (*argv)[len] == '=')
			return strtoll(*argv + len + 1, NULL, 0);
	return otherwise;
}

static void play(const char *dev, const char *path, char **argv)
{
	long long first = option(argv, "first", 1), n = option(argv, "n", FRAMES_MAX);
	long long gap = option(argv, "gap", 0), times = option(argv, "times", 1);
	const struct timespec pause = { gap / 1000000000, gap % 1000000000 };
	static unsigned char frames[FRAMES_MAX][FRAME_MAX];
	static size_t len[FRAMES_MAX];
	FILE *file = pcap_open(path);
	long long count = 0, sent = 0, i;
	int fd = packet_socket(dev);

	prctl(PR_SET_TIMERSLACK, 1);
	while (count < FRAMES_MAX && pcap_get(file, frames[count], FRAME_MAX, &len[count]))
		count++;
	first = first < 0 ? count + first : first - 1;
	for (; times > 0; times--) {
		for (i = first < 0 ? 0 : first; i < count && i < first + n; i++) {
			sent += send(fd, frames[i], len[i], 0) == (ssize_t)len[i];
			if (gap)
				nanosleep(&pause, NULL);
		}
	}
	printf("%lld\n", sent);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "keep"))
		keep(argv[2], argv[3]);
	else if (argc >= 4 && !strcmp(argv[1], "send"))
		play(argv[2], argv[3], argv + 4);
	else
		errx(2, "replay keep|send DEV FILE [OPTION=VALUE]...");
	return 0;
}
