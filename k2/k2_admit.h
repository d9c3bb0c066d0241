/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_admit.h - what K2 lets in beyond counting: cost, a reserve, starvation
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 *   - By cost, a request takes as many slots as it costs the device in small reads
 *     (4 KiB), one at least. The device is full when what is in it takes as many as
 *     the bound; the last one that was let in may take it beyond. What a request
 *     costs is learned: while n are in the device each has 1/n of the time. A clock
 *     that runs so tells for each what it has had from its start to its end.
 *   - Of the slots, best effort leaves some to real-time requests, but has one at
 *     least. A real-time request that finds no others of its kind before it then
 *     never waits until best effort ends.
 *   - Best effort starves under a flood of real-time requests. With a cap on that,
 *     one of them goes when none has gone for so long. Not each that has waited so
 *     long: of a backlog that would be all, and priority would be upside down.
 */
#ifndef K2_ADMIT_H
#define K2_ADMIT_H

#include "../common/estimate/service_time.h"

/* Slots are counted in sixteenths. */
#define K2_SLOT			16U

/* A request takes no more slots than this. */
#define K2_SLOTS_MAX		1024U

/* What costs a slot: a read of so many sectors. */
#define K2_SLOT_SECTORS		8

/* The clock counts sixteenths of ns, and does not believe in longer leaps, ns. */
#define K2_CLOCK_SHIFT		4
#define K2_CLOCK_LEAP		1000000000ULL

/**
 * struct k2_admit_rq - a request in the device
 * @clock:	the clock when it went there
 * @taken:	slots that it takes, in sixteenths
 * @sectors:	its size, 0 of what moves nothing
 * @dir:	its direction
 * @rt:		it is a real-time request
 */
struct k2_admit_rq {
	u64 clock;
	u32 taken;
	u32 sectors;
	enum flash_dir dir;
	bool rt;
};

/**
 * struct k2_admit - what is in the device
 * @by_cost:	slots are counted by cost
 * @reserve:	slots that best effort leaves free
 * @wait_ns:	one of it goes after so long; 0: never
 * @nr:		requests
 * @load:	slots that they take, in sixteenths
 * @rest:	what of these are not real-time requests'
 * @clock:	see above
 * @clock_at:	when that was, ns
 * @cost:	what is known of the device
 * @waits:	since when best effort has waited, or last went, ns
 * @turns:	times that it went before real-time requests
 */
struct k2_admit {
	bool by_cost;
	u32 reserve;
	u64 wait_ns;
	u32 nr;
	u64 load;
	u64 rest;
	u64 clock;
	u64 clock_at;
	struct flash_cost cost;
	u64 waits;
	u64 turns;
};

/** k2_admit_watches - does it want to be told of what happens? */
static inline bool k2_admit_watches(const struct k2_admit *a)
{
	return a->by_cost || a->reserve || a->wait_ns;
}

/* Time goes by, shared by all that are in the device. */
static inline void k2_admit_tick(struct k2_admit *a, u64 now)
{
	u64 ns = now > a->clock_at ? now - a->clock_at : 0;

	a->clock_at = now;
	if (ns > K2_CLOCK_LEAP)
		ns = K2_CLOCK_LEAP;
	if (a->nr)
		a->clock += (ns << K2_CLOCK_SHIFT) / a->nr;
}

/* What such a request takes, in sixteenths of a slot. */
static inline u32 k2_admit_slots(const struct k2_admit *a, enum flash_dir dir,
				 u64 sectors)
{
	u64 slot, ns;

	if (!a->by_cost || !sectors)
		return K2_SLOT;
	slot = flash_cost_ns(&a->cost, FLASH_READ, K2_SLOT_SECTORS);
	/* A device that is only written to: then it is a small write. */
	if (!slot)
		slot = flash_cost_ns(&a->cost, FLASH_WRITE, K2_SLOT_SECTORS);
	ns = flash_cost_ns(&a->cost, dir, sectors);
	if (!slot || ns <= slot)
		return K2_SLOT;
	ns = ns * K2_SLOT / slot;
	return ns < K2_SLOTS_MAX * K2_SLOT ? (u32)ns : K2_SLOTS_MAX * K2_SLOT;
}

/**
 * k2_admit_take - a request goes to the device
 * @a: the device
 * @r: its record, of which the caller has set all but what follows from it
 * @now: the time, ns
 */
static inline void k2_admit_take(struct k2_admit *a, struct k2_admit_rq *r,
				 u64 now)
{
	k2_admit_tick(a, now);
	r->clock = a->clock;
	r->taken = k2_admit_slots(a, r->dir, r->sectors);
	a->nr++;
	a->load += r->taken;
	if (!r->rt)
		a->rest += r->taken;
}

/**
 * k2_admit_give - a request leaves the device
 * @a: the device
 * @r: its record
 * @ended: it has completed, so its time is what it costs
 * @now: the time, ns
 */
static inline void k2_admit_give(struct k2_admit *a, struct k2_admit_rq *r,
				 bool ended, u64 now)
{
	k2_admit_tick(a, now);
	a->nr--;
	a->load -= r->taken;
	if (!r->rt)
		a->rest -= r->taken;
	r->taken = 0;
	if (ended && a->by_cost)
		flash_cost_learn(&a->cost, r->dir, r->sectors,
				 (a->clock - r->clock) >> K2_CLOCK_SHIFT);
}

/** k2_admit_full - by cost, the device has all that it may have */
static inline bool k2_admit_full(const struct k2_admit *a, u32 bound)
{
	return a->by_cost && a->load >= (u64)bound * K2_SLOT;
}

/** k2_admit_kept - the slots that are left are for real-time requests */
static inline bool k2_admit_kept(const struct k2_admit *a, u32 bound)
{
	u64 most = bound > a->reserve ? bound - a->reserve : 1;

	return a->reserve && a->rest >= most * K2_SLOT;
}

/** k2_admit_waits - best effort waits, and has not before */
static inline void k2_admit_waits(struct k2_admit *a, u64 now)
{
	a->waits = now;
}

/**
 * k2_admit_due - is it best effort's turn, although real-time requests wait?
 * @a: the device
 * @now: the time, ns
 *
 * Best effort waits. A clock that was set back must not keep it from its turn.
 */
static inline bool k2_admit_due(struct k2_admit *a, u64 now)
{
	if (!a->wait_ns)
		return false;
	if (now < a->waits)
		a->waits = now;
	return now - a->waits >= a->wait_ns;
}

#endif /* K2_ADMIT_H */
