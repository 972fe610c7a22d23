// SPDX-License-Identifier: MIT
/* bonnie.h, fastwrite: a block with one word changed each time is written over the file. */
#include <cosy/cosy.h>

#include "bonnie.h"

long bonnie_pass(int fd, long n, unsigned long look)
{
	int block[BLOCK / sizeof(int)];
	long done = 0;

	(void)look;
	memset(block, 'x', sizeof(block));
	COSY_START;
	for (long i = 0; i < n; i++) {
		block[i % (BLOCK / sizeof(int))]++;
		done += write(fd, block, BLOCK);
	}
	COSY_END;
	return done;
}
