// SPDX-License-Identifier: GPL-2.0
/*
 * Tenants with closed loops on a modelled drive: throughput beside a device that
 * gets all at once, and whether each gets its share from the first moment on. Sizes
 * of the drive are a quarter of the profile's. P is D with each page in its place, so
 * that it is known which chip holds it. Argument: seed.
 */
#include "flashsim.h"
#include "modes.h"
#include "profiles.h"
#include "share.h"

#define TENANTS		4
#define WINDOW		50

/* Time from a completion to the next request of the task, ns */
#define RESENDS		2000

enum sched { NONE, ACFQ, HBFQ };

static const char * const names[] = { "none", "acfq", "hbfq" };

/**
 * struct bench - what runs
 * @profile: of the drive
 * @reads: of 100 requests
 * @kb: sizes, each as often
 * @weight: of each tenant; 0: there are no more
 * @depth: requests that each keeps outstanding
 * @ms: how long
 * @every: mean time for which a task runs, us
 * @stops: time for which it does not run then, us
 */
struct bench {
	char profile;
	u32 reads;
	u32 kb[2];
	u32 weight[TENANTS];
	u32 depth;
	u32 ms;
	u32 every;
	u32 stops;
};

struct result {
	u64 sectors;		/* that were moved */
	double pv;		/* in the unit charged */
	double gap;		/* of service, over what it may be */
	u32 windows;
	u32 turned;		/* windows in which a heavier one got less */
};

struct request {
	struct fair_rq *it;
	struct sim_rq *rq;
	u32 who;
	u64 charge;
	bool guess;		/* its cost was unknown */
	bool used;
};

static struct {
	const struct bench *b;
	enum sched sched;
	u32 nr, tags, out, most;
	unsigned long long seed;
	struct drive d;
	struct request rq[TENANTS * 64];
	/* Completions that tasks have not seen yet, by time */
	struct { u64 at; u32 who; } told[TENANTS * 64];
	u32 nr_told;
	struct request *line[TENANTS * 64];	/* without a scheduler */
	u32 first, last;
	u64 stopped[TENANTS], stops[TENANTS];
	u32 waiting[TENANTS], ended[TENANTS];
	double got[TENANTS], window[TENANTS], largest[TENANTS];
	double low[TENANTS][TENANTS], high[TENANTS][TENANTS];
	bool both[TENANTS][TENANTS];
	struct result r;
} f;

static u32 any(u32 n)
{
	return tap_rand(&f.seed) % n;
}

static struct drive_cfg profile(char name)
{
	struct drive_cfg cfg;

	switch (name) {
	case 'C':
		return profile_c(800);
	case 'D':
		return profile_d(952, NAND_CHIP_FIFO, false);
	}
	cfg = drive_plain(8, 2, 1);
	cfg.sim.fw_read = 21000;
	cfg.sim.fw_4k = 460;
	cfg.sim.vary = 100;
	cfg.sim.sectors = 400 << 11;
	return cfg;
}

/* Both have something waiting, or not any more: how far have they strayed? */
static void note(u32 i)
{
	u32 j;

	for (j = 0; j < f.nr; j++) {
		double is = f.got[i] / f.b->weight[i] -
			    f.got[j] / f.b->weight[j];
		double may = (f.most + 1) * (f.largest[i] / f.b->weight[i] +
					     f.largest[j] / f.b->weight[j]);

		/* Each pair once, with the sign of its first */
		if (i > j)
			is = -is;
		if (i == j)
			continue;
		if (!f.waiting[i] || !f.waiting[j]) {
			f.both[i][j] = f.both[j][i] = false;
			continue;
		}
		if (!f.both[i][j]) {
			f.both[i][j] = f.both[j][i] = true;
			f.low[i][j] = f.low[j][i] = is;
			f.high[i][j] = f.high[j][i] = is;
		}
		if (is < f.low[i][j])
			f.low[i][j] = f.low[j][i] = is;
		if (is > f.high[i][j])
			f.high[i][j] = f.high[j][i] = is;
		if (f.high[i][j] - f.low[i][j] > f.r.gap * may)
			f.r.gap = (f.high[i][j] - f.low[i][j]) / may;
	}
}

static void window(u32 who, double charge)
{
	u32 i, j, few = 0;

	f.window[who] += charge;
	for (i = 1; i < f.nr; i++)
		few = f.b->weight[i] < f.b->weight[few] ? i : few;
	if (who != few || ++f.ended[few] % WINDOW)
		return;
	f.r.windows++;
	for (i = 0; i < f.nr; i++) {
		for (j = 0; j < f.nr; j++) {
			if (f.b->weight[i] > f.b->weight[j] &&
			    f.window[i] < f.window[j])
				break;
		}
		if (j < f.nr)
			break;
	}
	f.r.turned += i < f.nr;
	memset(f.window, 0, sizeof(f.window));
}

static void sends_one(u32 who)
{
	u32 sectors = 2 * f.b->kb[any(2)], i = 0;
	u64 part = f.d.c.sim.sectors / TENANTS;
	u64 sector = who * part + (u64)any((u32)(part / sectors)) * sectors;
	enum flash_dir dir = any(100) < f.b->reads ? FLASH_READ : FLASH_WRITE;
	struct request *r;

	while (f.rq[i].used)
		i++;
	r = &f.rq[i];
	r->it = &m.it[i];
	r->who = who;
	r->used = true;
	r->guess = false;
	f.waiting[who]++;
	memset(r->it, 0, sizeof(*r->it));
	if (f.sched == NONE) {
		fair_describe(r->it, dir, true, sector, sectors);
		f.line[f.last++ % (TENANTS * 64)] = r;
		return;
	}
	m.now = f.d.now;
	adds(r->it, tenant(who + 1, f.b->weight[who]), dir, true, sector,
	     sectors);
}

static void issue(struct request *r)
{
	f.waiting[r->who]--;
	if (!f.waiting[r->who])
		note(r->who);
	f.out++;
	f.most = f.out > f.most ? f.out : f.most;
	r->rq = drive_send(&f.d, r->it->dir == FLASH_READ ? SIM_READ : SIM_WRITE,
			   r->it->sector, r->it->sectors);
}

/* Issue all requests that can be issued. Return: time of the next choice, or SIM_NEVER */
static u64 dispatch(void)
{
	while (f.out < f.tags) {
		struct fair_rq *it;
		struct request *r;
		u64 cost;

		if (f.sched == NONE) {
			if (f.first == f.last)
				break;
			issue(f.line[f.first++ % (TENANTS * 64)]);
			continue;
		}
		if (f.out >= fair_limit(&m.s))
			break;
		it = fair_next(&m.s, f.d.now);
		if (!it)
			return m.s.wake ? m.s.wake : SIM_NEVER;
		r = &f.rq[it - m.it];
		cost = it->tenant->stats.cost;
		r->guess = f.sched == HBFQ &&
			   !flash_cost_ns(&m.s.dev.cost, it->dir, it->sectors);
		fair_issue(&m.s, it, f.d.now);
		r->charge = it->tenant->stats.cost - cost;
		issue(r);
	}
	return SIM_NEVER;
}

/* When a task hears of an end, which is later if it does not run. */
static u64 hears(u32 who)
{
	u64 at = f.d.now + RESENDS;

	if (!f.b->every)
		return at;
	if (f.d.now >= f.stops[who]) {
		if (f.stops[who])
			f.stopped[who] = f.d.now + f.b->stops * 1000ULL;
		f.stops[who] = f.d.now + (f.stops[who] ? f.b->stops * 1000 : 0) +
			       any(2 * f.b->every) * 1000ULL;
	}
	return at > f.stopped[who] ? at : f.stopped[who];
}

static void ended(struct sim_rq *rq)
{
	struct request *r = f.rq;
	double charge;
	u64 at;
	u32 i;

	while (!r->used || r->rq != rq)
		r++;
	if (f.sched != NONE)
		fair_release(&m.s, r->it, true, f.d.now);
	if (r->guess)
		r->charge = fair_charge(&m.s, r->it);
	charge = (double)(f.sched == NONE ? r->it->sectors : r->charge);
	f.r.sectors += r->it->sectors;
	f.got[r->who] += charge;
	if (charge > f.largest[r->who])
		f.largest[r->who] = charge;
	note(r->who);
	window(r->who, charge);
	r->used = false;
	r->rq = NULL;
	f.out--;
	at = hears(r->who);
	for (i = f.nr_told++; i && f.told[i - 1].at > at; i--)
		f.told[i] = f.told[i - 1];
	f.told[i].at = at;
	f.told[i].who = r->who;
}

static void begin(void)
{
	struct fair_rules rules = {
		.antic = true, .antic_max = 2000000, .depth = 8,
	};
	struct flash_geometry geo = { 0 };

	if (f.sched == HBFQ)
		hbfq_set_rules(&hbfq_defaults, HBFQ_AUTO, FAIR_CHARGE_TIME, &rules);
	else
		acfq_set_rules(&acfq_defaults, ACFQ_AUTO, FAIR_CHARGE_SECTORS, &rules);
	model_init(&rules);
	if (f.b->profile == 'P') {
		flash_geometry_parse("page=4096 chips=16", &geo);
		lays_out(&geo);
	}
}

static struct result run(enum sched sched, const struct bench *b,
			 unsigned long long seed)
{
	struct drive_cfg cfg = profile(b->profile);
	u64 end = b->ms * 1000000ULL, again;
	u32 i, n, least = 0;

	memset(&f, 0, sizeof(f));
	f.b = b;
	f.sched = sched;
	f.seed = seed;
	f.tags = b->profile == 'C' ? 32 : 1023;
	cfg.sim.seed = (u32)seed;
	while (f.nr < TENANTS && b->weight[f.nr])
		f.nr++;
	drive_open(&f.d, &cfg);
	begin();
	for (n = 0; n < b->depth; n++) {
		for (i = 0; i < f.nr; i++)
			sends_one(i);
	}
	again = dispatch();
	while (f.d.now < end) {
		u64 t = sim_next(f.d.s);

		if (f.nr_told && f.told[0].at < t)
			t = f.told[0].at;
		if (again < t)
			t = again;
		drive_until(&f.d, t < end ? t : end);
		while (f.d.done) {
			struct sim_rq *rq = f.d.done;

			f.d.done = rq->next;
			ended(rq);
			free(rq);
			again = dispatch();
		}
		f.d.done_tail = &f.d.done;
		while (f.nr_told && f.told[0].at <= f.d.now) {
			sends_one(f.told[0].who);
			memmove(f.told, f.told + 1,
				--f.nr_told * sizeof(f.told[0]));
			again = dispatch();
		}
		if (again <= f.d.now)
			again = dispatch();
	}
	for (i = 0; i < f.nr; i++)
		least = b->weight[i] < b->weight[least] ? i : least;
	for (i = 0; i < f.nr; i++) {
		double off = f.got[i] / f.got[least] -
			     (double)b->weight[i] / b->weight[least];

		f.r.pv += (off < 0 ? -off : off) / f.nr;
	}
	drive_close(&f.d);
	return f.r;
}

static const struct {
	const char *what;
	u32 kept;		/* of none's throughput, per cent */
	struct bench b;
} benches[] = {
	{ "4 KiB reads, 1:2:4:5", 95,
	  { 'D', 100, { 4, 4 }, { 100, 200, 400, 500 }, 64, 100, 0, 0 } },
	{ "4 KiB reads, 1:1:1:1", 97,
	  { 'D', 100, { 4, 4 }, { 100, 100, 100, 100 }, 32, 100, 0, 0 } },
	{ "reads and writes, 1:2:4:5", 93,
	  { 'D', 70, { 4, 16 }, { 100, 200, 400, 500 }, 64, 300, 0, 0 } },
	/* Two of three requests belong to a tenant that has 64: all are in the drive. */
	{ "reads and writes, 1:1:1:10", 75,
	  { 'D', 70, { 4, 16 }, { 100, 100, 100, 1000 }, 64, 300, 0, 0 } },
	/* 5 of 12 would be more than the 32 that it has, were more in there. */
	{ "4 KiB reads, 1:2:4:5, few of each", 92,
	  { 'D', 100, { 4, 4 }, { 100, 200, 400, 500 }, 32, 100, 0, 0 } },
	/* No more of them are in there, but those with the least loaded chips. */
	{ "4 KiB reads, 1:2:4:5, few of each, chips known", 97,
	  { 'P', 100, { 4, 4 }, { 100, 200, 400, 500 }, 32, 100, 0, 0 } },
	{ "4 KiB reads, 1:2:4:5, tasks that stop", 92,
	  { 'D', 100, { 4, 4 }, { 100, 200, 400, 500 }, 32, 100, 5000, 300 } },
	{ "one alone", 98, { 'D', 79, { 8, 32 }, { 100 }, 32, 100, 0, 0 } },
	{ "a SATA drive, 1:2:4:5", 97,
	  { 'C', 79, { 8, 32 }, { 100, 200, 400, 500 }, 32, 400, 0, 0 } },
};

int main(int argc, char **argv)
{
	unsigned long long seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 101;
	u32 i;

	for (i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
		const struct bench *b = &benches[i].b;
		struct result none = run(NONE, b, seed), r;
		enum sched s;

		for (s = ACFQ; s <= HBFQ; s++) {
			r = run(s, b, seed);
			eq(100 * r.sectors >= benches[i].kept * none.sectors, 1,
			   "%s, %s: %.1f %% of the throughput without",
			   benches[i].what, names[s],
			   100.0 * (double)r.sectors / (double)none.sectors);
			eq(r.pv <= 0.1, 1, "PV %.3f", r.pv);
			eq(r.gap <= 1, 1, "service differs by %.2f of what it may",
			   r.gap);
			/*
			 * A task that does not run sends nothing, and of
			 * unlike requests 50 are few.
			 */
			eq(r.turned <= (b->every ? 1 + r.windows / 8 :
					b->kb[0] != b->kb[1]), 1,
			   "%u windows of %u in which a heavier one got less",
			   r.turned, r.windows);
		}
	}
	return tap_done();
}
