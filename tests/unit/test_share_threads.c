// SPDX-License-Identifier: GPL-2.0
/* A+CFQ's own hooks, which H+BFQ shares, and the core, with threads */
#define TAGS		96
#define QUEUES		2
#define SUBMITTERS	3
#define REAL_POLICY

#include "elvdrive.h"
#include "realpolicy.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wconversion"
#include "common/elevator/cgroup.h"
STORED(flash_groups_store, const struct flash_group_attr *attr)

/* There are no control groups: tenants are processes or I/O priorities. */
#define blkcg_root_css			NULL
#define flash_css_cgroup(css)		(!!(css))
#define cgroup_id(group)		0
#define flash_groups_print(g, nr, from, page) ((void)(g), (void)(page), (ssize_t)(nr))
#define op_is_sync(opf)			(!((opf) & 1))

/* Tags: few are free, so tenants are limited. */
#define compat_hctx_depth(hctx)		((void)(hctx), 4U)
#define compat_hctx_free(hctx)		((void)(hctx), 1U)
#define compat_hctx_set(hctx)		((hctx)->queue_num)
#define compat_shallow_unit(hctx)	((void)(hctx), 64U)

/* The message about few tags is never printed. */
struct work_struct { int unused; };
struct delayed_work { struct work_struct work; };
#define to_delayed_work(w)		container_of(w, struct delayed_work, work)
#define INIT_DELAYED_WORK(w, function)	((void)(w), (void)(function))
#define kblockd_mod_delayed_work_on(cpu, w, delay) ((void)(w))
#define cancel_delayed_work_sync(w)	((void)(w))
#define HZ				0
#define BIT(n)				(1UL << (n))
#define pr_notice(...)			((void)0)

#include "common/elevator/groups.c"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "common/estimate/service_time.c"
#include "common/share/fairshare.c"
#include "common/share/tenant.c"
#include "common/share/budget.c"
#include "common/share/think_time.c"
#include "common/share/tag_quota.c"
#include "acfq/acfq.c"
#pragma GCC diagnostic pop

#include "policythreads.h"

static const char * const layouts[] = { "none", "page=4096 chips=4" };

static const struct choice *a_choice(unsigned int random)
{
	static const struct choice choices[] = {
		{ TEXT_mode, acfq_modes, ARRAY_SIZE(acfq_modes) },
		{ TEXT_tenant_by, fairshare_bys, ARRAY_SIZE(fairshare_bys) },
		{ TEXT_charge, fairshare_charges, ARRAY_SIZE(fairshare_charges) },
		{ TEXT_layout, layouts, ARRAY_SIZE(layouts) },
	};

	return &choices[random % ARRAY_SIZE(choices)];
}

/* The weight of a control group, which has no requests here */
static void more(struct flash_queue *fq)
{
	fairshare_set_weight(fq, 1, tap_rand(&turns) % 2 ? 10 : 1000);
}

int main(void)
{
	return threads_main();
}
