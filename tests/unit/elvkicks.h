/* SPDX-License-Identifier: GPL-2.0 */
/* elvkicks.h - kicks that a test without threads looks at; the device has two hardware queues */
#ifndef ELVKICKS_H
#define ELVKICKS_H

void compat_run_hctx(struct blk_mq_hw_ctx *hctx)
{
	hctx->pending = true;
}

/* Is a run of a hardware queue scheduled? Clears it. */
static bool run_pending(void)
{
	bool any = hctxs[0].pending || hctxs[1].pending;

	hctxs[0].pending = hctxs[1].pending = false;
	return any;
}

#endif /* ELVKICKS_H */
