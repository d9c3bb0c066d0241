// SPDX-License-Identifier: GPL-2.0
/*
 * admit.c - what else than the in-flight limit keeps a request of K2 waiting
 *
 * A limit in requests counts a write of 1 MiB as much as a read of 4 KiB, gives a
 * real-time request a slot only when one is free, fills a slot that becomes free while a
 * real-time request is in the device, and lets a flood of real-time requests starve best
 * effort. Four settings, each off by default, answer that:
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
 *   rt_alone		Best effort and the idle class wait while a real-time request is in the
 *			device. A device that buffers writes has the programs of completed
 *			writes before it, and each write that is dispatched adds some: no limit
 *			on requests counts them. Metadata does not wait, as the real-time task
 *			may wait for it.
 *   nrt_wait_ms	After this time without a best-effort request one is served before
 *			real-time requests, or although one is in the device. Not every request
 *			that waited for so long, or a backlog would overtake real-time requests.
 *
 * Invariant: at rest all slots are free, whatever settings changed while requests were in
 * the device, because a request releases what k2_admit_rq.slots says.
 */
#include "admit.h"

/* Most slots of one request */
#define K2_SLOTS_MAX		1024U

/* A read of this size costs one slot, in sectors. */
#define K2_SLOT_SECTORS		8

/**
 * k2_admit_cost - slots that a request holds by its cost
 * @a: the device
 * @dir: direction of the request
 * @sectors: its size
 *
 * Return: sixteenths of a slot.
 */
u32 k2_admit_cost(const struct k2_admit *a, enum flash_dir dir, u64 sectors)
{
	u64 slot, ns;

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
 * k2_admit_be_due - has best effort waited for nrt_wait_ms?
 * @a: the device; best-effort requests wait
 * @now: the time, ns; if the clock was set back the wait starts again
 */
bool k2_admit_be_due(struct k2_admit *a, u64 now)
{
	a->be_since = min(a->be_since, now);
	return a->wait_ns && now - a->be_since >= a->wait_ns;
}
