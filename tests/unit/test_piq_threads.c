// SPDX-License-Identifier: GPL-2.0
/* PIQ's own hooks and the core, with threads */
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
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/flash/batch.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "common/estimate/service_time.c"
#include "piq/auto.c"
#include "piq/batch.c"
#include "piq/learn.c"
#include "piq/piq.c"
#pragma GCC diagnostic pop

#include "policythreads.h"

static const char * const layouts[] = { "none", "page=4096 chips=4" };

/* Without urgent requests and another mode, PIQ begins and stops to watch. */
static const struct choice *a_choice(unsigned int random)
{
	static const struct choice choices[] = {
		{ TEXT_layout, layouts, ARRAY_SIZE(layouts) },
		{ TEXT_mode, piq_modes, PIQ_NR_MODES },
	};

	return &choices[urgent ? random % ARRAY_SIZE(choices) : 0];
}

static void more(struct flash_queue *fq)
{
	(void)fq;
}

int main(void)
{
	return threads_main();
}
