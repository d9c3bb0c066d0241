// SPDX-License-Identifier: GPL-2.0
/*
 * learn.c - what PIQ learns about a device as requests complete
 *
 * Problem: a layout may be wrong, or right and no gain; and what a device needs differs from
 * device to device. Four questions are answered:
 *
 * Is the layout right? If it is, requests for which it predicts a conflict (one of their
 * chips is busy when they are dispatched) take longer than others. The layout is trusted if
 * the two mean times differ by at least six standard errors, so that it is no luck, and by at
 * least a tenth, so that it is a gain. Only requests of one direction and size are compared,
 * which need at most half of the chips. A busy device makes both conflicts and long times, so
 * a time is taken relative to the usual one at the same number of outstanding requests.
 * - Until the layout is trusted mode auto is a FIFO, which makes conflicts: requests
 *   with a chip that had more than its share of the outstanding requests are compared with the
 *   others.
 *   (Under a deep FIFO no chip is ever idle.) Once it is trusted, requests sent to a full
 *   chip are compared with the others.
 * - Trust takes at least 64 conflicts, however rare they are, and so does distrust. This
 *   bounds the cost of the measurement, but not its duration.
 *
 * How many requests in flight does the FIFO need, and how many does each chip need? Each is
 * found by a search, see depth_search.h.
 *
 * Does the order gain anything? It does where some requests are preferred, or where not all
 * of them can be in the device. With reads only, or writes only, none of them urgent, and no
 * limit set by the user, each chip serves its requests in order of arrival anyway, and mode
 * auto stays a FIFO. Otherwise a right layout can still cost throughput, if it is not right
 * for all pages or if the device reorders. So the order is compared with the FIFO now and
 * then.
 *
 * What does a request cost the device? The time since its dispatch, or since the latest
 * completion on its chips before it.
 *
 * Invariant: the evidence is forgotten when trust begins or ends, because other requests are
 * compared from then on.
 *
 * Entry points: piq_learn_completion() for each completed request, piq_learn_forget() after a
 * change of the layout.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "learn.h"

/* Requests of other sizes in a row after which another size is compared */
#define PIQ_SIZE_MISSES		256

/* Compared requests after which part of the evidence is forgotten; between two looks at it */
#define PIQ_FORGET_EVERY	16384
#define PIQ_LOOK_EVERY		32

/* A new sample's part in the usual time is 1 in this many */
#define PIQ_USUAL_WEIGHT	16

/* The usual time is noted as this many ns. */
#define PIQ_USUAL_NS		(1U << 20)

/*
 * piq_learn.mix rises by this much at a completion while both directions wait, or of another
 * direction than the last one. It falls by 1 at any other.
 */
#define PIQ_MIX_UP		16
#define PIQ_MIX_MAX		4096

/*
 * The comparison of layout and FIFO: completions in a window, as it begins with what the
 * other one has sent to the device; by how much the FIFO has to move more (2 %); and windows
 * between two comparisons, during which reads have long tails.
 */
#define PIQ_PAYS_ENDS		256
#define PIQ_PAYS_GAIN		FLASH_CLIMB_LITTLE
#define PIQ_PAYS_REST		512
#define PIQ_PAYS_REST_MAX	16384

/* Chip depth that the search starts from: nearly always enough */
#define PIQ_DEPTH_START		3

/* Windows between two trials of the search: least with reads and writes, and most */
#define PIQ_MIXED_REST		64
#define PIQ_DEEP_REST_MAX	4096

/* Completions in one of its windows, for each outstanding request */
#define PIQ_DEEP_TIMES		3

/* Evidence */

static void piq_evidence_reset(struct piq_evidence *e)
{
	memset(e, 0, sizeof(*e));
}

static void piq_times_halve(struct piq_times *t)
{
	t->nr /= 2;
	t->sum /= 2;
	t->squares /= 2;
}

/*
 * A request took @ns. A sort that has counted enough forgets half of its past, so that new
 * evidence outweighs old. A sort that no longer occurs keeps what is known of it: a scheduler
 * that avoids conflicts sees few.
 */
static void piq_evidence_note(struct piq_evidence *e, bool conflict, u64 ns)
{
	struct piq_times *t = &e->times[conflict];
	u64 time = min_t(u64, ns >> PIQ_TIME_SHIFT, PIQ_TIME_MAX);

	t->nr++;
	t->sum += time;
	t->squares += time * time;
	if (t->nr == PIQ_TIMES_MAX)
		piq_times_halve(t);
}

/*
 * Forget half of the evidence, but not of a sort with few requests: where conflicts are rare
 * many such times pass until they are enough.
 */
static void piq_evidence_age(struct piq_evidence *e)
{
	u32 sort;

	for (sort = 0; sort < 2; sort++) {
		if (e->times[sort].nr >= PIQ_TRUST_RETAINED)
			piq_times_halve(&e->times[sort]);
	}
}

/* From now on the evidence counts a quarter. */
static void piq_evidence_fade(struct piq_evidence *e)
{
	u32 sort;

	for (sort = 0; sort < 2; sort++) {
		piq_times_halve(&e->times[sort]);
		piq_times_halve(&e->times[sort]);
	}
}

/* Mean in 1/256 units, below 2^32 */
static u64 piq_times_mean(const struct piq_times *t)
{
	return (t->sum << 8) / t->nr;
}

/* Square of the mean's standard error, in 1/4096 square units */
static u64 piq_times_error(const struct piq_times *t)
{
	u64 mean = piq_times_mean(t);
	u64 square = t->squares / t->nr, of_mean = (mean * mean) >> 16;
	/* One more, because times are rounded down to whole units */
	u64 variance = (square > of_mean ? square - of_mean : 0) + 1;

	return (variance << 12) / t->nr + 1;
}

/*
 * Confidence that the layout pays: 100 if both conditions of trust hold; otherwise how near
 * the worse one is, 0 to 99. 0 if too little is known or conflicts are not slower.
 */
static u32 piq_evidence_pct(const struct piq_evidence *e)
{
	const struct piq_times *none = &e->times[0], *some = &e->times[1];
	u64 fast, slow, diff, z100, effect;

	if (none->nr < PIQ_TRUST_MIN || some->nr < PIQ_TRUST_MIN)
		return 0;
	fast = piq_times_mean(none);
	slow = piq_times_mean(some);
	if (slow <= fast)
		return 0;
	diff = slow - fast;
	/* diff / 2^8 over the root of the errors / 2^12, in percent */
	z100 = diff * 100 / int_sqrt64((piq_times_error(none) +
					piq_times_error(some)) << 4);
	/* If the mean is 0 the least unit is a large effect. */
	effect = diff * 10000 / (fast + !fast) / PIQ_TRUST_PCT;
	return (u32)min_t(u64, min(z100 / PIQ_TRUST_Z, effect), 100);
}

/* A change of the load */

/*
 * The load has changed, so compare the layout and the FIFO again. With reads and writes, only
 * after a rest: in a trial every other read may wait for a write.
 */
static void piq_pays_restart(struct piq_learn *l)
{
	struct flash_climb *c = &l->pays.climb;

	flash_pace_init(&l->pays, PIQ_BY_LAYOUT, PIQ_BY_FIFO);
	l->pays.least = PIQ_PAYS_ENDS;
	c->gain = PIQ_PAYS_GAIN;
	c->early = true;
	c->rest_min = PIQ_PAYS_REST;
	c->rest_max = PIQ_PAYS_REST_MAX;
	c->rests = PIQ_PAYS_REST;
	if (l->mixed)
		flash_climb_rest(c);
}

/*
 * If the load has changed, search the chip depth of the new one. Each request more on a chip
 * delays an urgent one, and reads that wait here hold back writes. With reads and writes, none
 * of them urgent, the depth is never 1: between two reads a chip would serve a write, or
 * nothing. That moves little less, but reads wait for the writes, so not even a trial is worth
 * it; and trials are more seldom. Urgent requests may start and stop every second, which
 * is shorter than a search, so the searches of the two cases continue where they were.
 */
static noinline void piq_depth_restart(struct piq_learn *l, u32 least)
{
	struct flash_climb *c = &l->deep.climb;

	swap(l->deep, l->aside);
	if (c->start == least) {
		flash_pace_break(&l->deep);
		return;
	}
	flash_pace_init(&l->deep, least, PIQ_DEPTH_MAX);
	c->early = true;
	c->rest_max = PIQ_DEEP_REST_MAX;
	if (least > 1)
		c->rest_min = c->rests = PIQ_MIXED_REST;
	flash_climb_from(c, PIQ_DEPTH_START);
}

static void piq_learn_depth(struct piq_learn *l)
{
	u32 least = l->mixed && !l->urgent ? PIQ_DEPTH_MIXED : 1;

	if (l->deep.climb.start != least)
		piq_depth_restart(l, least);
}

/* Update what is known of the load: reads and writes together, urgent requests. */
static void piq_learn_load(const struct piq_sched *s, struct piq_learn *l,
			   const struct piq_req *req, u64 now)
{
	enum flash_dir dir = piq_dir(req);
	bool mixed;

	if (req->urgent)
		l->urgent_at = now;
	l->urgent = l->urgent_at && now - l->urgent_at < PIQ_URGENT_NS;
	if (dir != l->last_dir || (s->waiting[PIQ_READ] && s->waiting[PIQ_WRITE]))
		l->mix = min(l->mix + PIQ_MIX_UP, (u32)PIQ_MIX_MAX);
	else if (l->mix)
		l->mix--;
	l->last_dir = dir;
	mixed = l->mixed ? l->mix > PIQ_MIX_MAX / 4 : l->mix >= PIQ_MIX_MAX / 2;
	if (l->mixed != mixed) {
		l->mixed = mixed;
		piq_pays_restart(l);
		/* The chip depth of another load is of no use. */
		l->aside.climb.start = 0;
		if (!l->urgent)
			l->deep.climb.start = 0;
	}
	piq_learn_depth(l);
}

/* Trust */

/**
 * piq_learn_forget - the layout has changed, or is no longer trusted
 * @s: the device
 * @l: state of the learning
 */
void piq_learn_forget(struct piq_sched *s, struct piq_learn *l)
{
	piq_evidence_reset(&l->compared[FLASH_READ].evidence);
	piq_evidence_reset(&l->compared[FLASH_WRITE].evidence);
	l->noted = 0;
	l->since = 0;
	l->pct = 0;
	flash_pace_break(&l->pace);
	flash_pace_break(&l->deep);
	piq_pays_restart(l);
	s->trusted = false;
	s->blind = false;
	s->pick.epoch = false;
	s->pick.deficit = 0;
}

/**
 * piq_learn_init - nothing is known
 * @s: the device
 * @l: set to that
 */
void piq_learn_init(struct piq_sched *s, struct piq_learn *l)
{
	memset(l, 0, sizeof(*l));
	flash_pace_init(&l->pace, PIQ_BOUND_START, PIQ_BOUND_MAX);
	l->pace.climb.early = true;
	piq_learn_depth(l);
	piq_learn_forget(s, l);
}

/* The class of a number of outstanding requests: four an octave from 16 on */
static u32 piq_load_class(u32 load)
{
	u32 octave;

	if (load < 16)
		return load;
	octave = (u32)ilog2(load);
	return min(16 + 4 * (octave - 4) + ((load >> (octave - 2)) & 3), PIQ_LOADS - 1U);
}

static u32 piq_confidence(const struct piq_learn *l)
{
	return max(piq_evidence_pct(&l->compared[FLASH_READ].evidence),
		   piq_evidence_pct(&l->compared[FLASH_WRITE].evidence));
}

/* Is a request of the size that is compared? */
static bool piq_is_comparable(struct piq_sched *s, struct piq_compared *c,
			      const struct piq_req *req)
{
	u32 chips = flash_chipvec_weight(&req->part.vec);

	if (req->part.vec.generation != s->geo.generation || !chips ||
	    (chips > 1 && chips * 2 > s->geo.nr_chips))
		return false;
	if (c->sectors == req->sectors && c->chips == chips) {
		c->misses = 0;
		return true;
	}
	if (c->sectors && ++c->misses < PIQ_SIZE_MISSES)
		return false;
	memset(c, 0, sizeof(*c));
	c->sectors = req->sectors;
	c->chips = chips;
	return true;
}

/* Does a trusted layout, which has been used for a while, still pay? */
static void piq_review(struct piq_sched *s, struct piq_learn *l)
{
	struct piq_evidence *read = &l->compared[FLASH_READ].evidence;
	struct piq_evidence *write = &l->compared[FLASH_WRITE].evidence;

	l->since = 0;
	if (read->times[1].nr < PIQ_TRUST_MIN && write->times[1].nr < PIQ_TRUST_MIN)
		return;
	l->pct = piq_confidence(l);
	if (l->pct < PIQ_DISTRUST_PCT) {
		piq_learn_forget(s, l);
		return;
	}
	piq_evidence_fade(read);
	piq_evidence_fade(write);
}

/* Is there enough evidence by now to trust a layout? */
static void piq_consider_trust(struct piq_sched *s, struct piq_learn *l)
{
	if (++l->noted % PIQ_LOOK_EVERY)
		return;
	/* New evidence outweighs old. */
	if (l->noted >= PIQ_FORGET_EVERY) {
		l->pct = piq_confidence(l);
		piq_evidence_age(&l->compared[FLASH_READ].evidence);
		piq_evidence_age(&l->compared[FLASH_WRITE].evidence);
		l->noted = 0;
		return;
	}
	if (piq_confidence(l) < 100)
		return;
	piq_learn_forget(s, l);
	l->pct = 100;
	piq_trust(s);
}

/* A comparable request has taken @ns: is the layout to be trusted? */
static noinline void piq_learn_trust(struct piq_sched *s, struct piq_learn *l,
			    const struct piq_req *req, u64 ns)
{
	struct piq_compared *c = &l->compared[piq_dir(req)];
	u64 *usual;

	if (!piq_is_comparable(s, c, req) || s->blind)
		return;
	usual = &c->usual[piq_load_class(req->start.load)];
	ns = clamp(ns, 1ULL, FLASH_COST_LONGEST);
	if (!*usual)
		*usual = ns;
	piq_evidence_note(&c->evidence, req->start.busy,
			  ns * PIQ_USUAL_NS / *usual);
	*usual = max((*usual * (PIQ_USUAL_WEIGHT - 1) + ns) / PIQ_USUAL_WEIGHT, 1ULL);
	if (!s->trusted)
		piq_consider_trust(s, l);
	else if (++l->since >= PIQ_REVIEW_EVERY)
		piq_review(s, l);
}

/**
 * piq_learn_pct - the confidence that the layout is right
 * @s: the device
 * @l: state of the learning
 *
 * Return: 0 to 100.
 */
u32 piq_learn_pct(const struct piq_sched *s, const struct piq_learn *l)
{
	if (!s->geo.nr_chips)
		return 0;
	return s->trusted || l->noted < PIQ_FORGET_EVERY / 16 ?
	       l->pct : piq_confidence(l);
}

/* Completions */

/*
 * Learn how long its chips worked on a request. That matters where reads and writes meet, but
 * the completions on each chip have to be known by then.
 */
static noinline void piq_learn_cost(struct piq_sched *s, struct piq_learn *l,
			   const struct piq_req *req, u64 now)
{
	u64 begun = req->start.taken;
	u32 chip;

	flash_for_each_chip(chip, &req->part.vec) {
		/* A request of a later dispatch was served behind this one. */
		if (l->ended_nth[chip] < req->start.nth && l->ended[chip] > begun)
			begun = l->ended[chip];
		l->ended[chip] = now;
		l->ended_nth[chip] = req->start.nth;
	}
	/* Other requests may have kept its unknown chips busy. */
	if (!l->mix || req->sector == FLASH_NO_SECTOR)
		return;
	flash_cost_learn(&s->cost, piq_dir(req), req->sectors,
			 now > begun ? now - begun : 0);
}

/* Learn from a read or a write. */
static void piq_learn_data(struct piq_sched *s, struct piq_learn *l,
			   const struct piq_req *req, u64 now)
{
	const struct piq_start *start = &req->start;

	piq_learn_load(s, l, req, now);
	l->pace.moved += req->sectors;
	l->deep.moved += req->sectors;
	/* The comparison of layout and FIFO must not hurt reads. */
	if (!l->mixed || req->kind == PIQ_READ)
		l->pays.moved += req->sectors;
	if (!s->geo.nr_chips)
		return;
	/* No request is behind one that is alone. */
	if (l->mix || s->out > 1)
		piq_learn_cost(s, l, req, now);
	/* A request that was alone met no other, nor could others like it. */
	if (start->load)
		piq_learn_trust(s, l, req, now > start->taken ? now - start->taken : 0);
}

/*
 * The layout is trusted: search the chip depth, and compare the layout with the FIFO, which may
 * replace it. It may not with urgent requests, or if the user has set a chip depth. There is
 * nothing to compare with reads or writes only and no limit of the user: the device's own
 * queues do as well.
 */
static noinline void piq_learn_order(struct piq_sched *s, struct piq_learn *l, u32 max,
				     bool idle, u64 now)
{
	bool may_fifo = !s->tun.chip_depth && !l->urgent;
	bool compare = l->mixed || max;

	l->trial = l->pays.climb.high && may_fifo && compare;
	/* Each limit is measured only while it is in force for the whole of a pair of windows. */
	flash_pace_end(&l->pace, idle, !max && !l->trial && !piq_aware(s), now);
	/* The first completions are of what another depth has sent to the device. */
	l->deep.least = max(PIQ_DEEP_TIMES * s->out, (u32)FLASH_PACE_ENDS);
	flash_pace_end(&l->deep, idle,
		       !s->tun.chip_depth && !l->trial && piq_aware(s), now);
	piq_follow_depth(s, l);
	flash_pace_end(&l->pays, idle, may_fifo && compare, now);
	s->blind = may_fifo &&
		   (!compare || flash_pace_limit(&l->pays) == PIQ_BY_FIFO);
}

/**
 * piq_learn_completion - a request that was outstanding has completed
 * @s: the device, before piq_release()
 * @l: state of the learning
 * @req: the request
 * @max: the in-flight limit that the user has set; 0: none
 * @now: the time, ns
 *
 * Return: the in-flight limit from now on.
 */
u32 piq_learn_completion(struct piq_sched *s, struct piq_learn *l,
			 const struct piq_req *req, u32 max, u64 now)
{
	bool waits = piq_waiting(s), idle;

	if (s->mode != PIQ_AUTO)
		return piq_limit(s, l, max);
	/* Waiting requests were held back until now. */
	if (waits) {
		if (s->out >= piq_limit(s, l, max))
			l->pace.full = true;
		l->deep.full = true;
		l->pays.full = true;
	}
	if (req->kind != PIQ_OTHER)
		piq_learn_data(s, l, req, now);
	/* If requests are held back the device does not lack any. */
	idle = s->out == 1 && !waits;
	if (piq_trusts(s)) {
		piq_learn_order(s, l, max, idle, now);
	} else {
		l->trial = false;
		flash_pace_end(&l->pace, idle, !max, now);
		piq_follow_depth(s, l);
	}
	return piq_limit(s, l, max);
}
