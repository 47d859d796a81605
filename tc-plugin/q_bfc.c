// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_bfc - the kind bfc for tc: its options, its statistics and those of its classes
 *
 * Everything is driven by tables. A row of bfc_options[] says how an option is typed, which
 * attribute it becomes, what values it may have and what help says of it; parsing, printing
 * (text and JSON) and help all walk that table. The rows of bfc_stats[], bfc_class_stats[] and
 * bfc_port[] do the same for what the kernel reports. A new attribute is a new row.
 *
 * Names: one per thing, made from the attribute's name. JSON keys are the names with
 * underscores; the options that users type have dashes (th-scale). JSON values are plain numbers
 * in bytes, bytes per second, nanoseconds and percent, where 0 of an option means auto; what
 * is chosen from a list is a string; what is on or off is a boolean. Text is exact too: an
 * option line that was printed can be typed in again.
 *
 * Only the options that were given are sent, so that `tc qdisc change` leaves the others alone.
 * The kernel checks everything again and knows rules that involve more than one option (queues
 * are a multiple of classes); here a value is checked by itself, so that the message can quote
 * what was typed.
 *
 * Limits: a bare number is not a time (tc reads it as microseconds here and as nanoseconds
 * there), 0 excepted. tc's -raw and -iec change nothing.
 */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plugin.h"
#include "../kernel/uapi/bfc.h"
#include "../kernel/uapi/hopctl.h"

#define BFC_MESSAGE_MAX	16384	/* bytes of tc's request buffer in every version served */
#define BFC_PRIOS	16	/* skb priorities that the priomap tells apart */
#define BFC_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What a value is: decides how it is parsed and printed. */
enum bfc_type {
	BFC_COUNT,
	BFC_SIGNED,
	BFC_BYTES,
	BFC_TIME,	/* ns */
	BFC_RATE,	/* bytes per second */
	BFC_PERCENT,
	BFC_SHARE,	/* hundredths of a percent */
	BFC_BOOL,
	BFC_CHOICE,
	BFC_PRIOMAP,
	BFC_MAC,
	BFC_NEST,
};

/**
 * struct bfc_choice - one of a list of words
 * @name: the word that is printed; NULL ends the list
 * @value: what it is in the attribute
 * @alias: another word that is understood, or NULL
 * @meaning: what a reader of statistics should know, or NULL
 */
struct bfc_choice {
	const char *name;
	unsigned int value;
	const char *alias;
	const char *meaning;
};

/**
 * struct bfc_field - something that is printed
 * @name: its name in text, and with underscores in JSON
 * @attr: its attribute
 * @type: what it is
 * @choices: for BFC_CHOICE; for BFC_BOOL ways to be on, of which the first is not one: a word may
 *	follow, and JSON has it under the name with _by
 */
struct bfc_field {
	const char *name;
	unsigned short attr;
	enum bfc_type type;
	const struct bfc_choice *choices;
};

/**
 * struct bfc_option - something that is also typed in
 * @f: name, attribute, type
 * @no: the word that turns a BFC_BOOL off
 * @size: bytes of the attribute
 * @zero: the word for 0, if that is allowed: auto, none
 * @min: least value, if not 0 for @zero; 0 leaves the range to the kernel, which alone knows it
 * @max: greatest value, or all that fits into the attribute
 * @help: what it is, and its default
 */
struct bfc_option {
	struct bfc_field f;
	const char *no;
	unsigned char size;
	const char *zero;
	__u64 min;
	__u64 max;
	const char *help;
};

/**
 * struct bfc_stat - a statistic
 * @f: name, attribute, type
 * @line: not NULL: starts a line of text with this title
 */
struct bfc_stat {
	struct bfc_field f;
	const char *line;
};

static const struct bfc_choice bfc_assigns[] = {
	{ .name = "dynamic",	.value = BFC_ASSIGN_DYNAMIC },
	{ .name = "stochastic",	.value = BFC_ASSIGN_STOCHASTIC },
	{ .name = "single",	.value = BFC_ASSIGN_SINGLE },
	{}
};

static const struct bfc_choice bfc_reuses[] = {
	{ .name = "sticky",	.value = BFC_REUSE_STICKY },
	{ .name = "empty",	.value = BFC_REUSE_EMPTY },
	{}
};

static const struct bfc_choice bfc_pauses[] = {
	{ .name = "none",	.value = BFC_PAUSE_NONE },
	{ .name = "queue",	.value = BFC_PAUSE_QUEUE },
	{ .name = "ingress",	.value = BFC_PAUSE_INGRESS },
	{}
};

static const struct bfc_choice bfc_roles[] = {
	{ .name = "auto",	.value = HOP_ROLE_AUTO },
	{ .name = "host",	.value = HOP_ROLE_HOST },
	{ .name = "switch",	.value = HOP_ROLE_SWITCH },
	{}
};

static const struct bfc_choice bfc_peer_roles[] = {
	{ .name = "auto",	.value = HOP_ROLE_AUTO, .meaning = "not known yet" },
	{ .name = "host",	.value = HOP_ROLE_HOST },
	{ .name = "switch",	.value = HOP_ROLE_SWITCH },
	{}
};

static const struct bfc_choice bfc_tiers[] = {
	{ .name = "none",	.value = HOP_TIER_NONE },
	{ .name = "down",	.value = HOP_TIER_DOWN },
	{ .name = "up",		.value = HOP_TIER_UP },
	{}
};

static const struct bfc_choice bfc_tpids[] = {
	{ .name = "0x88a8",	.value = 0x88a8, .alias = "802.1ad" },
	{ .name = "0x8100",	.value = 0x8100, .alias = "802.1q" },
	{}
};

static const struct bfc_choice bfc_states[] = {
	{ .name = "tagging",		.value = HOP_STATE_TAGGING,
	  .meaning = "frames carry the fabric tag, pauses work" },
	{ .name = "no_neighbour",	.value = HOP_STATE_NO_NEIGHBOUR,
	  .meaning = "nobody answers on this link" },
	{ .name = "no_strip",		.value = HOP_STATE_NO_STRIP,
	  .meaning = "the neighbour does not take tags off" },
	{ .name = "tpid",		.value = HOP_STATE_TPID,
	  .meaning = "the neighbour uses another TPID" },
	{ .name = "probing",		.value = HOP_STATE_PROBING,
	  .meaning = "finding out if tagged frames pass" },
	{ .name = "probe_size",		.value = HOP_STATE_PROBE_SIZE,
	  .meaning = "tagged frames pass, but not of full size" },
	{ .name = "probe_tag",		.value = HOP_STATE_PROBE_TAG,
	  .meaning = "untagged frames pass, tagged ones do not" },
	{ .name = "shared",		.value = HOP_STATE_SHARED,
	  .meaning = "more than one neighbour on this link" },
	{ .name = "no_carrier",		.value = HOP_STATE_NO_CARRIER,
	  .meaning = "no carrier" },
	{ .name = "disabled",		.value = HOP_STATE_DISABLED,
	  .meaning = "tagging is turned off" },
	{}
};

static const struct bfc_option bfc_options[] = {
	{ .f = { "queues", TCA_BFC_QUEUES, BFC_COUNT, NULL }, .size = 2,
	  .min = 1, .max = BFC_QUEUES_MAX,
	  .help = "data sub-queues, a multiple of classes (128)" },
	{ .f = { "classes", TCA_BFC_CLASSES, BFC_COUNT, NULL }, .size = 1,
	  .min = 1, .max = BFC_CLASSES_MAX,
	  .help = "strict-priority classes, which split the sub-queues (1)" },
	{ .f = { "flows", TCA_BFC_FLOWS, BFC_COUNT, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_FLOWS_MAX,
	  .help = "entries of the flow table (auto: 100 x queues)" },
	{ .f = { "assign", TCA_BFC_ASSIGN, BFC_CHOICE, bfc_assigns }, .size = 1,
	  .help = "how a flow comes to its sub-queue (dynamic)" },
	{ .f = { "reuse", TCA_BFC_REUSE, BFC_CHOICE, bfc_reuses }, .size = 1,
	  .help = "when an empty sub-queue may go to another flow (sticky)" },
	{ .f = { "limit", TCA_BFC_LIMIT, BFC_BYTES, NULL }, .size = 4,
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "bytes that may be queued (8Mb)" },
	{ .f = { "quantum", TCA_BFC_QUANTUM, BFC_BYTES, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "bytes that a sub-queue sends in its turn (auto: one frame)" },
	{ .f = { "priomap", TCA_BFC_PRIOMAP, BFC_PRIOMAP, NULL }, .size = BFC_PRIOS,
	  .max = BFC_CLASSES_MAX - 1,
	  .help = "class, from 0, of each skb priority (as pfifo_fast)" },
	{ .f = { "split-gso", TCA_BFC_SPLIT_GSO, BFC_BOOL, NULL }, .size = 1,
	  .no = "no-split-gso",
	  .help = "cut GSO packets into frames before queueing (split-gso)" },
	{ .f = { "pause", TCA_BFC_PAUSE, BFC_BOOL, bfc_pauses }, .size = 1,
	  .no = "nopause",
	  .help = "pause upstream sub-queues: of a queue over the threshold (pause)" },
	{ .f = { "rate", TCA_BFC_RATE, BFC_RATE, NULL }, .size = 8, .zero = "auto",
	  .max = UINT64_MAX,
	  .help = "what the threshold reckons with, shapes nothing (auto: link speed)" },
	{ .f = { "hrtt", TCA_BFC_HRTT, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "1-hop round-trip time of the link (auto: measured)" },
	{ .f = { "th", TCA_BFC_TH, BFC_BYTES, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "fixed pause threshold (auto: hrtt x rate / active sub-queues)" },
	{ .f = { "th-scale", TCA_BFC_TH_SCALE, BFC_PERCENT, NULL }, .size = 4,
	  .min = 1, .max = BFC_TH_SCALE_MAX,
	  .help = "multiplies the automatic threshold (100%)" },
	{ .f = { "sticky", TCA_BFC_STICKY, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_TIME_MAX_NS,
	  .help = "how long an idle flow keeps its sub-queue (auto: 2 hrtt)" },
	{ .f = { "role", TCA_BFC_ROLE, BFC_CHOICE, bfc_roles }, .size = 1,
	  .help = "what this box is on this port (auto)" },
	{ .f = { "peer", TCA_BFC_PEER, BFC_CHOICE, bfc_roles }, .size = 1,
	  .help = "what the neighbour is taken for (auto: what it says)" },
	{ .f = { "tag", TCA_BFC_TAG, BFC_BOOL, NULL }, .size = 1,
	  .no = "notag",
	  .help = "tag frames if the neighbour strips tags (tag)" },
	{ .f = { "tpid", TCA_BFC_TPID, BFC_CHOICE, bfc_tpids }, .size = 2,
	  .help = "TPID of the fabric tag (0x88a8)" },
	{ .f = { "refresh", TCA_BFC_REFRESH, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "time between repeated pause states (auto: max(4 hrtt, 100us))" },
	{ .f = { "lease", TCA_BFC_LEASE, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "how long a pause lasts without a refresh (auto: 8 refreshes)" },
	{ .f = { "watch", TCA_BFC_WATCH, BFC_BOOL, NULL }, .size = 1,
	  .no = "nowatch",
	  .help = "end the effect of pauses that never end (watch)" },
	{ .f = { "watchdog", TCA_BFC_WATCHDOG, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "how long a pause that never ends is endured (auto: 200ms)" },
	{ .f = { "restore", TCA_BFC_RESTORE, BFC_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "quiet time after which pauses are obeyed again (auto: 2 watchdog)" },
	{ .f = { "tier", TCA_BFC_TIER, BFC_CHOICE, bfc_tiers }, .size = 1,
	  .help = "where the port leads: up and then up again pauses nobody (none)" },
	{ .f = { "pool", TCA_BFC_POOL, BFC_BYTES, NULL }, .size = 4, .zero = "none",
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "buffer shared with all that name it, in this namespace (none)" },
	{ .f = { "pool-alpha", TCA_BFC_POOL_ALPHA, BFC_SHARE, NULL }, .size = 4,
	  .min = 1, .max = BFC_ALPHA_MAX,
	  .help = "what may be queued, in terms of the pool's free part (100%)" },
	{ .f = { "pool-pause-alpha", TCA_BFC_POOL_PAUSE_ALPHA, BFC_SHARE, NULL }, .size = 4,
	  .min = 1, .max = BFC_ALPHA_MAX,
	  .help = "what may come from one queue before pause ingress stops it (12.5%)" },
};

#define BFC_STAT(prefix, label, attr, type) { .f = { label, prefix##attr, type, NULL } }
#define BFC_LINE(prefix, title, label, attr, type) \
	{ .f = { label, prefix##attr, type, NULL }, .line = title }

#define QSTAT(...) BFC_STAT(TCA_BFC_STATS_, __VA_ARGS__)
#define QLINE(...) BFC_LINE(TCA_BFC_STATS_, __VA_ARGS__)
static const struct bfc_stat bfc_stats[] = {
	QLINE("now", "th", TH, BFC_BYTES),
	QSTAT("n_active", N_ACTIVE, BFC_COUNT),
	QSTAT("backlogged", BACKLOGGED, BFC_COUNT),
	QSTAT("paused", PAUSED, BFC_COUNT),
	QSTAT("marked", MARKED, BFC_COUNT),
	QSTAT("link_rate", LINK_RATE, BFC_RATE),
	QSTAT("hrtt", HRTT, BFC_TIME),
	QSTAT("sticky", STICKY, BFC_TIME),
	QLINE("highest", "th_max", TH_MAX, BFC_BYTES),
	QSTAT("backlog_max", BACKLOG_MAX, BFC_BYTES),
	QSTAT("backlog_time", BACKLOG_TIME, BFC_COUNT),
	QSTAT("time", TIME, BFC_TIME),
	QLINE("pool", "pool_size", POOL_SIZE, BFC_BYTES),
	QSTAT("pool_used", POOL_USED, BFC_BYTES),
	QSTAT("pool_max", POOL_MAX, BFC_BYTES),
	QLINE("flows", "assign_free", ASSIGN_FREE, BFC_COUNT),
	QSTAT("assign_early", ASSIGN_EARLY, BFC_COUNT),
	QSTAT("assign_shared", ASSIGN_SHARED, BFC_COUNT),
	QSTAT("assign_sticky", ASSIGN_STICKY, BFC_COUNT),
	QSTAT("collisions", COLLISIONS, BFC_COUNT),
	QLINE("pausing", "marks", MARKS, BFC_COUNT),
	QSTAT("over_unlabelled", OVER_UNLABELLED, BFC_COUNT),
	QSTAT("elided", ELIDED, BFC_COUNT),
	QSTAT("withdrawn", WITHDRAWN, BFC_COUNT),
	QLINE("paused", "pauses_obeyed", PAUSES_OBEYED, BFC_COUNT),
	QSTAT("resumes_obeyed", RESUMES_OBEYED, BFC_COUNT),
	QSTAT("paused_time", PAUSED_TIME, BFC_TIME),
	QLINE("packets", "control", CONTROL, BFC_COUNT),
	QSTAT("gso_split", GSO_SPLIT, BFC_COUNT),
	QSTAT("tagged", TAGGED, BFC_COUNT),
	QLINE("lost", "drop_limit", DROP_LIMIT, BFC_COUNT),
	QSTAT("drop_control", DROP_CONTROL, BFC_COUNT),
	QSTAT("drop_gso", DROP_GSO, BFC_COUNT),
	QSTAT("drop_tag", DROP_TAG, BFC_COUNT),
	QSTAT("drop_filter", DROP_FILTER, BFC_COUNT),
	QSTAT("drop_pool", DROP_POOL, BFC_COUNT),
	QSTAT("port", PORT, BFC_NEST),
};

#define CSTAT(...) BFC_STAT(TCA_BFC_CLASS_, __VA_ARGS__)
#define CLINE(...) BFC_LINE(TCA_BFC_CLASS_, __VA_ARGS__)
static const struct bfc_stat bfc_class_stats[] = {
	CLINE("class", "paused", PAUSED, BFC_BOOL),
	CSTAT("flows", FLOWS, BFC_COUNT),
	CSTAT("deficit", DEFICIT, BFC_SIGNED),
	CSTAT("backlog_max", BACKLOG_MAX, BFC_BYTES),
	CSTAT("pauses", PAUSES, BFC_COUNT),
	CSTAT("paused_time", PAUSED_TIME, BFC_TIME),
	CSTAT("marks", MARKS, BFC_COUNT),
};

#define PSTAT(...) BFC_STAT(HOP_A_, __VA_ARGS__)
#define PLINE(...) BFC_LINE(HOP_A_, __VA_ARGS__)
static const struct bfc_stat bfc_port[] = {
	{ .f = { "state", HOP_A_STATE, BFC_CHOICE, bfc_states }, .line = "port" },
	{ .f = { "role", HOP_A_ROLE, BFC_CHOICE, bfc_roles }, .line = "port" },
	{ .f = { "peer_role", HOP_A_PEER_ROLE, BFC_CHOICE, bfc_peer_roles } },
	{ .f = { "tier", HOP_A_TIER, BFC_CHOICE, bfc_tiers } },
	PSTAT("peer_mac", PEER_MAC, BFC_MAC),
	PSTAT("peer_queues", PEER_QUEUES, BFC_COUNT),
	PSTAT("handles", HANDLES, BFC_COUNT),
	PLINE("port", "hrtt_raw", HRTT_RAW, BFC_TIME),
	PSTAT("hrtt", HRTT, BFC_TIME),
	PSTAT("ring", RING, BFC_TIME),
	PSTAT("paused_queues", PAUSED_QUEUES, BFC_COUNT),
	PSTAT("pausing_queues", PAUSING_QUEUES, BFC_COUNT),
	PSTAT("pause_counters", PAUSE_COUNTERS, BFC_COUNT),
	PSTAT("ingress_bytes", INGRESS_BYTES, BFC_BYTES),
	PLINE("port", "hello_tx", HELLO_TX, BFC_COUNT),
	PSTAT("hello_rx", HELLO_RX, BFC_COUNT),
	PSTAT("neighbour_up", NEIGHBOUR_UP, BFC_COUNT),
	PSTAT("neighbour_lost", NEIGHBOUR_LOST, BFC_COUNT),
	PSTAT("probe_tx", PROBE_TX, BFC_COUNT),
	PSTAT("probe_echoed", PROBE_ECHOED, BFC_COUNT),
	PLINE("port", "pauses_tx", PAUSES_TX, BFC_COUNT),
	PSTAT("resumes_tx", RESUMES_TX, BFC_COUNT),
	PSTAT("state_tx", STATE_TX, BFC_COUNT),
	PSTAT("state_repeats", STATE_REPEATS, BFC_COUNT),
	PSTAT("refresh_tx", REFRESH_TX, BFC_COUNT),
	PSTAT("state_rx", STATE_RX, BFC_COUNT),
	PSTAT("lease_expired", LEASE_EXPIRED, BFC_COUNT),
	PSTAT("tx_busy", TX_BUSY, BFC_COUNT),
	PLINE("port", "storm", STORM, BFC_BOOL),
	PSTAT("storms", STORMS, BFC_COUNT),
	PSTAT("storm_ends", STORM_ENDS, BFC_COUNT),
	PSTAT("storm_rx", STORM_RX, BFC_COUNT),
	PSTAT("counter_leaks", COUNTER_LEAKS, BFC_COUNT),
	PLINE("port refused", "rx_malformed", RX_MALFORMED, BFC_COUNT),
	PSTAT("rx_version", RX_VERSION, BFC_COUNT),
	PSTAT("rx_epoch", RX_EPOCH, BFC_COUNT),
	PSTAT("rx_stale", RX_STALE, BFC_COUNT),
	PSTAT("rx_range", RX_RANGE, BFC_COUNT),
	PSTAT("rx_untrusted", RX_UNTRUSTED, BFC_COUNT),
	PSTAT("rx_shared", RX_SHARED, BFC_COUNT),
	PSTAT("rx_limited", RX_LIMITED, BFC_COUNT),
	PLINE("port tags", "tag_stripped", TAG_STRIPPED, BFC_COUNT),
	PSTAT("tag_unlabelled", TAG_UNLABELLED, BFC_COUNT),
	PSTAT("tag_errors", TAG_ERRORS, BFC_COUNT),
	PSTAT("handle_forged", HANDLE_FORGED, BFC_COUNT),
};

/*
 * Values to text. All are exact: tc's own helpers keep three digits, and then what is printed
 * cannot be typed in again, nor two readings be subtracted.
 */
#define BFC_TEXT_MAX	64

struct bfc_unit {
	__u64 one;
	const char *name;
};

/* In decimal, in the largest unit that leaves something before the point. */
static const char *bfc_decimal(char *buf, const struct bfc_unit *unit, __u64 v)
{
	int n;

	while (v < unit->one && unit->one > 1)
		unit++;
	n = snprintf(buf, BFC_TEXT_MAX, "%llu", (unsigned long long)(v / unit->one));
	v %= unit->one;
	if (v) {
		buf[n++] = '.';
		for (__u64 digit = unit->one / 10; v; v %= digit, digit /= 10)
			buf[n++] = '0' + v / digit;
	}
	snprintf(buf + n, BFC_TEXT_MAX - n, "%s", unit->name);
	return buf;
}

static const char *bfc_time_text(char *buf, __u64 ns)
{
	static const struct bfc_unit units[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" },
	};

	return bfc_decimal(buf, units, ns);
}

static const char *bfc_rate_text(char *buf, __u64 bytes)
{
	static const struct bfc_unit units[] = {
		{ 1000000000000, "Tbit" }, { 1000000000, "Gbit" }, { 1000000, "Mbit" },
		{ 1000, "Kbit" }, { 1, "bit" },
	};

	if (bytes <= UINT64_MAX / 8)
		return bfc_decimal(buf, units, bytes * 8);
	snprintf(buf, BFC_TEXT_MAX, "%llubps", (unsigned long long)bytes);
	return buf;
}

static const char *bfc_bytes_text(char *buf, __u64 bytes)
{
	static const struct bfc_unit units[] = {
		{ 1 << 30, "Gb" }, { 1 << 20, "Mb" }, { 1 << 10, "Kb" }, { 1, "b" },
	};
	const struct bfc_unit *unit = units;

	while (unit->one > 1 && (bytes < unit->one || bytes % unit->one))
		unit++;
	snprintf(buf, BFC_TEXT_MAX, "%llu%s", (unsigned long long)(bytes / unit->one),
		 unit->name);
	return buf;
}

static const char *bfc_share_text(char *buf, __u64 v)
{
	unsigned int rest = v % 100;
	int n = snprintf(buf, BFC_TEXT_MAX, "%llu", (unsigned long long)(v / 100));

	if (rest)
		n += snprintf(buf + n, BFC_TEXT_MAX - n, rest % 10 ? ".%02u" : ".%u",
			      rest % 10 ? rest : rest / 10);
	snprintf(buf + n, BFC_TEXT_MAX - n, "%%");
	return buf;
}

static const struct bfc_choice *bfc_choice(const struct bfc_choice *choices, __u64 value)
{
	for (; choices->name; choices++)
		if (choices->value == value)
			return choices;
	return NULL;
}

static const char *bfc_choice_text(char *buf, const struct bfc_field *f, __u64 v)
{
	const struct bfc_choice *choice = bfc_choice(f->choices, v);

	if (choice)
		return choice->name;
	snprintf(buf, BFC_TEXT_MAX, "%llu", (unsigned long long)v);
	return buf;
}

static const char *bfc_value_text(char *buf, const struct bfc_field *f, __u64 v)
{
	switch (f->type) {
	case BFC_BYTES:
		return bfc_bytes_text(buf, v);
	case BFC_TIME:
		return bfc_time_text(buf, v);
	case BFC_RATE:
		return bfc_rate_text(buf, v);
	case BFC_BOOL:
		return v ? "yes" : "no";
	case BFC_CHOICE:
		return bfc_choice_text(buf, f, v);
	case BFC_SIGNED:
		snprintf(buf, BFC_TEXT_MAX, "%lld", (long long)v);
		return buf;
	case BFC_PERCENT:
		snprintf(buf, BFC_TEXT_MAX, "%llu%%", (unsigned long long)v);
		return buf;
	case BFC_SHARE:
		return bfc_share_text(buf, v);
	default:
		break;
	}
	snprintf(buf, BFC_TEXT_MAX, "%llu", (unsigned long long)v);
	return buf;
}

/*
 * Reading attributes. An integer is read by the length that it came with, so that a module that
 * widens one is still understood.
 */
static __u64 bfc_attr_integer(const struct rtattr *attr, bool is_signed)
{
	const void *data = RTA_DATA(attr);
	__u64 v64;
	__u32 v32;
	__u16 v16;

	switch (RTA_PAYLOAD(attr)) {
	case 1:
		return *(const __u8 *)data;
	case 2:
		memcpy(&v16, data, sizeof(v16));
		return v16;
	case 4:
		memcpy(&v32, data, sizeof(v32));
		return is_signed ? (__u64)(__s32)v32 : v32;
	case 8:
		memcpy(&v64, data, sizeof(v64));
		return v64;
	}
	return 0;
}

/* The attributes of a nest by number; what is newer than this plugin is passed over. */
static void bfc_attrs(const struct rtattr **tb, int max, const struct rtattr *nest)
{
	const struct rtattr *attr;
	int left;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	if (!nest)
		return;
	attr = RTA_DATA(nest);
	for (left = RTA_PAYLOAD(nest); RTA_OK(attr, left); attr = RTA_NEXT(attr, left)) {
		int type = attr->rta_type & NLA_TYPE_MASK;

		if (type <= max)
			tb[type] = attr;
	}
}

static void bfc_mac_text(char *buf, const struct rtattr *attr)
{
	const __u8 *mac = RTA_DATA(attr);

	buf[0] = '\0';
	if (RTA_PAYLOAD(attr) >= 6)
		snprintf(buf, BFC_TEXT_MAX, "%02x:%02x:%02x:%02x:%02x:%02x",
			 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static void bfc_json_priomap(const char *key, const struct rtattr *attr)
{
	const __u8 *map = RTA_DATA(attr);

	open_json_array(PRINT_JSON, key);
	for (unsigned int i = 0; i < RTA_PAYLOAD(attr); i++)
		json_u64(NULL, map[i]);
	close_json_array(PRINT_JSON, NULL);
}

static void bfc_json(const struct bfc_field *f, const struct rtattr *attr)
{
	__u64 v = bfc_attr_integer(attr, f->type == BFC_SIGNED);
	char key[BFC_TEXT_MAX], buf[BFC_TEXT_MAX];
	char *dash;

	snprintf(key, sizeof(key) - sizeof("_by"), "%s", f->name);
	while ((dash = strchr(key, '-')))
		*dash = '_';

	switch (f->type) {
	case BFC_BOOL:
		json_bool(key, v);
		if (f->choices) {
			strcat(key, "_by");
			json_string(key, bfc_choice_text(buf, f, v));
		}
		break;
	case BFC_SIGNED:
		json_s64(key, v);
		break;
	case BFC_SHARE:
		json_float(key, v / 100.0);
		break;
	case BFC_CHOICE:
		json_string(key, bfc_value_text(buf, f, v));
		break;
	case BFC_MAC:
		bfc_mac_text(buf, attr);
		json_string(key, buf);
		break;
	case BFC_PRIOMAP:
		bfc_json_priomap(key, attr);
		break;
	default:
		json_u64(key, v);
	}
}

/*
 * Options: parsing. Each bfc_parse_<type>() reads one word; bfc_accept() holds it against the
 * row's range; bfc_refuse() turns the row into the rule that the user is told.
 */
static void bfc_rule(char *buf, size_t size, const struct bfc_option *o)
{
	char min[BFC_TEXT_MAX], max[BFC_TEXT_MAX];
	const struct bfc_choice *choice;
	int n = 0;

	bfc_value_text(min, &o->f, o->min);
	bfc_value_text(max, &o->f, o->max);
	switch (o->f.type) {
	case BFC_BYTES:
		if (o->min)
			n = snprintf(buf, size, "a size from %s to %s", min, max);
		else
			n = snprintf(buf, size, "a size below 4Gb");
		break;
	case BFC_TIME:
		if (o->min)
			n = snprintf(buf, size, "a time from %s to %s, with its unit", min, max);
		else
			n = snprintf(buf, size, "a time up to %s, with its unit", max);
		n += snprintf(buf + n, size - n, " (ns, us, ms, s),");
		break;
	case BFC_RATE:
		n = snprintf(buf, size, "a rate such as 10gbit");
		break;
	case BFC_PERCENT:
	case BFC_SHARE:
		n = snprintf(buf, size, "a percentage from %s to %s", min, max);
		break;
	case BFC_CHOICE:
		n = snprintf(buf, size, "one of");
		for (choice = o->f.choices; choice->name; choice++)
			n += snprintf(buf + n, size - n, "%s %s",
				      choice == o->f.choices ? "" : ",", choice->name);
		break;
	case BFC_PRIOMAP:
		n = snprintf(buf, size, "%d numbers from 0 to %s", BFC_PRIOS, max);
		break;
	default:
		n = snprintf(buf, size, "a number from %s to %s", min, max);
	}
	if (o->zero)
		snprintf(buf + n, size - n, " or \"%s\"", o->zero);
}

static int bfc_refuse(const struct bfc_option *o, const char *arg)
{
	char rule[256];

	bfc_rule(rule, sizeof(rule), o);
	if (arg)
		fprintf(stderr, "bfc: \"%s\" takes %s, not \"%s\"\n", o->f.name, rule, arg);
	else
		fprintf(stderr, "bfc: \"%s\" takes %s, and nothing follows it\n", o->f.name,
			rule);
	return -1;
}

/* Decimal or 0x; strtoull() alone would take "-1", " 1" and, in base 0, "010" as 8. */
static int bfc_parse_count(const char *arg, __u64 *v, const char *unit)
{
	bool hex = arg[0] == '0' && (arg[1] == 'x' || arg[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)arg[0]) || (hex && !isxdigit((unsigned char)arg[2])))
		return -1;
	*v = strtoull(arg, &end, hex ? 16 : 10);
	return *end && strcmp(end, unit) ? -1 : 0;
}

/* get_time64() of tc truncates: 1.001us becomes 1000 ns. */
static int bfc_parse_time(const char *arg, __u64 *v)
{
	static const struct bfc_unit units[] = {
		{ 1, "ns" }, { 1000, "us" }, { 1000000, "ms" }, { 1000000000, "s" },
		{ 1, "nsec" }, { 1000, "usec" }, { 1000000, "msec" }, { 1000000000, "sec" },
	};
	long double number;
	char *end;

	if (!isdigit((unsigned char)arg[0]) && arg[0] != '.')
		return -1;
	number = strtold(arg, &end);
	if (end == arg || number > 1e18L)
		return -1;
	for (size_t i = 0; i < BFC_ARRAY_SIZE(units); i++) {
		if (strcasecmp(end, units[i].name))
			continue;
		number = number * units[i].one + 0.5L;
		if (number > 1e18L)
			return -1;
		*v = (__u64)number;
		return 0;
	}
	*v = 0;
	return *end || number != 0 ? -1 : 0;
}

/* Rounded to hundredths */
static int bfc_parse_share(const char *arg, __u64 *v)
{
	size_t digits = strspn(arg, "0123456789.");
	long double number;
	char *end;

	if (!isdigit((unsigned char)arg[0]) || (arg[digits] && strcmp(arg + digits, "%")))
		return -1;
	number = strtold(arg, &end);
	if (end != arg + digits || number > 1e15L)
		return -1;
	*v = (__u64)(number * 100 + 0.5L);
	return 0;
}

/* tc's helpers convert through a double: a minus sign or "nan" is not for them. */
static int bfc_parse_bytes(const char *arg, __u64 *v)
{
	unsigned int size;

	if (!isdigit((unsigned char)arg[0]) || get_size(&size, arg))
		return -1;
	*v = size;
	return 0;
}

static int bfc_parse_rate(const char *arg, __u64 *v)
{
	if (!isdigit((unsigned char)arg[0]))
		return -1;
	return get_rate64(v, arg);
}

static int bfc_parse_choice(const struct bfc_choice *choices, const char *arg, __u64 *v)
{
	for (; choices->name; choices++) {
		if (strcmp(arg, choices->name) &&
		    (!choices->alias || strcmp(arg, choices->alias)))
			continue;
		*v = choices->value;
		return 0;
	}
	return -1;
}

static int bfc_parse_value(const struct bfc_option *o, const char *arg, __u64 *v)
{
	switch (o->f.type) {
	case BFC_COUNT:
	case BFC_PRIOMAP:
		return bfc_parse_count(arg, v, "");
	case BFC_PERCENT:
		return bfc_parse_count(arg, v, "%");
	case BFC_SHARE:
		return bfc_parse_share(arg, v);
	case BFC_BYTES:
		return bfc_parse_bytes(arg, v);
	case BFC_TIME:
		return bfc_parse_time(arg, v);
	case BFC_RATE:
		return bfc_parse_rate(arg, v);
	case BFC_CHOICE:
		return bfc_parse_choice(o->f.choices, arg, v);
	default:
		return -1;
	}
}

/* 0 is auto, but "0.2ns" is a mistake and not a wish for auto. */
static bool bfc_in_range(const struct bfc_option *o, const char *arg, __u64 v)
{
	if (o->f.type == BFC_CHOICE)
		return true;
	if (!v && o->zero)
		return strtod(arg, NULL) == 0;
	return v >= o->min && v <= o->max;
}

static int bfc_accept(const struct bfc_option *o, const char *arg, __u64 *v)
{
	*v = 0;
	if (o->zero && !strcmp(arg, o->zero))
		return 0;
	if (bfc_parse_value(o, arg, v) || !bfc_in_range(o, arg, *v))
		return bfc_refuse(o, arg);
	return 0;
}

static int bfc_put(struct nlmsghdr *n, const struct bfc_option *o, __u64 v)
{
	const __u8 v8 = v;
	const __u16 v16 = v;
	const __u32 v32 = v;
	const void *data = o->size == 1 ? (const void *)&v8 :
			   o->size == 2 ? (const void *)&v16 :
			   o->size == 4 ? (const void *)&v32 : (const void *)&v;

	return addattr_l(n, BFC_MESSAGE_MAX, o->f.attr, data, o->size);
}

/* Return: words used, or -1. */
static int bfc_parse_priomap(const struct bfc_option *o, int argc, char **argv,
			     struct nlmsghdr *n)
{
	__u8 map[BFC_PRIOS];
	__u64 class;

	if (argc < BFC_PRIOS) {
		fprintf(stderr, "bfc: \"%s\" takes %d numbers, and %d words follow it\n",
			o->f.name, BFC_PRIOS, argc);
		return -1;
	}
	for (int i = 0; i < BFC_PRIOS; i++) {
		if (bfc_accept(o, argv[i], &class))
			return -1;
		map[i] = class;
	}
	if (addattr_l(n, BFC_MESSAGE_MAX, o->f.attr, map, sizeof(map)))
		return -1;
	return BFC_PRIOS;
}

static const struct bfc_option *bfc_option_find(const char *word)
{
	for (size_t i = 0; i < BFC_ARRAY_SIZE(bfc_options); i++)
		if (!strcmp(word, bfc_options[i].f.name) ||
		    (bfc_options[i].no && !strcmp(word, bfc_options[i].no)))
			return &bfc_options[i];
	return NULL;
}

/* Return: words used, or -1. */
static int bfc_parse_bool(const struct bfc_option *o, int argc, char **argv, struct nlmsghdr *n)
{
	__u64 v = !strcmp(*argv, o->f.name);
	int used = 1;

	if (v && o->f.choices && argc > 1 && !bfc_parse_choice(o->f.choices + 1, argv[1], &v))
		used = 2;
	return bfc_put(n, o, v) ? -1 : used;
}

/* One option and its value. Return: words used, or -1. */
static int bfc_parse_option(const struct bfc_option *o, int argc, char **argv,
			    struct nlmsghdr *n)
{
	int used;
	__u64 v;

	if (o->f.type == BFC_BOOL)
		return bfc_parse_bool(o, argc, argv, n);
	if (argc < 2)
		return bfc_refuse(o, NULL);
	if (o->f.type == BFC_PRIOMAP) {
		used = bfc_parse_priomap(o, argc - 1, argv + 1, n);
		return used < 0 ? -1 : 1 + used;
	}
	if (bfc_accept(o, argv[1], &v) || bfc_put(n, o, v))
		return -1;
	return 2;
}

static void bfc_help_option(const struct bfc_option *o)
{
	static const char * const values[] = {
		[BFC_COUNT] = "N", [BFC_BYTES] = "BYTES", [BFC_TIME] = "TIME",
		[BFC_RATE] = "RATE", [BFC_PERCENT] = "PERCENT", [BFC_SHARE] = "PERCENT",
		[BFC_PRIOMAP] = "C0 ... C15",
	};
	const struct bfc_choice *choice = o->f.choices;
	char syntax[BFC_TEXT_MAX];
	int n;

	n = snprintf(syntax, sizeof(syntax), "%s%s", o->f.name, o->no && !choice ? "|" : " ");
	if (o->no && choice)
		snprintf(syntax + n, sizeof(syntax) - n, "[%s|%s]|%s", choice[1].name,
			 choice[2].name, o->no);
	else if (o->no)
		snprintf(syntax + n, sizeof(syntax) - n, "%s", o->no);
	else if (choice)
		for (; choice->name; choice++)
			n += snprintf(syntax + n, sizeof(syntax) - n, "%s%s", choice->name,
				      choice[1].name ? "|" : "");
	else
		snprintf(syntax + n, sizeof(syntax) - n, "%s%s%s", values[o->f.type],
			 o->zero ? "|" : "", o->zero ? o->zero : "");
	fprintf(stderr, "  %-34s %s\n", syntax, o->help);
}

static void bfc_help(void)
{
	fprintf(stderr, "Usage: ... bfc [OPTION [VALUE]] ...       (in brackets: the default)\n");
	for (size_t i = 0; i < BFC_ARRAY_SIZE(bfc_options); i++)
		bfc_help_option(&bfc_options[i]);
	fprintf(stderr,
		"  TIME is a number with ns, us, ms or s; RATE as 10gbit; BYTES as 64k.\n"
		"  After creation, queues, classes, flows and assign cannot be changed.\n"
		"  See tc-bfc(8).\n");
}

static int bfc_unknown(const char *word)
{
	fprintf(stderr, "bfc: there is no option \"%s\"; there are:", word);
	for (size_t i = 0; i < BFC_ARRAY_SIZE(bfc_options); i++)
		fprintf(stderr, " %s%s%s", bfc_options[i].f.name,
			bfc_options[i].no ? "|" : "",
			bfc_options[i].no ? bfc_options[i].no : "");
	fprintf(stderr, " help\n");
	return -1;
}

static int bfc_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	bool seen[BFC_ARRAY_SIZE(bfc_options)] = {};
	const struct bfc_option *o;
	struct rtattr *nest;
	int used;

	(void)qu;
	(void)dev;
	nest = addattr_nest(n, BFC_MESSAGE_MAX, TCA_OPTIONS | NLA_F_NESTED);
	for (; argc > 0; argc -= used, argv += used) {
		if (!strcmp(*argv, "help")) {
			bfc_help();
			return -1;
		}
		o = bfc_option_find(*argv);
		if (!o)
			return bfc_unknown(*argv);
		if (seen[o - bfc_options]) {
			fprintf(stderr, "bfc: \"%s\" is given twice\n", o->f.name);
			return -1;
		}
		seen[o - bfc_options] = true;
		used = bfc_parse_option(o, argc, argv, n);
		if (used < 0)
			return -1;
	}
	addattr_nest_end(n, nest);
	return 0;
}

/* Classes are sub-queues: they come and go with the qdisc and have nothing to set. */
static int bfc_parse_copt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)argc;
	(void)argv;
	(void)n;
	(void)dev;
	fprintf(stderr, "bfc: its classes are made by the qdisc and have no options\n");
	return -1;
}

/* Options: printing. */
static void bfc_print_option(FILE *f, const struct bfc_option *o, const struct rtattr *attr)
{
	__u64 v = bfc_attr_integer(attr, false);
	const __u8 *map = RTA_DATA(attr);
	char buf[BFC_TEXT_MAX];

	if (is_json_context()) {
		bfc_json(&o->f, attr);
	} else if (o->f.type == BFC_BOOL) {
		fprintf(f, "%s ", v ? o->f.name : o->no);
		if (v > 1 && o->f.choices)
			fprintf(f, "%s ", bfc_choice_text(buf, &o->f, v));
	} else if (o->f.type == BFC_PRIOMAP) {
		fprintf(f, "%s ", o->f.name);
		for (unsigned int i = 0; i < RTA_PAYLOAD(attr); i++)
			fprintf(f, "%u ", map[i]);
	} else {
		fprintf(f, "%s %s ", o->f.name,
			o->zero && !v ? o->zero : bfc_value_text(buf, &o->f, v));
	}
}

/* On stderr, so that JSON stays whole; once, however many qdiscs are shown. */
static void bfc_check_version(unsigned int version)
{
	static bool said;

	if (version == BFC_VERSION || said)
		return;
	said = true;
	fprintf(stderr, "bfc: plugin and module out of step: "
		"the plugin speaks version %u, the module %u\n", BFC_VERSION, version);
}

static int bfc_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	static const struct bfc_field version = { "version", TCA_BFC_VERSION, BFC_COUNT, NULL };
	const struct rtattr *tb[TCA_BFC_MAX + 1];
	const struct rtattr *attr;

	(void)qu;
	bfc_attrs(tb, TCA_BFC_MAX, opt);
	for (size_t i = 0; i < BFC_ARRAY_SIZE(bfc_options); i++) {
		attr = tb[bfc_options[i].f.attr];
		if (attr)
			bfc_print_option(f, &bfc_options[i], attr);
	}
	attr = tb[TCA_BFC_VERSION];
	if (!attr)
		return 0;
	if (is_json_context())
		bfc_json(&version, attr);
	else
		fprintf(f, "%s %u ", version.name, (unsigned int)bfc_attr_integer(attr, false));
	bfc_check_version(bfc_attr_integer(attr, false));
	return 0;
}

static int bfc_print_copt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

/* Statistics. */
static void bfc_text(FILE *f, const struct bfc_field *field, const struct rtattr *attr)
{
	__u64 v = bfc_attr_integer(attr, field->type == BFC_SIGNED);
	const struct bfc_choice *choice;
	char buf[BFC_TEXT_MAX];

	if (field->type == BFC_MAC)
		bfc_mac_text(buf, attr);
	fprintf(f, " %s %s", field->name,
		field->type == BFC_MAC ? buf : bfc_value_text(buf, field, v));
	if (field->type != BFC_CHOICE)
		return;
	choice = bfc_choice(field->choices, v);
	if (choice && choice->meaning)
		fprintf(f, " (%s)", choice->meaning);
}

static void bfc_print_stats(FILE *f, const struct bfc_stat *stats, size_t count,
			    const struct rtattr **tb, bool *first)
{
	const char *line = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct bfc_field *field = &stats[i].f;

		if (stats[i].line)
			line = stats[i].line;
		if (!tb[field->attr] || field->type == BFC_NEST)
			continue;
		if (is_json_context()) {
			bfc_json(field, tb[field->attr]);
			continue;
		}
		if (line) {
			if (!*first)
				print_nl();
			fprintf(f, "  %s:", line);
			*first = false;
			line = NULL;
		}
		bfc_text(f, field, tb[field->attr]);
	}
}

static void bfc_print_port(FILE *f, const struct rtattr *nest, bool *first)
{
	const struct rtattr *tb[HOP_A_MAX + 1];

	bfc_attrs(tb, HOP_A_MAX, nest);
	if (is_json_context())
		open_json_object("port");
	bfc_print_stats(f, bfc_port, BFC_ARRAY_SIZE(bfc_port), tb, first);
	if (is_json_context())
		close_json_object();
}

/*
 * tc calls this for a qdisc and for a class and does not say which. The qdisc's statistics
 * always hold its clock; the numbers of a class's attributes end below it.
 */
static int bfc_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	_Static_assert(TCA_BFC_CLASS_MAX < TCA_BFC_STATS_TIME, "classes look like qdiscs");
	const struct rtattr *tb[TCA_BFC_STATS_MAX + 1];
	bool first = true;

	(void)qu;
	bfc_attrs(tb, TCA_BFC_STATS_MAX, xstats);
	if (!tb[TCA_BFC_STATS_TIME]) {
		bfc_print_stats(f, bfc_class_stats, BFC_ARRAY_SIZE(bfc_class_stats), tb, &first);
		return 0;
	}
	bfc_print_stats(f, bfc_stats, BFC_ARRAY_SIZE(bfc_stats), tb, &first);
	if (tb[TCA_BFC_STATS_PORT])
		bfc_print_port(f, tb[TCA_BFC_STATS_PORT], &first);
	return 0;
}

extern struct qdisc_util bfc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util bfc_qdisc_util = {
	.id		= "bfc",
	.parse_qopt	= bfc_parse_qopt,
	.print_qopt	= bfc_print_qopt,
	.print_xstats	= bfc_print_xstats,
	.parse_copt	= bfc_parse_copt,
	.print_copt	= bfc_print_copt,
};
