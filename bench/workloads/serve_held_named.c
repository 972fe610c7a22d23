// SPDX-License-Identifier: MIT
/*
 * serve.h by cosy_pread and cosy_lend of files that stay open: as sendfile does it, a later write
 * to a file may show.  A copy of serve_held.c on purpose, since a row compares whole sources.
 */
#include "serve.h"

#include <cosy/cosy.h>
#include <cosy/fast.h>

static int held[FILES];

static void serve_begin(void)
{
	char name[8];

	for (int i = 0; i < FILES; i++) {
		serve_name(name, i);
		held[i] = BENCH_TRY(open(name, O_RDONLY));
	}
}

static long serve_files(int to, long count, long len)
{
	long sum = 0;

	COSY_START;
	for (long i = 0; i < count; i++) {
		char buf[MAX_SIZE];
		ssize_t got = cosy_pread(held[i], buf, len, 0);

		if (got > 0)
			got = cosy_lend(to, buf, got, 0);
		if (got < 0)
			break;
		sum += got;
	}
	COSY_END;
	return sum;
}
