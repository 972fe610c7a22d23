// SPDX-License-Identifier: MIT
/*
 * random_main.c - drives a fuzz target with random inputs, where the compiler has no libFuzzer, and
 * where no sanitizer is to slow it:  TARGET INPUTS [SEED]
 *
 * COSY_FUZZ_SECONDS in the environment is a time instead.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../scale.h"

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
	const char *seconds = getenv("COSY_FUZZ_SECONDS");
	time_t end = seconds && *seconds ? time(NULL) + atol(seconds) : 0;
	unsigned long runs, inputs = scale_steps(argc > 1 ? strtoul(argv[1], NULL, 0) : 10000);
	uint8_t bytes[1024];

	state = argc > 2 ? strtoull(argv[2], NULL, 0) : 0x2545f4914f6cdd1d;
	for (runs = 0; end ? runs % 64 || time(NULL) < end : runs < inputs; runs++) {
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
