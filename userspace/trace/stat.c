// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat.c - sluice-trace stat: what a trace has
 *
 * Loads count what begins during the duration, be it finished then or not.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "law.h"
#include "trace.h"
#include "words.h"

/* Facts that the comments of a trace say, or options. */
enum fact {
	FACT_HOSTS, FACT_PER_RACK, FACT_RATE, FACT_UPLINKS, FACT_DURATION, FACT_PAYLOAD,
	FACT_HEADER, FACT_MIN_FRAME, FACTS,
};

static const struct {
	const char *name;
	const char *note;	/* whose values are plain numbers */
	int (*word)(const char *word, uint64_t *v);
	uint64_t least, most;
} facts[FACTS] = {
	[FACT_HOSTS] = { "hosts", "hosts", NULL, 1, TRACE_HOSTS_MAX },
	[FACT_PER_RACK] = { "per-rack", "per-rack", NULL, 1, TRACE_HOSTS_MAX },
	[FACT_RATE] = { "rate", "rate", word_rate, 1, UINT64_C(1000000000000000) },
	[FACT_UPLINKS] = { "uplinks", "uplinks", word_rate, 1, UINT64_C(1000000000000000000) },
	[FACT_DURATION] = { "duration", "duration-ns", word_time, 1, TRACE_START_MAX },
	[FACT_PAYLOAD] = { "payload", "payload", word_size, 1, 65535 },
	[FACT_HEADER] = { "header", "header", word_size, 0, 65535 },
	[FACT_MIN_FRAME] = { "min-frame", "min-frame", word_size, 0, 65535 },
};

static const struct {
	const char *name;
	double share;
} percentiles[] = {
	{ "p10", 0.1 }, { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 },
};

#define LABELS_MAX	64

/**
 * struct stat_call - how stat was called
 */
struct stat_call {
	const char *file;
	bool json;
	bool each;
	const char *label;
	uint64_t degree;
	uint64_t within;
	bool given[FACTS];
	uint64_t value[FACTS];
};

/**
 * struct load - of links of one kind in one direction
 * @name: of them
 * @bytes: on the line, of each
 * @count: how many
 * @rate: bit/s of each, 0 if it is not known
 */
struct load {
	const char *name;
	uint64_t *bytes;
	size_t count;
	uint64_t rate;
};

/**
 * struct label - flows of one label
 */
struct label {
	char name[TRACE_LABEL_MAX + 1];
	uint64_t flows;
	uint64_t bytes;
};

/**
 * struct summary - what there is to say
 */
struct summary {
	uint64_t fact[FACTS];
	struct frame frame;
	uint64_t flows, bytes, line_bytes, first_ns, last_ns;
	uint64_t least, most;		/* of the sizes */
	uint64_t percentile[ARRAY_SIZE(percentiles)];
	uint64_t within_racks;		/* flows */
	struct load loads[4];
	struct label labels[LABELS_MAX];
	size_t n_labels;
	uint64_t incasts, incast_flows, incast_bytes, incast_most;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_call *call = state->input;
	enum fact fact = key - 0x100;

	switch (key) {
	case 'j':
		call->json = true;
		return 0;
	case 'e':
		call->each = true;
		return 0;
	case 'l':
		call->label = arg;
		return 0;
	case 'd':
		if (word_number(arg, UINT32_MAX, &call->degree) || call->degree < 2)
			argp_error(state, "--degree takes a number from 2, not \"%s\"", arg);
		return 0;
	case 'w':
		if (word_time(arg, &call->within))
			argp_error(state, "--within takes a time such as 1us, not \"%s\"", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (call->file)
			argp_error(state, "one file, not also \"%s\"", arg);
		call->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which file?");
		return 0;
	}
	if (key < 0x100 || fact >= FACTS)
		return ARGP_ERR_UNKNOWN;
	if ((facts[fact].word ? facts[fact].word(arg, &call->value[fact]) :
	     word_number(arg, facts[fact].most, &call->value[fact])) ||
	    call->value[fact] < facts[fact].least || call->value[fact] > facts[fact].most)
		argp_error(state, "\"%s\" is no value for --%s", arg, facts[fact].name);
	call->given[fact] = true;
	return 0;
}

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "print JSON", 1 },
	{ "each", 'e', NULL, 0, "also the load of each link", 1 },
	{ "label", 'l', "WORD", 0, "only flows of this label", 1 },
	{ "degree", 'd', "N", 0, "an incast is so many flows to one host at once (5)", 1 },
	{ "within", 'w', "TIME", 0, "or within that time (0)", 1 },
	{ NULL, 0, NULL, 0, "If the file does not say it, or not right:", 2 },
	{ "hosts", 0x100 + FACT_HOSTS, "N", 0, "", 2 },
	{ "per-rack", 0x100 + FACT_PER_RACK, "N", 0, "", 2 },
	{ "rate", 0x100 + FACT_RATE, "RATE", 0, "of a host's link", 2 },
	{ "uplinks", 0x100 + FACT_UPLINKS, "RATE", 0, "of a rack, all together", 2 },
	{ "duration", 0x100 + FACT_DURATION, "TIME", 0, "", 2 },
	{ "payload", 0x100 + FACT_PAYLOAD, "BYTES", 0, "", 2 },
	{ "header", 0x100 + FACT_HEADER, "BYTES", 0, "", 2 },
	{ "min-frame", 0x100 + FACT_MIN_FRAME, "BYTES", 0, "", 2 },
	{}
};

static void *room_of(size_t count, size_t size)
{
	void *room = calloc(count ? count : 1, size);

	if (!room)
		die(EXIT_TROUBLE, "out of memory");
	return room;
}

/* An option, else a comment, else a default. */
static void learn(struct summary *s, const struct stat_call *call, const struct trace *t)
{
	static const uint64_t defaults[FACTS] = {
		[FACT_PAYLOAD] = 1000, [FACT_HEADER] = 62, [FACT_MIN_FRAME] = 64,
	};
	const char *note;

	for (int fact = 0; fact < FACTS; fact++) {
		s->fact[fact] = call->given[fact] ? call->value[fact] : defaults[fact];
		note = trace_noted(t, facts[fact].note);
		if (call->given[fact] || !note)
			continue;
		if (word_number(note, facts[fact].most, &s->fact[fact]) ||
		    s->fact[fact] < facts[fact].least)
			die(EXIT_TROUBLE, "%s: its comment says \"%s %.32s\", which cannot be",
			    file_name(call->file), facts[fact].note, note);
	}
	s->frame = (struct frame) { s->fact[FACT_PAYLOAD], s->fact[FACT_HEADER],
				    s->fact[FACT_MIN_FRAME] };
	for (const struct trace_flow *flow = t->flows; flow < t->flows + t->count; flow++) {
		uint32_t host = flow->src > flow->dst ? flow->src : flow->dst;

		if (call->given[FACT_HOSTS] && host >= s->fact[FACT_HOSTS])
			die(EXIT_TROUBLE, "%s: host %u is not below --hosts",
			    file_name(call->file), host);
		if (host >= s->fact[FACT_HOSTS])
			s->fact[FACT_HOSTS] = host + 1;
	}
	if (!s->fact[FACT_DURATION] && t->count)
		s->fact[FACT_DURATION] = t->flows[t->count - 1].start_ns;
}

static struct label *label_of(struct summary *s, const char *name)
{
	struct label *label = s->labels;

	while (label < s->labels + s->n_labels && strcmp(label->name, name))
		label++;
	if (label < s->labels + s->n_labels)
		return label;
	/* the last one takes all that have no room */
	if (s->n_labels == LABELS_MAX)
		return &s->labels[LABELS_MAX - 1];
	strcpy(label->name, s->n_labels == LABELS_MAX - 1 ? "others" : name);
	s->n_labels++;
	return label;
}

static void count_flow(struct summary *s, const struct trace_flow *flow)
{
	uint64_t per_rack = s->fact[FACT_PER_RACK], line = frame_bytes(&s->frame, flow->bytes);
	struct label *label = label_of(s, flow->label);

	s->flows++;
	s->bytes += flow->bytes;
	s->line_bytes += line;
	label->flows++;
	label->bytes += flow->bytes;
	s->last_ns = flow->start_ns;
	s->loads[0].bytes[flow->src] += line;
	s->loads[1].bytes[flow->dst] += line;
	if (!per_rack)
		return;
	if (flow->src / per_rack == flow->dst / per_rack) {
		s->within_racks++;
	} else {
		s->loads[2].bytes[flow->src / per_rack] += line;
		s->loads[3].bytes[flow->dst / per_rack] += line;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank: the least size that at least this share of flows does not exceed. */
static void count_sizes(struct summary *s, const struct trace *t)
{
	uint64_t *sizes = room_of(t->count, sizeof(*sizes));

	for (size_t i = 0; i < t->count; i++)
		sizes[i] = t->flows[i].bytes;
	qsort(sizes, t->count, sizeof(*sizes), by_number);
	for (size_t i = 0; i < ARRAY_SIZE(percentiles) && t->count; i++) {
		double rank = percentiles[i].share * t->count;
		size_t n = (size_t)rank;

		s->percentile[i] = sizes[n < rank || !n ? n : n - 1];
	}
	if (t->count) {
		s->least = sizes[0];
		s->most = sizes[t->count - 1];
	}
	free(sizes);
}

/**
 * struct burst - flows to one host that began within the time since the first of them
 */
struct burst {
	uint64_t first_ns, flows, bytes;
};

static void burst_end(struct summary *s, struct burst *burst, uint64_t degree)
{
	if (burst->flows >= degree) {
		s->incasts++;
		s->incast_flows += burst->flows;
		s->incast_bytes += burst->bytes;
		if (burst->flows > s->incast_most)
			s->incast_most = burst->flows;
	}
	burst->flows = burst->bytes = 0;
}

static void count_incasts(struct summary *s, const struct trace *t, const struct stat_call *call)
{
	struct burst *bursts = room_of(s->fact[FACT_HOSTS], sizeof(*bursts)), *burst;

	for (size_t i = 0; i < t->count; i++) {
		burst = &bursts[t->flows[i].dst];
		if (burst->flows && t->flows[i].start_ns - burst->first_ns > call->within)
			burst_end(s, burst, call->degree);
		if (!burst->flows)
			burst->first_ns = t->flows[i].start_ns;
		burst->flows++;
		burst->bytes += t->flows[i].bytes;
	}
	for (size_t i = 0; i < s->fact[FACT_HOSTS]; i++)
		burst_end(s, &bursts[i], call->degree);
	free(bursts);
}

static void sum_up(struct summary *s, const struct trace *t, const struct stat_call *call)
{
	uint64_t hosts, racks = 0;

	learn(s, call, t);
	hosts = s->fact[FACT_HOSTS];
	if (s->fact[FACT_PER_RACK])
		racks = (hosts + s->fact[FACT_PER_RACK] - 1) / s->fact[FACT_PER_RACK];
	s->loads[0] = (struct load) { "hosts, sent", NULL, hosts, s->fact[FACT_RATE] };
	s->loads[1] = (struct load) { "hosts, received", NULL, hosts, s->fact[FACT_RATE] };
	s->loads[2] = (struct load) { "racks, up", NULL, racks, s->fact[FACT_UPLINKS] };
	s->loads[3] = (struct load) { "racks, down", NULL, racks, s->fact[FACT_UPLINKS] };
	for (size_t i = 0; i < ARRAY_SIZE(s->loads); i++)
		s->loads[i].bytes = room_of(s->loads[i].count, sizeof(uint64_t));
	s->first_ns = t->count ? t->flows[0].start_ns : 0;
	for (size_t i = 0; i < t->count; i++)
		count_flow(s, &t->flows[i]);
	count_sizes(s, t);
	count_incasts(s, t, call);
}

static double share_of(const struct summary *s, const struct load *load, double bytes)
{
	return bytes * 8 * 1e9 / ((double)load->rate * s->fact[FACT_DURATION]);
}

/* Mean and largest. Return: whether the load can be told. */
static bool load_of(const struct summary *s, const struct load *load, double *mean, double *most)
{
	uint64_t sum = 0, max = 0;

	if (!load->rate || !load->count || !s->fact[FACT_DURATION])
		return false;
	for (size_t i = 0; i < load->count; i++) {
		sum += load->bytes[i];
		if (load->bytes[i] > max)
			max = load->bytes[i];
	}
	*mean = share_of(s, load, (double)sum / load->count);
	*most = share_of(s, load, max);
	return true;
}

static void show(const struct summary *s)
{
	double mean, most;

	printf("flows         %" PRIu64 "\n", s->flows);
	printf("bytes         %" PRIu64 ", on the line %" PRIu64 "\n", s->bytes, s->line_bytes);
	printf("starts        %" PRIu64 " to %" PRIu64 " ns, duration %" PRIu64 " ns\n", s->first_ns,
	       s->last_ns, s->fact[FACT_DURATION]);
	printf("hosts         %" PRIu64, s->fact[FACT_HOSTS]);
	if (s->fact[FACT_PER_RACK])
		printf(" in %zu racks, %" PRIu64 " flows stay in theirs", s->loads[2].count,
		       s->within_racks);
	printf("\nsizes         mean %.1f, %" PRIu64 " to %" PRIu64, s->flows ?
	       (double)s->bytes / s->flows : 0, s->least, s->most);
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		printf(", %s %" PRIu64, percentiles[i].name, s->percentile[i]);
	putchar('\n');
	for (size_t i = 0; i < ARRAY_SIZE(s->loads); i++)
		if (load_of(s, &s->loads[i], &mean, &most))
			printf("load          %-15s mean %6.2f %%, largest %6.2f %%\n",
			       s->loads[i].name, 100 * mean, 100 * most);
	printf("incasts       %" PRIu64, s->incasts);
	if (s->incasts)
		printf(" with %" PRIu64 " flows, %" PRIu64 " bytes, the largest of %" PRIu64 " flows",
		       s->incast_flows, s->incast_bytes, s->incast_most);
	putchar('\n');
	for (size_t i = 0; i < s->n_labels; i++)
		printf("label         %-15s %" PRIu64 " flows, %" PRIu64 " bytes\n",
		       s->labels[i].name, s->labels[i].flows, s->labels[i].bytes);
}

/* A line for each host, then for each rack. */
static void show_each(const struct summary *s)
{
	double mean, most;

	for (size_t kind = 0; kind < ARRAY_SIZE(s->loads); kind += 2) {
		const struct load *out = &s->loads[kind], *in = out + 1;

		if (!load_of(s, out, &mean, &most))
			continue;
		for (size_t i = 0; i < out->count; i++)
			printf("%s %-8zu %s %6.2f %%, %s %6.2f %%\n", kind ? "rack" : "host", i,
			       kind ? "up" : "sent", 100 * share_of(s, out, out->bytes[i]),
			       kind ? "down" : "received", 100 * share_of(s, in, in->bytes[i]));
	}
}

static json_t *loads_json(const struct summary *s)
{
	static const char * const keys[] = { "host_sent", "host_received", "rack_up", "rack_down" };
	json_t *loads = json_object(), *links;
	double mean, most;

	for (size_t i = 0; i < ARRAY_SIZE(s->loads); i++) {
		if (!load_of(s, &s->loads[i], &mean, &most))
			continue;
		links = json_array();
		for (size_t k = 0; k < s->loads[i].count; k++)
			json_array_append_new(links, json_real(share_of(s, &s->loads[i],
							       s->loads[i].bytes[k])));
		json_object_set_new(loads, keys[i], json_pack("{s:f, s:f, s:o}", "mean", mean,
				    "max", most, "each", links));
	}
	return loads;
}

static json_t *number(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static void show_json(const struct summary *s)
{
	json_t *sizes, *labels = json_object(), *root;

	sizes = json_pack("{s:f, s:o, s:o}", "mean", s->flows ? (double)s->bytes / s->flows : 0.0,
			  "min", number(s->least), "max", number(s->most));
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		json_object_set_new(sizes, percentiles[i].name, number(s->percentile[i]));
	for (size_t i = 0; i < s->n_labels; i++)
		json_object_set_new(labels, s->labels[i].name, json_pack("{s:o, s:o}", "flows",
				    number(s->labels[i].flows), "bytes",
				    number(s->labels[i].bytes)));
	root = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "flows", number(s->flows), "bytes", number(s->bytes),
			 "line_bytes", number(s->line_bytes), "first_ns", number(s->first_ns),
			 "last_ns", number(s->last_ns), "duration_ns", number(s->fact[FACT_DURATION]),
			 "hosts", number(s->fact[FACT_HOSTS]), "racks", number(s->loads[2].count),
			 "within_racks", number(s->within_racks), "sizes", sizes,
			 "loads", loads_json(s), "labels", labels);
	json_object_set_new(root, "incasts", json_pack("{s:o, s:o, s:o, s:o}",
			    "count", number(s->incasts), "flows", number(s->incast_flows),
			    "bytes", number(s->incast_bytes), "degree", number(s->incast_most)));
	json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(root);
}

/* Leaves only flows of one label. */
static void keep_label(struct trace *t, const char *label)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->flows[i].label, label))
			t->flows[n++] = t->flows[i];
	t->count = n;
}

int verb_stat(int argc, char **argv)
{
	const struct argp argp = { .options = options, .parser = parse, .args_doc = "FILE",
		.doc = "What a trace has: flows, bytes, loads, sizes, incasts." };
	struct stat_call call = { .degree = 5 };
	struct summary *s = room_of(1, sizeof(*s));
	struct trace t = { .count = 0 };
	char error[TRACE_ERROR_MAX];
	FILE *f;

	verb_words(&argp, argc, argv, &call);
	f = file_open(call.file);
	if (trace_read(&t, f, file_name(call.file), error))
		die(EXIT_TROUBLE, "%s", error);
	if (f != stdin)
		fclose(f);
	if (call.label)
		keep_label(&t, call.label);
	sum_up(s, &t, &call);
	if (call.json)
		show_json(s);
	else
		show(s);
	if (call.each && !call.json)
		show_each(s);
	for (size_t i = 0; i < ARRAY_SIZE(s->loads); i++)
		free(s->loads[i].bytes);
	trace_free(&t);
	free(s);
	return EXIT_OK;
}
