/* SPDX-License-Identifier: MIT */
/*
 * bonnie.h - runs the block phases of Bonnie (FSL-02-01 section 4.3): a file of `megabytes`, from
 * its start, in blocks of 16 KB, one word of each block looked at or changed as Bonnie does.
 * The file is there already and in the cache.  An operation is one block.
 */
#ifndef BONNIE_H
#define BONNIE_H

#include "bench.h"
#include "compare.h"
#include "content.h"

#define BLOCK (16 << 10)
#define WORDS (BLOCK / (long)sizeof(int))

/*
 * The next n blocks, from the start of the file; returns what was looked at, summed up, or how
 * much was written.  fastread looks at byte (look + i) % BLOCK of block i.
 */
long bonnie_pass(int fd, long n, unsigned long look);

static long bonnie_blocks(void)
{
	return (bench_number("megabytes", 4) << 20) / BLOCK;
}

void bench_prepare(void)
{
	bench_file("bonnie", bonnie_blocks() * BLOCK);
}

/* If the file has fewer blocks, makes several passes. */
long bench_work(long n)
{
	const long blocks = bonnie_blocks();
	long sum = 0;

	for (; n > 0; n -= blocks) {
		int fd = BENCH_TRY(open("bonnie", O_RDWR));

		sum += bonnie_pass(fd, n < blocks ? n : blocks, 0);
		close(fd);
	}
	return sum;
}

static long pass(long n, long look)
{
	int fd = BENCH_TRY(open("bonnie", O_RDWR));
	long sum = bonnie_pass(fd, n, look);

	close(fd);
	return sum;
}

static unsigned char looked_at(long i, long look)
{
	unsigned char byte;

	content_bytes(&byte, "bonnie", i * BLOCK + (look + i) % BLOCK, 1);
	return byte;
}

/* Compares each byte by itself, as what one block more adds; then the sum over the file. */
static void check_reads(long look)
{
	const long blocks = bonnie_blocks();
	long sum = 0, wanted = 0, i;

	for (i = 0; i < 34; i++) {
		long more = pass(i + 1, look);

		compare_number("bonnie", i * BLOCK + (look + i) % BLOCK, more - sum,
			       looked_at(i, look));
		wanted += looked_at(i, look);
		sum = more;
	}
	for (; i < blocks; i++)
		wanted += looked_at(i, look);
	compare_number("the sum over bonnie", blocks * BLOCK, pass(blocks, look), wanted);
}

/* Makes the bytes that the first n blocks should have after a pass of this phase. */
static void write_wanted(char *file, long n, int rewrite)
{
	int block[WORDS];

	memset(block, 'x', BLOCK);
	for (long i = 0; i < n; i++) {
		if (rewrite)
			memcpy(block, file + i * BLOCK, BLOCK);
		block[i % WORDS]++;
		memcpy(file + i * BLOCK, block, BLOCK);
	}
}

static void check_writes(int rewrite)
{
	const long blocks = bonnie_blocks(), passes[] = {1, 33, blocks, 40};
	char *wanted = malloc(blocks * BLOCK);

	if (!wanted)
		bench_fail("bonnie");
	BENCH_TRY(content_write("bonnie", "bonnie", blocks * BLOCK));
	content_bytes(wanted, "bonnie", 0, blocks * BLOCK);
	for (size_t i = 0; i < sizeof(passes) / sizeof(*passes); i++) {
		compare_number("how much was written", i, pass(passes[i], 0), passes[i] * BLOCK);
		write_wanted(wanted, passes[i], rewrite);
		compare_file("bonnie", wanted, blocks * BLOCK);
	}
	free(wanted);
}

void bench_check(long n, long answer)
{
	const char *phase = bench_text("phase", "");
	const long blocks = bonnie_blocks();
	long wanted = 0;

	if (strcmp(phase, "fastread")) {
		compare_number("how much was written", 0, answer, n * BLOCK);
		check_writes(!strcmp(phase, "rewrite"));
		return;
	}
	/* Look in each page of a block. */
	for (long look = 0; look < BLOCK; look += 4096 + 37)
		check_reads(look);
	for (long i = 0; i < n; i++)
		wanted += looked_at(i % blocks, 0);
	compare_number("the sum over bonnie", 0, answer, wanted);
}

#endif /* BONNIE_H */
