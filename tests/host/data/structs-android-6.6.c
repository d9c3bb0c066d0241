/* SPDX-License-Identifier: GPL-2.0 */
/* Android common kernel 6.6, Raspberry Pi: room for four and for two */
#define HAS_FEATURES
#define CACHED_RQ_PTR
#define OPS_TAIL	u64 android_kabi_reserved1, android_kabi_reserved2, \
			android_kabi_reserved3, android_kabi_reserved4;
#define TYPE_TAIL	u64 android_kabi_reserved1, android_kabi_reserved2;
#include "structs.h"
