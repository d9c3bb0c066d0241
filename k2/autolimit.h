/* SPDX-License-Identifier: GPL-2.0 */
/*
 * autolimit.h - K2 finds its in-flight limit itself
 *
 * autolimit.c explains the search. All of it is guarded by flash_queue.lock.
 */
#ifndef K2_AUTOLIMIT_H
#define K2_AUTOLIMIT_H

#include <linux/types.h>

#include "../common/estimate/histogram.h"

/* The largest limit: in effect none */
#define AUTOLIMIT_MAX	65535

enum k2_policy {
	K2_STATIC,
	K2_LATENCY,
	K2_BANDWIDTH,
	K2_NR_POLICIES,
};

/**
 * struct autolimit_config - what the user has set
 * @policy: the goal of the search; K2_STATIC: no search
 * @start: the limit with K2_STATIC, and the first one of a search
 * @quantile: share of real-time requests to meet the target, in parts of a million
 * @target_ns: longest time of a real-time request, ns; 0: @target_pct
 * @target_pct: the target in % of autolimit_device.tail_ns
 * @floor_pct: bandwidth to keep, in % of autolimit_device.rate
 * @hold_ns: time without real-time requests that lifts the limit, ns; 0: never
 */
struct autolimit_config {
	enum k2_policy policy;
	u32 start;
	u32 quantile;
	u64 target_ns;
	u32 target_pct;
	u32 floor_pct;
	u64 hold_ns;
};

/**
 * struct autolimit_device - result of a calibration: the device without a limit
 * @rate: bandwidth, in sectors per 16 s; 0: unknown
 * @tail_ns: the quantile of real-time requests, or of all requests if few were real-time
 * @at: time of the calibration, ns
 */
struct autolimit_device {
	u64 rate;
	u64 tail_ns;
	u64 at;
};

/**
 * struct autolimit_end - a request that completes
 * @now: the time, ns
 * @inserted: time of its first insertion, ns; 0: unknown
 * @sectors: data that it moved
 * @inflight: requests in the device, with this one
 * @rt: it is a real-time request
 * @behind_excess: result of autolimit_insert() for it
 * @held_back: the limit keeps requests waiting
 */
struct autolimit_end {
	u64 now;
	u64 inserted;
	u64 sectors;
	u32 inflight;
	bool rt;
	bool behind_excess;
	bool held_back;
};

/**
 * struct autolimit_step - the level; written when a real-time request completes
 * @at: time of the latest step, ns
 * @nr: steps
 * @samples: real-time requests since the latest step
 * @late: of these, those that missed the target
 * @in_time: of these, those in time while the limit kept requests waiting, weighted
 * @run: of these, those in a row since the latest late one
 * @any_late: a request has been late since autolimit_set()
 * @held_back: the limit has kept a request waiting since the latest sample
 * @fresh: since the latest step a request completed that was inserted after @cut_at
 * @cut_at: when the current descent of the level began, ns
 * @cut_low: the lowest level that this descent may reach
 */
struct autolimit_step {
	u64 at;
	u64 nr;
	u32 samples;
	u32 late;
	u64 in_time;
	u64 run;
	bool any_late;
	bool held_back;
	bool fresh;
	u64 cut_at;
	s64 cut_low;
};

/**
 * struct autolimit_target - is the target in reach? Judged once a second.
 * @at: time of the latest judgement, ns
 * @judgements: their number
 * @samples: recent real-time requests
 * @late: of these, those that missed the target
 * @beyond: of these, those that no limit could have helped
 * @unmet: the target is infeasible
 */
struct autolimit_target {
	u64 at;
	u32 judgements;
	u64 samples;
	u64 late;
	u64 beyond;
	bool unmet;
};

/**
 * struct autolimit_window - bandwidth now; written when a request completes
 * @begun: start of the window, ns; 0: none has begun
 * @level: log of the limit at its start
 * @sectors: sectors moved
 * @ends: completed requests
 * @held_back: of these, those that completed while the limit kept requests waiting
 */
struct autolimit_window {
	u64 begun;
	s64 level;
	u64 sectors;
	u32 ends;
	u32 held_back;
};

/**
 * struct autolimit_second - bandwidth of seconds, and how much they differ
 * @begun: start of the second, ns; 0: none has begun
 * @sectors: sectors moved
 * @full: the limit kept requests waiting in every window of it
 * @rate: bandwidth of the second before, in sectors per 16 s
 * @scatter: mean difference of seconds, a log
 */
struct autolimit_second {
	u64 begun;
	u64 sectors;
	bool full;
	u64 rate;
	s64 scatter;
};

/**
 * struct autolimit_floor - the floor; written at the end of a window
 * @best: the largest bandwidth of a window, in sectors per 16 s
 * @mean: moving average of windows, in sectors per 16 s
 * @climbing: bandwidth is too low, and the floor rises
 * @climb_from: the floor when that began
 * @climb_rate: bandwidth when that began, in sectors per 16 s
 * @starved: the bandwidth is infeasible
 * @starved_at: time when that was found, ns
 * @lacked_at: time of the latest window with too little bandwidth, ns
 */
struct autolimit_floor {
	u64 best;
	u64 mean;
	bool climbing;
	s64 climb_from;
	u64 climb_rate;
	bool starved;
	u64 starved_at;
	u64 lacked_at;
};

/**
 * struct autolimit_measure - a calibration that runs
 * @on: it runs
 * @begun: its start, ns
 * @last: time of the latest completion, ns
 * @busy_ns: time in which the device was busy, ns
 * @sectors: sectors moved
 * @ends: completed requests
 * @rt_ends: of these, real-time ones
 * @times: times of all requests, and of real-time ones
 */
struct autolimit_measure {
	bool on;
	u64 begun;
	u64 last;
	u64 busy_ns;
	u64 sectors;
	u32 ends;
	u32 rt_ends;
	struct flash_latency times[2];
};

/**
 * struct autolimit_tail - times of recent real-time requests
 * @begun: start of the current histogram, ns
 * @nr: requests in it
 * @index: of it in @times; the other one is older
 * @times: the histograms
 * @sum: their sum, while it is read
 */
struct autolimit_tail {
	u64 begun;
	u32 nr;
	u32 index;
	struct flash_latency times[2];
	struct flash_latency sum;
};

/**
 * struct autolimit - the search on one device
 * @cfg: what the user has set
 * @device: the latest calibration
 * @target_ns: longest time of a real-time request, ns; 0: no target
 * @limit: the in-flight limit, in requests
 * @level: log of the limit that the target needs
 * @floor: log of the limit that the bandwidth needs
 * @last_rt: time of the latest real-time request, ns
 * @open: no real-time requests, so no limit
 * @excess: they are back, and more requests than @limit are still in the device
 * @opens: times that the limit was lifted
 * @rt_ended: completed real-time requests
 * @rt_late: of these, those that missed the target
 * @step: the level
 * @target: is the target in reach?
 * @window: bandwidth now
 * @second: bandwidth of seconds
 * @bw: the floor
 * @measure: a calibration that runs
 * @tail: times of recent real-time requests
 */
struct autolimit {
	struct autolimit_config cfg;
	struct autolimit_device device;
	u64 target_ns;
	u32 limit;
	s64 level;
	s64 floor;
	u64 last_rt;
	bool open;
	bool excess;
	u64 opens;
	u64 rt_ended;
	u64 rt_late;

	struct autolimit_step step;
	struct autolimit_target target;
	struct autolimit_window window;
	struct autolimit_second second;
	struct autolimit_floor bw;
	struct autolimit_measure measure;
	struct autolimit_tail tail;
};

void autolimit_init(struct autolimit *al, const struct autolimit_config *cfg,
		    const struct autolimit_device *device, u64 now);
void autolimit_set(struct autolimit *al, const struct autolimit_config *cfg, u64 now);
void autolimit_calibrate(struct autolimit *al, bool on, u64 now);
bool autolimit_note_insert(struct autolimit *al, bool rt, u32 inflight, u64 now);
bool autolimit_completed(struct autolimit *al, const struct autolimit_end *e);
u64 autolimit_tail_us(struct autolimit *al);
u64 autolimit_share_pct(struct autolimit *al);
u64 autolimit_infeasible(struct autolimit *al);
u64 autolimit_calibrating(struct autolimit *al);

/** autolimit_get - the in-flight limit, from 1 to AUTOLIMIT_MAX */
static inline u32 autolimit_get(const struct autolimit *al)
{
	return al->limit;
}

/**
 * autolimit_insert - a request is inserted
 * @al: the search
 * @rt: it is a real-time request
 * @inflight: requests in the device
 * @now: the time, ns
 *
 * Return: true if it waits for requests that were dispatched while the limit was lifted,
 * so its time says nothing about the limit.
 */
static inline bool autolimit_insert(struct autolimit *al, bool rt, u32 inflight, u64 now)
{
	if (!rt && al->cfg.policy == K2_STATIC)
		return false;
	return autolimit_note_insert(al, rt, inflight, now);
}

/** autolimit_watches - does the search need to know which requests are in flight? */
static inline bool autolimit_watches(const struct autolimit *al)
{
	return al->cfg.policy != K2_STATIC || al->measure.on;
}

/** autolimit_searches - is the limit the result of the search? */
static inline bool autolimit_searches(const struct autolimit *al)
{
	return !al->open && !al->measure.on &&
	       (al->cfg.policy == K2_BANDWIDTH ||
		(al->cfg.policy == K2_LATENCY && al->target_ns));
}

#endif /* K2_AUTOLIMIT_H */
