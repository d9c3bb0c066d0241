/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.9 to 6.12.24: elevator_features is gone */
#define CACHED_RQ_PTR
#include "structs.h"
