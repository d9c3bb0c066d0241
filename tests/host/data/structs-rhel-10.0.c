/* SPDX-License-Identifier: GPL-2.0 */
/* RHEL 10.0: like 6.13, room for four at the end of two structs */
#define OPS_TAIL	unsigned long rh_reserved1, rh_reserved2, rh_reserved3, rh_reserved4;
#define TYPE_TAIL	unsigned long rh_reserved1, rh_reserved2, rh_reserved3, rh_reserved4;
#include "structs.h"
