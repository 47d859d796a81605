// SPDX-License-Identifier: GPL-2.0-only
/*
 * bfc_model: a packet-level reference model of backpressure flow control.
 *
 * It is written from the paper (BFC, sections 3.3.1 and 3.3.2) and shares no line with the
 * kernel modules, so that the two can be held against each other. It knows nothing of sk_buffs,
 * locks or timers: a list of events, ordered by time, and a handful of rules.
 *
 * What is modelled
 *
 *	host --line--> switch --line--> switch --line--> receiver
 *
 * A port is one end of a link: sub-queues, a card in front of the line, and the line itself.
 *
 *  - Each flow is greedy from its start on, and has a sub-queue to itself at every port it
 *    crosses (the paper's dynamic assignment while flows are fewer than queues). With --queues
 *    fewer than flows they share, by their order.
 *  - A port serves its sub-queues that have packets and are not paused, by deficit round robin.
 *  - The card takes frames until it holds more than `ring` bytes, the frame on the line included
 *    (0: one frame at a time). What the card holds can no longer be paused.
 *  - The line serialises at its rate, in nanoseconds, the fraction carried over from frame to
 *    frame; the last bit arrives `delay` later.
 *  - On enqueue at a switch: Th = scale x HRTT x rate / N_active, at least one largest frame;
 *    N_active counts the port's sub-queues that have packets and are not paused, the arriving
 *    packet included, at least 1. If the sub-queue is now longer than Th the packet is marked and
 *    the pause counter of (link it came by, its upstream queue) is raised; when a marked packet
 *    leaves its sub-queue the counter is lowered. 0 -> 1 and 1 -> 0 send a control frame.
 *  - A control frame carries the whole paused state of its link as it is when the frame is made.
 *    It waits at most for the frame that is on the line now. Two frames of a link are made at
 *    least `spacing` apart; changes in between are told together.
 *  - With `acks` each is answered by a control frame of the same length, which says nothing but
 *    takes its time on the line. (Lines that run in step meet to the nanosecond, and then a
 *    control frame more or less decides which of two frames comes first.)
 *  - Receivers take everything at once and pause nobody. Hosts obey pauses.
 *
 * What is not: loss, refresh, leases, flows that end, several traffic classes.
 *
 * Events of the same instant happen in the order in which they were scheduled; there is no
 * random number, so equal arguments give equal results. Where several thresholds stand behind
 * one another, the rhythm in which flows settle may depend on a nanosecond of their starts, on
 * the order of their sub-queues in the round robin, and, with lines that run in step, on which
 * of two events of one instant comes first: the rules say nothing of the three. --starts runs
 * the same for several of each and tells the range of the results.
 *
 * The program exits 0, or 2 with a message if its arguments make no sense.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S	1000000000LL
#define NAME_MAX_BYTES	16
#define PORTS_MAX	128
#define FLOWS_MAX	64
#define HOPS_MAX	16
#define QUEUES_MAX	64	/* a control frame's state is one 64-bit word */
#define NEVER		INT64_MAX

/**
 * struct packet - a data frame
 * @flow: index of its flow
 * @hop: index of the port, on the flow's path, that it is in or just left
 * @bytes: length as a sub-queue counts it: without fabric tag and line overhead
 * @marked: it found its sub-queue above Th here, and holds one count of @key_port
 * @key_port: port that it arrived by, which is the one that a pause concerns
 * @key_queue: its sub-queue there
 */
struct packet {
	int	flow;
	int	hop;
	int	bytes;
	bool	marked;
	int	key_port;
	int	key_queue;
};

/**
 * struct frame - something on a line
 * @control: a control frame; otherwise @packet
 * @packet: the data frame
 * @ack: a control frame that says nothing
 * @paused: for another control frame, the sub-queues that are to be paused
 */
struct frame {
	bool		control;
	bool		ack;
	struct packet	packet;
	uint64_t	paused;
};

/**
 * struct fifo - queue of frames, grown as needed
 * @slot: ring of @size frames, @size a power of two
 * @head: counts what was taken
 * @tail: counts what was put
 */
struct fifo {
	struct frame	*slot;
	size_t		size;
	size_t		head;
	size_t		tail;
};

/**
 * struct queue - one sub-queue of a port
 * @fifo: its packets; unused in a greedy sender's queue, which never ends
 * @greedy: flow that feeds it for ever, or -1
 * @bytes: length now
 * @deficit: bytes that it may still send in this turn
 * @turn: the scheduler has given it its quantum for this turn
 * @peak: greatest length within the window
 * @changed: time of the last change of @bytes, for the two sums
 * @byte_ns: integral of the length over the window, bytes x ns
 * @empty_ns: time within the window without a packet
 * @frames: packets that left within the window
 */
struct queue {
	struct fifo	fifo;
	int		greedy;
	int64_t		bytes;
	int64_t		deficit;
	bool		turn;
	int64_t		peak;
	int64_t		changed;
	long double	byte_ns;
	int64_t		empty_ns;
	int64_t		frames;
};

/**
 * struct port - one direction of a link, with the queues in front of it
 * @from: name of the node that sends
 * @to: name of the node that receives
 * @reverse: port of the other direction
 * @rate: bit/s
 * @delay: ns from the last bit sent to its arrival
 * @ring: bytes that the card may hold and still take one more frame
 * @is_switch: its node forwards, so the pause rule holds here
 * @queue: the sub-queues
 * @queues: how many
 * @paused: sub-queues that the receiving node holds paused
 * @current: sub-queue whose turn it is
 * @card: frames taken from the sub-queues that wait for the line
 * @card_bytes: their bytes and those of the data frame on the line
 * @control: control frames that wait for the line
 * @busy: a frame is on the line
 * @line_data: bytes of the data frame on the line, 0 if it is none
 * @remainder: fraction of a ns, in 1/rate, by which the last frame ended after @line_end
 * @line_end: when the last frame ends or ended
 * @counter: pause counters of the receiving node for our sub-queues
 * @told: paused state that was last sent to us
 * @next_control: earliest time of the next control frame about us
 * @control_armed: an event is waiting for that time
 * @line_bytes: bytes on the line within the window, of data frames
 * @th_max: largest Th computed within the window, bytes
 * @th_min: smallest
 * @pauses: times within the window that a counter of ours went from 0 to 1
 * @resumes: times that it went from 1 to 0
 * @control_frames: control frames made about us within the window
 */
struct port {
	char		from[NAME_MAX_BYTES];
	char		to[NAME_MAX_BYTES];
	int		reverse;
	int64_t		rate;
	int64_t		delay;
	int64_t		ring;
	bool		is_switch;

	struct queue	queue[QUEUES_MAX];
	int		queues;
	uint64_t	paused;
	int		current;

	struct fifo	card;
	int64_t		card_bytes;
	struct fifo	control;
	bool		busy;
	int		line_data;
	int64_t		remainder;
	int64_t		line_end;

	int64_t		counter[QUEUES_MAX];
	uint64_t	told;
	int64_t		next_control;
	bool		control_armed;

	int64_t		line_bytes;
	int64_t		th_max;
	int64_t		th_min;
	int64_t		pauses;
	int64_t		resumes;
	int64_t		control_frames;
};

/**
 * struct flow - a greedy flow
 * @port: the ports that it crosses, the sender's first
 * @queue: its sub-queue in each
 * @hops: how many
 * @start: ns
 * @bytes: length of its frames, 0 for the model's
 */
struct flow {
	int	port[HOPS_MAX];
	int	queue[HOPS_MAX];
	int	hops;
	int64_t	start;
	int	bytes;
};

enum event_kind {
	EVENT_START,	/* a flow begins: index is the flow */
	EVENT_LINE,	/* the line of port index has sent its frame */
	EVENT_ARRIVAL,	/* a frame arrives over port index */
	EVENT_CONTROL,	/* port index may be told its state again */
};

/* Of events of the same instant, the one that comes first */
enum tie {
	TIE_SCHEDULED,	/* was scheduled first */
	TIE_LINE,	/* is an end of a frame on its line */
	TIE_LOT,	/* is drawn by lot, from the number of the run */
	TIES
};

/**
 * struct event - what happens at a time
 * @time: ns
 * @order: least first, of those of one time
 */
struct event {
	int64_t		time;
	uint64_t	order;
	enum event_kind	kind;
	int		index;
	struct frame	frame;
};

/**
 * struct model - everything
 * @rate: bit/s of links that say nothing else
 * @delay: ns, likewise
 * @ring: bytes, likewise
 * @hrtt: ns, what the rule takes for HRTT; 0 derives it from the links, see model_hrtt()
 * @scale: Th in percent of HRTT x rate / N_active
 * @bytes: length of a data frame
 * @tag: bytes that a data frame has in addition on the line
 * @overhead: bytes that every frame has in addition on the line
 * @control_bytes: length of a control frame
 * @spacing: ns between control frames about one port
 * @acks: they are answered
 * @quantum: bytes for each turn of the round robin; 0 for the largest frame
 * @max_frame: lower bound of Th, bytes; 0 for the largest frame
 * @queues: sub-queues of a port
 * @warmup: ns before the window
 * @window: ns
 * @trace: port whose queue lengths are written to standard error at each change, or -1
 * @tie: which of two events of one instant comes first
 * @lot: makes the lots of a run its own
 */
struct model {
	int64_t		rate;
	int64_t		delay;
	int64_t		ring;
	int64_t		hrtt;
	int64_t		scale;
	int		bytes;
	int		tag;
	int		overhead;
	int		control_bytes;
	int64_t		spacing;
	bool		acks;
	int64_t		quantum;
	int64_t		max_frame;
	int		queues;
	int64_t		warmup;
	int64_t		window;
	int		trace;
	enum tie	tie;
	uint64_t	lot;

	struct port	port[PORTS_MAX];
	int		ports;
	struct flow	flow[FLOWS_MAX];
	int		flows;

	int64_t		now;
	uint64_t	scheduled;
	struct event	*heap;
	size_t		events;
	size_t		heap_size;
};

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "bfc_model: %s%s%s\n", what, detail ? ": " : "", detail ? detail : "");
	exit(2);
}

static void *grow(void *old, size_t count, size_t size)
{
	void *new = reallocarray(old, count, size);

	if (!new)
		die("out of memory", NULL);
	return new;
}

/* ---- FIFO of frames ---- */

static bool fifo_empty(const struct fifo *f)
{
	return f->head == f->tail;
}

static void fifo_put(struct fifo *f, const struct frame *frame)
{
	if (f->tail - f->head == f->size) {
		size_t size = f->size ? 2 * f->size : 16;
		struct frame *slot = grow(NULL, size, sizeof(*slot));
		size_t i;

		for (i = f->head; i != f->tail; i++)
			slot[i & (size - 1)] = f->slot[i & (f->size - 1)];
		free(f->slot);
		f->slot = slot;
		f->size = size;
	}
	f->slot[f->tail++ & (f->size - 1)] = *frame;
}

static struct frame *fifo_head(struct fifo *f)
{
	return &f->slot[f->head & (f->size - 1)];
}

static struct frame fifo_take(struct fifo *f)
{
	return f->slot[f->head++ & (f->size - 1)];
}

/* ---- events: a binary heap by (time, order) ---- */

static bool event_before(const struct event *a, const struct event *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static uint64_t model_order(const struct model *m, enum event_kind kind, uint64_t number)
{
	switch (m->tie) {
	case TIE_LINE:
		return kind == EVENT_LINE ? number : number | 1ULL << 63;
	case TIE_LOT:
		return (number + m->lot) * 0x9e3779b97f4a7c15ULL;
	default:
		return number;
	}
}

static void model_schedule(struct model *m, int64_t time, enum event_kind kind, int index,
			   const struct frame *frame)
{
	struct event e = { .time = time, .kind = kind, .index = index };
	size_t i = m->events++;

	e.order = model_order(m, kind, m->scheduled++);
	if (frame)
		e.frame = *frame;
	if (m->events > m->heap_size) {
		m->heap_size = m->heap_size ? 2 * m->heap_size : 256;
		m->heap = grow(m->heap, m->heap_size, sizeof(*m->heap));
	}
	for (; i && event_before(&e, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = e;
}

static struct event model_next(struct model *m)
{
	struct event first = m->heap[0];
	struct event last = m->heap[--m->events];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < m->events) {
		if (child + 1 < m->events &&
		    event_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!event_before(&m->heap[child], &last))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = last;
	return first;
}

/* ---- measuring ---- */

static bool model_measuring(const struct model *m)
{
	return m->now >= m->warmup && m->now < m->warmup + m->window;
}

/* Adds the time since the last change, as far as it lies in the window, to the sums. */
static void queue_account(const struct model *m, struct queue *q, int64_t now)
{
	int64_t from = q->changed > m->warmup ? q->changed : m->warmup;
	int64_t end = m->warmup + m->window;
	int64_t to = now < end ? now : end;

	if (to > from) {
		q->byte_ns += (long double)q->bytes * (to - from);
		if (!q->bytes)
			q->empty_ns += to - from;
		/* what stood in the queue when the window began counts for its peak */
		if (q->bytes > q->peak)
			q->peak = q->bytes;
	}
	q->changed = now;
}

static void queue_change(struct model *m, int port, int queue, int64_t bytes)
{
	struct queue *q = &m->port[port].queue[queue];

	queue_account(m, q, m->now);
	q->bytes += bytes;
	if (model_measuring(m) && q->bytes > q->peak)
		q->peak = q->bytes;
	if (port == m->trace)
		fprintf(stderr, "%" PRId64 ",%d,%" PRId64 "\n", m->now, queue, q->bytes);
}

/* ---- the rules ---- */

static bool queue_backlogged(const struct queue *q)
{
	return q->greedy >= 0 || !fifo_empty(&q->fifo);
}

static bool port_ready(const struct port *p, int queue)
{
	return queue_backlogged(&p->queue[queue]) && !(p->paused >> queue & 1);
}

static int port_active(const struct port *p)
{
	int active = 0, i;

	for (i = 0; i < p->queues; i++)
		active += port_ready(p, i);
	return active ? active : 1;
}

static int64_t port_threshold(const struct model *m, const struct port *p)
{
	__int128 th = (__int128)m->hrtt * p->rate * m->scale / 100 / 8 / NS_PER_S /
		      port_active(p);

	return th > m->max_frame ? (int64_t)th : m->max_frame;
}

static int flow_bytes(const struct model *m, int flow)
{
	return m->flow[flow].bytes ? m->flow[flow].bytes : m->bytes;
}

static int queue_head_bytes(const struct model *m, struct queue *q)
{
	if (q->greedy >= 0)
		return flow_bytes(m, q->greedy);
	return fifo_head(&q->fifo)->packet.bytes;
}

static void port_end_turn(struct port *p)
{
	p->queue[p->current].turn = false;
	p->current = (p->current + 1) % p->queues;
}

static void queue_grant(struct model *m, struct queue *q)
{
	if (q->deficit < queue_head_bytes(m, q))
		q->deficit += m->quantum;
	else if (q->deficit < m->quantum)
		q->deficit = m->quantum;
}

/*
 * Deficit round robin: a sub-queue gets its quantum when its turn begins and keeps the turn as
 * long as its deficit pays for its head. A turn ends also by running empty, which forfeits the
 * deficit (see port_dequeue()), or by being paused. Then what is left, which would pay for the
 * head, stays, and is filled up to a quantum when the next turn begins. Returns -1 if nothing is
 * ready.
 */
static int port_pick(struct model *m, struct port *p)
{
	int idle = 0;

	while (idle < p->queues) {
		struct queue *q = &p->queue[p->current];

		if (!port_ready(p, p->current)) {
			idle++;
		} else {
			if (!q->turn) {
				q->turn = true;
				queue_grant(m, q);
			}
			if (q->deficit >= queue_head_bytes(m, q))
				return p->current;
			idle = 0;
		}
		port_end_turn(p);
	}
	return -1;
}

static void port_start_line(struct model *m, int port);

/* Makes a control frame that tells the sending node of @port its state, or waits to. */
static void port_tell(struct model *m, int port)
{
	struct port *p = &m->port[port];
	struct frame frame = { .control = true };
	int i;

	for (i = 0; i < p->queues; i++)
		frame.paused |= (uint64_t)(p->counter[i] > 0) << i;
	if (m->now < p->next_control) {
		if (!p->control_armed)
			model_schedule(m, p->next_control, EVENT_CONTROL, port, NULL);
		p->control_armed = true;
		return;
	}
	if (frame.paused == p->told)
		return;
	p->told = frame.paused;
	p->next_control = m->now + m->spacing;
	p->control_frames += model_measuring(m);
	fifo_put(&m->port[p->reverse].control, &frame);
	port_start_line(m, p->reverse);
}

static void packet_mark(struct model *m, struct packet *pkt)
{
	struct port *p = &m->port[pkt->key_port];

	pkt->marked = true;
	if (p->counter[pkt->key_queue]++ == 0) {
		p->pauses += model_measuring(m);
		port_tell(m, pkt->key_port);
	}
}

static void packet_unmark(struct model *m, struct packet *pkt)
{
	struct port *p = &m->port[pkt->key_port];

	if (!pkt->marked)
		return;
	pkt->marked = false;
	if (--p->counter[pkt->key_queue] == 0) {
		p->resumes += model_measuring(m);
		port_tell(m, pkt->key_port);
	}
}

/* Takes the next packet of the port's sub-queues, if there is one. */
static bool port_dequeue(struct model *m, int port, struct frame *frame)
{
	struct port *p = &m->port[port];
	int i = port_pick(m, p);
	struct queue *q;

	if (i < 0)
		return false;
	q = &p->queue[i];
	if (q->greedy >= 0) {
		*frame = (struct frame){ .packet = { .flow = q->greedy } };
		frame->packet.bytes = flow_bytes(m, q->greedy);
	} else {
		*frame = fifo_take(&q->fifo);
		queue_change(m, port, i, -frame->packet.bytes);
		packet_unmark(m, &frame->packet);
	}
	q->deficit -= frame->packet.bytes;
	if (!queue_backlogged(q)) {
		q->deficit = 0;
		port_end_turn(p);
	}
	q->frames += model_measuring(m);
	frame->packet.key_port = port;
	frame->packet.key_queue = i;
	return true;
}

/* Fills the card from the sub-queues, then the line from the card. */
static void port_transmit(struct model *m, int port)
{
	struct port *p = &m->port[port];
	struct frame frame;

	while (p->card_bytes <= p->ring && port_dequeue(m, port, &frame)) {
		p->card_bytes += frame.packet.bytes;
		fifo_put(&p->card, &frame);
		port_start_line(m, port);
	}
}

/* Puts the next frame on the line if it is free: control frames first. */
static void port_start_line(struct model *m, int port)
{
	struct port *p = &m->port[port];
	struct frame frame;
	__int128 bits;

	if (p->busy || (fifo_empty(&p->control) && fifo_empty(&p->card)))
		return;
	if (!fifo_empty(&p->control)) {
		frame = fifo_take(&p->control);
		bits = 8 * (m->control_bytes + m->overhead);
	} else {
		frame = fifo_take(&p->card);
		bits = 8 * (frame.packet.bytes + m->tag + m->overhead);
	}
	if (p->line_end < m->now)
		p->remainder = 0;
	bits = bits * NS_PER_S + p->remainder;
	p->line_end = m->now + (int64_t)(bits / p->rate);
	p->remainder = (int64_t)(bits % p->rate);
	p->busy = true;
	p->line_data = frame.control ? 0 : frame.packet.bytes;
	model_schedule(m, p->line_end, EVENT_LINE, port, NULL);
	model_schedule(m, p->line_end + p->delay, EVENT_ARRIVAL, port, &frame);
	if (p->line_data && p->line_end >= m->warmup && p->line_end < m->warmup + m->window)
		p->line_bytes += p->line_data + m->tag + m->overhead;
}

static void port_line_done(struct model *m, int port)
{
	struct port *p = &m->port[port];

	p->busy = false;
	p->card_bytes -= p->line_data;
	port_start_line(m, port);
	port_transmit(m, port);
}

/* The paper's On Enqueue at the next port of the packet's path. */
static void packet_enqueue(struct model *m, struct packet *pkt)
{
	const struct flow *f = &m->flow[pkt->flow];
	int port = f->port[++pkt->hop], queue = f->queue[pkt->hop];
	struct frame frame = { .packet = *pkt };
	struct port *p = &m->port[port];
	int64_t th;

	fifo_put(&p->queue[queue].fifo, &frame);
	queue_change(m, port, queue, pkt->bytes);
	th = port_threshold(m, p);
	if (model_measuring(m)) {
		p->th_max = th > p->th_max ? th : p->th_max;
		p->th_min = th < p->th_min ? th : p->th_min;
	}
	if (p->queue[queue].bytes > th) {
		struct fifo *fifo = &p->queue[queue].fifo;

		packet_mark(m, &fifo->slot[(fifo->tail - 1) & (fifo->size - 1)].packet);
	}
	port_transmit(m, port);
}

/* A control frame came by the reverse direction of @port, which it is about. */
static void port_obey(struct model *m, int port, const struct frame *frame)
{
	struct frame ack = { .control = true, .ack = true };

	m->port[port].paused = frame->paused;
	port_transmit(m, port);
	if (m->acks) {
		fifo_put(&m->port[port].control, &ack);
		port_start_line(m, port);
	}
}

static void port_arrival(struct model *m, int port, struct frame *frame)
{
	struct packet *pkt = &frame->packet;

	if (frame->control) {
		if (!frame->ack)
			port_obey(m, m->port[port].reverse, frame);
	} else if (pkt->hop + 1 < m->flow[pkt->flow].hops) {
		packet_enqueue(m, pkt);
	}
}

static void model_step(struct model *m, struct event *e)
{
	struct flow *f;

	switch (e->kind) {
	case EVENT_START:
		f = &m->flow[e->index];
		m->port[f->port[0]].queue[f->queue[0]].greedy = e->index;
		port_transmit(m, f->port[0]);
		break;
	case EVENT_LINE:
		port_line_done(m, e->index);
		break;
	case EVENT_ARRIVAL:
		port_arrival(m, e->index, &e->frame);
		break;
	case EVENT_CONTROL:
		m->port[e->index].control_armed = false;
		port_tell(m, e->index);
		break;
	}
}

/* ---- setting up ---- */

static void model_init(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->rate = 100 * NS_PER_S;
	m->delay = 1000;
	m->scale = 100;
	m->bytes = 1000;
	m->control_bytes = 64;
	m->queues = 32;
	m->warmup = 1000000;
	m->window = 10000000;
	m->trace = -1;
}

static void model_free(struct model *m)
{
	int i, j;

	for (i = 0; i < m->ports; i++) {
		free(m->port[i].card.slot);
		free(m->port[i].control.slot);
		for (j = 0; j < QUEUES_MAX; j++)
			free(m->port[i].queue[j].fifo.slot);
	}
	free(m->heap);
}

static int model_find_port(const struct model *m, const char *from, const char *to)
{
	int i;

	for (i = 0; i < m->ports; i++)
		if (!strcmp(m->port[i].from, from) && !strcmp(m->port[i].to, to))
			return i;
	return -1;
}

static int model_add_port(struct model *m, const char *from, const char *to)
{
	struct port *p;
	int i;

	if (m->ports == PORTS_MAX)
		die("too many links", NULL);
	if (!*from || !*to || strlen(from) >= NAME_MAX_BYTES || strlen(to) >= NAME_MAX_BYTES)
		die("a node's name has 1 to 15 letters", *from ? from : to);
	p = &m->port[m->ports];
	strcpy(p->from, from);
	strcpy(p->to, to);
	p->rate = m->rate;
	p->delay = m->delay;
	p->ring = m->ring;
	p->th_min = NEVER;
	for (i = 0; i < QUEUES_MAX; i++)
		p->queue[i].greedy = -1;
	return m->ports++;
}

/* Returns the port from one node to the other, made with both directions if it is new. */
static int model_link(struct model *m, const char *from, const char *to)
{
	int there = model_find_port(m, from, to), back;

	if (there >= 0)
		return there;
	there = model_add_port(m, from, to);
	back = model_add_port(m, to, from);
	m->port[there].reverse = back;
	m->port[back].reverse = there;
	return there;
}

static void flow_add_hop(struct model *m, struct flow *f, const char *from, const char *to)
{
	struct port *p;
	int port;

	if (f->hops == HOPS_MAX)
		die("too many hops in a flow", NULL);
	port = model_link(m, from, to);
	p = &m->port[port];
	if (f->hops)
		p->is_switch = true;
	f->port[f->hops] = port;
	f->queue[f->hops] = p->queues;
	f->hops++;
	p->queues++;
}

/* @path: names of nodes separated by commas, then options: @START_NS, /BYTES */
static void model_add_flow(struct model *m, const char *path)
{
	char copy[512], *mark, *save, *name, *last = NULL;
	struct flow *f = &m->flow[m->flows];

	if (m->flows == FLOWS_MAX)
		die("too many flows", NULL);
	if (strlen(path) >= sizeof(copy))
		die("a flow's path is too long", path);
	strcpy(copy, path);
	memset(f, 0, sizeof(*f));
	mark = strpbrk(copy, "@/");
	if (mark && sscanf(path + (mark - copy), "@%" SCNd64 "/%d", &f->start, &f->bytes) < 1 &&
	    sscanf(path + (mark - copy), "/%d", &f->bytes) < 1)
		die("a flow is NODE,NODE,...[@START_NS][/BYTES]", path);
	if (mark)
		*mark = 0;
	for (name = strtok_r(copy, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		if (last)
			flow_add_hop(m, f, last, name);
		last = name;
	}
	if (!f->hops || f->start < 0 || f->bytes < 0)
		die("a flow is NODE,NODE,...[@START_NS][/BYTES]", path);
	m->flows++;
}

/* The paper's Fig. 6; each flow has a host of its own unless the groups share one each. */
static void model_add_fig6(struct model *m, int g1, int g2, int g3, bool shared)
{
	static const char * const rest[] = { "s1,s2,r1", "s1,s2,r2", "s3,s2,r2" };
	const int count[] = { g1, g2, g3 };
	char path[64];
	int group, i;

	for (group = 0; group < 3; group++) {
		for (i = 0; i < count[group]; i++) {
			snprintf(path, sizeof(path), "g%dh%d,%s", group + 1, shared ? 1 : i + 1,
				 rest[group]);
			model_add_flow(m, path);
		}
	}
}

/*
 * What neighbours would measure: the round trip of a control frame on an idle link, and the time
 * that a frame may wait on the neighbour's card; the greatest of the links that flows use.
 */
static int64_t model_hrtt(const struct model *m)
{
	int64_t greatest = 0;
	int i;

	for (i = 0; i < m->ports; i++) {
		const struct port *p = &m->port[i], *r = &m->port[p->reverse];
		int64_t bits = 8 * (int64_t)(m->control_bytes + m->overhead) * NS_PER_S;
		int64_t hrtt = p->delay + r->delay + bits / p->rate + bits / r->rate +
			       8 * p->ring * NS_PER_S / p->rate;

		if (p->queues && hrtt > greatest)
			greatest = hrtt;
	}
	return greatest;
}

/* With fewer sub-queues than flows, flows share them by their order at the port. */
static void model_fold_queues(struct model *m)
{
	int i, hop;

	for (i = 0; i < m->flows; i++)
		for (hop = 0; hop < m->flow[i].hops; hop++)
			if (hop)	/* a sender's own queues are as many as its flows */
				m->flow[i].queue[hop] %= m->queues;
	for (i = 0; i < m->ports; i++) {
		if (m->port[i].is_switch && m->port[i].queues > m->queues)
			m->port[i].queues = m->queues;
		if (m->port[i].queues > QUEUES_MAX)
			die("too many flows at one port", m->port[i].from);
	}
}

static void model_check(struct model *m)
{
	int i, largest = m->bytes;

	if (!m->flows)
		die("no flow given", NULL);
	for (i = 0; i < m->flows; i++)
		largest = m->flow[i].bytes > largest ? m->flow[i].bytes : largest;
	m->quantum = m->quantum ? m->quantum : largest;
	m->max_frame = m->max_frame ? m->max_frame : largest;
	if (m->bytes < 1 || m->quantum < 1 || m->max_frame < 1 || m->scale < 0 || m->hrtt < 0 ||
	    m->tag < 0 || m->overhead < 0 || m->control_bytes < 1 || m->spacing < 0 ||
	    m->warmup < 0 || m->window < 1)
		die("a size or time is out of range", NULL);
	if (m->queues < 1 || m->queues > QUEUES_MAX)
		die("queues must be 1 to 64", NULL);
	for (i = 0; i < m->ports; i++)
		if (m->port[i].rate < 1 || m->port[i].delay < 0 || m->port[i].ring < 0)
			die("a link's rate, delay or ring is out of range", m->port[i].from);
}

static void model_run(struct model *m)
{
	int64_t end = m->warmup + m->window;
	int i, j;

	model_check(m);
	model_fold_queues(m);
	if (!m->hrtt)
		m->hrtt = model_hrtt(m);
	for (i = 0; i < m->flows; i++)
		model_schedule(m, m->flow[i].start, EVENT_START, i, NULL);
	while (m->events && m->heap[0].time < end) {
		struct event e = model_next(m);

		m->now = e.time;
		model_step(m, &e);
	}
	m->now = end;
	for (i = 0; i < m->ports; i++)
		for (j = 0; j < m->port[i].queues; j++)
			queue_account(m, &m->port[i].queue[j], end);
}

/* ---- results ---- */

static double port_utilisation(const struct model *m, const struct port *p)
{
	return 8.0 * p->line_bytes * NS_PER_S / p->rate / m->window;
}

static double queue_mean(const struct model *m, const struct queue *q)
{
	return (double)(q->byte_ns / m->window);
}

static double port_mean(const struct model *m, const struct port *p)
{
	double sum = 0;
	int i;

	for (i = 0; i < p->queues; i++)
		sum += queue_mean(m, &p->queue[i]);
	return sum;
}

static int64_t port_pauses_given(const struct model *m, const struct port *p)
{
	int64_t sum = 0;
	int i;

	for (i = 0; i < m->ports; i++)
		if (!strcmp(m->port[i].to, p->from))
			sum += m->port[i].pauses;
	return sum;
}

#ifndef BFC_MODEL_LIBRARY

/**
 * struct range - results of one port over several starts of the flows
 * @utilisation: least and greatest
 * @mean: least and greatest mean backlog, bytes
 */
struct range {
	double	utilisation[2];
	double	mean[2];
};

static void range_widen(double *range, double value, bool first)
{
	if (first || value < range[0])
		range[0] = value;
	if (first || value > range[1])
		range[1] = value;
}

static bool port_wanted(const struct port *p, const char *only)
{
	char name[2 * NAME_MAX_BYTES];

	if (!p->is_switch || !p->queues)
		return false;
	if (!only)
		return true;
	snprintf(name, sizeof(name), "%s,%s", p->from, p->to);
	return !strcmp(name, only);
}

static void print_text(const struct model *m, const struct range *range, const char *only)
{
	int i, j;

	printf("hrtt %" PRId64 " ns, th-scale %" PRId64 " %%, window %" PRId64 " ns after %" PRId64
	       " ns\n", m->hrtt, m->scale, m->window, m->warmup);
	for (i = 0; i < m->ports; i++) {
		const struct port *p = &m->port[i];

		if (!port_wanted(p, only))
			continue;
		printf("port %s -> %s: utilisation %.4f, mean %.0f B, th %" PRId64 " to %" PRId64
		       " B, paused by the next node %" PRId64 " times, node gave %" PRId64
		       " pauses\n", p->from, p->to, port_utilisation(m, p), port_mean(m, p),
		       p->th_min, p->th_max, p->pauses, port_pauses_given(m, p));
		printf("  over all starts: utilisation %.4f to %.4f, mean %.0f to %.0f B\n",
		       range[i].utilisation[0], range[i].utilisation[1], range[i].mean[0],
		       range[i].mean[1]);
		for (j = 0; j < p->queues; j++)
			printf("  queue %d: peak %" PRId64 " B, mean %.0f B, empty %.4f, frames %"
			       PRId64 "\n", j, p->queue[j].peak, queue_mean(m, &p->queue[j]),
			       (double)p->queue[j].empty_ns / m->window, p->queue[j].frames);
	}
}

static void print_json_port(const struct model *m, const struct port *p,
			    const struct range *range)
{
	int j;

	printf("{\"utilisation_range\":[%.6f,%.6f],\"mean_bytes_range\":[%.3f,%.3f],",
	       range->utilisation[0], range->utilisation[1], range->mean[0], range->mean[1]);
	printf("\"from\":\"%s\",\"to\":\"%s\",\"rate\":%" PRId64 ",\"utilisation\":%.6f,"
	       "\"line_bytes\":%" PRId64 ",\"mean_bytes\":%.3f,\"th_min\":%" PRId64
	       ",\"th_max\":%" PRId64 ",\"paused\":%" PRId64 ",\"resumed\":%" PRId64
	       ",\"pauses_given\":%" PRId64 ",\"control_frames\":%" PRId64 ",\"queues\":[",
	       p->from, p->to, p->rate, port_utilisation(m, p), p->line_bytes, port_mean(m, p),
	       p->th_min == NEVER ? 0 : p->th_min, p->th_max, p->pauses, p->resumes,
	       port_pauses_given(m, p), p->control_frames);
	for (j = 0; j < p->queues; j++)
		printf("%s{\"peak_bytes\":%" PRId64 ",\"mean_bytes\":%.3f,\"empty\":%.6f,"
		       "\"frames\":%" PRId64 "}", j ? "," : "", p->queue[j].peak,
		       queue_mean(m, &p->queue[j]), (double)p->queue[j].empty_ns / m->window,
		       p->queue[j].frames);
	printf("]}");
}

static void print_json(const struct model *m, const struct range *range, const char *only)
{
	const char *comma = "";
	int i;

	printf("{\"hrtt_ns\":%" PRId64 ",\"th_scale\":%" PRId64 ",\"frame_bytes\":%d,"
	       "\"window_ns\":%" PRId64 ",\"warmup_ns\":%" PRId64 ",\"ports\":[", m->hrtt,
	       m->scale, m->bytes, m->window, m->warmup);
	for (i = 0; i < m->ports; i++) {
		if (!port_wanted(&m->port[i], only))
			continue;
		printf("%s", comma);
		print_json_port(m, &m->port[i], &range[i]);
		comma = ",";
	}
	printf("]}\n");
}

/* ---- command line ---- */

enum {
	KEY_RATE = 256, KEY_DELAY, KEY_RING, KEY_HRTT, KEY_SCALE, KEY_BYTES, KEY_TAG,
	KEY_OVERHEAD, KEY_CONTROL, KEY_SPACING, KEY_QUANTUM, KEY_MAX_FRAME, KEY_QUEUES,
	KEY_WARMUP, KEY_WINDOW, KEY_LINK, KEY_FLOW, KEY_FIG6, KEY_SHARED, KEY_PORT, KEY_TRACE,
	KEY_JSON, KEY_STARTS, KEY_SKEW, KEY_ACKS,
};

static const struct argp_option options[] = {
	{ "rate", KEY_RATE, "BPS", 0, "bit/s of each link (100000000000)", 1 },
	{ "delay", KEY_DELAY, "NS", 0, "propagation delay of each link (1000)", 1 },
	{ "ring", KEY_RING, "BYTES", 0,
	  "bytes that a card may hold and take one more frame (0)", 1 },
	{ "link", KEY_LINK, "A,B[,rate=BPS][,delay=NS][,ring=BYTES]", 0,
	  "another setting for both directions of one link; give it after --rate, --delay and "
	  "--ring", 1 },
	{ "flow", KEY_FLOW, "A,B,...[@NS][/BYTES]", 0,
	  "a flow from the first node to the last, its start and frame length", 2 },
	{ "fig6", KEY_FIG6, "G1,G2,G3", 0, "flows of the three sender groups of BFC's Fig. 6", 2 },
	{ "shared-hosts", KEY_SHARED, NULL, 0, "one host for each group instead of each flow", 2 },
	{ "hrtt", KEY_HRTT, "NS", 0, "HRTT that the threshold uses (what HELLO would measure)", 3 },
	{ "th-scale", KEY_SCALE, "PERCENT", 0, "threshold in percent of HRTT x rate / N (100)", 3 },
	{ "max-frame", KEY_MAX_FRAME, "BYTES", 0, "least threshold (the largest frame)", 3 },
	{ "queues", KEY_QUEUES, "N", 0, "sub-queues of a switch port (32)", 3 },
	{ "acks", KEY_ACKS, NULL, 0, "each control frame is answered by one", 4 },
	{ "quantum", KEY_QUANTUM, "BYTES", 0, "of the round robin (the largest frame)", 3 },
	{ "frame", KEY_BYTES, "BYTES", 0, "length of a data frame (1000)", 4 },
	{ "tag", KEY_TAG, "BYTES", 0, "more bytes of a data frame on the line (0)", 4 },
	{ "overhead", KEY_OVERHEAD, "BYTES", 0, "more bytes of any frame on the line (0)", 4 },
	{ "control", KEY_CONTROL, "BYTES", 0, "length of a control frame (64)", 4 },
	{ "spacing", KEY_SPACING, "NS", 0, "least time between control frames of a link (0)", 4 },
	{ "warmup", KEY_WARMUP, "NS", 0, "time before the window (1000000)", 5 },
	{ "window", KEY_WINDOW, "NS", 0, "time that is measured (10000000)", 5 },
	{ "starts", KEY_STARTS, "N", 0, "run N times, with other starts and orders of the flows and of what meets (1)", 5 },
	{ "skew", KEY_SKEW, "NS", 0,
	  "flow I of run K starts I x K x NS later than it says (397)", 5 },
	{ "port", KEY_PORT, "A,B", 0, "show this port only", 6 },
	{ "trace", KEY_TRACE, "A,B", 0,
	  "write time, queue, bytes of this port to standard error", 6 },
	{ "json", KEY_JSON, NULL, 0, "as JSON", 6 },
	{ 0 }
};

struct arguments {
	struct model	*m;
	const char	*flow[FLOWS_MAX];
	int		flows;
	const char	*link[PORTS_MAX];
	int		links;
	int		group[3];
	bool		shared;
	int		starts;
	int64_t		skew;
	const char	*port;
	const char	*trace;
	bool		json;
};

static int64_t parse_number(const char *s)
{
	char *end;
	int64_t v;

	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || end == s || *end || v < 0)
		die("not a number of 0 or more", s);
	return v;
}

static int parse_int(const char *s)
{
	int64_t v = parse_number(s);

	if (v > 1 << 30)
		die("number too large", s);
	return (int)v;
}

static void model_set_link(struct model *m, const char *text)
{
	char copy[256], *save, *from, *to, *word;
	int i, port;

	if (strlen(text) >= sizeof(copy))
		die("a link's description is too long", text);
	strcpy(copy, text);
	from = strtok_r(copy, ",", &save);
	to = strtok_r(NULL, ",", &save);
	if (!from || !to)
		die("a link is NODE,NODE[,rate=][,delay=][,ring=]", text);
	port = model_link(m, from, to);
	while ((word = strtok_r(NULL, ",", &save))) {
		for (i = 0; i < 2; i++) {
			struct port *p = &m->port[i ? m->port[port].reverse : port];

			if (!strncmp(word, "rate=", 5))
				p->rate = parse_number(word + 5);
			else if (!strncmp(word, "delay=", 6))
				p->delay = parse_number(word + 6);
			else if (!strncmp(word, "ring=", 5))
				p->ring = parse_number(word + 5);
			else
				die("unknown setting of a link", word);
		}
	}
}

static error_t parse_time_or_size(int key, const char *arg, struct model *m)
{
	switch (key) {
	case KEY_RATE:
		m->rate = parse_number(arg);
		return 0;
	case KEY_DELAY:
		m->delay = parse_number(arg);
		return 0;
	case KEY_RING:
		m->ring = parse_number(arg);
		return 0;
	case KEY_HRTT:
		m->hrtt = parse_number(arg);
		return 0;
	case KEY_SCALE:
		m->scale = parse_number(arg);
		return 0;
	case KEY_BYTES:
		m->bytes = parse_int(arg);
		return 0;
	case KEY_TAG:
		m->tag = parse_int(arg);
		return 0;
	case KEY_OVERHEAD:
		m->overhead = parse_int(arg);
		return 0;
	case KEY_CONTROL:
		m->control_bytes = parse_int(arg);
		return 0;
	case KEY_SPACING:
		m->spacing = parse_number(arg);
		return 0;
	case KEY_QUANTUM:
		m->quantum = parse_number(arg);
		return 0;
	case KEY_MAX_FRAME:
		m->max_frame = parse_number(arg);
		return 0;
	case KEY_QUEUES:
		m->queues = parse_int(arg);
		return 0;
	case KEY_WARMUP:
		m->warmup = parse_number(arg);
		return 0;
	case KEY_WINDOW:
		m->window = parse_number(arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case KEY_LINK:
		if (a->links == PORTS_MAX)
			die("too many links", NULL);
		a->link[a->links++] = arg;
		return 0;
	case KEY_FLOW:
		if (a->flows == FLOWS_MAX)
			die("too many flows", NULL);
		a->flow[a->flows++] = arg;
		return 0;
	case KEY_FIG6:
		if (sscanf(arg, "%d,%d,%d", &a->group[0], &a->group[1], &a->group[2]) != 3)
			die("--fig6 takes three numbers", arg);
		return 0;
	case KEY_ACKS:
		a->m->acks = true;
		return 0;
	case KEY_SHARED:
		a->shared = true;
		return 0;
	case KEY_STARTS:
		a->starts = parse_int(arg);
		return 0;
	case KEY_SKEW:
		a->skew = parse_number(arg);
		return 0;
	case KEY_PORT:
		a->port = arg;
		return 0;
	case KEY_TRACE:
		a->trace = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	}
	return parse_time_or_size(key, arg, a->m);
}

static int find_named_port(const struct model *m, const char *name)
{
	char port[2 * NAME_MAX_BYTES];
	int i;

	for (i = 0; i < m->ports; i++) {
		snprintf(port, sizeof(port), "%s,%s", m->port[i].from, m->port[i].to);
		if (!strcmp(port, name))
			return i;
	}
	die("no such port", name);
	return -1;
}

/*
 * The order of the flows is the order of their sub-queues in the round robin. Run 0 has the order
 * in which they were given; as many runs as there are orders have each once.
 */
static void model_add_flows(struct model *m, const struct arguments *a, int run)
{
	const char *flow[FLOWS_MAX];
	int left, pick;

	memcpy(flow, a->flow, sizeof(flow));
	for (left = a->flows; left; left--) {
		pick = run % left;
		run /= left;
		model_add_flow(m, flow[pick]);
		memmove(&flow[pick], &flow[pick + 1], (left - pick - 1) * sizeof(*flow));
	}
}

/* Makes the model of run @run out of the settings in @base and the arguments. */
static void model_build(struct model *m, const struct model *base, const struct arguments *a,
			int run)
{
	int i;

	*m = *base;
	for (i = 0; i < a->links; i++)
		model_set_link(m, a->link[i]);
	m->tie = run % TIES;
	m->lot = run;
	model_add_flows(m, a, run / TIES);
	model_add_fig6(m, a->group[0], a->group[1], a->group[2], a->shared);
	for (i = 0; i < m->flows; i++)
		m->flow[i].start += i * run * a->skew;
	if (a->port)
		find_named_port(m, a->port);
	if (a->trace)
		m->trace = find_named_port(m, a->trace);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse_option,
		.doc = "Packet-level reference model of backpressure flow control (BFC)",
	};
	static struct range range[PORTS_MAX];
	static struct model base, m;
	struct arguments a = { .m = &base, .starts = 1, .skew = 397 };
	int run, i;

	model_init(&base);
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (a.starts < 1)
		die("starts must be at least 1", NULL);
	for (run = 0; run < a.starts; run++) {
		model_free(&m);
		model_build(&m, &base, &a, run);
		model_run(&m);
		for (i = 0; i < m.ports; i++) {
			range_widen(range[i].utilisation, port_utilisation(&m, &m.port[i]), !run);
			range_widen(range[i].mean, port_mean(&m, &m.port[i]), !run);
		}
	}
	if (a.json)
		print_json(&m, range, a.port);
	else
		print_text(&m, range, a.port);
	model_free(&m);
	return 0;
}

#endif /* BFC_MODEL_LIBRARY */
