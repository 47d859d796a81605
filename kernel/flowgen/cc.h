/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cc.h - congestion control of go-back-N: how fast a flow may send
 *
 * One file for each, cc_NAME.c, with its law apart in NAME.h. gbn_send.c paces a flow at the rate
 * that its law says, as if it were sent on a line of that rate; the window, which may be the law's,
 * and `local` hold besides.
 */
#ifndef _SLUICE_FLOWGEN_CC_H
#define _SLUICE_FLOWGEN_CC_H

#include <linux/types.h>

#include "dcqcn.h"
#include "gbn.h"
#include "hpcc.h"

/* What a frame takes of a line beside its IP packet: MAC header, FCS, preamble, gap */
#define FG_CC_LINE_BYTES	38

/**
 * struct fg_cc_config - parameters
 * @cnp_ns: least time between two CNPs for a flow
 * @dcqcn: of dcqcn. In a run's, what goes by the line rate is 0 unless it was given
 * @hpcc: of hpcc, likewise
 */
struct fg_cc_config {
	u64 cnp_ns;
	struct dcqcn_config dcqcn;
	struct hpcc_config hpcc;
};

/* A flow's state */
union fg_cc_state {
	struct dcqcn dcqcn;
	struct hpcc hpcc;
};

/**
 * struct fg_cc - a law; all under the lock of the sender's endpoint
 * @name: FLOWGEN_A_CC
 * @set: parameters of an endpoint whose line has that many bytes/s
 * @start: a flow starts
 * @sent: so many bytes of the line have been taken; optional
 * @cnp: a CNP has come. Without it packets are not marked on their way, and there are no CNPs
 * @ack: more has been acknowledged, or the flow goes back; with the records of telemetry.h. Without
 *	it packets have none
 * @window: bytes of the line that may be unacknowledged, not 0; optional
 * @rate: bytes/s as of now, not 0; @until is set to when that changes by itself, U64_MAX if it
 *	does not
 */
struct fg_cc {
	const char *name;
	void (*set)(struct fg_cc_config *c, u64 line);
	void (*start)(union fg_cc_state *s, const struct fg_cc_config *c);
	void (*sent)(union fg_cc_state *s, const struct fg_cc_config *c, u32 bytes);
	void (*cnp)(union fg_cc_state *s, const struct fg_cc_config *c, u64 now);
	void (*ack)(union fg_cc_state *s, const struct fg_cc_config *c, const u8 *records,
		    const struct gbn_tx *tx, u64 now);
	u64 (*window)(const union fg_cc_state *s);
	u64 (*rate)(union fg_cc_state *s, const struct fg_cc_config *c, u64 now, u64 *until);
};

/* cc_dcqcn.c */
extern const struct fg_cc fg_cc_dcqcn;
/* cc_hpcc.c */
extern const struct fg_cc fg_cc_hpcc;

/* What a packet has behind its header beside its payload, bytes */
static inline u32 fg_cc_bytes(const struct fg_cc *law)
{
	static_assert(TELEMETRY_AT == GBN_HEADER_BYTES && TELEMETRY_FLAG == GBN_FLAG_TELEMETRY &&
		      TELEMETRY_DATA == (GBN_VERSION << 4 | GBN_DATA));
	return law && law->ack ? TELEMETRY_BYTES : 0;
}

/* And what its header says of that */
static inline u8 fg_cc_flags(const struct fg_cc *law)
{
	return law && law->ack ? GBN_FLAG_TELEMETRY : 0;
}

#endif
