/* SPDX-License-Identifier: GPL-2.0 */
/* Linux 6.14 to 6.16.3: elevator_attrs points to const */
#define CONST_ATTRS
#include "structs.h"
