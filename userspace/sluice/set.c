// SPDX-License-Identifier: GPL-2.0-only
/*
 * set.c - sluice set: options of all qdiscs of one of our kinds on a device
 *
 * A device may have several: one below each transmit queue of mq, or one below a shaper. They are
 * found wherever they hang and changed as `tc qdisc change` does it. The qdiscs hold the options;
 * nothing is kept anywhere else. Words are read by the plugin of tc.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind_names.h"
#include "qdisc.h"
#include "sluice.h"

#define OPTIONS_MAX	16384	/* what plugins take for a message's length */

/**
 * struct options - the words
 * @dev: device
 * @kind: of its qdiscs, or NULL: all that it has are of one
 * @count: how many words there are behind that
 * @words: these: options and values
 */
struct options {
	const char *dev;
	const struct kind *kind;
	int count;
	char **words;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (!o->dev) {
			o->dev = arg;
			return 0;
		}
		if (!o->kind && (o->kind = kind_find(arg)))
			return 0;
		o->words = state->argv + state->next - 1;
		o->count = state->argc - state->next + 1;
		state->next = state->argc;
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

/* The words as an attribute; the plugin says what is wrong with them, and the program ends. */
static const struct rtattr *options_read(const struct options *o, const struct kind *kind)
{
	static union {
		struct nlmsghdr n;
		char space[OPTIONS_MAX];
	} msg;

	msg.n.nlmsg_len = NLMSG_LENGTH(0);
	if (kind->util->parse_qopt(kind->util, o->count, o->words, &msg.n, o->dev))
		exit(EXIT_USAGE);
	return NLMSG_DATA(&msg.n);
}

/* What the device's qdiscs are, if the words do not say it */
static const struct kind *kind_of(const struct options *o, const struct qdiscs *qdiscs)
{
	const struct kind *kind = NULL;

	for (size_t i = 0; i < qdiscs->count; i++) {
		const struct kind *k = kind_find(qdiscs->list[i].kind);

		if (k && kind && k != kind)
			die(EXIT_USAGE, "%s has qdiscs of %s and %s: say which, as in sluice set %s %s ...",
			    o->dev, kind->name, k->name, o->dev, kind->name);
		kind = k ?: kind;
	}
	if (!kind)
		die(EXIT_TROUBLE, "%s has no qdisc of " KINDS_OR ": "
		    "tc qdisc replace dev %s root bfc", o->dev, o->dev);
	return kind;
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
	const struct kind *kind = o->kind ?: kind_of(o, qdiscs);
	const struct rtattr *options = options_read(o, kind);
	size_t done = 0;
	int err;

	for (size_t i = 0; i < qdiscs->count; i++) {
		const struct qdisc *q = &qdiscs->list[i];

		if (strcmp(q->kind, kind->name))
			continue;
		if (!q->handle)
			die(EXIT_TROUBLE, "%s: the kernel changes no %s that net.core.default_qdisc has put "
			    "there: tc qdisc replace dev %s root %s", o->dev, kind->name, o->dev,
			    kind->name);
		err = qdisc_change(nl, q, options);
		if (err)
			refuse(nl, o, q, err, done);
		done++;
	}
	if (!done)
		die(EXIT_TROUBLE, "%s has no %s qdisc: tc qdisc replace dev %s root %s", o->dev,
		    kind->name, o->dev, kind->name);
	if (call.json)
		print_json(json_pack("{s:s, s:s, s:i}", "dev", o->dev, "kind", kind->name,
				     "changed", (int)done));
	return EXIT_OK;
}

int verb_set(int argc, char **argv)
{
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.parser = parse, .args_doc = "DEV [KIND] OPTION VALUE ...", .children = children,
		.doc = "Options of all qdiscs of " KINDS_OR " of a device, as in " KINDS_PAGES
		       ". KIND is needed where there are several; "
		       "`sluice set DEV help` lists the options.",
	};
	struct options o = {};
	struct qdiscs qdiscs;
	struct nl nl;
	int status, err;

	verb_parse(&argp, argc, argv, &o);
	if (o.kind)
		options_read(&o, o.kind);	/* wrong words are wrong whatever the device has */
	nl_open(&nl, NETLINK_ROUTE);
	err = qdiscs_get(&nl, &qdiscs, device_index(o.dev));
	if (err)
		die(EXIT_TROUBLE, "qdiscs of %s: %s", o.dev, strerror(-err));
	status = set_all(&nl, &o, &qdiscs);
	qdiscs_free(&qdiscs);
	nl_close(&nl);
	return status;
}
