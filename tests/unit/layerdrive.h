/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layerdrive.h - discrete-event simulation of a drive under Layer_Read and other orders
 *
 * The drive is flashsim's model, and Layer_Read the module's own code. Requests are queued,
 * and at each event the host dispatches as many as the scheduler and the drive's tags
 * allow, as the module does. CPU time is not modelled.
 */
#ifndef LAYER_DRIVE_H
#define LAYER_DRIVE_H

#include "flashsim.h"
#include "layerhooks.h"
#include "profiles.h"

/* Largest number of requests that wait or are in flight */
#define HOST_MAX	2048

enum host_order { HOST_NONE, HOST_DEADLINE, HOST_LAYER, HOST_SEER };

/**
 * struct host_seer - an order for comparison, by state that no host can see
 * @programs: largest number of programs in the drive at which a write is dispatched; no
 *	other write may be on its way to the buffer either
 * @gap: shortest time between two writes, ns
 * @drained: if set, reads wait until the drive has no program, and writes until no read
 *	waits or this number of reads in a row was dispatched; 0: reads never wait
 */
struct host_seer {
	u32 programs;
	u64 gap;
	u32 drained;
};

/**
 * struct host_rq - a request
 * @part: its part in the order, whichever scheduler is used
 * @srq: the drive's request; NULL: it waits
 * @arrived: time of its arrival, ns
 * @user: number that the load gave it
 * @used: it waits or is in flight
 */
struct host_rq {
	struct layer_part part;
	struct sim_rq *srq;
	u64 arrived;
	u32 user;
	bool used;
};

/**
 * struct host - the scheduler between the loads and a drive
 * @order: which order is used
 * @tags: requests that the drive accepts
 * @max: Layer_Read's max_inflight
 * @see: parameters of the order for comparison
 * @s: Layer_Read
 * @rq: requests
 * @line: waiting requests of each direction, by arrival; with HOST_NONE all are in the
 *	first one
 * @nr: length of each @line
 * @seq: sequence number of the latest request
 * @out: requests in flight
 * @out_max: largest value of @out
 * @out_of: requests in flight by direction
 * @sent: time at which the latest write was dispatched, ns; 0: none was
 * @batch: mq-deadline and drained: requests in a row
 * @starved: mq-deadline: batches of reads that made writes wait
 * @dir: mq-deadline and drained: direction of the batch
 * @at: mq-deadline: sector after the latest request, by direction
 * @drive: the drive
 * @begin: called before a request is dispatched, or NULL
 * @end: called when a request has completed, before the next dispatch
 * @load: the load's data
 */
struct host {
	enum host_order order;
	u32 tags;
	u32 max;
	struct host_seer see;
	struct layer_sched s;
	struct host_rq rq[HOST_MAX];
	u32 line[FLASH_NR_DIRS][HOST_MAX];
	u32 nr[FLASH_NR_DIRS];
	u64 seq;
	u32 out, out_max;
	u32 out_of[FLASH_NR_DIRS];
	u64 sent;
	u32 batch, starved;
	enum flash_dir dir;
	u64 at[FLASH_NR_DIRS];
	struct drive drive;
	void (*begin)(struct host *h, struct host_rq *rq);
	void (*end)(struct host *h, struct host_rq *rq);
	void *load;
};

static inline struct host_rq *host_add(struct host *h, u32 user,
				       enum flash_dir dir, u64 sector,
				       u32 sectors)
{
	struct host_rq *rq;
	u32 i, line;

	for (i = 0; i < HOST_MAX && h->rq[i].used; i++)
		;
	if (i == HOST_MAX) {
		printf("Bail out! more than %d requests\n", HOST_MAX);
		exit(EXIT_FAILURE);
	}
	rq = &h->rq[i];
	memset(rq, 0, sizeof(*rq));
	rq->used = true;
	rq->user = user;
	rq->arrived = h->drive.now;
	if (h->order == HOST_LAYER) {
		hook_insert(&h->s, &rq->part, ++h->seq, dir, sector, sectors,
			  h->drive.now);
	} else {
		rq->part.dir = dir;
		rq->part.sector = sector;
		rq->part.sectors = sectors;
		line = h->order == HOST_NONE ? FLASH_READ : dir;
		h->line[line][h->nr[line]++] = i;
	}
	return rq;
}

static inline struct host_rq *host_leave(struct host *h, u32 line, u32 n)
{
	struct host_rq *rq = &h->rq[h->line[line][n]];

	h->nr[line]--;
	memmove(&h->line[line][n], &h->line[line][n + 1],
		(h->nr[line] - n) * sizeof(h->line[line][0]));
	return rq;
}

/* mq-deadline with its defaults; deadlines are too long to matter. */
static inline struct host_rq *host_deadline(struct host *h)
{
	u32 n, best;
	u64 ahead, least = ~0ULL;
	struct host_rq *rq;

	if (!h->nr[FLASH_READ] && !h->nr[FLASH_WRITE])
		return NULL;
	for (n = 0; n < h->nr[h->dir]; n++)
		if (h->rq[h->line[h->dir][n]].part.sector >= h->at[h->dir])
			break;
	if (n == h->nr[h->dir] || ++h->batch > 16) {
		h->batch = 1;
		if (h->nr[FLASH_READ] &&
		    (!h->nr[FLASH_WRITE] || h->starved < 2)) {
			h->dir = FLASH_READ;
			h->starved += h->nr[FLASH_WRITE] != 0;
		} else {
			h->dir = FLASH_WRITE;
			h->starved = 0;
		}
	}
	best = 0;
	for (n = 0; n < h->nr[h->dir]; n++) {
		/* The next one upwards, else the lowest */
		ahead = h->rq[h->line[h->dir][n]].part.sector - h->at[h->dir];
		if (ahead < least) {
			least = ahead;
			best = n;
		}
	}
	rq = host_leave(h, h->dir, best);
	h->at[h->dir] = rq->part.sector + rq->part.sectors;
	return rq;
}

/* Time from which host_seer.gap allows a write */
static inline u64 host_write_due(const struct host *h)
{
	return h->sent ? h->sent + h->see.gap : 0;
}

/* The order for comparison */
static inline struct host_rq *host_seer(struct host *h)
{
	u32 programs = h->drive.s->prog_busy;
	bool read = h->nr[FLASH_READ];
	bool write = h->nr[FLASH_WRITE] && !h->out_of[FLASH_WRITE] &&
		     programs <= h->see.programs && h->drive.now >= host_write_due(h);

	if (h->see.drained) {
		if (h->dir == FLASH_WRITE && read && h->batch) {
			h->dir = FLASH_READ;
			h->batch = 0;
		} else if (h->dir == FLASH_READ && h->nr[FLASH_WRITE] &&
			   ((!read && !h->out_of[FLASH_READ]) ||
			    h->batch >= h->see.drained)) {
			h->dir = FLASH_WRITE;
			h->batch = 0;
		}
		read = read && h->dir == FLASH_READ && !programs &&
		       !h->out_of[FLASH_WRITE];
		write = write && h->dir == FLASH_WRITE;
	}
	if (!read && !write)
		return NULL;
	h->batch++;
	if (read)
		return host_leave(h, FLASH_READ, 0);
	h->sent = h->drive.now;
	return host_leave(h, FLASH_WRITE, 0);
}

static inline void host_pump(struct host *h)
{
	struct host_rq *rq;

	for (;;) {
		if (h->out >= h->tags)
			return;
		if (h->order == HOST_LAYER) {
			struct layer_part *part;

			if (layer_holds(&h->s) ||
			    (h->max && h->out >= h->max))
				return;
			part = layer_select(&h->s, h->drive.now);
			if (!part)
				return;
			layer_start(&h->s, part);
			rq = container_of(part, struct host_rq, part);
		} else if (h->order == HOST_DEADLINE) {
			rq = host_deadline(h);
		} else if (h->order == HOST_SEER) {
			rq = host_seer(h);
		} else {
			rq = h->nr[0] ? host_leave(h, 0, 0) : NULL;
		}
		if (!rq)
			return;
		if (++h->out > h->out_max)
			h->out_max = h->out;
		h->out_of[rq->part.dir]++;
		if (h->begin)
			h->begin(h, rq);
		rq->srq = drive_send(&h->drive,
				     rq->part.dir == FLASH_READ ? SIM_READ :
				     SIM_WRITE, rq->part.sector, rq->part.sectors);
	}
}

/* Advance to the next event; false: there is none. */
static inline bool host_step(struct host *h)
{
	struct sim_rq *srq;
	u32 i;

	host_pump(h);
	/* A write may be due before the drive's next event. */
	if (h->see.gap && h->nr[FLASH_WRITE] && host_write_due(h) > h->drive.now &&
	    host_write_due(h) < sim_next(h->drive.s))
		drive_until(&h->drive, host_write_due(h));
	else if (!drive_step(&h->drive))
		return false;
	for (srq = h->drive.done; srq; srq = srq->next) {
		for (i = 0; h->rq[i].srq != srq; i++)
			;
		h->out--;
		h->out_of[h->rq[i].part.dir]--;
		if (h->order == HOST_LAYER)
			hook_completed(&h->s, &h->rq[i].part, true, h->drive.now);
		h->rq[i].srq = NULL;
		h->end(h, &h->rq[i]);
		h->rq[i].used = false;
	}
	drive_reap(&h->drive);
	return true;
}

static inline void host_open(struct host *h, enum host_order order,
			     const struct drive_cfg *cfg, u32 tags)
{
	static const struct layer_tunables usual = {
		.chips = 8, .per_layer = 8, .batch = { 16, 20 },
		.expire = { 500000000, 5000000000 },
	};

	memset(h, 0, sizeof(*h));
	h->order = order;
	h->tags = tags;
	layer_init(&h->s);
	hook_set(&h->s, &usual, cfg->sim.sectors);
	drive_open(&h->drive, cfg);
}

static inline void host_layer(struct host *h, enum layer_mode mode,
			      const char *layout)
{
	struct layer_tunables tun = h->s.tun;

	tun.mode = mode;
	tun.max_inflight = h->max;
	if (flash_geometry_parse(layout, &tun.layout)) {
		printf("Bail out! bad layout %s\n", layout);
		exit(EXIT_FAILURE);
	}
	hook_set(&h->s, &tun, h->drive.c.sim.sectors);
}

static inline void host_close(struct host *h)
{
	drive_close(&h->drive);
}

/* Loads */

/**
 * struct mix - a constant number of requests outstanding
 * @seed: of random directions and addresses
 * @read_pct: percentage of reads
 * @sectors: length of each request
 * @sequential: addresses rise, else they are random
 * @next: number of the next address, if @sequential
 * @skip: completions before the measurement
 * @nr: completions in all
 * @ended: completions so far
 * @begun: start of the measurement, ns
 * @moved: bytes moved since then
 * @ns: latencies by direction
 * @count: length of @ns
 */
struct mix {
	unsigned long long seed;
	u32 read_pct;
	u32 sectors;
	bool sequential;
	u64 next;
	u32 skip, nr, ended;
	u64 begun, moved;
	u64 *ns[FLASH_NR_DIRS];
	u32 count[FLASH_NR_DIRS];
};

static inline void mix_send(struct host *h)
{
	struct mix *m = h->load;
	u64 places = h->drive.c.sim.sectors / m->sectors, at;
	bool read = tap_rand(&m->seed) % 100 < m->read_pct;

	at = m->sequential ? m->next++ : tap_rand(&m->seed);
	host_add(h, 0, read ? FLASH_READ : FLASH_WRITE,
		 at % places * m->sectors, m->sectors);
}

static inline void mix_end(struct host *h, struct host_rq *rq)
{
	struct mix *m = h->load;
	enum flash_dir dir = rq->part.dir;

	if (++m->ended == m->skip)
		m->begun = h->drive.now;
	if (m->ended > m->skip) {
		m->moved += (u64)m->sectors * SIM_SECTOR;
		m->ns[dir][m->count[dir]++] = h->drive.now - rq->arrived;
	}
	mix_send(h);
}

static inline int by_ns(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* A quantile of the latencies of a direction, us */
static inline double mix_us(struct mix *m, enum flash_dir dir, double q)
{
	u32 nr = m->count[dir];

	if (!nr)
		return 0;
	qsort(m->ns[dir], nr, sizeof(u64), by_ns);
	return (double)m->ns[dir][(u32)((nr - 1) * q)] / 1e3;
}

/* Run the load; returns MB/s. */
static inline double mix_run(struct host *h, struct mix *m, u32 depth)
{
	u32 dir;

	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		m->ns[dir] = calloc(m->nr + 1, sizeof(u64));
		m->count[dir] = 0;
	}
	m->ended = 0;
	m->moved = 0;
	m->begun = 0;
	h->load = m;
	h->end = mix_end;
	while (depth--)
		mix_send(h);
	while (m->ended < m->nr && host_step(h))
		;
	return (double)m->moved * 1e3 / (double)(h->drive.now - m->begun);
}

static inline void mix_free(struct mix *m)
{
	free(m->ns[FLASH_READ]);
	free(m->ns[FLASH_WRITE]);
}

/*
 * Processes that read a file each sequentially through the page cache. Read-ahead windows
 * double up to the largest one. The next window is requested when the process reaches
 * the latest one. Reading cached data takes no time.
 */

#define READERS		16
#define WINDOWS		128

/**
 * struct reader - a process
 * @base: first sector of its file
 * @asked: amount requested so far, KiB
 * @nr: number of windows so far
 * @at: window that it reads
 * @left: requests of each window that have not completed
 * @end: end of each window, KiB
 * @done: time at which it had read enough, ns; 0: it has not
 */
struct reader {
	u64 base;
	u32 asked;
	u32 nr, at;
	u32 left[WINDOWS];
	u32 end[WINDOWS];
	u64 done;
};

/**
 * struct readers - all processes
 * @one: the processes
 * @wants: amount that each process reads, KiB
 * @file: length of each file, KiB
 * @window: largest window, KiB
 * @reading: number of processes that are not done
 */
struct readers {
	struct reader one[READERS];
	u32 wants, file, window;
	u32 reading;
};

/* Request a window, 512 KiB at most in each request; user: reader and window */
static inline void reader_ask(struct host *h, struct readers *all, u32 i)
{
	struct reader *r = &all->one[i];
	u32 kb = !r->nr ? 64 : 2 * (r->end[r->nr - 1] -
				    (r->nr > 1 ? r->end[r->nr - 2] : 0));
	u32 len;

	if (kb > all->window)
		kb = all->window;
	if (kb > all->file - r->asked)
		kb = all->file - r->asked;
	if (!kb)
		return;
	if (r->nr == WINDOWS) {
		printf("Bail out! more than %d windows\n", WINDOWS);
		exit(EXIT_FAILURE);
	}
	for (; kb; kb -= len) {
		len = kb < 512 ? kb : 512;
		host_add(h, i * WINDOWS + r->nr, FLASH_READ,
			 r->base + r->asked * 2, len * 2);
		r->asked += len;
		r->left[r->nr]++;
	}
	r->end[r->nr++] = r->asked;
}

/* Read as far as cached data allow. */
static inline void reader_go(struct host *h, struct readers *all, u32 i)
{
	struct reader *r = &all->one[i];

	while (!r->done && !r->left[r->at]) {
		if (r->end[r->at] >= all->wants) {
			r->done = h->drive.now;
			all->reading--;
			return;
		}
		r->at++;
		if (r->at == r->nr - 1)
			reader_ask(h, all, i);
	}
}

static inline void reader_end(struct host *h, struct host_rq *rq)
{
	struct readers *all = h->load;
	u32 i = rq->user / WINDOWS;

	all->one[i].left[rq->user % WINDOWS]--;
	reader_go(h, all, i);
}

/* MB/s of wanted data until the last reader is done; @active: MB/s of the drive */
static inline double readers_run(struct host *h, struct readers *all,
				 double *active)
{
	u64 begun = h->drive.now, end, bytes = 0;
	u32 i;

	h->load = all;
	h->end = reader_end;
	all->reading = READERS;
	for (i = 0; i < READERS; i++) {
		all->one[i].base = (u64)i * 64 * 2048;
		reader_ask(h, all, i);
		if (all->one[i].end[0] < all->wants)
			reader_ask(h, all, i);
	}
	while (all->reading && host_step(h))
		;
	end = h->drive.now;
	h->end = reader_end;
	while (host_step(h))
		;
	for (i = 0; i < READERS; i++)
		bytes += (u64)all->one[i].asked * 1024;
	*active = (double)bytes * 1e3 / (double)(h->drive.now - begun);
	return (double)READERS * all->wants * 1024 * 1e3 / (double)(end - begun);
}

#endif /* LAYER_DRIVE_H */
