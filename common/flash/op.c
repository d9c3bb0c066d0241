// SPDX-License-Identifier: GPL-2.0
/*
 * op.c - the operations that are neither reads nor writes
 */
#include "op.h"

/**
 * flash_op_dir_other - flash_op_dir() for any operation
 * @op: the operation
 *
 * The switch has no default case, so the compiler reports an operation that a newer
 * kernel has. Such an operation counts as moving no data until it is listed here.
 */
enum flash_dir flash_op_dir_other(enum req_op op)
{
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
