// SPDX-License-Identifier: GPL-2.0
/*
 * k2_show.c - what K2 tells of itself
 */
#include <linux/math64.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../common/elevator/cgroup.h"
#include "k2.h"

ssize_t k2_bound_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;

	return sysfs_emit(page, "%u\n", READ_ONCE(fq->bound));
}

ssize_t k2_tail_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	u64 ns;

	flash_lock(fq);
	ns = k2_control_tail_ns(to_k2(fq)->control);
	flash_unlock(fq);
	return sysfs_emit(page, "%llu\n", div_u64(ns, NSEC_PER_USEC));
}

ssize_t k2_share_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	unsigned int pct;

	flash_lock(fq);
	pct = k2_control_share_pct(to_k2(fq)->control);
	flash_unlock(fq);
	return sysfs_emit(page, "%u\n", pct);
}

ssize_t k2_infeasible_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	bool infeasible;

	flash_lock(fq);
	infeasible = k2_control_infeasible(to_k2(fq)->control);
	flash_unlock(fq);
	return sysfs_emit(page, "%d\n", infeasible);
}

ssize_t k2_calibrate_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	bool on;

	flash_lock(fq);
	on = to_k2(fq)->control->calibrating;
	flash_unlock(fq);
	return sysfs_emit(page, "%d\n", on);
}

ssize_t k2_groups_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	const struct k2_groups *groups = &k2_kept(to_k2(fq))->groups;
	ssize_t len;

	flash_lock(fq);
	len = flash_groups_print(groups->g, groups->nr, 0, page);
	flash_unlock(fq);
	return len;
}

int k2_stats(struct flash_queue *fq, char *page, int len)
{
	struct k2_queue *k2 = to_k2(fq);
	const struct k2_control *c = k2->control;
	u64 rt = 0, now = ktime_get_ns();
	s64 age = -1;
	unsigned int class;

	for (class = 0; class < K2_RT_LEVELS; class++)
		rt += k2->served[class];
	len += sysfs_emit_at(page, len,
			     "served_rt %llu\nserved_meta %llu\n"
			     "served_nrt %llu\nserved_idle %llu\n"
			     "meta_turns %llu\nidle_turns %llu\n"
			     "rt_by_cgroup %llu\nfirst_expired %llu\n",
			     rt, k2->served[K2_META], k2->served[K2_NRT],
			     k2->served[K2_IDLE], k2->meta_turns,
			     k2->idle.turns, k2->rt_by_group,
			     fq->stats.first_expired);
	if (c->cal.rate)
		age = now > c->cal.at ? div_u64(now - c->cal.at, NSEC_PER_SEC) : 0;
	len += sysfs_emit_at(page, len,
			     "nrt_turns %llu\nrt_ended %llu\nrt_late %llu\n"
			     "target_ns %llu\nsteps %llu\nopened %llu\n"
			     "load_x16 %llu\n",
			     k2->admit.turns, c->rt_ended, c->rt_missed,
			     c->target_ns, c->steps, c->opens, k2->admit.load);
	len += sysfs_emit_at(page, len,
			     "idle_chips %llu\npasses %llu\naged %llu\n",
			     k2->chips->idle, k2->chips->passed, k2->chips->aged);
	/* Sectors in 16 s are half as many KiB. */
	len += sysfs_emit_at(page, len,
			     "calibration_age_s %lld\ncalibrated_kib_s %llu\n"
			     "calibrated_tail_us %llu\n",
			     age, c->cal.rate / 32,
			     div_u64(c->cal.tail_ns, NSEC_PER_USEC));
	return len;
}

void k2_arrays(struct flash_queue *fq, struct seq_file *m)
{
	struct k2_queue *k2 = to_k2(fq);
	const struct flash_occupancy *occ = &k2->chips->occ;
	unsigned int class, chip;

	for (class = 0; class < K2_RT_LEVELS; class++)
		seq_printf(m, "rt%u queued %u served %llu\n", class,
			   k2->nr[class], k2->served[class]);
	seq_printf(m, "meta queued %u served %llu\n", k2->nr[K2_META],
		   k2->served[K2_META]);
	seq_printf(m, "nrt queued %u served %llu\n", k2->nr[K2_NRT],
		   k2->served[K2_NRT]);
	seq_printf(m, "idle queued %u served %llu\n", k2->nr[K2_IDLE],
		   k2->served[K2_IDLE]);
	for (chip = 0; chip < k2->chips->geo.nr_chips; chip++)
		seq_printf(m, "chip%u reads %u writes %u\n", chip,
			   occ->out[FLASH_READ][chip],
			   occ->out[FLASH_WRITE][chip]);
}
