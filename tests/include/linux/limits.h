/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TESTS_LINUX_LIMITS_H
#define TESTS_LINUX_LIMITS_H

#include <linux/kernel.h>

#ifndef U64_MAX
#define U64_MAX			UINT64_MAX
#endif

#endif /* TESTS_LINUX_LIMITS_H */
