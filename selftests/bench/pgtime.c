// SPDX-License-Identifier: GPL-2.0-only
/*
 * pgtime - how long pktgen takes, by the processor's time stamp counter
 *
 *	pgtime ROUNDS PACKETS
 *
 * Starts pktgen so many times, and says how many cycles of the counter the shortest took. For a
 * machine whose clock stands still while it works. What runs beside it only makes a round longer.
 * From so many packets of a round on sch_hold keeps none, since pktgen waits for its last one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#define CONTROL "/proc/net/pktgen/pgctrl"
#define MORE "/sys/module/sch_hold/parameters/more"

static void say(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, what, strlen(what)) != (ssize_t)strlen(what)) {
		fprintf(stderr, "pgtime: %s: %m\n", path);
		exit(1);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned long long least = ~0ULL, began, took;
	int rounds = argc == 3 ? atoi(argv[1]) : 0;

	if (rounds < 1) {
		fprintf(stderr, "usage: pgtime ROUNDS PACKETS\n");
		return 2;
	}
	while (rounds--) {
		say(MORE, argv[2]);
		began = __rdtsc();
		say(CONTROL, "start\n");
		took = __rdtsc() - began;
		if (took < least)
			least = took;
	}
	printf("%llu\n", least);
	return 0;
}
