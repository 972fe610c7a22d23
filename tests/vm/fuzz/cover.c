// SPDX-License-Identifier: MIT
/*
 * cover.c - coverage by KCOV (Documentation/dev-tools/kcov.rst): the kernel writes the address of
 * each piece of cosy.ko that a thread comes by into memory that it shares with us.
 */
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#define KCOV_INIT_TRACE _IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
enum { KCOV_TRACE_PC = 0, ENTRIES = 1 << 16, MAX_COUNTERS = 1024 };

static int descriptors[MAX_WORKERS][MAX_THREADS];
static uint64_t *areas[MAX_WORKERS][MAX_THREADS];
static int current;
static bool works;
static uint64_t base;

static void base_find(void)
{
	char line[256];
	FILE *modules = fopen("/proc/modules", "r");

	while (modules && fgets(line, sizeof(line), modules)) {
		char *at = strstr(line, "0x");

		if (!strncmp(line, "cosy ", 5) && at)
			base = strtoull(at, NULL, 16);
	}
	if (modules)
		fclose(modules);
}

static bool area_open(int worker, int thread)
{
	/* High, where no sequence's own numbers are. */
	int fd = open("/sys/kernel/debug/kcov", O_RDWR);
	void *area;

	if (fd < 0)
		return false;
	descriptors[worker][thread] = fcntl(fd, F_DUPFD, 800);
	close(fd);
	fd = descriptors[worker][thread];
	if (ioctl(fd, KCOV_INIT_TRACE, (unsigned long)ENTRIES))
		return false;
	area = mmap(NULL, ENTRIES * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	areas[worker][thread] = area;
	return area != MAP_FAILED;
}

bool cover_init(void)
{
	base_find();
	works = base;
	for (uint32_t i = 0; works && i < options.workers; i++)
		for (int k = 0; works && k < MAX_THREADS; k++)
			works = area_open((int)i, k);
	return works;
}

void cover_keep(void)
{
	/* The kernel writes there by a mapping of its own: sequences need not copy ours. */
	for (uint32_t i = 0; works && i < options.workers; i++)
		for (int k = 0; k < MAX_THREADS; k++)
			madvise(areas[i][k], ENTRIES * 8, MADV_DONTFORK);
}

void cover_begin(int worker)
{
	current = worker;
	for (int k = 0; works && k < MAX_THREADS; k++)
		areas[worker][k][0] = 0;
}

void cover_thread(int thread)
{
	if (works)
		ioctl(descriptors[current][thread], KCOV_ENABLE, KCOV_TRACE_PC);
}

/* Sets a bit.  Returns whether it was clear. */
static bool bit_set(_Atomic uint8_t *bits, uint64_t bit)
{
	uint8_t mask = (uint8_t)(1 << bit % 8);

	if (bits[bit / 8] & mask)
		return false;
	return !(atomic_fetch_or(&bits[bit / 8], mask) & mask);
}

void cover_end(uint32_t *points, uint32_t *edges)
{
	*points = *edges = 0;
	for (int k = 0; works && k < MAX_THREADS; k++) {
		const uint64_t *area = areas[current][k];
		uint64_t count = area[0], last = 0;

		if (count >= ENTRIES)
			count = ENTRIES - 1;
		for (uint64_t i = 1; i <= count; i++) {
			uint64_t point = area[i] - base;

			if (point >= MAX_POINTS)
				continue;
			*points += bit_set(shared->point, point);
			*edges += bit_set(shared->edge,
					  (point * 0x9e3779b97f4a7c15u + last * 31) >> 44);
			last = point;
		}
	}
	atomic_fetch_add(&shared->points, *points);
}

uint32_t cover_counters(void)
{
	static unsigned long long last[MAX_COUNTERS];
	FILE *stats = fopen("/sys/kernel/debug/cosy/stats", "r");
	unsigned long long value, by;
	uint32_t points = 0;
	char name[64];

	for (uint32_t i = 0; stats && i < MAX_COUNTERS; i++) {
		if (fscanf(stats, "%63s %llu", name, &value) != 2)
			break;
		by = value - last[i];
		last[i] = value;
		if (by)
			points += bit_set(shared->point, i * 2 + (by > 4));
	}
	if (stats)
		fclose(stats);
	atomic_fetch_add(&shared->points, points);
	return points;
}

void cover_print(void)
{
	printf("reached");
	for (uint32_t i = 0; i < MAX_POINTS; i++)
		if (shared->point[i / 8] & 1 << i % 8)
			printf(" %x", i);
	printf("\n");
}
