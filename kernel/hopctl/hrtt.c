// SPDX-License-Identifier: GPL-2.0-only
/*
 * hrtt.c - the 1-hop round-trip time of a port's link
 *
 * HRTT is the least of a window of measured round trips, without the time that the neighbour
 * held our time stamp, plus the time that a frame may wait on its card; or what our pauses take to
 * have an effect, if that is more (reaction.h). Beyond hop_config.hrtt_max_ns nothing is believed.
 *
 * All under the port's lock.
 */
#include "port.h"
#include "trace.h"

/**
 * hop_hrtt_raw - the measured HRTT
 * @port: the port
 *
 * Return: ns, 0 if none was measured yet.
 */
u32 hop_hrtt_raw(const struct hop_port *port)
{
	const struct hop_peer *peer = &port->peer;
	unsigned int i, n = min_t(u32, peer->rtt_count, HOP_HRTT_WINDOW);
	u32 least = U32_MAX;

	lockdep_assert_held(&port->lock);
	if (!peer->up || !n)
		return 0;
	for (i = 0; i < n; i++)
		least = min(least, peer->rtt[i]);
	/* 0 would say that nothing was measured; virtual links are that fast */
	return clamp_t(u64, (u64)least + peer->hello.ring_ns, 1, U32_MAX);
}

/**
 * hop_hrtt_way_ns - how long a frame and its answer may take, whatever thresholds reckon with
 * @port: the port
 *
 * What is waited for is not to come sooner because a neighbour is not believed.
 * Return: ns, at most HOP_HRTT_MAX_NS.
 */
u32 hop_hrtt_way_ns(const struct hop_port *port)
{
	u32 raw = hop_hrtt_raw(port);

	return min_t(u32, max(raw, port->hrtt_used), HOP_HRTT_MAX_NS);
}

/* A threshold that nobody else would exceed would be the end of backpressure on this box, so how
 * much a neighbour may say, or bring about, has an end.
 */
static void hrtt_cap(struct hop_port *port, u32 most)
{
	bool capped = !port->cfg.hrtt_ns && most > port->cfg.hrtt_max_ns;

	if (capped && !port->hrtt_capped)
		hop_port_event(port, HOP_EVENT_HRTT_CAPPED);
	port->hrtt_capped = capped;
}

static u32 hrtt_believed(const struct hop_port *port, u32 ns)
{
	return port->cfg.hrtt_ns ?: clamp(ns, HOP_HRTT_MIN_NS, port->cfg.hrtt_max_ns);
}

/**
 * hop_hrtt_update - decide anew which HRTT to use
 * @port: the port
 * @now: time
 */
void hop_hrtt_update(struct hop_port *port, u64 now)
{
	bool doubtful = !port->cfg.hrtt_ns && port->cfg.peer == HOP_ROLE_HOST;
	u32 raw = hop_hrtt_raw(port), used = port->cfg.hrtt_ns;
	u32 reaction = raw ? hop_reaction_most(&port->reaction, now) : 0;

	lockdep_assert_held(&port->lock);
	hrtt_cap(port, max(raw, reaction));
	WRITE_ONCE(port->hrtt_link, raw ? hrtt_believed(port, raw) : used);
	if (raw)
		used = hrtt_believed(port, max(raw, hop_reaction_round(reaction)));
	if (used == port->hrtt_used && doubtful == port->hrtt_doubtful)
		return;
	WRITE_ONCE(port->hrtt_used, used);
	WRITE_ONCE(port->hrtt_doubtful, doubtful);
	hop_net_hrtt(port->net);
	trace_hop_hrtt(port, raw, used);
	hop_port_event(port, HOP_EVENT_HRTT);
}
