// SPDX-License-Identifier: GPL-2.0-only
/*
 * optfuzz - options of one of our kinds at random
 *
 *	optfuzz [-n NETNS] [-k KIND] DEV INPUTS SEED
 *
 * KIND is bfc (default), rocc, rocc-host, which is rocc of that role, or another one that
 * optfuzz_options.h has.
 *
 * Sends add, change, replace, delete and class messages for DEV's root qdisc, whose options are
 * known and unknown attributes with values at and around their limits, of wrong lengths, nested,
 * given twice or cut off, while packets come and wait. Each message goes with a request for the
 * qdisc as it is then, so of every single one it is known what it did:
 *
 *	- what was refused has changed nothing, and what was refused for its options was told why
 *	- what was taken is shown: the values that were given, and the others as they were
 *	- whatever is shown is in range
 *
 * Many messages go in one send(), and the clock gets a rest after each, for whatever waits for
 * it. Prints what was sent and how it was answered, "messages taken refused with-packets N ...".
 * Exit status: 0, 1 if something went against these rules, 2 used wrongly.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
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
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/gen_stats.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#define BATCH		96
#define MESSAGE_MAX	1024	/* bytes of one message */
#define REPLY_MAX	8192
#define FRAMES		16	/* sent with each batch */
#define COMPLAINTS	10	/* then it is enough */

struct option {
	uint16_t	attr;
	uint8_t		size;
	bool		zero;	/* 0 is allowed, too */
	bool		fixed;
	uint64_t	min, max;
	bool		ends;	/* there are but these two */
};

/* What is fuzzed. @role is of a rocc, else -1; @limit is 0 if it has none. */
struct kind {
	const char		*name, *of;
	const struct option	*options;
	unsigned int		count;
	int			role;
	uint16_t		version, max, limit;
};

#define KIND(_name, _of, _options, ...)						\
	{ _name, _of, _options, sizeof(_options) / sizeof((_options)[0]), __VA_ARGS__ }

#include "optfuzz_options.h"

static const struct kind *kind = &kinds[0];

static bool is_kind(const char *name)
{
	return !strcmp(kind->of, name);
}

/* Large tables take long to be cleared. */
static bool is_table(const struct option *o)
{
	return (is_kind("bfc") && o->attr == TCA_BFC_FLOWS) ||
	       (is_kind("floodgate") && o->attr == TCA_FLOODGATE_SLOTS) ||
	       (is_kind("flowsail") && o->attr == TCA_FLOWSAIL_SLOTS) ||
	       (is_kind("rocc") && (o->attr == TCA_ROCC_FLOWS || o->attr == TCA_ROCC_LIMITERS));
}

/* Without some of it no packet waits. */
static bool is_room(const struct option *o)
{
	return o->attr == kind->limit || (is_kind("bfc") && o->attr == TCA_BFC_POOL) ||
	       (is_kind("floodgate") && o->attr == TCA_FLOODGATE_POOL) ||
	       (is_kind("flowsail") && o->attr == TCA_FLOWSAIL_POOL) ||
	       (is_kind("pfc") && o->attr == TCA_PFC_POOL);
}

/* The root qdisc as it is shown */
struct shown {
	bool		there;
	bool		stray;			/* rocc of the other role */
	uint32_t	handle;
	uint32_t	qlen;
	uint64_t	has;			/* bit n for the n-th option */
	uint64_t	value[OPTIONS_MAX];
	bool		has_priomap;
	uint8_t		priomap[TC_PRIO_MAX + 1];
};

enum operation { ADD, CHANGE, REPLACE, ANEW, DEL, STRANGE, CLASS_GET, CLASS_SET, OPERATIONS };

static const char * const operation_names[] = {
	"add", "change", "replace", "replace-by-another", "delete", "strange-parent", "class-show",
	"class-change",
};

/* A message of the batch, and what came back */
struct input {
	union {
		struct nlmsghdr	n;
		char		bytes[MESSAGE_MAX];
	} m;
	enum operation	operation;
	bool		answered, looked, wordless;
	int		error;
	struct shown	after;
};

static struct input inputs[BATCH];
static struct shown now, fresh;
static unsigned int ifindex, mtu, complaints;
static unsigned long sent_of[OPERATIONS], taken_of[OPERATIONS], with_packets;
static uint32_t sequence = 1;
static int netlink, frames_fd;

static int option_index(uint16_t attr)
{
	unsigned int i = 0;

	while (kind->options[i].attr != attr)
		i++;
	return i;
}

static uint64_t shown_value(const struct shown *s, uint16_t attr)
{
	return s->value[option_index(attr)];
}

/* splitmix64 */
static uint64_t seed;

static uint64_t random64(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static unsigned int below(unsigned int n)
{
	return random64() % n;
}

static bool one_in(unsigned int n)
{
	return !below(n);
}

/* ---- messages ---- */

static struct nlattr *attr_put(struct nlmsghdr *n, uint16_t type, const void *data, size_t len)
{
	struct nlattr *a = (void *)n + NLMSG_ALIGN(n->nlmsg_len);

	if (NLMSG_ALIGN(n->nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(len) > MESSAGE_MAX)
		len = 0;	/* there is room for that always */
	a->nla_type = type;
	a->nla_len = NLA_HDRLEN + len;
	memset((char *)a + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy((char *)a + NLA_HDRLEN, data, len);
	n->nlmsg_len = NLMSG_ALIGN(n->nlmsg_len) + NLA_HDRLEN + NLA_ALIGN(len);
	return a;
}

static uint64_t value_legal(const struct option *o)
{
	if (o->ends)
		return one_in(2) ? o->min : o->max;
	if (o->zero && one_in(3))
		return 0;
	if (is_table(o) && !one_in(64)) {
		if (!is_kind("bfc"))
			return 4 * (1 + below(1000));
		/* most of them are multiples of classes x ways, whatever these are */
		return one_in(4) ? 1 + below(5000) : 8 * 4 * (1 + below(150));
	}
	if (is_room(o) && !one_in(8))
		return 200000 + below(1 << 24);
	switch (below(4)) {
	case 0:
		return o->min;
	case 1:
		return o->max;
	case 2:
		return o->max - (o->max > o->min);
	}
	return o->min + random64() % (o->max - o->min + 1);
}

static uint64_t value_any(const struct option *o)
{
	static const uint64_t edges[] = {
		0, 1, 2, 9, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0x8100, 0xffff, 0x10000,
		1U << 31, (1U << 31) - 1, UINT32_MAX, 1ULL << 32, 1ULL << 63, UINT64_MAX,
	};

	switch (below(6)) {
	case 0:
		return o->min - 1;
	case 1:
		return o->max + 1;
	case 2:
		return random64() >> below(64);
	case 3:
		return value_legal(o);
	}
	return edges[below(sizeof(edges) / sizeof(edges[0]))];
}

static size_t wrong_length(void)
{
	static const size_t lengths[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 32, 200 };

	return lengths[below(sizeof(lengths) / sizeof(lengths[0]))];
}

static void put_option(struct nlmsghdr *n, bool wild)
{
	const struct option *o = &kind->options[below(kind->count)];
	/* a limit near 0 leaves no packets that wait */
	bool legal = !wild || (o->attr == kind->limit && !one_in(8));
	uint64_t value = legal ? value_legal(o) : value_any(o);
	uint16_t type = o->attr;
	size_t len = o->size;

	if (wild && one_in(6))
		len = wrong_length();
	if (wild && one_in(20))
		type |= NLA_F_NESTED;
	if (wild && one_in(40))
		type |= NLA_F_NET_BYTEORDER;
	attr_put(n, type, (uint64_t [25]) { value, ~value, value }, len);
}

/* What is no scalar of a rocc: keys, prefixes. Neither is compared. */
static void put_bytes(struct nlmsghdr *n, bool wild)
{
	uint64_t bytes[3] = { random64(), random64(), one_in(2) ? 128 : random64() }, zero[3] = {};
	struct nlattr *nest;
	unsigned int i;

	if (one_in(2)) {
		attr_put(n, one_in(2) ? TCA_ROCC_KEY1 : TCA_ROCC_KEY2, one_in(4) ? zero : bytes,
			 wild && one_in(4) ? below(24) : ROCC_KEY_BYTES);
		return;
	}
	nest = attr_put(n, TCA_ROCC_FROM | (wild && one_in(4) ? 0 : NLA_F_NESTED), NULL, 0);
	for (i = below(wild ? 20 : 4); i && n->nlmsg_len < MESSAGE_MAX / 2; i--)
		attr_put(n, wild && one_in(8) ? below(4) : TCA_ROCC_FROM_PREFIX, bytes,
			 wild && one_in(8) ? below(24) : sizeof(struct rocc_prefix));
	nest->nla_len = (char *)n + n->nlmsg_len - (char *)nest;
}

/* A new pfc must have a pool, and one of the same size as others have. */
static void put_pool(struct nlmsghdr *n)
{
	uint32_t same = shown_value(now.there ? &now : &fresh, TCA_PFC_POOL);
	uint32_t size = one_in(4) ? value_legal(&kind->options[option_index(TCA_PFC_POOL)]) : same;

	attr_put(n, TCA_PFC_POOL, &size, sizeof(size));
}

static void put_priomap(struct nlmsghdr *n, bool wild)
{
	uint8_t map[TC_PRIO_MAX + 1];
	unsigned int i, top = wild ? 1 + below(256) : 1 + below(2);

	for (i = 0; i <= TC_PRIO_MAX; i++)
		map[i] = below(top);
	attr_put(n, TCA_BFC_PRIOMAP, map, wild && one_in(4) ? below(17) : sizeof(map));
}

/* Attributes that are none of ours, or not to be set, or whole trees of them */
static void put_garbage(struct nlmsghdr *n)
{
	uint64_t bytes[32];
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < 32; i++)
		bytes[i] = random64();
	switch (below(4)) {
	case 0:
		attr_put(n, kind->version + below(6), bytes, wrong_length());
		break;
	case 1:
		attr_put(n, random64(), bytes, wrong_length());
		break;
	case 2:
		nest = attr_put(n, below(kind->max + 2) | (one_in(2) ? NLA_F_NESTED : 0),
				NULL, 0);
		for (i = below(4); i; i--)
			put_option(n, true);
		nest->nla_len = (char *)n + n->nlmsg_len - (char *)nest;
		break;
	case 3:		/* a length that lies */
		nest = attr_put(n, below(kind->max + 2), bytes, 8);
		nest->nla_len = random64() >> below(16);
		break;
	}
}

static void put_options(struct nlmsghdr *n, bool creating)
{
	unsigned int i, wild = below(3);	/* none, one in four, all of them */
	struct nlattr *nest;

	if (one_in(50) && (!creating || kind->role != ROCC_ROLE_HOST))
		return;
	nest = attr_put(n, TCA_OPTIONS | (one_in(4) ? NLA_F_NESTED : 0), NULL, 0);
	if (kind->role >= 0 && (creating || one_in(8)))
		attr_put(n, TCA_ROCC_ROLE, &(uint8_t) { kind->role }, 1);
	if (is_kind("pfc") && creating && !one_in(8))
		put_pool(n);
	for (i = below(wild == 2 ? 8 : 4); i; i--) {
		if (one_in(12) && is_kind("bfc"))
			put_priomap(n, wild);
		else if (one_in(12) && is_kind("rocc"))
			put_bytes(n, wild);
		else
			put_option(n, wild == 2 || (wild && one_in(4)));
		if (wild && one_in(8))
			put_garbage(n);
	}
	nest->nla_len = (char *)n + n->nlmsg_len - (char *)nest;
	if (wild && one_in(30)) {
		nest->nla_len -= below(nest->nla_len - NLA_HDRLEN + 1);
		/* what is left over would be read as something else than options: a size table
		 * that is refused after the options were changed, for one
		 */
		n->nlmsg_len = (char *)nest - (char *)n + NLA_ALIGN(nest->nla_len);
	}
}

static struct tcmsg *message(struct nlmsghdr *n, uint16_t type, uint16_t flags)
{
	struct tcmsg *t = NLMSG_DATA(n);

	memset(n, 0, NLMSG_LENGTH(sizeof(*t)));
	n->nlmsg_len = NLMSG_LENGTH(sizeof(*t));
	n->nlmsg_type = type;
	n->nlmsg_flags = NLM_F_REQUEST | flags;
	t->tcm_ifindex = ifindex;
	t->tcm_parent = TC_H_ROOT;
	return t;
}

/* The class of a rocc, below which another qdisc may be put */
static bool takes_qdisc(uint32_t parent)
{
	return is_kind("rocc") && TC_H_MIN(parent) == 1;
}

static enum operation operation_draw(bool bfc)
{
	if (!bfc && !one_in(4))
		return ADD;
	switch (below(500)) {	/* a new qdisc is an empty one, so there are few */
	case 0:
		return DEL;
	case 1:
		return ANEW;
	case 2 ... 9:
		return ADD;
	case 10 ... 99:
		return REPLACE;
	case 100 ... 124:
		return STRANGE;
	case 125 ... 149:
		return CLASS_GET;
	case 150 ... 164:
		return CLASS_SET;
	}
	return CHANGE;
}

/* A handle or a class id of about the right shape */
static uint32_t strange_id(void)
{
	static const uint32_t ids[] = {
		0, 1, 0x10000, 0x10001, 0x10fff, 0x11000, 0x11fff, 0x1ffff, 0x20000, 0x80000000,
		TC_H_INGRESS, TC_H_ROOT,
	};

	return one_in(4) ? random64() : ids[below(sizeof(ids) / sizeof(ids[0]))];
}

/* @handle: what the root's will be when this message comes to its turn, as far as is known */
static void input_build(struct input *in, bool *bfc, uint32_t *handle)
{
	static const struct {
		uint16_t	type, flags;
	} how[] = {
		[ADD] = { RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL },
		[CHANGE] = { RTM_NEWQDISC, 0 },
		[REPLACE] = { RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE },
		[ANEW] = { RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE },
		[DEL] = { RTM_DELQDISC, 0 },
		[STRANGE] = { RTM_NEWQDISC, NLM_F_CREATE },
		[CLASS_GET] = { RTM_GETTCLASS, NLM_F_ECHO },
		[CLASS_SET] = { RTM_NEWTCLASS, NLM_F_CREATE },
	};
	enum operation op = operation_draw(*bfc);
	struct tcmsg *t = message(&in->m.n, how[op].type, how[op].flags | NLM_F_ACK);

	in->operation = op;
	in->answered = in->looked = false;
	t->tcm_handle = *handle;
	switch (op) {
	case ADD:
		*bfc = true;
		break;
	case ANEW:
		*handle = t->tcm_handle = *handle == 0x10000 ? 0x20000 : 0x10000;
		*bfc = true;
		break;
	case DEL:
		*bfc = false;
		return;
	case STRANGE:
		t->tcm_handle = one_in(2) ? 0 : strange_id();
		do {	/* with none, the handle alone says which one is to be changed */
			t->tcm_parent = strange_id();
		} while (!t->tcm_parent || t->tcm_parent == TC_H_ROOT ||
			 takes_qdisc(t->tcm_parent));
		break;
	case CLASS_SET:
		if (one_in(2))
			in->m.n.nlmsg_type = RTM_DELTCLASS;
		/* fall through */
	case CLASS_GET:
		t->tcm_parent = one_in(2) ? 0 : strange_id();
		t->tcm_handle = one_in(2) ? 0x10000 + below(0x2100) : strange_id();
		break;
	default:
		break;
	}
	if (op != CHANGE || one_in(2))
		attr_put(&in->m.n, TCA_KIND, kind->of, strlen(kind->of) + 1);
	put_options(&in->m.n, op == ADD || op == REPLACE || op == ANEW);
}

/* ---- what is shown ---- */

static const struct nlattr *attr_next(const struct nlattr *a, int *left)
{
	if (*left < NLA_HDRLEN || a->nla_len < NLA_HDRLEN || a->nla_len > *left)
		return NULL;
	*left -= NLA_ALIGN(a->nla_len);
	return a;
}

#define each_attr(a, first, len)						\
	for (int left_ = (len), *l_ = &left_; l_; l_ = NULL)			\
		for (const struct nlattr *a = (const void *)(first);		\
		     (a = attr_next(a, l_)); a = (const void *)a + NLA_ALIGN(a->nla_len))

static const void *attr_data(const struct nlattr *a)
{
	return (const char *)a + NLA_HDRLEN;
}

static int attr_len(const struct nlattr *a)
{
	return a->nla_len - NLA_HDRLEN;
}

static uint64_t value_read(const void *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size);	/* both ends of netlink are this machine, little-endian */
	return value;
}

/* Read as the kernel does: the last one counts. */
static void options_read(struct shown *s, const void *first, int len)
{
	each_attr(a, first, len) {
		uint16_t type = a->nla_type & NLA_TYPE_MASK;

		for (unsigned int i = 0; i < kind->count; i++) {
			if (type != kind->options[i].attr || attr_len(a) != kind->options[i].size)
				continue;
			s->has |= 1ULL << i;
			s->value[i] = value_read(attr_data(a), kind->options[i].size);
		}
		if (kind->role >= 0 && type == TCA_ROCC_ROLE && attr_len(a) == 1)
			s->stray = *(const uint8_t *)attr_data(a) != kind->role;
		if (is_kind("bfc") && type == TCA_BFC_PRIOMAP && attr_len(a) == sizeof(s->priomap)) {
			s->has_priomap = true;
			memcpy(s->priomap, attr_data(a), sizeof(s->priomap));
		}
	}
}

static void shown_read(struct shown *s, const struct nlmsghdr *n)
{
	const struct tcmsg *t = NLMSG_DATA(n);
	const void *first = (const char *)t + NLMSG_ALIGN(sizeof(*t));
	int len = n->nlmsg_len - NLMSG_LENGTH(sizeof(*t));

	s->handle = t->tcm_handle;
	each_attr(a, first, len) {
		uint16_t type = a->nla_type & NLA_TYPE_MASK;

		if (type == TCA_KIND)
			s->there = !strcmp(attr_data(a), kind->of);
		else if (type == TCA_OPTIONS)
			options_read(s, attr_data(a), attr_len(a));
		else if (type == TCA_STATS2)
			each_attr(b, attr_data(a), attr_len(a))
				if (b->nla_type == TCA_STATS_QUEUE)
					s->qlen = ((struct gnet_stats_queue *)attr_data(b))->qlen;
	}
}

/* Of options of a port, which these attributes are */
static const char *port_wrong(const struct shown *s, uint16_t tpid, uint16_t lease,
			      uint16_t refresh)
{
	uint64_t lease_ns = shown_value(s, lease), refresh_ns = shown_value(s, refresh);

	if (shown_value(s, tpid) != ETH_P_8021AD && shown_value(s, tpid) != ETH_P_8021Q)
		return "the TPID is neither";
	return lease_ns && refresh_ns && lease_ns < 2 * refresh_ns ? "the lease is too short" : NULL;
}

static const char *bfc_wrong(const struct shown *s)
{
	uint64_t classes = shown_value(s, TCA_BFC_CLASSES);
	uint64_t flows = shown_value(s, TCA_BFC_FLOWS), ways = shown_value(s, TCA_BFC_WAYS);
	unsigned int i;

	for (i = 0; i <= TC_PRIO_MAX; i++)
		if (s->priomap[i] >= classes)
			return "the priomap names a class that is not there";
	if (!s->has_priomap || shown_value(s, TCA_BFC_QUEUES) % classes)
		return "queues and classes do not fit";
	if ((ways != 1 && ways != 4) || flows % (classes * ways))
		return "flows, classes and ways do not fit";
	if (shown_value(s, TCA_BFC_PAUSE) == BFC_PAUSE_INGRESS)
		return "it pauses by ingress";
	return port_wrong(s, TCA_BFC_TPID, TCA_BFC_LEASE, TCA_BFC_REFRESH);
}

static const char *floodgate_wrong(const struct shown *s)
{
	if (shown_value(s, TCA_FLOODGATE_KMIN) > shown_value(s, TCA_FLOODGATE_KMAX))
		return "kmin is above kmax";
	return port_wrong(s, TCA_FLOODGATE_TPID, TCA_FLOODGATE_LEASE, TCA_FLOODGATE_REFRESH);
}

static const char *flowsail_wrong(const struct shown *s)
{
	uint64_t ql = shown_value(s, TCA_FLOWSAIL_QL), qh = shown_value(s, TCA_FLOWSAIL_QH);

	if (shown_value(s, TCA_FLOWSAIL_QUEUES) + shown_value(s, TCA_FLOWSAIL_ISOLATION) +
	    shown_value(s, TCA_FLOWSAIL_SLOTS) > 4096)
		return "more sub-queues than there can be";
	if (ql && qh && qh < ql)
		return "qh is below ql";
	if (shown_value(s, TCA_FLOWSAIL_QH_SCALE) < shown_value(s, TCA_FLOWSAIL_QL_SCALE))
		return "qh-scale is below ql-scale";
	if (shown_value(s, TCA_FLOWSAIL_KMIN) > shown_value(s, TCA_FLOWSAIL_KMAX))
		return "kmin is above kmax";
	return port_wrong(s, TCA_FLOWSAIL_TPID, TCA_FLOWSAIL_LEASE, TCA_FLOWSAIL_REFRESH);
}

static const char *pfc_wrong(const struct shown *s)
{
	if (shown_value(s, TCA_PFC_KMIN) > shown_value(s, TCA_PFC_KMAX))
		return "kmin is above kmax";
	return port_wrong(s, TCA_PFC_TPID, TCA_PFC_LEASE, TCA_PFC_REFRESH);
}

/* 0 is auto, which depends on rate and interval. */
static const char *rocc_wrong(const struct shown *s)
{
	uint64_t ref = shown_value(s, TCA_ROCC_QREF), mid = shown_value(s, TCA_ROCC_QMID);
	uint64_t max = shown_value(s, TCA_ROCC_QMAX);

	if (shown_value(s, TCA_ROCC_FLOWS) % 4)
		return "flows are no multiple of 4";
	if ((ref && mid && ref >= mid) || (mid && max && mid > max) || (ref && max && ref >= max))
		return "qref, qmid and qmax are not in order";
	return NULL;
}

/* What is wrong with a configuration by itself; NULL if nothing is */
static const char *shown_wrong(const struct shown *s)
{
	static char text[64];
	unsigned int i;

	for (i = 0; i < kind->count; i++) {
		const struct option *o = &kind->options[i];

		if (s->has >> i & 1 && ((s->value[i] >= o->min && s->value[i] <= o->max) ||
					(o->zero && !s->value[i])))
			continue;
		snprintf(text, sizeof(text), "attribute %u is %llu", o->attr,
			 (unsigned long long)s->value[i]);
		return text;
	}
	if (is_kind("bfc"))
		return bfc_wrong(s);
	if (is_kind("floodgate"))
		return floodgate_wrong(s);
	if (is_kind("flowsail"))
		return flowsail_wrong(s);
	if (is_kind("pfc"))
		return pfc_wrong(s);
	return is_kind("rocc") && kind->role == ROCC_ROLE_SWITCH ? rocc_wrong(s) : NULL;
}

static bool shown_equal(const struct shown *a, const struct shown *b, bool priomap)
{
	return a->there == b->there && (!a->there || (a->handle == b->handle && a->has == b->has &&
	       !memcmp(a->value, b->value, sizeof(a->value)) &&
	       (!priomap || !memcmp(a->priomap, b->priomap, sizeof(a->priomap)))));
}

/* ---- judgement ---- */

static void complain(const struct input *in, const char *what)
{
	const struct shown *s = &in->after;
	unsigned int i;

	for (i = 0; i < kind->count; i++)
		if (s->value[i] != now.value[i])
			printf("# attribute %u was %llu, is %llu\n", kind->options[i].attr,
			       (unsigned long long)now.value[i], (unsigned long long)s->value[i]);
	if (s->there != now.there || s->handle != now.handle)
		printf("# handle was %x, is %x\n", now.handle, s->handle);
	printf("# %s, error %d: %s\n#  ", operation_names[in->operation], in->error, what);
	for (i = NLMSG_HDRLEN; i < in->m.n.nlmsg_len; i++)
		printf("%s%02x", i % 4 ? "" : " ", (uint8_t)in->m.bytes[i]);
	printf("\n");
	if (++complaints == COMPLAINTS)
		errx(1, "that is enough");
}

/* Does a message that was taken make a new qdisc, instead of changing the one that there is? */
static bool input_creates(const struct input *in)
{
	const struct tcmsg *t = NLMSG_DATA(&in->m.n);

	return !now.there || (t->tcm_handle && t->tcm_handle != now.handle);
}

/* What the root should be after a message was taken */
static struct shown input_expects(const struct input *in, bool *priomap)
{
	const struct tcmsg *t = NLMSG_DATA(&in->m.n);
	const void *first = (const char *)t + NLMSG_ALIGN(sizeof(*t));
	int len = in->m.n.nlmsg_len - NLMSG_LENGTH(sizeof(*t));
	bool created = input_creates(in);
	struct shown want = created ? fresh : now;

	if (created)
		want.handle = t->tcm_handle;
	want.has_priomap = false;
	each_attr(a, first, len)
		if ((a->nla_type & NLA_TYPE_MASK) == TCA_OPTIONS)
			options_read(&want, attr_data(a), attr_len(a));
	/* without one, that of a new qdisc follows from its classes */
	*priomap = !created || want.has_priomap;
	want.has_priomap = true;
	return want;
}

static void input_judge(struct input *in)
{
	const char *wrong = in->after.there && !in->after.stray ? shown_wrong(&in->after) : NULL;
	bool priomap = true;
	struct shown want;

	if (!in->answered || !in->looked)
		errx(1, "no answer");
	sent_of[in->operation]++;
	taken_of[in->operation] += !in->error;
	with_packets += in->after.qlen > 0;
	if (wrong)
		complain(in, wrong);
	if (in->wordless && in->error == EINVAL && in->operation <= ANEW)
		complain(in, "was refused without a word");
	if (in->error || in->operation == CLASS_GET) {
		if (!shown_equal(&now, &in->after, true))
			complain(in, "was refused and has changed something");
	} else if (in->operation == STRANGE || in->operation == CLASS_SET) {
		complain(in, "was taken");
	} else if (in->operation == DEL) {
		if (in->after.there)
			complain(in, "is still there");
	} else if (!in->after.stray) {
		want = input_expects(in, &priomap);
		if (!shown_equal(&want, &in->after, priomap))
			complain(in, "is not what is shown");
		for (unsigned int i = 0; i < kind->count; i++)
			if (!input_creates(in) && kind->options[i].fixed &&
			    now.value[i] != in->after.value[i])
				complain(in, "changed what is fixed");
	}
	now = in->after;
}

/* ---- to the kernel and back ---- */

static bool has_words(const struct nlmsghdr *n)
{
	const struct nlmsgerr *e = NLMSG_DATA(n);

	if (!(n->nlmsg_flags & NLM_F_ACK_TLVS))
		return false;
	each_attr(a, e + 1, (int)(n->nlmsg_len - NLMSG_LENGTH(sizeof(*e))))
		if (a->nla_type == NLMSGERR_ATTR_MSG)
			return true;
	return false;
}

static void reply_take(const struct nlmsghdr *n, uint32_t first)
{
	uint32_t at = n->nlmsg_seq - first;
	struct input *in = &inputs[at / 2];

	if (at / 2 >= BATCH)
		return;
	if (n->nlmsg_type == NLMSG_ERROR && !(at & 1)) {
		in->answered = true;
		in->error = -((struct nlmsgerr *)NLMSG_DATA(n))->error;
		in->wordless = in->error && !has_words(n);
	} else if (n->nlmsg_type == NLMSG_ERROR) {
		in->looked = true;
	} else if (n->nlmsg_type == RTM_NEWQDISC && at & 1) {
		shown_read(&in->after, n);
	}
}

/* Takes in what is there until the acknowledgement of message @last. */
static void replies(uint32_t first, uint32_t last)
{
	static char room[32][REPLY_MAX];
	struct mmsghdr msgs[32];
	struct iovec iov[32];
	int i, got;

	for (;;) {
		for (i = 0; i < 32; i++) {
			iov[i] = (struct iovec) { room[i], REPLY_MAX };
			msgs[i] = (struct mmsghdr) { .msg_hdr = { .msg_iov = &iov[i],
								  .msg_iovlen = 1 } };
		}
		got = recvmmsg(netlink, msgs, 32, MSG_WAITFORONE, NULL);
		if (got < 0)
			err(1, "netlink");
		for (i = 0; i < got; i++) {
			int left = msgs[i].msg_len;
			const struct nlmsghdr *n = (const void *)room[i];

			for (; NLMSG_OK(n, (unsigned int)left); n = NLMSG_NEXT(n, left)) {
				reply_take(n, first);
				if (n->nlmsg_seq == last && (n->nlmsg_type == NLMSG_ERROR ||
							     n->nlmsg_type == NLMSG_DONE))
					return;
			}
		}
	}
}

static void send_bytes(const void *bytes, size_t len)
{
	if (send(netlink, bytes, len, 0) != (ssize_t)len)
		err(1, "netlink: send");
}

/* A request for the root qdisc, acknowledged */
static size_t look_put(char *at, uint32_t seq)
{
	struct nlmsghdr *n = (void *)at;

	message(n, RTM_GETQDISC, NLM_F_ECHO | NLM_F_ACK);
	n->nlmsg_seq = seq;
	return NLMSG_ALIGN(n->nlmsg_len);
}

static void batch_run(unsigned int count)
{
	static char bytes[BATCH * (MESSAGE_MAX + 64)];
	uint32_t handle = now.there ? now.handle : 0x10000, first = sequence;
	bool bfc = now.there;
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < count; i++) {
		struct input *in = &inputs[i];

		memset(&in->after, 0, sizeof(in->after));
		input_build(in, &bfc, &handle);
		in->m.n.nlmsg_seq = sequence++;
		memcpy(bytes + len, &in->m, in->m.n.nlmsg_len);
		len += NLMSG_ALIGN(in->m.n.nlmsg_len);
		len += look_put(bytes + len, sequence++);
	}
	send_bytes(bytes, len);
	replies(first, sequence - 1);
	for (i = 0; i < count; i++)
		input_judge(&inputs[i]);
}

/* class show: all of them, as tc asks */
static void classes_show(void)
{
	struct nlmsghdr n[4];

	message(n, RTM_GETTCLASS, NLM_F_DUMP);
	n->nlmsg_seq = sequence;
	send_bytes(n, n->nlmsg_len);
	replies(sequence + 1, sequence);
	sequence++;
}

/* ---- packets ---- */

/* Frames of any length that the device takes, of 256 flows and all priorities */
static void frames_send(unsigned int count)
{
	static uint8_t frame[65536 + ETH_HLEN];
	struct ethhdr *eth = (void *)frame;
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_ifindex = ifindex, .sll_halen = ETH_ALEN,
		.sll_protocol = htons(ETH_P_IP), .sll_addr = { 2, 0, 0, 0, 9, 9 },
	};

	memcpy(eth->h_dest, to.sll_addr, ETH_ALEN);
	eth->h_source[0] = 2;
	eth->h_proto = htons(ETH_P_IP);
	memcpy(frame + ETH_HLEN, "\x45\0\0\0\0\0\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2", 20);
	while (count--) {
		int prio = below(8), len = 28 + below(mtu - 28 + 1);

		frame[ETH_HLEN + 15] = random64();
		setsockopt(frames_fd, SOL_SOCKET, SO_PRIORITY, &prio, sizeof(prio));
		/* one that a full qdisc or no qdisc refuses is what is wanted, too */
		if (sendto(frames_fd, frame, ETH_HLEN + len, MSG_DONTWAIT, (void *)&to,
			   sizeof(to)) < 0 && errno != ENOBUFS && errno != EAGAIN)
			err(1, "a frame of %d bytes", len);
	}
}

/* ---- */

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

static void begin(const char *dev)
{
	int one = 1, room = 32 << 20;
	struct ifreq ifr = {};

	ifindex = if_nametoindex(dev);
	if (!ifindex)
		err(2, "%s", dev);
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	frames_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (netlink < 0 || frames_fd < 0)
		err(2, "socket");
	setsockopt(netlink, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	setsockopt(netlink, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	setsockopt(netlink, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	setsockopt(frames_fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(frames_fd, SIOCGIFMTU, &ifr))
		err(2, "%s: MTU", dev);
	mtu = ifr.ifr_mtu;
}

/* One without options but the role or the pool: what a new one is like */
static void learn_fresh(void)
{
	struct input *in = &inputs[0];
	struct nlattr *nest;
	struct tcmsg *t;
	char look[64];

	t = message(&in->m.n, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK);
	t->tcm_handle = 0x10000;
	attr_put(&in->m.n, TCA_KIND, kind->of, strlen(kind->of) + 1);
	if (kind->role >= 0 || is_kind("pfc")) {
		nest = attr_put(&in->m.n, TCA_OPTIONS, NULL, 0);
		if (is_kind("pfc"))
			attr_put(&in->m.n, TCA_PFC_POOL, &(uint32_t) { 16 << 20 }, 4);
		else
			attr_put(&in->m.n, TCA_ROCC_ROLE, &(uint8_t) { kind->role }, 1);
		nest->nla_len = (char *)&in->m.n + in->m.n.nlmsg_len - (char *)nest;
	}
	in->m.n.nlmsg_seq = sequence;
	send_bytes(&in->m, in->m.n.nlmsg_len);
	send_bytes(look, look_put(look, sequence + 1));
	replies(sequence, sequence + 1);
	sequence += 2;
	if (in->error || !in->after.there || shown_wrong(&in->after))
		errx(2, "none to begin with: %s", in->error ? strerror(in->error) :
		     shown_wrong(&in->after) ?: "not shown");
	fresh = now = in->after;
}

int main(int argc, char **argv)
{
	unsigned long left, messages = 0, taken = 0;
	unsigned int i, n;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		enter(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc > 2 && !strcmp(argv[1], "-k")) {
		for (i = 0, kind = NULL; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!strcmp(argv[2], kinds[i].name))
				kind = &kinds[i];
		argc -= 2;
		argv += 2;
	}
	if (argc != 4 || !kind)
		errx(2, "usage: optfuzz [-n NETNS] [-k KIND] DEV INPUTS SEED");
	begin(argv[1]);
	left = strtoul(argv[2], NULL, 0);
	seed = strtoull(argv[3], NULL, 0);
	learn_fresh();
	for (; left; left -= n) {
		n = left < BATCH ? left : BATCH;
		frames_send(below(FRAMES));
		batch_run(n);
		if (one_in(4))
			classes_show();
		usleep(1 + below(3000));
	}

	for (i = 0; i < OPERATIONS; i++) {
		printf("# %s: %lu, taken %lu\n", operation_names[i], sent_of[i], taken_of[i]);
		messages += sent_of[i];
		taken += taken_of[i];
	}
	printf("messages taken refused with-packets %lu %lu %lu %lu\n", messages, taken,
	       messages - taken, with_packets);
	return complaints > 0;
}
