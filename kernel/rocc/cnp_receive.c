// SPDX-License-Identifier: GPL-2.0-only
/*
 * cnp_receive.c - congestion notification packets that reach a host
 *
 * A hook in LOCAL_IN, the first there: the stack discards ICMP types above 18, and connection
 * tracking calls them invalid. A namespace has it only while one of its qdiscs is a reaction
 * point. What has the type is ours and goes no further, believed or not.
 *
 * Before a reaction point is asked (rp.c): the message is whole and its checksum right, its
 * values can be, and it is sent to the source of the flow that it quotes. What costs more is found
 * out when a reaction point has nothing else against it, and once for all of them: whether it is
 * new (heard.h), and if the flow is of TCP, whether a socket has it and the quoted sequence is in
 * flight (as RFC 5927 asks of ICMP errors). Refusals are counted by cause, for the whole
 * namespace; of more than one reaction point the one counts that came furthest.
 *
 * A flow may have gone to another port, and then more than one has sent it not long ago. So all of
 * them are told. Where it goes no longer the limiter is soon gone.
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ip6_checksum.h>
#include <net/netns/generic.h>
#include <net/tcp.h>

#include "rocc.h"

#define ROCC_TTL	255	/* that CNPs start with */

static unsigned int rocc_net_id;

/* ---- receiving ---- */

static bool rocc_checksum_fits(const struct sk_buff *skb, const struct rocc_packet *p, bool v6)
{
	if (v6)
		return !csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr, p->len,
					IPPROTO_ICMPV6, csum_partial(p->message, p->len, 0));
	return !ip_compute_csum(p->message, p->len);
}

/* To whom: the source of the flow that is quoted */
static bool rocc_is_to_source(const struct sk_buff *skb, const struct cnp_flow *f, bool v6)
{
	if (v6)
		return !memcmp(&ipv6_hdr(skb)->daddr, f->saddr, sizeof(struct in6_addr));
	return !memcmp(&ip_hdr(skb)->daddr, f->saddr, sizeof(struct in_addr));
}

/* What can be found out without asking a reaction point */
static enum rocc_refusal rocc_read(struct net *net, const struct sk_buff *skb, unsigned int at,
				   bool v6, struct rocc_packet *p)
{
	struct rocc_cnp *head = (struct rocc_cnp *)p->message;

	if (skb->len - at > sizeof(p->message))
		return ROCC_BAD_FRAME;
	p->len = skb->len - at;
	if (skb_copy_bits(skb, at, p->message, p->len))
		return ROCC_BAD_FRAME;
	if (!rocc_checksum_fits(skb, p, v6))
		return ROCC_BAD_CHECKSUM;
	switch (cnp_parse(p->message, p->len, v6, &p->cnp)) {
	case CNP_OK:
		break;
	case CNP_VERSION:
		return ROCC_BAD_VERSION;
	case CNP_RANGE:
		return ROCC_BAD_RANGE;
	default:
		return ROCC_BAD_FRAME;
	}
	if (!rocc_is_to_source(skb, &p->cnp.flow, v6))
		return ROCC_BAD_FLOW;
	rocc_flow_reduce(&p->cnp.flow);
	head->checksum = 0;
	head->tag = 0;
	if (v6) {
		p->source = ipv6_hdr(skb)->saddr;
		p->hops = ROCC_TTL - ipv6_hdr(skb)->hop_limit;
	} else {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr, &p->source);
		p->hops = ROCC_TTL - ip_hdr(skb)->ttl;
	}
	p->net = net;
	p->rn = net_generic(net, rocc_net_id);
	p->ifindex = skb->dev->ifindex;
	return ROCC_ACCEPTED;
}

static enum rocc_refusal rocc_ask(struct rocc_net *rn, struct rocc_packet *p)
{
	enum rocc_refusal verdict, furthest = ROCC_BAD_FRAME;
	u64 now = ktime_get_ns();
	struct rocc_rp *h;

	spin_lock_bh(&rn->lock);
	list_for_each_entry(h, &rn->rps, node) {
		verdict = rocc_rp_take(h, p, now);
		if (verdict > furthest)
			furthest = verdict;
	}
	spin_unlock_bh(&rn->lock);
	return furthest;
}

static void rocc_receive(struct net *net, const struct sk_buff *skb, unsigned int at, bool v6)
{
	struct rocc_net *rn = net_generic(net, rocc_net_id);
	enum rocc_refusal verdict;
	struct rocc_packet p;

	p.looked = false;
	p.judged = false;
	p.sk = NULL;
	verdict = rocc_read(net, skb, at, v6, &p);
	if (verdict == ROCC_ACCEPTED)
		verdict = rocc_ask(rn, &p);
	if (p.sk)
		sock_gen_put(p.sk);
	if (verdict != ROCC_ACCEPTED)
		atomic64_inc(&rn->refused[verdict]);
}

static unsigned int rocc_hook4(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	unsigned int at = ip_hdrlen(skb);
	const u8 *type;
	u8 buf;

	if (likely(ip_hdr(skb)->protocol != IPPROTO_ICMP))
		return NF_ACCEPT;
	type = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!type || *type != ROCC_CNP_ICMP)
		return NF_ACCEPT;
	rocc_receive(state->net, skb, at, false);
	consume_skb(skb);
	return NF_STOLEN;
}

static unsigned int rocc_hook6(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	unsigned int at = sizeof(struct ipv6hdr);
	const u8 *type;
	u8 buf;

	if (likely(ipv6_hdr(skb)->nexthdr != IPPROTO_ICMPV6))
		return NF_ACCEPT;
	type = skb_header_pointer(skb, at, sizeof(buf), &buf);
	if (!type || *type != ROCC_CNP_ICMPV6)
		return NF_ACCEPT;
	rocc_receive(state->net, skb, at, true);
	consume_skb(skb);
	return NF_STOLEN;
}

static const struct nf_hook_ops rocc_hooks[] = {
	{
		.hook		= rocc_hook4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_FIRST,
	},
	{
		.hook		= rocc_hook6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_FIRST,
	},
};

/* ---- namespaces ---- */

/**
 * rocc_net_add - CNPs are for this reaction point, too
 * @net: its namespace
 * @h: the reaction point
 *
 * Context: RTNL. Return: 0, -ENOMEM or an error of the hooks.
 */
int rocc_net_add(struct net *net, struct rocc_rp *h)
{
	struct rocc_net *rn = net_generic(net, rocc_net_id);
	int err;

	/* It stays: a reaction point that comes again has not forgotten. */
	if (!rn->heard)
		rn->heard = kvcalloc(ROCC_HEARD_SETS * ROCC_HEARD_WAYS, sizeof(*rn->heard),
				     GFP_KERNEL);
	if (!rn->heard)
		return -ENOMEM;
	if (list_empty(&rn->rps)) {
		err = nf_register_net_hooks(net, rocc_hooks, ARRAY_SIZE(rocc_hooks));
		if (err)
			return err;
	}
	spin_lock_bh(&rn->lock);
	list_add_tail(&h->node, &rn->rps);
	spin_unlock_bh(&rn->lock);
	return 0;
}

/**
 * rocc_net_remove - and no longer
 * @net: its namespace
 * @h: the reaction point, added or not, or all 0
 *
 * Nothing of it is in use afterwards. Context: RTNL.
 */
void rocc_net_remove(struct net *net, struct rocc_rp *h)
{
	struct rocc_net *rn = net_generic(net, rocc_net_id);
	bool last;

	if (!h->node.next || list_empty(&h->node))
		return;
	spin_lock_bh(&rn->lock);
	list_del_init(&h->node);
	last = list_empty(&rn->rps);
	spin_unlock_bh(&rn->lock);
	if (last)
		nf_unregister_net_hooks(net, rocc_hooks, ARRAY_SIZE(rocc_hooks));
}

/**
 * rocc_net_dump - refused CNPs of a namespace
 * @net: the namespace
 * @skb: the message
 *
 * Return: 0 or -EMSGSIZE.
 */
int rocc_net_dump(struct net *net, struct sk_buff *skb)
{
	static const int attrs[ROCC_REFUSALS] = {
		[ROCC_BAD_FRAME]	= TCA_ROCC_STATS_BAD_FRAME,
		[ROCC_BAD_CHECKSUM]	= TCA_ROCC_STATS_BAD_CHECKSUM,
		[ROCC_BAD_VERSION]	= TCA_ROCC_STATS_BAD_VERSION,
		[ROCC_BAD_RANGE]	= TCA_ROCC_STATS_BAD_RANGE,
		[ROCC_BAD_TTL]		= TCA_ROCC_STATS_BAD_TTL,
		[ROCC_BAD_SOURCE]	= TCA_ROCC_STATS_BAD_SOURCE,
		[ROCC_BAD_FLOW]		= TCA_ROCC_STATS_BAD_FLOW,
		[ROCC_BAD_TAG]		= TCA_ROCC_STATS_BAD_TAG,
		[ROCC_BAD_SEQUENCE]	= TCA_ROCC_STATS_BAD_SEQUENCE,
	};
	struct rocc_net *rn = net_generic(net, rocc_net_id);
	int i, err = 0;

	for (i = 0; i < ROCC_REFUSALS && !err; i++)
		err = nla_put_u64_64bit(skb, attrs[i], atomic64_read(&rn->refused[i]),
					TCA_ROCC_STATS_PAD);
	return err;
}

static int __net_init rocc_net_init(struct net *net)
{
	struct rocc_net *rn = net_generic(net, rocc_net_id);

	spin_lock_init(&rn->lock);
	INIT_LIST_HEAD(&rn->rps);
	rn->seed = get_random_u32();
	return 0;
}

static void __net_exit rocc_net_exit(struct net *net)
{
	struct rocc_net *rn = net_generic(net, rocc_net_id);

	kvfree(rn->heard);
}

static struct pernet_operations rocc_net_ops = {
	.init	= rocc_net_init,
	.exit	= rocc_net_exit,
	.id	= &rocc_net_id,
	.size	= sizeof(struct rocc_net),
};

int rocc_net_module_init(void)
{
	return register_pernet_subsys(&rocc_net_ops);
}

void rocc_net_module_exit(void)
{
	unregister_pernet_subsys(&rocc_net_ops);
}
