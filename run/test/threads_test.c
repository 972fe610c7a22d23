// SPDX-License-Identifier: MIT
/*
 * threads_test.c [ROUNDS] - reads records from one descriptor in threads and a signal handler,
 * while others break its lease and copy and close descriptors.  Each record is read exactly once,
 * as with one lock in the kernel.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "raw.h"

#define RECORDS 20000
#define READERS 3

static char path[200];
static int shared;
static unsigned char seen[RECORDS];
static volatile int wrong, done;

/* Reads one record; false at the end of the file. */
static int read_record(void)
{
	uint32_t record;
	ssize_t len = read(shared, &record, sizeof(record));

	if (!len)
		return 0;
	if (len != sizeof(record) || record >= RECORDS)
		wrong = 1;
	else
		__atomic_add_fetch(&seen[record], 1, __ATOMIC_RELAXED);
	return !wrong;
}

static void on_timer(int signal)
{
	(void)signal;
	read_record();
}

static void *read_records(void *unused)
{
	while (read_record())
		;
	return unused;
}

static void *break_leases(void *unused)
{
	while (!done) {
		int writer = open(path, O_WRONLY), copy = dup(shared);

		close(writer);
		close(copy);
		usleep(300);
	}
	return unused;
}

static void round_of(int threads)
{
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
	pthread_t readers[READERS], breaker;

	memset(seen, 0, sizeof(seen));
	done = 0;
	shared = open(path, O_RDONLY);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (threads) {
		pthread_create(&breaker, NULL, break_leases, NULL);
		for (int i = 0; i < READERS; i++)
			pthread_create(&readers[i], NULL, read_records, NULL);
	}
	read_records(NULL);
	if (threads) {
		for (int i = 0; i < READERS; i++)
			pthread_join(readers[i], NULL);
		done = 1;
		pthread_join(breaker, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	close(shared);
	for (uint32_t i = 0; i < RECORDS; i++) {
		if (seen[i] != 1) {
			fprintf(stderr, "record %u was read %d times\n", i, seen[i]);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(path, sizeof(path), "%s/cosy-run-threads.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	for (uint32_t i = 0; i < RECORDS; i++)
		if (write(fd, &i, sizeof(i)) != sizeof(i))
			return 1;
	close(fd);
	for (int i = 0; i < rounds && !wrong; i++)
		round_of(i % 2);
	unlink(path);
	return wrong;
}
