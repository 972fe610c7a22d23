// SPDX-License-Identifier: MIT
/*
 * driver.c - runs a program several times, as one user does, in a virtual machine where the clock
 * counts instructions.
 *
 *	driver COUNT PREPARE PROGRAM [ARGUMENT...]
 *
 * Prints a line for each run: its instructions from spawn to exit, its status and a digest of its
 * output.  PREPARE is a command for the shell that makes the input again before each run; empty:
 * none.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

_Noreturn static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* Returns the FNV-1a digest of all bytes of a file. */
static uint64_t digest(int fd)
{
	static unsigned char bytes[1 << 16];
	uint64_t sum = 0xcbf29ce484222325u;
	ssize_t got;

	for (off_t at = 0; (got = pread(fd, bytes, sizeof(bytes), at)) > 0; at += got)
		for (ssize_t i = 0; i < got; i++)
			sum = (sum ^ bytes[i]) * 0x100000001b3u;
	return sum;
}

int main(int argc, char **argv)
{
	int output = memfd_create("output", 0);
	posix_spawn_file_actions_t actions;

	if (argc < 4 || output < 0)
		return 2;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_adddup2(&actions, output, 2);
	for (int i = 0; i < atoi(argv[1]); i++) {
		long long begun;
		int status;
		pid_t pid;

		if (*argv[2] && system(argv[2]))
			fail(argv[2]);
		if (ftruncate(output, 0) || lseek(output, 0, SEEK_SET))
			fail("output");
		begun = now();
		if (posix_spawn(&pid, argv[3], &actions, NULL, argv + 3, environ))
			fail(argv[3]);
		waitpid(pid, &status, 0);
		printf("run %lld %d %016llx\n", now() - begun, status,
		       (unsigned long long)digest(output));
		fflush(stdout);
	}
	return 0;
}
