/* SPDX-License-Identifier: GPL-2.0 */
/*
 * realpolicy.h - a scheduler's own files on common/elevator/, with threads
 *
 * The test includes elvdrive.h with REAL_POLICY, this file, and the files of one module.
 * Then threads_main() runs: tasks send reads and writes of two I/O priorities, and another
 * thread changes tunables and texts and reads statistics.
 */
#ifndef REALPOLICY_H
#define REALPOLICY_H

/* What tunables.c supplies; no test reads or writes an attribute. */
const struct kernel_param_ops flash_param_ops, flash_text_param_ops;
#define SHOWN(name, ...) \
	ssize_t name(struct elevator_queue *eq, char *page, ##__VA_ARGS__) \
	{ return eq && page ? 0 : -EINVAL; }
#define STORED(name, arg) \
	ssize_t name(struct elevator_queue *eq, const char *page, size_t count, arg) \
	{ return eq && page ? (ssize_t)count : -EINVAL; }
SHOWN(flash_tunable_show, __attribute__((unused)) unsigned int idx)
SHOWN(flash_text_show, __attribute__((unused)) unsigned int idx)
SHOWN(flash_inflight_show)
SHOWN(flash_stats_show)
STORED(flash_tunable_store, __attribute__((unused)) unsigned int idx)
STORED(flash_text_store, __attribute__((unused)) unsigned int idx)

#define flash_disk_name(fq)		((void)(fq), "disk")
#define flash_has_no_nul(page, count, who, name) \
	((void)(page), (void)(who), (count) > 0)
#define flash_number(text, who, name, min, max, val) \
	((void)(text), (void)(who), *(val) = (max), 0)
#define NSEC_PER_SEC			1000000000L
#define op_is_write(opf)		((opf) & 1)
#define get_capacity(disk)		((void)(disk), 1ULL << 24)

#undef match_string
static inline int match_string(const char *const *words, size_t nr, const char *text)
{
	size_t n;

	for (n = 0; n < nr; n++)
		if (!strcmp(words[n], text))
			return (int)n;
	return -EINVAL;
}

#define flash_word_check(words, nr, text) \
	(match_string(words, nr, text) < 0 ? -EINVAL : 0)

/* u64 is a long here, so no formats are checked. */
static inline int sysfs_emit_at(char *page, int at, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(page + at, (size_t)(4096 - at), fmt, ap);
	va_end(ap);
	return len;
}

#define sysfs_emit(page, ...)		sysfs_emit_at(page, 0, __VA_ARGS__)

#endif /* REALPOLICY_H */
