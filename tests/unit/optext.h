/* SPDX-License-Identifier: GPL-2.0 */
/*
 * optext.h - each operation by name, and what the schedulers charge for it
 *
 * The hooks of a policy pass flash_dir_of() and flash_sector_of() of a request to the code
 * that is called here. The tests compute both with op.h.
 */
#ifndef OPTEXT_H
#define OPTEXT_H

#include "common/flash/op.h"
#include "common/share/fairqueue.c"
#include "k2/admit.h"
#include "k2/chips.h"
#include "layerhooks.h"
#include "piq/sched.h"

#define OP(name) { REQ_OP_##name, #name }

static const struct {
	enum req_op op;
	const char *name;
} ops[] = {
	OP(READ), OP(WRITE), OP(FLUSH), OP(DISCARD), OP(SECURE_ERASE),
	OP(ZONE_APPEND), OP(WRITE_ZEROES), OP(ZONE_OPEN), OP(ZONE_CLOSE),
	OP(ZONE_FINISH), OP(ZONE_RESET), OP(ZONE_RESET_ALL), OP(DRV_IN),
	OP(DRV_OUT),
};

#define NR_OPS (sizeof(ops) / sizeof(ops[0]))

/**
 * struct op_charge - what a request is charged
 * @dir: the direction in which it moves data
 * @sector: where it starts, or FLASH_NO_SECTOR
 * @tenant: acfq and hbfq: sectors
 * @timed: the same, charged by time: ns
 * @moved: sectors that are counted as the tenant's data
 * @slots: k2 by cost, in sixteenths of a slot
 * @k2_chips: chips that k2 counts it on
 * @pieces: layer_read in mode auto: pieces
 * @layer_dir: layer_read: direction of its queue
 * @layer_chips: layer_read: chips on which it is counted
 * @kind: piq's
 * @piq_chips: chips that piq counts it on
 * @piq_out: requests that piq counts in the device for it
 */
struct op_charge {
	enum flash_dir dir;
	u64 sector;
	u64 tenant;
	u64 timed;
	u64 moved;
	u32 slots;
	u32 k2_chips;
	u32 pieces;
	enum flash_dir layer_dir;
	u32 layer_chips;
	enum piq_kind kind;
	u32 piq_chips;
	u32 piq_out;
};

/* A device of 16 chips of pages of 4 KiB: 10 us and 1 us a sector, writes four times */
static inline void op_learn(struct flash_cost *cost)
{
	u32 sectors;

	for (sectors = 8; sectors <= 2048; sectors *= 2) {
		flash_cost_learn(cost, FLASH_READ, sectors,
				 10000 + 1000 * sectors);
		flash_cost_learn(cost, FLASH_WRITE, sectors,
				 4 * (10000 + 1000 * sectors));
	}
}

/* The charge of a tenant's request at its dispatch */
static inline u64 op_share(enum fair_charge charge, const struct op_charge *c,
			   u32 sectors, u64 *moved)
{
	static struct fair_queue s;
	static struct flash_tags tags;
	const struct fair_rules rules = { .charge = charge };
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = 1 };
	static struct fair_rq it;
	struct tenant *t;

	memset(&s, 0, sizeof(s));
	memset(&tags, 0, sizeof(tags));
	memset(&it, 0, sizeof(it));
	fair_init(&s, &rules, ~0U);
	op_learn(&s.dev.cost);
	t = fair_tenant(&s, &key, 100, 1);
	fair_describe(&it, c->dir, false, c->sector, sectors);
	fair_add(&s, &it, t, &tags, false, 1);
	fair_issue(&s, fair_next(&s, 1), 1);
	*moved = t->stats.sectors;
	return t->stats.cost;
}

/* The charges of a request of @sectors sectors at sector 64 */
static inline struct op_charge op_charge(enum req_op op, u32 sectors)
{
	struct layer_tunables layer_tun = {
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
	};
	static const struct piq_tunables piq_tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};
	static struct flash_batch pool[PIQ_NR_BATCHES];
	static struct layer_sched layer;
	static struct layer_part part;
	static struct piq_sched piq;
	static struct piq_req piq_req;
	static struct k2_chips chips;
	static struct k2_chips_rq k2_it;
	struct k2_admit admit = { .by_cost = true };
	struct flash_geometry geo = { .generation = 0 };
	struct op_charge c;
	struct k2_admit_rq in;

	flash_geometry_parse("page=4096 chips=16", &geo);
	memset(&c, 0, sizeof(c));
	c.dir = sectors ? flash_op_dir(op) : FLASH_NR_DIRS;
	c.sector = flash_op_placed(op) ? 64 : FLASH_NO_SECTOR;

	c.timed = op_share(FAIR_CHARGE_TIME, &c, sectors, &c.moved);
	c.tenant = op_share(FAIR_CHARGE_SECTORS, &c, sectors, &c.moved);

	memset(&in, 0, sizeof(in));
	op_learn(&admit.cost);
	in.dir = c.dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	in.sectors = c.dir == FLASH_NR_DIRS ? 0 : sectors;
	k2_admit_charge(&admit, &in, 1);
	c.slots = in.slots;
	k2_chips_init(&chips);
	k2_chips_set_layout(&chips, &geo, 0);
	k2_chips_charge(&chips, &k2_it, c.dir, c.sector, in.sectors);
	c.k2_chips = chips.occ.busy;

	memset(&layer, 0, sizeof(layer));
	memset(&part, 0, sizeof(part));
	layer_tun.layout = geo;
	layer_init(&layer);
	layer_set(&layer, &layer_tun, 1 << 20);
	hook_insert(&layer, &part, 1, c.dir, c.sector, sectors, 1);
	layer_select(&layer, 1);
	layer_start(&layer, &part);
	c.pieces = part.pieces;
	c.layer_dir = part.dir;
	c.layer_chips = layer.flight.occ.busy;

	memset(&piq, 0, sizeof(piq));
	memset(&piq_req, 0, sizeof(piq_req));
	piq_sched_init(&piq, pool, &piq_tun);
	piq_set(&piq, PIQ_AUTO, &geo, 0, &piq_tun);
	piq_trust(&piq);
	piq_add(&piq, &piq_req, 1, (enum piq_kind)c.dir, c.sector, sectors, 1);
	piq_dispatch(&piq, piq_choose(&piq, 1), true, 1);
	c.kind = piq_req.kind;
	c.piq_chips = piq.chips.occ.busy;
	c.piq_out = piq.out;
	return c;
}

#endif /* OPTEXT_H */
