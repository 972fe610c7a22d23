// SPDX-License-Identifier: MIT
// A function that recurses reports errors by <err.h> and <error.h>, and ends the program by them.
// expect: compiled
// expect with -fexceptions: native: no body here, and no system call
#define _GNU_SOURCE
#include <cosy/cosy.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>

static int visit(const char *path, int depth)
{
	struct stat st;
	int found = 0;

	for (int i = 0; i < 3; i++) {
		char name[32] = "/no/such/file";

		if (stat(depth == i ? name : path, &st) == 0)
			found++;
		else if (i == 1)
			warn("%s at %d", basename(name), depth);
		else
			error(0, errno, "%s at %d", name, depth);
	}
	if (depth < 5)
		return found + visit(path, depth + 1);
	if (found > 1)
		errx(3, "the end at %d", depth);
	return found;
}

int main(void)
{
	int found = 0;

	program_invocation_name = program_invocation_short_name = "err_in_recursion";
	stderr = stdout;
	COSY_START;
	found = visit("/", 0);
	COSY_END;
	printf("%d found\n", found);
	return 0;
}
