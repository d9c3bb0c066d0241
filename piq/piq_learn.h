/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq_learn.h - what PIQ finds out about a device as requests end
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 *   - Does the layout pay? Until that is known mode auto is a FIFO, which makes
 *     conflicts as they come, and requests whose chips had more than their share
 *     of what was out are compared with the others. (Under a deep FIFO no chip is
 *     ever idle.) Once the layout is trusted those are compared with others that
 *     went to a chip that had all it is given: see piq_pick.h. Only requests of
 *     one size are compared, which need at most half of the chips. Trust takes 64
 *     conflicts at least, however rare they are: what it has cost by then is
 *     bounded, not how long that lasts. So does distrust.
 *   - How many requests in flight does the FIFO need? And each chip, if the
 *     layout is trusted?
 *   - Would the FIFO move more than a layout that is trusted?
 *   - What does a request cost the device? The time since it was handed over, or
 *     since the last one before it on its chips ended.
 *
 * A busy device makes both conflicts and long waits, so a request's time is taken
 * relative to what requests usually take that find as many others in the device.
 */
#ifndef PIQ_LEARN_H
#define PIQ_LEARN_H

#include <linux/log2.h>

#include "../common/estimate/pace.h"
#include "piq_sched.h"

/* Requests of other sizes in a row after which another size is compared. */
#define PIQ_SIZE_MISSES		256

/* Requests that are compared until evidence of long ago is forgotten. */
#define PIQ_PROBE_EVERY		16384

/* Between two looks at a trusted layout; it stays one if that is so sure, %. */
#define PIQ_DOUBT_EVERY		(2 * FLASH_TRUST_MIN * PIQ_PROBE_NTH)
#define PIQ_DOUBT		50

/*
 * Where it matters who goes first: reads and writes together, and real-time
 * requests at least once a second. The first is up by 16 at each end while both
 * directions wait, or of the other one than the last, and down by 1 at any other.
 */
#define PIQ_MIX_UP		16
#define PIQ_MIX_MAX		4096
#define PIQ_RUSH_NS		1000000000

/*
 * The layout and the FIFO are compared like two bounds. A window has so many ends,
 * as it begins with what the other one has put into the device; the FIFO has to
 * move 2 % more.
 */
#define PIQ_BY_LAYOUT		1
#define PIQ_BY_FIFO		2
#define PIQ_PAYS_ENDS		256
#define PIQ_PAYS_GAIN		FLASH_CLIMB_LITTLE

/* Windows between two such trials: while it lasts, the FIFO has long tails. */
#define PIQ_PAYS_REST		512
#define PIQ_PAYS_REST_MAX	16384

/*
 * What a chip is given at a time: nearly always enough, the least of reads and writes
 * together, and the most.
 */
#define PIQ_DEPTH_START		3
#define PIQ_DEPTH_MIXED		2
#define PIQ_DEPTH_MAX		8

/* Windows between two trials of it: the least of reads and writes, and the most. */
#define PIQ_MIXED_REST		64
#define PIQ_DEEP_REST_MAX	4096

/* A window of its search sees so many times what is out. */
#define PIQ_DEEP_TIMES		3

/* Samples between two looks at the evidence. */
#define PIQ_LOOK_EVERY		32

/* The FIFO's bound: no smaller, no larger; what none has anyway, most often. */
#define PIQ_BOUND_START		64
#define PIQ_BOUND_MAX		1024

/* Kinds of load that are told apart, and the weight of a sample in each. */
#define PIQ_LOADS		64
#define PIQ_USUAL_WEIGHT	16

/* What usually takes so long is noted as that, ns. */
#define PIQ_USUAL_NS		(1U << 20)

/**
 * struct piq_learn - what is known of a device
 * @conf:	evidence for the layout, from reads and from writes
 * @sectors:	size of the requests that are compared; 0: that of the next one
 * @chips:	and the chips that each has
 * @misses:	requests of other sizes in a row
 * @usual:	what these usually take, by others in the device
 * @noted:	samples since the evidence was last forgotten, or some of it
 * @since:	requests compared since the layout was trusted, or looked at
 * @pct:	how sure the last evidence was
 * @pace:	the FIFO's bound
 * @deep:	the bound of each chip
 * @aside:	the same search beside real-time requests, or without, whichever is not
 *		the case now; its start is 0 if there is none
 * @pays:	one of PIQ_BY_LAYOUT and PIQ_BY_FIFO
 * @trial:	these two are compared now
 * @mix:	up to PIQ_MIX_MAX: reads and writes together
 * @mixed:	they are, until @mix is low
 * @last:	direction of the last request that ended
 * @rush:	when the last real-time request ended, ns; 0: none has
 * @urgent:	that was less than a second ago
 */
struct piq_learn {
	struct flash_confidence conf[FLASH_NR_DIRS];
	u32 sectors[FLASH_NR_DIRS];
	u32 chips[FLASH_NR_DIRS];
	u32 misses[FLASH_NR_DIRS];
	u64 usual[FLASH_NR_DIRS][PIQ_LOADS];
	u32 noted;
	u32 since;
	u32 pct;
	struct flash_pace pace;
	struct flash_pace deep;
	struct flash_pace aside;
	struct flash_pace pays;
	bool trial;
	u32 mix;
	bool mixed;
	enum flash_dir last;
	u64 rush;
	bool urgent;
};

static inline bool piq_by_fifo(const struct piq_learn *l)
{
	return flash_pace_bound(&l->pays) == PIQ_BY_FIFO;
}

/*
 * How many requests each chip is given. Every one more is in the way of a real-time
 * request; and reads that wait here hold back writes. In the other one's trial it is
 * the best known.
 */
static inline void piq_follow_depth(struct piq_sched *s,
				    const struct piq_learn *l)
{
	if (!s->tun.chip_depth)
		piq_set_depth(s, l->trial ? l->deep.climb.bound :
			      flash_pace_bound(&l->deep));
}

/*
 * The layout and the FIFO are to be compared, for another load. If that has reads and
 * writes not before long: in a trial every other read may be behind a write.
 */
static inline void piq_learn_anew(struct piq_learn *l)
{
	flash_pace_init(&l->pays, PIQ_BY_LAYOUT, PIQ_BY_FIFO);
	l->pays.least = PIQ_PAYS_ENDS;
	l->pays.climb.gain = PIQ_PAYS_GAIN;
	l->pays.climb.early = true;
	l->pays.climb.rest_min = PIQ_PAYS_REST;
	l->pays.climb.rest_max = PIQ_PAYS_REST_MAX;
	l->pays.climb.rests = PIQ_PAYS_REST;
	if (l->mixed)
		flash_climb_rest(&l->pays.climb);
}

/*
 * What each chip is given is looked for anew if the load is another one. With reads
 * and writes, and none real-time, it is never one: a chip whose only read is on its
 * way back is at a write when the next one comes, or does nothing. That moves little
 * less, but reads wait for it, so that not even a trial is worth it. And others are
 * tried more seldom. Real-time requests may come and go every second, which is less
 * than a search takes: each of the two goes on where it was.
 */
static inline void piq_learn_depth(struct piq_learn *l)
{
	struct flash_climb *c = &l->deep.climb;
	u32 least = l->mixed && !l->urgent ? PIQ_DEPTH_MIXED : 1;
	struct flash_pace was;

	if (c->start == least)
		return;
	was = l->deep;
	l->deep = l->aside;
	l->aside = was;
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

/** piq_learn_forget - the layout has changed, or is trusted no more */
static inline void piq_learn_forget(struct piq_sched *s, struct piq_learn *l)
{
	flash_confidence_reset(&l->conf[FLASH_READ]);
	flash_confidence_reset(&l->conf[FLASH_WRITE]);
	l->noted = 0;
	l->since = 0;
	l->pct = 0;
	flash_pace_break(&l->pace);
	flash_pace_break(&l->deep);
	piq_learn_anew(l);
	s->trusted = false;
	s->blind = false;
	s->epoch = false;
	s->lead = 0;
}

/** piq_learn_init - nothing is known */
static inline void piq_learn_init(struct piq_sched *s, struct piq_learn *l)
{
	memset(l, 0, sizeof(*l));
	flash_pace_init(&l->pace, PIQ_BOUND_START, PIQ_BOUND_MAX);
	l->pace.climb.early = true;
	piq_learn_depth(l);
	piq_learn_forget(s, l);
}

/* Four steps an octave from 16 on. */
static inline u32 piq_load_class(u32 load)
{
	u32 octave, class;

	if (load < 16)
		return load;
	octave = (u32)ilog2(load);
	class = 16 + 4 * (octave - 4) + ((load >> (octave - 2)) & 3);
	return class < PIQ_LOADS ? class : PIQ_LOADS - 1;
}

static inline u32 piq_learn_sure(const struct piq_learn *l)
{
	u32 read = flash_confidence_pct(&l->conf[FLASH_READ]);
	u32 write = flash_confidence_pct(&l->conf[FLASH_WRITE]);

	return read > write ? read : write;
}

/* Is it of the size that is compared? */
static inline bool piq_learn_size(struct piq_sched *s, struct piq_learn *l,
				  const struct piq_item *it)
{
	u32 chips = flash_chipvec_weight(&it->part.vec);
	enum flash_dir dir = piq_dir(it);

	if (it->part.vec.generation != s->geo.generation || !chips ||
	    (chips > 1 && chips * 2 > s->geo.nr_chips))
		return false;
	if (l->sectors[dir] == it->sectors && l->chips[dir] == chips) {
		l->misses[dir] = 0;
		return true;
	}
	if (l->sectors[dir] && ++l->misses[dir] < PIQ_SIZE_MISSES)
		return false;
	l->sectors[dir] = it->sectors;
	l->chips[dir] = chips;
	l->misses[dir] = 0;
	flash_confidence_reset(&l->conf[dir]);
	memset(l->usual[dir], 0, sizeof(l->usual[dir]));
	return true;
}

/* A trusted layout has been followed for a while: does it still pay? */
static inline void piq_learn_doubt(struct piq_sched *s, struct piq_learn *l)
{
	const struct flash_confidence *c = l->conf;

	l->since = 0;
	if (c[FLASH_READ].kind[1].nr < FLASH_TRUST_MIN &&
	    c[FLASH_WRITE].kind[1].nr < FLASH_TRUST_MIN)
		return;
	l->pct = piq_learn_sure(l);
	if (l->pct < PIQ_DOUBT) {
		piq_learn_forget(s, l);
		return;
	}
	flash_confidence_fade(&l->conf[FLASH_READ]);
	flash_confidence_fade(&l->conf[FLASH_WRITE]);
}

static inline void piq_learn_mix(const struct piq_sched *s, struct piq_learn *l,
				 const struct piq_item *it, u64 now)
{
	enum flash_dir dir = piq_dir(it);
	bool mixed;

	if (it->urgent)
		l->rush = now;
	l->urgent = l->rush && now - l->rush < PIQ_RUSH_NS;
	if (dir != l->last || (s->waiting[PIQ_READ] && s->waiting[PIQ_WRITE]))
		l->mix += PIQ_MIX_UP;
	else if (l->mix)
		l->mix--;
	if (l->mix > PIQ_MIX_MAX)
		l->mix = PIQ_MIX_MAX;
	l->last = dir;
	mixed = l->mixed ? l->mix > PIQ_MIX_MAX / 4 : l->mix >= PIQ_MIX_MAX / 2;
	if (l->mixed != mixed) {
		l->mixed = mixed;
		piq_learn_anew(l);
		/* What each chip was given of another load is of no use. */
		l->aside.climb.start = 0;
		if (!l->urgent)
			l->deep.climb.start = 0;
	}
	piq_learn_depth(l);
}

/*
 * The FIFO may go although there is a layout. Not for real-time requests, nor if the
 * user has said what a chip is given.
 */
static inline bool piq_may_fifo(const struct piq_sched *s,
				const struct piq_learn *l)
{
	return piq_trusts(s) && !s->tun.chip_depth && !l->urgent;
}

/*
 * Is it to be found out which of them is better? If there are reads or writes only,
 * and the user has not set a bound, the device's own queues do as well.
 */
static inline bool piq_compares(const struct piq_learn *l, u32 max)
{
	return l->mixed || max;
}

/* A request of that size has taken @ns: is the layout to be trusted? */
static inline void piq_learn_trust(struct piq_sched *s, struct piq_learn *l,
				   const struct piq_item *it, u64 ns)
{
	enum flash_dir dir = piq_dir(it);
	u64 *usual = &l->usual[dir][piq_load_class(it->load)];

	if (s->blind)
		return;
	if (!ns)
		ns = 1;
	if (ns > FLASH_COST_LONGEST)
		ns = FLASH_COST_LONGEST;
	if (!*usual)
		*usual = ns;
	flash_confidence_note(&l->conf[dir], it->busy,
			      ns * PIQ_USUAL_NS / *usual);
	*usual = (*usual * (PIQ_USUAL_WEIGHT - 1) + ns) / PIQ_USUAL_WEIGHT;
	if (!*usual)
		*usual = 1;
	if (s->trusted) {
		if (++l->since >= PIQ_DOUBT_EVERY)
			piq_learn_doubt(s, l);
		return;
	}
	if (++l->noted % PIQ_LOOK_EVERY)
		return;
	/* Evidence of long ago must not outweigh that of today. */
	if (l->noted >= PIQ_PROBE_EVERY) {
		l->pct = piq_learn_sure(l);
		flash_confidence_age(&l->conf[FLASH_READ]);
		flash_confidence_age(&l->conf[FLASH_WRITE]);
		l->noted = 0;
		return;
	}
	if (piq_learn_sure(l) < 100)
		return;
	/* From here on other requests are compared. */
	piq_learn_forget(s, l);
	l->pct = 100;
	piq_trust(s);
}

/** piq_learn_pct - how sure it is that the layout pays, 0 to 100 */
static inline u32 piq_learn_pct(const struct piq_sched *s,
				const struct piq_learn *l)
{
	if (!s->geo.nr_chips)
		return 0;
	return s->trusted || l->noted < PIQ_PROBE_EVERY / 16 ?
	       l->pct : piq_learn_sure(l);
}

/**
 * piq_bound - how many requests may be out
 * @s: the device
 * @l: what is known of it
 * @max: what the user says; 0: we find it
 */
static inline u32 piq_bound(const struct piq_sched *s, const struct piq_learn *l,
			    u32 max)
{
	u32 chips = 4 * s->geo.nr_chips * s->depth;

	if (max)
		return max;
	/* Chips bound it, or queue_length. */
	if (s->mode != PIQ_AUTO)
		return ~0U;
	if (piq_aware(s))
		return chips > PIQ_BOUND_START ? chips : PIQ_BOUND_START;
	return flash_pace_bound(&l->pace);
}

/*
 * How long did its chips work on it? That matters where reads and writes meet, but
 * when a chip was done with the one before is to be known by then.
 */
static inline void piq_learn_cost(struct piq_sched *s, const struct piq_learn *l,
				  const struct piq_item *it, u64 now)
{
	u64 begun = it->taken;
	u32 chip;

	flash_for_each_chip(chip, &it->part.vec) {
		/* Not one that came later, behind the part that was done first. */
		if (s->ended_nth[chip] < it->nth && s->ended[chip] > begun)
			begun = s->ended[chip];
		s->ended[chip] = now;
		s->ended_nth[chip] = it->nth;
	}
	/* How long others kept unknown chips busy is not known. */
	if (!l->mix || it->sector == FLASH_NO_SECTOR)
		return;
	flash_cost_learn(&s->cost, piq_dir(it), it->sectors,
			 now > begun ? now - begun : 0);
}

/**
 * piq_learn_done - a request that counts has ended
 * @s: the device, before piq_give()
 * @l: what is known of it
 * @it: the request
 * @max: the bound that the user has set; 0: none
 * @now: the time, ns
 */
static inline void piq_learn_done(struct piq_sched *s, struct piq_learn *l,
				  const struct piq_item *it, u32 max, u64 now)
{
	u64 ns = now > it->taken ? now - it->taken : 0;
	bool waits = piq_waiting(s), fifo, compares, last;

	if (s->mode != PIQ_AUTO)
		return;
	/* Whoever was held back is so until a request ends. */
	if (waits) {
		if (s->out >= piq_bound(s, l, max))
			l->pace.full = true;
		l->deep.full = true;
		l->pays.full = true;
	}
	if (it->kind != PIQ_OTHER) {
		piq_learn_mix(s, l, it, now);
		l->pace.moved += it->sectors;
		l->deep.moved += it->sectors;
		/* Of both, it is the reads that do not suffer. */
		if (!l->mixed || it->kind == PIQ_READ)
			l->pays.moved += it->sectors;
		/* Nobody is behind one that is alone. */
		if (s->geo.nr_chips && (l->mix || s->out > 1))
			piq_learn_cost(s, l, it, now);
		/* Who was alone met nobody, nor could others like it. */
		if (s->geo.nr_chips && it->load && piq_learn_size(s, l, it))
			piq_learn_trust(s, l, it, ns);
	}
	fifo = piq_may_fifo(s, l);
	compares = piq_compares(l, max);
	l->trial = l->pays.climb.high && fifo && compares;
	/* Who is held back is not missing: the device has something to do. */
	last = s->out == 1 && !waits;
	/* Only while it is the climb's bound that rules, all the time of a pair. */
	flash_pace_end(&l->pace, last,
		       !max && !l->trial && !piq_aware(s), now);
	/* The others have not begun; trust begins with piq_learn_forget(). */
	if (!piq_trusts(s))
		return;
	/* First ends what the other depth has put into the device. */
	l->deep.least = PIQ_DEEP_TIMES * s->out;
	if (l->deep.least < FLASH_PACE_ENDS)
		l->deep.least = FLASH_PACE_ENDS;
	flash_pace_end(&l->deep, last,
		       !s->tun.chip_depth && !l->trial && piq_aware(s), now);
	piq_follow_depth(s, l);
	flash_pace_end(&l->pays, last, fifo && compares, now);
	s->blind = fifo && (!compares || piq_by_fifo(l));
}

#endif /* PIQ_LEARN_H */
