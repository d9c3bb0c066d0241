# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2004
#
# once: about flashsim, whatever the scheduler
# takes: 11 s
#
# Proves: several devices with several queues do not disturb each other; sums in
# their statistics are those of the parts; log and series have each request
# once; a reset works under load and empties all of it.
# Fails if: sim_reset_stats() does not empty the series, sim_end() leaves reads
# out of it, or fs_log_show() prints the row before.

flashsim_add nr_devices=4 nr_hw_queues=2 size_mb=8 channels=2 ways=2 dies=2 \
	pages_per_block=16 log_len=20000 series_len=60000 series_ms=1 ranges=5 \
	t_prog_ns=50000 order=read_first
is "hardware queues" "$(find "/sys/block/$DISK/mq" -mindepth 1 -maxdepth 1 |
	wc -l)" 2

all=(0 1 2 3)
jobs=()
for n in "${all[@]}"; do
	echo 2 >"/sys/block/flashsim$n/queue/nomerges"
	flashsim_reset "flashsim$n"
	# Different counts, so that the disks can be distinguished.
	jobs+=(--name="d$n" --filename="/dev/flashsim$n"
	       --number_ios=$((300 + 100 * n)))
done
run_fio --direct=1 --ioengine=libaio --iodepth=16 --thread=1 --rw=randrw \
	--bssplit=4k/50:12k/50 --size=8m --verify=crc32c --do_verify=0 \
	"${jobs[@]}"
# A row of the series is written when it has ended.
pause 0.1

# sum SUFFIX NUMBER PREFIX - of counters of the device
sum() {
	local n total=0
	for ((n = 0; n < $2; n++)); do
		total=$((total + ${FS[$3$n$1]}))
	done
	say "$total"
}

consistent() {	# DISK REQUESTS
	local dir=$FLASHSIM/$1 rows requests
	flashsim_get "$1"
	requests=$((${FS[reads]} + ${FS[writes]}))
	[[ -z $2 ]] || is "requests of $1" $requests "$2"
	is "requests that are left on $1" "${FS[outstanding]}" 0
	# Copies of collection are part of the program that wants the room.
	is "reads of chips" $(($(sum _reads 4 chip) <= ${FS[nand_reads]})) 1
	is "programs of chips" $(($(sum _programs 4 chip) <= ${FS[nand_programs]})) 1
	is "erases of chips" "$(sum _erases 4 chip)" "${FS[nand_erases]}"
	is "erases" "${FS[gc_erases]}" "${FS[nand_erases]}"
	if ((${FS[gc_copies]} == 0)); then
		is "reads of chips" "$(sum _reads 4 chip)" "${FS[nand_reads]}"
		is "programs of chips" "$(sum _programs 4 chip)" \
			"${FS[nand_programs]}"
	fi
	is "units in the flash" "${FS[flash_units]}" \
		$((${FS[host_units]} + ${FS[gc_copies]}))
	holds "${FS[active_ns]} <= ${FS[elapsed_ns]}"
	holds "${FS[busy_chip_ns]} <= ${FS[active_ns]} * 4"
	holds "$(sum _busy_ns 4 chip) >= ${FS[busy_chip_ns]}"
	holds "$(sum _busy_ns 2 channel) > 0"
	holds "$(sum _read_ns 5 range) > 0 && $(sum _write_ns 5 range) > 0"
	holds "${FS[outstanding_max]} <= 32 && ${FS[outstanding_max]} > 0"

	# time, order of completion, chips, and sums
	awk -F, -v reads="${FS[reads]}" -v writes="${FS[writes]}" \
		-v rb="${FS[read_bytes]}" -v wb="${FS[write_bytes]}" \
		-v rl="${FS[read_latency_ns]}" -v wl="${FS[write_latency_ns]}" '
		NR == 1 { if ($0 != "arrival_ns,begin_ns,done_ns,op,sector," \
				"sectors,chip,chips") bad = "header"; next }
		NF != 8 || $1 > $2 || $2 > $3 || $3 < last || $7 > 3 || $8 > 4 ||
			$5 + $6 > 16384 { bad = "row " $0 }
		{ last = $3; n[$4]++; b[$4] += $6 * 512; l[$4] += $3 - $1 }
		n["R"] + n["W"] != NR - 1 { bad = "operation " $0 }
		END {
			if (n["R"] != reads || n["W"] != writes)
				bad = n["R"] " reads " n["W"] " writes"
			if (b["R"] != rb || b["W"] != wb)
				bad = b["R"] " and " b["W"] " bytes"
			if (l["R"] != rl || l["W"] != wl)
				bad = l["R"] " and " l["W"] " ns"
			if (bad)
				print bad
			exit bad != ""
		}' "$dir/log" || fail "the log of $1 is wrong"
	rows=$(wc -l <"$dir/log")
	is "rows of the log" "$((rows - 1))" $requests
	awk -F, -v reads="${FS[reads]}" -v writes="${FS[writes]}" \
		-v rb="${FS[read_bytes]}" -v wb="${FS[write_bytes]}" \
		-v copies="${FS[gc_copies]}" '
		NR == 1 { if ($0 != "t_ms,reads,writes,read_bytes,write_bytes," \
				"gc_copies,outstanding,c0,c1,c2,c3")
				bad = "header"; next }
		$1 != NR - 2 || NF != 11 { bad = "row " $0 }
		{ for (c = 8; c <= 11; c++) if ($c > 1000) bad = "busy " $0
		  r += $2; w += $3; x += $4; y += $5; z += $6; o = $7 }
		END {
			if (r != reads || w != writes || x != rb || y != wb ||
			    z != copies || o)
				bad = r " " w " " x " " y " " z " " o
			if (bad)
				print bad
			exit bad != ""
		}' "$dir/series" || fail "the series of $1 is wrong"
	say "ok: log and series of $1"
}
for n in "${all[@]}"; do
	consistent "flashsim$n" $((300 + 100 * n))
done

# A reset empties one device, and nothing else.
flashsim_reset flashsim2
flashsim_get flashsim2
for key in reads writes read_bytes write_bytes read_latency_ns write_latency_ns \
	   active_ns busy_chip_ns conflict_rr conflict_ww conflict_rw \
	   conflict_reads conflict_writes wait_read_ns wait_write_ns nand_reads \
	   nand_programs nand_erases gc_copies gc_erases gc_ns host_units \
	   flash_units outstanding_max chip0_reads chip1_programs chip2_erases \
	   chip3_busy_ns channel0_busy_ns range0_read_ns range4_write_ns; do
	[[ ${FS[$key]} == 0 ]] || fail "$key is ${FS[$key]} after a reset"
done
holds "${FS[elapsed_ns]} < 5000000000"
is "rows of the log" "$(wc -l <"$FLASHSIM/flashsim2/log")" 1
holds "$(wc -l <"$FLASHSIM/flashsim2/series") < 6000"
consistent flashsim3 600

# Under load, while others read all files.
load_start flashsim1 --thread=1 --size=1m
(
	while [[ ! -e $TMP/.stop ]]; do
		cat "$FLASHSIM"/flashsim1/{log,series,stats} >/dev/null
	done
) &
reader=$!
for ((i = 0; i < 40; i++)); do
	flashsim_reset flashsim1
	nap
done
: >"$TMP/.stop"
wait $reader
# The load is a row of runs, and the last reset may have been between two.
# shellcheck disable=SC2317  # soon calls it
counted() {
	flashsim_get flashsim1
	((FS[reads] + FS[writes] > 0))
}
soon 30 counted || fail "nothing is counted after a reset"
load_stop
flashsim_get flashsim1
holds "${FS[elapsed_ns]} > 0 && ${FS[reads]} + ${FS[writes]} > 0"
is "requests that are left" "${FS[outstanding]}" 0

# Without requests under way at the reset the sums agree once more.
flashsim_reset flashsim1
run_fio --filename=/dev/flashsim1 --direct=1 --ioengine=libaio --iodepth=8 \
	--thread=1 --rw=randrw --bs=4k --size=8m --number_ios=200 --name=again
pause 0.1
consistent flashsim1 200

# Both files stop when they are full.
flashsim_del
flashsim_add size_mb=8 log_len=10 series_len=5 series_ms=1
flashsim_reset
run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k --size=8m \
	--number_ios=100 --thread=1 --name=full
is "rows of a full log" "$(wc -l <"$FLASHSIM/$DISK/log")" 11
is "rows of a full series" "$(wc -l <"$FLASHSIM/$DISK/series")" 6
holds "$(flashsim_stat reads) >= 100"
flashsim_del
