// SPDX-License-Identifier: GPL-2.0
/*
 * sim.c - timing of a solid state drive; see sim.h
 */
#include "sim.h"

static void queue_init(struct sim_queue *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static void queue_add(struct sim_queue *q, struct sim_rq *rq)
{
	rq->next = NULL;
	*q->tail = rq;
	q->tail = &rq->next;
}

static struct sim_rq *queue_take(struct sim_queue *q)
{
	struct sim_rq *rq = q->head;

	q->head = rq->next;
	if (!q->head)
		q->tail = &q->head;
	return rq;
}

/* Adds in order of time, after requests of the same time. */
static void queue_add_due(struct sim_queue *q, struct sim_rq *rq)
{
	struct sim_rq **at = &q->head;

	/* The usual case: equal delays, so the last request is the latest. */
	if (q->head) {
		struct sim_rq *last = (struct sim_rq *)
			((char *)q->tail - offsetof(struct sim_rq, next));

		if (last->due <= rq->due)
			at = q->tail;
	}
	while (*at && (*at)->due <= rq->due)
		at = &(*at)->next;
	rq->next = *at;
	*at = rq;
	if (!rq->next)
		q->tail = &rq->next;
}

/**
 * sim_init - an idle drive
 * @s: nand, ftl and rand are initialised; the pointers to memory are set
 * @cfg: constants
 * @now: the time
 */
void sim_init(struct sim *s, const struct sim_cfg *cfg, u64 now)
{
	s->cfg = *cfg;
	s->now = s->start = now;
	queue_init(&s->fw);
	queue_init(&s->down);
	queue_init(&s->up);
	queue_init(&s->gate);
	queue_init(&s->admit);
	queue_init(&s->flush);
	s->idle_at = now + cfg->slc_idle;
	sim_reset_stats(s, now);
}

/**
 * sim_add_progs - memory for programs of the write buffer
 * @s: the drive
 * @progs: memory
 * @nr: how many
 */
void sim_add_progs(struct sim *s, struct sim_prog *progs, u32 nr)
{
	while (nr--) {
		progs[nr].next = s->prog_free;
		s->prog_free = &progs[nr];
	}
}

/**
 * sim_add_gc - memory for garbage collection on other dies than the written one
 * @s: the drive
 * @cmds: memory
 * @nr: how many
 */
void sim_add_gc(struct sim *s, struct nand_cmd *cmds, u32 nr)
{
	while (nr--) {
		cmds[nr].next = s->gc_free;
		s->gc_free = &cmds[nr];
	}
}

/* Closes rows of the series that end until @t. */
static void sim_roll(struct sim *s, u64 t)
{
	unsigned int chips = s->nand.chips, c;

	while (s->row_nr < s->row_len && s->row_end <= t) {
		struct sim_row *row = &s->row[s->row_nr];
		u16 *share = &s->row_chip[(size_t)s->row_nr * chips];

		*row = s->row_cur;
		row->outstanding = s->outstanding;
		row->copies = (u32)(s->ftl.copies - s->copies_was);
		s->copies_was = s->ftl.copies;
		for (c = 0; c < chips; c++) {
			u64 busy = nand_chip_busy(&s->nand, c, s->row_end);

			share[c] = (u16)div64_u64((busy - s->chip_was[c]) *
						  1000, s->cfg.series);
			s->chip_was[c] = busy;
		}
		memset(&s->row_cur, 0, sizeof(s->row_cur));
		s->row_end += s->cfg.series;
		s->row_nr++;
	}
}

/**
 * sim_reset_stats - set all sums to zero, empty log and series
 * @s: the drive, run until @now
 * @now: the time
 */
void sim_reset_stats(struct sim *s, u64 now)
{
	s->start = now;
	nand_reset_stats(&s->nand, now);
	ftl_reset_stats(&s->ftl);
	memset(&s->stats, 0, sizeof(s->stats));
	s->stats.outstanding_max = s->outstanding;
	s->log_nr = 0;
	s->row_nr = 0;
	s->row_end = now + s->cfg.series;
	memset(&s->row_cur, 0, sizeof(s->row_cur));
	s->copies_was = 0;
	if (s->row_len)
		memset(s->chip_was, 0, s->nand.chips * sizeof(*s->chip_was));
}

static u64 sim_time(struct sim *s, u64 mean)
{
	if (s->cfg.exponential)
		return sim_rand_exp(&s->rand, mean);
	if (s->cfg.vary)
		/* From 1 - vary to 1 + vary, in 1/65536 */
		return (mean * (65536 - (s->cfg.vary << 16) / 1000 +
				(sim_rand_below(&s->rand, s->cfg.vary << 17) /
				 1000))) >> 16;
	return mean;
}

/* The sum of @nr such times. */
static u64 sim_times(struct sim *s, u64 mean, u32 nr)
{
	u64 sum = 0;

	if (!s->cfg.exponential && !s->cfg.vary)
		return mean * nr;
	while (nr--)
		sum += sim_time(s, mean);
	return sum;
}

/* Time at which @bytes that are ready at @t have crossed the host link. */
static u64 sim_link(struct sim *s, bool up, u32 bytes, u64 t)
{
	u64 *free = &s->link_free[s->cfg.duplex && !up];

	if (*free < t)
		*free = t;
	*free += div64_u64(bytes * s->cfg.ps_link + 500, 1000);
	return *free;
}

static unsigned int sim_range(const struct sim *s, u64 sector)
{
	return (unsigned int)div64_u64(sector * s->cfg.ranges, s->cfg.sectors);
}

static unsigned int sim_unit_range(const struct sim *s, u32 unit)
{
	u64 sector = (u64)unit * (s->cfg.unit / SIM_SECTOR);

	return sim_range(s, sector < s->cfg.offset ? 0 :
			 sector - s->cfg.offset);
}

static void sim_end(struct sim *s, struct sim_rq *rq, u64 t,
		    struct sim_queue *ended)
{
	bool write = rq->op != SIM_READ;

	rq->done = t;
	s->outstanding--;
	nand_outstanding(&s->nand, -1, t);
	if (!s->outstanding)
		s->idle_at = t + s->cfg.slc_idle;
	s->stats.requests[rq->op]++;
	if (rq->op <= SIM_WRITE) {
		u64 bytes = (u64)rq->sectors * SIM_SECTOR;

		s->stats.bytes[write] += bytes;
		s->stats.latency[write] += t - rq->arrival;
		s->stats.conflict_requests[write] += rq->conflict;
		if (write) {
			s->row_cur.writes++;
			s->row_cur.write_bytes += bytes;
		} else {
			s->row_cur.reads++;
			s->row_cur.read_bytes += bytes;
		}
	}
	if (s->log_nr < s->log_len) {
		struct sim_log *log = &s->log[s->log_nr++];

		log->arrival = rq->arrival;
		log->begun = rq->begun == SIM_NEVER ? t : rq->begun;
		log->done = t;
		log->sector = rq->sector;
		log->sectors = rq->sectors;
		log->chip = rq->chip;
		log->chips = rq->chips;
		log->op = rq->op;
	}
	queue_add(ended, rq);
}

/* Mapping units */

/* First byte of @rq in the drive's address space. */
static u64 sim_pos(const struct sim *s, const struct sim_rq *rq)
{
	return (rq->sector + s->cfg.offset) * SIM_SECTOR;
}

static void sim_units_of(const struct sim *s, const struct sim_rq *rq,
			 u32 *first, u32 *last)
{
	u64 pos = sim_pos(s, rq);

	*first = (u32)div64_u64(pos, s->cfg.unit);
	*last = (u32)div64_u64(pos + (u64)rq->sectors * SIM_SECTOR - 1,
			       s->cfg.unit);
}

/* Size of the overlap of @unit and @rq. */
static u32 sim_overlap(const struct sim *s, const struct sim_rq *rq, u32 unit)
{
	u64 pos = sim_pos(s, rq), end = pos + (u64)rq->sectors * SIM_SECTOR;
	u64 from = (u64)unit * s->cfg.unit, to = from + s->cfg.unit;

	if (from < pos)
		from = pos;
	if (to > end)
		to = end;
	return (u32)(to - from);
}

static unsigned int sim_layout_lun(const struct sim *s, u32 unit)
{
	return ftl_layout_lun(&s->ftl.cfg.layout, s->nand.luns, unit);
}

/* Operations */

static struct nand_cmd *sim_cmd(struct nand_cmd *cmd, void *owner,
				enum sim_cmd_type type, enum nand_kind kind,
				unsigned int lun)
{
	memset(cmd, 0, sizeof(*cmd));
	cmd->owner = owner;
	cmd->type = (u8)type;
	cmd->kind = (u8)kind;
	cmd->lun = (u16)lun;
	cmd->page = NAND_NO_PAGE;
	cmd->host = type == SIM_CMD_RQ || type == SIM_CMD_PROG;
	return cmd;
}

/* Adds a program and its garbage collection to @cmd and the dies. */
static void sim_program(struct sim *s, struct nand_cmd *cmd,
			const struct ftl_work *w, u32 bytes, u64 t_prog, u64 t)
{
	struct nand_cmd *src = cmd, *dst = cmd;
	u64 reads, progs, erases;

	cmd->bytes = bytes;
	cmd->last = sim_time(s, t_prog);
	s->stats.nand_programs++;
	if (!w->gc_units && !w->gc_erases)
		return;

	s->stats.nand_reads += w->gc_reads;
	s->stats.nand_programs += w->gc_progs;
	s->nand.chip[nand_chip_of(&s->nand, w->gc_lun)].erases += w->gc_erases;
	reads = sim_times(s, s->cfg.t_read, w->gc_reads);
	progs = sim_times(s, s->cfg.t_prog, w->gc_progs);
	erases = sim_times(s, s->cfg.t_erase, w->gc_erases);
	s->stats.gc_ns += reads + progs + erases;

	/*
	 * On one die, collection is part of the write that needs the room. On
	 * other dies it is a separate operation.
	 */
	if ((w->gc_lun != cmd->lun || w->gc_dst != cmd->lun) &&
	    s->gc_free && s->gc_free->next) {
		src = s->gc_free;
		dst = src->next;
		s->gc_free = dst->next;
		sim_cmd(src, s, SIM_CMD_GC, NAND_COLLECT, w->gc_lun);
		sim_cmd(dst, s, SIM_CMD_GC, NAND_COLLECT, w->gc_dst);
	}
	if (src == cmd) {
		cmd->first = reads + progs;
		cmd->bytes += 2 * w->gc_units * s->cfg.unit;
		cmd->last += erases;
		cmd->gc = reads + progs + erases;
		return;
	}
	src->first = reads;
	src->bytes = w->gc_units * s->cfg.unit;
	src->last = erases;
	src->gc = reads + erases;
	dst->bytes = src->bytes;
	dst->last = progs;
	dst->gc = progs;
	nand_submit(&s->nand, src, t);
	nand_submit(&s->nand, dst, t);
}

/* The reads of @rq; data that need no die cross the link at once. */
static void sim_ready_read(struct sim *s, struct sim_rq *rq, u64 t)
{
	u32 unit, last, place, page = ~0u, ready = 0;
	struct nand_cmd *cmd = NULL;

	sim_units_of(s, rq, &unit, &last);
	rq->nr = 0;
	for (; unit <= last; unit++) {
		u32 bytes = sim_overlap(s, rq, unit);
		unsigned int lun;

		if (s->ftl.map) {
			place = s->ftl.map[unit];
			if (place & FTL_BUFFERED)
				s->stats.buffer_hits++;
			if (place & FTL_BUFFERED || place == FTL_NONE) {
				ready += bytes;
				continue;
			}
			if (cmd && place / s->ftl.cfg.per_page == page) {
				cmd->bytes += bytes;
				continue;
			}
			page = place / s->ftl.cfg.per_page;
			lun = ftl_lun_of(&s->ftl, place);
		} else {
			lun = sim_layout_lun(s, unit);
		}
		cmd = sim_cmd(&rq->cmd[rq->nr++], rq, SIM_CMD_RQ, NAND_READ,
			      lun);
		cmd->page = s->ftl.map ? page : unit;
		cmd->bytes = bytes;
		cmd->first = sim_time(s, s->cfg.t_read);
		s->stats.nand_reads++;
	}
	if (ready)
		sim_link(s, true, ready, t);
}

/* Whether @rq covers @unit only in part, and the other part has data. */
static bool sim_partial(const struct sim *s, const struct sim_rq *rq, u32 unit)
{
	return sim_overlap(s, rq, unit) < s->cfg.unit &&
	       (!s->ftl.map || s->ftl.map[unit] != FTL_NONE);
}

/* The reads that complete the units at both ends of a write. */
static void sim_ready_update(struct sim *s, struct sim_rq *rq)
{
	u32 unit[2], i;

	sim_units_of(s, rq, &unit[0], &unit[1]);
	rq->nr = 0;
	for (i = 0; i < 2; i++) {
		struct nand_cmd *cmd;

		if ((i && unit[1] == unit[0]) || !sim_partial(s, rq, unit[i]))
			continue;
		cmd = sim_cmd(&rq->cmd[rq->nr++], rq, SIM_CMD_RQ, NAND_READ,
			      s->ftl.map ?
			      ftl_lun_of(&s->ftl, s->ftl.map[unit[i]]) :
			      sim_layout_lun(s, unit[i]));
		cmd->bytes = s->cfg.unit;
		cmd->first = sim_time(s, s->cfg.t_read);
		s->stats.nand_reads++;
	}
}

static void sim_ready_write(struct sim *s, struct sim_rq *rq, u64 t)
{
	u32 unit, last;

	sim_units_of(s, rq, &unit, &last);
	rq->nr = 0;
	for (; unit <= last; unit++) {
		struct nand_cmd *cmd = &rq->cmd[rq->nr++];
		struct ftl_work w = { 0 };
		unsigned int lun = s->ftl.cfg.alloc == FTL_DYNAMIC ?
			ftl_choose(&s->ftl, &s->nand) : sim_layout_lun(s, unit);

		w.lun = lun;
		if (s->ftl.map) {
			ftl_write(&s->ftl, lun, &unit, 1, 0, &w);
		} else {
			s->ftl.host++;
			s->ftl.flash++;
		}
		sim_cmd(cmd, rq, SIM_CMD_RQ, NAND_PROG, w.lun);
		sim_program(s, cmd, &w, s->cfg.page, s->cfg.t_prog, t);
	}
}

/* Submits the operations of @rq to the dies. */
static void sim_start(struct sim *s, struct sim_rq *rq, u64 t)
{
	u8 seen[NAND_MAX_CHIPS / 8] = { 0 };
	u32 i;

	rq->left = rq->nr;
	rq->chips = 0;
	for (i = 0; i < rq->nr; i++) {
		unsigned int chip = nand_chip_of(&s->nand, rq->cmd[i].lun);

		if (!(seen[chip / 8] & (1 << chip % 8))) {
			seen[chip / 8] |= (u8)(1 << chip % 8);
			if (!rq->chips++)
				rq->chip = (u16)chip;
		}
		if (nand_submit(&s->nand, &rq->cmd[i], t))
			rq->conflict = 1;
	}
}

/* Prepares the operations of @rq on the dies; false if there are none. */
static bool sim_ready(struct sim *s, struct sim_rq *rq, u64 t)
{
	if (rq->op == SIM_READ) {
		sim_ready_read(s, rq, t);
		return rq->nr;
	}
	if (!rq->again) {
		sim_ready_update(s, rq);
		rq->again = 1;
		if (rq->nr)
			return true;
	}
	sim_ready_write(s, rq, t);
	rq->again = 2;
	return true;
}

/* All data of a read have left the dies, or needed none. */
static void sim_send(struct sim *s, struct sim_rq *rq, u64 t)
{
	rq->due = sim_link(s, true, 0, t);
	queue_add(&s->up, rq);
}

/* Opens the gate for all requests that may start. */
static void sim_gate(struct sim *s, u64 t)
{
	while (s->gate.head) {
		struct sim_rq *rq = s->gate.head;
		u32 i;

		if (!rq->ready) {
			rq->ready = 1;
			if (!sim_ready(s, rq, t)) {
				queue_take(&s->gate);
				sim_send(s, rq, t);
				continue;
			}
		}
		for (i = 0; i < rq->nr; i++)
			if (!nand_idle(&s->nand, rq->cmd[i].lun))
				return;
		queue_take(&s->gate);
		sim_start(s, rq, t);
	}
}

static void sim_to_flash(struct sim *s, struct sim_rq *rq, u64 t)
{
	if (s->cfg.nand.order == NAND_IN_ORDER) {
		queue_add(&s->gate, rq);
		sim_gate(s, t);
	} else if (sim_ready(s, rq, t)) {
		sim_start(s, rq, t);
	} else {
		sim_send(s, rq, t);
	}
}

/* Write buffer */

/* The map's entry for a unit in the buffer that is in no program yet. */
#define SIM_IN_RING	(FTL_NONE | FTL_BUFFERED)

/* Programs the units in the buffer, as far as they fill programs. */
static void sim_pump(struct sim *s, u64 t)
{
	u32 per_prog = s->ftl.cfg.per_prog;

	while (s->ring_nr && s->prog_free) {
		struct sim_prog *prog = s->prog_free;
		/* Writes wait for room, and no program in progress will free any. */
		bool force = s->admit.head && !s->prog_busy;
		u32 nr = s->ring_nr, i;
		struct sim_rq *flush;
		struct ftl_work w;
		unsigned int lun;
		u32 first;

		for (flush = s->flush.head; flush; flush = flush->next) {
			if (flush->seq > s->went) {
				if (flush->seq - s->went < nr)
					nr = (u32)(flush->seq - s->went);
				force = true;
				break;
			}
		}
		if (nr >= per_prog)
			nr = per_prog;
		else if (!force)
			return;

		first = s->ring[s->ring_at];
		for (i = 0; i < nr; i++) {
			u32 unit = s->ring[(s->ring_at + i) % s->cfg.buffer];

			/* Units discarded in the meantime stay discarded. */
			s->ftl.group[i] = s->ftl.map[unit] == SIM_IN_RING ?
				unit : FTL_NONE;
		}
		s->ring_at = (s->ring_at + nr) % s->cfg.buffer;
		s->ring_nr -= nr;
		s->went += nr;

		s->prog_free = prog->next;
		s->prog_busy++;
		lun = s->ftl.cfg.alloc == FTL_DYNAMIC ?
			ftl_choose(&s->ftl, &s->nand) :
			sim_layout_lun(s, first);
		prog->range = (u8)sim_unit_range(s, first);
		prog->place = ftl_write(&s->ftl, lun, s->ftl.group, nr,
					FTL_BUFFERED, &w);
		prog->nr = nr;
		prog->seq = s->went;
		prog->slc = s->slc_used && s->slc_used[w.lun] < s->cfg.slc;
		if (prog->slc) {
			s->slc_used[w.lun]++;
			s->slc_all++;
			s->stats.slc_programs++;
		}
		sim_cmd(&prog->cmd, prog, SIM_CMD_PROG, NAND_PROG, w.lun);
		sim_program(s, &prog->cmd, &w, per_prog * s->cfg.unit,
			    prog->slc ? s->cfg.t_prog_slc : s->cfg.t_prog, t);
		nand_submit(&s->nand, &prog->cmd, t);
	}
}

/* Lets @rq wait until all units in the buffer are in the flash. */
static void sim_flush(struct sim *s, struct sim_rq *rq, u64 t,
		      struct sim_queue *ended)
{
	rq->seq = s->came;
	rq->left = s->buffered;
	if (!rq->left)
		sim_end(s, rq, t, ended);
	else
		queue_add(&s->flush, rq);
}

/* Moves writes into the buffer, in order, as far as there is room. */
static void sim_admit(struct sim *s, u64 t, struct sim_queue *ended)
{
	while (s->admit.head && s->buffered < s->cfg.buffer) {
		struct sim_rq *rq = s->admit.head;
		u32 first, last;

		sim_units_of(s, rq, &first, &last);
		while (first + rq->admitted <= last &&
		       s->buffered < s->cfg.buffer) {
			u32 unit = first + rq->admitted++;

			/* With two copies in it, the unit would leave with the older one. */
			if (s->ftl.map[unit] == SIM_IN_RING) {
				s->ftl.host++;
				continue;
			}
			ftl_buffer(&s->ftl, unit);
			s->ring[(s->ring_at + s->ring_nr++) % s->cfg.buffer] =
				unit;
			s->buffered++;
			s->came++;
		}
		if (first + rq->admitted <= last)
			break;
		queue_take(&s->admit);
		if (rq->fua)
			sim_flush(s, rq, t, ended);
		else
			sim_end(s, rq, t, ended);
	}
	sim_pump(s, t);
}

/* A program's time is divided equally among its units, by their address ranges. */
static void sim_prog_time(struct sim *s, const struct sim_prog *prog)
{
	u64 ns = prog->cmd.done - prog->cmd.begun;
	u32 i;

	ns = ns > prog->cmd.gc ? ns - prog->cmd.gc : 0;
	for (i = 0; i < prog->nr; i++) {
		u32 unit = s->ftl.rev[prog->place + i];
		u64 part = div64_u64(ns, prog->nr - i);

		/* Units discarded in the meantime count for the first unit's range. */
		s->stats.range_ns[unit < s->ftl.cfg.units ?
			sim_unit_range(s, unit) : prog->range][1] += part;
		ns -= part;
	}
}

static void sim_prog_end(struct sim *s, struct sim_prog *prog, u64 t,
			 struct sim_queue *ended)
{
	struct sim_rq **at = &s->flush.head;

	sim_prog_time(s, prog);
	ftl_written(&s->ftl, prog->place, prog->nr);
	s->buffered -= prog->nr;
	s->prog_busy--;
	prog->next = s->prog_free;
	s->prog_free = prog;
	while (*at) {
		struct sim_rq *rq = *at;

		if (prog->seq <= rq->seq)
			rq->left -= prog->nr;
		if (rq->left) {
			at = &rq->next;
			continue;
		}
		*at = rq->next;
		if (!*at)
			s->flush.tail = at;
		sim_end(s, rq, t, ended);
	}
	sim_admit(s, t, ended);
}

/* SLC buffer: folded into the other flash when the drive is idle. */

static void sim_fold(struct sim *s, unsigned int lun, u64 t)
{
	struct nand_cmd *cmd = &s->fold[lun];
	u32 pages = s->ftl.cfg.per_prog / s->ftl.cfg.per_page;

	sim_cmd(cmd, s, SIM_CMD_FOLD, NAND_COLLECT, lun);
	cmd->first = sim_times(s, s->cfg.t_read, pages);
	cmd->last = sim_time(s, s->cfg.t_prog);
	cmd->gc = cmd->first + cmd->last;
	s->stats.nand_reads += pages;
	s->stats.nand_programs++;
	s->folding++;
	nand_submit(&s->nand, cmd, t);
}

static bool sim_may_fold(const struct sim *s)
{
	return s->slc_all && !s->outstanding && !s->folding;
}

static void sim_fold_all(struct sim *s, u64 t)
{
	unsigned int lun;

	for (lun = 0; lun < s->nand.luns; lun++)
		if (s->slc_used[lun] && nand_idle(&s->nand, lun))
			sim_fold(s, lun, t);
	/* All dies are busy: check again, but never at the same time. */
	if (!s->folding)
		s->idle_at = t + s->cfg.slc_idle + 1;
}

static void sim_fold_end(struct sim *s, struct nand_cmd *cmd, u64 t)
{
	s->folding--;
	s->slc_used[cmd->lun]--;
	s->slc_all--;
	s->stats.slc_folds++;
	/* Not if a request has arrived since, even if it has completed. */
	if (!s->outstanding && s->idle_at <= t && s->slc_used[cmd->lun])
		sim_fold(s, cmd->lun, t);
}

/* Stages */

static void sim_cmd_end(struct sim *s, struct nand_cmd *cmd,
			struct sim_queue *ended)
{
	struct sim_rq *rq = cmd->owner;
	u64 t = cmd->done, ns;

	switch (cmd->type) {
	case SIM_CMD_PROG:
		sim_prog_end(s, cmd->owner, t, ended);
		return;
	case SIM_CMD_GC:
		cmd->next = s->gc_free;
		s->gc_free = cmd;
		return;
	case SIM_CMD_FOLD:
		sim_fold_end(s, cmd, t);
		return;
	}
	ns = cmd->done - cmd->begun;
	s->stats.range_ns[sim_range(s, rq->sector)][rq->op == SIM_WRITE] +=
		ns > cmd->gc ? ns - cmd->gc : 0;
	if (cmd->begun < rq->begun)
		rq->begun = cmd->begun;
	if (rq->op == SIM_READ)
		sim_link(s, true, cmd->bytes, t);
	if (--rq->left)
		return;
	if (rq->op == SIM_READ) {
		sim_send(s, rq, t);
	} else if (rq->again == 1) {
		/* The units are complete now. */
		sim_ready(s, rq, t);
		sim_start(s, rq, t);
	} else {
		sim_end(s, rq, t, ended);
	}
}

static void sim_fw_end(struct sim *s, struct sim_rq *rq, u64 t,
		       struct sim_queue *ended)
{
	u32 unit, last;

	switch (rq->op) {
	case SIM_READ:
		sim_to_flash(s, rq, t);
		return;
	case SIM_WRITE:
		rq->due = sim_link(s, false, rq->sectors * SIM_SECTOR, t);
		queue_add(&s->down, rq);
		return;
	case SIM_FLUSH:
		sim_flush(s, rq, t, ended);
		sim_pump(s, t);
		return;
	}
	/* Discard and zeroes: units covered only in part keep their place. */
	sim_units_of(s, rq, &unit, &last);
	for (; s->ftl.map && unit <= last; unit++)
		if (sim_overlap(s, rq, unit) == s->cfg.unit)
			ftl_discard(&s->ftl, unit);
	sim_end(s, rq, t, ended);
}

/**
 * sim_submit - submit a request
 * @s: the drive, run until @now
 * @rq: sector, sectors, op and fua are set; room for sim_max_cmds()
 * @now: the time; never less than in an earlier call
 */
void sim_submit(struct sim *s, struct sim_rq *rq, u64 now)
{
	bool data = rq->op <= SIM_WRITE;
	bool reads = rq->op == SIM_READ;

	sim_roll(s, now);
	s->now = now;
	rq->arrival = now;
	rq->begun = SIM_NEVER;
	rq->left = rq->nr = rq->admitted = 0;
	rq->chip = rq->chips = 0;
	rq->conflict = rq->again = rq->ready = 0;
	nand_outstanding(&s->nand, 1, now);
	if (++s->outstanding > s->stats.outstanding_max)
		s->stats.outstanding_max = s->outstanding;
	if (s->cmd_free < now)
		s->cmd_free = now;
	s->cmd_free += reads ? s->cfg.cmd_read : s->cfg.cmd_write;
	if (s->began && s->reading != reads)
		s->cmd_free += s->cfg.turn;
	if (data) {
		if (s->ends[reads] && s->ends[reads] != rq->sector)
			s->cmd_free += s->cfg.jump;
		s->ends[reads] = rq->sector + rq->sectors;
	}
	s->began = true;
	s->reading = reads;
	rq->due = s->cmd_free +
		  (reads ? s->cfg.fw_read : s->cfg.fw_write);
	if (data)
		rq->due += (rq->sectors + 7) / 8 * s->cfg.fw_4k;
	queue_add_due(&s->fw, rq);
}

/**
 * sim_next - time of the next event
 * @s: the drive
 *
 * Return: the time, or SIM_NEVER.
 */
u64 sim_next(const struct sim *s)
{
	u64 t = nand_next(&s->nand);

	if (s->fw.head && s->fw.head->due < t)
		t = s->fw.head->due;
	if (s->down.head && s->down.head->due < t)
		t = s->down.head->due;
	if (s->up.head && s->up.head->due < t)
		t = s->up.head->due;
	if (sim_may_fold(s) && s->idle_at < t)
		t = s->idle_at;
	return t;
}

/**
 * sim_run - let the drive work until @now
 * @s: the drive
 * @now: the time; never less than in an earlier call
 *
 * Return: the requests that have ended, in the order of time.
 */
struct sim_rq *sim_run(struct sim *s, u64 now)
{
	struct sim_queue ended;
	u64 t;

	queue_init(&ended);
	while ((t = sim_next(s)) <= now) {
		struct nand_list list;
		struct nand_cmd *cmd;

		sim_roll(s, t);
		s->now = t;
		nand_list_init(&list);
		nand_run(&s->nand, t, &list);
		while ((cmd = nand_list_take(&list)))
			sim_cmd_end(s, cmd, &ended);
		while (s->up.head && s->up.head->due <= t)
			sim_end(s, queue_take(&s->up), t, &ended);
		while (s->fw.head && s->fw.head->due <= t)
			sim_fw_end(s, queue_take(&s->fw), t, &ended);
		while (s->down.head && s->down.head->due <= t) {
			struct sim_rq *rq = queue_take(&s->down);

			if (s->cfg.buffer) {
				queue_add(&s->admit, rq);
				sim_admit(s, t, &ended);
			} else {
				sim_to_flash(s, rq, t);
			}
		}
		if (sim_may_fold(s) && s->idle_at <= t)
			sim_fold_all(s, t);
		if (s->gate.head)
			sim_gate(s, t);
	}
	sim_roll(s, now);
	s->now = now;
	return ended.head;
}
