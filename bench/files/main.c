// SPDX-License-Identifier: MIT
/* main.c - the process around the work: see work.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define MAX_FILES 5000

static char names[MAX_FILES][24];
static const char *pointers[MAX_FILES];

static uint64_t now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t work_do(const char *work, int count)
{
	if (!strcmp(work, "scan"))
		return work_scan();
	if (!strcmp(work, "walk"))
		return work_walk();
	if (!strcmp(work, "stat"))
		return work_stat(pointers, count);
	return work_read(pointers, count);
}

int main(int argc, char **argv)
{
	int count, turns;
	uint64_t sum = 0, begun = 0, ended = 0;

	if (argc != 5 || chdir(argv[2]))
		return 1;
	count = atoi(argv[3]);
	turns = atoi(argv[4]);
	for (int i = 0; i < count; i++) {
		sprintf(names[i], "file-%d", i);
		pointers[i] = names[i];
	}
	for (int i = 0; i < turns; i++) {
		begun = now();
		sum = work_do(argv[1], count);
		ended = now();
	}
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)(ended - begun));
	return 0;
}
