// SPDX-License-Identifier: GPL-2.0-only
/*
 * qdisc.c - the qdiscs of a namespace
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>

#include "qdisc.h"
#include "sluice.h"

struct take {
	struct qdiscs *qdiscs;
	unsigned int ifindex;
};

static void take_bfc(struct qdisc *q, const struct attr_value *options)
{
	struct attr_value tb[TCA_BFC_MAX + 1];

	nl_nest(tb, TCA_BFC_MAX, options);
	q->bfc = true;
	q->version = attr_number(&tb[TCA_BFC_VERSION]);
	q->bfc_rate = attr_number(&tb[TCA_BFC_RATE]);
}

static void take_rocc(struct qdisc *q, const struct attr_value *options,
		      const struct attr_value *stats2)
{
	struct attr_value tb[TCA_ROCC_MAX + 1], stats[TCA_STATS_MAX + 1];
	struct attr_value own[TCA_ROCC_STATS_MAX + 1];

	nl_nest(tb, TCA_ROCC_MAX, options);
	q->rocc = true;
	q->version = attr_number(&tb[TCA_ROCC_VERSION]);
	q->rocc_host = attr_number(&tb[TCA_ROCC_ROLE]) == ROCC_ROLE_HOST;
	nl_nest(stats, TCA_STATS_MAX, stats2);
	nl_nest(own, TCA_ROCC_STATS_MAX, &stats[TCA_STATS_APP]);
	for (int i = 0; i <= TCA_ROCC_STATS_MAX; i++)
		q->rocc_stats[i] = attr_number(&own[i]);
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
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*tc) ||
	    (t->ifindex && (unsigned int)tc->tcm_ifindex != t->ifindex))
		return MNL_CB_OK;
	nl_values(tb, TCA_MAX, mnl_nlmsg_get_payload_offset(msg, sizeof(*tc)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(*tc)));
	qdiscs->list = reallocarray(qdiscs->list, qdiscs->count + 1, sizeof(*qdiscs->list));
	if (!qdiscs->list)
		die(EXIT_TROUBLE, "no memory");
	q = &qdiscs->list[qdiscs->count++];
	memset(q, 0, sizeof(*q));
	q->ifindex = tc->tcm_ifindex;
	q->handle = tc->tcm_handle;
	q->parent = tc->tcm_parent;
	snprintf(q->kind, sizeof(q->kind), "%s", nl_string(&tb[TCA_KIND]) ?: "");
	if (!strcmp(q->kind, "bfc"))
		take_bfc(q, &tb[TCA_OPTIONS]);
	else if (!strcmp(q->kind, "rocc"))
		take_rocc(q, &tb[TCA_OPTIONS], &tb[TCA_STATS2]);
	else if (!strcmp(q->kind, "tbf"))
		take_tbf(q, &tb[TCA_OPTIONS]);
	return MNL_CB_OK;
}

int qdiscs_get(struct nl *nl, struct qdiscs *qdiscs, unsigned int ifindex)
{
	struct take t = { .qdiscs = qdiscs, .ifindex = ifindex };
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg;
	struct tcmsg *tc;

	memset(qdiscs, 0, sizeof(*qdiscs));
	msg = mnl_nlmsg_put_header(buf);
	msg->nlmsg_type = RTM_GETQDISC;
	msg->nlmsg_flags = NLM_F_DUMP;
	tc = mnl_nlmsg_put_extra_header(msg, sizeof(*tc));
	tc->tcm_ifindex = ifindex;
	return nl_request(nl, msg, take, &t);
}

void qdiscs_free(struct qdiscs *qdiscs)
{
	free(qdiscs->list);
	memset(qdiscs, 0, sizeof(*qdiscs));
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
