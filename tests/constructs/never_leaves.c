// SPDX-License-Identifier: MIT
// A region that ends only with the program.
// expect: compiled
#include <cosy/cosy.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	COSY_START;
	for (int i = 0;; i++) {
		if (i == 5 && getpid() > 0)
			exit(3);
		write(1, "again\n", 6);
	}
	COSY_END;
}
