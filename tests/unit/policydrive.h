/* SPDX-License-Identifier: GPL-2.0 */
/*
 * policydrive.h - a policy of ours with the files of common/elevator/, for one thread
 *
 * A device of QUEUES hardware queues with TAGS tags each. The test includes this file, then
 * the files of a policy, and then policytest.h. Each basic block that runs is a step, see
 * test_merge_steps.c. Those under the device's lock are counted.
 */
#ifndef POLICYDRIVE_H
#define POLICYDRIVE_H

#define TAGS		1024
#define QUEUES		32
#define SUBMITTERS	1
#define REAL_POLICY

#include <linux/cache.h>
#include "blkmq.h"

/* The time, ns, which the test advances */
static u64 drive_now = 1000000000;
#define ktime_get_ns()		drive_now

/* Calls of flash_policy.holds() */
static unsigned long nr_choices;
static bool count_choice(bool held)
{
	nr_choices++;
	return held;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"

/* What the policies need in addition to what elvdrive.h needs */
#define HZ			100
#define PF_WQ_WORKER		4U
#define BIT(n)			(1UL << (n))
#define pr_notice(...)		((void)0)
#define seq_puts(m, text)	((void)(m))
#define sysfs_emit(page, ...)	((void)(page), 0)
#define sysfs_emit_at(page, len, ...) ((void)(page), 0)
#define get_capacity(disk)	((void)(disk), drive_capacity)
#define op_is_write(opf)	((opf) & 1U)
#define op_is_sync(opf)		(!op_is_write(opf))
#define IOPRIO_BE_NORM		4
#define blkcg_root_css		((struct cgroup_subsys_state *)NULL)
#define cgroup_id(group)	((group)->id)
#define compat_hctx_depth(hctx)	((void)(hctx), (unsigned int)TAGS)
#define compat_hctx_free(hctx)	((void)(hctx), (unsigned int)TAGS)
#define compat_hctx_set(hctx)	((hctx)->queue_num)
#define compat_shallow_unit(hctx) ((void)(hctx), 1U)
struct work_struct { int unused; };
struct delayed_work { struct work_struct work; };
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, f)	((void)(w), (void)(f))
#define kblockd_mod_delayed_work_on(cpu, w, delay) ((void)(w))
#define cancel_delayed_work_sync(w) ((void)(w))
static u64 drive_capacity = 1ULL << 30;

#undef match_string
static int match_string(const char * const *words, size_t nr, const char *text)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (words[i] && !strcmp(words[i], text))
			return (int)i;
	printf("Bail out! no such text as %s\n", text);
	exit(EXIT_FAILURE);
}

/* queue.c asks by this name. */
#include "common/elevator/iosched.h"
#define flash_hook_holds(fq)	count_choice(flash_hook_holds(fq))

void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	hctx->pending = true;
}

void compat_run_hctx(struct blk_mq_hw_ctx *hctx)
{
	hctx->pending = true;
}

#include "elvdrive.h"

/* What tunables.c supplies; no test reads or writes an attribute. */
const struct kernel_param_ops flash_param_ops, flash_text_param_ops;
#define SHOWN(name, ...) \
	ssize_t name(struct elevator_queue *eq, char *page, ##__VA_ARGS__) { return 0; }
#define STORED(name, arg) \
	ssize_t name(struct elevator_queue *eq, const char *page, size_t count, arg) { return 0; }
SHOWN(flash_tunable_show, unsigned int idx)
SHOWN(flash_text_show, unsigned int idx)
SHOWN(flash_inflight_show)
SHOWN(flash_stats_show)
STORED(flash_tunable_store, unsigned int idx)
STORED(flash_text_store, unsigned int idx)

#include "common/elevator/cgroup.h"
#define flash_groups_near(g, nr, css) \
	((void)(g), (void)(nr), (void)(css), FLASH_GROUP_NONE)
#define flash_groups_print(g, nr, from, page) \
	((void)(g), (void)(from), (void)(page), (ssize_t)(nr))
#define flash_groups_store(eq, page, count, attr) \
	((void)(eq), (void)(page), (void)(attr), (ssize_t)(count))
#define flash_disk_name(fq)			((void)(fq), "disk")
#define flash_has_no_nul(page, count, who, name)	((void)(page), (void)(who), (count) > 0)
#define flash_number(text, who, name, min, max, val) \
	((void)(text), (void)(who), *(val) = (max), 0)
#define flash_word_check(words, nr, text)	((void)(words), (void)(text), (int)(nr))

#endif /* POLICYDRIVE_H */
