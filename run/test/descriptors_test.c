// SPDX-License-Identifier: MIT
/*
 * descriptors_test.c - tests descriptors whose meaning changes inside libc, or for one thread only.
 */
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <utmp.h>

#include "check.h"
#include "raw.h"

#define SIZE  1000
#define READS 100

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

static char paths[2][200];

static char byte_at(int file, int offset)
{
	return offset + 50 * file;
}

static void read_on(int fd, int file, int from, int to)
{
	for (int i = from; i < to; i++) {
		char byte;

		CHECK(read(fd, &byte, 1) == 1 && byte == byte_at(file, i));
	}
}

/* Makes reads specialise the file of `fd`, at READS; returns another descriptor of it. */
static int specialise(int fd)
{
	int other = open(paths[0], O_RDONLY);

	CHECK(dup2(other, fd) == fd);
	read_on(fd, 0, 0, READS);
	CHECK(RAW(lseek, fd, 0, SEEK_CUR) < READS);
	return other;
}

/* Checks that `fd` names a file of its own now, and `other` is where it was. */
static void has_left(int fd, int other)
{
	char byte = 0;
	int ends[2];

	read_on(other, 0, READS, 2 * READS);
	close(other);
	if (fcntl(fd, F_GETFD) >= 0)
		return;
	CHECK(!pipe(ends) && ends[0] == fd);
	CHECK(write(ends[1], "P", 1) == 1);
	CHECK(read(fd, &byte, 1) == 1 && byte == 'P');
	close(ends[0]);
	close(ends[1]);
}

static void streams_are_opened_anew(void)
{
	int other = specialise(0);
	char byte;

	CHECK(freopen("/dev/null", "r", stdin));
	CHECK(read(0, &byte, 1) == 0);
	has_left(0, other);
	other = specialise(0);
	CHECK(freopen64(paths[1], "r", stdin));
	read_on(0, 1, 0, READS);
	has_left(0, other);
	other = specialise(0);
	CHECK(!freopen("/nothing/is/there", "r", stdin));
	has_left(0, other);
}

static void streams_are_closed(int (*how)(FILE *))
{
	pid_t child = fork();
	int status;

	if (!child) {
		int other = specialise(0);

		how(stdin);
		has_left(0, other);
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void a_terminal_becomes_ones_own(void)
{
	int leader, terminal, status;
	char byte;
	pid_t child;

	CHECK(!openpty(&leader, &terminal, NULL, NULL, NULL));
	child = fork();
	if (!child) {
		int other = specialise(0);

		CHECK(!login_tty(terminal));
		_exit(read(0, &byte, 1) == 1 && byte == 'T' ? (has_left(0, other), 7) : 1);
	}
	CHECK(write(leader, "T\n", 2) == 2);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
	close(leader);
	close(terminal);
}

static pthread_barrier_t barrier;
static int shared;

/* Makes the number another file's in this thread. */
static void *take_another_table(void *unused)
{
	CHECK(!unshare(CLONE_FILES));
	CHECK(!close(shared));
	CHECK(open(paths[1], O_RDONLY) == shared);
	read_on(shared, 1, 0, READS);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	read_on(shared, 1, READS, 2 * READS);
	return unused;
}

/* Closes it in this thread. */
static void *close_in_another_table(void *unused)
{
	char byte;

	CHECK(!close_range(shared, ~0U, CLOSE_RANGE_UNSHARE));
	CHECK(read(shared, &byte, 1) == -1);
	CHECK(open(paths[1], O_RDONLY) == shared);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	read_on(shared, 1, 0, READS);
	return unused;
}

static void threads_have_their_own(void *(*thread)(void *))
{
	pid_t child = fork();
	pthread_t other;
	int status;

	if (!child) {
		CHECK(!pthread_barrier_init(&barrier, NULL, 2));
		shared = open(paths[0], O_RDONLY);
		read_on(shared, 0, 0, READS);
		CHECK(RAW(lseek, shared, 0, SEEK_CUR) < READS);
		CHECK(!pthread_create(&other, NULL, thread, NULL));
		pthread_barrier_wait(&barrier);
		read_on(shared, 0, READS, 2 * READS);
		pthread_barrier_wait(&barrier);
		CHECK(!pthread_join(other, NULL));
		read_on(shared, 0, 2 * READS, 3 * READS);
		_exit(7);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void make_files(void)
{
	const char *dir = getenv("TMPDIR");

	for (int file = 0; file < 2; file++) {
		int fd;

		snprintf(paths[file], sizeof(paths[file]), "%s/cosy-run-descriptors.%d.%d",
			 dir ? dir : "/tmp", getpid(), file);
		fd = open(paths[file], O_CREAT | O_TRUNC | O_WRONLY, 0600);
		CHECK(fd >= 0);
		for (int i = 0; i < SIZE; i++)
			CHECK(write(fd, &(char){byte_at(file, i)}, 1) == 1);
		close(fd);
	}
}

int main(void)
{
	make_files();
	streams_are_opened_anew();
	streams_are_closed(fclose);
	streams_are_closed(pclose);
	a_terminal_becomes_ones_own();
	threads_have_their_own(take_another_table);
	threads_have_their_own(close_in_another_table);
	unlink(paths[0]);
	unlink(paths[1]);
	return 0;
}
