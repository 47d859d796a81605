// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx.c - the receive hook
 *
 * A netdev-ingress hook: after XDP, taps and tc ingress, before the bridge's and other
 * receive handlers and before routing. Data frames lose their fabric tag (tag.c); control
 * frames are ours and go no further, valid or not, but for those of a VLAN device above.
 *
 * What a control frame says counts only if both of its epochs are right, a HELLO excepted,
 * which is how they become right (peer.c). A frame that is refused is counted by cause and
 * never logged. More frames than a processor should be bothered with are dropped unread.
 * All of that runs under the port's lock. Before, pauses leave for which the worker would be late
 * (tx.c).
 */
#include <linux/if_vlan.h>
#include <linux/netfilter.h>

#include "port.h"
#include "share.h"
#include "trace.h"

static const u8 hop_dest[ETH_ALEN] = HOP_DEST_MAC;

/* Contents that most frames do not have */
#define RX_RARE	(1ULL << HOP_TLV_END | 1ULL << HOP_TLV_BALANCES | 1ULL << HOP_TLV_PAUSE_ROOTS |	\
		 1ULL << HOP_TLV_PROBE | 1ULL << HOP_TLV_PROBE_ECHO | 1ULL << HOP_TLV_GOODBYE)

/* @pause: the frame's newest pause state, if that is news */
static noinline void rx_rare(struct hop_port *port, const struct hop_frame *f,
			     const struct hop_told *pause, bool tagged, u64 now)
{
	if (hop_frame_has(f, HOP_TLV_END))
		hop_blocks_rx_end(port, &f->end, now);
	if (hop_frame_has(f, HOP_TLV_BALANCES))
		hop_blocks_rx_balances(port, &f->balances);
	if (hop_frame_has(f, HOP_TLV_PAUSE_ROOTS))
		hop_roots_rx(port, f, pause, now);
	if (hop_frame_has(f, HOP_TLV_PROBE) && tagged)
		hop_probe_rx(port, &f->probe, now);
	if (hop_frame_has(f, HOP_TLV_PROBE_ECHO) && hop_probe_echoed(port, &f->echo, now))
		hop_peer_state(port, now);
	if (hop_frame_has(f, HOP_TLV_GOODBYE))
		hop_peer_left(port, now);
}

/* Contents that only a neighbour that we know, and that knows us, may send. */
static void rx_contents(struct hop_port *port, const struct hop_frame *f, bool tagged, u64 now)
{
	const struct hop_told *pause = NULL;
	unsigned int i;

	for (i = 0; i < f->n_told; i++)
		if (hop_streams_rx(port, &f->told[i], now) && f->told[i].slot == HOP_SLOT_PAUSE)
			pause = &f->told[i];
	if (unlikely(f->has & RX_RARE))
		rx_rare(port, f, pause, tagged, now);
}

/* Only probes carry a tag, and they have to arrive as they were sent: with the tag and the size
 * that they say they have.
 */
static bool rx_tag_fits(const struct hop_port *port, const struct sk_buff *skb,
			const struct hop_frame *f)
{
	if (!skb_vlan_tag_present(skb))
		return true;
	return f->has == 1U << HOP_TLV_PROBE && skb->vlan_proto == htons(port->cfg.tpid) &&
	       skb_vlan_tag_get_id(skb) == f->probe.vid &&
	       skb->len + VLAN_ETH_HLEN == f->probe.size;
}

static bool rx_is_ours(const struct hop_port *port, const struct hop_frame *f, const u8 *source)
{
	return f->epoch_mine == port->epoch ||
	       ether_addr_equal_unaligned(source, port->dev->dev_addr);
}

static void rx_frame(struct hop_port *port, const struct sk_buff *skb,
		     const struct hop_frame *f)
{
	const u8 *source = eth_hdr(skb)->h_source;
	bool tagged = skb_vlan_tag_present(skb);
	bool hello = hop_frame_has(f, HOP_TLV_HELLO);
	u64 now = hop_now();

	if (port->leaving)
		hop_peer_heard_us_leave(port, f);
	if (port->leaving || port->dying)
		return;
	/* said more than once, so that it is heard */
	if (f->has == 1U << HOP_TLV_GOODBYE && !port->peer.up)
		return;
	if (rx_is_ours(port, f, source) || (!hello && !port->peer.up)) {
		port->stats.rx_epoch++;
		return;
	}
	if (!hop_peer_source(port, source, now))
		return;
	if (!rx_tag_fits(port, skb, f)) {
		port->stats.rx_range++;
		return;
	}
	if (hello)
		hop_peer_hello(port, f, now);
	if (!(f->has & ~(1ULL << HOP_TLV_HELLO)))
		return;
	if (!hop_peer_speaks(port, f)) {
		port->stats.rx_epoch++;
		return;
	}
	rx_contents(port, f, tagged, now);
}

/* A neighbour keeps a distance between its pause states, and answers as many of ours. */
static bool rx_limited(struct hop_port *port)
{
	u64 cost = READ_ONCE(hop_state_spacing_ns) / HOP_RX_SHARE, now;

	if (!cost)
		return false;
	now = hop_now();
	if (now < port->rx_next_ns) {
		port->stats.rx_limited++;
		return true;
	}
	port->rx_next_ns = hop_bucket_spend(&port->rx_paid_ns, cost, (HOP_RX_BURST - 1) * cost,
					    now);
	return false;
}

/* What several states of one type cost beyond one frame */
static void rx_charge(struct hop_port *port, const struct hop_frame *f)
{
	unsigned int i, states = 0;
	u64 cost;

	if (likely(f->n_told <= HOP_SLOTS))
		return;
	cost = READ_ONCE(hop_state_spacing_ns) / HOP_RX_SHARE;
	for (i = 0; i < f->n_told; i++)
		states += !f->told[i].ack;
	if (cost && states > HOP_SLOTS)
		port->rx_next_ns = hop_bucket_spend(&port->rx_paid_ns, (states - 1) * cost,
						    (HOP_RX_BURST - 1) * cost, hop_now());
}

static void rx_control(struct hop_port *port, struct sk_buff *skb)
{
	unsigned int len = min_t(unsigned int, skb->len, HOP_FRAME_MAX);
	enum hop_frame_error err = HOP_FRAME_MALFORMED;
	struct hop_frame f;
	const void *buf;

	spin_lock_bh(&port->lock);
	if (rx_limited(port)) {
		spin_unlock_bh(&port->lock);
		return;
	}
	/* the packet may be shared, so it is not pulled into one piece but copied */
	buf = skb_header_pointer(skb, 0, len, port->rx_buf);
	if (buf && is_valid_ether_addr(eth_hdr(skb)->h_source))
		err = hop_frame_parse(buf, len, &f);

	switch (err) {
	case HOP_FRAME_OK:
		rx_charge(port, &f);
		rx_frame(port, skb, &f);
		break;
	case HOP_FRAME_MALFORMED:
		port->stats.rx_malformed++;
		break;
	case HOP_FRAME_VERSION:
		port->stats.rx_version++;
		break;
	case HOP_FRAME_RANGE:
		port->stats.rx_range++;
		break;
	}
	spin_unlock_bh(&port->lock);
}

/* A VLAN device above this one, or above the bond that it is of, has a neighbour of its own, whose
 * frames have its tag. Not so a tag of the fabric's type, which a probe has.
 */
static bool rx_is_above(const struct hop_port *port, const struct sk_buff *skb)
{
	struct net_device *dev = port->dev, *above;

	if (!skb_vlan_tag_present(skb) || skb->vlan_proto == htons(READ_ONCE(port->cfg.tpid)))
		return false;
	above = __vlan_find_dev_deep_rcu(dev, skb->vlan_proto, skb_vlan_tag_get_id(skb));
	return above && (vlan_dev_real_dev(above) == dev || netif_is_lag_port(dev));
}

static noinline unsigned int rx_ours(struct hop_port *port, struct sk_buff *skb)
{
	if (rx_is_above(port, skb))
		return NF_ACCEPT;
	rx_control(port, skb);
	consume_skb(skb);
	return NF_STOLEN;
}

static __always_inline unsigned int rx_hook(struct hop_port *port, struct sk_buff *skb)
{
	if (likely(skb->protocol != htons(HOP_ETHERTYPE)) ||
	    !ether_addr_equal_unaligned(eth_hdr(skb)->h_dest, hop_dest))
		return hop_tag_pop(port, skb);
	return rx_ours(port, skb);
}

static noinline unsigned int rx_hook_urgent(struct hop_port *port, struct sk_buff *skb)
{
	hop_urgent_send();
	return rx_hook(port, skb);
}

/* Each frame comes here, and as a rule is only looked at: what saves registers is elsewhere. */
unsigned int hop_rx_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	return unlikely(hop_is_urgent()) ? rx_hook_urgent(priv, skb) : rx_hook(priv, skb);
}
