/* SPDX-License-Identifier: GPL-2.0 */
/* policythreads.h - what the threads of elvthreads.h do with a scheduler's own files */
#ifndef POLICYTHREADS_H
#define POLICYTHREADS_H

#include "elvthreads.h"

/* A text, and its values that the looker sets */
struct choice {
	unsigned int idx;
	const char *const *words;
	unsigned int nr;
};

/* The test defines these two. more() uses the scheduler's other attributes. */
static const struct choice *a_choice(unsigned int random);
static void more(struct flash_queue *fq);

/* Are there real-time requests in this round? */
static bool urgent;

static void describe(struct request *rq)
{
	bool rt = urgent && tap_rand(&turns) % 4 == 0;

	rq->op = tap_rand(&turns) % 2 ? REQ_OP_READ : REQ_OP_WRITE;
	rq->sector = tap_rand(&turns) % 4096 * 8;
	rq->ioprio = IOPRIO_PRIO_VALUE(rt ? IOPRIO_CLASS_RT : IOPRIO_CLASS_BE, 4);
}

static void set_text(struct flash_queue *fq, const struct choice *c)
{
	const char *word = c->words[tap_rand(&turns) % c->nr];

	flash_policy.text_tuned(fq, c->idx, word);
	strcpy(the_disk.text[c->idx], word);
}

/* Mostly one of the two smallest values: more wait, and more is held back. */
static void set_tunable(struct flash_queue *fq)
{
	unsigned int idx = tap_rand(&turns) % flash_policy.nr_tunables;
	const struct flash_tunable *t = &flash_policy.tunables[idx];
	unsigned int small = min(t->min + tap_rand(&turns) % 2, t->max);

	WRITE_ONCE(the_disk.val[idx],
		   tap_rand(&turns) % 3 ? small : flash_policy.defaults[idx]);
	flash_policy.tuned(fq, idx);
}

static void *looker(void *arg)
{
	struct flash_queue *fq = arg;
	char page[4096];

	turns = seed + 300;
	while (looks()) {
		switch (tap_rand(&turns) % 6) {
		case 0:
			set_tunable(fq);
			break;
		case 1:
			more(fq);
			break;
		case 2:
			set_text(fq, a_choice(tap_rand(&turns)));
			break;
		default:
			flash_lock(fq);
			flash_policy.stats(fq, page, 0);
			flash_unlock(fq);
		}
		idle(20);
	}
	return NULL;
}

static struct flash_queue *begin_round(unsigned int round)
{
	ended = over = 0;
	each = round % 9 ? 1 + (int)round % 9 : 60;
	seed = round * 1000ULL;
	hands_back = round / 2 % 3 == 1;
	restarts = round % 7 == 5;
	asks_twice = round / 4 % 2;
	urgent = round % 3;
	memcpy(the_disk.val, flash_policy.defaults,
	       flash_policy.nr_tunables * sizeof(the_disk.val[0]));
	memcpy(the_disk.text, flash_policy.text_defaults,
	       flash_policy.nr_texts * sizeof(the_disk.text[0]));
	return begin(1 + round % 3);
}

#ifdef __SANITIZE_THREAD__
#define ROUNDS		150
#else
#define ROUNDS		60
#endif

static int threads_main(void)
{
	eq(rounds_of(ROUNDS), ROUNDS, "rounds");
	eq(forgotten, 0, "requests without a scheduled run");
	eq(warned, 0, "things that the code wonders about");
	eq(races, 0, "data races that ThreadSanitizer reports");
	printf("# %d of %d runs in vain; %d requests issued first, %d of them overtaken\n",
	       in_vain, in_vain + in_earnest, firsts, overtaken);
	return tap_done();
}

#endif /* POLICYTHREADS_H */
