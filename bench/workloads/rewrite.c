// SPDX-License-Identifier: MIT
/* Does bonnie.h, rewrite: reads each block, changes one word of it, and writes it back. */
#include <cosy/cosy.h>

#include "bonnie.h"

long bonnie_pass(int fd, long n, unsigned long look)
{
	int block[BLOCK / sizeof(int)];
	long done = 0;

	(void)look;
	COSY_START;
	for (long i = 0; i < n; i++) {
		if (read(fd, block, BLOCK) < BLOCK)
			break;
		block[i % (BLOCK / sizeof(int))]++;
		if (lseek(fd, -BLOCK, SEEK_CUR) < 0)
			break;
		done += write(fd, block, BLOCK);
	}
	COSY_END;
	return done;
}
