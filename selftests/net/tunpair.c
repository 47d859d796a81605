// SPDX-License-Identifier: GPL-2.0-only
/*
 * tunpair - a cable made of two tun or tap devices
 *
 *	tunpair tun|tap NETNS DEV NETNS DEV [queues]
 *
 * Makes a device in each of the two network namespaces and hands over to each what the other one
 * sends, until it is killed, when they vanish. With `queues` they have as many transmit queues as
 * such a device can have, and one of them is in use.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int open_in(const char *netns, const char *dev, short flags)
{
	struct ifreq ifr = { .ifr_flags = flags | IFF_NO_PI };
	char path[256];
	int ns, fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		err(2, "network namespace %s", netns);
	close(ns);
	fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		err(2, "/dev/net/tun");
	strncpy(ifr.ifr_name, dev, IFNAMSIZ - 1);
	if (ioctl(fd, TUNSETIFF, &ifr))
		err(2, "device %s", dev);
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	static char packet[1 << 16];
	short flags;
	ssize_t len;

	if (argc < 6)
		errx(2, "usage: tunpair tun|tap NETNS DEV NETNS DEV [queues]");
	flags = strcmp(argv[1], "tap") ? IFF_TUN : IFF_TAP;
	if (argc > 6)
		flags |= IFF_MULTI_QUEUE;
	for (int i = 0; i < 2; i++)
		fds[i].fd = open_in(argv[2 + 2 * i], argv[3 + 2 * i], flags);
	while (poll(fds, 2, -1) > 0)
		for (int i = 0; i < 2; i++) {
			len = read(fds[i].fd, packet, sizeof(packet));
			/* a device that is down takes nothing, which is what a cable does, too */
			if (len > 0 && write(fds[!i].fd, packet, len) < 0)
				continue;
		}
	err(2, "poll");
}
