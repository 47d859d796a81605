// SPDX-License-Identifier: GPL-2.0-only
/*
 * end.c - endpoints: sockets, routes, packets, life
 *
 * An endpoint is an address of a network namespace. Its UDP socket only receives, by the hook for
 * encapsulations; packets are made here and handed to IP as tunnels do it, without a socket. So
 * a qdisc tells flows apart by their headers, as a switch does.
 *
 * A packet has its headers in the linear part and its payload in a page of zeros that all packets
 * share. Its UDP checksum is left to the card, and a virtual card leaves it undone until somebody
 * needs it: `wire` fills it in before it flips a bit, so that the receiver drops the packet as it
 * would on a real line.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <net/udp.h>

#include "flowgen.h"

#define FG_HEADROOM	32	/* for tags that are put on below */

static struct page *fg_zeros;

static __be32 fg_address4(const struct in6_addr *address)
{
	return address->s6_addr32[3];
}

/**
 * fg_end_overhead - headers of a packet
 * @end: an end of the flow
 *
 * Return: bytes that IP sees of a packet without payload.
 */
u32 fg_end_overhead(const struct fg_end *end)
{
	return (end->family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr)) +
	       sizeof(struct udphdr) + GBN_HEADER_BYTES + fg_cc_bytes(end->run->config.law);
}

static struct dst_entry *fg_route4(const struct fg_end *end, const struct fg_end *to, u16 port)
{
	struct flowi4 fl4 = {
		.saddr = fg_address4(&end->address),
		.daddr = fg_address4(&to->address),
		.flowi4_proto = IPPROTO_UDP,
		.fl4_sport = htons(port),
		.fl4_dport = htons(end->run->config.port),
	};
	struct rtable *rt = ip_route_output_key(end->net, &fl4);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *fg_route6(const struct fg_end *end, const struct fg_end *to, u16 port,
				   u32 *cookie)
{
	struct flowi6 fl6 = {
		.saddr = end->address,
		.daddr = to->address,
		.flowi6_proto = IPPROTO_UDP,
		.fl6_sport = htons(port),
		.fl6_dport = htons(end->run->config.port),
	};
	struct dst_entry *dst;

	dst = ipv6_stub->ipv6_dst_lookup_flow(end->net, end->sock->sk, &fl6, NULL);
	if (IS_ERR(dst))
		return NULL;
	*cookie = rt6_get_cookie((struct rt6_info *)dst);
	return dst;
}
#else
static struct dst_entry *fg_route6(const struct fg_end *end, const struct fg_end *to, u16 port,
				   u32 *cookie)
{
	return NULL;
}
#endif

/**
 * fg_end_route - find a route
 * @end: from here, not dead
 * @to: to there
 * @port: source port of UDP
 * @cookie: for dst_check()
 *
 * Return: the route, with a reference, or NULL.
 */
struct dst_entry *fg_end_route(const struct fg_end *end, const struct fg_end *to, u16 port,
			       u32 *cookie)
{
	struct dst_entry *dst;

	*cookie = 0;
	dst = end->family == AF_INET ? fg_route4(end, to, port) :
				       fg_route6(end, to, port, cookie);
	if (dst && dst->error) {
		dst_release(dst);
		return NULL;
	}
	return dst;
}

static void fg_put_udp(struct sk_buff *skb, const struct fg_end *end, const struct fg_end *to,
		       u16 port)
{
	u32 len = skb->len - skb_transport_offset(skb);
	struct udphdr *uh = udp_hdr(skb);

	uh->source = htons(port);
	uh->dest = htons(end->run->config.port);
	uh->len = htons(len);
	if (end->family == AF_INET)
		uh->check = ~udp_v4_check(len, fg_address4(&end->address),
					  fg_address4(&to->address), 0);
	else
		uh->check = ~udp_v6_check(len, &end->address, &to->address, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* The total length and the checksum are filled in by ip_local_out(). */
static void fg_put_ip4(struct sk_buff *skb, const struct fg_end *end, const struct fg_end *to,
		       u8 class, u8 ecn, const struct dst_entry *dst)
{
	struct iphdr *ip = ip_hdr(skb);

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = class << 5 | ecn;
	ip->id = 0;	/* never fragmented: see RFC 6864 */
	ip->frag_off = htons(IP_DF);
	ip->ttl = ip4_dst_hoplimit(dst);
	ip->protocol = IPPROTO_UDP;
	ip->saddr = fg_address4(&end->address);
	ip->daddr = fg_address4(&to->address);
}

#if IS_ENABLED(CONFIG_IPV6)
static void fg_put_ip6(struct sk_buff *skb, const struct fg_end *end, const struct fg_end *to,
		       u8 class, u8 ecn, const struct dst_entry *dst)
{
	struct ipv6hdr *ip = ipv6_hdr(skb);

	ip6_flow_hdr(ip, class << 5 | ecn, 0);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = ip6_dst_hoplimit((struct dst_entry *)dst);
	ip->saddr = end->address;
	ip->daddr = to->address;
}
#else
static void fg_put_ip6(struct sk_buff *skb, const struct fg_end *end, const struct fg_end *to,
		       u8 class, u8 ecn, const struct dst_entry *dst)
{
}
#endif

/**
 * fg_end_packet - make a packet
 * @end: from here, not dead
 * @to: to there
 * @port: source port
 * @class: of the packet
 * @dst: route, not held by the packet: send it in the same RCU read-side section
 * @h: its header
 * @records: what stands behind that if the run has telemetry, NULL: empty records
 * @payload: bytes of zeros behind all of it
 *
 * With congestion control by CNPs data may be marked on its way.
 *
 * Return: the packet, or NULL.
 */
struct sk_buff *fg_end_packet(const struct fg_end *end, const struct fg_end *to, u16 port,
			      u8 class, const struct dst_entry *dst, const struct gbn_header *h,
			      const u8 *records, u32 payload)
{
	const struct fg_cc *law = end->run->config.law;
	u32 room = LL_RESERVED_SPACE(dst->dev) + FG_HEADROOM, ip_len;
	u8 ecn = law && law->cnp && h->type == GBN_DATA ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT;
	struct sk_buff *skb;

	ip_len = end->family == AF_INET ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	skb = alloc_skb(room + fg_end_overhead(end), GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_reset_network_header(skb);
	skb_set_transport_header(skb, ip_len);
	skb_put(skb, ip_len + sizeof(struct udphdr));
	gbn_encode(skb_put(skb, GBN_HEADER_BYTES), h);
	if (records)
		skb_put_data(skb, records, fg_cc_bytes(law));
	else
		skb_put_zero(skb, fg_cc_bytes(law));
	if (payload) {
		get_page(fg_zeros);
		skb_add_rx_frag(skb, 0, fg_zeros, 0, payload, payload);
	}
	fg_put_udp(skb, end, to, port);
	if (end->family == AF_INET)
		fg_put_ip4(skb, end, to, class, ecn, dst);
	else
		fg_put_ip6(skb, end, to, class, ecn, dst);
	skb->priority = class;
	skb_dst_set_noref(skb, (struct dst_entry *)dst);
	return skb;
}

/**
 * fg_end_output - send a packet
 * @end: from here; its namespace is there
 * @skb: the packet
 *
 * Return: 0, or what came in the way: the packet was dropped at once.
 */
int fg_end_output(const struct fg_end *end, struct sk_buff *skb)
{
	int err;

#if IS_ENABLED(CONFIG_IPV6)
	if (end->family == AF_INET6)
		err = ip6_local_out(end->net, NULL, skb);
	else
#endif
		err = ip_local_out(end->net, NULL, skb);
	/* a macro that names its argument twice */
	return net_xmit_eval(err);
}

/**
 * fg_end_sockaddr - an endpoint as a socket address
 * @end: the endpoint
 * @port: of UDP or TCP
 * @address: where to
 *
 * Return: its length.
 */
int fg_end_sockaddr(const struct fg_end *end, u16 port, struct sockaddr_storage *address)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *sin = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (end->family == AF_INET) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		sin->sin_addr.s_addr = fg_address4(&end->address);
		return sizeof(*sin);
	}
	sin6->sin6_family = AF_INET6;
	sin6->sin6_port = htons(port);
	sin6->sin6_addr = end->address;
	return sizeof(*sin6);
}

/**
 * fg_end_zeros - FLOWGEN_PAYLOAD_MAX bytes of zeros
 *
 * Return: where they are.
 */
void *fg_end_zeros(void)
{
	return page_address(fg_zeros);
}

static int fg_end_bind(struct fg_end *end, const char **why)
{
	struct sockaddr_storage address;
	int err, len;

	len = fg_end_sockaddr(end, end->run->config.port, &address);
	err = kernel_bind(end->sock, (struct sockaddr *)&address, len);
	*why = err == -EADDRINUSE ? "address and port are in use" :
				    "not an address of this namespace";
	return err;
}

static int fg_end_open(struct fg_end *end, const char **why)
{
	const struct fg_transport *transport = end->run->transport;
	int err;

	*why = "no socket of this address family";
	err = sock_create_kern(end->net, end->family, transport->socket, transport->protocol,
			       &end->sock);
	if (err)
		return err;
	if (transport->socket == SOCK_STREAM)
		sock_set_reuseaddr(end->sock->sk);
	err = fg_end_bind(end, why);
	if (err)
		return err;
	*why = "the socket cannot receive";
	return transport->end_open(end);
}

static void fg_end_release_sock(struct fg_end *end)
{
	if (end->sock)
		sock_release(end->sock);
	end->sock = NULL;
}

/**
 * fg_end_new - make an endpoint
 * @run: of this run
 * @number: in the trace, not taken
 * @net: namespace
 * @family: AF_INET or AF_INET6
 * @address: of the namespace
 * @line: line rate, bytes/s, if the run has congestion control
 * @why: what was wrong
 *
 * Context: fg_mutex.
 * Return: the endpoint, or an error.
 */
struct fg_end *fg_end_new(struct fg_run *run, u32 number, struct net *net, u8 family,
			  const struct in6_addr *address, u64 line, const char **why)
{
	struct fg_end *end;
	int err;

	*why = "no memory";
	end = kzalloc(sizeof(*end), GFP_KERNEL);
	if (!end)
		return ERR_PTR(-ENOMEM);
	kref_init(&end->ref);
	end->number = number;
	end->family = family;
	end->run = run;
	end->net = net;
	end->address = *address;
	end->law_config = run->config.law_config;
	if (run->config.law)
		run->config.law->set(&end->law_config, line);
	spin_lock_init(&end->lock);
	INIT_LIST_HEAD(&end->ready);
	INIT_LIST_HEAD(&end->timed);
	timerqueue_init_head(&end->paced);
	init_llist_head(&end->returned);
	err = fg_end_open(end, why);
	if (err) {
		if (end->sock)
			run->transport->end_detach(end);
		fg_end_release_sock(end);
		/* a packet may have come by the socket */
		kfree_rcu(end, rcu);
		return ERR_PTR(err);
	}
	__module_get(THIS_MODULE);
	return end;
}

/**
 * fg_end_close - send and receive no more
 * @end: the endpoint
 *
 * A grace period later nobody of those who look at it under RCU is left, and fg_end_reap() may
 * follow.
 *
 * Context: fg_mutex.
 */
void fg_end_close(struct fg_end *end)
{
	spin_lock_bh(&end->lock);
	WRITE_ONCE(end->dead, true);
	spin_unlock_bh(&end->lock);
	if (end->sock)
		end->run->transport->end_detach(end);
}

/**
 * fg_end_reap - give up the flows from here
 * @end: closed a grace period ago
 *
 * Context: fg_mutex.
 */
void fg_end_reap(struct fg_end *end)
{
	if (end->run->transport->end_reap)
		end->run->transport->end_reap(end);
	fg_end_release_sock(end);
	end->net = NULL;
}

static void fg_end_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct fg_end, rcu));
	module_put(THIS_MODULE);
}

static void fg_end_release(struct kref *ref)
{
	call_rcu(&container_of(ref, struct fg_end, ref)->rcu, fg_end_free);
}

/**
 * fg_end_put - let go of an endpoint
 * @end: the endpoint
 *
 * Context: any, so it may be the last packet's.
 */
void fg_end_put(struct fg_end *end)
{
	kref_put(&end->ref, fg_end_release);
}

/**
 * fg_end_init - the page of zeros
 *
 * Return: 0 or -ENOMEM.
 */
int __init fg_end_init(void)
{
	fg_zeros = alloc_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP,
			       get_order(FLOWGEN_PAYLOAD_MAX));
	return fg_zeros ? 0 : -ENOMEM;
}

/**
 * fg_end_exit - let go of the page; packets that have it keep it
 */
void fg_end_exit(void)
{
	put_page(fg_zeros);
}
