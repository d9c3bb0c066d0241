// SPDX-License-Identifier: GPL-2.0
/* layout.c: layouts as text, and the chip of each page */
#include "common/flash/layout.h"
#include "chiptext.h"
#include "tap.h"

/* Arguments of %.*s: the text without its newline, which would break TAP */
#define WORDS(text)	(int)strcspn(text, "\n"), (text)

static struct flash_geometry parsed(const char *text)
{
	struct flash_geometry geo = { 0 };

	eq(flash_geometry_parse(text, &geo), 0, "'%.*s' is a layout",
	   WORDS(text));
	return geo;
}

/* Pairs of page and chip of a drive of four channels with four chips each */
static void two_terms(void)
{
	static const u32 want[][2] = {
		{ 0, 0 }, { 1, 1 }, { 3, 3 }, { 4, 0 }, { 31, 3 }, { 32, 4 },
		{ 33, 5 }, { 63, 7 }, { 64, 8 }, { 127, 15 }, { 128, 0 },
	};
	struct flash_geometry geo = parsed("page=4096 terms=1:4:1,32:4:4");
	unsigned int i;

	eq(geo.nr_chips, 16, "two terms of four: 16 chips");
	eq(geo.simple, 0, "which is not page modulo chips");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		eq(flash_chip_of(&geo, want[i][0]), want[i][1],
		   "page %u is on chip %u", want[i][0], want[i][1]);
	eq(flash_chip_of(&geo, (1ULL << 50) + 33), 5, "and far beyond 2^32");
}

static void odd_counts(void)
{
	struct flash_geometry geo = parsed("page=8192 terms=3:5:1,30:7:5");
	struct flash_geometry swapped = parsed("page=8192 terms=30:7:5,3:5:1");
	u64 lpn;
	int bad = 0;

	eq(geo.nr_chips, 35, "five times seven chips");
	for (lpn = 0; lpn < 1000; lpn++)
		bad += flash_chip_of(&geo, lpn) !=
		       lpn / 3 % 5 + lpn / 30 % 7 * 5;
	eq(bad, 0, "no power of two: the same by definition");
	for (lpn = 0; lpn < 1000; lpn++)
		bad += flash_chip_of(&geo, lpn) != flash_chip_of(&swapped, lpn);
	eq(bad, 0, "the order of the terms does not matter");
	geo = parsed("page=512 chips=1");
	eq(geo.nr_chips, 1, "one chip");
	eq(flash_chip_of(&geo, 12345), 0, "holds everything");
}

static void read_back(const char *text, const char *want)
{
	struct flash_geometry geo = parsed(text), again = { 0 };
	char buf[FLASH_LAYOUT_LEN];
	int len = flash_geometry_print(&geo, buf, sizeof(buf));

	eq(len, strlen(want), "the length of '%s'", want);
	eq(strcmp(buf, want), 0, "'%.*s' reads as '%s'", WORDS(text),
	   want);
	eq(flash_geometry_parse(buf, &again), 0, "which is a layout");
	eq(memcmp(&geo, &again, sizeof(geo)), 0, "the same");
}

/* Bad input: returns the error and changes nothing. */
static void refused(const char *text, int err)
{
	struct flash_geometry geo = { 0 }, before;

	flash_geometry_parse("page=2048 chips=64", &geo);
	before = geo;
	eq(flash_geometry_parse(text, &geo), err, "'%.*s'", WORDS(text));
	eq(memcmp(&geo, &before, sizeof(geo)), 0, "changes nothing");
}

static void bad_input(void)
{
	static const char * const invalid[] = {
		"", "\n", "auto", "non", "nonesuch", "none none",
		"none page=4096 chips=8", "page=4096 chips=8 none",
		"page=4096", "chips=8", "terms=1:4:1", "page= chips=8",
		"page=4096 chips=", "page=4096 chips=8x", "page=4k chips=8",
		"page=4096,chips=8", "page=4096chips=8", "page=-1 chips=8",
		"page=4096 page=4096 chips=8", "page=4096 chips=8 chips=8",
		"page=4096 page=chips=8", "page=4096 chips=terms=1:4:1",
		"page=4096 chips=8 terms=1:4:1", "page=4095 chips=8",
		"page=4096 terms=", "page=4096 terms=1", "page=4096 terms=1:4",
		"page=4096 terms=1:4:1,", "page=4096 terms=1:4:1:1",
		"page=4096 terms=1:4:1, 4:4:4", "page=4096 terms=a:4:1",
		"PAGE=4096 chips=8", "page=0x1000 chips=8",
		/* Some chip numbers are unused, or reached in two ways */
		"page=4096 terms=1:4:2", "page=4096 terms=1:4:1,4:4:1",
		"page=4096 terms=1:4:1,4:4:8", "page=4096 terms=1:4:1,4:4:2",
		/* Overlapping digits: some chips have no page */
		"page=4096 terms=1:4:1,2:4:4", "page=4096 terms=2:3:1,4:2:3",
	};
	static const char * const range[] = {
		"page=4096 chips=0", "page=4096 chips=257", "page=0 chips=8",
		"page=256 chips=8", "page=33554432 chips=8",
		"page=4096 chips=18446744073709551624",
		"page=4096 chips=99999999999999999999999999999",
		"page=4096 terms=0:4:1", "page=4096 terms=1:0:1",
		"page=4096 terms=1:4:0", "page=4096 terms=1:1:1",
		"page=4096 terms=1:257:1", "page=4096 terms=268435457:4:1",
		"page=4096 terms=1:32:1,32:16:32",
		"page=4096 terms=1:2:1,2:2:2,4:2:4,8:2:8,16:2:16",
	};
	unsigned int i;

	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		refused(invalid[i], -EINVAL);
	for (i = 0; i < sizeof(range) / sizeof(range[0]); i++)
		refused(range[i], -ERANGE);
}

static void generations(void)
{
	struct flash_geometry geo = { 0 };

	flash_geometry_parse("page=2048 chips=64", &geo);
	eq(geo.generation, 1, "a layout is a new generation");
	flash_geometry_parse("rubbish", &geo);
	eq(geo.generation, 1, "a refused one is not");
	flash_geometry_parse("none", &geo);
	eq(geo.generation, 2, "none is one, too");
	eq(geo.nr_chips, 0, "it has no chips");
}

static void spans(void)
{
	static const struct {
		u64 sector, sectors, offset, first, pages;
	} want[] = {
		{ 0, 8, 0, 0, 1 }, { 7, 2, 0, 0, 2 }, { 8, 8, 0, 1, 1 },
		{ 0, 8, 1, 0, 2 }, { 0, 7, 1, 0, 1 }, { 5, 0, 0, 0, 0 },
		{ 1, 1, 63, 8, 1 }, { 0, 72, 0, 0, 9 },
		{ 1ULL << 54, 16, 3, 1ULL << 51, 3 },
	};
	struct flash_geometry geo = parsed("page=4096 chips=8");
	unsigned int i;
	u64 first, pages;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		flash_geometry_span(&geo, want[i].sector, want[i].sectors,
				    want[i].offset, &first, &pages);
		eq(first, want[i].first, "span %u begins", i);
		eq(pages, want[i].pages, "span %u has pages", i);
	}
}

int main(void)
{
	two_terms();
	odd_counts();
	read_back("page=2048 chips=64\n", "page=2048 chips=64");
	read_back(" chips=8   page=16777216 ", "page=16777216 chips=8");
	read_back("page=4096 terms=1:4:1,32:4:4",
		  "page=4096 terms=1:4:1,32:4:4");
	read_back("page=4096 terms=32:4:1,1:4:4",
		  "page=4096 terms=1:4:4,32:4:1");
	read_back("page=4096 terms=1:8:1", "page=4096 chips=8");
	read_back("page=4096 terms=268435456:256:1",
		  "page=4096 terms=268435456:256:1");
	read_back("none\n", "none");
	bad_input();
	generations();
	spans();
	return tap_done();
}
