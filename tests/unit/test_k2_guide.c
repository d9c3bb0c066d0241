// SPDX-License-Identifier: GPL-2.0
/*
 * The paper's choices of a bound (section 5). Where the text gives sets of
 * admissible bounds and no figures, the scan below has figures that make
 * exactly those sets admissible.
 */
#include "tap.h"

/**
 * struct k2_point - one bound of a scan
 * @bound: the bound
 * @tail_pct: real-time p99.9, in per cent of none's
 * @bw_pct: total bandwidth, in per cent of none's
 */
struct k2_point {
	unsigned int bound;
	unsigned int tail_pct;
	unsigned int bw_pct;
};

enum k2_load {
	K2_SEQ_READ,
	K2_RAND_READ,
	K2_SEQ_WRITE,
	K2_RAND_WRITE,
};

/**
 * k2_guide_o1 - the bound for objective O1
 * @p: the scan, in any order
 * @n: its length
 * @load: operation of the workload
 * @full: the device is fully occupied (garbage collection runs)
 * @alpha: allowed tail, in per cent of none's
 *
 * Reads: bandwidth grows with the bound (R2), so the largest admissible one.
 * Writes: bandwidth does not depend on the bound except that one may cost some
 * (W2), so the smallest admissible one above 1; on a full device random writes
 * may use 1 as well (W1).
 *
 * Return: the bound, or 0 if none is admissible.
 */
static unsigned int k2_guide_o1(const struct k2_point *p, unsigned int n,
				       enum k2_load load, int full,
				       unsigned int alpha)
{
	int read = load == K2_SEQ_READ || load == K2_RAND_READ;
	int one_is_free = load == K2_RAND_WRITE && full;
	unsigned int best = 0, one = 0, i;

	for (i = 0; i < n; i++) {
		if (p[i].tail_pct > alpha)
			continue;
		if (!read && p[i].bound == 1 && !one_is_free) {
			one = 1;
			continue;
		}
		if (!best || (read ? p[i].bound > best : p[i].bound < best))
			best = p[i].bound;
	}
	/* Nothing else holds the target: a slower device beats a missed one. */
	return best ? best : one;
}

/**
 * k2_guide_o2 - the bound for objective O2
 * @p: the scan, in any order
 * @n: its length
 * @load: operation of the workload
 * @beta: bandwidth to keep, in per cent of none's
 *
 * Reads: the smallest admissible bound, but for random reads never below 2,
 * where the scheduler's own latency outweighs the shorter queue (R3).
 * Writes: the smallest admissible bound.
 *
 * Return: the bound, or 0 if none is admissible.
 */
static unsigned int k2_guide_o2(const struct k2_point *p, unsigned int n,
				       enum k2_load load, unsigned int beta)
{
	unsigned int best = 0, i;

	for (i = 0; i < n; i++) {
		if (p[i].bw_pct < beta)
			continue;
		if (load == K2_RAND_READ && p[i].bound < 2)
			continue;
		if (!best || p[i].bound < best)
			best = p[i].bound;
	}
	return best;
}

/* Admissible for alpha = 50: {1,2,4,8}; for beta = 50: {16,32,64} */
static const struct k2_point seq_read[] = {
	{ 1, 30, 10 }, { 2, 33, 17 }, { 4, 38, 26 }, { 8, 47, 41 },
	{ 16, 62, 58 }, { 32, 80, 77 }, { 64, 95, 93 },
};

/* alpha = 50: {1,2,4,8,16,32}; beta = 50: {8,16,32,64} */
static const struct k2_point rand_read[] = {
	{ 1, 7, 8 }, { 2, 6, 15 }, { 4, 9, 29 }, { 8, 14, 52 },
	{ 16, 25, 73 }, { 32, 45, 90 }, { 64, 71, 99 },
};

/* Figure 5a: 3131 us and 430 MB/s under none, 471 and 303 under K2-1,
 * 960 and 419 under K2-2; alpha = 50: {1,2,4,8}
 */
static const struct k2_point seq_write[] = {
	{ 1, 15, 70 }, { 2, 31, 97 }, { 4, 38, 98 }, { 8, 49, 99 },
	{ 16, 70, 101 }, { 32, 88, 100 }, { 64, 97, 100 },
};

#define N(a) (sizeof(a) / sizeof((a)[0]))

int main(void)
{
	struct k2_point reversed[N(seq_read)];
	unsigned int i;

	eq(k2_guide_o1(seq_read, N(seq_read), K2_SEQ_READ, 0, 50), 8,
	   "O1, sequential read, alpha 50: the largest of {1,2,4,8}");
	eq(k2_guide_o1(rand_read, N(rand_read), K2_RAND_READ, 0, 50), 32,
	   "O1, random read, alpha 50: the largest of {1,2,4,8,16,32}");
	eq(k2_guide_o1(rand_read, N(rand_read), K2_RAND_READ, 1, 50), 32,
	   "R1: a full device changes nothing for reads");
	eq(k2_guide_o2(seq_read, N(seq_read), K2_SEQ_READ, 50), 16,
	   "O2, sequential read, beta 50: the smallest of {16,32,64}");
	eq(k2_guide_o2(rand_read, N(rand_read), K2_RAND_READ, 50), 8,
	   "O2, random read, beta 50: the smallest of {8,16,32,64}");
	eq(k2_guide_o2(rand_read, N(rand_read), K2_RAND_READ, 5), 2,
	   "R3: random reads never go below 2");
	eq(k2_guide_o2(seq_read, N(seq_read), K2_SEQ_READ, 5), 1,
	   "R3 is about random reads only");

	eq(k2_guide_o1(seq_write, N(seq_write), K2_SEQ_WRITE, 0, 50), 2,
	   "O1, sequential write, alpha 50: one of {2,4,8}, not 1");
	eq(k2_guide_o1(seq_write, N(seq_write), K2_SEQ_WRITE, 1, 50), 2,
	   "W1: sequential writes avoid 1 on a full device, too");
	eq(k2_guide_o1(seq_write, N(seq_write), K2_RAND_WRITE, 1, 50), 1,
	   "W1: random writes on a full device may use 1");
	eq(k2_guide_o1(seq_write, N(seq_write), K2_SEQ_WRITE, 0, 20), 1,
	   "only 1 holds the target: 1");
	eq(k2_guide_o2(seq_write, N(seq_write), K2_SEQ_WRITE, 50), 1,
	   "O2, sequential write, beta 50: 1");
	eq(k2_guide_o2(seq_write, N(seq_write), K2_SEQ_WRITE, 80), 2,
	   "O2, sequential write, beta 80: 2");

	eq(k2_guide_o1(seq_read, N(seq_read), K2_SEQ_READ, 0, 29), 0,
	   "O1, nothing holds the target: 0");
	eq(k2_guide_o2(seq_read, N(seq_read), K2_SEQ_READ, 94), 0,
	   "O2, nothing keeps the bandwidth: 0");
	eq(k2_guide_o1(seq_read, 0, K2_SEQ_READ, 0, 50), 0, "an empty scan: 0");

	for (i = 0; i < N(seq_read); i++)
		reversed[i] = seq_read[N(seq_read) - 1 - i];
	eq(k2_guide_o1(reversed, N(reversed), K2_SEQ_READ, 0, 50), 8,
	   "the order of the scan does not matter to O1");
	eq(k2_guide_o2(reversed, N(reversed), K2_SEQ_READ, 50), 16,
	   "nor to O2");
	return tap_done();
}
