// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the verbs of sluice
 */
#include "sluice.h"

const char *argp_program_version = "sluice " SLUICE_VERSION;

static const struct verb verbs[] = {
	{ "show", verb_show, "[-s] [DEV]", "ports: state, neighbour, pauses; fair rates" },
	{ "monitor", verb_monitor, "[--count N] [DEV]", "events of ports as they happen" },
	{ "set", verb_set, "DEV [KIND] OPTION VALUE ...", "options of a device's qdiscs" },
	{ "graph", verb_graph, "FILE [--apply --switch NAME]",
	  "can backpressure go in a circle, and what to do" },
	{ "pair", verb_pair, "list | {add|del} INGRESS EGRESS",
	  "pairs of ports whose backpressure is elided" },
	{ "doctor", verb_doctor, "[DEV]", "what keeps ports and rocc from working" },
	{}
};

const struct program program = {
	.name = "sluice",
	.usage = "[-j] [-n NETNS] ",
	.options = "  -j, --json         print JSON\n"
		   "  -n, --netns=NAME   in this network namespace\n",
	.common = &common_argp,
	.verbs = verbs,
	.width = 32,
};
