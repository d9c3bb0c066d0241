/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2drive.h - K2's own hooks (k2.c, cgroups.c), on a device with one hardware queue
 *
 * For one thread. The driver does what elevator.c does: it inserts a request, dispatches
 * while a slot is free and nothing is held, and completes it.
 */
#ifndef K2DRIVE_H
#define K2DRIVE_H

#include "blkmq.h"
#include "common/flash/layout.h"

/* The time, ns */
static u64 drive_now = 1000000;
#define ktime_get_ns()		drive_now

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wconversion"
#include "k2/k2.h"

/* What the core and show.c supply; no test reads or writes an attribute. */
const struct kernel_param_ops flash_param_ops, flash_text_param_ops;
#define SHOWN(name, ...) \
	ssize_t name(struct elevator_queue *eq, char *page, ##__VA_ARGS__) { return 0; }
#define STORED(name, arg) \
	ssize_t name(struct elevator_queue *eq, const char *page, size_t count, arg) { return 0; }
SHOWN(flash_tunable_show, unsigned int idx)
SHOWN(flash_text_show, unsigned int idx)
SHOWN(flash_inflight_show)
SHOWN(flash_stats_show)
SHOWN(k2_bound_show)
SHOWN(k2_tail_show)
SHOWN(k2_share_show)
SHOWN(k2_infeasible_show)
SHOWN(k2_calibrate_show)
STORED(flash_tunable_store, unsigned int idx)
STORED(flash_text_store, unsigned int idx)
STORED(flash_groups_store, const struct flash_group_attr *attr)
int k2_stats(struct flash_queue *fq, char *page, int len) { return len; }
void k2_arrays(struct flash_queue *fq, struct seq_file *m) { }

#define flash_groups_near(g, nr, css) \
	((void)(g), (void)(nr), (void)(css), FLASH_GROUP_NONE)
#define flash_groups_print(g, nr, from, page) ((void)(g), (void)(page), (ssize_t)(nr))
#define flash_disk_name(fq)			((void)(fq), "disk")
#define flash_has_no_nul(page, count, who, name)	((void)(page), (void)(who), (count) > 0)
#define flash_number(text, who, name, min, max, val) \
	((void)(text), (void)(who), *(val) = (max), 0)
#define flash_word_check(words, nr, text)	((void)(words), (void)(text), (int)(nr))
#define flash_may_issue(fr)			((void)(fr), true)
#define flash_issue_first(fq, fr)		((void)(fq), (void)(fr))
#define flash_resume(fq)			((void)(fq))
#define flash_lock(fq)				((void)(fq))
#define flash_unlock(fq)			((void)(fq))
#define flash_resort(fq)			({ while (!k2_resort(fq)) ; })

void flash_ask_holds(struct flash_queue *fq)
{
	fq->held = fq->watches && fq->queued && flash_policy.holds(fq);
	fq->changed = false;
}

void flash_set_bound(struct flash_queue *fq, unsigned int bound)
{
	fq->bound = bound;
}

#include "k2/cgroups.c"
#include "k2/k2.c"
#pragma GCC diagnostic pop

/* The device */

#define DRIVE_RQS	4096

/* A request: its place in the array is its place in the order of insertion. */
struct drive_rq {
	struct request rq;
	struct bio bio;
	struct k2_rq rec;
	bool gone, out;
};

static struct flash_disk drive_disk;
static struct request_queue drive_q;
static struct k2_queue k2;
static struct drive_rq drive_rqs[DRIVE_RQS];
static unsigned int drive_nr, drive_inflight;
/* Dispatched requests, in order */
static unsigned int drive_trace[DRIVE_RQS], drive_dispatches;

static inline void drive_set(unsigned int tunable, unsigned int value)
{
	drive_disk.val[tunable] = value;
	k2_tuned(&k2.fq, tunable);
}

/* Undo drive_init(); all requests have completed. */
static inline void drive_exit(void)
{
	if (!k2.al)
		return;
	k2_exit(&k2.fq);
	free(drive_disk.policy_data);
	drive_disk.policy_data = NULL;
	k2.al = NULL;
}

/* Select K2 with its defaults and an in-flight limit; a wait of 0: no idle class */
static inline void drive_init(unsigned int limit)
{
	unsigned int i;

	/* Requests of the test before are dropped with their queues. */
	if (k2.al) {
		kvfree(k2.chips);
		kvfree(k2.al);
		k2_groups_exit(&k2);
		free(drive_disk.policy_data);
	}
	memset(&k2, 0, sizeof(k2));
	memset(&drive_disk, 0, sizeof(drive_disk));
	for (i = 0; i < NR_TUN; i++)
		drive_disk.val[i] = flash_defaults[i];
	drive_disk.val[TUN_max_inflight] = limit;
	strcpy(drive_disk.text[TEXT_layout], "none");
	drive_nr = drive_dispatches = drive_inflight = 0;
	k2.fq.q = &drive_q;
	k2.fq.disk = &drive_disk;
	if (k2_init(&k2.fq)) {
		printf("Bail out! no memory\n");
		exit(EXIT_FAILURE);
	}
}

/* Make a request of a class, as its submitter would, and insert it. */
static inline unsigned int drive_insert(unsigned int class, enum req_op op, u64 sector, u32 sectors)
{
	struct drive_rq *d = &drive_rqs[drive_nr];
	struct flash_rq *fr = &d->rec.fr;

	memset(d, 0, sizeof(*d));
	d->rq.bio = &d->bio;
	d->rq.op = op;
	d->rq.sector = sector;
	d->rq.sectors = sectors;
	if (class < K2_RT_LEVELS)
		d->rq.ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, class);
	else if (class == K2_IDLE)
		d->rq.ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0);
	d->bio.bi_opf = class == K2_META ? REQ_META : 0;
	fr->rq = &d->rq;
	fr->watched = k2.fq.watches;
	fr->seq = ++k2.fq.seq;
	d->rq.elv.priv[0] = fr;
	fr->class = k2_rq_class(&k2.fq, &d->rq);
	flash_slot_insert(&fr->slot);
	k2.fq.now = drive_now;
	k2_insert(&k2.fq, fr);
	k2.fq.queued++;
	flash_change(&k2.fq);
	return drive_nr++;
}

static inline bool drive_dispatch_one(void)
{
	struct flash_queue *fq = &k2.fq;
	struct flash_rq *fr;
	struct drive_rq *d;

	fq->now = drive_now;
	flash_settle(fq);
	if (!fq->queued || fq->held || !flash_slot_free((int)drive_inflight, fq->bound))
		return false;
	fr = k2_select(fq);
	d = container_of(fr, struct drive_rq, rec.fr);
	d->gone = d->out = true;
	drive_inflight += flash_slot_dispatch(&fr->slot);
	fq->inflight.counter = (int)drive_inflight;
	if (fr->watched) {
		fq->out++;
		k2_started(fq, fr);
	}
	fq->queued--;
	flash_change(fq);
	drive_trace[drive_dispatches++ % DRIVE_RQS] = (unsigned int)(d - drive_rqs);
	return true;
}

static inline unsigned int drive_dispatch(void)
{
	unsigned int n = 0;

	while (drive_dispatch_one())
		n++;
	return n;
}

/* The latest dispatched request */
static inline unsigned int drive_last(void)
{
	return drive_trace[(drive_dispatches - 1) % DRIVE_RQS];
}

/* A request leaves the device: it completes, or is requeued and never inserted again. */
static inline void drive_end(unsigned int i, bool completed)
{
	struct flash_rq *fr = &drive_rqs[i].rec.fr;

	drive_rqs[i].out = false;
	k2.fq.now = drive_now;
	if (fr->watched) {
		k2_completed(&k2.fq, fr, completed);
		k2.fq.out--;
	}
	drive_inflight -= completed ? flash_slot_finish(&fr->slot) : flash_slot_requeue(&fr->slot);
	k2.fq.inflight.counter = (int)drive_inflight;
	flash_change(&k2.fq);
}

#endif /* K2DRIVE_H */
