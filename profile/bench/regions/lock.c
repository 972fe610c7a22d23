// SPDX-License-Identifier: MIT
/* lock.c - takes and releases a lock file, as mail programs do: lock FILE TURNS */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES 10

static int lock_take(const char *path, const char *owner)
{
	size_t len = strlen(owner);

	for (int try = 0; try < TRIES; try++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

		if (fd >= 0) {
			ssize_t put = write(fd, owner, len);

			close(fd);
			return put == (ssize_t)len ? 0 : -1;
		}
		if (errno != EEXIST)
			return -1;
		usleep(100000);
	}
	return -1;
}

int main(int argc, char **argv)
{
	int turns = argc == 3 ? atoi(argv[2]) : 0;
	long taken = 0;
	char owner[32];

	snprintf(owner, sizeof(owner), "%d\n", getpid());
	for (int turn = 0; turn < turns; turn++) {
		if (lock_take(argv[1], owner)) {
			perror(argv[1]);
			return 1;
		}
		taken++;
		if (unlink(argv[1]))
			return 1;
	}
	printf("%ld\n", taken);
	return 0;
}
