// SPDX-License-Identifier: GPL-2.0-only
/*
 * input.c - traces, endpoints, watched ports
 *
 * Text, one thing a line, words apart by blanks. A line that starts with # is a comment. What is
 * wrong ends the program, by file and line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flowgen.h"

#define WORDS_MAX	8
#define TRACE_HEAD	"# sluice-trace 1"

/**
 * struct reader - a file being read
 * @file: name
 * @f: the file
 * @line: number of the line
 * @text: its buffer
 * @size: of @text
 * @words: of the line
 * @n: how many; WORDS_MAX + 1 if there are more
 */
struct reader {
	const char *file;
	FILE *f;
	unsigned int line;
	char *text;
	size_t size;
	char *words[WORDS_MAX];
	unsigned int n;
};

static void reader_open(struct reader *r, const char *file)
{
	memset(r, 0, sizeof(*r));
	r->file = file;
	r->f = fopen(file, "re");
	if (!r->f)
		die("%s: %s", file, strerror(errno));
}

static void reader_close(struct reader *r)
{
	fclose(r->f);
	free(r->text);
}

/* The next line without its end, comments too; or NULL */
static char *reader_line(struct reader *r)
{
	ssize_t len;

	errno = 0;
	len = getline(&r->text, &r->size, r->f);
	if (len < 0) {
		if (ferror(r->f))
			die("%s: %s", r->file, strerror(errno));
		return NULL;
	}
	r->line++;
	if (r->text[len - 1] == '\n')
		r->text[--len] = '\0';
	if (strlen(r->text) != (size_t)len)
		die_at(r->file, r->line, "a zero byte");
	return r->text;
}

static void reader_split(struct reader *r)
{
	char *at = r->text;

	for (r->n = 0; ; r->n++) {
		at += strspn(at, " \t");
		if (!*at)
			return;
		if (r->n == WORDS_MAX) {
			r->n++;
			return;
		}
		r->words[r->n] = at;
		at += strcspn(at, " \t");
		if (*at)
			*at++ = '\0';
	}
}

/* The next line that is no comment, as @min to @max words. Return: false at the end. */
static bool reader_next(struct reader *r, unsigned int min, unsigned int max, const char *form)
{
	do {
		if (!reader_line(r))
			return false;
	} while (r->text[0] == '#');
	reader_split(r);
	if (r->n < min || r->n > max)
		die_at(r->file, r->line, "should be: %s", form);
	return true;
}

static uint64_t reader_number(const struct reader *r, unsigned int word, uint64_t min,
			      uint64_t max, const char *what)
{
	const char *text = r->words[word];
	unsigned long long value = 0;
	char *end = NULL;

	errno = 0;
	if (text[0] >= '0' && text[0] <= '9')
		value = strtoull(text, &end, 10);
	if (!end || *end)
		die_at(r->file, r->line, "%s is not a number: %s", what, text);
	if (errno || value < min || value > max)
		die_at(r->file, r->line, "%s must be from %llu to %llu: %s", what,
		       (unsigned long long)min, (unsigned long long)max, text);
	return value;
}

/* Each endpoint and each watched port is an open file: as many as there are, if that is allowed. */
static int open_netns(const char *path)
{
	struct rlimit files;
	int fd;

	while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0 && errno == EMFILE) {
		getrlimit(RLIMIT_NOFILE, &files);
		files.rlim_cur *= 2;
		if (files.rlim_max < files.rlim_cur)
			files.rlim_max = files.rlim_cur;
		if (setrlimit(RLIMIT_NOFILE, &files)) {
			errno = EMFILE;
			break;
		}
	}
	return fd;
}

static int reader_netns(const struct reader *r, unsigned int word)
{
	const char *name = r->words[word];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open_netns(path);
	if (fd < 0)
		die_at(r->file, r->line, "no network namespace %s: %s", name, strerror(errno));
	return fd;
}

static void *grow(void *array, uint32_t n, size_t size)
{
	/* at the powers of two */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * (size_t)n : 1) * size);
	if (!array)
		die("no memory");
	return array;
}

static struct end *end_new(struct input *in, uint32_t number)
{
	while (in->n_ends <= number) {
		in->ends = grow(in->ends, in->n_ends, sizeof(*in->ends));
		memset(&in->ends[in->n_ends++], 0, sizeof(*in->ends));
	}
	return &in->ends[number];
}

void read_ends(struct input *in, const char *file)
{
	struct reader r;
	struct end *end;
	uint32_t number;

	reader_open(&r, file);
	while (reader_next(&r, 3, 4, "NUMBER NETNS ADDRESS [RATE]")) {
		number = reader_number(&r, 0, 0, FLOWGEN_ENDS_MAX - 1, "NUMBER");
		end = end_new(in, number);
		if (end->family)
			die_at(file, r.line, "endpoint %u is in line %u, too", number, end->line);
		end->number = number;
		end->line = r.line;
		if (inet_pton(AF_INET, r.words[2], end->address) == 1)
			end->family = AF_INET;
		else if (inet_pton(AF_INET6, r.words[2], end->address) == 1)
			end->family = AF_INET6;
		else
			die_at(file, r.line, "not an address: %s", r.words[2]);
		end->netns = reader_netns(&r, 1);
		if (r.n > 3)
			end->rate = reader_number(&r, 3, FLOWGEN_RATE_MIN, FLOWGEN_RATE_MAX, "RATE");
	}
	if (!in->n_ends)
		die("%s: no endpoints", file);
	reader_close(&r);
}

static uint16_t label_find(struct input *in, const struct reader *r, const char *word)
{
	static unsigned int last;
	size_t len = strlen(word);
	unsigned int i;

	if (last < in->n_labels && !strcmp(in->labels[last], word))
		return last;
	if (strcmp(word, "-") && (len > LABEL_MAX ||
				  strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len))
		die_at(r->file, r->line, "LABEL must be 1 to 15 of a-z, 0-9, _ and -: %s", word);
	for (i = 0; i < in->n_labels; i++)
		if (!strcmp(in->labels[i], word))
			return last = i;
	if (in->n_labels == LABELS_MAX)
		die_at(r->file, r->line, "more than %u different labels", LABELS_MAX);
	in->labels = grow(in->labels, in->n_labels, sizeof(*in->labels));
	in->labels[in->n_labels] = strdup(word);
	if (!in->labels[in->n_labels])
		die("no memory");
	return last = in->n_labels++;
}

static uint32_t trace_end(const struct input *in, const struct reader *r, unsigned int word,
			  const char *what)
{
	uint32_t number = reader_number(r, word, 0, FLOWGEN_ENDS_MAX - 1, what);

	if (number >= in->n_ends || !in->ends[number].family)
		die_at(r->file, r->line, "%s is not an endpoint: %u", what, number);
	return number;
}

static void trace_flow(struct input *in, const struct reader *r, struct flow *flow)
{
	struct flowgen_flow *f = &flow->spec;

	f->start_ns = reader_number(r, 0, 0, FLOWGEN_TIME_MAX, "START_NS");
	if (in->n_flows && f->start_ns < flow[-1].spec.start_ns)
		die_at(r->file, r->line, "START_NS is before that of the flow before it");
	f->src = trace_end(in, r, 1, "SRC");
	f->dst = trace_end(in, r, 2, "DST");
	if (f->src == f->dst)
		die_at(r->file, r->line, "SRC and DST are the same endpoint");
	if (in->ends[f->src].family != in->ends[f->dst].family)
		die_at(r->file, r->line, "SRC and DST have addresses of different families");
	f->bytes = reader_number(r, 3, 1, FLOWGEN_BYTES_MAX, "BYTES");
	f->class = r->n > 4 ? reader_number(r, 4, 0, 7, "CLASS") : 0;
	flow->label = label_find(in, r, r->n > 5 ? r->words[5] : "-");
}

void read_trace(struct input *in, const char *file)
{
	struct reader r;
	char *head;

	reader_open(&r, file);
	head = reader_line(&r);
	if (!head || strcmp(head, TRACE_HEAD))
		die_at(file, 1, "should be: " TRACE_HEAD);
	while (reader_next(&r, 4, 6, "START_NS SRC DST BYTES [CLASS [LABEL]]")) {
		if (in->n_flows == FLOWGEN_FLOWS_MAX)
			die_at(file, r.line, "more than %u flows", FLOWGEN_FLOWS_MAX);
		in->flows = grow(in->flows, in->n_flows, sizeof(*in->flows));
		memset(&in->flows[in->n_flows], 0, sizeof(*in->flows));
		trace_flow(in, &r, &in->flows[in->n_flows]);
		in->n_flows++;
	}
	if (!in->n_flows)
		die("%s: no flows", file);
	reader_close(&r);
}

void read_watch(struct input *in, const char *file)
{
	struct reader r;
	struct port *port;

	reader_open(&r, file);
	while (reader_next(&r, 3, 3, "NAME NETNS DEV")) {
		if (strpbrk(r.words[0], ",\""))
			die_at(file, r.line, "NAME has a comma or a quote: %s", r.words[0]);
		if (in->n_ports == FLOWGEN_PORTS_MAX)
			die_at(file, r.line, "more than %u ports", FLOWGEN_PORTS_MAX);
		in->ports = grow(in->ports, in->n_ports, sizeof(*in->ports));
		port = &in->ports[in->n_ports++];
		port->line = r.line;
		port->netns = reader_netns(&r, 1);
		port->name = strdup(r.words[0]);
		port->device = strdup(r.words[2]);
		if (!port->name || !port->device)
			die("no memory");
	}
	if (!in->n_ports)
		die("%s: no ports", file);
	reader_close(&r);
}
