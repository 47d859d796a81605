// SPDX-License-Identifier: GPL-2.0-only
/*
 * cc_hpcc.c - HPCC for go-back-N: the law is in hpcc.h
 */
#include "cc.h"

#define FG_HPCC_FLOWS	100	/* that share a port, as W_AI's default has it */

/* The paper's W_AI is B T (1 - eta) / N for N flows. */
static void fg_hpcc_set(struct fg_cc_config *c, u64 line)
{
	struct hpcc_config *h = &c->hpcc;

	h->line = line;
	h->add = h->add ?: max(div_u64(hpcc_full(h) * (HPCC_ETA_ONE - h->eta),
				       HPCC_ETA_ONE * FG_HPCC_FLOWS), 1ULL);
}

static void fg_hpcc_start(union fg_cc_state *s, const struct fg_cc_config *c)
{
	hpcc_start(&s->hpcc, &c->hpcc);
}

static void fg_hpcc_ack(union fg_cc_state *s, const struct fg_cc_config *c, const u8 *records,
			const struct gbn_tx *tx, u64 now)
{
	hpcc_ack(&s->hpcc, &c->hpcc, records, tx->acked, tx->next, now);
}

static u64 fg_hpcc_window(const union fg_cc_state *s)
{
	return s->hpcc.window;
}

static u64 fg_hpcc_rate(union fg_cc_state *s, const struct fg_cc_config *c, u64 now, u64 *until)
{
	*until = U64_MAX;
	return hpcc_rate(&s->hpcc, &c->hpcc);
}

const struct fg_cc fg_cc_hpcc = {
	.name	= "hpcc",
	.set	= fg_hpcc_set,
	.start	= fg_hpcc_start,
	.ack	= fg_hpcc_ack,
	.window	= fg_hpcc_window,
	.rate	= fg_hpcc_rate,
};
