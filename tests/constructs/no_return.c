// SPDX-License-Identifier: MIT
// exit in a region ends the program as ever: handlers, output, status.
// expect: compiled
#include <cosy/cosy.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int seen;

static void at_end(void)
{
	printf("at end, seen %d\n", seen);
}

int main(int argc, char **argv)
{
	(void)argv;
	atexit(at_end);
	COSY_START;
	for (int i = 0; i < 100; i++) {
		seen += getpid() > 0;
		if (seen == 30 + argc)
			exit(seen);
	}
	COSY_END;
	printf("not reached\n");
	return 0;
}
