/* SPDX-License-Identifier: GPL-2.0-only */
/* contents.h - what control frames hold: made of protocol.md by selftests/unit/contents */
static const struct content contents[] = {
	{ 1, "HELLO", 36, 0, 1, "rx_stale", {
		{ "role", 0, 1, { 1, 0, NULL }, { 2, 0, NULL } },
		{ "queues", 4, 2, { 0, 0, NULL }, { 4094, 0, NULL } },
	} },
	{ 2, "PAUSE STATE", 12, 8, 8, "rx_untrusted", {
		{ "first word", 8, 2, { 0, 0, NULL }, { 64, -1, "count of words" } },
		{ "count of words", 10, 2, { 1, 0, NULL }, { 64, 0, NULL } },
	} },
	{ 3, "PAUSE ACK", 4, 0, 8, "rx_range", {
	} },
	{ 4, "PROBE", 8, 0, 1, "ignored", {
		{ "VLAN id", 4, 2, { 1, 0, NULL }, { 4094, 0, NULL } },
	} },
	{ 5, "PROBE ECHO", 8, 0, 1, "ignored", {
		{ "VLAN id", 4, 2, { 1, 0, NULL }, { 4094, 0, NULL } },
	} },
	{ 6, "GOODBYE", 0, 0, 1, "ignored", {
	} },
	{ 8, "END", 10, 2, 1, "rx_untrusted", {
		{ "transmit queue", 4, 2, { 0, 0, NULL }, { -1, 1, "transmit queues" } },
		{ "transmit queues", 6, 2, { 1, 0, NULL }, { 256, 0, NULL } },
		{ "count of keys", 8, 2, { 0, 0, NULL }, { 65535, 0, NULL } },
	} },
	{ 9, "BALANCES", 6, 6, 1, "rx_untrusted", {
		{ "count", 4, 2, { 0, 0, NULL }, { 65535, 0, NULL } },
	} },
	{ 30, "EXAMPLE STATE", 12, 8, 8, "ignored", {
		{ "first page", 8, 2, { 0, 0, NULL }, { 64, -1, "count of pages" } },
		{ "count of pages", 10, 2, { 1, 0, NULL }, { 64, 0, NULL } },
	} },
	{ 31, "EXAMPLE ACK", 4, 0, 8, "ignored", {
	} },
	{ 36, "PAUSE ROOTS", 6, 6, 1, "rx_stale", {
		{ "sub-queue", 0, 2, { 0, 0, NULL }, { 4093, 0, NULL } },
		{ "hops", 4, 1, { 0, 0, NULL }, { 16, 0, NULL } },
	} },
};
