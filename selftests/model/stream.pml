// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.pml - a told state between two ports, for spin: every order of events, and some to replay
 *
 * D tells U three pages; of a page only one bit is looked at. Frames get lost, come twice and
 * overtake each other, in both directions. Both ports start anew, with frames of their earlier
 * life on the line. Either may lose the other and find it again. Rules and names are those of
 * kernel/hopctl; each transition is one of these:
 *
 *   here                  there
 *   change                hop_pause_inc(), hop_pause_dec(); hop_streams_collect(), pause_collect()
 *   collect               hop_stream_change()
 *   say                   hop_streams_write()
 *   said, PART            hop_stream_part(), hop_stream_said()
 *   DUE                   hop_stream_next()
 *   refuse                hop_streams_unsaid(), hop_stream_unsaid()
 *   TO_D, TO_U            hop_peer_speaks()
 *   take                  hop_streams_rx(), hop_stream_heard(), hop_paused_rx()
 *   echo                  hop_streams_write_acks()
 *   acked                 hop_streams_rx(), hop_stream_acked()
 *   tick                  hop_streams_expire()
 *   clear                 hop_paused_clear()
 *   drop_d                hop_peer_drop(), hop_streams_stop(), hop_stream_stop(), pause_stop()
 *   drop_u                the same, hop_paused_clear()
 *   learn_d               peer_confirm(), hop_range_put(), hop_streams_start(), hop_stream_start(),
 *                         pause_start()
 *   learn_u               peer_confirm(), hop_streams_forget()
 *   restart_d, restart_u  hop_streams_init(), hop_stream_init()
 *   lose_down, lose_up    the link
 *   again_down, again_up  the same
 *
 * How the ports learn each other's epochs is in hopctl.pml, which shows that only a port that lives
 * is confirmed: here each learns of the other at any time after a start or a loss, but before the
 * ticks that are counted.
 *
 * Time. A tick is what D's refresh and its slowest repetition take. A lease takes LEASE ticks. As a
 * rule time passes when nothing else is to be done, EARLY times before that.
 *
 * What has to hold:
 *
 *   epoch    what is believed was told in the epochs, of both ports, that are now
 *   resume   a resume that was echoed is not undone by an older pause
 *   heals    from the HEAL-th tick on after the last change, loss, refusal, start and early tick U
 *            believes what D tells, and all of it is echoed, for longer than a lease; frames may
 *            still come twice and overtake each other
 *
 * -DNO_EPOCH, -DNO_SEQ, -DNO_CHANGED, -DNO_LEASE, -DNO_REFRESH, -DNO_FORGET and -DNO_COUNT leave out
 * one rule each: then one of these fails.
 *
 * Each step is printed with the state behind it, in the words of replay.h: `traces` lets spin walk at
 * random, and unit/test_replay.c and kunit/test_replay.c go the same way.
 */
#ifndef CHANGES
#define CHANGES	2
#endif
#ifndef LOSSES
#define LOSSES	1	/* refusals included */
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef DROPS
#define DROPS	0
#endif
#ifndef EARLY
#define EARLY	1
#endif
#ifndef ROOM
#define ROOM	2	/* frames on the line, each way */
#endif
#ifndef RARE
#define RARE	true	/* when a port may start anew or lose the other */
#endif
#define LEASE	2
#ifndef HEAL
#define HEAL	2
#endif
#define ALL	7
#define SPAN(p)	((p) == 5 -> 7 : (p))	/* with what lies between */

mtype = { BEGIN, CHANGE, SAY, REFUSE, TAKE, ECHO, ACKED, TICK, DROP, LEARN, RESTART, LOSE, TWICE,
	  OVERTAKE };

chan down = [ROOM] of { byte, byte, byte, byte, byte };	/* epochs, number, pages, bits */
chan up = [ROOM] of { byte, byte, byte };		/* epochs, number */

/* D: struct hop_stream; sets of pages */
byte d_epoch = 1, d_peer = 1, seq, truth, unacked, changed[3];
bool d_up = true, fresh, whole = true, again, refresh = true;
byte resumed;		/* an echo said so */

/* U: struct hop_stream, hop_port.paused */
byte u_epoch = 1, u_peer = 1, rx_seq, view, lease, by, for_us;
bool u_up = true, rx_valid, acks;

byte changes, losses, early, drops, quiet;
byte mine, yours, number, pages, bits;

#define TOLD	(d_up -> truth : 0)	/* hop_stream.told, .held */
#define DUE	(d_up && (fresh || (unacked && again) || (truth && refresh)))
#define PART	((whole || (truth && !fresh && refresh) || !unacked) -> ALL : SPAN(unacked))
#define D_KNOWS	(d_up && d_peer == u_epoch)
#define U_KNOWS	(u_up && u_peer == d_epoch)
#define QUIET	(!len(down) && !len(up) && !DUE && !acks && D_KNOWS && U_KNOWS)
#ifdef NO_EPOCH
#define TO_U	u_up
#define TO_D	d_up
#else
#define TO_U	(u_up && mine == u_peer && yours == u_epoch)
#define TO_D	(d_up && mine == d_peer && yours == d_epoch)
#endif

/* pause_collect(), hop_stream_change() */
inline collect(page)
{
	changed[page] = seq + 1;
	unacked = unacked | 1 << page;
	resumed = resumed & (ALL - (1 << page));
	fresh = true
}

inline change(page)
{
	changes++; quiet = 0;
	truth = truth ^ 1 << page;
	if
	:: d_up -> collect(page)
	:: !d_up
	fi
}

inline said()
{
	pages = PART;
	seq++;
	fresh = false; whole = false; again = false;
	refresh = refresh && pages != ALL
}

inline say()
{
	said();
	down!d_epoch, d_peer, seq, pages, truth & pages
}

/* The device does not take the frame. */
inline refuse()
{
	losses++; quiet = 0;
	said();
	fresh = unacked || truth;
	whole = fresh
}

inline clear()
{
	view = 0; lease = 0; by = 0; for_us = 0
}

inline take()
{
	down?mine, yours, number, pages, bits;
	if
	:: !(TO_U)
	:: TO_U ->
		acks = true;
		if
#ifndef NO_SEQ
		:: rx_valid && number <= rx_seq
#endif
		:: else ->
			rx_valid = true; rx_seq = number;
			view = (view & (ALL - pages)) | bits;
			lease = LEASE; by = mine; for_us = yours;
			if
			:: !view -> clear()
			:: else
			fi
		fi
	fi
}

inline echo()
{
	up!u_epoch, u_peer, rx_seq;
	acks = false
}

inline acked()
{
	byte page;

	up?mine, yours, number;
	for (page : 0 .. 2) {
		if
#ifdef NO_CHANGED
		:: TO_D && (unacked & 1 << page) ->
#else
		:: TO_D && (unacked & 1 << page) && number >= changed[page] ->
#endif
			unacked = unacked - (1 << page); changed[page] = 0;
			resumed = resumed | (1 << page & ~truth)
		:: else
		fi
	}
	page = 0
}

inline tick()
{
	again = true;
#ifndef NO_REFRESH
	refresh = true;
#endif
	if
#ifndef NO_LEASE
	:: lease > 1 -> lease--
	:: lease == 1 -> clear()
#endif
	:: else
	fi
}

inline drop_d()
{
	quiet = 0;
	d_up = false;
	unacked = 0; changed[0] = 0; changed[1] = 0; changed[2] = 0; resumed = 0;
	fresh = false; whole = false; again = false; refresh = false
#ifdef NO_COUNT
	; seq = 0
#endif
}

inline drop_u()
{
	quiet = 0;
	u_up = false; acks = false;
	clear()
}

/* Another epoch gets other handles, by which nothing is paused. */
inline learn_d()
{
	byte p;

	drop_d();
	truth = (d_peer == u_epoch -> truth : 0);
	d_up = true; d_peer = u_epoch;
	whole = true; refresh = true;
	for (p : 0 .. 2) {
		if
		:: truth & 1 << p -> collect(p)
		:: else
		fi
	}
	p = 0
}

inline learn_u()
{
	drop_u();
#ifndef NO_FORGET
	if
	:: u_peer != d_epoch -> rx_valid = false; rx_seq = 0
	:: else
	fi;
#endif
	u_up = true; u_peer = d_epoch
}

inline restart_d()
{
	drop_d();
	d_epoch++; d_peer = 0; truth = 0; seq = 0
}

inline restart_u()
{
	drop_u();
	u_epoch++; u_peer = 0; rx_valid = false; rx_seq = 0
}

inline lose_down()
{
	losses++; quiet = 0;
	down?mine, yours, number, pages, bits
}

inline lose_up()
{
	losses++; quiet = 0;
	up?mine, yours, number
}

/* The first frame falls behind the others, or comes once more behind them. */
inline again_down(twice)
{
	if
	:: twice -> down?<mine, yours, number, pages, bits>
	:: else -> down?mine, yours, number, pages, bits
	fi;
	down!mine, yours, number, pages, bits
}

inline again_up(twice)
{
	if
	:: twice -> up?<mine, yours, number>
	:: else -> up?mine, yours, number
	fi;
	up!mine, yours, number
}

/* -DREACH=... says that one of these never happens, which is wrong: the model does not idle. */
#define D_ANEW	(d_epoch == 2 && D_KNOWS && U_KNOWS && view && view == truth && !unacked)
#define U_ANEW	(u_epoch == 2 && D_KNOWS && U_KNOWS && view && view == truth && !unacked)
#define LATE	(u_peer == 2 && rx_valid && mine == 1 && bits)	/* of D's earlier life */
#define STALE	(pages && mine == u_peer && rx_valid && number < rx_seq)	/* of the same life */

#define D	0	/* whose event it is, or whose frame's */
#define U	1

inline sound(event, what)
{
	printf("{ REPLAY_%e, %d, { %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d } },\n", event, what,
	       d_up, TOLD, unacked, seq, DUE, (DUE -> PART : 0),
	       u_up, view, rx_valid, rx_seq, lease, acks);
	assert(!view || (u_up && by == u_peer && for_us == u_epoch));	/* epoch */
	assert(!(D_KNOWS && U_KNOWS && (view & resumed)));		/* resume */
	assert(quiet < HEAL || (view == TOLD && !unacked));		/* heals */
#ifdef REACH
	assert(!(REACH));
#endif
	mine = 0; yours = 0; number = 0; pages = 0; bits = 0
}

init {
	sound(BEGIN, 0);
	do
	:: atomic { d_peer && changes < CHANGES -> change(0); sound(CHANGE, 0) }
	:: atomic { d_peer && changes < CHANGES -> change(1); sound(CHANGE, 1) }
	:: atomic { d_peer && changes < CHANGES -> change(2); sound(CHANGE, 2) }
	:: atomic { !(QUIET) && early < EARLY -> early++; quiet = 0; tick(); sound(TICK, 0) }
	:: atomic { QUIET && quiet <= HEAL + LEASE -> quiet++; tick(); sound(TICK, 0) }
	:: atomic { QUIET && quiet > HEAL + LEASE -> break }
	:: atomic { RARE && drops < DROPS && d_up -> drops++; drop_d(); sound(DROP, D) }
	:: atomic { RARE && drops < DROPS && u_up -> drops++; drop_u(); sound(DROP, U) }
	:: atomic { RARE && d_epoch + u_epoch < 2 + RESTARTS -> restart_d(); sound(RESTART, D) }
	:: atomic { RARE && d_epoch + u_epoch < 2 + RESTARTS -> restart_u(); sound(RESTART, U) }
	:: atomic { DUE && nfull(down) -> say(); sound(SAY, 0) }
	:: atomic { DUE && losses < LOSSES -> refuse(); sound(REFUSE, 0) }
	:: atomic { losses < LOSSES && nempty(down) -> lose_down(); sound(LOSE, D) }
	:: atomic { nempty(down) && nfull(down) -> again_down(true); sound(TWICE, D) }
	:: atomic { len(down) > 1 -> again_down(false); sound(OVERTAKE, D) }
	:: atomic { !(D_KNOWS) -> learn_d(); sound(LEARN, D) }
	:: atomic { !(U_KNOWS) -> learn_u(); sound(LEARN, U) }
	:: atomic { nempty(down) -> take(); sound(TAKE, 0) }
	:: atomic { losses < LOSSES && nempty(up) -> lose_up(); sound(LOSE, U) }
	:: atomic { nempty(up) && nfull(up) -> again_up(true); sound(TWICE, U) }
	:: atomic { len(up) > 1 -> again_up(false); sound(OVERTAKE, U) }
	:: atomic { acks && nfull(up) -> echo(); sound(ECHO, 0) }
	:: atomic { nempty(up) -> acked(); sound(ACKED, 0) }
	od
}
