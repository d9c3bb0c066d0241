// SPDX-License-Identifier: GPL-2.0
/* A slot is taken at dispatch and freed exactly once, in any order of hooks. */
#include "common/elevator/slot.h"
#include "tap.h"

static void requeue_does_not_leak(void)
{
	enum flash_slot s = FLASH_SLOT_IDLE;
	int inflight = 0;

	inflight -= flash_slot_insert(&s);
	inflight += flash_slot_dispatch(&s);
	eq(inflight, 1, "dispatch takes a slot");
	inflight -= flash_slot_requeue(&s);
	eq(inflight, 0, "requeue gives it back");
	inflight -= flash_slot_insert(&s);
	inflight += flash_slot_dispatch(&s);
	eq(inflight, 1, "the second dispatch takes one again");
	inflight -= flash_slot_finish(&s);
	eq(inflight, 0, "dispatch, requeue, dispatch, finish: none in flight");
	eq(s, FLASH_SLOT_IDLE, "and the record is idle");
}

static void rerun_without_insert(void)
{
	enum flash_slot s = FLASH_SLOT_IDLE;
	int inflight = 0;

	inflight -= flash_slot_insert(&s);
	inflight += flash_slot_dispatch(&s);
	inflight -= flash_slot_requeue(&s);
	/* The driver issues it again and it fails again, without a dispatch between. */
	inflight -= flash_slot_requeue(&s);
	inflight -= flash_slot_finish(&s);
	eq(inflight, 0, "requeued twice without a dispatch, then finished");
}

static void merged_away(void)
{
	enum flash_slot s = FLASH_SLOT_IDLE;
	int inflight = 0;

	inflight -= flash_slot_insert(&s);
	inflight -= flash_slot_finish(&s);
	inflight -= flash_slot_finish(&s);
	eq(inflight, 0, "a request swallowed while queued never held a slot");
}

/* Any sequence of hooks: the last event determines the number of held slots. */
static void random_hooks(void)
{
	unsigned long long seed = 1;
	int bad = 0, i, step;

	for (i = 0; i < 100000; i++) {
		enum flash_slot s = FLASH_SLOT_IDLE;
		int held = 0, model = 0;

		for (step = 0; step < 12; step++) {
			switch (tap_rand(&seed) % 4) {
			case 0:
				held -= flash_slot_insert(&s);
				model = 0;
				break;
			case 1:
				held += flash_slot_dispatch(&s);
				model = 1;
				break;
			case 2:
				held -= flash_slot_requeue(&s);
				model = 0;
				break;
			default:
				held -= flash_slot_finish(&s);
				model = 0;
				break;
			}
			bad += held != model;
		}
	}
	eq(bad, 0, "1 200 000 random hooks: zero or one slot, never another number");
}

static void bound_is_a_level(void)
{
	eq(flash_slot_free(0, 1), 1, "0 of 1 in flight: free");
	eq(flash_slot_free(1, 1), 0, "1 of 1: full");
	eq(flash_slot_free(1, 4), 1, "1 of 4, as after raising the bound: free");
	eq(flash_slot_free(9, 4), 0, "9 of 4, as after lowering it: full");
	eq(flash_slot_free(65535, 65535), 0, "largest bound: full");
	eq(flash_slot_free(0x7fffffff, 0xffffffffU), 1, "no bound: free");
}

/* Where completions schedule a run */
static void mark(void)
{
	eq(flash_slot_mark(1), 0, "limit 1: an end schedules a run when none is left");
	eq(flash_slot_mark(15), 14, "limit 15: when one slot is free");
	eq(flash_slot_mark(16), 14, "limit 16: when two are");
	eq(flash_slot_mark(216), 189, "limit 216: 27");
	eq(flash_slot_above(14, 16), 1, "14 of 16: at the mark");
	eq(flash_slot_above(13, 16), 0, "13 of 16: below it");
	eq(flash_slot_above(-1, 1), 0, "fewer than none: below");
	eq(flash_slot_above(0x6fffffff, 0xffffffffU), 0, "no limit: below");
}

int main(void)
{
	requeue_does_not_leak();
	rerun_without_insert();
	merged_away();
	random_hooks();
	bound_is_a_level();
	mark();
	return tap_done();
}
