/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sluice: what its verbs share: how the program was called, and how it ends.
 *
 * main.c has the list of verbs and calls their files, which call call.c.
 */
#ifndef _SLUICE_H
#define _SLUICE_H

#include <jansson.h>
#include <stdbool.h>

#include "../common/verbs.h"

/**
 * struct call - how the program was called
 * @netns: network namespace to enter, or NULL
 * @json: print JSON
 */
struct call {
	const char *netns;
	bool json;
};

/* The verbs: each parses its own words, argv[0] is its name. Return: exit status. */
int verb_show(int argc, char **argv);
int verb_monitor(int argc, char **argv);
int verb_set(int argc, char **argv);
int verb_graph(int argc, char **argv);
int verb_pair(int argc, char **argv);
int verb_doctor(int argc, char **argv);

/* call.c */
extern struct call call;

/* Options that stand before or behind the verb; a child of each verb's parser. */
extern const struct argp common_argp;

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
