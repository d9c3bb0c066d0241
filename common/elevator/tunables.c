// SPDX-License-Identifier: GPL-2.0
/*
 * tunables.c - tunables and statistics in sysfs, and what a disk keeps
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "iosched.h"

/* Largest number of disks with tunables that outlive the elevator */
#define FLASH_DISKS_MAX		256

static LIST_HEAD(flash_disks);
static unsigned int flash_nr_disks;
/*
 * Guards the list above, its entries' @attached, flash_policy.defaults and
 * flash_policy.text_defaults.
 */
static DEFINE_MUTEX(flash_disks_lock);
/*
 * Guards flash_disk.text, and that the policy uses the text that is there. A mutex of its
 * own: flash_disks_lock is taken while a disk is frozen, and a policy's text_tuned() may
 * wait for the disk's lock only.
 */
static DEFINE_MUTEX(flash_texts_lock);

static void flash_disk_free(struct flash_disk *disk)
{
	list_del(&disk->list);
	flash_nr_disks--;
	kvfree(disk->policy_data);
	kfree(disk);
}

/* Forget the disk that was left longest ago; attached ones stay. */
static void flash_disks_trim(void)
{
	struct flash_disk *disk, *next;

	list_for_each_entry_safe(disk, next, &flash_disks, list) {
		if (flash_nr_disks < FLASH_DISKS_MAX)
			return;
		if (!disk->attached)
			flash_disk_free(disk);
	}
}

/**
 * flash_disk_get - the tunables of a queue's disk
 * @q: the request queue
 *
 * Return: the tunables of the time when this scheduler was last selected for the disk, else
 * a new set with the defaults; NULL if out of memory.
 */
struct flash_disk *flash_disk_get(struct request_queue *q)
{
	u64 seq = q->disk ? q->disk->diskseq : 0;
	struct flash_disk *disk;

	mutex_lock(&flash_disks_lock);
	if (seq) {
		list_for_each_entry(disk, &flash_disks, list) {
			if (disk->seq != seq || disk->attached)
				continue;
			disk->attached = true;
			goto out;
		}
	}
	disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	if (!disk)
		goto out;
	flash_disks_trim();
	disk->seq = seq;
	disk->attached = true;
	memcpy(disk->val, flash_policy.defaults,
	       flash_policy.nr_tunables * sizeof(flash_policy.defaults[0]));
	memcpy(disk->text, flash_policy.text_defaults,
	       flash_policy.nr_texts * sizeof(flash_policy.text_defaults[0]));
	list_add_tail(&disk->list, &flash_disks);
	flash_nr_disks++;
out:
	mutex_unlock(&flash_disks_lock);
	return disk;
}

/**
 * flash_disk_put - the elevator of a disk is removed
 * @disk: from flash_disk_get()
 * @q: the request queue
 *
 * The values stay until the scheduler is selected again, unless the disk is removed.
 */
void flash_disk_put(struct flash_disk *disk, struct request_queue *q)
{
	mutex_lock(&flash_disks_lock);
	disk->attached = false;
	/* A change of medium gives the disk a new number while we hold it. */
	if (q->disk)
		disk->seq = q->disk->diskseq;
	if (!disk->seq || !q->disk || compat_disk_dying(q->disk))
		flash_disk_free(disk);
	else
		list_move_tail(&disk->list, &flash_disks);
	mutex_unlock(&flash_disks_lock);
}

/** flash_disks_free - forget every disk; no elevator is attached any more */
void flash_disks_free(void)
{
	struct flash_disk *disk, *next;

	mutex_lock(&flash_disks_lock);
	list_for_each_entry_safe(disk, next, &flash_disks, list)
		flash_disk_free(disk);
	mutex_unlock(&flash_disks_lock);
}

/**
 * flash_word_check - is a text one of some words?
 * @words: the words
 * @nr: number of words
 * @text: the text
 *
 * Return: 0 or -EINVAL.
 */
int flash_word_check(const char * const *words, size_t nr, const char *text)
{
	int at = match_string(words, nr, text);

	return at < 0 ? at : 0;
}

/**
 * flash_number - parse a number, and log a line if it is not in its range
 * @text: decimal digits only, so that a sign, a hex prefix or a unit is refused and
 *	not guessed at
 * @disk: name of the disk, or "module parameter"
 * @name: name of the attribute
 * @min: smallest value
 * @max: largest value
 * @val: set to the number
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int flash_number(const char *text, const char *disk, const char *name,
		 unsigned int min, unsigned int max, unsigned int *val)
{
	int ret = -EINVAL;

	if (text[0] >= '0' && text[0] <= '9')
		ret = kstrtouint(text, 10, val);
	if (!ret && (*val < min || *val > max))
		ret = -ERANGE;
	if (ret)
		pr_notice_ratelimited("%s: %s: %s: '%.*s' is not a number from %u to %u\n",
				      flash_policy.name, disk, name,
				      (int)min_t(size_t, strcspn(text, "\n"), 32),
				      text, min, max);
	return ret;
}

/** flash_disk_name - the disk, for a line in the kernel log */
const char *flash_disk_name(const struct flash_queue *fq)
{
	const struct gendisk *disk = fq->q->disk;

	return disk ? disk->disk_name : "disk";
}

/**
 * flash_has_no_nul - does a text have no zero byte, which would hide the rest of it?
 * @page: the text
 * @count: number of bytes that were written
 * @disk: name of the disk
 * @name: name of the attribute
 *
 * Return: false, and a line is logged, if there is a zero byte.
 */
bool flash_has_no_nul(const char *page, size_t count, const char *disk,
		      const char *name)
{
	if (strlen(page) == count)
		return true;
	pr_notice_ratelimited("%s: %s: %s: a text with a zero byte is refused\n",
			      flash_policy.name, disk, name);
	return false;
}

/* Parse a value for tunable @idx. @disk: its name, or "module parameter". */
static int flash_parse(const char *text, unsigned int idx, const char *disk,
		       unsigned int *val)
{
	const struct flash_tunable *t = &flash_policy.tunables[idx];

	return flash_number(text, disk, t->name, t->min, t->max, val);
}

static struct flash_queue *flash_queue_of(struct elevator_queue *eq)
{
	return eq->elevator_data;
}

/**
 * flash_tunable_show - read a tunable
 * @eq: the elevator
 * @page: where to print
 * @idx: which one
 */
ssize_t flash_tunable_show(struct elevator_queue *eq, char *page,
			   unsigned int idx)
{
	return sysfs_emit(page, "%u\n", flash_tun(flash_queue_of(eq), idx));
}

/**
 * flash_tunable_store - write a tunable
 * @eq: the elevator
 * @page: the value as text
 * @count: its length
 * @idx: which one
 *
 * Return: @count; -EINVAL if the text is no number, -ERANGE if it is out of range. After an
 * error the old value stays.
 */
ssize_t flash_tunable_store(struct elevator_queue *eq, const char *page,
			    size_t count, unsigned int idx)
{
	struct flash_queue *fq = flash_queue_of(eq);
	const char *disk = flash_disk_name(fq);
	unsigned int val;
	int ret;

	if (!flash_has_no_nul(page, count, disk, flash_policy.tunables[idx].name))
		return -EINVAL;
	ret = flash_parse(page, idx, disk, &val);
	if (ret)
		return ret;
	WRITE_ONCE(fq->disk->val[idx], val);
	if (flash_policy.tuned)
		flash_policy.tuned(fq, idx);
	return count;
}

/* Module parameters set the defaults, under the same ranges. */
static int flash_param_set(const char *text, const struct kernel_param *kp)
{
	unsigned int *def = kp->arg, val;
	int ret;

	ret = flash_parse(text, def - flash_policy.defaults, "module parameter", &val);
	if (ret)
		return ret;
	mutex_lock(&flash_disks_lock);
	*def = val;
	mutex_unlock(&flash_disks_lock);
	return 0;
}

const struct kernel_param_ops flash_param_ops = {
	.set = flash_param_set,
	.get = param_get_uint,
};

/*
 * Copy a text that is legal for text @idx to @buf, without its newline. @disk: its name, or
 * "module parameter".
 */
static int flash_text_parse(const char *text, unsigned int idx, const char *disk,
			    char *buf)
{
	const struct flash_text *t = &flash_policy.texts[idx];
	size_t len = strlen(text);
	int ret = -EINVAL;

	if (len && text[len - 1] == '\n')
		len--;
	if (len && len < FLASH_TEXT_LEN) {
		memcpy(buf, text, len);
		buf[len] = '\0';
		ret = t->check(buf);
	}
	if (ret)
		pr_notice_ratelimited("%s: %s: %s: '%.*s' is refused, want %s\n",
				      flash_policy.name, disk, t->name,
				      (int)min_t(size_t, strcspn(text, "\n"), 64),
				      text, t->want);
	return ret;
}

/**
 * flash_text_show - read a text
 * @eq: the elevator
 * @page: where to print
 * @idx: which one
 */
ssize_t flash_text_show(struct elevator_queue *eq, char *page, unsigned int idx)
{
	ssize_t len;

	mutex_lock(&flash_texts_lock);
	len = sysfs_emit(page, "%s\n", flash_queue_of(eq)->disk->text[idx]);
	mutex_unlock(&flash_texts_lock);
	return len;
}

/**
 * flash_text_store - write a text
 * @eq: the elevator
 * @page: the text
 * @count: its length
 * @idx: which one
 *
 * Return: @count, or the error of flash_text.check. After an error the old text stays.
 */
ssize_t flash_text_store(struct elevator_queue *eq, const char *page,
			 size_t count, unsigned int idx)
{
	struct flash_queue *fq = flash_queue_of(eq);
	const char *disk = flash_disk_name(fq);
	char buf[FLASH_TEXT_LEN];
	int ret;

	if (!flash_has_no_nul(page, count, disk, flash_policy.texts[idx].name))
		return -EINVAL;
	ret = flash_text_parse(page, idx, disk, buf);
	if (ret)
		return ret;
	mutex_lock(&flash_texts_lock);
	strscpy(fq->disk->text[idx], buf, FLASH_TEXT_LEN);
	flash_policy.text_tuned(fq, idx, buf);
	mutex_unlock(&flash_texts_lock);
	return count;
}

static unsigned int flash_text_index(const struct kernel_param *kp)
{
	return ((char *)kp->arg - flash_policy.text_defaults[0]) / FLASH_TEXT_LEN;
}

static int flash_text_param_set(const char *text, const struct kernel_param *kp)
{
	char buf[FLASH_TEXT_LEN];
	int ret;

	ret = flash_text_parse(text, flash_text_index(kp), "module parameter",
			       buf);
	if (ret)
		return ret;
	mutex_lock(&flash_disks_lock);
	strscpy(kp->arg, buf, FLASH_TEXT_LEN);
	mutex_unlock(&flash_disks_lock);
	return 0;
}

/* The core holds the module's parameter lock, which every writer takes. */
static int flash_text_param_get(char *page, const struct kernel_param *kp)
{
	return sysfs_emit(page, "%s\n", (char *)kp->arg);
}

const struct kernel_param_ops flash_text_param_ops = {
	.set = flash_text_param_set,
	.get = flash_text_param_get,
};

/**
 * flash_inflight_show - print the number of requests in flight
 * @eq: the elevator
 * @page: where to print
 */
ssize_t flash_inflight_show(struct elevator_queue *eq, char *page)
{
	return sysfs_emit(page, "%d\n",
			  atomic_read(&flash_queue_of(eq)->inflight));
}

/**
 * flash_stats_show - counters since the scheduler was selected
 * @eq: the elevator
 * @page: where to print, one "key value" a line
 */
ssize_t flash_stats_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = flash_queue_of(eq);
	int len;

	flash_lock(fq);
	len = sysfs_emit(page,
			 "queued %u\ninflight %d\npeak_inflight %u\n"
			 "inserted %llu\ndispatched %llu\nabsorbed %llu\n"
			 "completed %lu\n"
			 "merged %llu\nhead %llu\nrequeued %lu\nbypassed %lu\n"
			 "untracked %llu\npolled %llu\ntogether %llu\n"
			 "inlined %lu\nkicks %lu\n",
			 fq->queued + fq->nr_head, atomic_read(&fq->inflight),
			 fq->stats.peak, fq->stats.inserted,
			 fq->stats.dispatched, fq->stats.absorbed,
			 flash_counted(fq, completed), fq->stats.merged,
			 fq->stats.head, flash_counted(fq, requeued),
			 flash_counted(fq, bypassed), fq->stats.untracked,
			 fq->stats.polled, fq->stats.together,
			 flash_counted(fq, inlined), flash_counted(fq, kicks));
	if (flash_policy.stats)
		len = flash_policy.stats(fq, page, len);
	flash_unlock(fq);
	return len;
}
