// SPDX-License-Identifier: GPL-2.0-only
/*
 * failload - loads a module, again and again, each time with another allocation that fails
 *
 *	failload FILE NAME [STEP]
 *
 * Before the n-th try n is written to /proc/thread-self/fail-nth, so that the n-th allocation of
 * the kernel on behalf of this task fails; n goes up by STEP (1). A module that is refused, with
 * ENOMEM, must not be there; one that is taken is unloaded again. The first try that meets no
 * failure is the last. Prints what became of them.
 *
 * Exit status: 0, 1 if a try went wrong otherwise, 2 used wrongly.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES_MAX	5000

static int knob;

static void knob_set(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(knob, text, len, 0) != len)
		err(2, "fail-nth");
}

static bool knob_spent(void)
{
	char text[16] = "";

	if (pread(knob, text, sizeof(text) - 1, 0) <= 0)
		err(2, "fail-nth");
	return !strtoul(text, NULL, 10);
}

static bool loaded(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

/* Return: true if an allocation was made to fail. */
static bool try(int file, const char *name, unsigned int n, unsigned int *refused)
{
	bool injected;
	int error;

	knob_set(n);
	error = syscall(SYS_finit_module, file, "", 0) ? errno : 0;
	injected = knob_spent();
	knob_set(0);
	if (!injected && error)
		errx(1, "%s: %s without a failure", name, strerror(error));
	if (!error) {
		if (syscall(SYS_delete_module, name, 0))
			err(1, "%s, failure %u: cannot be unloaded", name, n);
		return injected;
	}
	if (error != ENOMEM)
		errx(1, "%s, failure %u: %s", name, n, strerror(error));
	if (loaded(name))
		errx(1, "%s, failure %u: refused and is there", name, n);
	++*refused;
	return true;
}

int main(int argc, char **argv)
{
	unsigned int n = 1, step = 1, failed = 0, refused = 0;
	int file;

	if (argc == 4)
		step = strtoul(argv[3], NULL, 10);
	if (argc < 3 || argc > 4 || !step)
		errx(2, "usage: failload FILE NAME [STEP]");
	knob = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (knob < 0)
		err(2, "fail-nth");
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (file < 0)
		err(2, "%s", argv[1]);
	while (n <= TRIES_MAX && try(file, argv[2], n, &refused)) {
		n += step;
		failed++;
	}
	printf("failed=%u refused=%u taken=%u\n", failed, refused, failed - refused);
	return n > TRIES_MAX;
}
