// SPDX-License-Identifier: GPL-2.0
/*
 * Layer_Read on flashsim's model of drives: mode auto costs no throughput, reads gain
 * where writes wait for the dies, and sequential readers of whole files get the drive's
 * full speed in any mode.
 */
#include "layerdrive.h"

static struct host h;

struct found {
	double mbps, p99;
};

static struct found mixed(enum host_order order, const struct drive_cfg *cfg,
			  u32 tags, u32 read_pct, u32 sectors, u32 depth, u32 nr,
			  const char *layout)
{
	struct mix m = {
		.seed = 7919, .read_pct = read_pct, .sectors = sectors,
		.skip = nr / 20, .nr = nr,
	};
	struct found f;

	host_open(&h, order, cfg, tags);
	host_layer(&h, LAYER_AUTO, layout);
	f.mbps = mix_run(&h, &m, depth);
	f.p99 = mix_us(&m, FLASH_READ, 0.99);
	mix_free(&m);
	host_close(&h);
	return f;
}

/* Mode auto compared with a FIFO */
static void against(const char *what, const struct drive_cfg *cfg, u32 tags,
		    u32 read_pct, u32 sectors, u32 depth, u32 nr,
		    const char *layout, double mbps, double p99)
{
	struct found none = mixed(HOST_NONE, cfg, tags, read_pct, sectors, depth,
				  nr, layout);
	struct found mine = mixed(HOST_LAYER, cfg, tags, read_pct, sectors,
				  depth, nr, layout);

	printf("# %s: %.1f MB/s of %.1f, read p99 %.0f us of %.0f\n", what,
	       mine.mbps, none.mbps, mine.p99, none.p99);
	eq(mine.mbps >= mbps * none.mbps, 1, "%s: %.3f of the throughput", what,
	   mbps);
	eq(mine.p99 <= p99 * none.p99, 1, "%s: %.2f of the read p99", what, p99);
}

static void mixes(void)
{
	struct drive_cfg b = profile_b(3840);
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, true);
	struct drive_cfg first = profile_d(3814, NAND_READ_FIRST, true);
	struct drive_cfg f = profile_f(3576, NAND_CHIP_FIFO, true);
	static const char map[] = "page=32768 chips=16";

	/* Without a write buffer, a read waits only for dispatched requests. */
	against("B, half reads", &b, 32, 50, 1024, 16, 3000, "none", 0.99, 0.5);
	/* With a write buffer, it also waits for the buffer's contents. */
	against("D, half reads", &d, 1023, 50, 1024, 16, 3000, map, 0.99, 0.9);
	against("D, 70 reads", &d, 1023, 70, 1024, 16, 3000, map, 0.99, 0.95);
	against("D, read_first", &first, 1023, 50, 1024, 16, 3000, map, 0.99,
		1.03);
	/* Some dies are busy for long: enough reads have to be in flight for the others. */
	against("F, half reads", &f, 1023, 50, 1024, 16, 3000, "none", 0.99, 1.2);
}

static void pure(void)
{
	struct drive_cfg d = profile_d(3814, NAND_CHIP_FIFO, true);

	against("D, 4 KiB reads", &d, 1023, 100, 8, 32, 3000, "none", 0.97, 1.1);
	against("D, 512 KiB reads", &d, 1023, 100, 1024, 16, 1500, "none", 0.97,
		1.1);
	against("D, 512 KiB writes", &d, 1023, 0, 1024, 16, 1500, "none", 0.97, 1);
}

/* 16 files through the page cache: MB/s of the readers; @active: MB/s of the drive */
static double in_order(enum layer_mode mode, bool none, u32 file, double *active)
{
	static struct readers all;
	struct drive_cfg cfg = profile_b(3840);
	double mbps;

	memset(&all, 0, sizeof(all));
	all.wants = 2560;
	all.file = file;
	all.window = 1024;
	host_open(&h, none ? HOST_NONE : HOST_LAYER, &cfg, 32);
	host_layer(&h, mode, "none");
	mbps = readers_run(&h, &all, active);
	host_close(&h);
	return mbps;
}

static void files(void)
{
	double none, paper, mine, drive, link;

	none = in_order(LAYER_AUTO, true, 2560, &link);
	paper = in_order(LAYER_PAPER, false, 2560, &drive);
	mine = in_order(LAYER_AUTO, false, 2560, &drive);
	printf("# to the end of the files: none %.1f, paper %.1f, auto %.1f MB/s\n",
	       none, paper, mine);
	eq(paper >= 0.99 * none && mine >= 0.99 * none, 1,
	   "files that are read to their ends: as fast as none");
	eq(none > 540, 1, "which is the link's speed");
	/* Readers want a part of each file only, which the drive cannot know. */
	none = in_order(LAYER_AUTO, true, 65536, &link);
	paper = in_order(LAYER_PAPER, false, 65536, &drive);
	printf("# parts of files: none %.1f, paper %.1f MB/s; the drive %.1f, %.1f\n",
	       none, paper, link, drive);
	eq(paper < 0.97 * none, 1, "parts of files: later by what is wasted first");
	eq(drive > 0.99 * link, 1, "though the drive is as fast");
}

int main(void)
{
	files();
	mixes();
	pure();
	return tap_done();
}
