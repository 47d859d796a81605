/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * port.h - what a port says of itself, for the kinds whose qdiscs make their device one
 *
 * Behind the tables of the kind, which have the words of roles and tiers.
 */
#ifndef _SLUICE_PLUGIN_PORT_H
#define _SLUICE_PLUGIN_PORT_H

#include "options.h"
#include "../kernel/uapi/hopctl.h"

static const struct plugin_choice port_peer_roles[] = {
	{ .name = "auto",	.value = HOP_ROLE_AUTO, .meaning = "not known yet" },
	{ .name = "host",	.value = HOP_ROLE_HOST },
	{ .name = "switch",	.value = HOP_ROLE_SWITCH },
	{}
};

static const struct plugin_choice port_states[] = {
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

#define PSTAT(...) PLUGIN_STAT(HOP_A_, __VA_ARGS__)
#define PLINE(...) PLUGIN_LINE(HOP_A_, __VA_ARGS__)
static const struct plugin_stat port_stats[] = {
	{ .f = { "state", HOP_A_STATE, PLUGIN_CHOICE, port_states }, .line = "port" },
	{ .f = { "role", HOP_A_ROLE, PLUGIN_CHOICE, hop_role_choices }, .line = "port" },
	{ .f = { "peer_role", HOP_A_PEER_ROLE, PLUGIN_CHOICE, port_peer_roles } },
	{ .f = { "tier", HOP_A_TIER, PLUGIN_CHOICE, hop_tier_choices } },
	PSTAT("peer_mac", PEER_MAC, PLUGIN_MAC),
	PSTAT("peer_queues", PEER_QUEUES, PLUGIN_COUNT),
	PSTAT("handles", HANDLES, PLUGIN_COUNT),
	PLINE("port", "hrtt_raw", HRTT_RAW, PLUGIN_TIME),
	PSTAT("hrtt", HRTT, PLUGIN_TIME),
	PSTAT("ring", RING, PLUGIN_TIME),
	PSTAT("reaction", REACTION, PLUGIN_TIME),
	PSTAT("reactions", REACTIONS, PLUGIN_COUNT),
	PSTAT("hrtt_capped", HRTT_CAPPED, PLUGIN_COUNT),
	PSTAT("root_id", ROOT_ID, PLUGIN_COUNT),
	PSTAT("roots_tx", ROOTS_TX, PLUGIN_COUNT),
	PSTAT("roots_rx", ROOTS_RX, PLUGIN_COUNT),
	PSTAT("roots_far", ROOTS_FAR, PLUGIN_COUNT),
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
	PSTAT("unanswered", UNANSWERED, PLUGIN_COUNT),
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
	PSTAT("origin_unknown", ORIGIN_UNKNOWN, PLUGIN_COUNT),
	PSTAT("ingress_filter", INGRESS_FILTER, PLUGIN_BOOL),
	PSTAT("tag_unseen", TAG_UNSEEN, PLUGIN_COUNT),
};

/* HOP_A_* in a nest, in JSON an object of its own */
static inline void port_print(FILE *f, const struct rtattr *nest, bool *first)
{
	const struct rtattr *tb[HOP_A_MAX + 1];

	plugin_attrs(tb, HOP_A_MAX, nest);
	if (is_json_context())
		open_json_object("port");
	plugin_print_stats(f, port_stats, PLUGIN_ARRAY_SIZE(port_stats), tb, first);
	if (is_json_context())
		close_json_object();
}

#endif
