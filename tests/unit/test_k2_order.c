// SPDX-License-Identifier: GPL-2.0
/* K2's order and liveness, by its own hooks. A free slot or a higher limit dispatches. */
#include "k2drive.h"

static char names[DRIVE_RQS][8];

static void begin(unsigned int limit, unsigned int meta_every)
{
	drive_init(limit);
	drive_set(TUN_meta_every, meta_every);
}

static void insert_quietly(const char *name, unsigned int class)
{
	snprintf(names[drive_insert(class, REQ_OP_READ, 0, 8)], sizeof(names[0]), "%s", name);
}

static void insert(const char *name, unsigned int class)
{
	insert_quietly(name, class);
	drive_dispatch();
}

static void set_limit(unsigned int limit)
{
	drive_set(TUN_max_inflight, limit);
	drive_dispatch();
}

static void done(const char *name)
{
	unsigned int i;

	for (i = 0; i < drive_nr; i++)
		if (!strcmp(names[i], name) && drive_rqs[i].out)
			drive_end(i, true);
	drive_dispatch();
}

static unsigned int class_of(unsigned int i)
{
	return drive_rqs[drive_trace[i]].rec.fr.class;
}

/* The names dispatched so far, from the @from-th on, separated by blanks */
static void dispatched(unsigned int from, const char *want, const char *what)
{
	char got[512] = "";
	unsigned int i;

	for (i = from; i < drive_dispatches; i++) {
		if (i > from)
			strcat(got, " ");
		strcat(got, names[drive_trace[i]]);
	}
	eq(strcmp(got, want), 0, "%s: %s", what, want);
	if (strcmp(got, want))
		printf("# dispatched: %s\n", got);
}

static unsigned int class_with(unsigned short ioprio, blk_opf_t flags, u32 rq_flags)
{
	struct bio bio = { .bi_opf = flags, .bi_ioprio = ioprio };
	struct request rq = { .bio = &bio, .ioprio = ioprio, .rq_flags = rq_flags };

	drive_init(1);
	return k2_rq_class(&k2.fq, &rq);
}

static void classes(void)
{
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0), 0, 0), 0,
	   "real-time level 0 is class 0");
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 7), REQ_META, 0), 7,
	   "real-time metadata keeps its level");
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0), 0, 0), K2_BE,
	   "best effort level 0 is not real-time");
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7), 0, 0), K2_BE,
	   "best effort level 7 is best effort");
	eq(class_with(0, 0, 0), K2_BE, "no priority is best effort");
	eq(class_with(0, REQ_META, 0), K2_META, "metadata has its class");
	eq(class_with(0, REQ_PRIO, 0), K2_META, "so have requests that others wait for");
	eq(class_with(0, REQ_SWAP, 0), K2_META, "and swap");
	eq(class_with(0, 0, RQF_FLUSH_SEQ), K2_META, "and parts of a flush sequence");
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0), 0, 0), K2_IDLE,
	   "idle priority has its class");
	eq(class_with(IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0), REQ_META, 0), K2_META,
	   "but metadata of an idle task is metadata");
	eq(k2_class(3, false, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0)), 3,
	   "and a level of its group is real-time");
}

static void limit_two(void)
{
	begin(2, 16);
	insert_quietly("B1", K2_BE);
	insert_quietly("B2", K2_BE);
	insert_quietly("B3", K2_BE);
	insert_quietly("R5", 5);
	insert("R0", 0);
	dispatched(0, "R0 R5", "limit 2, five waiting");
	done("R0");
	dispatched(2, "B1", "first done");
	done("R5");
	dispatched(3, "B2", "second done");
	insert("R7", 7);
	done("B1");
	dispatched(4, "R7", "a late real-time request is served before B3");
	done("B2");
	dispatched(5, "B3", "then the rest");
	done("R7");
	done("B3");
	eq(drive_inflight, 0, "nothing in flight at the end");
	drive_exit();
	eq(warned, 0, "and nothing left");
}

static void limit_one(void)
{
	begin(1, 16);
	insert("B1", K2_BE);
	dispatched(0, "B1", "limit 1, idle device");
	insert("B2", K2_BE);
	insert("R3", 3);
	eq(drive_dispatches, 1, "limit 1: two wait");
	done("B1");
	dispatched(1, "R3", "real-time first");
	done("R3");
	dispatched(2, "B2", "then best effort");
}

static void raised_limit(void)
{
	char name[] = "B0";

	begin(1, 16);
	for (name[1] = '0'; name[1] < '9'; name[1]++)
		insert(name, K2_BE);
	eq(drive_dispatches, 1, "limit 1: one in flight, eight wait");
	set_limit(4);
	eq(drive_dispatches, 4, "limit 4: exactly three more at once");
	eq(drive_inflight, 4, "four in flight");
	for (name[1] = '0'; name[1] < '9'; name[1]++)
		done(name);
	eq(drive_dispatches, 9, "all nine dispatched");
	eq(drive_inflight, 0, "all nine finished");
}

static void lowered_limit(void)
{
	char name[] = "B0";

	begin(4, 16);
	for (name[1] = '0'; name[1] < '8'; name[1]++)
		insert(name, K2_BE);
	set_limit(1);
	done("B0");
	done("B1");
	done("B2");
	eq(drive_dispatches, 4, "limit 4 to 1: no dispatch until the device drains");
	done("B3");
	eq(drive_dispatches, 5, "then one at a time");
}

/* A requeued request gives its slot back, and its completion none. */
static void requeued(void)
{
	begin(1, 16);
	drive_set(TUN_observe, 1);
	insert("B1", K2_BE);
	insert("B2", K2_BE);
	drive_end(0, false);
	eq(drive_inflight, 0, "requeued: the slot is free");
	drive_dispatch();
	dispatched(1, "B2", "and another request takes it");
	done("B2");
	eq(drive_inflight, 0, "nothing in flight at the end");
	drive_exit();
	eq(warned, 0, "and nothing left");
}

/* A real-time flood with one metadata request waiting behind it */
static unsigned int flood(unsigned int meta_every, unsigned int length)
{
	unsigned int i, at = ~0U;

	begin(1, meta_every);
	insert_quietly("J", K2_META);
	insert_quietly("N", K2_BE);
	for (i = 0; i < length; i++)
		insert_quietly("R", i % 8);
	set_limit(DRIVE_RQS);
	for (i = 0; i < drive_dispatches; i++)
		if (class_of(i) == K2_META)
			at = i;
	eq(class_of(drive_dispatches - 1), K2_BE,
	   "meta_every %u: the ordinary request is last", meta_every);
	return at;
}

static void metadata_share(void)
{
	unsigned int i, turns = 0;

	eq(flood(0, 1000), 1000, "meta_every 0: strict, after all 1000 real-time");
	eq(flood(16, 1000), 16, "meta_every 16: after 16 real-time requests");
	eq(flood(1, 1000), 1, "meta_every 1: after one");

	/* Both flood: one in meta_every + 1 is metadata, no more. */
	begin(1, 16);
	for (i = 0; i < 1700; i++)
		insert_quietly("R", 0);
	for (i = 0; i < 1000; i++)
		insert_quietly("J", K2_META);
	set_limit(1700);
	for (i = 0; i < drive_dispatches; i++)
		turns += class_of(i) == K2_META;
	eq(turns, 100, "metadata flood: 100 turns in the first 1700");
}

/* The count restarts when metadata is served or none waits. */
static void share_resets(void)
{
	unsigned int i;

	begin(1, 4);
	for (i = 0; i < 40; i++)
		insert_quietly("R", 2);
	set_limit(30);
	insert_quietly("J", K2_META);
	set_limit(34);
	dispatched(30, "R R R R", "30 served before its insertion do not count");
	set_limit(35);
	dispatched(34, "J", "after four it is served");
}

/* The class by which a request is ordered if all that are not real-time are one FIFO */
static unsigned int fifo_class(unsigned int i)
{
	return min(drive_rqs[i].rec.fr.class, 8U);
}

/*
 * Without real-time requests metadata and best effort are one FIFO, as in the paper; with
 * meta_every 0 any mix is in the paper's order, and with idle_wait_ms 0 so are idle
 * requests. The oracle sorts by (level, arrival).
 */
static void random_mixes(bool idle)
{
	unsigned long long seed = 7;
	unsigned int round, bad = 0, i, n, with_rt, best, kinds = idle ? 3 : 2;

	for (round = 0; round < 2000; round++) {
		with_rt = round & 1;
		begin(1, with_rt ? 0 : tap_rand(&seed) % 5);
		drive_set(TUN_idle_wait_ms, 0);
		n = 1 + tap_rand(&seed) % 40;
		for (i = 0; i < n; i++)
			insert_quietly("x", with_rt ? tap_rand(&seed) % (8 + kinds) :
					    K2_META + tap_rand(&seed) % kinds);
		while (drive_dispatches < n) {
			best = ~0U;
			for (i = 0; i < n; i++)
				if (!drive_rqs[i].gone &&
				    (best == ~0U || fifo_class(i) < fifo_class(best)))
					best = i;
			drive_dispatch_one();
			bad += drive_last() != best;
			drive_end(drive_last(), true);
		}
	}
	eq(bad, 0, "2000 random mixes%s: strict by level, then FIFO", idle ? " with idle" : "");
}

/*
 * The idle class, on a device that serves a request a millisecond while best effort (or
 * metadata) always waits. Returns how many of 1000 idle requests are served in @ms; the
 * k-th of them has to be served after k times the limit.
 */
static int nr_idle_served(u64 wait_ms, unsigned int busy, int ms)
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
	unsigned int be = 1U << K2_BE, meta = 1U << K2_META;

	eq(nr_idle_served(50, be, 1000), 20, "beside best effort one in 50 ms");
	eq(nr_idle_served(50, be | meta, 1000), 20, "and beside metadata");
	eq(nr_idle_served(50, meta, 1000), 20, "and beside metadata alone");
	eq(nr_idle_served(50, 1, 1000), 0, "real-time requests go first");
	eq(nr_idle_served(50, 0, 1000), 1000, "with nothing else all of them go");
	eq(nr_idle_served(0, be, 1000), 1000, "no limit: those that came first");
}

/*
 * A slow device, on which two choices are further apart than the limit. At most every
 * other request is idle, with a flood of real-time requests (where best effort's own limit
 * makes the choices) and without.
 */
static void idle_on_slow_devices(void)
{
	unsigned int be = 1U << K2_BE, busy;

	for (busy = be; busy <= (be | 1U); busy++) {
		struct k2_order o = { .busy = busy | 1U << K2_IDLE };
		struct k2_idle idle = { .wait_ns = 200000000 };
		int i, idles = 0, best = 0;

		for (i = 1; i <= 100; i++) {
			u64 ns = (u64)i * 300000000;
			unsigned int class = k2_pick_idle(&o, K2_BE,
						k2_idle_due(&idle, ns, 1));

			k2_idle_served(&idle, class, 1, ns);
			idles += class == K2_IDLE;
			best += class == K2_BE;
		}
		eq(best >= 50 && idles >= 49, 1,
		   "a choice in 300 ms, classes %#x: %d of best effort, %d idle",
		   busy, best, idles);
	}
}

/* Idle requests do not replace metadata that is served before real-time requests. */
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
	/* Best effort's turn before real-time requests (admit.c) is shared. */
	eq(k2_pick_idle(&o, K2_BE, 0), K2_IDLE, "nothing else has that turn");
	o.busy |= 1U << K2_BE;
	eq(k2_pick_idle(&o, K2_BE, 0), K2_BE, "best effort has it");
	eq(k2_pick_idle(&o, K2_BE, 1), K2_IDLE, "unless idle is due");
}

int main(void)
{
	classes();
	idle_ages();
	idle_on_slow_devices();
	idle_and_metadata();
	limit_two();
	limit_one();
	raised_limit();
	lowered_limit();
	requeued();
	metadata_share();
	share_resets();
	random_mixes(false);
	random_mixes(true);
	return tap_done();
}
