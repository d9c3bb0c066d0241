// SPDX-License-Identifier: GPL-2.0
/*
 * nand.c - timing of flash dies behind channels; see nand.h
 */
#include "nand.h"

/**
 * nand_init - idle flash
 * @n: zeroed
 * @cfg: its configuration
 *
 * Return: 0, or -1 if there are no or too many channels, chips or dies.
 */
int nand_init(struct nand *n, const struct nand_cfg *cfg)
{
	unsigned int i, k;

	if (cfg->channels < 1 || cfg->channels > NAND_MAX_CHANNELS ||
	    cfg->ways < 1 || cfg->ways > NAND_MAX_CHIPS ||
	    cfg->channels * cfg->ways > NAND_MAX_CHIPS ||
	    cfg->dies < 1 || cfg->dies > NAND_MAX_DIES)
		return -1;
	n->cfg = *cfg;
	n->chips = cfg->channels * cfg->ways;
	n->luns = n->chips * cfg->dies;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < n->luns; i++) {
			nand_list_init(&n->lun[i].wait[k]);
			n->lun[i].page = NAND_NO_PAGE;
		}
		for (i = 0; i < cfg->channels; i++)
			nand_list_init(&n->chan[i].wait[k]);
	}
	return 0;
}

/* The heap of events; a die or channel has at most one. */

static bool nand_before(const struct nand *n, unsigned int a, unsigned int b)
{
	/* Equal times: by number, so that runs repeat exactly. */
	return n->time[a] != n->time[b] ? n->time[a] < n->time[b] : a < b;
}

static void nand_place(struct nand *n, unsigned int i, unsigned int who)
{
	n->heap[i] = (u16)who;
	n->pos[who] = (u16)i;
}

static void nand_sift(struct nand *n, unsigned int i, unsigned int who)
{
	unsigned int down;

	while (i && nand_before(n, who, n->heap[(i - 1) / 2])) {
		nand_place(n, i, n->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	while ((down = 2 * i + 1) < n->nr_events) {
		if (down + 1 < n->nr_events &&
		    nand_before(n, n->heap[down + 1], n->heap[down]))
			down++;
		if (!nand_before(n, n->heap[down], who))
			break;
		nand_place(n, i, n->heap[down]);
		i = down;
	}
	nand_place(n, i, who);
}

static void nand_event(struct nand *n, unsigned int who, u64 when)
{
	n->time[who] = when;
	nand_sift(n, n->nr_events++, who);
}

static void nand_event_cancel(struct nand *n, unsigned int who)
{
	unsigned int i = n->pos[who], last = n->heap[--n->nr_events];

	if (last != who)
		nand_sift(n, i, last);
}

/* Advances the integrals to @now, before any change of their values. */
static void nand_account(struct nand *n, u64 now)
{
	if (n->outstanding) {
		n->stats.busy += (now - n->since) * n->busy_chips;
		n->stats.active += now - n->since;
	}
	n->since = now;
}

/**
 * nand_outstanding - a request has arrived or completed
 * @n: the flash, run until @now
 * @change: +1 or -1
 * @now: the time
 */
void nand_outstanding(struct nand *n, int change, u64 now)
{
	nand_account(n, now);
	n->outstanding += change;
}

static void nand_chip_works(struct nand *n, unsigned int lun, u64 now)
{
	struct nand_chip *chip = &n->chip[nand_chip_of(n, lun)];

	if (chip->working++)
		return;
	nand_account(n, now);
	n->busy_chips++;
	chip->since = now;
}

static void nand_chip_rests(struct nand *n, unsigned int lun, u64 now)
{
	struct nand_chip *chip = &n->chip[nand_chip_of(n, lun)];

	if (--chip->working)
		return;
	nand_account(n, now);
	n->busy_chips--;
	chip->busy += now - chip->since;
}

/**
 * nand_chip_busy - busy time of a chip since the last reset
 * @n: the flash, run until @now
 * @chip: which
 * @now: the time
 */
u64 nand_chip_busy(const struct nand *n, unsigned int chip, u64 now)
{
	const struct nand_chip *c = &n->chip[chip];

	return c->busy + (c->working ? now - c->since : 0);
}

/**
 * nand_reset_stats - set all sums to zero
 * @n: the flash, run until @now
 * @now: the time
 */
void nand_reset_stats(struct nand *n, u64 now)
{
	unsigned int i;

	nand_account(n, now);
	memset(&n->stats, 0, sizeof(n->stats));
	for (i = 0; i < n->chips; i++) {
		struct nand_chip *c = &n->chip[i];

		memset(c->ops, 0, sizeof(c->ops));
		c->erases = 0;
		c->busy = 0;
		c->since = now;
	}
	for (i = 0; i < n->cfg.channels; i++)
		n->chan[i].busy = 0;
}

static unsigned int nand_class(const struct nand *n, const struct nand_cmd *cmd)
{
	return n->cfg.order == NAND_READ_FIRST && cmd->kind != NAND_READ;
}

static struct nand_cmd *nand_take(struct nand_list *wait)
{
	struct nand_cmd *cmd = nand_list_take(&wait[0]);

	return cmd ? cmd : nand_list_take(&wait[1]);
}

static void nand_bus_start(struct nand *n, unsigned int c,
			   struct nand_cmd *cmd, u64 now)
{
	u64 ns = div64_u64(cmd->bytes * n->cfg.ps_per_byte + 500, 1000);

	n->chan[c].cur = cmd;
	n->chan[c].busy += ns;
	nand_event(n, NAND_MAX_LUNS + c, now + ns);
}

/* Array time before the bus; @cmd's page is in the register afterwards. */
static u64 nand_sense(struct nand *n, struct nand_cmd *cmd)
{
	struct nand_lun *lun = &n->lun[cmd->lun];

	if (n->cfg.keep && cmd->kind == NAND_READ &&
	    cmd->page != NAND_NO_PAGE && cmd->page == lun->page) {
		n->stats.kept++;
		return 0;
	}
	lun->page = cmd->kind == NAND_READ ? cmd->page : NAND_NO_PAGE;
	return cmd->first;
}

/* Advances @cmd to the first step from @step on that takes time. */
static void nand_step(struct nand *n, struct nand_cmd *cmd,
		      enum nand_step step, u64 now)
{
	struct nand_lun *lun = &n->lun[cmd->lun];
	unsigned int c = cmd->lun % n->cfg.channels;

	lun->step = step;
	if (step == NAND_FIRST) {
		u64 first = nand_sense(n, cmd);

		if (first) {
			nand_event(n, cmd->lun, now + first);
			return;
		}
		lun->step = step = NAND_BUS;
	}
	if (step == NAND_BUS && cmd->bytes) {
		if (n->chan[c].cur)
			nand_list_add(&n->chan[c].wait[nand_class(n, cmd)], cmd);
		else
			nand_bus_start(n, c, cmd, now);
		return;
	}
	lun->step = NAND_LAST;
	/* Also for a step without time: completions are events, never nested. */
	nand_event(n, cmd->lun, now + cmd->last);
}

/* The operation that the die would start next. */
static struct nand_cmd *nand_peek(const struct nand_lun *lun)
{
	return lun->wait[0].head ? lun->wait[0].head : lun->wait[1].head;
}

/* Lets a waiting read interrupt the array's operation, if allowed. */
static void nand_suspend(struct nand *n, unsigned int l, u64 now)
{
	struct nand_lun *lun = &n->lun[l];
	struct nand_cmd *cmd = lun->cur, *read = nand_peek(lun);

	if (!n->cfg.suspend || !read || read->kind != NAND_READ || !cmd ||
	    cmd->kind == NAND_READ || lun->step == NAND_BUS ||
	    cmd->suspends >= NAND_MAX_SUSPENDS || n->time[l] <= now)
		return;
	lun->rest = n->time[l] - now;
	lun->paused = cmd;
	lun->paused_step = lun->step;
	cmd->suspends++;
	n->stats.suspends++;
	nand_event_cancel(n, l);
	nand_take(lun->wait);
	lun->cur = read;
	lun->step = NAND_FIRST;
	read->begun = now;
	if (read->host)
		n->stats.wait[0] += now - read->queued;
	nand_event(n, l, now + n->cfg.suspend + nand_sense(n, read));
}

/* Starts an idle die's next operation, if one waits. */
static void nand_start(struct nand *n, unsigned int l, u64 now)
{
	struct nand_lun *lun = &n->lun[l];
	struct nand_cmd *cmd = nand_take(lun->wait);

	if (!cmd)
		return;
	nand_chip_works(n, l, now);
	lun->cur = cmd;
	cmd->begun = now;
	if (cmd->host)
		n->stats.wait[cmd->kind != NAND_READ] += now - cmd->queued;
	nand_step(n, cmd, NAND_FIRST, now);
	/* A read may have arrived before the operation started. */
	nand_suspend(n, l, now);
}

static void nand_resume(struct nand *n, unsigned int l, u64 now)
{
	struct nand_lun *lun = &n->lun[l];

	lun->cur = lun->paused;
	lun->step = lun->paused_step;
	lun->paused = NULL;
	nand_event(n, l, now + lun->rest);
	/* Another read may wait, and the operation may still be interrupted. */
	nand_suspend(n, l, now);
}

static void nand_end(struct nand *n, struct nand_cmd *cmd, u64 now,
		     struct nand_list *ended)
{
	unsigned int l = cmd->lun;
	struct nand_lun *lun = &n->lun[l];

	n->chip[nand_chip_of(n, l)].ops[cmd->kind]++;
	cmd->done = now;
	nand_list_add(ended, cmd);
	if (lun->paused) {
		nand_resume(n, l, now);
		return;
	}
	lun->cur = NULL;
	nand_chip_rests(n, l, now);
	nand_start(n, l, now);
}

/**
 * nand_run - let the flash work until @now
 * @n: the flash
 * @now: the time; never less than in an earlier call
 * @ended: list to which completed operations are added, in order of time
 */
void nand_run(struct nand *n, u64 now, struct nand_list *ended)
{
	while (nand_next(n) <= now) {
		unsigned int who = n->heap[0];
		u64 t = n->time[who];
		struct nand_chan *chan;
		struct nand_cmd *cmd, *next;

		nand_event_cancel(n, who);
		if (who < NAND_MAX_LUNS) {
			cmd = n->lun[who].cur;
			if (n->lun[who].step == NAND_LAST)
				nand_end(n, cmd, t, ended);
			else
				nand_step(n, cmd, NAND_BUS, t);
			continue;
		}
		chan = &n->chan[who - NAND_MAX_LUNS];
		cmd = chan->cur;
		chan->cur = NULL;
		/* Operations that already wait for the bus precede one that arrives now. */
		next = nand_take(chan->wait);
		if (next)
			nand_bus_start(n, who - NAND_MAX_LUNS, next, t);
		if (cmd->last) {
			nand_step(n, cmd, NAND_LAST, t);
			nand_suspend(n, cmd->lun, t);
		} else {
			nand_end(n, cmd, t, ended);
		}
	}
}

/* Does another request hold or wait for the die of a request's operation? */
static bool nand_conflict(struct nand *n, const struct nand_lun *lun,
			  const struct nand_cmd *cmd)
{
	const struct nand_list *wait = &lun->wait[nand_class(n, cmd)];
	const struct nand_cmd *ahead = lun->cur;

	/* The operation directly before it, for which it waits. */
	if (wait->head)
		ahead = (const struct nand_cmd *)
			((const char *)wait->tail -
			 offsetof(struct nand_cmd, next));
	if (!ahead || !ahead->host || !cmd->host || ahead->owner == cmd->owner)
		return false;
	n->stats.conflicts[ahead->kind != NAND_READ][cmd->kind != NAND_READ]++;
	return true;
}

/**
 * nand_submit - submit an operation
 * @n: the flash, run until @now
 * @cmd: all above @queued and @kind, @lun, @host are set
 * @now: the time
 *
 * Return: true if another request holds or waits for its die.
 */
bool nand_submit(struct nand *n, struct nand_cmd *cmd, u64 now)
{
	struct nand_lun *lun = &n->lun[cmd->lun];
	bool conflict = nand_conflict(n, lun, cmd);

	cmd->queued = now;
	cmd->suspends = 0;
	nand_list_add(&lun->wait[nand_class(n, cmd)], cmd);
	if (!lun->cur)
		nand_start(n, cmd->lun, now);
	else
		nand_suspend(n, cmd->lun, now);
	return conflict;
}
