// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the verbs of sluice-trace
 */
#include "trace.h"

const char *argp_program_version = "sluice-trace " SLUICE_VERSION;

static const struct verb verbs[] = {
	{ "make", verb_make, "OPTIONS", "a trace of flows" },
	{ "convert", verb_convert, "[--from F] [--to F] FILE ...",
	  "formats of simulators; several files into one" },
	{ "check", verb_check, "FILE ...", "is this a trace?" },
	{ "stat", verb_stat, "[--json] FILE", "flows, bytes, loads, sizes, incasts" },
	{ "laws", verb_laws, "[--json] [LAW ...]", "laws of sizes, their means and percentiles" },
	{}
};

const struct program program = {
	.name = "sluice-trace",
	.usage = "",
	.options = "",
	.verbs = verbs,
	.width = 30,
};
