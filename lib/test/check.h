/* SPDX-License-Identifier: MIT */
/* check.h - checks for unit tests: one program per topic, exit status 0 or 1. */
#ifndef COSY_LIB_TEST_CHECK_H
#define COSY_LIB_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static int check_failures;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

#define CHECK_EQ(got, want)                                                                        \
	do {                                                                                       \
		long long got_ = (long long)(got), want_ = (long long)(want);                      \
                                                                                                   \
		if (got_ != want_) {                                                               \
			fprintf(stderr, "%s:%d: %s is %lld (%#llx), not %lld (%#llx)\n", __FILE__, \
				__LINE__, #got, got_, got_, want_, want_);                         \
			check_failures++;                                                          \
		}                                                                                  \
	} while (0)

/* Checks a condition without which the rest of the test cannot go on. */
#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static inline int check_result(void)
{
	if (check_failures)
		fprintf(stderr, "%d failed\n", check_failures);
	return check_failures != 0;
}

#endif /* COSY_LIB_TEST_CHECK_H */
