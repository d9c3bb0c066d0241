// SPDX-License-Identifier: GPL-2.0
#include "think_time.h"

/* Number of strays in a row that replace the mean */
#define FLASH_GAP_STRAYS	8

/**
 * flash_gap_add_stray - add the first sample, or a sample far above the mean
 * @gap: the mean
 * @ns: the sample, ns
 */
void flash_gap_add_stray(struct flash_gap *gap, u64 ns)
{
	if (gap->known && ++gap->strays < FLASH_GAP_STRAYS)
		return;
	gap->known = true;
	gap->strays = 0;
	gap->ns = ns;
}
