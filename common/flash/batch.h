/* SPDX-License-Identifier: GPL-2.0 */
/*
 * batch.h - lists of batches of requests that share no chip
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * Algorithm 1 of the PIQ paper: reads and writes have a list of batches each. A
 * request joins the first batch of its list with which it shares no chip, or a
 * new one at the tail. Lists are in the order of the batches' creation; whose
 * turn it is, and which batch may begin, is the caller's. What the paper leaves
 * open:
 *
 * - A batch that is outstanding can still be joined. Chips stay taken until the
 *   batch ends, also those of requests that have ended, so nobody joins for
 *   ever: one-page requests are at most as many as there are chips.
 * - A batch ends with the last of its requests.
 */
#ifndef FLASH_BATCH_H
#define FLASH_BATCH_H

#include "chipvec.h"

struct flash_batch;

/**
 * struct flash_batch_item - a request's part in a batch
 * @vec:	its chips; the caller sets them before flash_batches_add()
 * @prev:	neighbour that waits, or NULL
 * @next:	neighbour that waits, or NULL
 * @batch:	its batch, from add to done or remove; NULL otherwise
 * @issued:	it was taken out to be issued
 */
struct flash_batch_item {
	struct flash_chipvec vec;
	struct flash_batch_item *prev;
	struct flash_batch_item *next;
	struct flash_batch *batch;
	bool issued;
};

/**
 * struct flash_batch - requests that share no chip
 * @vec:	all chips that one of its requests ever had
 * @first:	requests that wait, in order of arrival
 * @last:	the last of them
 * @waiting:	their number
 * @outstanding: requests issued and not done
 * @id:		batches are numbered in the order of their creation
 * @dir:	its list
 * @prev:	its neighbours in that list; @next alone if it is not in use
 * @next:	see @prev
 */
struct flash_batch {
	struct flash_chipvec vec;
	struct flash_batch_item *first;
	struct flash_batch_item *last;
	u32 waiting;
	u32 outstanding;
	u64 id;
	enum flash_dir dir;
	struct flash_batch *prev;
	struct flash_batch *next;
};

/**
 * struct flash_batches - the batches of a device
 * @head:	first batch of each direction
 * @tail:	last batch of each direction
 * @nr:		batches of each direction
 * @spare:	batches not in use
 * @ids:	last flash_batch.id given out
 */
struct flash_batches {
	struct flash_batch *head[FLASH_NR_DIRS];
	struct flash_batch *tail[FLASH_NR_DIRS];
	u32 nr[FLASH_NR_DIRS];
	struct flash_batch *spare;
	u64 ids;
};

void flash_batches_init(struct flash_batches *b, struct flash_batch *pool, u32 nr);

/** flash_batches_empty - does no request wait and is none outstanding? */
static inline bool flash_batches_empty(const struct flash_batches *b)
{
	return !b->head[FLASH_READ] && !b->head[FLASH_WRITE];
}

bool flash_batches_add(struct flash_batches *b, struct flash_batch_item *item,
		       enum flash_dir dir);
void flash_batch_issue(struct flash_batch_item *item);
void flash_batches_remove(struct flash_batches *b, struct flash_batch_item *item);
bool flash_batch_grows(const struct flash_batch_item *item,
		       const struct flash_chipvec *v);
void flash_batch_grow(struct flash_batch_item *item, const struct flash_chipvec *v);

#endif /* FLASH_BATCH_H */
