/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * graph: the backpressure graph of a fabric (BFC, App. B).
 *
 * A node is an egress port of a switch. There is an edge from B to A if packets can go from A to B
 * in one hop: then B can pause A. Such packets come in to B's switch by the port that faces A
 * and leave by B, so an edge is a pair of ports of one switch, and eliding that pair's backpressure
 * takes the edge away. Without a cycle there is no deadlock.
 */
#ifndef _SLUICE_GRAPH_H
#define _SLUICE_GRAPH_H

#include <stdint.h>

#include "topo.h"

/**
 * struct graph_edge - what backpressure can do
 * @from: port whose queue grows
 * @to: port that it pauses
 * @pair: of the packets
 * @shortest: shortest ways from host to host have this pair
 * @valley: packets come from a higher layer and go back to one
 */
struct graph_edge {
	int from;
	int to;
	struct topo_pair pair;
	bool shortest;
	bool valley;
};

/**
 * struct graph - edges between the ports of a fabric
 * @t: the fabric
 * @n_pairs: pairs that can occur, those that pause only hosts included
 * @edges: edges, sorted by @from
 * @n_edges: how many
 * @first: first edge of each port, and the end
 */
struct graph {
	const struct topo *t;
	int n_pairs;
	struct graph_edge *edges;
	int n_edges;
	int *first;
};

/**
 * struct graph_part - a strongly connected part: each port of it is in some cycle
 * @n_nodes: ports in it
 * @n_edges: edges in it
 * @cycle: edges of a shortest cycle, in the direction of the pauses
 * @length: how many
 */
struct graph_part {
	int n_nodes;
	int n_edges;
	int *cycle;
	int length;
};

struct graph_parts {
	struct graph_part *list;
	int count;
};

/**
 * struct graph_fix - edges whose removal leaves no cycle
 * @removed: for each edge
 * @count: how many are removed
 * @at_least: no set is smaller than this
 * @proven: no set is smaller than @count
 */
struct graph_fix {
	bool *removed;
	int count;
	int at_least;
	bool proven;
};

/**
 * graph_build - the backpressure graph of a fabric
 * @g: the graph
 * @t: the fabric, which has to live as long
 * @all_paths: any two ports of a switch are a pair that occurs
 */
void graph_build(struct graph *g, const struct topo *t, bool all_paths);
void graph_free(struct graph *g);

/**
 * graph_acyclic - is there no cycle
 * @g: the graph
 * @removed: edges that are not there, or NULL
 */
bool graph_acyclic(const struct graph *g, const bool *removed);

/**
 * graph_parts - where the cycles are
 * @g: the graph
 * @parts: the strongly connected parts with a cycle, each with a shortest one
 */
void graph_parts(const struct graph *g, struct graph_parts *parts);
void graph_parts_free(struct graph_parts *parts);

/**
 * graph_fix - a smallest set of edges whose removal leaves no cycle
 * @g: the graph
 * @fix: the set
 * @budget: cycles that the search may look at until it gives up to prove that none is smaller
 *
 * Among sets of one size: first pairs that go down and up again, then those off the shortest
 * ways, as they carry the least.
 */
void graph_fix(const struct graph *g, struct graph_fix *fix, long budget);
void graph_fix_free(struct graph_fix *fix);

#define GRAPH_BUDGET	50000000L

/**
 * graph_tier_rule - what `tier up` and `tier down` on each port remove
 * @g: the graph
 * @removed: for each edge
 *
 * Return: how many.
 */
int graph_tier_rule(const struct graph *g, bool *removed);

#endif
