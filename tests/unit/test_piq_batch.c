// SPDX-License-Identifier: GPL-2.0
/*
 * The paper's modes on a model of a device: the paper's examples, turns, queue_length, and
 * that no request is lost whatever changes.
 */
#include "piq.h"

static struct dev d;

/* Requests by name: R or W, its chips of four as the paper writes them. */
static char names[MAX_RQ][8];

static u32 named(const char *name, enum piq_kind kind, u32 number)
{
	u32 i = d.nr, first = 0, chips = 0, c;

	/* 4 chips of one page each; chip 0 is the paper's leftmost bit. */
	for (c = 0; c < 4; c++) {
		if (number & (8U >> c)) {
			if (!chips)
				first = c;
			chips++;
		}
	}
	snprintf(names[i], sizeof(names[i]), "%s", name);
	return arrive(&d, kind, first * 8, chips * 8);
}

static u32 rd(const char *name, u32 number)
{
	return named(name, PIQ_READ, number);
}

static u32 wr(const char *name, u32 number)
{
	return named(name, PIQ_WRITE, number);
}

static u32 shown;

static void issued(const char *want, const char *what)
{
	char got[256] = "";
	u32 i;

	for (i = shown; i < d.nr_trace; i++) {
		if (i > shown)
			strcat(got, " ");
		strcat(got, names[d.trace[i]]);
	}
	shown = d.nr_trace;
	eq(strcmp(got, want), 0, "%s: %s", what, want);
	if (strcmp(got, want))
		printf("# issued: %s\n", got);
}

static void start(enum piq_mode mode)
{
	struct piq_tunables tun = piq_usual();

	dev_init(&d, mode, "page=4096 chips=4", &tun);
	shown = 0;
}

/* Figures 6 and 7: six requests that arrive together. */
static void six(u32 *r, u32 *w)
{
	r[0] = rd("R0", 3);
	r[1] = rd("R1", 6);
	r[2] = rd("R2", 12);
	w[0] = wr("W0", 3);
	w[1] = wr("W1", 6);
	w[2] = wr("W2", 12);
	dispatch(&d);
}

static void figure_6(void)
{
	u32 r[3], w[3], i;

	start(PIQ_NOOP);
	six(r, w);
	issued("R0", "figure 6: R1 shares a chip with R0, R2 waits behind it");
	for (i = 0; i < 3; i++)
		finish(&d, r[i]);
	issued("R1 R2 W0", "figure 6: one after the other");
	for (i = 0; i < 3; i++)
		finish(&d, w[i]);
	issued("W1 W2", "figure 6: the writes, too");
	at_rest(&d, "figure 6");
	/* A cycle serves one request; only R2 and W0 share no chip and overlap. */
	start(PIQ_NOOP);
	d.ns[FLASH_WRITE] = d.ns[FLASH_READ];
	six(r, w);
	drain(&d);
	eq((d.now - MODEL_BASE) / d.ns[FLASH_READ], 5, "figure 6: 3 + 3 cycles, one shared");
}

static void figure_7(void)
{
	u32 r[3], w[3];

	start(PIQ_PIQ);
	six(r, w);
	issued("R0 R2", "figure 7: the first batch of reads");
	finish(&d, r[0]);
	issued("", "figure 7: a batch ends with its last request");
	finish(&d, r[2]);
	issued("R1", "figure 7: the second batch");
	finish(&d, r[1]);
	issued("W0 W2", "figure 7: then writes");
	finish(&d, w[0]);
	finish(&d, w[2]);
	issued("W1", "figure 7: their second batch");
	finish(&d, w[1]);
	at_rest(&d, "figure 7");
	eq(d.s.stats.batches, 4, "figure 7: four batches");
	eq(d.s.stats.batched, 6, "figure 7: of six requests");
	eq(d.s.stats.rrc, 2, "figure 7: R1 and R2 met a read");
	eq(d.s.stats.wwc, 2, "figure 7: W1 and W2 met a write");
	eq(d.s.stats.rwc, 3, "figure 7: each write met a read");
	start(PIQ_PIQ);
	d.ns[FLASH_WRITE] = d.ns[FLASH_READ];
	six(r, w);
	drain(&d);
	eq((d.now - MODEL_BASE) / d.ns[FLASH_READ], 4, "figure 7: 2 + 2 cycles");
}

/* The same six requests in rws, piq_r and piq_w */
static void others_of_figure_8(void)
{
	u32 r[3], w[3];

	start(PIQ_RWS);
	six(r, w);
	issued("R0", "rws: a FIFO of reads");
	finish(&d, r[0]);
	issued("R1", "rws: the next one");
	finish(&d, r[1]);
	finish(&d, r[2]);
	finish(&d, w[0]);
	issued("R2 W0 W1", "rws: W0 needs R2's chips no more");
	drain(&d);
	at_rest(&d, "rws");

	start(PIQ_R);
	six(r, w);
	issued("R0 R2", "piq_r: reads in batches");
	finish(&d, r[0]);
	finish(&d, r[2]);
	finish(&d, r[1]);
	issued("R1 W0", "piq_r: writes one by one");
	drain(&d);
	issued("W1 W2", "piq_r: in order");
	at_rest(&d, "piq_r");

	start(PIQ_W);
	six(r, w);
	issued("R0", "piq_w: reads one by one");
	finish(&d, r[0]);
	finish(&d, r[1]);
	finish(&d, r[2]);
	issued("R1 R2 W0 W2", "piq_w: writes in batches");
	drain(&d);
	at_rest(&d, "piq_w");
}

/* A FIFO's first request is dispatched beside outstanding ones if they share no chip. */
static void heads_overlap(void)
{
	u32 a;

	start(PIQ_NOOP);
	a = rd("R0", 8);
	wr("W0", 4);
	rd("R1", 8);
	rd("R2", 1);
	dispatch(&d);
	issued("R0 W0", "noop: two that share no chip go together");
	finish(&d, a);
	issued("R1 R2", "noop: the head, and the one behind it");
	drain(&d);
	at_rest(&d, "noop");
}

/* Turns: algorithm 1, where a turn serves the requests that waited when it began */
static void turns(enum piq_mode mode)
{
	u32 r0, w0, r1, r2, w1, w2;

	start(mode);
	r0 = rd("R0", 3);
	w0 = wr("W0", 3);
	dispatch(&d);
	issued("R0", "mode %d: reads first");
	r1 = rd("R1", 12);
	dispatch(&d);
	if (mode == PIQ_PIQ || mode == PIQ_R)
		issued("R1", "it joins the batch that is out");
	else
		issued("", "it belongs to the next turn");
	r2 = rd("R2", 3);
	dispatch(&d);
	finish(&d, r0);
	if (mode == PIQ_PIQ || mode == PIQ_R)
		finish(&d, r1);
	if (mode == PIQ_RWS)
		issued("W0 R1", "the write's turn ends when it goes");
	else
		issued("W0", "the write has its turn before R2");
	if (mode == PIQ_RWS) {
		finish(&d, w0);
		issued("R2", "then the read that shares its chips");
	} else if (mode == PIQ_PIQ || mode == PIQ_R) {
		finish(&d, w0);
		issued("R2", "then the read that came late");
	} else {
		finish(&d, w0);
		issued("R1 R2", "then the reads that came late");
	}
	finish(&d, r2);
	if (mode != PIQ_PIQ && mode != PIQ_R)
		finish(&d, r1);
	at_rest(&d, "turns");

	/* R | W1 | W2 | R' | W3 */
	start(mode);
	r0 = rd("R", 3);
	w1 = wr("W1", 3);
	w2 = wr("W2", 3);
	dispatch(&d);
	finish(&d, r0);
	issued("R W1", "a turn of writes");
	r1 = rd("R'", 3);
	wr("W3", 3);
	dispatch(&d);
	finish(&d, w1);
	issued("W2", "which serves those that were there");
	finish(&d, w2);
	issued("R'", "then reads are looked at again");
	finish(&d, r1);
	issued("W3", "then the write that came late");
	drain(&d);
	at_rest(&d, "turns of writes");
}

/* Endless reads of one chip: how many pass a write? */
static void no_starvation(enum piq_mode mode)
{
	u32 i, w, passed;

	start(mode);
	rd("R", 8);
	w = wr("W", 8);
	for (i = 0; i < 10; i++)
		rd("R", 8);
	dispatch(&d);
	for (i = 0; i < 200 && !d.issued[w]; i++) {
		rd("R", 8);
		step(&d);
	}
	passed = d.nr_trace - 1;
	eq(passed <= (mode == PIQ_NOOP ? 1 : 11), 1,
	   "mode %d: %u reads before the write, those of one turn", mode,
	   passed);
	drain(&d);
	at_rest(&d, "a flood of reads");
}

/*
 * Waiting requests beyond queue_length are outside, in order of arrival. What is in the
 * device does not count.
 */
static void queue_length(enum piq_mode mode)
{
	struct piq_tunables tun = piq_usual();
	u32 i, bad = 0;

	tun.queue_length = 4;
	dev_init(&d, mode, "page=4096 chips=4", &tun);
	for (i = 0; i < 40; i++)
		arrive(&d, PIQ_READ, i % 4 * 8, 8);
	/* All of one chip: each of them is a batch. */
	for (i = 0; i < 8; i++)
		arrive(&d, PIQ_READ, 0, 8);
	dispatch(&d);
	do {
		bad += d.s.turns.inside > 4;
	} while (step(&d) != MAX_RQ);
	eq(bad, 0, "mode %d: never more than four inside", mode);
	at_rest(&d, "queue_length");

	/* A request outside is not dispatched, even if its chip is idle. */
	tun.queue_length = 2;
	dev_init(&d, PIQ_PIQ, "page=4096 chips=4", &tun);
	shown = 0;
	rd("R0", 8);
	rd("R1", 8);
	rd("R2", 8);
	rd("R3", 4);
	dispatch(&d);
	issued("R0", "queue_length 2: R1 and R2 wait, R3 is outside");
	finish(&d, 0);
	issued("R1 R3", "R3 is inside when R1 has gone");
	drain(&d);
}

/* A queue of one keeps reads and writes in order of arrival in every mode, as Figure 11 begins. */
static void queue_of_one(enum piq_mode mode)
{
	struct piq_tunables tun = piq_usual();

	tun.queue_length = 1;
	dev_init(&d, mode, "page=4096 chips=4", &tun);
	shown = 0;
	rd("R0", 8);
	wr("W0", 4);
	rd("R1", 2);
	wr("W1", 2);
	rd("R2", 1);
	dispatch(&d);
	drain(&d);
	issued("R0 W0 R1 W1 R2", "queue_length 1: order of arrival");
	at_rest(&d, "queue_length 1");
}

/* As many batches as there can be: a chip of each that is out, and the longest queue */
static void most_batches(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i;

	tun.queue_length = PIQ_QUEUE_MAX;
	dev_init(&d, PIQ_RWS, "page=4096 chips=256", &tun);
	for (i = 0; i < FLASH_MAX_CHIPS; i++)
		arrive(&d, PIQ_READ, i * 8, 8);
	dispatch(&d);
	eq(d.nr_out, FLASH_MAX_CHIPS, "each chip has a request");
	for (i = 0; i <= PIQ_QUEUE_MAX; i++)
		arrive(&d, PIQ_READ, i % FLASH_MAX_CHIPS * 8, 8);
	eq(d.s.turns.inside, PIQ_QUEUE_MAX, "and the whole queue is in batches");
	drain(&d);
	at_rest(&d, "most batches");
}

/* Data without an address has no chips, so nothing but batches limits it. */
static void without_chips(enum piq_mode mode, u32 overlap)
{
	struct piq_tunables tun = piq_usual();
	u32 i, at;

	tun.batch_overlap = overlap;
	dev_init(&d, mode, "page=4096 chips=4", &tun);
	for (i = 0; i < PIQ_NR_BATCHES + 200; i++)
		arrive(&d, PIQ_WRITE, FLASH_NO_SECTOR, 8);
	dispatch(&d);
	arrive(&d, PIQ_READ, 0, 8);
	dispatch(&d);
	at = d.nr - 1;
	for (i = 0; i < 400; i++) {
		finish(&d, d.out[0]);
		dispatch(&d);
	}
	eq(d.waits[at], false, "mode %d: a read of an idle chip follows as they end", mode);
	drain(&d);
	eq(d.s.stats.stuck, 0, "mode %d, data without an address: never stuck", mode);
	at_rest(&d, "data without an address");
}

/* Discards are dispatched between turns, and no request waits for them for ever. */
static void others(void)
{
	u32 r0, x;

	start(PIQ_PIQ);
	r0 = rd("R0", 8);
	dispatch(&d);
	x = d.nr;
	snprintf(names[x], sizeof(names[x]), "D");
	arrive(&d, PIQ_OTHER, 0, 1000);
	wr("W0", 4);
	rd("R1", 8);
	dispatch(&d);
	issued("R0", "a discard waits for the end of the turn");
	finish(&d, r0);
	issued("D W0", "and goes before the next one, which needs no chip of it");
	finish(&d, x);
	drain(&d);
	at_rest(&d, "discards");

	start(PIQ_PIQ);
	snprintf(names[0], sizeof(names[0]), "D");
	insert(&d, PIQ_OTHER, 0, 8);
	issued("D", "an idle device takes it at once");
	drain(&d);
	at_rest(&d, "a discard alone");
}

/* A request that grows into a conflict leaves its batch. */
static void growing(void)
{
	u32 r0, r1, r2;

	start(PIQ_PIQ);
	rd("X", 15);
	dispatch(&d);
	r0 = rd("R0", 8);
	r1 = rd("R1", 4);
	r2 = rd("R2", 1);
	eq(d.req[r0].part.batch == d.req[r1].part.batch, 1, "two in a batch");
	piq_grow(&d.s, &d.req[r0], 0, 16);
	eq(d.req[r0].part.batch == d.req[r1].part.batch, 0,
	   "R0 takes R1's chip, too, and moves");
	piq_grow(&d.s, &d.req[r2], 16, 16);
	eq(d.req[r2].part.batch == d.req[r1].part.batch, 1,
	   "R2 takes a free one, and stays");
	dispatch(&d);
	finish(&d, 0);
	issued("X R1 R2", "the batch goes without R0");
	drain(&d);
	issued("R0", "which follows");
	at_rest(&d, "growing");
	eq(d.s.stats.batched, 4, "each counts once");
}

/* A request absorbs another one and gets the place of the older one. */
static void absorbing(enum piq_mode mode)
{
	u32 r0, r1;

	start(mode);
	rd("X", 15);
	dispatch(&d);
	r0 = rd("R0", 8);
	wr("W0", 8);
	r1 = rd("R1", 4);
	absorb(&d, r1, r0, 0, 16);
	eq(d.req[r1].seq, r0 + 1, "mode %d: it inherits the place", mode);
	eq(d.req[r1].part.vec.word[0], 3, "mode %d: and the chips", mode);
	dispatch(&d);
	finish(&d, 0);
	issued(mode == PIQ_NOOP ? "X R1" : "X W0", "X's turn was before both");
	drain(&d);
	at_rest(&d, "absorbing");
}

/*
 * A younger read absorbs the oldest one and gets its place in the turn: the other reads of
 * the turn still precede writes. @length: with 3 the younger read and the write are outside.
 */
static void absorbing_in_turn(enum piq_mode mode, u32 length)
{
	struct piq_tunables tun = piq_usual();
	u32 r0, r2;

	tun.queue_length = length;
	dev_init(&d, mode, "page=4096 chips=4", &tun);
	shown = 0;
	rd("X", 15);
	r0 = rd("R0", 8);
	rd("R1", 4);
	dispatch(&d);
	wr("W0", 8);
	r2 = rd("R2", 1);
	absorb(&d, r2, r0, 0, 32);
	dispatch(&d);
	finish(&d, 0);
	issued("X R2", "R2 has R0's place");
	finish(&d, r2);
	issued("R1 W0", "whose turn goes on");
	drain(&d);
	at_rest(&d, "absorbing in a turn");
}

/* A tunable that changes only the choice leaves waiting requests where they are. */
static void not_sorted_anew(void)
{
	struct piq_tunables tun = piq_usual();
	u32 generation;
	u64 ids;

	start(PIQ_PIQ);
	rd("R0", 8);
	rd("R1", 8);
	dispatch(&d);
	ids = d.s.turns.batches.last_id;
	generation = d.s.geo.generation;
	tun.max_wait /= 2;
	tun.chip_depth = 2;
	dev_set(&d, PIQ_PIQ, "page=4096 chips=4", &tun);
	eq(d.s.turns.batches.last_id == ids && d.s.geo.generation == generation, 1,
	   "max_wait, chip_depth: nothing is sorted anew");
	eq(d.s.tun.max_wait == tun.max_wait && d.s.chips.occ.depth == 2, 1,
	   "and both hold");
	tun.queue_length = 1;
	dev_set(&d, PIQ_PIQ, "page=4096 chips=4", &tun);
	eq(!d.req[1].part.batch, false, "queue_length: R1, which alone waits, is inside");
	dev_set(&d, PIQ_PIQ, "page=4096 chips=2", &tun);
	eq(d.s.geo.nr_chips, 2, "a layout holds");
	drain(&d);
	at_rest(&d, "sorted anew");
}

/* When does a batch begin? */
static void beginning(void)
{
	struct piq_tunables tun = piq_usual();
	u32 r0, w0, x, i;

	/* In one list: a batch begins when the batch before it has ended. */
	start(PIQ_PIQ);
	r0 = rd("R0", 12);
	rd("R1", 8);
	rd("R2", 1);
	dispatch(&d);
	issued("R0 R2", "the first batch, of two");
	finish(&d, r0);
	issued("", "R1's chip is free, but the batch before is out");
	drain(&d);
	issued("R1", "until it has ended");
	at_rest(&d, "a barrier");

	/* Beside other outstanding requests: all of its chips have to be free, no others. */
	start(PIQ_R);
	w0 = wr("W0", 8);
	dispatch(&d);
	x = rd("R0", 12);
	rd("R1", 1);
	dispatch(&d);
	issued("W0", "a batch goes together: R0 needs W0's chip");
	finish(&d, w0);
	issued("R0 R1", "and goes when that is free");
	wr("W1", 2);
	dispatch(&d);
	issued("", "reads have their turn until their batch has ended");
	finish(&d, x);
	finish(&d, x + 1);
	issued("W1", "then the write");
	rd("R2", 12);
	dispatch(&d);
	issued("R2", "beside which a batch begins that needs other chips");
	rd("R3", 3);
	dispatch(&d);
	issued("", "and whom it may not meet waits");
	drain(&d);
	at_rest(&d, "beside others");

	/* A request that the driver has requeued and runs again keeps only its chips. */
	start(PIQ_PIQ);
	r0 = rd("R0", 8);
	dispatch(&d);
	piq_release(&d.s, &d.req[r0]);
	piq_start_head(&d.s, &d.req[r0], PIQ_READ, 0, 8, d.now);
	wr("W0", 4);
	dispatch(&d);
	issued("R0 W0", "requeued: others do not wait for it");
	wr("W1", 8);
	drain(&d);
	issued("W1", "but for its chips");
	at_rest(&d, "requeued");

	/* batch_overlap: in order, as soon as chips are free */
	tun.batch_overlap = 1;
	for (i = 0; i < 2; i++) {
		start(i ? PIQ_R : PIQ_PIQ);
		dev_set(&d, d.s.mode, "page=4096 chips=4", &tun);
		r0 = rd("R0", 12);
		rd("R1", 8);
		rd("R2", 1);
		wr("W0", 2);
		dispatch(&d);
		issued("R0 R2", "overlap: the first batch");
		finish(&d, r0);
		issued("R1 W0", "overlap: the next one, and the next turn");
		rd("R3", 4);
		dispatch(&d);
		issued("R3", "overlap: the turn after that");
		drain(&d);
		at_rest(&d, "overlap");
	}
}

/* As in tests/vm/470-piq-epochs.sh: six arrive while one is outstanding. */
static void one_by_one(enum piq_mode mode, const char *want)
{
	start(mode);
	rd("X", 15);
	dispatch(&d);
	rd("R0", 3);
	dispatch(&d);
	rd("R1", 6);
	dispatch(&d);
	rd("R2", 12);
	dispatch(&d);
	wr("W0", 3);
	dispatch(&d);
	wr("W1", 6);
	dispatch(&d);
	wr("W2", 12);
	dispatch(&d);
	drain(&d);
	issued(want, "one by one");
	at_rest(&d, "one by one");
}

/* Any event at any time: no request is lost or waits without another outstanding. */
static void storm(void)
{
	static const char * const layouts[] = {
		"none", "page=4096 chips=4", "page=2048 chips=64",
		"page=512 chips=200", "page=4096 terms=1:4:1,32:4:4",
	};
	unsigned long long seed = 11;
	u32 round, i, bad = 0, changes = 0;

	for (round = 0; round < 400; round++) {
		struct piq_tunables tun = piq_usual();
		u32 todo = 20 + tap_rand(&seed) % 120;

		tun.queue_length = 1 + tap_rand(&seed) % 70;
		tun.batch_overlap = tap_rand(&seed) % 2;
		dev_init(&d, (enum piq_mode)(round % PIQ_NR_MODES),
			 layouts[tap_rand(&seed) % 5], &tun);
		if (tap_rand(&seed) % 2)
			piq_trust(&d.s);
		else
			d.s.trusted = false;
		d.user_limit = tap_rand(&seed) % 3 ? 0 : 1 + tap_rand(&seed) % 8;
		for (i = 0; i < 4 * todo; i++) {
			u32 what = tap_rand(&seed) % 16;
			u32 kind = tap_rand(&seed) % 8;
			u32 sectors = tap_rand(&seed) % 4 ? 8 :
				      1 + tap_rand(&seed) % 2048;
			u32 a = d.nr ? tap_rand(&seed) % d.nr : 0;
			u32 b = d.nr ? tap_rand(&seed) % d.nr : 0;

			if (what < 8 && d.nr < todo) {
				insert(&d, kind == 7 ? PIQ_OTHER : kind > 3 ?
				       PIQ_WRITE : PIQ_READ,
				       tap_rand(&seed) % 4096, sectors);
			} else if (what < 12) {
				step(&d);
			} else if (what == 12 && d.nr && d.waits[a]) {
				piq_grow(&d.s, &d.req[a], d.req[a].sector,
					 d.req[a].sectors + 8);
				dispatch(&d);
			} else if (what == 13 && d.nr && a != b &&
				   d.waits[a] && d.waits[b] &&
				   d.req[a].kind == d.req[b].kind) {
				absorb(&d, a, b, d.req[a].sector,
				       d.req[a].sectors + 8);
				dispatch(&d);
			} else if (what == 14 && d.nr_out) {
				/* The driver requeues it, and it starts again. */
				u32 n = tap_rand(&seed) % d.nr_out;
				u32 at = d.out[n];

				piq_release(&d.s, &d.req[at]);
				piq_start_head(&d.s, &d.req[at], d.req[at].kind,
					      d.req[at].sector,
					      d.req[at].sectors, d.now);
				dispatch(&d);
			} else if (what == 15 && tap_rand(&seed) % 4 == 0) {
				tun.queue_length = 1 + tap_rand(&seed) % 70;
				tun.batch_overlap = tap_rand(&seed) % 2;
				tun.chip_depth = 1 + tap_rand(&seed) % 3;
				tun.max_pass = 1 + tap_rand(&seed) % 40;
				dev_set(&d, (enum piq_mode)(tap_rand(&seed) %
							    PIQ_NR_MODES),
					layouts[tap_rand(&seed) % 5], &tun);
				changes++;
				dispatch(&d);
			}
			bad += piq_waiting(&d.s) && !d.nr_out;
			bad += d.s.out != d.nr_out;
		}
		drain(&d);
		bad += d.done != d.nr || piq_waiting(&d.s) || d.s.out ||
		       d.s.turns.inside || d.s.chips.occ.busy || d.s.stats.stuck ||
		       !list_empty(&d.s.turns.batches.list[FLASH_READ]) ||
		       !list_empty(&d.s.turns.batches.list[FLASH_WRITE]);
		if (bad) {
			printf("# in round %u, mode %d\n", round, d.s.mode);
			break;
		}
	}
	eq(bad, 0, "400 storms with %u changes: nobody lost, nobody stuck",
	   changes);
}

int main(void)
{
	figure_6();
	figure_7();
	others_of_figure_8();
	heads_overlap();
	turns(PIQ_PIQ);
	turns(PIQ_RWS);
	turns(PIQ_R);
	turns(PIQ_W);
	no_starvation(PIQ_NOOP);
	no_starvation(PIQ_RWS);
	no_starvation(PIQ_R);
	no_starvation(PIQ_W);
	no_starvation(PIQ_PIQ);
	queue_length(PIQ_NOOP);
	queue_length(PIQ_RWS);
	queue_length(PIQ_R);
	queue_length(PIQ_W);
	queue_length(PIQ_PIQ);
	most_batches();
	without_chips(PIQ_RWS, 0);
	without_chips(PIQ_R, 0);
	without_chips(PIQ_PIQ, 1);
	queue_of_one(PIQ_NOOP);
	queue_of_one(PIQ_RWS);
	queue_of_one(PIQ_R);
	queue_of_one(PIQ_W);
	queue_of_one(PIQ_PIQ);
	others();
	growing();
	absorbing(PIQ_NOOP);
	absorbing(PIQ_RWS);
	absorbing(PIQ_PIQ);
	absorbing_in_turn(PIQ_RWS, 64);
	absorbing_in_turn(PIQ_RWS, 3);
	absorbing_in_turn(PIQ_W, 64);
	absorbing_in_turn(PIQ_W, 3);
	not_sorted_anew();
	beginning();
	one_by_one(PIQ_NOOP, "X R0 R1 R2 W0 W1 W2");
	one_by_one(PIQ_RWS, "X R0 W0 W1 W2 R1 R2");
	one_by_one(PIQ_R, "X W0 W1 W2 R0 R2 R1");
	one_by_one(PIQ_W, "X R0 W0 W2 W1 R1 R2");
	one_by_one(PIQ_PIQ, "X W0 W2 W1 R0 R2 R1");
	storm();
	return tap_done();
}
