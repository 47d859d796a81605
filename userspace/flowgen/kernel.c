// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.c - the run, by generic netlink
 *
 * The run belongs to one socket, and ends with it. An event on it says that there is something to
 * look at; events that come between the answers to a request are remembered.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "flowgen.h"

#define ANSWER_MAX	65536
#define REQUEST_MAX	49152
#define FLOWS_AT_ONCE	1024
#define LEAD_NS		100000000	/* from FLOWGEN_CMD_RUN_START to the trace's time 0 */

typedef void (*message_fn)(const struct nlmsghdr *msg, void *ctx);

static struct mnl_socket *sock;
static uint16_t family = GENL_ID_CTRL;
static uint32_t seq;
static bool event;
static char reason[256];
static char request[REQUEST_MAX];
static char answer[ANSWER_MAX];

static struct nlmsghdr *request_new(uint8_t cmd, uint16_t flags)
{
	struct nlmsghdr *msg = mnl_nlmsg_put_header(request);
	struct genlmsghdr *genl;

	msg->nlmsg_type = family;
	msg->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	msg->nlmsg_seq = ++seq;
	genl = mnl_nlmsg_put_extra_header(msg, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = FLOWGEN_GENL_VERSION;
	return msg;
}

/* The kernel's own words */
static void reason_take(const struct nlmsghdr *msg, size_t skip)
{
	const struct nlattr *attr;

	reason[0] = '\0';
	if (!(msg->nlmsg_flags & NLM_F_ACK_TLVS) || mnl_nlmsg_get_payload_len(msg) < skip)
		return;
	mnl_attr_for_each(attr, msg, skip)
		if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
			snprintf(reason, sizeof(reason), "%s", mnl_attr_get_str(attr));
}

/* Return: whether this was the last answer, with *err set. */
static bool answer_ends(const struct nlmsghdr *msg, int *err)
{
	const struct nlmsgerr *e = mnl_nlmsg_get_payload(msg);

	if (msg->nlmsg_type == NLMSG_DONE) {
		*err = *(const int *)mnl_nlmsg_get_payload(msg);
		return true;
	}
	if (msg->nlmsg_type != NLMSG_ERROR)
		return false;
	*err = e->error;
	reason_take(msg, sizeof(*e) + (msg->nlmsg_flags & NLM_F_CAPPED ? 0 :
				       e->msg.nlmsg_len - sizeof(e->msg)));
	return true;
}

static ssize_t receive(void)
{
	ssize_t got = mnl_socket_recvfrom(sock, answer, sizeof(answer));

	/* what was lost are events */
	if (got < 0 && errno == ENOBUFS) {
		event = true;
		return 0;
	}
	if (got < 0)
		die("netlink: %s", strerror(errno));
	return got;
}

static int answers(message_fn fn, void *ctx)
{
	const struct nlmsghdr *msg;
	int left, err = 0;

	for (;;) {
		left = receive();
		for (msg = (void *)answer; mnl_nlmsg_ok(msg, left);
		     msg = mnl_nlmsg_next(msg, &left)) {
			if (msg->nlmsg_seq != seq)
				event = true;
			else if (answer_ends(msg, &err))
				return err;
			else if (fn)
				fn(msg, ctx);
		}
	}
}

static int request_send(struct nlmsghdr *msg, message_fn fn, void *ctx)
{
	if (mnl_socket_sendto(sock, msg, msg->nlmsg_len) < 0)
		die("netlink: %s", strerror(errno));
	return answers(fn, ctx);
}

static const char *why(int err)
{
	return reason[0] ? reason : strerror(-err);
}

static void family_take(const struct nlmsghdr *msg, void *ctx)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, msg, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)ctx = mnl_attr_get_u16(attr);
}

static void kernel_open(void)
{
	struct nlmsghdr *msg;
	uint16_t id = 0;
	int err, one = 1;

	sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!sock || mnl_socket_bind(sock, 0, MNL_SOCKET_AUTOPID) < 0)
		die("no netlink socket: %s", strerror(errno));
	mnl_socket_setsockopt(sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(sock, NETLINK_CAP_ACK, &one, sizeof(one));
	msg = request_new(CTRL_CMD_GETFAMILY, 0);
	mnl_attr_put_strz(msg, CTRL_ATTR_FAMILY_NAME, FLOWGEN_GENL_NAME);
	err = request_send(msg, family_take, &id);
	if (err == -ENOENT || (!err && !id))
		die("the kernel has no netlink family \"%s\": modprobe flowgen, "
		    "in the first network namespace", FLOWGEN_GENL_NAME);
	if (err)
		die("netlink family \"%s\": %s", FLOWGEN_GENL_NAME, why(err));
	family = id;
}

/* Size of a numeric option */
static unsigned int attr_size(unsigned int attr)
{
	switch (attr) {
	case FLOWGEN_A_TRANSPORT:
	case FLOWGEN_A_ACK_CLASS:
		return 1;
	case FLOWGEN_A_PORT:
		return 2;
	case FLOWGEN_A_PAYLOAD:
	case FLOWGEN_A_ACK:
	case FLOWGEN_A_LOCAL:
	case FLOWGEN_A_HPCC_ETA:
	case FLOWGEN_A_HPCC_STAGES:
		return 4;
	default:
		return 8;
	}
}

static void put_number(struct nlmsghdr *msg, unsigned int attr, uint64_t value)
{
	switch (attr_size(attr)) {
	case 1:
		mnl_attr_put_u8(msg, attr, value);
		break;
	case 2:
		mnl_attr_put_u16(msg, attr, value);
		break;
	case 4:
		mnl_attr_put_u32(msg, attr, value);
		break;
	default:
		mnl_attr_put_u64(msg, attr, value);
	}
}

static void setup_run(const struct options *opt, const struct input *in)
{
	struct nlmsghdr *msg = request_new(FLOWGEN_CMD_RUN_NEW, 0);
	unsigned int attr;
	int err;

	mnl_attr_put_u32(msg, FLOWGEN_A_FLOWS, in->n_flows);
	mnl_attr_put_u32(msg, FLOWGEN_A_ENDS, in->n_ends);
	for (attr = 1; attr <= FLOWGEN_A_MAX; attr++)
		if (opt->given & 1ULL << attr)
			put_number(msg, attr, opt->number[attr]);
	if (opt->cc)
		mnl_attr_put_strz(msg, FLOWGEN_A_CC, opt->cc);
	err = request_send(msg, NULL, NULL);
	if (err)
		die("%s", why(err));
}

static void setup_ends(const struct options *opt, const struct input *in)
{
	const struct end *end;
	struct nlmsghdr *msg;
	int err;

	for (end = in->ends; end < in->ends + in->n_ends; end++) {
		if (!end->family)
			continue;
		msg = request_new(FLOWGEN_CMD_END_ADD, 0);
		mnl_attr_put_u32(msg, FLOWGEN_A_END, end->number);
		mnl_attr_put_u32(msg, FLOWGEN_A_NETNS, end->netns);
		if (end->family == AF_INET)
			mnl_attr_put(msg, FLOWGEN_A_ADDRESS4, 4, end->address);
		else
			mnl_attr_put(msg, FLOWGEN_A_ADDRESS6, 16, end->address);
		if (end->rate)
			mnl_attr_put_u64(msg, FLOWGEN_A_RATE, end->rate);
		err = request_send(msg, NULL, NULL);
		if (err)
			die_at(opt->ends, end->line, "%s", why(err));
		close(end->netns);
	}
}

static void setup_ports(const struct options *opt, const struct input *in)
{
	const struct port *port;
	struct nlmsghdr *msg;
	int err;

	for (port = in->ports; port < in->ports + in->n_ports; port++) {
		msg = request_new(FLOWGEN_CMD_WATCH_ADD, 0);
		mnl_attr_put_u32(msg, FLOWGEN_A_NETNS, port->netns);
		mnl_attr_put_strz(msg, FLOWGEN_A_DEVICE, port->device);
		err = request_send(msg, NULL, NULL);
		if (err)
			die_at(opt->watch, port->line, "%s", why(err));
		close(port->netns);
	}
}

static void setup_flows(const struct options *opt, const struct input *in)
{
	struct flowgen_flow chunk[FLOWS_AT_ONCE];
	struct nlmsghdr *msg;
	uint32_t at, n, i;
	int err;

	for (at = 0; at < in->n_flows; at += n) {
		n = in->n_flows - at < FLOWS_AT_ONCE ? in->n_flows - at : FLOWS_AT_ONCE;
		for (i = 0; i < n; i++)
			chunk[i] = in->flows[at + i].spec;
		msg = request_new(FLOWGEN_CMD_FLOW_ADD, 0);
		mnl_attr_put(msg, FLOWGEN_A_FLOW_LIST, n * sizeof(*chunk), chunk);
		err = request_send(msg, NULL, NULL);
		if (err)
			die("%s: %s, among flows %u to %u", opt->trace, why(err), at, at + n - 1);
	}
}

void kernel_setup(const struct options *opt, const struct input *in)
{
	kernel_open();
	setup_run(opt, in);
	setup_ends(opt, in);
	setup_ports(opt, in);
	setup_flows(opt, in);
}

/* Return: CLOCK_MONOTONIC, ns, at time 0 of the trace; later than that by what the request took. */
uint64_t kernel_start(void)
{
	struct timespec now;
	int err;

	err = request_send(request_new(FLOWGEN_CMD_RUN_START, 0), NULL, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (err)
		die("%s", why(err));
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + LEAD_NS;
}

static void status_take(const struct nlmsghdr *msg, void *ctx)
{
	const struct nlattr *attr, *counter;
	struct status *status = ctx;

	mnl_attr_for_each(attr, msg, GENL_HDRLEN) {
		switch (mnl_attr_get_type(attr)) {
		case FLOWGEN_A_STATE:
			status->state = mnl_attr_get_u32(attr);
			break;
		case FLOWGEN_A_LEFT:
			status->left = mnl_attr_get_u32(attr);
			break;
		case FLOWGEN_A_SAMPLES:
			status->samples = mnl_attr_get_u32(attr);
			break;
		case FLOWGEN_A_TIME:
			status->time_ns = mnl_attr_get_u64(attr);
			break;
		case FLOWGEN_A_COUNTERS:
			mnl_attr_for_each_nested(counter, attr)
				if (mnl_attr_get_type(counter) <= FLOWGEN_C_MAX &&
				    mnl_attr_get_payload_len(counter) == 8)
					status->count[mnl_attr_get_type(counter)] =
						mnl_attr_get_u64(counter);
			break;
		}
	}
}

void kernel_status(struct status *status)
{
	int err;

	event = false;
	memset(status, 0, sizeof(*status));
	err = request_send(request_new(FLOWGEN_CMD_RUN_GET, 0), status_take, status);
	if (err)
		die("%s", why(err));
}

void kernel_wait(int timeout_ms)
{
	struct pollfd fd = { .fd = mnl_socket_get_fd(sock), .events = POLLIN };

	if (event)
		return;
	if (poll(&fd, 1, timeout_ms) > 0)
		receive();
}

/**
 * struct list - what a dump's messages go to
 * @samples: a function
 * @results: another, one of both
 * @ctx: for it
 * @first: flow, of the message
 */
struct list {
	samples_fn samples;
	results_fn results;
	void *ctx;
	uint32_t first;
};

static void list_take(const struct nlmsghdr *msg, void *ctx)
{
	const struct nlattr *attr;
	struct list *list = ctx;
	const void *data;
	uint32_t len;

	mnl_attr_for_each(attr, msg, GENL_HDRLEN) {
		data = mnl_attr_get_payload(attr);
		len = mnl_attr_get_payload_len(attr);
		switch (mnl_attr_get_type(attr)) {
		case FLOWGEN_A_FIRST:
			list->first = mnl_attr_get_u32(attr);
			break;
		case FLOWGEN_A_RESULT_LIST:
			list->results(list->ctx, list->first, data,
				      len / sizeof(struct flowgen_result));
			break;
		case FLOWGEN_A_SAMPLE_LIST:
			list->samples(list->ctx, data, len / sizeof(struct flowgen_sample));
			break;
		}
	}
}

static void dump(uint8_t cmd, struct list *list)
{
	int err = request_send(request_new(cmd, NLM_F_DUMP), list_take, list);

	if (err)
		die("%s", why(err));
}

void kernel_samples(samples_fn fn, void *ctx)
{
	struct list list = { .samples = fn, .ctx = ctx };

	dump(FLOWGEN_CMD_SAMPLE_GET, &list);
}

void kernel_results(results_fn fn, void *ctx)
{
	struct list list = { .results = fn, .ctx = ctx };

	dump(FLOWGEN_CMD_RESULT_GET, &list);
}
