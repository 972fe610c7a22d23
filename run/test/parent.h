/* SPDX-License-Identifier: MIT */
/* parent.h - tells a child about the process that is tested, by calls that nobody specialises. */
#ifndef COSY_RUN_TEST_PARENT_H
#define COSY_RUN_TEST_PARENT_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "check.h"
#include "raw.h"

/* Returns the state of the parent's main thread, as proc(5) writes it: S asleep, T stopped. */
static inline char parent_state(void)
{
	char name[64], text[500] = "", *at;
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", getppid());
	fd = RAW(openat, AT_FDCWD, name, O_RDONLY);
	CHECK(fd >= 0 && RAW(read, fd, text, sizeof(text) - 1) > 0);
	RAW(close, fd);
	at = strrchr(text, ')');
	CHECK(at);
	return at[2];
}

#endif /* COSY_RUN_TEST_PARENT_H */
