// SPDX-License-Identifier: GPL-2.0-only
/*
 * hopmon.c - watch pauses, reactions, queues and waiting times, live, from the tracepoints
 *
 *   hopmon.bpf.c   counts, in the kernel
 *   events.h       the tracepoints' fields, event.c compares them with the kernel's
 *   snapshot.c     reads what was counted, adds the processors up, names the ports
 *   hist.c         histograms and figures, pure
 *   show.c         the table and the histograms; show_json.c the same for programs
 *
 * See Documentation/tracing.md for what each figure measures.
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event.h"
#include "hopmon.h"
#include "hopmon.skel.h"
#include "show.h"
#include "snapshot.h"

#define TRACEFS			"/sys/kernel/tracing"
#define TRACEFS_OLD		"/sys/kernel/debug/tracing"
#define NETNS_DIR		"/run/netns/"
#define MAX_QUEUES		1024
#define MAX_PACKETS		65536
#define NSEC			1000000000LL

enum { EXIT_USAGE = 2 };

enum {
	OPT_INTERVAL = 256,
	OPT_COUNT,
	OPT_MAX_QUEUES,
	OPT_MAX_PACKETS,
};

enum histogram {
	HISTOGRAM_NO,
	HISTOGRAM_EXIT,
	HISTOGRAM_INTERVAL,
};

static struct {
	const char	*dev;
	const char	*netns;
	bool		all;
	bool		queues;
	bool		json;
	bool		verbose;
	enum histogram	histogram;
	long long	interval_ns;
	unsigned long	count;
	unsigned long	max_queues;
	unsigned long	max_packets;
} opt = {
	.interval_ns	= NSEC,
	.max_queues	= MAX_QUEUES,
	.max_packets	= MAX_PACKETS,
};

static void say(const char *format, ...)
{
	va_list args;

	fputs("hopmon: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* ---- options ---- */

#ifndef HOPMON_VERSION
#define HOPMON_VERSION	"(unknown)"
#endif

const char *argp_program_version = "hopmon " HOPMON_VERSION;

static const struct argp_option options[] = {
	{ "interface", 'i', "DEV", 0, "Only devices of this name", 0 },
	{ "netns", 'n', "NAME", 0, "In this network namespace, not in hopmon's own", 0 },
	{ "all", 'a', NULL, 0, "In all network namespaces", 0 },
	{ "interval", OPT_INTERVAL, "SECONDS", 0, "Time between two reports (1)", 0 },
	{ "count", OPT_COUNT, "N", 0, "End after N reports", 0 },
	{ "queues", 'q', NULL, 0, "Show each sub-queue, too", 0 },
	{ "histogram", 'H', "WHEN", OPTION_ARG_OPTIONAL,
	  "Histograms, no table: WHEN is exit (default) or interval", 0 },
	{ "json", 'j', NULL, 0, "One JSON object a report, on a line", 0 },
	{ "max-queues", OPT_MAX_QUEUES, "N", 0, "Room for so many sub-queues and ports (1024)", 0 },
	{ "max-packets", OPT_MAX_PACKETS, "N", 0, "Room for so many waiting packets (65536)", 0 },
	{ "verbose", 'v', NULL, 0, "Say when counting begins, and what libbpf says", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 }
};

static unsigned long number(struct argp_state *state, const char *name, const char *arg)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(arg, &end, 10);
	if (errno || *end || end == arg || *arg == '-' || !n || n > 1 << 24)
		argp_error(state, "%s must be a number from 1 to %d", name, 1 << 24);
	return n;
}

static long long seconds(struct argp_state *state, const char *arg)
{
	double s;
	char *end;

	s = strtod(arg, &end);
	if (*end || end == arg || !(s >= 0.01 && s <= 86400))
		argp_error(state, "--interval must be 0.01 to 86400 seconds");
	return s * NSEC;
}

static enum histogram when(struct argp_state *state, const char *arg)
{
	if (!arg || !strcmp(arg, "exit"))
		return HISTOGRAM_EXIT;
	if (strcmp(arg, "interval"))
		argp_error(state, "--histogram is exit or interval");
	return HISTOGRAM_INTERVAL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'i':
		if (!*arg || strlen(arg) >= HOPMON_DEV_LEN)
			argp_error(state, "\"%s\" is no device name", arg);
		opt.dev = arg;
		return 0;
	case 'n':
		opt.netns = arg;
		return 0;
	case 'a':
		opt.all = true;
		return 0;
	case 'q':
		opt.queues = true;
		return 0;
	case 'H':
		opt.histogram = when(state, arg);
		return 0;
	case 'j':
		opt.json = true;
		return 0;
	case 'v':
		opt.verbose = true;
		return 0;
	case OPT_INTERVAL:
		opt.interval_ns = seconds(state, arg);
		return 0;
	case OPT_COUNT:
		opt.count = number(state, "--count", arg);
		return 0;
	case OPT_MAX_QUEUES:
		opt.max_queues = number(state, "--max-queues", arg);
		return 0;
	case OPT_MAX_PACKETS:
		opt.max_packets = number(state, "--max-packets", arg);
		return 0;
	case ARGP_KEY_END:
		if (opt.all && opt.netns)
			argp_error(state, "--all and --netns exclude each other");
		if (opt.json && opt.histogram)
			argp_error(state, "--json and --histogram exclude each other");
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is \"%s\"?", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options	= options,
	.parser		= parse,
	.doc		= "Watch pauses, reactions, queues and waiting times of bfc ports.\v"
			  "See hopmon(8).",
};

/* ---- programs ---- */

static int libbpf_says(enum libbpf_print_level level, const char *format, va_list args)
{
	return opt.verbose && level != LIBBPF_DEBUG ? vfprintf(stderr, format, args) : 0;
}

/* Return: the inode number of the namespace to watch, 0 for all, or -1. */
static long long wanted_netns(void)
{
	char path[512] = "/proc/self/ns/net";
	struct stat st;

	if (opt.all)
		return 0;
	if (opt.netns)
		snprintf(path, sizeof(path), NETNS_DIR "%s", opt.netns);
	if (stat(path, &st)) {
		say("%s: %s", path, strerror(errno));
		return -1;
	}
	return st.st_ino;
}

static const char *tracefs(void)
{
	if (access(TRACEFS "/events", F_OK) && !access(TRACEFS_OLD "/events", F_OK))
		return TRACEFS_OLD;
	return TRACEFS;
}

static int set_up(struct hopmon_bpf *bpf)
{
	long long netns = wanted_netns();
	int cpus = libbpf_num_possible_cpus();

	if (netns < 0)
		return -1;
	bpf->rodata->only_netns = netns;
	if (opt.dev) {
		memcpy(bpf->rodata->only_dev.name, opt.dev, strlen(opt.dev));
		memset(bpf->rodata->only_mask.name, 0xff, strlen(opt.dev) + 1);
	}
	bpf->rodata->room_keys = opt.max_queues;
	bpf->rodata->room_cpus = cpus;
	if (cpus <= 0 || bpf_map__set_max_entries(bpf->maps.places, opt.max_queues) ||
	    bpf_map__set_max_entries(bpf->maps.entries, opt.max_queues * cpus) ||
	    bpf_map__set_max_entries(bpf->maps.queues, opt.max_queues) ||
	    bpf_map__set_max_entries(bpf->maps.frames, opt.max_queues) ||
	    bpf_map__set_max_entries(bpf->maps.told, opt.max_queues) ||
	    bpf_map__set_max_entries(bpf->maps.packets, opt.max_packets)) {
		say("cannot set the size of a map");
		return -1;
	}
	return 0;
}

static int load(struct hopmon_bpf *bpf)
{
	int err = hopmon_bpf__load(bpf);

	if (!err)
		return 0;
	if (err == -EPERM)
		say("must be root, or have CAP_BPF and CAP_PERFMON");
	else
		say("cannot load the BPF programs: %s (--verbose says more)", strerror(-err));
	return -1;
}

static int attach(struct hopmon_bpf *bpf)
{
	int err = hopmon_bpf__attach(bpf);

	if (!err)
		return 0;
	say("cannot attach to the tracepoints: %s (--verbose says more)%s", strerror(-err),
	    access("/proc/sys/kernel/perf_event_paranoid", F_OK) ?
	    ": this kernel has no perf events" : "");
	return -1;
}

static struct hopmon_bpf *begin(void)
{
	struct hopmon_bpf *bpf;
	char why[1024];

	if (event_check_all(tracefs(), why, sizeof(why))) {
		say("%s", why);
		return NULL;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	libbpf_set_print(libbpf_says);
	bpf = hopmon_bpf__open();
	if (!bpf) {
		say("cannot open the BPF programs: %s", strerror(errno));
		return NULL;
	}
	if (set_up(bpf) || load(bpf) || attach(bpf)) {
		hopmon_bpf__destroy(bpf);
		return NULL;
	}
	return bpf;
}

static const struct hopmon_entry *map_entries(const struct hopmon_bpf *bpf)
{
	size_t size = bpf_map__max_entries(bpf->maps.entries) * sizeof(struct hopmon_entry);
	void *entries;

	entries = mmap(NULL, size, PROT_READ, MAP_SHARED, bpf_map__fd(bpf->maps.entries), 0);
	if (entries == MAP_FAILED) {
		say("cannot map the counters: %s", strerror(errno));
		return NULL;
	}
	return entries;
}

/* Events that were not counted, as a program cannot run inside another. Kernels from 6.7 know. */
static __u64 missed(const struct hopmon_bpf *bpf)
{
	struct bpf_program *prog;
	struct bpf_prog_info info;
	__u32 size;
	__u64 sum = 0;

	bpf_object__for_each_program(prog, bpf->obj) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

/* ---- reports ---- */

static int take(struct snapshot *s, const struct hopmon_bpf *bpf,
		const struct hopmon_entry *entries)
{
	if (snapshot_read(s, entries, bpf->rodata->room_keys, bpf->rodata->room_cpus)) {
		say("cannot read the counters: %s", strerror(errno));
		return -1;
	}
	memcpy(s->full, bpf->bss->full, sizeof(s->full));
	s->missed = missed(bpf);
	return 0;
}

static void table(const struct snapshot *now, const struct snapshot *before)
{
	static bool headed;
	bool screen = isatty(STDOUT_FILENO);

	if (screen)
		fputs("\033[H\033[J", stdout);
	if (screen || !headed)
		show_table_head();
	headed = true;
	show_table(now, before, opt.queues);
	show_losses(now);
}

static void histograms(const struct snapshot *now, bool last)
{
	if (!last && opt.histogram == HISTOGRAM_EXIT)
		return;
	show_histograms(now, opt.queues);
	show_losses(now);
}

static int report(const struct snapshot *now, const struct snapshot *before, __u64 started,
		  bool last)
{
	int err = 0;

	if (opt.json)
		err = show_json(now, started);
	else if (opt.histogram)
		histograms(now, last);
	else
		table(now, before);
	if (fflush(stdout) || err) {
		say("cannot write: %s", strerror(errno));
		return -1;
	}
	return 0;
}

/* Return: true if a signal came before it was @at. */
static bool wait_until(__u64 at, const sigset_t *signals)
{
	struct timespec now, left;
	long long ns;

	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		ns = (long long)at - (now.tv_sec * NSEC + now.tv_nsec);
		if (ns < 0)
			ns = 0;
		left.tv_sec = ns / NSEC;
		left.tv_nsec = ns % NSEC;
		if (sigtimedwait(signals, NULL, &left) >= 0)
			return true;
	} while (errno == EINTR);
	return false;
}

/* The last report of a run that a signal ends is of the interval so far. */
static int watch(const struct hopmon_bpf *bpf, const sigset_t *signals)
{
	const struct hopmon_entry *entries = map_entries(bpf);
	struct snapshot before, now;
	unsigned long n = 0;
	bool last = false;
	__u64 at, started;
	int err;

	if (!entries || take(&before, bpf, entries))
		return -1;
	at = started = before.at;
	do {
		at += opt.interval_ns;
		last = wait_until(at, signals) || ++n == opt.count;
		err = take(&now, bpf, entries);
		if (!err)
			err = report(&now, &before, started, last);
		snapshot_free(&before);
		before = now;
	} while (!err && !last);
	snapshot_free(&before);
	return err;
}

int main(int argc, char **argv)
{
	struct hopmon_bpf *bpf;
	sigset_t signals;
	int err;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);

	bpf = begin();
	if (!bpf)
		return EXIT_FAILURE;
	if (opt.verbose)
		say("counting");
	err = watch(bpf, &signals);
	hopmon_bpf__destroy(bpf);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
