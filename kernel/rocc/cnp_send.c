// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnp_send.c - congestion notification packets on their way to a source (RoCC, section 3.3)
 *
 * A CNP goes back the way that the flow's packets came (way.c). What was bridged came from a port
 * and a MAC address, and to these the CNP goes, with no route and no neighbour: the box needs no
 * address of its own. What was routed is answered by a route. icmp_send() is not used: it limits
 * all of a kernel's messages to 1000 a second, and does not know the type.
 *
 * Everything here runs in the timer of a congestion point, under no lock but RCU.
 */
#include <linux/etherdevice.h>
#include <linux/icmp.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "rocc.h"

#define CNP_ROOM	((ROCC_TAGS + 1) * VLAN_HLEN + sizeof(struct ipv6hdr))

static __be32 rocc_address4(const struct net_device *dev)
{
	const struct in_device *in = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa = in ? rcu_dereference(in->ifa_list) : NULL;

	return ifa ? ifa->ifa_local : 0;
}

/* Of the port, or of the bridge that it belongs to; 0 if there is none */
static __be32 rocc_port_address4(struct net_device *dev)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(dev);
	__be32 address = rocc_address4(dev);

	return address || !master ? address : rocc_address4(master);
}

/* As if the port had made a link-local address of its MAC address (RFC 4291), whether it has one or
 * not: a bridge's port has none.
 */
static void rocc_port_address6(const struct net_device *dev, u8 *address)
{
	memset(address, 0, sizeof(struct in6_addr));
	address[0] = 0xfe;
	address[1] = 0x80;
	addrconf_addr_eui48(address + 8, (const char *)dev->dev_addr);
}

#if IS_ENABLED(CONFIG_IPV6)
/* An address of this box if it has one: only such a CNP passes routers. That of the loopback device
 * is none: whom it comes to from a wire throws it away.
 */
static void rocc_source6(struct net *net, const struct net_device *dev, const u8 *to, u8 *source)
{
	struct in6_addr best, dest;

	memcpy(&dest, to, sizeof(dest));
	if (ipv6_dev_get_saddr(net, NULL, &dest, 0, &best) || ipv6_addr_loopback(&best))
		rocc_port_address6(dev, source);
	else
		memcpy(source, &best, sizeof(best));
}
#else
static void rocc_source6(struct net *net, const struct net_device *dev, const u8 *to, u8 *source)
{
	rocc_port_address6(dev, source);
}
#endif

/**
 * rocc_cp_address - what names a congestion point, with its port and queue
 * @dev: the port
 * @address: 16 bytes: its IPv4 address or its bridge's, mapped, or the link-local one of its MAC
 *	address
 */
void rocc_cp_address(struct net_device *dev, u8 *address)
{
	__be32 v4 = rocc_port_address4(dev);

	if (v4)
		ipv6_addr_set_v4mapped(v4, (struct in6_addr *)address);
	else
		rocc_port_address6(dev, address);
}

/**
 * rocc_cnp_tag - of a CNP
 * @buf: the ICMP message; its checksum and tag are 0
 * @len: of it
 * @key: secret of its sender and receiver
 */
u64 rocc_cnp_tag(void *buf, size_t len, const siphash_key_t *key)
{
	return siphash(buf, len, key);
}

static void rocc_cnp_ip4(struct sk_buff *skb, unsigned int len, __be32 from, const u8 *to)
{
	struct rocc_cnp *cnp = (struct rocc_cnp *)skb->data;
	struct iphdr *ip;

	cnp->checksum = (__force __be16)ip_compute_csum(cnp, len);
	ip = skb_push(skb, sizeof(*ip));
	memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->tos = IPTOS_PREC_INTERNETCONTROL;
	ip->tot_len = htons(sizeof(*ip) + len);
	ip->frag_off = htons(IP_DF);
	ip->ttl = 255;
	ip->protocol = IPPROTO_ICMP;
	ip->saddr = from;
	memcpy(&ip->daddr, to, sizeof(ip->daddr));
	ip_send_check(ip);
	skb->protocol = htons(ETH_P_IP);
	skb_reset_network_header(skb);
}

static void rocc_cnp_ip6(struct sk_buff *skb, unsigned int len, const u8 *from, const u8 *to)
{
	struct rocc_cnp *cnp = (struct rocc_cnp *)skb->data;
	__wsum sum = csum_partial(cnp, len, 0);
	struct ipv6hdr *ip;

	ip = skb_push(skb, sizeof(*ip));
	memset(ip, 0, sizeof(*ip));
	ip->version = 6;
	ip->priority = IPTOS_PREC_INTERNETCONTROL >> 4;
	ip->payload_len = htons(len);
	ip->nexthdr = IPPROTO_ICMPV6;
	ip->hop_limit = 255;
	memcpy(&ip->saddr, from, sizeof(ip->saddr));
	memcpy(&ip->daddr, to, sizeof(ip->daddr));
	cnp->checksum = (__force __be16)csum_ipv6_magic(&ip->saddr, &ip->daddr, len,
							IPPROTO_ICMPV6, sum);
	skb->protocol = htons(ETH_P_IPV6);
	skb_reset_network_header(skb);
}

/* From the device that it leaves by */
static void rocc_cnp_ip(struct sk_buff *skb, unsigned int len, const struct rocc_back *back,
			const struct rocc_notice *n, __be32 otherwise)
{
	u8 source[sizeof(struct in6_addr)];
	__be32 v4;

	if (n->id.v6) {
		rocc_source6(dev_net(back->dev), back->dev, n->id.saddr, source);
		rocc_cnp_ip6(skb, len, source, n->id.saddr);
	} else {
		v4 = rocc_port_address4(back->dev);
		rocc_cnp_ip4(skb, len, v4 ?: otherwise, n->id.saddr);
	}
}

static bool rocc_was_sent(int err)
{
	return !net_xmit_eval(err);
}

/* Back to where it came from */
static bool rocc_cnp_bridge(struct sk_buff *skb, const struct rocc_back *back, const u8 *mac)
{
	struct net_device *dev = back->dev;
	struct vlan_hdr *tag;
	int i;

	for (i = back->tags - 1; i > 0; i--) {
		tag = skb_push(skb, sizeof(*tag));
		tag->h_vlan_TCI = htons(back->tag[i].tci);
		tag->h_vlan_encapsulated_proto = skb->protocol;
		skb->protocol = back->tag[i].proto;
	}
	skb->dev = dev;
	eth_header(skb, dev, ntohs(skb->protocol), mac, dev->dev_addr, skb->len);
	skb_reset_mac_header(skb);
	if (back->tags)
		__vlan_hwaccel_put_tag(skb, back->tag[0].proto, back->tag[0].tci);
	return rocc_was_sent(dev_queue_xmit(skb));
}

static bool rocc_cnp_route4(struct net *net, struct sk_buff *skb, unsigned int len, const u8 *to,
			    int vrf, __be32 otherwise)
{
	struct flowi4 fl4 = { .flowi4_proto = IPPROTO_ICMP, .flowi4_oif = vrf };
	struct rtable *rt;

	memcpy(&fl4.daddr, to, sizeof(fl4.daddr));
	rt = ip_route_output_key(net, &fl4);
	if (IS_ERR(rt)) {
		kfree_skb(skb);
		return false;
	}
	rocc_cnp_ip4(skb, len, fl4.saddr ?: otherwise, to);
	skb_dst_set(skb, &rt->dst);
	return rocc_was_sent(ip_local_out(net, NULL, skb));
}

#if IS_ENABLED(CONFIG_IPV6)
static bool rocc_cnp_route6(struct net *net, struct sk_buff *skb, unsigned int len, const u8 *to,
			    int vrf)
{
	struct flowi6 fl6 = { .flowi6_proto = IPPROTO_ICMPV6, .flowi6_oif = vrf };
	struct dst_entry *dst;

	if (!ipv6_mod_enabled()) {	/* then there are no tables to look into */
		kfree_skb(skb);
		return false;
	}
	memcpy(&fl6.daddr, to, sizeof(fl6.daddr));
	dst = ip6_route_output(net, NULL, &fl6);
	if (dst->error ||
	    ipv6_dev_get_saddr(net, dst->dev, &fl6.daddr, 0, &fl6.saddr)) {
		dst_release(dst);
		kfree_skb(skb);
		return false;
	}
	rocc_cnp_ip6(skb, len, fl6.saddr.s6_addr, to);
	skb_dst_set(skb, dst);
	return rocc_was_sent(ip6_local_out(net, NULL, skb));
}
#else
static bool rocc_cnp_route6(struct net *net, struct sk_buff *skb, unsigned int len, const u8 *to,
			    int vrf)
{
	kfree_skb(skb);
	return false;
}
#endif

static struct sk_buff *rocc_cnp_alloc(const struct net_device *dev, const struct rocc_sender *from,
				      const struct rocc_notice *n, struct cnp *cnp)
{
	unsigned int room = LL_RESERVED_SPACE(dev) + CNP_ROOM;
	struct rocc_cnp *head;
	struct sk_buff *skb;

	skb = alloc_skb(room + CNP_MAX + dev->needed_tailroom, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	cnp->flow = n->id;
	cnp->gap = n->gap_ns;
	cnp->key = from->sign;
	skb_put(skb, cnp_write(skb_tail_pointer(skb), CNP_MAX, cnp));
	if (from->sign) {
		head = (struct rocc_cnp *)skb->data;
		head->tag = cpu_to_be64(rocc_cnp_tag(skb->data, skb->len, &from->key));
	}
	skb->priority = TC_PRIO_CONTROL;
	return skb;
}

/**
 * rocc_cnp_send - tell the source of a flow
 * @port: of the congestion point
 * @from: its options
 * @n: the flow, and the way back
 * @cnp: what is said, but for the flow
 *
 * Context: RCU, BH.
 */
enum rocc_sent rocc_cnp_send(struct net_device *port, const struct rocc_sender *from,
			     const struct rocc_notice *n, struct cnp *cnp)
{
	struct net *net = dev_net(port);
	struct rocc_back back;
	enum rocc_sent sent;
	struct sk_buff *skb;
	unsigned int len;
	bool done;

	sent = rocc_way_back(port, &n->way, &back);
	if (sent != ROCC_SENT)
		return sent;
	skb = rocc_cnp_alloc(back.dev, from, n, cnp);
	if (!skb)
		return ROCC_NO_WAY;
	len = skb->len;
	if (!back.routed) {
		rocc_cnp_ip(skb, len, &back, n, (__force __be32)from->source);
		done = rocc_cnp_bridge(skb, &back, n->way.mac);
	} else if (n->id.v6) {
		done = rocc_cnp_route6(net, skb, len, n->id.saddr, back.vrf);
	} else {
		done = rocc_cnp_route4(net, skb, len, n->id.saddr, back.vrf,
				       (__force __be32)from->source);
	}
	return done ? ROCC_SENT : ROCC_NO_WAY;
}
