// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor.c - sluice doctor: what keeps a port from working, and what to do
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "sluice.h"

struct options {
	const char *dev;
	bool list;
	struct roots roots;
};

/**
 * struct report - while findings are printed
 * @array: for JSON
 * @count: findings
 */
struct report {
	json_t *array;
	int count;
};

static const char * const severities[] = {
	[SEVERITY_NOTE] = "note", [SEVERITY_WARNING] = "warning", [SEVERITY_ERROR] = "error",
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'l':
		o->list = true;
		return 0;
	case ROOTS_WITH:
		roots_add_file(&o->roots, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (o->dev)
			argp_error(state, "one device, not also \"%s\"", arg);
		o->dev = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The advice with the device's name in the place of DEV; to be freed. */
static char *advice_for(const char *advice, const char *dev)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(EXIT_TROUBLE, "no memory");
	while (*advice) {
		if (dev && !strncmp(advice, "DEV", 3)) {
			fputs(dev, f);
			advice += 3;
		} else {
			fputc(*advice++, f);
		}
	}
	fclose(f);
	return text;
}

static void found(void *ctx, const struct complaint *c, const char *dev, const char *detail)
{
	char *advice = advice_for(c->advice, dev);
	struct report *r = ctx;
	json_t *finding;

	r->count++;
	if (call.json) {
		finding = json_pack("{s:s, s:s, s:s, s:s, s:s}", "id", c->id,
				    "severity", severities[c->severity], "text", c->text,
				    "detail", detail, "advice", advice);
		if (dev)
			json_object_set_new(finding, "dev", json_string(dev));
		json_array_append_new(r->array, finding);
	} else {
		printf("%s%s%s: %s%s%s%s [%s]\n  %s\n", dev ?: "", dev ? ": " : "",
		       severities[c->severity], c->text, *detail ? " (" : "", detail,
		       *detail ? ")" : "", c->id, advice);
	}
	free(advice);
}

/* All that can be found, in the order of the document. */
static int list(void)
{
	for (size_t i = 0; i < n_complaints; i++) {
		const struct complaint *c = &complaints[i];

		printf("%s\t%s\t%s\t%s\n", c->id, severities[c->severity], c->text, c->advice);
	}
	return EXIT_OK;
}

int verb_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "list", 'l', NULL, 0, "what can be found at all, and look at nothing", 0 },
		ROOTS_OPTION,
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "[DEV]", .children = children,
		.doc = "What keeps a port, or a rocc, from working, and what to do. Exit status 0: "
		       "nothing found, 3: something.",
	};
	struct report report = { .array = json_array() };
	struct options o = {};
	struct look look;

	verb_parse(&argp, argc, argv, &o);
	if (o.list)
		return list();
	if (o.dev)
		device_index(o.dev);
	doctor_look(&look);
	look.roots = o.roots;
	roots_add_ports(&look.roots, &look.ports);
	doctor_judge(&look, o.dev, found, &report);
	doctor_look_free(&look);
	if (call.json)
		print_json(json_incref(report.array));
	json_decref(report.array);
	return report.count ? EXIT_FOUND : EXIT_OK;
}
