// SPDX-License-Identifier: GPL-2.0-only
/*
 * q_bfc - the kind bfc for tc: its options, its statistics and those of its classes
 *
 * Its tables; what is done with them is in options.c.
 */
#include "options.h"
#include "../kernel/uapi/bfc.h"
#include "../kernel/uapi/hopctl.h"

#define BFC_PRIOS	16	/* skb priorities that the priomap tells apart */

static const struct plugin_choice bfc_assigns[] = {
	{ .name = "dynamic",	.value = BFC_ASSIGN_DYNAMIC },
	{ .name = "stochastic",	.value = BFC_ASSIGN_STOCHASTIC },
	{ .name = "single",	.value = BFC_ASSIGN_SINGLE },
	{}
};

static const struct plugin_choice bfc_reuses[] = {
	{ .name = "sticky",	.value = BFC_REUSE_STICKY },
	{ .name = "empty",	.value = BFC_REUSE_EMPTY },
	{}
};

static const struct plugin_choice bfc_shares[] = {
	{ .name = "random",	.value = BFC_SHARE_RANDOM },
	{ .name = "spare",	.value = BFC_SHARE_SPARE },
	{}
};

static const struct plugin_choice bfc_pauses[] = {
	{ .name = "none",	.value = BFC_PAUSE_NONE },
	{ .name = "queue",	.value = BFC_PAUSE_QUEUE },
	{ .name = "ingress",	.value = BFC_PAUSE_INGRESS },
	{}
};

static const struct plugin_choice bfc_roles[] = {
	{ .name = "auto",	.value = HOP_ROLE_AUTO },
	{ .name = "host",	.value = HOP_ROLE_HOST },
	{ .name = "switch",	.value = HOP_ROLE_SWITCH },
	{}
};

static const struct plugin_choice bfc_peer_roles[] = {
	{ .name = "auto",	.value = HOP_ROLE_AUTO, .meaning = "not known yet" },
	{ .name = "host",	.value = HOP_ROLE_HOST },
	{ .name = "switch",	.value = HOP_ROLE_SWITCH },
	{}
};

static const struct plugin_choice bfc_tiers[] = {
	{ .name = "none",	.value = HOP_TIER_NONE },
	{ .name = "down",	.value = HOP_TIER_DOWN },
	{ .name = "up",		.value = HOP_TIER_UP },
	{}
};

static const struct plugin_choice bfc_strips[] = {
	{ .name = "auto",	.value = HOP_STRIP_AUTO },
	{ .name = "always",	.value = HOP_STRIP_ALWAYS },
	{}
};

static const struct plugin_choice bfc_tpids[] = {
	{ .name = "0x88a8",	.value = 0x88a8, .alias = "802.1ad" },
	{ .name = "0x8100",	.value = 0x8100, .alias = "802.1q" },
	{}
};

static const struct plugin_choice bfc_states[] = {
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
	{ .name = "kind",		.value = HOP_STATE_KIND,
	  .meaning = "the neighbour has another kind of qdisc" },
	{ .name = "host",		.value = HOP_STATE_HOST,
	  .meaning = "the neighbour is a host, which needs no tags" },
	{}
};

static const struct plugin_option bfc_options[] = {
	{ .f = { "queues", TCA_BFC_QUEUES, PLUGIN_COUNT, NULL }, .size = 2,
	  .min = 1, .max = BFC_QUEUES_MAX,
	  .help = "data sub-queues, a multiple of classes (128)" },
	{ .f = { "classes", TCA_BFC_CLASSES, PLUGIN_COUNT, NULL }, .size = 1,
	  .min = 1, .max = BFC_CLASSES_MAX,
	  .help = "strict-priority classes, which split the sub-queues (1)" },
	{ .f = { "flows", TCA_BFC_FLOWS, PLUGIN_COUNT, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_FLOWS_MAX,
	  .help = "flow table, a multiple of classes x ways (auto: 100 x queues)" },
	{ .f = { "ways", TCA_BFC_WAYS, PLUGIN_COUNT, NULL }, .size = 1,
	  .max = UINT8_MAX, .syntax = "1|4",
	  .help = "entries among which a flow can choose, 1 as in the paper (4)" },
	{ .f = { "assign", TCA_BFC_ASSIGN, PLUGIN_CHOICE, bfc_assigns }, .size = 1,
	  .help = "how a flow comes to its sub-queue (dynamic)" },
	{ .f = { "reuse", TCA_BFC_REUSE, PLUGIN_CHOICE, bfc_reuses }, .size = 1,
	  .help = "when an empty sub-queue may go to another flow (sticky)" },
	{ .f = { "share", TCA_BFC_SHARE, PLUGIN_CHOICE, bfc_shares }, .size = 1,
	  .help = "which sub-queue a new flow gets while none is free (random)" },
	{ .f = { "limit", TCA_BFC_LIMIT, PLUGIN_BYTES, NULL }, .size = 4,
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "bytes that may be queued (8Mb)" },
	{ .f = { "quantum", TCA_BFC_QUANTUM, PLUGIN_BYTES, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "bytes that a sub-queue sends in its turn (auto: one frame)" },
	{ .f = { "priomap", TCA_BFC_PRIOMAP, PLUGIN_NUMBERS, NULL }, .size = BFC_PRIOS,
	  .max = BFC_CLASSES_MAX - 1, .syntax = "C0 ... C15",
	  .help = "class, from 0, of each skb priority (as pfifo_fast)" },
	{ .f = { "split-gso", TCA_BFC_SPLIT_GSO, PLUGIN_BOOL, NULL }, .size = 1,
	  .no = "no-split-gso",
	  .help = "cut GSO packets into frames before queueing (split-gso)" },
	{ .f = { "pause", TCA_BFC_PAUSE, PLUGIN_BOOL, bfc_pauses }, .size = 1,
	  .no = "nopause",
	  .help = "pause upstream sub-queues: of a queue over the threshold (pause)" },
	{ .f = { "rate", TCA_BFC_RATE, PLUGIN_RATE, NULL }, .size = 8, .zero = "auto",
	  .max = UINT64_MAX,
	  .help = "what the threshold reckons with, shapes nothing (auto: link speed)" },
	{ .f = { "hrtt", TCA_BFC_HRTT, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "1-hop round-trip time of the link (auto: measured)" },
	{ .f = { "hrtt-max", TCA_BFC_HRTT_MAX, PLUGIN_TIME, NULL }, .size = 4,
	  .min = 1, .max = UINT32_MAX,
	  .help = "what a measured one is believed up to (1ms)" },
	{ .f = { "th", TCA_BFC_TH, PLUGIN_BYTES, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "fixed pause threshold (auto: hrtt x rate / active sub-queues)" },
	{ .f = { "th-scale", TCA_BFC_TH_SCALE, PLUGIN_PERCENT, NULL }, .size = 4,
	  .min = 1, .max = BFC_TH_SCALE_MAX,
	  .help = "multiplies the automatic threshold (100%)" },
	{ .f = { "sticky", TCA_BFC_STICKY, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .min = 1, .max = BFC_TIME_MAX_NS,
	  .help = "how long an idle flow keeps its sub-queue (auto: 2 hrtt)" },
	{ .f = { "role", TCA_BFC_ROLE, PLUGIN_CHOICE, bfc_roles }, .size = 1,
	  .help = "what this box is on this port (auto)" },
	{ .f = { "peer", TCA_BFC_PEER, PLUGIN_CHOICE, bfc_roles }, .size = 1,
	  .help = "what the neighbour is taken for (auto: what it says)" },
	{ .f = { "tag", TCA_BFC_TAG, PLUGIN_BOOL, NULL }, .size = 1,
	  .no = "notag",
	  .help = "tag frames if the neighbour strips tags (tag)" },
	{ .f = { "tpid", TCA_BFC_TPID, PLUGIN_CHOICE, bfc_tpids }, .size = 2,
	  .help = "TPID of the fabric tag (0x88a8)" },
	{ .f = { "refresh", TCA_BFC_REFRESH, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "time between repeated pause states (auto: max(4 hrtt, 100us))" },
	{ .f = { "lease", TCA_BFC_LEASE, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "how long a pause lasts without a refresh (auto: 8 refreshes)" },
	{ .f = { "watch", TCA_BFC_WATCH, PLUGIN_BOOL, NULL }, .size = 1,
	  .no = "nowatch",
	  .help = "end the effect of pauses that never end (watch)" },
	{ .f = { "watchdog", TCA_BFC_WATCHDOG, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "how long a pause that never ends is endured (auto: 200ms)" },
	{ .f = { "restore", TCA_BFC_RESTORE, PLUGIN_TIME, NULL }, .size = 4, .zero = "auto",
	  .max = UINT32_MAX,
	  .help = "quiet time after which pauses are obeyed again (auto: 2 watchdog)" },
	{ .f = { "tier", TCA_BFC_TIER, PLUGIN_CHOICE, bfc_tiers }, .size = 1,
	  .help = "where the port leads: up and then up again pauses nobody (none)" },
	{ .f = { "pool", TCA_BFC_POOL, PLUGIN_BYTES, NULL }, .size = 4, .zero = "none",
	  .min = 1, .max = BFC_LIMIT_MAX,
	  .help = "buffer shared with all that name it, in this namespace (none)" },
	{ .f = { "pool-alpha", TCA_BFC_POOL_ALPHA, PLUGIN_SHARE, NULL }, .size = 4,
	  .min = 1, .max = BFC_ALPHA_MAX,
	  .help = "what may be queued, in terms of the pool's free part (100%)" },
	{ .f = { "pool-pause-alpha", TCA_BFC_POOL_PAUSE_ALPHA, PLUGIN_SHARE, NULL }, .size = 4,
	  .min = 1, .max = BFC_ALPHA_MAX,
	  .help = "what may come from one queue before pause ingress stops it (12.5%)" },
	{ .f = { "control-share", TCA_BFC_CONTROL_SHARE, PLUGIN_SHARE, NULL }, .size = 4,
	  .min = 1, .max = 10000,
	  .help = "of the link, for control packets that are only forwarded (5%)" },
	{ .f = { "control-dscp", TCA_BFC_CONTROL_DSCP, PLUGIN_COUNT, NULL }, .size = 1, .zero = "none",
	  .min = 1, .max = 63,
	  .help = "IP packets with this DSCP are control packets, too (none)" },
	{ .f = { "strip", TCA_BFC_STRIP, PLUGIN_CHOICE, bfc_strips }, .size = 1,
	  .help = "offer to take tags off, also in front of tc filters and XDP (auto)" },
};

#define QSTAT(...) PLUGIN_STAT(TCA_BFC_STATS_, __VA_ARGS__)
#define QLINE(...) PLUGIN_LINE(TCA_BFC_STATS_, __VA_ARGS__)
static const struct plugin_stat bfc_stats[] = {
	QLINE("now", "th", TH, PLUGIN_BYTES),
	QSTAT("n_active", N_ACTIVE, PLUGIN_COUNT),
	QSTAT("backlogged", BACKLOGGED, PLUGIN_COUNT),
	QSTAT("paused", PAUSED, PLUGIN_COUNT),
	QSTAT("marked", MARKED, PLUGIN_COUNT),
	QSTAT("link_rate", LINK_RATE, PLUGIN_RATE),
	QSTAT("hrtt", HRTT, PLUGIN_TIME),
	QSTAT("sticky", STICKY, PLUGIN_TIME),
	QLINE("highest", "th_max", TH_MAX, PLUGIN_BYTES),
	QSTAT("backlog_max", BACKLOG_MAX, PLUGIN_BYTES),
	QSTAT("backlog_time", BACKLOG_TIME, PLUGIN_COUNT),
	QSTAT("time", TIME, PLUGIN_TIME),
	QLINE("pool", "pool_size", POOL_SIZE, PLUGIN_BYTES),
	QSTAT("pool_used", POOL_USED, PLUGIN_BYTES),
	QSTAT("pool_max", POOL_MAX, PLUGIN_BYTES),
	QLINE("flows", "assign_free", ASSIGN_FREE, PLUGIN_COUNT),
	QSTAT("assign_early", ASSIGN_EARLY, PLUGIN_COUNT),
	QSTAT("assign_shared", ASSIGN_SHARED, PLUGIN_COUNT),
	QSTAT("assign_own", ASSIGN_OWN, PLUGIN_COUNT),
	QSTAT("assign_sticky", ASSIGN_STICKY, PLUGIN_COUNT),
	QSTAT("collisions", COLLISIONS, PLUGIN_COUNT),
	QLINE("pausing", "marks", MARKS, PLUGIN_COUNT),
	QSTAT("over_unlabelled", OVER_UNLABELLED, PLUGIN_COUNT),
	QSTAT("elided", ELIDED, PLUGIN_COUNT),
	QSTAT("withdrawn", WITHDRAWN, PLUGIN_COUNT),
	QLINE("paused", "pauses_obeyed", PAUSES_OBEYED, PLUGIN_COUNT),
	QSTAT("resumes_obeyed", RESUMES_OBEYED, PLUGIN_COUNT),
	QSTAT("paused_time", PAUSED_TIME, PLUGIN_TIME),
	QLINE("packets", "control", CONTROL, PLUGIN_COUNT),
	QSTAT("spilled", SPILLED, PLUGIN_COUNT),
	QSTAT("gso_split", GSO_SPLIT, PLUGIN_COUNT),
	QSTAT("tagged", TAGGED, PLUGIN_COUNT),
	QLINE("lost", "drop_limit", DROP_LIMIT, PLUGIN_COUNT),
	QSTAT("drop_control", DROP_CONTROL, PLUGIN_COUNT),
	QSTAT("drop_gso", DROP_GSO, PLUGIN_COUNT),
	QSTAT("drop_tag", DROP_TAG, PLUGIN_COUNT),
	QSTAT("drop_filter", DROP_FILTER, PLUGIN_COUNT),
	QSTAT("drop_pool", DROP_POOL, PLUGIN_COUNT),
	QSTAT("drop_police", DROP_POLICE, PLUGIN_COUNT),
	QSTAT("port", PORT, PLUGIN_NEST),
};

#define CSTAT(...) PLUGIN_STAT(TCA_BFC_CLASS_, __VA_ARGS__)
#define CLINE(...) PLUGIN_LINE(TCA_BFC_CLASS_, __VA_ARGS__)
static const struct plugin_stat bfc_class_stats[] = {
	CLINE("class", "paused", PAUSED, PLUGIN_BOOL),
	CSTAT("flows", FLOWS, PLUGIN_COUNT),
	CSTAT("deficit", DEFICIT, PLUGIN_SIGNED),
	CSTAT("backlog_max", BACKLOG_MAX, PLUGIN_BYTES),
	CSTAT("pauses", PAUSES, PLUGIN_COUNT),
	CSTAT("paused_time", PAUSED_TIME, PLUGIN_TIME),
	CSTAT("marks", MARKS, PLUGIN_COUNT),
};

#define PSTAT(...) PLUGIN_STAT(HOP_A_, __VA_ARGS__)
#define PLINE(...) PLUGIN_LINE(HOP_A_, __VA_ARGS__)
static const struct plugin_stat bfc_port[] = {
	{ .f = { "state", HOP_A_STATE, PLUGIN_CHOICE, bfc_states }, .line = "port" },
	{ .f = { "role", HOP_A_ROLE, PLUGIN_CHOICE, bfc_roles }, .line = "port" },
	{ .f = { "peer_role", HOP_A_PEER_ROLE, PLUGIN_CHOICE, bfc_peer_roles } },
	{ .f = { "tier", HOP_A_TIER, PLUGIN_CHOICE, bfc_tiers } },
	PSTAT("peer_mac", PEER_MAC, PLUGIN_MAC),
	PSTAT("peer_queues", PEER_QUEUES, PLUGIN_COUNT),
	PSTAT("handles", HANDLES, PLUGIN_COUNT),
	PLINE("port", "hrtt_raw", HRTT_RAW, PLUGIN_TIME),
	PSTAT("hrtt", HRTT, PLUGIN_TIME),
	PSTAT("ring", RING, PLUGIN_TIME),
	PSTAT("reaction", REACTION, PLUGIN_TIME),
	PSTAT("reactions", REACTIONS, PLUGIN_COUNT),
	PSTAT("hrtt_capped", HRTT_CAPPED, PLUGIN_COUNT),
	PSTAT("paused_queues", PAUSED_QUEUES, PLUGIN_COUNT),
	PSTAT("pausing_queues", PAUSING_QUEUES, PLUGIN_COUNT),
	PSTAT("pause_counters", PAUSE_COUNTERS, PLUGIN_COUNT),
	PSTAT("ingress_bytes", INGRESS_BYTES, PLUGIN_BYTES),
	PLINE("port", "hello_tx", HELLO_TX, PLUGIN_COUNT),
	PSTAT("hello_rx", HELLO_RX, PLUGIN_COUNT),
	PSTAT("neighbour_up", NEIGHBOUR_UP, PLUGIN_COUNT),
	PSTAT("neighbour_lost", NEIGHBOUR_LOST, PLUGIN_COUNT),
	PSTAT("probe_tx", PROBE_TX, PLUGIN_COUNT),
	PSTAT("probe_echoed", PROBE_ECHOED, PLUGIN_COUNT),
	PLINE("port", "pauses_tx", PAUSES_TX, PLUGIN_COUNT),
	PSTAT("resumes_tx", RESUMES_TX, PLUGIN_COUNT),
	PSTAT("state_tx", STATE_TX, PLUGIN_COUNT),
	PSTAT("state_repeats", STATE_REPEATS, PLUGIN_COUNT),
	PSTAT("refresh_tx", REFRESH_TX, PLUGIN_COUNT),
	PSTAT("state_rx", STATE_RX, PLUGIN_COUNT),
	PSTAT("lease_expired", LEASE_EXPIRED, PLUGIN_COUNT),
	PSTAT("tx_busy", TX_BUSY, PLUGIN_COUNT),
	PLINE("port", "storm", STORM, PLUGIN_BOOL),
	PSTAT("storms", STORMS, PLUGIN_COUNT),
	PSTAT("storm_ends", STORM_ENDS, PLUGIN_COUNT),
	PSTAT("storm_rx", STORM_RX, PLUGIN_COUNT),
	PSTAT("counter_leaks", COUNTER_LEAKS, PLUGIN_COUNT),
	PLINE("port refused", "rx_malformed", RX_MALFORMED, PLUGIN_COUNT),
	PSTAT("rx_version", RX_VERSION, PLUGIN_COUNT),
	PSTAT("rx_epoch", RX_EPOCH, PLUGIN_COUNT),
	PSTAT("rx_stale", RX_STALE, PLUGIN_COUNT),
	PSTAT("rx_range", RX_RANGE, PLUGIN_COUNT),
	PSTAT("rx_untrusted", RX_UNTRUSTED, PLUGIN_COUNT),
	PSTAT("rx_shared", RX_SHARED, PLUGIN_COUNT),
	PSTAT("rx_limited", RX_LIMITED, PLUGIN_COUNT),
	PLINE("port tags", "tag_stripped", TAG_STRIPPED, PLUGIN_COUNT),
	PSTAT("tag_unlabelled", TAG_UNLABELLED, PLUGIN_COUNT),
	PSTAT("tag_errors", TAG_ERRORS, PLUGIN_COUNT),
	PSTAT("handle_forged", HANDLE_FORGED, PLUGIN_COUNT),
	PSTAT("ingress_filter", INGRESS_FILTER, PLUGIN_BOOL),
	PSTAT("tag_unseen", TAG_UNSEEN, PLUGIN_COUNT),
};

static const struct plugin_kind bfc_kind = {
	.name = "bfc",
	.options = bfc_options, .count = PLUGIN_ARRAY_SIZE(bfc_options), .max = TCA_BFC_MAX,
	.fixed = "  TIME is a number with ns, us, ms or s; RATE as 10gbit; BYTES as 64k.\n"
		 "  After creation, queues, classes, flows, ways and assign cannot be changed.\n"
		 "  See tc-bfc(8).\n",
	.version = TCA_BFC_VERSION, .speaks = BFC_VERSION,
};

static int bfc_parse_qopt(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev)
{
	(void)qu;
	(void)dev;
	return plugin_parse_options(&bfc_kind, argc, argv, n);
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

static int bfc_print_qopt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	return plugin_print_options(&bfc_kind, f, opt);
}

static int bfc_print_copt(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	(void)qu;
	(void)f;
	(void)opt;
	return 0;
}

static void bfc_print_port(FILE *f, const struct rtattr *nest, bool *first)
{
	const struct rtattr *tb[HOP_A_MAX + 1];

	plugin_attrs(tb, HOP_A_MAX, nest);
	if (is_json_context())
		open_json_object("port");
	plugin_print_stats(f, bfc_port, PLUGIN_ARRAY_SIZE(bfc_port), tb, first);
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
	plugin_attrs(tb, TCA_BFC_STATS_MAX, xstats);
	if (!tb[TCA_BFC_STATS_TIME]) {
		plugin_print_stats(f, bfc_class_stats, PLUGIN_ARRAY_SIZE(bfc_class_stats), tb,
				   &first);
		return 0;
	}
	plugin_print_stats(f, bfc_stats, PLUGIN_ARRAY_SIZE(bfc_stats), tb, &first);
	if (tb[TCA_BFC_STATS_PORT])
		bfc_print_port(f, tb[TCA_BFC_STATS_PORT], &first);
	return 0;
}

extern PLUGIN_VISIBLE struct qdisc_util bfc_qdisc_util;	/* tc looks it up by name */

struct qdisc_util bfc_qdisc_util = {
	.id		= "bfc",
	.parse_qopt	= bfc_parse_qopt,
	.print_qopt	= bfc_print_qopt,
	.print_xstats	= bfc_print_xstats,
	.parse_copt	= bfc_parse_copt,
	.print_copt	= bfc_print_copt,
};
