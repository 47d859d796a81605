// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfc_queue.c - how pauses that we asked for end, pauses that the neighbour asks for, and all ways
 * out of the FIFO
 */
#include "../sched/stats.h"
#include "pfc.h"

/* ---- pauses that we asked for ---- */

static void pfc_uncount(struct pfc_sched *q, struct sk_buff *skb)
{
	u16 handle = pfc_cb(skb)->handle;
	u32 bytes;

	pfc_cb(skb)->handle = 0;
	bytes = hop_ingress_sub(&q->member, handle, qdisc_pkt_len(skb));
	hop_xoff_left(&q->member, &q->buffer, q->config.pool_pause_alpha, handle, bytes);
}

/* Return: packets that counted and do not any more. */
unsigned int pfc_uncount_all(struct pfc_sched *q)
{
	unsigned int before = q->member.marked;
	struct sk_buff *skb;

	if (!q->fifo.head)
		return 0;
	for (skb = q->fifo.head; skb; skb = skb->next) {
		if (pfc_cb(skb)->handle)
			pfc_uncount(q, skb);
	}
	return before - q->member.marked;
}

/* ---- pauses that we obey ---- */

/* Take over what the neighbour has paused and resumed since we last looked, if anything. */
void pfc_merge_paused(struct pfc_sched *q, u64 now)
{
	hop_subqs_obey(&q->subqs, &q->member, &q->paused, &q->paused_seen, now);
}

/* ---- ways out ---- */

/* A packet leaves, in whatever way: what it stands for is taken back. */
static void pfc_forget(void *sched, struct sk_buff *skb)
{
	struct pfc_sched *q = sched;

	hop_buffer_give(&q->buffer, qdisc_pkt_len(skb));
	if (unlikely(pfc_cb(skb)->spilled))
		q->intake.spilled--;
	if (pfc_cb(skb)->handle)
		pfc_uncount(q, skb);
}

struct sk_buff *pfc_take(struct Qdisc *sch, struct pfc_sched *q, u64 now)
{
	struct sk_buff *skb = hop_subq_pop(&q->subqs, &q->member, &q->fifo, now);

	pfc_forget(q, skb);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	return skb;
}

/* Over the limit the FIFO loses its oldest. */
struct hop_admitted pfc_enforce_limit(struct Qdisc *sch, u64 now, struct sk_buff **to_free)
{
	struct pfc_sched *q = qdisc_priv(sch);
	struct hop_admitted change = {};
	struct sk_buff *skb;

	while (sch->qstats.backlog > q->config.limit && q->fifo.head) {
		skb = pfc_take(sch, q, now);
		change.packets--;
		change.bytes -= qdisc_pkt_len(skb);
		change.congested = true;
		q->stats.drop_limit++;
		q->fifo_stats.drops++;
		qdisc_drop(skb, sch, to_free);
	}
	return change;
}

void pfc_reset(struct Qdisc *sch)
{
	struct pfc_sched *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();

	__skb_queue_purge(&q->intake.control);
	hop_subqs_purge(&q->subqs, &q->member, pfc_forget, q, now);
	hop_backlog_moves(sch, &q->stats.backlog_time, &q->changed_ns, now);
	q->late = (struct hop_late_drops) {};
}
