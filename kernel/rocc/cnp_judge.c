// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnp_judge.c - what costs more to find out about a received CNP: is it new, is its packet in
 * flight?
 *
 * Looked up when a reaction point has nothing else against it, and once for each CNP, whoever
 * asks.
 */
#include <linux/jhash.h>
#include <linux/tcp.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#include <net/tcp.h>

#include "rocc.h"

static struct sock *rocc_tcp_socket(struct net *net, const struct cnp_flow *f, int ifindex)
{
	struct inet_hashinfo *hashinfo = net->ipv4.tcp_death_row.hashinfo;
	const __be16 *ports = (const __be16 *)f->l4;
	__be32 saddr, daddr;

#if IS_ENABLED(CONFIG_IPV6)
	if (f->v6) {
		struct in6_addr s, d;

		memcpy(&s, f->saddr, sizeof(s));
		memcpy(&d, f->daddr, sizeof(d));
		return __inet6_lookup_established(net, hashinfo, &d, ports[1], &s, ntohs(ports[0]),
						  ifindex, 0);
	}
#endif
	memcpy(&saddr, f->saddr, sizeof(saddr));
	memcpy(&daddr, f->daddr, sizeof(daddr));
	return __inet_lookup_established(net, hashinfo, daddr, ports[1], saddr, ntohs(ports[0]),
					 ifindex, 0);
}

static bool rocc_tcp_in_flight(const struct sock *sk, const struct cnp_flow *f)
{
	__be32 raw;
	u32 seq;

	if (!sk || !sk_fullsock(sk))
		return false;
	memcpy(&raw, f->l4 + sizeof(raw), sizeof(raw));
	seq = ntohl(raw);
	/* an acknowledgement without data has the number that is to be sent next */
	return !before(seq, READ_ONCE(tcp_sk(sk)->snd_una)) &&
	       !after(seq, READ_ONCE(tcp_sk(sk)->snd_nxt));
}

/**
 * rocc_cnp_in_flight - is the quoted packet in flight?
 * @packet: the CNP
 *
 * As far as TCP knows; others do not say. Looks once for each CNP, whoever asks; the socket is let
 * go when no lock of ours is held, for to let go the last may mean to free it.
 */
bool rocc_cnp_in_flight(struct rocc_packet *packet)
{
	const struct cnp_flow *f = &packet->cnp.flow;

	if (f->proto != IPPROTO_TCP)
		return true;
	if (!packet->looked) {
		packet->sk = rocc_tcp_socket(packet->net, f, packet->ifindex);
		packet->in_flight = rocc_tcp_in_flight(packet->sk, f);
		packet->looked = true;
	}
	return packet->in_flight;
}

/**
 * rocc_cnp_judge - is a signed CNP new?
 * @packet: the CNP; the tag is right
 * @now: time
 *
 * Once for each, whoever asks. Context: a reaction point's, which is asked under the lock of all.
 */
enum rocc_freshness rocc_cnp_judge(struct rocc_packet *packet, u64 now)
{
	struct rocc_net *rn = packet->rn;
	const struct cnp *cnp = &packet->cnp;
	u32 hash;

	lockdep_assert_held(&rn->lock);
	if (packet->judged)
		return packet->fresh;
	hash = jhash(cnp->address, sizeof(cnp->address), rn->seed ^ cnp->port ^ cnp->queue << 16);
	packet->fresh = rocc_heard_judge(&rn->heard[hash % ROCC_HEARD_SETS * ROCC_HEARD_WAYS], cnp,
					 now);
	packet->judged = true;
	return packet->fresh;
}
