// SPDX-License-Identifier: GPL-2.0
/*
 * Dies and buses: exact times of single operations, their order, the cost of an
 * interrupted program, and that every nanosecond is counted once.
 */
#include <string.h>
#include <unistd.h>

#include "../flashsim/nand.c"
#include "tap.h"

#define READ_NS		36000u
#define PROG_NS		185000u
#define BUS_NS		5000u
#define PAGE		5000u		/* bytes, at 1 ns each */
#define MAX_CMDS	64

static struct nand n;
static struct nand_cmd cmd[MAX_CMDS];
static unsigned int nr_cmds, nr_ended;
static struct nand_cmd *ended[MAX_CMDS];
static int owner[MAX_CMDS];

static void flash(u32 channels, u32 ways, u32 dies, enum nand_order order,
		  u64 suspend)
{
	struct nand_cfg cfg = {
		.channels = channels, .ways = ways, .dies = dies,
		.ps_per_byte = 1000, .suspend = suspend, .order = order,
	};

	memset(&n, 0, sizeof(n));
	memset(cmd, 0, sizeof(cmd));
	nr_cmds = nr_ended = 0;
	if (nand_init(&n, &cfg)) {
		printf("Bail out! no such flash\n");
		exit(EXIT_FAILURE);
	}
}

static void run(u64 until)
{
	struct nand_list list;
	struct nand_cmd *c;

	nand_list_init(&list);
	nand_run(&n, until, &list);
	while ((c = nand_list_take(&list)))
		ended[nr_ended++] = c;
}

/* An operation that arrives at @t; earlier events are processed first. */
static struct nand_cmd *at(u64 t, unsigned int lun, enum nand_kind kind,
			   u64 first, u32 bytes, u64 last)
{
	struct nand_cmd *c = &cmd[nr_cmds];

	run(t);
	c->lun = (u16)lun;
	c->kind = (u8)kind;
	c->first = first;
	c->bytes = bytes;
	c->last = last;
	c->host = kind != NAND_COLLECT;
	c->owner = &owner[nr_cmds++];
	nand_submit(&n, c, t);
	return c;
}

static struct nand_cmd *read_at(u64 t, unsigned int lun)
{
	return at(t, lun, NAND_READ, READ_NS, PAGE, 0);
}

static struct nand_cmd *prog_at(u64 t, unsigned int lun)
{
	return at(t, lun, NAND_PROG, 0, PAGE, PROG_NS);
}

static void end(void)
{
	run(SIM_NEVER - 1);
}

static void limits(void)
{
	struct nand_cfg ok = { .channels = 8, .ways = 2, .dies = 1 }, c;

	c = ok;
	eq(nand_init(&n, &c), 0, "8 channels, 2 ways, 1 die");
	c.channels = 0;
	eq(nand_init(&n, &c), -1, "no channel is refused");
	c.channels = 65;
	eq(nand_init(&n, &c), -1, "and 65");
	c = ok;
	c.ways = 33;
	eq(nand_init(&n, &c), -1, "and 8 x 33 chips");
	c = ok;
	c.dies = 9;
	eq(nand_init(&n, &c), -1, "and 9 dies");
	c = (struct nand_cfg){ .channels = 64, .ways = 4, .dies = 8 };
	memset(&n, 0, sizeof(n));
	eq(nand_init(&n, &c), 0, "64 x 4 x 8 is the largest");
	eq(n.luns, NAND_MAX_LUNS, "with so many dies");
}

static void one_operation(void)
{
	struct nand_cmd *c;

	flash(2, 2, 2, NAND_CHIP_FIFO, 0);
	c = read_at(100, 7);
	end();
	eq(c->begun, 100, "an idle die begins at once");
	eq(c->done, 100 + READ_NS + BUS_NS, "a read: sense, transfer");
	eq(n.chip[nand_chip_of(&n, 7)].ops[NAND_READ], 1, "counted");
	eq(n.chan[1].busy, BUS_NS, "and its bus");
	c = prog_at(c->done, 0);
	end();
	eq(c->done - c->begun, BUS_NS + PROG_NS,
	   "a program: transfer, program");
	c = at(c->done, 0, NAND_COLLECT, 0, 0, 3500000);
	end();
	eq(c->done - c->begun, 3500000, "an erase");
	c = at(c->done, 0, NAND_COLLECT, 0, 0, 0);
	end();
	eq(c->done, c->begun, "what takes no time still ends");
	c = at(c->done, 0, NAND_PROG, 70, 30, 900);
	end();
	eq(c->done - c->begun, 1000, "all three steps");
}

static void dies_and_buses(void)
{
	struct nand_cmd *a, *b, *c;

	flash(2, 2, 2, NAND_CHIP_FIFO, 0);
	a = read_at(0, 0);
	b = read_at(0, 0);
	end();
	eq(b->begun, a->done, "one die: the second begins when the first ends");
	eq(b->done, 2 * (READ_NS + BUS_NS), "and takes as long");
	eq(n.stats.wait[0], READ_NS + BUS_NS, "what it waited is counted");

	flash(2, 2, 2, NAND_CHIP_FIFO, 0);
	a = read_at(0, 0);
	b = read_at(0, 1);
	end();
	eq(a->done == b->done && a->done == READ_NS + BUS_NS, 1,
	   "two channels: both at the same time");

	flash(2, 2, 2, NAND_CHIP_FIFO, 0);
	a = read_at(0, 0);
	b = read_at(0, 2);
	c = read_at(0, 4);
	end();
	eq(a->done, READ_NS + BUS_NS, "three dies on a channel: the first");
	eq(b->done, READ_NS + 2 * BUS_NS, "the next waits for the bus only");
	eq(c->done, READ_NS + 3 * BUS_NS, "another die of the first chip, too");
	eq(n.chan[0].busy, 3 * BUS_NS, "bus time");
	eq(nand_chip_busy(&n, 0, c->done), READ_NS + 3 * BUS_NS,
	   "a chip works while any of its dies does");
	eq(nand_chip_busy(&n, 2, c->done), READ_NS + 2 * BUS_NS,
	   "and while it waits for the bus");

	flash(1, 2, 1, NAND_CHIP_FIFO, 0);
	a = prog_at(0, 0);
	b = prog_at(0, 1);
	end();
	eq(a->done, BUS_NS + PROG_NS, "two programs: data is transferred one by one");
	eq(b->done, 2 * BUS_NS + PROG_NS, "programs overlap");

	/* The bus is busy when the die of the second is ready to send. */
	flash(1, 2, 1, NAND_CHIP_FIFO, 0);
	a = read_at(0, 0);
	b = at(READ_NS - 2000, 1, NAND_PROG, 0, 10000, PROG_NS);
	end();
	eq(b->done, READ_NS - 2000 + 10000 + PROG_NS,
	   "the transfer on the bus continues");
	eq(a->done, READ_NS + 8000 + BUS_NS, "the read waits for the rest");
	eq(nand_chip_busy(&n, 0, SIM_NEVER - 1), READ_NS + 8000 + BUS_NS,
	   "with its die held");
}

static void rounding(void)
{
	struct nand_cmd *c;

	flash(1, 1, 1, NAND_CHIP_FIFO, 0);
	n.cfg.ps_per_byte = 297;
	c = at(0, 0, NAND_READ, 0, 4096, 0);
	end();
	eq(c->done, 1217, "4096 bytes of 297 ps: 1216.5 ns, rounded");
	n.cfg.ps_per_byte = 1000000;
	c = at(c->done, 0, NAND_READ, 0, 0xffffffff, 0);
	end();
	eq(c->done - c->begun, 4294967295000LL,
	   "4 GB at 1 MB/s do not overflow");
}

static void order_of(const char *want, const char *what)
{
	char got[MAX_CMDS + 1] = "";
	unsigned int i;

	for (i = 0; i < nr_ended; i++)
		got[i] = (char)('A' + (ended[i] - cmd));
	eq(strcmp(got, want), 0, "%s: %s", what, want);
	if (strcmp(got, want))
		printf("# ended: %s\n", got);
}

static void orders(void)
{
	enum nand_order o;

	for (o = NAND_CHIP_FIFO; o <= NAND_IN_ORDER; o++) {
		flash(1, 1, 1, o, 0);
		prog_at(0, 0);
		prog_at(1, 0);
		read_at(2, 0);
		at(3, 0, NAND_COLLECT, 0, 0, 1000);
		read_at(4, 0);
		end();
		if (o == NAND_READ_FIRST)
			order_of("ACEBD", "reads first on a die");
		else
			order_of("ABCDE", "in the order of arrival");
	}

	/* A's data is on the bus; B (program) waits for it before C (read). */
	for (o = NAND_CHIP_FIFO; o <= NAND_READ_FIRST; o++) {
		flash(1, 3, 1, o, 0);
		at(0, 0, NAND_READ, 0, 50000, 0);
		prog_at(1, 1);
		read_at(2, 2);
		end();
		eq(cmd[1].done, o == NAND_READ_FIRST ?
		   50000 + 2 * BUS_NS + PROG_NS : 50000 + BUS_NS + PROG_NS,
		   "order %d: the program's bus", o);
		eq(cmd[2].done, o == NAND_READ_FIRST ?
		   50000 + BUS_NS : 50000 + 2 * BUS_NS,
		   "order %d: the read's", o);
	}

	flash(4, 1, 1, NAND_CHIP_FIFO, 0);
	at(0, 3, NAND_READ, 100, 0, 0);
	at(0, 1, NAND_READ, 100, 0, 0);
	at(0, 2, NAND_READ, 100, 0, 0);
	end();
	order_of("BCA", "what ends at the same time: by die");
}

static void suspended(void)
{
	struct nand_cmd *p, *r;

	flash(1, 1, 1, NAND_CHIP_FIFO, 0);
	p = prog_at(0, 0);
	r = read_at(60000, 0);
	end();
	eq(p->done, BUS_NS + PROG_NS,
	   "no suspension: the program completes");
	eq(r->done, p->done + READ_NS + BUS_NS, "and the read waits");

	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = prog_at(0, 0);
	r = read_at(60000, 0);
	end();
	eq(r->begun, 60000, "suspension: the read gets its die at once");
	eq(r->done, 60000 + 7000 + READ_NS + BUS_NS, "and pays for it");
	eq(p->done, BUS_NS + PROG_NS + 7000 + READ_NS + BUS_NS,
	   "the program continues where it was");
	eq(p->begun, 0, "it began before");
	eq(n.stats.suspends, 1, "counted");
	eq(n.stats.wait[0], 0, "the read did not wait for its die");
	eq(nand_chip_busy(&n, 0, p->done), p->done, "the chip never rested");

	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = at(0, 0, NAND_COLLECT, 0, 0, 3500000);
	r = read_at(3499999, 0);
	end();
	eq(r->done, 3499999 + 7000 + READ_NS + BUS_NS, "an erase, too");
	eq(p->done, r->done + 1, "even with 1 ns left");

	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = prog_at(0, 0);
	r = read_at(2000, 0);
	end();
	eq(r->begun, BUS_NS, "data on its way to the die is not interrupted");
	eq(p->done, r->done + PROG_NS, "the program then has all before it");

	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = prog_at(0, 0);
	r = read_at(60000, 0);
	read_at(61000, 0);
	prog_at(62000, 0);
	end();
	eq(cmd[2].begun, r->done, "a second read starts right after the first");
	eq(cmd[2].done, r->done + 7000 + READ_NS + BUS_NS, "and pays as well");
	eq(p->done, BUS_NS + PROG_NS + 2 * (7000 + READ_NS + BUS_NS),
	   "the program loses no time that it has had");
	eq(cmd[3].begun, p->done, "another program waits for its end");

	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = prog_at(0, 0);
	prog_at(1, 0);
	r = read_at(60000, 0);
	end();
	eq(n.stats.suspends, 1, "fifo: a read behind a program cannot pass it");
	eq(r->begun, p->done + BUS_NS, "but interrupts it when it has begun");

	/* The operation on the die was started earlier and has no data to move. */
	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	p = prog_at(0, 0);
	at(1, 0, NAND_COLLECT, 500000, 0, 800000);
	r = read_at(2, 0);
	end();
	eq(r->begun, p->done, "fifo: the same with collection");
	eq(cmd[1].done, p->done + 1300000 + 7000 + READ_NS + BUS_NS,
	   "which is complete afterwards");

	/* At one time: garbage collection begins its second step, and a read arrives. */
	flash(1, 1, 1, NAND_READ_FIRST, 7000);
	at(0, 0, NAND_COLLECT, 500, 0, 800);
	r = read_at(500, 0);
	end();
	eq(r->begun, 500, "between two steps of the array");
	eq(cmd[0].done, 1300 + 7000 + READ_NS + BUS_NS, "nothing is lost");

	flash(1, 1, 1, NAND_READ_FIRST, 7000);
	prog_at(0, 0);
	prog_at(1, 0);
	read_at(60000, 0);
	end();
	order_of("CAB", "read_first: the read passes the waiting program");
}

static struct nand_cmd *page_read_at(u64 t, u32 page)
{
	run(t);
	cmd[nr_cmds].page = page;
	return read_at(t, 0);
}

/* The register: the last sensed page is not sensed again. */
static void page_register(void)
{
	struct nand_cmd *c;
	unsigned int keep;

	for (keep = 0; keep < 2; keep++) {
		const u64 again = (keep ? 0 : READ_NS) + BUS_NS;

		flash(1, 1, 1, NAND_CHIP_FIFO, 0);
		n.cfg.keep = keep;
		c = page_read_at(0, 7);
		end();
		eq(c->done, READ_NS + BUS_NS, "keep %u: sensed", keep);
		c = page_read_at(100000, 7);
		end();
		eq(c->done - c->begun, again, "keep %u: read again", keep);
		c = page_read_at(200000, 8);
		end();
		eq(c->done - c->begun, READ_NS + BUS_NS, "another page");
		c = page_read_at(300000, 7);
		end();
		eq(c->done - c->begun, READ_NS + BUS_NS, "the first, replaced");
		prog_at(400000, 0);
		c = page_read_at(400001, 7);
		end();
		eq(c->done - c->begun, READ_NS + BUS_NS, "after a program");
		at(c->done, 0, NAND_COLLECT, 10, 0, 10);
		c = page_read_at(c->done, 7);
		end();
		eq(c->done - c->begun, READ_NS + BUS_NS, "after collection");
		c = page_read_at(c->done, NAND_NO_PAGE);
		c = page_read_at(c->done, NAND_NO_PAGE);
		end();
		eq(c->done - c->begun, READ_NS + BUS_NS, "no page is like none");
		eq(n.stats.kept, keep, "hits are counted");
	}

	/* It also helps a read that interrupts: a second one after the first. */
	flash(1, 1, 1, NAND_CHIP_FIFO, 7000);
	n.cfg.keep = true;
	prog_at(0, 0);
	page_read_at(60000, 7);
	c = page_read_at(60001, 7);
	end();
	eq(c->done - c->begun, 7000 + BUS_NS, "in a suspended program");
}

static void patience(void)
{
	unsigned int i;

	flash(1, 1, 1, NAND_CHIP_FIFO, 1000);
	prog_at(0, 0);
	for (i = 0; i < 20; i++)
		at(10000 + i, 0, NAND_READ, READ_NS, 0, 0);
	end();
	eq(n.stats.suspends, NAND_MAX_SUSPENDS, "20 reads: number served before");
	eq(cmd[0].done, BUS_NS + PROG_NS + NAND_MAX_SUSPENDS * (1000 + READ_NS),
	   "then the program ends");
	eq(cmd[NAND_MAX_SUSPENDS].done < cmd[0].done &&
	   cmd[NAND_MAX_SUSPENDS + 1].begun == cmd[0].done, 1,
	   "the rest of the reads follow");
	at(n.since, 0, NAND_PROG, 0, 0, 100000);
	at(n.since + 10, 0, NAND_READ, 10, 0, 0);
	end();
	eq(n.stats.suspends, NAND_MAX_SUSPENDS + 1, "the next one restarts the count");
}

static void conflicts(void)
{
	struct nand_cmd *c;

	flash(2, 1, 1, NAND_CHIP_FIFO, 0);
	read_at(0, 0);
	read_at(0, 1);
	eq(n.stats.conflicts[0][0], 0, "two dies: no conflict");
	read_at(1, 0);
	eq(n.stats.conflicts[0][0], 1, "read behind read");
	prog_at(2, 0);
	eq(n.stats.conflicts[0][1], 1, "write behind read");
	prog_at(3, 0);
	eq(n.stats.conflicts[1][1], 1, "write behind write");
	read_at(4, 0);
	eq(n.stats.conflicts[1][0], 1, "read behind write");
	run(SIM_NEVER - 1);

	flash(1, 1, 1, NAND_CHIP_FIFO, 0);
	read_at(0, 0);
	c = &cmd[nr_cmds];
	*c = cmd[0];
	eq(nand_submit(&n, c, 1), 0, "a request's own pages are none");
	nr_cmds++;
	at(2, 0, NAND_COLLECT, 0, 0, 10);
	read_at(3, 0);
	eq(n.stats.conflicts[0][0] + n.stats.conflicts[1][0], 0,
	   "nor is collection, from either side");
	end();
	eq(n.stats.wait[0], (READ_NS + BUS_NS - 1) + (2 * (READ_NS + BUS_NS) +
	   10 - 3), "but what requests waited is counted whatever for");
	eq(n.stats.wait[1], 0, "and not what collection waited");
}

/* Random work: the integral compared with a second computation. */
static void integrals(void)
{
	static const char *const names[] = {
		"chip_fifo", "read_first", "in_order"
	};
	unsigned long long seed = 7;
	unsigned int round;

	for (round = 0; round < 12; round++) {
		u64 chip_time = 0, busy = 0, active = 0, t = 0, reset_at, sum;
		unsigned int i, l, in = 0;
		bool reset = false;

		flash(2, 2, 2, round % 3, round % 2 * 3000);
		reset_at = round < 3 ? 0 : tap_rand(&seed) % 500000;
		for (i = 0; i < 60 || nand_next(&n) != SIM_NEVER; ) {
			bool submit = i < 60 && tap_rand(&seed) % 3 == 0;
			u64 then = submit ? t + tap_rand(&seed) % 30000 :
				nand_next(&n);
			bool works[4] = { false };
			unsigned int before = nr_ended;

			if (then == SIM_NEVER)
				continue;
			if (submit && then > nand_next(&n))
				continue;
			if (!reset && then >= reset_at) {
				then = reset_at;
				submit = false;
			}
			for (l = 0; l < n.luns; l++)
				works[l % 4] |= n.lun[l].cur != NULL;
			for (l = 0; l < 4; l++) {
				if (reset && works[l])
					chip_time += then - t;
				if (reset && works[l] && in)
					busy += then - t;
			}
			if (reset && in)
				active += then - t;
			t = then;
			run(t);
			for (; before < nr_ended; before++) {
				nand_outstanding(&n, -1, t);
				in--;
			}
			if (!reset && t >= reset_at) {
				nand_reset_stats(&n, t);
				reset = true;
			}
			if (!submit)
				continue;
			/* Some operations belong to no request. */
			in++;
			i++;
			nand_outstanding(&n, 1, t);
			l = tap_rand(&seed) % n.luns;
			if (tap_rand(&seed) % 2)
				read_at(t, l);
			else
				prog_at(t, l);
		}
		for (sum = l = 0; l < n.chips; l++)
			sum += nand_chip_busy(&n, l, t);
		eq(sum, chip_time, "%s %u: time of the chips", names[round % 3],
		   round);
		eq(n.stats.busy, busy, "while requests are there");
		eq(n.stats.active, active, "and how long that is");
		eq(nr_ended, 60, "all end");
	}
}

/* Without requests nothing is outstanding, even if dies work. */
static void idle_work(void)
{
	flash(1, 1, 1, NAND_CHIP_FIFO, 0);
	at(0, 0, NAND_COLLECT, 0, 0, 1000);
	end();
	eq(n.stats.busy, 0, "work without a request is no utilisation");
	eq(n.stats.active, 0, "and no active time");
	eq(n.chip[0].busy, 1000, "but chip time");
	nand_outstanding(&n, 1, 5000);
	at(5500, 0, NAND_COLLECT, 0, 0, 1000);
	run(6000);
	nand_outstanding(&n, -1, 6000);
	end();
	eq(n.stats.busy, 500, "only what overlaps with a request");
	eq(n.stats.active, 1000, "out of its time");
}

/* Events happen at their times, however late the caller is. */
static void late_looks(void)
{
	u64 done[24];
	unsigned int i, bad = 0;

	for (i = 0; i < 2; i++) {
		unsigned long long seed = 3;
		unsigned int k;

		flash(2, 2, 1, NAND_READ_FIRST, 2000);
		for (k = 0; k < 24; k++) {
			unsigned int lun = tap_rand(&seed) % 4;

			if (tap_rand(&seed) % 3)
				read_at(k * 1000, lun);
			else
				prog_at(k * 1000, lun);
		}
		while (!i && nand_next(&n) != SIM_NEVER)
			run(nand_next(&n));
		end();
		for (k = 0; k < 24; k++) {
			if (i)
				bad += cmd[k].done != done[k];
			done[k] = cmd[k].done;
		}
		for (k = 1; k < nr_ended; k++)
			bad += ended[k]->done < ended[k - 1]->done;
	}
	eq(bad, 0,
	   "24 operations: the same times, event by event or all at once");
}

int main(void)
{
	alarm(60);
	limits();
	one_operation();
	dies_and_buses();
	rounding();
	orders();
	suspended();
	page_register();
	patience();
	conflicts();
	integrals();
	idle_work();
	late_looks();
	return tap_done();
}
