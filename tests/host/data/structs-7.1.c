/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 7.1: a mutex of 24 bytes */
#define CONST_ATTRS
#define CORE_QUEUE
#define DEPTH_OF_QUEUE
#define SCHED_DATA
#define ASYNC_DEPTH
#define MUTEX_WORDS	3
#include "structs.h"
