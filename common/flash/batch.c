// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "batch.h"

/**
 * flash_batches_init - no batch yet
 * @b: the batches
 * @pool: memory for them, which stays the caller's
 * @nr: its size; as many as there may be requests are always enough
 */
void flash_batches_init(struct flash_batches *b, struct flash_batch *pool, u32 nr)
{
	u32 i;

	memset(b, 0, sizeof(*b));
	for (i = nr; i; i--) {
		pool[i - 1].next = b->spare;
		b->spare = &pool[i - 1];
	}
}

/* A new batch at the tail, or NULL. */
static struct flash_batch *flash_batch_new(struct flash_batches *b,
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
static void flash_batch_end(struct flash_batches *b, struct flash_batch *batch)
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
bool flash_batches_add(struct flash_batches *b, struct flash_batch_item *item,
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
static void flash_batch_unlink(struct flash_batch_item *item)
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
void flash_batch_issue(struct flash_batch_item *item)
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
void flash_batches_remove(struct flash_batches *b, struct flash_batch_item *item)
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
bool flash_batch_grows(const struct flash_batch_item *item,
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
void flash_batch_grow(struct flash_batch_item *item, const struct flash_chipvec *v)
{
	item->vec = *v;
	flash_chipvec_union(&item->batch->vec, v);
}
