/* SPDX-License-Identifier: GPL-2.0 */
/*
 * op.h - what a request's operation means for a device of flash chips
 *
 * A scheduler charges a request for the data that it moves, and looks at the chips that
 * hold them. Both depend on the operation: a discard has a length but moves nothing, and
 * a zone append moves data but has no address, as the device chooses one behind the
 * start of the zone. docs/operations.md has the table.
 */
#ifndef FLASH_OP_H
#define FLASH_OP_H

#include <linux/blk_types.h>
#include <linux/compiler.h>
#include <linux/types.h>

/**
 * enum flash_dir - the direction in which a request moves data
 * @FLASH_READ:	from the device
 * @FLASH_WRITE: to the device
 * @FLASH_NR_DIRS: number of directions; also: it moves none
 */
enum flash_dir {
	FLASH_READ,
	FLASH_WRITE,
	FLASH_NR_DIRS,
};

/* The sector of a request that moves no data, or data without an address */
#define FLASH_NO_SECTOR		(~0ULL)

enum flash_dir flash_op_dir_other(enum req_op op);

/**
 * flash_op_dir - the direction in which a request with a length moves data
 * @op: its operation
 *
 * Return: FLASH_NR_DIRS if it moves none, whatever its length is.
 */
static inline enum flash_dir flash_op_dir(enum req_op op)
{
	/* Nearly all requests are of these two. */
	if (likely(op == REQ_OP_READ || op == REQ_OP_WRITE))
		return op == REQ_OP_READ ? FLASH_READ : FLASH_WRITE;
	return flash_op_dir_other(op);
}

/**
 * flash_op_placed - is a request's sector the address of the data that it moves?
 * @op: its operation
 *
 * Of a zone append it is the start of the zone, a driver's own command has none, and
 * other operations move no data.
 */
static inline bool flash_op_placed(enum req_op op)
{
	return op == REQ_OP_READ || op == REQ_OP_WRITE;
}

#endif /* FLASH_OP_H */
