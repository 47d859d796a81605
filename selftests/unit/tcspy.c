// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcspy - stands between tc, or sluice, and the kernel, to test a plugin inside stock tc
 *
 * Preloaded (LD_PRELOAD) into it it does two things, and so needs no privileges, no module and
 * no qdisc:
 *
 *  - A request that would make or change a qdisc is not sent. Its options are printed, one line
 *    for each: name, bytes, value, or name and braces round what is in it; and the program ends
 *    with status 0.
 *  - A request for a list of qdiscs or classes is answered with the messages in the file named
 *    by TCSPY_DUMP, as written by `tcmsg write`.
 *
 * All other traffic, such as looking up a device, passes.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "../net/tcmsg_names.h"

#define TCSPY_MAX 32768

static union {
	struct nlmsghdr	n;
	char		bytes[TCSPY_MAX];
} dump;

static size_t dump_length;	/* 0 unless an answer is waiting to be read */

static char kind[32];		/* TCA_ROCC_ of a request for rocc */

/* The name in a nest of the kind: those of other nests have the same numbers. */
static const char *attr_name(unsigned short attr, const char *nest)
{
	static const char * const others[] = { "STATS_", "CLASS_", "LIMITER_", "FROM_" };
	const size_t start = strlen(kind);

	for (size_t i = 0; i < TCMSG_NAMES; i++) {
		const char *name = tcmsg_names[i].name + start;
		bool other = false;

		if (tcmsg_names[i].attr != attr || strncmp(tcmsg_names[i].name, kind, start))
			continue;
		if (*nest && strncmp(name, nest, strlen(nest)))
			continue;
		for (size_t j = 0; !*nest && j < sizeof(others) / sizeof(others[0]); j++)
			other |= !strncmp(name, others[j], strlen(others[j]));
		if (!other)
			return tcmsg_names[i].name;
	}
	return "?";
}

static const struct nlattr *attr_next(const struct nlattr *a)
{
	return (const void *)((const char *)a + NLA_ALIGN(a->nla_len));
}

static void print_value(const struct nlattr *a, const char *nest)
{
	const unsigned char *data = (const unsigned char *)a + NLA_HDRLEN;
	size_t size = a->nla_len - NLA_HDRLEN;
	uint64_t v = 0;

	printf("%s %zu ", attr_name(a->nla_type & NLA_TYPE_MASK, nest), size);
	if (size <= sizeof(v)) {
		memcpy(&v, data, size);	/* little-endian, as all machines that the tests know */
		printf("%llu", (unsigned long long)v);
		return;
	}
	for (size_t i = 0; i < size; i++)
		printf("%s%u", i ? " " : "", data[i]);
}

/* An option that is a nest is one line, in braces. */
static void print_inner(const struct nlattr *nest)
{
	const char *end = (const char *)nest + nest->nla_len;
	const struct nlattr *a = (const void *)((const char *)nest + NLA_HDRLEN);
	const char *name = attr_name(nest->nla_type & NLA_TYPE_MASK, "");
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "%s_", name + strlen(kind));
	printf("%s {", name);
	for (; (const char *)a + NLA_HDRLEN <= end; a = attr_next(a)) {
		printf(" ");
		print_value(a, prefix);
	}
	printf(" }");
}

static void print_nest(const struct nlattr *nest)
{
	const char *end = (const char *)nest + nest->nla_len;
	const struct nlattr *a = (const void *)((const char *)nest + NLA_HDRLEN);

	printf("options%s\n", nest->nla_type & NLA_F_NESTED ? "" : " without NLA_F_NESTED");
	for (; (const char *)a + NLA_HDRLEN <= end; a = attr_next(a)) {
		if (a->nla_type & NLA_F_NESTED)
			print_inner(a);
		else
			print_value(a, "");
		printf("\n");
	}
}

static void kind_is(const char *name)
{
	snprintf(kind, sizeof(kind), "TCA_%s_", name);
	for (char *c = kind; *c; c++)
		*c = toupper((unsigned char)*c);
}

static void request_show(const struct nlmsghdr *n)
{
	const char *start = (const char *)n, *end = start + n->nlmsg_len;
	const struct nlattr *a = (const void *)(start + NLMSG_LENGTH(sizeof(struct tcmsg)));

	for (; (const char *)a + NLA_HDRLEN <= end; a = attr_next(a))
		if (a->nla_type == TCA_KIND)	/* comes first */
			kind_is((const char *)a + NLA_HDRLEN);
		else if ((a->nla_type & NLA_TYPE_MASK) == TCA_OPTIONS)
			print_nest(a);
	fflush(stdout);
	_exit(0);
}

/* The file's messages, as an answer to this request. */
static void request_answer(int fd, const struct nlmsghdr *request)
{
	struct sockaddr_nl self = {};
	socklen_t len = sizeof(self);
	struct nlmsghdr *n;
	size_t at = 0;
	FILE *f;

	f = fopen(getenv("TCSPY_DUMP"), "r");
	if (!f)
		_exit(99);
	dump_length = fread(dump.bytes, 1, sizeof(dump) - NLMSG_LENGTH(sizeof(int)), f);
	fclose(f);
	getsockname(fd, (void *)&self, &len);

	n = (void *)(dump.bytes + dump_length);
	memset(n, 0, NLMSG_LENGTH(sizeof(int)));
	n->nlmsg_len = NLMSG_LENGTH(sizeof(int));
	n->nlmsg_type = NLMSG_DONE;
	dump_length += n->nlmsg_len;
	for (; at < dump_length; at += NLMSG_ALIGN(n->nlmsg_len)) {
		n = (void *)(dump.bytes + at);
		n->nlmsg_flags = NLM_F_MULTI;
		n->nlmsg_seq = request->nlmsg_seq;
		n->nlmsg_pid = self.nl_pid;
	}
}

/* Return: true if the request is dealt with. */
static bool request_seen(int fd, const struct nlmsghdr *n, size_t len)
{
	if (len < sizeof(*n))
		return false;
	switch (n->nlmsg_type) {
	case RTM_NEWQDISC:
		request_show(n);
		return true;
	case RTM_GETQDISC:
	case RTM_GETTCLASS:
		if (!getenv("TCSPY_DUMP"))
			return false;
		request_answer(fd, n);
		return true;
	}
	return false;
}

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	static ssize_t (*next)(int fd, const struct msghdr *msg, int flags);
	const struct iovec *iov = msg->msg_iov;

	if (!next)
		next = (ssize_t (*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
	/* tc gives the header and the rest of some requests in two pieces; the first will do
	 * for those that are answered, and those that are shown come in one.
	 */
	if (msg->msg_iovlen && request_seen(fd, iov->iov_base, iov->iov_len))
		return iov->iov_len;
	return next(fd, msg, flags);
}

ssize_t send(int fd, const void *data, size_t len, int flags)
{
	static ssize_t (*next)(int fd, const void *data, size_t len, int flags);

	if (!next)
		next = (ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
	if (request_seen(fd, data, len))
		return len;
	return next(fd, data, len, flags);
}

ssize_t sendto(int fd, const void *data, size_t len, int flags, const struct sockaddr *to,
	       socklen_t to_len)
{
	static __typeof__(&sendto) next;

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "sendto");
	if (request_seen(fd, data, len))
		return len;
	return next(fd, data, len, flags, to, to_len);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	static ssize_t (*next)(int fd, struct msghdr *msg, int flags);
	size_t fits = dump_length;

	if (!next)
		next = (ssize_t (*)(int, struct msghdr *, int))dlsym(RTLD_NEXT, "recvmsg");
	if (!dump_length)
		return next(fd, msg, flags);
	if (msg->msg_name)
		memset(msg->msg_name, 0, msg->msg_namelen);
	msg->msg_flags = 0;
	if (!(flags & MSG_PEEK)) {
		if (msg->msg_iov->iov_len < fits)
			fits = msg->msg_iov->iov_len;
		memcpy(msg->msg_iov->iov_base, dump.bytes, fits);
		dump_length = 0;
	}
	return fits;
}
