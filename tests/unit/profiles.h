/* SPDX-License-Identifier: GPL-2.0 */
/*
 * profiles.h - drives for tests in user space with the numbers of flashsim's profiles
 *
 * ../flashsim/params.c has the source of each number. Capacities differ, because a
 * test of a small drive is fast.
 */
#ifndef FLASHSIM_PROFILES_H
#define FLASHSIM_PROFILES_H

#include "flashsim.h"

static inline u64 per_byte(u32 mbps)
{
	return 1000000 / mbps;
}

/* Computes the layer's configuration from a profile's numbers, like the kernel module. */
static inline void profile_ftl(struct drive_cfg *c, u32 mb, u32 op_permille,
			       u32 page_kb, u32 map_kb, u32 per_block)
{
	u64 full, blocks, share;

	c->sim.sectors = (u64)mb << 11;
	c->sim.unit = map_kb << 10;
	c->sim.page = page_kb << 10;
	c->ftl.per_page = page_kb / map_kb;
	c->ftl.per_block = c->ftl.per_page * per_block;
	c->ftl.gc = FTL_GC_CHIP;
	share = (c->sim.sectors * SIM_SECTOR / c->sim.unit +
		 c->sim.nand.channels * c->sim.nand.ways * c->sim.nand.dies - 1) /
		(c->sim.nand.channels * c->sim.nand.ways * c->sim.nand.dies);
	full = (share + c->ftl.per_block - 1) / c->ftl.per_block;
	blocks = (share * (1000 + op_permille) + 1000ULL * c->ftl.per_block - 1) /
		 (1000ULL * c->ftl.per_block);
	if (blocks < full + 4)
		blocks = full + 4;
	c->spare = (u32)(blocks - full - 4);
	c->ftl.low = (u32)((blocks - full) * 100 / 1000);
	if (c->ftl.low < 2)
		c->ftl.low = 2;
}

/* Half full, with @mb MiB */
static inline struct drive_cfg profile_b(u32 mb)
{
	struct drive_cfg c = drive_plain(8, 1, 2);

	profile_ftl(&c, mb, 70, 16, 16, 256);
	c.sim.t_read = 75000;
	c.sim.t_prog = 1300000;
	c.sim.t_erase = 3800000;
	c.sim.nand.ps_per_byte = per_byte(166);
	c.sim.ps_link = per_byte(550);
	c.sim.duplex = false;
	c.sim.fw_read = 20000;
	c.sim.fw_write = 15000;
	c.ftl.per_prog = 1;
	c.fill = sim_units(&c.sim) / 2;
	return c;
}

/* Full and overwritten once, with @mb MiB */
static inline struct drive_cfg profile_c(u32 mb)
{
	struct drive_cfg c = drive_plain(8, 4, 2);

	profile_ftl(&c, mb, 70, 8, 4, 256);
	c.sim.nand.order = NAND_READ_FIRST;
	c.sim.t_read = 75000;
	c.sim.t_prog = 750000;
	c.sim.t_erase = 3800000;
	c.sim.nand.ps_per_byte = per_byte(333);
	c.sim.ps_link = per_byte(550);
	c.sim.duplex = false;
	c.sim.fw_read = c.sim.fw_write = 0;
	c.sim.buffer = 4096 * 1024 / c.sim.unit;
	c.ftl.per_prog = c.ftl.per_page * 2;
	c.ftl.alloc = FTL_DYNAMIC;
	c.fill = sim_units(&c.sim);
	c.overwrites = c.fill;
	return c;
}

/* Likewise; or @at_rest: pages by address, as d-static */
static inline struct drive_cfg profile_d(u32 mb, enum nand_order order,
					 bool at_rest)
{
	struct drive_cfg c = drive_plain(8, 2, 1);

	profile_ftl(&c, mb, 70, 32, at_rest ? 32 : 4, 64);
	c.sim.nand.order = order;
	c.sim.t_read = 36000;
	c.sim.t_prog = 185000;
	c.sim.t_erase = 3500000;
	c.sim.nand.ps_per_byte = per_byte(800);
	c.sim.ps_link = per_byte(3360);
	c.sim.fw_read = 21000;
	c.sim.fw_write = 4000;
	c.sim.fw_4k = 460;
	c.sim.vary = 100;
	c.sim.buffer = 1024 * 1024 / c.sim.unit;
	c.ftl.per_prog = c.ftl.per_page;
	c.ftl.alloc = at_rest ? FTL_STATIC : FTL_DYNAMIC;
	c.fill = sim_units(&c.sim);
	c.overwrites = at_rest ? 0 : c.fill;
	return c;
}

/* A current drive, likewise */
static inline struct drive_cfg profile_f(u32 mb, enum nand_order order,
					 bool at_rest)
{
	struct drive_cfg c = drive_plain(8, 4, 1);

	profile_ftl(&c, mb, 127, 16, at_rest ? 16 : 4, 96);
	c.sim.nand.order = order;
	c.sim.t_read = 45000;
	c.sim.t_prog = 650000;
	c.sim.t_erase = 5000000;
	c.sim.nand.ps_per_byte = per_byte(1200);
	c.sim.ps_link = per_byte(8000);
	c.sim.fw_read = 10000;
	c.sim.fw_write = 8000;
	c.sim.vary = 100;
	c.sim.buffer = 16384 * 1024 / c.sim.unit;
	c.ftl.per_prog = at_rest ? 1 : c.ftl.per_page * 12;
	c.ftl.alloc = at_rest ? FTL_STATIC : FTL_DYNAMIC;
	c.fill = sim_units(&c.sim);
	c.overwrites = at_rest ? 0 : c.fill;
	return c;
}

#endif /* FLASHSIM_PROFILES_H */
