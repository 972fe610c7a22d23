// SPDX-License-Identifier: MIT
/* Does bonnie.h, fastwrite: writes a block over the file, with one more word changed each time. */
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
