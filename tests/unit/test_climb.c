// SPDX-License-Identifier: GPL-2.0
/*
 * depth_search.c on devices with noise, where throughput rises up to some number of
 * requests in flight, the knee.
 */
#include "common/estimate/depth_search.h"
#include "tap.h"

#include <math.h>

/* A device and its load */
struct rig {
	struct flash_climb c;
	unsigned long long seed;
	/* Knee, requests in flight */
	double knee;
	/* Standard deviation of a window's throughput, relative */
	double noise;
	/* One window in this number has only half the throughput; 0: none */
	unsigned int stall;
	/* Requests that the load keeps outstanding */
	unsigned int load;
	double speed;
	unsigned int windows;
	unsigned int highest;
};

static double normal(unsigned long long *seed)
{
	double u = (tap_rand(seed) + 1.0) / 2147483649.0;
	double v = tap_rand(seed) / 2147483648.0;

	return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

static void window(struct rig *r)
{
	unsigned int limit = flash_climb_limit(&r->c), out;
	double moved;

	out = limit < r->load ? limit : r->load;
	moved = r->speed * (out < r->knee ? out : r->knee);
	moved *= 1 + r->noise * normal(&r->seed);
	if (r->stall && tap_rand(&r->seed) % r->stall == 0)
		moved /= 2;
	if (moved < 1)
		moved = 1;
	r->windows++;
	if (limit > r->highest)
		r->highest = limit;
	flash_climb_window(&r->c, r->load ? (u64)moved : 0, r->load > limit,
			   !r->load);
}

static struct rig rig(u32 start, u32 max, double knee, double noise,
		      unsigned long long seed)
{
	struct rig r = { .seed = seed, .knee = knee, .noise = noise,
			 .load = 10000, .speed = 1000000 };

	flash_climb_init(&r.c, start, max);
	return r;
}

static void run(struct rig *r, int windows)
{
	while (windows--)
		window(r);
}

/* Windows until the limit is at least 96 % of the knee; at most @most */
static unsigned int reach(struct rig *r, unsigned int most)
{
	unsigned int n = 0;

	while (r->c.limit < 0.96 * r->knee && n++ < most)
		window(r);
	return n;
}

static void ladder(void)
{
	static const u32 want[] = { 1, 2, 3, 5, 8, 12, 18, 27, 30 };
	struct flash_climb c;
	unsigned int i;

	flash_climb_init(&c, 1, 30);
	for (i = 0; i + 1 < sizeof(want) / sizeof(want[0]); i++) {
		eq(flash_climb_above(&c, want[i]), want[i + 1], "above %u",
		   want[i]);
		eq(flash_climb_below(&c, want[i + 1]), want[i], "below %u",
		   want[i + 1]);
	}
	eq(flash_climb_below(&c, 1), 1, "below the start: the start");
}

/* Each limit of a pair is the first one in half of the pairs. */
static void interleaved(void)
{
	static const u32 want[] = { 8, 12, 12, 8, 8, 12, 12, 8 };
	struct flash_climb c;
	unsigned int i;

	flash_climb_init(&c, 8, 64);
	for (i = 0; i < 15; i++) {
		eq(flash_climb_limit(&c), want[i % 8], "window %u", i);
		flash_climb_window(&c, flash_climb_limit(&c) * 1000, true,
				   false);
	}
	eq(c.limit, 8, "after 15 windows nothing is decided");
	flash_climb_window(&c, flash_climb_limit(&c) * 1000, true, false);
	eq(c.limit, 12, "after 8 pairs it is");
}

/* With @early, a trial that costs much throughput is shorter. */
static void much_worse(void)
{
	struct flash_climb c;
	unsigned int i;

	flash_climb_init(&c, 8, 64);
	c.early = true;
	for (i = 0; i < 7; i++)
		flash_climb_window(&c, flash_climb_limit(&c) > 8 ? 600 : 1000,
				   true, false);
	eq(c.trials, 0, "two fifths less: not after 7 windows");
	flash_climb_window(&c, flash_climb_limit(&c) > 8 ? 600 : 1000, true,
			   false);
	eq(c.trials, 1, "but after 4 pairs it is over");
	eq(c.limit, 8, "and nothing has changed");
}

static void rises(void)
{
	static const struct {
		double knee, noise;
		unsigned int windows;
	} want[] = {
		{ 16, 0, 100 }, { 64, 0, 160 }, { 64, 0.02, 160 },
		{ 64, 0.05, 200 }, { 64, 0.1, 400 }, { 64, 0.2, 800 },
		{ 1000, 0.05, 300 },
	};
	unsigned int i, seed, worst, most;
	int early, late;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		worst = 0;
		early = 0;
		late = 0;
		for (seed = 1; seed <= 200; seed++) {
			struct rig r = rig(1, 1024, want[i].knee,
					   want[i].noise, seed);

			most = reach(&r, 4 * want[i].windows);
			worst = most > worst ? most : worst;
			early += most <= want[i].windows;
			run(&r, 3000);
			/* At most one step beyond the knee; two steps are a factor of 2.25. */
			late += r.c.limit > want[i].knee * 1.6;
			late += r.c.limit < want[i].knee / 1.6;
		}
		printf("# knee %.0f, noise %.0f %%: %d of 200 within %u windows, worst %u\n",
		       want[i].knee, 100 * want[i].noise, early,
		       want[i].windows, worst);
		eq(early >= 198, 1, "99 %% find the knee %.0f in %u windows",
		   want[i].knee, want[i].windows);
		eq(late, 0, "and are near it after 3000 more");
	}
}

/* The smallest limit is enough: noise must not raise it. */
static void no_luck(void)
{
	static const double noise[] = { 0, 0.01, 0.05, 0.2, 0.5 };
	unsigned int i, seed;

	for (i = 0; i < sizeof(noise) / sizeof(noise[0]); i++) {
		unsigned long trials = 0, opened = 0, ends = 0;

		for (seed = 1; seed <= 1000; seed++) {
			struct rig r = rig(16, 1024, 16, noise[i], seed);

			run(&r, 2000);
			trials += r.c.trials;
			opened += r.c.opened;
			ends += r.c.limit > 24;
		}
		printf("# noise %.0f %%: %lu false climbs in %lu trials of 1000 seeds\n",
		       100 * noise[i], opened, trials);
		eq(opened * 2000 <= trials, 1,
		   "noise %.0f %%: at most one climb in 2000 trials",
		   100 * noise[i]);
		eq(ends, 0, "and none of two steps");
	}
}

/* Some windows have half the throughput, as when blocks are erased. */
static void stalls(void)
{
	unsigned long opened = 0;
	unsigned int seed, found = 0;

	for (seed = 1; seed <= 200; seed++) {
		struct rig r = rig(16, 1024, 16, 0.03, seed);
		struct rig up = rig(4, 1024, 64, 0.03, seed);

		r.stall = 10;
		run(&r, 2000);
		opened += r.c.opened;
		up.stall = 10;
		found += reach(&up, 800) < 800;
	}
	eq(opened <= 1, 1, "stalls: %lu false climbs in 200 seeds", opened);
	eq(found >= 196, 1, "and %u of 200 find the knee", found);
}

/* The load pauses: gaps are no evidence. */
static void gaps(void)
{
	unsigned int seed, i, found = 0;
	unsigned long opened = 0;

	for (seed = 1; seed <= 200; seed++) {
		struct rig r = rig(4, 1024, 32, 0.03, seed);
		struct rig flat = rig(16, 1024, 16, 0.03, seed);

		for (i = 0; i < 3000; i++) {
			unsigned int load = i % 7 < 4 ? 10000 : 0;

			r.load = load;
			window(&r);
			flat.load = load;
			window(&flat);
		}
		found += r.c.limit >= 32 && r.c.limit <= 51;
		opened += flat.c.opened;
	}
	eq(found, 200, "a load with gaps: the knee is found");
	eq(opened, 0, "and nothing where there is none");
}

static void idle(void)
{
	struct rig r = rig(4, 1024, 64, 0, 1);
	struct flash_climb before;

	r.load = 0;
	run(&r, 1000);
	eq(r.c.limit, 4, "no load: the limit stays");
	before = r.c;
	run(&r, 1000);
	eq(memcmp(&before, &r.c, sizeof(before)), 0, "and nothing is done");
	eq(flash_climb_limit(&r.c), 4, "nothing is tried");
	r.load = 10000;
	eq(reach(&r, 200) < 200, 1, "then a load comes: it climbs");

	/* The load has four requests: a higher limit changes nothing. */
	r = rig(4, 1024, 64, 0.02, 1);
	r.load = 4;
	run(&r, 2000);
	eq(r.c.limit, 4, "a load that the limit does not hold back: no climb");
	r = rig(4, 1024, 64, 0.02, 1);
	r.load = 20;
	run(&r, 2000);
	eq(r.c.limit >= 20 && r.c.limit <= 31, 1,
	   "20 requests need a limit of %u", r.c.limit);
}

/* The device or its load changes: the limit follows up and down. */
static void steps(void)
{
	unsigned int seed, up = 0, down = 0, slower = 0;

	for (seed = 1; seed <= 200; seed++) {
		struct rig r = rig(4, 1024, 16, 0.03, seed);

		run(&r, 3000);
		r.knee = 64;
		r.speed = 700000;
		up += reach(&r, 2000) < 2000;
		run(&r, 1000);
		/* Ten times slower at any limit: no reason to change it */
		r.speed = 70000;
		run(&r, 1500);
		slower += r.c.limit >= 40 && r.c.limit <= 100;
		r.knee = 8;
		run(&r, 3000);
		down += r.c.limit <= 12;
	}
	eq(up >= 198, 1, "%u of 200 follow a knee that rises", up);
	eq(slower >= 198, 1, "%u of 200 stay when all is slower", slower);
	eq(down >= 198, 1, "%u of 200 follow one that falls", down);
}

static void limits(void)
{
	struct rig r = rig(16, 64, 1000, 0, 1);
	int i, bad = 0;

	run(&r, 2000);
	eq(r.c.limit, 64, "never above the largest");
	eq(r.highest, 64, "not even to try");
	r = rig(16, 16, 1000, 0.1, 1);
	run(&r, 2000);
	eq(r.highest, 16, "start and largest are one");
	r = rig(16, 1024, 4, 0.05, 1);
	for (i = 0; i < 5000; i++) {
		window(&r);
		bad += flash_climb_limit(&r.c) < 16;
	}
	eq(bad, 0, "never below the start");

	r = rig(16, 1024, 16, 0, 1);
	for (i = 0; i < 3000; i++)
		flash_climb_window(&r.c, i % 2 ? ~0ULL : 1, true, false);
	eq(r.c.limit, 16, "the most and the least that can move");
	for (i = 0; i < 3000; i++)
		flash_climb_window(&r.c, 0, true, false);
	eq(r.c.limit, 16, "a device that moves nothing");
}

/* Share of windows at another limit once nothing changes */
static void disturbs_little(void)
{
	struct rig r = rig(16, 1024, 16, 0.02, 1);
	unsigned int i, other = 0;

	run(&r, 5000);
	for (i = 0; i < 10000; i++) {
		other += flash_climb_limit(&r.c) != r.c.limit;
		window(&r);
	}
	eq(other < 1000, 1, "%u of 10000 windows at another limit", other);
}

int main(void)
{
	ladder();
	interleaved();
	much_worse();
	rises();
	no_luck();
	stalls();
	gaps();
	idle();
	steps();
	limits();
	disturbs_little();
	return tap_done();
}
