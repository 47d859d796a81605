/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ns3: flow files of public simulators that are built on ns-3.
 */
#ifndef _TRACE_NS3_H
#define _TRACE_NS3_H

#include "trace_file.h"

/**
 * struct ns3 - what such a file has that a trace has not
 * @group: priority group of class 0; class c has group (@group + c) mod 8
 * @port: destination port that is written; those that are read are not kept
 */
struct ns3 {
	unsigned int group;
	unsigned int port;
};

/**
 * struct format - a format of flow files
 * @name: its word on the command line
 * @what: where it comes from
 * @read: flows from a file, not sorted; returns 0, or -1 with @error set
 * @write: flows to a file, or NULL; returns 0, or -1 with errno set
 */
struct format {
	const char *name;
	const char *what;
	int (*read)(const struct ns3 *ns3, struct trace *t, FILE *f, const char *name, char *error);
	int (*write)(const struct ns3 *ns3, const struct trace *t, FILE *f);
};

/* All of them, the project's own first; a NULL name ends the table. */
extern const struct format formats[];

/* The format of this name, or NULL. */
const struct format *format_find(const char *name);

#endif
