/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_guide.h - the paper's rules for choosing the bound from measurements
 *
 * Pure logic, no kernel header. Input is what a scan of bounds has measured,
 * relative to scheduler "none" on the same device and workload; output is the
 * bound that the guidelines of the K2 analysis paper (section 5, R1 to R3 and
 * W1 to W3) choose for one of its two objectives:
 *
 *   O1  most bandwidth, such that the real-time tail is at most alpha % of none's
 *   O2  least tail, such that bandwidth is at least beta % of none's
 */
#ifndef K2_GUIDE_H
#define K2_GUIDE_H

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
static inline unsigned int k2_guide_o1(const struct k2_point *p, unsigned int n,
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
static inline unsigned int k2_guide_o2(const struct k2_point *p, unsigned int n,
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

#endif /* K2_GUIDE_H */
