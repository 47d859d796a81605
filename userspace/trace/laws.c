// SPDX-License-Identifier: GPL-2.0-only
/*
 * laws.c - sluice-trace laws: laws of sizes, their means and percentiles
 */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdlib.h>

#include "law.h"
#include "trace.h"

static const struct {
	const char *name;
	double share;
} percentiles[] = {
	{ "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 }, { "max", 1 },
};

/**
 * struct laws - how laws was called
 * @names: laws to show, all if there are none
 * @count: how many
 * @json: print JSON
 * @points: print the points of the law
 */
struct laws {
	const char **names;
	size_t count;
	bool json;
	bool points;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct laws *laws = state->input;

	switch (key) {
	case 'j':
		laws->json = true;
		return 0;
	case 'p':
		laws->points = true;
		return 0;
	case ARGP_KEY_ARG:
		laws->names[laws->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (laws->points && laws->count != 1)
			argp_error(state, "--points takes one law");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void find(struct law *law, const char *name)
{
	char error[TRACE_ERROR_MAX];

	if (law_find(law, name, error))
		die(EXIT_TROUBLE, "%s", error);
}

static void show_points(const struct law *law)
{
	for (size_t i = 0; i < law->count; i++)
		printf("%.15g %.15g\n", law->bytes[i], law->fraction[i]);
}

static void show_line(const struct law *law)
{
	printf("%-18s %6zu %12.1f", law->name, law->count, law_mean(law));
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		printf(" %11.0f", law_quantile(law, percentiles[i].share));
	putchar('\n');
}

static json_t *law_json(const struct law *law)
{
	json_t *o = json_pack("{s:s, s:I, s:f}", "law", law->name, "points",
			      (json_int_t)law->count, "mean", law_mean(law));

	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		json_object_set_new(o, percentiles[i].name,
				    json_real(law_quantile(law, percentiles[i].share)));
	return o;
}

static void show_all(const struct laws *laws)
{
	json_t *list = json_array();

	if (!laws->json) {
		printf("%-18s %6s %12s", "law", "points", "mean");
		for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
			printf(" %11s", percentiles[i].name);
		putchar('\n');
	}
	for (size_t i = 0; i < laws->count; i++) {
		struct law law = { .count = 0 };

		find(&law, laws->names[i]);
		if (laws->json)
			json_array_append_new(list, law_json(&law));
		else
			show_line(&law);
		law_free(&law);
	}
	if (laws->json) {
		json_dumpf(list, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	json_decref(list);
}

static size_t known(void)
{
	size_t n = 0;

	while (law_texts[n].name)
		n++;
	return n;
}

int verb_laws(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0, "print JSON", 0 },
		{ "points", 'p', NULL, 0, "print the points of one law, as a file of it", 0 },
		{}
	};
	const struct argp argp = { .options = options, .parser = parse, .args_doc = "[LAW ...]",
		.doc = "Laws of sizes: those named, or all that come with the program. Bytes." };
	struct laws laws = { .names = calloc(argc + known(), sizeof(char *)) };
	struct law law = { .count = 0 };

	if (!laws.names)
		die(EXIT_TROUBLE, "out of memory");
	verb_words(&argp, argc, argv, &laws);
	if (laws.points) {
		find(&law, laws.names[0]);
		show_points(&law);
		law_free(&law);
	} else {
		if (!laws.count)
			for (; law_texts[laws.count].name; laws.count++)
				laws.names[laws.count] = law_texts[laws.count].name;
		show_all(&laws);
	}
	free(laws.names);
	return EXIT_OK;
}
