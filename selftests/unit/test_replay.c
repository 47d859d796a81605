// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_replay.c - walks of selftests/model/stream.pml, gone with stream.h
 *
 * What stream.c, pause.c and peer.c make of it is here in few words; kunit/test_replay.c goes the
 * same walks with them. Numbers begin where they wrap, or where their sign does.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel_shim.h"
#include "unit.h"
#include "../../kernel/hopctl/stream.h"

struct replay_frame {
	u32			mine, yours, seq;
	struct hop_stream_part	part;
	u64			pages[3];
};

#define replay_print(...)	printf("# " __VA_ARGS__)
#define replay_print_walk	replay_print

#include "../model/replay.h"

#define TICK	100

static const struct hop_stream_times times = {
	.echo_ns = 10, .refresh_ns = TICK, .lease_ns = REPLAY_LEASE * TICK,
};

/**
 * struct ports - what both have
 * @d: D's part of the stream
 * @u: and U's
 * @epoch: of each
 * @peer: and of whom it has for its neighbour, also when that was lost
 * @up: it has one
 * @first: number before the first frame of each life of D
 * @truth: what D is to tell
 * @told: what it tells
 * @view: what U believes
 * @acks: an echo is due
 * @now: time
 * @seen: how often there was which event
 */
static struct ports {
	struct hop_stream d, u;
	u32	epoch[2];
	u32	peer[2];
	bool	up[2];
	u32	first;
	u64	truth[REPLAY_PAGES];
	u64	told[REPLAY_PAGES];
	u64	view[REPLAY_PAGES];
	bool	acks;
	u64	now;
	unsigned int seen[REPLAY_EVENTS];
} ports;

static unsigned int set_of(const u64 *pages)
{
	unsigned int i, set = 0;

	for (i = 0; i < REPLAY_PAGES; i++)
		set |= !!pages[i] << i;
	return set;
}

static void begin(struct ports *p, enum replay_port port)
{
	p->epoch[port]++;
	p->peer[port] = 0;
	p->up[port] = false;
	if (port == REPLAY_U) {
		memset(&p->u, 0, sizeof(p->u));
		hop_stream_init(&p->u);
		memset(p->view, 0, sizeof(p->view));
		p->acks = false;
		return;
	}
	memset(&p->d, 0, sizeof(p->d));
	hop_stream_init(&p->d);
	p->d.pages = REPLAY_PAGES;
	p->d.seq = p->first;
	memset(p->truth, 0, sizeof(p->truth));
	memset(p->told, 0, sizeof(p->told));
}

static void collect(struct ports *p)
{
	unsigned int i;

	if (!p->up[REPLAY_D])
		return;
	for (i = 0; i < REPLAY_PAGES; i++) {
		if (p->told[i] == p->truth[i])
			continue;
		p->told[i] = p->truth[i];
		hop_stream_change(&p->d, i, p->told[i]);
	}
}

static void void_view(struct ports *p)
{
	memset(p->view, 0, sizeof(p->view));
	p->u.lease_at = ~0ULL;
}

static void drop(struct ports *p, enum replay_port port)
{
	p->up[port] = false;
	if (port == REPLAY_U) {
		void_view(p);
		p->acks = false;
		return;
	}
	memset(p->told, 0, sizeof(p->told));
	hop_stream_stop(&p->d);
}

static void learn(struct ports *p, enum replay_port port)
{
	bool same = p->peer[port] == p->epoch[1 - port];

	drop(p, port);
	p->up[port] = true;
	p->peer[port] = p->epoch[1 - port];
	if (port == REPLAY_U) {
		p->u.rx_valid &= same;
		return;
	}
	if (!same)
		memset(p->truth, 0, sizeof(p->truth));
	hop_stream_start(&p->d, p->now);
	collect(p);
}

static void say(struct ports *p, struct replay_frame *f)
{
	f->mine = p->epoch[REPLAY_D];
	f->yours = p->peer[REPLAY_D];
	hop_stream_part(&p->d, p->now, &f->part);
	f->seq = p->d.seq + 1;
	memcpy(f->pages, p->told + f->part.first, f->part.count * sizeof(u64));
	hop_stream_said(&p->d, &f->part, &times, p->now);
}

static bool speaks(const struct ports *p, const struct replay_frame *f, enum replay_port port)
{
	return p->up[port] && f->mine == p->peer[port] && f->yours == p->epoch[port];
}

static void take(struct ports *p, const struct replay_frame *f)
{
	if (!speaks(p, f, REPLAY_U))
		return;
	p->acks = true;
	if (!hop_stream_heard(&p->u, f->seq))
		return;
	memcpy(p->view + f->part.first, f->pages, f->part.count * sizeof(u64));
	p->u.lease_at = set_of(p->view) ? p->now + times.lease_ns : ~0ULL;
}

static void replay_do(void *ports, const struct replay_step *s, struct replay_frame *f)
{
	struct ports *p = ports;

	p->seen[s->event]++;
	switch (s->event) {
	case REPLAY_BEGIN:
		begin(p, REPLAY_D);
		begin(p, REPLAY_U);
		learn(p, REPLAY_D);
		learn(p, REPLAY_U);
		break;
	case REPLAY_CHANGE:
		p->truth[s->what] ^= 1ULL << s->what;
		collect(p);
		break;
	case REPLAY_SAY:
		say(p, f);
		break;
	case REPLAY_REFUSE:
		say(p, f);
		hop_stream_unsaid(&p->d);
		break;
	case REPLAY_TAKE:
		take(p, f);
		break;
	case REPLAY_ECHO:
		*f = (struct replay_frame) { .mine = p->epoch[REPLAY_U], .yours = p->peer[REPLAY_U],
					     .seq = p->u.rx_seq };
		p->acks = false;
		break;
	case REPLAY_ACKED:
		if (speaks(p, f, REPLAY_D))
			hop_stream_acked(&p->d, f->seq);
		break;
	case REPLAY_TICK:
		p->now += TICK;
		if (p->now >= p->u.lease_at)
			void_view(p);
		break;
	case REPLAY_DROP:
		drop(p, s->what);
		break;
	case REPLAY_LEARN:
		learn(p, s->what);
		break;
	case REPLAY_RESTART:
		begin(p, s->what);
		break;
	}
}

static void replay_look(void *ports, struct replay_state *is)
{
	const struct ports *p = ports;
	struct hop_stream_part part = {};
	bool due = p->up[REPLAY_D] && hop_stream_next(&p->d, 0) <= p->now;

	if (due)
		hop_stream_part(&p->d, p->now, &part);
	*is = (struct replay_state) {
		.d_up = p->up[REPLAY_D],
		.told = set_of(p->told),
		.unacked = p->d.unacked,
		.seq = p->d.seq - p->first,
		.due = due,
		.part = ((1 << part.count) - 1) << part.first,
		.u_up = p->up[REPLAY_U],
		.view = set_of(p->view),
		.rx_valid = p->u.rx_valid,
		.rx_seq = p->u.rx_valid ? p->u.rx_seq - p->first : 0,
		.lease = p->u.lease_at == ~0ULL ? 0 : (p->u.lease_at - p->now) / TICK,
		.acks = p->acks,
	};
}

int main(void)
{
	static const u32 first[] = { -64, -3, 0x7ffffffd };
	struct replay_line lines[2] = {};
	unsigned int i, never = 0;
	char name[64];

	for (i = 0; i < sizeof(first) / sizeof(*first); i++) {
		ports.first = first[i];
		snprintf(name, sizeof(name), "%u steps with the model, numbers from %08x on",
			 (unsigned int)REPLAY_STEPS, first[i]);
		check(replay(&ports, lines), name);
	}
	for (i = 0; i < REPLAY_LOSE; i++)
		never += !ports.seen[i];
	check(!never, "in which all happens that can");
	printf("1..%u\n", done);
	return failed != 0;
}
