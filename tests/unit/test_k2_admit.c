// SPDX-License-Identifier: GPL-2.0
/*
 * K2's reserve, its slots by cost, real-time requests alone in the device, and the limit on
 * starvation, by K2's own hooks.
 */
#include "k2drive.h"

static unsigned int insert(unsigned int class, enum req_op op, u32 sectors)
{
	return drive_insert(class, op, 0, sectors);
}

static unsigned int last_class(void)
{
	return drive_rqs[drive_last()].rec.fr.class;
}

static void done(unsigned int i)
{
	drive_end(i, true);
}

static void reserve(void)
{
	unsigned int i, late;

	drive_init(4);
	drive_set(TUN_reserve, 1);
	for (i = 0; i < 10; i++)
		insert(K2_BE, REQ_OP_READ, 8);
	eq(drive_dispatch(), 3, "limit 4, one reserved: three of best effort go");
	eq(k2.fq.held, 1, "the others are held");
	late = insert(0, REQ_OP_READ, 8);
	flash_settle(&k2.fq);
	eq(k2.fq.held, 0, "until a real-time request is inserted");
	eq(drive_dispatch(), 1, "which is dispatched at once");
	eq(drive_last(), late, "before those that wait");
	done(late);
	eq(drive_dispatch(), 0, "its slot stays reserved");
	insert(K2_META, REQ_OP_READ, 8);
	eq(drive_dispatch(), 0, "from metadata, too");
	done(0);
	eq(drive_dispatch(), 1, "best effort's own slot is best effort's");

	drive_init(1);
	drive_set(TUN_reserve, 5);
	insert(K2_BE, REQ_OP_READ, 8);
	eq(drive_dispatch(), 1, "best effort has one slot at least");
	drive_init(3);
	drive_set(TUN_reserve, 1);
	for (i = 0; i < 10; i++)
		insert(K2_BE, REQ_OP_READ, 8);
	for (i = 0; i < 40; i++)
		insert(3, REQ_OP_READ, 8);
	insert(K2_META, REQ_OP_READ, 8);
	eq(drive_dispatch(), 3, "real-time requests may have all slots");
	eq(k2.admit.load_not_rt, 0, "and take all");
}

/* Metadata that is due, with no slot for it, is served when there is one. */
static void reserve_and_meta(void)
{
	unsigned int first, i;

	drive_init(2);
	drive_set(TUN_reserve, 1);
	drive_set(TUN_meta_every, 2);
	first = insert(K2_BE, REQ_OP_READ, 8);
	drive_dispatch();
	insert(K2_META, REQ_OP_READ, 8);
	for (i = 0; i < 10; i++)
		insert(0, REQ_OP_READ, 8);
	for (i = 0; i < 5; i++) {
		eq(drive_dispatch(), 1, "a real-time request is dispatched");
		eq(last_class(), 0, "metadata has to wait");
		done(drive_last());
	}
	done(first);
	drive_dispatch_one();
	eq(last_class(), K2_META, "best effort's slot is free: metadata");
}

static void starvation(void)
{
	unsigned int i, turns = 0, apart = 0, most = 0;

	drive_init(1);
	drive_set(TUN_nrt_wait_ms, 50);
	insert(0, REQ_OP_READ, 8);
	insert(K2_BE, REQ_OP_READ, 8);
	drive_dispatch();
	for (i = 0; i < 1000; i++) {
		insert(0, REQ_OP_READ, 8);
		insert(0, REQ_OP_READ, 8);
		insert(K2_BE, REQ_OP_READ, 8);
		drive_now += 1000000;
		done(drive_last());
		drive_dispatch();
		apart++;
		if (last_class() == K2_BE) {
			turns++;
			most = max(most, apart);
			apart = 0;
		}
	}
	eq(turns, 20, "a second of flood, a limit of 50 ms: 20 turns");
	eq(most, 50, "50 ms apart, whatever the backlog");
	drive_now -= 600000000;
	done(drive_last());
	drive_dispatch();
	drive_now += 50000000;
	done(drive_last());
	drive_dispatch();
	eq(last_class(), K2_BE, "a clock that is set back: best effort is served");

	turns = 0;
	for (i = 0; i < 1000; i++) {
		if (i % 500 == 0) {
			drive_init(1);
			insert(K2_BE, REQ_OP_READ, 8);
		}
		insert(0, REQ_OP_READ, 8);
		insert(0, REQ_OP_READ, 8);
		drive_dispatch();
		turns += last_class() == K2_BE;
		drive_now += 1000000000;
		done(drive_last());
	}
	eq(turns, 0, "no limit: never");
}

static void alone(void)
{
	unsigned int be, rt, other;

	drive_init(8);
	drive_set(TUN_observe, 1);
	drive_set(TUN_rt_alone, 1);
	be = insert(K2_BE, REQ_OP_WRITE, 8);
	insert(K2_IDLE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 2, "no real-time request: best effort and idle go");
	rt = insert(0, REQ_OP_READ, 8);
	eq(drive_dispatch(), 1, "a real-time request is dispatched beside them");
	insert(K2_BE, REQ_OP_WRITE, 8);
	insert(K2_IDLE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 0, "slots are free, but best effort and idle wait");
	eq(k2.fq.held, 1, "as they are held");
	done(be);
	eq(drive_dispatch(), 0, "also when others end");
	drive_now += 300000000;
	insert(K2_META, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 1, "metadata does not wait, as the real-time task may need it");
	eq(last_class(), K2_META, "nor does an idle request have its turn before it");
	other = insert(7, REQ_OP_READ, 8);
	eq(drive_dispatch(), 1, "nor do other real-time requests");
	done(rt);
	eq(drive_dispatch(), 0, "one of them is still in the device");
	drive_end(other, false);
	eq(drive_dispatch(), 2, "none, as the driver returned it: best effort and idle go");

	insert(0, REQ_OP_READ, 8);
	drive_dispatch();
	insert(K2_BE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 0, "held again");
	drive_set(TUN_rt_alone, 0);
	eq(drive_dispatch(), 1, "until the setting is off");
	drive_set(TUN_rt_alone, 1);
	insert(K2_BE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 0, "held again");
	autolimit_calibrate(k2.al, true, drive_now);
	k2_apply(&k2);
	eq(drive_dispatch(), 1, "until a calibration, which measures without limits");
}

/* With no real-time request in the device nothing is different. */
static void not_alone(void)
{
	unsigned int rt;

	drive_init(1);
	drive_set(TUN_rt_alone, 1);
	insert(K2_BE, REQ_OP_READ, 8);
	insert(K2_META, REQ_OP_READ, 8);
	insert(K2_BE, REQ_OP_READ, 8);
	drive_dispatch();
	eq(last_class(), K2_BE, "best effort and metadata are one FIFO");
	done(drive_last());
	drive_dispatch();
	eq(last_class(), K2_META, "for both");

	drive_init(4);
	drive_set(TUN_rt_alone, 1);
	drive_set(TUN_reserve, 1);
	rt = insert(0, REQ_OP_READ, 8);
	drive_dispatch();
	while (drive_nr < 10)
		insert(K2_BE, REQ_OP_READ, 8);
	eq(drive_dispatch(), 0, "with a reserve best effort waits as well");
	done(rt);
	eq(drive_dispatch(), 3, "and the reserve holds when it goes");

	drive_init(8);
	drive_set(TUN_rt_alone, 1);
	drive_set(TUN_idle_wait_ms, 0);
	insert(0, REQ_OP_READ, 8);
	drive_dispatch();
	while (drive_nr < 10)
		insert(K2_IDLE, REQ_OP_READ, 8);
	insert(K2_META, REQ_OP_READ, 8);
	eq(drive_dispatch(), 1, "metadata is dispatched, and no older idle request with it");
	eq(last_class(), K2_META, "metadata alone");
}

/* Requests that rt_alone holds are no reason to search for a larger limit. */
static void alone_and_search(void)
{
	unsigned int i, rt, be;

	drive_init(8);
	drive_set(TUN_rt_alone, 1);
	k2.policy = K2_LATENCY;
	drive_set(TUN_target_us, 2000);
	for (i = 0; i < 5000; i++) {
		/* Reuse the place of the first requests. */
		drive_nr = drive_dispatches = 0;
		rt = insert(0, REQ_OP_READ, 8);
		drive_dispatch();
		be = insert(K2_BE, REQ_OP_WRITE, 8);
		drive_dispatch();
		drive_now += 100000;
		done(rt);
		drive_dispatch();
		drive_now += 100000;
		done(be);
	}
	eq(k2.al->rt_ended, 5000, "real-time requests are judged");
	eq(k2.fq.bound, 8, "the limit, which holds nothing, stays");
}

/* Which settings restart the search, and which are in force at once and after a switch */
static void settings(void)
{
	static const unsigned int others[] = {
		TUN_reserve, TUN_rt_alone, TUN_nrt_wait_ms, TUN_observe, TUN_max_pass,
		TUN_lba_offset_sectors,
	};
	unsigned int i;
	u64 begun;

	drive_init(8);
	begun = k2.al->step.cut_at;
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		drive_now += 1000;
		k2.fq.now = drive_now;
		drive_set(others[i], 1);
	}
	eq(k2.al->step.cut_at, begun, "the search goes on after other settings");
	drive_set(TUN_rt_hold_ms, 5);
	eq(k2.al->step.cut_at > begun, 1, "it restarts after one of its own");
	eq(k2.chips->max_pass, 1, "max_pass is in force");
	eq(k2.chips->offset, 1, "and lba_offset_sectors");

	k2_exit(&k2.fq);
	k2_init(&k2.fq);
	eq(k2.admit.rt_alone && k2.admit.reserve == 1 && k2.admit.wait_ns == 1000000 &&
	   k2.chips->max_pass == 1, 1, "all are in force when K2 is selected again");
}

/* Best effort that is held for real-time requests in the device, and its longest wait */
static void alone_but_due(void)
{
	unsigned int i, served = 0;

	drive_init(8);
	drive_set(TUN_rt_alone, 1);
	drive_set(TUN_nrt_wait_ms, 50);
	insert(0, REQ_OP_READ, 8);
	drive_dispatch();
	for (i = 0; i < 1000; i++) {
		insert(K2_BE, REQ_OP_WRITE, 8);
		insert(0, REQ_OP_READ, 8);
		drive_now += 1000000;
		/* At least one real-time request is in the device all the time. */
		while (drive_dispatch_one()) {
			served += last_class() == K2_BE;
			done(drive_last());
		}
	}
	eq(served, 20, "a second of real-time requests, 50 ms at most: 20 of best effort");

	drive_init(8);
	drive_set(TUN_rt_alone, 1);
	drive_set(TUN_nrt_wait_ms, 50);
	insert(0, REQ_OP_READ, 8);
	insert(K2_BE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 1, "no other real-time request waits: best effort is held");
	drive_now += 50000000;
	insert(K2_BE, REQ_OP_WRITE, 8);
	eq(drive_dispatch(), 1, "but one is served after 50 ms");
}

static void by_cost(bool on)
{
	k2.admit.by_cost = on;
	k2_apply(&k2);
	flash_ask_holds(&k2.fq);
}

/* A device with as many servers as requests: each takes its time. */
static void learns(void)
{
	unsigned int small[4], large, i, round;

	drive_init(64);
	by_cost(true);
	eq(k2_admit_slots(&k2.admit, FLASH_WRITE, 2048), K2_SLOT,
	   "nothing known: one slot each");
	for (round = 0; round < 50; round++) {
		/* Five at a time: a large write of 1 ms, reads of 100 us. */
		large = insert(K2_BE, REQ_OP_WRITE, 2048);
		for (i = 0; i < 4; i++)
			small[i] = insert(K2_BE, REQ_OP_READ, 8);
		drive_dispatch();
		for (i = 0; i < 40; i++) {
			drive_now += 25000;
			/* The first ones have not had their time. */
			drive_end(small[i % 4], i >= 4);
			small[i % 4] = insert(K2_BE, REQ_OP_READ, 8);
			drive_dispatch();
		}
		done(large);
		for (i = 0; i < 4; i++)
			drive_end(small[i], false);
		drive_nr = 0;
	}
	eq(k2_admit_slots(&k2.admit, FLASH_READ, 8), K2_SLOT, "a small read takes one slot");
	i = k2_admit_slots(&k2.admit, FLASH_WRITE, 2048);
	eq(i >= 9 * 16 && i <= 11 * 16, 1, "ten times the time takes %u/16 slots", i);
	eq(k2_admit_slots(&k2.admit, FLASH_WRITE, 0), K2_SLOT,
	   "a request that moves no data takes one");

	drive_set(TUN_max_inflight, 16);
	for (i = 0; i < 8; i++)
		insert(K2_BE, REQ_OP_WRITE, 2048);
	eq(drive_dispatch(), 2, "limit 16: two of them, the second beyond it");
	eq(k2.fq.held, 1, "then the device is full");
	insert(0, REQ_OP_READ, 8);
	eq(drive_dispatch(), 0, "for real-time requests as well");
	by_cost(false);
	eq(drive_dispatch(), 7, "by requests there is room for all");
	for (i = 0; i < 9; i++)
		done(i);
	eq(k2.admit.load == 0 && k2.admit.load_not_rt == 0 && k2.admit.nr == 0, 1,
	   "each gives back what it has taken");
	drive_exit();
	eq(warned, 0, "and nothing is left at exit");
}

/* Another setting, while requests wait and are in the device */
static void change(unsigned long long *seed)
{
	drive_set(TUN_reserve, tap_rand(seed) % 4);
	drive_set(TUN_rt_alone, tap_rand(seed) % 2);
	drive_set(TUN_nrt_wait_ms, tap_rand(seed) % 2);
	drive_set(TUN_meta_every, tap_rand(seed) % 4);
	drive_set(TUN_idle_wait_ms, tap_rand(seed) % 2 ? 3 : 0);
	drive_set(TUN_max_inflight, 1 + tap_rand(seed) % 8);
	by_cost(tap_rand(seed) % 2);
}

/* Whatever is inserted: no request is stuck, and at rest no slot is taken. */
static void random_mixes(void)
{
	unsigned long long seed = 11;
	unsigned int round, bad = 0, i, n;

	for (round = 0; round < 3000; round++) {
		drive_init(1);
		change(&seed);
		n = 20 + tap_rand(&seed) % 60;
		for (i = 0; i < n; i++) {
			insert(tap_rand(&seed) % K2_NR_CLASSES,
			       tap_rand(&seed) % 2 ? REQ_OP_WRITE : REQ_OP_READ,
			       1U << tap_rand(&seed) % 12);
			drive_dispatch();
			drive_now += tap_rand(&seed) % 2000000;
			if (tap_rand(&seed) % 50 == 0)
				drive_now = tap_rand(&seed);
			if (tap_rand(&seed) % 2 && drive_rqs[drive_last()].out) {
				done(drive_last());
				drive_dispatch();
			}
			if (tap_rand(&seed) % 16 == 0) {
				change(&seed);
				drive_dispatch();
			}
			bad += !drive_inflight && k2.order.busy;
			bad += k2.fq.held && !drive_inflight;
		}
		for (i = 0; i < drive_dispatches; i++) {
			if (!drive_rqs[drive_trace[i]].out)
				continue;
			done(drive_trace[i]);
			drive_dispatch();
			bad += !drive_inflight && k2.order.busy;
		}
		bad += k2.admit.nr || k2.admit.load || k2.admit.load_not_rt;
		bad += drive_nr != drive_dispatches;
		drive_exit();
	}
	eq(bad, 0, "3000 random mixes: no request is stuck, no slot is taken at rest");
	eq(warned, 0, "and nothing is left at exit");
}

static void watching(void)
{
	drive_init(4);
	eq(k2.fq.watches, 0, "with the defaults nothing is watched");
	drive_set(TUN_reserve, 1);
	eq(k2.fq.watches, 1, "a reserve watches");
	drive_set(TUN_reserve, 0);
	eq(k2.fq.watches, 0, "without it nothing is watched again");
	drive_set(TUN_nrt_wait_ms, 1);
	eq(k2.fq.watches, 1, "so does a limit on starvation");
	drive_set(TUN_nrt_wait_ms, 0);
	by_cost(true);
	eq(k2.fq.watches, 1, "and cost");
	by_cost(false);
	drive_set(TUN_rt_alone, 1);
	eq(k2.fq.watches, 1, "and rt_alone");
	drive_set(TUN_rt_alone, 0);
	drive_set(TUN_observe, 1);
	eq(k2.fq.watches, 1, "and observe");
}

int main(void)
{
	watching();
	reserve();
	reserve_and_meta();
	alone();
	not_alone();
	alone_and_search();
	settings();
	alone_but_due();
	starvation();
	learns();
	random_mixes();
	return tap_done();
}
