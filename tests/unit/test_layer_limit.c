// SPDX-License-Identifier: GPL-2.0
/*
 * Upper limit of what a host can gain for reads among writes of 512 KiB, on flashsim's
 * model of drives. An order that sees the number of programs in the drive, which no
 * host can, and mode auto are compared with mq-deadline. The lines `# row` and `# ahead`
 * become a part of docs/layer_read-results.md.
 */
#include "layerdrive.h"

#define NR	3000
#define DEPTH	16
#define NEVER	0
#define ANY	(~0u)

static struct host h;

struct found {
	double mbps, p99;
};

/**
 * struct ahead - sums, over all reads, of the work on the die with the longest queue
 * @reads: number of reads
 * @progs: programs on that die
 * @work: their remaining time, ns
 * @gc: the part of @work that is garbage collection, ns
 */
static struct ahead {
	u32 reads, progs;
	u64 work, gc;
} ahead;

static u64 ns_of(const struct host *on, const struct nand_cmd *cmd)
{
	return cmd->first + cmd->last +
	       cmd->bytes * on->drive.c.sim.nand.ps_per_byte / 1000;
}

/* Add a program, of which @left of @all ns remain. */
static void add(struct ahead *sum, const struct nand_cmd *cmd, u64 left, u64 all)
{
	sum->progs++;
	sum->work += left;
	sum->gc += cmd->gc * left / all;
}

static void look(struct host *on, struct host_rq *rq)
{
	struct ahead most = { 0 };
	u32 i;

	if (rq->part.dir != FLASH_READ)
		return;
	for (i = 0; i < on->drive.s->nand.luns; i++) {
		const struct nand_lun *l = &on->drive.s->nand.lun[i];
		const struct nand_cmd *cmd = l->cur;
		struct ahead one = { 0 };
		u64 all, spent;

		if (cmd && cmd->kind == NAND_PROG) {
			all = ns_of(on, cmd);
			spent = on->drive.now - cmd->begun;
			/* Some of the time may have been a wait for the bus. */
			add(&one, cmd, spent < all ? all - spent : 0, all);
		}
		for (cmd = l->wait[0].head; cmd; cmd = cmd->next)
			if (cmd->kind == NAND_PROG)
				add(&one, cmd, ns_of(on, cmd), ns_of(on, cmd));
		if (one.work > most.work)
			most = one;
	}
	ahead.reads++;
	ahead.progs += most.progs;
	ahead.work += most.work;
	ahead.gc += most.gc;
}

static struct found load(const struct drive_cfg *cfg, enum host_order order,
			 u32 max, struct host_seer see, u32 read_pct,
			 double *mean)
{
	struct mix m = {
		.seed = 7919, .read_pct = read_pct, .sectors = 1024,
		.skip = NR / 10, .nr = NR,
	};
	struct found got;
	u32 i;

	host_open(&h, order, cfg, 1023);
	h.max = max;
	host_layer(&h, LAYER_AUTO, "none");
	h.see = see;
	if (mean) {
		memset(&ahead, 0, sizeof(ahead));
		h.begin = look;
	}
	got.mbps = mix_run(&h, &m, DEPTH);
	got.p99 = mix_us(&m, FLASH_READ, 0.99) / 1e3;
	for (i = 0; mean && i < m.count[FLASH_READ]; i++)
		*mean += (double)m.ns[FLASH_READ][i] / m.count[FLASH_READ];
	mix_free(&m);
	host_close(&h);
	return got;
}

static struct found deadline(const struct drive_cfg *cfg, u32 read_pct)
{
	return load(cfg, HOST_DEADLINE, 0, (struct host_seer){ 0 }, read_pct,
		    NULL);
}

static struct found mode_auto(const struct drive_cfg *cfg, u32 max, u32 read_pct)
{
	return load(cfg, HOST_LAYER, max, (struct host_seer){ 0 }, read_pct,
		    NULL);
}

static struct found seer(const struct drive_cfg *cfg, u32 programs, u64 gap_us,
			 u32 drained, u32 read_pct)
{
	struct host_seer see = {
		.programs = programs, .gap = gap_us * 1000, .drained = drained,
	};

	return load(cfg, HOST_SEER, 0, see, read_pct, NULL);
}

static void say(const char *drive, u32 read_pct, const char *who,
		struct found got, struct found than)
{
	printf("# row | %s | %s | %u | %.2f | %.2f\n", drive, who, read_pct,
	       got.mbps / than.mbps, got.p99 / than.p99);
}

/* A read waits for programs in the drive, which no order of dispatch changes. */
static void causes(void)
{
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, false);
	double mean = 0, nr;

	load(&d, HOST_DEADLINE, 0, (struct host_seer){ 0 }, 50, &mean);
	nr = ahead.reads;
	printf("# ahead | %.1f | %.1f | %.1f | %.1f\n", mean / 1e6,
	       ahead.progs / nr, (double)ahead.work / nr / 1e6,
	       (double)ahead.gc / nr / 1e6);
	eq((double)ahead.work / nr >= 0.75 * mean, 1,
	   "a read waits for programs above all");
	eq(ahead.progs / nr >= 4, 1, "on a die that has twice its share of them");
}

/* Full and overwritten, dies are always busy: half of the p99 costs throughput. */
static void full(u32 read_pct)
{
	static const u32 programs[] = { 26, 20, 14, 8 };
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, false);
	struct found than = deadline(&d, read_pct), got;
	u32 i, both = 0;
	char who[64];

	got = mode_auto(&d, 0, read_pct);
	say("D", read_pct, "mode auto", got, than);
	eq(got.mbps >= 0.98 * than.mbps && got.p99 <= 1.15 * than.p99, 1,
	   "mode auto costs nothing");
	say("D", read_pct, "mode auto, `max_inflight` = 4",
	    mode_auto(&d, 4, read_pct), than);
	say("D", read_pct, "mode auto, `max_inflight` = 2",
	    mode_auto(&d, 2, read_pct), than);
	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		got = seer(&d, programs[i], 0, NEVER, read_pct);
		snprintf(who, sizeof(who), "a write at %u programs or fewer",
			 programs[i]);
		say("D", read_pct, who, got, than);
		both += got.mbps >= 0.97 * than.mbps && got.p99 <= 0.6 * than.p99;
		if (programs[i] == 8)
			eq(got.p99 <= 0.5 * than.p99 &&
			   got.mbps <= 0.9 * than.mbps, 1,
			   "few of them: half the p99, and less throughput");
	}
	eq(both, 0, "none with 0.97 of the throughput has 0.6 of the p99");
}

static void others(void)
{
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, false);
	struct drive_cfg first = profile_d(3814, NAND_READ_FIRST, false);
	struct drive_cfg rest = profile_d(3814, NAND_CHIP_FIFO, true);
	struct drive_cfg f = profile_f(3576, NAND_CHIP_FIFO, false);
	struct found than = deadline(&d, 50), got;

	got = seer(&d, ANY, 0, 100, 50);
	say("D", 50, "reads once nothing is programmed, writes once no read is left",
	    got, than);
	eq(got.mbps <= 0.8 * than.mbps, 1, "phases leave dies idle");
	than = deadline(&first, 50);
	got = seer(&first, 8, 0, NEVER, 50);
	say("D, `read_first`", 50, "a write at 8 programs or fewer", got, than);
	eq(got.p99 >= 0.95 * than.p99, 1,
	   "nothing to gain where the drive reads first");
	/* Each die has equally many pages: none has a much longer queue. */
	than = deadline(&rest, 50);
	got = seer(&rest, 14, 0, NEVER, 50);
	say("D, pages by address", 50, "a write at 14 programs or fewer", got,
	    than);
	eq(got.p99 <= 0.6 * than.p99 && got.mbps >= 0.96 * than.mbps, 1,
	   "where pages go by address there is");
	/* A large buffer hides the dies, which are idle at times. */
	than = deadline(&f, 50);
	got = seer(&f, ANY, 1750, NEVER, 50);
	say("F", 50, "a write each 1.75 ms", got, than);
	eq(got.p99 <= 0.6 * than.p99 && got.mbps >= 0.97 * than.mbps, 1,
	   "and for who knows the rate of a drive with time to spare");
	got = seer(&f, ANY, 2200, NEVER, 50);
	say("F", 50, "a write each 2.2 ms", got, than);
	eq(got.mbps <= 0.9 * than.mbps, 1, "a quarter too slow costs throughput");
}

/* Half full and written once: no garbage collection, so a limit pays. */
static void half_full(u32 read_pct)
{
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, false);
	struct found than, got;

	d.fill /= 2;
	d.overwrites = 0;
	than = deadline(&d, read_pct);
	got = mode_auto(&d, 0, read_pct);
	say("D, half full", read_pct, "mode auto", got, than);
	eq(got.mbps >= 0.98 * than.mbps && got.p99 <= 1.05 * than.p99, 1,
	   "mode auto costs nothing there");
	got = mode_auto(&d, 4, read_pct);
	say("D, half full", read_pct, "mode auto, `max_inflight` = 4", got,
	    than);
	eq(got.mbps >= 0.85 * than.mbps && got.p99 <= 0.75 * than.p99, 1,
	   "where nothing is collected a limit pays");
}

int main(void)
{
	causes();
	full(50);
	full(70);
	half_full(50);
	half_full(70);
	others();
	return tap_done();
}
