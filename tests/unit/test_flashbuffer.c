// SPDX-License-Identifier: GPL-2.0
/*
 * The whole drive: the write buffer, mapping units smaller than pages, garbage
 * collection, the SLC buffer.
 */
#include "flashdrive.h"

/* Write buffer */

static void buffer(void)
{
	struct drive_cfg c = drive_buffer(1, 4, 1);
	const u64 in = FW_WRITE, prog = T_BUS + T_PROG;
	struct sim_rq *w[8], *f, *r;
	struct drive d;
	unsigned int i;

	drive_open(&d, &c);
	for (i = 0; i < 6; i++)
		w[i] = page_at(&d, 0, SIM_WRITE, i, 1);
	drive_drain(&d);
	for (i = 0; i < 4; i++)
		eq(w[i]->done, in + (i + 1) * T_LINK, "write %u of 4: in", i);
	eq(w[4]->done, in + T_LINK + prog, "the fifth waits for a program");
	eq(w[5]->done, in + T_LINK + 2 * prog, "the sixth for two");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* More than the buffer at once */
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 10);
	drive_drain(&d);
	eq(w[0]->done, in + 12165 + 6 * prog, "10 pages through a buffer of 4");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Programs of four, and never four units in the buffer */
	c = drive_buffer(1, 6, 4);
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 3);
	drive_drain(&d);
	eq(w[0]->done, in + 3 * T_LINK - 1, "three pages of a program of four");
	eq(d.s->stats.nand_programs, 0, "wait in the buffer");
	eq(d.s->ring_nr, 3, "as long as no write needs more");
	f = flush_at(&d, 500000);
	drive_drain(&d);
	eq(f->done, 500000 + FW_WRITE + 4 * T_BUS + T_PROG,
	   "a flush wants it: a whole program for three");
	eq(d.s->ftl.flash, 4, "padded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* A program of two ranges: each has the time of its units. */
	c = drive_buffer(1, 8, 4);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 100, 1);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	drive_drain(&d);
	eq(drive_rest(&d), 0, "at rest");
	eq(d.s->stats.nand_programs, 1, "one program");
	eq(d.s->stats.range_ns[1][1], (4 * T_BUS + T_PROG) / 4,
	   "a quarter of it");
	eq(d.s->stats.range_ns[0][1],
	   4 * T_BUS + T_PROG - (4 * T_BUS + T_PROG) / 4, "and the rest");
	drive_close(&d);

	/* Less room than a write needs, and less than a program in the remaining room */
	for (i = 0; i < 3; i++) {
		c = drive_buffer(1, 4 + i, 4);
		drive_open(&d, &c);
		w[0] = page_at(&d, 0, SIM_WRITE, 0, 11);
		w[1] = page_at(&d, 0, SIM_WRITE, 100, 1);
		w[2] = fua_at(&d, 0, 200, 11);
		drive_drain(&d);
		eq(w[0]->done != SIM_NEVER && w[1]->done != SIM_NEVER, 1,
		   "11 pages, a buffer of %u, programs of 4", 4 + i);
		eq(w[2]->done != SIM_NEVER, 1, "with FUA, too");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
	c = drive_buffer(1, 3, 4);
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 9);
	drive_drain(&d);
	eq(w[0]->done, in + 10949 + 2 * (4 * T_BUS + T_PROG),
	   "a buffer smaller than a program: it is programmed in part");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Reads of units in the buffer */
	c = drive_buffer(1, 4, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 7, 1);
	r = page_at(&d, 20000, SIM_READ, 7, 1);
	drive_drain(&d);
	eq(r->done, 20000 + FW_READ + T_LINK,
	   "a read of what is being programmed");
	eq(r->chips, 0, "needs no chip");
	eq(d.s->stats.buffer_hits, 1, "a hit");
	r = page_at(&d, 500000, SIM_READ, 7, 1);
	drive_drain(&d);
	eq(r->done, 500000 + FW_READ + T_READ + T_BUS + T_LINK,
	   "afterwards it is read from the flash");
	page_at(&d, 1000000, SIM_WRITE, 8, 1);
	r = page_at(&d, 1020000, SIM_READ, 7, 2);
	drive_drain(&d);
	/* Die 0 programs page 8 until then. */
	eq(r->done, 1000000 + in + T_LINK + prog + T_READ + T_BUS + T_LINK,
	   "one page from the buffer, one from the flash");
	r = page_at(&d, 2000000, SIM_READ, 300, 2);
	drive_drain(&d);
	eq(r->done, 2000000 + FW_READ + 2 * T_LINK - 1,
	   "what was never written");
	eq(d.s->stats.buffer_hits, 2, "is no hit");
	eq(d.s->stats.nand_reads, 2, "and no read");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

static void flushes(void)
{
	struct drive_cfg c = drive_buffer(1, 16, 4);
	const u64 prog = 4 * T_BUS + T_PROG, in = FW_WRITE + 4866;
	struct sim_rq *f[3], *w;
	struct drive d;

	/* A, flush, B: the flush does not wait for B. */
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	f[0] = flush_at(&d, 20000);
	page_at(&d, 25000, SIM_WRITE, 4, 8);
	f[1] = flush_at(&d, 50000);
	drive_drain(&d);
	eq(f[0]->done, in + prog, "a flush waits for what was there before");
	eq(f[1]->done, in + 3 * prog, "the next one for the rest");
	f[2] = flush_at(&d, d.now);
	drive_drain(&d);
	eq(f[2]->done - f[2]->arrival, FW_WRITE,
	   "nothing there: firmware only");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* One program at a time: both halves are in the buffer together. */
	c.progs = 1;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	page_at(&d, 1, SIM_WRITE, 4, 2);
	f[0] = flush_at(&d, 40000);
	page_at(&d, 50000, SIM_WRITE, 6, 2);
	f[1] = flush_at(&d, 60000);
	page_at(&d, 70000, SIM_WRITE, 8, 4);
	drive_drain(&d);
	eq(f[0]->done, in + 2 * prog,
	   "a program does not reach across a flush");
	eq(f[1]->done, in + 3 * prog, "but begins anew behind it");
	eq(d.s->stats.nand_programs, 4, "four programs");
	eq(d.s->ftl.flash, 16, "two of them padded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* FUA is a flush after the write, and does not delay other requests. */
	c = drive_buffer(1, 16, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 1);
	w = fua_at(&d, 0, 1, 1);
	f[0] = page_at(&d, 0, SIM_WRITE, 2, 1);
	drive_drain(&d);
	eq(w->done, FW_WRITE + T_LINK + 2 * (T_BUS + T_PROG),
	   "FUA: when it is in the flash");
	eq(f[0]->done, FW_WRITE + 3 * T_LINK,
	   "a write behind it is not held up");
	eq(w->chips, 0, "its chips are the buffer's matter");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* Operations on a unit in the buffer */
static void in_buffer(void)
{
	struct drive_cfg c = drive_buffer(1, 16, 4);
	struct sim_rq *r;
	struct drive d;
	unsigned int i;

	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	for (i = 0; i < 10; i++)
		page_at(&d, 100000 + i * 100000, SIM_WRITE, 2, 1);
	drive_drain(&d);
	eq(d.s->buffered, 3,
	   "overwritten in the buffer: it takes no more room");
	flush_at(&d, d.now);
	drive_drain(&d);
	eq(d.s->ftl.host, 13, "but the host has written it");
	eq(d.s->ftl.flash, 4, "one program");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* One copy is being programmed, another is in the buffer. */
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	page_at(&d, 100000, SIM_WRITE, 3, 1);
	page_at(&d, 101000, SIM_WRITE, 3, 1);
	page_at(&d, 300000, SIM_WRITE, 3, 1);
	r = page_at(&d, 500000, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->chips, 0, "the newest data is in the buffer, and read there");
	eq(d.s->buffered, 1, "once");
	page_at(&d, d.now, SIM_WRITE, 4, 3);
	drive_drain(&d);
	r = page_at(&d, d.now, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->chips, 1, "then it is in the flash");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Programs of one, but only one at a time: many copies in the buffer */
	c = drive_buffer(1, 16, 1);
	c.progs = 1;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 9, 1);
	for (i = 0; i < 3; i++)
		page_at(&d, 20000 + i, SIM_WRITE, 5, 1);
	for (i = 0; i < 3; i++) {
		r = page_at(&d, 210000 + i * 50000, SIM_READ, 5, 1);
		drive_until(&d, 210000 + i * 50000 + FW_READ + T_LINK);
		eq(r->done, 210000 + i * 50000 + FW_READ + T_LINK,
		   "a read while a copy is still in the buffer");
	}
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Discarded units stay discarded. */
	c = drive_buffer(1, 16, 4);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	page_at(&d, 100000, SIM_DISCARD, 1, 1);
	flush_at(&d, 200000);
	drive_drain(&d);
	eq(d.s->ftl.map[1], FTL_NONE, "discarded in the buffer: nowhere");
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[2] < FTL_NONE, 1,
	   "its neighbours are in the flash");
	r = page_at(&d, d.now, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(r->chips, 0, "and it is no work to read it");
	page_at(&d, d.now, SIM_WRITE, 1, 1);
	page_at(&d, d.now + 50000, SIM_DISCARD, 1, 1);
	page_at(&d, d.now + 100000, SIM_WRITE, 1, 1);
	drive_drain(&d);
	r = page_at(&d, d.now, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(r->chips, 0, "discarded and written again: in the buffer");
	flush_at(&d, d.now);
	drive_drain(&d);
	eq(d.s->ftl.map[1] < FTL_NONE, 1, "and then in the flash");
	drive_send(&d, SIM_DISCARD, 1, 14);
	drive_drain(&d);
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[1] < FTL_NONE, 1,
	   "a part of a unit is not discarded");
	drive_send(&d, SIM_ZEROES, 7, 10);
	drive_drain(&d);
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[1] == FTL_NONE &&
	   d.s->ftl.map[2] < FTL_NONE, 1, "zeroes: what lies in them wholly");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* Units of 4 KiB in pages of 16 */
static void small_units(void)
{
	struct drive_cfg c = drive_buffer(2, 32, 8);
	struct sim_rq *r;
	struct drive d;

	c.ftl.per_page = 4;
	c.sim.page = 16384;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 8);
	r = page_at(&d, 1000000, SIM_READ, 0, 8);
	drive_drain(&d);
	eq(d.s->stats.nand_programs, 1, "8 units: one program");
	eq(d.s->stats.nand_reads, 2, "two pages");
	eq(r->chips, 1, "on one chip");
	/* Two transfers; the link time of the first one overlaps the second. */
	eq(r->done - r->arrival, FW_READ + 2 * (T_READ + 4 * T_BUS) + 4866,
	   "read one by one");
	r = page_at(&d, 2000000, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->done - r->arrival, FW_READ + T_READ + T_BUS + T_LINK,
	   "one unit: only it is moved");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* Garbage collection on the dies: its cost for writes */
static void collection(void)
{
	struct drive_cfg c = drive_plain(1, 1, 1);
	struct sim_rq *w;
	struct drive d;
	u64 copies, most = 0;
	unsigned int i;
	struct load l = { .seed = 1, .op = SIM_WRITE, .sectors = PAGE_SECTORS };

	c.ftl.gc = FTL_GC_CHIP;
	c.ftl.whole = true;
	c.sim.sectors = 512 * 8;
	c.fill = 512;
	c.overwrites = 1024;
	c.spare = 4;
	drive_open(&d, &c);
	for (i = 0; i < 200; i++) {
		u64 erases = d.s->ftl.erases, want;

		copies = d.s->ftl.copies;
		w = page_at(&d, d.now, SIM_WRITE, tap_rand(&l.seed) % 512, 1);
		drive_drain(&d);
		copies = d.s->ftl.copies - copies;
		erases = d.s->ftl.erases - erases;
		want = FW_WRITE + T_LINK + copies * (T_READ + T_PROG +
						     2 * T_BUS) +
			T_BUS + T_PROG + erases * 3500000;
		if (w->done - w->arrival != want)
			break;
		if (copies > most)
			most = copies;
		drive_reap(&d);
	}
	eq(i, 200, "each write takes what it collects, and no more");
	eq(most > 4, 1, "blocks were collected");
	eq(d.s->stats.gc_ns, d.s->ftl.copies * (T_READ + T_PROG) +
	   d.s->ftl.erases * 3500000, "time of it");
	eq(d.s->stats.nand_programs, 200 + d.s->ftl.copies, "programs");
	eq(d.s->stats.nand_reads, d.s->ftl.copies, "reads");
	eq(d.s->nand.chip[0].erases, d.s->ftl.erases, "erases");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Across dies: separate commands, also when none is left. */
	for (i = 0; i < 3; i++) {
		c = drive_buffer(4, 16, 1);
		c.ftl.gc = FTL_GC_DEVICE;
		c.sim.sectors = 512 * 8;
		c.fill = 512;
		c.overwrites = 2048;
		c.spare = 2;
		c.gcs = i == 2 ? 3 : i;
		drive_open(&d, &c);
		drive_loop(&d, &l, 32, 2000);
		eq(d.s->ftl.copies > 100, 1, "device, %u commands: it collects",
		   c.gcs);
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void slc(void)
{
	struct drive_cfg c = drive_buffer(2, 8, 2);
	const u64 in = FW_WRITE + 2433;
	struct sim_rq *f;
	struct drive d;
	unsigned int i;
	u64 t, idle;

	c.sim.slc = 3;			/* programs a die: 6 in all */
	drive_open(&d, &c);
	for (i = 0; i < 9; i++) {
		/* A flush behind each write: the program's own time */
		page_at(&d, i * 300000, SIM_WRITE, i * 2, 2);
		f = flush_at(&d, i * 300000 + 5000);
		drive_until(&d, i * 300000 + 290000);
		eq(f->done, i * 300000 + in + 2 * T_BUS +
		   (i < 6 ? 30000 : T_PROG), "write %u: %s", i,
		   i < 6 ? "into the SLC buffer" : "it is full");
	}
	idle = f->done;
	eq(d.s->slc_all, 6, "six programs in it");
	eq(d.s->stats.slc_programs, 6, "counted");
	drive_until(&d, idle + 999999);
	eq(d.s->folding, 0, "not yet idle for long");
	drive_until(&d, idle + 1000000);
	eq(d.s->folding, 2, "now both dies fold");
	drive_until(&d, idle + 1000000 + 2 * T_READ + T_PROG);
	eq(d.s->stats.slc_folds, 2, "two reads and a program each");
	eq(d.s->folding, 2, "and continue");

	/* A read arrives: the current folding completes, and no other starts. */
	t = d.now + 100000;
	f = page_at(&d, t, SIM_READ, 0, 1);
	drive_until(&d, t + 400000);
	eq(f->done, idle + 1000000 + 2 * (2 * T_READ + T_PROG) + T_READ +
	   T_BUS + T_LINK, "a request waits for the fold under way");
	eq(d.s->stats.slc_folds, 4, "which are the last");
	eq(d.s->folding, 0, "for now");
	drive_until(&d, f->done + 999999);
	eq(d.s->folding, 0, "until it is idle again");
	drive_drain(&d);
	eq(d.s->slc_all, 0, "in the end all is folded");
	eq(d.s->stats.slc_folds, 6, "six");
	page_at(&d, d.now, SIM_WRITE, 0, 2);
	t = d.now;
	f = flush_at(&d, d.now + 5000);
	drive_drain(&d);
	eq(f->done, t + in + 2 * T_BUS + 30000, "and writes are fast again");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* A request that arrived and completed during a fold has stopped it, too. */
	drive_open(&d, &c);
	for (i = 0; i < 4; i++)
		page_at(&d, i * 100000, SIM_WRITE, i * 2, 2);
	idle = 300000 + in;
	f = page_at(&d, idle + 1000000 + 1000, SIM_READ, 900, 1);
	drive_until(&d, idle + 1000000 + 500000);
	eq(f->done, f->arrival + FW_READ + T_LINK, "a read that needs no die");
	eq(d.s->stats.slc_folds, 2, "one fold each has ended");
	eq(d.s->folding, 0, "then the device is not idle for long enough");
	drive_until(&d, f->done + 1000000);
	eq(d.s->folding, 2, "then it is");
	drive_drain(&d);
	eq(d.s->slc_all, 0, "all folded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/*
	 * Idle for the host, but one die still programs: it folds later, long
	 * after the idle time has passed.
	 */
	for (i = 0; i < 2; i++) {
		c = drive_buffer(2, 64, 2);
		c.sim.slc = 8;
		c.sim.slc_idle = i * 1000;
		drive_open(&d, &c);
		page_at(&d, 0, SIM_WRITE, 0, 6);
		drive_drain(&d);
		eq(d.bad, 0, "idle after %u ns: time advances", i * 1000);
		eq(d.s->slc_all, 0, "all folded");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

int main(void)
{
	/* A test that hangs must not block the other tests. */
	alarm(300);
	buffer();
	flushes();
	in_buffer();
	small_units();
	collection();
	slc();
	return tap_done();
}
