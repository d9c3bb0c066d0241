// SPDX-License-Identifier: GPL-2.0
/*
 * What a host can gain for reads among writes of 512 KiB at all, before flashsim's own
 * model of drives: an order that sees how many programs the drive has under way, which
 * none can, beside mq-deadline and mode auto.
 *
 * With the argument `table` it prints the table of docs/layer_read-results.md, in some
 * minutes.
 */
#include "layerdrive.h"

#define NEVER	0
#define ANY	(~0u)

static struct host h;

struct found {
	double mbps, p99, ahead;
};

/* What each drive is: as the suite's. */
struct which {
	const char *name;
	bool f;
	enum nand_order order;
	bool at_rest;
};

static const struct which d = { "d", false, NAND_CHIP_FIFO, false };
static const struct which d_first = { "d-read-first", false, NAND_READ_FIRST, false };
static const struct which d_static = { "d-static", false, NAND_CHIP_FIFO, true };
static const struct which f = { "f", true, NAND_CHIP_FIFO, false };

static struct found load(const struct which *on, enum host_order order,
			 struct host_seer see, u32 read_pct, u32 nr,
			 unsigned long long seed)
{
	struct drive_cfg cfg = on->f ? profile_f(on->order, on->at_rest) :
			       profile_d(on->order, on->at_rest);
	struct mix m = {
		.seed = seed, .read_pct = read_pct, .sectors = 1024,
		.skip = nr / 10, .nr = nr,
	};
	struct found got;

	host_open(&h, order, &cfg, 1023);
	host_layer(&h, LAYER_AUTO, "none");
	h.see = see;
	got.mbps = mix_run(&h, &m, 16);
	got.p99 = mix_us(&m, FLASH_READ, 0.99) / 1e3;
	mix_free(&m);
	host_close(&h);
	return got;
}

static struct found seer(const struct which *on, u32 programs, u64 gap_us,
			 u32 drained, u32 read_pct)
{
	struct host_seer see = {
		.programs = programs, .gap = gap_us * 1000, .drained = drained,
	};

	return load(on, HOST_SEER, see, read_pct, 3000, 7919);
}

static struct found deadline(const struct which *on, u32 read_pct)
{
	return load(on, HOST_DEADLINE, (struct host_seer){ 0 }, read_pct, 3000,
		    7919);
}

static void say(const char *what, struct found got, struct found than)
{
	printf("# %s: %.3f of the throughput, %.2f of the read p99\n", what,
	       got.mbps / than.mbps, got.p99 / than.p99);
}

/* Full and overwritten, each die busy throughout: half the p99 has its price. */
static void full(u32 read_pct)
{
	static const u32 programs[] = { 8, 14, 20, 26 };
	struct found than = deadline(&d, read_pct), got;
	u32 i, both = 0;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		got = seer(&d, programs[i], 0, NEVER, read_pct);
		printf("# %u%% reads, %u programs\n", read_pct, programs[i]);
		say("d", got, than);
		both += got.mbps >= 0.97 * than.mbps && got.p99 <= 0.6 * than.p99;
		if (!i)
			eq(got.p99 <= 0.5 * than.p99 &&
			   got.mbps <= 0.9 * than.mbps, 1,
			   "few programs: half the p99, and less throughput");
	}
	eq(both, 0, "none with 0.97 of the throughput has 0.6 of the p99");
}

static void others(void)
{
	struct found than = deadline(&d, 50), got;

	got = seer(&d, ANY, 0, 100, 50);
	say("d, reads once all is programmed", got, than);
	eq(got.mbps <= 0.8 * than.mbps, 1, "phases leave dies idle");
	than = deadline(&d_first, 50);
	got = seer(&d_first, 8, 0, NEVER, 50);
	say("d-read-first, 8 programs", got, than);
	eq(got.p99 >= 0.95 * than.p99, 1,
	   "nothing to gain where the drive reads first");
	/* The same number of pages for each die: none is far behind the others. */
	than = deadline(&d_static, 50);
	got = seer(&d_static, 14, 0, NEVER, 50);
	say("d-static, 14 programs", got, than);
	eq(got.p99 <= 0.6 * than.p99 && got.mbps >= 0.97 * than.mbps, 1,
	   "where pages go by address there is");
	/* Reads are what is short there: dies have time to spare. */
	than = deadline(&f, 50);
	got = seer(&f, ANY, 1750, NEVER, 50);
	say("f, a write each 1.75 ms", got, than);
	eq(got.p99 <= 0.6 * than.p99 && got.mbps >= 0.97 * than.mbps, 1,
	   "and for who knows the rate of a drive that has time to spare");
	got = seer(&f, ANY, 2200, NEVER, 50);
	say("f, a write each 2.2 ms", got, than);
	eq(got.mbps <= 0.9 * than.mbps, 1, "a quarter too slow costs throughput");
}

int main(void)
{
	full(50);
	full(70);
	others();
	return tap_done();
}
