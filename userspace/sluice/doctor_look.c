// SPDX-License-Identifier: GPL-2.0-only
/*
 * doctor_look.c - asks the kernel for all that doctor's rules reckon with
 *
 * What the kernel or our rights do not let us see is taken for not there; only the links and the
 * qdiscs have to be seen.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>

#include "doctor.h"
#include "sluice.h"

#define LOOK_TCX_EGRESS		47	/* BPF_TCX_EGRESS of kernels from 6.6 on */
#define FEATURES_MAX		256
#define NETSTAT_LINE		8192
#define UNNAMED_SOURCE		0xc0000008	/* 192.0.0.8: option source of rocc */
#define IFLA_LINK_MAX		IFLA_PROTO_DOWN_REASON

static bool module_loaded(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

static bool net_admin(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	return !syscall(SYS_capget, &head, data) && data[0].effective >> CAP_NET_ADMIN & 1;
}

/* A number in a file; 0 if there is none. */
static unsigned int number_in(const char *path)
{
	unsigned int number = 0;
	FILE *file = fopen(path, "re");

	if (file) {
		if (fscanf(file, "%u", &number) != 1)
			number = 0;
		fclose(file);
	}
	return number;
}

/* Links. */

static uint32_t forward_mask(const struct attr_value *linkinfo)
{
	struct attr_value info[IFLA_INFO_MAX + 1], data[IFLA_BRPORT_MAX + IFLA_BR_MAX + 1];
	const char *kind, *slave;

	nl_nest(info, IFLA_INFO_MAX, linkinfo);
	kind = nl_string(&info[IFLA_INFO_KIND]);
	slave = nl_string(&info[IFLA_INFO_SLAVE_KIND]);
	if (kind && !strcmp(kind, "bridge")) {
		nl_nest(data, IFLA_BR_MAX, &info[IFLA_INFO_DATA]);
		return attr_number(&data[IFLA_BR_GROUP_FWD_MASK]);
	}
	if (slave && !strcmp(slave, "bridge")) {
		nl_nest(data, IFLA_BRPORT_MAX, &info[IFLA_INFO_SLAVE_DATA]);
		return attr_number(&data[IFLA_BRPORT_GROUP_FWD_MASK]);
	}
	return 0;
}

static int take_link(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[IFLA_LINK_MAX + 1], xdp[IFLA_XDP_MAX + 1];
	const struct ifinfomsg *info;
	struct look *look = ctx;
	struct device *d;

	if (!msg) {
		look->n_devices = 0;
		return MNL_CB_OK;
	}
	info = mnl_nlmsg_get_payload(msg);
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(*info))
		return MNL_CB_OK;
	nl_values(tb, IFLA_LINK_MAX, mnl_nlmsg_get_payload_offset(msg, sizeof(*info)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(*info)));
	nl_nest(xdp, IFLA_XDP_MAX, &tb[IFLA_XDP]);
	look->devices = reallocarray(look->devices, look->n_devices + 1, sizeof(*look->devices));
	if (!look->devices)
		die(EXIT_TROUBLE, "no memory");
	d = &look->devices[look->n_devices++];
	*d = (struct device) {
		.ifindex = info->ifi_index,
		.mtu = attr_number(&tb[IFLA_MTU]),
		.master = attr_number(&tb[IFLA_MASTER]),
		.group_fwd_mask = forward_mask(&tb[IFLA_LINKINFO]),
		.xdp = attr_number(&xdp[IFLA_XDP_ATTACHED]),
		.switchdev = tb[IFLA_PHYS_SWITCH_ID].data,
	};
	snprintf(d->name, sizeof(d->name), "%s", nl_string(&tb[IFLA_IFNAME]) ?: "?");
	return MNL_CB_OK;
}

static void look_links(struct look *look, struct nl *nl)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	int err;

	msg->nlmsg_type = RTM_GETLINK;
	msg->nlmsg_flags = NLM_F_DUMP;
	mnl_nlmsg_put_extra_header(msg, sizeof(struct ifinfomsg));
	err = nl_request(nl, msg, take_link, look);
	if (err)
		die(EXIT_TROUBLE, "devices: %s", strerror(-err));
}

/* What ethtool tells. */

static int ethtool(int sock, const char *dev, void *request)
{
	struct ifreq ifr = { .ifr_data = request };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	return ioctl(sock, SIOCETHTOOL, &ifr);
}

/* As rocc asks; bfc's ports tell themselves. */
static void look_speed(int sock, struct device *d)
{
	struct ethtool_cmd link = { .cmd = ETHTOOL_GSET };

	if (!ethtool(sock, d->name, &link) && ethtool_cmd_speed(&link) != (uint32_t)SPEED_UNKNOWN)
		d->speed = ethtool_cmd_speed(&link) * 125000ULL;
}

static unsigned int feature_count(int sock, const char *dev)
{
	struct {
		struct ethtool_sset_info info;
		uint32_t count;
	} request = { .info = { .cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES } };

	if (ethtool(sock, dev, &request) || !request.info.sset_mask || request.count > FEATURES_MAX)
		return 0;
	return request.count;
}

static void look_features(int sock, struct device *d)
{
	static struct {
		struct ethtool_gstrings head;
		char names[FEATURES_MAX][ETH_GSTRING_LEN];
	} strings;
	static struct {
		struct ethtool_gfeatures head;
		struct ethtool_get_features_block blocks[FEATURES_MAX / 32];
	} features;
	const struct {
		const char *name;
		bool *on;
	} known[] = {
		{ "rx-lro", &d->lro }, { "rx-gro-hw", &d->gro_hw },
		{ "rx-vlan-stag-filter", &d->stag_filter },
	};
	unsigned int count = feature_count(sock, d->name);

	strings.head = (struct ethtool_gstrings) {
		.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count,
	};
	features.head = (struct ethtool_gfeatures) {
		.cmd = ETHTOOL_GFEATURES, .size = (count + 31) / 32,
	};
	if (!count || ethtool(sock, d->name, &strings) || ethtool(sock, d->name, &features))
		return;
	for (unsigned int i = 0; i < count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(known); k++)
			if (!strncmp(strings.names[i], known[k].name, ETH_GSTRING_LEN))
				*known[k].on = features.blocks[i / 32].active >> i % 32 & 1;
}

/* Queues that are in use, of all that the device could have. */
static void look_tx_queues(struct device *d)
{
	char path[64];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/net/%s/queues", d->name);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		d->tx_queues += !strncmp(entry->d_name, "tx-", 3);
	if (dir)
		closedir(dir);
}

/* Ways back. */

/* The larger one of what is said for all devices and for this one counts. */
static void look_rp_filter(struct device *d)
{
	unsigned int all = number_in("/proc/sys/net/ipv4/conf/all/rp_filter");
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/rp_filter", d->name);
	d->rp_filter = number_in(path);
	if (d->rp_filter < all)
		d->rp_filter = all;
}

static int take_route(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[RTA_MAX + 1];
	unsigned int *ifindex = ctx;
	const struct rtmsg *route;

	if (!msg || mnl_nlmsg_get_payload_len(msg) < sizeof(*route))
		return MNL_CB_OK;
	route = mnl_nlmsg_get_payload(msg);
	nl_values(tb, RTA_MAX, mnl_nlmsg_get_payload_offset(msg, sizeof(*route)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(*route)));
	if (route->rtm_type == RTN_UNICAST)
		*ifindex = attr_number(&tb[RTA_OIF]);
	return MNL_CB_OK;
}

static void look_unnamed_way(struct look *look, struct nl *nl)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct rtmsg *route;

	msg->nlmsg_type = RTM_GETROUTE;
	route = mnl_nlmsg_put_extra_header(msg, sizeof(*route));
	route->rtm_family = AF_INET;
	route->rtm_dst_len = 32;
	mnl_attr_put_u32(msg, RTA_DST, htonl(UNNAMED_SOURCE));
	nl_request(nl, msg, take_route, &look->unnamed_way);	/* an error: there is no way */
}

/* A line of names, a line of numbers, and so on */
static void look_rp_dropped(struct look *look)
{
	char names[NETSTAT_LINE], numbers[NETSTAT_LINE], *name, *number, *a, *b;
	FILE *file = fopen("/proc/self/net/netstat", "re");

	while (file && fgets(names, sizeof(names), file) &&
	       fgets(numbers, sizeof(numbers), file)) {
		name = strtok_r(names, " \n", &a);
		number = strtok_r(numbers, " \n", &b);
		while (name && number && strcmp(name, "IPReversePathFilter")) {
			name = strtok_r(NULL, " \n", &a);
			number = strtok_r(NULL, " \n", &b);
		}
		if (name && number)
			look->rp_dropped = strtoull(number, NULL, 10);
	}
	if (file)
		fclose(file);
}

/* Programs and filters. */

static int count_filter(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[TCA_MAX + 1];
	struct device *d = ctx;

	if (!msg) {
		d->filters = 0;
		return MNL_CB_OK;
	}
	if (mnl_nlmsg_get_payload_len(msg) < sizeof(struct tcmsg))
		return MNL_CB_OK;
	nl_values(tb, TCA_MAX, mnl_nlmsg_get_payload_offset(msg, sizeof(struct tcmsg)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(struct tcmsg)));
	/* a filter is preceded by a message about its chain, without options */
	d->filters += !!tb[TCA_OPTIONS].data;
	return MNL_CB_OK;
}

static void look_filters(struct look *look, struct nl *nl, struct device *d)
{
	char buf[NL_MESSAGE_MAX];
	bool clsact = false;
	struct nlmsghdr *msg;
	struct tcmsg *tc;

	for (size_t i = 0; i < look->qdiscs.count; i++)
		clsact |= look->qdiscs.list[i].ifindex == d->ifindex &&
			  !strcmp(look->qdiscs.list[i].kind, "clsact");
	if (!clsact)
		return;
	msg = mnl_nlmsg_put_header(buf);
	msg->nlmsg_type = RTM_GETTFILTER;
	msg->nlmsg_flags = NLM_F_DUMP;
	tc = mnl_nlmsg_put_extra_header(msg, sizeof(*tc));
	tc->tcm_ifindex = d->ifindex;
	tc->tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_EGRESS);
	nl_request(nl, msg, count_filter, d);
}

static void look_tcx(struct device *d)
{
	uint32_t ids[64] = {};
	union bpf_attr attr = {};

	attr.query.target_fd = d->ifindex;	/* target_ifindex of newer headers */
	attr.query.attach_type = LOOK_TCX_EGRESS;
	attr.query.prog_ids = (uintptr_t)ids;
	attr.query.prog_cnt = ARRAY_SIZE(ids);
	if (!syscall(SYS_bpf, BPF_PROG_QUERY, &attr, sizeof(attr)) || errno == ENOSPC)
		d->tcx = attr.query.prog_cnt;
}

static int take_flowtable(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[NFTA_FLOWTABLE_MAX + 1], hook[NFTA_FLOWTABLE_HOOK_MAX + 1];
	const struct attr_value *devs = &hook[NFTA_FLOWTABLE_HOOK_DEVS];
	struct look *look = ctx;
	const struct nlattr *attr;
	uint32_t flags = 0;

	if (!msg || mnl_nlmsg_get_payload_len(msg) < sizeof(struct nfgenmsg))
		return MNL_CB_OK;
	nl_values(tb, NFTA_FLOWTABLE_MAX,
		  mnl_nlmsg_get_payload_offset(msg, sizeof(struct nfgenmsg)),
		  mnl_nlmsg_get_payload_len(msg) - MNL_ALIGN(sizeof(struct nfgenmsg)));
	if (tb[NFTA_FLOWTABLE_FLAGS].len == sizeof(flags))
		flags = __builtin_bswap32(attr_number(&tb[NFTA_FLOWTABLE_FLAGS]));
	nl_nest(hook, NFTA_FLOWTABLE_HOOK_MAX, &tb[NFTA_FLOWTABLE_HOOK]);
	if (!(flags & NFT_FLOWTABLE_HW_OFFLOAD) || !devs->data)
		return MNL_CB_OK;
	mnl_attr_for_each_payload(devs->data, devs->len)
		for (size_t i = 0; i < look->n_devices; i++)
			look->devices[i].flowtable |=
				!strncmp(look->devices[i].name, mnl_attr_get_payload(attr),
					 mnl_attr_get_payload_len(attr));
	return MNL_CB_OK;
}

static void look_flowtables(struct look *look)
{
	char buf[NL_MESSAGE_MAX];
	struct nlmsghdr *msg = mnl_nlmsg_put_header(buf);
	struct nfgenmsg *nfg;
	struct nl nl = {};

	/* not die(): a kernel may have no netfilter netlink */
	nl.sock = mnl_socket_open(NETLINK_NETFILTER);
	if (!nl.sock || mnl_socket_bind(nl.sock, 0, MNL_SOCKET_AUTOPID))
		return;
	msg->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETFLOWTABLE;
	msg->nlmsg_flags = NLM_F_DUMP;
	nfg = mnl_nlmsg_put_extra_header(msg, sizeof(*nfg));
	nfg->nfgen_family = AF_UNSPEC;
	nfg->version = NFNETLINK_V0;
	nl_request(&nl, msg, take_flowtable, look);
	nl_close(&nl);
}

/* What the family tells. */

static int take_info(const struct nlmsghdr *msg, void *ctx)
{
	struct attr_value tb[HOP_N_MAX + 1];
	struct look *look = ctx;

	if (!msg || mnl_nlmsg_get_payload_len(msg) < GENL_HDRLEN)
		return MNL_CB_OK;
	nl_values(tb, HOP_N_MAX, mnl_nlmsg_get_payload_offset(msg, GENL_HDRLEN),
		  mnl_nlmsg_get_payload_len(msg) - GENL_HDRLEN);
	look->version = attr_number(&tb[HOP_N_VERSION]);
	look->handles = attr_number(&tb[HOP_N_HANDLES]);
	look->handles_used = attr_number(&tb[HOP_N_HANDLES_USED]);
	return MNL_CB_OK;
}

static void look_hopctl(struct look *look)
{
	char buf[NL_MESSAGE_MAX];
	struct nl nl;
	int err;

	look->family = !nl_open_hopctl(&nl);
	if (look->family) {
		nl_request(&nl, nl_hopctl(&nl, buf, HOP_CMD_INFO_GET, 0), take_info, look);
		err = ports_get(&nl, &look->ports, 0);
		if (err)
			die(EXIT_TROUBLE, "ports: %s", nl.reason[0] ? nl.reason : strerror(-err));
	}
	nl_close(&nl);
}

void doctor_look(struct look *look)
{
	struct nl nl;
	int err, sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memset(look, 0, sizeof(*look));
	look->module_hopctl = module_loaded("hopctl");
	look->module_bfc = module_loaded("sch_bfc");
	look->admin = net_admin();
	nl_open(&nl, NETLINK_ROUTE);
	look_links(look, &nl);
	err = qdiscs_get(&nl, &look->qdiscs, 0);
	if (err)
		die(EXIT_TROUBLE, "qdiscs: %s", strerror(-err));
	for (size_t i = 0; i < look->n_devices; i++) {
		look_tx_queues(&look->devices[i]);
		look_speed(sock, &look->devices[i]);
		look_features(sock, &look->devices[i]);
		look_filters(look, &nl, &look->devices[i]);
		look_tcx(&look->devices[i]);
		look_rp_filter(&look->devices[i]);
	}
	look_unnamed_way(look, &nl);
	look_rp_dropped(look);
	look_flowtables(look);
	look_hopctl(look);
	nl_close(&nl);
	if (sock >= 0)
		close(sock);
}

void doctor_look_free(struct look *look)
{
	ports_free(&look->ports);
	roots_free(&look->roots);
	qdiscs_free(&look->qdiscs);
	free(look->devices);
	memset(look, 0, sizeof(*look));
}
