// SPDX-License-Identifier: GPL-2.0-only
/*
 * set.c - sluice set: options of all bfc qdiscs of a device
 *
 * A device may have several: one below each transmit queue of mq, or one below a shaper. They are
 * found wherever they hang and changed as `tc qdisc change` does it. The qdiscs hold the options;
 * nothing is kept anywhere else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "qdisc.h"
#include "sluice.h"

#define SETTINGS_MAX	48

struct options {
	const char *dev;
	struct setting settings[SETTINGS_MAX];
	size_t count;
};

static void add_setting(struct options *o, struct argp_state *state)
{
	struct setting *s = &o->settings[o->count];
	char error[OPTION_ERROR_MAX];
	int used;

	if (o->count == SETTINGS_MAX)
		argp_error(state, "too many options");
	used = option_parse(s, state->argc - state->next + 1, state->argv + state->next - 1, error);
	if (used < 0)
		argp_error(state, "%s", error);
	for (size_t i = 0; i < o->count; i++)
		if (o->settings[i].option == s->option)
			argp_error(state, "\"%s\" is given twice", s->option->name);
	o->count++;
	state->next += used - 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->dev)
			add_setting(o, state);
		else
			o->dev = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->dev)
			argp_error(state, "a device, then options");
		if (!o->count)
			argp_error(state, "options for %s", o->dev);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void refuse(const struct nl *nl, const struct options *o, const struct qdisc *q, int err,
		   size_t done)
{
	die(EXIT_TROUBLE, "%s %x: %s%s", o->dev, q->handle >> 16,
	    nl->reason[0] ? nl->reason :
	    err == -EPERM ? "needs CAP_NET_ADMIN" : strerror(-err),
	    done ? " (qdiscs before it are changed)" : "");
}

static int set_all(struct nl *nl, const struct options *o, const struct qdiscs *qdiscs)
{
	size_t done = 0;
	int err;

	for (size_t i = 0; i < qdiscs->count; i++) {
		const struct qdisc *q = &qdiscs->list[i];

		if (!q->bfc)
			continue;
		err = qdisc_change(nl, q, o->settings, o->count);
		if (err)
			refuse(nl, o, q, err, done);
		done++;
	}
	if (!done)
		die(EXIT_TROUBLE, "%s has no bfc qdisc: tc qdisc replace dev %s root bfc", o->dev,
		    o->dev);
	if (call.json)
		print_json(json_pack("{s:s, s:i}", "dev", o->dev, "changed", (int)done));
	return EXIT_OK;
}

int verb_set(int argc, char **argv)
{
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.parser = parse, .args_doc = "DEV OPTION VALUE ...", .children = children,
		.doc = "Options of all bfc qdiscs of a device, as in tc-bfc(8).",
	};
	struct options o = {};
	struct qdiscs qdiscs;
	struct nl nl;
	int status, err;

	verb_parse(&argp, argc, argv, &o);
	nl_open(&nl, NETLINK_ROUTE);
	err = qdiscs_get(&nl, &qdiscs, device_index(o.dev));
	if (err)
		die(EXIT_TROUBLE, "qdiscs of %s: %s", o.dev, strerror(-err));
	status = set_all(&nl, &o, &qdiscs);
	qdiscs_free(&qdiscs);
	nl_close(&nl);
	return status;
}
