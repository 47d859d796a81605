/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nl: requests to the kernel, and its own words when it refuses.
 */
#ifndef _SLUICE_NL_H
#define _SLUICE_NL_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <stdbool.h>
#include <stdint.h>

#include "attr.h"

#define NL_MESSAGE_MAX	4096	/* of a request */
#define NL_REASON_MAX	256

/**
 * struct nl - a netlink socket
 * @sock: libmnl's
 * @seq: of the last request
 * @family: generic netlink: number of the family
 * @group: of its multicast group
 * @reason: what the kernel said with its last refusal, or ""
 */
struct nl {
	struct mnl_socket *sock;
	uint32_t seq;
	uint16_t family;
	uint32_t group;
	char reason[NL_REASON_MAX];
};

/* Takes a received message. Return: MNL_CB_OK, or MNL_CB_STOP. */
typedef int (*nl_fn)(const struct nlmsghdr *msg, void *ctx);

/**
 * nl_open - a socket of a protocol of netlink
 * @nl: the socket
 * @bus: NETLINK_ROUTE and the like
 *
 * The program ends if there is none.
 */
void nl_open(struct nl *nl, int bus);
void nl_close(struct nl *nl);

/**
 * nl_open_hopctl - a socket that knows the family hopctl
 * @nl: the socket
 *
 * Return: 0, or -errno: -ENOENT if the module is not there.
 */
int nl_open_hopctl(struct nl *nl);

/* The same for verbs that cannot do without: the program ends and says what is missing. */
void nl_need_hopctl(struct nl *nl);

/**
 * nl_request - a request and all of its answers
 * @nl: the socket
 * @msg: the request; its flags and sequence number are completed
 * @fn: for each answer, or NULL
 * @ctx: for @fn
 *
 * A dump that was interrupted by a change is asked for again: @fn has to bear to see a part of it
 * twice, so it is told by a NULL message to forget all.
 *
 * Return: 0 or -errno; nl->reason has the kernel's own words.
 */
int nl_request(struct nl *nl, struct nlmsghdr *msg, nl_fn fn, void *ctx);

/* Head of a request of the family, in @buf of NL_MESSAGE_MAX bytes. */
struct nlmsghdr *nl_hopctl(struct nl *nl, void *buf, uint8_t cmd, uint16_t flags);

/**
 * nl_values - the attributes of a message or a nest, by number
 * @values: MAX + 1 of them, set to nothing first
 * @max: greatest number
 * @first: first byte of the attributes
 * @len: bytes of them
 *
 * What does not fit into @len ends the list; what has a greater number is passed over.
 */
void nl_values(struct attr_value *values, unsigned int max, const void *first, size_t len);

/* The same for an attribute of the kind nest; nothing if it is not there. */
void nl_nest(struct attr_value *values, unsigned int max, const struct attr_value *nest);

/* A string out of an attribute, or NULL if it does not end within it. */
const char *nl_string(const struct attr_value *v);

#endif
