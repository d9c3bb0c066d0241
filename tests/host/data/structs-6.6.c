/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.6, long-term; equal from 6.4 on */
#define HAS_FEATURES
#define CACHED_RQ_PTR
#include "structs.h"
