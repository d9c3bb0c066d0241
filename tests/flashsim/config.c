// SPDX-License-Identifier: GPL-2.0
/*
 * config.c - check flashsim's parameters together and convert them for the model
 */
#include <linux/kernel.h>

#include "dev.h"

/* Idle time after which the SLC buffer is folded. */
#define FS_SLC_IDLE_NS		(200 * NSEC_PER_MSEC)

/* The next number of a list, or false with *at at the text that is no number. */
static bool fs_number(const char **at, u32 *value)
{
	const char *begin = *at;
	u64 v = 0;

	while (**at >= '0' && **at <= '9' && v < U32_MAX)
		v = v * 10 + *(*at)++ - '0';
	*value = v;
	return *at != begin && v < U32_MAX;
}

static int fs_parse_layout(struct ftl_layout *l)
{
	const char *at = fs_layout;

	while (l->nr_terms < FTL_MAX_TERMS) {
		struct ftl_term *t = &l->term[l->nr_terms++];

		if (!fs_number(&at, &t->div) || *at++ != ':' ||
		    !fs_number(&at, &t->mod) || *at++ != ':' ||
		    !fs_number(&at, &t->mul))
			return -EINVAL;
		if (!*at || (*at == '\n' && !at[1]))
			return 0;
		if (*at++ != ',')
			return -EINVAL;
	}
	return -EINVAL;
}

static int fs_parse_xor(struct ftl_layout *l)
{
	const char *at = fs_xor;

	while (*at && *at != '\n') {
		if (l->nr_xors == FTL_MAX_XORS ||
		    !fs_number(&at, &l->xor[l->nr_xors++]))
			return -EINVAL;
		if (*at == ',' && at[1])
			at++;
		else if (*at && *at != '\n')
			return -EINVAL;
	}
	return 0;
}

/* Channel, way and die in the order of the parameter `stripe`. */
static void fs_stripe(struct ftl_layout *l, const struct nand_cfg *n)
{
	const char *order = fs_word(FS_stripe);
	u32 div = 1, i;

	for (i = 0; i < 3; i++) {
		struct ftl_term *t = &l->term[l->nr_terms++];

		t->div = div;
		switch (order[i]) {
		case 'C':
			t->mod = n->channels;
			t->mul = 1;
			break;
		case 'W':
			t->mod = n->ways;
			t->mul = n->channels;
			break;
		case 'D':
			t->mod = n->dies;
			t->mul = n->channels * n->ways;
			break;
		}
		div *= t->mod;
	}
}

static int fs_layout_cfg(struct ftl_cfg *f, const struct nand_cfg *n)
{
	struct ftl_layout *l = &f->layout;

	if (fs_layout[0]) {
		if (fs_parse_layout(l)) {
			pr_err(FS_NAME ": layout: '%s': want 1 to %u terms div:mod:mul, commas between\n",
			       fs_layout, FTL_MAX_TERMS);
			return -EINVAL;
		}
	} else {
		fs_stripe(l, n);
	}
	if (fs_parse_xor(l)) {
		pr_err(FS_NAME ": xor: '%s': want at most %u shifts from 1 to 31, commas between\n",
		       fs_xor, FTL_MAX_XORS);
		return -EINVAL;
	}
	if (ftl_layout_check(l, f->luns)) {
		pr_err(FS_NAME ": layout '%s', xor '%s': must give each of %u dies at most once a round; xor wants a power of two of them and shifts from 1 to 31\n",
		       fs_layout, fs_xor, f->luns);
		return -EINVAL;
	}
	return 0;
}

static u64 fs_time(enum fs_param_id id)
{
	return fs_value(id) * fs_value(FS_time_scale);
}

/* A capacity: the profile's value is divided by `shrink`. */
static u64 fs_capacity(enum fs_param_id id)
{
	u64 value = fs_value(id);

	if (fs_is_set(id) || !value)
		return value;
	return max_t(u64, div64_u64(value, fs_value(FS_shrink)), 1);
}

/*
 * Mapping unit and program. A drive without a write buffer cannot collect
 * parts of a page, so the profile's values for them do not apply.
 */
static int fs_units_cfg(u32 *map_kb, u32 *prog_pages)
{
	u32 page_kb = fs_value(FS_page_kb);
	bool split = fs_value(FS_wbuf_kb) && fs_value(FS_alloc) == FTL_DYNAMIC;

	*map_kb = fs_value(FS_map_kb);
	*prog_pages = fs_value(FS_prog_pages);
	if (!fs_is_set(FS_map_kb) && (!split || *map_kb > page_kb ||
				      fs_value(FS_profile) == FS_PROFILE_NONE))
		*map_kb = page_kb;
	if (!fs_is_set(FS_prog_pages) && !split)
		*prog_pages = 1;
	if (!is_power_of_2(page_kb) || !is_power_of_2(*map_kb) ||
	    *map_kb > page_kb) {
		pr_err(FS_NAME ": page_kb %u, map_kb %u: want powers of two, map_kb at most page_kb\n",
		       page_kb, *map_kb);
		return -EINVAL;
	}
	if (!split && (*map_kb != page_kb || *prog_pages != 1)) {
		pr_err(FS_NAME ": map_kb %u, prog_pages %u: want page_kb and 1 without alloc=dynamic and wbuf_kb\n",
		       *map_kb, *prog_pages);
		return -EINVAL;
	}
	if (page_kb / *map_kb * *prog_pages > FTL_MAX_PROG) {
		pr_err(FS_NAME ": page_kb / map_kb * prog_pages is %u: want at most %u\n",
		       page_kb / *map_kb * *prog_pages, FTL_MAX_PROG);
		return -EINVAL;
	}
	if (fs_value(FS_pages_per_block) % *prog_pages) {
		pr_err(FS_NAME ": pages_per_block %llu: want a multiple of prog_pages, which is %u\n",
		       fs_value(FS_pages_per_block), *prog_pages);
		return -EINVAL;
	}
	return 0;
}

/**
 * fs_config - check dependent parameters and fill in both configurations
 * @c: the drive, all zero
 * @f: its translation layer, all zero
 *
 * Errors are reported in the kernel log.
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int fs_config(struct sim_cfg *c, struct ftl_cfg *f)
{
	struct nand_cfg *n = &c->nand;
	u32 map_kb, prog_pages, per_page;
	u64 scale = fs_value(FS_time_scale), units;
	int ret;

	n->channels = fs_value(FS_channels);
	n->ways = fs_value(FS_ways);
	n->dies = fs_value(FS_dies);
	n->ps_per_byte = div64_u64(1000000 * scale, fs_value(FS_bus_mbps));
	n->suspend = fs_time(FS_suspend_us) * NSEC_PER_USEC;
	n->order = fs_value(FS_order);
	n->keep = fs_value(FS_page_register);
	if (n->channels * n->ways > NAND_MAX_CHIPS) {
		pr_err(FS_NAME ": channels * ways is %u: want at most %u chips\n",
		       n->channels * n->ways, NAND_MAX_CHIPS);
		return -ERANGE;
	}
	ret = fs_units_cfg(&map_kb, &prog_pages);
	if (ret)
		return ret;
	if (!is_power_of_2(fs_value(FS_max_kb)) ||
	    fs_value(FS_max_kb) < map_kb) {
		pr_err(FS_NAME ": max_kb %llu: want a power of two from map_kb (%u) to 1024\n",
		       fs_value(FS_max_kb), map_kb);
		return -EINVAL;
	}

	c->t_read = fs_time(FS_t_read_ns);
	c->t_prog = fs_time(FS_t_prog_ns);
	c->t_prog_slc = fs_time(FS_t_prog_slc_ns);
	c->t_erase = fs_time(FS_t_erase_ns);
	c->ps_link = div64_u64(1000000 * scale, fs_value(FS_link_mbps));
	c->duplex = fs_value(FS_link_duplex);
	c->fw_read = fs_time(FS_fw_read_ns);
	c->fw_write = fs_time(FS_fw_write_ns);
	c->fw_4k = fs_time(FS_fw_per4k_ns);
	c->cmd_read = fs_time(FS_cmd_read_ns);
	c->cmd_write = fs_time(FS_cmd_write_ns);
	c->turn = fs_time(FS_turn_ns);
	c->jump = fs_time(FS_jump_ns);
	c->exponential = fs_value(FS_service);
	c->vary = fs_value(FS_vary_permille);
	c->unit = map_kb << 10;
	c->page = (u32)fs_value(FS_page_kb) << 10;
	c->sectors = fs_capacity(FS_size_mb) << 11;
	c->offset = fs_value(FS_offset_sectors);
	c->slc_idle = FS_SLC_IDLE_NS * scale;
	c->ranges = fs_value(FS_ranges);
	c->series = fs_value(FS_series_ms) * NSEC_PER_MSEC;
	c->seed = fs_value(FS_seed);

	f->luns = n->channels * n->ways * n->dies;
	per_page = c->page / c->unit;
	f->per_page = per_page;
	f->per_prog = per_page * prog_pages;
	f->per_block = per_page * (u32)fs_value(FS_pages_per_block);
	f->alloc = fs_value(FS_alloc);
	f->gc = fs_value(FS_gc);
	f->whole = fs_value(FS_gc_step) == FS_STEP_WHOLE;
	units = div64_u64((c->sectors + c->offset) * SIM_SECTOR + c->unit - 1,
			  c->unit);
	if (units >= 1U << 30) {
		pr_err(FS_NAME ": size_mb %llu is %llu mapping units: want less than 2^30, see shrink\n",
		       c->sectors >> 11, units);
		return -ERANGE;
	}
	f->units = units;
	if (f->alloc == FTL_STATIC) {
		if (f->gc == FTL_GC_DEVICE) {
			pr_err(FS_NAME ": gc device: want alloc=dynamic, as it moves pages to other dies\n");
			return -EINVAL;
		}
		ret = fs_layout_cfg(f, n);
		if (ret)
			return ret;
	} else if (f->gc == FTL_GC_NONE) {
		pr_err(FS_NAME ": gc none: want alloc=static, as a log has to be collected\n");
		return -EINVAL;
	} else if (fs_layout[0] || fs_xor[0]) {
		pr_err(FS_NAME ": layout '%s', xor '%s': want alloc=static for them\n",
		       fs_layout, fs_xor);
		return -EINVAL;
	}
	c->buffer = (u32)fs_value(FS_wbuf_kb) / map_kb;
	if (fs_value(FS_wbuf_kb) && c->buffer < f->per_prog) {
		pr_err(FS_NAME ": wbuf_kb %llu: want 0 or at least what a program takes, %u\n",
		       fs_value(FS_wbuf_kb), f->per_prog * map_kb);
		return -EINVAL;
	}
	if (c->buffer && f->gc == FTL_GC_NONE) {
		pr_err(FS_NAME ": wbuf_kb %llu: want 0 with gc=none, which keeps no map\n",
		       fs_value(FS_wbuf_kb));
		return -EINVAL;
	}
	if (fs_capacity(FS_slc_mb) && !c->buffer) {
		pr_err(FS_NAME ": slc_mb %llu: want 0 without a write buffer\n",
		       fs_capacity(FS_slc_mb));
		return -EINVAL;
	}
	c->slc = div64_u64(fs_capacity(FS_slc_mb) << 20,
			   (u64)f->per_prog * c->unit * f->luns);
	return 0;
}
