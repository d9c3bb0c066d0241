// SPDX-License-Identifier: GPL-2.0
/*
 * The charge of each operation by each scheduler, and whether it is counted on the
 * chips of its sector. docs/operations.md has the same data as a table.
 */
#include "layer_read/sublayer.c"
#include "optext.h"
#include "tap.h"

/* Of 256 sectors, which are all 16 chips: a read costs 266 us, a write 1064 us. */
#define NOTHING { FLASH_NR_DIRS, FLASH_NO_SECTOR, 8, 72000, 0, 16, 0, 1, \
		  FLASH_WRITE, 0, PIQ_OTHER, 0, 1 }

static const struct {
	const char *name;
	struct op_charge c;
} want[] = {
	{ "READ",	{ FLASH_READ, 64, 256, 266000, 256, 236, 16, 4, FLASH_READ,
			  16, PIQ_READ, 16, 1 } },
	{ "WRITE",	{ FLASH_WRITE, 64, 256, 1064000, 256, 945, 16, 8, FLASH_WRITE,
			  16, PIQ_WRITE, 16, 1 } },
	{ "FLUSH",	NOTHING },
	{ "DISCARD",	NOTHING },
	{ "SECURE_ERASE", NOTHING },
	/* Like a write, but its chips are unknown. */
	{ "ZONE_APPEND", { FLASH_WRITE, FLASH_NO_SECTOR, 256, 1064000, 256, 945, 0, 8,
			  FLASH_WRITE, 0, PIQ_WRITE, 0, 1 } },
	{ "WRITE_ZEROES", NOTHING },
	{ "ZONE_OPEN",	NOTHING },
	{ "ZONE_CLOSE",	NOTHING },
	{ "ZONE_FINISH", NOTHING },
	{ "ZONE_RESET",	NOTHING },
	{ "ZONE_RESET_ALL", NOTHING },
	{ "DRV_IN",	{ FLASH_READ, FLASH_NO_SECTOR, 256, 266000, 256, 236, 0, 4,
			  FLASH_READ, 0, PIQ_READ, 0, 1 } },
	{ "DRV_OUT",	{ FLASH_WRITE, FLASH_NO_SECTOR, 256, 1064000, 256, 945, 0, 8,
			  FLASH_WRITE, 0, PIQ_WRITE, 0, 1 } },
};

static void all(void)
{
	struct op_charge c;
	size_t i;

	eq(NR_OPS, sizeof(want) / sizeof(want[0]), "all operations");
	eq(NR_OPS, REQ_OP_LAST, "of the header's");
	for (i = 0; i < NR_OPS; i++) {
		const struct op_charge *w = &want[i].c;
		const char *name = want[i].name;

		c = op_charge(ops[i].op, 256);
		eq(strcmp(ops[i].name, name), 0, "%s", name);
		eq(c.dir, w->dir, "%s: direction of its data", name);
		eq(c.sector, w->sector, "%s: where that is", name);
		eq(c.tenant, w->tenant, "%s: acfq, hbfq: sectors", name);
		eq(c.timed, w->timed, "%s: acfq, hbfq: time", name);
		eq(c.moved, w->moved, "%s: acfq, hbfq: data", name);
		eq(c.slots, w->slots, "%s: k2: sixteenths of a slot", name);
		eq(c.k2_chips, w->k2_chips, "%s: k2: chips", name);
		eq(c.pieces, w->pieces, "%s: layer_read: pieces", name);
		eq(c.layer_dir, w->layer_dir, "%s: layer_read: queue", name);
		eq(c.layer_chips, w->layer_chips, "%s: layer_read: chips", name);
		eq(c.kind, w->kind, "%s: piq: kind", name);
		eq(c.piq_chips, w->piq_chips, "%s: piq: chips", name);
		eq(c.piq_out, w->piq_out, "%s: piq: counts for the limit", name);
	}
}

/* The length of a request without data is not charged, and no request is free. */
static void lengths(void)
{
	struct op_charge c;
	size_t i;

	for (i = 0; i < NR_OPS; i++) {
		bool data = flash_op_dir(ops[i].op) != FLASH_NR_DIRS;

		c = op_charge(ops[i].op, 8388607);
		eq(c.tenant, data ? 8388607 : 8, "%s of 4 GiB: sectors",
		   ops[i].name);
		eq(c.moved, data ? 8388607 : 0, "%s of 4 GiB: data",
		   ops[i].name);
		eq(c.slots > 16, data, "%s of 4 GiB: slots", ops[i].name);
		eq(c.pieces > 1, data, "%s of 4 GiB: pieces", ops[i].name);
		c = op_charge(ops[i].op, 0);
		eq(c.tenant, 8, "%s of nothing: sectors", ops[i].name);
		eq(c.slots, 16, "%s of nothing: slots", ops[i].name);
		eq(c.pieces, 1, "%s of nothing: pieces", ops[i].name);
		eq(c.kind, PIQ_OTHER, "%s of nothing: piq: kind", ops[i].name);
	}
}

/* Writes without an address wait for no chip, and no chip waits for them. */
static void without_chips(void)
{
	static const struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};
	static struct flash_batch pool[PIQ_NR_BATCHES];
	static const enum piq_mode modes[] = { PIQ_NOOP, PIQ_RWS, PIQ_AUTO };
	static struct piq_req req[32];
	static struct piq_sched s;
	struct flash_geometry geo = { .generation = 0 };
	struct piq_req *next;
	u32 i, m, out;

	flash_geometry_parse("page=4096 chips=4", &geo);
	for (m = 0; m < 3; m++) {
		memset(&s, 0, sizeof(s));
		memset(req, 0, sizeof(req));
		piq_sched_init(&s, pool, &tun);
		piq_set(&s, modes[m], &geo, 0, &tun);
		piq_trust(&s);
		for (i = 0; i < 32; i++)
			piq_add(&s, &req[i], i + 1, PIQ_WRITE, FLASH_NO_SECTOR,
				64, 1);
		for (out = 0; out < 32; out++) {
			next = piq_choose(&s, 1);
			if (!next)
				break;
			piq_dispatch(&s, next, true, 1);
		}
		eq(out, 32, "mode %d: all of them go", modes[m]);
		eq(s.chips.occ.busy, 0, "mode %d: on no chip", modes[m]);
	}

	/* A write without an address is a batch with no other one, so no batch is endless. */
	memset(&s, 0, sizeof(s));
	memset(req, 0, sizeof(req));
	piq_sched_init(&s, pool, &tun);
	piq_set(&s, PIQ_PIQ, &geo, 0, &tun);
	piq_add(&s, &req[0], 1, PIQ_WRITE, FLASH_NO_SECTOR, 64, 1);
	piq_dispatch(&s, piq_choose(&s, 1), true, 1);
	piq_add(&s, &req[1], 2, PIQ_READ, 0, 8, 1);
	piq_add(&s, &req[2], 3, PIQ_WRITE, FLASH_NO_SECTOR, 64, 1);
	eq(piq_choose(&s, 1) == NULL, 1, "a batch is outstanding");
	eq(req[2].part.batch != req[0].part.batch, 1, "another one has another");
	piq_add(&s, &req[3], 4, PIQ_WRITE, 0, 8, 1);
	eq(req[3].part.batch == req[0].part.batch, 1,
	   "a write with an address may join as long as its chips are free");
	piq_release(&s, &req[0]);
	eq(piq_choose(&s, 1) == &req[3], 1, "which it does");
	piq_dispatch(&s, &req[3], true, 1);
	piq_release(&s, &req[3]);
	eq(piq_choose(&s, 1) == &req[1], 1, "then their turn is over");
}

/* A read without an address, from a driver's command, waits in the last sub-layer. */
static void without_layer(void)
{
	struct layer_tunables tun = {
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.sort_writes = true,
	};
	static struct layer_sched s;
	static struct layer_part part[3];

	flash_geometry_parse("page=4096 chips=3", &tun.layout);
	memset(&s, 0, sizeof(s));
	layer_init(&s);
	layer_set(&s, &tun, 1000);
	eq(layer_index(&s.map, FLASH_NO_SECTOR), 2, "by chips it is the last one");
	tun.mode = LAYER_PAPER;
	layer_set(&s, &tun, 1000);
	eq(layer_index(&s.map, FLASH_NO_SECTOR), 3, "and so by ranges");
	hook_insert(&s, &part[0], 1, FLASH_WRITE, 0, 8, 1);
	hook_insert(&s, &part[1], 2, FLASH_WRITE, FLASH_NO_SECTOR, 8, 1);
	eq(layer_select(&s, 1) == &part[1], 1,
	   "among sorted writes one without an address is first");
}

int main(void)
{
	all();
	lengths();
	without_chips();
	without_layer();
	return tap_done();
}
