/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * events.h - the tracepoints as their BPF programs get them
 *
 * The modules have no type information that a program could be fitted by, so the fields are read
 * where the tracepoint's `format` says that they are. HOPMON_EVENTS lists each event's fields once:
 * the structs below are made of it, and so is the table (event.c) that is compared with the
 * format files before anything is attached.
 */
#ifndef _HOPMON_EVENTS_H
#define _HOPMON_EVENTS_H

#include <linux/types.h>

#include "hopmon.h"

/* E(system, event, fields) for each event, F(x, type, name) for each field. The event's own fields
 * come after those that are common to all events.
 */
#define HOPMON_EVENTS(E)						\
	E(bfc, bfc_enqueue, ENQUEUE)					\
	E(bfc, bfc_dequeue, DEQUEUE)					\
	E(bfc, bfc_drop, DROP)						\
	E(bfc, bfc_pause, PAUSED)					\
	E(bfc, bfc_resume, PAUSED)					\
	E(hopctl, hop_pause_rx, PAUSE_RX)				\
	E(hopctl, hop_pause_tx, PORT)					\
	E(hopctl, hop_pause_count, PAUSE_COUNT)				\
	E(hopctl, hop_lease_expired, PORT)				\
	E(hopctl, hop_root, ROOT)

#define HOPMON_PORT_FIELDS(F, x)					\
	F(x, __u32, netns) F(x, __u32, ifindex) F(x, union hopmon_dev, dev)

#define HOPMON_QUEUE_FIELDS(F, x)					\
	HOPMON_PORT_FIELDS(F, x) F(x, __u16, queue)

#define HOPMON_ENQUEUE_FIELDS(F, x)					\
	HOPMON_QUEUE_FIELDS(F, x)					\
	F(x, __u16, label) F(x, __u32, len) F(x, __u32, backlog)	\
	F(x, __u32, th) F(x, __u8, marked) F(x, __u64, skbaddr) F(x, __u64, time)

#define HOPMON_DEQUEUE_FIELDS(F, x)					\
	HOPMON_QUEUE_FIELDS(F, x)					\
	F(x, __u32, len) F(x, __u32, backlog) F(x, __u64, skbaddr) F(x, __u64, time)

#define HOPMON_DROP_FIELDS(F, x)					\
	HOPMON_QUEUE_FIELDS(F, x)					\
	F(x, __u8, reason) F(x, __u32, len) F(x, __u64, skbaddr)

#define HOPMON_PAUSED_FIELDS(F, x)					\
	HOPMON_QUEUE_FIELDS(F, x)					\
	F(x, __u32, backlog) F(x, __u64, since) F(x, __u64, time)

#define HOPMON_PAUSE_RX_FIELDS(F, x)					\
	HOPMON_PORT_FIELDS(F, x)					\
	F(x, __u32, seq) F(x, __u16, first) F(x, __u16, count)		\
	F(x, __u32, lease) F(x, __u64, changed) F(x, __u64, time)

#define HOPMON_ROOT_FIELDS(F, x)					\
	HOPMON_QUEUE_FIELDS(F, x)					\
	F(x, __u16, root) F(x, __u8, hops) F(x, __u8, more) F(x, __u64, time)

#define HOPMON_PAUSE_COUNT_FIELDS(F, x)					\
	HOPMON_PORT_FIELDS(F, x)					\
	F(x, __u16, handle) F(x, __u16, queue) F(x, __u8, pause)

#define HOPMON_MEMBER(x, type, name) type name;
#define HOPMON_STRUCT(system, event, fields)				\
struct event_##event {							\
	__u64	common;							\
	HOPMON_##fields##_FIELDS(HOPMON_MEMBER, event)			\
};

HOPMON_EVENTS(HOPMON_STRUCT)

#endif
