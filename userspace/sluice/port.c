// SPDX-License-Identifier: GPL-2.0-only
/*
 * port.c - the ports of a namespace
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attributes.h"
#include "port.h"
#include "sluice.h"

const struct attr *const port_table = port_attrs;
const struct attr *const message_table = hopctl_attrs;
const struct attr_word *const state_words = hop_state_words;

void port_decode(struct port *p, const struct nlmsghdr *msg)
{
	size_t len = mnl_nlmsg_get_payload_len(msg);

	nl_values(p->msg, HOP_N_MAX, mnl_nlmsg_get_payload_offset(msg, GENL_HDRLEN),
		  len > GENL_HDRLEN ? len - GENL_HDRLEN : 0);
	nl_nest(p->port, HOP_A_MAX, &p->msg[HOP_N_PORT]);
}

static int ports_take(const struct nlmsghdr *msg, void *ctx)
{
	struct ports *ports = ctx;
	struct port *p;

	if (!msg) {
		ports_free(ports);
		return MNL_CB_OK;
	}
	ports->list = reallocarray(ports->list, ports->count + 1, sizeof(*ports->list));
	if (!ports->list)
		die(EXIT_TROUBLE, "no memory");
	p = &ports->list[ports->count++];
	p->copy = malloc(msg->nlmsg_len);
	if (!p->copy)
		die(EXIT_TROUBLE, "no memory");
	memcpy(p->copy, msg, msg->nlmsg_len);
	port_decode(p, p->copy);
	return MNL_CB_OK;
}

static int by_ifindex(const void *a, const void *b)
{
	uint64_t x = attr_number(&((const struct port *)a)->msg[HOP_N_IFINDEX]);
	uint64_t y = attr_number(&((const struct port *)b)->msg[HOP_N_IFINDEX]);

	return (x > y) - (x < y);
}

int ports_get(struct nl *nl, struct ports *ports, unsigned int ifindex)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg;
	int err;

	memset(ports, 0, sizeof(*ports));
	msg = nl_hopctl(nl, buf, HOP_CMD_PORT_GET, ifindex ? 0 : NLM_F_DUMP);
	if (ifindex)
		mnl_attr_put_u32(msg, HOP_N_IFINDEX, ifindex);
	err = nl_request(nl, msg, ports_take, ports);
	if (!err && ports->count)
		qsort(ports->list, ports->count, sizeof(*ports->list), by_ifindex);
	return err;
}

void ports_free(struct ports *ports)
{
	for (size_t i = 0; i < ports->count; i++)
		free(ports->list[i].copy);
	free(ports->list);
	memset(ports, 0, sizeof(*ports));
}

const char *port_name(const struct port *p)
{
	return nl_string(&p->msg[HOP_N_IFNAME]) ?: "?";
}

uint64_t port_number(const struct port *p, unsigned int attr)
{
	return attr_number(&p->port[attr]);
}

json_t *port_json(const struct port *p, bool counters)
{
	json_t *root = json_object(), *nest = json_object();
	const struct attr *a;

	json_object_set_new(root, "dev", json_string(port_name(p)));
	for (a = hopctl_attrs; a->name; a++)
		if (p->msg[a->type].data && a->kind != ATTR_NEST && a->type != HOP_N_IFNAME)
			json_object_set_new(root, a->name, attr_json(a, &p->msg[a->type]));
	for (a = port_attrs; a->name; a++)
		if (p->port[a->type].data && (counters || !attr_is_counter(a)))
			json_object_set_new(nest, a->name, attr_json(a, &p->port[a->type]));
	json_object_set_new(root, "port", nest);
	return root;
}
