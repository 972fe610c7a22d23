// SPDX-License-Identifier: MIT
/* calls_test.c - tests which arguments of a call are paths, descriptors and memory. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "calls.h"

static int failed;

#define EXPECT(function, name, wanted)                                                             \
	do {                                                                                       \
		int got = function(SYS_##name);                                                    \
                                                                                                   \
		if (got != (wanted)) {                                                             \
			fprintf(stderr, "%s(%s): %d, not %d\n", #function, #name, got, wanted);    \
			failed = 1;                                                                \
		}                                                                                  \
	} while (0)

static void test_descriptors(void)
{
	EXPECT(call_descriptor, read, 0);
	EXPECT(call_descriptor, openat, 0);
	EXPECT(call_descriptor, mmap, 4);
	EXPECT(call_descriptor, dup2, 0);
	EXPECT(call_descriptor, getdents64, 0);
	EXPECT(call_descriptor, symlinkat, 1);
	EXPECT(call_descriptor, stat, -1);
	/* Numbers that are no descriptors: of processes, timers, clocks, keys; flags. */
	EXPECT(call_descriptor, kill, -1);
	EXPECT(call_descriptor, pidfd_open, -1);
	EXPECT(call_descriptor, sched_rr_get_interval, -1);
	EXPECT(call_descriptor, rt_sigqueueinfo, -1);
	EXPECT(call_descriptor, timer_settime, -1);
	EXPECT(call_descriptor, timer_gettime, -1);
	EXPECT(call_descriptor, timer_delete, -1);
	EXPECT(call_descriptor, clock_gettime, -1);
	EXPECT(call_descriptor, clock_adjtime, -1);
	EXPECT(call_descriptor, pkey_free, -1);
	EXPECT(call_descriptor, mlockall, -1);
	EXPECT(call_descriptor, userfaultfd, -1);
	EXPECT(call_descriptor, bpf, -1);
	EXPECT(call_descriptor, nanosleep, -1);
	EXPECT(call_descriptor, fork, -1);
}

static void test_paths(void)
{
	EXPECT(call_path, open, 0);
	EXPECT(call_path, openat, 1);
	EXPECT(call_path, rename, 0);
	EXPECT(call_path, renameat2, 1);
	EXPECT(call_path, execve, 0);
	EXPECT(call_path, execveat, 1);
	EXPECT(call_path, linkat, 1);
	EXPECT(call_path, symlinkat, 2);
	EXPECT(call_path, setxattr, 0);
	EXPECT(call_path, mknodat, 1);
	EXPECT(call_path, fanotify_mark, 4);
	EXPECT(call_path, read, -1);
	EXPECT(call_path, memfd_create, -1);
	EXPECT(call_path, fgetxattr, -1);
}

static void test_memory(void)
{
	EXPECT(call_given, write, 1);
	EXPECT(call_given, sendto, 1);
	EXPECT(call_given, setxattr, 2);
	EXPECT(call_given, truncate, -1); /* a path, and a length that is the file's */
	EXPECT(call_given, read, -1);
	EXPECT(call_made, read, 1);
	EXPECT(call_made, getdents64, 1);
	EXPECT(call_made, getxattr, 2);
	EXPECT(call_made, write, -1);
}

int main(void)
{
	test_descriptors();
	test_paths();
	test_memory();
	return failed;
}
