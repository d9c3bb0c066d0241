// SPDX-License-Identifier: GPL-2.0
/* K2's search for its limit, on a simulated device. */
#include "k2sim.h"

/* The share that is late is what was asked for, from the 2500th request on. */
static void converges(bool random, u64 target, unsigned int start,
		      unsigned int from, unsigned int to)
{
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int share, best;
	double rate, most;

	t.target_ns = target;
	t.start = start;
	rate = settled_rate(&t, random);
	share = late(2500, target);
	eq(share >= 75 && share <= 125, 1,
	   "%s service, %llu us, from %u: %u of 10000 late, limit %u",
	   random ? "random" : "even", (unsigned long long)(target / US),
	   start, share, s.al.limit);
	eq(autolimit_infeasible(&s.al), 0, "feasible");
	eq(s.steps_apart_bad, 0, "no two steps at one end");
	if (!to)
		return;
	most = best_static(target, random, from, to, &best);
	eq(rate >= 0.95 * most && best, 1,
	   "moves %.1f %% of what the best static limit does, %u",
	   100 * rate / most, best);
}

/* Measures the device without a limit. */
static void calibrate(void)
{
	autolimit_calibrate(&s.al, true, seen_now());
	dispatch();
	while (s.al.measure.on && s.now < 60 * SEC)
		run(MOST_RT, s.now + 10 * MS);
	dispatch();
}

/* The load changes: the same holds again from 2000 requests after it on. */
static void load_steps(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int before, share;

	t.target_ns = 3 * MS;
	device(&t, false, 9);
	set_depth(192);
	run(6000, ~0ULL);
	before = s.al.limit;
	s.write_pct = 10;
	run(16000, ~0ULL);
	share = late(8000, t.target_ns);
	eq(share >= 75 && share <= 125, 1,
	   "a tenth becomes writes: %u of 10000 late", share);
	eq(s.al.limit < before * 2 / 3, 1, "with a limit of %u, not %u",
	   s.al.limit, before);
	s.write_pct = 0;
	run(26000, ~0ULL);
	share = late(18000, t.target_ns);
	eq(share >= 75 && share <= 125, 1,
	   "all are reads again: %u of 10000 late", share);
	eq(s.al.limit > before * 4 / 5, 1, "with a limit of %u", s.al.limit);
	t.target_ns = 1200 * US;
	autolimit_set(&s.al, &t, s.now);
	run(36000, ~0ULL);
	share = late(28000, t.target_ns);
	eq(share >= 75 && share <= 125, 1,
	   "another target: %u of 10000 late, limit %u", share, s.al.limit);
}

/* A limit that holds nothing back does not rise, and is right when it does. */
static void windup(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int before;
	s64 level;

	t.target_ns = 3 * MS;
	device(&t, false, 9);
	set_depth(192);
	run(6000, ~0ULL);
	level = s.al.level;
	set_depth(4);
	run(12000, ~0ULL);
	before = s.al.limit;
	/* What was counted before the change makes one more step. */
	eq(s.al.level <= level + 8 * 10000 * 3 / 2, 1,
	   "6000 requests in time under a light load: the level stays");
	s.nr_rt = 0;
	set_depth(192);
	run(500, ~0ULL);
	eq(late(0, t.target_ns) <= 300, 1,
	   "the load is back: %u of 10000 of the next 500 late, limit %u",
	   late(0, t.target_ns), before);
}

/*
 * A drive as slow as the lab's: the limit falls from the start to one within a few
 * windows, and what it moved on the way there is no measure of what it moves at one.
 */
static void infeasible_at_once(unsigned int floor_pct, bool random)
{
	struct autolimit_config t = aim(K2_LATENCY);
	u64 begun, sec, ref;
	unsigned int below = 0, n = 0;

	t.target_ns = 960 * US;
	t.floor_pct = floor_pct;
	device(&t, random, 7);
	s.t_read = 1900 * US;
	s.rt_gap = 1600 * US;
	set_depth(96);
	calibrate();
	begun = s.now / SEC + 1;
	run(MOST_RT, (begun + 12) * SEC);
	ref = autolimit_reference(&s.al) / 16;
	for (sec = begun + 2; sec < begun + 12; sec++, n++)
		below += s.sec_moved[sec] * 100 < ref * floor_pct;
	eq(below, 0, "a floor of %u %% is kept from the third second on: "
	   "%u of %u are below, limit %u", floor_pct, below, n, s.al.limit);
	eq(s.al.target.unmet, 1, "and the target is what cannot be had");
}

/* A device that becomes half as fast: a floor that it can keep is kept all the same. */
static void infeasible_and_slower(unsigned long long seed)
{
	struct autolimit_config t = aim(K2_LATENCY);
	u64 begun, ref;
	unsigned int starved = 0, below = 0, n;

	t.target_ns = 300 * US;
	t.floor_pct = 13;
	device(&t, true, seed);
	set_depth(192);
	calibrate();
	run(MOST_RT, (s.now / SEC + 13) * SEC);
	s.t_read *= 2;
	begun = s.now / SEC;
	for (n = 0; n < 80; n++) {
		run(MOST_RT, begun * SEC + (n + 1) * 100 * MS);
		starved += s.al.bw.starved;
	}
	ref = autolimit_reference(&s.al) / 16;
	for (n = 2; n < 8; n++)
		below += s.sec_moved[begun + n] * 100 < ref * t.floor_pct;
	eq(starved, 0, "half as fast: the floor is not given up");
	eq(below, 0, "and kept from the third second on: %u of 6 are below, "
	   "limit %u", below, s.al.limit);
}

/* A slow spell takes the floor up by a whole limit, which is taken back after it. */
static void floor_comes_down(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	u64 since;

	t.target_ns = 100 * US;
	t.floor_pct = 43;
	device(&t, true, 3);
	s.chips = 2;
	set_depth(64);
	calibrate();
	run(MOST_RT, s.now + 10 * SEC);
	s.t_read = s.t_read * 13 / 10;
	run(MOST_RT, s.now + 3 * SEC);
	eq(s.al.limit, 2, "two chips, slower: one request is too little");
	s.t_read = s.t_read * 10 / 13;
	run(MOST_RT, s.now + 12 * SEC);
	since = s.now;
	while (s.al.limit > 1 && s.now < since + 20 * SEC)
		run(MOST_RT, s.now + 100 * MS);
	eq(s.al.limit, 1, "as fast as before: it is enough again");
}

/* The target is out of reach: said soon, and the floor is kept. */
static void infeasible(bool calibrated, unsigned int floor_pct)
{
	struct autolimit_config t = aim(K2_LATENCY);
	u64 begun, sec, ref, said = 0;
	unsigned int below = 0, n = 0;

	t.target_ns = 300 * US;
	t.floor_pct = floor_pct;
	device(&t, true, 5);
	set_depth(192);
	if (calibrated)
		calibrate();
	else
		run(MOST_RT, 100 * MS);
	begun = s.now;
	while (s.now < begun + 40 * SEC) {
		run(MOST_RT, s.now + 100 * MS);
		if (autolimit_infeasible(&s.al) && !said)
			said = s.now - begun;
	}
	eq(said && said < 10 * SEC, 1, "%s: said after %llu ms",
	   calibrated ? "calibrated" : "not calibrated",
	   (unsigned long long)(said / MS));
	eq(autolimit_infeasible(&s.al), 1, "and said still");
	ref = autolimit_reference(&s.al) / 16;
	for (sec = begun / SEC + 10; sec < s.now / SEC; sec++, n++)
		below += s.sec_moved[sec] * 100 < ref * floor_pct;
	eq(below * 20 <= n && n >= 25, 1,
	   "the floor of %u %% holds: %u of %u seconds are below, limit %u",
	   floor_pct, below, n, s.al.limit);
	/* Then it is in reach. */
	s.al.cfg.target_ns = 20 * MS;
	s.al.target_ns = 20 * MS;
	run(MOST_RT, s.now + 20 * SEC);
	eq(autolimit_infeasible(&s.al), 0, "in reach again: no longer said");
}

/*
 * The least limit that keeps a share of the bandwidth. The tail, over some seeds, is
 * held against the best of all static limits.
 */
static void bandwidth(unsigned int pct, bool random, unsigned int from_limit)
{
	struct autolimit_config t = aim(K2_BANDWIDTH);
	unsigned int below = 0, worst = 0, from, seconds = 40, seeds = 4, i;
	u64 ref = 0, begin, sec, tail = 0, best = 0;

	t.floor_pct = pct;
	for (i = 0; i < seeds; i++) {
		unsigned int n = 0;

		device(&t, random, 9 + i);
		set_depth(192);
		calibrate();
		eq(s.al.limit < AUTOLIMIT_MAX && s.al.device.rate > 0, 1,
		   "calibrated");
		ref = s.al.device.rate / 16;
		begin = s.now / SEC + 3;
		run(MOST_RT, begin * SEC);
		from = s.nr_rt;
		run(MOST_RT, (begin + seconds) * SEC);
		for (sec = begin; sec < begin + seconds; sec++)
			n += s.sec_moved[sec] * 100 < ref * pct;
		tail += tail_of(from, 990000) / seeds;
		below += n;
		worst = n > worst ? n : worst;
		eq(autolimit_infeasible(&s.al), 0, "feasible");
	}
	eq(below * 20 <= seconds * seeds && worst * 10 <= seconds, 1,
	   "%u %%, %s: %u of %u seconds are below, of one seed %u, limit %u",
	   pct, random ? "random" : "even", below, seconds * seeds, worst,
	   s.al.limit);

	t = aim(K2_STATIC);
	for (t.start = from_limit; t.start < 256 && !best; t.start++) {
		u64 moved, when;

		device(&t, random, 9);
		set_depth(192);
		run(MOST_RT, 2 * SEC);
		from = s.nr_rt;
		moved = s.moved;
		when = s.now;
		run(MOST_RT, 12 * SEC);
		if (rate_from(moved, when) * 1e9 * 100 >= (double)(ref * pct))
			best = tail_of(from, 990000);
	}
	eq(best && tail * 10 <= best * 11, 1,
	   "tail %llu us, the best static limit's, %u, %llu us",
	   (unsigned long long)(tail / US), t.start - 1,
	   (unsigned long long)(best / US));
}

/* More than there is: the limit does not run away. */
static void floor_out_of_reach(void)
{
	struct autolimit_config t = aim(K2_BANDWIDTH);

	t.floor_pct = 90;
	device(&t, false, 9);
	set_depth(192);
	calibrate();
	run(MOST_RT, s.now + 5 * SEC);
	eq(autolimit_infeasible(&s.al), 0, "the floor is kept");
	/* The device becomes slower by half. */
	s.t_read *= 2;
	run(MOST_RT, s.now + 10 * SEC);
	eq(autolimit_infeasible(&s.al), 1, "a slower device: infeasible");
	eq(s.al.limit < 1024, 1, "with a limit of %u", s.al.limit);
	s.t_read /= 2;
	run(MOST_RT, s.now + 15 * SEC);
	eq(autolimit_infeasible(&s.al), 0, "as fast as before: feasible");
}

/* Without real-time work there is no limit; with it, at once again. */
static void no_rt(enum k2_policy policy)
{
	struct autolimit_config t = aim(policy);
	unsigned int before, over = 0, i;
	s64 level;
	u64 gone;

	t.target_ns = 3 * MS;
	t.floor_pct = policy == K2_BANDWIDTH ? 60 : 10;
	device(&t, false, 9);
	set_depth(192);
	run(5000, ~0ULL);
	before = s.al.limit;
	level = autolimit_applied(&s.al);
	eq(before < 64 && !s.al.open, 1, "a limit of %u", before);
	s.rt_off = true;
	s.rt_next = ~0ULL;
	gone = s.now;
	run(MOST_RT, gone + 900 * MS);
	eq(s.al.limit < 64, 1, "it is there for rt_hold_ms");
	run(MOST_RT, gone + 1100 * MS);
	eq(s.al.limit, AUTOLIMIT_MAX, "then it opens");
	eq(s.waiting, 0, "and nothing waits");
	run(MOST_RT, gone + 5000 * MS);
	eq(s.al.opens, 1, "once");
	s.rt_off = false;
	s.rt_next = s.now;
	s.nr_rt = 0;
	run(1, ~0ULL);
	eq(s.al.limit < 64, 1, "the first real-time request closes it");
	if (policy == K2_LATENCY)
		eq(s.al.level < level, 0,
		   "what that one had to wait for is not held against the limit");
	run(500, ~0ULL);
	for (i = 20; i < 500; i++)
		over += s.rt_ns[i] > 3 * t.target_ns;
	eq(over, 0, "and all is as it was after a few");
	/* rt_hold_ms of 0: never. */
	t.hold_ns = 0;
	autolimit_set(&s.al, &t, s.now);
	s.rt_off = true;
	s.rt_next = ~0ULL;
	run(MOST_RT, s.now + 20 * SEC);
	eq(s.al.open, 0, "rt_hold_ms 0: it never opens");
}

/* Real-time requests that are further apart than the hold. */
static void seldom_rt(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	u64 begun;
	s64 level;

	t.target_ns = 3 * MS;
	device(&t, false, 9);
	s.rt_gap = 1200 * MS;
	set_depth(192);
	run(1, ~0ULL);
	level = s.al.level;
	begun = s.now;
	while (!autolimit_infeasible(&s.al) && s.now < begun + 30 * SEC)
		run(MOST_RT, s.now + 100 * MS);
	eq(s.now < begun + 10 * SEC, 1, "the limit is open each time: said");
	eq(s.al.level >= level, 1, "no limit is blamed for it");
	eq(s.al.opens > 3, 1, "it has opened in between");
}

/* A pause of the whole device is one event, however many it makes late. */
static void gc_pauses(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int before, least = ~0U;
	u64 moved, when;
	double quiet, rate;

	t.target_ns = 3 * MS;
	device(&t, false, 9);
	/* Each 2 ms a request, whatever has become of the last. */
	s.rt_open = true;
	set_depth(192);
	run(8000, ~0ULL);
	before = s.al.limit;
	moved = s.moved;
	when = s.now;
	run(10000, ~0ULL);
	quiet = rate_from(moved, when);
	/* 40 requests late at once. */
	s.gc_every = ~0ULL / 2;
	s.gc_next = s.now + 1 * MS;
	s.gc_takes = 80 * MS;
	when = s.now;
	while (s.now < when + 200 * MS) {
		run(MOST_RT, s.now + MS);
		if (s.al.limit < least)
			least = s.al.limit;
	}
	eq(least >= before / 4, 1, "one pause: the limit is %u, was %u", least,
	   before);
	s.gc_every = 4 * SEC;
	s.gc_next = s.now + 1 * SEC;
	run(s.nr_rt + 2000, ~0ULL);
	moved = s.moved;
	when = s.now;
	run(s.nr_rt + 10000, ~0ULL);
	rate = rate_from(moved, when);
	eq(rate > quiet / 3, 1, "pauses each 4 s: %.0f %% of the bandwidth",
	   100 * rate / quiet);
	eq(s.al.limit >= 2, 1, "no collapse, limit %u", s.al.limit);
}

/* Reads and slow writes of best effort: held, or said to be infeasible. */
static void mixed(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int share;

	t.target_ns = 6 * MS;
	device(&t, false, 9);
	s.write_pct = 30;
	s.sectors = 16;
	set_depth(192);
	run(12500, ~0ULL);
	share = late(2500, t.target_ns);
	eq(share >= 75 && share <= 125, 1,
	   "30 %% slow writes: %u of 10000 late, limit %u", share, s.al.limit);
	eq(autolimit_infeasible(&s.al), 0, "feasible");
}

/* The clock leaps: nothing is lost but what was measured just then. */
static void clock_steps(void)
{
	static const s64 leap[] = { 3600 * (s64)SEC, -1800 * (s64)SEC,
				    -5 * (s64)MS, 50 * (s64)MS };
	struct autolimit_config t = aim(K2_LATENCY);
	unsigned int i, share, off = 0;

	t.target_ns = 3 * MS;
	device(&t, false, 9);
	s.clock = 7200 * (s64)SEC;
	autolimit_set(&s.al, &t, seen_now());
	set_depth(192);
	for (i = 0; i < 4; i++) {
		run(s.nr_rt + 3000, ~0ULL);
		s.clock += leap[i];
		run(s.nr_rt + 100, ~0ULL);
		off += s.al.limit > 200 || s.al.limit < 5;
	}
	eq(off, 0, "the limit is near what it was after each leap");
	s.nr_rt = 0;
	run(10000, ~0ULL);
	share = late(2500, t.target_ns);
	eq(share >= 75 && share <= 125, 1, "%u of 10000 late after all",
	   share);
	/* The way back in time must not keep the limit from opening. */
	s.clock -= 3000 * (s64)SEC;
	s.rt_off = true;
	s.rt_next = ~0ULL;
	run(MOST_RT, s.now + 3 * SEC);
	eq(s.al.open, 1, "the limit opens though the clock was set back");
}

/* What can be measured of a device on which real-time work runs, and not. */
static void calibration(void)
{
	struct autolimit_config t = aim(K2_LATENCY);
	static const struct autolimit_device none;
	struct autolimit_device cal;
	unsigned int i;
	u64 limit;

	t.target_ns = 0;
	device(&t, false, 9);
	set_depth(192);
	run(100, ~0ULL);
	eq(s.al.limit, 32, "no target, not calibrated: the static limit");
	eq(s.al.target_ns, 0, "and no target");
	autolimit_calibrate(&s.al, true, s.now);
	eq(s.al.limit, AUTOLIMIT_MAX, "while it is measured there is no limit");
	autolimit_calibrate(&s.al, false, s.now);
	eq(s.al.limit, 32, "given up: it is back");
	eq(s.al.device.rate, 0, "and nothing is known");
	calibrate();
	eq(s.al.measure.on, 0, "it comes to its end");
	/* 16 chips, 8 sectors in 400 us, and 200 requests outstanding */
	eq(s.al.device.rate / 16 > 280000 && s.al.device.rate / 16 <= 320000, 1,
	   "%llu sectors a second", (unsigned long long)s.al.device.rate / 16);
	eq(s.al.device.tail_ns > 5 * MS, 1, "tail %llu us",
	   (unsigned long long)(s.al.device.tail_ns / US));
	eq(s.al.target_ns, s.al.device.tail_ns / 2, "the target is half of it");
	cal = s.al.device;
	limit = s.al.limit;
	eq(limit < AUTOLIMIT_MAX, 1, "limit again");

	/* An idle device, and a clock that leaps, are left out of it. */
	autolimit_calibrate(&s.al, true, s.now);
	dispatch();
	run(MOST_RT, s.now + 3600 * MS);
	s.clock += 3600 * (s64)SEC;
	run(MOST_RT, s.now + 400 * MS);
	eq(s.al.measure.on, 1, "a leap of the clock is not measured");
	run(MOST_RT, s.now + 150 * MS);
	eq(s.al.measure.on, 0, "and nothing is lost by it");
	eq(s.al.device.rate > cal.rate * 95 / 100 &&
	   s.al.device.rate < cal.rate * 105 / 100, 1, "and the same is found");

	/* A load that pauses again and again. */
	autolimit_calibrate(&s.al, true, s.now);
	dispatch();
	for (i = 0; i < 10 && s.al.measure.on; i++) {
		run(MOST_RT, s.now + 800 * MS);
		s.clock += 700 * (s64)MS;
	}
	eq(i > 4 && !s.al.measure.on, 1, "pauses do not begin it anew: %u", i);
	eq(s.al.device.rate > cal.rate * 90 / 100 &&
	   s.al.device.rate < cal.rate * 105 / 100, 1, "nor count: %llu",
	   (unsigned long long)s.al.device.rate / 16);

	/* Kept with the disk. */
	autolimit_init(&s.al, &t, &cal, s.now);
	eq(s.al.target_ns, cal.tail_ns / 2, "what was known before is used");
	autolimit_init(&s.al, &t, &none, s.now);
	eq(s.al.target_ns, 0, "what was not, is not");
}

/* Nothing is lost, divided by or taken beyond its range. */
static void extremes(void)
{
	static const u64 times[] = { 0, 1, 1000, 2 * MS, 1ULL << 40, ~0ULL };
	static const u32 quantiles[] = { 500000, 990000, 999999 };
	static const u32 pcts[] = { 1, 50, 100 };
	static const struct autolimit_device cals[] = {
		{ 0, 0, 0 }, { 1, 1, 1 }, { ~0ULL >> 8, ~0ULL, ~0ULL },
	};
	static struct autolimit c;
	unsigned long long seed = 3;
	unsigned int bad = 0, cal, time, q, pct, i;

	for (i = 0; i < 64; i++) {
		u64 v = 1ULL << i;
		s64 off = autolimit_log(v) - (s64)i * AL_OCTAVE;

		bad += off != 0;
		bad += i < 16 && autolimit_exp(autolimit_log(v)) != v;
	}
	eq(bad, 0, "powers of two are exact");
	for (i = 1; i < 65536; i++)
		bad += fabs((double)autolimit_log(i) / AL_OCTAVE - log2(i)) > 0.009 ||
		       autolimit_log(i) < autolimit_log(i - 1) ||
		       fabs((double)autolimit_exp(autolimit_log(i)) - i) > i * 0.011 + 0.5;
	eq(bad, 0, "logarithms are near, and rise");
	eq(autolimit_exp(-5), 1, "least limit");
	eq(autolimit_exp(1LL << 60), AUTOLIMIT_MAX, "largest limit");

	for (cal = 0; cal < 3; cal++)
	for (time = 0; time < 6; time++)
	for (q = 0; q < 3; q++)
	for (pct = 0; pct < 3; pct++) {
		struct autolimit_config t = {
			.policy = tap_rand(&seed) % K2_NR_POLICIES,
			.start = tap_rand(&seed) % 2 ? 1 : 65535,
			.quantile = quantiles[q], .target_ns = times[time],
			.target_pct = pcts[pct], .floor_pct = pcts[pct],
			.hold_ns = times[tap_rand(&seed) % 6],
		};
		u64 now = 0;

		autolimit_init(&c, &t, &cals[cal], times[tap_rand(&seed) % 6]);
		/* Counters that are about to wrap. */
		c.rt_ended = c.rt_late = c.step.nr = c.opens = ~0ULL - 5;
		c.target.samples = c.target.late = c.target.beyond = 1ULL << 40;
		for (i = 0; i < 400; i++) {
			struct autolimit_end e = {
				.rt = tap_rand(&seed) % 2,
				.held_back = tap_rand(&seed) % 2,
				.behind_excess = !(tap_rand(&seed) % 8),
				.inflight = tap_rand(&seed) % 3 ? 7 : ~0U,
				.sectors = tap_rand(&seed) % 16 ?
					   tap_rand(&seed) % 4096 : ~0ULL,
			};

			now = tap_rand(&seed) % 64 ?
			      now + tap_rand(&seed) % (20 * MS) :
			      times[tap_rand(&seed) % 6];
			e.now = now;
			e.inserted = tap_rand(&seed) % 4 ?
				    now - tap_rand(&seed) % (5 * MS) :
				    times[tap_rand(&seed) % 6];
			if (tap_rand(&seed) % 100 == 0)
				autolimit_calibrate(&c, tap_rand(&seed) % 2,
						     now);
			if (tap_rand(&seed) % 4 == 0)
				autolimit_insert(&c, e.rt, e.inflight, now);
			autolimit_completed(&c, &e);
			bad += c.limit < 1 || c.limit > AUTOLIMIT_MAX ||
			       c.level < 0 || c.level > AL_LEVEL_MAX ||
			       c.floor < 0 || c.floor > AL_LEVEL_MAX;
			autolimit_share_pct(&c);
		}
		autolimit_tail_us(&c);
	}
	eq(bad, 0, "whatever comes, the limit stays within its range");
}

/* The static policy watches nothing, and its limit is what was set. */
static void static_policy(void)
{
	struct autolimit_config t = aim(K2_STATIC);
	unsigned int i;

	device(&t, true, 2);
	eq(autolimit_watches(&s.al), 0, "static: nothing is watched");
	eq(s.al.limit, 32, "the limit is what was set");
	set_depth(192);
	s.rt_off = true;
	s.rt_next = ~0ULL;
	run(MOST_RT, 5 * SEC);
	eq(s.al.limit, 32, "it stays so without real-time work");
	s.rt_off = false;
	s.rt_next = s.now;
	run(2000, ~0ULL);
	eq(s.al.limit, 32, "and with it");
	eq(s.peak, 32, "no more were in the device");
	eq(autolimit_tail_us(&s.al) > 0 && autolimit_share_pct(&s.al) > 0, 1,
	   "if it is told, it says what it has seen");
	for (i = 1; i < 100; i += 7) {
		t.start = i;
		autolimit_set(&s.al, &t, s.now);
		if (s.al.limit != i)
			break;
	}
	eq(i >= 100, 1, "and follows what is set");
	t.policy = K2_LATENCY;
	autolimit_set(&s.al, &t, s.now);
	eq(autolimit_watches(&s.al), 1, "latency: it is to be told");
	t.policy = K2_STATIC;
	autolimit_set(&s.al, &t, s.now);
	eq(s.al.limit, t.start, "static again: what was set");
	autolimit_calibrate(&s.al, true, s.now);
	eq(autolimit_watches(&s.al), 1, "so does a calibration");
}

int main(void)
{
	static_policy();
	converges(false, 2 * MS, 32, 17, 23);
	converges(true, 5 * MS, 32, 26, 33);
	converges(false, 1200 * US, 1, 0, 0);
	converges(true, 4 * MS, 200, 0, 0);
	load_steps();
	windup();
	infeasible(true, 30);
	infeasible(false, 10);
	infeasible_at_once(7, true);
	infeasible_at_once(10, true);
	infeasible_at_once(50, true);
	infeasible_at_once(50, false);
	infeasible_and_slower(21);
	infeasible_and_slower(22);
	infeasible_and_slower(23);
	floor_comes_down();
	bandwidth(50, true, 10);
	bandwidth(80, true, 38);
	bandwidth(90, true, 70);
	bandwidth(90, false, 50);
	floor_out_of_reach();
	no_rt(K2_LATENCY);
	no_rt(K2_BANDWIDTH);
	seldom_rt();
	gc_pauses();
	mixed();
	clock_steps();
	calibration();
	extremes();
	return tap_done();
}
