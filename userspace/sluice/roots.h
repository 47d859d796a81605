/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * roots: which port a root is, and whether ports hold each other in a circle.
 *
 * A port is told as a root by its id, which says nothing of its name and may be another port's,
 * too. What ids there are is known of this box and of those whose `sluice -j show` is at hand.
 */
#ifndef _SLUICE_ROOTS_H
#define _SLUICE_ROOTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port.h"

/**
 * struct root_hold - why a sub-queue is held
 * @queue: the sub-queue
 * @root: id of the port where the congestion began
 * @hops: how far that is
 * @more: there are others
 * @quiet: the sub-queue has sent nothing for a lease
 */
struct root_hold {
	unsigned int queue;
	unsigned int root;
	unsigned int hops;
	bool more;
	bool quiet;
};

/**
 * struct root_port - a port that tells its id
 * @name: DEV if it is here, else BOX:DEV
 * @here: it is of this box
 * @id: what it is called as a root
 * @holds: its sub-queues that are held
 * @n_holds: how many
 */
struct root_port {
	char *name;
	bool here;
	unsigned int id;
	struct root_hold *holds;
	size_t n_holds;
};

/**
 * struct roots - all ports that are known
 * @ports: those of this box first
 * @count: how many
 */
struct roots {
	struct root_port *ports;
	size_t count;
};

/* --with: ARG is FILE, of the box that it is named after without .json, or BOX=FILE. */
#define ROOTS_WITH	0x100
#define ROOTS_OPTION	{ "with", ROOTS_WITH, "[BOX=]FILE", 0, \
			  "what `sluice -j show` says on another box, to name its ports", 0 }

/* What this box's ports say, before what is there. */
void roots_add_ports(struct roots *r, const struct ports *ports);

/**
 * roots_add_json - what a box's ports say
 * @r: all ports
 * @box: its name, NULL: it is this one
 * @array: of `sluice -j show`
 *
 * Return: false if it is something else.
 */
bool roots_add_json(struct roots *r, const char *box, const json_t *array);

/* Of a file, as of --with. The program ends if it cannot be read. */
void roots_add_file(struct roots *r, const char *arg);
void roots_free(struct roots *r);

/* How many ports have an id */
size_t roots_known(const struct roots *r, unsigned int id);

/* The one that has it, NULL if none has, or several have */
const struct root_port *roots_find(const struct roots *r, unsigned int id);

/* What is said of a root: its name, or its id and why it has none; to be freed. */
char *roots_name(const struct roots *r, unsigned int id);

/**
 * roots_text - what is said of holds of one root: "by tor3:eth7, 3 hops away, and others: 5,7"
 * @r: all ports
 * @port: the port that is held
 * @hold: one of its holds; those with the same root, hops and @more go with it
 *
 * Return: a text to free; NULL if an earlier one of the port's holds has said it.
 */
char *roots_text(const struct roots *r, const struct root_port *port,
		 const struct root_hold *hold);

/**
 * roots_circle - ports that hold each other in a circle
 * @r: all ports
 * @port: one of them
 *
 * Follows those roots only of whose sub-queues none has sent anything for a lease, and that name
 * one port.
 *
 * Return: the names in order, from @port to @port; to be freed. NULL if there is none, or an
 * earlier one of @r is in it.
 */
char *roots_circle(const struct roots *r, const struct root_port *port);

#endif
