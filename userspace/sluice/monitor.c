// SPDX-License-Identifier: GPL-2.0-only
/*
 * monitor.c - sluice monitor: events of ports, one line each, as they happen
 *
 * Ends by SIGINT or SIGTERM, or after --count events, with status 0. If events come faster than
 * they are printed, the kernel drops some and says so; so does the output.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "port.h"
#include "sluice.h"

#define MONITOR_BUFFER	(4 << 20)	/* bytes that may wait: some thousands of events */

struct options {
	const char *dev;
	unsigned long count;	/* 0: no end */
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;

	switch (key) {
	case 'c':
		o->count = strtoul(arg, &end, 10);
		if (*arg < '0' || *arg > '9' || *end || !o->count)
			argp_error(state, "--count takes a number from 1, not \"%s\"", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->dev)
			argp_error(state, "one device, not also \"%s\"", arg);
		o->dev = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* What an event is about, behind its words: figures that most events need. */
static const unsigned int told[] = {
	HOP_A_STATE, HOP_A_PEER_MAC, HOP_A_HRTT, HOP_A_PAUSED_QUEUES, HOP_A_PAUSING_QUEUES,
	HOP_A_STORM,
};

static void print_event(const struct port *p)
{
	uint64_t time = attr_number(&p->msg[HOP_N_TIME]);
	char *words = attr_text(attr_find(message_table, "events"), &p->msg[HOP_N_EVENTS]);
	char *text;

	printf("%" PRIu64 ".%09" PRIu64 " %s %s", time / 1000000000, time % 1000000000,
	       port_name(p), words);
	free(words);
	for (size_t i = 0; i < ARRAY_SIZE(told); i++)
		for (const struct attr *a = port_table; a->name; a++) {
			if (a->type != told[i] || !p->port[a->type].data)
				continue;
			text = attr_text(a, &p->port[a->type]);
			printf(" %s %s", a->name, text);
			free(text);
		}
	putchar('\n');
}

/* Return: 1 if it was one to print. */
static int event(const struct nlmsghdr *msg, const struct options *o)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(msg);
	struct port p;
	json_t *line;

	if (mnl_nlmsg_get_payload_len(msg) < GENL_HDRLEN || genl->cmd != HOP_CMD_PORT_EVENT)
		return 0;
	port_decode(&p, msg);
	if (o->dev && strcmp(o->dev, port_name(&p)))
		return 0;
	if (call.json) {
		line = port_json(&p, true);
		json_dumpf(line, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		putchar('\n');
		json_decref(line);
	} else {
		print_event(&p);
	}
	fflush(stdout);
	return 1;
}

static void lost(void)
{
	if (call.json)
		puts("{\"lost\":true}");
	else
		puts("events were lost: they came faster than they were printed");
	fflush(stdout);
}

static void watch(struct nl *nl, const struct options *o)
{
	static char buf[65536];
	const struct nlmsghdr *msg;
	unsigned long seen = 0;
	ssize_t got;
	int left;

	while (!stopped && (!o->count || seen < o->count)) {
		got = mnl_socket_recvfrom(nl->sock, buf, sizeof(buf));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == ENOBUFS) {
			lost();
			continue;
		}
		if (got < 0)
			die(EXIT_TROUBLE, "netlink: %s", strerror(errno));
		left = got;
		for (msg = (void *)buf; mnl_nlmsg_ok(msg, left) && (!o->count || seen < o->count);
		     msg = mnl_nlmsg_next(msg, &left))
			seen += msg->nlmsg_type == nl->family ? event(msg, o) : 0;
	}
}

int verb_monitor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "count", 'c', "N", 0, "end after N events", 0 },
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[DEV]", .children = children,
		.doc = "Events of ports of bfc, one line each with its time (CLOCK_MONOTONIC).",
	};
	const struct sigaction action = { .sa_handler = stop };
	int size = MONITOR_BUFFER;
	struct options o = {};
	struct nl nl;

	verb_parse(&argp, argc, argv, &o);
	nl_need_hopctl(&nl);
	if (!nl.group)
		die(EXIT_TROUBLE, "the module has no events: it is older than this program");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	setsockopt(mnl_socket_get_fd(nl.sock), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (mnl_socket_setsockopt(nl.sock, NETLINK_ADD_MEMBERSHIP, &nl.group, sizeof(nl.group)))
		die(EXIT_TROUBLE, "netlink group \"%s\": %s", HOP_GENL_GROUP, strerror(errno));
	watch(&nl, &o);
	nl_close(&nl);
	return EXIT_OK;
}
