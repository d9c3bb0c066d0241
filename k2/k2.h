/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2.h - what the parts of K2 share: its state on a device
 */
#ifndef K2_H
#define K2_H

#include "../common/elevator/iosched.h"
#include "k2_admit.h"
#include "k2_chips.h"
#include "k2_control.h"
#include "k2_groups.h"
#include "k2_order.h"

struct k2_table;

/**
 * struct k2_kept - what stays with a disk; under flash_queue.lock
 * @cal: the last calibration
 * @groups: control groups with a real-time level
 */
struct k2_kept {
	struct k2_calibration cal;
	struct k2_groups groups;
};

/**
 * struct k2_queue - K2 on one device; all under flash_queue.lock
 * @fq: what every policy has
 * @table: levels of control groups, read under RCU; NULL if none has one
 * @control: the search for the bound
 * @chips: who of best effort goes, by that layout
 * @policy: what the user has set
 * @given: the layout that the user has set
 * @fifo: the staging queues, by class
 * @order: which of them is busy, and how long metadata has been passed over
 * @nr: requests in each staging queue
 * @served: requests dispatched from each staging queue
 * @meta_turns: times that metadata went before a waiting real-time request
 * @rt_by_group: requests that came and are of a more urgent class by it
 * @idle: how long the idle class has been kept waiting
 * @admit: what is in the device, as far as it is watched
 */
struct k2_queue {
	struct flash_queue fq;
	/* Read without the lock when a tag is wanted: not where dispatch writes */
	struct k2_table __rcu *table;
	struct k2_control *control;
	struct k2_chips *chips;
	enum k2_policy policy;
	struct flash_geometry given;

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

static inline struct k2_kept *k2_kept(const struct k2_queue *k2)
{
	return k2->fq.disk->kept;
}

/* k2_show.c: attributes that can be read */
ssize_t k2_bound_show(struct elevator_queue *eq, char *page);
ssize_t k2_tail_show(struct elevator_queue *eq, char *page);
ssize_t k2_share_show(struct elevator_queue *eq, char *page);
ssize_t k2_infeasible_show(struct elevator_queue *eq, char *page);
ssize_t k2_calibrate_show(struct elevator_queue *eq, char *page);
ssize_t k2_groups_show(struct elevator_queue *eq, char *page);

/* k2_show.c */
int k2_stats(struct flash_queue *fq, char *page, int len);
void k2_arrays(struct flash_queue *fq, struct seq_file *m);

#endif /* K2_H */
