/* SPDX-License-Identifier: GPL-2.0 */
/* flashdrive.h - requests by page, for tests of a whole drive */
#ifndef FLASHDRIVE_BENCH_H
#define FLASHDRIVE_BENCH_H

#include "flashsim.h"

#define PAGE_SECTORS	8u
#define T_BUS		5120u		/* drive_plain(): a page on the bus, */
#define T_LINK		1217u		/* on the host link */
#define T_READ		36000u
#define T_PROG		185000u
#define FW_READ		20000u
#define FW_WRITE	10000u

/* Processes all events until @t. */
static inline void until(struct drive *d, u64 t)
{
	while (sim_next(d->s) <= t)
		drive_step(d);
	drive_until(d, t);
}

static inline struct sim_rq *page_at(struct drive *d, u64 t, enum sim_op op,
				     u64 page, u32 nr)
{
	until(d, t);
	return drive_send(d, op, page * PAGE_SECTORS, nr * PAGE_SECTORS);
}

static inline struct sim_rq *flush_at(struct drive *d, u64 t)
{
	until(d, t);
	return drive_send(d, SIM_FLUSH, 0, 0);
}

/* A write that ends in the flash. */
static inline struct sim_rq *fua_at(struct drive *d, u64 t, u64 page, u32 nr)
{
	until(d, t);
	return drive_send_fua(d, SIM_WRITE, page * PAGE_SECTORS,
			      nr * PAGE_SECTORS, true);
}

/* A drive with a write buffer of @units and programs of @per_prog. */
static inline struct drive_cfg drive_buffer(u32 channels, u32 units, u32 per_prog)
{
	struct drive_cfg c = drive_plain(channels, 1, 1);

	c.sim.buffer = units;
	c.ftl.alloc = FTL_DYNAMIC;
	c.ftl.gc = FTL_GC_CHIP;
	c.ftl.per_prog = per_prog;
	c.ftl.per_block = 16 * per_prog;
	c.sim.sectors = 512 * 8 * channels;
	c.spare = 64;
	return c;
}

#endif /* FLASHDRIVE_BENCH_H */
