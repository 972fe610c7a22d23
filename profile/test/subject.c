// SPDX-License-Identifier: MIT
/*
 * subject.c - what record_test.py records: each part makes calls whose number, order and
 * dependences are known.  subject FILE OUT
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS 100

static int file, out;
static char buffer[4096], other[4096];

/* The position, the bytes and their number come from the call before. */
__attribute__((noinline)) static void part_copy(void)
{
	for (int i = 0; i < TURNS; i++) {
		ssize_t had;

		lseek(file, 16 * (i % 7), SEEK_SET);
		had = read(file, buffer, 100 + i);
		if (write(out, buffer, had) != had)
			exit(1);
	}
}

/* Writes as many bytes, but others: the buffer is rewritten between. */
__attribute__((noinline)) static void part_rewrite(void)
{
	for (int i = 0; i < TURNS; i++) {
		ssize_t had = pread(file, other, 64 + i % 3, i);

		memset(other, '#', had);
		if (pwrite(out, other, had, 0) != had)
			exit(1);
	}
}

/* Nothing flows: other buffers, a constant count that is the same by chance. */
__attribute__((noinline)) static void part_apart(void)
{
	static char third[512];

	for (int i = 0; i < TURNS; i++) {
		if (pread(file, buffer, 32, 0) != 32 || write(out, third, 32) != 32)
			exit(1);
		getppid();
	}
}

/* Each lseek goes where the file is already. */
__attribute__((noinline)) static void part_useless(void)
{
	lseek(file, 0, SEEK_SET);
	for (int i = 0; i < TURNS; i++) {
		lseek(file, 8 * i, SEEK_SET);
		if (read(file, buffer, 8) != 8)
			exit(1);
	}
}

static void *thread_calls(void *argument)
{
	(void)argument;
	for (int i = 0; i < TURNS; i++)
		syscall(SYS_sched_yield);
	return NULL;
}

__attribute__((noinline)) static void part_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, thread_calls, NULL))
			exit(1);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

/* A child, one of vfork that runs this program again, and one that is killed. */
__attribute__((noinline)) static void part_processes(char *self)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < TURNS; i++)
			syscall(SYS_getuid);
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
		exit(1);
	pid = vfork();
	if (!pid) {
		execl(self, self, "again", (char *)NULL);
		_exit(1);
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 4)
		exit(1);
	pid = fork();
	if (!pid) {
		syscall(SYS_getgid);
		abort();
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		exit(1);
}

static void *thread_exec(void *self)
{
	execl(self, self, "again", (char *)NULL);
	exit(1);
}

/*
 * A child that stops until it is told to go on, and one whose second thread runs this program
 * again.
 */
__attribute__((noinline)) static void part_signals(char *self)
{
	pthread_t thread;
	int status;
	pid_t pid = fork();

	if (!pid) {
		raise(SIGSTOP);
		_exit(6);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) || kill(pid, SIGCONT) ||
	    waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 6)
		exit(1);
	pid = fork();
	if (!pid) {
		pthread_create(&thread, NULL, thread_exec, self);
		for (;;)
			pause();
	}
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 4)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		for (int i = 0; i < TURNS; i++)
			syscall(SYS_geteuid);
		return 4;
	}
	file = open(argv[1], O_RDONLY);
	out = open(argv[2], O_RDWR | O_CREAT, 0600);
	if (argc != 3 || file < 0 || out < 0)
		return 1;
	part_copy();
	part_rewrite();
	part_apart();
	part_useless();
	part_threads();
	part_processes(argv[0]);
	part_signals(argv[0]);
	return 5;
}
