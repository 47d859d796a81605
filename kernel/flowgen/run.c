// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - life of a run: flows start
 *
 * The trace is an array in the order of time, and one timer walks along it. Results stay in the
 * array until the run is freed.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "flowgen.h"

DEFINE_MUTEX(fg_mutex);
LIST_HEAD(fg_runs);

/* The trace begins in a moment: a timer for the present fires late, and a kernel that has just been
 * booted has no timers finer than its tick until it has ticked a few times.
 */
#define FG_LEAD_NS	100000000

static u16 fg_last_number;

static enum hrtimer_restart fg_run_starter(struct hrtimer *timer)
{
	struct fg_run *run = container_of(timer, struct fg_run, starter);
	u64 now = fg_now() - run->start_ns;

	rcu_read_lock();
	while (run->next < run->n_flows && run->flows[run->next].start_ns <= now &&
	       fg_run_is_on(run))
		run->transport->start(run, run->next++);
	rcu_read_unlock();
	if (run->next == run->n_flows || !fg_run_is_on(run))
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(run->start_ns + run->flows[run->next].start_ns));
	return HRTIMER_RESTART;
}

static enum hrtimer_restart fg_run_limiter(struct hrtimer *timer)
{
	fg_run_over(container_of(timer, struct fg_run, limiter), FLOWGEN_STATE_LIMIT);
	return HRTIMER_NORESTART;
}

/**
 * fg_run_find - the run of a netlink socket
 * @portid: of the socket
 *
 * Context: fg_mutex.
 * Return: the run, or NULL.
 */
struct fg_run *fg_run_find(u32 portid)
{
	struct fg_run *run;

	list_for_each_entry(run, &fg_runs, node)
		if (run->portid == portid)
			return run;
	return NULL;
}

static bool fg_number_taken(u16 number)
{
	const struct fg_run *run;

	list_for_each_entry(run, &fg_runs, node)
		if (run->number == number)
			return true;
	return !number;
}

/**
 * fg_run_new - make a run
 * @portid: of the netlink socket that it belongs to; it has none yet
 * @config: options
 * @n_flows: of the trace
 * @n_ends: endpoints have numbers below this
 * @tell: tells the socket that it is over, or has many samples
 *
 * Context: fg_mutex.
 * Return: the run, or NULL for want of memory.
 */
struct fg_run *fg_run_new(u32 portid, const struct fg_config *config, u32 n_flows, u32 n_ends,
			  work_func_t tell)
{
	struct fg_run *run;

	run = kzalloc(sizeof(*run), GFP_KERNEL);
	if (!run)
		return NULL;
	run->transport = config->transport == FLOWGEN_TRANSPORT_TCP ? &fg_tcp_transport :
								      &fg_gbn_transport;
	run->flows = kvcalloc(n_flows, sizeof(*run->flows), GFP_KERNEL);
	run->ends = kvcalloc(n_ends, sizeof(*run->ends), GFP_KERNEL);
	if (!run->flows || !run->ends ||
	    (run->transport->run_new && run->transport->run_new(run))) {
		kvfree(run->flows);
		kvfree(run->ends);
		kfree(run);
		return NULL;
	}
	run->portid = portid;
	run->config = *config;
	run->n_flows = n_flows;
	run->n_ends = n_ends;
	while (fg_number_taken(fg_last_number))
		fg_last_number++;
	run->number = fg_last_number++;
	atomic_set(&run->left, n_flows);
	INIT_WORK(&run->tell, tell);
	hrtimer_init(&run->starter, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	run->starter.function = fg_run_starter;
	hrtimer_init(&run->limiter, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	run->limiter.function = fg_run_limiter;
	fg_watch_init(&run->watch);
	list_add_tail(&run->node, &fg_runs);
	return run;
}

/**
 * fg_run_start - the trace begins
 * @run: with all flows and endpoints
 *
 * Context: fg_mutex.
 */
void fg_run_start(struct fg_run *run)
{
	run->start_ns = fg_now() + FG_LEAD_NS;
	smp_store_release(&run->state, FLOWGEN_STATE_RUNNING);
	fg_watch_start(run);
	if (run->config.limit_ns)
		hrtimer_start(&run->limiter, ns_to_ktime(run->start_ns + run->config.limit_ns),
			      HRTIMER_MODE_ABS_SOFT);
	hrtimer_start(&run->starter, ns_to_ktime(run->start_ns + run->flows[0].start_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

static bool fg_end_leaves(const struct fg_end *end, const struct net *net)
{
	return end && end->net && (!net || end->net == net);
}

/* Close the endpoints of a namespace, or all of them. */
static void fg_run_close(struct fg_run *run, const struct net *net)
{
	struct fg_flow *flow;
	u32 i;

	for (i = 0; i < run->n_ends; i++)
		if (fg_end_leaves(run->ends[i], net))
			fg_end_close(run->ends[i]);
	synchronize_net();
	if (run->transport->run_settle)
		run->transport->run_settle(run);
	for (flow = run->flows; flow < run->flows + run->n_added; flow++) {
		if (flow->back && fg_end_leaves(run->ends[flow->dst], net)) {
			dst_release(flow->back);
			flow->back = NULL;
		}
	}
	for (i = 0; i < run->n_ends; i++)
		if (fg_end_leaves(run->ends[i], net))
			fg_end_reap(run->ends[i]);
}

/**
 * fg_run_leave - a namespace ends
 * @net: the namespace
 *
 * Flows from there are given up at once, flows to there when their sender's timer fires.
 *
 * Context: fg_mutex.
 */
void fg_run_leave(struct net *net)
{
	struct fg_run *run;
	u32 i;

	list_for_each_entry(run, &fg_runs, node) {
		fg_watch_leave(&run->watch, net);
		for (i = 0; i < run->n_ends; i++)
			if (fg_end_leaves(run->ends[i], net))
				break;
		if (i < run->n_ends)
			fg_run_close(run, net);
		else if (run->watch.n_ports)
			synchronize_net();
	}
}

/**
 * fg_run_free - end a run, at any time
 * @run: the run
 *
 * Context: fg_mutex.
 */
void fg_run_free(struct fg_run *run)
{
	u32 i;

	list_del(&run->node);
	/* nothing starts, goes on or is armed again from here on */
	xchg(&run->state, FLOWGEN_STATE_LIMIT);
	hrtimer_cancel(&run->starter);
	hrtimer_cancel(&run->limiter);
	hrtimer_cancel(&run->watch.timer);
	fg_run_close(run, NULL);
	if (run->transport->run_free)
		run->transport->run_free(run);
	cancel_work_sync(&run->tell);
	fg_watch_free(&run->watch);
	for (i = 0; i < run->n_ends; i++)
		if (run->ends[i])
			fg_end_put(run->ends[i]);
	kvfree(run->ends);
	kvfree(run->flows);
	kfree(run);
}
