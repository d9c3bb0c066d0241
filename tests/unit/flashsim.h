/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flashsim.h - a drive for tests in user space
 *
 * The whole model with memory, a clock that jumps from event to event, and
 * loads. Each allocation has exactly the size that the model expects, so that
 * the sanitizer finds an access beyond it.
 */
#ifndef FLASHSIM_BENCH_H
#define FLASHSIM_BENCH_H

#include <string.h>
#include <unistd.h>

#include "../flashsim/nand.c"
#include "../flashsim/ftl.c"
#include "../flashsim/sim.c"
#include "tap.h"

/**
 * struct drive_cfg - configuration of a drive
 * @sim: seen from the host; @sectors is a multiple of the unit
 * @ftl: per_page, per_prog, per_block, low, alloc, gc, whole and the layout;
 *	the other fields are computed
 * @spare: blocks of a die beyond the necessary ones
 * @progs: maximum number of programs in progress; 0: the buffer's maximum
 * @gcs: commands for garbage collection on other dies
 * @fill: number of full units
 * @overwrites: number of units then overwritten at random
 * @rewrites: number of units then written in order
 * @log_len: rows of the log
 * @row_len: rows of the series
 */
struct drive_cfg {
	struct sim_cfg sim;
	struct ftl_cfg ftl;
	u32 spare;
	u32 progs;
	u32 gcs;
	u32 fill;
	u64 overwrites;
	u32 rewrites;
	u32 log_len;
	u32 row_len;
};

struct drive {
	struct drive_cfg c;
	struct sim *s;
	void *mem[32];
	unsigned int nr_mem;
	u32 nr_progs;
	u64 now;
	struct sim_rq *done;		/* completed requests, not yet reaped */
	struct sim_rq **done_tail;
	u64 sent, ended;
	int bad;			/* an invariant was violated */
};

static inline void *drive_mem(struct drive *d, size_t nr, size_t size)
{
	void *mem = calloc(nr ? nr : 1, size);

	if (!mem || d->nr_mem == sizeof(d->mem) / sizeof(d->mem[0])) {
		printf("Bail out! no memory\n");
		exit(EXIT_FAILURE);
	}
	return d->mem[d->nr_mem++] = mem;
}

/* Channel, way, die in the order of @order: "CWD" and so on. */
static inline void drive_stripe(struct ftl_layout *l, const char *order,
				const struct nand_cfg *n)
{
	u32 div = 1;

	l->nr_terms = 0;
	for (; *order; order++) {
		struct ftl_term *t = &l->term[l->nr_terms++];

		t->div = div;
		t->mod = *order == 'C' ? n->channels :
			 *order == 'W' ? n->ways : n->dies;
		t->mul = *order == 'C' ? 1 : *order == 'W' ? n->channels :
			 n->channels * n->ways;
		div *= t->mod;
	}
}

/* Static pages of 4 KiB, no buffer: the device of most tests of exact times. */
static inline struct drive_cfg drive_plain(u32 channels, u32 ways, u32 dies)
{
	struct drive_cfg c;

	memset(&c, 0, sizeof(c));
	c.sim.nand.channels = channels;
	c.sim.nand.ways = ways;
	c.sim.nand.dies = dies;
	c.sim.nand.ps_per_byte = 1250;		/* 5120 ns a page */
	c.sim.t_read = 36000;
	c.sim.t_prog = 185000;
	c.sim.t_prog_slc = 30000;
	c.sim.t_erase = 3500000;
	c.sim.ps_link = 297;			/* 1217 ns a page */
	c.sim.duplex = true;
	c.sim.fw_read = 20000;
	c.sim.fw_write = 10000;
	c.sim.unit = c.sim.page = 4096;
	c.sim.sectors = 16384 * 8;
	c.sim.slc_idle = 1000000;
	c.sim.ranges = 8;
	c.sim.series = 1000000;
	c.sim.seed = 1;
	c.ftl.per_page = c.ftl.per_prog = 1;
	c.ftl.per_block = 16;
	c.ftl.low = 2;
	c.ftl.gc = FTL_GC_NONE;
	c.gcs = 64;
	drive_stripe(&c.ftl.layout, "CWD", &c.sim.nand);
	return c;
}

/* Only the arrays take time. */
static inline struct drive_cfg drive_bare(u32 channels, u32 ways, u32 dies)
{
	struct drive_cfg c = drive_plain(channels, ways, dies);

	c.sim.nand.ps_per_byte = c.sim.ps_link = 0;
	c.sim.fw_read = c.sim.fw_write = 0;
	return c;
}

static inline void ftl_mem(struct drive *d, struct ftl *f, struct ftl_cfg *c,
			   u32 spare)
{
	u32 *count = calloc(c->luns, sizeof(*count));

	f->lun = drive_mem(d, c->luns, sizeof(*f->lun));
	if (c->gc != FTL_GC_NONE) {
		u32 share = ftl_share_max(c, count);

		c->blocks = (share + c->per_block - 1) / c->per_block + 4 +
			spare;
		f->map = drive_mem(d, c->units, sizeof(*f->map));
		f->rev = drive_mem(d, ftl_places(c), sizeof(*f->rev));
		f->block = drive_mem(d, (size_t)c->luns * c->blocks,
				     sizeof(*f->block));
	}
	free(count);
	ftl_init(f, c);
}

static inline void drive_open(struct drive *d, const struct drive_cfg *cfg)
{
	struct drive_cfg *c = &d->c;
	struct sim *s;
	u32 buffer, luns;

	memset(d, 0, sizeof(*d));
	*c = *cfg;
	d->done_tail = &d->done;
	d->s = s = drive_mem(d, 1, sizeof(*s));
	if (nand_init(&s->nand, &c->sim.nand)) {
		printf("Bail out! no such flash\n");
		exit(EXIT_FAILURE);
	}
	luns = c->ftl.luns = s->nand.luns;
	c->ftl.units = sim_units(&c->sim);
	ftl_mem(d, &s->ftl, &c->ftl, c->spare);
	sim_rand_init(&s->rand, c->sim.seed);
	if (s->ftl.map)
		ftl_fill(&s->ftl, c->fill, c->overwrites, c->rewrites,
			 &s->rand);

	buffer = c->sim.buffer;
	d->nr_progs = !buffer ? 0 : c->progs ? c->progs :
		buffer / c->ftl.per_prog + luns;
	s->ring = drive_mem(d, buffer, sizeof(*s->ring));
	s->slc_used = drive_mem(d, luns, sizeof(*s->slc_used));
	s->fold = drive_mem(d, luns, sizeof(*s->fold));
	s->log_len = c->log_len;
	s->log = drive_mem(d, c->log_len, sizeof(*s->log));
	s->row_len = c->row_len;
	s->row = drive_mem(d, c->row_len, sizeof(*s->row));
	s->row_chip = drive_mem(d, (size_t)c->row_len * s->nand.chips,
				sizeof(*s->row_chip));
	s->chip_was = drive_mem(d, s->nand.chips, sizeof(*s->chip_was));
	sim_add_progs(s, drive_mem(d, d->nr_progs, sizeof(struct sim_prog)),
		      d->nr_progs);
	sim_add_gc(s, drive_mem(d, c->gcs, sizeof(struct nand_cmd)), c->gcs);
	sim_init(s, &c->sim, 0);
}

static inline struct sim_rq *drive_send_fua(struct drive *d, enum sim_op op,
					    u64 sector, u32 sectors, bool fua)
{
	u32 cmds = op <= SIM_WRITE ?
		sim_max_cmds(&d->c.sim, sectors * SIM_SECTOR) : 0;
	struct sim_rq *rq = malloc(sizeof(*rq) + cmds * sizeof(rq->cmd[0]));

	/* The model must not depend on fields that it does not set. */
	memset(rq, 0xa5, sizeof(*rq));
	rq->op = (u8)op;
	rq->sector = sector;
	rq->sectors = sectors;
	rq->fua = fua;
	rq->done = SIM_NEVER;
	sim_submit(d->s, rq, d->now);
	d->sent++;
	return rq;
}

static inline struct sim_rq *drive_send(struct drive *d, enum sim_op op,
					u64 sector, u32 sectors)
{
	return drive_send_fua(d, op, sector, sectors, false);
}

/* Advances time to @t; completed requests are in d->done, in order of time. */
static inline void drive_until(struct drive *d, u64 t)
{
	struct sim_rq *rq = sim_run(d->s, t);
	u64 from = d->now;

	for (; rq; rq = rq->next) {
		d->bad += rq->done < from || rq->done > t ||
			rq->done < rq->arrival || rq->begun < rq->arrival;
		from = rq->done;
		d->ended++;
		*d->done_tail = rq;
		d->done_tail = &rq->next;
	}
	d->bad += t < d->now || d->s->now != t;
	d->now = t;
}

/* Advances to the next event; false if there is none. */
static inline bool drive_step(struct drive *d)
{
	u64 t = sim_next(d->s);

	if (t == SIM_NEVER)
		return false;
	d->bad += t < d->now;
	drive_until(d, t);
	return true;
}

static inline void drive_reap(struct drive *d)
{
	while (d->done) {
		struct sim_rq *rq = d->done;

		d->done = rq->next;
		free(rq);
	}
	d->done_tail = &d->done;
}

static inline void drive_drain(struct drive *d)
{
	while (drive_step(d))
		;
}

static inline u32 drive_pool(const struct drive *d)
{
	const struct sim_prog *p;
	u32 nr = 0;

	for (p = d->s->prog_free; p; p = p->next)
		nr++;
	return nr;
}

static inline u32 drive_gc_pool(const struct drive *d)
{
	const struct nand_cmd *p;
	u32 nr = 0;

	for (p = d->s->gc_free; p; p = p->next)
		nr++;
	return nr;
}

/*
 * Lets all work complete, and checks the invariants of an idle drive. Returns 0,
 * or the number of the violated one.
 */
static inline int drive_rest(struct drive *d)
{
	struct sim *s = d->s;
	unsigned int i;

	drive_drain(d);
	if (s->buffered) {
		drive_send(d, SIM_FLUSH, 0, 0);
		drive_drain(d);
	}
	drive_reap(d);
	if (d->bad)
		return 1;
	if (d->sent != d->ended)
		return 2;
	if (s->outstanding || s->nand.outstanding)
		return 3;
	if (s->buffered || s->ring_nr || s->prog_busy)
		return 4;
	if (drive_pool(d) != d->nr_progs || drive_gc_pool(d) != d->c.gcs)
		return 5;
	if (s->nand.busy_chips || s->nand.nr_events || s->folding)
		return 6;
	for (i = 0; i < s->nand.luns; i++)
		if (!nand_idle(&s->nand, i) || s->nand.lun[i].paused)
			return 7;
	if (s->ftl.map && ftl_check(&s->ftl))
		return 100 + ftl_check(&s->ftl);
	if (s->ftl.map)
		for (i = 0; i < s->ftl.cfg.units; i++)
			if (s->ftl.map[i] & FTL_BUFFERED)
				return 8;
	return 0;
}

static inline void drive_close(struct drive *d)
{
	drive_drain(d);
	drive_reap(d);
	while (d->nr_mem)
		free(d->mem[--d->nr_mem]);
}

/* Loads */

struct load {
	unsigned long long seed;
	u64 at;
	enum sim_op op;
	u32 sectors;
	bool sequential;
};

static inline void load_send(struct drive *d, struct load *l)
{
	u64 places = d->c.sim.sectors / l->sectors;
	u64 at = l->sequential ? l->at++ : tap_rand(&l->seed);

	drive_send(d, l->op, at % places * l->sectors, l->sectors);
}

/* Keeps @depth requests in the drive until @nr have completed. */
static inline void drive_loop(struct drive *d, struct load *l, u32 depth,
			      u64 nr)
{
	u64 end = d->ended + nr;

	while (depth--)
		load_send(d, l);
	while (d->ended < end && drive_step(d)) {
		u64 again = 0;
		struct sim_rq *rq;

		for (rq = d->done; rq; rq = rq->next)
			again++;
		drive_reap(d);
		while (again--)
			load_send(d, l);
	}
}

/* Submits @nr requests at one time to an idle drive; they are in d->done. */
static inline void drive_burst(struct drive *d, struct load *l, u32 nr)
{
	drive_reap(d);
	while (nr--)
		load_send(d, l);
	drive_drain(d);
}

/* @got within @ppm / 10^6 of @want */
#define near(got, want, ppm, ...) do { \
	double got_ = (got), want_ = (want); \
	bool near_ = got_ >= want_ * (1 - (ppm) / 1e6) && \
		     got_ <= want_ * (1 + (ppm) / 1e6); \
	eq(near_, 1, __VA_ARGS__); \
	if (!near_) \
		printf("# got %g, want %g within %g %%\n", got_, want_, \
		       (ppm) / 1e4); \
} while (0)

#endif /* FLASHSIM_BENCH_H */
