// SPDX-License-Identifier: MIT
/*
 * random_main.c - drives a fuzz target with random bytes for SECONDS, where the compiler has no
 * libFuzzer, and where no sanitizer is to slow it:  TARGET SECONDS [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The target counts them if it executes anything. */
__attribute__((weak)) unsigned long fuzz_executions;

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 20);
	uint8_t bytes[1024];
	unsigned long runs;

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x2545f4914f6cdd1d;
	for (runs = 0; runs % 64 || time(NULL) < end; runs++) {
		size_t size = next() % sizeof(bytes), i;

		for (i = 0; i < size; i++)
			bytes[i] = next() >> 32;
		LLVMFuzzerTestOneInput(bytes, size);
	}
	printf("%lu inputs", runs);
	if (fuzz_executions)
		printf(", %lu rewritten programs executed", fuzz_executions);
	printf("\n");
	return runs == 0;
}
