// SPDX-License-Identifier: GPL-2.0
/*
 * The chips of a request, as the PIQ paper numbers them: chip 0 is the most
 * significant bit.
 */
#include "common/flash/chipvec.h"
#include "chiptext.h"
#include "tap.h"

static struct flash_geometry layout(u32 page, u32 chips)
{
	struct flash_geometry geo = { 0 };
	char text[64];

	snprintf(text, sizeof(text), "page=%u chips=%u", page, chips);
	if (flash_geometry_parse(text, &geo))
		puts("Bail out! no layout");
	return geo;
}

/*
 * Sector and length in sectors, page, chips, the vector. The paper's own
 * example counts in 4 KiB: block 14854, two blocks, is (00000011) = 3.
 */
static void formula(void)
{
	static const struct {
		u64 sector, sectors;
		u32 page, chips;
		u64 want;
	} v[] = {
		{ 14854 * 8, 16, 4096, 8, 3 },
		{ 56, 16, 4096, 8, 129 },
		{ 0, 64, 4096, 8, 255 },
		{ 0, 72, 4096, 8, 255 },
		{ 40, 64, 4096, 8, 255 },
		{ 8, 1, 4096, 8, 64 },
		{ 7, 2, 4096, 8, 192 },
		{ 120, 16, 4096, 8, 129 },
		{ 0, 1, 2048, 64, 1ULL << 63 },
		{ 3, 2, 2048, 64, 3ULL << 62 },
		{ 255, 8, 2048, 64, (3ULL << 62) + 1 },
		{ 0, 0, 4096, 8, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct flash_geometry geo = layout(v[i].page, v[i].chips);
		struct flash_chipvec vec;

		flash_chipvec_fill(&vec, &geo, v[i].sector, v[i].sectors, 0);
		eq(flash_chipvec_number(&vec), v[i].want,
		   "%llu+%llu on %u chips with pages of %u",
		   (unsigned long long)v[i].sector,
		   (unsigned long long)v[i].sectors, v[i].chips, v[i].page);
	}
}

static void offsets(void)
{
	struct flash_geometry geo = layout(4096, 8);
	struct flash_chipvec vec;

	flash_chipvec_fill(&vec, &geo, 0, 8, 1);
	eq(flash_chipvec_number(&vec), 192,
	   "one sector before the device: a page more");
	flash_chipvec_fill(&vec, &geo, 1, 8, 63);
	eq(flash_chipvec_number(&vec), 128, "64 sectors: round once");
	flash_chipvec_fill(&vec, &geo, 0, 8, 63);
	eq(flash_chipvec_number(&vec), 129, "the last chip and the first");
}

static void printing(void)
{
	struct flash_geometry geo = layout(4096, 8), wide = layout(4096, 256);
	struct flash_chipvec vec;
	char buf[FLASH_MAX_CHIPS + 1], little[4];

	flash_chipvec_fill(&vec, &geo, 14854 * 8, 16, 0);
	eq(flash_chipvec_print(&vec, buf, sizeof(buf)), 8, "a digit a chip");
	eq(strcmp(buf, "00000011"), 0, "the paper's example is 00000011");
	eq(flash_chipvec_print(&vec, little, sizeof(little)), 3,
	   "what does not fit is left out");
	eq(strcmp(little, "000"), 0, "the end is there");
	eq(flash_chipvec_print(&vec, little, 0), 0, "no room at all");
	flash_chipvec_fill(&vec, &wide, 255 * 8, 16, 0);
	eq(flash_chipvec_print(&vec, buf, sizeof(buf)), 256, "256 chips fit");
	eq(buf[0] == '1' && buf[255] == '1' && !strchr(buf + 1, '1')[1], 1,
	   "the first and the last");
}

static struct flash_chipvec number(const struct flash_geometry *geo, u64 n)
{
	struct flash_chipvec vec;
	u32 chip;

	flash_chipvec_clear(&vec, geo);
	for (chip = 0; chip < geo->nr_chips; chip++) {
		if (n >> (geo->nr_chips - 1 - chip) & 1)
			flash_chipvec_set(&vec, chip);
	}
	return vec;
}

/* Figure 5: chips 5, 1 and 6 are in conflict. */
static void conflicts(void)
{
	static const struct {
		u64 a, b, common;
	} want[] = {
		{ 12, 6, 4 }, { 64, 96, 64 }, { 6, 3, 2 },
		{ 12, 64, 0 }, { 12, 3, 0 }, { 96, 3, 0 },
	};
	struct flash_geometry geo = layout(4096, 8);
	unsigned int i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct flash_chipvec a = number(&geo, want[i].a);
		struct flash_chipvec b = number(&geo, want[i].b);

		eq(flash_chipvec_conflict(&a, &b), !!want[i].common,
		   "%llu and %llu", (unsigned long long)want[i].a,
		   (unsigned long long)want[i].b);
		flash_chipvec_union(&a, &b);
		eq(flash_chipvec_number(&a), want[i].a | want[i].b,
		   "and their union");
		eq(flash_chipvec_inside(&b, &a), 1, "has both");
		eq(flash_chipvec_inside(&a, &b),
		   (want[i].a | want[i].b) == want[i].b, "the other way");
	}
}

/* All operations, against arrays of flags, for many numbers of chips */
static void against_arrays(void)
{
	static const u32 counts[] = { 1, 2, 7, 63, 64, 65, 127, 128, 200, 256 };
	unsigned long long seed = 1;
	int bad = 0, round;

	for (round = 0; round < 20000; round++) {
		struct flash_geometry geo = layout(512,
			counts[tap_rand(&seed) % (sizeof(counts) / 4)]);
		bool in[2][FLASH_MAX_CHIPS] = { 0 };
		struct flash_chipvec v[2];
		bool conflict = false, inside = true;
		u32 chip, at, weight = 0, n = geo.nr_chips, first;
		int i;

		for (i = 0; i < 2; i++) {
			u32 sparse = 1 + tap_rand(&seed) % 40;

			flash_chipvec_clear(&v[i], &geo);
			for (chip = 0; chip < n; chip++) {
				if (tap_rand(&seed) % sparse)
					continue;
				in[i][chip] = true;
				flash_chipvec_set(&v[i], chip);
			}
			chip = tap_rand(&seed) % n;
			flash_chipvec_unset(&v[i], chip);
			in[i][chip] = false;
		}
		first = FLASH_NO_CHIP;
		at = flash_chipvec_first(&v[0]);
		for (chip = 0; chip < n; chip++) {
			conflict |= in[0][chip] && in[1][chip];
			inside &= !in[0][chip] || in[1][chip];
			bad += flash_chipvec_test(&v[0], chip) != in[0][chip];
			if (!in[0][chip])
				continue;
			if (!weight++)
				first = chip;
			bad += at != chip;
			at = flash_chipvec_next(&v[0], chip);
		}
		bad += at != FLASH_NO_CHIP;
		for (chip = 0; weight && chip < n; chip++) {
			at = flash_chipvec_next(&v[0], chip);
			bad += flash_chipvec_after(&v[0], chip) !=
			       (at == FLASH_NO_CHIP ? first : at);
		}
		bad += flash_chipvec_first(&v[0]) != first;
		bad += flash_chipvec_weight(&v[0]) != weight;
		bad += flash_chipvec_empty(&v[0]) != !weight;
		bad += flash_chipvec_single(&v[0]) !=
		       (weight == 1 ? first : FLASH_NO_CHIP);
		bad += flash_chipvec_conflict(&v[0], &v[1]) != conflict;
		bad += flash_chipvec_inside(&v[0], &v[1]) != inside;
		flash_chipvec_union(&v[0], &v[1]);
		for (chip = 0; chip < FLASH_MAX_CHIPS; chip++)
			bad += flash_chipvec_test(&v[0], chip) !=
			       (in[0][chip] || in[1][chip]);
	}
	eq(bad, 0, "20000 pairs of sets agree with arrays");
}

/* Requests of any length: correct, in a bounded number of steps */
static void long_requests(void)
{
	struct flash_geometry geo = { 0 };
	struct flash_chipvec vec;

	flash_geometry_parse("page=512 terms=1:4:1,268435456:4:4", &geo);
	flash_chipvec_fill(&vec, &geo, 0, 1ULL << 28, 0);
	eq(flash_chipvec_number(&vec), 0xf000, "128 GiB of one digit");
	flash_chipvec_fill(&vec, &geo, 0, (1ULL << 28) + 2, 0);
	eq(flash_chipvec_number(&vec), 0xfc00, "and two pages of the next");
	flash_chipvec_fill(&vec, &geo, 3, 1ULL << 40, 0);
	eq(flash_chipvec_weight(&vec), 16, "512 TiB: everything");
	flash_chipvec_fill(&vec, &geo, (1ULL << 28) - 2, 3, 0);
	eq(flash_chipvec_number(&vec), 0x3800, "across the change of a digit");
	flash_geometry_parse("page=2048 chips=200", &geo);
	flash_chipvec_fill(&vec, &geo, 1, 1ULL << 50, 0);
	eq(flash_chipvec_weight(&vec), 200, "all of 200 and no other");
}

static void no_layout(void)
{
	struct flash_geometry geo = { 0 };
	struct flash_chipvec vec;

	flash_chipvec_fill(&vec, &geo, 123, 456, 7);
	eq(flash_chipvec_empty(&vec), 1, "no layout: no chip");
	eq(flash_chipvec_conflict(&vec, &vec), 0, "which conflicts with none");
	flash_geometry_parse("page=4096 chips=8", &geo);
	flash_chipvec_fill(&vec, &geo, 0, 1, 0);
	eq(vec.generation, geo.generation, "a vector knows its layout");
}

int main(void)
{
	formula();
	offsets();
	printing();
	conflicts();
	against_arrays();
	long_requests();
	no_layout();
	return tap_done();
}
