// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn - does the same violence a thousand times, at random instants that a seed decides
 *
 *	churn [OPTION]... flap NS/DEV...
 *		a random one goes down, and up again
 *	churn [OPTION]... qdisc NS/DEV...
 *		a random one loses its root qdisc, and gets a new bfc
 *	churn [OPTION]... reload NS/DEV...
 *		all lose their root qdiscs; the modules are unloaded and loaded; all get a new bfc
 *
 *	--count=N	how often (1000)
 *	--seed=N	of the instants and the choices (1)
 *	--every=US	microseconds between two times, on average (10000)
 *	--down=US	and between taking away and giving back (1000)
 *	--modules=DIR	where hopctl.ko and sch_bfc.ko are
 *
 * Each time is uniform between 0 and twice its average. A process costs a test more than all that
 * it does here, so this is one that speaks rtnetlink. NS is a name of `ip netns`.
 *
 * Prints how often it did what it was told, how often a module was still in use and was tried
 * again after a millisecond, and the time that it took: "1000 done, 12 tries again, in 9876543 ns".
 * Exit status: 0, or 2 if anything was refused.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#define NS_PER_S	1000000000LL
#define TARGETS		64
#define UNLOAD_TRIES	10000
#define MESSAGE		256

/**
 * struct target - a device
 * @fd: rtnetlink socket in its network namespace
 * @index: of the device
 * @name: as it was given
 */
struct target {
	int		fd;
	int		index;
	const char	*name;
};

static struct target target[TARGETS];
static unsigned int targets;
static uint64_t random_state;
static unsigned int again;
static const char *modules;

static const char * const module[] = { "hopctl", "sch_bfc" };	/* in the order of loading */

static uint64_t draw(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void sleep_ns(int64_t ns)
{
	struct timespec ts = { .tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static void sleep_about(int64_t mean_us)
{
	sleep_ns(1 + draw() % (uint64_t)(2000 * mean_us));
}

/* ---- rtnetlink ---- */

static void request(const struct target *t, struct nlmsghdr *n)
{
	static char reply[8192];
	const struct nlmsghdr *r = (const void *)reply;
	const struct nlmsgerr *e = NLMSG_DATA(r);
	ssize_t got;

	n->nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(t->fd, n, n->nlmsg_len, 0) < 0)
		err(2, "%s: send", t->name);
	got = recv(t->fd, reply, sizeof(reply), 0);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(*e)) || r->nlmsg_type != NLMSG_ERROR)
		errx(2, "%s: no acknowledgement", t->name);
	if (e->error)
		errx(2, "%s: message of type %d: %s", t->name, n->nlmsg_type,
		     strerror(-e->error));
}

static void link_set(const struct target *t, bool up)
{
	struct {
		struct nlmsghdr		n;
		struct ifinfomsg	i;
	} m = {
		.n.nlmsg_len = sizeof(m),
		.n.nlmsg_type = RTM_NEWLINK,
		.i.ifi_index = t->index,
		.i.ifi_flags = up ? IFF_UP : 0,
		.i.ifi_change = IFF_UP,
	};

	request(t, &m.n);
}

static void qdisc_set(const struct target *t, bool add)
{
	struct {
		struct nlmsghdr	n;
		struct tcmsg	t;
		struct nlattr	kind;
		char		name[4];
	} m = {
		.n.nlmsg_len = sizeof(m),
		.n.nlmsg_type = add ? RTM_NEWQDISC : RTM_DELQDISC,
		.n.nlmsg_flags = add ? NLM_F_CREATE | NLM_F_EXCL : 0,
		.t.tcm_ifindex = t->index,
		.t.tcm_handle = 0x10000,
		.t.tcm_parent = TC_H_ROOT,
		.kind = { .nla_len = NLA_HDRLEN + sizeof(m.name), .nla_type = TCA_KIND },
		.name = "bfc",
	};

	request(t, &m.n);
}

/* ---- targets and modules ---- */

static void target_add(const char *name)
{
	struct target *t = &target[targets++];
	const char *slash = strchr(name, '/');
	char path[256];
	int fd;

	if (!slash || targets > TARGETS)
		errx(2, "%s is not NAMESPACE/DEVICE", name);
	snprintf(path, sizeof(path), "/run/netns/%.*s", (int)(slash - name), name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		err(2, "%s", path);
	close(fd);
	t->name = name;
	t->index = if_nametoindex(slash + 1);
	t->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (!t->index || t->fd < 0)
		err(2, "%s", name);
}

static void unload(const char *name)
{
	int tries;

	for (tries = 0; tries < UNLOAD_TRIES; tries++) {
		if (!syscall(SYS_delete_module, name, O_NONBLOCK))
			return;
		if (errno != EAGAIN && errno != EBUSY)
			break;
		again++;
		sleep_ns(1000000);
	}
	err(2, "cannot unload %s", name);
}

static void load(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s.ko", modules, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		err(2, "cannot load %s", path);
	close(fd);
}

/* ---- what is done ---- */

static void flap(int64_t down_us)
{
	const struct target *t = &target[draw() % targets];

	link_set(t, false);
	sleep_about(down_us);
	link_set(t, true);
}

static void requeue(int64_t down_us)
{
	const struct target *t = &target[draw() % targets];

	qdisc_set(t, false);
	sleep_about(down_us);
	qdisc_set(t, true);
}

static void reload(int64_t down_us)
{
	unsigned int i;

	for (i = 0; i < targets; i++)
		qdisc_set(&target[i], false);
	unload(module[1]);
	unload(module[0]);
	sleep_about(down_us);
	load(module[0]);
	load(module[1]);
	for (i = 0; i < targets; i++)
		qdisc_set(&target[i], true);
}

static const struct {
	const char	*name;
	void		(*act)(int64_t down_us);
} acts[] = {
	{ "flap", flap },
	{ "qdisc", requeue },
	{ "reload", reload },
};

static void usage(void)
{
	errx(2, "usage: churn [--count=N] [--seed=N] [--every=US] [--down=US] [--modules=DIR] "
	     "flap|qdisc|reload NS/DEV...");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "count", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 's' },
		{ "every", required_argument, NULL, 'e' },
		{ "down", required_argument, NULL, 'd' },
		{ "modules", required_argument, NULL, 'm' },
		{ },
	};
	int64_t every_us = 10000, down_us = 1000, start;
	unsigned int count = 1000, done, act;
	int c;

	random_state = 1;
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 'c': count = strtoul(optarg, NULL, 0); break;
		case 's': random_state = strtoull(optarg, NULL, 0); break;
		case 'e': every_us = strtoll(optarg, NULL, 0); break;
		case 'd': down_us = strtoll(optarg, NULL, 0); break;
		case 'm': modules = optarg; break;
		default: usage();
		}
	}
	if (argc - optind < 2 || every_us <= 0 || down_us <= 0)
		usage();
	for (act = 0; act < sizeof(acts) / sizeof(acts[0]); act++)
		if (!strcmp(acts[act].name, argv[optind]))
			break;
	if (act == sizeof(acts) / sizeof(acts[0]) || (acts[act].act == reload && !modules))
		usage();
	while (++optind < argc)
		target_add(argv[optind]);
	start = now_ns();
	for (done = 0; done < count; done++) {
		sleep_about(every_us);
		acts[act].act(down_us);
	}
	printf("%u done, %u tries again, in %lld ns\n", done, again,
	       (long long)(now_ns() - start));
	return 0;
}
