// SPDX-License-Identifier: MIT
/*
 * seeds_main.c - drives a fuzz target with files that are changed a little, where the compiler has
 * no libFuzzer:  TARGET RUNS|SECONDSs SEED FILE...
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SIZE  (1 << 16)
#define MAX_SEEDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
	uint8_t *bytes;
	size_t size;
};

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t number(void)
{
	static const uint64_t numbers[] = {
		0,	    1,		UINT64_MAX, 1ULL << 63, 1ULL << 32, 1ULL << 48,
		0xffffffff, 0x7fffffff, 0x80000000, 0xffff,	4096,	    64,
	};

	return next() % 4 ? numbers[next() % (sizeof(numbers) / sizeof(*numbers))] : next();
}

/* Changes a byte, or a number of 2, 4 or 8 bytes. */
static void bytes_change(uint8_t *bytes, size_t size)
{
	size_t width = 1 << next() % 4, at;
	uint64_t value = number();

	/* Headers come first, and count most. */
	at = next() % (next() % 2 ? size : size < 256 ? size : 256);
	at -= at % width;
	if (at + width <= size)
		memcpy(bytes + at, &value, width);
}

/* Returns the new size. */
static size_t bytes_remove(uint8_t *bytes, size_t size)
{
	size_t at = next() % size, n = 1 + next() % 64;

	if (n > size - at)
		n = size - at;
	memmove(bytes + at, bytes + at + n, size - at - n);
	return size - n;
}

static void target_run(const struct seed *seed)
{
	/* Exactly as long, so that reading beyond it is noticed. */
	uint8_t *bytes = malloc(seed->size + 1), *exact;
	size_t size = seed->size;

	if (!bytes)
		exit(1);
	memcpy(bytes, seed->bytes, size);
	for (uint64_t changes = 1 << next() % 5; changes && size; changes--)
		if (next() % 32)
			bytes_change(bytes, size);
		else
			size = bytes_remove(bytes, size);
	if (size && !(next() % 16))
		size = next() % size;
	exact = malloc(size ? size : 1);
	if (!exact)
		exit(1);
	memcpy(exact, bytes, size);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	free(bytes);
}

static struct seed seed_read(const char *path)
{
	struct seed seed = {malloc(MAX_SIZE), 0};
	FILE *file = fopen(path, "r");

	if (!file || !seed.bytes) {
		perror(path);
		exit(1);
	}
	seed.size = fread(seed.bytes, 1, MAX_SIZE, file);
	fclose(file);
	return seed;
}

int main(int argc, char **argv)
{
	struct seed seeds[MAX_SEEDS];
	unsigned int n = 0;
	unsigned long runs = 0, bound;
	bool timed;
	char *unit;
	time_t end;

	if (argc < 4) {
		fprintf(stderr, "usage: %s RUNS|SECONDSs SEED FILE...\n", argv[0]);
		return 2;
	}
	bound = strtoul(argv[1], &unit, 10);
	timed = *unit == 's';
	end = time(NULL) + (time_t)bound;
	state = strtoull(argv[2], NULL, 0) * 0x9e3779b97f4a7c15 | 1;
	for (int i = 3; i < argc && n < MAX_SEEDS; i++)
		seeds[n++] = seed_read(argv[i]);
	/* As they are, first. */
	for (unsigned int i = 0; i < n; i++)
		LLVMFuzzerTestOneInput(seeds[i].bytes, seeds[i].size);
	while (timed ? time(NULL) < end : runs < bound) {
		target_run(&seeds[next() % n]);
		runs++;
	}
	printf("%lu inputs of %u files\n", runs, n);
	for (unsigned int i = 0; i < n; i++)
		free(seeds[i].bytes);
	return 0;
}
