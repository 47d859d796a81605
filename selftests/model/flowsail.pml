// SPDX-License-Identifier: GPL-2.0-only
/*
 * flowsail.pml - flows that the neighbour holds, and who waits for them, for spin: every order of events, not a few
 *
 * FLOWS flows come to a qdisc with SLOTS slots, NORMAL normal sub-queues, and ISOLATION for isolation, or with 0 one of its
 * own for each slot. Any number of packets come, and ROOM of them are there at once. Names and rules are those of
 * kernel/flowsail and kernel/sched/subq.h:
 *
 *   here                 there
 *   come                 flowsail_enqueue_frame(), flowsail_flow_comes()
 *   slot_of, give        flowsail_flow_of(), flowsail_flow_new()
 *   judge                flowsail_is_apart()
 *   assign, normal       flowsail_assign(), flowsail_normal(), flowsail_isolation()
 *   append               hop_subq_append()
 *   take                 flowsail_dequeue_data(), flowsail_take(), flowsail_enforce_limit(), flowsail_reset()
 *   pop, free_it         flowsail_pop(), hop_subq_pop(), hop_subq_free()
 *   leaves               flowsail_flow_leaves()
 *   idle_add, idle_del   flowsail_idle_add(), flowsail_idle_del()
 *   look, head           flowsail_look(), head_waits(), hop_subq_hold(), hop_subq_unhold()
 *   flow_look            flow_look()
 *   hear, change         flowsail_merge_paused(), flow_changed(), flow_pause(), flow_resume()
 *
 * All of it is under the qdisc lock, so a step is all that is done with one packet, or with what the neighbour says. That is
 * absolute: of each slot it may be new or what it said before, and anything said in between may have been lost. Whose turn
 * it is, what is dropped, and whether 2 HRTT have passed is left to chance; with HOSTS also whether the port is a host's,
 * for each packet anew.
 *
 * What has to hold:
 *
 *   order    no packet leaves before one of its flow that came earlier, and is there: of two packets of one flow, any two
 *   exact    a sub-queue is held if its first packet may not leave, and only then
 *   circle   while the neighbour holds no flow, and packets are there, some sub-queue may send; so all leave
 *   counts   holding, strays, flows, isolated, and the flows of each sub-queue are what is there
 *   given    a slot may be given away if its flow has no packets and is not held, and only then
 *   free     a normal sub-queue is free if it is empty, and only then; a free one is in no list
 *
 * Marks, thresholds and bytes are not in it: they decide whom this box holds, not who waits here.
 *
 * Each of the following leaves out one rule, and one of these fails:
 *
 *   order    -DNO_ORDER, -DNO_STAY, -DNO_STAY_NORMAL, -DNO_STAY_APART, -DNO_STRAYS, -DNO_STRAYS_PLACE
 *   exact    -DNO_STAY, -DNO_LOOK_COMES, -DNO_LOOK_HEAD, -DNO_LOOK_HELD, -DNO_LOOK_LAST, -DNO_LOOK_FLOW
 *   circle   -DNO_LOOK_LAST, -DBOTH_WAYS: a normal sub-queue waits for isolation, too
 *   counts   -DNO_APART_HOLDS, -DNO_UNHOLD, -DNO_UNSTRAY
 *   given    -DNO_IDLE_COMES, -DNO_IDLE_PAUSED, -DNO_IDLE_HELD, -DNO_IDLE_PACKETS, -DNO_IDLE_RESUMED
 *   free     -DNO_LOOK_FIRST
 *
 * With -DINEXACT the second is not looked at, nor the flows of sub-queues, so that it is seen what comes of that; with
 * -DORDERLY nor is the third.
 */
#ifdef ORDERLY
#define INEXACT
#endif
#ifndef FLOWS
#define FLOWS	2
#endif
#ifndef SLOTS
#define SLOTS	2
#endif
#ifndef NORMAL
#define NORMAL	1
#endif
#ifndef ISOLATION
#define ISOLATION 1
#endif
#ifndef HOSTS
#define HOSTS	0
#endif
#ifndef ROOM
#define ROOM	4
#endif

#define OWN	(NORMAL + ISOLATION)	/* the first sub-queue of a single flow */
#if HOSTS || !ISOLATION
#define QUEUES	(OWN + SLOTS)
#else
#define QUEUES	OWN
#endif
#define NOBODY	15
#define COMES	16	/* no sub-queue: a packet comes */
#define HEARS	17	/* nor one: the neighbour speaks */

/* Why a sub-queue is held */
#define PAUSED	1
#define ORDER	2

/* Which of two packets of flow 0 a packet is */
#define FIRST	1
#define SECOND	2

/* struct hop_subq. A packet has its slot, or SLOTS and its flow; flowsail_skb_cb.apart; FIRST or SECOND */
chan queue[QUEUES] = [ROOM] of { byte, bool, byte };
byte has[QUEUES], held[QUEUES], flows_in[QUEUES];	/* has: packets */
bool free[QUEUES], listed[QUEUES];

/* struct flowsail_flow. Sub-queues are 0 while there is no packet there. */
byte owner[SLOTS], packets[SLOTS], apart[SLOTS], normal_in[SLOTS], apart_in[SLOTS];
bool paused[SLOTS], isolated[SLOTS];

/* struct flowsail_sched */
chan idle = [2 * SLOTS] of { byte };
byte holding, strays, stray[FLOWS], flows, isolations, all;

bool first_in, second_in;	/* FIRST is there, SECOND is there */

/* Of one step; 0 between two */
byte from, f, s, i, n, word, slot, to, waits, which, mark, sum, sum2, sum3;
bool is_apart, was_apart, may;

#define LISTED(x)	(idle??[eval(x)])

/* ---- who waits ---- */

/* What the first packet of a sub-queue waits for */
inline head(x)
{
	waits = 0;
	if
	:: has[x] ->
		queue[x]?<which, was_apart, mark>;
		if
		:: which >= SLOTS
		:: which < SLOTS && paused[which] -> waits = PAUSED
#ifndef NO_ORDER
		:: which < SLOTS && !paused[which] && was_apart && packets[which] -> waits = ORDER
#endif
#ifdef BOTH_WAYS
		:: which < SLOTS && !paused[which] && !was_apart && apart[which] -> waits = ORDER
#endif
		:: else
		fi;
		which = 0; was_apart = false; mark = 0
	:: !has[x]
	fi
}

inline look(x)
{
	head(x);
	if	/* one that is empty and was held was in no list */
	:: held[x] && !waits && !has[x] -> listed[x] = true
	:: else
	fi;
	held[x] = waits
}

inline flow_look(x)
{
	if
	:: packets[x] -> look(normal_in[x])
	:: else
	fi;
	if
	:: apart[x] -> look(apart_in[x])
	:: else
	fi
}

/* ---- slots ---- */

inline idle_add(x)
{
	idle!x
}

inline idle_del(x)
{
	if
	:: LISTED(x) -> idle??eval(x)
	:: !LISTED(x)
	fi
}

/* The slot that is unused for longest, if there is one */
inline give()
{
	if
	:: nempty(idle) ->
		idle?<slot>;
		owner[slot] = f + 1;
		isolated[slot] = false
	:: empty(idle)
	fi
}

inline slot_of()
{
	slot = NOBODY;
	for (i : 0 .. SLOTS - 1) {
		if
		:: owner[i] == f + 1 -> slot = i
		:: else
		fi
	}
	if
	:: slot != NOBODY
#ifndef NO_STRAYS
	:: slot == NOBODY && stray[f]
	:: slot == NOBODY && !stray[f] -> give()
#else
	:: slot == NOBODY -> give()
#endif
	fi
}

/* ---- a packet comes ---- */

/* Does a packet go to isolation? */
inline judge()
{
	if
#ifndef NO_STAY
	:: apart[slot] -> is_apart = true
	:: !apart[slot] && isolated[slot] ->
#else
	:: isolated[slot] ->
#endif
		if
		:: !paused[slot] -> isolated[slot] = false	/* 2 HRTT have passed */
		:: is_apart = true
#if HOSTS
		:: true
#endif
		fi
	:: else
	fi
}

/* An empty normal sub-queue if there is one, or any */
inline normal()
{
	if
	:: select(to : 0 .. NORMAL - 1);
		may = true;
		for (i : 0 .. NORMAL - 1) {
			if
			:: free[i] && !free[to] -> may = false
			:: else
			fi
		}
		if
		:: !may -> to = 0; do :: !free[to] -> to++ :: free[to] -> break od
		:: else
		fi;
		may = false
#if HOSTS
	:: slot != NOBODY -> to = OWN + slot
#endif
	fi
}

inline assign()
{
	if
#ifndef NO_STRAYS_PLACE
	:: slot == NOBODY -> to = f % NORMAL	/* by the flow's hash */
#else
	:: slot == NOBODY -> select(to : 0 .. NORMAL - 1)
#endif
	:: slot != NOBODY && is_apart ->
		if
#ifndef NO_STAY_APART
		:: apart[slot] -> to = apart_in[slot]
		:: !apart[slot] ->
#else
		:: true ->
#endif
#if ISOLATION
			select(to : NORMAL .. OWN - 1)
#else
			to = OWN + slot
#endif
		fi
	:: slot != NOBODY && !is_apart ->
		if
#ifndef NO_STAY_NORMAL
		:: packets[slot] -> to = normal_in[slot]
		:: !packets[slot] -> normal()
#else
		:: normal()
#endif
		fi
	fi
}

inline append()
{
	if
	:: !has[to] ->
		if
		:: listed[to] -> listed[to] = false
		:: else -> free[to] = false
		fi
	:: has[to]
	fi;
	queue[to]!which, is_apart, mark;
	has[to]++; all++
}

inline come()
{
	select(f : 0 .. FLOWS - 1);
	mark = 0; is_apart = false;
	if
	:: f == 0 && !first_in && !second_in -> first_in = true; mark = FIRST
	:: f == 0 && first_in && !second_in -> second_in = true; mark = SECOND
	:: true
	fi;
	slot_of();
	if
	:: slot == NOBODY -> stray[f]++; strays++; which = SLOTS + f; assign()
	:: slot != NOBODY ->
		judge();
		which = slot;
		assign();
		if
		:: !packets[slot] && !apart[slot] ->
#ifndef NO_IDLE_COMES
			idle_del(slot);
#endif
			flows++
		:: else
		fi;
		if
		:: is_apart ->
			if
			:: !apart[slot] -> apart_in[slot] = to; isolations++; flows_in[to]++
			:: else
			fi;
			apart[slot]++;
#ifndef NO_APART_HOLDS
			holding++
#endif
		:: !is_apart ->
			if
			:: !packets[slot] -> normal_in[slot] = to; flows_in[to]++
			:: else
			fi;
			packets[slot]++
		fi
	fi;
	append();
	which = 0; mark = 0; is_apart = false;
#ifndef NO_LOOK_COMES
	if
	:: holding && has[to] == 1 -> look(to)
	:: else
	fi;
#endif
	f = 0; slot = 0; to = 0
}

/* ---- a packet leaves, in whatever way ---- */

/* A packet of a flow with a slot has left. */
inline leaves(x)
{
	if
	:: is_apart ->
		apart[slot]--;
#ifndef NO_UNHOLD
		holding--;
#endif
		if
		:: !apart[slot] -> isolations--; flows_in[x]--; apart_in[slot] = 0
		:: else
		fi
	:: !is_apart ->
		packets[slot]--;
		if
		:: !packets[slot] ->
			flows_in[x]--; normal_in[slot] = 0;
#ifndef NO_LOOK_LAST
			if
			:: apart[slot] -> look(apart_in[slot])
			:: else
			fi
#endif
		:: else
		fi
	fi;
	if
	:: !packets[slot] && !apart[slot] ->
		flows--;
		if
#ifndef NO_IDLE_HELD
		:: !paused[slot] -> idle_add(slot)
#else
		:: true -> idle_add(slot)
#endif
		:: else
		fi
	:: else
	fi
}

inline free_it(x)
{
	if
	:: !has[x] && x < NORMAL -> listed[x] = false; free[x] = true
	:: else
	fi
}

/* slot, is_apart and n are those of the packet */
inline pop(x)
{
	queue[x]?slot, is_apart, n;
	has[x]--; all--;
	if
	:: !has[x] && !held[x] -> listed[x] = true
	:: else
	fi;
	if
	:: slot < SLOTS -> leaves(x)
	:: slot >= SLOTS ->
		stray[slot - SLOTS]--;
#ifndef NO_UNSTRAY
		strays--
#endif
	fi;
#ifdef NO_LOOK_FIRST
	free_it(x);
#endif
	if
#ifndef NO_LOOK_HEAD
	:: holding -> look(x)
#endif
#ifndef NO_LOOK_HELD
	:: held[x] -> look(x)
#endif
	:: else
	fi;
#ifndef NO_LOOK_FIRST
	free_it(x);
#endif
	if
	:: n == FIRST -> first_in = false
	:: n == SECOND -> second_in = false
	:: else
	fi
}

/* One that is not held sends, if it is not a drop. */
inline take(x)
{
	may = !held[x];
	pop(x);
	assert(!may || n != SECOND || !first_in);	/* order */
	may = false; slot = 0; is_apart = false; n = 0
}

/* ---- the neighbour ---- */

inline change(x)
{
	if
	:: !paused[x] ->
		holding++;
#ifndef NO_IDLE_PAUSED
		idle_del(x);
#endif
		paused[x] = true; isolated[x] = true
	:: paused[x] ->
		holding--;
		paused[x] = false;
		if
#ifdef NO_IDLE_PACKETS
		:: true -> idle_add(x)
#elif !defined(NO_IDLE_RESUMED)
		:: !packets[x] && !apart[x] -> idle_add(x)
#endif
		:: else
		fi
	fi;
#ifndef NO_LOOK_FLOW
	flow_look(x)
#endif
}

inline hear()
{
	select(word : 0 .. (1 << SLOTS) - 1);
	for (s : 0 .. SLOTS - 1) {
		if
		:: ((word >> s) & 1) != paused[s] -> change(s)
		:: else
		fi
	}
	word = 0; s = 0
}

/* ---- what has to hold ---- */

/* -DREACH=... says that one of these never happens, which is wrong: the model does not idle. */
#define WAITS	(held[0] == PAUSED && held[NORMAL] == ORDER)	/* who waits for order waits for the neighbour */
#define RESUMED	(apart[0] && packets[0] && !paused[0])		/* it was let go with packets in both */
#define SHARED	(apart[0] && apart[1] && apart_in[0] == apart_in[1])
#define BOTH	(packets[0] && apart[0] && normal_in[0] == apart_in[0])	/* one sub-queue for both, that of a slot */
#define STRAY	(stray[0] > 1 && !flows)	/* they wait although there are slots again */

inline sound()
{
	d_step {
		for (s : 0 .. QUEUES - 1) {
			head(s);
#ifndef INEXACT
			assert(held[s] == waits);	/* exact */
#endif
			may = may || (has[s] && !held[s]);
			if
			:: s < NORMAL -> assert(free[s] == !has[s] && !listed[s])	/* free */
			:: else -> assert(!free[s])
			fi;
			n = 0;
			for (i : 0 .. SLOTS - 1) {
				n = n + (packets[i] && normal_in[i] == s) + (apart[i] && apart_in[i] == s)
			}
#ifndef INEXACT
			assert(flows_in[s] == n)	/* counts */
#endif
		}
		for (i : 0 .. SLOTS - 1) {
			sum = sum + packets[i];
			sum2 = sum2 + apart[i];
			sum3 = sum3 + (packets[i] || apart[i]);
			word = word + paused[i];
			to = to + (apart[i] > 0);
			assert((packets[i] || apart[i] || paused[i]) == !LISTED(i))	/* given */
		}
#ifndef ORDERLY
		assert(word || may || !all);	/* circle */
#endif
		assert(holding == word + sum2 && all == sum + sum2 + strays && flows == sum3 && isolations == to);
#ifdef REACH
		assert(!(REACH));
#endif
		may = false; s = 0; i = 0; n = 0; to = 0; waits = 0; word = 0; sum = 0; sum2 = 0; sum3 = 0
	}
}

init {
	atomic {
		for (i : 0 .. NORMAL - 1) { free[i] = true }
		for (i : 0 .. SLOTS - 1) { idle!i }
	}
	do
	:: atomic {
		if
		:: all < ROOM -> from = COMES
		:: true -> from = HEARS
		:: has[0] -> from = 0
		:: has[1] -> from = 1
#if QUEUES > 2
		:: has[2] -> from = 2
#endif
#if QUEUES > 3
		:: has[3] -> from = 3
#endif
#if QUEUES > 4
		:: has[4] -> from = 4
#endif
		fi;
		if
		:: from == COMES -> come()
		:: from == HEARS -> hear()
		:: from < COMES -> take(from)
		fi;
		from = 0;
		sound()
	}
	od
}
