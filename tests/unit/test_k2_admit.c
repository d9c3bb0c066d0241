// SPDX-License-Identifier: GPL-2.0
/*
 * What K2 lets in beyond counting, on a model of its queues and of a device: the
 * decisions (k2_admit.h, k2_order.h, slot.h) and the calls are the module's own.
 */
#include "common/elevator/slot.h"
#include "k2/k2_admit.h"
#include "k2/k2_order.h"
#include "tap.h"

#define MAX_RQ	4096

struct rq {
	struct k2_admit_rq in;
	unsigned int class;
	bool gone, out;
};

struct dev {
	struct k2_admit a;
	struct k2_order o;
	struct k2_idle idle;
	struct rq rq[MAX_RQ];
	unsigned int nr, inflight, bound, waiting[K2_NR_CLASSES];
	unsigned int meta_every;
	bool held;
	u64 now;
	int last;
};

static struct dev d;

static void dev_init(unsigned int bound)
{
	memset(&d, 0, sizeof(d));
	d.bound = bound;
	d.meta_every = 16;
	d.now = 1000000;
}

/* As k2_watch_hold(). */
static void hold(void)
{
	bool rt = d.o.busy & K2_RT_MASK;

	d.held = d.o.busy && (k2_admit_full(&d.a, d.bound) ||
			      (!rt && k2_admit_kept(&d.a, d.bound)));
}

static int head(unsigned int class)
{
	unsigned int i;

	for (i = 0; i < d.nr; i++)
		if (!d.rq[i].gone && d.rq[i].class == class)
			return (int)i;
	return -1;
}

/* As k2_watch_pick() and k2_started(). */
static bool dispatch_one(void)
{
	unsigned int class;
	int meta = head(K2_META), nrt = head(K2_NRT), i;
	bool first = meta >= 0 && nrt >= 0 && meta < nrt;

	if (!d.o.busy || d.held || !flash_slot_free((int)d.inflight, d.bound))
		return false;
	if (!(d.o.busy & K2_RT_MASK)) {
		class = k2_pick(&d.o, first, 0);
	} else if (k2_admit_kept(&d.a, d.bound)) {
		class = k2_pick_rt(&d.o);
	} else {
		class = k2_pick(&d.o, first, d.meta_every);
		if ((d.o.busy & K2_REST_MASK) && class < K2_RT_LEVELS &&
		    k2_admit_due(&d.a, d.now))
			class = K2_NRT;
	}
	if (class == K2_NRT)
		k2_admit_waits(&d.a, d.now);
	if (d.o.busy & (1U << K2_IDLE)) {
		int other = class == K2_META ? meta : nrt;
		bool older = other >= 0 && head(K2_IDLE) < other;

		class = k2_pick_idle(&d.o, class,
				     k2_idle_due(&d.idle, d.now, older));
		k2_idle_served(&d.idle, class, other >= 0, d.now);
	}
	i = head(class);
	d.rq[i].gone = true;
	d.rq[i].out = true;
	if (!--d.waiting[class])
		d.o.busy &= ~(1U << class);
	d.inflight++;
	k2_admit_take(&d.a, &d.rq[i].in, d.now);
	hold();
	d.last = i;
	return true;
}

static unsigned int dispatch(void)
{
	unsigned int n = 0;

	while (dispatch_one())
		n++;
	return n;
}

static int insert(unsigned int class, enum flash_dir dir, u32 sectors)
{
	struct rq *rq = &d.rq[d.nr];

	memset(rq, 0, sizeof(*rq));
	rq->class = class;
	rq->in.rt = class < K2_RT_LEVELS;
	rq->in.dir = dir;
	rq->in.sectors = sectors;
	d.waiting[class]++;
	if (class >= K2_NRT && d.waiting[K2_NRT] + d.waiting[K2_IDLE] == 1)
		k2_admit_waits(&d.a, d.now);
	if (class == K2_IDLE && d.waiting[K2_IDLE] == 1)
		d.idle.since = d.now;
	d.o.busy |= 1U << class;
	hold();
	return (int)d.nr++;
}

static void leaves(int i, bool ended)
{
	d.rq[i].out = false;
	k2_admit_give(&d.a, &d.rq[i].in, ended, d.now);
	d.inflight--;
	hold();
}

static void done(int i)
{
	leaves(i, true);
}

static void reserve(void)
{
	int i, late;

	dev_init(4);
	d.a.reserve = 1;
	for (i = 0; i < 10; i++)
		insert(K2_NRT, FLASH_READ, 8);
	eq(dispatch(), 3, "bound 4, one kept: three of best effort go");
	eq(d.held, 1, "the others are held");
	late = insert(0, FLASH_READ, 8);
	eq(d.held, 0, "until a real-time request comes");
	eq(dispatch(), 1, "which goes at once");
	eq(d.last, late, "before those that wait");
	done(late);
	eq(dispatch(), 0, "its slot stays kept");
	insert(K2_META, FLASH_READ, 8);
	eq(dispatch(), 0, "from metadata, too");
	done(0);
	eq(dispatch(), 1, "best effort's own is best effort's");

	dev_init(1);
	d.a.reserve = 5;
	insert(K2_NRT, FLASH_READ, 8);
	eq(dispatch(), 1, "best effort has one slot at least");
	dev_init(3);
	d.a.reserve = 1;
	for (i = 0; i < 10; i++)
		insert(K2_NRT, FLASH_READ, 8);
	for (i = 0; i < 40; i++)
		insert(3, FLASH_READ, 8);
	insert(K2_META, FLASH_READ, 8);
	eq(dispatch(), 3, "real-time requests may have all");
	eq(d.a.rest, 0, "and take all");
}

/* Metadata that is due, with no slot for it, has its turn when there is one. */
static void reserve_and_meta(void)
{
	int first, i;

	dev_init(2);
	d.a.reserve = 1;
	d.meta_every = 2;
	first = insert(K2_NRT, FLASH_READ, 8);
	dispatch();
	insert(K2_META, FLASH_READ, 8);
	for (i = 0; i < 10; i++)
		insert(0, FLASH_READ, 8);
	for (i = 0; i < 5; i++) {
		eq(dispatch(), 1, "a real-time request goes");
		eq(d.rq[d.last].class, 0, "metadata has to wait");
		done(d.last);
	}
	done(first);
	dispatch_one();
	eq(d.rq[d.last].class, K2_META, "best effort's slot is free: metadata");
}

static void starvation(void)
{
	unsigned int i, turns = 0, apart = 0, most = 0;

	dev_init(1);
	d.a.wait_ns = 50000000;
	insert(0, FLASH_READ, 8);
	insert(K2_NRT, FLASH_READ, 8);
	dispatch();
	for (i = 0; i < 1000; i++) {
		insert(0, FLASH_READ, 8);
		insert(0, FLASH_READ, 8);
		insert(K2_NRT, FLASH_READ, 8);
		d.now += 1000000;
		done(d.last);
		dispatch();
		apart++;
		if (d.rq[d.last].class == K2_NRT) {
			turns++;
			if (apart > most)
				most = apart;
			apart = 0;
		}
	}
	eq(turns, 20, "a second of flood, a cap of 50 ms: 20 turns");
	eq(most, 50, "50 ms apart, whatever the backlog");
	d.now -= 600000000;
	done(d.last);
	dispatch();
	d.now += 50000000;
	done(d.last);
	dispatch();
	eq(d.rq[d.last].class, K2_NRT, "a clock that is set back: its turn comes");

	dev_init(1);
	insert(K2_NRT, FLASH_READ, 8);
	for (i = 0; i < 1000; i++) {
		insert(0, FLASH_READ, 8);
		dispatch();
		turns += d.rq[d.last].class == K2_NRT && i;
		d.now += 1000000000;
		done(d.last);
		insert(0, FLASH_READ, 8);
	}
	eq(turns, 20, "no cap: never");
}

/* A device with as many servers as requests: each takes its time. */
static void learns(void)
{
	int small[4], large, i, round;

	dev_init(64);
	d.a.by_cost = true;
	eq(k2_admit_slots(&d.a, FLASH_WRITE, 2048), K2_SLOT,
	   "nothing known: one slot each");
	for (round = 0; round < 50; round++) {
		/* Five at a time: a large write of 1 ms, reads of 100 us. */
		large = insert(K2_NRT, FLASH_WRITE, 2048);
		for (i = 0; i < 4; i++)
			small[i] = insert(K2_NRT, FLASH_READ, 8);
		dispatch();
		for (i = 0; i < 40; i++) {
			d.now += 25000;
			/* The first ones have not had their time. */
			leaves(small[i % 4], i >= 4);
			small[i % 4] = insert(K2_NRT, FLASH_READ, 8);
			dispatch();
		}
		done(large);
		for (i = 0; i < 4; i++)
			leaves(small[i], false);
		d.nr = 0;
	}
	eq(k2_admit_slots(&d.a, FLASH_READ, 8), K2_SLOT,
	   "a small read takes one slot");
	i = (int)k2_admit_slots(&d.a, FLASH_WRITE, 2048);
	eq(i >= 9 * 16 && i <= 11 * 16, 1,
	   "what takes ten times as long takes %d/16", i);
	eq(k2_admit_slots(&d.a, FLASH_WRITE, 0), K2_SLOT,
	   "what moves nothing takes one");

	d.bound = 16;
	for (i = 0; i < 8; i++)
		insert(K2_NRT, FLASH_WRITE, 2048);
	eq(dispatch(), 2, "bound 16: two of them, the second beyond it");
	eq(d.held, 1, "then the device is full");
	insert(0, FLASH_READ, 8);
	eq(dispatch(), 0, "for real-time requests as well");
	d.a.by_cost = false;
	hold();
	eq(dispatch(), 7, "by requests there is room for all");
	for (i = 0; i < 9; i++)
		done(i);
	eq(d.a.load == 0 && d.a.rest == 0 && d.a.nr == 0, 1,
	   "each gives back what it has taken");
}

/* Whatever comes: nothing is stuck, and at rest nothing is taken. */
static void random_mixes(void)
{
	unsigned long long seed = 11;
	unsigned int round, bad = 0, i, n;

	for (round = 0; round < 3000; round++) {
		dev_init(1 + tap_rand(&seed) % 8);
		d.a.reserve = tap_rand(&seed) % 4;
		d.a.by_cost = tap_rand(&seed) % 2;
		d.a.wait_ns = tap_rand(&seed) % 2 ? 1000000 : 0;
		d.meta_every = tap_rand(&seed) % 4;
		d.idle.wait_ns = tap_rand(&seed) % 2 ? 3000000 : 0;
		n = 20 + tap_rand(&seed) % 60;
		for (i = 0; i < n; i++) {
			insert(tap_rand(&seed) % K2_NR_CLASSES,
			       tap_rand(&seed) % 2, 1U << tap_rand(&seed) % 12);
			dispatch();
			d.now += tap_rand(&seed) % 2000000;
			if (tap_rand(&seed) % 50 == 0)
				d.now = tap_rand(&seed);
			if (tap_rand(&seed) % 2 && d.rq[d.last].out) {
				done(d.last);
				dispatch();
			}
			if (tap_rand(&seed) % 16 == 0) {
				/* Set while others wait and are in flight. */
				d.a.reserve = tap_rand(&seed) % 4;
				d.a.by_cost = tap_rand(&seed) % 2;
				d.bound = 1 + tap_rand(&seed) % 8;
				hold();
				dispatch();
			}
			bad += !d.inflight && d.o.busy;
			bad += d.held && !d.inflight;
		}
		for (i = 0; i < d.nr; i++) {
			dispatch();
			bad += !d.inflight && d.o.busy;
			if (d.rq[i].out)
				done((int)i);
			else if (!d.rq[i].gone)
				bad += !d.inflight;
		}
		while (d.inflight || d.o.busy) {
			unsigned int before = d.inflight;

			dispatch();
			for (i = 0; i < d.nr; i++)
				if (d.rq[i].out)
					done((int)i);
			if (!before && !d.inflight && d.o.busy) {
				dispatch();
				if (!d.inflight) {
					bad++;
					break;
				}
			}
		}
		bad += d.a.nr || d.a.load || d.a.rest;
	}
	eq(bad, 0, "3000 random mixes: nobody is stuck, nothing is left");
}

static void watching(void)
{
	dev_init(4);
	eq(k2_admit_watches(&d.a), 0, "as it is by default: nothing is watched");
	d.a.reserve = 1;
	eq(k2_admit_watches(&d.a), 1, "a reserve wants to know");
	d.a.reserve = 0;
	d.a.wait_ns = 1;
	eq(k2_admit_watches(&d.a), 1, "so does a cap on starvation");
	d.a.wait_ns = 0;
	d.a.by_cost = true;
	eq(k2_admit_watches(&d.a), 1, "and cost");
}

int main(void)
{
	watching();
	reserve();
	reserve_and_meta();
	starvation();
	learns();
	random_mixes();
	return tap_done();
}
