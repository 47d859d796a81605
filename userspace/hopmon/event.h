/* SPDX-License-Identifier: GPL-2.0-only */
/* event.h - are the modules' tracepoints those that hopmon was built for? */
#ifndef _HOPMON_EVENT_H
#define _HOPMON_EVENT_H

#include <stddef.h>

/**
 * struct event_field - a field that a BPF program reads
 * @name: its name
 * @offset: where the program looks for it
 * @size: how many bytes it takes
 */
struct event_field {
	const char	*name;
	size_t		offset;
	size_t		size;
};

/**
 * struct event - a tracepoint that hopmon attaches to
 * @system: the trace system
 * @name: the event
 * @fields: what is read of it, up to one without a name
 */
struct event {
	const char			*system;
	const char			*name;
	const struct event_field	*fields;
};

/* All of them, up to one without a name */
extern const struct event events[];

/**
 * event_check_format - compare an event with its format file
 * @event: the event
 * @format: contents of the file
 * @why: where a difference is explained
 * @size: bytes there
 *
 * Return: 0, or -1: a field is elsewhere, of another size, or not there at all.
 */
int event_check_format(const struct event *event, const char *format, char *why, size_t size);

/**
 * event_check_all - compare all events with what the kernel has
 * @tracefs: where the trace file system is mounted
 * @why: where what is wrong is explained
 * @size: bytes there
 *
 * Return: 0 or -1.
 */
int event_check_all(const char *tracefs, char *why, size_t size);

#endif
