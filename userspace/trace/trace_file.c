// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_file.c - traces as text
 *
 * A run takes hours and its result depends on each flow, so that whatever is not certainly what
 * was meant is refused: also a last line without an end, which is what a file that was cut off
 * has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

/* Room for one more entry of an array. */
static void *room_for(void *array, size_t count, size_t *room, size_t size)
{
	void *more;

	if (count < *room)
		return array;
	more = reallocarray(array, *room ? 2 * *room : 256, size);
	if (more)
		*room = *room ? 2 * *room : 256;
	return more;
}

int trace_add(struct trace *t, uint64_t start_ns, uint32_t src, uint32_t dst, uint64_t bytes,
	      unsigned int class, const char *label)
{
	struct trace_flow *flows = room_for(t->flows, t->count, &t->room, sizeof(*flows)), *flow;

	if (!flows)
		return -1;
	t->flows = flows;
	flow = &flows[t->count++];
	*flow = (struct trace_flow) {
		.start_ns = start_ns, .bytes = bytes, .src = src, .dst = dst, .class = class,
	};
	strncpy(flow->label, label ? label : "-", TRACE_LABEL_MAX);
	return 0;
}

static int note_add(struct trace *t, char *text)
{
	char **notes = text ? room_for(t->notes, t->n_notes, &t->notes_room, sizeof(*notes)) : NULL;

	if (!notes) {
		free(text);
		return -1;
	}
	t->notes = notes;
	t->notes[t->n_notes++] = text;
	return 0;
}

int trace_note(struct trace *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return n < 0 ? -1 : note_add(t, text);
}

const char *trace_noted(const struct trace *t, const char *key)
{
	size_t length = strlen(key);

	for (size_t i = 0; i < t->n_notes; i++)
		if (!strncmp(t->notes[i], key, length) && t->notes[i][length] == ' ')
			return t->notes[i] + length + 1;
	return NULL;
}

void trace_free(struct trace *t)
{
	for (size_t i = 0; i < t->n_notes; i++)
		free(t->notes[i]);
	free(t->notes);
	free(t->flows);
	memset(t, 0, sizeof(*t));
}

bool trace_label_valid(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n && n <= TRACE_LABEL_MAX && !word[n];
}

static int read_head(struct lines *l)
{
	int n = lines_next(l);
	uint64_t version;

	if (n < 0)
		return -1;
	if (!n || strncmp(l->text, "# sluice-trace ", 15))
		return lines_refuse(l, "a trace begins with \"# sluice-trace %d\"", TRACE_VERSION);
	if (word_number(l->text + 15, UINT32_MAX, &version) || version != TRACE_VERSION)
		return lines_refuse(l, "version \"%.32s\" is not known, only %d is", l->text + 15,
				    TRACE_VERSION);
	return 0;
}

static int read_flow(struct lines *l, struct trace *t)
{
	uint64_t start, src, dst, bytes, class = 0;
	char *words[6] = { NULL };
	int n = lines_split(l->text, words, 6);

	if (n < 4 || n > 6)
		return lines_refuse(l, "a flow is START_NS SRC DST BYTES [CLASS [LABEL]]");
	if (word_number(words[0], TRACE_START_MAX, &start))
		return lines_refuse(l, "\"%.32s\" is no time in ns", words[0]);
	if (word_number(words[1], TRACE_HOSTS_MAX - 1, &src))
		return lines_refuse(l, "\"%.32s\" is no number of a host", words[1]);
	if (word_number(words[2], TRACE_HOSTS_MAX - 1, &dst))
		return lines_refuse(l, "\"%.32s\" is no number of a host", words[2]);
	if (word_number(words[3], TRACE_BYTES_MAX, &bytes) || !bytes)
		return lines_refuse(l, "\"%.32s\" is no size in bytes", words[3]);
	if (n > 4 && word_number(words[4], TRACE_CLASS_MAX, &class))
		return lines_refuse(l, "\"%.32s\" is no class from 0 to %d", words[4],
				    TRACE_CLASS_MAX);
	if (n > 5 && !trace_label_valid(words[5]))
		return lines_refuse(l, "\"%.32s\" is no label: 1 to %d of a-z 0-9 _ -", words[5],
				    TRACE_LABEL_MAX);
	if (src == dst)
		return lines_refuse(l, "host %s sends to itself", words[1]);
	if (t->count && start < t->flows[t->count - 1].start_ns)
		return lines_refuse(l, "begins before the flow of the line above");
	if (trace_add(t, start, src, dst, bytes, class, words[5]))
		return lines_refuse(l, "out of memory");
	return 0;
}

static int read_line(struct lines *l, struct trace *t)
{
	if (!l->ended)
		return lines_refuse(l, "the last line has no end: is the file cut off?");
	if (l->text[0] != '#')
		return read_flow(l, t);
	if (note_add(t, strdup(l->text + 1 + (l->text[1] == ' '))))
		return lines_refuse(l, "out of memory");
	return 0;
}

int trace_read(struct trace *t, FILE *f, const char *name, char *error)
{
	struct lines l = { .f = f, .name = name, .error = error };
	int err = read_head(&l), n;

	while (!err && (n = lines_next(&l)))
		err = n < 0 ? n : read_line(&l, t);
	lines_free(&l);
	return err;
}

int trace_write(const struct trace *t, FILE *f)
{
	const struct trace_flow *flow;

	fprintf(f, "# sluice-trace %d\n", TRACE_VERSION);
	for (size_t i = 0; i < t->n_notes; i++)
		fprintf(f, "#%s%s\n", *t->notes[i] ? " " : "", t->notes[i]);
	for (flow = t->flows; flow < t->flows + t->count; flow++) {
		fprintf(f, "%" PRIu64 " %u %u %" PRIu64, flow->start_ns, flow->src, flow->dst,
			flow->bytes);
		if (strcmp(flow->label, "-"))
			fprintf(f, " %u %s\n", flow->class, flow->label);
		else if (flow->class)
			fprintf(f, " %u\n", flow->class);
		else
			putc('\n', f);
	}
	return fflush(f) || ferror(f) ? -1 : 0;
}

/* Merges two sorted runs; of equal starts the left one is first. */
static void merge(const struct trace_flow *from, struct trace_flow *to, size_t left, size_t middle,
		  size_t right)
{
	size_t a = left, b = middle;

	for (size_t i = left; i < right; i++)
		if (a < middle && (b >= right || from[a].start_ns <= from[b].start_ns))
			to[i] = from[a++];
		else
			to[i] = from[b++];
}

#define MIN(a, b)	((a) < (b) ? (a) : (b))

int trace_sort(struct trace *t)
{
	struct trace_flow *other, *swap;
	size_t n = t->count, run, i;

	for (i = 1; i < n && t->flows[i - 1].start_ns <= t->flows[i].start_ns; i++)
		;
	if (i >= n)
		return 0;
	other = reallocarray(NULL, t->room, sizeof(*other));
	if (!other)
		return -1;
	for (run = 1; run < n; run *= 2) {
		for (i = 0; i < n; i += 2 * run)
			merge(t->flows, other, i, MIN(i + run, n), MIN(i + 2 * run, n));
		swap = t->flows;
		t->flows = other;
		other = swap;
	}
	free(other);
	return 0;
}
