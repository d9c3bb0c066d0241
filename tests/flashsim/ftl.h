/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ftl.h - page-mapped translation layer with greedy garbage collection
 *
 * Pure logic; the caller allocates the memory. The layer chooses places and
 * counts the work; sim.c queues the work on the dies and adds its time.
 *
 * Tables change when a decision is made, the time for it passes on the
 * dies afterwards, in the order of the decisions. So there is always room for
 * the next write, however long it waits for its die, and garbage collection
 * never waits for itself.
 */
#ifndef FLASHSIM_FTL_H
#define FLASHSIM_FTL_H

#include "env.h"
#include "nand.h"

#define FTL_MAX_TERMS	8
#define FTL_MAX_XORS	4
/* Mapping units that one program may write */
#define FTL_MAX_PROG	256

/* Flag and special value of map entries. */
#define FTL_BUFFERED	0x80000000u	/* a copy is in the write buffer */
#define FTL_NONE	0x7fffffffu	/* nowhere in the flash */

enum ftl_alloc { FTL_STATIC, FTL_DYNAMIC };
enum ftl_gc { FTL_GC_CHIP, FTL_GC_DEVICE, FTL_GC_NONE };

/* die += mul * ((page / div) % mod) */
struct ftl_term {
	u32 div;
	u32 mod;
	u32 mul;
};

/**
 * struct ftl_layout - map from pages to dies, if the address decides
 * @nr_terms: see struct ftl_term
 * @term: the terms
 * @nr_xors: number of folds
 * @xor: die ^= (page >> xor) % dies
 */
struct ftl_layout {
	unsigned int nr_terms;
	struct ftl_term term[FTL_MAX_TERMS];
	unsigned int nr_xors;
	u32 xor[FTL_MAX_XORS];
};

/**
 * struct ftl_cfg - constants of the layer
 * @luns: dies
 * @units: mapping units of the host
 * @per_page: mapping units in a flash page
 * @per_prog: mapping units that one program writes
 * @per_block: mapping units in a block
 * @blocks: blocks in a die
 * @low: collect when a die (with @gc device: on average) has no more free ones
 * @alloc: how the die is chosen
 * @gc: dies of victims and copies
 * @whole: empty a victim at once, not paced with the writes
 * @layout: for FTL_STATIC
 */
struct ftl_cfg {
	unsigned int luns;
	u32 units;
	u32 per_page;
	u32 per_prog;
	u32 per_block;
	u32 blocks;
	u32 low;
	enum ftl_alloc alloc;
	enum ftl_gc gc;
	bool whole;
	struct ftl_layout layout;
};

enum ftl_block_state { FTL_FREE, FTL_OPEN, FTL_FULL, FTL_VICTIM };

/**
 * struct ftl_block - a block
 * @valid: mapping units in it that the map points to
 * @state: its use
 */
struct ftl_block {
	u32 valid;
	u8 state;
};

/* An open block, and its number of written units. */
struct ftl_front {
	u32 block;
	u32 used;
};

/**
 * struct ftl_lun - a die
 * @front: open blocks: of the host, of collection
 * @free: number of free blocks
 * @next: block at which the search for a free one continues, for equal wear
 * @victim: the block under collection
 * @at: next unit to copy in it
 * @pace: mapping units to copy for each one written, in 1/65536
 * @debt: mapping units due to be copied, in 1/65536
 */
struct ftl_lun {
	struct ftl_front front[2];
	u32 free;
	u32 next;
	u32 victim;
	u32 at;
	u64 pace;
	u64 debt;
};

#define FTL_NO_BLOCK	(~0u)

/**
 * struct ftl_work - work of the flash for a write
 * @lun: the die to program
 * @gc_lun: the die on which collection reads and erases
 * @gc_reads: pages it reads there
 * @gc_units: mapping units it copies
 * @gc_erases: blocks it erases
 * @gc_dst: the die of its copies
 * @gc_progs: programs there
 */
struct ftl_work {
	unsigned int lun;
	unsigned int gc_lun;
	unsigned int gc_dst;
	u32 gc_reads;
	u32 gc_units;
	u32 gc_erases;
	u32 gc_progs;
};

/**
 * struct ftl - the layer
 * @cfg: its constants
 * @map: of each mapping unit of the host; NULL with FTL_GC_NONE
 * @rev: the host's unit at each place
 * @block: blocks, those of a die together
 * @lun: dies
 * @turn: die that a dynamic write tries first
 * @gc_turn: die that copies across chips try first
 * @victim_lun: with FTL_GC_DEVICE: the die of the victim
 * @group: scratch
 * @free: free blocks in all
 * @free_min: least number since the last reset
 * @host: mapping units written by the host
 * @flash: mapping units written to the flash, with copies and padding
 * @copies: of @flash, units written by garbage collection
 * @erases: blocks erased
 */
struct ftl {
	struct ftl_cfg cfg;
	u32 *map;
	u32 *rev;
	struct ftl_block *block;
	struct ftl_lun *lun;
	unsigned int turn;
	unsigned int gc_turn;
	unsigned int victim_lun;
	u32 group[FTL_MAX_PROG];
	u64 free;
	u64 free_min;
	u64 host;
	u64 flash;
	u64 copies;
	u64 erases;
};

static inline u32 ftl_place(const struct ftl *f, unsigned int lun, u32 block,
			    u32 at)
{
	return (lun * f->cfg.blocks + block) * f->cfg.per_block + at;
}

static inline unsigned int ftl_lun_of(const struct ftl *f, u32 place)
{
	return place / f->cfg.per_block / f->cfg.blocks;
}

/* Number of places in the flash. */
static inline u64 ftl_places(const struct ftl_cfg *cfg)
{
	return (u64)cfg->luns * cfg->blocks * cfg->per_block;
}

unsigned int ftl_layout_lun(const struct ftl_layout *layout, unsigned int luns,
			    u32 page);
int ftl_layout_check(const struct ftl_layout *layout, unsigned int luns);
u32 ftl_share_max(const struct ftl_cfg *cfg, u32 *count);
void ftl_init(struct ftl *f, const struct ftl_cfg *cfg);
unsigned int ftl_choose(struct ftl *f, const struct nand *n);
u32 ftl_write(struct ftl *f, unsigned int lun, const u32 *units, u32 nr,
	      u32 flag, struct ftl_work *work);
void ftl_buffer(struct ftl *f, u32 unit);
void ftl_written(struct ftl *f, u32 place, u32 nr);
void ftl_discard(struct ftl *f, u32 unit);
void ftl_fill(struct ftl *f, u32 units, u64 overwrites, u32 rewrites,
	      struct sim_rand *r);
void ftl_reset_stats(struct ftl *f);
int ftl_check(const struct ftl *f);

#endif /* FLASHSIM_FTL_H */
