// SPDX-License-Identifier: GPL-2.0
/* K2's own hooks and the core, with threads */
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
#include "k2/k2.h"
STORED(flash_groups_store, const struct flash_group_attr *attr)

/* Each task is of the first group of the table. */
#define flash_groups_near(g, nr, css) \
	((void)(css), (nr) ? (g)->value : FLASH_GROUP_NONE)
#define flash_groups_print(g, nr, from, page) ((void)(g), (void)(page), (ssize_t)(nr))

#include "common/elevator/groups.c"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/estimate/service_time.c"
#include "common/estimate/histogram.c"
#include "k2/admit.c"
#include "k2/autolimit.c"
#include "k2/cgroups.c"
#include "k2/chips.c"
#include "k2/k2.c"
#include "k2/show.c"
#pragma GCC diagnostic pop

#include "policythreads.h"

static const char * const layouts[] = { "none", "page=4096 chips=4" };

static const struct choice *a_choice(unsigned int random)
{
	static const struct choice choices[] = {
		{ TEXT_layout, layouts, ARRAY_SIZE(layouts) },
	};

	return &choices[random % ARRAY_SIZE(choices)];
}

/* A real-time level for a control group, a calibration, and what is shown of both */
static void more(struct flash_queue *fq)
{
	char page[4096];

	if (tap_rand(&turns) % 2)
		k2_group_set(fq, 1, tap_rand(&turns) % 2 ? 3 : FLASH_GROUP_NONE);
	if (tap_rand(&turns) % 8 == 0)
		k2_calibrate_store(&elevator, "1", 1);
	k2_tail_show(&elevator, page);
	k2_bound_show(&elevator, page);
}

int main(void)
{
	return threads_main();
}
