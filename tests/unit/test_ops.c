// SPDX-License-Identifier: GPL-2.0
/*
 * What each operation is charged by each scheduler, and whether it is counted on the
 * chips of its sector. docs/operations.md has the same as a table.
 */
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
	/* As a write, on unknown chips */
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
		eq(c.piq_out, w->piq_out, "%s: piq: counts for the bound", name);
	}
}

/* A length that is no data's is never charged, nor is none. */
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

/* Writes without an address wait for no chip, and none waits for them. */
static void without_chips(void)
{
	static const struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};
	static struct flash_batch pool[PIQ_QUEUE_MAX];
	static const enum piq_mode modes[] = { PIQ_NOOP, PIQ_RWS, PIQ_AUTO };
	static struct piq_item it[32];
	static struct piq_sched s;
	struct flash_geometry geo = { .generation = 0 };
	struct piq_item *next;
	u32 i, m, out;

	flash_geometry_parse("page=4096 chips=4", &geo);
	for (m = 0; m < 3; m++) {
		memset(&s, 0, sizeof(s));
		memset(it, 0, sizeof(it));
		piq_sched_init(&s, pool, &tun);
		piq_set(&s, modes[m], &geo, 0, &tun);
		piq_trust(&s);
		for (i = 0; i < 32; i++)
			piq_add(&s, &it[i], i + 1, PIQ_WRITE, FLASH_NO_SECTOR,
				64, 1);
		for (out = 0; out < 32; out++) {
			piq_reserve(&s, 1);
			next = piq_next(&s);
			if (!next)
				break;
			piq_issue(&s, next, 1);
			piq_take(&s, next, 1);
		}
		eq(out, 32, "mode %d: all of them go", modes[m]);
		eq(s.occ.busy, 0, "mode %d: on no chip", modes[m]);
	}

	/* In the paper's batches each is one of its own: none goes on for ever. */
	memset(&s, 0, sizeof(s));
	memset(it, 0, sizeof(it));
	piq_sched_init(&s, pool, &tun);
	piq_set(&s, PIQ_PIQ, &geo, 0, &tun);
	piq_add(&s, &it[0], 1, PIQ_WRITE, FLASH_NO_SECTOR, 64, 1);
	piq_issue(&s, piq_next(&s), 1);
	piq_take(&s, &it[0], 1);
	piq_add(&s, &it[1], 2, PIQ_READ, 0, 8, 1);
	piq_add(&s, &it[2], 3, PIQ_WRITE, FLASH_NO_SECTOR, 64, 1);
	eq(piq_next(&s) == NULL, 1, "a batch is outstanding");
	eq(it[2].part.batch != it[0].part.batch, 1, "another one has another");
	piq_add(&s, &it[3], 4, PIQ_WRITE, 0, 8, 1);
	eq(it[3].part.batch == it[0].part.batch, 1,
	   "a write with an address may join as long as its chips are free");
	piq_give(&s, &it[0]);
	eq(piq_next(&s) == &it[3], 1, "which it does");
	piq_issue(&s, &it[3], 1);
	piq_take(&s, &it[3], 1);
	piq_give(&s, &it[3]);
	eq(piq_next(&s) == &it[1], 1, "then their turn is over");
}

/* A read without an address, of a driver's own command, waits in some sub-layer. */
static void without_layer(void)
{
	static const struct layer_tunables tun = {
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.sort_writes = true,
	};
	static struct layer_sched s;
	static struct layer_item it[3];
	struct flash_geometry geo = { .generation = 0 };

	flash_geometry_parse("page=4096 chips=3", &geo);
	memset(&s, 0, sizeof(s));
	layer_init(&s, &tun);
	layer_set(&s, LAYER_AUTO, &geo, 0, 1000, &tun);
	eq(layer_index(&s, FLASH_NO_SECTOR), 2, "by chips it is the last one");
	layer_set(&s, LAYER_PAPER, &geo, 0, 1000, &tun);
	eq(layer_index(&s, FLASH_NO_SECTOR), 3, "and so by ranges");
	layer_add(&s, &it[0], 1, FLASH_WRITE, 0, 8, 1);
	layer_add(&s, &it[1], 2, FLASH_WRITE, FLASH_NO_SECTOR, 8, 1);
	eq(layer_next(&s, 0, 1) == &it[1], 1,
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
