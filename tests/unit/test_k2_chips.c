// SPDX-License-Identifier: GPL-2.0
/*
 * K2's choice among best-effort requests (chips.c), on a model of its queue and of a device.
 * After each choice a model that shares no code with chips.c checks the invariants.
 */
#include "k2drive.h"
#include "k2/chips.c"

#define MAX_RQ	8192
#define MAX_OUT	512

struct rq {
	struct k2_chips_rq cr;
	u64 sector, sectors;
	u32 passed;		/* later requests that passed it */
	bool gone, out;
};

static struct rq rq[MAX_RQ];
static struct k2_chips c;
static u32 nr, oldest_at, waiting, inflight;
static unsigned long long seed;

static void begin(const char *layout, u32 max_pass)
{
	struct flash_geometry geo = { .nr_chips = 0 };

	nr = 0;
	oldest_at = 0;
	waiting = 0;
	inflight = 0;
	k2_chips_init(&c);
	c.max_pass = max_pass;
	if (flash_geometry_parse(layout, &geo)) {
		printf("Bail out! no layout: %s\n", layout);
		exit(EXIT_FAILURE);
	}
	k2_chips_set_layout(&c, &geo, 0);
}

static u32 arrive(u64 sector, u64 sectors)
{
	struct rq *r = &rq[nr];

	memset(r, 0, sizeof(*r));
	r->sector = sector;
	r->sectors = sectors;
	k2_chips_insert(&c, &r->cr, sector, sectors);
	waiting++;
	return nr++;
}

/* The module has a list in order of insertion. */
static struct rq *oldest(void)
{
	while (oldest_at < nr && rq[oldest_at].gone)
		oldest_at++;
	return oldest_at < nr ? &rq[oldest_at] : NULL;
}

static u32 load(const struct rq *r)
{
	u32 chip, most = 0;

	for (chip = 0; chip < c.geo.nr_chips; chip++) {
		u32 on = c.occ.out[FLASH_READ][chip] +
			 c.occ.out[FLASH_WRITE][chip];

		if (flash_chipvec_test(&r->cr.vec, chip) && on > most)
			most = on;
	}
	return most;
}

static void take(struct rq *r, enum flash_dir dir)
{
	k2_chips_charge(&c, &r->cr, dir, r->sector, r->sectors);
	r->out = true;
	inflight++;
}

/* As k2_select() and k2_started(). */
static u32 dispatch(enum flash_dir dir)
{
	struct rq *first = oldest(), *r;
	u32 i;

	r = container_of(k2_chips_pick(&c, &first->cr), struct rq, cr);
	k2_chips_dispatch(&c, &r->cr, &first->cr);
	r->gone = true;
	waiting--;
	for (i = oldest_at; &rq[i] < r; i++)
		rq[i].passed += !rq[i].gone;
	take(r, dir);
	return (u32)(r - rq);
}

static void done(u32 i)
{
	k2_chips_release(&c, &rq[i].cr);
	rq[i].out = false;
	inflight--;
}

static void order(void)
{
	u32 i;

	begin("page=4096 chips=4", 32);
	for (i = 0; i < 4; i++)
		arrive(0, 8);
	arrive(8, 8);
	arrive(16, 8);
	eq(dispatch(FLASH_READ), 4, "going round, chip 1 is the next");
	eq(dispatch(FLASH_READ), 5, "then chip 2");
	eq(dispatch(FLASH_READ), 0, "then chip 0, by arrival");
	eq(dispatch(FLASH_READ), 1, "no chip is idle: nothing is held back");
	arrive(24, 8);
	eq(dispatch(FLASH_READ), 6, "the last one has an idle chip");
	eq(c.passes, 3, "requests that went before an older one");
	eq(c.idle_picks, 4, "requests that found their chips idle");
	arrive(8, 8);
	eq(dispatch(FLASH_READ), 7, "no chip is idle: the one with the least in it");
	done(0);
	done(1);
	eq(dispatch(FLASH_READ), 2, "a chip that is idle again");
}

static void wide(void)
{
	begin("page=4096 chips=4", 32);
	arrive(0, 8);
	arrive(0, 32);
	eq(dispatch(FLASH_WRITE), 1, "all chips are idle: a wide one goes");
	arrive(8, 16);
	eq(dispatch(FLASH_WRITE), 0, "none is: the older one of two with as much");
	eq(dispatch(FLASH_WRITE), 2, "then the wide one");
	arrive(8, 0);
	arrive(24, 8);
	eq(dispatch(FLASH_READ), 3, "what moves no data needs no chip");
	eq(dispatch(FLASH_READ), 4, "and then");
}

/* A request is passed max_pass times, and no more. */
static void ageing(u32 max_pass)
{
	u32 victim, i, n;

	begin("page=4096 chips=4", max_pass);
	take(&rq[arrive(0, 8)], FLASH_READ);
	k2_chips_list_del(&c, &rq[0].cr);
	c.waiting--;
	rq[0].gone = true;
	victim = arrive(0, 8);
	for (n = 0; n < 1000; n++) {
		arrive(8, 8);
		i = dispatch(FLASH_READ);
		done(i);
		if (i == victim)
			break;
	}
	eq(n, max_pass, "max_pass %u: so many have passed", max_pass);
	eq(c.aged_picks, !!max_pass, "and it was counted");
}

/* A request's chips and place follow what it merges with. */
static void merges(void)
{
	u32 i;

	begin("page=4096 chips=4", 3);
	take(&rq[arrive(0, 8)], FLASH_READ);
	k2_chips_list_del(&c, &rq[0].cr);
	c.waiting--;
	rq[0].gone = true;
	arrive(0, 8);			/* 1, its chip is busy */
	arrive(8, 8);			/* 2, dispatched first */
	arrive(32, 8);			/* 3, of chip 0 */
	rq[1].sectors = 4;
	k2_chips_grow(&c, &rq[1].cr, 0, 8);
	eq(rq[1].cr.chip, 0, "one that grows within its chip stays in line");
	rq[3].sectors = 16;
	k2_chips_grow(&c, &rq[3].cr, 32, 16);
	eq(rq[3].cr.chip, FLASH_NO_CHIP, "one that needs two chips now has moved");
	eq(dispatch(FLASH_READ), 2, "the first of chip 1 goes");
	/* 4 takes all of 1, and its place. */
	arrive(16, 8);
	i = (u32)rq[1].cr.place;
	k2_chips_absorb(&c, &rq[4].cr, &rq[1].cr);
	rq[1].gone = true;
	rq[4].sector = 0;
	rq[4].sectors = 24;
	k2_chips_grow(&c, &rq[4].cr, 0, 24);
	eq(rq[4].cr.place, i, "who swallows an older one has its place");
	arrive(24, 8);
	eq(k2_chips_pick(&c, &rq[4].cr) == &rq[5].cr, 1,
	   "another one has an idle chip");
	k2_chips_dispatch(&c, &rq[5].cr, &rq[4].cr);
	arrive(24, 8);
	eq(k2_chips_pick(&c, &rq[4].cr) == &rq[4].cr, 1,
	   "but no more pass it than it allows");
	eq(c.waiting, 3, "three wait");
}

static u64 random_sector(u32 pages)
{
	return (u64)(tap_rand(&seed) % pages) * 8;
}

/* What was chosen, against all that wait. */
static u32 wrong_choice(void)
{
	struct rq *first = oldest(), *r;
	bool idle = false;
	u32 i, least = ~0U, wide_seen = 0;

	r = container_of(k2_chips_pick(&c, &first->cr), struct rq, cr);
	if (r->gone)
		return 1;
	if (first->passed >= c.max_pass)
		return r != first;
	/* Passes that were none may count, but never too few. */
	if (r == first && k2_chips_nr_passes(&c, &first->cr) >= c.max_pass)
		return 0;
	for (i = oldest_at; i < nr; i++) {
		if (rq[i].gone)
			continue;
		if (flash_chipvec_single(&rq[i].cr.vec) == FLASH_NO_CHIP &&
		    wide_seen++ >= 1)
			continue;
		idle = idle || !load(&rq[i]);
		if (load(&rq[i]) < least)
			least = load(&rq[i]);
	}
	return idle ? load(r) != 0 : load(r) > least;
}

static void fuzz(void)
{
	static const char * const layouts[] = {
		"page=4096 chips=1", "page=4096 chips=7", "page=4096 chips=16",
		"page=4096 terms=1:4:1,32:4:4", "page=4096 chips=200",
	};
	u32 out[MAX_OUT], round, bad = 0, late = 0, lost = 0, i, step;

	seed = 11;
	for (round = 0; round < 300; round++) {
		u32 max_pass = tap_rand(&seed) % 40;
		u32 limit = 1 + tap_rand(&seed) % 40;
		u32 pages = 1 + tap_rand(&seed) % 300;

		begin(layouts[tap_rand(&seed) % 5], max_pass);
		for (step = 0; step < 2000; step++) {
			u32 what = tap_rand(&seed) % 8;

			if (what < 3 && nr < MAX_RQ) {
				u32 len = tap_rand(&seed) % 6;

				arrive(random_sector(pages),
				       len == 5 ? 64 : len == 4 ? 16 : 8);
			} else if (what < 6 && waiting &&
				   flash_slot_free((int)inflight, limit)) {
				oldest();
				bad += wrong_choice();
				i = dispatch(tap_rand(&seed) % 2);
				out[inflight - 1] = i;
			} else if (inflight) {
				u32 at = tap_rand(&seed) % inflight;

				i = out[at];
				out[at] = out[inflight - 1];
				done(i);
			}
			lost += c.waiting != waiting;
		}
		for (i = 0; i < nr; i++)
			late += rq[i].passed > max_pass;
		while (waiting) {
			oldest();
			bad += wrong_choice();
			done(dispatch(FLASH_READ));
		}
		while (inflight)
			done(out[inflight - 1]);
		lost += c.occ.busy || !flash_chipvec_empty(&c.listed);
	}
	eq(bad, 0, "random loads: idle chips first, then the least loaded");
	eq(late, 0, "no request was passed by more than max_pass");
	eq(lost, 0, "nothing is lost, and the chips are idle at the end");
}

/* Another layout while requests wait and are in the device. */
static void changes(void)
{
	static const char * const layouts[] = {
		"page=4096 chips=200", "page=4096 chips=4", "none",
		"page=16384 chips=64",
	};
	struct flash_geometry geo = { .nr_chips = 0 };
	u32 out[MAX_OUT], n, i, lost = 0, went = 0;

	begin(layouts[0], 8);
	seed = 5;
	for (n = 0; n < 4000; n++) {
		if (n % 10 == 9) {
			flash_geometry_parse(layouts[tap_rand(&seed) % 4], &geo);
			k2_chips_set_layout(&c, &geo, tap_rand(&seed) % 100);
			for (i = 0; i < nr && geo.nr_chips; i++)
				if (!rq[i].gone)
					k2_chips_insert(&c, &rq[i].cr, rq[i].sector,
						     rq[i].sectors);
		}
		if (!k2_chips_has_layout(&c)) {
			if (inflight)
				done(out[inflight - 1]);
			continue;
		}
		arrive(random_sector(1000), n % 7 ? 8 : 128);
		if (inflight < 40)
			out[inflight] = dispatch(n % 2), went++;
		else
			done(out[inflight - 1]);
		lost += c.waiting != waiting;
	}
	while (inflight)
		done(out[inflight - 1]);
	eq(lost, 0, "other layouts under load: all that wait are in line");
	eq(c.occ.busy, 0, "and no chip is busy at the end");
	eq(went > 1000, 1, "requests went");
}

/*
 * Metadata among it, by K2's own hooks: metadata and best effort are one FIFO wherever
 * they meet, so no request of either passes an older one of the other.
 */
static void metadata(void)
{
	static u32 passed[DRIVE_RQS];
	u32 step, i, last, crossed = 0, late = 0, served[2] = { 0, 0 };

	drive_init(6);
	drive_set(TUN_max_pass, 16);
	k2_text_tuned(&k2.fq, TEXT_layout, "page=4096 chips=8");
	seed = 23;
	for (step = 0; step < 16000 && drive_nr < DRIVE_RQS; step++) {
		if (tap_rand(&seed) % 2) {
			drive_insert(tap_rand(&seed) % 4 ? K2_BE : K2_META, REQ_OP_READ,
				     random_sector(100), 8);
			continue;
		}
		if (drive_inflight == 6) {
			do
				i = drive_trace[drive_dispatches - 1 - tap_rand(&seed) % 64 %
						drive_dispatches];
			while (!drive_rqs[i].out);
			drive_end(i, true);
			continue;
		}
		if (!drive_dispatch_one())
			continue;
		last = drive_last();
		served[drive_rqs[last].rec.fr.class == K2_BE]++;
		for (i = 0; i < last; i++) {
			if (drive_rqs[i].gone)
				continue;
			passed[i]++;
			crossed += drive_rqs[i].rec.fr.class != drive_rqs[last].rec.fr.class;
		}
	}
	for (i = 0; i < drive_nr; i++)
		late += passed[i] > 16;
	eq(crossed, 0, "metadata and best effort never pass each other");
	eq(late, 0, "and no request is passed by more than max_pass");
	eq(served[0] > 400 && served[1] > 1400, 1, "both are served: %u and %u", served[0],
	   served[1]);
	drive_dispatch();
	for (i = 0; i < drive_dispatches; i++) {
		if (drive_rqs[drive_trace[i]].out)
			drive_end(drive_trace[i], true);
		drive_dispatch();
	}
	drive_exit();
	eq(warned, 0, "nothing is lost, and the chips are idle at the end");
}

/*
 * 16 chips that take one unit for a request each, a limit of 16 and 128 that wait:
 * how many of the chips work? In order of arrival it is 60 % of them.
 */
static u32 busy_percent(u32 max_pass)
{
	u32 ends[MAX_OUT], i, n, chip, at = 0;
	u64 worked = 0, units = 0;

	begin("page=4096 chips=16", max_pass);
	seed = 3;
	while (nr < MAX_RQ) {
		while (waiting < 128 && nr < MAX_RQ)
			arrive(random_sector(4096), 8);
		while (inflight < 16)
			ends[at++ % MAX_OUT] = dispatch(FLASH_READ);
		/* Each chip that has something ends its first. */
		for (chip = 0; chip < 16; chip++) {
			for (i = at > MAX_OUT ? at - MAX_OUT : 0; i < at; i++) {
				n = ends[i % MAX_OUT];
				if (!rq[n].out ||
				    flash_chipvec_single(&rq[n].cr.vec) != chip)
					continue;
				done(n);
				worked++;
				break;
			}
		}
		units++;
	}
	return (u32)(worked * 100 / (units * 16));
}

int main(void)
{
	u32 fifo, aware;

	order();
	wide();
	ageing(32);
	ageing(1);
	ageing(0);
	merges();
	fuzz();
	changes();
	metadata();
	fifo = busy_percent(0);
	aware = busy_percent(256);
	eq(fifo >= 55 && fifo <= 65, 1, "in order of arrival %u %% of chips work",
	   fifo);
	eq(aware >= 90, 1, "by the layout %u %% of them do", aware);
	return tap_done();
}
