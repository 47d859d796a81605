// SPDX-License-Identifier: GPL-2.0-only
/*
 * qdisc.c - the qdiscs of a namespace
 */
#define _GNU_SOURCE
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "../../kernel/uapi/ideal.h"
#include "../../kernel/uapi/pfc.h"
#include "qdisc.h"
#include "sluice.h"

static void *copy_of(const void *from, size_t bytes)
{
	void *copy = malloc(bytes);

	if (!copy)
		die(EXIT_TROUBLE, "no memory");
	return memcpy(copy, from, bytes);
}

struct take {
	struct qdiscs *qdiscs;
	unsigned int ifindex;
};

static void take_bfc(struct qdisc *q)
{
	struct attr_value tb[TCA_BFC_MAX + 1];

	nl_nest(tb, TCA_BFC_MAX, &q->options);
	q->bfc = true;
	q->version = attr_number(&tb[TCA_BFC_VERSION]);
	q->bfc_rate = attr_number(&tb[TCA_BFC_RATE]);
	q->bfc_th = attr_number(&tb[TCA_BFC_TH]);
}

static void take_pfc(struct qdisc *q)
{
	struct attr_value tb[TCA_PFC_MAX + 1];

	nl_nest(tb, TCA_PFC_MAX, &q->options);
	q->version = attr_number(&tb[TCA_PFC_VERSION]);
}

/* An option that is not a number, or a figure, is 0 then. */
static void take_numbers(uint64_t *to, const struct attr_value *nest, int most)
{
	struct attr_value tb[most + 1];

	nl_nest(tb, most, nest);
	for (int i = 0; i <= most; i++)
		to[i] = attr_number(&tb[i]);
}

static void take_floodgate(struct qdisc *q)
{
	q->floodgate = true;
	take_numbers(q->floodgate_options, &q->options, TCA_FLOODGATE_MAX);
	take_numbers(q->floodgate_stats, &q->figures, TCA_FLOODGATE_STATS_MAX);
	q->version = q->floodgate_options[TCA_FLOODGATE_VERSION];
}

static void take_flowsail(struct qdisc *q)
{
	q->flowsail = true;
	take_numbers(q->flowsail_options, &q->options, TCA_FLOWSAIL_MAX);
	take_numbers(q->flowsail_stats, &q->figures, TCA_FLOWSAIL_STATS_MAX);
	q->version = q->flowsail_options[TCA_FLOWSAIL_VERSION];
}

static void take_rocc(struct qdisc *q)
{
	q->rocc = true;
	take_numbers(q->rocc_options, &q->options, TCA_ROCC_MAX);
	take_numbers(q->rocc_stats, &q->figures, TCA_ROCC_STATS_MAX);
	q->version = q->rocc_options[TCA_ROCC_VERSION];
	q->rocc_host = q->rocc_options[TCA_ROCC_ROLE] == ROCC_ROLE_HOST;
}

static void take_ideal(struct qdisc *q)
{
	struct attr_value tb[TCA_IDEAL_MAX + 1];

	nl_nest(tb, TCA_IDEAL_MAX, &q->options);
	q->version = attr_number(&tb[TCA_IDEAL_VERSION]);
}

static void take_stats(struct qdisc *q, const struct attr_value *stats2)
{
	struct attr_value stats[TCA_STATS_MAX + 1];

	nl_nest(stats, TCA_STATS_MAX, stats2);
	q->figures = stats[TCA_STATS_APP];
	if (stats[TCA_STATS_QUEUE].len >= sizeof(q->queue))
		memcpy(&q->queue, stats[TCA_STATS_QUEUE].data, sizeof(q->queue));
}

static void take_tbf(struct qdisc *q, const struct attr_value *options)
{
	struct attr_value tb[TCA_TBF_MAX + 1];
	const struct tc_tbf_qopt *parms;

	nl_nest(tb, TCA_TBF_MAX, options);
	parms = tb[TCA_TBF_PARMS].data;
	if (tb[TCA_TBF_RATE64].data)
		q->rate = attr_number(&tb[TCA_TBF_RATE64]);
	else if (parms && tb[TCA_TBF_PARMS].len >= sizeof(*parms))
		q->rate = parms->rate.rate;
}

static int take(const struct nlmsghdr *msg, void *ctx)
{
	struct take *t = ctx;
	struct qdiscs *qdiscs = t->qdiscs;
	struct attr_value tb[TCA_MAX + 1];
	const struct tcmsg *tc;
	struct qdisc *q;

	if (!msg) {
		qdiscs_free(qdiscs);
		return MNL_CB_OK;
	}
	tc = mnl_nlmsg_get_payload(msg);
	if (msg->nlmsg_type != RTM_NEWQDISC || mnl_nlmsg_get_payload_len(msg) < sizeof(*tc) ||
	    (t->ifindex && (unsigned int)tc->tcm_ifindex != t->ifindex))
		return MNL_CB_OK;
	qdiscs->list = reallocarray(qdiscs->list, qdiscs->count + 1, sizeof(*qdiscs->list));
	if (!qdiscs->list)
		die(EXIT_TROUBLE, "no memory");
	q = &qdiscs->list[qdiscs->count++];
	memset(q, 0, sizeof(*q));
	q->copy = copy_of(msg, msg->nlmsg_len);
	nl_values(tb, TCA_MAX, mnl_nlmsg_get_payload_offset(q->copy, sizeof(*tc)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(*tc)));
	q->ifindex = tc->tcm_ifindex;
	q->handle = tc->tcm_handle;
	q->parent = tc->tcm_parent;
	snprintf(q->kind, sizeof(q->kind), "%s", nl_string(&tb[TCA_KIND]) ?: "");
	q->options = tb[TCA_OPTIONS];
	take_stats(q, &tb[TCA_STATS2]);
	if (!strcmp(q->kind, "bfc"))
		take_bfc(q);
	else if (!strcmp(q->kind, "pfc"))
		take_pfc(q);
	else if (!strcmp(q->kind, "floodgate"))
		take_floodgate(q);
	else if (!strcmp(q->kind, "flowsail"))
		take_flowsail(q);
	else if (!strcmp(q->kind, "rocc"))
		take_rocc(q);
	else if (!strcmp(q->kind, "ideal"))
		take_ideal(q);
	else if (!strcmp(q->kind, "tbf"))
		take_tbf(q, &tb[TCA_OPTIONS]);
	return MNL_CB_OK;
}

/* Calls FN with what a device has of a kind: qdiscs, or classes of a qdisc (0: of all). */
static int dump(struct nl *nl, uint16_t type, unsigned int ifindex, uint32_t qdisc, nl_fn fn,
		void *ctx)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg;
	struct tcmsg *tc;

	msg = mnl_nlmsg_put_header(buf);
	msg->nlmsg_type = type;
	msg->nlmsg_flags = NLM_F_DUMP;
	tc = mnl_nlmsg_put_extra_header(msg, sizeof(*tc));
	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = qdisc;
	return nl_request(nl, msg, fn, ctx);
}

int qdiscs_get(struct nl *nl, struct qdiscs *qdiscs, unsigned int ifindex)
{
	struct take t = { .qdiscs = qdiscs, .ifindex = ifindex };

	memset(qdiscs, 0, sizeof(*qdiscs));
	return dump(nl, RTM_GETQDISC, ifindex, 0, take, &t);
}

void qdiscs_free(struct qdiscs *qdiscs)
{
	for (size_t i = 0; i < qdiscs->count; i++)
		free(qdiscs->list[i].copy);
	free(qdiscs->list);
	memset(qdiscs, 0, sizeof(*qdiscs));
}

/* What a qdisc limits, or the neighbour holds. */

struct take_limited {
	struct limited *limited;
	const struct qdisc *q;
};

/* An attribute from its head on, or NULL */
static struct rtattr *attr_head(const struct attr_value *v)
{
	return v->data ? (struct rtattr *)((char *)v->data - RTA_LENGTH(0)) : NULL;
}

/* A class of flowsail is a flow, and no sub-queue. */
static bool is_flow(const struct attr_value *figures)
{
	struct attr_value tb[TCA_FLOWSAIL_CLASS_MAX + 1];

	nl_nest(tb, TCA_FLOWSAIL_CLASS_MAX, figures);
	return tb[TCA_FLOWSAIL_CLASS_ROLE].len == sizeof(uint32_t) &&
	       *(const uint32_t *)tb[TCA_FLOWSAIL_CLASS_ROLE].data == FLOWSAIL_ROLE_FLOW;
}

static int take_class(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[TCA_MAX + 1], stats[TCA_STATS_MAX + 1];
	struct take_limited *t = ctx;
	struct limited *limited = t->limited;
	const struct rtattr *figures;
	const struct tcmsg *tc;

	if (!msg) {
		limited_free(limited);
		return MNL_CB_OK;
	}
	tc = mnl_nlmsg_get_payload(msg);
	if (msg->nlmsg_type != RTM_NEWTCLASS || mnl_nlmsg_get_payload_len(msg) < sizeof(*tc) ||
	    TC_H_MAJ(tc->tcm_handle) != TC_H_MAJ(t->q->handle))
		return MNL_CB_OK;
	nl_values(tb, TCA_MAX, mnl_nlmsg_get_payload_offset(msg, sizeof(*tc)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(*tc)));
	nl_nest(stats, TCA_STATS_MAX, &tb[TCA_STATS2]);
	figures = attr_head(&stats[TCA_STATS_APP]);
	if (!figures)
		return MNL_CB_OK;
	if (t->q->flowsail && !is_flow(&stats[TCA_STATS_APP]))
		return MNL_CB_OK;
	limited->figures = reallocarray(limited->figures, limited->count + 1,
					sizeof(*limited->figures));
	if (!limited->figures)
		die(EXIT_TROUBLE, "no memory");
	limited->figures[limited->count++] = copy_of(figures, figures->rta_len);
	return MNL_CB_OK;
}

/* Qdiscs below a default mq have no handle, and nothing tells their classes apart. */
static bool has_flows(const struct qdisc *q)
{
	return q->flowsail && q->handle;
}

int limited_get(struct nl *nl, const struct qdisc *q, struct limited *limited)
{
	struct take_limited t = { .limited = limited, .q = q };

	memset(limited, 0, sizeof(*limited));
	if (!q->rocc_host && !has_flows(q))
		return 0;
	return dump(nl, RTM_GETTCLASS, q->ifindex, q->handle, take_class, &t);
}

void limited_free(struct limited *limited)
{
	for (size_t i = 0; i < limited->count; i++)
		free(limited->figures[i]);
	free(limited->figures);
	memset(limited, 0, sizeof(*limited));
}

/* What the plugins of tc print. */

const char *qdisc_dev(const struct qdisc *q, char *buf)
{
	return if_indextoname(q->ifindex, buf) ?: "?";
}

void qdisc_print_options(const struct qdisc *q, FILE *f)
{
	const struct qdisc_util *util = kind_find(q->kind)->util;

	util->print_qopt(util, f, attr_head(&q->options));
}

void qdisc_print_figures(const struct qdisc *q, bool counters, FILE *f)
{
	static union {
		struct nlmsghdr n;
		char space[NL_MESSAGE_MAX];
	} msg;
	const struct kind *kind = kind_find(q->kind);
	struct attr_value tb[UINT8_MAX + 1];
	struct rtattr *nest;

	if (counters) {
		kind->util->print_xstats(kind->util, f, attr_head(&q->figures));
		return;
	}
	nl_nest(tb, UINT8_MAX, &q->figures);
	msg.n.nlmsg_len = NLMSG_LENGTH(0);
	nest = addattr_nest(&msg.n, sizeof(msg), TCA_STATS_APP);
	for (const uint16_t *a = kind->gauges; *a; a++)
		if (tb[*a].data)
			addattr_l(&msg.n, sizeof(msg), *a, tb[*a].data, tb[*a].len);
	addattr_nest_end(&msg.n, nest);
	kind->util->print_xstats(kind->util, f, nest);
}

json_t *qdisc_json(const struct qdisc *q, const struct limited *limited, bool counters)
{
	const struct qdisc_util *util = kind_find(q->kind)->util;
	json_t *root, *options = json_object(), *array = json_array(), *one;
	char dev[IF_NAMESIZE], handle[16];

	snprintf(handle, sizeof(handle), "%x:", TC_H_MAJ(q->handle) >> 16);
	root = json_pack("{s:s, s:i, s:s, s:s, s:o, s:I, s:I}", "dev", qdisc_dev(q, dev),
			 "ifindex", (int)q->ifindex, "kind", q->kind, "handle", handle,
			 "options", options, "backlog", (json_int_t)q->queue.backlog,
			 "qlen", (json_int_t)q->queue.qlen);
	tc_json(options);
	qdisc_print_options(q, stdout);
	tc_json(root);
	qdisc_print_figures(q, counters, stdout);
	for (size_t i = 0; i < limited->count; i++) {
		one = json_object();
		tc_json(one);
		util->print_xstats(util, stdout, limited->figures[i]);
		json_array_append_new(array, one);
	}
	tc_json(NULL);
	if (q->rocc_host)
		json_object_set(root, "limited", array);
	if (has_flows(q))
		json_object_set(root, "held", array);
	json_decref(array);
	return root;
}

int qdisc_change(struct nl *nl, const struct qdisc *q, const struct rtattr *options)
{
	char buf[NL_MESSAGE_MAX + UINT16_MAX];
	struct nlmsghdr *msg;
	struct tcmsg *tc;

	msg = mnl_nlmsg_put_header(buf);
	msg->nlmsg_type = RTM_NEWQDISC;
	tc = mnl_nlmsg_put_extra_header(msg, sizeof(*tc));
	tc->tcm_family = AF_UNSPEC;
	tc->tcm_ifindex = q->ifindex;
	tc->tcm_handle = q->handle;
	tc->tcm_parent = q->parent;
	mnl_attr_put_strz(msg, TCA_KIND, q->kind);
	mnl_attr_put(msg, options->rta_type, RTA_PAYLOAD(options), RTA_DATA(options));
	return nl_request(nl, msg, NULL, NULL);
}
