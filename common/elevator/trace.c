// SPDX-License-Identifier: GPL-2.0
/* trace.c - the trace events of trace.h, once in each module */
#include "iosched.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
