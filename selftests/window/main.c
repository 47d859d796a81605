// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - a kind with windows: no more than so many bytes of a sub-queue wait in the next box
 *
 * For tests of kernel/hopctl/blocks.h. Flows are hashed onto sub-queues. A sub-queue sends while
 * fewer than `window` bytes of it are outstanding: on their way, or queued in the neighbour's box.
 * The neighbour counts by the sub-queue that the fabric tag names, what has come (@come) and what
 * waits (hop_ingress_add()). Without a neighbour of this kind nothing is limited. Nothing is
 * dropped but by a limit of `limit` bytes in each sub-queue.
 *
 * Sub-queue n of a port is key n, at the sender and at the receiver.
 *
 *   protector    what
 *   qdisc lock   all but:
 *   rx_lock      come, of hop_blocks; of the first qdisc of a port, for all of its keys
 *   atomic       mail
 */
#include "../../kernel/hopctl/blocks.h"
#include "../../kernel/hopctl/content.h"
#include "../../kernel/hopctl/mailbox.h"
#include "../../kernel/sched/classes.h"
#include "../../kernel/sched/drr.h"
#include "../../kernel/sched/egress.h"
#include "../../kernel/sched/kind.h"
#include "../../kernel/sched/options.h"
#include "../../kernel/sched/packet_hash.h"
#include "../../kernel/sched/port_options.h"
#include "../../kernel/sched/subq.h"

#define WINDOW_QUEUES	16
#define WINDOW_KEYS	256	/* of a neighbour with several qdiscs */
#define WINDOW_HELD	0x02	/* a reason to hold a sub-queue: its window is used up */

enum { TCA_WINDOW_UNSPEC, TCA_WINDOW_BYTES, TCA_WINDOW_LIMIT, TCA_WINDOW_VERSION, TCA_WINDOW_PAD };

struct window_config {
	u32	bytes;
	u32	limit;
};

/* What tests look at: tc shows it as bytes. */
struct window_stats {
	u64	outstanding;	/* bytes */
	u64	most;		/* that ever were outstanding of a sub-queue */
	u64	told;		/* balances that changed something */
	u64	ends;		/* END frames */
	u64	valid;
	u64	origin;		/* of the packet that was queued last */
	u64	origin_port;	/* ifindex */
	u64	origin_bytes;	/* that wait of it, at all ports */
};

struct window_sched {
	struct hop_subqs		subqs;		/* first, see hop_subqs_class_ops */
	struct window_config		config;
	struct hop_flow_secret		secret;
	u64				paused;
	u32				paused_seen;
	struct hop_class		class;
	struct hop_subq			queues[WINDOW_QUEUES];
	struct hop_subq_stats		stats[WINDOW_QUEUES];
	struct hop_member		member;
	bool				valid;		/* as of the last look */
	u32				owing;		/* sub-queues with anything outstanding */
	struct window_stats		seen;
	struct hop_ledger_tx_key	sent[WINDOW_QUEUES];
	struct hop_mailbox		mail;
	unsigned long			mail_full[BITS_TO_LONGS(WINDOW_QUEUES)];
	atomic64_t			mail_said[WINDOW_QUEUES];
	struct hop_ledger_rx_key	come[WINDOW_KEYS];
};

static_assert(!offsetof(struct window_sched, subqs));

/* What a packet in a sub-queue came by */
struct window_cb {
	u32	bytes;
	u16	origin;
};

static struct window_cb *window_cb(const struct sk_buff *skb)
{
	qdisc_cb_private_validate(skb, sizeof(struct window_cb));
	return (struct window_cb *)qdisc_skb_cb(skb)->data;
}

/* Without tags, and as if padded: alike at both ends */
static u32 window_bytes(const struct sk_buff *skb)
{
	return max_t(u32, skb->len - hop_network(skb).at + ETH_HLEN, ETH_ZLEN);
}

/* ---- the sender's windows ---- */

/* More, or less, of a sub-queue is outstanding than before. */
static void window_look(struct window_sched *q, u32 n, u64 before, u64 now)
{
	u64 out = hop_ledger_outstanding(&q->sent[n]);
	struct hop_subq *sub = &q->queues[n];
	bool hold = q->valid && out >= q->config.bytes;

	q->owing += !!out - !!before;
	q->seen.outstanding += out - before;
	q->seen.most = max(q->seen.most, out);
	hop_blocks_owe(&q->member, q->owing);
	if (hold && !(sub->held & WINDOW_HELD))
		hop_subq_hold(&q->subqs, &q->member, sub, WINDOW_HELD, now);
	else if (!hold && sub->held & WINDOW_HELD)
		hop_subq_unhold(&q->subqs, &q->member, sub, WINDOW_HELD, now);
}

static void window_read(struct window_sched *q, u64 now)
{
	u64 before;
	u32 n, block;
	s32 bytes;

	for_each_set_bit(n, q->mail.full, WINDOW_QUEUES) {
		block = hop_mailbox_take(&q->mail, n, &bytes);
		before = hop_ledger_outstanding(&q->sent[n]);
		q->seen.told += hop_ledger_told(&q->member.blocks.tx, &q->sent[n], block, bytes);
		window_look(q, n, before, now);
	}
}

static void window_judge(struct window_sched *q, u64 now)
{
	u32 n;

	q->valid = hop_blocks_valid(&q->member);
	for (n = 0; n < WINDOW_QUEUES; n++)
		window_look(q, n, hop_ledger_outstanding(&q->sent[n]), now);
}

/* Return: below 0: the frame has to be dropped. */
static int window_send(struct window_sched *q, struct sk_buff *skb, u32 n, u64 now)
{
	u64 before = hop_ledger_outstanding(&q->sent[n]);
	u32 bytes = window_bytes(skb);
	int tagged = hop_egress_tag(&q->member, skb, n, ETH_P_8021AD);

	if (tagged <= 0)
		return tagged;
	hop_ledger_sent(&q->member.blocks.tx, &q->sent[n], bytes);
	window_look(q, n, before, now);
	return 0;
}

static unsigned int window_asks(struct hop_member *m, u16 *keys, unsigned int most)
{
	struct window_sched *q = container_of(m, struct window_sched, member);
	unsigned int n, count = 0;

	q->seen.ends++;
	for (n = 0; n < WINDOW_QUEUES && count < most; n++)
		if (hop_ledger_asks(&m->blocks.tx, &q->sent[n]))
			keys[count++] = m->first + n;
	return count;
}

static const struct hop_member_ops window_member_ops;

static void window_told(struct hop_port *port, u16 key, u32 block, s32 bytes)
{
	struct window_sched *q;
	struct hop_member *m = hop_port_member_at(port, key);

	if (!m || m->ops != &window_member_ops)
		return;
	q = container_of(m, struct window_sched, member);
	hop_mailbox_put(&q->mail, key - m->first, block, bytes);
	smp_mb();	/* before the qdisc's SCHED and RUNNING bits */
	__netif_schedule(qdisc_root(m->sch));
}

/* ---- the receiver's counts ---- */

static struct hop_ledger_rx_key *window_key(struct hop_port *port, u16 key)
{
	struct hop_member *m = hop_port_member(port, &window_member_ops);

	if (!m || key >= WINDOW_KEYS)
		return NULL;
	return &container_of(m, struct window_sched, member)->come[key];
}

static struct hop_ledger_rx_key *window_received(struct hop_port *port, const struct sk_buff *skb,
						 u16 queue, u32 *bytes)
{
	*bytes = window_bytes(skb);
	return window_key(port, queue);
}

/* What has come is read before what waits: a packet in between is taken for gone. */
static s64 window_balance(struct hop_port *port, const struct hop_ledger_rx *rx, u16 key)
{
	struct hop_ledger_rx_key *come = window_key(port, key);
	s64 balance;

	if (!come)
		return 0;
	come->queued = 0;
	balance = hop_ledger_balance(rx, come);
	return balance - hop_ingress_bytes(port, key);
}

static const struct hop_blocks_ops window_blocks_ops = {
	.kind		= HOP_KIND_EXAMPLE,
	.received	= window_received,
	.balance	= window_balance,
	.told		= window_told,
	.asks		= window_asks,
};

static void window_hold(struct window_sched *q, struct sk_buff *skb)
{
	struct window_cb *cb = window_cb(skb);

	struct hop_port *port;
	struct hop_member *m;

	cb->bytes = window_bytes(skb);
	cb->origin = hop_origin(&q->member, skb);
	q->seen.origin = cb->origin;
	port = hop_origin_port(&q->member, cb->origin);
	m = port ? hop_port_member(port, &window_member_ops) : NULL;
	q->seen.origin_port = m ? qdisc_dev(m->sch)->ifindex : 0;
	q->seen.origin_bytes = cb->origin ?
		hop_ingress_add(&q->member, cb->origin, cb->bytes) : 0;
}

static void window_release(void *sched, struct sk_buff *skb)
{
	struct window_sched *q = sched;
	struct window_cb *cb = window_cb(skb);

	if (!cb->origin)
		return;
	hop_ingress_sub(&q->member, cb->origin, cb->bytes);
	if (cb->origin >= HOP_HANDLE_FIRST)
		hop_blocks_left(&q->member, cb->origin, false);
}

/* ---- the qdisc ---- */

static int window_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct window_sched *q = qdisc_priv(sch);
	u32 hash = hop_packet_hash(skb, hop_network(skb), &q->secret);
	u32 n = reciprocal_scale(hash, WINDOW_QUEUES);

	/* a GSO packet would have to be counted by its segments */
	if (skb_is_gso(skb) || q->queues[n].backlog + qdisc_pkt_len(skb) > q->config.limit) {
		q->stats[n].drops++;
		return qdisc_drop(skb, sch, to_free);
	}
	window_hold(q, skb);
	hop_subq_append(&q->subqs, &q->member, &q->queues[n], skb);
	qdisc_qstats_backlog_inc(sch, skb);
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *window_dequeue(struct Qdisc *sch)
{
	struct window_sched *q = qdisc_priv(sch);
	struct sk_buff *skb = hop_blocks_dequeue(&q->member, !sch->q.qlen);
	struct hop_late_drops late = {};
	u64 now = ktime_get_ns();
	struct hop_subq *sub;

	if (q->valid != hop_blocks_valid(&q->member))
		window_judge(q, now);
	if (!hop_mailbox_is_empty(&q->mail))
		window_read(q, now);
	hop_subqs_obey(&q->subqs, &q->member, &q->paused, &q->paused_seen, now);
	while (!skb && !hop_bitset_empty(&q->class.ready)) {
		sub = hop_class_turn(&q->subqs, &q->class, hop_quantum_mtu, sch);
		skb = hop_subq_pop(&q->subqs, &q->member, sub, now);
		window_release(q, skb);
		sub->deficit -= qdisc_pkt_len(skb);
		qdisc_qstats_backlog_dec(sch, skb);
		sch->q.qlen--;
		hop_subq_sent(hop_subq_stats(&q->subqs, sub), skb);
		if (window_send(q, skb, sub - q->queues, now) < 0) {
			hop_egress_drop(&late, sch, skb);
			skb = NULL;
		}
	}
	if (!skb)
		skb = hop_blocks_dequeue(&q->member, true);
	return hop_egress_end(&late, sch, skb);
}

static void window_reset(struct Qdisc *sch)
{
	struct window_sched *q = qdisc_priv(sch);

	hop_subqs_purge(&q->subqs, &q->member, window_release, q, ktime_get_ns());
}

static const struct hop_option window_options[] = {
	{ TCA_WINDOW_BYTES, offsetof(struct window_config, bytes), sizeof(u32),
	  .min = 1, .max = 1 << 30, .rule = "window must be 1 byte to 1 GiB" },
	{ TCA_WINDOW_LIMIT, offsetof(struct window_config, limit), sizeof(u32),
	  .min = 1, .max = 1 << 30, .rule = "limit must be 1 byte to 1 GiB" },
};

static const struct nla_policy window_policy[] = {
	[TCA_WINDOW_BYTES] = { .type = NLA_U32 },
	[TCA_WINDOW_LIMIT] = { .type = NLA_U32 },
};

static int window_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[ARRAY_SIZE(window_policy)] = {};
	struct window_sched *q = qdisc_priv(sch);
	struct window_config c = q->config;
	int err = hop_options_split(opt, tb, ARRAY_SIZE(tb) - 1, window_policy, extack) ?:
		  hop_options_parse(window_options, ARRAY_SIZE(window_options), tb, &c, false,
				    extack);

	if (err)
		return err;
	sch_tree_lock(sch);
	q->config = c;
	window_judge(q, ktime_get_ns());
	sch_tree_unlock(sch);
	return 0;
}

static int window_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct window_sched *q = qdisc_priv(sch);

	return hop_options_show(window_options, ARRAY_SIZE(window_options), &q->config, skb,
				TCA_WINDOW_PAD, TCA_WINDOW_VERSION, 1);
}

static int window_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct window_sched *q = qdisc_priv(sch);
	struct window_stats stats = q->seen;

	stats.valid = hop_blocks_valid(&q->member) && hop_tagging(&q->member);
	return gnet_stats_copy_app(d, &stats, sizeof(stats));
}

static const struct hop_member_ops window_member_ops = { .watch = hop_subqs_watch };

static int window_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	static const struct hop_config port = {
		.kinds = HOP_KIND_EXAMPLE, HOP_PORT_DEFAULTS
	};
	struct window_sched *q = qdisc_priv(sch);
	int err;

	hop_subqs_setup(&q->subqs, q->queues, q->stats, &q->class, WINDOW_QUEUES);
	hop_flow_secret_draw(&q->secret);
	q->mail = (struct hop_mailbox) { q->mail_full, q->mail_said, WINDOW_QUEUES };
	q->config.bytes = 20000;
	q->config.limit = 10000000;
	hop_port_holds_back(sch);
	err = window_change(sch, opt, extack) ?:
	      hop_member_join(&q->member, sch, WINDOW_QUEUES, &port, &window_member_ops, extack);
	return err ?: hop_ingress_use(&q->member) ?: hop_origins_use(&q->member) ?:
	       hop_blocks_join(&q->member, &window_blocks_ops);
}

static void window_destroy(struct Qdisc *sch)
{
	struct window_sched *q = qdisc_priv(sch);

	hop_blocks_leave(&q->member);
	hop_member_leave(&q->member);
}

static struct Qdisc_ops window_qdisc_ops __read_mostly = {
	.id		= "window",
	.cl_ops		= &hop_subqs_class_ops,
	.priv_size	= sizeof(struct window_sched),
	.enqueue	= window_enqueue,
	.dequeue	= window_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= window_init,
	.reset		= window_reset,
	.destroy	= window_destroy,
	.change		= window_change,
	.dump		= window_dump,
	.dump_stats	= window_dump_stats,
	.owner		= THIS_MODULE,
};

/* At the end a port may have found the operations before. */
HOP_KIND_MODULE(window, "A kind with windows, for tests of blocks of data", 0, synchronize_net());
