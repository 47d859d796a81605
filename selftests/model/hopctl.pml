// SPDX-License-Identifier: GPL-2.0-only
/*
 * hopctl.pml - pauses between two ports, for spin: every order of events, not a few
 *
 * D pauses one sub-queue of U, by its pause counter; U obeys. Frames get lost, overtake each other,
 * and one of them, whichever, is kept by somebody and played back for ever. Both
 * ports start anew, at any moment. Rules and names are those of kernel/hopctl: peer.c (epochs,
 * candidates, HELLO echo), stream.h (sequence numbers, ACK, lease, refresh), pause.c and
 * paused.c (PAUSE STATE).
 *
 *   here                 there, in kernel/hopctl
 *   send_hello           build_frame(); build_answer() for a candidate
 *   count                hop_pause_inc(), hop_pause_dec()
 *   send_state           pause_collect(), hop_stream_change(), hop_streams_write(), hop_stream_said()
 *   receive, SPEAKS      rx_frame(), hop_peer_speaks(), hop_peer_hello()
 *   refresh              peer_refresh()
 *   candidate, confirm   candidate_hello(), peer_confirm(), hop_streams_forget()
 *   peer_drop            hop_peer_drop(), hop_streams_stop(), hop_stream_stop()
 *   pause_rx             hop_streams_rx(), hop_stream_heard(), hop_paused_rx()
 *   pause_clear          hop_paused_clear()
 *   pause_acked          hop_stream_acked()
 *   tick                 hop_peer_expire(), hop_streams_expire()
 *   restart              a new port
 *   transmit, keep       the link, and who listens there
 *
 * What has to hold:
 *
 *   live     a sub-queue does not stay paused for ever that no packet at D holds a pause for
 *   epoch    a pause ends with the epochs, of both ports, in which it was said
 *   replay   who becomes the neighbour was alive when, or after, it was first heard
 *   resume   a resume that was echoed is not undone by an older pause
 *
 * -DNO_LEASE, -DNO_EPOCH, -DNO_ECHO and -DNO_SEQ leave out one rule each: then one of these fails.
 *
 * Time. HELLOs bear numbers instead of times. Only the first HELLOS of each life, and the first
 * STATES, get through as frames; those after them are lost, or, as far as they only show that
 * their sender lives, are part of a tick. A lease and a dead interval take two ticks. So all numbers
 * are small, and what goes on for ever goes on in ticks.
 */
#ifndef RESTARTS
#define RESTARTS 1	/* of either port */
#endif
#ifndef HELLOS
#define HELLOS	3	/* of each life */
#endif
#ifndef STATES
#define STATES	3	/* of each life of D */
#endif
#ifndef MOVES
#define MOVES	2	/* of the pause counter between 0 and 1, in each life of D */
#endif
#ifndef ROOM
#define ROOM	2	/* frames on their way from D */
#endif
#define LEASE	2	/* ticks */
#define DEAD	2
#define D	0
#define U	1

mtype = { HELLO, STATE, ACK };

typedef frame {
	mtype type;
	byte mine;
	byte yours;
	byte number;	/* HELLO: sent; STATE, ACK: sequence number */
	byte word;	/* HELLO: echo, 0 if not valid; STATE: paused? */
};

/* struct hop_port, hop_peer, hop_candidate */
typedef port {
	byte epoch;
	byte clock;	/* of HELLOs */
	bool up;
	byte peer;	/* epoch, kept when the neighbour is lost */
	byte sent;	/* of its newest HELLO */
	byte heard;	/* ticks ago */
	byte cand;	/* epoch of the candidate, 0 if there is none */
	byte seen;	/* our clock when it was first heard */
	byte cand_sent;
	bool alive;	/* it was alive then, or is: what we cannot know */
};

port p[2];
chan down = [ROOM] of { mtype, byte, byte, byte, byte };	/* from D */
chan up = [1] of { mtype, byte, byte, byte, byte };	/* from U */
frame kept, f, g;
bit kept_from;
bool played;	/* once in a tick */
bool cut;	/* nothing from U reaches D any more */

/* D: struct hop_stream, hop_port.pausing_dirty */
bool counter, word, unacked, resumed;	/* resumed: an echo said so */
byte seq, changed, moves;

/* U */
bool paused, rx_valid;
byte rx_seq, lease, by, for_us;

/* A frame gets on the line, perhaps before another, and may be kept. It may get lost later; if there
 * is no room it is lost at once.
 */
inline keep(i)
{
	if
	:: skip
	:: !kept.type ->
		kept.type = f.type; kept.mine = f.mine; kept.yours = f.yours;
		kept.number = f.number; kept.word = f.word; kept_from = i
	fi
}

inline transmit(i)
{
	if
	:: i == U && full(up)
	:: i == U && nfull(up) -> up!f.type, f.mine, f.yours, f.number, f.word
	:: i == D && full(down)
	:: i == D && nfull(down) -> down!f.type, f.mine, f.yours, f.number, f.word
	:: i == D && ROOM > 1 && len(down) == 1 ->
		down?g.type, g.mine, g.yours, g.number, g.word;
		down!f.type, f.mine, f.yours, f.number, f.word;
		down!g.type, g.mine, g.yours, g.number, g.word;
		g.type = 0; g.mine = 0; g.yours = 0; g.number = 0; g.word = 0
	fi;
	keep(i)
}

inline pause_clear()
{
	paused = false; lease = 0; by = 0; for_us = 0
}

/* hop_peer_drop() */
inline peer_drop(i)
{
	p[i].up = false;
	p[i].heard = 0;
	if
	:: i == U -> pause_clear()
	:: else -> word = false; unacked = false; changed = 0; resumed = false	/* hop_stream_stop() */
	fi
}

/* build_frame(), build_answer() */
inline send_hello(i, answer)
{
	p[i].clock++;
	f.type = HELLO; f.mine = p[i].epoch; f.number = p[i].clock;
	if
	:: p[i].up && !(answer) -> f.yours = p[i].peer; f.word = p[i].sent
	:: else -> f.yours = p[i].cand; f.word = p[i].cand_sent
	fi;
	transmit(i)
}

inline count()
{
	moves++;
	counter = !counter
}

/* hop_stream_change(), hop_streams_write() */
inline send_state()
{
	seq++;
	if
	:: word != counter -> word = counter; changed = seq; unacked = true; resumed = false
	:: else
	fi;
	f.type = STATE; f.mine = p[D].epoch; f.yours = p[D].peer; f.number = seq; f.word = word;
	transmit(D)
}

/* peer_confirm() */
inline confirm(i)
{
	assert(p[i].alive);	/* replay */
	peer_drop(i);
	if
	:: p[i].peer != p[i].cand && i == U -> rx_valid = false; rx_seq = 0
	:: else
	fi;
	p[i].up = true;
	p[i].peer = p[i].cand;
	p[i].sent = f.number;
	p[i].cand = 0; p[i].seen = 0; p[i].cand_sent = 0; p[i].alive = false
}

/* candidate_hello() */
inline candidate(i)
{
	if
	:: f.mine == p[i].peer && f.number <= p[i].sent	/* rx_stale */
	:: f.mine == p[i].cand && f.number <= p[i].cand_sent
	:: else ->
		if
		:: f.mine != p[i].cand ->
			p[i].cand = f.mine; p[i].seen = p[i].clock + 1; p[i].alive = false
		:: else
		fi;
		p[i].alive = p[i].alive || f.mine == p[1 - i].epoch;
		p[i].cand_sent = f.number;
		if
#ifdef NO_ECHO
		:: f.yours == p[i].epoch && f.word -> confirm(i)
#else
		:: f.yours == p[i].epoch && f.word && f.word >= p[i].seen -> confirm(i)
#endif
		:: else
		fi
	fi
}

/* peer_refresh() */
inline refresh(i)
{
	if
	:: f.number <= p[i].sent	/* rx_stale */
	:: else ->
		p[i].heard = 0;
		if
		:: f.yours && f.yours != p[i].epoch	/* an answer to a candidate */
		:: else -> p[i].sent = f.number
		fi
	fi
}

/* hop_stream_heard(), hop_paused_rx() */
inline pause_rx()
{
	if
#ifndef NO_SEQ
	:: rx_valid && f.number <= rx_seq	/* rx_stale */
#endif
	:: else ->
		rx_valid = true; rx_seq = f.number;
		p[U].heard = 0;
		if
		:: f.word -> paused = true; lease = LEASE; by = f.mine; for_us = f.yours
		:: else -> pause_clear()
		fi
	fi;
	f.type = ACK; f.mine = p[U].epoch; f.yours = p[U].peer; f.number = rx_seq; f.word = 0;
	transmit(U)
}

/* hop_stream_acked() */
inline pause_acked()
{
	if
	:: unacked && f.number >= changed -> unacked = false; changed = 0; resumed = !word
	:: else
	fi
}

/* rx_frame(); hop_peer_speaks() */
#ifdef NO_EPOCH
#define SPEAKS(i)	p[i].up
#else
#define SPEAKS(i)	(p[i].up && f.mine == p[i].peer && f.yours == p[i].epoch)
#endif

inline receive(i)
{
	if
	:: f.type == HELLO && p[i].up && f.mine == p[i].peer -> refresh(i)
	:: f.type == HELLO && !(p[i].up && f.mine == p[i].peer) -> candidate(i)
	:: f.type == STATE && SPEAKS(i) -> pause_rx()
	:: f.type == ACK && SPEAKS(i) -> pause_acked()
	:: else	/* rx_epoch */
	fi
}

inline restart(i)
{
	p[i].epoch++;
	p[i].clock = 0;
	peer_drop(i);
	p[i].peer = 0; p[i].sent = 0;
	p[i].cand = 0; p[i].seen = 0; p[i].cand_sent = 0; p[i].alive = false;
	if
	:: i == U -> rx_valid = false; rx_seq = 0
	:: else -> counter = false; seq = 0; changed = 0; moves = 0
	fi
}

/* hop_peer_expire(), hop_streams_expire(). A HELLO of the other, if it has us for its neighbour or
 * for nobody, may have come in this tick.
 */
inline tick(i)
{
	if
	:: p[i].up && p[i].peer == p[1 - i].epoch && !(i == D && cut) -> p[i].heard = 0
	:: p[i].up -> p[i].heard++
	:: !p[i].up
	fi;
	if
	:: p[i].up && p[i].heard >= DEAD -> peer_drop(i)
	:: else
	fi
}

inline clear_frame()
{
	f.type = 0; f.mine = 0; f.yours = 0; f.number = 0; f.word = 0
}

#define BOTH_UP	(p[D].up && p[D].peer == p[U].epoch && p[U].up && p[U].peer == p[D].epoch)

/* -DREACH=... says that one of these never happens, which is wrong: the model does not idle. */
#define D_ANEW	(p[D].epoch == 2 && BOTH_UP && paused)
#define U_ANEW	(p[U].epoch == 2 && BOTH_UP && paused)
#define D_DEAF	(cut && !p[D].up && p[U].up && paused)

inline sound()
{
	assert(!paused || (p[U].up && by == p[U].peer && for_us == p[U].epoch));	/* epoch */
	assert(!(BOTH_UP && resumed && paused));	/* resume */
#ifdef REACH
	assert(!(REACH));
#endif
}

init {
	byte i;

	/* both know each other */
	for (i : D .. U) {
		p[i].epoch = 1; p[i].clock = 1; p[i].up = true; p[i].peer = 1; p[i].sent = 1
	}
	i = 0;
	do
	:: atomic { p[D].clock < HELLOS -> send_hello(D, false); clear_frame(); sound() }
	:: atomic { p[U].clock < HELLOS -> send_hello(U, false); clear_frame(); sound() }
	:: atomic { p[D].clock < HELLOS && p[D].up && p[D].cand -> send_hello(D, true); clear_frame(); sound() }
	:: atomic { p[U].clock < HELLOS && p[U].up && p[U].cand -> send_hello(U, true); clear_frame(); sound() }
	:: atomic { moves < MOVES -> count(); sound() }
	:: atomic { p[D].up && seq < STATES && (word != counter || unacked || word) ->
		send_state(); clear_frame(); sound() }
	:: atomic { down?f.type, f.mine, f.yours, f.number, f.word ->
		if
		:: receive(U)
		:: skip	/* lost */
		fi;
		clear_frame(); sound() }
	:: atomic { up?f.type, f.mine, f.yours, f.number, f.word ->
		if
		:: !cut -> receive(D)
		:: skip
		fi;
		clear_frame(); sound() }
	:: atomic { kept.type && !played -> played = true;
		f.type = kept.type; f.mine = kept.mine; f.yours = kept.yours;
		f.number = kept.number; f.word = kept.word;
		if
		:: kept_from == D -> receive(U)
		:: kept_from == U && !cut -> receive(D)
		:: else
		fi;
		clear_frame(); sound() }
	:: atomic { p[D].epoch + p[U].epoch < 2 + RESTARTS -> restart(D); sound() }
	:: atomic { p[D].epoch + p[U].epoch < 2 + RESTARTS -> restart(U); sound() }
#ifdef CUT
	:: atomic { !cut -> cut = true }
#endif
	:: atomic { true ->	/* a tick */
		played = false;
#ifndef NO_LEASE
		if
		:: lease > 1 -> lease--
		:: lease == 1 -> pause_clear()
		:: else
		fi;
#endif
		tick(D); tick(U); sound() }
	od
}

ltl live { []<> !(paused && !counter) }
