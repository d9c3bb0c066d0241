/* SPDX-License-Identifier: GPL-2.0 */
/*
 * disk.h - the disk of a test device, on each kernel that common/elevator/compat.h knows
 */
#ifndef FLASHSIM_DISK_H
#define FLASHSIM_DISK_H

#include "../../common/elevator/compat.h"

/* Segments of a request that memory is no limit for */
#define LAB_MAX_SEGMENTS	256

/* blk_mq_tag_set.flags of a disk that lets requests merge */
#if ELV_SHOULD_MERGE
# define LAB_TAG_SET_FLAGS	BLK_MQ_F_SHOULD_MERGE
#else
# define LAB_TAG_SET_FLAGS	0
#endif

/**
 * lab_alloc_disk - a disk that is no spinning one
 * @set: its tags
 * @unit: bytes that it reads, writes or discards at least to some effect
 * @io_opt: bytes that it does best
 * @max_sectors: sectors of one read or write
 * @discard: sectors of one discard or write-zeroes request
 * @cache: data may be lost without a flush; FUA is understood
 * @data: for the queue's driver
 *
 * Return: the disk, or an ERR_PTR.
 */
static inline struct gendisk *lab_alloc_disk(struct blk_mq_tag_set *set,
					     unsigned int unit,
					     unsigned int io_opt,
					     unsigned int max_sectors,
					     unsigned int discard,
					     bool cache, void *data)
{
#if ELV_LIMITS_AT_ALLOC
	struct queue_limits lim = {
		.logical_block_size	= SECTOR_SIZE,
		.physical_block_size	= unit,
		.io_min			= unit,
		.io_opt			= io_opt,
		.max_hw_sectors		= max_sectors,
		.max_segments		= LAB_MAX_SEGMENTS,
		.max_hw_discard_sectors	= discard,
		.max_write_zeroes_sectors = discard,
		.discard_granularity	= unit,
		.features		= cache ?
			BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA : 0,
	};

	return blk_mq_alloc_disk(set, &lim, data);
#else
	struct gendisk *disk = blk_mq_alloc_disk(set, data);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, SECTOR_SIZE);
	blk_queue_physical_block_size(q, unit);
	blk_queue_io_min(q, unit);
	blk_queue_io_opt(q, io_opt);
	blk_queue_max_hw_sectors(q, max_sectors);
	blk_queue_max_segments(q, LAB_MAX_SEGMENTS);
	blk_queue_max_discard_sectors(q, discard);
	blk_queue_max_write_zeroes_sectors(q, discard);
	q->limits.discard_granularity = unit;
	blk_queue_write_cache(q, cache, cache);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
	return disk;
#endif
}

#endif /* FLASHSIM_DISK_H */
