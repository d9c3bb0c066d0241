// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of text to service_time.h and the charges of share.h, for tests/host, where
 * scripts/lib/sharecost.py answers the same lines.
 *
 *   reset                            -> ok: no known times, no tenants
 *   learn DIR SECTORS NS             -> ok
 *   time DIR SECTORS                 -> ns
 *   issue ID TENANT DIR SECTORS NOW  -> its charge
 *   end ID NOW                       -> ok
 *   cost TENANT                      -> sum of its charges
 */
#include "common/share/fairqueue.c"

#include <stdlib.h>

#define IDS	4096

static struct fair_queue share;
static struct flash_tags tags;
static struct fair_rq item[IDS];

static void die(const char *line)
{
	fprintf(stderr, "oracle_cost: %s", line);
	exit(EXIT_FAILURE);
}

static void reset(void)
{
	static const struct fair_rules rules = {
		.charge		= FAIR_CHARGE_TIME,
		.antic_max	= 1000000,
	};

	memset(&share, 0, sizeof(share));
	memset(&tags, 0, sizeof(tags));
	memset(item, 0, sizeof(item));
	fair_init(&share, &rules, ~0U);
}

static struct tenant *tenant(unsigned int id, u64 now)
{
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = id };

	return fair_tenant(&share, &key, 100, now);
}

/* Does not add a tenant, or evict one, if @id is unknown. */
static u64 cost(unsigned int id)
{
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = id };
	const struct tenant *t =
		tenant_find(&share.table, &key);

	return t ? t->stats.cost : 0;
}

int main(void)
{
	unsigned long long sectors, now;
	unsigned int id, who, dir;
	char line[512];

	reset();
	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "reset\n")) {
			reset();
			puts("ok");
		} else if (sscanf(line, "learn %u %llu %llu", &dir, &sectors,
				  &now) == 3 && dir < FLASH_NR_DIRS) {
			flash_cost_learn(&share.dev.cost, dir, sectors, now);
			puts("ok");
		} else if (sscanf(line, "time %u %llu", &dir, &sectors) == 2 &&
			   dir < FLASH_NR_DIRS) {
			printf("%llu\n", (unsigned long long)
			       flash_cost_ns(&share.dev.cost, dir, sectors));
		} else if (sscanf(line, "issue %u %u %u %llu %llu", &id, &who,
				  &dir, &sectors, &now) == 5 && id < IDS &&
			   dir < FLASH_NR_DIRS) {
			fair_describe(&item[id], dir, true, 0, (u32)sectors);
			fair_add(&share, &item[id], tenant(who, now), &tags, false, now);
			printf("%llu\n", (unsigned long long)
			       fair_charge(&share, &item[id]));
			fair_issue(&share, &item[id], now);
		} else if (sscanf(line, "end %u %llu", &id, &now) == 2 &&
			   id < IDS && item[id].tenant) {
			fair_release(&share, &item[id], true, now);
			puts("ok");
		} else if (sscanf(line, "cost %u", &who) == 1) {
			printf("%llu\n", (unsigned long long)cost(who));
		} else {
			die(line);
		}
	}
	return EXIT_SUCCESS;
}
