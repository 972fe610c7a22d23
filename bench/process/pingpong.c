// SPDX-License-Identifier: MIT
/* pingpong.c - sends a byte COUNT times to a child and back. */
#include <sys/wait.h>

#include "process.h"

static long bounce(int in, int out, long count, int first)
{
	unsigned char byte = 1;
	long sum = 0;

	COSY_START;
	if (first)
		write(out, &byte, 1);
	for (long i = 0; i < count; i++) {
		if (read(in, &byte, 1) != 1)
			break;
		sum += byte++;
		if (write(out, &byte, 1) != 1)
			break;
	}
	COSY_END;
	return sum;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, sum;
	int to[2], from[2];
	pid_t child;

	if (pipe(to) || pipe(from))
		return 1;
	child = fork();
	if (!child) {
		bounce(to[0], from[1], count, 0);
		_exit(0);
	}
	sum = bounce(from[0], to[1], count, 1);
	waitpid(child, NULL, 0);
	printf("%ld\n", sum);
	return 0;
}
