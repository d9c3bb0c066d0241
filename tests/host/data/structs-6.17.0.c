/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.17.0: the core makes the elevator_queue, depth_updated() gets an hctx */
#define CONST_ATTRS
#define CORE_QUEUE
#include "structs.h"
