// SPDX-License-Identifier: GPL-2.0-only
/*
 * portwatch: what the queues of a rack held, dropped and paused while a load ran.
 *
 * From --start-at until SIGTERM it samples the backlog of the root qdisc of every device in the
 * --switches namespaces, every --every microseconds; at the end it reads the counters of these
 * and of the --hosts namespaces once more. All by rtnetlink, the numbers that `tc -s qdisc`
 * shows, so that every kind of qdisc is measured in the same way. (Running tc itself every few
 * milliseconds would cost more CPU time than the load.)
 *
 * The highest backlog is the highest that a sample met. Between two samples a queue can have
 * been longer, by at most (what arrives - what leaves) in one interval; kinds that keep their
 * own maximum (bfc) are shown with it in a column of its own, not mixed with the others.
 *
 * --ports gets one line for each device, as CSV. A column that a kind does not have is empty.
 * --summary gets `name=value` lines: the time watched, the share of it that the CPUs were idle
 * (/proc/stat), what TCP of the hosts sent again and how often it waited for its timer.
 * --trace gets time,backlog of the one device named by --trace-port, a line per change.
 *
 * With --rates it writes something else: the fair rate that the root qdisc of each port in --watch,
 * if that is rocc in the role of a switch, tells flows; a line per change. --watch and --zero are
 * files that flowgen(8) reads and writes; time 0 is the trace's.
 *
 * With --frames and --waits it writes what the links in --watch carry, by kind of frame, and how
 * long data waited before each: frames.c.
 *
 * Limits: devices that appear after the start are not seen; one root qdisc per device, so an
 * mq's children are not told apart.
 */
#include <argp.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "bfc.h"
#include "frames.h"
#include "hopctl.h"
#include "lab.h"
#include "rocc.h"

#define SPACES_MAX		64
#define DUMP_BYTES		65536
#define WAIT_POLL_NS		50000000ULL
#define ZERO_POLL_NS		1000000ULL

static struct config {
	char *switches, *hosts;		/* lists of namespaces, by commas */
	const char *ports, *summary;	/* files to write */
	const char *trace, *trace_port;
	const char *rates, *watch, *zero;
	const char *frames, *waits, *flows;
	double wait_tagging_s;		/* 0: watch; else wait for that, at most so long */
	uint64_t every_ns;
	uint64_t start_ns;
} config = {
	.every_ns = 2000000,
};

struct port {
	char dev[IF_NAMESIZE];
	char kind[32];
	unsigned int ifindex;
	uint64_t backlog;		/* bytes: last sample */
	uint64_t backlog_max;
	uint64_t backlog_sum;		/* of all samples */
	uint64_t bytes, packets, drops;
	/* kind bfc only */
	int has_bfc;
	uint64_t own_max;		/* bytes: its own highest backlog */
	uint64_t pauses_sent, pauses_obeyed, paused_ns, lease_expired, shared;
	unsigned int tag_state;
};

struct space {
	const char *name;
	int is_switch;
	int fd;				/* rtnetlink */
	unsigned int n;
	struct port *ports;
	uint64_t retransmits, timeouts;	/* at the start; TCP of this namespace */
};

static struct space spaces[SPACES_MAX];
static unsigned int n_spaces;
static struct port *traced;
static FILE *trace_file;
static volatile sig_atomic_t stopped;

/* -- attributes -- */

static const struct rtattr *attr_find(const void *data, size_t size, unsigned int type)
{
	const struct rtattr *a;

	for (a = data; RTA_OK(a, size); a = RTA_NEXT(a, size))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static const struct rtattr *attr_nested(const struct rtattr *parent, unsigned int type)
{
	return parent ? attr_find(RTA_DATA(parent), RTA_PAYLOAD(parent), type) : NULL;
}

/* An integer of whatever width it has, 0 if it is not there. */
static uint64_t attr_value(const struct rtattr *parent, unsigned int type)
{
	const struct rtattr *a = attr_nested(parent, type);
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (a ? RTA_PAYLOAD(a) : 0) {
	case 8:
		memcpy(&v64, RTA_DATA(a), 8);
		return v64;
	case 4:
		memcpy(&v32, RTA_DATA(a), 4);
		return v32;
	case 2:
		memcpy(&v16, RTA_DATA(a), 2);
		return v16;
	case 1:
		return *(const unsigned char *)RTA_DATA(a);
	default:
		return 0;
	}
}

/* -- one answer: one qdisc -- */

static struct port *port_find(struct space *space, unsigned int ifindex)
{
	unsigned int i;

	for (i = 0; i < space->n; i++)
		if (space->ports[i].ifindex == ifindex)
			return &space->ports[i];
	return NULL;
}

static void port_read_bfc(struct port *port, const struct rtattr *app)
{
	const struct rtattr *hop = attr_nested(app, TCA_BFC_STATS_PORT);

	port->has_bfc = 1;
	port->own_max = attr_value(app, TCA_BFC_STATS_BACKLOG_MAX);
	port->pauses_obeyed = attr_value(app, TCA_BFC_STATS_PAUSES_OBEYED);
	port->paused_ns = attr_value(app, TCA_BFC_STATS_PAUSED_TIME);
	port->shared = attr_value(app, TCA_BFC_STATS_ASSIGN_SHARED);
	port->pauses_sent = attr_value(hop, HOP_A_PAUSES_TX);
	port->lease_expired = attr_value(hop, HOP_A_LEASE_EXPIRED);
	port->tag_state = (unsigned int)attr_value(hop, HOP_A_STATE);
}

/* A leaf below a shaping root tells of pauses; backlog and drops are the root's, whose numbers
 * contain those of its children.
 */
static void port_read(struct space *space, const struct nlmsghdr *h, int all)
{
	const struct rtattr *stats, *queue, *basic, *kind;
	const struct tcmsg *tcm = NLMSG_DATA(h);
	size_t size = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	const void *attrs = (const char *)tcm + NLMSG_ALIGN(sizeof(*tcm));
	struct port *port = port_find(space, (unsigned int)tcm->tcm_ifindex);
	struct gnet_stats_basic b;
	struct gnet_stats_queue q;

	stats = attr_find(attrs, size, TCA_STATS2);
	kind = attr_find(attrs, size, TCA_KIND);
	queue = attr_nested(stats, TCA_STATS_QUEUE);
	basic = attr_nested(stats, TCA_STATS_BASIC);
	if (!port || !kind || !queue || !basic)
		return;
	if (all && !strcmp(RTA_DATA(kind), "bfc"))
		port_read_bfc(port, attr_nested(stats, TCA_STATS_APP));
	if (tcm->tcm_parent != TC_H_ROOT)
		return;
	memcpy(&q, RTA_DATA(queue), sizeof(q));
	port->backlog = q.backlog;
	if (!all)
		return;
	memcpy(&b, RTA_DATA(basic), sizeof(b));
	snprintf(port->kind, sizeof(port->kind), "%s", (const char *)RTA_DATA(kind));
	port->bytes = b.bytes;
	port->packets = b.packets;
	port->drops = q.drops;
}

/* -- one namespace -- */

static void space_dump(struct space *space, int all)
{
	static char buffer[DUMP_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct {
		struct nlmsghdr h;
		struct tcmsg t;
	} request = {
		.h = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETQDISC,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.t.tcm_family = AF_UNSPEC,
	};
	const struct nlmsghdr *h;
	ssize_t got;

	if (send(space->fd, &request, sizeof(request), 0) < 0)
		lab_die(errno, "rtnetlink of %s", space->name);
	for (;;) {
		got = recv(space->fd, buffer, sizeof(buffer), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			lab_die(errno, "rtnetlink of %s", space->name);
		for (h = (void *)buffer; NLMSG_OK(h, (size_t)got); h = NLMSG_NEXT(h, got)) {
			if (h->nlmsg_type == NLMSG_DONE)
				return;
			if (h->nlmsg_type == NLMSG_ERROR)
				lab_die(0, "rtnetlink of %s refuses the dump", space->name);
			port_read(space, h, all);
		}
	}
}

/* A counter of /proc/net/snmp or netstat: a line of names, then a line of values. */
static uint64_t proc_counter(const char *path, const char *group, const char *name)
{
	char names[4096], values[4096], *n, *v, *save_n, *save_v;
	FILE *f = fopen(path, "r");
	uint64_t value = 0;

	if (!f)
		lab_die(errno, "%s", path);
	while (fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		n = strtok_r(names, " \n", &save_n);
		v = strtok_r(values, " \n", &save_v);
		if (!n || !v || strcmp(n, group))
			continue;
		while (n && v && strcmp(n, name)) {
			n = strtok_r(NULL, " \n", &save_n);
			v = strtok_r(NULL, " \n", &save_v);
		}
		if (n && v)
			value = strtoull(v, NULL, 10);
	}
	fclose(f);
	return value;
}

static uint64_t space_retransmits(void)
{
	return proc_counter("/proc/self/net/snmp", "Tcp:", "RetransSegs");
}

static uint64_t space_timeouts(void)
{
	return proc_counter("/proc/self/net/netstat", "TcpExt:", "TCPTimeouts");
}

static void space_open(const char *name, int is_switch)
{
	struct if_nameindex *devs, *dev;
	struct space *space;

	if (n_spaces == SPACES_MAX)
		lab_die(0, "more than %d namespaces", SPACES_MAX);
	space = &spaces[n_spaces++];
	space->name = name;
	space->is_switch = is_switch;
	lab_netns_enter(name);
	space->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	devs = if_nameindex();
	if (space->fd < 0 || !devs)
		lab_die(errno, "rtnetlink of %s", name);
	for (dev = devs; dev->if_index; dev++)
		space->n++;
	space->ports = lab_alloc(space->n, sizeof(*space->ports));
	for (dev = devs; dev->if_index; dev++) {
		space->ports[dev - devs].ifindex = dev->if_index;
		snprintf(space->ports[dev - devs].dev, IF_NAMESIZE, "%s", dev->if_name);
	}
	if_freenameindex(devs);
	space->retransmits = space_retransmits();
	space->timeouts = space_timeouts();
}

static void space_open_list(char *list, int is_switch)
{
	char *name, *save;

	for (name = list ? strtok_r(list, ",", &save) : NULL; name;
	     name = strtok_r(NULL, ",", &save))
		space_open(name, is_switch);
}

/* -- CPU time: ns that all CPUs together were idle since boot -- */

static uint64_t cpu_idle_ns(void)
{
	unsigned long long user, nice, system, idle, iowait;
	FILE *f = fopen("/proc/stat", "r");
	uint64_t tick_ns = LAB_NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);

	if (!f || fscanf(f, "cpu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
			 &iowait) != 5)
		lab_die(0, "/proc/stat has no line for all CPUs");
	fclose(f);
	return (idle + iowait) * tick_ns;
}

/* -- trace of one port -- */

static void trace_open(void)
{
	unsigned int i, j;
	char name[256];

	if (!config.trace || !config.trace_port)
		return;
	for (i = 0; i < n_spaces; i++) {
		for (j = 0; j < spaces[i].n; j++) {
			snprintf(name, sizeof(name), "%s/%s", spaces[i].name,
				 spaces[i].ports[j].dev);
			if (!strcmp(name, config.trace_port) && spaces[i].is_switch)
				traced = &spaces[i].ports[j];
		}
	}
	if (!traced)
		lab_die(0, "no port %s in the switches", config.trace_port);
	trace_file = fopen(config.trace, "w");
	if (!trace_file)
		lab_die(errno, "%s", config.trace);
	fprintf(trace_file, "time_ns,backlog\n");
}

static void trace_write(uint64_t since_ns)
{
	static uint64_t last = UINT64_MAX;

	if (!traced || traced->backlog == last)
		return;
	last = traced->backlog;
	fprintf(trace_file, "%llu,%llu\n", (unsigned long long)since_ns,
		(unsigned long long)last);
}

/* -- the watch -- */

static void on_stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void sample(uint64_t since_ns)
{
	unsigned int i, j;
	struct port *port;

	for (i = 0; i < n_spaces; i++) {
		if (!spaces[i].is_switch)
			continue;
		space_dump(&spaces[i], 0);
		for (j = 0; j < spaces[i].n; j++) {
			port = &spaces[i].ports[j];
			port->backlog_sum += port->backlog;
			if (port->backlog > port->backlog_max)
				port->backlog_max = port->backlog;
		}
	}
	trace_write(since_ns);
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(at_ns / LAB_NSEC_PER_SEC),
		.tv_nsec = (long)(at_ns % LAB_NSEC_PER_SEC),
	};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* Samples until a signal comes; how many. An instant that is missed is left out. */
static uint64_t watch(uint64_t start_ns, uint64_t *gap_ns)
{
	uint64_t next_ns = start_ns, last_ns = start_ns, now_ns, samples = 0;

	while (!stopped) {
		now_ns = lab_now_ns();
		if (now_ns < next_ns) {
			sleep_until(next_ns);
			continue;
		}
		sample(now_ns - start_ns);
		samples++;
		if (now_ns - last_ns > *gap_ns)
			*gap_ns = now_ns - last_ns;
		last_ns = now_ns;
		next_ns += config.every_ns * (1 + (now_ns - next_ns) / config.every_ns);
	}
	return samples;
}

/* -- what is written at the end -- */

static FILE *output_open(const char *path)
{
	FILE *f = path ? fopen(path, "w") : stdout;

	if (!f)
		lab_die(errno, "%s", path);
	return f;
}

static void output_close(FILE *f, const char *path)
{
	if (fflush(f) || ferror(f))
		lab_die(errno, "%s", path ? path : "standard output");
	if (path)
		fclose(f);
}

/* Towards a host nobody tags. */
static bool tags_or_need_not(const struct port *port)
{
	return port->tag_state == HOP_STATE_TAGGING || port->tag_state == HOP_STATE_HOST;
}

static void write_port(FILE *f, const struct space *space, const struct port *port,
		       uint64_t samples)
{
	fprintf(f, "%s,%s,%s,%s,%llu,%llu,%llu", space->name, port->dev,
		space->is_switch ? "switch" : "host", port->kind,
		(unsigned long long)port->bytes, (unsigned long long)port->packets,
		(unsigned long long)port->drops);
	if (space->is_switch && samples)
		fprintf(f, ",%llu,%llu", (unsigned long long)port->backlog_max,
			(unsigned long long)(port->backlog_sum / samples));
	else
		fprintf(f, ",,");
	if (port->has_bfc)
		fprintf(f, ",%llu,%llu,%llu,%llu,%llu,%llu,%u\n",
			(unsigned long long)port->own_max,
			(unsigned long long)port->pauses_sent,
			(unsigned long long)port->pauses_obeyed,
			(unsigned long long)port->paused_ns,
			(unsigned long long)port->lease_expired,
			(unsigned long long)port->shared, tags_or_need_not(port));
	else
		fprintf(f, ",,,,,,,\n");
}

static void write_ports(uint64_t samples)
{
	FILE *f = output_open(config.ports);
	unsigned int i, j;

	fprintf(f, "netns,dev,role,kind,bytes,packets,drops,backlog_max,backlog_mean,"
		   "own_backlog_max,pauses_sent,pauses_obeyed,paused_ns,lease_expired,"
		   "flows_shared,tagging\n");
	for (i = 0; i < n_spaces; i++) {
		space_dump(&spaces[i], 1);
		for (j = 0; j < spaces[i].n; j++)
			if (spaces[i].ports[j].kind[0])
				write_port(f, &spaces[i], &spaces[i].ports[j], samples);
	}
	output_close(f, config.ports);
}

static void write_summary(uint64_t elapsed_ns, uint64_t idle_ns, uint64_t samples,
			  uint64_t gap_ns)
{
	uint64_t retransmits = 0, timeouts = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *f = output_open(config.summary);
	double idle_share;
	unsigned int i;

	/* the kernel counts idle time in ticks: a little more than all of it is possible */
	idle_share = (double)idle_ns / ((double)elapsed_ns * (double)cpus);
	if (idle_share > 1)
		idle_share = 1;

	for (i = 0; i < n_spaces; i++) {
		lab_netns_enter(spaces[i].name);
		retransmits += space_retransmits() - spaces[i].retransmits;
		timeouts += space_timeouts() - spaces[i].timeouts;
	}
	fprintf(f, "elapsed_s=%.3f\ncpus=%ld\nidle_share=%.3f\n", (double)elapsed_ns / 1e9, cpus,
		idle_share);
	fprintf(f, "samples=%llu\nsample_gap_max_us=%llu\n", (unsigned long long)samples,
		(unsigned long long)gap_ns / 1000);
	fprintf(f, "tcp_retransmits=%llu\ntcp_timeouts=%llu\n", (unsigned long long)retransmits,
		(unsigned long long)timeouts);
	output_close(f, config.summary);
}

static void watch_run(void)
{
	uint64_t start_ns, idle_ns, samples, elapsed_ns, gap_ns = 0;

	start_ns = config.start_ns ? config.start_ns : lab_now_ns();
	while (!stopped && lab_now_ns() < start_ns)
		sleep_until(start_ns);
	idle_ns = cpu_idle_ns();
	samples = watch(start_ns, &gap_ns);
	elapsed_ns = lab_now_ns() - start_ns;
	idle_ns = cpu_idle_ns() - idle_ns;
	write_ports(samples);
	write_summary(elapsed_ns, idle_ns, samples, gap_ns);
	if (trace_file)
		output_close(trace_file, config.trace);
}

/* -- waiting for the neighbours to agree -- */

/* The bfc ports that do not tag yet and should; the first one of them. */
static unsigned int plain_ports(const struct space **space, const struct port **port)
{
	unsigned int i, j, n = 0, bfc = 0;

	for (i = 0; i < n_spaces; i++) {
		space_dump(&spaces[i], 1);
		for (j = 0; j < spaces[i].n; j++) {
			bfc += spaces[i].ports[j].has_bfc;
			if (!spaces[i].ports[j].has_bfc ||
			    tags_or_need_not(&spaces[i].ports[j]) || n++)
				continue;
			*space = &spaces[i];
			*port = &spaces[i].ports[j];
		}
	}
	if (!bfc)
		lab_die(0, "no port has bfc");
	return n;
}

static void wait_tagging(void)
{
	uint64_t end_ns = lab_now_ns() + (uint64_t)(config.wait_tagging_s * 1e9);
	const struct space *space;
	const struct port *port;
	unsigned int n;

	while ((n = plain_ports(&space, &port))) {
		if (lab_now_ns() >= end_ns)
			lab_die(0, "%u ports do not tag frames; %s/%s is in state %u of enum hop_state",
				n, space->name, port->dev, port->tag_state);
		sleep_until(lab_now_ns() + WAIT_POLL_NS);
	}
}

/* -- fair rates -- */

struct rated {
	char name[64];
	int fd;				/* rtnetlink */
	int ifindex;
	uint64_t rate;			/* bit/s: what was written last; 0: nothing */
	struct rated *next;
};

/* The ports, in the order of the file. */
static struct rated *rated_read(void)
{
	struct rated *first = NULL, **end = &first, *port;
	struct lab_lines lines = lab_lines_open(config.watch);
	char name[64], netns[64], dev[IF_NAMESIZE], more;

	while (lab_lines_next(&lines)) {
		if (sscanf(lines.text, "%63s %63s %15s %c", name, netns, dev, &more) != 3)
			lab_die(0, "%s:%u: should be: NAME NETNS DEV", lines.name, lines.number);
		port = lab_alloc(1, sizeof(*port));
		memcpy(port->name, name, sizeof(name));
		lab_netns_enter(netns);
		port->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
		port->ifindex = (int)if_nametoindex(dev);
		if (port->fd < 0 || !port->ifindex)
			lab_die(errno, "rtnetlink of %s/%s", netns, dev);
		*end = port;
		end = &port->next;
	}
	if (!first)
		lab_die(0, "%s names no port", config.watch);
	return first;
}

/* bit/s; 0 of what is no congestion point */
static uint64_t rated_rate(const struct rated *port)
{
	static char buffer[DUMP_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct {
		struct nlmsghdr h;
		struct tcmsg t;
	} request = {
		.h = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = RTM_GETQDISC,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ECHO,	/* else nobody is told */
		},
		.t = {
			.tcm_family = AF_UNSPEC,
			.tcm_ifindex = port->ifindex,
			.tcm_parent = TC_H_ROOT,
		},
	};
	const struct nlmsghdr *h = (void *)buffer;
	const struct tcmsg *tcm = NLMSG_DATA(h);
	const void *attrs = (const char *)tcm + NLMSG_ALIGN(sizeof(*tcm));
	const struct rtattr *kind, *stats;
	ssize_t got;
	size_t size;

	if (send(port->fd, &request, sizeof(request), 0) < 0)
		lab_die(errno, "rtnetlink of %s", port->name);
	do {
		got = recv(port->fd, buffer, sizeof(buffer), 0);
	} while (got < 0 && errno == EINTR);
	if (got <= 0 || !NLMSG_OK(h, (size_t)got) || h->nlmsg_type != RTM_NEWQDISC)
		lab_die(got < 0 ? errno : 0, "rtnetlink of %s tells no qdisc", port->name);
	size = h->nlmsg_len - NLMSG_LENGTH(sizeof(*tcm));
	kind = attr_find(attrs, size, TCA_KIND);
	stats = attr_find(attrs, size, TCA_STATS2);
	if (!kind || strcmp(RTA_DATA(kind), "rocc"))
		return 0;
	return 8 * attr_value(attr_nested(stats, TCA_STATS_APP), TCA_ROCC_STATS_FAIR_RATE);
}

/* When the trace begins, once flowgen has started it; 0: stopped before */
static uint64_t zero_wait(void)
{
	unsigned long long ns = 0;
	FILE *f;

	while (!stopped) {
		f = fopen(config.zero, "r");
		if (f && fscanf(f, "%llu", &ns) != 1)
			lab_die(0, "%s says no time", config.zero);
		if (f) {
			fclose(f);
			return ns;
		}
		sleep_until(lab_now_ns() + ZERO_POLL_NS);
	}
	return 0;
}

static void rates_run(void)
{
	struct rated *ports = rated_read(), *port;
	FILE *f = output_open(config.rates);
	uint64_t zero_ns, next_ns, rate, now_ns;

	/* The kernel may wake us 50 us late otherwise. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	fprintf(f, "t_ns,port,fair_rate\n");
	zero_ns = zero_wait();
	for (next_ns = zero_ns; !stopped; ) {
		now_ns = lab_now_ns();
		if (now_ns < next_ns) {
			sleep_until(next_ns);
			continue;
		}
		for (port = ports; port; port = port->next) {
			rate = rated_rate(port);
			if (rate == port->rate)
				continue;
			port->rate = rate;
			fprintf(f, "%llu,%s,%llu\n", (unsigned long long)(now_ns - zero_ns),
				port->name, (unsigned long long)rate);
		}
		next_ns += config.every_ns * (1 + (now_ns - next_ns) / config.every_ns);
	}
	output_close(f, config.rates);
}

/* -- frames -- */

static void frames_watch(void)
{
	const struct frames_files files = {
		.links = config.watch, .flows = config.flows,
		.frames = config.frames, .waits = config.waits,
	};
	uint64_t zero_ns = zero_wait();

	if (!stopped)
		frames_run(&files, zero_ns, &stopped);
}

/* -- command line -- */

enum option_key {
	OPT_SWITCHES = 256, OPT_HOSTS, OPT_EVERY, OPT_START, OPT_PORTS, OPT_SUMMARY, OPT_TRACE,
	OPT_TRACE_PORT, OPT_WAIT_TAGGING, OPT_RATES, OPT_WATCH, OPT_ZERO, OPT_FRAMES, OPT_WAITS,
	OPT_FLOWS,
};

static const struct argp_option options[] = {
	{ "switches", OPT_SWITCHES, "NETNS,...", 0, "Namespaces to sample", 0 },
	{ "hosts", OPT_HOSTS, "NETNS,...", 0, "Namespaces whose counters are read at the end", 0 },
	{ "every", OPT_EVERY, "US", 0, "Microseconds from sample to sample (2000)", 0 },
	{ "start-at", OPT_START, "NS", 0, "Instant of CLOCK_MONOTONIC to start at", 0 },
	{ "ports", OPT_PORTS, "FILE", 0, "CSV of all ports (standard output)", 0 },
	{ "summary", OPT_SUMMARY, "FILE", 0, "Time, idle share, TCP (standard output)", 0 },
	{ "trace-port", OPT_TRACE_PORT, "NETNS/DEV", 0, "Trace the backlog of this port", 0 },
	{ "trace", OPT_TRACE, "FILE", 0, "CSV of the traced backlog", 0 },
	{ "wait-tagging", OPT_WAIT_TAGGING, "SECONDS", 0,
	  "Only wait until every bfc port tags its frames", 0 },
	{ "rates", OPT_RATES, "FILE", 0, "Only write rocc's fair rates, as CSV", 0 },
	{ "frames", OPT_FRAMES, "FILE", 0, "Only write what links carry, as CSV", 0 },
	{ "waits", OPT_WAITS, "FILE", 0, "And how long data waited for them", 0 },
	{ "flows", OPT_FLOWS, "FILE", 0, "Of this trace", 0 },
	{ "watch", OPT_WATCH, "FILE", 0,
	  "Ports: lines NAME NETNS DEV; of --frames also FROM TO RATE DELAY OVERHEAD", 0 },
	{ "zero", OPT_ZERO, "FILE", 0, "Where flowgen says when its trace begins", 0 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case OPT_SWITCHES:
		config.switches = arg;
		break;
	case OPT_HOSTS:
		config.hosts = arg;
		break;
	case OPT_EVERY:
		config.every_ns = strtoull(arg, NULL, 10) * 1000;
		if (!config.every_ns || config.every_ns > 10 * LAB_NSEC_PER_SEC)
			argp_error(state, "--every: expected 1 to 10000000 microseconds");
		break;
	case OPT_START:
		config.start_ns = strtoull(arg, NULL, 10);
		break;
	case OPT_PORTS:
		config.ports = arg;
		break;
	case OPT_SUMMARY:
		config.summary = arg;
		break;
	case OPT_TRACE:
		config.trace = arg;
		break;
	case OPT_RATES:
		config.rates = arg;
		break;
	case OPT_WATCH:
		config.watch = arg;
		break;
	case OPT_ZERO:
		config.zero = arg;
		break;
	case OPT_FRAMES:
		config.frames = arg;
		break;
	case OPT_WAITS:
		config.waits = arg;
		break;
	case OPT_FLOWS:
		config.flows = arg;
		break;
	case OPT_WAIT_TAGGING:
		config.wait_tagging_s = strtod(arg, NULL);
		if (!(config.wait_tagging_s > 0 && config.wait_tagging_s <= 1000))
			argp_error(state, "--wait-tagging: expected up to 1000 seconds");
		break;
	case OPT_TRACE_PORT:
		config.trace_port = arg;
		break;
	case ARGP_KEY_END:
		if (!config.frames != !config.waits || !config.frames != !config.flows)
			argp_error(state, "--frames, --waits and --flows go together");
		if (config.rates && config.frames)
			argp_error(state, "--rates and --frames do not");
		if (!(config.rates || config.frames) != !config.watch ||
		    !config.watch != !config.zero)
			argp_error(state, "--rates or --frames, --watch and --zero go together");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_option, NULL,
		"Samples the queues of switches and hosts until SIGTERM.", NULL, NULL, NULL,
	};
	struct sigaction action = { .sa_handler = on_stop };

	lab_progname = "portwatch";
	argp_err_exit_status = LAB_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (config.rates) {
		rates_run();
		return 0;
	}
	if (config.frames) {
		frames_watch();
		return 0;
	}
	space_open_list(config.switches, 1);
	space_open_list(config.hosts, 0);
	if (!n_spaces)
		lab_die(0, "no namespaces given");
	if (config.wait_tagging_s) {
		wait_tagging();
		return 0;
	}
	trace_open();
	watch_run();
	return 0;
}
