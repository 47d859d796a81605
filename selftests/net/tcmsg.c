// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcmsg - a traffic control message, attribute by attribute
 *
 * tc sends only what its plugins let through, and shows only what a kernel answers. Tests of the
 * kernel's own checks, and of the plugin's printing, need messages that tc would never make:
 *
 *	tcmsg [-n NETNS] send OPERATION DEV [TOKEN] ...	 to the kernel; prints its answer
 *	tcmsg write OPERATION DEV [TOKEN] ...		 to standard output
 *
 * OPERATION is add, change, replace or del for the root qdisc (handle 1:), or class for a class
 * (1:1), graft for a qdisc of parent 1:1, or ingress for one in ingress's place. A token is
 * NAME{ to open a nest, } to close it, or NAME=TYPE:VALUE with TYPE u8, u16, u32, u64, s32, str
 * or hex. NAME is an attribute's name as in the headers, or a number; a number may carry the flag
 * NLA_F_NESTED, a name{ always does if written NAME+{.
 *
 * Exit status of send: 0 taken, 1 refused: prints "ERRNO-NAME: extack's message [ATTRIBUTE]"
 * where ATTRIBUTE is that which extack points at; 2 used wrongly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "tcmsg_names.h"

#define TCMSG_MAX	8192
#define TCMSG_DEPTH	8

static union {
	struct nlmsghdr	n;
	char		bytes[TCMSG_MAX];
} message;

static struct {
	unsigned int	offset;		/* where the attribute starts in the message */
	const char	*token;		/* how the caller wrote it */
} attrs[TCMSG_MAX / NLA_HDRLEN];

static unsigned int attr_count;

static unsigned short attr_number(const char *name, size_t len)
{
	char word[64];
	char *end;
	long n;

	snprintf(word, sizeof(word), "%.*s", (int)len, name);
	for (size_t i = 0; i < TCMSG_NAMES; i++)
		if (!strcmp(word, tcmsg_names[i].name))
			return tcmsg_names[i].attr;
	n = strtol(word, &end, 0);
	if (end == word || *end || n < 0 || n > UINT16_MAX)
		errx(2, "no attribute is called \"%s\"", word);
	return n;
}

static struct nlattr *attr_put(const char *token, unsigned short type, const void *data,
			       size_t len)
{
	struct nlattr *a = (void *)message.bytes + NLMSG_ALIGN(message.n.nlmsg_len);

	if (message.n.nlmsg_len + NLA_HDRLEN + len + 8 > TCMSG_MAX)
		errx(2, "the message is too long");
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memcpy((char *)a + NLA_HDRLEN, data, len);
	attrs[attr_count].offset = (char *)a - message.bytes;
	attrs[attr_count++].token = token;
	message.n.nlmsg_len = NLMSG_ALIGN(message.n.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static size_t hex_bytes(const char *hex, unsigned char *out, size_t max)
{
	size_t n = 0;

	for (; hex[0] && hex[1] && n < max; hex += 2)
		if (sscanf(hex, "%2hhx", &out[n++]) != 1)
			errx(2, "not hexadecimal: %s", hex);
	return n;
}

static void attr_value(const char *token, unsigned short type, const char *value)
{
	const char *text = strchr(value, ':');
	unsigned char bytes[256];
	uint64_t v;

	if (!text)
		errx(2, "no type in \"%s\"", token);
	text++;
	v = strtoull(text, NULL, 0);
	if (!strncmp(value, "u8:", 3))
		attr_put(token, type, &(uint8_t) { v }, 1);
	else if (!strncmp(value, "u16:", 4))
		attr_put(token, type, &(uint16_t) { v }, 2);
	else if (!strncmp(value, "u32:", 4) || !strncmp(value, "s32:", 4))
		attr_put(token, type, &(uint32_t) { v }, 4);
	else if (!strncmp(value, "u64:", 4))
		attr_put(token, type, &v, 8);
	else if (!strncmp(value, "str:", 4))
		attr_put(token, type, text, strlen(text) + 1);
	else if (!strncmp(value, "hex:", 4))
		attr_put(token, type, bytes, hex_bytes(text, bytes, sizeof(bytes)));
	else
		errx(2, "unknown type in \"%s\"", token);
}

static void tokens(int argc, char **argv)
{
	struct nlattr *nests[TCMSG_DEPTH];
	int depth = 0;

	for (; argc > 0; argc--, argv++) {
		size_t len = strcspn(*argv, "+={");
		unsigned short type;

		if (!strcmp(*argv, "}")) {
			if (!depth--)
				errx(2, "} without {");
			nests[depth]->nla_len = message.bytes + message.n.nlmsg_len -
						(char *)nests[depth];
			continue;
		}
		type = attr_number(*argv, len);
		if ((*argv)[len] == '+') {
			type |= NLA_F_NESTED;
			len++;
		}
		if ((*argv)[len] == '{' && depth < TCMSG_DEPTH)
			nests[depth++] = attr_put(*argv, type, NULL, 0);
		else if ((*argv)[len] == '=')
			attr_value(*argv, type, *argv + len + 1);
		else
			errx(2, "not a token: %s", *argv);
	}
	if (depth)
		errx(2, "{ without }");
}

static void header(const char *operation, const char *dev)
{
	static const struct {
		const char	*name;
		unsigned short	type, flags;
		unsigned int	handle, parent;
	} operations[] = {
		{ "add", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0x10000, TC_H_ROOT },
		{ "change", RTM_NEWQDISC, 0, 0x10000, TC_H_ROOT },
		{ "replace", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0x10000, TC_H_ROOT },
		{ "del", RTM_DELQDISC, 0, 0x10000, TC_H_ROOT },
		{ "graft", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0, 0x10001 },
		{ "ingress", RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0xffff0000, TC_H_INGRESS },
		{ "class", RTM_NEWTCLASS, NLM_F_CREATE, 0x10001, 0x10000 },
	};
	struct tcmsg *t = NLMSG_DATA(&message.n);

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(operation, operations[i].name))
			continue;
		message.n.nlmsg_len = NLMSG_LENGTH(sizeof(*t));
		message.n.nlmsg_type = operations[i].type;
		message.n.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | operations[i].flags;
		t->tcm_family = AF_UNSPEC;
		t->tcm_handle = operations[i].handle;
		t->tcm_parent = operations[i].parent;
		t->tcm_ifindex = if_nametoindex(dev);
		if (!t->tcm_ifindex)
			err(2, "%s", dev);
		return;
	}
	errx(2, "no such operation: %s", operation);
}

static const char *attr_token(unsigned int offset)
{
	for (unsigned int i = 0; i < attr_count; i++)
		if (attrs[i].offset == offset)
			return attrs[i].token;
	return "?";
}

/* The acknowledgement: its error, and what extack adds to it. */
static int answer(const struct nlmsghdr *n)
{
	const struct nlmsgerr *e = NLMSG_DATA(n);
	int len = n->nlmsg_len - NLMSG_LENGTH(sizeof(*e));
	const struct nlattr *a = (const void *)(e + 1);
	const char *said = "", *token = NULL;

	if (!e->error)
		return 0;
	if (!(n->nlmsg_flags & NLM_F_CAPPED)) {	/* our message follows, whole */
		len -= e->msg.nlmsg_len - sizeof(e->msg);
		a = (const void *)a + e->msg.nlmsg_len - sizeof(e->msg);
	}
	while (n->nlmsg_flags & NLM_F_ACK_TLVS && len >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN) {
		const void *data = (const char *)a + NLA_HDRLEN;

		if ((a->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			said = data;
		else if ((a->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_OFFS)
			token = attr_token(*(const uint32_t *)data);
		len -= NLA_ALIGN(a->nla_len);
		a = (const void *)a + NLA_ALIGN(a->nla_len);
	}
	printf("%s: %s [%.*s]\n", strerrorname_np(-e->error), said,
	       token ? (int)strcspn(token, "+={") : 0, token ? token : "");
	return 1;
}

static int send_message(void)
{
	static char reply[TCMSG_MAX * 2];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int one = 1;
	ssize_t got;

	if (fd < 0)
		err(2, "netlink socket");
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	if (send(fd, &message, message.n.nlmsg_len, 0) < 0)
		err(2, "send");
	got = recv(fd, reply, sizeof(reply), 0);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)))
		err(2, "recv");
	if (((struct nlmsghdr *)reply)->nlmsg_type != NLMSG_ERROR)
		errx(2, "no acknowledgement");
	return answer((struct nlmsghdr *)reply);
}

/* As ip netns exec, without its cost: a test sends hundreds. */
static void enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "network namespace %s", name);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-n")) {
		enter(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc < 4)
		errx(2, "usage: tcmsg [-n NETNS] send|write OPERATION DEV [TOKEN] ...");
	header(argv[2], argv[3]);
	tokens(argc - 4, argv + 4);
	if (!strcmp(argv[1], "send"))
		return send_message();
	return write(STDOUT_FILENO, &message, message.n.nlmsg_len) == (ssize_t)message.n.nlmsg_len ?
	       0 : 2;
}
