// SPDX-License-Identifier: MIT
/* Does filtered.h by plain calls, each kind in a region of its own. */
#include <cosy/cosy.h>

#include "filtered.h"

static unsigned long sum_of_bytes(long n)
{
	unsigned long sum = 0;
	unsigned char byte;

	COSY_START;
	for (long i = 0; i < n; i++) {
		if (pread(fd, &byte, 1, i % FILE_SIZE) != 1)
			break;
		sum += byte;
	}
	COSY_END;
	return sum;
}

static unsigned long sum_of_sizes(long n)
{
	unsigned long sum = 0;
	struct stat st;

	COSY_START;
	for (long i = 0; i < n; i++) {
		if (fstat(fd, &st))
			break;
		sum += st.st_size;
	}
	COSY_END;
	return sum;
}

static unsigned long sum_of_parents(long n)
{
	unsigned long sum = 0;

	COSY_START;
	for (long i = 0; i < n; i++)
		sum += (unsigned int)getppid();
	COSY_END;
	return sum;
}

long bench_work(long n)
{
	if (call_is("fstat"))
		return sum_of_sizes(n);
	return call_is("getppid") ? sum_of_parents(n) : sum_of_bytes(n);
}
