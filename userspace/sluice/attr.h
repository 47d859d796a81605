/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * attr: attributes by tables: a row says what an attribute is called, what it is, and its unit.
 *
 * A name is the one of tc's JSON. JSON values are plain: numbers in bytes, bytes per second,
 * nanoseconds and counts, words for what is chosen from a list, booleans. Text is exact too and
 * carries a unit.
 */
#ifndef _SLUICE_ATTR_H
#define _SLUICE_ATTR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ATTR_TEXT_MAX	64
#define ATTR_TABLE_MAX	64	/* no table of attributes is longer */

/* What a value is: decides how it is read and shown. */
enum attr_kind {
	ATTR_NUMBER,
	ATTR_BOOL,
	ATTR_WORD,	/* one of a list */
	ATTR_FLAGS,	/* several of a list */
	ATTR_STRING,
	ATTR_MAC,
	ATTR_BITMAP,	/* u64 words; which sub-queues */
	ATTR_ROOTS,	/* struct hop_held_by, several */
	ATTR_NEST,
};

/**
 * struct attr_word - one of a list of words; a NULL name ends the list
 * @name: the word
 * @value: what it is in the attribute
 * @doc: what it means
 */
struct attr_word {
	const char *name;
	uint64_t value;
	const char *doc;
};

/**
 * struct attr - a row; a NULL name ends the table
 * @name: as in tc's JSON
 * @type: number of the attribute
 * @kind: what it is
 * @unit: as in Documentation/counters.md
 * @doc: what it says
 * @words: for ATTR_WORD and ATTR_FLAGS
 */
struct attr {
	const char *name;
	uint16_t type;
	enum attr_kind kind;
	const char *unit;
	const char *doc;
	const struct attr_word *words;
};

/**
 * struct attr_value - where a value lies in a received message
 * @data: its first byte, or NULL if the attribute is not there
 * @len: its bytes
 */
struct attr_value {
	const void *data;
	size_t len;
};

/**
 * attr_find - the row of a name
 * @table: the table
 * @name: the name
 *
 * Return: the row, or NULL.
 */
const struct attr *attr_find(const struct attr *table, const char *name);

/**
 * attr_number - an unsigned integer of whatever size it came in
 * @v: the value
 *
 * Return: the number; 0 if it is not there or no integer.
 */
uint64_t attr_number(const struct attr_value *v);

/**
 * attr_word_name - the word for a value
 * @words: the list
 * @value: the value
 *
 * Return: the word, or NULL.
 */
const char *attr_word_name(const struct attr_word *words, uint64_t value);

/**
 * attr_is_counter - does it count up, and so belong behind -s
 * @a: the row
 */
bool attr_is_counter(const struct attr *a);

/**
 * attr_json - a value for JSON
 * @a: its row
 * @v: the value
 *
 * Return: a new reference.
 */
json_t *attr_json(const struct attr *a, const struct attr_value *v);

/**
 * attr_text - a value for people
 * @a: its row
 * @v: the value
 *
 * Return: a string to free.
 */
char *attr_text(const struct attr *a, const struct attr_value *v);

/* Exact texts of a number: 1.5us, 10Gbit, 64Kb. @buf has ATTR_TEXT_MAX bytes. */
const char *text_time(char *buf, uint64_t ns);
const char *text_rate(char *buf, uint64_t bytes_per_s);
const char *text_bytes(char *buf, uint64_t bytes);

#endif
