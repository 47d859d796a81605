// SPDX-License-Identifier: GPL-2.0-only
/*
 * failnth - an operation, again and again, each time with another allocation that fails
 *
 *	failnth [-n NETNS] [-k KIND] OPERATION DEV [OTHER]
 *
 * OPERATION is one of the table below; DEV has what it needs (fail_nth.sh). KIND is bfc, floodgate,
 * flowsail, pfc, rocc or rocc-host, which is rocc of that role. Before the n-th try n is written to
 * /proc/thread-self/fail-nth, so that the n-th allocation of the kernel on behalf of this task
 * fails. A try may be refused, with ENOMEM or ENOBUFS, and then nothing has changed;
 * or it may be taken all the same, and then it is undone. The first try that meets no failure is
 * the last. Prints what became of them.
 *
 * Exit status: 0, 1 if a try went wrong otherwise, 2 used wrongly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "../../kernel/uapi/bfc.h"
#include "../../kernel/uapi/floodgate.h"
#include "../../kernel/uapi/flowsail.h"
#include "../../kernel/uapi/pfc.h"
#include "../../kernel/uapi/rocc.h"
#include "../../kernel/uapi/wire.h"

#define TRIES_MAX	1000
#define REPLY_MAX	32768
#define LINGER_US	1500000	/* then a port without a qdisc is gone, and the next is a new one */

union message {
	struct nlmsghdr	n;
	char		bytes[1024];
};

static const char *dev, *other;
static int netlink, knob;

/* ---- messages ---- */

static struct nlattr *put(union message *m, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (void *)(m->bytes + NLMSG_ALIGN(m->n.nlmsg_len));

	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	m->n.nlmsg_len = NLMSG_ALIGN(m->n.nlmsg_len) + NLA_ALIGN(a->nla_len);
	return a;
}

static void close_nest(union message *m, struct nlattr *nest)
{
	nest->nla_len = m->bytes + m->n.nlmsg_len - (char *)nest;
}

static void *begin(union message *m, uint16_t type, uint16_t flags, size_t len)
{
	memset(m, 0, sizeof(*m));
	m->n.nlmsg_len = NLMSG_LENGTH(len);
	m->n.nlmsg_type = type;
	m->n.nlmsg_flags = NLM_F_REQUEST | flags;
	return NLMSG_DATA(&m->n);
}

/* The tables are small enough to come from the slab, whose failures are what can be had. A pool
 * comes with the higher limit, and goes when that is undone; roots come with it and stay.
 */
static void bfc_options(union message *m, uint32_t limit, bool creating)
{
	struct nlattr *nest;

	put(m, TCA_KIND, "bfc", 4);
	nest = put(m, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	if (creating) {
		put(m, TCA_BFC_QUEUES, &(uint16_t) { 16 }, 2);
		put(m, TCA_BFC_CLASSES, &(uint8_t) { 2 }, 1);
		put(m, TCA_BFC_FLOWS, &(uint32_t) { 104 }, 4);
	}
	put(m, TCA_BFC_LIMIT, &limit, 4);
	put(m, TCA_BFC_POOL, &(uint32_t) { limit > 1000000 ? 1 << 20 : 0 }, 4);
	put(m, TCA_BFC_ROOTS, &(uint8_t) { limit > 1000000 }, 1);
	close_nest(m, nest);
}

static void floodgate_options(union message *m, uint32_t limit, bool creating)
{
	struct nlattr *nest;

	put(m, TCA_KIND, "floodgate", 10);
	nest = put(m, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	if (creating)
		put(m, TCA_FLOODGATE_SLOTS, &(uint32_t) { 16 }, 4);
	put(m, TCA_FLOODGATE_LIMIT, &limit, 4);
	put(m, TCA_FLOODGATE_POOL, &(uint32_t) { limit > 1000000 ? 1 << 20 : 0 }, 4);
	close_nest(m, nest);
}

static void flowsail_options(union message *m, uint32_t limit, bool creating)
{
	struct nlattr *nest;

	put(m, TCA_KIND, "flowsail", 9);
	nest = put(m, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	if (creating) {
		put(m, TCA_FLOWSAIL_QUEUES, &(uint16_t) { 4 }, 2);
		put(m, TCA_FLOWSAIL_SLOTS, &(uint32_t) { 16 }, 4);
	}
	put(m, TCA_FLOWSAIL_LIMIT, &limit, 4);
	put(m, TCA_FLOWSAIL_POOL, &(uint32_t) { limit > 1000000 ? 1 << 20 : 0 }, 4);
	close_nest(m, nest);
}

static void pfc_options(union message *m, uint32_t limit, bool creating)
{
	struct nlattr *nest;

	(void)creating;
	put(m, TCA_KIND, "pfc", 4);
	nest = put(m, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	put(m, TCA_PFC_LIMIT, &limit, 4);
	put(m, TCA_PFC_POOL, &(uint32_t) { 1 << 20 }, 4);
	close_nest(m, nest);
}

static void rocc_options_of(union message *m, uint8_t role, uint32_t limit, bool creating)
{
	struct nlattr *nest;

	put(m, TCA_KIND, "rocc", 5);
	nest = put(m, TCA_OPTIONS | NLA_F_NESTED, NULL, 0);
	if (creating) {
		put(m, TCA_ROCC_ROLE, &role, 1);
		put(m, role ? TCA_ROCC_LIMITERS : TCA_ROCC_FLOWS, &(uint32_t) { 16 }, 4);
	}
	put(m, TCA_ROCC_LIMIT, &limit, 4);
	close_nest(m, nest);
}

static void rocc_options(union message *m, uint32_t limit, bool creating)
{
	rocc_options_of(m, ROCC_ROLE_SWITCH, limit, creating);
}

static void rocc_host_options(union message *m, uint32_t limit, bool creating)
{
	rocc_options_of(m, ROCC_ROLE_HOST, limit, creating);
}

static const struct kind {
	const char	*name;
	void		(*put)(union message *m, uint32_t limit, bool creating);
} kinds[] = {
	{ "bfc", bfc_options },
	{ "floodgate", floodgate_options },
	{ "flowsail", flowsail_options },
	{ "pfc", pfc_options },
	{ "rocc", rocc_options },
	{ "rocc-host", rocc_host_options },
}, *kind = &kinds[0];

static void qdisc(union message *m, uint16_t type, uint16_t flags, uint32_t handle, uint32_t parent)
{
	struct tcmsg *t = begin(m, type, flags | NLM_F_ACK, sizeof(*t));

	t->tcm_ifindex = if_nametoindex(dev);
	t->tcm_handle = handle;
	t->tcm_parent = parent;
}

static void qdisc_add(union message *m)
{
	qdisc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0x10000, TC_H_ROOT);
	kind->put(m, 2000000, true);
}

static void qdisc_del(union message *m)
{
	qdisc(m, RTM_DELQDISC, 0, 0x10000, TC_H_ROOT);
}

static void qdisc_del_back(union message *m)
{
	qdisc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, 0x10000, TC_H_ROOT);
	kind->put(m, 1000000, true);
}

static void qdisc_change(union message *m)
{
	qdisc(m, RTM_NEWQDISC, 0, 0x10000, TC_H_ROOT);
	kind->put(m, 2000000, false);
}

static void qdisc_change_back(union message *m)
{
	qdisc(m, RTM_NEWQDISC, 0, 0x10000, TC_H_ROOT);
	kind->put(m, 1000000, false);
}

static void qdisc_replace(union message *m)
{
	qdisc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0x20000, TC_H_ROOT);
	kind->put(m, 2000000, true);
}

static void qdisc_replace_back(union message *m)
{
	qdisc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0x10000, TC_H_ROOT);
	kind->put(m, 1000000, true);
}

/* Class 1:1, of mq, of tbf or of rocc */
static void qdisc_graft(union message *m)
{
	qdisc(m, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, 0x110000, 0x10001);
	kind->put(m, 2000000, true);
}

static void qdisc_ungraft(union message *m)
{
	qdisc(m, RTM_DELQDISC, 0, 0x110000, 0x10001);
}

static void qdisc_dump(union message *m)
{
	begin(m, RTM_GETQDISC, NLM_F_DUMP, sizeof(struct tcmsg));
}

static void class_dump(union message *m)
{
	struct tcmsg *t = begin(m, RTM_GETTCLASS, NLM_F_DUMP, sizeof(*t));

	t->tcm_ifindex = if_nametoindex(dev);
}

static void link_begin(union message *m, uint16_t type, uint16_t flags)
{
	begin(m, type, flags | NLM_F_ACK, sizeof(struct ifinfomsg));
	put(m, IFLA_IFNAME, dev, strlen(dev) + 1);
}

static void wire_add(union message *m)
{
	struct nlattr *info, *data, *peer;

	link_begin(m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	info = put(m, IFLA_LINKINFO, NULL, 0);
	put(m, IFLA_INFO_KIND, "wire", 4);
	data = put(m, IFLA_INFO_DATA, NULL, 0);
	put(m, IFLA_WIRE_RATE, &(uint64_t) { 1000000000 }, 8);
	put(m, IFLA_WIRE_SEED, &(uint64_t) { 1 }, 8);
	peer = put(m, IFLA_WIRE_PEER, &(struct ifinfomsg) {}, sizeof(struct ifinfomsg));
	put(m, IFLA_IFNAME, other, strlen(other) + 1);
	close_nest(m, peer);
	close_nest(m, data);
	close_nest(m, info);
}

static void wire_del(union message *m)
{
	link_begin(m, RTM_DELLINK, 0);
}

static void wire_change_to(union message *m, uint64_t rate)
{
	struct nlattr *info, *data;

	link_begin(m, RTM_NEWLINK, 0);
	info = put(m, IFLA_LINKINFO, NULL, 0);
	put(m, IFLA_INFO_KIND, "wire", 4);
	data = put(m, IFLA_INFO_DATA, NULL, 0);
	put(m, IFLA_WIRE_RATE, &rate, 8);
	close_nest(m, data);
	close_nest(m, info);
}

static void wire_change(union message *m)
{
	wire_change_to(m, 2000000000);
}

static void wire_change_back(union message *m)
{
	wire_change_to(m, 1000000000);
}

static void link_dump(union message *m)
{
	begin(m, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
}

static const struct operation {
	const char	*name;
	void		(*make)(union message *m);
	void		(*undo)(union message *m);	/* NULL: it changes nothing */
	int		also;	/* what the kernel itself may say for want of memory */
} operations[] = {
	{ "add", qdisc_add, qdisc_del, 0 },
	{ "change", qdisc_change, qdisc_change_back, 0 },
	{ "replace", qdisc_replace, qdisc_replace_back, 0 },
	{ "delete", qdisc_del, qdisc_del_back, 0 },
	{ "graft", qdisc_graft, qdisc_ungraft, 0 },
	{ "qdisc-dump", qdisc_dump, NULL, 0 },
	{ "class-dump", class_dump, NULL, 0 },
	/* a device whose name finds no room in sysfs: see device_add() */
	{ "wire-add", wire_add, wire_del, EINVAL },
	{ "wire-change", wire_change, wire_change_back, 0 },
	{ "wire-delete", wire_del, wire_add, 0 },
	{ "link-dump", link_dump, NULL, 0 },
};

/* ---- to the kernel and back ---- */

static uint64_t hash;	/* of a message: FNV-1a */
static uint64_t sum;	/* of all of them: the order of a dump follows the devices' numbers */

static void hash_bytes(const void *p, size_t len)
{
	for (const unsigned char *c = p; len; len--)
		hash = (hash ^ *c++) * 0x100000001b3;
}

/* What a message says of the configuration: names, kinds and options; no statistics */
static void hash_message(const struct nlmsghdr *n)
{
	bool link = n->nlmsg_type == RTM_NEWLINK;
	size_t head = link ? sizeof(struct ifinfomsg) : sizeof(struct tcmsg);
	int left = n->nlmsg_len - NLMSG_LENGTH(head);
	const struct nlattr *a = NLMSG_DATA(n) + NLMSG_ALIGN(head);
	const struct tcmsg *t = NLMSG_DATA(n);

	if (n->nlmsg_type != RTM_NEWLINK && n->nlmsg_type != RTM_NEWQDISC)
		return;
	hash = 0xcbf29ce484222325;
	if (!link) {	/* the number of the device changes when it is made anew */
		hash_bytes(&t->tcm_handle, sizeof(t->tcm_handle));
		hash_bytes(&t->tcm_parent, sizeof(t->tcm_parent));
	}
	while (left >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN && a->nla_len <= left) {
		uint16_t type = a->nla_type & NLA_TYPE_MASK;

		if (link ? type == IFLA_IFNAME || type == IFLA_MTU || type == IFLA_LINKINFO :
		    type == TCA_KIND || type == TCA_OPTIONS)
			hash_bytes(a, a->nla_len);
		left -= NLA_ALIGN(a->nla_len);
		a = (const void *)a + NLA_ALIGN(a->nla_len);
	}
	sum += hash;
}

/* What the kernel calls an error is negative; nobody has looked at one that is not. */
static int answered(int error)
{
	if (error > 0)
		errx(1, "the kernel answers %d, which is no error", error);
	return -error;
}

/* The answer: 0 or an error; -1 if the kernel could not even answer */
static int answer(void)
{
	static char reply[REPLY_MAX];
	const struct nlmsghdr *n;
	ssize_t got;
	int left;

	for (;;) {
		got = recv(netlink, reply, sizeof(reply), 0);
		if (got < 0 && (errno == ENOBUFS || errno == ENOMEM))
			return -1;
		if (got < 0)
			err(1, "recv");
		n = (const void *)reply;
		for (left = got; NLMSG_OK(n, (unsigned int)left); n = NLMSG_NEXT(n, left)) {
			if (n->nlmsg_type == NLMSG_ERROR)
				return answered(((struct nlmsgerr *)NLMSG_DATA(n))->error);
			if (n->nlmsg_type == NLMSG_DONE)
				return 0;
			hash_message(n);
		}
	}
}

static void connect_netlink(void)
{
	if (netlink > 0)
		close(netlink);
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (netlink < 0)
		err(2, "netlink socket");
}

static int talk(void (*make)(union message *m))
{
	union message m;

	make(&m);
	if (send(netlink, &m, m.n.nlmsg_len, 0) < 0)
		return errno;
	return answer();
}

static void must(void (*make)(union message *m), const char *what)
{
	int error;

	connect_netlink();
	error = talk(make);
	if (error)
		errx(1, "%s: %s", what, strerror(error));
}

static uint64_t configuration(void)
{
	sum = 0;
	must(qdisc_dump, "dump of qdiscs");
	must(link_dump, "dump of links");
	return sum;
}

/* ---- */

static void knob_set(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(knob, text, len, 0) != len)
		err(2, "fail-nth");
}

static unsigned int knob_get(void)
{
	char text[16] = "";

	if (pread(knob, text, sizeof(text) - 1, 0) <= 0)
		err(2, "fail-nth");
	return strtoul(text, NULL, 10);
}

/* One try. Returns true if an allocation was made to fail. */
static bool try(const struct operation *op, unsigned int n, unsigned int *refused,
		unsigned int *silent)
{
	uint64_t before = configuration();
	bool injected, changed;
	union message m;
	int error;

	connect_netlink();
	op->make(&m);
	knob_set(n);
	error = send(netlink, &m, m.n.nlmsg_len, 0) < 0 ? errno : 0;
	if (!error && !op->undo)	/* the rest of a dump is made while it is read */
		error = answer();
	injected = !knob_get();
	knob_set(0);
	if (!error && op->undo)
		error = answer();

	changed = configuration() != before;
	if (!injected && error)
		errx(1, "%s: %s without a failure", op->name, strerror(error));
	if (error > 0 && error != ENOMEM && error != ENOBUFS && error != op->also)
		errx(1, "%s, failure %u: %s", op->name, n, strerror(error));
	if (error > 0 && changed)
		errx(1, "%s, failure %u: refused and has changed something", op->name, n);
	if (!error && op->undo && !changed)
		errx(1, "%s, failure %u: taken and has changed nothing", op->name, n);
	*refused += error > 0;
	*silent += error < 0;
	if (!changed)
		return injected;
	must(op->undo, "undo");
	usleep(LINGER_US);
	if (configuration() != before)
		errx(1, "%s, failure %u: not as it was when it is undone", op->name, n);
	return injected;
}

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
	unsigned int i, n = 1, refused = 0, silent = 0;
	const struct operation *op = NULL;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		enter(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc > 2 && !strcmp(argv[1], "-k")) {
		for (kind = NULL, i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!strcmp(argv[2], kinds[i].name))
				kind = &kinds[i];
		argc -= 2;
		argv += 2;
	}
	for (i = 0; kind && argc >= 3 && i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(argv[1], operations[i].name))
			op = &operations[i];
	if (!op)
		errx(2, "usage: failnth [-n NETNS] [-k KIND] OPERATION DEV [OTHER]");
	dev = argv[2];
	other = argc > 3 ? argv[3] : "";
	knob = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (knob < 0)
		err(2, "fail-nth");

	while (n <= TRIES_MAX && try(op, n, &refused, &silent))
		n++;
	printf("failed=%u refused=%u unanswered=%u taken=%u\n", n - 1, refused, silent,
	       n - 1 - refused - silent);
	return n > TRIES_MAX;
}
