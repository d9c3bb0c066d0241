// SPDX-License-Identifier: GPL-2.0
/*
 * The whole drive: random drives under random requests, and repeatability by the seed.
 */
#include "flashdrive.h"

/* Equal seeds give equal runs, other seeds do not. */
static void seeds(void)
{
	static const u32 seed[] = { 1, 1, 2 };
	u64 now[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct drive_cfg c = drive_buffer(4, 16, 2);
		struct load l = { .seed = 1, .op = SIM_WRITE, .sectors = 24 };
		struct drive d;

		c.sim.exponential = true;
		c.sim.seed = seed[i];
		c.fill = 1024;
		drive_open(&d, &c);
		drive_loop(&d, &l, 8, 2000);
		now[i] = d.now;
		eq(drive_rest(&d), 0, "seed %u", seed[i]);
		drive_close(&d);
	}
	eq(now[0], now[1], "the same to the nanosecond");
	eq(now[0] != now[2], 1, "another seed, another time");
}

/* Random drives, random requests */

/* For a longer run, increase this number and the time of alarm(). */
#ifndef FUZZ_ROUNDS
#define FUZZ_ROUNDS	1000u
#endif

static u32 one_of(unsigned long long *seed, const u32 *list, unsigned int nr)
{
	return list[tap_rand(seed) % nr];
}
#define pick(...) one_of(&seed, (const u32[]){ __VA_ARGS__ }, \
			 sizeof((const u32[]){ __VA_ARGS__ }) / sizeof(u32))

static struct drive_cfg fuzz_cfg(unsigned long long s)
{
	static const char *const stripes[] = { "CWD", "DWC", "WCD", "DCW" };
	unsigned long long seed = s * 77 + 1;
	struct drive_cfg c = drive_plain(pick(1, 2, 3, 4, 8), pick(1, 2, 3),
					 pick(1, 1, 2));
	u32 luns = c.sim.nand.channels * c.sim.nand.ways * c.sim.nand.dies;
	u32 units;

	c.sim.nand.order = pick(0, 1, 2);
	c.sim.nand.suspend = pick(0, 0, 1, 20000);
	c.sim.nand.ps_per_byte = pick(0, 100, 1250, 25000);
	c.sim.ps_link = pick(0, 297, 3000);
	c.sim.duplex = pick(0, 1);
	c.sim.fw_read = pick(0, 1000, 20000);
	c.sim.fw_write = pick(0, 1000, 10000);
	c.sim.fw_4k = pick(0, 460);
	c.sim.t_read = pick(0, 1, 36000, 36000);
	c.sim.t_prog = pick(0, 1, 185000, 185000);
	c.sim.t_prog_slc = pick(0, 30000);
	c.sim.t_erase = pick(0, 3500000);
	c.sim.exponential = pick(0, 1);
	c.sim.ranges = pick(1, 7, 64);
	c.sim.seed = tap_rand(&seed);
	c.sim.series = pick(1000, 50000, 1000000);
	c.row_len = pick(0, 1, 500);
	c.log_len = pick(0, 1, 50, 5000);
	c.sim.unit = pick(2048, 4096, 16384);
	drive_stripe(&c.ftl.layout, stripes[pick(0, 1, 2, 3)], &c.sim.nand);
	if (pick(0, 1) && !(luns & (luns - 1))) {
		c.ftl.layout.nr_xors = pick(1, 2);
		c.ftl.layout.xor[0] = pick(1, 3, 31);
		c.ftl.layout.xor[1] = pick(2, 5);
	}
	c.ftl.alloc = pick(FTL_STATIC, FTL_DYNAMIC, FTL_DYNAMIC);
	c.ftl.gc = c.ftl.alloc == FTL_STATIC ?
		pick(FTL_GC_NONE, FTL_GC_CHIP) :
		pick(FTL_GC_CHIP, FTL_GC_DEVICE);
	if (c.ftl.alloc == FTL_STATIC)
		c.sim.offset = pick(0, 0, 1, 63);
	c.ftl.whole = pick(0, 1);
	c.ftl.low = pick(0, 1, 2, 5, 1000);
	if (c.ftl.gc != FTL_GC_NONE && pick(0, 1, 1)) {
		if (c.ftl.alloc == FTL_DYNAMIC) {
			c.ftl.per_page = pick(1, 1, 2, 4);
			c.ftl.per_prog = c.ftl.per_page * pick(1, 1, 2, 3);
		}
		c.sim.buffer = c.ftl.per_prog * pick(1, 2, 5, 16) +
			pick(0, 1);
		c.progs = pick(0, 0, 1, 2);
		if (pick(0, 1)) {
			c.sim.slc = pick(1, 4, 1000);
			c.sim.slc_idle = pick(0, 1, 100000, 10000000);
		}
	}
	c.ftl.per_block = c.ftl.per_prog * pick(4, 6, 16);
	c.sim.page = c.sim.unit * c.ftl.per_page;
	units = luns * c.ftl.per_block * pick(1, 3, 8) + pick(0, 1, 5);
	c.sim.sectors = (u64)units * (c.sim.unit / 512) - pick(0, 0, 1, 3);
	c.fill = sim_units(&c.sim) / 4 * pick(0, 2, 4);
	c.overwrites = c.fill * pick(0, 1, 3);
	c.spare = pick(0, 0, 1, 8);
	c.gcs = pick(0, 2, 64);
	c.rewrites = c.fill / 4 * pick(0, 0, 1, 4);
	c.sim.vary = pick(0, 0, 100, 500);
	c.sim.nand.keep = pick(0, 1);
	return c;
}

static void fuzz(void)
{
	u64 requests = 0, gc = 0, hits = 0, suspends = 0, folds = 0, bad = 0;
	unsigned int round;

	for (round = 0; round < FUZZ_ROUNDS; round++) {
		unsigned long long seed = round;
		struct drive_cfg c = fuzz_cfg(round);
		u32 depth = pick(1, 4, 32, 100), nr = pick(100, 300), out = 0;
		u32 gap = pick(1, 1000, 300000), most = pick(1, 8, 64, 256);
		int ret;
		struct drive d;

		drive_open(&d, &c);
		while (d.sent < nr) {
			enum sim_op op = pick(0, 0, 0, 1, 1, 1, 1, 2, 3, 4);
			u32 sectors = 1 + tap_rand(&seed) % most;
			bool fua = op == SIM_WRITE && pick(0, 0, 0, 1);

			if (sectors > c.sim.sectors)
				sectors = (u32)c.sim.sectors;
			if (pick(0, 1) && sectors > 8)
				sectors &= ~7u;
			out = (u32)(d.sent - d.ended);
			if (out >= depth) {
				if (!drive_step(&d))
					break;
				drive_reap(&d);
				continue;
			}
			if (pick(0, 1)) {
				u64 t = d.now + tap_rand(&seed) % gap *
					pick(1, 1, 100);

				drive_until(&d, t);
				drive_reap(&d);
			}
			if (op == SIM_FLUSH)
				drive_send(&d, op, 0, 0);
			else
				drive_send_fua(&d, op, tap_rand(&seed) %
					       (c.sim.sectors - sectors + 1),
					       sectors, fua);
			if (pick(0, 0, 0, 0, 0, 0, 0, 0, 1))
				sim_reset_stats(d.s, d.now);
			bad += d.s->outstanding != d.sent - d.ended;
			bad += d.s->buffered > c.sim.buffer;
		}
		requests += d.ended;
		ret = drive_rest(&d);
		if (ret) {
			printf("# round %u: rule %d\n", round, ret);
			bad++;
		}
		gc += d.s->ftl.erases;
		hits += d.s->stats.buffer_hits;
		suspends += d.s->nand.stats.suspends;
		folds += d.s->stats.slc_folds;
		drive_close(&d);
	}
	eq(bad, 0, "%u random drives, %llu requests: all end, nothing is lost",
	   FUZZ_ROUNDS,
	   (unsigned long long)requests);
	eq(gc > 1000 && hits > 100 && suspends > 100 && folds > 100, 1,
	   "with %llu erases, %llu hits, %llu suspensions, %llu folds",
	   (unsigned long long)gc, (unsigned long long)hits,
	   (unsigned long long)suspends, (unsigned long long)folds);
}

int main(void)
{
	/* A test that hangs must not block the other tests. */
	alarm(300);
	seeds();
	fuzz();
	return tap_done();
}
