// SPDX-License-Identifier: GPL-2.0-only
/*
 * ledger.pml - bytes outstanding between two ports, for spin: every order of events, not a few
 *
 * S sends frames of one key, each one byte long, by two transmit queues. R queues them, and they
 * leave. Names and rules are those of kernel/hopctl/ledger.h:
 *
 *   here                 there
 *   send                 hop_ledger_sent()
 *   end_block            hop_ledger_tx_end(), hop_ledger_tx_catch_up()
 *   ENDED                hop_ledger_tx_ended()
 *   told                 hop_ledger_told(), hop_ledger_acked()
 *   OUTSTANDING, ASKS    hop_ledger_outstanding(), hop_ledger_asks()
 *   start_s              hop_ledger_tx_start(), and new keys
 *   received             hop_ledger_received()
 *   ended                hop_ledger_ended(), hop_ledger_rx_begin_end(), hop_ledger_rx_catch_up()
 *   leave                hop_ledger_left()
 *   tell                 hop_ledger_balance()
 *   know_s               hop_ledger_rx_restart()
 *   start_r              all is 0
 *   transmit_end, ask, tick, know_r    the caller
 *   arrive, listen, lose    the link
 *
 * What is caught up with per key when the key is used is done at once here. How the ports learn each
 * other's epochs is in hopctl.pml: here each knows the other's some time after a start.
 *
 * Data and END keep their order in a transmit queue, and have none between the two. What R tells
 * overtakes what it told before. Frames of all kinds get lost, LOSSES of them. A timer sends END
 * again, asks, or ends a block, whatever is due: as a rule when nothing else can happen any more,
 * EARLY times before that. Ports start anew, RESTARTS times, with frames on their way. R's queue
 * goes with it.
 *
 * What has to hold:
 *
 *   safe     outstanding is at least what is on its way and what is queued, of this life of S; and of
 *            its earlier lives, too, once a balance has come
 *   heals    outstanding is 0, and the model ends, after at most TICKS of the timer since the last
 *            frame was sent or lost and the last port started
 *
 * -DNO_ORDER, -DNO_QUEUES, -DNO_MARK, -DNO_FLUSH and -DNO_EPOCH leave out one rule each: then the
 * first fails. With -DNO_WAIT, -DNO_REPEAT and -DNO_ASK the second does.
 *
 * Each step uses up something that is bounded, so no run goes on for ever, and what happens in the
 * end is seen in states alone.
 */
#ifndef SENDS
#define SENDS	3
#endif
#ifndef LOSSES
#define LOSSES	2
#endif
#ifndef EARLY
#define EARLY	1
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef TICKS
#define TICKS	5
#endif
#define ROOM	3	/* frames on their way by one transmit queue */
#define ZERO	16	/* of a balance that is told */

mtype = { DATA, END };
mtype = { UNKNOWN, FLUSHED, VALID };

/* struct hop_ledger_tx, _tx_key */
byte s_epoch, s_peer, block, sent, through[2], s_told;
short released;
bool acked, heard;	/* heard: a balance in this life */
bool due[2];		/* END is due by this queue */
byte asked;		/* block that R was asked in */

/* struct hop_ledger_rx, _rx_key */
byte r_epoch, r_peer, complete, ending, open, next, queued;
mtype state;
bool missing[2], gathering, r_tell, r_ack;

chan line0 = [ROOM] of { mtype, byte, byte, byte };	/* epochs; mark or block */
chan line1 = [ROOM] of { mtype, byte, byte, byte };
chan back = [2] of { byte, byte, bool, byte, byte };	/* epochs; with a balance? block; balance */

/* What neither of them knows */
byte flying, flying_own, waiting_own;	/* own: of this life of S */
byte sends, losses, early, restarts, ticks;

mtype type;
byte mine, yours, number, balance, balance2;
bool valid, valid2;

#define OUTSTANDING	(sent - released)
#define ENDED		(block - 1)
#define ASKS		(OUTSTANDING != 0 && s_told + (1 - acked) < ENDED)
#define KNOWN		(s_peer == r_epoch && r_peer == s_epoch)
#define QUIET		(empty(line0) && empty(line1) && empty(back) && !due[0] && !due[1] && \
			 !queued && !r_tell && !r_ack && KNOWN)

inline send(line)
{
	line!DATA, s_epoch, 0, block % 2;
	sent++; flying++; flying_own++; sends++; ticks = 0
}

inline end_block()
{
	through[block % 2] = sent;
	block++;
	acked = false;
	due[0] = true; due[1] = true
}

inline transmit_end(line, i)
{
	due[i] = false;
#ifdef NO_ORDER
	if	/* ahead of one other */
	:: len(line) == 1 ->
		line?type, mine, yours, number;
		line!END, s_epoch, s_peer, ENDED;
		line!type, mine, yours, number
	:: line!END, s_epoch, s_peer, ENDED
	fi
#else
	line!END, s_epoch, s_peer, ENDED
#endif
}

#ifdef NO_EPOCH
#define TO_R	true
#define TO_S	true
#else
#define TO_R	(mine == r_peer && yours == r_epoch)
#define TO_S	(mine == s_peer && yours == s_epoch)
#endif

inline received()
{
	queued++;
	if
	:: mine == s_epoch -> waiting_own++
	:: else
	fi;
	if
#ifdef NO_MARK
	:: gathering && ending == complete + 1 -> next++
#else
	:: number == complete % 2 -> next++
#endif
	:: else -> open++
	fi
}

inline ended(i)
{
	if
	:: state != UNKNOWN && number == complete -> r_ack = true
	:: else ->
		if
		:: !gathering || number != ending ->
			if
			:: state != UNKNOWN && number != complete + 1 -> state = UNKNOWN
			:: else
			fi;
			gathering = true; ending = number;
			missing[0] = true; missing[1] = true
		:: else
		fi;
		missing[i] = false;
#ifdef NO_QUEUES
		missing[1 - i] = false;
#endif
		if
		:: !missing[1 - i] ->
			gathering = false; ending = 0;
			complete = number; open = next; next = 0; r_ack = true;
#ifdef NO_FLUSH
			state = VALID
#else
			if
			:: state == UNKNOWN -> state = FLUSHED
			:: else -> state = VALID
			fi
#endif
		:: else
		fi
	fi
}

inline lose()
{
	losses++; ticks = 0
}

inline arrive(line, i)
{
	line?type, mine, yours, number;
	if
	:: type == DATA ->
		flying--;
		if
		:: mine == s_epoch -> flying_own--
		:: else
		fi
	:: else
	fi;
	if
	:: type == DATA -> received()
	:: type == END && TO_R -> ended(i)
	:: type == END && !TO_R
	:: losses < LOSSES -> lose()
	fi
}

inline leave()
{
	if	/* the next one of the queue may be of any life of S */
	:: waiting_own -> waiting_own--
	:: queued > waiting_own
	fi;
	queued--;
	r_tell = true
}

/* What is told gets on its way, perhaps before what was told earlier. */
inline tell()
{
	if
	:: r_tell && state == VALID -> valid = true; balance = ZERO + open + next - queued
	:: else
	fi;
	if
	:: state == UNKNOWN || !(valid || r_ack)
	:: else ->
		if
		:: back!r_epoch, r_peer, valid, complete, balance
		:: len(back) == 1 ->
			back?mine, yours, valid2, number, balance2;
			back!r_epoch, r_peer, valid, complete, balance;
			back!mine, yours, valid2, number, balance2;
			valid2 = false; balance2 = 0
		fi
	fi;
	r_tell = false; r_ack = false
}

inline told()
{
	if
	:: number == ENDED -> acked = true
	:: else
	fi;
	if
	:: valid && number && number <= ENDED && ENDED - number <= 1 && number >= s_told ->
		if
		:: through[number % 2] + balance - ZERO <= sent &&
		   (number > s_told || through[number % 2] + balance - ZERO > released) ->
			s_told = number; heard = true;
			released = through[number % 2] + balance - ZERO
		:: else
		fi
	:: else
	fi
}

inline listen()
{
	back?mine, yours, valid, number, balance;
	if
	:: TO_S -> told()
	:: !(TO_S)
	:: losses < LOSSES -> lose()
	fi
}

/* A question comes, or is lost. */
inline ask()
{
	asked = block;
	if
	:: r_tell = true
	:: losses < LOSSES -> lose()
	fi
}

inline tick()
{
	if
#ifndef NO_REPEAT
	:: !acked -> due[0] = true; due[1] = true
#else
	:: !acked
#endif
#ifndef NO_ASK
	:: acked && ASKS && asked != block -> ask()
	:: acked && !(ASKS && asked != block) -> end_block()
#else
	:: acked -> end_block()
#endif
	fi
}

inline start_s()
{
	s_epoch++; s_peer = 0;
	block = 1; acked = false; due[0] = false; due[1] = false; asked = 0;
	sent = 0; through[0] = 0; through[1] = 0; released = 0; s_told = 0; heard = false;
	flying_own = 0; waiting_own = 0
}

inline start_r()
{
	r_epoch++; r_peer = 0;
	state = UNKNOWN; complete = 0; ending = 0; gathering = false;
	missing[0] = false; missing[1] = false;
	open = 0; next = 0; queued = 0; r_tell = false; r_ack = false;
	waiting_own = 0
}

inline know_r()
{
	s_peer = r_epoch;
	due[0] = !acked; due[1] = !acked
}

inline know_s()
{
	r_peer = s_epoch;
	state = UNKNOWN; gathering = false; ending = 0; r_tell = false; r_ack = false
}

/* -DREACH=... says that one of these never happens, which is wrong: the model does not idle. */
#define LOST	(losses && released == SENDS && !open && !next && !queued)	/* and made good */
#define S_ANEW	(s_epoch == 2 && heard && OUTSTANDING > sent)	/* what waits of its earlier life */
#define R_ANEW	(r_epoch == 2 && state == VALID && released == SENDS)
#define APART	(gathering && next)	/* it has ended by one queue, and data of the next has come */
#define UNHEARD	(losses == LOSSES && !heard && sent == SENDS && asked)	/* no balance has come */

inline sound()
{
	assert(OUTSTANDING >= flying_own + waiting_own);	/* safe */
	assert(!heard || OUTSTANDING >= flying + queued);	/* safe, of all lives */
	assert(ticks <= TICKS);					/* heals */
#ifdef REACH
	assert(!(REACH));
#endif
	type = 0; mine = 0; yours = 0; number = 0; balance = 0; valid = false
}

init {
	s_epoch = 1; r_epoch = 1; s_peer = 1; r_peer = 1;
	block = 1; due[0] = true; due[1] = true; state = UNKNOWN;
	do
	:: atomic { sends < SENDS && nfull(line0) -> send(line0); sound() }
	:: atomic { sends < SENDS && nfull(line1) -> send(line1); sound() }
	:: atomic { due[0] && s_peer && nfull(line0) -> transmit_end(line0, 0); sound() }
	:: atomic { due[1] && s_peer && nfull(line1) -> transmit_end(line1, 1); sound() }
	:: atomic { nempty(line0) -> arrive(line0, 0); sound() }
	:: atomic { nempty(line1) -> arrive(line1, 1); sound() }
	:: atomic { queued -> leave(); sound() }
	:: atomic { (r_tell || r_ack) && r_peer && nfull(back) -> tell(); sound() }
	:: atomic { nempty(back) -> listen(); sound() }
	:: atomic { s_peer != r_epoch -> know_r(); sound() }
	:: atomic { r_peer != s_epoch -> know_s(); sound() }
	:: atomic { early < EARLY && s_peer -> early++; tick(); sound() }
#ifdef NO_WAIT
	:: atomic { early < EARLY && !acked -> early++; end_block(); sound() }
#endif
	:: atomic { s_epoch + r_epoch < 2 + RESTARTS -> start_s(); ticks = 0; sound() }
	:: atomic { s_epoch + r_epoch < 2 + RESTARTS -> start_r(); ticks = 0; sound() }
	:: atomic { QUIET && OUTSTANDING != 0 -> ticks++; tick(); sound() }
	:: atomic { QUIET && OUTSTANDING == 0 -> break }
	od
}
