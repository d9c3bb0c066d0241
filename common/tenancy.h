/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tenancy.h - what a scheduler that shares a device is built from
 *
 * tenancy.c supplies the policy_*() functions of elv.h for such schedulers. Each
 * of them adds a table of tunables that begins with TENANCY_TUNABLES, a table of
 * texts that is TENANCY_TEXTS, its modes, and the rules of each.
 */
#ifndef FLASH_TENANCY_H
#define FLASH_TENANCY_H

#include "elv.h"
#include "share.h"

/*
 * max_inflight: requests in the device; 0: as many as it needs.
 * window_depth: so many of its requests a tenant may be ahead of the slowest, if their
 *	chips are idle; so many a turn has at most, if budgets are of time; and who
 *	thinks for longer than its part of the time of so many is not waited for.
 * max_tenants: those beyond share one queue.
 * shared_weight: the weight of that queue.
 * anticipation: whether anybody is waited for; antic_max_us: for how long.
 * lba_offset_sectors: where the device begins on the drive; only its place in
 *	the layout's period matters.
 * inline_dispatch: see elv.c. 0 leaves dispatch to the block layer's worker.
 */
#define TENANCY_TUNABLES(X)				\
	X(max_inflight, 0, 65535, 0)			\
	X(window_depth, 0, 1024, 8)			\
	X(max_tenants, 1, 256, 256)			\
	X(shared_weight, 1, 1000, 100)			\
	X(anticipation, 0, 1, 1)			\
	X(antic_max_us, 0, 100000, 2000)		\
	X(lba_offset_sectors, 0, 2147483647, 0)		\
	X(inline_dispatch, 0, 1, 1)

#define TENANCY_TEXTS(X)						\
	X(mode, tenancy_check_mode, "auto", TENANCY_MODES)		\
	X(tenant_by, tenancy_check_by, "auto",				\
	  "one of auto cgroup task ioprio")				\
	X(charge, tenancy_check_charge, "auto",				\
	  "one of auto sectors requests time")				\
	X(layout, flash_layout_check, "none",				\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...")

#define TENANCY_STORED(X)						\
	X(weights, tenancy_weights_show, tenancy_weights_store)

/**
 * enum tenancy_charge - what the user says about charges
 * @TENANCY_AUTO: what the mode does by itself
 * @TENANCY_SECTORS: and so on, see enum flash_charge
 */
enum tenancy_charge {
	TENANCY_AUTO,
	TENANCY_SECTORS,
	TENANCY_REQUESTS,
	TENANCY_TIME,
	TENANCY_NR_CHARGES,
};

/** tenancy_charged - what is charged, @own if the user leaves that to the mode */
static inline enum flash_charge tenancy_charged(enum tenancy_charge charge,
						enum flash_charge own)
{
	switch (charge) {
	case TENANCY_SECTORS:
		return FLASH_CHARGE_SECTORS;
	case TENANCY_REQUESTS:
		return FLASH_CHARGE_REQUESTS;
	case TENANCY_TIME:
		return FLASH_CHARGE_TIME;
	default:
		return own;
	}
}

int tenancy_check_mode(const char *text);
int tenancy_check_by(const char *text);
int tenancy_check_charge(const char *text);
ssize_t tenancy_weights_show(struct elevator_queue *eq, char *page);
ssize_t tenancy_weights_store(struct elevator_queue *eq, const char *page,
			      size_t count);

/*
 * The scheduler.
 */

/** tenancy_modes - the names of its modes, "auto" first, ended by NULL */
extern const char * const tenancy_modes[];

/**
 * tenancy_rules - the rules of a mode
 * @fq: the device, locked
 * @mode: its place in tenancy_modes
 * @charge: what the user says about that
 * @rules: to be set, all but those that follow from the tunables above
 */
void tenancy_rules(struct flash_queue *fq, unsigned int mode,
		   enum tenancy_charge charge,
		   struct flash_share_rules *rules);

#endif /* FLASH_TENANCY_H */
