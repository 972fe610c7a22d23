// SPDX-License-Identifier: MIT
// String literals: paths, contents, comparison, pointers kept.
// expect: compiled
#include <cosy/cosy.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	const char *kept = NULL;
	int order = 0, fd = -1;
	ssize_t n = 0;

	COSY_START;
	fd = open("/dev/null", O_WRONLY);
	n = write(fd, "hello, world\n", 13);
	kept = n == 13 ? "thirteen" : "other";
	order = strcmp(kept, "thirteen") == 0 && strncmp(kept, "thirty", 4) == 0;
	close(fd);
	COSY_END;
	printf("%zd %s %d\n", n, kept, order);
	return 0;
}
