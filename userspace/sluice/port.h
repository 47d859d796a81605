/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port: the ports of a namespace as the family hopctl tells of them.
 */
#ifndef _SLUICE_PORT_H
#define _SLUICE_PORT_H

#include <linux/netlink.h>
#include <linux/types.h>

#include "../../kernel/uapi/hopctl.h"
#include "attr.h"
#include "nl.h"

/**
 * struct port - one message about a port
 * @msg: the attributes HOP_N_*, each pointing into @copy
 * @port: the nest HOP_A_*
 * @copy: of the message
 */
struct port {
	struct attr_value msg[HOP_N_MAX + 1];
	struct attr_value port[HOP_A_MAX + 1];
	struct nlmsghdr *copy;
};

/**
 * struct ports - all that a dump told
 * @list: ports, in the order of their ifindex
 * @count: how many
 */
struct ports {
	struct port *list;
	size_t count;
};

/* The family's tables, made from its specification. */
extern const struct attr *const port_table;	/* HOP_A_* */
extern const struct attr *const message_table;	/* HOP_N_* */
extern const struct attr_word *const state_words;

/**
 * port_decode - the attributes of a message of the family
 * @p: the port; holds pointers into @msg
 * @msg: the message
 */
void port_decode(struct port *p, const struct nlmsghdr *msg);

/**
 * ports_get - ask for ports
 * @nl: a socket of the family
 * @ports: what came
 * @ifindex: of one device, or 0 for all
 *
 * Return: 0 or -errno.
 */
int ports_get(struct nl *nl, struct ports *ports, unsigned int ifindex);
void ports_free(struct ports *ports);

const char *port_name(const struct port *p);
uint64_t port_number(const struct port *p, unsigned int attr);

/**
 * port_json - a port as an object
 * @p: the port
 * @counters: with what counts up
 *
 * What tc shows of a port has the same names and values in the object "port".
 *
 * Return: a new reference.
 */
json_t *port_json(const struct port *p, bool counters);

#endif
