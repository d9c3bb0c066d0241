// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - what each module has of common/elevator/
 *
 * A module is one compilation unit, <name>/build.c, which includes this file last, after
 * the policy and its table of hooks. So the compiler sees the table and the code that
 * calls it: hooks are direct calls or inline, and a small function is inline whatever file
 * it is in (kernel/sched/build_policy.c does the same for another reason). It saves a quarter
 * of a scheduler's own instructions: docs/model-results.md.
 */
#include "../flash/op.c"
#include "meaning.c"
#include "merge.c"
#include "queue.c"
#include "inflight.c"
#include "pending.c"
#include "round.c"
#include "rqtable.c"
#include "elevator.c"
#include "tunables.c"
#include "trace.c"
