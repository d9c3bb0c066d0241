/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2sim.h - a device for K2's search: chips that serve one request after the other
 *
 * One real-time task pauses between requests, best-effort tasks always have more.
 * The search (autolimit.c) is the module's own code.
 */
#ifndef K2SIM_H
#define K2SIM_H

#include <math.h>
#include <string.h>

#include "k2/autolimit.c"
#include "tap.h"

#define US		1000ULL
#define MS		1000000ULL
#define SEC		1000000000ULL
#define MOST_OUT	4096
#define MOST_RT		40000
#define MOST_SECS	400

/* A request in the device. */
struct out {
	u64 ends, arrived;
	u32 sectors;
	bool rt, behind_excess;
};

/* The device, and what it is asked for. */
struct sim {
	struct autolimit al;
	unsigned long long seed;
	u64 now;

	/* Chips, what they need, and whether that is drawn from exponentials */
	unsigned int chips;
	u64 t_read, t_write;
	bool random;
	u64 chip_free[64];
	/* All chips stand still for so long each so often; 0: never */
	u64 gc_every, gc_takes, gc_next;

	/* Best-effort requests outstanding, per cent of them writes, their size */
	unsigned int depth, write_pct, sectors;
	/* What of it waits, and what is in the device */
	unsigned int waiting, be_out;
	/* The real-time task: off; arrives by the clock; gap or period */
	bool rt_off, rt_open;
	u64 rt_gap, rt_next;
	u64 rt_waits[MOST_OUT];
	bool rt_marked[MOST_OUT];
	unsigned int rt_head, rt_tail;
	/* What the clock that the search sees is off by */
	s64 clock;

	struct out out[MOST_OUT];	/* a heap by ends */
	unsigned int nr_out, peak;

	/* Results */
	u64 rt_ns[MOST_RT];
	unsigned int nr_rt;
	u64 sec_moved[MOST_SECS];
	u64 moved;
	unsigned int steps_apart_bad;
};

static struct sim s;

static double uniform(void)
{
	return (tap_rand(&s.seed) + 1.0) / 2147483649.0;
}

static u64 seen_now(void)
{
	return (u64)((s64)s.now + s.clock);
}

static void heap_push(struct out o)
{
	unsigned int i = s.nr_out++, up;

	if (s.nr_out > MOST_OUT) {
		printf("Bail out! too many in flight\n");
		exit(EXIT_FAILURE);
	}
	for (; i; i = up) {
		up = (i - 1) / 2;
		if (s.out[up].ends <= o.ends)
			break;
		s.out[i] = s.out[up];
	}
	s.out[i] = o;
}

static struct out heap_pop(void)
{
	struct out top = s.out[0], last = s.out[--s.nr_out];
	unsigned int i = 0, down;

	while ((down = 2 * i + 1) < s.nr_out) {
		if (down + 1 < s.nr_out &&
		    s.out[down + 1].ends < s.out[down].ends)
			down++;
		if (last.ends <= s.out[down].ends)
			break;
		s.out[i] = s.out[down];
		i = down;
	}
	s.out[i] = last;
	return top;
}

/* Hands a request to a chip, which serves in the order of arrival. */
static void issue(bool rt, u64 arrived, bool behind_excess)
{
	unsigned int chip = tap_rand(&s.seed) % s.chips;
	bool write = !rt && tap_rand(&s.seed) % 100 < s.write_pct;
	u64 takes = write ? s.t_write : s.t_read;

	if (s.random)
		takes = (u64)((double)takes * -log(uniform())) + 1;
	if (s.chip_free[chip] < s.now)
		s.chip_free[chip] = s.now;
	s.chip_free[chip] += takes;
	heap_push((struct out) {
		.ends = s.chip_free[chip], .arrived = arrived, .rt = rt,
		.behind_excess = behind_excess, .sectors = rt ? 8 : s.sectors,
	});
	s.be_out += !rt;
	if (s.nr_out > s.peak)
		s.peak = s.nr_out;
}

static void dispatch(void)
{
	while (s.nr_out < s.al.limit && s.nr_out < MOST_OUT) {
		if (s.rt_head != s.rt_tail) {
			issue(true, s.rt_waits[s.rt_head % MOST_OUT],
			      s.rt_marked[s.rt_head % MOST_OUT]);
			s.rt_head++;
		} else if (s.waiting) {
			s.waiting--;
			issue(false, s.now, false);
		} else {
			break;
		}
	}
}

/* Sets how many best-effort requests are kept outstanding. */
static void set_depth(unsigned int depth)
{
	s.depth = depth;
	s.waiting = depth > s.be_out ? depth - s.be_out : 0;
	if (s.waiting)
		autolimit_insert(&s.al, false, s.nr_out, seen_now());
	dispatch();
}

static void rt_arrives(void)
{
	s.rt_marked[s.rt_tail % MOST_OUT] =
		autolimit_insert(&s.al, true, s.nr_out, seen_now());
	s.rt_waits[s.rt_tail++ % MOST_OUT] = s.now;
	s.rt_next = s.rt_open ? s.now + s.rt_gap : ~0ULL;
	dispatch();
}

static void ends(void)
{
	struct out o = s.out[0];
	u64 stepped = s.al.step.at, steps = s.al.step.nr;
	struct autolimit_end e = {
		.sectors = o.sectors, .inflight = s.nr_out, .rt = o.rt,
		.behind_excess = o.behind_excess,
		.held_back = (s.waiting || s.rt_head != s.rt_tail) &&
			   s.nr_out >= s.al.limit,
	};
	unsigned int sec;

	s.now = o.ends;
	e.now = seen_now();
	e.inserted = (u64)((s64)o.arrived + s.clock);
	heap_pop();
	sec = (unsigned int)(s.now / SEC);
	if (sec < MOST_SECS)
		s.sec_moved[sec] += o.sectors;
	s.moved += o.sectors;
	autolimit_completed(&s.al, &e);
	if (s.al.step.nr > steps + 1 ||
	    (s.al.step.nr != steps && stepped > e.now && !s.clock))
		s.steps_apart_bad++;
	if (o.rt) {
		if (s.nr_rt < MOST_RT)
			s.rt_ns[s.nr_rt++] = s.now - o.arrived;
		if (!s.rt_open && !s.rt_off)
			s.rt_next = s.now + s.rt_gap;
	} else if (--s.be_out + s.waiting < s.depth) {
		s.waiting++;
		autolimit_insert(&s.al, false, s.nr_out, e.now);
	}
	dispatch();
}

/* Until @until_rt real-time requests have completed, or until the time @until */
static void run(unsigned int until_rt, u64 until)
{
	while (s.nr_rt < until_rt && s.now < until) {
		u64 next = s.nr_out ? s.out[0].ends : ~0ULL;

		if (s.gc_every && next >= s.gc_next && s.rt_next >= s.gc_next) {
			unsigned int chip;

			s.now = s.gc_next;
			s.gc_next += s.gc_every;
			for (chip = 0; chip < s.chips; chip++) {
				if (s.chip_free[chip] < s.now)
					s.chip_free[chip] = s.now;
				s.chip_free[chip] += s.gc_takes;
			}
			continue;
		}
		if (!s.rt_off && s.rt_next <= next) {
			s.now = s.rt_next;
			rt_arrives();
		} else if (s.nr_out) {
			ends();
		} else {
			break;
		}
	}
}

static struct autolimit_config aim(enum k2_policy policy)
{
	struct autolimit_config t = {
		.policy = policy, .start = 32, .quantile = 990000,
		.target_ns = 2 * MS, .target_pct = 50, .floor_pct = 10,
		.hold_ns = 1000 * MS,
	};

	return t;
}

/* Sixteen chips of 400 us, one real-time request each 2 ms. */
static void device(const struct autolimit_config *t, bool random,
		   unsigned long long seed)
{
	static const struct autolimit_device none;

	memset(&s, 0, sizeof(s));
	s.seed = seed;
	s.chips = 16;
	s.t_read = 400 * US;
	s.t_write = 1600 * US;
	s.random = random;
	s.sectors = 8;
	s.rt_gap = 2 * MS;
	s.now = 1 * MS;
	s.rt_next = 3 * MS;
	autolimit_init(&s.al, t, &none, s.now);
}

/* Real-time requests from @from on that were late, in parts of 10 000. */
static unsigned int late(unsigned int from, u64 target)
{
	unsigned int i, n = 0;

	for (i = from; i < s.nr_rt; i++)
		n += s.rt_ns[i] > target;
	return s.nr_rt > from ? n * 10000 / (s.nr_rt - from) : 0;
}

static int cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 tail_of(unsigned int from, unsigned int ppm)
{
	static u64 sorted[MOST_RT];
	unsigned int n = s.nr_rt - from;

	memcpy(sorted, s.rt_ns + from, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), cmp);
	return sorted[((u64)n * ppm + 999999) / 1000000 - 1];
}

static double rate_from(u64 moved, u64 when)
{
	return (double)(s.moved - moved) / (double)(s.now - when);
}

/* A policy on a device with that service; the rate from the 2500th request on. */
static double settled_rate(struct autolimit_config *t, bool random)
{
	u64 moved, when;

	device(t, random, 4);
	set_depth(192);
	run(2500, ~0ULL);
	moved = s.moved;
	when = s.now;
	run(10000, ~0ULL);
	return rate_from(moved, when);
}

/* The limit that a scan of static ones finds best for a target, and its rate. */
static double best_static(u64 target, bool random, unsigned int from,
			  unsigned int to, unsigned int *best)
{
	struct autolimit_config t = aim(K2_STATIC);
	double most = 0;

	*best = 0;
	for (t.start = from; t.start <= to; t.start++) {
		double rate = settled_rate(&t, random);

		if (late(2500, target) <= 100 && rate > most) {
			most = rate;
			*best = t.start;
		}
	}
	return most;
}

#endif /* K2SIM_H */
