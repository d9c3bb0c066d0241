/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.2: elevator_queue has flags */
#define INSERT_BOOL
#define HAS_FEATURES
#define CACHED_RQ_PTR
#include "structs.h"
