/* SPDX-License-Identifier: MIT */
/* check.h - checks what must be so. */
#ifndef COSY_RUN_TEST_CHECK_H
#define COSY_RUN_TEST_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif /* COSY_RUN_TEST_CHECK_H */
