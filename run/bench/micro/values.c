// SPDX-License-Identifier: MIT
/* values.c - see values.h. */
#include <stdio.h>
#include <stdlib.h>

#include "values.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void values_print(const char *workload, const char *name, size_t len, const char *contender,
		  double *values, const double *plain, int rounds)
{
	static double ratios[MAX_ROUNDS];
	double middle, spread;

	for (int i = 0; i < rounds; i++)
		ratios[i] = plain[i] / values[i];
	qsort(ratios, rounds, sizeof(*ratios), by_value);
	qsort(values, rounds, sizeof(*values), by_value);
	middle = values[rounds / 2];
	spread = middle ? (values[rounds * 3 / 4] - values[rounds / 4]) / middle : 0;
	printf("%s\t%s\t%zu\t%s\t%.2f\t%.4f\t%d\t%.4f\n", workload, name, len, contender, middle,
	       spread, rounds, ratios[rounds / 2]);
	fflush(stdout);
}
