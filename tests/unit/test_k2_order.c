// SPDX-License-Identifier: GPL-2.0
/*
 * K2's order and liveness, on a model of one device: staging queues, a bound,
 * and the rule that whoever frees a slot or raises the bound dispatches. The
 * decisions (k2_order.h, slot.h) are the module's own code.
 */
#include <string.h>

#include "common/elevator/slot.h"
#include "k2/k2_order.h"
#include "tap.h"

#define MAX_RQ	4096

struct rq {
	unsigned int class;
	enum flash_slot slot;
	char name[8];
};

struct dev {
	struct rq rq[MAX_RQ];
	int nr;				/* arrived; the index is the arrival order */
	int gone[MAX_RQ];		/* left the queues */
	struct k2_order order;
	int inflight;
	unsigned int bound, meta_every;
	int trace[MAX_RQ], nr_trace;	/* dispatch order */
};

static void dev_init(struct dev *d, unsigned int bound, unsigned int meta_every)
{
	memset(d, 0, sizeof(*d));
	d->bound = bound;
	d->meta_every = meta_every;
}

static int head(const struct dev *d, unsigned int class)
{
	int i;

	for (i = 0; i < d->nr; i++)
		if (!d->gone[i] && d->rq[i].class == class)
			return i;
	return -1;
}

static void dispatch(struct dev *d)
{
	while (d->order.busy && flash_slot_free(d->inflight, d->bound)) {
		int meta = head(d, K2_META), nrt = head(d, K2_NRT);
		unsigned int class = k2_pick(&d->order,
					     meta >= 0 && nrt >= 0 && meta < nrt,
					     d->meta_every);
		int i = head(d, class);

		if (i < 0) {
			printf("Bail out! class %u is empty\n", class);
			exit(EXIT_FAILURE);
		}
		d->gone[i] = 1;
		d->inflight += flash_slot_dispatch(&d->rq[i].slot);
		d->trace[d->nr_trace++] = i;
		if (head(d, class) < 0)
			d->order.busy &= ~(1U << class);
	}
}

static void insert_quietly(struct dev *d, const char *name, unsigned int class)
{
	struct rq *rq = &d->rq[d->nr++];

	snprintf(rq->name, sizeof(rq->name), "%s", name);
	rq->class = class;
	flash_slot_insert(&rq->slot);
	d->order.busy |= 1U << class;
}

static void insert(struct dev *d, const char *name, unsigned int class)
{
	insert_quietly(d, name, class);
	dispatch(d);
}

static void done(struct dev *d, const char *name)
{
	int i;

	for (i = 0; i < d->nr; i++)
		if (!strcmp(d->rq[i].name, name))
			d->inflight -= flash_slot_finish(&d->rq[i].slot);
	dispatch(d);
}

/* The names dispatched so far, from the @from-th on, separated by blanks. */
static void dispatched(const struct dev *d, int from, const char *want,
		       const char *what)
{
	char got[512] = "";
	int i;

	for (i = from; i < d->nr_trace; i++) {
		if (i > from)
			strcat(got, " ");
		strcat(got, d->rq[d->trace[i]].name);
	}
	eq(strcmp(got, want), 0, "%s: %s", what, want);
	if (strcmp(got, want))
		printf("# dispatched: %s\n", got);
}

static unsigned int rt(unsigned int level)
{
	return k2_classify(1, level, 0);
}

static void classes(void)
{
	eq(k2_classify(1, 0, 0), 0, "real-time level 0 is class 0");
	eq(k2_classify(1, 7, 1), 7, "real-time metadata keeps its level");
	eq(k2_classify(1, 9, 0), 7, "a level beyond 7 is 7");
	eq(k2_classify(0, 0, 0), K2_NRT, "best effort level 0 is not real-time");
	eq(k2_classify(0, 3, 1), K2_META, "metadata has its class");
}

static void bound_two(void)
{
	static struct dev d;

	dev_init(&d, 2, 16);
	insert_quietly(&d, "B1", K2_NRT);
	insert_quietly(&d, "B2", K2_NRT);
	insert_quietly(&d, "B3", K2_NRT);
	insert_quietly(&d, "R5", rt(5));
	insert(&d, "R0", rt(0));
	dispatched(&d, 0, "R0 R5", "bound 2, five waiting");
	done(&d, "R0");
	dispatched(&d, 2, "B1", "first done");
	done(&d, "R5");
	dispatched(&d, 3, "B2", "second done");
	insert(&d, "R7", rt(7));
	done(&d, "B1");
	dispatched(&d, 4, "R7", "a late real-time request goes before B3");
	done(&d, "B2");
	dispatched(&d, 5, "B3", "then the rest");
	done(&d, "R7");
	done(&d, "B3");
	eq(d.inflight, 0, "nothing in flight at the end");
}

static void bound_one(void)
{
	static struct dev d;

	dev_init(&d, 1, 16);
	insert(&d, "B1", K2_NRT);
	dispatched(&d, 0, "B1", "bound 1, idle device");
	insert(&d, "B2", K2_NRT);
	insert(&d, "R3", rt(3));
	eq(d.nr_trace, 1, "bound 1: two wait");
	done(&d, "B1");
	dispatched(&d, 1, "R3", "real-time first");
	done(&d, "R3");
	dispatched(&d, 2, "B2", "then best effort");
}

static void raised_bound(void)
{
	static struct dev d;
	char name[] = "B0";
	int i;

	dev_init(&d, 1, 16);
	for (i = 0; i < 9; i++) {
		name[1] = (char)('0' + i);
		insert(&d, name, K2_NRT);
	}
	eq(d.nr_trace, 1, "bound 1: one in flight, eight wait");
	d.bound = 4;
	dispatch(&d);
	eq(d.nr_trace, 4, "bound 4: exactly three more at once");
	eq(d.inflight, 4, "four in flight");
	for (i = 0; i < 9; i++) {
		name[1] = (char)('0' + i);
		done(&d, name);
	}
	eq(d.nr_trace, 9, "all nine dispatched");
	eq(d.inflight, 0, "all nine finished");
}

static void lowered_bound(void)
{
	static struct dev d;
	char name[] = "B0";
	int i;

	dev_init(&d, 4, 16);
	for (i = 0; i < 8; i++) {
		name[1] = (char)('0' + i);
		insert(&d, name, K2_NRT);
	}
	d.bound = 1;
	done(&d, "B0");
	done(&d, "B1");
	done(&d, "B2");
	eq(d.nr_trace, 4, "bound 4 to 1: nothing goes until the device drains");
	done(&d, "B3");
	eq(d.nr_trace, 5, "then one at a time");
}

/* A real-time flood with one metadata request waiting behind it. */
static int flood(unsigned int meta_every, int length)
{
	static struct dev d;
	int i, at = -1;

	dev_init(&d, 1, meta_every);
	insert_quietly(&d, "J", K2_META);
	insert_quietly(&d, "N", K2_NRT);
	for (i = 0; i < length; i++)
		insert_quietly(&d, "R", rt((unsigned int)i % 8));
	d.bound = MAX_RQ;
	dispatch(&d);
	for (i = 0; i < d.nr_trace; i++)
		if (d.rq[d.trace[i]].class == K2_META)
			at = i;
	eq(d.rq[d.trace[d.nr_trace - 1]].class, K2_NRT,
	   "meta_every %u: the ordinary request goes last", meta_every);
	return at;
}

static void metadata_share(void)
{
	static struct dev d;
	int i, turns = 0;

	eq(flood(0, 1000), 1000, "meta_every 0: strict, after all 1000 real-time");
	eq(flood(16, 1000), 16, "meta_every 16: after 16 real-time requests");
	eq(flood(1, 1000), 1, "meta_every 1: after one");

	/* Both flood: one in meta_every + 1 goes to metadata, no more. */
	dev_init(&d, 1, 16);
	for (i = 0; i < 1700; i++)
		insert_quietly(&d, "R", rt(0));
	for (i = 0; i < 1000; i++)
		insert_quietly(&d, "J", K2_META);
	d.bound = 1700;
	dispatch(&d);
	for (i = 0; i < d.nr_trace; i++)
		turns += d.rq[d.trace[i]].class == K2_META;
	eq(turns, 100, "metadata flood: 100 turns in the first 1700");
}

/* The count starts anew when metadata goes or none waits. */
static void share_resets(void)
{
	static struct dev d;
	int i;

	dev_init(&d, 0, 4);
	for (i = 0; i < 40; i++)
		insert_quietly(&d, "R", rt(2));
	d.bound = 30;
	dispatch(&d);
	insert_quietly(&d, "J", K2_META);
	d.bound = 34;
	dispatch(&d);
	dispatched(&d, 30, "R R R R", "30 served before it came do not count");
	d.bound = 35;
	dispatch(&d);
	dispatched(&d, 34, "J", "after four it goes");
}

/*
 * Without real-time requests the two other classes are one FIFO, as in the
 * paper; with meta_every = 0 any mix is the paper's order. The oracle sorts by
 * (level, arrival) and shares no code with k2_pick().
 */
static void random_mixes(void)
{
	static struct dev d;
	unsigned long long seed = 7;
	int round, bad = 0;

	for (round = 0; round < 2000; round++) {
		int with_rt = round & 1, n = 1 + (int)(tap_rand(&seed) % 40), i;

		dev_init(&d, 0, with_rt ? 0 : tap_rand(&seed) % 5);
		for (i = 0; i < n; i++) {
			unsigned int c = tap_rand(&seed) % (with_rt ? 10 : 2);

			insert_quietly(&d, "x", with_rt ? c : K2_META + c);
		}
		while (d.nr_trace < n) {
			int best = -1;

			for (i = 0; i < n; i++) {
				unsigned int key, best_key;

				if (d.gone[i])
					continue;
				key = d.rq[i].class < 8 ? d.rq[i].class : 8;
				best_key = best < 0 ? 99 : d.rq[best].class < 8 ?
					   d.rq[best].class : 8;
				if (key < best_key)
					best = i;
			}
			d.bound++;
			dispatch(&d);
			bad += d.trace[d.nr_trace - 1] != best;
		}
	}
	eq(bad, 0, "2000 random mixes: strict by level, then FIFO");
}

/*
 * The idle class: one device that serves a request a millisecond, and always has best
 * effort (or metadata) waiting. Of 1000 idle requests that came at once, how many are
 * served in so many ms? The k-th of them at the latest after k times the limit.
 */
static int idle_served(u64 wait_ms, unsigned int busy, int ms)
{
	struct k2_order o = { .busy = busy | 1U << K2_IDLE };
	struct k2_idle idle = { .wait_ns = wait_ms * 1000000 };
	int now, served = 0, late = 0;

	for (now = 1; now <= ms; now++) {
		u64 ns = (u64)now * 1000000;
		unsigned int class = k2_pick(&o, 0, 16);

		class = k2_pick_idle(&o, class, k2_idle_due(&idle, ns, 1));
		k2_idle_served(&idle, class, busy >> K2_META != 0, ns);
		if (class != K2_IDLE)
			continue;
		served++;
		late += ns > (u64)served * (idle.wait_ns + 1000000);
	}
	eq(late, 0, "idle requests later than the limit, classes %#x", busy);
	return served;
}

static void idle_ages(void)
{
	unsigned int nrt = 1U << K2_NRT, meta = 1U << K2_META;

	eq(k2_classify_idle(k2_classify(0, 0, 0), 1), K2_IDLE,
	   "idle priority has its class");
	eq(k2_classify_idle(k2_classify(0, 0, 1), 1), K2_META,
	   "but metadata of an idle task is metadata");
	eq(k2_classify_idle(k2_classify(1, 3, 0), 1), 3,
	   "and what a group makes real-time is real-time");
	eq(k2_classify_idle(k2_classify(0, 7, 0), 0), K2_NRT,
	   "best effort level 7 is best effort");

	eq(idle_served(50, nrt, 1000), 20, "beside best effort one in 50 ms");
	eq(idle_served(50, nrt | meta, 1000), 20, "and beside metadata");
	eq(idle_served(50, meta, 1000), 20, "and beside metadata alone");
	eq(idle_served(50, 1, 1000), 0, "real-time requests go first");
	eq(idle_served(50, 0, 1000), 1000, "with nothing else all of them go");
	eq(idle_served(0, nrt, 1000), 1000, "no limit: those that came first");
}

/*
 * A slow device: each choice comes later than the limit after the one before it. Idle
 * requests get no more than every other one, with a flood of real-time requests
 * (of which best effort's own limit gives some choices away) and without.
 */
static void idle_on_slow_devices(void)
{
	unsigned int nrt = 1U << K2_NRT, busy;

	for (busy = nrt; busy <= (nrt | 1U); busy++) {
		struct k2_order o = { .busy = busy | 1U << K2_IDLE };
		struct k2_idle idle = { .wait_ns = 200000000 };
		int i, idles = 0, best = 0;

		for (i = 1; i <= 100; i++) {
			u64 ns = (u64)i * 300000000;
			unsigned int class = k2_pick_idle(&o, K2_NRT,
						k2_idle_due(&idle, ns, 1));

			k2_idle_served(&idle, class, 1, ns);
			idles += class == K2_IDLE;
			best += class == K2_NRT;
		}
		eq(best >= 50 && idles >= 49, 1,
		   "a choice in 300 ms, classes %#x: %d of best effort, %d idle",
		   busy, best, idles);
	}
}

/* The place that metadata has before real-time requests is not an idle request's. */
static void idle_and_metadata(void)
{
	struct k2_order o = { .busy = 1U | 1U << K2_META | 1U << K2_IDLE };
	int i, rt = 0, meta = 0;

	for (i = 0; i < 34; i++) {
		unsigned int class = k2_pick(&o, 0, 16);

		class = k2_pick_idle(&o, class, 1);
		rt += class == 0;
		meta += class == K2_META;
	}
	eq(rt, 32, "a due idle request, metadata and a real-time flood: 32");
	eq(meta, 2, "and 2 of metadata");
	/* Best effort's turn before real-time requests (k2_admit.h) is shared. */
	eq(k2_pick_idle(&o, K2_NRT, 0), K2_IDLE, "nothing else has that turn");
	o.busy |= 1U << K2_NRT;
	eq(k2_pick_idle(&o, K2_NRT, 0), K2_NRT, "best effort has it");
	eq(k2_pick_idle(&o, K2_NRT, 1), K2_IDLE, "unless idle is due");
}

/* With a limit of 0 idle requests are best-effort ones: any mix is one FIFO. */
static void idle_is_best_effort(void)
{
	unsigned long long seed = 11;
	int round, bad = 0;

	for (round = 0; round < 2000; round++) {
		unsigned int class[40], n = 1 + tap_rand(&seed) % 40, i, left = n;
		struct k2_order o = { .busy = 0 };
		struct k2_idle idle = { .wait_ns = 0 };
		int head[K2_NR_CLASSES], rt = round & 1;
		bool gone[40] = { false };

		for (i = 0; i < n; i++)
			class[i] = rt ? tap_rand(&seed) % K2_NR_CLASSES :
				   K2_META + tap_rand(&seed) % 3;
		for (; left; left--) {
			int best = -1, other;
			unsigned int c;

			for (c = 0; c < K2_NR_CLASSES; c++)
				head[c] = -1;
			o.busy = 0;
			for (i = n; i-- > 0;)
				if (!gone[i]) {
					head[class[i]] = (int)i;
					o.busy |= 1U << class[i];
				}
			for (i = 0; i < n; i++)
				if (!gone[i] &&
				    (best < 0 || (class[i] < 8 ? class[i] : 8) <
				     (class[best] < 8 ? class[best] : 8)))
					best = (int)i;
			c = k2_pick(&o, head[K2_META] < head[K2_NRT], 0);
			other = head[c];
			if (head[K2_IDLE] >= 0)
				c = k2_pick_idle(&o, c,
					k2_idle_due(&idle, 0, other >= 0 &&
						    head[K2_IDLE] < other));
			bad += head[c] != best;
			if (head[c] >= 0)
				gone[head[c]] = true;
			else
				break;
		}
	}
	eq(bad, 0, "2000 random mixes with a limit of 0: idle is best effort");
}

int main(void)
{
	idle_ages();
	idle_on_slow_devices();
	idle_and_metadata();
	idle_is_best_effort();
	classes();
	bound_two();
	bound_one();
	raised_bound();
	lowered_bound();
	metadata_share();
	share_resets();
	random_mixes();
	return tap_done();
}
