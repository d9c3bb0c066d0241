# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091
# for: hbfq
# takes: 40 s
# limit: 300 s
#
# Proves: outside of control groups a process is one tenant, however many threads it
# has: 16 threads under ionice -c2 -n7 get a fifth beside a plain process, not 16 shares;
# threads of different priorities weigh what the highest of them is worth; requests that
# threads of io_uring issue are the process's.
# Fails if: fairshare_task_key() asks for the thread or its I/O context, or policy_rq_class()
# gives the tenant the weight of each request.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
# shellcheck source=tests/vm/lib/tenants.sh
. lib/tenants.sh
processes_are_tenants
