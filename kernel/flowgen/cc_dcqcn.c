// SPDX-License-Identifier: GPL-2.0-only
/*
 * cc_dcqcn.c - DCQCN for go-back-N: the law is in dcqcn.h
 */
#include "cc.h"

/* The paper's R_AI is a thousandth of its lines' rate. */
static void fg_dcqcn_set(struct fg_cc_config *c, u64 line)
{
	c->dcqcn.line = line;
	c->dcqcn.least = div_u64(line, 1000);
	c->dcqcn.add = c->dcqcn.add ?: div_u64(line, 1000);
	c->dcqcn.hyper = c->dcqcn.hyper ?: div_u64(line, 100);
}

static void fg_dcqcn_start(union fg_cc_state *s, const struct fg_cc_config *c)
{
	dcqcn_start(&s->dcqcn, &c->dcqcn);
}

static void fg_dcqcn_sent(union fg_cc_state *s, const struct fg_cc_config *c, u32 bytes)
{
	dcqcn_sent(&s->dcqcn, &c->dcqcn, bytes);
}

static void fg_dcqcn_cnp(union fg_cc_state *s, const struct fg_cc_config *c, u64 now)
{
	dcqcn_cnp(&s->dcqcn, &c->dcqcn, now);
}

static u64 fg_dcqcn_rate(union fg_cc_state *s, const struct fg_cc_config *c, u64 now, u64 *until)
{
	dcqcn_pass(&s->dcqcn, &c->dcqcn, now);
	*until = dcqcn_next(&s->dcqcn, &c->dcqcn);
	return s->dcqcn.rate;
}

const struct fg_cc fg_cc_dcqcn = {
	.name	= "dcqcn",
	.set	= fg_dcqcn_set,
	.start	= fg_dcqcn_start,
	.sent	= fg_dcqcn_sent,
	.cnp	= fg_dcqcn_cnp,
	.rate	= fg_dcqcn_rate,
};
