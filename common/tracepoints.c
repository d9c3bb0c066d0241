// SPDX-License-Identifier: GPL-2.0
/* tracepoints.c - the trace events of tracepoints.h, once in each module */
#include "elv.h"

#define CREATE_TRACE_POINTS
#include "tracepoints.h"
