// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - does the link carry tagged frames of full size?
 *
 * Some network cards drop VLAN ids that they do not know, some links drop what is longer than
 * the plain MTU. HELLOs pass there, tagged data would vanish. So before anything is tagged, and
 * as long as it is, control frames of full size with the fabric tag go out, one round each
 * HELLO interval; the neighbour echoes them without a tag. The first three rounds take the
 * first, last and middle VLAN id of the announced range and follow each other as fast as they
 * are echoed; then the ids rotate. In a round that is not answered at once, small tagged probes
 * go along: they tell a link that drops long frames from one that drops tags. After a verdict
 * the id that did not pass has to pass before the three: the link may drop that one only.
 *
 * Full size is what the MTU allows and the tag. A frame of a VLAN device is longer by the user's
 * tag, and many cards take one tag beyond the MTU and not two. So one more probe of each round
 * is longer by that; while it is not echoed such frames go without our tag (tag.c).
 *
 * All under the port's lock.
 */
#include <linux/if_vlan.h>
#include <linux/random.h>

#include "port.h"

/**
 * hop_probe_size - how long a full-size probe is
 * @port: the port
 *
 * Return: bytes of the largest frame without a tag of the user's own, with the fabric's.
 */
unsigned int hop_probe_size(const struct hop_port *port)
{
	return min_t(unsigned int, READ_ONCE(port->dev->mtu) + VLAN_ETH_HLEN, U16_MAX - VLAN_HLEN);
}

/**
 * hop_probe_start - begin to probe
 * @port: the port; one that probes goes on
 * @now: time
 */
void hop_probe_start(struct hop_port *port, u64 now)
{
	lockdep_assert_held(&port->lock);
	if (port->probing.on)
		return;
	port->probing = (struct hop_probing) {
		.verdict	= HOP_STATE_PROBING,
		.on		= true,
		/* behind the HELLO that lets the neighbour know us */
		.round_ns	= now + HOP_HELLO_FIRST_NS,
		.again_ns	= U64_MAX,
	};
	WRITE_ONCE(port->frame_max, hop_probe_size(port));
}

/**
 * hop_probe_stop - forget what was found out
 * @port: the port
 */
void hop_probe_stop(struct hop_port *port)
{
	lockdep_assert_held(&port->lock);
	port->probing.on = false;
	port->probing.verdict = HOP_STATE_PROBING;
}

/* First, last, middle; then around the range. */
static u16 probe_vid(const struct hop_port *port)
{
	switch (port->probing.turn) {
	case 0:
		return 1;
	case 1:
		return port->queues;
	case 2:
		return 1 + port->queues / 2;
	}
	return 1 + port->probing.turn % port->queues;
}

/* The link takes full-size frames, but none with a tag of the user's and ours, or no more. */
static void probe_judge_long(struct hop_port *port)
{
	struct hop_probing *p = &port->probing;

	if (!p->tries || !p->answered || p->long_answered)
		return;
	p->long_failed = min(p->long_failed + 1, HOP_PROBE_ROUNDS);
	if (p->long_failed == HOP_PROBE_ROUNDS)
		WRITE_ONCE(port->frame_max, hop_probe_size(port));
}

/**
 * hop_probe_judge - a round is over: what does it say?
 * @port: the port
 * @now: time
 *
 * Silence means something only while HELLOs come through. Each call counts a round that has failed,
 * so it is for just before hop_probe_due().
 *
 * Return: true if there is a new verdict, for hop_peer_state().
 */
bool hop_probe_judge(struct hop_port *port, u64 now)
{
	struct hop_probing *p = &port->probing;

	lockdep_assert_held(&port->lock);
	if (now < hop_probe_next(port) || now < p->round_ns)
		return false;
	if (!p->tries || p->answered || port->peer.hellos == p->hellos)
		return false;
	p->failed = min(p->failed + 1, HOP_PROBE_ROUNDS);
	if (p->failed < HOP_PROBE_ROUNDS)
		return false;
	p->verdict = p->small_passed ? HOP_STATE_PROBE_SIZE : HOP_STATE_PROBE_TAG;
	p->small_passed = false;
	p->passed = 0;
	p->turn = 0;
	p->bad_vid = p->vid;
	return true;
}

/**
 * hop_probe_due - is a probe to be sent now?
 * @port: the port
 * @now: time
 *
 * Return: true if one with the vid and nonce in hop_probing has to be; counts the try.
 */
bool hop_probe_due(struct hop_port *port, u64 now)
{
	struct hop_probing *p = &port->probing;

	lockdep_assert_held(&port->lock);
	if (now < hop_probe_next(port))
		return false;
	if (now >= p->round_ns) {
		probe_judge_long(port);
		p->vid = min(p->bad_vid ?: probe_vid(port), port->queues);
		p->nonce = get_random_u32();
		p->small_nonce = get_random_u32();
		p->long_nonce = get_random_u32();
		p->tries = 0;
		p->answered = false;
		p->long_answered = false;
		p->hellos = port->peer.hellos;
		p->round_ns = now + (p->failed >= HOP_PROBE_ROUNDS ? HOP_PROBE_SLOW_NS :
				     max_t(u64, HOP_HELLO_NS, 2ULL * hop_hrtt_way_ns(port)));
	}
	p->tries++;
	p->again_ns = p->tries < HOP_PROBE_TRIES ? now + HOP_PROBE_AGAIN_NS : U64_MAX;
	return true;
}

/**
 * hop_probe_next - when the next probe is due
 * @port: the port
 *
 * Return: the time, U64_MAX if none.
 */
u64 hop_probe_next(const struct hop_port *port)
{
	const struct hop_probing *p = &port->probing;

	if (!p->on || !port->queues)
		return U64_MAX;
	return min(p->round_ns, p->again_ns);
}

/**
 * hop_probe_echoed - the neighbour has got a probe
 * @port: the port
 * @echo: what it says
 * @now: time
 *
 * Return: true if there is a new verdict, for hop_peer_state().
 */
bool hop_probe_echoed(struct hop_port *port, const struct hop_probe *echo, u64 now)
{
	struct hop_probing *p = &port->probing;

	lockdep_assert_held(&port->lock);
	if (!p->on || !p->tries)
		return false;
	if (echo->nonce == p->small_nonce && echo->size == HOP_PROBE_SMALL)
		p->small_passed = true;
	if (echo->nonce == p->long_nonce && echo->size == hop_probe_size(port) + VLAN_HLEN) {
		p->long_answered = true;
		p->long_failed = 0;
		WRITE_ONCE(port->frame_max, echo->size);
	}
	if (echo->nonce != p->nonce || p->answered)
		return false;

	p->answered = true;
	p->again_ns = U64_MAX;
	p->failed = 0;
	p->small_passed = false;
	port->stats.probe_echoed++;
	hop_peer_alive(port, now);
	if (p->bad_vid) {
		p->bad_vid = 0;
	} else {
		p->turn++;
		p->passed = min(p->passed + 1, 3);
	}
	if (p->passed < 3) {
		p->round_ns = now;
		hop_port_wake(port);
	} else if (p->verdict != HOP_STATE_TAGGING) {
		p->verdict = HOP_STATE_TAGGING;
		return true;
	}
	return false;
}

static bool echo_allowed(struct hop_port *port, u64 now)
{
	u64 more = div_u64(now - port->echo_ns, HOP_ECHO_EVERY_NS);

	if (more) {
		port->echo_tokens = min_t(u64, port->echo_tokens + more, HOP_ECHO_BURST);
		port->echo_ns = now;
	}
	if (!port->echo_tokens || port->n_echoes >= HOP_ECHOES)
		return false;
	port->echo_tokens--;
	return true;
}

/**
 * hop_probe_rx - echo a probe of the neighbour, which came as it was sent
 * @port: the port
 * @probe: what it says
 * @now: time
 */
void hop_probe_rx(struct hop_port *port, const struct hop_probe *probe, u64 now)
{
	lockdep_assert_held(&port->lock);
	hop_peer_alive(port, now);
	if (!echo_allowed(port, now))
		return;
	port->echoes[port->n_echoes++] = *probe;
	hop_port_wake(port);
}
