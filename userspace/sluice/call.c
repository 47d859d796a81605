// SPDX-License-Identifier: GPL-2.0-only
/*
 * call.c - how the program was called, and what its verbs share
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "sluice.h"

struct call call;

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
	verb_words(argp, argc, argv, input);
	if (call.netns)
		netns_enter(call.netns);
}
