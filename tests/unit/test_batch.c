// SPDX-License-Identifier: GPL-2.0
/*
 * Batches as the PIQ paper forms them (Figures 5 and 7), and what becomes of
 * them. test_piq_batch.c has the turns.
 */
#include "common/flash/batch.h"
#include "chiptext.h"
#include "tap.h"

#define MANY	400

/* A device with requests of these numbers. */
struct rig {
	struct flash_geometry geo;
	struct flash_batches b;
	struct flash_batch pool[2 * MANY];
	struct flash_batch_part part[MANY];
	u32 nr;
};

static struct rig r;

static void rig(u32 chips, u32 pool)
{
	char text[64];

	memset(&r, 0, sizeof(r));
	snprintf(text, sizeof(text), "page=4096 chips=%u", chips);
	eq(flash_geometry_parse(text, &r.geo), 0, "%u chips", chips);
	flash_batches_init(&r.b, r.pool, pool);
}

static struct flash_chipvec vector(u64 number)
{
	struct flash_chipvec vec;
	u32 chip;

	flash_chipvec_clear(&vec, &r.geo);
	for (chip = 0; chip < r.geo.nr_chips; chip++) {
		if (number >> (r.geo.nr_chips - 1 - chip) & 1)
			flash_chipvec_set(&vec, chip);
	}
	return vec;
}

/* A request with the vector that the paper would write as @number. */
static struct flash_batch_part *add(enum flash_dir dir, u64 number)
{
	struct flash_batch_part *part = &r.part[r.nr++];

	part->vec = vector(number);
	return flash_batches_add(&r.b, part, dir) ? part : NULL;
}

static u32 nr_batches(enum flash_dir dir)
{
	return (u32)list_count_nodes(&r.b.list[dir]);
}

static struct flash_batch *first_batch(enum flash_dir dir)
{
	return list_first_entry(&r.b.list[dir], struct flash_batch, link);
}

static u32 nr_waiting(const struct flash_batch *batch)
{
	return (u32)list_count_nodes(&batch->waiting);
}

static int index_of(const struct flash_batch_part *part)
{
	return part ? (int)(part - r.part) : -1;
}

/* Dispatch the oldest waiting request of a list's first batch, if there is one. */
static struct flash_batch_part *go(enum flash_dir dir)
{
	struct flash_batch_part *part = NULL;

	if (!list_empty(&r.b.list[dir]))
		part = flash_batch_first(first_batch(dir));
	if (part)
		flash_batch_dispatch(part);
	return part;
}

static void figure_5(void)
{
	struct flash_batch *first, *second;

	rig(8, MANY);
	add(FLASH_READ, 12);
	add(FLASH_READ, 64);
	add(FLASH_READ, 6);
	add(FLASH_READ, 96);
	add(FLASH_READ, 3);
	first = first_batch(FLASH_READ);
	second = list_next_entry(first, link);
	eq(nr_batches(FLASH_READ), 2, "Figure 5: two batches");
	eq(flash_chipvec_number(&first->vec), 79, "the first is 79");
	eq(flash_chipvec_number(&second->vec), 102, "the second is 102");
	eq(r.part[0].batch == first && r.part[1].batch == first &&
	   r.part[4].batch == first, 1, "requests 1, 2 and 5");
	eq(r.part[2].batch == second && r.part[3].batch == second, 1,
	   "requests 3 and 4");
}

/* Dispatch all of a batch, then end it, and so on: the number of batches */
static int cycles(enum flash_dir dir)
{
	struct flash_batch_part *out[MANY], *part;
	int n, count = 0;

	for (;;) {
		n = 0;
		while ((part = go(dir)))
			out[n++] = part;
		if (!n)
			return count;
		count++;
		while (n)
			flash_batches_remove(&r.b, out[--n]);
	}
}

static void figure_7(void)
{
	static const u64 vec[] = { 3, 6, 12 };
	int i;

	rig(4, MANY);
	for (i = 0; i < 3; i++) {
		add(FLASH_READ, vec[i]);
		add(FLASH_WRITE, vec[i]);
	}
	for (i = FLASH_READ; i <= FLASH_WRITE; i++) {
		eq(flash_chipvec_number(&first_batch(i)->vec), 15,
		   "Figure 7: the first batch is 15");
		eq(nr_waiting(first_batch(i)), 2, "of two requests");
		eq(flash_chipvec_number(&list_last_entry(&r.b.list[i], struct flash_batch,
							 link)->vec), 6,
		   "the second is 6");
	}
	eq(cycles(FLASH_READ), 2, "two read cycles instead of three");
	eq(cycles(FLASH_WRITE), 2, "two write cycles");
	eq(nr_batches(FLASH_READ) + nr_batches(FLASH_WRITE), 0, "and all is done");
}

static void one_page_bound(void)
{
	u32 chip;

	rig(8, MANY);
	for (chip = 0; chip < 8; chip++)
		add(FLASH_READ, 1ULL << chip);
	eq(nr_batches(FLASH_READ), 1, "eight one-page requests: a batch");
	add(FLASH_READ, 16);
	eq(nr_batches(FLASH_READ), 2, "the ninth opens the second");
}

/* An outstanding batch can be joined, but what has ended keeps its chips. */
static void joining(void)
{
	struct flash_batch_part *a, *b;

	rig(8, MANY);
	a = add(FLASH_READ, 128);
	eq(index_of(go(FLASH_READ)), 0, "an idle device: it goes");
	b = add(FLASH_READ, 64);
	eq(b->batch == a->batch, 1, "the next one joins while it is out");
	eq(index_of(go(FLASH_READ)), 1, "and goes at once");
	flash_batches_remove(&r.b, a);
	a = add(FLASH_READ, 128);
	eq(a->batch != b->batch, 1, "the chip of one that has ended is taken");
	eq(index_of(go(FLASH_READ)), -1, "its batch has to wait");
	flash_batches_remove(&r.b, b);
	eq(index_of(go(FLASH_READ)), 2, "until the other ends");
}

static void pool_runs_out(void)
{
	struct flash_batches before;
	struct flash_batch_part *a, *late;

	rig(4, 2);
	a = add(FLASH_READ, 3);
	add(FLASH_WRITE, 3);
	before = r.b;
	late = add(FLASH_READ, 3);
	eq(index_of(late), -1, "no batch is left");
	eq(memcmp(&before, &r.b, sizeof(before)), 0, "nothing has changed");
	eq(index_of(add(FLASH_READ, 12)), 3, "joining needs none");
	go(FLASH_READ);
	go(FLASH_READ);
	flash_batches_remove(&r.b, a);
	eq(index_of(add(FLASH_READ, 3)), -1, "the batch is still out");
	flash_batches_remove(&r.b, &r.part[3]);
	eq(index_of(add(FLASH_READ, 3)), 5, "a batch that has ended is free");
}

static void removing(void)
{
	struct flash_batch_part *a, *b, *c;

	rig(8, MANY);
	a = add(FLASH_READ, 128);
	b = add(FLASH_READ, 64);
	c = add(FLASH_READ, 32);
	flash_batches_remove(&r.b, b);
	eq(nr_waiting(a->batch), 2, "one is merged away");
	flash_batches_remove(&r.b, b);
	eq(nr_waiting(a->batch), 2, "a second time is no matter");
	eq(go(FLASH_READ) == a && go(FLASH_READ) == c, 1,
	   "the others go in order");
	eq(a->batch->outstanding, 2, "two are out");
	flash_batches_remove(&r.b, a);
	flash_batches_remove(&r.b, a);
	eq(c->batch->outstanding, 1, "an end counts once");
	flash_batches_remove(&r.b, c);
	eq(nr_batches(FLASH_READ) + nr_batches(FLASH_WRITE), 0, "nothing is left");

	/* A batch in the middle of the list ends with its only request. */
	a = add(FLASH_READ, 1);
	b = add(FLASH_READ, 1);
	c = add(FLASH_READ, 1);
	flash_batches_remove(&r.b, b);
	eq(nr_batches(FLASH_READ), 2, "two batches stay");
	eq(go(FLASH_READ) == a, 1, "the first");
	flash_batches_remove(&r.b, a);
	eq(go(FLASH_READ) == c, 1, "the last");
}

static void growing(void)
{
	struct flash_batch_part *a;
	struct flash_chipvec more, other;

	rig(8, MANY);
	a = add(FLASH_READ, 128);
	add(FLASH_READ, 32);
	more = vector(128 + 64);
	other = vector(128 + 64 + 32);
	eq(flash_batch_grow(a, &other), 0, "the chip after the next one is taken");
	eq(flash_chipvec_number(&a->vec), 128, "and nothing has changed");
	eq(flash_batch_grow(a, &more), 1, "the next chip is free");
	eq(flash_chipvec_number(&a->vec), 192, "it has both");
	eq(flash_chipvec_number(&a->batch->vec), 224, "and so has its batch");
	more.generation++;
	eq(flash_batch_grow(a, &more), 0, "another layout: unknown");
}

/* A new layout while requests wait: they and new ones never share a batch. */
static void layout_changes(void)
{
	struct flash_batch_part *a, *b;

	rig(8, MANY);
	a = add(FLASH_READ, 128);
	flash_geometry_parse("page=4096 chips=4", &r.geo);
	b = add(FLASH_READ, 1);
	eq(a->batch != b->batch, 1, "not in one batch");
	eq(go(FLASH_READ) == a, 1, "the old one");
	flash_batches_remove(&r.b, a);
	eq(go(FLASH_READ) == b, 1, "then the new one");
}

/* 10^5 random events: no two requests of a batch share a chip, and none is lost. */
static void random_events(void)
{
	static struct flash_batch_part *out[MANY];
	static u32 spare[MANY];
	static enum flash_dir dirs[MANY];
	unsigned long long seed = 1;
	int bad = 0, i, step;
	u32 nr_out = 0, nr_spare = 0, waits = 0;

	rig(64, MANY);
	for (i = 0; i < MANY; i++)
		spare[nr_spare++] = (u32)i;
	for (step = 0; step < 100000; step++) {
		struct flash_batch_part *part;
		enum flash_dir dir;
		u32 what = tap_rand(&seed) % 3, n;

		if (what == 0 && nr_spare) {
			part = &r.part[spare[--nr_spare]];
			flash_chipvec_fill(&part->vec, &r.geo,
					   tap_rand(&seed) % 4096,
					   1 + tap_rand(&seed) % 40, 0);
			dir = tap_rand(&seed) % 2 ? FLASH_READ : FLASH_WRITE;
			dirs[part - r.part] = dir;
			bad += !flash_batches_add(&r.b, part, dir);
			waits++;
		} else if (what == 1) {
			part = go(tap_rand(&seed) % 2 ? FLASH_READ :
							FLASH_WRITE);
			if (!part)
				continue;
			waits--;
			for (n = 0; n < nr_out; n++) {
				if (dirs[out[n] - r.part] != dirs[part - r.part])
					continue;
				bad += out[n]->batch != part->batch;
				bad += flash_chipvec_conflict(&out[n]->vec,
							      &part->vec);
			}
			out[nr_out++] = part;
		} else if (nr_out) {
			n = tap_rand(&seed) % nr_out;
			part = out[n];
			out[n] = out[--nr_out];
			flash_batches_remove(&r.b, part);
			spare[nr_spare++] = (u32)(part - r.part);
		}
	}
	eq(bad, 0, "a batch of a list is out, its requests share no chip");
	while (nr_out)
		flash_batches_remove(&r.b, out[--nr_out]);
	for (i = FLASH_READ; i <= FLASH_WRITE; i++) {
		struct flash_batch_part *part;

		while ((part = go((enum flash_dir)i))) {
			flash_batches_remove(&r.b, part);
			waits--;
		}
	}
	eq(waits, 0, "all of them go");
	eq(nr_batches(FLASH_READ) + nr_batches(FLASH_WRITE), 0, "and no batch is left");
}

int main(void)
{
	figure_5();
	figure_7();
	one_page_bound();
	joining();
	pool_runs_out();
	removing();
	growing();
	layout_changes();
	random_events();
	return tap_done();
}
