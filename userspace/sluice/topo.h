/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * topo: a fabric as a text file: boxes, links, and what is known of its routes.
 *
 *	switch NAME
 *	host NAME
 *	link A.PORT B.PORT [rate RATE] [delay TIME]
 *	defaults [rate RATE] [delay TIME]	of the links below it
 *	tier NAME N		layer of a switch; hosts are 0
 *	path A B C ...		packets go this way, by any of parallel links
 *	shortest		and all shortest ways from host to host, too
 *	elide NAME.IN NAME.OUT	this pair is elided already
 *
 * Rates and delays mean nothing here; the lab builds fabrics of the same file by them.
 * `#` starts a comment. Without a line `path` all shortest ways from host to host are taken.
 */
#ifndef _SLUICE_TOPO_H
#define _SLUICE_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TOPO_NAME_MAX	64
#define TOPO_ERROR_MAX	256
#define TOPO_TIER_NONE	(-1)

/**
 * struct topo_node - a box
 * @name: its name
 * @is_switch: a switch, not a host
 * @tier: its layer, or TOPO_TIER_NONE
 * @ports: numbers of its ports
 * @n_ports: how many
 */
struct topo_node {
	char name[TOPO_NAME_MAX];
	bool is_switch;
	int tier;
	int *ports;
	int n_ports;
};

/**
 * struct topo_port - an end of a link
 * @name: its name, which is the device's
 * @node: number of its box
 * @peer: number of the port at the link's other end
 */
struct topo_port {
	char name[TOPO_NAME_MAX];
	int node;
	int peer;
};

/* Packets come in to a switch by one port and leave by another. */
struct topo_pair {
	int in;
	int out;
};

/**
 * struct topo - a fabric
 * @nodes: boxes, in the order of the file
 * @ports: ports, two for each link
 * @routes: pairs that lines `path` have named
 * @elided: pairs that lines `elide` have named
 * @shortest: shortest ways occur
 */
struct topo {
	struct topo_node *nodes;
	int n_nodes;
	struct topo_port *ports;
	int n_ports;
	struct topo_pair *routes;
	int n_routes;
	struct topo_pair *elided;
	int n_elided;
	bool shortest;
};

/**
 * topo_read - a fabric from a file
 * @t: the fabric; to be freed, also after an error
 * @f: the file
 * @error: TOPO_ERROR_MAX bytes for what is wrong, without the file's name: "LINE: REASON"
 *
 * Return: 0 or -1.
 */
int topo_read(struct topo *t, FILE *f, char *error);
void topo_free(struct topo *t);

/* Number of a box or port by its name, or -1. */
int topo_node_find(const struct topo *t, const char *name);

#endif
