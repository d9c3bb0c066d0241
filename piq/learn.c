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
 * found by a search, see depth_search.h. A FIFO without a layout in which no request was
 * urgent so far needs no limit: it has no choice, so the device may as well have all requests.
 * Then nothing is learned, and no end of a request is reported (flash_queue.watches).
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
 * Entry points: piq_learn_completion() for each end that is reported, piq_learn_forget() after a
 * change of the layout.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../common/estimate/pace.h"
#include "sched.h"

/* A layout is trusted if conflicts cost this many standard errors, and this many percent */
#define PIQ_TRUST_Z		6
#define PIQ_TRUST_PCT		10

/* Requests of either sort below which nothing is concluded */
#define PIQ_TRUST_MIN		64

/* Requests of a sort below which none is forgotten as time passes */
#define PIQ_TRUST_RETAINED	(4 * PIQ_TRUST_MIN)

/*
 * Times are in units of 1024 ns, at most 2^23 units (8.6 s), and a sort counts fewer than 2^16
 * requests: the sum of the squares is less than 2^62.
 */
#define PIQ_TIME_SHIFT		10
#define PIQ_TIME_MAX		(1ULL << 23)
#define PIQ_TIMES_MAX		(1U << 16)

/**
 * struct piq_times - service times of one sort of requests
 * @nr:		number of requests, below PIQ_TIMES_MAX
 * @sum:	sum of the times, 1024 ns
 * @squares:	sum of their squares
 */
struct piq_times {
	u32 nr;
	u64 sum;
	u64 squares;
};

/**
 * struct piq_evidence - the evidence for a layout, from requests of one direction and size
 * @times: of requests without [0] and with [1] a predicted conflict
 */
struct piq_evidence {
	struct piq_times times[2];
};

/* Between two reviews of a trusted layout; below this confidence it is distrusted, % */
#define PIQ_REVIEW_EVERY	(2 * PIQ_TRUST_MIN * PIQ_PROBE_NTH)
#define PIQ_DISTRUST_PCT	50

/* Without an urgent request for this time, ns, the load has none */
#define PIQ_URGENT_NS		1000000000

/* The values of piq_learn.pays, which are compared like two in-flight limits */
#define PIQ_BY_LAYOUT		1
#define PIQ_BY_FIFO		2

/* Smallest chip depth with reads and writes but no urgent requests, and the largest */
#define PIQ_DEPTH_MIXED		2
#define PIQ_DEPTH_MAX		8

/* First and largest in-flight limit of the FIFO; `none` mostly has the largest */
#define PIQ_BOUND_START		64
#define PIQ_BOUND_MAX		1024

/* Classes of load that are distinguished */
#define PIQ_LOADS		64

/**
 * struct piq_compared - the requests of a direction that are compared
 * @evidence:	evidence for the layout
 * @sectors:	their size; 0: that of the next request
 * @chips:	number of chips of each
 * @misses:	requests of other sizes in a row
 * @usual:	moving average of their time by class of load, ns; 0: unknown
 */
struct piq_compared {
	struct piq_evidence evidence;
	u32 sectors;
	u32 chips;
	u32 misses;
	u64 usual[PIQ_LOADS];
};

/**
 * struct piq_learn - state of the learning about a device
 * @pace:	search for the FIFO's in-flight limit
 * @deep:	search for the chip depth
 * @aside:	the search for the chip depth of the other case: with urgent requests, or
 *		without, whichever is not the case now; climb.start is 0 if there is none
 * @pays:	comparison of PIQ_BY_LAYOUT and PIQ_BY_FIFO
 * @trial:	that comparison is running
 * @mix:	0 to PIQ_MIX_MAX: how much the load consists of reads and writes
 * @mixed:	it does; stays set until @mix is low
 * @last_dir:	direction of the latest completed request
 * @urgent_at:	time of the latest completion of an urgent request, ns; 0: none, or @urgent
 *		is over
 * @urgent:	that was less than PIQ_URGENT_NS ago
 * @compared:	requests that are compared, by direction
 * @noted:	compared requests since some evidence was forgotten
 * @since:	compared requests since the layout was trusted or reviewed
 * @pct:	confidence at the latest review, %
 * @ended:	time of the latest completion on each chip, ns
 * @ended_nth:	piq_start.nth of that request
 */
struct piq_learn {
	struct flash_pace pace;
	struct flash_pace deep;
	struct flash_pace aside;
	struct flash_pace pays;
	bool trial;
	u32 mix;
	bool mixed;
	enum flash_dir last_dir;
	u64 urgent_at;
	bool urgent;
	struct piq_compared compared[FLASH_NR_DIRS];
	u32 noted;
	u32 since;
	u32 pct;
	u64 ended[FLASH_MAX_CHIPS];
	u64 ended_nth[FLASH_MAX_CHIPS];
};

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

/* Size of struct piq_learn, which the caller of piq_learn_init() allocates */
const size_t piq_learn_size = sizeof(struct piq_learn);

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

/* Do both directions wait? */
static inline bool piq_both_wait(const struct piq_sched *s)
{
	return s->waiting[PIQ_READ] && s->waiting[PIQ_WRITE];
}

/* The value of @mix after the end of a read or a write */
static inline u32 piq_next_mix(const struct piq_sched *s, const struct piq_learn *l,
			       const struct piq_req *req)
{
	if (piq_dir(req) != l->last_dir || piq_both_wait(s))
		return min(l->mix + PIQ_MIX_UP, (u32)PIQ_MIX_MAX);
	return l->mix - !!l->mix;
}

/* Does the load consist of reads and writes at this @mix? */
static inline bool piq_next_mixed(const struct piq_learn *l, u32 mix)
{
	return l->mixed ? mix > PIQ_MIX_MAX / 4 : mix >= PIQ_MIX_MAX / 2;
}

/* The load has begun, or has ceased, to consist of reads and writes. */
static noinline void piq_mixed_change(struct piq_learn *l)
{
	l->mixed = !l->mixed;
	piq_pays_restart(l);
	/* The chip depth of another load is of no use. */
	l->aside.climb.start = 0;
	if (!l->urgent)
		l->deep.climb.start = 0;
}

/* Update what is known of the load: reads and writes together, urgent requests. */
static inline void piq_learn_load(const struct piq_sched *s, struct piq_learn *l,
				  const struct piq_req *req, u64 now)
{
	if (req->urgent)
		l->urgent_at = now;
	l->urgent = l->urgent_at && now - l->urgent_at < PIQ_URGENT_NS;
	if (!l->urgent)
		l->urgent_at = 0;
	l->mix = piq_next_mix(s, l, req);
	l->last_dir = piq_dir(req);
	if (piq_next_mixed(l, l->mix) != l->mixed)
		piq_mixed_change(l);
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
	l->trial = false;
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
	u32 chips = req->chip != FLASH_NO_CHIP ? 1 : flash_chipvec_weight(&req->part.vec);

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

	if (!piq_is_comparable(s, c, req))
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

/* Learn from a read or a write, if there is a layout. */
static void piq_learn_chips(struct piq_sched *s, struct piq_learn *l,
			    const struct piq_req *req, u64 now)
{
	const struct piq_start *start = &req->start;

	/* No request is behind one that is alone. The FIFO needs no costs. */
	if ((l->mix || s->out > 1) && piq_aware(s))
		piq_learn_cost(s, l, req, now);
	/*
	 * A request that was alone met no other, nor could others like it. And the FIFO does
	 * not avoid busy chips, as those did that would be compared.
	 */
	if (start->load && !s->blind)
		piq_learn_trust(s, l, req, now > start->taken ? now - start->taken : 0);
}

/*
 * Give each chip as many requests as the search says. During the comparison of layout and
 * FIFO it is the best known depth, not one on trial.
 */
static inline void piq_follow_depth(struct piq_sched *s, const struct piq_learn *l)
{
	u32 depth = l->trial ? l->deep.climb.limit : flash_pace_limit(&l->deep);

	if (!s->tun.chip_depth && s->depth != depth)
		piq_set_depth(s, depth);
}

/*
 * The in-flight limit, in requests; @max: the one that the user has set, 0: it is found. The
 * chips limit the paper's modes.
 */
static inline u32 piq_limit(const struct piq_sched *s, const struct piq_learn *l, u32 max)
{
	if (max || s->mode != PIQ_AUTO)
		return max ? max : ~0U;
	if (piq_aware(s))
		return max_t(u32, 4 * s->geo.nr_chips * s->depth, PIQ_BOUND_START);
	return flash_pace_limit(&l->pace);
}

/**
 * struct piq_end - a completion, as the searches see it
 * @sectors:	sectors that it has moved
 * @waits:	requests were held back until now
 * @idle:	the device has no other request, and none is held back
 * @now:	the time, ns
 */
struct piq_end {
	u32 sectors;
	bool waits;
	bool idle;
	u64 now;
};

/* A search counts a completion, if its limit is in force. */
static inline void piq_count_end(struct flash_pace *p, const struct piq_end *e,
				 u32 sectors, bool full, bool rules)
{
	if (!rules) {
		flash_pace_skip(p, e->now);
		return;
	}
	p->full |= full;
	p->moved += sectors;
	flash_pace_end(p, e->idle, true, e->now);
}

/*
 * The layout is trusted: search the chip depth, and compare the layout with the FIFO, which may
 * replace it. It may not with urgent requests, or if the user has set a chip depth. There is
 * nothing to compare with reads or writes only and no limit of the user: the device's own
 * queues do as well.
 */
static void piq_learn_order(struct piq_sched *s, struct piq_learn *l,
			    const struct piq_req *req, const struct piq_end *e, bool full,
			    u32 max)
{
	bool may_fifo = !s->tun.chip_depth && !l->urgent;
	bool compare = l->mixed || max, aware = piq_aware(s);

	l->trial = l->pays.climb.high && may_fifo && compare;
	/* Each limit is measured only while it is in force for the whole of a pair of windows. */
	piq_count_end(&l->pace, e, e->sectors, full, !max && !l->trial && !aware);
	/* The first completions are of what another depth has sent to the device. */
	l->deep.least = max(PIQ_DEEP_TIMES * s->out, (u32)FLASH_PACE_ENDS);
	piq_count_end(&l->deep, e, e->sectors, e->waits,
		      !s->tun.chip_depth && !l->trial && aware);
	piq_follow_depth(s, l);
	/* The comparison of layout and FIFO must not hurt reads. */
	piq_count_end(&l->pays, e, !l->mixed || req->kind == PIQ_READ ? e->sectors : 0,
		      e->waits, may_fifo && compare);
	piq_set_blind(s, may_fifo && (!compare ||
				      flash_pace_limit(&l->pays) == PIQ_BY_FIFO));
}

/**
 * piq_learn_settings - settings of the user have changed
 * @s: the device
 * @l: state of the learning
 * @max: the in-flight limit that the user has set; 0: none
 *
 * Return: the in-flight limit from now on.
 */
u32 piq_learn_settings(struct piq_sched *s, const struct piq_learn *l, u32 max)
{
	piq_follow_depth(s, l);
	return piq_limit(s, l, max);
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
	struct piq_end e = { .waits = piq_waiting(s), .now = now };
	bool full;

	if (s->mode != PIQ_AUTO)
		return piq_limit(s, l, max);
	/* Waiting requests were held back until now. */
	full = e.waits && s->out >= piq_limit(s, l, max);
	/* If requests are held back the device does not lack any. */
	e.idle = s->out == 1 && !e.waits;
	if (req->kind != PIQ_OTHER) {
		e.sectors = req->sectors;
		piq_learn_load(s, l, req, now);
		if (s->geo.nr_chips)
			piq_learn_chips(s, l, req, now);
	}
	if (piq_trusts(s)) {
		piq_learn_order(s, l, req, &e, full, max);
	} else {
		piq_count_end(&l->pace, &e, e.sectors, full, !max);
		piq_follow_depth(s, l);
	}
	return piq_limit(s, l, max);
}
