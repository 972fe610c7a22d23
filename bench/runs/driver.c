// SPDX-License-Identifier: MIT
/*
 * driver.c - runs a program several times, as one user does, in a virtual machine where the clock
 * counts instructions.
 *
 *	driver [-p] COUNT PREPARE CHECK [NAME=VALUE...] PROGRAM [ARGUMENT...]
 *
 * Prints a line for each run: its instructions from spawn to exit, its status, a digest of its
 * output, and the instructions that the module's thread has worked for later runs: during this run,
 * on the only processor, where they count in the run as well, and after it.  The next run begins when
 * that thread has nothing left to do.  PREPARE is a command for the shell that makes the input again
 * before each run, and CHECK one that runs after it, whose output counts as the program's; either may
 * be empty.  The variables are in the program's environment alone.
 *
 * With -p a run's instructions are the processor time of the program and of the processes that it
 * waits for.  The clock goes on while several processes sleep at the same time.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

/* Returns the processor time of all processes that were waited for, in ns. */
static long long processor_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ll +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
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

/* Returns a number of the module's, or 0 where it has none. */
static long long module_number(const char *name)
{
	FILE *file = fopen("/sys/kernel/debug/cosy/stats", "re");
	long long ret = 0, number;
	char word[64];

	while (file && fscanf(file, "%63s %lld", word, &number) == 2)
		if (!strcmp(word, name))
			ret = number;
	if (file)
		fclose(file);
	return ret;
}

static void background_wait(void)
{
	while (module_number("background"))
		usleep(1000);
}

/* Returns the environment with the variables at the beginning of argv, which then begins behind them. */
static char **environment_with(char ***argv)
{
	size_t given = 0, count = 0;
	char **ret;

	while ((*argv)[given] && strchr((*argv)[given], '='))
		given++;
	while (environ[count])
		count++;
	ret = calloc(count + given + 1, sizeof(*ret));
	if (!ret)
		fail("environment");
	memcpy(ret, environ, count * sizeof(*ret));
	memcpy(ret + count, *argv, given * sizeof(*ret));
	*argv += given;
	return ret;
}

/* Runs a program with output to that file; returns its status. */
static int run(const posix_spawn_file_actions_t *actions, char **argv, char **envp)
{
	int status;
	pid_t pid;

	if (posix_spawn(&pid, *argv, actions, NULL, argv, envp))
		fail(*argv);
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int output = memfd_create("output", 0);
	posix_spawn_file_actions_t actions;
	long long (*clock)(void) = now;
	char **program, **envp;

	if (argc > 1 && !strcmp(argv[1], "-p")) {
		clock = processor_time;
		argv++;
		argc--;
	}
	program = argv + 4;
	if (argc < 5 || output < 0)
		return 2;
	envp = environment_with(&program);
	if (!*program)
		return 2;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, 1);
	posix_spawn_file_actions_adddup2(&actions, output, 2);
	for (int i = 0; i < atoi(argv[1]); i++) {
		long long begun, took, before, worked;
		int status;

		if (*argv[2] && system(argv[2]))
			fail(argv[2]);
		if (ftruncate(output, 0) || lseek(output, 0, SEEK_SET))
			fail("output");
		before = module_number("background_ns");
		begun = clock();
		status = run(&actions, program, envp);
		took = clock() - begun;
		worked = module_number("background_ns");
		background_wait();
		if (*argv[3]) {
			char *check[] = {"/bin/sh", "-c", argv[3], NULL};

			if (run(&actions, check, environ))
				fail(argv[3]);
		}
		printf("run %lld %d %016llx %lld %lld\n", took, status,
		       (unsigned long long)digest(output), worked - before,
		       module_number("background_ns") - worked);
		fflush(stdout);
	}
	return 0;
}
