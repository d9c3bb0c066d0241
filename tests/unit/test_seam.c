// SPDX-License-Identifier: GPL-2.0
/* The filter of merge candidates: no false negatives, few false positives. */
#include <pthread.h>

#include "common/elevator/seam.h"
#include "tap.h"

#define WAITING	96
#define QUEUES	4
#define THREADS	4

static atomic_t counts[1U << FLASH_SEAM_BITS_MAX];

static struct flash_seams table(u32 queues)
{
	struct flash_seams s = {
		.count	= counts,
		.bits	= flash_seams_bits(queues),
	};

	memset(counts, 0, sizeof(counts));
	return s;
}

static void sizes(void)
{
	eq(flash_seams_bits(1), 12, "one hardware queue");
	eq(flash_seams_bits(4), 12, "four");
	eq(flash_seams_bits(5), 13, "five");
	eq(flash_seams_bits(32), 15, "32");
	eq(flash_seams_bits(4096), 15, "very many");
}

static void both_ends(void)
{
	struct flash_seams s = table(1);
	struct flash_seam seam = { 0, 0 };

	eq(flash_seams_may(&s, 8, 16), 0, "no request waits");
	flash_seams_set(&s, &seam, 100, 108);
	eq(flash_seams_may(&s, 108, 116), 1, "behind it");
	eq(flash_seams_may(&s, 92, 100), 1, "before it");
	eq(flash_seams_may(&s, 100, 108), 0, "at the same place: not at its end");
	eq(flash_seams_may(&s, 116, 124), 0, "with a gap");
	flash_seams_set(&s, &seam, 92, 108);
	eq(flash_seams_may(&s, 84, 92), 1, "before it, grown");
	eq(flash_seams_may(&s, 108, 116), 1, "behind it still");
	eq(flash_seams_may(&s, 96, 100), 0, "where it began");
	flash_seams_del(&s, &seam);
	eq(flash_seams_may(&s, 108, 116) || flash_seams_may(&s, 84, 92), 0,
	   "removed");
	flash_seams_del(&s, &seam);
	eq(flash_seams_left(&s), 0, "taken out once");
}

/* Requests are added, grow and are removed; each bio adjacent to one of them passes. */
static void random_requests(void)
{
	static struct {
		u64 from, to;
		struct flash_seam seam;
	} rq[WAITING];
	struct flash_seams s = table(QUEUES);
	unsigned long long seed = 1;
	long turned_away = 0, let_in = 0, asked = 0;
	u32 i, n, step;

	memset(rq, 0, sizeof(rq));
	for (step = 0; step < 200000; step++) {
		n = tap_rand(&seed) % WAITING;
		switch (tap_rand(&seed) % 8) {
		case 0:
			flash_seams_del(&s, &rq[n].seam);
			rq[n].to = 0;
			break;
		case 1:
			if (rq[n].to && rq[n].from >= 8)
				rq[n].from -= 8;
			break;
		case 2:
			if (rq[n].to)
				rq[n].to += 8;
			break;
		default:
			if (rq[n].to)
				break;
			rq[n].from = (u64)(tap_rand(&seed) % 100000000) * 8;
			rq[n].to = rq[n].from + 8;
		}
		if (rq[n].to)
			flash_seams_set(&s, &rq[n].seam, rq[n].from, rq[n].to);
		n = tap_rand(&seed) % WAITING;
		if (rq[n].to) {
			turned_away += !flash_seams_may(&s, rq[n].to,
							rq[n].to + 8);
			turned_away += rq[n].from >= 8 &&
				       !flash_seams_may(&s, rq[n].from - 8,
							rq[n].from);
		}
		/* A request that does not exist: beyond all others. */
		n = 800000000 + tap_rand(&seed) % 100000000 * 8;
		let_in += flash_seams_may(&s, n, n + 8);
		asked++;
	}
	eq(turned_away, 0, "bios turned away that touch a request");
	eq(let_in * 100 < asked * 10, 1,
	   "%ld of %ld false positives, less than 10 %%", let_in, asked);
	for (i = 0; i < WAITING; i++)
		flash_seams_del(&s, &rq[i].seam);
	eq(flash_seams_left(&s), 0, "nothing is left");
}

static struct flash_seams shared;

static void *comes_and_goes(void *arg)
{
	unsigned long long seed = (unsigned long long)(size_t)arg;
	static __thread struct flash_seam seam[64];
	long bad = 0;
	u64 from;
	u32 n, step;

	for (step = 0; step < 100000; step++) {
		n = tap_rand(&seed) % 64;
		from = tap_rand(&seed) % 512 * 8;
		flash_seams_set(&shared, &seam[n], from, from + 8);
		bad += !flash_seams_may(&shared, from + 8, from + 16);
	}
	for (n = 0; n < 64; n++)
		flash_seams_del(&shared, &seam[n]);
	return (void *)bad;
}

/* Many threads, at the same sectors. */
static void at_once(void)
{
	pthread_t thread[THREADS];
	long bad = 0, failed = 0;
	void *result;
	size_t n;

	shared = table(1);
	for (n = 0; n < THREADS; n++)
		failed += pthread_create(&thread[n], NULL, comes_and_goes,
					 (void *)(n + 1)) != 0;
	for (n = 0; n < THREADS && !failed; n++) {
		pthread_join(thread[n], &result);
		bad += (long)result;
	}
	eq(failed, 0, "threads run");
	eq(bad, 0, "no false negative for a thread's own request");
	eq(flash_seams_left(&shared), 0, "nothing is left by %d at once", THREADS);
}

int main(void)
{
	sizes();
	both_ends();
	random_requests();
	at_once();
	return tap_done();
}
