/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flowgen.h - what the files of the command share
 *
 *   main.c     options
 *   output.c   results, samples, summary
 *   kernel.c   the run, by generic netlink
 *   input.c    traces, endpoints, watched ports
 *   die.c      what is wrong
 *
 * A file calls those below it in this list, and none above.
 */
#ifndef _FLOWGEN_FLOWGEN_H
#define _FLOWGEN_FLOWGEN_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../../kernel/uapi/flowgen.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define LABEL_MAX	15
#define LABELS_MAX	65535

enum {
	EXIT_COMPLETE = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_INCOMPLETE = 3,
};

/**
 * struct end - an endpoint
 * @number: in the trace
 * @line: of the file
 * @netns: open namespace
 * @family: AF_INET or AF_INET6; 0: there is none of this number
 * @address: of that family
 * @rate: bit/s, 0: that of the run
 */
struct end {
	uint32_t number;
	unsigned int line;
	int netns;
	int family;
	unsigned char address[16];
	uint64_t rate;
};

/**
 * struct port - a watched port
 * @name: in samples
 * @device: of the namespace
 * @netns: open namespace
 * @line: of the file
 */
struct port {
	char *name;
	char *device;
	int netns;
	unsigned int line;
};

/**
 * struct flow - a flow
 * @spec: for the kernel
 * @label: index into the labels
 */
struct flow {
	struct flowgen_flow spec;
	uint16_t label;
};

/**
 * struct input - all that was read
 * @ends: by number
 * @n_ends: greatest number + 1
 * @flows: trace
 * @n_flows: of it
 * @labels: words
 * @n_labels: of them
 * @ports: to watch
 * @n_ports: of them
 */
struct input {
	struct end *ends;
	uint32_t n_ends;
	struct flow *flows;
	uint32_t n_flows;
	char **labels;
	unsigned int n_labels;
	struct port *ports;
	uint32_t n_ports;
};

/**
 * struct options - the command line
 * @ends: file
 * @trace: file
 * @out: file
 * @watch: file, or NULL
 * @watch_out: file
 * @zero: file, or NULL
 * @cc: congestion control, or NULL
 * @given: bit n: attribute FLOWGEN_A_n was given
 * @number: by attribute, numeric options
 * @json: summary as JSON
 * @quiet: no summary, no progress
 */
struct options {
	const char *ends;
	const char *trace;
	const char *out;
	const char *watch;
	const char *watch_out;
	const char *zero;
	const char *cc;
	uint64_t given;
	uint64_t number[FLOWGEN_A_MAX + 1];
	bool json;
	bool quiet;
};

/**
 * struct status - what RUN_GET says
 * @state: enum flowgen_state
 * @left: flows
 * @samples: to be fetched
 * @time_ns: since the start
 * @count: FLOWGEN_C_*
 */
struct status {
	uint32_t state;
	uint32_t left;
	uint32_t samples;
	uint64_t time_ns;
	uint64_t count[FLOWGEN_C_MAX + 1];
};

/* output.c */
FILE *output_open(const char *file);
void output_close(FILE *f, const char *file);
void output_flows(FILE *f, const struct input *in);
void output_samples_head(FILE *f);
void output_samples(FILE *f, const struct input *in);
void output_progress(const struct input *in, const struct status *status, bool last);
void output_summary(const struct options *opt, const struct input *in,
		    const struct status *status);

/* kernel.c */
typedef void (*results_fn)(void *ctx, uint32_t first, const struct flowgen_result *, uint32_t n);
typedef void (*samples_fn)(void *ctx, const struct flowgen_sample *, uint32_t n);
void kernel_setup(const struct options *opt, const struct input *in);
uint64_t kernel_start(void);
void kernel_status(struct status *status);
void kernel_wait(int timeout_ms);
void kernel_samples(samples_fn fn, void *ctx);
void kernel_results(results_fn fn, void *ctx);

/* input.c: refuse what is wrong by FILE:LINE: REASON */
void read_ends(struct input *in, const char *file);
void read_trace(struct input *in, const char *file);
void read_watch(struct input *in, const char *file);

/* die.c */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);
__attribute__((noreturn, format(printf, 3, 4)))
void die_at(const char *file, unsigned int line, const char *fmt, ...);

#endif
