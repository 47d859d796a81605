/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - tracepoints
 *
 * All under the system "hopctl"; each names its device: by name for people, by namespace (the
 * inode number of /proc/PID/ns/net) and index for programs. hopmon and scripts read these fields,
 * which Documentation/tracing.md describes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hopctl

#if !defined(_SLUICE_HOPCTL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SLUICE_HOPCTL_TRACE_H

#include <linux/tracepoint.h>

#include "port.h"

#ifndef HOP_WATCH_CHANGE
#define HOP_WATCH_CHANGE	0
#define HOP_WATCH_LOOK		1
#define HOP_WATCH_LOCK		2
#endif

#define hop_port_fields						\
		__field(u32,	netns)				\
		__field(u32,	ifindex)			\
		__array(char,	dev,	IFNAMSIZ)

#define hop_port_assign(port)					\
		__entry->netns = dev_net((port)->dev)->ns.inum;	\
		__entry->ifindex = (port)->dev->ifindex;	\
		memcpy(__entry->dev, (port)->dev->name, IFNAMSIZ)

#define hop_show_kind(kind)					\
	__print_symbolic(kind,					\
		{ HOP_STREAM_NEW,	"new" },		\
		{ HOP_STREAM_REPEAT,	"repeat" },		\
		{ HOP_STREAM_REFRESH,	"refresh" })

#define hop_show_watch(what)					\
	__print_symbolic(what,					\
		{ HOP_WATCH_CHANGE,	"change" },		\
		{ HOP_WATCH_LOOK,	"look" },		\
		{ HOP_WATCH_LOCK,	"lock" })

#define hop_show_state(state)					\
	__print_symbolic(state,					\
		{ HOP_STATE_TAGGING,		"tagging" },	\
		{ HOP_STATE_NO_NEIGHBOUR,	"no-neighbour" },\
		{ HOP_STATE_NO_STRIP,		"no-strip" },	\
		{ HOP_STATE_TPID,		"tpid" },	\
		{ HOP_STATE_PROBING,		"probing" },	\
		{ HOP_STATE_PROBE_SIZE,		"probe-size" },	\
		{ HOP_STATE_PROBE_TAG,		"probe-tag" },	\
		{ HOP_STATE_SHARED,		"shared" },	\
		{ HOP_STATE_NO_CARRIER,		"no-carrier" },	\
		{ HOP_STATE_DISABLED,		"disabled" },	\
		{ HOP_STATE_KIND,		"kind" },	\
		{ HOP_STATE_HOST,		"host" })

DECLARE_EVENT_CLASS(hop_epoch,
	TP_PROTO(const struct hop_port *port, u32 epoch),
	TP_ARGS(port, epoch),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u32,	epoch)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->epoch = epoch;
	),
	TP_printk("%s epoch=%08x", __entry->dev, __entry->epoch)
);

DEFINE_EVENT(hop_epoch, hop_neighbour_up,
	TP_PROTO(const struct hop_port *port, u32 epoch),
	TP_ARGS(port, epoch)
);

DEFINE_EVENT(hop_epoch, hop_neighbour_lost,
	TP_PROTO(const struct hop_port *port, u32 epoch),
	TP_ARGS(port, epoch)
);

TRACE_EVENT(hop_state,
	TP_PROTO(const struct hop_port *port, u8 state),
	TP_ARGS(port, state),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u8,	state)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->state = state;
	),
	TP_printk("%s %s", __entry->dev, hop_show_state(__entry->state))
);

TRACE_EVENT(hop_pause_tx,
	TP_PROTO(const struct hop_port *port, u32 seq, u16 first, u16 count, int kind),
	TP_ARGS(port, seq, first, count, kind),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u32,	seq)
		__field(u16,	first)
		__field(u16,	count)
		__field(int,	kind)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->seq = seq;
		__entry->first = first;
		__entry->count = count;
		__entry->kind = kind;
	),
	TP_printk("%s %s seq=%u words=%u+%u", __entry->dev, hop_show_kind(__entry->kind),
		  __entry->seq, __entry->first, __entry->count)
);

TRACE_EVENT(hop_pause_rx,
	TP_PROTO(const struct hop_port *port, u32 seq, u16 first, u16 count, u32 lease,
		 u64 changed, u64 now),
	TP_ARGS(port, seq, first, count, lease, changed, now),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u32,	seq)
		__field(u16,	first)
		__field(u16,	count)
		__field(u32,	lease)
		__field(u64,	changed)
		__field(u64,	time)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->seq = seq;
		__entry->first = first;
		__entry->count = count;
		__entry->lease = lease;
		__entry->changed = changed;
		__entry->time = now;
	),
	TP_printk("%s seq=%u words=%u+%u lease=%uns changed=%llx", __entry->dev, __entry->seq,
		  __entry->first, __entry->count, __entry->lease, __entry->changed)
);

TRACE_EVENT(hop_pause_count,
	TP_PROTO(const struct hop_port *port, u16 handle, u16 queue, bool pause),
	TP_ARGS(port, handle, queue, pause),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u16,	handle)
		__field(u16,	queue)
		__field(bool,	pause)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->handle = handle;
		__entry->queue = queue;
		__entry->pause = pause;
	),
	TP_printk("%s handle=%u queue=%u %s", __entry->dev, __entry->handle, __entry->queue,
		  __entry->pause ? "0->1" : "1->0")
);

TRACE_EVENT(hop_root,
	TP_PROTO(const struct hop_port *port, u16 queue, u16 root, u8 hops, bool more, u64 now),
	TP_ARGS(port, queue, root, hops, more, now),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u16,	queue)
		__field(u16,	root)
		__field(u8,	hops)
		__field(bool,	more)
		__field(u64,	time)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->queue = queue;
		__entry->root = root;
		__entry->hops = hops;
		__entry->more = more;
		__entry->time = now;
	),
	TP_printk("%s queue=%u root=%#06x hops=%u%s", __entry->dev, __entry->queue,
		  __entry->root, __entry->hops, __entry->more ? " more" : "")
);

TRACE_EVENT(hop_lease_expired,
	TP_PROTO(const struct hop_port *port),
	TP_ARGS(port),
	TP_STRUCT__entry(
		hop_port_fields
	),
	TP_fast_assign(
		hop_port_assign(port);
	),
	TP_printk("%s", __entry->dev)
);

TRACE_EVENT(hop_storm,
	TP_PROTO(const struct hop_port *port, bool begins),
	TP_ARGS(port, begins),
	TP_STRUCT__entry(
		__array(char,	dev,	IFNAMSIZ)
		__field(bool,	begins)
	),
	TP_fast_assign(
		memcpy(__entry->dev, port->dev->name, IFNAMSIZ);
		__entry->begins = begins;
	),
	TP_printk("%s %s", __entry->dev, __entry->begins ? "begins" : "ends")
);

TRACE_EVENT(hop_watch,
	TP_PROTO(const struct hop_port *port, int what, unsigned int looked),
	TP_ARGS(port, what, looked),
	TP_STRUCT__entry(
		hop_port_fields
		__field(int,		what)
		__field(unsigned int,	looked)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->what = what;
		__entry->looked = looked;
	),
	TP_printk("%s %s looked=%u", __entry->dev, hop_show_watch(__entry->what),
		  __entry->looked)
);

TRACE_EVENT(hop_hrtt,
	TP_PROTO(const struct hop_port *port, u32 raw, u32 used),
	TP_ARGS(port, raw, used),
	TP_STRUCT__entry(
		hop_port_fields
		__field(u32,	raw)
		__field(u32,	used)
	),
	TP_fast_assign(
		hop_port_assign(port);
		__entry->raw = raw;
		__entry->used = used;
	),
	TP_printk("%s raw=%uns used=%uns", __entry->dev, __entry->raw, __entry->used)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
