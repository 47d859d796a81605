// SPDX-License-Identifier: GPL-2.0-only
/*
 * roots.c - ids of ports and their names, and circles of ports that hold each other
 *
 * Nothing is guessed: an id that several ports have is none of them, and no circle goes by it.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roots.h"
#include "sluice.h"

static void *grown(void *list, size_t count, size_t size)
{
	list = reallocarray(list, count + 1, size);
	if (!list)
		die(EXIT_TROUBLE, "no memory");
	return list;
}

static char *printed(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		die(EXIT_TROUBLE, "no memory");
	va_end(args);
	return text;
}

static unsigned int number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void add_hold(struct root_port *p, const json_t *hold)
{
	p->holds = grown(p->holds, p->n_holds, sizeof(*p->holds));
	p->holds[p->n_holds++] = (struct root_hold) {
		.queue = number_of(hold, "queue"), .root = number_of(hold, "root"),
		.hops = number_of(hold, "hops"),
		.more = json_is_true(json_object_get(hold, "more")),
		.quiet = json_is_true(json_object_get(hold, "quiet")),
	};
}

/* Qdiscs without a port, and ports that have no id, are passed over. */
static void add_port(struct roots *r, const char *box, const json_t *port)
{
	const char *dev = json_string_value(json_object_get(port, "dev"));
	const json_t *id = json_object_get(json_object_get(port, "port"), "root_id");
	const json_t *hold;
	struct root_port *p;
	size_t i;

	if (!dev || !json_is_integer(id))
		return;
	r->ports = grown(r->ports, r->count, sizeof(*r->ports));
	p = &r->ports[r->count++];
	*p = (struct root_port) {
		.name = box ? printed("%s:%s", box, dev) : printed("%s", dev),
		.here = !box, .id = json_integer_value(id),
	};
	json_array_foreach(json_object_get(port, "roots"), i, hold)
		add_hold(p, hold);
}

bool roots_add_json(struct roots *r, const char *box, const json_t *array)
{
	const json_t *port;
	size_t i;

	if (!json_is_array(array))
		return false;
	json_array_foreach(array, i, port)
		add_port(r, box, port);
	return true;
}

void roots_add_ports(struct roots *r, const struct ports *ports)
{
	struct roots here = {};

	for (size_t i = 0; i < ports->count; i++) {
		json_t *port = port_json(&ports->list[i], false);

		add_port(&here, NULL, port);
		json_decref(port);
	}
	for (size_t i = 0; i < r->count; i++) {
		here.ports = grown(here.ports, here.count, sizeof(*here.ports));
		here.ports[here.count++] = r->ports[i];
	}
	free(r->ports);
	*r = here;
}

void roots_add_file(struct roots *r, const char *arg)
{
	const char *equals = strchr(arg, '='), *path = equals ? equals + 1 : arg;
	char *box = equals ? strndup(arg, equals - arg) : strdup(basename(path)), *end;
	json_error_t error;
	json_t *array = json_load_file(path, 0, &error);

	if (!box)
		die(EXIT_TROUBLE, "no memory");
	end = equals ? NULL : strstr(box, ".json");
	if (end)
		*end = '\0';
	if (!array)
		die(EXIT_TROUBLE, "%s: %s", path, error.text);
	if (!roots_add_json(r, box, array))
		die(EXIT_TROUBLE, "%s: not what `sluice -j show` says", path);
	json_decref(array);
	free(box);
}

void roots_free(struct roots *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->ports[i].name);
		free(r->ports[i].holds);
	}
	free(r->ports);
	memset(r, 0, sizeof(*r));
}

size_t roots_known(const struct roots *r, unsigned int id)
{
	size_t known = 0;

	for (size_t i = 0; i < r->count; i++)
		known += r->ports[i].id == id;
	return known;
}

const struct root_port *roots_find(const struct roots *r, unsigned int id)
{
	if (roots_known(r, id) != 1)
		return NULL;
	for (size_t i = 0; i < r->count; i++)
		if (r->ports[i].id == id)
			return &r->ports[i];
	return NULL;
}

char *roots_name(const struct roots *r, unsigned int id)
{
	const struct root_port *p = roots_find(r, id);
	char *text = NULL;
	bool some = false;
	size_t size;
	FILE *f;

	if (p)
		return printed("%s", p->name);
	if (!roots_known(r, id))
		return printed("%u (unknown)", id);
	f = open_memstream(&text, &size);
	if (!f)
		die(EXIT_TROUBLE, "no memory");
	fprintf(f, "%u (ambiguous: ", id);
	for (size_t i = 0; i < r->count; i++) {
		if (r->ports[i].id != id)
			continue;
		fprintf(f, "%s%s", some ? " or " : "", r->ports[i].name);
		some = true;
	}
	fputc(')', f);
	fclose(f);
	return text;
}

static bool same_root(const struct root_hold *a, const struct root_hold *b)
{
	return a->root == b->root && a->hops == b->hops && a->more == b->more;
}

char *roots_text(const struct roots *r, const struct root_port *port,
		 const struct root_hold *hold)
{
	char *text = NULL, *name;
	size_t size, first = hold - port->holds;
	FILE *f;

	for (size_t i = 0; i < first; i++)
		if (same_root(&port->holds[i], hold))
			return NULL;
	f = open_memstream(&text, &size);
	if (!f)
		die(EXIT_TROUBLE, "no memory");
	name = roots_name(r, hold->root);
	fprintf(f, "by %s, %u hop%s away%s: ", name, hold->hops, hold->hops == 1 ? "" : "s",
		hold->more ? ", and others" : "");
	free(name);
	for (size_t i = first; i < port->n_holds; i++)
		if (same_root(&port->holds[i], hold))
			fprintf(f, "%s%u", i > first ? "," : "", port->holds[i].queue);
	fclose(f);
	return text;
}

/* ---- circles ---- */

/**
 * struct walk - along roots
 * @r: all ports
 * @start: where the circle is to end
 * @seen: ports that have been looked at
 * @path: those on the way here
 * @length: how many
 */
struct walk {
	const struct roots *r;
	const struct root_port *start;
	bool *seen;
	const struct root_port **path;
	size_t length;
};

static bool walk_from(struct walk *w, const struct root_port *p)
{
	w->seen[p - w->r->ports] = true;
	w->path[w->length++] = p;
	for (size_t i = 0; i < p->n_holds; i++) {
		const struct root_port *next = roots_find(w->r, p->holds[i].root);

		if (!next || next < w->start || !p->holds[i].quiet)
			continue;
		if (next == w->start)
			return true;
		if (!w->seen[next - w->r->ports] && walk_from(w, next))
			return true;
	}
	w->length--;
	return false;
}

char *roots_circle(const struct roots *r, const struct root_port *port)
{
	struct walk w = { .r = r, .start = port };
	char *text = NULL;
	size_t size;
	FILE *f;

	w.seen = calloc(r->count, sizeof(*w.seen));
	w.path = calloc(r->count, sizeof(*w.path));
	if (!w.seen || !w.path)
		die(EXIT_TROUBLE, "no memory");
	if (walk_from(&w, port)) {
		f = open_memstream(&text, &size);
		if (!f)
			die(EXIT_TROUBLE, "no memory");
		for (size_t i = 0; i < w.length; i++)
			fprintf(f, "%s > ", w.path[i]->name);
		fputs(port->name, f);
		fclose(f);
	}
	free(w.seen);
	free(w.path);
	return text;
}
