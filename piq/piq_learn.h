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
 *     ever idle.) As conflicts are avoided once the layout is trusted, it
 *     is put to the test again now and then. Only requests of one size are
 *     compared, which need at most half of the chips. Trust takes 64 conflicts
 *     at least, however rare they are: what it has cost by then is bounded, not
 *     how long that lasts.
 *   - How many requests in flight does the FIFO need?
 *   - What does a request cost the device? The time since it was handed over, or
 *     since the last one before it on its chips ended.
 *
 * A busy device makes both conflicts and long waits, so a request's time is taken
 * relative to what requests usually take that find as many others in the device.
 */
#ifndef PIQ_LEARN_H
#define PIQ_LEARN_H

#include "../common/pace.h"
#include "piq_sched.h"

/* Requests of other sizes in a row after which another size is compared. */
#define PIQ_SIZE_MISSES		256

/* Requests that end between two tests of a trusted layout. */
#define PIQ_PROBE_EVERY		16384

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
 * @since:	requests that ended since the layout is trusted
 * @pct:	how sure the last evidence was
 * @pace:	the FIFO's bound
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
};

/** piq_learn_forget - the layout has changed, or is to be tested again */
static inline void piq_learn_forget(struct piq_sched *s, struct piq_learn *l)
{
	flash_confidence_reset(&l->conf[FLASH_READ]);
	flash_confidence_reset(&l->conf[FLASH_WRITE]);
	l->noted = 0;
	l->since = 0;
	flash_pace_break(&l->pace);
	s->trusted = false;
	s->epoch = false;
	s->lead = 0;
}

/** piq_learn_init - nothing is known */
static inline void piq_learn_init(struct piq_sched *s, struct piq_learn *l)
{
	memset(l, 0, sizeof(*l));
	flash_pace_init(&l->pace, PIQ_BOUND_START, PIQ_BOUND_MAX);
	piq_learn_forget(s, l);
}

/* Four steps an octave from 16 on. */
static inline u32 piq_load_class(u32 load)
{
	u32 octave, class;

	if (load < 16)
		return load;
	octave = flash_log2(load);
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

/* A request of that size has taken @ns: is the layout to be trusted? */
static inline void piq_learn_trust(struct piq_sched *s, struct piq_learn *l,
				   const struct piq_item *it, u64 ns)
{
	enum flash_dir dir = piq_dir(it);
	u64 *usual = &l->usual[dir][piq_load_class(it->load)];

	if (s->trusted) {
		if (++l->since < PIQ_PROBE_EVERY)
			return;
		piq_learn_forget(s, l);
	}
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
	l->pct = 100;
	s->trusted = true;
	l->since = 0;
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
	u32 chips = 4 * s->geo.nr_chips * s->tun.chip_depth;

	if (max)
		return max;
	/* Chips bound it, or queue_length. */
	if (s->mode != PIQ_AUTO)
		return ~0U;
	if (piq_aware(s))
		return chips > PIQ_BOUND_START ? chips : PIQ_BOUND_START;
	return flash_pace_bound(&l->pace);
}

/* How long did its chips work on it? */
static inline void piq_learn_cost(struct piq_sched *s,
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

	if (s->mode != PIQ_AUTO)
		return;
	/* Whoever was held back is so until a request ends. */
	if (s->out >= piq_bound(s, l, max) && piq_waiting(s))
		l->pace.full = true;
	if (it->kind != PIQ_OTHER) {
		l->pace.moved += it->sectors;
		if (s->geo.nr_chips)
			piq_learn_cost(s, it, now);
		if (s->geo.nr_chips && piq_learn_size(s, l, it))
			piq_learn_trust(s, l, it, ns);
	}
	/* Only while it is the climb's bound that rules, all the time of a pair. */
	flash_pace_end(&l->pace, s->out == 1, !max && !piq_aware(s), now);
}

#endif /* PIQ_LEARN_H */
