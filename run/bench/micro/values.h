/* SPDX-License-Identifier: MIT */
/* values.h - the values computed from the rounds of one contender. */
#ifndef COSY_RUN_BENCH_VALUES_H
#define COSY_RUN_BENCH_VALUES_H

#include <stddef.h>

#define MAX_ROUNDS 10001

/*
 * Prints a line, with tabs between: workload, name, bytes of a read, contender, median of
 * `values` in ns, their spread (the middle half over the median), rounds, and the median
 * of how many times less that was than `plain` of the same round.  Sorts `values`, so a
 * row's ordinary values are printed last.
 */
void values_print(const char *workload, const char *name, size_t len, const char *contender,
		  double *values, const double *plain, int rounds);

#endif /* COSY_RUN_BENCH_VALUES_H */
