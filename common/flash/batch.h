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

/**
 * flash_batches_init - no batch yet
 * @b: the batches
 * @pool: memory for them, which stays the caller's
 * @nr: its size; as many as there may be requests are always enough
 */
static inline void flash_batches_init(struct flash_batches *b,
				      struct flash_batch *pool, u32 nr)
{
	u32 i;

	memset(b, 0, sizeof(*b));
	for (i = nr; i; i--) {
		pool[i - 1].next = b->spare;
		b->spare = &pool[i - 1];
	}
}

/** flash_batches_empty - does no request wait and is none outstanding? */
static inline bool flash_batches_empty(const struct flash_batches *b)
{
	return !b->head[FLASH_READ] && !b->head[FLASH_WRITE];
}

/* A new batch at the tail, or NULL. */
static inline struct flash_batch *flash_batch_new(struct flash_batches *b,
						  const struct flash_chipvec *v,
						  enum flash_dir dir)
{
	struct flash_batch *batch = b->spare;

	if (!batch)
		return NULL;
	b->spare = batch->next;
	memset(batch, 0, sizeof(*batch));
	batch->vec = *v;
	batch->id = ++b->ids;
	batch->dir = dir;
	batch->prev = b->tail[dir];
	if (batch->prev)
		batch->prev->next = batch;
	else
		b->head[dir] = batch;
	b->tail[dir] = batch;
	b->nr[dir]++;
	return batch;
}

/* A batch without requests ends. */
static inline void flash_batch_end(struct flash_batches *b,
				   struct flash_batch *batch)
{
	if (batch->waiting || batch->outstanding)
		return;
	if (batch->prev)
		batch->prev->next = batch->next;
	else
		b->head[batch->dir] = batch->next;
	if (batch->next)
		batch->next->prev = batch->prev;
	else
		b->tail[batch->dir] = batch->prev;
	b->nr[batch->dir]--;
	batch->next = b->spare;
	b->spare = batch;
}

/**
 * flash_batches_add - a request joins a batch
 * @b: the batches
 * @item: its part, with .vec set
 * @dir: its direction
 *
 * A vector of another layout than the batch's shares a chip with it, for nobody
 * knows better. An item without chips has a batch that it began: it would fit into any
 * batch, so one that is outstanding would get more of them for ever.
 *
 * Return: false if there is no batch left: nothing has changed.
 */
static inline bool flash_batches_add(struct flash_batches *b,
				     struct flash_batch_item *item,
				     enum flash_dir dir)
{
	struct flash_batch *batch = NULL;

	if (!flash_chipvec_empty(&item->vec))
		batch = b->head[dir];
	for (; batch; batch = batch->next) {
		if (batch->vec.generation == item->vec.generation &&
		    !flash_chipvec_conflict(&batch->vec, &item->vec))
			break;
	}
	if (batch)
		flash_chipvec_union(&batch->vec, &item->vec);
	else
		batch = flash_batch_new(b, &item->vec, dir);
	if (!batch)
		return false;
	item->batch = batch;
	item->issued = false;
	item->prev = batch->last;
	item->next = NULL;
	if (batch->last)
		batch->last->next = item;
	else
		batch->first = item;
	batch->last = item;
	batch->waiting++;
	return true;
}

/* Takes @item out of those of its batch that wait. */
static inline void flash_batch_unlink(struct flash_batch_item *item)
{
	struct flash_batch *batch = item->batch;

	if (item->prev)
		item->prev->next = item->next;
	else
		batch->first = item->next;
	if (item->next)
		item->next->prev = item->prev;
	else
		batch->last = item->prev;
	item->prev = NULL;
	item->next = NULL;
	batch->waiting--;
}

/**
 * flash_batch_issue - a request goes; it stays in its batch until it is done
 * @item: its part, which waits in a batch
 */
static inline void flash_batch_issue(struct flash_batch_item *item)
{
	flash_batch_unlink(item);
	item->issued = true;
	item->batch->outstanding++;
}

/**
 * flash_batches_remove - a request leaves its batch, whatever its state
 * @b: the batches
 * @item: its part; it is no matter if it is in no batch (any more)
 *
 * For one that was issued and is done or was handed back, and for one that
 * waited and was merged away.
 */
static inline void flash_batches_remove(struct flash_batches *b,
					struct flash_batch_item *item)
{
	struct flash_batch *batch = item->batch;

	if (!batch)
		return;
	if (item->issued)
		batch->outstanding--;
	else
		flash_batch_unlink(item);
	item->batch = NULL;
	item->issued = false;
	flash_batch_end(b, batch);
}

/**
 * flash_batch_grows - may a request that waits get other chips where it is?
 * @item: its part
 * @v: the chips that it would have, merged with another request
 *
 * Return: whether the chips that it does not have yet are free in its batch.
 */
static inline bool flash_batch_grows(const struct flash_batch_item *item,
				     const struct flash_chipvec *v)
{
	const struct flash_chipvec *all = &item->batch->vec;
	u32 i, words = flash_chipvec_words(v);

	if (v->generation != item->vec.generation)
		return false;
	for (i = 0; i < words; i++) {
		if (v->word[i] & ~item->vec.word[i] & all->word[i])
			return false;
	}
	return true;
}

/**
 * flash_batch_grow - a request that waits has got more chips
 * @item: its part; flash_batch_grows() holds
 * @v: its chips now
 */
static inline void flash_batch_grow(struct flash_batch_item *item,
				    const struct flash_chipvec *v)
{
	item->vec = *v;
	flash_chipvec_union(&item->batch->vec, v);
}

#endif /* FLASH_BATCH_H */
