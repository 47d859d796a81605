// SPDX-License-Identifier: GPL-2.0-only
/* event.c - are the modules' tracepoints those that hopmon was built for? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "events.h"

#define FIELD(event, type, name) { #name, offsetof(struct event_##event, name), sizeof(type) },
#define FIELDS(system, event, fields)					\
	static const struct event_field event##_fields[] = {		\
		HOPMON_##fields##_FIELDS(FIELD, event) { NULL, 0, 0 }	\
	};
#define EVENT(system, event, fields) { #system, #event, event##_fields },

HOPMON_EVENTS(FIELDS)

const struct event events[] = {
	HOPMON_EVENTS(EVENT)
	{ NULL, NULL, NULL }
};

/* Does a line of a format file describe this field? "\tfield:char dev[16];\toffset:16; ..." */
static int line_is_of(const char *line, const char *name)
{
	const char *colon = strstr(line, "field:"), *end = strchr(line, ';'), *word;

	if (!colon || !end)
		return 0;
	word = memchr(colon, '[', end - colon);
	if (word)
		end = word;
	for (word = end; word > colon && word[-1] != ' ' && word[-1] != '*'; word--)
		;
	return (size_t)(end - word) == strlen(name) && !strncmp(word, name, end - word);
}

static int check_field(const struct event *event, const struct event_field *field,
		       const char *format, char *why, size_t size)
{
	const char *line, *end;
	size_t offset, bytes;

	for (line = format; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (!line_is_of(line, field->name))
			continue;
		line = strchr(line, ';');
		if (sscanf(line, "; offset:%zu; size:%zu", &offset, &bytes) != 2)
			break;
		if (offset == field->offset && bytes == field->size)
			return 0;
		snprintf(why, size, "%s: field %s is at %zu and has %zu bytes, "
			 "this hopmon wants it at %zu with %zu", event->name, field->name,
			 offset, bytes, field->offset, field->size);
		return -1;
	}
	snprintf(why, size, "%s: there is no field %s", event->name, field->name);
	return -1;
}

int event_check_format(const struct event *event, const char *format, char *why, size_t size)
{
	const struct event_field *field;

	for (field = event->fields; field->name; field++)
		if (check_field(event, field, format, why, size))
			return -1;
	return 0;
}

static int check_file(const char *tracefs, const struct event *event, char *why, size_t size)
{
	char path[256], format[8192];
	size_t got;
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, event->system, event->name);
	file = fopen(path, "r");
	if (!file) {
		snprintf(why, size, "%s: %s", path, strerror(errno));
		return -1;
	}
	got = fread(format, 1, sizeof(format) - 1, file);
	format[got] = 0;
	fclose(file);
	return event_check_format(event, format, why, size);
}

static const char *module_of(const struct event *event)
{
	return strcmp(event->system, "bfc") ? event->system : "sch_bfc";
}

int event_check_all(const char *tracefs, char *why, size_t size)
{
	const struct event *event;
	char path[256], what[512];

	snprintf(path, sizeof(path), "%s/events", tracefs);
	if (access(path, R_OK | X_OK)) {
		if (errno == EACCES || errno == EPERM)
			snprintf(why, size, "may not read %s: hopmon must be root, or have "
				 "CAP_BPF, CAP_PERFMON and that directory readable", path);
		else
			snprintf(why, size, "there is no %s: mount -t tracefs tracefs %s "
				 "(under ip netns exec there is none: use --netns instead)",
				 path, tracefs);
		return -1;
	}
	for (event = events; event->name; event++) {
		snprintf(path, sizeof(path), "%s/events/%s", tracefs, event->system);
		if (access(path, F_OK)) {
			snprintf(why, size, "the module %s is not loaded (or is too old: it has no "
				 "tracepoints \"%s\")", module_of(event), event->system);
			return -1;
		}
		if (check_file(tracefs, event, what, sizeof(what))) {
			snprintf(why, size, "%s; the module %s and hopmon are not of one version",
				 what, module_of(event));
			return -1;
		}
	}
	return 0;
}
