// SPDX-License-Identifier: GPL-2.0
/*
 * params.c - flashsim's parameters and profiles
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "params.h"

/**
 * struct fs_param - a number, or a choice among words
 * @name: its name
 * @words: those accepted, blanks between; NULL: a number
 * @min: least number
 * @max: greatest
 * @value: the number, or which word
 * @set: the user has set it, which overrides the profile
 */
struct fs_param {
	const char *name;
	const char *words;
	u64 min;
	u64 max;
	u64 value;
	bool set;
};

#define FS_NUMBER(n, lo, hi, v)	[FS_##n] = { #n, NULL, lo, hi, v, false },
#define FS_WORD(n, w)		[FS_##n] = { #n, w, 0, 0, 0, false },

static struct fs_param fs_params[FS_NR_PARAMS] = {
	FS_NUMBERS(FS_NUMBER)
	FS_FAULTS(FS_NUMBER)
	FS_WORDS(FS_WORD)
};

/*
 * Profiles
 *
 * Sources of the numbers: [P] the scheduler's paper, [S] the configuration
 * of the simulator or emulator named, [D] derived from a published figure,
 * [N] nominal, an engineer's estimate. Capacities are the drive's own; shrink
 * makes them fit into a test machine and keeps the ratios of capacity, SLC
 * buffer and number of blocks.
 *
 * Array times of the drives with multi-level cells and a write buffer vary, as
 * those of real ones do: with equal times, the dies of an overloaded drive end
 * their programs at one moment, and each write waits for that.
 *
 * These numbers are frozen: results are compared over time.
 */
struct fs_preset {
	u16 id;
	u64 value;
};

/* The PIQ paper's drive, and SSDsim's defaults for what it leaves open. */
static const struct fs_preset fs_profile_a[] = {
	{ FS_channels, 8 }, { FS_ways, 8 }, { FS_dies, 1 },	/* [P] */
	{ FS_page_kb, 2 }, { FS_pages_per_block, 64 },		/* [P] */
	{ FS_size_mb, 131072 }, { FS_op_permille, 100 },	/* [P] */
	{ FS_t_read_ns, 20000 }, { FS_t_prog_ns, 200000 },	/* [S] SSDsim */
	{ FS_t_erase_ns, 1500000 },				/* [S] SSDsim */
	{ FS_bus_mbps, 40 },			/* [S] tWC = tRC = 25 ns */
	{ FS_link_mbps, 300 }, { FS_link_duplex, 0 },		/* [N] SATA 2 */
	{ FS_fw_read_ns, 0 }, { FS_fw_write_ns, 0 },		/* [S] */
	{ FS_order, 1 },			/* [S] SSDsim: reads first */
	{ FS_gc_step, FS_STEP_WHOLE },				/* [S] SSDsim */
	{ FS_queue_depth, 64 },					/* [P] */
	{ FS_shrink, 64 },
	{ }
};

/* The Layer_Read paper's SATA drive (60 GB, SandForce, 2013). */
static const struct fs_preset fs_profile_b[] = {
	/* 16 dies, as the paper has 16 sub-layers for 8 chips */
	{ FS_channels, 8 }, { FS_ways, 1 }, { FS_dies, 2 },	/* [P] */
	/* two planes of 8 KiB work as one page */
	{ FS_page_kb, 16 }, { FS_pages_per_block, 256 },	/* [N] */
	{ FS_size_mb, 61440 }, { FS_op_permille, 70 },		/* [N] */
	{ FS_t_read_ns, 75000 }, { FS_t_prog_ns, 1300000 },	/* [N] */
	{ FS_t_erase_ns, 3800000 }, { FS_bus_mbps, 166 },	/* [N] */
	{ FS_link_mbps, 550 }, { FS_link_duplex, 0 },		/* [N] SATA 3 */
	{ FS_fw_read_ns, 20000 }, { FS_fw_write_ns, 15000 },	/* [N] */
	{ FS_queue_depth, 32 },					/* NCQ */
	{ FS_shrink, 16 },
	{ }
};

/* A SATA MLC drive of 200 GB (A+CFQ), after MQSim's default configuration. */
static const struct fs_preset fs_profile_c[] = {
	{ FS_channels, 8 }, { FS_ways, 4 }, { FS_dies, 2 },	/* [S] MQSim */
	{ FS_page_kb, 8 }, { FS_map_kb, 4 }, { FS_prog_pages, 2 },
	{ FS_pages_per_block, 256 },				/* [S] */
	{ FS_size_mb, 204800 }, { FS_op_permille, 70 },		/* [P], [S] */
	{ FS_t_read_ns, 75000 }, { FS_t_prog_ns, 750000 },	/* [S] */
	{ FS_t_erase_ns, 3800000 }, { FS_bus_mbps, 333 },	/* [S] */
	{ FS_link_mbps, 550 }, { FS_link_duplex, 0 },		/* SATA 3 */
	{ FS_fw_read_ns, 0 }, { FS_fw_write_ns, 0 },		/* [S] */
	{ FS_order, 1 },		/* [S] user reads before user writes */
	{ FS_alloc, 1 },					/* [N] */
	/* [S] 256 MiB, divided as the capacity is */
	{ FS_wbuf_kb, 4096 },
	{ FS_queue_depth, 32 },					/* NCQ */
	{ FS_shrink, 64 },
	{ }
};

/* Samsung 970 PRO 512 GB, after NVMeVirt's configuration of it. */
static const struct fs_preset fs_profile_d[] = {
	{ FS_channels, 8 }, { FS_ways, 2 }, { FS_dies, 1 },	/* [S] */
	{ FS_page_kb, 32 }, { FS_map_kb, 4 },			/* [S] */
	{ FS_pages_per_block, 64 },		/* [N] as many blocks, smaller */
	{ FS_size_mb, 488280 }, { FS_op_permille, 70 },		/* [S] */
	{ FS_t_read_ns, 36000 }, { FS_t_prog_ns, 185000 },	/* [S] */
	{ FS_t_erase_ns, 3500000 },		/* [N]; [S] has none */
	{ FS_bus_mbps, 800 }, { FS_link_mbps, 3360 },		/* [S] */
	{ FS_fw_read_ns, 21000 }, { FS_fw_write_ns, 4000 },	/* [S] */
	{ FS_fw_per4k_ns, 460 },				/* [S] */
	{ FS_vary_permille, 100 },				/* [N] */
	{ FS_alloc, 1 }, { FS_wbuf_kb, 1024 },			/* [S] */
	{ FS_queue_depth, 1023 },
	{ FS_shrink, 128 },
	{ }
};

/* Samsung 970 EVO Plus 250 GB: the drive of the K2 analysis paper. */
static const struct fs_preset fs_profile_e[] = {
	/* 8 dies of 256 Gbit, two planes of 16 KiB */
	{ FS_channels, 8 }, { FS_ways, 1 }, { FS_dies, 1 },	/* [D] */
	/* a one-shot TLC program: 2 planes x 3 pages x 16 KiB */
	{ FS_page_kb, 16 }, { FS_map_kb, 4 }, { FS_prog_pages, 6 },
	{ FS_pages_per_block, 96 },		/* [N] as many blocks, smaller */
	{ FS_size_mb, 238418 }, { FS_op_permille, 90 },		/* [D] */
	{ FS_t_read_ns, 55000 },				/* [D] */
	/* 8 x 96 KiB / 1.9 ms = 414 MB/s: 400 in the paper's Table 1 */
	{ FS_t_prog_ns, 1900000 },				/* [D] */
	/* the same 96 KiB as three SLC programs of 110 us: 2380 MB/s (2300) */
	{ FS_t_prog_slc_ns, 330000 },				/* [D] */
	{ FS_t_erase_ns, 3500000 }, { FS_bus_mbps, 800 },	/* [N] */
	{ FS_link_mbps, 3500 },					/* PCIe 3 x4 */
	/* 20 and 10 us in all; 250 000 reads/s, 550 000 writes/s: data sheet */
	{ FS_fw_read_ns, 16000 }, { FS_fw_write_ns, 8200 },	/* [N] */
	{ FS_cmd_read_ns, 4000 }, { FS_cmd_write_ns, 1800 },	/* [D] */
	/*
	 * Sequential reads of 4 KiB under none are faster than random ones in
	 * the paper (720 against 566 MB/s): pages are not sensed four times.
	 */
	{ FS_page_register, 1 },				/* [D] */
	{ FS_vary_permille, 100 },				/* [N] */
	{ FS_alloc, 1 },
	{ FS_wbuf_kb, 4096 },					/* [N] */
	{ FS_slc_mb, 13312 },					/* data sheet */
	{ FS_queue_depth, 1023 },
	{ FS_shrink, 64 },
	{ }
};

/* A current data-centre NVMe drive, after MQSim-E's PM9A3 configuration. */
static const struct fs_preset fs_profile_f[] = {
	{ FS_channels, 8 }, { FS_ways, 4 }, { FS_dies, 1 },	/* [S] */
	/* four planes x 3 pages x 16 KiB */
	{ FS_page_kb, 16 }, { FS_map_kb, 4 }, { FS_prog_pages, 12 },
	{ FS_pages_per_block, 96 },		/* [N] as many blocks, smaller */
	{ FS_size_mb, 915527 }, { FS_op_permille, 127 },	/* [S] */
	{ FS_t_read_ns, 45000 }, { FS_t_prog_ns, 650000 },	/* [S] */
	{ FS_t_erase_ns, 5000000 },	/* [N]; [S] says 35 ms, taken for a slip */
	{ FS_bus_mbps, 1200 }, { FS_link_mbps, 8000 },		/* [S] */
	{ FS_fw_read_ns, 10000 }, { FS_fw_write_ns, 8000 },	/* [N] */
	{ FS_vary_permille, 100 },				/* [N] */
	{ FS_alloc, 1 }, { FS_wbuf_kb, 16384 },			/* [S] */
	{ FS_queue_depth, 1023 },
	{ FS_shrink, 256 },
	{ }
};

static const struct fs_preset *const fs_profiles[FS_NR_PROFILES] = {
	[FS_PROFILE_A] = fs_profile_a,
	[FS_PROFILE_B] = fs_profile_b,
	[FS_PROFILE_C] = fs_profile_c,
	[FS_PROFILE_D] = fs_profile_d,
	[FS_PROFILE_E] = fs_profile_e,
	[FS_PROFILE_F] = fs_profile_f,
};

/**
 * fs_is_set - was this parameter given?
 * @id: which
 */
bool fs_is_set(enum fs_param_id id)
{
	return fs_params[id].set;
}

/**
 * fs_value - value of a parameter
 * @id: which
 *
 * The user's value, else the profile's, else the default. For a choice
 * among words: the number of the word.
 */
u64 fs_value(enum fs_param_id id)
{
	const struct fs_preset *p = fs_profiles[fs_params[FS_profile].value];

	if (!fs_params[id].set && p)
		for (; p->value || p->id; p++)
			if (p->id == id)
				return p->value;
	return READ_ONCE(fs_params[id].value);
}

/* Word number @nr of @words; its length in @len, 0 if there is none. */
static const char *fs_nth_word(const char *words, u64 nr, size_t *len)
{
	const char *w = words;

	while (nr-- && *w) {
		w += strcspn(w, " ");
		w += strspn(w, " ");
	}
	*len = strcspn(w, " ");
	return w;
}

/**
 * fs_word - the current word of a choice
 * @id: which
 *
 * Return: it, and all behind it: print it with "%.*s" and strcspn(s, " ").
 */
const char *fs_word(enum fs_param_id id)
{
	size_t len;

	return fs_nth_word(fs_params[id].words, fs_value(id), &len);
}

static int fs_param_set(const char *text, const struct kernel_param *kp)
{
	struct fs_param *p = kp->arg;
	size_t len = text ? strcspn(text, "\n") : 0, n;
	unsigned long long value;
	int ret;

	if (p->words) {
		const char *w;

		for (value = 0; ; value++) {
			w = fs_nth_word(p->words, value, &n);
			if (!n)
				break;
			if (n == len && !strncmp(w, text, n)) {
				p->value = value;
				p->set = true;
				return 0;
			}
		}
		pr_err(FS_NAME ": %s: '%.*s': want one of %s\n", p->name,
		       (int)min_t(size_t, len, 32), text ? text : "", p->words);
		return -EINVAL;
	}
	ret = text ? kstrtoull(text, 10, &value) : -EINVAL;
	if (!ret && (value < p->min || value > p->max))
		ret = -ERANGE;
	if (ret) {
		pr_err(FS_NAME ": %s: '%.*s': want a number from %llu to %llu\n",
		       p->name, (int)min_t(size_t, len, 32), text ? text : "",
		       p->min, p->max);
		return ret;
	}
	WRITE_ONCE(p->value, value);
	p->set = true;
	return 0;
}

static int fs_param_get(char *page, const struct kernel_param *kp)
{
	const struct fs_param *p = kp->arg;
	size_t len;
	const char *w;

	if (!p->words)
		return sysfs_emit(page, "%llu\n", fs_value(p - fs_params));
	w = fs_nth_word(p->words, fs_value(p - fs_params), &len);
	return sysfs_emit(page, "%.*s\n", (int)len, w);
}

static const struct kernel_param_ops fs_param_ops = {
	.set = fs_param_set,
	.get = fs_param_get,
};

#define FS_DEFINE(n, ...) \
	module_param_cb(n, &fs_param_ops, &fs_params[FS_##n], 0444);
#define FS_DEFINE_RW(n, ...) \
	module_param_cb(n, &fs_param_ops, &fs_params[FS_##n], 0644);
#define FS_DESC(n, lo, hi, v)	MODULE_PARM_DESC(n, #lo " to " #hi " (" #v ")");
#define FS_DESC_WORD(n, w)	MODULE_PARM_DESC(n, "one of " w);

FS_NUMBERS(FS_DEFINE)
FS_FAULTS(FS_DEFINE_RW)
FS_WORDS(FS_DEFINE)
FS_NUMBERS(FS_DESC)
FS_FAULTS(FS_DESC)
FS_WORDS(FS_DESC_WORD)

char fs_layout[FS_LAYOUT_MAX];
char fs_xor[FS_LAYOUT_MAX];
module_param_string(layout, fs_layout, FS_LAYOUT_MAX, 0444);
MODULE_PARM_DESC(layout, "terms div:mod:mul, commas between");
module_param_string(xor, fs_xor, FS_LAYOUT_MAX, 0444);
MODULE_PARM_DESC(xor, "shifts, commas between");

static unsigned int fs_ops = 3;

unsigned int fs_fault_ops(void)
{
	return READ_ONCE(fs_ops);
}

static const char *const fs_ops_words[] = { "", "r", "w", "rw" };

static int fs_ops_set(const char *text, const struct kernel_param *kp)
{
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(fs_ops_words); i++) {
		if (text && sysfs_streq(text, fs_ops_words[i])) {
			WRITE_ONCE(fs_ops, i);
			return 0;
		}
	}
	pr_err(FS_NAME ": fault_ops: '%.*s': want one of r w rw\n",
	       text ? (int)min_t(size_t, strcspn(text, "\n"), 32) : 0,
	       text ? text : "");
	return -EINVAL;
}

static int fs_ops_get(char *page, const struct kernel_param *kp)
{
	return sysfs_emit(page, "%s\n", fs_ops_words[fs_ops]);
}

static const struct kernel_param_ops fs_ops_ops = {
	.set = fs_ops_set,
	.get = fs_ops_get,
};
module_param_cb(fault_ops, &fs_ops_ops, NULL, 0644);
MODULE_PARM_DESC(fault_ops, "requests that faults are for: r, w or rw");

static int fs_remove_set(const char *text, const struct kernel_param *kp)
{
	unsigned int nr;
	int ret = text ? kstrtouint(text, 10, &nr) : -EINVAL;

	if (!ret)
		ret = fs_remove(nr);
	if (ret)
		pr_err(FS_NAME ": remove: '%.*s': want the number of a device that is there\n",
		       text ? (int)min_t(size_t, strcspn(text, "\n"), 32) : 0,
		       text ? text : "");
	return ret;
}

static const struct kernel_param_ops fs_remove_ops = {
	.set = fs_remove_set,
};
module_param_cb(remove, &fs_remove_ops, NULL, 0200);
MODULE_PARM_DESC(remove, "write N: take device N away");
