/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share.h - tenants on a device, in discrete events
 *
 * The module's own headers say which request goes; here is who sends them, and
 * a device that ends them in the order in which a test says.
 */
#ifndef SHARE_MODEL_H
#define SHARE_MODEL_H

#include <string.h>

#include "common/share/share.h"
#include "tap.h"

#define MAX_RQ		60000
#define MODEL_BASE	1000000

/* One tenant at a time, and start-time fair queueing */
static const struct flash_share_rules cfq = {
	.exclusive = true, .slice = 0, .charge = FLASH_CHARGE_SECTORS,
};

static const struct flash_share_rules sfq = {
	.charge = FLASH_CHARGE_SECTORS, .depth = 4,
};

static struct {
	struct flash_share s;
	struct flash_tenants p;
	struct flash_share_item it[MAX_RQ];
	u32 nr;
	u64 now;
} m;

static inline void model_init(const struct flash_share_rules *rules)
{
	memset(&m, 0, sizeof(m));
	m.now = MODEL_BASE;
	flash_share_init(&m.s, &m.p, rules);
	m.s.second = m.now;
}

static inline struct flash_tenant *tenant(u64 id, u32 weight)
{
	struct flash_key key = { .kind = FLASH_BY_CGROUP, .id = id };

	return flash_share_tenant(&m.s, &key, weight, m.now);
}

/* A request of @id arrives; tenants that are new get @weight. */
static inline struct flash_share_item *sends(u64 id, u32 weight, u32 sectors,
					     bool sync)
{
	struct flash_share_item *it = &m.it[m.nr++];

	if (m.nr == MAX_RQ) {
		printf("Bail out! more than %d requests\n", MAX_RQ);
		exit(EXIT_FAILURE);
	}
	flash_share_add(&m.s, it, tenant(id, weight), m.nr, FLASH_READ, sync,
			m.nr * 8, sectors, m.now);
	return it;
}

/* The next one is handed over; 0: nothing may go. */
static inline struct flash_share_item *goes(void)
{
	struct flash_share_item *it = flash_share_next(&m.s, m.now);

	if (it)
		flash_share_issue(&m.s, it, m.now);
	return it;
}

static inline void ends(struct flash_share_item *it)
{
	flash_share_give(&m.s, it, true, m.now);
}

#endif /* SHARE_MODEL_H */
