/* SPDX-License-Identifier: GPL-2.0 */
/*
 * policytest.h - requests wait while a setting changes
 *
 * Properties, for each policy and each of its settings:
 *   - the lock is never held for a number of steps that grows with the waiting requests;
 *   - all requests are dispatched once, in the order in which a device with that setting would
 *     have dispatched them;
 *   - a waiting request that absorbs the oldest one gets its place without a walk;
 *   - a list of requests is inserted without a choice of the policy;
 *   - another task may dispatch, insert, complete and remove the scheduler wherever the lock
 *     is free, and has_work() is true there.
 *
 * A test includes it after a policy, and defines its cases.
 */
#ifndef POLICYTEST_H
#define POLICYTEST_H

#pragma GCC diagnostic pop

#define MANY		(TAGS * QUEUES)
#define SOME		1024

/* Requests of a hardware queue that are inserted together, and tags of it if SOME wait */
#define TOGETHER	32
#define SOME_TAGS	64

/*
 * Most steps with the lock held: two slices of FLASH_DRAIN_MOST requests, and what a change
 * costs without any
 */
#define PART_STEPS	12000

/* Most steps of a merge of two waiting requests */
#define MERGE_STEPS	1500

/* A new value of a tunable, or of a text if @word is set */
struct change {
	unsigned int idx;
	unsigned int val;
	const char *word;
};

/* Change @to after @before, with an in-flight limit of @depth */
struct change_case {
	const char *what;
	struct change before[4];
	struct change to;
};

/* Called after a change; for what a policy learns */
static void after_change(struct flash_queue *fq);

/* The longest time for which the lock was held, in steps */
static volatile unsigned long hold, longest;

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void);

__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
	if (!locked) {
		hold = 0;
		return;
	}
	hold++;
	if (longest < hold)
		longest = hold;
}

/* Choices in one hold of the lock: of the request, and of others of the round */
#define CHOICES		(1 + FLASH_ROUND_MOST)

static unsigned int order[MANY], orders, inserted, done, done_by_merge;
static struct request *flying[MANY];
static unsigned char times[MANY];

static void change(struct flash_queue *fq, const struct change *c)
{
	if (c->word) {
		snprintf(the_disk.text[c->idx], FLASH_TEXT_LEN, "%s", c->word);
		flash_policy.text_tuned(fq, c->idx, c->word);
	} else {
		the_disk.val[c->idx] = c->val;
		flash_policy.tuned(fq, c->idx);
	}
}

static struct flash_queue *begin_case(const struct change_case *c, unsigned int tags)
{
	struct flash_queue *fq;
	unsigned int i;

	one_thread = true;
	hctx_tags = tags;
	orders = inserted = done = done_by_merge = 0;
	drive_now = 1000000000;
	drive_capacity = 1ULL << 30;
	memset(times, 0, sizeof(times));
	memset(&the_disk, 0, sizeof(the_disk));
	for (i = 0; i < flash_policy.nr_tunables; i++)
		the_disk.val[i] = flash_policy.defaults[i];
	for (i = 0; i < flash_policy.nr_texts; i++)
		strcpy(the_disk.text[i], flash_policy.text_defaults[i]);
	fq = begin(UINT_MAX);
	for (i = 0; i < ARRAY_SIZE(c->before) && (c->before[i].idx || c->before[i].val ||
						  c->before[i].word); i++)
		change(fq, &c->before[i]);
	after_change(fq);
	return fq;
}

/* Request number @nth */
static struct request *request_at(unsigned int nth)
{
	return &rqs[nth / TOGETHER % QUEUES]
		   [nth / (TOGETHER * QUEUES) * TOGETHER + nth % TOGETHER];
}

/* The next request: a read or a write, of one page or of several */
static struct request *make(void)
{
	struct request *rq = request_at(inserted);
	unsigned long long seed = inserted + 1;
	unsigned int n = inserted / TOGETHER % QUEUES;

	memset(rq, 0, sizeof(*rq));
	rq->q = &queue;
	rq->mq_hctx = &hctxs[n];
	rq->internal_tag = (unsigned int)(rq - rqs[n]);
	rq->nth = inserted++;
	rq->op = tap_rand(&seed) % 4 ? REQ_OP_READ : REQ_OP_WRITE;
	rq->cmd_flags = rq->op == REQ_OP_WRITE;
	rq->sector = tap_rand(&seed) % (1 << 20) * 8ULL;
	rq->sectors = tap_rand(&seed) % 3 ? 8 : 8 * (1 + tap_rand(&seed) % 6);
	rq->ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, tap_rand(&seed) % 8);
	if (tap_rand(&seed) % 512 == 0)
		rq->ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 1);
	rq->start_time_ns = ktime_get_ns();
	elv_prepare_request(rq);
	drive_now += 10;
	return rq;
}

/* Insert @nr requests, from a plug: a list for each hardware queue. */
static void insert(unsigned int nr)
{
	struct request *rq;

	while (nr) {
		LIST_HEAD(list);

		do {
			rq = make();
			list_add_tail(&rq->queuelist, &list);
		} while (--nr && inserted % TOGETHER);
		the_task.plug = &the_task;
		elv_insert_requests(rq->mq_hctx, &list, false);
		the_task.plug = NULL;
	}
}

/* Dispatch one request; false if none may be. */
static bool dispatch(void)
{
	struct request *rq;

	if (!elv_has_work(&hctxs[0]))
		return false;
	rq = elv_dispatch_request(&hctxs[0]);
	if (!rq)
		return false;
	rq->started = true;
	drive_now += 100;
	times[rq->nth]++;
	flying[orders] = rq;
	order[orders++] = (unsigned int)rq->nth;
	return true;
}

/* The oldest request in flight completes. */
static bool complete(void)
{
	struct request *rq;

	if (done == orders)
		return false;
	rq = flying[done++];
	drive_now += 1000;
	elv_completed_request(rq, drive_now);
	elv_finish_request(rq);
	return true;
}

/* Dispatch all requests, while up to @depth are in flight. Only a timer may be waited for. */
static void drain(unsigned int depth)
{
	unsigned int idle = 0;

	while (done + done_by_merge < inserted && idle < 1000) {
		if (orders - done < depth && dispatch())
			idle = 0;
		else if (complete())
			idle = 0;
		else if (idle++, policy_timer && policy_timer->set) {
			drive_now = max(drive_now, (u64)policy_timer->in);
			hrtimer_expire(policy_timer);
		}
	}
}

/* Each request was dispatched once and has completed, and the scheduler can be removed. */
static void end_case(const char *what)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < inserted; i++)
		wrong += times[i] != 1;
	if (wrong)
		eq(wrong, 0, "%s: requests that are not dispatched once", what);
	end();
	if (warned)
		eq(warned, 0, "%s: the code wonders about nothing", what);
	warned = 0;
	free(the_disk.policy_data);
}

/* What happens at one of the times when the lock is free during a change */
static unsigned int unlocks_left, blind;
static struct flash_queue *changing;
static enum { LOOKS, DISPATCHES, ENDS } happens;

static void happen(void)
{
	unsigned int i;

	blind += changing->queued && !flash_ready(changing);
	if (--unlocks_left) {
		on(UNLOCKED, happen);
		return;
	}
	switch (happens) {
	case LOOKS:
		break;
	case DISPATCHES:
		for (i = 0; i < 40; i++)
			dispatch();
		insert(40);
		for (i = 0; i < 20; i++)
			complete();
		break;
	case ENDS:
		drain(64);
		break;
	}
}

/* Make a change while requests wait. Return: the steps of the longest hold. */
static unsigned long change_now(struct flash_queue *fq, const struct change *c)
{
	longest = hold = 0;
	change(fq, c);
	after_change(fq);
	return longest;
}

/* The lock is held for few steps, however many requests wait. */
static void check_hold(const struct change_case *c)
{
	unsigned long few, many;
	struct flash_queue *fq;

	fq = begin_case(c, SOME_TAGS);
	insert(SOME);
	few = change_now(fq, &c->to);
	drain(64);
	end_case(c->what);
	fq = begin_case(c, TAGS);
	insert(MANY);
	many = change_now(fq, &c->to);
	drain(64);
	end_case(c->what);
	printf("# %s: %lu steps while %d wait, %lu while %d do\n", c->what, few, SOME, many,
	       MANY);
	eq(few <= PART_STEPS, 1, "%s: short holds while %d requests wait", c->what, SOME);
	eq(many <= PART_STEPS, 1, "%s: short holds while %d requests wait", c->what, MANY);
}

static unsigned int expected[MANY];

/* Waiting requests get the order that they would have if the setting had been there before. */
static void check_order(const struct change_case *c)
{
	struct flash_queue *fq;

	fq = begin_case(c, SOME_TAGS);
	change_now(fq, &c->to);
	insert(SOME);
	drain(32);
	end_case(c->what);
	memcpy(expected, order, sizeof(order));
	fq = begin_case(c, SOME_TAGS);
	insert(SOME);
	change_now(fq, &c->to);
	drain(32);
	end_case(c->what);
	eq(memcmp(expected, order, SOME * sizeof(order[0])), 0,
	   "%s: the order of the new setting", c->what);
}

/* Something happens at the @nth time when the lock is free. Return: it did happen. */
static bool meanwhile_at(const struct change_case *c, unsigned int nth)
{
	struct flash_queue *fq;
	bool happened;

	fq = begin_case(c, SOME_TAGS);
	insert(SOME);
	dispatch();
	blind = 0;
	changing = fq;
	unlocks_left = nth;
	on(UNLOCKED, happen);
	change_now(fq, &c->to);
	happened = !unlocks_left;
	on(NEVER, NULL);
	if (blind)
		eq(blind, 0, "%s: has_work() while requests wait", c->what);
	drain(32);
	end_case(c->what);
	return happened;
}

static void check_meanwhile(const struct change_case *c)
{
	unsigned int nth, nr = 0;

	for (happens = LOOKS; happens <= ENDS; happens++)
		for (nth = 1; nth < 80; nth += nth < 4 ? 1 : 7)
			nr += meanwhile_at(c, nth);
	printf("# %s: %u events while the lock was free\n", c->what, nr);
}

/* Insert a list of @nr requests of one hardware queue. */
static void insert_plug(unsigned int nr)
{
	struct request *rq;
	LIST_HEAD(list);
	unsigned int n;

	for (n = 0; n < nr; n++) {
		rq = make();
		rq->mq_hctx = &hctxs[0];
		rq->internal_tag = n;
		list_add_tail(&rq->queuelist, &list);
	}
	the_task.plug = &the_task;
	elv_insert_requests(&hctxs[0], &list, false);
	the_task.plug = NULL;
}

/* A list of requests is inserted without a choice, and a dispatch has few, however many wait. */
static void check_choices(void)
{
	static const struct change_case none = { .what = "a plug" };
	unsigned long before;
	unsigned int n;

	for (n = 1; n <= SOME_TAGS; n++) {
		begin_case(&none, SOME_TAGS);
		before = nr_choices;
		insert_plug(n);
		eq_quiet((long long)(nr_choices - before), 0);
		dispatch();
		eq_quiet(nr_choices - before <= CHOICES, 1);
		dispatch();
		eq_quiet(nr_choices - before <= 2 * CHOICES, 1);
		drain(64);
		eq_quiet(nr_choices - before <= 3 * n, 1);
		end();
		free(the_disk.policy_data);
	}
	eq(n, SOME_TAGS + 1, "with up to 64 requests in a list, a dispatch has %u choices at most", CHOICES);
}

/* A request absorbs one that the core found next to it, and that has left the merge lookup. */
static unsigned long absorb(struct flash_queue *fq, struct request *rq, struct request *gone)
{
	unsigned long before;

	flash_lock(fq);
	rq->sector = min(rq->sector, gone->sector);
	rq->sectors += gone->sectors;
	before = hold;
	elv_requests_merged(&queue, rq, gone);
	before = hold - before;
	flash_unlock(fq);
	elv_finish_request(gone);
	times[gone->nth]++;
	done_by_merge++;
	return before;
}

/* The youngest request absorbs the oldest one of its class, without a walk over the queue. */
static void check_merge(const struct change_case *c)
{
	struct flash_queue *fq = begin_case(c, TAGS);
	struct request *young, *old;
	unsigned int i, n;
	unsigned long most = 0, took;

	change_now(fq, &c->to);
	insert(MANY);
	for (n = 0; n < 8; n++) {
		young = request_at(MANY - 1 - n);
		for (i = 0; i < MANY / 2; i++) {
			old = request_at(i);
			if (old->elv.priv[0] && old->op == young->op &&
			    flash_rq_of(old)->class == flash_rq_of(young)->class)
				break;
		}
		took = absorb(fq, young, old);
		most = max(most, took);
		eq_quiet(flash_rq_of(young)->seq, i + 1);
	}
	dispatch();
	printf("# %s: %lu steps of a merge\n", c->what, most);
	eq(most && most <= MERGE_STEPS, 1, "%s: few steps of a merge", c->what);
	drain(64);
	end_case(c->what);
}

static int test_changes(const struct change_case *cases, unsigned int nr)
{
	unsigned int i;

	check_choices();
	for (i = 0; i < nr; i++) {
		check_hold(&cases[i]);
		check_order(&cases[i]);
		check_meanwhile(&cases[i]);
		check_merge(&cases[i]);
	}
	return tap_done();
}

#endif /* POLICYTEST_H */
