/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.8 (Ubuntu 24.04, Proxmox 8): structs of 6.6 */
#define HAS_FEATURES
#define CACHED_RQ_PTR
#include "structs.h"
