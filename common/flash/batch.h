/* SPDX-License-Identifier: GPL-2.0 */
/*
 * batch.h - lists of batches of requests that share no chip
 *
 * Algorithm 1 of the PIQ paper: reads and writes have a list of batches each. A request
 * joins the first batch of its list with which it shares no chip, or a new batch at the
 * end. A list is in the order of the batches' creation. The caller decides which
 * direction has its turn and when a batch may begin. The paper leaves two points open:
 *
 * - A batch with outstanding requests can still be joined. Chips stay taken until the
 *   batch ends, even if their request has completed. This bounds a batch: of one-page
 *   requests it holds at most as many as there are chips.
 * - A batch ends with the last of its requests.
 *
 * The caller's lock guards all of it.
 */
#ifndef FLASH_BATCH_H
#define FLASH_BATCH_H

#include <linux/list.h>

#include "chipvec.h"

/**
 * struct flash_batch - requests that share no chip
 * @vec:	all chips that one of its requests ever had
 * @waiting:	its waiting requests, by arrival
 * @outstanding: number of its requests that are dispatched and not done
 * @id:		sequence number of its creation
 * @link:	link in its direction's list, or among the unused batches
 */
struct flash_batch {
	struct flash_chipvec vec;
	struct list_head waiting;
	u32 outstanding;
	u64 id;
	struct list_head link;
};

/**
 * struct flash_batch_part - a request's part in a batch
 * @vec:	its chips; the caller sets them before flash_batches_add()
 * @batch:	its batch, or NULL
 * @link:	link in flash_batch.waiting; empty once it is dispatched. Undefined while
 *		@batch is NULL.
 */
struct flash_batch_part {
	struct flash_chipvec vec;
	struct flash_batch *batch;
	struct list_head link;
};

/**
 * struct flash_batches - the batches of a device
 * @list:	batches of each direction
 * @unused:	batches that are in no list
 * @last_id:	id of the latest batch
 */
struct flash_batches {
	struct list_head list[FLASH_NR_DIRS];
	struct list_head unused;
	u64 last_id;
};

/** flash_batch_first - the oldest waiting request of a batch, or NULL */
static inline struct flash_batch_part *flash_batch_first(struct flash_batch *batch)
{
	return list_first_entry_or_null(&batch->waiting, struct flash_batch_part, link);
}

void flash_batches_init(struct flash_batches *b, struct flash_batch *pool, u32 nr);
bool flash_batches_begin(struct flash_batches *b, struct flash_batch_part *part,
			 enum flash_dir dir);
bool flash_batches_add(struct flash_batches *b, struct flash_batch_part *part,
		       enum flash_dir dir);
void flash_batch_dispatch(struct flash_batch_part *part);
void flash_batches_remove(struct flash_batches *b, struct flash_batch_part *part);
bool flash_batch_grow(struct flash_batch_part *part, const struct flash_chipvec *v);

#endif /* FLASH_BATCH_H */
