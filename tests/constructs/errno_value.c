// SPDX-License-Identifier: MIT
// errno: read, written, and its exact value after the region.
// expect: compiled
// guest: static
#include <cosy/cosy.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	int missing = 0, is_dir = 0, bad = 0, kept = 0;

	errno = 77;
	COSY_START;
	if (getpid() > 0)
		kept = errno;
	COSY_END;
	printf("%d %d\n", kept, errno);

	COSY_START;
	if (open("/nonexistent/x", O_RDONLY) < 0)
		missing = errno;
	if (open("/", O_WRONLY) < 0)
		is_dir = errno;
	errno = 0;
	if (close(12345) == -1 && errno == EBADF)
		bad = 1;
	int fd = open("/dev/null", O_RDONLY);
	close(fd);
	COSY_END;
	printf("%d %d %d %d\n", missing, is_dir, bad, errno);

	COSY_START;
	errno = 5;
	getpid();
	COSY_END;
	printf("%d\n", errno);
	return 0;
}
