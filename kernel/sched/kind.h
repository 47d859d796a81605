/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kind.h - a module that is a kind of qdisc
 */
#ifndef _SLUICE_SCHED_KIND_H
#define _SLUICE_SCHED_KIND_H

#include <linux/module.h>
#include <net/pkt_sched.h>

/**
 * HOP_KIND_MODULE - how the module comes and goes
 * @kind: its name; the operations are kind_qdisc_ops
 * @text: what it is
 * @begin: what comes before there may be qdiscs; an expression: 0 or an error
 * @end: what undoes that when there are none any more; an expression
 */
#define HOP_KIND_MODULE(kind, text, begin, end)				\
static int __init kind##_module_init(void)				\
{									\
	int err = begin;						\
									\
	if (err)							\
		return err;						\
	err = register_qdisc(&kind##_qdisc_ops);			\
	if (err)							\
		end;							\
	return err;							\
}									\
static void __exit kind##_module_exit(void)				\
{									\
	unregister_qdisc(&kind##_qdisc_ops);				\
	end;								\
}									\
module_init(kind##_module_init);					\
module_exit(kind##_module_exit);					\
MODULE_DESCRIPTION(text);						\
MODULE_LICENSE("GPL");							\
MODULE_ALIAS("net-sch-" #kind)

#endif
