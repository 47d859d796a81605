// SPDX-License-Identifier: GPL-2.0-only
/*
 * topo.c - a fabric from a text file
 *
 * Anything that may be a slip of the pen is refused with its line: a fabric that was read wrongly
 * gets a wrong verdict.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "topo.h"

#define WORDS_MAX	256	/* of a line */
#define BLANKS		" \t\r\n"

/**
 * struct reader - a file while it is read
 * @t: what has been read
 * @words: of the line
 * @n_words: how many
 * @line: its number
 * @error: what is wrong
 * @shortest: there was a line `shortest`
 */
struct reader {
	struct topo *t;
	char *words[WORDS_MAX];
	int n_words;
	int line;
	char *error;
	bool shortest;
};

static int __attribute__((format(printf, 2, 3))) bad(struct reader *r, const char *fmt, ...)
{
	char why[TOPO_ERROR_MAX - 16];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	snprintf(r->error, TOPO_ERROR_MAX, "%d: %s", r->line, why);
	return -1;
}

/* Room for one more. */
static void *grow(void *list, int count, size_t size)
{
	if (count & (count - 1))
		return list;
	list = reallocarray(list, count ? 2 * (size_t)count : 1, size);
	if (!list)
		abort();
	return list;
}

int topo_node_find(const struct topo *t, const char *name)
{
	for (int i = 0; i < t->n_nodes; i++)
		if (!strcmp(t->nodes[i].name, name))
			return i;
	return -1;
}

static int name_check(struct reader *r, const char *name)
{
	if (strlen(name) >= TOPO_NAME_MAX)
		return bad(r, "\"%.20s...\" is longer than %d letters", name, TOPO_NAME_MAX - 1);
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_-:@/", *c))
			return bad(r, "\"%s\" has a \"%c\" in it", name, *c);
	return *name ? 0 : bad(r, "a name is empty");
}

static int read_node(struct reader *r)
{
	bool is_switch = !strcmp(r->words[0], "switch");
	struct topo *t = r->t;
	struct topo_node *n;

	if (r->n_words != 2)
		return bad(r, "\"%s\" takes one name", r->words[0]);
	if (name_check(r, r->words[1]))
		return -1;
	if (topo_node_find(t, r->words[1]) >= 0)
		return bad(r, "there is a \"%s\" already", r->words[1]);
	t->nodes = grow(t->nodes, t->n_nodes, sizeof(*t->nodes));
	n = &t->nodes[t->n_nodes++];
	memset(n, 0, sizeof(*n));
	strcpy(n->name, r->words[1]);
	n->is_switch = is_switch;
	n->tier = is_switch ? TOPO_TIER_NONE : 0;
	return 0;
}

/* Splits NODE.PORT at its first dot: devices of VLANs have dots in their names. Return: the box. */
static int split(struct reader *r, char *word, char **port)
{
	char *dot = strchr(word, '.');
	int node;

	if (!dot)
		return bad(r, "\"%s\" is not BOX.PORT", word);
	*dot = '\0';
	*port = dot + 1;
	node = topo_node_find(r->t, word);
	if (node < 0)
		return bad(r, "there is no switch or host \"%s\"", word);
	return node;
}

static int port_find(const struct topo *t, int node, const char *name)
{
	const struct topo_node *n = &t->nodes[node];

	for (int i = 0; i < n->n_ports; i++)
		if (!strcmp(t->ports[n->ports[i]].name, name))
			return n->ports[i];
	return -1;
}

static int add_port(struct reader *r, char *word)
{
	struct topo *t = r->t;
	struct topo_node *n;
	char *name;
	int node = split(r, word, &name);

	if (node < 0)
		return -1;
	if (strlen(name) >= TOPO_NAME_MAX || !*name || strpbrk(name, "\""))
		return bad(r, "\"%.20s\" is no name of a port", name);
	if (port_find(t, node, name) >= 0)
		return bad(r, "%s.%s has a link already", word, name);
	t->ports = grow(t->ports, t->n_ports, sizeof(*t->ports));
	strcpy(t->ports[t->n_ports].name, name);
	t->ports[t->n_ports].node = node;
	n = &t->nodes[node];
	n->ports = grow(n->ports, n->n_ports, sizeof(*n->ports));
	n->ports[n->n_ports++] = t->n_ports;
	return t->n_ports++;
}

/* Rates and delays are for those who build the fabric: only the words are checked. */
static int read_settings(struct reader *r, int first)
{
	for (int i = first; i < r->n_words; i += 2) {
		if (strcmp(r->words[i], "rate") && strcmp(r->words[i], "delay"))
			return bad(r, "\"%.64s\" is not rate or delay", r->words[i]);
		if (i + 1 == r->n_words)
			return bad(r, "\"%s\" needs a value", r->words[i]);
	}
	return 0;
}

static int read_defaults(struct reader *r)
{
	return read_settings(r, 1);
}

static int read_link(struct reader *r)
{
	struct topo *t = r->t;
	int a, b;

	if (r->n_words < 3)
		return bad(r, "\"link\" takes two ports, each BOX.PORT");
	if (read_settings(r, 3))
		return -1;
	a = add_port(r, r->words[1]);
	if (a < 0)
		return -1;
	b = add_port(r, r->words[2]);
	if (b < 0)
		return -1;
	if (t->ports[a].node == t->ports[b].node)
		return bad(r, "both ends are \"%s\"", t->nodes[t->ports[a].node].name);
	t->ports[a].peer = b;
	t->ports[b].peer = a;
	return 0;
}

static int read_tier(struct reader *r)
{
	char *end;
	long tier;
	int node;

	if (r->n_words != 3)
		return bad(r, "\"tier\" takes a switch and a number");
	node = topo_node_find(r->t, r->words[1]);
	if (node < 0)
		return bad(r, "there is no switch \"%s\"", r->words[1]);
	if (!r->t->nodes[node].is_switch)
		return bad(r, "\"%s\" is a host: hosts are tier 0", r->words[1]);
	tier = strtol(r->words[2], &end, 10);
	if (!isdigit((unsigned char)*r->words[2]) || *end || tier < 1 || tier > INT_MAX)
		return bad(r, "a tier is a number from 1, not \"%s\"", r->words[2]);
	r->t->nodes[node].tier = tier;
	return 0;
}

static void add_pair(struct topo_pair **list, int *count, int in, int out)
{
	*list = grow(*list, *count, sizeof(**list));
	(*list)[*count].in = in;
	(*list)[(*count)++].out = out;
}

static bool linked(const struct topo *t, int a, int b)
{
	for (int i = 0; i < t->nodes[a].n_ports; i++)
		if (t->ports[t->ports[t->nodes[a].ports[i]].peer].node == b)
			return true;
	return false;
}

/* All pairs of ports of @b, one towards @a, the other towards @c. */
static void add_hop(struct topo *t, int a, int b, int c)
{
	const struct topo_node *n = &t->nodes[b];

	for (int i = 0; i < n->n_ports; i++)
		for (int j = 0; j < n->n_ports; j++)
			if (i != j && t->ports[t->ports[n->ports[i]].peer].node == a &&
			    t->ports[t->ports[n->ports[j]].peer].node == c)
				add_pair(&t->routes, &t->n_routes, n->ports[i], n->ports[j]);
}

static int read_path(struct reader *r)
{
	int nodes[WORDS_MAX], n = r->n_words - 1;
	struct topo *t = r->t;

	if (n < 3)
		return bad(r, "\"path\" takes at least three boxes");
	for (int i = 0; i < n; i++) {
		nodes[i] = topo_node_find(t, r->words[i + 1]);
		if (nodes[i] < 0)
			return bad(r, "there is no switch or host \"%s\"", r->words[i + 1]);
		if (i && !linked(t, nodes[i - 1], nodes[i]))
			return bad(r, "there is no link from \"%s\" to \"%s\"", r->words[i],
				   r->words[i + 1]);
	}
	for (int i = 1; i < n - 1; i++) {
		if (!t->nodes[nodes[i]].is_switch)
			return bad(r, "\"%s\" is a host and forwards nothing", r->words[i + 1]);
		add_hop(t, nodes[i - 1], nodes[i], nodes[i + 1]);
	}
	return 0;
}

static int read_elide(struct reader *r)
{
	char *names[2];
	int nodes[2], ports[2];

	if (r->n_words != 3)
		return bad(r, "\"elide\" takes two ports, each BOX.PORT");
	for (int i = 0; i < 2; i++) {
		nodes[i] = split(r, r->words[i + 1], &names[i]);
		if (nodes[i] < 0)
			return -1;
		ports[i] = port_find(r->t, nodes[i], names[i]);
		if (ports[i] < 0)
			return bad(r, "%s.%s has no link", r->words[i + 1], names[i]);
	}
	if (nodes[0] != nodes[1] || ports[0] == ports[1])
		return bad(r, "a pair is two ports of one switch");
	if (!r->t->nodes[nodes[0]].is_switch)
		return bad(r, "\"%s\" is a host and forwards nothing", r->words[1]);
	add_pair(&r->t->elided, &r->t->n_elided, ports[0], ports[1]);
	return 0;
}

static int read_shortest(struct reader *r)
{
	if (r->n_words != 1)
		return bad(r, "\"shortest\" stands alone");
	r->shortest = true;
	return 0;
}

static int read_line(struct reader *r, char *line)
{
	static const struct {
		const char *word;
		int (*read)(struct reader *r);
	} kinds[] = {
		{ "switch", read_node }, { "host", read_node }, { "link", read_link },
		{ "defaults", read_defaults },
		{ "tier", read_tier }, { "path", read_path }, { "shortest", read_shortest },
		{ "elide", read_elide },
	};
	char *save = NULL;

	line[strcspn(line, "#")] = '\0';
	r->n_words = 0;
	for (char *word = strtok_r(line, BLANKS, &save); word;
	     word = strtok_r(NULL, BLANKS, &save)) {
		if (r->n_words == WORDS_MAX)
			return bad(r, "more than %d words", WORDS_MAX);
		r->words[r->n_words++] = word;
	}
	if (!r->n_words)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(r->words[0], kinds[i].word))
			return kinds[i].read(r);
	return bad(r, "\"%.64s\" is not switch, host, link, defaults, tier, path, shortest or elide",
		   r->words[0]);
}

int topo_read(struct topo *t, FILE *f, char *error)
{
	struct reader r = { .t = t, .error = error };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err = 0;

	memset(t, 0, sizeof(*t));
	while (!err && (len = getline(&line, &size, f)) >= 0) {
		r.line++;
		if (memchr(line, 0, len))
			err = bad(&r, "this is no text");
		else
			err = read_line(&r, line);
	}
	if (!err && ferror(f))
		err = bad(&r, "%s", strerror(errno));
	if (!err && !t->n_ports)
		err = bad(&r, "there is no link in it");
	free(line);
	t->shortest = r.shortest || !t->n_routes;
	return err;
}

void topo_free(struct topo *t)
{
	for (int i = 0; i < t->n_nodes; i++)
		free(t->nodes[i].ports);
	free(t->nodes);
	free(t->ports);
	free(t->routes);
	free(t->elided);
	memset(t, 0, sizeof(*t));
}
