/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tunables.h - tunables: one table per policy, checked, kept per disk
 *
 * A policy lists its tunables once, as an X-macro of
 *	X(name, minimum, maximum, default, "meaning")
 * The list defines the index of each tunable, its sysfs attribute, the module parameter
 * of the same name, which sets the default for disks that are seen later, and the range of
 * both.
 *
 * Tunables that are not numbers are texts, in a second list of
 *	X(name, check, default, "accepted texts", "meaning")
 * where check() returns 0 for a legal text.
 *
 * "meaning" is a noun phrase with its unit. modinfo prints it, and the attribute's
 * description in docs/ABI begins with it (tests/host/test_sysfs_docs.py compares).
 *
 * The kernel destroys and re-creates an elevator when a driver changes its
 * number of hardware queues, and also on a switch to another scheduler and
 * back. A disk's values therefore live apart from the elevator, keyed by the
 * disk's sequence number, until the disk is removed or the module unloaded.
 */
#ifndef FLASH_TUNABLES_H
#define FLASH_TUNABLES_H

#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

#include "compat.h"

struct flash_queue;

/* Most tunables and texts that one policy may have, and longest text with its 0. */
#define FLASH_TUNABLES_MAX	24
#define FLASH_TEXTS_MAX		4
#define FLASH_TEXT_LEN		256

/**
 * struct flash_tunable - one line of a policy's table
 * @name: attribute and module parameter
 * @min: smallest legal value
 * @max: largest legal value
 */
struct flash_tunable {
	const char *name;
	unsigned int min;
	unsigned int max;
};

/**
 * struct flash_text - one line of a policy's table of texts
 * @name: attribute and module parameter
 * @check: 0 if a text is legal, -EINVAL or -ERANGE if it is not
 * @want: the legal texts, for the log line of a refusal
 */
struct flash_text {
	const char *name;
	int (*check)(const char *text);
	const char *want;
};

/**
 * struct flash_disk - a disk's tunables
 * @list: in the module's list of disks
 * @seq: the disk's sequence number; never used again for another disk
 * @attached: an elevator uses it now
 * @val: the values, indexed like flash_policy.tunables
 * @text: the texts, indexed like flash_policy.texts; under flash_texts_lock
 * @few_tags_logged: bit N set: a line was logged that N scheduler tags are too few
 * @policy_data: data of the policy that outlive the elevator, from kvmalloc(); under the
 *	lock of the flash_queue that has attached the disk
 */
struct flash_disk {
	struct list_head list;
	u64 seq;
	bool attached;
	unsigned int val[FLASH_TUNABLES_MAX];
	char text[FLASH_TEXTS_MAX][FLASH_TEXT_LEN];
	unsigned long few_tags_logged;
	void *policy_data;
};

struct flash_disk *flash_disk_get(struct request_queue *q);
void flash_disk_put(struct flash_disk *disk, struct request_queue *q);
void flash_disks_free(void);

const char *flash_disk_name(const struct flash_queue *fq);
bool flash_has_no_nul(const char *page, size_t count, const char *disk,
		      const char *name);
int flash_number(const char *text, const char *disk, const char *name,
		 unsigned int min, unsigned int max, unsigned int *val);
int flash_word_check(const char * const *words, size_t nr, const char *text);
ssize_t flash_tunable_show(struct elevator_queue *eq, char *page,
			   unsigned int idx);
ssize_t flash_tunable_store(struct elevator_queue *eq, const char *page,
			    size_t count, unsigned int idx);
ssize_t flash_text_show(struct elevator_queue *eq, char *page,
			unsigned int idx);
ssize_t flash_text_store(struct elevator_queue *eq, const char *page,
			 size_t count, unsigned int idx);
ssize_t flash_inflight_show(struct elevator_queue *eq, char *page);
ssize_t flash_stats_show(struct elevator_queue *eq, char *page);

extern const struct kernel_param_ops flash_param_ops;
extern const struct kernel_param_ops flash_text_param_ops;

/* Building blocks of FLASH_DEFINE_ATTRS(). */
#define FLASH_TUN_INDEX(tun, lo, hi, def, what)	TUN_##tun,
#define FLASH_TUN_ROW(tun, lo, hi, def, what)	{ #tun, lo, hi },
#define FLASH_TUN_DEFAULT(tun, lo, hi, def, what)	def,
#define FLASH_TUN_FUNCS(tun, lo, hi, def, what)				\
	static ssize_t tun_##tun##_show(struct elevator_queue *eq, char *page) \
	{								\
		return flash_tunable_show(eq, page, TUN_##tun);	\
	}								\
	static ssize_t tun_##tun##_store(struct elevator_queue *eq,	\
					  const char *page, size_t count) \
	{								\
		return flash_tunable_store(eq, page, count, TUN_##tun);	\
	}								\
	module_param_cb(tun, &flash_param_ops,				\
			&flash_defaults[TUN_##tun], 0644);		\
	MODULE_PARM_DESC(tun, what "; " #lo " to " #hi ", default " #def \
			 ", for new disks");
#define FLASH_TUN_ATTR(tun, lo, hi, def, what)				\
	{ .attr = { .name = #tun, .mode = 0644 },			\
	  .show = tun_##tun##_show, .store = tun_##tun##_store },

#define FLASH_TEXT_INDEX(name, check, def, want, what)	TEXT_##name,
#define FLASH_TEXT_ROW(name, check, def, want, what)	{ #name, check, want },
#define FLASH_TEXT_DEFAULT(name, check, def, want, what)	def,
#define FLASH_TEXT_FUNCS(tun, check, def, want, what)			\
	static ssize_t text_##tun##_show(struct elevator_queue *eq, char *page) \
	{								\
		return flash_text_show(eq, page, TEXT_##tun);		\
	}								\
	static ssize_t text_##tun##_store(struct elevator_queue *eq,	\
					  const char *page, size_t count) \
	{								\
		return flash_text_store(eq, page, count, TEXT_##tun);	\
	}								\
	module_param_cb(tun, &flash_text_param_ops,			\
			flash_text_defaults[TEXT_##tun], 0644);	\
	MODULE_PARM_DESC(tun, what "; " want ", default " def		\
			 ", for new disks");
#define FLASH_TEXT_ATTR(tun, check, def, want, what)			\
	{ .attr = { .name = #tun, .mode = 0644 },			\
	  .show = text_##tun##_show, .store = text_##tun##_store },
#define FLASH_ATTR_SHOWN(tun, shows)					\
	{ .attr = { .name = #tun, .mode = 0444 }, .show = shows },
#define FLASH_ATTR_COMMAND(tun, shows, stores)				\
	{ .attr = { .name = #tun, .mode = 0644 },			\
	  .show = shows, .store = stores },

/* For a policy without texts, or without other attributes */
#define FLASH_NONE(X)

/**
 * FLASH_DEFINE_ATTRS - define the attributes and module parameters of a policy
 * @TABLE: X-macro of its tunables
 * @TEXTS: X-macro of its texts
 * @SHOWN: X-macro of its read-only attributes, X(name, show)
 * @COMMANDS: X-macro of its other writable attributes, which have no module parameter:
 *	X(name, show, store)
 *
 * Defines the enums of TUN_<name> and TEXT_<name> indices, the tables, their
 * defaults, the module parameters and the attributes, which also include the
 * read-only "inflight" and "stats" that every policy has.
 */
#define FLASH_DEFINE_ATTRS(TABLE, TEXTS, SHOWN, COMMANDS)			\
	enum { TABLE(FLASH_TUN_INDEX) NR_TUN };				\
	enum { TEXTS(FLASH_TEXT_INDEX) NR_TEXT };			\
	static_assert((int)NR_TUN <= FLASH_TUNABLES_MAX);		\
	static_assert((int)NR_TEXT <= FLASH_TEXTS_MAX);			\
	static const struct flash_text flash_texts[] = {		\
		TEXTS(FLASH_TEXT_ROW) { } };				\
	static char flash_text_defaults[][FLASH_TEXT_LEN] = {		\
		TEXTS(FLASH_TEXT_DEFAULT) "" };				\
	TEXTS(FLASH_TEXT_FUNCS)						\
	static const struct flash_tunable flash_tunables[] = {		\
		TABLE(FLASH_TUN_ROW) };					\
	static unsigned int flash_defaults[] = { TABLE(FLASH_TUN_DEFAULT) }; \
	TABLE(FLASH_TUN_FUNCS)						\
	static struct elv_fs_entry flash_attrs[] = {				\
		TABLE(FLASH_TUN_ATTR)					\
		TEXTS(FLASH_TEXT_ATTR)					\
		SHOWN(FLASH_ATTR_SHOWN)					\
		COMMANDS(FLASH_ATTR_COMMAND)				\
		{ .attr = { .name = "inflight", .mode = 0444 },		\
		  .show = flash_inflight_show },			\
		{ .attr = { .name = "stats", .mode = 0444 },		\
		  .show = flash_stats_show },				\
		{ }							\
	}

/* The definitions of FLASH_DEFINE_ATTRS() as members of struct flash_policy */
#define FLASH_ATTRS							\
	.attrs		= flash_attrs,					\
	.tunables	= flash_tunables,				\
	.nr_tunables	= NR_TUN,					\
	.defaults	= flash_defaults,				\
	.texts		= flash_texts,					\
	.nr_texts	= NR_TEXT,					\
	.text_defaults	= flash_text_defaults,				\
	.inline_tunable	= TUN_inline_dispatch

#endif /* FLASH_TUNABLES_H */
