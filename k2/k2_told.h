/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_told.h - what the search for K2's bound is told: what is wanted, what the
 * device does, what has ended
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 */
#ifndef K2_TOLD_H
#define K2_TOLD_H

#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

enum k2_policy {
	K2_STATIC,
	K2_LATENCY,
	K2_BANDWIDTH,
	K2_NR_POLICIES,
};

/**
 * struct k2_target - what the user wants
 * @policy:	which of them
 * @start:	the static bound, and where a search begins
 * @quantile:	parts of a million that are to be in time
 * @target_ns:	in time is what takes no longer; 0: see @target_pct
 * @target_pct:	in per cent of the tail that the device has without a bound
 * @floor_pct:	bandwidth to keep, in per cent of that without a bound
 * @hold_ns:	without a real-time request for so long the bound opens; 0: never
 */
struct k2_target {
	enum k2_policy policy;
	u32 start;
	u32 quantile;
	u64 target_ns;
	u32 target_pct;
	u32 floor_pct;
	u64 hold_ns;
};

/**
 * struct k2_calibration - what the device does without a bound
 * @rate:	sectors in 16 s; 0: not known
 * @tail_ns:	the quantile of real-time requests, or of all if they were few
 * @at:		when that was found out, ns
 */
struct k2_calibration {
	u64 rate;
	u64 tail_ns;
	u64 at;
};

/**
 * struct k2_end - the end of a request
 * @now:	when, ns
 * @arrived:	when it came to the scheduler, ns; 0: not known
 * @sectors:	what it has moved
 * @inflight:	requests in the device, this one among them
 * @rt:		it was a real-time request
 * @returned:	see k2_control_arrived()
 * @refused:	the bound held something back when it ended
 */
struct k2_end {
	u64 now;
	u64 arrived;
	u64 sectors;
	u32 inflight;
	bool rt;
	bool returned;
	bool refused;
};

#endif /* K2_TOLD_H */
