// SPDX-License-Identifier: GPL-2.0-only
/*
 * test_ledger.c - is outstanding what is on its way and queued, whatever gets lost?
 *
 * First cases with one or two frames, whose bytes are known. Then a link by chance: it knows which
 * frames are on it and which wait behind it, since it is it that moves them. No expectation is
 * from the code.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kernel/hopctl/ledger.h"
#include "unit.h"

/* Two ends that know each other, with so many transmit queues; blocks 0 and 1 are complete. */
static struct hop_ledger_tx tx;
static struct hop_ledger_rx rx;
static struct hop_ledger_tx_key up;
static struct hop_ledger_rx_key down;

static bool ends(u16 queues)
{
	bool complete = false;
	u16 queue;

	for (queue = 0; queue < queues; queue++)
		complete = hop_ledger_ended(&rx, hop_ledger_tx_ended(&tx), queue, queues);
	if (complete)
		hop_ledger_acked(&tx, rx.complete);
	return complete;
}

static void begin(u16 queues)
{
	memset(&rx, 0, sizeof(rx));
	memset(&up, 0, sizeof(up));
	memset(&down, 0, sizeof(down));
	hop_ledger_tx_start(&tx);
	ends(queues);
	hop_ledger_tx_end(&tx);
	ends(queues);
}

static bool tell(void)
{
	return rx.state == HOP_LEDGER_VALID &&
	       hop_ledger_told(&tx, &up, rx.complete, hop_ledger_balance(&rx, &down));
}

static void pass(u32 bytes)
{
	hop_ledger_received(&rx, &down, hop_ledger_sent(&tx, &up, bytes), bytes);
}

static bool outstanding(u64 bytes)
{
	return hop_ledger_outstanding(&up) == bytes;
}

static void test_one_queue(void)
{
	begin(1);
	check(rx.state == HOP_LEDGER_VALID && tx.acked && outstanding(0),
	      "two complete blocks, and balances may be told");
	pass(1000);
	check(outstanding(1000), "sent and received: outstanding");
	tell();
	check(outstanding(1000), "a balance releases nothing of what is queued");
	hop_ledger_left(&down, 400);
	check(tell() && outstanding(600), "what has left is released");
	check(!tell() && outstanding(600), "told twice: once");
	hop_ledger_left(&down, 600);
	check(tell() && outstanding(0), "all has left");
	hop_ledger_sent(&tx, &up, 300);
	pass(200);
	hop_ledger_left(&down, 200);
	check(tell() && outstanding(300), "lost, or on its way: nobody knows");
	check(hop_ledger_tx_end(&tx) && !tell() && outstanding(300),
	      "a block has ended, and the receiver does not know it");
	check(ends(1) && tell() && outstanding(0), "complete: it was lost");
}

static void test_two_queues(void)
{
	unsigned int mark;

	begin(2);
	mark = hop_ledger_sent(&tx, &up, 700);	/* by queue 1, which waits */
	hop_ledger_tx_end(&tx);
	check(!hop_ledger_ended(&rx, 2, 0, 2) && rx.complete == 1,
	      "the end by one of two queues: not complete");
	check(!hop_ledger_ended(&rx, 2, 0, 2) && rx.complete == 1,
	      "twice by the same one: neither");
	pass(50);	/* by queue 0, of the block after */
	hop_ledger_left(&down, 50);
	check(tell() && outstanding(700), "what came of both blocks counts for the one before");
	hop_ledger_received(&rx, &down, mark, 700);
	check(hop_ledger_ended(&rx, 2, 1, 2) && rx.complete == 2, "by both: complete");
	check(tell() && outstanding(700), "the mark tells the blocks apart");
	hop_ledger_left(&down, 700);
	check(tell() && outstanding(0), "and all leaves");
	check(hop_ledger_ended(&rx, 2, 1, 2) && rx.complete == 2 && rx.state == HOP_LEDGER_VALID,
	      "END once more: said once more");
}

/* END is repeated until it is answered, and more data leaves meanwhile. */
static void test_repeated(void)
{
	begin(1);
	pass(100);
	hop_ledger_tx_end(&tx);	/* and END is lost */
	pass(30);
	check(ends(1) && tell() && outstanding(130), "behind data of the next block: the mark tells");
	hop_ledger_left(&down, 130);
	check(tell() && outstanding(0), "and all leaves");
}

static void test_ends(void)
{
	u16 queue;
	bool ok;

	begin(1);
	check(hop_ledger_tx_end(&tx) && !hop_ledger_tx_end(&tx), "one block at a time");
	hop_ledger_acked(&tx, 1);
	check(!tx.acked, "an old block is complete: the latest one is not");
	hop_ledger_acked(&tx, 3);
	check(!tx.acked, "nor by one to come");
	hop_ledger_acked(&tx, 2);
	check(tx.acked, "by its own number it is");
	begin(1);
	hop_ledger_tx_end(&tx);
	hop_ledger_told(&tx, &up, 2, 0);
	check(tx.acked, "or by a balance");
	begin(1);
	check(!hop_ledger_ended(&rx, 2, 0, 0) && !hop_ledger_ended(&rx, 2, 1, 1) &&
	      !hop_ledger_ended(&rx, 2, HOP_LEDGER_QUEUES, HOP_LEDGER_QUEUES + 1) &&
	      rx.complete == 1,
	      "END by a queue that there is not: ignored");
	ok = true;
	for (queue = HOP_LEDGER_QUEUES - 1; queue; queue--)
		ok &= !hop_ledger_ended(&rx, 2, queue, HOP_LEDGER_QUEUES);
	check(ok && hop_ledger_ended(&rx, 2, 0, HOP_LEDGER_QUEUES), "256 queues");
	check(!hop_ledger_ended(&rx, 3, 0, 2) && !hop_ledger_ended(&rx, 3, 1, 3) &&
	      !hop_ledger_ended(&rx, 3, 0, 3) && hop_ledger_ended(&rx, 3, 2, 3),
	      "another number of queues: from the start");
	check(hop_ledger_ended(&rx, 5, 0, 1) && rx.state == HOP_LEDGER_FLUSHED,
	      "a gap: as if the sender had started anew");
	check(hop_ledger_ended(&rx, 6, 0, 1) && rx.state == HOP_LEDGER_VALID, "for one block");
}

/* Credits in any order */
static void test_credits(void)
{
	s64 first, second;

	begin(1);
	pass(100);
	pass(100);
	hop_ledger_left(&down, 100);
	first = hop_ledger_balance(&rx, &down);
	hop_ledger_left(&down, 100);
	second = hop_ledger_balance(&rx, &down);
	check(hop_ledger_told(&tx, &up, 1, second) && outstanding(0) &&
	      !hop_ledger_told(&tx, &up, 1, first) && outstanding(0), "overtaken: ignored");
	hop_ledger_sent(&tx, &up, 7);
	hop_ledger_tx_end(&tx);
	check(!hop_ledger_told(&tx, &up, 1, second), "a block has ended, one before it is told");
	ends(1);
	check(tell() && outstanding(0) && !hop_ledger_told(&tx, &up, 1, second) && outstanding(0),
	      "of an older block: ignored");
	hop_ledger_sent(&tx, &up, 7);
	check(!hop_ledger_told(&tx, &up, 0, 7) && !hop_ledger_told(&tx, &up, 3, 7) &&
	      !hop_ledger_told(&tx, &up, 4, 7) && outstanding(7),
	      "of blocks too old or to come: ignored");
	check(!hop_ledger_told(&tx, &up, 2, 8) && outstanding(7), "more than was sent: ignored");
	check(hop_ledger_told(&tx, &up, 2, 7) && outstanding(0), "not more: taken");
	hop_ledger_tx_start(&tx);
	memset(&up, 0, sizeof(up));
	check(!hop_ledger_told(&tx, &up, 0, 0) && !hop_ledger_told(&tx, &up, -1, 0),
	      "of a block before the first: ignored");
}

/* All that the receiver told is lost, or all that it was to get. */
static void test_asks(void)
{
	begin(1);
	check(!hop_ledger_asks(&tx, &up), "nothing outstanding: nothing to ask");
	pass(100);
	hop_ledger_left(&down, 100);
	check(hop_ledger_asks(&tx, &up), "no balance ever: ask");
	tell();
	check(!hop_ledger_asks(&tx, &up), "told: not again");
	hop_ledger_sent(&tx, &up, 100);
	check(!hop_ledger_asks(&tx, &up), "nor if the rest is of a block that goes on");
	hop_ledger_tx_end(&tx);
	check(!hop_ledger_asks(&tx, &up), "nor while it may be incomplete");
	ends(1);
	check(hop_ledger_asks(&tx, &up), "but then");
	check(hop_ledger_told(&tx, &up, 2, 0) && outstanding(0) && !hop_ledger_asks(&tx, &up),
	      "0 says that all of it was lost");
	pass(70);
	hop_ledger_tx_end(&tx);
	ends(1);
	hop_ledger_tx_end(&tx);
	ends(1);
	check(hop_ledger_asks(&tx, &up), "and after a block in which nothing was sent");
	hop_ledger_tx_end(&tx);
	check(hop_ledger_asks(&tx, &up), "and while the next one may be incomplete");
	hop_ledger_left(&down, 70);
	check(tell() && outstanding(0),
	      "the answer is of the block before, in which nothing was sent");
}

static void test_restarts(void)
{
	begin(1);
	pass(500);
	hop_ledger_sent(&tx, &up, 90);
	memset(&rx, 0, sizeof(rx));
	memset(&down, 0, sizeof(down));
	check(outstanding(590), "the receiver starts anew: nothing is released yet");
	hop_ledger_received(&rx, &down, 0, 30);
	check(hop_ledger_tx_end(&tx) && ends(1) && rx.state == HOP_LEDGER_FLUSHED && !tell(),
	      "a block is complete, and there is no balance of it");
	check(hop_ledger_tx_end(&tx) && ends(1) && rx.state == HOP_LEDGER_VALID,
	      "of the next one there is");
	check(tell() && outstanding(30), "what was queued before is gone, what came since is not");

	begin(1);
	pass(500);
	hop_ledger_tx_start(&tx);
	memset(&up, 0, sizeof(up));
	hop_ledger_rx_restart(&rx);
	hop_ledger_sent(&tx, &up, 10);	/* is lost */
	hop_ledger_received(&rx, &down, 0, 40);	/* of its earlier life */
	check(ends(1) && rx.state == HOP_LEDGER_FLUSHED, "the sender starts anew: flushed");
	pass(20);
	check(hop_ledger_tx_end(&tx) && ends(1) && tell() && outstanding(560),
	      "what waits from its earlier life is outstanding");
	hop_ledger_left(&down, 560);
	check(tell() && outstanding(0), "and released when it has left");

	memset(&rx, 0, sizeof(rx));
	hop_ledger_ended(&rx, 0, 0, 2);
	hop_ledger_rx_restart(&rx);
	check(!hop_ledger_ended(&rx, 0, 1, 2) && hop_ledger_ended(&rx, 0, 0, 2),
	      "an end that an earlier sender has begun does not count for the next one");
}

/* What a link that does not keep order, or doubles frames, does is undone two blocks later. */
static void test_disorder(void)
{
	unsigned int late;

	begin(2);
	late = hop_ledger_sent(&tx, &up, 60);
	hop_ledger_tx_end(&tx);
	ends(2);
	check(tell() && outstanding(0), "a late frame: taken for lost");
	hop_ledger_received(&rx, &down, late, 60);
	hop_ledger_left(&down, 60);
	pass(100);
	pass(100);
	hop_ledger_left(&down, 100);
	check(tell() && outstanding(40), "it counts twice");
	hop_ledger_tx_end(&tx);
	ends(2);
	hop_ledger_tx_end(&tx);
	ends(2);
	check(tell() && outstanding(100), "two blocks later it does not");

	begin(2);
	pass(100);
	hop_ledger_received(&rx, &down, tx.block & 1, 100);
	hop_ledger_left(&down, 200);
	check(!tell() && outstanding(100), "a frame that comes twice: more than was sent");
	hop_ledger_sent(&tx, &up, 100);
	check(tell() && outstanding(0), "or what is on its way is taken for released");
	hop_ledger_tx_end(&tx);
	pass(70);
	ends(2);
	check(tell() && outstanding(70), "a block later it is not");
}

/* Numbers shortly before they wrap */
static void test_wraps(void)
{
	bool ok = true;
	unsigned int i;

	begin(2);
	tx.block = UINT32_MAX - 1;
	tx.acked = false;
	ends(2);
	hop_ledger_tx_end(&tx);
	ends(2);
	up.sent = -1500;
	up.released = up.sent;
	for (i = 0; i < 6; i++) {
		pass(300);
		hop_ledger_sent(&tx, &up, 200);
		hop_ledger_tx_end(&tx);
		ok &= ends(2) && tell() && outstanding(300);
		hop_ledger_left(&down, 300);
		ok &= tell() && outstanding(0);
	}
	check(ok && tx.block > UINT32_MAX && up.sent == 1500 && rx.complete == (u32)(tx.block - 1),
	      "numbers of blocks and sums wrap");
}

static void test_idle(void)
{
	begin(1);
	check(hop_ledger_tx_idle(&tx, &up) && hop_ledger_rx_idle(&rx, &down), "unused: idle");
	pass(100);
	check(!hop_ledger_tx_idle(&tx, &up) && !hop_ledger_rx_idle(&rx, &down), "queued: not idle");
	hop_ledger_left(&down, 100);
	tell();
	check(outstanding(0) && !hop_ledger_tx_idle(&tx, &up) && !hop_ledger_rx_idle(&rx, &down),
	      "nor while the balance has it");
	hop_ledger_tx_end(&tx);
	check(!hop_ledger_tx_idle(&tx, &up), "nor while it may still be told");
	ends(1);
	check(!hop_ledger_tx_idle(&tx, &up) && hop_ledger_rx_idle(&rx, &down),
	      "a complete block later at the receiver");
	hop_ledger_tx_end(&tx);
	check(hop_ledger_tx_idle(&tx, &up), "two at the sender");
}

/*
 * The link. Data and ENDs go by LANES lines that keep their order; all else overtakes anything.
 *
 *	sender --+--- lane 0 ---+-- receiver -- one queue for each key
 *	         +--- lane 1 ---+
 *	         ...
 *
 * Time is steps. Both ends repeat what is due each REPEAT steps.
 */
#define KEYS	3
#define LANES	4
#define ROOM	512	/* of a lane, a queue */
#define FAR	256	/* control frames on their way */
#define DELAY	15	/* of one, steps, at most */
#define REPEAT	(4 * DELAY)
#define WINDOW	20000

enum what { DATA, END, TOLD, ASK };

struct frame {
	enum what	what;
	u32		mine, yours;	/* epochs */
	u64		due;		/* control frames */
	unsigned int	key;
	u32		bytes;
	unsigned int	mark;
	u32		block;
	u16		lane, lanes;
	bool		valid;
	s64		balance;
};

struct line {
	struct frame	frames[ROOM];
	unsigned int	head, count;
};

static struct {
	u32			epoch, peer;
	struct hop_ledger_tx	tx;
	struct hop_ledger_tx_key keys[KEYS];
	u64			end_at, next_end_at, ask_at;
	bool			ends[LANES];	/* END is due by it, when it has room */
	bool			heard[KEYS];	/* a balance since the start */
} s;

static struct {
	u32			epoch, peer;
	struct hop_ledger_rx	rx;
	struct hop_ledger_rx_key keys[KEYS];
	bool			tell[KEYS];
	bool			ack;
} r;

static struct line lanes[LANES], queues[KEYS];
static struct frame to_s[FAR], to_r[FAR];
static unsigned int n_to_s, n_to_r, n_lanes;

/* What the link knows */
static u64 now, flying[KEYS], flying_own[KEYS], waiting[KEYS], waiting_own[KEYS];
static u64 lost_frames, restarts, longest;
static u32 epochs;
static unsigned int loss, control_loss;	/* of 1024 */
static bool deaf;	/* nothing gets back to the sender */
static bool safe, bounded;

static bool chance(unsigned int of_1024)
{
	return random64() % 1024 < of_1024;
}

static bool put(struct line *l, const struct frame *f)
{
	if (l->count == ROOM)
		return false;
	l->frames[(l->head + l->count++) % ROOM] = *f;
	return true;
}

static struct frame take(struct line *l)
{
	struct frame f = l->frames[l->head];

	l->head = (l->head + 1) % ROOM;
	l->count--;
	return f;
}

static void fly(struct frame *far, unsigned int *n, struct frame f)
{
	unsigned int copies = 1 + chance(control_loss / 4);

	while (copies--) {
		if (*n == FAR || chance(control_loss) || (far == to_s && deaf)) {
			lost_frames++;
			continue;
		}
		f.due = now + random64() % DELAY;
		far[(*n)++] = f;
	}
}

/* Own: of the sender's present life */
static void sent(unsigned int key, unsigned int lane, u32 bytes)
{
	struct frame f = { DATA, s.epoch, .key = key, .bytes = bytes };

	if (lanes[lane].count == ROOM)
		return;
	f.mark = hop_ledger_sent(&s.tx, &s.keys[key], bytes);
	put(&lanes[lane], &f);
	flying[key] += bytes;
	flying_own[key] += bytes;
}

static void send_ends(void)
{
	struct frame f = { END, s.epoch, s.peer, .block = hop_ledger_tx_ended(&s.tx) };
	unsigned int i;

	for (i = 0; i < n_lanes; i++) {
		f.lane = i;
		f.lanes = n_lanes;
		/* as a real one: it may have to wait, and then others go first */
		if (s.ends[i] && chance(300) && put(&lanes[i], &f))
			s.ends[i] = false;
	}
}

/* What is due is due on all lanes. */
static void end_due(void)
{
	unsigned int i;

	for (i = 0; i < n_lanes; i++)
		s.ends[i] = true;
	s.end_at = now + REPEAT;
}

static void sender(void)
{
	unsigned int key;
	bool wants = false;

	for (key = 0; key < KEYS; key++)
		wants |= hop_ledger_outstanding(&s.keys[key]) != 0;
	if (!s.peer)
		return;
	if (wants && now >= s.next_end_at && hop_ledger_tx_end(&s.tx)) {
		s.next_end_at = now + REPEAT + random64() % REPEAT;
		end_due();
	}
	if (!s.tx.acked && now >= s.end_at)
		end_due();
	send_ends();
	if (now < s.ask_at)
		return;
	s.ask_at = now + REPEAT / 2;
	for (key = 0; key < KEYS; key++)
		if (hop_ledger_asks(&s.tx, &s.keys[key]))
			fly(to_r, &n_to_r, (struct frame){ ASK, s.epoch, s.peer, .key = key });
}

static void receiver(void)
{
	struct frame f = { TOLD, r.epoch, r.peer, .block = r.rx.complete };
	unsigned int key;
	bool any = false;

	if (!r.peer || r.rx.state == HOP_LEDGER_UNKNOWN)
		return;
	for (key = 0; key < KEYS; key++) {
		if (!r.tell[key] || r.rx.state != HOP_LEDGER_VALID || !chance(400))
			continue;
		r.tell[key] = false;
		any = true;
		f.key = key;
		f.valid = true;
		f.balance = hop_ledger_balance(&r.rx, &r.keys[key]);
		fly(to_s, &n_to_s, f);
	}
	if (r.ack && !any) {
		f.valid = false;
		fly(to_s, &n_to_s, f);
	}
	r.ack = false;
}

static void arrives(unsigned int lane)
{
	struct frame f = take(&lanes[lane]);
	bool own = f.mine == s.epoch, is_lost = chance(f.what == DATA ? loss : control_loss);

	if (f.what == DATA) {
		flying[f.key] -= f.bytes;
		if (own)
			flying_own[f.key] -= f.bytes;
		is_lost |= queues[f.key].count == ROOM;
	}
	if (is_lost) {
		lost_frames++;
		return;
	}
	if (f.what == DATA) {
		hop_ledger_received(&r.rx, &r.keys[f.key], f.mark, f.bytes);
		put(&queues[f.key], &f);
		waiting[f.key] += f.bytes;
		if (own)
			waiting_own[f.key] += f.bytes;
	} else if (f.mine == r.peer && f.yours == r.epoch &&
		   hop_ledger_ended(&r.rx, f.block, f.lane, f.lanes)) {
		r.ack = true;
	}
}

static void leaves(unsigned int key)
{
	struct frame f = take(&queues[key]);

	hop_ledger_left(&r.keys[key], f.bytes);
	waiting[key] -= f.bytes;
	if (f.mine == s.epoch)
		waiting_own[key] -= f.bytes;
	r.tell[key] = true;
}

/* Each learns of the other's epoch, each at its time: hopctl.pml is about that. */
static void hello(void)
{
	if (s.peer != r.epoch && chance(100)) {
		s.peer = r.epoch;
		s.end_at = 0;
	}
	if (r.peer != s.epoch && chance(100)) {
		r.peer = s.epoch;
		hop_ledger_rx_restart(&r.rx);
	}
}

static void control(void)
{
	unsigned int i;
	struct frame f;

	for (i = 0; i < n_to_r; i++) {
		if (to_r[i].due > now)
			continue;
		f = to_r[i];
		to_r[i--] = to_r[--n_to_r];
		if (f.mine == r.peer && f.yours == r.epoch)
			r.tell[f.key] = true;
	}
	for (i = 0; i < n_to_s; i++) {
		if (to_s[i].due > now)
			continue;
		f = to_s[i];
		to_s[i--] = to_s[--n_to_s];
		if (f.mine != s.peer || f.yours != s.epoch)
			continue;
		if (!f.valid)
			hop_ledger_acked(&s.tx, f.block);
		else if (hop_ledger_told(&s.tx, &s.keys[f.key], f.block, f.balance))
			s.heard[f.key] = true;
	}
}

static void start_sender(void)
{
	memset(&s, 0, sizeof(s));
	s.epoch = ++epochs;
	hop_ledger_tx_start(&s.tx);
	memset(flying_own, 0, sizeof(flying_own));
	memset(waiting_own, 0, sizeof(waiting_own));
}

/* Its queues go with it. */
static void start_receiver(void)
{
	memset(&r, 0, sizeof(r));
	r.epoch = ++epochs;
	memset(queues, 0, sizeof(queues));
	memset(waiting, 0, sizeof(waiting));
	memset(waiting_own, 0, sizeof(waiting_own));
}

static void look(void)
{
	unsigned int key;

	for (key = 0; key < KEYS; key++) {
		s64 says = hop_ledger_outstanding(&s.keys[key]);
		s64 is = s.heard[key] ? flying[key] + waiting[key] :
					flying_own[key] + waiting_own[key];

		safe &= says >= is;
	}
}

static bool all_released(void)
{
	unsigned int key;

	for (key = 0; key < KEYS; key++)
		if (hop_ledger_outstanding(&s.keys[key]))
			return false;
	return true;
}

static bool drained(void)
{
	unsigned int i;
	u64 left = 0;

	for (i = 0; i < KEYS; i++)
		left += flying[i] + waiting[i];
	return !left && s.peer == r.epoch && r.peer == s.epoch;
}

static void step(unsigned int sends, unsigned int anew)
{
	unsigned int key = random64() % KEYS, i;
	u32 bytes = 60 + random64() % 1440;

	now++;
	if (chance(anew)) {
		restarts++;
		if (random64() & 1)
			start_sender();
		else
			start_receiver();
	}
	if (chance(sends) && hop_ledger_outstanding(&s.keys[key]) + bytes <= WINDOW)
		sent(key, random64() % n_lanes, bytes);
	hello();
	sender();
	/* a lane that is slow for long, so that ENDs come far apart */
	for (i = 0; i < n_lanes; i++)
		if (lanes[i].count && (i + now / 256) % 3 && chance(900))
			arrives(i);
	for (i = 0; i < KEYS; i++)
		if (queues[i].count && (i + now / 512) % 2 && chance(500))
			leaves(i);
	receiver();
	control();
	look();
}

/* Return: steps from when nothing was on its way or queued until outstanding was 0 */
static u64 run(unsigned int steps, unsigned int anew)
{
	u64 from;

	memset(lanes, 0, sizeof(lanes));
	memset(flying, 0, sizeof(flying));
	n_to_s = 0;
	n_to_r = 0;
	start_sender();
	start_receiver();
	while (steps--)
		step(800, anew);
	loss = 0;
	control_loss = 0;
	deaf = false;
	while (!drained())
		step(0, 0);
	from = now;
	while (!all_released() && now - from < 100 * REPEAT)
		step(0, 0);
	return now - from;
}

/*
 * Once all is drained: the END that was due, and, if an end has just started anew, the one after
 * it; one more that covers the last frame; then the answer. Each takes what is left of a wait of
 * 2 REPEAT, a lane that is slow for 256 steps, and a way back.
 */
#define BOUND	(4 * (2 * REPEAT + 256 + 2 * DELAY))

static void chaos(const char *name, unsigned int lose, unsigned int lose_control,
		  unsigned int anew, unsigned int runs)
{
	char what[160];
	u64 took;

	safe = true;
	bounded = true;
	longest = 0;
	lost_frames = 0;
	restarts = 0;
	while (runs--) {
		n_lanes = 1 + random64() % LANES;
		loss = lose;
		control_loss = lose_control;
		took = run(3000, anew);
		bounded &= took <= BOUND;
		longest = took > longest ? took : longest;
	}
	snprintf(what, sizeof(what),
		 "%s: outstanding is never below what is there (%llu lost, %llu restarts)", name,
		 (unsigned long long)lost_frames, (unsigned long long)restarts);
	check(safe, what);
	snprintf(what, sizeof(what),
		 "%s: and is 0 at most %u steps after the last frame (%llu)", name, BOUND,
		 (unsigned long long)longest);
	check(bounded, what);
}

/* Every credit from the first one on */
static void deaf_from_the_start(void)
{
	unsigned int i;
	bool stopped = true;

	safe = true;
	bounded = true;
	for (i = 0; i < 20; i++) {
		n_lanes = 1 + random64() % LANES;
		deaf = true;
		bounded &= run(2000, 0) <= BOUND;
		stopped &= s.keys[0].sent <= WINDOW;
	}
	check(stopped && safe && bounded,
	      "all first credits lost: the window is full, then whole again");
}

int main(void)
{
	test_one_queue();
	test_two_queues();
	test_repeated();
	test_ends();
	test_credits();
	test_asks();
	test_restarts();
	test_disorder();
	test_wraps();
	test_idle();
	chaos("nothing is lost", 0, 0, 0, 40);
	chaos("data is lost", 100, 0, 0, 40);
	chaos("control frames are lost", 0, 300, 0, 40);
	chaos("both are", 200, 500, 0, 40);
	chaos("ends start anew", 0, 0, 3, 60);
	chaos("all of it", 100, 200, 3, 150);
	deaf_from_the_start();
	printf("1..%u\n", done);
	return failed != 0;
}
