// SPDX-License-Identifier: GPL-2.0
/* show.c - the attributes of K2 that can be read, its statistics and arrays */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "k2.h"

/* Print a value of the search, read under the lock. */
static ssize_t k2_show(struct elevator_queue *eq, char *page, u64 (*read)(struct autolimit *al))
{
	struct flash_queue *fq = eq->elevator_data;
	u64 value;

	flash_lock(fq);
	value = read(to_k2(fq)->al);
	flash_unlock(fq);
	return sysfs_emit(page, "%llu\n", value);
}

/** k2_tail_show - the attribute observed_tail_us is read */
ssize_t k2_tail_show(struct elevator_queue *eq, char *page)
{
	return k2_show(eq, page, autolimit_tail_us);
}

/** k2_share_show - the attribute bw_share_pct is read */
ssize_t k2_share_show(struct elevator_queue *eq, char *page)
{
	return k2_show(eq, page, autolimit_share_pct);
}

/** k2_infeasible_show - the attribute infeasible is read */
ssize_t k2_infeasible_show(struct elevator_queue *eq, char *page)
{
	return k2_show(eq, page, autolimit_infeasible);
}

/** k2_calibrate_show - the attribute calibrate is read */
ssize_t k2_calibrate_show(struct elevator_queue *eq, char *page)
{
	return k2_show(eq, page, autolimit_calibrating);
}

/** k2_bound_show - the attribute bound is read */
ssize_t k2_bound_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;

	return sysfs_emit(page, "%u\n", READ_ONCE(fq->bound));
}

/** k2_stats - append K2's counters to the attribute stats */
int k2_stats(struct flash_queue *fq, char *page, int len)
{
	const struct k2_queue *k2 = to_k2(fq);
	const struct autolimit *al = k2->al;
	u64 rt = 0, now = ktime_get_ns();
	s64 age = -1;
	unsigned int class;

	for (class = 0; class < K2_RT_LEVELS; class++)
		rt += k2->served[class];
	if (al->device.rate)
		age = now > al->device.at ? div_u64(now - al->device.at, NSEC_PER_SEC) : 0;
	len += sysfs_emit_at(page, len, "served_rt %llu\nserved_meta %llu\nserved_nrt %llu\n"
			     "served_idle %llu\nmeta_turns %llu\nidle_turns %llu\n"
			     "rt_by_cgroup %llu\nfirst_expired %lu\n",
			     rt, k2->served[K2_META], k2->served[K2_BE],
			     k2->served[K2_IDLE], k2->meta_turns, k2->idle.turns,
			     k2->rt_by_group, READ_ONCE(fq->first.expired));
	len += sysfs_emit_at(page, len, "nrt_turns %llu\nrt_ended %llu\nrt_late %llu\n"
			     "target_ns %llu\nsteps %llu\nopened %llu\nload_x16 %llu\n",
			     k2->admit.be_turns, al->rt_ended, al->rt_late,
			     al->target_ns, al->step.nr, al->opens, k2->admit.load);
	/* Sectors per 16 s are half as many KiB. */
	len += sysfs_emit_at(page, len, "idle_chips %llu\npasses %llu\naged %llu\n"
			     "calibration_age_s %lld\ncalibrated_kib_s %llu\n"
			     "calibrated_tail_us %llu\n",
			     k2->chips->idle_picks, k2->chips->passes, k2->chips->aged_picks,
			     age, al->device.rate / 32,
			     div_u64(al->device.tail_ns, NSEC_PER_USEC));
	return len;
}

/** k2_arrays - print K2's queues and chips into the debugfs file */
void k2_arrays(struct flash_queue *fq, struct seq_file *m)
{
	static const char * const names[] = { "meta", "nrt", "idle" };
	const struct k2_queue *k2 = to_k2(fq);
	const struct flash_occupancy *occ = &k2->chips->occ;
	unsigned int class, chip;

	for (class = 0; class < K2_RT_LEVELS; class++)
		seq_printf(m, "rt%u queued %u served %llu\n", class, k2->nr[class],
			   k2->served[class]);
	for (; class < K2_NR_CLASSES; class++)
		seq_printf(m, "%s queued %u served %llu\n", names[class - K2_META],
			   k2->nr[class], k2->served[class]);
	for (chip = 0; chip < k2->chips->geo.nr_chips; chip++)
		seq_printf(m, "chip%u reads %u writes %u\n", chip,
			   occ->out[FLASH_READ][chip], occ->out[FLASH_WRITE][chip]);
}
