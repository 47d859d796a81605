/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cc.h - congestion control of go-back-N: how fast a flow may send
 *
 * One file for each, cc_NAME.c, with its law apart in NAME.h. gbn_send.c paces a flow at the rate
 * that its law says, as if it were sent on a line of that rate; the window and `local` hold
 * besides.
 */
#ifndef _SLUICE_FLOWGEN_CC_H
#define _SLUICE_FLOWGEN_CC_H

#include <linux/types.h>

#include "dcqcn.h"

/* What a frame takes of a line beside its IP packet: MAC header, FCS, preamble, gap */
#define FG_CC_LINE_BYTES	38

/**
 * struct fg_cc_config - parameters
 * @cnp_ns: least time between two CNPs for a flow
 * @dcqcn: of dcqcn. In a run's, what goes by the line rate is 0 unless it was given
 */
struct fg_cc_config {
	u64 cnp_ns;
	struct dcqcn_config dcqcn;
};

/* A flow's state */
union fg_cc_state {
	struct dcqcn dcqcn;
};

/**
 * struct fg_cc - a law; all under the lock of the sender's endpoint
 * @name: FLOWGEN_A_CC
 * @set: parameters of an endpoint whose line has that many bytes/s
 * @start: a flow starts
 * @sent: so many bytes of the line have been taken
 * @cnp: a CNP has come
 * @rate: bytes/s as of now, not 0; @until is set to when that changes by itself, U64_MAX if it
 *	does not
 */
struct fg_cc {
	const char *name;
	void (*set)(struct fg_cc_config *c, u64 line);
	void (*start)(union fg_cc_state *s, const struct fg_cc_config *c);
	void (*sent)(union fg_cc_state *s, const struct fg_cc_config *c, u32 bytes);
	void (*cnp)(union fg_cc_state *s, const struct fg_cc_config *c, u64 now);
	u64 (*rate)(union fg_cc_state *s, const struct fg_cc_config *c, u64 now, u64 *until);
};

/* cc_dcqcn.c */
extern const struct fg_cc fg_cc_dcqcn;

#endif
