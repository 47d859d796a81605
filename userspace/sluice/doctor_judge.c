// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_judge.c - what the rules of doctor share: all that can be found, and rates
 *
 * Documentation/doctor.md has the same list.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/pkt_sched.h>

#include "doctor_judge.h"
#include "sluice.h"

#define NOTE	SEVERITY_NOTE
#define WARNING	SEVERITY_WARNING
#define ERROR	SEVERITY_ERROR

const struct complaint complaints[] = {
	{ "module_hopctl", ERROR, "the module hopctl is not loaded",
	  "modprobe sch_bfc, which brings it" },
	{ "module_bfc", ERROR, "the module sch_bfc is not loaded", "modprobe sch_bfc" },
	{ "no_family", ERROR, "the kernel has no netlink family hopctl",
	  "the modules are older than this program: install both from one version" },
	{ "no_admin", NOTE, "not everything can be seen without CAP_NET_ADMIN", "be root" },
	{ "version_hopctl", ERROR, "this program and the module hopctl are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_bfc", ERROR, "this program and the module sch_bfc are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_floodgate", ERROR, "this program and the module sch_floodgate are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_flowsail", ERROR, "this program and the module sch_flowsail are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_rocc", ERROR, "this program and the module sch_rocc are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_ideal", ERROR, "this program and the module sch_ideal are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "version_pfc", ERROR, "this program and the module sch_pfc are out of step",
	  "install modules and programs from one version, and load the modules anew" },
	{ "no_ports", WARNING, "no device here has a bfc qdisc",
	  "tc qdisc replace dev DEV root bfc, on every port" },
	{ "no_port", WARNING, "the device has no bfc qdisc", "tc qdisc replace dev DEV root bfc" },
	{ "handles_out", WARNING, "the namespace has run out of handles",
	  "fewer queues on the neighbours' ports" },

	{ "no_neighbour", WARNING, "nobody answers on this link",
	  "put the same kind of qdisc on the other end; frames to 01:80:C2:00:00:0E have to pass what is in between" },
	{ "no_strip", ERROR, "the neighbour does not take tags off",
	  "see why on the neighbour: filters on the way in that its strip auto heeds?" },
	{ "tpid", ERROR, "the neighbour uses another TPID", "set the same tpid at both ends" },
	{ "probing", NOTE, "probes are under way", "wait, and ask again" },
	{ "probe_size", ERROR, "tagged frames of full size do not pass",
	  "raise the MTU of what is in between by 4 bytes, or lower this one's" },
	{ "probe_tag", ERROR, "untagged frames pass, tagged ones do not",
	  "ethtool -K DEV rx-vlan-stag-filter off at both ends, or tpid 802.1q" },
	{ "shared", ERROR, "more than one neighbour is on this link",
	  "a link has two ends: no hub, plain switch or bridge may be in between" },
	{ "no_carrier", WARNING, "the device has no carrier",
	  "ip link set DEV up, and see to the cable" },
	{ "disabled", NOTE, "tagging is turned off", "sluice set DEV tag on" },
	{ "kind", WARNING, "the neighbour has another kind of qdisc, so neither pauses the other",
	  "put the same kind of qdisc on both ends" },

	{ "handles_short", WARNING, "some of the neighbour's sub-queues cannot be paused",
	  "fewer queues on the neighbours' ports: there are not handles for all" },
	{ "storm", ERROR, "the neighbour never lets go, and its pauses are ignored",
	  "look at the neighbour: what does not leave it any more?" },
	{ "counter_leaks", ERROR, "pause counters had to be set back",
	  "report it with the versions of kernel and modules: it is a bug" },
	{ "unanswered", WARNING, "the neighbour did not say what has left it: windows ended until it did",
	  "is control traffic but HELLOs lost or filtered? Else report it with both ends' versions" },
	{ "untrusted", WARNING, "the neighbour is taken for a host, and its pauses are ignored",
	  "if it is a switch: sluice set DEV peer switch" },
	{ "handle_forged", WARNING, "a program on this box writes tc_index",
	  "find the tc or BPF program that does, and take it off" },
	{ "ingress_filter", WARNING, "filters see frames before their fabric tag is taken off",
	  "take tc filters and XDP off the way in; or write them for tagged frames: strip always" },
	{ "hrtt_capped", WARNING, "the measured HRTT is not believed",
	  "if the link is that long: sluice set DEV hrtt-max TIME; else look at the neighbour" },
	{ "speed_unknown", WARNING, "the device does not say how fast it is",
	  "sluice set DEV rate RATE" },

	{ "not_bottleneck", WARNING, "packets do not wait in the qdisc: nothing shapes to its rate",
	  "put it below a tbf of that rate, or sluice set DEV rate auto" },
	{ "rate_not_shaper", WARNING, "the qdisc does not know the rate of the shaper above it",
	  "sluice set DEV rate RATE, with the shaper's" },
	{ "mq_part", WARNING, "some transmit queues have no bfc",
	  "put bfc below each class of mq, or one at the root" },
	{ "one_lock", NOTE, "several transmit queues share one bfc and its lock",
	  "for the highest rates: mq at the root, and bfc below each of its classes" },

	{ "gro_hw", WARNING, "the card merges frames before their tags are seen",
	  "ethtool -K DEV rx-gro-hw off" },
	{ "lro", WARNING, "large receive offload merges frames of several flows of one tag",
	  "ethtool -K DEV lro off" },
	{ "stag_filter", WARNING, "the card drops 802.1ad ids that nobody asked for",
	  "ethtool -K DEV rx-vlan-stag-filter off" },
	{ "egress_filter", WARNING, "a tc filter on the way out may overwrite tc_index",
	  "take it off, or let it end with `continue`; see tc filter show dev DEV egress" },
	{ "tcx_egress", WARNING, "a BPF program on the way out may overwrite tc_index",
	  "see that it does not write tc_index: bpftool net show dev DEV" },
	{ "xdp", WARNING, "an XDP program sees frames first, and may forward past bfc",
	  "see that it leaves tagged and control frames alone and redirects nothing" },
	{ "flowtable", WARNING, "a flowtable's hardware offload forwards past bfc",
	  "take `flags offload` off the flowtable, or the device out of it" },
	{ "switchdev", WARNING, "the switch's hardware may forward past bfc",
	  "forward in software on these ports, or use the hardware's own flow control" },
	{ "group_fwd_mask", ERROR, "control frames are forwarded from one link to another",
	  "clear bit 14 (0x4000) of group_fwd_mask: ip link set DEV type bridge group_fwd_mask 0" },

	{ "deadlock", ERROR, "ports hold each other in a circle, and nothing leaves them",
	  "sluice graph FABRIC says which routes make the circle; with --apply backpressure is left out there" },
	{ "held", NOTE, "packets wait for congestion elsewhere",
	  "look at the port that is named: what comes to it is more than leaves it" },
	{ "root_unknown", NOTE, "packets wait for congestion at a port that is not known",
	  "sluice doctor --with FILE for each other box, with what sluice -j show says there" },
	{ "root_ambiguous", WARNING, "packets wait for congestion at one of several ports of one id",
	  "give one of them another: sluice set DEV root-id N, on its box" },
	{ "floodgate_no_windows", WARNING, "two switches, and the neighbour counts nothing: no windows hold",
	  "floodgate with mode window at the other end, too, at all of its transmit queues" },
	{ "floodgate_slots", WARNING, "packets went without a window: all slots were in use",
	  "more slots, which are fixed when the qdisc is made: tc qdisc del, then add" },
	{ "floodgate_shared", NOTE, "destinations shared a VOQ, and waited behind others",
	  "more voqs, which are fixed when the qdisc is made: tc qdisc del, then add" },
	{ "floodgate_unpaused", NOTE, "VOQs were longer than pause-threshold, and nobody was paused for it",
	  "a floodgate at each host; what comes from another switch pauses nobody here" },
	{ "floodgate_dropped", WARNING, "more came than there was room for",
	  "sluice set DEV pause-hosts at the ports towards the fabric, or a larger limit or pool" },
	{ "flowsail_slots", WARNING, "packets went without a slot, and their flows cannot be held",
	  "more slots, which are fixed when the qdisc is made: tc qdisc del, then add" },
	{ "flowsail_early", NOTE, "flows got slots of others that had just left: a pause may hit the wrong one",
	  "more slots, which are fixed when the qdisc is made: tc qdisc del, then add" },
	{ "flowsail_unlabelled", WARNING, "most packets that should hold their flow came without a tag",
	  "see the state of the ports that they come by: flowsail or bfc at the other ends, hosts as well" },
	{ "flowsail_dropped", WARNING, "more came than there was room for",
	  "flowsail or bfc at the neighbours, which obey pauses; or a larger limit or pool" },
	{ "rocc_none_obeyed", WARNING, "congestion notifications come, and none has been obeyed yet",
	  "what they are refused for says why: see RoCC in troubleshooting.md" },
	{ "rocc_refused", WARNING, "congestion notifications are refused",
	  "if they are of your switches: bad_ttl: a larger radius; bad_source: into from; bad_tag: the "
	  "same key, and sign there; bad_flow: role host where the flow leaves" },
	{ "rocc_rp_filter", WARNING,
	  "rp_filter throws away congestion notifications of switches without an address",
	  "an address for their bridges, or another source; or here: ip route add 192.0.0.8 dev DEV" },
	{ "rocc_rate", WARNING, "rocc reckons with more than the link carries, and sees no congestion",
	  "sluice set DEV rate auto, or what the link carries" },
	{ "rocc_least_rate", WARNING, "the least rate is all of the link: flows are not slowed down",
	  "sluice set DEV rate-min auto at a switch, floor auto at a host" },
	{ "rocc_limit", WARNING, "limit drops packets before the queue comes to its marks",
	  "sluice set DEV limit BYTES, above qmax" },
	{ "rocc_recovery", NOTE, "recovery has no effect: hold ends it before",
	  "sluice set DEV hold TIME, above recovery" },
	{ "rocc_sign", WARNING, "there is a key, and congestion notifications are not signed",
	  "sluice set DEV sign 1, or sign 2; hosts that have a key refuse what is not signed" },
	{ "rocc_bfc_th", WARNING, "bfc below rocc pauses before the queue is at rocc's reference",
	  "sluice set DEV bfc th BYTES, above q_ref" },
	{ "rocc_silent", WARNING, "the queue is above its reference, and nobody was ever told",
	  "flows of the box itself are not told: role host there; see no_flow and untracked" },
	{ "rocc_not_obeyed", WARNING, "flows are told the least rate, and the queue stays long",
	  "see that the hosts obey: rocc role host, and sluice doctor there; or lower rate-min" },
	{ "rocc_full", WARNING, "flows went unlimited: rocc had no limiter left",
	  "more limiters: tc qdisc replace dev DEV root rocc role host limiters N" },
	{ "rocc_no_way", WARNING, "congestion notifications found no way to their source",
	  "the flows' sources need a route back, or an Ethernet device that they come by" },
	{ "rocc_vlan", WARNING, "a bridge's VLANs do not say how to tell the sources of flows",
	  "at both ports, the flows' VLAN; at a port that takes its tag off, as the port's PVID" },
	{ "rocc_held", WARNING, "congestion notifications were held back by their bound",
	  "sluice set DEV cnps N, or a longer interval" },
	{ "rocc_untracked", WARNING, "flows found no room in the table of rocc, and are not told",
	  "more flows, or table elephants: tc qdisc replace dev DEV root rocc ..." },
	{ "rocc_dropped", NOTE, "a host dropped packets of its own beyond limit",
	  "sluice set DEV limit BYTES; or a smaller send buffer of what does not wait for room" },
	{ "rocc_control", WARNING, "control packets were dropped: there are too many",
	  "see what sends them, or marks data as control; or sluice set DEV control-share PERCENT" },
	{ "rocc_epoch_back", NOTE,
	  "the clock of a congestion point was set back, or somebody plays notifications again",
	  "if no switch was started with its clock set back: other keys, at hosts and switches" },
};

const size_t n_complaints = ARRAY_SIZE(complaints);

void say(const struct judge *j, const char *id, const char *dev, const char *fmt, ...)
{
	char detail[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	for (size_t i = 0; i < n_complaints; i++)
		if (!strcmp(complaints[i].id, id)) {
			j->found(j->ctx, &complaints[i], dev, detail);
			return;
		}
	abort();	/* a finding that is not in the list */
}

const struct qdisc *parent_of(const struct look *look, const struct qdisc *q)
{
	for (size_t i = 0; i < look->qdiscs.count; i++) {
		const struct qdisc *p = &look->qdiscs.list[i];

		if (p->ifindex == q->ifindex && p->handle && p != q &&
		    TC_H_MAJ(p->handle) == TC_H_MAJ(q->parent))
			return p;
	}
	return NULL;
}

bool shaped(const struct look *look, const struct qdisc *q, uint64_t *rate)
{
	static const char * const shapers[] = { "tbf", "htb", "hfsc", "netem" };

	*rate = 0;
	for (int depth = 0; q && depth < 16; depth++, q = parent_of(look, q))
		for (size_t i = 0; i < ARRAY_SIZE(shapers); i++)
			if (!strcmp(q->kind, shapers[i])) {
				*rate = q->rate;
				return true;
			}
	return false;
}

void judge_rate(const struct judge *j, const struct qdisc *q, const char *name, uint64_t own,
		uint64_t speed)
{
	char a[ATTR_TEXT_MAX], b[ATTR_TEXT_MAX];
	uint64_t rate, reckoned = own ?: speed;

	if (!shaped(j->look, q, &rate)) {
		if (own && speed && own < speed)
			say(j, "not_bottleneck", name, "rate %s, the link has %s",
			    text_rate(a, own), text_rate(b, speed));
		return;
	}
	if (!rate || (reckoned && reckoned <= rate))
		return;
	say(j, "rate_not_shaper", name, "%s reckons with %s, tbf sends %s", q->kind,
	    reckoned ? text_rate(a, reckoned) : "a guess", text_rate(b, rate));
}
