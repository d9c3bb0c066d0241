// SPDX-License-Identifier: GPL-2.0
/*
 * admit.c - what else than the in-flight limit keeps a request of K2 waiting
 *
 * A limit in requests counts a write of 1 MiB as much as a read of 4 KiB, gives a
 * real-time request a slot only when one is free, and lets a flood of real-time requests
 * starve best effort. Three settings, each off by default, answer that:
 *
 *   bound_unit=cost	A request holds as many slots as it costs the device in reads of
 *			4 KiB, at least one. The device is full when requests hold as many
 *			slots as the limit; the last one may hold more than were free.
 *			Costs are learned: of n requests in the device each has 1/n of the
 *			time, so a clock that runs at 1/n of real time gives the time that
 *			a request had from dispatch to completion.
 *   reserve		Requests without real-time priority leave slots free, but have at
 *			least one. A real-time request that finds no other one before it
 *			then never waits for best effort to complete.
 *   nrt_wait_ms	After this time without a best-effort request one is served before
 *			real-time requests. Not every request that waited for so long, or a
 *			backlog would overtake real-time requests.
 *
 * Invariant: at rest all slots are free, whatever settings changed while requests were in
 * the device, because a request releases what k2_admit_rq.slots says.
 */
#include "admit.h"

#include <linux/minmax.h>

/* Most slots of one request */
#define K2_SLOTS_MAX		1024U

/* A read of this size costs one slot, in sectors. */
#define K2_SLOT_SECTORS		8

/* The clock counts ns / 16; longer steps of the time count as this, ns. */
#define K2_CLOCK_SHIFT		4
#define K2_CLOCK_STEP_MAX	1000000000ULL

static void k2_admit_tick(struct k2_admit *a, u64 now)
{
	u64 ns = now > a->clock_at ? now - a->clock_at : 0;

	a->clock_at = now;
	if (a->nr)
		a->clock += (min(ns, K2_CLOCK_STEP_MAX) << K2_CLOCK_SHIFT) / a->nr;
}

/**
 * k2_admit_slots - slots that a request holds
 * @a: the device
 * @dir: direction of the request
 * @sectors: its size; 0: it moves no data
 *
 * Return: sixteenths of a slot.
 */
u32 k2_admit_slots(const struct k2_admit *a, enum flash_dir dir, u64 sectors)
{
	u64 slot, ns;

	if (!a->by_cost || !sectors)
		return K2_SLOT;
	slot = flash_cost_ns(&a->cost, FLASH_READ, K2_SLOT_SECTORS);
	/* A device that was only written to: then a small write costs one slot. */
	if (!slot)
		slot = flash_cost_ns(&a->cost, FLASH_WRITE, K2_SLOT_SECTORS);
	ns = flash_cost_ns(&a->cost, dir, sectors);
	if (!slot || ns <= slot)
		return K2_SLOT;
	return (u32)min(ns * K2_SLOT / slot, (u64)K2_SLOTS_MAX * K2_SLOT);
}

/**
 * k2_admit_charge - a request has been dispatched to the device
 * @a: the device
 * @ar: the request; the caller has set @sectors, @dir and @rt
 * @now: the time, ns
 */
void k2_admit_charge(struct k2_admit *a, struct k2_admit_rq *ar, u64 now)
{
	k2_admit_tick(a, now);
	ar->clock = a->clock;
	ar->slots = k2_admit_slots(a, ar->dir, ar->sectors);
	a->nr++;
	a->load += ar->slots;
	if (!ar->rt)
		a->load_nrt += ar->slots;
}

/**
 * k2_admit_release - a request has left the device
 * @a: the device
 * @ar: the request
 * @completed: it has completed, so its cost is learned; else it was requeued
 * @now: the time, ns
 */
void k2_admit_release(struct k2_admit *a, struct k2_admit_rq *ar, bool completed, u64 now)
{
	k2_admit_tick(a, now);
	a->nr--;
	a->load -= ar->slots;
	if (!ar->rt)
		a->load_nrt -= ar->slots;
	ar->slots = 0;
	if (completed && a->by_cost)
		flash_cost_learn(&a->cost, ar->dir, ar->sectors,
				 (a->clock - ar->clock) >> K2_CLOCK_SHIFT);
}

/**
 * k2_admit_nrt_due - has best effort waited for nrt_wait_ms?
 * @a: the device; best-effort requests wait
 * @now: the time, ns; if the clock was set back the wait starts again
 */
bool k2_admit_nrt_due(struct k2_admit *a, u64 now)
{
	a->nrt_since = min(a->nrt_since, now);
	return a->wait_ns && now - a->nrt_since >= a->wait_ns;
}
