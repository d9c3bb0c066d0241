/* SPDX-License-Identifier: GPL-2.0 */
/* tap.h - output of the unit tests in TAP format */
#ifndef TAP_H
#define TAP_H

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failed;

/* One result line; on failure the compared values follow. */
__attribute__((format(printf, 4, 5)))
static inline void tap_eq(long long got, long long want, const char *where,
			  const char *fmt, ...)
{
	va_list ap;

	tap_count++;
	if (got != want)
		tap_failed++;
	printf("%s %d - ", got == want ? "ok" : "not ok", tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (got != want)
		printf("# %s: got %lld, want %lld\n", where, got, want);
}

#define TAP_STR2(x) #x
#define TAP_STR(x) TAP_STR2(x)
#define eq(got, want, ...) \
	tap_eq((long long)(got), (long long)(want), \
	       __FILE__ ":" TAP_STR(__LINE__), __VA_ARGS__)

static inline int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A small random number generator with the same sequence for a seed on every machine. */
static inline unsigned int tap_rand(unsigned long long *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(*state >> 33);
}

#endif /* TAP_H */
