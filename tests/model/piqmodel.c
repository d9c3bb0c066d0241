// SPDX-License-Identifier: GPL-2.0
/*
 * piqmodel.c - the schemes of the PIQ paper on the paper's drive, in user space
 *
 * The drive is flashsim's model with profile A's numbers. A second, short
 * implementation of the five schemes, which shares no code with piq.ko, issues
 * the requests. It predicts in seconds the result of a run in a virtual machine,
 * and stand-ins are fitted with it. It has no CPU and no block layer: a
 * request is queued when it arrives, and issued when its scheme allows it.
 *
 *	piqmodel [NAME=VALUE ...] <trace
 *
 * A line of the trace is `ns R|W sector sectors`, in order of arrival. For each
 * scheme of `schemes` it prints a JSON object in a line.
 */
#include <errno.h>
#include <limits.h>

#include "../unit/flashsim.h"

/* Chips of profile A, one bit each in the host's 64-bit vectors */
#define CHIPS		64
#define PAGE_SECTORS	4
/* Tags of profile A's queue: in-flight limit of a scheme that holds no request back */
#define TAGS		64
#define QUEUE_MAX	512

enum scheme { KERNEL, NOOP, RWS, PIQ_R, PIQ_W, PIQ, NR_SCHEMES };

static const char *const scheme_names[NR_SCHEMES] = {
	"none", "noop", "rws", "piq_r", "piq_w", "piq",
};

/**
 * struct rq - a request
 * @next: next one in its list
 * @arrival: time of arrival, ns
 * @issued: time of issue to the drive, ns
 * @sector: first sector
 * @sectors: number of sectors
 * @vec: its chips
 * @batch: its batch
 * @seq: its position in the order of arrival
 * @write: it is a write
 * @met: at its arrival, an incomplete request shared a chip with it
 * @blocked: it was the first in noop's queue while one of its chips was busy
 */
struct rq {
	struct rq *next;
	u64 arrival;
	u64 issued;
	u64 sector;
	u64 vec;
	struct batch *batch;
	u32 sectors;
	u32 seq;
	bool write;
	bool met;
	bool blocked;
};

struct list {
	struct rq *head;
	struct rq **tail;
};

/**
 * struct batch - requests that share no chip
 * @next: the batch created after it
 * @vec: chips of all requests that have joined it
 * @wait: its requests that are not issued
 * @out: number of its requests in flight
 * @size: number of requests that have joined
 * @last: it is the last batch of a phase
 */
struct batch {
	struct batch *next;
	struct list wait;
	u64 vec;
	u32 out;
	u32 size;
	bool last;
};

enum phase { IDLE, READS, WRITES };

/* Sums for reads and for writes */
struct count {
	u64 nr, met, blocked, wait, met_wait, latency, service;
};

/**
 * struct host - the scheduler's side
 * @scheme: its scheme
 * @batched: reads, writes are in batches
 * @fifo: waiting requests in order of arrival: reads, writes; all in [0] for noop
 * @batch: batches of each direction, oldest first
 * @outside: requests that have arrived, beyond the queue's length
 * @queued: requests in the queue, which wait
 * @length: maximum of @queued
 * @out: requests in flight
 * @busy: chips of the requests in flight
 * @refs: for each chip, incomplete requests that need it
 * @phase: current phase
 * @end: the last request of the phase, by seq, of a direction without batches
 * @oldest_write: the oldest waiting write, by seq; without one, @arrived
 * @arrived: number of requests that have arrived
 */
struct host {
	enum scheme scheme;
	bool batched[2];
	struct list fifo[2];
	struct batch *batch[2];
	struct list outside;
	u32 queued, length, out;
	u64 busy;
	u32 refs[CHIPS];
	u32 flying[CHIPS];
	enum phase phase, was;
	u32 end;
	u32 oldest_write, arrived;
	struct count count[2];
	u64 prioritised, batches, batch_requests;
	u32 queued_max;
};

static struct rq *trace;
static u32 nr_trace, skip;
static bool *write_waits;

/*
 * When does a batch begin? The paper does not define it. piq.ko uses LIST, and
 * FREE with batch_overlap.
 *
 * ALONE:	when no other request is in flight
 * LIST:	when the previous batch in its list has completed and its chips are free
 * TURN:	its requests one by one, when the batches before it are issued
 *		and the request's chips are free; a turn ends when all have completed
 * WHOLE:	when the batches before it are issued and all of its chips are free;
 *		a turn ends when all requests are issued
 * FREE:	as TURN, but a turn ends when all requests are issued
 * ISSUED:	when the batches before it are issued, even if chips are busy
 * CLOSED:	as ALONE, and no request joins it after it has begun
 */
enum begin { ALONE, LIST, TURN, WHOLE, FREE, ISSUED, CLOSED, NR_BEGINS };

static const char *const begin_names[NR_BEGINS] = {
	"alone", "list", "turn", "whole", "free", "issued", "closed",
};

static enum begin begin = LIST;

/*
 * The scheduler knows when each chip is free, as in the paper, where it is part
 * of the simulator. A host sees only the completion of a request.
 */
static bool exact;
static struct sim_rq *flight[QUEUE_MAX];
static u32 nr_flight;

static void list_init(struct list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

static void list_add(struct list *l, struct rq *rq)
{
	rq->next = NULL;
	*l->tail = rq;
	l->tail = &rq->next;
}

static struct rq *list_take(struct list *l)
{
	struct rq *rq = l->head;

	l->head = rq->next;
	if (!l->head)
		l->tail = &l->head;
	return rq;
}

/* The paper's formula (1), set circularly; all chips if all are touched. */
static u64 vector(u64 sector, u32 sectors)
{
	u64 first = sector / PAGE_SECTORS;
	u64 pages = (sector + sectors - 1) / PAGE_SECTORS - first + 1;
	u64 bits;
	u32 at = (u32)(first % CHIPS);

	if (pages >= CHIPS)
		return ~0ULL;
	bits = (1ULL << pages) - 1;
	return at ? bits << at | bits >> (CHIPS - at) : bits;
}

static void refer(struct host *h, u64 vec, int by)
{
	for (; vec; vec &= vec - 1)
		h->refs[__builtin_ctzll(vec)] += (u32)by;
}

static bool meets(const struct host *h, u64 vec)
{
	for (; vec; vec &= vec - 1)
		if (h->refs[__builtin_ctzll(vec)])
			return true;
	return false;
}

/* Chips with incomplete operations of requests: a chip is free when its part is done. */
static u64 working(const struct drive *d)
{
	u64 busy = 0;
	u32 i, n;

	for (i = 0; i < nr_flight; i++) {
		const struct sim_rq *srq = flight[i];

		if (!srq->nr)
			busy |= trace[srq->seq].vec;
		for (n = 0; n < srq->nr; n++)
			if (!srq->cmd[n].done)
				busy |= 1ULL << nand_chip_of(&d->s->nand,
							     srq->cmd[n].lun);
	}
	return busy;
}

static void issue(struct host *h, struct drive *d, struct rq *rq)
{
	struct sim_rq *srq;
	u64 v;

	if (rq->write)
		write_waits[rq->seq] = false;
	while (h->oldest_write < h->arrived && !write_waits[h->oldest_write])
		h->oldest_write++;
	if (!rq->write && rq->seq >= skip)
		h->prioritised += h->oldest_write < rq->seq;
	rq->issued = d->now;
	h->queued--;
	h->out++;
	for (v = rq->vec; v; v &= v - 1)
		h->flying[__builtin_ctzll(v)]++;
	h->busy |= rq->vec;
	srq = drive_send(d, rq->write ? SIM_WRITE : SIM_READ, rq->sector,
			 rq->sectors);
	/* The drive does not use it for a read or a write. */
	srq->seq = rq->seq;
	if (exact)
		flight[nr_flight++] = srq;
}

static void join(struct host *h, struct rq *rq)
{
	struct batch **at = &h->batch[rq->write], *b;

	for (; (b = *at) != NULL; at = &b->next)
		if (!(b->vec & rq->vec) && !(begin == CLOSED && b->out))
			break;
	if (!b) {
		*at = b = calloc(1, sizeof(*b));
		list_init(&b->wait);
		h->batches++;
	}
	b->vec |= rq->vec;
	b->size++;
	h->batch_requests++;
	rq->batch = b;
	list_add(&b->wait, rq);
}

/* Moves requests that have arrived into the queue, as far as it has room. */
static void admit(struct host *h)
{
	while (h->outside.head && h->queued < h->length) {
		struct rq *rq = list_take(&h->outside);

		h->queued++;
		if (h->queued > h->queued_max)
			h->queued_max = h->queued;
		if (h->batched[rq->write])
			join(h, rq);
		else
			list_add(&h->fifo[h->scheme > NOOP && rq->write], rq);
	}
}

/* Does the head of a list stay until its last request has completed? */
static bool in_turn(void)
{
	return begin == ALONE || begin == LIST || begin == CLOSED;
}

static bool pending(const struct host *h, bool write)
{
	const struct batch *b;

	if (!h->batched[write])
		return h->fifo[write].head != NULL;
	for (b = h->batch[write]; b; b = b->next)
		if (b->wait.head || (in_turn() && b->out))
			return true;
	return false;
}

/* Begins the next phase: the reads that wait now, then the writes that wait now. */
static bool next_phase(struct host *h)
{
	bool write = h->was == READS ? pending(h, true) : !pending(h, false);
	struct batch *b;

	if (!pending(h, write))
		return false;
	h->phase = write ? WRITES : READS;
	h->end = UINT_MAX;
	if (h->batched[write]) {
		for (b = h->batch[write]; b->next; b = b->next)
			;
		b->last = true;
	} else {
		struct rq *rq;

		for (rq = h->fifo[write].head; rq; rq = rq->next)
			h->end = rq->seq;
	}
	return true;
}

static void end_phase(struct host *h)
{
	h->was = h->phase;
	h->phase = IDLE;
}

/* May the first waiting request of @b be issued, if all before it are issued? */
static bool may_go(const struct host *h, const struct batch *b)
{
	if (begin == ISSUED)
		return h->out < TAGS;
	if ((begin == LIST || begin == WHOLE) && !b->out)
		return !(h->busy & b->vec);
	return !(h->busy & b->wait.head->vec);
}

/*
 * A step if several batches of a turn may be in flight: they define the order, and
 * the turn ends when all are issued, or with TURN, have completed.
 */
static bool step_free(struct host *h, struct drive *d, bool write)
{
	struct batch **at = &h->batch[write], *b;
	bool last = false, out = false;

	while ((b = *at) != NULL && !last) {
		if (b->wait.head) {
			if (!may_go(h, b))
				return false;
			b->out++;
			issue(h, d, list_take(&b->wait));
			return true;
		}
		last = b->last;
		if (b->out) {
			out = true;
			at = &b->next;
			continue;
		}
		/* The batch that marks the end of the turn is needed until then. */
		if (last && out && begin == TURN)
			return false;
		*at = b->next;
		free(b);
	}
	if (out && begin == TURN)
		return false;
	/* The remaining requests are in flight; the next turn has a new last batch. */
	end_phase(h);
	for (b = h->batch[write]; b; b = b->next)
		b->last = false;
	return true;
}

/* Issues a step; false if nothing can be issued now. */
static bool step(struct host *h, struct drive *d)
{
	bool write = h->phase == WRITES;
	struct rq *rq;

	if (h->scheme == KERNEL || h->scheme == NOOP) {
		rq = h->fifo[0].head;
		if (!rq)
			return false;
		if (h->scheme == KERNEL ? h->out >= TAGS : (h->busy & rq->vec) != 0) {
			rq->blocked = h->scheme == NOOP;
			return false;
		}
		issue(h, d, list_take(&h->fifo[0]));
		return true;
	}
	if (h->phase == IDLE)
		return next_phase(h);
	if (h->batched[write] && !in_turn())
		return step_free(h, d, write);
	if (h->batched[write]) {
		struct batch *b = h->batch[write];

		if (!b->wait.head) {
			if (b->out)
				return false;
			/* All of its requests have completed. */
			h->batch[write] = b->next;
			if (b->last)
				end_phase(h);
			free(b);
			return true;
		}
		/* Requests of the previous phase are in the drive. */
		if (begin == LIST ? !may_go(h, b) : !b->out && h->out)
			return false;
		b->out++;
		issue(h, d, list_take(&b->wait));
		return true;
	}
	rq = h->fifo[write].head;
	if (!rq || rq->seq > h->end) {
		end_phase(h);
		return true;
	}
	if (h->busy & rq->vec)
		return false;
	issue(h, d, list_take(&h->fifo[write]));
	return true;
}

static void pump(struct host *h, struct drive *d)
{
	if (exact)
		h->busy = working(d);
	/* Each that is issued makes room for one more. */
	do
		admit(h);
	while (step(h, d));
}

static void arrive(struct host *h, struct rq *rq)
{
	rq->met = meets(h, rq->vec);
	refer(h, rq->vec, 1);
	if (rq->write)
		write_waits[rq->seq] = true;
	h->arrived = rq->seq + 1;
	list_add(&h->outside, rq);
}

static void complete(struct host *h, struct rq *rq, const struct sim_rq *srq)
{
	struct count *c = &h->count[rq->write];
	u64 v;

	refer(h, rq->vec, -1);
	/* With overlapping batches, or none, a chip may have several requests. */
	for (v = rq->vec; v; v &= v - 1)
		if (!--h->flying[__builtin_ctzll(v)])
			h->busy &= ~(v & -v);
	h->out--;
	if (rq->batch)
		rq->batch->out--;
	rq->batch = NULL;
	if (rq->seq < skip)
		return;
	c->nr++;
	c->latency += srq->done - rq->arrival;
	c->service += srq->done - srq->begun;
	c->wait += srq->begun - rq->arrival;
	c->met += rq->met;
	c->blocked += rq->blocked;
	if (rq->met)
		c->met_wait += srq->begun - rq->arrival;
}

static void report(const struct host *h, const struct drive *d, u64 span)
{
	static const char *const words[] = { "read", "write" };
	u64 active = d->s->nand.stats.active;
	int i;

	printf("{\"scheme\": \"%s\"", scheme_names[h->scheme]);
	for (i = 0; i < 2; i++) {
		const struct count *c = &h->count[i];
		double nr = c->nr ? (double)c->nr : 1;

		printf(", \"%ss\": %llu, \"%s_conflicts\": %llu, "
		       "\"%s_latency_ns\": %.1f, \"%s_wait_ns\": %.1f, "
		       "\"%s_conflict_wait_ns\": %.1f, "
		       "\"%s_service_ns\": %.1f, \"%s_blocked\": %llu", words[i],
		       (unsigned long long)c->nr, words[i],
		       (unsigned long long)c->met, words[i],
		       (double)c->latency / nr, words[i], (double)c->wait / nr,
		       words[i], (double)c->met_wait / nr, words[i],
		       (double)c->service / nr, words[i],
		       (unsigned long long)c->blocked);
	}
	printf(", \"busy_chips\": %.4f, \"active_s\": %.6f, "
	       "\"span_s\": %.6f, \"prioritised_reads\": %llu, "
	       "\"batches\": %llu, \"batch_size\": %.3f, "
	       "\"queued_max\": %u}\n",
	       active ? (double)d->s->nand.stats.busy / (double)active : 0,
	       (double)active / 1e9, (double)span / 1e9,
	       (unsigned long long)h->prioritised,
	       (unsigned long long)h->batches,
	       h->batches ? (double)h->batch_requests / (double)h->batches : 0,
	       h->queued_max);
}

/* Profile A's numbers; @gc: its garbage collection, on a 64th of its size */
static struct drive_cfg profile_a(enum nand_order order, bool gc)
{
	struct drive_cfg c = drive_plain(8, 8, 1);
	u64 pages = gc ? 1ULL << 20 : 64ULL << 20;

	c.sim.nand.order = order;
	c.sim.nand.ps_per_byte = 25000;
	c.sim.t_read = 20000;
	c.sim.t_prog = 200000;
	c.sim.t_erase = 1500000;
	c.sim.ps_link = 3333;
	c.sim.duplex = false;
	c.sim.fw_read = c.sim.fw_write = 0;
	c.sim.unit = c.sim.page = PAGE_SECTORS * SIM_SECTOR;
	c.sim.sectors = pages * PAGE_SECTORS;
	c.ftl.per_block = 64;
	if (gc) {
		/* A tenth more flash; collected when a tenth of that is left */
		c.ftl.gc = FTL_GC_CHIP;
		c.ftl.whole = true;
		c.spare = 22;
		c.ftl.low = 2;
		c.fill = (u32)pages;
	}
	return c;
}

static void run(enum scheme scheme, u32 length, const struct drive_cfg *cfg)
{
	struct drive d;
	struct host h;
	u32 at = 0, i;

	memset(&h, 0, sizeof(h));
	memset(write_waits, 0, nr_trace * sizeof(*write_waits));
	h.scheme = scheme;
	/* These order nothing. */
	h.length = scheme <= NOOP ? UINT_MAX : length;
	h.batched[0] = scheme == PIQ_R || scheme == PIQ;
	h.batched[1] = scheme == PIQ_W || scheme == PIQ;
	h.was = WRITES;
	list_init(&h.fifo[0]);
	list_init(&h.fifo[1]);
	list_init(&h.outside);
	for (i = 0; i < nr_trace; i++) {
		trace[i].batch = NULL;
		trace[i].blocked = false;
	}
	drive_open(&d, cfg);
	for (;;) {
		u64 t = sim_next(d.s);
		struct sim_rq *srq;

		if (at < nr_trace && trace[at].arrival <= t)
			t = trace[at].arrival;
		if (t == SIM_NEVER)
			break;
		drive_until(&d, t);
		for (srq = d.done; srq; srq = srq->next) {
			for (i = 0; i < nr_flight; i++)
				if (flight[i] == srq)
					flight[i--] = flight[--nr_flight];
			complete(&h, &trace[srq->seq], srq);
		}
		drive_reap(&d);
		for (; at < nr_trace && trace[at].arrival == t; at++) {
			if (at == skip)
				sim_reset_stats(d.s, t);
			arrive(&h, &trace[at]);
		}
		pump(&h, &d);
	}
	if (d.bad || d.sent != nr_trace || h.out || h.queued) {
		fprintf(stderr, "piqmodel: %s: %u requests left, %u queued, "
			"%d events out of order\n", scheme_names[scheme],
			nr_trace - (u32)d.sent, h.queued, d.bad);
		exit(1);
	}
	report(&h, &d, d.now - trace[skip].arrival);
	fflush(stdout);
	drive_close(&d);
}

static void die(const char *what, const char *text)
{
	fprintf(stderr, "piqmodel: %s '%s'\n", what, text);
	exit(2);
}

static unsigned int number(const char *text, unsigned int low,
			   unsigned int high)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || end == text || v < low || v > high)
		die("out of range:", text);
	return (unsigned int)v;
}

static void load(u64 sectors)
{
	unsigned long long ns, sector;
	unsigned int len, room = 0;
	u64 last = 0;
	char kind;

	while (scanf("%llu %c %llu %u", &ns, &kind, &sector, &len) == 4) {
		struct rq *rq;

		if (nr_trace == room) {
			room = room ? 2 * room : 4096;
			trace = realloc(trace, room * sizeof(*trace));
			if (!trace)
				die("no memory for", "the trace");
		}
		if (ns < last || !len || len > sectors ||
		    (kind != 'R' && kind != 'W'))
			die("bad line in", "the trace");
		last = ns;
		sector %= sectors;
		if (sector + len > sectors)
			sector = sectors - len;
		rq = &trace[nr_trace];
		memset(rq, 0, sizeof(*rq));
		rq->arrival = ns;
		rq->sector = sector;
		rq->sectors = len;
		rq->vec = vector(sector, len);
		rq->seq = nr_trace++;
		rq->write = kind == 'W';
	}
	if (!feof(stdin) || nr_trace <= skip)
		die("no trace in", "standard input");
	write_waits = calloc(nr_trace, sizeof(*write_waits));
}

int main(int argc, char **argv)
{
	static const char *const orders[] = {
		[NAND_CHIP_FIFO] = "chip_fifo", [NAND_READ_FIRST] = "read_first",
		[NAND_IN_ORDER] = "in_order",
	};
	const char *schemes = "noop,rws,piq_r,piq_w,piq";
	enum nand_order order = NAND_IN_ORDER;
	struct drive_cfg cfg;
	u32 length = 64;
	bool gc = false;
	int i;

	for (i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			die("want NAME=VALUE, not", argv[i]);
		*value++ = '\0';
		if (!strcmp(argv[i], "schemes")) {
			schemes = value;
		} else if (!strcmp(argv[i], "queue")) {
			length = number(value, 1, QUEUE_MAX);
		} else if (!strcmp(argv[i], "skip")) {
			skip = number(value, 0, UINT_MAX - 1);
		} else if (!strcmp(argv[i], "begin")) {
			u32 n;

			for (n = 0; n < NR_BEGINS &&
			     strcmp(begin_names[n], value); n++)
				;
			if (n == NR_BEGINS)
				die("no such begin:", value);
			begin = (enum begin)n;
		} else if (!strcmp(argv[i], "exact")) {
			exact = number(value, 0, 1);
		} else if (!strcmp(argv[i], "gc")) {
			gc = number(value, 0, 1);
		} else if (!strcmp(argv[i], "order")) {
			u32 n;

			for (n = 0; n < 3 && strcmp(orders[n], value); n++)
				;
			if (n == 3)
				die("no such order:", value);
			order = (enum nand_order)n;
		} else {
			die("no such option:", argv[i]);
		}
	}
	cfg = profile_a(order, gc);
	load(cfg.sim.sectors);
	while (*schemes) {
		size_t len = strcspn(schemes, ",");

		for (i = 0; i < NR_SCHEMES; i++)
			if (strlen(scheme_names[i]) == len &&
			    !strncmp(schemes, scheme_names[i], len))
				break;
		if (i == NR_SCHEMES)
			die("no such scheme:", schemes);
		run((enum scheme)i, length, &cfg);
		schemes += len + (schemes[len] == ',');
	}
	return 0;
}
