// SPDX-License-Identifier: GPL-2.0
/*
 * ftl.c - page-mapped translation layer; see ftl.h
 */
#include "ftl.h"

/**
 * ftl_layout_lun - the die of a page if it follows from the address
 * @layout: how
 * @luns: number of dies
 * @page: flash page of the host's address space
 */
unsigned int ftl_layout_lun(const struct ftl_layout *layout, unsigned int luns,
			    u32 page)
{
	unsigned int lun = 0, i;

	for (i = 0; i < layout->nr_terms; i++) {
		const struct ftl_term *t = &layout->term[i];

		lun += t->mul * ((page / t->div) % t->mod);
	}
	for (i = 0; i < layout->nr_xors; i++)
		lun ^= (page >> layout->xor[i]) & (luns - 1);
	return lun;
}

/**
 * ftl_layout_check - may this layout be used?
 * @layout: how dies are chosen
 * @luns: number of dies
 *
 * The combinations of the terms must give each die at most once, otherwise
 * some dies would have to hold several times the pages of others.
 *
 * Return: 0, or -1 if not.
 */
int ftl_layout_check(const struct ftl_layout *layout, unsigned int luns)
{
	u8 seen[NAND_MAX_LUNS / 8] = { 0 };
	u32 digit[FTL_MAX_TERMS] = { 0 };
	unsigned int i;
	u64 all = 1;

	if (layout->nr_terms < 1 || layout->nr_terms > FTL_MAX_TERMS ||
	    layout->nr_xors > FTL_MAX_XORS ||
	    (layout->nr_xors && (luns & (luns - 1))))
		return -1;
	for (i = 0; i < layout->nr_terms; i++) {
		const struct ftl_term *t = &layout->term[i];

		if (t->div < 1 || t->mod < 1 || t->mod > luns ||
		    t->mul > luns)
			return -1;
		all *= t->mod;
		if (all > luns)
			return -1;
	}
	while (all--) {
		u64 lun = 0;

		for (i = 0; i < layout->nr_terms; i++)
			lun += (u64)layout->term[i].mul * digit[i];
		if (lun >= luns || seen[lun / 8] & (1 << lun % 8))
			return -1;
		seen[lun / 8] |= (u8)(1 << lun % 8);
		for (i = 0; i < layout->nr_terms; i++) {
			if (++digit[i] < layout->term[i].mod)
				break;
			digit[i] = 0;
		}
	}
	for (i = 0; i < layout->nr_xors; i++)
		if (layout->xor[i] < 1 || layout->xor[i] > 31)
			return -1;
	return 0;
}

/**
 * ftl_share_max - most mapping units that one die has to hold
 * @cfg: luns, units, alloc and layout are set
 * @count: array of one number a die
 */
u32 ftl_share_max(const struct ftl_cfg *cfg, u32 *count)
{
	u32 max = 0, i;

	if (cfg->alloc == FTL_DYNAMIC)
		return cfg->units / cfg->luns + !!(cfg->units % cfg->luns);
	memset(count, 0, cfg->luns * sizeof(*count));
	for (i = 0; i < cfg->units; i++) {
		unsigned int lun = ftl_layout_lun(&cfg->layout, cfg->luns, i);

		if (++count[lun] > max)
			max = count[lun];
		sim_breathe(i);
	}
	return max;
}

/**
 * ftl_init - empty flash
 * @f: map, rev, block and lun point to zeroed memory
 * @cfg: constants; blocks leaves at least 4 blocks a die beyond its share of
 *	the data
 */
void ftl_init(struct ftl *f, const struct ftl_cfg *cfg)
{
	unsigned int i;
	u32 u;

	f->cfg = *cfg;
	for (i = 0; i < cfg->luns; i++) {
		f->lun[i].free = cfg->blocks;
		f->lun[i].front[0].block = FTL_NO_BLOCK;
		f->lun[i].front[1].block = FTL_NO_BLOCK;
		f->lun[i].victim = FTL_NO_BLOCK;
	}
	f->free = f->free_min = (u64)cfg->blocks * cfg->luns;
	if (f->map)
		for (u = 0; u < cfg->units; u++) {
			f->map[u] = FTL_NONE;
			sim_breathe(u);
		}
}

static struct ftl_block *ftl_block(struct ftl *f, unsigned int lun, u32 block)
{
	return &f->block[lun * f->cfg.blocks + block];
}

/* Invalidates the place of @unit. */
static void ftl_invalidate(struct ftl *f, u32 unit)
{
	u32 place = f->map[unit] & ~FTL_BUFFERED;

	if (place != FTL_NONE)
		f->block[place / f->cfg.per_block].valid--;
}

static u32 ftl_take_free(struct ftl *f, unsigned int l)
{
	struct ftl_lun *lun = &f->lun[l];

	while (ftl_block(f, l, lun->next)->state != FTL_FREE)
		lun->next = (lun->next + 1) % f->cfg.blocks;
	ftl_block(f, l, lun->next)->state = FTL_OPEN;
	lun->free--;
	if (--f->free < f->free_min)
		f->free_min = f->free;
	return lun->next;
}

/* Room at a front for one unit or one program; opens a block if necessary. */
static struct ftl_front *ftl_front(struct ftl *f, unsigned int l,
				   unsigned int which)
{
	struct ftl_front *front = &f->lun[l].front[which];

	if (front->block != FTL_NO_BLOCK && front->used < f->cfg.per_block)
		return front;
	if (front->block != FTL_NO_BLOCK)
		ftl_block(f, l, front->block)->state = FTL_FULL;
	front->block = ftl_take_free(f, l);
	front->used = 0;
	return front;
}

/* Puts @unit at the next place of @front. */
static void ftl_put(struct ftl *f, unsigned int l, struct ftl_front *front,
		    u32 unit, u32 flag)
{
	u32 place = ftl_place(f, l, front->block, front->used++);

	f->rev[place] = unit;
	f->map[unit] = place | flag;
	ftl_block(f, l, front->block)->valid++;
}

/* The full block of die @l with the fewest valid units; FTL_NO_BLOCK if all are valid. */
static u32 ftl_greedy(struct ftl *f, unsigned int l)
{
	u32 best = FTL_NO_BLOCK, least = f->cfg.per_block, i;

	for (i = 0; i < f->cfg.blocks; i++) {
		struct ftl_block *b = ftl_block(f, l, i);

		if (b->state == FTL_FULL && b->valid < least) {
			least = b->valid;
			best = i;
		}
	}
	return best;
}

/* Chooses the next victim for die @l; false if there is none. */
static bool ftl_choose_victim(struct ftl *f, unsigned int *l)
{
	unsigned int from = *l, to = *l + 1, best_lun = 0, i;
	u32 best = FTL_NO_BLOCK, least = f->cfg.per_block, v, win;
	struct ftl_lun *lun;

	if (f->cfg.gc == FTL_GC_DEVICE) {
		from = 0;
		to = f->cfg.luns;
	}
	for (i = from; i < to; i++) {
		u32 b = ftl_greedy(f, i);

		if (b != FTL_NO_BLOCK && ftl_block(f, i, b)->valid < least) {
			least = ftl_block(f, i, b)->valid;
			best = b;
			best_lun = i;
		}
	}
	if (best == FTL_NO_BLOCK)
		return false;
	*l = best_lun;
	f->victim_lun = best_lun;
	lun = &f->lun[best_lun];
	lun->victim = best;
	lun->at = 0;
	lun->debt = 0;
	v = ftl_block(f, best_lun, best)->valid;
	/*
	 * A collected block frees per_block - v units, which are written before
	 * the next block has to be ready. That gives the copies for each write.
	 * Writes are whole programs, reads whole pages. Without rounding to
	 * these, each block would be late, and finally none would be free.
	 */
	win = (f->cfg.per_block - v) / f->cfg.per_prog;
	win = (win ? win : 1) * f->cfg.per_prog;
	v += f->cfg.per_page - 1;
	v -= v % f->cfg.per_page;
	lun->pace = div64_u64(((u64)v << 16) + win - 1, win);
	ftl_block(f, best_lun, best)->state = FTL_VICTIM;
	return true;
}

/* A die with room for copies. */
static unsigned int ftl_copy_lun(struct ftl *f, unsigned int victim_lun)
{
	unsigned int i;

	if (f->cfg.gc == FTL_GC_CHIP)
		return victim_lun;
	for (i = 0; i < f->cfg.luns; i++) {
		unsigned int l = (f->gc_turn + i) % f->cfg.luns;
		struct ftl_front *front = &f->lun[l].front[1];

		if (f->lun[l].free || (front->block != FTL_NO_BLOCK &&
				       front->used < f->cfg.per_block))
			return l;
	}
	return victim_lun;
}

/*
 * Copies up to @most units out of the victim on die @l, and erases the victim
 * after its last one. Returns true if it was erased.
 */
static bool ftl_collect(struct ftl *f, unsigned int l, u64 most,
			struct ftl_work *w)
{
	struct ftl_lun *lun = &f->lun[l];
	struct ftl_block *b = ftl_block(f, l, lun->victim);
	unsigned int dst = ftl_copy_lun(f, l);
	u32 last_page = ~0u;

	w->gc_lun = l;
	w->gc_dst = dst;
	while (lun->at < f->cfg.per_block && b->valid && most) {
		u32 place = ftl_place(f, l, lun->victim, lun->at);
		u32 unit = f->rev[place];
		struct ftl_front *front;

		if (unit >= f->cfg.units ||
		    (f->map[unit] & ~FTL_BUFFERED) != place) {
			lun->at++;
			continue;
		}
		if (lun->at / f->cfg.per_page != last_page) {
			last_page = lun->at / f->cfg.per_page;
			w->gc_reads++;
		}
		if (!f->lun[dst].free &&
		    (f->lun[dst].front[1].block == FTL_NO_BLOCK ||
		     f->lun[dst].front[1].used == f->cfg.per_block))
			w->gc_dst = dst = ftl_copy_lun(f, l);
		front = ftl_front(f, dst, 1);
		b->valid--;
		ftl_put(f, dst, front, unit, 0);
		if (front->used % f->cfg.per_prog == 0)
			w->gc_progs++;
		f->copies++;
		f->flash++;
		w->gc_units++;
		lun->at++;
		most--;
	}
	if (b->valid)
		return false;
	b->state = FTL_FREE;
	lun->victim = FTL_NO_BLOCK;
	lun->free++;
	f->free++;
	f->erases++;
	w->gc_erases++;
	f->gc_turn = (f->gc_turn + 1) % f->cfg.luns;
	return true;
}

/* True if the host may open another block on die @l: one is reserved for copies. */
static bool ftl_may_open(const struct ftl *f, unsigned int l)
{
	return f->lun[l].free > 1;
}

/* True if die @l has the blocks that a write needs. */
static bool ftl_room(const struct ftl *f, unsigned int l)
{
	const struct ftl_front *front = &f->lun[l].front[0];

	return (front->block != FTL_NO_BLOCK &&
		front->used < f->cfg.per_block) || ftl_may_open(f, l);
}

static bool ftl_short(const struct ftl *f, unsigned int l)
{
	if (f->cfg.gc == FTL_GC_DEVICE)
		return f->free <= (u64)f->cfg.low * f->cfg.luns;
	return f->lun[l].free <= f->cfg.low;
}

/* Collects the units that are due for a write of @nr units to die @l. */
static void ftl_make_room(struct ftl *f, unsigned int l, u32 nr,
			  struct ftl_work *w)
{
	bool device = f->cfg.gc == FTL_GC_DEVICE;
	unsigned int v = device ? f->victim_lun : l;
	u64 most;

	if (f->lun[v].victim == FTL_NO_BLOCK) {
		v = l;
		if (ftl_short(f, l))
			ftl_choose_victim(f, &v);
	}
	if (f->lun[v].victim != FTL_NO_BLOCK && f->cfg.whole) {
		ftl_collect(f, v, ~0ULL, w);
	} else if (f->lun[v].victim != FTL_NO_BLOCK) {
		f->lun[v].debt += nr * f->lun[v].pace;
		/* Whole pages: half of one costs the same. */
		most = div64_u64(f->lun[v].debt >> 16, f->cfg.per_page) *
		       f->cfg.per_page;
		if (most || !ftl_block(f, v, f->lun[v].victim)->valid) {
			f->lun[v].debt -= most << 16;
			ftl_collect(f, v, most, w);
		}
	}
	/* Pacing usually frees blocks in time; otherwise free one now. */
	while (!ftl_room(f, l)) {
		v = device ? f->victim_lun : l;
		if (f->lun[v].victim == FTL_NO_BLOCK) {
			v = l;
			if (!ftl_choose_victim(f, &v))
				break;
		}
		ftl_collect(f, v, ~0ULL, w);
		if (device && f->free > f->cfg.luns)
			break;
	}
}

/* Whether collection can make room on die @l, wherever the valid units are. */
static bool ftl_can_win(const struct ftl *f, unsigned int l)
{
	u64 valid = 0;
	u32 i;

	if (f->cfg.gc == FTL_GC_DEVICE)
		return true;
	for (i = 0; i < f->cfg.blocks; i++)
		valid += f->block[l * f->cfg.blocks + i].valid;
	return valid <= (u64)(f->cfg.blocks - 4) * f->cfg.per_block;
}

/**
 * ftl_choose - the die for the next dynamic write
 * @f: the layer
 * @n: the flash, to prefer idle dies; NULL: in turn
 */
unsigned int ftl_choose(struct ftl *f, const struct nand *n)
{
	unsigned int i, l, any = f->turn;
	bool found = false;

	for (i = 0; i < f->cfg.luns; i++) {
		l = (f->turn + i) % f->cfg.luns;
		if (!ftl_room(f, l))
			continue;
		if (!found)
			any = l;
		found = true;
		if (!n || nand_idle(n, l)) {
			any = l;
			break;
		}
	}
	/* A die with more than its share of the data may have nothing to collect. */
	for (i = 0; !found && i < f->cfg.luns; i++) {
		any = (f->turn + i) % f->cfg.luns;
		found = ftl_can_win(f, any);
	}
	f->turn = (any + 1) % f->cfg.luns;
	return any;
}

/**
 * ftl_write - find places for the units of one program
 * @f: the layer
 * @lun: the die
 * @units: of the host; FTL_NONE: discarded
 * @nr: number of units, at most per_prog; the rest of the program is padding
 * @flag: FTL_BUFFERED if they stay readable in the write buffer, or 0
 * @w: the resulting work of the flash
 *
 * Return: the first place; the others follow it.
 */
u32 ftl_write(struct ftl *f, unsigned int lun, const u32 *units, u32 nr,
	      u32 flag, struct ftl_work *w)
{
	struct ftl_front *front;
	u32 place, i;

	memset(w, 0, sizeof(*w));
	ftl_make_room(f, lun, f->cfg.per_prog, w);
	if (!ftl_room(f, lun)) {
		/* Only across chips: another die has the collected block. */
		for (i = 0; i < f->cfg.luns && !ftl_room(f, lun); i++)
			lun = (lun + 1) % f->cfg.luns;
	}
	w->lun = lun;
	front = ftl_front(f, lun, 0);
	place = ftl_place(f, lun, front->block, front->used);
	for (i = 0; i < f->cfg.per_prog; i++) {
		if (i < nr && units[i] != FTL_NONE) {
			ftl_invalidate(f, units[i]);
			ftl_put(f, lun, front, units[i], flag);
		} else {
			f->rev[ftl_place(f, lun, front->block,
					 front->used++)] = ~0u;
		}
	}
	f->host += nr;
	f->flash += f->cfg.per_prog;
	return place;
}

/**
 * ftl_buffer - a unit of the host is in the write buffer, without a place
 * @f: the layer
 * @unit: which
 */
void ftl_buffer(struct ftl *f, u32 unit)
{
	ftl_invalidate(f, unit);
	f->map[unit] = FTL_NONE | FTL_BUFFERED;
}

/**
 * ftl_written - units at these places have left the write buffer
 * @f: the layer
 * @place: first place
 * @nr: how many
 */
void ftl_written(struct ftl *f, u32 place, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		u32 unit = f->rev[place + i];

		if (unit < f->cfg.units &&
		    f->map[unit] == ((place + i) | FTL_BUFFERED))
			f->map[unit] = place + i;
	}
}

/**
 * ftl_discard - the host has discarded a unit
 * @f: the layer
 * @unit: which
 */
void ftl_discard(struct ftl *f, u32 unit)
{
	ftl_invalidate(f, unit);
	f->map[unit] = FTL_NONE;
}

/* The die to which a unit is written when a used device is simulated. */
static unsigned int ftl_fill_lun(struct ftl *f, u32 unit)
{
	return f->cfg.alloc == FTL_STATIC ?
		ftl_layout_lun(&f->cfg.layout, f->cfg.luns, unit) :
		ftl_choose(f, NULL);
}

static void ftl_fill_in_order(struct ftl *f, u32 units)
{
	struct ftl_work w;
	u32 u = 0, n;

	while (u < units) {
		unsigned int lun = ftl_fill_lun(f, u);

		for (n = 0; n < f->cfg.per_prog && u < units; n++)
			f->group[n] = u++;
		ftl_write(f, lun, f->group, n, 0, &w);
		sim_breathe(u / f->cfg.per_prog);
	}
}

static void ftl_fill_at_random(struct ftl *f, u32 units, u64 overwrites,
			       struct sim_rand *r)
{
	struct ftl_work w;
	u64 i;
	u32 turn = 0, n;

	for (i = 0; units && i < overwrites; i += n) {
		for (n = 0; n < f->cfg.per_prog; n++)
			f->group[n] = sim_rand_below(r, units);
		ftl_write(f, ftl_fill_lun(f, f->group[0]), f->group, n, 0, &w);
		sim_breathe(turn++);
	}
}

/**
 * ftl_fill - simulate a used device, without the time of its use
 * @f: the layer, empty
 * @units: number of units written, from the first one on
 * @overwrites: number of units then overwritten at random
 * @rewrites: number of units then written in order, from the first one on, as a file is laid out
 * @r: random numbers for the overwritten units
 */
void ftl_fill(struct ftl *f, u32 units, u64 overwrites, u32 rewrites,
	      struct sim_rand *r)
{
	ftl_fill_in_order(f, units);
	ftl_fill_at_random(f, units, overwrites, r);
	ftl_fill_in_order(f, rewrites);
	ftl_reset_stats(f);
}

/**
 * ftl_reset_stats - set all sums to zero
 * @f: the layer
 */
void ftl_reset_stats(struct ftl *f)
{
	f->host = f->flash = f->copies = f->erases = 0;
	f->free_min = f->free;
}

/**
 * ftl_check - do all tables agree?
 * @f: the layer
 *
 * For tests; it checks everything.
 *
 * Return: 0, or the number of the broken rule.
 */
int ftl_check(const struct ftl *f)
{
	u64 free = 0, valid = 0, mapped = 0;
	u32 l, b, i;

	for (i = 0; i < f->cfg.units; i++) {
		u32 place = f->map[i] & ~FTL_BUFFERED;

		if (place == FTL_NONE)
			continue;
		mapped++;
		if (place >= ftl_places(&f->cfg) || f->rev[place] != i)
			return 1;
		if (f->cfg.alloc == FTL_STATIC && ftl_lun_of(f, place) !=
		    ftl_layout_lun(&f->cfg.layout, f->cfg.luns, i))
			return 2;
	}
	for (l = 0; l < f->cfg.luns; l++) {
		u32 here = 0;

		for (b = 0; b < f->cfg.blocks; b++) {
			const struct ftl_block *blk =
				&f->block[l * f->cfg.blocks + b];

			valid += blk->valid;
			if (blk->state == FTL_FREE) {
				here++;
				if (blk->valid)
					return 3;
			}
			if (blk->valid > f->cfg.per_block)
				return 4;
		}
		if (here != f->lun[l].free)
			return 5;
		free += here;
	}
	if (free != f->free)
		return 6;
	return valid == mapped ? 0 : 7;
}
