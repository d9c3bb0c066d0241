# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# machines: default wide
# takes: 11 s
#
# Proves: with a hardware queue for every processor the bound is one for the
# device, and the requests of every queue get their turn.
# Fails if: flash_ready() is asked per hardware queue, or flash_kick() only runs
# the hardware queue of the request that finished (its fallback loop removed).

n=$(cpus)
((n > 1)) || skip "one processor"
hold_add nr_hw_queues="$n"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
for ((i = 0; i < 3 * n; i++)); do
	read_one "$DISK" $((i * 100)) taskset -c $((i % n))
done
await "$DISK" inserted $((3 * n))
held=$(arrays "$DISK" | grep -c '^hctx.* queued [1-9]')
is "requests that the device has" "$(stat_of "$DISK" dispatched)" 1
is "hardware queues that hold requests" "$held" "$n"
tun "$DISK" max_inflight 2
let_go -1
readers_done
assert_idle "$DISK"
is "finished" "$(reads_done "$DISK")" $((3 * n))
is "peak" "$(stat_of "$DISK" peak_inflight)" 2

# A request ends; its hardware queue has no waiting request, another hardware queue has.
let_go 0
tun "$DISK" max_inflight 1
sched_new "$DISK"
read_one "$DISK" 0 taskset -c 0
await "$DISK" inserted 1
read_one "$DISK" 100 taskset -c $((n - 1))
await "$DISK" inserted 2
let_go 1
await "$DISK" dispatched 2
let_go -1
readers_done
assert_idle "$DISK"

main_disk
is "hardware queues of the NVMe disk" \
	"$(find "/sys/block/$DISK/mq" -mindepth 1 -maxdepth 1 -type d | wc -l)" "$n"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 3
sched_new "$DISK"
jobs=()
for ((i = 0; i < n; i++)); do
	jobs+=("--name=cpu$i" "--cpus_allowed=$i")
done
run_fio --filename="/dev/$DISK" --direct=1 --rw=randrw --bs=4k --size=64m \
	--number_ios=200 --ioengine=libaio --iodepth=32 "${jobs[@]}"
assert_idle "$DISK"
is "peak on NVMe" "$(stat_of "$DISK" peak_inflight)" 3
