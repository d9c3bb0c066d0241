/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairshare.h - what a scheduler that shares a device is built from
 *
 * fairshare.c supplies the policy_*() functions of iosched.h for such schedulers. Each
 * of them adds a table of tunables that begins with TENANCY_TUNABLES, a table of
 * texts that is TENANCY_TEXTS, its modes, and the rules of each.
 */
#ifndef FLASH_FAIRSHARE_H
#define FLASH_FAIRSHARE_H

#include "../elevator/iosched.h"
#include "share.h"

/*
 * window_depth has three uses. With a layout, a tenant may be ahead of the slowest
 *	one by this many of its requests if their chips are idle. Where time is
 *	charged, a turn has at most this many. A tenant whose think time exceeds its
 *	part of the time of this many is not anticipated.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * inline_dispatch: see elevator.c.
 */
#define TENANCY_TUNABLES(X)					\
	X(max_inflight, 0, 65535, 0,					\
	  "requests in the device at once, 0 = as many as it needs")	\
	X(window_depth, 0, 1024, 8,					\
	  "requests of a tenant's lead (with a layout) or turn (time charged)") \
	X(max_tenants, 1, 256, 256,					\
	  "tenants with a queue of their own, the others share one")	\
	X(shared_weight, 1, 1000, 100,					\
	  "weight of the shared queue")					\
	X(anticipation, 0, 1, 1,					\
	  "hold of the device for a tenant about to send more (1 = on)") \
	X(antic_max_us, 0, 100000, 2000,				\
	  "longest hold of the device for a tenant, in us")		\
	X(lba_offset_sectors, 0, 2147483647, 0,				\
	  "start of this device on the drive, in sectors of 512 bytes, for layout") \
	X(inline_dispatch, 0, 1, 1,					\
	  "issue by the submitting task (1) or left to the block layer (0)")

#define TENANCY_TEXTS(X)						\
	X(mode, tenancy_check_mode, "auto", TENANCY_MODES,		\
	  "scheduling mode")						\
	X(tenant_by, tenancy_check_by, "auto",				\
	  "one of auto cgroup task ioprio",				\
	  "identity of a request's tenant")				\
	X(charge, tenancy_check_charge, "auto",				\
	  "one of auto sectors requests time",				\
	  "quantity charged to a tenant")				\
	X(layout, flash_layout_check, "none",				\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")

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

#endif /* FLASH_FAIRSHARE_H */
