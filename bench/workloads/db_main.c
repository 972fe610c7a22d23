// SPDX-License-Identifier: MIT
/* db_main.c - the file of db.h and the processes that work on it. */
#include <sys/wait.h>

#include "db.h"

#define MOST 16

static long processes, records;
static int order[MOST][2], answer[MOST][2];

static void serve(int number)
{
	int fd = BENCH_TRY(open("db", O_RDWR));
	long n;

	while (read(order[number][0], &n, sizeof(n)) == sizeof(n)) {
		long moved = db_transact(fd, n, number + 1, records);

		if (write(answer[number][1], &moved, sizeof(moved)) != sizeof(moved))
			break;
	}
	exit(0);
}

void bench_prepare(void)
{
	size_t size = (size_t)bench_number("megabytes", 4) << 20;

	processes = bench_number("processes", 1);
	if (processes > MOST)
		processes = MOST;
	records = size / RECORD;
	/* Where contents are looked at, all contenders must begin with the same. */
	if (bench_number("anew", 0))
		unlink("db");
	bench_file("db", size);
	fflush(stdout);
	for (int i = 0; i < processes; i++) {
		BENCH_TRY(pipe(order[i]));
		BENCH_TRY(pipe(answer[i]));
		if (BENCH_TRY(fork()) == 0) {
			/* Else no reader would see the parent's end. */
			for (int j = 0; j <= i; j++)
				close(order[j][1]);
			serve(i);
		}
	}
}

long bench_work(long n)
{
	long part = n / processes, moved, sum = 0;

	for (int i = 0; i < processes; i++)
		BENCH_TRY(write(order[i][1], &part, sizeof(part)));
	for (int i = 0; i < processes; i++) {
		if (read(answer[i][0], &moved, sizeof(moved)) != sizeof(moved))
			bench_fail("db: a process ended");
		sum += moved;
	}
	return sum;
}
