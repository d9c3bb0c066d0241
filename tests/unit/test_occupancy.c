// SPDX-License-Identifier: GPL-2.0
/* occupancy.c: requests on each chip, counted and released by one vector */
#include "common/flash/occupancy.h"
#include "chiptext.h"
#include "tap.h"

static struct flash_geometry geo;
static struct flash_occupancy o;

/* No request is outstanding, and the depth is 1. */
static void init(void)
{
	memset(&o, 0, sizeof(o));
	flash_occupancy_set(&o, &geo, 1);
}

static struct flash_chipvec pages(u64 first, u64 nr)
{
	struct flash_chipvec vec;

	flash_chipvec_fill(&vec, &geo, first * 8, nr * 8, 0);
	return vec;
}

static void one_a_chip(void)
{
	struct flash_chipvec a, b, c;

	flash_geometry_parse("page=4096 chips=8", &geo);
	init();
	eq(flash_chipvec_weight(&o.idle), 8, "all chips are idle");
	a = pages(6, 3);
	b = pages(1, 2);
	c = pages(0, 1);
	eq(flash_occupancy_free(&o, &a), 1, "three of them are free");
	flash_occupancy_take(&o, &a, FLASH_WRITE);
	eq(o.busy, 3, "and then busy");
	eq(flash_chipvec_number(&o.idle), 0x7c, "the others are idle");
	eq(flash_occupancy_free(&o, &b), 1, "two others are free");
	eq(flash_occupancy_free(&o, &c), 0, "a shared chip is not");
	eq(o.out[FLASH_WRITE][0], 1, "a write is on it");
	eq(o.out[FLASH_READ][0], 0, "and no read");
	flash_occupancy_take(&o, &c, FLASH_READ);
	eq(flash_occupancy_load(&o, &c), 2, "two on a chip, if one insists");
	eq(flash_occupancy_load(&o, &b), 0, "none on the others");
	eq(o.busy, 3, "it was busy before");
	flash_occupancy_release(&o, &a, FLASH_WRITE);
	eq(flash_occupancy_free(&o, &c), 0, "the read is still there");
	eq(o.out[FLASH_WRITE][0], 0, "the write is not");
	flash_occupancy_release(&o, &c, FLASH_READ);
	eq(flash_chipvec_weight(&o.idle), 8, "all are idle again");
	eq(o.busy, 0, "and none is busy");
}

/* A change of depth takes effect at once, up and down. */
static void depth_changes(void)
{
	struct flash_chipvec a = pages(2, 2);

	init();
	flash_occupancy_take(&o, &a, FLASH_READ);
	eq(flash_occupancy_free(&o, &a), 0, "one of one: full");
	flash_occupancy_set(&o, &geo, 3);
	eq(flash_occupancy_free(&o, &a), 1, "one of three: free at once");
	flash_occupancy_take(&o, &a, FLASH_READ);
	flash_occupancy_take(&o, &a, FLASH_READ);
	eq(flash_occupancy_free(&o, &a), 0, "three of three: full");
	flash_occupancy_set(&o, &geo, 1);
	flash_occupancy_release(&o, &a, FLASH_READ);
	flash_occupancy_release(&o, &a, FLASH_READ);
	eq(flash_occupancy_free(&o, &a), 0, "one of one: full");
	flash_occupancy_release(&o, &a, FLASH_READ);
	eq(flash_occupancy_free(&o, &a), 1, "none of one: free");
	eq(flash_chipvec_weight(&o.idle), 8, "like all others");
}

/* The layout changes while requests are outstanding: their chips stay those of before. */
static void layout_changes(void)
{
	struct flash_chipvec a = pages(7, 1), b;

	init();
	flash_occupancy_take(&o, &a, FLASH_WRITE);
	flash_geometry_parse("page=4096 chips=4", &geo);
	flash_occupancy_set(&o, &geo, 1);
	eq(flash_chipvec_weight(&o.idle), 4, "four chips now");
	b = pages(7, 1);
	flash_occupancy_take(&o, &b, FLASH_READ);
	flash_occupancy_release(&o, &a, FLASH_WRITE);
	eq(o.busy, 1, "the old request has left");
	eq(flash_chipvec_number(&o.idle), 14, "the new one has not");
	eq(flash_chipvec_test(&o.idle, 7), 0, "a chip that is gone stays so");
	flash_occupancy_release(&o, &b, FLASH_READ);
	eq(o.busy, 0, "then that one, too");
	flash_geometry_parse("page=4096 chips=8", &geo);
	flash_occupancy_set(&o, &geo, 1);
	eq(flash_chipvec_weight(&o.idle), 8, "all eight are idle");
}

/* Random layouts, depths and requests, against a naive count */
static void random_events(void)
{
	static const char * const layouts[] = {
		"page=4096 chips=8", "page=4096 chips=200", "page=512 chips=64",
		"page=2048 terms=2:3:1,12:5:3", "none",
	};
	static struct {
		struct flash_chipvec vec;
		enum flash_dir dir;
	} out[64];
	unsigned long long seed = 1;
	u32 nr = 0, depth = 1, chip, i, step;
	int bad = 0;

	flash_geometry_parse(layouts[0], &geo);
	init();
	for (step = 0; step < 30000; step++) {
		u32 want[FLASH_MAX_CHIPS] = { 0 }, busy = 0;

		if (tap_rand(&seed) % 50 == 0) {
			flash_geometry_parse(layouts[tap_rand(&seed) % 5],
					     &geo);
			depth = 1 + tap_rand(&seed) % 3;
			flash_occupancy_set(&o, &geo, depth);
		} else if (nr < 64 && tap_rand(&seed) % 2) {
			flash_chipvec_fill(&out[nr].vec, &geo,
					   tap_rand(&seed) % 10000,
					   1 + tap_rand(&seed) % 64, 3);
			out[nr].dir = tap_rand(&seed) % 2 ? FLASH_READ :
							    FLASH_WRITE;
			flash_occupancy_take(&o, &out[nr].vec, out[nr].dir);
			nr++;
		} else if (nr) {
			i = tap_rand(&seed) % nr;
			flash_occupancy_release(&o, &out[i].vec, out[i].dir);
			out[i] = out[--nr];
		}
		for (i = 0; i < nr; i++) {
			flash_for_each_chip(chip, &out[i].vec)
				want[chip]++;
		}
		for (chip = 0; chip < FLASH_MAX_CHIPS; chip++) {
			bad += flash_occupancy_on(&o, chip) != want[chip];
			bad += flash_chipvec_test(&o.idle, chip) !=
			       (chip < geo.nr_chips && want[chip] < depth);
			busy += want[chip] > 0;
		}
		bad += o.busy != busy;
	}
	eq(bad, 0, "30000 events: counts and idle chips are exact");
}

int main(void)
{
	one_a_chip();
	depth_changes();
	layout_changes();
	random_events();
	return tap_done();
}
