// SPDX-License-Identifier: GPL-2.0
/* histogram.c: each time is in its bucket, the error of quantiles is at most 6.25 % */
#include "common/estimate/histogram.h"
#include "tap.h"

static struct flash_latency h, other;

static void buckets(void)
{
	u64 last = 0, top;
	u32 i;
	int bad = 0, shift;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++) {
		top = flash_latency_top(i);
		bad += flash_latency_bucket(top) != i;
		if (i) {
			bad += top <= last;
			bad += flash_latency_bucket(last + 1) != i;
			/* The shortest and the longest time of a bucket */
			bad += (top - (last + 1)) * 16 > last + 1;
		}
		last = top;
	}
	eq(bad, 0, "%u buckets, one behind the other", FLASH_LAT_BUCKETS);
	eq(last, (1ULL << 40) - 1, "up to 2^40");
	eq(flash_latency_bucket(~0ULL), FLASH_LAT_BUCKETS - 1,
	   "what is longer is in the last one");
	for (shift = 4; shift < 40; shift++)
		bad += flash_latency_bucket((1ULL << shift)) % 16;
	eq(bad, 0, "an octave begins a new row");
	eq(flash_latency_bucket(0), 0, "nothing is the first");
	eq(flash_latency_bucket(15) == 15 && flash_latency_bucket(16) == 16, 1,
	   "short times are exact");
}

static int cmp(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* Quantiles against the sorted times themselves. */
static void against_sorting(void)
{
	static const u32 ppm[] = { 1, 1000, 250000, 500000, 900000, 990000,
				   999000, 999900, 1000000 };
	static u64 times[5000];
	unsigned long long seed = 1;
	int low = 0, high = 0, round;
	u32 i, n;

	for (round = 0; round < 200; round++) {
		memset(&h, 0, sizeof(h));
		n = 1 + tap_rand(&seed) % 5000;
		for (i = 0; i < n; i++) {
			times[i] = ((u64)tap_rand(&seed) << 8) >>
				   tap_rand(&seed) % 40;
			flash_latency_note(&h, times[i]);
		}
		qsort(times, n, sizeof(times[0]), cmp);
		for (i = 0; i < sizeof(ppm) / sizeof(ppm[0]); i++) {
			u64 rank = ((u64)n * ppm[i] + 999999) / 1000000;
			u64 want = times[rank - 1];
			u64 got = flash_latency_quantile(&h, ppm[i]);

			low += got < want;
			high += (got - want) * 16 > want;
		}
	}
	eq(low, 0, "no quantile is too small");
	eq(high, 0, "nor more than 6.25 %% too large");
}

static void reading(void)
{
	int i;

	memset(&h, 0, sizeof(h));
	memset(&other, 0, sizeof(other));
	eq(flash_latency_quantile(&h, 500000), 0, "nothing: no time");
	for (i = 0; i < 99; i++)
		flash_latency_note(&h, 10);
	flash_latency_note(&h, 1000000);
	eq(flash_latency_quantile(&h, 990000), 10, "99 of 100 are short");
	eq(flash_latency_quantile(&h, 990001), 1015807, "the last one is not");
	eq(flash_latency_quantile(&h, 0), 10, "the shortest");
	for (i = 0; i < 50; i++)
		flash_latency_note(&other, 5);
	eq(flash_latency_quantile(&other, 1000000), 5, "elsewhere all are short");
	flash_latency_add(&h, &other);
	eq(flash_latency_total(&h), 150, "both together");
	eq(flash_latency_quantile(&h, 1000000), 1015807, "the longest");
}

int main(void)
{
	buckets();
	against_sorting();
	reading();
	return tap_done();
}
