/* SPDX-License-Identifier: GPL-2.0 */
/* select.h - the contract of select.c */
#ifndef LAYER_SELECT_H
#define LAYER_SELECT_H

#include "sublayer.h"

struct layer_part *layer_select(struct layer_sched *s, u64 now);
void layer_bypass(struct layer_part *part);
void layer_start(struct layer_sched *s, struct layer_part *part);
bool layer_complete(struct layer_sched *s, struct layer_part *part, bool ended);
void layer_adjust_limit(struct layer_sched *s, u64 now);
bool layer_throttled(const struct layer_sched *s);

/**
 * layer_holds - do all waiting requests have to wait for a completion?
 * @s: the device
 *
 * Never while none is in flight.
 */
static inline bool layer_holds(const struct layer_sched *s)
{
	return s->flight.out && layer_nr_waiting(s) && layer_throttled(s);
}

#endif /* LAYER_SELECT_H */
