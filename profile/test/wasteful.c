// SPDX-License-Identifier: MIT
/*
 * wasteful.c KIND wasteful|careful FOLDER - makes calls that a program could leave out, of one KIND
 * of fold/useless.def.  With `careful` it makes only those of them that the program needs.
 * useless_test.py records both.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURNS 200

static char path[200], folder[200];
static char buffer[4096];

static void must(bool done)
{
	if (done)
		return;
	perror("wasteful");
	exit(1);
}

static void file_write(char byte)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	memset(buffer, byte, 1000);
	must(fd >= 0 && write(fd, buffer, 1000) == 1000 && !close(fd));
}

/* Wasteful: calls lstat and stat for the same name.  Careful: for two names. */
static void twice(bool wasteful)
{
	struct stat st;

	for (int i = 0; i < TURNS; i++) {
		must(!lstat(path, &st));
		must(!stat(wasteful ? path : folder, &st));
	}
}

/* Wasteful: opens a file as a directory, which fails.  Careful: opens a directory. */
static void no_directory(bool wasteful)
{
	for (int i = 0; i < TURNS; i++) {
		int fd = openat(AT_FDCWD, wasteful ? path : folder, O_RDONLY | O_DIRECTORY);

		must(wasteful ? fd < 0 && errno == ENOTDIR : fd >= 0);
		if (fd >= 0)
			close(fd);
	}
}

/* Wasteful: reads an unchanged file in each iteration.  Careful: changes it before each read. */
static void reread(bool wasteful)
{
	for (int i = 0; i < TURNS; i++) {
		int fd;

		if (!wasteful)
			file_write('a' + i % 2);
		fd = open(path, O_RDONLY);
		must(fd >= 0 && read(fd, buffer, sizeof(buffer)) == 1000);
		must(!read(fd, buffer, sizeof(buffer)) && !close(fd));
	}
}

/* Wasteful: receives until EAGAIN.  Careful: receives once for each message. */
static void empty(bool wasteful)
{
	int pair[2];

	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
	for (int i = 0; i < TURNS; i++) {
		must(send(pair[0], "x", 1, 0) == 1);
		must(recv(pair[1], buffer, sizeof(buffer), 0) == 1);
		if (wasteful)
			must(recv(pair[1], buffer, sizeof(buffer), 0) < 0 && errno == EAGAIN);
	}
}

/* Wasteful: waits for a regular file before each read.  Careful: waits for a pipe. */
static void ready(bool wasteful)
{
	int file = open(path, O_RDONLY), pipes[2];
	struct timespec now = {};

	must(file >= 0 && !pipe(pipes));
	for (int i = 0; i < TURNS; i++) {
		int fd = wasteful ? file : pipes[0];
		fd_set set;

		must(wasteful || write(pipes[1], "x", 1) == 1);
		FD_ZERO(&set);
		FD_SET(fd, &set);
		must(pselect(fd + 1, &set, NULL, NULL, &now, NULL) == 1 &&
		     read(fd, buffer, 1) == 1);
	}
}

/* Wasteful: reads a stream without a buffer.  Careful: reads it with stdio's buffer. */
static void unbuffered(bool wasteful)
{
	FILE *file = fopen(path, "r");

	must(file);
	if (wasteful)
		setvbuf(file, NULL, _IONBF, 0);
	for (int i = 0; i < TURNS; i++)
		must(fgetc(file) != EOF);
	fclose(file);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(bool wasteful);
	} kinds[] = {
		{"TWICE", twice},   {"NO_DIRECTORY", no_directory},
		{"REREAD", reread}, {"EMPTY", empty},
		{"READY", ready},   {"UNBUFFERED", unbuffered},
	};

	must(argc == 4);
	snprintf(folder, sizeof(folder), "%s", argv[3]);
	snprintf(path, sizeof(path), "%s/wasteful", argv[3]);
	file_write('a');
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run(!strcmp(argv[2], "wasteful"));
	return 0;
}
