// SPDX-License-Identifier: GPL-2.0-only
/*
 * netlink.c - the generic netlink family (uapi/flowgen.h)
 *
 * A request is checked as a whole before it changes anything. Flows, results and samples go in
 * arrays of structs: there may be millions of them.
 */
#include <linux/netdevice.h>
#include <linux/nospec.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include "../sched/options.h"
#include "flowgen.h"

static struct genl_family fg_family;

/**
 * struct fg_request - what RUN_NEW asks for
 * @config: options
 * @window_bytes: the window as it was given
 * @rate: line rate, bit/s, or 0
 * @add: bit/s, or 0
 * @hyper: bit/s, or 0
 * @n_flows: of the trace
 * @n_ends: endpoints have numbers below this
 */
struct fg_request {
	struct fg_config config;
	u64 window_bytes;
	u64 rate;
	u64 add;
	u64 hyper;
	u32 n_flows;
	u32 n_ends;
};

#define FG_OPTION(_attr, _field, _min, _max, _rule) {			\
	.attr = FLOWGEN_A_##_attr,					\
	.offset = offsetof(struct fg_request, _field),			\
	.size = sizeof_field(struct fg_request, _field),		\
	.min = (_min),							\
	.max = (_max),							\
	.rule = (_rule),						\
}

#define FG_TIME_RULE	" ns, that is 36 years"
#define FG_RATE_RULE	" must be from 1 Mbit/s to 1 Tbit/s"

static const struct hop_option fg_options[] = {
	FG_OPTION(FLOWS, n_flows, 1, FLOWGEN_FLOWS_MAX, "flows must be from 1 to 16777216"),
	FG_OPTION(ENDS, n_ends, 1, FLOWGEN_ENDS_MAX, "ends must be from 1 to 65536"),
	FG_OPTION(TRANSPORT, config.transport, 0, __FLOWGEN_TRANSPORT_MAX - 1,
		  "transport must be gbn or tcp"),
	FG_OPTION(PORT, config.port, 1, GBN_PORT_MIN - 1, "port must be from 1 to 49151"),
	FG_OPTION(SEED, config.seed, 0, U64_MAX, "seed takes any 64-bit number"),
	FG_OPTION(LIMIT, config.limit_ns, 0, FLOWGEN_TIME_MAX,
		  "limit must be at most 2^60" FG_TIME_RULE),
	FG_OPTION(PAYLOAD, config.payload, 1, FLOWGEN_PAYLOAD_MAX,
		  "payload must be from 1 to 16384 bytes"),
	FG_OPTION(WINDOW, window_bytes, 0, U64_MAX, "window takes any 64-bit number"),
	FG_OPTION(ACK, config.ack_every, 1, GBN_PACKETS_MAX,
		  "ack must be from 1 to 2147483647 packets"),
	FG_OPTION(ACK_CLASS, config.ack_class, 0, 7, "ack_class must be from 0 to 7"),
	FG_OPTION(RTO, config.rto_ns, 1000, FLOWGEN_TIME_MAX,
		  "rto must be from 1 us to 2^60" FG_TIME_RULE),
	FG_OPTION(LOCAL, config.local, 1, U16_MAX, "local must be from 1 to 65535 packets"),
	FG_OPTION(INTERVAL, config.interval_ns, FLOWGEN_INTERVAL_MIN, FLOWGEN_TIME_MAX,
		  "interval must be from 10 ns to 2^60" FG_TIME_RULE),
	FG_OPTION(RATE, rate, FLOWGEN_RATE_MIN, FLOWGEN_RATE_MAX, "rate" FG_RATE_RULE),
	FG_OPTION(DCQCN_CNP, config.law_config.cnp_ns, 0, FLOWGEN_TIME_MAX,
		  "dcqcn_cnp must be at most 2^60" FG_TIME_RULE),
	FG_OPTION(DCQCN_ALPHA, config.law_config.dcqcn.alpha_ns, 1000, FLOWGEN_TIME_MAX,
		  "dcqcn_alpha must be from 1 us to 2^60" FG_TIME_RULE),
	FG_OPTION(DCQCN_TIMER, config.law_config.dcqcn.timer_ns, 1000, FLOWGEN_TIME_MAX >> 12,
		  "dcqcn_timer must be from 1 us to 2^48 ns, that is 3 days"),
	FG_OPTION(DCQCN_BYTES, config.law_config.dcqcn.bytes, FLOWGEN_DCQCN_BYTES_MIN,
		  FLOWGEN_BYTES_MAX, "dcqcn_bytes must be from 65536 to 2^48"),
	FG_OPTION(DCQCN_ADD, add, 8, FLOWGEN_RATE_MAX, "dcqcn_add must be from 8 bit/s to 1 Tbit/s"),
	FG_OPTION(DCQCN_HYPER, hyper, 8, FLOWGEN_RATE_MAX,
		  "dcqcn_hyper must be from 8 bit/s to 1 Tbit/s"),
	FG_OPTION(HPCC_RTT, config.law_config.hpcc.rtt_ns, FLOWGEN_HPCC_RTT_MIN,
		  FLOWGEN_HPCC_RTT_MAX, "hpcc_rtt must be from 1 us to 1 s"),
	FG_OPTION(HPCC_ETA, config.law_config.hpcc.eta, 1, FLOWGEN_HPCC_ETA_MAX,
		  "hpcc_eta must be from 1 to 10000, that is 0.01 to 100 percent"),
	FG_OPTION(HPCC_STAGES, config.law_config.hpcc.stages, 0, FLOWGEN_HPCC_STAGES_MAX,
		  "hpcc_stages must be at most 1000"),
	FG_OPTION(HPCC_ADD, config.law_config.hpcc.add, 1, FLOWGEN_BYTES_MAX,
		  "hpcc_add must be from 1 to 2^48 bytes"),
};

/* Congestion control of gbn */
static const struct fg_cc *const fg_laws[] = { &fg_cc_dcqcn, &fg_cc_hpcc };

/**
 * struct fg_law_option - an option that only congestion control of gbn has
 * @attr: attribute
 * @law: that it goes with, NULL: any
 * @rule: what extack says if the run has another one
 */
struct fg_law_option {
	u16 attr;
	const struct fg_cc *law;
	const char *rule;
};

#define FG_LAW_OPTION(_attr, _law, _name) {				\
	.attr = FLOWGEN_A_##_attr,					\
	.law = &fg_cc_##_law,						\
	.rule = _name " goes with cc " #_law,				\
}

static const struct fg_law_option fg_law_options[] = {
	{ .attr = FLOWGEN_A_RATE },
	FG_LAW_OPTION(DCQCN_CNP, dcqcn, "dcqcn_cnp"),
	FG_LAW_OPTION(DCQCN_ALPHA, dcqcn, "dcqcn_alpha"),
	FG_LAW_OPTION(DCQCN_TIMER, dcqcn, "dcqcn_timer"),
	FG_LAW_OPTION(DCQCN_BYTES, dcqcn, "dcqcn_bytes"),
	FG_LAW_OPTION(DCQCN_ADD, dcqcn, "dcqcn_add"),
	FG_LAW_OPTION(DCQCN_HYPER, dcqcn, "dcqcn_hyper"),
	FG_LAW_OPTION(HPCC_RTT, hpcc, "hpcc_rtt"),
	FG_LAW_OPTION(HPCC_ETA, hpcc, "hpcc_eta"),
	FG_LAW_OPTION(HPCC_STAGES, hpcc, "hpcc_stages"),
	FG_LAW_OPTION(HPCC_ADD, hpcc, "hpcc_add"),
};

/* Ranges are in the table above: the core would refuse a value without naming it. */
static const struct nla_policy fg_run_policy[] = {
	[FLOWGEN_A_FLOWS]	= { .type = NLA_U32 },
	[FLOWGEN_A_ENDS]	= { .type = NLA_U32 },
	[FLOWGEN_A_TRANSPORT]	= { .type = NLA_U8 },
	[FLOWGEN_A_PORT]	= { .type = NLA_U16 },
	[FLOWGEN_A_SEED]	= { .type = NLA_U64 },
	[FLOWGEN_A_LIMIT]	= { .type = NLA_U64 },
	[FLOWGEN_A_PAYLOAD]	= { .type = NLA_U32 },
	[FLOWGEN_A_WINDOW]	= { .type = NLA_U64 },
	[FLOWGEN_A_ACK]		= { .type = NLA_U32 },
	[FLOWGEN_A_ACK_CLASS]	= { .type = NLA_U8 },
	[FLOWGEN_A_RTO]		= { .type = NLA_U64 },
	[FLOWGEN_A_LOCAL]	= { .type = NLA_U32 },
	[FLOWGEN_A_CC]		= { .type = NLA_NUL_STRING, .len = FLOWGEN_CC_MAX },
	[FLOWGEN_A_INTERVAL]	= { .type = NLA_U64 },
	[FLOWGEN_A_RATE]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_CNP]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_ALPHA]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_TIMER]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_BYTES]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_ADD]	= { .type = NLA_U64 },
	[FLOWGEN_A_DCQCN_HYPER]	= { .type = NLA_U64 },
	[FLOWGEN_A_HPCC_RTT]	= { .type = NLA_U64 },
	[FLOWGEN_A_HPCC_ETA]	= { .type = NLA_U32 },
	[FLOWGEN_A_HPCC_STAGES]	= { .type = NLA_U32 },
	[FLOWGEN_A_HPCC_ADD]	= { .type = NLA_U64 },
};

static const struct nla_policy fg_end_policy[] = {
	[FLOWGEN_A_END]		= { .type = NLA_U32 },
	[FLOWGEN_A_NETNS]	= { .type = NLA_U32 },
	[FLOWGEN_A_ADDRESS4]	= { .type = NLA_U32 },
	[FLOWGEN_A_ADDRESS6]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[FLOWGEN_A_RATE]	= { .type = NLA_U64 },
};

static const struct nla_policy fg_flow_policy[] = {
	[FLOWGEN_A_FLOW_LIST]	= { .type = NLA_BINARY },
};

static const struct nla_policy fg_watch_policy[] = {
	[FLOWGEN_A_NETNS]	= { .type = NLA_U32 },
	[FLOWGEN_A_DEVICE]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
};

static int fg_refuse(struct genl_info *info, int attr, const char *why, int err)
{
	info->extack->_msg = why;
	if (attr)
		info->extack->bad_attr = info->attrs[attr];
	return err;
}

static bool fg_lacks(struct genl_info *info, const u16 *attrs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (GENL_REQ_ATTR_CHECK(info, attrs[i]))
			return true;
	return false;
}

/* The socket's run, for commands that prepare it. */
static struct fg_run *fg_run_of(struct genl_info *info)
{
	struct fg_run *run = fg_run_find(info->snd_portid);

	if (!run)
		NL_SET_ERR_MSG(info->extack, "this socket has no run: RUN_NEW comes first");
	else if (READ_ONCE(run->state) != FLOWGEN_STATE_SETUP)
		NL_SET_ERR_MSG(info->extack, "the run has been started");
	else
		return run;
	return NULL;
}

static struct net *fg_net_of(struct genl_info *info)
{
	struct net *net = get_net_ns_by_fd(nla_get_u32(info->attrs[FLOWGEN_A_NETNS]));

	if (IS_ERR(net))
		fg_refuse(info, FLOWGEN_A_NETNS, "not a file descriptor of a network namespace", 0);
	return net;
}

static const struct fg_cc *fg_law_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fg_laws); i++)
		if (!strcmp(name, fg_laws[i]->name))
			return fg_laws[i];
	return NULL;
}

/* That no option is of another law than the run's, @law, or NULL if it has none */
static int fg_check_law_options(const struct fg_cc *law, struct genl_info *info)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fg_law_options); i++) {
		if (!info->attrs[fg_law_options[i].attr])
			continue;
		if (!law)
			return fg_refuse(info, fg_law_options[i].attr,
					 "only congestion control of gbn has that", -EINVAL);
		if (fg_law_options[i].law && fg_law_options[i].law != law)
			return fg_refuse(info, fg_law_options[i].attr, fg_law_options[i].rule,
					 -EINVAL);
	}
	return 0;
}

/* Congestion control of gbn, and its options */
static int fg_parse_law(struct fg_request *r, struct genl_info *info)
{
	int err;

	if (*r->config.cc && r->config.transport == FLOWGEN_TRANSPORT_GBN) {
		r->config.law = fg_law_find(r->config.cc);
		if (!r->config.law)
			return fg_refuse(info, FLOWGEN_A_CC, "cc of gbn must be dcqcn or hpcc",
					 -ENOENT);
	}
	err = fg_check_law_options(r->config.law, info);
	if (err)
		return err;
	if (!r->config.law)
		return 0;
	if (!r->rate)
		return fg_refuse(info, FLOWGEN_A_CC, "cc of gbn needs the line rate, RATE", -EINVAL);
	r->config.line = div_u64(r->rate, 8);
	r->config.law_config.dcqcn.add = div_u64(r->add, 8);
	r->config.law_config.dcqcn.hyper = div_u64(r->hyper, 8);
	return 0;
}

static int fg_parse_run(struct fg_request *r, struct genl_info *info)
{
	static const u16 needed[] = { FLOWGEN_A_FLOWS, FLOWGEN_A_ENDS };
	int err;

	if (fg_lacks(info, needed, ARRAY_SIZE(needed)))
		return -EINVAL;
	err = hop_options_parse(fg_options, ARRAY_SIZE(fg_options), info->attrs, r, true,
				info->extack);
	if (err)
		return err;
	if (info->attrs[FLOWGEN_A_CC])
		nla_strscpy(r->config.cc, info->attrs[FLOWGEN_A_CC], sizeof(r->config.cc));
	if (*r->config.cc && r->config.transport == FLOWGEN_TRANSPORT_TCP &&
	    fg_tcp_check(r->config.cc))
		return fg_refuse(info, FLOWGEN_A_CC, "the kernel has no such congestion control",
				 -ENOENT);
	err = fg_parse_law(r, info);
	if (err)
		return err;
	if (r->window_bytes &&
	    r->window_bytes < (u64)r->config.payload * r->config.ack_every)
		return fg_refuse(info, FLOWGEN_A_WINDOW,
				 "window must hold the packets of one acknowledgement", -EINVAL);
	r->config.window = min_t(u64, div_u64(r->window_bytes, r->config.payload),
				 GBN_PACKETS_MAX);
	return 0;
}

/* Send RUN_EVENT to the run's socket. */
static void fg_run_tell(struct work_struct *work)
{
	struct fg_run *run = container_of(work, struct fg_run, tell);
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return;
	head = genlmsg_put(skb, 0, 0, &fg_family, 0, FLOWGEN_CMD_RUN_EVENT);
	if (!head || nla_put_u32(skb, FLOWGEN_A_STATE, READ_ONCE(run->state))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, head);
	genlmsg_unicast(&init_net, skb, run->portid);
}

static int fg_run_new_doit(struct sk_buff *request, struct genl_info *info)
{
	struct fg_request r = { .config = {
		.port = FLOWGEN_PORT_DEFAULT,
		.payload = FLOWGEN_PAYLOAD_DEFAULT,
		.ack_every = 1,
		.ack_class = FG_CLASS_FLOW,
		.rto_ns = FLOWGEN_RTO_DEFAULT,
		.local = FLOWGEN_LOCAL_DEFAULT,
		.law_config = {
			.cnp_ns = FLOWGEN_DCQCN_CNP_DEFAULT,
			.dcqcn = {
				.alpha_ns = FLOWGEN_DCQCN_ALPHA_DEFAULT,
				.timer_ns = FLOWGEN_DCQCN_TIMER_DEFAULT,
				.bytes = FLOWGEN_DCQCN_BYTES_DEFAULT,
			},
			.hpcc = {
				.rtt_ns = FLOWGEN_HPCC_RTT_DEFAULT,
				.eta = FLOWGEN_HPCC_ETA_DEFAULT,
				.stages = FLOWGEN_HPCC_STAGES_DEFAULT,
			},
		},
	} };
	int err;

	err = fg_parse_run(&r, info);
	if (err)
		return err;
	mutex_lock(&fg_mutex);
	if (fg_run_find(info->snd_portid))
		err = fg_refuse(info, 0, "this socket has a run", -EBUSY);
	else if (!fg_run_new(info->snd_portid, &r.config, r.n_flows, r.n_ends, fg_run_tell))
		err = -ENOMEM;
	mutex_unlock(&fg_mutex);
	return err;
}

/* IPv4 addresses are in the last 4 bytes. Return: the family, or 0. */
static u8 fg_parse_address(struct genl_info *info, struct in6_addr *address)
{
	const struct nlattr *v4 = info->attrs[FLOWGEN_A_ADDRESS4];
	const struct nlattr *v6 = info->attrs[FLOWGEN_A_ADDRESS6];

	memset(address, 0, sizeof(*address));
	if (!v4 == !v6)
		return 0;
	if (v6)
		nla_memcpy(address, v6, sizeof(*address));
	else
		address->s6_addr32[3] = nla_get_in_addr(v4);
	return v6 ? AF_INET6 : AF_INET;
}

/* Of an endpoint: the run's, or its own, bytes/s */
static int fg_parse_line(const struct fg_run *run, struct genl_info *info, u64 *line)
{
	const struct nlattr *attr = info->attrs[FLOWGEN_A_RATE];
	u64 rate;

	*line = run->config.line;
	if (!attr)
		return 0;
	rate = nla_get_u64(attr);
	if (!run->config.law)
		return fg_refuse(info, FLOWGEN_A_RATE, "only congestion control of gbn has that",
				 -EINVAL);
	if (rate < FLOWGEN_RATE_MIN || rate > FLOWGEN_RATE_MAX)
		return fg_refuse(info, FLOWGEN_A_RATE, "rate" FG_RATE_RULE, -ERANGE);
	*line = div_u64(rate, 8);
	return 0;
}

static int fg_end_add(struct fg_run *run, struct genl_info *info, struct net *net)
{
	u32 number = nla_get_u32(info->attrs[FLOWGEN_A_END]);
	struct in6_addr address;
	struct fg_end *end;
	const char *why;
	u8 family;
	u64 line;
	int err;

	if (number >= run->n_ends)
		return fg_refuse(info, FLOWGEN_A_END, "the run has fewer endpoints", -EINVAL);
	number = array_index_nospec(number, run->n_ends);
	if (run->ends[number])
		return fg_refuse(info, FLOWGEN_A_END, "there is an endpoint of this number",
				 -EEXIST);
	family = fg_parse_address(info, &address);
	if (!family)
		return fg_refuse(info, 0, "an endpoint has either ADDRESS4 or ADDRESS6", -EINVAL);
	err = fg_parse_line(run, info, &line);
	if (err)
		return err;
	end = fg_end_new(run, number, net, family, &address, line, &why);
	if (IS_ERR(end))
		return fg_refuse(info, family == AF_INET ? FLOWGEN_A_ADDRESS4 :
				 FLOWGEN_A_ADDRESS6, why, PTR_ERR(end));
	run->ends[number] = end;
	return 0;
}

static int fg_watch_add_to(struct fg_run *run, struct genl_info *info, struct net *net)
{
	const char *why;
	int err;

	if (!run->config.interval_ns)
		return fg_refuse(info, 0, "to watch needs INTERVAL in RUN_NEW", -EINVAL);
	err = fg_watch_add(run, net, nla_data(info->attrs[FLOWGEN_A_DEVICE]), &why);
	return err ? fg_refuse(info, FLOWGEN_A_DEVICE, why, err) : 0;
}

/* A command that adds something of a namespace */
static int fg_add(struct genl_info *info, int (*add)(struct fg_run *, struct genl_info *,
						     struct net *))
{
	struct fg_run *run;
	struct net *net;
	int err = -EINVAL;

	mutex_lock(&fg_mutex);
	run = fg_run_of(info);
	if (!run)
		goto out;
	net = fg_net_of(info);
	err = PTR_ERR_OR_ZERO(net);
	if (err)
		goto out;
	err = add(run, info, net);
	put_net(net);
out:
	mutex_unlock(&fg_mutex);
	return err;
}

static int fg_end_add_doit(struct sk_buff *request, struct genl_info *info)
{
	static const u16 needed[] = { FLOWGEN_A_END, FLOWGEN_A_NETNS };

	return fg_lacks(info, needed, ARRAY_SIZE(needed)) ? -EINVAL : fg_add(info, fg_end_add);
}

static int fg_watch_add_doit(struct sk_buff *request, struct genl_info *info)
{
	static const u16 needed[] = { FLOWGEN_A_NETNS, FLOWGEN_A_DEVICE };

	return fg_lacks(info, needed, ARRAY_SIZE(needed)) ? -EINVAL :
							    fg_add(info, fg_watch_add_to);
}

/* Return: what is wrong with a flow, or NULL. */
static const char *fg_flow_wrong(const struct fg_run *run, const struct flowgen_flow *f,
				 u64 after_ns)
{
	if (f->start_ns < after_ns)
		return "flows must be in the order of start_ns";
	if (f->start_ns > FLOWGEN_TIME_MAX)
		return "start_ns must be at most 2^60" FG_TIME_RULE;
	if (!f->bytes || f->bytes > FLOWGEN_BYTES_MAX)
		return "bytes of a flow must be from 1 to 2^48";
	if (!gbn_packets(f->bytes, run->config.payload))
		return "a flow must have at most 2147483647 packets";
	if (f->src >= run->n_ends || !run->ends[f->src])
		return "src of a flow must be an endpoint";
	if (f->dst >= run->n_ends || !run->ends[f->dst])
		return "dst of a flow must be an endpoint";
	if (f->src == f->dst)
		return "src and dst of a flow must differ";
	if (run->ends[f->src]->family != run->ends[f->dst]->family)
		return "src and dst of a flow must have addresses of one family";
	if (f->class > 7)
		return "class of a flow must be from 0 to 7";
	if (memchr_inv(f->reserved, 0, sizeof(f->reserved)))
		return "reserved bytes of a flow must be 0";
	return NULL;
}

static void fg_flow_set(const struct fg_run *run, struct fg_flow *to,
			const struct flowgen_flow *f)
{
	*to = (struct fg_flow){
		.start_ns = f->start_ns,
		.bytes = f->bytes,
		.done_ns = FLOWGEN_NEVER,
		.acked_ns = FLOWGEN_NEVER,
		.packets = gbn_packets(f->bytes, run->config.payload),
		.src = f->src,
		.dst = f->dst,
		.class = f->class,
	};
}

static int fg_flows_add(struct fg_run *run, struct genl_info *info)
{
	const struct nlattr *list = info->attrs[FLOWGEN_A_FLOW_LIST];
	u32 i, n = nla_len(list) / sizeof(struct flowgen_flow);
	u64 after_ns = run->n_added ? run->flows[run->n_added - 1].start_ns : 0;
	struct flowgen_flow f;
	const char *wrong;

	if (!n || nla_len(list) % sizeof(f))
		return fg_refuse(info, FLOWGEN_A_FLOW_LIST, "not an array of struct flowgen_flow",
				 -EINVAL);
	if (n > run->n_flows - run->n_added)
		return fg_refuse(info, FLOWGEN_A_FLOW_LIST, "the run has fewer flows", -E2BIG);
	for (i = 0; i < n; i++) {
		memcpy(&f, nla_data(list) + i * sizeof(f), sizeof(f));
		wrong = fg_flow_wrong(run, &f, after_ns);
		if (wrong)
			return fg_refuse(info, FLOWGEN_A_FLOW_LIST, wrong, -EINVAL);
		fg_flow_set(run, &run->flows[run->n_added + i], &f);
		after_ns = f.start_ns;
	}
	run->n_added += n;
	return 0;
}

static int fg_flow_add_doit(struct sk_buff *request, struct genl_info *info)
{
	struct fg_run *run;
	int err = -EINVAL;

	if (GENL_REQ_ATTR_CHECK(info, FLOWGEN_A_FLOW_LIST))
		return -EINVAL;
	mutex_lock(&fg_mutex);
	run = fg_run_of(info);
	if (run)
		err = fg_flows_add(run, info);
	mutex_unlock(&fg_mutex);
	return err;
}

static int fg_run_start_doit(struct sk_buff *request, struct genl_info *info)
{
	struct fg_run *run;
	int err = -EINVAL;

	mutex_lock(&fg_mutex);
	run = fg_run_of(info);
	if (!run)
		goto out;
	if (run->n_added < run->n_flows) {
		err = fg_refuse(info, 0, "flows are missing", -EINVAL);
		goto out;
	}
	fg_run_start(run);
	err = 0;
out:
	mutex_unlock(&fg_mutex);
	return err;
}

static int fg_put_counters(struct sk_buff *skb, struct fg_run *run)
{
	u64 count[FG_COUNTERS] = {};
	struct nlattr *nest;
	u32 i, c;

	for (i = 0; i < run->n_ends; i++) {
		if (!run->ends[i])
			continue;
		spin_lock_bh(&run->ends[i]->lock);
		for (c = 0; c < FG_COUNTERS; c++)
			count[c] += run->ends[i]->count[c];
		spin_unlock_bh(&run->ends[i]->lock);
	}
	count[FLOWGEN_C_GIVEN_UP] = atomic_read(&run->given_up);
	count[FLOWGEN_C_SAMPLES_LOST] = READ_ONCE(run->watch.lost);
	nest = nla_nest_start(skb, FLOWGEN_A_COUNTERS);
	if (!nest)
		return -EMSGSIZE;
	for (c = FLOWGEN_C_UNSPEC + 1; c < FG_COUNTERS; c++)
		if (c != FLOWGEN_C_PAD && nla_put_u64_64bit(skb, c, count[c], FLOWGEN_C_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fg_put_run(struct sk_buff *skb, struct fg_run *run)
{
	int state = smp_load_acquire(&run->state);
	u64 ns = 0;

	if (state == FLOWGEN_STATE_RUNNING)
		ns = max(fg_now(), run->start_ns) - run->start_ns;
	else if (state != FLOWGEN_STATE_SETUP)
		ns = READ_ONCE(run->over_ns) - run->start_ns;
	if (nla_put_u32(skb, FLOWGEN_A_STATE, state) ||
	    nla_put_u32(skb, FLOWGEN_A_LEFT, atomic_read(&run->left)) ||
	    nla_put_u32(skb, FLOWGEN_A_SAMPLES, READ_ONCE(run->watch.held)) ||
	    nla_put_u64_64bit(skb, FLOWGEN_A_TIME, ns, FLOWGEN_A_PAD))
		return -EMSGSIZE;
	return fg_put_counters(skb, run);
}

static int fg_run_get_doit(struct sk_buff *request, struct genl_info *info)
{
	struct fg_run *run;
	struct sk_buff *skb;
	void *head;
	int err;

	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	mutex_lock(&fg_mutex);
	run = fg_run_find(info->snd_portid);
	err = -ENOENT;
	if (!run) {
		NL_SET_ERR_MSG(info->extack, "this socket has no run: RUN_NEW comes first");
		goto out;
	}
	head = genlmsg_put_reply(skb, info, &fg_family, 0, FLOWGEN_CMD_RUN_GET);
	err = head ? fg_put_run(skb, run) : -EMSGSIZE;
	if (!err)
		genlmsg_end(skb, head);
out:
	mutex_unlock(&fg_mutex);
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	return err;
}

static void *fg_dump_head(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &fg_family,
			   NLM_F_MULTI, cmd);
}

/* How many elements of @size an attribute of the message has room for */
static u32 fg_room(const struct sk_buff *skb, u32 size)
{
	u32 room = min(skb_tailroom(skb), U16_MAX);

	return room > NLA_HDRLEN ? (room - NLA_HDRLEN) / size : 0;
}

static void fg_result(const struct fg_flow *flow, struct flowgen_result *r)
{
	*r = (struct flowgen_result){
		.done_ns = READ_ONCE(flow->done_ns),
		.acked_ns = READ_ONCE(flow->acked_ns),
		.packets = READ_ONCE(flow->sent),
		.retransmits = READ_ONCE(flow->again),
		.timeouts = READ_ONCE(flow->timeouts),
	};
}

static int fg_put_results(struct sk_buff *skb, const struct fg_run *run, u32 first)
{
	struct flowgen_result r;
	struct nlattr *list;
	u32 i, n;

	if (nla_put_u32(skb, FLOWGEN_A_FIRST, first))
		return -EMSGSIZE;
	n = min(fg_room(skb, sizeof(r)), run->n_added - first);
	list = n ? nla_reserve(skb, FLOWGEN_A_RESULT_LIST, n * sizeof(r)) : NULL;
	if (!list)
		return -EMSGSIZE;
	for (i = 0; i < n; i++) {
		fg_result(&run->flows[first + i], &r);
		memcpy(nla_data(list) + i * sizeof(r), &r, sizeof(r));
	}
	return n;
}

static int fg_result_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fg_run *run;
	u32 first = cb->args[0];
	void *head;
	int n = 0;

	mutex_lock(&fg_mutex);
	run = fg_run_find(NETLINK_CB(cb->skb).portid);
	if (run && first < run->n_added) {
		head = fg_dump_head(skb, cb, FLOWGEN_CMD_RESULT_GET);
		n = head ? fg_put_results(skb, run, first) : -EMSGSIZE;
		if (n > 0) {
			genlmsg_end(skb, head);
			cb->args[0] += n;
		}
	}
	mutex_unlock(&fg_mutex);
	return n < 0 ? n : skb->len;
}

static int fg_put_samples(struct sk_buff *skb, struct fg_watch *watch)
{
	const struct flowgen_sample *samples;
	u32 n = fg_watch_peek(watch, &samples);

	if (!n)
		return 0;
	n = min(n, fg_room(skb, sizeof(*samples)));
	if (!n || nla_put(skb, FLOWGEN_A_SAMPLE_LIST, n * sizeof(*samples), samples))
		return -EMSGSIZE;
	fg_watch_forget(watch, n);
	return n;
}

static int fg_sample_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct fg_run *run;
	void *head;
	int n = 0;

	mutex_lock(&fg_mutex);
	run = fg_run_find(NETLINK_CB(cb->skb).portid);
	if (run && READ_ONCE(run->watch.held)) {
		head = fg_dump_head(skb, cb, FLOWGEN_CMD_SAMPLE_GET);
		n = head ? fg_put_samples(skb, &run->watch) : -EMSGSIZE;
		if (n > 0)
			genlmsg_end(skb, head);
	}
	mutex_unlock(&fg_mutex);
	return n < 0 ? n : skb->len;
}

#define FG_DOIT(_cmd, _doit, _policy) {				\
	.cmd = FLOWGEN_CMD_##_cmd,				\
	.doit = (_doit),					\
	.flags = GENL_ADMIN_PERM,				\
	.policy = (_policy),					\
	.maxattr = ARRAY_SIZE(_policy) - 1,			\
}

static const struct genl_ops fg_ops[] = {
	FG_DOIT(RUN_NEW, fg_run_new_doit, fg_run_policy),
	FG_DOIT(END_ADD, fg_end_add_doit, fg_end_policy),
	FG_DOIT(FLOW_ADD, fg_flow_add_doit, fg_flow_policy),
	FG_DOIT(WATCH_ADD, fg_watch_add_doit, fg_watch_policy),
	{
		.cmd	= FLOWGEN_CMD_RUN_START,
		.doit	= fg_run_start_doit,
		.flags	= GENL_ADMIN_PERM,
	}, {
		.cmd	= FLOWGEN_CMD_RUN_GET,
		.doit	= fg_run_get_doit,
		.flags	= GENL_ADMIN_PERM,
	}, {
		.cmd	= FLOWGEN_CMD_RESULT_GET,
		.dumpit	= fg_result_dumpit,
		.flags	= GENL_ADMIN_PERM,
	}, {
		.cmd	= FLOWGEN_CMD_SAMPLE_GET,
		.dumpit	= fg_sample_dumpit,
		.flags	= GENL_ADMIN_PERM,
	},
};

static struct genl_family fg_family __ro_after_init = {
	.name		= FLOWGEN_GENL_NAME,
	.version	= FLOWGEN_GENL_VERSION,
	.maxattr	= FLOWGEN_A_MAX,
	.module		= THIS_MODULE,
	.ops		= fg_ops,
	.n_ops		= ARRAY_SIZE(fg_ops),
	.resv_start_op	= FLOWGEN_CMD_MAX + 1,
};

int __init fg_netlink_init(void)
{
	return genl_register_family(&fg_family);
}

void fg_netlink_exit(void)
{
	genl_unregister_family(&fg_family);
}
