/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_bfc.h - tracepoints of sch_bfc
 *
 * All under the system "bfc". Each names its device: by name for people, by namespace (the inode
 * number of /proc/PID/ns/net) and index for programs. A sub-queue has the number that it has on the
 * port, which is the one that the neighbour knows; the control class is BFC_TRACE_CONTROL, and a
 * packet that never got to a sub-queue has BFC_TRACE_NONE. `time` is what the qdisc itself reckons
 * with, so that what is summed up from it equals the qdisc's own counters. hopmon and scripts read
 * these fields, which Documentation/tracing.md describes.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM bfc

#if !defined(_SLUICE_TRACE_BFC_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SLUICE_TRACE_BFC_H

#include <linux/tracepoint.h>
#include <net/sch_generic.h>

#include "../hopctl/hopctl.h"

#ifndef BFC_TRACE_CONTROL
#define BFC_TRACE_CONTROL	HOP_NO_QUEUE
#define BFC_TRACE_NONE		(HOP_NO_QUEUE - 1)

/* Why a packet left without being sent: named as the counters drop_*. */
enum bfc_trace_drop {
	BFC_TRACE_DROP_LIMIT,
	BFC_TRACE_DROP_CONTROL,
	BFC_TRACE_DROP_GSO,
	BFC_TRACE_DROP_TAG,
	BFC_TRACE_DROP_FILTER,
	BFC_TRACE_DROP_RESET,	/* counted nowhere: the qdisc was reset or deleted */
	BFC_TRACE_DROP_POOL,
	BFC_TRACE_DROP_POLICE,
};

static inline u16 bfc_trace_queue(const struct hop_member *m, u16 queue)
{
	return queue >= BFC_TRACE_NONE ? queue : m->first + queue;
}
#endif

#define bfc_show_drop(reason)					\
	__print_symbolic(reason,				\
		{ BFC_TRACE_DROP_LIMIT,		"limit" },	\
		{ BFC_TRACE_DROP_CONTROL,	"control" },	\
		{ BFC_TRACE_DROP_GSO,		"gso" },	\
		{ BFC_TRACE_DROP_TAG,		"tag" },	\
		{ BFC_TRACE_DROP_FILTER,	"filter" },	\
		{ BFC_TRACE_DROP_RESET,		"reset" },	\
		{ BFC_TRACE_DROP_POOL,		"pool" },	\
		{ BFC_TRACE_DROP_POLICE,	"police" })

#define bfc_queue_fields					\
		__field(u32,	netns)				\
		__field(u32,	ifindex)			\
		__array(char,	dev,	IFNAMSIZ)		\
		__field(u16,	queue)

#define bfc_queue_assign(m, nr)				\
		__entry->netns = dev_net(qdisc_dev((m)->sch))->ns.inum; \
		__entry->ifindex = qdisc_dev((m)->sch)->ifindex;	\
		memcpy(__entry->dev, qdisc_dev((m)->sch)->name, IFNAMSIZ); \
		__entry->queue = bfc_trace_queue(m, nr)

TRACE_EVENT(bfc_enqueue,
	TP_PROTO(const struct hop_member *m, u16 queue, u32 backlog, u32 th, bool marked,
		 const struct sk_buff *skb, u64 now),
	TP_ARGS(m, queue, backlog, th, marked, skb, now),
	TP_STRUCT__entry(
		bfc_queue_fields
		__field(u16,	label)
		__field(u32,	len)
		__field(u32,	backlog)
		__field(u32,	th)
		__field(u8,	marked)
		__field(u64,	skbaddr)
		__field(u64,	time)
	),
	TP_fast_assign(
		bfc_queue_assign(m, queue);
		__entry->label = skb->tc_index;
		__entry->len = qdisc_pkt_len(skb);
		__entry->backlog = backlog;
		__entry->th = th;
		__entry->marked = marked;
		__entry->skbaddr = (unsigned long)skb;
		__entry->time = now;
	),
	TP_printk("%s queue=%u len=%u backlog=%u th=%u %s label=%u skbaddr=%llx", __entry->dev,
		  __entry->queue, __entry->len, __entry->backlog, __entry->th,
		  __entry->marked ? "marked" : "unmarked", __entry->label, __entry->skbaddr)
);

TRACE_EVENT(bfc_dequeue,
	TP_PROTO(const struct hop_member *m, u16 queue, u32 backlog, const struct sk_buff *skb,
		 u64 now),
	TP_ARGS(m, queue, backlog, skb, now),
	TP_STRUCT__entry(
		bfc_queue_fields
		__field(u32,	len)
		__field(u32,	backlog)
		__field(u64,	skbaddr)
		__field(u64,	time)
	),
	TP_fast_assign(
		bfc_queue_assign(m, queue);
		__entry->len = qdisc_pkt_len(skb);
		__entry->backlog = backlog;
		__entry->skbaddr = (unsigned long)skb;
		__entry->time = now;
	),
	TP_printk("%s queue=%u len=%u backlog=%u skbaddr=%llx", __entry->dev, __entry->queue,
		  __entry->len, __entry->backlog, __entry->skbaddr)
);

TRACE_EVENT(bfc_drop,
	TP_PROTO(const struct hop_member *m, u16 queue, enum bfc_trace_drop reason,
		 const struct sk_buff *skb),
	TP_ARGS(m, queue, reason, skb),
	TP_STRUCT__entry(
		bfc_queue_fields
		__field(u8,	reason)
		__field(u32,	len)
		__field(u64,	skbaddr)
	),
	TP_fast_assign(
		bfc_queue_assign(m, queue);
		__entry->reason = reason;
		__entry->len = qdisc_pkt_len(skb);
		__entry->skbaddr = (unsigned long)skb;
	),
	TP_printk("%s queue=%u %s len=%u skbaddr=%llx", __entry->dev, __entry->queue,
		  bfc_show_drop(__entry->reason), __entry->len, __entry->skbaddr)
);

/* As the qdisc obeys it, which is when it merges what the neighbour has said. */
DECLARE_EVENT_CLASS(bfc_queue_paused,
	TP_PROTO(const struct hop_member *m, u16 queue, u32 backlog, u64 since, u64 now),
	TP_ARGS(m, queue, backlog, since, now),
	TP_STRUCT__entry(
		bfc_queue_fields
		__field(u32,	backlog)
		__field(u64,	since)
		__field(u64,	time)
	),
	TP_fast_assign(
		bfc_queue_assign(m, queue);
		__entry->backlog = backlog;
		__entry->since = since;
		__entry->time = now;
	),
	TP_printk("%s queue=%u backlog=%u after=%lluns", __entry->dev, __entry->queue,
		  __entry->backlog, __entry->time - __entry->since)
);

DEFINE_EVENT(bfc_queue_paused, bfc_pause,
	TP_PROTO(const struct hop_member *m, u16 queue, u32 backlog, u64 since, u64 now),
	TP_ARGS(m, queue, backlog, since, now)
);

DEFINE_EVENT(bfc_queue_paused, bfc_resume,
	TP_PROTO(const struct hop_member *m, u16 queue, u32 backlog, u64 since, u64 now),
	TP_ARGS(m, queue, backlog, since, now)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_bfc
#include <trace/define_trace.h>
