// SPDX-License-Identifier: GPL-2.0-only
/*
 * fabric.c - sluice graph: can backpressure go in a circle, and what to do against it
 *
 * The verdict is about the whole fabric; what is applied is this box's share of the remedy.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/uapi/hopctl.h"
#include "graph.h"
#include "pair.h"
#include "sluice.h"

struct options {
	const char *file;
	const char *box;	/* name of this box in the file */
	bool all_paths;
	bool apply;
	bool dot;
};

/**
 * struct verdict - what is said of a fabric
 * @g: its backpressure graph
 * @parts: where its cycles are
 * @fix: a smallest set of pairs to elide
 * @tiers: what the rule of tiers elides
 * @n_tiers: how many
 * @tiers_do: and whether no cycle is left then
 */
struct verdict {
	struct graph g;
	struct graph_parts parts;
	struct graph_fix fix;
	bool *tiers;
	int n_tiers;
	bool tiers_do;
};

enum { KEY_APPLY = 256, KEY_DOT, KEY_ALL, KEY_SWITCH };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_APPLY:
		o->apply = true;
		return 0;
	case KEY_DOT:
		o->dot = true;
		return 0;
	case KEY_ALL:
		o->all_paths = true;
		return 0;
	case KEY_SWITCH:
		o->box = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->file)
			argp_error(state, "one file, not also \"%s\"", arg);
		o->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->file)
			argp_error(state, "a file that describes the fabric, or - for standard input");
		if (o->apply && !o->box)
			argp_error(state, "--apply needs --switch NAME: which of them is this box?");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *box_name(const struct topo *t, int port)
{
	return t->nodes[t->ports[port].node].name;
}

static json_t *port_text(const struct topo *t, int port)
{
	return json_sprintf("%s.%s", box_name(t, port), t->ports[port].name);
}

static json_t *pairs_json(const struct graph *g, const bool *chosen)
{
	json_t *array = json_array();

	for (int e = 0; e < g->n_edges; e++) {
		const struct topo_pair *p = &g->edges[e].pair;

		if (chosen[e])
			json_array_append_new(array, json_pack("{s:s, s:s, s:s}",
				"switch", box_name(g->t, p->in), "ingress", g->t->ports[p->in].name,
				"egress", g->t->ports[p->out].name));
	}
	return array;
}

static json_t *part_json(const struct graph *g, const struct graph_part *p)
{
	json_t *cycle = json_array();

	for (int i = 0; i < p->length; i++)
		json_array_append_new(cycle, port_text(g->t, g->edges[p->cycle[i]].from));
	return json_pack("{s:i, s:i, s:o}", "ports", p->n_nodes, "edges", p->n_edges,
			 "cycle", cycle);
}

static int switches(const struct topo *t)
{
	int count = 0;

	for (int i = 0; i < t->n_nodes; i++)
		count += t->nodes[i].is_switch;
	return count;
}

static json_t *verdict_json(const struct verdict *v)
{
	const struct topo *t = v->g.t;
	json_t *parts = json_array();

	for (int i = 0; i < v->parts.count; i++)
		json_array_append_new(parts, part_json(&v->g, &v->parts.list[i]));
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:b, s:o, s:{s:o, s:i, s:b}, s:{s:o, s:b}}",
		"switches", switches(t), "hosts", t->n_nodes - switches(t),
		"links", t->n_ports / 2, "pairs", v->g.n_pairs, "edges", v->g.n_edges,
		"cyclic", v->parts.count > 0, "parts", parts,
		"elide", "pairs", pairs_json(&v->g, v->fix.removed), "at_least", v->fix.at_least,
		"proven", v->fix.proven,
		"tier_rule", "pairs", pairs_json(&v->g, v->tiers), "acyclic", v->tiers_do);
}

static void print_part(const struct graph *g, const struct graph_part *p)
{
	const struct topo *t = g->t;

	printf("%d ports can pause each other in circles; a shortest one has %d:\n", p->n_nodes,
	       p->length);
	for (int i = 0; i < p->length; i++) {
		const struct graph_edge *e = &g->edges[p->cycle[i]];

		printf("  %s.%s pauses %s.%s\n", box_name(t, e->from), t->ports[e->from].name,
		       box_name(t, e->to), t->ports[e->to].name);
	}
}

static void print_pairs(const struct graph *g, const bool *chosen)
{
	const struct topo *t = g->t;

	for (int e = 0; e < g->n_edges; e++) {
		const struct topo_pair *p = &g->edges[e].pair;

		if (chosen[e])
			printf("elide %s.%s %s.%s\n", box_name(t, p->in), t->ports[p->in].name,
			       box_name(t, p->out), t->ports[p->out].name);
	}
}

static void print_verdict(const struct verdict *v)
{
	const struct topo *t = v->g.t;

	printf("%d switches, %d hosts, %d links; %d pairs of ports, %d edges of backpressure\n",
	       switches(t), t->n_nodes - switches(t), t->n_ports / 2, v->g.n_pairs, v->g.n_edges);
	if (!v->parts.count) {
		puts("acyclic: backpressure cannot lock up");
		return;
	}
	puts("cyclic: backpressure can lock up");
	for (int i = 0; i < v->parts.count; i++)
		print_part(&v->g, &v->parts.list[i]);
	if (v->fix.proven)
		printf("acyclic without %d pairs, and with no fewer:\n", v->fix.count);
	else
		printf("acyclic without %d pairs (not proven minimal, at least %d):\n", v->fix.count,
		       v->fix.at_least);
	print_pairs(&v->g, v->fix.removed);
	if (v->n_tiers)
		printf("the rule of tiers (option tier on each port) elides %d pairs: %s\n",
		       v->n_tiers, v->tiers_do ? "acyclic" : "still cyclic");
}

static void print_dot(const struct verdict *v)
{
	const struct topo *t = v->g.t;

	puts("digraph backpressure {");
	for (int e = 0; e < v->g.n_edges; e++) {
		const struct graph_edge *edge = &v->g.edges[e];

		printf("\t\"%s.%s\" -> \"%s.%s\"%s;\n", box_name(t, edge->from),
		       t->ports[edge->from].name, box_name(t, edge->to), t->ports[edge->to].name,
		       v->fix.removed[e] ? " [style=dashed, color=red, label=elide]" : "");
	}
	puts("}");
}

/* Adds this box's pairs. All devices have to be there before the first is added. */
static void apply(const struct verdict *v, const struct options *o)
{
	const struct topo *t = v->g.t;
	int added = 0, had = 0, err;
	struct nl nl;

	nl_need_hopctl(&nl);
	for (int pass = 0; pass < 2; pass++)
		for (int e = 0; e < v->g.n_edges; e++) {
			const struct topo_pair *p = &v->g.edges[e].pair;
			const char *in = t->ports[p->in].name, *out = t->ports[p->out].name;
			unsigned int ingress, egress;

			if (!v->fix.removed[e] || strcmp(box_name(t, p->in), o->box))
				continue;
			ingress = device_index(in);
			egress = device_index(out);
			if (!pass)
				continue;
			err = pair_change(&nl, HOP_CMD_PAIR_ADD, ingress, egress);
			if (err && err != -EEXIST)
				die(EXIT_TROUBLE, "pair %s %s: %s", in, out,
				    nl.reason[0] ? nl.reason :
				    err == -EPERM ? "needs CAP_NET_ADMIN" : strerror(-err));
			added += !err;
			had += !!err;
		}
	nl_close(&nl);
	fprintf(stderr, "sluice: %s: %d pairs added, %d were elided already\n", o->box, added, had);
}

static void judge(struct verdict *v, const struct topo *t, const struct options *o)
{
	graph_build(&v->g, t, o->all_paths);
	graph_parts(&v->g, &v->parts);
	graph_fix(&v->g, &v->fix, GRAPH_BUDGET);
	v->tiers = calloc(v->g.n_edges + 1, sizeof(*v->tiers));
	if (!v->tiers)
		die(EXIT_TROUBLE, "no memory");
	v->n_tiers = graph_tier_rule(&v->g, v->tiers);
	v->tiers_do = graph_acyclic(&v->g, v->tiers);
}

static void read_file(struct topo *t, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char error[TOPO_ERROR_MAX];

	if (!f)
		die(EXIT_TROUBLE, "%s: %s", name, strerror(errno));
	if (topo_read(t, f, error))
		die(EXIT_TROUBLE, "%s:%s", name, error);
	if (f != stdin)
		fclose(f);
}

static void box_check(const struct topo *t, const struct options *o)
{
	int box = o->box ? topo_node_find(t, o->box) : 0;

	if (box < 0 || (o->box && !t->nodes[box].is_switch))
		die(EXIT_TROUBLE, "%s: there is no switch \"%s\"", o->file, o->box);
}

int verb_graph(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "all-paths", KEY_ALL, NULL, 0, "packets may go from any port of a switch to any other", 0 },
		{ "apply", KEY_APPLY, NULL, 0, "elide the pairs that are this box's", 0 },
		{ "switch", KEY_SWITCH, "NAME", 0, "what the file calls this box", 0 },
		{ "dot", KEY_DOT, NULL, 0, "print the graph for dot(1)", 0 },
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "FILE", .children = children,
		.doc = "Can backpressure go in a circle? Exit status 0: no, 3: yes. With --apply: 0 if "
		       "this box's pairs are elided.",
	};
	struct verdict v = {};
	struct options o = {};
	struct topo t;
	int status;

	verb_parse(&argp, argc, argv, &o);
	read_file(&t, o.file);
	box_check(&t, &o);
	judge(&v, &t, &o);
	if (call.json)
		print_json(verdict_json(&v));
	else if (o.dot)
		print_dot(&v);
	else
		print_verdict(&v);
	status = v.parts.count ? EXIT_FOUND : EXIT_OK;
	if (o.apply) {
		apply(&v, &o);
		status = EXIT_OK;
	}
	free(v.tiers);
	graph_fix_free(&v.fix);
	graph_parts_free(&v.parts);
	graph_free(&v.g);
	topo_free(&t);
	return status;
}
