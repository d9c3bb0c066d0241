/* SPDX-License-Identifier: GPL-2.0 */
/*
 * params.h - flashsim's parameters and profiles; see docs/flashsim.md
 */
#ifndef FLASHSIM_PARAMS_H
#define FLASHSIM_PARAMS_H

#include <linux/types.h>

#define FS_NAME		"flashsim"

/* Numbers: name, least, most, default */
#define FS_NUMBERS(X)						\
	X(channels,		1, 64,		8)		\
	X(ways,			1, 256,		2)		\
	X(dies,			1, 8,		1)		\
	X(page_kb,		2, 128,		4)		\
	X(map_kb,		2, 128,		4)		\
	X(prog_pages,		1, 16,		1)		\
	X(pages_per_block,	4, 8192,	64)		\
	X(size_mb,		1, 1048576,	256)		\
	X(op_permille,		20, 1000,	70)		\
	X(t_read_ns,		0, 1000000000,	36000)		\
	X(t_prog_ns,		0, 1000000000,	185000)		\
	X(t_erase_ns,		0, 1000000000,	3500000)	\
	X(bus_mbps,		1, 100000,	800)		\
	X(link_mbps,		1, 100000,	3360)		\
	X(link_duplex,		0, 1,		1)		\
	X(fw_read_ns,		0, 1000000000,	20000)		\
	X(fw_write_ns,		0, 1000000000,	10000)		\
	X(fw_per4k_ns,		0, 1000000000,	0)		\
	X(cmd_read_ns,		0, 1000000,	0)		\
	X(cmd_write_ns,		0, 1000000,	0)		\
	X(turn_ns,		0, 10000000,	0)		\
	X(jump_ns,		0, 10000000,	0)		\
	X(suspend_us,		0, 10000,	0)		\
	X(page_register,	0, 1,		0)		\
	X(vary_permille,	0, 500,		0)		\
	X(offset_sectors,	0, 1048576,	0)		\
	X(gc_permille,		1, 500,		100)		\
	X(wbuf_kb,		0, 1048576,	0)		\
	X(slc_mb,		0, 1048576,	0)		\
	X(t_prog_slc_ns,	0, 1000000000,	110000)		\
	X(fill_pct,		0, 100,		100)		\
	X(overwrite_pct,	0, 1000,	0)		\
	X(rewrite_pct,		0, 100,		0)		\
	X(seed,			0, 4294967295ULL, 1)		\
	X(nr_devices,		1, 16,		1)		\
	X(nr_hw_queues,		1, 64,		1)		\
	X(queue_depth,		1, 1023,	256)		\
	X(max_kb,		4, 1024,	512)		\
	X(data_mb,		1, 1048576,	1024)		\
	X(time_scale,		1, 4096,	1)		\
	X(shrink,		1, 4096,	1)		\
	X(ranges,		1, 64,		8)		\
	X(series_ms,		1, 1000,	10)		\
	X(series_len,		0, 65536,	0)		\
	X(log_len,		0, 4194304,	0)		\
	X(rq_timeout_ms,	100, 600000,	30000)

/*
 * Numbers that may change at any time. A requeued or refused request is issued
 * again, so these two probabilities must be below 1.
 */
#define FS_FAULTS(X)						\
	X(error_ppm,		0, 1000000,	0)		\
	X(timeout_ppm,		0, 1000000,	0)		\
	X(requeue_ppm,		0, 900000,	0)		\
	X(busy_ppm,		0, 900000,	0)		\
	X(fault_sector,		0, 1ULL << 40,	0)		\
	X(fault_sectors,	0, 1ULL << 40,	0)

/* Words: name, those accepted, the first one is the default */
#define FS_WORDS(X)						\
	X(profile,	"none A B C D E F")			\
	X(order,	"chip_fifo read_first in_order")	\
	X(alloc,	"static dynamic")			\
	X(stripe,	"CWD CDW WCD WDC DCW DWC")		\
	X(gc,		"chip device none")			\
	X(gc_step,	"paced whole")				\
	X(service,	"fixed exponential")			\
	X(data,		"memory pattern none")

#define FS_ENUM_NUMBER(name, ...)	FS_##name,
#define FS_ENUM_WORD(name, ...)		FS_##name,

enum fs_param_id {
	FS_NUMBERS(FS_ENUM_NUMBER)
	FS_FAULTS(FS_ENUM_NUMBER)
	FS_WORDS(FS_ENUM_WORD)
	FS_NR_PARAMS
};

/* In the order of the words above. */
enum { FS_PROFILE_NONE, FS_PROFILE_A, FS_PROFILE_B, FS_PROFILE_C, FS_PROFILE_D,
       FS_PROFILE_E, FS_PROFILE_F, FS_NR_PROFILES };
enum { FS_GC_CHIP, FS_GC_DEVICE, FS_GC_NONE };
enum { FS_STEP_PACED, FS_STEP_WHOLE };
enum { FS_DATA_MEMORY, FS_DATA_PATTERN, FS_DATA_NONE };

#define FS_LAYOUT_MAX	128

extern char fs_layout[FS_LAYOUT_MAX];
extern char fs_xor[FS_LAYOUT_MAX];

u64 fs_value(enum fs_param_id id);
const char *fs_word(enum fs_param_id id);
bool fs_is_set(enum fs_param_id id);
/* Which requests faults are for: bit 0 reads, bit 1 writes. */
unsigned int fs_fault_ops(void);

/* flashsim.c: removes a device, even if it is in use */
int fs_remove(unsigned int nr);

#endif /* FLASHSIM_PARAMS_H */
