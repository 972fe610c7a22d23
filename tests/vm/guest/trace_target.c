/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls that trace_*.c look at: `trace_target COUNT` makes COUNT calls of lseek(-1, i)
 * in one region, i counting up; with COUNT 0 it goes on until the file of its
 * second argument is there, reporting each 100th i on standard output.
 */
#include "check.h"
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 100, wrong = 0, i;
	const char *end = argc > 2 ? argv[2] : "";
	struct cosy_stats then;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	then = counts();
	if (count) {
		COSY_START;
		for (i = 0; i < count; i++)
			if (lseek(-1, i, SEEK_SET) != -1 || errno != EBADF)
				wrong++;
		COSY_END;
	} else {
		COSY_START;
		for (i = 0; i % 100 || access(end, F_OK); i++) {
			if (lseek(-1, i, SEEK_SET) != -1 || errno != EBADF)
				wrong++;
			if (i % 100 == 0)
				write(1, "\n", 1);
		}
		COSY_END;
		CHECK_KERNEL(then, 1, 1000); /* before the tracer came, and after it left */
	}
	CHECK(!wrong, "%ld wrong results", wrong);
	/* The last number made, for the tracer to compare. */
	syscall(8, -2, i, 0);
	return check_end();
}
