/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * identify.h - is a flow to be held? FlowSail, section IV-B
 *
 * The length of a sub-queue says whether there is congestion, and a flow's part of it whether the
 * flow is the cause:
 *
 *	up to Q_l	nobody is
 *	up to Q_h	a flow that has more than its share, S_fair = Q >> ceil(log2(flows))
 *	above Q_h	each flow that comes
 *
 * By the formula a flow alone never has more than its share. Section IV-B's text looks at shares
 * only "when a queue length exceeds a given threshold and serves more than one flow"; Algorithm 1
 * looks always. So both can be had.
 *
 * Pure functions.
 */
#ifndef _SLUICE_FLOWSAIL_IDENTIFY_H
#define _SLUICE_FLOWSAIL_IDENTIFY_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/types.h>
#else
#include "kernel_shim.h"
#endif

/**
 * enum flowsail_verdict - what a packet does to its flow
 * @FLOWSAIL_PASSES: nothing, the sub-queue is short
 * @FLOWSAIL_SPARES: nothing, although the sub-queue is long: the flow has no more than its share
 * @FLOWSAIL_HOLDS: it holds it
 * @FLOWSAIL_HOLDS_HIGH: it holds it, as any packet would
 */
enum flowsail_verdict {
	FLOWSAIL_PASSES,
	FLOWSAIL_SPARES,
	FLOWSAIL_HOLDS,
	FLOWSAIL_HOLDS_HIGH,
};

/**
 * flowsail_share - S_fair: what each flow of a sub-queue may have of it (equation 1)
 * @bytes: in the sub-queue
 * @flows: that it serves
 *
 * The number of flows is rounded up to a power of two, so that too much is held rather than too
 * little.
 */
static inline u32 flowsail_share(u32 bytes, u32 flows)
{
	return flows > 1 ? bytes >> fls(flows - 1) : bytes;
}

/**
 * flowsail_identify - does a packet hold its flow?
 * @bytes: in its sub-queue, itself included
 * @own: of these, those of its flow
 * @flows: with packets there
 * @ql: Q_l
 * @qh: Q_h, at least that
 * @lone: a flow alone is held above Q_l
 */
static __always_inline enum flowsail_verdict
flowsail_identify(u32 bytes, u32 own, u32 flows, u32 ql, u32 qh, bool lone)
{
	if (bytes <= ql)
		return FLOWSAIL_PASSES;
	if (bytes > qh)
		return FLOWSAIL_HOLDS_HIGH;
	if (lone && flows <= 1)
		return FLOWSAIL_HOLDS;
	return own > flowsail_share(bytes, flows) ? FLOWSAIL_HOLDS : FLOWSAIL_SPARES;
}

#endif
