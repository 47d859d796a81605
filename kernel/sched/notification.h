/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notification.h - is this one of RoCC's congestion notification packets?
 *
 * They go ahead of data, so it takes more than an ICMP type to be one: a host has to be able to
 * read it. This says of a message what the codec (rocc/cnp.c) says, and that it goes to the source
 * of the flow that it quotes. Checksum and tag are the host's business.
 *
 * Pure functions.
 */
#ifndef _SLUICE_SCHED_NOTIFICATION_H
#define _SLUICE_SCHED_NOTIFICATION_H

#ifdef __KERNEL__
#include <linux/string.h>
#include <linux/types.h>
#else
#include <string.h>
#include "kernel_shim.h"
#endif

#include "../hopctl/byteorder.h"
#include "../uapi/rocc.h"

#define HOP_NOTIFICATION_MOST	256	/* bytes: hosts take no longer one */

/* The start of a packet from @source, with what follows its IP header */
static inline bool hop_notification_quotes(const u8 *p, u32 len, const u8 *source, bool v6)
{
	u32 header = (p[0] & 0xf) * 4;

	if (v6)
		return p[0] >> 4 == 6 && len >= 40 + ROCC_CNP_QUOTED_L4 &&
		       !memcmp(p + 8, source, 16);
	if (p[0] >> 4 != 4 || header < 20 || len < header + ROCC_CNP_QUOTED_L4)
		return false;
	return !(p[6] & 0x1f) && !p[7] && !memcmp(p + 12, source, 4);
}

/**
 * hop_is_notification - is it one?
 * @message: the ICMP message
 * @len: of it
 * @to: address that the packet goes to
 * @v6: it is of IPv6
 */
static inline bool hop_is_notification(const u8 *message, u32 len, const u8 *to, bool v6)
{
	struct rocc_cnp_queue state;
	struct rocc_cnp head;
	u32 at = sizeof(head);

	if (len <= at || len > HOP_NOTIFICATION_MOST)
		return false;
	memcpy(&head, message, sizeof(head));
	if (head.type != (v6 ? ROCC_CNP_ICMPV6 : ROCC_CNP_ICMP) ||
	    head.version != ROCC_CNP_VERSION || head.code > ROCC_CNP_QUEUE ||
	    head.key > ROCC_CNP_KEYS || !head.rate || !head.rate_min || !head.epoch ||
	    !head.interval)
		return false;
	if (head.code == ROCC_CNP_QUEUE) {
		if (len <= at + sizeof(state))
			return false;
		memcpy(&state, message + at, sizeof(state));
		if (be32_to_cpu(head.rate_min) > be32_to_cpu(state.rate_max) ||
		    state.tuning >= __ROCC_TUNING_MAX)
			return false;
		at += sizeof(state);
	}
	return hop_notification_quotes(message + at, len - at, to, v6);
}

#endif
