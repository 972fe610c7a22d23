/* SPDX-License-Identifier: MIT */
/* watch_checks.h - checks of metadata windows, each test in a process of its own. */
#ifndef WATCH_CHECKS_H
#define WATCH_CHECKS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("FAIL %s:%d: %s (%s)\n", __func__, __LINE__, #condition,            \
			       strerror(errno));                                                   \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* Runs each test in a child, since many of them change what a process is.  Returns an exit status. */
static int tests_run(void (*const tests[])(void), size_t count)
{
	int status, failed = 0;

	for (size_t i = 0; i < count; i++) {
		pid_t child = fork();

		if (!child) {
			tests[i]();
			fflush(stdout);
			_exit(failures != 0);
		}
		waitpid(child, &status, 0);
		if (status)
			printf("test %zu: status %x\n", i, status);
		failed += status != 0;
	}
	printf("%d of %zu failed\n", failed, count);
	return failed != 0;
}

#endif /* WATCH_CHECKS_H */
