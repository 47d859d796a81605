// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - words to verbs
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sluice.h"

struct call call;

const char *argp_program_version = "sluice " SLUICE_VERSION;

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *args;
	const char *what;
} verbs[] = {
	{ "show", verb_show, "[-s] [DEV]", "ports: state, neighbour, pauses" },
	{ "monitor", verb_monitor, "[--count N] [DEV]", "events of ports as they happen" },
	{ "set", verb_set, "DEV OPTION VALUE ...", "options of all bfc qdiscs of a device" },
	{ "graph", verb_graph, "FILE [--apply --switch NAME]",
	  "can backpressure go in a circle, and what to do" },
	{ "pair", verb_pair, "list | {add|del} INGRESS EGRESS",
	  "pairs of ports whose backpressure is elided" },
	{ "doctor", verb_doctor, "[DEV]", "what keeps a port from working" },
};

void die(int status, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("sluice: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

void print_json(json_t *root)
{
	json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(root);
}

unsigned int device_index(const char *name)
{
	unsigned int index = if_nametoindex(name);

	if (!index)
		die(EXIT_TROUBLE, "there is no device \"%s\"", name);
	return index;
}

/*
 * sysfs shows the devices of the namespace that mounted it, so there has to be another one, for
 * this program only. Without it doctor knows of no transmit queues.
 */
static void sysfs_follow(void)
{
	if (unshare(CLONE_NEWNS) || mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		return;
	umount2("/sys", MNT_DETACH);
	mount("sluice", "/sys", "sysfs", MS_RDONLY, NULL);
}

static void netns_enter(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(EXIT_TROUBLE, "no network namespace \"%s\": %s", name, strerror(errno));
	if (setns(fd, CLONE_NEWNET))
		die(EXIT_TROUBLE, "cannot enter network namespace \"%s\": %s", name,
		    strerror(errno));
	close(fd);
	sysfs_follow();
}

static error_t common_parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case 'n':
		call.netns = arg;
		return 0;
	case 'j':
		call.json = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp_option common_options[] = {
	{ "netns", 'n', "NAME", 0, "in this network namespace", 0 },
	{ "json", 'j', NULL, 0, "print JSON", 0 },
	{}
};

const struct argp common_argp = { .options = common_options, .parser = common_parse };

void verb_parse(const struct argp *argp, int argc, char **argv, void *input)
{
	char name[64];

	snprintf(name, sizeof(name), "sluice %s", argv[0]);
	argv[0] = name;
	argp_parse(argp, argc, argv, 0, NULL, input);
	if (call.netns)
		netns_enter(call.netns);
}

static void help(FILE *f)
{
	fprintf(f, "Usage: sluice [-j] [-n NETNS] VERB [WORDS]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(f, "  %-8s %-32s %s\n", verbs[i].name, verbs[i].args, verbs[i].what);
	fprintf(f, "  %-8s %-32s %s\n", "help", "[VERB]", "this, or what a verb takes");
	fprintf(f, "\n  -j, --json         print JSON\n"
		"  -n, --netns=NAME   in this network namespace\n"
		"  -V, --version      print the version\n\n"
		"See sluice(8).\n");
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[0], verbs[i].name))
			return verbs[i].run(argc, argv);
	fprintf(stderr, "sluice: there is no verb \"%s\"; there are:", argv[0]);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(stderr, " %s", verbs[i].name);
	fprintf(stderr, " help\n");
	return EXIT_USAGE;
}

static int verb_help(int argc, char **argv)
{
	char flag[] = "--help", *words[] = { argv[1], flag, NULL };

	if (argc > 1)
		return run(2, words);
	help(stdout);
	return EXIT_OK;
}

/* The words before the verb; the verb's own are left to it. */
static error_t parse(int key, char *arg, struct argp_state *state)
{
	int *verb = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		*verb = state->next - 1;
		state->next = state->argc;
		return 0;
	case 'h':
		help(stdout);
		exit(EXIT_OK);
	case 'V':
		puts(argp_program_version);
		exit(EXIT_OK);
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "help", 'h', NULL, 0, "", 0 },
		{ "version", 'V', NULL, 0, "", 0 },
		{}
	};
	const struct argp_child children[] = { { .argp = &common_argp }, {} };
	const struct argp argp = { .options = options, .parser = parse, .children = children };
	int verb = 0;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &verb);
	if (!verb) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[verb], "help"))
		return verb_help(argc - verb, argv + verb);
	return run(argc - verb, argv + verb);
}
