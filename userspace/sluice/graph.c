// SPDX-License-Identifier: GPL-2.0-only
/*
 * graph.c - the backpressure graph: building it, its cycles, and what takes them away
 *
 * A smallest feedback edge set is found by the implicit hitting set method: cycles are collected; a
 * lightest set of edges that hits all of them is found by branch and bound; if cycles are left in
 * the graph without it, some of those are added and the search begins anew. The first set
 * that leaves none is a smallest one, because any solution has to hit the collected cycles. Beyond
 * the budget the answer is a greedy one, from which no edge can be spared.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "graph.h"

#define WEIGHT_ONE	(1LL << 24)	/* of an edge; preferences are added and never reach it */
#define CYCLES_PER_ROUND 64
#define CYCLES_MAX	4096

static void *need(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		abort();
	return p;
}

/* Building: which pairs occur. */

/**
 * struct occurs - pairs of ports that packets take
 * @t: the fabric
 * @in_first: number of the first pair of each ingress port
 * @taken: for each pair: 0, or SEEN_*
 */
struct occurs {
	const struct topo *t;
	int *in_first;
	unsigned char *taken;
};

enum { SEEN = 1, SEEN_SHORTEST = 2, SEEN_ELIDED = 4 };

/* Place of a port in its box. */
static int rank_of(const struct topo *t, int port)
{
	const struct topo_node *n = &t->nodes[t->ports[port].node];

	for (int i = 0; i < n->n_ports; i++)
		if (n->ports[i] == port)
			return i;
	return -1;
}

static unsigned char *occurs_at(struct occurs *o, int in, int out)
{
	return &o->taken[o->in_first[in] + rank_of(o->t, out)];
}

/* Hops from each box to host @to; hosts forward nothing. */
static void distances(const struct topo *t, int to, int *distance, int *queue)
{
	int head = 0, tail = 0;

	for (int i = 0; i < t->n_nodes; i++)
		distance[i] = -1;
	distance[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		int at = queue[head++];
		const struct topo_node *n = &t->nodes[at];

		if (at != to && !n->is_switch)
			continue;
		for (int i = 0; i < n->n_ports; i++) {
			int next = t->ports[t->ports[n->ports[i]].peer].node;

			if (distance[next] >= 0)
				continue;
			distance[next] = distance[at] + 1;
			queue[tail++] = next;
		}
	}
}

/* All steps that a packet to one host takes from box @at, where it came in by @in. */
static void step(struct occurs *o, const int *distance, int at, int in, bool *reached)
{
	const struct topo_node *n = &o->t->nodes[at];

	for (int i = 0; i < n->n_ports; i++) {
		int out = n->ports[i], far = o->t->ports[out].peer;

		if (out == in || distance[o->t->ports[far].node] != distance[at] - 1)
			continue;
		if (in >= 0)
			*occurs_at(o, in, out) |= SEEN | SEEN_SHORTEST;
		reached[far] = true;
	}
}

/*
 * Shortest ways to a host only ever come closer to it. So boxes are visited from the farthest on;
 * @reached are ports by which packets come in, and are known before their box is visited.
 */
static void shortest_to(struct occurs *o, int to, int *distance, int *order, bool *reached)
{
	const struct topo *t = o->t;

	distances(t, to, distance, order);
	memset(reached, 0, sizeof(*reached) * t->n_ports);
	for (int i = t->n_nodes - 1; i >= 0; i--) {
		const struct topo_node *n = &t->nodes[order[i]];

		if (order[i] < 0 || order[i] == to || distance[order[i]] < 0)
			continue;
		if (!n->is_switch) {
			step(o, distance, order[i], -1, reached);
			continue;
		}
		for (int p = 0; p < n->n_ports; p++)
			if (reached[n->ports[p]])
				step(o, distance, order[i], n->ports[p], reached);
	}
}

static void take_shortest(struct occurs *o)
{
	int *distance = need(o->t->n_nodes, sizeof(*distance));
	int *order = need(o->t->n_nodes, sizeof(*order));
	bool *reached = need(o->t->n_ports, sizeof(*reached));

	for (int i = 0; i < o->t->n_nodes; i++) {
		if (o->t->nodes[i].is_switch)
			continue;
		/* what is not reached is not in the queue */
		memset(order, -1, sizeof(*order) * o->t->n_nodes);
		shortest_to(o, i, distance, order, reached);
	}
	free(distance);
	free(order);
	free(reached);
}

static void take_all(struct occurs *o)
{
	for (int b = 0; b < o->t->n_nodes; b++) {
		const struct topo_node *n = &o->t->nodes[b];

		for (int i = 0; n->is_switch && i < n->n_ports; i++)
			for (int j = 0; j < n->n_ports; j++)
				if (i != j)
					*occurs_at(o, n->ports[i], n->ports[j]) |= SEEN;
	}
}

/* Does this port lead to a higher layer? Never if one of the two layers is not known. */
static bool leads_up(const struct topo *t, int port)
{
	int here = t->nodes[t->ports[port].node].tier;
	int there = t->nodes[t->ports[t->ports[port].peer].node].tier;

	return here != TOPO_TIER_NONE && there > here;
}

static int by_from(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	return x->from != y->from ? (x->from > y->from) - (x->from < y->from) :
				    (x->to > y->to) - (x->to < y->to);
}

static void add_edge(struct graph *g, int in, int out, unsigned char seen)
{
	const struct topo *t = g->t;
	int to = t->ports[in].peer;

	g->n_pairs++;
	/* hosts have egress ports too, and pause nobody: they are in no cycle */
	if (seen & SEEN_ELIDED || !t->nodes[t->ports[to].node].is_switch)
		return;
	g->edges[g->n_edges++] = (struct graph_edge) {
		.from = out, .to = to, .pair = { in, out },
		.shortest = seen & SEEN_SHORTEST,
		.valley = leads_up(t, in) && leads_up(t, out),
	};
}

static void index_edges(struct graph *g)
{
	qsort(g->edges, g->n_edges, sizeof(*g->edges), by_from);
	g->first = need(g->t->n_ports + 1, sizeof(*g->first));
	for (int i = 0; i < g->n_edges; i++)
		g->first[g->edges[i].from + 1]++;
	for (int i = 0; i < g->t->n_ports; i++)
		g->first[i + 1] += g->first[i];
}

void graph_build(struct graph *g, const struct topo *t, bool all_paths)
{
	struct occurs o = { .t = t, .in_first = need(t->n_ports, sizeof(int)) };
	int total = 0;

	memset(g, 0, sizeof(*g));
	g->t = t;
	for (int p = 0; p < t->n_ports; p++) {
		o.in_first[p] = total;
		total += t->nodes[t->ports[p].node].n_ports;
	}
	o.taken = need(total, sizeof(*o.taken));
	if (t->shortest || all_paths)
		take_shortest(&o);
	if (all_paths)
		take_all(&o);
	for (int i = 0; i < t->n_routes; i++)
		*occurs_at(&o, t->routes[i].in, t->routes[i].out) |= SEEN;
	for (int i = 0; i < t->n_elided; i++)
		*occurs_at(&o, t->elided[i].in, t->elided[i].out) |= SEEN_ELIDED;

	g->edges = need(total, sizeof(*g->edges));
	for (int in = 0; in < t->n_ports; in++) {
		const struct topo_node *n = &t->nodes[t->ports[in].node];

		for (int j = 0; j < n->n_ports; j++) {
			unsigned char seen = o.taken[o.in_first[in] + j];

			if (seen & SEEN)
				add_edge(g, in, n->ports[j], seen);
		}
	}
	index_edges(g);
	free(o.in_first);
	free(o.taken);
}

void graph_free(struct graph *g)
{
	free(g->edges);
	free(g->first);
	memset(g, 0, sizeof(*g));
}

/* Cycles. */

bool graph_acyclic(const struct graph *g, const bool *removed)
{
	int n = g->t->n_ports, head = 0, tail = 0;
	int *in = need(n, sizeof(*in)), *queue = need(n, sizeof(*queue));

	for (int e = 0; e < g->n_edges; e++)
		in[g->edges[e].to] += !removed || !removed[e];
	for (int v = 0; v < n; v++)
		if (!in[v])
			queue[tail++] = v;
	while (head < tail) {
		int v = queue[head++];

		for (int e = g->first[v]; e < g->first[v + 1]; e++)
			if ((!removed || !removed[e]) && !--in[g->edges[e].to])
				queue[tail++] = g->edges[e].to;
	}
	free(in);
	free(queue);
	return tail == n;
}

/**
 * struct tarjan - strongly connected parts (Tarjan 1972)
 * @g: the graph
 * @removed: edges that are not there, or NULL
 * @part: of each node, once known; -1 before
 * @order: when a node was first seen, from 1
 * @low: the earliest that can be reached from it
 * @stack: nodes that are not in a part yet
 * @top: of the stack
 * @clock: nodes seen
 * @parts: found so far
 */
struct tarjan {
	const struct graph *g;
	const bool *removed;
	int *part;
	int *order;
	int *low;
	int *stack;
	int top;
	int clock;
	int parts;
};

static void tarjan_visit(struct tarjan *s, int v)
{
	const struct graph *g = s->g;
	int w;

	s->order[v] = ++s->clock;
	s->low[v] = s->clock;
	s->stack[s->top++] = v;
	for (int e = g->first[v]; e < g->first[v + 1]; e++) {
		w = g->edges[e].to;
		if ((s->removed && s->removed[e]) || (s->order[w] && s->part[w] >= 0))
			continue;
		if (!s->order[w])
			tarjan_visit(s, w);
		if (s->low[w] < s->low[v])
			s->low[v] = s->low[w];
	}
	if (s->low[v] != s->order[v])
		return;
	do {
		w = s->stack[--s->top];
		s->part[w] = s->parts;
	} while (w != v);
	s->parts++;
}

/* Return: how many parts, those of one node included; the part of each node in @part. */
static int find_parts(const struct graph *g, const bool *removed, int *part)
{
	int n = g->t->n_ports;
	struct tarjan s = {
		.g = g, .removed = removed, .part = part,
		.order = need(n, sizeof(int)), .low = need(n, sizeof(int)),
		.stack = need(n, sizeof(int)),
	};

	memset(part, -1, sizeof(*part) * n);
	for (int v = 0; v < n; v++)
		if (!s.order[v])
			tarjan_visit(&s, v);
	free(s.order);
	free(s.low);
	free(s.stack);
	return s.parts;
}

/**
 * struct search - shortest cycles
 * @g: the graph
 * @removed: edges that are not there, or NULL
 * @part: of each node: a cycle never leaves its part
 * @by: edge by which a node was reached, -1: not reached
 * @depth: edges to a node
 * @queue: nodes reached
 */
struct search {
	const struct graph *g;
	const bool *removed;
	int *part;
	int *by;
	int *depth;
	int *queue;
};

static void search_begin(struct search *s, const struct graph *g, const bool *removed)
{
	int n = g->t->n_ports;

	*s = (struct search) {
		.g = g, .removed = removed,
		.part = need(n, sizeof(int)), .by = need(n, sizeof(int)),
		.depth = need(n, sizeof(int)), .queue = need(n, sizeof(int)),
	};
	find_parts(g, removed, s->part);
	memset(s->by, -1, sizeof(int) * n);
}

static void search_end(struct search *s)
{
	free(s->part);
	free(s->by);
	free(s->depth);
	free(s->queue);
}

/* From the last edge of a cycle through @start back to its first. Return: length. */
static int cycle_collect(struct search *s, int start, int last, int *cycle)
{
	const struct graph_edge *edges = s->g->edges;
	int length = s->depth[edges[last].from] + 1;

	for (int i = length - 1, e = last; i >= 0; i--) {
		cycle[i] = e;
		if (edges[e].from == start)
			break;
		e = s->by[edges[e].from];
	}
	return length;
}

/* A shortest cycle through @start with fewer than @below edges. Return: its length, or 0. */
static int cycle_through(struct search *s, int start, int below, int *cycle)
{
	const struct graph *g = s->g;
	int head = 0, tail = 0, length = 0;

	s->queue[tail++] = start;
	s->depth[start] = 0;
	while (head < tail && !length) {
		int v = s->queue[head++];

		if (s->depth[v] + 1 >= below)
			break;
		for (int e = g->first[v]; e < g->first[v + 1] && !length; e++) {
			int w = g->edges[e].to;

			if ((s->removed && s->removed[e]) || s->part[w] != s->part[start])
				continue;
			if (w == start) {
				length = cycle_collect(s, start, e, cycle);
			} else if (s->by[w] < 0) {
				s->by[w] = e;
				s->depth[w] = s->depth[v] + 1;
				s->queue[tail++] = w;
			}
		}
	}
	for (int i = 0; i < tail; i++)
		s->by[s->queue[i]] = -1;
	return length;
}

void graph_parts(const struct graph *g, struct graph_parts *parts)
{
	int n = g->t->n_ports, *cycle = need(n + 1, sizeof(*cycle));
	struct graph_part **of = need(n, sizeof(*of));
	struct search s;

	memset(parts, 0, sizeof(*parts));
	search_begin(&s, g, NULL);
	parts->list = need(n, sizeof(*parts->list));
	for (int v = 0; v < n; v++) {
		struct graph_part *p = of[s.part[v]];
		int length = cycle_through(&s, v, p && p->length ? p->length : n + 2, cycle);

		if (!p && length)
			p = of[s.part[v]] = &parts->list[parts->count++];
		if (!p)
			continue;
		p->n_nodes++;
		for (int e = g->first[v]; e < g->first[v + 1]; e++)
			p->n_edges += s.part[g->edges[e].to] == s.part[v];
		if (!length)
			continue;
		free(p->cycle);
		p->cycle = need(length, sizeof(*p->cycle));
		memcpy(p->cycle, cycle, sizeof(*cycle) * length);
		p->length = length;
	}
	search_end(&s);
	free(of);
	free(cycle);
}

void graph_parts_free(struct graph_parts *parts)
{
	for (int i = 0; i < parts->count; i++)
		free(parts->list[i].cycle);
	free(parts->list);
	memset(parts, 0, sizeof(*parts));
}

/* What takes cycles away. */

static int64_t weight(const struct graph_edge *e)
{
	return WEIGHT_ONE + (e->valley ? 0 : e->shortest ? 2 : 1);
}

static int64_t weight_of(const struct graph *g, const bool *removed)
{
	int64_t sum = 0;

	for (int e = 0; e < g->n_edges; e++)
		sum += removed[e] ? weight(&g->edges[e]) : 0;
	return sum;
}

/* Puts back what can be spared, the dearest first. */
static void spare(const struct graph *g, bool *removed)
{
	for (int kind = 2; kind >= 0; kind--)
		for (int e = 0; e < g->n_edges; e++) {
			if (!removed[e] || weight(&g->edges[e]) != WEIGHT_ONE + kind)
				continue;
			removed[e] = false;
			removed[e] = !graph_acyclic(g, removed);
		}
}

/* How many pauses pass through an edge, roughly: the edge to take out of a cycle. */
static long traffic(const struct graph *g, const int *in, const struct graph_edge *e)
{
	return (long)(in[e->from] + 1) * (g->first[e->to + 1] - g->first[e->to] + 1);
}

static void greedy(const struct graph *g, bool *removed)
{
	int n = g->t->n_ports, *cycle = need(n + 1, sizeof(*cycle)), *in = need(n, sizeof(*in));
	bool again = true;
	struct search s;

	for (int e = 0; e < g->n_edges; e++)
		in[g->edges[e].to]++;
	while (again) {
		again = false;
		search_begin(&s, g, removed);
		for (int v = 0; v < n; v++) {
			int length = cycle_through(&s, v, n + 2, cycle), best = cycle[0];

			if (!length)
				continue;
			for (int i = 1; i < length; i++) {
				const struct graph_edge *a = &g->edges[cycle[i]];
				const struct graph_edge *b = &g->edges[best];

				if (weight(a) < weight(b) || (weight(a) == weight(b) &&
				    traffic(g, in, a) > traffic(g, in, b)))
					best = cycle[i];
			}
			removed[best] = true;
			again = true;
		}
		search_end(&s);
	}
	spare(g, removed);
	free(cycle);
	free(in);
}

/**
 * struct hitting - a lightest set of edges that hits all collected cycles
 * @g: the graph
 * @cycles: edges of each cycle
 * @length: of each cycle
 * @count: cycles
 * @state: of each edge: 0 free, 1 in the set, -1 ruled out
 * @hits: of each cycle: edges of it in the set
 * @best: lightest set found
 * @best_weight: its weight
 * @mark: of each edge: the last packing that used it
 * @marks: packings so far
 * @steps: cycles that may still be looked at
 */
struct hitting {
	const struct graph *g;
	int *cycles[CYCLES_MAX];
	int length[CYCLES_MAX];
	int count;
	signed char *state;
	int hits[CYCLES_MAX];
	bool *best;
	int64_t best_weight;
	long *mark;
	long marks;
	long steps;
};

/*
 * Cycles that share no edge each cost an edge. Return: what hitting all that are open costs at
 * least, or -1 if one of them cannot be hit any more; *next is an open cycle with the fewest
 * free edges. *apart counts the cycles.
 */
static int64_t bound(struct hitting *h, int *next, int *apart)
{
	int fewest = 0;
	int64_t sum = 0;

	h->marks++;
	*next = -1;
	*apart = 0;
	for (int c = 0; c < h->count; c++) {
		int64_t lightest = INT64_MAX;
		bool own = true;
		int open = 0;

		if (h->hits[c])
			continue;
		for (int i = 0; i < h->length[c]; i++) {
			int e = h->cycles[c][i];

			if (h->state[e])
				continue;
			open++;
			own &= h->mark[e] != h->marks;
			if (weight(&h->g->edges[e]) < lightest)
				lightest = weight(&h->g->edges[e]);
		}
		if (!open)
			return -1;
		if (*next < 0 || open < fewest) {
			*next = c;
			fewest = open;
		}
		if (!own)
			continue;
		for (int i = 0; i < h->length[c]; i++)
			h->mark[h->cycles[c][i]] = h->marks;
		sum += lightest;
		++*apart;
	}
	return sum;
}

static void set_state(struct hitting *h, int e, int state)
{
	int change = (state == 1) - (h->state[e] == 1);

	h->state[e] = state;
	for (int c = 0; change && c < h->count; c++)
		for (int i = 0; i < h->length[c]; i++)
			h->hits[c] += h->cycles[c][i] == e ? change : 0;
}

static void branch(struct hitting *h, int64_t so_far);

/*
 * One of the edges of a cycle has to be in the set. Each is tried, lightest first, and ruled out
 * when all sets with it have been seen.
 */
static void branch_on(struct hitting *h, int64_t so_far, const int *cycle, int length)
{
	int out[length], n_out = 0;

	for (int kind = 0; kind < 3; kind++)
		for (int i = 0; i < length; i++) {
			int e = cycle[i];

			if (h->state[e] || weight(&h->g->edges[e]) != WEIGHT_ONE + kind)
				continue;
			set_state(h, e, 1);
			branch(h, so_far + weight(&h->g->edges[e]));
			set_state(h, e, -1);
			out[n_out++] = e;
		}
	while (n_out)
		set_state(h, out[--n_out], 0);
}

static void branch(struct hitting *h, int64_t so_far)
{
	int next, apart;
	int64_t rest = bound(h, &next, &apart);

	h->steps -= h->count;
	if (h->steps < 0 || rest < 0 || so_far + rest >= h->best_weight)
		return;
	if (next >= 0) {
		branch_on(h, so_far, h->cycles[next], h->length[next]);
		return;
	}
	for (int e = 0; e < h->g->n_edges; e++)
		h->best[e] = h->state[e] == 1;
	h->best_weight = so_far;
}

/* Adds a shortest cycle through each port that has one, until there are enough. */
static int collect(struct hitting *h, const bool *removed)
{
	int n = h->g->t->n_ports, *cycle = need(n + 1, sizeof(*cycle)), added = 0;
	bool *used = need(n, sizeof(*used));
	struct search s;

	search_begin(&s, h->g, removed);
	for (int v = 0; v < n && added < CYCLES_PER_ROUND && h->count < CYCLES_MAX; v++) {
		int length = used[v] ? 0 : cycle_through(&s, v, n + 2, cycle);

		if (!length)
			continue;
		for (int i = 0; i < length; i++)
			used[h->g->edges[cycle[i]].from] = true;
		h->cycles[h->count] = need(length, sizeof(*cycle));
		memcpy(h->cycles[h->count], cycle, sizeof(*cycle) * length);
		h->length[h->count++] = length;
		added++;
	}
	search_end(&s);
	free(used);
	free(cycle);
	return added;
}

static void unite(const struct graph *g, bool *to, const bool *a, const bool *b)
{
	for (int e = 0; e < g->n_edges; e++)
		to[e] = a[e] || b[e];
}

/*
 * One strongly connected part; @outside are the edges that are not in it. @removed has a
 * good set, and a smallest one afterwards.
 *
 * Return: is it proven to be one.
 */
static bool solve(const struct graph *g, const bool *outside, bool *removed, long *budget,
		  int *at_least)
{
	bool *open = need(g->n_edges, sizeof(*open)), proven = false;
	struct hitting *h = need(1, sizeof(*h));
	int next, apart;

	h->g = g;
	h->steps = *budget;
	h->state = need(g->n_edges, sizeof(*h->state));
	h->mark = need(g->n_edges, sizeof(*h->mark));
	h->best = need(g->n_edges, sizeof(*h->best));
	memcpy(open, outside, g->n_edges);
	while (collect(h, open) && h->count < CYCLES_MAX) {
		bound(h, &next, &apart);
		if (apart > *at_least)
			*at_least = apart;
		memcpy(h->best, removed, g->n_edges);
		h->best_weight = weight_of(g, removed);
		branch(h, 0);
		if (h->steps < 0)
			break;
		/* any solution hits these cycles, too: none is lighter */
		*at_least = h->best_weight / WEIGHT_ONE;
		unite(g, open, outside, h->best);
		proven = graph_acyclic(g, open);
		if (!proven)
			continue;
		memcpy(removed, h->best, g->n_edges);
		break;
	}
	*budget = h->steps;
	for (int c = 0; c < h->count; c++)
		free(h->cycles[c]);
	free(h->state);
	free(h->mark);
	free(h->best);
	free(h);
	free(open);
	return proven;
}

int graph_tier_rule(const struct graph *g, bool *removed)
{
	int count = 0;

	for (int e = 0; e < g->n_edges; e++) {
		removed[e] = g->edges[e].valley;
		count += removed[e];
	}
	return count;
}

/* The better of two sets without search: the greedy one, and what the rule of tiers removes. */
static void first_guess(const struct graph *g, bool *removed)
{
	bool *tiers = need(g->n_edges, sizeof(*tiers));

	greedy(g, removed);
	graph_tier_rule(g, tiers);
	if (graph_acyclic(g, tiers)) {
		spare(g, tiers);
		if (weight_of(g, tiers) < weight_of(g, removed))
			memcpy(removed, tiers, g->n_edges);
	}
	free(tiers);
}

void graph_fix(const struct graph *g, struct graph_fix *fix, long budget)
{
	int *part = need(g->t->n_ports, sizeof(*part)), parts = find_parts(g, NULL, part);
	bool *outside = need(g->n_edges, sizeof(*outside));
	bool *own = need(g->n_edges, sizeof(*own));

	*fix = (struct graph_fix) { .removed = need(g->n_edges, sizeof(bool)), .proven = true };
	first_guess(g, fix->removed);
	for (int p = 0; p < parts; p++) {
		int guess = 0, at_least = 0;

		for (int e = 0; e < g->n_edges; e++) {
			outside[e] = part[g->edges[e].from] != p || part[g->edges[e].to] != p;
			own[e] = fix->removed[e] && !outside[e];
			guess += own[e];
		}
		if (!guess)
			continue;
		if (!solve(g, outside, own, &budget, &at_least))
			fix->proven = false;
		fix->at_least += at_least;
		for (int e = 0; e < g->n_edges; e++)
			if (!outside[e])
				fix->removed[e] = own[e];
	}
	for (int e = 0; e < g->n_edges; e++)
		fix->count += fix->removed[e];
	free(outside);
	free(own);
	free(part);
}

void graph_fix_free(struct graph_fix *fix)
{
	free(fix->removed);
	memset(fix, 0, sizeof(*fix));
}
