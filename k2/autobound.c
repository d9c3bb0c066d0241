// SPDX-License-Identifier: GPL-2.0
/*
 * autobound.c - K2 finds its in-flight limit itself
 *
 * The paper chooses the limit from a scan of static limits, for one device and one load.
 * Here it is searched for while the device works, for one of the paper's two objectives:
 * most bandwidth with real-time requests in time (policy latency), or the shortest tail
 * with a share of the bandwidth (policy bandwidth).
 *
 * The limit is kept as a logarithm, so a step is a ratio. Two logarithms are kept, and the
 * larger one is in force:
 *
 *   level  what the target needs. Each real-time request that is late lowers it by a step
 *	    of q, each that is in time raises it by a step of 1 - q. The two balance when
 *	    q of all requests are in time, whatever the device is like. Nothing is rounded,
 *	    so the share of late requests differs from 1 - q by (change of the level) /
 *	    (size of a step) requests only.
 *   floor  what bw_floor_pct of the device's bandwidth needs. Bandwidth rises with the
 *	    limit, and ever more slowly, so a limit B that moves m times the wanted
 *	    bandwidth needs no more than B / m. With policy bandwidth, the nearer the floor
 *	    is to the bandwidth without a limit, the further the limit has to move for the
 *	    same change. A deficit of one window is made up for by the windows after it, so
 *	    seconds differ less than the device's own bandwidth does, and none has to be
 *	    far above the floor.
 *
 * A request in time says nothing about a level that holds no request back: the level rises
 * only if the limit kept a request waiting. A pause of the device makes many requests late
 * at once, which says no more than one late request: requests that were inserted before
 * the latest step down lower the level by at most a factor of two.
 *
 * A target may be out of reach. If far more requests are late than may be, and most of
 * them while the limit was at the floor, the target is infeasible, and the limit stays at
 * the floor. If twice the limit moves no more data, the floor is infeasible, and the limit
 * returns to what it was.
 *
 * After hold_ns without real-time requests the limit is lifted. The next real-time request
 * brings it back; requests that are inserted while the device still holds more requests than
 * the limit say nothing about the level.
 *
 * Invariants: 1 <= limit <= AUTOBOUND_LIMIT_MAX, and 0 <= floor <= level after a step. No
 * timer: all work is done when a request is inserted or completes, and between two of
 * these nothing could change.
 *
 * Entry points: autobound_init(), autobound_set() and autobound_calibrate() when a tunable
 * changes, autobound_insert() and autobound_completed() for each request,
 * autobound_limit() after each of them.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "autobound.h"

/* Logarithms have 2^24 parts to an octave; the largest limit is 2^16 - 1. */
#define AB_OCTAVE		((s64)1 << 24)
#define AB_LEVEL_MAX		(16 * AB_OCTAVE - 1)

/* Steps are this far apart: in completed real-time requests, and in ns. */
#define AB_STEP_ENDS		8
#define AB_STEP_NS		5000000

/* A whole step is 1.5 million parts: a factor of e^(1/16). */
#define AB_GAIN_NUM		3
#define AB_GAIN_DEN		2
#define AB_MILLION		1000000U

/*
 * This many times 1 / (1 - q) requests in time in a row are no chance, and further ones
 * weigh AB_BOOST. Before the first late request, one time is enough.
 */
#define AB_RUN			6
#define AB_BOOST		8

/* A window of bandwidth lasts at least this, in ns and requests. Longer ones are void. */
#define AB_WINDOW_NS		50000000
#define AB_WINDOW_ENDS		32
#define AB_WINDOW_MAX		4000000000ULL

/* Feasibility and scatter are judged every second; older samples count half after four. */
#define AB_SECOND_NS		1000000000ULL
#define AB_JUDGEMENTS		4

/*
 * The floor is aimed at from above, by three times its scatter: of seconds that scatter
 * evenly one in a hundred is then below it. Where bandwidth hardly rises any more, each %
 * costs ten of the tail, so the smallest margin is 0.1 %; the largest is 15 %.
 */
#define AB_MARGIN		3
#define AB_MARGIN_MIN		(AB_OCTAVE / 700)
#define AB_MARGIN_MAX		(AB_OCTAVE / 5)
/* The scatter until it is known: 0.25 % */
#define AB_SCATTER		(AB_OCTAVE / 280)

/* How far a window moves the limit: its deviation at a floor of 86 %; at most AB_PULL_MAX */
#define AB_PULL			18
#define AB_PULL_MAX		(AB_OCTAVE / 16)

/* A level this near to the floor is at the floor. */
#define AB_NEAR			(AB_OCTAVE / 4)

/* Time until an infeasible floor is tried again, or a smaller whole limit, ns */
#define AB_RETRY_NS		5000000000ULL

/*
 * Calibration: the device fills for AB_FILL_NS, then it is measured for at least this time
 * and these requests. An error of the result is an error of the floor for as long as the
 * result is used; a second is too short.
 */
#define AB_FILL_NS		100000000
#define AB_MEASURE_NS		4000000000ULL
#define AB_MEASURE_ENDS		256
/* Without a completion for this time the device was idle, ns. */
#define AB_IDLE_NS		500000000
/* Fewer real-time requests than this show less of the tail than all requests do. */
#define AB_MEASURE_RT		200

/* A histogram of the tail ends after this time, ns, or these requests. */
#define AB_TAIL_NS		5000000000ULL
#define AB_TAIL_LATE		10
#define AB_TAIL_ENDS		500U
#define AB_TAIL_ENDS_MAX	100000U

/* Most sectors of a window, so that products fit 64 bits */
#define AB_SECTORS_MAX		(1ULL << 29)

/* The logarithm of @v, at most 1/110 of an octave off */
static s64 autobound_log(u64 v)
{
	u32 octave;
	u64 part;

	if (v <= 1)
		return 0;
	octave = (u32)ilog2(v);
	part = octave < 24 ? v << (24 - octave) : v >> (octave - 24);
	part -= AB_OCTAVE;
	/* A parabola through both ends of the octave */
	part += (part * (AB_OCTAVE - part) >> 24) * 11 / 32;
	return octave * AB_OCTAVE + (s64)part;
}

/* 2^@level plus @round, in parts of 65536, as a limit */
static u32 autobound_exp_round(s64 level, u64 round)
{
	u64 exp = 65536, part;

	if (level > 0) {
		level = min(level, AB_LEVEL_MAX);
		part = ((u64)level & (AB_OCTAVE - 1)) >> 8;
		exp += part * (43024 + (22512 * part >> 16)) >> 16;
		exp <<= (u64)level >> 24;
	}
	return min((u32)((exp + round) >> 16), (u32)AUTOBOUND_LIMIT_MAX);
}

/* 2^@level, rounded */
static u32 autobound_exp(s64 level)
{
	return autobound_exp_round(level, 32768);
}

/* 2^@level, rounded up from 1/20 on: logarithms are no more exact than that. */
static u32 autobound_exp_up(s64 level)
{
	return autobound_exp_round(level, 65535 - 3277);
}

/* Time since @then. If the clock was set back, @then follows it, or it would never end. */
static u64 autobound_since(u64 now, u64 *then)
{
	*then = min(*then, now);
	return now - *then;
}

/* Sectors per 16 s, from @sectors in @ns */
static u64 autobound_rate(u64 sectors, u64 ns)
{
	return (min(sectors, AB_SECTORS_MAX) << 4) * 1000000000ULL / (ns ? ns : 1);
}

/* Bandwidth of the device without a limit, as far as it is known */
static u64 autobound_reference(const struct autobound *ab)
{
	return ab->device.rate ? ab->device.rate : ab->bw.best;
}

/* Bandwidth to keep */
static u64 autobound_wanted(const struct autobound *ab)
{
	return autobound_reference(ab) / 100 * ab->cfg.floor_pct;
}

/* The log of the limit that the search has found */
static s64 autobound_applied(const struct autobound *ab)
{
	return ab->cfg.policy == K2_LATENCY ? max(ab->level, ab->floor) : ab->floor;
}

static void autobound_update(struct autobound *ab)
{
	if (ab->measure.on || ab->open) {
		ab->limit = AUTOBOUND_LIMIT_MAX;
	} else if (autobound_searches(ab)) {
		ab->limit = autobound_exp(autobound_applied(ab));
		if (ab->cfg.policy == K2_LATENCY)
			ab->limit = max(ab->limit, autobound_exp_up(ab->floor));
	} else {
		ab->limit = ab->cfg.start;
	}
}

/* Windows end early, as they would mix two loads or two limits. */
static void autobound_restart(struct autobound *ab)
{
	ab->window.begun = 0;
	ab->second.begun = 0;
	ab->bw.mean = 0;
	ab->bw.climbing = false;
	autobound_update(ab);
}

/**
 * autobound_set - the user has changed something
 * @ab: the search
 * @cfg: what is set now
 * @now: the time, ns
 *
 * A search continues from the limit that it has found, unless the policy or the start has
 * changed.
 */
void autobound_set(struct autobound *ab, const struct autobound_config *cfg, u64 now)
{
	bool begin = cfg->policy != ab->cfg.policy || cfg->start != ab->cfg.start;
	u64 tail_ns = ab->device.tail_ns;

	ab->cfg = *cfg;
	ab->cfg.start = max(ab->cfg.start, 1U);
	ab->cfg.quantile = min(ab->cfg.quantile, AB_MILLION - 1);
	ab->target_ns = cfg->target_ns;
	if (!ab->target_ns)
		ab->target_ns = tail_ns / 100 * cfg->target_pct +
				tail_ns % 100 * cfg->target_pct / 100;
	if (begin) {
		ab->level = autobound_log(ab->cfg.start);
		ab->floor = cfg->policy == K2_BANDWIDTH ? ab->level : 0;
		ab->last_rt = now;
		ab->open = false;
		ab->excess = false;
		ab->bw.best = ab->device.rate;
		ab->second.scatter = AB_SCATTER;
		ab->second.rate = 0;
	}
	if (!cfg->hold_ns || cfg->policy == K2_STATIC)
		ab->open = false;
	/* All of this was learned for another target. */
	ab->step = (struct autobound_step) {
		.at = now, .nr = ab->step.nr, .held_back = ab->step.held_back,
		.cut_at = now, .cut_low = ab->level - AB_OCTAVE,
	};
	ab->target = (struct autobound_target) { .at = now };
	ab->bw.starved = false;
	ab->bw.starved_at = 0;
	ab->bw.lacked_at = now;
	autobound_restart(ab);
}

/**
 * autobound_init - begin to search
 * @ab: the search
 * @cfg: what the user has set
 * @device: an earlier calibration, or zeroes
 * @now: the time, ns
 */
void autobound_init(struct autobound *ab, const struct autobound_config *cfg,
		    const struct autobound_device *device, u64 now)
{
	memset(ab, 0, sizeof(*ab));
	ab->cfg.policy = K2_NR_POLICIES;
	ab->device = *device;
	ab->tail.begun = now;
	autobound_set(ab, cfg, now);
}

/**
 * autobound_calibrate - measure the device without a limit
 * @ab: the search
 * @on: begin, or stop without a result
 * @now: the time, ns
 */
void autobound_calibrate(struct autobound *ab, bool on, u64 now)
{
	memset(&ab->measure, 0, sizeof(ab->measure));
	ab->measure.on = on;
	ab->measure.begun = now;
	ab->measure.last = now;
	autobound_restart(ab);
}

/* Lift the limit if no real-time request was seen for long enough. */
static void autobound_open(struct autobound *ab, u64 now)
{
	if (ab->cfg.policy == K2_STATIC || ab->open || !ab->cfg.hold_ns ||
	    autobound_since(now, &ab->last_rt) < ab->cfg.hold_ns)
		return;
	ab->open = true;
	ab->excess = false;
	ab->opens++;
	autobound_restart(ab);
}

/** autobound_note_insert - the part of autobound_insert() for searches and real time */
bool autobound_note_insert(struct autobound *ab, bool rt, u32 inflight, u64 now)
{
	if (!rt) {
		autobound_open(ab, now);
		return false;
	}
	ab->last_rt = now;
	if (ab->open) {
		ab->open = false;
		ab->excess = true;
		autobound_restart(ab);
	}
	if (inflight <= ab->limit)
		ab->excess = false;
	return ab->excess;
}

static void autobound_clip(struct autobound *ab)
{
	ab->floor = clamp(ab->floor, (s64)0, AB_LEVEL_MAX);
	ab->level = clamp(ab->level, ab->floor, AB_LEVEL_MAX);
}

/* Are more requests late than may be, and most of them beyond the reach of any limit? */
static void autobound_judge_target(struct autobound *ab)
{
	struct autobound_target *t = &ab->target;
	u64 may = t->samples * (AB_MILLION - ab->cfg.quantile) / AB_MILLION;
	u64 scatter = int_sqrt64(may) + 1;

	if (t->beyond * 2 < t->late || t->late <= may + scatter)
		t->unmet = false;
	else if (t->late > may + 3 * scatter)
		t->unmet = true;
	if (++t->judgements % AB_JUDGEMENTS == 0) {
		t->samples /= 2;
		t->late /= 2;
		t->beyond /= 2;
	}
}

/* Move the level by the samples since the latest step. */
static void autobound_make_step(struct autobound *ab, u64 now)
{
	struct autobound_step *s = &ab->step;
	u64 q = ab->cfg.quantile;

	s->nr++;
	s->at = now;
	if (s->fresh) {
		s->fresh = false;
		s->cut_at = now;
		s->cut_low = ab->level - AB_OCTAVE;
	}
	ab->level += (s64)(s->in_time * (AB_MILLION - q)) * AB_GAIN_NUM / AB_GAIN_DEN;
	ab->level -= (s64)(s->late * q) * AB_GAIN_NUM / AB_GAIN_DEN;
	if (s->late && ab->level < s->cut_low)
		ab->level = s->cut_low;
	if (ab->level < ab->floor + AB_NEAR)
		ab->target.beyond += s->late;
	s->in_time = 0;
	s->late = 0;
	s->samples = 0;
	autobound_clip(ab);
	/* Far above the floor: what was observed at the floor is no longer true. */
	if (ab->target.unmet && ab->level > ab->floor + AB_OCTAVE) {
		ab->target.unmet = false;
		ab->target.samples = 0;
		ab->target.late = 0;
		ab->target.beyond = 0;
	}
	autobound_update(ab);
}

/* A real-time request completes after @ns: was it in time? */
static void autobound_sample(struct autobound *ab, const struct autobound_end *e, u64 ns)
{
	bool late = ns > ab->target_ns;
	u64 rare = AB_MILLION / (AB_MILLION - ab->cfg.quantile);
	struct autobound_step *s = &ab->step;

	if (!ab->target_ns)
		return;
	ab->rt_late += late;
	/* The start is not left before its bandwidth is known. */
	if (ab->cfg.policy != K2_LATENCY || ab->measure.on || !autobound_reference(ab))
		return;
	ab->target.samples++;
	ab->target.late += late;
	if (e->behind_excess || ab->open) {
		ab->target.beyond += late;
		return;
	}
	s->samples++;
	if (e->inserted >= s->cut_at)
		s->fresh = true;
	if (late) {
		s->late++;
		s->run = 0;
		s->any_late = true;
	} else if (s->held_back) {
		s->in_time += s->run++ < (s->any_late ? AB_RUN * rare : rare) ? 1 : AB_BOOST;
	}
	s->held_back = false;
}

/* The floor rises: if it has doubled and bandwidth has not risen, it is infeasible. */
static void autobound_climb(struct autobound *ab, u64 now)
{
	struct autobound_floor *bw = &ab->bw;

	if (!bw->climbing) {
		bw->climbing = true;
		bw->climb_from = ab->floor;
		bw->climb_rate = bw->mean;
		return;
	}
	/* The average may include windows when the device was faster. */
	bw->climb_rate = min(bw->climb_rate, bw->mean);
	if (ab->floor < bw->climb_from + AB_OCTAVE && ab->floor < AB_LEVEL_MAX)
		return;
	if (bw->mean < bw->climb_rate + bw->climb_rate / 32) {
		ab->floor = bw->climb_from;
		bw->starved = true;
		bw->starved_at = now;
	}
	bw->climbing = false;
}

/* How far above the floor bandwidth is aimed at, a log */
static s64 autobound_margin(const struct autobound *ab)
{
	return clamp(AB_MARGIN * ab->second.scatter, AB_MARGIN_MIN, AB_MARGIN_MAX);
}

/*
 * How far a window that deviates by @off, a log, moves the limit with policy bandwidth. As
 * far up as down, or scatter alone would raise the limit.
 */
static s64 autobound_pull(const struct autobound *ab, s64 off)
{
	return clamp(off * AB_PULL / (104 - (s64)ab->cfg.floor_pct), -AB_PULL_MAX, AB_PULL_MAX);
}

/* A window has too little bandwidth, by @off, a log: raise the floor from @from. */
static void autobound_raise_floor(struct autobound *ab, s64 from, s64 off, u64 now)
{
	/* Too little was submitted, not too little dispatched. */
	if (ab->window.held_back * 4 < ab->window.ends * 3)
		return;
	ab->bw.lacked_at = now;
	if (ab->bw.starved && autobound_since(now, &ab->bw.starved_at) < AB_RETRY_NS)
		return;
	ab->floor = from + (ab->cfg.policy == K2_BANDWIDTH ? autobound_pull(ab, off) : off / 4);
	autobound_clip(ab);
	autobound_climb(ab, now);
	autobound_clip(ab);
	autobound_update(ab);
}

/* A window has enough bandwidth, and -@off to spare, a log: lower the floor from @from. */
static void autobound_lower_floor(struct autobound *ab, s64 from, s64 off, u64 now)
{
	ab->bw.climbing = false;
	ab->bw.starved = false;
	if (ab->cfg.policy == K2_BANDWIDTH) {
		ab->floor += autobound_pull(ab, off);
	} else {
		/*
		 * The limit in force is rounded up and moves more than @from. A smaller one
		 * is tried only if bandwidth was not lacking for a while.
		 */
		if (autobound_since(now, &ab->bw.lacked_at) < AB_RETRY_NS)
			from = autobound_log(ab->limit);
		if (from + off < ab->floor)
			ab->floor += (from + off - ab->floor) / 8;
	}
	autobound_clip(ab);
	autobound_update(ab);
}

/* A window ends that moved @rate. */
static void autobound_end_window(struct autobound *ab, u64 rate, u64 now)
{
	u64 want = autobound_wanted(ab);
	s64 from = autobound_applied(ab), off;

	/* The limit fell during the window: its bandwidth is that of larger limits. */
	if (ab->cfg.policy == K2_LATENCY && from < ab->window.level - AB_NEAR) {
		ab->bw.mean = 0;
		ab->bw.climbing = false;
		return;
	}
	ab->bw.mean = ab->bw.mean ? (3 * ab->bw.mean + rate) / 4 : rate;
	if (!want || !autobound_searches(ab) || ab->excess)
		return;
	/* With policy latency a single pause of the device must not raise the floor. */
	if (ab->cfg.policy == K2_LATENCY)
		rate = ab->bw.mean;
	off = autobound_log(want) + autobound_margin(ab) - autobound_log(rate);
	off = clamp(off, -AB_OCTAVE, AB_OCTAVE);
	if (off > 0)
		autobound_raise_floor(ab, from, off, now);
	else
		autobound_lower_floor(ab, from, off, now);
}

/*
 * A second ends that moved @rate: update the scatter. With policy bandwidth it is measured
 * from the aim, as of two seconds in a row the second one makes up for the first.
 */
static void autobound_end_second(struct autobound *ab, u64 rate)
{
	struct autobound_second *s = &ab->second;
	s64 off = autobound_log(rate);

	if (ab->cfg.policy == K2_BANDWIDTH)
		off -= autobound_log(autobound_wanted(ab)) + autobound_margin(ab);
	else
		off -= autobound_log(s->rate);
	off = off < 0 ? -off : off;
	if (s->rate && s->full && off < AB_OCTAVE / 4)
		s->scatter += (off - s->scatter) / 8;
	s->rate = rate;
}

static void autobound_begin_window(struct autobound *ab, u64 now)
{
	ab->window = (struct autobound_window) {
		.begun = now, .level = autobound_applied(ab),
	};
}

static void autobound_begin_second(struct autobound *ab, u64 now)
{
	ab->second.begun = now;
	ab->second.sectors = 0;
	ab->second.full = true;
}

/* Add a completed request to the bandwidth. */
static void autobound_count(struct autobound *ab, const struct autobound_end *e)
{
	struct autobound_window *w = &ab->window;
	u64 ns, rate;

	if (!ab->second.begun)
		autobound_begin_second(ab, e->now);
	if (!w->begun) {
		autobound_begin_window(ab, e->now);
		return;
	}
	w->sectors += e->sectors;
	ab->second.sectors += e->sectors;
	w->ends++;
	w->held_back += e->held_back;
	ns = autobound_since(e->now, &w->begun);
	if (ns < AB_WINDOW_NS || w->ends < AB_WINDOW_ENDS)
		return;
	if (ns < AB_WINDOW_MAX) {
		rate = autobound_rate(w->sectors, ns);
		ab->bw.best = max(ab->bw.best, rate);
		autobound_end_window(ab, rate, e->now);
		if (w->held_back * 4 < w->ends * 3)
			ab->second.full = false;
	} else {
		ab->second.begun = 0;
	}
	autobound_begin_window(ab, e->now);
	ns = autobound_since(e->now, &ab->second.begun);
	if (!ab->second.begun || ns < AB_SECOND_NS)
		return;
	autobound_end_second(ab, autobound_rate(ab->second.sectors, ns));
	autobound_begin_second(ab, e->now);
}

/* A request completes after @ns while a calibration runs. */
static void autobound_measure(struct autobound *ab, const struct autobound_end *e, u64 ns)
{
	struct autobound_measure *m = &ab->measure;
	u64 gap = autobound_since(e->now, &m->last);

	m->last = e->now;
	/* Times when the device was idle or the clock was set do not count. */
	if (gap >= AB_IDLE_NS)
		gap = 0;
	if (m->busy_ns < AB_FILL_NS) {
		/* The measurement begins when this request completes. */
		m->busy_ns = min(m->busy_ns + gap, (u64)AB_FILL_NS);
		return;
	}
	m->busy_ns += gap;
	m->sectors += e->sectors;
	m->ends++;
	/* Requests from before the calibration waited for a limit. */
	if (e->inserted >= m->begun && e->inserted <= e->now) {
		flash_latency_note(&m->times[0], ns);
		if (e->rt) {
			flash_latency_note(&m->times[1], ns);
			m->rt_ends++;
		}
	}
	if (m->busy_ns < AB_FILL_NS + AB_MEASURE_NS || m->ends < AB_MEASURE_ENDS)
		return;
	ab->device.rate = autobound_rate(m->sectors, m->busy_ns - AB_FILL_NS);
	ab->device.tail_ns = flash_latency_quantile(&m->times[m->rt_ends >= AB_MEASURE_RT],
						    ab->cfg.quantile);
	ab->device.at = e->now;
	ab->bw.best = ab->device.rate;
	m->on = false;
	autobound_set(ab, &ab->cfg, e->now);
}

/* Add a real-time request to the tail. The older histogram is dropped now and then. */
static void autobound_note_tail(struct autobound *ab, const struct autobound_end *e, u64 ns)
{
	struct autobound_tail *t = &ab->tail;
	u32 most = AB_TAIL_LATE * AB_MILLION / (AB_MILLION - ab->cfg.quantile);

	most = clamp(most, AB_TAIL_ENDS, AB_TAIL_ENDS_MAX);
	if (t->nr >= most || (t->nr && autobound_since(e->now, &t->begun) >= AB_TAIL_NS)) {
		t->index = !t->index;
		memset(&t->times[t->index], 0, sizeof(t->times[0]));
		t->nr = 0;
	}
	if (!t->nr++)
		t->begun = e->now;
	flash_latency_note(&t->times[t->index], ns);
}

/**
 * autobound_completed - a request has completed
 * @ab: the search
 * @e: the request
 *
 * Return: true if a calibration has its result, in autobound.device.
 */
bool autobound_completed(struct autobound *ab, const struct autobound_end *e)
{
	bool known = e->inserted && e->inserted <= e->now, measured = ab->measure.on;
	u64 ns = known ? e->now - e->inserted : 0;

	if (ab->excess && e->inflight <= ab->limit)
		ab->excess = false;
	if (e->held_back)
		ab->step.held_back = true;
	if (e->rt && known) {
		ab->rt_ended++;
		ab->last_rt = e->now;
		autobound_note_tail(ab, e, ns);
		autobound_sample(ab, e, ns);
	}
	if (ab->measure.on)
		autobound_measure(ab, e, ns);
	else
		autobound_count(ab, e);
	if (ab->step.samples >= AB_STEP_ENDS ||
	    (ab->step.samples && autobound_since(e->now, &ab->step.at) >= AB_STEP_NS))
		autobound_make_step(ab, e->now);
	if (ab->target.samples && autobound_since(e->now, &ab->target.at) >= AB_SECOND_NS) {
		ab->target.at = e->now;
		autobound_judge_target(ab);
	}
	if (!e->rt)
		autobound_open(ab, e->now);
	return measured && !ab->measure.on;
}

/** autobound_tail_us - the quantile of recent real-time requests, us; 0: none */
u64 autobound_tail_us(struct autobound *ab)
{
	ab->tail.sum = ab->tail.times[0];
	flash_latency_add(&ab->tail.sum, &ab->tail.times[1]);
	return div_u64(flash_latency_quantile(&ab->tail.sum, ab->cfg.quantile), 1000);
}

/** autobound_share_pct - bandwidth of the latest second, in % of that without a limit */
u64 autobound_share_pct(struct autobound *ab)
{
	u64 all = autobound_reference(ab);

	/* 2^57 sectors in 16 s would overflow; no device moves as much. */
	return all ? min(ab->second.rate * 100 / all, (u64)1000) : 0;
}

/** autobound_infeasible - is the target or the bandwidth out of reach? */
u64 autobound_infeasible(struct autobound *ab)
{
	return ab->target.unmet || ab->bw.starved;
}

/** autobound_calibrating - does a calibration run? */
u64 autobound_calibrating(struct autobound *ab)
{
	return ab->measure.on;
}
