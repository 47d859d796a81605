// SPDX-License-Identifier: GPL-2.0-only
/*
 * show.c - sluice show: what the ports of the namespace do and why
 *
 * All ports: a table, one line each. One port: everything that it says, and what its state means.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port.h"
#include "sluice.h"

struct options {
	const char *dev;
	bool counters;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 's':
		o->counters = true;
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

static void print_table(const struct ports *ports)
{
	char *cells[ports->count + 1][ARRAY_SIZE(columns)];
	int width[ARRAY_SIZE(columns)] = {};

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		cells[0][c] = strdup(columns[c].title);
		for (size_t i = 0; i <= ports->count; i++) {
			if (i)
				cells[i][c] = cell(&ports->list[i - 1], &columns[c]);
			if (!cells[i][c])
				die(EXIT_TROUBLE, "no memory");
			if ((int)strlen(cells[i][c]) > width[c])
				width[c] = strlen(cells[i][c]);
		}
	}
	for (size_t i = 0; i <= ports->count; i++)
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
			bool last = c == ARRAY_SIZE(columns) - 1;

			printf("%-*s%s", last ? 0 : width[c], cells[i][c], last ? "\n" : "  ");
			free(cells[i][c]);
		}
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

static void print_ports(const struct ports *ports, const struct options *o)
{
	json_t *array;

	if (call.json) {
		array = json_array();
		for (size_t i = 0; i < ports->count; i++)
			json_array_append_new(array, port_json(&ports->list[i], o->counters));
		print_json(array);
	} else if (o->dev) {
		for (size_t i = 0; i < ports->count; i++)
			print_details(&ports->list[i], o->counters);
	} else if (!ports->count) {
		fprintf(stderr, "sluice: no ports here: the first bfc qdisc of a device makes it one\n");
	} else {
		print_table(ports);
		if (o->counters)
			print_counters(ports);
	}
}

int verb_show(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "statistics", 's', NULL, 0, "with counters", 0 },
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[DEV]", .children = children,
		.doc = "What the ports of the namespace do and why; of one, everything.",
	};
	struct options o = {};
	unsigned int ifindex;
	struct ports ports;
	struct nl nl;
	int err;

	verb_parse(&argp, argc, argv, &o);
	ifindex = o.dev ? device_index(o.dev) : 0;
	nl_need_hopctl(&nl);
	err = ports_get(&nl, &ports, ifindex);
	if (err == -ENODEV && o.dev)
		die(EXIT_TROUBLE, "%s is no port: tc qdisc replace dev %s root bfc makes it one",
		    o.dev, o.dev);
	if (err)
		die(EXIT_TROUBLE, "%s", nl.reason[0] ? nl.reason : strerror(-err));
	print_ports(&ports, &o);
	ports_free(&ports);
	nl_close(&nl);
	return EXIT_OK;
}
