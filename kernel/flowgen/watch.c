// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch.c - samples of ports
 *
 * A timer looks at each watched device: what waits in its qdiscs, and what it has sent. A sample
 * that has nothing new is left out, and the last one is taken before the run is over. Devices are
 * looked up by number each time, so that a device may go: it then has no more samples. What nobody
 * fetches is kept up to a bound.
 */
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/sch_generic.h>

#include "flowgen.h"

#define FG_CHUNKS_MAX	1024	/* 64 MiB */
#define FG_TELL		(FG_SAMPLES / 2)

/* Below a multi-queue root each transmit queue has a qdisc of its own, else all have the same. */
static void fg_port_backlog(struct net_device *dev, struct flowgen_sample *s)
{
	struct Qdisc *qdisc, *last = NULL;
	u32 packets, bytes;
	unsigned int i;

	for (i = 0; i < dev->num_tx_queues; i++) {
		qdisc = rcu_dereference(netdev_get_tx_queue(dev, i)->qdisc);
		if (!qdisc || qdisc == last)
			continue;
		qdisc_qstats_qlen_backlog(qdisc, &packets, &bytes);
		s->backlog_packets += packets;
		s->backlog_bytes += bytes;
		last = qdisc;
	}
}

static bool fg_port_sample(struct fg_port *port, struct flowgen_sample *s)
{
	struct rtnl_link_stats64 stats;
	struct net *net = READ_ONCE(port->net);
	struct net_device *dev = net ? dev_get_by_index_rcu(net, port->ifindex) : NULL;

	if (!dev)
		return false;
	fg_port_backlog(dev, s);
	s->tx_bytes = dev_get_stats(dev, &stats)->tx_bytes;
	if (port->told && port->last.backlog_bytes == s->backlog_bytes &&
	    port->last.backlog_packets == s->backlog_packets &&
	    port->last.tx_bytes == s->tx_bytes)
		return false;
	port->told = true;
	port->last = *s;
	return true;
}

static void fg_watch_keep(struct fg_watch *watch, const struct flowgen_sample *s)
{
	struct fg_samples *chunk;

	spin_lock(&watch->lock);
	chunk = list_empty(&watch->chunks) ? NULL :
		list_last_entry(&watch->chunks, struct fg_samples, node);
	if (!chunk || chunk->used == FG_SAMPLES) {
		chunk = watch->n_chunks < FG_CHUNKS_MAX ?
			kmalloc(sizeof(*chunk), GFP_ATOMIC | __GFP_NOWARN) : NULL;
		if (!chunk) {
			watch->lost++;
			goto out;
		}
		chunk->first = 0;
		chunk->used = 0;
		list_add_tail(&chunk->node, &watch->chunks);
		watch->n_chunks++;
	}
	chunk->samples[chunk->used++] = *s;
	watch->held++;
out:
	spin_unlock(&watch->lock);
}

static enum hrtimer_restart fg_watch_timer(struct hrtimer *timer)
{
	struct fg_run *run = container_of(timer, struct fg_run, watch.timer);
	u64 at = ktime_to_ns(hrtimer_get_expires(timer)), now = fg_now();
	struct fg_watch *watch = &run->watch;
	struct flowgen_sample s;
	u32 i;

	if (!fg_run_is_on(run))
		return HRTIMER_NORESTART;
	rcu_read_lock();
	for (i = 0; i < watch->n_ports; i++) {
		s = (struct flowgen_sample){ .time_ns = now - run->start_ns, .port = i };
		if (fg_port_sample(&watch->ports[i], &s))
			fg_watch_keep(watch, &s);
	}
	rcu_read_unlock();
	if (READ_ONCE(watch->held) >= FG_TELL)
		schedule_work(&run->tell);
	/* in real time an instant may have been missed */
	at += div64_u64(now - at, run->config.interval_ns) * run->config.interval_ns;
	hrtimer_set_expires(timer, ns_to_ktime(at + run->config.interval_ns));
	return HRTIMER_RESTART;
}

/**
 * fg_watch_add - watch one more device
 * @run: not started
 * @net: its namespace
 * @name: its name
 * @why: what was wrong
 *
 * Context: fg_mutex.
 * Return: 0 or -errno.
 */
int fg_watch_add(struct fg_run *run, struct net *net, const char *name, const char **why)
{
	struct fg_watch *watch = &run->watch;
	struct net_device *dev;
	struct fg_port *ports;

	*why = "so many ports cannot be watched";
	if (watch->n_ports >= FLOWGEN_PORTS_MAX)
		return -E2BIG;
	*why = "no memory";
	if (!(watch->n_ports & (watch->n_ports - 1))) {
		ports = kvcalloc(max(2 * watch->n_ports, 1U), sizeof(*ports), GFP_KERNEL);
		if (!ports)
			return -ENOMEM;
		if (watch->n_ports)
			memcpy(ports, watch->ports, watch->n_ports * sizeof(*ports));
		kvfree(watch->ports);
		watch->ports = ports;
	}
	*why = "no such device in this namespace";
	dev = dev_get_by_name(net, name);
	if (!dev)
		return -ENODEV;
	watch->ports[watch->n_ports++] = (struct fg_port){ .net = net, .ifindex = dev->ifindex };
	dev_put(dev);
	return 0;
}

/**
 * fg_watch_start - take the first sample, at the start of the run
 * @run: the run
 */
void fg_watch_start(struct fg_run *run)
{
	if (run->watch.n_ports)
		hrtimer_start(&run->watch.timer, ns_to_ktime(run->start_ns),
			      HRTIMER_MODE_ABS_SOFT);
}

/**
 * fg_watch_leave - a namespace ends
 * @watch: the watch
 * @net: the namespace, whose devices are looked up no more after a grace period
 *
 * Context: fg_mutex.
 */
void fg_watch_leave(struct fg_watch *watch, struct net *net)
{
	u32 i;

	for (i = 0; i < watch->n_ports; i++)
		if (watch->ports[i].net == net)
			WRITE_ONCE(watch->ports[i].net, NULL);
}

/**
 * fg_watch_peek - the oldest samples
 * @watch: the watch
 * @samples: where they are; they stay until they are forgotten
 *
 * Context: fg_mutex.
 * Return: how many there are in one piece.
 */
u32 fg_watch_peek(struct fg_watch *watch, const struct flowgen_sample **samples)
{
	struct fg_samples *chunk;
	u32 n = 0;

	spin_lock_bh(&watch->lock);
	chunk = list_first_entry_or_null(&watch->chunks, struct fg_samples, node);
	if (chunk) {
		*samples = chunk->samples + chunk->first;
		n = chunk->used - chunk->first;
	}
	spin_unlock_bh(&watch->lock);
	return n;
}

/**
 * fg_watch_forget - samples have been told
 * @watch: the watch
 * @n: how many of those that fg_watch_peek() has shown
 *
 * Context: fg_mutex.
 */
void fg_watch_forget(struct fg_watch *watch, u32 n)
{
	struct fg_samples *chunk;

	spin_lock_bh(&watch->lock);
	chunk = list_first_entry(&watch->chunks, struct fg_samples, node);
	chunk->first += n;
	watch->held -= n;
	if (chunk->first == chunk->used) {
		list_del(&chunk->node);
		watch->n_chunks--;
	} else {
		chunk = NULL;
	}
	spin_unlock_bh(&watch->lock);
	kfree(chunk);
}

/**
 * fg_watch_init - nothing is watched
 * @watch: all zero
 */
void fg_watch_init(struct fg_watch *watch)
{
	spin_lock_init(&watch->lock);
	INIT_LIST_HEAD(&watch->chunks);
	hrtimer_init(&watch->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	watch->timer.function = fg_watch_timer;
}

/**
 * fg_watch_free - the run ends
 * @watch: with its timer cancelled
 */
void fg_watch_free(struct fg_watch *watch)
{
	struct fg_samples *chunk, *next;

	list_for_each_entry_safe(chunk, next, &watch->chunks, node)
		kfree(chunk);
	kvfree(watch->ports);
}
