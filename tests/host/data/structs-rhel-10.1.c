/* SPDX-License-Identifier: GPL-2.0 */
/* A later RHEL 10: features of 6.16, room for four at the end of two structs */
#define CONST_ATTRS
#define CORE_QUEUE
#define OPS_TAIL	unsigned long rh_reserved1, rh_reserved2, rh_reserved3, rh_reserved4;
#define TYPE_TAIL	unsigned long rh_reserved1, rh_reserved2, rh_reserved3, rh_reserved4;
#include "structs.h"
