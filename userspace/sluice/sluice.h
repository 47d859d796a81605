/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sluice: what its verbs share: how the program was called, and how it ends.
 */
#ifndef _SLUICE_H
#define _SLUICE_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

#ifndef SLUICE_VERSION
#define SLUICE_VERSION "0.1"
#endif

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum {
	EXIT_OK		= 0,
	EXIT_TROUBLE	= 1,	/* it could not be done */
	EXIT_USAGE	= 2,
	EXIT_FOUND	= 3,	/* doctor found something, graph has a cycle */
};

/**
 * struct call - how the program was called
 * @netns: network namespace to enter, or NULL
 * @json: print JSON
 */
struct call {
	const char *netns;
	bool json;
};

extern struct call call;

/* Options that stand before or behind the verb; a child of each verb's parser. */
extern const struct argp common_argp;

/* The verbs: each parses its own words, argv[0] is its name. Return: exit status. */
int verb_show(int argc, char **argv);
int verb_monitor(int argc, char **argv);
int verb_set(int argc, char **argv);
int verb_graph(int argc, char **argv);
int verb_pair(int argc, char **argv);
int verb_doctor(int argc, char **argv);

/**
 * verb_parse - the words of a verb
 * @argp: its parser, with &common_argp as a child
 * @argc: number of words
 * @argv: words
 * @input: for the parser
 *
 * Enters the namespace afterwards.
 */
void verb_parse(const struct argp *argp, int argc, char **argv, void *input);

/* Says what is wrong and ends the program. */
void __attribute__((noreturn, format(printf, 2, 3)))
die(int status, const char *fmt, ...);

/**
 * device_index - number of a device that has to be there
 * @name: its name
 *
 * Return: its ifindex; the program ends if there is no such device.
 */
unsigned int device_index(const char *name);

/* Prints a value to stdout and drops it. */
void print_json(json_t *root);

#endif
