// SPDX-License-Identifier: GPL-2.0
/*
 * The whole drive: the order in which it serves waiting requests, the operations that it
 * suspends, the conflicts that it counts, and its other counters.
 */
#include "flashdrive.h"

/* Orders */

/*
 * A drive in which only the arrays take time, compared with a queue that is
 * processed from its head with a clock for each die.
 */
static void in_order(void)
{
	unsigned int round;

	for (round = 0; round < 40; round++) {
		struct drive_cfg c = drive_bare(4, 1 + round % 2, 1);
		unsigned long long seed = round;
		u64 begun[200], done[200], start = 0, t = 0;
		struct sim_rq *rq[200];
		u64 idle[8] = { 0 };
		unsigned int i, k, bad = 0, luns = 4 * (1 + round % 2);
		struct drive d;

		c.sim.nand.order = NAND_IN_ORDER;
		c.log_len = 200;
		drive_open(&d, &c);
		for (i = 0; i < 200; i++) {
			bool write = tap_rand(&seed) % 3 == 0;
			u32 nr = 1 + tap_rand(&seed) % 4 *
				(tap_rand(&seed) % 2);
			u64 page = tap_rand(&seed) % 1000;
			u64 each = write ? T_PROG : T_READ;

			t += tap_rand(&seed) % (round % 5 * 20000 + 1);
			rq[i] = page_at(&d, t, write ? SIM_WRITE : SIM_READ,
					page, nr);
			/* The other one */
			if (start < t)
				start = t;
			for (k = 0; k < nr; k++)
				if (idle[(page + k) % luns] > start)
					start = idle[(page + k) % luns];
			begun[i] = done[i] = start;
			for (k = 0; k < nr; k++) {
				u64 *die = &idle[(page + k) % luns];

				if (*die < start)
					*die = start;
				*die += each;
				if (*die > done[i])
					done[i] = *die;
			}
		}
		drive_drain(&d);
		for (i = 0; i < 200; i++)
			bad += rq[i]->begun != begun[i] ||
				rq[i]->done != done[i];
		eq(bad, 0, "in order: 200 requests, %u dies, round %u", luns,
		   round);
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void orders(void)
{
	static const struct {
		enum nand_order order;
		u64 done[4];
	} is[] = {
		/* W 0, W 0, R 0, R 1 arrive together on two dies */
		{ NAND_CHIP_FIFO, { T_PROG, 2 * T_PROG, 2 * T_PROG + T_READ,
				    T_READ } },
		{ NAND_READ_FIRST, { T_PROG, 2 * T_PROG + T_READ,
				     T_PROG + T_READ, T_READ } },
		{ NAND_IN_ORDER, { T_PROG, 2 * T_PROG, 2 * T_PROG + T_READ,
				   2 * T_PROG + T_READ } },
	};
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		struct drive_cfg c = drive_bare(2, 1, 1);
		struct sim_rq *rq[4];
		struct drive d;

		c.sim.nand.order = is[i].order;
		drive_open(&d, &c);
		rq[0] = page_at(&d, 0, SIM_WRITE, 0, 1);
		rq[1] = page_at(&d, 0, SIM_WRITE, 2, 1);
		/* Writes cross the link before they get to a die. */
		drive_until(&d, 0);
		rq[2] = page_at(&d, 0, SIM_READ, 4, 1);
		rq[3] = page_at(&d, 0, SIM_READ, 1, 1);
		drive_drain(&d);
		for (k = 0; k < 4; k++)
			eq(rq[k]->done, is[i].done[k], "order %u: request %u",
			   i, k);
		drive_close(&d);
	}
}

static void suspension(void)
{
	unsigned int on;

	for (on = 0; on < 2; on++) {
		struct drive_cfg c = drive_plain(1, 1, 1);
		struct sim_rq *r, *w;
		struct drive d;

		c.sim.nand.suspend = on * 7000;
		drive_open(&d, &c);
		w = page_at(&d, 0, SIM_WRITE, 0, 1);
		r = page_at(&d, 50000, SIM_READ, 1, 1);
		drive_drain(&d);
		if (on) {
			eq(r->done, 50000 + FW_READ + 7000 + T_READ + T_BUS +
			   T_LINK, "suspend: the read");
			eq(w->done, FW_WRITE + T_LINK + T_BUS + T_PROG + 7000 +
			   T_READ + T_BUS, "suspend: the write keeps its time");
		} else {
			eq(w->done, FW_WRITE + T_LINK + T_BUS + T_PROG,
			   "no suspend: the write");
			eq(r->done, w->done + T_READ + T_BUS + T_LINK,
			   "no suspend: the read");
		}
		eq(d.s->nand.stats.suspends, on, "counted");
		eq(d.s->nand.stats.wait[0], on ? 0 : w->done - 50000 - FW_READ,
		   "and what the read waited");
		eq(r->conflict, 1, "a conflict either way");
		drive_close(&d);
	}
}

static void conflicts(void)
{
	struct drive_cfg c = drive_plain(4, 1, 1);
	const struct nand_stats *n;
	const struct sim_stats *st;
	struct drive d;

	drive_open(&d, &c);
	n = &d.s->nand.stats;
	st = &d.s->stats;
	page_at(&d, 0, SIM_READ, 0, 1);
	page_at(&d, 0, SIM_READ, 4, 1);
	page_at(&d, 0, SIM_READ, 1, 1);
	page_at(&d, 0, SIM_READ, 2, 8);		/* 2 3 0 1 2 3 0 1 */
	page_at(&d, 30000, SIM_WRITE, 0, 1);
	page_at(&d, 30000, SIM_WRITE, 4, 1);
	drive_drain(&d);
	eq(n->conflicts[0][0], 3, "reads behind others' reads");
	eq(n->conflicts[0][1], 1, "a write behind a read");
	eq(n->conflicts[1][1], 1, "a write behind a write");
	eq(n->conflicts[1][0], 0, "no read behind a write");
	eq(st->conflict_requests[0], 2, "two reads with a conflict");
	eq(st->conflict_requests[1], 2, "and two writes");
	drive_close(&d);
}

/* Counters */

static void counters(void)
{
	struct drive_cfg c = drive_plain(4, 2, 2);
	unsigned int round;

	for (round = 0; round < 6; round++) {
		u64 chip_time = 0, busy = 0, active = 0, t = 0, sum = 0;
		u64 reads = 0, writes = 0, latency[2] = { 0 }, ended[2] = { 0 };
		u64 before[8] = { 0 }, from = 0, rows_r = 0, rows_w = 0;
		u64 rows_busy = 0, rows_bytes = 0, rows_copies = 0;
		u64 range_time = 0, row_most = 0, in_flight;
		unsigned long long seed = round + 1;
		unsigned int i, k, logged, bad = 0;
		const struct sim_stats *st;
		struct drive d;
		struct sim *s;

		if (round & 1) {
			c.ftl.gc = FTL_GC_CHIP;
			c.sim.sectors = 1024 * 8;
			c.fill = 1024;
			c.overwrites = 2048;
		} else {
			c.ftl.gc = FTL_GC_NONE;
		}
		c.sim.nand.order = round % 3;
		c.log_len = 300;
		c.row_len = 40000;
		c.sim.series = 100000;
		drive_open(&d, &c);
		s = d.s;
		st = &s->stats;
		for (i = 0; i < 1200 || sim_next(s) != SIM_NEVER; ) {
			bool send = i < 1200 && (tap_rand(&seed) % 4 == 0 ||
						 sim_next(s) == SIM_NEVER);
			u64 then = sim_next(s), dt;
			struct sim_rq *rq;

			if (send && t + tap_rand(&seed) % 40000 < then)
				then = t + tap_rand(&seed) % 9000;
			if (then > sim_next(s))
				then = sim_next(s);
			if (then == SIM_NEVER)
				then = t + 50000;
			dt = then - t;
			for (k = 0; k < 8; k++) {
				bool works = s->nand.lun[k].cur ||
					s->nand.lun[k + 8].cur;

				chip_time += works * dt;
				busy += (works && s->outstanding) * dt;
			}
			active += !!s->outstanding * dt;
			t = then;
			drive_until(&d, t);
			for (rq = d.done; rq; rq = rq->next) {
				ended[rq->op]++;
				latency[rq->op] += rq->done - rq->arrival;
				reads += (rq->op == SIM_READ) * rq->sectors;
				writes += (rq->op == SIM_WRITE) * rq->sectors;
			}
			drive_reap(&d);
			if (i == 200 && send) {
				/* A reset while the drive works. */
				sim_reset_stats(s, t);
				from = t;
				chip_time = busy = active = reads = writes = 0;
				memset(latency, 0, sizeof(latency));
				memset(ended, 0, sizeof(ended));
				eq(st->outstanding_max, s->outstanding,
				   "reset with %u requests outstanding",
				   s->outstanding);
				eq(s->log_nr + s->row_nr, 0, "no rows");
				for (k = 0; k < 8; k++)
					before[k] = nand_chip_busy(&s->nand, k,
								   t);
				for (k = 0; k < 8; k++)
					sum += before[k];
				eq(sum, 0, "chips restart from 0");
				sum = 0;
			}
			if (send) {
				u32 nr = 1 + tap_rand(&seed) % 32;

				i++;
				drive_send(&d, tap_rand(&seed) % 2 ? SIM_READ :
					   SIM_WRITE, tap_rand(&seed) %
					   (c.sim.sectors - nr), nr);
			}
		}
		for (k = 0; k < 8; k++)
			sum += nand_chip_busy(&s->nand, k, t);
		eq(sum, chip_time, "round %u: time of the chips", round);
		eq(s->nand.stats.busy, busy, "their time with requests");
		eq(s->nand.stats.active, active, "time with requests");
		eq(s->now - s->start, t - from, "elapsed");
		eq(st->requests[SIM_READ], ended[0], "reads");
		eq(st->requests[SIM_WRITE], ended[1], "writes");
		eq(st->bytes[0], reads * 512, "bytes read");
		eq(st->bytes[1], writes * 512, "bytes written");
		eq(st->latency[0], latency[0], "latency of reads");
		eq(st->latency[1], latency[1], "latency of writes");
		for (k = 0; k < 8; k++)
			range_time += st->range_ns[k][0] + st->range_ns[k][1];
		eq(range_time > 0, 1, "ranges");

		/* Rows: the last one is not yet closed. */
		in_flight = 0;
		drive_until(&d, t + c.sim.series);
		eq(s->row_nr, (d.now - from) / c.sim.series, "rows");
		for (i = 0; i < s->row_nr; i++) {
			rows_r += s->row[i].reads;
			rows_w += s->row[i].writes;
			rows_bytes += s->row[i].read_bytes +
				s->row[i].write_bytes;
			rows_copies += s->row[i].copies;
			if (s->row[i].outstanding > row_most)
				row_most = s->row[i].outstanding;
			for (k = 0; k < 8; k++) {
				u16 share = s->row_chip[i * 8 + k];

				rows_busy += share;
				bad += share > 1000;
			}
			in_flight = s->row[i].outstanding;
		}
		eq(rows_r, ended[0], "rows: reads");
		eq(rows_w, ended[1], "rows: writes");
		eq(rows_bytes, (reads + writes) * 512, "rows: bytes");
		eq(rows_copies, s->ftl.copies, "rows: copies");
		eq(in_flight, 0, "nothing outstanding in the last");
		eq(row_most > 0 && row_most <= st->outstanding_max, 1,
		   "but before");
		eq(bad, 0, "no chip is busy for more than all the time");
		/* Each share is rounded down. */
		eq(rows_busy * c.sim.series / 1000 <= chip_time &&
		   (rows_busy + 8 * s->row_nr) * c.sim.series / 1000 >=
		   chip_time, 1, "rows: time of the chips");

		logged = s->log_nr;
		eq(logged, 300, "the log is full");
		for (bad = i = 0; i < logged; i++) {
			const struct sim_log *l = &s->log[i];

			bad += l->begun < l->arrival || l->done < l->begun ||
				!l->sectors || l->op > SIM_WRITE ||
				(!(round & 1) && l->chips !=
				 (l->sector % 8 + l->sectors + 7) / 8);
			bad += i && l->done < l[-1].done;
		}
		eq(bad, 0, "the log is in order");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void log_row(void)
{
	struct drive_cfg c = drive_plain(4, 1, 1);
	const struct sim_log *l;
	struct drive d;

	c.log_len = 2;
	drive_open(&d, &c);
	page_at(&d, 1000, SIM_READ, 6, 3);
	flush_at(&d, 500000);
	flush_at(&d, 600000);
	drive_drain(&d);
	l = d.s->log;
	eq(d.s->log_nr, 2, "a log of two rows");
	eq(l->arrival, 1000, "arrival");
	eq(l->begun, 1000 + FW_READ, "begin");
	eq(l->done, 1000 + FW_READ + T_READ + T_BUS + 3 * T_LINK, "end");
	eq(l->sector, 48, "sector");
	eq(l->sectors, 24, "sectors");
	eq(l->chip, 2, "first chip");
	eq(l->chips, 3, "chips");
	eq(l->op, SIM_READ, "a read");
	eq(l[1].op, SIM_FLUSH, "a flush");
	eq(l[1].begun, l[1].done, "begins when it ends, as it has no chip");
	drive_close(&d);

	/* Ranges: an eighth of the capacity each */
	c = drive_plain(4, 1, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 0, 1);
	page_at(&d, 1000000, SIM_READ, 2047, 2);
	page_at(&d, 2000000, SIM_WRITE, 16383, 1);
	drive_drain(&d);
	eq(d.s->stats.range_ns[0][0], 3 * (T_READ + T_BUS),
	   "range 0: what begins there");
	eq(d.s->stats.range_ns[1][0], 0, "range 1: nothing");
	eq(d.s->stats.range_ns[7][1], T_BUS + T_PROG, "range 7: a write");
	drive_close(&d);

	/* An offset moves pages among the dies, not among the ranges. */
	c.sim.offset = 8;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 0, 1);
	drive_drain(&d);
	eq(d.done->chip, 1, "offset: a page further");
	drive_reap(&d);
	page_at(&d, d.now, SIM_READ, 16383, 1);
	drive_drain(&d);
	eq(d.done->chip, 0, "and so at the end");
	eq(d.s->stats.range_ns[7][0], T_READ + T_BUS, "the last range");
	drive_close(&d);
	c.sim.offset = 3;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(d.done->chips, 2, "an offset across pages: two chips");
	drive_close(&d);
}

int main(void)
{
	/* A test that hangs must not block the other tests. */
	alarm(300);
	in_order();
	orders();
	suspension();
	conflicts();
	counters();
	log_row();
	return tap_done();
}
