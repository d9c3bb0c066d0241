/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slot.h - the states of a request's slot of the in-flight limit
 *
 * A request has at most one slot of its device. The state records whether it has one, so
 * a slot cannot be taken or freed twice, whatever hooks the block layer calls or omits:
 *
 *   IDLE --insert--> QUEUED --dispatch--> INFLIGHT --finish--> IDLE
 *                      |  ^                  |
 *                      |  +---- insert ------+-- requeue --> REQUEUED
 *                      +-- merged away --> IDLE
 *
 * A requeued request frees its slot at once. It may be inserted again, or be issued again
 * without the scheduler (if the driver keeps its preparation, as NVMe and mostly SCSI do);
 * then more requests are in flight than are counted, after a controller reset up to twice
 * the limit. If it kept the slot, a request that the driver delays for seconds would stop
 * a device with a limit of one.
 */
#ifndef FLASH_SLOT_H
#define FLASH_SLOT_H

enum flash_slot {
	FLASH_SLOT_IDLE = 0,
	FLASH_SLOT_QUEUED,
	FLASH_SLOT_INFLIGHT,
	FLASH_SLOT_REQUEUED,
};

/**
 * flash_slot_insert - a request is inserted
 * @slot: its state
 *
 * Return: number of slots to free: 0, or 1 if the request has neither completed nor been
 * requeued since its latest dispatch. No driver does that; the count stays right anyway.
 */
static inline int flash_slot_insert(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_QUEUED;
	return give;
}

/**
 * flash_slot_dispatch - a request is dispatched to the driver
 * @slot: its state
 *
 * Return: number of slots to take: 1, or 0 if the request has one already.
 */
static inline int flash_slot_dispatch(enum flash_slot *slot)
{
	int take = *slot != FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_INFLIGHT;
	return take;
}

/**
 * flash_slot_requeue - the driver has requeued a request
 * @slot: its state
 *
 * Return: number of slots to free, 0 or 1.
 */
static inline int flash_slot_requeue(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_REQUEUED;
	return give;
}

/**
 * flash_slot_finish - a request has completed, failed or was absorbed by another one
 * @slot: its state
 *
 * Return: number of slots to free, 0 or 1.
 */
static inline int flash_slot_finish(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_IDLE;
	return give;
}

/**
 * flash_slot_free - may one more request be dispatched?
 * @inflight: slots in use
 * @bound: the in-flight limit
 *
 * A level, never an edge: the limit may change in either direction at any time, so a test
 * for "has just fallen below" would miss each slot that a higher limit adds. A change of the
 * limit runs a hardware queue, so flash_needs_run() may look for an edge.
 */
static inline int flash_slot_free(int inflight, unsigned int bound)
{
	return inflight < 0 || (unsigned int)inflight < bound;
}

/*
 * log2 of the part of the limit's slots that completions leave free until a run is scheduled,
 * as a run costs two context switches. Submitters that the completions have woken take most
 * of these slots before that.
 */
#define FLASH_FREE_SHIFT	3

/**
 * flash_slot_mark - the number of requests in flight at which a completion schedules a run
 * @bound: the in-flight limit, at least 1
 *
 * One less than the limit, or a smaller number if the limit is 16 or more.
 */
static inline unsigned int flash_slot_mark(unsigned int bound)
{
	unsigned int left = bound >> FLASH_FREE_SHIFT;

	return bound - (left ? left : 1);
}

/** flash_slot_above - are at least flash_slot_mark() requests in flight? */
static inline int flash_slot_above(int inflight, unsigned int bound)
{
	return inflight >= 0 && (unsigned int)inflight >= flash_slot_mark(bound);
}

#endif /* FLASH_SLOT_H */
