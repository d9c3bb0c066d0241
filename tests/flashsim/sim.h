/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sim.h - timing of a solid state drive, from a request's arrival to its completion
 *
 * Pure logic on top of nand.h and ftl.h. A request passes
 *
 *   read    firmware - dies and buses - host link
 *   write   firmware - host link - write buffer, or dies and buses
 *
 * with NAND_IN_ORDER through a gate before the dies, which opens for a request
 * when all before it have started and all its dies are idle.
 *
 * With a write buffer a write completes when all its data are in the buffer. The
 * buffer is programmed as soon as it has the data of a whole program; the room is
 * free again when that program has completed.
 */
#ifndef FLASHSIM_SIM_H
#define FLASHSIM_SIM_H

#include "env.h"
#include "ftl.h"
#include "nand.h"

enum sim_op { SIM_READ, SIM_WRITE, SIM_FLUSH, SIM_DISCARD, SIM_ZEROES, SIM_OPS };

#define SIM_SECTOR	512u
#define SIM_MAX_RANGES	64

/**
 * struct sim_cfg - constants of the drive
 * @nand: dies and buses
 * @t_read: array time of a read
 * @t_prog: array time of a program
 * @t_prog_slc: array time of a program into the SLC buffer
 * @t_erase: array time of an erase
 * @ps_link: host link, ps for each byte
 * @duplex: the link transfers in both directions at once
 * @fw_read: firmware time of a read
 * @fw_write: firmware time of any other request
 * @fw_4k: additional firmware time for each 4 KiB of data
 * @cmd_read: time of a read on the firmware's processor, one at a time
 * @cmd_write: time of any other request on that processor
 * @turn: additional time there for a request after one of the other direction
 * @jump: additional time there for a read or write that does not begin where
 *	the one before of its direction ended
 * @exponential: array times are random, with these means
 * @vary: otherwise they are random within +- this number of thousandths
 * @unit: bytes of a mapping unit
 * @page: bytes of a flash page
 * @sectors: capacity that the host sees
 * @offset: sectors between the drive's first one and the host's
 * @buffer: mapping units that the write buffer holds, 0: none
 * @slc: programs that the SLC buffer of a die takes
 * @slc_idle: idle time after which the SLC buffer is folded
 * @ranges: number of address ranges with separate chip time
 * @series: period of the series
 * @seed: of all random numbers
 */
struct sim_cfg {
	struct nand_cfg nand;
	u64 t_read;
	u64 t_prog;
	u64 t_prog_slc;
	u64 t_erase;
	u64 ps_link;
	bool duplex;
	u64 fw_read;
	u64 fw_write;
	u64 fw_4k;
	u64 cmd_read;
	u64 cmd_write;
	u64 turn;
	u64 jump;
	bool exponential;
	u32 vary;
	u32 unit;
	u32 page;
	u64 sectors;
	u32 offset;
	u32 buffer;
	u32 slc;
	u64 slc_idle;
	unsigned int ranges;
	u64 series;
	u32 seed;
};

/**
 * struct sim_rq - a request
 * @next: in the list of its stage, or of completed requests
 * @sector: first sector
 * @sectors: how many
 * @op: operation
 * @fua: a write that ends in the flash
 * @arrival: time of submission
 * @begun: time at which its first operation got a die; SIM_NEVER: none did
 * @due: end of its current stage
 * @done: time of completion
 * @seq: a flush waits for units that entered the buffer up to here
 * @left: operations that are not complete
 * @nr: operations prepared
 * @admitted: mapping units that are in the write buffer
 * @again: a write that first reads the other parts of its units
 * @ready: @cmd is filled in
 * @conflict: one of its operations waited for another request's
 * @chip: first chip
 * @chips: how many
 * @cmd: its operations
 */
struct sim_rq {
	struct sim_rq *next;
	u64 sector;
	u64 arrival;
	u64 begun;
	u64 due;
	u64 done;
	u64 seq;
	u32 sectors;
	u32 left;
	u32 nr;
	u32 admitted;
	u16 chip;
	u16 chips;
	u8 op;
	u8 fua;
	u8 conflict;
	u8 again;
	u8 ready;
	struct nand_cmd cmd[];
};

struct sim_queue {
	struct sim_rq *head;
	struct sim_rq **tail;
};

/**
 * struct sim_prog - a program of units from the write buffer
 * @next: in the list of free programs, or of those in progress
 * @cmd: its operation
 * @seq: units that entered the buffer up to here are in it or in earlier programs
 * @place: first place
 * @nr: mapping units
 * @range: address range of the first of them
 * @slc: into the SLC buffer
 */
struct sim_prog {
	struct sim_prog *next;
	struct nand_cmd cmd;
	u64 seq;
	u32 place;
	u32 nr;
	u8 range;
	u8 slc;
};

/* Owner of a nand_cmd. */
enum sim_cmd_type { SIM_CMD_RQ, SIM_CMD_PROG, SIM_CMD_GC, SIM_CMD_FOLD };

/* A row of the log. */
struct sim_log {
	u64 arrival;
	u64 begun;
	u64 done;
	u64 sector;
	u32 sectors;
	u16 chip;
	u16 chips;
	u8 op;
};

/* A row of the series. */
struct sim_row {
	u64 read_bytes;
	u64 write_bytes;
	u32 reads;
	u32 writes;
	u32 copies;
	u32 outstanding;
};

/**
 * struct sim_stats - sums since the last reset
 */
struct sim_stats {
	u64 requests[SIM_OPS];
	u64 bytes[2];
	u64 latency[2];
	u64 conflict_requests[2];
	u32 outstanding_max;
	u64 buffer_hits;
	u64 nand_reads;
	u64 nand_programs;
	u64 slc_programs;
	u64 slc_folds;
	u64 gc_ns;
	u64 range_ns[SIM_MAX_RANGES][2];
};

/**
 * struct sim - a drive
 * @cfg: its constants
 * @nand: its dies and buses
 * @ftl: its translation layer
 * @rand: random numbers of service times
 * @now: time of the last processed event
 * @start: time of the last reset
 * @outstanding: requests in the drive
 * @fw: in the firmware, by due
 * @down: on the link towards the drive
 * @up: on the link towards the host
 * @gate: before the dies, in order of arrival
 * @admit: before the write buffer
 * @flush: waiting for programs
 * @cmd_free: time at which the firmware's processor is free
 * @began: the processor has had a command
 * @reading: its last command was a read
 * @ends: where the last write and the last read ended
 * @link_free: time at which the link is free: up, down
 * @ring: mapping units in the buffer that are in no program yet
 * @ring_at: position of the oldest one
 * @ring_nr: number of units in @ring
 * @buffered: mapping units in the buffer, including those in programs
 * @prog_free: unused programs
 * @prog_busy: number of programs in progress
 * @came: mapping units that have entered the buffer
 * @went: of @came, units that are or were in a program
 * @gc_free: commands for collection
 * @slc_used: programs in the SLC buffer, a die
 * @slc_all: programs in the SLC buffer, of all dies
 * @folding: dies that fold
 * @fold: a command for each die
 * @idle_at: time at which folding may begin
 * @log, @log_len, @log_nr: the log
 * @row, @row_len, @row_nr: the series
 * @row_cur: current row
 * @row_end: end of the current row
 * @row_chip: busy share of each chip in each row
 * @chip_was: busy time of each chip when the row began
 * @copies_was: copies when the row began
 * @stats: sums
 */
struct sim {
	struct sim_cfg cfg;
	struct nand nand;
	struct ftl ftl;
	struct sim_rand rand;
	u64 now;
	u64 start;
	u32 outstanding;
	struct sim_queue fw, down, up, gate, admit, flush;
	u64 cmd_free;
	bool began;
	bool reading;
	u64 ends[2];
	u64 link_free[2];
	u32 *ring;
	u32 ring_at;
	u32 ring_nr;
	u32 buffered;
	struct sim_prog *prog_free;
	u32 prog_busy;
	u64 came;
	u64 went;
	struct nand_cmd *gc_free;
	u32 *slc_used;
	u64 slc_all;
	u32 folding;
	struct nand_cmd *fold;
	u64 idle_at;
	struct sim_log *log;
	u32 log_len;
	u32 log_nr;
	struct sim_row *row;
	u16 *row_chip;
	u32 row_len;
	u32 row_nr;
	struct sim_row row_cur;
	u64 row_end;
	u64 *chip_was;
	u64 copies_was;
	struct sim_stats stats;
};

/* Mapping units of the drive: those of the host, and before its first sector */
static inline u32 sim_units(const struct sim_cfg *cfg)
{
	return (u32)div64_u64((cfg->sectors + cfg->offset) * SIM_SECTOR +
			      cfg->unit - 1, cfg->unit);
}

/* Operations that a request of @bytes may need. */
static inline u32 sim_max_cmds(const struct sim_cfg *cfg, u32 bytes)
{
	return bytes / cfg->unit + 2;
}

void sim_init(struct sim *s, const struct sim_cfg *cfg, u64 now);
void sim_add_progs(struct sim *s, struct sim_prog *progs, u32 nr);
void sim_add_gc(struct sim *s, struct nand_cmd *cmds, u32 nr);
void sim_submit(struct sim *s, struct sim_rq *rq, u64 now);
struct sim_rq *sim_run(struct sim *s, u64 now);
u64 sim_next(const struct sim *s);
void sim_reset_stats(struct sim *s, u64 now);

#endif /* FLASHSIM_SIM_H */
