// SPDX-License-Identifier: MIT
/*
 * parts.c - what the parts of a donation cost, both ends in one process: per message, the least of
 * many, less what it costs to look at the clock.
 */
#include "move.h"

#define TURNS 16
#define HUGE  (2UL << 20)

enum part { SENT, RECEIVED, WRITTEN, CLOSED, PARTS };

static long least[PARTS], clock_cost;

/* Adds a measurement that began at `start`. */
static void part_end(enum part part, long start)
{
	long cost = now() - start - clock_cost;

	if (least[part] < 0 || cost < least[part])
		least[part] = cost;
}

static void parcel_once(char *a, char *b, size_t bytes, size_t written)
{
	long start = now();
	int fd = (int)TRY(cosy_export(a, bytes, COSY_DONATE_ZERO));

	part_end(SENT, start);
	start = now();
	TRY(cosy_import(fd, b, bytes, 0));
	part_end(RECEIVED, start);
	start = now();
	touch(b, written);
	part_end(WRITTEN, start);
	start = now();
	close(fd);
	part_end(CLOSED, start);
}

static void port_once(const int *ends, char *a, char *b, size_t bytes, size_t written)
{
	long start = now();
	size_t at;

	TRY(cosy_pass(ends[1], 0, a, bytes, COSY_DONATE_ZERO));
	part_end(SENT, start);
	start = now();
	TRY(cosy_take(ends[0], b, MAX_BYTES, &at, COSY_WILL_WRITE));
	part_end(RECEIVED, start);
	start = now();
	touch(b, written);
	part_end(WRITTEN, start);
}

static void parts_begin(void)
{
	for (int i = 0; i < PARTS; i++)
		least[i] = -1;
}

static void parts_print(const char *name)
{
	printf("%-44s", name);
	for (int i = 0; i < PARTS; i++) {
		if (least[i] < 0)
			printf(" %7s", "-");
		else
			printf(" %7ld", least[i]);
	}
	printf("\n");
}

static void parcel_parts(const char *name, size_t bytes, size_t written)
{
	char *a = cosy_move_alloc(MAX_BYTES, 0), *b = cosy_move_alloc(MAX_BYTES, 0);

	parts_begin();
	for (int i = 0; i < TURNS; i++) {
		int fd;

		fill(a, bytes, (uint64_t)i);
		parcel_once(a, b, bytes, written);
		/* touch has added 1 to the first word of each page. */
		for (size_t at = 0; at < written; at += PAGE)
			--*(uint64_t *)(b + at);
		compare(name, b, bytes, (uint64_t)i);
		fd = (int)TRY(cosy_export(b, bytes, COSY_DONATE_ZERO));
		TRY(cosy_import(fd, a, bytes, 0));
		close(fd);
	}
	parts_print(name);
	cosy_move_free(a, MAX_BYTES);
	cosy_move_free(b, MAX_BYTES);
}

static void port_parts(const char *name, size_t bytes, size_t written)
{
	char *a = cosy_move_alloc(MAX_BYTES, 0), *b = cosy_move_alloc(MAX_BYTES, 0);
	int ends[2];

	TRY(cosy_port(MAX_BYTES, ends));
	parts_begin();
	for (int i = 0; i < TURNS; i++) {
		fill(a, bytes, (uint64_t)i);
		port_once(ends, a, b, bytes, written);
		for (size_t at = 0; at < written; at += PAGE)
			--*(uint64_t *)(b + at);
		compare(name, b, bytes, (uint64_t)i);
	}
	parts_print(name);
	close(ends[0]);
	close(ends[1]);
	cosy_move_free(a, MAX_BYTES);
	cosy_move_free(b, MAX_BYTES);
}

void parts_measure(void)
{
	long start = now();

	for (int i = 0; i < TURNS; i++) {
		start = now();
		clock_cost = now() - start;
	}
	printf("\nParts of a donation; per message\n%-44s %7s %7s %7s %7s\n", "", "sent", "taken",
	       "written", "closed");
	parcel_parts("parcel of 2 MB at once, 64 KB written", HUGE, 64 << 10);
	parcel_parts("parcel of 2 MB at once, twice, all written", 2 * HUGE, 2 * HUGE);
	port_parts("port of 2 MB at once, 64 KB written", HUGE, 64 << 10);
	port_parts("port, 4 KB", PAGE, PAGE);
	port_parts("port, 64 KB", 16 * PAGE, 16 * PAGE);
}
