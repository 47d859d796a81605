// SPDX-License-Identifier: GPL-2.0-only
/*
 * output.c - results, samples, summary
 *
 * No wall time is in any of it, so that two runs in virtual time can be compared byte by byte.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flowgen.h"

static const struct {
	unsigned int counter;
	const char *name;
} counters[] = {
	{ FLOWGEN_C_COMPLETED, "completed" },
	{ FLOWGEN_C_GIVEN_UP, "given_up" },
	{ FLOWGEN_C_PACKETS, "packets" },
	{ FLOWGEN_C_RETRANSMITS, "retransmits" },
	{ FLOWGEN_C_TIMEOUTS, "timeouts" },
	{ FLOWGEN_C_RECEIVED, "received" },
	{ FLOWGEN_C_DUPLICATES, "duplicates" },
	{ FLOWGEN_C_GAPS, "gaps" },
	{ FLOWGEN_C_ACKS, "acks" },
	{ FLOWGEN_C_NACKS, "nacks" },
	{ FLOWGEN_C_CNPS, "cnps" },
	{ FLOWGEN_C_CNPS_HEARD, "cnps_heard" },
	{ FLOWGEN_C_STALE_ACKS, "stale_acks" },
	{ FLOWGEN_C_LOCAL_DROPS, "local_drops" },
	{ FLOWGEN_C_NO_ROUTE, "no_route" },
	{ FLOWGEN_C_NO_MEMORY, "no_memory" },
	{ FLOWGEN_C_TOO_BIG, "too_big" },
	{ FLOWGEN_C_RX_MALFORMED, "rx_malformed" },
	{ FLOWGEN_C_RX_RUN, "rx_run" },
	{ FLOWGEN_C_RX_FLOW, "rx_flow" },
	{ FLOWGEN_C_RX_ADDRESS, "rx_address" },
	{ FLOWGEN_C_RX_PACKET, "rx_packet" },
	{ FLOWGEN_C_SAMPLES_LOST, "samples_lost" },
};

FILE *output_open(const char *file)
{
	FILE *f = strcmp(file, "-") ? fopen(file, "we") : stdout;

	if (!f)
		die("%s: %s", file, strerror(errno));
	return f;
}

void output_close(FILE *f, const char *file)
{
	if (fflush(f) || ferror(f) || (f != stdout && fclose(f)))
		die("%s: %s", file, strerror(errno));
}

/**
 * struct flows_out - results being written
 * @f: to there
 * @in: the trace
 * @next: flow
 */
struct flows_out {
	FILE *f;
	const struct input *in;
	uint32_t next;
};

static void put_time(FILE *f, uint64_t ns)
{
	if (ns == FLOWGEN_NEVER)
		fputc(',', f);
	else
		fprintf(f, "%" PRIu64 ",", ns);
}

static void put_results(void *ctx, uint32_t first, const struct flowgen_result *r, uint32_t n)
{
	struct flows_out *out = ctx;
	const struct flow *flow;
	uint32_t i;

	if (first != out->next || n > out->in->n_flows - first)
		die("results of flows %u to %u came instead of those from %u on", first,
		    first + n, out->next);
	for (i = 0; i < n; i++, r++) {
		flow = &out->in->flows[first + i];
		fprintf(out->f, "%u,%u,%u,%" PRIu64 ",%u,%s,%" PRIu64 ",", first + i,
			flow->spec.src, flow->spec.dst, (uint64_t)flow->spec.bytes,
			flow->spec.class, out->in->labels[flow->label],
			(uint64_t)flow->spec.start_ns);
		put_time(out->f, r->done_ns);
		put_time(out->f, r->acked_ns);
		fprintf(out->f, "%" PRIu64 ",%" PRIu64 ",%u\n", (uint64_t)r->packets,
			(uint64_t)r->retransmits, r->timeouts);
	}
	out->next += n;
}

void output_flows(FILE *f, const struct input *in)
{
	struct flows_out out = { .f = f, .in = in };

	fputs("flow,src,dst,bytes,class,label,start_ns,done_ns,acked_ns,packets,retransmits,"
	      "timeouts\n", f);
	kernel_results(put_results, &out);
	if (out.next != in->n_flows)
		die("results of %u flows came, of %u", out.next, in->n_flows);
}

/**
 * struct samples_out - samples being written
 * @f: to there
 * @in: names of ports
 */
struct samples_out {
	FILE *f;
	const struct input *in;
};

static void put_samples(void *ctx, const struct flowgen_sample *s, uint32_t n)
{
	const struct samples_out *out = ctx;

	for (; n; n--, s++) {
		if (s->port >= out->in->n_ports)
			die("a sample of port %u came", s->port);
		fprintf(out->f, "%" PRIu64 ",%s,%" PRIu64 ",%u,%" PRIu64 "\n",
			(uint64_t)s->time_ns, out->in->ports[s->port].name,
			(uint64_t)s->backlog_bytes, s->backlog_packets, (uint64_t)s->tx_bytes);
	}
}

void output_samples_head(FILE *f)
{
	fputs("t_ns,port,backlog_bytes,backlog_packets,tx_bytes\n", f);
}

void output_samples(FILE *f, const struct input *in)
{
	struct samples_out out = { .f = f, .in = in };

	kernel_samples(put_samples, &out);
}

void output_progress(const struct input *in, const struct status *status, bool last)
{
	fprintf(stderr, "\r%u of %u flows, %.3f ms%s", in->n_flows - status->left, in->n_flows,
		status->time_ns / 1e6, last ? "\n" : "");
	fflush(stderr);
}

static const char *state_name(const struct status *status)
{
	return status->state == FLOWGEN_STATE_LIMIT ? "limit" : "done";
}

static void summary_json(const struct options *opt, const struct input *in,
			 const struct status *status)
{
	unsigned int i;

	printf("{\n  \"transport\": \"%s\",\n  \"state\": \"%s\",\n  \"time_ns\": %" PRIu64
	       ",\n  \"flows\": %u",
	       opt->number[FLOWGEN_A_TRANSPORT] == FLOWGEN_TRANSPORT_TCP ? "tcp" : "gbn",
	       state_name(status), status->time_ns, in->n_flows);
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		printf(",\n  \"%s\": %" PRIu64, counters[i].name,
		       status->count[counters[i].counter]);
	printf("\n}\n");
}

/* Counters that are zero say nothing. */
static void summary_text(const struct input *in, const struct status *status)
{
	unsigned int i;

	printf("%s after %" PRIu64 " ns: %" PRIu64 " of %u flows complete\n", state_name(status),
	       status->time_ns, status->count[FLOWGEN_C_COMPLETED], in->n_flows);
	for (i = 1; i < ARRAY_SIZE(counters); i++)
		if (status->count[counters[i].counter])
			printf("  %-14s %" PRIu64 "\n", counters[i].name,
			       status->count[counters[i].counter]);
}

void output_summary(const struct options *opt, const struct input *in,
		    const struct status *status)
{
	if (opt->json)
		summary_json(opt, in, status);
	else if (!opt->quiet)
		summary_text(in, status);
}
