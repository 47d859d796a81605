// SPDX-License-Identifier: GPL-2.0-only
/*
 * gbn_recv.c - go-back-N: what comes in
 *
 * Anybody can send to the port of an endpoint. A packet counts only if it names this run and one
 * of its flows, came from the flow's other end by the flow's source port, and could be a packet of
 * that flow; all else is dropped and counted by what was wrong with it. Who sits between two
 * endpoints and knows all that can forge a packet: this is a test tool, on a fabric of one's own.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/sock.h>

#include "flowgen.h"

static bool fg_came_from(const struct sk_buff *skb, const struct fg_end *from)
{
	if (skb->protocol == htons(ETH_P_IP))
		return from->family == AF_INET &&
		       ip_hdr(skb)->saddr == from->address.s6_addr32[3];
	return from->family == AF_INET6 && ipv6_addr_equal(&ipv6_hdr(skb)->saddr, &from->address);
}

/* Did a queue on the way mark it? */
static bool fg_is_marked(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return INET_ECN_is_ce(ip_hdr(skb)->tos);
	return INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
}

/* Return: 0, or the counter of what is wrong. */
static int fg_check(const struct fg_end *end, const struct sk_buff *skb,
		    const struct gbn_header *h)
{
	const struct fg_run *run = end->run;
	const struct fg_cc *law = run->config.law;
	const struct fg_flow *flow;
	struct gbn_header want;
	u32 payload = 0;

	if (h->run != run->number)
		return FLOWGEN_C_RX_RUN;
	if (h->flow >= run->n_flows)
		return FLOWGEN_C_RX_FLOW;
	flow = &run->flows[h->flow];
	if ((h->type == GBN_DATA ? flow->dst : flow->src) != end->number)
		return FLOWGEN_C_RX_FLOW;
	if (!fg_came_from(skb, run->ends[h->type == GBN_DATA ? flow->src : flow->dst]) ||
	    udp_hdr(skb)->source != htons(gbn_port(run->config.seed, h->flow)))
		return FLOWGEN_C_RX_ADDRESS;
	if (h->packet > flow->packets - (h->type == GBN_DATA))
		return FLOWGEN_C_RX_PACKET;
	want = (struct gbn_header){};
	if (h->type == GBN_DATA)
		payload = gbn_describe(&want, flow->bytes, run->config.payload, h->packet);
	if (h->flags != (want.flags | fg_cc_flags(law)) || h->remaining != want.remaining ||
	    skb->len != sizeof(struct udphdr) + GBN_HEADER_BYTES + fg_cc_bytes(law) + payload)
		return FLOWGEN_C_RX_PACKET;
	return 0;
}

/* An answer to the sender, along a route of its own flow, with the telemetry of what is answered.
 * NULL if it cannot be made.
 */
static struct sk_buff *fg_answer(struct fg_end *end, struct fg_flow *flow, u32 number, u8 type,
				 const u8 *records)
{
	static const u8 counters[] = {
		[GBN_ACK] = FLOWGEN_C_ACKS, [GBN_NACK] = FLOWGEN_C_NACKS,
		[GBN_CNP] = FLOWGEN_C_CNPS,
	};
	struct fg_run *run = end->run;
	struct gbn_header h = {
		.type = type, .flags = fg_cc_flags(run->config.law), .run = run->number,
		.flow = number, .packet = flow->rx.expected,
	};
	u16 port = gbn_port(run->config.seed, number);
	struct fg_end *to = run->ends[flow->src];
	struct sk_buff *skb;

	if (!flow->back || !dst_check(flow->back, flow->back_cookie)) {
		dst_release(flow->back);
		flow->back = fg_end_route(end, to, port, &flow->back_cookie);
	}
	if (!flow->back) {
		end->count[FLOWGEN_C_NO_ROUTE]++;
		return NULL;
	}
	skb = fg_end_packet(end, to, port,
			    run->config.ack_class == FG_CLASS_FLOW ? flow->class :
			    run->config.ack_class,
			    flow->back, &h, records, 0);
	if (!skb)
		end->count[FLOWGEN_C_NO_MEMORY]++;
	else
		end->count[counters[type]]++;
	return skb;
}

/* A marked packet has come: the sender is told, if it was not so lately. */
static struct sk_buff *fg_marked(struct fg_end *end, struct fg_flow *flow, u32 number)
{
	const struct fg_config *config = &end->run->config;
	u64 now = fg_now();
	struct sk_buff *skb;

	if (!config->law || !config->law->cnp ||
	    (flow->cnp_ns && now - flow->cnp_ns < config->law_config.cnp_ns))
		return NULL;
	skb = fg_answer(end, flow, number, GBN_CNP, NULL);
	if (skb)
		flow->cnp_ns = now;
	return skb;
}

static void fg_say(struct fg_end *end, struct sk_buff *skb)
{
	if (!skb || !fg_end_output(end, skb))
		return;
	spin_lock(&end->lock);
	end->count[FLOWGEN_C_LOCAL_DROPS]++;
	spin_unlock(&end->lock);
}

static void fg_data(struct fg_end *end, struct fg_flow *flow, const struct gbn_header *h,
		    const u8 *records, bool marked)
{
	struct fg_run *run = end->run;
	struct sk_buff *skb = NULL, *cnp = NULL;
	unsigned int what;

	spin_lock(&end->lock);
	if (end->dead)
		goto out;
	if (marked)
		cnp = fg_marked(end, flow, h->flow);
	what = gbn_rx_data(&flow->rx, h->packet, flow->packets, run->config.ack_every);
	if (what & GBN_RX_NEW)
		end->count[FLOWGEN_C_RECEIVED]++;
	else if (what & GBN_RX_DUPLICATE)
		end->count[FLOWGEN_C_DUPLICATES]++;
	else
		end->count[FLOWGEN_C_GAPS]++;
	if (what & GBN_RX_DONE)
		flow->done_ns = fg_now() - run->start_ns;
	if (what & (GBN_RX_SAY_ACK | GBN_RX_SAY_NACK))
		skb = fg_answer(end, flow, h->flow,
				what & GBN_RX_SAY_ACK ? GBN_ACK : GBN_NACK, records);
out:
	spin_unlock(&end->lock);
	fg_say(end, cnp);
	fg_say(end, skb);
}

static void fg_take(struct fg_end *end, struct sk_buff *skb)
{
	u32 bytes = GBN_HEADER_BYTES + fg_cc_bytes(end->run->config.law);
	u8 buffer[GBN_HEADER_BYTES + TELEMETRY_BYTES];
	const u8 *raw, *records;
	struct gbn_header h;
	int wrong;

	if (!fg_run_is_on(end->run))
		return;
	raw = skb_header_pointer(skb, sizeof(struct udphdr), bytes, buffer);
	records = bytes > GBN_HEADER_BYTES ? raw + GBN_HEADER_BYTES : NULL;
	wrong = raw && gbn_decode(&h, raw) ? fg_check(end, skb, &h) : FLOWGEN_C_RX_MALFORMED;
	if (wrong) {
		spin_lock(&end->lock);
		end->count[wrong]++;
		spin_unlock(&end->lock);
	} else if (h.type == GBN_DATA) {
		fg_data(end, &end->run->flows[h.flow], &h, records, fg_is_marked(skb));
	} else if (h.type == GBN_CNP) {
		fg_gbn_cnp(end, &end->run->flows[h.flow]);
	} else {
		fg_gbn_answer(end, &end->run->flows[h.flow], &h, records);
	}
}

/* encap_rcv: a packet for an endpoint, at its UDP header, checksum checked. It is taken. */
static int fg_gbn_receive(struct sock *sk, struct sk_buff *skb)
{
	struct fg_end *end = rcu_dereference_sk_user_data(sk);

	if (end)
		fg_take(end, skb);
	consume_skb(skb);
	return 0;
}

/* UDP_ENCAP_L2TPINUDP is the one encapsulation whose receive hook UDP leaves to others to set. */
static int fg_gbn_open(struct fg_end *end)
{
	struct socket *sock = end->sock;
	int kind = UDP_ENCAP_L2TPINUDP;

	fg_gbn_prepare(end);
	rcu_assign_sk_user_data(sock->sk, end);
	WRITE_ONCE(udp_sk(sock->sk)->encap_rcv, fg_gbn_receive);
	return sock->ops->setsockopt(sock, SOL_UDP, UDP_ENCAP, KERNEL_SOCKPTR(&kind),
				     sizeof(kind));
}

static void fg_gbn_detach(struct fg_end *end)
{
	rcu_assign_sk_user_data(end->sock->sk, NULL);
}

const struct fg_transport fg_gbn_transport = {
	.socket		= SOCK_DGRAM,
	.protocol	= IPPROTO_UDP,
	.start		= fg_gbn_start,
	.end_open	= fg_gbn_open,
	.end_detach	= fg_gbn_detach,
	.end_reap	= fg_gbn_reap,
};
