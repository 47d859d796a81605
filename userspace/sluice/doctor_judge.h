/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * doctor_judge: what the rules of doctor share.
 *
 * doctor_rules.c calls those of the kinds, doctor_rocc.c, doctor_floodgate.c and doctor_flowsail.c;
 * all of them call doctor_judge.c, which calls none.
 */
#ifndef _SLUICE_DOCTOR_JUDGE_H
#define _SLUICE_DOCTOR_JUDGE_H

#include "doctor.h"

/**
 * struct judge - while findings are collected
 * @look: what was seen
 * @dev: only of this device, or NULL
 * @found: takes them
 * @ctx: for @found
 */
struct judge {
	const struct look *look;
	const char *dev;
	doctor_fn found;
	void *ctx;
};

/* doctor_judge.c: a finding that is in the list, of a device or, NULL, of the box */
void __attribute__((format(printf, 4, 5)))
say(const struct judge *j, const char *id, const char *dev, const char *fmt, ...);

/* The qdisc that a qdisc is a child of, or NULL */
const struct qdisc *parent_of(const struct look *look, const struct qdisc *q);

/* Does any qdisc above send no more than a rate? Of tbf the rate is known too. */
bool shaped(const struct look *look, const struct qdisc *q, uint64_t *rate);

/* The rate that a qdisc reckons with. @own: by its option, @speed: by the device; 0: nothing */
void judge_rate(const struct judge *j, const struct qdisc *q, const char *name, uint64_t own,
		uint64_t speed);

/* doctor_rocc.c: CNPs that the hosts of the namespace have refused */
void judge_refusals(const struct judge *j);

/* A rocc of this device */
void judge_rocc(const struct judge *j, const struct qdisc *q, const struct device *d);

/* doctor_floodgate.c: a floodgate of this device. @p: its port, NULL if nothing is known of it */
void judge_floodgate(const struct judge *j, const struct qdisc *q, const struct device *d,
		     const struct port *p);

/* doctor_flowsail.c: a flowsail, likewise */
void judge_flowsail(const struct judge *j, const struct qdisc *q, const struct device *d,
		    const struct port *p);

#endif
