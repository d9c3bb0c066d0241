/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2.h - K2's state on a device, for the files that include the block layer
 */
#ifndef K2_H
#define K2_H

#include "../common/elevator/cgroup.h"
#include "../common/elevator/iosched.h"
#include "admit.h"
#include "autolimit.h"
#include "chips.h"

#define K2_RT_LEVELS	8

enum k2_class {
	/* 0 to 7: real-time levels, 0 is served first */
	K2_META = K2_RT_LEVELS,
	K2_BE,
	K2_IDLE,
	K2_NR_CLASSES,
};

/* Control groups of a disk that may have a level; a lookup compares with up to six. */
#define K2_GROUPS	32

/**
 * struct k2_groups - control groups with a real-time level
 * @nr: their number
 * @g: the groups, by number; the value is the level
 */
struct k2_groups {
	u32 nr;
	struct flash_group g[K2_GROUPS];
};

/**
 * struct k2_disk - what outlives the scheduler's selection; under flash_queue.lock
 * @device: the latest calibration
 * @groups: control groups with a real-time level
 */
struct k2_disk {
	struct autolimit_device device;
	struct k2_groups groups;
};

/**
 * struct k2_order - which staging queue is served next
 * @busy: bit per class: its queue is not empty
 * @nr_passes: number of real-time requests that passed waiting metadata in a row
 */
struct k2_order {
	unsigned int busy;
	unsigned int nr_passes;
};

/**
 * struct k2_idle - the limit on how long the idle class waits
 * @wait_ns: longest time without an idle request, ns; 0: idle requests are best effort
 * @since: when the first idle request began to wait or one was last served, ns
 * @turns: idle requests served before others because of @wait_ns
 * @had_turn: an idle request was served before another one, and neither metadata nor best
 *	effort has been served since
 */
struct k2_idle {
	u64 wait_ns;
	u64 since;
	u64 turns;
	bool had_turn;
};

/**
 * struct k2_queue - K2 on one device; all under flash_queue.lock
 * @fq: the part of all policies
 * @table: control groups with a level, read under RCU; NULL: none
 * @al: the in-flight limit
 * @chips: choice of best-effort requests by the layout
 * @policy: the tunable
 * @layout: the tunable
 * @unsorted: link of the next best-effort request that k2_resort() adds to @chips
 * @fifo: staging queues, by class
 * @order: which of them is served next
 * @nr: requests in each staging queue
 * @served: requests dispatched from each staging queue
 * @meta_turns: metadata requests served before real-time ones
 * @rt_by_group: inserted requests with a control group of a more urgent level
 * @idle: the limit on how long the idle class waits
 * @admit: what the requests in the device hold
 */
struct k2_queue {
	struct flash_queue fq;
	/* Read without the lock where tags are allocated: not on lines that dispatch writes */
	struct k2_table __rcu *table;
	struct autolimit *al;
	struct k2_chips *chips;
	enum k2_policy policy;
	struct flash_geometry layout;
	struct list_head *unsorted;

	struct list_head fifo[K2_NR_CLASSES] ____cacheline_aligned_in_smp;
	struct k2_order order;
	unsigned int nr[K2_NR_CLASSES];
	u64 served[K2_NR_CLASSES];
	u64 meta_turns;
	u64 rt_by_group;
	struct k2_idle idle;
	struct k2_admit admit;
};

static inline struct k2_queue *to_k2(struct flash_queue *fq)
{
	return container_of(fq, struct k2_queue, fq);
}

static inline struct k2_disk *k2_disk(const struct k2_queue *k2)
{
	return k2->fq.disk->policy_data;
}

/* cgroups.c */
int k2_groups_init(struct k2_queue *k2);
void k2_groups_exit(struct k2_queue *k2);
unsigned int k2_group_level(const struct k2_queue *k2, unsigned int own,
			    const struct cgroup_subsys_state *css);
bool k2_task_has_group(const struct k2_queue *k2);
ssize_t k2_groups_show(struct elevator_queue *eq, char *page);
ssize_t k2_groups_store(struct elevator_queue *eq, const char *page, size_t count);

/* show.c */
ssize_t k2_bound_show(struct elevator_queue *eq, char *page);
ssize_t k2_tail_show(struct elevator_queue *eq, char *page);
ssize_t k2_share_show(struct elevator_queue *eq, char *page);
ssize_t k2_infeasible_show(struct elevator_queue *eq, char *page);
ssize_t k2_calibrate_show(struct elevator_queue *eq, char *page);
int k2_stats(struct flash_queue *fq, char *page, int len);
void k2_arrays(struct flash_queue *fq, struct seq_file *m);

#endif /* K2_H */
