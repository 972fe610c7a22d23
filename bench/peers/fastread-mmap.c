// SPDX-License-Identifier: MIT
/*
 * Does bonnie.h, fastread, by mapping the file; the program then has to live with SIGBUS when it is
 * cut.
 */
#include <sys/mman.h>

#include "bonnie.h"

long bonnie_pass(int fd, long n, unsigned long look)
{
	unsigned char *file = mmap(NULL, n * BLOCK, PROT_READ, MAP_SHARED, fd, 0);
	long sum = 0;

	if (file == MAP_FAILED)
		bench_fail("mmap");
	for (long i = 0; i < n; i++)
		sum += ((volatile unsigned char *)file)[i * BLOCK + (look + i) % BLOCK];
	munmap(file, n * BLOCK);
	return sum;
}
