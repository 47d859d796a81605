/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - walks of stream.pml, gone with the code
 *
 * Who includes this goes the same way with what it has of kernel/hopctl, and after each step is to
 * be where the model is. It has:
 *
 *	struct replay_frame	a frame on the line
 *	replay_do()		a step of one of the ports; the frame is what it takes, or puts on
 *				the line
 *	replay_look()		where the ports are
 *	replay_print()		as printf(): what differs
 *	replay_print_walk()	and the way there
 *
 * What the link does with frames is here. The table is made by `traces`.
 */
#ifndef _SLUICE_REPLAY_H
#define _SLUICE_REPLAY_H

#define REPLAY_PAGES	3
#define REPLAY_ALL	7	/* of them, as a set */
#define REPLAY_LEASE	2	/* ticks */
#define REPLAY_ROOM	3	/* frames on the line, each way */

enum replay_port { REPLAY_D, REPLAY_U };

enum replay_event {
	REPLAY_BEGIN,
	REPLAY_CHANGE,
	REPLAY_SAY,
	REPLAY_REFUSE,
	REPLAY_TAKE,
	REPLAY_ECHO,
	REPLAY_ACKED,
	REPLAY_TICK,
	REPLAY_DROP,
	REPLAY_LEARN,
	REPLAY_RESTART,
	REPLAY_LOSE,
	REPLAY_TWICE,
	REPLAY_OVERTAKE,
	REPLAY_EVENTS
};

/**
 * struct replay_state - both ports
 * @d_up: D has a neighbour
 * @told: set of the pages that D tells as 1
 * @unacked: of those that have not been echoed
 * @seq: frames of D in this life
 * @due: there is something to say now
 * @part: set of the pages that would be said
 * @u_up: U has a neighbour
 * @view: set of the pages that U believes to be 1
 * @rx_valid: U has heard something in the neighbour's epoch
 * @rx_seq: the newest, 0 if there is none
 * @lease: ticks that it is believed for
 * @acks: an echo is due
 */
struct replay_state {
	u8 d_up, told, unacked, seq, due, part;
	u8 u_up, view, rx_valid, rx_seq, lease, acks;
};

/**
 * struct replay_step - a step of a walk
 * @event: enum replay_event; a walk starts with REPLAY_BEGIN
 * @what: page of CHANGE; enum replay_port: whose DROP, LEARN, RESTART, whose frame LOSE, TWICE,
 *	OVERTAKE
 * @state: behind it
 */
struct replay_step {
	u8			event;
	u8			what;
	struct replay_state	state;
};

static const struct replay_step replay_steps[] = {
#include "traces.h"
};

#define REPLAY_STEPS	(sizeof(replay_steps) / sizeof(*replay_steps))

/* Frames on their way from one port, the first one first */
struct replay_line {
	unsigned int		n;
	struct replay_frame	frame[REPLAY_ROOM];
};

static void replay_do(void *ports, const struct replay_step *s, struct replay_frame *f);
static void replay_look(void *ports, struct replay_state *is);

static inline void replay_put(struct replay_line *line, const struct replay_frame *f)
{
	if (line->n < REPLAY_ROOM)
		line->frame[line->n++] = *f;
}

static inline struct replay_frame replay_get(struct replay_line *line)
{
	struct replay_frame f = line->frame[0];
	unsigned int i;

	for (i = 1; i < line->n; i++)
		line->frame[i - 1] = line->frame[i];
	line->n -= !!line->n;
	return f;
}

static inline void replay_one(void *ports, struct replay_line *lines, const struct replay_step *s)
{
	struct replay_line *line = &lines[s->what % 2];
	struct replay_frame f = {};

	switch (s->event) {
	case REPLAY_BEGIN:
		lines[REPLAY_D].n = 0;
		lines[REPLAY_U].n = 0;
		replay_do(ports, s, NULL);
		break;
	case REPLAY_SAY:
	case REPLAY_ECHO:
		replay_do(ports, s, &f);
		replay_put(&lines[s->event == REPLAY_SAY ? REPLAY_D : REPLAY_U], &f);
		break;
	case REPLAY_TAKE:
	case REPLAY_ACKED:
		f = replay_get(&lines[s->event == REPLAY_TAKE ? REPLAY_D : REPLAY_U]);
		replay_do(ports, s, &f);
		break;
	case REPLAY_LOSE:
		replay_get(line);
		break;
	case REPLAY_TWICE:
		replay_put(line, &line->frame[0]);
		break;
	case REPLAY_OVERTAKE:
		f = replay_get(line);
		replay_put(line, &f);
		break;
	default:
		replay_do(ports, s, &f);
	}
}

#define REPLAY_FIELD(field)							\
do {										\
	if (is->field != want->field)						\
		replay_print("  " #field ": %u, in the model %u\n", is->field, want->field); \
} while (0)

static inline void replay_differs(const struct replay_state *is, const struct replay_state *want)
{
	REPLAY_FIELD(d_up);
	REPLAY_FIELD(told);
	REPLAY_FIELD(unacked);
	REPLAY_FIELD(seq);
	REPLAY_FIELD(due);
	REPLAY_FIELD(part);
	REPLAY_FIELD(u_up);
	REPLAY_FIELD(view);
	REPLAY_FIELD(rx_valid);
	REPLAY_FIELD(rx_seq);
	REPLAY_FIELD(lease);
	REPLAY_FIELD(acks);
}

/**
 * replay - go all walks
 * @ports: for replay_do() and replay_look()
 * @lines: D's and U's
 *
 * The first step that comes out elsewhere is printed, then its walk.
 * Return: true if there was none.
 */
static inline bool replay(void *ports, struct replay_line *lines)
{
	static const char *const names[] = {
		"begin", "change", "say", "refuse", "take", "echo", "acked", "tick", "drop",
		"learn", "restart", "lose", "twice", "overtake",
	};
	const struct replay_step *s, *from = replay_steps;
	struct replay_state is;

	for (s = replay_steps; s < replay_steps + REPLAY_STEPS; s++) {
		if (s->event == REPLAY_BEGIN)
			from = s;
		replay_one(ports, lines, s);
		replay_look(ports, &is);
		if (!memcmp(&is, &s->state, sizeof(is)))
			continue;
		replay_print("%s %u comes out elsewhere:\n", names[s->event], s->what);
		replay_differs(&is, &s->state);
		for (; from <= s; from++)
			replay_print_walk("%s %u\n", names[from->event], from->what);
		return false;
	}
	return true;
}

#endif
