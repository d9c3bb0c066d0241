// SPDX-License-Identifier: GPL-2.0
/*
 * Scheduler tags by claims: the limit of each tenant, and the shares of tenants that
 * send more than there are tags, with the block layer's allocator beside. Arguments:
 * seeds, the first of them.
 */
#include <string.h>

#include "modes.h"
#include "share.h"

static struct flash_tags g;

static void takes(u32 who, u64 claim, u32 n)
{
	while (n--)
		flash_tags_get(&g, who, claim);
}

static void gives(u32 who, u32 n)
{
	while (n--)
		flash_tags_put(&g, who);
}

/* How many are known, and with which claims */
static void counts(void)
{
	memset(&g, 0, sizeof(g));
	takes(1, 100, 3);
	takes(2, 50, 1);
	eq(g.tenants, 2, "two hold some");
	eq(g.claims, 150, "their claims");
	takes(1, 700, 1);
	eq(g.claims, 750, "a claim that has changed counts from the next one on");
	gives(2, 1);
	eq(g.tenants, 1, "one has gone");
	eq(g.claims, 700, "and its claim");
	gives(1, 4);
	eq(g.tenants, 0, "nobody");
	eq(g.claims, 0, "and nothing");
}

/* Any order, any claims: compared with a recount after each step */
static void recounts(void)
{
	u32 held[8] = { 0 }, n, i, wrong = 0;
	u64 last[8] = { 0 };
	unsigned long long seed = 5;

	memset(&g, 0, sizeof(g));
	for (n = 0; n < 20000; n++) {
		u32 who = tap_rand(&seed) % 8, tenants = 0;
		u64 claims = 0;

		if (held[who] && tap_rand(&seed) % 2) {
			flash_tags_put(&g, who);
			held[who]--;
		} else {
			last[who] = 1 + tap_rand(&seed) % FLASH_TAGS_CLAIM;
			flash_tags_get(&g, who, last[who]);
			held[who]++;
		}
		for (i = 0; i < 8; i++) {
			tenants += !!held[i];
			claims += held[i] ? last[i] : 0;
			wrong += g.hold[i].held != held[i];
		}
		wrong += g.tenants != tenants || g.claims != claims;
		/* No limit exceeds the number of tags. */
		for (i = 0; i < 8; i++) {
			u32 all = 1 + tap_rand(&seed) % 300;
			u64 claim = tap_rand(&seed) % (FLASH_TAGS_CLAIM + 1);
			u32 limit = flash_tags_limit(&g, i, claim,
						     tap_rand(&seed) % 2, all,
						     tap_rand(&seed) % all);

			wrong += limit > all;
		}
	}
	eq(wrong, 0, "20000 of them");
}

static void parts(void)
{
	eq(flash_tags_quota(256, 100, 100), 120, "a half of all but some");
	eq(flash_tags_quota(256, 100, 0), 240, "all of them if alone");
	eq(flash_tags_quota(256, 1000, 1), 239, "or nearly so");
	eq(flash_tags_quota(256, 1, 1000), 1, "one at least");
	eq(flash_tags_quota(16, 1, 0), 15, "of few all but one");
	eq(flash_tags_quota(4, 7, 0), 4, "but all of very few");
	eq(flash_tags_quota(4, 300, 100), 3, "three of four at weight 3 to 1");
	eq(flash_tags_quota(4, 100, 300), 1, "and the fourth one");
	eq(flash_tags_quota(5, 300, 100), 4, "rounded to nearest");
	eq(flash_tags_quota(1, 1, 1000000), 1, "the only one is everybody's");
	eq(flash_tags_quota(1, 1, 0), 1, "and who is alone has it, too");
	eq(flash_tags_quota(2048, 1000, 255000), 7, "many");
	eq(flash_tags_quota(10240, FLASH_TAGS_CLAIM,
			    FLASH_TENANTS * FLASH_TAGS_CLAIM), 37,
	   "and the most of both");
}

/* What of all tags a tenant may claim: weight, size, and how far it is behind */
static void claims(void)
{
	struct fair_rules rules = { .depth = 8 };
	struct tenant *t;
	u64 one;

	acfq_set_rules(&acfq_defaults, ACFQ_AUTO, FAIR_CHARGE_SECTORS, &rules);
	model_init(&rules);
	t = tenant(1, 100);
	eq(fair_claim(&m.s, t, NULL), 0, "nothing is known of it yet");
	t->usual = 8 << FAIR_USUAL_SHIFT;
	one = fair_claim(&m.s, t, NULL);
	t->usual *= 2;
	eq(fair_claim(&m.s, t, NULL), one / 2, "twice as large, half as much");
	t->weight = 200;
	eq(fair_claim(&m.s, t, NULL), one, "twice the weight, twice as much");
	m.s.vtime = t->vtime + 32 * flash_vtime_of(16, 200);
	eq(fair_claim(&m.s, t, NULL), one + one / 2, "and more if it is behind");
	m.s.vtime = t->vtime + 6400 * flash_vtime_of(16, 200);
	eq(fair_claim(&m.s, t, NULL), 2 * one, "at most twice that");
	m.s.rules.exclusive = true;
	eq(fair_claim(&m.s, t, NULL), one, "nobody is behind in turns");
	m.s.rules.exclusive = false;
	t->vtime = m.s.vtime + 1000000;
	eq(fair_claim(&m.s, t, NULL), one, "nor less if it is ahead");
	t->usual = 1;
	eq(fair_claim(&m.s, t, NULL), FLASH_TAGS_CLAIM, "the most");
	t->usual = ~0ULL;
	t->vtime = m.s.vtime - (1ULL << 61);
	eq(fair_claim(&m.s, t, NULL), 1, "the least");
}

static void limits(void)
{
	memset(&g, 0, sizeof(g));
	eq(flash_tags_limit(&g, 1, 0, true, 256, 0), 0,
	   "nobody holds any that we know of");
	takes(1, 100, 200);
	eq(flash_tags_urgent_limit(&g, 1, 401), 0, "urgent, with less than half: any");
	eq(flash_tags_urgent_limit(&g, 1, 256), 192, "with more it leaves a quarter");
	eq(flash_tags_limit(&g, 1, 100, true, 256, 56), 0, "alone, below all");
	takes(1, 100, 40);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 16), 240, "alone, at all");
	eq(flash_tags_limit(&g, 2, 100, true, 256, 16), 0, "who comes then");
	takes(2, 300, 1);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 15), 64, "above its quarter");
	eq(flash_tags_limit(&g, 2, 300, true, 256, 15), 0, "below three of them");
	eq(flash_tags_limit(&g, 1, 100, true, 256, 65), 0,
	   "nobody is limited while there are enough");
	gives(1, 181);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 17), 0, "below its part again");
	eq(flash_tags_limit(&g, 1, 100, true, 256, 16), 240,
	   "and the last ones are for those with less");
	eq(flash_tags_limit(&g, 2, 300, true, 256, 0), 0, "who may have all");
	takes(1, 100, 1);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 0), 240, "at its part");
	takes(1, 100, 15);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 0), 240, "a little above it");
	takes(1, 100, 1);
	eq(flash_tags_limit(&g, 1, 100, true, 256, 0), 64, "and too far");
	eq(flash_tags_limit(&g, 1, 0, true, 256, 0), 64, "with the claim that it had");
	eq(flash_tags_limit(&g, 1, 900, true, 256, 17), 0, "with another claim");
	eq(flash_tags_limit(&g, 3, 0, true, 256, 16), 0, "one of which nothing is known");

	/* A tenant with a small claim takes fewer of the first places than others. */
	memset(&g, 0, sizeof(g));
	takes(1, 1, 100);
	takes(2, 1000, 150);
	eq(flash_tags_limit(&g, 1, 1, true, 256, 6), 16, "due nearly nothing");
	eq(flash_tags_limit(&g, 1, 10, true, 256, 6), 16, "due two of them");
	eq(flash_tags_limit(&g, 1, 40, true, 256, 6), 36, "due nine");
	eq(flash_tags_limit(&g, 1, 80, true, 256, 6), 64, "due seventeen");

	/* Of very few tags two places: one would be the same for all sleepers. */
	memset(&g, 0, sizeof(g));
	takes(1, 100, 1);
	takes(2, 300, 3);
	eq(flash_tags_limit(&g, 1, 100, true, 4, 0), 2, "two of four places");
	eq(flash_tags_limit(&g, 2, 300, true, 4, 0), 3, "three at three quarters");
	eq(flash_tags_limit(&g, 1, 100, true, 5, 0), 2, "two of five");
	gives(2, 2);
	eq(flash_tags_limit(&g, 1, 100, true, 2, 0), 1, "one of two places");
	eq(flash_tags_limit(&g, 2, 300, true, 2, 0), 2, "both of two");

	/* Workers send for other tasks. */
	memset(&g, 0, sizeof(g));
	takes(1, 100, 76);
	takes(2, 300, 1);
	eq(flash_tags_limit(&g, 0, 100, false, 256, 64), 192,
	   "a worker leaves the last quarter");
	eq(flash_tags_limit(&g, 0, 100, false, 256, 65), 0,
	   "unless there are more");
	takes(0, 100, 60);
	eq(flash_tags_limit(&g, 0, 100, false, 256, 64), 64,
	   "and is limited as everybody is if these hold their part");
	takes(0, 1, 1);
	eq(flash_tags_limit(&g, 0, 1, false, 256, 64), 64,
	   "to a quarter, even if these are due little");
	memset(&g, 0, sizeof(g));
	takes(1, 100, 250);
	eq(flash_tags_limit(&g, 0, 100, false, 256, 6), 240,
	   "a worker of who is alone");
}

/*
 * Each word gets the part, whatever its length: never more places than asked for
 * but one a word, never more than a word's rounding less.
 */
static void shallow(void)
{
	u32 all, unit, places, wrong = 0;

	eq(flash_tags_shallow(256, 64, 128), 32, "four words, a half");
	eq(flash_tags_shallow(256, 64, 1), 1, "one of each at least");
	eq(flash_tags_shallow(100, 64, 50), 25, "a short last word");
	eq(flash_tags_shallow(100, 64, 80), 44, "which is full");
	eq(flash_tags_shallow(16, 16, 9), 9, "a short only word");
	eq(flash_tags_shallow(256, 256, 77), 77, "the whole bitmap");
	for (all = 1; all <= 300; all++) {
		for (unit = 1; unit <= 64 && unit <= all; unit *= 2) {
			for (places = 1; places <= all; places++) {
				u32 depth = flash_tags_shallow(all, unit, places);
				u32 rest = all % unit, words = all / unit + !!rest;
				u32 got = all / unit * depth +
					  (depth < rest ? depth : rest);

				wrong += !depth || depth > unit ||
					 (got > places && got > words) ||
					 got + words <= places;
			}
		}
	}
	eq(wrong, 0, "any bitmap, any part");
}

/*
 * The block layer's tags: the first free place that is not beyond the limit, a
 * word after the other, from one that differs from time to time. Sleepers wait in a row
 * with the limit of their search; each completion wakes the first sleeper, which joins the
 * row at the back if it finds no tag.
 */
#define PLACES		2048
#define ROW		9000

enum { HOG, OTHER, THIRD, FOURTH, NR_SENDERS = 12 };

/* Many tasks with one request each, or one task with all of them */
struct sender {
	u32 weight;
	u32 sectors;
	const u32 *sizes;		/* or one of eight of these */
	u32 tasks;
	bool single;
	bool stopped;
	u32 out;
	u32 served;
	u64 moved;			/* sectors of these */
	u32 slept;
};

static unsigned long long seed;

static struct {
	u32 all, unit, word;
	bool by_weight;
	bool any;			/* any request may be the next to end */
	bool slow;			/* one ends in 3 ms, not in 10 us */
	struct sender s[NR_SENDERS];
	bool used[PLACES];
	u32 free;
	u32 row[ROW], limit[ROW], since[ROW];
	u32 first, nr;
	u32 ended, longest;		/* ends of requests; while one slept */
	unsigned long long seed;
	u32 at[MAX_RQ];			/* the place of a request */
	struct fair_rq *out[PLACES];
	u32 from, to;
	u32 least;			/* in the device, as it ends one */
} b;

static u32 limit_of(u32 who)
{
	struct tenant *t = tenant(who + 1, b.s[who].weight);
	u32 places;

	if (!b.by_weight)
		return 0;
	places = flash_tags_limit(&m.tags, t->index,
				  fair_claim(&m.s, t, NULL), true, b.all,
				  b.free);
	if (places)
		tenant_wants_tag(t, m.now);
	return places ? flash_tags_shallow(b.all, b.unit, places) : 0;
}

static u32 tag(u32 limit)
{
	u32 words = (b.all + b.unit - 1) / b.unit, n, i;

	for (n = 0; n < words; n++) {
		u32 word = (b.word + n) % words;

		for (i = 0; i < b.unit && (!limit || i < limit); i++) {
			u32 place = word * b.unit + i;

			if (place >= b.all || b.used[place])
				continue;
			b.used[place] = true;
			b.free--;
			return place;
		}
	}
	return PLACES;
}

static bool gets(u32 who, u32 limit)
{
	struct sender *s = &b.s[who];
	struct fair_rq *it;
	u32 place = tag(limit);

	if (place == PLACES)
		return false;
	it = sends(who + 1, s->weight,
		   s->sizes ? s->sizes[tap_rand(&b.seed) % 8] : s->sectors, true);
	b.at[it - m.it] = place;
	b.s[who].out++;
	return true;
}

static void sleeps(u32 who, u32 limit, u32 since)
{
	u32 i = (b.first + b.nr++) % ROW;

	b.row[i] = who;
	b.limit[i] = limit;
	b.since[i] = since;
}

/* A task sends what it can; false: it sleeps now. */
static bool task(u32 who)
{
	struct sender *s = &b.s[who];
	u32 limit;

	do {
		if (s->stopped || s->out == s->tasks)
			return true;
		limit = limit_of(who);
		if (!gets(who, limit)) {
			s->slept++;
			sleeps(who, limit, b.ended);
			return false;
		}
	} while (s->single);
	return true;
}

static bool asleep(u32 who)
{
	u32 n;

	for (n = 0; n < b.nr; n++) {
		if (b.row[(b.first + n) % ROW] == who)
			return true;
	}
	return false;
}

/* Each end wakes one. */
static void wake(void)
{
	u32 i = b.first, who;

	if (!b.nr)
		return;
	who = b.row[i];
	b.first = (b.first + 1) % ROW;
	b.nr--;
	if (!gets(who, b.limit[i])) {
		sleeps(who, b.limit[i], b.since[i]);
		return;
	}
	if (b.ended - b.since[i] > b.longest)
		b.longest = b.ended - b.since[i];
	if (b.s[who].single)
		task(who);
}

/* The task of the request that has ended sends another one. */
static void again(u32 who)
{
	if (!b.s[who].single || !asleep(who))
		task(who);
}

/* The request that has been in the device longest ends. */
static void step(void)
{
	struct fair_rq *it;
	u32 who;
	bool early;

	while (b.to - b.from < fair_limit(&m.s)) {
		it = goes();
		if (!it)
			break;
		b.out[b.to++ % PLACES] = it;
	}
	if (b.to - b.from < b.least)
		b.least = b.to - b.from;
	if (b.from == b.to)
		return;
	m.now += b.slow ? 3000000 : 10000;
	if (b.any) {
		u32 i = b.from + tap_rand(&b.seed) % (b.to - b.from);

		it = b.out[i % PLACES];
		b.out[i % PLACES] = b.out[b.from % PLACES];
		b.out[b.from % PLACES] = it;
	}
	it = b.out[b.from++ % PLACES];
	who = (u32)it->tenant->key.id - 1;
	b.s[who].served++;
	b.s[who].moved += it->sectors;
	ends(it);
	b.s[who].out--;
	b.used[b.at[it - m.it]] = false;
	b.free++;
	b.word++;
	b.ended++;
	/* The served task may be faster than the woken one, or not. */
	early = tap_rand(&b.seed) % 2;
	if (early)
		again(who);
	wake();
	if (!early)
		again(who);
}

static void steps(u32 n)
{
	while (n--)
		step();
}

static void begin(u32 all, u32 unit, u32 limit, bool by_weight)
{
	struct fair_rules rules = { .depth = 8, .limit = limit };

	acfq_set_rules(&acfq_defaults, ACFQ_AUTO, FAIR_CHARGE_SECTORS, &rules);
	model_init(&rules);
	memset(&b, 0, sizeof(b));
	b.all = all;
	b.unit = unit;
	b.free = all;
	b.by_weight = by_weight;
	b.seed = seed;
}

static void comes(u32 who, u32 weight, u32 tasks, bool single)
{
	u32 n;

	b.s[who].weight = weight;
	if (!b.s[who].sectors)
		b.s[who].sectors = 8;
	b.s[who].tasks = tasks;
	b.s[who].single = single;
	for (n = 0; n < (single ? 1 : tasks); n++)
		task(who);
}

static const struct set {
	u32 all, unit, others, hog, other;
} sets[] = {
	{ 256, 64, 64, 100, 100 },
	{ 256, 256, 64, 100, 100 },
	{ 256, 64, 128, 100, 900 },
	{ 256, 256, 128, 100, 900 },
	{ 256, 64, 400, 100, 100 },
	{ 256, 256, 400, 100, 100 },
	{ 256, 64, 32, 300, 100 },
	{ 256, 64, 200, 1, 1000 },
	{ 256, 256, 200, 1, 1000 },
	{ 64, 16, 64, 100, 100 },
	{ 64, 64, 64, 100, 300 },
	{ 100, 64, 100, 100, 100 },
	{ 1024, 64, 200, 100, 100 },
};

/* The part of OTHER, of 1000, beside a tenant that sends four times as many as tags */
static u32 share_of(const struct set *set, bool single, bool by_weight)
{
	u32 hog;

	begin(set->all, set->unit, 0, by_weight);
	comes(HOG, set->hog, 4 * set->all, single);
	steps(16 * set->all);
	comes(OTHER, set->other, set->others, false);
	/* All sleepers from before are served by then. */
	steps(16 * set->all);
	b.s[OTHER].slept = 0;
	b.longest = 0;
	b.least = ~0U;
	hog = b.s[HOG].served;
	b.s[OTHER].served = 0;
	steps(10000);
	eq(b.s[HOG].served - hog + b.s[OTHER].served, 10000, "all are served");
	return b.s[OTHER].served / 10;
}

static bool within(u32 got, u32 want, u32 percent)
{
	u32 off = got > want ? got - want : want - got;

	return 100 * off <= percent * want;
}

/*
 * One task that sleeps is woken as often as each of many. If there are hardly more
 * tags than requests fit into the device, that costs a tenant of one task.
 */
static void hogs(bool single)
{
	const struct set *set;
	u32 i, got, want, least, longest;
	bool few;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		set = &sets[i];
		if (single && set->others > set->all)
			continue;
		want = 1000 * set->other / (set->hog + set->other);
		few = set->all < 4 * FAIR_LIMIT;
		got = share_of(set, single, true);
		eq(within(got, want, few ? (single ? 8 : 3) : 2), 1,
		   "%u tags of %u: %u tasks of weight %u get %u of 1000 beside %s of weight %u",
		   set->all, set->unit, set->others, set->other, got,
		   single ? "one" : "many", set->hog);
		least = !few ? FAIR_LIMIT : FAIR_LIMIT *
			(single ? 3 : 6) / 8;
		eq(b.least >= least, 1, "never less than %u in the device",
		   b.least);
		/* Tags that the other one held before become free as slowly as it is served. */
		if (set->other < 1000 &&
		    set->others <= flash_tags_quota(set->all, set->other, set->hog))
			eq(b.s[OTHER].slept, 0, "and do not sleep for tags");
		/* One task that sleeps for each of its tags does no harm. */
		if (single)
			continue;
		longest = b.longest;
		got = share_of(set, single, false);
		eq(within(got, want, 20), 0, "without, they get %u", got);
		eq(longest <= (few ? 5 : 3) * b.longest, 1,
		   "the longest sleep takes %u ends, without %u", longest,
		   b.longest);
	}
}

/*
 * One task beside more sleepers than there are tags: it is woken once in as many
 * ends as there are of them. Better than nothing.
 */
static void one_of_many(void)
{
	const struct set *set;
	u32 i, got, without;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		set = &sets[i];
		if (set->others <= set->all)
			continue;
		got = 1000 - share_of(set, true, true);
		without = 1000 - share_of(set, true, false);
		eq(got >= 350 && got >= 10 * without, 1,
		   "%u tags of %u: one gets %u of 1000 beside %u tasks, without %u",
		   set->all, set->unit, got, set->others, without);
	}
}

/* A single tenant has nearly all tags, and soon again after another one was there. */
static void alone(bool single)
{
	u32 unit, held;

	for (unit = 64; unit <= 256; unit *= 4) {
		begin(256, unit, 0, true);
		comes(HOG, 100, 1024, single);
		steps(4000);
		held = b.all - b.free;
		eq(held >= 236 && held <= 244, 1,
		   "alone it has %u of 256 tags, words of %u", held, unit);
		comes(OTHER, 900, 128, false);
		steps(10000);
		eq(b.s[HOG].out <= 72, 1, "beside another one %u",
		   b.s[HOG].out);
		b.s[OTHER].stopped = true;
		b.least = ~0U;
		steps(2000);
		held = b.all - b.free;
		eq(held >= 192 && held <= 248, 1, "alone again %u", held);
		eq(b.least >= FAIR_LIMIT, 1, "never less than %u in the device",
		   b.least);
	}
}

/* A third tenant finds tags at once beside two that take all they can. */
static void third(bool single)
{
	u32 unit;

	for (unit = 64; unit <= 256; unit *= 4) {
		begin(256, unit, 0, true);
		comes(HOG, 100, 1024, single);
		steps(4096);
		comes(OTHER, 300, 1024, false);
		steps(20000);
		comes(THIRD, 100, 4, false);
		eq(b.s[THIRD].slept, 0, "a third one finds tags, words of %u", unit);
		steps(3000);
		eq(b.s[THIRD].served >= 4, 1, "and is served %u times",
		   b.s[THIRD].served);
	}
}

/* What OTHER gets of 1000 sectors; both send as many as there are tags */
static u32 sectors_of(u32 all, u32 other, u32 hog_sectors, u32 other_sectors)
{
	u64 got[2];

	begin(all, all / 4, all / 2, true);
	b.s[HOG].sectors = hog_sectors;
	b.s[OTHER].sectors = other_sectors;
	comes(HOG, 100, all, true);
	steps(16 * all);
	comes(OTHER, other, all, true);
	steps(16 * all);
	b.s[HOG].served = 0;
	b.s[OTHER].served = 0;
	steps(20000);
	got[0] = (u64)b.s[HOG].served * hog_sectors;
	got[1] = (u64)b.s[OTHER].served * other_sectors;
	return (u32)(1000 * got[1] / (got[0] + got[1]));
}

/*
 * A tenant with small requests has to have more of them in the device, and as many more
 * tags: with those of its weight its share would be that of its requests.
 */
static void sizes(void)
{
	static const struct { u32 all, other, hog, small; } sets[] = {
		{ 64, 100, 80, 36 },
		{ 64, 100, 36, 80 },
		{ 64, 100, 64, 8 },
		{ 64, 500, 80, 36 },
		{ 64, 300, 8, 64 },
		{ 256, 100, 256, 8 },
	};
	u32 i, got, want;

	for (i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		want = 1000 * sets[i].other / (100 + sets[i].other);
		got = sectors_of(sets[i].all, sets[i].other, sets[i].hog,
				 sets[i].small);
		eq(within(got, want, 2), 1,
		   "%u tags: %u sectors at a time, weight %u: %u of 1000 beside %u",
		   sets[i].all, sets[i].small, sets[i].other, got,
		   sets[i].hog);
	}
}

/* Four that send as many as there are tags each, one task a tenant */
static void four(void)
{
	static const u32 weights[4] = { 100, 200, 400, 500 };
	u32 i, all, got, want;

	for (all = 64; all <= 256; all *= 2) {
		begin(all, all / 4, 32, true);
		for (i = 0; i < 4; i++)
			comes(i, weights[i], 64, true);
		steps(16 * all);
		for (i = 0; i < 4; i++)
			b.s[i].served = 0;
		steps(20000);
		for (i = 0; i < 4; i++) {
			got = b.s[i].served;
			want = 20000 * weights[i] / 1200;
			eq(within(got, want, 1), 1,
			   "%u tags: one of four, weight %u, gets %u of %u", all,
			   weights[i], got, want);
		}
	}
}

/*
 * Loads of servers: requests of many sizes that end in any order, on a drive so slow that
 * a tenant that sleeps for 300 of them is taken for an idle one
 */
static void loads(void)
{
	static const u32 large[8] = { 16, 16, 32, 64, 128, 128, 128, 256 };
	static const u32 medium[8] = { 8, 16, 16, 32, 64, 64, 128, 128 };
	static const u32 little[8] = { 16, 16, 16, 16, 32, 32, 64, 128 };
	static const struct {
		u32 weight[4];
		const u32 *sizes[4];
	} sets[] = {
		{ { 100, 200, 400, 500 }, { large, large, large, large } },
		{ { 100, 200, 400, 500 }, { little, little, little, little } },
		{ { 100, 200, 500 }, { large, medium, little } },
		{ { 500, 200, 100 }, { large, medium, little } },
		{ { 100, 200, 1000 }, { large, medium, little } },
	};
	u32 i, n;

	for (n = 0; n < sizeof(sets) / sizeof(sets[0]); n++) {
		u64 all = 0, got;
		u32 weights = 0;

		begin(64, 16, 32, true);
		b.any = true;
		b.slow = true;
		for (i = 0; i < 4 && sets[n].weight[i]; i++) {
			b.s[i].sizes = sets[n].sizes[i];
			weights += sets[n].weight[i];
			comes(i, sets[n].weight[i], 64, true);
		}
		steps(1024);
		for (i = 0; i < 4; i++)
			b.s[i].moved = 0;
		steps(20000);
		for (i = 0; i < 4; i++)
			all += b.s[i].moved;
		for (i = 0; i < 4 && sets[n].weight[i]; i++) {
			got = b.s[i].moved * weights * 1000 /
			      (all * sets[n].weight[i]);
			eq(within((u32)got, 1000, 2), 1,
			   "load %u: weight %u of %u gets %u of 1000 parts of its share",
			   n, sets[n].weight[i], weights, (u32)got);
		}
	}
}

/*
 * Many that hold more than their parts, which are small, share the first quarter: what
 * is large belongs to no other tenant.
 */
static void crowd(void)
{
	u32 all, i, got, want;

	for (all = 64; all <= 256; all *= 2) {
		begin(all, all / 4, 32, true);
		for (i = 0; i < NR_SENDERS - 1; i++)
			comes(i, 10, 256, true);
		steps(16 * all);
		comes(i, 1000, 256, true);
		steps(16 * all);
		b.s[i].served = 0;
		steps(10000);
		got = b.s[i].served;
		want = 10000 * 1000 / (1000 + 10 * (NR_SENDERS - 1));
		eq(within(got, want, 3), 1,
		   "%u tags: one of weight 1000 beside %u of 10 gets %u of %u", all,
		   NR_SENDERS - 1, got, want);
	}
}

/*
 * Requests of little weight stay for long in the places that they have. Many tasks that
 * send these leave some of the first ones for another tenant's only task, which sleeps
 * until it gets one of them; fewer, if they are those of several tenants.
 */
static void clogged(u32 tenants, u32 part)
{
	u32 due = 20000 * 100 / (1100 + tenants), i;

	begin(64, 16, 32, true);
	comes(HOG, 1000, 64, false);
	steps(256);
	comes(OTHER, 100, 256, true);
	steps(256);
	for (i = 0; i < tenants; i++)
		comes(THIRD + i, 1, 200 / tenants, false);
	steps(20000);
	b.s[OTHER].served = 0;
	steps(20000);
	eq(b.s[OTHER].served >= due / part, 1,
	   "beside 200 tasks of weight 1, of %u, one task of weight 100 gets %u of %u",
	   tenants, b.s[OTHER].served, due);
}

/* A tenant with a small claim leaves first places to others, and gets no more */
static void little(void)
{
	static const u32 weights[4] = { 0, 200, 400, 500 };
	u32 i, weight, all, got;

	for (weight = 5; weight <= 20; weight *= 2) {
		begin(64, 16, 32, true);
		b.any = true;
		b.slow = true;
		for (i = 0; i < 4; i++)
			comes(i, i ? weights[i] : weight, 256, true);
		steps(1024);
		for (i = 0; i < 4; i++)
			b.s[i].served = 0;
		steps(30000);
		for (i = 0, all = 0; i < 4; i++)
			all += b.s[i].served;
		got = (u32)(1000ULL * b.s[0].served * (1100 + weight) /
			    (all * weight));
		eq(within(got, 1000, 6), 1,
		   "one of weight %u of %u gets %u of 1000 parts of its share",
		   weight, 1100 + weight, got);
	}
}

/* A tenant that needs few of the tags of its claim leaves the device busy. */
static void modest(bool single)
{
	u32 all;

	for (all = 64; all <= 256; all *= 4) {
		begin(all, all / 4, all / 2, true);
		b.s[HOG].sectors = 2048;
		comes(HOG, 100, 4 * all, single);
		steps(16 * all);
		comes(OTHER, 1000, 1, false);
		steps(16 * all);
		b.least = ~0U;
		steps(10000);
		eq(b.least >= all / 4, 1,
		   "%u tags: beside one small request at a time never less than %u in the device",
		   all, b.least);
	}
}

/* As small as it is in a virtual machine: 64 tasks, 6 tasks, 16 tags, 4 in the device */
static void small(void)
{
	u32 weight, i, got[2];

	for (weight = 100; weight <= 300; weight += 200) {
		for (i = 0; i < 2; i++) {
			begin(16, 16, 4, i);
			comes(HOG, 100, 64, false);
			steps(1000);
			comes(OTHER, weight, 6, false);
			steps(1000);
			b.s[OTHER].served = 0;
			steps(1000);
			got[i] = b.s[OTHER].served;
		}
		eq(within(got[1], 1000 * weight / (100 + weight), 5), 1,
		   "6 tasks of weight %u get %u of 1000", weight, got[1]);
		eq(got[0] < 150, 1, "without %u", got[0]);
	}
}

/* The least part of its share, in percent, that one of some tenants of 8 tasks gets */
static u32 least_share(u32 all, u32 tenants, u32 limit)
{
	u32 i, part, least = 100, weights = 0, before[NR_SENDERS], served = 0;

	begin(all, all, limit, true);
	for (i = 0; i < tenants; i++) {
		comes(i, 100 * (1 + i % 3), 8, false);
		weights += 100 * (1 + i % 3);
	}
	steps(2000);
	for (i = 0; i < tenants; i++)
		before[i] = b.s[i].served;
	steps(8000);
	for (i = 0; i < tenants; i++) {
		before[i] = b.s[i].served - before[i];
		served += before[i];
	}
	for (i = 0; i < tenants; i++) {
		part = (u32)(100ULL * before[i] * weights /
			     (served * 100ULL * (1 + i % 3)));
		if (part < least)
			least = part;
	}
	return least;
}

/*
 * The fewest tags that nr_requests can be set to, while the driver has one or two requests.
 * Two tags are too few: the row of sleepers decides.
 */
static void few(void)
{
	u32 limit, tenants;

	for (limit = 1; limit <= 2; limit++) {
		for (tenants = 2; tenants <= NR_SENDERS; tenants *= 2) {
			u32 four = least_share(4, tenants, limit);
			u32 eight = least_share(8, tenants, limit);

			eq(four >= (tenants < 8 ? 92 : 83), 1,
			   "4 tags, %u in the driver: of %u tenants each gets %u %% of its share",
			   limit, tenants, four);
			eq(eight >= 95, 1, "8 tags: %u %%", eight);
		}
		eq(least_share(2, 8, limit) < 90, 1, "2 tags are too few");
	}
}

static void fewness(void)
{
	eq(flash_tags_too_few(2, 0), 1, "two tags are too few");
	eq(flash_tags_too_few(7, 1), 1, "as are seven");
	eq(flash_tags_too_few(8, 1), 0, "eight are enough");
	eq(flash_tags_too_few(8, 4), 0, "for four tenants");
	eq(flash_tags_too_few(8, 5), 1, "but not for five");
	eq(flash_tags_too_few(256, 129), 1, "nor 256 for 129");
}

int main(int argc, char **argv)
{
	u32 seeds = argc > 1 ? (u32)atoi(argv[1]) : 2;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	counts();
	recounts();
	parts();
	claims();
	limits();
	shallow();
	fewness();
	while (seeds--) {
		printf("# seed %llu\n", seed);
		hogs(false);
		hogs(true);
		one_of_many();
		alone(false);
		alone(true);
		third(false);
		third(true);
		sizes();
		four();
		loads();
		crowd();
		clogged(1, 6);
		clogged(NR_SENDERS - THIRD, 12);
		little();
		modest(false);
		modest(true);
		small();
		few();
		seed++;
	}
	return tap_done();
}
