/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pcap.h - frames in files that tcpdump and Wireshark read and write
 *
 * Classic pcap of Ethernet frames with time stamps in nanoseconds, in this machine's byte order.
 * Other files are refused; `editcap -F nsecpcap` makes them this.
 */
#ifndef _SLUICE_PCAP_H
#define _SLUICE_PCAP_H

#include <err.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define PCAP_MAGIC	0xa1b23c4d
#define PCAP_ETHERNET	1
#define PCAP_SNAPLEN	262144

struct pcap_head {
	__u32	magic;
	__u16	major;
	__u16	minor;
	__u32	zone;
	__u32	accuracy;
	__u32	snaplen;
	__u32	link;
};

struct pcap_record {
	__u32	sec;
	__u32	nsec;
	__u32	kept;	/* bytes that follow */
	__u32	len;	/* bytes that the frame had */
};

static inline FILE *pcap_create(const char *path)
{
	const struct pcap_head head = {
		.magic = PCAP_MAGIC, .major = 2, .minor = 4, .snaplen = PCAP_SNAPLEN,
		.link = PCAP_ETHERNET,
	};
	FILE *file = fopen(path, "w");

	if (!file || fwrite(&head, sizeof(head), 1, file) != 1)
		err(1, "%s", path);
	return file;
}

static inline void pcap_put(FILE *file, const struct timespec *when, const void *frame, size_t len)
{
	struct pcap_record r = {
		.sec = when->tv_sec, .nsec = when->tv_nsec, .kept = len, .len = len,
	};

	if (fwrite(&r, sizeof(r), 1, file) != 1 || fwrite(frame, len, 1, file) != 1)
		err(1, "cannot keep a frame");
}

static inline FILE *pcap_open(const char *path)
{
	FILE *file = fopen(path, "r");
	struct pcap_head head;

	if (!file)
		err(1, "%s", path);
	if (fread(&head, sizeof(head), 1, file) != 1 || head.magic != PCAP_MAGIC ||
	    head.link != PCAP_ETHERNET)
		errx(1, "%s is not a nanosecond pcap of Ethernet frames", path);
	return file;
}

/* The next frame; false after the last one. */
static inline bool pcap_get(FILE *file, void *frame, size_t room, size_t *len)
{
	struct pcap_record r;

	if (fread(&r, sizeof(r), 1, file) != 1)
		return false;
	if (r.kept > room || fread(frame, 1, r.kept, file) != r.kept)
		errx(1, "a frame in the file is too long or cut off");
	*len = r.kept;
	return true;
}

#endif
