/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nand.h - timing of flash dies behind channels
 *
 * Pure logic: the caller passes the time and owns all memory. Times are in
 * ns. An operation belongs to one die and has up to three steps:
 *
 *   first   the die's array (sensing a page; work of garbage collection)
 *   bus     the channel's bus (data to or from the die)
 *   last    the die's array (programming, erasing)
 *
 * The die is held from the first step to the last. If the bus is busy, the
 * operation waits for it and holds its die, because a die has one page register.
 * Every delay is time in which another operation held the die or the bus.
 *
 * Each die and each channel has at most one pending event. Events are processed
 * in order of time, so an operation begins exactly when the operation that it
 * waits for ends, however late the caller is.
 */
#ifndef FLASHSIM_NAND_H
#define FLASHSIM_NAND_H

#include "env.h"

#define NAND_MAX_CHANNELS	64
#define NAND_MAX_CHIPS		256
#define NAND_MAX_DIES		8
#define NAND_MAX_LUNS		(NAND_MAX_CHIPS * NAND_MAX_DIES)

/*
 * Maximum number of reads that interrupt one program or erase. Real devices
 * limit suspensions too; otherwise a stream of reads would starve a program.
 */
#define NAND_MAX_SUSPENDS	8

#define NAND_NO_PAGE		(~0u)

enum nand_kind { NAND_READ, NAND_PROG, NAND_COLLECT, NAND_KINDS };

enum nand_order {
	NAND_CHIP_FIFO,		/* a die serves in the order of arrival */
	NAND_READ_FIRST,	/* reads before the rest, on die and bus */
	NAND_IN_ORDER,		/* like NAND_CHIP_FIFO here; sim.c gates requests */
};

/**
 * struct nand_cfg - constants of the flash
 * @channels: buses
 * @ways: chips on each bus
 * @dies: dies in each chip; die number = channel + channels * (way + ways * die)
 * @ps_per_byte: bus time of a byte, in ps
 * @suspend: time to interrupt a program or erase; 0: never interrupted
 * @keep: a die keeps the page that it has sensed last in its register
 * @order: order in which a die serves operations
 */
struct nand_cfg {
	unsigned int channels;
	unsigned int ways;
	unsigned int dies;
	u64 ps_per_byte;
	u64 suspend;
	bool keep;
	enum nand_order order;
};

/**
 * struct nand_cmd - an operation; the caller owns the memory
 * @next: in the die's queue, or in the list of completed operations
 * @owner: for the caller
 * @first: array time before the bus
 * @last: array time after the bus
 * @bytes: bytes that cross the bus; 0: the bus is not used
 * @kind: what it is
 * @lun: its die
 * @host: it moves a request's data; not garbage collection or folding
 * @type: for the caller
 * @suspends: number of interruptions
 * @gc: part of its array time for garbage collection
 * @page: page that a read senses; NAND_NO_PAGE: several or none
 * @queued: time of submission
 * @begun: time at which it got its die
 * @done: time of completion
 */
struct nand_cmd {
	struct nand_cmd *next;
	void *owner;
	u64 first;
	u64 last;
	u64 gc;
	u64 queued;
	u64 begun;
	u64 done;
	u32 page;
	u32 bytes;
	u16 lun;
	u8 kind;
	u8 host;
	u8 type;
	u8 suspends;
};

struct nand_list {
	struct nand_cmd *head;
	struct nand_cmd **tail;
};

enum nand_step { NAND_FIRST, NAND_BUS, NAND_LAST };

/**
 * struct nand_lun - a die
 * @wait: waiting operations: reads, others; in one queue unless reads are first
 * @cur: current operation
 * @step: current step of @cur
 * @paused: a program or erase that @cur, a read, has interrupted
 * @rest: the array time that @paused still needs
 * @paused_step: step of @paused
 * @page: page in its register
 */
struct nand_lun {
	struct nand_list wait[2];
	struct nand_cmd *cur;
	struct nand_cmd *paused;
	u64 rest;
	u32 page;
	enum nand_step step;
	enum nand_step paused_step;
};

struct nand_chan {
	struct nand_list wait[2];
	struct nand_cmd *cur;
	u64 busy;
};

/**
 * struct nand_chip - statistics of a chip
 * @working: number of its dies that have an operation
 * @since: last time at which @working rose from 0
 * @busy: time in which a die worked, up to @since
 * @ops: completed operations, by kind
 * @erases: blocks erased
 */
struct nand_chip {
	unsigned int working;
	u64 since;
	u64 busy;
	u64 ops[NAND_KINDS];
	u64 erases;
};

/**
 * struct nand_stats - sums since the last reset
 * @conflicts: operations that found a die held by another request, by kind of
 *	the operation there and of the new one
 * @wait: wait of requests' operations for their die, by kind
 * @suspends: programs and erases interrupted
 * @kept: reads of the page in the register
 * @active: time in which any request was outstanding
 * @busy: integral of the number of busy chips over that time
 */
struct nand_stats {
	u64 conflicts[2][2];
	u64 wait[2];
	u64 suspends;
	u64 kept;
	u64 active;
	u64 busy;
};

/**
 * struct nand - the flash
 * @cfg: its configuration
 * @luns: number of dies
 * @chips: number of chips
 * @lun: the dies
 * @chan: the channels
 * @chip: the chips
 * @time: of each die's event, then of each channel's
 * @pos: position in @heap
 * @heap: dies and channels with a pending event, earliest first
 * @nr_events: number of pending events
 * @outstanding: requests that the device has, set by nand_outstanding()
 * @busy_chips: chips with a working die
 * @since: time of the last change of @busy_chips or @outstanding
 * @stats: sums
 */
struct nand {
	struct nand_cfg cfg;
	unsigned int luns;
	unsigned int chips;
	struct nand_lun lun[NAND_MAX_LUNS];
	struct nand_chan chan[NAND_MAX_CHANNELS];
	struct nand_chip chip[NAND_MAX_CHIPS];
	u64 time[NAND_MAX_LUNS + NAND_MAX_CHANNELS];
	u16 pos[NAND_MAX_LUNS + NAND_MAX_CHANNELS];
	u16 heap[NAND_MAX_LUNS + NAND_MAX_CHANNELS];
	unsigned int nr_events;
	unsigned int outstanding;
	unsigned int busy_chips;
	u64 since;
	struct nand_stats stats;
};

static inline void nand_list_init(struct nand_list *list)
{
	list->head = NULL;
	list->tail = &list->head;
}

static inline void nand_list_add(struct nand_list *list, struct nand_cmd *cmd)
{
	cmd->next = NULL;
	*list->tail = cmd;
	list->tail = &cmd->next;
}

static inline struct nand_cmd *nand_list_take(struct nand_list *list)
{
	struct nand_cmd *cmd = list->head;

	if (cmd) {
		list->head = cmd->next;
		if (!list->head)
			list->tail = &list->head;
	}
	return cmd;
}

/* Time of the next event, or SIM_NEVER. */
static inline u64 nand_next(const struct nand *n)
{
	return n->nr_events ? n->time[n->heap[0]] : SIM_NEVER;
}

/* True if the die has no operation, working or waiting. */
static inline bool nand_idle(const struct nand *n, unsigned int lun)
{
	const struct nand_lun *l = &n->lun[lun];

	return !l->cur && !l->wait[0].head && !l->wait[1].head;
}

static inline unsigned int nand_chip_of(const struct nand *n, unsigned int lun)
{
	return lun % n->chips;
}

int nand_init(struct nand *n, const struct nand_cfg *cfg);
bool nand_submit(struct nand *n, struct nand_cmd *cmd, u64 now);
void nand_run(struct nand *n, u64 now, struct nand_list *ended);
void nand_outstanding(struct nand *n, int change, u64 now);
u64 nand_chip_busy(const struct nand *n, unsigned int chip, u64 now);
void nand_reset_stats(struct nand *n, u64 now);

#endif /* FLASHSIM_NAND_H */
