/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share.h - tenants on a device, in discrete events
 *
 * common/share/fairqueue.c, with its static functions, chooses the requests. The functions
 * here send them, and a test says in which order the device completes them.
 */
#ifndef SHARE_MODEL_H
#define SHARE_MODEL_H

#include <string.h>

#include "common/share/fairqueue.c"
#include "tap.h"

#define MAX_RQ		60000
#define MODEL_BASE	1000000

/* One tenant at a time, and start-time fair queueing */
static const struct fair_rules cfq = {
	.exclusive = true, .slice = 0, .charge = FAIR_CHARGE_SECTORS,
};

static const struct fair_rules sfq = {
	.charge = FAIR_CHARGE_SECTORS, .depth = 4,
};

static struct {
	struct fair_queue s;
	struct flash_tags tags;
	struct fair_rq it[MAX_RQ];
	u32 nr;
	u64 now;
} m;

static inline void model_init(const struct fair_rules *rules)
{
	memset(&m, 0, sizeof(m));
	m.now = MODEL_BASE;
	fair_init(&m.s, rules, ~0U);
	m.s.second.begun = m.now;
}

static inline struct tenant *tenant(u64 id, u32 weight)
{
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = id };

	return fair_tenant(&m.s, &key, weight, m.now);
}

/* Request @it of tenant @t arrives. */
static inline void adds(struct fair_rq *it, struct tenant *t, enum flash_dir dir, bool sync,
			u64 sector, u32 sectors)
{
	fair_describe(it, dir, sync, sector, sectors);
	fair_add(&m.s, it, t, &m.tags, false, m.now);
}

/* A request of tenant @id arrives; a new tenant has weight @weight. */
static inline struct fair_rq *sends(u64 id, u32 weight, u32 sectors, bool sync)
{
	struct fair_rq *it = &m.it[m.nr++];

	if (m.nr == MAX_RQ) {
		printf("Bail out! more than %d requests\n", MAX_RQ);
		exit(EXIT_FAILURE);
	}
	adds(it, tenant(id, weight), FLASH_READ, sync, m.nr * 8, sectors);
	return it;
}

/* Request @it bypasses the queues. */
static inline void bypasses(struct fair_rq *it, enum flash_dir dir, u32 sectors)
{
	fair_describe(it, dir, false, 0, sectors);
	fair_bypass(&m.s, it, &m.tags, m.now);
}

/* Set a layout, and the chips of all waiting requests, which the core does in parts. */
static inline void lays_out(const struct flash_geometry *geo)
{
	fair_set_layout(&m.s, geo, 0);
	while (!fair_sort_next(&m.s))
		;
}

/* Issue the next request; NULL: none can be issued. */
static inline struct fair_rq *goes(void)
{
	struct fair_rq *it = fair_next(&m.s, m.now);

	if (it)
		fair_issue(&m.s, it, m.now);
	return it;
}

static inline void ends(struct fair_rq *it)
{
	fair_release(&m.s, it, true, m.now);
}

#endif /* SHARE_MODEL_H */
