/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq.h - a device under PIQ, in discrete events
 *
 * Requests arrive, PIQ (the module's files) chooses the next one, and the device serves the
 * requests of each chip one after the other. After each event requests are dispatched as long
 * as PIQ and the in-flight limit allow it, as in the module.
 */
#ifndef PIQ_MODEL_H
#define PIQ_MODEL_H

#include <string.h>

#include "piq/learn.c"
#include "tap.h"

#define MAX_RQ		80000
#define MODEL_BASE	1000000

struct dev {
	struct piq_sched s;
	struct piq_learn l;
	struct flash_batch pool[PIQ_NR_BATCHES];
	struct piq_req req[MAX_RQ];
	bool waits[MAX_RQ];
	u64 due[MAX_RQ];		/* time of its completion by the device, ns */
	u64 issued[MAX_RQ];		/* time of its dispatch, ns; 0: not yet */
	u32 nr;				/* requests that arrived */
	u32 trace[MAX_RQ], nr_trace;	/* requests in the order of dispatch */
	u32 out[MAX_RQ], nr_out;
	u32 done;
	u64 now;
	u64 ns[FLASH_NR_DIRS];		/* time of a page on a chip, ns */
	u64 firmware;			/* before that, for all requests at once, ns */
	u64 free_at[FLASH_MAX_CHIPS];
	u32 user_limit;
	struct flash_geometry real;	/* the device's layout; PIQ's if none is set */
	bool learning;
	bool rush;			/* there are real-time requests */
};

static inline struct piq_tunables piq_usual(void)
{
	struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};

	return tun;
}

/* Change the settings, and sort all waiting requests, which the core does in parts. */
static inline void set_now(struct piq_sched *s, enum piq_mode mode,
			   const struct flash_geometry *geo, u64 offset,
			   const struct piq_tunables *tun)
{
	if (piq_set(s, mode, geo, offset, tun))
		while (!piq_sort_next(s))
			;
}

static inline void dev_set(struct dev *d, enum piq_mode mode, const char *layout,
			   const struct piq_tunables *tun)
{
	struct flash_geometry geo = { 0 };

	if (flash_geometry_parse(layout, &geo)) {
		printf("Bail out! bad layout %s\n", layout);
		exit(EXIT_FAILURE);
	}
	set_now(&d->s, mode, &geo, 0, tun);
}

static inline void dev_init(struct dev *d, enum piq_mode mode,
			    const char *layout, const struct piq_tunables *tun)
{
	memset(d, 0, sizeof(*d));
	d->now = MODEL_BASE;
	d->ns[FLASH_READ] = 50000;
	d->ns[FLASH_WRITE] = 500000;
	piq_sched_init(&d->s, d->pool, tun);
	piq_learn_init(&d->s, &d->l);
	dev_set(d, mode, layout, tun);
	piq_trust(&d->s);
}

static inline u32 dev_index(const struct dev *d, const struct piq_req *req)
{
	return (u32)(req - d->req);
}

/* When the device will be done: each page after those before it on its chip. */
static inline u64 dev_serve(struct dev *d, const struct piq_req *req)
{
	const struct flash_geometry *geo = d->real.nr_chips ? &d->real :
					   &d->s.geo;
	u64 first, pages, page, end = d->now + 1000;

	if (req->kind == PIQ_OTHER || !geo->nr_chips)
		return end;
	flash_geometry_span(geo, req->sector, req->sectors, 0, &first, &pages);
	for (page = first; page < first + pages; page++) {
		u64 *at = &d->free_at[flash_chip_of(geo, page)];

		if (*at < d->now + d->firmware)
			*at = d->now + d->firmware;
		*at += d->ns[req->kind];
		if (*at > end)
			end = *at;
	}
	return end;
}

static inline void dispatch(struct dev *d)
{
	for (;;) {
		u32 limit = d->user_limit;
		struct piq_req *req;
		u32 i;

		if (d->learning)
			limit = piq_limit(&d->s, &d->l, limit);
		req = piq_choose(&d->s, d->now);
		if (!req || (limit && d->s.out >= limit))
			return;
		piq_dispatch(&d->s, req, true, d->now);
		i = dev_index(d, req);
		d->waits[i] = false;
		d->issued[i] = d->now;
		d->due[i] = dev_serve(d, req);
		d->trace[d->nr_trace++] = i;
		d->out[d->nr_out++] = i;
	}
}

/* Insert a request without a dispatch, as one of a list. */
static inline u32 arrive(struct dev *d, enum piq_kind kind, u64 sector,
			 u32 sectors)
{
	u32 i = d->nr++;

	if (i == MAX_RQ) {
		printf("Bail out! more than %d requests\n", MAX_RQ);
		exit(EXIT_FAILURE);
	}
	piq_add(&d->s, &d->req[i], i + 1, kind, sector, sectors, d->now);
	d->waits[i] = true;
	return i;
}

/* @i absorbs @other. */
static inline void absorb(struct dev *d, u32 i, u32 other, u64 sector, u32 sectors)
{
	piq_absorb(&d->s, &d->req[i], &d->req[other], sector, sectors);
	d->waits[other] = false;
	d->done++;
}

static inline u32 insert(struct dev *d, enum piq_kind kind, u64 sector,
			 u32 sectors)
{
	u32 i = arrive(d, kind, sector, sectors);

	dispatch(d);
	return i;
}

/* The @n-th outstanding request completes. */
static inline u32 finish_nth(struct dev *d, u32 n)
{
	u32 i = d->out[n];

	d->out[n] = d->out[--d->nr_out];
	d->done++;
	if (d->rush) {
		d->l.urgent_at = d->now;
		d->l.urgent = true;
	}
	if (d->learning)
		piq_learn_completion(&d->s, &d->l, &d->req[i], d->user_limit, d->now);
	piq_release(&d->s, &d->req[i]);
	return i;
}

static inline void finish(struct dev *d, u32 i)
{
	u32 n;

	for (n = 0; n < d->nr_out; n++) {
		if (d->out[n] == i) {
			finish_nth(d, n);
			dispatch(d);
			return;
		}
	}
	printf("Bail out! request %u is not out\n", i);
	exit(EXIT_FAILURE);
}

/* Advance time to the next completion; its request, or MAX_RQ if none is outstanding */
static inline u32 step(struct dev *d)
{
	u32 n, best = 0, i;

	if (!d->nr_out)
		return MAX_RQ;
	for (n = 1; n < d->nr_out; n++) {
		if (d->due[d->out[n]] < d->due[d->out[best]])
			best = n;
	}
	if (d->due[d->out[best]] > d->now)
		d->now = d->due[d->out[best]];
	i = finish_nth(d, best);
	dispatch(d);
	return i;
}

static inline void drain(struct dev *d)
{
	while (step(d) != MAX_RQ)
		;
}

/* All requests are done, and none is counted any more. */
static inline void at_rest(struct dev *d, const char *what)
{
	u64 left = 0;
	u32 chip;

	for (chip = 0; chip < FLASH_MAX_CHIPS; chip++)
		left += d->s.chips.demand[0][chip] + d->s.chips.demand[1][chip] +
			d->s.chips.occ.out[0][chip] + d->s.chips.occ.out[1][chip];
	eq(d->done, d->nr, "%s: each of %u requests is done", what, d->nr);
	eq(piq_waiting(&d->s) + d->s.out + d->s.turns.inside + d->s.chips.occ.busy + left, 0,
	   "%s: nothing waits, is out or counts", what);
	eq(d->s.stats.stuck, 0, "%s: never stuck", what);
	eq(list_empty(&d->s.turns.batches.list[FLASH_READ]) &&
	   list_empty(&d->s.turns.batches.list[FLASH_WRITE]), 1, "%s: no batch is left", what);
}

#endif /* PIQ_MODEL_H */
