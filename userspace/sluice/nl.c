// SPDX-License-Identifier: GPL-2.0-only
/*
 * nl.c - requests to the kernel
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <linux/netlink.h>

#include "../../kernel/uapi/hopctl.h"
#include "nl.h"
#include "sluice.h"

#define NL_ANSWER_MAX	65536
#define NL_DUMP_TRIES	16

void nl_open(struct nl *nl, int bus)
{
	int one = 1;

	memset(nl, 0, sizeof(*nl));
	nl->seq = time(NULL);
	nl->sock = mnl_socket_open2(bus, SOCK_CLOEXEC);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0)
		die(EXIT_TROUBLE, "no netlink socket: %s", strerror(errno));
	/* older kernels lack one of them and are understood without */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
}

void nl_close(struct nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	nl->sock = NULL;
}

void nl_values(struct attr_value *values, unsigned int max, const void *first, size_t len)
{
	const struct nlattr *attr = first;
	const char *end = (const char *)first + len;

	memset(values, 0, sizeof(*values) * (max + 1));
	while (mnl_attr_ok(attr, end - (const char *)attr)) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type <= max) {
			values[type].data = mnl_attr_get_payload(attr);
			values[type].len = mnl_attr_get_payload_len(attr);
		}
		if ((size_t)MNL_ALIGN(attr->nla_len) >= (size_t)(end - (const char *)attr))
			break;
		attr = mnl_attr_next(attr);
	}
}

void nl_nest(struct attr_value *values, unsigned int max, const struct attr_value *nest)
{
	static const char none[1];

	nl_values(values, max, nest->data ?: none, nest->data ? nest->len : 0);
}

const char *nl_string(const struct attr_value *v)
{
	return v->data && v->len && memchr(v->data, 0, v->len) ? v->data : NULL;
}

/* The kernel's own words follow its copy of the request: NETLINK_CAP_ACK leaves only its head. */
static void reason_take(struct nl *nl, const struct nlmsghdr *msg, size_t skip)
{
	struct attr_value tb[NLMSGERR_ATTR_MAX + 1];
	const char *text;

	if (!(msg->nlmsg_flags & NLM_F_ACK_TLVS) || mnl_nlmsg_get_payload_len(msg) < skip)
		return;
	nl_values(tb, NLMSGERR_ATTR_MAX, (const char *)mnl_nlmsg_get_payload(msg) + skip,
		  mnl_nlmsg_get_payload_len(msg) - skip);
	text = nl_string(&tb[NLMSGERR_ATTR_MSG]);
	if (text)
		snprintf(nl->reason, sizeof(nl->reason), "%s", text);
}

/* Return: 1 at the end, with *err set. */
static int answer_end(struct nl *nl, const struct nlmsghdr *msg, int *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(msg);
	size_t skip = sizeof(*e);

	if (msg->nlmsg_type == NLMSG_DONE) {
		*err = mnl_nlmsg_get_payload_len(msg) >= sizeof(int) ?
		       *(const int *)mnl_nlmsg_get_payload(msg) : 0;
		if (*err > 0)
			*err = 0;
		reason_take(nl, msg, sizeof(int));
		return 1;
	}
	if (msg->nlmsg_type != NLMSG_ERROR)
		return 0;
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*e)) {
		*err = -EBADMSG;
		return 1;
	}
	*err = e->error;
	if (!(msg->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - sizeof(e->msg);
	reason_take(nl, msg, skip);
	return 1;
}

/* All answers to request nl->seq. Return: 1 if a dump was interrupted. */
static int answers(struct nl *nl, nl_fn fn, void *ctx, int *err)
{
	static char buf[NL_ANSWER_MAX];
	const struct nlmsghdr *msg;
	int interrupted = 0;
	ssize_t got;
	int left;

	for (;;) {
		got = mnl_socket_recvfrom(nl->sock, buf, sizeof(buf));
		if (got < 0) {
			*err = -errno;
			return 0;
		}
		left = got;
		for (msg = (void *)buf; mnl_nlmsg_ok(msg, left); msg = mnl_nlmsg_next(msg, &left)) {
			if (msg->nlmsg_seq != nl->seq)
				continue;
			if (msg->nlmsg_flags & NLM_F_DUMP_INTR)
				interrupted = 1;
			if (answer_end(nl, msg, err))
				return interrupted;
			if (fn)
				fn(msg, ctx);
		}
	}
}

int nl_request(struct nl *nl, struct nlmsghdr *msg, nl_fn fn, void *ctx)
{
	int err = 0;

	msg->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	for (int tries = 0; tries < NL_DUMP_TRIES; tries++) {
		nl->reason[0] = '\0';
		msg->nlmsg_seq = ++nl->seq;
		if (mnl_socket_sendto(nl->sock, msg, msg->nlmsg_len) < 0)
			return -errno;
		if (!answers(nl, fn, ctx, &err))
			return err;
		if (fn)
			fn(NULL, ctx);
	}
	return -EINTR;
}

static int family_take(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[CTRL_ATTR_MAX + 1], group[CTRL_ATTR_MCAST_GRP_MAX + 1];
	struct nl *nl = ctx;
	const struct nlattr *attr;

	if (!msg)
		return MNL_CB_OK;
	nl_values(tb, CTRL_ATTR_MAX, mnl_nlmsg_get_payload_offset(msg, GENL_HDRLEN),
		  mnl_nlmsg_get_payload_len(msg) - GENL_HDRLEN);
	nl->family = attr_number(&tb[CTRL_ATTR_FAMILY_ID]);
	if (!tb[CTRL_ATTR_MCAST_GROUPS].data)
		return MNL_CB_OK;
	mnl_attr_for_each_payload(tb[CTRL_ATTR_MCAST_GROUPS].data, tb[CTRL_ATTR_MCAST_GROUPS].len) {
		const char *name;

		nl_values(group, CTRL_ATTR_MCAST_GRP_MAX, mnl_attr_get_payload(attr),
			  mnl_attr_get_payload_len(attr));
		name = nl_string(&group[CTRL_ATTR_MCAST_GRP_NAME]);
		if (name && !strcmp(name, HOP_GENL_GROUP))
			nl->group = attr_number(&group[CTRL_ATTR_MCAST_GRP_ID]);
	}
	return MNL_CB_OK;
}

int nl_open_hopctl(struct nl *nl)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg;
	int err;

	nl_open(nl, NETLINK_GENERIC);
	nl->family = GENL_ID_CTRL;
	msg = nl_hopctl(nl, buf, CTRL_CMD_GETFAMILY, 0);
	nl->family = 0;
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, HOP_GENL_NAME);
	err = nl_request(nl, msg, family_take, nl);
	return err ?: nl->family ? 0 : -ENOENT;
}

void nl_need_hopctl(struct nl *nl)
{
	int err = nl_open_hopctl(nl);

	if (err == -ENOENT)
		die(EXIT_TROUBLE, "the kernel has no netlink family \"%s\": modprobe sch_bfc; "
		    "the first bfc qdisc of a device then makes it a port", HOP_GENL_NAME);
	if (err)
		die(EXIT_TROUBLE, "netlink family \"%s\": %s", HOP_GENL_NAME, strerror(-err));
}

struct nlmsghdr *nl_hopctl(struct nl *nl, void *buf, uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	msg->nlmsg_type = nl->family;
	msg->nlmsg_flags = flags;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = HOP_GENL_VERSION;
	return msg;
}
