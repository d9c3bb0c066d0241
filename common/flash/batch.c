// SPDX-License-Identifier: GPL-2.0
#include "batch.h"

/**
 * flash_batches_init - no batch yet
 * @b: the batches
 * @pool: memory for them, which stays the caller's
 * @nr: its size; one for each request that there may be is always enough
 */
void flash_batches_init(struct flash_batches *b, struct flash_batch *pool, u32 nr)
{
	u32 i;

	INIT_LIST_HEAD(&b->list[FLASH_READ]);
	INIT_LIST_HEAD(&b->list[FLASH_WRITE]);
	INIT_LIST_HEAD(&b->unused);
	b->last_id = 0;
	for (i = 0; i < nr; i++)
		list_add_tail(&pool[i].link, &b->unused);
}

/* Add a batch at the end of the list, or return NULL if none is unused. */
static struct flash_batch *flash_batch_new(struct flash_batches *b,
					   const struct flash_chipvec *v,
					   enum flash_dir dir)
{
	struct flash_batch *batch;

	batch = list_first_entry_or_null(&b->unused, struct flash_batch, link);
	if (!batch)
		return NULL;
	list_move_tail(&batch->link, &b->list[dir]);
	INIT_LIST_HEAD(&batch->waiting);
	batch->vec = *v;
	batch->outstanding = 0;
	batch->id = ++b->last_id;
	return batch;
}

static void flash_batch_join(struct flash_batch *batch, struct flash_batch_part *part)
{
	part->batch = batch;
	list_add_tail(&part->link, &batch->waiting);
}

/**
 * flash_batches_begin - a request begins a batch, whatever others it could join
 * @b: the batches
 * @part: its part, with its chips
 * @dir: its direction
 *
 * Return: false if no batch is unused; nothing has changed then.
 */
bool flash_batches_begin(struct flash_batches *b, struct flash_batch_part *part,
			 enum flash_dir dir)
{
	struct flash_batch *batch = flash_batch_new(b, &part->vec, dir);

	if (batch)
		flash_batch_join(batch, part);
	return batch;
}

/**
 * flash_batches_add - a request joins a batch
 * @b: the batches
 * @part: its part, with its chips
 * @dir: its direction
 *
 * A vector of another layout than the batch's is assumed to share a chip with it. A
 * request without chips begins a batch: it would fit into every batch, so a batch could
 * grow without end.
 *
 * Return: false if no batch is unused; nothing has changed then.
 */
bool flash_batches_add(struct flash_batches *b, struct flash_batch_part *part,
		       enum flash_dir dir)
{
	struct flash_batch *batch;

	if (flash_chipvec_empty(&part->vec))
		return flash_batches_begin(b, part, dir);
	list_for_each_entry(batch, &b->list[dir], link) {
		if (batch->vec.generation == part->vec.generation &&
		    !flash_chipvec_conflict(&batch->vec, &part->vec)) {
			flash_chipvec_union(&batch->vec, &part->vec);
			flash_batch_join(batch, part);
			return true;
		}
	}
	return flash_batches_begin(b, part, dir);
}

/**
 * flash_batch_dispatch - a waiting request is dispatched; it stays in its batch
 * @part: its part
 */
void flash_batch_dispatch(struct flash_batch_part *part)
{
	list_del_init(&part->link);
	part->batch->outstanding++;
}

/**
 * flash_batches_remove - a request leaves its batch
 * @b: the batches
 * @part: its part; nothing happens if it is in no batch
 *
 * The request is done, or was requeued by the driver, or waited and was absorbed.
 */
void flash_batches_remove(struct flash_batches *b, struct flash_batch_part *part)
{
	struct flash_batch *batch = part->batch;

	if (!batch)
		return;
	part->batch = NULL;
	if (list_empty(&part->link))
		batch->outstanding--;
	else
		list_del(&part->link);
	if (list_empty(&batch->waiting) && !batch->outstanding)
		list_move(&batch->link, &b->unused);
}

/**
 * flash_batch_grow - give a waiting request other chips, if its batch can hold them
 * @part: its part
 * @v: its chips after a merge with another request
 *
 * Return: false if a chip that it does not have yet is taken in its batch, or the layout
 * has changed; nothing has changed then.
 */
bool flash_batch_grow(struct flash_batch_part *part, const struct flash_chipvec *v)
{
	struct flash_chipvec *all = &part->batch->vec;
	u32 i, words = flash_chipvec_words(v);

	if (v->generation != part->vec.generation)
		return false;
	for (i = 0; i < words; i++) {
		if (v->word[i] & ~part->vec.word[i] & all->word[i])
			return false;
	}
	part->vec = *v;
	flash_chipvec_union(all, v);
	return true;
}
