/* SPDX-License-Identifier: GPL-2.0 */
/*
 * op.h - what a request's operation means for a device of flash chips
 *
 * A scheduler charges a request for the data that it moves, and looks at the chips that
 * hold them. Both depend on the operation: a discard has a length but moves nothing, and
 * a zone append moves data but has no address, as the device chooses one behind the
 * start of the zone. docs/operations.md has the table.
 *
 * flash_op_dir() has no default case: where a kernel has one more operation, the
 * compiler says so, and it moves no data until it is listed here.
 */
#ifndef FLASH_OP_H
#define FLASH_OP_H

#include <linux/blk_types.h>
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

/* The sector of a request whose data have no address, or that moves none */
#define FLASH_NO_SECTOR		(~0ULL)

/**
 * flash_op_dir - the direction in which a request with a length moves data
 * @op: its operation
 *
 * Return: FLASH_NR_DIRS if it moves none, whatever its length is.
 */
static inline enum flash_dir flash_op_dir(enum req_op op)
{
	/* Nearly all requests: no table for these. */
	if (__builtin_expect(op == REQ_OP_READ || op == REQ_OP_WRITE, 1))
		return op == REQ_OP_READ ? FLASH_READ : FLASH_WRITE;
	switch (op) {
	case REQ_OP_READ:
	case REQ_OP_DRV_IN:
		return FLASH_READ;
	case REQ_OP_WRITE:
	case REQ_OP_ZONE_APPEND:
	case REQ_OP_DRV_OUT:
		return FLASH_WRITE;
	case REQ_OP_FLUSH:
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
	case REQ_OP_WRITE_ZEROES:
	case REQ_OP_ZONE_OPEN:
	case REQ_OP_ZONE_CLOSE:
	case REQ_OP_ZONE_FINISH:
	case REQ_OP_ZONE_RESET:
	case REQ_OP_ZONE_RESET_ALL:
	case REQ_OP_LAST:
		break;
	}
	return FLASH_NR_DIRS;
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
