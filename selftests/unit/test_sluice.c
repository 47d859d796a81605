// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_sluice.c - the command sluice without a kernel: values, messages, doctor's rules
 *
 * Messages are made by hand, attribute by attribute, also cut off and damaged ones.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kernel/uapi/ideal.h"
#include "../../kernel/uapi/floodgate.h"
#include "../../kernel/uapi/flowsail.h"
#include "../../kernel/uapi/pfc.h"
#include "../../userspace/sluice/attr.c"
#include "../../userspace/sluice/nl.c"
#include "../../userspace/sluice/port.c"
#include "../../userspace/sluice/roots.c"
#include "../../userspace/sluice/show.c"
#include "../../userspace/sluice/doctor_judge.c"
#include "../../userspace/sluice/doctor_rules.c"
#include "../../userspace/sluice/doctor_rocc.c"
#include "../../userspace/sluice/doctor_floodgate.c"
#include "../../userspace/sluice/doctor_flowsail.c"
#include "unit.h"

static void same(const char *got, const char *want, const char *what)
{
	bool ok = got && !strcmp(got, want);

	check(ok, what);
	if (!ok)
		printf("# is \"%s\", should be \"%s\"\n", got, want);
}

/* What call.c has */
struct call call;
const struct argp common_argp;

void verb_parse(const struct argp *argp, int argc, char **argv, void *input) {}
unsigned int device_index(const char *name) { return 1; }
void print_json(json_t *root) { json_decref(root); }

void die(int status, const char *fmt, ...)
{
	printf("# dies: %s\n", fmt);
	exit(status ?: 1);
}

/* Values. */

static void test_texts(void)
{
	char buf[ATTR_TEXT_MAX];

	same(text_time(buf, 0), "0ns", "0 ns");
	same(text_time(buf, 1500), "1.5us", "1500 ns");
	same(text_time(buf, 1000000001), "1.000000001s", "no digit is lost");
	same(text_rate(buf, 1250000000), "10Gbit", "10 Gbit/s");
	same(text_rate(buf, UINT64_MAX), "18446744073709551615bps", "more than bits can say");
	same(text_bytes(buf, 65536), "64Kb", "64 KiB");
	same(text_bytes(buf, 65537), "65537b", "what is no whole KiB");
}

/* A message as the family sends it. */
static size_t message(char *buf, bool mac)
{
	static const uint64_t paused[] = { 1ULL << 3 | 1ULL << 4 | 1ULL << 5 | 1ULL << 63, 1 << 1 };
	static const struct hop_held_by by[] = {
		{ .queue = 3, .root = 41235, .hops = 1, .flags = HOP_HELD_QUIET,
		  .quiet_ns = 1ULL << 33 },
		{ .queue = 65, .root = 7, .hops = 17, .flags = HOP_HELD_MORE },
	};
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	struct nlattr *nest;

	msg->nlmsg_type = 27;
	genl->cmd = HOP_CMD_PORT_GET;
	genl->version = 1;
	mnl_attr_put_u32(msg, HOP_N_IFINDEX, 7);
	mnl_attr_put_strz(msg, HOP_N_IFNAME, "eth7");
	mnl_attr_put_u16(msg, HOP_N_QUEUES, 128);
	mnl_attr_put_u64(msg, HOP_N_SPEED, 1250000000);
	mnl_attr_put(msg, HOP_N_PAUSED, sizeof(paused), paused);
	mnl_attr_put(msg, HOP_N_ROOTS, sizeof(by), by);
	nest = mnl_attr_nest_start(msg, HOP_N_PORT);
	mnl_attr_put_u8(msg, HOP_A_STATE, HOP_STATE_PROBE_TAG);
	mnl_attr_put_u8(msg, HOP_A_ROLE, HOP_ROLE_SWITCH);
	mnl_attr_put_u8(msg, HOP_A_PEER_ROLE, HOP_ROLE_HOST);
	if (mac)
		mnl_attr_put(msg, HOP_A_PEER_MAC, 6, "\x02\0\0\0\x01\xff");
	mnl_attr_put_u16(msg, HOP_A_PEER_QUEUES, 32);
	mnl_attr_put_u32(msg, HOP_A_HRTT_RAW, 1111);
	mnl_attr_put_u32(msg, HOP_A_HRTT, 2222);
	mnl_attr_put_u64(msg, HOP_A_HELLO_TX, 1ULL << 40);
	mnl_attr_put_u8(msg, HOP_A_TIER, HOP_TIER_UP);
	mnl_attr_put_u8(msg, HOP_A_STORM, 1);
	mnl_attr_nest_end(msg, nest);
	return msg->nlmsg_len;
}

static const char *member(json_t *root, const char *key)
{
	static char text[256];
	json_t *v = json_object_get(root, key);
	char *dump = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

	snprintf(text, sizeof(text), "%s", dump ?: "(nothing)");
	free(dump);
	return text;
}

static void test_message(void)
{
	char buf[NL_MESSAGE_MAX];
	json_t *root, *port;
	struct port p;

	message(buf, true);
	port_decode(&p, (void *)buf);
	root = port_json(&p, true);
	port = json_object_get(root, "port");
	same(member(root, "dev"), "\"eth7\"", "dev");
	same(member(root, "speed"), "1250000000", "speed in bytes per second");
	same(member(root, "paused"), "[3,4,5,63,65]", "which sub-queues are paused");
	same(member(root, "pausing"), "(nothing)", "what is not said is not there");
	same(member(root, "roots"),
	     "[{\"queue\":3,\"root\":41235,\"hops\":1,\"more\":false,\"quiet\":true,\"quiet_ns\":8589934592},"
	     "{\"queue\":65,\"root\":7,\"hops\":17,\"more\":true,\"quiet\":false,\"quiet_ns\":0}]",
	     "where congestion began");
	same(member(port, "state"), "\"probe_tag\"", "state");
	same(member(port, "peer_role"), "\"host\"", "peer_role");
	same(member(port, "peer_mac"), "\"02:00:00:00:01:ff\"", "peer_mac");
	same(member(port, "hrtt_raw"), "1111", "hrtt_raw is the measured one");
	same(member(port, "hrtt"), "2222", "hrtt is the used one");
	same(member(port, "hello_tx"), "1099511627776", "counters have 64 bits");
	same(member(port, "storm"), "true", "storm");
	same(member(port, "tier"), "\"up\"", "tier");
	json_decref(root);
	root = port_json(&p, false);
	port = json_object_get(root, "port");
	same(member(port, "hello_tx"), "(nothing)", "counters only if asked for");
	same(member(port, "hrtt"), "2222", "gauges always");
	json_decref(root);
}

static const char *cell_of(const struct port *p, const char *title)
{
	static char text[256];

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		char *s;

		if (strcmp(columns[c].title, title))
			continue;
		s = cell(p, &columns[c]);
		snprintf(text, sizeof(text), "%s", s);
		free(s);
		return text;
	}
	return "no such column";
}

static void test_table(void)
{
	char buf[NL_MESSAGE_MAX], *text;
	struct port p;

	message(buf, false);
	port_decode(&p, (void *)buf);
	same(cell_of(&p, "HRTT-RAW"), "1.111us", "table: measured HRTT");
	same(cell_of(&p, "HRTT"), "2.222us", "table: used HRTT");
	same(cell_of(&p, "SPEED"), "10Gbit", "table: speed");
	same(cell_of(&p, "PAUSED"), "3-5,63,65", "table: runs of sub-queues");
	same(cell_of(&p, "PAUSING"), "none", "table: none");
	same(cell_of(&p, "PEER-MAC"), "-", "table: no neighbour");
	same(cell_of(&p, "STORM"), "yes", "table: storm");
	text = attr_text(row_of(message_table, HOP_N_ROOTS), &p.msg[HOP_N_ROOTS]);
	same(text, "3:41235/1 65:7/17+", "roots in short");
	free(text);
}

/* Every length and many damages: nothing outside of the message is read, says the sanitizer. */
static void test_damage(void)
{
	char good[NL_MESSAGE_MAX];
	size_t len = message(good, true);

	for (int i = 0; i < 20000; i++) {
		size_t cut = random64() % (len - NLMSG_HDRLEN + 1) + NLMSG_HDRLEN;
		char *copy = malloc(cut);
		struct nlmsghdr *msg = (void *)copy;
		struct port p;

		memcpy(copy, good, cut);
		for (int n = random64() % 4; n > 0; n--)
			copy[NLMSG_HDRLEN - 1 + random64() % (cut - NLMSG_HDRLEN + 1)] ^=
				random64();
		msg->nlmsg_len = cut;
		port_decode(&p, msg);
		json_decref(port_json(&p, true));
		for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
			free(cell(&p, &columns[c]));
		free(copy);
	}
	check(true, "cut off and damaged messages");
}

/* Doctor: what is found, as words. */

static char found_ids[1024];

static void note_id(void *ctx, const struct complaint *c, const char *dev, const char *detail)
{
	size_t n = strlen(found_ids);

	snprintf(found_ids + n, sizeof(found_ids) - n, "%s%s%s%s%s%s%s", n ? " " : "", dev ?: "",
		 dev ? ":" : "", c->id, *detail ? "(" : "", detail, *detail ? ")" : "");
}

static const char *judged(const struct look *look, const char *dev)
{
	found_ids[0] = '\0';
	doctor_judge(look, dev, note_id, NULL);
	return found_ids;
}

/* A port of which nothing is wrong. */
static uint64_t store[32];
static struct port good_port(void)
{
	struct port p = {};

	memset(store, 0, sizeof(store));
	store[0] = 7;
	store[1] = 1250000000;
	store[2] = HOP_STATE_TAGGING;
	p.msg[HOP_N_IFINDEX] = (struct attr_value){ &store[0], 4 };
	p.msg[HOP_N_IFNAME] = (struct attr_value){ "eth7", 5 };
	p.msg[HOP_N_SPEED] = (struct attr_value){ &store[1], 8 };
	p.port[HOP_A_STATE] = (struct attr_value){ &store[2], 1 };
	store[10] = HOP_ROLE_SWITCH;
	p.port[HOP_A_ROLE] = (struct attr_value){ &store[10], 1 };
	p.port[HOP_A_PEER_QUEUES] = (struct attr_value){ &store[3], 2 };
	p.port[HOP_A_HANDLES] = (struct attr_value){ &store[4], 2 };
	p.port[HOP_A_STORM] = (struct attr_value){ &store[5], 1 };
	p.port[HOP_A_STORMS] = (struct attr_value){ &store[6], 8 };
	p.port[HOP_A_COUNTER_LEAKS] = (struct attr_value){ &store[7], 8 };
	p.port[HOP_A_RX_UNTRUSTED] = (struct attr_value){ &store[8], 8 };
	p.port[HOP_A_HANDLE_FORGED] = (struct attr_value){ &store[9], 8 };
	store[11] = 2000, store[12] = 3000, store[13] = 3072;
	p.port[HOP_A_HRTT_RAW] = (struct attr_value){ &store[11], 4 };
	p.port[HOP_A_REACTION] = (struct attr_value){ &store[12], 4 };
	p.port[HOP_A_HRTT] = (struct attr_value){ &store[13], 4 };
	p.port[HOP_A_HRTT_CAPPED] = (struct attr_value){ &store[14], 8 };
	p.port[HOP_A_UNANSWERED] = (struct attr_value){ &store[31], 8 };
	return p;
}

static struct port port;
static struct qdisc qdisc[3];
static struct device device[2];

static struct look good_look(void)
{
	port = good_port();
	memset(device, 0, sizeof(device));
	memset(qdisc, 0, sizeof(qdisc));
	device[0] = (struct device) { .ifindex = 7, .name = "eth7", .mtu = 1500, .tx_queues = 1 };
	device[1] = (struct device) { .ifindex = 8, .name = "br0", .mtu = 1500, .tx_queues = 1 };
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "bfc", .bfc = true,
		.version = BFC_VERSION,
	};
	return (struct look) {
		.module_hopctl = true, .module_bfc = true, .family = true, .admin = true,
		.version = HOP_VERSION, .handles = 100, .handles_used = 99,
		.ports = { &port, 1 }, .qdiscs = { qdisc, 1 }, .devices = device, .n_devices = 2,
	};
}

static void test_doctor_box(void)
{
	struct look l = good_look();

	same(judged(&l, NULL), "", "nothing is wrong");
	l.module_bfc = false;
	same(judged(&l, NULL), "module_bfc", "module_bfc");
	l = good_look();
	l.module_hopctl = l.family = false;
	same(judged(&l, NULL), "module_hopctl", "module_hopctl");
	l = good_look();
	l.family = false;
	same(judged(&l, NULL), "no_family", "no_family");
	l = good_look();
	l.admin = false;
	same(judged(&l, NULL), "no_admin", "no_admin");
	l = good_look();
	l.version = HOP_VERSION + 1;
	same(judged(&l, NULL), "version_hopctl(program 1, module 2)", "version_hopctl");
	l = good_look();
	qdisc[0].version = BFC_VERSION + 1;
	same(judged(&l, NULL), "version_bfc(program 2, module 3)", "version_bfc");
	l = good_look();
	l.qdiscs.count = 0;
	same(judged(&l, NULL), "no_ports", "no_ports");
	same(judged(&l, "eth7"), "eth7:no_port", "no_port");
	l = good_look();
	l.handles_used = 100;
	same(judged(&l, NULL), "handles_out(100 of 100 are used)", "handles_out");
}

static void test_doctor_port(void)
{
	static const char * const states[] = {
		"", "eth7:no_neighbour", "eth7:no_strip", "eth7:tpid", "eth7:probing",
		"eth7:probe_size(MTU 1500: with the tag 1504)", "eth7:probe_tag", "eth7:shared",
		"eth7:no_carrier", "eth7:disabled", "eth7:kind", "",
	};
	struct look l;

	_Static_assert(ARRAY_SIZE(states) == __HOP_STATE_MAX, "a state without advice");
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		l = good_look();
		store[2] = i;
		same(judged(&l, NULL), states[i], i ? states[i] : "tagging");
	}
	l = good_look();
	store[2] = 200;
	same(judged(&l, NULL), "", "a state of the future");
	l = good_look();
	store[3] = 128, store[4] = 64;
	same(judged(&l, NULL), "eth7:handles_short(64 handles for 128 sub-queues)", "handles_short");
	store[10] = HOP_ROLE_HOST;
	same(judged(&l, NULL), "", "a host needs no handles");
	l = good_look();
	store[5] = 1, store[6] = 3;
	same(judged(&l, NULL), "eth7:storm(3 times so far)", "storm");
	l = good_look();
	store[7] = 1;
	same(judged(&l, NULL), "eth7:counter_leaks(1 times)", "counter_leaks");
	l = good_look();
	store[31] = 2;
	same(judged(&l, NULL), "eth7:unanswered(2 times)", "unanswered");
	l = good_look();
	store[8] = 2;
	same(judged(&l, NULL), "eth7:untrusted(2 times)", "untrusted");
	l = good_look();
	store[9] = 5;
	same(judged(&l, NULL), "eth7:handle_forged(5 packets)", "handle_forged");
	same(judged(&l, "br0"), "br0:no_port", "another device");
	l = good_look();
	store[14] = 3;
	same(judged(&l, NULL), "", "an HRTT that was not believed once, and is now");
	store[12] = 1200000, store[13] = 1000000;
	same(judged(&l, NULL), "eth7:hrtt_capped(1200000 ns, of which 1000000 are used)",
	     "hrtt_capped by what pauses take");
	store[12] = 0, store[11] = 100000000;
	same(judged(&l, NULL), "eth7:hrtt_capped(100000000 ns, of which 1000000 are used)",
	     "hrtt_capped by what HELLOs say");
	store[14] = 0;
	same(judged(&l, NULL), "", "less is used because it was configured");
	l = good_look();
	store[1] = 0;
	same(judged(&l, NULL), "eth7:speed_unknown", "speed_unknown");
	qdisc[0].bfc_rate = 125000;
	same(judged(&l, NULL), "", "but not if rate says it");
}

/* The first qdisc hangs below a tbf of that rate, in bytes per second. */
static void below_tbf(struct look *l, uint64_t rate)
{
	qdisc[1] = (struct qdisc) {
		.ifindex = 7, .handle = 0x20000, .parent = 0xffffffff, .kind = "tbf", .rate = rate,
	};
	qdisc[0].parent = 0x20001;
	l->qdiscs.count = 2;
}

static void test_doctor_qdiscs(void)
{
	struct look l = good_look();

	qdisc[0].bfc_rate = 125000000;
	same(judged(&l, NULL), "eth7:not_bottleneck(rate 1Gbit, the link has 10Gbit)",
	     "not_bottleneck");
	/* the same below a tbf */
	below_tbf(&l, 125000000);
	same(judged(&l, NULL), "", "below a tbf of the same rate");
	qdisc[0].bfc_rate = 0;
	same(judged(&l, NULL), "eth7:rate_not_shaper(bfc reckons with 10Gbit, tbf sends 1Gbit)",
	     "rate_not_shaper");
	qdisc[1].ifindex = 8;
	qdisc[0].bfc_rate = 125000000;
	same(judged(&l, NULL), "eth7:not_bottleneck(rate 1Gbit, the link has 10Gbit)",
	     "a tbf of another device");

	l = good_look();
	device[0].tx_queues = 2;
	same(judged(&l, NULL), "eth7:one_lock(2 transmit queues)", "one_lock");
	qdisc[1] = (struct qdisc) {
		.ifindex = 7, .handle = 0x20000, .parent = 0xffffffff, .kind = "mq",
	};
	qdisc[0].parent = 0x20001;
	l.qdiscs.count = 2;
	same(judged(&l, NULL), "eth7:mq_part(1 of 2 have one)", "mq_part");
	qdisc[2] = qdisc[0];
	qdisc[2].handle = 0x30000;
	qdisc[2].parent = 0x20002;
	l.qdiscs.count = 3;
	same(judged(&l, NULL), "", "each queue of mq has one");
}

static void test_doctor_device(void)
{
	struct look l = good_look();

	device[0].lro = true;
	same(judged(&l, NULL), "eth7:lro", "lro");
	l = good_look();
	device[0].gro_hw = true;
	same(judged(&l, NULL), "eth7:gro_hw", "gro_hw");
	l = good_look();
	device[0].stag_filter = true;
	same(judged(&l, NULL), "eth7:stag_filter", "stag_filter");
	l = good_look();
	device[0].filters = 2;
	same(judged(&l, NULL), "eth7:egress_filter(2 filters)", "egress_filter");
	l = good_look();
	device[0].tcx = 1;
	same(judged(&l, NULL), "eth7:tcx_egress(1 programs)", "tcx_egress");
	l = good_look();
	device[0].xdp = true;
	same(judged(&l, NULL), "eth7:xdp", "xdp");
	l = good_look();
	device[0].flowtable = true;
	same(judged(&l, NULL), "eth7:flowtable", "flowtable");
	l = good_look();
	device[0].switchdev = true;
	same(judged(&l, NULL), "eth7:switchdev", "switchdev");
	l = good_look();
	device[0].master = 8;
	device[1].group_fwd_mask = 0x4000;
	same(judged(&l, NULL), "eth7:group_fwd_mask(br0 forwards 01:80:C2:00:00:0E)",
	     "group_fwd_mask");
	device[1].group_fwd_mask = 0xbfff;
	same(judged(&l, NULL), "", "other groups may be forwarded");
	/* what is not a port is nobody's business */
	l = good_look();
	device[1].xdp = device[1].lro = true;
	same(judged(&l, NULL), "", "other devices");
}

/* A box with a rocc, of which nothing is wrong, and without bfc */
static struct look rocc_look(int role)
{
	struct look l = good_look();

	l.module_bfc = l.module_hopctl = l.family = false;
	device[0].speed = device[1].speed = 1250000000;
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "rocc", .rocc = true,
		.rocc_host = role == ROCC_ROLE_HOST, .version = ROCC_VERSION,
		.rocc_options[TCA_ROCC_LIMIT] = 8 << 20, .rocc_stats[TCA_ROCC_STATS_Q_REF] = 93750,
		.rocc_stats[TCA_ROCC_STATS_FAIR_RATE] = 1250000000,
	};
	return l;
}

static void test_doctor_rocc(void)
{
	struct look l = rocc_look(ROCC_ROLE_HOST);

	same(judged(&l, NULL), "", "a box with rocc alone");
	same(judged(&l, "eth7"), "", "and its device");
	qdisc[0].version++;
	same(judged(&l, NULL), "version_rocc(program 1, module 2)", "version_rocc");
	qdisc[0].version--;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_BAD_SEQUENCE] = 9;
	same(judged(&l, NULL), "rocc_none_obeyed(bad_sequence 9)", "all CNPs come late");
	qdisc[0].rocc_stats[TCA_ROCC_STATS_ACCEPTED] = 1;
	same(judged(&l, NULL), "", "some do");
	qdisc[0].rocc_stats[TCA_ROCC_STATS_BAD_TTL] = 3;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_BAD_FLOW] = 2;
	qdisc[1] = qdisc[0];
	qdisc[1].ifindex = 8;
	l.qdiscs.count = 2;
	same(judged(&l, NULL), "rocc_refused(bad_ttl 3, bad_flow 2)", "rocc_refused, once");
	qdisc[0].rocc_stats[TCA_ROCC_STATS_ACCEPTED] = 0;
	same(judged(&l, NULL), "rocc_refused(bad_ttl 3, bad_flow 2)", "one of two hosts obeys");
	qdisc[1].rocc_stats[TCA_ROCC_STATS_ACCEPTED] = 0;
	same(judged(&l, NULL), "rocc_none_obeyed(bad_ttl 3, bad_flow 2, bad_sequence 9) "
	     "rocc_refused(bad_ttl 3, bad_flow 2)", "rocc_none_obeyed");
	qdisc[0].rocc_stats[TCA_ROCC_STATS_NOT_NEEDED] = 1;
	same(judged(&l, NULL), "rocc_refused(bad_ttl 3, bad_flow 2)", "nothing was to be obeyed");
	l.qdiscs.count = 1;
	memset(qdisc[0].rocc_stats, 0, sizeof(qdisc[0].rocc_stats));
	qdisc[0].rocc_stats[TCA_ROCC_STATS_FULL] = 1;
	same(judged(&l, NULL), "eth7:rocc_full(1 times)", "rocc_full");
	same(judged(&l, "br0"), "br0:no_port", "but not of another device");
	qdisc[0].rocc_stats[TCA_ROCC_STATS_FULL] = 0;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_CNPS_FAILED] = 2;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_CNPS_VLAN] = 5;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_CNPS_HELD] = 3;
	qdisc[0].rocc_stats[TCA_ROCC_STATS_UNTRACKED] = 4;
	same(judged(&l, NULL), "eth7:rocc_no_way(2 CNPs) eth7:rocc_vlan(5 CNPs) "
	     "eth7:rocc_held(3 CNPs) eth7:rocc_untracked(4 packets)", "what a switch cannot do");
	memset(qdisc[0].rocc_stats, 0, sizeof(qdisc[0].rocc_stats));
	qdisc[0].rocc_host = true;
	device[0].rp_filter = 1;
	same(judged(&l, NULL), "", "rp_filter, and nothing thrown away");
	l.rp_dropped = 5;
	same(judged(&l, NULL), "eth7:rocc_rp_filter(rp_filter 1, 5 packets thrown away)",
	     "rocc_rp_filter");
	l.unnamed_way = 8;
	same(judged(&l, NULL), "eth7:rocc_rp_filter(rp_filter 1, 5 packets thrown away)",
	     "a way by another device does not do");
	device[0].rp_filter = 2;
	same(judged(&l, NULL), "", "but for rp_filter 2");
	l.unnamed_way = 0;
	same(judged(&l, NULL), "eth7:rocc_rp_filter(rp_filter 2, 5 packets thrown away)",
	     "which needs one, too");
	device[0].rp_filter = 1;
	l.unnamed_way = 7;
	same(judged(&l, NULL), "", "a way by this one");
	l.unnamed_way = 0;
	device[0].master = 8;
	same(judged(&l, NULL), "", "what a device above decides is not known");
	device[0].master = 0;
	qdisc[0].rocc_host = false;
	same(judged(&l, NULL), "", "a switch takes none");
}

static void test_doctor_rocc_options(void)
{
	struct look l = rocc_look(ROCC_ROLE_SWITCH);
	uint64_t *options = qdisc[0].rocc_options;

	same(judged(&l, NULL), "", "a switch as it should be");
	device[0].speed = 0;
	same(judged(&l, NULL), "eth7:speed_unknown", "speed_unknown");
	options[TCA_ROCC_RATE] = 125000000;
	same(judged(&l, NULL), "", "but not if rate says it");
	device[0].speed = 1250000000;
	same(judged(&l, NULL), "eth7:not_bottleneck(rate 1Gbit, the link has 10Gbit)",
	     "not_bottleneck");
	below_tbf(&l, 125000000);
	same(judged(&l, NULL), "", "below a tbf of the same rate");
	options[TCA_ROCC_RATE] = 0;
	same(judged(&l, NULL), "eth7:rate_not_shaper(rocc reckons with 10Gbit, tbf sends 1Gbit)",
	     "rate_not_shaper");

	l = rocc_look(ROCC_ROLE_SWITCH);
	options[TCA_ROCC_RATE] = 12500000000;
	same(judged(&l, NULL), "eth7:rocc_rate(rate 100Gbit, the link has 10Gbit)", "rocc_rate");
	below_tbf(&l, 12500000000);
	same(judged(&l, NULL), "", "a device that says less than its shaper sends");
	l = rocc_look(ROCC_ROLE_SWITCH);
	options[TCA_ROCC_RATE] = 0;
	options[TCA_ROCC_RATE_MIN] = 1250000000;
	same(judged(&l, NULL), "eth7:rocc_least_rate(rate-min 10Gbit, the link has 10Gbit)",
	     "rocc_least_rate of a switch");
	l = rocc_look(ROCC_ROLE_SWITCH);
	options[TCA_ROCC_LIMIT] = 93750;
	same(judged(&l, NULL), "eth7:rocc_limit(limit 93750b, q_ref 93750b)", "rocc_limit");
	options[TCA_ROCC_LIMIT] = 300000;
	same(judged(&l, NULL), "", "with room for more than the reference");
	options[TCA_ROCC_QMAX] = 400000;
	same(judged(&l, NULL), "eth7:rocc_limit(limit 300000b, qmax 400000b)", "but not for qmax");
	qdisc[1] = (struct qdisc) {
		.ifindex = 7, .handle = 0x20000, .parent = 0x10001, .kind = "bfc", .bfc = true,
		.version = BFC_VERSION,
	};
	l.qdiscs.count = 2;
	same(judged(&l, NULL), "", "the qdisc below has a limit of its own");
	qdisc[1].bfc_th = 93750;
	same(judged(&l, NULL), "eth7:rocc_bfc_th(th 93750b, q_ref 93750b)", "rocc_bfc_th");
	qdisc[1].bfc_th = 120000;
	same(judged(&l, NULL), "", "a threshold above the reference");
	options[TCA_ROCC_KEYS] = 2;
	same(judged(&l, NULL), "eth7:rocc_sign", "rocc_sign");
	options[TCA_ROCC_SIGN] = 2;
	same(judged(&l, NULL), "", "a switch that signs");

	l = rocc_look(ROCC_ROLE_HOST);
	options[TCA_ROCC_KEYS] = 1;
	options[TCA_ROCC_RATE] = 125000000;
	same(judged(&l, NULL), "", "a host signs nothing, and its queue may be anywhere");
	options[TCA_ROCC_FLOOR] = 250000000;
	same(judged(&l, NULL), "eth7:rocc_least_rate(floor 2Gbit, the link has 1Gbit)",
	     "rocc_least_rate of a host");
	options[TCA_ROCC_FLOOR] = 0;
	options[TCA_ROCC_HOLD] = 20000000;
	options[TCA_ROCC_RECOVERY] = 30000000;
	same(judged(&l, NULL), "eth7:rocc_recovery(recovery 30ms, hold 20ms)", "rocc_recovery");
	options[TCA_ROCC_RECOVERY] = 20000000;
	same(judged(&l, NULL), "", "recovery as long as hold");
}

static void test_doctor_rocc_figures(void)
{
	struct look l = rocc_look(ROCC_ROLE_SWITCH);
	uint64_t *stats = qdisc[0].rocc_stats;

	qdisc[0].queue.backlog = 93751;
	same(judged(&l, NULL), "", "a queue whose first interval is not over");
	stats[TCA_ROCC_STATS_TICKS] = 1;
	same(judged(&l, NULL), "eth7:rocc_silent(queue 93751b, q_ref 93750b)", "rocc_silent");
	stats[TCA_ROCC_STATS_CNPS_FAILED] = 1;
	same(judged(&l, NULL), "eth7:rocc_no_way(1 CNPs)", "why nobody was told is known");
	stats[TCA_ROCC_STATS_CNPS_FAILED] = 0;
	qdisc[0].queue.backlog = 93750;
	same(judged(&l, NULL), "", "a queue at its reference");
	stats[TCA_ROCC_STATS_CNPS] = 100;
	stats[TCA_ROCC_STATS_FAIR_RATE] = 3125000;
	qdisc[0].queue.backlog = 281251;
	same(judged(&l, NULL), "eth7:rocc_not_obeyed(fair_rate 25Mbit, queue 281251b)",
	     "rocc_not_obeyed");
	qdisc[0].queue.backlog = 281250;
	same(judged(&l, NULL), "", "a queue that may be below qmax");
	qdisc[0].queue.backlog = 281251;
	stats[TCA_ROCC_STATS_FAIR_RATE]++;
	same(judged(&l, NULL), "", "a rate that can still fall");
	device[0].speed = 12500000000;
	stats[TCA_ROCC_STATS_FAIR_RATE] = 12500000;
	same(judged(&l, NULL), "eth7:rocc_not_obeyed(fair_rate 100Mbit, queue 281251b)",
	     "the least rate of a fast link");
	qdisc[0].rocc_options[TCA_ROCC_RATE_MIN] = 1250000;
	same(judged(&l, NULL), "", "a lower one by rate-min");
	qdisc[0].rocc_options[TCA_ROCC_RATE_MIN] = 12500000;
	qdisc[0].rocc_options[TCA_ROCC_QMAX] = 281251;
	same(judged(&l, NULL), "", "a higher qmax");

	l = rocc_look(ROCC_ROLE_SWITCH);
	stats[TCA_ROCC_STATS_DROP_CONTROL] = 2;
	stats[TCA_ROCC_STATS_DROP_POLICE] = 3;
	same(judged(&l, NULL), "eth7:rocc_control(5 packets)", "rocc_control");
	l = rocc_look(ROCC_ROLE_HOST);
	stats[TCA_ROCC_STATS_DROP_LIMIT] = 4;
	stats[TCA_ROCC_STATS_EPOCH_BACK] = 1;
	same(judged(&l, NULL), "eth7:rocc_dropped(4 packets) eth7:rocc_epoch_back(1 CNPs)",
	     "rocc_dropped, rocc_epoch_back");
}

static void test_doctor_pfc(void)
{
	struct look l = good_look();

	l.module_bfc = false;
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "pfc",
		.version = PFC_VERSION,
	};
	same(judged(&l, NULL), "", "a box with pfc alone");
	same(judged(&l, "br0"), "br0:no_port", "and a device without");
	store[2] = HOP_STATE_KIND;
	same(judged(&l, NULL), "eth7:kind", "its device is a port");
	device[0].xdp = true;
	same(judged(&l, "eth7"), "eth7:kind eth7:xdp", "and judged as one");
	l = good_look();
	qdisc[1] = qdisc[0];
	snprintf(qdisc[1].kind, sizeof(qdisc[1].kind), "pfc");
	qdisc[1].bfc = false;
	qdisc[1].version = PFC_VERSION + 1;
	l.qdiscs.count = 2;
	same(judged(&l, NULL), "version_pfc(program 1, module 2)", "version_pfc");
}

/* A box with a floodgate, of which nothing is wrong, and without bfc */
static struct look floodgate_look(void)
{
	struct look l = good_look();

	l.module_bfc = false;
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "floodgate",
		.floodgate = true, .version = FLOODGATE_VERSION,
		.floodgate_options[TCA_FLOODGATE_SLOTS] = 1024,
		.floodgate_stats[TCA_FLOODGATE_STATS_WINDOWS] = 1,
	};
	store[15] = HOP_ROLE_SWITCH;
	port.port[HOP_A_PEER_ROLE] = (struct attr_value){ &store[15], 1 };
	return l;
}

static void test_doctor_floodgate_figures(void)
{
	struct look l = floodgate_look();
	uint64_t *stats = qdisc[0].floodgate_stats;

	store[1] = 0;
	same(judged(&l, NULL), "eth7:speed_unknown", "speed_unknown of floodgate");
	qdisc[0].floodgate_options[TCA_FLOODGATE_RATE] = 125000000;
	same(judged(&l, NULL), "", "but not if rate says it");

	l = floodgate_look();
	stats[TCA_FLOODGATE_STATS_WINDOWS] = 0;
	same(judged(&l, NULL), "eth7:floodgate_no_windows", "floodgate_no_windows");
	store[15] = HOP_ROLE_HOST;
	same(judged(&l, NULL), "", "a host has none");
	store[15] = HOP_ROLE_SWITCH;
	store[10] = HOP_ROLE_HOST;
	same(judged(&l, NULL), "", "nor has a host towards a switch");
	store[10] = HOP_ROLE_SWITCH;
	qdisc[0].floodgate_options[TCA_FLOODGATE_MODE] = FLOODGATE_MODE_PAUSE;
	same(judged(&l, NULL), "", "nor are there any with mode pause");
	qdisc[0].floodgate_options[TCA_FLOODGATE_MODE] = FLOODGATE_MODE_WINDOW;
	store[2] = HOP_STATE_NO_NEIGHBOUR;
	same(judged(&l, NULL), "eth7:no_neighbour", "nor without a neighbour");

	l = floodgate_look();
	stats[TCA_FLOODGATE_STATS_SLOTS_FULL] = 3;
	same(judged(&l, NULL), "eth7:floodgate_slots(3 packets, 1024 slots)", "floodgate_slots");
	l = floodgate_look();
	stats[TCA_FLOODGATE_STATS_VOQS_SHARED] = 4;
	qdisc[0].floodgate_options[TCA_FLOODGATE_VOQS] = 2;
	same(judged(&l, NULL), "eth7:floodgate_shared(4 times, 2 VOQs)", "floodgate_shared");
	qdisc[0].floodgate_options[TCA_FLOODGATE_VOQS] = 0;
	l = floodgate_look();
	stats[TCA_FLOODGATE_STATS_DROP_LIMIT] = 2;
	stats[TCA_FLOODGATE_STATS_DROP_POOL] = 5;
	same(judged(&l, NULL), "eth7:floodgate_dropped(7 packets)", "floodgate_dropped");
	l = floodgate_look();
	stats[TCA_FLOODGATE_STATS_VOQ_MAX] = 9001;
	same(judged(&l, NULL), "", "nobody is to be paused");
	stats[TCA_FLOODGATE_STATS_PAUSE_BYTES] = 9001;
	same(judged(&l, NULL), "", "VOQs as long as they may be");
	stats[TCA_FLOODGATE_STATS_PAUSE_BYTES] = 9000;
	same(judged(&l, NULL), "eth7:floodgate_unpaused(voq_max 9001b, pause_bytes 9000b)",
	     "floodgate_unpaused");
	store[10] = HOP_ROLE_HOST;
	same(judged(&l, NULL), "", "a host, which pauses nobody");
	store[10] = HOP_ROLE_SWITCH;
	stats[TCA_FLOODGATE_STATS_PAUSES] = 1;
	same(judged(&l, NULL), "", "somebody was");
}

static void test_doctor_floodgate(void)
{
	struct look l = floodgate_look();

	same(judged(&l, NULL), "", "a box with floodgate alone");
	store[2] = HOP_STATE_KIND;
	same(judged(&l, NULL), "eth7:kind", "its device is a port");
	store[2] = HOP_STATE_TAGGING;
	qdisc[0].version = FLOODGATE_VERSION + 1;
	same(judged(&l, NULL), "version_floodgate(program 1, module 2)", "version_floodgate");
}

/* A box with a flowsail, of which nothing is wrong, and without bfc */
static struct look flowsail_look(void)
{
	struct look l = good_look();

	l.module_bfc = false;
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "flowsail",
		.flowsail = true, .version = FLOWSAIL_VERSION,
		.flowsail_options[TCA_FLOWSAIL_SLOTS] = 1024,
		.flowsail_stats[TCA_FLOWSAIL_STATS_ASSIGN_FREE] = 900,
		.flowsail_stats[TCA_FLOWSAIL_STATS_ASSIGN_SHARED] = 200,
		.flowsail_stats[TCA_FLOWSAIL_STATS_MARKS] = 10,
		.flowsail_stats[TCA_FLOWSAIL_STATS_OVER_UNLABELLED] = 10,
	};
	return l;
}

static void test_doctor_flowsail(void)
{
	struct look l = flowsail_look();
	uint64_t *stats = qdisc[0].flowsail_stats;

	same(judged(&l, NULL), "", "a box with flowsail alone");
	store[2] = HOP_STATE_KIND;
	same(judged(&l, NULL), "eth7:kind", "its device is a port");
	store[2] = HOP_STATE_TAGGING;
	qdisc[0].version = FLOWSAIL_VERSION + 1;
	same(judged(&l, NULL), "version_flowsail(program 1, module 2)", "version_flowsail");

	l = flowsail_look();
	store[1] = 0;
	same(judged(&l, NULL), "eth7:speed_unknown", "speed_unknown of flowsail");
	qdisc[0].flowsail_options[TCA_FLOWSAIL_RATE] = 125000000;
	same(judged(&l, NULL), "", "but not if rate says it");

	l = flowsail_look();
	stats[TCA_FLOWSAIL_STATS_FLOWS_FULL] = 3;
	same(judged(&l, NULL), "eth7:flowsail_slots(3 packets, 1024 slots)", "flowsail_slots");
	l = flowsail_look();
	stats[TCA_FLOWSAIL_STATS_FLOWS_EARLY] = 10;
	same(judged(&l, NULL), "", "one in more than a hundred flows got a slot early");
	stats[TCA_FLOWSAIL_STATS_FLOWS_EARLY] = 11;
	same(judged(&l, NULL), "eth7:flowsail_early(11 of 1100 flows, 1024 slots)", "flowsail_early");
	l = flowsail_look();
	stats[TCA_FLOWSAIL_STATS_OVER_UNLABELLED] = 11;
	same(judged(&l, NULL), "eth7:flowsail_unlabelled(11 packets, 10 with a tag)",
	     "flowsail_unlabelled");
	store[10] = HOP_ROLE_HOST;
	same(judged(&l, NULL), "", "a host, whose own packets have none");
	l = flowsail_look();
	stats[TCA_FLOWSAIL_STATS_DROP_LIMIT] = 2;
	stats[TCA_FLOWSAIL_STATS_DROP_POOL] = 5;
	same(judged(&l, NULL), "eth7:flowsail_dropped(7 packets)", "flowsail_dropped");
}

static void test_doctor_ideal(void)
{
	struct look l = good_look();

	l.module_bfc = l.module_hopctl = l.family = false;
	qdisc[0] = (struct qdisc) {
		.ifindex = 7, .handle = 0x10000, .parent = 0xffffffff, .kind = "ideal",
		.version = IDEAL_VERSION,
	};
	same(judged(&l, NULL), "", "a box with ideal alone");
	same(judged(&l, "eth7"), "", "and its device");
	qdisc[0].version++;
	same(judged(&l, NULL), "version_ideal(program 1, module 2)", "version_ideal");
}

/* Roots. */

/* One port of @box with holds QUEUE:ROOT/HOPS, with + for others, with ! for a quiet one */
static void box(struct roots *r, const char *box, const char *dev, int id, const char *holds)
{
	unsigned int queue, root, hops, n;
	json_t *list = json_array();

	while (sscanf(holds, "%u:%u/%u%n", &queue, &root, &hops, &n) == 3) {
		holds += n;
		json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:b, s:b}", "queue", queue,
						      "root", root, "hops", hops,
						      "more", *holds == '+', "quiet", *holds == '!'));
		holds += *holds && *holds != ' ';
	}
	list = json_pack("[{s:s, s:{s:i}, s:o}]", "dev", dev, "port", "root_id", id, "roots", list);
	check(roots_add_json(r, box, list), dev);
	json_decref(list);
}

/* What is said of all holds of a port, and of circles */
static const char *said(const struct roots *r, size_t port)
{
	static char all[1024];
	char *text;

	all[0] = '\0';
	for (size_t i = 0; i < r->ports[port].n_holds; i++) {
		text = roots_text(r, &r->ports[port], &r->ports[port].holds[i]);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", all[0] && text ? "; " : "",
			 text ?: "");
		free(text);
	}
	return all;
}

static const char *circles(const struct roots *r)
{
	static char all[1024];
	char *text;

	all[0] = '\0';
	for (size_t i = 0; i < r->count; i++) {
		text = roots_circle(r, &r->ports[i]);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", all[0] && text ? "; " : "",
			 text ?: "");
		free(text);
	}
	return all;
}

static void test_roots_names(void)
{
	struct roots r = {};
	struct look look;
	json_t *wrong = json_object();

	check(!roots_add_json(&r, "x", wrong), "not a list of ports");
	json_decref(wrong);
	box(&r, NULL, "eth7", 7, "1:70/3 5:70/3 2:70/1 3:70/3+ 4:9/2 6:8/16 9:7/1");
	box(&r, "tor3", "eth7", 70, "");
	same(said(&r, 0), "by tor3:eth7, 3 hops away: 1,5; by tor3:eth7, 1 hop away: 2; "
	     "by tor3:eth7, 3 hops away, and others: 3; by 9 (unknown), 2 hops away: 4; "
	     "by 8 (unknown), 16 hops away: 6; by eth7, 1 hop away: 9", "each root once, with its sub-queues");
	box(&r, "tor4", "eth1", 9, "");
	box(&r, "tor5", "eth2", 9, "");
	box(&r, "tor6", "eth3", 9, "");
	same(said(&r, 0), "by tor3:eth7, 3 hops away: 1,5; by tor3:eth7, 1 hop away: 2; "
	     "by tor3:eth7, 3 hops away, and others: 3; "
	     "by 9 (ambiguous: tor4:eth1 or tor5:eth2 or tor6:eth3), 2 hops away: 4; "
	     "by 8 (unknown), 16 hops away: 6; by eth7, 1 hop away: 9", "an id of several ports");

	look = good_look();
	look.roots = r;
	same(judged(&look, NULL), "eth7:held(by tor3:eth7, 3 hops away: 1,5) "
	     "eth7:held(by tor3:eth7, 1 hop away: 2) "
	     "eth7:held(by tor3:eth7, 3 hops away, and others: 3) "
	     "eth7:root_ambiguous(by 9 (ambiguous: tor4:eth1 or tor5:eth2 or tor6:eth3), 2 hops away: 4) "
	     "eth7:root_unknown(by 8 (unknown), 16 hops away: 6) "
	     "eth7:held(by eth7, 1 hop away: 9)", "doctor says each by its kind");
	same(judged(&look, "eth8"), "", "but of one port only");
	roots_free(&r);
}

static void test_roots_circles(void)
{
	struct roots r = {};
	struct look look;

	box(&r, NULL, "a", 1, "1:2/1! 2:5/1!");
	box(&r, "x", "b", 2, "1:3/1!");
	box(&r, "y", "c", 3, "1:1/1");
	box(&r, "y", "d", 4, "1:3/1!");
	same(circles(&r), "", "a sub-queue has sent something");
	r.ports[2].holds[0].quiet = true;
	same(circles(&r), "a > x:b > y:c > a", "a circle is said once, in order");
	look = good_look();
	look.roots = r;
	same(judged(&look, "eth9"), "deadlock(a > x:b > y:c > a)", "doctor says it, whatever port is asked for");
	box(&r, "z", "e", 3, "");
	same(circles(&r), "", "an id of two ports leads nowhere");
	r.ports[4].id = 30;
	same(circles(&r), "a > x:b > y:c > a", "of one, there again");
	roots_free(&r);

	box(&r, NULL, "a", 1, "1:9/1! 1:1/3!");
	same(circles(&r), "a > a", "a root that comes back to its port");
	roots_free(&r);
	box(&r, NULL, "a", 1, "1:1/3");
	same(circles(&r), "", "but not if that sends");
	roots_free(&r);
}

int main(void)
{
	printf("KTAP version 1\n");
	test_texts();
	test_message();
	test_table();
	test_damage();
	test_doctor_box();
	test_doctor_port();
	test_doctor_qdiscs();
	test_doctor_device();
	test_doctor_rocc();
	test_doctor_rocc_options();
	test_doctor_rocc_figures();
	test_doctor_pfc();
	test_doctor_floodgate();
	test_doctor_floodgate_figures();
	test_doctor_flowsail();
	test_doctor_ideal();
	test_roots_names();
	test_roots_circles();
	printf("1..%u\n", done);
	return failed != 0;
}
