/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layer.h - the order in which Layer_Read dispatches requests
 *
 * The code is the module's own. A dispatched request does not complete unless the test
 * says so.
 */
#ifndef LAYER_MODEL_H
#define LAYER_MODEL_H

#include <string.h>

#include "layer_read/sublayer.c"
#include "layerhooks.h"
#include "tap.h"

#define MAX_RQ		20000

struct dev {
	struct layer_sched s;
	struct layer_part part[MAX_RQ];
	u32 nr;
	u32 trace[MAX_RQ], nr_trace;
	u64 now;
};

/* The defaults, for a drive of two chips */
static inline struct layer_tunables layer_usual(void)
{
	struct layer_tunables tun = {
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.expire = { 500000000, 5000000000 },
	};

	return tun;
}

static inline void dev_set(struct dev *d, enum layer_mode mode,
			   const char *layout, u64 capacity,
			   const struct layer_tunables *tun)
{
	struct layer_tunables all = *tun;

	all.mode = mode;
	if (flash_geometry_parse(layout, &all.layout)) {
		printf("Bail out! bad layout %s\n", layout);
		exit(EXIT_FAILURE);
	}
	hook_set(&d->s, &all, capacity);
}

static inline void dev_init(struct dev *d, enum layer_mode mode,
			    const char *layout, u64 capacity,
			    const struct layer_tunables *tun)
{
	memset(d, 0, sizeof(*d));
	d->now = 1000000;
	layer_init(&d->s);
	dev_set(d, mode, layout, capacity, tun);
}

static inline u32 insert(struct dev *d, enum flash_dir dir, u64 sector,
			 u32 sectors)
{
	u32 i = d->nr++;

	if (i == MAX_RQ) {
		printf("Bail out! more than %d requests\n", MAX_RQ);
		exit(EXIT_FAILURE);
	}
	hook_insert(&d->s, &d->part[i], i + 1, dir, sector, sectors, d->now);
	return i;
}

/* Dispatch a request; MAX_RQ: none waits, or all are held back. */
static inline u32 dispatch(struct dev *d)
{
	struct layer_part *part = layer_select(&d->s, d->now);
	u32 i;

	if (!part)
		return MAX_RQ;
	i = (u32)(part - d->part);
	d->trace[d->nr_trace++] = i;
	return i;
}

static inline void dispatch_all(struct dev *d)
{
	while (dispatch(d) != MAX_RQ)
		;
}

/* Check that the requests of @want, which ends with -1, were dispatched in this order. */
static inline void order_check(struct dev *d, const int *want, const char *what)
{
	u32 n, bad = 0, nr;

	for (nr = 0; want[nr] >= 0; nr++)
		bad += nr >= d->nr_trace || (int)d->trace[nr] != want[nr];
	if (bad || nr != d->nr_trace) {
		printf("# order:");
		for (n = 0; n < d->nr_trace; n++)
			printf(" %u", d->trace[n]);
		printf("\n");
	}
	eq(bad + (nr != d->nr_trace), 0, "%s", what);
}

#define order_is(d, what, ...) \
	order_check(d, (const int[]){ __VA_ARGS__, -1 }, what)

#endif /* LAYER_MODEL_H */
