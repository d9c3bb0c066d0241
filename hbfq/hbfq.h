/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HBFQ_H
#define HBFQ_H

#include "../common/share/fairqueue.h"

/**
 * enum hbfq_mode - the modes of hbfq
 * @HBFQ_AUTO: budgets of device time, requests of several tenants in the device
 * @HBFQ_PAPER: H+BFQ: budgets of sectors, one tenant at a time
 * @HBFQ_NR_MODES: number of modes
 */
enum hbfq_mode {
	HBFQ_AUTO,
	HBFQ_PAPER,
	HBFQ_NR_MODES
};

void hbfq_rules(enum hbfq_mode mode, u64 slice, u64 max_gap,
		const struct flash_budgets *budget, enum fair_charge charge,
		struct fair_rules *rules);

#endif /* HBFQ_H */
