/* SPDX-License-Identifier: GPL-2.0 */
/*
 * admit.h - what else than the in-flight limit keeps a request of K2 waiting
 *
 * admit.c explains it. All of it is guarded by flash_queue.lock.
 */
#ifndef K2_ADMIT_H
#define K2_ADMIT_H

#include <linux/minmax.h>

#include "../common/estimate/service_time.h"

/* Slots are counted in sixteenths. */
#define K2_SLOT			16U

/* The clock counts ns / 16; longer steps of the time count as this, ns. */
#define K2_CLOCK_SHIFT		4
#define K2_CLOCK_STEP_MAX	1000000000ULL

/**
 * struct k2_admit_rq - a request in the device
 * @clock: k2_admit.clock at its dispatch
 * @slots: slots that it holds, in sixteenths
 * @sectors: its size; 0: it moves no data
 * @dir: its direction
 * @rt: it is a real-time request
 */
struct k2_admit_rq {
	u64 clock;
	u32 slots;
	u32 sectors;
	enum flash_dir dir;
	bool rt;
};

/**
 * struct k2_admit - the requests in one device
 * @by_cost: a request holds slots by its cost; else one
 * @rt_alone: best effort waits while a real-time request is in the device
 * @reserve: slots that only real-time requests may hold
 * @wait_ns: longest time without a best-effort request, ns; 0: unlimited
 * @nr: requests in the device
 * @load: slots that they hold, in sixteenths
 * @load_not_rt: slots that requests without real-time priority hold, in sixteenths
 * @clock: device time that each request in the device has had, in ns / 16
 * @clock_at: time when @clock was updated, ns
 * @cost: the device's service times
 * @be_since: when best effort began to wait or was last served, ns
 * @be_turns: best-effort requests served before real-time ones because of @wait_ns
 */
struct k2_admit {
	bool by_cost;
	bool rt_alone;
	u32 reserve;
	u64 wait_ns;
	u32 nr;
	u64 load;
	u64 load_not_rt;
	u64 clock;
	u64 clock_at;
	struct flash_cost cost;
	u64 be_since;
	u64 be_turns;
};

u32 k2_admit_cost(const struct k2_admit *a, enum flash_dir dir, u64 sectors);
bool k2_admit_be_due(struct k2_admit *a, u64 now);

/**
 * k2_admit_slots - slots that a request holds
 * @a: the device
 * @dir: direction of the request
 * @sectors: its size; 0: it moves no data
 *
 * Return: sixteenths of a slot.
 */
static inline u32 k2_admit_slots(const struct k2_admit *a, enum flash_dir dir, u64 sectors)
{
	return a->by_cost && sectors ? k2_admit_cost(a, dir, sectors) : K2_SLOT;
}

static inline void k2_admit_tick(struct k2_admit *a, u64 now)
{
	u64 ns = now > a->clock_at ? now - a->clock_at : 0;

	a->clock_at = now;
	if (a->nr)
		a->clock += (min(ns, K2_CLOCK_STEP_MAX) << K2_CLOCK_SHIFT) / a->nr;
}

/**
 * k2_admit_charge - a request has been dispatched to the device
 * @a: the device
 * @ar: the request; the caller has set @sectors, @dir and @rt
 * @now: the time, ns
 */
static inline void k2_admit_charge(struct k2_admit *a, struct k2_admit_rq *ar, u64 now)
{
	k2_admit_tick(a, now);
	ar->clock = a->clock;
	ar->slots = k2_admit_slots(a, ar->dir, ar->sectors);
	a->nr++;
	a->load += ar->slots;
	a->load_not_rt += ar->rt ? 0 : ar->slots;
}

/**
 * k2_admit_release - a request has left the device
 * @a: the device
 * @ar: the request
 * @completed: it has completed, so its cost is learned; else it was requeued
 * @now: the time, ns
 */
static inline void k2_admit_release(struct k2_admit *a, struct k2_admit_rq *ar, bool completed,
				    u64 now)
{
	k2_admit_tick(a, now);
	a->nr--;
	a->load -= ar->slots;
	a->load_not_rt -= ar->rt ? 0 : ar->slots;
	ar->slots = 0;
	if (completed && a->by_cost)
		flash_cost_learn(&a->cost, ar->dir, ar->sectors,
				 (a->clock - ar->clock) >> K2_CLOCK_SHIFT);
}

/** k2_admit_watches - do the settings need to know which requests are in flight? */
static inline bool k2_admit_watches(const struct k2_admit *a)
{
	return a->by_cost || a->rt_alone || a->reserve || a->wait_ns;
}

/** k2_admit_only_rt - are all slots that are free of the @limit kept for real time? */
static inline bool k2_admit_only_rt(const struct k2_admit *a, u32 limit)
{
	u64 most = limit > a->reserve ? limit - a->reserve : 1;

	return a->reserve && a->load_not_rt >= most * K2_SLOT;
}

/**
 * k2_admit_holds - does the limit hold all waiting requests, although a slot is free?
 * @a: the device
 * @limit: the in-flight limit
 * @rt: a real-time request waits
 */
static inline bool k2_admit_holds(const struct k2_admit *a, u32 limit, bool rt)
{
	return (a->by_cost && a->load >= (u64)limit * K2_SLOT) ||
	       (!rt && k2_admit_only_rt(a, limit));
}

#endif /* K2_ADMIT_H */
