// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_frames.c - what the lab's `frames` makes of frames, labels and files
 *
 * Frames come by a pair of sockets instead of a packet socket. What ends the program is tried in a
 * child.
 */
#include "../../userspace/lab/frames.c"

#include <sys/wait.h>

#include "unit.h"

#define MANY	300

static uint8_t frame[SNAP + 100];
static size_t length;

static void put(unsigned int value, size_t bytes)
{
	for (; bytes; bytes--)
		frame[length++] = (uint8_t)(value >> 8 * (bytes - 1));
}

static void ethernet(unsigned int type)
{
	memset(frame, 0, sizeof(frame));
	length = AT_TYPE;
	put(type, 2);
}

/* A content of a control frame, with a value of so many zeros */
static void content(unsigned int type, unsigned int bytes)
{
	put(type, 2);
	put(bytes, 2);
	length += bytes;
	frame[AT_TYPE + 4] = (uint8_t)((length - AT_TYPE - 2 - sizeof(struct hop_frame_hdr)) >> 8);
	frame[AT_TYPE + 5] = (uint8_t)(length - AT_TYPE - 2 - sizeof(struct hop_frame_hdr));
}

static void control(void)
{
	ethernet(HOP_ETHERTYPE);
	length += sizeof(struct hop_frame_hdr);
}

static void data(void)
{
	ethernet(ETH_P_IP);
	frame[length] = 0x45;
	frame[length + 9] = IP_UDP;
	frame[length + 22] = FLOWGEN_PORT >> 8;
	frame[length + 23] = FLOWGEN_PORT & 255;
	length += 28 + GBN_HEADER;
}

static struct link link_0 = { .name = "port", .from = 1, .to = 2, .rate = 1000000000 };
static struct space space_0 = { .name = "box", .n = 1, .links = &link_0 };
static int sender;

/* As if the frame had come by the link */
static void comes(void)
{
	if (send(sender, frame, length, 0) != (ssize_t)length || !frame_read(&space_0, 0))
		check(false, "a frame comes");
}

static const struct count *counted(const char *kind)
{
	static const struct count none;

	for (unsigned int i = 0; i < link_0.n_counts; i++)
		if (!strcmp(kinds[i].name, kind))
			return &link_0.counts[i];
	return &none;
}

/* Whether it ends the program with these words */
static bool dies(void (*what)(const char *), const char *file, const char *words)
{
	char said[512] = "";
	int fds[2], status;
	size_t n;
	FILE *f;

	if (pipe(fds))
		return false;
	fflush(stdout);
	if (!fork()) {
		dup2(fds[1], STDERR_FILENO);
		what(file);
		_exit(0);
	}
	close(fds[1]);
	f = fdopen(fds[0], "r");
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	fclose(f);
	wait(&status);
	return WIFEXITED(status) && WEXITSTATUS(status) == LAB_EXIT_TROUBLE && strstr(said, words);
}

static const char *file_of(const char *text)
{
	static char name[] = "/tmp/test_frames.XXXXXX";
	static int fd = -1;

	if (fd < 0)
		fd = mkstemp(name);
	if (ftruncate(fd, 0) || pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		check(false, "a file");
	return name;
}

static void test_contents(void)
{
	control();
	content(HOP_TLV_HELLO, 300);
	content(HOP_TLV_BALANCES, 900);
	content(HOP_TLV_END, 8);
	comes();
	check(!link_0.n_counts, "a control frame counts when one of a flow comes behind it");
	data();
	comes();
	check(counted("hello+end+balances")->frames == 1, "contents far behind are named");
	check(counted("hello+end+balances")->bytes == 14 + sizeof(struct hop_frame_hdr) + 1220,
	      "and all bytes are counted");
	check(counted("data")->frames == 1, "so is the other");
	control();
	comes();
	control();
	content(40, 0);
	content(64, 0);
	content(1000, 0);
	comes();
	data();
	comes();
	check(counted("empty")->frames == 1, "no content");
	check(counted("40+more")->frames == 1, "one without a name, and those above 62");
}

static void longest(const char *file)
{
	control();
	length = SNAP + 1;
	comes();
}

static void test_long(void)
{
	control();
	content(HOP_TLV_BALANCES, SNAP - length - 4);
	comes();
	data();
	comes();
	check(counted("balances")->frames == 1, "the longest control frame");
	check(dies(longest, NULL, "port: a control frame of 16385 bytes"), "one that is too long");
	data();
	length = SNAP + 1;
	comes();
	check(counted("data")->frames == 4, "one of data may be");
}

/* A set of contents for each number */
static void test_kinds(void)
{
	bool right = true;
	char name[128];
	unsigned int i, bit;

	for (i = 1; i <= MANY; i++) {
		control();
		for (bit = 0; bit < 10; bit++)
			if (i & 1U << bit)
				content(20 + bit, 0);
		comes();
	}
	data();
	comes();
	for (i = 1; i <= MANY; i++) {
		name[0] = '\0';
		for (bit = 0; bit < 10; bit++)
			if (i & 1U << bit)
				sprintf(name + strlen(name), "%s%u", *name ? "+" : "", 20 + bit);
		right &= counted(name)->frames == 1;
	}
	check(right, "many kinds, each by its name");
	for (i = 0; i < 1U << 11; i++) {
		control();
		for (bit = 0; bit < 11; bit++)
			if (i & 1U << bit)
				content(40 + bit, 0);
		comes();
	}
	data();
	comes();
	check(n_kinds == KINDS_MAX && counted("control")->frames > 1000, "too many are one");
}

static void test_labels(void)
{
	char *text = malloc(MANY * 32 + 1024), *at = text;
	bool right = true;
	unsigned int i;
	char name[16];

	at += sprintf(at, "# sluice-trace 1\n# %0*d 0 0 1 1 0 x\n", 900, 0);
	for (i = 0; i < MANY; i++)
		at += sprintf(at, "%u 0 1 10 0 l%u\n", i, i);
	sprintf(at, "%u 0 1 10 0 l7\n\n%u 0 1 10\n", i, i);
	flows_read(file_of(text));
	free(text);
	check(n_flows == MANY + 2, "a flow for each line, but for long comments");
	for (i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		right &= !strcmp(labels[label_of[i]], name);
	}
	check(right && n_labels == MANY + 1, "many labels");
	check(label_of[MANY] == label_of[7], "one that was there before");
	check(!strcmp(labels[label_of[MANY + 1]], "-"), "none");
	link_0.layer = layer_find(1, 2);
	packet_waited(&link_0, MANY - 1, 5);
	check(layers[link_0.layer].waits[label_of[MANY - 1]].n == 1, "what waits is of the last");
}

static void test_files(void)
{
	check(dies(flows_read, ".", ".: Is a directory"), "flows that cannot be read");
	check(dies(links_read, ".", ".: Is a directory"), "links that cannot be read");
	check(dies(links_read, file_of("port box dev 0 1 1000 0\n"), ":1: should be: NAME NETNS"),
	      "a link without a number");
	check(dies(links_read, file_of("port box dev 0 1 1000 0 0 0\n"), ":1: should be: NAME NETNS"),
	      "a link with one more");
	check(dies(links_read, file_of("port box dev 0 x 1000 0 0\n"), ":1: should be: NAME NETNS"),
	      "a layer that is no number");
	check(dies(links_read, file_of(""), "names no port"), "no link");
	unlink(file_of(""));
}

int main(void)
{
	int fds[2], room = 1 << 20;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) ||
	    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)))
		return 1;
	sender = fds[0];
	space_0.fd = fds[1];
	buckets = lab_alloc(BUCKETS, sizeof(struct packet *));
	test_contents();
	test_long();
	test_kinds();
	test_labels();
	test_files();
	printf("1..%u\n", done);
	return failed ? 1 : 0;
}
