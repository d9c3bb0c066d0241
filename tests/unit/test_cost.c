// SPDX-License-Identifier: GPL-2.0
/* service_time.c: the time of a request, learned from earlier requests */
#include "common/estimate/service_time.h"
#include "tap.h"

static struct flash_cost c;

/* A device of 80 us and 20 ns a sector. */
static u64 line(u64 sectors)
{
	return 80000 + 20 * sectors;
}

static void learn(enum flash_dir dir, u64 sectors, u64 ns, int times)
{
	while (times--)
		flash_cost_learn(&c, dir, sectors, ns);
}

static void base_and_slope(void)
{
	u64 s;
	int bad = 0;

	memset(&c, 0, sizeof(c));
	eq(flash_cost_ns(&c, FLASH_READ, 8), 0, "nothing is known");
	learn(FLASH_READ, 8, line(8), 1);
	eq(flash_cost_ns(&c, FLASH_READ, 8), 80160, "4 KiB: 80.16 us");
	eq(flash_cost_ns(&c, FLASH_WRITE, 8), 0, "a read tells of no write");
	learn(FLASH_READ, 2048, line(2048), 1);
	eq(flash_cost_ns(&c, FLASH_READ, 2048), 120960, "1 MiB: 120.96 us");
	eq(flash_cost_ns(&c, FLASH_READ, 256), line(256),
	   "128 KiB, which was not seen: on the line");
	eq(flash_cost_ns(&c, FLASH_READ, 1), 80160,
	   "smaller than any: like the smallest");
	eq(flash_cost_ns(&c, FLASH_READ, 4096), line(4096),
	   "larger than any: on the line");
	for (s = 8; s <= 2048; s *= 2)
		learn(FLASH_READ, s, line(s), 3);
	for (s = 8; s <= 8192; s++)
		bad += flash_cost_ns(&c, FLASH_READ, s) - line(s) + 1 > 2;
	eq(bad, 0, "from 4 KiB to 4 MiB within 1 ns of the line");
}

static void one_size(void)
{
	memset(&c, 0, sizeof(c));
	learn(FLASH_WRITE, 64, 500000, 10);
	eq(flash_cost_ns(&c, FLASH_WRITE, 64), 500000, "what was seen");
	eq(flash_cost_ns(&c, FLASH_WRITE, 8), 500000, "less costs as much");
	eq(flash_cost_ns(&c, FLASH_WRITE, 128), 500000, "and so does more");
}

/* Averages follow a lasting change, but not a single stall. */
static void changes(void)
{
	u64 ns;
	int i;

	memset(&c, 0, sizeof(c));
	learn(FLASH_READ, 8, 100000, 20);
	learn(FLASH_READ, 8, 50000000, 1);
	ns = flash_cost_ns(&c, FLASH_READ, 8);
	eq(ns > 100000 && ns < 140000, 1, "a stall of 50 ms adds %llu ns",
	   (unsigned long long)ns - 100000);
	learn(FLASH_READ, 8, 100000, 60);
	ns = flash_cost_ns(&c, FLASH_READ, 8);
	eq(ns >= 100000 && ns < 100100, 1, "and is forgotten");
	for (i = 0; i < 100 && flash_cost_ns(&c, FLASH_READ, 8) < 1900000; i++)
		learn(FLASH_READ, 8, 2000000, 1);
	eq(i <= 30, 1, "20 times as slow: known after %d requests", i);
	for (i = 0; i < 100 && flash_cost_ns(&c, FLASH_READ, 8) > 110000; i++)
		learn(FLASH_READ, 8, 100000, 1);
	eq(i <= 45, 1, "and back after %d", i);
	learn(FLASH_READ, 8, 0, 200);
	eq(flash_cost_ns(&c, FLASH_READ, 8) < 10, 1, "down to nothing");
	learn(FLASH_READ, 8, 100000, 300);
	eq(flash_cost_ns(&c, FLASH_READ, 8) > 99000, 1, "and up from it");
}

/* Random samples: beyond the largest size, time rises by at most its rate per sector. */
static void order(void)
{
	unsigned long long seed = 1;
	int bad = 0, i, round;

	for (round = 0; round < 3000; round++) {
		u64 ns, half;

		memset(&c, 0, sizeof(c));
		for (i = 0; i < 30; i++)
			flash_cost_learn(&c, FLASH_READ,
				1ULL << tap_rand(&seed) % 14 |
				tap_rand(&seed) % 64,
				tap_rand(&seed) % 1000000);
		ns = flash_cost_ns(&c, FLASH_READ, 1 << 16);
		half = flash_cost_ns(&c, FLASH_READ, 1 << 15);
		bad += ns < half || ns > 2 * half + 2;
	}
	eq(bad, 0, "beyond the largest: not less, not more a sector");
}

static void extremes(void)
{
	memset(&c, 0, sizeof(c));
	learn(FLASH_READ, 0, 5, 1);
	eq(flash_cost_ns(&c, FLASH_READ, 8), 0, "no sectors: ignored");
	learn(FLASH_READ, 1, 0, 20);
	learn(FLASH_READ, 2, ~0ULL, 60);
	learn(FLASH_READ, ~0ULL, ~0ULL, 20);
	eq(flash_cost_ns(&c, FLASH_READ, 2), 1ULL << 33,
	   "the longest time is 8.6 s");
	eq(flash_cost_ns(&c, FLASH_READ, ~0ULL), 1ULL << 33,
	   "of the largest, too");
	learn(FLASH_WRITE, 1, 0, 20);
	learn(FLASH_WRITE, 2, ~0ULL, 60);
	eq(flash_cost_ns(&c, FLASH_WRITE, ~0ULL), 1ULL << 54,
	   "2 GiB at 4.3 s a sector: as it says, and no overflow");
}

int main(void)
{
	base_and_slope();
	one_size();
	changes();
	order();
	extremes();
	return tap_done();
}
