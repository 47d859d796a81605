// SPDX-License-Identifier: GPL-2.0-only
/*
 * rxtimes: when frames arrive at a device, in nanoseconds.
 *
 *	rxtimes DEVICE COUNT
 *
 * Says "ready" on a line, then prints for each of COUNT IPv4 frames the time since the one
 * before, as the kernel stamped them, the first against zero. Gives up after 5 s without a
 * frame. For the self-test of the virtual clock: a capture program would read the clock itself.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static int open_socket(const char *device)
{
	struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(device),
	};
	int room = 64 << 20, on = 1, fd;

	fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	if (fd < 0 || !addr.sll_ifindex || bind(fd, (void *)&addr, sizeof(addr)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on))) {
		fprintf(stderr, "rxtimes: %s: %s\n", device, strerror(errno));
		exit(1);
	}
	return fd;
}

/* The stamp of the next frame, or -1 if none comes */
static long long next_stamp(int fd)
{
	char frame[64], control[256];
	struct iovec iov = { .iov_base = frame, .iov_len = sizeof(frame) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	struct timespec ts;

	if (recvmsg(fd, &msg, 0) < 0)
		return -1;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		return ts.tv_sec * 1000000000LL + ts.tv_nsec;
	}
	return -1;
}

int main(int argc, char **argv)
{
	long long last = 0, now;
	long left;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: rxtimes DEVICE COUNT\n");
		return 2;
	}
	fd = open_socket(argv[1]);
	puts("ready");
	fflush(stdout);
	for (left = atol(argv[2]); left > 0; left--) {
		now = next_stamp(fd);
		if (now < 0) {
			fprintf(stderr, "rxtimes: %ld frames did not come\n", left);
			return 1;
		}
		printf("%lld\n", now - last);
		last = now;
	}
	return 0;
}
