// SPDX-License-Identifier: GPL-2.0-only
/*
 * show.c - sluice show: what the ports of the namespace do and why
 *
 * All ports: a table, one line each. One port: everything that it says, and what its state means.
 * The same for the qdiscs of our other kinds, with or without a port: a table for each kind.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind_names.h"
#include "port.h"
#include "qdisc.h"
#include "roots.h"
#include "sluice.h"

struct options {
	const char *dev;
	bool counters;
	struct roots roots;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 's':
		o->counters = true;
		return 0;
	case ROOTS_WITH:
		roots_add_file(&o->roots, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->dev)
			argp_error(state, "one device, not also \"%s\"", arg);
		o->dev = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Columns of the table: where a value comes from. */
static const struct column {
	const char *title;
	bool of_message;	/* HOP_N_*, not HOP_A_* */
	unsigned int attr;
} columns[] = {
	{ "DEV", true, HOP_N_IFNAME },
	{ "STATE", false, HOP_A_STATE },
	{ "ROLE", false, HOP_A_ROLE },
	{ "TIER", false, HOP_A_TIER },
	{ "PEER", false, HOP_A_PEER_ROLE },
	{ "PEER-MAC", false, HOP_A_PEER_MAC },
	{ "PEER-QUEUES", false, HOP_A_PEER_QUEUES },
	{ "HRTT-RAW", false, HOP_A_HRTT_RAW },
	{ "HRTT", false, HOP_A_HRTT },
	{ "SPEED", true, HOP_N_SPEED },
	{ "QUEUES", true, HOP_N_QUEUES },
	{ "PAUSED", true, HOP_N_PAUSED },
	{ "PAUSING", true, HOP_N_PAUSING },
	{ "STORM", false, HOP_A_STORM },
};

static const struct attr *row_of(const struct attr *table, unsigned int type)
{
	while (table->name && table->type != type)
		table++;
	return table->name ? table : NULL;
}

/* What stands in a cell; to be freed. */
static char *cell(const struct port *p, const struct column *c)
{
	const struct attr *a = row_of(c->of_message ? message_table : port_table, c->attr);
	const struct attr_value *v = c->of_message ? &p->msg[c->attr] : &p->port[c->attr];

	if (c->attr == HOP_N_SPEED && c->of_message && !attr_number(v))
		return strdup("unknown");
	if (!v->data)
		return strdup(a->kind == ATTR_BITMAP ? "none" : "-");
	return attr_text(a, v);
}

/**
 * struct table - cells that are to line up
 * @columns: how many there are
 * @count: of cells so far, row by row; the first row are titles
 * @cells: each is to be freed
 */
struct table {
	size_t columns;
	size_t count;
	char **cells;
};

static void table_add(struct table *t, char *cell)
{
	t->cells = reallocarray(t->cells, t->count + 1, sizeof(*t->cells));
	if (!t->cells || !cell)
		die(EXIT_TROUBLE, "no memory");
	t->cells[t->count++] = cell;
}

/* Its end, too */
static void table_print(struct table *t)
{
	size_t width[t->columns];

	memset(width, 0, sizeof(width));
	for (size_t i = 0; i < t->count; i++)
		if (strlen(t->cells[i]) > width[i % t->columns])
			width[i % t->columns] = strlen(t->cells[i]);
	for (size_t i = 0; i < t->count; i++) {
		bool last = (i + 1) % t->columns == 0;

		printf("%-*s%s", last ? 0 : (int)width[i % t->columns], t->cells[i],
		       last ? "\n" : "  ");
		free(t->cells[i]);
	}
	free(t->cells);
}

static void print_table(const struct ports *ports)
{
	struct table t = { .columns = ARRAY_SIZE(columns) };

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		table_add(&t, strdup(columns[c].title));
	for (size_t i = 0; i < ports->count; i++)
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			table_add(&t, cell(&ports->list[i], &columns[c]));
	table_print(&t);
}

/* What stands in a cell of a kind's table; to be freed. */
static char *kind_cell(json_t *qdisc, const struct kind_column *c)
{
	json_t *v = json_object_get(qdisc, c->key) ?:
		    json_object_get(json_object_get(qdisc, "options"), c->key);
	char buf[ATTR_TEXT_MAX];

	if (!v)
		return strdup("-");
	if (json_is_string(v))
		return strdup(json_string_value(v));
	if (c->zero && !json_integer_value(v))
		return strdup(c->zero);
	if (c->text)
		return strdup(c->text(buf, json_integer_value(v)));
	snprintf(buf, sizeof(buf), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	return strdup(buf);
}

static void print_kind(const struct kind *kind, const struct qdiscs *qdiscs)
{
	static const struct limited none;
	const struct kind_column *c;
	struct table t = {};

	for (c = kind->columns; c->title; c++, t.columns++)
		table_add(&t, strdup(c->title));
	for (size_t i = 0; i < qdiscs->count; i++) {
		json_t *qdisc;

		if (strcmp(qdiscs->list[i].kind, kind->name))
			continue;
		qdisc = qdisc_json(&qdiscs->list[i], &none, false);
		for (c = kind->columns; c->title; c++)
			table_add(&t, kind_cell(qdisc, c));
		json_decref(qdisc);
	}
	table_print(&t);
}

static void print_line(const struct attr *a, const struct attr_value *v)
{
	char *text = attr_text(a, v);

	printf("  %-16s %s", a->name, text);
	if (a->words && a->kind == ATTR_WORD)
		for (const struct attr_word *w = a->words; w->name; w++)
			if (w->value == attr_number(v) && a->type == HOP_A_STATE)
				printf(" (%s)", w->doc);
	putchar('\n');
	free(text);
}

static void print_details(const struct port *p, bool counters)
{
	const struct attr *a;

	printf("%s:\n", port_name(p));
	for (a = port_table; a->name; a++)
		if (p->port[a->type].data && !attr_is_counter(a))
			print_line(a, &p->port[a->type]);
	for (a = message_table; a->name; a++)
		if (p->msg[a->type].data && a->kind != ATTR_NEST && a->type != HOP_N_IFNAME)
			print_line(a, &p->msg[a->type]);
	for (a = port_table; counters && a->name; a++)
		if (p->port[a->type].data && attr_is_counter(a))
			print_line(a, &p->port[a->type]);
}

static void print_counters(const struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct port *p = &ports->list[i];

		printf("%s:", port_name(p));
		for (const struct attr *a = port_table; a->name; a++)
			if (p->port[a->type].data && attr_is_counter(a))
				printf(" %s %" PRIu64, a->name, port_number(p, a->type));
		putchar('\n');
	}
}

/* Where congestion began, of ports that are held for it */
static void print_roots(const struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		const struct root_port *p = &roots->ports[i];

		for (size_t h = 0; p->here && h < p->n_holds; h++) {
			char *text = roots_text(roots, p, &p->holds[h]);

			if (text)
				printf("%s: held %s\n", p->name, text);
			free(text);
		}
	}
}

/* As tc prints it. */
static void print_qdisc(const struct qdisc *q, const struct limited *limited, bool counters)
{
	const struct qdisc_util *util = kind_find(q->kind)->util;
	char dev[IF_NAMESIZE];

	printf("%s %s %x:\n  ", qdisc_dev(q, dev), q->kind, q->handle >> 16);
	qdisc_print_options(q, stdout);
	printf("\n  backlog %ub %up\n", q->queue.backlog, q->queue.qlen);
	qdisc_print_figures(q, counters, stdout);
	putchar('\n');
	for (size_t i = 0; i < limited->count; i++) {
		util->print_xstats(util, stdout, limited->figures[i]);
		putchar('\n');
	}
}

/* Those that are shown by themselves, and not by their ports */
static bool is_shown(const struct qdisc *q)
{
	const struct kind *kind = kind_find(q->kind);

	return kind && kind->columns;
}

static bool qdiscs_have(const struct qdiscs *qdiscs, const char *kind)
{
	for (size_t i = 0; i < qdiscs->count; i++)
		if (!strcmp(qdiscs->list[i].kind, kind))
			return true;
	return false;
}

/**
 * struct shown - what there is to show
 * @ports: of the family, none if it is not there
 * @qdiscs: all
 * @nl: a socket of NETLINK_ROUTE
 */
struct shown {
	struct ports ports;
	struct qdiscs qdiscs;
	struct nl nl;
};

/* @fn is called for each of them, with what it limits. */
static void each_qdisc(struct shown *s, const struct options *o,
		       void (*fn)(const struct qdisc *q, const struct limited *limited,
				  const struct options *o, json_t *array), json_t *array)
{
	struct limited limited;
	int err;

	for (size_t i = 0; i < s->qdiscs.count; i++) {
		if (!is_shown(&s->qdiscs.list[i]))
			continue;
		err = limited_get(&s->nl, &s->qdiscs.list[i], &limited);
		if (err)
			die(EXIT_TROUBLE, "classes: %s", strerror(-err));
		fn(&s->qdiscs.list[i], &limited, o, array);
		limited_free(&limited);
	}
}

static void add_json(const struct qdisc *q, const struct limited *limited,
		     const struct options *o, json_t *array)
{
	json_array_append_new(array, qdisc_json(q, limited, o->counters));
}

static void print_text(const struct qdisc *q, const struct limited *limited,
		       const struct options *o, json_t *array)
{
	(void)array;
	print_qdisc(q, limited, o->counters);
}

/* A table for the ports, and one for each of the other kinds, with a blank line between. */
static void print_tables(struct shown *s, const struct options *o)
{
	bool some = s->ports.count;

	if (some)
		print_table(&s->ports);
	print_roots(&o->roots);
	if (o->counters)
		print_counters(&s->ports);
	for (const struct kind *k = kinds; k->name; k++) {
		if (!k->columns || !qdiscs_have(&s->qdiscs, k->name))
			continue;
		if (some)
			putchar('\n');
		print_kind(k, &s->qdiscs);
		some = true;
	}
	if (o->counters)
		each_qdisc(s, o, print_text, NULL);
	if (!some)
		fprintf(stderr, "sluice: no ports here: the first bfc, floodgate, flowsail or pfc qdisc of a device makes it one\n");
}

static void print_all(struct shown *s, const struct options *o)
{
	json_t *array;

	if (call.json) {
		array = json_array();
		for (size_t i = 0; i < s->ports.count; i++)
			json_array_append_new(array, port_json(&s->ports.list[i], o->counters));
		each_qdisc(s, o, add_json, array);
		print_json(array);
	} else if (o->dev) {
		for (size_t i = 0; i < s->ports.count; i++)
			print_details(&s->ports.list[i], o->counters);
		print_roots(&o->roots);
		each_qdisc(s, o, print_text, NULL);
	} else {
		print_tables(s, o);
	}
}

/* The family is needed only where there is nothing else to show. */
static void shown_get(struct shown *s, const char *dev)
{
	unsigned int ifindex = dev ? device_index(dev) : 0;
	bool others = false;
	struct nl nl;
	int err;

	memset(s, 0, sizeof(*s));
	nl_open(&s->nl, NETLINK_ROUTE);
	err = qdiscs_get(&s->nl, &s->qdiscs, ifindex);
	if (err)
		die(EXIT_TROUBLE, "qdiscs: %s", strerror(-err));
	for (size_t i = 0; i < s->qdiscs.count; i++)
		others |= is_shown(&s->qdiscs.list[i]);
	if (!others)
		nl_need_hopctl(&nl);
	else
		err = nl_open_hopctl(&nl);
	if (err == -ENOENT)
		goto close;
	if (err)
		die(EXIT_TROUBLE, "netlink family \"%s\": %s", HOP_GENL_NAME, strerror(-err));
	err = ports_get(&nl, &s->ports, ifindex);
	if (err == -ENODEV && dev && !others)
		die(EXIT_TROUBLE, "%s is no port: tc qdisc replace dev %s root bfc makes it one",
		    dev, dev);
	if (err && !(err == -ENODEV && others))
		die(EXIT_TROUBLE, "%s", nl.reason[0] ? nl.reason : strerror(-err));
close:
	nl_close(&nl);
}

int verb_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "statistics", 's', NULL, 0, "with counters", 0 },
		ROOTS_OPTION,
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[DEV]", .children = children,
		.doc = "What the ports of the namespace do and why, and its qdiscs of " KINDS_SHOWN "; "
		       "of one device, everything.",
	};
	struct options o = {};
	struct shown shown;

	verb_parse(&argp, argc, argv, &o);
	shown_get(&shown, o.dev);
	roots_add_ports(&o.roots, &shown.ports);
	print_all(&shown, &o);
	roots_free(&o.roots);
	ports_free(&shown.ports);
	qdiscs_free(&shown.qdiscs);
	nl_close(&shown.nl);
	return EXIT_OK;
}
