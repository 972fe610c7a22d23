// SPDX-License-Identifier: MIT
/*
 * ended_test.c PID SIGNAL USER - runs under `cosy run`, with a daemon whose process PID gets the
 * signal while another user's process has a window of this one's file.  Then the file is
 * rewritten, and longer: the reader sees it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE  4096
#define READS 4000

static char path[] = "/tmp/cosyd-ended.XXXXXX", bytes[2 * SIZE];
static int to_reader[2], to_writer[2];

static int reader(uid_t user)
{
	char byte = 0;
	int fd;

	if (setresuid(user, user, user))
		return 2;
	fd = open(path, O_RDONLY);
	for (int i = 0; i < READS; i++)
		if (lseek(fd, i % SIZE, SEEK_SET) < 0 || read(fd, &byte, 1) != 1 || byte != 'a')
			return 3;
	if (write(to_writer[1], "", 1) != 1 || read(to_reader[0], &byte, 1) != 1)
		return 2;
	if (lseek(fd, 0, SEEK_END) != 2 * SIZE) {
		fprintf(stderr, "the old size\n");
		return 1;
	}
	if (lseek(fd, 0, SEEK_SET) || read(fd, &byte, 1) != 1 || byte != 'b') {
		fprintf(stderr, "the old bytes\n");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	char byte;
	int fd = mkstemp(path), status;
	pid_t child;

	if (argc != 4 || fd < 0 || fchmod(fd, 0644) || pipe(to_reader) || pipe(to_writer))
		return 2;
	memset(bytes, 'a', SIZE);
	if (write(fd, bytes, SIZE) != SIZE || close(fd))
		return 2;
	child = fork();
	if (!child)
		exit(reader(atoi(argv[3])));
	close(to_writer[1]);
	if (read(to_writer[0], &byte, 1) == 1) {
		if (kill(atoi(argv[1]), atoi(argv[2])))
			return 2;
		/* Waits until the daemon's leases are gone. */
		fd = open(path, O_WRONLY);
		memset(bytes, 'b', sizeof(bytes));
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes) || close(fd) ||
		    write(to_reader[1], "", 1) != 1)
			return 2;
	}
	waitpid(child, &status, 0);
	unlink(path);
	return status != 0;
}
