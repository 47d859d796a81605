// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_rules.c - from what was seen to what there is to say; asks nobody anything
 *
 * The rules of rocc are in doctor_rocc.c, those of floodgate in doctor_floodgate.c, of
 * flowsail in doctor_flowsail.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "doctor_judge.h"
#include "sluice.h"

#define LLDP_GROUP_BIT	14	/* 01:80:C2:00:00:0E in a bridge's group_fwd_mask */
#define TAG_BYTES	4

static bool wanted(const struct judge *j, const char *name)
{
	return !j->dev || !strcmp(j->dev, name);
}

static const struct device *device_of(const struct look *look, uint64_t ifindex)
{
	for (size_t i = 0; i < look->n_devices; i++)
		if (look->devices[i].ifindex == ifindex)
			return &look->devices[i];
	return NULL;
}

static const struct port *port_of(const struct look *look, uint64_t ifindex)
{
	for (size_t i = 0; i < look->ports.count; i++)
		if (attr_number(&look->ports.list[i].msg[HOP_N_IFINDEX]) == ifindex)
			return &look->ports.list[i];
	return NULL;
}

/* Does it have a qdisc that makes it a port? */
static bool has_port(const struct look *look, unsigned int ifindex)
{
	for (size_t i = 0; i < look->qdiscs.count; i++) {
		const struct kind *kind = kind_find(look->qdiscs.list[i].kind);

		if (kind && kind->port && look->qdiscs.list[i].ifindex == ifindex)
			return true;
	}
	return false;
}

/* Does it have a qdisc of ours that does without the module of bfc? */
static bool has_other(const struct look *look, unsigned int ifindex)
{
	for (size_t i = 0; i < look->qdiscs.count; i++)
		if (!look->qdiscs.list[i].bfc && kind_find(look->qdiscs.list[i].kind) &&
		    (!ifindex || look->qdiscs.list[i].ifindex == ifindex))
			return true;
	return false;
}

/* Once for each kind, whatever number of qdiscs it has */
static void judge_versions(const struct judge *j)
{
	const struct qdiscs *qdiscs = &j->look->qdiscs;
	char id[32];

	for (const struct kind *k = kinds; k->name; k++)
		for (size_t i = 0; i < qdiscs->count; i++) {
			if (strcmp(qdiscs->list[i].kind, k->name) ||
			    qdiscs->list[i].version == k->version)
				continue;
			snprintf(id, sizeof(id), "version_%s", k->name);
			say(j, id, NULL, "program %u, module %u", k->version,
			    qdiscs->list[i].version);
			break;
		}
}

static void judge_box(const struct judge *j)
{
	const struct look *look = j->look;
	bool any = false, other = has_other(look, 0);

	/* the other kinds do without bfc, or without both */
	if (!look->module_hopctl && !other)
		say(j, "module_hopctl", NULL, "%s", "");
	if (!look->module_bfc && !other)
		say(j, "module_bfc", NULL, "%s", "");
	if (look->module_hopctl && !look->family)
		say(j, "no_family", NULL, "%s", "");
	if (!look->admin)
		say(j, "no_admin", NULL, "%s", "");
	if (look->version && look->version != HOP_VERSION)
		say(j, "version_hopctl", NULL, "program %u, module %u", HOP_VERSION, look->version);
	judge_versions(j);
	for (size_t i = 0; i < look->qdiscs.count; i++)
		any |= look->qdiscs.list[i].bfc;
	if (!any && !other && !j->dev)
		say(j, "no_ports", NULL, "%s", "");
	if (look->handles && look->handles_used >= look->handles)
		say(j, "handles_out", NULL, "%u of %u are used", look->handles_used, look->handles);
	judge_refusals(j);
}

/* That the neighbour is a host is as it should be: HOP_STATE_HOST has no entry. */
static void judge_state(const struct judge *j, const struct port *p)
{
	static const char * const ids[] = {
		[HOP_STATE_NO_NEIGHBOUR] = "no_neighbour", [HOP_STATE_NO_STRIP] = "no_strip",
		[HOP_STATE_TPID] = "tpid", [HOP_STATE_PROBING] = "probing",
		[HOP_STATE_PROBE_SIZE] = "probe_size", [HOP_STATE_PROBE_TAG] = "probe_tag",
		[HOP_STATE_SHARED] = "shared", [HOP_STATE_NO_CARRIER] = "no_carrier",
		[HOP_STATE_DISABLED] = "disabled", [HOP_STATE_KIND] = "kind",
	};
	const struct device *d = device_of(j->look, attr_number(&p->msg[HOP_N_IFINDEX]));
	uint64_t state = port_number(p, HOP_A_STATE);

	if (!p->port[HOP_A_STATE].data || state >= ARRAY_SIZE(ids) || !ids[state])
		return;
	if (state == HOP_STATE_PROBE_SIZE && d)
		say(j, ids[state], port_name(p), "MTU %u: with the tag %u", d->mtu,
		    d->mtu + TAG_BYTES);
	else
		say(j, ids[state], port_name(p), "%s", "");
}

static bool guesses_rate(const struct qdisc *q)
{
	return (q->bfc && !q->bfc_rate) ||
	       (q->floodgate && !q->floodgate_options[TCA_FLOODGATE_RATE]) ||
	       (q->flowsail && !q->flowsail_options[TCA_FLOWSAIL_RATE]);
}

/* Does every bfc, floodgate and flowsail of the device know its rate by its options? */
static bool rate_is_set(const struct look *look, uint64_t ifindex)
{
	for (size_t i = 0; i < look->qdiscs.count; i++)
		if (look->qdiscs.list[i].ifindex == ifindex &&
		    guesses_rate(&look->qdiscs.list[i]))
			return false;
	return true;
}

static uint64_t hrtt_measured(const struct port *p)
{
	uint64_t raw = port_number(p, HOP_A_HRTT_RAW);
	uint64_t reaction = port_number(p, HOP_A_REACTION);

	return raw > reaction ? raw : reaction;
}

static void judge_port(const struct judge *j, const struct port *p)
{
	uint64_t queues = port_number(p, HOP_A_PEER_QUEUES);
	uint64_t handles = port_number(p, HOP_A_HANDLES);
	bool kin = port_number(p, HOP_A_STATE) != HOP_STATE_KIND;
	const char *name = port_name(p);

	judge_state(j, p);
	/* a host pauses nobody and holds no handles */
	if (kin && port_number(p, HOP_A_ROLE) == HOP_ROLE_SWITCH && handles < queues)
		say(j, "handles_short", name, "%" PRIu64 " handles for %" PRIu64 " sub-queues",
		    handles, queues);
	if (port_number(p, HOP_A_STORM))
		say(j, "storm", name, "%" PRIu64 " times so far", port_number(p, HOP_A_STORMS));
	if (port_number(p, HOP_A_COUNTER_LEAKS))
		say(j, "counter_leaks", name, "%" PRIu64 " times",
		    port_number(p, HOP_A_COUNTER_LEAKS));
	if (port_number(p, HOP_A_UNANSWERED))
		say(j, "unanswered", name, "%" PRIu64 " times", port_number(p, HOP_A_UNANSWERED));
	if (kin && port_number(p, HOP_A_RX_UNTRUSTED))
		say(j, "untrusted", name, "%" PRIu64 " times", port_number(p, HOP_A_RX_UNTRUSTED));
	if (port_number(p, HOP_A_HANDLE_FORGED))
		say(j, "handle_forged", name, "%" PRIu64 " packets",
		    port_number(p, HOP_A_HANDLE_FORGED));
	/* nobody tags towards a host */
	if (port_number(p, HOP_A_INGRESS_FILTER) && port_number(p, HOP_A_ROLE) == HOP_ROLE_SWITCH)
		say(j, "ingress_filter", name, "%" PRIu64 " tagged frames so far",
		    port_number(p, HOP_A_TAG_UNSEEN));
	if (port_number(p, HOP_A_HRTT_CAPPED) && hrtt_measured(p) > port_number(p, HOP_A_HRTT))
		say(j, "hrtt_capped", name, "%" PRIu64 " ns, of which %" PRIu64 " are used",
		    hrtt_measured(p), port_number(p, HOP_A_HRTT));
	if (p->msg[HOP_N_SPEED].data && !attr_number(&p->msg[HOP_N_SPEED]) &&
	    !rate_is_set(j->look, attr_number(&p->msg[HOP_N_IFINDEX])))
		say(j, "speed_unknown", name, "%s", "");
}

static void judge_bfc_rate(const struct judge *j, const struct qdisc *q, const char *name)
{
	const struct port *p = port_of(j->look, q->ifindex);

	judge_rate(j, q, name, q->bfc_rate, p ? attr_number(&p->msg[HOP_N_SPEED]) : 0);
}

static void judge_queues(const struct judge *j, const struct device *d)
{
	const struct look *look = j->look;
	unsigned int below_mq = 0, root = 0;

	for (size_t i = 0; i < look->qdiscs.count; i++) {
		const struct qdisc *q = &look->qdiscs.list[i], *parent;

		if (q->ifindex != d->ifindex || !q->bfc)
			continue;
		parent = parent_of(look, q);
		if (parent && !strncmp(parent->kind, "mq", 2))
			below_mq++;
		else
			root++;
	}
	if (below_mq && below_mq < d->tx_queues)
		say(j, "mq_part", d->name, "%u of %u have one", below_mq, d->tx_queues);
	if (!below_mq && root && d->tx_queues > 1)
		say(j, "one_lock", d->name, "%u transmit queues", d->tx_queues);
}

static void judge_device(const struct judge *j, const struct device *d)
{
	const struct device *master = d->master ? device_of(j->look, d->master) : NULL;
	uint32_t forwards = d->group_fwd_mask | (master ? master->group_fwd_mask : 0);

	if (d->lro)
		say(j, "lro", d->name, "%s", "");
	if (d->gro_hw)
		say(j, "gro_hw", d->name, "%s", "");
	if (d->stag_filter)
		say(j, "stag_filter", d->name, "%s", "");
	if (d->filters)
		say(j, "egress_filter", d->name, "%u filters", d->filters);
	if (d->tcx)
		say(j, "tcx_egress", d->name, "%u programs", d->tcx);
	if (d->xdp)
		say(j, "xdp", d->name, "%s", "");
	if (d->flowtable)
		say(j, "flowtable", d->name, "%s", "");
	if (d->switchdev)
		say(j, "switchdev", d->name, "%s", "");
	if (forwards >> LLDP_GROUP_BIT & 1)
		say(j, "group_fwd_mask", d->name, "%s forwards 01:80:C2:00:00:0E",
		    master ? master->name : "the bridge");
	judge_queues(j, d);
}

/* Where the congestion began that a port of this box is held for */
static void judge_holds(const struct judge *j, const struct root_port *p)
{
	const struct roots *roots = &j->look->roots;

	for (size_t i = 0; i < p->n_holds; i++) {
		char *text = roots_text(roots, p, &p->holds[i]);
		size_t known = roots_known(roots, p->holds[i].root);

		if (text)
			say(j, known == 1 ? "held" : known ? "root_ambiguous" : "root_unknown",
			    p->name, "%s", text);
		free(text);
	}
}

/* A circle is said once, by whichever of its ports comes first; it need not be of this box. */
static void judge_roots(const struct judge *j)
{
	const struct roots *roots = &j->look->roots;

	for (size_t i = 0; i < roots->count; i++) {
		const struct root_port *p = &roots->ports[i];
		char *circle = roots_circle(roots, p);

		if (circle)
			say(j, "deadlock", NULL, "%s", circle);
		free(circle);
		if (p->here && wanted(j, p->name))
			judge_holds(j, p);
	}
}

void doctor_judge(const struct look *look, const char *dev, doctor_fn found, void *ctx)
{
	const struct judge j = { .look = look, .dev = dev, .found = found, .ctx = ctx };

	judge_box(&j);
	judge_roots(&j);
	for (size_t i = 0; i < look->n_devices; i++) {
		const struct device *d = &look->devices[i];
		const struct port *p = port_of(look, d->ifindex);

		if (!wanted(&j, d->name))
			continue;
		for (size_t q = 0; q < look->qdiscs.count; q++)
			if (look->qdiscs.list[q].rocc && look->qdiscs.list[q].ifindex == d->ifindex)
				judge_rocc(&j, &look->qdiscs.list[q], d);
		if (!has_port(look, d->ifindex)) {
			if (dev && !has_other(look, d->ifindex))
				say(&j, "no_port", d->name, "%s", "");
			continue;
		}
		if (p)
			judge_port(&j, p);
		for (size_t q = 0; q < look->qdiscs.count; q++)
			if (look->qdiscs.list[q].bfc && look->qdiscs.list[q].ifindex == d->ifindex)
				judge_bfc_rate(&j, &look->qdiscs.list[q], d->name);
		for (size_t q = 0; q < look->qdiscs.count; q++)
			if (look->qdiscs.list[q].floodgate &&
			    look->qdiscs.list[q].ifindex == d->ifindex)
				judge_floodgate(&j, &look->qdiscs.list[q], d, p);
		for (size_t q = 0; q < look->qdiscs.count; q++)
			if (look->qdiscs.list[q].flowsail &&
			    look->qdiscs.list[q].ifindex == d->ifindex)
				judge_flowsail(&j, &look->qdiscs.list[q], d, p);
		judge_device(&j, d);
	}
}
