// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - flowgen: runs a trace, and writes when each flow was complete
 */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "flowgen.h"

#ifndef FLOWGEN_VERSION
#define FLOWGEN_VERSION "unknown"
#endif

#define PROGRESS_MS	200
#define LOOK_MS		1000	/* an event may get lost */

const char *argp_program_version = "flowgen " FLOWGEN_VERSION;

enum {
	OPT_ENDS = 256, OPT_TRACE, OPT_OUT, OPT_TRANSPORT, OPT_PAYLOAD, OPT_WINDOW, OPT_ACK,
	OPT_ACK_CLASS, OPT_RTO, OPT_LOCAL, OPT_CC, OPT_PORT, OPT_SEED, OPT_LIMIT, OPT_WATCH,
	OPT_INTERVAL, OPT_WATCH_OUT, OPT_ZERO, OPT_RATE, OPT_DCQCN_CNP, OPT_DCQCN_ALPHA,
	OPT_DCQCN_TIMER, OPT_DCQCN_BYTES, OPT_DCQCN_ADD, OPT_DCQCN_HYPER, OPT_HPCC_RTT,
	OPT_HPCC_ETA, OPT_HPCC_STAGES, OPT_HPCC_ADD,
};

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "Files", 1 },
	{ "endpoints", OPT_ENDS, "FILE", 0, "lines NUMBER NETNS ADDRESS", 0 },
	{ "trace", OPT_TRACE, "FILE", 0, "flows, as sluice-trace writes them", 0 },
	{ "out", OPT_OUT, "FILE", 0, "results, CSV; - is standard output", 0 },
	{ NULL, 0, NULL, 0, "Transport", 2 },
	{ "transport", OPT_TRANSPORT, "gbn|tcp", 0, "default gbn", 0 },
	{ "payload", OPT_PAYLOAD, "BYTES", 0, "gbn: of a full packet, default 1000", 0 },
	{ "window", OPT_WINDOW, "BYTES", 0, "gbn: unacknowledged at most, default 0: any", 0 },
	{ "ack", OPT_ACK, "N", 0, "gbn: acknowledge each N packets, default 1", 0 },
	{ "ack-class", OPT_ACK_CLASS, "0..7", 0,
	  "gbn: class of acknowledgements, default the flow's", 0 },
	{ "rto", OPT_RTO, "TIME", 0, "gbn: retransmission timeout, default 4ms", 0 },
	{ "local", OPT_LOCAL, "N", 0, "gbn: packets of a flow in its own host, default 2", 0 },
	{ "cc", OPT_CC, "NAME", 0, "congestion control: of tcp, the kernel's; of gbn dcqcn "
	  "or hpcc, default none", 0 },
	{ "rate", OPT_RATE, "RATE", 0, "gbn with cc: line rate of the senders", 0 },
	{ "dcqcn-cnp", OPT_DCQCN_CNP, "TIME", 0, "between two CNPs for a flow, default 50us", 0 },
	{ "dcqcn-alpha", OPT_DCQCN_ALPHA, "TIME", 0,
	  "without a CNP, until alpha is less, default 55us", 0 },
	{ "dcqcn-timer", OPT_DCQCN_TIMER, "TIME", 0, "between two increases, default 55us", 0 },
	{ "dcqcn-bytes", OPT_DCQCN_BYTES, "BYTES", 0, "between two increases, default 10MB", 0 },
	{ "dcqcn-add", OPT_DCQCN_ADD, "RATE", 0, "additive increase, default RATE / 1000", 0 },
	{ "dcqcn-hyper", OPT_DCQCN_HYPER, "RATE", 0, "hyper increase, default RATE / 100", 0 },
	{ "hpcc-rtt", OPT_HPCC_RTT, "TIME", 0, "base RTT of the network, default 13us", 0 },
	{ "hpcc-eta", OPT_HPCC_ETA, "PERCENT", 0, "target utilization, default 95", 0 },
	{ "hpcc-stages", OPT_HPCC_STAGES, "N", 0,
	  "additive increases before the window is set by measurement, default 5", 0 },
	{ "hpcc-add", OPT_HPCC_ADD, "BYTES", 0,
	  "additive increase, default RATE * RTT * (1 - ETA) / 100", 0 },
	{ "port", OPT_PORT, "N", 0, "of UDP or TCP, default 4790", 0 },
	{ "seed", OPT_SEED, "N", 0, "of source ports, default 0", 0 },
	{ "limit", OPT_LIMIT, "TIME", 0, "give up after that; default never", 0 },
	{ NULL, 0, NULL, 0, "Samples", 3 },
	{ "watch", OPT_WATCH, "FILE", 0, "ports to sample: lines NAME NETNS DEV", 0 },
	{ "interval", OPT_INTERVAL, "TIME", 0, "between two samples", 0 },
	{ "watch-out", OPT_WATCH_OUT, "FILE", 0, "samples, CSV", 0 },
	{ "zero", OPT_ZERO, "FILE", 0, "gets CLOCK_MONOTONIC at the trace's time 0", 0 },
	{ NULL, 0, NULL, 0, "Summary", 4 },
	{ "json", 'j', NULL, 0, "as JSON", 0 },
	{ "quiet", 'q', NULL, 0, "none, and no progress", 0 },
	{}
};

/**
 * struct unit - what may stand behind a number
 * @name: of the unit
 * @factor: its size
 */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit no_units[] = { { "", 1 }, {} };
static const struct unit byte_units[] = {
	{ "", 1 }, { "b", 1 }, { "k", 1000 }, { "kb", 1000 }, { "m", 1000000 },
	{ "mb", 1000000 }, { "g", 1000000000 }, { "gb", 1000000000 },
	{ "kib", 1 << 10 }, { "mib", 1 << 20 }, { "gib", 1 << 30 }, {}
};
static const struct unit time_units[] = {
	{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 }, { "", 1 }, {}
};

static const struct unit rate_units[] = {
	{ "bit", 1 }, { "kbit", 1000 }, { "mbit", 1000000 }, { "gbit", 1000000000 }, { "", 1 }, {}
};

static uint64_t number(const char *arg, const struct unit *units, uint64_t max, const char *what,
		       struct argp_state *state)
{
	unsigned long long value = 0;
	char *end = NULL;

	errno = 0;
	if (arg[0] >= '0' && arg[0] <= '9')
		value = strtoull(arg, &end, 10);
	for (; end && units->name; units++) {
		if (strcasecmp(end, units->name))
			continue;
		if (errno || value > max / units->factor)
			argp_error(state, "%s is too large: %s", what, arg);
		return value * units->factor;
	}
	argp_error(state, "%s is not understood: %s", what, arg);
	exit(EXIT_USAGE);
}

/* Return: 1/10000, exactly: two digits behind the point at most. "%" may be left out, as in tc. */
static uint64_t percent(const char *arg, const char *what, struct argp_state *state)
{
	unsigned long long whole = 0, part = 0;
	char *end = NULL;
	size_t digits;

	errno = 0;
	if (arg[0] >= '0' && arg[0] <= '9')
		whole = strtoull(arg, &end, 10);
	if (end && *end == '.') {
		digits = strspn(++end, "0123456789");
		if (digits == 1 || digits == 2)
			part = strtoul(end, &end, 10) * (digits == 1 ? 10 : 1);
		else
			end = NULL;
	}
	if (!end || (*end && strcmp(end, "%")))
		argp_error(state, "%s is not understood: %s", what, arg);
	if (errno || whole >= UINT32_MAX / 100)
		argp_error(state, "%s is too large: %s", what, arg);
	return whole * 100 + part;
}

/* An option that is a number: the kernel knows its range. */
static void set(struct options *opt, unsigned int attr, uint64_t value)
{
	opt->given |= 1ULL << attr;
	opt->number[attr] = value;
}

static void set_transport(struct options *opt, const char *arg, struct argp_state *state)
{
	if (!strcmp(arg, "gbn"))
		set(opt, FLOWGEN_A_TRANSPORT, FLOWGEN_TRANSPORT_GBN);
	else if (!strcmp(arg, "tcp"))
		set(opt, FLOWGEN_A_TRANSPORT, FLOWGEN_TRANSPORT_TCP);
	else
		argp_error(state, "transport must be gbn or tcp: %s", arg);
}

static void need(const struct options *opt, struct argp_state *state)
{
	if (!opt->ends || !opt->trace || !opt->out)
		argp_error(state, "--endpoints, --trace and --out are needed");
	if (!opt->watch != !opt->watch_out ||
	    !opt->watch != !(opt->given & 1ULL << FLOWGEN_A_INTERVAL))
		argp_error(state, "--watch, --interval and --watch-out go together");
	if (opt->cc && opt->number[FLOWGEN_A_TRANSPORT] != FLOWGEN_TRANSPORT_TCP &&
	    !(opt->given & 1ULL << FLOWGEN_A_RATE))
		argp_error(state, "--cc of --transport gbn needs --rate");
}

static const struct {
	int key;
	unsigned int attr;
	const struct unit *units;
	uint64_t max;
	const char *what;
} numbers[] = {
	{ OPT_PAYLOAD, FLOWGEN_A_PAYLOAD, byte_units, UINT32_MAX, "payload" },
	{ OPT_WINDOW, FLOWGEN_A_WINDOW, byte_units, UINT64_MAX, "window" },
	{ OPT_ACK, FLOWGEN_A_ACK, no_units, UINT32_MAX, "ack" },
	{ OPT_ACK_CLASS, FLOWGEN_A_ACK_CLASS, no_units, UINT8_MAX, "ack-class" },
	{ OPT_RTO, FLOWGEN_A_RTO, time_units, UINT64_MAX, "rto" },
	{ OPT_LOCAL, FLOWGEN_A_LOCAL, no_units, UINT32_MAX, "local" },
	{ OPT_PORT, FLOWGEN_A_PORT, no_units, UINT16_MAX, "port" },
	{ OPT_SEED, FLOWGEN_A_SEED, no_units, UINT64_MAX, "seed" },
	{ OPT_LIMIT, FLOWGEN_A_LIMIT, time_units, UINT64_MAX, "limit" },
	{ OPT_INTERVAL, FLOWGEN_A_INTERVAL, time_units, UINT64_MAX, "interval" },
	{ OPT_RATE, FLOWGEN_A_RATE, rate_units, UINT64_MAX, "rate" },
	{ OPT_DCQCN_CNP, FLOWGEN_A_DCQCN_CNP, time_units, UINT64_MAX, "dcqcn-cnp" },
	{ OPT_DCQCN_ALPHA, FLOWGEN_A_DCQCN_ALPHA, time_units, UINT64_MAX, "dcqcn-alpha" },
	{ OPT_DCQCN_TIMER, FLOWGEN_A_DCQCN_TIMER, time_units, UINT64_MAX, "dcqcn-timer" },
	{ OPT_DCQCN_BYTES, FLOWGEN_A_DCQCN_BYTES, byte_units, UINT64_MAX, "dcqcn-bytes" },
	{ OPT_DCQCN_ADD, FLOWGEN_A_DCQCN_ADD, rate_units, UINT64_MAX, "dcqcn-add" },
	{ OPT_DCQCN_HYPER, FLOWGEN_A_DCQCN_HYPER, rate_units, UINT64_MAX, "dcqcn-hyper" },
	{ OPT_HPCC_RTT, FLOWGEN_A_HPCC_RTT, time_units, UINT64_MAX, "hpcc-rtt" },
	{ OPT_HPCC_STAGES, FLOWGEN_A_HPCC_STAGES, no_units, UINT32_MAX, "hpcc-stages" },
	{ OPT_HPCC_ADD, FLOWGEN_A_HPCC_ADD, byte_units, UINT64_MAX, "hpcc-add" },
};

static error_t parse_number(int key, char *arg, struct argp_state *state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].key != key)
			continue;
		set(state->input, numbers[i].attr,
		    number(arg, numbers[i].units, numbers[i].max, numbers[i].what, state));
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *opt = state->input;

	switch (key) {
	case OPT_ENDS:
		opt->ends = arg;
		return 0;
	case OPT_TRACE:
		opt->trace = arg;
		return 0;
	case OPT_OUT:
		opt->out = arg;
		return 0;
	case OPT_TRANSPORT:
		set_transport(opt, arg, state);
		return 0;
	case OPT_CC:
		opt->cc = arg;
		return 0;
	case OPT_HPCC_ETA:
		set(opt, FLOWGEN_A_HPCC_ETA, percent(arg, "hpcc-eta", state));
		return 0;
	case OPT_WATCH:
		opt->watch = arg;
		return 0;
	case OPT_WATCH_OUT:
		opt->watch_out = arg;
		return 0;
	case OPT_ZERO:
		opt->zero = arg;
		return 0;
	case 'j':
		opt->json = true;
		return 0;
	case 'q':
		opt->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num || strcmp(arg, "run"))
			argp_error(state, "there is one verb, run: %s", arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a verb is needed: run");
		return 0;
	case ARGP_KEY_END:
		need(opt, state);
		return 0;
	}
	return parse_number(key, arg, state);
}

/* For programs that look at the network meanwhile. Whole at once: they wait for the file. */
static void zero_write(const char *file, uint64_t ns)
{
	char *part;
	FILE *f;

	if (asprintf(&part, "%s.new", file) < 0)
		die("no memory");
	f = output_open(part);
	fprintf(f, "%llu\n", (unsigned long long)ns);
	output_close(f, part);
	if (rename(part, file))
		die("%s: %s", file, strerror(errno));
	free(part);
}

/* Until the run is over, with its samples. */
static void watch_run(const struct options *opt, const struct input *in, FILE *samples,
		      struct status *status)
{
	bool progress = !opt->quiet && isatty(STDERR_FILENO);

	do {
		kernel_status(status);
		if (progress)
			output_progress(in, status, status->state != FLOWGEN_STATE_RUNNING);
		if (status->samples && samples)
			output_samples(samples, in);
		else if (status->state == FLOWGEN_STATE_RUNNING)
			kernel_wait(progress ? PROGRESS_MS : LOOK_MS);
	} while (status->state == FLOWGEN_STATE_RUNNING || (samples && status->samples));
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "run",
		.doc = "Runs a trace of flows between network namespaces; see flowgen(8).",
	};
	FILE *out, *samples = NULL;
	struct options opt = {};
	struct status status;
	struct input in = {};
	uint64_t zero_ns;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &opt);
	read_ends(&in, opt.ends);
	read_trace(&in, opt.trace);
	if (opt.watch)
		read_watch(&in, opt.watch);
	kernel_setup(&opt, &in);
	out = output_open(opt.out);
	if (opt.watch_out) {
		samples = output_open(opt.watch_out);
		output_samples_head(samples);
	}
	zero_ns = kernel_start();
	if (opt.zero)
		zero_write(opt.zero, zero_ns);
	watch_run(&opt, &in, samples, &status);
	output_flows(out, &in);
	output_close(out, opt.out);
	if (samples)
		output_close(samples, opt.watch_out);
	output_summary(&opt, &in, &status);
	if (status.count[FLOWGEN_C_SAMPLES_LOST])
		die("%llu samples were lost: a longer --interval, or fewer ports",
		    (unsigned long long)status.count[FLOWGEN_C_SAMPLES_LOST]);
	return status.count[FLOWGEN_C_COMPLETED] == in.n_flows ? EXIT_COMPLETE : EXIT_INCOMPLETE;
}
