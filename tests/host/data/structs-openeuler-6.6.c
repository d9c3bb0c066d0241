/* SPDX-License-Identifier: GPL-2.0 */
/* openEuler 24.03 (6.6): room for eight and for four */
#define HAS_FEATURES
#define CACHED_RQ_PTR
#define OPS_TAIL	u64 kabi_reserved1, kabi_reserved2, kabi_reserved3, kabi_reserved4, \
			kabi_reserved5, kabi_reserved6, kabi_reserved7, kabi_reserved8;
#define TYPE_TAIL	u64 kabi_reserved1, kabi_reserved2, kabi_reserved3, kabi_reserved4;
#include "structs.h"
