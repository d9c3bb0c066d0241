// SPDX-License-Identifier: GPL-2.0
/* The settings of acfq change while many requests wait: see policytest.h */
#include "changeshare.h"
#include "acfq/acfq.c"
#include "policytest.h"

static const struct change_case cases[] = {
	SHARE_CASES,
	{ "slice_ms", { PRIO, CHIPS, PAPER }, { TUN_slice_ms, 5, NULL } },
};

int main(void)
{
	return test_changes(cases, ARRAY_SIZE(cases));
}
