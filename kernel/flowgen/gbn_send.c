// SPDX-License-Identifier: GPL-2.0-only
/*
 * gbn_send.c - go-back-N: the sender
 *
 * A flow starts at line rate: all that holds it back is its window, and that no more than
 * `local` of its packets may wait in its own host. With congestion control (cc.h) it is also
 * paced: the next packet goes when the last one has left a line of the flow's rate. When a packet
 * leaves the card (or is dropped before), its destructor gives the room back. The destructor runs
 * under locks of qdiscs and cards, so it only puts the flow into a lock-free list and schedules the
 * endpoint's tasklet, which sends: from one flow after the other, a packet each.
 *
 * One timer for all flows of an endpoint: they have the same timeout, so they stand in a list by
 * deadline. News moves a flow to its end; the timer is not moved, but looks again when it fires.
 * While packets of the flow wait in its own host the deadline is put off: going back would only
 * put the same packets behind them. Another timer is for flows that are paced.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "flowgen.h"

#define FG_SEND_BUDGET	64	/* packets, before others get their turn */
#define FG_LATE_NS	50000	/* what a paced packet may be late without slowing its flow */

static struct kmem_cache *fg_tx_cache;

static void fg_tx_put(struct fg_tx *tx)
{
	struct fg_end *end = tx->end;

	if (!refcount_dec_and_test(&tx->ref))
		return;
	kmem_cache_free(fg_tx_cache, tx);
	fg_end_put(end);
}

static void fg_tx_unpace(struct fg_tx *tx)
{
	if (!RB_EMPTY_NODE(&tx->paced.node))
		timerqueue_del(&tx->end->paced, &tx->paced);
}

/* The flow is no longer under way. Its sender may be freed by this. */
static void fg_tx_drop(struct fg_tx *tx)
{
	lockdep_assert_held(&tx->end->lock);

	tx->gone = true;
	tx->flow->tx = NULL;
	list_del_init(&tx->ready);
	list_del_init(&tx->timed);
	fg_tx_unpace(tx);
	dst_release(tx->dst);
	tx->dst = NULL;
	fg_tx_put(tx);
}

static bool fg_tx_wants(const struct fg_tx *tx)
{
	return !tx->gone && !tx->stalled &&
	       atomic_read(&tx->local) < tx->end->run->config.local &&
	       gbn_tx_may_send(&tx->gbn, tx->window);
}

/* The window is the run's or the law's, what is less, in full packets. Of the law's one counts that
 * is begun, and there are as many as are acknowledged at once.
 */
static void fg_tx_open(struct fg_tx *tx)
{
	const struct fg_config *config = &tx->end->run->config;
	u32 full = config->payload + fg_end_overhead(tx->end) + FG_CC_LINE_BYTES;
	u64 window;

	tx->window = config->window;
	if (!config->law || !config->law->window)
		return;
	window = div_u64(config->law->window(&tx->cc) + full - 1, full);
	window = clamp_t(u64, window, config->ack_every, GBN_PACKETS_MAX);
	if (!tx->window || window < tx->window)
		tx->window = window;
}

/* When the last packet has left a line of the flow's rate. @until: or when that is another one */
static u64 fg_tx_due(struct fg_tx *tx, u64 now, u64 *until)
{
	struct fg_end *end = tx->end;
	u64 rate = end->run->config.law->rate(&tx->cc, &end->law_config, now, until);

	return tx->paced_ns + div64_u64((u64)tx->paced_bytes * NSEC_PER_SEC, rate);
}

/* Return: true if it is not the flow's time yet. Then it is looked at again. */
static bool fg_tx_paces(struct fg_tx *tx)
{
	struct fg_end *end = tx->end;
	u64 now, due, until;

	if (!end->run->config.law)
		return false;
	fg_tx_unpace(tx);
	now = fg_now();
	due = fg_tx_due(tx, now, &until);
	if (due <= now)
		return false;
	tx->paced.expires = ns_to_ktime(min(due, until));
	if (timerqueue_add(&end->paced, &tx->paced))
		hrtimer_start(&end->pacer, tx->paced.expires, HRTIMER_MODE_ABS_SOFT);
	return true;
}

static void fg_tx_ready(struct fg_tx *tx)
{
	lockdep_assert_held(&tx->end->lock);

	if (list_empty(&tx->ready) && fg_tx_wants(tx) && !fg_tx_paces(tx))
		list_add_tail(&tx->ready, &tx->end->ready);
}

/* The packet before the next one, of so many bytes behind the MAC header, is sent. */
static void fg_tx_paced(struct fg_tx *tx, u32 bytes)
{
	const struct fg_config *config = &tx->end->run->config;
	const struct fg_cc *law = config->law;
	u64 now, due, until;

	if (!law)
		return;
	now = fg_now();
	due = fg_tx_due(tx, now, &until);
	tx->paced_ns = tx->paced_bytes && due <= now && now - due < FG_LATE_NS ? due : now;
	tx->paced_bytes = bytes + FG_CC_LINE_BYTES;
	if (law->sent)
		law->sent(&tx->cc, &tx->end->law_config, tx->paced_bytes);
	if (!tx->asked_ns && gbn_asks(tx->gbn.next - 1, tx->gbn.packets, config->ack_every))
		tx->asked_ns = now;
}

/* There is news: the timer starts anew. */
static void fg_tx_news(struct fg_tx *tx, u64 now)
{
	struct fg_end *end = tx->end;

	lockdep_assert_held(&end->lock);

	tx->stalled = false;
	tx->deadline_ns = now + end->run->config.rto_ns;
	list_move_tail(&tx->timed, &end->timed);
	if (!end->armed) {
		end->armed = true;
		hrtimer_start(&end->timer, ns_to_ktime(tx->deadline_ns), HRTIMER_MODE_ABS_SOFT);
	}
}

/* A packet has left the host, or died in it. Its reference goes to the list. */
static void fg_skb_free(struct sk_buff *skb)
{
	struct fg_tx *tx = skb_shinfo(skb)->destructor_arg;

	rcu_read_lock();
	atomic_dec(&tx->local);
	if (!READ_ONCE(tx->end->dead) && !test_and_set_bit(0, &tx->back)) {
		if (llist_add(&tx->returned, &tx->end->returned))
			tasklet_schedule(&tx->end->tasklet);
	} else {
		fg_tx_put(tx);
	}
	rcu_read_unlock();
}

/* Flows whose packets have left, the first one first. Their references are dropped after the
 * bit: a packet that leaves meanwhile puts the flow into the list again.
 */
static void fg_end_collect(struct fg_end *end)
{
	struct llist_node *list = llist_reverse_order(llist_del_all(&end->returned));
	struct fg_tx *tx, *next;

	llist_for_each_entry_safe(tx, next, list, returned) {
		clear_bit(0, &tx->back);
		smp_mb__after_atomic();
		fg_tx_ready(tx);
		fg_tx_put(tx);
	}
}

/* A device that is down or without carrier has a qdisc that takes all, and drops it: a flow would
 * send all that it has in no time.
 */
static bool fg_dst_leads_out(const struct dst_entry *dst)
{
	return netif_running(dst->dev) && netif_carrier_ok(dst->dev);
}

/* Return: false if the flow cannot go on: its packets exceed the MTU. */
static bool fg_tx_route(struct fg_tx *tx, u32 full)
{
	struct fg_end *end = tx->end;
	bool fits = true;

	if (!tx->dst || !dst_check(tx->dst, tx->cookie)) {
		dst_release(tx->dst);
		tx->dst = fg_end_route(end, end->run->ends[tx->flow->dst], tx->port,
				       &tx->cookie);
		fits = !tx->dst || dst_mtu(tx->dst) >= full + fg_end_overhead(end);
	}
	if (!tx->dst || !fg_dst_leads_out(tx->dst)) {
		end->count[FLOWGEN_C_NO_ROUTE]++;
		tx->stalled = true;
	}
	return fits;
}

/* The next packet of a flow, or NULL; then it waits for its timer. */
static struct sk_buff *fg_tx_packet(struct fg_tx *tx)
{
	struct fg_end *end = tx->end;
	struct fg_run *run = end->run;
	struct fg_flow *flow = tx->flow;
	struct gbn_header h = { .run = run->number, .flow = tx->number };
	struct sk_buff *skb;
	u32 payload;

	payload = gbn_describe(&h, flow->bytes, run->config.payload, tx->gbn.next);
	h.flags |= fg_cc_flags(run->config.law);
	skb = fg_end_packet(end, run->ends[flow->dst], tx->port, flow->class, tx->dst, &h, NULL,
			    payload);
	if (!skb) {
		end->count[FLOWGEN_C_NO_MEMORY]++;
		tx->stalled = true;
		return NULL;
	}
	refcount_inc(&tx->ref);
	atomic_inc(&tx->local);
	skb_shinfo(skb)->destructor_arg = tx;
	skb->destructor = fg_skb_free;
	flow->sent++;
	end->count[FLOWGEN_C_PACKETS]++;
	tx->again = gbn_tx_sent(&tx->gbn);
	fg_tx_paced(tx, payload + fg_end_overhead(end));
	flow->again += tx->again;
	end->count[FLOWGEN_C_RETRANSMITS] += tx->again;
	return skb;
}

/* Choose the flow whose turn it is. Return: a packet of its, and with it a reference to the
 * flow; or NULL if nothing may be sent.
 */
static struct sk_buff *fg_end_next(struct fg_end *end, struct fg_tx **whose)
{
	struct fg_run *run = end->run;
	struct sk_buff *skb;
	struct fg_tx *tx;
	u32 full;

	while ((tx = list_first_entry_or_null(&end->ready, struct fg_tx, ready))) {
		list_del_init(&tx->ready);
		if (!fg_tx_wants(tx))
			continue;
		full = min_t(u64, tx->flow->bytes, run->config.payload);
		if (!fg_tx_route(tx, full)) {
			end->count[FLOWGEN_C_TOO_BIG]++;
			fg_tx_drop(tx);
			fg_flow_over(run, false);
			continue;
		}
		skb = tx->stalled ? NULL : fg_tx_packet(tx);
		if (!skb)
			continue;
		fg_tx_ready(tx);
		refcount_inc(&tx->ref);
		*whose = tx;
		return skb;
	}
	return NULL;
}

/* The host's own qdisc has refused the packet, which is as if it had not been sent. */
static void fg_tx_refused(struct fg_tx *tx)
{
	struct fg_end *end = tx->end;

	spin_lock(&end->lock);
	end->count[FLOWGEN_C_LOCAL_DROPS]++;
	if (!tx->gone && gbn_tx_unsent(&tx->gbn, tx->again)) {
		tx->stalled = true;
		list_del_init(&tx->ready);
		tx->flow->sent--;
		end->count[FLOWGEN_C_PACKETS]--;
		tx->flow->again -= tx->again;
		end->count[FLOWGEN_C_RETRANSMITS] -= tx->again;
	}
	spin_unlock(&end->lock);
}

/* Send what may be sent. */
static void fg_gbn_tasklet(struct tasklet_struct *tasklet)
{
	struct fg_end *end = from_tasklet(end, tasklet, tasklet);
	unsigned int budget = FG_SEND_BUDGET;
	struct sk_buff *skb;
	struct fg_tx *tx;

	rcu_read_lock();
	for (; budget; budget--) {
		spin_lock(&end->lock);
		skb = NULL;
		if (!end->dead && fg_run_is_on(end->run)) {
			fg_end_collect(end);
			skb = fg_end_next(end, &tx);
		}
		spin_unlock(&end->lock);
		if (!skb)
			break;
		if (fg_end_output(end, skb))
			fg_tx_refused(tx);
		fg_tx_put(tx);
	}
	if (!budget)
		tasklet_schedule(&end->tasklet);
	rcu_read_unlock();
}

/* Is an answer late? A flow may be so slow that the packet is still to come which asks for one. */
static bool fg_tx_is_late(const struct fg_tx *tx, u64 now)
{
	const struct fg_config *config = &tx->end->run->config;

	return !config->law || (tx->asked_ns && now - tx->asked_ns >= config->rto_ns);
}

static void fg_tx_late(struct fg_tx *tx, u64 now)
{
	struct fg_end *end = tx->end;

	if (!fg_tx_is_late(tx, now))
		return;
	if (!atomic_read(&tx->local) && tx->gbn.next > tx->gbn.acked) {
		tx->flow->timeouts++;
		end->count[FLOWGEN_C_TIMEOUTS]++;
		gbn_tx_timeout(&tx->gbn);
		tx->asked_ns = 0;
	}
}

/* Go back where nothing was heard for too long. */
static enum hrtimer_restart fg_gbn_timer(struct hrtimer *timer)
{
	struct fg_end *end = container_of(timer, struct fg_end, timer);
	struct fg_run *run = end->run;
	u64 now = fg_now();
	struct fg_tx *tx;
	bool again;

	rcu_read_lock();
	spin_lock(&end->lock);
	while (!end->dead && fg_run_is_on(run) &&
	       (tx = list_first_entry_or_null(&end->timed, struct fg_tx, timed)) &&
	       tx->deadline_ns <= now) {
		if (READ_ONCE(run->ends[tx->flow->dst]->dead)) {
			fg_tx_drop(tx);
			fg_flow_over(run, false);
			continue;
		}
		fg_tx_late(tx, now);
		fg_tx_news(tx, now);
		fg_tx_ready(tx);
	}
	again = !end->dead && fg_run_is_on(run) && !list_empty(&end->timed);
	end->armed = again;
	if (again) {
		tx = list_first_entry(&end->timed, struct fg_tx, timed);
		hrtimer_set_expires(timer, ns_to_ktime(tx->deadline_ns));
	}
	if (!list_empty(&end->ready))
		tasklet_schedule(&end->tasklet);
	spin_unlock(&end->lock);
	rcu_read_unlock();
	return again ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* Paced flows whose time has come. Those that are left over come at once, but after others. */
static enum hrtimer_restart fg_gbn_pacer(struct hrtimer *timer)
{
	struct fg_end *end = container_of(timer, struct fg_end, pacer);
	unsigned int budget = FG_SEND_BUDGET;
	struct timerqueue_node *node;
	u64 now = fg_now();
	struct fg_tx *tx;

	rcu_read_lock();
	spin_lock(&end->lock);
	while (budget-- && !end->dead && fg_run_is_on(end->run) &&
	       (node = timerqueue_getnext(&end->paced)) && ktime_to_ns(node->expires) <= now) {
		tx = container_of(node, struct fg_tx, paced);
		fg_tx_unpace(tx);
		fg_tx_ready(tx);
	}
	node = timerqueue_getnext(&end->paced);
	if (node && !end->dead && fg_run_is_on(end->run))
		hrtimer_start(timer, node->expires, HRTIMER_MODE_ABS_SOFT);
	if (!list_empty(&end->ready))
		tasklet_schedule(&end->tasklet);
	spin_unlock(&end->lock);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

/**
 * fg_gbn_cnp - a CNP has come
 * @end: to the sender's endpoint
 * @flow: one of its flows
 *
 * Context: RCU.
 */
void fg_gbn_cnp(struct fg_end *end, struct fg_flow *flow)
{
	const struct fg_cc *law = end->run->config.law;
	struct fg_tx *tx;

	spin_lock(&end->lock);
	tx = flow->tx;
	if (!tx || !law || !law->cnp) {
		end->count[tx ? FLOWGEN_C_RX_PACKET : FLOWGEN_C_STALE_ACKS]++;
	} else {
		end->count[FLOWGEN_C_CNPS_HEARD]++;
		law->cnp(&tx->cc, &end->law_config, fg_now());
		if (!RB_EMPTY_NODE(&tx->paced.node)) {
			fg_tx_unpace(tx);
			fg_tx_ready(tx);
		}
	}
	if (!list_empty(&end->ready))
		tasklet_schedule(&end->tasklet);
	spin_unlock(&end->lock);
}

/**
 * fg_gbn_answer - an ACK or a NACK has come
 * @end: to the sender's endpoint
 * @flow: one of its flows
 * @h: header
 * @records: its telemetry, if the run has that
 *
 * Context: RCU.
 */
void fg_gbn_answer(struct fg_end *end, struct fg_flow *flow, const struct gbn_header *h,
		   const u8 *records)
{
	struct fg_run *run = end->run;
	const struct fg_cc *law = run->config.law;
	enum gbn_news news = GBN_STALE;
	u64 now = fg_now();
	struct fg_tx *tx;

	spin_lock(&end->lock);
	tx = flow->tx;
	if (tx)
		news = h->type == GBN_ACK ? gbn_tx_ack(&tx->gbn, h->packet) :
					    gbn_tx_nack(&tx->gbn, h->packet);
	if (news == GBN_STALE) {
		end->count[FLOWGEN_C_STALE_ACKS]++;
	} else if (news == GBN_BAD) {
		end->count[FLOWGEN_C_RX_PACKET]++;
	} else if (gbn_tx_complete(&tx->gbn)) {
		flow->acked_ns = now - run->start_ns;
		end->count[FLOWGEN_C_COMPLETED]++;
		fg_tx_drop(tx);
		fg_flow_over(run, true);
	} else {
		tx->asked_ns = 0;
		if (law && law->ack) {
			law->ack(&tx->cc, &end->law_config, records, &tx->gbn, now);
			fg_tx_open(tx);
		}
		fg_tx_news(tx, now);
		fg_tx_ready(tx);
	}
	if (!list_empty(&end->ready))
		tasklet_schedule(&end->tasklet);
	spin_unlock(&end->lock);
}

static struct fg_tx *fg_tx_new(struct fg_run *run, u32 number)
{
	struct fg_flow *flow = &run->flows[number];
	struct fg_tx *tx;

	tx = kmem_cache_zalloc(fg_tx_cache, GFP_ATOMIC);
	if (!tx)
		return NULL;
	refcount_set(&tx->ref, 1);
	INIT_LIST_HEAD(&tx->ready);
	INIT_LIST_HEAD(&tx->timed);
	tx->end = run->ends[flow->src];
	kref_get(&tx->end->ref);
	tx->flow = flow;
	tx->number = number;
	tx->gbn.packets = flow->packets;
	timerqueue_init(&tx->paced);
	if (run->config.law)
		run->config.law->start(&tx->cc, &tx->end->law_config);
	fg_tx_open(tx);
	tx->port = gbn_port(run->config.seed, number);
	return tx;
}

/**
 * fg_gbn_start - a flow starts
 * @run: the run
 * @number: of the flow
 *
 * Context: RCU.
 */
void fg_gbn_start(struct fg_run *run, u32 number)
{
	struct fg_flow *flow = &run->flows[number];
	struct fg_end *end = run->ends[flow->src];
	struct fg_tx *tx = NULL;

	spin_lock(&end->lock);
	if (!end->dead && !READ_ONCE(run->ends[flow->dst]->dead)) {
		tx = fg_tx_new(run, number);
		if (!tx)
			end->count[FLOWGEN_C_NO_MEMORY]++;
	}
	if (tx) {
		flow->tx = tx;
		fg_tx_news(tx, fg_now());
		fg_tx_ready(tx);
		tasklet_schedule(&end->tasklet);
	} else {
		fg_flow_over(run, false);
	}
	spin_unlock(&end->lock);
}

/**
 * fg_gbn_prepare - an endpoint will send
 * @end: the endpoint, which neither sends nor receives
 */
void fg_gbn_prepare(struct fg_end *end)
{
	hrtimer_init(&end->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	end->timer.function = fg_gbn_timer;
	hrtimer_init(&end->pacer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	end->pacer.function = fg_gbn_pacer;
	tasklet_setup(&end->tasklet, fg_gbn_tasklet);
}

/**
 * fg_gbn_reap - give up the flows from an endpoint
 * @end: closed a grace period ago, so that nobody schedules its tasklet
 */
void fg_gbn_reap(struct fg_end *end)
{
	struct llist_node *list;
	struct fg_tx *tx, *next;

	hrtimer_cancel(&end->timer);
	hrtimer_cancel(&end->pacer);
	tasklet_kill(&end->tasklet);
	list = llist_del_all(&end->returned);
	llist_for_each_entry_safe(tx, next, list, returned)
		fg_tx_put(tx);
	spin_lock_bh(&end->lock);
	list_for_each_entry_safe(tx, next, &end->timed, timed) {
		fg_tx_drop(tx);
		fg_flow_over(end->run, false);
	}
	spin_unlock_bh(&end->lock);
}

int __init fg_gbn_init(void)
{
	fg_tx_cache = KMEM_CACHE(fg_tx, 0);
	return fg_tx_cache ? 0 : -ENOMEM;
}

void fg_gbn_exit(void)
{
	kmem_cache_destroy(fg_tx_cache);
}
