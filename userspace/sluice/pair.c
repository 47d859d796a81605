// SPDX-License-Identifier: GPL-2.0-only
/*
 * pair.c - sluice pair: pairs of ports whose backpressure is elided (BFC, App. B)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "../../kernel/uapi/hopctl.h"
#include "pair.h"
#include "sluice.h"

#define PAIR_WORDS	3

struct options {
	const char *words[PAIR_WORDS];	/* add, del or list; ingress; egress */
	int count;
};

int pair_change(struct nl *nl, int cmd, unsigned int ingress, unsigned int egress)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg = nl_hopctl(nl, buf, cmd, 0);

	mnl_attr_put_u32(msg, HOP_N_INGRESS, ingress);
	mnl_attr_put_u32(msg, HOP_N_EGRESS, egress);
	return nl_request(nl, msg, NULL, NULL);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (o->count == PAIR_WORDS)
			argp_error(state, "\"%s\" is too much", arg);
		o->words[o->count++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "add, del or list?");
		return 0;
	case ARGP_KEY_SUCCESS:
		if (!strcmp(o->words[0], "list") && o->count > 1)
			argp_error(state, "list takes no devices");
		else if ((!strcmp(o->words[0], "add") || !strcmp(o->words[0], "del")) && o->count < 3)
			argp_error(state, "%s takes two devices: where packets come in, and where "
				   "they leave", o->words[0]);
		else if (strcmp(o->words[0], "add") && strcmp(o->words[0], "del") &&
			 strcmp(o->words[0], "list"))
			argp_error(state, "add, del or list, not \"%s\"", o->words[0]);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char *device_name(char *buf, unsigned int ifindex)
{
	return if_indextoname(ifindex, buf) ?: "?";
}

static int list_take(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[HOP_N_MAX + 1];
	json_t *array = ctx, *pair;
	char name[IF_NAMESIZE];

	if (!msg) {
		json_array_clear(array);
		return MNL_CB_OK;
	}
	nl_values(tb, HOP_N_MAX, mnl_nlmsg_get_payload_offset(msg, GENL_HDRLEN),
		  mnl_nlmsg_get_payload_len(msg) - GENL_HDRLEN);
	pair = json_object();
	json_object_set_new(pair, "ingress",
			    json_string(device_name(name, attr_number(&tb[HOP_N_INGRESS]))));
	json_object_set_new(pair, "egress",
			    json_string(device_name(name, attr_number(&tb[HOP_N_EGRESS]))));
	json_array_append_new(array, pair);
	return MNL_CB_OK;
}

static int list(struct nl *nl)
{
	json_t *array = json_array(), *pair;
	char buf[NL_MESSAGE_MAX];
	size_t i;
	int err;

	err = nl_request(nl, nl_hopctl(nl, buf, HOP_CMD_PAIR_GET, NLM_F_DUMP), list_take, array);
	if (err)
		die(EXIT_TROUBLE, "%s", nl->reason[0] ? nl->reason : strerror(-err));
	if (call.json) {
		print_json(array);
		return EXIT_OK;
	}
	json_array_foreach(array, i, pair)
		printf("%s %s\n", json_string_value(json_object_get(pair, "ingress")),
		       json_string_value(json_object_get(pair, "egress")));
	json_decref(array);
	return EXIT_OK;
}

static int change(struct nl *nl, const struct options *o)
{
	bool add = !strcmp(o->words[0], "add");
	int err;

	err = pair_change(nl, add ? HOP_CMD_PAIR_ADD : HOP_CMD_PAIR_DEL,
			  device_index(o->words[1]), device_index(o->words[2]));
	if (!err)
		return EXIT_OK;
	if (nl->reason[0])
		die(EXIT_TROUBLE, "%s %s: %s", o->words[1], o->words[2], nl->reason);
	if (err == -EEXIST)
		die(EXIT_TROUBLE, "%s %s: is elided already", o->words[1], o->words[2]);
	if (err == -ENOENT)
		die(EXIT_TROUBLE, "%s %s: is not elided", o->words[1], o->words[2]);
	die(EXIT_TROUBLE, "%s %s: %s", o->words[1], o->words[2], strerror(-err));
}

int verb_pair(int argc, char **argv)
{
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.parser = parse, .args_doc = "list\n{add|del} INGRESS EGRESS", .children = children,
		.doc = "Pairs of ports whose backpressure is elided: packets that come in by INGRESS "
		       "and leave by EGRESS pause nobody.",
	};
	struct options o = {};
	struct nl nl;
	int status;

	verb_parse(&argp, argc, argv, &o);
	nl_need_hopctl(&nl);
	status = strcmp(o.words[0], "list") ? change(&nl, &o) : list(&nl);
	nl_close(&nl);
	return status;
}
