/* SPDX-License-Identifier: GPL-2.0 */
/*
 * learn.h - what PIQ learns about a device: types and contracts
 *
 * The device's lock (flash_queue.lock) guards all of it.
 */
#ifndef PIQ_LEARN_H
#define PIQ_LEARN_H

#include <linux/minmax.h>

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
 * @urgent_at:	time of the latest completion of an urgent request, ns; 0: none yet
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

/**
 * piq_follow_depth - give each chip as many requests as the search says
 * @s: the device
 * @l: state of the learning
 *
 * During the comparison of layout and FIFO it is the best known depth, not one on trial.
 */
static inline void piq_follow_depth(struct piq_sched *s, const struct piq_learn *l)
{
	u32 depth = l->trial ? l->deep.climb.limit : flash_pace_limit(&l->deep);

	if (!s->tun.chip_depth && s->depth != depth)
		piq_set_depth(s, depth);
}

/**
 * piq_limit - the in-flight limit
 * @s: the device
 * @l: state of the learning
 * @max: the limit that the user has set; 0: it is found
 *
 * Return: the limit, in requests. The chips limit the paper's modes, or queue_length.
 */
static inline u32 piq_limit(const struct piq_sched *s, const struct piq_learn *l, u32 max)
{
	if (max || s->mode != PIQ_AUTO)
		return max ? max : ~0U;
	if (piq_aware(s))
		return max_t(u32, 4 * s->geo.nr_chips * s->depth, PIQ_BOUND_START);
	return flash_pace_limit(&l->pace);
}

void piq_learn_init(struct piq_sched *s, struct piq_learn *l);
void piq_learn_forget(struct piq_sched *s, struct piq_learn *l);
u32 piq_learn_completion(struct piq_sched *s, struct piq_learn *l,
			 const struct piq_req *req, u32 max, u64 now);
u32 piq_learn_pct(const struct piq_sched *s, const struct piq_learn *l);

#endif /* PIQ_LEARN_H */
