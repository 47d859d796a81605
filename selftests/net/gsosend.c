// SPDX-License-Identifier: GPL-2.0-only
/*
 * gsosend ADDRESS N BYTES [PORT]: one UDP GSO packet, from PORT to port 7000, of N datagrams of
 * BYTES each. A flow of udpflow's may have PORT, too.
 * gsosend DEV MAC SOURCE PORT ADDRESS BYTES: one datagram of BYTES, from PORT to port 7000, that
 * is to be cut into fragments, as a guest sends it: to MAC, by DEV.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

#define PORT	7000

struct frame {
	struct virtio_net_hdr	offload;
	struct ether_header	ether;
	struct iphdr		ip;
	struct udphdr		udp;
	char			data[60000];
} __attribute__((packed));

/* Of the header, and of what the checksum of the datagram begins with */
static unsigned int sum(const void *data, size_t bytes)
{
	const unsigned char *at = data;
	unsigned int all = 0;

	for (; bytes; bytes -= 2, at += 2)
		all += at[0] << 8 | at[1];
	while (all >> 16)
		all = (all & 0xffff) + (all >> 16);
	return all;
}

static void fragmented(char **arg)
{
	static struct frame frame = {
		.offload = {
			.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_UDP,
			.gso_size = 1480,
			.hdr_len = sizeof(frame.ether) + sizeof(frame.ip) + sizeof(frame.udp),
			.csum_start = sizeof(frame.ether) + sizeof(frame.ip),
			.csum_offset = offsetof(struct udphdr, check),
		},
		.ip = { .version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP },
	};
	struct sockaddr_ll by = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	struct ether_addr *mac = ether_aton(arg[2]);
	int bytes = atoi(arg[6]), sock, on = 1;
	unsigned char pseudo[12];

	by.sll_ifindex = if_nametoindex(arg[1]);
	if (!by.sll_ifindex || !mac || bytes < 1 || bytes > (int)sizeof(frame.data))
		errx(2, "a device, a MAC address and up to %zu bytes", sizeof(frame.data));
	memcpy(frame.ether.ether_dhost, mac, ETH_ALEN);
	frame.ether.ether_type = htons(ETH_P_IP);
	if (inet_pton(AF_INET, arg[3], &frame.ip.saddr) != 1 ||
	    inet_pton(AF_INET, arg[5], &frame.ip.daddr) != 1)
		errx(2, "no address: %s or %s", arg[3], arg[5]);
	frame.ip.tot_len = htons(sizeof(frame.ip) + sizeof(frame.udp) + bytes);
	frame.ip.check = htons(~sum(&frame.ip, sizeof(frame.ip)));
	frame.udp.source = htons(atoi(arg[4]));
	frame.udp.dest = htons(PORT);
	frame.udp.len = htons(sizeof(frame.udp) + bytes);
	memcpy(pseudo, &frame.ip.saddr, 8);
	memcpy(pseudo + 8, (unsigned char[]) { 0, IPPROTO_UDP }, 2);
	memcpy(pseudo + 10, &frame.udp.len, 2);
	frame.udp.check = htons(sum(pseudo, sizeof(pseudo)));
	sock = socket(AF_PACKET, SOCK_RAW, 0);
	if (sock < 0 || setsockopt(sock, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    bind(sock, (struct sockaddr *)&by, sizeof(by)))
		err(1, "packet socket");
	if (send(sock, &frame, offsetof(struct frame, data) + bytes, 0) < 0)
		err(1, "send");
}

static void datagrams(char **arg)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct sockaddr_in from = { .sin_family = AF_INET };
	static const char data[65536];
	int sock, count, size, on = 1;

	if (inet_pton(AF_INET, arg[1], &to.sin_addr) != 1)
		errx(2, "no address: %s", arg[1]);
	count = atoi(arg[2]);
	size = atoi(arg[3]);
	if (count < 1 || size < 1 || count > (int)sizeof(data) / size)
		errx(2, "a packet of %s datagrams of %s bytes cannot be", arg[2], arg[3]);
	sock = socket(AF_INET, SOCK_DGRAM, 0);
	if (sock < 0 || setsockopt(sock, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)) ||
	    setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		err(1, "socket");
	from.sin_port = htons(arg[4] ? atoi(arg[4]) : 0);
	if (bind(sock, (struct sockaddr *)&from, sizeof(from)))
		err(1, "bind");
	if (sendto(sock, data, count * size, 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		err(1, "sendto");
}

int main(int argc, char **argv)
{
	if (argc == 7)
		fragmented(argv);
	else if (argc == 4 || argc == 5)
		datagrams(argv);
	else
		errx(2, "usage: gsosend ADDRESS N BYTES [PORT] | DEV MAC SOURCE PORT ADDRESS BYTES");
	return 0;
}
