// SPDX-License-Identifier: GPL-2.0-only
/*
 * ns3.c - flow files of public simulators
 *
 * hpcc: the file of `FLOW_FILE` of HPCC's simulator and of the many that were made from it. The
 * number of flows, then a line for each: SRC DST GROUP PORT BYTES START, sorted by START in
 * seconds. What follows the last flow is not read there; people put comments there. A line that
 * could be a flow is refused nevertheless: a number that is too low would drop flows unseen.
 *
 * floodgate: Floodgate's. The number of flows and 0 or 1, then SRC DST BYTES START, with 1 also
 * QP MESSAGE. No order.
 *
 * bfc-log: BFC's simulator has no such file. It draws its flows itself and tells each on its
 * output, among other lines: New Flow Created Src N Dst N Size BYTES Time SECONDS.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ns3.h"

#define NS_PER_S	UINT64_C(1000000000)
#define GROUPS		8

/*
 * Seconds to ns without a detour over a double, so that what has at most nine decimals is read
 * exactly; what has more is rounded. C++ streams write small numbers as 1e-06.
 */
static int word_seconds(const char *word, uint64_t *ns)
{
	unsigned __int128 v = 0;
	int scale = 9, digits = 0, exponent = 0, sign = 1;
	bool point = false;

	for (; isdigit((unsigned char)*word) || (*word == '.' && !point); word++) {
		if (*word == '.') {
			point = true;
			continue;
		}
		if (++digits > 30)
			return -1;
		v = v * 10 + (*word - '0');
		scale -= point;
	}
	if (!digits)
		return -1;
	if (*word == 'e' || *word == 'E') {
		word++;
		if (*word == '-' || *word == '+')
			sign = *word++ == '-' ? -1 : 1;
		if (!isdigit((unsigned char)word[0]) ||
		    (word[1] && (!isdigit((unsigned char)word[1]) || word[2])))
			return -1;
		exponent = sign * (word[1] ? (word[0] - '0') * 10 + word[1] - '0' : word[0] - '0');
		word += word[1] ? 2 : 1;
	}
	if (*word)
		return -1;
	for (scale += exponent; scale > 0; scale--) {
		if (v > TRACE_START_MAX)
			return -1;
		v *= 10;
	}
	for (; scale < -1; scale++)
		v /= 10;
	if (scale < 0)
		v = (v + 5) / 10;
	if (v > TRACE_START_MAX)
		return -1;
	*ns = (uint64_t)v;
	return 0;
}

static int word_flow(struct lines *l, char **src, const char *bytes, const char *start,
		     struct trace_flow *flow)
{
	uint64_t from, to;

	if (word_number(src[0], TRACE_HOSTS_MAX - 1, &from))
		return lines_refuse(l, "\"%.32s\" is no number of a host", src[0]);
	if (word_number(src[1], TRACE_HOSTS_MAX - 1, &to))
		return lines_refuse(l, "\"%.32s\" is no number of a host", src[1]);
	if (word_number(bytes, TRACE_BYTES_MAX, &flow->bytes) || !flow->bytes)
		return lines_refuse(l, "\"%.32s\" is no size in bytes", bytes);
	if (word_seconds(start, &flow->start_ns))
		return lines_refuse(l, "\"%.40s\" is no time in seconds", start);
	if (from == to)
		return lines_refuse(l, "host %s sends to itself", src[0]);
	flow->src = from;
	flow->dst = to;
	return 0;
}

static int flow_add(struct lines *l, struct trace *t, const struct trace_flow *flow)
{
	if (trace_add(t, flow->start_ns, flow->src, flow->dst, flow->bytes, flow->class, NULL))
		return lines_refuse(l, "out of memory");
	return 0;
}

/* A text file from Windows ends its lines by two characters. */
static int next(struct lines *l)
{
	int n = lines_next(l);

	if (n > 0 && l->length && l->text[l->length - 1] == '\r')
		l->text[--l->length] = '\0';
	return n;
}

static bool looks_like_flow(char *text)
{
	char *words[7];
	int n = lines_split(text, words, 7);

	if (n < 4 || n > 7)
		return false;
	for (int i = 0; i < n && i < 7; i++)
		if (!isdigit((unsigned char)words[i][0]))
			return false;
	return true;
}

/* The first line: how many flows, and what else its @words say. */
static int read_count(struct lines *l, char **words, int n_words, uint64_t *count,
		      const char *what)
{
	int n = next(l);

	if (n < 0)
		return -1;
	if (!n || lines_split(l->text, words, n_words) != n_words ||
	    word_number(words[0], UINT32_MAX, count))
		return lines_refuse(l, "the first line is %s", what);
	return 0;
}

/* @count flows by @one, then nothing that could be one more. */
static int read_flows(struct lines *l, uint64_t count, struct trace *t,
		      int (*one)(struct lines *l, const void *how, struct trace *t),
		      const void *how)
{
	uint64_t had = 0;
	int n;

	while (had < count) {
		n = next(l);
		if (n < 0)
			return -1;
		if (!n)
			return lines_refuse(l, "there are %" PRIu64 " flows, not %" PRIu64, had,
					    count);
		if (one(l, how, t))
			return -1;
		had++;
	}
	while ((n = next(l)))
		if (n < 0)
			return -1;
		else if (looks_like_flow(l->text))
			return lines_refuse(l, "there are more flows than %" PRIu64, count);
	return 0;
}

/* HPCC */

static int hpcc_flow(struct lines *l, const void *how, struct trace *t)
{
	const struct ns3 *ns3 = how;
	struct trace_flow flow = { .class = 0 };
	uint64_t group, port;
	char *words[6];

	if (lines_split(l->text, words, 6) != 6)
		return lines_refuse(l, "a flow is SRC DST GROUP PORT BYTES START");
	if (word_flow(l, words, words[4], words[5], &flow))
		return -1;
	if (word_number(words[2], GROUPS - 1, &group))
		return lines_refuse(l, "\"%.32s\" is no priority group from 0 to 7", words[2]);
	if (word_number(words[3], UINT16_MAX, &port))
		return lines_refuse(l, "\"%.32s\" is no port", words[3]);
	if (t->count && flow.start_ns < t->flows[t->count - 1].start_ns)
		return lines_refuse(l, "begins before the flow of the line above");
	flow.class = (group + GROUPS - ns3->group) % GROUPS;
	return flow_add(l, t, &flow);
}

static int hpcc_read(const struct ns3 *ns3, struct trace *t, FILE *f, const char *name, char *error)
{
	struct lines l = { .f = f, .name = name, .error = error };
	uint64_t count;
	char *words[1];
	int err = read_count(&l, words, 1, &count, "the number of flows");

	if (!err)
		err = read_flows(&l, count, t, hpcc_flow, ns3);
	lines_free(&l);
	return err;
}

static void write_start(const struct trace_flow *flow, FILE *f)
{
	fprintf(f, "%" PRIu64 ".%09" PRIu64, flow->start_ns / NS_PER_S, flow->start_ns % NS_PER_S);
}

static int hpcc_write(const struct ns3 *ns3, const struct trace *t, FILE *f)
{
	const struct trace_flow *flow = t->flows;

	fprintf(f, "%zu\n", t->count);
	for (; flow < t->flows + t->count; flow++) {
		fprintf(f, "%u %u %u %u %" PRIu64 " ", flow->src, flow->dst,
			(ns3->group + flow->class) % GROUPS, ns3->port, flow->bytes);
		write_start(flow, f);
		putc('\n', f);
	}
	return fflush(f) || ferror(f) ? -1 : 0;
}

/* Floodgate */

static int floodgate_flow(struct lines *l, const void *how, struct trace *t)
{
	struct trace_flow flow = { .class = 0 };
	bool pairs = *(const bool *)how;
	int want = pairs ? 6 : 4;
	uint64_t number;
	char *words[6];

	if (lines_split(l->text, words, want) != want)
		return lines_refuse(l, "a flow is SRC DST BYTES START%s",
				    pairs ? " QP MESSAGE" : "");
	if (word_flow(l, words, words[2], words[3], &flow))
		return -1;
	for (int i = 4; i < want; i++)
		if (word_number(words[i], UINT32_MAX, &number))
			return lines_refuse(l, "\"%.32s\" is no number", words[i]);
	return flow_add(l, t, &flow);
}

static int floodgate_read(const struct ns3 *ns3, struct trace *t, FILE *f, const char *name,
			  char *error)
{
	struct lines l = { .f = f, .name = name, .error = error };
	uint64_t count, pairs = 0;
	bool how;
	char *words[2];
	int err = read_count(&l, words, 2, &count, "the number of flows, and 0 or 1");

	(void)ns3;
	if (!err && word_number(words[1], 1, &pairs))
		err = lines_refuse(&l, "\"%.32s\" is not 0 or 1", words[1]);
	how = pairs;
	if (!err)
		err = read_flows(&l, count, t, floodgate_flow, &how);
	lines_free(&l);
	return err;
}

static int floodgate_write(const struct ns3 *ns3, const struct trace *t, FILE *f)
{
	const struct trace_flow *flow = t->flows;

	(void)ns3;
	fprintf(f, "%zu 0\n", t->count);
	for (; flow < t->flows + t->count; flow++) {
		fprintf(f, "%u %u %" PRIu64 " ", flow->src, flow->dst, flow->bytes);
		write_start(flow, f);
		putc('\n', f);
	}
	return fflush(f) || ferror(f) ? -1 : 0;
}

/* BFC */

static int bfc_line(struct lines *l, struct trace *t)
{
	static const char * const fixed[] = { "New", "Flow", "Created", "Src", NULL, "Dst", NULL,
					      "Size", NULL, "Time", NULL };
	struct trace_flow flow = { .class = 0 };
	char *words[11], *pair[2];

	/* it may stand behind something that was written without the end of its line */
	char *begin = strstr(l->text, "New Flow Created");

	if (!begin)
		return 0;
	if (lines_split(begin, words, 11) != 11)
		return lines_refuse(l, "a flow is New Flow Created Src N Dst N Size BYTES Time S");
	for (int i = 0; i < 11; i++)
		if (fixed[i] && strcmp(words[i], fixed[i]))
			return lines_refuse(l, "\"%.32s\" should be %s", words[i], fixed[i]);
	pair[0] = words[4];
	pair[1] = words[6];
	if (word_flow(l, pair, words[8], words[10], &flow))
		return -1;
	return flow_add(l, t, &flow);
}

static int bfc_read(const struct ns3 *ns3, struct trace *t, FILE *f, const char *name, char *error)
{
	struct lines l = { .f = f, .name = name, .error = error };
	int err = 0, n;

	(void)ns3;
	while (!err && (n = next(&l)))
		err = n < 0 ? n : bfc_line(&l, t);
	if (!err && !t->count)
		err = lines_refuse(&l, "there is no line \"New Flow Created\" in it");
	lines_free(&l);
	return err;
}

/* The project's own */

static int own_read(const struct ns3 *ns3, struct trace *t, FILE *f, const char *name, char *error)
{
	(void)ns3;
	return trace_read(t, f, name, error);
}

static int own_write(const struct ns3 *ns3, const struct trace *t, FILE *f)
{
	(void)ns3;
	return trace_write(t, f);
}

const struct format formats[] = {
	{ "sluice", "the traces of this program", own_read, own_write },
	{ "hpcc", "flow files of HPCC's simulator", hpcc_read, hpcc_write },
	{ "floodgate", "flow files of Floodgate's simulator", floodgate_read, floodgate_write },
	{ "bfc-log", "output of BFC's simulator, read only", bfc_read, NULL },
	{}
};

const struct format *format_find(const char *name)
{
	const struct format *format = formats;

	while (format->name && strcmp(format->name, name))
		format++;
	return format->name ? format : NULL;
}
