// SPDX-License-Identifier: GPL-2.0-only
/*
 * floodgate.pml - who waits for a window, for spin: every order of what several processors do, not a few
 *
 * PORTS ports of a box share the window of one destination, WINDOW packets. Each has a VOQ, and runs on a processor of
 * its own, under its qdisc lock; credits come on another one. Names and rules are those of kernel/floodgate:
 *
 *   here                 there, in kernel/floodgate
 *   enqueue              floodgate_put(), voq_takes(), voq_put(), fifo_put()
 *   dequeue              floodgate_dequeue(), round_pop()
 *   take                 voq_pop(), floodgate_sent(), floodgate_pass_on()
 *   hear                 floodgate_hear(), hear_mail(), hear_calls(), slot_called()
 *   wait                 floodgate_wait()
 *   wait_no_more         floodgate_wait_no_more()
 *   pass_on              floodgate_pass_on()
 *   turn_lost            fifo_next(), floodgate_turn_lost()
 *   given_back           floodgate_recount()
 *   call                 dest_call(), sched_is_stopped()
 *   hold                 floodgate_hold()
 *   down                 floodgate_reset()
 *   told                 floodgate_told()
 *   HAS_WINDOW           floodgate_has_window(), floodgate_window_left()
 *
 * A step is what a processor does before another one sees it: between a store and a load that a barrier keeps in order,
 * others come in. A barrier that is left out lets the load come first.
 *
 * What may happen, each a bounded number of times: packets come; other traffic comes to a FIFO, which goes before the VOQs,
 * for as long as it likes; a device stops, and as a rule goes on, for ever only if it had not been called; the
 * neighbour holds a destination; a qdisc is reset, as by a device that goes down.
 *
 * What has to hold:
 *
 *   woken    when nobody has anything to do, no port has a packet in its VOQ that might leave by the window
 *   bounded  what is outstanding is less than the window and a packet for each port
 *
 * CONTROLS are also packets of other VOQs: they go before a port's turn, and meanwhile its FIFO may get busy.
 *
 * -DNO_LOOK, -DNO_WAIT_BARRIER, -DNO_PASS_BARRIER, -DNO_CALL_BARRIER, -DNO_BITS_BARRIER, -DNO_PASS_TAKE, -DNO_PASS_HELD,
 * -DNO_PASS_DOWN, -DNO_PASS_STOPPED, -DNO_PASS_BUSY and -DNO_PASS_LATER leave out one rule each: then the first fails. With
 * -DNO_WINDOW the second does.
 */
#ifndef PORTS
#define PORTS	2
#endif
#ifndef WINDOW
#define WINDOW	2	/* packets */
#endif
#ifndef SENDS
#define SENDS	4
#endif
#ifndef STOPS
#define STOPS	0
#endif
#ifndef HOLDS
#define HOLDS	0
#endif
#ifndef DOWNS
#define DOWNS	0
#endif
#ifndef OTHERS
#define OTHERS	0	/* times that a FIFO gets busy */
#endif
#ifndef CONTROLS
#define CONTROLS 0	/* packets of others, which go before the VOQ */
#endif

/* struct floodgate_dest */
byte out, held;
chan row = [PORTS] of { byte };	/* .waiting, */
byte waiters;			/* how many there are */
bool locked;			/* .lock */

/* struct floodgate_slot, floodgate_sched, of each port */
byte voq[PORTS], outstanding[PORTS], mail[PORTS];
bool ready[PORTS], waits[PORTS], turn[PORTS], paused[PORTS], called[PORTS], news[PORTS], busy[PORTS];

/* The device and the qdisc's SCHED bit */
bool scheduled[PORTS], stopped[PORTS], for_ever[PORTS];

byte sends, stops, holds, downs, others, controls;
byte doing;	/* ports that are in the middle of something */
bool lost;

#define WINDOW_LEFT	(out < WINDOW)
#define HAS_WINDOW(p)	(!paused[p] && WINDOW_LEFT)

/* Has it something to do, or will it, whatever the others do? */
#define AWAKE(p)	((scheduled[p] && !stopped[p]) || (stopped[p] && !for_ever[p]))
#define MIGHT(p)	(voq[p] && !ready[p] && !stopped[p] && HAS_WINDOW(p))
#if PORTS == 2
#define ANY(f)		(f(0) || f(1))
#else
#define ANY(f)		(f(0) || f(1) || f(2))
#endif
#define LOST		(!doing && !ANY(AWAKE) && ANY(MIGHT))

/* -DREACH=... says that one of these never happens, which is wrong: the model does not idle. */
#define DEBT	(out == WINDOW + PORTS - 1)
#define STOPPED	(called[0] && stopped[0] && for_ever[0])
#define BOTH	(called[0] && called[1])
#define LATER	(turn[0] && busy[0] && ready[0] && waits[1] && WINDOW_LEFT)

inline call()
{
	atomic { !locked -> locked = true }
	do
	:: !waiters -> break
	:: waiters ->
		atomic { row?next; waiters--; waits[next] = false };
#ifdef NO_CALL_BARRIER
		scheduled[next] = true;
#endif
#ifdef NO_BITS_BARRIER
		news[next] = true;
		called[next] = true;
#else
		called[next] = true;
		news[next] = true;
#endif
#ifndef NO_CALL_BARRIER
		scheduled[next] = true;
#endif
		if
#ifndef NO_PASS_STOPPED
		:: stopped[next]
#endif
		:: else -> break
		fi
	od;
	atomic { next = 0; locked = false }
}

inline pass_on()
{
	if
	:: waiters ->
		if
		:: WINDOW_LEFT -> call()
		:: else
		fi
	:: else
	fi
}

/* What counts against the window is less than before. */
inline given_back(packets)
{
#ifdef NO_PASS_BARRIER
	look = waiters > 0;
	atomic { out = out - packets; packets = 0 }
	if
	:: atomic { look && WINDOW_LEFT -> look = false }; call()
	:: atomic { else -> look = false }
	fi
#else
	atomic { out = out - packets; packets = 0 }
	pass_on()
#endif
}

inline wait()
{
	if
	:: paused[me] -> pass_on()
	:: else ->
#ifdef NO_WAIT_BARRIER
		look = HAS_WINDOW(me);
#endif
		atomic {
			!locked ->
			if
			:: waits[me]
			:: !waits[me] -> row!me; waiters++; waits[me] = true
			fi
		}
#ifdef NO_LOOK
		look = false;
#endif
#if !defined(NO_WAIT_BARRIER) && !defined(NO_LOOK)
		look = HAS_WINDOW(me);
#endif
		if
		:: atomic { look -> look = false }; call()
		:: else
		fi
	fi
}

inline wait_no_more()
{
	atomic {
		!locked ->
		if
		:: waits[me] -> row??eval(me); waiters--; waits[me] = false
		:: !waits[me]
		fi
	}
	called[me] = false;
	turn[me] = false
}

inline enqueue()
{
	if
	:: voq[me] || paused[me] || held || !WINDOW_LEFT ->
		atomic { voq[me]++; held++ }
		if
		:: voq[me] == 1 -> wait()
		:: voq[me] > 1 && !ready[me] -> pass_on()
		:: else
		fi
	:: else ->
		atomic { out++; outstanding[me]++ }
	fi
}

inline hear()
{
	if
	:: atomic { news[me] -> news[me] = false };
		if
		:: atomic { mail[me] -> gone = mail[me]; mail[me] = 0; outstanding[me] = outstanding[me] - gone };
			given_back(gone)
		:: else
		fi;
		if
		:: atomic { called[me] -> called[me] = false };
			if
			:: ready[me]
			:: !ready[me] && !voq[me] -> pass_on()
			:: !ready[me] && voq[me] ->
				if
				:: HAS_WINDOW(me) ->
					atomic { ready[me] = true; turn[me] = !busy[me] };
#ifndef NO_PASS_BUSY
					if
					:: !turn[me] -> pass_on()
					:: else
					fi
#endif
				:: else -> wait()
				fi
			fi
		:: else
		fi
	:: else
	fi
}

inline take()
{
	atomic {
		voq[me]--; held--; outstanding[me]++;
		ready[me] = voq[me] > 0; turn[me] = false
	}
	out++;
#ifndef NO_PASS_TAKE
	pass_on()
#endif
}

/* A packet of the FIFO leaves. */
inline turn_lost()
{
#ifdef NO_PASS_LATER
	skip
#else
	if
	:: atomic { turn[me] -> turn[me] = false }; pass_on()
	:: else
	fi
#endif
}

inline dequeue()
{
	hear();
	if
	:: atomic { controls < CONTROLS -> controls++; scheduled[me] = true }
	:: busy[me] -> turn_lost()
	:: !busy[me] && !ready[me]
	:: !busy[me] && ready[me] ->
		if
#ifdef NO_WINDOW
		:: true -> take()
#else
		:: HAS_WINDOW(me) -> take()
#endif
		:: else -> atomic { ready[me] = false; turn[me] = false }; wait()
		fi
	fi
}

inline hold()
{
	paused[me] = !paused[me];
	if
	:: voq[me] && !paused[me] -> wait()
	:: voq[me] && paused[me] ->
		ready[me] = false;
		wait_no_more();
#ifndef NO_PASS_HELD
		pass_on()
#endif
	:: else
	fi
}

inline down()
{
	if
	:: voq[me] -> wait_no_more()
	:: else
	fi;
	atomic { held = held - voq[me]; voq[me] = 0; ready[me] = false; busy[me] = false }
#ifndef NO_PASS_DOWN
	pass_on()
#endif
}

inline sound()
{
	assert(out < WINDOW + PORTS);	/* bounded */
	lost = LOST;
	assert(!lost)			/* woken */
#ifdef REACH
	; assert(!(REACH))
#endif
}

inline told(p)
{
	mail[p]++;
	news[p] = true;
	scheduled[p] = true
}

inline done()
{
	atomic { doing--; sound() }
}

/* A port's processor. As long as the port has something to send it is asked. */
proctype port(byte me)
{
	byte next, gone;
	bool look;

end:	do
	:: atomic { sends < SENDS -> sends++; doing++ }; enqueue(); done()
	:: atomic { scheduled[me] && !stopped[me] -> scheduled[me] = false; doing++ };
		dequeue();
		atomic { scheduled[me] = scheduled[me] || (ready[me] && !busy[me]); done() }
	:: atomic { holds < HOLDS -> holds++; doing++ }; hold(); done()
	:: atomic { downs < DOWNS -> downs++; doing++ }; down(); done()
	:: atomic { others < OTHERS && !busy[me] -> others++; busy[me] = true; scheduled[me] = true }
	:: atomic { busy[me] -> busy[me] = false; scheduled[me] = true }
	od
}

/* Credits, and devices */
proctype line(byte p)
{
end:	do
	:: atomic { outstanding[p] > mail[p] -> doing++ }; told(p); done()
	:: atomic {
		stops < STOPS && !stopped[p] ->
		stops++; stopped[p] = true;
		if
		:: !called[p] -> for_ever[p] = true
		:: true
		fi;
		sound()
	}
	:: atomic { stopped[p] && !for_ever[p] -> stopped[p] = false; scheduled[p] = true }
	od
}

init {
	byte p;

	atomic {
		for (p : 0 .. PORTS - 1) {
			run port(p);
			run line(p)
		}
	}
}
