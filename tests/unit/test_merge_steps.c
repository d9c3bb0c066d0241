// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a merge while 32768 requests wait. A disk with 128 hardware queues can
 * have as many, and a merge runs under the lock with interrupts off. And the cost of a
 * request while 256 tenants share the device.
 *
 * The compiler calls __sanitizer_cov_trace_pc() in each basic block, so the test counts
 * steps and reads no clock. The size of a step depends on the compiler; the limit is far
 * above the cost of any merge and far below one step for each waiting request.
 */
#include "layerhooks.h"
#include "piq/sched.h"
#include "common/share/fairqueue.c"
#include "k2/chips.h"
#include "tap.h"

#define WAITING		32768
#define LIMIT		2500

/* For a request of one of 256 tenants, without and with a layout */
#define TENANTS_LIMIT	400
#define CHIPS_LIMIT	2000

/* Volatile: the compiler adds the calls that count. */
static volatile unsigned long long steps;

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

/* Check that @call takes at most LIMIT steps. */
#define few(what, call) do {						\
	unsigned long long begun = steps, took;				\
									\
	call;								\
	took = steps - begun;						\
	printf("# %s: %llu steps\n", what, took);			\
	eq(took && took <= LIMIT, 1, "%s: few steps", what);		\
} while (0)

static struct flash_geometry layout(const char *text)
{
	struct flash_geometry geo = { .generation = 0 };

	if (flash_geometry_parse(text, &geo)) {
		printf("Bail out! bad layout %s\n", text);
		exit(EXIT_FAILURE);
	}
	return geo;
}

/* Layer_Read */

static struct layer_sched layers;
static struct layer_part layer_rq[WAITING + 1];

/* Insert requests in two sub-layers alternately, at rising sectors of each. */
static void layer_fill(enum layer_mode mode, const char *text,
		       enum flash_dir dir, bool sort_writes)
{
	struct layer_tunables tun = {
		.chips = 1, .per_layer = 8, .batch = { 16, 20 },
		.sort_writes = sort_writes, .mode = mode, .layout = layout(text),
	};
	u32 i;

	memset(&layers, 0, sizeof(layers));
	memset(layer_rq, 0, sizeof(layer_rq));
	layer_init(&layers);
	layer_set(&layers, &tun, 1ULL << 30);
	for (i = 0; i <= WAITING; i++)
		hook_insert(&layers, &layer_rq[i], i + 1, dir,
			  ((u64)(i % 2) << 29) + 4096 + (u64)i * 16, 8, i);
}

static void layer_steps(enum layer_mode mode, const char *text)
{
	struct layer_part *young = &layer_rq[WAITING];
	struct layer_part *old = &layer_rq[0], *mid = &layer_rq[WAITING / 2];

	layer_fill(mode, text, FLASH_READ, false);
	few("layer_read: the youngest swallows the oldest of its sub-layer",
	    layer_absorb(&layers, young, old, young->sector, 16));
	few("layer_read: the next one", layer_select(&layers, 1));

	layer_fill(mode, text, FLASH_READ, false);
	old = &layer_rq[1];
	few("layer_read: the youngest swallows the oldest of another one",
	    layer_absorb(&layers, young, old, young->sector, 16));
	few("layer_read: one that is late swallows an older one",
	    layer_absorb(&layers, young, &layer_rq[0], young->sector, 24));
	few("layer_read: the next one", layer_select(&layers, 1));

	layer_fill(mode, text, FLASH_READ, false);
	few("layer_read: an old one grows into another sub-layer",
	    layer_grow(&layers, mid, mid->sector + (1ULL << 29) + 8, 16));
	few("layer_read: the next one", layer_select(&layers, 1));

	layer_fill(mode, text, FLASH_WRITE, true);
	old = &layer_rq[0];
	few("layer_read: a sorted write swallows the oldest one",
	    layer_absorb(&layers, young, old, young->sector, 16));
	few("layer_read: the next one", layer_select(&layers, 1));
}

/* PIQ */

static struct piq_sched piq;
static struct flash_batch pool[PIQ_NR_BATCHES];
static struct piq_req piq_rq[WAITING + 4];

static void piq_one(u32 i, u64 sector, u32 sectors, bool urgent)
{
	piq_rq[i].urgent = urgent;
	piq_add(&piq, &piq_rq[i], i + 1, PIQ_READ, sector, sectors, i);
}

/*
 * First three of one page, on chips 0, 1 and 0; then of @sectors, and one of one page on
 * chip 1.
 */
static void piq_fill(enum piq_mode mode, const char *text, u32 sectors,
		     bool urgent)
{
	struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 1000000000,
	};
	struct flash_geometry geo = layout(text);
	u32 i;

	memset(&piq, 0, sizeof(piq));
	memset(piq_rq, 0, sizeof(piq_rq));
	piq_sched_init(&piq, pool, &tun);
	piq_set(&piq, mode, &geo, 0, &tun);
	piq_trust(&piq);
	piq_one(0, 0, 8, urgent);
	piq_one(1, 8, 8, urgent);
	piq_one(2, 32, 8, urgent);
	for (i = 3; i < WAITING + 3; i++)
		piq_one(i, 64 + (u64)i * 32, sectors, urgent);
	piq_one(i, 8, 8, urgent);
}

static void piq_then(const char *what)
{
	few(what, piq_choose(&piq, 1));
}

static void piq_steps(enum piq_mode mode, const char *text, u32 sectors,
		      bool urgent)
{
	struct piq_req *young = &piq_rq[WAITING + 3];

	printf("# mode %d, layout %s, %u sectors, urgent %d\n", mode, text,
	       sectors, urgent);
	piq_fill(mode, text, sectors, urgent);
	few("piq: an old one grows beyond its chip",
	    piq_grow(&piq, &piq_rq[0], 0, 16));
	piq_then("piq: the next one");
	few("piq: another one does", piq_grow(&piq, &piq_rq[2], 32, 16));
	piq_then("piq: the next one");

	piq_fill(mode, text, sectors, urgent);
	few("piq: the youngest swallows one of the oldest, of another chip",
	    piq_absorb(&piq, young, &piq_rq[0], 0, 16));
	piq_then("piq: the next one");
	few("piq: and one more", piq_absorb(&piq, young, &piq_rq[2], 0, 40));
	piq_then("piq: the next one");

	piq_fill(mode, text, sectors, urgent);
	few("piq: the youngest swallows one of the oldest, of its chip",
	    piq_absorb(&piq, young, &piq_rq[1], 8, 8));
	piq_then("piq: the next one");

	piq_fill(mode, text, sectors, urgent);
	few("piq: the youngest swallows an old one of several chips",
	    piq_absorb(&piq, young, &piq_rq[WAITING / 2], 8,
		       (u32)piq_rq[WAITING / 2].sector + sectors));
	piq_then("piq: the next one");

	piq_fill(mode, text, sectors, urgent);
	few("piq: the oldest swallows the youngest",
	    piq_absorb(&piq, &piq_rq[0], young, 0, 16));
	piq_then("piq: the next one");
}

/* Tenants */

static struct fair_queue share;
static struct flash_tags tags;
static struct fair_rq share_rq[WAITING];

static void share_steps(const char *text)
{
	static const struct fair_rules rules = {
		.charge = FAIR_CHARGE_SECTORS, .depth = 4,
	};
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = 1 };
	struct flash_geometry geo = layout(text);
	struct tenant *t;
	u32 i;

	memset(&share, 0, sizeof(share));
	memset(&tags, 0, sizeof(tags));
	memset(share_rq, 0, sizeof(share_rq));
	fair_init(&share, &rules, ~0U);
	fair_set_layout(&share, &geo, 0);
	t = fair_tenant(&share, &key, 100, 1);
	for (i = 0; i < WAITING; i++) {
		fair_describe(&share_rq[i], FLASH_READ, true, (u64)i * 16, 8);
		fair_add(&share, &share_rq[i], t, &tags, false, 1);
	}
	few("acfq, hbfq: the youngest swallows an old one",
	    fair_absorb(&share, &share_rq[WAITING - 1], &share_rq[1], true,
			share_rq[WAITING - 1].sector, 16));
	few("acfq, hbfq: the next one", fair_next(&share, 2));
	few("acfq, hbfq: an old one grows",
	    fair_grow(&share, &share_rq[2], 24, 16));
	few("acfq, hbfq: the next one", fair_next(&share, 2));
}

/* All tenants are busy: requests of others look at few of them, but once. */
static void full_table_steps(void)
{
	static const struct fair_rules rules = { .charge = FAIR_CHARGE_SECTORS };
	struct tenant_key key = { .kind = FLASH_BY_CGROUP };
	unsigned long long begun;
	struct tenant *t;

	memset(&share, 0, sizeof(share));
	memset(&tags, 0, sizeof(tags));
	memset(share_rq, 0, sizeof(share_rq));
	fair_init(&share, &rules, ~0U);
	for (key.id = 1; key.id <= FLASH_TENANTS; key.id++) {
		t = fair_tenant(&share, &key, 100, 1);
		fair_describe(&share_rq[key.id], FLASH_READ, true, key.id * 16, 8);
		fair_add(&share, &share_rq[key.id], t, &tags, false, 1);
	}
	eq(share.busy, FLASH_TENANTS, "all tenants are busy");
	eq(fair_tenant(&share, &key, 100, 1) == &share.table.t[0], 1,
	   "another one shares a queue");
	begun = steps;
	fair_tenant(&share, &key, 100, 1);
	printf("# acfq, hbfq: one more: %llu steps\n", steps - begun);
	eq(steps - begun <= 100, 1, "acfq, hbfq: few steps for each request of it");
}

/*
 * All tenants have a request that waits, and up to @depth of their requests are in the
 * device. One is chosen and issued, the oldest one completes, and its tenant sends another.
 */
static void tenants_steps(const char *what, const struct fair_rules *rules, const char *text,
			  u32 depth, u32 most)
{
	struct tenant_key key = { .kind = FLASH_BY_CGROUP };
	struct flash_geometry geo = layout(text);
	u32 i, n, issued = 0, ended = 0, rounds = 4 * FLASH_TENANTS;
	static struct fair_rq *out[4 * FLASH_TENANTS];
	unsigned long long took;
	struct tenant *t;

	memset(&share, 0, sizeof(share));
	memset(&tags, 0, sizeof(tags));
	memset(share_rq, 0, sizeof(share_rq));
	fair_init(&share, rules, ~0U);
	fair_set_layout(&share, &geo, 0);
	for (n = 0; n < 2 * FLASH_TENANTS; n++) {
		key.id = n % FLASH_TENANTS + 1;
		t = fair_tenant(&share, &key, (u32)(100 + key.id), 1);
		fair_describe(&share_rq[n], FLASH_READ, true, n * 16, 8);
		fair_add(&share, &share_rq[n], t, &tags, false, 1);
	}
	took = steps;
	for (i = 0; i < rounds; i++) {
		struct fair_rq *rq = fair_next(&share, i);

		if (rq)
			fair_issue(&share, rq, i);
		if (rq)
			out[issued++] = rq;
		if (issued - ended < depth && rq)
			continue;
		rq = out[ended++];
		t = rq->tenant;
		fair_release(&share, rq, true, i);
		fair_add(&share, rq, t, &tags, false, i);
	}
	took = (steps - took) / rounds;
	printf("# %s: %llu steps\n", what, took);
	eq(issued > rounds / 2, 1, "%s: a request is issued most of the time", what);
	eq(took <= most, 1, "%s: few steps a request", what);
}

static void all_tenants_steps(void)
{
	struct fair_rules window = {
		.charge = FAIR_CHARGE_SECTORS, .depth = 8, .antic = true,
		.antic_max = 2000000,
	};
	struct fair_rules budgets = window;

	budgets.budgets = true;
	budgets.budget.standard = 8;
	tenants_steps("window", &window, "none", 32, TENANTS_LIMIT);
	tenants_steps("window, many in the device", &window, "none", 200, TENANTS_LIMIT);
	tenants_steps("budgets", &budgets, "none", 32, TENANTS_LIMIT);
	tenants_steps("with a layout", &window, "page=4096 chips=4", 32, CHIPS_LIMIT);
}

/* K2: only its chips; its queues are lists, where a merge moves an entry in O(1) */

static struct k2_chips chips;
static struct k2_chips_rq k2_rq[WAITING + 1];

static void k2_steps(void)
{
	struct flash_geometry geo = layout("page=4096 chips=4");
	u32 i;

	memset(k2_rq, 0, sizeof(k2_rq));
	k2_chips_init(&chips);
	chips.max_pass = 256;
	k2_chips_set_layout(&chips, &geo, 0);
	k2_chips_insert(&chips, &k2_rq[0], 0, 8);
	k2_chips_insert(&chips, &k2_rq[1], 8, 8);
	for (i = 2; i <= WAITING; i++)
		k2_chips_insert(&chips, &k2_rq[i], (u64)i * 16, 16);
	few("k2: an old one grows beyond its chip",
	    k2_chips_grow(&chips, &k2_rq[1], 8, 16));
	few("k2: the youngest swallows an old one",
	    k2_chips_absorb(&chips, &k2_rq[WAITING], &k2_rq[1]));
	few("k2: the next one", k2_chips_pick(&chips, &k2_rq[0]));
}

int main(void)
{
	layer_steps(LAYER_PAPER, "none");
	layer_steps(LAYER_AUTO, "none");
	layer_steps(LAYER_AUTO, "page=4096 chips=4");

	piq_steps(PIQ_AUTO, "none", 8, false);
	piq_steps(PIQ_AUTO, "none", 8, true);
	piq_steps(PIQ_AUTO, "page=4096 chips=4", 8, false);
	piq_steps(PIQ_AUTO, "page=4096 chips=4", 16, false);
	piq_steps(PIQ_AUTO, "page=4096 chips=4", 16, true);
	piq_steps(PIQ_NOOP, "page=4096 chips=4", 16, false);
	piq_steps(PIQ_RWS, "page=4096 chips=4", 16, false);
	piq_steps(PIQ_PIQ, "page=4096 chips=4", 16, false);

	share_steps("none");
	share_steps("page=4096 chips=4");
	full_table_steps();
	all_tenants_steps();
	k2_steps();
	return tap_done();
}
