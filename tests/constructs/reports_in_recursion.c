// SPDX-License-Identifier: MIT
// A function that recurses reports errors, and ends the program: the region goes on after a report.
// expect: compiled
// expect with -fexceptions: native: libc's streams are in user space
#include <cosy/cosy.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fail(const char *what, int depth)
{
	fprintf(stdout, "%s failed at %d of %s, %c%c%c %u %ld: %s\n", what, depth, "some", 'a', 'b',
		'c', 5u, -7l, strerror(errno));
	if (depth == 0) {
		fflush(stdout);
		exit(3);
	}
}

/* Most programs have one of these. */
static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
}

static int visit(const char *path, int depth)
{
	struct stat st;
	int found = 0;

	for (int i = 0; i < 3; i++) {
		if (stat(depth == i ? "/no/such/file" : path, &st) == 0)
			found++;
		else
			say("stat of %d: %s\n", i, strerror(errno));
	}
	if (depth < 5)
		found += visit(path, depth + 1);
	else if (access("/no/such/file", R_OK) < 0)
		fail("access", depth);
	if (found > 11)
		fail("found", depth);
	return found;
}

int main(void)
{
	int found = 0;

	setvbuf(stdout, NULL, _IOFBF, 4096);
	COSY_START;
	found = visit("/", 0);
	COSY_END;
	printf("%d found\n", found);
	return 0;
}
