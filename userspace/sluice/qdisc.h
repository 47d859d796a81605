/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * qdisc: the qdiscs of a namespace, with what sluice wants to know of them.
 */
#ifndef _SLUICE_QDISC_H
#define _SLUICE_QDISC_H

#include <stdio.h>

#include <linux/gen_stats.h>
#include <linux/types.h>

#include "../../kernel/uapi/bfc.h"
#include "../../kernel/uapi/floodgate.h"
#include "../../kernel/uapi/flowsail.h"
#include "../../kernel/uapi/rocc.h"
#include "attr.h"
#include "kind.h"
#include "nl.h"

#define QDISC_KIND_MAX	16

/**
 * struct qdisc - one
 * @ifindex: its device
 * @handle: its number
 * @parent: class or qdisc above it
 * @kind: its kind
 * @rate: of a tbf, bytes per second
 * @bfc: it is one
 * @floodgate: it is one
 * @flowsail: it is one
 * @rocc: it is one
 * @rocc_host: and a reaction point
 * @version: of one of our kinds: that of its module
 * @bfc_rate: of a bfc: option rate, 0 is auto
 * @bfc_th: of a bfc: option th, 0 is auto
 * @floodgate_options: of a floodgate: those that are numbers, by TCA_FLOODGATE_*
 * @floodgate_stats: of a floodgate: its figures, by TCA_FLOODGATE_STATS_*
 * @flowsail_options: of a flowsail: those that are numbers, by TCA_FLOWSAIL_*
 * @flowsail_stats: of a flowsail: its figures, by TCA_FLOWSAIL_STATS_*
 * @rocc_options: of a rocc: those that are numbers, by TCA_ROCC_*
 * @rocc_stats: of a rocc: its figures, by TCA_ROCC_STATS_*
 * @queue: what waits in it
 * @options: of one of our kinds: TCA_OPTIONS, in @copy
 * @figures: and TCA_STATS_APP
 * @copy: of the message
 */
struct qdisc {
	unsigned int ifindex;
	uint32_t handle;
	uint32_t parent;
	char kind[QDISC_KIND_MAX];
	uint64_t rate;
	bool bfc;
	bool floodgate;
	bool flowsail;
	bool rocc;
	bool rocc_host;
	uint32_t version;
	uint64_t bfc_rate;
	uint64_t bfc_th;
	uint64_t floodgate_options[TCA_FLOODGATE_MAX + 1];
	uint64_t floodgate_stats[TCA_FLOODGATE_STATS_MAX + 1];
	uint64_t flowsail_options[TCA_FLOWSAIL_MAX + 1];
	uint64_t flowsail_stats[TCA_FLOWSAIL_STATS_MAX + 1];
	uint64_t rocc_options[TCA_ROCC_MAX + 1];
	uint64_t rocc_stats[TCA_ROCC_STATS_MAX + 1];
	struct gnet_stats_queue queue;
	struct attr_value options;
	struct attr_value figures;
	struct nlmsghdr *copy;
};

struct qdiscs {
	struct qdisc *list;
	size_t count;
};

/**
 * qdiscs_get - all qdiscs of the namespace, or those of a device
 * @nl: a socket of NETLINK_ROUTE
 * @qdiscs: what came
 * @ifindex: of the device, or 0
 *
 * Return: 0 or -errno.
 */
int qdiscs_get(struct nl *nl, struct qdiscs *qdiscs, unsigned int ifindex);
void qdiscs_free(struct qdiscs *qdiscs);

/**
 * struct limited - classes of a qdisc that are flows: limiters of a rocc, and of a flowsail those
 *                  that the neighbour holds or that are in isolation
 * @figures: of each, for its kind's plugin, each a copy
 * @count: how many
 */
struct limited {
	struct rtattr **figures;
	size_t count;
};

/**
 * limited_get - what a qdisc limits, or its neighbour holds
 * @nl: a socket of NETLINK_ROUTE
 * @q: the qdisc
 * @limited: what came
 *
 * Return: 0 or -errno.
 */
int limited_get(struct nl *nl, const struct qdisc *q, struct limited *limited);
void limited_free(struct limited *limited);

/* Text to @f as tc has it; @counters: with what counts up. They end without a new line. */
void qdisc_print_options(const struct qdisc *q, FILE *f);
void qdisc_print_figures(const struct qdisc *q, bool counters, FILE *f);

/**
 * qdisc_json - a qdisc of one of our kinds as an object
 * @q: the qdisc
 * @limited: what it limits
 * @counters: with what counts up
 *
 * Names and values are those of tc.
 *
 * Return: a new reference.
 */
json_t *qdisc_json(const struct qdisc *q, const struct limited *limited, bool counters);

/* The name of its device. @buf has IF_NAMESIZE bytes. */
const char *qdisc_dev(const struct qdisc *q, char *buf);

/**
 * qdisc_change - give a qdisc other options
 * @nl: a socket of NETLINK_ROUTE
 * @q: the qdisc
 * @options: TCA_OPTIONS of its kind
 *
 * What is not named stays as it is. The kernel takes all of them or none.
 *
 * Return: 0 or -errno.
 */
int qdisc_change(struct nl *nl, const struct qdisc *q, const struct rtattr *options);

#endif
