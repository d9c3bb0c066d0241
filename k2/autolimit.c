// SPDX-License-Identifier: GPL-2.0
/*
 * autolimit.c - K2 finds its in-flight limit itself
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
 * Invariants: 1 <= limit <= AUTOLIMIT_MAX, and 0 <= floor <= level after a step. No
 * timer: all work is done when a request is inserted or completes, and between two of
 * these nothing could change.
 *
 * Entry points: autolimit_init(), autolimit_set() and autolimit_calibrate() when a tunable
 * changes, autolimit_insert() and autolimit_completed() for each request,
 * autolimit_get() after each of them.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "autolimit.h"

/* Logarithms have 2^24 parts to an octave; the largest limit is 2^16 - 1. */
#define AL_OCTAVE		((s64)1 << 24)
#define AL_LEVEL_MAX		(16 * AL_OCTAVE - 1)

/* Steps are this far apart: in completed real-time requests, and in ns. */
#define AL_STEP_ENDS		8
#define AL_STEP_NS		5000000

/* A whole step is 1.5 million parts: a factor of e^(1/16). */
#define AL_GAIN_NUM		3
#define AL_GAIN_DEN		2
#define AL_MILLION		1000000U

/*
 * This many times 1 / (1 - q) requests in time in a row are no chance, and further ones
 * weigh AL_BOOST. Before the first late request, one time is enough.
 */
#define AL_RUN			6
#define AL_BOOST		8

/* A window of bandwidth lasts at least this, in ns and requests. Longer ones are void. */
#define AL_WINDOW_NS		50000000
#define AL_WINDOW_ENDS		32
#define AL_WINDOW_MAX		4000000000ULL

/* Feasibility and scatter are judged every second; older samples count half after four. */
#define AL_SECOND_NS		1000000000ULL
#define AL_JUDGEMENTS		4

/*
 * The floor is aimed at from above, by three times its scatter: of seconds that scatter
 * evenly one in a hundred is then below it. Where bandwidth hardly rises any more, each %
 * costs ten of the tail, so the smallest margin is 0.1 %; the largest is 15 %.
 */
#define AL_MARGIN		3
#define AL_MARGIN_MIN		(AL_OCTAVE / 700)
#define AL_MARGIN_MAX		(AL_OCTAVE / 5)
/* The scatter until it is known: 0.25 % */
#define AL_SCATTER		(AL_OCTAVE / 280)

/* How far a window moves the limit: its deviation at a floor of 86 %; at most AL_PULL_MAX */
#define AL_PULL			18
#define AL_PULL_MAX		(AL_OCTAVE / 16)

/* A level this near to the floor is at the floor. */
#define AL_NEAR			(AL_OCTAVE / 4)

/* Time until an infeasible floor is tried again, or a smaller whole limit, ns */
#define AL_RETRY_NS		5000000000ULL

/*
 * Calibration: the device fills for AL_FILL_NS, then it is measured for at least this time
 * and these requests. An error of the result is an error of the floor for as long as the
 * result is used; a second is too short.
 */
#define AL_FILL_NS		100000000
#define AL_MEASURE_NS		4000000000ULL
#define AL_MEASURE_ENDS		256
/* Without a completion for this time the device was idle, ns. */
#define AL_IDLE_NS		500000000
/* Fewer real-time requests than this show less of the tail than all requests do. */
#define AL_MEASURE_RT		200

/* A histogram of the tail ends after this time, ns, or these requests. */
#define AL_TAIL_NS		5000000000ULL
#define AL_TAIL_LATE		10
#define AL_TAIL_ENDS		500U
#define AL_TAIL_ENDS_MAX	100000U

/* Most sectors of a window, so that products fit 64 bits */
#define AL_SECTORS_MAX		(1ULL << 29)

/* The logarithm of @v, at most 1/110 of an octave off */
static s64 autolimit_log(u64 v)
{
	u32 octave;
	u64 part;

	if (v <= 1)
		return 0;
	octave = (u32)ilog2(v);
	part = octave < 24 ? v << (24 - octave) : v >> (octave - 24);
	part -= AL_OCTAVE;
	/* A parabola through both ends of the octave */
	part += (part * (AL_OCTAVE - part) >> 24) * 11 / 32;
	return octave * AL_OCTAVE + (s64)part;
}

/* 2^@level plus @round, in parts of 65536, as a limit */
static u32 autolimit_exp_round(s64 level, u64 round)
{
	u64 exp = 65536, part;

	if (level > 0) {
		level = min(level, AL_LEVEL_MAX);
		part = ((u64)level & (AL_OCTAVE - 1)) >> 8;
		exp += part * (43024 + (22512 * part >> 16)) >> 16;
		exp <<= (u64)level >> 24;
	}
	return min((u32)((exp + round) >> 16), (u32)AUTOLIMIT_MAX);
}

/* 2^@level, rounded */
static u32 autolimit_exp(s64 level)
{
	return autolimit_exp_round(level, 32768);
}

/* 2^@level, rounded up from 1/20 on: logarithms are no more exact than that. */
static u32 autolimit_exp_up(s64 level)
{
	return autolimit_exp_round(level, 65535 - 3277);
}

/* Time since @then. If the clock was set back, @then follows it, or it would never end. */
static u64 autolimit_since(u64 now, u64 *then)
{
	*then = min(*then, now);
	return now - *then;
}

/* Sectors per 16 s, from @sectors in @ns */
static u64 autolimit_rate(u64 sectors, u64 ns)
{
	return (min(sectors, AL_SECTORS_MAX) << 4) * 1000000000ULL / (ns ? ns : 1);
}

/* Bandwidth of the device without a limit, as far as it is known */
static u64 autolimit_reference(const struct autolimit *al)
{
	return al->device.rate ? al->device.rate : al->bw.best;
}

/* Bandwidth to keep */
static u64 autolimit_wanted(const struct autolimit *al)
{
	return autolimit_reference(al) / 100 * al->cfg.floor_pct;
}

/* The log of the limit that the search has found */
static s64 autolimit_applied(const struct autolimit *al)
{
	return al->cfg.policy == K2_LATENCY ? max(al->level, al->floor) : al->floor;
}

static void autolimit_update(struct autolimit *al)
{
	if (al->measure.on || al->open) {
		al->limit = AUTOLIMIT_MAX;
	} else if (autolimit_searches(al)) {
		al->limit = autolimit_exp(autolimit_applied(al));
		if (al->cfg.policy == K2_LATENCY)
			al->limit = max(al->limit, autolimit_exp_up(al->floor));
	} else {
		al->limit = al->cfg.start;
	}
}

/* Windows end early, as they would mix two loads or two limits. */
static void autolimit_restart(struct autolimit *al)
{
	al->window.begun = 0;
	al->second.begun = 0;
	al->bw.mean = 0;
	al->bw.climbing = false;
	autolimit_update(al);
}

/**
 * autolimit_set - the user has changed something
 * @al: the search
 * @cfg: what is set now
 * @now: the time, ns
 *
 * A search continues from the limit that it has found, unless the policy or the start has
 * changed.
 */
void autolimit_set(struct autolimit *al, const struct autolimit_config *cfg, u64 now)
{
	bool begin = cfg->policy != al->cfg.policy || cfg->start != al->cfg.start;
	u64 tail_ns = al->device.tail_ns;

	al->cfg = *cfg;
	al->cfg.start = max(al->cfg.start, 1U);
	al->cfg.quantile = min(al->cfg.quantile, AL_MILLION - 1);
	al->target_ns = cfg->target_ns;
	if (!al->target_ns)
		al->target_ns = tail_ns / 100 * cfg->target_pct +
				tail_ns % 100 * cfg->target_pct / 100;
	if (begin) {
		al->level = autolimit_log(al->cfg.start);
		al->floor = cfg->policy == K2_BANDWIDTH ? al->level : 0;
		al->last_rt = now;
		al->open = false;
		al->excess = false;
		al->bw.best = al->device.rate;
		al->second.scatter = AL_SCATTER;
		al->second.rate = 0;
	}
	if (!cfg->hold_ns || cfg->policy == K2_STATIC)
		al->open = false;
	/* All of this was learned for another target. */
	al->step = (struct autolimit_step) {
		.at = now, .nr = al->step.nr, .held_back = al->step.held_back,
		.cut_at = now, .cut_low = al->level - AL_OCTAVE,
	};
	al->target = (struct autolimit_target) { .at = now };
	al->bw.starved = false;
	al->bw.starved_at = 0;
	al->bw.lacked_at = now;
	autolimit_restart(al);
}

/**
 * autolimit_init - begin to search
 * @al: the search
 * @cfg: what the user has set
 * @device: an earlier calibration, or zeroes
 * @now: the time, ns
 */
void autolimit_init(struct autolimit *al, const struct autolimit_config *cfg,
		    const struct autolimit_device *device, u64 now)
{
	memset(al, 0, sizeof(*al));
	al->cfg.policy = K2_NR_POLICIES;
	al->device = *device;
	al->tail.begun = now;
	autolimit_set(al, cfg, now);
}

/**
 * autolimit_calibrate - measure the device without a limit
 * @al: the search
 * @on: begin, or stop without a result
 * @now: the time, ns
 */
void autolimit_calibrate(struct autolimit *al, bool on, u64 now)
{
	memset(&al->measure, 0, sizeof(al->measure));
	al->measure.on = on;
	al->measure.begun = now;
	al->measure.last = now;
	autolimit_restart(al);
}

/* Lift the limit if no real-time request was seen for long enough. */
static void autolimit_open(struct autolimit *al, u64 now)
{
	if (al->cfg.policy == K2_STATIC || al->open || !al->cfg.hold_ns ||
	    autolimit_since(now, &al->last_rt) < al->cfg.hold_ns)
		return;
	al->open = true;
	al->excess = false;
	al->opens++;
	autolimit_restart(al);
}

/** autolimit_note_insert - the part of autolimit_insert() for searches and real time */
bool autolimit_note_insert(struct autolimit *al, bool rt, u32 inflight, u64 now)
{
	if (!rt) {
		autolimit_open(al, now);
		return false;
	}
	al->last_rt = now;
	if (al->open) {
		al->open = false;
		al->excess = true;
		autolimit_restart(al);
	}
	if (inflight <= al->limit)
		al->excess = false;
	return al->excess;
}

static void autolimit_clip(struct autolimit *al)
{
	al->floor = clamp(al->floor, (s64)0, AL_LEVEL_MAX);
	al->level = clamp(al->level, al->floor, AL_LEVEL_MAX);
}

/* Are more requests late than may be, and most of them beyond the reach of any limit? */
static void autolimit_judge_target(struct autolimit *al)
{
	struct autolimit_target *t = &al->target;
	u64 may = t->samples * (AL_MILLION - al->cfg.quantile) / AL_MILLION;
	u64 scatter = int_sqrt64(may) + 1;

	if (t->beyond * 2 < t->late || t->late <= may + scatter)
		t->unmet = false;
	else if (t->late > may + 3 * scatter)
		t->unmet = true;
	if (++t->judgements % AL_JUDGEMENTS == 0) {
		t->samples /= 2;
		t->late /= 2;
		t->beyond /= 2;
	}
}

/* Move the level by the samples since the latest step. */
static void autolimit_make_step(struct autolimit *al, u64 now)
{
	struct autolimit_step *s = &al->step;
	u64 q = al->cfg.quantile;

	s->nr++;
	s->at = now;
	if (s->fresh) {
		s->fresh = false;
		s->cut_at = now;
		s->cut_low = al->level - AL_OCTAVE;
	}
	al->level += (s64)(s->in_time * (AL_MILLION - q)) * AL_GAIN_NUM / AL_GAIN_DEN;
	al->level -= (s64)(s->late * q) * AL_GAIN_NUM / AL_GAIN_DEN;
	if (s->late && al->level < s->cut_low)
		al->level = s->cut_low;
	if (al->level < al->floor + AL_NEAR)
		al->target.beyond += s->late;
	s->in_time = 0;
	s->late = 0;
	s->samples = 0;
	autolimit_clip(al);
	/* Far above the floor: what was observed at the floor is no longer true. */
	if (al->target.unmet && al->level > al->floor + AL_OCTAVE) {
		al->target.unmet = false;
		al->target.samples = 0;
		al->target.late = 0;
		al->target.beyond = 0;
	}
	autolimit_update(al);
}

/* A real-time request completes after @ns: was it in time? */
static void autolimit_sample(struct autolimit *al, const struct autolimit_end *e, u64 ns)
{
	bool late = ns > al->target_ns;
	u64 rare = AL_MILLION / (AL_MILLION - al->cfg.quantile);
	struct autolimit_step *s = &al->step;

	if (!al->target_ns)
		return;
	al->rt_late += late;
	/* The start is not left before its bandwidth is known. */
	if (al->cfg.policy != K2_LATENCY || al->measure.on || !autolimit_reference(al))
		return;
	al->target.samples++;
	al->target.late += late;
	if (e->behind_excess || al->open) {
		al->target.beyond += late;
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
		s->in_time += s->run++ < (s->any_late ? AL_RUN * rare : rare) ? 1 : AL_BOOST;
	}
	s->held_back = false;
}

/* The floor rises: if it has doubled and bandwidth has not risen, it is infeasible. */
static void autolimit_climb(struct autolimit *al, u64 now)
{
	struct autolimit_floor *bw = &al->bw;

	if (!bw->climbing) {
		bw->climbing = true;
		bw->climb_from = al->floor;
		bw->climb_rate = bw->mean;
		return;
	}
	/* The average may include windows when the device was faster. */
	bw->climb_rate = min(bw->climb_rate, bw->mean);
	if (al->floor < bw->climb_from + AL_OCTAVE && al->floor < AL_LEVEL_MAX)
		return;
	if (bw->mean < bw->climb_rate + bw->climb_rate / 32) {
		al->floor = bw->climb_from;
		bw->starved = true;
		bw->starved_at = now;
	}
	bw->climbing = false;
}

/* How far above the floor bandwidth is aimed at, a log */
static s64 autolimit_margin(const struct autolimit *al)
{
	return clamp(AL_MARGIN * al->second.scatter, AL_MARGIN_MIN, AL_MARGIN_MAX);
}

/*
 * How far a window that deviates by @off, a log, moves the limit with policy bandwidth. As
 * far up as down, or scatter alone would raise the limit.
 */
static s64 autolimit_pull(const struct autolimit *al, s64 off)
{
	return clamp(off * AL_PULL / (104 - (s64)al->cfg.floor_pct), -AL_PULL_MAX, AL_PULL_MAX);
}

/* A window has too little bandwidth, by @off, a log: raise the floor from @from. */
static void autolimit_raise_floor(struct autolimit *al, s64 from, s64 off, u64 now)
{
	/* Too little was submitted, not too little dispatched. */
	if (al->window.held_back * 4 < al->window.ends * 3)
		return;
	al->bw.lacked_at = now;
	if (al->bw.starved && autolimit_since(now, &al->bw.starved_at) < AL_RETRY_NS)
		return;
	al->floor = from + (al->cfg.policy == K2_BANDWIDTH ? autolimit_pull(al, off) : off / 4);
	autolimit_clip(al);
	autolimit_climb(al, now);
	autolimit_clip(al);
	autolimit_update(al);
}

/* A window has enough bandwidth, and -@off to spare, a log: lower the floor from @from. */
static void autolimit_lower_floor(struct autolimit *al, s64 from, s64 off, u64 now)
{
	al->bw.climbing = false;
	al->bw.starved = false;
	if (al->cfg.policy == K2_BANDWIDTH) {
		al->floor += autolimit_pull(al, off);
	} else {
		/*
		 * The limit in force is rounded up and moves more than @from. A smaller one
		 * is tried only if bandwidth was not lacking for a while.
		 */
		if (autolimit_since(now, &al->bw.lacked_at) < AL_RETRY_NS)
			from = autolimit_log(al->limit);
		if (from + off < al->floor)
			al->floor += (from + off - al->floor) / 8;
	}
	autolimit_clip(al);
	autolimit_update(al);
}

/* A window ends that moved @rate. */
static void autolimit_end_window(struct autolimit *al, u64 rate, u64 now)
{
	u64 want = autolimit_wanted(al);
	s64 from = autolimit_applied(al), off;

	/* The limit fell during the window: its bandwidth is that of larger limits. */
	if (al->cfg.policy == K2_LATENCY && from < al->window.level - AL_NEAR) {
		al->bw.mean = 0;
		al->bw.climbing = false;
		return;
	}
	al->bw.mean = al->bw.mean ? (3 * al->bw.mean + rate) / 4 : rate;
	if (!want || !autolimit_searches(al) || al->excess)
		return;
	/* With policy latency a single pause of the device must not raise the floor. */
	if (al->cfg.policy == K2_LATENCY)
		rate = al->bw.mean;
	off = autolimit_log(want) + autolimit_margin(al) - autolimit_log(rate);
	off = clamp(off, -AL_OCTAVE, AL_OCTAVE);
	if (off > 0)
		autolimit_raise_floor(al, from, off, now);
	else
		autolimit_lower_floor(al, from, off, now);
}

/*
 * A second ends that moved @rate: update the scatter. With policy bandwidth it is measured
 * from the aim, as of two seconds in a row the second one makes up for the first.
 */
static void autolimit_end_second(struct autolimit *al, u64 rate)
{
	struct autolimit_second *s = &al->second;
	s64 off = autolimit_log(rate);

	if (al->cfg.policy == K2_BANDWIDTH)
		off -= autolimit_log(autolimit_wanted(al)) + autolimit_margin(al);
	else
		off -= autolimit_log(s->rate);
	off = off < 0 ? -off : off;
	if (s->rate && s->full && off < AL_OCTAVE / 4)
		s->scatter += (off - s->scatter) / 8;
	s->rate = rate;
}

static void autolimit_begin_window(struct autolimit *al, u64 now)
{
	al->window = (struct autolimit_window) {
		.begun = now, .level = autolimit_applied(al),
	};
}

static void autolimit_begin_second(struct autolimit *al, u64 now)
{
	al->second.begun = now;
	al->second.sectors = 0;
	al->second.full = true;
}

/* Add a completed request to the bandwidth. */
static void autolimit_count(struct autolimit *al, const struct autolimit_end *e)
{
	struct autolimit_window *w = &al->window;
	u64 ns, rate;

	if (!al->second.begun)
		autolimit_begin_second(al, e->now);
	if (!w->begun) {
		autolimit_begin_window(al, e->now);
		return;
	}
	w->sectors += e->sectors;
	al->second.sectors += e->sectors;
	w->ends++;
	w->held_back += e->held_back;
	ns = autolimit_since(e->now, &w->begun);
	if (ns < AL_WINDOW_NS || w->ends < AL_WINDOW_ENDS)
		return;
	if (ns < AL_WINDOW_MAX) {
		rate = autolimit_rate(w->sectors, ns);
		al->bw.best = max(al->bw.best, rate);
		autolimit_end_window(al, rate, e->now);
		if (w->held_back * 4 < w->ends * 3)
			al->second.full = false;
	} else {
		al->second.begun = 0;
	}
	autolimit_begin_window(al, e->now);
	ns = autolimit_since(e->now, &al->second.begun);
	if (!al->second.begun || ns < AL_SECOND_NS)
		return;
	autolimit_end_second(al, autolimit_rate(al->second.sectors, ns));
	autolimit_begin_second(al, e->now);
}

/* A request completes after @ns while a calibration runs. */
static void autolimit_measure(struct autolimit *al, const struct autolimit_end *e, u64 ns)
{
	struct autolimit_measure *m = &al->measure;
	u64 gap = autolimit_since(e->now, &m->last);

	m->last = e->now;
	/* Times when the device was idle or the clock was set do not count. */
	if (gap >= AL_IDLE_NS)
		gap = 0;
	if (m->busy_ns < AL_FILL_NS) {
		/* The measurement begins when this request completes. */
		m->busy_ns = min(m->busy_ns + gap, (u64)AL_FILL_NS);
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
	if (m->busy_ns < AL_FILL_NS + AL_MEASURE_NS || m->ends < AL_MEASURE_ENDS)
		return;
	al->device.rate = autolimit_rate(m->sectors, m->busy_ns - AL_FILL_NS);
	al->device.tail_ns = flash_latency_quantile(&m->times[m->rt_ends >= AL_MEASURE_RT],
						    al->cfg.quantile);
	al->device.at = e->now;
	al->bw.best = al->device.rate;
	m->on = false;
	autolimit_set(al, &al->cfg, e->now);
}

/* Add a real-time request to the tail. The older histogram is dropped now and then. */
static void autolimit_note_tail(struct autolimit *al, const struct autolimit_end *e, u64 ns)
{
	struct autolimit_tail *t = &al->tail;
	u32 most = AL_TAIL_LATE * AL_MILLION / (AL_MILLION - al->cfg.quantile);

	most = clamp(most, AL_TAIL_ENDS, AL_TAIL_ENDS_MAX);
	if (t->nr >= most || (t->nr && autolimit_since(e->now, &t->begun) >= AL_TAIL_NS)) {
		t->index = !t->index;
		memset(&t->times[t->index], 0, sizeof(t->times[0]));
		t->nr = 0;
	}
	if (!t->nr++)
		t->begun = e->now;
	flash_latency_note(&t->times[t->index], ns);
}

/**
 * autolimit_completed - a request has completed
 * @al: the search
 * @e: the request
 *
 * Return: true if a calibration has its result, in autolimit.device.
 */
bool autolimit_completed(struct autolimit *al, const struct autolimit_end *e)
{
	bool known = e->inserted && e->inserted <= e->now, measured = al->measure.on;
	u64 ns = known ? e->now - e->inserted : 0;

	if (al->excess && e->inflight <= al->limit)
		al->excess = false;
	if (e->held_back)
		al->step.held_back = true;
	if (e->rt && known) {
		al->rt_ended++;
		al->last_rt = e->now;
		autolimit_note_tail(al, e, ns);
		autolimit_sample(al, e, ns);
	}
	if (al->measure.on)
		autolimit_measure(al, e, ns);
	else
		autolimit_count(al, e);
	if (al->step.samples >= AL_STEP_ENDS ||
	    (al->step.samples && autolimit_since(e->now, &al->step.at) >= AL_STEP_NS))
		autolimit_make_step(al, e->now);
	if (al->target.samples && autolimit_since(e->now, &al->target.at) >= AL_SECOND_NS) {
		al->target.at = e->now;
		autolimit_judge_target(al);
	}
	if (!e->rt)
		autolimit_open(al, e->now);
	return measured && !al->measure.on;
}

/** autolimit_tail_us - the quantile of recent real-time requests, us; 0: none */
u64 autolimit_tail_us(struct autolimit *al)
{
	al->tail.sum = al->tail.times[0];
	flash_latency_add(&al->tail.sum, &al->tail.times[1]);
	return div_u64(flash_latency_quantile(&al->tail.sum, al->cfg.quantile), 1000);
}

/** autolimit_share_pct - bandwidth of the latest second, in % of that without a limit */
u64 autolimit_share_pct(struct autolimit *al)
{
	u64 all = autolimit_reference(al);

	/* 2^57 sectors in 16 s would overflow; no device moves as much. */
	return all ? min(al->second.rate * 100 / all, (u64)1000) : 0;
}

/** autolimit_infeasible - is the target or the bandwidth out of reach? */
u64 autolimit_infeasible(struct autolimit *al)
{
	return al->target.unmet || al->bw.starved;
}

/** autolimit_calibrating - does a calibration run? */
u64 autolimit_calibrating(struct autolimit *al)
{
	return al->measure.on;
}
