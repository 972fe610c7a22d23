/* SPDX-License-Identifier: MIT */
/* again.h - runs the program itself once more. */
#ifndef AGAIN_H
#define AGAIN_H

#include "check.h"
#include <sys/wait.h>

/* Runs this program again, with regions that have to earn the kernel after one arrival. */
HELPER void run_again(char **argv)
{
	int status;
	pid_t pid;

	fflush(stdout);
	MUST((pid = fork()) >= 0);
	if (!pid) {
		MUST(!setenv("COSY_TIER", "1", 1));
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	CHECK(!status, "with COSY_TIER=1: %#x", status);
}

#endif /* AGAIN_H */
