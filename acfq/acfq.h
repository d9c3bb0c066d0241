/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ACFQ_H
#define ACFQ_H

#include "../common/share/fairqueue.h"

/**
 * enum acfq_mode - the modes of acfq
 * @ACFQ_AUTO: start-time fair queueing in a window over all tenants
 * @ACFQ_PAPER: A+CFQ: one tenant at a time, which is waited for by Algorithm 1
 * @ACFQ_CFQ: CFQ, which the paper compares with: A+CFQ without waiting
 * @ACFQ_NR_MODES: number of modes
 */
enum acfq_mode {
	ACFQ_AUTO,
	ACFQ_PAPER,
	ACFQ_CFQ,
	ACFQ_NR_MODES
};

void acfq_rules(enum acfq_mode mode, u64 slice, enum fair_charge charge,
		struct fair_rules *rules);

#endif /* ACFQ_H */
