// SPDX-License-Identifier: GPL-2.0
/* Layer_Read's own hooks and the core, with threads */
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
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "layer_read/layer_read.c"
#include "layer_read/select.c"
#include "layer_read/sublayer.c"
#pragma GCC diagnostic pop

#include "policythreads.h"

static const char * const layouts[] = { "none", "page=4096 chips=4" };

static const struct choice *a_choice(unsigned int random)
{
	static const struct choice choices[] = {
		{ TEXT_mode, layer_modes, LAYER_NR_MODES },
		{ TEXT_sort, layer_sorts, LAYER_NR_SORTS },
		{ TEXT_layout, layouts, ARRAY_SIZE(layouts) },
	};

	return &choices[random % ARRAY_SIZE(choices)];
}

static void more(struct flash_queue *fq)
{
	(void)fq;
}

int main(void)
{
	return threads_main();
}
