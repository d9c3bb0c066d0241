/* SPDX-License-Identifier: GPL-2.0 */
/*
 * slot.h - the life of one request as far as in-flight accounting goes
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 *
 * A request holds at most one in-flight slot of its device. The state says
 * whether it does, so a slot cannot be taken or given back twice, whatever
 * hooks the block layer calls or leaves out:
 *
 *   IDLE --insert--> QUEUED --dispatch--> INFLIGHT --finish--> IDLE
 *                      |  ^                  |
 *                      |  +---- insert ------+-- requeue --> REQUEUED
 *                      +-- merged away --> IDLE
 *
 * A requeued request gives its slot back at once: it may come back through
 * insert, or run again without us (a driver that keeps its preparation, as NVMe
 * and mostly SCSI do), in which case the device holds one request more than we
 * count for each one handed back; after a controller reset that can be a whole
 * bound's worth. The alternative, keeping the slot, would let one request that
 * the driver delays for seconds stop a device whose bound is one.
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
 * flash_slot_insert - a request enters a scheduler queue
 * @slot: its state
 *
 * Return: slots to give back: 0, or 1 if it was never finished nor requeued
 * since its last dispatch (no driver does this; the count stays right anyway).
 */
static inline int flash_slot_insert(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_QUEUED;
	return give;
}

/**
 * flash_slot_dispatch - a request is handed to the driver
 * @slot: its state
 *
 * Return: slots to take: 1, or 0 if it holds one already.
 */
static inline int flash_slot_dispatch(enum flash_slot *slot)
{
	int take = *slot != FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_INFLIGHT;
	return take;
}

/**
 * flash_slot_requeue - the driver handed a request back
 * @slot: its state
 *
 * Return: slots to give back, 0 or 1.
 */
static inline int flash_slot_requeue(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_REQUEUED;
	return give;
}

/**
 * flash_slot_finish - a request has completed, failed or was merged away
 * @slot: its state
 *
 * Return: slots to give back, 0 or 1.
 */
static inline int flash_slot_finish(enum flash_slot *slot)
{
	int give = *slot == FLASH_SLOT_INFLIGHT;

	*slot = FLASH_SLOT_IDLE;
	return give;
}

/**
 * flash_slot_free - may one more request be dispatched?
 * @inflight: slots taken now
 * @bound: slots that may be taken
 *
 * A level, never an edge: the bound may move in either direction at any time,
 * so "just fell below" misses every slot that a raised bound adds.
 */
static inline int flash_slot_free(int inflight, unsigned int bound)
{
	return inflight < 0 || (unsigned int)inflight < bound;
}

#endif /* FLASH_SLOT_H */
