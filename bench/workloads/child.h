/* SPDX-License-Identifier: MIT */
/*
 * child.h - operations that are a whole process each, from exec to exit (process.c, programs.c).
 * What the last one printed stays in a file in memory, to be compared.
 */
#ifndef CHILD_H
#define CHILD_H

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "bench.h"
#include "compare.h"

/* Makes the path of PREFIX-NAME, beside this executable. */
static inline void child_path(char *path, size_t size, const char *prefix, const char *name)
{
	ssize_t length = BENCH_TRY(readlink("/proc/self/exe", path, size - 1));
	char *last;

	path[length] = '\0';
	last = strrchr(path, '/') + 1;
	snprintf(last, size - (last - path), "%s-%s", prefix, name);
}

/* Returns a file in memory for what processes print. */
static inline int child_output(void)
{
	return BENCH_TRY(memfd_create("output", 0));
}

/* Runs the program n times, one after the other.  Returns how many failed. */
static inline long child_run(const char *path, char *const arguments[], int output, long n)
{
	posix_spawn_file_actions_t actions;
	long failed = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	for (long i = 0; i < n; i++) {
		int status;
		pid_t pid;

		BENCH_TRY(ftruncate(output, 0));
		BENCH_TRY(lseek(output, 0, SEEK_SET));
		if (posix_spawn(&pid, path, &actions, NULL, arguments, environ))
			bench_fail(path);
		BENCH_TRY(waitpid(pid, &status, 0));
		failed += status != 0;
	}
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

/* Notes all bytes of a file, which run.py compares between contenders. */
static inline void child_compare(const char *name, int fd)
{
	static char bytes[1 << 20];
	ssize_t got;

	for (off_t at = 0; (got = BENCH_TRY(pread(fd, bytes, sizeof(bytes), at))) > 0; at += got)
		compare_bytes(name, at, bytes, bytes, got);
}

#endif /* CHILD_H */
