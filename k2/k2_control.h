/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_control.h - K2 finds its own bound
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it. It has no timer: it is told of every end of a
 * request, and between two of them nothing could become better or worse.
 *
 * The bound is kept as a logarithm, so that a step is a ratio. Two of them are
 * known, and the larger is in force:
 *
 *   level  latency: each real-time request later than the target takes a step of
 *	    q down, each that is in time one of 1 - q up. The two are in balance
 *	    when q of all requests are in time, whatever the device is like.
 *	    Nothing is rounded, so the share that is late is what was asked for,
 *	    but for (change of the level) / (step) requests.
 *   floor  bandwidth: the least bound that moves bw_floor_pct of what the device
 *	    moves without one. Throughput rises with the bound and ever less so;
 *	    hence a bound of B that moves m times the floor's needs no more than
 *	    B / m for it. Where bandwidth is what is asked for, the nearer the floor
 *	    is to all there is, the more the bound has to move for the same change.
 *	    What a window lacks those after it make up for; seconds then differ by
 *	    less than the device would have them, and each need not be far above.
 *
 * A level that is not what holds requests back learns nothing from requests that
 * are in time: it rises only if the bound has refused something. A pause of the
 * device makes many requests late at once, which says no more than one of them:
 * requests that had arrived before the last step down take it down no further
 * than by half.
 *
 * A target may be out of reach. If far more requests are late than may be, and
 * most of them while the bound was at the floor, then the target is infeasible;
 * the bound stays at the floor. If twice the bound moves no more, the floor is
 * infeasible; the bound stays what it was.
 */
#ifndef K2_CONTROL_H
#define K2_CONTROL_H

#include "../common/estimate/histogram.h"
#include "k2_log.h"
#include "k2_told.h"

/* Steps are that far apart: completions of real-time requests, and ns. */
#define K2_STEP_ENDS		8
#define K2_STEP_NS		5000000

/* A whole step is 1.5 million of these: a factor of e^(1/16). */
#define K2_GAIN_NUM		3
#define K2_GAIN_DEN		2
#define K2_MILLION		1000000U

/*
 * So many times 1 / (1 - q) requests in time, one after the other, are no luck;
 * each further one counts for so many. Before the first late one, one is enough.
 */
#define K2_RUN			6
#define K2_BOOST		8

/* A window of bandwidth: at least so many ns and ends. Longer ones say nothing. */
#define K2_WINDOW_NS		50000000
#define K2_WINDOW_ENDS		32
#define K2_WINDOW_MAX		4000000000ULL

/* Feasibility and the scatter of bandwidth are looked at every second. */
#define K2_LOOK_NS		1000000000ULL
#define K2_LOOKS		4

/*
 * The floor is aimed at from above: by 3 of its scatter, 0.1 to 15 %. Of seconds
 * that scatter evenly one in a hundred is then below it. Each %, where bandwidth
 * hardly rises any more, is ten of the tail: so the least is little.
 */
#define K2_MARGIN		3
#define K2_MARGIN_MIN		(K2_OCTAVE / 700)
#define K2_MARGIN_MAX		(K2_OCTAVE / 5)
/* Taken for the scatter until it is known: 0.25 %. */
#define K2_SCATTER		(K2_OCTAVE / 280)

/* What a window is off moves the bound so much, at floors of 86 %; at most so far. */
#define K2_PULL			18
#define K2_PULL_MAX		(K2_OCTAVE / 16)

/* A level that is no further above the floor is at the floor. */
#define K2_NEAR			(K2_OCTAVE / 4)

/*
 * After a floor was out of reach, so long until it is tried again; and while none
 * was missed, until a bound below the one that keeps it is.
 */
#define K2_RETRY_NS		5000000000ULL

/*
 * Calibration: the first ns fill the device, so many ns and ends are measured. What
 * it is off by the floor is off by for as long as it is used; a second is too short.
 */
#define K2_FILL_NS		100000000
#define K2_MEASURE_NS		4000000000ULL
#define K2_MEASURE_ENDS		256
/* Nothing ended for so long: the device was idle. */
#define K2_IDLE_NS		500000000
/* Fewer real-time requests than this tell less of the tail than all do. */
#define K2_MEASURE_RT		200

/* The histogram of the tail begins anew after so many ns, or requests. */
#define K2_TAIL_NS		5000000000ULL
#define K2_TAIL_MISSES		10
#define K2_TAIL_ENDS		500
#define K2_TAIL_ENDS_MAX	100000

/* Of one request and of one window, so that products fit. */
#define K2_SECTORS_MAX		(1ULL << 29)

/**
 * struct k2_control - the search on one device
 * @t:		what the user wants
 * @target_ns:	the target that follows; 0: none
 * @cal:	what the device does without a bound
 * @level:	log of the bound that the target needs
 * @floor:	log of the bound that the bandwidth needs
 * @bound:	the bound in force
 * @open:	there is no real-time work, and no bound
 * @returning:	there is again, and the device has not come down to the bound
 * @last_rt:	when a real-time request last came
 * @hits:	in time since the last step, as far as they count
 * @misses:	late since then
 * @samples:	all since then
 * @stepped:	when that was
 * @run:	in time since the last late one
 * @missed:	there was a late one
 * @refused:	the bound has held something back since the last sample
 * @fresh:	one since the last step has seen what @cut_at has brought
 * @cut_at:	when the last descent began
 * @cut_low:	where it has to end
 * @seen:	samples that feasibility is judged by
 * @late:	how many of these were late
 * @clipped:	and of those, how many the bound could not have helped
 * @looked:	when it was looked at last
 * @looks:	how often
 * @unmet:	the target is infeasible
 * @begun:	when the window began; 0: none has
 * @begun_at:	log of the bound then
 * @moved:	sectors in it
 * @ends:	requests that ended in it
 * @full:	how many of these while the bound held something back
 * @best:	the most that a window has moved
 * @smooth:	what they move on average
 * @climbing:	bandwidth is below the floor, and the bound rises
 * @climb_from:	the level where that began
 * @climb_rate:	what was moved there
 * @starved:	the floor is infeasible
 * @retry:	since when
 * @lacked:	when bandwidth was below the floor last
 * @sec_begun:	when the second began
 * @sec_moved:	sectors in it
 * @sec_full:	the bound held something back in every window of it
 * @sec_rate:	the bandwidth of the last one
 * @scatter:	how much such seconds differ, a log
 * @calibrating: the device is being measured without a bound
 * @cal_begun:	when that began
 * @cal_last:	when a request last ended in it
 * @cal_busy:	for how long the device had something to do, ns
 * @cal_moved:	sectors
 * @cal_ends:	requests that ended
 * @cal_rt:	how many of these were real-time
 * @tail_nr:	requests in the histogram @tail[@tail_now]
 * @tail_begun:	when it began
 * @tail_now:	the histogram that is written; the other one is older
 * @tail:	of real-time requests
 * @cal_tail:	of all requests and of real-time ones
 * @sum:	of histograms, where they are read
 * @steps:	steps
 * @opens:	times that the bound was opened
 * @rt_ended:	real-time requests that ended
 * @rt_missed:	and were later than the target
 */
struct k2_control {
	struct k2_target t;
	u64 target_ns;
	struct k2_calibration cal;
	s64 level;
	s64 floor;
	u32 bound;
	bool open;
	bool returning;
	u64 last_rt;

	u64 hits;
	u32 misses;
	u32 samples;
	u64 stepped;
	u64 run;
	bool missed;
	bool refused;
	bool fresh;
	u64 cut_at;
	s64 cut_low;

	u64 seen;
	u64 late;
	u64 clipped;
	u64 looked;
	u32 looks;
	bool unmet;

	u64 begun;
	s64 begun_at;
	u64 moved;
	u32 ends;
	u32 full;
	u64 best;
	u64 smooth;
	bool climbing;
	s64 climb_from;
	u64 climb_rate;
	bool starved;
	u64 retry;
	u64 lacked;
	u64 sec_begun;
	u64 sec_moved;
	bool sec_full;
	u64 sec_rate;
	s64 scatter;

	bool calibrating;
	u64 cal_begun;
	u64 cal_last;
	u64 cal_busy;
	u64 cal_moved;
	u32 cal_ends;
	u32 cal_rt;

	u32 tail_nr;
	u64 tail_begun;
	u32 tail_now;
	struct flash_latency tail[2];
	struct flash_latency cal_tail[2];
	struct flash_latency sum;

	u64 steps;
	u64 opens;
	u64 rt_ended;
	u64 rt_missed;
};

/*
 * Time since @then. A clock that was set back must not keep what waits for time to
 * pass from ever happening, so @then follows it.
 */
static inline u64 k2_since(u64 now, u64 *then)
{
	if (now < *then)
		*then = now;
	return now - *then;
}

/* Sectors in 16 s, from so many in @ns. */
static inline u64 k2_rate(u64 sectors, u64 ns)
{
	if (sectors > K2_SECTORS_MAX)
		sectors = K2_SECTORS_MAX;
	return (sectors << 4) * 1000000000ULL / (ns ? ns : 1);
}

/* What the device moves without a bound, as far as is known. */
static inline u64 k2_reference(const struct k2_control *c)
{
	return c->cal.rate ? c->cal.rate : c->best;
}

/** k2_control_watches - does this policy want to be told of what happens? */
static inline bool k2_control_watches(const struct k2_control *c)
{
	return c->t.policy != K2_STATIC || c->calibrating;
}

/* Is it the bound that was found that rules? */
static inline bool k2_control_rules(const struct k2_control *c)
{
	if (c->open || c->calibrating)
		return false;
	return c->t.policy == K2_BANDWIDTH ||
	       (c->t.policy == K2_LATENCY && c->target_ns);
}

/* The log of the bound in force. */
static inline s64 k2_applied(const struct k2_control *c)
{
	if (c->t.policy == K2_LATENCY && c->level > c->floor)
		return c->level;
	return c->floor;
}

/* The bound that was found. */
static inline u32 k2_found(const struct k2_control *c)
{
	u32 bound = k2_exp(k2_applied(c)), least;

	if (c->t.policy != K2_LATENCY)
		return bound;
	least = k2_exp_up(c->floor);
	return bound > least ? bound : least;
}

static inline void k2_control_update(struct k2_control *c)
{
	if (c->calibrating || c->open)
		c->bound = K2_BOUND_MAX;
	else if (k2_control_rules(c))
		c->bound = k2_found(c);
	else
		c->bound = c->t.start;
}

/* What is being counted would mix two loads or two bounds. */
static inline void k2_control_anew(struct k2_control *c)
{
	c->begun = 0;
	c->sec_begun = 0;
	c->smooth = 0;
	c->climbing = false;
}

/* The target, which the calibration may be part of. */
static inline void k2_control_aim(struct k2_control *c)
{
	u64 tail = c->cal.tail_ns;

	c->target_ns = c->t.target_ns;
	if (!c->target_ns)
		c->target_ns = tail / 100 * c->t.target_pct +
			       tail % 100 * c->t.target_pct / 100;
}

/**
 * k2_control_set - what the user wants has changed
 * @c: the search
 * @t: what is wanted now
 * @now: the time, ns
 *
 * A search goes on from the bound that it has found, unless the policy is another
 * one or its start has moved.
 */
static inline void k2_control_set(struct k2_control *c,
				  const struct k2_target *t, u64 now)
{
	bool begin = t->policy != c->t.policy || t->start != c->t.start;

	c->t = *t;
	if (!c->t.start)
		c->t.start = 1;
	if (c->t.quantile >= K2_MILLION)
		c->t.quantile = K2_MILLION - 1;
	k2_control_aim(c);
	if (begin) {
		c->level = k2_log(c->t.start);
		c->floor = c->t.policy == K2_BANDWIDTH ? c->level : 0;
		c->last_rt = now;
		c->open = false;
		c->returning = false;
		c->best = c->cal.rate;
		c->scatter = K2_SCATTER;
		c->sec_rate = 0;
	}
	/* What was learned under another target. */
	c->missed = false;
	c->run = 0;
	c->hits = 0;
	c->misses = 0;
	c->samples = 0;
	c->seen = 0;
	c->late = 0;
	c->clipped = 0;
	c->looks = 0;
	c->looked = now;
	c->stepped = now;
	c->cut_at = now;
	c->cut_low = c->level - K2_OCTAVE;
	c->fresh = false;
	c->unmet = false;
	c->starved = false;
	c->retry = 0;
	c->lacked = now;
	if (!c->t.hold_ns || c->t.policy == K2_STATIC)
		c->open = false;
	k2_control_anew(c);
	k2_control_update(c);
}

/**
 * k2_control_init - nothing is known
 * @c: the search
 * @t: what the user wants
 * @cal: what was known of the device before, or all 0
 * @now: the time, ns
 */
static inline void k2_control_init(struct k2_control *c,
				   const struct k2_target *t,
				   const struct k2_calibration *cal, u64 now)
{
	memset(c, 0, sizeof(*c));
	c->t.policy = K2_NR_POLICIES;
	c->cal = *cal;
	c->tail_begun = now;
	k2_control_set(c, t, now);
}

/** k2_control_calibrate - begin to measure the device without a bound, or stop */
static inline void k2_control_calibrate(struct k2_control *c, bool on, u64 now)
{
	c->calibrating = on;
	c->cal_begun = now;
	c->cal_last = now;
	c->cal_busy = 0;
	c->cal_moved = 0;
	c->cal_ends = 0;
	c->cal_rt = 0;
	memset(c->cal_tail, 0, sizeof(c->cal_tail));
	k2_control_anew(c);
	k2_control_update(c);
}

/* Is there no real-time work? Then the bound opens. */
static inline void k2_control_idle(struct k2_control *c, u64 now)
{
	if (c->t.policy == K2_STATIC || c->open || !c->t.hold_ns ||
	    k2_since(now, &c->last_rt) < c->t.hold_ns)
		return;
	c->open = true;
	c->returning = false;
	c->opens++;
	k2_control_anew(c);
	k2_control_update(c);
}

/**
 * k2_control_arrived - a request has come to the scheduler
 * @c: the search
 * @rt: it is a real-time request
 * @inflight: requests in the device
 * @now: the time, ns
 *
 * Return: true if it has to wait for what was let in while there was no real-time
 * work; what it takes says nothing about the bound.
 */
static inline bool k2_control_arrived(struct k2_control *c, bool rt,
				      u32 inflight, u64 now)
{
	if (!rt) {
		k2_control_idle(c, now);
		return false;
	}
	c->last_rt = now;
	if (c->open) {
		c->open = false;
		c->returning = true;
		k2_control_anew(c);
		k2_control_update(c);
	}
	if (inflight <= c->bound)
		c->returning = false;
	return c->returning;
}

/* The level, where the floor and the largest bound allow it. */
static inline void k2_control_clip(struct k2_control *c)
{
	if (c->floor < 0)
		c->floor = 0;
	if (c->floor > K2_LEVEL_MAX)
		c->floor = K2_LEVEL_MAX;
	if (c->level < c->floor)
		c->level = c->floor;
	if (c->level > K2_LEVEL_MAX)
		c->level = K2_LEVEL_MAX;
}

/* Are requests late because no bound could have helped? */
static inline void k2_control_look(struct k2_control *c)
{
	u64 may = c->seen * (K2_MILLION - c->t.quantile) / K2_MILLION;
	u64 scatter = int_sqrt64(may) + 1;

	if (c->clipped * 2 < c->late || c->late <= may + scatter)
		c->unmet = false;
	else if (c->late > may + 3 * scatter)
		c->unmet = true;
	if (++c->looks % K2_LOOKS == 0) {
		c->seen /= 2;
		c->late /= 2;
		c->clipped /= 2;
	}
}

/* Moves the level by what has been counted since the last step. */
static inline void k2_control_step(struct k2_control *c, u64 now)
{
	u64 q = c->t.quantile;

	c->steps++;
	c->stepped = now;
	if (c->fresh) {
		c->fresh = false;
		c->cut_at = now;
		c->cut_low = c->level - K2_OCTAVE;
	}
	c->level += (s64)(c->hits * (K2_MILLION - q)) * K2_GAIN_NUM / K2_GAIN_DEN;
	c->level -= (s64)(c->misses * q) * K2_GAIN_NUM / K2_GAIN_DEN;
	if (c->misses && c->level < c->cut_low)
		c->level = c->cut_low;
	if (c->level < c->floor + K2_NEAR)
		c->clipped += c->misses;
	c->hits = 0;
	c->misses = 0;
	c->samples = 0;
	k2_control_clip(c);
	/* Far above the floor: what was seen there is over. */
	if (c->unmet && c->level > c->floor + K2_OCTAVE) {
		c->unmet = false;
		c->seen = 0;
		c->late = 0;
		c->clipped = 0;
	}
	k2_control_update(c);
}

/* A real-time request has ended: was it in time? */
static inline void k2_control_sample(struct k2_control *c,
				     const struct k2_end *e, u64 ns)
{
	bool late = ns > c->target_ns;
	u64 rare = K2_MILLION / (K2_MILLION - c->t.quantile);
	u64 run = c->missed ? K2_RUN * rare : rare;

	if (!c->target_ns)
		return;
	c->rt_missed += late;
	/* What is moved at the start is to be known before it is left. */
	if (c->t.policy != K2_LATENCY || c->calibrating || !k2_reference(c))
		return;
	c->seen++;
	c->late += late;
	if (e->returned || c->open) {
		c->clipped += late;
		return;
	}
	c->samples++;
	if (e->arrived >= c->cut_at)
		c->fresh = true;
	if (late) {
		c->misses++;
		c->run = 0;
		c->missed = true;
	} else if (c->refused) {
		c->hits += c->run++ < run ? 1 : K2_BOOST;
	}
	c->refused = false;
}

/* Below the floor with a bound that has been doubled: does that help at all? */
static inline void k2_control_climb(struct k2_control *c, u64 now)
{
	if (!c->climbing) {
		c->climbing = true;
		c->climb_from = c->floor;
		c->climb_rate = c->smooth;
		return;
	}
	/* What was averaged over a time when the device was faster. */
	if (c->smooth < c->climb_rate)
		c->climb_rate = c->smooth;
	if (c->floor < c->climb_from + K2_OCTAVE &&
	    c->floor < K2_LEVEL_MAX)
		return;
	if (c->smooth < c->climb_rate + c->climb_rate / 32) {
		c->floor = c->climb_from;
		c->starved = true;
		c->retry = now;
	}
	c->climbing = false;
}

/* How much more than the floor is aimed at, a log. */
static inline s64 k2_margin(const struct k2_control *c)
{
	s64 margin = K2_MARGIN * c->scatter;

	if (margin < K2_MARGIN_MIN)
		return K2_MARGIN_MIN;
	return margin < K2_MARGIN_MAX ? margin : K2_MARGIN_MAX;
}

/*
 * How far a window that is @off, a log, moves the bound where bandwidth rules. The
 * same way up and down, or what is only scatter would take it up.
 */
static inline s64 k2_pull(const struct k2_control *c, s64 off)
{
	off = off * K2_PULL / (104 - (s64)c->t.floor_pct);
	if (off > K2_PULL_MAX)
		return K2_PULL_MAX;
	return off > -K2_PULL_MAX ? off : -K2_PULL_MAX;
}

/* A window has ended that moved @rate: where is the floor? */
static inline void k2_control_window(struct k2_control *c, u64 rate, u64 now)
{
	u64 want = k2_reference(c) / 100 * c->t.floor_pct;
	s64 from = k2_applied(c), off, to;

	if (c->t.policy == K2_LATENCY && from < c->begun_at - K2_NEAR) {
		c->smooth = 0;
		c->climbing = false;
		return;
	}
	c->smooth = c->smooth ? (3 * c->smooth + rate) / 4 : rate;
	if (!want || !k2_control_rules(c) || c->returning)
		return;
	/* Where latency rules, a single pause of the device is no lack of bound. */
	if (c->t.policy == K2_LATENCY)
		rate = c->smooth;
	off = k2_log(want) + k2_margin(c) - k2_log(rate);
	if (off > K2_OCTAVE)
		off = K2_OCTAVE;
	if (off < -K2_OCTAVE)
		off = -K2_OCTAVE;
	if (off <= 0) {
		c->climbing = false;
		c->starved = false;
		if (c->t.policy == K2_BANDWIDTH) {
			c->floor += k2_pull(c, off);
			k2_control_clip(c);
			k2_control_update(c);
			return;
		}
		/* Is a smaller bound enough by now? */
		if (k2_since(now, &c->lacked) < K2_RETRY_NS)
			from = k2_log(c->bound);
		to = from + off;
		if (to < c->floor)
			c->floor += (to - c->floor) / 8;
	} else {
		/* Too little was asked for, not too little let in. */
		if (c->full * 4 < c->ends * 3)
			return;
		c->lacked = now;
		if (c->starved && k2_since(now, &c->retry) < K2_RETRY_NS)
			return;
		c->floor = from + (c->t.policy == K2_BANDWIDTH ?
				   k2_pull(c, off) : off / 4);
		k2_control_clip(c);
		k2_control_climb(c, now);
	}
	k2_control_clip(c);
	k2_control_update(c);
}

/*
 * How much do seconds scatter that should be alike? Where bandwidth rules, about what
 * is aimed at: of two in a row the second makes up for the first.
 */
static inline void k2_control_second(struct k2_control *c, u64 rate)
{
	u64 want = k2_reference(c) / 100 * c->t.floor_pct;
	s64 off = k2_log(rate) - k2_log(c->sec_rate);

	if (c->t.policy == K2_BANDWIDTH)
		off = k2_log(rate) - k2_log(want) - k2_margin(c);
	if (off < 0)
		off = -off;
	if (c->sec_rate && c->sec_full && off < K2_OCTAVE / 4)
		c->scatter += (off - c->scatter) / 8;
	c->sec_rate = rate;
}

/* A window of bandwidth begins. */
static inline void k2_control_begin(struct k2_control *c, u64 now)
{
	c->begun = now;
	c->begun_at = k2_applied(c);
	c->moved = 0;
	c->ends = 0;
	c->full = 0;
}

/* Counts what is moved. */
static inline void k2_control_count(struct k2_control *c, const struct k2_end *e)
{
	u64 ns;

	if (!c->sec_begun) {
		c->sec_begun = e->now;
		c->sec_moved = 0;
		c->sec_full = true;
	}
	if (!c->begun) {
		k2_control_begin(c, e->now);
		return;
	}
	c->moved += e->sectors;
	c->sec_moved += e->sectors;
	c->ends++;
	c->full += e->refused;
	ns = k2_since(e->now, &c->begun);
	if (ns < K2_WINDOW_NS || c->ends < K2_WINDOW_ENDS)
		return;
	if (ns < K2_WINDOW_MAX) {
		u64 rate = k2_rate(c->moved, ns);

		if (rate > c->best)
			c->best = rate;
		k2_control_window(c, rate, e->now);
		if (c->full * 4 < c->ends * 3)
			c->sec_full = false;
	} else {
		c->sec_begun = 0;
	}
	k2_control_begin(c, e->now);
	ns = k2_since(e->now, &c->sec_begun);
	if (!c->sec_begun || ns < K2_LOOK_NS)
		return;
	k2_control_second(c, k2_rate(c->sec_moved, ns));
	c->sec_begun = e->now;
	c->sec_moved = 0;
	c->sec_full = true;
}

/* A request has ended while the device is measured. */
static inline void k2_control_measure(struct k2_control *c,
				      const struct k2_end *e, u64 ns)
{
	u64 gap = k2_since(e->now, &c->cal_last);

	c->cal_last = e->now;
	/* A device with nothing to do, or a clock that was set, is left out. */
	if (gap >= K2_IDLE_NS)
		gap = 0;
	if (c->cal_busy < K2_FILL_NS) {
		c->cal_busy += gap;
		/* The measure begins with the end of this request. */
		if (c->cal_busy > K2_FILL_NS)
			c->cal_busy = K2_FILL_NS;
		return;
	}
	c->cal_busy += gap;
	c->cal_moved += e->sectors;
	c->cal_ends++;
	/* Not what had waited for a bound. */
	if (e->arrived >= c->cal_begun && e->arrived <= e->now) {
		flash_latency_note(&c->cal_tail[0], ns);
		if (e->rt) {
			flash_latency_note(&c->cal_tail[1], ns);
			c->cal_rt++;
		}
	}
	if (c->cal_busy < K2_FILL_NS + K2_MEASURE_NS ||
	    c->cal_ends < K2_MEASURE_ENDS)
		return;
	c->cal.rate = k2_rate(c->cal_moved, c->cal_busy - K2_FILL_NS);
	c->cal.tail_ns = flash_latency_quantile(
			&c->cal_tail[c->cal_rt >= K2_MEASURE_RT], c->t.quantile);
	c->cal.at = e->now;
	c->best = c->cal.rate;
	/* A search begins anew from what is now known. */
	c->calibrating = false;
	k2_control_set(c, &c->t, e->now);
}

/* The histogram of real-time requests; the older half goes now and then. */
static inline void k2_control_tail(struct k2_control *c,
				   const struct k2_end *e, u64 ns)
{
	u64 most = (u64)K2_TAIL_MISSES * K2_MILLION /
		   (K2_MILLION - c->t.quantile);

	if (most < K2_TAIL_ENDS)
		most = K2_TAIL_ENDS;
	if (most > K2_TAIL_ENDS_MAX)
		most = K2_TAIL_ENDS_MAX;
	if (c->tail_nr && (c->tail_nr >= most ||
			   k2_since(e->now, &c->tail_begun) >= K2_TAIL_NS)) {
		c->tail_now = !c->tail_now;
		memset(&c->tail[c->tail_now], 0, sizeof(c->tail[0]));
		c->tail_nr = 0;
	}
	if (!c->tail_nr++)
		c->tail_begun = e->now;
	flash_latency_note(&c->tail[c->tail_now], ns);
}

/**
 * k2_control_done - a request has ended
 * @c: the search
 * @e: the request
 *
 * Return: true if a calibration has come to its end.
 */
static inline bool k2_control_done(struct k2_control *c, const struct k2_end *e)
{
	bool known = e->arrived && e->arrived <= e->now, was = c->calibrating;
	u64 ns = known ? e->now - e->arrived : 0;

	if (c->returning && e->inflight <= c->bound)
		c->returning = false;
	if (e->refused)
		c->refused = true;
	if (e->rt && known) {
		c->rt_ended++;
		c->last_rt = e->now;
		k2_control_tail(c, e, ns);
		k2_control_sample(c, e, ns);
	}
	if (c->calibrating)
		k2_control_measure(c, e, ns);
	else
		k2_control_count(c, e);
	if (c->samples >= K2_STEP_ENDS ||
	    (c->samples && k2_since(e->now, &c->stepped) >= K2_STEP_NS))
		k2_control_step(c, e->now);
	if (c->seen && k2_since(e->now, &c->looked) >= K2_LOOK_NS) {
		c->looked = e->now;
		k2_control_look(c);
	}
	if (!e->rt)
		k2_control_idle(c, e->now);
	return was && !c->calibrating;
}

/** k2_control_tail_ns - the quantile of the last real-time requests; 0: none */
static inline u64 k2_control_tail_ns(struct k2_control *c)
{
	c->sum = c->tail[0];
	flash_latency_add(&c->sum, &c->tail[1]);
	return flash_latency_quantile(&c->sum, c->t.quantile);
}

/** k2_control_share_pct - bandwidth of the last second, of that without a bound */
static inline u32 k2_control_share_pct(const struct k2_control *c)
{
	u64 all = k2_reference(c), pct;

	if (!all)
		return 0;
	/* Beyond 2^57 it would wrap; nothing moves that much. */
	pct = c->sec_rate * 100 / all;
	return pct < 1000 ? (u32)pct : 1000;
}

/** k2_control_infeasible - what is wanted cannot be had */
static inline bool k2_control_infeasible(const struct k2_control *c)
{
	return c->unmet || c->starved;
}

#endif /* K2_CONTROL_H */
